"""Client applications: open connections, their loss, and the search for a server that accepts them."""

from typing import Final, Literal

from msgspec.structs import replace

from engine.constants import (
    CLIENT_BACKOFF_S,
    CLIENT_PAUSE_S,
    TICKS_PER_S,
)
from engine.events import ClientData, NoteData
from engine.flow.setup import Operation
from engine.localization import build_message, mark
from engine.messages import SqlError, fill_message
from engine.model import Client, Key, Query, RecoveryModel, Service, TimerName, World, to_ticks
from engine.protocol import accounts, drivers, errorlog, group_policies, name_resolution, network, serving

LOGIN_REFUSAL_REASONS: Final = {
    18456: "Could not find a login matching the name provided.",
    4060: "Failed to open the explicitly specified database.",
    982: "Failed to open the explicitly specified database.",
}
"""Error number that the client receives -> reason in the ERRORLOG line of 18456 (since 2008). Seen in public
logs.
"""

LoginAnswer = Literal["serves", "refused", "silence"]


def resolve_client_login(world: World, client: Client, name: str) -> tuple[str | None, SqlError | None]:
    """Return the result of `resolve_login` for *client* if it connects to *name*."""
    return resolve_login(world, name, client.databases[0], client.read_only)


def resolve_login(
    world: World, name: str, database: str, read_intent: bool
) -> tuple[str | None, SqlError | None]:
    """Return (server, error) for a login to *name*, which is a server or a listener.

    The server is None if the listener is offline. The error is None unless the server refuses the login.

    A listener redirects a login with read intent by the routing list, or refuses it with 982 [DOC: read-only
    routing]. A secondary redirects other logins to the primary if it has a READ_WRITE_ROUTING_URL [DOC:
    read/write connection redirection].
    """
    listens = name in world.listeners
    server = world.listeners[name] if listens else name
    copy = world.copies.get((server or "", database))
    if copy is None or (read_intent and not listens):
        return server, None
    try:
        return group_policies.get_policy(copy).find_route(world, copy, read_intent) or server, None
    except SqlError as refusal:
        return server, refusal


def count_listener_login(world: World, name: str, database: str, read_intent: bool) -> None:
    """Count a login through the listener *name*.

    The next login with read intent then uses the next server of the routing list.
    """
    copy = world.copies.get((world.listeners.get(name) or "", database))
    if copy is not None and read_intent:
        group_policies.get_policy(copy).count_routed_login(world, copy)


def get_client_address(world: World, name: str) -> str:
    """Return the IP address of the application's computer. Assumed: it is in the network of the servers."""
    return f"10.0.0.{101 + sorted(world.clients).index(name)}"


def attempt_login(world: World, client: Client, server: str) -> LoginAnswer:
    """Return the server's answer to a login of *client*, or to a request in an open connection."""
    state = world.instances.get(server)
    if (
        state is None
        or not world.computers[state.computer].powered
        or state.hung
        or not network.can_exchange_packets(world, client.name, server)
    ):
        return "silence"
    if state.service is not Service.RUNNING or not state.tcp_listening:
        return "refused"
    for key in [(server, database) for database in client.databases]:
        if key not in world.copies:
            return "refused"
        if not (serving.can_read(world, key) if client.read_only else serving.is_accessible(world, key)):
            return "refused"
    return "serves"


def disconnect_refused_clients(world: World) -> None:
    """Begin to disconnect the clients whose server is lost or refuses them.

    A client notices a refusal immediately. It notices a silent server when its driver or the network reports
    it.
    """
    for client in list(world.clients.values()):
        if client.connected_to is None or client.lost_since is not None:
            continue
        server_answer = attempt_login(world, client, client.connected_to)
        if server_answer == "serves":
            continue
        silent = server_answer == "silence"
        hung = silent and world.instances[client.connected_to].hung
        delay = drivers.compute_notice_delay_s(world, client, hung) if silent else 0.0
        if delay is None:
            continue
        world.clients[client.name] = replace(client, lost_since=world.tick, epoch=client.epoch + 1)
        world.call_after(delay, "client.cut", client.name, client.epoch + 1)
        world.mark_all_logs_changed()


