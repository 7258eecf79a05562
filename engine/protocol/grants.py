"""Permissions and roles: those of a database are in its log, those of the server stay with the instance."""

from __future__ import annotations

from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from engine.commits import USER
from engine.model import World
from engine.protocol import commits, logspace, statements

SECURITY: Final = "\0security"
"""Key of the permissions of a database among its users, and of those of an instance among its objects."""

SERVER: Final = ""
"""Name that stands for the instance instead of a database."""

GRANT_KB: Final = 1.0
"""Log of a GRANT or a change of a role. Assumed."""


class Grant(Struct, frozen=True):
    """A permission that is granted or denied; names in small letters."""

    kind: str
    """SERVER, LOGIN, DATABASE, USER, SCHEMA or OBJECT."""
    name: str
    """Securable; empty for the server or database itself."""
    permission: str
    grantee: str
    denied: bool = False


class Security(Struct, frozen=True):
    """Roles, their members and permissions of one database, or of the instance."""

    roles: tuple[str, ...] = ()
    """Roles that CREATE ROLE has made, as written."""
    members: tuple[tuple[str, str], ...] = ()
    """(role, member) in small letters."""
    grants: tuple[Grant, ...] = ()


NOTHING: Final = Security()


def read(world: World, server: str, database: str) -> Security:
    """Return roles and permissions of a database, or of the instance (SERVER)."""
    for copy in world.copies.values():
        if copy.server == server and copy.database.lower() == database.lower():
            last = commits.newest(world, copy)
            found: Security = (last.users if last is not None else {}).get(SECURITY, NOTHING)
            return found
    kept: Security = world.objects.get((server, database.lower(), SECURITY), NOTHING)
    return kept


def put(world: World, server: str, database: str, security: Security) -> None:
    """Store roles and permissions: in the log of a user database, else with the instance."""
    if database.lower() in (SERVER, *statements.SYSTEM_DATABASES):
        world.objects[server, database.lower(), SECURITY] = security
        return
    key = statements.copy_on(world, server, database).key
    logspace.write(world, key, GRANT_KB)
    commits.append(world, key, ((USER + SECURITY, security),), GRANT_KB)


def change(security: Security, verb: str, grants: tuple[Grant, ...]) -> Security:
    """GRANT or DENY replaces what the grantee had of the permission; REVOKE removes it."""
    gone = {(one.kind, one.name, one.permission, one.grantee) for one in grants}
    kept = tuple(g for g in security.grants if (g.kind, g.name, g.permission, g.grantee) not in gone)
    return replace(security, grants=kept if verb == "REVOKE" else (*kept, *grants))


def roles_of(security: Security, name: str) -> set[str]:
    """Return the roles of a principal, also through other roles; all have public."""
    found, todo = {"public"}, [name.lower()]
    while todo:
        member = todo.pop()
        new = {role for role, one in security.members if one == member} - found
        found |= new
        todo += new
    return found
