"""Counters over time, cut and thinned for charts: plain arrays, without Qt."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np
from msgspec import Struct

from engine.constants import TICKS_PER_S
from engine.flow import COUNTERS, NOWHERE, Array, Samples, StreamNumbers

_NICE = (1.0, 2.0, 5.0)
"""Factors of bin widths.

Each width is one of them times a power of ten, so that bins stay in place while the window moves.
"""
TIME_STEPS_S: Final = (
    1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 21_600, 43_200, 86_400,
)  # fmt: skip
PIXELS_PER_TIME: Final = 70
"""Minimum width of a time label in pixels."""


ALL_DATABASES = "*"
"""Name that stands for all databases. No database can have this name without brackets."""
HIGHEST = frozenset({"commit_delay_ms", "response_s", "principal_cpu_percent", "mirror_cpu_percent"})
"""Counters that are combined by their maximum over many databases; all others are summed."""
QUEUES = [COUNTERS.index("send_queue_kb"), COUNTERS.index("redo_queue_kb")]
Streams = Mapping[int, Sequence[int]]
"""Streams of each log, by number."""
NO_STREAMS: Final[Streams] = {}
ADDED = np.array([name not in HIGHEST for name in COUNTERS])


class SeriesSummary(Struct, frozen=True):
    """Counter over a span of time."""

    last: float
    mean: float
    low: float
    high: float


class Columns:
    """Counters of several logs over a run. It is a copy because samples are compressed.

    It may change to another run or another moment; common entries are not read again.
    """

    def __init__(self) -> None:
        self.samples: Samples | None = None
        self.count = 0
        """Number of known entries."""
        self._sources = np.zeros(64, dtype=np.int16)
        self._values = np.zeros((64, len(COUNTERS)))

    @property
    def sources(self) -> Array:
        """Log number of each entry; negative for none."""
        return self._sources[: self.count]

    @property
    def values(self) -> Array:
        """values[entry, counter]; 0 without a log."""
        return self._values[: self.count]

    def count_known_samples(self, samples: Samples, count: int) -> int:
        """Return the number of known entries among the first *count* entries of *samples*.

        `add` appends the unknown entries.
        """
        if self.samples is None or samples is not self.samples:
            self.count = (
                0 if self.samples is None else min(self.count, samples.count_common_entries(self.samples))
            )
            self.samples = samples
        self.count = min(self.count, count)
        return self.count

    def add(self, number_pairs: Sequence[StreamNumbers], streams: Streams = NO_STREAMS) -> None:
        """Add entries for the logs and streams in *number_pairs*; a queue is the longest among the log's *streams*."""
        assert self.samples is not None, "agree comes first"
        first, count = self.count, self.count + len(number_pairs)
        self._make_room(count)
        self._sources[first:count], self._values[first:count] = self._read(first, number_pairs, streams)
        self.count = count

    def _read(
        self, start_index: int, number_pairs: Sequence[StreamNumbers], streams: Streams
    ) -> tuple[Array, Array]:
        """Return sources and values of the entries since *start_index*."""
        assert self.samples is not None, "agree comes first"
        sources, numbers = _stack_numbers(number_pairs)
        values: Array = self.samples.read_entries(start_index, sources, numbers)
        for source in np.unique(sources).tolist():
            stream_numbers = streams.get(source, ())
            is_source = sources == source
            for stream in stream_numbers if len(stream_numbers) > 1 else ():
                other_entries = self.samples.read_entries(
                    start_index, sources, np.where(is_source, stream, numbers)
                )
                values[:, QUEUES] = np.maximum(values[:, QUEUES], other_entries[:, QUEUES])
        return sources, values

    def add_together(
        self, places_by_database: Sequence[Sequence[StreamNumbers]], streams: Streams = NO_STREAMS
    ) -> None:
        """Add entries of many databases, one sequence per database, combined as sums or maxima."""
        assert self.samples is not None, "agree comes first"
        entries = len(places_by_database[0]) if places_by_database else 0
        first, count = self.count, self.count + entries
        self._make_room(count)
        values, has_value = self._values[first:count], np.zeros(entries, dtype=bool)
        values[:] = 0.0
        for number_pairs in places_by_database:
            sources, added_values = self._read(first, number_pairs, streams)
            values[:, ADDED] += added_values[:, ADDED]
            values[:, ~ADDED] = np.maximum(values[:, ~ADDED], added_values[:, ~ADDED])
            has_value |= sources >= 0
        self._sources[first:count] = np.where(has_value, 0, -1)
        self.count = count

    def _make_room(self, count: int) -> None:
        if count > len(self._sources):
            self._sources = np.resize(self._sources, 2 * count)
            self._values = np.resize(self._values, (2 * count, len(COUNTERS)))


