"""Data movement: a primary connects to its secondaries and sends log, and the secondaries catch up."""

from collections.abc import Callable, Iterable
from typing import Final

from msgspec.structs import replace

from engine.availability import replicas, reverting
from engine.cluster import config
from engine.events import DetectedData
from engine.identifiers import make_replica_id
from engine.localization import build_message
from engine.model import (
    NO_AVAILABILITY,
    AvailabilityGroup,
    CommitMode,
    Contact,
    CopyLocation,
    DatabaseCopy,
    DbState,
    Handlers,
    Key,
    ReplicaRole,
    ReplicaWord,
    ResourceState,
    SuspendReason,
    SyncState,
    World,
)
from engine.protocol import errorlog, lineage, network, streams


def connect_secondaries(world: World, guid: int, primary: str) -> None:
    """Connect a new primary to its secondaries and close older connections."""
    group = replicas.find_group_config(world, primary, guid)
    assert group is not None
    for key, _ in world.list_contacts(guid):
        world.remove_contact(key)
    for replica in group.replicas:
        if replica.server != primary and replica.joined and (replica.server, guid) in world.replicas:
            network.open_contact(world, guid, primary, replica.server, connected=False)
            notices = world.instances[replica.server].answering
            follows = world.replicas[replica.server, guid].word is ReplicaWord.SECONDARY_NORMAL
            for copy in (
                replicas.list_group_copies(world, replica.server, guid) if notices and follows else ()
            ):
                if copy.availability.state in replicas.DATA_MOVEMENT_STATES:
                    replicas.set_synchronization_state(world, copy.key, SyncState.NOT_SYNCHRONIZING)
    network.schedule_detections(world, guid)


def follow_primaries(world: World) -> None:
    """Let replicas follow the current primary if they have no primary or a former one.

    This runs after every event.
    """
    for (server, guid), state in sorted(world.replicas.items()):
        if not world.instances[server].answering:
            continue
        if state.word is ReplicaWord.PRIMARY_NORMAL:
            _record_lost_secondaries(world, server, guid)
        elif state.word is ReplicaWord.RESOLVING_PENDING_FAILOVER:
            replicas.end_failed_failover_request(world, server, guid)
        if world.replicas[server, guid].word in (ReplicaWord.RESOLVING_NORMAL, ReplicaWord.SECONDARY_NORMAL):
            _give_up_role(world, server, guid)
            _follow_primary(world, server, guid)


def _record_lost_secondaries(world: World, server: str, guid: int) -> None:
    """Try again to record lost secondaries in the cluster. The primary's commits wait until this succeeds."""
    for copy in replicas.list_group_copies(world, server, guid):
        for peer in copy.availability.lost:
            if copy.availability.get_peer_state(peer) is SyncState.SYNCHRONIZED or _record_readiness(
                world, copy.key, peer, False
            ):
                lost_peers = world.copies[copy.key].availability.lost
                still_lost_peers = tuple(lost_peer for lost_peer in lost_peers if lost_peer != peer)
                world.update_availability(copy.key, lost=still_lost_peers)
                world.mark_session_changed(guid)


def _give_up_role(world: World, server: str, guid: int) -> None:
    """Set a secondary to RESOLVING if the cluster role of its group is offline or failed."""
    node, word = config.find_server_node(world, server), world.replicas[server, guid].word
    group = node.config.find_group(guid) if node is not None else None
    role = node.config.find_role(group.name) if node is not None and group is not None else None
    is_role_down = role is not None and role.state in (ResourceState.OFFLINE, ResourceState.FAILED)
    if is_role_down and word is ReplicaWord.SECONDARY_NORMAL:
        down_word, reason = ReplicaWord.RESOLVING_NORMAL, replicas.CLUSTER_STATE_REASON
        replicas.set_replica_state(world, server, guid, down_word, reason)


