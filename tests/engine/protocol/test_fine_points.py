"""Exact texts of statements, accounts and lists. Each case comes from a mutation that no other test detected."""

from __future__ import annotations

from functools import cache

import pytest
from msgspec.structs import replace

from engine.constants import RESTORE_RECOVERY_S, TICKS_PER_S
from engine.messages import Message, SqlError
from engine.model import Client, DbState, Job, RecoveryModel, Volume, World
from engine.protocol import (
    accounts,
    availability,
    backup,
    clock,
    commits,
    connections,
    databases,
    disks,
    endpoints,
    jobs,
    log_space,
    loss_causes,
    network,
    options,
    restore,
    security,
    statements,
    streams,
    volumes,
)
from engine.protocol.backup import BackupFile
from engine.protocol.restore import RestoreState
from tests.assertions import require
from tests.engine.protocol.setups import (
    DB,
    FULL,
    PRINCIPAL,
    TRN,
    M,
    P,
    build_unmirrored_world,
    copy_file,
    finish_statement,
    get_refusal_number,
    restore_log,
    take_full_backup,
    take_log_backup,
)
from tests.engine.worlds import W, apply_lines, build_lab
from tests.events import read_field

# --- backup and restore -------------------------------------------------------------------------------------


@cache
def _take_backup_in_lab() -> World:
    world = build_unmirrored_world()
    take_full_backup(world)
    copy_file(world, FULL)
    return world


def fork_with_backup() -> World:
    """Return a world in which SERVER_A serves Sales, with a full backup of it on both servers."""
    return _take_backup_in_lab().fork()


def get_completion_tick(outcome: statements.Outcome) -> int:
    assert isinstance(outcome, statements.PendingStatement)
    return outcome.tick


def test_a_restore_with_recovery_takes_the_recovery_time() -> None:
    ends = {
        ending: get_completion_tick(restore.restore_database(fork_with_backup(), M, DB, FULL, ending=ending))
        for ending in (
            RestoreState(recovery=False),
            RestoreState(),
            RestoreState(recovery=False, standby=True),
        )
    }
    shortest = ends.pop(RestoreState(recovery=False))
    assert [end - shortest for end in ends.values()] == [round(RESTORE_RECOVERY_S * TICKS_PER_S)] * 2


def test_a_restoring_database_does_not_serve_and_accepts_log_backups() -> None:
    world = fork_with_backup()
    sets = restore.list_backup_sets(world, M, FULL)
    image = replace(require(sets[0].image), log_backup_every_s=600.0)
    world.files[M, FULL] = BackupFile((replace(sets[0], image=image),))
    restore.restore_database(world, M, "Copy", FULL, moves={f: f"D:\\x\\{f}" for f in ("Sales", "Sales_log")})
    assert not world.availability["Copy"].serving
    assert (M, "Copy") in [timer[3] for timer in world.timers if timer[2] == "log.backup"]


def test_a_backup_of_a_database_that_disappears_ends_with_3049() -> None:
    world = build_unmirrored_world()
    outcome = backup.back_up_database(world, P, DB, FULL)
    apply_lines(world, f"power-off {P}", wait_s=1.0)
    assert get_refusal_number(finish_statement, world, P, outcome) == 3049


@pytest.mark.parametrize("statement", ["FAILOVER", "OFF"])
def test_a_failover_ends_the_connection_of_a_running_backup(statement: str) -> None:
    world = build_lab()
    backup_text = f"sql {P} BACKUP DATABASE {DB} TO DISK = '{FULL}'"
    events = apply_lines(
        world, backup_text, f"sql {P}#2 ALTER DATABASE {DB} SET PARTNER {statement}", wait_s=70
    )
    ended = [e for e in events if e.kind == "sql_done" and "BACKUP" in read_field(e, "batch")]
    if statement == "OFF":
        assert not ended  # it continues
    else:
        assert [message["number"] for message in read_field(ended[0], "messages")] == [10054]
        assert "BACKUP failed to complete the command BACKUP DATABASE Sales" in str(events)


def test_an_isolated_principal_ends_the_connection_of_its_log_backup() -> None:
    world = build_lab()
    apply_lines(world, f"fill-log {DB}", f"sql {P} BACKUP LOG {DB} TO DISK = '{FULL}'", wait_s=5.0)
    events = apply_lines(world, f"cut {P} {M}", f"cut {P} {W}", wait_s=5.0)
    ended = [e for e in events if e.kind == "sql_done"]
    assert [message["number"] for message in read_field(ended[0], "messages")] == [10054]


