"""Cmdlets and commands for computers: names, network, folders."""

import re
from typing import Final

from engine.availability import replicas
from engine.cluster import config, instances
from engine.model import AvailabilityGroup, EndpointState, World
from engine.powershell.lookup import EMPTY_TABLE
from engine.powershell.pipeline import CmdletCall, CommandNotSimulatedError, PipelineTable, ShellError
from engine.protocol import network
from engine.protocol.startup import SQL_PORT


def _find_target(world: World, name: str) -> str | None:
    """Return the computer that *name* refers to; None for an unknown name.

    *name*: name of a computer, an instance or an online listener.
    """
    listeners = {key.lower(): server for key, server in world.listeners.items()}
    spelled = {key.lower(): key for key in (*world.computers, *world.instances)}
    listener = listeners.get(name.lower()) or spelled.get(name.lower())
    if listener is None:
        return None
    return world.instances[listener].computer if listener in world.instances else listener


def test_net_connection(
    world: World, node: str, call: CmdletCall, piped: PipelineTable | None
) -> PipelineTable:
    """Execute Test-NetConnection."""
    name, port = call.get_value("computername", 0), call.get_value("port") or "0"
    online = {record.online: key for key, record in world.records.items() if world.listeners.get(key)}
    target = _find_target(world, online.get(name, name))
    is_present = (
        target is not None
        and world.computers[target].powered
        and network.can_exchange_packets(world, node, target)
    )
    row = {"ComputerName": name, "PingSucceeded": str(is_present)}
    succeeded = is_present
    if port != "0":
        succeeded = is_present and target is not None and _is_listening(world, target, int(port))
        row |= {"RemotePort": port, "TcpTestSucceeded": str(succeeded)}
    if call.get_value("informationlevel").lower() == "quiet":
        return PipelineTable("text", text=str(succeeded))
    return PipelineTable("connection", tuple(row), (row,), as_list=True)


def _is_listening(world: World, computer: str, port: int) -> bool:
    """Return whether an instance on the computer listens on *port* and the firewall does not block it."""
    if port in world.computers[computer].blocked_ports:
        return False
    local = [
        world.instances[name] for name in world.list_instances_on(computer) if world.instances[name].answering
    ]
    listening = {group.listener.port for group in _list_groups(world) if group.listener is not None
                 and world.listeners.get(group.listener.name) in world.list_instances_on(computer)}  # fmt: skip
    return port in listening or any(
        (port == SQL_PORT and instance.tcp_listening)
        or (
            instance.endpoint is not None
            and instance.endpoint.state is EndpointState.STARTED
            and instance.endpoint.port == port
        )
        for instance in local
    )


def _list_groups(world: World) -> list[AvailabilityGroup]:
    return [group for node in world.nodes.values() for group in node.config.groups]


def _list_known_names(world: World) -> set[str]:
    """Return the names that the name server knows, in lowercase."""
    return {key.lower() for key in (*world.listeners, *world.computers, *world.instances)}


def _resolve_addresses(world: World, node: str, name: str) -> tuple[str, ...]:
    """Return the addresses that the name server has for *name*; empty for an unknown name.

    The name server knows listeners (online or offline), instances and computers.
    """
    groups = world.nodes[node].config.groups if node in world.nodes else ()
    for group in groups:
        if group.listener is not None and group.listener.name.lower() == name.lower():
            return replicas.list_listener_addresses(group, world.nodes[node])
    target = _find_target(world, name)
    assert target is not None
    return (config.get_computer_address(world, target),)


def resolve_name(world: World, node: str, call: CmdletCall, piped: PipelineTable | None) -> PipelineTable:
    """Execute Resolve-DnsName."""
    name = call.get_value("name", 0)
    if name.lower() not in _list_known_names(world):
        text = f"{name} : DNS name does not exist"
        raise ShellError(call.name, text, "ResourceUnavailable", "DNS_ERROR_RCODE_NAME_ERROR")
    record = next(
        (name_record for key, name_record in world.records.items() if key.lower() == name.lower()), None
    )
    ttl_s, addresses = (
        (record.ttl_s, record.addresses) if record else (1200, _resolve_addresses(world, node, name))
    )
    rows = tuple(
        {"Name": name, "Type": "A", "TTL": str(ttl_s), "Section": "Answer", "IPAddress": address}
        for address in addresses
    )
    return PipelineTable("names", ("Name", "Type", "TTL", "Section", "IPAddress"), rows)