def _follow_primary(world: World, server: str, guid: int) -> None:
    from_cluster = replicas.find_group_config(world, server, guid)
    if from_cluster is None or from_cluster.primary == server or not config.has_quorum(world, server):
        return
    node, primary_node = (
        config.find_server_node(world, server),
        config.find_server_node(world, from_cluster.primary),
    )
    if node is None or primary_node is None or not config.has_heartbeat(world, node.name, primary_node.name):
        return
    lead = world.replicas.get((from_cluster.primary, guid))
    own_replica = world.replicas[server, guid]
    if lead is None or lead.word is not ReplicaWord.PRIMARY_NORMAL or own_replica.primary == lead.server:
        return
    if own_replica.word is ReplicaWord.SECONDARY_NORMAL:
        replicas.set_replica_state(
            world, server, guid, ReplicaWord.RESOLVING_NORMAL, replicas.CLUSTER_STATE_REASON
        )
    replicas.set_replica_state(
        world, server, guid, ReplicaWord.SECONDARY_NORMAL, replicas.CLUSTER_STATE_REASON, primary=lead.server
    )
    if (guid, lead.server, server) not in world.contacts or (guid, server, lead.server) not in world.contacts:
        network.open_contact(world, guid, lead.server, server, connected=False)
    network.schedule_detections(world, guid)


# --- connections ------------------------------------------------------------------------------------------


def on_connection_lost(world: World, guid: int, server: str, peer: str, epoch: int, reason: str) -> None:
    """Handle the loss of the connection to *peer*, which *server* has detected (timer handler)."""
    if not network.close_lost_connection(world, guid, server, peer, epoch):
        return
    contact = world.contacts[guid, server, peer]
    world.contacts[guid, server, peer] = replace(contact, lost_by=reason, lost_tick=world.tick)
    if reason == "silent":
        errorlog.write_message(world, server, 35206, peer, make_replica_id(guid, peer))
    world.emit(
        DetectedData(peer=peer, how=reason), build_message("lost {server}", server=peer), server=server
    )
    lead = world.replicas[server, guid].word is ReplicaWord.PRIMARY_NORMAL
    for copy in replicas.list_group_copies(world, server, guid):
        key = (server, copy.database)
        log_disconnection(world, guid, copy.database, server, peer)
        if lead:
            continue_without_secondary(world, key, peer)
        elif world.replicas[server, guid].primary == peer:
            replicas.set_synchronization_state(world, key, SyncState.NOT_SYNCHRONIZING)
    network.schedule_detections(world, guid)


def log_disconnection(world: World, guid: int, database: str, server: str, peer: str) -> None:
    """Log on *server* that its copy of *database* is disconnected from the copy on *peer*."""
    lead = world.replicas[server, guid].word is ReplicaWord.PRIMARY_NORMAL
    kinds = ("secondary", "primary") if lead else ("primary", "secondary")
    errorlog.write_message(world, server, 35267, *kinds, database, peer, make_replica_id(guid, peer))


def close_connections(world: World, server: str) -> None:
    """Close the connections of *server*.

    Each end that is reachable handles the loss immediately. Derived. An unreachable partner detects the
    loss by its session timeout.
    """
    for guid, owner, peer in sorted(key for key in world.contacts if server in key[1:]):
        contact = world.contacts[guid, owner, peer]
        notices = owner == server or network.can_exchange_packets(world, owner, peer)
        if (owner, guid) in world.replicas and contact.connected and notices:
            on_connection_lost(world, guid, owner, peer, contact.epoch, "closed")


def continue_without_secondary(world: World, key: Key, server: str) -> None:
    """Let the primary *key* continue without the lost secondary on *server*. [DOC: availability modes].

    Commits wait until the cluster has recorded the loss. Before that, the secondary could still become
    primary, and would not have these commits.
    """
    peer_state = world.copies[key].availability.get_peer_state(server)
    replicas.set_peer_state(world, key, server, SyncState.NOT_SYNCHRONIZING)
    _set_catch_up_position(world, key, server, None)
    if peer_state is SyncState.SYNCHRONIZED:
        was_changed = _record_readiness(world, key, server, False)
        lost_peers = set(world.copies[key].availability.lost)
        world.update_availability(
            key, lost=tuple(sorted(lost_peers - {server} if was_changed else lost_peers | {server}))
        )
    if not any(state is SyncState.SYNCHRONIZED for _, state in world.copies[key].availability.peers):
        update_primary_state(world, key)


