"""Exact behavior of a mirroring session. Each case comes from a mutation that no other test detected."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from engine.mirroring import commands, failover, monitor, preconditions, quorum, roles, session
from engine.model import DbState, Failover, MirrorState, WitnessState, World
from engine.protocol import network
from tests.assertions import require
from tests.engine.protocol.setups import DB, MIRROR, PRINCIPAL, M, P, get_refusal_number
from tests.engine.worlds import W, apply_lines, build_lab


def test_an_idle_mirror_has_nothing_unrestored() -> None:
    world = build_lab()
    copy = replace(world.copies[MIRROR], stream=None)
    world.copies[MIRROR] = replace(copy, redone_kb=copy.end_of_log_kb)
    assert monitor.record_row(world, world.copies[MIRROR]).unrestored_kb == 0.0


def test_alert_thresholds_do_not_change_the_retention_period() -> None:
    world = build_lab()
    monitor.add_monitoring(world, P)
    monitor.change_alert(world, P, DB, 1, 0)
    apply_lines(world, wait_s=150.0)
    assert len(monitor.get_rows(world, PRINCIPAL)) > 1


def test_the_loss_of_the_principal_is_a_precondition_with_two_parts() -> None:
    world = build_lab()
    topics = [condition.about for condition in preconditions.list_preconditions(world, DB)]
    assert topics[-2:] == ["beginning", "loss"]


def test_raising_safety_of_a_synchronized_pair_keeps_it_synchronized() -> None:
    world = build_lab(witness=False, workload="none")
    commands.set_safety(world, P, DB, "OFF")
    apply_lines(world, wait_s=1.0)
    assert world.copies[PRINCIPAL].mirroring.state is MirrorState.SYNCHRONIZED
    commands.set_safety(world, P, DB, "FULL")
    assert world.copies[PRINCIPAL].mirroring.state is MirrorState.SYNCHRONIZED


def test_a_failover_that_loses_its_mirror_names_the_server() -> None:
    world = build_lab()
    apply_lines(world, f"power-off {P}", wait_s=1.0)
    for _ in range(200):
        if world.failovers and world.failovers[-1].decided_tick is not None:
            break
        apply_lines(world, wait_s=0.05)
    world.update_instance(M, hung=False)
    world.copies[MIRROR] = replace(world.copies[MIRROR], stream=None)
    events = apply_lines(world, wait_s=30.0)
    assert f"{M} failed" in str([event.text for event in events] + [str(f) for f in world.failovers])


def test_after_a_failover_the_witness_knows_the_roles() -> None:
    world = build_lab()
    apply_lines(world, f"power-off {P}", wait_s=30.0)
    (record,) = world.witnesses.values()
    assert (record.principal, record.mirror) == (M, P)


def test_a_newer_witness_is_accepted() -> None:
    world = build_lab()
    copy = world.copies[PRINCIPAL]
    fit_answers = []
    for version in (2005, 2008, 2012):
        world.update_instance(W, version=version)
        world.update_instance(P, version=2008)
        fit_answers.append(quorum.is_witness_version_sufficient(world, copy))
    assert fit_answers == [False, True, True]


def test_removing_the_witness_on_the_mirror_raises_1470() -> None:
    world = build_lab()
    world.settings = replace(world.settings, witness_off_on_mirror=False)
    assert get_refusal_number(commands.remove_witness, world, M, DB) == 1470
    assert get_refusal_number(commands.remove_witness, world, P, DB) == 0


def test_a_copy_that_left_its_session_keeps_no_session_data() -> None:
    world = build_lab()
    commands.remove_session(world, P, DB)
    apply_lines(world, wait_s=1.0)
    for key in (PRINCIPAL, MIRROR):
        left = world.copies[key].mirroring
        assert (left.guid, left.role, left.partner, left.redo_failed, left.armed, left.trace) == (
            None, None, None, False, False, 0,
        )  # fmt: skip
    assert world.copies[MIRROR].db_state is DbState.RESTORING


# --- steps of a failover, and notifications -----------------------------------------------------------------


def agree_on_failover() -> tuple[World, Failover]:
    """Return a world in which the witness has agreed to an automatic failover, but the mirror has not decided
    it.
    """
    world = build_lab()
    apply_lines(world, f"power-off {P}", wait_s=1.0)
    while world.failovers[-1].agreed_tick is None if world.failovers else True:
        apply_lines(world, wait_s=0.02)
    assert world.failovers[-1].decided_tick is None
    return world, world.failovers[-1]


def test_reconsidering_an_agreed_failover_changes_nothing() -> None:
    world, failing = agree_on_failover()
    timers = len(world.timers)
    apply_lines(world, wait_s=0.02)
    failover.recheck_failover(world, failing.guid)
    assert (world.failovers[-1], len(world.timers)) == (failing, timers)


def test_a_failover_is_decided_once_by_its_own_timer() -> None:
    world, failing = agree_on_failover()
    failover.decide_failover(world, failing.guid, failing.detected_tick - 1)
    assert world.failovers[-1] == failing
    failover.decide_failover(world, failing.guid, failing.detected_tick)
    decided, timers = world.failovers[-1], len(world.timers)
    assert decided.decided_tick == world.tick
    failover.decide_failover(world, failing.guid, failing.detected_tick)
    world.update_mirroring(MIRROR, armed=False)  # a decided failover continues even if the mirror is disarmed
    failover.recheck_failover(world, failing.guid)
    assert (world.failovers[-1], len(world.timers)) == (decided, timers)


def test_partner_and_witness_meet_whichever_connects() -> None:
    for me, peer in ((P, W), (W, P)):
        world = build_lab(workload="none")
        guid = require(world.copies[PRINCIPAL].mirroring.guid)
        network.close_session_connections(world, guid, P)
        network.close_session_connections(world, guid, W)
        roles.set_witness_state(world, PRINCIPAL, WitnessState.DISCONNECTED)
        session.on_connection_made(world, guid, me, peer, world.contacts[guid, me, peer].epoch)
        assert world.copies[PRINCIPAL].mirroring.witness_state is WitnessState.CONNECTED, (me, peer)


def test_a_principal_without_witness_that_starts_alone_runs_exposed() -> None:
    world = build_lab(witness=False)
    apply_lines(world, f"power-off {M}", f"power-off {P}", wait_s=5.0)
    world.update_mirroring(PRINCIPAL, trace=0)
    apply_lines(world, f"power-on {P}", wait_s=200.0)
    copy = world.copies[PRINCIPAL]
    assert (copy.db_state, copy.mirroring.trace) == (DbState.ONLINE, 12)


def test_a_lost_partners_last_state_is_shown_after_a_failover() -> None:
    world = build_lab()
    apply_lines(world, f"power-off {P}", wait_s=60.0)
    there_kb = world.copies[PRINCIPAL].end_of_log_kb
    for known_kb, told_kb in ((there_kb - 5.0, there_kb), (there_kb + 5.0, there_kb + 5.0)):
        world.update_mirroring(MIRROR, failover_lsn_kb=known_kb)
        assert monitor.record_row(world, world.copies[MIRROR]).failover_lsn_kb == told_kb


def test_the_witness_learns_of_a_suspension_at_the_mirror() -> None:
    world = build_lab()
    commands.suspend_session(world, M, DB)
    (record,) = world.witnesses.values()
    assert (record.principal, record.mirror, record.suspended) == (P, M, True)


def test_preconditions_name_the_witness_to_check() -> None:
    world = build_lab()
    sources = [str(condition.seen_in) for condition in preconditions.list_preconditions(world, DB)]
    assert sources[5] == f"sys.database_mirroring_witnesses on {W}"
    assert sources[7] == f"ERRORLOG of {W}: 1474 or 1479"


@pytest.mark.parametrize(("server", "threads"), [(P, 1 + 2 * 2), (M, 1 + 2 * (3 + 2))])
def test_a_session_needs_threads_on_both_servers(server: str, threads: int) -> None:
    """Threads: one shared, 2 for each principal, and 3 plus the redo threads (8 cores: 2) for each mirror.
    Facts 0.2.
    """
    for allowed, number in ((threads, 0), (threads - 1, 1450)):
        world = build_lab(databases=2, witness=False, workload="none")
        commands.remove_session(world, P, "Sales001")
        for partner in (P, M):
            world.update_instance(partner, max_worker_threads=allowed if partner == server else 1000)
        assert get_refusal_number(commands.set_partner, world, M, "Sales001", f"TCP://{P}:5022") == 0
        assert get_refusal_number(commands.set_partner, world, P, "Sales001", f"TCP://{M}:5022") == number
