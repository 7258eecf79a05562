"""Topology view: handles mouse, keys, zoom, menus and spoken summaries for the scene."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QRectF, Qt, Signal, Slot
from PySide6.QtGui import (
    QAccessible,
    QAccessibleEvent,
    QAction,
    QContextMenuEvent,
    QHelpEvent,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QApplication, QLabel, QMenu, QToolTip, QWidget

from app.view_models.action_offers import ActionTarget
from app.view_models.preview import preview_impact
from app.view_models.topology_builder import HasPermissions, build_topology_contents, hide_unknown_facts
from app.view_models.topology_contents import StatusIndicator, TopologyContents
from app.views.topology.canvas import AccessibleCanvas, AccessibleItem, install_interface_factory
from app.views.topology.card_items import CardItem, ServerCardItem
from app.views.topology.card_layout import CardCenter, find_nearest_object
from app.views.topology.links import LinkItem
from app.views.topology.notes import NOTES_MAX, NoteItem, PlacedNote
from app.views.topology.scene import SceneItem, TopologyScene
from app.views.topology.tools import CanvasTools, SearchBox, build_zoom_actions
from app.widgets import theme
from app.widgets.scene_symbols import build_scene_style
from app.widgets.screen_reader import announce_text
from app.widgets.shared_actions import SharedActions
from app.widgets.tables import escape_tip
from app.words.language import tr
from engine.constants import TICKS_PER_S
from engine.events import Event
from engine.model import Role, World
from engine.overrides import override

TRAFFIC_SPEED_MAX: Final = 10.0
"""Maximum speed with animated traffic. Above it, the links would only flicker."""
PING_SPEED_MAX: Final = 2.0
"""Maximum speed with pings. Above it, they would flash more than three times per second (WCAG 2.3.1)."""
PREVIEW_WIDTH_SHARE: Final = 0.35
"""Width of the corner with an action's preview text, as a share of the view.