def stop_primary_copy(world: World, key: Key) -> None:
    """Close the copy *key* and stop its log. The other databases of its group continue.

    A synchronized secondary stays ready for failover, because no later commit exists. Documented (KB
    2857849).
    """
    own_availability = world.copies[key].availability
    if own_availability.role is ReplicaRole.PRIMARY:
        for server, _ in own_availability.peers:
            _set_catch_up_position(world, key, server, None)
            replicas.set_peer_state(world, key, server, SyncState.NOT_SYNCHRONIZING)
            stop_receiver(world, key, server)
    elif own_availability.guid is not None:
        primary = (world.replicas[key[0], own_availability.guid].primary or "", key[1])
        if primary in world.copies:
            continue_without_secondary(world, primary, key[0])
    replicas.set_synchronization_state(world, key, SyncState.NOT_SYNCHRONIZING)
    if own_availability.guid is not None:
        world.mark_session_changed(own_availability.guid)


def stop_receiver(world: World, key: Key, server: str) -> None:
    """Stop the copy on *server* that receives log from the primary *key*, if it is reachable."""
    contact = world.contacts.get((world.copies[key].availability.guid or 0, key[0], server))
    if contact is not None and contact.connected and (server, key[1]) in world.copies:
        replicas.set_synchronization_state(world, (server, key[1]), SyncState.NOT_SYNCHRONIZING)


def remove_secondary(world: World, key: Key, server: str) -> None:
    """Remove the secondary on *server* from the knowledge of the primary *key*, which no longer waits for it."""
    own_availability = world.copies[key].availability
    _set_catch_up_position(world, key, server, None)
    peers = tuple(peer_state for peer_state in own_availability.peers if peer_state[0] != server)
    world.update_availability(
        key, peers=peers, lost=tuple(name for name in own_availability.lost if name != server)
    )


def apply_availability_modes(world: World, guid: int, primary: str) -> None:
    """Apply changed availability modes. A pair that is not synchronous no longer counts as synchronized.

    [DOC: availability modes]
    """
    for copy in replicas.list_group_copies(world, primary, guid):
        key = (primary, copy.database)
        for server, state in copy.availability.peers:
            if is_synchronous_pair(world, copy, server) or state is SyncState.NOT_SYNCHRONIZING:
                continue
            _set_catch_up_position(world, key, server, None)
            if state is SyncState.SYNCHRONIZED:
                _record_readiness(world, key, server, False)
                replicas.set_peer_state(world, key, server, SyncState.SYNCHRONIZING)
                replicas.set_synchronization_state(world, (server, copy.database), SyncState.SYNCHRONIZING)
        update_primary_state(world, key)
    world.mark_session_changed(guid)


def update_primary_state(world: World, key: Key) -> None:
    """Update the synchronization state of the primary *key* from its availability mode and suspension."""
    replicas.set_synchronization_state(world, key, _compute_primary_state(world, key))


def _compute_primary_state(world: World, key: Key) -> SyncState:
    """Return the synchronization state of the primary *key*. [DOC: database replica states].

    The state is NOT SYNCHRONIZING if data movement is suspended.
    """
    if world.copies[key].availability.suspended is not None:
        return SyncState.NOT_SYNCHRONIZING
    guid = world.copies[key].availability.guid
    replica = replicas.find_own_replica(world, key[0], guid) if guid is not None else None
    synchronous = replica is not None and replica.mode is CommitMode.SYNCHRONOUS_COMMIT
    return SyncState.SYNCHRONIZED if synchronous else SyncState.SYNCHRONIZING


def _set_readiness(group: AvailabilityGroup, database: str, server: str, ready: bool) -> AvailabilityGroup:
    ready_places = {*group.ready} - {(database, server)} | ({(database, server)} if ready else set())
    return replace(group, ready=tuple(sorted(ready_places)))


