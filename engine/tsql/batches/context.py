"""Context of a running statement: connection, clock, variables, and permissions of the login and user."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from msgspec.structs import replace

from engine.constants import TICKS_PER_S
from engine.messages import SqlError
from engine.model import Computer, DatabaseCopy, Instance, Key, Snapshot, World
from engine.protocol import accounts, commits, options, statements
from engine.protocol.accounts import INSTANCE_SCOPE
from engine.tsql.batches.data import CaughtError, DeclaredVariable, ObjectKey, SqlSession, Table
from engine.tsql.scalars.values import Scalar, store_datetime

SYSTEM_DATABASES = {"master": 1, "tempdb": 2, "model": 3, "msdb": 4}
"""System database -> database ID."""


@dataclass(slots=True)
class StatementContext:
    """Context of a running statement: the world as one connection sees it, and the variables of the batch.

    *session* is immutable. Each change replaces it.
    """

    world: World
    session: SqlSession
    variables: dict[str, DeclaredVariable] = field(default_factory=dict)
    tables: dict[str, Table] = field(default_factory=dict)
    caught_error: CaughtError | None = None
    """Error that the current CATCH block handles; None outside a CATCH block."""
    nesting_level: int = 0
    """@@NESTLEVEL: number of procedures and dynamic SQL texts that enclose the running statement."""
    procedure_id: int = 0
    """@@PROCID: ID of the running procedure; 0 outside a procedure."""
    call_function: Callable[[Sequence[Scalar]], Scalar] | None = None
    """Function that calls a user-defined scalar function. It receives the name and the arguments
    (resolution.py).
    """
    writes: dict[ObjectKey, object] = field(init=False)
    """Object -> change of this object by the open transaction (objects.py); see SqlSession.writes."""
    logs: dict[Key, tuple[float, float]] = field(init=False)
    """Database copy -> (start position, amount in KB) of the transaction's log."""

    def __post_init__(self) -> None:
        self.writes = dict(self.session.writes)
        self.logs = {key: (begin_kb, kb) for key, begin_kb, kb in self.session.logs}

    def build_database_context(self, database: str) -> StatementContext:
        """Return the context of the same connection in another database."""
        context = StatementContext(self.world, replace(self.session, database=database))
        context.writes = self.writes
        return context

    @property
    def server(self) -> Instance:
        """Return the instance of the connection."""
        return self.world.instances[self.session.server]

    @property
    def computer(self) -> Computer:
        """Return the computer on which the instance runs."""
        return self.world.get_computer_of(self.session.server)

    @property
    def version(self) -> int:
        """Return the version of the instance, such as 2012."""
        return self.server.version

    @property
    def reports_truncated_value(self) -> bool:
        """Return whether a truncation error is 2628, which shows the value, instead of 8152.

        This is the case from SQL Server 2019 and compatibility level 150 on. [DOC: ALTER DATABASE SCOPED
        CONFIGURATION]
        """
        copy = self.find_copy(self.session.database)
        return self.version >= 2019 and (
            copy is None or options.get_compatibility_level(self.world, copy) >= 150
        )

    def get_time(self, tick: int | None = None) -> datetime:
        """Return the date and time that the servers' clocks show at *tick* (default: now)."""
        start = datetime.fromisoformat(self.world.settings.start_time)
        moment_tick = self.world.tick if tick is None else tick
        return start + timedelta(seconds=moment_tick / TICKS_PER_S)

    def get_datetime_value(self, tick: int | None = None) -> str:
        """Return the server's time at *tick* (default: now) as a datetime value."""
        return store_datetime(self.get_time(tick))

    def list_copies(self) -> list[DatabaseCopy]:
        """Return the database copies on this server in the order of their IDs."""
        own_copies = [
            copy for (server, _), copy in self.world.copies.items() if server == self.session.server
        ]
        return sorted(own_copies, key=lambda copy: (copy.database_id, copy.database))

    def find_copy(self, database: str) -> DatabaseCopy | None:
        """Return the server's copy of a database, without regard to case; None if there is no copy."""
        key = (self.session.server, database)
        if key in self.world.copies:
            return self.world.copies[key]
        return next((copy for copy in self.list_copies() if copy.database.lower() == database.lower()), None)

    def find_database_id(self, name: str) -> int | None:
        """Return the ID of a database on this server; None if there is no such database."""
        if name.lower() in SYSTEM_DATABASES:
            return SYSTEM_DATABASES[name.lower()]
        copy = self.find_copy(name)
        if copy is not None:
            return copy.database_id
        snapshot = self.find_snapshot(name)
        return snapshot.database_id if snapshot is not None else None

    def find_database_name(self, number: int) -> str | None:
        """Return the name of the database with the ID *number*; None if there is no such database."""
        system = {value: name for name, value in SYSTEM_DATABASES.items()}
        if number in system:
            return system[number]
        names_by_id = {copy.database_id: copy.database for copy in self.list_copies()}
        names_by_id.update({snapshot.database_id: snapshot.name for snapshot in self.server.snapshots})
        return names_by_id.get(number)

    def get_spelled_name(self, name: str) -> str:
        """Return the name of a database in this server's spelling."""
        copy = self.find_copy(name)
        return copy.database if copy is not None else name

    def find_snapshot(self, name: str) -> Snapshot | None:
        """Return the database snapshot *name* on this server; None if there is no such snapshot."""
        return self.server.find_snapshot(name)

    def open_database(self, name: str) -> str:
        """Check that the connection can use a database. Return its name in this server's spelling.

        Raises 911, 954, 955 and others if the database cannot be opened.
        """
        statements.check_database_access(self.world, self.session.server, name, self.session.read_intent)
        require_database_user(self, name)
        copy = self.find_copy(name)
        if copy is not None:
            return copy.database
        snapshot = self.find_snapshot(name)
        return snapshot.name if snapshot is not None else name.lower()

    def list_sessions(self) -> Iterable[tuple[str, SqlSession]]:
        """Yield (window, session) for each open connection to this server.

        This connection is included in its current state.
        """
        for name, window in sorted(self.world.sessions.items()):
            session = window.session
            if session is None or session.server != self.session.server:
                continue
            if session.started_tick == self.server.started_tick:
                yield name, self.session if session.spid == self.session.spid else session


