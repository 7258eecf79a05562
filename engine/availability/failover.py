"""Change of a group's primary: check of the target, redo, and the opening of the databases.

[DOC: failover modes]
"""

from typing import Final

from msgspec.structs import replace

from engine.availability import movement, replicas
from engine.cluster import config, roles
from engine.events import FailoverData
from engine.flow.failover_times import compute_undo_s
from engine.localization import LocalizableMessage, build_message, mark
from engine.mirroring.redo import adopt_properties
from engine.model import (
    AvailabilityGroup,
    AvailabilityListener,
    DatabaseCopy,
    DbState,
    EndpointState,
    Failover,
    FailoverMode,
    FieldOf,
    Handlers,
    Key,
    ReplicaRole,
    ReplicaWord,
    ResourceState,
    SuspendReason,
    SyncState,
    World,
)
from engine.protocol import commits, errorlog, lineage, loss_causes, name_resolution, network, streams

DATABASES_OPEN_S: Final = 2.5
"""Time from the end of redo until the databases of the new primary are open.

Derived from a published trace of a planned failover of small databases: 7 s from RESOLVING at the old primary to
PRIMARY_NORMAL at the new one.
"""

LISTENER_ONLINE_S: Final = 1.5
"""Time until the address and network name of the listener are online. The databases open after that.

Derived from the same published trace of a planned failover as DATABASES_OPEN_S.
"""

DATABASES_CLOSE_S: Final = 3.0
"""Time that a healthy primary needs to close its databases. Derived from the trace for DATABASES_OPEN_S."""

DURATION_RELATIVE_SD: Final = 0.10
"""Relative standard deviation of durations in repeated runs. Assumed, as for mirroring."""

MESSAGE_19420_SINCE: Final = 2014
"""First version with message 19420. [DOC: Database Engine events and errors]"""

STEP_RETRY_INTERVAL_S: Final = 0.5
"""Interval between attempts of a failover step that is not yet possible. Assumed."""


# --- conditions of a failover -------------------------------------------------------------------------------


def is_failover_ready(group: AvailabilityGroup, server: str) -> bool:
    """Return whether the cluster records every database of the group as failover ready on *server*."""
    return bool(group.databases) and all((database, server) in group.ready for database in group.databases)


def is_automatic_target(group: AvailabilityGroup, server: str) -> bool:
    """Return whether the current primary and *server* both have automatic failover.

    [DOC: failover modes, failover sets].
    """
    ends = (group.find_replica(group.primary), group.find_replica(server))
    return all(end is not None and end.failover is FailoverMode.AUTOMATIC for end in ends)


def find_ineligibility_reason(
    world: World, group: AvailabilityGroup, server: str
) -> LocalizableMessage | None:
    """Return the reason why *server* may not become primary at the cluster's request, or None.

    The result is None for a replica that received a failover statement, which is not checked again.
    With forced quorum, no other replica may become primary in this way. Otherwise the former primary
    always may, because it has the reference copy.
    """
    if replicas.is_failover_requested(world, group, server):
        return None
    node = config.find_server_node(world, server)
    if node is None or node.config.forced:
        return build_message("the cluster runs with forced quorum")
    if server == group.primary:
        return None
    if not is_automatic_target(group, server):
        return build_message("{server} is not an automatic failover target", server=server)
    if not is_failover_ready(group, server):
        return build_message("not all databases are synchronized on {server}", server=server)
    return None


# --- steps of a failover ------------------------------------------------------------------------------------

STEP_TEMPLATES: Final = {
    "automatic": mark("automatic failover {server} -> {other}: {step}"),
    "manual": mark("manual failover {server} -> {other}: {step}"),
    "forced": mark("forced failover {server} -> {other}: {step}"),
    "role-move": mark("moving the role {server} -> {other}: {step}"),
}
FAILURE_TEMPLATES: Final = {
    "automatic": mark("automatic failover {server} -> {other} failed: {why}"),
    "manual": mark("manual failover {server} -> {other} failed: {why}"),
    "forced": mark("forced failover {server} -> {other} failed: {why}"),
    "role-move": mark("moving the role {server} -> {other} failed: {why}"),
}


