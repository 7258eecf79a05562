"""Panel with the brief during a drill: text, goals with their states, questions, and hints on request."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QEvent, QObject, QRect, Qt, Signal, Slot
from PySide6.QtGui import QCursor
from PySide6.QtWidgets import QButtonGroup, QComboBox, QFrame, QLabel, QPushButton, QScrollArea, QWidget

from app.views.briefing.page import build_heading
from app.widgets import theme
from app.widgets.flow_layout import WrapButton
from app.widgets.input_guard import get_input_guard
from app.widgets.layouts import build_row, build_widget_column
from app.widgets.markdown_view import MarkdownView
from app.widgets.screen_reader import forward_focus
from app.words import formatting
from app.words.language import mark, tr, trn
from app.words.localization import localize
from engine.constants import TICKS_PER_S
from engine.drill.authoring.schema import Goal
from engine.drill.running.questions import GoalState, OpenQuestion
from engine.drill.running.state import PendingKind
from engine.drill.time.event_log import select_events
from engine.events import AnswerData, Event, HintData, select_data
from engine.model import World
from engine.overrides import override

if TYPE_CHECKING:
    from engine.drill.running.drill import Drill

CONFIDENCE_PERCENT: Final = (10, 20, 30, 40, 50, 60, 70, 80, 90, 100)
"""Selectable degrees of confidence in percent. Other numbers can be typed.

Assumed: steps of 10 are fine enough.
"""
CARDS_HEIGHT_SHARE_MAX: Final = 0.8
"""Maximum height of the question cards, as a share of the panel's height. Higher stacks scroll."""


class QuestionCard(QFrame):
    """Card with a question, its choices and its result."""

    confirmed = Signal(str)
    """Signal: input line with the answer."""
    closed = Signal()

    def __init__(self, question: OpenQuestion) -> None:
        super().__init__()
        self.question, self.is_open = question, True
        self.setProperty("card", "true")
        self.setAccessibleName(question.text)
        title = _build_label(tr("What will happen next?") if question.prediction else tr("Question"))
        title.setFont(theme.resize_font(title.font(), 1.05, bold=True))
        self._text = _build_label(question.text)
        layout = build_widget_column(title, self._text, parent=self, margins=(10, 8, 10, 10), spacing=6)
        if question.until_tick is not None:
            label = _build_label(
                tr("by {time}").format(time=formatting.format_run_time(question.until_tick / TICKS_PER_S))
            )
            label.setProperty("muted", "true")
            layout.addWidget(label)
        self._group = QButtonGroup(self, exclusive=True)
        self.choices = [WrapButton() for _ in question.choices]
        for number, button in enumerate(self.choices, start=1):
            button.setCheckable(True)
            self._group.addButton(button, number)
            layout.addWidget(button)
        self.confidence = QComboBox()
        self.confidence.setAccessibleName(tr("How sure are you?"))
        self.confidence.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.confidence.setMinimumContentsLength(6)  # the card must fit into a narrow panel
        self.confidence.addItem(tr("How sure are you?"), None)
        for percent in CONFIDENCE_PERCENT:
            self.confidence.addItem(tr("{percent}% sure").format(percent=percent), percent)
        layout.addWidget(self.confidence)
        self.confirm = QPushButton(tr("Confirm answer"))
        self.confirm.setProperty("primary", "true")
        self.confirm.setEnabled(False)
        self.confirm.clicked.connect(self._confirm)
        self._end = _build_label("")
        self._end.hide()
        layout.addWidget(self._end)
        layout.addWidget(self.confirm)
        self._group.idToggled.connect(lambda *_: self._mark_choice())
        self._mark_choice()

    def show_result(self, text: str) -> None:
        """Show the result of an answered or expired question until the user closes the card."""
        self.is_open = False
        for part in (*self.choices, self.confidence):
            part.hide()  # the result repeats the answer, so the choices are not needed
        self._text.setVisible(self.question.text not in text)  # some results repeat the question
        self._end.setText(text[:1].upper() + text[1:])
        self._end.show()
        self.confirm.setText(tr("Close"))
        self.confirm.setEnabled(True)
        get_input_guard().record_appearance(self)

    def _mark_choice(self) -> None:
        checked_id = self._group.checkedId()
        for number, (button, text) in enumerate(
            zip(self.choices, self.question.choices, strict=True), start=1
        ):
            button.show_text(f"{'●' if number == checked_id else '○'}  {text}", spoken=text)
        self.confirm.setEnabled(checked_id > 0)

    def _confirm(self) -> None:
        if self.is_open:
            percent = self.confidence.currentData()
            sure = "" if percent is None else f" sure_percent={percent}"
            self.confirmed.emit(f"answer {self.question.name} {self._group.checkedId()}{sure}")
        else:
            self.closed.emit()


