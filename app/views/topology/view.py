"""The topology on screen: mouse, keys, zoom, menus and spoken summaries around the scene."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

from PySide6.QtCore import QEvent, QPoint, Qt, Signal, Slot
from PySide6.QtGui import (
    QAccessible,
    QAccessibleEvent,
    QAction,
    QContextMenuEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QGraphicsView, QMenu, QWidget

from app import theme
from app.acts import Acts
from app.offers import Target
from app.picture import Picture, picture_of, veiled
from app.views.topology.links import LinkItem
from app.views.topology.look import look
from app.views.topology.nodes import Node
from app.views.topology.places import Place, nearest
from app.views.topology.scene import Item, TopologyScene
from app.views.topology.tools import Tools, zoom_actions
from engine.constants import TICKS_PER_S
from engine.drill.modes import Terms
from engine.events import Event
from engine.model import World

MOVING_SPEED_MAX: Final = 10.0
"""Above this speed nothing moves on the links: it would only flicker."""
PING_SPEED_MAX: Final = 2.0
"""Pings would flash more than three times a second above it (WCAG 2.3.1)."""
ZOOM_STEP: Final = 1.2
ZOOM_MIN, ZOOM_MAX = 0.25, 4.0
FIT_ZOOM_MAX: Final = 1.7
"""Fitting makes nothing larger than this: cards, not posters."""
NUDGE: Final = 8.0
"""How far a key moves a card; also the grid on which dragged cards come to rest."""


class HasWorld(Protocol):
    """What is shown of a drill here."""

    @property
    def world(self) -> World: ...
    @property
    def terms(self) -> Terms: ...


_ARROWS: Final = {
    Qt.Key.Key_Left: (-1.0, 0.0),
    Qt.Key.Key_Right: (1.0, 0.0),
    Qt.Key.Key_Up: (0.0, -1.0),
    Qt.Key.Key_Down: (0.0, 1.0),
}


class Topology(QGraphicsView):
    """Servers, copies, links and applications; asks for faults and repairs as input lines."""

    requested = Signal(str)
    chosen = Signal(object)
    """The Target that is selected now, or None."""
    opened = Signal(str)
    """A server was double-clicked: somebody wants to talk to it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._scene = TopologyScene(look(theme.tokens(self.palette()), self.font()), self)
        self.setScene(self._scene)
        self._world: World | None = None
        self._veiled = False
        self._speed = 1.0
        self._reduced_motion = False
        self._phase_s = 0.0
        self._last_tick: int | None = None
        self._fitted = True
        self._pan_from: QPoint | None = None
        self.acts = Acts(self)
        """Shared with whatever else shows the same things."""
        self.acts.requested.connect(self.requested)
        self.setRenderHint(QPainter.RenderHint.Antialiasing)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTransformationAnchor(QGraphicsView.ViewportAnchor.AnchorUnderMouse)
        self.setFrameShape(QGraphicsView.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Topology")
        self.tools = zoom_actions(
            self,
            (
                ("larger", "Zoom in (+)", self.zoom_in),
                ("smaller", "Zoom out (-)", self.zoom_out),
                ("fit", "Fit everything in (0)", self.fit),
                ("rearrange", "Put every card back where it belongs", self.rearrange),
            ),
        )
        self._bar = Tools(self, self.tools, self._fill_for_selected)
        self._scene.selectionChanged.connect(self._on_selection_changed)
        self._scene.extent_changed.connect(self._on_extent_changed)
        self._show_theme()

    # --- what is shown --------------------------------------------------------------------------------------

    @Slot(object)
    def show_drill(self, drill: HasWorld) -> None:
        """Show another drill, or another moment of it, from the start."""
        self._last_tick = None
        self._phase_s = 0.0
        self._veiled = not drill.terms.truth
        self.show_world(drill.world)

    @Slot(object)
    def show_world(self, world: World) -> None:
        self._world = world
        picture = self._picture_of(world)
        self._scene.show_picture(picture)
        self._move_traffic(world.tick)
        self.setAccessibleDescription(picture.spoken)
        for item in self._scene.items_in_order():
            item.setToolTip(_tip(item))

    @Slot(list)
    def add_events(self, events: Sequence[Event]) -> None:
        """Speak changes of state, role and service to those who cannot see the picture."""
        told = () if self._veiled else ("state", "role", "availability")
        spoken = [_spoken(event) for event in events if event.kind in told]
        if spoken and QAccessible.isActive():
            self.setAccessibleDescription(". ".join(spoken))
            QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.DescriptionChanged))

    @Slot(float)
    def set_speed(self, speed: float) -> None:
        """Simulated seconds in a second: fast runs show no moving blocks."""
        self._speed = speed

    @Slot(bool)
    def set_reduced_motion(self, reduced: bool) -> None:
        self._reduced_motion = reduced

    def picture(self) -> Picture | None:
        """What is shown now."""
        return self._picture_of(self._world) if self._world else None

    def _picture_of(self, world: World) -> Picture:
        picture = picture_of(world)
        return veiled(picture) if self._veiled else picture

    def _move_traffic(self, tick: int) -> None:
        passed_s = (tick - self._last_tick) / TICKS_PER_S if self._last_tick is not None else 0.0
        self._last_tick = tick
        self._phase_s += max(0.0, passed_s) / math.sqrt(max(1.0, self._speed))
        moving = self._speed <= MOVING_SPEED_MAX and not self._reduced_motion
        pings = tick / TICKS_PER_S % 1.0 if self._speed <= PING_SPEED_MAX else 1.0
        for link in self._scene.links.values():
            link.show_traffic(moving, self._phase_s, pings)

    # --- choosing and doing ---------------------------------------------------------------------------------

    def target(self) -> Target | None:
        """What is selected."""
        item = self._selected()
        return item.target if item else None

    def choose(self, target: Target) -> None:
        """Select *target*, if it is there, and bring it into view."""
        item = self._scene.item_of(target)
        if item is not None:
            self._select(item)

    def actions_for(self, target: Target) -> list[QAction]:
        """What may be done to *target* now; the same act is always the same QAction object."""
        return self.acts.actions_for(self._world, target, self.palette()) if self._world else []

    def fill_menu(self, menu: QMenu, target: Target) -> None:
        """Put the acts for *target* into *menu*."""
        if self._world is not None:
            self.acts.fill_menu(menu, self._world, target)

    def _fill_for_selected(self, menu: QMenu) -> None:
        target = self.target()
        if target is not None:
            self.fill_menu(menu, target)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        by_mouse = event.reason() == QContextMenuEvent.Reason.Mouse
        item = self._item_at(event.pos()) if by_mouse else self._selected()
        if item is None:
            return
        self._select(item)
        place = event.globalPos() if by_mouse else self._place_of(item)
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.fill_menu(menu, item.target)
        menu.popup(place)

    def _place_of(self, item: Item) -> QPoint:
        centre = item.line.center() if isinstance(item, LinkItem) else item.pos()
        return self.viewport().mapToGlobal(self.mapFromScene(centre))

    def _item_at(self, place: QPoint) -> Item | None:
        found = self.itemAt(place)
        return found if isinstance(found, Node | LinkItem) else None

    def _selected(self) -> Item | None:
        return next((item for item in self._scene.items_in_order() if item.isSelected()), None)

    def _select(self, item: Item) -> None:
        if not item.isSelected():
            self._scene.clearSelection()
            item.setSelected(True)
        if not self._fitted:
            self.ensureVisible(item)

    def _on_selection_changed(self) -> None:
        item = self._selected()
        if item is not None:
            self.setAccessibleDescription(item.face.spoken)
            QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.DescriptionChanged))
        self._bar.show_target(item.target.title if item else None)
        self.chosen.emit(item.target if item else None)

    # --- keys -----------------------------------------------------------------------------------------------

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, modifiers = event.key(), event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if key in _ARROWS and modifiers == Qt.KeyboardModifier.NoModifier:
            self._go(_ARROWS[Qt.Key(key)])
        elif key in _ARROWS and modifiers == Qt.KeyboardModifier.ShiftModifier:
            self._nudge(_ARROWS[Qt.Key(key)])
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._open_menu()
        elif key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal):
            self.zoom_in()
        elif key == Qt.Key.Key_Minus:
            self.zoom_out()
        elif key == Qt.Key.Key_0:
            self.fit()
        elif key == Qt.Key.Key_Escape:
            self._scene.clearSelection()
        else:
            super().keyPressEvent(event)

    def focusNextPrevChild(self, forwards: bool) -> bool:
        """Tab goes from item to item; past the last one it leaves the canvas."""
        items = self._scene.items_in_order()
        item = self._selected()
        index = items.index(item) + (1 if forwards else -1) if item else 0 if forwards else len(items) - 1
        if items and 0 <= index < len(items):
            self._select(items[index])
            return True
        self._scene.clearSelection()
        return super().focusNextPrevChild(forwards)

    def _go(self, direction: Place) -> None:
        places = {item.target: _centre(item) for item in self._scene.items_in_order()}
        item = self._selected()
        if not places:
            return
        if item is None:
            self._select(self._scene.items_in_order()[0])
            return
        names = {target.title: place for target, place in places.items()}
        found = nearest(names, item.target.title, direction)
        self.choose(next((target for target in places if target.title == found), item.target))

    def _nudge(self, direction: Place) -> None:
        item = self._selected()
        if isinstance(item, Node):
            item.moveBy(direction[0] * NUDGE, direction[1] * NUDGE)

    def _open_menu(self) -> None:
        item = self._selected()
        if item is not None:
            place = self._place_of(item)
            event = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, self.mapFromGlobal(place), place)
            self.contextMenuEvent(event)

    # --- zoom, pan, places ----------------------------------------------------------------------------------

    @Slot()
    def fit(self) -> None:
        """Show everything, and keep doing so when the panel changes its size."""
        self._fitted = True
        extent = self._scene.extent()
        self.setSceneRect(extent)
        if extent.isEmpty() or self.viewport().width() < 20:
            return
        view = self.viewport()
        zoom = min(view.width() / extent.width(), view.height() / extent.height(), FIT_ZOOM_MAX)
        self.resetTransform()
        self.scale(zoom, zoom)
        self.centerOn(extent.center())

    @Slot()
    def zoom_in(self) -> None:
        self._zoom(ZOOM_STEP)

    @Slot()
    def zoom_out(self) -> None:
        self._zoom(1.0 / ZOOM_STEP)

    def zoom(self) -> float:
        return self.transform().m11()

    def _zoom(self, factor: float) -> None:
        factor = max(ZOOM_MIN, min(ZOOM_MAX, self.zoom() * factor)) / self.zoom()
        self._fitted = False
        self._make_room()
        self.scale(factor, factor)

    def _make_room(self) -> None:
        extent = self._scene.extent()
        self.setSceneRect(extent.adjusted(-extent.width(), -extent.height(), extent.width(), extent.height()))

    def places(self) -> dict[str, Place]:
        """Where somebody has put cards, to be remembered."""
        return self._scene.moved_places()

    def put(self, places: Mapping[str, Place]) -> None:
        """Put cards where they were last time; without *places* where they belong."""
        self._scene.put(places)

    @Slot()
    def rearrange(self) -> None:
        """Put everything back where it belongs."""
        self._scene.put({})
        self.fit()

    def _on_extent_changed(self) -> None:
        if self._fitted and self._scene.mouseGrabberItem() is None:
            self.fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._bar.place()
        if self._fitted:
            self.fit()

    def wheelEvent(self, event: QWheelEvent) -> None:
        steps = event.angleDelta().y() / 120.0
        if steps:
            self._zoom(ZOOM_STEP**steps)
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        empty = self._item_at(event.position().toPoint()) is None
        if event.button() == Qt.MouseButton.MiddleButton or (
            event.button() == Qt.MouseButton.LeftButton and empty
        ):
            self._pan_from = event.position().toPoint()
            self._scene.clearSelection()
            self.viewport().setCursor(Qt.CursorShape.ClosedHandCursor)
            return
        if event.button() != Qt.MouseButton.RightButton:  # the right one opens the menu and keeps the choice
            super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._pan_from is None:
            super().mouseMoveEvent(event)
            return
        if self._fitted:
            self._fitted = False
            self._make_room()
        moved = event.position().toPoint() - self._pan_from
        self._pan_from = event.position().toPoint()
        self.horizontalScrollBar().setValue(self.horizontalScrollBar().value() - moved.x())
        self.verticalScrollBar().setValue(self.verticalScrollBar().value() - moved.y())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self._pan_from is not None:
            self._pan_from = None
            self.viewport().unsetCursor()
            return
        grabbed = self._scene.mouseGrabberItem()
        super().mouseReleaseEvent(event)
        if isinstance(grabbed, Node):
            grabbed.setPos(round(grabbed.x() / NUDGE) * NUDGE, round(grabbed.y() / NUDGE) * NUDGE)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        item = self._item_at(event.position().toPoint())
        if item is None:
            self.fit()
        elif item.target.kind == "server":
            self.opened.emit(item.target.names[0])

    # --- theme ----------------------------------------------------------------------------------------------

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange):
            self._show_theme()

    def _show_theme(self) -> None:
        colours = theme.tokens(self.palette())
        self._scene.show_style(look(colours, self.font()))
        self.setBackgroundBrush(colours.surface)
        self._bar.show_theme()


def _centre(item: Item) -> Place:
    centre = item.line.center() if isinstance(item, LinkItem) else item.pos()
    return centre.x(), centre.y()


def _tip(item: Any) -> str:
    spoken: str = item.face.spoken
    return spoken.replace("; ", "\n")


def _spoken(event: Event) -> str:
    where = " ".join(part for part in (event.server, event.database) if part)
    return f"{where} {event.text}".strip()
