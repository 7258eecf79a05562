"""Cluster membership after node and witness losses in every order, compared with a separate table of votes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations, product

import pytest
from msgspec.structs import replace

from engine.cluster import config
from engine.drill.authoring.scenario import load_scenario
from engine.drill.running.world_builder import build_world
from engine.model import World
from tests.engine.availability.worlds import apply_lines, run_until
from tests.engine.cluster.worlds import build_pair

SHORT_S, LONG_S = 2.0, 60.0
"""Two losses within SHORT_S are one event for the cluster; after LONG_S the votes are recounted."""

VERSIONS = ("2008 R2", "2012", "2012 R2", "2016")

SCENARIO_TEXT = """
title = "Votes"
summary = "Nodes and nothing else."
level = "beginner"
minutes = 5
seed = 1
brief = "Nodes and nothing else."

[[source]]
paper = "SQL Server documentation"
section = "WSFC quorum modes"

[[cluster]]
name = "CLU1"
"""

Votes = tuple[frozenset[str], bool]
"""(nodes that have a vote, whether the witness has a vote)."""


def build_cluster(nodes: int, witness: bool, windows: str) -> World:
    names = [f"N{number}" for number in range(1, nodes + 1)]
    lines = [SCENARIO_TEXT, f"nodes = {names}", f'windows = "{windows}"', 'witness = "W"' if witness else ""]
    lines += [f'[[server]]\nname = "{name}"\nsql = false' for name in [*names, "W"]]
    lines += ['[[server]]\nname = "DB"', '[[database]]\nname = "Sales"\nserver = "DB"\nscale = 0.0']
    return build_world(load_scenario("\n".join(lines), "votes"), 1)


# --- table of votes
# -------------------------------------------------------------------------------------------

STATIC_QUORUM_VERSIONS = ("2008 R2",)
"""Windows versions without dynamic quorum."""

EXPECTED_VOTES = {
    # (witness configured, witness present, number of present nodes) -> (number of nodes with a vote,
    # witness's vote)
    "2012": {
        **{(True, there, n): (n, 1) for there in (True, False) for n in range(1, 6)},
        **{(False, False, n): (n, 0) for n in (1, 3, 4, 5)},
        (False, False, 2): (1, 0),
    },
    "2012 R2": {
        **{(True, True, n): (n, 1) for n in (2, 4)},
        **{(True, True, n): (n, 0) for n in (1, 3, 5)},
        **{(configured, False, n): (n, 0) for configured in (True, False) for n in (1, 3, 5)},
        **{(configured, False, n): (n - 1, 0) for configured in (True, False) for n in (2, 4)},
    },
}
EXPECTED_VOTES["2016"] = EXPECTED_VOTES["2012 R2"]


def predict_members(nodes: int, witness: bool, windows: str, groups: list[list[str]]) -> set[str]:
    """Return the member nodes after the losses of *groups* in this order; empty if quorum is lost."""
    remaining = [f"N{number}" for number in range(1, nodes + 1)]
    witness_there = witness
    voters, witness_votes = nodes, int(witness)
    voting = remaining
    for number in range(len(groups) + 1):
        if number:
            lost_group = groups[number - 1]
            remaining = [name for name in remaining if name not in lost_group]
            witness_there = witness_there and "W" not in lost_group
            votes = sum(name in remaining for name in voting) + (witness_votes and witness_there)
            if 2 * votes <= voters + witness_votes:
                return set()
        if windows not in STATIC_QUORUM_VERSIONS:
            voters, witness_votes = EXPECTED_VOTES[windows][witness, witness_there, len(remaining)]
            voting = remaining[:voters]  # the node with the highest number loses its vote
    return set(remaining)


# --- simulated cluster
# ----------------------------------------------------------------------------------------


def list_loss_orders(nodes: int, witness: bool) -> Iterator[list[list[str]]]:
    """Yield groups of up to three losses in every order; the losses of a group follow in quick succession."""
    names = [*(f"N{number}" for number in range(1, nodes + 1)), *(["W"] if witness else [])]
    for size in (1, 2, 3):
        for losses in permutations(names, min(size, len(names))):
            for gaps in product((False, True), repeat=len(losses) - 1):
                groups = [[losses[0]]]
                for name, gap in zip(losses[1:], gaps, strict=True):
                    groups = [*groups[:-1], [*groups[-1], name]] if gap else [*groups, [name]]
                yield groups


def list_members_after_losses(start: World, groups: list[list[str]]) -> set[str]:
    world = start.fork()
    tick_s = 1.0
    for group in groups:
        for number, name in enumerate(group):
            run_until(world, tick_s + number * SHORT_S)
            apply_lines(world, f"power-off {name}")
        tick_s += LONG_S + len(group) * SHORT_S
    run_until(world, tick_s)
    partitions = {node.partition for node in world.nodes.values() if node.partition}
    assert len(partitions) <= 1
    return {node.name for node in world.nodes.values() if node.partition}


def assert_predicted_members(nodes: int, witness: bool, windows: str, step: int) -> None:
    start = build_cluster(nodes, witness, windows)
    for number, groups in enumerate(list_loss_orders(nodes, witness)):
        if number % step == 0:
            expected = predict_members(nodes, witness, windows, groups)
            assert list_members_after_losses(start, groups) == expected, (
                f"{nodes} nodes, witness {witness}, {windows}: {groups}"
            )


SIZES = [(nodes, witness) for nodes in (2, 3, 4, 5) for witness in (False, True)]


@pytest.mark.parametrize("windows", VERSIONS)
def test_each_order_of_losses_leaves_the_expected_survivor(windows: str) -> None:
    """All orders are tested for two and three nodes, and every seventeenth order for more nodes."""
    for nodes, witness in SIZES:
        assert_predicted_members(nodes, witness, windows, 1 if nodes < 4 else 17)


@pytest.mark.slow
@pytest.mark.parametrize("windows", VERSIONS)
@pytest.mark.parametrize(("nodes", "witness"), SIZES)
def test_every_order_of_losses_follows_the_model(nodes: int, witness: bool, windows: str) -> None:
    assert_predicted_members(nodes, witness, windows, 1)


def test_losing_the_witness_does_not_shorten_the_heartbeat_threshold() -> None:
    """Nodes that fail together with the witness are also missed only after five seconds without heartbeats."""
    world = build_cluster(3, True, "2012 R2")
    run_until(world, 1)
    apply_lines(world, "power-off W", "power-off N2", "power-off N3")
    run_until(world, 5)
    assert world.nodes["N1"].partition
    run_until(world, 9)
    assert not world.nodes["N1"].partition


def test_forced_quorum_ends_with_a_majority_of_the_nodes() -> None:
    """Exactly half of the nodes is not enough."""
    world = build_cluster(4, False, "2016")
    run_until(world, 1)
    apply_lines(world, "power-off N2", "power-off N3", "power-off N4")
    run_until(world, 40)
    assert not world.nodes["N1"].partition
    apply_lines(world, "force-quorum N1")
    run_until(world, 60)
    assert world.nodes["N1"].config.forced
    apply_lines(world, "power-on N2")
    run_until(world, 200)
    assert world.nodes["N2"].partition == world.nodes["N1"].partition
    assert world.nodes["N1"].config.forced
    apply_lines(world, "power-on N3")
    run_until(world, 400)
    assert not world.nodes["N1"].config.forced


@pytest.mark.parametrize("command", ["Set-ClusterQuorum -NoWitness", "(Get-ClusterNode N2).NodeWeight = 0"])
@pytest.mark.parametrize("wait_s", [10, 60])
@pytest.mark.parametrize("windows", VERSIONS)
def test_changed_votes_are_counted_with_the_same_write(windows: str, wait_s: float, command: str) -> None:
    """Earlier, in Windows Server 2012, the last node could not write after the removal of its witness."""
    world = build_cluster(2, True, windows)
    run_until(world, 1)
    apply_lines(world, "power-off N2")
    run_until(world, wait_s)
    apply_lines(world, f"ps N1 {command}")
    run_until(world, world.t_s + 60)
    assert world.nodes["N1"].partition
    assert config.can_write_config(world, "N1")
    apply_lines(world, "power-on N2", "ps N1 (Get-ClusterNode N2).NodeWeight = 1")
    run_until(world, world.t_s + 200)
    assert config.can_write_config(world, "N1")
    assert world.nodes["N2"].partition


def test_lower_quorum_priority_selects_the_node_that_loses_its_vote() -> None:
    """By default the last node loses its vote. If the property names a node, that node loses its vote while
    it is up.
    """
    for lower, counted in ((None, ("N1", "N2", "N3")), ("N2", ("N1", "N3", "N4"))):
        world = build_cluster(5, False, "2012 R2")
        world.clusters["CLU1"] = replace(world.clusters["CLU1"], lower_priority_node=lower)
        run_until(world, 1)
        apply_lines(world, "power-off N5")
        run_until(world, 60)
        assert world.nodes["N1"].config.counted == counted


@pytest.mark.parametrize("owner", ["N1", "N3"])
def test_the_witness_votes_for_the_half_with_the_core_resources(owner: str) -> None:
    world = build_cluster(4, True, "2012 R2")
    run_until(world, 1)
    halves = (["N1", "N2"], ["N3", "N4"])
    winner = next(half_set for half_set in halves if owner in half_set)
    other_nodes = [name for half_set in halves if half_set is not winner for name in half_set]
    for command in ("Suspend-ClusterNode {} -Drain", "Resume-ClusterNode {}"):
        apply_lines(world, *(f"ps {owner} {command.format(name)}" for name in other_nodes))
        run_until(world, world.t_s + 5)
    run_until(world, 30)
    apply_lines(world, *(f"cut {a} {b}" for a, b in product(*halves)))
    run_until(world, 60)
    assert sorted(node.name for node in world.nodes.values() if node.partition) == winner


def test_the_last_node_with_a_vote_keeps_its_vote_when_it_stops() -> None:
    world = build_pair("none", "2016")
    run_until(world, 5)
    apply_lines(world, "set-weight N1 0", "stop-cluster N2")
    run_until(world, 60)
    assert not any(node.partition for node in world.nodes.values())
    apply_lines(world, "start-cluster N2")
    run_until(world, 120)
    assert all(node.partition for node in world.nodes.values())
