"""The whole screen and back, with every panel where it was."""

from __future__ import annotations

from PySide6.QtCore import QByteArray, QObject, QSize, Qt, QTimer
from PySide6.QtWidgets import QWidget

from app.main_window.desk import COMES_BACK_MS, LAYOUT_VERSION, Desk


class FullScreen(QObject):
    """Restores the exact sizes of the panels after full-screen mode.

    Panels grow and shrink with the window, which moves their borders by some pixels. A user who has moved nothing
    in full-screen mode gets them back to the pixel.
    """

    def __init__(self, desk: Desk, window: QWidget) -> None:
        """Create the mode; *window* fills the screen."""
        super().__init__(window)
        self._desk, self._window = desk, window
        self._previous_layout: tuple[QByteArray, QSize] | None = None
        """Layout and size of the desk before full screen."""
        self._full_screen_layout: QByteArray | None = None
        """Initial layout on the full screen, before any change by the user; None until the layout has settled."""
        self._rest_timer = QTimer(self, singleShot=True, interval=COMES_BACK_MS)
        self._rest_timer.timeout.connect(self.look)

    def toggle(self) -> None:
        """Fill the screen, or no longer."""
        desk, full = self._desk, Qt.WindowState.WindowFullScreen
        if not self._window.windowState() & full:
            self._previous_layout = (self._state(), desk.size()) if desk.has_been_visible else None
            self._full_screen_layout = None
            self._rest_timer.start()
        elif self._previous_layout is not None and self._full_screen_layout in (None, self._state()):
            desk.expect_restore(*self._previous_layout)
        self._window.setWindowState(self._window.windowState() ^ full)

    def look(self) -> None:
        """Take the sizes at rest: later changes are the user's."""
        self._full_screen_layout = self._state()

    def _state(self) -> QByteArray:
        return self._desk.saveState(LAYOUT_VERSION)
