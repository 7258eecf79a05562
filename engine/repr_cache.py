"""Cache of `repr()` for immutable parts of a world, so that the hash of a large world takes milliseconds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

AT_ONCE: Final = 64
"""Number of texts that are joined at once. All texts of a long run would occupy megabytes permanently. Assumed."""


class ReprCache:
    """Texts of frozen parts by their position. Worlds may share one; a changed part is formatted again."""

    def __init__(self) -> None:
        self._entries: dict[str, dict[object, tuple[object, bytes]]] = {}

    def __reduce__(self) -> tuple[type[ReprCache], tuple[()]]:
        """Pickle an empty cache: a stored world has no caches."""
        return ReprCache, ()

    def items(self, name: str, parts: Mapping[Any, object]) -> Iterator[bytes]:
        """Yield `repr(sorted(parts.items()))` in pieces; *name* distinguishes dictionaries."""
        return self._list(name, sorted(parts.items()), "({0!r}, {1!r})")

    def values(self, name: str, parts: Iterable[object]) -> Iterator[bytes]:
        """Yield `repr` of the list of *parts* in pieces."""
        return self._list(name, enumerate(parts), "{1!r}")

    def _list(self, name: str, items: Iterable[tuple[object, object]], form: str) -> Iterator[bytes]:
        before, now = self._entries.get(name, {}), {}
        for key, value in items:
            said = before.get(key)
            if said is None or said[0] is not value:
                said = value, form.format(key, value).encode()
            now[key] = said
        self._entries[name] = now
        texts = [text for _, text in now.values()]
        yield b"["
        for at in range(0, len(texts), AT_ONCE):
            yield b", ".join([b""] * (at > 0) + texts[at : at + AT_ONCE])
        yield b"]"
