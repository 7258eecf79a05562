"""Stored result sets, compressed while nobody reads them."""

from __future__ import annotations

import pickle
import zlib
from collections.abc import Iterator, Sequence
from typing import Final, overload

from engine.events import Event

ROWS_AS_THEY_ARE: Final = 20
"""Maximum rows of result sets that are not compressed. Assumed."""


class PackedList(Sequence[object]):
    """List that is decompressed on each read; equal to its original list."""

    __slots__ = ("_count", "_packed")

    def __init__(self, values: Sequence[object]) -> None:
        self._count = len(values)
        self._packed = zlib.compress(pickle.dumps(list(values)), 1)

    def _values(self) -> list[object]:
        found: list[object] = pickle.loads(zlib.decompress(self._packed))
        return found

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, place: int) -> object: ...
    @overload
    def __getitem__(self, place: slice) -> list[object]: ...
    def __getitem__(self, place: int | slice) -> object:
        return self._values()[place]

    def __iter__(self) -> Iterator[object]:
        return iter(self._values())

    def __eq__(self, other: object) -> bool:
        if isinstance(other, PackedList):
            return self._packed == other._packed or self._values() == other._values()
        return self._values() == (list(other) if isinstance(other, tuple) else other)

    def __repr__(self) -> str:
        return repr(self._values())


def pack_results(event: Event) -> tuple[tuple[str, object], ...]:
    """Return the fields of *event*, with large result sets of a batch packed."""
    results = event.get("results")
    if not results or sum(len(result["rows"]) for result in results) <= ROWS_AS_THEY_ARE:
        return event.data
    return tuple((name, PackedList(results) if name == "results" else value) for name, value in event.data)
