"""Dictionaries and lists of many moments in blocks; equal blocks are stored once.

Blocks that are not compared with later ones can be compressed to a tenth, and are decompressed on reading.
"""

from __future__ import annotations

import pickle
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import is_
from typing import Any, Final

import numpy as np

from engine.flow import Array

BLOCK: Final = 32
"""Entries of a block: few enough that a change unshares little, many enough that a block costs little. Assumed."""

LEVEL: Final = 1
"""Compression level of zlib: the fastest. It reduces the flow of a hundred databases from 100 to 12 KB in 0.5 ms."""


class Block:
    """Immutable group of entries."""

    __slots__ = ("_entries", "_packed")

    def __init__(self, entries: tuple[object, ...]) -> None:
        self._entries = entries
        self._packed = b""

    @property
    def entries(self) -> tuple[Any, ...]:
        """The very same objects each time, or equal ones of the same types once they have been packed."""
        if not self._packed:
            return self._entries
        found: tuple[object, ...] = pickle.loads(zlib.decompress(self._packed))
        return found

    def pack(self) -> None:
        """Compress the block; reading it unpacks it again."""
        if not self._packed:
            written = pickle.dumps(self._entries, pickle.HIGHEST_PROTOCOL)
            self._packed = zlib.compress(written, LEVEL)
            self._entries = ()

    def holds(self, entries: tuple[object, ...]) -> bool:
        """Return whether the block has exactly these objects.

        Equality is not enough: 1 and 1.0 are equal and give different hashes.
        """
        return (
            not self._packed and len(entries) == len(self._entries) and all(map(is_, entries, self._entries))
        )


@dataclass(frozen=True, slots=True)
class Blocks:
    """Dictionary (keys and values) or list (values only) at some moment."""

    keys: tuple[Block, ...]
    values: tuple[Block, ...]

    def as_dict(self) -> dict[object, object]:
        """Return the dictionary, with its entries in their old order."""
        return {
            key: value
            for keys, values in zip(self.keys, self.values, strict=True)
            for key, value in zip(keys.entries, values.entries, strict=True)
        }

    def as_list(self) -> list[object]:
        """Return the objects of all blocks."""
        return [value for values in self.values for value in values.entries]

    def pack(self, newest: Blocks) -> None:
        """Pack the values that *newest*, a later moment of the same, does not have any more."""
        if self is not newest:
            for block in set(self.values).difference(newest.values):
                block.pack()


def split_into_blocks(
    collection: Mapping[Any, object] | Sequence[object], previous: Blocks | None = None
) -> Blocks:
    """Split *whole* into blocks; blocks that are equal in the earlier *before* are the same objects."""
    keys = (
        _split_entries(collection, previous.keys if previous is not None else ())
        if isinstance(collection, dict)
        else ()
    )
    values = _split_entries(
        collection.values() if isinstance(collection, dict) else collection,
        previous.values if previous is not None else (),
    )
    if previous is not None and keys is previous.keys and values is previous.values:
        return previous
    return Blocks(keys, values)


def _split_entries(entries: Iterable[object], previous: tuple[Block, ...]) -> tuple[Block, ...]:
    every = tuple(entries)
    cut = []
    for number, at in enumerate(range(0, len(every), BLOCK)):
        some = every[at : at + BLOCK]
        known = number < len(previous) and previous[number].holds(some)
        cut.append(previous[number] if known else Block(some))
    return previous if len(cut) == len(previous) and all(map(is_, cut, previous)) else tuple(cut)


def pack_array(array: Array) -> bytes:
    """Compress *array* for `unpack_array`."""
    return zlib.compress(array.tobytes(), LEVEL)


def unpack_array(packed: bytes, template: Array) -> Array:
    """Return the array that was packed, of the same kind and row shape as *like*."""
    flat = np.frombuffer(bytearray(zlib.decompress(packed)), dtype=template.dtype)
    return flat.reshape(-1, *template.shape[1:])
