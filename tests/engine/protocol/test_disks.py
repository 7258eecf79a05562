"""Lost log and data volumes: error log lines, and different effects on connections and mirroring."""

from __future__ import annotations

import pytest

from engine import simulator
from engine.events import Event
from engine.inputs import InputError
from engine.model import DbState, MirrorState, Role, World
from engine.verbs.input_lines import parse_input_line
from tests.engine.cluster.worlds import build_fci_lab
from tests.engine.worlds import DB, MIRROR, PRINCIPAL, M, P, apply_lines, build_lab
from tests.events import read_field


def list_error_log_numbers(events: list[Event], server: str) -> list[tuple[int, int]]:
    """Return (number, state) of the error log lines. A line without a number has the number 0."""
    return [
        (read_field(e, "number"), read_field(e, "state"))
        for e in events
        if e.kind == "errorlog" and e.server == server
    ]


def run_sql(world: World, server: str, sql: str, wait_s: float = 1.0) -> list[int]:
    """Return the message numbers of a batch."""
    done_events = [
        event
        for event in apply_lines(world, f"sql {server} {sql}", wait_s=wait_s)
        if event.kind == "sql_done"
    ]
    return [message["number"] for message in read_field(done_events[-1], "messages")]


@pytest.mark.parametrize("line", [f"fail-volume {P} L", f"fail-disk {P} {DB}"])
def test_a_lost_log_disk_is_logged_locally_and_causes_a_failover(line: str) -> None:
    """The loss of the log disk is a hard error [DOC: MSSQLSERVER_9001; possible failures]."""
    world = build_lab()
    apply_lines(world, f"sql {P} USE {DB}\n    BEGIN TRAN\n    WAITFOR DELAY '00:01'", wait_s=2.0)
    events = apply_lines(world, line)
    numbers_found = list_error_log_numbers(events, P)
    assert numbers_found[:4] == [(17053, 1), (0, 0), (9001, 4), (3422, 1)]
    assert [number for number, _ in numbers_found[4:6]] == [17137, 17207]
    waiting = next(event for event in events if event.kind == "sql_done")
    assert [message["number"] for message in read_field(waiting, "messages")] == [9001]
    assert world.copies[MIRROR].mirroring.role is Role.PRINCIPAL
    assert world.copies[PRINCIPAL].db_state is DbState.RECOVERY_PENDING
    assert run_sql(world, P, f"USE {DB}") == [945]
    apply_lines(world, line.replace("fail", "mend"))
    assert world.copies[PRINCIPAL].mirroring.role is Role.MIRROR
    assert world.copies[PRINCIPAL].mirroring.state is MirrorState.SYNCHRONIZED


def test_a_lost_data_disk_does_not_affect_the_session_but_stops_clients() -> None:
    """Check documented behavior: [DOC: possible failures: a data disk failure is unlikely to be detected]."""
    world = build_lab()
    assert run_sql(world, P, f"USE {DB}\n    CREATE TABLE t (a int)") == [0]
    events = apply_lines(world, f"fail-volume {P} D", wait_s=70.0)
    # the second error follows at the next checkpoint
    assert list_error_log_numbers(events, P) == [(823, 2), (823, 3), (5901, 1)]
    client_events = [event for event in events if event.kind == "client"]
    assert [read_field(event, "number") for event in client_events] == [823]
    assert world.copies[PRINCIPAL].mirroring.role is Role.PRINCIPAL
    assert world.copies[PRINCIPAL].mirroring.state is MirrorState.SYNCHRONIZED
    assert not world.availability[DB].serving
    assert run_sql(
        world, P, f"BEGIN TRY SELECT * FROM {DB}.dbo.t END TRY BEGIN CATCH PRINT 'no' END CATCH"
    ) == [823]
    assert run_sql(world, P, f"USE {DB}\n    CHECKPOINT") == [5901, 823]
    assert run_sql(world, P, f"DBCC CHECKDB ('{DB}')") == [823]
    assert run_sql(world, P, f"BACKUP DATABASE {DB} TO DISK = 'L:\\x.bak'") == [3203, 3013]
    assert run_sql(world, P, f"BACKUP LOG {DB} TO DISK = 'D:\\x.trn'") == [3201, 3013]
    assert 3014 in run_sql(world, P, f"BACKUP LOG {DB} TO DISK = 'L:\\x.trn'", wait_s=30.0)
    apply_lines(world, f"mend-volume {P} D")
    assert world.availability[DB].serving
    assert run_sql(world, P, f"SELECT * FROM {DB}.dbo.t") == [0]


