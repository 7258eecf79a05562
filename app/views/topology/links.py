"""Links between cards: their state, measured values, and animated traffic."""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPainterPath, QPainterPathStroker, QPen, QPolygonF
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from app.view_models.action_offers import ActionTarget
from app.view_models.topology_contents import LinkDisplay, StatusIndicator
from app.widgets.scene_symbols import (
    SceneStyle,
    build_arrow_head,
    compute_indicator_width,
    draw_indicator,
    draw_symbol,
    draw_text,
)
from engine.overrides import override

LOG_BLOCK_TRAVEL_S: Final = 1.6
"""Time in which a drawn log block moves along a link.

It is slow enough to follow, and not a measured time.
"""
PING_TRAVEL_S: Final = 0.45
"""Time in which a drawn ping moves along a link. A ping starts every simulated second, as in reality."""
NOTE_SEPARATOR: Final = " · "
"""Separator of the parts of a note."""
LOG_BLOCKS_MAX: Final = 7
"""Maximum number of log blocks drawn at the same time on a busy link."""
LABEL_POSITIONS: Final = (0.5, 0.38, 0.62, 0.26, 0.74, 0.14, 0.86)
"""Candidate positions of a link's text, as shares of the link's length, in order of preference."""
CARD_PENALTY: Final = 100
"""Penalty for text that covers a card. The penalty for a crossed link is 1."""
BREAK_PENALTY: Final = 10
"""Penalty for text in the middle of a link, where a break may be drawn. The penalty for a crossed link is 1."""
BREAK_MARGIN_PX: Final = 3
"""Margin around the break mark of a link."""
PEN_STYLES: Final = {
    "ok": Qt.PenStyle.SolidLine,
    "idle": Qt.PenStyle.SolidLine,
    "warn": Qt.PenStyle.DashLine,
    "bad": Qt.PenStyle.DotLine,
}


