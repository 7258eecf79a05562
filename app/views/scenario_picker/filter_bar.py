"""One row of filters above the drills: technology, version, duration, difficulty, not passed, and the order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import Signal
from PySide6.QtGui import QActionGroup
from PySide6.QtWidgets import QHBoxLayout, QLabel, QMenu, QSizePolicy, QToolButton, QWidget

from app.files.learning_paths import learning_paths
from app.files.summary import LEVELS
from app.view_models.drill_cards import ORDERS, level_title
from app.view_models.start_page import DURATIONS, Filters
from app.widgets import theme
from app.widgets.flow import FlowLayout
from app.widgets.reader import announce, close_when_chosen
from app.words.language import tr, trn


class FilterBar(QWidget):
    """Emits the filters when one is changed."""

    changed = Signal(object)
    """The new `Filters`."""

    def __init__(self) -> None:
        super().__init__()
        self.filters = Filters()
        self.title = QLabel(tr("Drills"))
        self.technology = Choice(tr("Technology"), tr("Any technology"))
        self.version = Choice(tr("Version"), tr("Any version"))
        self.duration = Choice(tr("Duration"), tr("Any duration"))
        self.level = Choice(tr("Difficulty"), tr("Any difficulty"))
        self.technology.offer([(tr(path.title), key) for key, path in learning_paths().items()])
        self.duration.offer([(tr(title), place) for place, (title, *_) in enumerate(DURATIONS)])
        self.level.offer([(level_title(level), level) for level in LEVELS])
        self.not_passed = QToolButton()
        self.not_passed.setText(tr("Not passed yet"))
        self.not_passed.setCheckable(True)
        self.clear = QToolButton()
        self.clear.setText(tr("Clear filters"))
        self.count = QLabel()
        self.count.setProperty("muted", "true")
        self.order = Choice("", "")
        self.order.offer([(tr(title), place) for place, (title, _) in enumerate(ORDERS)])
        self.order.setAccessibleName(tr("Order of the drills"))
        for field in ("technology", "version", "duration", "level", "order"):
            choice: Choice = getattr(self, field)
            choice.chosen.connect(
                lambda value, field=field: self.set_filters(replace(self.filters, **{field: value}))
            )
        self.not_passed.clicked.connect(
            lambda checked: self.set_filters(replace(self.filters, not_passed=checked))
        )
        self.clear.clicked.connect(lambda: self.set_filters(Filters(order=self.filters.order)))
        chips = QWidget()
        row = FlowLayout(6, chips)
        for widget in (self.technology, self.version, self.duration, self.level, self.not_passed, self.clear):
            widget.setProperty("chip", "true")
            row.addWidget(widget)
        self.order.setProperty("chip", "true")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(10)
        for label in (self.title, self.count):
            label.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Preferred)
        layout.addWidget(self.title)
        layout.addWidget(chips, 1)
        layout.addWidget(self.count)
        layout.addWidget(self.order)
        self.show_filters()

    def set_filters(self, filters: Filters) -> None:
        """Select these filters and notify the page."""
        self.filters = filters
        self.show_filters()
        self.changed.emit(filters)

    def show_filters(self) -> None:
        """Show the current filters."""
        chosen = self.filters
        for field in ("technology", "version", "duration", "level", "order"):
            getattr(self, field).show_value(getattr(chosen, field))
        self.not_passed.setChecked(chosen.not_passed)
        self.clear.setVisible(replace(chosen, order=0, search="") != Filters())

    def show_count(self, listed: int, total: int) -> None:
        """Show how many drills are listed."""
        words = trn("{n} drill", "{n} drills", total).format(n=total)
        if not total:
            words = ""
        elif listed != total:
            words = tr("{n} of {of}").format(n=listed, of=total)
        if words != self.count.text():
            self.count.setText(words)
            announce(self.count, words)

    def show_font(self) -> None:
        """Follow the size of the text."""
        self.title.setFont(theme.sized(self.font(), 1.12, bold=True))


class Choice(QToolButton):
    """A chip with a menu of exclusive values."""

    chosen = Signal(object)

    def __init__(self, title: str, anything: str) -> None:
        super().__init__()
        self._title, self._anything = title, anything
        self._titles: dict[object, str] = {}
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._menu = QMenu(self)
        close_when_chosen(self._menu)
        self.setMenu(self._menu)
        self._group = QActionGroup(self._menu)

    def offer(self, values: Sequence[tuple[str, object]]) -> None:
        """Add these titles and values to the menu, after the entry that accepts anything."""
        every = ([(self._anything, None)] if self._anything else []) + list(values)
        if {value: title for title, value in every} == self._titles:
            return
        self._menu.clear()
        self._titles = {value: title for title, value in every}
        for title, value in every:
            action = self._menu.addAction(title)
            action.setCheckable(True)
            action.setData(value)
            self._group.addAction(action)
            action.triggered.connect(lambda _=False, value=value: self.chosen.emit(value))

    def show_value(self, value: object) -> None:
        """Show the chosen value."""
        words = self._titles.get(value, "")
        self.setText(f"{words if value is not None else self._title} ▾")
        if self._title:
            self.setAccessibleName(f"{self._title}: {words}")
        self.setProperty("on", "true" if self._title and value is not None else "false")
        self.style().unpolish(self)
        self.style().polish(self)
        for action in self._menu.actions():
            action.setChecked(action.data() == value)
