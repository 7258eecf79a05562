"""Size limits of a scenario file. They are checked before anything else reads it, so that no file takes long.

All limits are assumed: about ten times the needs of the largest shipped scenario.
"""

import re
from typing import Final

from engine.localization import build_message

SIZE_MAX: Final = 1_000_000
"""Maximum characters of a file."""
DEPTH_MAX: Final = 16
"""Maximum nesting of lists and tables; a scenario needs 3."""
DOTS_MAX: Final = 8
"""Maximum number of dots in a key or header: the time of TOML parsers grows with the square of it."""
PARTS_MAX: Final = 20_000
"""Maximum number of keys, list entries and headers together."""
WORD_MAX: Final = 100
"""Maximum length of an unquoted name or number. Python converts at most 4,300 digits."""
DATABASES_MAX: Final = 500
"""Maximum number of databases of a world, including those from `count`."""
PROBLEMS_MAX: Final = 100
"""Maximum number of problems that are explained. The others are only counted."""

# An unterminated string ends at the end of the text here; TOML's parser reports it.
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


def find_excess(text: str) -> tuple[int, str, str] | None:
    """Find the first place at which *text* exceeds a limit.

    Return its index, the actual size and the allowed size.
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
