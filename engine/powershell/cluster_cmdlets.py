"""Cmdlets of the module FailoverClusters, which show and change a cluster."""

from collections.abc import Callable
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from engine.cluster import commands, config, failure_limits, quarantine, quorum, roles
from engine.constants import TICKS_PER_S
from engine.model import (
    AvailabilityGroup,
    AvailabilityListener,
    Cluster,
    Node,
    Resource,
    ResourceState,
    World,
)
from engine.powershell import lookup
from engine.powershell.lookup import EMPTY_TABLE, Cmdlet
from engine.powershell.pipeline import CmdletCall, CommandNotSimulatedError, PipelineTable, Row, ShellError
from engine.protocol import clock


def build_cluster_row(world: World, node: str) -> Row:
    """Return the properties of the cluster as *node* knows it."""
    cluster_node = lookup.find_node(world, node)
    cluster = world.clusters[cluster_node.cluster]
    delay = str(round(1000 * cluster.heartbeat_s))
    row = {
        "Name": cluster.name,
        "SameSubnetDelay": delay,
        "SameSubnetThreshold": str(cluster.threshold),
        "CrossSubnetDelay": delay,
        "CrossSubnetThreshold": str(cluster.cross_threshold),
        "LowerQuorumPriorityNodeID": str(_get_lower_priority_node(world, cluster.lower_priority_node)),
        "DynamicQuorum": str(int(cluster.dynamic_quorum)),
        "WitnessDynamicWeight": str(int(cluster_node.config.witness_counts)),
        "QuarantineThreshold": str(quarantine.QUARANTINE_THRESHOLD),
        "QuarantineDuration": str(quarantine.QUARANTINE_DURATION_S),
    }
    return _select_known_properties(cluster, row)


PROPERTY_FIRST_VERSIONS: Final = {
    "DynamicQuorum": "2012",
    "DynamicWeight": "2012",
    "LowerQuorumPriorityNodeID": "2012 R2",
    "WitnessDynamicWeight": "2012 R2",
    "QuarantineThreshold": "2016",
    "QuarantineDuration": "2016",
    "StatusInformation": "2016",
}
"""Property of a cluster or node -> first version of Windows Server that has it. Documented [DOC: failover
clustering quorum], except for the known quarantine properties.
"""


def _select_known_properties(cluster: Cluster, row: Row) -> Row:
    """Return the properties of *row* that the cluster's version has."""
    return {name: value for name, value in row.items() if has_property(cluster, name)}


def has_property(cluster: Cluster, name: str) -> bool:
    """Return whether the cluster's version of Windows Server has the property."""
    first_version = next(
        (version for key, version in PROPERTY_FIRST_VERSIONS.items() if key.lower() == name.lower()),
        "2008 R2",
    )
    return quorum.is_version_at_least(cluster, first_version)


def _get_lower_priority_node(world: World, name: str | None) -> int:
    return world.nodes[name].number if name is not None else 0


def build_node_row(world: World, observer: str, node: Node) -> Row:
    """Return the properties of a node as *observer* knows it."""
    cluster_node = lookup.find_node(world, observer)
    row = {
        "Name": node.name,
        "NodeName": node.name,
        "Id": str(node.number),
        "ID": str(node.number),
        "State": config.read_node_state(world, observer, node.name),
        "Type": "Node",
        "NodeWeight": str(cluster_node.config.get_weight(node.name)),
        "DynamicWeight": str(int(node.name in cluster_node.config.counted)),
        "StatusInformation": "Quarantined" if quarantine.is_quarantined(world, node.name) else "Normal",
    }
    return _select_known_properties(world.clusters[cluster_node.cluster], row)


def get_node(world: World, node: str, call: CmdletCall, piped: PipelineTable | None) -> PipelineTable:
    """Execute Get-ClusterNode."""
    cluster = world.clusters[lookup.find_node(world, node).cluster]
    names = lookup.match_names(call, cluster.nodes, lookup.read_names(call, piped, "node") or ("*",))
    rows = tuple(
        build_node_row(world, node, lookup.find_cluster_node(world, node, name, call)) for name in names
    )
    old = cluster.windows in ("2008 R2", "2012")
    return PipelineTable("node", ("Name", "ID", "State") if old else ("Name", "State", "Type"), rows)


