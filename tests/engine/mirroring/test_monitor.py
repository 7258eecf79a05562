"""Database Mirroring Monitor: rows of the job, outdated rows, retention, thresholds and alerts."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from engine import simulator
from engine.mirroring import commands, monitor
from engine.mirroring.monitor import MonitorRow, MonitorRows
from engine.model import Job, MirrorState, Role, Safety, WitnessState, World
from engine.protocol import jobs
from tests.engine.protocol.setups import DB, MIRROR, PRINCIPAL, M, P, W, get_refusal_number, settle_and_run
from tests.engine.worlds import apply_lines, build_lab
from tests.events import read_field


def build_monitored_world(**changes: object) -> World:
    world = build_lab(witness=False)
    for server in (P, M):
        monitor.add_monitoring(world, server)
    return world


def test_the_monitor_job_writes_a_row_per_minute_on_each_partner() -> None:
    world = build_monitored_world()
    settle_and_run(world, 300.5)
    for key, role in ((PRINCIPAL, Role.PRINCIPAL), (MIRROR, Role.MIRROR)):
        rows = monitor.get_rows(world, key)
        assert [row.tick for row in rows] == [6000, 12000, 18000, 24000, 30000]
        assert {row.role for row in rows} == {role}
    principal_row, theirs = monitor.get_rows(world, PRINCIPAL)[-1], monitor.get_rows(world, MIRROR)[-1]
    assert principal_row.log_rate_kb_per_s == pytest.approx(713, rel=0.02)
    assert principal_row.average_delay_ms == pytest.approx(46, rel=0.1)
    assert principal_row.transaction_delay_ms == pytest.approx(
        principal_row.average_delay_ms * principal_row.transactions_per_s
    )
    assert theirs.restore_rate_kb_per_s == pytest.approx(713, rel=0.02)
    assert (principal_row.unrestored_kb, theirs.unsent_kb, theirs.log_rate_kb_per_s) == (0.0, 0.0, 0.0), (
        "each its own side"
    )


def test_rows_are_stale_while_the_agent_is_stopped_and_an_update_refreshes_them() -> None:
    world = build_monitored_world()
    settle_and_run(world, 61.0)
    apply_lines(world, f"stop-agent {P}", wait_s=300.0)
    commands.suspend_session(world, P, DB)
    (stale,) = monitor.list_monitor_results(world, P, DB)
    assert (stale.tick, stale.state) == (6000, MirrorState.SYNCHRONIZED)
    monitor.update_monitor(world, P)
    assert monitor.list_monitor_results(world, P, DB)[0].state is MirrorState.SUSPENDED
    apply_lines(world, f"start-agent {P}", wait_s=61.0)
    assert len(monitor.get_rows(world, PRINCIPAL)) == 3


def test_an_update_on_read_happens_at_most_every_15_s() -> None:
    world = build_monitored_world()
    settle_and_run(world, 61.0)
    assert monitor.list_monitor_results(world, P, DB, 0, update_table=True)[0].tick == 6000
    settle_and_run(world, 15.0)
    assert monitor.list_monitor_results(world, P, DB, 0, update_table=True)[0].tick == world.tick


@pytest.mark.parametrize(("mode", "hours"), [(1, 2), (2, 4), (3, 8), (4, 24), (5, 48)])
def test_a_mode_shows_the_rows_of_its_hours(mode: int, hours: int) -> None:
    world = build_monitored_world()
    settle_and_run(world, 60.5)
    row, rows = monitor.get_rows(world, PRINCIPAL)[-1], MonitorRows()
    for age_min in range(60 * 60 - 30, 0, -60):  # at half past each of the last 60 hours
        tick = world.tick - age_min * 60 * 100
        rows = rows.with_row(replace(row, tick=tick), tick - 10**9)
    world.monitor[PRINCIPAL] = rows
    assert len(monitor.list_monitor_results(world, P, DB, mode)) == hours


def test_every_mode_returns_its_rows() -> None:
    world = build_monitored_world()
    for server in (P,):
        monitor.change_monitoring(world, server, 1, 10)
    settle_and_run(world, 3 * 3600.0)
    count = {mode: len(monitor.list_monitor_results(world, P, DB, mode)) for mode in (0, 1, 2, 6, 9)}
    assert count == {0: 1, 1: 13, 2: 18, 6: 18, 9: 18}
    newest = monitor.list_monitor_results(world, P, DB, 1)
    assert newest[0].tick > newest[-1].tick
    assert get_refusal_number(monitor.list_monitor_results, world, P, DB, 10) == 32036


def test_old_rows_are_deleted_after_the_retention_period() -> None:
    world = build_monitored_world()
    monitor.change_alert(world, P, DB, monitor.RETENTION_ALERT, 1)
    settle_and_run(world, 2 * 3600.0)
    rows = monitor.get_rows(world, PRINCIPAL)
    assert world.tick - rows[0].tick <= 3600 * 100
    assert len(rows) == 61
    assert len(monitor.get_rows(world, MIRROR)) == 120


def test_time_behind_is_the_age_of_the_oldest_unsent_log() -> None:
    world = build_monitored_world()
    settle_and_run(world, 150.0)
    commands.suspend_session(world, P, DB)
    settle_and_run(world, 600.0)
    row = monitor.record_row(world, world.copies[PRINCIPAL])
    assert row.unsent_kb == pytest.approx(600 * 720, rel=0.02)
    assert row.time_behind_tick / 100 == pytest.approx(150.0, abs=2.0)


# --- thresholds ------------------------------------------------------------------------------------


def test_thresholds_raise_events_on_their_server() -> None:
    world = build_monitored_world()
    for server in (P, M):
        monitor.change_alert(world, server, DB, 1, 2)
        monitor.change_alert(world, server, DB, 2, 50_000)
        monitor.change_alert(world, server, DB, 3, 10)
        monitor.change_alert(world, server, DB, 4, 20)
    commands.suspend_session(world, P, DB)
    events = settle_and_run(world, 240.0)
    alerts = [(e.t_s, e.server, read_field(e, "number")) for e in events if e.kind == "alert"]
    # while suspended, commits do not wait for the mirror; 50,000 KB are reached after 70 s, the second alert
    # after two minutes
    assert alerts == [
        (120.0, P, 32042),
        (180.0, P, 32040),
        (180.0, P, 32042),
        (240.0, P, 32040),
        (240.0, P, 32042),
    ]
    logged = [e for e in events if e.kind == "errorlog" and read_field(e, "number") == 32042]
    assert logged[0].text.startswith("The alert for 'unsent log' has been raised. The current value of '8")


def test_an_overloaded_mirror_has_log_to_restore() -> None:
    world = build_monitored_world()
    monitor.change_alert(world, M, DB, 3, 1000)
    assert not [e for e in settle_and_run(world, 61.0) if e.kind == "alert"]
    events = apply_lines(world, f"slow-cpu {M} factor=60", wait_s=120.0)
    assert {(e.server, read_field(e, "number")) for e in events if e.kind == "alert"} == {(M, 32043)}


def test_commit_overhead_is_measured_under_safety_full_only() -> None:
    world = build_monitored_world()
    monitor.change_alert(world, P, DB, 4, 20)
    assert 32044 in [read_field(e, "number") for e in settle_and_run(world, 61.0) if e.kind == "alert"]
    commands.set_safety(world, P, DB, "OFF")
    assert world.copies[PRINCIPAL].mirroring.safety is Safety.OFF
    assert not [e for e in settle_and_run(world, 61.0) if e.kind == "alert"]


def test_a_failover_silences_thresholds_set_on_one_server() -> None:
    world = build_lab()
    for server in (P, M):
        monitor.add_monitoring(world, server)
    monitor.change_alert(world, P, DB, 2, 1000)
    apply_lines(world, f"power-off {P}", wait_s=30.0)
    assert world.copies[MIRROR].mirroring.role is Role.PRINCIPAL
    assert not [e for e in settle_and_run(world, 300.0) if e.kind == "alert"]
    assert monitor.get_rows(world, MIRROR)[-1].unsent_kb > 100_000
    monitor.change_alert(world, M, DB, 2, 1000)
    assert [e for e in settle_and_run(world, 61.0) if e.kind == "alert"]


def test_thresholds_are_changed_listed_and_dropped() -> None:
    world = build_lab()
    for alert_id, value in ((2, 10.0), (1, 30.0), (2, 20.0)):
        monitor.change_alert(world, P, DB, alert_id, value)
    assert [(a.alert_id, a.threshold) for a in monitor.list_alerts(world, P, DB)] == [(1, 30.0), (2, 20.0)]
    monitor.change_alert(world, P, DB, 2, 20.0, enabled=False)
    assert [a.enabled for a in monitor.list_alerts(world, P, DB, 2)] == [False]
    monitor.drop_alert(world, P, DB, 1)
    assert [a.alert_id for a in monitor.list_alerts(world, P, DB)] == [2]
    monitor.drop_alert(world, P, DB)
    assert monitor.list_alerts(world, P, DB) == []
    assert monitor.list_alerts(world, M, DB) == []


# --- monitor job and refused calls -----------------------------------------------------------------


def test_the_monitor_job_is_an_agent_job() -> None:
    world = build_monitored_world()
    assert monitor.get_update_period(world, P) == 1
    settle_and_run(world, 61.0)
    apply_lines(world, f"disable-jobs {P} Database Mirroring Monitor Job", wait_s=300.0)
    assert len(monitor.get_rows(world, PRINCIPAL)) == 1
    apply_lines(world, f"enable-jobs {P}", wait_s=61.0)
    assert len(monitor.get_rows(world, PRINCIPAL)) == 2
    monitor.drop_monitoring(world, P)
    settle_and_run(world, 300.0)
    assert len(monitor.get_rows(world, PRINCIPAL)) == 2
    monitor.add_monitoring(world, P, 2)
    settle_and_run(world, 241.0)
    assert len(monitor.get_rows(world, PRINCIPAL)) == 4, "one timer, not two"


def test_a_world_can_start_with_the_monitor_job() -> None:
    world = build_lab()
    job = Job(name=monitor.JOB_NAME, action=jobs.MONITOR, every_s=60.0)
    world.update_instance(P, jobs=(job,))
    simulator.start_timers(world)
    settle_and_run(world, 61.0)
    assert len(monitor.get_rows(world, PRINCIPAL)) == 1


REFUSED_CALLS = [
    (monitor.add_monitoring, (W, 0), 32032),
    (monitor.add_monitoring, (W, 121), 32032),
    (monitor.add_monitoring, (P, 1), 32033),
    (monitor.change_monitoring, (P, 2, 5), 32036),
    (monitor.change_monitoring, (P, 1, 121), 32032),
    (monitor.change_monitoring, (W, 1, 5), 32049),
    (monitor.drop_monitoring, (W,), 32049),
    (monitor.get_update_period, (W,), 32049),
    (monitor.update_monitor, (P, "Nothing"), 32039),
    (monitor.update_monitor, (P, "msdb"), 32050),
    (monitor.list_monitor_results, (P, DB), 32041),
    (monitor.change_alert, (P, DB, 6, 1.0), 32036),
    (monitor.change_alert, (P, DB, 1, -1.0), 32036),
    (monitor.change_alert, (P, "Nothing", 1, 1.0), 32039),
]


@pytest.mark.parametrize(("function", "args", "number"), REFUSED_CALLS)
def test_invalid_calls_are_refused(
    function: Callable[..., object], args: tuple[object, ...], number: int
) -> None:
    world = build_lab()
    monitor.add_monitoring(world, P)
    assert get_refusal_number(function, world, *args) == number


def test_an_unmirrored_database_has_no_rows() -> None:
    world = build_monitored_world()
    commands.remove_session(world, P, DB)
    assert get_refusal_number(monitor.list_monitor_results, world, P, DB) == 32039
    settle_and_run(world, 61.0)
    assert not monitor.get_rows(world, PRINCIPAL)


def test_rows_belong_to_the_fork() -> None:
    world = build_monitored_world()
    settle_and_run(world, 61.0)
    fork = world.fork()
    settle_and_run(fork, 60.0)
    assert len(monitor.get_rows(world, PRINCIPAL)) == 1
    assert replace(world.settings) == fork.settings


def test_the_time_behind_is_never_longer_than_the_run() -> None:
    """At a very low log rate, backlog divided by rate gives a time before the start of the run."""
    row = MonitorRow(
        tick=6_000,
        role=Role.PRINCIPAL,
        state=MirrorState.SUSPENDED,
        witness_state=WitnessState.UNKNOWN,
        unsent_kb=5.0,
        log_rate_kb_per_s=1e-300,
    )
    assert monitor._find_oldest_unsent_time(row, MonitorRows()) == row.tick
