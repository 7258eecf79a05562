"""Statements about whole databases: name resolution, results, USE, SHUTDOWN, RESTORE … WITH RECOVERY.

Each function receives the server on which the statement runs and answers from that server's knowledge. It
raises SqlError with SQL Server's number, or returns a list of messages (mostly empty) or a PendingStatement.
"""

from collections.abc import Callable
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from engine.constants import RESTORE_RECOVERY_LOG_KB
from engine.localization import build_message
from engine.messages import Message, SqlError, fill_message
from engine.model import DatabaseCopy, DbState, Fault, Key, World, to_ticks
from engine.protocol import (
    commits,
    errorlog,
    group_policies,
    lineage,
    loss_causes,
    network,
    service,
    serving,
    snapshots,
    streams,
)


class PendingStatement(Struct, frozen=True):
    """Statement that runs until *tick*. Then COMPLETION_HANDLERS[handler](world, server, *args) returns its result."""

    tick: int
    handler: str
    args: tuple[object, ...] = ()


Outcome = list[Message] | PendingStatement
COMPLETION_HANDLERS: Final[dict[str, Callable[..., Outcome]]] = {}
ABANDON_HANDLERS: Final[dict[str, Callable[..., None]]] = {}
"""Handlers that run if the batch of a pending statement is canceled or its connection breaks."""


def abandon_statement(world: World, server: str, handler: str, args: tuple[object, ...]) -> None:
    """Abandon a pending statement and undo its work as far as SQL Server does.

    *handler* and *args* are those of the PendingStatement.
    """
    if handler in ABANDON_HANDLERS:
        ABANDON_HANDLERS[handler](world, server, *args)


PEER_CHECK_INTERVAL_S: Final = 0.1
"""Interval at which a waiting statement checks whether silent servers answer. Our choice."""

Statement = Callable[..., Outcome]
FindPeers = Callable[[World, DatabaseCopy], tuple[int, tuple[str, ...]]]
"""Function that returns the session or group of a copy, and the servers that a statement must notify."""


def wait_for_peers(name: str, find_peers: FindPeers) -> Callable[[Statement], Statement]:
    """Build a decorator for a statement that must notify the other servers of a session or group.

    *name*: name of the statement. *find_peers*: function that returns the session or group and these
    servers.

    The statement waits while one of these servers is connected but silent. When the silent server is
    detected as lost, the statement continues without it. Derived: a server that receives no message
    does not change its state.
    """
    handler = f"exchange.{name}"

    def decorate(statement: Statement) -> Statement:
        def run(world: World, server: str, database: str, *args: object) -> Outcome:
            copies_found = (
                c for k, c in world.copies.items() if k[0] == server and k[1].lower() == database.lower()
            )
            copy = next(copies_found, None)
            guid, peers = find_peers(world, copy) if copy is not None else (0, ())
            if any(network.is_silent(world, guid, server, peer) for peer in peers):
                return PendingStatement(
                    world.tick + to_ticks(PEER_CHECK_INTERVAL_S), handler, (database, *args)
                )
            return statement(world, server, database, *args)

        COMPLETION_HANDLERS[handler] = run
        return run

    return decorate


def require_copy(world: World, server: str, database: str) -> DatabaseCopy:
    """Return the copy of *database* on *server*. Case does not matter.

    Raise 5011 if it does not exist, 5093 for a snapshot.
    """
    snapshots.reject_snapshot_change(world, server, database)
    for (server_name, name), copy in world.copies.items():
        if server_name == server and name.lower() == database.lower():
            return copy
    raise SqlError(5011, database, also=(5069,))


SYSTEM_DATABASES: Final = ("master", "msdb", "model", "tempdb")


# --- RESTORE, SHUTDOWN, USE, other options ---------------------------------------------------------


def restore_without_backup(
    world: World, server: str, database: str, *, recovery: bool = True, standby: bool = False
) -> Outcome:
    """Open a RESTORING copy outside any session, or change its standby mode (RESTORE without FROM).

    [DOC: RESTORE DATABASE]
    """
    copy = next(
        (c for k, c in world.copies.items() if k[0] == server and k[1].lower() == database.lower()), None
    )
    if copy is None:
        raise SqlError(3118, database, also=(3013,))
    if copy.db_state is DbState.ONLINE:
        raise SqlError(3153, also=(3013,))
    if copy.db_state is not DbState.RESTORING or copy.restoring:
        raise SqlError(3117, also=(3013,))
    return PendingStatement(world.tick + 150, "restore.recovered", (copy.database, recovery, standby))


