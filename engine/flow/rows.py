"""Helpers for single rows of the flow's arrays: replace rows, set positions, reset rates."""

from collections.abc import Mapping, Sequence
from typing import TypeVar

import numpy as np

from engine import arithmetic
from engine.flow import kernel as k
from engine.flow.kernel import Array
from engine.flow.setup import SourceSetup, Threshold

Setup = TypeVar("Setup")


def find_free_number(setups: tuple[object, ...]) -> int:
    """Return the lowest number without a setup."""
    return setups.index(None) if None in setups else len(setups)


def replace_setups(setups: tuple[Setup, ...], changes: Mapping[int, Setup]) -> tuple[Setup, ...]:
    """Return the setups after *changes* (number -> new setup)."""
    new_setups = list(setups)
    for number, setup in changes.items():
        new_setups[number] = setup
    return tuple(new_setups)


def read_column(array: Array, numbers: Sequence[int], column: int) -> dict[int, float]:
    """Return the values of *column* in the rows *numbers*, by number."""
    return {number: array.item(number, column) for number in numbers}


def replace_rows(array: Array, rows: Mapping[int, Array]) -> Array:
    """Return a copy of *array* with some rows replaced; *rows* is keyed by row number."""
    new_array = array.copy()
    for row, values in rows.items():
        new_array[row] = values
    return new_array


def build_threshold_array(thresholds: Sequence[Threshold]) -> Array:
    """Return *thresholds* as an array for the compiled step."""
    return np.array([threshold.to_row() for threshold in thresholds]).reshape(-1, k.LEVEL_COLUMNS)


def set_row_positions(
    s: Array, columns: Mapping[str, int], totals: int, positions: Mapping[str, float]
) -> None:
    """Set log positions in row *s*. If a position is also a total, its smoothed rate does not change.

    *columns*: position name -> column. *totals*: number of totals, which are in the first columns.
    *positions*: position name -> new value.
    """
    for name, value in positions.items():
        column = columns[name]
        if column < totals:
            s[totals + column] += value - s[column]
        s[column] = value


def adopt_steady_row(
    s: Array, steady: Array, kept_columns: Sequence[int], positions: Sequence[int], shift: float
) -> None:
    """Replace row *s* with *steady*, except for *kept_columns*. Positions move by *shift* and never decrease."""
    kept_values = {column: s[column] for column in kept_columns}
    kept_values |= {column: max(s[column], steady[column] + shift) for column in positions}
    s[:] = steady
    for column, value in kept_values.items():
        s[column] = value


def reset_rate(s: Array, totals: int, since_look_s: float) -> None:
    """Reset the last sample of each total in row *s*, so that the smoothed rates continue unchanged.

    The new sample is extrapolated back from the current total. *since_look_s*: seconds since the last
    sample.
    """
    for total in range(totals):
        s[totals + total] = s[total] - s[2 * totals + total] * since_look_s


def adapt_connection_counts(s: Array, setup: SourceSetup) -> None:
    """Adapt the number of connections to the setup.

    If clients cannot run transactions, all connections are idle.
    """
    total = setup.workload.connections * setup.scale
    population = s[k.QUEUED : k.WAITING + 1]
    if not setup.serving:
        population[:] = 0.0
        s[k.THINKING] = total
        s[k.COMMIT_RATE] = s[k.STALLED_S] = 0.0
        return
    busy = arithmetic.add_in_order(population.tolist())
    if busy > total:
        population *= total / busy
        busy = total
    s[k.THINKING] = total - busy


def set_dirty_pages(s: Array, setup: SourceSetup, phase: float) -> None:
    """Set dirty pages and the log since the last checkpoint to steady-state values.

    *phase*: elapsed share of the checkpoint interval.
    """
    site, load = setup.site, setup.workload
    elapsed_s = (phase % 1.0) * site.checkpoint_interval_s
    touches = s[k.SOURCE_SMOOTH + k.GENERATED] * load.page_touches / load.log_kb_per_transaction
    before = load.hot_pages * (1.0 - arithmetic.exp(-touches * site.checkpoint_interval_s / load.hot_pages))
    s[k.DIRTY] = load.hot_pages * (1.0 - arithmetic.exp(-touches * elapsed_s / load.hot_pages))
    s[k.CHECKPOINT_BACKLOG] = max(0.0, before - site.checkpoint_pages_per_s * elapsed_s)
    s[k.SINCE_CHECKPOINT_S] = elapsed_s
    s[k.CHECKPOINT_LOG] = s[k.GENERATED] - s[k.SOURCE_SMOOTH + k.GENERATED] * elapsed_s


def begin_checkpoint(s: Array) -> None:
    """Let the dirty pages of a source wait to be written, and begin a new checkpoint interval."""
    s[k.CHECKPOINT_BACKLOG] += s[k.DIRTY]
    s[k.DIRTY] = s[k.SINCE_CHECKPOINT_S] = 0.0
    s[k.CHECKPOINT_LOG] = s[k.GENERATED]