def _record_step(world: World, failover: Failover, step: str) -> None:
    template = FAILURE_TEMPLATES[failover.kind] if failover.why else STEP_TEMPLATES[failover.kind]
    text = build_message(
        template, server=failover.from_server, other=failover.to_server, step=step, why=failover.why
    )
    world.emit(
        FailoverData(step=step, failover_kind=failover.kind, cause=failover.cause, why=failover.why or None),
        text,
        server=failover.to_server,
        database=failover.database,
    )


def _update_failover(world: World, failover: Failover, **changes: FieldOf[Failover]) -> Failover:
    new_failover = replace(failover, **changes)
    world.failovers[world.latest_failover[failover.guid]] = new_failover
    return new_failover


def find_running_failover(world: World, copy: DatabaseCopy) -> Failover | None:
    """Return the running failover of the copy's database, if any."""
    return world.find_running_failover(copy.availability.database_guid)


def begin_failover(world: World, guid: int, server: str) -> None:
    """Let the replica on *server* accept the primary role. It redoes its log and then opens its databases."""
    group = replicas.find_group_config(world, server, guid)
    assert group is not None
    replica_state = world.replicas[server, guid]
    is_requested = replicas.is_failover_requested(world, group, server)
    kind = (replica_state.pending if is_requested else "") or (
        "role-move" if _was_moved_in_cluster(world, group, server) else "automatic"
    )
    replicas.set_replica_state(
        world, server, guid, ReplicaWord.PRIMARY_PENDING, replicas.ONLINE_REASON, pending=kind
    )
    for copy in replicas.list_group_copies(world, server, guid):
        if group.primary != server:
            _begin_database_failover(world, group, copy, kind, replica_state.since_tick)
        if copy.source is not None:
            world.dirty.add(copy.source)
        elif copy.stream is not None:
            world.dirty.add(world.flow.get_stream_source(copy.stream))
    if group.listener is not None:
        world.listeners[group.listener.name] = None
    open_redone_databases(world, guid, server)


def _was_moved_in_cluster(world: World, group: AvailabilityGroup, server: str) -> bool:
    """Return whether a person moved the role with cluster tools instead of SQL Server."""
    node = config.find_server_node(world, server)
    role = node.config.find_role(group.name) if node is not None else None
    return role is not None and role.way == "move"


def _begin_database_failover(
    world: World, group: AvailabilityGroup, copy: DatabaseCopy, kind: str, asked_tick: int
) -> None:
    cause, failed_tick = loss_causes.find_loss_cause(world, group.primary, copy.server)
    if kind == "manual":
        cause, failed_tick = "manual", asked_tick
    elif kind == "role-move":
        account = world.availability[copy.database]
        cause, failed_tick = "move-role", world.tick if account.serving else account.since_tick
    old_copy = world.copies.get((group.primary, copy.database))
    undo = (
        compute_undo_s(world.flow, copy.stream, old_copy.open_log_kb)
        if copy.stream is not None and old_copy is not None
        else 0.0
    )
    failover = Failover(
        guid=copy.availability.database_guid,
        database=copy.database,
        kind=kind,
        cause=cause,
        from_server=group.primary,
        to_server=copy.server,
        under_load=old_copy is not None and streams.is_under_load(old_copy),
        failed_tick=min(failed_tick, world.tick),
        detected_tick=world.tick,
        agreed_tick=world.tick,
        redo_done_tick=world.tick if copy.stream is None else None,
        promote_s=(DATABASES_OPEN_S + LISTENER_ONLINE_S)
        * world.chance.draw_lognormal(1.0, DURATION_RELATIVE_SD),
        undo_s=undo,
    )
    world.latest_failover[failover.guid] = len(world.failovers)
    world.failovers.append(failover)
    _record_step(
        world, failover, build_message("detected") if kind == "automatic" else build_message("accepted")
    )


