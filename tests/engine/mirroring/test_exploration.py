"""Invariants after every short sequence of faults, repairs and commands, and after long random sequences."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings, strategies

from engine.model import MirrorState, Role, Safety, Service, World
from engine.protocol import serving
from tests.cases import sample_cases
from tests.engine.mirroring.invariants import check_invariants
from tests.engine.worlds import DB, MIRROR, PRINCIPAL, M, P, W, apply_lines, build_lab

SERVERS = (P, M, W)
FAULTS = (
    *(
        f"{verb} {server}"
        for verb in ("power-off", "pull-cable", "stop-service", "hang")
        for server in SERVERS
    ),
    *(f"{verb} {a} {b}" for verb in ("cut", "black-hole") for a, b in ((P, M), (P, W), (M, W))),
    f"cut-one-way {P} {M}",
    f"cut-one-way {M} {P}",
    f"cut-one-way {P} {W}",
    f"cut-one-way {W} {P}",
    f"cut-one-way {M} {W}",
    f"cut-one-way {W} {M}",
    f"reset-link {P} {M}",
    f"shutdown-server {P}",
    f"slow-disk {P} log factor=1000",
    f"slow-disk {M} log factor=1000",
    f"slow-cpu {P} factor=100",
    f"slow-cpu {M} factor=100",
    f"close-firewall {P} 5022",
    f"close-firewall {W} 5022",
    f"fail-disk {P} {DB}",
    f"fail-volume {P} D",
    f"fail-volume {M} D",
    f"fail-disk {M} {DB}",
    f"sql {P} SHUTDOWN WITH NOWAIT",
)
REPAIRS = (
    *(
        f"{verb} {server}"
        for verb in ("power-on", "plug-cable", "start-service", "unhang")
        for server in SERVERS
    ),
    *(f"mend {a} {b}" for a, b in ((P, M), (P, W), (M, W))),
    "revert-all",
)
SAFE_SQL = tuple(
    f"sql {server} ALTER DATABASE {DB} SET {what}"
    for server in (P, M)
    for what in ("PARTNER FAILOVER", "PARTNER SUSPEND", "PARTNER RESUME", "WITNESS OFF", "PARTNER TIMEOUT 20")
)
RISKY_SQL = tuple(
    f"sql {server} ALTER DATABASE {DB} SET {what}"
    for server in (P, M)
    for what in (
        "PARTNER OFF",
        "PARTNER FORCE_SERVICE_ALLOW_DATA_LOSS",
        "PARTNER SAFETY OFF",
        "PARTNER SAFETY FULL",
    )
)
RECOVERY_TIME_S = 140.0


def run_actions(actions: list[str], gap_s: float, **kind: Any) -> World:
    world = build_lab(**kind)
    joined = " ".join(actions)
    witness = bool(kind.get("witness", True))
    is_safety_full = kind.get("safety", Safety.FULL) is Safety.FULL
    risky = any(word in joined for word in ("FORCE", "PARTNER OFF", "SAFETY OFF")) or not is_safety_full
    for action in actions:
        apply_lines(world, action, wait_s=gap_s)
        check_invariants(world, has_witness=witness and "WITNESS OFF" not in joined, is_safe=not risky)
    return world


def assert_recovered(world: World) -> None:
    """Assert that the session heals automatically after all faults are reverted."""
    apply_lines(world, "revert-all", wait_s=1.0)
    # the second call repairs the effect of a SHUTDOWN that waited on a hung server
    apply_lines(world, "revert-all", wait_s=RECOVERY_TIME_S)
    if any(
        fault.verb == "fail-volume" for fault in world.faults
    ):  # a mirror without its files suspends the session
        apply_lines(
            world,
            *(f"sql {name} ALTER DATABASE {DB} SET PARTNER RESUME" for name in (P, M)),
            wait_s=RECOVERY_TIME_S,
        )
    for computer in world.computers.values():
        assert computer.powered
        assert computer.nic_up
    for server in world.instances.values():
        assert server.service is Service.RUNNING
        assert not server.hung
    assert all(link.up and link.passing for link in world.links.values())
    states = {copy.mirroring.state for copy in world.copies.values()}
    assert states == {MirrorState.SYNCHRONIZED}
    assert {copy.mirroring.role for copy in world.copies.values()} == {Role.PRINCIPAL, Role.MIRROR}
    assert len([key for key in (PRINCIPAL, MIRROR) if serving.is_serving(world, key)]) == 1
    assert world.clients["APP"].connected_to is not None


GAPS_S = (3.0, 25.0)


@pytest.mark.parametrize("half_number", [0, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("fault", sample_cases(4, FAULTS))
def test_two_faults_and_their_reverse_recover(fault: str, half_number: int) -> None:
    """No commit is lost or duplicated after two faults 3 s or 25 s apart, and the session recovers.

    The gap alternates from pair to pair in the first half of the cases. The second half has the other gap for
    each pair.
    """
    for place, second in enumerate(FAULTS):
        if fault != second:
            gap_s = GAPS_S[(FAULTS.index(fault) + place + half_number) % 2]
            assert_recovered(run_actions([fault, second], gap_s))


@pytest.mark.parametrize("fault", sample_cases(2, FAULTS))
def test_a_fault_a_command_and_a_repair_recover(fault: str) -> None:
    for command in SAFE_SQL:
        run_actions([fault, command, "revert-all"], 12.0)


ACTIONS = strategies.sampled_from((*FAULTS, *REPAIRS, *SAFE_SQL))
ANY_ACTIONS = strategies.sampled_from((*FAULTS, *REPAIRS, *SAFE_SQL, *RISKY_SQL))


@settings(max_examples=80, deadline=None)
@given(
    actions=strategies.lists(ACTIONS, min_size=3, max_size=9),
    gap_s=strategies.sampled_from((0.0, 0.3, 2.0, 11.0, 40.0)),
)
def test_random_sequences_with_a_witness_keep_the_invariants(actions: list[str], gap_s: float) -> None:
    run_actions(actions, gap_s)


@settings(max_examples=80, deadline=None)
@given(
    actions=strategies.lists(ANY_ACTIONS, min_size=3, max_size=9),
    gap_s=strategies.sampled_from((0.0, 0.3, 2.0, 11.0, 40.0)),
    witness=strategies.booleans(),
    safety=strategies.sampled_from((Safety.FULL, Safety.OFF)),
)
def test_random_sequences_with_risky_statements_keep_the_invariants(
    actions: list[str], gap_s: float, witness: bool, safety: Safety
) -> None:
    run_actions(actions, gap_s, witness=witness, safety=safety)


@settings(max_examples=40, deadline=None)
@given(actions=strategies.lists(ANY_ACTIONS, min_size=2, max_size=6), cut_s=strategies.floats(0.01, 60.0))
def test_slices_do_not_change_the_run(actions: list[str], cut_s: float) -> None:
    """A forked world that advances in other time slices has the same hash at the end."""
    world = build_lab()
    parts = build_lab()
    for action in actions:
        apply_lines(world, action, wait_s=30.0)
        apply_lines(parts, action, wait_s=0.0)
        end = parts.t_s + 30.0
        apply_lines(parts, wait_s=min(cut_s, 30.0))
        parts = parts.fork()
        apply_lines(parts, wait_s=end - parts.t_s)
    assert world.compute_state_hash() == parts.compute_state_hash()
