"""Tests of the common table view: appended rows, filters, and copying with real keys."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtGui import QFocusEvent, QGuiApplication
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QApplication, QLineEdit, QVBoxLayout, QWidget

from app.widgets import theme
from app.widgets.tables import TableColumn, TableModel, TableView
from app.words import language

COLUMNS: tuple[TableColumn[Any], ...] = (
    TableColumn(title="name", text=lambda row: row[0], color_name=lambda row: "bad" if row[1] > 9 else None),
    TableColumn(title="value", text=lambda row: str(row[1]), is_number=True),
)


def list_cells(model: TableModel) -> list[Any]:
    return [model.index(row, 0).data() for row in range(model.rowCount())]


def test_rows_are_added_under_a_filter(qtbot: Any) -> None:
    model = TableModel(COLUMNS)
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    model.replace_rows([("a", 1), ("b", 20)])
    model.filter_rows(lambda row: row[1] > 9)
    assert list_cells(model) == ["b"]
    inserted: list[tuple[int, int]] = []
    model.rowsInserted.connect(lambda parent, first, last: inserted.append((first, last)))
    model.append_rows([("c", 2), ("d", 30), ("e", 40)])
    assert list_cells(model) == ["b", "d", "e"]
    assert inserted == [(1, 2)]
    assert model.total == 5
    model.filter_rows(None)
    assert list_cells(model) == ["a", "b", "c", "d", "e"]
    assert tester.model() is model


def test_an_update_of_equal_length_keeps_the_selection(qtbot: Any) -> None:
    model = TableModel(COLUMNS)
    view = TableView(model, "values")
    qtbot.addWidget(view)
    model.replace_rows([("a", 1), ("b", 2)])
    view.selectRow(1)
    model.update_rows([("a", 1), ("b", 3)])
    assert model.index(1, 1).data() == "3"
    assert [index.row() for index in view.selectionModel().selectedRows()] == [1]
    model.update_rows([("a", 1)])
    assert list_cells(model) == ["a"]


def test_the_row_color_follows_the_theme(qtbot: Any) -> None:
    model = TableModel(COLUMNS)
    view = TableView(model, "values")
    qtbot.addWidget(view)
    model.replace_rows([("a", 1), ("b", 20)])
    view.setPalette(theme.build_palette(theme.build_dark_theme()))
    assert model.index(1, 0).data(Qt.ItemDataRole.ForegroundRole) == theme.build_dark_theme().bad
    assert model.index(0, 0).data(Qt.ItemDataRole.ForegroundRole) is None
    view.setPalette(theme.build_palette(theme.build_light_theme()))
    assert model.index(1, 0).data(Qt.ItemDataRole.ForegroundRole) == theme.build_light_theme().bad


@pytest.mark.parametrize(
    ("key", "modifiers", "text"),
    [
        (Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier, "a\t1\nb\t20"),
        (Qt.Key.Key_Insert, Qt.KeyboardModifier.ControlModifier, "a\t1\nb\t20"),
        (
            Qt.Key.Key_C,
            Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier,
            "name\tvalue\na\t1\nb\t20",
        ),
    ],
)
def test_keys_copy_rows(qtbot: Any, key: Qt.Key, modifiers: Qt.KeyboardModifier, text: str) -> None:
    model = TableModel(COLUMNS)
    view = TableView(model, "values")
    qtbot.addWidget(view)
    model.replace_rows([("a", 1), ("b", 20)])
    with qtbot.waitActive(view):
        view.show()
        view.activateWindow()
    view.setFocus()
    QGuiApplication.clipboard().setText("before")
    qtbot.keyClick(view, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClick(view, key, modifiers)
    assert QGuiApplication.clipboard().text() == text


def test_copied_scattered_cells_keep_their_positions(qtbot: Any) -> None:
    model = TableModel(COLUMNS)
    view = TableView(model, "values")
    qtbot.addWidget(view)
    view.show_as_grid()
    model.replace_rows([("a", 1), ("b", 2)])
    selection = view.selectionModel()
    for row, column in ((0, 0), (1, 1)):
        selection.select(model.index(row, column), selection.SelectionFlag.Select)
    view.copy_selection()
    assert QGuiApplication.clipboard().text() == "a\t\n\t2"


def test_tab_leaves_the_table(qtbot: Any) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    model = TableModel(COLUMNS)
    model.replace_rows([("a", 1)])
    view, next_field = TableView(model, "values"), QLineEdit()
    layout = QVBoxLayout(window)
    layout.addWidget(view)
    layout.addWidget(next_field)
    window.show()
    window.activateWindow()
    view.setFocus()
    qtbot.keyClick(view, Qt.Key.Key_Tab)
    assert window.focusWidget() is next_field


def test_only_a_view_at_the_end_follows_new_rows(qtbot: Any) -> None:
    model = TableModel(COLUMNS)
    view = TableView(model, "values")
    qtbot.addWidget(view)
    view.resize(200, 120)
    view.show()
    model.append_rows([(str(n), n) for n in range(50)])
    bar = view.verticalScrollBar()
    assert bar.value() == bar.maximum() > 0
    view.scrollTo(model.index(10, 0))
    scroll_value = bar.value()
    model.append_rows([("late", 1)])
    assert bar.value() == scroll_value
    assert model.rowCount(QModelIndex()) == 51


def test_a_tooltip_never_interprets_foreign_html() -> None:
    column = TableColumn(title="a", text=lambda row: "x", tip=lambda row: row)
    model = TableModel([column])
    model.replace_rows(["<img src='file:///etc/hostname'>", "1 & 2"])
    tips = [str(model.data(model.index(row, 0), Qt.ItemDataRole.ToolTipRole)) for row in (0, 1)]
    assert "<img" not in tips[0]
    assert "&lt;img" in tips[0]
    assert tips[1] == "1 & 2"


def build_table(qtbot: Any, *rows: tuple[str, int]) -> TableView:
    view = TableView(TableModel(COLUMNS), "values")
    qtbot.addWidget(view)
    view.resize(300, 120)
    view.table.replace_rows(rows)
    view.show()
    focus_by_tab(view)
    return view


def focus_by_tab(view: TableView) -> None:
    QApplication.sendEvent(view, QFocusEvent(QFocusEvent.Type.FocusIn, Qt.FocusReason.TabFocusReason))


@pytest.mark.parametrize("key", [Qt.Key.Key_Down, Qt.Key.Key_Up])
def test_an_arrow_key_selects_the_only_row(qtbot: Any, key: Qt.Key) -> None:
    view = build_table(qtbot, ("a", 1))
    qtbot.keyClick(view, key)
    assert [index.row() for index in view.selectionModel().selectedRows()] == [0]


def test_with_several_rows_an_arrow_key_selects_the_next(qtbot: Any) -> None:
    view = build_table(qtbot, ("a", 1), ("b", 2), ("c", 3))
    qtbot.keyClick(view, Qt.Key.Key_Down)
    assert [index.row() for index in view.selectionModel().selectedRows()] == [1]


def test_a_list_at_its_end_stays_there_on_focus(qtbot: Any) -> None:
    view = build_table(qtbot, *((f"row {n}", n) for n in range(50)))
    view.setCurrentIndex(QModelIndex())
    view.scrollToBottom()
    end = view.verticalScrollBar().value()
    focus_by_tab(view)
    assert view.currentIndex().row() == 49
    assert view.verticalScrollBar().value() == end


def test_an_empty_table_shows_the_reason(qtbot: Any) -> None:
    view = build_table(qtbot)
    blank = view.viewport().grab().toImage()
    view.set_empty_text("Nothing has happened yet.")
    assert view.accessibleDescription() == "Nothing has happened yet."
    assert view.viewport().grab().toImage() != blank
    view.table.append_rows([("a", 1)])
    assert view.accessibleDescription() == ""


def test_a_column_fits_its_longest_sample_in_the_current_language(qtbot: Any) -> None:
    samples = ("Log used", "Evict")  # In German the second title is longer.
    language.use_language(language.GERMAN)
    try:
        view = TableView(
            TableModel([TableColumn(title="X", is_name=True, text=str, sample="\n".join(samples))]),
            "X",
        )
        longest = max((language.tr(words) for words in samples), key=view.fontMetrics().horizontalAdvance)
    finally:
        language.use_language(language.ENGLISH)
    qtbot.addWidget(view)
    assert longest == "Aus dem Cluster entfernen"
    assert view.columnWidth(0) > view.fontMetrics().horizontalAdvance(longest)


def test_row_heights_follow_the_text_size(qtbot: Any) -> None:
    model = TableModel(COLUMNS)
    model.replace_rows([("a", 1), ("b", 2)])
    view = TableView(model, "Values")
    qtbot.addWidget(view)
    before = view.rowHeight(0)
    for scale in (2.0, 1.0):  # The sizes are those before and after a presentation.
        view.setFont(theme.resize_font(QApplication.font(), scale))
        assert view.rowHeight(0) == view.fontMetrics().height() + 6
    assert view.rowHeight(1) == before


@pytest.mark.parametrize(
    ("key", "cells"),
    [(Qt.Key.Key_End, {(1, 0), (1, 1), (2, 0), (2, 1)}), (Qt.Key.Key_Home, {(0, 0), (1, 0)})],
)
def test_keys_select_to_the_first_and_last_row(qtbot: Any, key: Qt.Key, cells: set[tuple[int, int]]) -> None:
    model = TableModel(COLUMNS)
    view = TableView(model, "values")
    view.show_as_grid()
    qtbot.addWidget(view)
    model.replace_rows([("a", 1), ("b", 2), ("c", 3)])
    view.setCurrentIndex(model.index(1, 0))
    qtbot.keyClick(view, key, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    assert {(index.row(), index.column()) for index in view.selectedIndexes()} == cells


def test_selecting_to_the_end_selects_whole_rows(qtbot: Any) -> None:
    model = TableModel(COLUMNS)
    view = TableView(model, "values")
    qtbot.addWidget(view)
    model.replace_rows([("a", 1), ("b", 2), ("c", 3)])
    view.setCurrentIndex(model.index(1, 1))
    modifiers = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    qtbot.keyClick(view, Qt.Key.Key_End, modifiers)
    assert [index.row() for index in view.selectionModel().selectedRows()] == [1, 2]
