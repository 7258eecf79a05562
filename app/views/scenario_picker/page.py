"""Start page: continue a run, recommended drill, learning paths, and all drills below a filter bar."""

from collections.abc import Sequence
from functools import partial
from typing import Final

from msgspec.structs import replace
from PySide6.QtCore import QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QActionGroup, QIcon, QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import QLabel, QLineEdit, QMenu, QPushButton, QSizePolicy, QToolButton, QWidget

from app.files import drill_difficulty
from app.files.learning_paths import load_learning_paths
from app.files.scenario_summary import DIFFICULTY_LEVELS
from app.view_models.start_page import (
    CARD_ORDERS,
    DURATION_CHOICES,
    DrillCard,
    DrillFilters,
    InterruptedRun,
    NextDrill,
    filter_cards,
    get_level_title,
    has_all_words,
    list_path_progress,
    list_versions,
)
from app.views.scenario_picker.card_grid import CardGrid
from app.views.scenario_picker.path_buttons import PathButtons
from app.views.scenario_picker.top_cards import TopCards
from app.widgets import keys, theme
from app.widgets.flow_layout import FlowLayout
from app.widgets.layouts import EmptySpace, build_row, build_widget_column
from app.widgets.screen_reader import announce_text, close_menu_after_use
from app.widgets.scroll_container import ScrollContainer
from app.words.language import mark, tr, trn
from engine.overrides import override


class FilterBar(QWidget):
    """Bar of filters for the drills. It emits the filters when one of them changes."""

    filters_changed = Signal(object)
    """Signal: the new `DrillFilters`."""

    def __init__(self) -> None:
        super().__init__()
        self.filters = DrillFilters()
        self.title = QLabel(tr("Drills"))
        self.technology = FilterButton(tr("Technology"), tr("Any technology"))
        self.version = FilterButton(tr("Version"), tr("Any version"))
        self.duration = FilterButton(tr("Duration"), tr("Any duration"))
        self.level = FilterButton(tr("Difficulty"), tr("Any difficulty"))
        self.technology.set_values([(tr(path.title), key) for key, path in load_learning_paths().items()])
        self.duration.set_values([(tr(title), index) for index, (title, *_) in enumerate(DURATION_CHOICES)])
        self.level.set_values([(get_level_title(level), level) for level in DIFFICULTY_LEVELS])
        self.not_passed = QToolButton()
        self.not_passed.setText(tr("Not passed yet"))
        self.not_passed.setCheckable(True)
        self.clear = QToolButton()
        self.clear.setText(tr("Clear filters"))
        self.count = QLabel()
        self.count.setProperty("muted", "true")
        self.order = FilterButton("", "")
        self.order.set_values([(tr(title), index) for index, (title, _) in enumerate(CARD_ORDERS)])
        self.order.setAccessibleName(tr("Order of the drills"))
        for field in ("technology", "version", "duration", "level", "order"):
            choice: FilterButton = getattr(self, field)
            choice.value_chosen.connect(
                lambda value, field=field: self.set_filters(replace(self.filters, **{field: value}))
            )
        self.not_passed.clicked.connect(
            lambda checked: self.set_filters(replace(self.filters, not_passed=checked))
        )
        self.clear.clicked.connect(lambda: self.set_filters(DrillFilters(order=self.filters.order)))
        chips = QWidget()
        row = FlowLayout(6, chips)
        for widget in (self.technology, self.version, self.duration, self.level, self.not_passed, self.clear):
            widget.setProperty("chip", "true")
            row.addWidget(widget)
        self.order.setProperty("chip", "true")
        layout = build_row(parent=self, margins=0, spacing=10)
        for label in (self.title, self.count):
            label.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Preferred)
        layout.addWidget(self.title)
        layout.addWidget(chips, 1)
        layout.addWidget(self.count)
        layout.addWidget(self.order)
        self.show_filters()

    def set_filters(self, filters: DrillFilters) -> None:
        """Set the filters and emit them."""
        self.filters = filters
        self.show_filters()
        self.filters_changed.emit(filters)

    def show_filters(self) -> None:
        """Update the controls from the current filters."""
        filters = self.filters
        for field in ("technology", "version", "duration", "level", "order"):
            getattr(self, field).show_value(getattr(filters, field))
        self.order.setHidden(bool(filters.search))  # a search has its own order, best matches first
        self.not_passed.setChecked(filters.not_passed)
        self.clear.setVisible(replace(filters, order=0, search="") != DrillFilters())

    def show_count(self, listed: int, total: int) -> None:
        """Show the number of listed drills and the total."""
        words = trn("{n} drill", "{n} drills", total).format(n=total)
        if not total:
            words = ""
        elif listed != total:
            words = tr("{n} of {of}").format(n=listed, of=total)
        if words != self.count.text():
            self.count.setText(words)
            announce_text(self.count, words)

    def update_fonts(self) -> None:
        """Adapt the title to the current text size."""
        self.title.setFont(theme.resize_font(self.font(), 1.12, bold=True))


