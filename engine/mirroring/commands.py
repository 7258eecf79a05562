"""ALTER DATABASE … SET PARTNER and SET WITNESS: checks in the order of SQL Server, then changes of the world.

Each function receives the server on which the statement runs and uses only that server's knowledge. It raises
SqlError with SQL Server's number, or returns a list of messages (mostly empty) or a PendingStatement. Where
the documentation gives no error number, the number is derived; see facts 1.2 and section 11.
"""

from engine.constants import (
    ENTERPRISE_EDITIONS,
    PARTNER_TIMEOUT_S,
    PARTNER_TIMEOUT_S_MAX,
    PARTNER_TIMEOUT_S_MIN,
)
from engine.events import StateData
from engine.localization import build_message
from engine.messages import Message, SqlError
from engine.mirroring import failover, prerequisites, quorum, redo, roles, session
from engine.mirroring.roles import StateChangeCause
from engine.model import (
    DatabaseCopy,
    DbState,
    Key,
    MirrorState,
    Role,
    Safety,
    WitnessState,
    World,
)
from engine.protocol import errorlog, network, security, statements

# --- checks ----------------------------------------------------------------------------------------


def _require_session(world: World, server: str, database: str) -> DatabaseCopy:
    if database.lower() in statements.SYSTEM_DATABASES:
        raise SqlError(1416, database)
    copy = statements.require_copy(world, server, database)
    if copy.mirroring.guid is None or copy.mirroring.role is None:
        raise SqlError(1416, copy.database)
    return copy


def _require_principal(world: World, server: str, database: str) -> DatabaseCopy:
    copy = _require_session(world, server, database)
    if copy.mirroring.role is not Role.PRINCIPAL:
        raise SqlError(1470, copy.database)
    return copy


def _require_quorum(world: World, copy: DatabaseCopy) -> None:
    if not quorum.has_quorum(world, copy):
        raise SqlError(1431, copy.database)


def _require_connection(world: World, copy: DatabaseCopy) -> None:
    """Raise 1447 if the partners are not connected, or if a copy is still in recovery after a start.

    No documentation gives a number for a partner in recovery. The use of 1447 is derived from its text, and
    from the error that occurs before the partner is reachable.
    """
    copies = [copy, world.find_copy_in_session(copy.mirroring.guid, copy.mirroring.partner)]
    if not quorum.is_connected_to_partner(world, copy) or any(
        member_copy is not None and member_copy.recovering for member_copy in copies
    ):
        raise SqlError(1447, copy.database)


def _require_idle_session(world: World, copy: DatabaseCopy) -> None:
    """Raise 1404 during a failover.

    Also raise 1404 while a connected partner does not yet know that the failover was canceled.
    """
    waiting = any(
        world.copies[key].mirroring.state is MirrorState.PENDING_FAILOVER
        for key in _list_connected_keys(world, copy)
    )
    if waiting or world.find_running_failover(copy.mirroring.guid) is not None:
        raise SqlError(1404)


def _require_partner_copy(world: World, copy: DatabaseCopy) -> DatabaseCopy:
    """Return the partner's copy.

    Raise 1447 if the partner has left the session and this server does not yet know it.
    """
    partner = world.find_copy_in_session(copy.mirroring.guid, copy.mirroring.partner)
    if partner is None:
        raise SqlError(1447, copy.database)
    return partner


def _find_partner_to_notify(_: World, copy: DatabaseCopy) -> tuple[int, tuple[str, ...]]:
    """Return (session, tuple with the partner that the statement must notify).

    The tuple is empty during a failover.
    """
    partner, is_busy = copy.mirroring.partner, copy.mirroring.state is MirrorState.PENDING_FAILOVER
    return copy.mirroring.guid or 0, (partner,) if partner is not None and not is_busy else ()


# --- SET PARTNER -----------------------------------------------------------------------------------


