"""A headless drill writes nothing but what it was asked for; the profile writes into its own folder only."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

WATCHED = """
import os, sys
opened = []
def note(event, arguments):
    if event == "open":
        path, mode, flags = arguments
        if isinstance(path, str) and (flags or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            opened.append(path)
    elif event in ("os.mkdir", "os.rename", "os.remove", "os.symlink", "os.link", "sqlite3.connect"):
        opened.append(str(arguments[0]))
from app import cli, scenario_files
from engine.drill.drill import Drill
Drill(scenario_files.find("lab").load()).advance_to(100)  # what is compiled first may be kept beside the program
sys.addaudithook(note)
assert cli.main(["run", "lab", "--inputs", sys.argv[1], "--json", sys.argv[2]], lambda scenario: 9) == 0
from app.storage import open_profile
with open_profile() as profile:
    profile.append(profile.begin_run("lab", "", "", 1, "0", "lab"), 0, "0 note x")
print("\\n".join(path for path in opened if path != ":memory:" and "__pycache__" not in path))
"""


def test_nothing_is_written_outside(tmp_path: Path, profile_folder: Path) -> None:
    inputs, report = tmp_path / "in.txt", tmp_path / "report.json"
    inputs.write_text("1 sql SERVER_A BACKUP DATABASE Sales TO DISK='/tmp/escaped'\n2 power-off SERVER_A\n")
    command = [sys.executable, "-c", WATCHED, str(inputs), str(report)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=dict(os.environ))
    assert done.returncode == 0, done.stderr
    written = {Path(line) for line in done.stdout.splitlines() if line and not line.startswith("{")}
    assert report in written
    assert profile_folder / "profile.sqlite" in written
    assert all(path == report or path.is_relative_to(profile_folder) for path in written), written
