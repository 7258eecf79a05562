"""Variants of a scenario: pools of names, sizes and times. The seed picks values for `{name}` placeholders.

A pool of `[variants]` is picked independently (`size = [10, 20]`). The pools of a subtable are picked
together. For example, `[variants.site]` contains `main = ["BERN", "OSLO"]` and `spare = ["BASEL",
"BERGEN"]`. The seed then picks BERN with BASEL, or OSLO with BERGEN.
"""

import itertools
import math
import re
from collections.abc import Iterator, Mapping
from typing import Final

from engine.drill.authoring.problems import KeyPath
from engine.localization import build_message
from engine.random_streams import RandomStream

VARIANTS_KEY: Final = "variants"
"""Key of the table with the pools."""
POOL_ENTRIES_MAX: Final = 50
"""Maximum number of entries in a pool. Assumed: more variants deserve a separate file."""

ENTRY_CHARACTERS_MAX: Final = 200
"""Maximum characters of an entry. Pools contain only names, sizes and times."""

COMBINATIONS_MAX: Final = 48
"""Maximum number of combinations that `check` loads. If there are more, it loads enough to use every entry
once.
"""

VARIANT_STREAM_NUMBER: Final = 0x5641
"""Number of the random stream for the picks. A separate stream keeps them independent of the world's
randomness. The value is arbitrary.
"""

_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,29}\Z")
_PLACEHOLDER: Final = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")

Picks = Mapping[str, object]
"""Name of a placeholder -> picked value."""

VariantProblem = tuple[KeyPath, str, str]
"""(path, description, expected value) of a problem."""


def list_pool_groups(variants: Mapping[str, object]) -> list[dict[str, list[object]]]:
    """Return the groups of pools that are picked together, in the order of the file."""
    return [
        {
            inner: entries
            for inner, entries in (pool if isinstance(pool, dict) else {name: pool}).items()
            if isinstance(entries, list)
        }
        for name, pool in variants.items()
    ]


def pick_values(variants: Mapping[str, object], seed: int) -> dict[str, object]:
    """Return name -> value that *seed* picks, for all pools."""
    chance = RandomStream.from_seed(seed ^ VARIANT_STREAM_NUMBER)
    picks: dict[str, object] = {}
    for group in list_pool_groups(variants):
        position = chance.draw_integer(0, len(next(iter(group.values()))) - 1)
        picks |= {name: pool[position] for name, pool in group.items()}
    return picks


def iterate_combinations(variants: Mapping[str, object]) -> Iterator[dict[str, object]]:
    """Yield every combination of picks.

    If there are too many, yield only some, but use every entry of every pool at least once.
    """
    pool_groups = list_pool_groups(variants)
    sizes = [len(next(iter(group.values()))) for group in pool_groups]
    is_large = math.prod(sizes) > COMBINATIONS_MAX
    index_lists = ([n % size for size in sizes] for n in range(max(sizes, default=0)))
    for indexes in index_lists if is_large else map(list, itertools.product(*map(range, sizes))):
        yield {
            name: pool[index]
            for group, index in zip(pool_groups, indexes, strict=True)
            for name, pool in group.items()
        }


def substitute_picks(data: Mapping[str, object], picks: Picks) -> dict[str, object]:
    """Return *data* with all placeholders replaced, except in the pools themselves."""
    return {key: part if key == VARIANTS_KEY else _substitute(part, picks) for key, part in data.items()}


def _substitute(value: object, picks: Picks) -> object:
    """Return *value*, which has a TOML type, with its placeholders replaced.

    A value that consists of one placeholder becomes the pick itself, with its type.
    """
    if isinstance(value, dict):
        return substitute_picks(value, picks)
    if isinstance(value, list):
        return [_substitute(part, picks) for part in value]
    if not isinstance(value, str):
        return value
    whole_match = _PLACEHOLDER.fullmatch(value)
    if whole_match is not None and whole_match[1] in picks:
        return picks[whole_match[1]]
    return _PLACEHOLDER.sub(lambda match: str(picks.get(match[1], match[0])), value)


# --- problems of variants --------------------------------------------------------------------------


