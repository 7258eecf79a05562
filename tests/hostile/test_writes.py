"""A headless drill writes nothing but what it was asked for; a session in the window only into the profile folder."""

from __future__ import annotations

import json
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


SESSION = """
import json, os, sys
from pathlib import Path
from PySide6.QtWidgets import QApplication, QFileDialog
from app import scenario_files
from app.main_window import debriefing
from app.main_window.furnishing import furnished
from app.main_window.appearance import apply_theme
from app.settings import WindowSettings
from app.storage import open_profile
from app.folders import default_folder
from engine.drill.drill import Drill

Drill(scenario_files.find("lab").load()).advance_to(100)  # numba may keep what it compiles beside the program
watched, chosen = sys.argv[1], Path(sys.argv[2])
app = QApplication([])

def files():
    return {os.path.join(at, name) for at, _, names in os.walk(watched) for name in names}

QFileDialog.getSaveFileName = staticmethod(lambda parent, title, suggested="", kind="": (
    str(chosen / ("b.zip" if "bundle" in title else Path(suggested).name)), ""))
store = WindowSettings()
apply_theme(store)
with open_profile() as profile:
    window = furnished(profile, store, by_itself=False)
    window.show()
    window.actions_by_name["view.theme"].trigger()
    window.actions_by_name["view.larger"].trigger()
    window.choose("lab")
    window.brief.started.emit("lab")
    window.session.set_speed(100.0)
    for _ in range(20):
        window.session.on_frame(100.0)
        app.processEvents()
    window.console.new_query("SERVER_A", "BACKUP DATABASE Sales TO DISK='escaped'")
    window.console.tools["run"].trigger()
    window.do("power-off SERVER_B")
    window.topology.add_note()
    for name in ("help.check", "help.bundle"):
        window.actions_by_name[name].trigger()
    while window.diagnostics.busy:
        app.processEvents()
    window.session.do("finish")
    for kind in debriefing.EXPORTS:
        window.debrief.export_wanted.emit(kind)
    window.show_home()
    window.close()
    app.processEvents()
print(json.dumps(sorted(files())))
"""


def test_a_whole_session_in_the_window_writes_into_the_profile_folder_only(tmp_path: Path) -> None:
    """Looks at every file that is there afterwards below a home folder of its own, which holds the temporary one."""
    home, chosen = tmp_path / "home", tmp_path / "home" / "chosen"
    chosen.mkdir(parents=True)
    for name in ("tmp", "run"):
        (home / name).mkdir(mode=0o700)
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("XDG_")},
        "HOME": str(home),
        "TMPDIR": str(home / "tmp"),
        "XDG_RUNTIME_DIR": str(home / "run"),
        "MIRRORDRILL_PROFILE": str(home / "profile"),
        "QT_QPA_PLATFORM": "offscreen",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    command = [sys.executable, "-c", SESSION, str(home), str(chosen)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    written = [Path(name) for name in json.loads(done.stdout.splitlines()[-1])]
    inside = {path.name for path in written if path.is_relative_to(home / "profile")}
    assert {"profile.sqlite", "window.ini"} <= inside
    assert any(path.parent == chosen for path in written)
    allowed = (
        home / "profile",
        chosen,
        home / ".cache",
    )  # the last: caches of fonts and of numba, by the platform
    assert [path for path in written if not any(path.is_relative_to(place) for place in allowed)] == []
