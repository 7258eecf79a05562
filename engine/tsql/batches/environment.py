"""Built-in functions and @@ variables that return facts about the connection or the server."""

import json
from collections.abc import Callable
from typing import Final

from engine.constants import PRODUCT_VERSIONS
from engine.messages import SqlError, fill_placeholders
from engine.protocol import commits, startup
from engine.tsql import catalog
from engine.tsql.batches import event_files, locks, object_properties, objects, properties, stored_messages
from engine.tsql.batches.context import (
    StatementContext,
    find_database_user,
    has_permission,
    has_server_permission,
    is_server_role_member,
    is_sysadmin,
    list_database_roles,
)
from engine.tsql.batches.data import CONSOLE_PROGRAM, FIRST_RESULT_REQUEST
from engine.tsql.batches.objects import list_schemas
from engine.tsql.catalog import availability, folders, host, security
from engine.tsql.language.permissions import OBJECT_PERMISSIONS, PERMISSIONS
from engine.tsql.query.plans import UnsimulatedFeatureError
from engine.tsql.scalars.date_values import Culture
from engine.tsql.scalars.functions import format_message
from engine.tsql.scalars.settings import build_settings, get_context_info, get_text_size
from engine.tsql.scalars.values import Scalar, convert_value, to_integer, to_number, to_text


def format_version(context: StatementContext) -> str:
    """Return the text of @@VERSION."""
    year, (major, minor, _) = host.get_windows_version(context)
    platform_text = f"Windows Server {year} Standard" if context.version >= 2016 else "Windows NT"
    edition = f"{context.server.edition} Edition (64-bit)"
    return f"{startup.format_product(context.server)}\n\t{edition} on {platform_text} {major}.{minor} (X64)\n"


def _evaluate_has_perms(
    context: StatementContext, securable: Scalar, kind: Scalar, permission: Scalar, *more: Scalar
) -> Scalar:
    """Evaluate HAS_PERMS_BY_NAME.

    Return 1 if the connection has the permission, 0 if not, NULL for an unknown permission.
    """
    right = to_text(permission).upper()
    if permission is None or right not in PERMISSIONS | {"ANY"}:
        return None
    if is_sysadmin(context):
        if to_text(kind).upper() == "DATABASE" and securable is not None:
            return int(context.find_database_id(to_text(securable).strip("[]")) is not None)
        return 1
    if right == "ANY" or more:
        raise UnsimulatedFeatureError(
            "HAS_PERMS_BY_NAME of ANY permission or a column for a login outside sysadmin"
        )
    return _evaluate_permission(context, to_text(securable), to_text(kind).upper(), right, securable is None)


def _evaluate_permission(
    context: StatementContext, securable: str, kind: str, permission: str, server: bool
) -> int | None:
    """Return 1 if the connection has the permission, 0 if not, None for an unknown object.

    *securable*: name of the object, schema or database. *kind*: OBJECT, SCHEMA, DATABASE or empty.
    *server*: with an empty *kind*, check a permission on the server.
    """
    name = securable.strip("[]")
    if server and not kind:
        return int(has_server_permission(context, permission))
    if kind == "DATABASE":
        return int(has_permission(context, name or context.session.database, permission))
    if kind == "SCHEMA":
        return int(has_permission(context, context.session.database, permission, name))
    if kind != "OBJECT":
        raise UnsimulatedFeatureError(f"HAS_PERMS_BY_NAME of {kind} for a login outside sysadmin")
    parts = tuple(part.strip("[]") for part in securable.split("."))
    object_key, stored_object = objects.locate_object(context, parts)
    if stored_object is None:
        return None
    return int(has_permission(context, object_key[1], permission, stored_object.schema, stored_object.key))


def _evaluate_object_id(context: StatementContext, name: Scalar, kind: Scalar = None) -> Scalar:
    """Evaluate OBJECT_ID. Return NULL if no visible object has that name and type."""
    number = None if name is None else catalog.get_object_id(context, to_text(name))
    if not is_sysadmin(context):
        hidden_ids = {item.object_id for item in objects.list_hidden_objects(context)}
        number = None if number in hidden_ids else number
    if number is None or kind is None:
        return number
    context = catalog.build_named_context(context, to_text(name))
    rows = (
        *catalog.list_view_rows(context, "sys.objects"),
        *catalog.list_view_rows(context, "sys.system_objects"),
    )
    object_type = next((to_text(row["type"]).strip() for row in rows if row["object_id"] == number), None)
    return number if object_type in (None, to_text(kind).strip().upper()) else None


