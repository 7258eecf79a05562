"""Debrief page: score, biggest mistake and next step at the top, and tabs with the details."""

from collections.abc import Callable, Sequence
from typing import Final

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QBoxLayout,
    QFrame,
    QLabel,
    QMenu,
    QPushButton,
    QScrollArea,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from app.view_models.debrief.model import DebriefModel
from app.view_models.debrief.verdict import VerdictModel
from app.views.debrief import tabs
from app.views.debrief.cards import VerdictCard, build_score_card
from app.views.debrief.debrief_widgets import build_card, build_label, build_muted_label
from app.views.debrief.reflection import ReflectionForm
from app.widgets import theme
from app.widgets.key_button import KeyButton
from app.widgets.layouts import build_row, build_widget_column
from app.words import formatting
from app.words.language import mark, tr
from engine.constants import TICKS_PER_S
from engine.drill.judging import counterfactual
from engine.inputs import Input
from engine.overrides import override
from engine.verbs.input_lines import parse_script

NARROW_WIDTH_LINES: Final = 46
"""Width of the page in line heights below which the two cards are stacked."""
PAGE_MARGIN_PX: Final = 22
"""Left and right margin of the page."""
CARD_GAP_PX: Final = 10
"""Gap between the two cards."""
TABS_HEIGHT_MIN_LINES: Final = 17
"""Minimum height of the tabs in line heights. If there is less space, the page scrolls."""
TIME_TOLERANCE_S: Final = 0.005
"""Tolerance within which two times count as equal: half a tick."""

TABS: Final = (
    mark("Score still possible"),
    mark("Timeline"),
    mark("Points"),
    mark("Commands"),
    mark("What happened"),
    mark("Evidence"),
    mark("Export"),
)
SCORE, TIMELINE, POINTS, COMMANDS, OUTAGES, EVIDENCE, EXPORT = range(len(TABS))
REVIEW_TABS: Final = (TIMELINE, POINTS, COMMANDS, OUTAGES, EVIDENCE)
"""Tabs that are rebuilt when the review of the run is complete."""
ANALYSIS_TABS: Final = (SCORE, TIMELINE)
"""Tabs that are rebuilt when the analysis finds better continuations."""


