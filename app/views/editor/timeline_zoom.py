"""Visible part of a timeline, which is wider than the page when zoomed in."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QFrame, QScrollArea

from app.views.editor.timeline_canvas import TimelineCanvas
from engine.overrides import override

ZOOM_STEP: Final = 1.5
ZOOM_MAX: Final = 60.0
ZOOM_KEYS: Final = {"+": ZOOM_STEP, "=": ZOOM_STEP, "-": 1 / ZOOM_STEP, "0": 0.0}
"""Key -> factor for the width of the axis; 0: show all."""


class ZoomArea(QScrollArea):
    """Area that shows the canvas at its own width or a multiple of it."""

    def __init__(self, canvas: TimelineCanvas) -> None:
        super().__init__()
        self._canvas = canvas
        self.zoom = 1.0
        self.setWidget(canvas)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.horizontalScrollBar().valueChanged.connect(canvas.update)

    def zoom_by(self, factor: float, about_x: float | None = None) -> None:
        """Zoom by a factor (0: show all); the point at *about_x* of the view, else its middle, stays."""
        seen = self.viewport().width()
        about = seen / 2.0 if about_x is None else about_x
        scroll = self.horizontalScrollBar()
        at = (scroll.value() + about) / max(1, self._canvas.width())
        self.zoom = min(ZOOM_MAX, max(1.0, self.zoom * factor)) if factor else 1.0
        wide = round(seen * self.zoom)
        self._canvas.setMinimumWidth(wide if self.zoom > 1.0 else 0)
        self._canvas.resize(wide, self._canvas.height())
        scroll.setRange(0, max(0, wide - seen))
        scroll.setValue(round(at * wide - about))

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self.zoom > 1.0:
            self._canvas.setMinimumWidth(round(self.viewport().width() * self.zoom))

    @override
    def wheelEvent(self, event: QWheelEvent) -> None:
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            by = event.angleDelta().y()
            if by:
                self.zoom_by(ZOOM_STEP if by > 0 else 1 / ZOOM_STEP, event.position().x())
            event.accept()
        else:
            super().wheelEvent(event)
