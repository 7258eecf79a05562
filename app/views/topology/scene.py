"""Scene of the topology: creates, updates and places the items for the topology's contents."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from msgspec.structs import replace
from PySide6.QtCore import QObject, QPointF, QRectF, Signal
from PySide6.QtGui import QFontInfo
from PySide6.QtWidgets import QGraphicsScene

from app.view_models.action_offers import ActionTarget
from app.view_models.topology_contents import ClientDisplay, LinkDisplay, ServerDisplay, TopologyContents
from app.views.topology.card_items import CardItem, ClientCardItem, ServerCardItem
from app.views.topology.card_layout import RING_PARTNERS_MIN, CardCenter, CardSize, compute_card_centers
from app.views.topology.links import LinkItem
from app.views.topology.notes import NOTES_MAX, NoteItem, PlacedNote
from app.widgets.scene_symbols import SceneStyle

SceneItem = CardItem[Any] | LinkItem | NoteItem

DIMMED_OPACITY: Final = 0.16
"""Opacity of objects outside the spotlight. They are visible, but not legible."""

CARD_GAP_UNITS: Final = {False: 7.0, True: 5.2}
"""Gap between adjacent cards in line heights, for the texts of links. The key is True for compact cards."""
CARD_HEAD_UNITS: Final = 2.1
"""Height of the head of a compact card in line heights. Links between replicas end at the head."""
SCENE_MARGIN_UNITS: Final = 0.4


class TopologyScene(QGraphicsScene):
    """Scene with the cards, links and notes of one drill."""

    extent_changed = Signal()
    """Signal: an item was added, removed, moved or resized."""
    text_changed = Signal()
    """Signal: texts outside the cards may have become larger."""

    def __init__(self, style: SceneStyle, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.nodes: dict[str, CardItem[Any]] = {}
        self.links: dict[frozenset[str], LinkItem] = {}
        self.notes: list[NoteItem] = []
        self._highlighted_targets: set[ActionTarget] = set()
        self._style = style
        self._moved_centers: dict[str, CardCenter] = {}
        """Positions of the cards that the user has moved, by name."""
        self._is_arranging = False
        self._replicas: set[str] = set()
        """Servers that links between replicas have reached; links change with failovers, positions do not."""
        self.selectionChanged.connect(self.text_changed)

    # --- content --------------------------------------------------------------------------------------------

    def show_contents(self, contents: TopologyContents) -> None:
        """Update the items from *contents*. Create new items and remove obsolete ones."""
        sizes = self._list_sizes()
        self._show_cards(contents)
        ends = {name_pair: (link.display.a, link.display.b) for name_pair, link in self.links.items()}
        self._show_links(contents)
        self._update_opacities()
        if sizes != self._list_sizes():
            self.arrange_cards()
        elif ends != {name_pair: (link.display.a, link.display.b) for name_pair, link in self.links.items()}:
            self._draw_lines()
        else:
            self.text_changed.emit()

    def show_style(self, style: SceneStyle) -> None:
        """Apply colors and fonts to all items."""
        self._style = replace(style, narrow=self._style.narrow)
        for item in self.list_items_in_order():
            item.show_style(self._style)
        self.arrange_cards()

    def compute_smallest_text_px(self) -> float:
        """Return the height of the smallest text in pixels at zoom 1."""
        return QFontInfo(self._style.small).pixelSize()

    def set_narrow(self, narrow: bool) -> None:
        """Set whether the cards are compact and close together."""
        if narrow != self._style.narrow:
            self._style = replace(self._style, narrow=narrow)
            self.show_style(self._style)

    def _show_cards(self, contents: TopologyContents) -> None:
        displays: dict[str, ServerDisplay | ClientDisplay] = {face.name: face for face in contents.servers}
        displays |= {face.name: face for face in contents.clients}
        for name in self.nodes.keys() - displays.keys():
            self.removeItem(self.nodes.pop(name))
        for name, display in displays.items():
            if name in self.nodes:
                self.nodes[name].show_display(display)
            else:
                self.nodes[name] = _create_card(display, self._style)
                self.addItem(self.nodes[name])

    def _show_links(self, contents: TopologyContents) -> None:
        displays: dict[frozenset[str], LinkDisplay] = {
            frozenset((face.a, face.b)): face for face in contents.links
        }
        for name_pair in self.links.keys() - displays.keys():
            self.removeItem(self.links.pop(name_pair))
        for name_pair, display in displays.items():
            if name_pair in self.links:
                self.links[name_pair].show_display(display)
            else:
                self.links[name_pair] = LinkItem(display, self._style)
                self.addItem(self.links[name_pair])

    def _list_sizes(self) -> dict[str, tuple[float, float]]:
        return {
            name: (node.get_card_rect().width(), node.get_card_rect().height())
            for name, node in self.nodes.items()
        }

    def list_items_in_order(self) -> list[SceneItem]:
        """Return the items in Tab order: cards by creation, then links, then notes."""
        return [*self.nodes.values(), *self.links.values(), *self.notes]

    def find_item(self, target: ActionTarget) -> SceneItem | None:
        """Return the item of *target*, or None."""
        return next((item for item in self.list_items_in_order() if item.target == target), None)

    # --- notes and light ------------------------------------------------------------------------------------

    def add_note(self, text: str, x: float, y: float) -> NoteItem:
        """Add a note whose upper left corner is at (*x*, *y*)."""
        note = NoteItem(text, self._style, self._on_note_changed)
        note.setPos(x, y)
        self.notes.append(note)
        self.addItem(note)
        self.extent_changed.emit()
        return note

    def show_notes(self, notes: Iterable[PlacedNote]) -> None:
        """Replace all notes by *notes*."""
        for note in list(self.notes):
            self.remove_note(note)
        for text, x, y in list(notes)[:NOTES_MAX]:
            self.add_note(text, x, y)

    def remove_note(self, note: NoteItem) -> None:
        """Remove *note*, if it exists."""
        if note in self.notes:
            self.notes.remove(note)
            self.removeItem(note)
            self.extent_changed.emit()

    def _on_note_changed(self, note: NoteItem) -> None:
        if not note.is_editing and not note.display.text:
            self.remove_note(note)
        elif note.is_editing:
            self.text_changed.emit()
        else:
            self.extent_changed.emit()

    @property
    def highlighted_targets(self) -> frozenset[ActionTarget]:
        """Targets in the spotlight. Empty if nothing is dimmed."""
        return frozenset(self._highlighted_targets)

    def highlight_only(self, targets: Iterable[ActionTarget]) -> None:
        """Dim everything except *targets*, the links between them, and notes. Without targets, dim nothing."""
        self._highlighted_targets = set(targets)
        self._update_opacities()

    def _update_opacities(self) -> None:
        names = {
            target.names[0] for target in self._highlighted_targets if target.kind in ("server", "client")
        }
        items: list[SceneItem] = [*self.nodes.values(), *self.links.values()]
        for item in items:
            joins_names = isinstance(item, LinkItem) and {item.display.a, item.display.b} <= names
            item.setOpacity(
                1.0
                if not self._highlighted_targets or item.target in self._highlighted_targets or joins_names
                else DIMMED_OPACITY
            )

    # --- positions ------------------------------------------------------------------------------------------

    def arrange_cards(self) -> None:
        """Place every card where the user moved it, or in its default position."""
        cards_by_kind: dict[str, list[tuple[str, CardSize]]] = {"partner": [], "witness": [], "client": []}
        for name, node in self.nodes.items():
            kind = "client"
            if isinstance(node, ServerCardItem):
                kind = "witness" if node.is_small else "partner"
            cards_by_kind[kind].append(
                (name, CardSize(node.get_card_rect().width(), node.get_card_rect().height()))
            )
        shares = [card for card in cards_by_kind["witness"] if self.nodes[card[0]].display.kind == "share"]
        other_cards = [card for card in cards_by_kind["witness"] if card not in shares]
        # Place the shares in the middle of the row. From there, their links reach most nodes without passing
        # behind another node.
        middle = len(other_cards) // 2
        cards_by_kind["witness"] = [*other_cards[:middle], *shares, *other_cards[middle:]]
        gap = CARD_GAP_UNITS[self._style.narrow] * self._style.unit
        displays = [link.display for link in self.links.values() if link.display.kind == "replica"]
        self._replicas |= {end for display in displays for end in (display.a, display.b)}
        arc = len(self._replicas & {name for name, _ in cards_by_kind["partner"]}) > 2
        head = CARD_HEAD_UNITS * self._style.unit if self._style.narrow else 0.0
        places = (
            compute_card_centers(
                cards_by_kind["partner"], cards_by_kind["witness"], cards_by_kind["client"], gap, arc, head
            )
            | self._moved_centers
        )
        self._is_arranging = True
        for name, node in self.nodes.items():
            node.setPos(QPointF(*places[name]))
        self._is_arranging = False
        self._draw_lines()

    def list_moved_positions(self) -> dict[str, CardCenter]:
        """Return name -> position for the cards that the user moved, for storage."""
        return {name: place for name, place in self._moved_centers.items() if name in self.nodes}

    def place_cards(self, centers: Mapping[str, CardCenter]) -> None:
        """Place the cards in *centers* at these centers, and all other cards in their default positions."""
        self._moved_centers = dict(centers)
        self.arrange_cards()

    def handle_card_move(self, name: str, position: QPointF) -> None:
        """Store the position of a card that the user moved, and update its links."""
        if not self._is_arranging:
            self._moved_centers[name] = (position.x(), position.y())
            self._draw_lines()

    def _draw_lines(self) -> None:
        boxes = {name: node.get_card_rect().translated(node.pos()) for name, node in self.nodes.items()}
        center = self._compute_extent(boxes).center()
        for link in self.links.values():
            head = (
                self._style.narrow and link.display.kind in ("replica", "witness") and len(self._replicas) > 2
            )
            a, b = (
                self._compute_head(boxes[end]) if head else boxes[end]
                for end in (link.display.a, link.display.b)
            )
            link.show_line(a, b, center)
        crowded = len(self._replicas & self.nodes.keys()) >= RING_PARTNERS_MIN
        for link in self.links.values():
            other_lines = [other_link.line for other_link in self.links.values() if other_link is not link]
            link.set_obstacles(list(boxes.values()), other_lines, crowded)
        self.extent_changed.emit()

    def _compute_head(self, box: QRectF) -> QRectF:
        return QRectF(box.left(), box.top(), box.width(), CARD_HEAD_UNITS * self._style.unit)

    def get_extent(self) -> QRectF:
        """Return the bounding rectangle of all items, with a margin."""
        boxes = {name: node.get_card_rect().translated(node.pos()) for name, node in self.nodes.items()}
        margin = SCENE_MARGIN_UNITS * self._style.unit
        box: QRectF = self._compute_extent(boxes)
        for link in self.links.values():
            box = box.united(link.boundingRect())
        for note in self.notes:
            box = box.united(note.sceneBoundingRect())
        return box.adjusted(-margin, -margin, margin, margin)

    @staticmethod
    def _compute_extent(boxes: Mapping[str, QRectF]) -> QRectF:
        box = QRectF()
        for other_box in boxes.values():
            box = box.united(other_box)
        return box


def _create_card(
    display: ServerDisplay | ClientDisplay, style: SceneStyle
) -> ServerCardItem | ClientCardItem:
    return (
        ServerCardItem(display, style)
        if isinstance(display, ServerDisplay)
        else ClientCardItem(display, style)
    )