def break_connections(world: World, name: str, epoch: int) -> None:
    """Break the connections of an application that now notices the loss of its server (timer handler).

    If the server has returned before, the connections remain.
    """
    client = world.clients[name]
    if client.epoch != epoch or client.connected_to is None:
        return
    if attempt_login(world, client, client.connected_to) == "serves":
        # the server returned before the client noticed the loss
        world.clients[name] = replace(client, lost_since=None)
        return
    end_connections(world, client)


def end_connections(world: World, client: Client) -> None:
    """End all connections of an application. An application with retry logic reconnects."""
    name, server, epoch = client.name, client.connected_to or "", client.epoch
    world.clients[name] = replace(
        client,
        connected_to=None,
        query=None,
        attempt=0,
        login_since=world.tick,
        cut_connections=client.cut_connections + 1,
        epoch=epoch + 1,
    )
    text = build_message("{client} lost its connections to {server}", client=name, server=server)
    world.emit(ClientData(client=name, what="cut"), text, server=server)
    world.mark_all_logs_changed()
    if client.reconnects:
        world.call_after(0.0, "client.try", name, epoch + 1)
    else:
        _stop_without_retry(world, client)


def _stop_without_retry(world: World, client: Client) -> None:
    """Stop an application that has no retry logic, and emit an event.

    The application stays stopped until someone restarts it.
    """
    text = build_message("{client} does not reconnect: it has no retry logic", client=client.name)
    world.emit(ClientData(client=client.name, what="gave up"), text)


def try_next_login(world: World, name: str, epoch: int) -> None:
    """Attempt the next login of the current round (timer handler).

    The order is initial server, partner, initial server, and so on [DOC: retry algorithm].
    """
    client = world.clients[name]
    if client.epoch != epoch or client.connected_to is not None:
        return
    if client.attempt == 0 and _delay_login_at_dead_address(world, client):
        return
    client = world.clients[name]
    partners = [client.data_source, drivers.get_second_server_name(client)]
    name_used = partners[client.attempt % 2]
    server, refusal = (
        resolve_client_login(world, client, name_used)
        if name_resolution.knows_online_address(world, client, name_used)
        else (None, None)
    )
    server_answer = attempt_login(world, client, server) if server is not None else "silence"
    if server is not None and server not in world.instances:
        server_answer = "refused"  # no DNS server knows this name; the error is immediate
    if server is not None and server_answer == "serves" and refusal is None:
        refusal = accounts.find_login_refusal(world, client, server)
    if server is not None and server_answer == "serves" and refusal is None:
        copy = world.copies[server, client.databases[0]]
        if drivers.refuses_partner(client, group_policies.get_policy(copy).get_partner(copy)):
            _abort_login(world, client, server, MULTI_SUBNET_ERROR)
        elif name_used != client.data_source and _has_no_partner(world, client, server):
            _abort_login(world, client, server, NOT_MIRRORED)
        else:
            count_listener_login(world, name_used, client.databases[0], client.read_only)
            _complete_connection(world, client, server, name_used)
        return
    if refusal is not None and server is not None:
        server_answer = "refused"
        if client.attempt < 2:
            _log_refused_login(world, client, server, refusal)
    round_number = client.attempt // 2
    left_s = drivers.get_login_max_s(client) - (world.tick - client.login_since) / TICKS_PER_S
    slice_s = min(drivers.get_attempt_timeout_s(client), left_s)
    is_second_round = client.attempt % 2 == 1
    backoff_s = CLIENT_BACKOFF_S[min(round_number, len(CLIENT_BACKOFF_S) - 1)] if is_second_round else 0.01
    wait_s = slice_s if server_answer == "silence" else backoff_s
    if partners[0] != partners[1]:
        wait_s += drivers.get_partner_pause_s(client)
    if wait_s >= left_s:
        world.call_after(max(0.01, left_s), "client.timeout", name, epoch + 1)
    else:
        world.call_after(wait_s, "client.try", name, epoch + 1)
    world.clients[name] = replace(client, attempt=client.attempt + 1, epoch=epoch + 1)


