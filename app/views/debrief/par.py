"""The run beside the best possible: what could still be reached at each moment, and what each act and wait cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from app.view_models.value_curve import (
    NOTED,
    TONES,
    explain_curve,
    find_stops,
    format_accuracy,
    format_certainty,
    format_first_step,
    format_input,
    format_line,
    format_missed_goals,
    format_move,
    format_point_of_no_return,
    format_points,
    is_last_chance,
)
from app.views.debrief.parts import build_marked_rows, format_loss, label, muted, steps
from app.views.debrief.retry_buttons import Retry, buttons, retry_button
from app.views.debrief.value_curve import ValueCurve, ValueCurveLegend
from app.words import formatting
from app.words.formatting import moment
from app.words.language import tr
from engine.drill.par.regret import WAITING, Account, Best, LastChance, RunSegment, find_retry_start
from engine.inputs import Input

CROSS: Final = "✕"
"""As on the time line."""

SHOWN: Final = 6
"""Acts and waits with words of their own, the costliest."""

STEPS_SHOWN: Final = 4
"""Acts of the best that are listed; all of them can be watched."""


def build_comparison(
    account: Account,
    score: float,
    reached: bool,
    has_solution: bool,
    can_retry: bool,
    retry: Retry,
    choose: Callable[[float], None],
    watch: Callable[[Best], None],
    choices_by_question: Mapping[str, Sequence[str]],
    provisional: bool = False,
    search_further: Callable[[], None] | None = None,
) -> list[QWidget]:
    """What was lost in a sentence, the curve, and the costliest acts and waits with what would have been better.

    *reached*: the run has reached all its goals. *has_solution*: the drill has one. *choose*: a moment of the curve.
    *asked*: question -> its choices. *provisional*: it is what is known so far; *go_on* looks for more, None: that is
    being done.
    """
    lossy = [move for move in find_stops(account) if move.regret >= NOTED]
    worst = sorted(lossy, key=lambda move: (-move.regret, move.tick))[:SHOWN]
    curve = ValueCurve(account, choices_by_question)
    curve.moment_chosen.connect(choose)
    parts: list[QWidget] = [
        label(_summary(account, worst, score, reached, has_solution, choices_by_question)),
        curve,
        ValueCurveLegend(),
    ]
    if provisional:
        parts += _build_provisional_note(search_further)
    else:
        parts += _build_certainty_note(account, search_further)
    click = tr("Click a moment, or use the arrow keys and Enter, to retry from there.")
    chess = tr("Accuracy is 100 % where nothing is lost; it is worked out as for games of chess.")
    parts.append(muted(" ".join((explain_curve(), chess, *([click] if can_retry else [])))))
    again, chance = (retry if can_retry else None), account.last_chance
    missed = next((move for move in worst if chance is not None and is_last_chance(move, chance)), None)
    rows = [
        (
            (move.tick, move.until),
            (
                format_loss(move.regret),
                tr(TONES[move.label][0]),
                _build_move_texts(
                    move, chance if move is missed else None, again, watch, choices_by_question
                ),
            ),
        )
        for move in worst
    ]
    if chance is not None and missed is None:
        rows.append(
            (
                (chance.tick, 0),
                (CROSS, tr("last chance"), _last_chance(chance, again, watch, choices_by_question)),
            )
        )
    return [*parts, *build_marked_rows([row for _, row in sorted(rows, key=lambda row: row[0])])]


def _build_provisional_note(search_further: Callable[[], None] | None) -> list[QWidget]:
    """That more may be possible than is shown, and the way to find out."""
    if search_further is None:
        return [label(tr("Better ways to go on are still being sought: the line may rise in places."))]
    said = tr("The search was ended early: there may be better ways, and a later point of no return.")
    return [label(said), _in_a_row(QPushButton(tr("Go on looking")), search_further)]


def _build_certainty_note(account: Account, look_harder: Callable[[], None] | None) -> list[QWidget]:
    """Whether there may be more, and the way to find out."""
    said = label(format_certainty(account))
    if account.doubt is None or look_harder is None:
        return [said]
    button = QPushButton(tr("Look harder"))
    button.setToolTip(tr("Ten times as many ways to go on, from the moments where most may be missing"))
    return [said, _in_a_row(button, look_harder)]


def build_offer(compute_account: Callable[[], None], working: bool) -> list[QWidget]:
    """What can be worked out, and the button for it; *working*: it is being worked out, and once is enough."""
    said = tr(
        "How many points could still be reached at each moment, what each action and each wait cost, and what would "
        "have been best from there."
    )
    button = QPushButton(
        tr("Working it out… (Esc cancels)") if working else tr("Compare with the best possible")
    )
    button.setEnabled(not working)
    return [label(said), _in_a_row(button, compute_account)]


def _in_a_row(button: QPushButton, do: Callable[[], None]) -> QWidget:
    """No wider than it has to be."""
    button.clicked.connect(lambda _=False: do())
    box = QWidget()
    row = QHBoxLayout(box)
    row.setContentsMargins(0, 0, 0, 0)
    row.addWidget(button)
    row.addStretch()
    return box


def _summary(
    account: Account,
    worst: Sequence[RunSegment],
    score: float,
    reached: bool,
    has_solution: bool,
    choices_by_question: Mapping[str, Sequence[str]],
) -> str:
    first = account.curve[0][1] if account.curve else score
    said = [
        tr("{best} points could be reached at the start, {score} were.").format(
            best=format_points(first), score=formatting.plain_number(score)
        )
    ]
    if worst:
        most = tr("The costliest: {what} ({points} points).")
        what = " ".join(format_move(worst[0], choices_by_question, account.last_chance).split())
        said.append(most.format(what=what, points=format_points(worst[0].regret)))
    elif has_solution:
        said.append(tr("Nothing was lost: no known way is better."))
    else:
        said.append(
            tr("No better way is known, but this drill has no reference solution, and the search was short.")
        )
    if account.last_chance is not None:
        said.append(format_point_of_no_return(account.last_chance, choices_by_question))
    elif not reached:
        said.append(tr("No known way reaches all goals."))
    if worst or has_solution:
        said.append(format_accuracy(account))
    return " ".join(said)


def _build_move_texts(
    move: RunSegment,
    chance: LastChance | None,
    retry: Retry | None,
    watch: Callable[[Best], None],
    choices_by_question: Mapping[str, Sequence[str]],
) -> QVBoxLayout:
    """What was done, and what would have been best. *chance*: that was the last one to reach all goals."""
    words = _column(label(format_move(move, choices_by_question, chance), 1.0, bold=True))
    if chance is not None:
        words.addWidget(label(f"{CROSS}  " + tr("Point of no return: the last chance to reach all goals.")))
    if move.best:
        _add_steps(words, tr("The best from here:"), move.best, choices_by_question)
    else:
        words.addWidget(label(tr("The best from here: do nothing more.")))
    if chance is not None:
        words.addWidget(label(format_missed_goals(chance)))
    if retry is not None:
        look = _watch_button(tr("Watch the best from here"), move, watch)
        words.addLayout(buttons(look, _retry_button(move, chance, retry, choices_by_question)))
    return words


def _last_chance(
    chance: LastChance,
    retry: Retry | None,
    watch: Callable[[Best], None],
    choices_by_question: Mapping[str, Sequence[str]],
) -> QVBoxLayout:
    """Until when all goals were in reach, how, and what took that away."""
    head = tr("{moment}  point of no return").format(moment=moment(chance.tick))
    if chance.line != WAITING:
        head += f": {format_line(chance.line, choices_by_question)}"
    words = _column(label(head, 1.0, bold=True))
    _add_steps(
        words,
        tr("Until then all goals could still be reached, in this way:"),
        chance.acts,
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
    button.setToolTip(tr("Step by step; from each step you can take over"))
    button.clicked.connect(lambda _=False: watch(best))
    return button


def _retry_button(
    best: Best, chance: LastChance | None, retry: Retry, choices_by_question: Mapping[str, Sequence[str]]
) -> QPushButton:
    """In time for what would have been best, and before what was done."""
    begin, due = find_retry_start(best)
    first = next(iter(best.plan[best.done :]), None)
    if best.line != WAITING:
        what = tr("in your run came {act}.").format(act=format_line(best.line, choices_by_question))
    elif chance is not None:
        what = tr("the last chance to reach all goals, {act}.").format(
            act=format_first_step(chance, choices_by_question)
        )
    else:
        what = tr("the best from there is {act}.").format(
            act=tr("do nothing more") if first is None else format_input(first, choices_by_question)
        )
    return retry_button(begin, due, what, retry)
