"""State of the flow model: sources, streams and their arrays, with forks, digests and readings."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from operator import is_, itemgetter
from typing import Final

import numpy as np

from engine.constants import TICKS_PER_S
from engine.flow import compiled, derive, rows
from engine.flow import kernel as k
from engine.flow.kernel import Array
from engine.flow.places import build_placement, get_source_placement, get_stream_placement
from engine.flow.run_cache import Arrays, RunCache, hash_parts
from engine.flow.samples import (
    SOURCE_POSITIONS,
    STREAM_POSITIONS,
    LogPositions,
    SourcePositions,
    SourceReading,
    SourceTotals,
    StreamPositions,
    StreamReading,
    StreamTotals,
)
from engine.flow.setup import FlowStopCondition, SourceSetup, StreamSetup, Threshold

RING_STEPS_MIN: Final = 32
"""Minimum length of a stream's ring buffers, in steps.

The ring buffers grow with the longest delay of any setup.
"""

WHOLE_COLUMN_DIVISOR: Final = 8
"""Divisor that decides between two ways to read positions: as whole columns, or as single numbers.

Whole columns are read if at least one source in this many is requested. A column of 100 values takes 0.8 us,
a single number 0.05 us. Measured (timeit).
"""

_RUN_ARRAY_NAMES: Final = ("sources", "streams", "hosts", "links", "history", "clock")
"""Names of the arrays of `Flow` that change while time advances."""

RUN_ARRAYS: Final = frozenset(_RUN_ARRAY_NAMES)
SOURCE_ARRAYS: Final = frozenset({"sources"})
STREAM_ARRAYS: Final = frozenset({"streams", "history"})
"""Names of the arrays of `Flow` that change if only a stream changes."""

_SOURCE_POSITIONS: Final = itemgetter(*SOURCE_POSITIONS.values())
_STREAM_POSITIONS: Final = itemgetter(*STREAM_POSITIONS.values())


class Flow:
    """State of all sources and streams, as arrays. Forks share the parameters, which never change in place."""

    def __init__(self, steps_per_tick: int = 1) -> None:
        self.steps_per_tick = steps_per_tick
        self.source_setups: tuple[SourceSetup | None, ...] = ()
        self.stream_setups: tuple[tuple[int, StreamSetup] | None, ...] = ()
        self.sources: Array = np.zeros((0, k.SOURCE_COLUMNS))
        self.streams: Array = np.zeros((0, k.STREAM_COLUMNS))
        self.source_params: Array = np.zeros((0, k.SOURCE_PARAMETERS))
        self.stream_params: Array = np.zeros((0, k.STREAM_PARAMETERS))
        self.hosts: Array = np.zeros((0, k.HOST_COLUMNS))
        self.history: Array = np.zeros((0, 2, RING_STEPS_MIN))
        self.clock: Array = np.array([0, steps_per_tick, 0], dtype=np.int64)
        self.memory: RunCache | None = None
        self.history_id = self.ticks_since_change = 0
        """Root in the run cache, which stands for all changes so far, and number of ticks since the last change."""
        self._owned: tuple[object, dict[int, tuple[int, ...]]] = (None, {})
        """Cache of `group_streams_by_source`: the stream setups for which it is valid, and its result."""
        self._last_digest: tuple[list[Array], bytes] = ([], b"")
        """Parameter arrays of the last state key, and their hash. These arrays never change in place."""
        self._shared: frozenset[str] = frozenset()
        """Arrays that a run changes and that other flows may share. They are copied before a change."""
        self.levels: tuple[Threshold, ...] = ()
        """Watched comparisons. A run stops at the whole second at which the result of a comparison changes."""
        self.level_rows = rows.build_threshold_array(())
        self.passed = False
        """True if the latest run stopped because the result of a comparison in `thresholds` changed."""
        self._update_placement()

    @classmethod
    def create_empty(cls, steps_per_tick: int = 1) -> Flow:
        """Return a flow without sources.

        *steps_per_tick* is the minimum number of steps per tick of 10 ms. It increases automatically if a
        workload needs shorter steps.
        """
        return cls(steps_per_tick)

    @property
    def step_s(self) -> float:
        """Return the length of a step in seconds."""
        return 1.0 / TICKS_PER_S / self.steps_per_tick

    def fork(self) -> Flow:
        """Return an independent copy that continues identically."""
        self._shared = RUN_ARRAYS
        fork_flow = Flow.__new__(Flow)
        fork_flow.__dict__.update(self.__dict__)
        fork_flow.scratch = None
        return fork_flow

    def share_arrays(self) -> Arrays:
        """Return the arrays that a run changes, and mark them as shared.

        Before this flow changes a shared array, it replaces the array by a copy.
        """
        self._shared = RUN_ARRAYS
        return tuple([getattr(self, name) for name in _RUN_ARRAY_NAMES])

    def restore_arrays(self, arrays: Arrays) -> None:
        """Restore the state in *arrays*, which other flows may share."""
        self.__dict__.update(zip(_RUN_ARRAY_NAMES, arrays, strict=True))
        self._shared = RUN_ARRAYS

    def unshare_arrays(self, names: frozenset[str] = RUN_ARRAYS) -> None:
        """Replace the named arrays with copies that only this flow uses."""
        shared = self._shared & names
        if shared:
            for name in shared:
                setattr(self, name, getattr(self, name).copy())
            self._shared -= shared

    def enable_run_cache(self) -> None:
        """Share the results of runs between this flow and its forks from now on."""
        self.memory, self.history_id, self.ticks_since_change = RunCache(), 0, 0

    def _begin_change(self, *change: object, array_names: frozenset[str] = RUN_ARRAYS) -> None:
        """Unshare the arrays *array_names* and give this flow a new cache key, before *change* is applied."""
        self.unshare_arrays(array_names)
        self._start_own_history(*change)

    def _start_own_history(self, *change: object) -> None:
        """Give this flow a history id of its own, because *change* applies to this flow and not to its forks."""
        if self.memory is not None:
            self.history_id, self.ticks_since_change = (
                self.memory.find_history_id(self.history_id, self.ticks_since_change, change),
                0,
            )

    def compute_digest(self) -> bytes:
        """Return 16 bytes that identify all state that affects the future, for the journal of a run."""
        h = hashlib.blake2b(digest_size=16)
        for name in _DIGEST_ARRAY_NAMES:
            h.update(getattr(self, name).data)
        return h.digest()

    def get_state_key(self) -> bytes:
        """Return 20 bytes that distinguish the same states as `compute_digest`, but are faster to compute.

        The bytes are never stored.
        """
        return (
            self._compute_state_key()
            if self.memory is None
            else self.memory.get_state_key(self.history_id, self.ticks_since_change, self._compute_state_key)
        )

    def _compute_state_key(self) -> bytes:
        parameters = [getattr(self, name) for name in _SETUP_ARRAY_NAMES]
        known_digest, mark = self._last_digest
        if len(known_digest) != len(parameters) or not all(map(is_, known_digest, parameters)):
            mark = hash_parts([array.data for array in parameters])
            self._last_digest = parameters, mark
        return hash_parts([mark, *[getattr(self, name).data for name in _RUN_ARRAY_NAMES]])

    # -- adding and removing sources and streams

    def add_source(self, setup: SourceSetup) -> int:
        """Add an empty writable log and return its number. All of its connections begin in their think time."""
        self._begin_change("add source", setup)
        number = rows.find_free_number(self.source_setups)
        if number == len(self.source_setups):
            self.source_setups += (None,)
            self.sources = np.vstack([self.sources, np.zeros((1, k.SOURCE_COLUMNS))])
            self.source_params = np.vstack([self.source_params, np.zeros((1, k.SOURCE_PARAMETERS))])
        self.sources[number] = 0.0
        self.sources[number, k.OPERATION_RUNNING] = 1.0
        self._apply_setups({number: setup}, {})
        return number

    def add_stream(self, source: int, setup: StreamSetup) -> int:
        """Add a stream of the log of *source* with all positions 0, and return its number."""
        self._begin_change("add stream", source, setup)
        self._require_source(source)
        number = rows.find_free_number(self.stream_setups)
        if number == len(self.stream_setups):
            self.stream_setups += (None,)
            self.streams = np.vstack([self.streams, np.zeros((1, k.STREAM_COLUMNS))])
            self.stream_params = np.vstack([self.stream_params, np.zeros((1, k.STREAM_PARAMETERS))])
            self.history = np.concatenate([self.history, np.zeros((1, 2, self.history.shape[2]))])
        self.streams[number] = 0.0
        self.history[number] = 0.0
        self.streams[number, k.NOISE] = 1.0 + number * 7919 + int(self.clock[k.NOW]) % 65_537
        self._apply_setups({}, {number: (source, setup)})
        return number

    def remove_source(self, source: int) -> None:
        """Remove a log with its streams. Their numbers may be reused."""
        self._begin_change("remove source", source)
        self._require_source(source)
        for stream in self.list_source_streams(source):
            self.remove_stream(stream)
        self.source_setups = rows.replace_setups(self.source_setups, {source: None})
        self.source_params = rows.replace_rows(self.source_params, {source: np.zeros(k.SOURCE_PARAMETERS)})
        self.sources[source] = 0.0
        self._update_placement()

    def remove_stream(self, stream: int) -> None:
        """Remove a stream. Its number may be reused."""
        self._begin_change("remove stream", stream)
        source, _ = self._require_stream(stream)
        self.stream_setups = rows.replace_setups(self.stream_setups, {stream: None})
        self.stream_params = rows.replace_rows(self.stream_params, {stream: np.zeros(k.STREAM_PARAMETERS)})
        self.streams[stream] = 0.0
        self._update_placement()
        self._apply_setups({source: self._require_source(source)}, {})

    def update_setups(
        self, sources: Mapping[int, SourceSetup] = {}, streams: Mapping[int, StreamSetup] = {}
    ) -> None:
        """Replace the setups of these sources and streams now. Log positions do not change."""
        self._begin_change("set up", tuple(sources.items()), tuple(streams.items()))
        for source in sources:
            self._require_source(source)
        self._apply_setups(
            sources, {number: (self._require_stream(number)[0], setup) for number, setup in streams.items()}
        )

    def get_source_setup(self, source: int) -> SourceSetup:
        """Return the current setup of a source."""
        return self._require_source(source)

    def get_stream_setup(self, stream: int) -> StreamSetup:
        """Return the current setup of a stream."""
        return self._require_stream(stream)[1]

    def get_stream_source(self, stream: int) -> int:
        """Return the source whose log the stream carries."""
        return self._require_stream(stream)[0]

    def list_source_streams(self, source: int) -> tuple[int, ...]:
        """Return the numbers of the streams of *source*, in ascending order."""
        self._require_source(source)
        return self.group_streams_by_source().get(source, ())

    def group_streams_by_source(self) -> Mapping[int, tuple[int, ...]]:
        """Return source number -> numbers of its streams in ascending order, for every source with streams."""
        setups, streams = self._owned
        if setups is not self.stream_setups:
            setups, streams = self.stream_setups, {}
            for number, stream in enumerate(setups):
                if stream is not None:
                    streams[stream[0]] = (*streams.get(stream[0], ()), number)
            self._owned = setups, streams
        return streams

    def adopt_steady_state(self, source: int, steady_flow: Flow, checkpoint_phase: float) -> None:
        """Copy the state of the first source of *steady_flow*, which is in its steady state, to *source*.

        Log positions are shifted so that the redone positions of the streams match. *checkpoint_phase* is the
        elapsed share of the checkpoint interval.
        """
        self._begin_change("adopt", source, checkpoint_phase)
        streams = self.list_source_streams(source)
        s, steady = self.sources[source], steady_flow.sources[0].copy()
        shifts = [
            self.streams[stream, k.REDONE] - steady_flow.streams[position, k.REDONE]
            for position, stream in enumerate(streams)
            if derive.should_send_log(self.get_stream_setup(stream))
        ]
        shift = max(shifts, default=s[k.FLUSHED] - steady[k.FLUSHED])
        since_look_s = int(self.clock[k.TICKS]) % k.LOOK_TICKS / TICKS_PER_S
        kept_columns = (k.TRANSACTIONS, k.REUSE, k.LOG_SIZE, k.OPERATION_LEFT, k.SOURCE_ARMED)
        positions = [column for column in SOURCE_POSITIONS.values() if column != k.TRANSACTIONS]
        rows.adopt_steady_row(s, steady, kept_columns, positions, shift)
        s[k.RELEASED] = s[k.FLUSHED]
        s[k.CHECKPOINT_LOG] += s[k.GENERATED] - steady[k.GENERATED]
        rows.reset_rate(s, k.SOURCE_TOTALS, since_look_s)
        now_step, length = int(self.clock[k.NOW]), self.history.shape[2]
        steady_now, size = int(steady_flow.clock[k.NOW]), steady_flow.history.shape[2]
        for index, stream in enumerate(streams):
            t, calm = self.streams[stream], steady_flow.streams[index].copy()
            rows.adopt_steady_row(t, calm, (k.NOISE, k.STREAM_ARMED), list(STREAM_POSITIONS.values()), shift)
            rows.reset_rate(t, k.STREAM_TOTALS, since_look_s)
            shift_kb = t[[k.SENT, k.HARDENED]] - calm[[k.SENT, k.HARDENED]]
            for steps_back in range(length):
                past_values = steady_flow.history[index, :, (steady_now - min(steps_back, size - 1)) % size]
                self.history[stream, :, (now_step - steps_back) % length] = past_values + shift_kb

    # -- positions

    def read_source_positions(self, source: int) -> SourcePositions:
        """Return the log positions of a source, in KB."""
        self._require_source(source)
        return SourcePositions(*_SOURCE_POSITIONS(self.sources[source].tolist()))

    def read_stream_positions(self, stream: int) -> StreamPositions:
        """Return the log positions of a stream, in KB."""
        self._require_stream(stream)
        return StreamPositions(*_STREAM_POSITIONS(self.streams[stream].tolist()))

    def read_positions(self, source_numbers: Sequence[int], stream_numbers: Sequence[int]) -> LogPositions:
        """Return the log positions of at least these sources and streams."""
        sources, streams = self.sources, self.streams
        if len(source_numbers) * WHOLE_COLUMN_DIVISOR < len(sources):
            return LogPositions(
                *[
                    rows.read_column(sources, source_numbers, column)
                    for column in (k.FLUSHED, k.REUSE, k.SOURCE_ARMED)
                ],
                *[
                    rows.read_column(streams, stream_numbers, column)
                    for column in (k.HARDENED, k.STREAM_ARMED)
                ],
            )
        return LogPositions(
            sources[:, k.FLUSHED].tolist(),
            sources[:, k.REUSE].tolist(),
            sources[:, k.SOURCE_ARMED].tolist(),
            streams[:, k.HARDENED].tolist(),
            streams[:, k.STREAM_ARMED].tolist(),
        )

    def set_positions(self, source: int, **positions: float) -> None:
        """Set the given log positions of a source. Keywords are names of `SOURCE_POSITIONS`."""
        self._begin_change("set positions", source, tuple(positions.items()), array_names=SOURCE_ARRAYS)
        self._require_source(source)
        s = self.sources[source]
        rows.set_row_positions(s, SOURCE_POSITIONS, k.SOURCE_TOTALS, positions)
        s[k.RELEASED] = min(max(s[k.RELEASED], s[k.FLUSHED]), s[k.GENERATED])

    def set_stream_positions(self, stream: int, **positions: float) -> None:
        """Set the given log positions of a stream. Keywords are names of `STREAM_POSITIONS`.

        The histories of sent and hardened log are reset, as after a reconnection.
        """
        self._begin_change(
            "set stream positions", stream, tuple(positions.items()), array_names=STREAM_ARRAYS
        )
        self._require_stream(stream)
        s = self.streams[stream]
        rows.set_row_positions(s, STREAM_POSITIONS, k.STREAM_TOTALS, positions)
        self.history[stream, 0] = s[k.RECEIVED]
        self.history[stream, 1] = s[k.HARDENED]

    def add_log_kb(self, source: int, kb: float) -> None:
        """Add log that statements outside the workload write now."""
        self._begin_change("add log", source, kb, array_names=SOURCE_ARRAYS)
        self._require_source(source)
        self.sources[source, k.GENERATED] += kb

    def begin_checkpoint(self, source: int) -> None:
        """Begin a checkpoint of a source now."""
        self._begin_change("checkpoint", source, array_names=SOURCE_ARRAYS)
        rows.begin_checkpoint(self.sources[source])

    def set_log_reuse_kb(self, source: int, kb: float) -> None:
        """Allow reuse of the log before position *kb*. All log after it then counts as used."""
        self._require_source(source)
        if self.sources[source, k.REUSE] != kb:
            self._begin_change("reuse", source, kb, array_names=SOURCE_ARRAYS)
            self.sources[source, k.REUSE] = kb

    def start_operation(self, source: int) -> None:
        """Start or restart the long operation in the source's setup."""
        self._begin_change("start operation", source, array_names=SOURCE_ARRAYS)
        operation = self._require_source(source).operation
        self.sources[source, k.OPERATION_LEFT] = operation.log_kb if operation is not None else 0.0
        self.sources[source, k.OPERATION_RUNNING] = 1.0

    # -- observation

    def read_source(self, source: int) -> SourceReading:
        """Return the current counters of a source."""
        return SourceReading(*self.read_source_counters(source))

    def read_stream(self, stream: int) -> StreamReading:
        """Return the current counters of a stream."""
        return StreamReading(*self.read_stream_counters(stream))

    def measure_stall_s(self, source: int) -> float:
        """Return the time since a transaction of the source last ended; 0 if no transaction is active."""
        self._require_source(source)
        return float(self.sources[source, k.STALLED_S])

    def count_waiting_commits(self, source: int) -> float:
        """Return the number of commits that currently wait for at least one stream."""
        self._require_source(source)
        return float(self.sources[source, k.WAITING]) if self.source_params[source, k.WAITS] > 0.0 else 0.0

    def read_source_counters(self, source: int) -> list[float]:
        """Return the counters of a source in the order of SOURCE_COUNTERS."""
        self._require_source(source)
        values = np.zeros(len(k.SOURCE_COUNTERS))
        host = self.host_of[source]
        compiled.read_source(self.sources, self.source_params, source, self.hosts, host, values)
        return values.tolist()

    def read_stream_counters(self, stream: int) -> list[float]:
        """Return the counters of a stream in the order of STREAM_COUNTERS."""
        source, _ = self._require_stream(stream)
        values = np.zeros(len(k.STREAM_COUNTERS))
        generated, flushed = self.sources[source, k.GENERATED], self.sources[source, k.FLUSHED]
        target = self.place[stream, k.TARGET]
        compiled.read_stream(
            self.streams, self.stream_params, stream, generated, flushed, self.hosts, target, values
        )
        return values.tolist()

    def read_source_totals(self, source: int) -> SourceTotals:
        """Return the totals of a source since it was added."""
        self._require_source(source)
        sums = self.sources[source, : k.SOURCE_TOTALS].tolist()
        return SourceTotals(*[*sums, float(self.hosts[self.host_of[source], k.CORE_S])])

    def read_stream_totals(self, stream: int) -> StreamTotals:
        """Return the totals of a stream since it was added."""
        self._require_stream(stream)
        sums = self.streams[stream, : k.STREAM_TOTALS].tolist()
        target = self.get_stream_setup(stream).target_host
        core_s = float(self.hosts[target, k.CORE_S]) if target >= 0 else 0.0
        return StreamTotals(*[*sums, core_s])

    def count_worker_waits(self, source: int) -> float:
        """Return how many of the source's connections wait for a worker thread of their instance."""
        self._require_source(source)
        return float(self.sources[source, k.QUEUED])

    def count_free_workers(self, host: int) -> float:
        """Return the worker threads of an instance that mirroring and availability groups leave to requests.

        The result is infinite if the instance neither writes nor receives log: the flow then has no row for
        it.
        """
        has_workers = host < len(self.hosts) and self.hosts[host, k.LOG_STREAMS] > 0.0
        return float(self.hosts[host, k.WORKERS]) if has_workers else math.inf

    def measure_worker_wait_s(self, source: int) -> float:
        """Return the connection-seconds spent waiting for a worker thread since the source was added."""
        self._require_source(source)
        return float(self.sources[source, k.QUEUED_S])

    def is_caught_up(self, stream: int) -> bool:
        """Return whether at most one log block of the stream remains to be sent.

        All other log is in transit or received.
        """
        source, _ = self._require_stream(stream)
        flushed, block_kb = self.sources[source, k.FLUSHED], self.source_params[source, k.BLOCK_KB]
        crossings = compiled.stream_crossings(self.streams, self.stream_params, stream, flushed, block_kb)
        return FlowStopCondition.SEND_DONE in FlowStopCondition(crossings)

    def watch_source(self, source: int, stop_conditions: FlowStopCondition) -> None:
        """Set the conditions at which `run_flow` stops for this source. FlowStopCondition(0) removes all."""
        self._require_source(source)
        if self.sources[source, k.SOURCE_ARMED] != stop_conditions.value:
            self._begin_change("watch", source, stop_conditions.value, array_names=SOURCE_ARRAYS)
            self.sources[source, k.SOURCE_ARMED] = stop_conditions.value

    def watch_stream(self, stream: int, stop_conditions: FlowStopCondition) -> None:
        """Set the conditions at which `run_flow` stops for this stream. FlowStopCondition(0) removes all."""
        self._require_stream(stream)
        if self.streams[stream, k.STREAM_ARMED] != stop_conditions.value:
            self._begin_change("watch stream", stream, stop_conditions.value, array_names=STREAM_ARRAYS)
            self.streams[stream, k.STREAM_ARMED] = stop_conditions.value

    def watch_thresholds(self, thresholds: Sequence[Threshold]) -> None:
        """Make `run_flow` stop at the whole second at which the result of one of *thresholds* changes."""
        self.passed = False
        if self.levels != (thresholds := tuple(thresholds)):
            self._start_own_history("levels", thresholds)
            self.levels, self.level_rows = thresholds, rows.build_threshold_array(thresholds)

    # -- internal

    def _require_source(self, number: int) -> SourceSetup:
        setup = self.source_setups[number] if 0 <= number < len(self.source_setups) else None
        if setup is None:
            raise KeyError(f"the flow has no source {number}")
        return setup

    def _require_stream(self, number: int) -> tuple[int, StreamSetup]:
        """Return (number of the source, setup) of a stream. Raise KeyError if it does not exist."""
        stream = self.stream_setups[number] if 0 <= number < len(self.stream_setups) else None
        if stream is None:
            raise KeyError(f"the flow has no stream {number}")
        return stream

    def _apply_setups(
        self, sources: Mapping[int, SourceSetup], streams: Mapping[int, tuple[int, StreamSetup]]
    ) -> None:
        """Replace setups and derive the parameters of the sources and streams that depend on them."""
        sources_before, streams_before = self.source_setups, self.stream_setups
        for setup in sources.values():
            self._shorten_step(derive.compute_steps_per_tick(setup))
        self.source_setups = rows.replace_setups(sources_before, sources)
        self.stream_setups = rows.replace_setups(streams_before, streams)
        if all(
            get_source_placement(sources_before[n]) == get_source_placement(setup)
            for n, setup in sources.items()
        ) and all(
            get_stream_placement(streams_before[n]) == get_stream_placement(owned)
            for n, owned in streams.items()
        ):
            self.links[:, k.LINK_KB + 1 :] = 0.0  # reset the streams' demands, as a new layout does
        else:
            self._update_placement()
        affected = sorted({*sources, *(source for source, _ in streams.values())})
        self._lengthen_history(self._derive_parameters(affected))
        for stream in [stream for source in affected for stream in self.list_source_streams(source)]:
            self.streams[stream, k.STALL_S] = 0.0
        for number, setup in sources.items():
            self._apply_source_setup(number, sources_before[number], setup)

    def _derive_parameters(self, sources: Sequence[int]) -> float:
        """Derive the parameters of these sources and of their streams. Return the longest delay, in steps."""
        source_rows: dict[int, Array] = {}
        stream_rows: dict[int, Array] = {}
        last: tuple[object, ...] = ()
        derived: list[Array] = []
        longest = 0.0
        for source in sources:
            setup, streams = self._require_source(source), self.list_source_streams(source)
            attached = tuple([self.get_stream_setup(stream) for stream in streams])
            if (
                setup,
                attached,
            ) != last:  # equal neighbors share results; comparing them is cheaper than a lookup
                last = setup, attached
                derived = [derive.derive_source_parameters(setup, attached, self.step_s)]
                derived += [
                    derive.derive_stream_parameters(setup, other_setup, self.step_s)
                    for other_setup in attached
                ]
                longest = max([longest, *map(derive.compute_delay_steps, derived[1:])])
            source_rows[source] = derived[0]
            stream_rows.update(zip(streams, derived[1:], strict=True))
        self.source_params = rows.replace_rows(self.source_params, source_rows)
        self.stream_params = rows.replace_rows(self.stream_params, stream_rows)
        return longest

    def _apply_source_setup(self, number: int, old_setup: SourceSetup | None, setup: SourceSetup) -> None:
        """Adapt the state of a source to its new setup."""
        s = self.sources[number]
        if old_setup is None or old_setup.log_size_kb != setup.log_size_kb:
            s[k.LOG_SIZE] = setup.log_size_kb
        rows.adapt_connection_counts(s, setup)
        if setup.operation is not None and (old_setup is None or old_setup.operation != setup.operation):
            self.start_operation(number)
        elif setup.operation is None:
            s[k.OPERATION_LEFT] = 0.0

    def _update_placement(self) -> None:
        layout = build_placement(self.source_setups, self.stream_setups, self.hosts)
        self.host_of, self.place = layout.host_of, layout.place
        self.hosts, self.links = layout.hosts, layout.links
        self.scratch: tuple[Array, ...] | None = None

    def _shorten_step(self, steps_per_tick: int) -> None:
        """Shorten the step if the workload needs more steps per tick. The step is never lengthened."""
        factor = steps_per_tick // self.steps_per_tick
        if factor <= 1:
            return
        self.steps_per_tick = steps_per_tick
        self.clock[k.STEPS_PER_TICK] = steps_per_tick
        self._derive_parameters(
            [number for number, setup in enumerate(self.source_setups) if setup is not None]
        )
        self.history = _shorten_steps(self.history, int(self.clock[k.NOW]), factor)

    def _lengthen_history(self, delay_steps: float) -> None:
        """Lengthen the ring buffers if they are shorter than a stream's delay."""
        turn = 2.0 * len(self.stream_setups) * max(self.hosts[:, k.WAKE_UP_S].tolist()) / self.step_s
        need = delay_steps + turn + 4.0
        if need > self.history.shape[2]:
            length = 1 << (math.ceil(need) - 1).bit_length()
            self.history = _lengthen_rings(self.history, int(self.clock[k.NOW]), length)


