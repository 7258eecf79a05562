"""Cluster database: its copies, the right to change it, and the states that cmdlets derive from it.

All nodes of a partition have the same copy. Only a partition with quorum changes it.
"""

from collections.abc import Callable, Collection, Iterable
from typing import Final

from msgspec.structs import replace

from engine.cluster import quorum
from engine.model import (
    AvailabilityGroup,
    ClusterConfig,
    ClusterRole,
    FieldOf,
    Node,
    Resource,
    ResourceState,
    Witness,
    WitnessStore,
    World,
)
from engine.protocol import disks, network, security


def list_members(world: World, partition: int) -> list[str]:
    """Return the members of the partition, ordered by node number."""
    nodes = [node for node in world.nodes.values() if partition and node.partition == partition]
    return [node.name for node in sorted(nodes, key=lambda node: node.number)]


def is_running(world: World, node: Node) -> bool:
    """Return whether the computer of the node is powered on and its cluster service runs."""
    return node.service == "running" and world.computers[node.name].powered


def get_computer_address(world: World, computer: str) -> str:
    """Return the address of a computer in its subnet, as ERRORLOGs show it.

    Assumed for a computer without its own instance. A clustered instance has an address that moves with it.
    """
    subnet = world.nodes[computer].subnet if computer in world.nodes else "10.0.0"
    own_names = (name for name in world.list_instances_on(computer) if not world.instances[name].clustered)
    instance = next(own_names, "")
    number = 201 + list(world.computers).index(computer)
    host_part = security.get_displayed_ip(world, instance).rpartition(".")[2] if instance else str(number)
    return f"{subnet}.{host_part}"


DISK_KIND: Final = "Physical Disk"
AGENT_KIND: Final = "SQL Server Agent"
SERVER_RESOURCE_KINDS: Final = ("SQL Server", "SQL Server Availability Group")
"""Kinds of resources that serve the databases of a role.

When such a resource comes online, the whole role is online. The role is restarted according to the properties
of this resource. Documented: the restart period of 15 minutes [DOC: RestartPeriod]. Documented: a group
restarts on its node first [DOC: failover for errors on data files]. Known since Failover Cluster Manager
2008: one restart. The documentation of RestartThreshold still has the older value 3.
"""

# --- states as cmdlets and Failover Cluster Manager show them --------------------------------------


def read_node_state(world: World, observer: str, name: str) -> str:
    """Return the state of a node as *observer*'s partition sees it: Up, Paused or Down."""
    # The node is None if it was evicted and the observer's copy of the cluster database does not show this
    # yet.
    node = world.nodes.get(name)
    if node is None or not node.partition or node.partition != world.nodes[observer].partition:
        return "Down"
    return "Paused" if node.paused else "Up"


def read_owner(world: World, observer: str, role: ClusterRole) -> str:
    """Return the owner of the role, or the owner of the core resources if the role's owner is down. Known."""
    if role.owner and read_node_state(world, observer, role.owner) == "Down":
        return find_core_owner(world, observer)
    return role.owner


def read_role_state(world: World, role: ClusterRole) -> str:
    """Return the state of a role: Pending while it moves, PartialOnline if only some resources are online.

    It is Failed if one resource has failed, such as SQL Server Agent. [DOC: ApiGetGroupState]
    """
    if any(read_resource_state(world, role, resource) is ResourceState.FAILED for resource in role.resources):
        return ResourceState.FAILED.value
    if role.state in (ResourceState.ONLINE_PENDING, ResourceState.OFFLINE_PENDING):
        return "Pending"
    is_partial = role.state is ResourceState.OFFLINE and any(resource.started for resource in role.resources)
    return "PartialOnline" if is_partial else role.state.value


