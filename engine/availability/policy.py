"""Policy of availability groups: the decisions that `engine.protocol` leaves to each kind of group."""

from typing import Final

from msgspec.structs import replace

from engine.availability import failover, movement, preconditions, redo, replicas, seeding
from engine.availability.commands import databases
from engine.constants import SESSION_TIMEOUT_S
from engine.flow import FlowStopCondition
from engine.messages import SqlError
from engine.model import (
    AvailabilityGroup,
    DatabaseCopy,
    DbState,
    Key,
    ReplicaRole,
    ReplicaWord,
    SuspendReason,
    SyncState,
    World,
)
from engine.overrides import override
from engine.protocol import errorlog, group_policies, serving, streams
from engine.protocol.group_policies import FailoverPrecondition, StreamParameters

SYNCHRONOUS_COMPRESSION_TRACE_FLAG: Final = 9592
"""Trace flag that turns on compression of the log to synchronous secondaries.

Since 2016 this compression is off by default. Documented [DOC: tune compression].
"""

RECORDED_READY_STATE: Final = "READY"
"""State in conditions of scenarios: the cluster records that the copy could become primary without data loss."""

SERIAL_REDO_TRACE_FLAG: Final = 3459
"""Trace flag that turns parallel redo off. Known."""


def _is_compressed(world: World, lead: DatabaseCopy, follow: DatabaseCopy) -> bool:
    """Return whether the stream is compressed. Versions before 2016 compress all streams.

    Later versions compress streams to asynchronous secondaries; trace flag 9592 includes synchronous
    secondaries.
    """
    server = world.instances[lead.server]
    if server.version < 2016 or SYNCHRONOUS_COMPRESSION_TRACE_FLAG in server.trace_flags:
        return True
    return not movement.is_synchronous_pair(world, lead, follow.server)


