"""What a line at the prompt does: the cmdlets that are simulated, and "not simulated" for all others."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

from engine.cluster import commands, config, instances, roles
from engine.flow.recovery import Cause
from engine.inputs import InputProblem
from engine.model import AvailabilityGroup, ClusterRole, Node, Resource, ResourceState, Service, World
from engine.powershell.filters import FILTERS
from engine.powershell.pipeline import Call, Row, ShellError, Table, read
from engine.protocol import clock, network, security, service
from engine.words import say

Cmdlet = Callable[[World, str, Call, Table | None], Table]

PROPERTY: Final = re.compile(
    r"\(\s*Get-ClusterNode\s+(?:-Name\s+)?['\"]?([\w.-]+)['\"]?\s*\)\.(\w+)\s*(?:=\s*(\d+))?", re.IGNORECASE
)
CLUSTER: Final = re.compile(r"\(\s*Get-Cluster\s*\)\.(\w+)\s*(?:=\s*(\d+))?", re.IGNORECASE)
NO_SERVICE: Final = (
    "The cluster service is not running.  Make sure that the service is running on all nodes in the cluster."
)
NOTHING: Final = Table("nothing")


def run(world: World, node: str, line: str) -> None:
    """Run a line at the prompt of *node*; the answer is an event. Raises InputProblem where there is no prompt."""
    if not world.computers[node].powered:
        raise InputProblem(say("{node} is off", node=node))
    try:
        output = _answer(world, node, line.strip())
    except ShellError as problem:
        output = str(problem)
    world.emit("powershell", output, server=node, node=node, command=line.strip(), output=output)


def _answer(world: World, node: str, line: str) -> str:
    found = PROPERTY.fullmatch(line)
    if found is not None:
        return _property(world, node, *found.groups())
    found = CLUSTER.fullmatch(line)
    if found is not None:
        return _cluster_property(world, node, *found.groups())
    found = NET.fullmatch(line) or PING.fullmatch(line)
    try:
        if found is not None:
            return _net(world, node, *found.groups()) if found.re is NET else _ping(world, node, found[1])
    except InputProblem as problem:
        raise ShellError(line.partition(" ")[0], str(problem)) from None
    if line.lower() == "hostname":
        return node
    found = MEMBER.fullmatch(line)
    if found is not None:
        return _member_of(_piped(world, node, found[1]), found[2], line)
    return _piped(world, node, line).written()


MEMBER: Final = re.compile(r"\((.+)\)\.(\w+)(?:\.Name)?", re.IGNORECASE)
"""(Get-ClusterGroup AG1).OwnerNode, and its Name."""


def _member_of(table: Table, name: str, line: str) -> str:
    if table.text:
        return table.text
    if name.lower() == "count":
        return str(len(table.rows))
    values = [value for row in table.rows for key, value in row.items() if key.lower() == name.lower()]
    return "\n".join(values) if values else f"{line} is not simulated."


def _piped(world: World, node: str, line: str) -> Table:
    """What comes out of a pipeline."""
    calls, table = read(line), None
    for call in calls:
        filtered = FILTERS.get(call.name.lower())
        if filtered is not None:
            table = filtered(call, table)
            continue
        cmdlet = CMDLETS.get(call.name.lower())
        if cmdlet is None:
            return Table("text", text=f"{call.name} is not simulated.")
        if "cluster" in call.name.lower() and call.name.lower() != "start-clusternode":
            _needs_service(world, node, call)
        try:
            table = cmdlet(world, node, call, table)
        except InputProblem as problem:
            raise ShellError(call.name, str(problem)) from None
    return table if table is not None else NOTHING


def _needs_service(world: World, node: str, call: Call) -> None:
    if node not in world.nodes or not world.nodes[node].partition:
        raise ShellError(call.name, NO_SERVICE, "ConnectionError", f"ClusterRpcConnection,{call.name}")


def _property(world: World, node: str, name: str, what: str, value: str | None) -> str:
    """(Get-ClusterNode name).NodeWeight, with = 0 or = 1 to set it."""
    call = Call("Get-ClusterNode")
    _needs_service(world, node, call)
    member = _member(world, node, name, call)
    row = _node_row(world, node, member)
    spelled = next((key for key in row if key.lower() == what.lower()), None)
    if value is None:
        return row[spelled] if spelled else f"(Get-ClusterNode).{what} is not simulated."
    if spelled != "NodeWeight" or value not in ("0", "1"):
        return f"(Get-ClusterNode).{what} = {value} is not simulated."
    commands.set_weight(world, member.name, int(value))
    return ""


def _cluster_property(world: World, node: str, what: str, value: str | None) -> str:
    """(Get-Cluster).SameSubnetThreshold and others, with = 10 to set a threshold."""
    _needs_service(world, node, Call("Get-Cluster"))
    row = _cluster_row(world, node)
    spelled = next((key for key in row if key.lower() == what.lower()), None)
    if value is None:
        return row[spelled] if spelled else f"(Get-Cluster).{what} is not simulated."
    if spelled not in THRESHOLDS:
        return f"(Get-Cluster).{what} = {value} is not simulated."
    try:
        commands.set_threshold(world, _known(world, node).cluster, THRESHOLDS[spelled], int(value))
    except InputProblem as problem:
        raise ShellError("Get-Cluster", str(problem), "InvalidArgument") from None
    return ""


# --- what there is --------------------------------------------------------------------------------------------


def _known(world: World, node: str) -> Node:
    """The cluster as the node at whose prompt the line stands knows it."""
    return world.nodes[node]


def _member(world: World, node: str, name: str, call: Call) -> Node:
    cluster = world.clusters[_known(world, node).cluster]
    found = next((one for one in cluster.nodes if one.lower() == name.lower()), None)
    if found is None:
        raise ShellError(call.name, f"The cluster node '{name}' was not found.", "ObjectNotFound")
    return world.nodes[found]


def _role(world: World, node: str, name: str, call: Call) -> ClusterRole:
    found = _known(world, node).config.role(name)
    if found is None:
        raise ShellError(call.name, f"The cluster group '{name}' was not found.", "ObjectNotFound")
    return found


STORAGE: Final = ClusterRole(name="Available Storage", kind="storage", owner="")
"""Where disks lie that no role has."""


def _resources(world: World, node: str) -> list[tuple[ClusterRole, Resource]]:
    known = _known(world, node).config
    disks = [(STORAGE, one) for one in known.storage]
    return [*((role, one) for role in known.roles for one in role.resources), *disks]


def _resource(world: World, node: str, name: str, call: Call) -> tuple[ClusterRole, Resource]:
    found = [pair for pair in _resources(world, node) if pair[1].name.lower() == name.lower()]
    if not found:
        raise ShellError(call.name, f"The cluster resource '{name}' was not found.", "ObjectNotFound")
    return found[0]


def _names(call: Call, piped: Table | None, kind: str) -> tuple[str, ...]:
    """Names that a cmdlet is given: by the pipeline, by -Name, or in the first place."""
    if piped is not None and piped.kind == kind:
        return tuple(row["Name"] for row in piped.rows)
    return call.values("name", 0)


def _one(call: Call, piped: Table | None, kind: str, default: str = "") -> str:
    found = next(iter(_names(call, piped, kind)), default)
    if not found:
        text = "Cannot process command because of one or more missing mandatory parameters: Name."
        raise ShellError(call.name, text, "InvalidArgument", f"MissingMandatoryParameter,{call.name}")
    return found


THRESHOLDS: Final = {"SameSubnetThreshold": False, "CrossSubnetThreshold": True}
"""Properties of a cluster that can be set, and whether they count across subnets."""


def _cluster_row(world: World, node: str) -> Row:
    known = _known(world, node)
    cluster = world.clusters[known.cluster]
    delay = str(round(1000 * cluster.heartbeat_s))
    return {
        "Name": cluster.name,
        "SameSubnetDelay": delay,
        "SameSubnetThreshold": str(cluster.threshold),
        "CrossSubnetDelay": delay,
        "CrossSubnetThreshold": str(cluster.cross_threshold),
        "LowerQuorumPriorityNodeID": str(_lower(world, cluster.lower_priority_node)),
        "DynamicQuorum": str(int(cluster.dynamic_quorum)),
        "WitnessDynamicWeight": str(int(known.config.witness_counts)),
    }


def _lower(world: World, name: str | None) -> int:
    return world.nodes[name].number if name is not None else 0


# --- Get ------------------------------------------------------------------------------------------------------


def _node_row(world: World, here: str, node: Node) -> Row:
    known = _known(world, here)
    up = config.up(world, node) and node.partition == known.partition
    state = "Paused" if up and node.paused else "Up" if up else "Down"
    return {
        "Name": node.name,
        "NodeName": node.name,
        "Id": str(node.number),
        "ID": str(node.number),
        "State": state,
        "Type": "Node",
        "NodeWeight": str(known.config.weight(node.name)),
        "DynamicWeight": str(int(node.name in known.config.counted)),
    }


def get_node(world: World, node: str, call: Call, piped: Table | None) -> Table:
    cluster = world.clusters[_known(world, node).cluster]
    names = _names(call, piped, "node") or cluster.nodes
    rows = tuple(_node_row(world, node, _member(world, node, name, call)) for name in names)
    old = cluster.windows in ("2008 R2", "2012")
    return Table("node", ("Name", "ID", "State") if old else ("Name", "State", "Type"), rows)


def get_group(world: World, node: str, call: Call, piped: Table | None) -> Table:
    known = _known(world, node).config.roles
    names = _names(call, piped, "group")
    found = [_role(world, node, name, call) for name in names] if names else known
    most = len(world.clusters[_known(world, node).cluster].nodes) - 1
    limits = {"FailoverThreshold": str(most), "FailoverPeriod": str(int(roles.FAILURE_PERIOD_S / 3600))}
    rows = tuple({"Name": r.name, "OwnerNode": r.owner, "State": _group_state(r)} | limits for r in found)
    return Table("group", ("Name", "OwnerNode", "State"), rows)


def _group_state(role: ClusterRole) -> str:
    pending = role.state in (ResourceState.ONLINE_PENDING, ResourceState.OFFLINE_PENDING)
    return "Pending" if pending else role.state.value


def _resource_state(world: World, node: str, role: ClusterRole, resource: Resource) -> str:
    """Of the addresses of a listener the one in the subnet of the owner is online."""
    if resource.failed:
        return ResourceState.FAILED.value
    state = ResourceState.ONLINE if resource.started else role.state
    if resource.kind == "IP Address" and role.kind == "availability":
        address, owner = resource.name.rpartition("_")[2], _known(world, role.owner)
        if address.count(".") == 3 and address.rpartition(".")[0] != owner.subnet:
            state = ResourceState.OFFLINE
    return state.value


RESTARTS: Final = {
    "RestartAction": "2",
    "RestartThreshold": str(roles.RESTARTS_MAX),
    "RestartPeriod": str(round(1000 * roles.RESTART_PERIOD_S)),
    "RetryPeriodOnFailure": str(round(1000 * roles.RETRY_S)),
}
"""Properties that every resource has. [DOC: RestartPeriod]"""


def get_resource(world: World, node: str, call: Call, piped: Table | None) -> Table:
    names = _names(call, piped, "resource")
    found = [_resource(world, node, name, call) for name in names] if names else _resources(world, node)
    if piped is not None and piped.kind == "group":
        groups = {row["Name"] for row in piped.rows}
        found = [pair for pair in _resources(world, node) if pair[0].name in groups]
    rows = tuple(
        {
            "Name": one.name,
            "State": _resource_state(world, node, role, one),
            "OwnerGroup": role.name,
            "ResourceType": one.kind,
            "OwnerNode": role.owner,
            **RESTARTS,
        }
        for role, one in found
    )
    return Table("resource", ("Name", "State", "OwnerGroup", "ResourceType"), rows)


QUORUM_TYPES: Final = {
    "File Share Witness": "NodeAndFileShareMajority",
    "Physical Disk": "NodeAndDiskMajority",
    "Cloud Witness": "NodeAndCloudMajority",
}


def get_quorum(world: World, node: str, call: Call, piped: Table | None) -> Table:
    known = _known(world, node)
    witness = known.config.witness
    row = {
        "Cluster": known.cluster,
        "QuorumResource": witness.kind if witness is not None else "",
        "QuorumType": QUORUM_TYPES[witness.kind] if witness is not None else "NodeMajority",
    }
    old = world.clusters[known.cluster].windows in ("2008 R2", "2012", "2012 R2")
    return Table("quorum", ("Cluster", "QuorumResource", *(("QuorumType",) if old else ())), (row,))


WITNESS_PARAMETERS: Final = {
    "filesharewitness": "file share",
    "nodeandfilesharemajority": "file share",
    "diskwitness": "disk",
    "nodeanddiskmajority": "disk",
    "nowitness": "",
    "nodemajority": "",
}


def set_quorum(world: World, node: str, call: Call, piped: Table | None) -> Table:
    found = [key for key in WITNESS_PARAMETERS if key in call.named]
    if len(found) != 1 or len(call.named) > 1:
        names = ", ".join(f"-{name}" for name in (*call.named,) if name not in WITNESS_PARAMETERS)
        return Table("text", text=f"Set-ClusterQuorum with {names or 'no witness'} is not simulated.")
    kind, name = WITNESS_PARAMETERS[found[0]], call.value(found[0])
    if kind and not name:
        raise ShellError(call.name, f"Missing an argument for parameter '{found[0]}'.", "InvalidArgument")
    commands.set_witness(world, _known(world, node).cluster, kind, name)
    return get_quorum(world, node, call, None)


def get_cluster(world: World, node: str, call: Call, piped: Table | None) -> Table:
    return Table("cluster", ("Name",), (_cluster_row(world, node),))


def get_owner_node(world: World, node: str, call: Call, piped: Table | None) -> Table:
    names = _names(call, piped, "resource") or call.values("resource")
    rows = [
        {"ClusterObject": one.name, "OwnerNodes": "{" + ", ".join(one.owners) + "}"}
        for _, one in (_resource(world, node, name, call) for name in names)
    ]
    groups = call.values("group") or (
        tuple(row["Name"] for row in piped.rows) if piped and piped.kind == "group" else ()
    )
    for name in groups:
        role = _role(world, node, name, call)
        rows.append({"ClusterObject": role.name, "OwnerNodes": "{" + ", ".join(role.preferred) + "}"})
    if not rows:
        _one(call, None, "resource")
    return Table("owners", ("ClusterObject", "OwnerNodes"), tuple(rows))


PARAMETERS: Final = {
    "LeaseTimeout": "lease_timeout_ms",
    "FailureConditionLevel": "failure_condition_level",
    "HealthCheckTimeout": "health_check_timeout_ms",
}
"""Private properties of the resource of an availability group, as the group has them."""


NAME_PARAMETERS: Final = {"RegisterAllProvidersIP": "register_all", "HostRecordTTL": "record_ttl_s"}
"""Private properties of the network name of a listener. [DOC: availability group listeners]"""

NOT_YET: Final = (
    "WARNING: The properties were stored, but not all changes will take effect until {0} is taken offline and then "
    "online again."
)


@dataclass(frozen=True, slots=True)
class Parameter:
    """A private property of a resource."""

    name: str
    value: str
    kind: str
    field: str = ""
    """Of the group, or of its listener; empty: it is only shown."""


def _parameters(world: World, node: str, call: Call, piped: Table | None) -> tuple[str, str, list[Parameter]]:
    """(group, resource, its private properties) of the resource that comes along the pipeline."""
    if piped is None or piped.kind != "resource":
        _one(call, None, "resource")
        raise ShellError(call.name, "Only a resource from the pipeline is simulated here.")
    role, resource = _resource(world, node, _one(call, piped, "resource"), call)
    group = next((one for one in _known(world, node).config.groups if one.name == role.name), None)
    listener = group.listener if group is not None else None
    if group is not None and resource.kind == "SQL Server Availability Group":
        rows = [
            Parameter(key, str(getattr(group, field)), "UInt32", field) for key, field in PARAMETERS.items()
        ]
    elif listener is not None and resource.kind == "Network Name":
        rows = [
            Parameter("Name", listener.name.upper()[:15], "String"),
            Parameter("DnsName", listener.name, "String"),
            *(
                Parameter(key, str(int(getattr(listener, field))), "UInt32", field)
                for key, field in NAME_PARAMETERS.items()
            ),
        ]
    elif listener is not None and listener.addresses and resource.kind == "IP Address":
        address = resource.name.rpartition("_")[2]
        rows = [
            Parameter("Network", f"Cluster Network {1 + listener.addresses.index(address)}", "String"),
            Parameter("Address", address, "String"),
            Parameter("SubnetMask", "255.255.255.0", "String"),
            Parameter("EnableDhcp", "0", "UInt32"),
        ]
    else:
        raise ShellError(call.name, f"Parameters of a resource of type {resource.kind} are not simulated.")
    return role.name, resource.name, rows


def get_parameter(world: World, node: str, call: Call, piped: Table | None) -> Table:
    _, name, known = _parameters(world, node, call, piped)
    wanted = {one.lower() for one in call.values("name", 0)}
    rows = tuple(
        {"Object": name, "Name": one.name, "Value": one.value, "Type": one.kind}
        for one in known
        if not wanted or one.name.lower() in wanted
    )
    return Table("parameters", ("Object", "Name", "Value", "Type"), rows)


def set_parameter(world: World, node: str, call: Call, piped: Table | None) -> Table:
    role, name, known = _parameters(world, node, call, piped)
    key, value = call.value("name", 0), call.value("value", 1)
    field = {one.name.lower(): one.field for one in known}.get(key.lower())
    if not field or not value.isdigit():
        raise ShellError(call.name, f"Parameter '{key}' with the value '{value}' is not simulated.")
    group = next(one for one in _known(world, node).config.groups if one.name == role)
    if field in PARAMETERS.values():
        config.update_group(world, node, group.guid, lambda old: _with(old, {field: int(value)}))
        return NOTHING
    changes: dict[str, Any] = {field: bool(int(value)) if field == "register_all" else int(value)}
    config.update_group(
        world,
        node,
        group.guid,
        lambda old: replace(old, listener=replace(old.listener, **changes) if old.listener else None),
    )
    return Table("text", text=NOT_YET.format(name))


def _with(group: AvailabilityGroup, changes: dict[str, int]) -> AvailabilityGroup:
    return replace(group, **changes)  # type: ignore[arg-type]


def get_log(world: World, node: str, call: Call, piped: Table | None) -> Table:
    """The lines themselves, as the file has them that the real cmdlet writes. Times are UTC."""
    name = call.value("node", 0) or node
    member = _member(world, node, name, call)
    minutes = call.value("timespan")
    since = world.tick - int(float(minutes) * 6_000) if minutes.replace(".", "", 1).isdigit() else 0
    lines = [
        f"{member.number:08x}.00000{member.number:03x}::{_stamp(world, tick)} {level:<5} [{component}] {text}"
        for tick, level, component, text in world.clusterlog.get(member.name, ())
        if tick >= since
    ]
    return Table("log", text="\n".join(lines))


def _stamp(world: World, tick: int) -> str:
    moment = clock.time_at(world, tick)
    return f"{moment:%Y/%m/%d-%H:%M:%S}.{moment.microsecond // 1000:03d}"


# --- acts -----------------------------------------------------------------------------------------------------


def move_group(world: World, node: str, call: Call, piped: Table | None) -> Table:
    role = _role(world, node, _one(call, piped, "group"), call)
    target = call.value("node", 1)
    if not target:
        target = next((n for n in roles.KINDS[role.kind].targets(world, role) if n != role.owner), "")
    if not target:
        raise ShellError(call.name, f"There is no node to which '{role.name}' could move.")
    commands.move(world, role.name, _member(world, node, target, call).name)
    return get_group(world, node, Call("Get-ClusterGroup", {"name": (role.name,)}), None)


def set_group(act: Callable[[World, str], None]) -> Cmdlet:
    def cmdlet(world: World, node: str, call: Call, piped: Table | None) -> Table:
        name = _role(world, node, _one(call, piped, "group"), call).name
        act(world, name)
        return get_group(world, node, Call("Get-ClusterGroup", {"name": (name,)}), None)

    return cmdlet


def set_resource(act: Callable[[World, str], None]) -> Cmdlet:
    def cmdlet(world: World, node: str, call: Call, piped: Table | None) -> Table:
        name = _resource(world, node, _one(call, piped, "resource"), call)[1].name
        act(world, name)
        return get_resource(world, node, Call("Get-ClusterResource", {"name": (name,)}), None)

    return cmdlet


def move_resource(world: World, node: str, call: Call, piped: Table | None) -> Table:
    name = _one(call, piped, "resource")
    commands.move_disk(world, name, call.value("group", 1))
    return get_resource(world, node, Call("Get-ClusterResource", {"name": (name,)}), None)


def add_dependency(world: World, node: str, call: Call, piped: Table | None) -> Table:
    name = (
        _one(call, piped, "resource")
        if piped is not None
        else call.value("resource", 0) or _one(call, None, "resource")
    )
    commands.add_dependency(world, name, call.value("provider", 0 if piped is not None else 1))
    return get_resource(world, node, Call("Get-ClusterResource", {"name": (name,)}), None)


def get_dependency(world: World, node: str, call: Call, piped: Table | None) -> Table:
    name = (
        _one(call, piped, "resource")
        if piped is not None
        else call.value("resource", 0) or _one(call, None, "resource")
    )
    resource = _resource(world, node, name, call)[1]
    sign = " or " if resource.kind == "Network Name" and len(resource.needs) > 1 else " and "
    row = {
        "Resource": resource.name,
        "DependencyExpression": sign.join(f"([{one}])" for one in resource.needs),
    }
    return Table("dependency", tuple(row), (row,))


def start_node(world: World, node: str, call: Call, piped: Table | None) -> Table:
    name = _member(world, node, _one(call, piped, "node", node), call).name
    if call.has("fixquorum", "forcequorum", "fq"):
        commands.force_quorum(world, name)
    else:
        commands.start(world, name, prevent=call.has("preventquorum", "pq"))
    return get_node(world, node, Call("Get-ClusterNode", {"name": (name,)}), None)


def stop_node(world: World, node: str, call: Call, piped: Table | None) -> Table:
    name = _member(world, node, _one(call, piped, "node", node), call).name
    commands.stop(world, name)
    return get_node(world, node, Call("Get-ClusterNode", {"name": (name,)}), None)


def remove_node(world: World, node: str, call: Call, piped: Table | None) -> Table:
    """Eviction; it asks nobody here, as with -Force."""
    commands.evict(world, _member(world, node, _one(call, piped, "node"), call).name)
    return NOTHING


def pause(paused: bool) -> Cmdlet:
    def cmdlet(world: World, node: str, call: Call, piped: Table | None) -> Table:
        member = _member(world, node, _one(call, piped, "node", node), call)
        commands.set_paused(world, member.name, paused, call.has("drain"))
        return get_node(world, node, Call("Get-ClusterNode", {"name": (member.name,)}), None)

    return cmdlet


def set_owner_node(world: World, node: str, call: Call, piped: Table | None) -> Table:
    names = _names(call, piped, "resource") if piped is not None else call.values("resource", 0)
    for name in names:
        commands.set_owners(world, _resource(world, node, name, call)[1].name, call.values("owners", 1))
    if not names:
        return Table(
            "text", text="Preferred owners of a group (Set-ClusterOwnerNode -Group) are not simulated."
        )
    return NOTHING


# --- services and network -------------------------------------------------------------------------------------


def _server(world: World, node: str, call: Call) -> str:
    """The instance that a service belongs to: MSSQLSERVER is the one on this node, MSSQL$NAME that of the name.

    A failover cluster instance has its service on each node on which it is installed.
    """
    wanted = call.value("name", 0)
    installed = [name for name, one in world.instances.items() if one.clustered and node in one.installed]
    there = [
        *world.instances_on(node),
        *(name for name in installed if world.instances[name].computer != node),
    ]
    named = wanted.upper().removeprefix("MSSQL$")
    found = [name for name in there if wanted.upper() == "MSSQLSERVER" or name.upper() == named]
    if not found:
        text = f"Cannot find any service with service name '{wanted}'."
        raise ShellError(call.name, text, "ObjectNotFound", "NoServiceFoundForGivenName")
    return found[0]


AGENT: Final = "SQLSERVERAGENT"


def get_service(world: World, node: str, call: Call, piped: Table | None) -> Table:
    """The cluster service, SQL Server and its Agent on the node, all or by name."""
    names = call.values("name", 0) or (
        "ClusSvc",
        *(("MSSQLSERVER", AGENT) if world.instances_on(node) else ()),
    )
    rows = tuple(_service_row(world, node, call, name) for name in names)
    return Table("service", ("Status", "Name", "DisplayName"), rows)


def _service_row(world: World, node: str, call: Call, wanted: str) -> Row:
    if wanted.lower() == "clussvc":
        state, name, shown = config.up(world, world.nodes[node]), "ClusSvc", "Cluster Service"
    else:
        agent = wanted.upper() == AGENT
        server = "MSSQLSERVER" if agent else wanted
        instance = world.instances[_server(world, node, Call(call.name, {"name": (server,)}))]
        state = instance.computer == node and instance.service is not Service.STOPPED
        state = state and (instance.agent_running or not agent)
        name, shown = wanted, f"SQL Server {'Agent ' if agent else ''}({server})"
    return {"Status": "Running" if state else "Stopped", "Name": name, "DisplayName": shown}


def restart_service(world: World, node: str, call: Call, piped: Table | None) -> Table:
    server = _server(world, node, call)
    if world.instances[server].computer != node:
        text = f"Service 'SQL Server ({server})' runs on {world.instances[server].computer}; not simulated elsewhere."
        raise ShellError(call.name, text)
    service.stop(world, server, Cause.STOP_SERVICE, "restart", ((17148, ()),))
    return NOTHING


def _target(world: World, name: str) -> str | None:
    """The computer that a name leads to: a computer, an instance or a listener that is online."""
    listeners = {key.lower(): server for key, server in world.listeners.items()}
    spelled = {key.lower(): key for key in (*world.computers, *world.instances)}
    found = listeners.get(name.lower()) or spelled.get(name.lower())
    if found is None:
        return None
    return world.instances[found].computer if found in world.instances else found


def test_connection(world: World, node: str, call: Call, piped: Table | None) -> Table:
    name, port = call.value("computername", 0), call.value("port") or "0"
    online = {record.online: key for key, record in world.records.items() if world.listeners.get(key)}
    target = _target(world, online.get(name, name))
    there = target is not None and world.computers[target].powered and network.passing(world, node, target)
    row = {"ComputerName": name, "PingSucceeded": str(there)}
    if port != "0":
        answering = there and any(world.instances[one].answering for one in world.instances_on(target or ""))
        row |= {"RemotePort": port, "TcpTestSucceeded": str(answering and port in ("1433", "5022"))}
    return Table("connection", tuple(row), (row,), as_list=True)


def resolve_name(world: World, node: str, call: Call, piped: Table | None) -> Table:
    name = call.value("name", 0)
    known = {key.lower() for key in (*world.listeners, *world.computers, *world.instances)}
    if name.lower() not in known:
        text = f"{name} : DNS name does not exist"
        raise ShellError(call.name, text, "ResourceUnavailable", "DNS_ERROR_RCODE_NAME_ERROR")
    listener = next((key for key in world.records if key.lower() == name.lower()), "")
    if listener:
        record = world.records[listener]
        rows = tuple(
            {
                "Name": listener,
                "Type": "A",
                "TTL": str(record.ttl_s),
                "Section": "Answer",
                "IPAddress": address,
            }
            for address in record.addresses
        )
    else:
        target = _target(world, name)
        if target is None:
            return Table("text", text=f"{name} is in the name server; its address is not simulated.")
        row = {"Name": name, "Type": "A", "TTL": "1200", "Section": "Answer", "IPAddress": _ip(world, target)}
        rows = (row,)
    return Table("names", ("Name", "Type", "TTL", "Section", "IPAddress"), rows)


def _ip(world: World, computer: str) -> str:
    """Address of a computer in its subnet: that of its instance, as the ERRORLOG has it. Assumed without one."""
    subnet = world.nodes[computer].subnet if computer in world.nodes else "10.0.0"
    instance = next(iter(world.instances_on(computer)), "")
    own = (
        security.client_ip(world, instance) if instance else f".{201 + list(world.computers).index(computer)}"
    )
    return f"{subnet}.{own.rpartition('.')[2]}"


def _folder(call: Call, place: int) -> str:
    path = call.value("path", place).rstrip("\\")
    if not path:
        text = "Cannot process command because of one or more missing mandatory parameters: Path."
        raise ShellError(call.name, text, "InvalidArgument", f"MissingMandatoryParameter,{call.name}")
    return path


def test_path(world: World, node: str, call: Call, piped: Table | None) -> Table:
    """Only the folder of tempdb on a local disk is simulated: it is there or it is not."""
    path = _folder(call, 0)
    if path.lower() != instances.TEMPDB_FOLDER.lower():
        return Table("text", text=f"Test-Path {path} is not simulated.")
    return Table("text", text=str(not instances.lacking_tempdb(world, node)))


def new_item(world: World, node: str, call: Call, piped: Table | None) -> Table:
    path, kind = _folder(call, 0), call.value("itemtype")
    if path.lower() != instances.TEMPDB_FOLDER.lower() or kind.lower() != "directory":
        return Table("text", text=f"New-Item {path} is not simulated.")
    lacking = instances.lacking_tempdb(world, node)
    if not lacking:
        text = f"An item with the specified name {path} already exists."
        raise ShellError(call.name, text, "ResourceExists", "DirectoryExist,NewItemCommand")
    instances.make_tempdb_folder(world, node)
    return Table(
        "folder",
        ("Mode", "Name"),
        ({"Mode": "d----", "Name": path.rpartition("\\")[2]},),
    )


# --- networks, services, names ------------------------------------------------------------------------------


def get_network(world: World, node: str, call: Call, piped: Table | None) -> Table:
    """A network for each subnet of the cluster."""
    subnets = _subnets(world, node)
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
    return Table("network", ("Name", "State", "Role"), rows)


def _subnets(world: World, node: str) -> dict[str, str]:
    nodes = world.clusters[_known(world, node).cluster].nodes
    found = dict.fromkeys(world.nodes[name].subnet for name in nodes)
    return {subnet: f"Cluster Network {number}" for number, subnet in enumerate(found, 1)}


def get_interface(world: World, node: str, call: Call, piped: Table | None) -> Table:
    subnets = _subnets(world, node)
    rows = tuple(
        {
            "Name": f"{name} - Ethernet",
            "Node": name,
            "Network": subnets[world.nodes[name].subnet],
            "State": "Up" if world.computers[name].powered and network.nic_up(world, name) else "Failed",
            "Address": _ip(world, name),
        }
        for name in world.clusters[_known(world, node).cluster].nodes
    )
    return Table("interface", ("Name", "Node", "Network", "State"), rows)


NET: Final = re.compile(r"net(?:\.exe)?\s+(start|stop)\s+['\"]?([\w$]+)['\"]?\s*(/\w+)?", re.IGNORECASE)
PING: Final = re.compile(r"ping(?:\.exe)?\s+([\w.-]+)", re.IGNORECASE)


def _net(world: World, node: str, verb: str, name: str, option: str | None) -> str:
    """net start and net stop, with /forcequorum or /fq and /pq for the cluster service. [DOC: forced quorum]"""
    switches = {"/forcequorum": "fq", "/fq": "fq", "/preventquorum": "pq", "/pq": "pq"}
    switch = switches.get((option or "").lower(), "")
    if option and not switch:
        return f"net {verb} {name} {option} is not simulated."
    shown = _switch_service(world, node, Call(f"net {verb}"), name, verb.lower() == "start", switch)
    done = {"start": "starting", "stop": "stopping"}[verb.lower()]
    return f"The {shown} service is {done}."


def _switch_service(world: World, node: str, call: Call, name: str, start: bool, switch: str = "") -> str:
    """Start or stop a service of the node; what it is called in full."""
    if name.lower() == "clussvc":
        if switch == "fq":
            commands.force_quorum(world, node)
        elif start:
            commands.start(world, node, prevent=switch == "pq")
        else:
            commands.stop(world, node)
        return "Cluster Service"
    server = _server(world, node, Call(call.name, {"name": (name,)}))
    if world.instances[server].computer != node:
        raise ShellError(call.name, f"Service '{name}' runs on {world.instances[server].computer}.")
    if start:
        service.start(world, server)
    else:
        service.stop(world, server, Cause.STOP_SERVICE, "", ((17148, ()),))
    return f"SQL Server ({name})"


def switch_service(start: bool) -> Cmdlet:
    def cmdlet(world: World, node: str, call: Call, piped: Table | None) -> Table:
        _switch_service(world, node, call, call.value("name", 0), start)
        return NOTHING

    return cmdlet


def _reaches(world: World, node: str, name: str) -> str | None:
    """The address that answers to the name from *node*, if one does."""
    target = _target(world, name)
    there = target is not None and world.computers[target].powered and network.passing(world, node, target)
    return _ip(world, target) if target is not None and there else None


def _ping(world: World, node: str, name: str) -> str:
    if _target(world, name) is None:
        return f"Ping request could not find host {name}. Please check the name and try again."
    address = _reaches(world, node, name)
    return f"Reply from {address}: bytes=32 time<1ms TTL=128" if address else "Request timed out."


def test_ping(world: World, node: str, call: Call, piped: Table | None) -> Table:
    name = call.value("computername", 0)
    address = _reaches(world, node, name)
    if call.has("quiet"):
        return Table("text", text=str(address is not None))
    if address is None:
        text = f"Testing connection to computer '{name}' failed: Error due to lack of resources"
        raise ShellError(call.name, text, "ResourceUnavailable")
    row = {"Source": node, "Destination": name, "IPV4Address": address}
    return Table("ping", tuple(row), (row,))


def import_module(world: World, node: str, call: Call, piped: Table | None) -> Table:
    name = call.value("name", 0)
    if name.lower() in ("failoverclusters", "nettcpip", "dnsclient"):
        return NOTHING
    return Table("text", text=f"Import-Module {name} is not simulated.")


CMDLETS: Final[dict[str, Cmdlet]] = {
    "get-cluster": get_cluster,
    "set-clusterquorum": set_quorum,
    "get-clusternode": get_node,
    "get-clustergroup": get_group,
    "get-clusterresource": get_resource,
    "get-clusterquorum": get_quorum,
    "get-clusterownernode": get_owner_node,
    "get-clusterparameter": get_parameter,
    "get-clusterlog": get_log,
    "move-clustergroup": move_group,
    "start-clustergroup": set_group(commands.start_role),
    "stop-clustergroup": set_group(commands.stop_role),
    "start-clusterresource": set_resource(commands.start_resource),
    "stop-clusterresource": set_resource(commands.stop_resource),
    "remove-clusternode": remove_node,
    "move-clusterresource": move_resource,
    "add-clusterresourcedependency": add_dependency,
    "get-clusterresourcedependency": get_dependency,
    "start-clusternode": start_node,
    "stop-clusternode": stop_node,
    "suspend-clusternode": pause(True),
    "resume-clusternode": pause(False),
    "set-clusterownernode": set_owner_node,
    "set-clusterparameter": set_parameter,
    "get-service": get_service,
    "restart-service": restart_service,
    "test-netconnection": test_connection,
    "resolve-dnsname": resolve_name,
    "test-path": test_path,
    "new-item": new_item,
    "get-clusternetwork": get_network,
    "get-clusternetworkinterface": get_interface,
    "start-service": switch_service(True),
    "stop-service": switch_service(False),
    "test-connection": test_ping,
    "import-module": import_module,
}
"""Every command that is simulated, in lower letters."""
