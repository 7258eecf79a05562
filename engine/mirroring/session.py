"""Reactions of the instances of a mirroring session to lost and new connections."""

from typing import Final

from msgspec.structs import replace

from engine.events import DetectedData, StateData
from engine.localization import build_message
from engine.mirroring import failover, prerequisites, quorum, redo, roles
from engine.mirroring.roles import StateChangeCause
from engine.model import DatabaseCopy, DbState, Key, MirrorState, Role, WitnessState, World
from engine.protocol import errorlog, network, streams

# --- names ----------------------------------------------------------------------


def get_peer_address(world: World, guid: int, server: str, peer: str) -> str:
    """Return the network address at which *server* calls *peer*."""
    copy = world.find_copy_in_session(guid, server)
    if copy is not None and peer == copy.mirroring.partner and copy.mirroring.partner_address:
        return copy.mirroring.partner_address
    if copy is not None and peer == copy.mirroring.witness and copy.mirroring.witness_address:
        return copy.mirroring.witness_address
    end = world.instances[peer].endpoint
    return f"TCP://{peer}:{end.port if end else 5022}"


# --- losing a connection ---------------------------------------------------------------------------


def on_connection_lost(world: World, guid: int, server: str, peer: str, epoch: int, reason: str) -> None:
    """Handle the loss of the connection to *peer*, which *server* has detected (timer handler)."""
    if not network.close_lost_connection(world, guid, server, peer, epoch):
        return
    copy = world.find_copy_in_session(guid, server)
    record = world.witnesses.get((server, guid))
    database = copy.database if copy else record.database if record else None
    peer_address = get_peer_address(world, guid, server, peer)
    if reason == "silent":
        errorlog.write_message(
            world,
            server,
            1479,
            peer_address,
            database,
            network.get_timeout_s(world, guid, server, peer),
            state=2,
        )
    else:
        errorlog.write_message(
            world, server, 1474, 4, "64(The specified network name is no longer available.)", peer_address
        )
    world.emit(
        DetectedData(peer=peer, how=reason),
        build_message("lost {server}", server=peer),
        server=server,
        database=database,
    )
    if copy is not None:
        _on_partner_lost(world, copy, peer)
    failover.recheck_failover(world, guid)
    network.schedule_detections(world, guid)


def _on_partner_lost(world: World, copy: DatabaseCopy, peer: str) -> None:
    key = copy.key
    if peer == copy.mirroring.witness:
        roles.set_witness_state(world, key, WitnessState.DISCONNECTED)
        if copy.mirroring.role is Role.MIRROR and not quorum.is_connected_to_partner(world, copy):
            world.update_mirroring(key, armed=False)
    elif copy.mirroring.state is MirrorState.DISCONNECTED:
        pass  # the partners have not synchronized their roles since they connected, so there is nothing to lose
    elif copy.mirroring.role is Role.PRINCIPAL:
        _on_mirror_lost(world, key)
    else:
        _on_principal_lost(world, key)
    copy = world.copies[key]
    if copy.mirroring.role is Role.PRINCIPAL and not quorum.has_quorum(world, copy):
        redo.stop_serving(world, key)
    elif peer == copy.mirroring.witness:
        roles.emit_stable_state(world, key)


CONNECTION_LOST_REASON: Final = build_message(
    "the partners lost their connection before the roles were switched"
)


def _on_mirror_lost(world: World, key: Key) -> None:
    copy = world.copies[key]
    failover.cancel_failover(world, copy.mirroring.guid, "manual", CONNECTION_LOST_REASON)
    roles.apply_state_change(world, key, StateChangeCause.PARTNER_LOST)
    roles.set_trace_state(world, key, 6)
    errorlog.write_message(world, key[0], 1442, key[1])
    if copy.mirroring.witness is None:
        roles.set_trace_state(world, key, 12)
    # If there is a witness, the principal first needs its consent: see ask_witnesses.


