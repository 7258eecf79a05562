"""Test cases of which the normal run plays a sample and `make test-slow` plays all."""

from __future__ import annotations

from collections.abc import Iterable

import pytest


def sample_cases(step: int, cases: Iterable[object]) -> list[object]:
    """Mark all cases but each *step*-th one as slow."""
    return [case if number % step == 0 else _mark_slow(case) for number, case in enumerate(cases)]


def _mark_slow(case: object) -> object:
    return pytest.param(*case if isinstance(case, tuple) else (case,), marks=pytest.mark.slow)
