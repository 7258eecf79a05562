"""Maintenance actions and environmental faults: each has an effect, and the reverse of each fault restores
the state.
"""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from engine import simulator, verbs
from engine.inputs import InputError
from engine.mirroring import commands
from engine.model import DbState, Job, Link, MirrorState, Role, Service, Volume, World
from engine.protocol import accounts, backup, jobs, security
from engine.verbs.input_lines import parse_input_line
from tests.engine.protocol.setups import (
    DB,
    FULL,
    MIRROR,
    PRINCIPAL,
    M,
    P,
    W,
    build_unmirrored_world,
    get_address,
    get_refusal_number,
    settle_and_run,
    take_full_backup,
)
from tests.engine.worlds import apply_lines, build_lab
from tests.events import read_field

SUSPENDED, SYNCHRONIZED = MirrorState.SUSPENDED, MirrorState.SYNCHRONIZED


def get_refusal(world: World, line: str) -> str:
    """Return the message that refuses an input line."""
    with pytest.raises(InputError) as problem:
        simulator.apply_input(world, parse_input_line(line, world.tick))
    return str(problem.value)


@pytest.mark.parametrize(
    "line",
    [
        "copy-file SERVER_A SERVER_B D:\\My backups\\Sales full.bak",
        "enable-jobs SERVER_A",
        "enable-jobs SERVER_A Sales log backup",
        "set-service-account SERVER_A NT AUTHORITY\\NETWORK SERVICE",
        "upgrade SERVER_A 2008 Enterprise",
        "corrupt-page SERVER_A Sales page=77",
        "rebuild-index Sales online size=2",
    ],
)
def test_lines_are_parsed_back_unchanged(line: str) -> None:
    assert parse_input_line(line).line_without_time == line


# --- files -----------------------------------------------------------------------------------------


def test_copying_a_file_takes_as_long_as_the_link_needs() -> None:
    world = build_unmirrored_world()
    take_full_backup(world)
    size_kb = world.files[P, FULL].size_kb
    world.links[P, M] = world.links[M, P] = Link(bandwidth_mbps=100.0)
    events = apply_lines(world, f"copy-file {P} {M} d:\\backup\\sales.BAK", wait_s=200.0)
    begin_event, end_event = [event for event in events if event.kind == "chore"]
    assert (end_event.t_s - begin_event.t_s) == pytest.approx(size_kb * 1024 * 8 / 100e6 / 0.949, rel=0.001)
    assert world.files[M, FULL] == world.files[P, FULL]


def test_a_copy_fails_with_its_link() -> None:
    world = build_unmirrored_world()
    take_full_backup(world)
    events = apply_lines(world, f"copy-file {P} {M} {FULL}", f"cut {P} {M}", wait_s=60.0)
    assert [read_field(e, "failed") for e in events if e.kind == "chore"] == [None, True]
    assert (M, FULL) not in world.files


@pytest.mark.parametrize(
    ("prepare", "line", "message"),
    [
        (
            [],
            f"copy-file {P} {M} D:\\x.bak",
            "SERVER_A has no file D:\\x.bak; available: D:\\Backup\\Sales.bak",
        ),
        ([f"power-off {M}"], f"copy-file {P} {M} {FULL}", "SERVER_B is off"),
        ([f"cut {P} {M}"], f"copy-file {P} {M} {FULL}", "cannot reach SERVER_B"),
        ([], f"delete-file {M} {FULL}", "SERVER_B has no file"),
        ([], f"copy-file {P} {P} {FULL}", "a copy on the same server needs two paths"),
        ([], f"enable-jobs {P} nothing", "SERVER_A has no job nothing; none is available"),
        ([f"stop-service {M}"], f"transfer-logins {P} {M}", "SQL Server on SERVER_B does not respond"),
        ([f"create-linked-server {P} OTHER"], f"create-linked-server {P} other", "already"),
        ([], f"add-drive {P} D", "already has a drive D:"),
        ([], f"add-drive {P} DD", "a letter"),
        ([], f"grow-volume {P} D", "the maximum size"),
        ([], f"grow-volume {P} X", "does not exist"),
        ([f"add-drive {P} E size_gb=50"], f"grow-volume {P} E size_gb=10", "cannot be made smaller"),
        ([], f"open-firewall {P} 5022", "already"),
        ([], f"close-firewall {P} x", "a port must be a number"),
        ([], f"expire-certificate {P}", "does not have this certificate"),
        ([], f"corrupt-page {W} {DB}", "has no copy"),
        ([], f"upgrade {P} 2006", "version must be one of"),
        (
            [f"upgrade {P} 2008"],
            f"upgrade {P} 2012",
            "cannot be upgraded while it is off, starting or stopping",
        ),
    ],
)
def test_an_impossible_chore_is_reported_and_changes_nothing(
    prepare: list[str], line: str, message: str
) -> None:
    world = READY_WORLD.fork()
    apply_lines(world, *prepare, wait_s=0.0)
    before = world.compute_state_hash()
    assert message in get_refusal(world, line)
    assert world.compute_state_hash() == before


