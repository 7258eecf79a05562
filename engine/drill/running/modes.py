"""Modes of a drill, and their permissions."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class DrillMode(StrEnum):
    """Mode in which a drill is taken."""

    GUIDED = "guided"
    PRACTICE = "practice"
    EXAM = "exam"
    LAB = "lab"
    """Free play: no score, no locks, no end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """Permissions of a mode."""

    hints: bool
    hints_cost: bool
    rewind: bool
    """True if rewinding is allowed. It is recorded in scored drills."""
    rewind_cost: float = 0.0
    """Points that each rewind costs."""
    progress: bool
    """True if the drill reports progress while it runs."""
    answers_at_once: bool
    """True if a correct or wrong answer is reported immediately, not only after the end of the drill."""
    truth: bool
    """True if the instructor's view is available: the true state, without a query to a server."""


TERMS: Final[dict[DrillMode, Terms]] = {
    DrillMode.GUIDED: Terms(
        hints=True, hints_cost=False, rewind=True, progress=True, answers_at_once=True, truth=True
    ),
    DrillMode.PRACTICE: Terms(
        hints=True,
        hints_cost=True,
        rewind=True,
        rewind_cost=2.0,
        progress=True,
        answers_at_once=False,
        truth=True,
    ),
    DrillMode.EXAM: Terms(
        hints=False, hints_cost=False, rewind=False, progress=False, answers_at_once=False, truth=False
    ),
    DrillMode.LAB: Terms(
        hints=True, hints_cost=False, rewind=True, progress=False, answers_at_once=True, truth=True
    ),
}
"""Guided teaches, practice charges for help, an exam has one clock and no help, the lab scores nothing."""