# --- permissions of the connection: of its login and of its user in a database [DOC: permissions] --------

GUEST_DATABASES: Final = frozenset({"master", "msdb", "tempdb"})
"""System databases in which the user guest can connect. [DOC: principals, guest]"""

COVERING_SERVER_PERMISSIONS: Final = {
    "VIEW SERVER STATE": ("ALTER SERVER STATE",),
    "VIEW SERVER PERFORMANCE STATE": ("VIEW SERVER STATE", "ALTER SERVER STATE"),
    "CREATE ANY DATABASE": ("ALTER ANY DATABASE",),
    "CREATE ENDPOINT": ("ALTER ANY ENDPOINT",),
    "CREATE AVAILABILITY GROUP": ("ALTER ANY AVAILABILITY GROUP",),
    "VIEW ANY DATABASE": ("ALTER ANY DATABASE",),
}
"""Server permission -> server permissions that include it. CONTROL SERVER includes all. [DOC: permissions]"""

SERVER_ROLE_PERMISSIONS: Final = {
    "securityadmin": {"ALTER ANY LOGIN"},
    "serveradmin": {"ALTER ANY ENDPOINT", "ALTER RESOURCES", "ALTER SERVER STATE", "ALTER SETTINGS", "SHUTDOWN",
                    "VIEW SERVER STATE"},
    "setupadmin": {"ALTER ANY LINKED SERVER"},
    "processadmin": {"ALTER ANY CONNECTION", "ALTER SERVER STATE", "VIEW SERVER STATE"},
    "diskadmin": {"ALTER RESOURCES"},
    "dbcreator": {"CREATE ANY DATABASE", "ALTER ANY DATABASE"},
    "bulkadmin": {"ADMINISTER BULK OPERATIONS"},
    "##ms_databaseconnector##": {"CONNECT ANY DATABASE"},
    "##ms_loginmanager##": {"CREATE LOGIN", "ALTER ANY LOGIN"},
    "##ms_databasemanager##": {"CREATE ANY DATABASE", "ALTER ANY DATABASE"},
    "##ms_serverstatemanager##": {"ALTER SERVER STATE", "VIEW SERVER STATE", "VIEW SERVER SECURITY STATE"},
    "##ms_serverstatereader##": {"VIEW SERVER STATE", "VIEW SERVER SECURITY STATE"},
    "##ms_serverperformancestatereader##": {"VIEW SERVER PERFORMANCE STATE"},
    "##ms_serversecuritystatereader##": {"VIEW SERVER SECURITY STATE"},
    "##ms_definitionreader##": {"VIEW ANY DATABASE", "VIEW ANY DEFINITION"},
    "##ms_performancedefinitionreader##": {"VIEW ANY PERFORMANCE DEFINITION"},
    "##ms_securitydefinitionreader##": {"VIEW ANY SECURITY DEFINITION"},
}  # fmt: skip
"""Fixed server role -> its permissions. [DOC: server-level roles]"""