def _delay_login_at_dead_address(world: World, client: Client) -> bool:
    """Delay a login that first tries an unused address of a listener. Return False if there is no such delay.

    The unused address costs part or all of the login timeout.
    """
    client = name_resolution.resolve_name(world, client, client.data_source)
    detour_s = name_resolution.compute_dead_address_delay_s(world, client, client.data_source)
    world.clients[client.name] = client
    if not detour_s:
        return False
    left_s = client.login_timeout_s - (world.tick - client.login_since) / TICKS_PER_S
    world.clients[client.name] = replace(client, attempt=1, epoch=client.epoch + 1)
    timer_name: TimerName = "client.timeout" if detour_s >= left_s else "client.try"
    world.call_after(max(0.01, min(detour_s, left_s)), timer_name, client.name, client.epoch + 1)
    return True


def _has_no_partner(world: World, client: Client, server: str) -> bool:
    """Return whether *server*, to which a driver connects as failover partner, reports no partner.

    This happens after the session was removed. SqlClient (`LoginWithFailover`) and the JDBC driver
    (`R_invalidPartnerConfiguration`) then close the connection.
    """
    copy = world.copies[server, client.databases[0]]
    return group_policies.get_policy(copy).get_partner(copy) is None


NOT_MIRRORED: Final = mark(
    "{client}: Server {server}, database {database} is not configured for database mirroring."
)
MULTI_SUBNET_ERROR: Final = mark(
    "{client}: Connecting to a mirrored SQL Server instance using the MultiSubnetFailover connection option is not "
    "supported."
)
"""Error of a driver with MultiSubnetFailover=True when the server reports a mirroring partner."""


def _abort_login(world: World, client: Client, server: str, template: str) -> None:
    """End the whole login immediately. The application reports the error and logs in again.

    *template* is the text of the error. It is reported only once for the same server.
    """
    if client.no_partner_at != server:
        text = build_message(template, client=client.name, server=server, database=client.databases[0])
        world.emit(ClientData(client=client.name, what="partner refused"), text, server=server)
    _restart_login(world, replace(client, no_partner_at=server))


def _log_refused_login(world: World, client: Client, server: str, refusal: SqlError) -> None:
    """Log that a running server refuses this login, for example because of a missing login after a failover."""
    version = world.instances[server].version
    reason = " Reason: " + LOGIN_REFUSAL_REASONS[refusal.number] if version >= 2008 else ""
    errorlog.write_message(
        world, server, 18456, client.login, reason, f" [CLIENT: {get_client_address(world, client.name)}]"
    )
    message = fill_message(refusal.number, *refusal.parameters, version=version)[1]
    text = build_message("{client}: {message}", client=client.name, message=message)
    world.emit(
        ClientData(client=client.name, what="login failed", number=refusal.number), text, server=server
    )


def on_login_timeout(world: World, name: str, epoch: int) -> None:
    """End a login that has used its whole timeout (timer handler).

    The application reports an error and logs in again.
    """
    client = world.clients[name]
    if client.epoch != epoch or client.connected_to is not None:
        return
    world.emit(
        ClientData(client=name, what="timeout"), build_message("{client}: login timeout expired", client=name)
    )
    _restart_login(world, client)


def _restart_login(world: World, client: Client) -> None:
    if not client.reconnects:
        world.clients[client.name] = replace(
            client, attempt=0, failed_logins=client.failed_logins + 1, epoch=client.epoch + 1
        )
        _stop_without_retry(world, client)
        return
    start = world.tick + to_ticks(CLIENT_PAUSE_S)
    world.clients[client.name] = replace(
        client,
        attempt=0,
        login_since=start,
        failed_logins=client.failed_logins + 1,
        epoch=client.epoch + 1,
    )
    world.call_at(start, "client.try", client.name, client.epoch + 1)


def _complete_connection(world: World, client: Client, server: str, name_used: str) -> None:
    """Record the login to *server*, which the driver reached under the name *name_used*.

    A driver that used its partner's name keeps this partner, as SqlClient does.
    """
    copy = world.copies[server, client.databases[0]]
    lost_s = (world.tick - client.lost_since) / TICKS_PER_S if client.lost_since is not None else 0.0
    world.clients[client.name] = replace(
        client,
        connected_to=server,
        connected_tick=world.tick,
        killed=(),
        known_partner=group_policies.get_policy(copy).get_partner(copy)
        if name_used == client.data_source
        else name_used,
        no_partner_at=None,
        attempt=0,
        lost_since=None,
        epoch=client.epoch + 1,
    )
    text = build_message("{client} connected to {server}", client=client.name, server=server)
    world.emit(
        ClientData(client=client.name, what="connected", without_service_s=lost_s), text, server=server
    )
    world.mark_all_logs_changed()


