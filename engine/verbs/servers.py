"""Verbs for power, service, freezes and network cables of a server."""

from __future__ import annotations

from typing import Final

from engine.flow.recovery import Cause
from engine.inputs import Input
from engine.localization import mark, say
from engine.model import Service, World
from engine.protocol import service
from engine.verbs.verb import COMPUTER, SERVER, Verb, reject_computer_if, reject_server_if


def stop_service(world: World, server: str, next_action: str = "") -> None:
    """Stop the service as the service control manager does; *then* as of `service.stop`."""
    service.stop(world, server, Cause.STOP_SERVICE, next_action, ((17148, ()),))


def _cannot_start(world: World, item: Input) -> str:
    (server,) = item.args
    up = world.instances[server].service in (Service.RUNNING, Service.STARTING)
    if up or not world.computer_of(server).powered:
        return say("the server is off, or the service is already running")
    return (
        say("the server is booting and then starts the service") if service.begin_boot(world, server) else ""
    )


VERBS: Final = (
    Verb(
        name="power-off",
        parameters=(COMPUTER,),
        help=mark("power off a server"),
        group="fault",
        do=lambda world, item: service.power_off(world, item.args[0]),
        reverse="power-on",
        undoes=("hang",),
        pointless=reject_computer_if(say("the server is off"), lambda computer: not computer.powered),
        loses="server",
        label=mark("Power off"),
        icon="power",
    ),
    Verb(
        name="power-on",
        parameters=(COMPUTER,),
        help=mark("power on a server; it boots and starts SQL Server"),
        group="repair",
        do=lambda world, item: service.power_on(world, item.args[0]),
        undoes=("shutdown", "shutdown-nowait", "stop-service"),
        pointless=reject_computer_if(
            say("the server is on"), lambda computer: computer.powered and not computer.shutting_down
        ),
        label=mark("Power on"),
        icon="power",
    ),
    Verb(
        name="shutdown-server",
        parameters=(COMPUTER,),
        help=mark("shut down Windows"),
        group="fault",
        do=lambda world, item: service.shut_down(world, item.args[0]),
        reverse="power-on",
        pointless=reject_computer_if(
            say("the server is off"), lambda computer: not computer.powered or computer.shutting_down
        ),
        loses="server",
        mechanism=Cause.SHUTDOWN_SERVER,
        label=mark("Shut down Windows"),
        icon="power",
    ),
    Verb(
        name="stop-service",
        parameters=(SERVER,),
        help=mark("stop the SQL Server service"),
        group="fault",
        do=lambda world, item: stop_service(world, item.args[0]),
        reverse="start-service",
        pointless=reject_server_if(say("the service is not running"), lambda server: not server.running),
        loses="server",
        mechanism=Cause.STOP_SERVICE,
        label=mark("Stop SQL Server"),
        icon="stop",
    ),
    Verb(
        name="start-service",
        parameters=(SERVER,),
        help=mark("start the SQL Server service"),
        group="repair",
        do=lambda world, item: service.start(world, item.args[0]),
        undoes=("shutdown", "shutdown-nowait", "restart-service"),
        pointless=_cannot_start,
        label=mark("Start SQL Server"),
        icon="play",
    ),
    Verb(
        name="restart-service",
        parameters=(SERVER,),
        help=mark("stop and start the SQL Server service"),
        group="chore",
        do=lambda world, item: stop_service(world, item.args[0], "restart"),
        pointless=reject_server_if(say("the service is not running"), lambda server: not server.running),
        loses="server",
        mechanism=Cause.STOP_SERVICE,
        cure=True,
        label=mark("Restart SQL Server"),
        icon="retry",
    ),
    Verb(
        name="hang",
        parameters=(SERVER,),
        help=mark("hang SQL Server: it runs but does not respond"),
        group="fault",
        do=lambda world, item: service.hang(world, item.args[0]),
        reverse="unhang",
        pointless=reject_server_if(
            say("the instance is not running, or already hangs"),
            lambda server: not server.running or server.hung,
        ),
        loses="server",
        mechanism=Cause.TIMEOUT,
        label=mark("Hang SQL Server"),
        icon="hang",
    ),
    Verb(
        name="unhang",
        parameters=(SERVER,),
        help=mark("end the hang of SQL Server"),
        group="repair",
        do=lambda world, item: service.unhang(world, item.args[0]),
        pointless=reject_server_if(say("the instance does not hang"), lambda server: not server.hung),
        label=mark("End the hang"),
        icon="hang",
    ),
    Verb(
        name="pull-cable",
        parameters=(COMPUTER,),
        help=mark("unplug all network cables of a server"),
        group="fault",
        do=lambda world, item: service.set_cables(world, item.args[0], plugged=False),
        reverse="plug-cable",
        pointless=reject_computer_if(say("the cables are unplugged"), lambda computer: not computer.nic_up),
        loses="server",
        mechanism=Cause.CABLE,
        label=mark("Unplug all network cables"),
        icon="cable",
    ),
    Verb(
        name="plug-cable",
        parameters=(COMPUTER,),
        help=mark("plug in all network cables of a server"),
        group="repair",
        do=lambda world, item: service.set_cables(world, item.args[0], plugged=True),
        pointless=reject_computer_if(say("the cables are plugged in"), lambda computer: computer.nic_up),
        label=mark("Plug in all network cables"),
        icon="cable",
    ),
)
