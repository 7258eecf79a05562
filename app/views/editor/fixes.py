"""Problems of a scenario that a button fixes: text of the button, and the resulting text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from app.words.language import mark
from engine.drill.authoring.problems import Problem


@dataclass(frozen=True, slots=True)
class Fix:
    """Fix of a problem."""

    words: str
    added: str
    """Text that is added at the end of the scenario."""


_POINTS: Final = '\n[[rubric]]\nkind = "{kind}"\nname = "{name}"\npoints = 10\n'

FIXES: Final = {
    ("this earns no points", "question"): Fix(
        mark("Add a scoring rule for questions"),
        _POINTS.format(kind="diagnosis", name="Questions answered"),
    ),
    ("this earns no points", "predict"): Fix(
        mark("Add a scoring rule for predictions"),
        _POINTS.format(kind="prediction", name="Predictions"),
    ),
}
"""(text of the problem, its table) -> fix."""


def fix_of(problem: Problem) -> Fix | None:
    """Return the automatic fix of a problem; None if there is none."""
    return FIXES.get((problem.text, problem.where.partition("[")[0]))


def apply_fix(text: str, fix: Fix) -> str:
    """Return the scenario's *text* with the fix in it."""
    return text.rstrip("\n") + "\n" + fix.added
