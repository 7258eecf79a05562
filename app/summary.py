"""A scenario as a list shows it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Summary:
    """What is known of a scenario without playing it."""

    name: str
    title: str
    summary: str
    level: str
    minutes: int
    skills: tuple[str, ...]
    brief: str
    sources: tuple[str, ...]
    scored: bool
    shipped: bool
