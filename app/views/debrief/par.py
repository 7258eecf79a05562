"""The run beside the best possible: what could still be reached at each moment, and what each act and wait cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.views.debrief.parts import code, label, losses, muted
from app.views.debrief.story import moment
from app.views.debrief.worth import NOTED, TONES, Legend, Worth, together, told
from app.words import formatting
from app.words.input_lines import short, worded
from app.words.language import tr
from engine.constants import TICKS_PER_S
from engine.drill.par.regret import Account, Move
from engine.inputs import Input

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
    retry: Callable[[float], None],
    choose: Callable[[float], None],
    watch: Callable[[Move], None],
    asked: Mapping[str, Sequence[str]],
) -> list[QWidget]:
    """What was lost in a sentence, the curve, and the costliest acts and waits with what would have been better.

    *reached*: the run has reached all its goals. *has_solution*: the drill has one. *choose*: a moment of the curve.
    *asked*: question -> its choices.
    """
    lossy = [move for move in together(account.moves) if move.lost >= NOTED]
    worst = sorted(lossy, key=lambda move: (-move.lost, move.tick))[:SHOWN]
    curve = Worth(account, asked)
    curve.moment_chosen.connect(choose)
    parts: list[QWidget] = [
        label(_summary(account, worst, score, reached, has_solution, asked)),
        curve,
        Legend(),
    ]
    said = tr(
        "The line shows how many points could still be reached at each moment by the best known way to go on: your "
        "own, the reference solution, and what a search has found. It never rises: where it falls, points were lost "
        "for good, by an action (dot) or by waiting (thick line)."
    )
    click = tr("Click a moment, or use the arrow keys and Enter, to retry from there.")
    accuracy = tr("Accuracy is 100 % where nothing is lost; it is reckoned as of a game of chess.")
    parts.append(muted(" ".join((said, *([click] if can_retry else []), accuracy))))
    missed = next((move for move in worst if move.tick == account.no_return), None)
    parts += losses(
        [
            (
                move.lost,
                tr(TONES[move.label][0]),
                _words(move, move is missed, can_retry, retry, watch, asked),
            )
            for move in sorted(worst, key=lambda move: (move.tick, move.until))
        ]
    )
    return parts


def offer(work_out: Callable[[], None]) -> list[QWidget]:
    """What can be worked out, and the button for it."""
    said = tr(
        "How many points could still be reached at each moment, what each action and each wait cost, and what would "
        "have been best from there."
    )
    button = QPushButton(tr("Compare with the best possible"))

    def begin() -> None:
        button.setEnabled(False)  # a second click would begin anew
        button.setText(tr("Working it out…"))
        work_out()

    button.clicked.connect(lambda _=False: begin())
    row = QHBoxLayout()
    row.setContentsMargins(0, 0, 0, 0)
    row.addWidget(button)
    row.addStretch()
    box = QWidget()
    box.setLayout(row)
    return [label(said), box]


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
            best=formatting.plain(round(first, 1)), score=formatting.plain(score)
        )
    ]
    if worst:
        most = tr("The costliest: {what} ({points} points).")
        lost = formatting.plain(round(worst[0].lost, 1))
        said.append(most.format(what=" ".join(told(worst[0], asked).split()), points=lost))
    elif has_solution:
        said.append(tr("Nothing was lost: no known way is better."))
    else:
        said.append(
            tr("No better way is known, but this drill has no reference solution, and the search was short.")
        )
    if account.no_return is not None:
        said.append(
            tr("All goals could still be reached until {moment}, the point of no return.").format(
                moment=moment(account.no_return)
            )
        )
    elif not reached:
        said.append(tr("No known way reaches all goals."))
    if worst or has_solution:
        said.append(tr("Accuracy {accuracy} %.").format(accuracy=formatting.plain(round(account.accuracy))))
    return " ".join(said)


def _words(
    move: Move,
    too_late: bool,
    can_retry: bool,
    retry: Callable[[float], None],
    watch: Callable[[Move], None],
    asked: Mapping[str, Sequence[str]],
) -> QVBoxLayout:
    """What was done, and what would have been best. *too_late*: no goal was out of reach before."""
    words = QVBoxLayout()
    words.setContentsMargins(0, 0, 0, 0)
    words.setSpacing(2)
    words.addWidget(label(told(move, asked), 1.0, bold=True))
    if too_late:
        words.addWidget(label(tr("Here the last chance to reach all goals was missed.")))
    if move.best:
        words.addWidget(label(tr("The best from here:")))
        words.addWidget(code("\n".join(_step(item, asked) for item in move.best[:STEPS_SHOWN])))
        if len(move.best) > STEPS_SHOWN:
            words.addWidget(muted(tr("… and {count} more.").format(count=len(move.best) - STEPS_SHOWN)))
    else:
        words.addWidget(label(tr("The best from here: do nothing more.")))
    if can_retry:
        words.addLayout(_buttons(move, retry, watch))
    return words


LINE_LENGTH_MAX: Final = 110
"""Letters of an act that are shown in a list."""


def _step(item: Input, asked: Mapping[str, Sequence[str]]) -> str:
    return f"{moment(item.tick):>8}  {short(worded(item.words, asked), LINE_LENGTH_MAX)}"


def _buttons(move: Move, retry: Callable[[float], None], watch: Callable[[Move], None]) -> QHBoxLayout:
    at_s = move.tick / TICKS_PER_S
    look = QPushButton(tr("Watch the best from here"))
    look.setToolTip(tr("Step by step; from each step you can take over"))
    look.clicked.connect(lambda _=False: watch(move))
    again = QPushButton(tr("Retry from this moment ({moment})").format(moment=formatting.run_time(at_s, 1)))
    again.clicked.connect(lambda _=False: retry(at_s))
    row = QHBoxLayout()
    row.setContentsMargins(0, 4, 0, 0)
    row.setSpacing(8)
    for button in (look, again):
        button.setProperty("small", "true")
        row.addWidget(button)
    row.addStretch()
    return row
