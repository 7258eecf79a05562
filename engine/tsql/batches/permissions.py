"""EXECUTE AS, GRANT, DENY, REVOKE, roles, and permission checks of statements for logins outside sysadmin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from msgspec.structs import replace

from engine.messages import Message, SqlError
from engine.protocol import accounts, commits, connections, security, statements
from engine.protocol.accounts import INSTANCE_SCOPE, Grant
from engine.tsql import catalog
from engine.tsql.batches import objects, statement_gate
from engine.tsql.batches.context import (
    StatementContext,
    find_database_user,
    has_permission,
    has_server_permission,
    is_server_role_member,
    is_sysadmin,
    list_database_roles,
)
from engine.tsql.batches.work import StatementHandler
from engine.tsql.catalog.security import format_sid, get_user_sid
from engine.tsql.language import group_statements as gs
from engine.tsql.language import statements as s
from engine.tsql.query.plans import UnsimulatedFeatureError
from engine.tsql.scalars.values import to_text

if TYPE_CHECKING:
    from engine.tsql.batches.machine import ExecutionMachine

# --- EXECUTE AS ------------------------------------------------------------------------------------------


def execute_as(machine: ExecutionMachine, statement: s.ExecuteAsStatement) -> None:
    """Execute EXECUTE AS: impersonate a login, or a user of the current database.

    Raise 15406 for a login, or 15517 for a user, that does not exist or may not be impersonated.
    [DOC: EXECUTE AS]
    """
    context, session = machine.context, machine.session
    server = statement.kind == "LOGIN"
    view, number = ("sys.server_principals", 15406) if server else ("sys.database_principals", 15517)
    name = statement.name.casefold()
    rows = [row for row in catalog.list_view_rows(context, view) if to_text(row["name"]).casefold() == name]
    kinds = ("S", "U")
    if not rows or rows[0]["type"] not in kinds or not _can_impersonate(context, statement.kind, name):
        raise SqlError(number, statement.name)
    before = (session.login, session.user, session.user_database)
    user_name, login = to_text(rows[0]["name"]), session.login
    if server:
        machine.change_session(
            login=user_name, user="", user_database="", callers=(*session.callers, before), error=0
        )
        return
    for user in commits.list_database_users(machine.world, session.server, session.database):
        if user.name == user_name:
            mapped = security.find_login_of_user(context.server, user)
            login = (
                mapped.name
                if mapped is not None
                else user_name
                if user.sid
                else format_sid(get_user_sid(user))
            )
    machine.change_session(
        login=login,
        user=user_name,
        user_database=session.database,
        callers=(*session.callers, before),
        error=0,
    )


def _can_impersonate(context: StatementContext, kind: str, name: str) -> bool:
    """Return whether the connection may impersonate the login or user *name*."""
    if is_sysadmin(context):
        return True
    if kind == "USER" and find_database_user(context, context.session.database) == "dbo":
        return True
    database = INSTANCE_SCOPE if kind == "LOGIN" else context.session.database
    db_security = accounts.read_security(context.world, context.session.server, database)
    caller = context.session.login if kind == "LOGIN" else find_database_user(context, database) or ""
    names = {caller.lower(), *accounts.list_principal_roles(db_security, caller)}
    granted = Grant(kind, name, "IMPERSONATE", "")
    return any(
        replace(grant, grantee="") == granted for grant in db_security.grants if grant.grantee in names
    )


def execute_revert(machine: ExecutionMachine) -> None:
    """Execute REVERT: return to the security context before the last EXECUTE AS, if any.

    Raise 15199 if the current database is not the one in which EXECUTE AS USER was executed.
    """
    session = machine.session
    if not session.callers:
        machine.change_session(error=0)
        return
    if session.user and session.user_database.lower() != session.database.lower():
        raise SqlError(15199, "Execute As")
    *before, (login, user, database) = session.callers
    machine.change_session(login=login, user=user, user_database=database, callers=tuple(before), error=0)


# --- GRANT, DENY, REVOKE, roles --------------------------------------------------------------------------


def change_permissions(machine: ExecutionMachine, statement: s.PermissionStatement) -> list[Message]:
    """Execute GRANT, DENY or REVOKE on the server, a database, a schema, an object, a login or a user."""
    context, kind = machine.context, statement.kind
    if kind not in ("SERVER", "LOGIN", "DATABASE", "USER", "SCHEMA", "OBJECT"):
        target_text = f" ON {kind}" if kind == "AVAILABILITY GROUP" else ""
        raise UnsimulatedFeatureError(f"{statement.verb} {', '.join(statement.permissions)}{target_text}")
    if any("(" in permission for permission in statement.permissions):
        raise UnsimulatedFeatureError(f"{statement.verb} on columns")
    if kind == "SERVER" and context.session.database.lower() != "master":
        raise SqlError(4621)
    server = kind in ("SERVER", "LOGIN")
    database = INSTANCE_SCOPE if server else context.session.database
    name = statement.name.lower()
    if kind == "OBJECT":
        name = objects.make_object_key(tuple(part.strip("[]") for part in statement.name.split(".")))
        _check_object_permissions(context, statement)
    elif kind == "SCHEMA":
        schemas = objects.list_schemas(context)
        if name not in map(str.lower, schemas):
            raise SqlError(15151, "find", "schema", statement.name)
    elif kind == "DATABASE":
        name = ""
    names = [_PERMISSION_ALIASES.get(permission, permission) for permission in statement.permissions]
    if "ALL" in names or "ALL PRIVILEGES" in names:
        raise UnsimulatedFeatureError(f"{statement.verb} ALL")
    for grantee in statement.grantees:
        if grantee.lower() in ("sa", "dbo", "sys", "information_schema"):
            return [statements.build_information(4624)]
    grant_rows = tuple(
        Grant(kind, name, permission, grantee.lower(), statement.verb == "DENY")
        for permission in names
        for grantee in statement.grantees
    )
    world, own_server = machine.world, machine.session.server
    accounts.store_security(
        world,
        own_server,
        database,
        accounts.apply_grants(
            accounts.read_security(world, own_server, database), statement.verb, grant_rows
        ),
    )
    return []


def _check_object_permissions(context: StatementContext, statement: s.PermissionStatement) -> None:
    """Raise 4606 for a permission that objects of this type do not have [DOC: GRANT object permissions]."""
    item = objects.find_object(
        context, tuple(part.strip("[]") for part in statement.name.split(".")), waits=False
    )
    if item is None:
        return
    runs = objects.get_type_code(item) in ("P ", "FN")
    for permission in statement.permissions:
        if permission in (_ROW_PERMISSIONS if runs else _EXECUTE_PERMISSIONS):
            raise SqlError(4606, permission)


_ROW_PERMISSIONS: Final = ("SELECT", "INSERT", "UPDATE", "DELETE", "VIEW CHANGE TRACKING")
"""Permissions that only tables, views and table-valued functions have."""
_EXECUTE_PERMISSIONS: Final = ("EXECUTE", "EXEC")
"""Permissions that only procedures and scalar functions have."""
_PERMISSION_ALIASES: Final = {"EXEC": "EXECUTE", "CREATE PROC": "CREATE PROCEDURE"}
"""Alternative name of a permission -> its main name."""


def drop_login(machine: ExecutionMachine, name: str) -> list[Message]:
    """Execute DROP LOGIN.

    Raise 15434 while the login is connected, 15174 if it owns a database, 15170 if it owns jobs. [DOC: DROP
    LOGIN]
    """
    context, world, server = machine.context, machine.world, machine.session.server
    login = context.server.find_login(name)
    if login is not None:
        sid = login.sid.to_bytes(16, "big")
        logins = {session.login for _, session in context.list_sessions()}
        logins |= {connection.login for connection in connections.list_connections(world, server)}
        if login.name.lower() in map(str.lower, logins):
            raise SqlError(15434, login.name)
        if any(row["owner_sid"] == sid for row in catalog.list_view_rows(context, "sys.databases")):
            raise SqlError(15174, login.name)
        jobs = [r for r in catalog.list_view_rows(context, "msdb.dbo.sysjobs") if r["owner_sid"] == sid]
        if jobs:
            raise SqlError(15170, len(jobs))
    return accounts.drop_login(world, server, name)


def run_role_statement(machine: ExecutionMachine, statement: s.ChangeRoleStatement) -> list[Message]:
    """Execute a statement about roles.

    Before SQL Server 2012, ADD MEMBER and DROP MEMBER raise 102 [DOC: ALTER ROLE].
    """
    if statement.member and machine.context.version < 2012:
        raise SqlError(102, statement.verb_of_member)
    return change_role(machine, statement)


def change_role(machine: ExecutionMachine, statement: s.ChangeRoleStatement) -> list[Message]:
    """Execute CREATE, ALTER or DROP ROLE, or ALTER SERVER ROLE. Raise 15023, 15151, 15150, 15405 or 15144."""
    if statement.owner or (statement.server and statement.verb != "ALTER"):
        raise UnsimulatedFeatureError(f"{statement.verb} {'SERVER ' * statement.server}ROLE … AUTHORIZATION")
    context, server = machine.context, statement.server
    database = INSTANCE_SCOPE if server else context.session.database
    world, own_server = machine.world, machine.session.server
    db_security = accounts.read_security(world, own_server, database)
    view = "sys.server_principals" if server else "sys.database_principals"
    rows = {to_text(row["name"]).lower(): row for row in catalog.list_view_rows(context, view)}
    role = rows.get(statement.name.lower())
    if statement.verb == "CREATE":
        if role is not None:
            raise SqlError(15023, statement.name)
        accounts.store_security(
            world, own_server, database, replace(db_security, roles=(*db_security.roles, statement.name))
        )
        return []
    if role is None or role["type"] != "R":
        if statement.verb == "DROP" and statement.if_exists:
            return []
        raise SqlError(15151, statement.verb.lower(), "server role" if server else "role", statement.name)
    name, member = statement.name.lower(), statement.member.lower()
    if statement.verb == "DROP":
        if role["is_fixed_role"] or name == "public":
            raise SqlError(15150, "drop", "role", statement.name)
        if any(role_name == name for role_name, _ in db_security.members):
            raise SqlError(15144)
        roles = tuple(role_name for role_name in db_security.roles if role_name.lower() != name)
        grants = tuple(grant for grant in db_security.grants if grant.grantee != name)
        accounts.store_security(world, own_server, database, replace(db_security, roles=roles, grants=grants))
        return []
    if member not in rows or name == "public":
        raise SqlError(15151, statement.verb_of_member.lower(), "principal", statement.member)
    if member in ("dbo", "sa"):
        raise SqlError(15405, statement.member)
    members = tuple(membership for membership in db_security.members if membership != (name, member))
    if statement.verb_of_member == "ADD":
        members = (*members, (name, member))
    accounts.store_security(world, own_server, database, replace(db_security, members=members))
    return []


# --- permissions that statements require -----------------------------------------------------------

PermissionRule = StatementHandler["ExecutionMachine", None]
"""Function that raises an error if the login may not execute the statement."""


class NamedStatement(Protocol):
    """Statement about one named object."""

    @property
    def name(self) -> str | tuple[str, ...]:
        """Return the name, or the parts of the name."""


def _build_server_permission_rule(permission: str, number: int, *arguments: object) -> PermissionRule:
    """Build a rule that raises error *number* if the login lacks *permission* on the server."""

    def check(machine: ExecutionMachine, statement: object) -> None:
        if not has_server_permission(machine.context, permission):
            raise SqlError(number, *arguments)

    return check


def _build_named_permission_rule(
    permission: str, verb: str, kind: str, field: str = "name"
) -> PermissionRule:
    """Build a rule that raises 15151 if the login lacks *permission* on the server.

    *verb* and *kind*: words of the message, such as "drop" and "login". *field*: field of the statement
    that contains the object's name.
    """

    def check(machine: ExecutionMachine, statement: object) -> None:
        if not has_server_permission(machine.context, permission):
            raise SqlError(15151, verb, kind, getattr(statement, field))

    return check


def _build_create_rule(permission: str) -> PermissionRule:
    """Build a rule that raises 262 if the login lacks *permission*, 2760 if it lacks ALTER on the schema."""

    def check(machine: ExecutionMachine, statement: NamedStatement) -> None:
        name = statement.name if isinstance(statement.name, tuple) else (statement.name,)
        if name[-1].startswith("#"):
            return
        context, database = machine.context, machine.session.database
        if not has_permission(context, database, permission):
            raise SqlError(262, permission, context.get_spelled_name(database))
        schema = objects.get_schema_name(name) or "dbo"
        if permission != "CREATE SCHEMA" and not has_permission(context, database, "ALTER", schema):
            raise SqlError(2760, schema)

    return check


def _check_object_alteration(
    machine: ExecutionMachine,
    statement: s.AlterTableStatement | s.CreateIndexStatement | s.StatisticsStatement,
) -> None:
    name = statement.name if isinstance(statement.name, tuple) else statement.table
    schema = objects.get_schema_name(name) or "dbo"
    if name[-1].startswith("#"):
        return
    if not has_permission(
        machine.context, machine.session.database, "ALTER", schema, objects.make_object_key(name)
    ):
        raise SqlError(1088, name[-1])


def _check_database_alteration(machine: ExecutionMachine, statement: s.DatabaseStatement) -> None:
    context, name = machine.context, statement.database
    if has_server_permission(context, "ALTER ANY DATABASE") or has_permission(context, name, "ALTER"):
        return
    raise SqlError(5011, name, also=(5069,))


def _check_backup_permission(machine: ExecutionMachine, statement: s.BackupStatement) -> None:
    database, permission = machine.resolve_text(statement.database), f"BACKUP {statement.backup_type}"
    if not has_permission(machine.context, database, permission):
        raise SqlError(
            262, permission, machine.context.get_spelled_name(database), also=(3013,), title=permission
        )


def _check_restore_permission(machine: ExecutionMachine, statement: s.RestoreStatement) -> None:
    database = machine.resolve_text(statement.database)
    can_create = has_server_permission(machine.context, "CREATE ANY DATABASE")
    if not can_create and find_database_user(machine.context, database) != "dbo":
        raise SqlError(3110, database, also=(3013,), title=statement.title)


def _build_user_rule(verb: str) -> PermissionRule:
    """Build a rule that raises an error if the user lacks ALTER ANY USER.

    The error is 15247 if *verb* is "create". Otherwise, it is 15151, whose message contains *verb*.
    """

    def check(machine: ExecutionMachine, statement: NamedStatement) -> None:
        if not has_permission(machine.context, machine.session.database, "ALTER ANY USER"):
            raise SqlError(15247) if verb == "create" else SqlError(15151, verb, "user", statement.name)

    return check


def _check_role_change(machine: ExecutionMachine, statement: s.ChangeRoleStatement) -> None:
    context, word = machine.context, "server role" if statement.server else "role"
    allowed = (
        has_server_permission(context, "ALTER ANY SERVER ROLE")
        if statement.server
        else has_permission(context, context.session.database, "ALTER ANY ROLE")
    )
    if not allowed:
        raise SqlError(15151, statement.verb.lower(), word, statement.name)


def _check_grant_permission(machine: ExecutionMachine, statement: s.PermissionStatement) -> None:
    context, database = machine.context, machine.session.database
    if statement.kind in ("DATABASE", "SCHEMA", "OBJECT", "USER") and (
        find_database_user(context, database) == "dbo"
        or "db_owner" in list_database_roles(context, database, find_database_user(context, database) or "")
        or has_permission(context, database, "GRANT")
    ):
        return
    if statement.kind == "DATABASE" or not statement.name:
        raise SqlError(4613)
    raise SqlError(15151, "find", statement.kind.lower(), statement.name.rpartition(".")[2])


def _check_drop_permission(machine: ExecutionMachine, statement: s.DropStatement) -> None:
    context, database = machine.context, machine.session.database
    kind, word = statement.kind, _KIND_WORDS.get(statement.kind, statement.kind.lower())
    for name in statement.names:
        parts = tuple(part.strip("[]") for part in name.split("."))
        if kind in ("LOGIN", "ENDPOINT", "CERTIFICATE"):
            allowed = has_server_permission(context, f"ALTER ANY {kind}")
            error = SqlError(15151, "drop", word, name)
        elif kind == "USER":
            allowed = has_permission(context, database, "ALTER ANY USER")
            error = SqlError(15151, "drop", "user", name)
        elif kind == "DATABASE":
            allowed = has_permission(context, name, "CONTROL") or has_server_permission(
                context, "ALTER ANY DATABASE"
            )
            error = SqlError(3701, "drop", "database", name)
        else:
            schema = objects.get_schema_name(parts) or "dbo"
            allowed = parts[-1].startswith("#") or has_permission(
                context, database, "ALTER", schema, objects.make_object_key(parts)
            )
            error = SqlError(3701, "drop", word, parts[-1])
        if not allowed:
            raise error


_KIND_WORDS: Final = {"PROC": "procedure"}


def _check_dbcc_permission(machine: ExecutionMachine, statement: s.DbccStatement) -> None:
    context, command = machine.context, statement.command
    database = machine.session.database
    if command in ("USEROPTIONS", "SHOW_STATISTICS"):
        return
    if command == "INPUTBUFFER" and has_server_permission(context, "VIEW SERVER STATE"):
        return
    owner = "db_owner" in list_database_roles(context, database, find_database_user(context, database) or "")
    if command in ("CHECKDB", "CHECKTABLE", "OPENTRAN", "CHECKALLOC", "CHECKCATALOG", "CHECKFILEGROUP") and (
        owner or find_database_user(context, database) == "dbo"
    ):
        return
    raise SqlError(2571, find_database_user(context, database) or context.session.login, command)


_PUBLIC: Final = """
sp_executesql sp_getapplock sp_releaseapplock sp_helptext sp_columns sp_tables sp_databases sp_server_info
sp_datatype_info sp_pkeys sp_fkeys sp_statistics sp_stored_procedures sp_describe_first_result_set sp_spaceused sp_who
sp_who2 sp_helpdb sp_helpuser sp_helprole sp_helprotect sp_helpindex sp_help sp_lock sp_helpfile sp_msforeachdb
sp_sproc_columns sp_special_columns
"""
PUBLIC_PROCEDURES: Final = frozenset(_PUBLIC.split())
"""System procedures that every login may execute. [DOC: system stored procedures]"""


def check_procedure_permission(machine: ExecutionMachine, name: str, argument_count: int) -> None:
    """Raise an error if the login may not execute the system procedure *name*.

    The error is 229 in msdb and for extended procedures, 15003 for sp_readerrorlog, and otherwise
    15247. Every login may call sp_configure with an *argument_count* below 2.
    """
    if is_sysadmin(machine.context) or name in PUBLIC_PROCEDURES:
        return
    if name == "sp_configure" and argument_count < 2:
        return
    if name == "sp_readerrorlog":
        if is_server_role_member(machine.context, "securityadmin"):
            return
        raise SqlError(15003, "securityadmin")
    if catalog.view.SYSTEM_PROCEDURES[name] == "msdb":
        raise SqlError(229, "EXECUTE", name, "msdb", "dbo")
    if name.startswith("xp_"):
        raise SqlError(229, "EXECUTE", name, "mssqlsystemresource", "sys")
    raise SqlError(15247)


PERMISSION_RULES: Final[dict[type[s.Statement], PermissionRule]] = {
    s.CreateTableStatement: _build_create_rule("CREATE TABLE"),
    s.CreateViewStatement: _build_create_rule("CREATE VIEW"),
    s.CreateProcedureStatement: _build_create_rule("CREATE PROCEDURE"),
    s.CreateFunctionStatement: _build_create_rule("CREATE FUNCTION"),
    s.CreateSchemaStatement: _build_create_rule("CREATE SCHEMA"),
    **dict.fromkeys(
        (s.AlterTableStatement, s.CreateIndexStatement, s.StatisticsStatement), _check_object_alteration
    ),
    s.DropStatement: _check_drop_permission,
    s.CreateDatabaseStatement: _build_server_permission_rule(
        "CREATE ANY DATABASE", 262, "CREATE DATABASE", "master"
    ),
    **dict.fromkeys(
        (kind for kind in statement_gate.TARGET_RULES if issubclass(kind, s.DatabaseStatement)),
        _check_database_alteration,
    ),
    s.BackupStatement: _check_backup_permission,
    s.RestoreStatement: _check_restore_permission,
    s.ShutdownStatement: _build_server_permission_rule("SHUTDOWN", 6004),
    s.KillStatement: _build_server_permission_rule("ALTER ANY CONNECTION", 6102),
    s.ReconfigureStatement: _build_server_permission_rule("ALTER SETTINGS", 5812),
    s.DbccStatement: _check_dbcc_permission,
    s.CreateLoginStatement: _build_server_permission_rule("ALTER ANY LOGIN", 15247),
    s.AlterLoginStatement: _build_named_permission_rule("ALTER ANY LOGIN", "alter", "login"),
    s.CreateUserStatement: _build_user_rule("create"),
    s.AlterUserStatement: _build_user_rule("alter"),
    s.CreateEndpointStatement: _build_server_permission_rule("CREATE ENDPOINT", 15247),
    s.AlterEndpointStatement: _build_named_permission_rule("ALTER ANY ENDPOINT", "alter", "endpoint"),
    gs.CreateGroupStatement: _build_server_permission_rule("CREATE AVAILABILITY GROUP", 15247),
    gs.AlterGroupStatement: _build_named_permission_rule(
        "ALTER ANY AVAILABILITY GROUP", "alter", "availability group", "group"
    ),
    gs.DropGroupStatement: _build_named_permission_rule(
        "ALTER ANY AVAILABILITY GROUP", "drop", "availability group", "group"
    ),
    s.PermissionStatement: _check_grant_permission,
    s.ChangeRoleStatement: _check_role_change,
}
"""Class of a statement -> rule that checks whether a login outside sysadmin may execute it.

