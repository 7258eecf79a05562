"""Failover cluster instances: SQL Server runs on the node that owns its role.

[DOC: failover cluster instances]
"""

from typing import Final

from msgspec.structs import replace

from engine.cluster import cluster_log, config, failure_limits, roles
from engine.events import FailoverData
from engine.flow.failover_times import FailoverCause
from engine.localization import build_message, mark
from engine.model import ClusterRole, Failover, Handlers, Instance, Resource, Service, World
from engine.overrides import override
from engine.protocol import disks, errorlog, loss_causes, network, service, serving, streams
from engine.protocol.files import NO_PATH

# --- moves of a failover cluster instance between nodes, recorded as failovers of its databases -----------

NO_GROUP_GUID: Final = 0
"""Value of `Failover.guid` for a move, which belongs to no session and no availability group."""

MOVE_CHECK_INTERVAL_S: Final = 0.1
"""Interval between checks whether databases are open. Assumed."""

MOVE_STEP_TEMPLATES: Final = {
    "automatic": mark("automatic failover {server} -> {other}: {step}"),
    "role-move": mark("moving the role {server} -> {other}: {step}"),
}
MOVE_FAILURE_TEMPLATES: Final = {
    "automatic": mark("automatic failover {server} -> {other} failed: {why}"),
    "role-move": mark("moving the role {server} -> {other} failed: {why}"),
}


def _emit_move_step(world: World, server: str, move: Failover, step: str) -> None:
    template = (MOVE_FAILURE_TEMPLATES if move.why else MOVE_STEP_TEMPLATES)[move.kind]
    text = build_message(template, server=move.from_server, other=move.to_server, step=step, why=move.why)
    reason_fields = {"why": move.why} if move.why else {}
    world.emit(
        FailoverData(step=step, failover_kind=move.kind, cause=move.cause, **reason_fields),
        text,
        server=server,
        database=move.database,
    )


def begin_move(world: World, server: str, node: str, transition: str) -> None:
    """Record that the instance *server* moves to *node*, as a failover of each of its databases."""
    _cancel_pending_moves(world, server, build_message("the role moved to another node"))
    instance = world.instances[server]
    cause, failed_tick = loss_causes.find_loss_cause(world, server, None)
    ordered = transition == "move"
    for (copy_server, database), copy in sorted(world.copies.items()):
        if copy_server != server or copy.source is None:
            continue
        account = world.availability[database]
        down_tick = world.tick if account.serving else account.since_tick
        move = Failover(
            guid=NO_GROUP_GUID,
            database=database,
            kind="role-move" if ordered else "automatic",
            cause="move-role" if ordered else cause,
            from_server=instance.computer,
            to_server=node,
            under_load=streams.is_under_load(copy),
            failed_tick=down_tick if ordered else min(failed_tick, world.tick),
            detected_tick=down_tick if ordered else world.tick,
            agreed_tick=world.tick,
        )
        world.failovers.append(move)
        _emit_move_step(
            world, server, move, build_message("accepted") if ordered else build_message("detected")
        )
    world.call_after(MOVE_CHECK_INTERVAL_S, "instance.watch", server, node)


def _find_pending_moves(world: World, server: str) -> list[tuple[int, Failover]]:
    """Return (index in world.failovers, move) of each database of *server* that is not open yet."""
    return [
        (index, move)
        for index, move in enumerate(world.failovers)
        if move.guid == NO_GROUP_GUID
        and move.online_tick is None
        and not move.why
        and (server, move.database) in world.copies
    ]


def _cancel_pending_moves(world: World, server: str, reason: str) -> None:
    for position, move in _find_pending_moves(world, server):
        world.failovers[position] = replace(move, why=reason)
        _emit_move_step(world, server, world.failovers[position], "cancelled")


def record_open_databases(world: World, server: str, node: str) -> None:
    """Record the databases that are open again on *node*, after recovery with redo and undo (timer handler)."""
    for position, move in _find_pending_moves(world, server):
        if move.to_server == node and world.instances[server].computer == node:
            if not serving.is_accessible(world, (server, move.database)):
                continue
            tick = world.tick
            failover = replace(
                move, redo_done_tick=tick, decided_tick=tick, online_tick=tick, undo_done_tick=tick
            )
            world.failovers[position] = failover
            _emit_move_step(world, server, failover, build_message("online"))
    if any(move.to_server == node for _, move in _find_pending_moves(world, server)):
        world.call_after(MOVE_CHECK_INTERVAL_S, "instance.watch", server, node)


RESOURCES_OFFLINE_S: Final = 3.0
"""Time until Agent, SQL Server, network name, address and disks are offline in a planned move."""