def _record_readiness(world: World, key: Key, server: str, ready: bool) -> bool:
    """Record in the cluster whether the copy on *server* is failover ready. Return False without quorum."""
    guid = world.copies[key].availability.guid
    assert guid is not None
    return replicas.change_group(
        world, key[0], guid, lambda group: _set_readiness(group, key[1], server, ready)
    )


def _set_catch_up_position(world: World, key: Key, server: str, kb: float | None) -> None:
    closing = {
        name: close_tick for name, close_tick in world.copies[key].availability.closing if name != server
    }
    if kb is not None:
        closing[server] = kb
    world.update_availability(key, closing=tuple(sorted(closing.items())))


def on_connection_made(world: World, guid: int, own_server: str, peer: str, epoch: int) -> None:
    """Try to connect *own_server* and *peer* (timer handler). Both ends notice success immediately."""
    contact = world.contacts.get((guid, own_server, peer))
    if contact is None or contact.epoch != epoch or contact.connected:
        return
    other_contact = world.contacts.get((guid, peer, own_server))
    if other_contact is None or not network.can_connect(world, guid, own_server, peer):
        world.contacts[guid, own_server, peer] = replace(contact, pending="", epoch=epoch + 1)
        return
    if other_contact.connected:
        on_connection_lost(world, guid, peer, own_server, other_contact.epoch, "closed")
        network.schedule_detections(world, guid)
        return
    if not {(own_server, guid), (peer, guid)} <= world.replicas.keys():
        return  # one of the two servers has left the AG
    words = {server: world.replicas[server, guid].word for server in (own_server, peer)}
    if set(words.values()) != {ReplicaWord.PRIMARY_NORMAL, ReplicaWord.SECONDARY_NORMAL}:
        _retry_connection(world, guid, own_server, peer, contact)
        return
    network.open_contact(world, guid, own_server, peer)
    world.emit(
        DetectedData(peer=peer, how="connected"),
        build_message("connected to {server}", server=peer),
        server=own_server,
    )
    primary, secondary = (
        (own_server, peer) if words[own_server] is ReplicaWord.PRIMARY_NORMAL else (peer, own_server)
    )
    group = replicas.find_group_config(world, primary, guid)
    name = group.name if group is not None else ""
    ends = [part for server in (primary, secondary) for part in (server, make_replica_id(guid, server))]
    errorlog.write_message(world, primary, 35202, name, *ends)
    errorlog.write_message(world, secondary, 35202, name, *ends[2:], *ends[:2])
    for copy in replicas.list_group_copies(world, secondary, guid):
        connect_copies(world, (primary, copy.database), (secondary, copy.database))
    network.schedule_detections(world, guid)


def _retry_connection(world: World, guid: int, server: str, peer: str, contact: Contact) -> None:
    """Schedule another attempt, because one of the two replicas is neither primary nor secondary yet."""
    world.contacts[guid, server, peer] = replace(contact, pending="", epoch=contact.epoch + 1)
    world.call_after(1.0, "availability.call", guid)


def retry_connections(world: World, guid: int) -> None:
    """Retry failed connections (timer handler)."""
    network.schedule_detections(world, guid)


# --- flow of log --------------------------------------------------------------------------------------------


