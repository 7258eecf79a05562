"""Text of a scenario, with the syntax colors of TOML."""

from __future__ import annotations

import re
from typing import Final

from pygments.lexers import TOMLLexer
from pygments.token import Token, _TokenType
from PySide6.QtGui import QTextCursor, QTextDocument
from PySide6.QtWidgets import QWidget

from app.views.editor.scenario_completion import find_completions
from app.widgets.code_edit import CodeEdit
from app.widgets.highlight import Highlighter, utf16_length
from app.widgets.theme import ThemeTokens
from app.words.language import tr

TONES: Final[tuple[tuple[_TokenType, str], ...]] = (
    (Token.Keyword, "keyword"),
    (Token.Literal.String, "string"),
    (Token.Literal.Number, "number"),
    (Token.Literal.Date, "number"),
    (Token.Comment, "comment"),
    (Token.Name, "function"),
)
"""Kind of token -> theme token. The first match counts."""

SEEN_SHARE: Final = 0.75
"""Share of the height above which a followed line is not scrolled: its context is below it."""


def tone_of(kind: _TokenType, _: str) -> str | None:
    """Return the theme token for a kind of text."""
    return next((tone for family, tone in TONES if kind in family), None)


def toml_highlighter(document: QTextDocument, colors: ThemeTokens) -> Highlighter:
    """Return colors for TOML."""
    return Highlighter(document, colors, TOMLLexer(stripnl=False, ensurenl=False), tone_of)


class TomlEdit(CodeEdit):
    """Editor whose completion uses the schema."""

    WORD_BEFORE = re.compile(r"(?<![\w\-])[\w\-]*+$")

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(find_completions, toml_highlighter, parent)
        self.setAccessibleName(tr("Text of the scenario"))

    def move_cursor_to(self, line: int, column: int) -> None:
        """Put the cursor at that character, both from 1, and bring it into sight; the keyboard stays where it is."""
        block = self.document().findBlockByNumber(max(0, min(line, self.blockCount()) - 1))
        cursor = QTextCursor(block)
        before = utf16_length(block.text()[: column - 1])
        cursor.setPosition(block.position() + min(before, block.length() - 1))
        self.setTextCursor(cursor)
        self.centerCursor()

    def follow(self, line: int) -> None:
        """Go to that line, from 1, for an author who works elsewhere; the text moves only if it is out of sight.

        Nothing is selected: the next key in the text would write over it.
        """
        self.setTextCursor(
            QTextCursor(self.document().findBlockByNumber(max(0, min(line, self.blockCount()) - 1)))
        )
        place = self.cursorRect()
        if not 0 < place.top() < self.viewport().height() * SEEN_SHARE:
            self.centerCursor()
