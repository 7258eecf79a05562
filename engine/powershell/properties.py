"""Properties of a cluster and its parts that an assignment such as (Get-ClusterNode N).NodeWeight = 0 sets."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, NamedTuple

from msgspec.structs import replace

from engine.cluster import commands, failure_limits
from engine.model import Resource, World
from engine.powershell import lookup
from engine.powershell.cluster_cmdlets import has_property
from engine.powershell.pipeline import CmdletCall, CommandNotSimulatedError, ShellError

PROPERTY_ASSIGNMENT_PATTERN: Final = re.compile(
    r"\(\s*(Get-Cluster(?:Node|Group|Resource)?)\s*(?:-Name\s+)?(?:'([^']+)'|\"([^\"]+)\"|([\w.-]+))?\s*\)\.(\w+)"
    r"\s*=\s*['\"]?(\S+?)['\"]?",
    re.IGNORECASE,
)
"""Pattern of an assignment to a property of one object."""

UINT32_MAX: Final = 2**32 - 1


class SettableProperty(NamedTuple):
    """Property that can be set: its limits, and the function that sets it."""

    minimum: int
    maximum: int
    assign: Callable[[World, str, str, int], None]
    """Function that sets the property. Arguments: the world, the name of the object, the prompt's node, the
    value.
    """


def _build_threshold_setter(is_cross: bool) -> Callable[[World, str, str, int], None]:
    return lambda world, name, node, value: commands.set_heartbeat_threshold(
        world, world.nodes[node].cluster, is_cross, value, node
    )


def _set_failover_threshold(world: World, name: str, node: str, value: int) -> None:
    setting = None if value == failure_limits.UNLIMITED_THRESHOLD else value
    commands.set_role_property(world, name, node, failover_threshold=setting)


def _build_restart_setter(
    change: Callable[[Resource, int], Resource], key: str
) -> Callable[[World, str, str, int], None]:
    def assign(world: World, name: str, node: str, value: int) -> None:
        role, resource = lookup.find_resource(world, node, name, CmdletCall("Get-ClusterResource"))
        immediate = resource.kind == "SQL Server Availability Group" and not value
        if role.name in (lookup.CORE_GROUP_NAME, lookup.STORAGE_GROUP.name) or (
            immediate and key == "RestartThreshold"
        ):
            raise CommandNotSimulatedError(f"{key} = {value} of {resource.name}")
        commands.set_resource_property(world, resource.name, node, lambda old: change(old, value))

    return assign


SETTABLE_PROPERTIES: Final = {
    ("get-cluster", "samesubnetthreshold"): SettableProperty(
        0, UINT32_MAX, _build_threshold_setter(is_cross=False)
    ),
    ("get-cluster", "crosssubnetthreshold"): SettableProperty(
        0, UINT32_MAX, _build_threshold_setter(is_cross=True)
    ),
    ("get-cluster", "dynamicquorum"): SettableProperty(
        0, 1, lambda world, name, node, value: commands.set_dynamic_quorum(world, node, bool(value))
    ),
    ("get-cluster", "lowerquorumprioritynodeid"): SettableProperty(
        0, UINT32_MAX, lambda world, name, node, value: commands.set_lower_priority_node(world, node, value)
    ),
    ("get-clusternode", "nodeweight"): SettableProperty(
        0, 1, lambda world, name, node, value: commands.set_node_weight(world, name, value, node)
    ),
    ("get-clustergroup", "failoverthreshold"): SettableProperty(0, UINT32_MAX, _set_failover_threshold),
    ("get-clustergroup", "failoverperiod"): SettableProperty(
        0,
        1193,
        lambda world, name, node, value: commands.set_role_property(
            world, name, node, failover_period_h=value
        ),
    ),
    ("get-clusterresource", "restartaction"): SettableProperty(
        0, 2, _build_restart_setter(lambda old, value: replace(old, restart_action=value), "RestartAction")
    ),
    ("get-clusterresource", "restartthreshold"): SettableProperty(
        0,
        UINT32_MAX,
        _build_restart_setter(lambda old, value: replace(old, restart_threshold=value), "RestartThreshold"),
    ),
    ("get-clusterresource", "restartperiod"): SettableProperty(
        0,
        UINT32_MAX,
        _build_restart_setter(lambda old, value: replace(old, restart_period_ms=value), "RestartPeriod"),
    ),
    ("get-clusterresource", "retryperiodonfailure"): SettableProperty(
        0,
        UINT32_MAX,
        _build_restart_setter(lambda old, value: replace(old, retry_period_ms=value), "RetryPeriodOnFailure"),
    ),
}
"""(cmdlet, property) in lowercase -> settable property. Limits are documented [DOC: FailoverThreshold;
FailoverPeriod; RestartAction; RestartPeriod; RetryPeriodOnFailure; failover clustering quorum].
"""


def assign_property(world: World, node: str, assignment: re.Match[str]) -> str:
    """Execute an assignment to a property. Raise ShellError, CommandNotSimulatedError or InputError."""
    cmdlet, *name_forms, key, value = assignment.groups(default="")
    call = CmdletCall(cmdlet)
    lookup.require_cluster_service(world, node, call)
    name = _find_object_name(world, node, "".join(name_forms), call)
    limits = SETTABLE_PROPERTIES.get((cmdlet.lower(), key.lower()))
    if limits is None:
        raise CommandNotSimulatedError(f"({cmdlet}).{key} = {value}")
    if not has_property(world.clusters[world.nodes[node].cluster], key):
        text = f"The property '{key}' cannot be found on this object. Verify that the property exists and can be set."
        raise ShellError(cmdlet, text, "InvalidOperation", "PropertyNotFound")
    if not value.isdigit() or not limits.minimum <= int(value) <= limits.maximum:
        problem = f"Unable to save property changes for '{name}'.\n    The parameter is incorrect"
        text = f'Exception setting "{key}": "{problem}"'
        raise ShellError(cmdlet, text, "NotSpecified", "ExceptionWhenSetting")
    limits.assign(world, name, node, int(value))
    return ""


def _find_object_name(world: World, node: str, name: str, call: CmdletCall) -> str:
    """Return the name of the object as the cluster spells it. Raise ShellError if it does not exist."""
    kind = call.name.lower().removeprefix("get-cluster")
    if not kind:
        lookup.require_known_cluster(world, node, call, (name,) if name else ())
        return world.nodes[node].cluster
    if kind == "node":
        return lookup.find_cluster_node(world, node, name, call).name
    if kind == "group":
        return lookup.find_role(world, node, name, call).name
    return lookup.find_resource(world, node, name, call)[1].name
