"""Worlds with clusters, availability groups and instances, which are healthy at 0 s.

The hardware is that of the SQLCAT guide's test.
"""

from collections.abc import Collection, Sequence
from typing import Any, Final

from msgspec.structs import replace

from engine import simulator
from engine.availability import failover
from engine.availability.role import build_role
from engine.cluster import config, instances, quorum
from engine.constants import TICKS_PER_S
from engine.events import ClientData, ClusterData, Event, SqlDoneData, select_data
from engine.flow import Flow
from engine.flow.sites import IDLE, SSD
from engine.model import (
    Availability,
    AvailabilityGroup,
    AvailabilityListener,
    AvailabilityMembership,
    Client,
    Cluster,
    ClusterConfig,
    ClusterRole,
    CommitMode,
    Computer,
    DatabaseCopy,
    DbState,
    FailoverMode,
    Group,
    Instance,
    Link,
    Node,
    Replica,
    ReplicaState,
    ReplicaWord,
    SyncState,
    Witness,
    World,
)
from engine.protocol import network, serving, streams
from engine.published.measurements import NO_LIMIT_KB, play_script
from engine.random_streams import RandomStream

NETWORK_MBPS: Final = 10_000.0
"""Network speed in Mbps. Assumed: the SQLCAT guide names none, and the network did not limit its test."""

NODES: Final = ("NODE_1", "NODE_2", "NODE_3", "NODE_4", "NODE_5")
CLUSTER: Final = "CLUSTER"
GROUP: Final = "AG"
DATABASE: Final = "Users"
START_LOG_KB: Final = 1e6

REPLICA_MODES_BY_KIND: Final = {
    "auto": (CommitMode.SYNCHRONOUS_COMMIT, FailoverMode.AUTOMATIC),
    "sync": (CommitMode.SYNCHRONOUS_COMMIT, FailoverMode.MANUAL),
    "async": (CommitMode.ASYNCHRONOUS_COMMIT, FailoverMode.MANUAL),
}
"""Kind of replica -> availability mode and failover mode."""


def build_cluster_world(
    nodes: Sequence[str],
    windows: str = "2016",
    *,
    witness: bool = False,
    witness_kind: str = "Physical Disk",
    without_vote: Collection[str] = (),
    lower: str | None = None,
    dynamic: bool = True,
    subnets: Sequence[str] = (),
    site: str = "ssd",
    cores: int = SSD.cores,
    seed: int = 1,
) -> World:
    """Return a world with a cluster of *nodes* without instances.

    *witness*: the cluster has a witness of the kind *witness_kind*, which every node can reach.
    *without_vote*:
    nodes whose vote is removed. *lower*: node in LowerQuorumPriorityNodeID. *dynamic*: dynamic quorum is on.
    *subnets*: subnet of each node.
    """
    world = World(seed=seed, chance=RandomStream.from_seed(seed), flow=Flow.create_empty())
    world.availability[DATABASE] = Availability(database=DATABASE)
    threshold, cross = quorum.HEARTBEAT_THRESHOLDS.get(windows, quorum.THRESHOLDS_SINCE_2016)
    cluster = world.clusters[CLUSTER] = Cluster(
        name=CLUSTER,
        windows=windows,
        nodes=tuple(nodes),
        dynamic_quorum=dynamic,
        threshold=threshold,
        cross_threshold=cross,
        lower_priority_node=lower,
        witness_there=witness,
    )
    config = ClusterConfig(
        weights=tuple((name, int(name not in without_vote)) for name in nodes),
        witness=Witness(kind=witness_kind, name="Quorum") if witness else None,
    )
    counted_nodes, with_witness = quorum.count_votes(cluster, config, nodes, witness)
    config = replace(config, counted=counted_nodes, witness_counts=with_witness)
    partition = world.next_id()
    for number, name in enumerate(nodes, 1):
        world.computers[name] = Computer(name=name, site=site, cores=cores)
        subnet = subnets[number - 1] if subnets else "10.0.0"
        world.nodes[name] = Node(
            name=name, cluster=CLUSTER, number=number, partition=partition, config=config, subnet=subnet
        )
    return world


def start_world(world: World) -> World:
    """Advance the world to 0 s, with logs in the state that they have after a long run."""
    streams.warm_start(world)
    simulator.start_timers(world)
    simulator.advance_world(world, 0)
    return world


