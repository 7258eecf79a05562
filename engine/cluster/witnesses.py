"""Content of witnesses: a disk has a copy of the cluster database, a share or a storage account only its tag.

A node without the newest database learns this from the witness ("partition in time"). It copies the newest database
from a disk. With a share or a storage account it waits for a node with the newest database, or for forced quorum.
[DOC: manage quorum; Start-ClusterNode]
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

from msgspec.structs import replace

from engine.model import ClusterConfig, Witness, WitnessStore, World
from engine.protocol import network

DISK: Final = "Physical Disk"
CLOUD: Final = "Cloud Witness"


def store(world: World, cluster: str, witness: Witness) -> WitnessStore:
    """Return the content of a witness of the cluster."""
    found = (one for one in world.clusters[cluster].stores if one.witness == witness)
    return next(found, WitnessStore(witness=witness))


def put_store(world: World, cluster: str, new_store: WitnessStore) -> None:
    """Replace the content of a witness of the cluster."""
    stores = world.clusters[cluster].stores
    others = tuple(one for one in stores if one.witness != new_store.witness)
    world.clusters[cluster] = replace(world.clusters[cluster], stores=(*others, new_store))


def is_reachable(world: World, witness: Witness | None, side_nodes: Collection[str]) -> bool:
    """Return whether a running node of *side* reaches the witness."""
    nodes = [node for node in side_nodes if world.computers[node].powered]
    if witness is None or not nodes or store(world, world.nodes[nodes[0]].cluster, witness).failed:
        return False
    host = world.computers.get(witness.name)
    if host is None:
        return witness.kind != CLOUD or any(network.nic_up(world, node) for node in nodes)
    return host.powered and any(
        node == host.name or network.is_passing(world, node, host.name) for node in nodes
    )


def has_vote(world: World, config: ClusterConfig, side_nodes: Collection[str]) -> bool:
    """Return whether the witness votes for *side*: reachable, no newer tag, held by no other partition.

    A node holds it by a reservation of the disk, a lock on witness.log or a lease of the blob. Known.
    """
    witness = config.witness
    if witness is None or not is_reachable(world, witness, side_nodes):
        return False
    if read_tag(world, config, side_nodes) > config.epoch:
        return False
    return not _is_held_by_other_partition(world, witness, side_nodes)


def _is_held_by_other_partition(world: World, witness: Witness, side_nodes: Collection[str]) -> bool:
    """Return whether a member of another partition holds the reservation, the lock or the lease.

    All nodes that reach the witness see that.
    """
    first = world.nodes[next(iter(side_nodes))]
    return any(
        node.cluster == first.cluster
        and node.partition not in (0, first.partition)
        and node.service == "running"
        and node.config.witness == witness
        and is_reachable(world, witness, (node.name,))
        for node in world.nodes.values()
    )


def read_tag(world: World, config: ClusterConfig, side_nodes: Collection[str]) -> int:
    """Tag of the witness as *side* reads it; 0 where it does not reach the witness."""
    if config.witness is None or not is_reachable(world, config.witness, side_nodes):
        return 0
    return store(world, world.nodes[next(iter(side_nodes))].cluster, config.witness).tag


def read_database(world: World, config: ClusterConfig, side_nodes: Collection[str]) -> ClusterConfig:
    """Return the newer of *config* and the copy on a disk witness that *side* reaches and may reserve."""
    witness = config.witness
    if (
        witness is None
        or not is_reachable(world, witness, side_nodes)
        or _is_held_by_other_partition(world, witness, side_nodes)
    ):
        return config
    copy = store(world, world.nodes[next(iter(side_nodes))].cluster, witness).database
    return copy if copy is not None and copy.epoch > config.epoch else config


def write(
    world: World,
    cluster: str,
    config: ClusterConfig,
    side_nodes: Collection[str],
    target_witnesses: Iterable[Witness | None],
) -> None:
    """Write the tag of *config*, and on a disk *config* itself, to the witnesses that *side* reaches."""
    for witness in dict.fromkeys(target_witnesses):
        if witness is None or not is_reachable(world, witness, side_nodes):
            continue
        old = store(world, cluster, witness)
        if old.tag <= config.epoch:
            copy = config if witness.kind == DISK else None
            put_store(world, cluster, replace(old, tag=config.epoch, database=copy))
