"""Syntax colors of T-SQL, by Pygments' lexer and a list of mirroring keywords that it lacks."""

from __future__ import annotations

from typing import Final

from pygments.lexers import TransactSqlLexer
from pygments.token import Token, _TokenType
from PySide6.QtGui import QTextDocument

from app.widgets.highlight import Highlighter
from app.widgets.theme import ThemeTokens

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