def build_ready_world() -> World:
    world = build_unmirrored_world()
    take_full_backup(world)
    return world


READY_WORLD = build_ready_world()


# --- jobs and linked servers -----------------------------------------------------------------------


def test_copied_jobs_are_disabled_until_enabled() -> None:
    world = build_lab()
    world.update_instance(P, jobs=jobs.build_standard_jobs(DB))
    apply_lines(world, f"copy-jobs {P} {M}")
    assert [(job.name, job.enabled) for job in world.instances[M].jobs] == [
        (f"{DB} log backup", False),
        (f"{DB} index maintenance", False),
        (f"{DB} nightly load", False),
    ]
    apply_lines(world, f"power-off {P}", wait_s=2000.0)
    assert world.copies[MIRROR].mirroring.role is Role.PRINCIPAL
    assert not [path for server, path in world.files if server == M], "nobody backs up the log"
    apply_lines(world, f"enable-jobs {M} {DB} log backup", wait_s=1000.0)
    assert [path for server, path in world.files if server == M]
    assert [job.enabled for job in world.instances[M].jobs] == [True, False, False]
    apply_lines(world, f"disable-jobs {M}")
    assert not any(job.enabled for job in world.instances[M].jobs)


def test_log_backups_stop_with_their_job_and_with_the_agent() -> None:
    world = build_lab()
    world.update_instance(P, jobs=(Job(name="log", database=DB, action=jobs.LOG_BACKUP),))
    for line, runs in ((None, True), (f"disable-jobs {P} log", False), (f"enable-jobs {P} log", True),
                       (f"stop-agent {P}", False), (f"start-agent {P}", True)):  # fmt: skip
        if line:
            apply_lines(world, line, wait_s=0.1)
        before = world.copies[PRINCIPAL].last_log_backup_kb
        settle_and_run(world, 901.0)
        assert (world.copies[PRINCIPAL].last_log_backup_kb > before) is runs, line


def test_linked_servers_are_created() -> None:
    world = build_lab()
    apply_lines(world, f"create-linked-server {P} WAREHOUSE", f"copy-linked-servers {P} {M}")
    assert world.instances[M].linked_servers == ("WAREHOUSE",)


# --- faults and their reverse ----------------------------------------------------------------------

REPAIR_BY_FAULT = {
    f"close-firewall {M} 5022": f"open-firewall {M} 5022",
    f"disable-tcp {M}": f"enable-tcp {M}",
    f"stop-agent {M}": f"start-agent {M}",
    f"expire-certificate {M} cert": f"renew-certificate {M} cert",
    f"corrupt-page {P} {DB} page=77": f"mend-page {P} {DB}",
    f"open-transaction {DB}": f"end-transaction {DB}",
}


def test_every_network_and_job_fault_is_tested() -> None:
    tested_verbs = {line.split()[0] for pair in REPAIR_BY_FAULT.items() for line in pair}
    surroundings = (*verbs.network.VERBS, *verbs.jobs.VERBS)
    assert {verb.name for verb in surroundings if verb.is_in_ledger} <= tested_verbs


@pytest.mark.parametrize("line", REPAIR_BY_FAULT)
@pytest.mark.parametrize("by_ledger", [False, True])
def test_the_reverse_of_a_fault_restores_the_state(line: str, by_ledger: bool) -> None:
    world = build_lab()
    accounts.create_master_key(world, M)
    accounts.create_certificate(world, M, "cert")
    computers, instances, copy = world.computers.copy(), world.instances.copy(), world.copies[PRINCIPAL]
    apply_lines(world, line, wait_s=10.0)
    (fault,) = world.faults
    assert fault.reverted_tick is None
    copy_now = world.copies[PRINCIPAL]
    changed = world.instances != instances or world.computers != computers
    assert changed or copy_now.bad_pages or copy_now.active_from_kb
    apply_lines(world, "revert-all" if by_ledger else REPAIR_BY_FAULT[line], wait_s=60.0)
    (fault,) = world.faults
    assert fault.reverted_tick is not None
    assert (world.computers, world.instances) == (computers, instances)
    copy_now = world.copies[PRINCIPAL]
    assert (copy_now.bad_pages, copy_now.active_from_kb) == (copy.bad_pages, copy.active_from_kb)
    assert world.copies[PRINCIPAL].mirroring.state is SYNCHRONIZED


def test_a_closed_port_at_both_ends_cuts_the_session() -> None:
    world = build_lab(witness=False)
    apply_lines(world, f"close-firewall {M} 5022")
    assert world.copies[PRINCIPAL].mirroring.state is SYNCHRONIZED, "the mirror can still call"
    apply_lines(world, f"close-firewall {P} 5022")
    assert world.copies[PRINCIPAL].mirroring.state is MirrorState.DISCONNECTED
    assert world.clients["APP"].connected_to == P
    apply_lines(world, f"open-firewall {P} 5022")
    assert world.copies[PRINCIPAL].mirroring.state is SYNCHRONIZED
    assert [fault.reverted_tick is None for fault in world.faults] == [True, False]