class LinkItem(QGraphicsItem):
    """Line between two cards, with texts and animated traffic."""

    def __init__(self, display: LinkDisplay, style: SceneStyle) -> None:
        super().__init__()
        self.display = display
        self.style = style
        self._line = QLineF()
        self._ends = (QRectF(), QRectF())
        self._center: QPointF | None = None
        """Center of the cards for which the line was computed; None if it must be computed again."""
        self._cards: Sequence[QRectF] = ()
        self._obstacle_lines: Sequence[QLineF] = ()
        self._is_crowded = False
        self._cached_label_position: tuple[object, tuple[QRectF, tuple[str, ...]]] | None = None
        """Cached layout of the label: its contents, its rectangle and its lines."""
        self._outward = QPointF(0.0, -1.0)
        self._moving = False
        self._phase_s = 0.0
        self._ping_s = 1.0
        self.setFlag(QGraphicsItem.GraphicsItemFlag.ItemIsSelectable)
        self.setZValue(0.0)

    @property
    def target(self) -> ActionTarget:
        """Target of actions on this link."""
        return ActionTarget("link", (self.display.a, self.display.b))

    @property
    def line(self) -> QLineF:
        """Line between the borders of the two cards, in scene coordinates."""
        return self._line

    def show_display(self, display: LinkDisplay) -> None:
        """Draw *display* from now on."""
        if display != self.display:
            self.prepareGeometryChange()
            self.display = display
            self.update()

    def show_style(self, style: SceneStyle) -> None:
        """Apply colors and fonts."""
        self.prepareGeometryChange()
        self.style = style
        self._center = self._cached_label_position = None
        self.update()

    def show_line(self, a: QRectF, b: QRectF, center: QPointF) -> None:
        """Draw the line from card *a* to card *b*, with its text on the side away from *center*."""
        if (a, b) == self._ends and center == self._center:
            return
        self._discard_label_position()
        self._line = line = clip_line(a, b)
        self._ends, self._center = (a, b), center
        normal = line.normalVector().unitVector()
        outward = QPointF(normal.dx(), normal.dy())
        middle = line.center() - center
        projection = QPointF.dotProduct(outward, middle)
        through_middle = abs(projection) <= 2.0 * self.style.unit
        # if the line passes through the center, the text is above the line
        if outward.y() > 0.0 if through_middle else projection < 0.0:
            outward = -outward
        self._outward = outward

    def _discard_label_position(self) -> None:
        """Discard the cached label position and announce a change of geometry to Qt.

        Without a cached position, do nothing: Qt has not read the geometry since the last change.
        """
        if self._cached_label_position is not None:
            self.prepareGeometryChange()
            self._cached_label_position = None

    def set_obstacles(self, cards: Sequence[QRectF], lines: Sequence[QLineF], is_crowded: bool) -> None:
        """Set the cards and lines that the texts of this link should avoid.

        If *is_crowded*, only a selected link and links with problems have texts.
        """
        if (cards, lines, is_crowded) != (self._cards, self._obstacle_lines, self._is_crowded):
            self._discard_label_position()
            self._cards, self._obstacle_lines, self._is_crowded = cards, lines, is_crowded

    def show_traffic(self, moving: bool, phase_s: float, ping_s: float) -> None:
        """Draw traffic and pings, or none if *moving* is False.

        *phase_s*: animation time of the traffic. *ping_s*: time since the last ping started.
        """
        was_moving, self._moving = self._moving, moving
        self._phase_s, self._ping_s = phase_s, ping_s
        if (moving and self._has_traffic()) or was_moving != moving:
            self.update()

    def _has_traffic(self) -> bool:
        display = self.display
        return (
            display.log_kb_per_s > 0.0 or display.has_pings or (display.kind == "client" and display.active)
        )

    @override
    def boundingRect(self) -> QRectF:
        box = QRectF(self._line.p1(), self._line.p2()).normalized().adjusted(-14, -14, 14, 14)
        return box.united(self._compute_label_box().adjusted(-4, -4, 4, 4))

    @override
    def shape(self) -> QPainterPath:
        path = QPainterPath(self._line.p1())
        path.lineTo(self._line.p2())
        stroker = QPainterPathStroker()
        stroker.setWidth(14.0)  # the clickable area is wider than the drawn line
        shape = stroker.createStroke(path)
        shape.addRect(self._compute_label_box())
        return shape

    @override
    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        display, style = self.display, self.style
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        is_good = display.status.color_name in ("ok", "idle")
        color = style.get_color(display.status.color_name) if not is_good else style.colors.muted
        width = 2.4 if display.kind == "mirroring" or (display.kind == "client" and display.active) else 1.4
        if self.isSelected():
            painter.setPen(QPen(style.colors.focus, width + 5.0))
            painter.drawLine(self._line)
            painter.setPen(QPen(style.colors.surface, width + 2.0))
            painter.drawLine(self._line)
        quiet = display.kind == "client" and not display.active and is_good
        pen = QPen(
            color,
            1.0 if quiet else width,
            Qt.PenStyle.DashLine if quiet else PEN_STYLES[display.status.color_name],
        )
        painter.setPen(pen)
        painter.drawLine(self._line)
        if not is_good:
            self._draw_break(painter)
        elif self._moving:
            self._draw_traffic(painter)
        self._draw_label(painter)

    def _draw_break(self, painter: QPainter) -> None:
        box = self._compute_middle_rect(self._line)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self.style.colors.surface)
        edge = BREAK_MARGIN_PX
        painter.drawEllipse(box.adjusted(-edge, -edge, edge, edge))
        draw_symbol(
            painter, self.display.status.shape, box, self.style.get_color(self.display.status.color_name)
        )

    def _compute_middle_rect(self, line: QLineF) -> QRectF:
        """Return the rectangle of the break mark on *line*."""
        gap_px = self.style.unit * 1.15
        box = QRectF(0, 0, gap_px, gap_px)
        box.moveCenter(line.center())
        return box

    # --- texts ----------------------------------------------------------------------------------------------

    def _get_label_parts(self) -> tuple[StatusIndicator | None, tuple[str, ...]]:
        """Return the status and the notes for the label, without those that the cards show.

        The label of a selected link shows the status and all notes.
        """
        display = self.display
        is_plain = display.status.text in ("ok", "power off", "cable pulled", "not queried")
        notes = () if self._is_crowded and not self.isSelected() else display.notes
        notes = notes or ((display.measured,) if self.isSelected() else ())
        if self.style.narrow:  # compact cards leave less space; the tooltip shows all notes
            notes = _split_notes(notes if self.isSelected() else notes[:1])
        return (None if is_plain and not self.isSelected() else display.status), notes

    def _compute_label_box(self) -> QRectF:
        return self._lay_out_label()[0]

    def _lay_out_label(self) -> tuple[QRectF, tuple[str, ...]]:
        """Return the rectangle of the label and its lines of text."""
        status, notes = self._get_label_parts()
        if self._cached_label_position is None or self._cached_label_position[0] != (status, notes):
            sides = (self._outward, -self._outward)
            candidates = [
                (self._compute_label_rect(share, outward, status, lines), lines)
                for lines in dict.fromkeys((notes, _split_notes(notes)))
                for outward in sides
                for share in LABEL_POSITIONS
            ]
            # the first candidate on each side of the link is next to its middle
            nearest = (
                candidates[0],
                candidates[len(LABEL_POSITIONS)],
            )
            places_between = [(self._move_between_cards(box), lines) for box, lines in nearest]
            candidates += places_between + [
                (moved_box, lines) for box, lines in places_between for moved_box in self._move_off_break(box)
            ]
            candidates += [(moved_box, notes) for moved_box in self._move_outside_link(candidates[0][0])]
            candidates.append((self._move_above_card(candidates[0][0]), notes))
            first = candidates[0]
            if notes or status:
                best = min(candidates, key=lambda place: self._compute_label_penalty(place[0]))
                cards = self._move_off_cards(first[0])
                first = (
                    best
                    if self._compute_label_penalty(best[0]) <= self._compute_label_penalty(cards) + 1
                    else (cards, notes)
                )
            self._cached_label_position = (status, notes), first
        return self._cached_label_position[1]

    def _compute_label_rect(
        self, share: float, outward: QPointF, status: StatusIndicator | None, notes: tuple[str, ...]
    ) -> QRectF:
        """Return the rectangle of the label next to the point at *share* of the line.

        *outward*: direction from the line to the label. *status*, *notes*: contents of the label.
        """
        style = self.style
        width = max([style.compute_width(note, style.small) for note in notes], default=0.0)
        width = max(width, compute_indicator_width(status, style) if status else 0.0)
        height = QFontMetricsF(style.small).height() * (len(notes) + (status is not None))
        margin = style.unit * (0.7 if self.display.status.color_name in ("ok", "idle") else 0.9)
        box = QRectF(0.0, 0.0, width, height)
        corner = self._line.pointAt(share) + outward * margin
        # Move the text so that its nearest corner, or the middle of its nearest side, is next to the line.
        # Then no card hides the text.
        box.moveCenter(
            corner + QPointF(_compute_sign(outward.x()) * width, _compute_sign(outward.y()) * height) / 2.0
        )
        return box

    def _move_off_cards(self, box: QRectF) -> QRectF:
        """Return the label rectangle *box*, moved sideways if a card at an end of the link hides it."""
        moved_box, direction = QRectF(box), _compute_sign(self._outward.x())
        gap = self.style.unit * 0.35
        for card in self._ends if direction else ():
            if moved_box.intersects(card):
                moved_box.moveLeft(card.left() - gap - box.width() if direction < 0.0 else card.right() + gap)
        return moved_box

    def _move_between_cards(self, box: QRectF) -> QRectF:
        """Return the label rectangle *box*, moved below the upper card and next to the lower card."""
        moved_box, gap = QRectF(box), self.style.unit * 0.35
        upper, lower = sorted(self._ends, key=QRectF.bottom)
        moved_box.moveTop(max(moved_box.top(), upper.bottom() + gap))
        if moved_box.intersects(lower) and lower.center().x() > upper.center().x():
            moved_box.moveRight(lower.left() - gap)
        elif moved_box.intersects(lower):
            moved_box.moveLeft(lower.right() + gap)
        return moved_box

    def _move_outside_link(self, box: QRectF) -> list[QRectF]:
        """Return two positions of the label rectangle *box*: below the whole link and above it."""
        reach = QRectF(self._line.p1(), self._line.p2()).normalized()
        box_below, box_above, gap = QRectF(box), QRectF(box), self.style.unit * 0.5
        box_below.moveCenter(QPointF(reach.center().x(), reach.bottom() + gap + box.height() / 2.0))
        box_above.moveCenter(QPointF(reach.center().x(), reach.top() - gap - box.height() / 2.0))
        return [box_below, box_above]

    def _move_above_card(self, box: QRectF) -> QRectF:
        """Return the label rectangle *box*, moved directly above the lower card, near the link's end."""
        moved_box, gap = QRectF(box), self.style.unit * 0.15
        lower = max(self._ends, key=QRectF.top)
        moved_box.moveBottom(lower.top() - gap)
        is_left_of_center = self._line.center().x() < lower.center().x()
        moved_box.moveLeft(lower.left() + gap if is_left_of_center else lower.right() - gap - box.width())
        return moved_box

    def _move_off_break(self, box: QRectF) -> list[QRectF]:
        """Return two positions of the label rectangle *box*: right and left of the break mark that hides it.

        If several break marks of links hide *box*, use the first one. If none hides *box*, return an empty
        list.
        """
        hidden_by = next(
            (mark for mark in map(self._compute_middle_rect, self._obstacle_lines) if box.intersects(mark)),
            None,
        )
        if hidden_by is None:
            return []
        gap = self.style.unit * 0.35 + BREAK_MARGIN_PX
        right, left = QRectF(box), QRectF(box)
        right.moveLeft(hidden_by.right() + gap)
        left.moveRight(hidden_by.left() - gap)
        return [right, left]

    def _compute_label_penalty(self, box: QRectF) -> int:
        """Return the penalty of a label at *box*.

        The penalty is the number of crossed links, plus penalties for covered cards and break marks.
        """
        cards = sum(box.intersects(card) for card in self._cards)
        lines = sum(_is_crossed(line, box) for line in self._obstacle_lines)
        breaks = sum(
            box.intersects(self._compute_middle_rect(line)) for line in (self._line, *self._obstacle_lines)
        )
        return CARD_PENALTY * cards + BREAK_PENALTY * breaks + lines

    def _draw_label(self, painter: QPainter) -> None:
        style, (box, notes) = self.style, self._lay_out_label()
        status, _ = self._get_label_parts()
        metrics = QFontMetricsF(style.small)
        base = box.top() + metrics.ascent()
        if status is not None:
            left_px = box.center().x() - compute_indicator_width(status, style) / 2.0
            draw_indicator(painter, status, QPointF(left_px, base), style)
            base += metrics.height()
        for note in notes:
            left_px = box.center().x() - style.compute_width(note, style.small) / 2.0
            draw_text(painter, note, QPointF(left_px, base), style.small, style.colors.muted)
            base += metrics.height()

    # --- traffic --------------------------------------------------------------------------------------------

    def _draw_traffic(self, painter: QPainter) -> None:
        style, display, unit = self.style, self.display, self.style.unit
        painter.setPen(Qt.PenStyle.NoPen)
        if display.log_kb_per_s > 0.0:
            count = min(LOG_BLOCKS_MAX, 1 + round(1.5 * math.log10(1.0 + display.log_kb_per_s)))
            painter.setBrush(style.colors.series[0])
            for share in self._compute_shares(count, LOG_BLOCK_TRAVEL_S):
                box = QRectF(0, 0, unit * 0.5, unit * 0.4)
                box.moveCenter(self._compute_offset_point(share, 0.32))
                painter.drawRoundedRect(box, 2, 2)
            if display.has_synchronous_commit:
                painter.setBrush(style.colors.ok)
                for share in self._compute_shares(count, LOG_BLOCK_TRAVEL_S):
                    painter.drawPolygon(self._build_arrow(1.0 - share, -0.32, backwards=True))
        elif display.kind == "client" and display.active:
            painter.setBrush(style.colors.series[3])
            for share in self._compute_shares(3, LOG_BLOCK_TRAVEL_S):
                painter.drawEllipse(self._compute_offset_point(share, 0.0), unit * 0.16, unit * 0.16)
        if display.has_pings and self._ping_s < PING_TRAVEL_S:
            painter.setBrush(style.colors.series[4])
            share = self._ping_s / PING_TRAVEL_S
            for position in (share, 1.0 - share):
                painter.drawEllipse(self._compute_offset_point(position, 0.0), unit * 0.14, unit * 0.14)

    def _compute_shares(self, count: int, travel_s: float) -> list[float]:
        start = self._phase_s / travel_s
        return [(start + index / count) % 1.0 for index in range(count)]

    def _compute_offset_point(self, share: float, units: float) -> QPointF:
        """Return the point at *share* of the line, moved sideways by *units* line heights."""
        normal = self._line.normalVector().unitVector()
        return self._line.pointAt(share) + QPointF(normal.dx(), normal.dy()) * units * self.style.unit

    def _build_arrow(self, share: float, units: float, backwards: bool) -> QPolygonF:
        angle = -math.radians(self._line.angle()) + (math.pi if backwards else 0.0)
        return build_arrow_head(self._compute_offset_point(share, units), angle, self.style.unit * 0.42)