def connect_copies(world: World, primary: Key, secondary: Key) -> None:
    """Connect the primary and secondary copy of a database. Log then flows unless data movement is suspended."""
    lead, follower = world.copies.get(primary), world.copies[secondary]
    if lead is None or lead.source is None or follower.recovering or lead.disk_failed or follower.disk_failed:
        return
    if lead.availability.guid != follower.availability.guid:
        return  # the primary has left the AG, and the secondary does not know it yet
    guid = follower.availability.guid
    if follower.availability.suspended is not None or lead.availability.suspended is not None:
        replicas.set_peer_state(world, primary, secondary[0], SyncState.NOT_SYNCHRONIZING)
        _acknowledge_suspension(world, secondary)
        return
    if {follower.fork, follower.former_fork}.isdisjoint((lead.fork, lead.former_fork)):
        errorlog.write_message(world, secondary[0], 1408, secondary[1], state=103)
        _suspend_incompatible_copy(world, primary, secondary, SuspendReason.XRF_UPDATE)
        return
    if world.instances[primary[0]].version > world.instances[secondary[0]].version:
        _suspend_incompatible_copy(world, primary, secondary, SuspendReason.PARTNER)
        return
    end = streams.get_end_of_log_kb(world, follower)
    common = min(end, lineage.find_common_kb(lead.lineage, follower.lineage))
    revert_kb = reverting.compute_revert_kb(follower, end - common)
    if follower.availability.state is SyncState.REVERTING and follower.availability.revert_kb:
        return
    if revert_kb > 0.0 and not _can_receive(world, lead, follower):
        reverting.begin_revert(world, lead, follower, common, revert_kb)
        return
    if not _can_receive(world, lead, follower):
        # Do not log a restart of a REVERTING secondary, because it was already restarted for the revert.
        reverted = follower.availability.state is SyncState.REVERTING
        if follower.stream is None and follower.db_state is not DbState.RESTORING and not reverted:
            errorlog.write_message(world, secondary[0], 35278, secondary[1])
            errorlog.write_message(world, secondary[0], 17137, secondary[1])
        streams.stop_log(world, follower)
        world.update_copy(secondary, lineage=lead.lineage, fork=lead.fork, former_fork=lead.former_fork)
        streams.attach_receiver(world, lead.source, secondary)
    stream = world.copies[secondary].stream
    assert stream is not None
    streams.resend_lost_log(world, stream)
    world.update_copy(secondary, lineage=lead.lineage, fork=lead.fork, former_fork=lead.former_fork,
                      db_state=DbState.ONLINE)  # fmt: skip
    world.update_availability(secondary, **replicas.get_allowed_connections(world, secondary))
    new_kb = [file.added_kb for file in lead.extra_files if file not in follower.extra_files]
    world.call_after(0.0, "availability.replay", *secondary, min(new_kb, default=0.0))
    for server, kinds in ((primary[0], ("secondary", "primary")), (secondary[0], ("primary", "secondary"))):
        other_server = secondary[0] if server == primary[0] else primary[0]
        errorlog.write_message(
            world, server, 35266, *kinds, primary[1], other_server, make_replica_id(guid or 0, other_server)
        )
    replicas.set_synchronization_state(world, secondary, SyncState.SYNCHRONIZING)
    replicas.set_peer_state(world, primary, secondary[0], SyncState.SYNCHRONIZING)
    update_primary_state(world, primary)


def _acknowledge_suspension(world: World, key: Key) -> None:
    """Log at the secondary that a forced failover suspended its copy. [DOC: forced failover].

    Then remove the copy from the pending suspensions in the cluster.
    """
    guid, copy_key = world.copies[key].availability.guid, (key[1], key[0])
    group = replicas.find_group_config(world, key[0], guid) if guid is not None else None
    if guid is None or group is None or copy_key not in group.pending_suspend:
        return
    reason = SuspendReason.PARTNER
    errorlog.write_message(
        world, key[0], 35264, key[1], "partner", int(reason), f"SUSPEND_FROM_{reason.name}"
    )
    world.update_availability(key, suspended=reason)
    pending_places = tuple(place for place in group.pending_suspend if place != copy_key)
    replicas.change_group(world, key[0], guid, lambda old: replace(old, pending_suspend=pending_places))


def _suspend_incompatible_copy(world: World, primary: Key, secondary: Key, reason: SuspendReason) -> None:
    """Suspend a secondary to which the primary cannot send log.

    One cause is repeated forced failovers: each copy tracks two forks, so the two copies may share no
    recovery fork (1408, state 103). The other cause is an older version of the secondary's instance.
    [DOC: forced failover; upgrading replicas]
    """
    _record_readiness(world, primary, secondary[0], False)
    replicas.set_peer_state(world, primary, secondary[0], SyncState.NOT_SYNCHRONIZING)
    replicas.set_synchronization_state(world, secondary, SyncState.NOT_SYNCHRONIZING)
    world.update_availability(secondary, suspended=reason)
    errorlog.write_message(
        world, secondary[0], 35264, secondary[1], "system", int(reason), f"SUSPEND_FROM_{reason.name}"
    )


