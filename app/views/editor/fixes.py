"""Problems of a scenario that a button mends: what the button says, and the text afterwards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from app.words.language import mark
from engine.drill.authoring.problems import Problem


@dataclass(frozen=True, slots=True)
class Fix:
    """One way to mend a problem."""

    words: str
    added: str
    """Text that is added at the end of the scenario."""


_POINTS: Final = '\n[[rubric]]\nkind = "{kind}"\nname = "{name}"\npoints = 10\n'

FIXES: Final = {
    ("this earns no points", "question"): Fix(
        mark("Add a rule that gives points for questions"),
        _POINTS.format(kind="diagnosis", name="Questions answered"),
    ),
    ("this earns no points", "predict"): Fix(
        mark("Add a rule that gives points for predictions"),
        _POINTS.format(kind="prediction", name="Predictions"),
    ),
}
"""(text of the problem, table that it is about) -> what mends it."""


def fix_of(problem: Problem) -> Fix | None:
    return FIXES.get((problem.text, problem.where.partition("[")[0]))


def apply_fix(text: str, fix: Fix) -> str:
    """Return the scenario's *text* with the fix in it."""
    return text.rstrip("\n") + "\n" + fix.added