def get_group(world: World, node: str, call: CmdletCall, piped: PipelineTable | None) -> PipelineTable:
    """Execute Get-ClusterGroup."""
    roles_by_name = {role.name.lower(): role for role in lookup.list_roles(world, node)}
    names = lookup.match_names(call, list(roles_by_name), lookup.read_names(call, piped, "group") or ("*",))
    found_roles = [
        roles_by_name.get(name.lower()) or lookup.find_role(world, node, name, call) for name in names
    ]
    owners = _list_piped_nodes(piped)
    rows = tuple(
        {
            "Name": role.name,
            "OwnerNode": config.read_owner(world, node, role),
            "State": config.read_role_state(world, role),
            "FailoverThreshold": str(failure_limits.get_displayed_threshold(role)),
            "FailoverPeriod": str(role.failover_period_h),
        }
        for role in found_roles
        if owners is None or config.read_owner(world, node, role) in owners
    )
    return PipelineTable("group", ("Name", "OwnerNode", "State"), rows)


def _list_piped_nodes(piped: PipelineTable | None) -> set[str] | None:
    """Return the names of the nodes in the pipeline; None if the pipeline contains no nodes."""
    return {row["Name"] for row in piped.rows} if piped is not None and piped.kind == "node" else None


def get_resource(world: World, node: str, call: CmdletCall, piped: PipelineTable | None) -> PipelineTable:
    """Execute Get-ClusterResource."""
    resource_names = [resource.name for _, resource in lookup.list_resources(world, node)]
    names = lookup.match_names(call, resource_names, lookup.read_names(call, piped, "resource") or ("*",))
    found_resources, owners = (
        [lookup.find_resource(world, node, name, call) for name in names],
        _list_piped_nodes(piped),
    )
    if piped is not None and piped.kind == "group":
        groups = {row["Name"] for row in piped.rows}
        found_resources = [
            role_and_resource
            for role_and_resource in lookup.list_resources(world, node)
            if role_and_resource[0].name in groups
        ]
    rows = tuple(
        {
            "Name": resource.name,
            "State": config.read_resource_state(world, role, resource).value,
            "OwnerGroup": role.name,
            "ResourceType": resource.kind,
            "OwnerNode": config.read_owner(world, node, role),
            "RestartAction": str(resource.restart_action),
            "RestartThreshold": str(resource.restart_threshold),
            "RestartPeriod": str(resource.restart_period_ms),
            "RetryPeriodOnFailure": str(resource.retry_period_ms),
        }
        for role, resource in found_resources
        if owners is None or config.read_owner(world, node, role) in owners
    )
    return PipelineTable("resource", ("Name", "State", "OwnerGroup", "ResourceType"), rows)


QUORUM_TYPES: Final = {
    "File Share Witness": "NodeAndFileShareMajority",
    "Physical Disk": "NodeAndDiskMajority",
    "Cloud Witness": "NodeAndCloudMajority",
}


def get_quorum(world: World, node: str, call: CmdletCall, piped: PipelineTable | None) -> PipelineTable:
    """Execute Get-ClusterQuorum."""
    cluster_node = lookup.find_node(world, node)
    witness = cluster_node.config.witness
    row = {
        "Cluster": cluster_node.cluster,
        "QuorumResource": config.get_witness_resource_name(witness) if witness is not None else "",
        "QuorumType": QUORUM_TYPES[witness.kind] if witness is not None else "NodeMajority",
    }
    old = world.clusters[cluster_node.cluster].windows in ("2008 R2", "2012", "2012 R2")
    return PipelineTable("quorum", ("Cluster", "QuorumResource", *(("QuorumType",) if old else ())), (row,))


WITNESS_PARAMETERS: Final = {
    "filesharewitness": "file share",
    "diskwitness": "disk",
    "cloudwitness": "cloud",
    "nowitness": "",
}