def ask_witnesses(world: World) -> None:
    """Let each principal that has lost its mirror ask the witness to record that it continues alone.

    Commits of the principal wait until then, because mirror and witness may already have continued without
    it.
    """
    if not world.witnesses:
        return  # without a record of any session, no witness responds
    asking = [
        copy
        for database in sorted(world.changed)
        for copy in world.list_copies_of(database)
        if copy.mirroring.state is MirrorState.DISCONNECTED
    ]
    for copy in asking:
        key = copy.key
        if not quorum.is_awaiting_consent(world, copy) or not quorum.is_connected_to_witness(world, copy):
            continue
        assert copy.mirroring.witness is not None
        if not (
            world.instances[copy.mirroring.witness].answering
            and network.can_exchange_packets(world, copy.server, copy.mirroring.witness)
        ):
            continue
        record = quorum.find_witness_record(world, copy)
        if record is not None and record.role_sequence <= copy.mirroring.role_sequence:
            world.witnesses[record.server, record.guid] = replace(record, exposed=True)
            world.update_copy(key)
            roles.set_trace_state(world, key, 12)
            failover.recheck_failover(world, record.guid)


def _on_principal_lost(world: World, key: Key) -> None:
    copy = world.copies[key]
    failover.cancel_failover(world, copy.mirroring.guid, "manual", CONNECTION_LOST_REASON)
    # If the principal left the session while the mirror hung, the mirror has no stream and cannot take over.
    armed = copy.stream is not None and quorum.can_fail_over_at_loss(world, copy)
    if not world.settings.auto_failover_after_witness_cut and not quorum.is_connected_from_witness(
        world, copy, copy.mirroring.partner
    ):
        armed = False
    roles.apply_state_change(world, key, StateChangeCause.PARTNER_LOST)
    world.update_mirroring(key, armed=armed)
    roles.set_trace_state(world, key, 5)
    errorlog.write_message(world, key[0], 1442, key[1])
    if armed:
        failover.prepare_automatic_failover(world, key)


# --- getting a connection --------------------------------------------------------------------------


def on_connection_made(world: World, guid: int, server: str, peer: str, epoch: int) -> None:
    """Try to connect *server* and *peer* (timer handler). Both ends notice success immediately."""
    contact = world.contacts.get((guid, server, peer))
    if contact is None or contact.epoch != epoch or contact.connected:
        return
    if not network.can_connect(world, guid, server, peer):
        world.contacts[guid, server, peer] = replace(contact, pending="", epoch=epoch + 1)
        network.schedule_detections(world, guid)
        return
    other_contact = world.contacts.get((guid, peer, server))
    if other_contact is None:
        _detect_removed_session(world, guid, server, peer)
        return
    if other_contact.connected:
        # The peer has not yet noticed that the old connection is lost. The new connection shows the loss.
        on_connection_lost(world, guid, peer, server, other_contact.epoch, "closed")
        network.schedule_detections(world, guid)
        return
    network.open_contact(world, guid, server, peer)
    text = build_message("connected to {server}", server=peer)
    world.emit(DetectedData(peer=peer, how="connected"), text, server=server)
    own_copy, theirs = world.find_copy_in_session(guid, server), world.find_copy_in_session(guid, peer)
    if own_copy is not None and theirs is not None:
        _connect_partners(world, own_copy, theirs)
    elif own_copy is not None:
        _connect_to_witness(world, own_copy)
    elif theirs is not None:
        _connect_to_witness(world, theirs)
    network.schedule_detections(world, guid)


