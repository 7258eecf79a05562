"""Tests that the Always On dashboard shows the knowledge of the selected server, with the names of its
policies.
"""

from __future__ import annotations

from app.view_models import dashboard
from app.view_models.topology_builder import build_topology_contents, list_copy_displays
from tests.engine.availability.worlds import apply_lines, build_ag_lab, run_until


def test_the_primary_knows_all_replicas_and_a_secondary_only_itself() -> None:
    world = build_ag_lab()
    run_until(world, 5.0)
    board = dashboard.build_dashboard(world, *dashboard.find_groups(world, "NODE_1")["AG1"])
    assert (board.health, board.primary, board.quorum) == (dashboard.HEALTHY, "NODE_1", "Normal quorum")
    assert [row.state for row in board.replicas] == ["Synchronized", "Synchronized", "Synchronizing"]
    readiness = {(row.name, row.replica): row.readiness for row in board.databases}
    assert readiness["Sales", "NODE_2"] == "No data loss"
    assert readiness["Sales", "NODE_3"] == "Data loss"
    board = dashboard.build_dashboard(world, *dashboard.find_groups(world, "NODE_2")["AG1"])
    assert [row.role for row in board.replicas] == ["Unknown", "Secondary", "Unknown"]
    assert {row.replica for row in board.databases} == {"NODE_2"}


def test_a_lost_secondary_is_an_issue_and_a_lost_server_does_not_respond() -> None:
    world = build_ag_lab()
    apply_lines(world, "power-off NODE_2")
    run_until(world, 30.0)
    board = dashboard.build_dashboard(world, *dashboard.find_groups(world, "NODE_1")["AG1"])
    assert board.health == dashboard.CRITICAL
    assert dashboard.GROUP_NOT_READY_ISSUE in board.issues
    row = next(row for row in board.replicas if row.name == "NODE_2")
    assert dashboard.REPLICA_DISCONNECTED_ISSUE in row.issues
    assert dashboard.find_groups(world, "NODE_2") == {}


def test_suspending_the_primary_suspends_the_secondaries_on_dashboard_and_cards() -> None:
    world = build_ag_lab()
    apply_lines(world, "sql NODE_1 ALTER DATABASE Sales SET HADR SUSPEND")
    run_until(world, 1.0)
    board = dashboard.build_dashboard(world, *dashboard.find_groups(world, "NODE_1")["AG1"])
    suspended = {row.replica: row.suspended for row in board.databases if row.name == "Sales"}
    assert suspended == {"NODE_1": "USER", "NODE_2": "PARTNER", "NODE_3": "PARTNER"}
    signs = [face.state for face in list_copy_displays(world) if face.database == "Sales"]
    assert [sign.text for sign in signs if sign is not None] == ["SUSPENDED"] * 3


def test_without_quorum_a_server_knows_only_its_own_replica() -> None:
    world = build_ag_lab()
    apply_lines(world, "power-off FSW", "power-off NODE_2", "power-off NODE_3")
    run_until(world, 60.0)
    board = dashboard.build_dashboard(world, *dashboard.find_groups(world, "NODE_1")["AG1"])
    assert dashboard.NO_CLUSTER_ISSUE in board.issues
    assert dashboard.GROUP_OFFLINE_ISSUE in board.issues
    assert [row.name for row in board.replicas] == ["NODE_1"]


def test_queues_and_estimates_match_the_views() -> None:
    world = build_ag_lab()
    run_until(world, 20.0)
    board = dashboard.build_dashboard(world, *dashboard.find_groups(world, "NODE_1")["AG1"])
    rows = {(row.name, row.replica): row for row in board.databases}
    own_row, follows = rows["Sales", "NODE_1"], rows["Sales", "NODE_3"]
    assert own_row.data_loss_s is None
    assert own_row.positions["end_of_log_lsn"] is not None
    assert own_row.recovery_s is None
    assert follows.data_loss_s is not None
    assert follows.recovery_s is not None
    assert follows.positions["log_send_rate"] not in (None, 0)
    before = follows.data_loss_s
    apply_lines(world, "power-off NODE_3")
    run_until(world, 80.0)
    board = dashboard.build_dashboard(world, *dashboard.find_groups(world, "NODE_1")["AG1"])
    lost_row = next(row for row in board.databases if (row.name, row.replica) == ("Sales", "NODE_3"))
    assert lost_row.data_loss_s is not None
    assert lost_row.data_loss_s > before + 40


def test_a_listener_is_shown_at_the_node_that_owns_its_group() -> None:
    world = build_ag_lab()

    def locate_listeners() -> list[str]:
        return [
            f"{face.name}: {sign.label}"
            for face in build_topology_contents(world).servers
            for sign in face.listeners
        ]

    assert locate_listeners() == ["NODE_1: AGL1:1433 online"]
    apply_lines(world, "stop-service NODE_1")
    run_until(world, 0.6)
    assert locate_listeners() == ["NODE_1: AGL1:1433 failing over"], "the cluster has not noticed yet"
    run_until(world, 3)
    assert locate_listeners() == ["NODE_2: AGL1:1433 failing over"]
    run_until(world, 20)
    assert locate_listeners() == ["NODE_2: AGL1:1433 online"]
    apply_lines(world, "stop-role AG1")
    run_until(world, 40)
    assert locate_listeners() == ["NODE_2: AGL1:1433 offline"]