def read_resource_state(world: World, role: ClusterRole, resource: Resource) -> ResourceState:
    """Return the state of a resource.

    Among the addresses of a listener, only the address in the owner's subnet is online.
    """
    if resource.failed:
        return ResourceState.FAILED
    state = ResourceState.ONLINE if resource.started else role.state
    if state is ResourceState.FAILED:
        return _read_state_in_failed_role(world, role, resource)
    if resource.kind == AGENT_KIND and state is ResourceState.ONLINE:
        return state if world.instances[role.name].agent_running else ResourceState.FAILED
    owner = world.nodes.get(role.owner)
    if resource.kind == "IP Address" and role.kind == "availability" and owner is not None:
        address = resource.name.rpartition("_")[2]
        if address.count(".") == 3 and address.rpartition(".")[0] != owner.subnet:
            return ResourceState.OFFLINE
    return state


def find_failed_disks(world: World, role: ClusterRole) -> list[str]:
    """Return the failed disks on which the SQL Server resource of an instance depends.

    [DOC: failover cluster instances]
    """
    if role.kind != "instance":
        return []
    lost_drives = disks.list_lost_drives(world, role.name)
    shared = [resource_entry for resource_entry in role.resources if resource_entry.kind == DISK_KIND]
    named_drives = {shared_disk.drive for shared_disk in shared if shared_disk.drive}
    return [
        shared_disk.name
        for shared_disk in shared
        if (lost_drives & {shared_disk.drive} if shared_disk.drive else lost_drives - named_drives)
    ]


def _read_state_in_failed_role(world: World, role: ClusterRole, resource: Resource) -> ResourceState:
    """Return the state of a resource of a failed role. Known.

    The resource that caused the failure is failed. If none is recorded, this is a lost disk, otherwise
    the server. Its dependents are offline. The disks, address and name of an instance stay online. The
    listener of a group is offline with the group.
    """
    failed = [
        failed_resource.name for failed_resource in role.resources if failed_resource.failed
    ] or find_failed_disks(world, role)
    failed = failed or [
        server_resource.name
        for server_resource in role.resources
        if server_resource.kind in SERVER_RESOURCE_KINDS
    ]
    if resource.name in failed:
        return ResourceState.FAILED
    provides = resource.kind not in (*SERVER_RESOURCE_KINDS, AGENT_KIND)
    return ResourceState.ONLINE if provides and role.kind == "instance" else ResourceState.OFFLINE


def find_writing_node(world: World, partition: int) -> Node | None:
    """Return a running node of the partition, preferably one that can write its cluster database."""
    living = [node for name in list_members(world, partition) if is_running(world, node := world.nodes[name])]
    if living and world.clusters[living[0].cluster].silent:
        return next((node for node in living if can_write_config(world, node.name)), living[0])
    return living[0] if living else None


def list_partitions(world: World, cluster: str) -> list[int]:
    """Return the numbers of the partitions with quorum: none, one, or two after forced quorum."""
    return sorted({n.partition for n in world.nodes.values() if n.cluster == cluster and n.partition})


def find_server_node(world: World, server: str) -> Node | None:
    """Return the cluster node on which an instance runs, or None."""
    instance = world.instances.get(server)
    return world.nodes.get(instance.computer) if instance is not None else None


def find_known_config(world: World, server: str) -> ClusterConfig | None:
    """Return the cluster database that the computer of *server* knows; None if it was never a node.

    After an eviction, this is the last copy before the eviction.
    """
    node, instance = find_server_node(world, server), world.instances.get(server)
    if node is None and instance is not None:
        return world.evicted.get(instance.computer)
    return node.config if node is not None else None


def has_quorum(world: World, server: str) -> bool:
    """Return whether the instance runs on a node of a partition with quorum."""
    node = find_server_node(world, server)
    return node is not None and bool(node.partition) and is_running(world, node)


def has_heartbeat(world: World, a: str, b: str) -> bool:
    """Return whether heartbeats pass between two nodes, which must both run."""
    return (
        is_running(world, world.nodes[a])
        and is_running(world, world.nodes[b])
        and network.can_exchange_packets(world, a, b)
    )