def _detect_removed_session(world: World, guid: int, server: str, peer: str) -> None:
    """Let *server* learn that *peer* no longer knows the session, because it was removed there."""
    copy = world.find_copy_in_session(guid, server)
    record = world.witnesses.get((server, guid))
    if copy is not None and peer == copy.mirroring.witness:
        # A witness without a record of the session (lost or removed) does not respond.
        world.remove_contact((guid, server, peer))
        roles.set_witness_state(world, (server, copy.database), WitnessState.UNKNOWN)
    elif copy is not None and peer != copy.mirroring.partner:
        # the peer is a former witness; the server now learns of its removal
        world.remove_contact((guid, server, peer))
    elif copy is not None and _is_rejected(world, copy, peer):
        world.remove_contact((guid, server, peer))
        errorlog.write_message(world, server, 1438, "Partner", 1460, 1)
    elif copy is not None:
        leave_session(world, (server, copy.database))
    elif record is not None:
        # The peer has left the session. The witness keeps its record while the other partner is in the
        # session.
        world.remove_contact((guid, server, peer))
        other_copies = [c for c in world.list_session_copies(guid) if c.mirroring.witness == server]
        if not other_copies:
            network.remove_contacts(world, guid, server)
            del world.witnesses[server, guid]


def _is_rejected(world: World, copy: DatabaseCopy, peer: str) -> bool:
    """Return whether *peer* rejects this principal, because *peer* mirrors the database in a newer session.

    Seen: blog of SQL Server support, July 2012, "The most interesting issue in DB mirroring you will ever
    see".
    """
    newer = world.copies.get((peer, copy.database))
    waits = copy.mirroring.role is Role.PRINCIPAL and copy.mirroring.witness is not None
    return waits and newer is not None and newer.mirroring.guid not in (None, copy.mirroring.guid)


def leave_session(world: World, key: Key) -> None:
    """Remove this copy from its session. A principal continues alone. A mirror stays RESTORING."""
    copy = world.copies[key]
    assert copy.mirroring.guid is not None
    network.remove_contacts(world, copy.mirroring.guid, key[0])
    was_serving_principal = copy.mirroring.role is Role.PRINCIPAL
    was_mirror = copy.mirroring.role is Role.MIRROR
    if copy.mirroring.role is Role.MIRROR and copy.stream is not None:
        streams.detach_receiver(world, copy.stream)
    if copy.mirroring.role is Role.PRINCIPAL and copy.source is not None:
        for stream in world.flow.list_source_streams(copy.source):
            streams.detach_receiver(world, stream)
    errorlog.write_message(world, key[0], 1443, key[1])
    world.update_copy(
        key,
        was_mirror=was_mirror,
        last_log_backup_tick=world.tick if was_mirror else copy.last_log_backup_tick,
        db_state=DbState.RECOVERING if was_serving_principal else DbState.RESTORING,
        recovering=False,
    )
    world.update_mirroring(
        key,
        guid=None,
        role=None,
        state=None,
        partner=None,
        partner_address=None,
        witness=None,
        witness_address=None,
        witness_state=WitnessState.UNKNOWN,
        armed=False,
        redo_failed=False,
        trace=0,
    )
    text, old_name = build_message("session -> no session"), "NONE"
    if copy.mirroring.state is not None:
        old_name = copy.mirroring.state.name
        text = build_message("{state} -> no session", state=old_name)
    world.emit(
        StateData(why="mirroring removed", old=old_name, new="NONE"), text, server=key[0], database=key[1]
    )
    if copy.disk_failed:
        world.update_copy(key, db_state=DbState.RECOVERY_PENDING)
    elif was_serving_principal and not copy.recovering:
        world.update_copy(key, db_state=DbState.ONLINE)
        if copy.source is None:
            streams.add_source(world, key, copy.end_of_log_kb)
    elif was_serving_principal:
        world.update_copy(key, recovering=True)


