"""Content of witnesses: a disk has a copy of the cluster database, a share or a storage account only its tag.

A node without the newest database finds that out at the witness ("partition in time"). With a disk it takes the copy
from there; with a share or a storage account it waits until a node that has the newest database is back, or until
quorum is forced. [DOC: manage quorum; Start-ClusterNode]
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
    found = (one for one in world.clusters[cluster].stores if one.witness == witness)
    return next(found, WitnessStore(witness=witness))


def put(world: World, cluster: str, new: WitnessStore) -> None:
    stores = world.clusters[cluster].stores
    others = tuple(one for one in stores if one.witness != new.witness)
    world.clusters[cluster] = replace(world.clusters[cluster], stores=(*others, new))


def reaches(world: World, witness: Witness | None, side: Collection[str]) -> bool:
    """Some running node of *side* reaches the witness."""
    nodes = [node for node in side if world.computers[node].powered]
    if witness is None or not nodes or store(world, world.nodes[nodes[0]].cluster, witness).failed:
        return False
    host = world.computers.get(witness.name)
    if host is None:
        return witness.kind != CLOUD or any(network.nic_up(world, node) for node in nodes)
    return host.powered and any(
        node == host.name or network.passing(world, node, host.name) for node in nodes
    )


def votes(world: World, config: ClusterConfig, side: Collection[str]) -> bool:
    """The witness votes for *side*: it is reached, it has no newer tag, and no other partition holds it.

    A node holds it by a reservation of the disk, a lock on witness.log or a lease of the blob. Known.
    """
    witness = config.witness
    if witness is None or not reaches(world, witness, side):
        return False
    if tag(world, config, side) > config.epoch:
        return False
    return not _held_by_others(world, witness, side)


def _held_by_others(world: World, witness: Witness, side: Collection[str]) -> bool:
    """A member of another partition has the reservation, the lock or the lease; all nodes that reach it see that."""
    first = world.nodes[next(iter(side))]
    return any(
        node.cluster == first.cluster
        and node.partition not in (0, first.partition)
        and node.service == "running"
        and node.config.witness == witness
        and reaches(world, witness, (node.name,))
        for node in world.nodes.values()
    )


def tag(world: World, config: ClusterConfig, side: Collection[str]) -> int:
    """Tag of the witness as *side* reads it; 0 where it does not reach the witness."""
    if config.witness is None or not reaches(world, config.witness, side):
        return 0
    return store(world, world.nodes[next(iter(side))].cluster, config.witness).tag


def database(world: World, config: ClusterConfig, side: Collection[str]) -> ClusterConfig:
    """The newer copy on a disk witness that *side* reaches and may reserve; else *config*."""
    witness = config.witness
    if witness is None or not reaches(world, witness, side) or _held_by_others(world, witness, side):
        return config
    copy = store(world, world.nodes[next(iter(side))].cluster, witness).database
    return copy if copy is not None and copy.epoch > config.epoch else config


def write(
    world: World, cluster: str, config: ClusterConfig, side: Collection[str], known: Iterable[Witness | None]
) -> None:
    """*side* writes the tag of *config*, and on a disk *config* itself, to the witnesses that it reaches."""
    for witness in dict.fromkeys(known):
        if witness is None or not reaches(world, witness, side):
            continue
        old = store(world, cluster, witness)
        if old.tag <= config.epoch:
            copy = config if witness.kind == DISK else None
            put(world, cluster, replace(old, tag=config.epoch, database=copy))
