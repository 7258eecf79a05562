"""Verbs for power, service, freezes and network cables of a server."""

from typing import Final

from engine.flow.recovery import Cause
from engine.inputs import Input
from engine.localization import say
from engine.model import Service, World
from engine.protocol import service
from engine.verbs.verb import reject_computer_if, reject_server_if, verb


def stop_service(world: World, server: str, next_action: str = "") -> None:
    """Stop the service as the service control manager does.

    *next_action*: see `service.stop`.
    """
    service.stop(world, server, Cause.STOP_SERVICE, next_action, ((17148, ()),))


def _cannot_start(world: World, item: Input) -> str:
    (server,) = item.args
    is_up = world.instances[server].service in (Service.RUNNING, Service.STARTING)
    if is_up or not world.computer_of(server).powered:
        return say("the server is off, or the service is already running")
    return (
        say("the server is booting and then starts the service") if service.begin_boot(world, server) else ""
    )


VERBS: Final = (
    verb(
        "power-off",
        lambda world, item: service.power_off(world, item.args[0]),
        pointless=reject_computer_if(say("the server is off"), lambda computer: not computer.powered),
    ),
    verb(
        "power-on",
        lambda world, item: service.power_on(world, item.args[0]),
        pointless=reject_computer_if(
            say("the server is on"), lambda computer: computer.powered and not computer.shutting_down
        ),
    ),
    verb(
        "shutdown-server",
        lambda world, item: service.shut_down(world, item.args[0]),
        pointless=reject_computer_if(
            say("the server is off"), lambda computer: not computer.powered or computer.shutting_down
        ),
    ),
    verb(
        "stop-service",
        lambda world, item: stop_service(world, item.args[0]),
        pointless=reject_server_if(say("the service is not running"), lambda server: not server.running),
    ),
    verb("start-service", lambda world, item: service.start(world, item.args[0]), pointless=_cannot_start),
    verb(
        "restart-service",
        lambda world, item: stop_service(world, item.args[0], "restart"),
        pointless=reject_server_if(say("the service is not running"), lambda server: not server.running),
    ),
    verb(
        "hang",
        lambda world, item: service.hang(world, item.args[0]),
        pointless=reject_server_if(
            say("the instance is not running, or already hangs"),
            lambda server: not server.running or server.hung,
        ),
    ),
    verb(
        "unhang",
        lambda world, item: service.unhang(world, item.args[0]),
        pointless=reject_server_if(say("the instance does not hang"), lambda server: not server.hung),
    ),
    verb(
        "pull-cable",
        lambda world, item: service.set_cables(world, item.args[0], plugged=False),
        pointless=reject_computer_if(say("the cables are unplugged"), lambda computer: not computer.nic_up),
    ),
    verb(
        "plug-cable",
        lambda world, item: service.set_cables(world, item.args[0], plugged=True),
        pointless=reject_computer_if(say("the cables are plugged in"), lambda computer: computer.nic_up),
    ),
)
