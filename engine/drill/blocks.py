"""Dictionaries and lists of many moments in blocks: a block that is in one moment as in another is held once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import zip_longest
from operator import is_
from typing import Any, Final

import numpy as np

BLOCK: Final = 32
"""Entries of a block: small enough that a change unshares little, large enough that a block costs little. Assumed."""

ROWS: Final = 4
"""Rows of an array in a block: some 2 KB of the flow's parameters. Assumed."""

Array = np.ndarray[Any, Any]
Block = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Blocks:
    """A dictionary (keys and values) or a list (values alone) as it was at some moment."""

    keys: tuple[Block, ...]
    values: tuple[Block, ...]

    def as_dict(self) -> dict[Any, Any]:
        """The dictionary, its entries in their old order."""
        return {
            key: value
            for keys, values in zip(self.keys, self.values, strict=True)
            for key, value in zip(keys, values, strict=True)
        }

    def as_list(self) -> list[Any]:
        return [value for values in self.values for value in values]


def blocks(whole: dict[Any, Any] | list[Any], before: Blocks | None = None) -> Blocks:
    """*whole* in blocks; those that *before*, an earlier moment of the same, has too are the very same objects."""
    keys = _cut(whole, before.keys if before is not None else ()) if isinstance(whole, dict) else ()
    values = _cut(
        whole.values() if isinstance(whole, dict) else whole, before.values if before is not None else ()
    )
    if before is not None and keys is before.keys and values is before.values:
        return before
    return Blocks(keys, values)


def _cut(entries: Iterable[Any], before: tuple[Block, ...]) -> tuple[Block, ...]:
    every = tuple(entries)
    cut = [every[at : at + BLOCK] for at in range(0, len(every), BLOCK)]
    for place, known in enumerate(before[: len(cut)]):
        if same(cut[place], known):
            cut[place] = known
    return before if len(cut) == len(before) and same(cut, before) else tuple(cut)


def rows(array: Array, before: tuple[bytes, ...] = ()) -> tuple[bytes, ...]:
    """The rows of *array* in blocks; those that read as in *before* are the very same objects."""
    cut = [array[at : at + ROWS].tobytes() for at in range(0, len(array), ROWS)]
    return tuple(known if known == block else block for block, known in zip_longest(cut, before[: len(cut)]))


def array_of(blocks: tuple[bytes, ...], like: Array) -> Array:
    """The array that `rows` has cut up, of the same kind as *like*."""
    return np.frombuffer(bytearray(b"".join(blocks)), dtype=like.dtype).reshape(-1, *like.shape[1:])


def same(some: list[Any] | Block, others: Block) -> bool:
    """The same objects in the same order: equal would not do, as 1 and 1.0 are, and hash to other states."""
    return len(some) == len(others) and all(map(is_, some, others))