DDL_PERMISSIONS: Final = frozenset(
    {"CREATE TABLE", "CREATE VIEW", "CREATE PROCEDURE", "CREATE FUNCTION", "CREATE SCHEMA", "ALTER",
     "ALTER ANY SCHEMA"}
)  # fmt: skip
"""Permissions of db_ddladmin."""
DATABASE_ROLE_PERMISSIONS: Final[dict[str, frozenset[str]]] = {
    "db_datareader": frozenset({"SELECT"}),
    "db_datawriter": frozenset({"INSERT", "UPDATE", "DELETE"}),
    "db_ddladmin": DDL_PERMISSIONS,
    "db_backupoperator": frozenset({"BACKUP DATABASE", "BACKUP LOG", "CHECKPOINT"}),
    "db_accessadmin": frozenset({"ALTER ANY USER", "CREATE SCHEMA"}),
    "db_securityadmin": frozenset({"ALTER ANY ROLE", "CREATE SCHEMA", "VIEW DEFINITION", "GRANT"}),
}
"""Fixed database role -> its permissions. "GRANT" is the permission to grant. [DOC: database-level roles]"""

DENIED_PERMISSIONS_BY_ROLE: Final = {
    "db_denydatareader": {"SELECT"},
    "db_denydatawriter": {"INSERT", "UPDATE", "DELETE"},
}
"""Fixed database role -> permissions that it denies."""


# --- server ----------------------------------------------------------------------------------------------


LOCAL_SYSTEM: Final = "NT AUTHORITY\\SYSTEM"
"""Login of the local system account."""


def is_server_role_member(context: StatementContext, role: str, login: str = "") -> bool:
    """Return whether a login (default: the connection's own) is a member of a server role.

    Predefined logins are members of sysadmin. Since SQL Server 2012, the local system account is not. A
    user without a login is only a member of public. [DOC: server-level roles].
    """
    name = login or context.session.login
    if name.upper() == LOCAL_SYSTEM and context.version >= 2012:
        return role == "public"
    if context.server.find_login(name) is None:
        return role == "public" or (role == "sysadmin" and (bool(login) or not context.session.user))
    return role in accounts.list_principal_roles(
        accounts.read_security(context.world, context.session.server, INSTANCE_SCOPE), name
    )


def is_sysadmin(context: StatementContext) -> bool:
    """Return whether the connection has the rights of sysadmin."""
    return not context.session.user and is_server_role_member(context, "sysadmin")