def add_instances(world: World, version: int) -> None:
    """Add an instance to every node."""
    for host, name in enumerate(world.nodes):
        world.instances[name] = Instance(name=name, computer=name, host=host, version=version)


def build_group_world(
    kinds: Sequence[str] = ("sync", "sync"),
    workload: str = IDLE.name,
    *,
    windows: str = "2016",
    version: int = 2017,
    required: int = 0,
    listener: AvailabilityListener | None = None,
    client: dict[str, Any] | None = None,
    groups: int = 1,
    databases: int = 1,
    **cluster: Any,
) -> World:
    """Return a world with availability groups that have one replica per node. The first replica is primary.

    *kinds*: a key of REPLICA_MODES_BY_KIND for each node. *required*:
    REQUIRED_SYNCHRONIZED_SECONDARIES_TO_COMMIT. *databases*: number of databases per group. *client*: fields
    of an application that uses the listener of the only group. *cluster*: arguments of `build_cluster_world`.
    """
    nodes = NODES[: len(kinds)]
    world = build_cluster_world(nodes, windows, **cluster)
    add_instances(world, version)
    modes = dict(zip(nodes, (REPLICA_MODES_BY_KIND[kind] for kind in kinds), strict=True))
    groups_made = []
    for number in range(groups):
        names = [
            _append_number(DATABASE, number * databases + database_index)
            for database_index in range(databases)
        ]
        groups_made.append(
            _build_group(world, _append_number(GROUP, number), tuple(names), modes, required, listener)
        )
    roles = {group.name: build_role(group.name, listener, nodes, nodes[0]) for group in groups_made}
    config.update_config(world, nodes[0], groups=tuple(groups_made), roles=tuple(roles.values()))
    for group in groups_made:
        _add_replicas(world, group, modes, version, workload)
    for name in nodes[1:]:
        world.links[nodes[0], name] = Link(bandwidth_mbps=NETWORK_MBPS)
    if listener is not None:
        failover.register_in_dns(world, nodes[0], listener)
        world.clients["APP"] = Client(
            **{
                "name": "APP",
                "databases": (DATABASE,),
                "data_source": listener.name,
                "connected_to": nodes[0],
            }
            | (client or {})
        )
    return start_world(world)


ReplicaModes = dict[str, tuple[CommitMode, FailoverMode]]
"""Availability mode and failover mode by server, the primary first."""


def _append_number(name: str, number: int) -> str:
    return f"{name}{number + 1}" if number else name


def _list_synchronized_servers(modes: ReplicaModes) -> set[str]:
    """Return the servers with synchronized copies: the synchronous ones, if the primary is synchronous too."""
    lead, *_ = modes.values()
    return {name for name, (mode, _) in modes.items() if mode is lead[0] is CommitMode.SYNCHRONOUS_COMMIT}


def _build_group(
    world: World,
    name: str,
    databases: tuple[str, ...],
    modes: ReplicaModes,
    required: int,
    listener: AvailabilityListener | None,
) -> AvailabilityGroup:
    primary, guid = next(iter(modes)), world.next_id()
    world.groups[guid] = Group(kind="availability", databases=databases)
    return AvailabilityGroup(
        name=name,
        guid=guid,
        primary=primary,
        replicas=tuple(
            Replica(server=server, endpoint_url=f"TCP://{server}:5022", mode=mode, failover=failover_mode)
            for server, (mode, failover_mode) in modes.items()
        ),
        databases=databases,
        joined=tuple((database, server) for database in databases for server in modes),
        ready=tuple(
            (database, server)
            for database in databases
            for server in modes
            if server in {*_list_synchronized_servers(modes), primary}
        ),
        required_synchronized=required,
        listener=listener,
    )


