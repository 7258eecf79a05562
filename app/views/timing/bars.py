"""Phases of a failover as stacked bars: one per row of the list, and a large one for the selected failover."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QVBoxLayout, QWidget

from app.views.timing.rows import TimingRow
from app.widgets import theme
from app.widgets.tables import TableView
from app.words import formatting
from app.words.language import tr
from engine.constants import TICKS_PER_S
from engine.overrides import override

BAR_WIDTH_PX: Final = 200


class PhaseBar(QStyledItemDelegate):
    """Paints the phases of a row as one stacked bar."""

    @override
    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        view = self.parent()
        assert isinstance(view, TableView)
        row: TimingRow = view.table.rows[index.row()]
        colors = theme.tokens(view.palette())
        place = QRectF(option.rect).adjusted(4.0, 4.0, -4.0, -4.0)
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(option.rect, colors.selection)
        paint_phases(painter, place, row, row.longest_ticks, colors)

    @override
    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(BAR_WIDTH_PX, super().sizeHint(option, index).height())


def paint_phases(
    painter: QPainter, rect: QRectF, row: TimingRow, whole_ticks: int, colors: theme.ThemeTokens
) -> None:
    """Paint the phases of *row* into *place*, which stands for *whole_ticks*; one that is under way is hatched."""
    x = rect.left()
    for kind, ticks, done in row.phases:
        width = rect.width() * ticks / whole_ticks
        part = QRectF(x, rect.top(), max(width, 1.0), rect.height())
        pattern = Qt.BrushStyle.SolidPattern if done else Qt.BrushStyle.BDiagPattern
        painter.fillRect(part, QBrush(phase_color(colors, kind.color), pattern))
        words = tr(kind.name)
        if painter.fontMetrics().horizontalAdvance(words) + 6 <= part.width():
            painter.setPen(colors.on_accent if done else colors.text)
            painter.drawText(part, Qt.AlignmentFlag.AlignCenter, words)
        x += width


def phase_color(colors: theme.ThemeTokens, series_or_name: str | int) -> QColor:
    """Return the color of a phase."""
    found: QColor = (
        colors.series[series_or_name] if isinstance(series_or_name, int) else colors.named(series_or_name)
    )
    return found


class Phases(QWidget):
    """Selected failover at its own scale: a bar, and below it the name and duration of each color."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._row: TimingRow | None = None
        self._bar = _Bar()
        self._text = QLabel(wordWrap=True)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(6, 3, 6, 2)
        layout.setSpacing(2)
        layout.addWidget(self._bar)
        layout.addWidget(self._text)
        self.show_row(None)

    def show_row(self, row: TimingRow | None) -> None:
        """Show the phases of a failover; None clears."""
        self._row = row
        colors = theme.tokens(self.palette())
        took = {kind.name: ticks / TICKS_PER_S for kind, ticks, _ in row.phases} if row else {}
        kinds = [phase.kind for phase in row.parts] if row else []
        parts = []
        for kind in kinds:
            square = f'<span style="color:{phase_color(colors, kind.color).name()}">■</span>'
            value = f" <b>{formatting.seconds(took[kind.name])}</b>" if kind.name in took else ""
            parts.append(
                f"{square}&nbsp;{tr(kind.name)}{value}".replace(" ", "&nbsp;").replace("span&nbsp;", "span ")
            )
        self._text.setText(" &nbsp; ".join(parts))
        self._text.setToolTip("\n".join(f"{tr(kind.name)}: {tr(kind.help)}" for kind in kinds))
        self._bar.show_row(row)

    @override
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self.show_row(self._row)


class _Bar(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self._row: TimingRow | None = None

    def show_row(self, row: TimingRow | None) -> None:
        self._row = row
        self.setVisible(row is not None)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(BAR_WIDTH_PX, self.fontMetrics().height() + 6)

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._row is not None:
            painter = QPainter(self)
            whole = sum(ticks for _, ticks, _ in self._row.phases)
            paint_phases(painter, QRectF(self.rect()), self._row, max(whole, 1), theme.tokens(self.palette()))
            painter.end()