def on_redo_done(world: World, stream: int) -> None:
    """Record that a failover target has redone its log (flow handler).

    If all databases of the group are redone, begin to open them.
    """
    source, key = world.flow.get_stream_source(stream), world.streams[stream]
    failover = find_running_failover(world, world.copies[key]) if key is not None else None
    if key is None or failover is None or failover.redo_done_tick is not None or failover.to_server != key[0]:
        return
    unhardened_kb = (
        world.flow.read_source_positions(source).flushed_kb
        - world.flow.read_stream_positions(stream).hardened_kb
    )
    lead = world.contacts.get((world.copies[key].availability.guid or 0, world.sources[source][0], key[0]))
    readable = not world.copies[world.sources[source]].disk_failed
    if (
        failover.kind == "manual"
        and lead is not None
        and lead.connected
        and readable
        and unhardened_kb > 1e-6
    ):
        return  # the tail of the log is still being sent
    _record_step(
        world, _update_failover(world, failover, redo_done_tick=world.tick), build_message("redo done")
    )
    world.mark_log_changed(
        world.copies[key]
    )  # the log needs a new setup, because the flow model no longer watches its redo
    guid = world.copies[key].availability.guid
    assert guid is not None
    open_redone_databases(world, guid, key[0])


def open_redone_databases(world: World, guid: int, server: str) -> None:
    """Begin to open the databases of the replica if all of them have been redone."""
    state = world.replicas.get((server, guid))
    if state is None or state.word is not ReplicaWord.PRIMARY_PENDING:
        return
    waiting = [find_running_failover(world, copy) for copy in replicas.list_group_copies(world, server, guid)]
    failovers = [failover for failover in waiting if failover is not None and failover.to_server == server]
    if any(failover.redo_done_tick is None or failover.decided_tick is not None for failover in failovers):
        return
    for failover in failovers:
        _record_step(
            world, _update_failover(world, failover, decided_tick=world.tick), build_message("decided")
        )
    promote_s = max((failover.promote_s for failover in failovers), default=DATABASES_OPEN_S)
    world.call_after(promote_s, "availability.online", guid, server, state.since_tick)


def become_primary(world: World, guid: int, server: str, since_tick: int) -> None:
    """Make the replica primary and open its databases (timer handler)."""
    state, group = world.replicas.get((server, guid)), replicas.find_group_config(world, server, guid)
    if (
        group is None
        or state is None
        or state.word is not ReplicaWord.PRIMARY_PENDING
        or state.since_tick != since_tick
    ):
        return
    node = config.find_server_node(world, server)
    if world.instances[server].hung or node is None or not config.can_write_config(world, node.name):
        world.call_after(STEP_RETRY_INTERVAL_S, "availability.online", guid, server, since_tick)
        return
    role = node.config.find_role(group.name)
    if role is not None and (role.owner != node.name or role.state is not ResourceState.ONLINE_PENDING):
        # the cluster has moved the role to another node or has stopped it
        close_replica(world, server, guid, replicas.CLUSTER_STATE_REASON)
        return
    forced = state.pending == "forced"
    for copy in replicas.list_group_copies(world, server, guid):
        _promote(world, group, copy, forced)
    replicas.change_group(
        world, server, guid, lambda old: _build_new_configuration(world, old, server, forced)
    )
    replicas.set_replica_state(
        world, server, guid, ReplicaWord.PRIMARY_NORMAL, replicas.ONLINE_COMPLETED_REASON, primary=server
    )
    for copy in replicas.list_group_copies(world, server, guid):
        movement.update_primary_state(world, (server, copy.database))
        failover = find_running_failover(world, copy)
        if failover is not None and failover.to_server != server:
            _record_step(
                world, _update_failover(world, failover, why=replicas.CLUSTER_STATE_REASON), "cancelled"
            )
        elif failover is not None:
            undo = failover.undo_s
            errorlog.write_message(
                world, server, 3421, copy.database, copy.database_id, int(undo), 0, 0, int(undo * 1000)
            )
            _record_step(
                world, _update_failover(world, failover, online_tick=world.tick), build_message("online")
            )
            world.call_after(failover.undo_s, "availability.undone", failover.guid, failover.detected_tick)
    if group.listener is not None:
        bring_listener_online(world, server, group.listener)
    movement.connect_secondaries(world, guid, server)
    node = config.find_server_node(world, server)
    if node is not None:
        roles.report_online(world, group.name, node.name)


