"""Windows services of a node (cluster service, SQL Server, its Agent), their cmdlets, the command net.

The cmdlets return the texts of PowerShell. [DOC: Stop-Service]
"""

import re
from typing import Final

from msgspec import Struct

from engine.cluster import commands, config, instances
from engine.flow.failover_times import FailoverCause
from engine.model import Service, World
from engine.powershell import lookup
from engine.powershell.lookup import EMPTY_TABLE, Cmdlet
from engine.powershell.pipeline import CmdletCall, CommandNotSimulatedError, PipelineTable, ShellError
from engine.protocol import service


class WindowsService(Struct, frozen=True):
    """Windows service that is installed on a node."""

    name: str
    display_name: str
    status: str
    server: str = ""
    """Instance to which the service belongs; empty for the cluster service."""
    agent: bool = False

    @property
    def label(self) -> str:
        """Return the display name and the name, as in messages of the cmdlets."""
        return f"{self.display_name} ({self.name})"


CLUSTER_SERVICE: Final = "ClusSvc"
SERVICE_STATUSES: Final = {
    Service.RUNNING: "Running",
    Service.STARTING: "StartPending",
    Service.STOPPING: "StopPending",
    Service.STOPPED: "Stopped",
}
"""State of a service -> its status in Get-Service. Known."""


def _list_installed(world: World, node: str) -> list[str]:
    """Return the instances on the node, then the installed failover cluster instances that run elsewhere."""
    instances = list(world.list_instances_on(node))
    clustered = (
        name
        for name, instance in world.instances.items()
        if instance.clustered and node in instance.installed
    )
    return instances + [name for name in clustered if name not in instances]


def list_services(world: World, node: str) -> list[WindowsService]:
    """Return the simulated services of a node, ordered by name. The first instance is the default instance."""
    running = node in world.nodes and config.is_running(world, world.nodes[node])
    services = [WindowsService(CLUSTER_SERVICE, "Cluster Service", "Running" if running else "Stopped")]
    for index, server in enumerate(_list_installed(world, node)):
        services += _list_instance_services(world, node, server, "MSSQLSERVER" if index == 0 else server)
    return sorted(services, key=lambda item: item.name.lower())


def _list_instance_services(world: World, node: str, server: str, service_name: str) -> list[WindowsService]:
    """Return the services of an instance: SQL Server and its Agent.

    Both are stopped on *node* if the instance runs on another node.
    """
    instance = world.instances[server]
    status = SERVICE_STATUSES[instance.service] if instance.computer == node else "Stopped"
    agent_status = "Running" if instance.agent_running and status == "Running" else "Stopped"
    default = service_name == "MSSQLSERVER"
    names = (
        ("MSSQLSERVER", "SQLSERVERAGENT")
        if default
        else (f"MSSQL${service_name}", f"SQLAgent${service_name}")
    )
    return [
        WindowsService(names[0], f"SQL Server ({service_name})", status, server),
        WindowsService(names[1], f"SQL Server Agent ({service_name})", agent_status, server, agent=True),
    ]


def _find_services(
    world: World, node: str, call: CmdletCall, piped: PipelineTable | None
) -> list[WindowsService]:
    """Return the services that a cmdlet names, by wildcards or in the pipeline.

    Raise ShellError for unknown names.
    """
    services = list_services(world, node)
    named = {item.name.lower(): item for item in services}
    for server in _list_installed(world, node):  # MSSQL$NAME and SQLAgent$NAME also find the default instance
        for other_service in _list_instance_services(world, node, server, server):
            named.setdefault(other_service.name.lower(), other_service)
    services_found = []
    for name in lookup.match_names(
        call, [item.name for item in services], lookup.read_names(call, piped, "service")
    ):
        if name.lower() not in named:
            raise _build_service_error(call, f"Cannot find any service with service name '{name}'.", "ObjectNotFound",
                         "NoServiceFoundForGivenName", f"{name}:String")  # fmt: skip
        services_found.append(named[name.lower()])
    if not services_found and not lookup.read_names(call, piped, "service"):
        lookup.read_single_name(call, piped, "service")  # raises the error for a missing name
    return services_found


def _build_service_error(call: CmdletCall, text: str, category: str, id: str, target: str) -> ShellError:
    verb = call.name.partition("-")[0].capitalize()
    full_id = f"{id},Microsoft.PowerShell.Commands.{verb}ServiceCommand"
    return ShellError(call.name, text, category, full_id, target, "ServiceCommandException")


CONTROLLER: Final = "System.ServiceProcess.ServiceController:ServiceController"


def get_service(world: World, node: str, call: CmdletCall, piped: PipelineTable | None) -> PipelineTable:
    """Execute Get-Service. It returns the named services, or all simulated services of the node."""
    wanted_names = lookup.read_names(call, piped, "service")
    services = _find_services(world, node, call, piped) if wanted_names else list_services(world, node)
    rows = tuple(
        {"Status": service.status, "Name": service.name, "DisplayName": service.display_name}
        for service in services
    )
    return PipelineTable("service", ("Status", "Name", "DisplayName"), rows)


