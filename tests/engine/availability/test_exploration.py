"""Recovery from every pair of faults, in quick succession or far apart, with invariants checked in each
second.
"""

from __future__ import annotations

import contextlib
from itertools import product

import pytest

from engine.inputs import InputError
from engine.model import ReplicaRole, ReplicaWord, ResourceState, SyncState, World
from tests.engine.availability.worlds import apply_lines, build_ag_lab, list_primaries, run_until

FAULTS = (
    *(f"{verb} {node}" for verb in ("power-off", "pull-cable", "stop-service", "stop-cluster", "hang")
      for node in ("NODE_1", "NODE_2", "NODE_3")),
    *(f"{verb} {a} {b}" for verb in ("cut",)
      for a, b in (("NODE_1", "NODE_2"), ("NODE_1", "NODE_3"), ("NODE_2", "NODE_3"), ("NODE_1", "FSW"))),
    "power-off FSW",
    "move-role AG1 NODE_2",
    "sql NODE_2 ALTER AVAILABILITY GROUP AG1 FAILOVER",
)  # fmt: skip
GAPS_S = (4, 45)
HOLD_S = 45
HEALTHY_AFTER_S = 240
"""Time limit for recovery in seconds: boot, service start, joining and redo."""


def _assert_legal(world: World) -> None:
    """Assert the invariants that must hold in every second."""
    serving = list_primaries(world)
    assert len(serving) <= 1, f"{serving} accept commits at {world.t_s} s"
    for (server, guid), state in world.replicas.items():
        for name in world.groups[guid].databases:
            membership = world.copies[server, name].availability
            pending = state.word is ReplicaWord.PRIMARY_PENDING
            assert membership.role is (ReplicaRole.RESOLVING if pending else state.role), (
                server,
                name,
                world.t_s,
            )
            if membership.role is ReplicaRole.RESOLVING:
                assert membership.state is SyncState.NOT_SYNCHRONIZING, (server, name, world.t_s)
    assert all(account.lost_transactions == 0 for account in world.availability.values())


def _apply_if_accepted(world: World, line: str) -> None:
    """Apply *line*, and ignore a refusal by the cluster."""
    with contextlib.suppress(InputError):
        apply_lines(world, line)


def _run_faults(start: World, first_fault: str, second_fault: str, gap_s: int) -> World:
    world = start.fork()
    at_s = 5
    run_until(world, at_s)
    _apply_if_accepted(world, first_fault)
    for moment in range(at_s, at_s + gap_s):
        run_until(world, moment)
        _assert_legal(world)
    run_until(world, at_s + gap_s)
    _apply_if_accepted(world, second_fault)
    end_s = at_s + gap_s + HOLD_S
    for moment in range(at_s + gap_s, end_s, 2):
        run_until(world, moment)
        _assert_legal(world)
    apply_lines(world, "revert-all")
    for moment in range(end_s, end_s + HEALTHY_AFTER_S, 5):
        run_until(world, moment)
        _assert_legal(world)
        if _is_healthy(world):
            return world
    return world


def _is_healthy(world: World) -> bool:
    """Return whether the group is online, all secondaries are connected, and the synchronous pair is
    SYNCHRONIZED.
    """
    leads = list_primaries(world)
    roles = [role for node in world.nodes.values() for role in node.config.roles]
    if len(leads) != 1 or not all(role.state is ResourceState.ONLINE for role in roles):
        return False
    other_servers = [server for server in ("NODE_1", "NODE_2") if server != leads[0]]
    states = [
        world.copies[leads[0], name].availability.get_peer_state(server)
        for name in ("Sales", "Orders")
        for server in other_servers
    ]
    followers = [world.replicas[key].role for key in world.replicas if key[0] != leads[0]]
    in_step = all(state is SyncState.SYNCHRONIZED for state in states)
    return in_step and all(role is ReplicaRole.SECONDARY for role in followers)


def explore_fault_pairs(step: int, offset: int = 0) -> None:
    start, problems = build_ag_lab(), []
    for number, (first_fault, second_fault, gap_s) in enumerate(product(FAULTS, FAULTS, GAPS_S)):
        if first_fault == second_fault or number % step != offset:
            continue
        try:
            world = _run_faults(start, first_fault, second_fault, gap_s)
            if not _is_healthy(world):
                problems.append(f"{first_fault}, {gap_s} s, {second_fault}: not healthy after the repair")
        except AssertionError as problem:
            problems.append(f"{first_fault}, {gap_s} s, {second_fault}: {str(problem).splitlines()[0]}")
    assert not problems, "\n".join(problems)


def test_some_pairs_of_faults_recover() -> None:
    explore_fault_pairs(step=61)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(8))
def test_every_pair_of_faults_recovers(part: int) -> None:
    explore_fault_pairs(step=8, offset=part)


@pytest.mark.parametrize(
    ("first_fault", "second_fault"),
    [
        ("cut NODE_1 NODE_2", "power-off NODE_1"),  # NODE_2's copy of the cluster database is out of date
        ("cut NODE_1 NODE_2", "stop-cluster NODE_1"),
        (
            "pull-cable NODE_1",
            "sql NODE_2 ALTER AVAILABILITY GROUP AG1 FAILOVER",
        ),  # the tail of the log is lost
        ("stop-cluster NODE_2", "power-off NODE_2"),  # the repairs come in an unusual order
    ],
)
def test_known_exploration_findings_stay_fixed(first_fault: str, second_fault: str) -> None:
    assert _is_healthy(_run_faults(build_ag_lab(), first_fault, second_fault, 4))


def test_repeating_the_faults_ends_in_the_same_state() -> None:
    ends = [_run_faults(build_ag_lab(), "power-off NODE_1", "power-off FSW", 4) for _ in range(2)]
    assert ends[0].compute_state_hash() == ends[1].compute_state_hash()
