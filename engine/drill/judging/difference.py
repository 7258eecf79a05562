"""Comparison of two runs of one scenario: first difference, states, counter curves, and outcomes."""

from collections.abc import Iterator
from itertools import zip_longest
from typing import Final

from msgspec import Struct

from engine.constants import TICKS_PER_S
from engine.drill.authoring import condition_context
from engine.drill.judging import report
from engine.drill.running.drill import Drill
from engine.events import Event, NoteData
from engine.localization import build_message
from engine.model import Tick
from engine.protocol import group_policies

CURVE_COUNTERS: Final = ("send_queue_kb", "redo_queue_kb", "transactions_per_s")
"""Counters that are compared as curves by default."""


class FirstDifference(Struct, frozen=True):
    """First pair of events in which two runs differ."""

    tick: Tick
    left: Event | None
    """Event of the first run; None if it has no more events."""
    right: Event | None
    """Event of the second run; None if it has no more events."""


class StateRow(Struct, frozen=True):
    """State of an object in both runs."""

    what: str
    """Name of the compared object."""
    left: str
    """State in the first run."""
    right: str
    """State in the second run."""

    @property
    def is_equal(self) -> bool:
        """Return whether both runs have equal values."""
        return self.left == self.right


class OutcomeRow(Struct, frozen=True):
    """Measure of the outcome, such as downtime, with its value in both runs."""

    name: str
    left: float
    """Value in the first run."""
    right: float
    """Value in the second run."""

    @property
    def delta(self) -> float:
        """Value of the right run minus that of the left run."""
        return self.right - self.left


class CounterCurve(Struct, frozen=True):
    """Counter of one database in both runs, second by second. The value is None without a running copy."""

    database: str
    counter: str
    left: tuple[float | None, ...]
    """Values in the first run."""
    right: tuple[float | None, ...]
    """Values in the second run."""


def find_first_difference(left_run: Drill, right_run: Drill) -> FirstDifference | None:
    """Return the first difference between two runs; None if they are equal until the shorter run ends.

    Rewinds are ignored, because they concern only the trainee. Hints that were recorded at the target
    of a rewind are ignored, too.
    """
    end_tick = min(left_run.tick, right_run.tick)
    for left_event, right_event in zip_longest(
        _iterate_events(left_run, end_tick), _iterate_events(right_run, end_tick)
    ):
        if left_event != right_event:
            return FirstDifference(
                min(event.tick for event in (left_event, right_event) if event is not None),
                left_event,
                right_event,
            )
    return None


def _iterate_events(drill: Drill, end_tick: Tick) -> Iterator[Event]:
    rewind_ticks = {target_tick for _, target_tick in drill.rewinds}
    for event in drill.events:
        is_carried_hint = event.kind == "hint" and event.tick in rewind_ticks
        is_rewind = isinstance(event.data, NoteData) and event.data.rewound_from_s is not None
        if event.tick <= end_tick and not is_rewind and not is_carried_hint:
            yield event


def compare_states(left_run: Drill, right_run: Drill) -> list[StateRow]:
    """Compare the servers, copies and clients of two drills, each at its own current time."""
    rows = []
    for name in left_run.world.instances:
        rows.append(StateRow(name, _describe_server(left_run, name), _describe_server(right_run, name)))
    for key in sorted({*left_run.world.copies, *right_run.world.copies}, key=lambda key: (key[1], key[0])):
        copy_name = build_message("{database} on {server}", database=key[1], server=key[0])
        rows.append(StateRow(copy_name, _describe_copy(left_run, key), _describe_copy(right_run, key)))
    for name in left_run.world.clients:
        rows.append(StateRow(name, _describe_client(left_run, name), _describe_client(right_run, name)))
    return rows


def _describe_server(drill: Drill, name: str) -> str:
    return ", ".join(
        word
        for word, true in condition_context.SERVER_STATE_TESTS.items()
        if word in _SERVER_STATES and true(drill.world, name)
    )


_SERVER_STATES: Final = ("RUNNING", "STOPPED", "OFF", "HUNG", "UNPLUGGED")
"""States of a server that the comparison distinguishes."""


def _describe_copy(drill: Drill, key: tuple[str, str]) -> str:
    copy = drill.world.copies.get(key)
    if copy is None:
        return "ABSENT"
    if not drill.world.instances[
        key[0]
    ].running:  # a stopped server still has the state from before its shutdown, which is not comparable
        role = group_policies.get_policy(copy).get_role(copy)
        return (
            build_message("instance is down; its role was {role}", role=role)
            if role
            else build_message("instance is down")
        )
    policy = group_policies.get_policy(copy)
    return ", ".join(filter(None, (policy.get_role(copy), policy.get_state(copy), copy.db_state.name)))


def _describe_client(drill: Drill, name: str) -> str:
    server = drill.world.clients[name].connected_to
    return (
        build_message("on {server}", server=server) if server is not None else build_message("not connected")
    )


def compare_curves(left_run: Drill, right_run: Drill) -> list[CounterCurve]:
    """Compare the counters of every database in both runs, second by second from the start."""
    arrays = report.build_readings_by_database(left_run), report.build_readings_by_database(right_run)
    return [
        CounterCurve(name, counter, tuple(arrays[0][name][counter]), tuple(arrays[1][name][counter]))
        for name in arrays[0]
        for counter in CURVE_COUNTERS
    ]


def compare_outcomes(left_run: Drill, right_run: Drill) -> list[OutcomeRow]:
    """Compare the outcomes of both runs so far."""
    sums = [report.build_availability_json(drill.world) for drill in (left_run, right_run)]
    rows = [
        OutcomeRow(name, sums[0][name], sums[1][name])
        for name in ("downtime_s", "exposed_s", "lost_transactions", "lost_kb")
    ]
    rows.append(OutcomeRow("commands", float(len(left_run.journal)), float(len(right_run.journal))))
    rows.append(OutcomeRow("ended_at_s", left_run.tick / TICKS_PER_S, right_run.tick / TICKS_PER_S))
    if left_run.compute_score().scored:
        rows.append(OutcomeRow("score", left_run.compute_score().total, right_run.compute_score().total))
    return rows
