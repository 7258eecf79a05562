"""The random stream has the distributions that it says."""

from __future__ import annotations

import math

import pytest

from engine.chance import Chance


def test_exponential() -> None:
    """By the test of Kolmogorov and Smirnov: 1.63 is exceeded once in a hundred seeds; this is one seed."""
    chance, count, mean = Chance.from_seed(1), 20_000, 2.5
    found = sorted(chance.exponential(mean) for _ in range(count))
    far = max(abs(1.0 - math.exp(-x / mean) - (n + 0.5) / count) for n, x in enumerate(found))
    assert far * math.sqrt(count) < 1.63
    assert sum(found) / count == pytest.approx(mean, rel=0.02)
