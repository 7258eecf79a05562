"""Tests of the ranges and labels of axes that do not show time."""

from __future__ import annotations

import math

import numpy as np
import pytest

from app.widgets.axes import HEADROOM_FACTOR, LogAxis, ValueAxis, compute_positions, compute_value_range
from app.words.formatting import KB, MS, PERCENT, SECONDS


@pytest.mark.parametrize(
    ("values", "expected_maximum"),
    [((0.0, 241.0), 250.0), ((99.0,), 100.0), ((101.0,), 120.0), ((0.13,), 0.15)],
)
def test_linear_axes_end_above_a_round_number(values: tuple[float, ...], expected_maximum: float) -> None:
    low, high = compute_value_range(np.array(values), PERCENT, False)
    assert low == 0.0
    assert high == pytest.approx(HEADROOM_FACTOR * expected_maximum)


def test_sizes_are_round_in_their_own_unit() -> None:
    assert compute_value_range(np.array([1500.0]), KB, False)[1] == pytest.approx(
        HEADROOM_FACTOR * 1.5 * 1024.0
    )


def test_an_axis_with_negative_values_is_symmetric() -> None:
    low, high = compute_value_range(np.array([-27.0, 10.0]), PERCENT, False)
    assert (low, high) == (-36.0, 36.0)


def test_logarithmic_axes_end_at_powers_of_ten_and_ignore_nonpositive_values() -> None:
    assert compute_value_range(np.array([0.13, 456.0, np.inf, 0.0]), SECONDS, True) == (-1.0, 3.0)
    assert compute_value_range(np.array([np.nan]), SECONDS, False)[1] > 0.0
    assert compute_positions(np.array([0.1, np.inf]), True)[0] == pytest.approx(-1.0)
    assert math.isnan(compute_positions(np.array([0.1, np.inf]), True)[1])


def test_axis_labels_have_units(qtbot: object) -> None:
    assert ValueAxis(SECONDS, True).tickStrings([-1.0, 0.0, 3.0], 1.0, 1.0) == ["100 ms", "1 s", "1,000 s"]
    assert ValueAxis(MS, True).tickStrings([1.0, 3.0], 1.0, 1.0) == ["10 ms", "1 s"]
    assert ValueAxis(PERCENT, False).tickStrings([0.0, 50.0], 1.0, 1.0) == ["0", "50%"]
    axis = LogAxis("bottom")
    (_, decades), (_, minor_ticks) = axis.tickValues(-1.0, 1.0, 300.0)
    assert decades == [-1.0, 0.0, 1.0]
    assert len(minor_ticks) == 16
    assert axis.tickStrings(decades, 1.0, 1.0) == ["0.1", "1", "10"]
