"""Tables, procedures, views and functions that scripts create.

The log of a user database contains its objects (protocol/commits.py). A connection holds the changes of its
transaction until COMMIT (SqlSession.writes). The current state of an object is its committed state plus the
changes of all open connections. The end of a connection discards its uncommitted changes.
"""

from __future__ import annotations

import zlib
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import Final, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from engine import arithmetic
from engine.commits import USER_KEY_PREFIX, Commit
from engine.messages import SqlError
from engine.model import DatabaseCopy, World
from engine.protocol import commits, disks, log_space
from engine.tsql.batches import access, locks, statement_gate, tables
from engine.tsql.batches.context import StatementContext, has_permission, require_object_permission
from engine.tsql.batches.data import ObjectKey, RowChanges, SqlSession, Table
from engine.tsql.batches.row_locks import IndexEntry
from engine.tsql.language.columns import ColumnDefinition
from engine.tsql.language.statements import ProcedureParameter
from engine.tsql.query.plans import Columns, UnsimulatedFeatureError
from engine.tsql.scalars.types import NULL


class UserProcedure(Struct, frozen=True):
    """Stored procedure that a script has created.

    *body* begins with line breaks, so that its lines have the same numbers as in the batch.
    """

    parameters: tuple[ProcedureParameter, ...]
    body: str
    definition: str = ""
    """Text of the batch that created the procedure, as sys.sql_modules shows it."""


class UserView(Struct, frozen=True):
    """View that a script has created."""

    query: str
    columns: Columns | None = None
    """Columns when the view was created, as sys.columns shows them; None if unknown."""
    definition: str = ""
    """Text of the batch that created the view, as sys.sql_modules shows it."""

    def list_definitions(self) -> tuple[ColumnDefinition, ...]:
        """Return the columns as definitions. A column of unknown type is described as nvarchar(4000)."""
        return tuple(
            ColumnDefinition(
                name=column.name,
                type="int" if column.kind == NULL else str(column.kind or "nvarchar(4000)"),
                nullable=column.nullable,
            )
            for column in self.columns or ()
        )


class UserFunction(Struct, frozen=True):
    """User-defined function that a script has created (resolution.py)."""

    parameters: tuple[ProcedureParameter, ...]
    returned: str
    """Expression of a scalar function, or query of an inline table-valued function; see *body*."""
    returns: str = ""
    """Data type that a scalar function returns; empty for a table-valued function."""
    definition: str = ""
    """Text of the batch that created the function, as sys.sql_modules shows it."""
    body: str = ""
    """Body from BEGIN to END; empty if the function has none.

    With a body, *returned* is empty for a scalar function. Otherwise, it is the table variable that
    collects the result rows.
    """


UserObject = Table | UserProcedure | UserView | UserFunction
OBJECT_TYPES: Final[dict[type[UserObject], tuple[str, str, str]]] = {
    Table: ("U ", "USER_TABLE", "table"),
    UserProcedure: ("P ", "SQL_STORED_PROCEDURE", "procedure"),
    UserView: ("V ", "VIEW", "view"),
    UserFunction: ("FN", "SQL_SCALAR_FUNCTION", "function"),
}
"""Class of an object -> type and type_desc in sys.objects, and the word for the class in messages."""
INLINE_FUNCTION, TABLE_FUNCTION = "IF", "TF"


def get_type_code(item: UserObject) -> str:
    """Return the `type` of an object in sys.objects."""
    if not isinstance(item, UserFunction) or item.returns:
        return OBJECT_TYPES[type(item)][0]
    return TABLE_FUNCTION if item.body else INLINE_FUNCTION


class Schema(Struct, frozen=True):
    """Database schema that a script has created."""

    number: int
    owner: str


class StoredObject(Struct, frozen=True):
    """Object or schema with the original spelling of its name."""

    name: str
    item: UserObject | Schema
    schema: str = "dbo"

    @property
    def key(self) -> str:
        """Return the key of the object in its database (make_object_key)."""
        return make_object_key((self.schema, self.name))

    @property
    def object_id(self) -> int:
        """Return the ID that OBJECT_ID reports."""
        return compute_object_id(self.key)


