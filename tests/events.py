"""Events for tests: built from the relevant fields, and read by field name."""

from __future__ import annotations

from typing import Any, Final, get_type_hints

from msgspec import structs

from engine.events import Event, EventData, EventKind, TeamMessageData


def _list_classes(base: type[EventData]) -> list[type[EventData]]:
    return [found for each in base.__subclasses__() for found in (each, *_list_classes(each))]


DATA: Final = {each.kind: each for each in _list_classes(EventData) if each is not TeamMessageData}
"""Kind of event -> class of its fields."""


def build_event(
    tick: int,
    kind: EventKind,
    server: str | None = None,
    database: str | None = None,
    text: str = "",
    **fields: object,
) -> Event:
    """Build an event with these fields; other required fields are empty."""
    made, types = DATA[kind], get_type_hints(DATA[kind])
    empty = {
        each.name: types[each.name]() if isinstance(types[each.name], type) else []
        for each in structs.fields(made)
        if each.required
    }
    values: Any = empty | fields
    return Event(tick, made(**values), text, server, database)


def read_field(event: Event, name: str, default: object = None) -> Any:
    """Return the field *name* of the event's data; *default* if there is none."""
    return getattr(event.data, name, default)