def set_quorum(world: World, node: str, call: CmdletCall, piped: PipelineTable | None) -> PipelineTable:
    """Execute Set-ClusterQuorum."""
    witness_keys = [key for key in WITNESS_PARAMETERS if key in call.named]
    if not witness_keys:
        raise CommandNotSimulatedError("Set-ClusterQuorum with no witness")
    if len(witness_keys) > 1:
        text = "Parameter set cannot be resolved using the specified named parameters."
        raise ShellError(call.name, text, "InvalidArgument", "AmbiguousParameterSet")
    kind, name = WITNESS_PARAMETERS[witness_keys[0]], call.get_value(witness_keys[0])
    if kind == "cloud":
        name = call.get_value("accountname") and call.get_value("accesskey") and call.get_value("accountname")
    if kind and not name:
        text = "Cannot process command because of one or more missing mandatory parameters: AccountName AccessKey."
        raise ShellError(call.name, text, "InvalidArgument", f"MissingMandatoryParameter,{call.name}")
    commands.set_witness(world, lookup.find_node(world, node).cluster, kind, name, node)
    return get_quorum(world, node, call, None)


def get_cluster(world: World, node: str, call: CmdletCall, piped: PipelineTable | None) -> PipelineTable:
    """Execute Get-Cluster. Its argument may be the name of this cluster or of one of its nodes."""
    lookup.require_known_cluster(world, node, call, call.get_values("name", 0))
    return PipelineTable("cluster", ("Name",), (build_cluster_row(world, node),))


def get_owner_node(world: World, node: str, call: CmdletCall, piped: PipelineTable | None) -> PipelineTable:
    """Execute Get-ClusterOwnerNode."""
    names = lookup.read_names(call, piped, "resource") or call.get_values("resource")
    rows = [
        {"ClusterObject": resource.name, "OwnerNodes": "{" + ", ".join(resource.owners) + "}"}
        for _, resource in (lookup.find_resource(world, node, name, call) for name in names)
    ]
    groups = call.get_values("group") or (
        tuple(row["Name"] for row in piped.rows) if piped and piped.kind == "group" else ()
    )
    for name in groups:
        role = lookup.find_role(world, node, name, call)
        rows.append({"ClusterObject": role.name, "OwnerNodes": "{" + ", ".join(role.preferred) + "}"})
    if not rows:
        lookup.read_single_name(call, None, "resource")
    return PipelineTable("owners", ("ClusterObject", "OwnerNodes"), tuple(rows))


def get_log(world: World, node: str, call: CmdletCall, piped: PipelineTable | None) -> PipelineTable:
    """Execute Get-ClusterLog. It returns the lines that the real cmdlet writes to a file. Times are UTC."""
    name = call.get_value("node", 0) or node
    member = lookup.find_cluster_node(world, node, name, call)
    minutes = call.get_value("timespan")
    since_tick = world.tick - int(minutes) * 60 * TICKS_PER_S if minutes else 0
    lines = [
        f"{member.number:08x}.00000{member.number:03x}::{_format_utc_time(world, tick)} {level:<5} [{component}] {text}"
        for tick, level, component, text in world.clusterlog.get(member.name, ())
        if tick >= since_tick
    ]
    return PipelineTable("log", text="\n".join(lines))


def _format_utc_time(world: World, tick: int) -> str:
    moment = clock.get_time_at(world, tick)
    return f"{moment:%Y/%m/%d-%H:%M:%S}.{moment.microsecond // 1000:03d}"


def move_group(world: World, node: str, call: CmdletCall, piped: PipelineTable | None) -> PipelineTable:
    """Execute Move-ClusterGroup."""
    role = lookup.find_role(world, node, lookup.read_single_name(call, piped, "group"), call)
    target = call.get_value("node", 1)
    if not target:
        target = next((n for n in roles.KINDS[role.kind].list_targets(world, role) if n != role.owner), "")
    if not target:
        raise ShellError(call.name, f"There is no node to which '{role.name}' could move.")
    target = lookup.find_cluster_node(world, node, target, call).name
    if role.owner != target or role.state not in (ResourceState.ONLINE, ResourceState.OFFLINE):
        commands.move_role(world, role.name, target, node)
    return get_group(world, node, CmdletCall("Get-ClusterGroup", {"name": (role.name,)}), None)


