"""Values that each server would have reported to System Monitor every second. Independent of Qt."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from app.view_models.series import CounterColumns
from app.words.language import mark
from engine.constants import TICKS_PER_S
from engine.flow import COUNTERS, NO_STREAM_NUMBERS, Samples, StreamNumbers, compute_total_commit_delay_ms
from engine.model import Computer, Instance, Key, World
from engine.protocol import streams

Array = npt.NDArray[np.float64]
GetSamples = Callable[[str], Array]
"""Function that returns the values of a sampled counter by its name."""


class LogRole(IntEnum):
    """Role of a server for a log at one sample."""

    NONE = 0  # the counter exists, but the copy has no log stream
    OWNER = 1  # server with the principal, or with a database without a mirror
    MIRROR = 2
    UNREACHABLE = -1  # the server does not respond


MIRRORING, DATABASES, PROCESSOR = "Database Mirroring", "Databases", "Processor"
OBJECT_NAMES: Final = {
    MIRRORING: "SQLServer:Database Mirroring",
    DATABASES: "SQLServer:Databases",
    PROCESSOR: "Processor",
}
"""Performance object -> its name in System Monitor."""

BYTES_PER_KB: Final = 1024.0
PLOT_TOP: Final = 100.0
"""Upper limit of the plot. Every line is scaled to the range from 0 to this value."""
FIRST_NEW_VERSION: Final = 2008


class PerfCounter(Struct, frozen=True):
    """Performance counter.

    *owner* computes the values on a server that writes the log, *mirror* on a server that receives it.
    """

    group: str
    name: str
    help: str
    owner: Callable[[GetSamples, float], Array] | None = None
    mirror: Callable[[GetSamples, float], Array] | None = None
    first_version: int = 2005
    """First version of SQL Server that has the counter."""

    def compute_values(self, role: LogRole, get: GetSamples, compression: float) -> Array | None:
        """Return the values on a server with *role*, or None if the counter is always 0 in this role.

        *get*: returns sampled values by name. *compression*: bytes on the wire per byte of log.
        """
        make = {LogRole.OWNER: self.owner, LogRole.MIRROR: self.mirror}.get(role)
        return make(get, compression) if make is not None else None


def _create_sampler(name: str, factor: float = 1.0) -> Callable[[GetSamples, float], Array]:
    return lambda get, compression: get(name) * factor


def _create_compressed_sampler(name: str) -> Callable[[GetSamples, float], Array]:
    return lambda get, compression: get(name) * BYTES_PER_KB * compression


def _count_waiting_transactions(get: GetSamples, compression: float) -> Array:
    """Return the number of transactions that waited for the mirror, for each second."""
    return np.where(get("commit_delay_ms") > 0.0, get("transactions_per_s"), 0.0)


def _compute_total_wait_ms(get: GetSamples, compression: float) -> Array:
    """Return the total wait of all transactions in each second, in milliseconds."""
    columns = map(get, ("commit_delay_ms", "transactions_per_s", "in_flight_transactions"))
    return np.array(
        [compute_total_commit_delay_ms(*row) for row in zip(*columns, strict=True)], dtype=np.float64
    )


def _compute_percent_used(get: GetSamples, compression: float) -> Array:
    return 100.0 * get("log_used_kb") / np.maximum(1.0, get("log_size_kb"))


_LOG_SENT_COUNTER, _LOG_REDONE_COUNTER, _MESSAGES_COUNTER = (
    "log_send_kb_per_s",
    "redo_kb_per_s",
    "sends_per_s",
)
_FIRST_NEW_VERSION: Final = FIRST_NEW_VERSION

PERF_COUNTERS: Final = (
    PerfCounter(MIRRORING, "Bytes Received/sec", mark("bytes from the partner"),
         None, _create_compressed_sampler(_LOG_SENT_COUNTER)),
    PerfCounter(MIRRORING, "Bytes Sent/sec", mark("bytes to the partner"),
         _create_compressed_sampler(_LOG_SENT_COUNTER)),
    PerfCounter(MIRRORING, "Log Bytes Received/sec", mark("log from the principal"), None,
         _create_sampler(_LOG_SENT_COUNTER, BYTES_PER_KB)),
    PerfCounter(MIRRORING, "Log Bytes Redone from Cache/sec", mark("log redone from memory"), None,
         _create_sampler(_LOG_REDONE_COUNTER, BYTES_PER_KB), _FIRST_NEW_VERSION),
    PerfCounter(MIRRORING, "Log Bytes Sent from Cache/sec", mark("log sent from memory"),
         _create_sampler(_LOG_SENT_COUNTER, BYTES_PER_KB), None,
         _FIRST_NEW_VERSION),
    PerfCounter(MIRRORING, "Log Bytes Sent/sec", mark("log to the mirror"),
         _create_sampler(_LOG_SENT_COUNTER, BYTES_PER_KB)),
    PerfCounter(MIRRORING, "Log Compressed Bytes Rcvd/sec", mark("compressed log from the principal"),
         None, _create_compressed_sampler(_LOG_SENT_COUNTER),
         _FIRST_NEW_VERSION),
    PerfCounter(MIRRORING, "Log Compressed Bytes Sent/sec", mark("compressed log to the mirror"),
         _create_compressed_sampler(_LOG_SENT_COUNTER), None, _FIRST_NEW_VERSION),
    PerfCounter(MIRRORING, "Log Send Queue KB", mark("log not yet sent to the mirror"),
         _create_sampler("send_queue_kb")),
    PerfCounter(MIRRORING, "Mirrored Write Transactions/sec", mark("transactions that waited for the mirror"),
         _count_waiting_transactions, None, _FIRST_NEW_VERSION),
    PerfCounter(MIRRORING, "Receives/sec", mark("messages from the partner"),
         _create_sampler(_MESSAGES_COUNTER), _create_sampler(_MESSAGES_COUNTER)),
    PerfCounter(MIRRORING, "Redo Bytes/sec", mark("log redone"), None,
         _create_sampler(_LOG_REDONE_COUNTER, BYTES_PER_KB)),
    PerfCounter(MIRRORING, "Redo Queue KB", mark("log hardened but not yet redone"),
         None, _create_sampler("redo_queue_kb")),
    PerfCounter(MIRRORING, "Sends/sec", mark("messages to the partner"),
         _create_sampler(_MESSAGES_COUNTER), _create_sampler(_MESSAGES_COUNTER)),
    PerfCounter(MIRRORING, "Transaction Delay", mark("total wait for the mirror in ms, all transactions"),
         _compute_total_wait_ms),
    PerfCounter(DATABASES, "Active Transactions", mark("transactions in progress"),
         _create_sampler("in_flight_transactions")),
    PerfCounter(DATABASES, "Log Bytes Flushed/sec", mark("log written to disk"),
         _create_sampler("log_generation_kb_per_s", BYTES_PER_KB)),
    PerfCounter(DATABASES, "Log File(s) Size (KB)", mark("size of the log file"), _create_sampler("log_size_kb")),
    PerfCounter(DATABASES, "Log File(s) Used Size (KB)", mark("log that cannot be reused yet"),
         _create_sampler("log_used_kb")),
    PerfCounter(DATABASES, "Percent Log Used", mark("share of the log file in use"), _compute_percent_used),
    PerfCounter(DATABASES, "Transactions/sec", mark("commits"), _create_sampler("transactions_per_s")),
    PerfCounter(PROCESSOR, "% Processor Time", mark("share of all processors of the computer"),
         _create_sampler("principal_cpu_percent"), _create_sampler("mirror_cpu_percent")),
)  # fmt: skip
"""All available counters, ordered by object and name."""

UNSIMULATED_COUNTERS: Final = {
    "Log Harden Time (ms)": _FIRST_NEW_VERSION,
    "Log Remaining for Undo KB": _FIRST_NEW_VERSION,
    "Log Scanned for Undo KB": _FIRST_NEW_VERSION,
    "Log Send Flow Control Time (ms)": _FIRST_NEW_VERSION,
    "Pages Sent/sec": 2005,
    "Send/Receive Ack Time": 2005,
}
"""Mirroring counter that is not simulated -> version of SQL Server that introduced it."""

PERF_COUNTERS_BY_NAME: Final = {(perf.group, perf.name): perf for perf in PERF_COUNTERS}


def list_counter_names(group: str, version: int) -> list[str]:
    """Return the counter names of the performance object *group* on a server of *version*."""
    return [perf.name for perf in PERF_COUNTERS if perf.group == group and perf.first_version <= version]


class CounterChoice(Struct, frozen=True):
    """Selected counter of one server, for one database or the whole server."""

    server: str
    group: str
    name: str
    database: str = ""
    """Name of the database. Empty if the counter belongs to the whole server."""

    @property
    def instance(self) -> str:
        """Instance of the counter: the database, or `_Total`."""
        return self.database or "_Total"

    @property
    def definition(self) -> PerfCounter:
        """Definition of the counter."""
        return PERF_COUNTERS_BY_NAME[self.group, self.name]

    @property
    def path(self) -> str:
        r"""Path in the form `\\SERVER_A\SQLServer:Databases(Sales)\Transactions/sec`."""
        return f"\\\\{self.server}\\{OBJECT_NAMES[self.group]}({self.instance})\\{self.name}"


class SampledState(Protocol):
    """Interface of the state of the servers and log sources at one sample."""

    @property
    def sources(self) -> Mapping[int, Key]:
        """Source number -> copy that writes this log."""

    @property
    def places(self) -> Mapping[Key, StreamNumbers]:
        """Copy -> numbers of its log source and stream."""

    @property
    def computers(self) -> Mapping[str, Computer]:
        """Name -> computer."""

    @property
    def instances(self) -> Mapping[str, Instance]:
        """Name -> instance."""


class SampledRun(Protocol):
    """Part of a drill's interface that System Monitor uses: world, samples and server states."""

    @property
    def world(self) -> World:
        """Current world."""

    @property
    def samples(self) -> Samples:
        """Recorded samples."""

    @property
    def standings(self) -> Sequence[SampledState]:
        """State of the servers at each sample."""


