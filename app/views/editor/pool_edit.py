"""Pools of [variants] as rows, and their changes in a scenario's text. Without Qt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from app.files.scenario_edit import ScenarioEditError, remove, set_value, value_at
from app.views.editor.form_words import VARIANTS
from app.words.language import tr

BETWEEN: Final = " | "
"""Separator of a pool's entries, because an entry may contain a comma."""


@dataclass(frozen=True, slots=True)
class Pool:
    """Name, alternatives, and the group whose pools are picked together (empty: none)."""

    name: str
    entries: tuple[object, ...]
    group: str = ""

    @property
    def path(self) -> tuple[str, ...]:
        """Return the path of the pool in the file."""
        return (VARIANTS, self.group, self.name) if self.group else (VARIANTS, self.name)

    @property
    def entries_text(self) -> str:
        """The entries as they are typed."""
        return BETWEEN.join(str(entry) for entry in self.entries)


def pools(data: Mapping[str, object]) -> list[Pool]:
    """Return the pools of a scenario's data, as far as they are pools."""
    found = data.get(VARIANTS)
    made: list[Pool] = []
    for name, pool in found.items() if isinstance(found, Mapping) else ():
        inside = pool.items() if isinstance(pool, Mapping) else [("", pool)]
        made += [
            Pool(inner or name, tuple(entries), name if inner else "")
            for inner, entries in inside
            if isinstance(entries, list)
        ]
    return made


def entries_of(typed: str) -> tuple[object, ...]:
    """Convert typed text to entries: numbers if all entries are numbers."""
    words = [word.strip() for word in typed.split(BETWEEN.strip()) if word.strip()]
    for number in (int, float):
        try:
            return tuple(number(word) for word in words)
        except ValueError:
            continue
    return tuple(words)


def create_pool(pools: Sequence[Pool]) -> Pool:
    """Return one more pool, to begin from."""
    taken, number = {pool.name for pool in pools} | {pool.group for pool in pools}, 1
    while f"pool_{number}" in taken:
        number += 1
    return Pool(f"pool_{number}", (10, 20))


def replace_pool(text: str, old_pool: Pool | None, new_pool: Pool | None) -> str:
    """Return *text* with the pool *after* in place of *before*; None: no pool. Raises ScenarioEditError."""
    if old_pool is not None and (new_pool is None or new_pool.path != old_pool.path):
        text = _remove_pool(text, old_pool)
    if new_pool is None:
        return text
    return set_value(text, new_pool.path, list(new_pool.entries))


def edited(pool: Pool, column: int, typed: str) -> Pool:
    """Return *pool* after an edit of a column: name, entries, group. Raises ScenarioEditError for an invalid name."""
    typed = typed.strip()
    if column == 1:
        entries = entries_of(typed)
        if len(entries) < 2:
            raise ScenarioEditError(tr("A pool needs at least two entries, separated by |: 10 | 20 | 40"))
        return replace(pool, entries=entries)
    if column == 0 and not typed:
        raise ScenarioEditError(tr("A pool needs a name. Texts refer to it as {name}.").format(name="{name}"))
    return replace(pool, name=typed) if column == 0 else replace(pool, group=typed)


def _remove_pool(text: str, pool: Pool) -> str:
    text = remove(text, pool.path)
    for length in (2, 1):  # the group, and then the table, when its last pool was removed
        path = pool.path[:length]
        if len(path) < len(pool.path) and not value_at(text, path):
            text = remove(text, path)
    return text