[DOC: each statement's page]
"""

PUBLIC_STATEMENTS: Final = (
    s.QueryStatement, s.UseStatement, s.ExecuteProcedureStatement, s.ExecuteDynamicSqlStatement,
    s.ExecuteAsStatement, s.RevertStatement, s.TransactionStatement, s.SetSessionOptionStatement,
    s.DeclareStatement, s.SetVariableStatement, s.PrintStatement, s.ReturnStatement, s.RaiserrorStatement,
    s.ThrowStatement, s.WaitforStatement, s.CursorStatement, s.DeclareCursorStatement, s.FetchCursorStatement,
    s.InsertExecStatement, s.UnsimulatedStatement,
)  # fmt: skip
"""Statements that need no permission. The objects that they read, write or call are checked separately."""


def check_permission(machine: ExecutionMachine, statement: s.Statement) -> None:
    """Raise an error if a login outside sysadmin may not execute the statement.

    Raises UnsimulatedFeatureError if no rule exists for the statement.
    """
    if isinstance(statement, PUBLIC_STATEMENTS):
        return
    rule = PERMISSION_RULES.get(type(statement))
    if rule is None:
        raise UnsimulatedFeatureError(
            f"{type(statement).__name__.removesuffix('Statement')} by a login that is not in sysadmin"
        )
    rule(machine, statement)


assert gs.SetPartnerStatement in PERMISSION_RULES, "statements on databases are in the gate"
