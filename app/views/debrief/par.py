"""Comparison of the run with the best possible: reachable points at each moment, cost of each action and wait."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from app.view_models.value_curve import (
    NOTED,
    TONES,
    explain_curve,
    find_stops,
    format_certainty,
    format_first_step,
    format_input,
    format_line,
    format_missed_goals,
    format_move,
    is_last_chance,
)
from app.views.debrief.mistakes import Retry, buttons, retry_button
from app.views.debrief.parts import build_marked_rows, format_loss, label, muted, steps
from app.views.debrief.value_curve import ValueCurve, ValueCurveLegend
from app.words.formatting import moment
from app.words.language import tr
from engine.drill.par.account import WAITING, Account, Best, LastChance, RunSegment
from engine.drill.par.lessons import closes_goals
from engine.drill.par.regret import find_retry_start
from engine.inputs import Input

CROSS: Final = "✕"
"""Sign of a mistake, as on the timeline."""

SHOWN: Final = 6
"""Maximum actions and waits with a text, the costliest first."""

STEPS_SHOWN: Final = 4
"""Maximum listed actions of the best continuation; all of them can be watched."""


def show_account(
    account: Account,
    lessons: Sequence[RunSegment],
    has_solution: bool,
    can_retry: bool,
    retry: Retry,
    choose: Callable[[float], None],
    watch: Callable[[Best], None],
    choices: Mapping[str, Sequence[str]],
    provisional: bool = False,
    search_on: Callable[[], object] | None = None,
) -> list[QWidget]:
    """Return the curve, and the costliest actions and waits with the better alternatives.

    *lessons*: mistakes of the first screen, each joined from several waits; they replace those waits here.
    *choose*: selects a moment of the curve. *choices*: question -> its choices. *provisional*: more may be
    found; *search_on* continues the search; None while it runs.
    """
    lossy = [move for move in _exclude_lessons(find_stops(account), lessons) if move.regret >= NOTED]
    worst = sorted([*lessons, *lossy], key=lambda move: (-move.regret, move.tick))[:SHOWN]
    curve = ValueCurve(account, choices)
    curve.moment_chosen.connect(choose)
    parts: list[QWidget] = [
        curve,
        ValueCurveLegend(),
        _certainty(account, provisional, search_on, has_solution),
    ]
    curve.setWhatsThis(explain_curve())
    again, chance = (retry if can_retry else None), account.last_chance
    missed = next(
        (
            move
            for move in worst
            if chance is not None
            and closes_goals(move, chance)
            and (move in lessons or is_last_chance(move, chance))
        ),
        None,
    )
    rows = [
        (
            (move.tick, move.until),
            (
                format_loss(move.regret),
                tr(TONES[move.label][0]),
                _build_move_texts(move, chance if move is missed else None, again, watch, choices),
            ),
        )
        for move in worst
    ]
    if chance is not None and missed is None:
        rows.append(
            ((chance.tick, 0), (CROSS, tr("last chance"), _last_chance(chance, again, watch, choices)))
        )
    return [*parts, *build_marked_rows([row for _, row in sorted(rows, key=lambda row: row[0])])]


def _exclude_lessons(moves: Sequence[RunSegment], lessons: Sequence[RunSegment]) -> list[RunSegment]:
    """Return the moves that are no part of a lesson."""

    def is_part(move: RunSegment) -> bool:
        return any(
            move.line == lesson.line and lesson.tick <= move.tick and move.until <= lesson.until
            for lesson in lessons
        )

    return [move for move in moves if not is_part(move)]


def _certainty(
    account: Account, provisional: bool, search_on: Callable[[], object] | None, has_solution: bool
) -> QWidget:
    """Return a line about how certain the curve is, with the button that searches on."""
    box = QWidget()
    row = QHBoxLayout(box)
    row.setContentsMargins(0, 0, 0, 0)
    text = format_certainty(account)
    if provisional:
        text = tr("Search continues: the line may still rise.")
    elif not has_solution and account.worst is None:
        text = tr(
            "No better continuation is known. The drill has no reference solution, and the search was short."
        )
    row.addWidget(muted(text), 1)
    if search_on is not None and (provisional or account.doubt is not None):
        button = QPushButton(tr("Search longer"))
        button.setToolTip(tr("Search 10× more continuations where they matter most"))
        button.clicked.connect(lambda _=False: search_on())
        row.addWidget(button)
    return box


def _build_move_texts(
    move: RunSegment,
    chance: LastChance | None,
    retry: Retry | None,
    watch: Callable[[Best], None],
    choices_by_question: Mapping[str, Sequence[str]],
) -> QVBoxLayout:
    """Describe a move and the best alternative.

    *chance*: the move was the last one that could reach all goals.
    """
    words = _column(label(format_move(move, choices_by_question, chance), 1.0, bold=True))
    if chance is not None:
        words.addWidget(label(f"{CROSS}  " + tr("Point of no return: last chance to meet all goals.")))
    if move.best:
        _add_steps(words, tr("Best continuation from here:"), move.best, choices_by_question)
    else:
        words.addWidget(label(tr("Best continuation from here: do nothing more.")))
    if chance is not None:
        words.addWidget(label(format_missed_goals(chance)))
    if retry is not None:
        look = _watch_button(tr("Watch the best continuation"), move, watch)
        words.addLayout(buttons(look, _retry_button(move, chance, retry, choices_by_question)))
    return words


def _last_chance(
    chance: LastChance,
    retry: Retry | None,
    watch: Callable[[Best], None],
    choices_by_question: Mapping[str, Sequence[str]],
) -> QVBoxLayout:
    """Show the last chance to reach all goals, and the cause of its loss."""
    head = tr("{moment}  point of no return").format(moment=moment(chance.tick))
    if chance.line != WAITING:
        head += f": {format_line(chance.line, choices_by_question)}"
    words = _column(label(head, 1.0, bold=True))
    _add_steps(
        words,
        tr("Until then, these steps would have met all goals:"),
        chance.remaining_actions,
        choices_by_question,
    )
    words.addWidget(label(format_missed_goals(chance)))
    if retry is not None:
        look = _watch_button(tr("Watch the last chance"), chance, watch)
        words.addLayout(buttons(look, _retry_button(chance, chance, retry, choices_by_question)))
    return words


def _column(head: QLabel) -> QVBoxLayout:
    words = QVBoxLayout()
    words.setContentsMargins(0, 0, 0, 0)
    words.setSpacing(2)
    words.addWidget(head)
    return words


def _add_steps(
    column: QVBoxLayout, lead: str, acts: Sequence[Input], choices_by_question: Mapping[str, Sequence[str]]
) -> None:
    column.addWidget(label(lead))
    column.addWidget(
        steps([(moment(item.tick), format_input(item, choices_by_question)) for item in acts[:STEPS_SHOWN]])
    )
    if len(acts) > STEPS_SHOWN:
        column.addWidget(muted(tr("… and {count} more.").format(count=len(acts) - STEPS_SHOWN)))


def _watch_button(text: str, best: Best, watch: Callable[[Best], None]) -> QPushButton:
    button = QPushButton(text)
    button.setToolTip(tr("Step by step. You can take control at each step."))
    button.clicked.connect(lambda _=False: watch(best))
    return button


def _retry_button(
    best: Best, chance: LastChance | None, retry: Retry, choices_by_question: Mapping[str, Sequence[str]]
) -> QPushButton:
    """Build a button for a retry before the action, early enough for the best one."""
    begin, due = find_retry_start(best)
    first = next(iter(best.plan[best.done :]), None)
    if best.line != WAITING:
        what = tr("your next action was {act}.").format(act=format_line(best.line, choices_by_question))
    elif chance is not None:
        what = tr("last chance to meet all goals: {act}.").format(
            act=format_first_step(chance, choices_by_question)
        )
    else:
        what = tr("best continuation: {act}.").format(
            act=tr("do nothing more") if first is None else format_input(first, choices_by_question)
        )
    return retry_button(begin, due, what, retry)