def has_server_permission(context: StatementContext, permission: str) -> bool:
    """Return whether the connection's login has a permission on the server.

    A user that EXECUTE AS USER impersonates has no server permissions.
    """
    session = context.session
    if session.user:
        return False
    if is_sysadmin(context):
        return True
    security = accounts.read_security(context.world, session.server, INSTANCE_SCOPE)
    names = {session.login.lower(), *accounts.list_principal_roles(security, session.login)}
    if any(
        g.denied and g.permission in (permission, "CONTROL SERVER") and g.grantee in names
        for g in security.grants
    ):
        return False
    sufficient = {permission, "CONTROL SERVER", *COVERING_SERVER_PERMISSIONS.get(permission, ())}
    if any(g.kind == "SERVER" and g.permission in sufficient and g.grantee in names for g in security.grants):
        return True
    return any(sufficient & allowed for role, allowed in SERVER_ROLE_PERMISSIONS.items() if role in names)


# --- databases -------------------------------------------------------------------------------------------


def find_database_user(context: StatementContext, database: str) -> str | None:
    """Return the connection's user in a database; None if there is none.

    A user that EXECUTE AS USER impersonates exists only in its own database and tempdb [DOC: EXECUTE AS].
    """
    session, name = context.session, database.lower()
    if session.user:
        if name == session.user_database.lower():
            return session.user
        if name != "tempdb":
            return None
    elif is_sysadmin(context):
        return "dbo"
    else:
        copy = context.find_copy(database)
        if copy is not None and copy.owner.lower() == session.login.lower():
            return "dbo"
        login = context.server.find_login(session.login)
        for user in commits.list_database_users(context.world, session.server, database):
            if login is not None and user.sid == login.sid:
                return user.name
    enters = name in GUEST_DATABASES or has_server_permission(context, "CONNECT ANY DATABASE")
    return "guest" if enters else None


def require_database_user(context: StatementContext, database: str) -> None:
    """Raise 916 if the connection has no user in the database."""
    if find_database_user(context, database) is None:
        name = context.session.login
        raise SqlError(916, name, context.get_spelled_name(database))


def list_database_roles(context: StatementContext, database: str, user: str) -> set[str]:
    """Return the roles of a user in a database, in lowercase."""
    return accounts.list_principal_roles(
        accounts.read_security(context.world, context.session.server, database), user
    )


def has_permission(
    context: StatementContext, database: str, permission: str, schema: str = "", key: str = ""
) -> bool:
    """Return whether the connection's user has a permission on the database, *schema* or an object.

    *schema* and *key* (key of the object) are optional. A permission on one of the three is sufficient.
    """
    if is_sysadmin(context):
        return True
    user = find_database_user(context, database)
    if user is None:
        return False
    if user == "dbo":
        return True
    security = accounts.read_security(context.world, context.session.server, database)
    names = {user.lower(), *accounts.list_principal_roles(security, user)}
    levels = {("DATABASE", ""), ("SCHEMA", schema.lower()), ("OBJECT", key)}
    grants = [g for g in security.grants if g.grantee in names and (g.kind, g.name) in levels]
    if any(g.denied and g.permission in (permission, "CONTROL") for g in grants):
        return False
    if any(permission in denied for role, denied in DENIED_PERMISSIONS_BY_ROLE.items() if role in names):
        return False
    if "db_owner" in names or any(
        has_server_permission(context, wider)
        for wider in ("CONTROL SERVER", *SERVER_WIDE_PERMISSIONS.get(permission, ()))
    ):
        return True
    if any(not g.denied and g.permission in (permission, "CONTROL") for g in grants):
        return True
    return any(permission in allowed for role, allowed in DATABASE_ROLE_PERMISSIONS.items() if role in names)


