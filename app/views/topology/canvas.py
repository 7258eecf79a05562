"""Canvas that fits its scene to the view until the user zooms or pans.

It is independent of the scene's contents.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, QPoint, QPointF, QRect, QRectF, Qt, Slot
from PySide6.QtGui import (
    QAccessible,
    QAccessibleInterface,
    QAccessibleObject,
    QMouseEvent,
    QPainter,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QAccessibleWidget, QGraphicsView, QWidget

from app.views.topology.scene import TopologyScene
from app.widgets.accessible_interfaces import register_interface_factory
from engine.overrides import override

if TYPE_CHECKING:
    from app.views.topology.scene import SceneItem


NO_ACCESSIBLE_INTERFACE: QAccessibleInterface = None  # type: ignore[assignment]
"""Qt's value for "no interface". The type stubs do not allow it."""


class AccessibleItem(QObject):
    """QObject that represents a canvas item for screen readers, because graphics items are not QObjects."""

    def __init__(self, view: AccessibleCanvas, item: SceneItem) -> None:
        super().__init__(view)
        self.view = view
        self.item = item


class _ItemInterface(QAccessibleObject):
    """Accessible interface with name, position and state of one item."""

    def __init__(self, item: AccessibleItem) -> None:
        super().__init__(item)
        self._item = item

    def parent(self) -> QAccessibleInterface:
        return QAccessible.queryAccessibleInterface(self._item.view)

    def child(self, index: int) -> QAccessibleInterface:
        return NO_ACCESSIBLE_INTERFACE

    def childCount(self) -> int:
        return 0

    def indexOfChild(self, child: QAccessibleInterface) -> int:
        return -1

    def role(self) -> QAccessible.Role:
        return QAccessible.Role.Graphic

    def text(self, kind: QAccessible.Text) -> str:
        display = self._item.item.display
        if kind == QAccessible.Text.Name:
            return str(display.accessible_text)
        return ""

    def rect(self) -> QRect:
        view, item = self._item.view, self._item.item
        box = view.mapFromScene(item.sceneBoundingRect()).boundingRect()
        return QRect(view.viewport().mapToGlobal(box.topLeft()), box.size())

    def state(self) -> QAccessible.State:
        state = QAccessible.State()
        state.focusable = state.selectable = True
        is_selected = self._item.item.isSelected()
        state.selected = state.focused = is_selected
        return state


class _ViewInterface(QAccessibleWidget):
    """Accessible interface of the canvas, with its items as children."""

    def __init__(self, view: AccessibleCanvas) -> None:
        super().__init__(view, QAccessible.Role.Chart, view.accessibleName())
        self._view = view

    def text(self, kind: QAccessible.Text) -> str:
        return str(self._view.summary) if kind == QAccessible.Text.Description else super().text(kind)

    def childCount(self) -> int:
        return len(self._view.list_accessible_items())

    def child(self, index: int) -> QAccessibleInterface:
        voices = self._view.list_accessible_items()
        if not 0 <= index < len(voices):  # the item may have been removed since the last query
            return NO_ACCESSIBLE_INTERFACE
        return QAccessible.queryAccessibleInterface(voices[index])

    def indexOfChild(self, child: QAccessibleInterface) -> int:
        voices = self._view.list_accessible_items()
        return next((index for index, voice in enumerate(voices) if voice is child.object()), -1)


def _get_interface(_: str, target: QObject) -> QAccessibleInterface | None:
    if isinstance(target, AccessibleItem):
        return _ItemInterface(target)
    return _ViewInterface(target) if isinstance(target, AccessibleCanvas) else None


@cache
def install_interface_factory() -> None:
    """Register the factory of the canvas's accessible interfaces with Qt, once per process."""
    register_interface_factory(_get_interface)


ZOOM_STEP: Final = 1.2
ZOOM_MIN, ZOOM_MAX = 0.25, 4.0
FIT_ZOOM_MAX: Final = 1.7
"""Maximum zoom of the automatic fit."""
READABLE_ZOOM_MIN: Final = 0.9
"""Minimum zoom for wide cards. Assumed: text is easy to read at nine tenths of its size."""
TEXT_HEIGHT_MIN_PX: Final = 11.0
"""Minimum text height on wide cards in pixels. If it cannot be reached, compact cards are tried."""


