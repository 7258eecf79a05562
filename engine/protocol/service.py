"""Power, operating system and SQL Server service: the stop and start of an instance."""

from typing import Final

from engine.constants import RECOVERY_AT_START_S, SHUTDOWN_AFTER_SERVICE_S, STOP_SERVICE_MIN_S
from engine.events import ServiceData
from engine.flow.failover_times import FailoverCause, draw_closing_s
from engine.localization import build_message
from engine.model import DbState, Service, World, to_ticks
from engine.protocol import disks, errorlog, group_policies, network, recovery, startup, streams

SERVICE_START_TEXT: Final = build_message("SQL Server is starting")
"""Text of the event that reports the start of a service."""


def _emit_announcement(world: World, server: str, text: str) -> None:
    world.emit(ServiceData(), text, server=server)


POWER_CHECK_INTERVAL_S: Final = 1.0
"""Interval at which a person checks whether a computer is off, in order to power it on again. Assumed."""


def power_off(world: World, name: str) -> None:
    """Cut the power of a computer. It writes no log lines and sends no messages to others.

    *name* is the computer or an instance on it.
    """
    world.cancel_calls("computer.on", world.get_computer(name).name)
    _end_power(world, name, build_message("power off"))


def _delay_power_on(world: World, computer: str) -> None:
    world.cancel_calls("computer.on", computer)
    world.call_after(POWER_CHECK_INTERVAL_S, "computer.on", computer)


def _switch_off(world: World, computer: str) -> None:
    """Switch a computer off. A pending power-on is postponed by POWER_CHECK_INTERVAL_S."""
    world.update_computer(computer, powered=False, shutting_down=False)
    if any(name == "computer.on" and args == (computer,) for _, _, name, args in world.timers):
        _delay_power_on(world, computer)


def _end_power(world: World, name: str, text: str) -> None:
    computer = world.get_computer(name).name
    _switch_off(world, computer)
    for server in world.list_instances_on(computer):
        _end_without_checkpoint(world, server)
        world.cancel_calls("service.start", server)
    _emit_announcement(world, name, text)
    for server in world.list_instances_on(computer):
        _drop_process(world, server)
    if not world.list_instances_on(computer):
        network.schedule_detections(world)


def power_on(world: World, name: str) -> None:
    """Boot the computer, if necessary after a shutdown in progress. Its instances start with it."""
    computer = world.get_computer(name)
    local = [
        server for server in world.list_instances_on(computer.name) if not world.instances[server].clustered
    ]
    if computer.shutting_down:
        _delay_power_on(world, computer.name)
    if computer.powered:
        return
    world.update_computer(computer.name, powered=True)
    _emit_announcement(world, name, build_message("powered on; Windows is booting"))
    boot = to_ticks(world.settings.boot_s)
    for server in local:
        world.update_instance(server, service=Service.STOPPED)
        world.call_at(world.tick + boot, "service.start", server, world.instances[server].started_tick)


def shut_down(world: World, name: str) -> None:
    """Shut down the operating system of a computer. Its services stop, and then it is powered off."""
    computer = world.get_computer(name).name
    running = [server for server in world.list_instances_on(computer) if world.instances[server].running]
    clustered = [world.instances[server].clustered for server in running]
    if (
        any(clustered) or not running
    ):  # on a cluster node, the cluster service leaves and takes its instances offline
        world.update_computer(computer, shutting_down=True)
        world.call_after(SHUTDOWN_AFTER_SERVICE_S, "computer.off", computer)
    for server in running:
        if world.instances[server].clustered:
            continue
        begin_service_stop(world, server, FailoverCause.SHUTDOWN_SERVER, "power-off", ((17147, ()),))


def _end_without_checkpoint(world: World, server: str) -> None:
    instance = world.instances[server]
    crashed_tick = world.tick if instance.service is not Service.STOPPED else instance.crashed_tick
    world.update_instance(
        server, service=Service.STOPPED, hung=False, start_wanted=False, crashed_tick=crashed_tick
    )


def kill_process(world: World, server: str) -> None:
    """End the process of an instance immediately, without messages."""
    _end_without_checkpoint(world, server)
    _emit_announcement(world, server, build_message("SQL Server has stopped"))
    _drop_process(world, server)


