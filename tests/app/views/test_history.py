"""The page of finished runs alone: its columns at any width."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from app.views.history import TITLE, FinishedRun, RunHistoryPage
from app.widgets.tables import TableView
from tests.children import child


def test_drill_titles_are_complete_at_any_width(qtbot: Any) -> None:
    page = RunHistoryPage()
    qtbot.addWidget(page)
    page.resize(900, 500)
    page.show()
    page.show_runs(
        [
            FinishedRun(
                1, datetime(2026, 11, 21, tzinfo=UTC), "The principal loses its power", "lab", None, 0.0, 0
            )
        ]
    )
    table = child(page, TableView)
    header, needed_width = table.horizontalHeader(), table.sizeHintForColumn(TITLE)
    modes = (header.ResizeMode.ResizeToContents, header.ResizeMode.Stretch)
    for width, mode in zip(
        (2 * needed_width, 20 * needed_width), modes, strict=True
    ):  # too narrow for all columns; wide enough
        page.setFixedWidth(width)
        qtbot.waitUntil(lambda mode=mode: header.sectionResizeMode(TITLE) is mode)
        assert table.columnWidth(TITLE) >= needed_width