@statements.wait_for_peers("mirroring.failover", _find_partner_to_notify)
def fail_over(world: World, server: str, database: str) -> statements.Outcome:
    """Execute SET PARTNER FAILOVER on the principal, which must be FULL and SYNCHRONIZED."""
    copy = _require_principal(world, server, database)
    _require_quorum(world, copy)
    _require_connection(world, copy)
    if copy.mirroring.safety is not Safety.FULL:
        raise SqlError(1477, copy.database)
    _require_idle_session(world, copy)
    if copy.mirroring.state is not MirrorState.SYNCHRONIZED:
        raise SqlError(1422, copy.database)
    if (
        world.copies[copy.mirroring.partner or "", copy.database].stream is None
    ):  # no stream: the partner was principal meanwhile, and this server does not yet know it
        raise SqlError(1447, copy.database)
    failover.start_manual_failover(world, copy.key)
    return []


def force_service(world: World, server: str, database: str) -> statements.Outcome:
    """Execute FORCE_SERVICE_ALLOW_DATA_LOSS on the mirror. It must be disconnected from the principal.

    If a witness is configured, it must be connected to the mirror and disconnected from the principal.
    """
    copy = _require_session(world, server, database)
    if copy.mirroring.role is not Role.MIRROR or quorum.is_connected_to_partner(world, copy):
        raise SqlError(1455, copy.database)
    if copy.mirroring.witness is not None:
        if not quorum.is_connected_to_witness(world, copy):
            raise SqlError(1431, copy.database)
        if quorum.is_connected_from_witness(world, copy, copy.mirroring.partner):
            raise SqlError(1455, copy.database)
    running = world.find_running_failover(copy.mirroring.guid)
    if running is not None and (running.kind != "automatic" or running.decided_tick is not None):
        raise SqlError(1404)
    if copy.mirroring.redo_failed or copy.stream is None:
        raise SqlError(1406, copy.database)
    failover.start_forced_service(world, copy.key)
    return []


def remove_session(world: World, server: str, database: str) -> statements.Outcome:
    """Execute SET PARTNER OFF on either partner, in any state.

    The other partner is notified if it is reachable.
    """
    if database.lower() in statements.SYSTEM_DATABASES:
        raise SqlError(1416, database)
    copy = statements.require_copy(world, server, database)
    if copy.mirroring.guid is None and copy.mirroring.partner_address is not None:
        # the session was never established
        world.update_mirroring(copy.key, partner=None, partner_address=None)
        return []
    copy = _require_session(world, server, database)
    running = world.find_running_failover(copy.mirroring.guid)
    if running is not None and running.decided_tick is not None:
        raise SqlError(1404)
    if running is not None:
        failover.cancel_failover(
            world, copy.mirroring.guid, running.kind, build_message("mirroring was removed")
        )
    guid = copy.mirroring.guid
    assert guid is not None
    partner, witness = copy.mirroring.partner or "", copy.mirroring.witness or ""
    is_silent = network.is_silent(world, guid, server, partner)
    informed = [partner] if quorum.is_connected_to_partner(world, copy) and not is_silent else []
    if not quorum.is_connected_to_witness(world, copy) or network.is_silent(world, guid, server, witness):
        witness = ""
    session.leave_session(world, copy.key)
    for informed_server in informed:
        other_copy = world.find_copy_in_session(guid, informed_server)
        if other_copy is not None:
            session.leave_session(world, other_copy.key)
    if witness and not world.list_session_copies(guid):
        network.remove_contacts(world, guid, witness)
        world.witnesses.pop((witness, guid), None)
    network.on_sessions_changed(world, guid)
    return []


