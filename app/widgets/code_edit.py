"""Code editor with line numbers, colors, completion and indentation. Subclasses define the language."""

import re
from collections.abc import Callable, Sequence
from typing import Final

from PySide6.QtCore import QEvent, QMargins, QMimeData, QPoint, QRect, QSize, QStringListModel, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QShortcut,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
)
from PySide6.QtWidgets import (
    QCompleter,
    QInputDialog,
    QListView,
    QPlainTextEdit,
    QTextEdit,
    QToolTip,
    QWidget,
)

from app.widgets import theme
from app.widgets.find_bar import FindBar
from app.widgets.highlight import SyntaxHighlighter, count_utf16_units
from app.widgets.tables import escape_tip
from app.words import formatting
from app.words.language import tr
from engine.overrides import override

TAB_SPACES: Final = 4
VISIBLE_LINES_MIN: Final = 2
"""Minimum number of visible lines. It is below Qt's default, so that query results fit below the editor."""
VISIBLE_LINES_ABOVE_BAR: Final = 3
"""Minimum number of visible lines above the find bar."""
WORD_LENGTH_MAX: Final = 200
"""Maximum number of characters of a word that completion replaces."""

LINE_LENGTH_MAX: Final = 50_000
"""Maximum number of characters of an inserted line, because Qt lays out the whole line at every key.

Measured: 5 ms for this length, and 250 ms for a line of a million characters, plus the same time for
painting.
"""

FindCompletions = Callable[[str, int], Sequence[str]]
"""Function that returns the valid words at a position of a text."""
CreateHighlighter = Callable[[QTextDocument, theme.ThemeTokens], SyntaxHighlighter]
"""Function that creates the highlighter of a document."""