def test_a_backup_of_a_system_database_is_not_simulated() -> None:
    reply = finish_statement(
        build_unmirrored_world(), P, backup.back_up_database(build_unmirrored_world(), P, "master", FULL)
    )
    assert reply == [Message(0, 0, 0, 0, "Not simulated: a backup of master is accepted and writes no file.")]


def test_the_stopat_message_precedes_the_last_line() -> None:
    world = build_unmirrored_world()
    take_full_backup(world)
    take_log_backup(world)
    for path in (FULL, TRN):
        copy_file(world, path)
    finish_statement(world, M, restore.restore_database(world, M, DB, FULL, recovery=False))
    late_stop = RestoreState(stop_tick=world.tick + 100_000)
    reply = finish_statement(world, M, restore.restore_log(world, M, DB, TRN, ending=late_stop))
    assert [line.number for line in reply][-2:] == [0, 3014]
    assert len(reply) == len({line.text for line in reply}) > 2


def test_restoring_a_missing_database_with_recovery_is_3118() -> None:
    assert (
        get_refusal_number(statements.restore_without_backup, build_unmirrored_world(), P, "Nothing") == 3118
    )


def test_a_backup_file_cannot_be_attached() -> None:
    assert get_refusal_number(databases.attach_database, fork_with_backup(), P, "New", FULL) == 5120


def test_simple_recovery_ends_the_chain_at_once() -> None:
    world = fork_with_backup()
    assert world.copies[PRINCIPAL].full_backup
    world_simple = world.fork()
    set_recovery(world_simple, RecoveryModel.SIMPLE)
    assert not world_simple.copies[PRINCIPAL].full_backup
    set_recovery(world, RecoveryModel.BULK_LOGGED)
    assert world.copies[PRINCIPAL].full_backup


def set_recovery(world: World, model: RecoveryModel) -> None:
    options.set_option(world, P, DB, "RECOVERY", model.name)


def test_a_new_database_has_a_log_of_1_mb() -> None:
    world = build_lab()
    databases.create_database(world, P, "New")
    assert world.copies[P, "New"].log_size_kb == 1024.0


def test_a_database_with_lost_files_is_not_backed_up() -> None:
    world = build_unmirrored_world()
    world.update_copy(PRINCIPAL, disk_failed=True)
    assert get_refusal_number(backup.back_up_database, world, P, DB, FULL) == 945


def test_remote_files_are_reachable_only_over_the_network() -> None:
    world = fork_with_backup()
    shares = {P: f"\\\\{M}\\D$\\Backup\\Sales.bak", M: f"\\\\{P}\\D$\\Backup\\Sales.bak"}
    before = {
        server: get_refusal_number(restore.list_backup_sets, world, server, path)
        for server, path in shares.items()
    }
    apply_lines(world, f"cut {P} {M}", wait_s=1.0)
    assert {
        server: get_refusal_number(restore.list_backup_sets, world, server, path)
        for server, path in shares.items()
    } == {
        P: 3201,
        M: 3201,
    }, before
    assert before == {P: 0, M: 0}


def test_only_the_named_log_is_filled() -> None:
    world = build_lab(databases=2)
    before = {key: copy.log_size_kb for key, copy in world.copies.items()}
    log_space.fill_log(world, "Sales001")
    grown = {key for key, copy in world.copies.items() if copy.log_size_kb != before[key]}
    assert grown == {(P, "Sales001")}


# --- accounts, lists, clocks --------------------------------------------------------------------------------


def test_a_login_keeps_its_type_and_sa_cannot_be_dropped() -> None:
    world = build_lab()
    accounts.create_login(world, P, "app", password="Secret#1")
    accounts.create_login(world, P, "CORP\\web", windows=True)
    instance = world.instances[P]
    assert [require(instance.find_login(name)).kind for name in ("app", "CORP\\web")] == [
        "SQL",
        "WINDOWS",
    ]
    assert get_refusal_number(accounts.drop_login, world, P, "sa") == 15405


def test_dropping_a_login_removes_only_its_grant() -> None:
    world = build_lab()
    for name in ("first", "second", "third"):
        accounts.create_login(world, P, name, password="Secret#1")
    end = require(world.instances[P].endpoint)
    granted = (*end.granted, "first", "second", "third")
    world.update_instance(P, endpoint=replace(end, granted=granted))
    accounts.drop_login(world, P, "second")
    assert require(world.instances[P].endpoint).granted == (*end.granted, "first", "third")


