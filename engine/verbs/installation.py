"""Verbs for the installation of SQL Server: its version and service account."""

from typing import Final

from engine.constants import EDITIONS, SERVICE_PACK_S, VERSION_UPGRADE_S, VERSIONS
from engine.events import ChoreData
from engine.inputs import Input, InputError
from engine.localization import build_message, mark
from engine.model import Fault, Service, World
from engine.protocol import options, service
from engine.verbs.servers import stop_service
from engine.verbs.verb import SERVER, VerbParameter, build_verb


def _set_account(world: World, input_: Input) -> None:
    """Change the service account and restart the service, as SQL Server Configuration Manager does."""
    server, account = input_.args[0], input_.args[1].strip()
    world.update_instance(server, service_account=account)
    world.emit(
        ChoreData(),
        build_message("SQL Server now runs as {name}; the service restarts", name=account),
        server=server,
    )
    if world.instances[server].service is Service.RUNNING:
        _stop_service(world, server, "restart")


def _stop_service(world: World, server: str, next_action: str) -> None:
    """Stop the service, and record the stop as a fault, so that a failover has a cause.

    *next_action*: as in `service.begin_service_stop`.
    """
    world.faults.append(
        Fault(
            id=world.next_id(),
            verb="restart-service",
            args=(server,),
            asked_tick=world.tick,
            active_tick=world.tick,
        )
    )
    stop_service(world, server, next_action)


def _upgrade_instance(world: World, input_: Input) -> None:
    """Upgrade the instance, which is down during the installation.

    For the same version, install a service pack.
    """
    server = input_.args[0]
    state = world.instances[server]
    version = int(input_.args[1])
    edition = input_.args[2] if input_.args[2:] else state.edition
    if version < state.version:
        raise InputError(
            build_message(
                "{server} has version {version}; a downgrade to {name} is not possible",
                server=server,
                version=state.version,
                name=version,
            )
        )
    if not world.computers[state.computer].powered or state.service in (Service.STARTING, Service.STOPPING):
        raise InputError(
            build_message("{server} cannot be upgraded while it is off, starting or stopping", server=server)
        )
    is_same = (version, edition) == (state.version, state.edition)
    seconds = SERVICE_PACK_S if is_same else VERSION_UPGRADE_S
    if is_same:
        text = build_message("installing a service pack, about {time_min:.0f} min", time_min=seconds / 60)
    else:
        text = build_message(
            "upgrading to SQL Server {name}, about {time_min:.0f} min",
            name=f"{version} {edition}",
            time_min=seconds / 60,
        )
    world.emit(ChoreData(), text, server=server)
    if state.service is Service.RUNNING:
        _stop_service(world, server, "")
    world.call_after(seconds, "chore.upgraded", server, version, edition)


def _on_upgrade_done(world: World, server: str, version: int, edition: str) -> None:
    """Timer handler: complete the installation and start the service, unless another action has interfered."""
    state = world.instances[server]
    if not world.computers[state.computer].powered or state.service is not Service.STOPPED:
        text = build_message("the upgrade failed: the server was powered off or the service started")
        world.emit(ChoreData(failed=True), text, server=server)
        return
    options.update_levels_after_upgrade(world, server, version)
    world.update_instance(server, version=version, edition=edition, installs=state.installs + 1)
    world.emit(
        ChoreData(),
        build_message("SQL Server {name} is installed", name=f"{version} {edition}"),
        server=server,
    )
    service.start_service(world, server)


VERBS: Final = (
    build_verb(
        "set-service-account", _set_account, parameters=(SERVER, VerbParameter(mark("account"), "rest"))
    ),
    build_verb(
        "upgrade",
        _upgrade_instance,
        parameters=(
            SERVER,
            VerbParameter(mark("version"), choices=tuple(map(str, VERSIONS))),
            VerbParameter(mark("edition"), optional=True, choices=EDITIONS),
        ),
        timers={"chore.upgraded": _on_upgrade_done},
    ),
)