def _complete_recovery(world: World, server: str, database: str, recovery: bool, standby: bool) -> Outcome:
    copy = world.copies.get((server, database))
    if copy is None:  # the database was dropped during the recovery
        raise SqlError(3118, database, also=(3013,))
    if copy.group_kind or copy.db_state is not DbState.RESTORING:
        raise SqlError(3104, database, also=(3013,))
    if recovery:
        open_restored(world, (server, database))
    else:
        world.update_copy((server, database), standby=standby)
    text = "RESTORE DATABASE successfully processed 0 pages in 1.500 seconds (0.000 MB/sec)."
    return [Message(3014, 0, 1, 0, text)]


def build_information(number: int, *arguments: object) -> Message:
    """Return message *number* as an informational message."""
    return Message(number, 0, 1, 0, fill_message(number, *arguments)[1])


def open_restored(world: World, key: Key) -> None:
    """Recover and open a restoring copy. A new branch of its log starts at the end of the restored log."""
    copy = world.copies[key]
    end = copy.end_of_log_kb
    _record_recovery_loss(world, copy)
    world.update_copy(
        key,
        db_state=DbState.ONLINE,
        fork=world.next_id(),
        lineage=lineage.build_branch_lineage(world, copy.lineage, end),
        log_start_kb=end,
        last_log_backup_kb=end,
        was_mirror=False,
        standby=False,
        written_off_kb=end + RESTORE_RECOVERY_LOG_KB,  # log of the recovery, which contains no transactions
    )
    world.update_mirroring(key, partner=None, partner_address=None, failover_lsn_kb=end)  # fmt: skip
    world.flow.add_log_kb(streams.add_source(world, key, end), RESTORE_RECOVERY_LOG_KB)
    errorlog.write_message(world, key[0], 17137, key[1])
    errorlog.write_message(world, key[0], 3421, key[1], copy.database_id, 1, 0, 0, 0)


COMPLETION_HANDLERS["restore.recovered"] = _complete_recovery


def _record_recovery_loss(world: World, copy: DatabaseCopy) -> None:
    """Record the loss of the commits that other copies have but this recovered copy lacks.

    Do nothing while another copy is accessible.
    """
    other_copies = [
        c for c in world.list_copies_of(copy.database) if c.server != copy.server and c.family == copy.family
    ]
    if any(serving.is_accessible(world, other_copy.key) for other_copy in other_copies):
        return
    richest = max(
        other_copies, key=lambda source_copy: streams.get_committed_kb(world, source_copy), default=None
    )
    committed_kb = streams.get_committed_kb(world, richest) if richest is not None else 0.0
    count = (
        commits.count_transactions(world, richest, copy.end_of_log_kb, committed_kb)
        if richest is not None
        else 0
    )
    if count:
        commits.record_lost_commits(
            world, copy.database, copy.server, count, committed_kb - copy.end_of_log_kb, commits.THIS_COPY
        )
        for other_copy in other_copies:
            world.update_copy(other_copy.key, written_off_kb=streams.get_committed_kb(world, other_copy))


def shut_down_instance(world: World, server: str, nowait: bool, login: str) -> Outcome:
    """Stop the instance (SHUTDOWN [WITH NOWAIT]). The connection that requested this ends, too."""
    cause = "shutdown-nowait" if nowait else "shutdown"
    fault = Fault(
        id=world.next_id(), verb=cause, args=(server,), asked_tick=world.tick, active_tick=world.tick
    )
    world.faults.append(
        replace(fault, effective_tick=world.tick, effect=build_message("the instance is stopping"))
    )
    request_text = "NOWAIT request" if nowait else "request"
    service.begin_service_stop(
        world, server, loss_causes.FAILOVER_CAUSE_BY_FAULT[cause], lines=((6006, (request_text, login)),)
    )
    return []


def check_database_access(world: World, server: str, database: str, read_intent: bool = False) -> Outcome:
    """Check that a connection can use a database, for a USE statement or a login.

    Raise an error if the server refuses clients in the database.

    *read_intent*: the connection has ApplicationIntent=ReadOnly.
    """
    if database.lower() in ("master", "msdb", "tempdb", "model"):
        return []
    picture = world.instances[server].find_snapshot(database)
    if picture is not None:
        snapshots.check_source_files(world, server, picture)
        return []
    try:
        copy = require_copy(world, server, database)
    except SqlError:
        raise SqlError(911, database) from None
    refused = group_policies.get_policy(copy).find_refusal(copy, read_intent)
    if refused is not None:
        raise refused
    if copy.standby and copy.db_state is DbState.RESTORING and not copy.restoring:
        return []
    refusals = {DbState.RESTORING: 927, DbState.RECOVERING: 922, DbState.OFFLINE: 942}
    if copy.db_state in refusals:
        raise SqlError(refusals[copy.db_state], copy.database)
    return []
