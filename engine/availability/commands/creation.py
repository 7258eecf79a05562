"""CREATE, JOIN and DROP AVAILABILITY GROUP, and the statements that move a group or take it offline.

[DOC: CREATE AVAILABILITY GROUP; DROP AVAILABILITY GROUP]
"""

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from engine.availability import failover, movement, replicas
from engine.availability.commands import configuration, databases, listener
from engine.availability.commands.configuration import Options
from engine.availability.role import build_role
from engine.cluster import config, instances, roles
from engine.constants import ENTERPRISE_EDITIONS
from engine.messages import Message, SqlError
from engine.model import (
    NO_AVAILABILITY,
    AvailabilityGroup,
    CommitMode,
    Group,
    ReplicaRole,
    ReplicaState,
    ReplicaWord,
    ResourceState,
    SyncState,
    World,
    to_ticks,
)
from engine.protocol import errorlog, network, statements

OPERATION: Final = "CREATE AVAILABILITY GROUP"

GROUP_ONLINE_TIMEOUT_S: Final = 60.0
"""Time for which CREATE AVAILABILITY GROUP waits until the cluster has brought the group online. Assumed."""


def create_group(
    world: World,
    server: str,
    name: str,
    options: Options,
    names: Sequence[str],
    replica_options: tuple[tuple[str, Options], ...],
    address: tuple[str, Options] | None,
) -> statements.Outcome:
    """Execute CREATE AVAILABILITY GROUP: create the group, its role and the primary. Secondaries join later.

    Raise 41199 for the edition, 41042 if the name exists, 41171 if a role has the name, 35235 for a replica
    that is named twice, 35237 if this server is not a replica, 35233 for too many replicas. Errors of
    options, nodes and databases are checked after these.
    """
    instance = world.instances[server]
    configuration.check_syntax(server, name, options, replica_options, instance.version)
    if address is not None:
        listener.check_syntax("ADD", address[1])
    node = configuration.require_node(world, server)
    basic = any(option == "BASIC" for option, _ in options) and instance.version >= 2016
    if instance.edition not in ENTERPRISE_EDITIONS and not basic:
        raise SqlError(41199, "")
    if replicas.find_group(world, server, name) is not None:
        raise SqlError(41042, name)
    if roles.find_role(world, name, server) is not None:
        raise SqlError(41171, name)
    group = _build_group(world, server, name, options, replica_options)
    configuration.require_compatible_replicas(world, group, OPERATION, instance.version)
    configuration.check_replica_nodes(world, group)
    copies = databases.find_eligible_copies(world, server, names, name, None, group.basic)
    listens = listener.build_listener(world, server, group, *address) if address is not None else None
    if instance.system_lacks:
        return statements.PendingStatement(
            world.tick + to_ticks(GROUP_ONLINE_TIMEOUT_S), "availability.not_created", (name,)
        )
    if not config.update_config(world, node.name, groups=(*node.config.groups, group)):
        raise SqlError(35220)
    world.groups[group.guid] = Group(kind="availability", databases=())
    world.replicas[server, group.guid] = ReplicaState(server=server, guid=group.guid)
    hosts = tuple(
        dict.fromkeys(
            name
            for replica in group.replicas
            for name in instances.list_possible_nodes(world, replica.server)
        )
    )
    role = replace(build_role(name, None, hosts, node.name), state=ResourceState.OFFLINE)
    config.update_config(world, node.name, roles=(*world.nodes[node.name].config.roles, role))
    errorlog.write_message(world, server, 41058, name)
    databases.add_copies_to_group(world, server, group.guid, copies)
    if listens is not None:
        listener.create_listener(world, server, group, listens)
    roles.bring_online(world, node.name, role, node.name)
    return statements.PendingStatement(
        world.tick + to_ticks(failover.DATABASES_OPEN_S), "availability.created", ()
    )


def _complete_creation(world: World, server: str) -> statements.Outcome:
    return []


def _drop_timed_out_group(world: World, server: str, name: str) -> statements.Outcome:
    """Drop a group that did not come online in time. Raise the error of its CREATE statement."""
    error = SqlError(41131, name)
    error.problems = (error, SqlError(41152, name, 41131))
    raise error


statements.COMPLETION_HANDLERS["availability.created"] = _complete_creation
statements.COMPLETION_HANDLERS["availability.not_created"] = _drop_timed_out_group


