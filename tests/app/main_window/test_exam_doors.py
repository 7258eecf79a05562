"""Tests that exam mode shows no hidden facts: two runs that differ only in undetected faults look the same.

The test reads all panels, menus, palette results, copied and saved texts, and announcements. It finds them
without a list of names, so it also covers new panels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest
from PySide6.QtCore import QAbstractItemModel, QAbstractListModel, QModelIndex, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QComboBox,
    QFileDialog,
    QLabel,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QTextEdit,
    QWidget,
)

from app.main_window import palette_commands
from app.main_window.announcements import describe_state
from app.view_models.action_offers import ActionTarget
from app.widgets.docks import DOCK_NAMES, DOCK_SPECS
from tests.app.main_window.conftest import WindowUser
from tests.children import find_child
from tests.engine.drill.texts import change_small_text

HIDDEN_FAULTS = (
    "close-firewall SERVER_W 5022",
    "stop-agent SERVER_A",
    "disable-tcp SERVER_B",
    "hang SERVER_W",
    "black-hole SERVER_B SERVER_W",
)
"""Faults that no server has detected yet: connections stay open, and a silent partner is detected after ten
seconds.
"""

TextCollector = Callable[[str, tuple[str, ...]], set[str]]

SEARCH_QUERIES = ("agent", "firewall", "SERVER_W")
"""Queries that the test types into all filter and search fields."""

PLAYED_S = 4.0
FAULT_S = 2


def build_course_text(fault_lines: tuple[str, ...]) -> str:
    timeline = "".join(f'[[timeline]]\nat = "{FAULT_S}s"\ndo = "{act}"\n\n' for act in fault_lines)
    return timeline + '[[goal]]\nname = "served"'


def list_rows(model: QAbstractItemModel, parent: QModelIndex | None = None) -> Iterator[str]:
    """Yield every cell of a table or tree, with its tooltip and accessible text."""
    parent_index = parent or QModelIndex()
    for row in range(model.rowCount(parent_index)):
        for column in range(1 if isinstance(model, QAbstractListModel) else model.columnCount(parent_index)):
            cell = model.index(row, column, parent_index)
            for role in (
                Qt.ItemDataRole.DisplayRole,
                Qt.ItemDataRole.ToolTipRole,
                Qt.ItemDataRole.AccessibleTextRole,
            ):
                if (value := model.data(cell, role)) is not None:
                    yield str(value)
        yield from list_rows(model, model.index(row, 0, parent_index))


def list_texts(widget: QWidget) -> Iterator[str]:
    """Yield the texts of *widget* without those of its children."""
    state_text = f"{type(widget).__name__} {widget.isEnabled()}"
    yield from (state_text, widget.toolTip(), widget.accessibleName(), widget.accessibleDescription())
    match widget:
        case QLabel() | QAbstractButton() | QLineEdit():
            yield widget.text()
        case QComboBox():
            yield from (widget.itemText(index) for index in range(widget.count()))
        case QPlainTextEdit() | QTextEdit():
            yield widget.toPlainText()
        case QAbstractItemView():
            if widget.model() is not None:
                yield from list_rows(widget.model())


def list_action_texts(actions: list[QAction]) -> Iterator[str]:
    for action in actions:
        yield f"{action.text()} {action.isEnabled()} {action.isVisible()} {action.toolTip()}"
        if isinstance(inner := action.menu(), QMenu):
            inner.aboutToShow.emit()
            yield from list_action_texts(inner.actions())


def collect_window_texts(hands: WindowUser) -> Iterator[str]:
    """Yield all texts of the window with each panel in front, then menus, copied texts and announcements."""
    window = hands.window
    window.session.pause()
    for place in DOCK_SPECS:
        window.desk.focus_view(place.name)
        QApplication.processEvents()
        for widget in window.findChildren(QWidget):
            if widget.isVisible():
                yield from list_texts(widget)
    for title, menu in window.menus.items():
        menu.aboutToShow.emit()
        for entry in list_action_texts(menu.actions()):
            yield f"{title}: {entry}"
    for group, actions in window.commands.list_groups():
        for entry in list_action_texts(actions):
            yield f"palette {group}: {entry}"
    for _, targets in palette_commands.list_action_targets(hands.drill.world):
        for target in targets:
            window.topology.select_target(target)
            QApplication.processEvents()
            yield window.topology.summary
            for action in window.topology.list_actions(target):
                action.hover()
                yield f"preview {find_child(window.topology, QLabel, 'caption').text()}"
    for voice in window.topology.list_accessible_items():
        yield voice.item.display.accessible_text
        yield voice.item.toolTip()
    yield describe_state(hands.drill, running=False)


def list_stop_texts(hands: WindowUser) -> Iterator[str]:
    """Yield the texts about running until a time or condition, and the reasons to stop."""
    window = hands.window
    for name in ("time.next_event", "time.next_state", "time.next_alarm", "time.until"):
        window.notice.hide_notice()
        window.actions_by_name[name].trigger()
        if (box := QApplication.activeModalWidget()) is not None:
            box.close()
        hands.finish_search()
        yield f"{name} {window.notice.text} {hands.drill.tick}"


def strip_mnemonic(action: QAction) -> str:
    return action.text().replace("&", "")


def export_panels(hands: WindowUser, folder: Path, patch: pytest.MonkeyPatch) -> Iterator[str]:
    """Yield the text copied from each panel, and the content of the files that each panel and menu saves."""
    window, numbers = hands.window, count()

    def choose_file(
        _parent: QWidget, title: str, _name: str = "", kinds: str = "", **_: object
    ) -> tuple[str, str]:
        values = next((kind for kind in kinds.split(";;") if ".csv" in kind), kinds)
        return str(folder / f"{next(numbers)} {title}"), values

    patch.setattr(QFileDialog, "getSaveFileName", choose_file)
    for place in DOCK_SPECS:
        window.desk.focus_view(place.name)
        QApplication.processEvents()
        for view in window.findChildren(QAbstractItemView):
            if view.isVisible():
                view.selectAll()
                yield from copy_rows(view, place.name)
        dock = window.desk.docks.get(place.name)
        if dock is not None and dock.isVisible():
            for action in dock.findChildren(QAction):
                if strip_mnemonic(action).startswith("Save"):
                    action.trigger()
    for menu in window.menus.values():
        for action in menu.actions():
            if strip_mnemonic(action).startswith("Save"):
                action.trigger()
    for file in sorted(folder.iterdir(), key=lambda file: int(file.name.partition(" ")[0])):
        yield f"{file.name.partition(' ')[2]}: {file.read_text(encoding='utf-8-sig', errors='replace')}"


def copy_rows(view: QAbstractItemView, panel: str) -> Iterator[str]:
    for action in view.actions():
        if strip_mnemonic(action).startswith("Copy"):
            QApplication.clipboard().clear()
            action.trigger()
            yield f"{panel} {strip_mnemonic(action)}: {QApplication.clipboard().text()}"


def search_panels(hands: WindowUser) -> Iterator[str]:
    """Yield the results of the palette and of each search field of a panel."""
    window = hands.window
    for words in SEARCH_QUERIES:
        window.actions_by_name["help.palette"].trigger()
        window.palette_of_commands.field.setText(words)
        QApplication.processEvents()
        for widget in window.palette_of_commands.findChildren(QWidget):
            yield from (f"palette {words}: {text}" for text in list_texts(widget))
        window.palette_of_commands.hide_and_restore_focus()
        for place in DOCK_SPECS:
            window.desk.focus_view(place.name)
            QApplication.processEvents()
            panel = window.desk.docks.get(place.name) or window.topology
            for field in panel.findChildren(QLineEdit):
                if not field.isVisible() or field.isReadOnly():
                    continue
                field.setText(words)
                QApplication.processEvents()
                for widget in panel.findChildren(QWidget):
                    if widget.isVisible():
                        yield from (f"{place.name} {words}: {text}" for text in list_texts(widget))
                field.clear()


@pytest.fixture
def play_exam(hands: WindowUser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TextCollector:
    numbers = count()
    for name in DOCK_NAMES:
        # Create every view, so that both runs show the same views from the start.
        hands.window.desk.get_view(name)

    def play_and_collect(mode: str, fault_lines: tuple[str, ...]) -> set[str]:
        folder = tmp_path / f"saved {next(numbers)}"
        folder.mkdir()
        return set(collect_run_texts(hands, mode, fault_lines, folder, monkeypatch))

    return play_and_collect


def begin_exam(hands: WindowUser, mode: str, fault_lines: tuple[str, ...]) -> None:
    window = hands.window
    window.play.begin_run(
        change_small_text(('[[goal]]\nname = "served"', build_course_text(fault_lines))), mode, seed=3
    )
    window.session.play()
    hands.run_frames(PLAYED_S)
    window.topology.select_target(ActionTarget("server", ("SERVER_A",)))


def collect_run_texts(
    hands: WindowUser, mode: str, fault_lines: tuple[str, ...], folder: Path, patch: pytest.MonkeyPatch
) -> Iterator[str]:
    begin_exam(hands, mode, fault_lines)
    yield from collect_window_texts(hands)
    yield from export_panels(hands, folder, patch)
    yield from search_panels(hands)
    yield from list_stop_texts(hands)


def test_in_an_exam_the_window_reveals_no_hidden_fault(play_exam: TextCollector) -> None:
    assert play_exam("exam", HIDDEN_FAULTS) ^ play_exam("exam", ()) == set()


def test_in_practice_the_window_shows_the_fault(play_exam: TextCollector) -> None:
    exam_texts = "\n".join(play_exam("practice", HIDDEN_FAULTS) - play_exam("practice", ()))
    assert [act for act in HIDDEN_FAULTS if act not in exam_texts] == []


def test_in_practice_copied_saved_and_found_texts_reveal_the_fault(
    hands: WindowUser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In practice mode these ways reveal the fault, so the checks of exam mode cover them."""
    begin_exam(hands, "practice", HIDDEN_FAULTS)
    (tmp_path / "saved").mkdir()
    panel_texts = list(export_panels(hands, tmp_path / "saved", monkeypatch))
    for door in ("ledger Copy: ", "Save these rows.csv: "):
        assert any(text.startswith(door) and HIDDEN_FAULTS[0] in text for text in panel_texts), door
    assert any(text.startswith("events agent: ") and "stop-agent" in text for text in search_panels(hands))
