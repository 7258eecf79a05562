"""Log space: growth steps, a full volume, error 9002, and actions that free log or fail to free it."""

from __future__ import annotations

import pytest

from engine.events import Event
from engine.mirroring import commands
from engine.model import MirrorState, RecoveryModel, Volume, World
from engine.protocol import backup, database_files, jobs, log_space, serving, streams, volumes
from tests.engine.protocol.setups import (
    DB,
    MIRROR,
    PRINCIPAL,
    M,
    P,
    finish_statement,
    get_refusal_number,
    settle_and_run,
)
from tests.engine.worlds import apply_lines, build_lab
from tests.events import read_field

GB = 1024.0 * 1024


def build_small_log_world(**changes: object) -> World:
    """Return the lab with a log file of 100 MB that can grow to 200 MB, and no log backup job."""
    world = build_lab(witness=False)
    sizes = {"log_size_kb": 100.0 * 1024, "log_max_kb": 200.0 * 1024, "log_backup_every_s": 0.0}
    for key in (PRINCIPAL, MIRROR):
        world.update_copy(key, **{**sizes, **changes})
    return world


def list_events_of_kind(events: list[Event], kind: str) -> list[Event]:
    return [event for event in events if event.kind == "log" and read_field(event, "what") == kind]


def suspend_session(world: World) -> None:
    commands.suspend_session(world, P, DB)


def run_until_full(world: World) -> list[Event]:
    events = settle_and_run(world, 600.0)
    assert world.copies[PRINCIPAL].log_full
    return events


def test_the_log_file_grows_by_tenths_to_its_limit_then_the_database_halts() -> None:
    world = build_small_log_world()
    suspend_session(world)
    events = run_until_full(world)
    sizes = [read_field(event, "log_size_kb") / 1024 for event in list_events_of_kind(events, "grows")]
    assert sizes == pytest.approx([110, 121, 133.1, 146.41, 161.05, 177.16, 194.87, 200], abs=0.01)
    (full_event,) = list_events_of_kind(events, "full")
    assert read_field(full_event, "reuse_wait") == "DATABASE_MIRRORING"
    assert "The transaction log for database 'Sales' is full." in full_event.text
    assert [
        read_field(e, "number") for e in events if e.kind == "errorlog" and e.tick == full_event.tick
    ] == [9002]
    assert not serving.is_serving(world, PRINCIPAL)
    log_positions = world.flow.read_source_positions(world.copies[PRINCIPAL].source or 0)
    assert log_space.compute_used_kb(world, world.copies[PRINCIPAL]) <= 200.0 * 1024 + 1.0
    settle_and_run(world, 60.0)
    assert (
        world.flow.read_source_positions(world.copies[PRINCIPAL].source or 0).generated_kb
        == log_positions.generated_kb
    )


def test_error_9002_names_the_reason_since_2012() -> None:
    world = build_small_log_world()
    for name in (P, M):
        world.update_instance(name, version=2012)
    suspend_session(world)
    assert "is full due to 'DATABASE_MIRRORING'" in list_events_of_kind(run_until_full(world), "full")[0].text


def test_a_full_drive_limits_growth_before_the_file_limit() -> None:
    world = build_small_log_world(log_max_kb=40 * GB)
    world.update_computer(P, volumes=(Volume(letter="L", size_kb=150.0 * 1024),))
    suspend_session(world)
    run_until_full(world)
    assert world.copies[PRINCIPAL].log_size_kb == pytest.approx(150.0 * 1024)
    events = apply_lines(world, f"grow-volume {P} L size_gb=1", wait_s=5.0)
    assert list_events_of_kind(events, "room")
    assert serving.is_serving(world, PRINCIPAL)


def back_up_log_now(world: World) -> None:
    finish_statement(world, P, backup.back_up_log(world, P, DB, "D:\\Backup\\x.trn"))


ACTIONS = {
    # action -> whether it frees log while the session is suspended; None: only after a log backup
    "log backup": (back_up_log_now, False),
    "shrink": (lambda w: log_space.shrink_log(w, P, DB, 1024.0), False),
    "resume": (lambda w: commands.resume_session(w, P, DB), None),  # frees log after a log backup
    "mirroring removed": (lambda w: commands.remove_session(w, P, DB), None),
    "log file added": (
        lambda w: log_space.add_file(w, P, DB, "log2", "D:\\Log\\log2.ldf", 50.0 * 1024, log=True), True),
    "limit raised": (lambda w: database_files.modify_file(w, P, DB, "Sales_log", max_kb=400.0 * 1024), True),
    "file made larger": (lambda w: database_files.modify_file(w, P, DB, "Sales_log", size_kb=300.0 * 1024), True),
}  # fmt: skip