def _build_group(
    world: World, server: str, name: str, options: Options, replica_options: tuple[tuple[str, Options], ...]
) -> AvailabilityGroup:
    version = world.instances[server].version
    used_names: set[str] = set()
    for target, _ in replica_options:
        if target.lower() in used_names:
            raise SqlError(35235, target)
        used_names.add(target.lower())
    if server.lower() not in used_names:
        raise SqlError(35237, name)
    basic = any(option == "BASIC" for option, _ in options)
    replica_max = (
        configuration.BASIC_GROUP_REPLICAS_MAX if basic else configuration.get_replica_limits(version)[0]
    )
    if len(replica_options) > replica_max:
        raise SqlError(35233, len(replica_options), "", replica_max)
    new_replicas = [
        configuration.build_replica(
            configuration.find_server_spelling(world, target), options_of_target, OPERATION, version
        )
        for target, options_of_target in replica_options
    ]
    local_replicas = tuple(replace(replica, joined=replica.server == server) for replica in new_replicas)
    empty = AvailabilityGroup(name=name, guid=world.next_id(), primary=server, replicas=local_replicas)
    return configuration.apply_options(empty, options, version)


def join_group(world: World, server: str, name: str, options: Options) -> list[Message]:
    """Execute JOIN at a server for which the group has a replica.

    Raise 41044 if the cluster does not know the group, 41106 if the replica has already joined, 41136 if the
    group is not online. The error that cancels the statement may be followed by 41158 (rolled back).
    """
    configuration.require_node(world, server)
    version = world.instances[server].version
    for option, value in options:
        configuration.check_option_name(option, value, ("CLUSTER_TYPE",), version)
    group = replicas.find_group(world, server, name)
    if group is None:
        raise _append_rollback_error(name, SqlError(41044, name))
    if (server, group.guid) in world.replicas:
        raise SqlError(41106, group.name)
    if group.find_replica(server) is None:
        raise _append_rollback_error(name, SqlError(41041, server, group.name))
    group_role = roles.find_role(world, group.name, server)
    if group_role is None or group_role[1].state is not ResourceState.ONLINE:
        raise SqlError(41136, group.name)
    errorlog.write_message(world, server, 41058, group.name)
    world.replicas[server, group.guid] = ReplicaState(server=server, guid=group.guid)
    joined_places = tuple(
        replace(replica, joined=True) if replica.server == server else replica for replica in group.replicas
    )
    replicas.change_group(world, server, group.guid, lambda old: replace(old, replicas=joined_places))
    network.schedule_detections(world, group.guid)
    return []


def _append_rollback_error(name: str, error: SqlError) -> SqlError:
    """Return *error*, followed by the message that the statement has been rolled back."""
    error.problems = (error, SqlError(41158, name, error.number))
    return error


def drop_group(world: World, server: str, name: str) -> list[Message]:
    """Execute DROP AVAILABILITY GROUP. The primary's databases stay online; other copies become RESTORING.

    Without quorum, and on an evicted computer, only the local replica is dropped. The cluster keeps the group
    until it is dropped again. [DOC: Remove an availability group] Raise 35221, 15151, or 35220 without quorum
    and without a local replica.
    """
    group = replicas.find_group(world, server, name)
    is_replica = group is not None and (server, group.guid) in world.replicas
    if not is_replica or not replicas.is_always_on_enabled(world, server):
        configuration.require_node(world, server)
    if group is None:
        raise SqlError(15151, "drop", "availability group", name)
    writes = configuration.can_write_cluster_database(world, server)
    if is_replica and world.replicas[server, group.guid].role is ReplicaRole.PRIMARY:
        movement.stop_sending(world, server, group.databases)
        for copy in replicas.list_group_copies(world, server, group.guid) if writes else ():
            world.update_copy((server, copy.database), availability=NO_AVAILABILITY)
    errorlog.write_message(world, server, 41076, group.name)
    if not writes:
        movement.remove_local_replica(world, server, group.guid)
        return []
    node = configuration.require_node(world, server)
    known_config = node.config
    config.update_config(
        world,
        node.name,
        groups=tuple(role for role in known_config.groups if role.guid != group.guid),
        roles=tuple(role for role in known_config.roles if role.name != group.name),
    )
    if group.listener is not None:
        world.listeners.pop(group.listener.name, None)
        world.records.pop(group.listener.name, None)
    movement.apply_removals(world, group.name)
    return []


# --- FAILOVER, FORCE_FAILOVER_ALLOW_DATA_LOSS and OFFLINE of a group --------------------------------------
# [DOC: planned failover; forced failover]


def _require_failover_target(world: World, server: str, name: str) -> AvailabilityGroup:
    """Return the group for a failover to *server*.

    Raise 41122 if *server* is primary, 41113 if a failover is pending, 41123 if the role is moving. Raise
    41191 if the primary has a later version.
    """
    group = configuration.find_group_with_quorum(world, server, name)
    state = world.replicas[server, group.guid]
    if state.role is ReplicaRole.PRIMARY:
        raise SqlError(41122, group.name)
    if state.pending:
        raise SqlError(41113, group.name)
    group_role = roles.find_role(world, group.name, server)
    if group_role is not None and group_role[1].state in (
        ResourceState.OFFLINE_PENDING,
        ResourceState.ONLINE_PENDING,
    ):
        raise SqlError(41123, group.name)
    if replicas.compare_version_with_primary(world, group, server) < 0:
        raise SqlError(41191, group.name)
    return group


