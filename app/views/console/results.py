"""Results and Messages of a batch: a grid for each result set, red errors, or all of it as text."""

from __future__ import annotations

from typing import Any, Final

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QTextBlock, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import (
    QFrame,
    QPlainTextEdit,
    QScrollArea,
    QSplitter,
    QStackedWidget,
    QTabWidget,
    QWidget,
)

from app import formatting, theme
from app.language import tr
from app.tables import Column, TableModel, TableView
from app.views.console.outcome import Outcome, Rowset, as_text, message_lines

WIDTH_ROWS: Final = 200
"""So many rows decide how wide a column is at first; more would take long and seldom differ."""
WIDTH_CHARACTERS: Final = 60


def columns_of(result: Rowset) -> list[Column]:
    """Columns of a grid, wide enough for what they hold, NULL in a quieter colour."""

    def column(index: int, title: str) -> Column:
        texts = (formatting.cell(row[index]) for row in result.rows[:WIDTH_ROWS])
        return Column(
            title=title or tr("(No column name)"),
            as_is=True,
            text=lambda row: formatting.cell(row[index]),
            tone=lambda row: "muted" if row[index] is None else None,
            sample=max(texts, key=len, default="")[:WIDTH_CHARACTERS],
        )

    return [column(index, title) for index, title in enumerate(result.columns)]


class Results(QTabWidget):
    """The lower half of a query window."""

    line_chosen = Signal(int)
    """A double click on an error wants to see this line of the batch."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setDocumentMode(True)
        self._outcome: Outcome | None = None
        self._as_text = False
        self._grids = QSplitter(Qt.Orientation.Vertical)
        self._grids.setChildrenCollapsible(False)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setWidget(self._grids)
        self._text = _text_page(tr("Results as text"))
        self._pages = QStackedWidget()
        self._pages.addWidget(area)
        self._pages.addWidget(self._text)
        self.messages = _Messages()
        self.messages.line_chosen.connect(self.line_chosen)
        self.addTab(self._pages, tr("Results"))
        self.addTab(self.messages, tr("Messages"))

    @property
    def grids(self) -> list[TableView]:
        """One for each result set."""
        found = (self._grids.widget(index) for index in range(self._grids.count()))
        return [grid for grid in found if isinstance(grid, TableView)]

    def show_outcome(self, outcome: Outcome | None) -> None:
        """Show what a batch has brought; None empties both pages."""
        self._outcome = outcome
        for grid in self.grids:
            grid.setParent(None)
            grid.deleteLater()
        self.messages.show_lines(list(message_lines(outcome)) if outcome else [])
        self._text.setPlainText(as_text(outcome) if outcome else "")
        for number, result in enumerate(outcome.results if outcome else (), start=1):
            self._grids.addWidget(_grid(result, number))
        self._share_height()
        self._choose_page()

    def show_as_text(self, yes: bool) -> None:
        self._as_text = yes
        self._pages.setCurrentIndex(int(yes))
        self._choose_page()

    def focus_page(self) -> None:
        """Give the keyboard to what is seen."""
        grids = self.grids
        if self.currentWidget() is self.messages:
            self.messages.setFocus()
        elif self._as_text or not grids:
            self._text.setFocus()
        else:
            grids[0].setFocus()

    def _choose_page(self) -> None:
        has_rows = bool(self._outcome and self._outcome.results)
        self.setTabVisible(0, has_rows or self._as_text)
        failed = bool(self._outcome and self._outcome.failed)
        self.setCurrentIndex(0 if self._as_text or (has_rows and not failed) else 1)

    def _share_height(self) -> None:
        grids = self.grids
        for grid in grids:
            head = grid.horizontalHeader().sizeHint().height() + 2 * grid.frameWidth()
            row = grid.verticalHeader().defaultSectionSize()
            rows = min(grid.table.rowCount(), 3) if len(grids) > 1 else 1
            grid.setMinimumHeight(head + rows * row + grid.horizontalScrollBar().sizeHint().height())
        self._grids.setSizes([grid.table.rowCount() + 2 for grid in grids])


class _Messages(QPlainTextEdit):
    """Messages; a double click, or Enter, on an error leads to its line."""

    line_chosen = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self.setReadOnly(True)
        self.setAccessibleName(tr("Messages"))
        self.setFont(theme.fixed_font())
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self._lines: list[tuple[str, str | None, int | None]] = []

    def show_lines(self, lines: list[tuple[str, str | None, int | None]]) -> None:
        self._lines = lines
        self.clear()
        cursor = self.textCursor()
        colours = theme.tokens(self.palette())
        for number, (text, tone, line) in enumerate(lines):
            style = QTextCharFormat()
            style.setForeground(getattr(colours, tone or "text"))
            if number:
                cursor.insertText("\n")
            first = cursor.blockNumber()
            cursor.insertText(text, style)
            for block in range(first, cursor.blockNumber() + 1):
                self.document().findBlockByNumber(block).setUserState(line or -1)
        self.moveCursor(QTextCursor.MoveOperation.Start)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if not self._choose_line(self.cursorForPosition(event.position().toPoint()).block()):
            super().mouseDoubleClickEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if not enter or not self._choose_line(self.textCursor().block()):
            super().keyPressEvent(event)

    def _choose_line(self, block: QTextBlock) -> bool:
        """Lead to the line that an error is about; False for what is no error."""
        found = block.userState() > 0
        if found:
            self.line_chosen.emit(block.userState())
        return found

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and self._lines:
            self.show_lines(self._lines)
        elif event.type() == QEvent.Type.ApplicationFontChange:
            self.setFont(theme.fixed_font())


def _grid(result: Rowset, number: int) -> TableView:
    model = TableModel(columns_of(result))
    grid = TableView(model, tr("Result set {number}").format(number=number))
    model.setParent(grid)
    grid.as_grid()
    rows: list[Any] = list(result.rows)
    model.replace(rows)
    return grid


def _text_page(name: str) -> QPlainTextEdit:
    page = QPlainTextEdit()
    page.setReadOnly(True)
    page.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
    page.setAccessibleName(name)
    page.setFont(theme.fixed_font())
    return page