class TopologyCanvas(QGraphicsView):
    """Canvas that can be zoomed by wheel and keys, panned by dragging free space, and fitted."""

    def __init__(self, scene: TopologyScene, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._scene = scene
        self._is_fitted = True
        self._is_fitting = False
        self._fit_due = False
        """True if the extent changed while a mouse button was down on an item.

        The view fits it afterwards.
        """
        self._pan_from: QPoint | None = None
        scene.setParent(self)
        self.setScene(scene)
        self.setRenderHint(QPainter.RenderHint.Antialiasing)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTransformationAnchor(QGraphicsView.ViewportAnchor.AnchorUnderMouse)
        self.setFrameShape(QGraphicsView.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        scene.extent_changed.connect(self._on_extent_changed)
        scene.text_changed.connect(self._on_text_changed)

    def get_covered_rect(self) -> QRect:
        """Return the rectangle in pixels that an overlay covers at the lower edge.

        When the view is fitted to all cards, no card is placed under the overlay.
        """
        return QRect()

    @Slot()
    def fit_all(self) -> None:
        """Show everything, also after later changes of size, until the user zooms or pans."""
        self._is_fitted = True
        if self._scene.get_extent().isEmpty() or self.viewport().width() < 20:
            self.setSceneRect(self._scene.get_extent())
            return
        self._is_fitting = True  # ignore changes of extent during the fit
        self._scene.set_narrow(False)
        self._fit_all_cards()
        wide = self.get_zoom()
        if wide < max(READABLE_ZOOM_MIN, TEXT_HEIGHT_MIN_PX / self._scene.compute_smallest_text_px()):
            self._scene.set_narrow(True)
            self._fit_all_cards()
            if self.get_zoom() < wide:
                self._scene.set_narrow(False)
                self._fit_all_cards()
        self._is_fitting = False

    def _fit_all_cards(self) -> None:
        """Show all cards in their current positions. Leave the overlay at the lower edge free of cards."""
        extent = self._scene.get_extent()
        self._fit_extent(extent, 0)
        covered_rect = self.get_covered_rect()
        boxes = (node.get_card_rect().translated(node.pos()) for node in self._scene.nodes.values())
        if any(self.mapFromScene(box).boundingRect().intersects(covered_rect) for box in boxes):
            self._fit_extent(extent, self.height() - covered_rect.top())

    def _fit_extent(self, extent: QRectF, free_px: int) -> None:
        """Show all of *extent*, above a free strip of *free_px* at the lower edge."""
        width, height = self.viewport().width(), max(20, self.viewport().height() - free_px)
        zoom = min(width / extent.width(), height / extent.height(), FIT_ZOOM_MAX)
        self.resetTransform()
        self.scale(zoom, zoom)
        self.setSceneRect(extent.adjusted(0.0, 0.0, 0.0, free_px / zoom))
        self.centerOn(extent.center() + QPointF(0.0, free_px / zoom / 2.0))

    @Slot()
    def zoom_in(self) -> None:
        """Zoom in by one step."""
        self._zoom_by(ZOOM_STEP)

    @Slot()
    def zoom_out(self) -> None:
        """Zoom out by one step."""
        self._zoom_by(1.0 / ZOOM_STEP)

    def get_zoom(self) -> float:
        """Return the zoom factor."""
        return self.transform().m11()

    def _zoom_by(self, factor: float) -> None:
        factor = max(ZOOM_MIN, min(ZOOM_MAX, self.get_zoom() * factor)) / self.get_zoom()
        self._is_fitted = False
        self._extend_scene_rect()
        self.scale(factor, factor)

    def _extend_scene_rect(self) -> None:
        extent = self._scene.get_extent()
        self.setSceneRect(extent.adjusted(-extent.width(), -extent.height(), extent.width(), extent.height()))

    def _on_extent_changed(self) -> None:
        self._fit_due = self._scene.mouseGrabberItem() is not None
        if self._is_fitted and not self._is_fitting and not self._fit_due:
            self.fit_all()

    def _on_text_changed(self) -> None:
        if not self.sceneRect().contains(self._scene.get_extent()):
            self._on_extent_changed()

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._is_fitted:
            self.fit_all()

    @override
    def wheelEvent(self, event: QWheelEvent) -> None:
        steps = event.angleDelta().y() / 120.0
        if steps:
            self._zoom_by(ZOOM_STEP**steps)
        event.accept()

    def _begin_pan(self, position: QPoint) -> None:
        self._pan_from = position
        self.viewport().setCursor(Qt.CursorShape.ClosedHandCursor)

    @override
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._pan_from is None:
            super().mouseMoveEvent(event)
            return
        if self._is_fitted:
            self._is_fitted = False
            self._extend_scene_rect()
        distance = event.position().toPoint() - self._pan_from
        self._pan_from = event.position().toPoint()
        self.horizontalScrollBar().setValue(self.horizontalScrollBar().value() - distance.x())
        self.verticalScrollBar().setValue(self.verticalScrollBar().value() - distance.y())

    def _end_pan(self) -> bool:
        """End panning. Return whether the canvas was being panned."""
        panned = self._pan_from is not None
        if panned:
            self._pan_from = None
            self.viewport().unsetCursor()
        return panned


class AccessibleCanvas(TopologyCanvas):
    """Canvas with items that are accessible to screen readers."""

    @property
    def summary(self) -> str:
        """Description of the whole topology."""
        raise NotImplementedError

    def list_accessible_items(self) -> list[AccessibleItem]:
        """Return the accessible items in reading order."""
        raise NotImplementedError
