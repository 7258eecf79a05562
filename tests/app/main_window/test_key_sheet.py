"""Tests that the shortcut sheet is correct: each listed key works in its scope, and each working key is
listed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QAction, QKeySequence, QShortcut, QShortcutEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.settings import WindowSettings
from app.storage import Profile
from app.widgets import keys
from tests.app.main_window.conftest import WindowUser, show_window
from tests.open_window import OpenWindow


class ShortcutWatcher(QObject):
    """Event filter that records shortcuts and blocks them."""

    def __init__(self) -> None:
        super().__init__()
        self.arrived: list[tuple[QObject, bool]] = []

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QShortcutEvent) and event.type() == QEvent.Type.Shortcut:
            self.arrived.append((watched, event.isAmbiguous()))
            return True
        return False


@contextmanager
def watch_actions(window: OpenWindow) -> Iterator[ShortcutWatcher]:
    watch, before = ShortcutWatcher(), {}
    for action in window.findChildren(QAction):
        before[action] = action.isEnabled()
        action.installEventFilter(watch)
        action.setEnabled(True)
    yield watch
    for action, enabled in before.items():
        action.removeEventFilter(watch)
        action.setEnabled(enabled)


@pytest.fixture
def lab(hands: WindowUser, window: OpenWindow) -> OpenWindow:
    window.select_drill("lab")
    window.brief.start_wanted.emit("lab")
    window.session.pause()
    window.console.open_query("SERVER_A", "SELECT 1")
    for name in ("explorer", "ledger", "console"):
        window.desk.focus_view(name)
    QApplication.processEvents()
    return window


@pytest.mark.parametrize("scheme", keys.KEY_SCHEMES)
def test_every_key_on_the_sheet_works(lab: OpenWindow, scheme: str) -> None:
    lab.appearance.set_keys(scheme, {})
    bound_actions = lab.appearance._actions
    places = ("explorer", "ledger")
    panel = {keys.WINDOW_SCOPE: "topology", keys.DESK_SCOPE: "topology", "query": "console"} | {
        place: place for place in places
    }
    silent, tried = [], 0
    with watch_actions(lab) as watch:
        for scope, place in panel.items():
            lab.desk.focus_view(place)
            QApplication.processEvents()
            focus = QApplication.focusWidget()
            assert focus is not None
            for command in keys.SHORTCUT_COMMANDS:
                if command.scope != scope or command.is_fixed:
                    continue
                for key in lab.appearance.current_keys[command.name]:
                    if "Cancel" in key:  # The simulated keyboard does not have this key.
                        continue
                    watch.arrived.clear()
                    QTest.keySequence(focus, QKeySequence(key))
                    tried += 1
                    if watch.arrived != [(bound_actions[command.name], False)]:
                        silent.append(f"{key}: {command.name}")
    assert tried > 70
    assert not silent


def test_every_working_key_is_on_the_sheet(lab: OpenWindow) -> None:
    lab.editing.show_editor()
    listed = {key for shortcut in lab.appearance.current_keys.values() for key in shortcut}
    listed |= {"Enter", "Find"}  # Ignore the keypad's Enter, and a key that few keyboards have.
    actions_by_key: dict[str, QObject] = {}
    for action in lab.findChildren(QAction):
        if not type(action.parent()).__module__.startswith("pyqtgraph"):
            actions_by_key |= {_get_text(key): action for key in action.shortcuts()}
    for shortcut in lab.findChildren(QShortcut):
        actions_by_key[_get_text(shortcut.key())] = shortcut
    assert len(actions_by_key) > 60
    assert not {
        key: _describe_object(item)
        for key, item in actions_by_key.items()
        if key not in listed | CLOSING_KEYS
    }


CLOSING_KEYS = {"Esc"}
"""Keys that close the current dialog or panel."""


def _get_text(key: QKeySequence) -> str:
    return key.toString(QKeySequence.SequenceFormat.PortableText)


def _describe_object(item: QObject) -> str:
    parent = item.parent()
    item_text = item.text() if isinstance(item, QAction) else ""
    return f"{item_text} of {type(parent).__name__ if isinstance(parent, QWidget) else parent}"


@pytest.mark.slow
def test_custom_keys_apply_after_a_restart(
    qtbot: QtBot, lab: OpenWindow, profile: Profile, store: WindowSettings
) -> None:
    lab.appearance.set_keys(keys.SSMS_SCHEME, {"time.step": ("Ctrl+Alt+Y",)})
    lab.close()
    second_window = show_window(qtbot, profile, store)
    second_window.select_drill("lab")
    second_window.brief.start_wanted.emit("lab")
    second_window.session.pause()
    assert second_window.session.drill is not None
    before = second_window.session.drill.tick
    second_window.topology.setFocus()
    QTest.keyClick(second_window.topology, Qt.Key.Key_F10)
    assert second_window.session.drill.tick == before
    modifiers = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier
    QTest.keyClick(second_window.topology, Qt.Key.Key_Y, modifiers)
    assert second_window.session.drill.tick == before + 1


@pytest.mark.slow
def test_keys_of_the_other_scheme_work(hands: WindowUser, lab: OpenWindow) -> None:
    lab.appearance.set_keys(keys.VS_CODE_SCHEME, {})
    lab.desk.focus_view("console")
    query = lab.console.front_window
    assert query is not None
    count, control, shift = (
        lab.console.tabs.count(),
        Qt.KeyboardModifier.ControlModifier,
        Qt.KeyboardModifier.ShiftModifier,
    )
    query.editor.setFocus()
    hands.press_key(Qt.Key.Key_E, control)  # The key executes the batch, as in Management Studio.
    assert not query.is_busy
    assert not lab.console.history.model.total
    hands.press_key(Qt.Key.Key_E, control, shift)
    hands.run_frames(1.0, condition=lambda: bool(lab.console.history.model.total) and not query.is_busy)
    lab.session.pause()
    results = query.results.isVisible()
    hands.press_key(Qt.Key.Key_J, control)
    assert query.results.isVisible() is not results
    hands.press_key(Qt.Key.Key_W, control)
    assert lab.console.tabs.count() == count - 1
    hands.press_key(Qt.Key.Key_B, control)
    focus = QApplication.focusWidget()
    assert focus is not None
    assert lab.explorer.isAncestorOf(focus)
