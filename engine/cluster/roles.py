"""Cluster roles: how the cluster monitors, restarts and moves them, and when it stops trying.

[DOC: WSFC and SQL Server]
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

from msgspec.structs import replace

from engine.cluster import cluster_log, config, failure_limits
from engine.events import ClusterData
from engine.localization import LocalizableMessage, build_message
from engine.model import ClusterRole, FieldOf, Handlers, Node, Resource, ResourceState, World

MEMBER_RETRY_INTERVAL_S: Final = 0.5
"""Interval between requests to a member that does not respond, until it responds or is removed. Assumed."""


class RoleProblem(NamedTuple):
    """Problem of a role at its owner; empty if the role is healthy."""

    reason: str = ""
    delay_s: float = 0.0
    """Seconds until the cluster detects the problem."""
    log_lines: tuple[tuple[str, str], ...] = ()
    """(level, text) of the lines that the resource writes into the cluster log."""
    resource: str = ""
    """Name of the failed resource; empty for the resource that serves the databases."""


class RoleKind:
    """Behavior of the cluster that depends on the kind of a cluster role. Each kind registers in KINDS."""

    def find_problem(self, world: World, role: ClusterRole) -> RoleProblem:
        """Return the problem of an unhealthy role; an empty problem if it is healthy."""
        return RoleProblem()

    def can_restart(self, world: World, role: ClusterRole) -> bool:
        """Return whether a restart on the same node could help."""
        return self.can_host(world, role, role.owner)

    def can_host(self, world: World, role: ClusterRole, node: str) -> bool:
        """Return whether the member *node* could run the role now, as far as the cluster can see."""
        raise NotImplementedError

    def list_targets(self, world: World, role: ClusterRole) -> list[str]:
        """Return the nodes to which the role fails over, best first."""
        raise NotImplementedError

    def take_offline(self, world: World, role: ClusterRole, planned: bool) -> float:
        """Take the role offline at its owner. Return the time that this takes, in seconds."""
        raise NotImplementedError

    def restart_alone(self, world: World, role: ClusterRole, delay_s: float) -> None:
        """Restart the resource on which no other depends (SQL Server Agent) after a delay."""
        raise NotImplementedError

    def bring_online(self, world: World, role: ClusterRole, node: str) -> str:
        """Begin to bring the role online on *node*. Return the reason for a refusal, or "".

        The implementation calls `report_online` when the role is online.
        """
        raise NotImplementedError

    def on_node_left(self, world: World, node: str) -> None:
        """Handle a node that has lost quorum or whose cluster service has stopped."""

    def on_node_joined(self, world: World, node: str) -> None:
        """Handle a node that has become a member again."""


KINDS: Final[dict[str, RoleKind]] = {}
"""Value of `ClusterRole.kind` -> behavior of this kind."""


def iterate_roles(world: World) -> Iterator[tuple[Node, ClusterRole]]:
    """Yield (living node of the partition that runs the role, role) for every role."""
    for cluster in world.clusters:
        for partition in config.list_partitions(world, cluster):
            node = config.find_writing_node(world, partition)
            if node is not None:
                for role in node.config.roles:
                    yield node, role


def find_role(world: World, name: str, server: str = "") -> tuple[Node, ClusterRole] | None:
    """Return the role named *name*, with a node of the partition that runs it.

    If two partitions run it, choose the partition of *server*, else the newest.
    """
    matching_roles = [
        (node, role) for node, role in iterate_roles(world) if role.name.lower() == name.lower()
    ]
    local_node = config.find_server_node(world, server)
    if local_node is not None:
        matching_roles = [
            (node, role) for node, role in matching_roles if node.partition == local_node.partition
        ]
    return max(matching_roles, key=lambda pair: pair[0].config.epoch, default=None)


def _change_role(world: World, node: str, role: ClusterRole, **changes: FieldOf[ClusterRole]) -> ClusterRole:
    new = replace(role, step=role.step + 1, **changes)
    roles = tuple(
        new if old_role.name == role.name else old_role for old_role in world.nodes[node].config.roles
    )
    config.update_config(world, node, roles=roles)
    return new


def _find_unchanged_role(world: World, node: str, name: str, step: int) -> ClusterRole | None:
    """Return the role as *node* knows it, or None if it has changed since *step*."""
    host = world.nodes.get(node)
    if host is None:  # the node was evicted after the timer was set
        return None
    role = host.config.find_role(name) if host.partition and config.is_running(world, host) else None
    return role if role is not None and role.step == step else None


def _find_waiting_role(world: World, node: str, name: str, step: int) -> tuple[Node, ClusterRole] | None:
    """Return (node of the partition that runs the role, role) if the role has not changed since *step*.

    *node* may be lost.
    """
    host = world.nodes.get(node)
    if host is not None and host.partition and config.is_running(world, host):
        writer_node = (
            host
            if config.can_write_config(world, node)
            else config.find_writing_node(world, host.partition) or host
        )
        role = writer_node.config.find_role(name)
        node_and_role = (writer_node, role) if role is not None else None
    else:
        node_and_role = find_role(world, name)
    return node_and_role if node_and_role is not None and node_and_role[1].step == step else None


def emit_role_event(
    world: World,
    node: str,
    role: ClusterRole,
    text: LocalizableMessage,
    change: str,
    reason: str | None = None,
    target: str | None = None,
) -> None:
    """Emit a cluster event about the role. *change* is the kind of change."""
    world.emit(ClusterData(role=role.name, what=change, why=reason, to=target), text, server=node)


# --- health -----------------------------------------------------------------------------------------------


FAILOVERS_EXHAUSTED: Final = "exhausted"
"""Value of `ClusterRole.way` for a role that has used up its failovers. It stays failed until a person moves
it or brings it online [DOC: flexible failover policy].
"""


def check_roles(world: World) -> None:
    """Check after every event whether each online role is healthy and whether a failed role could come online."""
    for node, role in list(iterate_roles(world)):
        kind = KINDS[role.kind]
        if role.state is ResourceState.ONLINE and _is_reachable(world, node, role.owner):
            reason, delay_s, *_ = kind.find_problem(world, role)
            if reason != role.why:
                role = _change_role(world, node.name, role, why=reason)
                if reason:
                    world.call_after(delay_s, "role.failed", node.name, role.name, role.step)
        elif role.state is ResourceState.FAILED and role.way != FAILOVERS_EXHAUSTED:
            tried = tuple(
                name
                for name in role.tried
                if _is_reachable(world, node, name) and kind.can_host(world, role, name)
            )
            if tried != role.tried:
                role = _change_role(world, node.name, role, tried=tried)
            if any(
                name not in tried
                and can_accept_roles(world, node, name)
                and _is_reachable(world, node, name)
                and kind.can_host(world, role, name)
                for name in kind.list_targets(world, role)
            ):
                _bring_online(world, node.name, role)


def _is_reachable(world: World, node: Node, name: str) -> bool:
    """Return whether the member *name* responds to *node*. A lost node is a member until it is removed."""
    if config.read_node_state(world, node.name, name) == "Down":
        return False
    return name == node.name or config.has_heartbeat(world, node.name, name)


def can_accept_roles(world: World, node: Node, name: str) -> bool:
    """Return whether roles may come online on the node *name*, which must be a member and not paused.

    A role stays online on a node that is paused later, but cannot come online there [DOC: PauseClusterNode].
    """
    return config.read_node_state(world, node.name, name) == "Up"


def on_problem_noticed(world: World, node: str, name: str, step: int) -> None:
    """Handle an unhealthy role that the cluster has noticed (timer handler)."""
    role = _find_unchanged_role(world, node, name, step)
    if role is None:
        host = world.nodes.get(node)
        if host is not None and host.partition:
            return
        current_roles = find_role(
            world, name
        )  # *node* was lost after it noticed the problem, so another node handles it
        if current_roles is None or current_roles[1].step != step:
            return
        node, role = current_roles[0].name, current_roles[1]
    handle_failure(world, node, role, role.why, KINDS[role.kind].find_problem(world, role).resource)


def handle_failure(
    world: World, node: str, role: ClusterRole, reason: str, failed_resource: str = ""
) -> None:
    """Handle a failed resource at the owner of its role, according to the resource's restart properties.

    Restart the resource on this node, with the resources that depend on it; or move the role; or leave the
    role failed. SQL Server Agent restarts alone, because no resource depends on it. [DOC: RestartAction;
    RestartThreshold; RestartPeriod]
    """
    kind, resource = (
        KINDS[role.kind],
        role.find_resource(failed_resource) or failure_limits.find_server_resource(role),
    )
    is_alone = resource.kind == config.AGENT_KIND
    if is_alone:
        write_failure_notification(world, role.owner, resource.name)
    else:
        _log_failure(world, role, resource.name, kind.find_problem(world, role).log_lines)
        text = build_message(
            "role {role} has failed on {node}: {why}", role=role.name, node=role.owner, why=reason
        )
        emit_role_event(world, node, role, text, change="role-failed", reason=reason)
    recent = failure_limits.list_recent_restarts(world, resource)
    if not (
        resource.restart_action and kind.can_restart(world, role) and len(recent) < resource.restart_threshold
    ):
        _fail_over(world, node, role, reason, resource)
        return
    restarted = replace(resource, restarts=(*recent, world.tick))
    resources = tuple(restarted if old is resource else old for old in role.resources)
    if is_alone:
        config.update_role(world, node, role.name, resources=resources)
        kind.restart_alone(world, role, 0.0)
    else:
        role = _change_role(world, node, role, resources=resources)
        _take_offline(world, node, role, (role.owner,), "restart")


def _fail_over(
    world: World, node: str, role: ClusterRole, reason: str, resource: Resource, is_offline: bool = False
) -> None:
    """Move a role, or leave it failed if it has reached the maximum number of failovers.

    *is_offline*: the role is already offline, because a restart did not help.
    """
    kind = KINDS[role.kind]
    failures = failure_limits.list_recent_failures(world, role)
    failures_max = failure_limits.get_failure_threshold(world, world.nodes[node].cluster, role)
    text = build_message(
        "role {role} remains failed: RestartAction is {n}", role=role.name, n=resource.restart_action
    )
    if len(failures) >= failures_max:
        line = (
            f"Not failing over group {role.name}, failoverCount {len(failures) + 1}, "
            f"failoverThresholdSetting {failure_limits.get_displayed_threshold(role)}, "
            f"computedFailoverThreshold {failures_max}"
        )
        cluster_log.write_cluster_log_line(world, node, "WARN", "RCM", line)
        text = build_message(
            "role {role} remains failed: {n} failures in {hours} h",
            role=role.name,
            n=len(failures) + 1,
            hours=role.failover_period_h,
        )
    if len(failures) >= failures_max or resource.restart_action < failure_limits.RESTART_NOTIFY:
        if resource.kind == config.AGENT_KIND:
            if resource.retry_period_ms != failure_limits.UNLIMITED_THRESHOLD:
                kind.restart_alone(world, role, resource.retry_period_ms / 1000)
            return
        kind.take_offline(world, role, False)
        emit_role_event(world, node, role, text, change="threshold")
        _change_role(
            world,
            node,
            role,
            state=ResourceState.FAILED,
            way=FAILOVERS_EXHAUSTED,
            why=reason,
            failures=failures,
        )
        return
    role = _change_role(world, node, role, failures=(*failures, world.tick), way="failover")
    other_targets = tuple(name for name in kind.list_targets(world, role) if name != role.owner)
    if is_offline:
        _bring_online(world, node, role, other_targets)
    else:
        _take_offline(world, node, role, other_targets, "failover")


def _log_failure(
    world: World, role: ClusterRole, resource: str, log_lines: tuple[tuple[str, str], ...]
) -> None:
    """Write the failure of a role into its owner's cluster log: lines of its resource and of the monitors.

    [DOC: group health events]
    """
    for level, text in log_lines:
        cluster_log.write_cluster_log_line(world, role.owner, level, "RES", text)
    if log_lines:
        text = f"Resource {resource} IsAlive has indicated failure."
        cluster_log.write_cluster_log_line(world, role.owner, "WARN", "RHS", text)
    write_failure_notification(world, role.owner, resource)


def write_failure_notification(world: World, node: str, resource: str) -> None:
    """Log that the resource host has reported the failure of a resource. [DOC: group health events]."""
    text = f"HandleMonitorReply: FAILURENOTIFICATION for '{resource}', gen(0) result 1/0."
    cluster_log.write_cluster_log_line(world, node, "INFO", "RCM", text)


def count_failures(world: World, name: str) -> tuple[int, int]:
    """Return (failovers of the role within the failure period, maximum number of failovers in this period)."""
    node_and_role = find_role(world, name)
    if node_and_role is None:
        return 0, 1
    node, role = node_and_role
    return len(failure_limits.list_recent_failures(world, role)), failure_limits.get_failure_threshold(
        world, node.cluster, role
    )


def on_owners_lost(world: World, node: str, lost_nodes: list[str]) -> None:
    """Fail over the roles whose owners are *lost_nodes*."""
    for role in world.nodes[node].config.roles:
        if role.owner in lost_nodes and role.state in (ResourceState.ONLINE, ResourceState.ONLINE_PENDING):
            emit_role_event(
                world,
                node,
                role,
                build_message("role {role} was on {node}, which is down", role=role.name, node=role.owner),
                change="owner-lost",
            )
            _bring_online(world, node, _change_role(world, node, role, why="", tried=(), way="failover"))
        elif role.owner in lost_nodes and role.state is ResourceState.OFFLINE_PENDING:
            # Set a new timer, because the old one may have expired in the lost partition. If the move
            # continues, the step of the role changes, and the timer has no effect.
            world.call_after(
                2 * MEMBER_RETRY_INTERVAL_S, "role.offline", node, role.name, role.step, (), True
            )


# --- moving -----------------------------------------------------------------------------------------------


def move_role(world: World, node: str, role: ClusterRole, target: str | None = None) -> None:
    """Move the role in an orderly way, to *target* or to the best node."""
    target_node = target or next(
        iter(
            name
            for name in KINDS[role.kind].list_targets(world, role)
            if name != role.owner and can_accept_roles(world, world.nodes[node], name)
        ),
        None,
    )
    if target_node is not None:
        # the owner may have been evicted
        known_nodes = (name for name in (role.owner, target_node) if name in world.nodes)
        ends = " to ".join(f"{name}({world.nodes[name].number})" for name in known_nodes)
        line = f"move of group {role.name} from {ends} of type MoveType::Manual is about to succeed"
        cluster_log.write_cluster_log_line(
            world, node, "INFO", "RCM", f"{line}, failoverCount={len(role.failures)}"
        )
        text = build_message(
            "role {role} moves from {node} to {other}", role=role.name, node=role.owner, other=target_node
        )
        emit_role_event(world, node, role, text, change="move", target=target_node)
        _take_offline(world, node, role, (target_node,), "move")


def stop_role(world: World, node: str, role: ClusterRole) -> None:
    """Take the role offline until someone brings it online again."""
    if role.state is not ResourceState.OFFLINE:
        if not _is_reachable(world, world.nodes[node], role.owner):
            _take_offline(world, node, role, (), "stop")
            return
        KINDS[role.kind].take_offline(world, role, True)
    _mark_stopped(world, node, role)


def _mark_stopped(world: World, node: str, role: ClusterRole) -> None:
    resources = tuple(replace(resource, started=False) for resource in role.resources)
    _change_role(
        world, node, role, state=ResourceState.OFFLINE, why="", tried=(), way="", resources=resources
    )


def bring_online(world: World, node: str, role: ClusterRole, target: str | None = None) -> None:
    """Bring an offline or failed role online, on *target* or on any possible node."""
    resources = tuple(replace(resource, started=False) for resource in role.resources)
    role = _change_role(world, node, role, tried=(), failures=(), why="", way="move", resources=resources)
    _bring_online(world, node, role, (target,) if target else ())


def _take_offline(
    world: World, node: str, role: ClusterRole, target_nodes: tuple[str, ...], transition: str
) -> None:
    reached = _is_reachable(world, world.nodes[node], role.owner)
    done_s = (
        KINDS[role.kind].take_offline(world, role, transition == "move")
        if reached
        else MEMBER_RETRY_INTERVAL_S
    )
    role = _change_role(
        world, node, role, state=ResourceState.OFFLINE_PENDING, why="", tried=(), way=transition
    )
    world.call_after(done_s, "role.offline", node, role.name, role.step, target_nodes, reached)


def complete_offline(
    world: World, node: str, name: str, step: int, target_nodes: tuple[str, ...], is_requested: bool
) -> None:
    """Bring a role online on another node after it has gone offline at its owner (timer handler).

    If the owner does not respond, wait until it responds or the cluster has removed it. *is_requested*:
    the owner has received the request to take the role offline.
    """
    node_and_role = _find_waiting_role(world, node, name, step)
    if node_and_role is None:
        return
    host, role = node_and_role
    if config.read_node_state(world, host.name, role.owner) != "Down":
        if not _is_reachable(world, host, role.owner):
            world.call_after(
                MEMBER_RETRY_INTERVAL_S, "role.offline", host.name, name, step, target_nodes, is_requested
            )
            return
        if not is_requested:
            _take_offline(world, host.name, role, target_nodes, role.way)
            return
    if role.way == "stop":
        _mark_stopped(world, host.name, role)
    else:
        _bring_online(world, host.name, role, target_nodes)


def _bring_online(world: World, node: str, role: ClusterRole, target_nodes: tuple[str, ...] = ()) -> None:
    """Bring the role online on the first node that accepts it: of *target_nodes*, then of its other targets."""
    kind, own_node = KINDS[role.kind], world.nodes[node]
    for target in [
        *target_nodes,
        *(name for name in kind.list_targets(world, role) if name not in target_nodes),
    ]:
        if (
            target in role.tried
            or not can_accept_roles(world, own_node, target)
            or not can_come_online(world, own_node, role, target)
        ):
            continue
        pending = _change_role(world, node, role, state=ResourceState.ONLINE_PENDING, owner=target)
        if not _is_reachable(world, own_node, target):  # the cluster has not yet noticed the loss of the node
            world.call_after(MEMBER_RETRY_INTERVAL_S, "role.online", node, role.name, pending.step)
            return
        declined = kind.bring_online(world, pending, target)
        if not declined:
            cluster_log.write_cluster_log_line(
                world, node, "INFO", "RCM", f"Bringing group '{role.name}' online on {target}"
            )
            return
        role = _change_role(world, node, pending, owner=role.owner, tried=(*role.tried, target))
        cluster_log.write_cluster_log_line(
            world,
            target,
            "ERR",
            "RHS",
            f"Online for resource {failure_limits.find_server_resource(role).name} failed.",
        )
        _report_refusal(world, target, role, target, declined)
        if role.way == "restart":
            _fail_over(
                world, node, role, declined, failure_limits.find_server_resource(role), is_offline=True
            )
            return
    role = _change_role(world, node, role, state=ResourceState.FAILED)
    retry_period_ms = failure_limits.find_server_resource(role).retry_period_ms
    if retry_period_ms != failure_limits.UNLIMITED_THRESHOLD:
        world.call_after(retry_period_ms / 1000, "role.retry", node, role.name, role.step)
    emit_role_event(
        world,
        node,
        role,
        build_message("role {role} is not online on any node", role=role.name),
        change="nowhere",
    )


def retry_online(world: World, node: str, name: str, step: int) -> None:
    """Repeat the request to a node that did not respond, until the cluster has removed it (timer handler)."""
    node_and_role = _find_waiting_role(world, node, name, step)
    if (
        node_and_role is not None
        and config.read_node_state(world, node_and_role[0].name, node_and_role[1].owner) != "Down"
    ):
        _bring_online(world, node_and_role[0].name, node_and_role[1], (node_and_role[1].owner,))


def can_come_online(world: World, observer: Node, role: ClusterRole, node: str) -> bool:
    """Return whether the node could run the role, or does not respond to *observer*."""
    if not _is_reachable(world, observer, node):
        return True
    kind, is_restart = KINDS[role.kind], role.way == "restart" and node == role.owner
    return kind.can_restart(world, role) if is_restart else kind.can_host(world, role, node)


def report_online(world: World, name: str, owner: str) -> None:
    """Record that the role is online on *owner*."""
    owner_node = world.nodes.get(owner)
    role = owner_node.config.find_role(name) if owner_node is not None else None
    if (
        owner_node is None
        or role is None
        or role.owner != owner
        or role.state is not ResourceState.ONLINE_PENDING
    ):
        return
    _change_role(world, owner, role, state=ResourceState.ONLINE, tried=(), why="", way="")
    cluster_log.write_cluster_log_line(world, owner, "INFO", "RCM", f"Group '{name}' is online on {owner}")
    emit_role_event(
        world,
        owner,
        role,
        build_message("role {role} is online on {node}", role=name, node=owner),
        change="online",
    )


def handle_refusal(world: World, name: str, owner: str, reason: str) -> None:
    """Try other nodes, because the role could not come online on *owner*."""
    node_and_role = find_role(world, name)
    if (
        node_and_role is None
        or node_and_role[1].owner != owner
        or node_and_role[1].state is not ResourceState.ONLINE_PENDING
    ):
        return
    node, role = node_and_role
    _report_refusal(world, node.name, role, owner, reason)
    role = _change_role(world, node.name, role, tried=(*role.tried, owner))
    if role.way == "restart":
        _fail_over(world, node.name, role, reason, failure_limits.find_server_resource(role), is_offline=True)
    else:
        _bring_online(world, node.name, role)


def _report_refusal(world: World, node: str, role: ClusterRole, target: str, reason: str) -> None:
    text = build_message(
        "{node} cannot bring role {role} online: {why}", node=target, role=role.name, why=reason
    )
    emit_role_event(world, node, role, text, change="declined", reason=reason)


def restore_roles(world: World, node: str) -> None:
    """Bring the roles of a newly formed cluster online, if possible on their former owners.

    Roles that were taken offline stay offline.
    """
    for role in world.nodes[node].config.roles:
        if role.state is not ResourceState.OFFLINE:
            _bring_online(world, node, _change_role(world, node, role, why="", tried=()), (role.owner,))


def on_node_left(world: World, node: str) -> None:
    """Inform all kinds of roles that the node has left its partition."""
    for kind in KINDS.values():
        kind.on_node_left(world, node)


def on_node_joined(world: World, node: str) -> None:
    """Inform all kinds of roles that the node is a member again."""
    for kind in KINDS.values():
        kind.on_node_joined(world, node)
    world.mark_all_logs_changed()


def retry_failed_role(world: World, node: str, name: str, step: int) -> None:
    """Retry a role that could not come online on any node (timer handler)."""
    role = _find_unchanged_role(world, node, name, step)
    if role is not None and role.state is ResourceState.FAILED and role.way != FAILOVERS_EXHAUSTED:
        _bring_online(world, node, _change_role(world, node, role, tried=()))


HANDLERS: Final[Handlers] = {
    "role.failed": on_problem_noticed,
    "role.offline": complete_offline,
    "role.online": retry_online,
    "role.retry": retry_failed_role,
}
