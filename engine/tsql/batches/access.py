"""Access modes of a database: SINGLE_USER, RESTRICTED_USER and MULTI_USER [DOC: ALTER DATABASE SET options].

A database in single-user mode admits one session, which need not be the session that set the mode. When that
session leaves, the next session that enters takes its place.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from engine.messages import Message, SqlError, fill_message
from engine.model import World
from engine.protocol import connections
from engine.tsql.batches import ledger, locks
from engine.tsql.batches.context import Context
from engine.tsql.batches.data import SqlSession

if TYPE_CHECKING:
    from engine.tsql.batches.machine import Machine

MODES: Final = ("MULTI_USER", "SINGLE_USER", "RESTRICTED_USER")
"""user_access_desc by user_access. Documented [DOC: sys.databases]."""


def mode_of(world: World, server: str, database: str) -> str:
    """The mode of a database on its server."""
    row = ledger.find(world, server, "user access", "name", database)
    return MODES[0] if row is None else str(row["mode"])


def forget(world: World, server: str, database: str) -> None:
    """The database is gone: one of its name begins as MULTI_USER."""
    ledger.remove(world, server, "user access", lambda row: str(row["name"]).lower() == database.lower())


def _list_other_sessions(context: Context, database: str) -> Iterator[tuple[str, SqlSession]]:
    """The other windows whose connection is in the database."""
    for name, session in context.sessions():
        if session.spid != context.session.spid and session.database.lower() == database.lower():
            yield name, session


def admit(context: Context, database: str) -> None:
    """Raises 924 for a database in single-user mode that has its user already."""
    if mode_of(context.world, context.session.server, database) != "SINGLE_USER":
        return
    if any(True for _ in _list_other_sessions(context, database)):
        raise SqlError(924, database)


def set_mode(machine: Machine, database: str, mode: str, termination: str) -> list[Message]:
    """ALTER DATABASE … SET mode WITH termination. Without one it waits until the others have left (Blocked).

    5064 in single-user mode while another is in, 5070 for NO_WAIT.
    """
    context, world, server = machine.context, machine.world, machine.session.server
    now = mode_of(world, server, database)
    others = list(_list_other_sessions(context, database))
    if now == "SINGLE_USER" and others:
        raise SqlError(5064, database, also=(5069,))
    messages: list[Message] = []
    if mode == "SINGLE_USER" and others:
        if termination.startswith("NO_WAIT"):
            raise SqlError(5070, database, also=(5069,))
        if not termination:
            spids = tuple(session.spid for _, session in others)
            raise locks.LockConflictError(spids, (server, database.lower(), ""), locks.EXCLUSIVE)
        for name, session in others:
            world.call_at(world.tick, "tsql.kill", name, server, session.spid)
        messages += [Message(5060, 10, 1, 0, fill_message(5060, done)[1]) for done in (0, 100)]
    forget(world, server, database)
    if mode != MODES[0]:
        ledger.add(world, server, "user access", name=database, mode=mode)
        if any(one.database == database for one in connections.on_server(world, server)):
            machine.remark(f"{mode} for applications: those that are in {database} stay in it")
    return messages
