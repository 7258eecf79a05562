"""Results and messages of a batch: a grid per result set, red errors, or everything as text."""

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QEvent, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QKeyEvent, QMouseEvent, QTextBlock, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import (
    QFrame,
    QPlainTextEdit,
    QScrollArea,
    QSplitter,
    QStackedWidget,
    QTabWidget,
    QWidget,
)

from app.views.console.outcome import BatchOutcome, Rowset, format_outcome_as_text, list_message_lines
from app.widgets import theme
from app.widgets.screen_reader import has_keyboard_focus
from app.widgets.tables import TableColumn, TableModel, TableView
from app.words import formatting
from app.words.language import tr

WIDTH_SAMPLE_ROWS_MAX: Final = 200
"""Maximum number of rows that determine initial column widths."""
WIDTH_SAMPLE_CELLS_MAX: Final = 2_000
"""Maximum number of cells that determine initial column widths. More cells would take long and rarely matter."""
COLUMN_CHARACTERS_MAX: Final = 60

CELL_CHARACTERS_MAX: Final = 4_000
"""Maximum number of displayed characters of a cell. Painting a million characters takes seconds. Management
Studio stops at 65,535.
"""

GRIDS_MAX: Final = 100
"""Maximum number of grids, as in Management Studio."""

MESSAGE_CHARACTERS_MAX: Final = 300_000
"""Maximum number of characters of all messages."""
MESSAGE_LINES_MAX: Final = 10_000
"""Maximum number of message lines."""

GRIDS_PER_TURN: Final = 8
"""Maximum number of result sets to create in one turn of the event loop."""
MESSAGE_CHARACTERS_PER_TURN: Final = 15_000
"""Maximum number of message characters to append in one turn of the event loop."""
MESSAGE_LINES_PER_TURN: Final = 100
"""Maximum number of message lines to append in one turn of the event loop."""