class QuestionCardArea(QScrollArea):
    """Scroll area of question cards at the lower edge of *panel*.

    If the cards would cover the mouse pointer there, the area moves to the upper edge. It stays if the cards
    would cover the pointer at the upper edge too.
    """

    confirmed = Signal(str)
    changed = Signal()
    """Signal: the cards or the edge of the area changed."""

    def __init__(self, panel: QWidget) -> None:
        super().__init__(panel)
        self._panel = panel
        self.cards: list[QuestionCard] = []
        self.at_top = False
        self._content = widget = QWidget()
        self._column = build_widget_column(parent=widget, margins=8, spacing=8)
        self.setWidget(widget)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.Box)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(tr("Questions"))
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        panel.installEventFilter(self)
        self.hide()

    @property
    def first_choice(self) -> QWidget | None:
        """Widget that receives the keyboard focus, or None if no question is open."""
        for card in self.cards:
            if card.is_open:
                return next((button for button in card.choices if button.isChecked()), card.choices[0])
        return self.cards[0].confirm if self.cards else None

    def clear(self) -> None:
        """Remove all questions."""
        for card in list(self.cards):
            self._remove_card(card)

    def show_open_questions(
        self, questions: Sequence[OpenQuestion], get_result_text: Callable[[str], str]
    ) -> None:
        """Add cards for new questions in *questions*, and show the results of closed questions.

        *get_result_text* maps the name of a closed question to its result text. New questions replace cards
        with results.
        """
        waiting = {question.name for question in questions}
        new_questions = [
            question
            for question in questions
            if all(card.question.name != question.name for card in self.cards)
        ]
        if new_questions:
            for card in [card for card in self.cards if not card.is_open]:
                self._remove_card(card)
        for card in self.cards:
            if card.is_open and card.question.name not in waiting:
                card.show_result(get_result_text(card.question.name))
                self._update_geometry()
        for open_question in new_questions:
            self._add_card(QuestionCard(open_question))

    def _add_card(self, card: QuestionCard) -> None:
        card.confirmed.connect(self.confirmed)
        card.closed.connect(lambda: self._close_card(card))
        self.cards.append(card)
        self._column.addWidget(card)
        if self.isHidden():
            self.at_top = self._should_move_to_top()
            self.show()
            self.raise_()
        self._update_geometry()
        get_input_guard().record_appearance(self)

    def _close_card(self, card: QuestionCard) -> None:
        self._remove_card(card)
        self._panel.setFocus()

    def _remove_card(self, card: QuestionCard) -> None:
        self.cards.remove(card)
        self._column.removeWidget(card)
        card.hide()
        card.deleteLater()
        self._update_geometry()

    # --- position -------------------------------------------------------------------------------------------

    def _update_geometry(self) -> None:
        if not self.cards:
            self.hide()
        self.setGeometry(self._compute_geometry(self.at_top))
        self.changed.emit()

    def _compute_geometry(self, top: bool) -> QRect:
        room = self._panel.contentsRect()
        content = self._content
        content.ensurePolished()
        edges = 2 * self.frameWidth()
        # reserve the width of a scroll bar, which may be needed
        width = room.width() - edges - self.verticalScrollBar().sizeHint().width()
        content_height = (
            content.heightForWidth(width) if content.hasHeightForWidth() else content.sizeHint().height()
        )
        height = min(content_height + edges, round(CARDS_HEIGHT_SHARE_MAX * room.height()))
        return QRect(room.left(), room.top() if top else room.bottom() - height + 1, room.width(), height)

    def _should_move_to_top(self) -> bool:
        """Return whether the cards should be at the upper edge.

        This is the case if they would cover the pointer at the lower edge, but not at the upper edge.
        """
        pointer = self._panel.mapFromGlobal(QCursor.pos())
        return self._compute_geometry(False).contains(pointer) and not self._compute_geometry(True).contains(
            pointer
        )

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Resize and watched is self._panel and self.cards:
            self._update_geometry()
        return super().eventFilter(watched, event)


def _build_label(text: str) -> QLabel:
    label = QLabel(text)
    label.setTextFormat(Qt.TextFormat.PlainText)  # a scenario may come from a stranger and contain HTML
    label.setWordWrap(True)
    return label


RUN_END_BLOCKERS: Final = {
    PendingKind.QUESTION: mark("a question is not answered yet"),
    PendingKind.PREDICTION: mark("the outcome of a prediction is not known yet"),
    PendingKind.STORY: mark("more events are scheduled"),
}
HINT_LAYERS: Final = (mark("Where to look"), mark("What it means"), mark("What to type"))