def _make_principal_lookup(key_column: str, result_column: str) -> Callable[..., Scalar]:
    """Build a function that finds a server principal by *key_column* and returns *result_column*.

    If the function is called without an argument, it uses the connection's own login.
    """

    def find(context: StatementContext, *given: Scalar) -> Scalar:
        if len(given) > 1:
            raise SqlError(189, "suser_sname", 0, 1)
        if not given and result_column == "name":
            return context.session.login
        key = to_text(given[0] if given else context.session.login).casefold()
        rows = catalog.list_view_rows(context, "sys.server_principals")
        sid = _find_sid_without_login(context) if result_column == "sid" and not given else None
        return next((row[result_column] for row in rows if to_text(row[key_column]).casefold() == key), sid)

    return find


def _find_sid_without_login(context: StatementContext) -> Scalar:
    """Return the SID of the user that EXECUTE AS USER impersonates; None without impersonation."""
    session = context.session
    users = (
        commits.list_database_users(context.world, session.server, session.user_database)
        if session.user
        else ()
    )
    return next((security.get_user_sid(user) for user in users if user.name == session.user), None)


def _evaluate_newid(context: StatementContext) -> Scalar:
    digits = f"{context.world.chance.draw_bits():016X}{context.world.chance.draw_bits():016X}"
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-A{digits[17:20]}-{digits[20:]}"


def _to_integer(value: Scalar) -> int:
    return int(to_number(value))


def _evaluate_db_id(context: StatementContext, name: Scalar = None) -> Scalar:
    return context.find_database_id(context.session.database if name is None else to_text(name))


def _evaluate_db_name(context: StatementContext, number: Scalar = None) -> Scalar:
    return (
        context.session.database if number in (None, 0) else context.find_database_name(_to_integer(number))
    )


def _build_error_getter(name: str) -> Callable[[StatementContext], Scalar]:
    def get_error_value(context: StatementContext) -> Scalar:
        value: Scalar = None if context.caught_error is None else getattr(context.caught_error, name)
        return value

    return get_error_value


def _evaluate_rand(context: StatementContext, seed: Scalar = None) -> Scalar:
    """Evaluate RAND with the generator of L'Ecuyer.

    With a seed, RAND returns the same numbers as in the examples of the documentation [DOC: RAND].
    """
    if seed is None:
        return context.world.chance.draw_uniform()
    number = (40014 * (_to_integer(seed) % 2147483563) % 2147483563) - 40692 * 67890 % 2147483399
    return (number if number > 0 else number + 2147483562) * 4.656613e-10


def _reject_next_value_for(context: StatementContext, name: Scalar) -> Scalar:
    """Raise 208 for NEXT VALUE FOR, because no sequence can exist: CREATE SEQUENCE is not simulated."""
    raise SqlError(208, name)


def _get_utc_time(context: StatementContext) -> Scalar:
    return context.get_datetime_value()


def _evaluate_formatmessage(context: StatementContext, message: Scalar, *values: Scalar) -> Scalar:
    if isinstance(message, int):
        row = stored_messages.find_message(context.world, context.server.name, message)
        if row is None or message <= stored_messages.FIRST_RAISABLE_NUMBER:
            return None
        return (
            format_message(row.text, values) if row.source == "added" else fill_placeholders(row.text, values)
        )
    return format_message(to_text(message), values)


def _build_file_function(column: str, result_column: str) -> Callable[[StatementContext, Scalar], Scalar]:
    """Build a function such as FILE_NAME or FILE_ID for the files of the current database.

    The function finds a file by *column* and returns its column *result_column*.
    """

    def find(context: StatementContext, value: Scalar) -> Scalar:
        for row in catalog.list_view_rows(context, "sys.database_files"):
            if to_text(row[column]).casefold() == to_text(value).casefold():
                return row[result_column]
        return None

    return find