def build_service_cmdlet(stop: bool, start: bool) -> Cmdlet:
    """Build the cmdlet Start-Service (*start*), Stop-Service (*stop*) or Restart-Service (both)."""

    def cmdlet(world: World, node: str, call: CmdletCall, piped: PipelineTable | None) -> PipelineTable:
        for entry in _find_services(world, node, call, piped):
            if stop and _list_running_dependents(world, node, entry) and not call.has_switch("force"):
                text = (
                    f"Cannot stop service '{entry.label}' because it has dependent services. It can only be stopped if "
                    "the Force flag is set."
                )
                raise _build_service_error(
                    call, text, "InvalidOperation", "ServiceHasDependentServices", CONTROLLER
                )
            _change_service_state(world, node, call, entry, stop, start)
        return EMPTY_TABLE

    return cmdlet


def _list_running_dependents(world: World, node: str, service: WindowsService) -> list[WindowsService]:
    """Return the running services that depend on a service. Only SQL Server has a dependent: its Agent."""
    if service.agent or not service.server:
        return []
    return [
        other_service
        for other_service in list_services(world, node)
        if other_service.agent
        and other_service.server == service.server
        and other_service.status == "Running"
    ]


def _change_service_state(
    world: World, node: str, call: CmdletCall, target: WindowsService, stop: bool, start: bool
) -> None:
    """Stop, start or restart a service.

    A stop includes dependent services. A start of the Agent includes SQL Server.
    """
    if not target.server:
        if stop and target.status == "Running":
            commands.stop_node(world, node)
        if start:
            commands.start_node(world, node)
        return
    instance = world.instances[target.server]
    if instance.computer != node:
        if start:  # SQL Server cannot start here, because its disks are on another node
            raise _build_service_error(
                call,
                f"Failed to start service '{target.label}'.",
                "OpenError",
                "StartServiceFailed",
                CONTROLLER,
            )
        return
    if start and target.agent and instance.edition == "Express":
        raise _build_service_error(
            call, f"Failed to start service '{target.label}'.", "OpenError", "StartServiceFailed", CONTROLLER
        )
    if target.agent:
        if start:
            world.update_instance(target.server, agent_running=True)
        else:
            instances.fail_agent(world, target.server)
        stop = False
    elif (
        stop and not start and not instance.clustered
    ):  # in a cluster, agent_running stays true, because the Agent is restarted
        world.update_instance(target.server, agent_running=False)
    if stop and instance.service is not Service.STOPPED:
        service.begin_service_stop(
            world, target.server, FailoverCause.STOP_SERVICE, "restart" if start else "", ((17148, ()),)
        )
    elif start:
        service.start_service(world, target.server)


NET_COMMAND: Final = re.compile(
    r"net(?:\.exe)?\s+(start|stop)\s+['\"]?([\w$]+)['\"]?\s*(/\w+)?", re.IGNORECASE
)

QUORUM_SWITCHES: Final = {"/forcequorum": "fq", "/fq": "fq", "/preventquorum": "pq", "/pq": "pq"}


def execute_net(world: World, node: str, verb: str, name: str, option: str | None) -> str:
    """Execute the command net start or net stop.

    Options are /forcequorum (/fq) or /pq at a start of the cluster service, and /y at a stop. [DOC: forced
    quorum].
    """
    start, call = verb.lower() == "start", CmdletCall(f"net {verb}", {"name": (name,)})
    switch, yes = QUORUM_SWITCHES.get((option or "").lower(), ""), (option or "").lower() in ("/y", "/yes")
    if option and not (switch and start) and not yes:
        raise CommandNotSimulatedError(f"net {verb} {name} {option}")
    try:
        (service,) = _find_services(world, node, call, None)
    except ShellError:
        return _format_net_error("The service name is invalid.", 2185)
    if service.status.endswith("Pending"):
        return _format_net_error("The service is starting or stopping.  Please try again later.", 2189)
    if start and service.status == "Running" and not switch:
        return _format_net_error("The requested service has already been started.", 2182)
    if not start and service.status == "Stopped":
        return _format_net_error(f"The {service.display_name} service is not started.", 3521)
    dependents = _list_running_dependents(world, node, service)
    if not start and dependents and not yes:
        listed = "\n".join(f"   {other_dependent.display_name}" for other_dependent in dependents)
        return NET_STOP_QUESTION.format(service.display_name, listed)
    if switch and not service.server:
        if switch == "fq":
            commands.force_quorum(world, node)
        else:
            commands.start_node(world, node, prevent=True)
    else:
        _change_service_state(world, node, call, service, not start, start)
    return f"The {service.display_name} service is {'starting' if start else 'stopping'}."


NET_STOP_QUESTION: Final = (
    "The following services are dependent on the {0} service.\nStopping the {0} service will also stop these services."
    "\n\n{1}\n\nDo you want to continue this operation? (Y/N) [N]: No valid response was provided."
)
"""Question of net stop without /y, which no one can answer at this prompt. Known."""


def _format_net_error(text: str, number: int) -> str:
    """Return the error message *text* of the command net, with a hint to the help for message *number*.

    Known.
    """
    return f"{text}\n\nMore help is available by typing NET HELPMSG {number}."