# --- committed objects -----------------------------------------------------------------------------------

CACHED_STATES_MAX: Final = 16
"""Maximum number of database states whose objects are cached.

Assumed: enough for a few copies of a database and their backups.
"""

_OBJECTS_BY_COMMIT: OrderedDict[Commit, dict[str, StoredObject]] = OrderedDict()
"""Cache of the objects in a database after each commit; the entry added first is evicted first."""


def list_objects_after(last_commit: Commit | None) -> Mapping[str, StoredObject]:
    """Return all objects by key in the state of the database after *last_commit*."""
    later_commits: list[Commit] = []
    known_objects, commit = None, last_commit
    while commit is not None and (known_objects := _OBJECTS_BY_COMMIT.get(commit)) is None:
        later_commits.append(commit)
        commit = commit.previous
    content = known_objects if known_objects is not None else {}
    if last_commit is None or not later_commits:
        return content
    content = dict(content)
    for commit in reversed(later_commits):
        for name, edit in commit.edits:
            if not name.startswith(USER_KEY_PREFIX):
                _store_object(content, name, apply_edit(content.get(name), edit))
    _OBJECTS_BY_COMMIT[last_commit] = content
    while len(_OBJECTS_BY_COMMIT) > CACHED_STATES_MAX:
        _OBJECTS_BY_COMMIT.popitem(last=False)
    return content


def _store_object(objects: dict[Name, StoredObject], name: Name, stored_object: StoredObject | None) -> None:
    """Set an object in *objects*, or remove it if *stored_object* is None."""
    if stored_object is None:
        objects.pop(name, None)
    else:
        objects[name] = stored_object


def _read_committed_objects(context: StatementContext, database: str) -> Mapping[str, StoredObject]:
    """Return the committed objects of a database on this server by key."""
    world, server_name = context.world, context.session.server
    copy, picture = context.find_copy(database), context.find_snapshot(database)
    if copy is not None:
        disks.require_data_reachable(copy)
        return list_objects_after(commits.find_newest_commit(world, copy))
    if picture is not None:
        return list_objects_after(
            commits.find_last_commit(world, picture.family, picture.lineage, picture.end_of_log_kb)
        )
    return {
        name: stored
        for (server, object_database, name), stored in world.objects.items()
        if (server, object_database) == (server_name, database.lower()) and isinstance(stored, StoredObject)
    }


# --- uncommitted changes -----------------------------------------------------------------------------------

Name = TypeVar("Name")

Edit = RowChanges | StoredObject | None
"""Change of a transaction to an object: row changes, a new object version, or None for a dropped object."""


def apply_edit(stored_object: StoredObject | None, edit: object) -> StoredObject | None:
    """Return the object after the edit; None if it is dropped."""
    if not isinstance(edit, RowChanges):
        assert edit is None or isinstance(edit, StoredObject)
        return edit
    assert stored_object is not None and isinstance(stored_object.item, Table)
    return StoredObject(stored_object.name, tables.apply_row_changes(stored_object.item, edit))


def _make_edit(old_object: StoredObject | None, new_object: StoredObject | None) -> Edit:
    """Return the edit that turns *old_object* into *new_object*."""
    if (
        old_object is None
        or new_object is None
        or not (isinstance(old_object.item, Table) and isinstance(new_object.item, Table))
    ):
        return new_object
    is_same = (old_object.item.columns, old_object.item.constraints) == (
        new_object.item.columns,
        new_object.item.constraints,
    )
    truncated = not new_object.item.rows and new_object.item.next_identity != old_object.item.next_identity
    return tables.compare_rows(old_object.item, new_object.item) if is_same and not truncated else new_object


def _combine_edits(first_edit: object, second_edit: Edit) -> Edit:
    """Return one edit with the effect of two successive edits."""
    if not isinstance(second_edit, RowChanges):
        return second_edit
    return (
        tables.merge_row_changes(first_edit, second_edit)
        if isinstance(first_edit, RowChanges)
        else apply_edit(apply_edit(None, first_edit), second_edit)
    )


