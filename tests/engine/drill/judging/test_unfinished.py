"""Unfinished batches in a report, and refused inputs that leave the world unchanged."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.drill.authoring.scenario import load_scenario
from engine.drill.running.drill import Drill
from engine.inputs import InputError

SCENARIOS = Path(__file__).parents[4] / "scenarios"


def _build_drill(name: str) -> Drill:
    return Drill(load_scenario((SCENARIOS / f"{name}.toml").read_text(encoding="utf-8"), name), 1)


def test_unfinished_batches_are_listed() -> None:
    drill = _build_drill("lab")
    drill.apply_line("sql SERVER_A WAITFOR DELAY '01:00:00'")
    drill.apply_line("sql SERVER_A SELECT 1")
    rows = [(row["server"], row["batch"], row["state"]) for row in drill.build_report()["unfinished"]]
    assert rows == [
        ("SERVER_A", "WAITFOR DELAY '01:00:00'", "running"),
        ("SERVER_A", "SELECT 1", "waiting"),
    ]


def test_an_instance_is_no_computer_that_setup_could_add() -> None:
    with pytest.raises(InputError):
        _build_drill("fci-lab").apply_line("add-node SQLFCI1 SQLFCI1")
