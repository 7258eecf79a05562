"""Builders of worlds with availability groups, and functions that inspect these worlds."""

from __future__ import annotations

from pathlib import Path

from engine import simulator
from engine.drill.authoring.scenario import Scenario, load_scenario
from engine.drill.running.world_builder import build_world
from engine.events import Event
from engine.model import World
from engine.protocol import serving
from engine.verbs.input_lines import parse_input_line

SCENARIOS = Path(__file__).parents[3] / "scenarios"


def build_ag_lab(seed: int = 1, version: int = 2014) -> World:
    """Return the lab with NODE_1 as primary.

    NODE_2 is synchronous with automatic failover, NODE_3 is asynchronous, and FSW holds a file share witness.
    """
    text = (SCENARIOS / "ag-lab.toml").read_text(encoding="utf-8")
    return build_world(load_scenario(text.replace("version = 2014", f"version = {version}"), "ag-lab"), seed)


def build_many_groups(groups: int, databases: int) -> Scenario:
    """Return the lab with *groups* groups of *databases* databases each, and no application."""
    text = (SCENARIOS / "ag-lab.toml").read_text(encoding="utf-8")
    head, tail = text[: text.index("[[database]]")], text[text.index("[fidelity]") :]
    lines = [head]
    for group in range(1, groups + 1):
        names = [f"Sales{group}{number:02}" for number in range(1, databases + 1)]
        for name in names:
            scale = 1 / groups / databases
            lines.append(f'[[database]]\nname = "{name}"\nworkload = "Workload1"\nscale = {scale}')
        quoted = ", ".join(f'"{name}"' for name in names)
        lines.append(
            f'[[availability_group]]\nname = "AG{group}"\ndatabases = [{quoted}]\nprimary = "NODE_1"'
        )
        for number, mode in (
            (1, 'failover = "AUTOMATIC"'),
            (2, 'failover = "AUTOMATIC"'),
            (3, 'mode = "ASYNCHRONOUS_COMMIT"'),
        ):
            lines.append(f'[[availability_group.replica]]\nserver = "NODE_{number}"\n{mode}')
    return load_scenario("\n".join([*lines, tail]), "ag-lab")


def apply_lines(world: World, *lines: str) -> None:
    for line in lines:
        simulator.apply_input(world, parse_input_line(line))


def run_until(world: World, t_s: float) -> list[Event]:
    return simulator.advance_world(world, round(t_s * 100))


def list_primaries(world: World) -> list[str]:
    """Return the servers whose databases accept commits."""
    return sorted({key[0] for key in world.copies if serving.is_serving(world, key)})