def _build_new_configuration(
    world: World, group: AvailabilityGroup, server: str, forced: bool
) -> AvailabilityGroup:
    """Return the configuration that a new primary writes.

    Copies on other servers are not ready until they are synchronized.

    There is one exception: the old primary becomes primary again, but has lost the files of a database.
    Nothing was committed in this database meanwhile, so each of its copies keeps its readiness. This is
    documented for the loss of a database (KB 2857849), and derived for the restart of the group.
    """
    copies = replicas.list_group_copies(world, server, group.guid)
    closed_databases = {copy.database for copy in copies if copy.disk_failed and server == group.primary}
    own_places = {(database, server) for database in group.databases if (server, database) in world.copies}
    kept_places = {place for place in group.ready if place[0] in closed_databases}
    other_places = (
        tuple(copy_key for copy_key in group.joined if copy_key[1] != server)
        if forced
        else group.pending_suspend
    )
    ready_places = tuple(sorted(own_places | kept_places))
    return replace(group, primary=server, ready=ready_places, pending_suspend=other_places)


def _promote(world: World, group: AvailabilityGroup, copy: DatabaseCopy, forced: bool) -> None:
    if forced:
        suspend_other_copies(world, group, copy.database, copy.server)
    key = copy.key
    old_copy = world.copies.get((group.primary, copy.database))
    if copy.stream is not None:
        hardened_kb = world.flow.read_stream_positions(copy.stream).hardened_kb
        writer = world.copies[world.sources[world.flow.get_stream_source(copy.stream)]]
        adopt_properties(world, writer, copy, hardened_kb)
        if old_copy is not None:
            _record_stream_loss(world, copy, old_copy, copy.stream)
        streams.promote_receiver(world, copy.stream)
    elif copy.source is None:
        hardened_kb = copy.end_of_log_kb
        if old_copy is not None and old_copy.server != copy.server:
            _record_lost_commits(world, copy, old_copy, hardened_kb)
        streams.add_source(world, key, hardened_kb)
    elif forced and not copy.disk_failed:  # the former primary continues its own log as a new recovery fork
        hardened_kb = streams.get_end_of_log_kb(world, copy)
        if old_copy is not None and old_copy.server != copy.server:
            _record_lost_commits(world, copy, old_copy, hardened_kb)
    else:
        if not copy.disk_failed:
            world.update_copy(key, recovering=False, db_state=DbState.ONLINE)
        return  # the former primary continues its own log
    if forced:
        world.update_copy(key, fork=world.next_id(), former_fork=copy.fork)
    world.update_copy(
        key,
        db_state=DbState.RECOVERY_PENDING if copy.disk_failed else DbState.ONLINE,
        recovering=False,
        lineage=lineage.build_branch_lineage(world, world.copies[key].lineage, hardened_kb),
    )
    world.update_availability(key, suspended=None)


def suspend_other_copies(world: World, group: AvailabilityGroup, database: str, primary: str) -> None:
    """Suspend data movement to all other copies after a forced failover. Each must be resumed at its replica.

    [DOC: forced failover]
    """
    for copy_key in group.joined:
        key = (copy_key[1], database)
        if copy_key[0] != database or copy_key[1] == primary or key not in world.copies:
            continue
        world.update_availability(key, suspended=SuspendReason.PARTNER)
        replicas.set_synchronization_state(world, key, SyncState.NOT_SYNCHRONIZING)


