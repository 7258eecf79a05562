"""Tables, procedures and views that scripts make in the databases of an instance, kept in the world."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Final

from engine.messages import SqlError
from engine.tsql.context import Context
from engine.tsql.data import Table
from engine.tsql.plans import Unsimulated
from engine.tsql.statements import Parameter


@dataclass(frozen=True, slots=True)
class Procedure:
    """A procedure that a script has made; *body* begins on the line where it stood in its batch."""

    parameters: tuple[Parameter, ...]
    body: str


@dataclass(frozen=True, slots=True)
class View:
    """A view that a script has made."""

    query: str


UserObject = Table | Procedure | View
KINDS: Final[dict[type[UserObject], tuple[str, str, str]]] = {
    Table: ("U ", "USER_TABLE", "table"),
    Procedure: ("P ", "SQL_STORED_PROCEDURE", "procedure"),
    View: ("V ", "VIEW", "view"),
}
"""type and type_desc of sys.objects, and the word in messages."""


@dataclass(frozen=True, slots=True)
class Kept:
    """An object with its name as it was first written."""

    name: str
    item: UserObject


_SCHEMAS: Final = frozenset({"dbo", "guest", ""})


def _home(context: Context, database: str) -> str:
    """The server under whose name the objects of a database are kept: its partner's, if they were made over there."""
    here = context.session.server
    copy = context.copy_named(database)
    if copy is None or copy.guid is None:
        return here
    partners = sorted(
        server
        for (server, name), other in context.world.copies.items()
        if name == copy.database and other.guid == copy.guid
    )
    key = copy.database.lower()
    owners = {server for server, name, _ in context.world.objects if name == key}
    return next((server for server in (here, *partners) if server in owners), here)


def place_of(context: Context, parts: tuple[str, ...]) -> tuple[str, str, str]:
    """(server, database, name in small letters) that a name of up to three parts means; its database must be open."""
    names = list(parts)
    database = context.session.database
    if len(names) == 3 or (len(names) == 2 and names[0].lower() not in _SCHEMAS):
        database = context.open_database(names[0]) if len(names) == 3 else database
    return _home(context, database), database.lower(), names[-1].lower()


def find(context: Context, parts: tuple[str, ...]) -> UserObject | None:
    """The object of that name, or None; `sp_…` is also looked for in master."""
    if len(parts) > 3 or (len(parts) == 3 and context.database_id(parts[0]) is None):
        return None
    place = place_of(context, parts)
    kept: Kept | None = context.world.objects.get(place)
    if kept is None and len(parts) == 1 and place[2].startswith("sp_"):
        kept = context.world.objects.get((place[0], "master", place[2]))
    return None if kept is None else kept.item


def put(context: Context, parts: tuple[str, ...], new: UserObject) -> None:
    """Keep an object under its name. Those of a mirrored database are on both sides; their log is not counted."""
    place = place_of(context, parts)
    picture = context.snapshot_named(place[1])
    if picture is not None:
        raise SqlError(3906, picture.name)
    source = context.copy_named(place[1])
    if source is not None and source.standby:
        raise SqlError(3906, source.database)
    old: Kept | None = context.world.objects.get(place)
    _check_room(context, place, new)
    context.written.append((place, old))
    context.world.objects[place] = Kept(parts[-1] if old is None else old.name, new)


OBJECTS_MAX: Final = 1_000
CELLS_MAX: Final = 1_000_000
CHARACTERS_MAX: Final = 20_000_000
"""Objects of all databases of all servers, the values in their rows, and the characters in them. Assumed."""


def _check_room(context: Context, place: tuple[str, str, str], new: UserObject) -> None:
    kept = [
        found.item for key, found in context.world.objects.items() if isinstance(found, Kept) and key != place
    ]
    if len(kept) >= OBJECTS_MAX:
        raise Unsimulated(f"more than {OBJECTS_MAX} tables, procedures and views on all servers together")
    made = [item for item in (*kept, new) if isinstance(item, Table)]
    texts = sum(len(item.body) for item in (*kept, new) if isinstance(item, Procedure))
    if sum(item.cells for item in made) > CELLS_MAX:
        raise Unsimulated(f"more than {CELLS_MAX} values in the tables of all servers together")
    if texts + sum(item.characters for item in made) > CHARACTERS_MAX:
        raise Unsimulated(f"more than {CHARACTERS_MAX} characters in the objects of all servers together")


def create(context: Context, parts: tuple[str, ...], new: UserObject, *, alter: bool = False) -> None:
    """CREATE (2714 if the name is taken) or ALTER (208 if there is none of that kind)."""
    old = find(context, parts)
    if alter and type(old) is not type(new):
        raise SqlError(208, ".".join(parts))
    if not alter and old is not None:
        raise SqlError(2714, parts[-1])
    put(context, parts, new)


def drop(context: Context, parts: tuple[str, ...], kind: type[UserObject]) -> None:
    """DROP; 3701 if there is none of that kind."""
    if type(find(context, parts)) is not kind:
        raise SqlError(3701, KINDS[kind][2], ".".join(parts))
    place = place_of(context, parts)
    context.written.append((place, context.world.objects[place]))
    del context.world.objects[place]


def listed(context: Context) -> list[tuple[str, UserObject]]:
    """The objects of the current database, by name."""
    database = context.session.database
    here = (_home(context, database), database.lower())
    kept = sorted(
        (key[2], found)
        for key, found in context.world.objects.items()
        if key[:2] == here and isinstance(found, Kept)
    )
    return [(found.name, found.item) for _, found in kept]


def object_id(name: str) -> int:
    """The id of an object: the same number for the same name."""
    return zlib.crc32(name.lower().encode()) & 0x7FFFFFFF
