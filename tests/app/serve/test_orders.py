"""Tests of the order desk as a separate program: `mirrordrill serve` runs its drill and scores its own
failures.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from app.files.folders import PROFILE_FOLDER_VARIABLE
from tests.forked import Program, run_program

ROOT = Path(__file__).parents[3]
TIME_REPLACEMENTS = {
    'between = ["60s", "70s"]': 'at = "40min"',
    'at = "150s"': 'at = "40min"',
    'until = "150s"': 'until = "1s"',
    'at = "210s"': 'at = "40min"',
    'length = "5min"': 'length = "40min"',
    'within = "60s"': 'within = "30min"',
    'within = "140s"': 'within = "30min"',
    'within = "4min"': 'within = "30min"',
}
"""Text replacements that move fixed times of the drill out of the way. Failures then occur when the test
causes them.
"""


class DrillProcess:
    """Running drill whose state the test reads from its output lines."""

    def __init__(self, running: Program) -> None:
        self._in, self._out = running.stdin, running.stdout
        self.servers = json.loads(self._out.readline())["servers"]

    def write_line(self, line: str) -> None:
        self._in.write(line + "\n")
        self._in.flush()

    def wait_for_events(self, is_wanted: Callable[[Any], bool], times: int = 1) -> None:
        """Wait until *times* events for which *is_wanted* is true have occurred."""
        while times:
            line = self._out.readline()
            assert line, "the run is over"
            times -= is_wanted(json.loads(line))

    def finish_run(self) -> None:
        self.write_line("finish")
        self._out.read()


def build_reply_check(server: str) -> Callable[[Any], bool]:
    return lambda e: (
        (e["kind"], e.get("program"), e.get("server"), e["text"]) == ("sql_done", "orders", server, "ok")
    )


def build_role_check(server: str, new_role: str) -> Callable[[Any], bool]:
    return lambda e: e["kind"] == "role" and e["server"] == server and new_role in e["text"]


def is_synchronized(event: Any) -> bool:
    return event["kind"] == "state" and "SYNCHRONIZED" in event["text"]


def play_order_drill(
    folder: Path, switches: Sequence[str], cause_faults: Callable[[DrillProcess], None]
) -> Any:
    """Play the drill with the order desk, verify its replay, and return the report."""
    drill, record = folder / "app-real-program.toml", folder / "run.json"
    text = (ROOT / "scenarios/app-real-program.toml").read_text(encoding="utf-8")
    for early_order, late_order in TIME_REPLACEMENTS.items():
        assert early_order in text
        text = text.replace(early_order, late_order)
    drill.write_text(text, encoding="utf-8")
    environment = {**os.environ, PROFILE_FOLDER_VARIABLE: str(folder / "profile")}
    words = ("serve", drill, "--port-base", "0", "--speed", "8", "--record", record)
    with Program(*words, environment=environment) as running:
        play = DrillProcess(running)
        first_address, second_address = (
            f"127.0.0.1:{play.servers[name]['port']}" for name in ("TOY1", "TOY2")
        )
        desk = [
            sys.executable,
            "-m",
            "examples.orders",
            "--server",
            first_address,
            "--partner",
            second_address,
            "--every",
            "0.1",
        ]
        desk += ["--password", play.servers["TOY1"]["password"], *switches]
        with subprocess.Popen(desk, cwd=ROOT, stdout=subprocess.DEVNULL) as orders:
            cause_faults(play)
            orders.terminate()
        play.finish_run()
        running.wait(60)
    assert run_program("replay", record, environment=environment).returncode == 0
    return json.loads(record.read_text(encoding="utf-8"))


def list_met_goals(report: Any) -> list[str]:
    return [goal["name"] for goal in report["goals"] if goal["met"]]


def test_an_application_with_retry_follows_both_failovers(tmp_path: Path) -> None:
    def cause_failovers(play: DrillProcess) -> None:
        play.wait_for_events(build_reply_check("TOY1"), 6)
        play.write_line("stop-service TOY1")
        play.wait_for_events(build_reply_check("TOY2"), 2)
        play.write_line("start-service TOY1")
        play.wait_for_events(is_synchronized)
        play.write_line("stop-service TOY2")
        play.wait_for_events(build_reply_check("TOY1"), 6)  # The engine checks goals once per second.

    report = play_order_drill(tmp_path, ["--retry"], cause_failovers)
    assert list_met_goals(report) == ["works", "back", "by-itself"]
    # The report contains the batches of the application.
    assert any("INSERT dbo.attempts VALUES" in statement["batch"] for statement in report["sql"])


@pytest.mark.slow
def test_an_application_without_retry_stops(tmp_path: Path) -> None:
    def cause_failover(play: DrillProcess) -> None:
        play.wait_for_events(build_reply_check("TOY1"), 6)
        play.write_line("stop-service TOY1")
        play.wait_for_events(build_role_check("TOY2", "PRINCIPAL"))
        play.write_line("start-service TOY1")
        play.wait_for_events(is_synchronized)

    assert list_met_goals(play_order_drill(tmp_path, [], cause_failover)) == ["works"]
