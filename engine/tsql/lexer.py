"""Tokens of T-SQL, with their places; comments and blanks are left out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from engine.messages import SqlError
from engine.tsql.words import KEYWORDS

PRECISION_MAX: Final = 38
"""Digits of a number; documented for decimal."""

_TOKEN: Final = re.compile(
    r"""
    (?P<blank>\s+|--[^\n]*)
  | (?P<string>[Nn]?'(?:[^']|'')*')
  | (?P<quoted>\[(?:[^\]]|\]\])*\]|"(?:[^"]|"")*")
  | (?P<variable>@@?[\w@#$]+)
  | (?P<number>0[xX][0-9A-Fa-f]*|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
  | (?P<word>[^\W\d][\w@#$]*|\#{1,2}[\w@#$]+|\$(?:[A-Za-z]\w*))
  | (?P<op><=|>=|<>|!=|!<|!>|\+=|-=|\*=|/=|%=|&=|\|=|\^=|::|[-+*/%=<>&|^~(),.;:?{}\\!$])
    """,
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Token:
    """One word, name, string, number, variable or sign of a batch."""

    kind: str
    """word, quoted (a name in brackets or double quotes), string, variable, number, op or end."""
    text: str
    start: int
    end: int
    line: int

    @property
    def upper(self) -> str:
        """The word in capitals; empty for everything that cannot be a keyword."""
        return self.text.upper() if self.kind == "word" else ""

    def is_op(self, *signs: str) -> bool:
        return self.kind == "op" and self.text in signs


class SyntaxProblem(SqlError):
    """The batch cannot be compiled; *line* counts from its first line."""

    def __init__(self, line: int, number: int, *args: object) -> None:
        super().__init__(number, *args)
        self.line = line


@lru_cache(maxsize=64)
def tokens_of(text: str) -> tuple[Token, ...]:
    """All tokens of a batch and an `end` token. Raises SyntaxProblem 102, 103, 105 or 113."""
    tokens: list[Token] = []
    place, line = 0, 1
    while place < len(text):
        if text.startswith("/*", place):
            end = end_of_comment(text, place)
            if end < 0:
                raise SyntaxProblem(line, 113)
        else:
            match = _TOKEN.match(text, place)
            if match is None:
                raise _unreadable(text, place, line)
            end = match.end()
            kind = str(match.lastgroup)
            if kind != "blank":
                tokens.append(_checked(Token(kind, match.group(), place, end, line)))
        line += text.count("\n", place, end)
        place = end
    last = tokens[-1].line if tokens else 1
    tokens.append(Token("end", "", len(text), len(text), last))
    return tuple(tokens)


def end_of_comment(text: str, start: int) -> int:
    """Place behind the block comment that begins at *start* (they nest), or -1."""
    depth = 0
    for match in re.compile(r"/\*|\*/").finditer(text, start):
        depth += 1 if match.group() == "/*" else -1
        if depth == 0:
            return match.end()
    return -1


def _checked(token: Token) -> Token:
    if token.kind in ("word", "quoted") and len(token.text) > 130:
        raise SyntaxProblem(token.line, 103, token.text[:30])
    if token.kind == "number" and token.text.isdigit() and len(token.text) > PRECISION_MAX:
        raise SyntaxProblem(token.line, 1007, token.text)
    return token


def _unreadable(text: str, place: int, line: int) -> SyntaxProblem:
    rest = text[place:].lstrip("Nn")
    if rest[:1] in ("'", '"', "["):
        return SyntaxProblem(line, 105, rest[1:60].split("\n")[0])
    return SyntaxProblem(line, 102, text[place])


def near(token: Token, last: Token | None = None) -> SyntaxProblem:
    """The error for a token that does not fit: 156 for a keyword, 102 otherwise."""
    shown = last if token.kind == "end" and last is not None else token
    if shown.upper in KEYWORDS:
        return SyntaxProblem(shown.line, 156, shown.upper if shown.text.isupper() else shown.text)
    return SyntaxProblem(shown.line, 102, name_of(shown) if shown.kind == "string" else shown.text)


def name_of(token: Token) -> str:
    """The name or string that a token stands for, without its quotes."""
    text = token.text
    if token.kind == "quoted":
        close = text[-1]
        return text[1:-1].replace(close * 2, close)
    if token.kind == "string":
        return text[text.index("'") + 1 : -1].replace("''", "'")
    return text


def without_comments(text: str, tokens: Sequence[Token]) -> str:
    """The text from the first of *tokens* to the last, with each comment turned into blanks (line breaks stay)."""
    parts: list[str] = []
    place = tokens[0].start
    for token in tokens:
        if token.start > place:
            parts.append(_NOT_BLANK.sub(" ", text[place : token.start]))
        parts.append(token.text)
        place = token.end
    return "".join(parts)


_NOT_BLANK: Final = re.compile(r"[^\n]")


def quote(name: str) -> str:
    """A name in brackets, as QUOTENAME does."""
    return "[" + name.replace("]", "]]") + "]"