def build_group_cmdlet(operation: Callable[[World, str, str], None]) -> Cmdlet:
    """Build the cmdlet Start-ClusterGroup or Stop-ClusterGroup, which applies *operation* to a role."""

    def cmdlet(world: World, node: str, call: CmdletCall, piped: PipelineTable | None) -> PipelineTable:
        role = lookup.find_role(world, node, lookup.read_single_name(call, piped, "group"), call)
        name = role.name
        is_started = (
            role.state is ResourceState.ONLINE_PENDING or config.read_role_state(world, role) == "Online"
        )
        if operation is not commands.start_role or not is_started:
            operation(world, name, node)
        return get_group(world, node, CmdletCall("Get-ClusterGroup", {"name": (name,)}), None)

    return cmdlet


def build_resource_cmdlet(operation: Callable[[World, str, str], None]) -> Cmdlet:
    """Build the cmdlet Start-ClusterResource or Stop-ClusterResource, which applies *operation* to a resource."""

    def cmdlet(world: World, node: str, call: CmdletCall, piped: PipelineTable | None) -> PipelineTable:
        name = lookup.find_resource(world, node, lookup.read_single_name(call, piped, "resource"), call)[
            1
        ].name
        operation(world, name, node)
        return get_resource(world, node, CmdletCall("Get-ClusterResource", {"name": (name,)}), None)

    return cmdlet


def move_resource(world: World, node: str, call: CmdletCall, piped: PipelineTable | None) -> PipelineTable:
    """Execute Move-ClusterResource."""
    name = lookup.find_resource(world, node, lookup.read_single_name(call, piped, "resource"), call)[1].name
    role = lookup.find_role(world, node, call.get_value("group", 1), call)
    commands.move_disk(world, name, role.name, node)
    return get_resource(world, node, CmdletCall("Get-ClusterResource", {"name": (name,)}), None)


def add_dependency(world: World, node: str, call: CmdletCall, piped: PipelineTable | None) -> PipelineTable:
    """Execute Add-ClusterResourceDependency."""
    name = (
        lookup.read_single_name(call, piped, "resource")
        if piped is not None
        else call.get_value("resource", 0) or lookup.read_single_name(call, None, "resource")
    )
    name = lookup.find_resource(world, node, name, call)[1].name
    provider = call.get_value("provider", 0 if piped is not None else 1)
    commands.add_dependency(world, name, lookup.find_resource(world, node, provider, call)[1].name, node)
    return get_resource(world, node, CmdletCall("Get-ClusterResource", {"name": (name,)}), None)


def get_dependency(world: World, node: str, call: CmdletCall, piped: PipelineTable | None) -> PipelineTable:
    """Execute Get-ClusterResourceDependency."""
    name = (
        lookup.read_single_name(call, piped, "resource")
        if piped is not None
        else call.get_value("resource", 0) or lookup.read_single_name(call, None, "resource")
    )
    resource = lookup.find_resource(world, node, name, call)[1]
    sign = " or " if resource.kind == "Network Name" and len(resource.needs) > 1 else " and "
    row = {
        "Resource": resource.name,
        "DependencyExpression": sign.join(f"([{needed_name}])" for needed_name in resource.needs),
    }
    return PipelineTable("dependency", tuple(row), (row,))


def start_node(world: World, node: str, call: CmdletCall, piped: PipelineTable | None) -> PipelineTable:
    """Execute Start-ClusterNode, with -FixQuorum or -ForceQuorum."""
    name = lookup.find_cluster_node(
        world, node, lookup.read_single_name(call, piped, "node", node), call
    ).name
    lookup.require_computer(world, node, name, call)
    if call.has_switch("clearquarantine"):
        quarantine.clear_exits(world, name)
    if call.has_switch("forcequorum"):
        commands.force_quorum(world, name)
    else:
        commands.start_node(world, name, prevent=call.has_switch("preventquorum"))
    return get_node(world, node, CmdletCall("Get-ClusterNode", {"name": (name,)}), None)


