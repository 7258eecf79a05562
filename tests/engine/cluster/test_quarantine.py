"""Quarantine, since Windows Server 2016, of a node that repeatedly leaves its cluster without a clean stop."""

from __future__ import annotations

import pytest

from engine.drill.authoring.scenario import load_scenario
from engine.drill.running.world_builder import build_world
from engine.inputs import InputError
from engine.model import World
from tests.engine.availability.worlds import SCENARIOS, apply_lines, run_until
from tests.engine.cluster.test_powershell import run_cmdlet
from tests.engine.cluster.worlds import build_fci_lab, build_pair
from tests.events import read_field


def build_lab(windows: str = "2016") -> World:
    text = (SCENARIOS / "ag-lab.toml").read_text(encoding="utf-8")
    text = text.replace('witness = "FSW"', f'witness = "FSW"\nwindows = "{windows}"')
    return build_world(load_scenario(text, "ag-lab"), 1)


def power_cycle_node(world: World, times: int, pause_s: float = 100) -> None:
    """Power NODE_2 off and on *times* times, with pauses of *pause_s*."""
    for _ in range(times):
        apply_lines(world, "power-off NODE_2")
        run_until(world, world.t_s + 30)
        apply_lines(world, "power-on NODE_2")
        run_until(world, world.t_s + pause_s)


def get_node_state(world: World) -> str:
    return run_cmdlet(world, "Get-ClusterNode NODE_2 | ft Name, State, StatusInformation")


def test_the_third_exit_within_an_hour_quarantines_for_two_hours() -> None:
    world = build_lab()
    power_cycle_node(world, 2)
    assert "Normal" in get_node_state(world)
    assert world.nodes["NODE_2"].partition
    power_cycle_node(world, 1)
    begin_s = world.t_s
    assert "Down" in get_node_state(world)
    assert "Quarantined" in get_node_state(world)
    run_until(world, begin_s + 7000)
    assert not world.nodes["NODE_2"].partition
    run_until(world, begin_s + 7210)
    assert world.nodes["NODE_2"].partition
    assert "Normal" in get_node_state(world)


@pytest.mark.parametrize("switch", ["-ClearQuarantine", "-CQ"])
def test_clearing_the_quarantine_lets_the_node_join(switch: str) -> None:
    world = build_lab()
    power_cycle_node(world, 3)
    run_cmdlet(world, "Start-ClusterNode -Name NODE_2")
    run_until(world, world.t_s + 60)
    assert not world.nodes["NODE_2"].partition
    run_cmdlet(world, f"Start-ClusterNode -Name NODE_2 {switch}")
    run_until(world, world.t_s + 60)
    assert world.nodes["NODE_2"].partition


def test_exits_over_an_hour_apart_or_orderly_do_not_count() -> None:
    world = build_lab()
    power_cycle_node(world, 3, pause_s=1800)
    assert world.nodes["NODE_2"].partition
    world = build_lab()
    for _ in range(3):
        apply_lines(world, "stop-cluster NODE_2")
        run_until(world, world.t_s + 20)
        apply_lines(world, "start-cluster NODE_2")
        run_until(world, world.t_s + 40)
    assert world.nodes["NODE_2"].partition


def test_at_most_a_quarter_of_the_nodes_is_quarantined() -> None:
    world = build_lab()
    power_cycle_node(world, 3)
    for _ in range(3):
        apply_lines(world, "power-off NODE_3")
        run_until(world, world.t_s + 30)
        apply_lines(world, "power-on NODE_3")
        run_until(world, world.t_s + 100)
    assert world.nodes["NODE_3"].partition


def test_versions_before_2016_have_no_quarantine() -> None:
    world = build_lab("2012 R2")
    power_cycle_node(world, 4)
    assert world.nodes["NODE_2"].partition
    assert not world.exits
    assert "not simulated" in run_cmdlet(world, "(Get-Cluster).QuarantineThreshold")


def test_the_cluster_shows_the_quarantine_properties() -> None:
    world = build_lab()
    assert run_cmdlet(world, "(Get-Cluster).QuarantineThreshold").strip() == "3"
    assert run_cmdlet(world, "(Get-Cluster).QuarantineDuration").strip() == "7200"
    assert "not simulated" in run_cmdlet(world, "(Get-Cluster).ResiliencyDefaultPeriod")


def test_the_state_hash_covers_the_quarantine_record() -> None:
    world = build_lab()
    power_cycle_node(world, 3)
    fork = world.fork()
    assert fork.compute_state_hash() == world.compute_state_hash()
    fork.exits.clear()
    assert fork.compute_state_hash() != world.compute_state_hash()


@pytest.mark.parametrize("server", ["NODE_1", "SQLFCI1"])
def test_a_shutdown_is_an_orderly_exit(server: str) -> None:
    world = build_fci_lab()
    run_until(world, 10)
    apply_lines(world, f"shutdown-server {server}")
    left = [read_field(event, "what") for event in run_until(world, 12) if event.kind == "cluster"]
    assert left[0] == "left"
    run_until(world, 60)
    assert not world.computers["NODE_1"].powered
    assert world.instances["SQLFCI1"].computer == "NODE_2"
    assert not world.exits
    apply_lines(world, "power-on NODE_1")
    run_until(world, 160)
    assert world.nodes["NODE_1"].partition


def test_three_shutdowns_within_an_hour_do_not_quarantine() -> None:
    world = build_pair("disk", "2016")
    for act in ("shutdown-server N2", "power-on N2") * 3:
        run_until(world, world.t_s + 90)
        apply_lines(world, act)
    run_until(world, world.t_s + 120)
    assert world.nodes["N2"].partition


def test_a_quarantined_node_refuses_to_start() -> None:
    world = build_lab()
    power_cycle_node(world, 3)
    run_until(world, world.t_s + 100)
    assert "quarantined" in run_cmdlet(world, "Start-ClusterNode NODE_2")
    with pytest.raises(InputError):
        apply_lines(world, "start-cluster NODE_2")
    run_cmdlet(world, "Start-ClusterNode NODE_2 -ClearQuarantine")
    run_until(world, world.t_s + 20)
    assert world.nodes["NODE_2"].partition


def test_a_node_without_an_instance_shuts_down_in_good_order_and_boots_again() -> None:
    world = build_fci_lab()
    run_until(world, 5)
    apply_lines(world, "shutdown-server NODE_4")
    run_until(world, 6)
    assert world.computers["NODE_4"].powered
    assert world.nodes["NODE_4"].partition == 0
    apply_lines(world, "power-on NODE_4")
    run_until(world, 12)
    assert not world.nodes["NODE_4"].partition
    run_until(world, 200)
    assert world.nodes["NODE_4"].partition
