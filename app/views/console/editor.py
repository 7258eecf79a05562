"""T-SQL editor: line numbers, keys for comments and case, completion."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from pygments.lexers import TransactSqlLexer
from pygments.token import Token, _TokenType
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import (
    QAction,
    QContextMenuEvent,
    QFocusEvent,
    QKeyEvent,
    QKeySequence,
    QTextCursor,
    QTextDocument,
)
from PySide6.QtWidgets import QWidget

from app.widgets.code_edit import CodeEdit, Complete
from app.widgets.highlight import Highlighter
from app.widgets.theme import ThemeTokens
from app.words.language import mark, tr
from engine.overrides import override

_WORDS: Final = """
AES ALGORITHM AUTHENTICATION CERTIFICATE DATABASE_MIRRORING DELAY DISABLED ENCRYPTION ENDPOINT FAILOVER
FORCE_SERVICE_ALLOW_DATA_LOSS IMMEDIATE LISTENER_IP LISTENER_PORT LOG LOGIN MOVE NEGOTIATE NORECOVERY NOWAIT
PARTNER PAYLOAD RC4 RECOVERY REPLACE REQUIRED RESUME SAFETY STARTED STOPPED SUPPORTED SUSPEND TCP TIMEOUT
WITNESS
"""
MIRRORING_WORDS: Final = frozenset(_WORDS.split())
"""Keywords of mirroring statements that Pygments treats as names."""

TONES: Final[tuple[tuple[_TokenType, str], ...]] = (
    (Token.Keyword, "keyword"),
    (Token.Name.Function, "function"),
    (Token.Name.Builtin, "function"),
    (Token.Literal.String, "string"),
    (Token.Literal.Number, "number"),
    (Token.Comment, "comment"),
)
"""Kind of token -> theme token. The first match counts; all else is plain text."""


def tone_of(kind: _TokenType, text: str) -> str | None:
    """Return the theme token for a word of T-SQL."""
    if kind in Token.Name and text.upper() in MIRRORING_WORDS:
        return "keyword"
    return next((tone for family, tone in TONES if kind in family), None)


def sql_highlighter(document: QTextDocument, colors: ThemeTokens) -> Highlighter:
    """Return colors for T-SQL."""
    before = ""

    def tone(kind: _TokenType, text: str) -> str | None:
        nonlocal before
        found = tone_of(kind, text) if before != "." else None  # sys.database_mirroring is a name
        before = text
        return found

    return Highlighter(document, colors, TransactSqlLexer(stripnl=False, ensurenl=False), tone)


_COMMENT: Final = re.compile(r"^(\s*)--")
_CHORD: Final = mark("(Ctrl+K) was pressed. Waiting for the second key: Ctrl+C comments, Ctrl+U uncomments.")


class SqlEditor(CodeEdit):
    """Editor for one batch, or several separated by GO."""

    def __init__(self, complete: Complete, parent: QWidget | None = None) -> None:
        super().__init__(complete, sql_highlighter, parent)
        self._chord = False
        self.menu_actions: list[QAction] = []
        """Additional actions for the context menu."""
        self.setAccessibleName("T-SQL")
        self.add_keys(
            {
                "Ctrl+Shift+U": lambda: self._change_selection(str.upper),
                "Ctrl+Shift+L": lambda: self._change_selection(str.lower),
            }
        )

    # --- for the query window -----------------------------------------------------------------------------

    @property
    def chosen_text(self) -> str:
        """Text that F5 runs: the selection, or all text."""
        return self.selected_text().strip() or self.toPlainText()

    @property
    def first_line(self) -> int:
        """Line of the text in which `chosen_text` begins, counted from 1."""
        cursor = self.textCursor()
        if not self.selected_text().strip():
            return 1
        text = self.selected_text()
        skipped = text[: len(text) - len(text.lstrip())].count("\n")
        return self.document().findBlock(cursor.selectionStart()).blockNumber() + 1 + skipped

    def insert_snippet(self, text: str) -> None:
        """Put *text* at the cursor, on a line of its own."""
        cursor = self.textCursor()
        if cursor.block().text().strip() and not cursor.hasSelection():
            cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock)
            text = "\n" + text
        cursor.insertText(text)
        self.setTextCursor(cursor)
        self.setFocus()

    # --- keys ---------------------------------------------------------------------------------------------

    @override
    def event(self, event: QEvent) -> bool:
        # Ctrl+K and the next key belong to the editor, whatever else the window uses them for.
        mine = isinstance(event, QKeyEvent) and (self._chord or self._starts_chord(event))
        if mine and event.type() == QEvent.Type.ShortcutOverride:
            event.accept()
            return True
        return super().event(event)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self._chord:
            self._end_chord(event)
        elif self._starts_chord(event):
            self._chord = True
            self.said.emit(tr(_CHORD))
        else:
            super().keyPressEvent(event)

    @override
    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        menu = self.createStandardContextMenu()
        first = menu.actions()[0] if menu.actions() else None
        if first is not None:
            menu.insertActions(first, self.menu_actions)
            menu.insertSeparator(first)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(event.globalPos())

    @override
    def focusOutEvent(self, event: QFocusEvent) -> None:
        self._chord = False
        super().focusOutEvent(event)

    @staticmethod
    def _starts_chord(event: QKeyEvent) -> bool:
        return event.key() == Qt.Key.Key_K and event.modifiers() == Qt.KeyboardModifier.ControlModifier

    def _end_chord(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Control, Qt.Key.Key_Shift):
            return
        self._chord = False
        self.said.emit("")
        if event.key() == Qt.Key.Key_C:
            self.change_lines(lambda line: f"--{line}" if line.strip() else line)
        elif event.key() == Qt.Key.Key_U:
            self.change_lines(lambda line: _COMMENT.sub(r"\1", line))
        elif event.key() != Qt.Key.Key_Escape:
            keys = QKeySequence(event.keyCombination()).toString(QKeySequence.SequenceFormat.NativeText)
            self.said.emit(tr("(Ctrl+K, {keys}) is not a command.").format(keys=keys))

    def _change_selection(self, change: Callable[[str], str]) -> None:
        cursor = self.textCursor()
        start, text = cursor.selectionStart(), change(self.selected_text())
        if text:
            cursor.insertText(text)
            cursor.setPosition(start)
            cursor.setPosition(start + len(text), QTextCursor.MoveMode.KeepAnchor)
            self.setTextCursor(cursor)