def _stack_numbers(number_pairs: Sequence[StreamNumbers]) -> Array:
    """Return sources and streams of *number_pairs* as two rows."""
    numbers: Array = np.array(number_pairs, dtype=np.int64).reshape(-1, 2).T
    return numbers


def _list_stream_numbers(
    logs: Sequence[Mapping[str, StreamNumbers | None]], database: str
) -> list[StreamNumbers]:
    return [number_pairs.get(database) or NOWHERE for number_pairs in logs]


class CounterHistory:
    """Counters of one database over the run, always from the log of the principal at that time.

    For ALL_DATABASES the counters are sums. Times and shares are maxima, because their sums have no meaning.
    """

    def __init__(self) -> None:
        self._database: str | None = None
        self._columns = Columns()

    def add_samples(
        self,
        samples: Samples,
        logs: Sequence[Mapping[str, StreamNumbers | None]],
        database: str,
        streams: Streams = NO_STREAMS,
    ) -> bool:
        """Add the new entries of *samples*, and return True if there are any.

        *logs*: log and stream of each database per sample. *streams*: streams of each log; with several
        secondaries, the longest queue counts. After a change of run, moment or database only different
        entries are read again.
        """
        if database != self._database:
            self._database, self._columns = database, Columns()
        count, before = min(samples.count, len(logs)), self._columns.count
        agreed_count = self._columns.count_known_samples(samples, count)
        new_logs = logs[agreed_count:count]
        if database == ALL_DATABASES:
            names = dict.fromkeys(name for number_pairs in new_logs for name in number_pairs)
            self._columns.add_together([_list_stream_numbers(new_logs, name) for name in names], streams)
        else:
            self._columns.add(_list_stream_numbers(new_logs, database), streams)
        return agreed_count != before or count != before

    @property
    def end_s(self) -> float:
        """Time of the last sample; 0 without samples."""
        return float(self._ticks[-1]) / TICKS_PER_S if self._columns.count else 0.0

    def get_window(self, counter: str, from_s: float, to_s: float, bins: int) -> tuple[Array, Array]:
        """Return times and values from *from_s* to *to_s* and one sample beyond each end, in at most *bins* bins.

        Each bin keeps its lowest and highest value, so that no spike is lost. NaN where nothing ran.
        """
        first = max(0, int(np.searchsorted(self._ticks, from_s * TICKS_PER_S)) - 1)
        last = min(
            self._columns.count, int(np.searchsorted(self._ticks, to_s * TICKS_PER_S, side="right")) + 1
        )
        width = choose_bin_width((to_s - from_s) / max(1, bins))
        t_s = self._ticks[first:last] / TICKS_PER_S
        return find_peaks(t_s, self._get_values(counter, first, last), width)

    def get_samples(self, counter: str, from_s: float, to_s: float) -> tuple[Array, Array]:
        """Return every time and value from *from_s* to *to_s*; NaN where no instance ran."""
        first, last = self._find_index_range(from_s, to_s)
        return self._ticks[first:last] / TICKS_PER_S, self._get_values(counter, first, last)

    def iterate_rows(
        self, counters: Sequence[str], from_s: float, to_s: float
    ) -> Iterator[tuple[float, *tuple[float | None, ...]]]:
        """Yield the time and the value of each counter, sample by sample; None where no instance ran."""
        columns = [self.get_samples(counter, from_s, to_s)[1] for counter in counters]
        first, last = self._find_index_range(from_s, to_s)
        for index, tick in enumerate(self._ticks[first:last]):
            values = (float(column[index]) for column in columns)
            yield float(tick) / TICKS_PER_S, *(None if np.isnan(value) else value for value in values)

    def _find_index_range(self, from_s: float, to_s: float) -> tuple[int, int]:
        first = int(np.searchsorted(self._ticks, from_s * TICKS_PER_S - 0.5))
        return first, int(np.searchsorted(self._ticks, to_s * TICKS_PER_S + 0.5, side="right"))

    def find_value(self, counter: str, t_s: float) -> float | None:
        """Return the last value up to *t_s*; None before the first sample, and while no instance ran."""
        index = int(np.searchsorted(self._ticks, t_s * TICKS_PER_S + 0.5, side="right")) - 1
        if index < 0:
            return None
        value = float(self._get_values(counter, index, index + 1)[0])
        return None if np.isnan(value) else value

    def summarize(self, counter: str, from_s: float, to_s: float) -> SeriesSummary | None:
        """Return last, mean, lowest and highest value of that time range; None without samples."""
        first = int(np.searchsorted(self._ticks, from_s * TICKS_PER_S))
        last = int(np.searchsorted(self._ticks, to_s * TICKS_PER_S + 0.5, side="right"))
        values = self._get_values(counter, first, last)
        values = values[~np.isnan(values)]
        if not len(values):
            return None
        return SeriesSummary(
            float(values[-1]), float(values.mean()), float(values.min()), float(values.max())
        )

    @property
    def _ticks(self) -> Array:
        samples = self._columns.samples
        return samples.ticks[: self._columns.count] if samples is not None else np.zeros(0)

    def _get_values(self, counter: str, start_index: int, end_index: int) -> Array:
        values = self._columns.values[start_index:end_index, COUNTERS.index(counter)]
        sources = self._columns.sources[start_index:end_index]
        return np.where(sources < 0, np.nan, values) if (sources < 0).any() else values


