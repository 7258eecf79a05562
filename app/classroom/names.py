"""Checks and normalization of the names of people in a class. No Qt."""

import re
from collections.abc import Container
from itertools import count
from typing import Final

from app.classroom.messages.codec import NAME_LENGTH_MAX

INVISIBLE_CHARACTERS: Final = frozenset(
    {0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0}
    | set(range(0x180B, 0x1810))
    | set(range(0xFE00, 0xFE10))
    | set(range(0xE0100, 0xE01F0))
)
"""Invisible code points that Python considers printable: braille blank, and the property
Default_Ignorable_Code_Point [Unicode Character Database, DerivedCoreProperties.txt].
"""


def find_free_name(name: str, used_names: Container[str]) -> str:
    """Return *name* if it is free. Otherwise, append the next free number: "Ann", "Ann 2"."""
    name = name.strip()
    numbered = (f"{name[: NAME_LENGTH_MAX - 5]} {number}" for number in count(2))
    return (
        name
        if name not in used_names
        else next(candidate for candidate in numbered if candidate not in used_names)
    )


def is_same_name(name: str, entered: str) -> bool:
    """Return True if *name* is the *entered* name, possibly with a number that the host appended."""
    entered = entered.strip()
    return name == entered or bool(re.fullmatch(re.escape(entered[: NAME_LENGTH_MAX - 5]) + r" \d+", name))


def clean_text(text: str) -> str:
    """Replace every unprintable character in a seat's text, such as a line break, by a space."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def is_valid_name(name: str) -> bool:
    """Return True if *name* is printable, not blank, and free of invisible characters."""
    return (
        len(name) <= NAME_LENGTH_MAX
        and bool(name.strip())
        and name.isprintable()
        and INVISIBLE_CHARACTERS.isdisjoint(map(ord, name))
    )