def begin_service_stop(
    world: World,
    server: str,
    cause: FailoverCause,
    next_action: str = "",
    lines: tuple[tuple[int, tuple[str, ...]], ...] = (),
) -> None:
    """Begin to stop the service. Its databases close, and the process ends after their pages are written.

    *next_action* is "restart", "power-off" or empty. *lines* are written into the ERRORLOG first.
    """
    if world.instances[server].service is not Service.RUNNING:
        return
    for number, args in lines:
        errorlog.write_message(world, server, number, *args)
    close_s = STOP_SERVICE_MIN_S
    for source, owner in sorted(world.sources.items()):
        if owner[0] == server and world.copies[owner].group_kind:
            stream = world.flow.list_source_streams(source)[0]
            close_s = max(close_s, draw_closing_s(world.flow, stream, cause, world.chance))
    world.update_computer(world.get_computer_of(server).name, shutting_down=next_action == "power-off")
    world.update_instance(server, service=Service.STOPPING, hung=False, start_wanted=next_action == "restart")
    if cause is FailoverCause.NOWAIT:
        world.update_instance(server, crashed_tick=world.tick)
    _emit_announcement(world, server, build_message("SQL Server is stopping"))
    for copy in world.copies.values():
        if copy.server == server:
            world.mark_log_changed(copy)
    world.call_after(close_s, "service.stopped", server, world.instances[server].started_tick, next_action)
    network.schedule_detections(world)


def complete_service_stop(world: World, server: str, started_tick: int, next_action: str) -> None:
    """End the process of a stopping service and run *next_action* (timer handler)."""
    state = world.instances[server]
    if state.service is not Service.STOPPING or state.started_tick != started_tick:
        return
    world.update_instance(server, service=Service.STOPPED)
    _emit_announcement(world, server, build_message("SQL Server has stopped"))
    _drop_process(world, server)
    if next_action == "power-off":
        world.call_after(SHUTDOWN_AFTER_SERVICE_S, "service.off", server, started_tick)
    elif world.instances[server].start_wanted:
        start_service(world, server)


def on_shutdown_done(world: World, server: str, started_tick: int) -> None:
    """Power off a computer whose operating system has shut down (timer handler)."""
    state = world.instances[server]
    if state.service is Service.STOPPED and state.started_tick == started_tick:
        _switch_off(world, state.computer)
        world.update_instance(server, start_wanted=False)
        _emit_announcement(world, server, build_message("the server is shut down"))
        network.schedule_detections(world)


def on_computer_off(world: World, computer: str) -> None:
    """Power off a computer without instances of its own after its shutdown (timer handler)."""
    if world.computers[computer].shutting_down:
        _end_power(world, computer, build_message("the server is shut down"))


def is_boot_pending(world: World, server: str) -> bool:
    """Return whether the server's computer is booting and will start the service."""
    return any(name == "service.start" and args[0] == server for _, _, name, args in world.timers)


def start_service(world: World, server: str, started_tick: int | None = None) -> None:
    """Start the service, unless its computer is off or booting.

    *started_tick*: start time of this boot. Only the timer at the end of booting passes it.
    """
    state, computer = world.instances[server], world.get_computer_of(server)
    if state.service is Service.STOPPING and not computer.shutting_down:
        world.update_instance(server, start_wanted=True)
    if not computer.powered or state.service is not Service.STOPPED or computer.shutting_down:
        return
    if is_boot_pending(world, server) if started_tick is None else started_tick != state.started_tick:
        return
    world.update_instance(server, service=Service.STARTING, start_wanted=False)
    _emit_announcement(world, server, SERVICE_START_TEXT)
    world.call_after(world.settings.restart_service_s, "service.started", server)