class DebriefView(QScrollArea):
    """Page about a finished run. Its `DebriefModel` gets more results during the analysis."""

    retry_wanted = Signal(float, str)
    """Signal: start time of a retry in seconds (0 means the start of the run), and the notice to show then."""
    next_wanted = Signal()
    learn_wanted = Signal()
    new_seed_wanted = Signal()
    """Signal: the user wants to retry with another seed."""
    solution_wanted = Signal()
    watch_wanted = Signal(float)
    """Signal: time of the run to watch, in seconds."""
    longer_search_wanted = Signal()
    """Signal: the user wants a longer search for better continuations."""
    best_continuation_wanted = Signal(object)
    """Signal: a `SegmentWithBest`, whose best continuation the user wants to watch."""
    branches_wanted = Signal()
    export_wanted = Signal(str)
    """Signal: kind of file, a key of `EXPORT_LABELS`."""
    reflected = Signal(object)
    """Signal: the user's `Reflection`, entered before the points are shown. None means skipped."""
    reflection_toggled = Signal(bool)
    leave_wanted = Signal()
    history_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(tr("Debrief"))
        self._model: DebriefModel | None = None
        self._verdict: VerdictModel | None = None
        self._asks = self._asks_first = False
        self._form: ReflectionForm | None = None
        self._selected_s: float | None = None
        self._journal: list[Input] = []
        self._built_narrow = False
        self._tab = SCORE
        self._share = 0.0
        self._actions = tabs.TabCallbacks(
            self.retry_wanted.emit, self._offer_retry, self.watch_wanted.emit, self.best_continuation_wanted.emit,
            self.solution_wanted.emit, self.longer_search_wanted.emit, self.export_wanted.emit,
            self.reflection_toggled.emit,
        )  # fmt: skip
        self._build()
        theme.call_after_events(self, theme.FONT_EVENTS, self._build)
        theme.call_after_events(self, theme.SHOW_EVENTS, self._fit_buttons)

    # --- display --------------------------------------------------------------------------------------------

    def show_run(self, model: DebriefModel, asks_reflection: bool = False, asks_first: bool = False) -> None:
        """Show a run. If *asks_reflection*, first show only a form for the user's reflection.

        *asks_first*: state of the check box that turns this form on for later runs.
        """
        self._asks, self._asks_first = asks_reflection, asks_first
        self._model, self._selected_s, self._share = model, None, 0.0
        self._journal, _ = parse_script("\n".join(model.report["inputs"]))
        scored = bool(model.report["score"]["scored"])
        # the score curve of a good run is flat and has no information, so another tab opens first
        curve = scored and not model.build_summary().passed_well
        self._tab = POINTS if model.reflection is not None else SCORE if curve else TIMELINE
        self._build()
        self.verticalScrollBar().setValue(0)

    def update_run(self, model: DebriefModel) -> None:
        """Show new results of the analysis without changing tab, scroll position or focus."""
        before, self._model = self._model, model
        if before is None or self._asks:
            return
        new_review = before.review is not model.review
        self._show_verdict()
        changed_parts = (
            {*(REVIEW_TABS if new_review else ()), *ANALYSIS_TABS}
            if _has_new_results(before, model)
            else set()
        )
        for tab in sorted(changed_parts):
            self._rebuild_tab(tab)
        self._show_state()

    def show_progress(self, share: float) -> None:
        """Show the completed share of the analysis, from 0 to 1."""
        self._share = share
        self._show_state()

    def take_focus(self) -> None:
        """Focus the reflection form or the primary button."""
        if self._form is not None:
            self._form.setFocus()
        elif self._primary.isEnabled():
            self._primary.setFocus(Qt.FocusReason.OtherFocusReason)
        else:
            self.setFocus()

    @property
    def model(self) -> DebriefModel | None:
        """Shown run, or None."""
        return self._model

    # --- building -------------------------------------------------------------------------------------------

    def _build(self) -> None:
        self._built_narrow = self._is_narrow()
        self._form = None
        widget = QWidget()
        column = build_widget_column(
            parent=widget, margins=(PAGE_MARGIN_PX, 8, PAGE_MARGIN_PX, 10), spacing=10
        )
        self._make_buttons(widget)
        if self._model is not None and self._asks:
            self._form = ReflectionForm()
            self._form.answered.connect(self.reflected)
            column.addWidget(build_label(self._model.build_summary().title, 1.5, bold=True))
            column.addWidget(build_card(tr("Self-assessment, before you see your points"), self._form))
            column.addStretch()
        elif self._model is not None:
            self._fill_page(column, self._model)
        before = self.takeWidget()
        if before is not None:
            before.deleteLater()  # deleted later, because Qt may be sending a font change to these widgets
        self.setWidget(widget)
        if self._model is not None and not self._asks:
            self._show_verdict()
            self._show_state()

    def _make_buttons(self, parent: QWidget) -> None:
        """Create the buttons as children of *parent*. Without a parent, font changes would delete them."""
        self._retry = _build_button("", self._retry_mistake, parent)
        self._next_button = _build_button("", self.next_wanted.emit, parent)
        self._learn = _build_button("", self.learn_wanted.emit, parent, "L")
        self._learn.setProperty("link", "true")
        self._retry_here = _build_button(
            "", lambda: self.retry_wanted.emit(self._compute_retry_start_s(), ""), parent
        )
        self._primary: KeyButton = self._retry
        if self._model is None or self._asks:
            for button in (self._retry, self._next_button, self._learn, self._retry_here):
                button.hide()

    def _fill_page(self, column: QVBoxLayout, model: DebriefModel) -> None:
        column.addWidget(self._build_head(model))
        cards = QBoxLayout(
            QBoxLayout.Direction.TopToBottom if self._built_narrow else QBoxLayout.Direction.LeftToRight
        )
        cards.setSpacing(CARD_GAP_PX)
        self._score_card = build_score_card(model.build_summary(), self._built_narrow)
        self._card = VerdictCard((self._next_button, self._retry), self._learn)
        cards.addWidget(self._score_card)
        cards.addWidget(self._card, 1)
        column.addLayout(cards)
        column.addWidget(self._make_tabs(), 1)
        self._retry_here.setVisible(False)
        column.addWidget(self._retry_here, 0, Qt.AlignmentFlag.AlignLeft)

    def _build_head(self, model: DebriefModel) -> QWidget:
        head, summary = QWidget(), model.build_summary()
        row = build_row(parent=head, margins=0, spacing=10)
        title, facts = build_label(summary.title, 1.35, bold=True), build_muted_label(summary.facts)
        if self._built_narrow:
            names = build_widget_column(title, facts)
            row.addLayout(names, 1)
        else:
            title.setWordWrap(False)
            row.addWidget(title)
            row.addWidget(facts, 1)
        button = QPushButton(tr("More"))
        button.setMenu(self._build_menu(button, model))
        back_button = _build_button(tr("Back to the start page"), self.leave_wanted.emit, head, "Esc")
        row.addWidget(button)
        row.addWidget(back_button)
        return head

    def _build_menu(self, parent: QWidget, model: DebriefModel) -> QMenu:
        """Return the menu with less frequently used actions."""
        menu = QMenu(parent)
        reviewed, scored = model.scenario is not None, bool(model.report["score"]["scored"])
        for text, do, offered in (
            (tr("Retry from the start"), lambda: self.retry_wanted.emit(0.0, ""), model.can_retry),
            (tr("Play a variation"), self.new_seed_wanted.emit, model.can_retry and scored),
            (tr("Watch this run"), lambda: self.watch_wanted.emit(self._selected_s or 0.0), reviewed),
            (tr("Watch the reference solution"), self.solution_wanted.emit, model.has_solution),
            (tr("Branches"), self.branches_wanted.emit, reviewed),
            (tr("History"), self.history_wanted.emit, True),
        ):
            if offered:
                menu.addAction(text).triggered.connect(lambda _=False, do=do: do())
        return menu

    # --- the verdict and its buttons ------------------------------------------------------------------------

    def _show_verdict(self) -> None:
        model = self._model
        if model is None:
            return
        verdict = self._verdict = model.build_verdict()
        self._card.show_verdict(verdict, model)
        self._show_retry(verdict, model)
        self._next_button.setText(tr("Next: {title}").format(title=model.next_title))
        self._next_button.setVisible(bool(model.next_title))
        lessons = len(verdict.lessons) if verdict is not None else 0
        self._learn.setText(tr("Learn from your mistakes ({count})").format(count=lessons))
        self._learn.setVisible(bool(lessons) and model.can_retry)
        has_done_well = model.build_summary().passed_well and bool(model.next_title)
        self._choose_primary(self._next_button if has_done_well else self._retry)
        self._next_button.set_key("Enter" if has_done_well else "N")
        self._retry.set_key(
            "Enter"
            if not has_done_well
            else "V"
            if verdict is not None and verdict.retry_point is None
            else "R"
        )
        self._card.show_primary(self._primary)
        self._fit_buttons()

    def _show_retry(self, verdict: VerdictModel | None, model: DebriefModel) -> None:
        if verdict is not None and verdict.retry_point is not None:
            time_text = formatting.format_run_time(verdict.retry_point.begin_s)
            self._retry.setText(tr("Retry before this mistake, from {moment}").format(moment=time_text))
        elif verdict is None and model.is_analyzing and model.report["score"]["scored"]:
            self._retry.setText(tr("Retry before this mistake"))
        elif model.build_summary().passed_well and verdict is not None:
            self._retry.setText(tr("Play a variation"))
        else:
            self._retry.setText(tr("Retry from the start"))
        waits = verdict is None and model.is_analyzing and bool(model.report["score"]["scored"])
        self._retry.setEnabled(model.can_retry and not waits)
        self._retry.setVisible(model.can_retry)

    def _choose_primary(self, button: KeyButton) -> None:
        """Give *button* the accent color and the key Enter.

        Focus it unless the user moved the focus elsewhere.
        """
        self._primary = button
        for focusable in (self._retry, self._next_button):
            focusable.setProperty("primary", "true" if focusable is button else "false")
            focusable.style().unpolish(focusable)
            focusable.style().polish(focusable)
        if self.hasFocus() or self.focusWidget() in (self._retry, self._next_button):
            self.take_focus()

    def _retry_mistake(self) -> None:
        retry = self._verdict.retry_point if self._verdict is not None else None
        if (
            retry is None
            and self._verdict is not None
            and self._model
            and self._model.build_summary().passed_well
        ):
            self.new_seed_wanted.emit()
        elif retry is None:
            self.retry_wanted.emit(0.0, "")
        else:
            self.retry_wanted.emit(retry.begin_s, retry.notice)

    # --- tabs -----------------------------------------------------------------------------------------------

    def _make_tabs(self) -> QTabWidget:
        self._tabs = _DebriefTabs()
        self._tabs.setMinimumHeight(TABS_HEIGHT_MIN_LINES * self.fontMetrics().height())
        self._tabs.setUsesScrollButtons(True)
        self._state = QLabel()
        self._state.setProperty("muted", "true")
        self._state.setContentsMargins(8, 4, 12, 4)
        self._tabs.setCornerWidget(self._state)
        for text in TABS:
            self._tabs.addTab(QWidget(), tr(text))
        self._filled: set[int] = set()
        self._tabs.setCurrentIndex(self._tab)
        self._tabs.currentChanged.connect(self._open_tab)
        self._open_tab(self._tab)
        return self._tabs

    def _open_tab(self, tab: int) -> None:
        self._tab = tab
        if tab not in self._filled:
            self._filled.add(tab)
            self._show_tab(tab)

    def _rebuild_tab(self, tab: int) -> None:
        """Rebuild a tab that was opened before. Other tabs are built when they are opened."""
        if tab in self._filled:
            self._show_tab(tab)

    def _show_tab(self, tab: int) -> None:
        model, narrow, do = self._model, self._is_narrow(), self._actions
        if model is None:
            return
        makers: dict[int, Callable[[], Sequence[QWidget]]] = {
            SCORE: lambda: tabs.build_score_tab(model, do),
            TIMELINE: lambda: tabs.build_timeline_tab(model, do),
            POINTS: lambda: tabs.build_points_tab(model, do, narrow, self._asks_first),
            COMMANDS: lambda: tabs.build_commands_tab(model, do, narrow),
            OUTAGES: lambda: tabs.build_outages_tab(model, narrow),
            EVIDENCE: lambda: tabs.build_evidence_tab(model, narrow),
            EXPORT: lambda: tabs.build_export_tab(model, do),
        }
        page = self._tabs.widget(tab)
        scroll_position = page.verticalScrollBar().value() if isinstance(page, QScrollArea) else 0
        area = tabs.build_scroll_area(makers[tab]())
        current = self._tabs.currentIndex()
        self._tabs.blockSignals(True)
        self._tabs.removeTab(tab)
        self._tabs.insertTab(tab, area, tr(TABS[tab]))
        self._tabs.setCurrentIndex(current)
        self._tabs.blockSignals(False)
        if page is not None:
            page.deleteLater()
        if (
            (widget := area.widget()) is not None
            and (layout := widget.layout()) is not None
            and scroll_position
        ):
            layout.activate()
            area.verticalScrollBar().setValue(scroll_position)

    def _show_state(self) -> None:
        """Show the state of the analysis in the corner of the tabs."""
        model = self._model
        if model is None or self._asks:
            return
        text = ""
        if model.is_analyzing and model.regret_analysis is None:
            text = tr("Analyzing… {percent}")
        elif model.is_analyzing:
            text = tr("Still searching for better continuations… {percent}")
        elif model.regret_analysis is not None:
            text = tr("Analysis finished · accuracy {accuracy}%").format(
                accuracy=formatting.format_plain_number(round(model.regret_analysis.accuracy))
            )
        self._state.setText(text.format(percent=formatting.format_percent(self._share, 0)))

    # --- moments --------------------------------------------------------------------------------------------

    def _offer_retry(self, t_s: float) -> None:
        """Offer a retry that begins early enough to prepare for the time *t_s*."""
        self._selected_s = t_s
        if self._model is None or not self._model.can_retry:
            return
        begin_s = self._compute_retry_start_s()
        text = tr("Retry from {moment}, {left} before {at}") if begin_s < t_s else tr("Retry from {moment}")
        remaining_time, time_text = (
            formatting.format_seconds(t_s - begin_s, 0),
            formatting.format_run_time(t_s, 1),
        )
        self._retry_here.setText(
            text.format(left=remaining_time, at=time_text, moment=formatting.format_run_time(begin_s, 1))
        )
        self._retry_here.setVisible(True)
        self._retry_here.setFocus(Qt.FocusReason.OtherFocusReason)
        self.ensureWidgetVisible(self._retry_here)

    def _compute_retry_start_s(self) -> float:
        """Return the start time of the retry. If an event is selected, start early enough to prepare for it."""
        at_s = self._selected_s or 0.0
        if not any(abs(at_s - event_s) < TIME_TOLERANCE_S for event_s in self._list_event_times_s()):
            return at_s
        return counterfactual.find_retry_tick(round(at_s * TICKS_PER_S), None, self._journal) / TICKS_PER_S

    def _list_event_times_s(self) -> list[float]:
        """Return the times of all markers, score items, actions and waits, in seconds."""
        model = self._model
        if model is None:
            return []
        marker_times = [marker.t_s for marker in model.build_timeline().markers]
        marker_times += [t_s for item in model.report["score"]["items"] for t_s in item.get("at_s") or ()]
        moves = model.regret_analysis.moves if model.regret_analysis is not None else ()
        return marker_times + [move.tick / TICKS_PER_S for move in moves]

    # --- events ---------------------------------------------------------------------------------------------

    def _is_narrow(self) -> bool:
        """Return True if the page is too narrow for two columns."""
        return self.width() < NARROW_WIDTH_LINES * self.fontMetrics().height()

    def _fit_buttons(self) -> None:
        """Fit the buttons into the width next to the figures."""
        if self._model is None or self._asks:
            return
        room = self.viewport().width() - 2 * PAGE_MARGIN_PX
        if not self._built_narrow:
            self._score_card.ensurePolished()
            room -= self._score_card.sizeHint().width() + CARD_GAP_PX
        self._card.arrange_buttons(room)

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._is_narrow() != self._built_narrow:
            self._build()
        self._fit_buttons()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Handle single keys that no widget has handled. A focused button handles Enter itself."""
        key, is_unmodified = event.key(), not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if self._form is not None or not is_unmodified or not self._handle_key(Qt.Key(key)):
            super().keyPressEvent(event)

    def _handle_key(self, key: Qt.Key) -> bool:
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            focused = self.focusWidget()
            button = focused if isinstance(focused, QAbstractButton) else self._primary
            button.click()
            return True
        buttons = {Qt.Key.Key_N: self._next_button, Qt.Key.Key_L: self._learn, Qt.Key.Key_R: self._retry}
        if key in buttons:
            if not buttons[key].isHidden():
                buttons[key].click()
            return True
        if key == Qt.Key.Key_V and self._model is not None and self._model.can_retry:
            self.new_seed_wanted.emit()
            return True
        if key == Qt.Key.Key_Escape:
            self.leave_wanted.emit()
            return True
        return False


class _DebriefTabs(QTabWidget):
    """Tab widget that requests only a minimum height and fills the space below the cards."""

    def sizeHint(self) -> QSize:
        return QSize(super().sizeHint().width(), self.minimumHeight())


def _build_button(text: str, callback: Callable[[], object], parent: QWidget, key: str = "") -> KeyButton:
    button = KeyButton(text, key, parent)
    button.clicked.connect(lambda _=False: callback())
    return button


def _has_new_results(old_model: DebriefModel, new_model: DebriefModel) -> bool:
    return _get_analysis(old_model) != _get_analysis(new_model)


def _get_analysis(model: DebriefModel) -> tuple[object, ...]:
    """Return the parts of *model* that the analysis computes, to detect new results."""
    return model.review, model.regret_analysis, model.lessons, model.is_provisional, model.is_analyzing
