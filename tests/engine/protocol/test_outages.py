"""Effects of an outage, and the time until other servers and clients detect it."""

from __future__ import annotations

from engine.model import Safety, Service
from engine.protocol import errorlog, service, startup, streams
from tests.engine.worlds import DB, PRINCIPAL, M, P, apply_lines, build_lab, format_events


def test_unwritten_log_is_lost_with_the_power() -> None:
    world = build_lab(witness=False, safety=Safety.OFF)
    apply_lines(world, f"black-hole {P} {M}", wait_s=1.0)
    apply_lines(world, f"power-off {P}", wait_s=1.0)
    principal = world.copies[PRINCIPAL]
    assert streams.get_redone_kb(world, principal) == streams.get_end_of_log_kb(world, principal)


def test_a_client_waits_for_a_hung_server_before_giving_up() -> None:
    world = build_lab(witness=False)
    events = apply_lines(world, f"hang {P}", wait_s=12.0)
    assert format_events(events, "client") == []
    assert format_events(apply_lines(world, "note still hung", wait_s=20.0), "client")


def test_a_server_powers_off_soon_after_its_service_stopped() -> None:
    events = apply_lines(build_lab(witness=False), f"shutdown-server {P}", wait_s=120.0)
    times_s = {event.text: event.t_s for event in events if event.kind == "service" and event.server == P}
    assert 0.0 < times_s["the server is shut down"] - times_s["SQL Server has stopped"] < 15.0


def test_servers_running_from_the_start_know_their_copies() -> None:
    world = build_lab(witness=False)
    startup.log_clean_startups(world)
    numbers = {server: {line[1] for line in errorlog.list_logs(world, server)[0]} for server in (P, M)}
    assert numbers[P] & {1440, 1441, 1444} == {1440}
    assert numbers[M] & {1440, 1441, 1444} == {1441, 1444}


def test_a_server_that_loses_power_during_boot_boots_again() -> None:
    world = build_lab()
    apply_lines(world, f"power-off {P}")
    apply_lines(world, f"power-on {P}", wait_s=10.0)
    apply_lines(world, f"power-off {P}", wait_s=40.0)
    apply_lines(world, f"power-on {P}", wait_s=59.0)
    service.start_service(world, P)
    assert world.instances[P].service is Service.STOPPED, "nobody can start it before"
    apply_lines(world, wait_s=10.0)
    assert world.instances[P].service is Service.RUNNING


def test_an_instance_that_freezes_while_it_recovers_finishes_when_it_continues() -> None:
    world = build_lab(workload="none")
    apply_lines(world, f"restart-service {M}", wait_s=0.1)
    while not world.instances[M].running:
        apply_lines(world, wait_s=0.1)
    apply_lines(world, f"hang {M}", wait_s=60)
    before = len(world.errorlog[M])
    assert not any(line[1] == 3408 for line in list(world.errorlog[M])[-3:])
    apply_lines(world, f"unhang {M}", wait_s=20)
    assert any(line[1] == 3408 for line in list(world.errorlog[M])[before:])
    assert not world.copies[M, DB].recovering