def _can_receive(world: World, lead: DatabaseCopy, follow: DatabaseCopy) -> bool:
    return follow.stream is not None and world.flow.get_stream_source(follow.stream) == lead.source


def on_revert_done(world: World, guid: int, server: str, database: str) -> None:
    """Finish the revert of a secondary whose log had diverged from the primary's log (timer handler)."""
    copy = world.copies.get((server, database))
    state = world.replicas.get((server, guid))
    if copy is None or state is None or copy.availability.state is not SyncState.REVERTING:
        return
    contact = world.contacts.get((guid, server, state.primary or ""))
    if contact is not None and contact.connected and state.primary is not None:
        world.update_availability((server, database), revert_kb=0.0, revert_since=0)
        connect_copies(world, (state.primary, database), (server, database))


def is_synchronous_pair(world: World, lead: DatabaseCopy, server: str) -> bool:
    """Return whether primary and secondary are both in synchronous-commit mode. [DOC: availability modes]."""
    guid = lead.availability.guid
    group = replicas.find_group_config(world, lead.server, guid) if guid is not None else None
    ends = (group.find_replica(lead.server), group.find_replica(server)) if group is not None else ()
    return bool(ends) and all(end is not None and end.mode is CommitMode.SYNCHRONOUS_COMMIT for end in ends)


def should_wait_for_secondary(world: World, lead: DatabaseCopy, server: str) -> bool:
    """Return whether commits of the primary *lead* must wait for the secondary on *server*.

    Even if the secondary is not connected, commits must wait if fewer secondaries are synchronized than
    REQUIRED_SYNCHRONIZED_SECONDARIES_TO_COMMIT. [DOC: CREATE AVAILABILITY GROUP]
    """
    own_availability = lead.availability
    group = (
        replicas.find_group_config(world, lead.server, own_availability.guid)
        if own_availability.guid is not None
        else None
    )
    if group is None or not group.required_synchronized or own_availability.role is not ReplicaRole.PRIMARY:
        return False
    count = sum(state is SyncState.SYNCHRONIZED for _, state in own_availability.peers)
    return count < group.required_synchronized and is_synchronous_pair(world, lead, server)


def on_caught_up(world: World, stream: int) -> None:
    """Advance a secondary toward SYNCHRONIZED when at most one log block remains to be sent (flow handler)."""
    secondary = world.streams[stream]
    primary = world.sources[world.flow.get_stream_source(stream)]
    lead = world.copies[primary]
    if secondary is None or lead.availability.get_peer_state(secondary[0]) is not SyncState.SYNCHRONIZING:
        return
    if not is_synchronous_pair(world, lead, secondary[0]):
        return
    closing = dict(lead.availability.closing).get(secondary[0])
    if closing is None:
        # From now on commits wait for the secondary. It is SYNCHRONIZED when all earlier commits have arrived.
        _set_catch_up_position(
            world,
            primary,
            secondary[0],
            world.flow.read_source_positions(world.flow.get_stream_source(stream)).committed_kb,
        )
        return
    guid = lead.availability.guid
    if guid is None or world.flow.read_stream_positions(stream).hardened_kb < closing:
        return
    if _record_readiness(world, primary, secondary[0], True):
        _set_catch_up_position(world, primary, secondary[0], None)
        replicas.set_peer_state(world, primary, secondary[0], SyncState.SYNCHRONIZED)
        replicas.set_synchronization_state(world, secondary, SyncState.SYNCHRONIZED)


HANDLERS: Final[Handlers] = {"availability.call": retry_connections, "availability.reverted": on_revert_done}


# --- removal of copies and replicas that their group's configuration no longer contains --------------------


