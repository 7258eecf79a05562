"""Tests that Failover Cluster Manager shows the knowledge of its node, and that its actions are valid input
lines.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest

from app.view_models import cluster_manager
from engine.drill.judging.automatic_players import build_random_player, play_worst
from engine.drill.running.drill import Drill
from engine.drill.running.solution import play_idle, play_reference
from engine.model import World
from engine.powershell import cluster_cmdlets
from engine.powershell.pipeline import CmdletCall
from engine.verbs.input_lines import parse_input_line
from tests.cases import sample_cases
from tests.engine.availability.worlds import SCENARIOS, apply_lines, build_ag_lab, run_until
from tests.shipped_scenarios import load_shipped_scenario


def test_rows_and_lines_describe_the_cluster() -> None:
    world = build_ag_lab()
    run_until(world, 5.0)
    rows = cluster_manager.list_cluster_rows(world, "NODE_1")
    assert [row.name for row in rows if row.kind == "node"] == ["NODE_1", "NODE_2", "NODE_3"]
    role = next(row for row in rows if row.kind == "role")
    assert (role.name, role.owner, role.state) == ("AG1", "NODE_1", "Online")
    actions = [
        action for row in rows for action in cluster_manager.list_cluster_actions(world, "NODE_1", row)
    ]
    lines = {action.line for action in actions}
    assert {"move-role AG1 NODE_3", "evict NODE_2", "set-weight NODE_3 0"} <= lines
    assert "set-owners AG1_AGL1 address NODE_2,NODE_3" in lines
    for action in actions:
        parse_input_line(action.line)
    warned_verbs = {action.line.split()[0] for action in actions if action.warning}
    assert warned_verbs == {"evict", "force-quorum"}


def test_a_node_without_quorum_knows_only_itself() -> None:
    world = build_ag_lab()
    apply_lines(world, "stop-cluster NODE_2")
    run_until(world, 5.0)
    (row,) = cluster_manager.list_cluster_rows(world, "NODE_2")
    assert (row.name, row.state) == ("NODE_2", "Down")
    lines = [action.line for action in cluster_manager.list_cluster_actions(world, "NODE_2", row)]
    assert lines == ["stop-cluster NODE_2", "start-cluster NODE_2", "force-quorum NODE_2"]
    node_states = {
        row.name: row.state
        for row in cluster_manager.list_cluster_rows(world, "NODE_1")
        if row.kind == "node"
    }
    assert node_states == {"NODE_1": "Up", "NODE_2": "Down", "NODE_3": "Up"}


def test_a_lost_witness_is_failed_and_votes_are_described() -> None:
    world = build_ag_lab()
    run_until(world, 5.0)
    assert cluster_manager.format_cluster_title(world, "NODE_1") == "CLU1: 3 votes, File Share Witness (FSW)"
    apply_lines(world, "power-off FSW")
    run_until(world, 6.0)
    assert (
        next(row.state for row in cluster_manager.list_cluster_rows(world, "NODE_1") if row.kind == "witness")
        == "Failed"
    )
    apply_lines(world, "set-weight NODE_2 0", "set-weight NODE_3 0")
    run_until(world, 30.0)
    assert cluster_manager.format_cluster_title(world, "NODE_1").startswith("CLU1: 1 vote, ")


# --- equal states in the manager and in the cmdlets --------------------------------------

PLAYERS = {
    "reference": play_reference,
    "idle": play_idle,
    "random": lambda scenario: build_random_player(1)(scenario, scenario.seed),
    "worst": lambda scenario: play_worst(scenario, scenario.seed),
}
CLUSTER_DRILLS = sorted(
    file.stem for file in SCENARIOS.glob("*.toml") if "[[cluster]]" in file.read_text("utf-8")
)
STEP_TICKS = 700


def iterate_worlds(name: str, player: str) -> Iterator[World]:
    """Yield the world of a run every seven seconds."""
    scenario = load_shipped_scenario(name)
    played_drill = PLAYERS[player](scenario)
    drill, inputs = Drill(scenario, played_drill.seed, played_drill.mode), list(played_drill.journal)
    for tick in range(0, played_drill.tick, STEP_TICKS):
        while inputs and inputs[0].tick <= tick and not drill.finished:
            drill.advance_to(inputs[0].tick)
            drill.apply_line(inputs.pop(0).line_without_time)
        drill.advance_to(tick)
        yield drill.world


def read_manager_states(world: World, name: str) -> dict[tuple[str, str], tuple[str, str]]:
    rows = cluster_manager.list_cluster_rows(world, name)
    return {(row.kind, row.name): (row.state, row.owner) for row in rows if row.kind != "witness"}


def read_cmdlet_states(world: World, name: str) -> dict[tuple[str, str], tuple[str, str]]:
    cells = {}
    for kind, cmdlet in (
        ("node", cluster_cmdlets.get_node),
        ("role", cluster_cmdlets.get_group),
        ("resource", cluster_cmdlets.get_resource),
    ):
        for row in cmdlet(world, name, CmdletCall(f"Get-Cluster{kind}"), None).rows:
            cells[kind, row["Name"]] = row["State"], row.get("OwnerNode", "")
    return cells


def check_states(world: World) -> None:
    for name in cluster_manager.list_usable_nodes(world):
        if cluster_manager.find_running_node(world, name) is not None:
            shown_states = read_manager_states(world, name)
            states_by_cmdlet = read_cmdlet_states(world, name)
            assert shown_states == {key: states_by_cmdlet[key] for key in shown_states}, (world.t_s, name)


@pytest.mark.parametrize(("name", "player"), sample_cases(29, product(CLUSTER_DRILLS, PLAYERS)))
def test_manager_and_cmdlets_show_the_same_states(name: str, player: str) -> None:
    for world in iterate_worlds(name, player):
        check_states(world)


@pytest.mark.parametrize(
    ("line", "wait_s", "key", "state"),
    [
        ("power-off NODE_2", 2.0, ("node", "NODE_2"), "Up"),
        ("power-off NODE_2", 20.0, ("node", "NODE_2"), "Down"),
        ("ps NODE_1 Suspend-ClusterNode NODE_2", 1.0, ("node", "NODE_2"), "Paused"),
        ("move-role AG1 NODE_2", 1.0, ("role", "AG1"), "Pending"),
        ("stop-role AG1", 5.0, ("role", "AG1"), "Offline"),
        ("fail-witness CLU1", 5.0, ("resource", "AG1_AGL1"), "Online"),
    ],
)
def test_a_state_is_what_the_members_know(line: str, wait_s: float, key: tuple[str, str], state: str) -> None:
    """A lost node is shown as up until its heartbeat threshold is exceeded. [DOC: cluster network thresholds]"""
    world = build_ag_lab()
    run_until(world, 5.0)
    apply_lines(world, line)
    run_until(world, 5.0 + wait_s)
    assert read_cmdlet_states(world, "NODE_1")[key][0] == state
    check_states(world)
