"""Settings of the window are written down soon after they change; if that cannot be, it is said once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, QTimer

from app import settings

if TYPE_CHECKING:
    from app.main_window.window import MainWindow

AFTER_MS: Final = 300
"""Pause after the last change, since some come in bursts."""


class Remembering(QObject):
    """Lives as long as the window."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._told = False
        self._due = QTimer(self)
        self._due.setInterval(AFTER_MS)
        self._due.setSingleShot(True)
        self._due.timeout.connect(self.write)
        window.store.changed = self._due.start
        window.ready.connect(self._try)
        window.closing.connect(self._stop)

    def write(self) -> None:
        """Onto the disk now; a new problem is told, one that goes on is not told again."""
        problem = self._window.store.problem
        if problem and not self._told:
            self._window.notice.warn(problem)
        self._told = bool(problem)

    def _stop(self) -> None:
        """What the window leaves behind, it writes itself."""
        self._due.stop()
        self._window.store.changed = lambda: None

    def _try(self) -> None:
        """At the start, when there is still time to mend it."""
        self._window.store.set(settings.GEOMETRY, self._window.saveGeometry())
        self.write()


def attach(window: MainWindow) -> None:
    """From now on."""
    Remembering(window)
