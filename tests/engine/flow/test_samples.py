"""Samples of the flow model: they return rounded values, compressed or not, and take little memory."""

from __future__ import annotations

import numpy as np
import pytest

from engine.flow import COUNTERS, Samples
from engine.flow.kernel import SOURCE_COUNTERS, STREAM_COUNTERS
from engine.flow.samples import ENTRIES_PER_BLOCK, ITEMS_PER_GROUP
from tests.room import measure_memory_bytes

WIDTH = ITEMS_PER_GROUP + 3


def fill_samples(samples: Samples, entries: int, width: int = WIDTH, step: int = 1) -> Samples:
    """Append *entries* samples, *step* at a time; each value encodes entry, row and counter."""
    for _ in range(0, entries, step):
        count = samples.count
        for view in samples.reserve_entries(step, width, width):
            row, counter = np.meshgrid(np.arange(width), np.arange(view.shape[2]), indexing="ij")
            for entry in range(step):
                view[entry] = (count + entry) + row / 100 + counter / 10_000
        samples.record_entries(count * samples.every, (count + step) * samples.every)
    return samples


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("step", [1, 7, 3 * ENTRIES_PER_BLOCK])
def test_entries_are_read_by_row_and_as_a_whole(exact: bool, step: int) -> None:
    entries = 4 * ENTRIES_PER_BLOCK // step * step
    samples = fill_samples(Samples(exact=exact), entries, step=step)
    assert samples.ticks.tolist() == [100 * (entry + 1) for entry in range(entries)]
    source_values = samples.sources.values
    assert source_values.shape == (entries, WIDTH, len(SOURCE_COUNTERS))
    assert samples.streams.values.shape == (entries, WIDTH, len(STREAM_COUNTERS))
    rows = np.arange(5, entries) % WIDTH
    read_rows = samples.read_entries(5, rows, rows - 1)
    source_part, stream_part = read_rows[:, : len(SOURCE_COUNTERS)], read_rows[:, len(SOURCE_COUNTERS) :]
    assert np.array_equal(source_part, source_values[np.arange(5, entries), rows])
    assert not stream_part[rows == 0].any(), "-1 is no stream"
    assert np.array_equal(
        stream_part[rows > 0], samples.streams.values[np.arange(5, entries), rows - 1][rows > 0]
    )
    assert read_rows[:, 2] == pytest.approx(np.arange(5, entries) + rows / 100 + 0.0002, rel=1e-6)
    assert np.array_equal(samples.read_column(WIDTH - 1, COUNTERS[3]), source_values[:, WIDTH - 1, 3])


def test_a_later_row_was_zero_before() -> None:
    samples = fill_samples(
        fill_samples(Samples(exact=False), 2 * ENTRIES_PER_BLOCK + 9, width=1), 2 * ENTRIES_PER_BLOCK
    )
    late_values = samples.read_column(WIDTH - 1, COUNTERS[0])
    assert not late_values[: 2 * ENTRIES_PER_BLOCK + 9].any()
    assert late_values[2 * ENTRIES_PER_BLOCK + 9 :].all()
    assert samples.sources.values.shape == (4 * ENTRIES_PER_BLOCK + 9, WIDTH, len(SOURCE_COUNTERS))


@pytest.mark.parametrize("exact", [True, False])
def test_an_unwritten_row_is_zero(exact: bool) -> None:
    samples = fill_samples(Samples(exact=exact), 3, step=3)
    samples.reserve_entries(2, WIDTH, WIDTH)
    samples.record_entries(3 * samples.every, 5 * samples.every)
    assert samples.sources.values[:3].any()
    assert not samples.sources.values[3:].any()


@pytest.mark.parametrize(
    "count",
    [0, 1, ENTRIES_PER_BLOCK - 1, ENTRIES_PER_BLOCK, 2 * ENTRIES_PER_BLOCK + 5, 3 * ENTRIES_PER_BLOCK + 4],
)
def test_a_copied_prefix_continues_independently(count: int) -> None:
    samples = fill_samples(Samples(exact=False), 3 * ENTRIES_PER_BLOCK + 4)
    stream_values = samples.streams.values
    beginning = samples.copy_beginning(count)
    assert np.array_equal(beginning.streams.values, stream_values[:count]) or not count
    assert (
        beginning.count_common_entries(samples)
        == samples.count_common_entries(beginning)
        == count // ENTRIES_PER_BLOCK * ENTRIES_PER_BLOCK
    )
    fill_samples(beginning, ENTRIES_PER_BLOCK)
    assert beginning.count == count + ENTRIES_PER_BLOCK
    assert np.array_equal(samples.streams.values, stream_values)


def test_hours_of_steady_work_take_little_memory() -> None:
    samples = Samples(exact=False)
    for entry in range(30 * ENTRIES_PER_BLOCK):
        for view in samples.reserve_entries(1, 20, 20):
            view[0] = entry % 3
        samples.record_entries(100 * entry, 100 * (entry + 1))
    assert (
        measure_memory_bytes([samples]) < (samples.sources.values.nbytes + samples.streams.values.nbytes) / 8
    )