_FILE_PROPERTIES: Final = {"isreadonly": 0, "isprimaryfile": None, "islogfile": None, "spaceused": None}
"""Properties of FILEPROPERTY, with their constant value if they have one."""


def _evaluate_fileproperty(context: StatementContext, name: Scalar, property_name: Scalar) -> Scalar:
    """Evaluate FILEPROPERTY.

    SpaceUsed is a number of pages: the used part of a log file, or the whole of a data file.
    """
    key = to_text(property_name).lower()
    for row in catalog.list_view_rows(context, "sys.database_files"):
        if to_text(row["name"]).casefold() != to_text(name).casefold() or key not in _FILE_PROPERTIES:
            continue
        if key == "spaceused":
            size = int(str(row["size"]))
            if row["type"] != 1:
                return size
            for usage in catalog.list_view_rows(context, "sys.dm_db_log_space_usage"):
                return round(size * float(str(usage["used_log_space_in_percent"])) / 100.0)
            return None
        values = {"islogfile": int(row["type"] == 1), "isprimaryfile": int(row["file_id"] == 1)}
        return values.get(key, _FILE_PROPERTIES[key])
    return None


_TYPE_NAMES: Final = {
    34: "image", 35: "text", 36: "uniqueidentifier", 40: "date", 41: "time", 42: "datetime2", 48: "tinyint",
    52: "smallint", 56: "int", 58: "smalldatetime", 59: "real", 60: "money", 61: "datetime", 62: "float",
    98: "sql_variant", 99: "ntext", 104: "bit", 106: "decimal", 108: "numeric", 127: "bigint", 165: "varbinary",
    167: "varchar", 173: "binary", 175: "char", 231: "nvarchar", 239: "nchar", 241: "xml", 256: "sysname",
}  # fmt: skip
"""user_type_id -> name of the type. Documented [DOC: sys.types]."""


def _evaluate_object_name(context: StatementContext, number: Scalar, database: Scalar = None) -> Scalar:
    return _find_object(context, number, database).get("name")


def _find_object(context: StatementContext, number: Scalar, database: Scalar) -> catalog.Record:
    """Return the row of an object in the database with the ID *database*; NULL means the current one."""
    if database is not None:
        name = context.find_database_name(_to_integer(database))
        if name is None:
            return {}
        context = context.build_database_context(name)
    rows = (
        *catalog.list_view_rows(context, "sys.objects"),
        *catalog.list_view_rows(context, "sys.system_objects"),
    )
    return next((row for row in rows if row["object_id"] == number), {})


def _evaluate_object_schema_name(
    context: StatementContext, number: Scalar, database: Scalar = None
) -> Scalar:
    schema_id = _find_object(context, number, database).get("schema_id")
    name = None if database is None else context.find_database_name(_to_integer(database))
    context = context if name is None else context.build_database_context(name)
    return next(
        (schema_name for schema_name, schema in list_schemas(context).items() if schema.number == schema_id),
        None,
    )


def _evaluate_is_srvrolemember(context: StatementContext, role: Scalar, login: Scalar = None) -> Scalar:
    """Evaluate IS_SRVROLEMEMBER: 1 for a member, 0 for a login outside the role.

    Return NULL for an unknown role or login.
    """
    is_fixed_role = to_text(role).lower() in map(str.lower, security.list_fixed_server_roles(context.version))
    is_known = login is None or _make_principal_lookup("name", "principal_id")(context, login) is not None
    return (
        int(is_server_role_member(context, to_text(role).lower(), to_text(login)))
        if is_fixed_role and is_known
        else None
    )


def _build_file_exists_row(context: StatementContext, path: Scalar) -> Scalar:
    """Return the row of sys.dm_os_file_exists as JSON, which form_rewriting.py reads."""
    return json.dumps([folders.get_path_flags(context, to_text(path))] if path is not None else [])


def _list_object_permissions(context: StatementContext, name: Scalar) -> Scalar:
    """Return the rows of fn_my_permissions for an object as JSON.

    The rows are those that a member of sysadmin gets. [DOC: sys.fn_my_permissions]
    """
    number = _evaluate_object_id(context, name) if name is not None else None
    rows = (
        [(to_text(name), "", permission) for permission in OBJECT_PERMISSIONS] if number is not None else []
    )
    return json.dumps(rows)


