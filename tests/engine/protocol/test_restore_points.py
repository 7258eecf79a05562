"""RESTORE to a point in time and WITH STANDBY, and mirroring of such copies and of bulk-logged changes."""

from __future__ import annotations

import pytest

from engine.messages import SqlError
from engine.mirroring import commands
from engine.model import DatabaseCopy, DbState, RecoveryModel, World
from engine.protocol import backup, restore, statements, streams
from engine.protocol.restore import RestoreState
from tests.engine.protocol.setups import (
    DB,
    FULL,
    MIRROR,
    PRINCIPAL,
    TRN,
    M,
    P,
    build_unmirrored_world,
    copy_file,
    finish_statement,
    get_address,
    get_refusal_number,
    prepare_mirror,
    restore_full,
    settle_and_run,
    take_full_backup,
    take_log_backup,
)
from tests.engine.tsql.console import submit_batch
from tests.engine.worlds import apply_lines, build_lab

LATER_BACKUP_PATH = "D:\\Backup\\later.trn"


def build_restoring_world() -> World:
    """Return a world with a full and two log backups restored on SERVER_B while the clients work."""
    world = build_unmirrored_world()
    take_full_backup(world)
    take_log_backup(world)
    settle_and_run(world, 60.0)
    take_log_backup(world, path=LATER_BACKUP_PATH)
    for path in (FULL, TRN, LATER_BACKUP_PATH):
        copy_file(world, path)
    restore_full(world)
    return world


RESTORING_WORLD = build_restoring_world()


def restore_log(world: World, path: str, ending: RestoreState) -> DatabaseCopy:
    finish_statement(world, M, restore.restore_log(world, M, DB, path, ending=ending))
    return world.copies[MIRROR]


def test_stopat_within_a_log_backup_stops_there_and_opens() -> None:
    world = RESTORING_WORLD.fork()
    before = restore_log(world, TRN, RestoreState(recovery=False)).end_of_log_kb
    last = restore.list_backup_sets(world, M, LATER_BACKUP_PATH)[0]
    middle = (last.from_tick + last.started_tick) // 2
    copy = restore_log(world, LATER_BACKUP_PATH, RestoreState(stop_tick=middle))
    assert copy.db_state is DbState.ONLINE
    assert before + 0.4 * (last.last_kb - before) < streams.get_end_of_log_kb(world, copy) - 8.0
    assert streams.get_end_of_log_kb(world, copy) < before + 0.6 * (last.last_kb - before)


def test_stopat_beyond_the_backup_leaves_it_restoring() -> None:
    world = RESTORING_WORLD.fork()
    outcome = restore.restore_log(world, M, DB, TRN, ending=RestoreState(stop_tick=world.tick + 100_000))
    reply = finish_statement(world, M, outcome)
    assert any("designated point in time" in message.text for message in reply)
    assert world.copies[MIRROR].db_state is DbState.RESTORING


def test_stopat_before_the_restored_log_is_too_early() -> None:
    world = RESTORING_WORLD.fork()
    restore_log(world, TRN, RestoreState(recovery=False))
    assert (
        get_refusal_number(
            restore.restore_log, world, M, DB, LATER_BACKUP_PATH, ending=RestoreState(stop_tick=1)
        )
        == 4335
    )


def test_a_standby_database_is_readable_and_accepts_log_but_no_partner() -> None:
    world = RESTORING_WORLD.fork()
    copy = restore_log(world, TRN, RestoreState(recovery=False, standby=True))
    assert statements.check_database_access(world, M, DB) == []
    assert get_refusal_number(commands.set_partner, world, M, DB, get_address(P)) == 1466
    with pytest.raises(SqlError) as caught:
        backup.back_up_database(world, M, DB, "D:\\x.bak")
    assert caught.value.number == 3036
    copy = restore_log(world, LATER_BACKUP_PATH, RestoreState(recovery=False))
    assert not copy.standby
    assert get_refusal_number(statements.check_database_access, world, M, DB) == 927
    assert get_refusal_number(commands.set_partner, world, M, DB, get_address(P)) == 0


def test_bulk_logged_changes_must_be_backed_up_before_mirroring() -> None:
    world = prepare_mirror()
    world.update_copy(PRINCIPAL, recovery_model=RecoveryModel.BULK_LOGGED)
    apply_lines(world, f"bulk-load {DB} rows=1000", wait_s=30.0)
    world.update_copy(PRINCIPAL, recovery_model=RecoveryModel.FULL)
    commands.set_partner(world, M, DB, get_address(P))
    assert get_refusal_number(commands.set_partner, world, P, DB, get_address(M)) == 1475
    take_log_backup(world, path=LATER_BACKUP_PATH)
    assert not world.copies[PRINCIPAL].bulk_changes