def _record_stream_loss(world: World, copy: DatabaseCopy, old_primary: DatabaseCopy, stream: int) -> None:
    hardened_kb = world.flow.read_stream_positions(stream).hardened_kb
    _record_lost_commits(world, copy, old_primary, hardened_kb)


def _record_lost_commits(world: World, copy: DatabaseCopy, old_primary: DatabaseCopy, kept_kb: float) -> None:
    """Record the acknowledged commits that are lost at a failover.

    *kept_kb*: end of the new primary's hardened log.
    """
    committed_kb = streams.get_committed_kb(world, old_primary)
    count = commits.count_transactions(world, old_primary, kept_kb, committed_kb)
    failover = find_running_failover(world, copy)
    if count == 0 or failover is None:
        return
    lost_kb = max(0.0, committed_kb - kept_kb)
    _update_failover(world, failover, lost_transactions=count, lost_kb=lost_kb)
    world.update_copy(old_primary.key, written_off_kb=committed_kb)
    commits.record_lost_commits(world, old_primary.database, copy.server, count, lost_kb, commits.THIS_COPY)


def on_undo_done(world: World, guid: int, detected_tick: int) -> None:
    """Finish the rollback of uncommitted transactions on the new primary (timer handler)."""
    failover = world.failovers[world.latest_failover[guid]]
    if failover.detected_tick == detected_tick and not failover.why:
        _record_step(
            world, _update_failover(world, failover, undo_done_tick=world.tick), build_message("undo done")
        )


def cancel_failover(world: World, key: Key, reason: str) -> None:
    """Cancel the failover of a copy. If its instance is lost, the cluster tries another node.

    If only its disk is lost, the other databases of the group still come online. [DOC: database level health
    detection]
    """
    copy = world.copies[key]
    failover = find_running_failover(world, copy)
    guid = copy.availability.guid
    if failover is None or guid is None or failover.to_server != key[0]:
        return
    _record_step(world, _update_failover(world, failover, why=reason), "cancelled")
    group, node = replicas.find_group_config(world, key[0], guid), config.find_server_node(world, key[0])
    if world.instances[key[0]].running and (group is None or not group.db_failover):
        open_redone_databases(world, guid, key[0])
    elif group is not None and node is not None:
        roles.handle_refusal(world, group.name, node.name, reason)


def close_replica(world: World, server: str, guid: int, reason: str, *, pending: str = "") -> None:
    """Close the replica on *server*: disconnect its clients and stop its log.

    *pending*: kind of a requested failover that continues; empty if there is none.
    """
    group = replicas.find_group_config(world, server, guid)
    state = world.replicas.get((server, guid))
    if state is None or state.word in (ReplicaWord.RESOLVING_NORMAL, ReplicaWord.NOT_AVAILABLE):
        return
    if state.word in (ReplicaWord.PRIMARY_NORMAL, ReplicaWord.PRIMARY_PENDING):
        name = group.name if group is not None else ""
        errorlog.write_message(
            world, server, 41091 if reason is replicas.LEASE_EXPIRED_REASON else 41075, name
        )
        if reason is replicas.OFFLINE_REASON and world.instances[server].version >= MESSAGE_19420_SINCE:
            errorlog.write_message(world, server, 19420, name)
    replicas.set_replica_state(world, server, guid, ReplicaWord.RESOLVING_NORMAL, reason, pending=pending)
    if state.role is ReplicaRole.PRIMARY:
        for copy in replicas.list_group_copies(world, server, guid):
            errorlog.write_message(world, server, 35299, copy.database, 100)
    if (
        group is not None
        and group.listener is not None
        and world.listeners.get(group.listener.name) == server
    ):
        world.listeners[group.listener.name] = None
        errorlog.write_message(world, server, 26070, group.listener.name)
    network.schedule_detections(world, guid)


def close_hung_replica(world: World, server: str, group: AvailabilityGroup) -> None:
    """Take *group* offline on the hung instance *server*.

    The instance closes its replica when it responds again.
    """
    replicas.defer_role_loss(world, server, replicas.LEASE_EXPIRED_REASON, group.guid)
    if group.listener is not None and world.listeners.get(group.listener.name) == server:
        world.listeners[group.listener.name] = None
    network.schedule_detections(world, group.guid)