def _count_redo_threads(world: World, follow: DatabaseCopy) -> int:
    """Return the number of redo threads: one before 2016, since then half of the cores, at most 16.

    Documented [DOC: thread usage of groups].
    """
    server = world.instances[follow.server]
    if server.version < 2016 or SERIAL_REDO_TRACE_FLAG in server.trace_flags:
        return 1
    return max(1, min(world.get_computer_of(follow.server).cores // 2, 16))


def _is_routing_target(world: World, copy: DatabaseCopy, group: AvailabilityGroup, server: str) -> bool:
    """Return whether the primary currently routes read-intent logins to the replica on *server*.

    The replica must have a routing URL. The primary itself must allow the login. A secondary must allow read
    intent and be connected, and its copy must be SYNCHRONIZING or SYNCHRONIZED [DOC: read-only routing;
    availability group listeners].
    """
    replica = group.find_replica(server)
    if replica is None or not replica.read_only_routing_url:
        return False
    if server == copy.server:
        return serving.can_read(world, (server, copy.database))
    contact = world.contacts.get((group.guid, copy.server, server))
    is_connected = contact is not None and contact.connected
    allows_readers = replica.secondary_connections in ("ALL", "READ_ONLY")
    return (
        is_connected
        and allows_readers
        and copy.availability.get_peer_state(server) in replicas.DATA_MOVEMENT_STATES
    )


class AvailabilityPolicy(group_policies.GroupPolicy):
    """Policy of availability groups: one primary, several secondaries, and a cluster that assigns the roles."""

    @override
    def get_role(self, copy: DatabaseCopy) -> str:
        return copy.availability.role.name

    @override
    def get_state(self, copy: DatabaseCopy) -> str:
        return copy.availability.state.name

    def get_database_state(self, copy: DatabaseCopy) -> str:
        """Return SYNCHRONIZED if at least one secondary is synchronized, else the best state of a secondary."""
        states = [state for _, state in copy.availability.peers]
        best = (
            SyncState.SYNCHRONIZED
            if self.has_synchronized_copy(copy)
            else max(states, default=SyncState.NOT_SYNCHRONIZING)
        )
        return best.name

    @override
    def collect_state_names(self, world: World, copy: DatabaseCopy) -> set[str]:
        own_availability = copy.availability
        words = super().collect_state_names(world, copy) | (
            {"SUSPENDED"} if own_availability.suspended is not None else set()
        )
        group = replicas.find_group_config(world, copy.server, own_availability.guid or 0)
        ready = group is not None and (copy.database, copy.server) in group.ready
        return words | ({RECORDED_READY_STATE} if ready else set())

    @override
    def is_leader(self, copy: DatabaseCopy) -> bool:
        return copy.availability.role is ReplicaRole.PRIMARY

    @override
    def is_follower(self, copy: DatabaseCopy) -> bool:
        return copy.availability.role is ReplicaRole.SECONDARY

    def has_waiting_commits(self, world: World, copy: DatabaseCopy) -> bool:
        """Return whether the copy is a primary, and both it and a secondary are in synchronous-commit mode."""
        group = replicas.find_group_config(world, copy.server, copy.availability.guid or 0)
        if group is None or not self.is_leader(copy):
            return False
        other_servers = (replica.server for replica in group.replicas if replica.server != copy.server)
        return any(movement.is_synchronous_pair(world, copy, server) for server in other_servers)

    @override
    def can_write(self, copy: DatabaseCopy) -> bool:
        return self.is_leader(copy)

    @override
    def has_synchronized_copy(self, copy: DatabaseCopy) -> bool:
        return any(state is SyncState.SYNCHRONIZED for _, state in copy.availability.peers)

    def can_read(self, copy: DatabaseCopy, read_intent: bool) -> bool:
        """Return whether clients may read the copy, with or without read intent.

        While data movement is suspended, clients may still read; only routing avoids the copy [DOC: suspend
        an availability database]. Since 2014, secondaries allow reads even without a primary [DOC: readable
        secondaries].
        """
        own_availability = copy.availability
        if own_availability.role is ReplicaRole.PRIMARY:
            return own_availability.primary_connections == "ALL" or not read_intent
        allowed = own_availability.readers == "ALL" or (
            own_availability.readers == "READ_ONLY" and read_intent
        )
        if own_availability.role is ReplicaRole.RESOLVING:
            return allowed and own_availability.reads_alone
        moving = own_availability.state in replicas.DATA_MOVEMENT_STATES
        is_state_known = own_availability.state is SyncState.NOT_SYNCHRONIZING
        stays = own_availability.suspended is not None or own_availability.reads_alone
        return allowed and (moving or (is_state_known and stays))

    def find_route(self, world: World, copy: DatabaseCopy, read_intent: bool) -> str | None:
        """Return the server to which the listener redirects a connection; None without redirection.

        With read intent, the server is the first readable server of the primary's routing list. Raise 982 if
        the list has no readable server. Servers of an inner list take turns [DOC: read-only routing]. Without
        read intent, a secondary that allows all connections redirects to a primary that has a
        READ_WRITE_ROUTING_URL [DOC: read/write connection redirection].
        """
        if not read_intent:
            return self._find_write_route(world, copy)
        group = replicas.find_group_config(world, copy.server, copy.availability.guid or 0)
        own_replica = group.find_replica(copy.server) if group is not None else None
        if group is None or own_replica is None or not self.can_write(copy):
            return None
        targets = [
            (priority, server)
            for priority, server in own_replica.routes
            if _is_routing_target(world, copy, group, server)
        ]
        first_servers = [server for priority, server in targets if priority == targets[0][0]]
        if first_servers:
            return first_servers[world.replicas[copy.server, group.guid].routed % len(first_servers)]
        if own_replica.read_only_routing_list:
            raise SqlError(982, copy.database)
        return None

    def count_routed_login(self, world: World, copy: DatabaseCopy) -> None:
        """Advance the round robin of the routing list by one login.

        [DOC: read-only routing]
        """
        state = world.replicas.get((copy.server, copy.availability.guid or 0))
        if state is not None and self.can_write(copy):
            world.replicas[state.server, state.guid] = replace(state, routed=state.routed + 1)

    def _find_write_route(self, world: World, copy: DatabaseCopy) -> str | None:
        own_availability = copy.availability
        if own_availability.role is not ReplicaRole.SECONDARY or own_availability.readers != "ALL":
            return None
        group = replicas.find_group_config(world, copy.server, own_availability.guid or 0)
        primary = world.replicas[copy.server, own_availability.guid or 0].primary
        lead = group.find_replica(primary) if group is not None else None
        return primary if lead is not None and lead.read_write_routing_url else None

    @override
    def find_refusal(self, copy: DatabaseCopy, read_intent: bool = False) -> SqlError | None:
        own_availability = copy.availability
        if own_availability.role is ReplicaRole.RESOLVING and not self.can_read(copy, True):
            return SqlError(983 if own_availability.quorum else 988, copy.database)
        if copy.disk_failed:
            return group_policies.NO_GROUP.find_refusal(copy)
        if own_availability.role is not ReplicaRole.PRIMARY:
            if own_availability.state in (SyncState.REVERTING, SyncState.INITIALIZING):
                return SqlError(922, copy.database)
            if own_availability.readers == "READ_ONLY" and not read_intent and self.can_read(copy, True):
                return SqlError(978, copy.database)
            return None if self.can_read(copy, read_intent) else SqlError(976, copy.database)
        if copy.db_state is not DbState.ONLINE:
            return SqlError(922, copy.database)
        return None if self.can_read(copy, read_intent) else SqlError(979, copy.database)

    @override
    def build_stream_parameters(
        self, world: World, lead: DatabaseCopy, follow: DatabaseCopy
    ) -> StreamParameters:
        guid, own_availability = lead.availability.guid, lead.availability
        contact = world.contacts.get((guid or 0, lead.server, follow.server))
        suspended = own_availability.suspended is not None or follow.availability.suspended is not None
        usable = not lead.disk_failed and not follow.disk_failed
        sending = contact is not None and contact.connected and not suspended and usable
        waiting = follow.server in own_availability.lost or movement.should_wait_for_secondary(
            world, lead, follow.server
        )
        in_step = own_availability.get_peer_state(
            follow.server
        ) is SyncState.SYNCHRONIZED or follow.server in dict(own_availability.closing)
        return StreamParameters(
            awaited=in_step or waiting,
            connected=sending or waiting,
            carrying=sending,
            sending=sending or waiting,
            redoing=(not suspended and not follow.availability.redo_waits)
            or failover.find_running_failover(world, follow) is not None,
            log_pool=True,
            compressed=_is_compressed(world, lead, follow),
            redo_threads=_count_redo_threads(world, follow),
        )

    @override
    def choose_stop_conditions(self, world: World, copy: DatabaseCopy, stream: int) -> FlowStopCondition:
        watched_crossings, setup, receiver = (
            FlowStopCondition(0),
            world.flow.get_stream_setup(stream),
            world.streams[stream],
        )
        if receiver is None:
            return watched_crossings
        is_behind = copy.availability.get_peer_state(receiver[0]) is SyncState.SYNCHRONIZING
        if (
            is_behind
            and setup.connected
            and setup.carrying
            and movement.is_synchronous_pair(world, copy, receiver[0])
        ):
            watched_crossings |= FlowStopCondition.SEND_DONE
        running = failover.find_running_failover(world, copy)
        if running is not None and running.redo_done_tick is None and running.to_server == receiver[0]:
            watched_crossings |= FlowStopCondition.REDO_DONE
        return watched_crossings

    @override
    def on_caught_up(self, world: World, stream: int) -> None:
        movement.on_caught_up(world, stream)

    @override
    def on_redo_done(self, world: World, stream: int) -> None:
        failover.on_redo_done(world, stream)

    @override
    def find_log_hold(
        self, world: World, copy: DatabaseCopy, ends_kb: list[float]
    ) -> tuple[str, float] | None:
        """Return (log_reuse_wait_desc, log position in KB) if secondaries still need log; None otherwise."""
        group = replicas.find_group_config(world, copy.server, copy.availability.guid or 0)
        joined_servers = [
            server for database, server in (group.joined if group else ()) if database == copy.database
        ]
        other_copies = [
            world.copies.get((server, copy.database)) for server in joined_servers if server != copy.server
        ]
        ends = [
            streams.get_end_of_log_kb(world, other_copy)
            for other_copy in other_copies
            if other_copy is not None
        ]
        ends += seeding.list_seeding_log_positions(world, copy)
        return ("AVAILABILITY_REPLICA", min(ends)) if ends else None

    def find_page_sources(self, world: World, copy: DatabaseCopy, waiting: bool = False) -> list[str]:
        """Return the servers that can supply a damaged page to this copy.

        A secondary requests the page from its primary. A primary asks its connected secondaries if one is
        synchronized. [DOC: automatic page repair]
        """
        guid, own_availability = copy.availability.guid or 0, copy.availability
        servers = [
            server for server, state in own_availability.peers if state in replicas.DATA_MOVEMENT_STATES
        ]
        if own_availability.role is ReplicaRole.SECONDARY:
            primary = world.replicas[copy.server, guid].primary
            servers = (
                [primary]
                if primary is not None
                and (waiting or own_availability.state in replicas.DATA_MOVEMENT_STATES)
                else []
            )
        elif not self.can_write(copy) or not (waiting or self.has_synchronized_copy(copy)):
            return []
        contacts = {server: world.contacts.get((guid, copy.server, server)) for server in servers}
        return [
            server
            for server, contact in contacts.items()
            if contact is not None and contact.connected and (server, copy.database) in world.copies
        ]

    @override
    def wait_for_page(self, world: World, key: Key) -> None:
        redo.suspend_after_redo_error(world, key)

    @override
    def resume_after_page(self, world: World, key: Key) -> None:
        if world.copies[key].availability.suspended is SuspendReason.REDO:
            databases.resume_data_movement(world, *key)

    @override
    def on_data_lost(self, world: World, key: Key) -> bool:
        copy = world.copies[key]
        if copy.availability.role is not ReplicaRole.SECONDARY or copy.stream is None:
            return False
        world.call_after(0.0, "availability.replay", *key, 0.0)
        return True

    @override
    def fail_redo(self, world: World, key: Key, error: int, *args: object) -> None:
        errorlog.write_message(world, key[0], error, *args)
        if world.copies[key].availability.suspended is None:
            redo.suspend_after_redo_error(world, key)

    def find_backup_refusal(self, world: World, copy: DatabaseCopy, log_or_copy_only: bool) -> int:
        """Return the number of the error with which this copy rejects the backup; 0 if it allows the backup.

        Secondaries allow log and copy-only backups. They must be synchronizing or synchronized [DOC: active
        secondaries]; the errors without a primary are derived. A secondary of a basic group allows no
        backup [DOC: basic availability groups]. A secondary that is upgraded before its primary allows no
        backup either [DOC: upgrading replicas].
        """
        if copy.availability.role is ReplicaRole.RESOLVING:
            return 983 if copy.availability.quorum else 988
        if copy.availability.role is not ReplicaRole.SECONDARY:
            return 0
        group = replicas.find_group_config(world, copy.server, copy.availability.guid or 0)
        if not log_or_copy_only or (group is not None and group.basic):
            return 3059
        if group is not None and replicas.compare_version_with_primary(world, group, copy.server) > 0:
            return 976
        reverts = copy.availability.state in (SyncState.REVERTING, SyncState.INITIALIZING)
        return 0 if reverts or self.can_back_up_closed(copy) else 976

    def can_back_up_closed(self, copy: DatabaseCopy) -> bool:
        """Return whether a copy that clients cannot use can be backed up. Its primary must be connected.

        [DOC: active secondaries].
        """
        in_touch = copy.availability.state in (SyncState.SYNCHRONIZING, SyncState.SYNCHRONIZED)
        return copy.availability.role is ReplicaRole.SECONDARY and copy.stream is not None and in_touch

    def allows_snapshot(self, copy: DatabaseCopy) -> bool | None:
        """Return whether the copy allows snapshots; None if only a copy that clients can use allows them.

        A primary or secondary allows them in any synchronization state and with any allowed connections. A
        RESOLVING copy does not. [DOC: database snapshots of availability databases]
        """
        if copy.availability.role is not ReplicaRole.SECONDARY:
            return None
        is_incomplete = copy.availability.state in (SyncState.REVERTING, SyncState.INITIALIZING)
        return not (
            is_incomplete or copy.recovering or copy.disk_failed or copy.db_state is not DbState.ONLINE
        )

    @override
    def on_catalog_changed(self, world: World, key: Key) -> None:
        redo.record_file_change(world, key)

    @override
    def on_schema_changed(self, world: World, key: Key) -> None:
        redo.record_schema_change(world, key)

    @override
    def list_preconditions(self, world: World, database: str) -> list[FailoverPrecondition]:
        return preconditions.list_preconditions(world, database)

    @override
    def cancel_failover(self, world: World, key: Key, reason: str) -> None:
        failover.cancel_failover(world, key, reason)

    @override
    def on_log_lost(self, world: World, key: Key) -> None:
        movement.stop_primary_copy(world, key)

    @override
    def on_instance_lost(self, world: World, key: Key) -> None:
        guid = world.copies[key].availability.guid
        assert guid is not None
        replicas.set_replica_state(world, key[0], guid, ReplicaWord.NOT_AVAILABLE, replicas.SHUTDOWN_REASON)
        replicas.set_synchronization_state(world, key, SyncState.NOT_SYNCHRONIZING)
        group = replicas.find_group_config(world, key[0], guid)
        if (
            group is not None
            and group.listener is not None
            and world.listeners.get(group.listener.name) == key[0]
        ):
            world.listeners[group.listener.name] = None

    def on_recovered(self, world: World, key: Key) -> bool:
        """Open the recovered copy without clients until the group decides its role. Return False."""
        guid = world.copies[key].availability.guid
        assert guid is not None
        reverting = world.copies[key].availability.revert_kb > 0.0
        db_state = DbState.RECOVERING if reverting else DbState.ONLINE
        world.update_copy(key, recovering=False, open_log_kb=0.0, db_state=db_state)
        if world.copies[key].availability.suspended is not None:
            redo.mark_suspended(world, key, SuspendReason.RESTART)
        if world.replicas[key[0], guid].word is ReplicaWord.NOT_AVAILABLE:
            replicas.set_replica_state(
                world, key[0], guid, ReplicaWord.RESOLVING_NORMAL, replicas.STARTING_REASON
            )
            world.call_after(0.0, "availability.leave")
        state = world.replicas[key[0], guid]
        contact = world.contacts.get((guid, key[0], state.primary or ""))
        if (
            state.role is ReplicaRole.SECONDARY
            and state.primary
            and contact is not None
            and contact.connected
        ):
            movement.connect_copies(world, (state.primary, key[1]), key)
        if state.role is ReplicaRole.PRIMARY:
            replicas.await_ready_copies(world, key)
            for other_copy in world.list_copies_of(key[1]):
                contact = world.contacts.get((guid, key[0], other_copy.server))
                if contact is not None and contact.connected and other_copy.availability.guid == guid:
                    movement.connect_copies(world, key, (other_copy.server, key[1]))
        return True

    @override
    def log_startup_state(self, world: World, key: Key) -> None:
        guid = world.copies[key].availability.guid
        assert guid is not None
        errorlog.write_message(world, key[0], 35262, key[1], replicas.get_metadata_id(world, key[0], guid))

    @override
    def get_timeout_s(self, world: World, group: int, server: str, peer: str) -> int:
        known_group = replicas.find_group_config(world, server, group)
        if known_group is None:
            return SESSION_TIMEOUT_S
        secondary = known_group.find_replica(peer if known_group.primary == server else server)
        return secondary.session_timeout_s if secondary is not None else SESSION_TIMEOUT_S

    @override
    def get_address(self, world: World, group: int, server: str, peer: str) -> str | None:
        known_group = replicas.find_group_config(world, server, group)
        replica = known_group.find_replica(peer) if known_group is not None else None
        return replica.endpoint_url if replica is not None else None

    @override
    def on_connection_lost(
        self, world: World, group: int, server: str, peer: str, epoch: int, reason: str
    ) -> None:
        movement.on_connection_lost(world, group, server, peer, epoch, reason)

    @override
    def on_connection_made(self, world: World, group: int, server: str, peer: str, epoch: int) -> None:
        movement.on_connection_made(world, group, server, peer, epoch)
