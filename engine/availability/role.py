"""Cluster role of an availability group: its health, its targets, and how it goes online and offline."""

from typing import Final

from engine.availability import failover, movement, replicas
from engine.cluster import cluster_log, config, roles
from engine.localization import build_message
from engine.model import (
    AvailabilityGroup,
    AvailabilityListener,
    ClusterRole,
    Handlers,
    ReplicaRole,
    ReplicaWord,
    Resource,
    Service,
    World,
)
from engine.overrides import override
from engine.protocol import errorlog

SERVICE_LOSS_DETECTION_S: Final = 0.5
"""Time from the end of the service until its resource counts as failed. Derived: the cluster watches the
process.
"""

REPORTS_PER_TIMEOUT: Final = 3
"""Number of reports of sp_server_diagnostics per health check timeout. Documented [DOC: lease timeout]."""

THREAD_FAILURE_LEVEL: Final = 5
"""Lowest failure condition level at which a lack of worker threads causes a failover.

Documented [DOC: flexible failover policy].
"""

ON_SERVER_DOWN_FACTOR: Final = 5 / REPORTS_PER_TIMEOUT
"""Delay of a failure at FAILURE_CONDITION_LEVEL 1, relative to the health check timeout.

The delay is five diagnostics intervals, each a third of the timeout. Documented [DOC: lease timeout].
"""

STALL_SLOWDOWN_FACTOR: Final = 100.0
"""Slowdown of the processors at which SQL Server does not renew its lease and the resource cannot log in.
Assumed.
"""

LOGIN_TIMEOUT_S: Final = 15.0
"""Login timeout of the resource, after which the resource fails to come online. Known (default of the
driver).

The failure on an overloaded instance is documented [DOC: automatic failover problems].
"""