def list_writing_sessions(context: StatementContext) -> Iterator[SqlSession]:
    """Yield the sessions of other connections to this server that have uncommitted changes."""
    for _, session in context.list_sessions():
        if session.spid != context.session.spid and session.writes:
            yield session


def read_object(
    context: StatementContext, object_key: ObjectKey, *, include_other_sessions: bool = True
) -> StoredObject | None:
    """Return the object with the connection's own uncommitted edits; None if it does not exist.

    *include_other_sessions*: include the edits of other connections.
    """
    committed_object = _read_committed_objects(context, object_key[1]).get(object_key[2])
    for session in list_writing_sessions(context) if include_other_sessions else ():
        if object_key in (edits := dict(session.writes)):
            committed_object = apply_edit(committed_object, edits[object_key])
    return (
        apply_edit(committed_object, context.writes[object_key])
        if object_key in context.writes
        else committed_object
    )


# --- lookup by name --------------------------------------------------------------------------------


PREDEFINED_SCHEMAS: Final = {
    "dbo": 1, "guest": 2, "INFORMATION_SCHEMA": 3, "sys": 4, "db_owner": 16384, "db_accessadmin": 16385,
    "db_securityadmin": 16386, "db_ddladmin": 16387, "db_backupoperator": 16389, "db_datareader": 16390,
    "db_datawriter": 16391, "db_denydatareader": 16392, "db_denydatawriter": 16393,
}  # fmt: skip
"""Predefined schema of every database -> schema ID. Documented [DOC: sys.schemas]."""

DBO_NAMES: Final = ("", "dbo")
"""Schema names that mean dbo, the default schema of user objects."""

SCHEMA_KEY_PREFIX: Final = "\0schema "
"""Prefix of the key of a schema. It distinguishes schemas from objects."""


SYSTEM_SCHEMAS: Final = frozenset({"sys", "information_schema"})
"""Schemas in which no script can create an object."""


def get_schema_name(parts: tuple[str, ...]) -> str:
    """Return the schema in a name of up to three parts, in lowercase; empty if the name has no schema."""
    return parts[-2].lower() if len(parts) > 1 else ""


def make_object_key(parts: tuple[str, ...]) -> str:
    """Return the key of an object in its database: its lowercase name.

    The schema is the prefix of the key, except for the schema dbo.
    """
    schema, name = get_schema_name(parts), parts[-1].lower()
    return name if schema in DBO_NAMES else f"{schema}\0{name}"


def format_qualified_name(parts: tuple[str, ...]) -> str:
    """Return `schema.name`, as messages show it."""
    return f"{(len(parts) > 1 and parts[-2]) or 'dbo'}.{parts[-1]}"


def list_schemas(context: StatementContext) -> dict[str, Schema]:
    """Return the schemas of the current database by their names."""
    schemas_by_name = {
        stored_object.name: stored_object.item
        for _, stored_object in _list_objects_and_schemas(context)
        if isinstance(stored_object.item, Schema)
    }
    return {**{name: Schema(number, name) for name, number in PREDEFINED_SCHEMAS.items()}, **schemas_by_name}


def resolve_object_key(context: StatementContext, parts: tuple[str, ...]) -> ObjectKey:
    """Return (server, database, key) for a name of up to three parts.

    Raises SqlError if the connection cannot use the database.
    """
    database = context.session.database
    if len(parts) == 3:
        database = context.open_database(parts[0])
        access.check_access_mode(context, database)
    return context.session.server, database.lower(), make_object_key(parts)


def locate_object(
    context: StatementContext, parts: tuple[str, ...], *, include_other_sessions: bool = True
) -> tuple[ObjectKey, StoredObject | None]:
    """Return (key, object) for the object with the name *parts*. The object is None if it does not exist.

    A name that begins with `sp_` is also looked up in master.
    """
    object_key = resolve_object_key(context, parts)
    stored_object = read_object(context, object_key, include_other_sessions=include_other_sessions)
    if stored_object is None and len(parts) == 1 and object_key[2].startswith("sp_"):
        central = (object_key[0], "master", object_key[2])
        stored_object = read_object(context, central, include_other_sessions=include_other_sessions)
        object_key = central if stored_object is not None else object_key
    return object_key, stored_object


