"""Buttons above the charts: time range, counters and export."""

from collections.abc import Collection
from typing import Final

from PySide6.QtCore import Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QButtonGroup, QMenu, QToolButton, QWidget

from app.widgets.bars import ButtonBar, attach_menu
from app.widgets.layouts import build_row
from app.words import formatting
from app.words.formatting import COPY_COUNTERS, COUNTERS, build_counter
from app.words.language import mark, tr

TIME_RANGE_LENGTHS: Final = (("2 min", 120.0), ("10 min", 600.0), ("1 h", 3600.0), (mark("All"), None))
"""Label and length in seconds of a time range. None means the whole run."""


class ChartToolbar(QWidget):
    """Toolbar of the charts. It only emits signals and does not access the charts.

    While a time range is selected, its length replaces the length buttons.
    """

    length_chosen = Signal(object)
    """Signal: length in seconds. None means the whole run."""
    current_time_wanted = Signal()
    """Signal: the user wants to leave the selected time range and see the current time again."""
    counters_chosen = Signal(list)
    """Signal: names of the checked counters."""
    export_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._spans = QButtonGroup(self)
        for number, (text, length_s) in enumerate(TIME_RANGE_LENGTHS):
            button = QToolButton()
            button.setCheckable(True)
            button.setText(tr(text) if length_s is None else text)
            message = tr("Show all") if length_s is None else tr("Show the last {time}").format(time=text)
            button.setToolTip(message)
            self._spans.addButton(button, number)
        self._spans.button(0).setChecked(True)
        self._spans.idClicked.connect(lambda number: self.length_chosen.emit(TIME_RANGE_LENGTHS[number][1]))
        self._all = QToolButton()
        self._all.setToolTip(tr("Show the whole timeline in every view (Esc)"))
        self._all.clicked.connect(self.current_time_wanted)
        self._all.hide()
        self._counter_menu = QMenu(self, toolTipsVisible=True)
        self._counter_menu.setObjectName("counters")
        for counter_choice in COUNTERS.values():
            action = self._counter_menu.addAction("")
            action.setToolTip(tr(counter_choice.help))
            action.setCheckable(True)
            action.setData(counter_choice.name)
            action.triggered.connect(self._choose_counters)
        choose = QAction(tr("Counters ▾"), self)
        choose.setMenu(self._counter_menu)
        save = QAction(tr("Save…"), self)
        save.setIconText(save.text())  # Qt removes the ellipsis from the default icon text
        save.setToolTip(tr("Save the charts as a picture (PNG, SVG) or as values (CSV)"))
        save.triggered.connect(self.export_wanted)
        tools = ButtonBar(tr("Charts"))  # in a narrow dock, the buttons move into a menu
        tools.add_actions((choose, save))
        opener = tools.widgetForAction(choose)
        assert isinstance(opener, QToolButton)
        attach_menu(self._counter_menu, opener)
        build_row(*self._spans.buttons(), self._all, 1, tools, parent=self, margins=0, spacing=0)

    def set_counter_names(self, for_groups: bool) -> None:
        """Name counters after primary and secondary if *for_groups*, otherwise after principal and mirror."""
        for action in self._counter_menu.actions():
            counter_name = build_counter(action.data(), for_groups)
            action.setText(
                f"{tr(counter_name.title)} ({counter_name.unit.name})"
                if counter_name.unit.name
                else tr(counter_name.title)
            )

    def show_copy_counters(self, has_copies: bool) -> None:
        """Offer the counters of copies only if a database can have a second copy."""
        for action in self._counter_menu.actions():
            action.setVisible(has_copies or action.data() not in COPY_COUNTERS)

    def check_counters(self, names: Collection[str]) -> None:
        """Check the counters *names* in the menu."""
        for action in self._counter_menu.actions():
            action.setChecked(action.data() in names)

    def check_length_button(self, span_s: float | None) -> None:
        """Check the button of the length *span_s*."""
        self._spans.button([length for _, length in TIME_RANGE_LENGTHS].index(span_s)).setChecked(True)

    def show_span(self, span: tuple[float, float] | None) -> None:
        """Show the selected time range in place of the length buttons, which saves width.

        None restores the buttons.
        """
        self._all.setVisible(span is not None)
        for button in self._spans.buttons():
            button.setVisible(span is None)
        if span is not None:
            self._all.setText(
                f"{formatting.format_run_time(span[0], 1)} – {formatting.format_run_time(span[1], 1)}  ✕"
            )

    def _choose_counters(self) -> None:
        self.counters_chosen.emit(
            [action.data() for action in self._counter_menu.actions() if action.isChecked()]
        )
