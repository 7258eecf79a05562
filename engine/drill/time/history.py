"""Drill with access to its past. Snapshots are stored.

Any other time is replayed from the preceding snapshot in milliseconds.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from engine import arithmetic
from engine.arithmetic import log1p
from engine.constants import TICKS_PER_S
from engine.drill.judging.replay_timeline import Marker, list_markers
from engine.drill.running import rewind
from engine.drill.running.drill import Drill
from engine.drill.running.modes import DrillMode
from engine.drill.running.state import HASH_INTERVAL_TICKS
from engine.drill.time.cooperative_tasks import CooperativeTask, replay_inputs
from engine.drill.time.snapshots import HistoryLengths, RunSnapshot, measure_lengths, take_snapshot
from engine.events import Event
from engine.generators import run_to_completion
from engine.inputs import Input, InputError
from engine.localization import build_message
from engine.model import Tick
from engine.tsql.language.lexer import is_read_only_input
from engine.verbs.input_lines import parse_input_line

SNAPSHOT_INTERVAL_TICKS: Final = 15 * TICKS_PER_S
"""Ticks between two snapshots, in addition to the snapshots at inputs. Assumed.

Even with a hundred databases, this time is replayed within 10 ms.
"""

EVENTS_PER_INTERVAL: Final = 250
"""Number of events whose replay takes as long as SNAPSHOT_INTERVAL_TICKS ticks. A hundred failing databases
emit thousands of events in seconds.
"""

TIMERS_PER_INTERVAL: Final = 400
"""Number of timers whose replay takes as long as SNAPSHOT_INTERVAL_TICKS ticks.

Fitted to an hour of faults: 0.02 ms per timer, 0.04 ms per event, 12 ms per input.
"""

HASHES_PER_INTERVAL: Final = 1
"""Number of hashes whose replay takes as long as SNAPSHOT_INTERVAL_TICKS ticks. If there is room, a snapshot
precedes each input with a hash.
"""

INPUTS_PER_INTERVAL: Final = 10
"""Number of read-only inputs whose replay takes as long as SNAPSHOT_INTERVAL_TICKS ticks. Measured in the
lab: 1 to 3 ms each.
"""

RECENT_INTERVALS: Final = 1_000
"""Length of the recent part of a run, in units of SNAPSHOT_INTERVAL_TICKS. Older snapshots are needed less
often and become sparser.

