"""Faults that slow, fill or starve an instance, as its own views and counters report them."""

from __future__ import annotations

from engine.drill.authoring.condition_context import ConditionContext, is_safety_level
from engine.drill.authoring.scenario import load_scenario
from engine.drill.running.world_builder import build_world
from engine.model import World
from engine.protocol import connections
from tests.engine.drill import texts
from tests.engine.worlds import DB, PRINCIPAL, M, P, apply_lines, build_lab
from tests.events import read_field


def query_rows(world: World, server: str, sql: str) -> list[list[object]]:
    """Return the rows of the last result set."""
    done_events = [
        event for event in apply_lines(world, f"sql {server} {sql}", wait_s=0.0) if event.kind == "sql_done"
    ]
    return read_field(done_events[-1], "results")[-1]["rows"]


def read_counter(world: World, server: str, name: str) -> int:
    sql = f"SELECT cntr_value FROM sys.dm_os_performance_counters WHERE instance_name='{DB}' AND counter_name='{name}'"
    value = query_rows(world, server, sql)[0][0]
    assert isinstance(value, int)
    return value


def test_a_slow_data_disk_grows_the_redo_queue_until_repaired() -> None:
    world = build_lab()
    apply_lines(world, f"slow-disk {M} data factor=10", wait_s=60.0)
    grown = read_counter(world, M, "Redo Queue KB")
    assert grown > 5_000
    apply_lines(world, f"slow-disk {M} data factor=1", wait_s=30.0)
    assert read_counter(world, M, "Redo Queue KB") < grown / 10


def test_an_open_transaction_holds_the_log_until_it_ends() -> None:
    reason = f"SELECT log_reuse_wait_desc FROM sys.databases WHERE name='{DB}'"
    for end in ("ROLLBACK", "COMMIT", None):
        world = build_lab()
        apply_lines(world, f"sql {P}#2 USE {DB}\n    BEGIN TRAN", wait_s=1.0)
        apply_lines(world, f"sql {P} BACKUP LOG {DB} TO DISK='D:\\Backup\\a.trn'", wait_s=200.0)
        apply_lines(world, f"sql {P} BACKUP LOG {DB} TO DISK='D:\\Backup\\b.trn'", wait_s=5.0)
        assert query_rows(world, P, reason) == [["ACTIVE_TRANSACTION"]]
        if end is None:
            apply_lines(world, f"restart-service {P}", wait_s=60.0)
        else:
            apply_lines(world, f"sql {P}#2 {end}", wait_s=0.1)
        assert all(not copy.window_transactions for copy in world.copies.values())


def test_the_log_flush_counter_never_decreases() -> None:
    world = build_lab()
    flush_rates = []
    for line in ("note calm", f"workload {DB} Workload2", f"workload {DB} none", f"workload {DB} Workload1"):
        apply_lines(world, line, wait_s=20.0)
        flush_rates.append(read_counter(world, P, "Log Flushes/sec"))
    assert flush_rates == sorted(flush_rates)
    assert flush_rates[0] > 1_000


def test_few_worker_threads_show_as_threadpool_waits() -> None:
    waits = "SELECT wait_time_ms FROM sys.dm_os_wait_stats WHERE wait_type='THREADPOOL'"
    world = build_lab()
    apply_lines(world, wait_s=10.0)
    before = query_rows(world, P, waits)[0][0]
    apply_lines(world, f"sql {P} EXEC sp_configure 'show advanced options', 1; RECONFIGURE", wait_s=0.1)
    apply_lines(world, f"sql {P} EXEC sp_configure 'max worker threads', 128; RECONFIGURE", wait_s=0.1)
    apply_lines(world, f"workload {DB} Workload1 scale=20", wait_s=30.0)
    assert before == 0
    wait_after = query_rows(world, P, waits)[0][0]
    assert isinstance(wait_after, int)
    assert wait_after > 1_000


def test_fill_log_takes_effect_and_ends_with_free_space() -> None:
    world = build_lab()
    apply_lines(world, f"sql {P} ALTER DATABASE {DB} SET PARTNER SUSPEND", wait_s=5.0)
    apply_lines(world, f"fill-log {DB}", wait_s=5.0)
    (fault,) = world.faults
    assert world.copies[PRINCIPAL].log_full
    assert fault.effective_tick is not None
    assert "full" in fault.effect
    apply_lines(world, f"sql {P} ALTER DATABASE {DB} SET PARTNER RESUME", wait_s=900.0)
    apply_lines(world, f"sql {P} BACKUP LOG {DB} TO DISK='D:\\Backup\\a.trn'", wait_s=600.0)
    assert not world.copies[PRINCIPAL].log_full
    assert world.faults[0].reverted_tick is not None


def test_without_a_session_safety_is_none() -> None:
    world = build_lab()
    apply_lines(world, f"sql {P} ALTER DATABASE {DB} SET PARTNER OFF", wait_s=5.0)
    assert is_safety_level(ConditionContext(world, []), DB, "NONE")
    assert not is_safety_level(ConditionContext(world, []), DB, "FULL")


def test_session_ids_of_applications_end_at_the_documented_maximum() -> None:
    """If an instance has more connections than IDs, the last connections have no ID, and KILL cannot end
    them.
    """
    busy = texts.change_text(
        ('workload = "Workload1"', 'workload = "Workload1"\nscale = 1000.0'), text=texts.FREE_PLAY_TEXT
    )
    world = build_world(load_scenario(busy, "busy.toml"), 1)
    assert connections.count_connections(world, P) > 32_767
    assert max(connection.spid for connection in connections.list_connections(world, P)) == 32_767
    assert not connections.kill_connection(world, P, 32_768)
    assert connections.kill_connection(world, P, 32_767)
