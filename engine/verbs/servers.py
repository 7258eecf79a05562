"""Verbs for power, service, hangs and network cables of a server."""

from typing import Final

from engine.flow.failover_times import FailoverCause
from engine.inputs import Input
from engine.localization import build_message
from engine.model import Service, World
from engine.protocol import service
from engine.verbs.verb import build_computer_objection, build_server_objection, build_verb


def stop_service(world: World, server: str, next_action: str = "") -> None:
    """Stop the service as the service control manager does.

    *next_action*: as in `service.begin_service_stop`.
    """
    service.begin_service_stop(world, server, FailoverCause.STOP_SERVICE, next_action, ((17148, ()),))


def _find_start_objection(world: World, input_: Input) -> str:
    (server,) = input_.args
    is_up = world.instances[server].service in (Service.RUNNING, Service.STARTING)
    if is_up or not world.get_computer_of(server).powered:
        return build_message("the server is off, or the service is already running")
    return (
        build_message("the server is booting and then starts the service")
        if service.is_boot_pending(world, server)
        else ""
    )


VERBS: Final = (
    build_verb(
        "power-off",
        lambda world, item: service.power_off(world, item.args[0]),
        pointless=build_computer_objection(
            build_message("the server is off"), lambda computer: not computer.powered
        ),
    ),
    build_verb(
        "power-on",
        lambda world, item: service.power_on(world, item.args[0]),
        pointless=build_computer_objection(
            build_message("the server is on"),
            lambda computer: computer.powered and not computer.shutting_down,
        ),
    ),
    build_verb(
        "shutdown-server",
        lambda world, item: service.shut_down(world, item.args[0]),
        pointless=build_computer_objection(
            build_message("the server is off"),
            lambda computer: not computer.powered or computer.shutting_down,
        ),
    ),
    build_verb(
        "stop-service",
        lambda world, item: stop_service(world, item.args[0]),
        pointless=build_server_objection(
            build_message("the service is not running"), lambda server: not server.running
        ),
    ),
    build_verb(
        "start-service",
        lambda world, item: service.start_service(world, item.args[0]),
        pointless=_find_start_objection,
    ),
    build_verb(
        "restart-service",
        lambda world, item: stop_service(world, item.args[0], "restart"),
        pointless=build_server_objection(
            build_message("the service is not running"), lambda server: not server.running
        ),
    ),
    build_verb(
        "hang",
        lambda world, item: service.hang_instance(world, item.args[0]),
        pointless=build_server_objection(
            build_message("the instance is not running, or already hangs"),
            lambda server: not server.running or server.hung,
        ),
    ),
    build_verb(
        "unhang",
        lambda world, item: service.end_instance_hang(world, item.args[0]),
        pointless=build_server_objection(
            build_message("the instance does not hang"), lambda server: not server.hung
        ),
    ),
    build_verb(
        "pull-cable",
        lambda world, item: service.set_cables_plugged(world, item.args[0], plugged=False),
        pointless=build_computer_objection(
            build_message("the cables are unplugged"), lambda computer: not computer.nic_up
        ),
    ),
    build_verb(
        "plug-cable",
        lambda world, item: service.set_cables_plugged(world, item.args[0], plugged=True),
        pointless=build_computer_objection(
            build_message("the cables are plugged in"), lambda computer: computer.nic_up
        ),
    ),
)
