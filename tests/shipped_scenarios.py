"""Shipped scenarios, cached per process, because parsing each one takes 15 ms."""

from __future__ import annotations

from functools import cache
from typing import Final

from app.files import scenario_files
from engine.drill.authoring.scenario import Scenario

SCENARIO_NAMES: Final = tuple(file.name for file in scenario_files.list_all_files()[0] if file.shipped)
LAB_NAMES: Final = ("lab", "ag-lab", "fci-lab")
"""Names of scenarios without goals and points."""
DRILL_NAMES: Final = tuple(name for name in SCENARIO_NAMES if name not in LAB_NAMES)


@cache
def load_shipped_scenario(name: str) -> Scenario:
    return scenario_files.find_scenario_file(name).load()