def on_service_started(world: World, server: str) -> None:
    """Complete the start of an instance: its endpoint listens and its databases recover (timer handler)."""
    state = world.instances[server]
    if state.service is not Service.STARTING or not world.get_computer_of(server).powered:
        return
    world.update_instance(
        server,
        service=Service.RUNNING,
        started_tick=world.tick,
        tcp_listening=state.tcp_enabled,
        sessions_stopped=state.sessions_manual,
        sessions_started=(),
        refused=(),
    )
    _emit_announcement(world, server, build_message("SQL Server is running"))
    startup.write_first_lines(world, server)
    recovery_s = RECOVERY_AT_START_S
    for key, copy in sorted(world.copies.items()):
        if key[0] != server:
            continue
        if (
            copy.group_kind != "availability"
        ):  # in an AG, the AG starts the database, and message 35262 is written instead
            errorlog.write_message(world, server, 17137, copy.database)
        else:
            group_policies.get_policy(copy).log_startup_state(world, key)
        if copy.source is not None:
            streams.restart_writer(world, copy.source)
        is_plain_restoring = not copy.group_kind and copy.db_state is DbState.RESTORING
        if is_plain_restoring:
            errorlog.write_message(world, server, 3402, copy.database, "RESTORING")
        if (
            copy.db_state in (DbState.OFFLINE, DbState.EMERGENCY)
            or is_plain_restoring
            or not disks.verify_files(world, key)
        ):
            continue
        world.update_copy(key, recovering=True, db_state=DbState.RECOVERING)
        recovery_s = max(recovery_s, recovery.begin_recovery(world, key))
    startup.write_transport_lines(world, server)
    world.call_after(recovery_s, "startup.complete", server, world.tick)
    network.schedule_detections(world)


def hang_instance(world: World, server: str) -> None:
    """Let the instance hang: its process and connections exist, but it does not respond."""
    if world.instances[server].running:
        world.update_instance(server, hung=True)
        _emit_announcement(world, server, build_message("does not respond"))
        network.schedule_detections(world)


def end_instance_hang(world: World, server: str) -> None:
    """End the hang of an instance. It then detects the losses that it has missed."""
    if world.instances[server].hung:
        world.update_instance(server, hung=False)
        _emit_announcement(world, server, build_message("responds again"))
        network.schedule_detections(world, resumed_server=server)


def set_cables_plugged(world: World, server: str, plugged: bool) -> None:
    """Plug in or unplug all network cables of a server."""
    world.update_computer(world.get_computer(server).name, nic_up=plugged)
    _emit_announcement(
        world,
        server,
        build_message("network cables plugged in") if plugged else build_message("network cables unplugged"),
    )
    network.schedule_detections(world)


def _drop_process(world: World, server: str) -> None:
    """Remove the process with its connections, unwritten log and knowledge of other servers."""
    network.close_server_connections(world, server)
    instance = world.instances[server]
    for key, copy in list(world.copies.items()):
        if key[0] != server:
            continue
        recovery.record_recovery_log(world, key, crashed=instance.crashed_tick >= instance.started_tick)
        if copy.source is not None:
            streams.crash_writer(world, copy.source)
        policy = group_policies.get_policy(copy)
        policy.cancel_failover(world, key, build_message("{server} failed", server=server))
        policy.on_instance_lost(world, key)
        world.update_copy(
            key,
            backup_from_kb=None,
            active_from_kb=None,
            window_transactions=(),
            operation=None,
            recovering=copy.recovering or bool(copy.group_kind),
        )
    streams.update_flow(world)
    network.schedule_detections(world)


def on_recovered(world: World, server: str, database: str, started_tick: int) -> None:
    """Finish the recovery of a database after the instance start at *started_tick* (timer handler)."""
    key = (server, database)
    copy, state = world.copies.get(key), world.instances[server]
    if copy is None or not copy.recovering or state.started_tick != started_tick or not state.running:
        return
    if state.hung:  # the recovery continues after the hang
        world.call_after(RECOVERY_AT_START_S, "database.recovered", server, database, started_tick)
        return
    recovery.end_recovery(world, key)
    if group_policies.get_policy(copy).on_recovered(world, key):
        return
    world.update_copy(key, recovering=False)
    if copy.db_state is DbState.RECOVERING:
        world.update_copy(key, db_state=DbState.ONLINE)
        if copy.source is None:
            streams.add_source(world, key, copy.end_of_log_kb)
