"""Events for tests: built from the relevant fields, and read by field name."""

from __future__ import annotations

from typing import Any, Final, get_type_hints

from msgspec import structs

from engine.events import Event, EventData, EventKind, TeamMessageData


def _list_classes(base: type[EventData]) -> list[type[EventData]]:
    return [
        found_class
        for subclass in base.__subclasses__()
        for found_class in (subclass, *_list_classes(subclass))
    ]


DATA: Final = {each.kind: each for each in _list_classes(EventData) if each is not TeamMessageData}
"""Kind of an event -> class of its fields."""


def build_event(
    tick: int,
    kind: EventKind,
    server: str | None = None,
    database: str | None = None,
    text: str = "",
    **fields: object,
) -> Event:
    """Build an event with these fields; other required fields are empty."""
    data_class, types = DATA[kind], get_type_hints(DATA[kind])
    empty = {
        field.name: types[field.name]() if isinstance(types[field.name], type) else []
        for field in structs.fields(data_class)
        if field.required
    }
    values: Any = empty | fields
    return Event(tick, data_class(**values), text, server, database)


def read_field(event: Event, name: str, default: object = None) -> Any:
    """Return the field *name* of the event's data, or *default* if the data has no such field."""
    return getattr(event.data, name, default)