def _split_notes(notes: tuple[str, ...]) -> tuple[str, ...]:
    """Split notes at their separators into more lines, for a narrow space."""
    return tuple(part for note in notes for part in note.split(NOTE_SEPARATOR))


def _is_crossed(line: QLineF, box: QRectF) -> bool:
    """Return True if *line* passes through *box* or begins in it."""
    corners = (box.topLeft(), box.topRight(), box.bottomRight(), box.bottomLeft())
    sides = (QLineF(a, b) for a, b in pairwise((*corners, corners[0])))
    bounded = QLineF.IntersectionType.BoundedIntersection
    return box.contains(line.p1()) or any(line.intersects(edge)[0] is bounded for edge in sides)


def _compute_sign(value: float) -> float:
    """Return −1, 0 or 1: the sign of *value*, or 0 if it is close to 0."""
    return 0.0 if abs(value) < 0.2 else math.copysign(1.0, value)


def clip_line(a: QRectF, b: QRectF) -> QLineF:
    """Return the line between the centers of the cards *a* and *b* without the parts inside the cards."""
    line = QLineF(a.center(), b.center())
    start, end = _find_exit_point(a, line), _find_exit_point(b, QLineF(line.p2(), line.p1()))
    return QLineF(start, end)


def _find_exit_point(box: QRectF, line: QLineF) -> QPointF:
    dx, dy = line.dx(), line.dy()
    shares = [box.width() / 2.0 / abs(dx)] if dx else []
    shares += [box.height() / 2.0 / abs(dy)] if dy else []
    return line.pointAt(min([1.0, *shares]))