CONTEXT_FUNCTIONS: Final[dict[str, Callable[..., Scalar]]] = {
    **locks.LOCK_FUNCTIONS,
    **properties.PROPERTY_FUNCTIONS,
    "file_found": _build_file_exists_row,
    "xe_events": event_files.read_event_files,
    "object_permissions": _list_object_permissions,
    "getdate": lambda context: context.get_datetime_value(),
    "sysdatetime": lambda context: context.get_datetime_value(),
    "current_timestamp": lambda context: context.get_datetime_value(),
    "getutcdate": _get_utc_time,
    "sysutcdatetime": _get_utc_time,
    "sysdatetimeoffset": lambda context: convert_value(context.get_datetime_value(), "datetimeoffset"),
    "db_id": _evaluate_db_id,
    "db_name": _evaluate_db_name,
    "original_db_name": lambda context: (context.session.program or CONSOLE_PROGRAM).database,
    "object_id": _evaluate_object_id,
    "object_name": _evaluate_object_name,
    "object_schema_name": _evaluate_object_schema_name,
    "object_definition": lambda context, number: next(
        (
            row["definition"]
            for row in catalog.list_view_rows(context, "sys.sql_modules")
            if row["object_id"] == number
        ),
        None,
    ),
    "objectproperty": object_properties.evaluate_objectproperty,
    "objectpropertyex": object_properties.evaluate_objectpropertyex,
    "file_name": _build_file_function("file_id", "name"),
    "file_id": _build_file_function("name", "file_id"),
    "file_idex": _build_file_function("name", "file_id"),
    "fileproperty": _evaluate_fileproperty,
    "type_name": lambda context, number: _TYPE_NAMES.get(to_integer(number)) if number is not None else None,
    "type_id": lambda context, name: next(
        (number for number, known in _TYPE_NAMES.items() if known == to_text(name).lower()), None
    ),
    "filegroup_name": lambda context, number: "PRIMARY" if number == 1 else None,
    "schema_name": lambda context, number=1: next(
        (known for known, schema in list_schemas(context).items() if schema.number == number), None
    ),
    "schema_id": lambda context, name="dbo": next(
        (
            schema.number
            for known, schema in list_schemas(context).items()
            if known.lower() == to_text(name).lower()
        ),
        None,
    ),
    "suser_sname": _make_principal_lookup("sid", "name"),
    "suser_name": _make_principal_lookup("principal_id", "name"),
    "suser_id": _make_principal_lookup("name", "principal_id"),
    "suser_sid": _make_principal_lookup("name", "sid"),
    "original_login": lambda context: (
        context.session.callers[0][0] if context.session.callers else context.session.login
    ),
    "system_user": lambda context: context.session.login,
    "user_name": lambda context, number=None: (
        _get_current_user(context)
        if number is None
        else _find_principal_column(context, "principal_id", number, "name")
    ),
    "user": lambda context: _get_current_user(context),
    "current_user": lambda context: _get_current_user(context),
    "session_user": lambda context: _get_current_user(context),
    "user_id": lambda context, name=None: _find_principal_column(
        context, "name", _get_current_user(context) if name is None else name, "principal_id"
    ),
    "database_principal_id": lambda context, name=None: _find_principal_column(
        context, "name", _get_current_user(context) if name is None else name, "principal_id"
    ),
    "host_name": lambda context: (context.session.program or CONSOLE_PROGRAM).host,
    "host_id": lambda context: "1",
    "app_name": lambda context: (context.session.program or CONSOLE_PROGRAM).name,
    "is_srvrolemember": _evaluate_is_srvrolemember,
    "is_member": lambda context, role: _evaluate_is_member(context, role),
    "is_rolemember": lambda context, role, user=None: _evaluate_is_member(context, role, user),
    "has_dbaccess": lambda context, name: _evaluate_has_dbaccess(context, name),
    "has_perms_by_name": _evaluate_has_perms,
    "default_domain": lambda context: context.computer.domain,
    "context_info": lambda context: get_context_info(context.session.options),
    "sessionproperty": lambda context, name: _get_session_property(context, name),
    "newid": _evaluate_newid,
    "newsequentialid": _evaluate_newid,
    "rand": _evaluate_rand,
    "error_number": _build_error_getter("number"),
    "error_message": _build_error_getter("text"),
    "error_severity": _build_error_getter("severity"),
    "error_state": _build_error_getter("state"),
    "error_line": _build_error_getter("line"),
    "error_procedure": lambda context: (
        context.caught_error.procedure or None if context.caught_error else None
    ),
    "xact_state": lambda context: -1 if context.session.doomed else int(context.session.transactions > 0),
    "scope_identity": lambda context: context.session.scope_identity,
    "formatmessage": _evaluate_formatmessage,
    "cursor_status": lambda context, kind, name: _evaluate_cursor_status(context, kind, name),
    "next_value_for": _reject_next_value_for,
    "trigger_nestlevel": lambda context: 0,
    "first_result_rows": lambda context, *arguments: (
        context.call_function and context.call_function((FIRST_RESULT_REQUEST, *arguments))
    ),
    "scalar_function_value": lambda context, *arguments: (
        context.call_function(arguments) if context.call_function else None
    ),
    "fn_hadr_is_primary_replica": lambda context, database: availability.evaluate_is_primary_replica(
        context, to_text(database)
    ),
    "fn_hadr_backup_is_preferred_replica": lambda context, database: availability.evaluate_backup_preference(
        context, to_text(database)
    ),
}
"""Name of a built-in function -> function that evaluates it for a connection."""


