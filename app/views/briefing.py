"""The brief before a drill; during it the brief with goals as they stand and hints as they are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QEvent, Qt, Signal, Slot
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QApplication,
    QBoxLayout,
    QButtonGroup,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QRadioButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app import formatting, theme
from app.language import mark, tr, trn
from app.prose import Prose
from app.room import scrolling
from app.sentences import said
from app.wrap_button import WrapButton
from engine.constants import TICKS_PER_S
from engine.drill import skills
from engine.drill.event_log import of
from engine.drill.goals import GoalState
from engine.drill.questions import Asked
from engine.drill.schema import Goal, Scenario
from engine.events import Event
from engine.model import World

if TYPE_CHECKING:
    from engine.drill.drill import Drill

HINT_LAYERS: Final = (mark("Where to look"), mark("What it means"), mark("What to type"))

MODES: Final = (
    ("practice", mark("Practice"), mark("hints cost points")),
    ("guided", mark("Guided"), mark("hints are free")),
    ("exam", mark("Exam"), mark("no hints")),
)
"""Ways to take a scored drill, the usual one first."""

PAGE_MARGINS_PX: Final = 24
PAGE_WIDTH_UNITS: Final = 48
"""Width of the page in line heights: a comfortable line of text."""


def goal_state(goal: Goal, state: GoalState, tick: int) -> tuple[str, str, str]:
    """(mark, tone, words) of a goal at *tick*."""
    if state.met_tick is not None:
        at = formatting.run_time(state.met_tick / TICKS_PER_S)
        return "✓", "ok", tr("reached at {time}").format(time=at)
    if state.missed_tick is not None:
        at = formatting.run_time(state.missed_tick / TICKS_PER_S)
        return "✗", "bad", tr("missed at {time}").format(time=at)
    words = []
    if state.since_tick is not None and goal.hold:
        held_s = (tick - state.since_tick) / TICKS_PER_S
        words.append(tr("holds for {held:.0f} of {hold:.0f} s").format(held=held_s, hold=goal.hold))
    if goal.within is not None:
        words.append(tr("by {time}").format(time=formatting.run_time(goal.within)))
    return "○", "muted", ", ".join(words)


class BriefPage(QWidget):
    """What a drill is about, before its clock starts."""

    started = Signal(str)
    """The mode in which to take it."""
    left = Signal()
    copy_wanted = Signal()
    """Somebody wants to make a drill of their own from this one."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._title = QLabel()
        self._facts = QLabel()
        self._facts.setProperty("muted", "true")
        for label in (self._title, self._facts):
            label.setTextFormat(Qt.TextFormat.PlainText)  # a scenario may come from anybody
            label.setWordWrap(True)
        self._text = Prose(whole=True)
        self._text.setAccessibleName(tr("Brief"))
        self._goals_title = _heading(tr("Goals"))
        self._goals = QLabel()
        self._goals.setWordWrap(True)
        self._goals.setTextFormat(Qt.TextFormat.PlainText)
        self._modes = QButtonGroup(self)
        self._mode_box = QWidget()
        self._start = QPushButton(tr("Start the clock"))
        self._start.setProperty("primary", "true")
        self._start.setDefault(True)
        self._start.clicked.connect(lambda: self.started.emit(self.mode))
        self._back = QPushButton(tr("Back to the drills"))
        self._back.clicked.connect(self.left)
        self._copy = QPushButton(tr("Edit a copy"))
        self._copy.clicked.connect(self.copy_wanted)
        self._below = Prose(whole=True)
        self._below.hide()
        self._buttons = QWidget()
        self._scored = True
        self._card = QFrame()
        self._card.setProperty("card", "true")
        self._lay_out()
        self._show_font()

    def _lay_out(self) -> None:
        modes = self._mode_row = QBoxLayout(QBoxLayout.Direction.LeftToRight, self._mode_box)
        modes.setContentsMargins(0, 0, 0, 0)
        for name, title, what in MODES:
            button = QRadioButton(f"{tr(title)}: {tr(what)}")
            button.setObjectName(name)
            button.setChecked(name == MODES[0][0])
            self._modes.addButton(button)
            modes.addWidget(button)
        modes.addStretch()
        buttons = QHBoxLayout(self._buttons)
        buttons.setContentsMargins(0, 0, 0, 0)
        buttons.addWidget(self._back)
        buttons.addWidget(self._copy)
        buttons.addStretch()
        buttons.addWidget(self._start)
        inside = QVBoxLayout(self._card)
        inside.setContentsMargins(28, 22, 28, 22)
        inside.setSpacing(10)
        for widget in (
            self._title,
            self._facts,
            self._text,
            self._goals_title,
            self._goals,
            self._mode_box,
            self._below,
        ):
            inside.addWidget(widget)
        inside.addSpacing(8)
        inside.addWidget(self._buttons)
        middle = QWidget()
        column = QVBoxLayout(middle)
        row = QHBoxLayout()  # not by alignment: the card's height would be that of a text as wide as the page
        row.addStretch()
        row.addWidget(self._card)
        row.addStretch()
        column.addStretch(2)
        column.addLayout(row)
        column.addStretch(3)
        around = QVBoxLayout(self)
        around.setContentsMargins(0, 0, 0, 0)
        around.addWidget(scrolling(middle))

    @property
    def mode(self) -> str:
        """The chosen mode; a scenario without a rubric is free play."""
        chosen = self._modes.checkedButton()
        return chosen.objectName() if self._scored and chosen is not None else "lab"

    def show_scenario(self, scenario: Scenario) -> None:
        self._title.setText(scenario.title)
        facts = [tr(scenario.level), tr("about {minutes} minutes").format(minutes=scenario.minutes)]
        facts += [", ".join(tr(skills.title_of(key)) for key in scenario.skills)] if scenario.skills else []
        facts += (
            [tr("ends after {length} minutes").format(length=formatting.plain(scenario.length / 60.0))]
            if scenario.length
            else []
        )
        self._facts.setText("  ·  ".join(facts))
        self._text.show_text(scenario.brief)
        self._goals.setVisible(bool(scenario.goals))
        self._goals.setText("\n".join(f"○  {goal.text}" for goal in scenario.goals))
        self._goals_title.setVisible(bool(scenario.goals))
        self._scored = scenario.scored
        self._mode_box.setVisible(scenario.scored)

    def only_show(self, mode: str, below: str) -> None:
        """A look at the page as who takes the drill in *mode* sees it; *below* (Markdown) is what comes to it later."""
        for button in self._modes.buttons():
            button.setChecked(button.objectName() == mode)
            button.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
            button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._buttons.hide()
        self._below.setVisible(bool(below))
        self._below.show_text(below)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._show_font()  # the first polishing by the style sheet has taken the fonts back
        if not self._buttons.isHidden():
            self._start.setFocus()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._find_room()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._show_font()

    def _show_font(self) -> None:
        self._title.setFont(theme.sized(self.font(), 1.8, bold=True))
        for text in (self._text, self._below):
            text.setFont(theme.sized(self.font(), 1.1))
        self._find_room()

    def _find_room(self) -> None:
        """As wide as can be read well, and no wider than the page; the modes beside or below each other."""
        width = min(PAGE_WIDTH_UNITS * self.fontMetrics().height(), self.width() - PAGE_MARGINS_PX)
        self._card.setFixedWidth(max(1, width))
        longest = sum(
            button.sizeHint().width() + self._mode_row.spacing() for button in self._modes.buttons()
        )
        fits = longest <= width - 56
        way = QBoxLayout.Direction.LeftToRight if fits else QBoxLayout.Direction.TopToBottom
        self._mode_row.setDirection(way)


