"""LIKE with the patterns of T-SQL: %, _, [a-z], [^a], an escape character."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from engine.tsql.values import Scalar, strict, to_text


def like(pattern: Scalar, text: Scalar, escape: Scalar = None) -> Scalar:
    """SQLite's LIKE with the patterns of T-SQL: %, _, [a-z], [^a]."""
    if pattern is None or text is None:
        return None
    return int(find_like(to_text(pattern), to_text(escape), to_text(text)) is not None)


def find_like(pattern: str, escape: str, text: str) -> int | None:
    """Where the part of *text* that fits behind a leading % begins; None if the pattern does not fit.

    A pattern is pieces of fixed length between the %; the leftmost fit of each is the right one, so there is
    nothing to go back on and the time is bounded.
    """
    pieces = _pieces(pattern, escape)
    first, *middle = pieces
    opening = re.compile(first, _FLAGS).match(text)
    if opening is None:
        return None
    if not middle:
        return 0 if text[opening.end() :].strip(" ") == "" else None  # trailing blanks do not count
    place, start = opening.end(), None if first == "" else 0
    for piece in middle[:-1]:
        found = re.compile(piece, _FLAGS).search(text, place)
        if found is None:
            return None
        start = found.start() if start is None else start
        place = found.end()
    last = middle[-1]
    if last == "":
        return len(text) if start is None else start
    closing = re.compile(f"(?:{last}) *$", _FLAGS).search(text, place)
    if closing is None:
        return None
    return closing.start() if start is None else start


_FLAGS: Final = re.IGNORECASE | re.DOTALL


@lru_cache(maxsize=256)
def _pieces(pattern: str, escape: str) -> tuple[str, ...]:
    """Regular expressions, each of fixed length, of what stands between the % of a pattern."""
    pieces, place = [""], 0
    while place < len(pattern):
        char = pattern[place]
        close = pattern.find("]", place + 2)
        if escape and char == escape and place + 1 < len(pattern):
            place += 1
            pieces[-1] += re.escape(pattern[place])
        elif char == "%":
            pieces.append("")
        elif char == "_":
            pieces[-1] += "."
        elif char == "[" and close > 0:
            pieces[-1] += _character_class(pattern[place + 1 : close])
            place = close
        else:
            pieces[-1] += re.escape(char)
        place += 1
    kept = [piece for piece in pieces[1:-1] if piece]
    return (pieces[0], *kept, pieces[-1]) if len(pieces) > 1 else (pieces[0],)


def _character_class(inside: str) -> str:
    negated = "^" if inside.startswith("^") else ""
    body = re.sub(r"([\\\[\]&|~^])", r"\\\1", inside.removeprefix("^"))
    try:
        re.compile(f"[{negated}{body}]")
    except re.error:
        return re.escape(inside[:1])
    return f"[{negated}{body}]"


@strict
def patindex(pattern: Scalar, text: Scalar) -> Scalar:
    """PATINDEX: where the pattern begins in the text, from 1; 0 if it does not fit."""
    found = find_like(to_text(pattern), "", to_text(text))
    return 0 if found is None else found + 1
