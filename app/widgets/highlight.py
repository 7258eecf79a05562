"""Syntax highlighting in a text editor, with a Pygments lexer."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice
from typing import Final

from pygments.lexer import Lexer
from pygments.token import _TokenType
from PySide6.QtCore import QTimer
from PySide6.QtGui import QSyntaxHighlighter, QTextCharFormat, QTextDocument

from app.widgets.theme import ThemeTokens
from engine.overrides import override

HIGHLIGHTED_LENGTH_MAX: Final = 100_000
"""Maximum length of a text with syntax highlighting."""

IMMEDIATE_LENGTH_MAX: Final = 5_000
"""Maximum length of a text that is highlighted completely at every key, which takes about 5 ms.

Longer texts are highlighted in slices.
"""

TYPING_PAUSE_MS: Final = 150
"""Pause after the last key before a longer text is highlighted again."""

TOKENS_PER_SLICE: Final = 1_500
"""Number of tokens to lex in one slice, which takes about 8 ms."""
LINES_PER_SLICE: Final = 150
"""Number of lines to highlight in one slice, which takes about 8 ms."""

GetTokenColor = Callable[[_TokenType, str], str | None]
"""Function that returns the name of the theme color for a token, or None for the normal text color."""


class SyntaxHighlighter(QSyntaxHighlighter):
    """Highlighter that lexes the whole text after each change: a comment or string can span lines.

    A long text is lexed in slices.
    """

    def __init__(
        self, document: QTextDocument, colors: ThemeTokens, lexer: Lexer, get_token_color: GetTokenColor
    ) -> None:
        super().__init__(document)
        self._colors = colors
        self._lexer = lexer
        self._get_color_name = get_token_color
        self._lexed = (-1, -1)
        self._spans: ColoredSpans = {}
        """Line number -> (start, length, tone)."""
        self._open: set[int] = set()
        """Lines at whose end a comment or string is open."""
        self._reading: _HighlightPass | None = None
        """Longer text that is being lexed, token by token."""
        self._to_color: list[int] = []
        """Lines that still need their new colors."""
        self._slice_timer = QTimer(self, singleShot=True)
        self._slice_timer.timeout.connect(self._process_slice)

    def recolor(self, colors: ThemeTokens) -> None:
        """Use the colors of another theme."""
        self._colors = colors
        self.rehighlight()

    @override
    def highlightBlock(self, text: str) -> None:
        size = self.document().characterCount()
        # return quickly, because a paste of 25,000 lines calls this for each line
        if size > HIGHLIGHTED_LENGTH_MAX:
            return
        state = (self.document().revision(), size)
        if self._lexed != state:
            self._lexed = state
            self._restart_pass()
        line = self.currentBlock().blockNumber()
        for start, length, color_name in self._spans.get(line, ()):
            color = self._colors.get_color(color_name)
            style = QTextCharFormat()
            style.setForeground(color)
            self.setFormat(start, length, style)
        # if this state changes, Qt also highlights the next line
        self.setCurrentBlockState(1 if line in self._open else 0)

    def _restart_pass(self) -> None:
        """Lex a short text immediately. A longer text is lexed after a pause in typing."""
        self._reading, self._to_color = None, []
        size = self.document().characterCount()
        if size <= IMMEDIATE_LENGTH_MAX:
            reading = self._begin_pass()
            reading.read_tokens(size)
            self._spans, self._open = reading.spans, reading.open
        else:
            self._slice_timer.start(TYPING_PAUSE_MS)

    def _begin_pass(self) -> _HighlightPass:
        return _HighlightPass(self._lexer.get_tokens(self.document().toPlainText()), self._get_color_name)

    def _process_slice(self) -> None:
        """Lex a slice of a longer text. After the last slice, highlight the lines of the text in slices."""
        if self._to_color:
            lines, self._to_color = self._to_color[:LINES_PER_SLICE], self._to_color[LINES_PER_SLICE:]
            for line in lines:
                self.rehighlightBlock(self.document().findBlockByNumber(line))
        elif self._reading is not None or self.document().characterCount() <= HIGHLIGHTED_LENGTH_MAX:
            self._reading = self._reading or self._begin_pass()
            if self._reading.read_tokens(TOKENS_PER_SLICE):
                highlight_pass, self._reading = self._reading, None
                self._spans, self._open = highlight_pass.spans, highlight_pass.open
                self._to_color = list(range(self.document().blockCount()))
        if self._reading is not None or self._to_color:
            self._slice_timer.start(0)


ColoredSpans = dict[int, list[tuple[int, int, str]]]
"""Line number -> (start, length, name of the theme color) of its tokens."""


class _HighlightPass:
    """One pass through the tokens of a text, with the resulting spans."""

    def __init__(self, tokens: Iterable[tuple[_TokenType, str]], get_color_name: GetTokenColor) -> None:
        self.spans: ColoredSpans = {}
        self.open: set[int] = set()
        self._tokens = iter(tokens)
        self._get_color_name = get_color_name
        self._line = self._column = 0

    def read_tokens(self, count: int) -> bool:
        """Read up to *count* tokens. Return True at the end of the text."""
        token_count = 0
        for kind, word in islice(self._tokens, count):
            token_count += 1
            color_name = self._get_color_name(kind, word)
            for number, part in enumerate(word.split("\n")):
                if number:
                    if color_name:
                        self.open.add(self._line)
                    self._line, self._column = self._line + 1, 0
                if color_name and part:
                    span = (self._column, count_utf16_units(part), color_name)
                    self.spans.setdefault(self._line, []).append(span)
                self._column += count_utf16_units(part)
        return token_count < count


def count_utf16_units(text: str) -> int:
    """Return the length of *text* in UTF-16 units, which Qt counts."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2
