"""Size limits of a scenario file, checked before its text is parsed, so that no file takes long to load.

All limits are assumed: about ten times the needs of the largest shipped scenario.
"""

import re
from typing import Final

from engine.localization import build_message

SIZE_MAX: Final = 1_000_000
"""Maximum characters of a file."""
DEPTH_MAX: Final = 16
"""Maximum nesting depth of lists and tables. Scenarios need a depth of 3."""
DOTS_MAX: Final = 8
"""Maximum number of dots in a key or header. TOML parsers need time proportional to its square."""
PARTS_MAX: Final = 20_000
"""Maximum total number of keys, list entries and headers."""
WORD_MAX: Final = 100
"""Maximum characters of an unquoted name or number. Python refuses to convert numbers with more than 4,300
digits.
"""
DATABASES_MAX: Final = 500
"""Maximum number of databases in a world, including those that `count` creates."""
PROBLEMS_MAX: Final = 100
"""Maximum number of reported problems. Further problems are only counted."""

# This pattern accepts an unterminated string up to the end of the text. The TOML parser reports the error
# later.
_PIECE: Final = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*+(?:"{3,5}|\Z)'
    r"|'''(?:[^']|'(?!''))*+(?:'{3,5}|\Z)"
    r'|"(?:[^"\\\n]|\\.)*+"?'
    r"|'[^'\n]*+'?"
    r"|#[^\n]*+"
    r"|(?P<word>[A-Za-z0-9_+:-]++)"
    r"|(?P<sign>[\[\]{}=,.\n])",
    re.DOTALL,
)
"""Pattern of a string, comment, word or punctuation mark in a TOML text."""


def find_excess(text: str) -> tuple[int, str, str] | None:
    """Find the first position at which *text* exceeds a limit; None if there is none.

    Return the index in the text, the actual size and the allowed size.
    """
    if len(text) > SIZE_MAX:
        return (
            0,
            build_message("the file has {n} characters", n=len(text)),
            build_message("at most {n}", n=SIZE_MAX),
        )
    depth = dots = parts = 0
    for piece in _PIECE.finditer(text):
        if piece["word"] is not None:
            if len(piece["word"]) > WORD_MAX:
                message = build_message("a name or number has {n} characters", n=len(piece["word"]))
                return piece.start(), message, build_message("at most {n}", n=WORD_MAX)
            continue
        sign = piece["sign"]
        if sign is None:
            continue
        if sign == ".":
            dots += 1
            if dots > DOTS_MAX:
                return (
                    piece.start(),
                    build_message("a key has too many dots"),
                    build_message("at most {n}", n=DOTS_MAX),
                )
            continue
        dots = 0
        depth += (sign in "[{") - (sign in "]}")
        parts += sign in "=,["
        if depth > DEPTH_MAX:
            return (
                piece.start(),
                build_message("lists or tables are nested too deeply"),
                build_message("at most {n} levels", n=DEPTH_MAX),
            )
        if parts > PARTS_MAX:
            return (
                piece.start(),
                build_message("the file has too many keys and entries"),
                build_message("at most {n}", n=PARTS_MAX),
            )
    return None
