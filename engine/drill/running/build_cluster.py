"""Healthy clusters, availability groups and failover cluster instances of a scenario's start world."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from engine import model
from engine.availability import failover
from engine.availability.role import role_of
from engine.cluster import commands, config, instances, quorum
from engine.drill.authoring.cluster_references import is_basic
from engine.drill.authoring.schema import AvailabilityGroupSpec, ClusterSpec, ReplicaSpec, Scenario
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
"""Endpoint name given by the New Availability Group wizard. Known; public scripts rely on it."""


def add_clusters(world: World, scenario: Scenario) -> None:
    """Add clusters with quorum, and their failover cluster instances."""
    for cluster in scenario.clusters:
        _add_cluster(world, cluster)
    for number, spec in enumerate(scenario.instances, 1):
        end = spec.endpoint
        owner = world.computers[spec.owners[0]]
        world.instances[spec.name] = model.Instance(
            name=spec.name,
            computer=owner.name,
            host=len(world.instances),
            version=spec.version,
            edition=spec.edition,
            clustered=True,
            installed=spec.owners,
            no_tempdb_path=spec.no_tempdb_path,
            service_account=spec.service_account,
            endpoint=model.Endpoint(
                name=ENDPOINT, port=end.port, state=model.EndpointState[end.state], role=end.role
            ),
        )
        _add_role(world, owner.name, instances.new_role(spec.name, spec.owners, number))


def _add_cluster(world: World, spec: ClusterSpec) -> None:
    threshold, cross = quorum.THRESHOLDS.get(spec.windows, quorum.THRESHOLDS_SINCE_2016)
    cluster = world.clusters[spec.name] = model.Cluster(
        name=spec.name,
        windows=spec.windows,
        nodes=spec.nodes,
        dynamic_quorum=spec.dynamic_quorum,
        threshold=threshold,
        cross_threshold=cross,
        witness_there=spec.witness is not None,
    )
    witness = (
        model.Witness(kind=commands.WITNESS_KINDS[spec.witness_kind], name=spec.witness)
        if spec.witness
        else None
    )
    cluster_config = ClusterConfig(
        weights=tuple((node, int(node not in spec.without_vote)) for node in spec.nodes), witness=witness
    )
    counted, with_witness = quorum.count_votes(cluster, cluster_config, spec.nodes, witness is not None)
    cluster_config = replace(cluster_config, counted=counted, witness_counts=with_witness)
    partition = world.next_id()
    for number, name in enumerate(spec.nodes, 1):
        world.nodes[name] = model.Node(
            name=name,
            cluster=spec.name,
            number=number,
            partition=partition,
            config=cluster_config,
            subnet=spec.subnets[number - 1] if spec.subnets else "10.0.0",
        )


def _add_role(world: World, node: str, role: ClusterRole) -> None:
    config.update(world, node, roles=(*world.nodes[node].config.roles, role))


def add_groups(world: World, scenario: Scenario) -> dict[str, AvailabilityGroupSpec]:
    """Add groups to the databases of their clusters; return the group by database name as in the file."""
    grouped: dict[str, AvailabilityGroupSpec] = {}
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
        group_state = model.AvailabilityGroup(
            name=group.name,
            guid=guid,
            primary=group.primary,
            replicas=tuple(_build_replica(world, replica) for replica in group.replicas),
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
        nodes = tuple(
            dict.fromkeys(node for server in hosts for node in instances.possible_nodes(world, server))
        )
        config.update(world, owner, groups=(*world.nodes[owner].config.groups, group_state))
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


def _in_step(group: AvailabilityGroupSpec, server: str) -> bool:
    modes = {replica.server: replica.mode for replica in group.replicas}
    return modes[group.primary] == modes[server] == "SYNCHRONOUS_COMMIT"


def _build_replica(world: World, spec: ReplicaSpec) -> model.Replica:
    end = world.instances[spec.server].endpoint
    assert end is not None, "a scenario's servers have endpoints"
    return model.Replica(
        server=spec.server,
        endpoint_url=f"TCP://{spec.server}:{end.port}",
        mode=CommitMode[spec.mode],
        failover=FailoverMode[spec.failover],
        session_timeout_s=spec.session_timeout_s,
        backup_priority=spec.backup_priority,
        primary_connections=spec.primary_connections,
        secondary_connections=spec.secondary_connections,
        read_only_routing_url=f"TCP://{spec.server}:1433" if spec.routing_url else None,
        read_only_routing_list=spec.routing_list,
    )


def add_grouped(
    world: World, group: AvailabilityGroupSpec, copy: Callable[[str], DatabaseCopy], name: str
) -> None:
    """Add the copies of one database of a group, as each server knows them."""
    guid = next(
        number for number, one in world.groups.items() if one.kind == "availability" and name in one.databases
    )
    number = world.next_id()
    others = [replica for replica in group.replicas if replica.server != group.primary]
    for replica in group.replicas:
        is_primary = replica.server == group.primary
        synchronous = _in_step(group, replica.server)
        peers = tuple(sorted((r.server, _state(group, r.server)) for r in others)) if is_primary else ()
        world.copies[replica.server, name] = replace(
            copy(replica.server),
            availability=AvailabilityMembership(
                guid=guid,
                database_guid=number,
                role=ReplicaRole.PRIMARY if is_primary else ReplicaRole.SECONDARY,
                state=SyncState.SYNCHRONIZED if synchronous else SyncState.SYNCHRONIZING,
                peers=peers,
                readers=replica.secondary_connections,
                primary_connections=replica.primary_connections,
            ),
        )


def _state(group: AvailabilityGroupSpec, server: str) -> SyncState:
    return SyncState.SYNCHRONIZED if _in_step(group, server) else SyncState.SYNCHRONIZING


def follows(world: World, key: Key) -> bool:
    """Return whether the copy is a secondary: it writes no log of its own."""
    return groups.policy(world.copies[key]).is_follower(world.copies[key])


def attach(world: World) -> None:
    """Attach every secondary to the log of its primary."""
    for key, copy in sorted(world.copies.items()):
        if copy.availability.guid is None or not follows(world, key):
            continue
        primary = world.replicas[key[0], copy.availability.guid].primary
        lead = world.copies[primary or "", key[1]]
        assert lead.source is not None
        streams.attach(world, lead.source, key)
