"""Histories of service, protection and failover preconditions of each database, from a replay of a run."""

import heapq
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from typing import Final, Literal

from msgspec import Struct, field

from engine.availability import estimates
from engine.availability.estimates import GroupFailoverEstimate
from engine.constants import TICKS_PER_S
from engine.drill.authoring import condition_context
from engine.drill.running.drill import Drill
from engine.drill.time.cooperative_tasks import CooperativeTask, advance_in_slices
from engine.events import (
    AvailabilityData,
    Event,
    EventKind,
    FailoverData,
    FaultData,
    HintData,
    NoteData,
    SqlDoneData,
)
from engine.localization import build_message, format_run_time
from engine.model import Failover, Tick, World
from engine.protocol import availability, group_policies
from engine.verbs import VERBS
from engine.verbs.input_lines import describe_line

SERVING, DOWN = build_message("in service"), build_message("down")
PROTECTED, UNPROTECTED, UNSERVED = (
    build_message("protected"),
    build_message("unprotected"),
    build_message("no online database to protect"),
)
MET, UNMET = build_message("met"), build_message("not met")


class StateSpan(Struct, frozen=True):
    """Time span in which a state does not change."""

    from_tick: Tick
    to_tick: Tick
    what: str
    """Name of the state."""

    @property
    def ticks(self) -> Tick:
        """Length of the span in ticks."""
        return self.to_tick - self.from_tick

    def as_json(self) -> dict[str, object]:
        """Return the span in JSON types."""
        return {"from_s": self.from_tick / TICKS_PER_S, "to_s": self.to_tick / TICKS_PER_S, "what": self.what}


class LaneRecorder:
    """Recorder of the changes of one value over time."""

    def __init__(self) -> None:
        self._changes: list[tuple[Tick, str]] = []

    def record_state(self, tick: Tick, state: str, keep_instant: bool = False) -> None:
        """Record that the value is *state* from *tick* on.

        If *keep_instant* is True, an earlier state of the same tick is kept as a span without length.
        """
        if self._changes and self._changes[-1][1] == state:
            return
        if self._changes and self._changes[-1][0] == tick and not keep_instant:
            self._changes.pop()
            self.record_state(tick, state)
        else:
            self._changes.append((tick, state))

    def list_spans(self, end_tick: Tick) -> tuple[StateSpan, ...]:
        """Return the spans so far. The last one ends at *end_tick*."""
        ends = [*(tick for tick, _ in self._changes[1:]), end_tick]
        return tuple(
            StateSpan(tick, end, state_name)
            for (tick, state_name), end in zip(self._changes, ends, strict=True)
            if end >= tick
        )


class PreconditionHistory(Struct, frozen=True):
    """History of a precondition of an automatic failover."""

    name: str
    seen_in: str
    """View or log, with its server, in which a DBA could have checked the precondition."""
    spans: tuple[StateSpan, ...]
    """Spans with the states met and not met. There are gaps while the precondition did not apply to any copy."""
    begins: bool = False
    """True for the precondition that the loss of the principal has been detected."""
    target: str = ""
    """Server or node that would take over; empty if the precondition applies to every possible target."""

    def find_span(self, tick: Tick) -> StateSpan | None:
        """Return the last span that begins at or before *tick*; None if there is none."""
        return next((span for span in reversed(self.spans) if span.from_tick <= tick), None)


class DatabaseLanes(Struct, frozen=True):
    """History of a database in a run: one lane of spans for each aspect."""

    database: str
    service: tuple[StateSpan, ...]
    """Spans of the states "in service" and "down"."""
    where: tuple[StateSpan, ...]
    """Spans whose state is the server on which the database is open; empty while it is open on none."""
    protection: tuple[StateSpan, ...]
    """Spans of the states "protected", "unprotected" and "nothing to protect"."""
    state: tuple[StateSpan, ...]
    """Spans of the session or group state, as the leading copy knows it; NONE without session and group."""
    preconditions: tuple[PreconditionHistory, ...]
    """History of each precondition of an automatic failover."""
    estimates: tuple[tuple[Tick, GroupFailoverEstimate], ...] = ()
    """(tick of the failure, estimate) for each failover of an availability group.

    The estimate applies the published formulas to the state just before the failure.
    """