def test_after_a_lost_data_disk_manual_failover_works_and_suspends_the_session() -> None:
    world = build_lab()
    apply_lines(world, f"fail-volume {P} D", f"sql {P} ALTER DATABASE {DB} SET PARTNER FAILOVER", wait_s=40.0)
    assert world.copies[MIRROR].mirroring.role is Role.PRINCIPAL
    assert world.availability[DB].serving
    assert world.copies[PRINCIPAL].mirroring.state is MirrorState.SUSPENDED
    apply_lines(world, f"mend-volume {P} D", f"sql {M} ALTER DATABASE {DB} SET PARTNER RESUME")
    assert world.copies[PRINCIPAL].mirroring.state is MirrorState.SYNCHRONIZED


def test_a_lost_data_disk_is_noticed_at_the_next_database_start() -> None:
    world = build_lab(witness=False)
    events = apply_lines(world, f"fail-volume {P} D", f"restart-service {P}", wait_s=40.0)
    numbers_found = [number for number, _ in list_error_log_numbers(events, P)]
    assert numbers_found[numbers_found.index(17204) - 1 :][:3] == [17137, 17204, 5120]
    assert world.copies[PRINCIPAL].db_state is DbState.RECOVERY_PENDING
    assert world.copies[MIRROR].mirroring.state is MirrorState.DISCONNECTED
    apply_lines(world, f"mend-volume {P} D")
    assert world.copies[PRINCIPAL].db_state is DbState.ONLINE


def test_a_mirror_without_its_data_disk_suspends_the_session_until_resumed() -> None:
    world = build_lab()
    events = apply_lines(world, f"fail-volume {M} D")
    assert list_error_log_numbers(events, M)[:2] == [(823, 1), (1454, 1)]
    assert (1453, 1) in list_error_log_numbers(events, P)
    assert world.copies[PRINCIPAL].mirroring.state is MirrorState.SUSPENDED
    assert world.availability[DB].serving
    assert run_sql(world, P, f"ALTER DATABASE {DB} SET PARTNER RESUME") == [1462]
    apply_lines(world, f"mend-volume {M} D", f"sql {P} ALTER DATABASE {DB} SET PARTNER RESUME")
    assert world.copies[MIRROR].mirroring.state is MirrorState.SYNCHRONIZED


def test_a_lone_mirror_without_its_data_disk_cannot_be_forced() -> None:
    world = build_lab(witness=False)
    apply_lines(world, f"power-off {P}", f"fail-volume {M} D")
    assert run_sql(world, M, f"ALTER DATABASE {DB} SET PARTNER FORCE_SERVICE_ALLOW_DATA_LOSS") == [1406]


def test_a_mirror_without_its_log_disk_is_a_lost_partner() -> None:
    world = build_lab()
    events = apply_lines(world, f"fail-volume {M} L")
    assert list_error_log_numbers(events, M) == [(17053, 1), (0, 0), (9001, 4)]
    assert world.copies[PRINCIPAL].mirroring.state is MirrorState.DISCONNECTED
    assert world.availability[DB].serving
    apply_lines(world, f"mend-volume {M} L")
    assert world.copies[MIRROR].mirroring.state is MirrorState.SYNCHRONIZED


