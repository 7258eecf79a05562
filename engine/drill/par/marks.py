"""Marks of dictionaries of frozen parts: equal for equal ones, and only what is new since the last mark is read."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import compress, count
from operator import is_not
from typing import Any, Final, cast

from msgspec.msgpack import Encoder

from engine.model.world import Timer

BYTES: Final = 16
"""Of a mark: no two states of a search get the same one by chance."""

TIMERS_MAX: Final = 20_000
"""Timers whose marks are remembered at the same time: some 8 MB. Assumed."""


@dataclass(slots=True)
class Part:
    """One part with its mark. It is held, so that no other object can come to stand at its address."""

    value: object
    mark: int


NO_PART: Final = Part(object(), 0)


@dataclass(slots=True)
class Seen:
    """A dictionary as it was when it was last marked, in its order."""

    keys: list[Any]
    values: list[object]
    parts: list[Part]
    before: list[Part]
    """What stood there before the last change: states that go out from the same one bring it back again and again."""
    mark: int


_encoded: Final = Encoder(order="deterministic", enc_hook=repr).encode


def written(part: object) -> bytes:
    """Other bytes for every other part of the same class."""
    try:
        return _encoded(part)
    except (
        OverflowError,
        UnicodeEncodeError,
    ):  # a sid has more than 64 bits; half a pair of UTF-16 in a name
        return repr(part).encode()


class Marks:
    """Marks of dictionaries by their names. Any runs may share one: a part that is another object is read anew."""

    def __init__(self) -> None:
        self._seen: dict[str, Seen] = {}
        self._timers: dict[Timer, bytes] = {}

    def __reduce__(self) -> tuple[type[Marks], tuple[()]]:
        """A stored run is without them."""
        return Marks, ()

    def of(
        self, name: str, parts: Mapping[Any, object], matters: Callable[[Any], object] | None = None
    ) -> int:
        """The mark of *parts* in any order. *name* tells dictionaries apart, *matters* says what of a part counts."""
        if not parts:
            return 0

        def marked(key: object, value: object) -> Part:
            place = f"{name} {key!r} ".encode()
            mark = _digest(place + written(value if matters is None else matters(value)))
            return Part(value, int.from_bytes(mark, "big"))

        keys, values = list(parts), list(parts.values())
        seen = self._seen.get(name)
        if seen is None or seen.keys != keys:
            seen = self._seen[name] = self._anew(seen, keys, values, marked)
            return seen.mark
        for place in compress(count(), map(is_not, values, seen.values)):
            value, now, before = values[place], seen.parts[place], seen.before[place]
            new = before if before.value is value else marked(keys[place], value)
            seen.values[place], seen.parts[place], seen.before[place] = value, new, now
            seen.mark ^= now.mark ^ new.mark
        return seen.mark

    def _anew(
        self, seen: Seen | None, keys: list[Any], values: list[object], marked: Callable[[Any, object], Part]
    ) -> Seen:
        """For other keys: with the marks of the parts that stayed."""
        known = dict(zip(seen.keys, seen.parts, strict=True)) if seen is not None else {}
        parts, mark = [], 0
        for key, value in zip(keys, values, strict=True):
            part = known.get(key, NO_PART)
            parts.append(part if part.value is value else marked(key, value))
            mark ^= parts[-1].mark
        return Seen(keys, values, parts, [NO_PART] * len(keys), mark)

    def in_order(self, timers: Iterable[Timer]) -> bytes:
        """The marks of *timers* as they become due, whatever their order numbers are."""
        if len(self._timers) > TIMERS_MAX:
            self._timers.clear()
        ordered = sorted(timers)
        marks = list(map(self._timers.get, ordered))
        if None in marks:
            marks = [self._timers.get(timer) or self._timer(timer) for timer in ordered]
        return b"".join(cast(list[bytes], marks))

    def _timer(self, timer: Timer) -> bytes:
        tick, _, name, args = timer
        mark = self._timers[timer] = _digest(repr((tick, name, args)).encode())
        return mark


def _digest(written: bytes) -> bytes:
    return hashlib.blake2b(written, digest_size=BYTES).digest()
