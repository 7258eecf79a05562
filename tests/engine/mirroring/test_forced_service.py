"""Forced service: states that allow it, the role of the old principal, and the data that RESUME discards.

Sources: Role Switching During a Database Mirroring Session, section "Forced Service (with Possible Data
Loss)", and the last table of Database Mirroring Operating Modes.
"""

from __future__ import annotations

import pytest

from engine.model import DbState, MirrorState, Role, Safety, World
from engine.protocol import serving, streams
from tests.engine.worlds import DB, MIRROR, PRINCIPAL, M, P, W, apply_lines, build_lab
from tests.events import read_field

SET_PARTNER = f"ALTER DATABASE {DB} SET PARTNER"
FORCE_SERVICE_LINE = f"sql {M} {SET_PARTNER} FORCE_SERVICE_ALLOW_DATA_LOSS"
SESSION_KINDS = {
    "FULL without witness": (Safety.FULL, False),
    "OFF without witness": (Safety.OFF, False),
    "FULL with witness": (Safety.FULL, True),
    "OFF with witness": (Safety.OFF, True),
}


def build_world_of_kind(kind: str) -> World:
    safety, witness = SESSION_KINDS[kind]
    return build_lab(safety=safety, witness=witness)


def list_partner_states(world: World) -> list[tuple[Role | None, MirrorState | None, DbState]]:
    """Return role, mirroring state and database state of the copies on the two partners."""
    return [
        (copy.mirroring.role, copy.mirroring.state, copy.db_state)
        for copy in (world.copies[PRINCIPAL], world.copies[MIRROR])
    ]


EXPOSED_PRINCIPAL = (Role.PRINCIPAL, MirrorState.SUSPENDED, DbState.ONLINE)
SUSPENDED_MIRROR = (Role.MIRROR, MirrorState.SUSPENDED, DbState.RECOVERING)


@pytest.mark.parametrize("kind", SESSION_KINDS)
@pytest.mark.parametrize("initial_state", ["SUSPENDED", "SUSPENDED with a redo queue", "behind"])
def test_the_mirror_can_be_forced_in_every_documented_state(kind: str, initial_state: str) -> None:
    world = build_world_of_kind(kind)
    if initial_state == "behind":
        apply_lines(world, f"cut {P} {M}", wait_s=15.0)
        if SESSION_KINDS[kind][1]:
            apply_lines(world, f"cut {P} {W}", wait_s=5.0)
    else:
        if initial_state.endswith("queue"):
            apply_lines(world, f"slow-disk {M} data factor=50", wait_s=30.0)
        apply_lines(world, f"sql {P} {SET_PARTNER} SUSPEND", wait_s=5.0)
        apply_lines(world, f"power-off {P}")
        apply_lines(world, f"slow-disk {M} data factor=1", wait_s=1.0)
    apply_lines(world, FORCE_SERVICE_LINE, wait_s=60.0)
    assert list_partner_states(world)[1] == EXPOSED_PRINCIPAL
    assert serving.is_serving(world, MIRROR)


@pytest.mark.parametrize("return_kind", ["power-on", "restarted once more"])
@pytest.mark.parametrize("kind", SESSION_KINDS)
def test_the_old_principal_returns_as_a_suspended_recovering_mirror(kind: str, return_kind: str) -> None:
    world = build_world_of_kind(kind)
    apply_lines(world, f"sql {P} {SET_PARTNER} SUSPEND", f"power-off {P}")
    apply_lines(world, FORCE_SERVICE_LINE, wait_s=30.0)
    apply_lines(world, f"power-on {P}", wait_s=100.0)
    if return_kind != "power-on":
        apply_lines(world, f"restart-service {P}", wait_s=40.0)
    assert list_partner_states(world) == [SUSPENDED_MIRROR, EXPOSED_PRINCIPAL]
    apply_lines(world, f"sql {M} {SET_PARTNER} RESUME", wait_s=60.0)
    assert list_partner_states(world) == [
        (Role.MIRROR, MirrorState.SYNCHRONIZED, DbState.RESTORING),
        (Role.PRINCIPAL, MirrorState.SYNCHRONIZED, DbState.ONLINE),
    ]


def build_split_brain() -> World:
    """Return a world without a witness in which both servers have served for a minute.

    The link was cut, and then service was forced at the mirror.
    """
    world = build_lab(witness=False)
    apply_lines(world, f"cut {P} {M}", wait_s=15.0)
    apply_lines(world, FORCE_SERVICE_LINE, wait_s=60.0)
    assert all(serving.is_serving(world, key) for key in (PRINCIPAL, MIRROR))
    return world


def test_reunited_partners_do_not_both_stay_open() -> None:
    world = build_split_brain()
    apply_lines(world, f"mend {P} {M}", wait_s=20.0)
    assert list_partner_states(world) == [SUSPENDED_MIRROR, EXPOSED_PRINCIPAL]