def can_write_config(world: World, node: str) -> bool:
    """Return whether *node* may change the cluster database.

    It must have the newest copy among the nodes that it reaches, and these nodes must be a majority. While a
    lost member is not yet removed, the witness votes only for the owner of the core resources.
    """
    partition, old_config = world.nodes[node].partition, world.nodes[node].config
    if not partition or not is_running(world, world.nodes[node]):
        return False
    partition_members, reached = list_members(world, partition), _list_reached_nodes(world, node)
    if any(world.nodes[name].config.epoch > old_config.epoch for name in reached):
        return False
    is_forced_alone = old_config.forced and reached == partition_members
    holds_witness = reached == partition_members or find_core_owner(world, node) in reached
    votes = holds_witness and has_witness_vote(world, old_config, reached)
    return is_forced_alone or quorum.has_majority(old_config, reached, votes)


def _list_reached_nodes(world: World, node: str) -> list[str]:
    partition_members = list_members(world, world.nodes[node].partition)
    return [name for name in partition_members if name == node or has_heartbeat(world, node, name)]


def update_config(world: World, node: str, **changes: FieldOf[ClusterConfig]) -> bool:
    """Change the cluster database from *node*. Return False without a change if the node has no majority."""
    if not can_write_config(world, node):
        return False
    old_config, reached = world.nodes[node].config, _list_reached_nodes(world, node)
    config = replace(old_config, epoch=old_config.epoch + 1, core_owner=find_core_owner(world, node))
    new_config = replace(config, **changes)
    for name in reached:
        world.nodes[name] = replace(world.nodes[name], config=new_config)
    cluster = world.nodes[node].cluster
    write_to_witnesses(world, cluster, new_config, reached, (old_config.witness, new_config.witness))
    world.mark_all_logs_changed()
    return True


def update_role(world: World, node: str, name: str, **changes: FieldOf[ClusterRole]) -> bool:
    """Change one role in the cluster database, like `update_config`."""

    def apply_change(role: ClusterRole) -> ClusterRole:
        return replace(role, **changes) if role.name == name else role

    return update_config(world, node, roles=tuple(map(apply_change, world.nodes[node].config.roles)))


def update_group(
    world: World, node: str, guid: int, change: Callable[[AvailabilityGroup], AvailabilityGroup]
) -> bool:
    """Change one availability group in the cluster database, like `update_config`."""
    groups = world.nodes[node].config.groups
    new_groups = tuple(change(group) if group.guid == guid else group for group in groups)
    return new_groups == groups or update_config(world, node, groups=new_groups)


def find_core_owner(world: World, node: str) -> str:
    """Return the owner of the core resources. It changes only when the owner leaves the partition."""
    partition_members = list_members(world, world.nodes[node].partition)
    owner = world.nodes[node].config.core_owner
    return owner if owner in partition_members else partition_members[0]


def find_current_config(world: World, cluster: str) -> ClusterConfig:
    """Return the newest copy of the cluster database, which a starting cluster would use."""
    nodes = [world.nodes[name] for name in world.clusters[cluster].nodes if name in world.nodes]
    return max((node.config for node in nodes), key=lambda config: config.epoch)


# --- content of witnesses -----------------------------------------------------------------------------------

# A disk witness has a copy of the cluster database. A file share or cloud witness has only its Paxos tag. The
# witness shows a node that the node's own copy is out of date ("partition in time"). With a disk witness, the
# node then copies the newest database from the disk. With a file share or cloud witness, it waits for a node
# with the newest database, or for forced quorum. [DOC: manage quorum; Start-ClusterNode]


def get_witness_resource_name(witness: Witness) -> str:
    """Return the name of a witness's resource: the name of the disk, otherwise the kind of the witness."""
    return witness.name if witness.kind == DISK_KIND else witness.kind


CLOUD_KIND: Final = "Cloud Witness"


def get_witness_store(world: World, cluster: str, witness: Witness) -> WitnessStore:
    """Return the stored content of a witness of the cluster."""
    stores = (
        witness_store for witness_store in world.clusters[cluster].stores if witness_store.witness == witness
    )
    return next(stores, WitnessStore(witness=witness))


