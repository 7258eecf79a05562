"""Inputs that repair a fault: they apply to the computer that had the fault, even if an instance has moved."""

from __future__ import annotations

import pytest

from app.files import scenario_files
from engine.drill.par import continuations
from engine.drill.par.candidate_actions import list_candidates
from engine.drill.par.search_drill import SearchDrill
from engine.model import World
from engine.verbs.input_lines import find_reverse_input
from tests.engine.cluster.worlds import apply_lines, build_fci_lab, run_until


def list_active_faults(world: World) -> list[str]:
    return [fault.verb for fault in world.faults if fault.reverted_tick is None]


@pytest.mark.parametrize(
    ("fault_verb", "repair_verb"), [("pull-cable", "plug-cable"), ("power-off", "power-on")]
)
def test_a_computer_is_repaired_after_the_instance_has_moved(fault_verb: str, repair_verb: str) -> None:
    world = build_fci_lab()
    apply_lines(world, f"{fault_verb} SQLFCI1")
    run_until(world, 60)
    assert world.instances["SQLFCI1"].computer == "NODE_2"
    apply_lines(world, "pull-cable NODE_2")
    apply_lines(world, "plug-cable SQLFCI1")
    assert list_active_faults(world) == [fault_verb], "that was another computer"
    reverted = find_reverse_input(world.faults[0])
    assert reverted is not None
    assert reverted.line_without_time == f"{repair_verb} NODE_1"
    apply_lines(world, reverted.line_without_time)
    assert not list_active_faults(world)


def test_a_power_failure_ends_the_freeze_of_an_instance() -> None:
    world = build_fci_lab()
    apply_lines(world, "hang SQLFCI1")
    apply_lines(world, "power-off NODE_1")
    assert list_active_faults(world) == ["power-off"]


def test_repairing_the_disk_of_a_node_ends_a_fault_of_its_instance() -> None:
    world = build_fci_lab()
    apply_lines(world, "slow-disk SQLFCI1 log factor=10")
    apply_lines(world, "slow-disk NODE_1 data factor=1")
    assert list_active_faults(world) == ["slow-disk"]
    apply_lines(world, "slow-disk NODE_1 log factor=1")
    assert not list_active_faults(world)


def test_a_lost_instance_reveals_the_fault_of_its_node() -> None:
    world = build_fci_lab()
    apply_lines(world, "power-off NODE_1")
    run_until(world, 10)
    assert world.faults[0].effect == "APP has lost its connections"


def test_reverses_apply_to_the_computer_of_the_fault() -> None:
    run = SearchDrill(scenario_files.find_scenario_file("fci-lab").load())
    run.apply_line("slow-cpu SQLFCI2 factor=3")
    run.apply_line("pull-cable SQLFCI1")
    run.advance_to(6000)
    assert continuations.list_own_fault_reversals(run) == ["plug-cable NODE_1", "slow-cpu NODE_3 factor=1"]


def test_nodes_without_an_instance_are_offered() -> None:
    run = SearchDrill(scenario_files.find_scenario_file("fci-lab").load())
    run.apply_line("power-off NODE_2")
    run.apply_line("pull-cable NODE_4")
    assert {"power-on NODE_2", "plug-cable NODE_4"} <= set(list_candidates(run, ()))