@pytest.mark.parametrize("case", ACTIONS)
def test_actions_free_log_in_a_suspended_session(case: str) -> None:
    world = build_small_log_world()
    suspend_session(world)
    run_until_full(world)
    act, is_freed = ACTIONS[case]
    act(world)
    settle_and_run(world, 20.0)
    assert (not world.copies[PRINCIPAL].log_full) is bool(is_freed)
    if is_freed is None:
        back_up_log_now(world)
        settle_and_run(world, 1.0)
        assert not world.copies[PRINCIPAL].log_full, "with a log backup there is room"


def test_the_mirrors_return_and_a_log_backup_free_log() -> None:
    world = build_small_log_world()
    apply_lines(world, f"power-off {M}", wait_s=1.0)
    assert (
        read_field(list_events_of_kind(run_until_full(world), "full")[0], "reuse_wait")
        == "DATABASE_MIRRORING"
    )
    apply_lines(world, f"power-on {M}", wait_s=120.0)
    assert log_space.find_reuse_wait(world, world.copies[PRINCIPAL].source) == "LOG_BACKUP"
    assert world.copies[PRINCIPAL].log_full
    back_up_log_now(world)
    settle_and_run(world, 1.0)
    assert not world.copies[PRINCIPAL].log_full


def test_log_backups_keep_the_log_small_while_the_mirror_keeps_up() -> None:
    world = build_small_log_world(log_backup_every_s=60.0)
    row = world.copies[PRINCIPAL].source or 0
    jobs.start_log_backup_timer(world, PRINCIPAL)
    events = settle_and_run(world, 900.0)
    assert not list_events_of_kind(events, "grows"), (
        "no growth, though far more was written than the file holds"
    )
    assert world.flow.read_source_positions(row).generated_kb - 1e6 > 200.0 * 1024
    assert sum(path.endswith(".trn") for _, path in world.files) == 15


LOG_REUSE_CASES = {
    "nothing written since": (
        lambda w: (apply_lines(w, "workload Sales none", wait_s=30.0), back_up_log_now(w)),
        "NOTHING",
    ),
    "log backup is due": (lambda w: settle_and_run(w, 30.0), "LOG_BACKUP"),
    "suspended": (
        lambda w: (settle_and_run(w, 5.0), suspend_session(w), settle_and_run(w, 30.0)),
        "DATABASE_MIRRORING",
    ),
    "transaction left open": (
        lambda w: (log_space.leave_transaction_open(w, P, DB), settle_and_run(w, 5.0), back_up_log_now(w)),
        "ACTIVE_TRANSACTION",
    ),
    "backup under way": (
        lambda w: (
            backup.back_up_database(w, P, DB, "D:\\x.bak"),
            settle_and_run(w, 5.0),
            back_up_log_now(w),
        ),
        "ACTIVE_BACKUP_OR_RESTORE",
    ),
}


@pytest.mark.parametrize("case", LOG_REUSE_CASES)
def test_log_reuse_wait_desc_names_the_reason(case: str) -> None:
    world = build_lab(witness=False)
    prepare, expected = LOG_REUSE_CASES[case]
    prepare(world)
    assert log_space.find_reuse_wait(world, world.copies[PRINCIPAL].source) == expected


def test_an_open_transaction_releases_log_at_its_end() -> None:
    world = build_lab(witness=False)
    log_space.leave_transaction_open(world, P, DB)
    settle_and_run(world, 10.0)
    back_up_log_now(world)
    held_kb = log_space.compute_used_kb(world, world.copies[PRINCIPAL])
    log_space.end_open_transaction(world, P, DB)
    assert held_kb > 10.0 * 700
    assert log_space.compute_used_kb(world, world.copies[PRINCIPAL]) < held_kb / 2


def test_without_a_full_backup_no_log_backup_is_needed() -> None:
    world = build_small_log_world()
    commands.remove_session(world, P, DB)
    world.update_copy(PRINCIPAL, recovery_model=RecoveryModel.SIMPLE)
    events = settle_and_run(world, 600.0)
    assert not list_events_of_kind(events, "grows")
    assert log_space.find_reuse_wait(world, world.copies[PRINCIPAL].source) == "NOTHING"


def test_shrinking_stops_at_the_used_part() -> None:
    world = build_small_log_world()
    settle_and_run(world, 20.0)
    used = log_space.compute_used_kb(world, world.copies[PRINCIPAL])
    log_space.shrink_log(world, P, DB, 1.0)
    assert world.copies[PRINCIPAL].log_size_kb == pytest.approx(used)
    settle_and_run(world, 10.0)
    assert world.copies[MIRROR].log_size_kb == world.copies[PRINCIPAL].log_size_kb, (
        "the mirror's file follows"
    )


def test_bulk_loads_fill_40_gb_in_slightly_over_two_hours() -> None:
    # [WP, suspending and resuming a mirroring session]
    world = build_lab(witness=False, workload="none")
    suspend_session(world)
    events = apply_lines(world, "bulk-load Sales rows=300000000", wait_s=9000.0)
    (full_event,) = list_events_of_kind(events, "full")
    assert 7200.0 < full_event.t_s < 8100.0
    assert world.copies[PRINCIPAL].log_size_kb == pytest.approx(40 * GB)