def find_object(
    context: StatementContext, parts: tuple[str, ...], *, waits: bool = True
) -> UserObject | None:
    """Return the object with the name *parts*; None if it does not exist.

    *waits*: wait while another transaction creates, alters or drops the object.
    """
    if len(parts) == 2 and parts[0].lower() in SYSTEM_SCHEMAS:
        return None
    if len(parts) > 3 or (len(parts) == 3 and context.find_database_id(parts[0]) is None):
        return None
    object_key, stored_object = locate_object(context, parts, include_other_sessions=waits)
    if waits:
        locks.require_table_lock(context, object_key, locks.SCHEMA_STABLE)
    return None if stored_object is None or isinstance(stored_object.item, Schema) else stored_object.item


def require_permission(context: StatementContext, parts: tuple[str, ...], permission: str) -> None:
    """Raise 229 if the connection lacks *permission* on a user object."""
    object_key, stored_object = locate_object(context, parts, include_other_sessions=False)
    if stored_object is not None:
        require_object_permission(
            context, permission, object_key[1], stored_object.schema, stored_object.name, stored_object.key
        )


def require_alter_permission(context: StatementContext, parts: tuple[str, ...]) -> None:
    """Raise 1088 if the connection lacks ALTER on a user object."""
    object_key, stored_object = locate_object(context, parts, include_other_sessions=False)
    if stored_object is not None and not has_permission(
        context, object_key[1], "ALTER", stored_object.schema, stored_object.key
    ):
        raise SqlError(1088, parts[-1])


def exclude_locked_rows(
    context: StatementContext, object_key: ObjectKey, table: Table, row_mode: str
) -> Table:
    """Return the table without the rows that other connections have locked (READPAST).

    *row_mode*: mode in which the query locks rows.
    """
    locked = {
        number
        for session in locks.list_other_sessions(context)
        for number in locks.find_locked_rows(session, object_key, row_mode)
    }
    return tables.delete_rows(
        table, [(index,) for index, number in enumerate(table.ids, start=1) if number in locked]
    )


CHANGED_ROW_LOG_KB: Final = 0.1
"""Log in KB of a changed row, in addition to the text in it. Assumed."""
DDL_STATEMENT_LOG_KB: Final = 6.0
"""Log in KB of a DDL statement on an object. Assumed: a few KB for rows of system tables."""


def _compute_log_kb(edit: Edit) -> float:
    """Return the log in KB that an edit needs."""
    if not isinstance(edit, RowChanges):
        new_item = edit.item if edit is not None else None
        rows = new_item.rows if isinstance(new_item, Table) else ()
        return DDL_STATEMENT_LOG_KB + CHANGED_ROW_LOG_KB * len(rows) + tables.count_characters(rows) / 512
    texts = tables.count_characters(row for _, row in edit.rows if row is not None)
    return CHANGED_ROW_LOG_KB * len(edit.rows) + texts / 512


def _change_object(
    context: StatementContext,
    object_key: ObjectKey,
    old_object: StoredObject | None,
    new_object: StoredObject | None,
) -> None:
    """Store a change of an object in the transaction and write it to the log.

    Raise 3906 if the database copy is read-only, 9002 if its log is full.
    """
    statement_gate.check_database_state(context, "write", object_key[1])
    copy = context.find_copy(object_key[1])
    edit = _make_edit(old_object, new_object)
    if isinstance(edit, RowChanges):
        locks.require_row_locks(context, object_key, locks.EXCLUSIVE, [number for number, _ in edit.rows])
        locks.require_insertion(
            context, object_key, [IndexEntry(row, number) for number, row in edit.rows if row is not None]
        )
    else:
        locks.require_table_lock(context, object_key, locks.SCHEMA)
    if copy is not None:
        _write_log(context, copy, _compute_log_kb(edit))
    context.writes[object_key] = (
        _combine_edits(context.writes[object_key], edit) if object_key in context.writes else edit
    )