@statements.wait_for_peers("mirroring.suspend", _find_partner_to_notify)
def suspend_session(world: World, server: str, database: str) -> statements.Outcome:
    """Execute SET PARTNER SUSPEND. The principal keeps its log and stops sending it."""
    copy = _require_session(world, server, database)
    _require_quorum(world, copy)
    _require_idle_session(world, copy)
    for key in _list_connected_keys(world, copy):
        roles.apply_state_change(world, key, StateChangeCause.SUSPEND)
        roles.set_trace_state(world, key, 9)
        errorlog.write_message(world, key[0], 1442, key[1])
    _update_witness(world, copy)
    return []


@statements.wait_for_peers("mirroring.resume", _find_partner_to_notify)
def resume_session(world: World, server: str, database: str) -> statements.Outcome:
    """Execute SET PARTNER RESUME, after SUSPEND, after forced service, or after a repaired error."""
    copy = _require_session(world, server, database)
    if copy.mirroring.role is Role.MIRROR and not world.settings.resume_on_mirror:
        raise SqlError(1470, copy.database)
    _require_quorum(world, copy)
    _require_connection(world, copy)
    partner = _require_partner_copy(world, copy)
    for suspended_copy in (copy, partner):
        if suspended_copy.mirroring.redo_failed and not redo.try_clear_redo_error(world, suspended_copy.key):
            raise SqlError(1462)
    if MirrorState.SUSPENDED not in (copy.mirroring.state, partner.mirroring.state):
        return []
    _require_idle_session(world, copy)
    lead, follower = (copy, partner) if copy.mirroring.role is Role.PRINCIPAL else (partner, copy)
    if not prerequisites.has_compatible_version(world, lead.server, follower.server):
        redo.log_newer_version(world, lead.key, follower.key)
        return []
    redo.begin_synchronizing(world, lead.key, follower.key)
    _update_witness(world, lead)
    return []


@statements.wait_for_peers("mirroring.safety", _find_partner_to_notify)
def set_safety(world: World, server: str, database: str, level: str) -> statements.Outcome:
    """Execute SET PARTNER SAFETY FULL or OFF (also SET SAFETY) on the principal.

    Both partners must be connected.
    """
    copy = _require_principal(world, server, database)
    new_safety = Safety[level.upper()]
    if world.instances[server].edition not in ENTERPRISE_EDITIONS and new_safety is not copy.mirroring.safety:
        raise SqlError(1473)
    _require_quorum(world, copy)
    _require_connection(world, copy)
    _require_idle_session(world, copy)
    if new_safety is copy.mirroring.safety:
        return []
    for key in _list_connected_keys(world, copy):
        # With safety OFF the timeout is always 10 s; the earlier value is discarded [DOC: ALTER DATABASE
        # database mirroring].
        timeout_s = PARTNER_TIMEOUT_S if new_safety is Safety.OFF else world.copies[key].mirroring.timeout_s
        sequence = copy.mirroring.safety_sequence + 1
        world.update_mirroring(key, safety=new_safety, safety_sequence=sequence, timeout_s=timeout_s)
    streams = [
        other_copy.stream
        for other_copy in (copy, world.copies[copy.mirroring.partner or "", copy.database])
        if other_copy.stream is not None
    ]
    raised = new_safety is Safety.FULL and copy.mirroring.state is MirrorState.SYNCHRONIZED
    if raised and not all(map(world.flow.is_caught_up, streams)):
        for key in _list_connected_keys(world, copy):
            if (
                world.copies[key].mirroring.state is MirrorState.SYNCHRONIZED
            ):  # skip a partner that has just failed, because it does not respond
                roles.apply_state_change(world, key, StateChangeCause.SAFETY_RAISED)
                roles.emit_stable_state(world, key)
    _update_witness(world, copy)
    world.emit(
        StateData(why="safety", new=new_safety.name),
        build_message("safety {state}", state=new_safety.name),
        server=server,
        database=copy.database,
    )
    return []