def stop_node(world: World, node: str, call: CmdletCall, piped: PipelineTable | None) -> PipelineTable:
    """Execute Stop-ClusterNode. It fails if the cluster would lose quorum. [DOC: Stop-ClusterNode]."""
    name = lookup.find_cluster_node(
        world, node, lookup.read_single_name(call, piped, "node", node), call
    ).name
    lookup.require_computer(world, node, name, call)
    if not commands.has_quorum_without(world, name):
        text = f"The cluster would lose quorum without '{name}'. To stop the cluster, use the cmdlet Stop-Cluster."
        raise ShellError(call.name, text)
    commands.stop_node(world, name)
    return get_node(world, node, CmdletCall("Get-ClusterNode", {"name": (name,)}), None)


def remove_node(world: World, node: str, call: CmdletCall, piped: PipelineTable | None) -> PipelineTable:
    """Execute Remove-ClusterNode. It evicts a node without a confirmation, as with -Force."""
    commands.evict_node(
        world,
        lookup.find_cluster_node(world, node, lookup.read_single_name(call, piped, "node"), call).name,
        node,
    )
    return EMPTY_TABLE


def build_pause_cmdlet(paused: bool) -> Cmdlet:
    """Build the cmdlet Suspend-ClusterNode (*paused*) or Resume-ClusterNode."""

    def cmdlet(world: World, node: str, call: CmdletCall, piped: PipelineTable | None) -> PipelineTable:
        member = lookup.find_cluster_node(
            world, node, lookup.read_single_name(call, piped, "node", node), call
        )
        target = call.get_value("targetnode", 1) if paused else ""
        target_node = lookup.find_cluster_node(world, node, target, call).name if target else None
        commands.set_node_paused(world, member.name, paused, node, call.has_switch("drain"), target_node)
        return get_node(world, node, CmdletCall("Get-ClusterNode", {"name": (member.name,)}), None)

    return cmdlet


def set_owner_node(world: World, node: str, call: CmdletCall, piped: PipelineTable | None) -> PipelineTable:
    """Execute Set-ClusterOwnerNode: set the possible owners of a resource or preferred owners of a group."""
    groups = call.get_values("group")
    if piped is not None and piped.kind == "group":
        groups = tuple(row["Name"] for row in piped.rows)
    for name in groups:
        commands.set_preferred_owners(
            world, lookup.find_role(world, node, name, call).name, call.get_values("owners", 0), node
        )
    if groups:
        return EMPTY_TABLE
    names = (
        lookup.read_names(call, piped, "resource") if piped is not None else call.get_values("resource", 0)
    )
    if not names:
        lookup.read_single_name(call, None, "resource")
    owners = call.get_values("owners", 1 if piped is None and not call.get_values("resource") else 0)
    for name in names:
        commands.set_possible_owners(
            world, lookup.find_resource(world, node, name, call)[1].name, owners, node
        )
    return EMPTY_TABLE


def get_network(world: World, node: str, call: CmdletCall, piped: PipelineTable | None) -> PipelineTable:
    """Execute Get-ClusterNetwork. It returns one network for each subnet of the cluster."""
    subnets = _list_subnets(world, node)
    rows = tuple(
        {
            "Name": name,
            "State": "Up",
            "Role": "ClusterAndClient",
            "Address": f"{subnet}.0",
            "AddressMask": "255.255.255.0",
        }
        for subnet, name in subnets.items()
    )
    return PipelineTable("network", ("Name", "State", "Role"), rows)


def _list_subnets(world: World, node: str) -> dict[str, str]:
    """Return subnet -> name of its network ("Cluster Network 1" …), in the order of the nodes."""
    nodes = world.clusters[lookup.find_node(world, node).cluster].nodes
    subnets = dict.fromkeys(world.nodes[name].subnet for name in nodes)
    return {subnet: f"Cluster Network {number}" for number, subnet in enumerate(subnets, 1)}


def get_interface(world: World, node: str, call: CmdletCall, piped: PipelineTable | None) -> PipelineTable:
    """Execute Get-ClusterNetworkInterface.

    The state is Unavailable if the node is down [DOC: CLUSTER_NETINTERFACE_STATE].
    """
    subnets = _list_subnets(world, node)
    rows = tuple(
        {
            "Name": f"{name} - Ethernet",
            "Node": name,
            "Network": subnets[world.nodes[name].subnet],
            "State": "Unavailable" if config.read_node_state(world, node, name) == "Down" else "Up",
            "Address": config.get_computer_address(world, name),
        }
        for name in world.clusters[lookup.find_node(world, node).cluster].nodes
    )
    return PipelineTable("interface", ("Name", "Node", "Network", "State"), rows)


