"""Failover cluster instances: SQL Server runs where its role is owned. [DOC: failover cluster instances]"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from engine.cluster import config, roles
from engine.flow.recovery import Cause
from engine.model import ClusterRole, Instance, Service, World
from engine.protocol import network, service
from engine.words import say

DISKS_S: Final = 2.0
"""Shared disks, address and network name come online before the service starts. Derived from published sequences."""

DISKS_AFTER_CRASH_S: Final = 8.0
"""The same where the former owner never gave the disks up: its reservation has to be broken. Published as about ten
seconds."""

HEALTH_CHECK_TIMEOUT_S: Final = 60.0
"""HealthCheckTimeout of a failover cluster instance. Documented [DOC: ALTER SERVER CONFIGURATION]."""

SERVICE_NOTICED_S: Final = 5.0
"""LooksAlive is asked every five seconds. Documented in kind."""

LOOK_S: Final = 0.1
"""How often the end of a stop is looked for. Ours."""


def role_of(world: World, server: str) -> ClusterRole | None:
    """The role of a failover cluster instance; None for an instance that belongs to one computer."""
    found = (role for _, role in roles.each(world) if role.kind == "instance" and instance_of(role) == server)
    return next(found, None)


def instance_of(role: ClusterRole) -> str:
    """The instance of the role: its SQL Server resource is named after it."""
    return role.name


class InstanceRole(roles.RoleKind):
    """Shared disks, network name, address, SQL Server and Agent."""

    def trouble(self, world: World, role: ClusterRole) -> tuple[str, float]:
        instance = _instance(world, role)
        if instance.service is not Service.RUNNING:
            return say("the SQL Server service is not running"), SERVICE_NOTICED_S
        if instance.hung:
            return say("no answer within the health check timeout"), HEALTH_CHECK_TIMEOUT_S
        broken = next((resource.name for resource in role.resources if resource.failed), "")
        return (say("resource {name} has failed", name=broken), 0.5) if broken else ("", 0.0)

    def hostable(self, world: World, role: ClusterRole, node: str) -> bool:
        """Any possible owner of all resources; whether the instance can start there shows only then."""
        return all(node in resource.owners for resource in role.resources if resource.kind != "Physical Disk")

    def targets(self, world: World, role: ClusterRole) -> list[str]:
        there = [name for name in world.clusters[_cluster(world, role)].nodes if name != role.owner]
        ranked = [*(name for name in role.preferred if name in there), *there, role.owner]
        return [name for name in dict.fromkeys(ranked) if self.hostable(world, role, name)]

    def offline(self, world: World, role: ClusterRole, planned: bool) -> float:
        instance = _instance(world, role)
        if instance.service is Service.RUNNING and instance.answering:
            service.stop(world, instance.name, Cause.STOP_SERVICE, "", ((17148, ()),))
        elif instance.service is not Service.STOPPED:
            service.kill(world, instance.name)
        return LOOK_S

    def online(self, world: World, role: ClusterRole, node: str) -> str:
        instance = _instance(world, role)
        disks = [resource for resource in role.resources if resource.kind == "Physical Disk"]
        missing = next((disk.name for disk in disks if node not in disk.owners or disk.failed), "")
        if missing:
            return say("{disk} is not available on {node}", disk=missing, node=node)
        if instance.service not in (Service.STOPPED, Service.STOPPING):
            service.kill(world, instance.name)
        crashed = not world.computers[instance.computer].powered or instance.computer != node
        wait_s = (
            DISKS_AFTER_CRASH_S if crashed and not world.computers[instance.computer].powered else DISKS_S
        )
        world.after(wait_s, "instance.start", role.name, node, instance.started_tick)
        return ""

    def node_left(self, world: World, node: str) -> None:
        """Without quorum the cluster takes its instances down. [DOC: WSFC quorum]"""
        for name in [name for name in world.instances_on(node) if world.instances[name].clustered]:
            if world.instances[name].service is not Service.STOPPED:
                service.kill(world, name)


def _instance(world: World, role: ClusterRole) -> Instance:
    return world.instances[instance_of(role)]


def _cluster(world: World, role: ClusterRole) -> str:
    return next(node.cluster for node in world.nodes.values() if node.config.role(role.name) is not None)


def start(world: World, name: str, node: str, started_tick: int) -> None:
    """Timer: the disks are there; the service starts on its new node."""
    role = world.nodes[node].config.role(name)
    instance = world.instances.get(name)
    if role is None or instance is None or role.owner != node or instance.started_tick != started_tick:
        return
    if instance.service is Service.STOPPING:
        world.after(LOOK_S, "instance.start", name, node, started_tick)
        return
    if not config.up(world, world.nodes[node]) or not world.nodes[node].partition:
        return
    world.update_instance(name, computer=node)
    network.reassess(world)
    service.start(world, name)
    world.after(LOOK_S, "instance.up", name, node)


def up(world: World, name: str, node: str) -> None:
    """Timer: is the service running on its new node?"""
    instance = world.instances[name]
    if instance.computer != node:
        return
    if instance.service is Service.STARTING:
        world.after(LOOK_S, "instance.up", name, node)
    elif instance.running:
        roles.came_online(world, name, node)
    else:
        roles.broke_off(world, name, node, say("the service did not start"))


roles.KINDS["instance"] = InstanceRole()

HANDLERS: Final[dict[str, Callable[..., None]]] = {"instance.start": start, "instance.up": up}