class GroupRole(roles.RoleKind):
    """Kind of cluster role for availability groups, which hadrres.dll monitors."""

    @override
    def find_problem(self, world: World, role: ClusterRole) -> roles.RoleProblem:
        group, server = _find_role_group(world, role), _find_server(world, role, role.owner)
        if group is None or server is None:
            return roles.RoleProblem(build_message("the node has no replica"))
        instance = world.instances[server]
        timeout_s = group.health_check_timeout_ms / 1000.0
        signs: tuple[str, ...]
        if instance.service is not Service.RUNNING:
            message, delay_s = (
                build_message("the SQL Server service is not running"),
                SERVICE_LOSS_DETECTION_S,
            )
            signs = cluster_log.SERVICE_DOWN_TEXTS
        elif instance.hung and _compute_health_delay_s(group) < _compute_lease_expiry_s(group):
            message, delay_s = (
                build_message("no answer within the health check timeout"),
                _compute_health_delay_s(group),
            )
            signs = (cluster_log.LOST_DIAGNOSTICS_TEXT, _NOT_HEALTHY)
        elif instance.hung or world.computers[instance.computer].cpu_factor >= STALL_SLOWDOWN_FACTOR:
            message, delay_s = build_message("the lease was not renewed"), _compute_lease_expiry_s(group)
            signs = ("Availability Group lease is no longer valid",)
        elif group.db_failover and any(_is_damaged(world, server, name) for name in group.databases):
            message, delay_s = (
                build_message("a database is not online (DB_FAILOVER is ON)"),
                SERVICE_LOSS_DETECTION_S,
            )
            signs = (_NOT_HEALTHY,)
        elif instance.short_of_threads and group.failure_condition_level == THREAD_FAILURE_LEVEL:
            message = build_message("the worker threads are exhausted (failure condition level 5)")
            delay_s = timeout_s / REPORTS_PER_TIMEOUT
            signs = ("Failure detected, the state of query_processing component is error", _NOT_HEALTHY)
        elif not _is_primary(world, server, group):
            message, delay_s, signs = (
                build_message("the replica is not primary"),
                SERVICE_LOSS_DETECTION_S,
                (),
            )
        else:
            return roles.RoleProblem()
        return roles.RoleProblem(
            message, delay_s, cluster_log.build_failure_lines(_LINE_PREFIX.format(group.name), *signs)
        )

    def can_restart(self, world: World, role: ClusterRole) -> bool:
        """Return whether the cluster tries to restart the role on its node.

        It tries this even on an overloaded node, because only the login shows the overload.
        """
        return self.can_host(world, role, role.owner) or self._is_stalled(world, role, role.owner)

    def _is_stalled(self, world: World, role: ClusterRole, node: str) -> bool:
        server = _find_server(world, role, node)
        stands = world.computers[node].cpu_factor >= STALL_SLOWDOWN_FACTOR
        return stands and server is not None and world.instances[server].answering

    @override
    def can_host(self, world: World, role: ClusterRole, node: str) -> bool:
        group, server = _find_role_group(world, role), _find_server(world, role, node)
        if group is None or server is None or (server, group.guid) not in world.replicas:
            return False
        return (
            world.instances[server].answering
            and world.computers[node].cpu_factor < STALL_SLOWDOWN_FACTOR
            and not any(copy.recovering for copy in replicas.list_group_copies(world, server, group.guid))
            and world.replicas[server, group.guid].word is not ReplicaWord.NOT_AVAILABLE
            and not (group.db_failover and any(_is_damaged(world, server, name) for name in group.databases))
        )

    def list_targets(self, world: World, role: ClusterRole) -> list[str]:
        """Return the possible target nodes: the former primary's node, then the automatic targets in order."""
        group = _find_role_group(world, role)
        if group is None:
            return []
        servers = [group.primary, *(r.server for r in group.replicas if r.server != group.primary)]
        nodes = [world.instances[server].computer for server in servers if server in world.instances]
        return [name for name in nodes if self._can_become_primary(world, group, role, name)]

    def _can_become_primary(
        self, world: World, group: AvailabilityGroup, role: ClusterRole, node: str
    ) -> bool:
        server = _find_server(world, role, node)
        if server is None or (
            node not in role.resources[-1].owners and not world.instances[server].clustered
        ):
            return False  # a person has removed the node from the possible owners
        if replicas.compare_version_with_primary(world, group, server) < 0:
            return False  # error 41191: the primary has a later version
        return server == group.primary or failover.is_automatic_target(group, server)

    @override
    def take_offline(self, world: World, role: ClusterRole, planned: bool) -> float:
        group, server = _find_role_group(world, role), _find_server(world, role, role.owner)
        if (
            group is None
            or server is None
            or world.instances[server].service not in (Service.RUNNING, Service.STOPPING)
        ):
            return 0.0
        if world.instances[server].hung:
            failover.close_hung_replica(world, server, group)
            return SERVICE_LOSS_DETECTION_S
        lease = not planned and role.why == build_message("the lease was not renewed")
        if lease:
            errorlog.write_message(world, server, 19407, group.name)
        for database in group.databases if group.db_failover and not planned else ():
            if _is_damaged(world, server, database):
                errorlog.write_message(world, server, 41653, database, 2, "DB_SHUTDOWN", group.name)
        for text in ("Lease Thread terminated", "Health worker was asked to terminate") if planned else ():
            cluster_log.write_cluster_log_line(
                world, role.owner, "INFO", "RES", f"{_LINE_PREFIX.format(group.name)} {text}"
            )
        failover.close_replica(
            world, server, group.guid, replicas.LEASE_EXPIRED_REASON if lease else replicas.OFFLINE_REASON
        )
        return failover.DATABASES_CLOSE_S if planned else SERVICE_LOSS_DETECTION_S

    @override
    def bring_online(self, world: World, role: ClusterRole, node: str) -> str:
        group, server = _find_role_group(world, role), _find_server(world, role, node)
        if group is None or server is None:
            return build_message("the node has no replica")
        refused = failover.find_ineligibility_reason(world, group, server)
        if refused is not None:
            forced = world.nodes[node].config.forced
            errorlog.write_message(world, server, 41125 if forced else 41142, group.name)
            return refused
        if self._is_stalled(world, role, node):
            world.call_after(LOGIN_TIMEOUT_S, "availability.login", role.name, node, role.step)
            return ""
        lacks = world.instances[server].system_lacks
        if lacks:
            _fail_without_diagnostics(world, group, server, node)
            return build_message(
                "NT AUTHORITY\\SYSTEM lacks the permission {permission} on {server}",
                permission=lacks[0],
                server=server,
            )
        if world.replicas[server, group.guid].word is ReplicaWord.SECONDARY_NORMAL:
            replicas.set_replica_state(
                world, server, group.guid, ReplicaWord.RESOLVING_NORMAL, replicas.CLUSTER_STATE_REASON
            )
        errorlog.write_message(world, server, 41074, group.name)
        failover.begin_failover(world, group.guid, server)
        return ""

    @override
    def on_node_left(self, world: World, node: str) -> None:
        for name, instance in world.instances.items():
            if instance.computer == node:
                for state in replicas.list_replica_states(world, name):
                    group = replicas.find_group_config(world, name, state.guid)
                    if (
                        group is not None
                        and group.listener
                        and world.listeners.get(group.listener.name) == name
                    ):
                        world.listeners[group.listener.name] = None
                replicas.on_quorum_lost(world, name)
                movement.close_connections(world, name)

    @override
    def on_node_joined(self, world: World, node: str) -> None:
        for name, instance in world.instances.items():
            if instance.computer == node:
                replicas.on_quorum_regained(world, name)
        movement.apply_removals(world)


