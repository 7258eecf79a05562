"""Benchmark of the time from a click to the first visible response: `python -m tests.click_bench [MS]`.

The script triggers each enabled menu action and button on the start page, and on the desk during a run. It
measures processor time until the handler has returned and painted, or until a dialog or busy cursor is
visible.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from unittest import mock

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import QAbstractButton, QApplication, QMenu, QWidget

from app.main_window.start import BACKGROUND_MODULES, freeze_objects
from tests.open_window import OpenWindow
from tests.screenshots import open_screenshot_window

LIMIT_MS = 100.0
WINDOW_SIZE = (1366, 768)
EXCLUDED_NAME_PARTS = ("quit", "close", "class", "team", "clients", "diagnos", "doctor")
"""Parts of the names of excluded actions, which end the window or load sockets and certificates at first use."""
POLL_MS = 5
FILE_DIALOGS = ("getSaveFileName", "getOpenFileName", "getOpenFileNames")


class ResponseWatcher:
    """Event filter that closes new windows and records the times of their appearance."""

    def __init__(self) -> None:
        self.seen_s: float | None = None
        self._timer = QTimer(interval=POLL_MS)
        self._timer.timeout.connect(self._look)
        self._timer.start()

    def _look(self) -> None:
        popup = QApplication.activeModalWidget() or QApplication.activePopupWidget()
        if popup is not None:
            if self.seen_s is None:
                self.seen_s = time.process_time()
            popup.close()


def measure_response_ms(act: Callable[[], object], watch: ResponseWatcher) -> float:
    """Return the milliseconds of processor time until the first visible response."""
    QApplication.processEvents()
    watch.seen_s, busy_s = None, []
    set_cursor = QGuiApplication.setOverrideCursor

    def record_cursor(cursor: Qt.CursorShape) -> None:
        busy_s.append(time.process_time())
        set_cursor(cursor)

    start_s = time.process_time()
    with mock.patch.object(QGuiApplication, "setOverrideCursor", record_cursor):
        act()
        QApplication.processEvents()
    ends = [time.process_time(), *busy_s, *([watch.seen_s] if watch.seen_s is not None else [])]
    return (min(ends) - start_s) * 1000.0


def list_actions(window: OpenWindow) -> Iterator[tuple[str, QAction]]:
    """Yield the enabled actions of the window by name."""
    for name, action in sorted(window.actions_by_name.items()):
        if name and action.isEnabled() and not any(part in name for part in EXCLUDED_NAME_PARTS):
            yield name, action


def list_buttons(page: QWidget) -> Iterator[tuple[str, QAbstractButton]]:
    """Yield the visible buttons of a page."""
    for button in page.findChildren(QAbstractButton):
        if button.isVisible() and button.isEnabled() and (button.text() or button.toolTip()):
            yield (button.text() or button.toolTip()).replace("\n", " "), button


def run(limit_ms: float) -> int:
    """Click all controls, print those that took longer than *limit_ms*, and return their number."""
    slow = clicked = 0
    with (
        tempfile.TemporaryDirectory() as folder,
        open_screenshot_window(Path(folder), "light", WINDOW_SIZE) as window,
    ):
        for name in BACKGROUND_MODULES:
            import_module(name)
        freeze_objects()
        watch = ResponseWatcher()
        for place in ("start page", "desk"):
            names = [name for name, _ in list_actions(window)]
            if place == "desk":
                start_lab(window)
                names = [name for name, _ in list_actions(window)]
            todo: list[tuple[str, Callable[[], object]]] = []
            todo += [(name, window.actions_by_name[name].trigger) for name in names]
            page = window.picker if place == "start page" else window.desk_page
            todo += [(f"button {text}", button.click) for text, button in list_buttons(page)]
            for name, act in todo:
                try:
                    took_ms = measure_response_ms(act, watch)
                except RuntimeError:
                    continue  # An earlier click has replaced the button.
                clicked += 1
                if took_ms > limit_ms:
                    slow += 1
                    print(f"{took_ms:7.0f} ms  {place}: {name}", flush=True)
                restore_page(window, place)
    print(f"{clicked} clicks, {slow} slower than {limit_ms:g} ms")
    return slow


def start_lab(window: OpenWindow) -> None:
    """Start the lab and play it for a few seconds."""
    window.select_drill("lab")
    window.brief.start_wanted.emit("lab")
    for _ in range(100):
        window.session.on_frame(50.0)
    QApplication.processEvents()


def restore_page(window: OpenWindow, page_name: str) -> None:
    """Return to the page that contains the tested controls."""
    QApplication.processEvents()
    for widget in QApplication.topLevelWidgets():
        if widget.isVisible() and widget is not window and not isinstance(widget, QMenu):
            widget.close()
    if window.failover_moment.state:
        window.failover_moment.leave_stage()
    if page_name == "start page":
        if not window.picker.isVisible():
            window.show_home()
    elif not window.desk_page.isVisible():
        start_lab(window)
    QApplication.processEvents()


if __name__ == "__main__":
    application = QApplication.instance() or QApplication(sys.argv[:1])
    sys.exit(run(float(sys.argv[1]) if sys.argv[1:] else LIMIT_MS) > 0)
