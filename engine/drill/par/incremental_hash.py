"""Incremental hashes of dictionaries of frozen parts: only parts that changed since the last hash are read."""

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
"""Bytes of a hash, enough to exclude an accidental collision in a search."""

TIMERS_MAX: Final = 20_000
"""Maximum number of cached hashes of timers, about 8 MB. Assumed."""


@dataclass(slots=True)
class HashedPart:
    """Part with its hash. It keeps the part alive, so that no other object can get its address."""

    value: object
    mark: int


NO_PART: Final = HashedPart(object(), 0)


@dataclass(slots=True)
class HashedDict:
    """Dictionary at its last hash, in order."""

    keys: list[Any]
    values: list[object]
    parts: list[HashedPart]
    before: list[HashedPart]
    """Parts before the last change, which states of the same origin restore repeatedly."""
    mark: int


_encoded: Final = Encoder(order="deterministic", enc_hook=repr).encode


def encode_part(part: object) -> bytes:
    """Encode a part so that different parts of the same class have different bytes."""
    try:
        return _encoded(part)
    except (
        OverflowError,
        UnicodeEncodeError,
    ):  # a SID has more than 64 bits; a name may contain half a surrogate pair
        return repr(part).encode()


class IncrementalHash:
    """Hashes of dictionaries by name. Runs may share it; a part that is another object is read again."""

    def __init__(self) -> None:
        self._hashed_dicts: dict[str, HashedDict] = {}
        self._timers: dict[Timer, bytes] = {}

    def __reduce__(self) -> tuple[type[IncrementalHash], tuple[()]]:
        """Pickle an empty hash: a stored run has no hashes."""
        return IncrementalHash, ()

    def hash_parts(
        self, name: str, parts: Mapping[Any, object], matters: Callable[[Any], object] | None = None
    ) -> int:
        """Hash *parts* in any order.

        *name* distinguishes dictionaries, *matters* selects the relevant content of a part.
        """
        if not parts:
            return 0

        def hash_part(key: object, value: object) -> HashedPart:
            place = f"{name} {key!r} ".encode()
            mark = _compute_digest(place + encode_part(value if matters is None else matters(value)))
            return HashedPart(value, int.from_bytes(mark, "big"))

        keys, values = list(parts), list(parts.values())
        hashed = self._hashed_dicts.get(name)
        if hashed is None or hashed.keys != keys:
            hashed = self._hashed_dicts[name] = self._rebuild(hashed, keys, values, hash_part)
            return hashed.mark
        for index in compress(count(), map(is_not, values, hashed.values)):
            value, now, before = values[index], hashed.parts[index], hashed.before[index]
            new = before if before.value is value else hash_part(keys[index], value)
            hashed.values[index], hashed.parts[index], hashed.before[index] = value, new, now
            hashed.mark ^= now.mark ^ new.mark
        return hashed.mark

    def _rebuild(
        self,
        previous: HashedDict | None,
        keys: list[Any],
        values: list[object],
        hash_part: Callable[[Any, object], HashedPart],
    ) -> HashedDict:
        """Rebuild the hash for other keys, with the hashes of unchanged parts."""
        known = dict(zip(previous.keys, previous.parts, strict=True)) if previous is not None else {}
        parts, mark = [], 0
        for key, value in zip(keys, values, strict=True):
            part = known.get(key, NO_PART)
            parts.append(part if part.value is value else hash_part(key, value))
            mark ^= parts[-1].mark
        return HashedDict(keys, values, parts, [NO_PART] * len(keys), mark)

    def hash_timers(self, timers: Iterable[Timer]) -> bytes:
        """Hash *timers* in the order in which they become due, without their order numbers."""
        if len(self._timers) > TIMERS_MAX:
            self._timers.clear()
        ordered = sorted(timers)
        marks = list(map(self._timers.get, ordered))
        if None in marks:
            marks = [self._timers.get(timer) or self._hash_timer(timer) for timer in ordered]
        return b"".join(cast(list[bytes], marks))

    def _hash_timer(self, timer: Timer) -> bytes:
        tick, _, name, args = timer
        mark = self._timers[timer] = _compute_digest(repr((tick, name, args)).encode())
        return mark


def _compute_digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=BYTES).digest()