def _write_log(context: StatementContext, copy: DatabaseCopy, kb: float) -> None:
    """Write *kb* of log for the transaction of this connection."""
    key = copy.key
    last_commit = commits.find_newest_commit(context.world, copy)
    if last_commit is not None and last_commit.weight > commits.COMMITTED_CHARACTERS_MAX:
        raise UnsimulatedFeatureError(
            f"more than {commits.COMMITTED_CHARACTERS_MAX} characters written into the tables of a database"
        )
    begin_kb = log_space.write_log(context.world, key, kb)
    first_kb, sum_kb = context.logs.get(key, (begin_kb, 0.0))
    context.logs[key] = first_kb, sum_kb + kb


def store_object(context: StatementContext, parts: tuple[str, ...], user_object: UserObject) -> None:
    """Store an object under its name, in place of an existing object."""
    object_key = resolve_object_key(context, parts)
    old_stored_object = read_object(context, object_key)
    _check_capacity(context, object_key, user_object)
    schema = next((name for name in list_schemas(context) if name.lower() == get_schema_name(parts)), "dbo")
    _change_object(
        context,
        object_key,
        old_stored_object,
        StoredObject(parts[-1], user_object, schema)
        if old_stored_object is None
        else replace(old_stored_object, item=user_object),
    )


def store_schema(context: StatementContext, name: str, schema: Schema | None) -> None:
    """Store a schema of the current database under its name. If *schema* is None, remove it."""
    object_key = (context.session.server, context.session.database.lower(), SCHEMA_KEY_PREFIX + name.lower())
    _change_object(
        context,
        object_key,
        read_object(context, object_key),
        None if schema is None else StoredObject(name, schema),
    )


def move_object(context: StatementContext, old_object: StoredObject, new_object: StoredObject) -> None:
    """Store an object of the current database under another name or in another schema."""
    object_place = (context.session.server, context.session.database.lower())
    _change_object(context, (*object_place, old_object.key), old_object, None)
    _change_object(context, (*object_place, new_object.key), None, new_object)


def store_in_system_database(world: World, object_key: ObjectKey, edit: object) -> None:
    """Store a committed change of an object in a system database, whose log is not simulated."""
    _store_object(world.objects, object_key, apply_edit(world.objects.get(object_key), edit))


DATABASE_OBJECTS_MAX: Final = 1_000
"""Maximum number of objects in a database. Assumed."""
DATABASE_CELLS_MAX: Final = 1_000_000
"""Maximum number of values in all tables of a database. Assumed."""
DATABASE_CHARACTERS_MAX: Final = 20_000_000
"""Maximum number of characters in all objects of a database. Assumed."""


def _check_capacity(context: StatementContext, object_key: ObjectKey, user_object: UserObject) -> None:
    """Raise UnsimulatedFeatureError if the database becomes too large with *user_object*."""
    stored_objects = [
        committed_object
        for name, committed_object in _read_committed_objects(context, object_key[1]).items()
        if name != object_key[2]
    ]
    stored_objects += [
        edit
        for write_place, edit in context.writes.items()
        if write_place != object_key and isinstance(edit, StoredObject)
    ]
    known_items = [stored_object.item for stored_object in stored_objects]
    if len(known_items) >= DATABASE_OBJECTS_MAX:
        raise UnsimulatedFeatureError(
            f"more than {DATABASE_OBJECTS_MAX} tables, procedures and views in a database"
        )
    all_tables = [item for item in (*known_items, user_object) if isinstance(item, Table)]
    texts = sum(len(item.body) for item in (*known_items, user_object) if isinstance(item, UserProcedure))
    if arithmetic.add_in_order(item.cells for item in all_tables) > DATABASE_CELLS_MAX:
        raise UnsimulatedFeatureError(f"more than {DATABASE_CELLS_MAX} values in the tables of a database")
    if texts + arithmetic.add_in_order(item.characters for item in all_tables) > DATABASE_CHARACTERS_MAX:
        raise UnsimulatedFeatureError(
            f"more than {DATABASE_CHARACTERS_MAX} characters in the objects of a database"
        )


