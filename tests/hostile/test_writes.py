"""Tests of written files: a headless drill writes only requested files, a window session only in the profile
folder.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.files import bundle
from tests.engine.drill.texts import WORLD_TEXT

WATCHED_RUN_SCRIPT = """
import os, sys
opened = []
def note(event, arguments):
    if event == "open":
        path, mode, flags = arguments
        if isinstance(path, str) and (flags or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            opened.append(path)
    elif event in ("os.mkdir", "os.rename", "os.remove", "os.symlink", "os.link", "sqlite3.connect"):
        opened.append(str(arguments[0]))
from app import cli
from app.files import scenario_files
from engine.drill.running.drill import Drill
# A library that is compiled first is kept next to the program.
Drill(scenario_files.find_scenario_file("lab").load()).advance_to(100)
sys.addaudithook(note)
assert cli.main(["run", "lab", "--inputs", sys.argv[1], "--json", sys.argv[2]], lambda scenario: 9) == 0
from app.storage import open_profile
with open_profile() as profile:
    profile.append_line(profile.begin_run("lab", "", "", 1, "0", "lab"), 0, "0 note x")
print("\\n".join(path for path in opened if path != ":memory:" and "__pycache__" not in path))
"""


def test_nothing_is_written_outside(tmp_path: Path, profile_folder: Path) -> None:
    inputs, report = tmp_path / "in.txt", tmp_path / "report.json"
    inputs.write_text("1 sql SERVER_A BACKUP DATABASE Sales TO DISK='/tmp/escaped'\n2 power-off SERVER_A\n")
    command = [sys.executable, "-c", WATCHED_RUN_SCRIPT, str(inputs), str(report)]
    process = subprocess.run(command, capture_output=True, text=True, timeout=120, env=dict(os.environ))
    assert process.returncode == 0, process.stderr
    written_paths = {Path(line) for line in process.stdout.splitlines() if line and not line.startswith("{")}
    siblings = {path for path in written_paths if path.parent == tmp_path and path != profile_folder}
    # The file is written under another name, then renamed.
    assert {path.name.rsplit(".", 2)[0] for path in siblings} == {".report.json"}
    assert report.exists()
    assert profile_folder / "profile.sqlite" in written_paths
    assert all(path.is_relative_to(profile_folder) for path in written_paths - siblings), written_paths


TRACE_SCRIPT = """
import os, sys
opened, made = set(), ("os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.symlink", "os.link", "os.truncate",
                       "os.chmod", "os.chown", "os.utime", "sqlite3.connect")
removed = ("os.remove", "os.rmdir")  # a whole folder is removed by names below an open folder
def note(event, arguments):
    if event == "open" and (arguments[2] or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC):
        paths = arguments[:1]
    elif event in made:
        paths = arguments[:2]
    else:
        return
    for path in paths:
        if isinstance(path, (str, bytes, os.PathLike)) and path != ":memory:":
            at = os.readlink(f"/proc/self/fd/{arguments[1]}") if event in removed and arguments[1] >= 0 else ""
            opened.add(os.path.abspath(os.path.join(at, os.fsdecode(path))))
"""
"""Script that prints every path that Python opens for writing, creates, moves or removes.

The test finds files that Qt writes on disk afterwards.
"""

SESSION_SCRIPT = """
import json, os, sys
from pathlib import Path
from PySide6.QtWidgets import QApplication, QFileDialog
from app.files import bundle_store, scenario_files
from app.main_window import debrief_controller
from tests.open_window import build_window
from app.main_window.appearance import apply_stored_theme
from app.settings import WindowSettings
from app.storage import open_profile
from app.files.folders import get_profile_folder
from engine.drill.running.drill import Drill

# A library that is compiled first is kept next to the program.
Drill(scenario_files.find_scenario_file("lab").load()).advance_to(100)
watched, chosen = sys.argv[1], Path(sys.argv[2])
app = QApplication([])
sys.addaudithook(note)

def files():
    return {os.path.join(at, name) for at, _, names in os.walk(watched) for name in names}

QFileDialog.getSaveFileName = staticmethod(lambda parent, title, suggested="", kind="": (
    str(chosen / ("b.zip" if "bundle" in title else Path(suggested).name)), ""))
store = WindowSettings()
apply_stored_theme(store)
with open_profile() as profile:
    window = build_window(profile, store, use_timer=False)
    window.show()
    window.actions_by_name["view.theme"].trigger()
    window.actions_by_name["view.larger"].trigger()
    window.select_drill("lab")
    window.brief.start_wanted.emit("lab")
    window.session.set_speed(100.0)
    for _ in range(20):
        window.session.on_frame(100.0)
        app.processEvents()
    window.console.open_query("SERVER_A", "BACKUP DATABASE Sales TO DISK='escaped'")
    window.console.tools["run"].trigger()
    window.console.open_query("SERVER_A", "SELECT * FROM sys.databases")
    window.console.tools["run"].trigger()
    for _ in range(20):
        window.session.on_frame(100.0)
        app.processEvents()
    window.scripts.save_script()
    window.scripts.save_results()
    window.apply_line("power-off SERVER_B")
    window.topology.add_note()
    for name in ("help.check", "help.bundle"):
        window.actions_by_name[name].trigger()
    while window.diagnostics.is_busy:
        app.processEvents()
    window.session.apply_input("finish")
    for kind in debrief_controller.EXPORT_WRITERS:
        window.debrief.export_wanted.emit(kind)
    window.open_file(sys.argv[3])
    window.pages.currentWidget().accept.click()
    assert window.pages.currentWidget() is window.brief
    window.open_file(sys.argv[4])
    window.pages.currentWidget().accept.click()
    assert bundle_store.list_imported_bundles()
    window.quarantine.show_accepted()
    assert window.quarantine.listed.list.table.rowCount() == 2
    window.quarantine.listed.forget_all.click()
    window.quarantine.listed.close()
    window.editing.show_editor()
    window.editing.page.text.setPlainText(Path(sys.argv[3]).read_text() + "# changed")
    window.editing.save_draft()
    assert profile.drafts.load("editor")
    window.editing.save_scenario_as()
    window.show_home()
    window.close()
    app.processEvents()
print(json.dumps({"there": sorted(files()), "opened": sorted(opened)}))
"""

COMMANDS_SCRIPT = """
import json
from pathlib import Path
from app import cli
from app.files import scenario_files
from engine.drill.running.drill import Drill
# A library that is compiled first is kept next to the program.
Drill(scenario_files.find_scenario_file("lab").load()).advance_to(100)
home, foreign, course = map(Path, sys.argv[1:4])
chosen = home / "chosen"

def do(*words):
    return cli.main([str(word) for word in words], lambda scenario: 9)

sys.addaudithook(note)
(chosen / "in.txt").write_text("30 power-off SERVER_A\\n")
codes = [
    do("run", "lab", "--inputs", chosen / "in.txt", "--json", chosen / "run.json"),
    do("replay", chosen / "run.json"),
    do("bundle", "make", chosen / "made.mirrordrill", foreign),
    do("bundle", "show", course),
    do("bundle", "add", course),
]
from app.files import bundle_store
codes += [
    do("bundle", "list"),
    do("bundle", "remove", bundle_store.list_imported_bundles()[0].key),
    do("bundle", "accepted"),
    do("progress"),
    do("list"),
]
from app.storage import open_profile
open_profile().close()
codes += [
    do("bundle", "forget", "--all"),
    do("progress"),
    do("doctor", "--bundle", chosen / "support.zip"),
    do("doctor", "--export", chosen / "export.json"),
]
there = [os.path.join(at, name) for at, _, names in os.walk(home) for name in names]
print("\\n" + json.dumps({"there": there, "opened": sorted(opened), "codes": codes}))
"""


def _watch_writes(script: str, home: Path) -> dict[str, list[str]]:
    """Return kind of access -> paths that *script* writes, in an environment with all usual folders below
    *home*.
    """
    for name in ("tmp", "run", "chosen"):
        (home / name).mkdir(mode=0o700, parents=True)
    foreign, course = home / "foreign.toml", home / "course.mirrordrill"
    foreign.write_text(WORLD_TEXT.replace("Small", "From afar", 1), encoding="utf-8")
    bundle.write_bundle(course, "A course", {"small": WORLD_TEXT})
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("XDG_")},
        "HOME": str(home),
        "TMPDIR": str(home / "tmp"),
        "XDG_RUNTIME_DIR": str(home / "run"),
        "MIRRORDRILL_PROFILE": str(home / "profile"),
        "QT_QPA_PLATFORM": "offscreen",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    files = [home, foreign, course] if script is COMMANDS_SCRIPT else [home, home / "chosen", foreign, course]
    command = [sys.executable, "-c", TRACE_SCRIPT + script, *map(str, files)]
    process = subprocess.run(command, capture_output=True, text=True, timeout=240, env=environment)
    assert process.returncode == 0, process.stderr[-3000:]
    writes: dict[str, list[str]] = json.loads(process.stdout.splitlines()[-1])
    return writes


def _list_outside_paths(paths: list[str], *allowed: Path) -> list[str]:
    """Return the paths outside *allowed*, except bytecode and the null device."""
    return [
        path
        for path in paths
        if not any(Path(path).is_relative_to(place) for place in allowed)
        and "__pycache__" not in path
        and path != os.devnull
    ]


@pytest.mark.slow
def test_a_window_session_writes_only_into_the_profile_folder(tmp_path: Path) -> None:
    """The test checks every path opened for writing, then all files below a separate home folder."""
    home = tmp_path / "home"
    writes = _watch_writes(SESSION_SCRIPT, home)
    profile_names = {
        Path(name).name for name in writes["there"] if Path(name).is_relative_to(home / "profile")
    }
    assert {"profile.sqlite", "window.ini", "small.toml"} <= profile_names
    chosen_names = {Path(name).name for name in writes["there"] if Path(name).parent == home / "chosen"}
    assert {"SERVER_A.sql", "SERVER_A.txt", "b.zip"} <= chosen_names
    assert any(name.endswith(".toml") for name in chosen_names)
    ours, given_files = (
        (home / "profile", home / "chosen", home / ".cache"),
        (home / "foreign.toml", home / "course.mirrordrill"),
    )
    # The folder .cache contains fonts.
    assert _list_outside_paths(writes["there"], *ours, *given_files) == []
    assert str(home / "profile" / "journal.mark") in writes["opened"]
    assert _list_outside_paths(writes["opened"], *ours) == []


@pytest.mark.skipif(sys.platform == "darwin", reason="an open folder has no name there")
def test_commands_write_only_the_requested_files_and_the_profile_folder(tmp_path: Path) -> None:
    """The doctor creates a profile in the temporary folder and removes it."""
    home = tmp_path / "home"
    writes = _watch_writes(COMMANDS_SCRIPT, home)
    assert set(writes["codes"]) <= {0}, writes["codes"]
    chosen_names = {Path(name).name for name in writes["there"] if Path(name).parent == home / "chosen"}
    assert chosen_names == {"in.txt", "run.json", "made.mirrordrill", "support.zip", "export.json"}
    ours, given_files = (
        (home / "profile", home / "chosen", home / ".cache"),
        (home / "foreign.toml", home / "course.mirrordrill"),
    )
    assert _list_outside_paths(writes["there"], *ours, *given_files) == []
    assert any("bundles" in path for path in writes["opened"])
    assert _list_outside_paths(writes["opened"], *ours, home / "tmp") == []