The layout leaves the corner free.
"""
CARD_MOVE_STEP: Final = 8.0
"""Distance by which a key moves a card, and grid size for dragged cards, in scene units."""


_DIRECTION_BY_ARROW_KEY: Final = {
    Qt.Key.Key_Left: (-1.0, 0.0),
    Qt.Key.Key_Right: (1.0, 0.0),
    Qt.Key.Key_Up: (0.0, -1.0),
    Qt.Key.Key_Down: (0.0, 1.0),
}


class TopologyView(AccessibleCanvas):
    """View of servers, copies, links and applications. It emits faults and repairs as input lines."""

    requested = Signal(str)
    target_chosen = Signal(object)
    """Signal: selected ActionTarget, or None."""
    database_chosen = Signal(str)
    """Signal: name of the database that the user opened, for other views."""
    server_opened = Signal(str)
    """Signal: name of a double-clicked server, for a query window."""

    def __init__(self, parent: QWidget | None = None) -> None:
        colors = theme.get_theme_tokens(parent.palette() if parent is not None else QApplication.palette())
        super().__init__(TopologyScene(build_scene_style(colors, QApplication.font())), parent)
        install_interface_factory()
        self._accessible_items: dict[int, AccessibleItem] = {}
        self._world: World | None = None
        self._opened = ""
        """Database whose copies are shown in full although there are many."""
        self._press_at = QPoint()
        self._is_dimmed = False
        self.limit: Callable[[TopologyContents, World], TopologyContents] = lambda picture, _: picture
        """Function that returns the part of a picture that a role of a team can see."""
        self._speed = 1.0
        self._reduced_motion = False
        self._phase_s = 0.0
        self._last_tick: int | None = None
        self.shared_actions = SharedActions(self)
        """Actions shared with other views of the same objects."""
        self.shared_actions.requested.connect(self.requested)
        self.shared_actions.query_wanted.connect(self.server_opened)
        self.setAccessibleName(tr("Topology"))
        self.tools = build_zoom_actions(
            self,
            (
                ("note", tr("Add a note to the topology (Shift+N)"), self.add_note),
                (
                    "spotlight",
                    tr("Spotlight: dim all items except the selection (Shift+S)"),
                    self.toggle_spotlight,
                ),
                ("find", tr("Find a server, application or database (Ctrl+F)"), self.open_find_box),
                ("larger", tr("Zoom in (+)"), self.zoom_in),
                ("smaller", tr("Zoom out (-)"), self.zoom_out),
                ("fit", tr("Fit to window (0)"), self.fit_all),
                ("rearrange", tr("Reset the card positions"), self.reset_positions),
            ),
        )
        self._finder = SearchBox(self, self._list_names)
        self._finder.match_found.connect(self.select_object)
        self._caption = QLabel(self, margin=6, wordWrap=True)
        self._caption.setObjectName("caption")
        self._caption.move(8, 8)
        self._caption.hide()
        self._previewed_targets: tuple[ActionTarget, ...] = ()
        self.contents: TopologyContents | None = None
        self.shared_actions.line_hovered.connect(self.show_preview)
        self._bar = CanvasTools(self, self.tools, self._fill_selection_menu)
        self._scene.selectionChanged.connect(self._on_selection_changed)
        self._show_theme()
        theme.call_after_events(self, theme.APPEARANCE_EVENTS, self._show_theme)

    # --- display --------------------------------------------------------------------------------------------

    @Slot(object)
    def show_drill(self, drill: HasPermissions) -> None:
        """Show another run, or another time of the same run."""
        self._last_tick = None
        self._phase_s = 0.0
        self._is_dimmed = not drill.permissions.shows_truth
        self.shared_actions.truth = drill.permissions.shows_truth
        self.show_world(drill.world)

    @Slot(object)
    def show_world(self, world: World) -> None:
        """Show the current state of the world."""
        self._world = world
        self.contents = self._build_contents(world)
        self._scene.show_contents(self.contents)
        self._move_traffic(world.tick)
        for item in self._scene.list_items_in_order():
            item.setToolTip(_format_tip(item))

    @property
    def summary(self) -> str:
        """Sentences about the selected item, or about all items, for screen readers.

        They are computed on request, because they change in every frame.
        """
        item = self._get_selected_item()
        if item is not None:
            return str(item.display.accessible_text)
        return self.contents.spoken if self.contents is not None else ""

    @Slot(list)
    def add_events(self, events: Sequence[Event]) -> None:
        """Ignore *events*. The canvas shows the world, and the window announces events."""

    @Slot(float)
    def set_speed(self, speed: float) -> None:
        """Set the speed in simulated seconds per second. Traffic is not animated at high speeds."""
        self._speed = speed

    @Slot(bool)
    def set_reduced_motion(self, reduced: bool) -> None:
        """Disable animations if *reduced* is True."""
        self._reduced_motion = reduced

    def list_accessible_items(self) -> list[AccessibleItem]:
        """Return an accessible item for every item, in Tab order."""
        items = self._scene.list_items_in_order()
        for key in self._accessible_items.keys() - {id(item) for item in items}:
            self._accessible_items.pop(key).deleteLater()
        for item in items:
            if id(item) not in self._accessible_items:
                self._accessible_items[id(item)] = AccessibleItem(self, item)
        return [self._accessible_items[id(item)] for item in items]

    def _build_contents(self, world: World) -> TopologyContents:
        picture = self.limit(build_topology_contents(world, self._opened), world)
        return hide_unknown_facts(picture) if self._is_dimmed else picture

    def _move_traffic(self, tick: int) -> None:
        passed_s = (tick - self._last_tick) / TICKS_PER_S if self._last_tick is not None else 0.0
        self._last_tick = tick
        self._phase_s += max(0.0, passed_s) / math.sqrt(max(1.0, self._speed))
        moving = self._speed <= TRAFFIC_SPEED_MAX and not self._reduced_motion
        pings = tick / TICKS_PER_S % 1.0 if self._speed <= PING_SPEED_MAX else 1.0
        for link in self._scene.links.values():
            link.show_traffic(moving, self._phase_s, pings)

    @property
    def opened_database(self) -> str:
        """Name of the database whose copies are shown in full. Empty means none."""
        return (
            self._opened if self._world is not None and self._opened in self._world.list_databases() else ""
        )

    @Slot(str)
    def open_database(self, name: str) -> None:
        """Show the copies of the database *name* in full on servers with grids. An empty name shows none."""
        self._opened = self.shared_actions.opened = name
        if self._world is not None:
            self.show_world(self._world)
        if name:
            self.database_chosen.emit(name)

    # --- selection and actions ------------------------------------------------------------------------------

    def get_target(self) -> ActionTarget | None:
        """Return the selected target, or None."""
        item = self._get_selected_item()
        return item.target if item else None

    def select_target(self, target: ActionTarget) -> None:
        """Select *target* and scroll to it, if it exists."""
        item = self._scene.find_item(target)
        if item is not None:
            self._select(item)

    def list_actions(self, target: ActionTarget) -> list[QAction]:
        """Return the currently possible actions for *target*.

        Every call returns the same QAction for the same input line.
        """
        return self.shared_actions.list_actions(self._world, target, self.palette()) if self._world else []

    def fill_menu(self, menu: QMenu, target: ActionTarget) -> None:
        """Add the actions for *target* to *menu*."""
        if self._world is not None:
            self.shared_actions.fill_menu(menu, self._world, target)

    def _fill_item_menu(self, menu: QMenu, item: SceneItem) -> None:
        """Fill *menu* with the actions for *item* and the actions of the view."""
        if isinstance(item, NoteItem):
            menu.addAction(tr("Edit"), item.start_editing)
            menu.addAction(tr("Remove"), lambda: self._scene.remove_note(item))
            return
        self.fill_menu(menu, item.target)
        menu.addSeparator()
        lit = item.target in self._scene.highlighted_targets
        menu.addAction(tr("Remove highlight") if lit else tr("Highlight"), self.toggle_spotlight)

    def _fill_selection_menu(self, menu: QMenu) -> None:
        target = self.get_target()
        if target is not None:
            self.fill_menu(menu, target)

    @override
    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        by_mouse = event.reason() == QContextMenuEvent.Reason.Mouse
        item = self._find_item(event.pos()) if by_mouse else self._get_selected_item()
        if item is None:
            return
        self._select(item)
        point = event.globalPos() if by_mouse else self._compute_global_center(item)
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.setToolTipsVisible(True)
        self._fill_item_menu(menu, item)
        menu.popup(point)

    def _compute_global_center(self, item: SceneItem) -> QPoint:
        center = QPointF(*_get_center(item))
        return self.viewport().mapToGlobal(self.mapFromScene(center))

    def _find_item(self, position: QPoint) -> SceneItem | None:
        item = self.itemAt(position)
        return item if isinstance(item, CardItem | LinkItem | NoteItem) else None

    def _get_selected_item(self) -> SceneItem | None:
        return next((item for item in self._scene.list_items_in_order() if item.isSelected()), None)

    def _select(self, item: SceneItem) -> None:
        if not item.isSelected():
            self._scene.clearSelection()
            item.setSelected(True)
        if not self._is_fitted:
            self.ensureVisible(item)

    def _on_selection_changed(self) -> None:
        item = self._get_selected_item()
        if item is not None and QAccessible.isActive():
            index = self._scene.list_items_in_order().index(item)
            QAccessible.updateAccessibility(
                QAccessibleEvent(self.list_accessible_items()[index], QAccessible.Event.Focus)
            )
        self._bar.show_target(item.target.title if item else None)
        self.target_chosen.emit(item.target if item else None)

    # --- keys -----------------------------------------------------------------------------------------------

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if any(note.is_editing for note in self._scene.notes):
            super().keyPressEvent(event)
            return
        key, modifiers = event.key(), event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if key in _DIRECTION_BY_ARROW_KEY and modifiers == Qt.KeyboardModifier.NoModifier:
            self._select_in_direction(_DIRECTION_BY_ARROW_KEY[Qt.Key(key)])
        elif key in _DIRECTION_BY_ARROW_KEY and modifiers == Qt.KeyboardModifier.ControlModifier:
            self._open_adjacent_database(_DIRECTION_BY_ARROW_KEY[Qt.Key(key)])
        elif key in _DIRECTION_BY_ARROW_KEY and modifiers == Qt.KeyboardModifier.ShiftModifier:
            self._move_selected(_DIRECTION_BY_ARROW_KEY[Qt.Key(key)])
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._open_menu()
        elif event.matches(QKeySequence.StandardKey.Find):
            self.open_find_box()
        elif key in _PLAIN_KEYS and modifiers == Qt.KeyboardModifier.NoModifier:
            _PLAIN_KEYS[Qt.Key(key)](self)
        elif key in _SHIFTED_KEYS and modifiers == Qt.KeyboardModifier.ShiftModifier:
            _SHIFTED_KEYS[Qt.Key(key)](self)
        elif key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal):
            self.zoom_in()
        elif key == Qt.Key.Key_Minus:
            self.zoom_out()
        elif key == Qt.Key.Key_0:
            self.fit_all()
        elif key == Qt.Key.Key_Escape and self._get_selected_item() is None:
            self._scene.highlight_only(())
        elif key == Qt.Key.Key_Escape:
            self._scene.clearSelection()
        else:
            super().keyPressEvent(event)

    def focusNextPrevChild(self, forwards: bool) -> bool:
        """Select the next or previous item on Tab. Tab on the last item leaves the canvas."""
        items = self._scene.list_items_in_order()
        item = self._get_selected_item()
        index = items.index(item) + (1 if forwards else -1) if item else 0 if forwards else len(items) - 1
        if items and 0 <= index < len(items):
            self._select(items[index])
            return True
        self._scene.clearSelection()
        return super().focusNextPrevChild(forwards)

    def _select_in_direction(self, direction: CardCenter) -> None:
        places = {item.target: _get_center(item) for item in self._scene.list_items_in_order()}
        item = self._get_selected_item()
        if not places:
            return
        if item is None:
            self._select(self._scene.list_items_in_order()[0])
            return
        names = {target.title: place for target, place in places.items()}
        nearest_name = find_nearest_object(names, item.target.title, direction)
        self.select_target(next((target for target in places if target.title == nearest_name), item.target))

    def _move_selected(self, direction: CardCenter) -> None:
        item = self._get_selected_item()
        if isinstance(item, CardItem | NoteItem):
            item.moveBy(direction[0] * CARD_MOVE_STEP, direction[1] * CARD_MOVE_STEP)

    def _open_adjacent_database(self, direction: CardCenter) -> None:
        """Open the adjacent database in the grid of the selected server."""
        item = self._get_selected_item()
        if isinstance(item, ServerCardItem) and item.display.grid:
            self.open_database(item.find_adjacent_database(self._opened, direction))
            copy = next((copy for copy in item.display.copies if copy.database == self._opened), None)
            if copy is not None:
                announce_text(self, copy.accessible_text)

    def _open_menu(self) -> None:
        item = self._get_selected_item()
        if item is not None:
            center = self._compute_global_center(item)
            event = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, self.mapFromGlobal(center), center)
            self.contextMenuEvent(event)

    # --- teaching -------------------------------------------------------------------------------------------

    @Slot()
    def add_note(self) -> None:
        """Add a note next to the selected object, or in the center, and start editing it."""
        if len(self._scene.notes) >= NOTES_MAX:
            return
        item = self._get_selected_item()
        view_center = self.mapToScene(self.viewport().rect().center())
        middle = view_center if item is None else QPointF(*_get_center(item))
        note = self._scene.add_note("", middle.x() + CARD_MOVE_STEP, middle.y() + CARD_MOVE_STEP)
        self.setFocus()
        self._select(note)
        note.start_editing()

    @Slot()
    def remove_note(self) -> None:
        """Remove the selected note."""
        item = self._get_selected_item()
        if isinstance(item, NoteItem):
            self._scene.remove_note(item)

    def list_notes(self) -> list[PlacedNote]:
        """Return all notes for storage."""
        return [note.note for note in self._scene.notes if note.display.text]

    def show_notes(self, notes: Iterable[PlacedNote]) -> None:
        """Replace all notes by *notes*."""
        self._scene.show_notes(notes)

    @Slot()
    def toggle_spotlight(self) -> None:
        """Add the selected object to the spotlight, or remove it from the spotlight.

        If no object is selected, turn the spotlight off.
        """
        target = self.get_target()
        lit = set(self._scene.highlighted_targets)
        self._scene.highlight_only(lit ^ {target} if target is not None and target.kind != "note" else ())
        text = ", ".join(
            target.title for target in sorted(self._scene.highlighted_targets, key=lambda t: t.title)
        )
        announce_text(
            self, tr("Highlighted: {things}").format(things=text) if text else tr("Highlight removed")
        )

    def highlight_only(self, targets: Iterable[ActionTarget]) -> None:
        """Dim everything except *targets*. Without targets, dim nothing."""
        self._scene.highlight_only(targets)

    @Slot()
    def open_find_box(self) -> None:
        """Open the search box."""
        self._finder.show_box()

    def _list_names(self) -> list[str]:
        """Return all names that can be found, including databases."""
        world = self._world
        return [*self._scene.nodes, *(world.list_databases() if world is not None else ())]

    @Slot(str)
    def select_object(self, name: str) -> None:
        """Select the object *name*. For a database, select its server and show its copies in full."""
        node = self._scene.nodes.get(name)
        if node is not None:
            self._select(node)
        elif self._world is not None:
            self.open_database(name)
            copies = sorted(
                self._world.list_copies_of(name), key=lambda copy: copy.mirroring.role is not Role.PRINCIPAL
            )
            if copies:
                self._select(self._scene.nodes[copies[0].server])

    @Slot(str)
    def show_preview(self, line: str) -> None:
        """Mark the objects that *line* would affect. An empty line removes the marks."""
        impact = None
        if line and self._world is not None:
            impact = preview_impact(self._world, line, truth=not self._is_dimmed)
        self._previewed_targets = impact.targets if impact is not None else ()
        self._caption.setVisible(impact is not None and bool(impact.summary))
        if impact is not None and impact.summary:
            words = tr("Affects: {things}").format(things=impact.summary)
            self._caption.setText(words)
            width = round(PREVIEW_WIDTH_SHARE * self.width())
            self._caption.setFixedWidth(width)
            self._caption.setFixedHeight(self._caption.heightForWidth(width))
            self._caption.raise_()
            announce_text(self, words)
        self.viewport().update()

    def drawForeground(self, painter: QPainter, rect: QRectF | QRect) -> None:
        """Draw a dashed frame around the objects that the previewed action would affect."""
        if not self._previewed_targets:
            return
        pen = QPen(theme.get_theme_tokens(self.palette()).accent, 2.5, Qt.PenStyle.DashLine)
        pen.setCosmetic(True)
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for target in self._previewed_targets:
            item = self._scene.find_item(target)
            if isinstance(item, CardItem):
                card = item.get_card_rect().translated(item.pos())
                painter.drawRoundedRect(card.adjusted(-7, -7, 7, 7), 8, 8)
            elif isinstance(item, LinkItem):
                painter.drawLine(item.line)

    # --- mouse and places ----------------------------------------------------------------------------------

    @override
    def get_covered_rect(self) -> QRect:
        return self._bar.geometry()

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        self._bar.move_to_corner()
        super().resizeEvent(event)

    def list_card_rects(self) -> dict[str, QRect]:
        """Return name of a server or application -> rectangle of its card in this view."""
        point = self.viewport().pos()
        return {
            name: self.mapFromScene(node.get_card_rect().translated(node.pos()))
            .boundingRect()
            .translated(point)
            for name, node in self._scene.nodes.items()
        }

    def list_moved_positions(self) -> dict[str, CardCenter]:
        """Return name -> position for the cards that the user moved, for storage."""
        return self._scene.list_moved_positions()

    def place_cards(self, centers: Mapping[str, CardCenter]) -> None:
        """Place the cards in *centers* at their stored positions, and all other cards at their default positions."""
        self._scene.place_cards(centers)

    @Slot()
    def reset_positions(self) -> None:
        """Place all cards in their default positions."""
        self._scene.place_cards({})
        self.fit_all()

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        button, self._press_at = event.button(), event.position().toPoint()
        empty = self._find_item(self._press_at) is None
        if button == Qt.MouseButton.MiddleButton or (button == Qt.MouseButton.LeftButton and empty):
            self._begin_pan(self._press_at)
            self._scene.clearSelection()
            return
        # the right button opens the menu without changing the selection
        if event.button() != Qt.MouseButton.RightButton:
            super().mousePressEvent(event)

    @override
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self._end_pan():
            return
        grabbed = self._scene.mouseGrabberItem()
        super().mouseReleaseEvent(event)
        if self._fit_due:
            self._on_extent_changed()
        point = event.position().toPoint()
        cell = self._find_cell(point)
        if event.button() == Qt.MouseButton.LeftButton and cell is not None and point == self._press_at:
            self.open_database("" if cell[0] == self._opened else cell[0])
        if isinstance(grabbed, CardItem | NoteItem):
            grabbed.setPos(
                round(grabbed.x() / CARD_MOVE_STEP) * CARD_MOVE_STEP,
                round(grabbed.y() / CARD_MOVE_STEP) * CARD_MOVE_STEP,
            )

    def _find_cell(self, position: QPoint) -> tuple[str, StatusIndicator] | None:
        """Return database and state of the grid cell at *position*, or None."""
        item = self._find_item(position)
        if not isinstance(item, ServerCardItem):
            return None
        return item.find_cell(item.mapFromScene(self.mapToScene(position)))

    def viewportEvent(self, event: QEvent) -> bool:
        """Show the database of a grid cell as its tooltip."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            cell = self._find_cell(event.pos())
            if cell is not None:
                QToolTip.showText(event.globalPos(), f"{cell[0]}: {cell[1].label}", self)
                return True
        return super().viewportEvent(event)

    @override
    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        item = self._find_item(event.position().toPoint())
        if item is None:
            self.fit_all()
        elif isinstance(item, NoteItem):
            item.start_editing()
        elif item.target.kind == "server":
            self.server_opened.emit(item.target.names[0])
        elif item.target.kind == "client":
            self.shared_actions.connection_wanted.emit(item.target.names[0])

    # --- theme ----------------------------------------------------------------------------------------------

    def _show_theme(self) -> None:
        colors = theme.get_theme_tokens(self.palette())
        self._scene.show_style(build_scene_style(colors, self.font()))
        self._caption.setStyleSheet(
            f"background: {colors.info_soft.name()}; color: {colors.info.name()};"
            f" border: 1px solid {colors.info.name()}; border-radius: 5px;"
        )
        self.setBackgroundBrush(colors.surface)
        self._bar.show_theme()


def _get_center(item: SceneItem) -> CardCenter:
    if isinstance(item, NoteItem):
        center = item.sceneBoundingRect().center()
    else:
        center = item.line.center() if isinstance(item, LinkItem) else item.pos()
    return center.x(), center.y()


def _format_tip(item: SceneItem) -> str:
    return escape_tip(item.display.accessible_text.replace("; ", "\n"))


_PLAIN_KEYS: Final = {
    Qt.Key.Key_Slash: TopologyView.open_find_box,
    Qt.Key.Key_Delete: TopologyView.remove_note,
}
"""Key -> method. The keys are also listed in app/widgets/keys.tsv."""
_SHIFTED_KEYS: Final = {Qt.Key.Key_N: TopologyView.add_note, Qt.Key.Key_S: TopologyView.toggle_spotlight}
"""Key with Shift -> method. Shift is required, so that a letter typed by mistake has no effect."""