def remove_copies(group: AvailabilityGroup, is_removed: Callable[[CopyLocation], bool]) -> AvailabilityGroup:
    """Return the configuration without the (database, server) pairs for which *is_removed* is true.

    A database that has no pair left is removed, too.
    """
    joined_places = tuple(copy_key for copy_key in group.joined if not is_removed(copy_key))
    remaining_databases = {database for database, _ in joined_places}
    return replace(
        group,
        databases=tuple(database for database in group.databases if database in remaining_databases),
        joined=joined_places,
        ready=tuple(copy_key for copy_key in group.ready if not is_removed(copy_key)),
        pending_suspend=tuple(copy_key for copy_key in group.pending_suspend if not is_removed(copy_key)),
    )


def apply_removals(world: World, name: str = "") -> None:
    """Remove copies and replicas that the configuration no longer contains.

    *name*: name of a group that has just been dropped; empty if there is none.
    """
    for server, guid in sorted(world.replicas):
        if world.instances[server].answering and config.has_quorum(world, server):
            _record_departed_copies(world, server, guid)
            _remove_replica(world, server, guid, name)


def _record_departed_copies(world: World, server: str, guid: int) -> None:
    """Remove from the configuration the copies that left the group while their server had no quorum."""
    members = {copy.database for copy in replicas.list_group_copies(world, server, guid)}

    def is_orphaned(database_place: CopyLocation) -> bool:
        return (
            database_place[1] == server
            and (server, database_place[0]) in world.copies
            and database_place[0] not in members
        )

    group = replicas.find_group_config(world, server, guid)
    if group is not None and any(map(is_orphaned, group.joined)):
        replicas.change_group(world, server, guid, lambda old: remove_copies(old, is_orphaned))


def _remove_replica(world: World, server: str, guid: int, name: str) -> None:
    group = replicas.find_group_config(world, server, guid)
    belongs = group is not None and group.find_replica(server) is not None
    if not belongs:
        errorlog.write_message(world, server, 41096, group.name if group is not None else name)
    for copy in replicas.list_group_copies(world, server, guid):
        if group is None or (copy.database, server) not in group.joined:
            remove_copy_from_group(world, server, copy.database, guid)
    if not belongs:
        remove_local_replica(world, server, guid)
    world.mark_session_changed(guid)


def remove_local_replica(world: World, server: str, guid: int) -> None:
    """Remove the replica on *server* without changing the cluster database. Its copies become RESTORING."""
    for copy in replicas.list_group_copies(world, server, guid):
        remove_copy_from_group(world, server, copy.database, guid)
    for key, _ in world.list_contacts(guid):
        if server in key[1:]:
            world.remove_contact(key)
    del world.replicas[server, guid]
    world.mark_session_changed(guid)


def stop_sending(world: World, server: str, databases: Iterable[str]) -> None:
    """Stop sending the log of the copies on *server*. Receivers may notice this later."""
    for database in databases:
        copy = world.copies.get((server, database))
        if copy is not None and copy.source is not None:
            for stream in list(world.flow.list_source_streams(copy.source)):
                streams.detach_receiver(world, stream)


def remove_copy_from_group(world: World, server: str, database: str, guid: int) -> None:
    """Set the copy to RESTORING because it leaves the group, and remove it from the primary's knowledge.

    A partly reverted copy needs a new restore. [DOC: reverting state]
    """
    key = (server, database)
    partly_reverted = world.copies[key].availability.revert_kb > 0.0
    lead = world.replicas[server, guid].primary
    contact = world.contacts.get((guid, server, lead or ""))
    if contact is not None and contact.connected and lead is not None:
        for me, peer in ((server, lead), (lead, server)):
            if (me, guid) in world.replicas:
                log_disconnection(world, guid, database, me, peer)
    streams.stop_log(world, world.copies[key])
    # The time of the last log backup is now. The copy contains the log of all earlier log backups, except for
    # backups that end after its own log.
    world.update_copy(
        key,
        availability=NO_AVAILABILITY,
        db_state=DbState.RESTORING,
        restoring=world.next_id() if partly_reverted else 0,
        recovering=False,
        last_log_backup_tick=world.tick,
    )
    if lead is not None and lead != server and (lead, database) in world.copies:
        remove_secondary(world, (lead, database), server)