def _connect_to_witness(world: World, copy: DatabaseCopy) -> None:
    key = copy.key
    roles.set_witness_state(world, key, WitnessState.CONNECTED)
    record = quorum.find_witness_record(world, copy)
    if record is None:
        return
    if copy.mirroring.role is Role.PRINCIPAL and record.role_sequence <= copy.mirroring.role_sequence:
        redo.update_witness_record(world, key)
        if not quorum.is_connected_to_partner(world, copy):
            record = quorum.find_witness_record(world, world.copies[key])
            assert record is not None
            world.witnesses[record.server, record.guid] = replace(record, exposed=True)
            failover.recheck_failover(world, record.guid)
            if not world.copies[key].recovering:
                if copy.db_state is not DbState.ONLINE:
                    redo.start_serving(world, key)
                roles.set_trace_state(world, key, 12)
            return
    if quorum.is_connected_to_partner(world, copy):
        roles.emit_stable_state(world, key)
    failover.recheck_failover(world, record.guid)


def _connect_partners(world: World, a: DatabaseCopy, b: DatabaseCopy) -> None:
    """Synchronize the roles of two connected partners. The copy with the lower role sequence becomes mirror."""
    if a.recovering or b.recovering:
        return  # a copy is still recovering; the partners synchronize their roles after the recovery
    running = world.find_running_failover(a.mirroring.guid)
    if running is not None and (running.decided_tick is not None or running.kind != "automatic"):
        return  # roles are changing; `synchronize_roles` runs afterward
    if a.mirroring.role is b.mirroring.role is Role.PRINCIPAL:
        first_copy, second = sorted((a, b), key=lambda copy: -copy.mirroring.role_sequence)
        _demote_principal(world, second, first_copy)
    elif a.mirroring.role is b.mirroring.role is Role.MIRROR:
        first_copy, second = sorted((a, b), key=lambda copy: -copy.mirroring.role_sequence)
        roles.assign_role(world, first_copy.key, Role.PRINCIPAL, reason="Role Synchronization",
                        sequence=first_copy.mirroring.role_sequence)  # fmt: skip
    else:
        first_copy, second = (a, b) if a.mirroring.role is Role.PRINCIPAL else (b, a)
        if second.mirroring.role_sequence > first_copy.mirroring.role_sequence:
            # The mirror has the higher role sequence: it was promoted, but its witness is no longer
            # connected. It becomes the principal.
            first_copy, second = second, first_copy
    _resume_connected_session(world, first_copy.key, second.key)


def synchronize_roles(world: World, guid: int) -> None:
    """Let connected partners synchronize their roles after a role change (timer handler)."""
    copies = world.list_session_copies(guid)
    if (
        len(copies) == 2
        and quorum.is_connected_to_partner(world, copies[0])
        and quorum.is_connected_to_partner(world, copies[1])
    ):
        _connect_partners(world, *copies)
    network.schedule_detections(world, guid)


def _demote_principal(world: World, copy: DatabaseCopy, leader: DatabaseCopy) -> None:
    """Make the old principal a mirror of *leader*, even if it still has clients.

    [DOC: role switching, risks of forcing service]
    """
    key = copy.key
    streams.stop_log(world, copy)
    roles.assign_role(
        world, key, Role.MIRROR, reason="Role Synchronization", sequence=leader.mirroring.role_sequence
    )
    errorlog.write_message(world, key[0], 17137, key[1])
    errorlog.write_message(world, key[0], 1444, key[1])
    world.update_copy(key, db_state=DbState.RESTORING)
    world.update_mirroring(key, trace=0)


