"""Presenting: large text, few panels, the whole screen, and back to how it was."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QWidget

from app import settings
from app.main_window.appearance import Appearance
from app.settings import WindowSettings
from app.views.topology import Topology
from app.widgets.busy_cursor import show_busy_cursor
from app.widgets.docks import PRESENTER, PROFILES

TEXT_SCALE: Final = 1.5
"""Text for the back row: at 1920 pixels across, 15 points are read from eight screen widths away. Assumed."""


class PresenterMode(QObject):
    """Remembers how the window looked, in the settings too, so that a killed program comes back as it was."""

    def __init__(
        self, appearance: Appearance, topology: Topology, store: WindowSettings, window: QWidget
    ) -> None:
        """Create the mode; *window* fills the screen."""
        super().__init__(window)
        self._appearance, self._topology = appearance, topology
        self._store, self._window = store, window
        self.stop()

    @property
    def is_active(self) -> bool:
        """Return whether the mode is on."""
        return bool(self._store.get(settings.BEFORE_PRESENTING))

    def toggle(self) -> None:
        """Begin to present, or stop."""
        with show_busy_cursor():
            self._toggle()

    def _toggle(self) -> None:
        if self.is_active:
            self.stop()
            return
        look = self._appearance
        scale = self._store.get(settings.FONT_SCALE)
        self._store.set(settings.BEFORE_PRESENTING, f"{look.layout} {scale}")
        look.set_layout(PRESENTER)
        look.set_font_scale(max(TEXT_SCALE, scale))
        self._window.setWindowState(self._window.windowState() | Qt.WindowState.WindowFullScreen)
        self._topology.fit()
        self._topology.setFocus()

    def stop(self) -> None:
        """Restore layout and text."""
        before = self._store.get(settings.BEFORE_PRESENTING)
        if not before:
            return
        self._store.set(settings.BEFORE_PRESENTING, "")
        layout, _, scale = before.partition(" ")
        self._window.setWindowState(self._window.windowState() & ~Qt.WindowState.WindowFullScreen)
        self._appearance.set_font_scale(_scale(scale))  # set first, because large text makes panels wider
        self._appearance.set_layout(layout if layout in PROFILES else PROFILES[0])
        self._topology.light(())


def _scale(text: str) -> float:
    known = {str(scale): scale for scale in settings.FONT_SCALES}
    return known.get(text, 1.0)