def start_planned_failover(world: World, server: str, name: str) -> statements.Outcome:
    """Execute FAILOVER at the target, which must be synchronized.

    Raise 41125 with forced quorum, 41142 unless both replicas are synchronized in synchronous-commit mode.
    """
    group = _require_failover_target(world, server, name)
    if configuration.require_node(world, server).config.forced:
        raise SqlError(41125, group.name)
    ends = (group.find_replica(group.primary), group.find_replica(server))
    are_synchronous = all(end is not None and end.mode is CommitMode.SYNCHRONOUS_COMMIT for end in ends)
    if not are_synchronous or not failover.is_failover_ready(group, server):
        raise SqlError(41142, group.name)
    return _move_role(world, server, group, "manual")


NODE_PAUSED_CODE: Final = 5070
NOT_POSSIBLE_OWNER_CODE: Final = 5015
"""System error 5015 of a group move: the node is not a possible owner. 5070: the node is paused.

[DOC: System Error Codes]
"""


def _move_role(world: World, server: str, group: AvailabilityGroup, kind: str) -> statements.Outcome:
    """Let the cluster move the role to *server*.

    Raise 41018 if the node is paused or not a possible owner [DOC: PauseClusterNode; MoveClusterGroup].
    """
    node = config.find_server_node(world, server)
    group_role = roles.find_role(world, group.name, server)
    if node is None or group_role is None:
        raise SqlError(41104, group.name)
    role_node, role = group_role
    if not roles.can_accept_roles(world, role_node, node.name):
        raise SqlError(41018, NODE_PAUSED_CODE)
    if node.name not in role.resources[-1].owners and not world.instances[server].clustered:
        raise SqlError(41018, NOT_POSSIBLE_OWNER_CODE)
    replicas.set_replica_state(
        world,
        server,
        group.guid,
        ReplicaWord.RESOLVING_PENDING_FAILOVER,
        replicas.USER_FAILOVER_REASON,
        pending=kind,
    )
    if role.state is ResourceState.ONLINE and role.owner != node.name:
        roles.move_role(world, role_node.name, role, node.name)
    else:
        roles.bring_online(world, role_node.name, role, node.name)
    return _await_primary(world, server, group.guid)


FAILOVER_CHECK_INTERVAL_S: Final = 0.1
"""Interval at which a failover statement checks whether the replica is primary. Our choice."""


def _await_primary(world: World, server: str, guid: int) -> statements.Outcome:
    """Wait until the group is online at *server*.

    Raise 41104 if the cluster could not bring it online on this node. [DOC: 41104]
    """
    state, group = world.replicas.get((server, guid)), replicas.find_group_config(world, server, guid)
    if state is not None and state.word is ReplicaWord.PRIMARY_NORMAL:
        return []
    if state is not None and state.pending:
        return statements.PendingStatement(
            world.tick + to_ticks(FAILOVER_CHECK_INTERVAL_S), "availability.failover", (guid,)
        )
    raise SqlError(41104, group.name if group is not None else "")


statements.COMPLETION_HANDLERS["availability.failover"] = _await_primary


def start_forced_failover(world: World, server: str, name: str) -> statements.Outcome:
    """Execute FORCE_FAILOVER_ALLOW_DATA_LOSS at the target, in a cluster with quorum.

    If no data can be lost and quorum was not forced, start a planned failover instead. Raise 35253 during the
    revert or seeding of a database, and after a revert was interrupted. [DOC: database replica states]
    """
    group = _require_failover_target(world, server, name)
    for copy in replicas.list_group_copies(world, server, group.guid):
        initializing = copy.availability.state is SyncState.INITIALIZING
        if copy.availability.revert_kb or initializing:
            raise SqlError(35253, copy.database)
    clean = not configuration.require_node(world, server).config.forced and failover.is_failover_ready(
        group, server
    )
    return _move_role(world, server, group, "manual" if clean else "forced")


def take_group_offline(world: World, server: str, name: str) -> list[Message]:
    """Execute OFFLINE at the primary. Clients cannot use any replica until someone brings the role online.

    Raise 19416 if a synchronous-commit replica has databases that are not synchronized.
    """
    group = configuration.require_primary(world, server, name, "offline", "group")
    modes = {replica.server: replica.mode for replica in group.replicas}
    for copy in replicas.list_group_copies(world, server, group.guid):
        states = [state for peer, state in copy.availability.peers
                  if modes.get(peer) is CommitMode.SYNCHRONOUS_COMMIT is modes[server]]  # fmt: skip
        if any(state is not SyncState.SYNCHRONIZED for state in states):
            raise SqlError(19416, group.name)
    group_role = roles.find_role(world, group.name, server)
    if group_role is None:
        raise SqlError(41150, group.name)
    roles.stop_role(world, group_role[0].name, group_role[1])
    return []