DISKS_ONLINE_S: Final = 3.0
"""Time until shared disks are online on a node, after the former node has released them."""

DISKS_AFTER_CRASH_S: Final = 10.0
"""Time until shared disks are online after a crash of the former owner, whose reservation must be broken
first.

Published as about ten seconds.
"""

NAME_ONLINE_S: Final = 3.5
"""Time until address and network name are online.

The times from RESOURCES_OFFLINE_S to NAME_ONLINE_S are derived. Sources give 1 to 5 s for each. The values
are chosen so that the planned move of an idle instance takes the 15 s that the guide measured.
"""

RESTART_DELAY_S: Final = 0.5
"""Time from the failure of the SQL Server resource to its restart on the same node. Known (default of a resource)."""

AGENT_RESTART_ACTION: Final = 1
"""RestartAction of SQL Server Agent: restart, but no failover of the instance. Assumed: no document gives it."""

ON_SERVER_DOWN, ON_SERVER_UNRESPONSIVE = 1, 2
"""Lowest failure condition levels at which a stopped or an unresponsive instance counts as failed.

Level 0 means never. Documented [DOC: failover policy of instances].
"""

LOOKS_ALIVE_INTERVAL_S: Final = 5.0
"""Interval of the check LooksAlive. Documented: five seconds."""

UPGRADE_SCRIPTS_S: Final = 20.0
"""Duration of the upgrade scripts in the system databases at the first start after a service pack. Assumed."""

SERVICE_PACK_SETUP: Final = "patch"
"""Value of `Node.setup` during the installation of a service pack."""

SERVICE_CHECK_INTERVAL_S: Final = 0.1
"""Interval between checks for the end of a stop or a start. Assumed."""


def list_possible_nodes(world: World, server: str) -> tuple[str, ...]:
    """Return the possible owners of the instance's resource, beginning with its current node. [DOC: 19405]."""
    instance = world.instances[server]
    role = find_instance_role(world, server) if instance.clustered else None
    possible_names = (
        [resource.owners for resource in role.resources if resource.kind == "SQL Server"]
        if role is not None
        else []
    )
    return tuple(dict.fromkeys((instance.computer, *(possible_names[0] if possible_names else ()))))


def find_instance_role(world: World, server: str) -> ClusterRole | None:
    """Return the role of a failover cluster instance; None if the instance is not clustered."""
    cluster_roles = (
        role
        for _, role in roles.iterate_roles(world)
        if role.kind == "instance" and get_instance_name(role) == server
    )
    return next(cluster_roles, None)


def get_instance_name(role: ClusterRole) -> str:
    """Return the name of the role's instance. Here it is also the name of the role."""
    return role.name


def build_role(name: str, owners: tuple[str, ...], number: int) -> ClusterRole:
    """Return a new role with disk, address, network name, SQL Server and Agent, and their dependencies.

    [DOC: failover cluster instances].
    """
    rows: tuple[tuple[str, str, tuple[str, ...]], ...] = (
        (disk := f"Cluster Disk {number}", "Physical Disk", ()),
        (address := f"SQL IP Address 1 ({name})", "IP Address", ()),
        (network_name := f"SQL Network Name ({name})", "Network Name", (address,)),
        (f"SQL Server ({name})", "SQL Server", (disk, network_name)),
        (f"SQL Server Agent ({name})", config.AGENT_KIND, (f"SQL Server ({name})",)),
    )
    resources = tuple(
        Resource(
            name=resource_name,
            kind=kind,
            owners=owners,
            needs=needs,
            restart_action=AGENT_RESTART_ACTION
            if kind == config.AGENT_KIND
            else failure_limits.RESTART_NOTIFY,
        )
        for resource_name, kind, needs in rows
    )
    return ClusterRole(name=name, kind="instance", owner=owners[0], preferred=owners, resources=resources)


