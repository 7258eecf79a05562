"""Transactions of a connection: BEGIN, COMMIT, ROLLBACK and SAVE, and the automatic commit of a statement.

The connection holds the changes of a transaction until COMMIT writes them into the log (objects.py). A
rollback therefore discards them. As in the product, table variables and changes of the world by commands are
not rolled back. Commands that the product would roll back are refused inside transactions (message 226).
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from engine.messages import SqlError
from engine.model import Key, World
from engine.protocol import commits, log_space
from engine.tsql.batches import locks, objects
from engine.tsql.batches.data import ObjectKey, RowChanges, SqlSession, Table, Undo
from engine.tsql.language import statements as s
from engine.tsql.query import planner
from engine.tsql.query.plans import UnsimulatedFeatureError

if TYPE_CHECKING:
    from engine.tsql.batches.machine import ExecutionMachine


def execute_transaction_statement(machine: ExecutionMachine, statement: s.TransactionStatement) -> None:
    """Execute BEGIN, COMMIT, ROLLBACK or SAVE TRANSACTION. Raises 628, 3902, 3903, 3930, 3931 or 6401."""
    _TRANSACTION_HANDLERS[statement.verb](machine, statement)
    machine.change_session(error=0, rowcount=0)
    _record_log_holders(machine)


def _begin_transaction(machine: ExecutionMachine, statement: s.TransactionStatement) -> None:
    session = machine.session
    if not session.transactions:
        machine.change_session(undo=Undo(session.tables), transaction_name=statement.name.lower())
        machine.change_session(transaction_id=machine.world.next_id(), transaction_tick=machine.world.tick)
    machine.change_session(transactions=session.transactions + 1)


def begin_implicit_transaction(machine: ExecutionMachine, statement: s.Statement) -> None:
    """Begin a transaction before a statement if SET IMPLICIT_TRANSACTIONS is ON.

    A SELECT without tables begins no transaction.
    """
    if dict(machine.session.options).get("IMPLICIT_TRANSACTIONS") != "ON":
        return
    if isinstance(statement, s.CursorStatement | s.TransactionStatement) and statement.verb not in (
        "OPEN",
        "BEGIN",
    ):
        return
    if (
        isinstance(statement, s.QueryStatement)
        and not planner.find_references("statement", statement.text).tables
    ):
        return
    _begin_transaction(machine, s.TransactionStatement("BEGIN"))


def _commit_transaction(machine: ExecutionMachine, statement: s.TransactionStatement) -> None:
    count = machine.session.transactions
    if not count:
        raise SqlError(3902)
    if machine.session.doomed:
        raise SqlError(3930)
    machine.change_session(transactions=count - 1)
    if count == 1:
        machine.change_session(undo=None, savepoints=())


def _release_locks(machine: ExecutionMachine) -> None:
    """Release the locks that end with the transaction."""
    if machine.session.held or machine.session.row_locks or machine.session.applocks:
        applocks = locks.drop_transaction_locks(machine.session.applocks)
        machine.change_session(held=(), row_locks=(), applocks=applocks)


SAVEPOINTS_MAX: Final = 1_000
"""Maximum number of savepoints in one transaction. Assumed."""


def _create_savepoint(machine: ExecutionMachine, statement: s.TransactionStatement) -> None:
    session = machine.session
    if session.undo is None:
        raise SqlError(628)
    if len(session.savepoints) >= SAVEPOINTS_MAX:
        raise UnsimulatedFeatureError(f"more than {SAVEPOINTS_MAX} savepoints of one transaction")
    point = (statement.name.lower(), Undo(session.tables, tuple(machine.context.writes.items())))
    machine.change_session(savepoints=(*session.savepoints, point))


def _roll_back_by_statement(machine: ExecutionMachine, statement: s.TransactionStatement) -> None:
    session = machine.session
    if not session.transactions:
        raise SqlError(3903)
    name = statement.name.lower()
    if name and name != session.transaction_name:
        _roll_back_to_savepoint(machine, name)
    else:
        roll_back_transaction(machine)


def _roll_back_to_savepoint(machine: ExecutionMachine, name: str) -> None:
    """Roll back to the latest savepoint with that name.

    Raise 6401 if there is none, 3931 in a doomed transaction.
    """
    session = machine.session
    indexes = [index for index, (savepoint, _) in enumerate(session.savepoints) if savepoint == name]
    if not indexes:
        raise SqlError(6401, name)
    if session.doomed:
        raise SqlError(3931)
    point = session.savepoints[indexes[-1]][1]
    machine.context.writes = dict(point.writes)
    machine.change_session(
        tables=_restore_tables(machine, point.tables), savepoints=session.savepoints[: indexes[-1] + 1]
    )


def roll_back_transaction(machine: ExecutionMachine) -> None:
    """Roll back the whole transaction at any nesting level."""
    undo = machine.session.undo
    if undo is not None:
        machine.change_session(tables=_restore_tables(machine, undo.tables))
    discarded_writes, machine.context.writes, machine.context.logs = machine.context.writes, {}, {}
    machine.change_session(transactions=0, undo=None, savepoints=(), doomed=False, writes=(), logs=())
    _release_locks(machine)
    machine.context.writes = _collect_used_identities(machine, discarded_writes)
    _record_log_holders(machine)


def _restore_tables(
    machine: ExecutionMachine, tables: tuple[tuple[str, Table], ...]
) -> tuple[tuple[str, Table], ...]:
    """Return the temp tables *tables* with their saved rows.

    Identity values that were used after the rows were saved are not used again.
    """
    current = dict(machine.session.tables)
    return tuple(
        (name, replace(table, next_identity=current[name].next_identity))
        if name in current and current[name].columns == table.columns
        else (name, table)
        for name, table in tables
    )


def _collect_used_identities(
    machine: ExecutionMachine, edits: dict[ObjectKey, object]
) -> dict[ObjectKey, object]:
    """Return edits that keep the used identity values of a transaction when it is rolled back.

    These identity values are not used again [DOC: IDENTITY property, Remarks].
    """
    used_identities: dict[ObjectKey, object] = {}
    for object_key, edit in edits.items():
        stored_object = objects.read_object(machine.context, object_key, include_other_sessions=False)
        table = stored_object.item if stored_object is not None else None
        if (
            isinstance(edit, RowChanges)
            and isinstance(table, Table)
            and table.next_identity != edit.next_identity
        ):
            used_identities[object_key] = RowChanges(
                (), edit.next_identity, table.next_id, edit.identity_cache
            )
    return used_identities


def _record_log_holders(machine: ExecutionMachine) -> None:
    """Record the open transactions on this server immediately, for DBCC OPENTRAN."""
    own_session = machine.session
    other_sessions = [
        session for _, session in machine.context.list_sessions() if session.spid != own_session.spid
    ]
    record_log_holders(machine.world, [*other_sessions, own_session], {own_session.server})


def record_log_holders(world: World, sessions: list[SqlSession], servers: Collection[str]) -> None:
    """Record the open transactions of *sessions*. They prevent log truncation on *servers*."""
    holders: dict[Key, list[int]] = {}
    for session in sessions:
        keys = {key for key, _, _ in session.logs}
        if session.transactions:
            keys.add((session.server, session.database))
        for key in sorted(keys):
            holders.setdefault(key, []).append(session.spid)
    copies = world.copies.items() if world.windows_held_log else ()
    known_keys = [key for key, copy in copies if copy.window_transactions and key[0] in servers]
    for key in sorted({*holders, *known_keys}):
        log_space.record_window_transactions(world, *key, tuple(holders.get(key, ())))


# --- commits in the log -----------------------------------------------------------------------------------


def commit_statement(machine: ExecutionMachine, message_index: int | None = None) -> None:
    """Store the changes of a statement in the session. Outside a transaction, commit them.

    The client waits until the log of the commit is hardened. Until then, the row counts since message
    *message_index* are withheld.
    """
    context, session = machine.context, machine.session
    writes = tuple(context.writes.items())
    if writes != session.writes or context.logs:
        logs = tuple((key, begin_kb, kb) for key, (begin_kb, kb) in context.logs.items())
        earlier_writes = dict(session.writes)
        machine.change_session(writes=writes, logs=logs)
        for object_key, edit in writes:
            if isinstance(edit, RowChanges):
                earlier_edit = earlier_writes.get(object_key)
                earlier_count = len(earlier_edit.rows) if isinstance(earlier_edit, RowChanges) else 0
                locks.escalate_locks(machine, object_key, locks.EXCLUSIVE, len(edit.rows) - earlier_count)
    if not machine.session.transactions and not machine.run.waiting:
        if writes:
            _write_commit(machine)
            if machine.run.waiting and message_index is not None:
                machine.withhold_row_counts(message_index)
        else:
            _release_locks(machine)


def _write_commit(machine: ExecutionMachine) -> None:
    """Write the changes of the transaction into the log of their database.

    Changes in a system database take effect immediately. The commit waits if another copy has become
    the writer of the log, but this server does not know this yet.
    """
    world, context = machine.world, machine.context
    copies = {write[1]: context.find_copy(write[1]) for write in context.writes}
    if any(copy is not None and copy.source is None for copy in copies.values()):
        machine.schedule_check("log")
        return
    edits: dict[Key, list[tuple[str, object]]] = {}
    for (server, database, name), edit in context.writes.items():
        copy = copies[database]
        if copy is not None:
            edits.setdefault((server, copy.database), []).append((name, edit))
        else:
            objects.store_in_system_database(world, (server, database, name), edit)
    waits = tuple(
        (key, commits.append_commit(world, key, tuple(new_edit), context.logs.get(key, (0.0, 0.0))[1]))
        for key, new_edit in edits.items()
    )
    machine.change_session(committing=waits)
    if (
        not machine.session.spid
    ):  # no session ID: a session of a linked server, for which the caller cannot wait
        _finish_transaction(machine)
    else:
        wait_for_log(machine)


def wait_for_log(machine: ExecutionMachine) -> None:
    """End the transaction if the client can receive the acknowledgment of all its commits; else wait.

    Under SAFETY FULL, the mirror must also have hardened the log.
    """
    if can_acknowledge_commits(machine.world, machine.session):
        _finish_transaction(machine)
    else:
        machine.schedule_check("commit")


def can_acknowledge_commits(world: World, session: SqlSession) -> bool:
    """Return whether the server can acknowledge all commits of the session."""
    return all(commits.can_acknowledge(world, key, kb) for key, kb in session.committing)


def _finish_transaction(machine: ExecutionMachine) -> None:
    """Clear the changes and locks of a transaction whose commits are acknowledged."""
    machine.context.writes, machine.context.logs = {}, {}
    machine.run = replace(machine.run, since_tick=None)
    machine.append_row_counts()
    machine.change_session(writes=(), logs=(), committing=())
    _release_locks(machine)


def discard_transaction(session: SqlSession) -> SqlSession:
    """Return the session without its transaction if its batch was stopped during a commit.

    Without a commit in progress, return the session unchanged. A commit that is already in the log
    remains. A commit that still waits for a writable log is rolled back.
    """
    waits = session.committing or (session.writes and not session.transactions)
    if not waits:
        return session
    applocks = locks.drop_transaction_locks(session.applocks)
    return replace(session, writes=(), logs=(), held=(), row_locks=(), committing=(), applocks=applocks)


_TRANSACTION_HANDLERS: Final[dict[str, Callable[[ExecutionMachine, s.TransactionStatement], None]]] = {
    "BEGIN": _begin_transaction,
    "COMMIT": _commit_transaction,
    "ROLLBACK": _roll_back_by_statement,
    "SAVE": _create_savepoint,
}
"""Verb of a transaction statement -> function that executes it."""