def replace_witness_store(world: World, cluster: str, new_store: WitnessStore) -> None:
    """Replace the stored content of a witness of the cluster."""
    stores = world.clusters[cluster].stores
    other_stores = tuple(
        witness_store for witness_store in stores if witness_store.witness != new_store.witness
    )
    world.clusters[cluster] = replace(world.clusters[cluster], stores=(*other_stores, new_store))


def is_witness_reachable(world: World, witness: Witness | None, side_nodes: Collection[str]) -> bool:
    """Return whether a running node of *side_nodes* reaches the witness, which must work."""
    nodes = [node for node in side_nodes if world.computers[node].powered]
    if (
        witness is None
        or not nodes
        or get_witness_store(world, world.nodes[nodes[0]].cluster, witness).failed
    ):
        return False
    host = world.computers.get(witness.name)
    if host is None:
        return witness.kind != CLOUD_KIND or any(network.has_cables(world, node) for node in nodes)
    return host.powered and any(
        node == host.name or network.can_exchange_packets(world, node, host.name) for node in nodes
    )


def has_witness_vote(world: World, config: ClusterConfig, side_nodes: Collection[str]) -> bool:
    """Return whether the witness votes for *side_nodes*.

    These nodes must reach the witness, and no other partition may hold it. Its Paxos tag must not be
    newer than *config*. A node holds a witness by a reservation of the disk, a lock on witness.log or a
    lease of the blob. Known.
    """
    witness = config.witness
    if witness is None or not is_witness_reachable(world, witness, side_nodes):
        return False
    if read_paxos_tag(world, config, side_nodes) > config.epoch:
        return False
    return not _is_held_by_other_partition(world, witness, side_nodes)


def _is_held_by_other_partition(world: World, witness: Witness, side_nodes: Collection[str]) -> bool:
    """Return whether a member of another partition holds the reservation, lock or lease of the witness.

    All nodes that reach the witness can see this.
    """
    first_node = world.nodes[next(iter(side_nodes))]
    return any(
        node.cluster == first_node.cluster
        and node.partition not in (0, first_node.partition)
        and node.service == "running"
        and node.config.witness == witness
        and is_witness_reachable(world, witness, (node.name,))
        for node in world.nodes.values()
    )


def read_paxos_tag(world: World, config: ClusterConfig, side_nodes: Collection[str]) -> int:
    """Return the Paxos tag that *side_nodes* read from the witness; 0 if they do not reach it."""
    if config.witness is None or not is_witness_reachable(world, config.witness, side_nodes):
        return 0
    return get_witness_store(world, world.nodes[next(iter(side_nodes))].cluster, config.witness).tag


def read_newer_database(world: World, config: ClusterConfig, side_nodes: Collection[str]) -> ClusterConfig:
    """Return the cluster database on the disk witness if it is newer than *config*; otherwise *config*.

    Without a disk that *side_nodes* can reserve, return *config*.
    """
    witness = config.witness
    if (
        witness is None
        or not is_witness_reachable(world, witness, side_nodes)
        or _is_held_by_other_partition(world, witness, side_nodes)
    ):
        return config
    copy = get_witness_store(world, world.nodes[next(iter(side_nodes))].cluster, witness).database
    return copy if copy is not None and copy.epoch > config.epoch else config


def write_to_witnesses(
    world: World,
    cluster: str,
    config: ClusterConfig,
    side_nodes: Collection[str],
    target_witnesses: Iterable[Witness | None],
) -> None:
    """Write the Paxos tag of *config* to the witnesses that *side_nodes* reach.

    A disk also receives *config* itself.
    """
    for witness in dict.fromkeys(target_witnesses):
        if witness is None or not is_witness_reachable(world, witness, side_nodes):
            continue
        old_store = get_witness_store(world, cluster, witness)
        if old_store.tag <= config.epoch:
            copy = config if witness.kind == DISK_KIND else None
            replace_witness_store(world, cluster, replace(old_store, tag=config.epoch, database=copy))
