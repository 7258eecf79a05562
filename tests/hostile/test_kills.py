"""Tests of a few random kill points of kills.py. Run the series of a thousand kills manually."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize("points", [4, pytest.param(24, marks=pytest.mark.slow)])
def test_killed_runs_end_like_uninterrupted_ones(points: int) -> None:
    # The test forks, so it must run in a process without threads.
    command = [
        sys.executable,
        "-m",
        "tests.hostile.kills",
        str(points),
        "3",
    ]
    process = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert process.returncode == 0, process.stderr
    counts = {outcome.strip(): int(count) for count, outcome in _list_run_lines(process.stdout)}
    assert sum(counts.values()) >= 2, process.stdout
    # The time of a kill is random. Usually about six of 24 kills occur in the middle of a run, fewer on a
    # slow machine.
    assert any("in the middle" in outcome or "before its first act" in outcome for outcome in counts), (
        process.stdout
    )
    assert all("equal, " in outcome for outcome in counts), process.stdout


def _list_run_lines(text: str) -> list[tuple[str, str]]:
    return [(line[:5], line[11:]) for line in text.splitlines() if line[6:10] == "runs"]
