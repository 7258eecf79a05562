"""Delegate for cells with a symbol, a bold line and a detail below it.

It is used for lists that are read from a distance.
"""

from typing import Final

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, Qt
from PySide6.QtGui import QIcon, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.widgets import theme
from app.widgets.tables import TableView, get_cell_style
from engine.overrides import override

TEXT_MARGIN_PX: Final = 7.0
"""Distance between the text and the left edge of its cell."""
BAND_WIDTH_PX: Final = 5.0
"""Width of the colored band of a row that needs attention."""


class TwoLineDelegate(QStyledItemDelegate):
    """Delegate that draws two lines: `TableColumn.text` in bold, and `TableColumn.detail` below it.

    The first line has the icon and the color of the column.
    """

    def __init__(self, table: TableView, has_band: bool = False) -> None:
        """Create the delegate. *has_band*: mark the left edge of the row in the color of the column."""
        super().__init__(table)
        self._table, self._band = table, has_band

    @override
    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        background = QStyleOptionViewItem(option)
        self.initStyleOption(background, index)
        background.text, background.icon = "", QIcon()
        self._table.style().drawControl(
            QStyle.ControlElement.CE_ItemViewItem, background, painter, self._table
        )
        look = get_cell_style(option)
        column, row = self._table.table.columns[index.column()], self._table.table.rows[index.row()]
        colors, box, color_name = (
            theme.get_theme_tokens(look.palette),
            QRectF(look.rect),
            column.color_name(row),
        )
        selected = bool(look.state & QStyle.StateFlag.State_Selected)
        text_color = colors.on_selection if selected else colors.text
        painter.save()
        if self._band and color_name:
            painter.fillRect(
                QRectF(box.left(), box.top(), BAND_WIDTH_PX, box.height() - 1.0), colors.get_color(color_name)
            )
        detail = column.detail(row) if column.detail is not None else ""
        height = float(look.metrics.height())
        lines = box.adjusted(TEXT_MARGIN_PX, 0.0, -TEXT_MARGIN_PX, 0.0)
        top = lines.center().y() - (height if detail else height / 2.0)
        name = column.icon_name(row) if column.icon_name is not None else None
        left_x = lines.left()
        if name is not None:
            color = colors.get_color(color_name) if color_name and not selected else text_color
            ratio = self._table.devicePixelRatioF()
            picture = theme.render_pixmap(name, color, round(height * ratio))
            painter.drawPixmap(QRectF(left_x, top, height, height), picture, QRectF(picture.rect()))
            left_x += height + TEXT_MARGIN_PX / 2.0
        bold = theme.resize_font(look.font, 1.0, bold=True)
        for baseline, font, text, color in (
            (
                top,
                bold,
                column.text(row),
                text_color if selected or not color_name else colors.get_color(color_name),
            ),
            (top + height, look.font, detail, text_color if selected else colors.muted),
        ):
            text_rect = QRectF(left_x, baseline, lines.right() - left_x, height)
            painter.setFont(font)
            painter.setPen(color)
            flags = Qt.AlignmentFlag.AlignVCenter | (
                Qt.AlignmentFlag.AlignRight if column.is_number else Qt.AlignmentFlag.AlignLeft
            )
            elided_text = painter.fontMetrics().elidedText(
                text, Qt.TextElideMode.ElideRight, int(text_rect.width())
            )
            painter.drawText(text_rect, flags, elided_text)
        painter.restore()
