"""Settings of the window are written down soon after they change; if that cannot be, it is said once."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QWidget

from app import settings
from app.settings import WindowSettings
from app.widgets.notice import NoticeBar

AFTER_MS: Final = 300
"""Pause after the last change, since some come in bursts."""


class SettingsWriter(QObject):
    """Lives as long as the window."""

    def __init__(self, store: WindowSettings, notice: NoticeBar, window: QWidget) -> None:
        super().__init__(window)
        self._store, self._notice, self._window = store, notice, window
        self._is_reported = False
        self._write_timer = QTimer(self, singleShot=True, interval=AFTER_MS)
        self._write_timer.timeout.connect(self.write)
        store.changed = self._write_timer.start

    def write(self) -> None:
        """Write to disk now; show a new problem once."""
        problem = self._store.problem
        if problem and not self._is_reported:
            self._notice.warn(problem)
        self._is_reported = bool(problem)

    def stop(self) -> None:
        """Stop writing on changes, because the window writes its final settings itself."""
        self._write_timer.stop()
        self._store.changed = lambda: None

    def begin(self) -> None:
        """Write at the start, when a problem can still be fixed."""
        self._store.set(settings.GEOMETRY, self._window.saveGeometry())
        self.write()