Assumed: two hours of a hundred databases with some faults.
"""

SNAPSHOTS_MAX: Final = 480
"""Maximum number of snapshots of a run. A very long run keeps half as many, because its snapshots share less
data.
"""

SNAPSHOT_ROWS_MAX: Final = 32_000
"""Maximum product of snapshots and databases. With a hundred databases, 320 snapshots need about 15 MB.
Assumed.
"""


class History:
    """Drill with access to every past time. It has the same `apply_line` and `advance_to` as a drill.

    `drill` is the live run. `seek` returns another drill, and does not change the live run.
    """

    def __init__(self, drill: Drill) -> None:
        self.drill = drill
        self._snapshots = [take_snapshot(drill)]

    # --- continuing
    # -------------------------------------------------------------------------------------------

    def advance_to(self, tick: Tick, to_event: bool = False) -> list[Event]:
        """Advance the drill, taking snapshots on the way, and return the events."""
        first_event = len(self.drill.events)
        while self.drill.tick < tick and not self.drill.finished:
            second = (self.drill.tick // TICKS_PER_S + 1) * TICKS_PER_S
            new_events = self.drill.advance_to(min(tick, second), to_event)
            if self._is_snapshot_due():
                self._add_snapshot(take_snapshot(self.drill, self._snapshots[-1]))
            if to_event and new_events:
                break
        return self.drill.events[first_event:]

    def apply_line(self, line: str) -> Input:
        """Apply an input line, and store a snapshot of the state before it. Raises InputError.

        Read-only queries store no snapshot, because a monitoring script may send one every second.
        """
        item = parse_input_line(line, self.drill.tick)
        if is_read_only_input(item):
            return self.drill.apply_input(item)
        before = take_snapshot(self.drill, self._snapshots[-1])
        item = self.drill.apply_input(item)
        if (before.tick, before.input_count) != (self._snapshots[-1].tick, self._snapshots[-1].input_count):
            self._add_snapshot(before)
        return item

    def _is_snapshot_due(self) -> bool:
        """Return whether the last snapshot is far enough in the past.

        The required distance grows with the length of the run.
        """
        cost = _compute_replay_cost(self.drill, measure_lengths(self.drill))
        cost_since = cost - _compute_snapshot_cost(self._snapshots[-1])
        return cost_since >= 1.0 and cost_since >= compute_snapshot_spacing(
            0.0, cost, _compute_snapshot_limit(self.drill, cost)
        )

    def _add_snapshot(self, drill: RunSnapshot[Drill]) -> None:
        """Store a snapshot of *drill*.

        If there are too many, remove the snapshot with the smallest ratio of saved replay cost to age.
        """
        total_cost = _compute_snapshot_cost(drill)
        snapshot_limit = _compute_snapshot_limit(self.drill, total_cost)
        if (
            len(self._snapshots) >= snapshot_limit
        ):  # pack in a long run, where snapshots are far apart and share little data
            self._snapshots[-1].pack(drill)
        self._snapshots.append(drill)
        while len(self._snapshots) > snapshot_limit:
            costs = [_compute_snapshot_cost(snapshot) for snapshot in self._snapshots]
            gaps = [
                (later_cost - before)
                / (
                    RECENT_INTERVALS + total_cost - later_cost
                )  # like `compute_snapshot_spacing`, without factors that are equal for all snapshots
                for before, later_cost in zip(costs, costs[2:], strict=False)
            ]
            del self._snapshots[1 + gaps.index(min(gaps))]

    # --- reading the past
    # -------------------------------------------------------------------------------------

    def seek(self, tick: Tick, before_inputs: bool = False) -> Drill:
        """Return an independent drill at *tick*, after the inputs of this tick.

        *before_inputs*: True for the state before the inputs of this tick. Raises InputError in an exam that
        has not ended.
        """
        return run_to_completion(self.seek_in_slices(tick, before_inputs))

    def seek_in_slices(self, tick: Tick, before_inputs: bool = False) -> CooperativeTask[Drill]:
        """Run `seek` in slices. InputError is raised at the call, not in a slice."""
        if not self.drill.permissions.rewind and not self.drill.finished:
            raise InputError(build_message("an exam cannot be rewound"))
        tick = min(max(0, tick), self.drill.tick)
        journal = self.drill.journal
        inputs = arithmetic.add_in_order(
            item.tick < tick or (item.tick == tick and not before_inputs) for item in journal
        )
        if self._snapshots[0].tick > 0 or self._snapshots[0].input_count > 0:
            self._replay_missing_past()
        snapshot = next(k for k in reversed(self._snapshots) if k.tick <= tick and k.input_count <= inputs)
        return replay_inputs(snapshot.restore(self.drill), journal[snapshot.input_count : inputs], tick)

    def _replay_missing_past(self) -> None:
        """Replay the run up to the start of this history to create the missing snapshots.

        This does not run in slices. Programs with a window create their histories at tick 0, which need
        no replay.
        """
        first_snapshot = self._snapshots[0]
        history = History(Drill(self.drill.scenario, self.drill.seed, self.drill.mode))
        _play_inputs(history, self.drill.journal[: first_snapshot.input_count], first_snapshot.tick)
        self._snapshots = history._snapshots + self._snapshots

    def list_markers(self) -> list[Marker]:
        """Return the markers of faults, detections, commands, hints, goals and other events, in order."""
        return list_markers(self.drill.events)

    # --- returning to the past
    # --------------------------------------------------------------------------------

    def fork(self, tick: Tick, before_inputs: bool = False, other_runs: Iterable[Drill] = ()) -> History:
        """Fork the history at *tick*. The new journal contains a rewind line.

        *before_inputs*: True for the state before the inputs of *tick*. Hints and answers that this run
        and *other_runs* have revealed stay revealed. Raises InputError in an exam that has not ended. A
        fork of a finished exam is in practice mode.
        """
        return run_to_completion(self.fork_in_slices(tick, before_inputs, other_runs))

    def fork_in_slices(
        self, tick: Tick, before_inputs: bool = False, other_runs: Iterable[Drill] = ()
    ) -> CooperativeTask[History]:
        """Run `fork` in slices. After an exam, the whole run is replayed in practice mode."""
        past_drill = self.seek(tick, before_inputs)
        if past_drill.permissions.rewind:
            fork = History(past_drill)
            fork._snapshots = [
                *(moment for moment in self._snapshots if moment.tick < past_drill.tick),
                take_snapshot(past_drill),
            ]
        else:
            practice_run = History(Drill(past_drill.scenario, past_drill.seed, DrillMode.PRACTICE))
            fork = yield from replay_inputs(practice_run, past_drill.journal, past_drill.tick)
        fork.apply_line(rewind.format_rewind_line(self.drill, fork.drill, other_runs))
        return fork

    def undo_last_input(self) -> None:
        """Undo the last input because it could not be stored. The time returns to the tick of the input."""
        journal = self.drill.journal[:-1]
        tick = self.drill.journal[-1].tick
        self._snapshots = [moment for moment in self._snapshots if moment.input_count <= len(journal)]
        last_snapshot = self._snapshots[-1]
        drill = last_snapshot.restore(self.drill)
        _play_inputs(drill, journal[last_snapshot.input_count :], tick)
        self.drill = drill


def compute_snapshot_spacing(age: float, total_cost: float, snapshot_limit: int) -> float:
    """Return the distance that two snapshots of the given *age* should have.

    The distance is constant for recent snapshots and grows with age. *total_cost*: cost of replaying the run.
    *snapshot_limit*: maximum number of snapshots. Distance, age and cost are in units of
    SNAPSHOT_INTERVAL_TICKS.
    """
    return (RECENT_INTERVALS + age) * log1p(total_cost / RECENT_INTERVALS) / snapshot_limit


def _compute_snapshot_limit(drill: Drill, total_cost: float) -> int:
    """Return the maximum number of snapshots for a run whose replay costs *total_cost*."""
    base_count = min(SNAPSHOTS_MAX, SNAPSHOT_ROWS_MAX // max(1, len(drill.world.availability)))
    return max(2, round(base_count * (1.0 + RECENT_INTERVALS / (RECENT_INTERVALS + total_cost)) / 2.0))


def _compute_replay_cost(drill: Drill, lengths: HistoryLengths) -> float:
    """Return the cost of replaying *drill* to its current tick.

    The unit is SNAPSHOT_INTERVAL_TICKS ticks without events. *lengths*: lengths of the history of
    *drill*.
    """
    return (
        drill.tick / SNAPSHOT_INTERVAL_TICKS
        + lengths.events / EVENTS_PER_INTERVAL
        + drill.world.counter / TIMERS_PER_INTERVAL
        + (lengths.hash_count - drill.tick // HASH_INTERVAL_TICKS) / HASHES_PER_INTERVAL
        + lengths.input_count / INPUTS_PER_INTERVAL
    )


def _compute_snapshot_cost(snapshot: RunSnapshot[Drill]) -> float:
    return _compute_replay_cost(snapshot.drill, snapshot.lengths)


def _play_inputs(drill: Drill | History, inputs: Iterable[Input], tick: Tick) -> None:
    for item in inputs:
        drill.advance_to(item.tick)
        drill.apply_line(item.line_without_time)
    drill.advance_to(tick)
