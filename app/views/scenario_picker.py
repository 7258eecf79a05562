"""The start page: drills to choose from, what each is about, and runs that were interrupted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen, QResizeEvent
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QMenu,
    QPushButton,
    QSizePolicy,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from app.files import course, proof
from app.files.summary import LEVELS
from app.view_models.drill_cards import ORDERS, Card
from app.widgets import theme
from app.widgets.interrupted_runs import Interrupted, InterruptedRuns
from app.widgets.prose import Prose
from app.widgets.reader import announce, follow_selection, name_box
from app.widgets.theme import ThemeTokens
from app.words.language import tr, trn
from engine.drill.judging import skills

DUE: Final = "due"
"""Chooses what is due instead of a skill."""

SKILL_LETTERS: Final = 8
"""The choice of a skill leaves room for the search where the page is narrow."""

FIRST_DRILL: Final = "automatic-failover"
"""What a new user is led to: what mirroring is for, in six minutes."""

_CARD: Final = Qt.ItemDataRole.UserRole
_ROW_UNITS: Final = 3.9
"""Height of a row in line heights: title, summary, facts."""
_TITLE_UNITS: Final = 1.15
"""Height of a line of its title."""
_LINES_MAX: Final = 2
"""Title and summary take so many lines each where the page is narrow."""
_LEFT_PX, _RIGHT_PX = 16, 14
"""Room beside the words."""


class ScenarioPicker(QWidget):
    """Choose a drill, or go on with one."""

    chosen = Signal(str)
    """Name of the scenario to look at."""
    edit_wanted = Signal(str)
    """Name of the scenario to write on: of one that is not the user's own a copy."""
    resumed = Signal(int)
    given_up = Signal(int)
    history_wanted = Signal()
    progress_wanted = Signal()
    file_wanted = Signal()
    fresh_wanted = Signal(str)
    """A new drill, of one of proof.MADE."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._cards: list[Card] = []
        self._led = False
        self._newest = 0
        """Number of the newest interrupted run that was shown."""
        self._by_itself: Card | None = None
        """Selected before anyone chose."""
        self._heading = QLabel("Mirrordrill")
        self._claim = QLabel(tr("Practise failover of SQL Server databases until it is boring."))
        self._claim.setProperty("muted", "true")
        self._claim.setWordWrap(True)
        self.interrupted = InterruptedRuns()
        self.interrupted.resumed.connect(self.resumed)
        self.interrupted.given_up.connect(self.given_up)
        self._problem = QLabel()
        self._problem.setTextFormat(Qt.TextFormat.PlainText)
        self._problem.setWordWrap(True)
        self._problem.hide()
        self._search = QLineEdit()
        self._search.setPlaceholderText(tr("Search title, name, level, skill"))
        self._search.setAccessibleName(tr("Search drills"))
        self._search.setClearButtonEnabled(True)
        self._search.textChanged.connect(self._filter)
        self._search.returnPressed.connect(self.take_focus)
        self._skill, self._level, self._order = QComboBox(), QComboBox(), QComboBox()
        name_box(self._skill, tr("Filter drills by skill"))
        name_box(self._level, tr("Filter drills by level"))
        name_box(self._order, tr("Order of the drills"))
        self._fill_skills()
        self._level.addItem(tr("All levels"), None)
        for level in LEVELS:
            self._level.addItem(tr(level), level)
        for title, place in ORDERS:
            self._order.addItem(tr(title), place)
        for box in (self._skill, self._level, self._order):
            box.currentIndexChanged.connect(self._filter)
        self._count = QLabel()
        self._count.setProperty("muted", "true")
        self._list = _Cards()
        self._list.setAccessibleName(tr("Drills"))
        self._list.setItemDelegate(_CardDelegate(self._list))
        follow_selection(self._list)
        self._list.setVerticalScrollMode(QListWidget.ScrollMode.ScrollPerPixel)
        self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._list.currentItemChanged.connect(lambda *_: self._show_details())
        self._list.itemActivated.connect(lambda _: self._choose())
        self._details = _Details()
        self._details.wanted.connect(self._choose)
        self._details.edit_wanted.connect(self._edit)
        self._lay_out()
        self._show_font()

    def _lay_out(self) -> None:
        progress, history = QPushButton(tr("Progress")), QPushButton(tr("History"))
        file = QPushButton(tr("Open a file…"))
        progress.clicked.connect(self.progress_wanted)
        history.clicked.connect(self.history_wanted)
        file.clicked.connect(self.file_wanted)
        fresh, difficulties = QPushButton(tr("New drill")), QMenu(self)
        fresh.setToolTip(
            tr(
                "A drill in which chance decides what is wrong, proved to be solvable and as difficult as chosen"
            )
        )
        for level in proof.MADE:
            act = difficulties.addAction(tr(level))
            act.triggered.connect(lambda _=False, level=level: self.fresh_wanted.emit(level))
        fresh.setMenu(difficulties)
        head = QHBoxLayout()
        names = QVBoxLayout()
        names.setSpacing(2)
        names.addWidget(self._heading)
        names.addWidget(self._claim)
        head.addLayout(names, 1)
        head.addWidget(fresh)
        head.addWidget(progress)
        head.addWidget(history)
        head.addWidget(file)
        left = QVBoxLayout()
        finding = QHBoxLayout()
        finding.addWidget(self._search, 3)
        finding.addWidget(self._skill, 2)
        left.addLayout(finding)
        sorting = QHBoxLayout()
        for box in (self._level, self._order):
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
            box.setMinimumContentsLength(5)
            sorting.addWidget(box, 2)
        self._count.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._count.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        sorting.addWidget(self._count, 2)
        left.addLayout(sorting)
        left.addWidget(self._list)
        body = QHBoxLayout()
        body.setSpacing(16)
        body.addLayout(left, 10)
        body.addWidget(self._details, 9)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(28, 18, 28, 20)
        layout.setSpacing(14)
        layout.addLayout(head)
        layout.addWidget(self.interrupted)
        layout.addWidget(self._problem)
        layout.addLayout(body, 1)

    # --- what is shown --------------------------------------------------------------------------------------

    def show_cards(self, cards: Sequence[Card], problems: Sequence[str] = ()) -> None:
        """Show these scenarios, and what is wrong with others."""
        before = self.current()
        self._cards = list(cards)
        self._problem.setText("\n".join(problems))
        self._problem.setVisible(bool(problems))
        self._filter()
        if before is not None:
            self.choose_card(before.name)
        else:
            self._by_itself = self.current()
        if not self._led and any(card.known for card in cards):
            self._lead()

    def _lead(self) -> None:
        """Once: who has begun nothing, and chosen nothing so far, finds the drill selected that says "begin here"."""
        self._led = True
        now, by_itself = self.current(), self._by_itself
        if now is not None and by_itself is not None and now.name == by_itself.name:
            for card in self._cards:
                if card.first:
                    self.choose_card(card.name)

    def show_reading(self) -> None:
        """No drill is known yet."""
        self._details.show_message(tr("Loading drills…"))

    def show_due(self) -> None:
        """List what is due only."""
        self._search.clear()
        self._level.setCurrentIndex(0)
        self._skill.setCurrentIndex(self._skill.findData(DUE))

    def _fill_skills(self) -> None:
        self._skill.addItem(tr("All skills"), None)
        self._skill.addItem(tr("Due now"), DUE)
        self._skill.insertSeparator(2)
        for skill in skills.skills():
            self._skill.addItem(tr(skill.title), skill.key)
        self._skill.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self._skill.setMinimumContentsLength(SKILL_LETTERS)
        self._skill.setMaxVisibleItems(30)

    def show_interrupted(self, runs: Sequence[Interrupted]) -> None:
        """The newest one first; the drill of one that is new here is selected."""
        self.interrupted.show_runs(runs)
        if runs and runs[0].run_id > self._newest:
            self._newest = runs[0].run_id
            self.choose_card(runs[0].name)

    def current(self) -> Card | None:
        """The scenario that is selected."""
        item = self._list.currentItem()
        card = item.data(_CARD) if item is not None else None
        return card if isinstance(card, Card) else None

    def choose_card(self, name: str) -> None:
        """Select the scenario *name*, if it is listed."""
        for row in range(self._list.count()):
            card = self._list.item(row).data(_CARD)
            if card.name == name:
                self._list.setCurrentRow(row)
                self._list.scrollToItem(self._list.item(row), QListWidget.ScrollHint.PositionAtCenter)

    def take_focus(self) -> None:
        self._list.setFocus()

    def _filter(self) -> None:
        """List what is wanted in the order that is wanted; the drill that was selected stays so."""
        before = self.current()
        self._list.clear()
        for card in sorted(self._cards, key=self._order.currentData()):
            if self._is_wanted(card):
                item = QListWidgetItem(card.title)
                item.setData(_CARD, card)
                item.setData(
                    Qt.ItemDataRole.AccessibleTextRole,
                    ", ".join(
                        (card.title, *((tr("due"),) if card.due else ()), f"{card.facts}. {card.summary}")
                    ),
                )
                self._list.addItem(item)
        self._list.setCurrentRow(0)
        if before is not None:
            self.choose_card(before.name)
        self._show_details()
        self._show_count()

    def _is_wanted(self, card: Card) -> bool:
        skill, level = self._skill.currentData(), self._level.currentData()
        fits = skill is None or (card.due if skill == DUE else skill in card.skills)
        words = self._search.text().lower().split()
        return fits and level in (None, card.level) and all(word in card.searched for word in words)

    def _show_count(self) -> None:
        listed, there = self._list.count(), len(self._cards)
        said = tr("{n} of {of}").format(n=listed, of=there)
        if listed == there:
            said = trn("{n} drill", "{n} drills", there).format(n=there)
        if said != self._count.text():
            self._count.setText(said if there else "")
            if self._search.hasFocus() or self._skill.hasFocus() or self._level.hasFocus():
                announce(self._count, said)

    def _show_details(self) -> None:
        self._details.show_card(self.current())

    def _choose(self) -> None:
        card = self.current()
        if card is not None:
            self.chosen.emit(card.name)

    def _edit(self) -> None:
        card = self.current()
        if card is not None:
            self.edit_wanted.emit(card.name)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._show_font()

    def _show_font(self) -> None:
        self._heading.setFont(theme.sized(self.font(), 2.1, bold=True))
        self._claim.setFont(theme.sized(self.font(), 1.05))


class _Details(QFrame):
    """The scenario that is selected, and the buttons that go on with it."""

    wanted = Signal()
    edit_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("card", "true")
        self._title, self._facts, self._skills = QLabel(), QLabel(), QLabel()
        self._title.setWordWrap(True)
        for label in (self._title, self._facts, self._skills):
            label.setTextFormat(Qt.TextFormat.PlainText)  # a scenario may come from a stranger
        self._skills.setToolTip(
            tr(
                "Difficulty is measured by the chance of a blunder of somebody who does anything that is on offer, as "
                "often as the reference solution acts. The level is the author's, one step from the measure at most."
            )
        )
        for label in (self._facts, self._skills):
            label.setProperty("muted", "true")
            label.setWordWrap(True)
        self._text = Prose()
        self._text.setAccessibleName(tr("About this drill"))
        self._start = QPushButton(tr("Open this drill"))
        self._start.setProperty("primary", "true")
        self._start.clicked.connect(self.wanted)
        self._edit = QPushButton(tr("Edit a copy"))
        self._edit.clicked.connect(self.edit_wanted)
        buttons = QHBoxLayout()
        buttons.addWidget(self._edit)
        buttons.addStretch()
        buttons.addWidget(self._start)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(20, 16, 20, 16)
        layout.setSpacing(8)
        for widget in (self._title, self._facts, self._skills, self._text):
            layout.addWidget(widget)
        layout.setStretch(3, 1)
        layout.addLayout(buttons)
        self._show_font()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._show_font()

    def _show_font(self) -> None:
        self._title.setFont(theme.sized(self.font(), 1.4, bold=True))

    def show_message(self, text: str) -> None:
        """There is no drill to tell of."""
        for label in (self._title, self._facts, self._skills):
            label.clear()
        self._text.show_text(text)
        self._start.setEnabled(False)
        self._edit.setEnabled(False)

    def show_card(self, card: Card | None) -> None:
        self._start.setEnabled(card is not None)
        if card is None:
            self.show_message(tr("No drill matches. Clear the search, or choose all skills and all levels."))
            return
        self._edit.setEnabled(card.known)
        self._edit.setText(tr("Edit a copy") if card.shipped or card.origin else tr("Edit"))
        self._title.setText(card.title)
        self._facts.setText(card.facts)
        trained = ", ".join(tr(skills.title_of(key)) for key in card.skills)
        lesson = course.lessons().get(card.name) if card.shipped else None
        said = [tr("Trains: {skills}").format(skills=trained)] if trained else []
        if lesson is not None:
            where = tr("Course, part {n} “{title}”").format(n=lesson.part, title=tr(lesson.part_title))
            said.append(f"{where}: {lesson.teaches}")
        said += [proved] if card.shipped and (proved := proof.describe_proof(card.name)) else []
        self._skills.setText("\n".join(said))
        self._skills.setVisible(bool(said))
        sources = "\n".join(f"- {source}" for source in card.sources)
        head = tr("From")
        self._text.show_text(f"{card.brief}\n\n**{head}**\n\n{sources}" if sources else card.brief)


class _Cards(QListWidget):
    """Rows that are as high as their words need in the width there is."""

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.doItemsLayout()


class _CardDelegate(QStyledItemDelegate):
    """Draws a scenario: title and best score, summary, level as dots and minutes."""

    def __init__(self, owner: QListWidget) -> None:
        super().__init__(owner)
        self._list = owner

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        drawn: Any = option  # the stubs lack the fields of the base class
        beside = (
            self._list.verticalScrollBar().sizeHint().width()
        )  # as if it were there: rows are measured once
        room = self._list.contentsRect().width() - beside - _LEFT_PX - _RIGHT_PX
        card: Card = index.data(_CARD)
        said = _wrap_text(card.title, card.summary, drawn.font.toString(), room)
        more = _TITLE_UNITS * (len(said.title) - 1) + len(said.summary) - 1
        return QSize(200, round(option.fontMetrics.height() * (_ROW_UNITS + more)))

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        card: Card = index.data(_CARD)
        drawn: Any = option  # the stubs lack the fields of the base class
        colours = theme.tokens(drawn.palette)
        chosen = bool(drawn.state & QStyle.StateFlag.State_Selected)
        box = QRectF(drawn.rect)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if chosen:
            painter.fillRect(box, colours.selection)
            painter.fillRect(QRectF(box.left(), box.top(), 4, box.height()), colours.accent)
        painter.setPen(QPen(colours.border, 1.0))
        painter.drawLine(box.bottomLeft(), box.bottomRight())
        _draw_card(painter, card, box.adjusted(_LEFT_PX, 0, -_RIGHT_PX, 0), drawn.font, colours, chosen)
        painter.restore()


@dataclass(frozen=True, slots=True)
class _WrappedText:
    """The words of a row in lines."""

    title: list[str]
    summary: list[str]
    title_px: float
    """Width of the title in one line."""


@lru_cache(maxsize=1024)
def _wrap_text(title: str, summary: str, font_text: str, width: float) -> _WrappedText:
    """The list asks for all of its rows again whenever anything of it changes."""
    font = QFont()
    font.fromString(font_text)
    large = QFontMetricsF(theme.sized(font, 1.1, bold=True))
    summary_lines = wrap_lines(summary, QFontMetricsF(font), width, _LINES_MAX)
    return _WrappedText(
        wrap_lines(title, large, width, _LINES_MAX), summary_lines, large.horizontalAdvance(title)
    )


def wrap_lines(text: str, metrics: QFontMetricsF, width: float, lines_max: int) -> list[str]:
    """*text* in lines of that *width*, one at least; what does not fit into so many ends in dots."""
    if metrics.horizontalAdvance(text) <= width:
        return [text]
    lines, words = [""], text.split()
    for place, word in enumerate(words):
        longer = f"{lines[-1]} {word}".strip()
        if not lines[-1] or metrics.horizontalAdvance(longer) <= width:
            lines[-1] = longer
        elif len(lines) < lines_max:
            lines.append(word)
        else:
            lines[-1] = " ".join((lines[-1], *words[place:]))
            break
    return [metrics.elidedText(line, Qt.TextElideMode.ElideRight, width) for line in lines]


def _draw_card(
    painter: QPainter, card: Card, box: QRectF, font: QFont, colours: ThemeTokens, selected: bool
) -> None:
    text = colours.on_selection if selected else colours.text
    muted = colours.on_selection if selected else colours.muted
    line = QFontMetricsF(font).height()
    title, small = theme.sized(font, 1.1, bold=True), theme.sized(font, 0.9)
    said = _wrap_text(card.title, card.summary, font.toString(), box.width())
    beside = said.title_px + QFontMetricsF(small).horizontalAdvance(card.result) + 14 <= box.width()
    left = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
    row = QRectF(box.left(), box.top() + line * 0.4, box.width(), line * _TITLE_UNITS)
    if beside:  # the result has room beside the title; else it stands among the facts
        painter.setFont(small)
        painter.setPen(muted)
        painter.drawText(row, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, card.result)
    painter.setFont(title)
    painter.setPen(text)
    for words in said.title:
        painter.drawText(row, left, words)
        row.translate(0.0, row.height())
    painter.setFont(font)
    painter.setPen(muted)
    row.setHeight(line)
    for words in said.summary:
        painter.drawText(row, left, words)
        row.translate(0.0, line)
    _draw_level(painter, card, row, small, muted, "" if beside else card.result)
    if card.due:
        _draw_due(painter, row, small, colours)


def _draw_level(painter: QPainter, card: Card, box: QRectF, font: QFont, colour: QColor, result: str) -> None:
    size = box.height() * 0.36
    painter.setPen(QPen(colour, 1.2))
    for dot in range(4):
        painter.setBrush(colour if dot < _dots(card.level) else Qt.BrushStyle.NoBrush)
        painter.drawEllipse(QRectF(box.left() + dot * size * 1.7, box.center().y() - size / 2, size, size))
    painter.setFont(font)
    left = box.adjusted(size * 7.6, 0, 0, 0)
    facts = "  ·  ".join((tr(card.level), f"{card.minutes} min", *([result] if result else ())))
    facts = QFontMetricsF(font).elidedText(facts, Qt.TextElideMode.ElideRight, left.width())
    painter.drawText(left, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, facts)


def _dots(level: str) -> int:
    """Filled dots of a level, of four."""
    return LEVELS.index(level) + 1


def _draw_due(painter: QPainter, box: QRectF, font: QFont, colours: ThemeTokens) -> None:
    """A mark at the right end: time to repeat this one."""
    words = tr("due")
    width = QFontMetricsF(font).horizontalAdvance(words) + 14
    mark_box = QRectF(box.right() - width, box.top(), width, box.height())
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(colours.warn_soft)
    painter.drawRoundedRect(mark_box, 4, 4)
    painter.setPen(colours.warn)
    painter.setFont(font)
    painter.drawText(mark_box, Qt.AlignmentFlag.AlignCenter, words)
