"""Cards of servers and applications on the canvas."""

from collections import Counter
from collections.abc import Sequence
from typing import Final, Generic, Protocol, TypeVar, runtime_checkable

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPainterPath, QPen
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from app.view_models.action_offers import ActionTarget
from app.view_models.topology_contents import (
    SERVER_KIND_LABELS,
    ClientDisplay,
    CopyDisplay,
    ServerDisplay,
    StatusIndicator,
)
from app.widgets.scene_symbols import (
    SceneStyle,
    compute_indicator_width,
    condense_drawing,
    draw_chip,
    draw_indicator,
    draw_queue_line,
    draw_symbol,
    draw_text,
)
from app.words.language import tr
from engine.overrides import override

CardDisplay = TypeVar("CardDisplay", bound=ServerDisplay | ClientDisplay)

PARTNER_CARD_WIDTH_UNITS: Final = {False: 17.0, True: 12.4}
"""Width of a partner's card in line heights. The key is True for compact cards."""
COPY_ROW_UNITS: Final = {False: (0.95, 1.75, 3.9, 4.75, 6.35), True: (0.85, 1.6, 3.35, 3.85, 5.3)}
"""Vertical layout of a copy in line heights. The key is True for compact cards.

Values: middle of the name, top of the chips, middle of the indicators, top of the queue, and total height.
"""
LEGEND_COLUMNS: Final = {False: 2, True: 1}
SMALL_CARD_WIDTH_UNITS: Final = 12.8
"""Width of the cards of witnesses and applications in line heights."""
EMPTY_CARD_WIDTH_UNITS: Final = 9.8
"""Width of a compact card for a computer without databases and duties, in line heights."""
SMALL_CARD_ROW_UNITS: Final = {False: 2.3, True: 1.15}
"""Height of the text lines for kind and duties of a small card, in line heights.

A compact card (key True) shows only one of the two lines.
"""
CLIENT_ROWS: Final = {False: 3.9, True: 3.1}
SMALL_CARD_KINDS: Final = ("witness", "node", "share", "computer")
"""Kinds of servers with small cards, which show no database copies."""
INDICATORS_SQUEEZE_MAX: Final = 1.1
"""Maximum factor by which indicators of a compact card are condensed.

If they are still too wide, an indicator without a problem is omitted.
"""
NAMES_SQUEEZE_MAX: Final = 1.15
"""Maximum factor by which a name is condensed before it is shortened."""
NAME_WIDTH_SHARE_MAX: Final = 0.45
"""Maximum share of a card's width that is reserved for a database name.

The copy's role is shortened to the rest.
"""
CELL_SIZE_UNITS: Final = 0.95
"""Size of a database's cell in line heights."""


@runtime_checkable
class CardMoveListener(Protocol):
    """Interface of a listener for moved cards. The scene implements it."""

    def handle_card_move(self, name: str, position: QPointF) -> None:
        """Handle the new position of the card *name*."""


class CardItem(QGraphicsItem, Generic[CardDisplay]):
    """Base class of cards that can be selected and moved. `display` contains the data to draw."""

    def __init__(self, display: CardDisplay, style: SceneStyle) -> None:
        super().__init__()
        self.display = display
        self.style = style
        self.setFlag(QGraphicsItem.GraphicsItemFlag.ItemIsMovable)
        self.setFlag(QGraphicsItem.GraphicsItemFlag.ItemIsSelectable)
        self.setFlag(QGraphicsItem.GraphicsItemFlag.ItemSendsGeometryChanges)
        self.setCacheMode(QGraphicsItem.CacheMode.DeviceCoordinateCache)
        self.setZValue(1.0)

    @property
    def target(self) -> ActionTarget:
        """Target of actions on this card."""
        raise NotImplementedError

    def show_display(self, display: CardDisplay) -> None:
        """Draw *display* from now on."""
        if display != self.display:
            self.prepareGeometryChange()
            self.display = display
            self.update()

    def show_style(self, style: SceneStyle) -> None:
        """Apply colors and fonts."""
        self.prepareGeometryChange()
        self.style = style
        self.update()

    def get_card_rect(self) -> QRectF:
        """Return the rectangle of the card, centered on the item's position."""
        raise NotImplementedError

    @override
    def boundingRect(self) -> QRectF:
        return self.get_card_rect().adjusted(-5, -5, 5, 5)

    @override
    def shape(self) -> QPainterPath:
        path = QPainterPath()
        path.addRect(self.get_card_rect())
        return path

    @override
    def itemChange(self, change: QGraphicsItem.GraphicsItemChange, value: object) -> object:
        scene = self.scene()
        if change == QGraphicsItem.GraphicsItemChange.ItemPositionHasChanged and isinstance(
            scene, CardMoveListener
        ):
            scene.handle_card_move(self.display.name, self.pos())
        return super().itemChange(change, value)

    def _draw_frame(self, painter: QPainter, status: StatusIndicator) -> None:
        """Draw the background, a border and, if the card is selected, a ring.

        The border has the color of *status* if the status is a problem. If the status is bad, the card has
        the background color of the window.
        """
        color_name = status.color_name if status.color_name in ("bad", "warn") else None
        style, box = self.style, self.get_card_rect()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        radius = style.unit * 0.5
        if self.isSelected():
            painter.setPen(QPen(style.colors.focus, 2.5))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(box.adjusted(-3, -3, 3, 3), radius + 3, radius + 3)
        painter.setPen(
            QPen(
                style.get_color(color_name) if color_name else style.colors.border, 1.6 if color_name else 1.2
            )
        )
        painter.setBrush(style.colors.window if color_name == "bad" else style.colors.raised)
        painter.drawRoundedRect(box, radius, radius)


