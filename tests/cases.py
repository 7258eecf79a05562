"""Samples of test cases: the normal run plays a part of the cases, and `make test-slow` plays all."""

from __future__ import annotations

from collections.abc import Iterable

import pytest


def sample_cases(step: int, cases: Iterable[object]) -> list[object]:
    """Return *cases*, with all except each *step*-th case marked as slow."""
    return [case if number % step == 0 else _mark_slow(case) for number, case in enumerate(cases)]


def _mark_slow(case: object) -> object:
    return pytest.param(*case if isinstance(case, tuple) else (case,), marks=pytest.mark.slow)
