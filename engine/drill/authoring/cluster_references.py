"""Checks of references between clusters, availability groups and failover cluster instances of a scenario."""

from collections.abc import Callable, Sequence
from typing import Final

from engine.availability.commands.configuration import BASIC_GROUP_REPLICAS_MAX
from engine.constants import ENTERPRISE_EDITIONS
from engine.drill.authoring.problems import KeyPath, ProblemCollector
from engine.drill.authoring.schema import AvailabilityGroupSpec, ClusterInstanceSpec, Scenario, ServerSpec
from engine.localization import build_message
from engine.model import Cluster, ClusterConfig, ClusterRole, Computer, Instance, Node, Resource, World

KnownNameCheck = Callable[[ProblemCollector, KeyPath, str | None, Sequence[str], str], bool]
"""Function (collector, path, name, known names, kind of object) -> True if the name is known.

It reports an unknown name as a problem. The implementation is `references._check_name`.
"""

REPLICAS_MAX = {2012: 5}
"""SQL Server version -> maximum replicas of a group, including the primary."""
REPLICAS_MAX_LATER = 9
"""Maximum replicas of a group, including the primary, in versions that REPLICAS_MAX does not list.

Documented [DOC: prerequisites of availability groups].
"""


def check_clusters(scenario: Scenario, collector: ProblemCollector, check_name: KnownNameCheck) -> None:
    """Report unknown names in clusters, instances and groups, and settings that SQL Server would refuse."""
    computers = [server.name for server in scenario.servers]
    used: dict[str, str] = {}
    for i, cluster in enumerate(scenario.clusters):
        for j, node in enumerate(cluster.nodes):
            check_name(collector, ("cluster", i, "nodes", j), node, computers, "server")
            if node in used:
                message = build_message(
                    "{node} is already a node of {cluster}", node=node, cluster=used[node]
                )
                collector.add_problem(("cluster", i, "nodes", j), message, build_message("another server"), 0)
            used[node] = cluster.name
        for j, node in enumerate(cluster.without_vote):
            check_name(collector, ("cluster", i, "without_vote", j), node, cluster.nodes, "node")
        if cluster.subnets and len(cluster.subnets) != len(cluster.nodes):
            message = build_message(
                "{n} subnets are listed for {nodes} nodes", n=len(cluster.subnets), nodes=len(cluster.nodes)
            )
            collector.add_problem(("cluster", i, "subnets"), message, build_message("one subnet per node"), 0)
        if cluster.witness_kind == "file share":
            check_name(collector, ("cluster", i, "witness"), cluster.witness, computers, "server")
    for i, instance in enumerate(scenario.instances):
        for j, node in enumerate(instance.owners):
            check_name(collector, ("instance", i, "owners", j), node, list(used), "node")
        for j, node in enumerate(instance.no_tempdb_path):
            check_name(collector, ("instance", i, "no_tempdb_path", j), node, list(used), "node")
    for i, group in enumerate(scenario.groups):
        _check_group(scenario, group, ("availability_group", i), collector, check_name, used)


def _check_group(
    scenario: Scenario,
    group: AvailabilityGroupSpec,
    path: KeyPath,
    collector: ProblemCollector,
    check_name: KnownNameCheck,
    used: dict[str, str],
) -> None:
    servers = {server.name: server for server in scenario.servers if server.sql}
    hosts = [replica.server for replica in group.replicas]
    databases = [database.name for database in scenario.databases]
    for j, database in enumerate(group.databases):
        check_name(collector, (*path, "databases", j), database, databases, "database")
        if any(session.database == database for session in scenario.sessions):
            problem = build_message("{database} is already mirrored", database=database)
            collector.add_problem((*path, "databases", j), problem, build_message("another database"), 0)
    check_name(collector, (*path, "primary"), group.primary, hosts, "server")
    subnets = {address.rpartition(".")[0] for address in group.listener_addresses}
    for cluster in scenario.clusters if subnets else ():
        for node, subnet in zip(
            cluster.nodes, cluster.subnets or ("10.0.0",) * len(cluster.nodes), strict=False
        ):
            if node in hosts and subnet not in subnets:
                problem = build_message(
                    "the listener has no address in the subnet {subnet} of {node}", subnet=subnet, node=node
                )
                collector.add_problem(
                    (*path, "listener_addresses"), problem, build_message("one address per subnet"), 0
                )
    for j, replica in enumerate(group.replicas):
        replica_path: KeyPath = (*path, "replica", j)
        check_name(collector, (*replica_path, "server"), replica.server, scenario.server_names, "server")
        server = servers.get(replica.server)
        if server is not None and replica.server not in used:
            problem = build_message("{server} is not a node of a cluster", server=replica.server)
            collector.add_problem(
                (*replica_path, "server"), problem, build_message("a node of a [[cluster]] table"), 0
            )
        if server is not None and server.version < 2012:
            problem = build_message("availability groups need SQL Server 2012 or later")
            collector.add_problem((*replica_path, "server"), problem, "version = 2012", 0)
        if replica.failover == "AUTOMATIC" and replica.mode != "SYNCHRONOUS_COMMIT":
            problem = build_message("automatic failover needs synchronous commit")
            collector.add_problem((*replica_path, "failover"), problem, "MANUAL", 0)
        if replica.failover == "AUTOMATIC" and server is None:
            problem = build_message(
                "a failover cluster instance does not support automatic failover of an availability group"
            )
            collector.add_problem((*replica_path, "failover"), problem, "MANUAL", 0)
        for k, other_server in enumerate(replica.routing_list):
            check_name(collector, (*replica_path, "routing_list", k), other_server, hosts, "server")
    _check_editions(scenario, group, path, collector)
    versions = [servers[name].version for name in hosts if name in servers]
    replica_limit = min((REPLICAS_MAX.get(version, REPLICAS_MAX_LATER) for version in versions), default=9)
    if len(hosts) > replica_limit:
        problem = build_message("{n} replicas exceed the limit", n=len(hosts))
        collector.add_problem((*path, "replica"), problem, build_message("at most {n}", n=replica_limit), 0)