SERVER_WIDE_PERMISSIONS: Final = {
    "SELECT": ("SELECT ALL USER SECURABLES",),
    "VIEW DEFINITION": ("VIEW ANY DEFINITION",),
    "VIEW DATABASE STATE": ("VIEW SERVER STATE",),
    "VIEW DATABASE PERFORMANCE STATE": ("VIEW SERVER PERFORMANCE STATE",),
    "VIEW DATABASE SECURITY STATE": ("VIEW SERVER SECURITY STATE",),
    "ALTER": ("ALTER ANY DATABASE",),
}
"""Database permission -> server permissions that include it. [DOC: permissions]"""


def require_object_permission(
    context: StatementContext, permission: str, database: str, schema: str, name: str, key: str
) -> None:
    """Raise 229 if the connection lacks a permission on an object."""
    if not has_permission(context, database, permission, schema, key):
        raise SqlError(229, permission, name, context.get_spelled_name(database), schema)


PERMISSION_FILTERED_VIEWS: Final = (
    "sys.objects", "sys.all_objects", "sys.tables", "sys.views", "sys.procedures", "sys.columns", "sys.all_columns",
    "sys.sql_modules", "sys.indexes", "information_schema.",
)  # fmt: skip
"""Views that list only the objects on which the user has a permission [DOC: metadata visibility]."""

GROUP_VIEW_PREFIX: Final = "sys.availability_"
"""Name prefix of the views that list availability groups only for some logins.

The login needs VIEW ANY DEFINITION or ALTER ANY AVAILABILITY GROUP. [DOC: sys.availability_replicas]
"""


def can_login_see_rows(context: StatementContext, view: str) -> bool:
    """Return whether *view* shows its rows to the connection's login.

    Every login can see the databases of availability groups, as it can see all databases.
    """
    if not view.startswith(GROUP_VIEW_PREFIX) or view == "sys.availability_databases_cluster":
        return True
    rights = ("VIEW ANY DEFINITION", "ALTER ANY AVAILABILITY GROUP")
    return any(has_server_permission(context, right) for right in rights)


STATE_VIEW_PREFIXES: Final = ("sys.dm_", "sys.sysprocesses")
"""Name prefixes of the views that require VIEW SERVER STATE or VIEW DATABASE STATE."""
SESSION_ID_COLUMNS: Final = {
    "sys.dm_exec_sessions": "session_id",
    "sys.dm_exec_requests": "session_id",
    "sys.sysprocesses": "spid",
}
"""View -> its column with the session ID. Without VIEW SERVER STATE, the view shows only the user's own
session.
"""
DATABASE_STATE_VIEW_PREFIXES: Final = ("sys.dm_db_",)
"""Name prefixes of the views that require VIEW DATABASE STATE.

require_view_state excludes some of these views, which require VIEW SERVER STATE.
"""


def require_view_state(context: StatementContext, view: str) -> None:
    """Raise an error if the login may not read a dynamic management view.

    Without VIEW SERVER STATE, the error is 300. Without VIEW DATABASE STATE, the error is 262. Message 297
    follows both.
    """
    if not view.startswith(STATE_VIEW_PREFIXES) or view in SESSION_ID_COLUMNS:
        return
    modern = context.version >= 2022
    if view.startswith(DATABASE_STATE_VIEW_PREFIXES) and not view.startswith(
        ("sys.dm_db_mirroring", "sys.dm_db_missing")
    ):
        right = "VIEW DATABASE PERFORMANCE STATE" if modern else "VIEW DATABASE STATE"
        database = context.session.database
        if not (
            has_server_permission(context, "VIEW SERVER STATE") or has_permission(context, database, right)
        ):
            raise SqlError(262, right, context.get_spelled_name(database), also=(297,))
    elif not has_server_permission(context, "VIEW SERVER STATE"):
        right = "VIEW SERVER PERFORMANCE STATE" if modern else "VIEW SERVER STATE"
        raise SqlError(300, right, "server", "master", also=(297,))
