"""Clusters, availability groups and failover cluster instances of a scenario's start world, all well."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from engine import model
from engine.availability import failover
from engine.availability.role import role_of
from engine.cluster import commands, config, instances, quorum
from engine.drill.authoring.cluster_references import is_basic
from engine.drill.authoring.schema import AvailabilityGroup, Cluster, Replica, Scenario
from engine.model import (
    AvailabilityMembership,
    ClusterConfig,
    ClusterRole,
    CommitMode,
    DatabaseCopy,
    FailoverMode,
    Key,
    ReplicaRole,
    ReplicaWord,
    SyncState,
    World,
)
from engine.protocol import groups, network, streams

ENDPOINT: Final = "Hadr_endpoint"
"""The New Availability Group wizard names the endpoint so. Known; scripts of public sites rely on it."""


def add_clusters(world: World, scenario: Scenario) -> None:
    """Clusters with quorum, and the failover cluster instances that they run."""
    for cluster in scenario.clusters:
        _add_cluster(world, cluster)
    for number, made in enumerate(scenario.instances, 1):
        end = made.endpoint
        owner = world.computers[made.owners[0]]
        world.instances[made.name] = model.Instance(
            name=made.name,
            computer=owner.name,
            host=len(world.instances),
            version=made.version,
            edition=made.edition,
            clustered=True,
            installed=made.owners,
            no_tempdb_path=made.no_tempdb_path,
            service_account=made.service_account,
            endpoint=model.Endpoint(
                name=ENDPOINT, port=end.port, state=model.EndpointState[end.state], role=end.role
            ),
        )
        _add_role(world, owner.name, instances.new_role(made.name, made.owners, number))


def _add_cluster(world: World, made: Cluster) -> None:
    threshold, cross = quorum.THRESHOLDS.get(made.windows, quorum.THRESHOLDS_SINCE_2016)
    cluster = world.clusters[made.name] = model.Cluster(
        name=made.name,
        windows=made.windows,
        nodes=made.nodes,
        dynamic_quorum=made.dynamic_quorum,
        threshold=threshold,
        cross_threshold=cross,
        witness_there=made.witness is not None,
    )
    witness = (
        model.Witness(kind=commands.WITNESS_KINDS[made.witness_kind], name=made.witness)
        if made.witness
        else None
    )
    known = ClusterConfig(
        weights=tuple((node, int(node not in made.without_vote)) for node in made.nodes), witness=witness
    )
    counted, with_witness = quorum.count(cluster, known, made.nodes, witness is not None)
    known = replace(known, counted=counted, witness_counts=with_witness)
    partition = world.next_id()
    for number, name in enumerate(made.nodes, 1):
        world.nodes[name] = model.Node(
            name=name,
            cluster=made.name,
            number=number,
            partition=partition,
            config=known,
            subnet=made.subnets[number - 1] if made.subnets else "10.0.0",
        )


def _add_role(world: World, node: str, role: ClusterRole) -> None:
    config.update(world, node, roles=(*world.nodes[node].config.roles, role))


def add_groups(world: World, scenario: Scenario) -> dict[str, AvailabilityGroup]:
    """Groups in the databases of their clusters; database as written in the file -> its group."""
    grouped: dict[str, AvailabilityGroup] = {}
    for group in scenario.groups:
        guid = world.next_id()
        names = tuple(name for d in scenario.databases if d.name in group.databases for name in d.names)
        world.groups[guid] = model.Group(kind="availability", databases=names)
        hosts = tuple(replica.server for replica in group.replicas)
        places = tuple(sorted((name, server) for name in names for server in hosts))
        in_step = {r.server for r in group.replicas if _in_step(group, r.server)}
        listener = (
            model.AvailabilityListener(
                name=group.listener,
                port=group.listener_port,
                addresses=group.listener_addresses,
                register_all=group.register_all_addresses,
                record_ttl_s=group.record_ttl_s,
            )
            if group.listener
            else None
        )
        made = model.AvailabilityGroup(
            name=group.name,
            guid=guid,
            primary=group.primary,
            replicas=tuple(_replica(world, replica) for replica in group.replicas),
            databases=names,
            joined=places,
            ready=tuple(place for place in places if place[1] in in_step or place[1] == group.primary),
            failure_condition_level=group.failure_condition_level,
            health_check_timeout_ms=group.health_check_timeout_ms,
            backup_preference=group.backup_preference,
            db_failover=group.db_failover,
            required_synchronized=group.required_synchronized,
            basic=is_basic(scenario, group),
            listener=listener,
        )
        owner = world.instances[group.primary].computer
        nodes = tuple(world.instances[server].computer for server in hosts)
        config.update(world, owner, groups=(*world.nodes[owner].config.groups, made))
        _add_role(world, owner, role_of(group.name, listener, nodes, owner))
        for server in hosts:
            first = server == group.primary
            world.replicas[server, guid] = model.ReplicaState(
                server=server,
                guid=guid,
                word=ReplicaWord.PRIMARY_NORMAL if first else ReplicaWord.SECONDARY_NORMAL,
                primary=group.primary,
            )
            if not first:
                network.open_contact(world, guid, group.primary, server)
        if listener is not None:
            failover.register(world, group.primary, listener)
        grouped.update(dict.fromkeys(group.databases, group))
    return grouped


def _in_step(group: AvailabilityGroup, server: str) -> bool:
    modes = {replica.server: replica.mode for replica in group.replicas}
    return modes[group.primary] == modes[server] == "SYNCHRONOUS_COMMIT"


def _replica(world: World, made: Replica) -> model.Replica:
    end = world.instances[made.server].endpoint
    assert end is not None, "a scenario's servers have endpoints"
    return model.Replica(
        server=made.server,
        endpoint_url=f"TCP://{made.server}:{end.port}",
        mode=CommitMode[made.mode],
        failover=FailoverMode[made.failover],
        session_timeout_s=made.session_timeout_s,
        backup_priority=made.backup_priority,
        primary_connections=made.primary_connections,
        secondary_connections=made.secondary_connections,
        read_only_routing_url=f"TCP://{made.server}:1433" if made.routing_url else None,
        read_only_routing_list=made.routing_list,
    )


def add_grouped(
    world: World, group: AvailabilityGroup, copy: Callable[[str], DatabaseCopy], name: str
) -> None:
    """The copies of one database of a group, as each server knows it."""
    guid = next(
        number for number, one in world.groups.items() if one.kind == "availability" and name in one.databases
    )
    number = world.next_id()
    others = [replica for replica in group.replicas if replica.server != group.primary]
    for replica in group.replicas:
        first = replica.server == group.primary
        synchronous = _in_step(group, replica.server)
        peers = tuple(sorted((r.server, _state(group, r.server)) for r in others)) if first else ()
        world.copies[replica.server, name] = replace(
            copy(replica.server),
            availability=AvailabilityMembership(
                guid=guid,
                database_guid=number,
                role=ReplicaRole.PRIMARY if first else ReplicaRole.SECONDARY,
                state=SyncState.SYNCHRONIZED if synchronous else SyncState.SYNCHRONIZING,
                peers=peers,
                readers=replica.secondary_connections,
                primary_connections=replica.primary_connections,
            ),
        )


def _state(group: AvailabilityGroup, server: str) -> SyncState:
    return SyncState.SYNCHRONIZED if _in_step(group, server) else SyncState.SYNCHRONIZING


def follows(world: World, key: Key) -> bool:
    """The copy is a secondary: it writes no log of its own."""
    return groups.policy(world.copies[key]).follows(world.copies[key])


def attach(world: World) -> None:
    """Every secondary receives the log of its primary."""
    for key, copy in sorted(world.copies.items()):
        if copy.availability.guid is None or not follows(world, key):
            continue
        primary = world.replicas[key[0], copy.availability.guid].primary
        lead = world.copies[primary or "", key[1]]
        assert lead.source is not None
        streams.attach(world, lead.source, key)