def _read_folder(call: CmdletCall) -> str:
    path = call.get_value("path", 0).rstrip("\\")
    if not path:
        text = "Cannot process command because of one or more missing mandatory parameters: Path."
        raise ShellError(call.name, text, "InvalidArgument", f"MissingMandatoryParameter,{call.name}")
    return path


def test_path(world: World, node: str, call: CmdletCall, piped: PipelineTable | None) -> PipelineTable:
    """Execute Test-Path. Only the tempdb folder on a local disk is simulated."""
    path = _read_folder(call)
    if path.lower() != instances.TEMPDB_FOLDER.lower():
        raise CommandNotSimulatedError(f"Test-Path {path}")
    return PipelineTable("text", text=str(not instances.list_instances_without_tempdb(world, node)))


def create_item(world: World, node: str, call: CmdletCall, piped: PipelineTable | None) -> PipelineTable:
    """Execute New-Item for the tempdb folder."""
    path, kind = _read_folder(call), call.get_value("itemtype")
    if path.lower() != instances.TEMPDB_FOLDER.lower() or kind.lower() != "directory":
        raise CommandNotSimulatedError(f"New-Item {path}")
    lacking = instances.list_instances_without_tempdb(world, node)
    if not lacking:
        text = f"An item with the specified name {path} already exists."
        raise ShellError(call.name, text, "ResourceExists", "DirectoryExist,NewItemCommand")
    instances.make_tempdb_folder(world, node)
    return PipelineTable(
        "folder",
        ("Mode", "Name"),
        ({"Mode": "d----", "Name": path.rpartition("\\")[2]},),
    )


PING_COMMAND: Final = re.compile(r"ping(?:\.exe)?\s+([\w.-]+)", re.IGNORECASE)


def _find_reachable_address(world: World, node: str, name: str) -> str | None:
    """Return the address that responds to a ping of *name* from *node*, or None."""
    target = _find_target(world, name)
    is_present = (
        target is not None
        and world.computers[target].powered
        and network.can_exchange_packets(world, node, target)
    )
    if not is_present:
        return None
    record = next(
        (name_record for key, name_record in world.records.items() if key.lower() == name.lower()), None
    )
    return record.online if record else _resolve_addresses(world, node, name)[0]


def execute_ping(world: World, node: str, name: str) -> str:
    """Execute the command ping."""
    if name.lower() not in _list_known_names(world):
        return f"Ping request could not find host {name}. Please check the name and try again."
    address = _find_reachable_address(world, node, name)
    return f"Reply from {address}: bytes=32 time<1ms TTL=128" if address else "Request timed out."


def test_ping(world: World, node: str, call: CmdletCall, piped: PipelineTable | None) -> PipelineTable:
    """Execute Test-Connection, which pings a computer."""
    name = call.get_value("computername", 0)
    address = _find_reachable_address(world, node, name)
    if call.has_switch("quiet"):
        return PipelineTable("text", text=str(address is not None))
    if address is None:
        text = f"Testing connection to computer '{name}' failed: Error due to lack of resources"
        raise ShellError(call.name, text, "ResourceUnavailable")
    row = {"Source": node, "Destination": name, "IPV4Address": address}
    return PipelineTable("ping", tuple(row), (row,))


def import_module(world: World, node: str, call: CmdletCall, piped: PipelineTable | None) -> PipelineTable:
    """Execute Import-Module. It accepts only modules that are always loaded here."""
    name = call.get_value("name", 0)
    if name.lower() in ("failoverclusters", "nettcpip", "dnsclient"):
        return EMPTY_TABLE
    raise CommandNotSimulatedError(f"Import-Module {name}")