def _find_principal_column(
    context: StatementContext, key_column: str, value: Scalar, result_column: str
) -> Scalar:
    """Return column *result_column* of the database principal whose *key_column* is *value*; NULL if there is none."""
    key = to_text(value).casefold()
    rows = catalog.list_view_rows(context, "sys.database_principals")
    return next((row[result_column] for row in rows if to_text(row[key_column]).casefold() == key), None)


def _get_current_user(context: StatementContext) -> str:
    return find_database_user(context, context.session.database) or "guest"


def _evaluate_is_member(context: StatementContext, role: Scalar, user: Scalar = None) -> Scalar:
    """Evaluate IS_MEMBER: 1 if the user has the role, 0 if not, NULL for an unknown role or user.

    [DOC: IS_MEMBER; IS_ROLEMEMBER]
    """
    role_name = to_text(role).casefold()
    rows = list(catalog.list_view_rows(context, "sys.database_principals"))
    if all(to_text(row["name"]).casefold() != role_name or to_text(row["type"]) != "R" for row in rows):
        return None
    if user is not None and all(to_text(row["name"]).casefold() != to_text(user).casefold() for row in rows):
        return None
    name = to_text(user) or _get_current_user(context)
    owner = name.lower() == "dbo" and role_name == "db_owner"
    return int(owner or role_name in list_database_roles(context, context.session.database, name))


def _get_session_property(context: StatementContext, name: Scalar) -> Scalar:
    """Evaluate SESSIONPROPERTY: 1 or 0 for a SET option of the connection, NULL for an unknown name.

    [DOC: SESSIONPROPERTY]
    """
    key = to_text(name).upper()
    values_by_property = (
        "ANSI_NULLS",
        "ANSI_PADDING",
        "ANSI_WARNINGS",
        "ARITHABORT",
        "CONCAT_NULL_YIELDS_NULL",
        "NUMERIC_ROUNDABORT",
        "QUOTED_IDENTIFIER",
    )
    return int(bool(_compute_option_bits(context) & _OPTION_BITS[key])) if key in values_by_property else None


def _get_culture(context: StatementContext) -> Culture:
    return build_settings(context.session.options).culture


def _evaluate_has_dbaccess(context: StatementContext, name: Scalar) -> Scalar:
    if context.find_database_id(to_text(name)) is None:
        return None
    try:
        context.open_database(to_text(name))
    except SqlError:
        return 0
    return 1


def _evaluate_cursor_status(context: StatementContext, kind: Scalar, name: Scalar) -> Scalar:
    cursor_name = to_text(name).lower()
    cursor = next(
        (
            cursor
            for key, cursor in reversed(context.session.cursors)
            if key.partition(" ")[0] == cursor_name and (" " in key) == (to_text(kind).lower() != "global")
        ),
        None,
    )
    if cursor is None:
        return -2 if cursor_name.startswith("@") else -3
    if cursor.rows is None:
        return -1
    return int(bool(cursor.rows))


