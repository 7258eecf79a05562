"""Execution of work on a linked server: EXEC … AT, procedures with four-part names, OPENQUERY.

The work runs immediately. A remote statement that must wait (a failover, a restore) continues in the
background. The caller gets a message and does not wait.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.messages import SqlError
from engine.protocol import network
from engine.tsql.batches import stored_tables
from engine.tsql.batches.context import StatementContext
from engine.tsql.batches.data import ConnectionLostError, ResultSet, SqlSession, Submission, merge_in_order
from engine.tsql.batches.work import WorkMeter
from engine.tsql.query.plans import UnsimulatedFeatureError

if TYPE_CHECKING:
    from engine.tsql.batches.machine import ExecutionMachine


def require_linked_server(machine: ExecutionMachine, name: str) -> str:
    """Return the linked server in the world's spelling.

    Raise 7202 if the server is not linked, 7303 if it is unreachable.
    """
    instance = machine.world.instances[machine.session.server]
    names = (instance.name, *instance.linked_servers)
    linked = next((known_name for known_name in names if known_name.lower() == name.lower()), None)
    if linked is None:
        raise SqlError(7202, name)
    server_name = linked.partition("\\")[0].lower()
    server = next(
        (s for known_name, s in machine.world.instances.items() if known_name.lower() == server_name), None
    )
    if (
        server is None
        or not server.answering
        or not network.can_exchange_packets(machine.world, instance.name, server.name)
    ):
        raise SqlError(7303, "SQLNCLI", linked)
    return server.name


def build_remote_context(machine: ExecutionMachine, name: str) -> StatementContext:
    """Return a statement context for a session on the linked server *name*."""
    return StatementContext(machine.world, _build_session(machine, require_linked_server(machine, name)))


def _build_session(machine: ExecutionMachine, server: str) -> SqlSession:
    """Return a session on the linked server *server* with the caller's login."""
    instance = machine.world.instances[server]
    login = machine.session.login
    return SqlSession(server=server, spid=0, login=login, started_tick=instance.started_tick)


def execute_remotely(machine: ExecutionMachine, name: str, text: str) -> None:
    """Run *text* on a linked server. Return its messages and result sets to the caller's client.

    Raise 7411 if RPC OUT is off.
    """
    server = require_linked_server(machine, name)
    if server != machine.session.server and not _is_rpc_out_enabled(machine, name):
        raise SqlError(7411, name, "RPC")
    run = Submission(id=0, text=text, steps=())
    meter = WorkMeter(max(1, machine.meter.statement_limit - machine.meter.spent))
    meter.nesting = machine.meter.nesting
    remote = machine.create_sibling_machine(run, _build_session(machine, server), meter)
    remote.begin_batch(text)
    try:
        meter.enter_view()
        is_done = _run_remote_batch(remote, name)
    finally:
        machine.meter.count_units(meter.spent)
    for part in merge_in_order(remote.messages, remote.results):
        if isinstance(part, ResultSet):
            machine.add_result(part.columns, part.rows)
        elif not (machine.insert_exec_target and not part.number and part.text.endswith("affected)")):
            machine.append_message(part.text, part.number, part.severity, part.state, part.line)
    errors = [message for message in remote.messages if message.is_error]
    machine.change_session(error=errors[-1].number if errors else 0, rowcount=remote.session.rowcount)
    if not is_done:
        commands_wait = remote.run.pending is not None
        raise UnsimulatedFeatureError(
            "waiting for a linked server; the statement goes on there"
            if commands_wait
            else "waiting for a linked server; the rest of the text is not run there"
        )


def _run_remote_batch(remote: ExecutionMachine, name: str) -> bool:
    """Run the remote batch. Return True if it has ended, False if it waits.

    Raise 7303 if the connection breaks, for example because the batch executes SHUTDOWN.
    """
    try:
        return remote.run_until_wait()
    except ConnectionLostError:
        raise SqlError(7303, "SQLNCLI", name) from None


def _is_rpc_out_enabled(machine: ExecutionMachine, name: str) -> bool:
    stored_row = stored_tables.SERVER_OPTIONS.find_row(machine.world, machine.session.server, "server", name)
    return stored_row is not None and bool(stored_row.get("rpc out"))
