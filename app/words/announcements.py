"""Announcements of events for users of a screen reader."""

from collections.abc import Collection, Iterable
from typing import Final

from app.words.language import mark, tr
from app.words.localization import localize
from engine.drill.running.modes import ModePermissions
from engine.events import Event, ReplicaData, RoleData, StateData, WitnessData
from engine.localization import LocalizableMessage

ANNOUNCED_EVENT_KINDS: Final = (
    "question", "hint", "answer", "chore", "goal", "availability", "role", "log", "alert", "state", "fault", "service",
    "client", "detected",
)  # fmt: skip
"""Kinds of events that are announced, most important first.

If there are too many events, the least important are omitted. Events of other kinds repeat an announced
event, or answer a query of the user.
"""

RUN_EVENT_KINDS: Final = frozenset({"question", "hint", "answer", "chore"})
"""Kinds of events that are not part of the simulated world. They are announced in every mode."""

KIND_TEMPLATES: Final = {
    "question": mark("Question: {text}"),
    "hint": mark("Hint: {text}"),
    "fault": mark("Fault: {text}"),
}
"""Kind of event -> template that puts the kind before the text of the event."""

SENTENCES_MAX: Final = 6
"""Maximum number of sentences in one announcement."""
NAMED_DATABASES_MAX: Final = 3
"""Maximum number of databases with the same change that are named.

If there are more, only their number is announced.
"""


def select_announced_kinds(permissions: ModePermissions) -> frozenset[str]:
    """Return the kinds of events to announce in a mode with these *permissions*.

    In an exam, events that the trainee should find are omitted.
    """
    if permissions.shows_truth:
        return (
            frozenset(ANNOUNCED_EVENT_KINDS)
            if permissions.reports_progress
            else frozenset(ANNOUNCED_EVENT_KINDS) - {"goal"}
        )
    return RUN_EVENT_KINDS | ({"goal"} if permissions.reports_progress else set())


def describe_events(
    events: Iterable[Event], kinds: Collection[str] = frozenset(ANNOUNCED_EVENT_KINDS)
) -> str:
    """Describe the events whose kind is in *kinds*, in order. Return an empty text if there are none."""
    kept_events = _drop_redundant_events([event for event in events if event.kind in kinds])
    ranked_groups = [
        (ANNOUNCED_EVENT_KINDS.index(group[0].kind), index, group)
        for index, group in enumerate(_group_events(kept_events))
    ]
    first_groups = sorted(sorted(ranked_groups)[:SENTENCES_MAX], key=lambda group: group[1])
    omitted_count = sum(len(group) for _, _, group in ranked_groups) - sum(
        len(group) for _, _, group in first_groups
    )
    words = [_describe_event(group) for _, _, group in first_groups]
    if omitted_count:
        words.append(tr("Further events: {count}.").format(count=omitted_count))
    return " ".join(words)


def _drop_redundant_events(events: list[Event]) -> list[Event]:
    """Drop redundant events: all states and roles of a copy except the last, and some faults.

    A fault is dropped if a service event of the same server and tick repeats it.
    """
    last = {(event.kind, event.server, event.database): event for event in events}
    services = {(event.tick, event.server) for event in events if event.kind == "service"}
    return [
        event
        for event in events
        if not (
            event.kind in ("state", "role") and last[event.kind, event.server, event.database] is not event
        )
        and not (event.kind == "fault" and (event.tick, event.server) in services)
    ]


def _group_events(events: list[Event]) -> list[list[Event]]:
    """Group events so that the same change of many databases becomes one sentence."""
    groups: dict[tuple[str, str | None, object], list[Event]] = {}
    for event in events:
        groups.setdefault((event.kind, event.server, _get_change(event)), []).append(event)
    event_groups: list[list[Event]] = []
    for group in groups.values():
        event_groups += (
            [group]
            if len(group) > NAMED_DATABASES_MAX and group[0].database
            else [[event] for event in group]
        )
    numbers_by_id = {id(event): number for number, event in enumerate(events)}
    return sorted(event_groups, key=lambda group: numbers_by_id[id(group[0])])


STATE_EVENT_CLASSES: Final = (StateData, RoleData, ReplicaData, WitnessData)
"""Classes of event data that contain a new state."""


def _get_change(event: Event) -> object:
    """Return the change that the event reports, without the name of the database."""
    if isinstance(event.data, STATE_EVENT_CLASSES):
        return event.data.new
    text = event.text
    if not isinstance(text, LocalizableMessage):
        return text
    return text.template, tuple((name, value) for name, value in text.args if value != event.database)


def _describe_event(group: list[Event]) -> str:
    event = group[0]
    new = event.data.new.replace("_", " ") if isinstance(event.data, STATE_EVENT_CLASSES) else ""
    database = event.database or ""
    if len(group) > 1:
        database = tr("{count} databases").format(count=len(group))
    if event.kind in ("state", "role") and new:
        message = (
            tr("{database} on {server}: {new}.") if len(group) > 1 else tr("{database} on {server} is {new}.")
        )
        return message.format(database=database, server=event.server, new=new)
    text = localize(event.text)
    if len(group) > 1:
        return f"{database}: {' '.join(text.replace(event.database or '', '').split())}."
    if event.kind in KIND_TEMPLATES:
        text = tr(KIND_TEMPLATES[event.kind]).format(text=text)
    elif event.kind not in RUN_EVENT_KINDS:
        parts = [part for part in (event.server, event.database) if part and part not in text]
        text = f"{' '.join(parts)}{': ' if parts else ''}{text}"
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "?", "!")) else ".")