@statements.wait_for_peers("mirroring.timeout", _find_partner_to_notify)
def set_partner_timeout(world: World, server: str, database: str, seconds: int) -> statements.Outcome:
    """Execute SET PARTNER TIMEOUT *seconds*. 0 to 4 are stored as 5; with safety OFF the value stays 10."""
    copy = _require_principal(world, server, database)
    if seconds > PARTNER_TIMEOUT_S_MAX:
        raise SqlError(1476, seconds)
    _require_quorum(world, copy)
    if copy.mirroring.safety is Safety.FULL:
        for key in _list_connected_keys(world, copy):
            world.update_mirroring(key, timeout_s=max(PARTNER_TIMEOUT_S_MIN, seconds))
    return []


def set_redo_queue_limit(
    world: World, server: str, database: str, limit_mb: int | None
) -> statements.Outcome:
    """Execute SET PARTNER REDO_QUEUE.

    As in SQL Server, the limit is stored and shown and has no other effect.
    """
    _require_principal(world, server, database)
    if limit_mb is not None:
        return [Message(0, 0, 0, 0, "Not simulated: the size of the redo queue stays UNLIMITED.")]
    return []


def set_partner(world: World, server: str, database: str, address: str) -> statements.Outcome:
    """Execute SET PARTNER = 'TCP://host:port', first on the future mirror, then on the principal."""
    if database.lower() in statements.SYSTEM_DATABASES:
        raise SqlError(1463)
    copy = statements.require_copy(world, server, database)
    if copy.group_kind == "availability":
        raise SqlError(1468, copy.database)
    if copy.mirroring.guid is not None:
        raise SqlError(1405, copy.database)
    if copy.mirroring.partner_address is not None:
        raise SqlError(1405, copy.database)  # this future mirror already knows its principal
    host = security.find_host(world, address)
    if host == server:
        raise SqlError(1452)
    prerequisites.check_own_server(world, copy, address)
    if copy.standby or copy.read_only:
        raise SqlError(1466, copy.database)
    if copy.db_state is DbState.RESTORING:
        # The future mirror only stores the address of its principal; it contacts no server.
        world.update_mirroring(copy.key, partner=host, partner_address=address)
        return []
    if copy.db_state is not DbState.ONLINE:
        raise SqlError(1467, copy.database)
    if host is None:
        security.log_dead_address(world, server, address, explicit=True)
    if host is None or not prerequisites.can_connect_endpoint(world, server, host, address, witness=False):
        raise SqlError(1418, address)
    if not prerequisites.can_connect_endpoint(world, host, server, None, witness=False):
        raise SqlError(1418, address)  # the partner must also be able to connect to this server
    return _establish_session(
        world, copy, prerequisites.find_partner_copy(world, copy, host, address), address
    )


def _establish_session(
    world: World, copy: DatabaseCopy, partner_copy: DatabaseCopy, address: str
) -> statements.Outcome:
    guid = world.create_session(copy.database)
    assert copy.source is not None
    for own_copy, peer, role, peer_address in (
        (copy, partner_copy, Role.PRINCIPAL, address),
        (partner_copy, copy, Role.MIRROR, partner_copy.mirroring.partner_address),
    ):
        world.update_copy(own_copy.key, fork=copy.fork, was_mirror=False)
        world.update_mirroring(
            own_copy.key,
            guid=guid,
            role=role,
            partner=peer.server,
            partner_address=peer_address,
            witness=None,
            witness_address=None,
            witness_state=WitnessState.UNKNOWN,
            safety=Safety.FULL,
            safety_sequence=1,
            role_sequence=1,
            timeout_s=PARTNER_TIMEOUT_S,
            trace=0,
        )
        roles.set_mirroring_state(world, own_copy.key, MirrorState.DISCONNECTED, "mirroring established")
    network.open_contact(world, guid, copy.server, partner_copy.server)
    redo.begin_synchronizing(world, copy.key, partner_copy.key)
    network.on_sessions_changed(world, guid)
    return []


# --- SET WITNESS -----------------------------------------------------------------------------------


