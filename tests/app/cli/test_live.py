"""Tests of `run --speed`: a drill in real time without a window, controlled over standard input."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from app.cli.runs import play_live
from app.files import scenario_files
from engine.drill.authoring.scenario import load_scenario
from engine.drill.running.drill import Drill, DrillMode
from tests.app.host.test_host import QUESTION_SCENARIO

ROOT = Path(__file__).parents[3]


def run_program(*arguments: str, lines: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "app", "run", "lab", *arguments],
        input=lines, capture_output=True, text=True, cwd=ROOT, check=False,
    )  # fmt: skip


def test_lines_are_applied_on_arrival_and_time_follows_the_clock(tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    before = time.perf_counter()
    printed = run_program(
        "--speed", "30", "--until", "60", "--json", str(file), lines="power-off SERVER_A\nmend the moon\n"
    )
    assert time.perf_counter() - before >= 60 / 30
    assert printed.returncode == 0, printed.stderr
    assert "SERVER_A" in printed.stdout
    assert "The name 'the' does not exist" in printed.stdout
    report = json.loads(file.read_text())
    assert report["ended_at_s"] >= 60.0
    assert [failover["to_server"] for failover in report["failovers"]] == ["SERVER_B"]


def test_a_run_without_an_end_ends_with_its_input() -> None:
    report = run_program("--speed", "1", "--json", "-", lines="cut SERVER_A SERVER_B\n")
    assert report.returncode == 0, report.stderr
    assert json.loads(report.stdout)["ended_at_s"] < 60.0
    assert "SERVER_B" in report.stderr


@pytest.mark.slow
def test_an_unreachable_speed_is_refused() -> None:
    report = run_program("--speed", "100000")
    assert report.returncode == 2
    assert "0.1 to 1000" in report.stderr


def test_a_question_without_an_answering_line_ends_the_run() -> None:
    scenario = load_scenario(scenario_files.find_scenario_file("lab").text + QUESTION_SCENARIO, "lab.toml")
    drill = Drill(scenario, mode=DrillMode.GUIDED)  # free play asks no questions
    lines: list[str] = []
    play_live(drill, 1000.0, 60.0, io.StringIO(""), lines.append)
    assert drill.world.t_s == 5.0
    assert any("Who serves Sales now?" in line for line in lines)
