"""Cmdlets and commands about a computer: services, names, network, folders."""

from __future__ import annotations

import re
from typing import Final

from engine.availability import replicas
from engine.cluster import commands, config, instances
from engine.flow.recovery import Cause
from engine.model import AvailabilityGroup, EndpointState, Service, World
from engine.powershell.lookup import EMPTY_TABLE, Cmdlet
from engine.powershell.pipeline import CmdletCall, CommandNotSimulatedError, PipelineTable, Row, ShellError
from engine.protocol import network, service
from engine.protocol.startup import SQL_PORT


def _server(world: World, node: str, call: CmdletCall) -> str:
    """Return the instance of a service: MSSQLSERVER is the default instance on this node, MSSQL$NAME a named one.

    A failover cluster instance has its service on each node on which it is installed.
    """
    wanted = call.value("name", 0)
    there = _list_installed(world, node)
    named = wanted.upper().removeprefix("MSSQL$")
    found = [name for name in there if wanted.upper() == "MSSQLSERVER" or name.upper() == named]
    if not found:
        text = f"Cannot find any service with service name '{wanted}'."
        raise ShellError(call.name, text, "ObjectNotFound", "NoServiceFoundForGivenName")
    return found[0]


def _list_installed(world: World, node: str) -> list[str]:
    """Return the instances on the node, and then the failover cluster instances that run elsewhere."""
    here = list(world.instances_on(node))
    clustered = (name for name, one in world.instances.items() if one.clustered and node in one.installed)
    return here + [name for name in clustered if name not in here]


AGENT: Final = "SQLSERVERAGENT"


def get_service(world: World, node: str, call: CmdletCall, piped: PipelineTable | None) -> PipelineTable:
    """Execute Get-Service: return the cluster service, SQL Server and its Agent on the node, all or by name."""
    names = call.values("name", 0) or (
        "ClusSvc",
        *(("MSSQLSERVER", AGENT) if _list_installed(world, node) else ()),
    )
    rows = tuple(_service_row(world, node, call, name) for name in names)
    return PipelineTable("service", ("Status", "Name", "DisplayName"), rows)


STATUSES: Final = {
    Service.RUNNING: "Running",
    Service.STARTING: "StartPending",
    Service.STOPPING: "StopPending",
    Service.STOPPED: "Stopped",
}
"""Service state -> its status in Get-Service. Known."""


def _service_row(world: World, node: str, call: CmdletCall, wanted: str) -> Row:
    if wanted.lower() == "clussvc":
        status = "Running" if config.is_running(world, world.nodes[node]) else "Stopped"
        name, shown = "ClusSvc", "Cluster Service"
    else:
        agent = wanted.upper() == AGENT
        server = "MSSQLSERVER" if agent else wanted
        instance = world.instances[_server(world, node, CmdletCall(call.name, {"name": (server,)}))]
        status = STATUSES[instance.service] if instance.computer == node else "Stopped"
        if agent and not (instance.agent_running and status == "Running"):
            status = "Stopped"
        short = re.sub(r"(?i)^MSSQL\$", "", server)
        name, shown = wanted, f"SQL Server {'Agent ' if agent else ''}({short})"
    return {"Status": status, "Name": name, "DisplayName": shown}


def restart_service(world: World, node: str, call: CmdletCall, piped: PipelineTable | None) -> PipelineTable:
    """Execute Restart-Service."""
    server = _server(world, node, call)
    if world.instances[server].computer != node:
        text = f"Service 'SQL Server ({server})' runs on {world.instances[server].computer}; not simulated elsewhere."
        raise ShellError(call.name, text)
    if world.instances[server].service is Service.STOPPED:
        service.start(world, server)  # a stopped service is started, without an error
    else:
        service.stop(world, server, Cause.STOP_SERVICE, "restart", ((17148, ()),))
    return EMPTY_TABLE


def _target(world: World, name: str) -> str | None:
    """Return the computer that a name of a computer, an instance or an online listener leads to."""
    listeners = {key.lower(): server for key, server in world.listeners.items()}
    spelled = {key.lower(): key for key in (*world.computers, *world.instances)}
    found = listeners.get(name.lower()) or spelled.get(name.lower())
    if found is None:
        return None
    return world.instances[found].computer if found in world.instances else found


