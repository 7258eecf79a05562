"""Get-ClusterParameter and Set-ClusterParameter: private properties of a resource."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from msgspec.structs import replace

from engine.cluster import config
from engine.model import World
from engine.powershell import lookup
from engine.powershell.lookup import NOTHING
from engine.powershell.pipeline import CmdletCall, PipelineTable, ShellError

PARAMETERS: Final = {
    "LeaseTimeout": "lease_timeout_ms",
    "FailureConditionLevel": "failure_condition_level",
    "HealthCheckTimeout": "health_check_timeout_ms",
}
"""Private properties of the resource of an availability group, as the group has them."""

INSTANCE_PARAMETERS: Final = {
    "FailureConditionLevel": "failure_condition_level",
    "HealthCheckTimeout": "health_check_timeout_ms",
}
"""Private properties of the SQL Server resource of a failover cluster instance. [DOC: failover policy of instances]"""

NAME_PARAMETERS: Final = {"RegisterAllProvidersIP": "register_all", "HostRecordTTL": "record_ttl_s"}
"""Private properties of the network name of a listener. [DOC: availability group listeners]"""

NOT_YET: Final = (
    "WARNING: The properties were stored, but not all changes will take effect until {0} is taken offline and then "
    "online again."
)


@dataclass(frozen=True, slots=True)
class ResourceParameter:
    """A private property of a resource."""

    name: str
    value: str
    kind: str
    field: str = ""
    """Field of the group or its listener; empty: read-only."""


def _parameters(
    world: World, node: str, call: CmdletCall, piped: PipelineTable | None
) -> tuple[str, str, list[ResourceParameter]]:
    """Return (group, resource, its private properties) of the resource from the pipeline."""
    if piped is None or piped.kind != "resource":
        lookup.name(call, None, "resource")
        raise ShellError(call.name, "Only a resource from the pipeline is simulated here.")
    role, resource = lookup.resource(world, node, lookup.name(call, piped, "resource"), call)
    group = next((one for one in lookup.find_node(world, node).config.groups if one.name == role.name), None)
    listener = group.listener if group is not None else None
    instance = world.instances.get(role.name)
    if instance is not None and resource.kind == "SQL Server":
        rows = [
            ResourceParameter(key, str(getattr(instance, field)), "UInt32", field)
            for key, field in INSTANCE_PARAMETERS.items()
        ]
    elif group is not None and resource.kind == "SQL Server Availability Group":
        rows = [
            ResourceParameter(key, str(getattr(group, field)), "UInt32", field)
            for key, field in PARAMETERS.items()
        ]
    elif listener is not None and resource.kind == "Network Name":
        rows = [
            ResourceParameter("Name", listener.name.upper()[:15], "String"),
            ResourceParameter("DnsName", listener.name, "String"),
            *(
                ResourceParameter(key, str(int(getattr(listener, field))), "UInt32", field)
                for key, field in NAME_PARAMETERS.items()
            ),
        ]
    elif listener is not None and listener.addresses and resource.kind == "IP Address":
        address = resource.name.rpartition("_")[2]
        rows = [
            ResourceParameter(
                "Network", f"Cluster Network {1 + listener.addresses.index(address)}", "String"
            ),
            ResourceParameter("Address", address, "String"),
            ResourceParameter("SubnetMask", "255.255.255.0", "String"),
            ResourceParameter("EnableDhcp", "0", "UInt32"),
        ]
    else:
        raise ShellError(call.name, f"Parameters of a resource of type {resource.kind} are not simulated.")
    return role.name, resource.name, rows


def get_parameter(world: World, node: str, call: CmdletCall, piped: PipelineTable | None) -> PipelineTable:
    """Execute Get-ClusterParameter."""
    _, name, known = _parameters(world, node, call, piped)
    wanted = {one.lower() for one in call.values("name", 0)}
    rows = tuple(
        {"Object": name, "Name": one.name, "Value": one.value, "Type": one.kind}
        for one in known
        if not wanted or one.name.lower() in wanted
    )
    return PipelineTable("parameters", ("Object", "Name", "Value", "Type"), rows)


def set_parameter(world: World, node: str, call: CmdletCall, piped: PipelineTable | None) -> PipelineTable:
    """Execute Set-ClusterParameter."""
    role, name, known = _parameters(world, node, call, piped)
    key, value = call.value("name", 0), call.value("value", 1)
    field = {one.name.lower(): one.field for one in known}.get(key.lower())
    if call.has_switch("multiple"):
        raise ShellError(call.name, "The parameter -Multiple is not simulated.")
    if not field or not value.isdigit():
        raise ShellError(call.name, f"Parameter '{key}' with the value '{value}' is not simulated.")
    if role in world.instances:
        world.update_instance(role, **{field: int(value)})
        return NOTHING
    group = next(one for one in lookup.find_node(world, node).config.groups if one.name == role)
    if field in PARAMETERS.values():
        config.update_group(world, node, group.guid, lambda old: replace(old, **{field: int(value)}))
        return NOTHING
    setting = bool(int(value)) if field == "register_all" else int(value)
    config.update_group(
        world,
        node,
        group.guid,
        lambda old: replace(
            old, listener=replace(old.listener, **{field: setting}) if old.listener else None
        ),
    )
    return PipelineTable("text", text=NOT_YET.format(name))