def _compute_base(style: SceneStyle, line_middle: float, small: bool = True) -> float:
    metrics = QFontMetricsF(style.small if small else style.font)
    return line_middle + (metrics.ascent() - metrics.descent()) / 2.0


class ServerCardItem(CardItem[ServerDisplay]):
    """Card of a server: its instance with role, state and queue of each copy, or a grid of many copies."""

    @property
    @override
    def target(self) -> ActionTarget:
        return ActionTarget("server", (self.display.name,))

    _counted: tuple[object, list[tuple[StatusIndicator, int]]] = (None, [])
    """Grid that was counted last, and (indicator, number of databases) for this grid."""

    @property
    def is_small(self) -> bool:
        """True for a small card, which shows no database copies."""
        return self.display.kind in SMALL_CARD_KINDS

    @override
    def get_card_rect(self) -> QRectF:
        unit = self.style.unit
        width = (
            self._compute_small_width() if self.is_small else PARTNER_CARD_WIDTH_UNITS[self.style.narrow]
        ) * unit
        rows = self._compute_head_rows() + self._copy_rows * len(self.display.copies)
        rows += (
            self._compute_grid_rows() * CELL_SIZE_UNITS * 1.15 + 1.2 * self._compute_legend_rows() + 0.3
            if self.display.grid
            else 0.0
        )
        height = (rows + 0.35) * unit
        return QRectF(-width / 2.0, -height / 2.0, width, height)

    def _compute_small_width(self) -> float:
        is_plain = self.style.narrow and self.display.kind != "witness"
        return EMPTY_CARD_WIDTH_UNITS if is_plain else SMALL_CARD_WIDTH_UNITS

    def _compute_head_rows(self) -> float:
        """Return the height of the part above the copies, in line heights."""
        display = self.display
        notes = len(display.faults) + len(display.listeners) + bool(display.host_node)
        return 2.1 + 1.3 * notes + (SMALL_CARD_ROW_UNITS[self.style.narrow] if self.is_small else 0.0)

    @property
    def _copy_rows(self) -> float:
        return COPY_ROW_UNITS[self.style.narrow][-1]

    def _compute_grid_columns(self) -> int:
        return max(1, int((PARTNER_CARD_WIDTH_UNITS[self.style.narrow] - 1.2) / (CELL_SIZE_UNITS * 1.15)))

    def _compute_grid_rows(self) -> int:
        return -(-len(self.display.grid) // self._compute_grid_columns())

    def _compute_legend_rows(self) -> int:
        return -(-len(self._count_cells()) // LEGEND_COLUMNS[self.style.narrow])

    def _count_cells(self) -> list[tuple[StatusIndicator, int]]:
        """Return (indicator, number of cells), most frequent indicator first.

        The result is cached until the grid changes.
        """
        if self._counted[0] is not self.display.grid:
            counts = Counter(indicator for _, indicator in self.display.grid)
            self._counted = (self.display.grid, counts.most_common())
        return self._counted[1]

    def _compute_grid_top(self) -> float:
        rows = self._compute_head_rows() + self._copy_rows * len(self.display.copies)
        return self.get_card_rect().top() + self.style.unit * rows

    def find_cell(self, position: QPointF) -> tuple[str, StatusIndicator] | None:
        """Return database and state of the cell at *position* in item coordinates, or None."""
        if not self.display.grid:
            return None
        step = CELL_SIZE_UNITS * 1.15 * self.style.unit
        column = int((position.x() - self.get_card_rect().left() - self.style.unit * 0.75) // step)
        row = int((position.y() - self._compute_grid_top()) // step)
        index = row * self._compute_grid_columns() + column
        is_inside = 0 <= column < self._compute_grid_columns() and row >= 0 and index < len(self.display.grid)
        return self.display.grid[index] if is_inside else None

    def find_adjacent_database(self, database: str, direction: tuple[float, float]) -> str:
        """Return the database next to *database* in the grid. Direction (1, 0) means right.

        For an unknown database, return the first database of the grid.
        """
        names = [name for name, _ in self.display.grid]
        if database not in names:
            return names[0] if names else ""
        index = (
            names.index(database) + round(direction[0]) + round(direction[1]) * self._compute_grid_columns()
        )
        return names[max(0, min(len(names) - 1, index))]

    @override
    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        display, style, box = self.display, self.style, self.get_card_rect()
        self._draw_frame(painter, display.status)
        left, right = box.left() + style.unit * 0.75, box.right() - style.unit * 0.6
        self._draw_header(painter, left, right, box.top())
        y = box.top() + style.unit * 2.1
        lines = [
            *display.listeners,
            *(StatusIndicator(trouble, "warn", "warning") for trouble in display.faults),
        ]
        for indicator in [
            *([StatusIndicator(display.host_node, "idle", "dot")] if display.host_node else []),
            *lines,
        ]:
            _draw_line(painter, indicator, left, right, y + style.unit * 0.55, style)
            y += style.unit * 1.3
        if self.is_small:
            self._draw_duties(painter, left, right, y)
        for copy in display.copies:
            _draw_copy(painter, copy, QRectF(left, y, right - left, style.unit * self._copy_rows), style)
            y += style.unit * self._copy_rows
        if display.grid:
            self._draw_grid(painter, left, y)

    def _draw_header(self, painter: QPainter, left_x: float, right_x: float, top: float) -> None:
        display, style = self.display, self.style
        band = QRectF(self.get_card_rect().left(), top, style.unit * 0.36, self.get_card_rect().height())
        path = QPainterPath()
        path.addRoundedRect(self.get_card_rect(), style.unit * 0.5, style.unit * 0.5)
        painter.save()
        painter.setClipPath(path)
        painter.fillRect(band, style.colors.get_server_color(display.color))
        painter.restore()
        middle = top + style.unit * 1.1
        metrics = QFontMetricsF(style.title)
        base = middle + (metrics.ascent() - metrics.descent()) / 2.0
        indicator, room = display.status, right_x - left_x
        gap = style.unit * 0.4
        if (
            metrics.horizontalAdvance(display.name) + compute_indicator_width(indicator, style) + gap
            > NAMES_SQUEEZE_MAX * room
        ):
            # the server's name is more important than the status text
            indicator = StatusIndicator("", indicator.color_name, indicator.shape)
        status = compute_indicator_width(indicator, style) + gap
        wide = min(NAMES_SQUEEZE_MAX * room, max(room, metrics.horizontalAdvance(display.name) + status))
        name = metrics.elidedText(display.name, Qt.TextElideMode.ElideMiddle, wide - status)
        with condense_drawing(painter, QRectF(left_x, top, room, style.unit), wide):
            draw_text(painter, name, QPointF(left_x, base), style.title, style.colors.text)
            point = QPointF(left_x + wide - status + gap, _compute_base(style, middle))
            draw_indicator(painter, indicator, point, style, mutes_normal=True)

    def _draw_duties(self, painter: QPainter, left_x: float, right_x: float, y: float) -> None:
        style, middle = self.style, y + self.style.unit * 0.4
        duties = [
            StatusIndicator(indicator.short, indicator.color_name, indicator.shape)
            for indicator in self.display.witness_indicators
        ]
        if not (style.narrow and duties):
            point = QPointF(left_x, _compute_base(style, middle))
            draw_text(
                painter, tr(SERVER_KIND_LABELS[self.display.kind]), point, style.small, style.colors.muted
            )
            middle += style.unit * 1.1
        if duties:
            _draw_indicators(painter, duties, QRectF(left_x, y, right_x - left_x, style.unit), middle, style)

    def _draw_grid(self, painter: QPainter, left_x: float, y: float) -> None:
        style, step = self.style, CELL_SIZE_UNITS * 1.15 * self.style.unit
        cell_px = CELL_SIZE_UNITS * style.unit
        databases = {copy.database for copy in self.display.copies}
        for index, (database, indicator) in enumerate(self.display.grid):
            row, column = divmod(index, self._compute_grid_columns())
            cell = QRectF(left_x + column * step, y + row * step, cell_px, cell_px)
            if database in databases:
                painter.setPen(QPen(style.colors.focus, 2.0))
                painter.drawRect(cell.adjusted(-1.0, -1.0, 1.0, 1.0))
            painter.fillRect(cell, style.get_soft_color(indicator.color_name))
            inner = cell.adjusted(cell_px * 0.22, cell_px * 0.22, -cell_px * 0.22, -cell_px * 0.22)
            draw_symbol(painter, indicator.shape, inner, style.get_color(indicator.color_name))
        y += self._compute_grid_rows() * step
        for index, (indicator, count) in enumerate(self._count_cells()):
            row, column = divmod(index, LEGEND_COLUMNS[style.narrow])
            words = StatusIndicator(
                f"{count} {indicator.label.lower()}", indicator.color_name, indicator.shape
            )
            point = QPointF(
                left_x + column * 8.1 * style.unit, _compute_base(style, y + (1.2 * row + 0.7) * style.unit)
            )
            draw_indicator(painter, words, point, style)


def _draw_copy(painter: QPainter, copy: CopyDisplay, box: QRectF, style: SceneStyle) -> None:
    """Draw a copy in four lines: name and role; states; service, quorum and witness; queue."""
    unit, name_px = style.unit, style.compute_width(copy.database, style.bold)
    name, chips, indicators, queue, _ = (rows * unit for rows in COPY_ROW_UNITS[style.narrow])
    wanted_width = name_px + style.compute_width(copy.role.label, style.bold) + unit * 1.9
    head = QRectF(box)
    head.setWidth(max(box.width(), min(NAMES_SQUEEZE_MAX * box.width(), wanted_width)))
    # the database name is more important than its role
    room = head.width() - min(name_px, NAME_WIDTH_SHARE_MAX * head.width()) - unit * 1.9
    role_words = QFontMetricsF(style.bold).elidedText(copy.role.label, Qt.TextElideMode.ElideRight, room)
    width = style.compute_width(role_words, style.bold)
    with condense_drawing(painter, box, head.width()):
        base = _draw_name(painter, copy, head, name, head.width() - width - unit * 0.4, style)
        role = QPointF(head.right() - width, base)
        draw_text(painter, role_words, role, style.bold, style.get_color(copy.role.color_name))
    _draw_chips(painter, _list_states(copy, style.narrow), box, box.top() + chips, style)
    _draw_indicators(
        painter,
        _select_fitting_indicators(copy.indicators, box.width(), style),
        box,
        box.top() + indicators,
        style,
    )
    if copy.queue is not None:
        draw_queue_line(painter, copy.queue, QRectF(box.left(), box.top() + queue, box.width(), unit), style)


def _list_states(copy: CopyDisplay, narrow: bool) -> tuple[StatusIndicator, ...]:
    """Return the states of a copy. A compact card shows the database state only if it is unusual."""
    if narrow and copy.state is not None and copy.db_state.color_name in ("ok", "idle"):
        return (copy.state,)
    return tuple(indicator for indicator in (copy.state, copy.db_state) if indicator is not None)


def _select_fitting_indicators(
    indicators: Sequence[StatusIndicator], width: float, style: SceneStyle
) -> Sequence[StatusIndicator]:
    """Return the indicators that fit on a card.

    On a compact card, omit indicators without a problem, from the end.
    """
    status_signs = list(indicators)
    while (
        style.narrow
        and len(status_signs) > 1
        and _compute_indicators_width(status_signs, style) > INDICATORS_SQUEEZE_MAX * width
    ):
        good_indexes = [
            index for index, indicator in enumerate(status_signs) if indicator.color_name in ("ok", "idle")
        ]
        if not good_indexes:
            break
        del status_signs[good_indexes[-1]]
    return status_signs


def _draw_name(
    painter: QPainter, copy: CopyDisplay, box: QRectF, down: float, width: float, style: SceneStyle
) -> float:
    """Draw a separator, the role's symbol, and the name. Return the y coordinate of the baseline.

    *down*: distance from the top of *box* to the middle of the line. *width*: width for symbol and name.
    """
    unit = style.unit
    painter.setPen(QPen(style.colors.border, 1.0))
    painter.drawLine(QPointF(box.left(), box.top()), QPointF(box.right(), box.top()))
    sign_px, middle = unit * 1.05, box.top() + down
    mark = QRectF(box.left(), middle - sign_px / 2, sign_px, sign_px)
    draw_symbol(painter, copy.role.shape, mark, style.get_color(copy.role.color_name))
    metrics = QFontMetricsF(style.bold)
    base = middle + (metrics.ascent() - metrics.descent()) / 2.0
    name = metrics.elidedText(copy.database, Qt.TextElideMode.ElideMiddle, width - sign_px * 1.35)
    draw_text(painter, name, QPointF(box.left() + sign_px * 1.35, base), style.bold, style.colors.text)
    return base


def _draw_chips(
    painter: QPainter, chips: Sequence[StatusIndicator], box: QRectF, y: float, style: SceneStyle
) -> None:
    unit = style.unit
    widths = [compute_indicator_width(indicator, style) + unit * 0.7 for indicator in chips]
    with condense_drawing(painter, box, sum(widths) + unit * 0.35 * (len(chips) - 1)):
        x = box.left()
        for sign, width in zip(chips, widths, strict=True):
            draw_chip(painter, sign, QRectF(x, y, width, unit * (1.2 if style.narrow else 1.3)), style)
            x += width + unit * 0.35


def _draw_indicators(
    painter: QPainter, indicators: Sequence[StatusIndicator], box: QRectF, middle: float, style: SceneStyle
) -> None:
    unit, base = style.unit, _compute_base(style, middle)
    with condense_drawing(painter, box, _compute_indicators_width(indicators, style)):
        x = box.left()
        for indicator in indicators:
            x += draw_indicator(painter, indicator, QPointF(x, base), style, mutes_normal=True) + unit * 0.6


def _draw_line(
    painter: QPainter,
    indicator: StatusIndicator,
    left_x: float,
    right_x: float,
    middle: float,
    style: SceneStyle,
) -> None:
    """Draw an indicator in a separate line. Condense it if it is wider than the card."""
    with condense_drawing(
        painter, QRectF(left_x, 0.0, right_x - left_x, 0.0), compute_indicator_width(indicator, style)
    ):
        draw_indicator(painter, indicator, QPointF(left_x, _compute_base(style, middle)), style)


def _compute_indicators_width(indicators: Sequence[StatusIndicator], style: SceneStyle) -> float:
    return sum(compute_indicator_width(indicator, style) for indicator in indicators) + style.unit * 0.6 * (
        len(indicators) - 1
    )


class ClientCardItem(CardItem[ClientDisplay]):
    """Card of a client application."""

    @property
    @override
    def target(self) -> ActionTarget:
        return ActionTarget("client", (self.display.name,))

    @override
    def get_card_rect(self) -> QRectF:
        unit = self.style.unit
        width, height = SMALL_CARD_WIDTH_UNITS * unit, CLIENT_ROWS[self.style.narrow] * unit
        return QRectF(-width / 2.0, -height / 2.0, width, height)

    @override
    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        display, style, box = self.display, self.style, self.get_card_rect()
        self._draw_frame(painter, display.status)
        left, right = box.left() + style.unit * 0.75, box.right() - style.unit * 0.6
        metrics = QFontMetricsF(style.title)
        base = box.top() + style.unit * 1.1 + (metrics.ascent() - metrics.descent()) / 2.0
        kind_text = display.short_rate if style.narrow else tr("application")
        end = right - style.compute_width(kind_text, style.small)
        name = metrics.elidedText(display.name, Qt.TextElideMode.ElideMiddle, end - left - style.unit * 0.4)
        draw_text(painter, name, QPointF(left, base), style.title, style.colors.text)
        draw_text(painter, kind_text, QPointF(end, base), style.small, style.colors.muted)
        _draw_line(painter, display.status, left, right, box.top() + style.unit * 2.2, style)
        if not style.narrow:
            point = QPointF(left, _compute_base(style, box.top() + style.unit * 3.2))
            with condense_drawing(
                painter, QRectF(left, 0.0, right - left, 0.0), style.compute_width(display.rate, style.small)
            ):
                draw_text(painter, display.rate, point, style.small, style.colors.text)
