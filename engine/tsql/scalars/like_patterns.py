"""LIKE and PATINDEX with T-SQL patterns: %, _, [a-z], [^a], and an escape character."""

import re
import unicodedata
from functools import lru_cache
from typing import Final

from engine.tsql.scalars.values import Scalar, propagate_null, to_text


def evaluate_like(pattern: Scalar, text: Scalar, escape: Scalar = None) -> Scalar:
    """Evaluate LIKE with T-SQL patterns. This function replaces SQLite's LIKE."""
    if pattern is None or text is None:
        return None
    return int(find_pattern_position(to_text(pattern), to_text(escape), to_text(text)) is not None)


def evaluate_like_exact(pattern: Scalar, text: Scalar, escape: Scalar = None) -> Scalar:
    """Evaluate LIKE with a case-sensitive collation."""
    if pattern is None or text is None:
        return None
    return int(
        find_pattern_position(to_text(pattern), to_text(escape), to_text(text), exact=True) is not None
    )


def find_pattern_position(pattern: str, escape: str, text: str, exact: bool = False) -> int | None:
    """Return the position in *text* at which *pattern* matches; None without a match.

    After a leading %, it is the position of the remaining pattern; otherwise, it is 0. *exact*:
    distinguish uppercase and lowercase.

    The % characters divide a pattern into pieces of fixed length. The leftmost match of each piece is
    sufficient. Therefore, the search never backtracks and its time is limited.
    """
    first, *middle = _compile_pieces(pattern, escape, exact)
    opening = first.match(text)
    if opening is None:
        return None
    if not middle:
        return 0 if text[opening.end() :].strip(" ") == "" else None  # LIKE ignores trailing blanks
    position, start = opening.end(), None if first.pattern == "" else 0
    for piece in middle[:-1]:
        piece_match = piece.search(text, position)
        if piece_match is None:
            return None
        start = piece_match.start() if start is None else start
        position = piece_match.end()
    last = middle[-1]
    if last.pattern == "":
        return len(text) if start is None else start
    closing = last.search(text, position)
    if closing is None:
        return None
    return closing.start() if start is None else start


def compute_search_work(pattern: Scalar = None, text: Scalar = None, *_: Scalar) -> int:
    """Return an upper bound of the work (work.py) to search *text* for all pieces of a pattern.

    The weights are measured.
    """
    if not isinstance(pattern, str):
        return 0
    return pattern.count("%") + compute_compare_work(pattern, text)


def compute_compare_work(part: Scalar, text: Scalar) -> int:
    """Return an upper bound of the work to search *text* for *part*.

    In the assumed worst case, all characters of *part* except the last one match at every position.
    """
    return (
        len(part) * len(text) // COMPARISONS_PER_WORK_UNIT
        if isinstance(part, str) and isinstance(text, str)
        else 0
    )


COMPARISONS_PER_WORK_UNIT: Final = 2_000
"""Number of character comparisons per unit of work. The figure is measured."""


@lru_cache(maxsize=256)
def _compile_pieces(pattern: str, escape: str, exact: bool) -> tuple[re.Pattern[str], ...]:
    """Return the pieces between the % characters of a pattern, as regular expressions of fixed length.

    The last expression includes the end of the text. This function caches them, because Python caches only
    512 expressions, and one pattern may have thousands.
    """
    pieces, position = [""], 0
    while position < len(pattern):
        char = pattern[position]
        close = pattern.find("]", position + 2)
        if escape and char == escape and position + 1 < len(pattern):
            position += 1
            pieces[-1] += re.escape(pattern[position])
        elif char == "%":
            pieces.append("")
        elif char == "_":
            pieces[-1] += "."
        elif char == "[" and close > 0:
            pieces[-1] += _translate_character_class(pattern[position + 1 : close])
            position = close
        else:
            pieces[-1] += re.escape(char)
        position += 1
    first, *middle = pieces
    parts = [first, *(piece for piece in middle[:-1] if piece)]
    if middle:
        parts.append(f"(?:{middle[-1]}) *$" if middle[-1] else "")
    flags = re.DOTALL if exact else re.IGNORECASE | re.DOTALL
    return tuple(re.compile(piece, flags) for piece in parts)


def _translate_character_class(class_text: str) -> str:
    negated = "^" if class_text.startswith("^") else ""
    body = re.sub(r"([\\\[\]&|~^])", r"\\\1", class_text.removeprefix("^"))
    accented_letters = "".join(_ACCENTED_LETTERS.get(letter, "") for letter in _list_letters_in(class_text))
    body += accented_letters
    try:
        re.compile(f"[{negated}{body}]")
    except re.error:
        return re.escape(class_text[:1])
    return f"[{negated}{body}]"


def _list_letters_in(class_text: str) -> str:
    """Return the letters in all ranges of a character class, without the last letter of each range."""
    ranges = re.findall(r"([a-z])-([a-z])", class_text.lower())
    return "".join(chr(code) for first, last in ranges for code in range(ord(first), ord(last)))


def _list_accents_by_letter() -> dict[str, str]:
    """Return letter -> its accented letters, in the order of their code points."""
    base_letters: dict[str, str] = {}
    for char in map(chr, range(0xC0, 0x180)):
        plain_letter = unicodedata.normalize("NFD", char)[0].lower()
        if plain_letter.isascii():
            base_letters[plain_letter] = base_letters.get(plain_letter, "") + char
    return base_letters


_ACCENTED_LETTERS: Final = _list_accents_by_letter()
"""Letter -> accented letters between it and the next letter in the collation. Example: é is between e and f
[DOC: LIKE].
"""


@propagate_null
def evaluate_patindex(pattern: Scalar, text: Scalar) -> Scalar:
    """Evaluate PATINDEX: the position of the pattern in the text, from 1; 0 if it does not match."""
    match = find_pattern_position(to_text(pattern), "", to_text(text))
    return 0 if match is None else match + 1


@propagate_null
def evaluate_patindex_exact(pattern: Scalar, text: Scalar) -> Scalar:
    """Evaluate PATINDEX with a case-sensitive collation."""
    match = find_pattern_position(to_text(pattern), "", to_text(text), exact=True)
    return 0 if match is None else match + 1
