"""`dataclasses.replace` for the parts of a world, in a tenth of its time: no check and no default comes in between."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any, Final, TypeVar

Part = TypeVar("Part")

COPIERS: Final[dict[type[Any], Callable[[Any], Any]]] = {}
"""How each class is copied into its twin: a class with the same slots, without the guard of a frozen one."""


def replaced(part: Part, **changes: object) -> Part:
    """*part*, a frozen dataclass with slots, with *changes*. Raises TypeError for a field that it does not have."""
    kind = type(part)
    new = (COPIERS.get(kind) or _learnt(kind))(part)
    try:
        for name, value in changes.items():
            setattr(new, name, value)
    except AttributeError as unknown:
        raise TypeError(f"{kind.__name__} has no field {unknown.name}") from unknown
    new.__class__ = kind  # the twin's layout is the same
    return new  # type: ignore[no-any-return]


def _learnt(kind: type[Any]) -> Callable[[Any], Any]:
    """Written out field by field, as `dataclasses` write `__init__`: that is what the interpreter does quickest."""
    names = tuple(field.name for field in fields(kind))
    assert kind.__slots__ == names and not hasattr(kind, "__post_init__"), f"{kind.__name__} is no such part"
    lines = [f"    new.{name} = part.{name}" for name in names]
    text = "\n".join(["def copied(part):", "    new = twin()", *lines, "    return new"])
    made: dict[str, Any] = {"twin": type(kind.__name__, (), {"__slots__": names})}
    exec(text, made)
    COPIERS[kind] = made["copied"]
    return COPIERS[kind]
