"""Error logs: first lines by version and edition, cycling, archives and content."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from engine.model import World
from engine.protocol import errorlog, startup
from engine.tsql.batches import machine
from tests.engine.worlds import DB, M, P, W, apply_lines, build_lab
from tests.events import read_field


def query_rows(world: World, sql: str, server: str = P) -> list[tuple[str, str]]:
    """Return (source, text) of the lines in the result of a batch."""
    done_events = [
        event for event in apply_lines(world, f"sql {server} {sql}", wait_s=0.5) if event.kind == "sql_done"
    ]
    return [(row[1], row[2]) for row in read_field(done_events[-1], "results")[-1]["rows"]]


def run_sql(world: World, sql: str, server: str = P) -> list[int]:
    done_events = [
        event for event in apply_lines(world, f"sql {server} {sql}", wait_s=0.5) if event.kind == "sql_done"
    ]
    return [message["number"] for message in read_field(done_events[-1], "messages")]


STARTUP_LINES = (
    "Microsoft SQL Server 2005 - 9.00",
    "(c) 2005 Microsoft Corporation.",
    "All rights reserved.",
    "Server process ID is",
    "Authentication mode is MIXED.",
    "Logging SQL Server messages in file",
    "SQL Server is starting at normal priority base",
    "Starting up database 'master'.",
    "Server name is 'SERVER_A'.",
    "Starting up database 'mssqlsystemresource'.",
    "The resource database build version is 9.00.5000.",
    "Starting up database 'msdb'.",
    "Starting up database 'model'.",
    "Server is listening on [ 'any' <ipv4> 1433].",
    "SQL Server is now ready for client connections.",
    "Starting up database 'Sales'.",
    "Clearing tempdb database.",
    "Starting up database 'tempdb'.",
    "The Service Broker protocol transport is disabled or not configured.",
    "Server is listening on [ 'any' <ipv4> 5022].",
    "The Database Mirroring protocol transport is now listening for connections.",
    "Database mirroring has been enabled on this instance of SQL Server.",
    "Service Broker manager has started.",
    "Recovery is complete.",
)
"""Check documented behavior: [published ERRORLOGs, 2005 to 2017]."""


def list_positions(lines: list[tuple[str, str]]) -> list[int]:
    return [
        next(index for index, (_, text) in enumerate(lines) if text.startswith(start))
        for start in STARTUP_LINES
    ]


@pytest.mark.parametrize("restarted", [False, True])
def test_a_healthy_errorlog_begins_as_published(restarted: bool) -> None:
    world = build_lab()
    if restarted:
        apply_lines(world, f"restart-service {P}", wait_s=40.0)
    lines = query_rows(world, "EXEC xp_readerrorlog")
    places = list_positions(lines)
    assert places == sorted(places)
    assert places[0] == 0
    assert ("Server", "All rights reserved.") in lines


@pytest.mark.parametrize(
    ("version", "edition", "present_text", "absent_text"),
    [
        (2008, "Enterprise", "Detected 8 CPUs.", "The service account is"),
        (2012, "Enterprise", "The Database Mirroring endpoint is now listening", "protocol transport"),
        (2014, "Enterprise", "The service account is 'CORP\\sqlservice'.", "Detected 8 CPUs."),
        (2005, "Express", "Dedicated administrator connection support was not started", "1434"),
    ],
)
def test_version_and_edition_change_the_startup_lines(
    version: int, edition: str, present_text: str, absent_text: str
) -> None:
    world = build_lab()
    world.instances[P] = replace(world.instances[P], version=version, edition=edition)
    world.errorlog = {}
    startup.log_clean_startups(world)
    texts = [line[4] for line in errorlog.list_logs(world, P)[0]]
    assert any(present_text in text for text in texts)
    assert not any(absent_text in text for text in texts)


def test_a_disabled_protocol_is_not_reported_as_listening() -> None:
    world = build_lab()
    apply_lines(world, f"disable-tcp {P}", f"sql {P} ALTER ENDPOINT Mirroring STATE = STOPPED", f"restart-service {P}",
       wait_s=40.0)  # fmt: skip
    texts = [line[4] for line in errorlog.list_logs(world, P)[0]]
    assert not any("1433" in text or "5022" in text for text in texts)
    assert "Database Mirroring Transport is disabled in the endpoint configuration." in texts


@pytest.mark.parametrize("sql", ["EXEC sp_cycle_errorlog", "DBCC ERRORLOG"])
def test_a_cycled_log_becomes_archive_1(sql: str) -> None:
    world = build_lab()
    before = query_rows(world, "EXEC sp_readerrorlog")
    assert run_sql(world, sql) == [2528]
    new = [text for _, text in query_rows(world, "EXEC sp_readerrorlog 0")]
    assert new[0].startswith("Microsoft SQL Server 2005")
    assert new[-1] == "The error log has been reinitialized. See the previous log for older entries."
    assert query_rows(world, "EXEC sp_readerrorlog 1") == before
    assert run_sql(world, "EXEC xp_readerrorlog 2") == [22004]
    for _ in range(8):
        apply_lines(world, f"sql {P} {sql}", wait_s=0.1)
    assert len(errorlog.list_logs(world, P)) == 1 + 6
    log_rows = read_field(apply_lines(world, f"sql {P} EXEC sp_enumerrorlogs", wait_s=0.1)[-1], "results")[0][
        "rows"
    ]
    assert [row[0] for row in log_rows] == list(range(7))


def test_search_texts_and_times_filter_the_lines() -> None:
    world = build_lab()
    apply_lines(world, f"sql {P} RAISERROR ('red alert', 16, 1) WITH LOG", wait_s=10.0)
    apply_lines(world, f"sql {P} RAISERROR ('blue alert', 10, 1) WITH LOG", wait_s=10.0)
    assert query_rows(world, "EXEC xp_readerrorlog 0, 1, N'ALERT', N'red'") == [("spid15s", "red alert")]
    late_rows = query_rows(
        world, "EXEC xp_readerrorlog 0, 1, N'alert', NULL, '2005-10-22 12:00:05', NULL, N'desc'"
    )
    assert late_rows == [("spid15s", "blue alert")]
    early_rows = query_rows(world, "EXEC xp_readerrorlog 0, 1, N'alert', NULL, NULL, '2005-10-22 12:00:05'")
    assert early_rows == [("spid15s", "red alert")]
    assert query_rows(world, "EXEC xp_readerrorlog 0, 2") == []


def test_only_event_logged_errors_appear_in_the_log() -> None:
    world = build_lab()
    apply_lines(
        world,
        f"fail-volume {P} D",
        f"sql {P} SELECT * FROM {DB}.dbo.t",
        f"sql {P} SELECT * FROM nosuch",
        wait_s=1.0,
    )
    numbers = [line[1] for line in errorlog.list_logs(world, P)[0] if line[2] > 10]
    assert numbers == [823, 823]  # the failure of the volume writes one line, and the statement another
    assert run_sql(world, "EXEC sp_altermessage 208, 'WITH_LOG', 'true'") == [0]
    apply_lines(world, f"sql {P} SELECT * FROM nosuch", wait_s=1.0)
    assert [line[1] for line in errorlog.list_logs(world, P)[0]][-1] == 208


def test_endless_errors_fill_the_log_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "CHANGING_STATEMENTS_MAX", 10)
    world = build_lab()
    apply_lines(world, f"sql {P} EXEC sp_altermessage 208, 'WITH_LOG', 'true'", wait_s=0.5)
    loop = "DECLARE @i int SET @i = 0 WHILE @i < 30 BEGIN EXEC ('SELECT * FROM nosuch') SET @i = @i + 1 END SELECT @i"
    done_events = [
        event for event in apply_lines(world, f"sql {P} {loop}", wait_s=60.0) if event.kind == "sql_done"
    ]
    assert read_field(done_events[0], "results")[-1]["rows"] == [[30]]
    assert len([line for line in errorlog.list_logs(world, P)[0] if line[1] == 208]) == 10


@pytest.mark.parametrize(
    ("sql", "numbers"),
    [
        (f"BACKUP DATABASE {DB} TO DISK = 'Q:\\x.bak'", [18204, 3041]),
        (f"BACKUP DATABASE {DB} TO DISK = 'E:\\x.bak'", [18210, 3041]),
        ("BACKUP LOG master TO DISK = 'D:\\x.trn'", [3041]),
    ],
)
def test_a_failed_backup_logs_3041(sql: str, numbers: list[int]) -> None:
    world = build_lab()
    apply_lines(world, f"add-drive {P} E size_gb=1", f"sql {P} {sql}", wait_s=1.0)
    error_lines = [line for line in errorlog.list_logs(world, P)[0] if line[2] > 10]
    assert [line[1] for line in error_lines] == numbers
    assert error_lines[-1][4].startswith(
        f"BACKUP failed to complete the command {' '.join(sql.split()[:3])}. "
    )


def test_the_log_backup_job_reports_its_missing_drive() -> None:
    world = build_lab()
    apply_lines(
        world,
        f"sql {P} ALTER DATABASE {DB} SET PARTNER OFF",
        f"fail-volume {M} D",
        f"fail-volume {P} D",
        wait_s=1_000.0,
    )
    backup_lines = [line for line in errorlog.list_logs(world, P)[0] if line[1] == 3041]
    assert [line[4].split(".")[0] for line in backup_lines] == [
        f"BACKUP failed to complete the command BACKUP LOG {DB}"
    ]


def test_a_service_that_is_started_while_it_stops_starts_afterwards() -> None:
    world = build_lab()
    apply_lines(world, f"stop-service {P}", wait_s=0.5)
    assert world.instances[P].service.value == "stopping"
    apply_lines(world, f"start-service {P}", wait_s=60.0)
    assert world.instances[P].service.value == "running"


@pytest.mark.parametrize(("end", "next_value"), [("stop-service", 2), ("power-off", 1002)])
def test_a_crash_loses_the_cached_identity_values(end: str, next_value: int) -> None:
    world = build_lab(workload="none")
    for server in world.instances:
        world.update_instance(server, version=2014)
    insert = "INSERT msdb.dbo.Log2 (Text) OUTPUT 'id', CAST(inserted.Id AS varchar(9)) VALUES ('x')"
    apply_lines(world, f"sql {W} CREATE TABLE msdb.dbo.Log2 (Id int IDENTITY, Text varchar(9))", wait_s=0.5)
    apply_lines(world, f"sql {W} {insert}", wait_s=0.5)
    apply_lines(world, f"{end} {W}", wait_s=20.0)
    apply_lines(world, f"{'start-service' if end == 'stop-service' else 'power-on'} {W}", wait_s=240.0)
    done_events = [
        event for event in apply_lines(world, f"sql {W} {insert}", wait_s=0.5) if event.kind == "sql_done"
    ]
    assert read_field(done_events[-1], "results")[-1]["rows"] == [["id", str(next_value)]]


@pytest.mark.parametrize(("address", "listens"), [("127.0.0.1", True), ("10.9.9.9", False)])
def test_an_endpoint_listens_on_addresses_of_its_own(address: str, listens: bool) -> None:
    world = build_lab()
    apply_lines(
        world, f"sql {W} ALTER ENDPOINT Mirroring AS TCP (LISTENER_PORT = 5022, LISTENER_IP = ({address}))"
    )
    apply_lines(world, f"restart-service {W}", wait_s=60.0)
    log = [text for _, text in query_rows(world, "EXEC sp_readerrorlog", W)]
    assert any(f"{address} <ipv4> 5022" in text for text in log) is listens