def test_connection(world: World, node: str, call: CmdletCall, piped: PipelineTable | None) -> PipelineTable:
    """Execute Test-NetConnection."""
    name, port = call.value("computername", 0), call.value("port") or "0"
    if port.isdigit() and int(port) > PORT_MAX:
        text = (
            f"Cannot validate argument on parameter 'Port'. The {port} argument is greater than the maximum allowed "
            f"range of {PORT_MAX}. Supply an argument that is less than or equal to {PORT_MAX} and then try the "
            "command again."
        )
        raise ShellError(call.name, text, "InvalidData", f"ParameterArgumentValidationError,{call.name}")
    online = {record.online: key for key, record in world.records.items() if world.listeners.get(key)}
    target = _target(world, online.get(name, name))
    there = target is not None and world.computers[target].powered and network.is_passing(world, node, target)
    row = {"ComputerName": name, "PingSucceeded": str(there)}
    said = there
    if port != "0":
        said = there and target is not None and _listens(world, target, int(port) if port.isdigit() else 0)
        row |= {"RemotePort": port, "TcpTestSucceeded": str(said)}
    if call.value("informationlevel").lower() == "quiet":
        return PipelineTable("text", text=str(said))
    return PipelineTable("connection", tuple(row), (row,), as_list=True)


PORT_MAX: Final = 65_535


def _listens(world: World, computer: str, port: int) -> bool:
    """Return whether an instance on the computer listens on a port that the firewall lets through."""
    if port in world.computers[computer].blocked_ports:
        return False
    local = [
        world.instances[name] for name in world.instances_on(computer) if world.instances[name].answering
    ]
    listening = {one.listener.port for one in _groups(world) if one.listener is not None
                 and world.listeners.get(one.listener.name) in world.instances_on(computer)}  # fmt: skip
    return port in listening or any(
        (port == SQL_PORT and one.tcp_listening)
        or (
            one.endpoint is not None
            and one.endpoint.state is EndpointState.STARTED
            and one.endpoint.port == port
        )
        for one in local
    )


def _groups(world: World) -> list[AvailabilityGroup]:
    return [group for node in world.nodes.values() for group in node.config.groups]


def _names(world: World) -> set[str]:
    """Return the names that the name server knows, in lowercase."""
    return {key.lower() for key in (*world.listeners, *world.computers, *world.instances)}


def _addresses(world: World, node: str, name: str) -> tuple[str, ...]:
    """Return the addresses that the name server has for a listener (online or offline), an instance or a computer."""
    known = world.nodes[node].config.groups if node in world.nodes else ()
    for group in known:
        if group.listener is not None and group.listener.name.lower() == name.lower():
            return replicas.listener_addresses(group, world.nodes[node])
    target = _target(world, name)
    assert target is not None
    return (config.address(world, target),)


def resolve_name(world: World, node: str, call: CmdletCall, piped: PipelineTable | None) -> PipelineTable:
    """Execute Resolve-DnsName."""
    name = call.value("name", 0)
    if name.lower() not in _names(world):
        text = f"{name} : DNS name does not exist"
        raise ShellError(call.name, text, "ResourceUnavailable", "DNS_ERROR_RCODE_NAME_ERROR")
    record = next((one for key, one in world.records.items() if key.lower() == name.lower()), None)
    ttl_s, addresses = (record.ttl_s, record.addresses) if record else (1200, _addresses(world, node, name))
    rows = tuple(
        {"Name": name, "Type": "A", "TTL": str(ttl_s), "Section": "Answer", "IPAddress": address}
        for address in addresses
    )
    return PipelineTable("names", ("Name", "Type", "TTL", "Section", "IPAddress"), rows)


def _read_folder(call: CmdletCall, position: int) -> str:
    path = call.value("path", position).rstrip("\\")
    if not path:
        text = "Cannot process command because of one or more missing mandatory parameters: Path."
        raise ShellError(call.name, text, "InvalidArgument", f"MissingMandatoryParameter,{call.name}")
    return path


def test_path(world: World, node: str, call: CmdletCall, piped: PipelineTable | None) -> PipelineTable:
    """Execute Test-Path; only the folder of tempdb on a local disk is simulated."""
    path = _read_folder(call, 0)
    if path.lower() != instances.TEMPDB_FOLDER.lower():
        raise CommandNotSimulatedError(f"Test-Path {path}")
    return PipelineTable("text", text=str(not instances.lacking_tempdb(world, node)))


def new_item(world: World, node: str, call: CmdletCall, piped: PipelineTable | None) -> PipelineTable:
    """Execute New-Item for the folder of tempdb."""
    path, kind = _read_folder(call, 0), call.value("itemtype")
    if path.lower() != instances.TEMPDB_FOLDER.lower() or kind.lower() != "directory":
        raise CommandNotSimulatedError(f"New-Item {path}")
    lacking = instances.lacking_tempdb(world, node)
    if not lacking:
        text = f"An item with the specified name {path} already exists."
        raise ShellError(call.name, text, "ResourceExists", "DirectoryExist,NewItemCommand")
    instances.make_tempdb_folder(world, node)
    return PipelineTable(
        "folder",
        ("Mode", "Name"),
        ({"Mode": "d----", "Name": path.rpartition("\\")[2]},),
    )


