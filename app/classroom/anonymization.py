"""Removal of names of people and groups from typed texts, for anonymous reports."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final

from engine.tsql.language.reserved_words import RESERVED_WORDS
from engine.verbs import REMARK_VERBS, VERBS

NameReplacements = tuple[tuple[str, str], ...]
"""Pairs of a name to hide and its replacement. The replacement is also a valid SQL name."""

NAME_PART_LENGTH_MIN: Final = 3
"""Minimum length at which a part of a name is also replaced on its own.

Shorter parts are often common words.
"""
AMBIGUOUS_NAME_REPLACEMENT: Final = "somebody"
"""Replacement for a part of a name that several people share."""


def list_replacements(people: Mapping[int, str], groups: Sequence[str], scenario: str) -> NameReplacements:
    """Return the replacements for the names of people and groups. *people*: number of a seat -> name.

    *groups*: names of all groups. Names that also occur as a word in *scenario* are not replaced.
    """
    scenario_words = {word.casefold() for word in re.findall(r"\w+", scenario)}
    full_names = {name: f"seat_{number}" for number, name in people.items() if name}
    parts = [(part, f"seat_{number}") for number, name in people.items() for part in _split_name(name)]
    shared = Counter(part.casefold() for part, _ in parts)
    parts_by_name = {
        part: seat if shared[part.casefold()] == 1 else AMBIGUOUS_NAME_REPLACEMENT for part, seat in parts
    }
    parts_by_name |= {name: f"group_{number}" for number, name in enumerate(groups, 1)} | full_names
    hidden = [
        (name, instead) for name, instead in parts_by_name.items() if name.casefold() not in scenario_words
    ]
    return tuple(sorted(hidden, key=lambda pair: (-len(pair[0]), pair[0])))


def _split_name(name: str) -> list[str]:
    return [part for part in re.findall(r"[^\W_]+", name) if len(part) >= NAME_PART_LENGTH_MIN]


def anonymize_line(line: str, replacements: NameReplacements) -> str:
    """Apply *replacements* to an input line, but not to keywords of T-SQL and of input lines."""
    verb, space, arguments = line.partition(" ")
    if not replacements or not space:
        return line
    return verb + space + _replace_names(arguments, replacements, verb.lower() in REMARK_VERBS)


def anonymize_text(text: str, replacements: NameReplacements) -> str:
    """Apply *replacements* to a free text, such as a question or a reflection."""
    return _replace_names(text, replacements, is_remark=True)


def _replace_names(text: str, names: NameReplacements, is_remark: bool) -> str:
    """Replace the names in *text*.

    *is_remark*: True for free text; False for an input line, whose keywords are not replaced.
    """
    pattern, instead = _compile_pattern(names, is_remark)
    if pattern is None:
        return text
    return pattern.sub(lambda match: instead[match[0].casefold()], text)


@cache
def _compile_pattern(
    names: NameReplacements, is_remark: bool
) -> tuple[re.Pattern[str] | None, Mapping[str, str]]:
    """Return a pattern that matches any name, and a mapping from lowercase name to replacement.

    The pattern is None if there is no name to replace. In commands (*is_remark* is False), keywords are not
    replaced.
    """
    matching_names = [pair for pair in names if is_remark or pair[0].casefold() not in _COMMAND_WORDS]
    if not matching_names:
        return None, {}
    any_of = "|".join(re.escape(name) for name, _ in matching_names)
    # An underscore separates names: Ann_backup contains the name Ann.
    pattern = re.compile(rf"(?<![^\W_])(?:{any_of})(?![^\W_])", re.IGNORECASE)
    return pattern, {name.casefold(): instead for name, instead in reversed(matching_names)}


_COMMAND_WORDS: Final = frozenset(
    word.casefold()
    for word in (*RESERVED_WORDS, *VERBS, *(part for verb in VERBS for part in verb.split("-")))
)