class InstanceRole(roles.RoleKind):
    """Kind of cluster role for failover cluster instances: disks, name, address, SQL Server and Agent."""

    @override
    def find_problem(self, world: World, role: ClusterRole) -> roles.RoleProblem:
        instance = _get_instance(world, role)
        head = f"SQL Server <SQL Server ({role.name})>: [sqsrvres]"
        level = instance.failure_condition_level
        if instance.service is not Service.RUNNING and level >= ON_SERVER_DOWN:
            message = build_message("the SQL Server service is not running")
            return roles.RoleProblem(
                message,
                LOOKS_ALIVE_INTERVAL_S,
                cluster_log.build_failure_lines(head, *cluster_log.SERVICE_DOWN_TEXTS),
            )
        if instance.hung and level >= ON_SERVER_UNRESPONSIVE:
            message, delay_s = (
                build_message("no answer within the health check timeout"),
                instance.health_check_timeout_ms / 1000,
            )
            return roles.RoleProblem(
                message, delay_s, cluster_log.build_failure_lines(head, cluster_log.LOST_DIAGNOSTICS_TEXT)
            )
        disk = next(iter(config.find_failed_disks(world, role)), "")
        broken_resource = disk or next((resource.name for resource in role.resources if resource.failed), "")
        delay_s = LOOKS_ALIVE_INTERVAL_S if disk else 0.5
        return (
            roles.RoleProblem(
                build_message("resource {name} has failed", name=broken_resource),
                delay_s,
                resource=broken_resource,
            )
            if broken_resource
            else roles.RoleProblem()
        )

    def can_host(self, world: World, role: ClusterRole, node: str) -> bool:
        """Return whether the node is a possible owner of all resources except the disks.

        The cluster checks the disks only at the start of the role.
        """
        return all(node in resource.owners for resource in role.resources if resource.kind != "Physical Disk")

    @override
    def list_targets(self, world: World, role: ClusterRole) -> list[str]:
        nodes = [name for name in world.clusters[_get_cluster_name(world, role)].nodes if name != role.owner]
        ranked = [*(name for name in role.preferred if name in nodes), *nodes, role.owner]
        return [name for name in dict.fromkeys(ranked) if self.can_host(world, role, name)]

    @override
    def take_offline(self, world: World, role: ClusterRole, planned: bool) -> float:
        instance = _get_instance(world, role)
        if instance.service is Service.RUNNING and instance.answering:
            service.begin_service_stop(world, instance.name, FailoverCause.STOP_SERVICE, "", ((17148, ()),))
        elif instance.service not in (Service.STOPPED, Service.STOPPING):
            service.kill_process(world, instance.name)
        return RESOURCES_OFFLINE_S if planned else RESTART_DELAY_S

    @override
    def restart_alone(self, world: World, role: ClusterRole, delay_s: float) -> None:
        is_noticed = True
        world.call_after(RESTART_DELAY_S + delay_s, "instance.agent", get_instance_name(role), is_noticed)

    @override
    def bring_online(self, world: World, role: ClusterRole, node: str) -> str:
        instance = _get_instance(world, role)
        shared = [resource for resource in role.resources if resource.kind == "Physical Disk"]
        missing = next((disk.name for disk in shared if node not in disk.owners or disk.failed), "")
        missing = missing or next(iter(config.find_failed_disks(world, role)), "")
        if missing:
            return build_message("{disk} is not available on {node}", disk=missing, node=node)
        if node not in instance.installed:
            return build_message("{server} is not installed on {node}", server=instance.name, node=node)
        if world.nodes[node].setup == SERVICE_PACK_SETUP:
            return build_message("a service pack is being installed on {node}", node=node)
        if instance.service is Service.STARTING:
            service.kill_process(world, instance.name)
        if node != instance.computer:
            begin_move(world, instance.name, node, role.way)
        world.call_after(0.0, "instance.stopped", role.name, node, role.step)
        return ""

    def on_node_left(self, world: World, node: str) -> None:
        """Stop the instances of a node that has no quorum. [DOC: WSFC quorum]."""
        for name in [name for name in world.list_instances_on(node) if world.instances[name].clustered]:
            if world.instances[name].service is not Service.STOPPED:
                service.kill_process(world, name)


def _get_instance(world: World, role: ClusterRole) -> Instance:
    return world.instances[get_instance_name(role)]


def _get_cluster_name(world: World, role: ClusterRole) -> str:
    return next(node.cluster for node in world.nodes.values() if node.config.find_role(role.name) is not None)


def _find_role_coming_online(world: World, name: str, node: str, step: int) -> ClusterRole | None:
    """Return the role if it is still coming online on *node* and has not changed since *step*."""
    target_node = world.nodes.get(node)
    if target_node is None or not target_node.partition or not config.is_running(world, target_node):
        return None
    role = target_node.config.find_role(name)
    return role if role is not None and role.owner == node and role.step == step else None


def continue_after_stop(world: World, name: str, node: str, step: int) -> None:
    """Bring disks and name online on *node* after the service has stopped at its former node (timer handler)."""
    role = _find_role_coming_online(world, name, node, step)
    if role is None:
        return
    instance = world.instances[name]
    if instance.service is Service.STOPPING:
        world.call_after(SERVICE_CHECK_INTERVAL_S, "instance.stopped", name, node, step)
        return
    if instance.service is not Service.STOPPED:
        service.kill_process(world, name)
    wait_s = 0.0
    if role.way != "restart" or node != instance.computer:
        before = world.nodes.get(instance.computer)
        lost_states = ("off", "starting")  # a node that is off or still booting has not released its disks
        crashed = before is not None and before.service in lost_states
        wait_s = (DISKS_AFTER_CRASH_S if crashed else DISKS_ONLINE_S) + NAME_ONLINE_S
    world.call_after(wait_s, "instance.start", name, node, step)


