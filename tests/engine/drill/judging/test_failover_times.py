"""Durations of failovers: the plan agrees with the simulated world, and automatic failovers need safety FULL."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from engine.drill.judging.sweep import FAULT_VERBS, build_failover_scenario, simulate_failovers
from engine.flow import SafetyMode
from engine.generators import run_to_completion
from engine.planning import MirroringPlan


@pytest.mark.parametrize("cause", FAULT_VERBS)
def test_every_cause_ends_in_a_failover(cause: str) -> None:
    scenario = build_failover_scenario(MirroringPlan(), cause)
    assert scenario is not None
    (times_found,) = run_to_completion(simulate_failovers(scenario, 1))
    assert not times_found.problem
    assert times_found.failover_s is not None
    assert times_found.downtime_s is not None
    unnoticed_s = times_found.downtime_s - times_found.failover_s
    assert 0.0 <= unnoticed_s < times_found.downtime_s < 20.0
    assert (unnoticed_s > 9.0) == (cause == "hang"), "which only the partner timeout notices"


def test_links_and_versions_of_the_plan_are_in_the_scenario() -> None:
    scenario = build_failover_scenario(
        MirroringPlan(rtt_ms=60.0, bandwidth_mbps=50.0, loss=0.01, version=2012), FAULT_VERBS[0]
    )
    assert scenario is not None
    for link in scenario.links:
        assert (link.rtt_ms, link.bandwidth_mbps, link.loss) == (60.0, 50.0, 0.01)
    assert {server.version for server in scenario.servers} == {2012}


def test_plans_without_automatic_failover_or_published_workload_have_no_scenario() -> None:
    plan = MirroringPlan()
    assert build_failover_scenario(replace(plan, safety=SafetyMode.OFF), FAULT_VERBS[0]) is None
    own_workload = replace(plan.workload, name="own")
    assert build_failover_scenario(replace(plan, workload=own_workload), FAULT_VERBS[0]) is None