def test_an_index_rebuild_is_one_transaction_and_ends() -> None:
    world = build_lab(witness=False, workload="none")
    apply_lines(world, "rebuild-index Sales offline size=0.05", wait_s=5.0)
    back_up_log_now(world)
    assert log_space.find_reuse_wait(world, world.copies[PRINCIPAL].source) == "ACTIVE_TRANSACTION"
    events = apply_lines(world, "rebuild-index Sales", wait_s=200.0)
    assert any(read_field(event, "refused") for event in events), "one after the other"
    assert world.copies[PRINCIPAL].operation is None
    assert world.copies[PRINCIPAL].active_from_kb is None


def test_fill_log_fills_the_log() -> None:
    world = build_small_log_world()
    events = apply_lines(world, "fill-log Sales", wait_s=5.0)
    assert read_field(list_events_of_kind(events, "full")[0], "reuse_wait") == "LOG_BACKUP"
    since_kb = streams.read_counter(
        world, (world.copies[PRINCIPAL].source or 0, -1), "log_since_checkpoint_kb"
    )
    assert since_kb < 10_000.0, "a recovery or a failover need not redo the added log"
    back_up_log_now(world)
    copy = world.copies[PRINCIPAL]
    assert not copy.log_full
    assert log_space.compute_used_kb(world, copy) < 0.1 * copy.log_size_kb, "one log backup frees the log"
    assert world.copies[MIRROR].mirroring.state is MirrorState.SYNCHRONIZED


INVALID_FILES = [
    ((P, DB, "Sales", "D:\\x.ndf"), 1828),
    ((P, DB, "more", "Q:\\x.ndf"), 5123),
    ((P, DB, "more", "E:\\x.ndf"), 5149),
]


@pytest.mark.parametrize(("args", "number"), INVALID_FILES)
def test_an_invalid_add_file_is_refused(args: tuple[str, str, str, str], number: int) -> None:
    world = build_lab()
    world.update_computer(P, volumes=(Volume(letter="E", size_kb=100.0),))
    assert get_refusal_number(log_space.add_file, world, *args) == number


def test_files_are_removed_and_modified() -> None:
    world = build_lab()
    log_space.add_file(world, P, DB, "log2", "D:\\log2.ldf", 1024.0, log=True)
    log_space.add_file(world, P, DB, "data2", "D:\\data2.ndf", 1024.0)
    settle_and_run(world, 1.0)
    for name, number in (("Sales", 5020), ("data2", 5042), ("nothing", 5009)):
        assert get_refusal_number(log_space.remove_file, world, P, DB, name) == number
    assert get_refusal_number(database_files.modify_file, world, P, DB, "data2", size_kb=1.0) == 5039
    database_files.modify_file(world, P, DB, "log2", size_kb=4096.0)
    assert [(f.name, f.size_kb) for f in world.copies[PRINCIPAL].extra_files] == [
        ("log2", 4096.0),
        ("data2", 1024.0),
    ]
    log_space.remove_file(world, P, DB, "log2")
    settle_and_run(world, 5.0)
    assert [file.name for file in world.copies[MIRROR].extra_files] == ["data2"]


def test_truncate_only_ends_the_chain_of_an_unmirrored_database() -> None:
    world = build_lab()
    commands.remove_session(world, P, DB)
    log_space.truncate_log(world, P, DB)
    assert get_refusal_number(backup.back_up_log, world, P, DB, "D:\\x.trn") == 4214


def test_free_drive_space_accounts_for_all_files() -> None:
    world = build_lab()
    world.update_computer(P, volumes=(Volume(letter="D", size_kb=100 * GB),))
    assert volumes.compute_free_kb(world, P, "D") == pytest.approx(60 * GB), "Sales has 40 GB of data"
    finish_statement(world, P, backup.back_up_database(world, P, DB, "D:\\Backup\\x.bak"))
    assert volumes.compute_free_kb(world, P, "d") == pytest.approx(20 * GB, rel=0.05)
    apply_lines(world, f"delete-file {P} D:\\Backup\\x.bak")
    assert volumes.compute_free_kb(world, P, "D") == pytest.approx(60 * GB)
    assert volumes.compute_free_kb(world, P, "C") == float("inf")
    assert volumes.compute_free_kb(world, P, "Z") == 0.0


def test_a_new_principal_retains_log_only_from_its_partners_position() -> None:
    world = build_lab()
    apply_lines(world, f"power-off {P}", wait_s=30.0)
    copy = world.copies[MIRROR]
    assert copy.mirroring.state is MirrorState.DISCONNECTED
    holds = dict(streams.list_log_holds(world, copy, copy.source or 0))
    assert holds["DATABASE_MIRRORING"] == pytest.approx(world.copies[PRINCIPAL].end_of_log_kb)
