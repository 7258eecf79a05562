"""A person's reflection on a run, made before its points were shown."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reflection:
    """In the person's own words; any of it may be empty."""

    happened: str
    otherwise: str
    """Changes that the person would make next time."""
    expected_score: float | None
    """0 to 100."""