def test_resume_discards_the_old_principals_extra_log() -> None:
    world = build_split_brain()
    apply_lines(world, f"mend {P} {M}", wait_s=20.0)
    kept_kb, lost_before_count = (
        world.copies[PRINCIPAL].end_of_log_kb,
        world.availability[DB].lost_transactions,
    )
    assert streams.get_end_of_log_kb(world, world.copies[PRINCIPAL]) == kept_kb
    apply_lines(world, f"sql {M} {SET_PARTNER} RESUME", wait_s=60.0)
    assert list_partner_states(world)[0][1] is MirrorState.SYNCHRONIZED
    assert world.availability[DB].lost_transactions > lost_before_count + 10_000


def test_removing_the_session_keeps_the_old_principals_copy() -> None:
    world = build_split_brain()
    apply_lines(world, f"mend {P} {M}", wait_s=20.0)
    kept_kb = world.copies[PRINCIPAL].end_of_log_kb
    apply_lines(world, f"sql {P} {SET_PARTNER} OFF", wait_s=5.0)
    assert world.copies[PRINCIPAL].db_state is DbState.RESTORING
    apply_lines(world, f"sql {P} RESTORE DATABASE {DB} WITH RECOVERY", wait_s=10.0)
    assert world.copies[PRINCIPAL].db_state is DbState.ONLINE
    assert world.copies[PRINCIPAL].mirroring.failover_lsn_kb == kept_kb


def test_a_copy_waiting_for_resume_cannot_be_forced() -> None:
    world = build_split_brain()
    apply_lines(world, f"mend {P} {M}", wait_s=20.0)
    apply_lines(world, f"power-off {M}")
    events = apply_lines(world, f"sql {P} {SET_PARTNER} FORCE_SERVICE_ALLOW_DATA_LOSS", wait_s=20.0)
    (done_event,) = [event for event in events if event.kind == "sql_done"]
    assert [message["number"] for message in read_field(done_event, "messages")] == [1406]
    assert world.copies[PRINCIPAL].mirroring.role is Role.MIRROR


@pytest.mark.parametrize("witness", [True, False])
def test_statements_wait_until_the_principal_detects_its_failed_failover(witness: bool) -> None:
    world = build_lab(witness=witness)
    apply_lines(world, f"sql {P} {SET_PARTNER} FAILOVER", wait_s=0.1)
    assert world.copies[PRINCIPAL].mirroring.state is MirrorState.PENDING_FAILOVER
    apply_lines(world, f"power-off {M}", wait_s=0.01)
    events = apply_lines(world, f"sql {P} {SET_PARTNER} SUSPEND", wait_s=20.0)
    (done_event,) = [event for event in events if event.kind == "sql_done"]
    assert [message["number"] for message in read_field(done_event, "messages")] == [1404]
    assert list_partner_states(world)[0][1] is MirrorState.DISCONNECTED


@pytest.mark.parametrize("server", [P, M])
def test_while_a_partner_is_in_recovery_the_session_cannot_be_resumed(server: str) -> None:
    """The old principal considers itself the principal until it has recovered, although the partners are
    connected.
    """
    world = build_lab(witness=False)
    apply_lines(world, f"stop-service {P}", wait_s=15.0)
    apply_lines(world, f"start-service {P}", FORCE_SERVICE_LINE, wait_s=4.0)
    answers = []
    while world.copies[PRINCIPAL].recovering:
        fork = world.fork()
        events = apply_lines(fork, f"sql {server} {SET_PARTNER} RESUME", wait_s=20.0)
        answers += [
            m["number"] for event in events if event.kind == "sql_done" for m in read_field(event, "messages")
        ]
        assert list_partner_states(fork) == [SUSPENDED_MIRROR, EXPOSED_PRINCIPAL]
        apply_lines(world, wait_s=0.05)
    assert set(answers) == {1447}
    apply_lines(world, f"sql {server} {SET_PARTNER} RESUME", wait_s=20.0)
    assert list_partner_states(world)[0][1] is MirrorState.SYNCHRONIZED


@pytest.mark.parametrize("server", [P, M])
def test_a_session_cannot_be_resumed_while_service_is_forced(server: str) -> None:
    """The link returns before the mirror has changed its role. Otherwise two servers would have the same
    role.
    """
    world = build_lab(witness=False)
    apply_lines(world, f"sql {P} {SET_PARTNER} SUSPEND", wait_s=5.0)
    apply_lines(world, f"pull-cable {P}", wait_s=20.0)
    apply_lines(world, FORCE_SERVICE_LINE, f"plug-cable {P}", wait_s=0.01)
    answers = []
    while world.copies[MIRROR].mirroring.role is Role.MIRROR:
        fork = world.fork()
        events = apply_lines(fork, f"sql {server} {SET_PARTNER} RESUME", wait_s=20.0)
        answers += [
            m["number"] for event in events if event.kind == "sql_done" for m in read_field(event, "messages")
        ]
        assert list_partner_states(fork) == [SUSPENDED_MIRROR, EXPOSED_PRINCIPAL]
        apply_lines(world, wait_s=0.2)
    assert set(answers) <= {1404, 1447}
    assert 1404 in answers
    apply_lines(world, wait_s=20.0)
    apply_lines(world, f"sql {server} {SET_PARTNER} RESUME", wait_s=20.0)
    assert list_partner_states(world)[0][1] is MirrorState.SYNCHRONIZED
