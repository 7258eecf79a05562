"""Size limits of a scenario file, checked before its text is parsed, so that no file takes long to load.

All limits are assumed: about ten times the needs of the largest shipped scenario.
"""

import re
from typing import Final

from engine.localization import build_message

FILE_CHARACTERS_MAX: Final = 1_000_000
"""Maximum characters of a file."""
NESTING_DEPTH_MAX: Final = 16
"""Maximum nesting depth of lists and tables. Scenarios need a depth of 3."""
KEY_DOTS_MAX: Final = 8
"""Maximum number of dots in a key or header.

TOML parsers need time proportional to the square of this number.
"""
FILE_ENTRIES_MAX: Final = 20_000
"""Maximum total number of keys, list entries and headers."""
UNQUOTED_CHARACTERS_MAX: Final = 100
"""Maximum characters of an unquoted name or number. Python refuses to convert numbers with more than 4,300
digits.
"""
DATABASES_MAX: Final = 500
"""Maximum number of databases in a world.

The databases that the key `count` of a [[database]] table creates are included.
"""
PROBLEMS_MAX: Final = 100
"""Maximum number of reported problems. Further problems are only counted."""

# This pattern accepts an unterminated string up to the end of the text. The TOML parser reports the error
# later.
_TOML_TOKEN_PATTERN: Final = re.compile(
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


def find_exceeded_limit(text: str) -> tuple[int, str, str] | None:
    """Find the first position at which *text* exceeds a limit; None if there is none.

    Return the index in the text, the actual size and the allowed size.
    """
    if len(text) > FILE_CHARACTERS_MAX:
        return (
            0,
            build_message("the file is too long: {n} characters", n=len(text)),
            build_message("at most {n}", n=FILE_CHARACTERS_MAX),
        )
    depth = dots = parts = 0
    for piece in _TOML_TOKEN_PATTERN.finditer(text):
        if piece["word"] is not None:
            if len(piece["word"]) > UNQUOTED_CHARACTERS_MAX:
                message = build_message("a name or number is too long: {n} characters", n=len(piece["word"]))
                return piece.start(), message, build_message("at most {n}", n=UNQUOTED_CHARACTERS_MAX)
            continue
        sign = piece["sign"]
        if sign is None:
            continue
        if sign == ".":
            dots += 1
            if dots > KEY_DOTS_MAX:
                return (
                    piece.start(),
                    build_message("a key has too many dots"),
                    build_message("at most {n}", n=KEY_DOTS_MAX),
                )
            continue
        dots = 0
        depth += (sign in "[{") - (sign in "]}")
        parts += sign in "=,["
        if depth > NESTING_DEPTH_MAX:
            return (
                piece.start(),
                build_message("lists or tables are nested too deeply"),
                build_message("at most {n} levels of nesting", n=NESTING_DEPTH_MAX),
            )
        if parts > FILE_ENTRIES_MAX:
            return (
                piece.start(),
                build_message("the file has too many keys and entries"),
                build_message("at most {n}", n=FILE_ENTRIES_MAX),
            )
    return None
