"""Tests that a process killed during a drill loses no input that it acknowledged as stored."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from app.storage import JournalLine, StorageError, StorageProblemKind, database, open_profile
from tests.app.storage.conftest import begin_run

ENDLESS_RUN_SCRIPT = """
import sys
from itertools import count
from pathlib import Path
from app.storage import open_profile
profile = open_profile(Path(sys.argv[1]))
run = profile.list_unfinished_runs()[0]
for number in count(len(run.lines) + 1):
    profile.append_line(run.run_id, number * 10, f"{number / 10} note {number}")
    print(number, flush=True)
    profile.store_position(run.run_id, number * 10 + 5)
"""


def play_and_kill(folder: Path, input_count: int) -> int:
    """Continue the run in a process and kill it; return the number of the last acknowledged input."""
    command = [sys.executable, "-c", ENDLESS_RUN_SCRIPT, str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines_read = [process.stdout.readline() for _ in range(input_count)]
        with pytest.raises(StorageError) as caught:
            open_profile(folder)
        assert caught.value.kind is StorageProblemKind.IN_USE
        process.kill()
        lines_read += process.stdout.read().split()
    assert process.returncode != 0
    return int(lines_read[-1])


def test_every_acknowledged_input_survives_repeated_kills(
    profile_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "BUSY_TIMEOUT_MS", 20)  # The other process still runs and holds its lock.
    with open_profile(profile_folder) as profile:
        begin_run(profile)
    for acts in (1, 40):
        count = play_and_kill(profile_folder, acts)
        assert (profile_folder / "profile.sqlite-wal").exists(), (
            "else the end was not as bad as this test wants"
        )
        with open_profile(profile_folder) as profile:
            (run,) = profile.list_unfinished_runs()
            assert profile.find_data_faults() == []
        assert run.problem is None
        assert len(run.lines) in (count, count + 1)  # One more line can be stored without an acknowledgment.
        assert run.lines == tuple(
            JournalLine(number * 10, f"{number / 10} note {number}")
            for number in range(1, len(run.lines) + 1)
        )
        # The last stored tick can be that of the heartbeat before the last input.
        assert run.tick >= count * 10 - 5