def _resume_connected_session(world: World, principal: Key, mirror: Key) -> None:
    """Resume the session of a principal and a mirror that are connected and agree on their roles."""
    lead, mirror_copy = world.copies[principal], world.copies[mirror]
    suspended = MirrorState.SUSPENDED in (lead.mirroring.state, mirror_copy.mirroring.state)
    if not prerequisites.has_compatible_version(world, principal[0], mirror[0]):
        suspended = True  # an older mirror cannot redo the log of a newer principal (rolling upgrade)
    was_promoted = mirror_copy.mirroring.role is Role.PRINCIPAL
    if was_promoted:
        roles.assign_role(
            world, mirror, Role.MIRROR, reason="Role Synchronization", sequence=lead.mirroring.role_sequence
        )
    world.update_mirroring(
        mirror,
        role_sequence=max(lead.mirroring.role_sequence, mirror_copy.mirroring.role_sequence),
        safety=lead.mirroring.safety,
        safety_sequence=lead.mirroring.safety_sequence,
        timeout_s=lead.mirroring.timeout_s,
        witness=lead.mirroring.witness,
        witness_address=lead.mirroring.witness_address,
        armed=False,
    )
    world.update_mirroring(
        principal, role_sequence=max(lead.mirroring.role_sequence, mirror_copy.mirroring.role_sequence)
    )
    failover.cancel_failover(
        world,
        lead.mirroring.guid,
        "automatic",
        build_message(
            "the principal {server} reconnected before the failover was decided", server=principal[0]
        ),
    )
    if lead.db_state is not DbState.ONLINE:
        redo.start_serving(world, principal, announce=suspended)
    if not suspended:
        redo.begin_synchronizing(world, principal, mirror)
    else:
        for key in (principal, mirror):
            if world.copies[key].mirroring.state is not MirrorState.SUSPENDED:
                roles.apply_state_change(world, key, StateChangeCause.SUSPEND)
            roles.set_trace_state(world, key, 9)
        world.update_copy(mirror, db_state=_choose_mirror_db_state(world.copies[mirror]))
    redo.update_witness_record(world, principal)


def _choose_mirror_db_state(mirror: DatabaseCopy) -> DbState:
    """Return RESTORING, or RECOVERING for an old principal that keeps its own log until RESUME rolls it back.

    [DOC: role switching, risks of forcing service]
    """
    keeps_its_log = mirror.stream is None and mirror.mirroring.state is MirrorState.SUSPENDED
    return DbState.RECOVERING if keeps_its_log else DbState.RESTORING


# --- an instance starts ----------------------------------------------------------------------------

PARTNER_CHECK_INTERVAL_S: Final = 0.1
"""Interval at which a starting principal checks whether its partner has connected. Assumed."""


def on_recovered(world: World, key: Key) -> None:
    """Decide the state of a copy after its recovery at an instance start.

    The state depends on the servers that the instance can reach.
    """
    server, database = key
    copy = world.copies[key]
    contact = quorum.get_contact(world, copy.mirroring.guid, server, copy.mirroring.partner)
    if copy.mirroring.role is Role.PRINCIPAL and not contact.connected and contact.pending == "reconnect":
        # The partner is reachable and may have become principal. Clients may connect only after it has
        # connected.
        started_tick = world.instances[server].started_tick
        world.call_after(PARTNER_CHECK_INTERVAL_S, "database.recovered", server, database, started_tick)
        return
    world.update_copy(key, recovering=False)
    if copy.mirroring.partner is None:
        leave_session(world, key)  # the partner rejected the session before this start
        return
    if copy.mirroring.role is Role.MIRROR:
        errorlog.write_message(world, server, 1444, database)
        world.update_copy(key, db_state=_choose_mirror_db_state(copy))
    else:
        errorlog.write_message(world, server, 1445, database)
    for other_copy in world.list_copies_of(database):
        if (
            other_copy.mirroring.guid == copy.mirroring.guid
            and other_copy.server != server
            and quorum.is_connected_to_partner(world, copy)
        ):
            _connect_partners(world, world.copies[key], other_copy)
            network.schedule_detections(world, copy.mirroring.guid)
            return
    copy = world.copies[key]
    if copy.mirroring.role is Role.PRINCIPAL and quorum.is_connected_to_witness(world, copy):
        _connect_to_witness(world, copy)
    elif copy.mirroring.role is Role.PRINCIPAL and copy.mirroring.witness is None:
        redo.start_serving(world, key)
        roles.set_trace_state(world, key, 12)
    network.schedule_detections(world, copy.mirroring.guid)