NET: Final = re.compile(r"net(?:\.exe)?\s+(start|stop)\s+['\"]?([\w$]+)['\"]?\s*(/\w+)?", re.IGNORECASE)


PING: Final = re.compile(r"ping(?:\.exe)?\s+([\w.-]+)", re.IGNORECASE)


def net(world: World, node: str, verb: str, name: str, option: str | None) -> str:
    """Execute net start and net stop, with /forcequorum or /fq and /pq for the cluster service.

    [DOC: forced quorum].
    """
    switches = {"/forcequorum": "fq", "/fq": "fq", "/preventquorum": "pq", "/pq": "pq"}
    switch = switches.get((option or "").lower(), "")
    if option and not switch:
        raise CommandNotSimulatedError(f"net {verb} {name} {option}")
    start, call = verb.lower() == "start", CmdletCall(f"net {verb}")
    try:
        service_row = _service_row(world, node, call, name)
    except ShellError:
        return _explain("The service name is invalid.", 2185)
    shown, status = service_row["DisplayName"], service_row["Status"]
    if status.endswith("Pending"):
        return _explain("The service is starting or stopping.  Please try again later.", 2189)
    if start and status == "Running" and not switch:
        return _explain("The requested service has already been started.", 2182)
    if not start and status == "Stopped":
        return _explain(f"The {shown} service is not started.", 3521)
    _switch_service(world, node, call, name, start, switch)
    return f"The {shown} service is {'starting' if start else 'stopping'}."


def _explain(text: str, number: int) -> str:
    """Format an error of the command net, whose texts are known."""
    return f"{text}\n\nMore help is available by typing NET HELPMSG {number}."


def _switch_service(
    world: World, node: str, call: CmdletCall, name: str, start: bool, switch: str = ""
) -> str:
    """Start or stop a service of the node; return its full name."""
    if name.lower() == "clussvc":
        if switch == "fq":
            commands.force_quorum(world, node)
        elif start:
            commands.start(world, node, prevent=switch == "pq")
        else:
            commands.stop(world, node)
        return "Cluster Service"
    server = _server(world, node, CmdletCall(call.name, {"name": (name,)}))
    if world.instances[server].computer != node:
        raise ShellError(call.name, f"Service '{name}' runs on {world.instances[server].computer}.")
    if start:
        service.start(world, server)
    else:
        service.stop(world, server, Cause.STOP_SERVICE, "", ((17148, ()),))
    return f"SQL Server ({name})"


def switch_service(start: bool) -> Cmdlet:
    """Build Start-Service or Stop-Service."""

    def cmdlet(world: World, node: str, call: CmdletCall, piped: PipelineTable | None) -> PipelineTable:
        _switch_service(world, node, call, call.value("name", 0), start)
        return EMPTY_TABLE

    return cmdlet


def _reaches(world: World, node: str, name: str) -> str | None:
    """Return the address that a ping of *name* from *node* reaches; None if there is no response."""
    target = _target(world, name)
    there = target is not None and world.computers[target].powered and network.is_passing(world, node, target)
    if not there:
        return None
    record = next((one for key, one in world.records.items() if key.lower() == name.lower()), None)
    return record.online if record else _addresses(world, node, name)[0]


def ping(world: World, node: str, name: str) -> str:
    """Execute ping."""
    if name.lower() not in _names(world):
        return f"Ping request could not find host {name}. Please check the name and try again."
    address = _reaches(world, node, name)
    return f"Reply from {address}: bytes=32 time<1ms TTL=128" if address else "Request timed out."


def test_ping(world: World, node: str, call: CmdletCall, piped: PipelineTable | None) -> PipelineTable:
    """Execute Test-Connection."""
    name = call.value("computername", 0)
    address = _reaches(world, node, name)
    if call.has_switch("quiet"):
        return PipelineTable("text", text=str(address is not None))
    if address is None:
        text = f"Testing connection to computer '{name}' failed: Error due to lack of resources"
        raise ShellError(call.name, text, "ResourceUnavailable")
    row = {"Source": node, "Destination": name, "IPV4Address": address}
    return PipelineTable("ping", tuple(row), (row,))


def import_module(world: World, node: str, call: CmdletCall, piped: PipelineTable | None) -> PipelineTable:
    """Execute Import-Module. It accepts modules that are always loaded here."""
    name = call.value("name", 0)
    if name.lower() in ("failoverclusters", "nettcpip", "dnsclient"):
        return EMPTY_TABLE
    raise CommandNotSimulatedError(f"Import-Module {name}")