class FilterButton(QToolButton):
    """Button with a menu of exclusive values for one filter."""

    value_chosen = Signal(object)

    def __init__(self, title: str, any_value_text: str) -> None:
        super().__init__()
        self._title, self._any_value_text = title, any_value_text
        self._titles: dict[object, str] = {}
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._menu = QMenu(self)
        close_menu_after_use(self._menu)
        self.setMenu(self._menu)
        self._group = QActionGroup(self._menu)

    def set_values(self, values: Sequence[tuple[str, object]]) -> None:
        """Set the titles and values of the menu. The first entry accepts any value."""
        entries = ([(self._any_value_text, None)] if self._any_value_text else []) + list(values)
        if {value: title for title, value in entries} == self._titles:
            return
        self._menu.clear()
        self._titles = {value: title for title, value in entries}
        for title, value in entries:
            action = self._menu.addAction(title)
            action.setCheckable(True)
            action.setData(value)
            self._group.addAction(action)
            action.triggered.connect(lambda _=False, value=value: self.value_chosen.emit(value))

    def show_value(self, value: object) -> None:
        """Show *value* on the button and check it in the menu."""
        words = self._titles.get(value, "")
        self.setText(f"{words if value is not None else self._title} ▾")
        if self._title:
            self.setAccessibleName(f"{self._title}: {words}")
        self.setProperty("on", "true" if self._title and value is not None else "false")
        self.style().unpolish(self)
        self.style().polish(self)
        for action in self._menu.actions():
            action.setChecked(action.data() == value)


SEARCH_KEY: Final = "Ctrl+K"
NO_MATCH_TEXT: Final = mark("No matching drills. Clear the search and the filters.")
PARTIAL_MATCH_TEXT: Final = mark("No drill contains all search words. These contain most of them:")


