"""`dataclasses.replace` for the parts of a world, in a fifth of its time: no check and no default comes in between."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from operator import attrgetter
from typing import Any, Final, TypeVar

Part = TypeVar("Part")

Ways = tuple[Callable[[Any], tuple[object, ...]], tuple[Any, ...], dict[str, Any]]
"""How the fields of a class are read at once, and written one by one past the guard of a frozen class."""

KNOWN: Final[dict[type[Any], Ways]] = {}


def replaced(part: Part, **changes: object) -> Part:
    """*part*, a frozen dataclass with slots and two fields or more, with *changes*. Raises TypeError for a field that
    it does not have."""
    kind = type(part)
    values_of, writers, by_name = KNOWN.get(kind) or _learnt(kind)
    new = object.__new__(kind)
    for write, value in zip(writers, values_of(part), strict=True):
        write(new, value)
    try:
        for name, value in changes.items():
            by_name[name](new, value)
    except KeyError as unknown:
        raise TypeError(f"{kind.__name__} has no field {unknown}") from unknown
    return new


def _learnt(kind: type[Any]) -> Ways:
    names = [field.name for field in fields(kind)]
    assert len(names) > 1 and not hasattr(kind, "__post_init__"), f"{kind.__name__} is no such part"
    writers = {name: getattr(kind, name).__set__ for name in names}
    KNOWN[kind] = attrgetter(*names), tuple(writers.values()), writers
    return KNOWN[kind]
