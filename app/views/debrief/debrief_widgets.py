"""Widgets of the debrief: labels, cards, tables, and points with a bar."""

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from app.widgets import theme
from app.widgets.layouts import build_row, build_widget_column
from app.words import formatting
from app.words.language import tr
from engine.overrides import override

LIST_GAP_PX: Final = 6
"""Gap between the entries of a list."""


def build_label(text: str, scale: float = 1.0, bold: bool = False) -> QLabel:
    """Build a label whose font size is multiplied by *scale*."""
    label = QLabel(text, textFormat=Qt.TextFormat.PlainText, wordWrap=True)
    label.setFont(theme.resize_font(label.font(), scale, bold))
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return label


def build_card(title: str, *parts: QWidget) -> QFrame:
    """Build a framed card with a title."""
    card = QFrame()
    card.setProperty("card", "true")
    layout = build_widget_column(
        build_label(title, 1.15, bold=True), parent=card, margins=(18, 12, 18, 16), spacing=10
    )
    for part in parts:
        layout.addWidget(part)
    return card


def build_muted_label(text: str) -> QLabel:
    """Build a label in the muted color."""
    muted_label = build_label(text)
    muted_label.setProperty("muted", "true")
    return muted_label


def build_table(
    head: Sequence[str], rows: Sequence[Sequence[str | QWidget]], stretch: Sequence[int], narrow: bool = False
) -> QWidget:
    """Build a table with headings.

    *stretch*: shares of the width, or 0 for a column as wide as its text. *narrow*: stack the cells of a row
    below its first cell.
    """
    if narrow:
        return _build_list(head, rows)
    box, grid = _build_grid(18, 7)
    for column, (title, share) in enumerate(zip(head, stretch, strict=True)):
        grid.setColumnStretch(column, share)
        title_label = build_muted_label(title)
        title_label.setWordWrap(False)
        grid.addWidget(title_label, 0, column)
    for number, row in enumerate(rows, start=1):
        for column, cell in enumerate(row):
            widget = build_label(cell) if isinstance(cell, str) else cell
            if not stretch[column] and isinstance(widget, QLabel):
                widget.setWordWrap(False)
            grid.addWidget(widget, number, column, Qt.AlignmentFlag.AlignTop)
    return box


def _build_grid(across_px: int, down_px: int) -> tuple[QWidget, QGridLayout]:
    """Return a widget with a grid layout without margins. *across_px* and *down_px*: gaps between cells."""
    box = QWidget()
    grid = QGridLayout(box)
    grid.setContentsMargins(0, 0, 0, 0)
    grid.setHorizontalSpacing(across_px)
    grid.setVerticalSpacing(down_px)
    return box, grid


def _build_list(head: Sequence[str], rows: Sequence[Sequence[str | QWidget]]) -> QWidget:
    box, grid = _build_grid(12, 2)
    grid.setColumnStretch(1, 1)
    line = 0
    for first, *other_cells in rows:
        mark = build_label(first) if isinstance(first, str) else first
        if isinstance(mark, QLabel):
            mark.setWordWrap(False)
        grid.addWidget(mark, line, 0, Qt.AlignmentFlag.AlignTop)
        for index, (title, cell) in enumerate(zip(head[1:], other_cells, strict=True)):
            if isinstance(cell, str):
                name_text = f"{title.rstrip('?')}: {cell}" if title else cell
                cell = build_muted_label(name_text) if index else build_label(cell)
            grid.addWidget(cell, line, 1)
            line += 1
        grid.setRowMinimumHeight(line, LIST_GAP_PX)
        line += 1
    return box


def format_loss(points: float) -> str:
    """Format lost points with a minus sign."""
    return f"−{formatting.format_plain_number(round(points, 1))}"


def build_rows_with_symbols(rows: Sequence[tuple[str, str, QVBoxLayout]]) -> list[QWidget]:
    """Build rows from (symbol, name of the symbol, text).

    A symbol is, for example, a number of lost points.
    """
    sides = [_build_symbol(mark, called) for mark, called, _ in rows]
    for cell_side in sides:
        cell_side.setFixedWidth(max(widget.sizeHint().width() for widget in sides))
    return [_build_row(widget, words) for widget, (_, _, words) in zip(sides, rows, strict=True)]


def _build_symbol(symbol: str, name: str) -> QWidget:
    box = QWidget()
    column = build_widget_column(parent=box, margins=0, spacing=2)
    for part in (build_label(symbol, 1.35, bold=True), build_muted_label(name)):
        part.setWordWrap(False)
        column.addWidget(part)
    column.addStretch()
    return box


def _build_row(mark_widget: QWidget, column: QVBoxLayout) -> QWidget:
    box = QWidget()
    build_row((mark_widget, 0, Qt.AlignmentFlag.AlignTop), (column, 1), parent=box, margins=0, spacing=18)
    return box


def build_code_label(text: str) -> QLabel:
    """Build a label with a fixed-width font for T-SQL and actions."""
    code_label = build_label(text)
    code_label.setFont(theme.build_fixed_font(0.95))
    return code_label


def build_step_list(rows: Sequence[tuple[str, str]]) -> QWidget:
    """Build a list of times and actions. Long actions wrap."""
    box, grid = _build_grid(14, 1)
    grid.setContentsMargins(12, 2, 0, 2)
    grid.setColumnStretch(1, 1)
    for number, (time_text, description) in enumerate(rows):
        time_html = build_code_label(time_text)
        time_html.setWordWrap(False)
        grid.addWidget(time_html, number, 0, Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignRight)
        grid.addWidget(build_code_label(description), number, 1, Qt.AlignmentFlag.AlignTop)
    return box


class PointsLabel(QWidget):
    """Label with the points of one item as a number above a bar."""

    def __init__(self, points: float, maximum: float) -> None:
        super().__init__()
        self._points, self._maximum = points, maximum
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(
            tr("{points} of {most} points").format(
                points=formatting.format_plain_number(points), most=formatting.format_plain_number(maximum)
            )
        )

    @override
    def sizeHint(self) -> QSize:
        line = self.fontMetrics().height()
        return QSize(round(line * 5.5), round(line * 1.9))

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        colors = theme.get_theme_tokens(self.palette())
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        line = self.fontMetrics().height()
        painter.setFont(theme.resize_font(self.font(), 1.05, bold=True))
        painter.setPen(colors.text)
        text = formatting.format_plain_number(self._points)
        text += f" / {formatting.format_plain_number(self._maximum)}" if self._maximum else ""
        painter.drawText(QRectF(0, 0, self.width(), line * 1.2), Qt.AlignmentFlag.AlignLeft, text)
        bar = QRectF(0, line * 1.35, self.width(), line * 0.35)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colors.idle_soft)
        painter.drawRoundedRect(bar, bar.height() / 2, bar.height() / 2)
        share = self._points / self._maximum if self._maximum > 0.0 else 1.0 if self._points < 0.0 else 0.0
        if share > 0.0:
            is_full = self._points >= self._maximum > 0.0
            painter.setBrush(colors.ok if is_full else colors.bad if self._points < 0.0 else colors.warn)
            bar.setWidth(max(bar.height(), bar.width() * share))
            painter.drawRoundedRect(bar, bar.height() / 2, bar.height() / 2)
