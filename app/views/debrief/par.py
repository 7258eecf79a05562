"""The run beside the best possible: what could still be reached at each moment, and what each act and wait cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from app.views.debrief.parts import code, label, muted
from app.views.debrief.story import moment
from app.widgets import theme
from app.words import formatting
from app.words.language import mark, tr
from engine.constants import TICKS_PER_S
from engine.drill.par.regret import LABELS, WAITING, Account, Move
from engine.inputs import Input
from engine.model import Tick

SHOWN: Final = 6
"""Acts and waits with words of their own, the costliest."""

STEPS_SHOWN: Final = 4
"""Acts of the best that are listed; all of them can be watched."""

TONES: Final = {
    "brilliant": (mark("brilliant"), "info"),
    "best": (mark("best"), "ok"),
    "good": (mark("good"), "ok"),
    "inaccuracy": (mark("inaccuracy"), "warn"),
    "mistake": (mark("mistake"), "warn"),
    "blunder": (mark("blunder"), "bad"),
}
"""What an act is called, and its tone."""

LEFT_LETTERS: Final = 4
"""Room for the points beside the curve."""


def beside_the_best(
    account: Account,
    score: float,
    can_retry: bool,
    retry: Callable[[float], None],
    watch: Callable[[Move], None],
    asked: Mapping[str, Sequence[str]],
) -> list[QWidget]:
    """The curve, what it says in a sentence, and the costliest acts and waits with what would have been better.

    *asked*: question -> its choices.
    """
    lossy = [move for move in together(account.moves) if move.lost >= LABELS[-1][0]]
    worst = sorted(lossy, key=lambda move: (-move.lost, move.tick))[:SHOWN]
    parts: list[QWidget] = [label(_summary(account, score)), Worth(account)]
    said = tr(
        "The line is the most that could still be reached at each moment. It never rises: where it falls, points were "
        "lost for good, by an action (dot) or by waiting. Known ways: your run, the reference solution, and what a "
        "search has found."
    )
    names = tr(
        "A blunder loses {blunder} points or more, a mistake {mistake}, an inaccuracy {inaccuracy}. Accuracy is 100 % "
        "where nothing is lost; it is reckoned as of a game of chess."
    )
    least = {name: formatting.plain(points) for points, name in LABELS}
    parts.append(muted(f"{said} {names.format(**least)}"))
    parts += [
        _move(move, can_retry, retry, watch, asked)
        for move in sorted(worst, key=lambda move: (move.tick, move.until))
    ]
    return parts


def together(moves: Sequence[Move]) -> list[Move]:
    """One wait for several in a row that lose little each."""
    found: list[Move] = []
    for move in moves:
        before = found[-1] if found else None
        if before is not None and before.line == move.line == WAITING and move.lost < LABELS[-2][0]:
            lost = before.before - move.after
            label = next((name for points, name in LABELS if lost >= points), "best")
            first = before if before.plan else move
            found[-1] = replace(first, until=move.until, before=before.before, after=move.after, label=label)
        else:
            found.append(move)
    return found


def offer(work_out: Callable[[], None]) -> list[QWidget]:
    """What can be worked out, and the button for it."""
    said = tr(
        "How many points could still be reached at each moment, what each action and each wait cost, and what would "
        "have been best from there."
    )
    button = QPushButton(tr("Compare with the best possible"))
    button.clicked.connect(lambda _=False: work_out())
    row = QHBoxLayout()
    row.setContentsMargins(0, 0, 0, 0)
    row.addWidget(button)
    row.addStretch()
    box = QWidget()
    box.setLayout(row)
    return [label(said), box]


def _summary(account: Account, score: float) -> str:
    first = account.curve[0][1] if account.curve else score
    said = [
        tr("{best} points could be reached at the start, {score} were. Accuracy {accuracy} %.").format(
            best=formatting.plain(first),
            score=formatting.plain(score),
            accuracy=formatting.plain(round(account.accuracy)),
        )
    ]
    if account.no_return is not None:
        said.append(
            tr("All goals could still be reached until {moment}.").format(moment=moment(account.no_return))
        )
    if account.worst is None:
        said.append(tr("Nothing was lost: no known way is better."))
    return " ".join(said)


def _move(
    move: Move,
    can_retry: bool,
    retry: Callable[[float], None],
    watch: Callable[[Move], None],
    asked: Mapping[str, Sequence[str]],
) -> QWidget:
    box = QWidget()
    side, words = QVBoxLayout(), QVBoxLayout()
    for column in (side, words):
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
    for part in (
        label(f"−{formatting.plain(round(move.lost, 1))}", 1.35, bold=True),
        muted(tr(TONES[move.label][0])),
    ):
        part.setWordWrap(False)
        side.addWidget(part)
    side.addStretch()
    side_box = QWidget()
    side_box.setLayout(side)
    side_box.setFixedWidth(max(round(box.fontMetrics().height() * 5.2), side.sizeHint().width()))
    words.addWidget(label(_told(move, asked), 1.0, bold=True))
    if move.best:
        words.addWidget(label(tr("The best from here:")))
        words.addWidget(code("\n".join(_step(item, asked) for item in move.best[:STEPS_SHOWN])))
        if len(move.best) > STEPS_SHOWN:
            words.addWidget(muted(tr("… and {count} more.").format(count=len(move.best) - STEPS_SHOWN)))
    else:
        words.addWidget(label(tr("The best from here: do nothing more.")))
    if can_retry:
        words.addLayout(_buttons(move, retry, watch))
    row = QHBoxLayout(box)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(18)
    row.addWidget(side_box, 0, Qt.AlignmentFlag.AlignTop)
    row.addLayout(words, 1)
    return box


def _told(move: Move, asked: Mapping[str, Sequence[str]]) -> str:
    if move.line != WAITING:
        return f"{moment(move.tick)}  {_short(_worded(move.line, asked))}"
    return tr("{start} to {end}  waiting").format(start=moment(move.tick), end=moment(move.until))


LINE_LENGTH_MAX: Final = 110


def _step(item: Input, asked: Mapping[str, Sequence[str]]) -> str:
    return f"{moment(item.tick):>8}  {_short(_worded(item.words, asked))}"


def _worded(line: str, asked: Mapping[str, Sequence[str]]) -> str:
    """An input line as people say it: an answer by what it says, a batch before its server."""
    verb, _, rest = line.partition(" ")
    if verb == "answer":
        name, number, *_ = (*rest.split(), "", "")
        choices = asked.get(name, ())
        if number.isdecimal() and 0 < int(number) <= len(choices):
            return tr("answer: {choice}").format(choice=choices[int(number) - 1])
    if verb == "sql":
        server, _, batch = rest.partition(" ")
        return tr("{batch} on {server}").format(
            batch=" ".join(batch.split()), server=server.partition("#")[0]
        )
    return line


def _short(line: str) -> str:
    text = " ".join(line.split())
    return text if len(text) <= LINE_LENGTH_MAX else f"{text[: LINE_LENGTH_MAX - 1]}…"


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


class Worth(QWidget):
    """The best total that could still be reached, over the time of the run."""

    def __init__(self, account: Account) -> None:
        super().__init__()
        self._account = account
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(tr("What could still be reached"))
        said = tr("{moment}: {points} points")
        self.setAccessibleDescription(
            "; ".join(
                said.format(moment=moment(tick), points=formatting.plain(worth))
                for tick, worth in _falls(account)
            )
        )

    def sizeHint(self) -> QSize:
        return QSize(400, round(self.fontMetrics().height() * 10))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(theme.sized(self.font(), 0.85))
        metrics = QFontMetricsF(painter.font())
        line = metrics.height()
        left = metrics.averageCharWidth() * LEFT_LETTERS + 6
        box = QRectF(left, line * 1.3, self.width() - left - line, self.height() - line * 2.8)
        end = max((tick for tick, _ in self._account.curve), default=1) or 1

        def at(tick: Tick, worth: float) -> QPointF:
            return QPointF(box.left() + box.width() * tick / end, box.bottom() - box.height() * worth / 100.0)

        self._paint_axes(painter, box, line, end)
        self._paint_curve(painter, at)
        self._paint_no_return(painter, box, line, at)

    def _paint_axes(self, painter: QPainter, box: QRectF, line: float, end: Tick) -> None:
        colours = theme.tokens(self.palette())
        for points in (0, 50, 100):
            y = box.bottom() - box.height() * points / 100.0
            painter.setPen(QPen(colours.border, 1.0))
            painter.drawLine(QPointF(box.left(), y), QPointF(box.right(), y))
            painter.setPen(colours.muted)
            where = QRectF(0.0, y - line / 2, box.left() - 6, line)
            painter.drawText(where, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, str(points))
        painter.setPen(colours.muted)
        below = QRectF(box.left(), box.bottom() + line * 0.3, box.width(), line)
        painter.drawText(below, Qt.AlignmentFlag.AlignLeft, moment(0))
        painter.drawText(below, Qt.AlignmentFlag.AlignRight, moment(end))

    def _paint_curve(self, painter: QPainter, at: Callable[[Tick, float], QPointF]) -> None:
        colours = theme.tokens(self.palette())
        painter.setPen(QPen(colours.series[0], 2.0))
        painter.drawPolyline(QPolygonF([at(tick, worth) for tick, worth in self._account.curve]))
        for move in self._account.moves:
            tone = colours.named(TONES[move.label][1])
            is_wait = move.line == WAITING
            if is_wait and move.lost >= LABELS[-1][0]:
                painter.setPen(QPen(tone, 3.0))
                painter.drawLine(at(move.tick, move.before), at(move.until, move.after))
            elif not is_wait:
                painter.setPen(QPen(colours.surface, 1.0))
                painter.setBrush(tone)
                painter.drawEllipse(at(move.until, move.after), 4.5, 4.5)

    def _paint_no_return(
        self, painter: QPainter, box: QRectF, line: float, at: Callable[[Tick, float], QPointF]
    ) -> None:
        tick = self._account.no_return
        if tick is None:
            return
        colours = theme.tokens(self.palette())
        x = at(tick, 0.0).x()
        painter.setPen(QPen(colours.bad, 1.5, Qt.PenStyle.DashLine))
        painter.drawLine(QPointF(x, box.top()), QPointF(x, box.bottom()))
        said = tr("point of no return {moment}").format(moment=moment(tick))
        width = QFontMetricsF(painter.font()).horizontalAdvance(said) + 2
        x = min(max(box.left(), x - width / 2), box.right() - width)
        painter.drawText(QRectF(x, box.top() - line * 1.2, width, line), Qt.AlignmentFlag.AlignLeft, said)


def _falls(account: Account) -> list[tuple[Tick, float]]:
    """The beginning, and wherever the worth is another."""
    found: list[tuple[Tick, float]] = []
    for tick, worth in account.curve:
        if not found or worth != found[-1][1]:
            found.append((tick, worth))
    return found
