"""RTO and RPO estimates compared with the published formulas and with simulated runs.

Also tests the failover preconditions of each secondary and node.
"""

from __future__ import annotations

import pytest

from engine.availability import estimates
from engine.availability.estimates import GroupFailoverEstimate
from engine.drill.authoring.scenario import load_scenario
from engine.drill.judging.review import review_run
from engine.drill.running.drill import Drill
from engine.protocol.group_policies import has_automatic_failover, list_preconditions
from tests.engine.availability.worlds import SCENARIOS, apply_lines, build_ag_lab, run_until
from tests.engine.cluster.worlds import build_fci_lab
from tests.engine.drill.texts import advance_drill


@pytest.mark.parametrize(
    ("redo", "send", "failover_s", "loss_s"),
    [((1000.0, 100.0), (300.0, 150.0), 19.0, 2.0), ((0.0, 0.0), (0.0, 0.0), 9.0, 0.0),
     ((1000.0, 0.0), (300.0, 0.0), None, None)],
)  # fmt: skip
def test_estimates_follow_the_formulas(redo, send, failover_s, loss_s) -> None:
    estimate = GroupFailoverEstimate(
        "Sales", "NODE_2", 5.0, "", redo[0], redo[1], send[0], send[1], overhead_s=4.0
    )
    assert (estimate.failover_s, estimate.data_loss_s) == (failover_s, loss_s)


@pytest.mark.parametrize(
    ("cause", "seconds"),
    [("power-off", 5.0), ("hang", 20.0), ("slow-cpu", 20.0), ("stop-service", 10.0), ("manual", 0.0)],
)
def test_detection_time_follows_the_setting_for_the_lost_part(cause: str, seconds: float) -> None:
    world = build_ag_lab()
    loss_estimate = estimates.estimate_failover(world, world.copies["NODE_2", "Sales"], cause)
    assert loss_estimate is not None
    assert loss_estimate.detection_s == pytest.approx(seconds)


def test_a_vanishing_rate_gives_no_estimate() -> None:
    estimate = GroupFailoverEstimate("Sales", "NODE_2", 5.0, "", 100.0, 1e-20, 100.0, 1e-20)
    assert (estimate.failover_s, estimate.data_loss_s) == (None, None)


def test_a_review_uses_the_estimate_just_before_the_loss() -> None:
    text = (SCENARIOS / "ag-lab.toml").read_text(encoding="utf-8")
    drill = advance_drill(Drill(load_scenario(text, "ag-lab"), 1), 10)
    drill.apply_line("power-off NODE_1")
    advance_drill(drill, 60)
    findings = review_run(drill)
    for failover in findings.failovers:
        estimate = failover.estimate
        assert estimate is not None
        assert estimate.server == "NODE_2"
        assert estimate.log_rate_kb_per_s > 10.0
        duration_s = (failover.phases[-2].to_tick - failover.phases[0].from_tick) / 100
        assert duration_s == pytest.approx(estimate.failover_s, abs=3.5)
    assert {guard.target for guard in findings.lanes["Sales"].preconditions} == {
        "",
        "NODE_1",
        "NODE_2",
        "NODE_3",
    }


def test_one_ready_secondary_is_enough_and_others_name_their_reason() -> None:
    world = build_ag_lab()
    assert has_automatic_failover(world, "Sales")
    apply_lines(world, "sql NODE_2 ALTER DATABASE Orders SET HADR SUSPEND")
    run_until(world, 5)
    assert not has_automatic_failover(world, "Sales"), "the group fails over as one"
    ready = {p.target: p for p in list_preconditions(world, "Sales") if "every database" in p.name}
    assert str(ready["NODE_2"].now) == "Sales: ready, Orders: not ready (suspended, USER)"
    assert not ready["NODE_3"].holds


def test_a_failover_cluster_instance_has_preconditions_per_node() -> None:
    world = build_fci_lab()
    database = next(iter(world.availability))
    assert has_automatic_failover(world, database)
    server = next(copy.server for copy in world.list_copies_of(database))
    home = world.instances[server].computer
    conditions = list_preconditions(world, database)
    assert home not in {p.target for p in conditions}
    targets = {p.target for p in conditions} - {""}
    apply_lines(world, *(f"power-off {name}" for name in sorted(targets)))
    run_until(world, 5)
    assert not has_automatic_failover(world, database)
    assert world.availability[database].exposed


def test_an_instance_that_restarts_on_its_node_does_not_fail_over() -> None:
    text = (SCENARIOS / "fci-lab.toml").read_text(encoding="utf-8")
    drill = advance_drill(Drill(load_scenario(text, "fci-lab"), 1), 10)
    drill.apply_line("stop-service SQLFCI1")
    advance_drill(drill, 60)
    (outage,) = review_run(drill).outages
    assert [str(guard.name) for guard, _ in outage.against] == [
        "a restart on the same node has failed, or the node is down"
    ]
