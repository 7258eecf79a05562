"""Noteworthy moments of a run, for its timeline."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, Literal

from engine.drill.authoring import batches
from engine.events import Event
from engine.localization import format_run_time, say
from engine.model import Tick
from engine.verbs import VERBS
from engine.verbs.input_descriptions import describe_line

MarkerKind = Literal[
    "fault", "repair", "detection", "transition", "command", "refusal", "hint", "question", "goal", "rewind",
    "note", "end",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Marker:
    """Moment with its kind and text."""

    tick: Tick
    kind: MarkerKind
    text: str
    server: str | None = None
    database: str | None = None


def markers(events: Iterable[Event]) -> list[Marker]:
    """Return the markers for *events*, in their order."""
    return [marker for event in events if (marker := marker_of(event)) is not None]


def marker_of(event: Event) -> Marker | None:
    """Return the marker of an event, if any."""
    read = _READERS.get(event.kind)
    found = read(event) if read is not None else None
    return None if found is None else Marker(event.tick, *found, event.server, event.database)


_Found = tuple[MarkerKind, str] | None


def _build_text_reader(kind: MarkerKind) -> Callable[[Event], _Found]:
    return lambda event: (kind, event.text)


def _fault(event: Event) -> _Found:
    if event.get("no_effect"):
        return None
    verb = VERBS.get(str(event.get("verb")))
    return ("fault" if verb is None or verb.group == "fault" else "repair"), describe_line(event.text)


def _availability(event: Event) -> _Found:
    return ("transition", event.text) if event.get("serving") is not None else None


def _failover(event: Event) -> _Found:
    return ("transition", event.text) if event.get("step") in ("accepted", "online") else None


def _sql(event: Event) -> _Found:
    batch = " ".join(str(event.get("batch", event.text)).split())
    return ("refusal" if batches.errors(event) else "command"), f"{event.server}: {batch}"


def _note(event: Event) -> _Found:
    if event.get("ended_by") is not None:
        return "end", event.text
    left_s = event.get("rewound_from_s")
    if left_s is not None:
        return "rewind", say(
            "rewound to this time, from {moment}", moment=format_run_time(float(str(left_s)), 1)
        )
    return None if event.get("refused") else ("note", event.text)


_READERS: Final[dict[str, Callable[[Event], _Found]]] = {
    "fault": _fault,
    "chore": _build_text_reader("repair"),
    "detected": _build_text_reader("detection"),
    "state": _build_text_reader("transition"),
    "role": _build_text_reader("transition"),
    "witness": _build_text_reader("transition"),
    "availability": _availability,
    "failover": _failover,
    "sql_done": _sql,
    "hint": lambda event: ("hint", say("hint opened: {hint}", hint=event.text)),
    "question": _build_text_reader("question"),
    "answer": _build_text_reader("question"),
    "goal": _build_text_reader("goal"),
    "note": _note,
}
"""Kind of event -> function that makes its marker. ERRORLOG lines and traces only repeat these events."""
