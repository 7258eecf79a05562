"""The run beside the best possible: what could still be reached at each moment, and what each act and wait cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from app.view_models.worth import (
    NOTED,
    TONES,
    accuracy,
    act_of,
    all_until,
    began_with,
    certainty,
    explained,
    plain,
    same,
    shown,
    stops,
    taken_by,
    told,
)
from app.views.debrief.again import Retry, buttons, retry_button
from app.views.debrief.parts import label, lost, marked, muted, steps
from app.views.debrief.worth import Legend, Worth
from app.words import formatting
from app.words.formatting import moment
from app.words.language import tr
from engine.drill.par.regret import WAITING, Account, Best, LastChance, Move, tried_again
from engine.inputs import Input

CROSS: Final = "✕"
"""As on the time line."""

SHOWN: Final = 6
"""Acts and waits with words of their own, the costliest."""

STEPS_SHOWN: Final = 4
"""Acts of the best that are listed; all of them can be watched."""


def beside_the_best(
    account: Account,
    score: float,
    reached: bool,
    has_solution: bool,
    can_retry: bool,
    retry: Retry,
    choose: Callable[[float], None],
    watch: Callable[[Best], None],
    asked: Mapping[str, Sequence[str]],
    provisional: bool = False,
    go_on: Callable[[], None] | None = None,
) -> list[QWidget]:
    """What was lost in a sentence, the curve, and the costliest acts and waits with what would have been better.

    *reached*: the run has reached all its goals. *has_solution*: the drill has one. *choose*: a moment of the curve.
    *asked*: question -> its choices. *provisional*: it is what is known so far; *go_on* looks for more, None: that is
    being done.
    """
    lossy = [move for move in stops(account) if move.lost >= NOTED]
    worst = sorted(lossy, key=lambda move: (-move.lost, move.tick))[:SHOWN]
    curve = Worth(account, asked)
    curve.moment_chosen.connect(choose)
    parts: list[QWidget] = [
        label(_summary(account, worst, score, reached, has_solution, asked)),
        curve,
        Legend(),
    ]
    if provisional:
        parts += _so_far(go_on)
    else:
        parts += _known(account, go_on)
    click = tr("Click a moment, or use the arrow keys and Enter, to retry from there.")
    chess = tr("Accuracy is 100 % where nothing is lost; it is worked out as for games of chess.")
    parts.append(muted(" ".join((explained(), chess, *([click] if can_retry else [])))))
    again, chance = (retry if can_retry else None), account.last_chance
    missed = next((move for move in worst if chance is not None and same(move, chance)), None)
    rows = [
        (
            (move.tick, move.until),
            (
                lost(move.lost),
                tr(TONES[move.label][0]),
                _words(move, chance if move is missed else None, again, watch, asked),
            ),
        )
        for move in worst
    ]
    if chance is not None and missed is None:
        rows.append(((chance.tick, 0), (CROSS, tr("last chance"), _last_chance(chance, again, watch, asked))))
    return [*parts, *marked([row for _, row in sorted(rows, key=lambda row: row[0])])]


def _so_far(go_on: Callable[[], None] | None) -> list[QWidget]:
    """That more may be possible than is shown, and the way to find out."""
    if go_on is None:
        return [label(tr("Better ways to go on are still being sought: the line may rise in places."))]
    said = tr("The search was ended early: there may be better ways, and a later point of no return.")
    return [label(said), _in_a_row(QPushButton(tr("Go on looking")), go_on)]


def _known(account: Account, look_harder: Callable[[], None] | None) -> list[QWidget]:
    """Whether there may be more, and the way to find out."""
    said = label(certainty(account))
    if account.doubt is None or look_harder is None:
        return [said]
    button = QPushButton(tr("Look harder"))
    button.setToolTip(tr("Ten times as many ways to go on, from the moments where most may be missing"))
    return [said, _in_a_row(button, look_harder)]


def offer(work_out: Callable[[], None], working: bool) -> list[QWidget]:
    """What can be worked out, and the button for it; *working*: it is being worked out, and once is enough."""
    said = tr(
        "How many points could still be reached at each moment, what each action and each wait cost, and what would "
        "have been best from there."
    )
    button = QPushButton(
        tr("Working it out… (Esc cancels)") if working else tr("Compare with the best possible")
    )
    button.setEnabled(not working)
    return [label(said), _in_a_row(button, work_out)]


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
    worst: Sequence[Move],
    score: float,
    reached: bool,
    has_solution: bool,
    asked: Mapping[str, Sequence[str]],
) -> str:
    first = account.curve[0][1] if account.curve else score
    said = [
        tr("{best} points could be reached at the start, {score} were.").format(
            best=plain(first), score=formatting.plain(score)
        )
    ]
    if worst:
        most = tr("The costliest: {what} ({points} points).")
        what = " ".join(told(worst[0], asked, account.last_chance).split())
        said.append(most.format(what=what, points=plain(worst[0].lost)))
    elif has_solution:
        said.append(tr("Nothing was lost: no known way is better."))
    else:
        said.append(
            tr("No better way is known, but this drill has no reference solution, and the search was short.")
        )
    if account.last_chance is not None:
        said.append(all_until(account.last_chance, asked))
    elif not reached:
        said.append(tr("No known way reaches all goals."))
    if worst or has_solution:
        said.append(accuracy(account))
    return " ".join(said)


def _words(
    move: Move,
    chance: LastChance | None,
    retry: Retry | None,
    watch: Callable[[Best], None],
    asked: Mapping[str, Sequence[str]],
) -> QVBoxLayout:
    """What was done, and what would have been best. *chance*: that was the last one to reach all goals."""
    words = _column(label(told(move, asked, chance), 1.0, bold=True))
    if chance is not None:
        words.addWidget(label(f"{CROSS}  " + tr("Point of no return: the last chance to reach all goals.")))
    if move.best:
        _add_steps(words, tr("The best from here:"), move.best, asked)
    else:
        words.addWidget(label(tr("The best from here: do nothing more.")))
    if chance is not None:
        words.addWidget(label(taken_by(chance)))
    if retry is not None:
        look = _watch_button(tr("Watch the best from here"), move, watch)
        words.addLayout(buttons(look, _retry_button(move, chance, retry, asked)))
    return words


def _last_chance(
    chance: LastChance,
    retry: Retry | None,
    watch: Callable[[Best], None],
    asked: Mapping[str, Sequence[str]],
) -> QVBoxLayout:
    """Until when all goals were in reach, how, and what took that away."""
    head = tr("{moment}  point of no return").format(moment=moment(chance.tick))
    if chance.line != WAITING:
        head += f": {shown(chance.line, asked)}"
    words = _column(label(head, 1.0, bold=True))
    _add_steps(words, tr("Until then all goals could still be reached, in this way:"), chance.acts, asked)
    words.addWidget(label(taken_by(chance)))
    if retry is not None:
        look = _watch_button(tr("Watch the last chance"), chance, watch)
        words.addLayout(buttons(look, _retry_button(chance, chance, retry, asked)))
    return words


def _column(head: QLabel) -> QVBoxLayout:
    words = QVBoxLayout()
    words.setContentsMargins(0, 0, 0, 0)
    words.setSpacing(2)
    words.addWidget(head)
    return words


def _add_steps(
    words: QVBoxLayout, lead: str, acts: Sequence[Input], asked: Mapping[str, Sequence[str]]
) -> None:
    words.addWidget(label(lead))
    words.addWidget(steps([(moment(item.tick), act_of(item, asked)) for item in acts[:STEPS_SHOWN]]))
    if len(acts) > STEPS_SHOWN:
        words.addWidget(muted(tr("… and {count} more.").format(count=len(acts) - STEPS_SHOWN)))


def _watch_button(text: str, best: Best, watch: Callable[[Best], None]) -> QPushButton:
    button = QPushButton(text)
    button.setToolTip(tr("Step by step; from each step you can take over"))
    button.clicked.connect(lambda _=False: watch(best))
    return button


def _retry_button(
    best: Best, chance: LastChance | None, retry: Retry, asked: Mapping[str, Sequence[str]]
) -> QPushButton:
    """In time for what would have been best, and before what was done."""
    begin, due = tried_again(best)
    first = next(iter(best.plan[best.done :]), None)
    if best.line != WAITING:
        what = tr("in your run came {act}.").format(act=shown(best.line, asked))
    elif chance is not None:
        what = tr("the last chance to reach all goals, {act}.").format(act=began_with(chance, asked))
    else:
        what = tr("the best from there is {act}.").format(
            act=tr("do nothing more") if first is None else act_of(first, asked)
        )
    return retry_button(begin, due, what, retry)