class CounterSummary(Struct, frozen=True):
    """Summary of a counter over a time range. A value is None if the counter was unavailable."""

    latest: float | None
    mean: float | None
    low: float | None
    high: float | None


EMPTY_SUMMARY = CounterSummary(None, None, None, None)


class SampleHistory:
    """History of the selected counters: sampled values and log role of each copy."""

    def __init__(self, run: SampledRun, previous_history: SampleHistory | None = None) -> None:
        """Create the history.

        *previous_history*: history of another run or time. Samples that both have in common are reused.
        """
        self._run = run
        self._sides: dict[Key, _CopySamples] = previous_history._sides if previous_history is not None else {}

    @property
    def count(self) -> int:
        """Number of samples with a known state of the servers."""
        return min(self._run.samples.count, len(self._run.standings))

    @property
    def end_s(self) -> float:
        """Time of the last sample in seconds."""
        return float(self._run.samples.ticks[self.count - 1]) / TICKS_PER_S if self.count else 0.0

    def compute_times_s(self, start_index: int, end_index: int) -> Array:
        """Return the times of the samples from *start_index* to before *end_index*, in seconds."""
        times: Array = self._run.samples.ticks[start_index:end_index] / TICKS_PER_S
        return times

    def find_sample(self, t_s: float) -> int:
        """Return the index of the first sample at or after *t_s*."""
        return int(np.searchsorted(self._run.samples.ticks[: self.count], t_s * TICKS_PER_S - 0.5))

    def compute_values(self, choice: CounterChoice, start_index: int, end_index: int) -> Array:
        """Return the values of a counter from sample *start_index* to before *end_index*.

        The value is NaN where the server did not respond.
        """
        key = (choice.server, choice.database)
        known_sides = self._sides.setdefault(key, _CopySamples(key))
        known_sides.add_samples(self._run, self.count)
        sides, sampled = (
            known_sides.sides[start_index:end_index],
            known_sides.columns.values[start_index:end_index],
        )

        def get_samples(name: str) -> Array:
            column: Array = sampled[:, COUNTERS.index(name)]
            return column

        output = np.where(sides == LogRole.UNREACHABLE, np.nan, 0.0)
        if len(sides):
            compression = self._get_compression(key)
            for log_role in (LogRole.OWNER, LogRole.MIRROR):
                side_values = choice.definition.compute_values(log_role, get_samples, compression)
                if side_values is not None:
                    output = np.where(sides == log_role, side_values, output)
        return output

    def summarize(self, choice: CounterChoice, from_s: float, to_s: float = math.inf) -> CounterSummary:
        """Summarize the counter from *from_s* to *to_s*, by default to the end."""
        last = self.count if to_s == math.inf else self.find_sample(to_s + 0.01)
        values = self.compute_values(choice, self.find_sample(from_s), last)
        known_values = values[~np.isnan(values)]
        if not len(known_values):
            return EMPTY_SUMMARY
        final = None if np.isnan(values[-1]) else float(values[-1])
        return CounterSummary(
            final, float(known_values.mean()), float(known_values.min()), float(known_values.max())
        )

    def _get_compression(self, key: Key) -> float:
        """Return the current bytes on the wire per byte of log for the copy *key*; 1 without a stream."""
        world = self._run.world
        copy = world.copies.get(key)
        _, stream = (
            streams.find_stream_numbers(world, copy) if copy is not None else None
        ) or NO_STREAM_NUMBERS
        return world.flow.get_stream_setup(stream).compression_ratio if stream >= 0 else 1.0


