"""Tests of the page of finished runs alone: its columns at any width."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from PySide6.QtCore import QPoint, Qt

from app.views.history import TITLE_COLUMN, FinishedRunRow, RunHistoryPage
from app.widgets.tables import TableView
from tests.children import find_child

RUN = FinishedRunRow(
    1, datetime(2026, 11, 21, tzinfo=UTC), "The principal loses its power", "lab", None, 0.0, 0
)


def show_page(qtbot: Any) -> RunHistoryPage:
    page = RunHistoryPage()
    qtbot.addWidget(page)
    page.resize(900, 500)
    page.show()
    page.show_runs([RUN])
    return page


def test_enter_opens_a_run_after_a_click_on_empty_space(qtbot: Any) -> None:
    page = show_page(qtbot)
    table = find_child(page, TableView)
    viewport = table.viewport()
    empty = QPoint(viewport.width() // 2, viewport.height() - 2)
    qtbot.mouseClick(viewport, Qt.MouseButton.LeftButton, pos=empty)
    assert page.selected_runs == []
    with qtbot.waitSignal(page.open_wanted) as opened:
        qtbot.keyClick(table, Qt.Key.Key_Return)
    assert opened.args == [RUN.run_id]


def test_drill_titles_are_complete_at_any_width(qtbot: Any) -> None:
    page = show_page(qtbot)
    table = find_child(page, TableView)
    header, needed_width = table.horizontalHeader(), table.sizeHintForColumn(TITLE_COLUMN)
    modes = (header.ResizeMode.ResizeToContents, header.ResizeMode.Stretch)
    for width, mode in zip(
        (2 * needed_width, 20 * needed_width), modes, strict=True
    ):  # The first width is too narrow for all columns, the second is wide enough.
        page.setFixedWidth(width)
        qtbot.waitUntil(lambda mode=mode: header.sectionResizeMode(TITLE_COLUMN) is mode)
        assert table.columnWidth(TITLE_COLUMN) >= needed_width
