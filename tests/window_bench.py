"""Frame times of the real window: `make bench-window`, `python -m tests.window_bench [FILE.json]`.

Each case plays the lab with so many mirrored databases; a frame is the session's slice, what the views make of it,
and painting. Start-up is compared with a bare PySide6 and pyqtgraph window in a process of its own.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from importlib.resources import files
from pathlib import Path
from time import perf_counter
from typing import Any

from PySide6.QtWidgets import QApplication

from app.main_window import MainWindow
from app.storage.profile import FOLDER_VARIABLE
from engine.drill.scenario import Scenario, load_scenario
from tests.screenshots import opened

DATABASES = (1, 20, 100, 200)
SPEEDS = (1.0, 100.0)
FRAME_MS = 16.0
FRAMES = 400
SIZE = (1920, 1080)

BARE = """
import sys, time
t = time.perf_counter()
from PySide6.QtWidgets import QApplication, QMainWindow
import pyqtgraph
app = QApplication(sys.argv); window = QMainWindow(); window.setCentralWidget(pyqtgraph.PlotWidget())
window.show(); app.processEvents(); print(time.perf_counter() - t)
"""
OURS = """
import sys, time
t = time.perf_counter()
from PySide6.QtWidgets import QApplication
from app.main_window import MainWindow
from app.settings import WindowSettings
from app.storage import open_profile
app = QApplication(sys.argv); window = MainWindow(open_profile(), WindowSettings(), by_itself=False)
window.show(); app.processEvents(); print(time.perf_counter() - t)
"""


def lab_of(databases: int) -> Scenario:
    """The shipped lab with many equal databases instead of one; the load is shared among them."""
    text = (files("scenarios") / "lab.toml").read_text(encoding="utf-8")
    if databases > 1:
        text = text.replace(
            'name = "Sales"\nworkload = "Workload1"',
            f'name = "Sales001"\ncount = {databases}\nworkload = "Workload1"\nscale = {1 / databases}',
        )
        text = text.replace('"Sales"', '"Sales001"')
    return load_scenario(text, "lab")


def frames(window: MainWindow, speed: float) -> dict[str, Any]:
    """Median, 95th percentile and worst frame in ms over FRAMES frames at *speed*."""
    session = window.session
    session.set_speed(speed)
    took = []
    for _ in range(FRAMES):
        begun = perf_counter()
        session.on_frame(FRAME_MS)
        QApplication.processEvents()
        took.append((perf_counter() - begun) * 1000.0)
    took.sort()
    return {"median_ms": took[FRAMES // 2], "p95_ms": took[int(FRAMES * 0.95)], "worst_ms": took[-1]}


def start_s(code: str) -> float:
    """Fastest of three starts with one profile, so that the disk cache and other programs do not count."""
    with tempfile.TemporaryDirectory() as profile:
        environment = {**os.environ, FOLDER_VARIABLE: profile}
        runs = [
            subprocess.run(
                [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
            )
            for _ in range(3)
        ]
    return min(float(run.stdout.split()[-1]) for run in runs)


def main() -> None:
    app = QApplication.instance() or QApplication(sys.argv[:1])
    assert app is not None
    rows: list[dict[str, Any]] = []
    for databases in DATABASES:
        with tempfile.TemporaryDirectory() as folder, opened(Path(folder), "light", SIZE) as window:
            window.show_brief(lab_of(databases))
            window.brief.started.emit("lab")
            for speed in SPEEDS:
                row = {"databases": databases, "speed": speed, **frames(window, speed)}
                rows.append(row)
                print(
                    "  ".join(f"{k} {v:.4g}" if isinstance(v, float) else f"{k} {v}" for k, v in row.items())
                )
    bare, ours = start_s(BARE), start_s(OURS)
    memory_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"start {ours:.2f} s, {ours / bare:.2f} times a bare window ({bare:.2f} s); peak memory {memory_mb:.0f} MB"
    )
    if len(sys.argv) > 1:
        result = {"frames": rows, "start_s": ours, "bare_start_s": bare, "peak_memory_mb": memory_mb}
        Path(sys.argv[1]).write_text(json.dumps(result, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