class Briefing(QScrollArea):
    """Goals as they stand, the brief, and hints in three layers."""

    requested = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._drill: Drill | None = None
        self._shown: object = None
        self._goals: list[_GoalRow] = []
        self._goal_box = QVBoxLayout()
        self._goal_box.setSpacing(6)
        self._goals_title = _heading(tr("Goals"))
        self._brief_title = _heading(tr("Brief"))
        self._text = Prose(whole=True)
        self._hints_title = _heading(tr("Hints"))
        self._hint_for = QLabel()
        self._hint_for.setTextFormat(Qt.TextFormat.PlainText)
        self._hint_for.setWordWrap(True)
        self._hint_for.setProperty("muted", "true")
        self._hint_buttons = [self._hint_button(layer) for layer in (1, 2, 3)]
        self._opened = QLabel()
        self._opened.setWordWrap(True)
        self._opened.setTextFormat(Qt.TextFormat.PlainText)
        self._opened.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self._asked: list[_Asked] = []
        self._ask_box = QVBoxLayout()
        self._ask_box.setSpacing(8)
        self._verdict = QLabel()
        self._verdict.setWordWrap(True)
        self._verdict.setTextFormat(Qt.TextFormat.PlainText)
        self._verdict.hide()
        inside = QWidget()
        layout = QVBoxLayout(inside)
        layout.setContentsMargins(12, 10, 12, 12)
        layout.setSpacing(8)
        layout.addLayout(self._ask_box)
        layout.addWidget(self._verdict)
        layout.addWidget(self._goals_title)
        layout.addLayout(self._goal_box)
        layout.addWidget(self._hints_title)
        layout.addWidget(self._hint_for)
        for button in self._hint_buttons:
            layout.addWidget(button)
        layout.addWidget(self._opened)
        layout.addWidget(self._brief_title)
        layout.addWidget(self._text)
        layout.addStretch()
        self.setWidget(inside)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setAccessibleName(tr("Brief, goals and hints"))

    def _hint_button(self, layer: int) -> WrapButton:
        button = WrapButton()
        button.clicked.connect(lambda: self.requested.emit(f"hint {layer}"))
        return button

    # --- contract of views ----------------------------------------------------------------------------------

    @Slot(object)
    def show_drill(self, drill: Drill) -> None:
        self._drill = drill
        self._shown = None
        self._verdict.hide()
        self._text.show_text(drill.scenario.brief)
        for row in self._goals:
            self._goal_box.removeWidget(row)
            row.hide()
            row.deleteLater()
        self._goals = [_GoalRow(goal) for goal in drill.scenario.goals]
        for row in self._goals:
            self._goal_box.addWidget(row)
        self._goals_title.setVisible(bool(self._goals))
        self._refresh()

    @Slot(object)
    def show_world(self, world: World) -> None:
        second = world.tick // TICKS_PER_S
        if self._drill is not None and self._shown != (second, len(self._drill.hints)):
            self._refresh()

    @Slot(list)
    def add_events(self, events: Sequence[Event]) -> None:
        answers = [event for event in events if event.kind == "answer"]
        if answers:
            self._verdict.setText(said(answers[-1].text))
            self._verdict.show()
        if any(event.kind in ("goal", "hint", "question", "answer") for event in events):
            self._refresh()

    # --- inside ---------------------------------------------------------------------------------------------

    def _refresh(self) -> None:
        drill = self._drill
        if drill is None:
            return
        self._shown = (drill.tick // TICKS_PER_S, len(drill.hints))
        colours = theme.tokens(self.palette())
        for row in self._goals:
            state = drill.goals[row.goal.name] if drill.terms.progress or drill.finished else GoalState()
            row.show_state(state, drill.tick, colours)
        self._show_questions(drill)
        self._show_hints(drill)

    def _show_questions(self, drill: Drill) -> None:
        """What waits for an answer; a new question takes the keyboard."""
        waiting = drill.open_questions() if not drill.finished else []
        if [asked.name for asked in waiting] == [box.name for box in self._asked]:
            return
        focus = QApplication.focusWidget()
        if focus is not None and any(box.isAncestorOf(focus) for box in self._asked):
            self.setFocus()  # Qt would go on to the hints, and the next space would buy one
        for box in self._asked:
            self._ask_box.removeWidget(box)
            box.hide()
            box.deleteLater()
        self._asked = [_Asked(asked) for asked in waiting]
        for box in self._asked:
            box.answered.connect(self.requested)
            self._ask_box.addWidget(box)
        before: QWidget = self
        for button in (button for box in self._asked for button in box.choices):
            QWidget.setTabOrder(before, button)  # as they stand: above the hints, which cost points
            before = button
        if self._asked:
            self._verdict.hide()
            self._asked[0].take_focus()
            self.ensureVisible(0, 0)

    def _show_hints(self, drill: Drill) -> None:
        hint = drill.next_hint()
        texts = {goal.name: goal.text for goal in drill.scenario.goals}
        known = {(opened.goal, opened.layer) for opened in drill.hints}
        layers = [layer for layer in (1, 2, 3) if hint is not None and (hint.goal, layer) not in known]
        self._hints_title.setVisible(hint is not None or bool(drill.hints))
        self._hint_for.setVisible(hint is not None)
        self._hint_for.setText(
            tr("For: {goal}").format(goal=texts.get(hint.goal, hint.goal)) if hint is not None else ""
        )
        for layer, button in enumerate(self._hint_buttons, start=1):
            cost = drill.hint_cost(layer) if hint is not None else 0.0
            words = trn("−{n} point", "−{n} points", round(cost) if cost == round(cost) else 2)
            price = f"  ({words.format(n=formatting.plain(cost))})" if cost else ""
            button.show_text(f"{tr(HINT_LAYERS[layer - 1])}{price}")
            button.setVisible(layer in layers and not drill.finished)
        lines = list(of(drill.events, "hint")) if drill.hints else []
        said = [f"{tr(HINT_LAYERS[int(event.get('layer')) - 1])}: {event.text}" for event in lines]
        self._opened.setText("\n\n".join(said))
        self._opened.setVisible(bool(said))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._refresh()


class _Asked(QFrame):
    """A question with its choices; one of them answers it."""

    answered = Signal(str)

    def __init__(self, asked: Asked) -> None:
        super().__init__()
        self.name = asked.name
        self.setProperty("card", "true")
        title = _heading(tr("What will happen?") if asked.prediction else tr("Question"))
        text = QLabel(asked.text)
        text.setTextFormat(Qt.TextFormat.PlainText)
        text.setWordWrap(True)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(10, 8, 10, 10)
        layout.setSpacing(6)
        layout.addWidget(title)
        layout.addWidget(text)
        if asked.until_tick is not None:
            until = QLabel(tr("by {time}").format(time=formatting.run_time(asked.until_tick / TICKS_PER_S)))
            until.setProperty("muted", "true")
            layout.addWidget(until)
        self.choices = [WrapButton(choice) for choice in asked.choices]
        for number, button in enumerate(self.choices, start=1):
            line = f"answer {asked.name} {number}"
            button.clicked.connect(lambda _=False, line=line: self.answered.emit(line))
            layout.addWidget(button)
        self.setAccessibleName(asked.text)

    def take_focus(self) -> None:
        """Not from who is typing: the next space would be an answer."""
        if not isinstance(QApplication.focusWidget(), (QLineEdit, QPlainTextEdit)):
            self.choices[0].setFocus()


class _GoalRow(QWidget):
    """A goal with its mark and what can be said of its time."""

    def __init__(self, goal: Goal) -> None:
        super().__init__()
        self.goal = goal
        self._mark = QLabel()
        self._mark.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._mark.setFont(theme.sized(self.font(), 1.1, bold=True))
        text = QLabel(goal.text)
        text.setTextFormat(Qt.TextFormat.PlainText)
        text.setWordWrap(True)
        self._words = QLabel()
        self._words.setProperty("muted", "true")
        self._words.setWordWrap(True)
        column = QVBoxLayout()
        column.setSpacing(0)
        column.addWidget(text)
        column.addWidget(self._words)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        row.addWidget(self._mark)
        row.addLayout(column, 1)

    def show_state(self, state: GoalState, tick: int, colours: theme.Tokens) -> None:
        mark, tone, words = goal_state(self.goal, state, tick)
        colour = getattr(colours, tone).name()
        self._mark.setText(f'<span style="color: {colour}">{mark}</span>')
        self._words.setText(words)
        self._words.setVisible(bool(words))
        self.setAccessibleName(": ".join((self.goal.text, words or tr("open"))))


def _heading(text: str) -> QLabel:
    label = QLabel(text)
    label.setWordWrap(True)
    label.setFont(theme.sized(label.font(), 1.05, bold=True))
    return label