class _DatabaseRecorder(Struct):
    """Recorder of the lanes of one database."""

    service: LaneRecorder = field(default_factory=LaneRecorder)
    where: LaneRecorder = field(default_factory=LaneRecorder)
    protection: LaneRecorder = field(default_factory=LaneRecorder)
    state: LaneRecorder = field(default_factory=LaneRecorder)
    precondition_histories: dict[tuple[str, str, str], LaneRecorder] = field(default_factory=dict)
    """(precondition, view or log in which a DBA can check it, target) -> history.

    The view or log changes when another server becomes the mirror.
    """
    estimates: list[tuple[Tick, GroupFailoverEstimate]] = field(default_factory=list)
    detection_keys: set[tuple[str, str, str]] = field(default_factory=set)
    """Keys of `precondition_histories` for the precondition that a loss has been detected."""

    def record_state(self, world: World, database: str) -> None:
        account = world.availability[database]
        serving = availability.list_serving_copies(world, database)
        self.service.record_state(account.since_tick, SERVING if account.serving else DOWN)
        protection = UNPROTECTED if account.exposed else PROTECTED if account.serving else UNSERVED
        self.protection.record_state(account.since_tick, protection)
        self.where.record_state(world.tick, serving[0].server if serving else "")
        self.state.record_state(world.tick, condition_context.get_state_word(world, database))
        self.record_preconditions(world, database)

    def record_preconditions(self, world: World, database: str) -> None:
        """Record the current preconditions of an automatic failover."""
        preconditions = group_policies.list_preconditions(world, database)
        guards_by_key = {(guard.name, guard.seen_in, guard.target): guard for guard in preconditions}
        has_lost_guard = any(guard.about == "beginning" and guard.holds for guard in guards_by_key.values())
        for key, guard in guards_by_key.items():
            if guard.about == "beginning":
                self.detection_keys.add(key)
            if guard.about == "memory" and has_lost_guard and key in self.precondition_histories:
                continue  # keep the state from the time at which the loss was detected
            self.precondition_histories.setdefault(key, LaneRecorder()).record_state(
                world.tick, MET if guard.holds else UNMET
            )
        for key, lane in self.precondition_histories.items():
            if key not in guards_by_key:
                lane.record_state(world.tick, "", keep_instant=True)

    def record_estimate(self, world: World, failover: Failover) -> None:
        """Record the data loss and the recovery time that the published formulas estimate for this failover."""
        copy = world.copies.get((failover.to_server, failover.database))
        estimate = estimates.estimate_failover(world, copy, failover.cause) if copy is not None else None
        if estimate is not None:
            self.estimates.append((failover.failed_tick, estimate))

    def build_lanes(self, database: str, end_tick: Tick) -> DatabaseLanes:
        guards = tuple(
            PreconditionHistory(
                name,
                observer,
                tuple(s for s in lane.list_spans(end_tick) if s.what),
                (name, observer, target) in self.detection_keys,
                target,
            )
            for (name, observer, target), lane in self.precondition_histories.items()
        )
        return DatabaseLanes(
            database=database,
            service=self.service.list_spans(end_tick),
            where=self.where.list_spans(end_tick),
            protection=self.protection.list_spans(end_tick),
            state=self.state.list_spans(end_tick),
            preconditions=guards,
            estimates=tuple(self.estimates),
        )


def record_all_lanes(drill: Drill) -> CooperativeTask[dict[str, DatabaseLanes]]:
    """Replay *drill* and return database -> lanes. Runs in slices."""
    replay = Drill(drill.scenario, drill.seed, drill.mode)
    watched = {name: _DatabaseRecorder() for name in replay.world.availability}
    for name, recorder in watched.items():
        recorder.record_state(replay.world, name)
    inputs = list(reversed(drill.journal))
    losses = [failover for failover in drill.world.failovers if failover.online_tick is not None]
    for tick, databases in _iterate_changes(drill):
        for _ in advance_in_slices(replay, tick):
            yield replay.tick / max(1, drill.tick)
        for loss in losses:
            if max(0, loss.failed_tick - 1) == tick:
                watched[loss.database].record_estimate(replay.world, loss)
        if (
            inputs and inputs[-1].tick <= tick
        ):  # record before the inputs, because one may end the session in this tick
            for name in sorted(watched):
                watched[name].record_preconditions(replay.world, name)
        while inputs and inputs[-1].tick <= tick and not replay.finished:
            replay.apply_line(inputs.pop().line_without_time)
        for name in databases & set(watched) or set(watched):
            watched[name].record_state(replay.world, name)
        yield replay.tick / max(1, drill.tick)
    assert replay.compute_state_hash() == drill.compute_state_hash(), "a run that plays again to another end"
    return {
        name: database_recorder.build_lanes(name, drill.tick) for name, database_recorder in watched.items()
    }


