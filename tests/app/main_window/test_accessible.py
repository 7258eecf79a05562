"""Accessibility tests: every control on every page and panel has a name and is reachable by keyboard."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QTextDocumentFragment
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSlider,
    QAbstractSpinBox,
    QComboBox,
    QGraphicsView,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QScrollBar,
    QTabBar,
    QTextEdit,
    QWidget,
)

from app.widgets.docks import DOCK_SPECS
from tests.app.main_window.conftest import WindowUser
from tests.open_window import OpenWindow

CONTROL_CLASSES = (
    QAbstractButton, QAbstractItemView, QAbstractSlider, QAbstractSpinBox, QComboBox, QGraphicsView, QLineEdit,
    QPlainTextEdit, QTabBar, QTextEdit,
)  # fmt: skip
"""Widget classes that a user operates."""


def list_panels(window: OpenWindow) -> Iterator[str]:
    """Yield the panels with content in the current drill."""
    world = window.session.history.drill.world
    yield from (dock.name for dock in DOCK_SPECS if dock.is_available(world))


def find_unnamed_controls(root: QWidget) -> Iterator[str]:
    """Yield the controls in *root* that have no accessible name."""
    for widget in root.findChildren(QWidget):
        if (
            not isinstance(widget, CONTROL_CLASSES)
            or isinstance(widget, QScrollBar)
            or not widget.isVisible()
        ):
            continue
        if widget.focusPolicy() == Qt.FocusPolicy.NoFocus and not isinstance(widget, QAbstractButton):
            continue
        if isinstance(
            widget.parent(), (QComboBox, QAbstractSpinBox, QTabBar)
        ):  # Skip parts of a control that has its own interface.
            continue
        interface = QAccessible.queryAccessibleInterface(widget)
        if interface is None or not interface.text(QAccessible.Text.Name).strip():
            parents, parent = [], widget.parentWidget()
            while parent is not None and parent is not root:
                parents.append(type(parent).__name__)
                parent = parent.parentWidget()
            yield f"{type(widget).__name__} in {' < '.join(parents[:4])}"


@pytest.fixture
def lab(hands: WindowUser, window: OpenWindow) -> OpenWindow:
    window.select_drill("automatic-failover")
    window.brief.start_wanted.emit("practice")
    hands.run_frames(5.0)
    window.session.pause()
    return window


def test_every_control_of_a_panel_has_a_name(lab: OpenWindow) -> None:
    for name in list_panels(lab):
        lab.desk.focus_view(name)
        view = lab.desk.get_view(name)
        assert view.isVisible(), name
        assert view.accessibleName() or any(
            isinstance(child, QWidget) and child.accessibleName() for child in view.findChildren(QWidget)
        ), name
        assert list(find_unnamed_controls(view)) == [], name


def test_a_label_is_spoken_as_written(lab: OpenWindow) -> None:
    """An accessible name replaces the text. A separate name would hide the value of the label from a screen
    reader.
    """
    for name in list_panels(lab):
        lab.desk.focus_view(name)
        for label in lab.desk.get_view(name).findChildren(QLabel):
            interface = QAccessible.queryAccessibleInterface(label)
            words_shown = QTextDocumentFragment.fromHtml(label.text()).toPlainText().split()
            if label.isVisible() and words_shown and interface is not None:
                assert words_shown[-1] in interface.text(QAccessible.Text.Name), name


def test_a_choice_names_its_subject(lab: OpenWindow) -> None:
    """On Linux the accessible name is the selected value, and the description names the subject."""
    for name in list_panels(lab):
        lab.desk.focus_view(name)
        for box in lab.desk.get_view(name).findChildren(QComboBox):
            assert box.accessibleDescription() or box.toolTip(), box


def test_every_control_around_the_desk_has_a_name(lab: OpenWindow) -> None:
    for part in (lab.transport, lab.input_line, lab.timeline):
        assert list(find_unnamed_controls(part)) == []


def test_every_control_of_the_pages_has_a_name(lab: OpenWindow) -> None:
    lab.show_home()
    assert list(find_unnamed_controls(lab.picker)) == []
    lab.select_drill("lab")
    assert list(find_unnamed_controls(lab.brief)) == []
    lab.show_history()
    assert list(find_unnamed_controls(lab.history)) == []
    lab.tools.show_planner()
    assert lab.tools.planner is not None
    assert list(find_unnamed_controls(lab.tools.planner)) == []


def test_tab_leaves_every_panel(qtbot: object, lab: OpenWindow) -> None:
    """Tab reaches the next panel within a limited number of presses."""
    for name in ("topology", "charts", "timing", "monitor"):
        lab.desk.focus_view(name)
        view = lab.desk.get_view(name)
        for _ in range(60):
            focus = lab.focusWidget()
            if focus is not None and focus is not view and not view.isAncestorOf(focus):
                break
            lab.focusNextPrevChild(True) if focus is None else focus.focusNextPrevChild(True)
        else:
            raise AssertionError(f"Tab does not leave {name}")