def _count_since_start(context: StatementContext) -> int:
    """Return the value of an @@ counter of processor ticks, packets, reads or writes since the start.

    Assumed: the counter increases at a constant rate.
    """
    return context.world.tick // 10


GLOBAL_VARIABLES: Final[dict[str, Callable[[StatementContext], Scalar]]] = {
    "@@servername": lambda context: context.server.name,
    "@@servicename": lambda context: "MSSQLSERVER",
    "@@version": format_version,
    "@@spid": lambda context: context.session.spid,
    "@@trancount": lambda context: context.session.transactions,
    "@@rowcount": lambda context: context.session.rowcount,
    "@@error": lambda context: context.session.error,
    "@@fetch_status": lambda context: context.session.fetch_status,
    "@@identity": lambda context: context.session.identity,
    "@@cursor_rows": lambda context: _count_cursor_rows(context),
    "@@language": lambda context: _get_culture(context).language.name,
    "@@langid": lambda context: _get_culture(context).language.number,
    "@@datefirst": lambda context: _get_culture(context).datefirst,
    "@@lock_timeout": lambda context: locks.get_lock_timeout_ms(context.session),
    "@@max_connections": lambda context: 32767,
    "@@max_precision": lambda context: 38,
    "@@nestlevel": lambda context: context.nesting_level,
    "@@options": lambda context: _compute_option_bits(context),
    "@@procid": lambda context: context.procedure_id,
    "@@remserver": lambda context: None,
    "@@textsize": lambda context: get_text_size(context.session.options),
    "@@microsoftversion": lambda context: int(PRODUCT_VERSIONS[context.version][0].split(".")[0]) << 24,
    "@@dbts": lambda context: b"\x00\x00\x00\x00\x00\x00\x07\xd0",
    "@@cpu_busy": lambda context: context.world.tick // 4,
    "@@idle": lambda context: context.world.tick,
    "@@io_busy": lambda context: _count_since_start(context),
    "@@timeticks": lambda context: 31250,
    "@@total_errors": lambda context: 0,
    "@@packet_errors": lambda context: 0,
    **dict.fromkeys(("@@pack_received", "@@pack_sent", "@@total_read", "@@total_write"), _count_since_start),
    "@@connections": lambda context: 1000,
}
"""Name of an @@ variable -> function that returns its value."""


_OPTION_BITS: Final = {
    "IMPLICIT_TRANSACTIONS": 2, "CURSOR_CLOSE_ON_COMMIT": 4, "ANSI_WARNINGS": 8, "ANSI_PADDING": 16, "ANSI_NULLS": 32,
    "ARITHABORT": 64, "ARITHIGNORE": 128, "QUOTED_IDENTIFIER": 256, "NOCOUNT": 512, "ANSI_NULL_DFLT_ON": 1024,
    "ANSI_NULL_DFLT_OFF": 2048, "CONCAT_NULL_YIELDS_NULL": 4096, "NUMERIC_ROUNDABORT": 8192, "XACT_ABORT": 16384,
}  # fmt: skip
"""SET option -> its bit in @@OPTIONS. Documented [DOC: user options]."""

_LOGIN_OPTION_BITS: Final = 5496
"""@@OPTIONS of a new connection of Management Studio: ANSI_WARNINGS, ANSI_PADDING, ANSI_NULLS, ARITHABORT,
QUOTED_IDENTIFIER, ANSI_NULL_DFLT_ON and CONCAT_NULL_YIELDS_NULL.
"""


def _compute_option_bits(context: StatementContext) -> int:
    options, number = dict(context.session.options), 0
    for name, bit in _OPTION_BITS.items():
        if options.get(name, "ON" if bit & _LOGIN_OPTION_BITS else "OFF") == "ON":
            number |= bit
    return number


def _count_cursor_rows(context: StatementContext) -> int:
    """Evaluate @@CURSOR_ROWS: the number of rows of the cursor that was opened last, -1 if it is dynamic.

    Documented [DOC: @@CURSOR_ROWS].
    """
    cursors = [cursor for _, cursor in context.session.cursors if cursor.rows is not None]
    if not cursors:
        return 0
    return len(cursors[-1].rows or ()) if cursors[-1].counted else -1
