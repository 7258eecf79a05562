"""Drill conditions about availability groups, and the reasons why a group can or cannot fail over
automatically.
"""

from __future__ import annotations

import pytest

from engine.drill.authoring import conditions
from engine.drill.authoring.condition_context import ConditionContext, ConditionNames
from engine.model import World
from engine.protocol.group_policies import has_automatic_failover, list_preconditions
from tests.engine.availability.worlds import apply_lines, build_ag_lab, run_until
from tests.engine.cluster.worlds import build_fci_lab
from tests.events import read_field

NAMES = ConditionNames(("Sales", "Orders"), ("NODE_1", "NODE_2", "NODE_3"), ("APP", "REPORT"), ("FSW",))


@pytest.mark.parametrize(
    ("setup_lines", "true_text", "false_text"),
    [
        ((), "Sales is SYNCHRONIZED and Sales is ARMED", "Sales is NONE"),
        ((), "Sales on NODE_1 is PRIMARY and Sales on NODE_2 is READY", "Sales on NODE_3 is READY"),
        ((), "NODE_2 is VOTING and FSW is not OFF", "FSW is MEMBER or FSW is RUNNING"),
        (("power-off NODE_2",), "Sales is SYNCHRONIZING and Sales on NODE_2 is RESOLVING", "Sales is ARMED"),
        (
            ("stop-cluster NODE_1",),
            "NODE_1 is not MEMBER and Sales serves on NODE_2",
            "Sales serves on NODE_1",
        ),
    ],
)
def test_conditions_evaluate_availability_groups(
    setup_lines: tuple[str, ...], true_text: str, false_text: str
) -> None:
    world = build_ag_lab()
    apply_lines(world, *setup_lines)
    run_until(world, 40)
    facts = ConditionContext(world, ())
    assert conditions.parse(true_text, NAMES).is_met(facts)
    assert not conditions.parse(false_text, NAMES).is_met(facts)


def test_each_failed_precondition_names_where_to_check() -> None:
    world = build_ag_lab()
    assert has_automatic_failover(world, "Sales")
    apply_lines(world, "power-off NODE_2")
    run_until(world, 30)
    failing = [p.name for p in list_preconditions(world, "Sales") if not p.holds and not p.about]
    assert "SQL Server runs and responds on the target" in failing
    assert not has_automatic_failover(world, "Sales")


@pytest.mark.parametrize(
    "fault", ["power-off NODE_1", "pull-cable NODE_1", "stop-service NODE_1", "hang NODE_1"]
)
def test_a_loss_counts_as_noticed_at_its_detection(fault: str) -> None:
    _check_detection(build_ag_lab(), fault)


@pytest.mark.parametrize("fault", ["power-off NODE_1", "pull-cable NODE_1", "hang SQLFCI1"])
def test_an_instance_loss_counts_as_noticed_at_its_detection(fault: str) -> None:
    _check_detection(build_fci_lab(), fault)


def _check_detection(world: World, fault: str) -> None:
    """Assert that the precondition is first met when the cluster reports the failure, and not earlier at the
    fault.
    """
    run_until(world, 10)
    apply_lines(world, fault)
    while True:
        events = run_until(world, world.t_s + 0.1)
        noticed = any(
            condition.holds
            for condition in list_preconditions(world, "Sales")
            if condition.about == "beginning"
        )
        reported = any(
            event.kind == "cluster" and read_field(event, "what") in ("role-failed", "node removed")
            for event in events
        )
        assert noticed == reported, f"at {world.t_s}"
        if reported:
            break
    assert world.t_s > 10.4
