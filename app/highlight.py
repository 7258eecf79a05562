"""Colours in a text editor, by one of Pygments' lexers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from pygments.lexer import Lexer
from pygments.token import _TokenType
from PySide6.QtGui import QColor, QSyntaxHighlighter, QTextCharFormat, QTextDocument

from app.theme import Tokens

LEXED_MAX: Final = 100_000
"""Characters up to which a text has colours: every key lexes all of it, and must not be felt. The largest shipped
scenario has 13,000."""

ToneOf = Callable[[_TokenType, str], str | None]
"""Token of the theme for a word of a kind; None: ordinary text."""


class Highlighter(QSyntaxHighlighter):
    """Lexes the whole text when it has changed: texts are short, and comments and strings span lines."""

    def __init__(self, document: QTextDocument, colours: Tokens, lexer: Lexer, tone_of: ToneOf) -> None:
        super().__init__(document)
        self._colours = colours
        self._lexer = lexer
        self._tone_of = tone_of
        self._lexed = (-1, -1)
        self._spans: dict[int, list[tuple[int, int, str]]] = {}
        """Line number: (start, length, tone)."""
        self._open: set[int] = set()
        """Lines at whose end a comment or string goes on."""

    def recolour(self, colours: Tokens) -> None:
        self._colours = colours
        self.rehighlight()

    def highlightBlock(self, text: str) -> None:
        now = (self.document().revision(), self.document().characterCount())
        if self._lexed != now:
            self._lexed = now
            self._lex()
        line = self.currentBlock().blockNumber()
        for start, length, tone in self._spans.get(line, ()):
            colour: QColor = getattr(self._colours, tone)
            style = QTextCharFormat()
            style.setForeground(colour)
            self.setFormat(start, length, style)
        self.setCurrentBlockState(1 if line in self._open else 0)  # a change makes Qt go on to the next line

    def _lex(self) -> None:
        self._spans, self._open = {}, set()
        if self.document().characterCount() > LEXED_MAX:
            return
        line = column = 0
        for kind, word in self._lexer.get_tokens(self.document().toPlainText()):
            tone = self._tone_of(kind, word)
            for number, part in enumerate(word.split("\n")):
                if number:
                    if tone:
                        self._open.add(line)
                    line, column = line + 1, 0
                if tone and part:
                    self._spans.setdefault(line, []).append((column, utf16_length(part), tone))
                column += utf16_length(part)


def utf16_length(text: str) -> int:
    """Qt counts in UTF-16 units."""
    return len(text) + sum(ord(sign) > 0xFFFF for sign in text)