def build_columns(result: Rowset) -> list[TableColumn[Sequence[object]]]:
    """Return the grid columns of a result set, wide enough for their contents. NULL has a muted color."""
    sample_rows = result.rows[
        : min(WIDTH_SAMPLE_ROWS_MAX, 1 + WIDTH_SAMPLE_CELLS_MAX // max(1, len(result.columns)))
    ]

    def build_column(index: int, title: str) -> TableColumn[Sequence[object]]:
        texts = (_format_cell(row[index])[:COLUMN_CHARACTERS_MAX] for row in sample_rows)
        return TableColumn(
            title=title or tr("(No column name)"),
            is_name=True,
            text=lambda row: _format_cell(row[index]),
            color_name=lambda row: "muted" if row[index] is None else None,
            tip=lambda row: _format_tooltip(row[index]),
            sample=max(texts, key=len, default=""),
        )

    return [build_column(index, title) for index, title in enumerate(result.columns)]


def _format_cell(value: object) -> str:
    """Format a value for a grid. Cut long text, because painting it takes too long."""
    if isinstance(value, str) and len(value) > CELL_CHARACTERS_MAX:
        return value[:CELL_CHARACTERS_MAX] + "…"
    return formatting.format_result_cell(value)


def _format_tooltip(value: object) -> str:
    if not isinstance(value, str) or len(value) <= CELL_CHARACTERS_MAX:
        return ""
    text = tr("{n} characters; only the first {shown} are shown and copied.")
    return text.format(
        n=formatting.format_number(len(value)), shown=formatting.format_number(CELL_CHARACTERS_MAX)
    )


class QueryResults(QTabWidget):
    """Tabs of a query window with the results and messages of its last batch."""

    line_chosen = Signal(int)
    """Signal: line of the batch that contains a double-clicked error."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setDocumentMode(True)
        self._outcome: BatchOutcome | None = None
        self._as_text = False
        self.grid_actions: list[QAction] = []
        """Additional actions for the context menu of a grid, next to the copy commands."""
        self._text_of: BatchOutcome | None = None
        """Outcome that the text page shows."""
        self._pending: list[tuple[int, Rowset]] = []
        """Result sets, with their numbers, that have no grid yet."""
        self._grid_timer = QTimer(self, singleShot=True)
        self._grid_timer.timeout.connect(self._make_grids)
        self._area = QScrollArea(widgetResizable=True)
        self._area.setFrameShape(QFrame.Shape.NoFrame)
        self._grids = self._create_splitter()
        self._text = _build_text_page(tr("Results as text"))
        self._pages = QStackedWidget()
        self._pages.addWidget(self._area)
        self._pages.addWidget(self._text)
        self.messages = _MessagesTab()
        self.messages.line_chosen.connect(self.line_chosen)
        self.addTab(self._pages, tr("Results"))
        self.addTab(self.messages, tr("Messages"))

    @property
    def outcome(self) -> BatchOutcome | None:
        """Displayed outcome, or None."""
        return self._outcome

    @property
    def grids(self) -> list[TableView]:
        """Grids, one per result set."""
        widgets = (self._grids.widget(index) for index in range(self._grids.count()))
        return [grid for grid in widgets if isinstance(grid, TableView)]

    def _create_splitter(self) -> QSplitter:
        """Replace the splitter by an empty one.

        Removing a hundred grids singly would repeat the layout each time.
        """
        grids = QSplitter(Qt.Orientation.Vertical, childrenCollapsible=False)
        self._area.setWidget(grids)
        return grids

    def show_outcome(self, outcome: BatchOutcome | None) -> None:
        """Show the results and messages of a batch. None clears them.

        If the focus is inside the results, it stays there.
        """
        has_focus = has_keyboard_focus(self)
        self._outcome = outcome
        if self._grids.count():
            self._grids = self._create_splitter()
        lines = list(list_message_lines(outcome)) if outcome else []
        results = outcome.results if outcome else ()
        if len(results) > GRIDS_MAX:
            text = tr("Result sets not shown: {n}.").format(
                n=formatting.format_number(len(results) - GRIDS_MAX)
            )
            lines.insert(0, (text, "warn", None))
        self.messages.show_lines(lines)
        self._show_text()
        self._pending = list(enumerate(results[:GRIDS_MAX], start=1))
        self._make_grids()
        self._choose_page()
        if has_focus:
            self.focus_page()

    def _make_grids(self) -> None:
        """Create the next pending grids. Schedule the remaining grids for later turns of the event loop."""
        current_grids, self._pending = self._pending[:GRIDS_PER_TURN], self._pending[GRIDS_PER_TURN:]
        for number, result in current_grids:
            grid = _build_grid(result, number)
            grid.addActions(self.grid_actions)
            self._grids.addWidget(grid)
        self._share_height()
        if self._pending:
            self._grid_timer.start(0)

    def _show_text(self) -> None:
        """Update the page with results as text. The text is created only while this page is in use."""
        outcome = self._outcome if self._as_text else None
        if outcome is not self._text_of:
            self._text_of = outcome
            self._text.setPlainText(format_outcome_as_text(outcome) if outcome else "")

    def show_as_text(self, as_text: bool) -> None:
        """Show results as text, or in grids if *as_text* is False."""
        self._as_text = as_text
        self._show_text()
        self._pages.setCurrentIndex(int(as_text))
        self._choose_page()

    def focus_page(self) -> None:
        """Focus the visible page."""
        grids = self.grids
        if self.currentWidget() is self.messages:
            self.messages.setFocus()
        elif self._as_text or not grids:
            self._text.setFocus()
        else:
            grid = grids[0]
            if not grid.currentIndex().isValid():
                # select a cell, so that Ctrl+C has something to copy
                grid.setCurrentIndex(grid.table.index(0, 0))
            grid.setFocus()

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


MessageLine = tuple[str, str | None, int | None]
"""Text, color name, and line number in the batch."""


class _MessagesTab(QPlainTextEdit):
    """Messages tab. A double click or Enter on an error selects its line in the editor."""

    line_chosen = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self.setReadOnly(True)
        self.setAccessibleName(tr("Messages"))
        self.setFont(theme.build_fixed_font())
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self._lines: list[MessageLine] = []
        self._pending: list[MessageLine] = []
        """Lines that are not added yet."""
        self._append_timer = QTimer(self, singleShot=True)
        self._append_timer.timeout.connect(self._append_next_lines)

    def show_lines(self, lines: list[MessageLine]) -> None:
        self._lines = lines
        self._pending = _limit_lines(lines)
        self.clear()
        self._append_next_lines()
        self.moveCursor(QTextCursor.MoveOperation.Start)

    def _append_next_lines(self) -> None:
        """Append the next pending lines. Schedule the remaining lines for later turns of the event loop."""
        cursor = QTextCursor(self.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        colors = theme.get_theme_tokens(self.palette())
        characters = count = 0
        while (
            count < len(self._pending)
            and count < MESSAGE_LINES_PER_TURN
            and characters < MESSAGE_CHARACTERS_PER_TURN
        ):
            text, color_name, line = self._pending[count]
            count += 1
            characters += len(text)
            style = QTextCharFormat()
            style.setForeground(colors.get_color(color_name or "text"))
            if not self.document().isEmpty() or cursor.blockNumber():
                cursor.insertText("\n")
            first_block_number = cursor.blockNumber()
            cursor.insertText(text, style)
            for block in range(first_block_number, cursor.blockNumber() + 1):
                self.document().findBlockByNumber(block).setUserState(line or -1)
        self._pending = self._pending[count:]
        if self._pending:
            self._append_timer.start(0)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if not self._choose_line(self.cursorForPosition(event.position().toPoint()).block()):
            super().mouseDoubleClickEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if not enter or not self._choose_line(self.textCursor().block()):
            super().keyPressEvent(event)

    def _choose_line(self, block: QTextBlock) -> bool:
        """Emit the line number of the error in *block*. Return False if *block* has no error.

        *block*: text block of this tab.
        """
        is_match = block.userState() > 0
        if is_match:
            self.line_chosen.emit(block.userState())
        return is_match

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and self._lines:
            self.show_lines(self._lines)
        elif event.type() == QEvent.Type.ApplicationFontChange:
            self.setFont(theme.build_fixed_font())


def _limit_lines(lines: list[MessageLine]) -> list[MessageLine]:
    """Return the lines up to the display limits, and a line with the number of omitted messages."""
    shown_lines: list[MessageLine] = []
    characters = count = 0
    for number, (text, color_name, line) in enumerate(lines):
        room = min(MESSAGE_CHARACTERS_MAX - characters, (MESSAGE_LINES_MAX - count) * 80)
        if room <= 0 or count + text.count("\n") > MESSAGE_LINES_MAX:
            message = tr("Messages not shown: {n}.").format(n=formatting.format_number(len(lines) - number))
            shown_lines.append((message, "warn", None))
            break
        shown_lines.append((text[:room], color_name, line))
        characters += len(text)
        count += 1 + text.count("\n")
    return shown_lines


def _build_grid(result: Rowset, number: int) -> TableView:
    model = TableModel(build_columns(result))
    grid = TableView(model, tr("Result set {number}").format(number=number))
    model.setParent(grid)
    grid.show_as_grid()
    rows: list[object] = list(result.rows)
    model.replace_rows(rows)
    return grid


def _build_text_page(name: str) -> QPlainTextEdit:
    page = QPlainTextEdit(readOnly=True, lineWrapMode=QPlainTextEdit.LineWrapMode.NoWrap)
    page.setAccessibleName(name)
    page.setFont(theme.build_fixed_font())
    return page