def start_service(world: World, name: str, node: str, step: int) -> None:
    """Start the service on its new node when disks and name are online (timer handler)."""
    if _find_role_coming_online(world, name, node, step) is None:
        return
    disks.move_shared_drives(world, name, node)
    has_agent = world.instances[name].edition != "Express"
    world.update_instance(name, computer=node, agent_running=has_agent)
    network.schedule_detections(world)
    service.start_service(world, name)
    world.call_after(SERVICE_CHECK_INTERVAL_S, "instance.up", name, node, step)


def check_service_started(world: World, name: str, node: str, step: int) -> None:
    """Check whether the service has started on its node, and report the result to the role (timer handler)."""
    if _find_role_coming_online(world, name, node, step) is None:
        return
    instance = world.instances[name]
    if instance.service is Service.STARTING:
        world.call_after(SERVICE_CHECK_INTERVAL_S, "instance.up", name, node, step)
    elif not instance.running:
        roles.handle_refusal(world, name, node, build_message("the service did not start"))
    elif node in instance.no_tempdb_path:
        _stop_without_tempdb(world, name)
        roles.handle_refusal(
            world, name, node, build_message("the tempdb folder is missing on {node}", node=node)
        )
    elif instance.level < world.nodes[node].level:
        world.update_instance(name, level=world.nodes[node].level)
        errorlog.write_text(world, name, "Database 'master' is upgrading script.")
        world.call_after(UPGRADE_SCRIPTS_S, "instance.up", name, node, step)
    else:
        roles.report_online(world, name, node)


def fail_agent(world: World, server: str, noticed_s: float = LOOKS_ALIVE_INTERVAL_S) -> None:
    """Stop SQL Server Agent. On a clustered instance, the cluster notices this after *noticed_s* seconds."""
    world.update_instance(server, agent_running=False)
    if world.instances[server].clustered:
        world.call_after(noticed_s, "instance.agent", server, False)


def start_failed_agent(world: World, role: ClusterRole) -> bool:
    """Start the failed SQL Server Agent of an instance that is online. Return False if it has not failed."""
    if role.kind != "instance" or world.instances[role.name].agent_running:
        return False
    world.update_instance(role.name, agent_running=world.instances[role.name].edition != "Express")
    return True


def on_agent_timer(world: World, server: str, is_noticed: bool) -> None:
    """Restart SQL Server Agent, or handle its failure when the cluster notices it (timer handler)."""
    if is_noticed:
        world.update_instance(server, agent_running=world.instances[server].edition != "Express")
        return
    node_and_role = roles.find_role(world, server)
    if node_and_role is not None and not world.instances[server].agent_running:
        node, role = node_and_role
        agent = next(resource.name for resource in role.resources if resource.kind == config.AGENT_KIND)
        reason = build_message("resource {name} has failed", name=agent)
        roles.handle_failure(world, node.name, role, reason, agent)


TEMPDB_FOLDER: Final = r"T:\tempdb"
TEMPDB_FILE_PATH: Final = rf"{TEMPDB_FOLDER}\tempdb.mdf"
"""Path of tempdb's data file on a local disk. Assumed."""


def list_instances_without_tempdb(world: World, node: str) -> list[str]:
    """Return the instances whose tempdb folder does not exist on the node."""
    return [name for name, instance in world.instances.items() if node in instance.no_tempdb_path]


def make_tempdb_folder(world: World, node: str) -> None:
    """Create the tempdb folder on the node's local disk."""
    for name in list_instances_without_tempdb(world, node):
        remaining_nodes = tuple(
            node_name for node_name in world.instances[name].no_tempdb_path if node_name != node
        )
        world.update_instance(name, no_tempdb_path=remaining_nodes)


def _stop_without_tempdb(world: World, server: str) -> None:
    """Stop SQL Server because it cannot create tempdb without its folder."""
    errorlog.write_message(world, server, 5123, NO_PATH, TEMPDB_FILE_PATH)
    errorlog.write_message(world, server, 17204, "FCB::Open failed", TEMPDB_FILE_PATH, 1, NO_PATH)
    service.kill_process(world, server)


roles.KINDS["instance"] = InstanceRole()

HANDLERS: Final[Handlers] = {
    "instance.agent": on_agent_timer,
    "instance.stopped": continue_after_stop,
    "instance.start": start_service,
    "instance.up": check_service_started,
    "instance.watch": record_open_databases,
}