def _add_replicas(
    world: World, group: AvailabilityGroup, modes: ReplicaModes, version: int, workload: str
) -> None:
    """Add the copies of a group in their roles, connect them to the primary, and start their log streams."""
    (primary, *secondaries), in_step, guid = modes, _list_synchronized_servers(modes), group.guid
    states = {
        server: SyncState.SYNCHRONIZED if server in in_step else SyncState.SYNCHRONIZING
        for server in secondaries
    }
    for server in modes:
        word = ReplicaWord.PRIMARY_NORMAL if server == primary else ReplicaWord.SECONDARY_NORMAL
        world.replicas[server, guid] = ReplicaState(server=server, guid=guid, word=word, primary=primary)
        for database in group.databases:
            number = (
                len(world.copies) + 1
                if server == primary
                else world.copies[primary, database].database_id - 4
            )
            own_membership = AvailabilityMembership(
                guid=guid,
                database_guid=number,
                role=word.role,
                state=states.get(server, SyncState.SYNCHRONIZED),
                peers=tuple(states.items()) if server == primary else (),
            )
            world.copies[server, database] = _build_copy(
                server, version, workload, database, number, availability=own_membership
            )
    for secondary in secondaries:
        network.open_contact(world, guid, primary, secondary)
    for database in group.databases:
        if database not in world.availability:
            world.availability[database] = Availability(database=database)
        source = streams.add_source(world, (primary, database), START_LOG_KB)
        for secondary in secondaries:
            streams.attach_receiver(world, source, (secondary, database))


def build_instance_world(
    owners: Sequence[str] = NODES[:2], nodes: Sequence[str] = NODES[:2], seed: int = 1
) -> World:
    """Return a world with a failover cluster instance and an idle database, online on the first of *owners*."""
    world = build_cluster_world(nodes, "2012 R2", witness=True, seed=seed)
    name = "FCI"
    world.instances[name] = Instance(
        name=name, computer=owners[0], host=0, version=2014, clustered=True, installed=tuple(owners)
    )
    role = instances.build_role(name, tuple(owners), 1)
    config.update_config(world, owners[0], roles=(role,))
    world.copies[name, DATABASE] = _build_copy(name, 2014, IDLE.name)
    streams.add_source(world, (name, DATABASE), START_LOG_KB)
    return start_world(world)


def _build_copy(
    server: str, version: int, workload: str, database: str = DATABASE, number: int = 1, **kind: Any
) -> DatabaseCopy:
    return DatabaseCopy(
        server=server,
        database=database,
        database_id=4 + number,
        family=number,
        db_state=DbState.ONLINE,
        end_of_log_kb=START_LOG_KB,
        redone_kb=START_LOG_KB,
        committed_kb=START_LOG_KB,
        log_start_kb=START_LOG_KB,
        last_log_backup_kb=START_LOG_KB,
        log_size_kb=NO_LIMIT_KB,
        log_max_kb=NO_LIMIT_KB,
        workload=workload,
        **kind,
    )


# --- results of a run -------------------------------------------------------------------------------------


def has_running_partition(world: World) -> bool:
    """Return whether some partition of the cluster has quorum and a running node."""
    return any(
        config.find_writing_node(world, partition) for partition in config.list_partitions(world, CLUSTER)
    )


def get_cluster_config(world: World) -> ClusterConfig:
    """Return the configuration of the world's only cluster."""
    return config.find_current_config(world, CLUSTER)


def get_role(world: World) -> ClusterRole:
    """Return the only role of the world's cluster."""
    return get_cluster_config(world).roles[0]


def find_primary(world: World) -> str:
    """Return the server on which clients can use the database; "" if there is none."""
    serving_key = serving.find_serving_key(world, DATABASE)
    return serving_key[0] if serving_key is not None else ""


def find_first_s(
    events: Sequence[Event], kind: type[ClientData | ClusterData], event_change: str, node: str | None = None
) -> float | None:
    """Return the time in seconds of the first event of this kind and change; None without one.

    *node*: only events on this node.
    """
    first_tick = (
        event
        for event, change in select_data(events, kind)
        if change.what == event_change and node in (None, getattr(change, "node", None))
    )
    return next((event.tick / TICKS_PER_S for event in first_tick), None)


def list_error_numbers(events: Sequence[Event]) -> list[int]:
    """Return the numbers of the T-SQL errors in *events*."""
    batches = (batch for _, batch in select_data(events, SqlDoneData))
    return [message["number"] for batch in batches for message in batch.messages if message["number"]]


def run_sql(world: World, server: str, text: str) -> list[int]:
    """Run the statement in a new query window, and return the numbers of its errors."""
    time_s = world.tick / TICKS_PER_S
    return list_error_numbers(
        play_script(world, f"{time_s} sql {server}#{world.next_id()} {text}\n", time_s + 1.0)
    )
