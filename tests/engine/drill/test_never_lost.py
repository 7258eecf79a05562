"""Report, review and readings of runs that create, restore, rename, drop or damage objects."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings, strategies

from engine.drill.judging import report
from engine.drill.judging.review import review_run
from engine.drill.running.drill import Drill
from engine.inputs import InputError
from engine.mirroring import preconditions
from tests.engine.drill.texts import FREE_PLAY_TEXT, advance_drill, build_drill

DATABASE_NAMES = ("Sales", "NewDb", "sales_copy", "SALES")
BACKUP_PATH = r"\\SERVER_B\Backup\s.bak"
STATEMENTS = (
    "CREATE DATABASE {d}",
    "DROP DATABASE {d}",
    "ALTER DATABASE {d} MODIFY NAME = {e}",
    "EXEC sp_renamedb '{d}', '{e}'",
    "EXEC sp_detach_db '{d}'",
    r"CREATE DATABASE {d} ON (FILENAME = 'D:\Data\{e}.mdf') FOR ATTACH",
    r"EXEC sp_attach_db '{d}', 'D:\Data\{e}.mdf'",
    f"BACKUP DATABASE {{d}} TO DISK = '{BACKUP_PATH}' WITH INIT",
    f"BACKUP LOG {{d}} TO DISK = '{BACKUP_PATH}'",
    r"RESTORE DATABASE {d} FROM DISK = 'D:\Backup\s.bak' WITH NORECOVERY, REPLACE",
    r"RESTORE DATABASE {d} FROM DISK = 'D:\Backup\s.bak'",
    "RESTORE DATABASE {d} WITH RECOVERY",
    "ALTER DATABASE {d} SET PARTNER OFF",
    "ALTER DATABASE {d} SET PARTNER FAILOVER",
    "ALTER DATABASE {d} SET PARTNER FORCE_SERVICE_ALLOW_DATA_LOSS",
    "ALTER DATABASE {d} SET PARTNER = 'TCP://SERVER_A:5022'",
    "ALTER DATABASE {d} SET PARTNER = 'TCP://SERVER_B:5022'",
    "ALTER DATABASE {d} SET OFFLINE",
    "ALTER DATABASE {d} SET RECOVERY SIMPLE",
    "CREATE DATABASE Snap ON (NAME = Sales, FILENAME = 'D:\\s.ss') AS SNAPSHOT OF {d}",
    "SELECT name FROM sys.databases",
)
LINE_TEMPLATES = (
    "power-off {s}", "power-on {s}", "stop-service {s}", "start-service {s}",
    "fail-disk {s} {d}", "mend-disk {s} {d}", "fail-volume {s} D", "mend-volume {s} D",
    "stop-app APP", "start-app APP", "point-app APP {s}", "workload {d} Workload2", "fill-log {d}",
    "open-transaction {d}", "rebuild-index {d}",
)  # fmt: skip


@strategies.composite
def build_actions(draw: strategies.DrawFn) -> str:
    names = {
        "d": draw(strategies.sampled_from(DATABASE_NAMES)),
        "e": draw(strategies.sampled_from(DATABASE_NAMES)),
        "s": draw(strategies.sampled_from(("SERVER_A", "SERVER_B"))),
    }
    line = draw(
        strategies.sampled_from([*(f"sql {{s}} {statement}" for statement in STATEMENTS), *LINE_TEMPLATES])
    )
    return line.format(**names)


def assert_nothing_is_lost(drill: Drill) -> None:
    run_report = drill.build_report()
    assert "failed_parts" not in run_report, run_report.get("failed_parts")
    json.dumps(run_report, allow_nan=False)
    assert set(run_report["availability"]["databases"]) == set(drill.world.availability)
    arrays = report.build_readings_by_database(drill)
    assert all(
        len(array) == len(run_report["readings"]["t_s"])
        for array_group in arrays.values()
        for array in array_group.values()
    )
    review_run(drill).as_json()
    for database in [*drill.world.availability, "Sales"]:
        preconditions.list_preconditions(drill.world, database)


@given(
    strategies.lists(
        strategies.tuples(build_actions(), strategies.sampled_from((0.5, 4.0, 30.0))), max_size=14
    )
)
@settings(max_examples=25, deadline=None)
def test_no_input_loses_the_report(script: list[tuple[str, float]]) -> None:
    drill_run = advance_drill(build_drill(text=FREE_PLAY_TEXT), 5)
    for line, wait_s in script:
        try:
            drill_run.apply_line(line)
        except InputError:
            continue
        advance_drill(drill_run, drill_run.world.t_s + wait_s)
    assert_nothing_is_lost(drill_run)


@pytest.mark.parametrize(
    "statements",
    [
        ("CREATE DATABASE NewDb", "DROP DATABASE NewDb", "CREATE DATABASE NewDb"),
        ("ALTER DATABASE Sales SET PARTNER OFF", "EXEC sp_detach_db 'Sales'"),
        (
            f"BACKUP DATABASE Sales TO DISK = '{BACKUP_PATH}'",
            f"RESTORE DATABASE sales_copy FROM DISK = '{BACKUP_PATH}'",
        ),
    ],
)
def test_databases_of_a_partial_report_are_included(statements: tuple[str, ...]) -> None:
    drill_run = build_drill(text=FREE_PLAY_TEXT)
    drill_run.apply_line("stop-app APP")
    for statement in statements:
        advance_drill(drill_run, drill_run.world.t_s + 20.0)
        drill_run.apply_line(f"sql SERVER_A {statement}")
    assert_nothing_is_lost(advance_drill(drill_run, drill_run.world.t_s + 1500.0))


def test_a_failed_part_of_the_report_is_named_and_affects_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    def raise_key_error(_: Drill) -> None:
        raise KeyError("NewDb")

    monkeypatch.setattr(report, "build_readings", raise_key_error)
    drill_run = advance_drill(build_drill(text=FREE_PLAY_TEXT), 10)
    drill_run.apply_line("power-off SERVER_A")
    report_made = advance_drill(drill_run, 60).build_report()
    assert report_made["failed_parts"] == [{"part": "readings", "error": "KeyError: 'NewDb'"}]
    assert report_made["readings"]["t_s"] == []
    assert len(report_made["failovers"]) == 1
    assert report_made["availability"]["downtime_s"] > 0.0