BASIC_GROUPS_SINCE: Final = 2016
"""First version with basic availability groups. Standard edition supports no other groups.

[DOC: basic availability groups]
"""


def is_basic_group(scenario: Scenario, group: AvailabilityGroupSpec) -> bool:
    """Return whether a replica runs on an edition other than Enterprise, which makes the group a basic group."""
    hosts = {replica.server for replica in group.replicas}
    return any(
        host.name in hosts and host.edition not in ENTERPRISE_EDITIONS for host in _list_instances(scenario)
    )


def _list_instances(scenario: Scenario) -> list[ServerSpec | ClusterInstanceSpec]:
    return [*(server for server in scenario.servers if server.sql), *scenario.instances]


def _check_editions(
    scenario: Scenario, group: AvailabilityGroupSpec, path: KeyPath, collector: ProblemCollector
) -> None:
    """Report violations of the limits of basic availability groups.

    Such a group needs SQL Server 2016 or later, and has two replicas, one database and no readable secondary.
    """
    if not is_basic_group(scenario, group):
        return
    editions = {instance.name: instance for instance in _list_instances(scenario)}
    for j, replica in enumerate(group.replicas):
        host = editions.get(replica.server)
        is_too_old = host is not None and host.version < BASIC_GROUPS_SINCE
        if host is not None and (host.edition not in (*ENTERPRISE_EDITIONS, "Standard") or is_too_old):
            problem = build_message(
                "{edition} edition does not support availability groups", edition=host.edition
            )
            if is_too_old:
                problem = build_message(
                    "Standard edition supports availability groups only in SQL Server 2016 and later"
                )
            collector.add_problem((*path, "replica", j, "server"), problem, 'edition = "Enterprise"', 0)
        if replica.secondary_connections != "NO":
            problem = build_message("a basic availability group does not support readable secondaries")
            collector.add_problem((*path, "replica", j, "secondary_connections"), problem, "NO", 0)
    if len(group.replicas) > BASIC_GROUP_REPLICAS_MAX:
        problem = build_message(
            "Standard edition supports only basic availability groups: {n} replicas exceed the limit",
            n=len(group.replicas),
        )
        collector.add_problem(
            (*path, "replica"), problem, build_message("at most {n}", n=BASIC_GROUP_REPLICAS_MAX), 0
        )
    if len(group.databases) > 1:
        problem = build_message("a basic availability group contains only one database")
        collector.add_problem((*path, "databases"), problem, build_message("at most {n}", n=1), 0)


def add_cluster_names(world: World, scenario: Scenario) -> None:
    """Add clusters, nodes, roles, resources and failover cluster instances to *world*.

    The added objects have only names, because *world* serves only to check references.
    """
    host = len(world.instances)
    for cluster in scenario.clusters:
        roles = (
            *(_build_role(group.name, "availability", cluster.nodes[0]) for group in scenario.groups),
            *(_build_role(instance.name, "instance", cluster.nodes[0]) for instance in scenario.instances),
        )
        config = ClusterConfig(roles=roles)
        for number, name in enumerate(cluster.nodes):
            world.computers.setdefault(name, Computer(name=name))
            world.nodes[name] = Node(
                name=name, cluster=cluster.name, number=number + 1, partition=1, config=config
            )
        world.clusters[cluster.name] = Cluster(name=cluster.name, nodes=cluster.nodes)
    for number, instance in enumerate(scenario.instances):
        world.instances[instance.name] = Instance(
            name=instance.name, computer=instance.owners[0], host=host + number
        )


def _build_role(name: str, kind: str, owner: str) -> ClusterRole:
    return ClusterRole(
        name=name, kind=kind, owner=owner, resources=(Resource(name=name, kind="", owners=(owner,)),)
    )