# --- service account, upgrade ----------------------------------------------------------------------


def test_a_new_service_account_needs_its_permission() -> None:
    world = build_lab(witness=False)
    apply_lines(world, f"set-service-account {M} CORP\\new", wait_s=60.0)
    assert world.instances[M].service is Service.RUNNING
    assert world.copies[PRINCIPAL].mirroring.state is MirrorState.DISCONNECTED
    refusal_here = security.find_handshake_refusal(world, M, P)
    assert refusal_here is not None
    assert refusal_here.user == "CORP\\new"
    accounts.create_login(world, P, "CORP\\new", windows=True)
    apply_lines(world, f"sql {P} GRANT CONNECT ON ENDPOINT::Mirroring TO [CORP\\new]", wait_s=20.0)
    assert world.copies[PRINCIPAL].mirroring.state is SYNCHRONIZED


def test_a_rolling_upgrade_succeeds() -> None:
    # Facts 10: remove the witness, upgrade the mirror, fail over, upgrade the new mirror, RESUME, add the
    # witness.
    world = build_lab()
    commands.remove_witness(world, P, DB)
    apply_lines(world, f"upgrade {M} 2008", wait_s=1000.0)
    assert world.instances[M].version == 2008
    assert world.copies[PRINCIPAL].mirroring.state is SYNCHRONIZED, "log goes from the older to the newer"
    commands.fail_over(world, P, DB)
    settle_and_run(world, 90.0)
    assert world.copies[MIRROR].mirroring.role is Role.PRINCIPAL
    assert world.copies[PRINCIPAL].mirroring.state is SUSPENDED, "never from the newer to the older"
    # accepted without effect: the older instance cannot redo the newer log
    commands.resume_session(world, M, DB)
    settle_and_run(world, 10.0)
    assert world.copies[PRINCIPAL].mirroring.state is SUSPENDED
    apply_lines(world, f"upgrade {P} 2008", wait_s=1000.0)
    assert world.copies[PRINCIPAL].mirroring.state is SUSPENDED
    commands.resume_session(world, M, DB)
    settle_and_run(world, 300.0)
    assert world.copies[PRINCIPAL].mirroring.state is SYNCHRONIZED
    commands.set_witness(world, M, DB, get_address(W))
    assert not world.failovers[0].lost_transactions


def test_upgrading_the_principal_first_fails_over_without_a_way_back() -> None:
    world = build_lab()
    apply_lines(world, f"upgrade {P} 2008", wait_s=60.0)
    assert world.copies[MIRROR].mirroring.role is Role.PRINCIPAL, "its service was down"
    assert world.failovers[0].cause == "restart-service"
    settle_and_run(world, 1000.0)
    assert world.copies[MIRROR].mirroring.state is SYNCHRONIZED, "2005 leads, 2008 follows"


def test_a_service_pack_is_shorter_and_an_interrupted_upgrade_fails() -> None:
    world = build_lab(witness=False)
    events = apply_lines(world, f"upgrade {M} 2005", wait_s=400.0)
    assert [e.text for e in events if e.kind == "chore"][-1] == "SQL Server 2005 Enterprise is installed"
    events = apply_lines(world, f"upgrade {M} 2012 Standard", wait_s=100.0)
    events += apply_lines(world, f"start-service {M}", wait_s=1000.0)
    assert [read_field(e, "failed") for e in events if e.kind == "chore"] == [None, True]
    assert (world.instances[M].version, world.instances[M].edition) == (2005, "Enterprise")


def test_standard_edition_keeps_safety_full() -> None:
    world = build_lab(witness=False)
    for name in (P, M):
        world.update_instance(name, edition="Standard")
    assert get_refusal_number(commands.set_safety, world, P, DB, "OFF") == 1473


def test_an_added_drive_can_hold_backups() -> None:
    world = build_lab()
    assert get_refusal_number(backup.back_up_log, world, P, DB, "E:\\x.trn") == 3201
    apply_lines(world, f"add-drive {P} e: size_gb=20")
    assert world.computers[P].volumes == (Volume(letter="E", size_kb=20 * 1024.0**2),)
    assert get_refusal_number(backup.back_up_log, world, P, DB, "E:\\x.trn") == 0


def test_the_application_can_use_a_restored_copy() -> None:
    world = build_unmirrored_world()
    take_full_backup(world)
    apply_lines(world, f"copy-file {P} {M} {FULL}", wait_s=15.0)
    world.clients["APP"] = replace(world.clients["APP"], data_source=M)
    apply_lines(
        world,
        f"sql {M} RESTORE DATABASE Sales FROM DISK = '{FULL}' WITH RECOVERY",
        f"power-off {P}",
        wait_s=30.0,
    )
    assert world.copies[MIRROR].db_state is DbState.ONLINE
    apply_lines(world, f"point-app APP {M}", wait_s=20.0)
    assert world.clients["APP"].connected_to == M
