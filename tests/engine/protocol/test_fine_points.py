"""What statements, accounts and lists say exactly. Each line here was once changed without a test that noticed."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from engine.constants import RECOVER_RESTORED_S, TICKS_PER_S
from engine.messages import Message, SqlError
from engine.mirroring import commands, monitor, preconditions, quorum
from engine.model import Client, DbState, Job, MirrorState, RecoveryModel, World
from engine.protocol import (
    accounts,
    availability,
    backup,
    causes,
    clock,
    connections,
    databases,
    disks,
    jobs,
    logspace,
    options,
    restore,
    security,
    statements,
    streams,
)
from engine.protocol.restore import Ending
from tests.engine.protocol.setups import (
    DB,
    FULL,
    MIRROR,
    PRINCIPAL,
    TRN,
    M,
    P,
    alone,
    carry,
    finish,
    full,
    log,
    refusal,
)
from tests.engine.worlds import W, do, lab
from tests.there import there

# --- backup and restore -------------------------------------------------------------------------------------


@cache
def _with_backup() -> World:
    world = alone()
    full(world)
    carry(world, FULL)
    return world


def with_backup() -> World:
    """Sales is served by SERVER_A; a full backup of it lies on both servers."""
    return _with_backup().fork()


def due(outcome: statements.Outcome) -> int:
    assert isinstance(outcome, statements.Pending)
    return outcome.tick


def test_a_restore_that_ends_readable_takes_its_recovery_longer() -> None:
    ends = {
        how: due(restore.restore_database(with_backup(), M, DB, FULL, ending=how))
        for how in (Ending(recovery=False), Ending(), Ending(recovery=False, standby=True))
    }
    shortest = ends.pop(Ending(recovery=False))
    assert [end - shortest for end in ends.values()] == [round(RECOVER_RESTORED_S * TICKS_PER_S)] * 2


def test_a_database_that_is_being_restored_does_not_serve_yet_and_gets_its_log_backups() -> None:
    world = with_backup()
    sets = world.files[M, FULL].sets
    image = replace(there(sets[0].image), log_backup_every_s=600.0)
    world.files[M, FULL] = replace(world.files[M, FULL], sets=(replace(sets[0], image=image),))
    restore.restore_database(world, M, "Copy", FULL, moves={f: f"D:\\x\\{f}" for f in ("Sales", "Sales_log")})
    assert not world.availability["Copy"].serving
    assert (M, "Copy") in [timer[3] for timer in world.timers if timer[2] == "log.backup"]


def test_a_backup_of_a_database_that_goes_meanwhile_ends_with_3049() -> None:
    world = alone()
    outcome = backup.backup_database(world, P, DB, FULL)
    do(world, f"power-off {P}", then_s=1.0)
    assert refusal(finish, world, P, outcome) == 3049


def test_a_backup_of_a_system_database_says_that_it_is_not_simulated() -> None:
    said = finish(alone(), P, backup.backup_database(alone(), P, "master", FULL))
    assert said == [Message(0, 0, 0, 0, "Not simulated: a backup of master is accepted and writes no file.")]


def test_what_stopat_says_stands_before_the_last_line() -> None:
    world = alone()
    full(world)
    log(world)
    for path in (FULL, TRN):
        carry(world, path)
    finish(world, M, restore.restore_database(world, M, DB, FULL, recovery=False))
    late = Ending(stop_tick=world.tick + 100_000)
    said = finish(world, M, restore.restore_log(world, M, DB, TRN, ending=late))
    assert [line.number for line in said][-2:] == [0, 3014]
    assert len(said) == len({line.text for line in said}) > 2


def test_restoring_no_database_with_recovery_is_3118() -> None:
    assert refusal(statements.restore_with_recovery, alone(), P, "Nothing") == 3118


def test_a_backup_is_no_database_to_attach() -> None:
    assert refusal(databases.attach, with_backup(), P, "New", FULL) == 5120


def test_simple_recovery_ends_the_chain_at_once() -> None:
    world = with_backup()
    assert world.copies[PRINCIPAL].full_backup
    world_simple = world.fork()
    set_recovery(world_simple, RecoveryModel.SIMPLE)
    assert not world_simple.copies[PRINCIPAL].full_backup
    set_recovery(world, RecoveryModel.BULK_LOGGED)
    assert world.copies[PRINCIPAL].full_backup


def set_recovery(world: World, model: RecoveryModel) -> None:
    options.set_option(world, P, DB, "RECOVERY", model.name)


def test_a_new_database_has_a_log_of_1_mb() -> None:
    world = lab()
    databases.create(world, P, "New")
    assert world.copies[P, "New"].log_size_kb == 1024.0


def test_a_database_whose_files_are_lost_is_not_backed_up() -> None:
    world = alone()
    world.update_copy(PRINCIPAL, disk_failed=True)
    assert refusal(backup.backup_database, world, P, DB, FULL) == 945


def test_files_elsewhere_are_reached_only_over_the_network() -> None:
    world = with_backup()
    shares = {P: f"\\\\{M}\\D$\\Backup\\Sales.bak", M: f"\\\\{P}\\D$\\Backup\\Sales.bak"}
    before = {server: refusal(restore.sets_in, world, server, path) for server, path in shares.items()}
    do(world, f"cut {P} {M}", then_s=1.0)
    assert {server: refusal(restore.sets_in, world, server, path) for server, path in shares.items()} == {
        P: 3201, M: 3201,
    }, before  # fmt: skip
    assert before == {P: 0, M: 0}


def test_only_the_log_that_was_named_is_filled() -> None:
    world = lab(databases=2)
    before = {key: copy.log_size_kb for key, copy in world.copies.items()}
    logspace.fill(world, "Sales001")
    grown = {key for key, copy in world.copies.items() if copy.log_size_kb != before[key]}
    assert grown == {(P, "Sales001")}


# --- accounts, lists, clocks --------------------------------------------------------------------------------


def test_a_login_is_of_its_kind_and_sa_stays() -> None:
    world = lab()
    accounts.create_login(world, P, "app", password="secret")
    accounts.create_login(world, P, "CORP\\web", windows=True)
    here = world.instances[P]
    assert [there(security.login_of(here, name)).kind for name in ("app", "CORP\\web")] == ["SQL", "WINDOWS"]
    assert refusal(accounts.drop_login, world, P, "sa") == 15405


def test_dropping_a_login_takes_its_grant_and_no_other() -> None:
    world = lab()
    for name in ("first", "second", "third"):
        accounts.create_login(world, P, name, password="secret")
    end = there(world.instances[P].endpoint)
    granted = (*end.granted, "first", "second", "third")
    world.update_instance(P, endpoint=replace(end, granted=granted))
    accounts.drop_login(world, P, "second")
    assert there(world.instances[P].endpoint).granted == (*end.granted, "first", "third")


def test_a_certificate_without_a_subject_has_its_name_for_one() -> None:
    world = lab()
    accounts.create_master_key(world, P)
    for name, subject in (("plain", None), ("named", "mirroring")):
        accounts.create_certificate(world, P, name, subject=subject)
    here = world.instances[P]
    subjects = [there(security.certificate_of(here, name)).subject for name in ("plain", "named")]
    assert subjects == ["plain", "mirroring"]


def test_an_application_has_its_own_login_or_the_account_of_its_service() -> None:
    world = lab()
    app = world.clients["APP"]
    domain = world.computer_of(P).domain
    assert connections.login_of(world, replace(app, login="web"), P) == "web"
    assert connections.login_of(world, replace(app, login=""), P) == f"{domain}\\svc-app"


def test_a_job_is_found_however_its_name_is_spelled() -> None:
    world = lab()
    jobs.add(world, P, Job(name="Nightly run"))
    assert jobs.find(world, P, "NIGHTLY RUN").name == "Nightly run"


def test_connections_are_listed_whichever_application_comes_first() -> None:
    world = lab()
    world.clients["AAA"] = replace(world.clients["APP"], name="AAA", connected_to=M)
    assert {one.client.name for one in connections.on_server(world, P)} == {"APP"}


def test_only_its_own_clients_say_whether_a_database_can_be_reached() -> None:
    world = lab()
    world.clients["OTHER"] = Client(name="OTHER", databases=("Orders",), data_source=P)
    assert availability.serving_copies(world, DB)
    do(world, f"cut APP {P}", then_s=1.0)
    assert not availability.serving_copies(world, DB)


def test_a_lost_data_volume_is_823_state_2() -> None:
    world = lab()
    disks.need_data(world.copies[PRINCIPAL])
    with pytest.raises(SqlError) as problem:
        disks.need_data(replace(world.copies[PRINCIPAL], data_failed_tick=1))
    assert (problem.value.number, problem.value.state) == (823, 2)


def test_the_clock_goes_forward_and_reads_what_it_shows() -> None:
    world = lab()
    later = clock.time_at(world, 90 * TICKS_PER_S)
    assert (later - clock.time_at(world, 0)).total_seconds() == 90.0
    assert clock.tick_of(world, f"{later:%Y-%m-%d %H:%M:%S}") == 90 * TICKS_PER_S


def test_another_link_that_was_cut_does_not_explain_a_loss() -> None:
    world = lab()
    do(world, f"power-off {P}", then_s=1.0)
    lost = causes.of_loss(world, P, M)
    do(world, f"cut {M} {W}", then_s=1.0)
    assert causes.of_loss(world, P, M) == lost
    assert lost[0] == "power-off"


def test_one_connection_is_load() -> None:
    copy = lab().copies[PRINCIPAL]
    one = 1.0 / streams.workload_of(copy).connections
    assert streams.under_load(replace(copy, scale=one))
    assert not streams.under_load(replace(copy, scale=0.9 * one))


# --- mirroring ----------------------------------------------------------------------------------------------


def test_a_mirror_that_receives_nothing_and_has_redone_all_has_nothing_unrestored() -> None:
    world = lab()
    copy = replace(world.copies[MIRROR], stream=None)
    world.copies[MIRROR] = replace(copy, redone_kb=copy.end_of_log_kb)
    assert monitor.record(world, world.copies[MIRROR]).unrestored_kb == 0.0


def test_thresholds_of_other_alerts_are_no_retention() -> None:
    world = lab()
    monitor.add_monitoring(world, P)
    monitor.change_alert(world, P, DB, 1, 0)
    do(world, then_s=150.0)
    assert len(monitor.rows_of(world, PRINCIPAL)) > 1


def test_the_loss_of_the_principal_is_a_precondition_with_two_parts() -> None:
    world = lab()
    told = [one.about for one in preconditions.preconditions(world, DB)]
    assert told[-2:] == ["beginning", "loss"]


def test_raising_safety_of_a_pair_that_is_in_step_leaves_it_so() -> None:
    world = lab(witness=False, workload="none")
    commands.partner_safety(world, P, DB, "OFF")
    do(world, then_s=1.0)
    assert world.copies[PRINCIPAL].mirroring.state is MirrorState.SYNCHRONIZED
    commands.partner_safety(world, P, DB, "FULL")
    assert world.copies[PRINCIPAL].mirroring.state is MirrorState.SYNCHRONIZED


def test_a_failover_whose_mirror_goes_down_says_which_server() -> None:
    world = lab()
    do(world, f"power-off {P}", then_s=1.0)
    for _ in range(200):
        if world.failovers and world.failovers[-1].decided_tick is not None:
            break
        do(world, then_s=0.05)
    world.update_instance(M, hung=False)
    world.copies[MIRROR] = replace(world.copies[MIRROR], stream=None)
    events = do(world, then_s=30.0)
    assert f"{M} went down" in str([event.text for event in events] + [str(f) for f in world.failovers])


def test_after_a_failover_the_witness_knows_who_is_who() -> None:
    world = lab()
    do(world, f"power-off {P}", then_s=30.0)
    (record,) = world.witnesses.values()
    assert (record.principal, record.mirror) == (M, P)


def test_a_newer_witness_is_as_good_as_one_of_the_same_version() -> None:
    world = lab()
    copy = world.copies[PRINCIPAL]
    fits = []
    for version in (2005, 2008, 2012):
        world.update_instance(W, version=version)
        world.update_instance(P, version=2008)
        fits.append(quorum.witness_fits(world, copy))
    assert fits == [False, True, True]


def test_where_a_mirror_may_not_remove_the_witness_it_is_told_1470() -> None:
    world = lab()
    world.settings = replace(world.settings, witness_off_on_mirror=False)
    assert refusal(commands.witness_off, world, M, DB) == 1470
    assert refusal(commands.witness_off, world, P, DB) == 0


def test_a_copy_that_has_left_its_session_keeps_nothing_of_it() -> None:
    world = lab()
    commands.partner_off(world, P, DB)
    do(world, then_s=1.0)
    for key in (PRINCIPAL, MIRROR):
        left = world.copies[key].mirroring
        assert (left.guid, left.role, left.partner, left.redo_failed, left.armed, left.trace) == (
            None, None, None, False, False, 0,
        )  # fmt: skip
    assert world.copies[MIRROR].db_state is DbState.RESTORING
