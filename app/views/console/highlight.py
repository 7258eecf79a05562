"""T-SQL in colours, by Pygments' lexer and a list of the words of mirroring that it does not know."""

from __future__ import annotations

from typing import Final

from pygments.lexers import TransactSqlLexer
from pygments.token import Token, _TokenType
from PySide6.QtGui import QColor, QSyntaxHighlighter, QTextCharFormat, QTextDocument

from app.theme import Tokens

_WORDS: Final = """
AES ALGORITHM AUTHENTICATION CERTIFICATE DATABASE_MIRRORING DELAY DISABLED ENCRYPTION ENDPOINT FAILOVER
FORCE_SERVICE_ALLOW_DATA_LOSS IMMEDIATE LISTENER_IP LISTENER_PORT LOG LOGIN MOVE NEGOTIATE NORECOVERY NOWAIT
PARTNER PAYLOAD RC4 RECOVERY REPLACE REQUIRED RESUME SAFETY STARTED STOPPED SUPPORTED SUSPEND TCP TIMEOUT
WITNESS
"""
MIRRORING_WORDS: Final = frozenset(_WORDS.split())
"""Words of the mirroring statements that Pygments takes for names."""

TONES: Final[tuple[tuple[_TokenType, str], ...]] = (
    (Token.Keyword, "keyword"),
    (Token.Name.Function, "function"),
    (Token.Name.Builtin, "function"),
    (Token.Literal.String, "string"),
    (Token.Literal.Number, "number"),
    (Token.Comment, "comment"),
)
"""Kind of token: token of the theme. The first that fits; the rest is ordinary text."""


def tone_of(kind: _TokenType, word: str) -> str | None:
    """Token of the theme for a word of T-SQL."""
    if kind in Token.Name and word.upper() in MIRRORING_WORDS:
        return "keyword"
    return next((tone for family, tone in TONES if kind in family), None)


class SqlHighlighter(QSyntaxHighlighter):
    """Lexes the whole text when it has changed: batches are short, and comments span lines."""

    def __init__(self, document: QTextDocument, colours: Tokens) -> None:
        super().__init__(document)
        self._colours = colours
        self._lexer = TransactSqlLexer(stripnl=False, ensurenl=False)
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
        line = column = 0
        before = ""
        for kind, word in self._lexer.get_tokens(self.document().toPlainText()):
            tone = tone_of(kind, word) if before != "." else None  # sys.database_mirroring is a name
            before = word
            for number, part in enumerate(word.split("\n")):
                if number:
                    if tone:
                        self._open.add(line)
                    line, column = line + 1, 0
                if tone and part:
                    self._spans.setdefault(line, []).append((column, _utf16_length(part), tone))
                column += _utf16_length(part)


def _utf16_length(text: str) -> int:
    """Qt counts in UTF-16 units."""
    return len(text) + sum(ord(sign) > 0xFFFF for sign in text)
