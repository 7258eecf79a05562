"""Tests of completion times that are estimated from the rate of the last samples."""

from __future__ import annotations

import numpy as np
import pytest

from app.view_models import series

SECONDS = np.arange(10.0)


def test_a_shrinking_queue_is_empty_where_its_line_reaches_zero() -> None:
    assert series.estimate_s_until_empty(SECONDS, 5000.0 - 100.0 * SECONDS) == pytest.approx(41.0)


@pytest.mark.parametrize("queue", [5000.0 + 0.0 * SECONDS, 100.0 * SECONDS, 5000.0 - 0.5 * SECONDS])
def test_a_constant_or_growing_queue_has_no_end(queue: np.ndarray) -> None:
    assert series.estimate_s_until_empty(SECONDS, queue) is None


def test_an_empty_queue_is_done() -> None:
    assert series.estimate_s_until_empty(SECONDS, 0.0 * SECONDS) == 0.0


def test_a_growing_log_is_full_where_its_line_reaches_the_limit() -> None:
    used = 1000.0 + 10.0 * SECONDS
    assert series.estimate_s_until_full(SECONDS, used, 2090.0) == pytest.approx(100.0)
    assert series.estimate_s_until_full(SECONDS, used, 1000.0) == 0.0
    assert series.estimate_s_until_full(SECONDS, used[::-1], 2000.0) is None


def test_gaps_and_single_samples_give_no_estimate() -> None:
    queue = 100.0 - SECONDS
    queue[4] = np.nan
    assert series.estimate_s_until_empty(SECONDS, queue) is None
    assert series.estimate_s_until_empty(SECONDS[:2], 100.0 - SECONDS[:2]) is None
