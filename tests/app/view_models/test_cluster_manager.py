"""Failover Cluster Manager shows the knowledge of its node; each of its actions is a valid input line."""

from __future__ import annotations

from app.view_models import cluster_manager
from engine.verbs.lines import parse_line
from tests.engine.availability.worlds import ag_lab, do, run_until


def test_rows_and_lines_describe_the_cluster() -> None:
    world = ag_lab()
    run_until(world, 5.0)
    rows = cluster_manager.rows(world, "NODE_1")
    assert [row.name for row in rows if row.kind == "node"] == ["NODE_1", "NODE_2", "NODE_3"]
    role = next(row for row in rows if row.kind == "role")
    assert (role.name, role.owner, role.state) == ("AG1", "NODE_1", "Online")
    actions = [action for row in rows for action in cluster_manager.actions(world, "NODE_1", row)]
    lines = {action.line for action in actions}
    assert {"move-role AG1 NODE_3", "evict NODE_2", "set-weight NODE_3 0"} <= lines
    assert "set-owners AG1_AGL1 address NODE_2,NODE_3" in lines
    for action in actions:
        parse_line(action.line)
    asked = {action.line.split()[0] for action in actions if action.warning}
    assert asked == {"evict", "force-quorum"}


def test_a_node_without_quorum_knows_only_itself() -> None:
    world = ag_lab()
    do(world, "stop-cluster NODE_2")
    run_until(world, 5.0)
    (row,) = cluster_manager.rows(world, "NODE_2")
    assert (row.name, row.state) == ("NODE_2", "Down")
    lines = [action.line for action in cluster_manager.actions(world, "NODE_2", row)]
    assert lines == ["stop-cluster NODE_2", "start-cluster NODE_2", "force-quorum NODE_2"]
    there = {row.name: row.state for row in cluster_manager.rows(world, "NODE_1") if row.kind == "node"}
    assert there == {"NODE_1": "Up", "NODE_2": "Down", "NODE_3": "Up"}


def test_a_lost_witness_is_failed_and_votes_are_described() -> None:
    world = ag_lab()
    run_until(world, 5.0)
    assert cluster_manager.title(world, "NODE_1") == "CLU1: 3 votes, File Share Witness (FSW)"
    do(world, "power-off FSW")
    run_until(world, 6.0)
    assert (
        next(row.state for row in cluster_manager.rows(world, "NODE_1") if row.kind == "witness") == "Failed"
    )
    do(world, "set-weight NODE_2 0", "set-weight NODE_3 0")
    run_until(world, 30.0)
    assert cluster_manager.title(world, "NODE_1").startswith("CLU1: 1 vote, ")