def finish_login(world: World, name: str, node: str, step: int) -> None:
    """Finish the login of the resource on an overloaded node, with success or failure (timer handler)."""
    host = world.nodes.get(node)
    role = host.config.find_role(name) if host is not None and host.partition else None
    if role is None or role.owner != node or role.step != step:
        return
    kind = roles.KINDS[role.kind]
    if world.computers[node].cpu_factor < STALL_SLOWDOWN_FACTOR:
        refused = kind.bring_online(world, role, node)
    else:
        refused = build_message("the cluster could not log in to SQL Server within {n} s", n=LOGIN_TIMEOUT_S)
        cluster_log.write_cluster_log_line(
            world, node, "ERR", "RES", f"{_LINE_PREFIX.format(name)} Failed to connect to SQL Server"
        )
    if refused:
        roles.handle_refusal(world, name, node, refused)


def build_role(
    name: str, listener: AvailabilityListener | None, nodes: tuple[str, ...], owner: str
) -> ClusterRole:
    """Return the cluster role of a group, with the resources of its listener.

    The network name depends on one of its addresses. [DOC: WSFC and SQL Server]
    """
    rows: list[Resource] = []
    if listener is not None:
        addresses = listener.addresses or (f"{listener.name} address",)
        needs = tuple(f"{name}_{address}" for address in addresses)
        rows += [Resource(name=address, kind="IP Address", owners=nodes) for address in needs]
        resource_name = f"{name}_{listener.name}"
        rows.append(Resource(name=resource_name, kind="Network Name", owners=nodes, needs=needs))
    needs = tuple(row.name for row in rows if row.kind == "Network Name")
    rows.append(Resource(name=name, kind="SQL Server Availability Group", owners=nodes, needs=needs))
    return ClusterRole(name=name, kind="availability", owner=owner, preferred=nodes, resources=tuple(rows))


def _compute_lease_expiry_s(group: AvailabilityGroup) -> float:
    """Return the time until a silent process loses its lease: half the lease timeout, in seconds.

    This applies at every failure condition level. [DOC: lease timeout].
    """
    return group.lease_timeout_ms / 2000.0


def _compute_health_delay_s(group: AvailabilityGroup) -> float:
    patience = ON_SERVER_DOWN_FACTOR if group.failure_condition_level == 1 else 1.0
    return patience * group.health_check_timeout_ms / 1000.0


def _is_primary(world: World, server: str, group: AvailabilityGroup) -> bool:
    state = world.replicas.get((server, group.guid))
    return state is not None and state.role is ReplicaRole.PRIMARY


_NOT_HEALTHY: Final = (
    "Availability Group is not healthy with given HealthCheckTimeout and FailureConditionLevel"
)
_LINE_PREFIX: Final = "SQL Server Availability Group <{}>: [hadrag]"


def _fail_without_diagnostics(world: World, group: AvailabilityGroup, server: str, node: str) -> None:
    """Log that the resource fails because it has no permission to monitor the instance.

    [DOC: automatic failover problems].
    """
    head = _LINE_PREFIX.format(group.name)
    for text in (
        "Failed to run diagnostics command",
        "The user does not have permission to perform this action.",
    ):
        cluster_log.write_cluster_log_line(world, node, "ERR", "RES", f"{head} {text}")
    if world.replicas[server, group.guid].pending:
        replicas.set_replica_state(
            world, server, group.guid, ReplicaWord.RESOLVING_NORMAL, replicas.CLUSTER_STATE_REASON
        )


def _find_role_group(world: World, role: ClusterRole) -> AvailabilityGroup | None:
    """Return the group of a role from the newest cluster database.

    A node of the partition that runs the role takes precedence.
    """
    group_issues = [
        ((role in node.config.roles, node.config.epoch), group)
        for node in world.nodes.values()
        if node.partition and config.is_running(world, node)
        for group in node.config.groups
        if group.name == role.name
    ]
    return max(group_issues, key=lambda pair: pair[0])[1] if group_issues else None


def _find_server(world: World, role: ClusterRole, node: str) -> str | None:
    """Return the instance on *node* that has a replica of the role's group."""
    group = _find_role_group(world, role)
    servers = [replica.server for replica in group.replicas] if group is not None else []
    return next((s for s in servers if s in world.instances and world.instances[s].computer == node), None)


def _is_damaged(world: World, server: str, database: str) -> bool:
    copy = world.copies.get((server, database))
    return copy is not None and (copy.disk_failed or copy.data_failed_tick is not None)


HANDLERS: Final[Handlers] = {"availability.login": finish_login}
