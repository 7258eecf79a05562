"""Backups and the log chain: valid sequences, durations, refusals."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings, strategies
from msgspec.structs import replace

from engine.flow import Flow
from engine.messages import SqlError
from engine.model import Certificate, DbState, RecoveryModel, Volume, World
from engine.protocol import accounts, backup, files, lineage, log_space, options, restore, statements, streams
from engine.random_streams import RandomStream
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
    get_refusal_number,
    restore_full,
    restore_log,
    settle_and_run,
    take_full_backup,
    take_log_backup,
)
from tests.engine.worlds import apply_lines, build_lab

CERTIFICATE = Certificate(
    name="own", thumbprint=1, subject="mirroring", valid_from_tick=0, expires_tick=100_000
)


def list_backup_sets(world: World, path: str, server: str = P) -> tuple[backup.BackupSet, ...]:
    return restore.list_backup_sets(world, server, path)


def test_a_backup_takes_time_and_reports_its_result() -> None:
    world = build_unmirrored_world()
    outcome = backup.back_up_database(world, P, DB, FULL)
    assert isinstance(outcome, statements.PendingStatement)
    assert (outcome.tick - world.tick) / 100 == pytest.approx(10.24, abs=0.02), "1 GB at 100 MB/s"
    lines = finish_statement(world, P, outcome)
    assert [line.number for line in lines] == [4035, 4035, 3014]
    assert lines[-1].text.startswith("BACKUP DATABASE successfully processed 13")
    apply_lines(world, f"slow-disk {P} data factor=3")
    slower = backup.back_up_database(world, P, DB, FULL)
    assert isinstance(slower, statements.PendingStatement)
    assert (slower.tick - world.tick) / 100 == pytest.approx(30.72, abs=0.02)


def test_log_backups_form_a_chain_without_gaps_or_overlap() -> None:
    world = build_unmirrored_world()
    take_full_backup(world)
    for _ in range(3):
        settle_and_run(world, 10.0)
        take_log_backup(world)
    chain = list_backup_sets(world, TRN)
    assert [backup_set.kind for backup_set in chain] == ["LOG"] * 3, "appended to one file"
    assert all(a.last_kb == b.first_kb < b.last_kb for a, b in itertools.pairwise(chain))
    take_log_backup(world, init=True)
    assert len(list_backup_sets(world, TRN)) == 1, "WITH INIT overwrites"


def test_copy_only_does_not_affect_the_chain() -> None:
    world = build_unmirrored_world()
    take_full_backup(world)
    before = world.copies[PRINCIPAL]
    take_full_backup(world, path="D:\\extra.bak", copy_only=True)
    take_log_backup(world, path="D:\\extra.trn", copy_only=True)
    copy_after = world.copies[PRINCIPAL]
    assert (copy_after.full_backup_id, copy_after.last_log_backup_kb) == (
        before.full_backup_id,
        before.last_log_backup_kb,
    )


def test_log_backups_are_restored_in_sequence() -> None:
    world = build_unmirrored_world()
    take_full_backup(world)
    for number in (1, 2):
        settle_and_run(world, 20.0)
        take_log_backup(world, path=f"D:\\{number}.trn")
    for path in (FULL, "D:\\1.trn", "D:\\2.trn"):
        copy_file(world, path)
    restore_full(world)
    with pytest.raises(SqlError) as gap:
        restore.restore_log(world, M, DB, "D:\\2.trn", recovery=False)
    assert (gap.value.number, gap.value.also) == (4305, (3013,))
    outcome = restore_log(world, "D:\\1.trn")
    two = restore_log(world, "D:\\2.trn")
    assert outcome.end_of_log_kb < two.end_of_log_kb == list_backup_sets(world, "D:\\2.trn")[0].last_kb
    assert get_refusal_number(restore.restore_log, world, M, DB, "D:\\1.trn") == 4326
    finish_statement(world, M, restore.restore_log(world, M, DB, "D:\\2.trn"))
    assert world.copies[MIRROR].db_state is DbState.ONLINE
    assert get_refusal_number(restore.restore_log, world, M, DB, "D:\\2.trn") == 3117


def test_a_differential_backup_requires_its_full_backup() -> None:
    world = build_unmirrored_world()
    assert get_refusal_number(backup.back_up_database, world, P, DB, "D:\\d.bak", differential=True) == 3035
    take_full_backup(world)
    settle_and_run(world, 30.0)
    take_full_backup(world, path="D:\\diff.bak", differential=True)
    take_full_backup(world, path="D:\\second.bak")
    for path in (FULL, "D:\\diff.bak", "D:\\second.bak"):
        copy_file(world, path)
    restore_full(world, "D:\\second.bak")
    assert get_refusal_number(restore.restore_database, world, M, DB, "D:\\diff.bak", recovery=False) == 3136
    restore_full(world)
    copy = restore_full(world, "D:\\diff.bak")
    assert copy.end_of_log_kb == list_backup_sets(world, "D:\\diff.bak")[0].last_kb


def test_a_differential_backup_may_follow_log_backups_of_its_base() -> None:
    """Check documented behavior: [DOC: differential backups]. Only the base must have been restored."""
    world = build_unmirrored_world()
    take_full_backup(world)
    for path in ("D:\\1.trn", "D:\\2.trn"):
        settle_and_run(world, 30.0)
        take_log_backup(world, path=path)
        if path == "D:\\1.trn":
            settle_and_run(world, 30.0)
            take_full_backup(world, path="D:\\diff.bak", differential=True)
    for path in (FULL, "D:\\1.trn", "D:\\diff.bak", "D:\\2.trn"):
        copy_file(world, path)
    restore_full(world)
    after_log = restore_log(world, "D:\\1.trn")
    after_differential = restore_full(world, "D:\\diff.bak")
    assert after_log.end_of_log_kb < after_differential.end_of_log_kb
    assert get_refusal_number(restore.restore_log, world, M, DB, "D:\\1.trn") == 4326
    assert restore_log(world, "D:\\2.trn").end_of_log_kb > after_differential.end_of_log_kb


def test_log_of_another_recovery_path_is_refused() -> None:
    world = build_unmirrored_world()
    take_full_backup(world)
    copy_file(world, FULL)
    # from here on, SERVER_B has its own recovery path
    finish_statement(world, M, restore.restore_database(world, M, DB, FULL))
    settle_and_run(world, 5.0)
    take_log_backup(world, M, "D:\\theirs.trn", norecovery=True)
    settle_and_run(world, 30.0)
    take_log_backup(world)
    copy_file(world, TRN)
    assert get_refusal_number(restore.restore_log, world, M, DB, TRN, recovery=False) == 4330


def test_a_tail_log_backup_closes_the_database_and_loses_nothing() -> None:
    world = build_unmirrored_world()
    take_full_backup(world)
    settle_and_run(world, 20.0)
    world.clients["APP"] = replace(world.clients["APP"], connected_to=None, epoch=999)
    committed = streams.get_committed_kb(world, world.copies[PRINCIPAL])
    take_log_backup(world, norecovery=True)
    assert world.copies[PRINCIPAL].db_state is DbState.RESTORING
    for path in (FULL, TRN):
        copy_file(world, path)
    restore_full(world)
    assert restore_log(world).end_of_log_kb >= committed


def test_log_is_retained_during_a_full_backup_and_released_on_abort() -> None:
    world = build_unmirrored_world()
    pending = backup.back_up_database(world, P, DB, FULL)
    assert isinstance(pending, statements.PendingStatement)
    row = world.copies[PRINCIPAL].source
    assert "ACTIVE_BACKUP_OR_RESTORE" in dict(
        streams.list_log_holds(world, world.copies[PRINCIPAL], row or 0)
    )
    assert get_refusal_number(backup.back_up_database, world, P, DB, "D:\\second.bak") == 3023
    statements.abandon_statement(world, P, pending.handler, pending.args)
    assert "ACTIVE_BACKUP_OR_RESTORE" not in dict(
        streams.list_log_holds(world, world.copies[PRINCIPAL], row or 0)
    )
    assert (P, FULL) not in world.files


def test_an_aborted_restore_leaves_an_unusable_database() -> None:
    world = build_unmirrored_world()
    take_full_backup(world)
    take_log_backup(world)
    for path in (FULL, TRN):
        copy_file(world, path)
    # the test does not wait for the end of the restore
    restore.restore_database(world, M, DB, FULL, recovery=False)
    settle_and_run(world, 60.0)
    assert get_refusal_number(restore.restore_log, world, M, DB, TRN) == 3117
    assert get_refusal_number(statements.restore_without_backup, world, M, DB) == 3117
    restore_full(world)
    assert get_refusal_number(restore.restore_log, world, M, DB, TRN, recovery=False) == 0


def share_path(path: str) -> str:
    return f"\\\\SERVER_B\\Backup\\{path}"


def test_a_network_share_is_a_folder_of_the_other_server() -> None:
    world = build_unmirrored_world()
    take_full_backup(world, path=share_path("Sales.bak"))
    assert ("SERVER_B", "D:\\Backup\\Sales.bak") in world.files
    restore_full(world, "D:\\Backup\\Sales.bak")
    apply_lines(world, f"cut {P} {M}")
    with pytest.raises(SqlError) as problem:
        backup.back_up_log(world, P, DB, share_path("Sales.trn"))
    assert (problem.value.number, problem.value.title) == (3201, "BACKUP LOG")
    assert problem.value.parameters[1] == files.NO_NETWORK_PATH


def test_files_follow_move_and_drives_must_exist() -> None:
    world = build_unmirrored_world()
    world.update_computer(P, volumes=(Volume(letter="E", size_kb=1e9),))
    world.update_copy(PRINCIPAL, data_drive="E")
    take_full_backup(world)
    copy_file(world, FULL)
    assert get_refusal_number(restore.restore_database, world, M, DB, FULL) == 5133
    copy = restore_full(world, moves={"sales": "D:\\Data\\Sales.mdf"})
    assert (copy.data_drive, copy.log_drive) == ("D", "L")
    world.update_computer(M, volumes=(Volume(letter="D", size_kb=4e6), Volume(letter="L", size_kb=1e6)))
    assert (
        get_refusal_number(restore.restore_database, world, M, DB, FULL, moves={"sales": "D:\\x.mdf"}) == 3257
    )


def test_users_come_with_the_backup_but_logins_do_not() -> None:
    world = build_unmirrored_world()
    accounts.create_login(world, P, "app")
    accounts.create_user(world, P, DB, "app")
    take_full_backup(world)
    copy_file(world, FULL)
    restore_full(world)
    assert [user.name for user in accounts.list_orphaned_users(world, M, DB)] == ["app"]


# --- table of refusals -----------------------------------------------------------------------------

RefusalCase = tuple[Callable[[World], object], Callable[[World], object], int]


def build_backup_function(
    kind: str, server: str = P, database: str = DB, path: str = FULL, **options: Any
) -> Callable[[World], object]:
    function = backup.back_up_database if kind == "DATABASE" else backup.back_up_log
    return lambda world: function(world, server, database, path, **options)


def build_restore_function(
    kind: str, path: str = FULL, server: str = M, **options: Any
) -> Callable[[World], object]:
    function = restore.restore_database if kind == "DATABASE" else restore.restore_log
    return lambda world: function(world, server, DB, path, **options)


def do_nothing(world: World) -> None: ...


REFUSED_IN_SESSION: dict[str, RefusalCase] = {
    "backup on the mirror": (do_nothing, build_backup_function("DATABASE", M), 954),
    "log backup on the mirror": (do_nothing, build_backup_function("LOG", M), 954),
    "log backup on a mirror of 2012": (
        lambda world: world.update_instance(M, version=2012),
        build_backup_function("LOG", M),
        3059,
    ),
    "no such database": (do_nothing, build_backup_function("DATABASE", database="Nothing"), 911),
    "no such drive": (do_nothing, build_backup_function("DATABASE", path="Q:\\x.bak"), 3201),
    "does not have": (
        lambda w: w.update_computer(P, volumes=(Volume(letter="E", size_kb=100.0),)),
        build_backup_function("DATABASE", path="E:\\x.bak"),
        3202,
    ),
    "not a backup file": (
        lambda w: w.files.update({(P, FULL): accounts.CertificateFile(CERTIFICATE)}),
        build_backup_function("DATABASE"),
        3241,
    ),
    "simple recovery": (
        lambda w: w.update_copy(PRINCIPAL, recovery_model=RecoveryModel.SIMPLE),
        build_backup_function("LOG"),
        4208,
    ),
    "no full backup": (
        lambda w: w.update_copy(PRINCIPAL, full_backup=False),
        build_backup_function("LOG"),
        4214,
    ),
    "tail in a session": (do_nothing, build_backup_function("LOG", norecovery=True), 1468),
    "truncate only in a session": (do_nothing, lambda w: log_space.truncate_log(w, P, DB), 3048),
    "no quorum": (
        lambda w: apply_lines(w, "power-off SERVER_B", "power-off SERVER_W"),
        build_backup_function("DATABASE"),
        955,
    ),
    "damaged volume": (
        lambda w: w.update_copy(PRINCIPAL, disk_failed=True),
        build_backup_function("LOG"),
        945,
    ),
    "restore log: principal": (do_nothing, build_restore_function("LOG", server=P), 3201),
}


@pytest.mark.parametrize("case", REFUSED_IN_SESSION)
def test_statements_are_refused_in_a_session(case: str) -> None:
    world = build_lab()
    prepare, act, number = REFUSED_IN_SESSION[case]
    prepare(world)
    with pytest.raises(SqlError) as problem:
        act(world)
    assert problem.value.number == number
    assert problem.value.also == (3013,), "the statement terminates abnormally"


REFUSED_RESTORES: dict[str, RefusalCase] = {
    "no such file": (do_nothing, build_restore_function("DATABASE", "D:\\nothing.bak"), 3201),
    "log backup as full": (do_nothing, build_restore_function("DATABASE", TRN), 3135),
    "full backup as log": (lambda w: restore_full(w), build_restore_function("LOG", FULL), 3135),
    "no database yet": (do_nothing, build_restore_function("LOG", TRN), 3118),
    "no such backup in the file": (do_nothing, build_restore_function("DATABASE", FULL, file=2), 4038),
    "newer version": (lambda w: lower_backup_version(w), build_restore_function("DATABASE"), 3169),
    "another database": (
        lambda w: (restore_full(w), w.update_copy(MIRROR, family=9)),
        build_restore_function("DATABASE"),
        3154,
    ),
    "log of another database": (
        lambda w: (restore_full(w), w.update_copy(MIRROR, family=9)),
        build_restore_function("LOG", TRN),
        3154,
    ),
    "tail not saved": (lambda w: disconnect_client(w), build_restore_function("DATABASE", server=P), 3159),
    "tail not saved, but no chain of log backups has begun": (
        lambda w: begin_new_chain(w),
        build_restore_function("DATABASE", server=P),
        0,
    ),
    "tail not saved, replaced": (
        lambda w: disconnect_client(w),
        build_restore_function("DATABASE", server=P, replace_existing=True),
        0,
    ),
}


def lower_backup_version(world: World) -> None:
    old = list_backup_sets(world, FULL, M)[0]
    world.files[M, FULL] = backup.BackupFile((replace(old, version=2008),))


def begin_new_chain(world: World) -> None:
    """Switch to SIMPLE and back to FULL. Until the next full backup, no log backup is needed."""
    disconnect_client(world)
    for model in ("SIMPLE", "FULL"):
        options.set_option(world, P, DB, "RECOVERY", model)


def disconnect_client(world: World) -> None:
    world.clients["APP"] = replace(world.clients["APP"], connected_to=None)


@cache
def take_backups() -> World:
    """Return the lab with a full and a log backup on all servers. Callers must fork it."""
    world = build_unmirrored_world()
    take_full_backup(world)
    take_log_backup(world)
    for path in (FULL, TRN):
        copy_file(world, path)
    settle_and_run(world, 1.0)
    return world


@pytest.mark.parametrize("case", REFUSED_RESTORES)
def test_invalid_restores_are_refused(case: str) -> None:
    world = take_backups().fork()
    prepare, act, number = REFUSED_RESTORES[case]
    prepare(world)
    assert get_refusal_number(act, world) == number


def test_the_log_chain_restarts_after_simple_recovery() -> None:
    world = build_unmirrored_world()
    take_full_backup(world)
    for model in ("SIMPLE", "FULL"):
        options.set_option(world, P, DB, "RECOVERY", model)
    assert get_refusal_number(backup.back_up_log, world, P, DB, TRN) == 4214
    take_full_backup(world)
    assert get_refusal_number(backup.back_up_log, world, P, DB, TRN) == 0


def test_no_truncate_saves_the_log_of_a_damaged_database() -> None:
    world = build_unmirrored_world()
    take_full_backup(world)
    settle_and_run(world, 10.0)
    apply_lines(world, f"fail-volume {P} D", f"restart-service {P}", wait_s=40.0)
    assert get_refusal_number(backup.back_up_log, world, P, DB, "L:\\x.trn") == 945
    apply_lines(world, f"fail-volume {P} L", wait_s=1.0)
    # the log is missing as well
    assert get_refusal_number(backup.back_up_log, world, P, DB, "E:\\x.trn", no_truncate=True) == 945
    apply_lines(world, f"mend-volume {P} L", wait_s=1.0)
    assert world.copies[PRINCIPAL].db_state is DbState.RECOVERY_PENDING
    end = streams.get_end_of_log_kb(world, world.copies[PRINCIPAL])
    apply_lines(world, f"sql {P} BACKUP LOG {DB} TO DISK = 'L:\\tail.trn' WITH NO_TRUNCATE", wait_s=30.0)
    assert list_backup_sets(world, "L:\\tail.trn")[0].last_kb == end


def test_a_stopped_server_forgets_its_running_backup() -> None:
    world = build_unmirrored_world()
    backup.back_up_database(world, P, DB, FULL)
    apply_lines(world, f"restart-service {P}", wait_s=30.0)
    copy = world.copies[PRINCIPAL]
    assert (copy.db_state, copy.backup_from_kb) == (DbState.ONLINE, None)


def test_the_mirror_knows_the_last_log_backup_after_the_takeover() -> None:
    world = build_lab()
    settle_and_run(world, 30.0)
    take_log_backup(world)
    log_backup_kb = world.copies[PRINCIPAL].last_log_backup_kb
    settle_and_run(world, 5.0)
    apply_lines(world, f"power-off {P}")
    assert world.copies[MIRROR].last_log_backup_kb == log_backup_kb
    take_log_backup(world, M, "D:\\next.trn")
    assert list_backup_sets(world, "D:\\next.trn", M)[0].first_kb == log_backup_kb, (
        "the chain goes on on the other server"
    )


# --- lineage ---------------------------------------------------------------------------------------


@given(
    common_steps=strategies.lists(strategies.floats(1.0, 100.0), max_size=4),
    first_steps=strategies.lists(strategies.floats(1.0, 100.0), max_size=3),
    second_steps=strategies.lists(strategies.floats(1.0, 100.0), max_size=3),
)
@settings(max_examples=60, deadline=None)
def test_two_logs_agree_up_to_the_first_fork(
    common_steps: list[float], first_steps: list[float], second_steps: list[float]
) -> None:
    world = World(seed=1, chance=RandomStream.from_seed(1), flow=Flow.create_empty())
    path: lineage.Lineage = ((0, 0.0),)
    end = 0.0
    for step in common_steps:
        end += step
        path = lineage.build_branch_lineage(world, path, end)
    fork = end + 50.0

    def grow_log(steps: list[float]) -> lineage.Lineage:
        branch_path, point = path, fork
        for step in steps:
            branch_path = lineage.build_branch_lineage(world, branch_path, point)
            point += step
        return branch_path

    branched_path, theirs = grow_log(first_steps), grow_log(second_steps)
    common = lineage.find_common_kb(branched_path, theirs)
    assert common == lineage.find_common_kb(theirs, branched_path)
    assert common == (fork if first_steps or second_steps else float("inf"))


def test_later_backups_name_the_last_full_backup() -> None:
    """DatabaseBackupLSN of log and differential backups is the CheckpointLSN of the full backup before them."""
    world = build_unmirrored_world()
    take_full_backup(world)
    settle_and_run(world, 5.0)
    take_log_backup(world)
    take_full_backup(world, path=FULL + "2", differential=True)
    full, *later = [restore.list_backup_sets(world, P, path)[0] for path in (FULL, TRN, FULL + "2")]
    assert [backup_set.base_kb for backup_set in later] == [full.first_kb, full.first_kb]
    assert full.base_kb != full.first_kb