def describe_goal_state(goal: Goal, state: GoalState, tick: int) -> tuple[str, str, str]:
    """Return symbol, color name and text for the state of *goal* at *tick*."""
    if state.met_tick is not None:
        time = formatting.format_run_time(state.met_tick / TICKS_PER_S)
        return "✓", "ok", tr("met at {time}").format(time=time)
    if state.missed_tick is not None:
        time = formatting.format_run_time(state.missed_tick / TICKS_PER_S)
        return "✗", "bad", tr("missed at {time}").format(time=time)
    words = []
    if state.since_tick is not None and goal.hold:
        held_s = (tick - state.since_tick) / TICKS_PER_S
        held_text, hold = (formatting.format_seconds(t_s, 0) for t_s in (held_s, goal.hold))
        words.append(tr("met for {held} of the required {hold}").format(held=held_text, hold=hold))
    if goal.within is not None:
        words.append(tr("by {time}").format(time=formatting.format_run_time(goal.within)))
    return "○", "muted", ", ".join(words)


class BriefingPanel(QScrollArea):
    """Panel with the goals and their states, the brief, and hints in three layers."""

    requested = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.unscored = False
        """True in a lesson, in which nothing costs points."""
        self._drill: Drill | None = None
        self._shown_state: object = None
        self._goals: list[_GoalRow] = []
        self._goal_box = build_widget_column(spacing=6)
        self._goals_title = build_heading(tr("Goals"))
        self._waits = QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self._waits.setProperty("muted", "true")
        self._waits.hide()
        self._brief_title = build_heading(tr("Brief"))
        self._text = MarkdownView(full_height=True)
        self._hints_title = build_heading(tr("Hints"))
        self._hint_for = QLabel(textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        self._hint_for.setProperty("muted", "true")
        self._hint_buttons = [self._build_hint_button(layer) for layer in (1, 2, 3)]
        self._opened = QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self._opened.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self._ends: dict[str, str] = {}
        """Question -> result, shown after it was answered or its time ran out."""
        self.question_cards = QuestionCardArea(self)
        self.question_cards.confirmed.connect(self.requested)
        self.question_cards.changed.connect(self._reserve_card_space)
        self._above, self._below = QWidget(), QWidget()
        """Space as high as the shelf, so that covered text can be scrolled into view."""
        widget = QWidget()
        build_widget_column(
            self._goals_title,
            self._goal_box,
            self._waits,
            self._hints_title,
            self._hint_for,
            *self._hint_buttons,
            self._opened,
            self._brief_title,
            self._text,
            0,
            parent=widget,
            margins=(12, 10, 12, 12),
            spacing=8,
        )
        layout = build_widget_column(margins=0, spacing=0)
        self._content = content = QWidget()
        content.setLayout(layout)
        for part in (self._above, widget, self._below):
            layout.addWidget(part)
        layout.setStretchFactor(widget, 1)
        self._above.setFixedHeight(0)
        self._below.setFixedHeight(0)
        self.setWidget(content)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setAccessibleName(tr("Brief, goals and hints"))
        theme.call_after_events(self, theme.PALETTE_EVENTS, self._refresh)

    def _build_hint_button(self, layer: int) -> WrapButton:
        button = WrapButton()
        button.clicked.connect(lambda: self.requested.emit(f"hint {layer}"))
        return button

    # --- view interface -------------------------------------------------------------------------------------

    @Slot(object)
    def show_drill(self, drill: Drill) -> None:
        """Show another run, or another time of the same run."""
        self._drill = drill
        self._shown_state = None
        self.question_cards.clear()
        self._ends.clear()
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
        """Show the current state of the world."""
        second = world.tick // TICKS_PER_S
        if self._drill is not None and self._shown_state != (second, len(self._drill.hints)):
            self._refresh()

    @Slot(list)
    def add_events(self, events: Sequence[Event]) -> None:
        """Update goals, hints and questions after new *events*."""
        for event in events:
            if isinstance(event.data, AnswerData):
                self._ends[event.data.question] = localize(event.text)
        if any(event.kind in ("goal", "hint", "question", "answer") for event in events):
            self._refresh()

    # --- private helpers ------------------------------------------------------------------------------------

    def _refresh(self) -> None:
        drill = self._drill
        if drill is None:
            return
        self._shown_state = (drill.tick // TICKS_PER_S, len(drill.hints))
        colors = theme.get_theme_tokens(self.palette())
        for row in self._goals:
            state = (
                drill.goals[row.goal.name]
                if drill.permissions.reports_progress or drill.finished
                else GoalState()
            )
            row.show_state(state, drill.tick, colors)
        kinds = drill.list_pending_kinds() if drill.permissions.reports_progress else []
        reasons = ", ".join(tr(RUN_END_BLOCKERS[holder]) for holder in kinds)
        self._waits.setText(tr("All goals met. The drill continues: {reasons}.").format(reasons=reasons))
        self._waits.setVisible(bool(kinds))
        self._show_questions(drill)
        self._show_hints(drill)

    def _show_questions(self, drill: Drill) -> None:
        """Show the open questions without moving the keyboard focus or any clickable widget."""
        waiting = drill.list_open_questions() if not drill.finished else []
        self.question_cards.show_open_questions(
            waiting, lambda name: self._ends.get(name, tr("The time to answer is over."))
        )
        forward_focus(self, self.question_cards.first_choice)
        before: QWidget = self
        for card in self.question_cards.cards:
            for stop in (*card.choices, card.confirm):
                QWidget.setTabOrder(
                    before, stop
                )  # Tab reaches the questions before the hints, which cost points
                before = stop

    def _reserve_card_space(self) -> None:
        """Reserve space for the question cards. Visible text keeps its position.

        The user can scroll covered text into view.
        """
        height = 0 if self.question_cards.isHidden() else self.question_cards.height()
        height_above = height if self.question_cards.at_top else 0
        grown = height_above - self._above.height()
        self._above.setFixedHeight(height_above)
        self._below.setFixedHeight(height - height_above)
        if grown:
            self._content.setMinimumHeight(self.viewport().height() + height_above if height_above else 0)
            self._content.resize(
                self._content.width(), max(self._content.height(), self._content.minimumHeight())
            )
            bar = self.verticalScrollBar()
            bar.setMaximum(max(bar.maximum(), bar.value() + grown))
            bar.setValue(bar.value() + grown)

    def _show_hints(self, drill: Drill) -> None:
        hint = drill.find_next_hint()
        texts = {goal.name: goal.text for goal in drill.scenario.goals}
        opened_layers = {(opened_hint.goal, opened_hint.layer) for opened_hint in drill.hints}
        layers = [
            layer for layer in (1, 2, 3) if hint is not None and (hint.goal, layer) not in opened_layers
        ]
        self._hints_title.setVisible(hint is not None or bool(drill.hints))
        self._hint_for.setVisible(hint is not None)
        self._hint_for.setText(
            tr("For: {goal}").format(goal=texts.get(hint.goal, hint.goal)) if hint is not None else ""
        )
        for layer, button in enumerate(self._hint_buttons, start=1):
            cost = drill.get_hint_cost(layer) if hint is not None and not self.unscored else 0.0
            words = trn("−{n} point", "−{n} points", round(cost) if cost == round(cost) else 2)
            price = f"  ({words.format(n=formatting.format_plain_number(cost))})" if cost else ""
            title, is_present = tr(HINT_LAYERS[layer - 1]), layer in layers
            button.show_text(
                f"{title}{price}" if is_present else f"✓  {title}", spoken="" if is_present else title
            )
            # the button of an opened hint stays visible; otherwise the next button would move under the
            # pointer
            button.setEnabled(is_present)
            button.setVisible(hint is not None and not drill.finished)
        lines = select_data(select_events(drill.events, "hint"), HintData) if drill.hints else ()
        text_lines = [f"{tr(HINT_LAYERS[hint.layer - 1])}: {event.text}" for event, hint in lines]
        self._opened.setText("\n\n".join(text_lines))
        self._opened.setVisible(bool(text_lines))


class _GoalRow(QWidget):
    """Row of a goal with its symbol and its time."""

    def __init__(self, goal: Goal) -> None:
        super().__init__()
        self.goal = goal
        self._symbol = QLabel(alignment=Qt.AlignmentFlag.AlignTop)
        self._symbol.setFont(theme.resize_font(self.font(), 1.1, bold=True))
        text = QLabel(goal.text, textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        self._text = QLabel()
        self._text.setProperty("muted", "true")
        self._text.setWordWrap(True)
        column = build_widget_column(text, self._text, spacing=0)
        build_row(self._symbol, (column, 1), parent=self, margins=0, spacing=8)

    def show_state(self, state: GoalState, tick: int, colors: theme.ThemeTokens) -> None:
        mark, color_name, words = describe_goal_state(self.goal, state, tick)
        color = colors.get_color(color_name).name()
        self._symbol.setText(f'<span style="color: {color}">{mark}</span>')
        self._text.setText(words)
        self._text.setVisible(bool(words))
        self.setAccessibleName(": ".join((self.goal.text, words or tr("not met yet"))))