def _close_stopped_primary(world: World, server: str, guid: int) -> None:
    """Close a primary whose role is offline or failed in the cluster, so that its lease is not renewed.

    [DOC: lease timeout].
    """
    group, known_config = (
        replicas.find_group_config(world, server, guid),
        config.find_known_config(world, server),
    )
    role = known_config.find_role(group.name) if group is not None and known_config is not None else None
    if role is not None and role.state in (ResourceState.OFFLINE, ResourceState.FAILED):
        close_replica(world, server, guid, replicas.CLUSTER_STATE_REASON)


def detect_missed_changes(world: World) -> None:
    """Let instances react to changes that they missed while they hung, and to roles that the cluster stopped.

    This runs after every event. [DOC: lease timeout].
    """
    for (server, guid), state in sorted(world.replicas.items()):
        if state.word is ReplicaWord.PRIMARY_NORMAL and world.instances[server].answering:
            _close_stopped_primary(world, server, guid)
            state = world.replicas[server, guid]
        if not state.owed or not world.instances[server].answering:
            continue
        world.replicas[server, guid] = replace(state, owed="")
        if not config.has_quorum(world, server):
            replicas.on_quorum_lost(world, server)
            continue
        group = replicas.find_group_config(world, server, guid)
        if state.word in (ReplicaWord.PRIMARY_NORMAL, ReplicaWord.PRIMARY_PENDING) and group is not None:
            if world.instances[server].version >= MESSAGE_19420_SINCE:
                errorlog.write_message(world, server, 19421, group.name)
            errorlog.write_message(world, server, 19407, group.name)
        close_replica(world, server, guid, replicas.LEASE_EXPIRED_REASON)


def on_listener_online(world: World, guid: int) -> None:
    """Let a new or restarted listener accept connections at the primary (timer handler)."""
    for server, number in sorted(world.replicas):
        group = replicas.find_group_config(world, server, guid) if number == guid else None
        led = world.replicas[server, number].word is ReplicaWord.PRIMARY_NORMAL
        if group is not None and group.listener is not None and led:
            bring_listener_online(world, server, group.listener)


def bring_listener_online(world: World, server: str, listener: AvailabilityListener) -> None:
    """Bring the listener's network name and its address in the server's subnet online, and update DNS."""
    register_in_dns(world, server, listener)
    if world.listeners[listener.name] is None:
        errorlog.write_message(world, server, 26024, listener.name, "ipv4", listener.port, ADDRESS_IN_USE)
    else:
        errorlog.write_message(world, server, 26069, listener.name)


ADDRESS_IN_USE: Final = 0x2740
"""Windows error 10048 in message 26024: another program uses the port."""


def is_port_taken(world: World, server: str, port: int) -> bool:
    """Return whether the instance's endpoint listens on *port*, so that a listener cannot use it."""
    endpoint = world.instances[server].endpoint
    return endpoint is not None and endpoint.state is EndpointState.STARTED and endpoint.port == port


def register_in_dns(world: World, server: str, listener: AvailabilityListener) -> None:
    """Register the listener's addresses in DNS, as RegisterAllProvidersIP and HostRecordTTL currently demand.

    [DOC: availability group listeners].
    """
    world.listeners[listener.name] = None if is_port_taken(world, server, listener.port) else server
    node = config.find_server_node(world, server)
    subnet = node.subnet if node is not None else ""
    online = next((address for address in listener.addresses if address.rpartition(".")[0] == subnet), "")
    if online:
        addresses = listener.addresses if listener.register_all else (online,)
        name_resolution.register_name(world, listener.name, addresses, online, listener.record_ttl_s)


HANDLERS: Final[Handlers] = {
    "availability.leave": movement.apply_removals,
    "availability.listener": on_listener_online,
    "availability.online": become_primary,
    "availability.undone": on_undo_done,
}