class StartPageView(QWidget):
    """Start page to choose a drill or to continue a run."""

    drill_chosen = Signal(str)
    """Signal: name of the drill whose brief the user wants to see."""
    edit_wanted = Signal(str)
    """Signal: name of the scenario to edit. If it is not the user's own scenario, a copy is edited."""
    resume_wanted = Signal(int)
    give_up_wanted = Signal(int)
    introduction_wanted = Signal()
    """Signal: the user wants to start the first run, a guided tour."""
    history_wanted = Signal()
    progress_wanted = Signal()
    file_wanted = Signal()
    generated_drill_wanted = Signal(str)
    """Signal: difficulty of the drill to generate, one of `drill_difficulty.GENERATED_DRILL_LEVELS`."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._cards: list[DrillCard] = []
        self._heading = QLabel("Mirrordrill")
        self._problem = QLabel(textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        self._problem.setObjectName("problem")
        self._problem.hide()
        self.search = QLineEdit()
        self.search.setAccessibleName(tr("Search drills"))
        self.search.setClearButtonEnabled(True)
        self._glass = self.search.addAction(QIcon(), QLineEdit.ActionPosition.LeadingPosition)
        self._glass.setText(tr("Search drills"))
        self._glass.triggered.connect(self._focus_search)
        self.search.textChanged.connect(self._search)
        self.search.returnPressed.connect(self._select_first_match)
        focus = QShortcut(QKeySequence(SEARCH_KEY), self)
        focus.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        focus.activated.connect(self._focus_search)
        self.top = TopCards()
        self.top.open_wanted.connect(self.drill_chosen)
        self.top.resume_wanted.connect(self.resume_wanted)
        self.top.give_up_wanted.connect(self.give_up_wanted)
        self.top.watch_wanted.connect(self.introduction_wanted)
        self._paths_title, self._passed = QLabel(tr("Learning paths")), QLabel()
        self._passed.setProperty("muted", "true")
        self.paths = PathButtons()
        self.paths.path_chosen.connect(self._choose_path)
        self._filters = FilterBar()
        self._filters.filters_changed.connect(lambda _: self._show_drills())
        self.grid = CardGrid()
        self.grid.open_wanted.connect(self.drill_chosen)
        self.grid.edit_wanted.connect(self.edit_wanted)
        self.grid.currentItemChanged.connect(self._schedule_scrolling)
        self._empty_label = QLabel(tr(NO_MATCH_TEXT))
        self._empty_label.setObjectName("empty")
        self._empty_label.setProperty("muted", "true")
        self._empty_label.hide()
        self._area = ScrollContainer()
        self._follow = QTimer(self, singleShot=True, interval=0)
        self._follow.timeout.connect(self._scroll_to_current)
        self._lay_out()
        self._show_font()
        theme.call_after_events(self, theme.FONT_EVENTS, self._show_font)
        theme.call_after_events(self, theme.PALETTE_EVENTS, self._show_colors)
        self._show_colors()
        theme.call_after_events(self, theme.SHOW_EVENTS, self._show_font)

    def _lay_out(self) -> None:
        head = build_row(self._heading, EmptySpace(10), (self.search, 1), spacing=10)
        for button in self._make_buttons():
            head.addWidget(button)
        widget = QWidget()
        column = build_widget_column(
            self._problem, self.top, parent=widget, margins=(24, 0, 24, 16), spacing=10
        )
        self._column = column
        self._area.verticalScrollBar().rangeChanged.connect(self._align_right_margin)
        titles = build_row((self._paths_title, 1), self._passed)
        column.addLayout(titles)
        column.addWidget(self.paths)
        column.addSpacing(2)
        column.addWidget(self._filters)
        column.addWidget(self._empty_label)
        column.addWidget(self.grid)
        column.addStretch()
        self._area.set_content(widget)
        head.setContentsMargins(24, 0, 24, 0)
        build_widget_column(head, (self._area, 1), parent=self, margins=(0, 12, 0, 0), spacing=10)

    def _align_right_margin(self, _: int, maximum: int) -> None:
        """Align the right edges of content and head. If *maximum* is positive, a scroll bar is visible."""
        bar = self._area.verticalScrollBar().sizeHint().width() if maximum > 0 else 0
        self._column.setContentsMargins(24, 0, 24 - bar, 16)

    def _make_buttons(self) -> list[QPushButton]:
        """Build the buttons to the right of the search field."""
        texts = (tr("New drill"), tr("Progress"), tr("History"))
        new_drill, progress, history = (QPushButton(text) for text in texts)
        menu = QMenu(self)
        for level in drill_difficulty.GENERATED_DRILL_LEVELS:
            words = tr("Generate: {difficulty}").format(difficulty=get_level_title(level))
            menu.addAction(words, partial(self.generated_drill_wanted.emit, level))
        menu.addSeparator()
        menu.addAction(tr("Open a file…"), self.file_wanted.emit)
        new_drill.setToolTip(tr("Generate a random, solvable drill, or open one from a file"))
        new_drill.setMenu(menu)
        progress.clicked.connect(self.progress_wanted)
        history.clicked.connect(self.history_wanted)
        return [new_drill, progress, history]

    # --- contents -------------------------------------------------------------------------------------------

    def show_cards(self, cards: Sequence[DrillCard], problems: Sequence[str] = ()) -> None:
        """Show the drills of *cards*, and the *problems* of files that cannot be used."""
        self._cards = list(cards)
        self._problem.setText("\n".join(problems))
        self._problem.setVisible(bool(problems))
        self._show_placeholder()
        self._filters.version.set_values(
            [(f"SQL Server {version}", version) for version in list_versions(cards)]
        )
        scored = [card for card in cards if card.scored]
        passed = trn("{passed} of {n} drill passed", "{passed} of {n} drills passed", len(scored))
        words = passed.format(passed=sum(card.is_passed for card in scored), n=len(scored))
        self._passed.setText(words if scored else "")
        self._show_drills()

    def _show_placeholder(self) -> None:
        """Show the longest version of the search hint that fits."""
        count = len(self._cards)
        short = (
            trn("Search {n} drill", "Search {n} drills", count).format(n=count)
            if count
            else tr("Search drills")
        )
        placeholder = tr("symptom, error number, view or command")
        full_text = f"{short}: {placeholder}"
        room = self.search.width() - 2 * self.search.fontMetrics().height()
        key = keys.format_native_keys(SEARCH_KEY)
        texts = (f"{full_text}  ({key})", full_text, f"{short}  ({key})", short, tr("Search"))
        width = self.search.fontMetrics().horizontalAdvance
        self.search.setPlaceholderText(next((text for text in texts if width(text) <= room), ""))
        self.search.setToolTip(texts[0])

    def show_recommendation(self, recommendation: NextDrill | None, is_new_user: bool = False) -> None:
        """Show the recommended drill. Offer the first run if *is_new_user*."""
        self.top.show_recommendation(recommendation, is_new_user)
        self._show_drills()
        if recommendation is not None and self.grid.get_current_card() is None:
            self.grid.select_drill(recommendation.card.name)

    def show_interrupted(self, runs: Sequence[InterruptedRun]) -> None:
        """Offer interrupted runs, newest first."""
        self.top.show_interrupted(runs)

    def get_current_card(self) -> DrillCard | None:
        """Return the card of the selected drill, or None."""
        return self.grid.get_current_card()

    def select_drill(self, name: str) -> None:
        """Select the drill *name*. Clear filters that hide it."""
        if not self.grid.select_drill(name) and any(card.name == name for card in self._cards):
            self.search.clear()
            self._filters.set_filters(DrillFilters())
            self.grid.select_drill(name)

    def take_focus(self) -> None:
        """Focus the primary button, unless the user is typing a search."""
        if self.search.hasFocus() and self.search.text():
            return
        button = self.top.find_first_button()
        (button if button is not None else self.grid).setFocus()

    # --- filters --------------------------------------------------------------------------------------------

    @property
    def filters(self) -> DrillFilters:
        """Current filters."""
        return self._filters.filters

    def _search(self, text: str) -> None:
        for part in (self.top, self._paths_title, self._passed, self.paths):
            part.setHidden(
                bool(text)
            )  # without these parts, the matches have the same position for each search
        self._filters.set_filters(self._add_search(text))
        self._follow.start()

    def _add_search(self, text: str) -> DrillFilters:
        return replace(self.filters, search=text)

    def _choose_path(self, key: str) -> None:
        self._filters.set_filters(replace(self.filters, technology=key or None))

    def _show_drills(self) -> None:
        filters = self.filters
        # The Clear button removed the search text from the filters, but not from the search field. Restore
        # it.
        if filters.search != self.search.text():
            filters = self._filters.filters = self._add_search(self.search.text())
        cards = filter_cards(self._cards, filters)
        recommendation = self.top.recommendation
        self.paths.show_paths(list_path_progress(self._cards), filters.technology)
        self.grid.show_cards(cards, recommendation.card.name if recommendation is not None else "")
        partial_match = bool(cards) and not has_all_words(cards[0], filters.search)
        self._empty_label.setText(tr(PARTIAL_MATCH_TEXT if partial_match else NO_MATCH_TEXT))
        self._empty_label.setVisible(bool(self._cards) and (partial_match or not cards))
        self._filters.show_count(len(cards), len(self._cards))

    def _focus_search(self) -> None:
        self.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.search.selectAll()

    def _select_first_match(self) -> None:
        """Select the first match and focus the drills."""
        first_item = self.grid.item(0)
        if first_item is not None:
            if self.grid.get_current_card() is None or self.search.text():
                self.grid.setCurrentItem(first_item)
            self.grid.setFocus()

    def _schedule_scrolling(self) -> None:
        self._follow.start()

    def _scroll_to_current(self) -> None:
        """Scroll to the selected card if the grid has the focus, and to the top during a search."""
        if self.search.hasFocus():
            self._area.verticalScrollBar().setValue(0)
        elif self.grid.hasFocus():
            box, widget = self.grid.get_card_rect(), self._area.widget()
            if widget is not None and box.isValid():
                corner = self.grid.mapTo(widget, QPoint(0, 0))
                for point in (box.bottomRight() + corner, box.topLeft() + corner):
                    self._area.ensureVisible(point.x(), point.y(), 0, 12)

    # --- appearance -----------------------------------------------------------------------------------------

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._follow.start()
        self._show_placeholder()

    def _show_colors(self) -> None:
        colors = theme.get_theme_tokens(self.palette())
        self._glass.setIcon(theme.load_icon("find", colors, colors.muted))

    def _show_font(self) -> None:
        self._heading.setFont(theme.resize_font(self.font(), 1.6, bold=True))
        self._paths_title.setFont(theme.resize_font(self.font(), 1.12, bold=True))
        self._filters.update_fonts()
        self.top.update_fonts()
        self._show_placeholder()
