"""What `repr` says of parts that never change, remembered: a state's hash reads a world of days in milliseconds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


class Written:
    """Texts of frozen parts by their place. Any worlds may share one: a part that is another is written anew."""

    def __init__(self) -> None:
        self._known: dict[str, dict[Any, tuple[object, str]]] = {}

    def __reduce__(self) -> tuple[type[Written], tuple[()]]:
        """Whoever stores a world does without."""
        return Written, ()

    def items(self, name: str, parts: Mapping[Any, Any]) -> str:
        """`repr(sorted(parts.items()))`; *name* tells one dictionary from another."""
        return self._list(name, sorted(parts.items()), "({0!r}, {1!r})")

    def values(self, name: str, parts: Iterable[Any]) -> str:
        """`repr` of the list of *parts*."""
        return self._list(name, enumerate(parts), "{1!r}")

    def _list(self, name: str, items: Iterable[tuple[Any, Any]], form: str) -> str:
        before, now = self._known.get(name, {}), {}
        for key, value in items:
            said = before.get(key)
            if said is None or said[0] is not value:
                said = value, form.format(key, value)
            now[key] = said
        self._known[name] = now
        return f"[{', '.join([text for _, text in now.values()])}]"
