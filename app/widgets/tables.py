"""Table for all lists: columns are functions of a row, rows can be appended, and cells can be copied."""

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from html import escape
from typing import Any, Final, Generic, TypeVar

from msgspec import Struct
from PySide6.QtCore import (
    QAbstractTableModel,
    QEvent,
    QItemSelection,
    QItemSelectionModel,
    QKeyCombination,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRect,
    QSize,
    Qt,
)
from PySide6.QtGui import (
    QAction,
    QFocusEvent,
    QFont,
    QFontMetrics,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QPalette,
    QShowEvent,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QLabel,
    QStyle,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from app.widgets import theme
from app.widgets.screen_reader import make_selected_row_current
from app.words import formatting
from app.words.language import tr
from engine.overrides import override

CELL_PADDING_PX: Final = 14
EMPTY_MARGIN_PX: Final = 16
"""Margin around the text of a table without rows."""

KEYBOARD_REASONS: Final = frozenset(
    {Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason, Qt.FocusReason.ShortcutFocusReason}
)
_CTRL_SHIFT = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
SELECT_TO_END_KEYS: Final = tuple(
    QKeyCombination(_CTRL_SHIFT, key) for key in (Qt.Key.Key_Home, Qt.Key.Key_End)
)
"""Keys that select all cells from the current cell to an end of the table. Qt does not implement them."""

AnyIndex = QModelIndex | QPersistentModelIndex
NO_INDEX = QModelIndex()
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


Row = TypeVar("Row", contravariant=True)


class TableColumn(Struct, Generic[Row], frozen=True, kw_only=True):
    """Content and appearance of a table column.

    *Row*: type of the rows, with which mypy checks the functions.
    """

    title: str
    text: Callable[[Row], str]
    color_name: Callable[[Row], str | None] = lambda row: None
    """Function that returns the name of the text's theme color, or None for the default."""
    tip: Callable[[Row], str] | None = None
    is_number: bool = False
    """True for numbers, which are aligned right."""
    sample: str = ""
    """Sample text whose longest line determines the initial width of the column.

    The sample is translated to the interface language. Without a sample, the title determines the width.
    """
    detail: Callable[[Row], str] | None = None
    """Function that returns a second line. If a column has one, rows are two lines high (two_lines.py)."""
    bold: Callable[[Row], bool] | None = None
    icon_name: Callable[[Row], str | None] | None = None
    """Function that returns the name of the icon before the text, or None.

    The icon has the color of the text.
    """
    spoken: Callable[[Row], str] | None = None
    """Function that returns the text for a screen reader. None means the text of the cell."""
    is_name: bool = False
    """True if the title is a name or a term of SQL Server, which is not translated."""

    @property
    def heading(self) -> str:
        """Title in the interface language."""
        return self.title if self.is_name else tr(self.title)


class CellStyle(Struct, frozen=True):
    """Style of a cell, for delegates that paint cells."""

    rect: QRect
    palette: QPalette
    font: QFont
    metrics: QFontMetrics
    state: QStyle.StateFlag


def get_cell_style(option: QStyleOptionViewItem) -> CellStyle:
    """Return rectangle, palette, font and state of the cell that *option* describes.

    The PySide stubs do not contain these inherited fields.
    """
    option_fields: Any = option
    return CellStyle(
        option_fields.rect,
        option_fields.palette,
        option_fields.font,
        option_fields.fontMetrics,
        option_fields.state,
    )


@cache
def _compute_text_width(font: str, text: str) -> int:
    """Return the width of *text* in pixels.

    It is cached, because tables measure headings at every style change.
    """
    described = QFont()
    described.fromString(font)
    return QFontMetrics(described).horizontalAdvance(text)


def escape_tip(text: str) -> str:
    """Return a tooltip that shows *text* unchanged. Qt could interpret it as HTML, which can refer to files."""
    # without these characters, Qt does not interpret the text as HTML
    if "<" not in text and "&lt;" not in text:
        return text
    return f"<p style='white-space: pre-wrap'>{escape(text)}</p>"


def show_plain_text(window: QWidget) -> None:
    """Make all labels of *window* show their texts unchanged. Qt could interpret them as HTML."""
    for label in window.findChildren(QLabel):
        label.setTextFormat(Qt.TextFormat.PlainText)


class TableModel(QAbstractTableModel):
    """Table model with rows of any type. `filter_rows` filters the rows."""

    def __init__(self, columns: Sequence[TableColumn[Any]] = (), parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.columns = tuple(columns)
        self.colors = theme.build_light_theme()
        self._all_rows: list[object] = []
        self._rows: list[Any] = []
        self._is_row_shown: Callable[[object], bool] | None = None
        self._bold = QFont()
        self._bold.setBold(True)

    # --- rows ---------------------------------------------------------------------------------------------

    @property
    def rows(self) -> Sequence[Any]:
        """Visible rows."""
        return self._rows

    @property
    def total(self) -> int:
        """Number of rows, including hidden rows."""
        return len(self._all_rows)

    def replace_rows(self, rows: Iterable[object], columns: Sequence[TableColumn[Any]] | None = None) -> None:
        """Replace the rows, and the columns if *columns* is not None."""
        self.beginResetModel()
        if columns is not None:
            self.columns = tuple(columns)
        self._all_rows = list(rows)
        self._rows = self._filter_rows(self._all_rows)
        self.endResetModel()

    def show_columns(self, columns: Sequence[TableColumn[Any]]) -> None:
        """Show the same rows with other columns."""
        self.replace_rows(self._all_rows, columns)

    def append_rows(self, rows: Iterable[object]) -> None:
        """Append rows."""
        new = list(rows)
        self._all_rows += new
        new_rows = self._filter_rows(new)
        if new_rows:
            first = len(self._rows)
            self.beginInsertRows(NO_INDEX, first, first + len(new_rows) - 1)
            self._rows += new_rows
            self.endInsertRows()

    def update_rows(self, rows: Sequence[object]) -> None:
        """Replace the rows. If their number is unchanged, selection and scroll position stay."""
        if len(rows) != len(self._all_rows) or self._is_row_shown is not None:
            self.replace_rows(rows)
        elif list(rows) != self._all_rows:
            self._all_rows = list(rows)
            self._rows = list(rows)
            self.dataChanged.emit(self.index(0, 0), self.index(len(rows) - 1, len(self.columns) - 1))

    def filter_rows(self, is_shown: Callable[[Any], bool] | None) -> None:
        """Show only rows for which *is_shown* returns True. None shows all rows."""
        self._is_row_shown = is_shown
        self.replace_rows(self._all_rows)

    def _filter_rows(self, rows: list[object]) -> list[object]:
        return list(rows) if self._is_row_shown is None else [row for row in rows if self._is_row_shown(row)]

    # --- Qt model interface -------------------------------------------------------------------------------

    @override
    def rowCount(self, parent: AnyIndex = NO_INDEX) -> int:
        return 0 if parent.isValid() else len(self._rows)

    @override
    def columnCount(self, parent: AnyIndex = NO_INDEX) -> int:
        return 0 if parent.isValid() else len(self.columns)

    @override
    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid():
            return None
        column, row = self.columns[index.column()], self.rows[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return column.text(row)
        if role == Qt.ItemDataRole.ForegroundRole:
            color_name = column.color_name(row)
            return self.colors.get_color(color_name) if color_name else None
        if role == Qt.ItemDataRole.DecorationRole and column.icon_name is not None:
            name, color_name = column.icon_name(row), column.color_name(row)
            return (
                theme.load_icon(name, self.colors, self.colors.get_color(color_name or "text"))
                if name
                else None
            )
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if column.is_number else _LEFT
        if role == Qt.ItemDataRole.ToolTipRole and column.tip is not None:
            return escape_tip(column.tip(row)) or None
        if role == Qt.ItemDataRole.AccessibleTextRole and column.spoken is not None:
            return column.spoken(row)
        if role == Qt.ItemDataRole.FontRole and column.bold is not None and column.bold(row):
            return self._bold
        return None

    @override
    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        if role == Qt.ItemDataRole.DisplayRole:
            return self.columns[section].heading if orientation is Qt.Orientation.Horizontal else section + 1
        if role == Qt.ItemDataRole.TextAlignmentRole and orientation is Qt.Orientation.Horizontal:
            return _RIGHT if self.columns[section].is_number else _LEFT
        return None


class TableView(QTableView):
    """Read-only table. Cells are copied as in spreadsheets, and Tab leaves the table.

    If the end of the table is visible, the table scrolls when rows are added.
    """

    def __init__(self, model: TableModel, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows_shown = 0
        self._empty = ""
        self.table = model
        model.colors = theme.get_theme_tokens(self.palette())
        self.setModel(model)
        self.setAccessibleName(name)
        self.setAlternatingRowColors(True)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)  # Tab must leave the table
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.verticalHeader().hide()
        self.horizontalHeader().setHighlightSections(False)
        self.horizontalHeader().setStretchLastSection(True)
        self._add_copy_actions()
        self._fit_sizes()
        model.modelReset.connect(self._fit_new_columns)
        model.rowsAboutToBeInserted.connect(self._record_end)
        model.rowsInserted.connect(self._go_to_end)
        model.modelReset.connect(self._update_description)
        model.rowsInserted.connect(self._update_description)
        make_selected_row_current(self)
        self._fitted_columns = model.columns
        self._at_end = True

    def show_as_grid(self) -> None:
        """Show grid lines and row numbers, and select cells instead of rows, as in a result set."""
        self.setShowGrid(True)
        self.setAlternatingRowColors(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectItems)
        self.verticalHeader().show()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.horizontalHeader().setStretchLastSection(False)

    def show_rows(self, count: int) -> None:
        """Set the height of the table to the header and *count* rows, without scroll bars."""
        self._rows_shown = count
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._fit_sizes()

    def set_empty_text(self, sentence: str) -> None:
        """Set the text that an empty table shows: why it is empty, and what to do next."""
        if sentence != self._empty:
            self._empty = sentence
            self._update_description()
            self.viewport().update()

    def _update_description(self) -> None:
        """Set the text of an empty table as its accessible description. A table with rows has no description."""
        self.setAccessibleDescription("" if self.table.rowCount() else self._empty)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self._empty and not self.table.rowCount():
            margin = EMPTY_MARGIN_PX
            painter = QPainter(self.viewport())
            painter.setPen(self.table.colors.muted)
            box = self.viewport().rect().adjusted(margin, margin, -margin, -margin)
            painter.drawText(box, Qt.AlignmentFlag.AlignHCenter | Qt.TextFlag.TextWordWrap, self._empty)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Keep the scroll position of a list that is scrolled to its end. Qt would go to the first row."""
        bar, count = self.verticalScrollBar(), self.table.rowCount()
        if event.reason() in KEYBOARD_REASONS and count and not self.currentIndex().isValid():
            at_end = bar.maximum() > 0 and bar.value() >= bar.maximum()
            start_index = self.table.index(count - 1 if at_end else 0, 0)
            self.selectionModel().setCurrentIndex(start_index, self.selectionModel().SelectionFlag.NoUpdate)
        super().focusInEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Select the current row when Enter or an arrow key is pressed without a selection.

        A click on empty space leaves a table without a selection. Ignore Space, which would only select the
        current row again.
        """
        if event.key() == Qt.Key.Key_Space and not event.modifiers():
            event.ignore()
            return
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._select_current_row()
        if event.keyCombination() in SELECT_TO_END_KEYS and self.currentIndex().isValid():
            self._select_to(to_end=event.key() == Qt.Key.Key_End)
            return
        super().keyPressEvent(event)
        if event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self._select_current_row()

    def _select_current_row(self) -> None:
        """Select the current row if nothing is selected."""
        current_index, selection = self.currentIndex(), self.selectionModel()
        if current_index.isValid() and not selection.hasSelection():
            selection.select(current_index, selection.SelectionFlag.Select | self._get_row_flag())

    def _select_to(self, to_end: bool) -> None:
        """Select from the current cell to the last cell if *to_end*, otherwise to the first cell.

        The grids of Management Studio do the same.
        """
        current_index, selection = self.currentIndex(), self.selectionModel()
        row, column = (self.table.rowCount() - 1, self.table.columnCount() - 1) if to_end else (0, 0)
        end = self.table.index(row, column)
        range_selection = QItemSelection(current_index, end) if to_end else QItemSelection(end, current_index)
        selection.select(range_selection, selection.SelectionFlag.ClearAndSelect | self._get_row_flag())
        self.scrollTo(end)

    def _get_row_flag(self) -> QItemSelectionModel.SelectionFlag:
        """Return the flag that extends a selection to whole rows; NoUpdate if cells can be selected."""
        rows = self.selectionBehavior() == QAbstractItemView.SelectionBehavior.SelectRows
        flag = QItemSelectionModel.SelectionFlag
        return flag.Rows if rows else flag.NoUpdate

    @override
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._fit_height()

    def copy_selection(self, headers: bool = False) -> None:
        """Copy the selected cells to the clipboard, with the column titles on top if *headers*."""
        selection = self.selectionModel().selection()
        columns_by_row: dict[int, set[int]] = {}
        """Row -> its columns, from ranges: the indexes of a whole table would be tens of thousands of objects."""
        for part in (selection.at(number) for number in range(selection.count())):
            visible_columns = [n for n in range(part.left(), part.right() + 1) if not self.isColumnHidden(n)]
            for row in range(part.top(), part.bottom() + 1):
                columns_by_row.setdefault(row, set()).update(visible_columns)
        if not columns_by_row:
            return
        columns = sorted(set().union(*columns_by_row.values()))
        shown_rows = self.table.rows
        text = [
            [
                str(self.table.columns[column].text(shown_rows[row]) or "")
                if column in columns_by_row[row]
                else ""
                for column in columns
            ]
            for row in sorted(columns_by_row)
        ]
        if headers:
            text.insert(0, [self.table.columns[column].heading for column in columns])
        QGuiApplication.clipboard().setText(formatting.format_tab_separated(text))

    @override
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._fit_sizes()
        if event.type() == QEvent.Type.PaletteChange:
            self.table.colors = theme.get_theme_tokens(self.palette())

    def _add_copy_actions(self) -> None:
        shortcuts = (
            (tr("&Copy"), False, ["Ctrl+C", "Ctrl+Ins"]),
            (tr("Copy with &headers"), True, ["Ctrl+Shift+C"]),
        )
        for text, headers, keys in shortcuts:
            action = QAction(text, self)
            action.setShortcuts([QKeySequence(key) for key in keys])
            action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
            action.triggered.connect(lambda _=False, headers=headers: self.copy_selection(headers))
            self.addAction(action)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)

    def _fit_sizes(self) -> None:
        """Adapt the row height and the initial column widths to the current font."""
        metrics = self.fontMetrics()
        # Reset the minimum height first. Otherwise, rows would not follow the new default height.
        self.verticalHeader().setMinimumSectionSize(1)
        two_lines = any(column.detail is not None for column in self.table.columns)
        height = metrics.height()
        self.verticalHeader().setDefaultSectionSize(2 * height + 18 if two_lines else height + 6)
        self.verticalHeader().setMinimumSectionSize(metrics.height())
        self._fit_height()
        if any(column.icon_name is not None for column in self.table.columns):
            self.setIconSize(QSize(metrics.height(), metrics.height()))
        bold = QFont(self.font())
        bold.setBold(True)
        for section, column in enumerate(self.table.columns):
            font = (self.font() if column.bold is None else bold).toString()
            samples = column.sample.split("\n")
            texts = (column.heading, *samples, *map(tr, samples))
            widest = max(_compute_text_width(font, text) for text in texts)
            signed = self.iconSize().width() if column.icon_name is not None else 0
            self.setColumnWidth(section, widest + CELL_PADDING_PX + signed)

    def _fit_height(self) -> None:
        if self._rows_shown:
            rows = self._rows_shown * self.verticalHeader().defaultSectionSize()
            self.setFixedHeight(self.horizontalHeader().sizeHint().height() + rows + 2 * self.frameWidth())

    def _fit_new_columns(self) -> None:
        if self.table.columns is not self._fitted_columns:
            self._fitted_columns = self.table.columns
            self._fit_sizes()

    def _record_end(self) -> None:
        bar = self.verticalScrollBar()
        self._at_end = bar.value() >= bar.maximum()

    def _go_to_end(self) -> None:
        if self._at_end:
            self.scrollToBottom()
