"""Tests of the histories of counters: correct values, no lost peaks, fixed bins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies

from app.view_models.series import CounterHistory, SeriesSummary, choose_bin_width, find_bin_extrema
from engine.flow import Array, Samples, StreamNumbers
from engine.flow.kernel import STREAM_COUNTERS
from engine.flow.samples import ENTRIES_PER_BLOCK

QUEUE_COLUMN = STREAM_COUNTERS.index("send_queue_kb")
LOGS_PER_SAMPLE: list[dict[str, StreamNumbers | None]] = [{"Sales": (0, 0)}] * 200


def append_samples(samples: Samples, first_tick: int, queue: list[list[float]]) -> None:
    """Append samples in which *queue* gives the send queue of every row."""
    entries = len(queue[0])
    sources, streams = samples.reserve_entries(entries, len(queue), len(queue))
    sources[:entries] = 0.0
    streams[:entries] = 0.0
    for stream, values in enumerate(queue):
        streams[:entries, stream, QUEUE_COLUMN] = values
    samples.record_entries(first_tick - 1, first_tick + samples.every * (entries - 1))


def test_a_history_grows_with_its_samples_and_notifies() -> None:
    samples, history = Samples(every=100), CounterHistory()
    assert history.end_s == 0.0
    assert history.find_value("send_queue_kb", 3.0) is None
    append_samples(samples, 100, [[1.0, 2.0]])
    assert history.add_samples(samples, LOGS_PER_SAMPLE, "Sales")
    assert not history.add_samples(samples, LOGS_PER_SAMPLE, "Sales")
    append_samples(samples, 300, [[3.0] * 100])
    assert history.add_samples(samples, LOGS_PER_SAMPLE, "Sales")
    x, y = history.get_window("send_queue_kb", 0.0, 10.0, bins=100)
    assert x.tolist() == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]
    assert y[:4].tolist() == [1, 2, 3, 3]
    assert history.find_value("send_queue_kb", 2.9) == 2.0
    assert history.end_s == 102.0


def test_the_log_of_the_database_at_that_time_counts() -> None:
    """Forced service gives the database a second log. Afterwards the first log no longer grows on either
    copy.
    """
    samples, history = Samples(every=100), CounterHistory()
    append_samples(samples, 100, [[1.0, 2.0]])
    append_samples(samples, 300, [[3.0, 4.0], [30.0, 40.0]])
    carried_streams: list[dict[str, StreamNumbers | None]] = [
        {"Sales": (0, 0)},
        {"Sales": (0, 0)},
        {"Sales": (1, 1)},
        {"Sales": None},
    ]
    history.add_samples(samples, carried_streams, "Sales")
    assert [history.find_value("send_queue_kb", t) for t in (1.0, 2.0, 3.0, 4.0)] == [1.0, 2.0, 30.0, None]
    assert np.isnan(history.get_window("send_queue_kb", 0.0, 9.0, 100)[1][-1])


def test_a_summary_omits_times_without_activity() -> None:
    samples, history = Samples(every=100), CounterHistory()
    append_samples(samples, 100, [[9.0, 1.0, 5.0, 7.0, 3.0]])
    carried_streams: list[dict[str, StreamNumbers | None]] = [
        {"Sales": (0, 0)},
        {"Sales": (0, 0)},
        {"Sales": (0, 0)},
        {"Sales": None},
        {"Sales": (0, 0)},
    ]
    history.add_samples(samples, carried_streams, "Sales")
    assert history.summarize("send_queue_kb", 2.0, 5.0) == SeriesSummary(
        last=3.0, mean=3.0, low=1.0, high=5.0
    )
    assert history.summarize("send_queue_kb", 4.0, 4.5) is None


def test_samples_without_their_log_are_deferred() -> None:
    samples, history = Samples(every=100), CounterHistory()
    append_samples(samples, 100, [[1.0, 2.0]])
    history.add_samples(samples, LOGS_PER_SAMPLE[:1], "Sales")
    assert history.end_s == 1.0


def test_another_time_is_read_only_where_it_differs() -> None:
    samples, history = Samples(every=100), CounterHistory()
    append_samples(samples, 100, [[1.0, 2.0, 3.0]])
    history.add_samples(samples, LOGS_PER_SAMPLE, "Sales")
    beginning = samples.copy_beginning(1)
    append_samples(beginning, 200, [[9.0]])
    assert history.add_samples(beginning, LOGS_PER_SAMPLE, "Sales")
    assert history.find_value("send_queue_kb", 1.0) == 1.0
    assert history.find_value("send_queue_kb", 2.0) == 9.0
    assert history.end_s == 2.0
    assert history.add_samples(samples, [*LOGS_PER_SAMPLE[:2], {"Sales": None}], "Sales")
    assert [history.find_value("send_queue_kb", t) for t in (2.0, 3.0)] == [2.0, None]


def test_a_long_run_is_compressed_and_shared_samples_are_read_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    samples, history = Samples(every=100, exact=False), CounterHistory()
    for entry in range(3 * ENTRIES_PER_BLOCK + 5):
        append_samples(samples, 100 * (entry + 1), [[float(entry)], [-1.0]])
    carried_streams: list[dict[str, StreamNumbers | None]] = [
        {"Sales": (0, 0), "Other": (1, 1)}
    ] * samples.count
    history.add_samples(samples, carried_streams, "Sales")
    all_values = [float(entry) for entry in range(samples.count)]
    assert history.get_samples("send_queue_kb", 0.0, 1e9)[1].tolist() == all_values
    read: list[int] = []
    real = Samples.read_entries

    def read_samples(samples: Samples, first_row: int, sources: Array, streams: Array) -> Array:
        read.append(len(sources))
        return real(samples, first_row, sources, streams)

    monkeypatch.setattr(Samples, "read_entries", read_samples)
    beginning = samples.copy_beginning(2 * ENTRIES_PER_BLOCK + 3)
    history.add_samples(beginning, carried_streams, "Sales")
    assert (
        history.get_samples("send_queue_kb", 0.0, 1e9)[1].tolist() == all_values[: 2 * ENTRIES_PER_BLOCK + 3]
    )
    assert read == [3], "whole blocks are the same in both"
    history.add_samples(beginning, carried_streams, "Other")
    assert set(history.get_samples("send_queue_kb", 0.0, 1e9)[1].tolist()) == {-1.0}


@given(strategies.lists(strategies.floats(0, 1e6), min_size=3, max_size=400), strategies.floats(0.05, 50.0))
def test_thinning_keeps_every_extreme(values: list[float], width: float) -> None:
    y = np.array(values)
    x = np.arange(len(y)) * 0.1
    thin_x, thin_y = find_bin_extrema(x, y, width)
    assert len(thin_x) == len(thin_y) <= len(x)
    assert thin_y.max() == y.max()
    assert thin_y.min() == y.min()
    assert (np.diff(thin_x) >= 0.0).all()


def test_bins_stay_fixed_while_the_window_moves() -> None:
    x = np.arange(1000) * 0.1
    y = np.sin(x)
    early_peaks = dict(zip(*(part.tolist() for part in find_bin_extrema(x[:900], y[:900], 2.0)), strict=True))
    late_peaks = dict(zip(*(part.tolist() for part in find_bin_extrema(x[100:], y[100:], 2.0)), strict=True))
    shared = early_peaks.keys() & late_peaks.keys()
    assert len(shared) > 70
    assert all(early_peaks[index] == late_peaks[index] for index in shared)


@pytest.mark.parametrize(("minimum", "width"), [(0.0, 0.0), (0.13, 0.2), (0.2, 0.2), (3.0, 5.0), (7.0, 10.0)])
def test_bin_widths_are_round(minimum: float, width: float) -> None:
    assert choose_bin_width(minimum) == pytest.approx(width)