def test_a_certificate_without_a_subject_uses_its_name() -> None:
    world = build_lab()
    accounts.create_master_key(world, P)
    for name, subject in (("plain", None), ("named", "mirroring")):
        accounts.create_certificate(world, P, name, subject=subject)
    instance = world.instances[P]
    subjects = [require(security.find_certificate(instance, name)).subject for name in ("plain", "named")]
    assert subjects == ["plain", "mirroring"]


def test_an_application_uses_its_login_or_service_account() -> None:
    world = build_lab()
    app = world.clients["APP"]
    domain = world.get_computer_of(P).domain
    assert connections.get_application_login(world, replace(app, login="web"), P) == "web"
    assert connections.get_application_login(world, replace(app, login=""), P) == f"{domain}\\svc-app"


def test_a_job_name_is_case_insensitive() -> None:
    world = build_lab()
    jobs.add_job(world, P, Job(name="Nightly run"))
    assert jobs.find_job(world, P, "NIGHTLY RUN").name == "Nightly run"


def test_the_connection_list_does_not_depend_on_the_order_of_applications() -> None:
    world = build_lab()
    world.clients["AAA"] = replace(world.clients["APP"], name="AAA", connected_to=M)
    assert {connection.client.name for connection in connections.list_connections(world, P)} == {"APP"}


def test_clients_of_other_databases_do_not_make_a_database_reachable() -> None:
    world = build_lab()
    world.clients["OTHER"] = Client(name="OTHER", databases=("Orders",), data_source=P)
    assert availability.list_serving_copies(world, DB)
    apply_lines(world, f"cut APP {P}", wait_s=1.0)
    assert not availability.list_serving_copies(world, DB)


def test_a_lost_data_volume_is_823_state_2() -> None:
    world = build_lab()
    disks.require_data_reachable(world.copies[PRINCIPAL])
    with pytest.raises(SqlError) as problem:
        disks.require_data_reachable(replace(world.copies[PRINCIPAL], data_failed_tick=1))
    assert (problem.value.number, problem.value.state) == (823, 2)


def test_the_clock_moves_forward_and_is_read_as_shown() -> None:
    world = build_lab()
    time_later = clock.get_time_at(world, 90 * TICKS_PER_S)
    assert (time_later - clock.get_time_at(world, 0)).total_seconds() == 90.0
    assert clock.parse_tick(world, f"{time_later:%Y-%m-%d %H:%M:%S}") == 90 * TICKS_PER_S


def test_another_cut_link_does_not_explain_a_loss() -> None:
    world = build_lab()
    apply_lines(world, f"power-off {P}", wait_s=1.0)
    cause = loss_causes.find_loss_cause(world, P, M)
    apply_lines(world, f"cut {M} {W}", wait_s=1.0)
    assert loss_causes.find_loss_cause(world, P, M) == cause
    assert cause[0] == "power-off"


def test_one_connection_is_load() -> None:
    copy = build_lab().copies[PRINCIPAL]
    connection_share = 1.0 / streams.get_workload(copy).connections
    assert streams.is_under_load(replace(copy, scale=connection_share))
    assert not streams.is_under_load(replace(copy, scale=0.9 * connection_share))


# --- endpoints, files, jobs ----------------------------------------------------------------------------------


def test_an_endpoint_listens_on_its_own_and_loopback_addresses() -> None:
    lines = {}
    for ip in ("ALL", "127.0.0.1", "203.0.113.9"):
        world = build_lab(witness=False)
        endpoints.drop_endpoint(world, P, "Mirroring")
        endpoints.create_endpoint(world, P, "Mirroring", port=5022, role="PARTNER", state="STARTED", ip=ip)
        lines[ip] = world.errorlog[P][-1][1]
    assert lines == {"ALL": 9690, "127.0.0.1": 9690, "203.0.113.9": 26024}


def test_files_of_another_database_are_not_overwritten() -> None:
    world = fork_with_backup()
    with pytest.raises(SqlError) as problem:
        restore.restore_database(world, P, "Copy", FULL)
    assert [problem.number for problem in problem.value.problems] == [1834, 3156] * 2
    assert problem.value.parameters[1] == DB
    finish_statement(world, M, restore.restore_database(world, M, DB, FULL, recovery=False))
    assert (
        get_refusal_number(restore.restore_database, world, M, DB.lower(), FULL, replace_existing=True) == 0
    )


