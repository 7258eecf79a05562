"""Tests of accessible interfaces: corrections of Qt's interfaces, and the lifetime of the program's own."""

from __future__ import annotations

from typing import Any

from PySide6.QtGui import QAccessible, QAccessibleInterface
from PySide6.QtWidgets import QApplication, QGraphicsView, QLabel, QListWidget
from shiboken6 import delete, isValid

from app.widgets.accessible_interfaces import register_scroll_area_interface
from app.widgets.scroll_container import wrap_in_scroll_area


def test_a_deleted_bar_is_no_child_of_a_scroll_area(qtbot: Any) -> None:
    """Qt's own accessibility interface crashes here, so a defect would end the test process."""
    register_scroll_area_interface()
    for area in (wrap_in_scroll_area(QLabel("much\n" * 99)), QGraphicsView()):
        qtbot.addWidget(area)
        area.resize(60, 60)
        area.show()
        voice = QAccessible.queryAccessibleInterface(area)
        assert type(voice).__module__ == "app.widgets.accessible_interfaces"
        assert [voice.child(number) is None for number in (-1, voice.childCount(), 99)] == [True] * 3
        assert voice.child(0).object() is not None
        assert voice.role() == QAccessible.Role.Client


def test_lists_keep_qts_accessible_interface(qtbot: Any) -> None:
    register_scroll_area_interface()
    rows = QListWidget()
    qtbot.addWidget(rows)
    rows.addItem("one")
    assert QAccessible.queryAccessibleInterface(rows).child(0).text(QAccessible.Text.Name) == "one"


def test_qt_deletes_an_interface_before_python_releases_it(qtbot: Any) -> None:
    register_scroll_area_interface()
    area = wrap_in_scroll_area(QLabel())
    voice: QAccessibleInterface = QAccessible.queryAccessibleInterface(area)
    delete(area)
    assert not isValid(voice)
    QApplication.processEvents()