def _iterate_changes(drill: Drill) -> Iterator[tuple[Tick, set[str]]]:
    """Yield (tick, affected databases) for each tick at which a lane may change.

    An empty set means all databases.
    """
    input_moments = ((item.tick, None) for item in drill.journal)
    changes = ((event.tick, event.database) for event in drill.events)
    before = sorted(
        (max(0, failover.failed_tick - 1), failover.database) for failover in drill.world.failovers
    )
    all_moments = heapq.merge(input_moments, changes, before, [(drill.tick, None)], key=itemgetter(0))
    for tick, moments_at_tick in groupby(all_moments, key=itemgetter(0)):
        databases = {database for _, database in moments_at_tick}
        yield tick, set() if None in databases else {name for name in databases if name is not None}


# --- markers for the timeline of a run ---------------------------------------------------------------------

MarkerKind = Literal[
    "fault", "repair", "detection", "transition", "command", "refusal", "hint", "question", "goal", "rewind",
    "note", "end",
]  # fmt: skip


class Marker(Struct, frozen=True):
    """Marker on the timeline of a run."""

    tick: Tick
    kind: MarkerKind
    text: str
    server: str | None = None
    database: str | None = None


def list_markers(events: Iterable[Event]) -> list[Marker]:
    """Return the markers for *events* in order of time. The marker of a command is at its start."""
    markers = (marker for event in events if (marker := find_marker(event)) is not None)
    return sorted(markers, key=lambda marker: marker.tick)


def find_marker(event: Event) -> Marker | None:
    """Return the marker of an event; None if it has none.

    ERRORLOG lines and traces have no marker, because they repeat other events.
    """
    kind_and_text, data = _find_kind_and_text(event), event.data
    tick = data.started_tick if isinstance(data, SqlDoneData) else event.tick
    return None if kind_and_text is None else Marker(tick, *kind_and_text, event.server, event.database)


def _find_kind_and_text(event: Event) -> tuple[MarkerKind, str] | None:
    """Return (kind, text) of the marker of an event; None if the event has no marker."""
    match event.data:
        case FaultData(no_effect=True) | NoteData(refused=True, ended_by=None, rewound_from_s=None):
            return None
        case FaultData(verb=name):
            verb = VERBS.get(name)
            return ("fault" if verb is None or verb.group == "fault" else "repair"), describe_line(event.text)
        case AvailabilityData(serving=None):
            return None
        case FailoverData(step=step):
            return ("transition", event.text) if step in ("accepted", "online") else None
        case SqlDoneData() as batch_result:
            kind: MarkerKind = "refusal" if condition_context.list_error_numbers(batch_result) else "command"
            return kind, f"{event.server}: {' '.join(batch_result.batch.split())}"
        case HintData():
            return "hint", build_message("hint opened: {hint}", hint=event.text)
        case NoteData(ended_by=str()):
            return "end", event.text
        case NoteData(rewound_from_s=str() as left_s):
            return "rewind", build_message(
                "rewound from {moment} to this time", moment=format_run_time(float(left_s), 1)
            )
    text_kind = TEXT_MARKER_KINDS.get(event.kind)
    return None if text_kind is None else (text_kind, event.text)


TEXT_MARKER_KINDS: Final[Mapping[EventKind, MarkerKind]] = {
    "chore": "repair",
    "detected": "detection",
    "state": "transition",
    "role": "transition",
    "witness": "transition",
    "availability": "transition",
    "question": "question",
    "answer": "question",
    "goal": "goal",
    "note": "note",
}
"""Kind of event -> kind of marker, for markers with the text of the event."""
