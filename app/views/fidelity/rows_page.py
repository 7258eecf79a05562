"""Rows of the comparison as a table: sections, filters, counts, and the selected row in full."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QColor, QKeySequence, QResizeEvent, QShortcut, QShowEvent
from PySide6.QtWidgets import (
    QComboBox,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QSplitter,
    QWidget,
)

from app.widgets import theme
from app.widgets.layouts import lay_column, lay_row
from app.widgets.reader import name_box
from app.widgets.tables import CELL_PADDING_PX, TableColumn, TableModel, TableView
from app.words import formatting
from app.words.language import mark, tr
from engine.overrides import override
from engine.published.rows import FigureClass, FigureRow

PASS: Final = "pass"
ALL: Final = mark("All sections")
VERDICTS: Final = ((mark("All verdicts"), None), (mark("Pass"), "pass"), (mark("Fail"), "fail"))
VERDICT_WORDS: Final = {"pass": mark("pass"), "fail": mark("fail")}
CLASS_WORDS: Final = {
    FigureClass.CALIBRATED: mark("calibrated"),
    FigureClass.SHARED: mark("shared"),
    FigureClass.PREDICTED: mark("predicted"),
    FigureClass.STATEMENT: mark("statement"),
    FigureClass.INPUT: mark("input"),
}
CLASSES: Final = ((mark("All classes"), None), *((words, kind) for kind, words in CLASS_WORDS.items()))


def value(row: FigureRow, figure: float | str) -> str:
    """Return a figure with its unit, or its text if it is not a number."""
    if isinstance(figure, str):
        return figure
    return f"{formatting.significant(figure, 4)} {row.unit}".rstrip()


def error(row: FigureRow) -> str:
    """Format the error with its sign, zero without."""
    if row.error_percent is None:
        return ""
    share = row.error_percent / 100.0
    return formatting.percent(share, sign=True) if abs(row.error_percent) >= 0.05 else formatting.percent(0.0)


def _format_source(row: FigureRow) -> str:
    """Return table or figure of the paper; its title where the source is the whole of it."""
    last = row.source.rsplit(", ", 1)[-1]
    return row.source if ")" in last else last


COLUMNS: Final = (
    TableColumn(
        title="",
        text=lambda row: "✓" if row.verdict == PASS else "✕",
        tone=lambda row: "ok" if row.verdict == PASS else "bad",
        tip=lambda row: tr(VERDICT_WORDS[row.verdict]),
        sample="✓",
    ),
    TableColumn(title=mark("Row"), text=lambda row: row.id, sample="T1.Workload1.connections"),
    TableColumn(
        title=mark("Item"),
        text=lambda row: row.what,
        tip=lambda row: row.what,
        sample="Workload1, no mirroring, principal: transaction response",
    ),
    TableColumn(
        title=mark("Published"),
        text=lambda row: value(row, row.published),
        tip=lambda row: str(row.published),
        sample="12,000 KB/s",
    ),
    TableColumn(
        title=mark("Mirrordrill"),
        text=lambda row: value(row, row.ours),
        tip=lambda row: str(row.ours),
        sample="grows 110 / 307 / 408 KB",
    ),
    TableColumn(
        title=mark("Error"),
        text=error,
        tone=lambda row: "bad" if row.verdict != PASS else None,
        right=True,
        sample="+12.3 %",
    ),
    TableColumn(
        title=mark("Class"), text=lambda row: tr(CLASS_WORDS[row.kind]), sample="vorhergesagt"
    ),  # the longest text
    TableColumn(
        title=mark("Source"),
        text=_format_source,
        tip=lambda row: row.source,
        sample="table 3a",
    ),
    TableColumn(
        title=mark("Reason"),
        text=lambda row: row.reason or row.note or "",
        tip=lambda row: row.reason or row.note or "",
    ),
)


SECTION_MARGIN_PX: Final = 24
"""Margin next to the longest section title: the frame and a scroll bar."""

SHARES: Final = {2: 0.37, 3: 0.2, 4: 0.23}
"""Shares of text columns in the width left by numbers, but never less than their samples.

