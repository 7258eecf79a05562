"""Delegate that draws a small curve above the text of a cell."""

from collections.abc import Callable, Sequence
from typing import Any, Final

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem

from app.widgets import theme
from app.widgets.tables import TableView, get_cell_style
from engine.overrides import override

CURVE_MARGIN_PX: Final = 7.0
"""Distance between the curve and the edges of its cell."""


class SparklineDelegate(QStyledItemDelegate):
    """Delegate that draws a curve above the text of a cell. All rows have the same scale."""

    def __init__(
        self, table: TableView, get_points: Callable[[Any], Sequence[tuple[float, float]]], maximum: float
    ) -> None:
        """Create the delegate.

        *get_points* returns (position, value) of a row's points, with values from 0 to *maximum*.
        """
        super().__init__(table)
        self._table, self._points, self._maximum = table, get_points, maximum
        self._measured: Sequence[Any] = ()
        self._last = 1.0
        """Largest position in the rows of `_measured`."""

    def _find_last_position(self, rows: Sequence[Any]) -> float:
        """Return the largest x position of the points in all rows. It is cached for the same list of rows."""
        if rows is not self._measured:
            self._measured = rows
            self._last = (
                max((points[-1][0] for row in rows if (points := self._points(row))), default=0.0) or 1.0
            )
        return self._last

    @override
    def initStyleOption(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        super().initStyleOption(option, index)
        drawn_option: Any = option  # the PySide stubs lack the inherited fields
        drawn_option.displayAlignment = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignBottom

    @override
    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        super().paint(painter, option, index)
        rows = self._table.table.rows
        points = self._points(rows[index.row()])
        if not points:
            return
        look = get_cell_style(option)
        colors, box = theme.get_theme_tokens(look.palette), QRectF(look.rect)
        plot = box.adjusted(CURVE_MARGIN_PX, CURVE_MARGIN_PX, -CURVE_MARGIN_PX, -look.metrics.height() - 4.0)
        last = self._find_last_position(rows)
        line = [
            QPointF(
                plot.left() + plot.width() * x_share / last,
                plot.bottom() - plot.height() * level / self._maximum,
            )
            for x_share, level in points
        ]
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillRect(plot.adjusted(0.0, -1.0, 0.0, 1.0), colors.idle_soft)
        painter.setPen(QPen(colors.series[0], 1.6))
        painter.drawPolyline(QPolygonF([QPointF(plot.left(), line[0].y()), *line]))
        painter.setBrush(colors.series[0])
        painter.drawEllipse(line[-1], 1.6, 1.6)
        painter.restore()