def restart_application(world: World, name: str) -> None:
    """Start or restart an application. It drops its connection, forgets the reported partner and logs in."""
    client = world.clients[name]
    world.clients[name] = replace(
        client,
        connected_to=None,
        known_partner=None,
        query=None,
        attempt=0,
        login_since=world.tick,
        epoch=client.epoch + 1,
    )
    world.call_after(0.0, "client.try", name, client.epoch + 1)


def stop_application(world: World, name: str) -> None:
    """Stop an application: close its connections and end its search for a server."""
    client = world.clients[name]
    world.clients[name] = replace(
        client, connected_to=None, query=None, attempt=0, epoch=client.epoch + 1, lost_since=None
    )
    world.emit(ClientData(client=name, what="stopped"), build_message("{client} was stopped", client=name))
    world.mark_all_logs_changed()


# --- long queries ------------------------------------------------------------------------------------------


def begin_query(world: World, name: str, minutes: float) -> bool:
    """Start a query that runs for *minutes* in a connection of an application.

    Return False if the application has no connection.
    """
    client = world.clients[name]
    server = client.connected_to
    if server is None:
        return False
    end = world.tick + to_ticks(60.0 * minutes)
    query = Query(server=server, database=client.databases[0], since_tick=world.tick, end_tick=end)
    world.clients[name] = replace(client, query=query)
    world.call_at(end, "client.query_end", name, world.tick)
    text = build_message("{client} runs a long query on {server}", client=name, server=server)
    world.emit(ClientData(client=name, what="query begins"), text, server=server)
    return True


def end_query(world: World, name: str, since_tick: int) -> None:
    """End the long query that began at *since_tick*, because it is complete (timer handler)."""
    client = world.clients[name]
    if client.query is None or client.query.since_tick != since_tick:
        return
    world.clients[name] = replace(client, query=None)
    text = build_message("the long query of {client} is finished", client=name)
    world.emit(ClientData(client=name, what="query ends"), text, server=client.query.server)


# --- load of the clients on a database --------------------------------------------------------------------


def begin_operation(world: World, key: Key, operation: Operation) -> None:
    """Start a long operation in an open copy."""
    copy = world.copies[key]
    minimal = copy.bulk_changes or copy.recovery_model is RecoveryModel.BULK_LOGGED
    world.update_copy(key, operation=operation, bulk_changes=minimal)
    if not operation.batch_kb and copy.source is not None and copy.active_from_kb is None:
        world.update_copy(key, active_from_kb=world.flow.read_source_positions(copy.source).generated_kb)
    world.emit(
        NoteData(), build_message("{what} started", what=operation.name), server=key[0], database=key[1]
    )


def on_operation_done(world: World, source: int) -> None:
    """End the long operation of *source* after the operation has written all its log (flow handler)."""
    key = world.sources[source]
    operation = world.copies[key].operation
    if operation is not None:
        world.update_copy(key, operation=None)
        if not operation.batch_kb:
            world.update_copy(key, active_from_kb=None)
        world.emit(
            NoteData(what="operation done", log_kb=operation.log_kb),
            build_message("{what} finished", what=operation.name),
            server=key[0],
            database=key[1],
        )
        if (
            not operation.batch_kb
        ):  # an index build or rebuild (no batches) ends with a schema modification lock
            group_policies.get_policy(world.copies[key]).on_schema_changed(world, key)


def change_connection_string(world: World, client: str, server: str) -> None:
    """Make *server* the data source in the connection string of an application, and restart it."""
    old_client = world.clients[client]
    world.clients[client] = replace(
        old_client, data_source=server, known_partner=None, kept_addresses=name_resolution.NO_ADDRESSES
    )
    restart_application(world, client)