def find_pool_problems(data: Mapping[str, object]) -> list[VariantProblem]:
    """Return a problem for each invalid pool.

    If all pools are valid, return a problem for each placeholder without a pool.
    """
    variants = data.get(VARIANTS_KEY)
    if variants is None:
        return []
    if not isinstance(variants, dict):
        return [
            (
                (VARIANTS_KEY,),
                build_message("[variants] is not a table"),
                build_message("a [variants] table with pools, such as size = [10, 20]"),
            )
        ]
    problems = [problem for name, pool in variants.items() for problem in _find_pool_problems(name, pool)]
    names = [name for group in list_pool_groups(variants) for name in group] if not problems else []
    for name in sorted({name for name in names if names.count(name) > 1}):
        problems.append(
            (
                (VARIANTS_KEY,),
                build_message("two pools have the name {name!r}", name=name),
                build_message("different names"),
            )
        )
    return problems or [
        (
            path,
            build_message("there is no pool {name!r}", name=name),
            build_message("one of {names}", names=", ".join(names)),
        )
        for path, name in _find_placeholders(data, ())
        if name not in names
    ]


def find_unused_pools(data: Mapping[str, object]) -> list[VariantProblem]:
    """Return a problem for each pool that no placeholder uses."""
    used, pools = {name for _, name in _find_placeholders(data, ())}, data.get(VARIANTS_KEY)
    return [
        (
            (VARIANTS_KEY,),
            build_message("no text uses the pool {name!r}", name=name),
            build_message(
                "{placeholder} in at least one text, or no pool with this name", placeholder=f"{{{name}}}"
            ),
        )
        for group in list_pool_groups(pools if isinstance(pools, dict) else {})
        for name in group
        if name not in used
    ]


def _find_pool_problems(name: str, pool: object) -> Iterator[VariantProblem]:
    path: KeyPath = (VARIANTS_KEY, name)
    if not isinstance(pool, dict):
        yield from _find_entry_problems(path, name, pool)
        return
    variant_problems: list[VariantProblem] = [
        entry
        for inner, entries in pool.items()
        for entry in _find_entry_problems((*path, inner), inner, entries)
    ]
    yield from variant_problems
    if not pool:
        yield (
            path,
            build_message("this group of pools is empty"),
            build_message("pools whose values are picked together"),
        )
    elif not variant_problems and len({len(entries) for entries in pool.values()}) > 1:
        sizes = ", ".join(f"{inner} has {len(entries)}" for inner, entries in pool.items())
        yield (
            path,
            build_message("the pools have different lengths: {sizes}", sizes=sizes),
            (
                build_message(
                    "the same number of entries in each pool, because their values are picked together"
                )
            ),
        )


def _find_entry_problems(path: KeyPath, name: str, pool: object) -> Iterator[VariantProblem]:
    if not _NAME.match(name):
        yield (
            path,
            build_message("{name!r} is not a valid name of a pool", name=name),
            build_message("lowercase letters, digits and _, at most 30 characters"),
        )
    if not isinstance(pool, list) or not 2 <= len(pool) <= POOL_ENTRIES_MAX:
        yield (
            path,
            build_message("the value is not a pool"),
            build_message("a list of 2 to {n} entries", n=POOL_ENTRIES_MAX),
        )
    elif not all(type(entry) in (str, int, float) for entry in pool) or len({type(e) for e in pool}) > 1:
        yield (
            path,
            build_message("the entries have different types"),
            build_message("only texts or only numbers in one pool"),
        )
    elif any(isinstance(entry, str) and len(entry) > ENTRY_CHARACTERS_MAX for entry in pool):
        yield (
            path,
            build_message("an entry is too long"),
            build_message("at most {n} characters", n=ENTRY_CHARACTERS_MAX),
        )


def _find_placeholders(value: object, path: KeyPath) -> Iterator[tuple[KeyPath, str]]:
    """Yield (path, placeholder) for each placeholder outside [variants]."""
    if isinstance(value, dict):
        for key, part in value.items():
            if (*path, key) != (VARIANTS_KEY,):
                yield from _find_placeholders(part, (*path, key))
    elif isinstance(value, list):
        for number, part in enumerate(value):
            yield from _find_placeholders(part, (*path, number))
    elif isinstance(value, str):
        yield from ((path, match[1]) for match in _PLACEHOLDER.finditer(value))
