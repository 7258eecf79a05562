"""Permissions of the connection: its login, its user in a database, and what these may do [DOC: permissions]."""

from __future__ import annotations

from typing import Final, Protocol

from engine.messages import SqlError
from engine.model import DatabaseCopy, Instance, World
from engine.protocol import accounts, commits, security
from engine.protocol.accounts import SERVER
from engine.tsql.batches.data import SqlSession


class PermissionContext(Protocol):
    """The part of a connection's context that permissions depend on."""

    world: World
    session: SqlSession

    @property
    def server(self) -> Instance:
        """Instance of the connection."""

    @property
    def version(self) -> int:
        """Version of the instance."""

    def copy_named(self, database: str) -> DatabaseCopy | None:
        """Return the copy of a database on the instance."""

    def database_shown(self, name: str) -> str:
        """Return the name of a database as the instance writes it."""


GUEST_ENTERS: Final = frozenset({"master", "msdb", "tempdb"})
"""Databases in which guest may connect. [DOC: principals, guest]"""

IMPLIED: Final = {
    "VIEW SERVER STATE": ("ALTER SERVER STATE",),
    "VIEW SERVER PERFORMANCE STATE": ("VIEW SERVER STATE", "ALTER SERVER STATE"),
    "CREATE ANY DATABASE": ("ALTER ANY DATABASE",),
    "CREATE ENDPOINT": ("ALTER ANY ENDPOINT",),
    "CREATE AVAILABILITY GROUP": ("ALTER ANY AVAILABILITY GROUP",),
    "VIEW ANY DATABASE": ("ALTER ANY DATABASE",),
}
"""Permission on the server -> those that include it. CONTROL SERVER includes all. [DOC: permissions]"""

SERVER_ROLES: Final = {
    "securityadmin": {"ALTER ANY LOGIN"},
    "serveradmin": {"ALTER ANY ENDPOINT", "ALTER RESOURCES", "ALTER SERVER STATE", "ALTER SETTINGS", "SHUTDOWN",
                    "VIEW SERVER STATE"},
    "setupadmin": {"ALTER ANY LINKED SERVER"},
    "processadmin": {"ALTER ANY CONNECTION", "ALTER SERVER STATE", "VIEW SERVER STATE"},
    "diskadmin": {"ALTER RESOURCES"},
    "dbcreator": {"CREATE ANY DATABASE", "ALTER ANY DATABASE"},
    "bulkadmin": {"ADMINISTER BULK OPERATIONS"},
}  # fmt: skip
"""Permissions of the fixed server roles. [DOC: server-level roles]"""

DDL: Final = frozenset(
    {"CREATE TABLE", "CREATE VIEW", "CREATE PROCEDURE", "CREATE FUNCTION", "CREATE SCHEMA", "ALTER",
     "ALTER ANY SCHEMA"}
)  # fmt: skip
DATABASE_ROLES: Final[dict[str, frozenset[str]]] = {
    "db_datareader": frozenset({"SELECT"}),
    "db_datawriter": frozenset({"INSERT", "UPDATE", "DELETE"}),
    "db_ddladmin": DDL,
    "db_backupoperator": frozenset({"BACKUP DATABASE", "BACKUP LOG", "CHECKPOINT"}),
    "db_accessadmin": frozenset({"ALTER ANY USER", "CREATE SCHEMA"}),
    "db_securityadmin": frozenset({"ALTER ANY ROLE", "CREATE SCHEMA", "VIEW DEFINITION", "GRANT"}),
}
"""Permissions of the fixed database roles; GRANT stands for granting. [DOC: database-level roles]"""

DENIED: Final = {"db_denydatareader": {"SELECT"}, "db_denydatawriter": {"INSERT", "UPDATE", "DELETE"}}


# --- the server ------------------------------------------------------------------------------------------


def is_member(context: PermissionContext, role: str, login: str = "") -> bool:
    """Return True if the login is in a server role. Predefined logins are in sysadmin."""
    name = login or context.session.login
    if security.login_of(context.server, name) is None:
        return role in ("sysadmin", "public")
    return role in accounts.roles_of(accounts.read(context.world, context.session.server, SERVER), name)


def is_sysadmin(context: PermissionContext) -> bool:
    """Return True if nothing is denied to the connection."""
    return not context.session.user and is_member(context, "sysadmin")


