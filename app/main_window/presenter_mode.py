"""Presenting: large text, few panels, the whole screen, and back to how it was."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, Qt

from app import settings
from app.main_window import actions
from app.widgets.busy import busy
from app.widgets.docks import PRESENTER, PROFILES

if TYPE_CHECKING:
    from app.main_window.window import MainWindow

TEXT_SCALE: Final = 1.5
"""Text for the back row: at 1920 pixels across, 15 points are read from eight screen widths away. Assumed."""


class Presenting(QObject):
    """Remembers how the window looked, in the settings too, so that a killed program comes back as it was."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window, self._store = window, window.store
        window.closing.connect(self.stop)
        self.stop()

    @property
    def on(self) -> bool:
        return bool(self._store.get(settings.BEFORE_PRESENTING))

    def toggle(self) -> None:
        """Begin to present, or stop."""
        with busy():
            self._toggle()

    def _toggle(self) -> None:
        if self.on:
            self.stop()
            return
        look = self._window.appearance
        scale = self._store.get(settings.FONT_SCALE)
        self._store.set(settings.BEFORE_PRESENTING, f"{look.layout} {scale}")
        look.set_layout(PRESENTER)
        look.set_font_scale(max(TEXT_SCALE, scale))
        self._window.setWindowState(self._window.windowState() | Qt.WindowState.WindowFullScreen)
        self._window.topology.fit()
        self._window.topology.setFocus()

    def stop(self) -> None:
        """Layout and text as they were."""
        before = self._store.get(settings.BEFORE_PRESENTING)
        if not before:
            return
        self._store.set(settings.BEFORE_PRESENTING, "")
        layout, _, scale = before.partition(" ")
        self._window.setWindowState(self._window.windowState() & ~Qt.WindowState.WindowFullScreen)
        self._window.appearance.set_font_scale(_scale(scale))  # first: large text makes panels wider
        self._window.appearance.set_layout(layout if layout in PROFILES else PROFILES[0])
        self._window.topology.light(())


def _scale(text: str) -> float:
    known = {str(scale): scale for scale in settings.FONT_SCALES}
    return known.get(text, 1.0)


def attach(window: MainWindow) -> None:
    """Two entries in the View menu: present, and high contrast."""
    window.presenting = Presenting(window)
    added = actions.add(
        window,
        {"view.present": window.presenting.toggle, "view.contrast": window.appearance.toggle_contrast},
    )
    window.menus["&View"].addActions(list(added.values()))
