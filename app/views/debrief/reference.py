"""Reference solution next to the player's actions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.views.debrief.parts import code, label, muted, table
from app.words.formatting import moment
from app.words.input_lines import describe_input, short
from app.words.language import tr
from engine.drill.judging.review import Reference

LINE_LENGTH_MAX: Final = 220
"""Maximum characters of a step; the export has all of it."""


def reference(
    solution: Reference, choices_by_question: Mapping[str, Sequence[str]], narrow: bool = False
) -> list[QWidget]:
    """Return each step with its reason and when it was done here. *asked*: question -> its choices."""
    rows: list[tuple[str | QWidget, ...]] = []
    for step in solution.steps:
        done = (
            tr("at {moment}").format(moment=moment(step.done_tick))
            if step.done_tick is not None
            else tr("never")
        )
        rows.append(
            (muted(moment(step.tick)), _step(describe_input(step.line, choices_by_question), step.why), done)
        )
    parts: list[QWidget] = [table((tr("at"), tr("action and reason"), tr("you")), rows, (0, 1, 0), narrow)]
    if solution.besides:
        parts.append(label(tr("Your other actions"), 1.0, bold=True))
        more = [
            (
                muted(moment(item.tick)),
                code(short(describe_input(item.line_without_time, choices_by_question), LINE_LENGTH_MAX)),
            )
            for item in solution.besides
        ]
        parts.append(table((tr("at"), tr("action")), more, (0, 1), narrow))
    return parts


def _step(line: str, reason: str) -> QWidget:
    found = code(short(line, LINE_LENGTH_MAX))
    if not reason:
        return found
    box = QWidget()
    column = QVBoxLayout(box)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(1)
    column.addWidget(found)
    column.addWidget(muted(reason))
    return box