# --- Get-ClusterParameter and Set-ClusterParameter --------------------------------------------------------
# They show and set the private properties of a resource.

UINT32_MAX: Final = 2**32 - 1
HEALTH_CHECK_MS_MIN: Final = 15_000
"""Minimum of HealthCheckTimeout. Documented [DOC: flexible failover policy; failover policy of instances]."""

UNSIMULATED_PARAMETERS: Final = """
verboselogging virtualservername instancename sqldumperdumpflags sqldumperdumppath sqldumperdumptimeout
publishptrrecords remappipenames resourcedata statusnetbios statusdns statuskerberos creatingdc objectguid adaware
lastdnsupdatetime dnssuffix probeport probefailurethreshold overrideaddressmatch enablenetbios dhcpaddress dhcpserver
dhcpsubnetmask leaseexpirestime leaseobtainedtime
"""
"""Private properties that real resources have and the simulation lacks."""


def _build_missing_parameter_error(call: CmdletCall, key: str, name: str) -> Exception:
    if key.lower() in UNSIMULATED_PARAMETERS.split():
        return CommandNotSimulatedError(f"The parameter '{key}' of {name}")
    text = f"Parameter '{key}' does not exist on the cluster object '{name}'."
    return ShellError(call.name, text, "ObjectNotFound")


PENDING_CHANGE_WARNING: Final = (
    "WARNING: The properties were stored, but not all changes will take effect until {0} is taken offline and then "
    "online again."
)


class ResourceParameter(Struct, frozen=True):
    """Private property of a resource."""

    name: str
    value: str
    kind: str = "String"
    assign: Callable[[int], object] | None = None
    """Function that sets a numeric property; None if the property is read-only."""
    minimum: int = 0
    maximum: int = UINT32_MAX


def _list_instance_parameters(world: World, name: str) -> list[ResourceParameter]:
    """Return the properties of a SQL Server resource [DOC: failover policy of instances]."""
    instance = world.instances[name]
    return [
        _build_number_parameter("FailureConditionLevel", instance.failure_condition_level,
                lambda value: world.update_instance(name, failure_condition_level=value), 0, 5),
        _build_number_parameter("HealthCheckTimeout", instance.health_check_timeout_ms,
                lambda value: world.update_instance(name, health_check_timeout_ms=value), HEALTH_CHECK_MS_MIN),
    ]  # fmt: skip


def _build_number_parameter(
    name: str, value: int, assign: Callable[[int], object], minimum: int = 0, maximum: int = UINT32_MAX
) -> ResourceParameter:
    return ResourceParameter(name, str(value), "UInt32", assign, minimum, maximum)


def _list_group_parameters(world: World, node: str, group: AvailabilityGroup) -> list[ResourceParameter]:
    """Return the properties of an availability group resource [DOC: flexible failover policy]."""

    def store_change(change: Callable[[AvailabilityGroup], AvailabilityGroup]) -> object:
        return config.update_group(world, node, group.guid, change)

    return [
        _build_number_parameter("LeaseTimeout", group.lease_timeout_ms,
                lambda value: store_change(lambda old: replace(old, lease_timeout_ms=value)), 1),
        _build_number_parameter("FailureConditionLevel", group.failure_condition_level,
                lambda value: store_change(lambda old: replace(old, failure_condition_level=value)), 1, 5),
        _build_number_parameter("HealthCheckTimeout", group.health_check_timeout_ms,
                lambda ms: store_change(lambda old: replace(old, health_check_timeout_ms=ms)), HEALTH_CHECK_MS_MIN),
    ]  # fmt: skip


