"""The window inside its screen, title bar and frame included."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QEvent, QObject, QRect, QTimer
from PySide6.QtWidgets import QMainWindow

from engine.overrides import override

LOOKS_MS: Final = (300, 1_000, 3_000)
"""Delays of the checks after the window appears. A window manager adds its frame before the last of them. Assumed."""


class ScreenFitter(QObject):
    """Looks at a window when it first comes on screen; after that its place is its owner's."""

    def __init__(self, window: QMainWindow) -> None:
        super().__init__(window)
        self._window, self._looked = window, False
        self._looks = [QTimer(self, singleShot=True, interval=after_ms) for after_ms in LOOKS_MS]
        for look in self._looks:
            look.timeout.connect(self.fit)
        window.installEventFilter(self)

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._window and event.type() is QEvent.Type.Show:
            if not self._looked:
                for look in self._looks:
                    look.start()
            self._looked = True
        elif watched is self._window and event.type() is QEvent.Type.Close:
            for look in self._looks:
                look.stop()
        return False

    def fit(self) -> None:
        """Fit the window into the available screen."""
        window = self._window
        if window.isMaximized() or window.isFullScreen() or not window.isVisible():
            return
        room, frame, inside = window.screen().availableGeometry(), window.frameGeometry(), window.geometry()
        wanted = constrain_rect(frame, room)
        if wanted != frame:
            window.setGeometry(
                wanted.adjusted(
                    inside.left() - frame.left(),
                    inside.top() - frame.top(),
                    inside.right() - frame.right(),
                    inside.bottom() - frame.bottom(),
                )
            )


def constrain_rect(frame: QRect, room: QRect) -> QRect:
    """Shrink and move *frame* to lie inside *room*."""
    size = frame.size().boundedTo(room.size())
    left = max(room.left(), min(frame.left(), room.right() - size.width() + 1))
    top = max(room.top(), min(frame.top(), room.bottom() - size.height() + 1))
    return QRect(left, top, size.width(), size.height())