def has_server_permission(context: PermissionContext, permission: str) -> bool:
    """Return True if the login has a permission on the server.

    A user impersonated by EXECUTE AS USER has none.
    """
    session = context.session
    if session.user:
        return False
    if is_sysadmin(context):
        return True
    kept = accounts.read(context.world, session.server, SERVER)
    names = {session.login.lower(), *accounts.roles_of(kept, session.login)}
    if any(
        g.denied and g.permission in (permission, "CONTROL SERVER") and g.grantee in names
        for g in kept.grants
    ):
        return False
    enough = {permission, "CONTROL SERVER", *IMPLIED.get(permission, ())}
    if any(g.kind == "SERVER" and g.permission in enough and g.grantee in names for g in kept.grants):
        return True
    return any(enough & allowed for role, allowed in SERVER_ROLES.items() if role in names)


# --- databases -------------------------------------------------------------------------------------------


def user_in(context: PermissionContext, database: str) -> str | None:
    """Return the user of the connection in a database; None if it has none there."""
    session, name = context.session, database.lower()
    if session.user:
        if name == session.user_database.lower():
            return session.user
    elif is_sysadmin(context):
        return "dbo"
    else:
        copy = context.copy_named(database)
        if copy is not None and copy.owner.lower() == session.login.lower():
            return "dbo"
        login = security.login_of(context.server, session.login)
        for user in commits.users_of(context.world, session.server, database):
            if login is not None and user.sid == login.sid:
                return user.name
    return "guest" if name in GUEST_ENTERS else None


def admit_database(context: PermissionContext, database: str) -> None:
    """Raise 916 if the connection has no user in the database."""
    if user_in(context, database) is None:
        name = context.session.login
        raise SqlError(916, name, context.database_shown(database))


def roles_in(context: PermissionContext, database: str, user: str) -> set[str]:
    """Return the roles of a user in a database."""
    return accounts.roles_of(accounts.read(context.world, context.session.server, database), user)


def has_permission(
    context: PermissionContext, database: str, permission: str, schema: str = "", key: str = ""
) -> bool:
    """Return True if the user of the connection has a permission in the database, on a schema or on an object there."""
    if is_sysadmin(context):
        return True
    user = user_in(context, database)
    if user is None:
        return False
    if user == "dbo":
        return True
    kept = accounts.read(context.world, context.session.server, database)
    names = {user.lower(), *accounts.roles_of(kept, user)}
    levels = {("DATABASE", ""), ("SCHEMA", schema.lower()), ("OBJECT", key)}
    here = [g for g in kept.grants if g.grantee in names and (g.kind, g.name) in levels]
    if any(g.denied and g.permission in (permission, "CONTROL") for g in here):
        return False
    if any(permission in denied for role, denied in DENIED.items() if role in names):
        return False
    if "db_owner" in names:
        return True
    if any(not g.denied and g.permission in (permission, "CONTROL") for g in here):
        return True
    return any(permission in allowed for role, allowed in DATABASE_ROLES.items() if role in names)


def require_permission(
    context: PermissionContext, permission: str, database: str, schema: str, name: str, key: str
) -> None:
    """Raise 229 without the permission on an object."""
    if not has_permission(context, database, permission, schema, key):
        raise SqlError(229, permission, name, context.database_shown(database), schema)


METADATA: Final = (
    "sys.objects", "sys.all_objects", "sys.tables", "sys.views", "sys.procedures", "sys.columns", "sys.all_columns",
    "sys.sql_modules", "sys.indexes", "information_schema.",
)  # fmt: skip
"""Views that show a user only what it has a permission on, which is not simulated. [DOC: metadata visibility]"""

STATE_VIEWS: Final = ("sys.dm_", "sys.sysprocesses")
OWN_ROWS: Final = {
    "sys.dm_exec_sessions": "session_id",
    "sys.dm_exec_requests": "session_id",
    "sys.sysprocesses": "spid",
}
"""Views that show one's own session without VIEW SERVER STATE."""
OF_DATABASE: Final = ("sys.dm_db_",)


def require_state(context: PermissionContext, view: str) -> None:
    """Raise 300 or 262 with 297 for a dynamic management view without VIEW SERVER STATE or VIEW DATABASE STATE."""
    if not view.startswith(STATE_VIEWS) or view in OWN_ROWS:
        return
    modern = context.version >= 2022
    if view.startswith(OF_DATABASE) and not view.startswith(("sys.dm_db_mirroring", "sys.dm_db_missing")):
        asked = "VIEW DATABASE PERFORMANCE STATE" if modern else "VIEW DATABASE STATE"
        database = context.session.database
        if not (
            has_server_permission(context, "VIEW SERVER STATE") or has_permission(context, database, asked)
        ):
            raise SqlError(262, asked, context.database_shown(database), also=(297,))
    elif not has_server_permission(context, "VIEW SERVER STATE"):
        asked = "VIEW SERVER PERFORMANCE STATE" if modern else "VIEW SERVER STATE"
        raise SqlError(300, asked, "server", "master", also=(297,))