class _CopySamples:
    """Sampled counters and log role of one copy at each sample."""

    def __init__(self, key: Key) -> None:
        self._key = key
        self._last_state: SampledState | None = None
        self._current_place = (NO_STREAM_NUMBERS, LogRole.UNREACHABLE)
        self.columns = CounterColumns()
        self.sides = np.zeros(64, dtype=np.int8)

    def add_samples(self, run: SampledRun, count: int) -> None:
        """Add the new samples of *run* until *count* samples are stored."""
        if count > len(self.sides):
            self.sides = np.resize(self.sides, 2 * count)
        number_pairs = []
        for index in range(self.columns.reuse_known_samples(run.samples, count), count):
            standing = run.standings[index]
            if standing is not self._last_state:
                self._last_state = standing
                self._current_place = _find_role(standing, self._key)
            number_pair, self.sides[index] = self._current_place
            number_pairs.append(number_pair)
        self.columns.add_entries(number_pairs)


def _find_role(sampled_state: SampledState, key: Key) -> tuple[StreamNumbers, LogRole]:
    """Return the log source, the stream and the log role of the first copy that *key* selects.

    *sampled_state*: state of the servers at one sample. Without a copy, the source and the stream are
    NO_STREAM_NUMBERS.
    """
    server = sampled_state.instances.get(key[0])
    if server is None or not (server.answering and sampled_state.computers[server.computer].nic_up):
        return NO_STREAM_NUMBERS, LogRole.UNREACHABLE
    for copy, copy_place in sampled_state.places.items():
        if _is_selected_copy(key, copy):
            return copy_place, LogRole.OWNER if sampled_state.sources[
                copy_place[0]
            ] == copy else LogRole.MIRROR
    return NO_STREAM_NUMBERS, LogRole.NONE


def _is_selected_copy(key: Key, copy: Key) -> bool:
    """Return True if *copy* is on the server of *key* and has the database of *key*.

    An empty database in *key* accepts every database.
    """
    return key[0] == copy[0] and key[1] in ("", copy[1])
