"""Question with a rubric item for its answer, for insertion into a small drill."""

from __future__ import annotations


def format_diagnosis(*terms: str) -> str:
    """Return a question about the serving server; *terms* are its times and conditions.

    The text ends with the header of a solution step. The text that follows must complete this step.
    """
    lines = "\n".join(terms)
    return f"""
[[question]]
name = "who"
text = "Who serves?"
{lines}
choices = ["SERVER_A.", "SERVER_B."]
right = [2]
why = "It failed over."

[[rubric]]
kind = "diagnosis"
name = "Diagnosis"
points = 20
better = "Look."

[[solution]]
"""