class CodeEditor(QPlainTextEdit):
    """Code editor with line numbers, completion, find and replace, and indentation.

    Keys: Ctrl+Space completes, Ctrl+F finds, Ctrl+H replaces, Ctrl+G goes to a line, Tab and Shift+Tab
    indent.
    """

    message_ready = Signal(str)
    """Signal: text for a status line. An empty text clears it."""
    WORD_BEFORE = re.compile(r"(?<![\w@#$])[\w@#$]*+$")
    """Pattern of the word that ends at the cursor. Completion replaces this word."""

    def __init__(
        self, complete: FindCompletions, color: CreateHighlighter, parent: QWidget | None = None
    ) -> None:
        """Create an editor.

        *complete* returns completions for its language, and *color* creates its highlighter.
        """
        super().__init__(parent)
        self._complete = complete
        self._marks: list[QTextEdit.ExtraSelection] = []
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self._margin = _LineNumberMargin(self)
        self._highlighter = color(self.document(), self.colors)
        self._completions = QStringListModel(self)
        self._completer = QCompleter(self._completions, self)
        self._popup = QListView()
        self._completer.setPopup(self._popup)
        self._completer.setWidget(self)
        self._completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self._completer.activated.connect(self._insert_word)
        self.find_bar = FindBar(self)
        self.find_bar.height_changed.connect(self._position_margin)
        self.add_keys(
            {
                "Ctrl+Space": self._open_completion,
                "Ctrl+G": self._ask_for_line,
                "Ctrl+F": self.find_bar.show_bar,
                "Ctrl+H": lambda: self.find_bar.show_bar(with_replacement=True),
                "F3": self.find_bar.find_next,
                "Shift+F3": lambda: self.find_bar.find_next(backward=True),
            }
        )
        self.blockCountChanged.connect(self._position_margin)
        self.updateRequest.connect(self._scroll_margin)
        self.cursorPositionChanged.connect(self._mark_current_line)
        self._use_font()
        self._mark_current_line()

    def add_keys(self, keys: dict[str, Callable[[], object]]) -> None:
        """Add keyboard shortcuts with their callbacks. They work while the editor has the focus."""
        for key, act in keys.items():
            shortcut = QShortcut(QKeySequence(key), self)
            shortcut.setContext(Qt.ShortcutContext.WidgetShortcut)
            shortcut.activated.connect(act)

    # --- the text -----------------------------------------------------------------------------------------

    def go_to_line(self, number: int) -> None:
        """Select line *number* (counted from 1) and scroll to it."""
        block = self.document().findBlockByNumber(max(0, min(number, self.blockCount()) - 1))
        cursor = QTextCursor(block)
        cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock, QTextCursor.MoveMode.KeepAnchor)
        self.setTextCursor(cursor)
        self.centerCursor()
        self.setFocus()

    def replace_all(self, text: str) -> None:
        """Replace the whole text by *text*, as one undo step."""
        cursor = self.textCursor()
        cursor.select(QTextCursor.SelectionType.Document)
        cursor.insertText(text)

    def apply_differences(self, text: str) -> None:
        """Change the text to *text* by editing only the differences, as one undo step.

        Cursor and scroll position stay.
        """
        before = self.toPlainText()
        if text == before:
            return
        start = _count_common_letters(before, text)
        end = _count_common_letters(before[start:][::-1], text[start:][::-1])
        cursor = QTextCursor(self.document())
        cursor.setPosition(count_utf16_units(before[:start]))
        cursor.setPosition(count_utf16_units(before[: len(before) - end]), QTextCursor.MoveMode.KeepAnchor)
        cursor.insertText(text[start : len(text) - end])

    def mark_lines(self, marks: Sequence[tuple[int, QColor]]) -> None:
        """Underline lines. *marks*: line number (counted from 1) and color."""
        self._marks = []
        for number, color in marks:
            block = self.document().findBlockByNumber(number - 1)
            if block.isValid():
                mark = QTextEdit.ExtraSelection()
                mark.cursor = QTextCursor(block)
                mark.cursor.movePosition(
                    QTextCursor.MoveOperation.EndOfBlock, QTextCursor.MoveMode.KeepAnchor
                )
                mark.format.setUnderlineStyle(QTextCharFormat.UnderlineStyle.WaveUnderline)
                mark.format.setUnderlineColor(color)
                self._marks.append(mark)
        self._mark_current_line()

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Insert pasted or dropped text. Reject it if a line is so long that later typing would be slow."""
        longest = max(map(len, source.text().split("\n")), default=0)
        if longest <= LINE_LENGTH_MAX:
            super().insertFromMimeData(source)
            return
        text = tr(
            "Not inserted: a line has {count} characters, but the editor allows {most}. Split the line."
        )
        message = text.format(
            count=formatting.format_number(longest), most=formatting.format_number(LINE_LENGTH_MAX)
        )
        self.message_ready.emit(message)
        if self.isVisible():
            self._show_tip(message)

    def _show_tip(self, text: str) -> None:
        QToolTip.showText(self.viewport().mapToGlobal(self.cursorRect().bottomLeft()), escape_tip(text), self)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        completing = self._popup.isVisible()
        enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if completing and (enter or event.key() == Qt.Key.Key_Tab):
            event.ignore()  # the popup handles this key
        elif event.key() in (Qt.Key.Key_Tab, Qt.Key.Key_Backtab):
            self._indent(event.key() == Qt.Key.Key_Backtab)
        elif enter and not event.modifiers():
            self._break_line()
        else:
            super().keyPressEvent(event)
            if completing:
                self._filter_completion()

    def _indent(self, unindent: bool) -> None:
        cursor = self.textCursor()
        if unindent:
            self.change_lines(lambda line: line[min(TAB_SPACES, len(line) - len(line.lstrip(" "))) :])
        elif "\n" in self.get_selected_text():
            self.change_lines(lambda line: " " * TAB_SPACES + line if line else line)
        else:
            column = cursor.positionInBlock() if not cursor.hasSelection() else 0
            cursor.insertText(" " * (TAB_SPACES - column % TAB_SPACES))

    def _break_line(self) -> None:
        """Break the line, and indent the new line like the current line."""
        cursor = self.textCursor()
        line = cursor.block().text()[: cursor.positionInBlock()]
        cursor.insertText("\n" + line[: len(line) - len(line.lstrip(" \t"))])
        self.ensureCursorVisible()

    def change_lines(self, change: Callable[[str], str]) -> None:
        """Apply *change* to every line of the selection, and select these lines."""
        cursor = self.textCursor()
        document = self.document()
        last_block = document.findBlock(max(cursor.selectionStart(), cursor.selectionEnd() - 1))
        cursor.setPosition(document.findBlock(cursor.selectionStart()).position())
        cursor.setPosition(last_block.position() + len(last_block.text()), QTextCursor.MoveMode.KeepAnchor)
        start = cursor.selectionStart()
        text = "\n".join(change(line) for line in _normalize_newlines(cursor.selectedText()).split("\n"))
        cursor.insertText(text)
        cursor.setPosition(start)
        cursor.setPosition(start + len(text), QTextCursor.MoveMode.KeepAnchor)
        self.setTextCursor(cursor)

    def get_selected_text(self) -> str:
        r"""Return the selected text with `\n` as line ends."""
        return _normalize_newlines(self.textCursor().selectedText())

    def _ask_for_line(self) -> None:
        current_line = self.textCursor().blockNumber() + 1
        count = self.blockCount()
        number, yes = QInputDialog.getInt(
            self, tr("Go to line"), tr("Line (1 to {count}):").format(count=count), current_line, 1, count
        )
        if yes:
            self.go_to_line(number)

    # --- completion ---------------------------------------------------------------------------------------

    def _get_identifier_prefix(self) -> str:
        cursor = self.textCursor()
        # Search only the end of the line, because the pattern is slow on lines with a million characters.
        prefix_match = self.WORD_BEFORE.search(
            cursor.block().text()[: cursor.positionInBlock()][-WORD_LENGTH_MAX:]
        )
        return prefix_match[0] if prefix_match else ""

    def _open_completion(self) -> None:
        words = self._complete(self.toPlainText(), self.textCursor().position())
        self._completions.setStringList(list(words))
        self._completer.setCompletionPrefix(self._get_identifier_prefix())
        if self._completer.completionCount() == 1:
            self._insert_word(self._completer.currentCompletion())
        else:
            self._filter_completion()

    def _filter_completion(self) -> None:
        prefix, popup = self._get_identifier_prefix(), self._popup
        self._completer.setCompletionPrefix(prefix)
        if self._completer.completionCount() == 0 or self._completer.currentCompletion() == prefix:
            popup.hide()
            return
        popup.setCurrentIndex(self._completer.completionModel().index(0, 0))
        box = self.cursorRect().translated(self._margin.width(), 0)
        box.setWidth(popup.sizeHintForColumn(0) + popup.verticalScrollBar().sizeHint().width() + 12)
        self._completer.complete(box)

    def _insert_word(self, completion: str) -> None:
        cursor = self.textCursor()
        cursor.movePosition(
            QTextCursor.MoveOperation.Left,
            QTextCursor.MoveMode.KeepAnchor,
            len(self._get_identifier_prefix()),
        )
        cursor.insertText(completion)
        self.setTextCursor(cursor)
        self._popup.hide()

    # --- appearance ---------------------------------------------------------------------------------------

    @property
    def colors(self) -> theme.ThemeTokens:
        """Colors of the current theme."""
        return theme.get_theme_tokens(self.palette())

    @override
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._highlighter.recolor(self.colors)
            self._mark_current_line()
            self._margin.update()
        elif event.type() == QEvent.Type.ApplicationFontChange:
            self._use_font()

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._position_margin()

    def _use_font(self) -> None:
        self.setFont(theme.build_fixed_font())
        self.setTabStopDistance(TAB_SPACES * self.fontMetrics().horizontalAdvance(" "))
        self._position_margin()

    def _mark_current_line(self) -> None:
        mark = QTextEdit.ExtraSelection()
        mark.format.setBackground(self.colors.raised)
        mark.format.setProperty(QTextFormat.Property.FullWidthSelection, True)
        mark.cursor = self.textCursor()
        mark.cursor.clearSelection()
        self.setExtraSelections([mark, *self._marks])

    # --- line numbers -------------------------------------------------------------------------------------

    def _position_margin(self) -> None:
        """Place the line numbers to the left of the text, and the find bar below the text."""
        width = self._margin.sizeHint().width()
        height = 0 if self.find_bar.isHidden() else self.find_bar.sizeHint().height()
        lines = VISIBLE_LINES_ABOVE_BAR if height else VISIBLE_LINES_MIN
        self.setMinimumHeight(height + lines * self.fontMetrics().height())
        margins = QMargins(width, 0, 0, height)
        # an unconditional call in a resizeEvent would loop forever, because scroll bars appear and disappear
        if self.viewportMargins() != margins:
            self.setViewportMargins(margins)
        rect = self.contentsRect()
        self._margin.setGeometry(QRect(rect.left(), rect.top(), width, rect.height() - height))
        self.find_bar.setGeometry(rect.left(), rect.bottom() - height + 1, rect.width(), height)

    def _scroll_margin(self, rect: QRect, dy: int) -> None:
        if dy:
            self._margin.scroll(0, dy)
        else:
            self._margin.update(0, rect.y(), self._margin.width(), rect.height())

    def paint_numbers(self, event: QPaintEvent) -> None:
        """Paint the line numbers in the margin, within the area of *event*."""
        painter = QPainter(self._margin)
        painter.fillRect(event.rect(), self.colors.raised)
        block_number = self.textCursor().blockNumber()
        block = self.firstVisibleBlock()
        top = self.blockBoundingGeometry(block).translated(self.contentOffset()).top()
        while block.isValid() and top <= event.rect().bottom():
            height = self.blockBoundingRect(block).height()
            color: QColor = self.colors.text if block.blockNumber() == block_number else self.colors.muted
            painter.setPen(color)
            rect = QRect(QPoint(0, round(top)), QSize(self._margin.width() - 8, self.fontMetrics().height()))
            painter.drawText(rect, Qt.AlignmentFlag.AlignRight, str(block.blockNumber() + 1))
            block, top = block.next(), top + height
        painter.end()


class _LineNumberMargin(QWidget):
    """Margin with the line numbers."""

    def __init__(self, editor: CodeEditor) -> None:
        super().__init__(editor)
        self._editor = editor

    def sizeHint(self) -> QSize:
        digits = max(2, len(str(self._editor.blockCount())))
        return QSize(16 + self._editor.fontMetrics().horizontalAdvance("9") * digits, 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        self._editor.paint_numbers(event)


def _count_common_letters(text: str, other_text: str) -> int:
    """Return the length of the common prefix of both texts."""
    low, high = 0, min(len(text), len(other_text))
    while low < high:  # a comparison of slices is many times faster than a comparison of characters
        middle = (low + high + 1) // 2
        low, high = (middle, high) if text[low:middle] == other_text[low:middle] else (low, middle - 1)
    return low


def _normalize_newlines(selected: str) -> str:
    r"""Replace each U+2029 in *selected* by `\n`. Qt uses U+2029 for line ends in a selection."""
    return selected.replace("\u2029", "\n")