def create_or_alter_object(
    context: StatementContext, parts: tuple[str, ...], user_object: UserObject, verb: str = "CREATE"
) -> None:
    """Create or alter an object. *verb*: CREATE, ALTER or CREATE OR ALTER.

    CREATE raises 2714 if the name is in use and 2760 for an unknown schema. ALTER raises 208 if there is no
    object of that kind. CREATE OR ALTER raises 2010 if there is an object of another kind.
    """
    old = find_object(context, parts)
    alter = verb == "ALTER" or (verb != "CREATE" and old is not None)
    schema = get_schema_name(parts)
    usable = [name.lower() for name in list_schemas(context) if name not in ("sys", "INFORMATION_SCHEMA")]
    if not alter and schema not in DBO_NAMES and schema not in usable:
        raise SqlError(2760, parts[-2])
    if verb == "CREATE OR ALTER" and old is not None and type(old) is not type(user_object):
        raise SqlError(2010, ".".join(parts))
    if alter and type(old) is not type(user_object):
        raise SqlError(208, ".".join(parts))
    if not alter and old is not None:
        raise SqlError(2714, parts[-1], state=6 if isinstance(user_object, Table) else 3)
    store_object(context, parts, user_object)


def drop_object(context: StatementContext, parts: tuple[str, ...], kind: type[UserObject]) -> None:
    """Drop an object. Raise 3701 for an unknown object, 3705 for an object of another kind."""
    object_key, old_stored_object = locate_object(context, parts)
    item = old_stored_object.item if old_stored_object is not None else None
    if item is not None and not isinstance(item, Schema) and type(item) is not kind:
        name, word = ".".join(parts), OBJECT_TYPES[type(item)][2]
        raise SqlError(3705, OBJECT_TYPES[kind][2].upper(), name, name, word, f"DROP {word.upper()}")
    if old_stored_object is None:
        raise SqlError(3701, "drop", OBJECT_TYPES[kind][2], ".".join(parts))
    _change_object(context, object_key, old_stored_object, None)


def list_objects(context: StatementContext) -> list[tuple[StoredObject, UserObject]]:
    """Return the objects of the current database by name, with the connection's uncommitted changes."""
    return [
        (stored_object, stored_object.item)
        for _, stored_object in _list_objects_and_schemas(context)
        if not isinstance(stored_object.item, Schema)
    ]


def _list_objects_and_schemas(context: StatementContext) -> list[tuple[str, StoredObject]]:
    """Return (key, object) for each object and schema of the current database."""
    database = context.session.database
    items_by_name = dict(_read_committed_objects(context, database))
    for (server, write_database, name), edit in context.writes.items():
        if (server, write_database) == (context.session.server, database.lower()):
            _store_object(items_by_name, name, apply_edit(items_by_name.get(name), edit))
    return sorted(items_by_name.items(), key=lambda entry: entry[0])


def list_hidden_objects(context: StatementContext) -> list[StoredObject]:
    """Return the objects of the current database on which the connection has no permission.

    Metadata views and functions do not show these objects. [DOC: metadata visibility]
    """
    database = context.session.database
    return [
        stored_object
        for stored_object, _ in list_objects(context)
        if not any(
            has_permission(context, database, permission, stored_object.schema, stored_object.key)
            for permission in VISIBILITY_PERMISSIONS
        )
    ]


VISIBILITY_PERMISSIONS: Final = (
    "SELECT",
    "INSERT",
    "UPDATE",
    "DELETE",
    "EXECUTE",
    "REFERENCES",
    "ALTER",
    "VIEW DEFINITION",
)
"""Permissions that make an object visible. One of them is sufficient [DOC: metadata visibility]."""


def list_temporary_tables(context: StatementContext) -> Iterator[tuple[str, int, Table]]:
    """Yield (name, ID in tempdb, table) for each temp table of the connection. A newer table has a lower ID."""
    for index, (name, table) in enumerate(context.session.tables):
        yield name.partition("\n")[0], -1_000_000 - index, table


def compute_object_id(name: str) -> int:
    """Return the object ID for a name or an object key. The same text always has the same ID."""
    return zlib.crc32(name.lower().encode()) & 0x7FFFFFFF