def _list_listener_parameters(
    world: World, node: str, group: AvailabilityGroup, listener: AvailabilityListener
) -> list[ResourceParameter]:
    """Return the properties of a listener's network name [DOC: availability group listeners]."""

    def store_change(changed: AvailabilityListener) -> object:
        return config.update_group(world, node, group.guid, lambda old: replace(old, listener=changed))

    return [
        ResourceParameter("Name", listener.name.upper()[:15]),
        ResourceParameter("DnsName", listener.name),
        _build_number_parameter("RegisterAllProvidersIP", int(listener.register_all),
                lambda value: store_change(replace(listener, register_all=bool(value)))),
        _build_number_parameter("HostRecordTTL", listener.record_ttl_s,
                lambda value: store_change(replace(listener, record_ttl_s=value))),
    ]  # fmt: skip


def _find_parameters(
    world: World, node: str, call: CmdletCall, piped: PipelineTable | None
) -> tuple[Resource, list[ResourceParameter]]:
    """Return the resource from the pipeline and its private properties."""
    if piped is None or piped.kind != "resource":
        lookup.read_single_name(call, None, "resource")
        raise ShellError(call.name, "Only a resource from the pipeline is simulated here.")
    role, resource = lookup.find_resource(world, node, lookup.read_single_name(call, piped, "resource"), call)
    groups = lookup.find_node(world, node).config.groups
    group = next((candidate for candidate in groups if candidate.name == role.name), None)
    listener = group.listener if group is not None else None
    if role.name in world.instances and resource.kind == "SQL Server":
        rows = _list_instance_parameters(world, role.name)
    elif group is not None and resource.kind == "SQL Server Availability Group":
        rows = _list_group_parameters(world, node, group)
    elif group is not None and listener is not None and resource.kind == "Network Name":
        rows = _list_listener_parameters(world, node, group, listener)
    elif listener is not None and listener.addresses and resource.kind == "IP Address":
        address = resource.name.rpartition("_")[2]
        rows = [
            ResourceParameter("Network", f"Cluster Network {1 + listener.addresses.index(address)}"),
            ResourceParameter("Address", address),
            ResourceParameter("SubnetMask", "255.255.255.0"),
            ResourceParameter("EnableDhcp", "0", "UInt32"),
        ]
    else:
        raise ShellError(call.name, f"Parameters of a resource of type {resource.kind} are not simulated.")
    return resource, rows


def get_parameter(world: World, node: str, call: CmdletCall, piped: PipelineTable | None) -> PipelineTable:
    """Execute Get-ClusterParameter."""
    resource, known_parameters = _find_parameters(world, node, call, piped)
    name = resource.name
    wanted_names = [wanted_name.lower() for wanted_name in call.get_values("name", 0)]
    names = [parameter.name.lower() for parameter in known_parameters]
    for wanted_name in wanted_names:
        if wanted_name not in names:
            raise _build_missing_parameter_error(call, wanted_name, name)
    rows = tuple(
        {"Object": name, "Name": parameter.name, "Value": parameter.value, "Type": parameter.kind}
        for parameter in known_parameters
        if not wanted_names or parameter.name.lower() in wanted_names
    )
    return PipelineTable("parameters", ("Object", "Name", "Value", "Type"), rows)


def set_parameter(world: World, node: str, call: CmdletCall, piped: PipelineTable | None) -> PipelineTable:
    """Execute Set-ClusterParameter."""
    commands.require_majority(world, node)
    resource, known_parameters = _find_parameters(world, node, call, piped)
    key, value = call.get_value("name", 0), call.get_value("value", 1)
    parameter = next((one for one in known_parameters if one.name.lower() == key.lower()), None)
    if parameter is None:
        raise _build_missing_parameter_error(call, key, resource.name)
    is_switch = parameter.name == "RegisterAllProvidersIP"
    if parameter.assign is None or not value.isdigit() or (is_switch and int(value) > 1):
        raise ShellError(call.name, f"Parameter '{key}' with the value '{value}' is not simulated.")
    if not parameter.minimum <= int(value) <= parameter.maximum:
        text = f"Unable to save property changes for '{resource.name}'.\n    The parameter is incorrect"
        raise ShellError(call.name, text)
    parameter.assign(int(value))
    if resource.kind == "Network Name":
        return PipelineTable("text", text=PENDING_CHANGE_WARNING.format(resource.name))
    return EMPTY_TABLE