def test_a_mirror_without_spare_worker_threads_is_refused() -> None:
    world = prepare_mirror()
    world.update_instance(M, max_worker_threads=5)
    commands.set_partner(world, M, DB, get_address(P))
    assert get_refusal_number(commands.set_partner, world, P, DB, get_address(M)) == 1450


def test_copying_a_file_temporarily_takes_bandwidth_from_mirroring() -> None:
    world = prepare_mirror()
    commands.set_partner(world, M, DB, get_address(P))
    commands.set_partner(world, P, DB, get_address(M))
    apply_lines(world, f"degrade {P} {M} bandwidth_mbps=10", wait_s=5.0)
    stream = world.copies[MIRROR].stream
    assert stream is not None
    healthy = world.flow.get_stream_setup(stream).bandwidth_mbps
    apply_lines(world, f"copy-file {M} {P} {TRN}", wait_s=0.1)
    assert world.transfers
    assert world.flow.get_stream_setup(stream).bandwidth_mbps == healthy, "the way back is another way"
    apply_lines(world, f"copy-file {P} {M} {FULL}", wait_s=5.0)
    assert world.flow.get_stream_setup(stream).bandwidth_mbps == pytest.approx(healthy / 2)
    apply_lines(world, wait_s=3_000.0)
    assert world.flow.get_stream_setup(stream).bandwidth_mbps == healthy


def test_restored_files_keep_their_names_and_options_and_move_as_asked() -> None:
    """Check documented behavior: [DOC: RESTORE arguments], MOVE."""
    world = build_lab(workload="none")
    submit_batch(
        world,
        P,
        r"CREATE DATABASE x ON (NAME = d, FILENAME = 'C:\a\x.mdf', FILEGROWTH = 5MB), "
        r"(NAME = e, FILENAME = 'C:\a\x.ndf') LOG ON (NAME = l, FILENAME = 'C:\a\x.ldf') "
        r"BACKUP DATABASE x TO DISK = 'C:\x.bak'",
        3,
    )
    submit_batch(
        world,
        P,
        r"RESTORE DATABASE y FROM DISK = 'C:\x.bak' WITH MOVE 'd' TO 'C:\b\y.mdf', MOVE 'e' TO 'D:\y.ndf', "
        r"MOVE 'l' TO 'L:\y.ldf' DROP DATABASE x RESTORE DATABASE z FROM DISK = 'C:\x.bak'",
        9,
    )
    for database, places in (
        ("y", [r"C:\b\y.mdf", r"L:\y.ldf", r"D:\y.ndf"]),
        ("z", [r"C:\a\x.mdf", r"C:\a\x.ldf", r"C:\a\x.ndf"]),
    ):
        ((*rows,),) = submit_batch(
            world, P, f"SELECT name, physical_name, growth FROM {database}.sys.database_files"
        ).grids
        assert [row[:2] for row in rows] == [list(pair) for pair in zip("dle", places, strict=True)]
        assert rows[0][2] == 640
    assert (
        submit_batch(
            world, P, r"RESTORE DATABASE w FROM DISK = 'C:\x.bak' WITH MOVE 'd' TO 'C:\b\y.mdf'"
        ).numbers[0]
        == 1834
    )


def test_standby_mode_starts_and_ends_without_a_backup() -> None:
    """Check documented behavior: FROM of RESTORE DATABASE is optional with every ending. [DOC: RESTORE DATABASE]"""
    world = build_lab(workload="none")
    submit_batch(
        world,
        P,
        r"CREATE DATABASE x BACKUP DATABASE x TO DISK = 'NUL' BACKUP LOG x TO DISK = 'NUL' WITH NORECOVERY",
        3,
    )
    state = "SELECT state_desc, is_in_standby FROM sys.databases WHERE name = 'x'"
    for ending, wanted in (
        (r"STANDBY = 'C:\x.undo'", ["ONLINE", 1]),
        ("NORECOVERY", ["RESTORING", 0]),
        ("RECOVERY", ["ONLINE", 0]),
    ):
        assert submit_batch(world, P, f"RESTORE DATABASE x WITH {ending}", 3).numbers == [3014]
        assert submit_batch(world, P, state).grids == [[wanted]]


def test_the_history_of_the_target_server_names_the_backup() -> None:
    """A restore adds the backup to the history of its server. [DOC: backupset]"""
    world = RESTORING_WORLD.fork()
    restore_log(world, TRN, RestoreState(recovery=False))
    query = """SELECT s.server_name, h.restore_type FROM msdb.dbo.restorehistory h
        JOIN msdb.dbo.backupset s ON s.backup_set_id = h.backup_set_id ORDER BY 2"""
    assert submit_batch(world, M, query).grids == [[[P, "D"], [P, "L"]]]