def choose_bin_width(minimum: float) -> float:
    """Return the smallest of 1, 2, 5 times a power of ten that is at least *minimum*."""
    if minimum <= 0.0:
        return 0.0
    power = 10.0 ** np.floor(np.log10(minimum))
    return next(float(step * power) for step in (*_NICE, 10.0) if step * power >= minimum * (1 - 1e-9))


def choose_time_step_s(span_s: float, pixels: float) -> float:
    """Return the distance between two labels of a time axis."""
    step_min = span_s * PIXELS_PER_TIME / max(pixels, 1.0)
    return next(
        (step for step in TIME_STEPS_S if step >= step_min),
        TIME_STEPS_S[-1] * choose_bin_width(step_min / 86_400),
    )


def find_peaks(x: Array, y: Array, width: float) -> tuple[Array, Array]:
    """Return the lowest and highest *y* of each bin of *width*, or the unchanged data if that has no more points."""
    if width <= 0.0 or len(x) < 3:
        return x, y
    bins = np.floor(x / width + 1e-9)
    starts = np.flatnonzero(np.diff(bins, prepend=bins[0] - 1.0))
    if 2 * len(starts) >= len(x):
        return x, y
    low, high = np.fmin.reduceat(y, starts), np.fmax.reduceat(y, starts)
    thin_x, thin_y = np.repeat(bins[starts] * width, 2), np.empty(2 * len(starts))
    thin_x[1::2] += 0.5 * width
    thin_y[0::2], thin_y[1::2] = low, high
    return thin_x, thin_y


PACE_S: Final = 10.0
"""Time over which the rate is measured. Assumed: long enough to smooth bursts, short enough to follow."""
SAMPLES_MIN: Final = 3
"""Minimum number of samples for a rate."""
ESTIMATE_RATE_MIN_KB_PER_S: Final = 1.0
"""Lowest rate for an estimate; below it the estimate would be days. Assumed."""


def compute_slope_kb_per_s(t_s: Array, kb: Array) -> float | None:
    """Return the slope of the least-squares line through the samples; None with too few samples or gaps."""
    if len(t_s) < SAMPLES_MIN or np.isnan(kb).any():
        return None
    centered = t_s - t_s.mean()
    return float((centered * (kb - kb.mean())).sum() / (centered * centered).sum())


def estimate_s_until_empty(t_s: Array, kb: Array) -> float | None:
    """Return the estimated seconds until a queue is empty; 0 for an empty queue, None if the queue does not shrink."""
    pace = compute_slope_kb_per_s(t_s, kb)
    if pace is None:
        return None
    if kb[-1] < 1.0:
        return 0.0
    return float(kb[-1]) / -pace if pace < -ESTIMATE_RATE_MIN_KB_PER_S else None


def estimate_s_until_full(t_s: Array, kb: Array, room_kb: float) -> float | None:
    """Return the estimated seconds until *room_kb* are used; 0 if they are used, None if the value does not grow."""
    pace = compute_slope_kb_per_s(t_s, kb)
    if pace is None:
        return None
    if kb[-1] >= room_kb:
        return 0.0
    return (room_kb - float(kb[-1])) / pace if pace > ESTIMATE_RATE_MIN_KB_PER_S else None