def test_an_unmirrored_database_comes_online_when_both_drives_return() -> None:
    world = build_lab()
    apply_lines(world, f"sql {P} ALTER DATABASE {DB} SET PARTNER OFF")
    apply_lines(world, f"fail-volume {P} L", f"fail-volume {P} D", f"mend-volume {P} L")
    assert world.copies[PRINCIPAL].db_state is DbState.RECOVERY_PENDING
    assert run_sql(world, P, f"ALTER DATABASE {DB} SET ONLINE") == [5120, 5069]
    # a restart alone does not bring the database online
    apply_lines(world, f"restart-service {P}", wait_s=40.0)
    assert world.copies[PRINCIPAL].db_state is DbState.RECOVERY_PENDING
    apply_lines(world, f"mend-volume {P} D")
    assert world.copies[PRINCIPAL].db_state is DbState.ONLINE


def test_a_copy_opens_when_all_its_volumes_return() -> None:
    for first, second in (
        (f"mend-disk {P} {DB}", f"mend-volume {P} D"),
        (f"mend-volume {P} D", f"mend-disk {P} {DB}"),
    ):
        world = build_lab(witness=False)
        apply_lines(world, f"fail-volume {P} D", f"fail-disk {P} {DB}", first)
        assert world.copies[PRINCIPAL].disk_failed
        apply_lines(world, second)
        assert world.copies[PRINCIPAL].mirroring.state is MirrorState.SYNCHRONIZED


def test_a_lost_drive_is_not_listed_as_fixed() -> None:
    world = build_lab()
    apply_lines(world, f"add-drive {P} E size_gb=1", f"add-drive {P} F size_gb=2", f"fail-volume {P} E")
    done_events = [
        event
        for event in apply_lines(world, f"sql {P} EXEC xp_fixeddrives", wait_s=0.5)
        if event.kind == "sql_done"
    ]
    assert [row[0] for row in read_field(done_events[0], "results")[0]["rows"]] == ["C", "D", "F", "L"]


def test_invalid_drive_changes_are_refused_with_a_message() -> None:
    world = build_lab()
    apply_lines(world, f"fail-volume {P} L")
    for line, word in (("fail-volume {} C", "power-off"), ("fail-volume {} Q", "no drive Q:"),
                       ("add-drive {} L", "has failed"),
                       ("grow-volume {} L", "has failed"), ("fail-volume {} Data", "a letter")):  # fmt: skip
        with pytest.raises(InputError, match=word):
            simulator.apply_input(world, parse_input_line(line.format(P), world.tick))
    fault = world.faults[-1]
    assert fault.effect == f"{DB} on {P} has I/O errors"
    apply_lines(world, "revert-all")
    assert not world.computers[P].failed_drives


@pytest.mark.parametrize("clause", ["SUSPEND", "RESUME"])
def test_a_lost_principal_notifies_its_mirror_of_nothing_until_detection(clause: str) -> None:
    """The mirror does not know that the principal has failed, and waits until it detects the loss."""
    world = build_lab()
    apply_lines(world, f"fail-disk {P} {DB}", wait_s=0.0)
    apply_lines(world, f"sql {P} ALTER DATABASE {DB} SET PARTNER OFF", wait_s=0.0)
    apply_lines(world, f"sql {M} ALTER DATABASE {DB} SET PARTNER {clause}", wait_s=0.0)
    assert world.copies[P, DB].mirroring.guid is None
    assert world.copies[M, DB].mirroring.state is MirrorState.SYNCHRONIZED
    apply_lines(world, wait_s=5.0)
    assert world.copies[M, DB].mirroring.guid is None


def test_a_failed_shared_drive_moves_with_its_instance() -> None:
    world = build_fci_lab()
    # the disk comes online on NODE_2, and then fails
    apply_lines(world, "move-role SQLFCI1 NODE_2", wait_s=4.0)
    apply_lines(world, "fail-volume SQLFCI1 L", wait_s=120.0)
    failed = {
        name: computer.failed_drives for name, computer in world.computers.items() if computer.failed_drives
    }
    assert failed == {"NODE_2": ("L",)}