@statements.wait_for_peers("mirroring.witness_set", _find_partner_to_notify)
def set_witness(world: World, server: str, database: str, address: str) -> statements.Outcome:
    """Execute SET WITNESS = 'TCP://host:port' on the principal.

    All three servers must be connected, and the mirror must have caught up.
    """
    copy = _require_principal(world, server, database)
    host = security.find_host(world, address)
    if host in (copy.server, copy.mirroring.partner):
        raise SqlError(1429, address)
    if host is not None and host == copy.mirroring.witness:
        raise SqlError(1446, address)
    _require_connection(world, copy)
    if host is None:
        security.log_dead_address(world, server, address, explicit=True)
    if host is None or not prerequisites.can_connect_endpoint(world, server, host, address, witness=True):
        raise SqlError(1456, address)
    if not security.has_endpoint_role(world.instances[host], witness=True):
        raise SqlError(1427, address)
    partner = copy.mirroring.partner
    assert partner is not None and copy.mirroring.guid is not None
    linked = prerequisites.can_connect_endpoint(world, partner, host, None, witness=True)
    if not linked or copy.mirroring.state not in (MirrorState.SYNCHRONIZED, MirrorState.SYNCHRONIZING):
        raise SqlError(1426)
    if copy.mirroring.witness is not None:
        remove_witness(world, server, database)  # the new witness replaces the old witness
    for key in _list_connected_keys(world, copy):
        world.update_mirroring(key, witness=host, witness_address=address)
    redo.create_witness_record(world, world.copies[copy.key], host)
    for key in _list_connected_keys(world, copy):
        network.open_contact(world, copy.mirroring.guid, key[0], host)
        roles.set_witness_state(world, key, WitnessState.CONNECTED)
        roles.emit_stable_state(world, key)
    network.on_sessions_changed(world, copy.mirroring.guid)
    return []


@statements.wait_for_peers("mirroring.witness_off", _find_partner_to_notify)
def remove_witness(world: World, server: str, database: str) -> statements.Outcome:
    """Execute SET WITNESS OFF. This needs quorum, so an isolated principal cannot do it.

    Documented [WP, loss of the mirror and the witness].
    """
    copy = _require_session(world, server, database)
    if copy.mirroring.role is Role.MIRROR and not world.settings.witness_off_on_mirror:
        raise SqlError(1470, copy.database)
    if copy.mirroring.witness is None:
        raise SqlError(1439, copy.database)
    _require_quorum(world, copy)
    witness, guid = copy.mirroring.witness, copy.mirroring.guid
    assert guid is not None
    reachable = quorum.is_connected_to_witness(world, copy)
    failover.cancel_failover(world, guid, "automatic", build_message("the witness was removed"))
    for key in _list_connected_keys(world, copy):
        world.update_mirroring(key, witness=None, witness_address=None, armed=False)
        world.remove_contact((guid, key[0], witness))
        roles.set_witness_state(world, key, WitnessState.UNKNOWN)
        roles.emit_stable_state(world, key)
    if reachable:
        network.remove_contacts(world, guid, witness)
        world.witnesses.pop((witness, guid), None)
    network.on_sessions_changed(world, guid)
    return []


# --- helpers ---------------------------------------------------------------------------------------


def _list_connected_keys(world: World, copy: DatabaseCopy) -> list[Key]:
    """Return the key of the copy, and of its partner's copy if the two are connected in this session."""
    partner = world.find_copy_in_session(copy.mirroring.guid, copy.mirroring.partner)
    copies = (
        [copy, partner] if partner is not None and quorum.is_connected_to_partner(world, copy) else [copy]
    )
    return [connected_copy.key for connected_copy in copies]


def _update_witness(world: World, copy: DatabaseCopy) -> None:
    for key in _list_connected_keys(world, copy):
        if world.copies[key].mirroring.role is Role.PRINCIPAL:
            redo.update_witness_record(world, key)
