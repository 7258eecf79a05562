"""Table cells that wrap to show all their text: a shortened SHA-256 would be useless."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt, QTimer
from PySide6.QtGui import QFontMetrics, QPainter, QPalette
from PySide6.QtWidgets import (
    QApplication,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
)

from engine.overrides import override

MARGIN_PX: Final = 3


def show_whole(table: QTableView) -> None:
    """Have the rows of *table*, which are few, as high as their texts."""
    table.setItemDelegate(WrappingDelegate(table))
    table.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
    soon = QTimer(table, singleShot=True, interval=0)
    soon.timeout.connect(table.resizeRowsToContents)
    table.horizontalHeader().sectionResized.connect(lambda *_: soon.start())


class WrappingDelegate(QStyledItemDelegate):
    """Delegate that wraps text, within a word if necessary."""

    def __init__(self, table: QTableView) -> None:
        super().__init__(table)
        self._table = table

    @override
    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        ground = QStyleOptionViewItem(option)
        self.initStyleOption(ground, index)
        text, ground.text = ground.text, ""
        style = ground.widget.style() if ground.widget is not None else QApplication.style()
        style.drawControl(QStyle.ControlElement.CE_ItemViewItem, ground, painter, ground.widget)
        chosen = bool(ground.state & QStyle.StateFlag.State_Selected)
        role = QPalette.ColorRole.HighlightedText if chosen else QPalette.ColorRole.Text
        painter.save()
        painter.setFont(ground.font)
        painter.setPen(ground.palette.color(role))
        room = ground.rect.adjusted(MARGIN_PX, 0, -MARGIN_PX, 0)
        painter.drawText(room, _flags(text, room.width(), QFontMetrics(ground.font)), text)
        painter.restore()

    @override
    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        made = QStyleOptionViewItem(option)
        self.initStyleOption(made, index)
        metrics = QFontMetrics(made.font)
        width = max(1, self._table.columnWidth(index.column()) - 2 * MARGIN_PX)
        taken = metrics.boundingRect(QRect(0, 0, width, 0), _flags(made.text, width, metrics), made.text)
        return QSize(taken.width() + 2 * MARGIN_PX, taken.height() + 6)


def _flags(text: str, width: int, metrics: QFontMetrics) -> int:
    """Return the flags to wrap between words, or anywhere if a word alone is too wide."""
    within = any(metrics.horizontalAdvance(word) > width for word in text.split(" "))
    wrap = Qt.TextFlag.TextWrapAnywhere if within else Qt.TextFlag.TextWordWrap
    return int(wrap | Qt.AlignmentFlag.AlignVCenter)
