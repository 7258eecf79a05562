"""Types of values in a scenario file: durations, names, texts, conditions, sizes."""

from __future__ import annotations

import re
import unicodedata
from datetime import datetime
from typing import Annotated, Any, Final

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    StringConstraints,
    WithJsonSchema,
)

from engine.localization import say

# --- kinds of values ----------------------------------------------------------------------------------------

_DURATION: Final = re.compile(r"\s*+(\d++(?:\.\d++)?)\s*+(s|min|h)?\s*+\Z")
_UNIT_S: Final = {None: 1.0, "s": 1.0, "min": 60.0, "h": 3600.0}
DURATION_MAX_S: Final = 24 * 3600.0
"""No drill lasts longer than a day; keeps a slip of the pen from running for ever."""

PACE_MIN_S: Final = 10.0
"""Shortest interval of a job: what SQL Server Agent's schedules can do. Documented (sp_add_jobschedule)."""


def _seconds(value: object) -> object:
    if isinstance(value, str):
        match = _DURATION.match(value)
        if match is None:
            raise ValueError(say('seconds (30) or a number with s, min or h ("2min")'))
        value = float(match[1]) * _UNIT_S[match[2]]
    if isinstance(value, (int, float)) and not isinstance(value, bool) and not 0.0 <= value <= DURATION_MAX_S:
        raise ValueError(say("a time from 0 to 24 h"))
    return value


def _pace(seconds: float) -> float:
    """Reject a job that would restart without any time passing, and so never end."""
    if 0.0 < seconds < PACE_MIN_S:
        raise ValueError(say("0 (never) or at least {t_s:g} s", t_s=PACE_MIN_S))
    return seconds


def _readable(text: str) -> str:
    """Reject invisible characters that change the text (controls, text direction, zero width)."""
    if text.replace("\n", "").isprintable() and not any(sign in text for sign in BLANK_LETTERS):
        return text  # covers nearly all texts; checking each character is slow
    for index, sign in enumerate(text):
        if sign not in "\n\t\u200c\u200d" and (
            unicodedata.category(sign) in _UNSEEN or sign in BLANK_LETTERS
        ):
            raise ValueError(
                say(
                    "no invisible character like character {n} ({word})",
                    n=index + 1,
                    word=f"U+{ord(sign):04X}",
                )
            )
    return text


_UNSEEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Categories of Unicode. Two signs of Cf are let through: the joiners that Persian and Hindi are written with."""
BLANK_LETTERS: Final = "\u115f\u1160\u2800\u3164\uffa0"
"""Letters and symbols to Unicode that are drawn as nothing: fillers of Hangul, the Braille pattern without a dot."""


def _moment(text: str) -> str:
    """Reject invalid times, and years that leave no room for a drill or for the time before it."""
    try:
        year = datetime.fromisoformat(text).year
    except ValueError:
        raise ValueError(say("a valid date and time")) from None
    if not 1990 <= year <= 2100:
        raise ValueError(say("a year from 1990 to 2100"))
    return text


Duration = Annotated[
    float,
    BeforeValidator(_seconds),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "number", "minimum": 0},
                {"type": "string", "pattern": r"^\s*\d+(\.\d+)?\s*(s|min|h)?\s*$"},
            ]
        }
    ),
]
"""Seconds."""

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_$-]{0,29}$")]
Line = Annotated[
    str, StringConstraints(min_length=1, max_length=200, strip_whitespace=True), AfterValidator(_readable)
]
Text = Annotated[
    str, StringConstraints(min_length=1, max_length=8000, strip_whitespace=True), AfterValidator(_readable)
]
Words = Annotated[
    str, StringConstraints(min_length=1, max_length=4000, strip_whitespace=True), AfterValidator(_readable)
]
Slug = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(?:[-_][a-z0-9]+)*$", max_length=60)]
Condition = Annotated[str, StringConstraints(min_length=1), AfterValidator(_readable)]
Points = Annotated[float, Field(ge=0, le=100)]
Port = Annotated[int, Field(ge=1, le=65_535)]
TraceFlag = Annotated[int, Field(ge=1, le=99_999)]
SizeMb = Annotated[float, Field(ge=1, le=100_000_000)]
"""A file of 1 MB to 100 TB: six times the 16 TB that a file of the product may have."""


_POOL_SCHEMA: Final = {"type": "array", "items": {"type": ["string", "number"]}, "minItems": 2}
Pools = Annotated[
    dict[str, Any],
    WithJsonSchema(
        {
            "type": "object",
            "additionalProperties": {
                "anyOf": [_POOL_SCHEMA, {"type": "object", "additionalProperties": _POOL_SCHEMA}]
            },
        }
    ),
]
"""[variants], checked in variants.py: pools from which the seed picks what stands for {name} in the file's texts."""