def test_stopat_covers_a_log_backup_from_begin_to_end() -> None:
    world = build_unmirrored_world()
    take_full_backup(world)
    take_log_backup(world)
    for path in (FULL, TRN):
        copy_file(world, path)
    finish_statement(world, M, restore.restore_database(world, M, DB, FULL, recovery=False))
    (backup_set,) = restore.list_backup_sets(world, M, TRN)
    for tick, reached in ((backup_set.started_tick, True), (backup_set.started_tick + 1, False)):
        trial = world.fork()
        ending = RestoreState(stop_tick=tick)
        reply = finish_statement(trial, M, restore.restore_log(trial, M, DB, TRN, ending=ending))
        assert (restore.STOPAT_NOT_REACHED not in [message.text for message in reply]) is reached
    take_log_backup(world)
    copy_file(world, TRN)
    (first, second) = restore.list_backup_sets(world, M, TRN)
    assert second.from_tick == first.started_tick
    restore_log(world)
    for tick, number in ((second.from_tick - 1, 4335), (second.from_tick, 0)):
        ending = RestoreState(stop_tick=tick)
        assert get_refusal_number(restore.restore_log, world, M, DB, TRN, ending=ending, file=2) == number


def test_a_mirror_is_not_backed_up() -> None:
    world = build_lab()
    numbers = {}
    for version in (2008, 2012, 2014):
        world.update_instance(M, version=version)
        numbers[version] = get_refusal_number(backup.back_up_database, world, M, DB, FULL)
    assert numbers == {2008: 954, 2012: 3059, 2014: 3059}


def test_the_log_backup_job_needs_an_open_fully_logged_database() -> None:
    def backed_up(**changes: object) -> bool:
        world = fork_with_backup()
        world.update_copy(PRINCIPAL, log_backup_every_s=60.0, **changes)
        before = set(world.files)
        jobs.run_log_backup_job(world, P, DB)
        return set(world.files) != before

    assert backed_up()
    assert not backed_up(source=None)
    assert not backed_up(recovering=True)
    assert not backed_up(db_state=DbState.RECOVERING)
    assert not backed_up(full_backup=False)
    assert not backed_up(recovery_model=RecoveryModel.SIMPLE)


def test_a_log_backup_job_without_interval_or_database_does_not_repeat() -> None:
    world = fork_with_backup()
    timers = len(world.timers)
    jobs.run_log_backup_job(world, P, DB)
    jobs.run_log_backup_job(world, P, "Gone")
    assert len(world.timers) == timers


def test_a_database_in_standby_is_not_backed_up() -> None:
    world = fork_with_backup()
    finish_statement(
        world, M, restore.restore_database(world, M, DB, FULL, ending=RestoreState(False, standby=True))
    )
    assert get_refusal_number(backup.back_up_database, world, M, DB, "D:\\Backup\\New.bak") == 3036


# --- numbers and sizes ---------------------------------------------------------------------------------------


def test_each_refusal_has_its_own_number() -> None:
    with pytest.raises(SqlError) as problem:
        endpoints.change_connect_permission(build_lab(), P, "Mirroring", "GRANT", ("CORP\\stranger",))
    assert (problem.value.number, problem.value.parameters) == (15151, ("find", "login", "CORP\\stranger"))


def test_a_restore_needs_space_on_each_drive_of_its_files() -> None:
    world = fork_with_backup()
    (backup_set,) = restore.list_backup_sets(world, M, FULL)
    sizes_kb = {file.drive: file.size_kb for file in volumes.list_copy_files(require(backup_set.image))}
    assert len(sizes_kb) == 2
    for drive, size_kb in sizes_kb.items():
        used_kb = volumes.compute_used_kb(world, M, drive)
        for spare_kb, number in ((-1.0, 3257), (1.0, 0)):
            trial = world.fork()
            volume = Volume(letter=drive, size_kb=used_kb + size_kb + spare_kb)
            trial.update_computer(world.get_computer_of(M).name, volumes=(volume,))
            ending = RestoreState(recovery=False)
            assert (
                get_refusal_number(restore.restore_database, trial, M, DB, FULL, ending=ending) == number
            ), drive


def test_a_processor_at_normal_speed_never_delays_pings() -> None:
    world = build_lab(databases=100)
    guid = require(world.copies[P, "Sales001"].mirroring.guid)
    speeds = {1.0: False, 1.01: False, 1000.0: True}
    for factor, delayed in speeds.items():
        world.update_computer(world.get_computer_of(P).name, cpu_factor=factor)
        assert network.is_overloaded(world, guid, P, W) is delayed


def test_lost_transactions_are_counted_as_integers() -> None:
    world = build_lab()
    copy = world.copies[PRINCIPAL]
    each_kb = streams.get_workload(copy).log_kb_per_transaction
    counts = [
        commits.count_transactions(world, copy, 0.0, share * each_kb) for share in (0.0, 0.4, 0.6, 1.4, 1.6)
    ]
    assert counts == [0, 0, 1, 1, 2]