_DIGEST_ARRAY_NAMES: Final = (
    "sources", "streams", "source_params", "stream_params", "host_of", "place", "hosts", "history", "clock", "links",
)  # fmt: skip


_SETUP_ARRAY_NAMES: Final = ("source_params", "stream_params", "host_of", "place")
"""Names of the arrays of `Flow` that are replaced when a setup changes."""


def _shorten_steps(rings: Array, step_number: int, factor: int) -> Array:
    """Return ring buffers with *factor* interpolated steps per old step.

    *step_number*: number of the last step.
    """
    length = rings.shape[2]
    finer = np.zeros((*rings.shape[:2], length * factor))
    for index in range(length * factor):
        newer, older = index // factor, min(index // factor + 1, length - 1)
        part = index % factor / factor
        past_rings = rings[:, :, (step_number - newer) % length]
        finer[:, :, (step_number - index) % (length * factor)] = past_rings + part * (
            rings[:, :, (step_number - older) % length] - past_rings
        )
    return finer


def _lengthen_rings(rings: Array, step_number: int, length: int) -> Array:
    """Return ring buffers of *length* steps. The oldest known step fills all earlier steps."""
    grown = np.zeros((*rings.shape[:2], length))
    for index in range(length):
        grown[:, :, (step_number - index) % length] = rings[
            :, :, (step_number - min(index, rings.shape[2] - 1)) % rings.shape[2]
        ]
    return grown
