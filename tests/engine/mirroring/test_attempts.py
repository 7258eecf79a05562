"""Failed failovers: each ends with a reason, and none completes later."""

from __future__ import annotations

import pytest

from engine.model import DbState, MirrorState, Role, Safety, World
from engine.protocol import serving
from tests.engine.worlds import DB, MIRROR, PRINCIPAL, M, P, W, apply_lines, build_lab

FAIL_OVER_LINE = f"sql {P} ALTER DATABASE {DB} SET PARTNER FAILOVER"
CONNECTION_LOST_REASON = "the partners lost their connection before the roles were switched"


def list_failure_reasons(world: World) -> list[tuple[str, str]]:
    """Return (kind, reason) of each failover that is not complete. The reason is empty while the failover is
    open.
    """
    return [(f.kind, f.why) for f in world.failovers if f.online_tick is None]


@pytest.mark.parametrize("witness", [True, False])
@pytest.mark.parametrize("fault", ["cut", "black-hole", "cut-one-way", "reset-link"])
@pytest.mark.parametrize("after_s", [0.5, 2.0, 8.0, 15.0])
def test_an_interrupted_manual_failover_does_not_complete_later(
    witness: bool, fault: str, after_s: float
) -> None:
    world = build_lab(witness=witness)
    apply_lines(world, FAIL_OVER_LINE, wait_s=after_s)
    apply_lines(world, f"{fault} {P} {M}", wait_s=30.0)
    apply_lines(world, f"mend {P} {M}", wait_s=120.0)
    assert ("manual", CONNECTION_LOST_REASON) in list_failure_reasons(world)
    assert not [f for f in world.failovers if f.online_tick is not None]
    assert serving.is_serving(world, PRINCIPAL)
    assert world.copies[PRINCIPAL].mirroring.state is MirrorState.SYNCHRONIZED


@pytest.mark.parametrize("witness", [True, False])
@pytest.mark.parametrize("after_s", [0.5, 2.0, 8.0, 15.0])
def test_a_manual_failover_fails_if_its_principal_fails(witness: bool, after_s: float) -> None:
    world = build_lab(witness=witness)
    apply_lines(world, FAIL_OVER_LINE, wait_s=after_s)
    apply_lines(world, f"power-off {P}", wait_s=60.0)
    assert ("manual", f"{P} failed") in list_failure_reasons(world)
    kinds = [f.kind for f in world.failovers if f.online_tick is not None]
    assert kinds == (["automatic"] if witness else [])
    assert (world.copies[MIRROR].mirroring.role is Role.PRINCIPAL) is witness


@pytest.mark.parametrize("server", [P, M])
@pytest.mark.parametrize("hung_s", [2.0, 6.0])
def test_a_manual_failover_continues_after_a_short_freeze(server: str, hung_s: float) -> None:
    world = build_lab(witness=False)
    apply_lines(world, FAIL_OVER_LINE, wait_s=1.0)
    apply_lines(world, f"hang {server}", wait_s=hung_s)
    apply_lines(world, f"unhang {server}", wait_s=120.0)
    assert [f.kind for f in world.failovers if f.online_tick is not None] == ["manual"]
    assert world.copies[MIRROR].mirroring.state is MirrorState.SYNCHRONIZED


def test_a_frozen_mirror_takes_its_role_only_after_it_resumes() -> None:
    world = build_lab(witness=False)
    apply_lines(world, FAIL_OVER_LINE, wait_s=15.0)
    apply_lines(world, f"hang {M}", wait_s=60.0)
    assert world.copies[PRINCIPAL].db_state is DbState.ONLINE
    assert world.copies[PRINCIPAL].mirroring.state is MirrorState.DISCONNECTED
    apply_lines(world, f"unhang {M}", wait_s=120.0)
    assert list_failure_reasons(world) == [("manual", CONNECTION_LOST_REASON)]
    assert world.copies[PRINCIPAL].mirroring.state is MirrorState.SYNCHRONIZED


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ((f"cut {P} {M}",), f"the principal {P} already runs without its mirror {M}"),
        ((f"black-hole {P} {M}",), f"the principal {P} already runs without its mirror {M}"),
        (
            (f"sql {P} ALTER ENDPOINT Mirroring STATE = STOPPED", f"power-off {W}"),
            f"{M} lost the witness",
        ),
        ((f"power-off {P}", f"cut {M} {W}"), f"{M} lost the witness"),
        ((f"pull-cable {M}",), f"{M} lost the witness"),
    ],
)
def test_an_automatic_failover_denied_by_the_witness_ends_with_its_reason(
    lines: tuple[str, ...], reason: str
) -> None:
    world = build_lab()
    apply_lines(world, *lines, wait_s=60.0)
    assert list_failure_reasons(world) == [("automatic", reason)]


def test_a_principal_that_returns_in_time_ends_the_failover() -> None:
    world = build_lab()
    apply_lines(world, f"slow-disk {M} data factor=200", wait_s=60.0)
    apply_lines(world, f"restart-service {P}", wait_s=60.0)
    assert list_failure_reasons(world) == [
        ("automatic", f"the principal {P} reconnected before the failover was decided")
    ]


def test_an_administrators_intervention_is_the_reason() -> None:
    def list_reasons_after(line: str) -> list[tuple[str, str]]:
        world = build_lab()
        apply_lines(world, f"slow-disk {M} data factor=200", wait_s=60.0)
        apply_lines(world, f"power-off {P}", wait_s=5.0)
        apply_lines(world, line, wait_s=1.0)
        return [reason for reason in list_failure_reasons(world) if reason[0] == "automatic"]

    option = f"sql {M} ALTER DATABASE {DB} SET"
    assert list_reasons_after(f"{option} PARTNER FORCE_SERVICE_ALLOW_DATA_LOSS") == [
        ("automatic", "service was forced before the automatic failover")
    ]
    assert list_reasons_after(f"{option} PARTNER OFF") == [("automatic", "mirroring was removed")]
    assert list_reasons_after(f"{option} WITNESS OFF") == [("automatic", "the witness was removed")]
    assert list_reasons_after(f"power-off {M}") == [("automatic", f"{M} failed")]
    assert list_reasons_after(f"fail-disk {M} {DB}") == [("automatic", f"the volume of {DB} on {M} failed")]


def test_no_failover_stays_open_after_recovery() -> None:
    for safety in (Safety.FULL, Safety.OFF):
        for line in (f"cut {P} {M}", f"black-hole {M} {W}", f"hang {P}", f"power-off {W}", f"pull-cable {M}"):
            world = build_lab(safety=safety)
            apply_lines(world, line, wait_s=40.0)
            apply_lines(world, "revert-all", wait_s=120.0)
            assert all(reason for _, reason in list_failure_reasons(world)), line