The last column takes the rest; the selected row is shown in full below.
"""


class RowsPage(QWidget):
    """Sections on the left, their rows on the right."""

    counted = Signal()

    def __init__(self, sections: Iterable[str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rows: list[FigureRow] = []
        """All rows in the order of the sections, independent of the filter."""
        self._order = list(sections)
        self.sections = QListWidget()
        self.sections.setAccessibleName(tr("Sections"))
        self.verdict = _choice(tr("Verdict"), VERDICTS)
        self.kind = _choice(tr("Class"), CLASSES)
        self.search = QLineEdit(placeholderText=tr("Search all columns (Ctrl+F)"), clearButtonEnabled=True)
        self.search.setAccessibleName(tr("Find"))
        self.shown = QLabel()
        self.shown.setProperty("muted", "true")
        self.table = TableView(TableModel(COLUMNS), tr("Rows of the comparison"))
        self.detail = QLabel(wordWrap=True, textInteractionFlags=Qt.TextInteractionFlag.TextSelectableByMouse)
        self.detail.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._lay_out()
        for name in (ALL, *self._order):
            self.sections.addItem(QListWidgetItem(name))
        self.sections.setCurrentRow(0)
        self.sections.currentRowChanged.connect(self._filter)
        self.verdict.currentIndexChanged.connect(self._filter)
        self.kind.currentIndexChanged.connect(self._filter)
        self.search.textChanged.connect(self._filter)
        self.table.selectionModel().currentRowChanged.connect(self._show_detail)
        QShortcut(QKeySequence.StandardKey.Find, self, self.search.setFocus)
        self._count()
        self._filter()
        theme.follow(self, theme.PALETTE, self._count)
        theme.follow(self, theme.FONT, self._show_font)

    def add_rows(self, rows: Iterable[FigureRow]) -> None:
        """Add rows to their section."""
        places = {name: place for place, name in enumerate(self._order)}
        self.rows = sorted([*self.rows, *rows], key=lambda row: places[row.section])
        self.table.table.replace(self.rows)
        self._count()
        self._filter()

    # --- filters --------------------------------------------------------------------------------------------

    def _filter(self, _: object = None) -> None:
        place = self.sections.currentRow()
        section = self._order[place - 1] if place > 0 else None
        verdict, kind = self.verdict.currentData(), self.kind.currentData()
        words = self.search.text().casefold().split()

        def wanted(row: FigureRow) -> bool:
            if section not in (None, row.section) or verdict not in (None, row.verdict):
                return False
            return kind in (None, row.kind) and all(word in _text(row) for word in words)

        self.table.table.keep(wanted)
        shown, every = len(self.table.table.rows), self.table.table.total
        self.shown.setText(
            tr("{shown} of {every} rows").format(shown=shown, every=every)
            if shown != every
            else tr("{every} rows").format(every=every)
        )
        if shown:
            self.table.selectRow(0)
        self._show_detail()

    def _count(self) -> None:
        """Show passed and total rows next to the name of each section."""
        colors = theme.tokens(self.palette())
        for place in range(self.sections.count()):
            name = self._order[place - 1] if place > 0 else None
            own = [row for row in self.rows if name in (None, row.section)]
            passed = sum(row.verdict == PASS for row in own)
            item = self.sections.item(place)
            item.setText(f"{tr(name or ALL)}\n{_counts(passed, len(own))}")
            unexplained = any(row.verdict != PASS and row.reason is None for row in own)
            tone = "bad" if unexplained else "warn" if passed < len(own) else "text"
            item.setForeground(QColor(colors.named(tone)))
        self.counted.emit()

    def _show_detail(self, *_: object) -> None:
        index = self.table.currentIndex()
        rows = self.table.table.rows
        if not index.isValid() or index.row() >= len(rows):
            self.detail.setText("")
            return
        row: FigureRow = rows[index.row()]
        parts = [f"<b>{row.id}</b> {_safe(row.what)}"]
        figures = tr("Published: {published}. Mirrordrill: {ours}").format(
            published=_safe(value(row, row.published)), ours=_safe(value(row, row.ours))
        )
        if row.error_percent is not None:
            figures += f" ({error(row)})"
        if row.band is not None:
            figures += ", " + tr("5th to 95th percentile of the runs: {low} to {high} {unit}").format(
                low=formatting.plain_number(row.band[0]),
                high=formatting.plain_number(row.band[1]),
                unit=row.unit,
            )
        told = tr("{figures}. Class: {kind}. Verdict: {verdict}.")
        parts.append(
            told.format(
                figures=figures, kind=tr(CLASS_WORDS[row.kind]), verdict=tr(VERDICT_WORDS[row.verdict])
            )
        )
        parts += [_safe(text) for text in (row.note, row.reason) if text]
        parts.append(tr("Source: {source}").format(source=_safe(row.source)))
        self.detail.setText("<br>".join(parts))

    # --- looks ----------------------------------------------------------------------------------------------

    def _lay_out(self) -> None:
        bar = lay_row((self.search, 1), self.verdict, self.kind, self.shown)
        right = QWidget()
        lay_column(bar, (self.table, 1), self.detail, on=right, margins=0)
        split = QSplitter()
        split.addWidget(self.sections)
        split.addWidget(right)
        split.setStretchFactor(1, 1)
        split.setChildrenCollapsible(False)
        split.setSizes([260, 900])
        self.sections.setWordWrap(True)
        # otherwise the list wraps for its first width
        self.sections.setResizeMode(QListWidget.ResizeMode.Adjust)
        self.sections.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.sections.setSpacing(1)
        lay_column(split, on=self, margins=(0, 8, 0, 0))
        self._show_font()

    def _show_font(self) -> None:
        metrics = self.fontMetrics()
        self.detail.setMinimumHeight(metrics.lineSpacing() * 5)
        words = (word for name in (ALL, *self._order) for word in tr(name).split())
        self.sections.setMinimumWidth(max(map(metrics.horizontalAdvance, words)) + SECTION_MARGIN_PX)
        self._share_width()

    def _share_width(self) -> None:
        header, metrics = self.table.horizontalHeader(), self.fontMetrics()
        words = (*SHARES, len(COLUMNS) - 1)
        numbers = sum(header.sectionSize(place) for place in range(len(COLUMNS)) if place not in words)
        left = max(0, self.table.viewport().width() - numbers)
        for place, share in SHARES.items():
            least = metrics.horizontalAdvance(COLUMNS[place].sample) + CELL_PADDING_PX
            header.resizeSection(place, max(least, round(share * left)))

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._share_width()

    @override
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._share_width()


def _choice(name: str, entries: Iterable[tuple[str, object]]) -> QComboBox:
    box = QComboBox()
    for text, data in entries:
        words = tr(text)
        box.addItem(words[:1].upper() + words[1:], data)
    name_box(box, name)
    return box


def _counts(passed: int, total: int) -> str:
    if not total:
        return "…"
    failed = total - passed
    if not failed:
        return tr("{passed} of {all} pass").format(passed=passed, all=total)
    return tr("{passed} of {all} pass, {failed} fail").format(passed=passed, all=total, failed=failed)


def _text(row: FigureRow) -> str:
    """Return all that can be searched."""
    shown = (
        row.id,
        row.section,
        row.source,
        row.what,
        row.published,
        row.ours,
        row.kind,
        row.note,
        row.reason,
    )
    return " ".join(str(part) for part in shown if part).casefold()


def _safe(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")
