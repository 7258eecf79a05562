"""Access modes of a database: SINGLE_USER, RESTRICTED_USER and MULTI_USER [DOC: ALTER DATABASE SET options].

A database in single-user mode admits one session, not necessarily the session that set the mode. When that
session leaves, the next session that enters takes its place.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from engine.constants import TICKS_PER_S
from engine.messages import Message, SqlError, fill_message
from engine.model import World
from engine.protocol import clients, connections, statements
from engine.tsql.batches import locks, stored_tables
from engine.tsql.batches.context import (
    StatementContext,
    find_database_user,
    is_server_role_member,
    is_sysadmin,
    list_database_roles,
)
from engine.tsql.batches.data import SqlSession

if TYPE_CHECKING:
    from engine.tsql.batches.machine import ExecutionMachine

ACCESS_MODE_NAMES: Final = ("MULTI_USER", "SINGLE_USER", "RESTRICTED_USER")
"""Access modes by number: sys.databases.user_access_desc for user_access 0, 1 and 2. Documented [DOC:
sys.databases].
"""


def get_access_mode(world: World, server: str, database: str) -> str:
    """Return the access mode of a database on *server*: an element of ACCESS_MODE_NAMES."""
    row = stored_tables.ACCESS_MODES.find_row(world, server, "name", database)
    return ACCESS_MODE_NAMES[0] if row is None else str(row["mode"])


def remove_access_mode(world: World, server: str, database: str) -> None:
    """Remove the stored mode of a database, which is then MULTI_USER.

    A new database with the name of a dropped database therefore does not inherit its mode.
    """
    stored_tables.ACCESS_MODES.remove_rows(
        world, server, lambda row: str(row["name"]).lower() == database.lower()
    )


def _list_other_sessions(context: StatementContext, database: str) -> Iterator[tuple[str, SqlSession]]:
    """Yield (window, session) for each other connection that uses the database."""
    for name, session in context.list_sessions():
        if session.spid != context.session.spid and session.database.lower() == database.lower():
            yield name, session


def check_access_mode(context: StatementContext, database: str) -> None:
    """Raise an error if the access mode of the database does not admit the session.

    924: another session uses the database in single-user mode. 923: restricted mode does not admit the
    user.
    """
    if is_single_user_taken(context, database):
        raise SqlError(924, database)
    if get_access_mode(context.world, context.session.server, database) == "RESTRICTED_USER":
        user = find_database_user(context, database) or ""
        is_admitted = is_sysadmin(context) or user == "dbo" or is_server_role_member(context, "dbcreator")
        if not is_admitted and "db_owner" not in list_database_roles(context, database, user):
            raise SqlError(923, context.get_spelled_name(database))


def is_single_user_taken(context: StatementContext, database: str) -> bool:
    """Return whether the database is in single-user mode and another connection already uses it."""
    is_single_user = get_access_mode(context.world, context.session.server, database) == "SINGLE_USER"
    return is_single_user and any(True for _ in _list_other_sessions(context, database))


EXCLUSIVE_OPTIONS: Final = frozenset({"OFFLINE", "EMERGENCY", "READ_ONLY", "READ_WRITE"})
"""Options for which ALTER DATABASE waits until no other connection uses the database.

[DOC: ALTER DATABASE SET options]
"""


def _wait_for_other_sessions(
    machine: ExecutionMachine, database: str, termination: str, spids: tuple[int, ...]
) -> None:
    """Make the statement wait until the other sessions have left or may be ended.

    *termination*: WITH clause of the statement. ROLLBACK IMMEDIATE ends the wait at once, ROLLBACK AFTER n
    after n seconds. NO_WAIT raises 5070. Without the clause, the wait has no limit. *spids*: IDs of the
    other sessions.
    """
    words = termination.split()
    if words[:1] == ["NO_WAIT"]:
        raise SqlError(5070, database, also=(5069,))
    since_tick = machine.run.since_tick
    waited = 0 if since_tick is None else machine.world.tick - since_tick
    after_s = next((int(word) for word in words if word.isdigit()), 0)
    if not words or waited < after_s * TICKS_PER_S:
        object_key = (machine.session.server, database.lower(), "")
        raise locks.LockConflictError(spids, object_key, locks.EXCLUSIVE)


def end_other_window_connections(machine: ExecutionMachine, database: str, termination: str) -> list[Message]:
    """End the connections of other query windows to the database, or wait until they leave.

    *termination*: WITH clause of the statement; it decides whether to end connections or to wait.
    """
    context, server = machine.context, machine.session.server
    other_sessions = list(_list_other_sessions(context, database))
    if not other_sessions:
        return []
    _wait_for_other_sessions(
        machine, database, termination, tuple(session.spid for _, session in other_sessions)
    )
    for name, session in other_sessions:
        context.world.call_at(context.world.tick, "tsql.kill", name, server, session.spid)
    return [Message(5060, 10, 1, 0, fill_message(5060, percent)[1]) for percent in (0, 100)]


def build_delayed_report(world: World, messages: list[Message]) -> statements.PendingStatement:
    """Return a pending statement that reports *messages* one tick later.

    By then, the sessions that the statement has ended are gone. The next statement of the batch can use the
    database.
    """
    return statements.PendingStatement(world.tick + 1, "sessions.ended", tuple(messages))


statements.COMPLETION_HANDLERS["sessions.ended"] = lambda world, server, *messages: list(messages)


def end_other_connections(machine: ExecutionMachine, database: str, termination: str) -> list[Message]:
    """End the connections of other windows and of applications to the database, or wait until they leave.

    *termination*: WITH clause of the statement; it decides whether to end connections or to wait.
    """
    world, server = machine.world, machine.session.server
    spids = tuple(
        connection.spid
        for connection in connections.list_connections(world, server)
        if connection.database == database
    )
    if spids:
        _wait_for_other_sessions(machine, database, termination, spids)
    messages = end_other_window_connections(machine, database, termination)
    for client in [*world.clients.values()] if spids else []:
        if client.connected_to == server and database in client.databases:
            clients.end_connections(world, client)
    return messages


def set_access_mode(machine: ExecutionMachine, database: str, mode: str, termination: str) -> list[Message]:
    """Execute ALTER DATABASE … SET *mode* WITH *termination*.

    Without a termination clause, SINGLE_USER waits for other sessions. With NO_WAIT, it raises 5070 if
    there are other sessions. If the database is in single-user mode and another connection uses it,
    statement_gate.py has already refused the statement.
    """
    world, server = machine.world, machine.session.server
    messages = end_other_window_connections(machine, database, termination) if mode == "SINGLE_USER" else []
    remove_access_mode(world, server, database)
    if mode != ACCESS_MODE_NAMES[0]:
        stored_tables.ACCESS_MODES.add_row(world, server, {"name": database, "mode": mode})
        if any(connection.database == database for connection in connections.list_connections(world, server)):
            machine.report_partly_simulated(
                f"{mode} for applications: those that are in {database} stay in it"
            )
    return messages
