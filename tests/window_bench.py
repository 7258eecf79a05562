"""Frame times of the real window: `make bench-window`, `python -m tests.window_bench [FILE.json]`.

`python -m tests.window_bench --day [HOURS]` measures memory instead: a day of a hundred databases and random
faults. The window gets new data once per simulated minute. This takes a quarter of an hour on an idle
machine. For such a run with frames, see `tests.hostile.soak`.

`python -m tests.window_bench --seek [DATABASES]` measures jumps to past states: an hour of random faults,
then random times of this hour, each until it is on screen. One panel after the other is in front, in two
sizes of the window.

`python -m tests.window_bench --groups` measures frames of availability groups: one database, a hundred in
five groups.

`python -m tests.window_bench --stage [DATABASES]` measures frames of the staged failover, live and in its
replay.

Each case plays the lab with a number of mirrored databases. A frame is the session's slice, the update of the
views, and painting. Start-up is compared with a bare PySide6 and pyqtgraph window in a separate process.
"""

from __future__ import annotations

import gc
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter, process_time
from typing import Any
from unittest.mock import patch

from PySide6.QtWidgets import QApplication

from app import settings
from app.files.folders import PROFILE_FOLDER_VARIABLE
from app.main_window import window as window_module
from app.main_window.start import ModulePreloader, freeze_objects
from engine.drill.time.history import History
from engine.model import to_ticks
from tests.engine.availability.worlds import build_many_groups
from tests.hostile import soak
from tests.open_window import OpenWindow
from tests.screenshots import build_lab_of, open_screenshot_window

DATABASE_COUNTS = (1, 20, 100, 200)
AG_SIZES = ((1, 1), (5, 20))
"""Number of availability groups, and of databases in each."""
HOUR_S = 3600.0
SEEK_COUNT = 60
FRAME_MS = 16.0
FRAME_COUNT = 400
STAGE_FRAMES = 2_000
WINDOW_SIZE = (1920, 1080)
DAY_DATABASES = 100
DAY_SEED = 1
MEASUREMENT_INTERVAL_H = 2
"""Simulated hours between two measurements of memory."""
SEEK_DATABASES = 100
SEEK_GAP_S = (20.0, 120.0)
"""Minimum and maximum simulated time between two random inputs, which results in about fifty per hour."""
SEEK_SIZES = ((1366, 768), WINDOW_SIZE)
SEEK_PANELS = (
    "events",
    "error_log",
    "trace",
    "monitor",
    "timing",
    "table",
    "system",
    "ledger",
    "charts",
    "explorer",
)
"""Panels to bring to the front. Object Explorer stays open after its turn."""

BARE_START_SCRIPT = """
import sys, time
t = time.perf_counter()
from PySide6.QtWidgets import QApplication, QMainWindow
import pyqtgraph
app = QApplication(sys.argv); window = QMainWindow(); window.setCentralWidget(pyqtgraph.PlotWidget())
window.show(); app.processEvents(); print(time.perf_counter() - t)
"""
PROGRAM_START_SCRIPT = """
import gc, sys, time
t = time.perf_counter()
gc.disable()
from PySide6.QtWidgets import QApplication
from tests.open_window import OpenWindow
from app.main_window.appearance import apply_stored_theme
from app.main_window.start import StartSequence
from app.settings import WindowSettings
opened = []
def profile():
    from app.storage import open_profile
    opened.append(open_profile())
    return opened[0]
app = QApplication(sys.argv); store = WindowSettings(); apply_stored_theme(store); window = OpenWindow(store)
window.show(); app.processEvents(); print(time.perf_counter() - t)
start = StartSequence(window, profile); window.parts_loaded.connect(app.quit); start.start_loading(); app.exec()
print(time.perf_counter() - t); start.stop_loading(); window.close(); opened[0].close()
"""
"""Script that starts `app.main_window.open_window` and prints the times of the start page and the complete window."""


@contextmanager
def open_bench_window(size: tuple[int, int]) -> Iterator[OpenWindow]:
    """Yield a window on its own profile with the garbage collector settings of the program.

    Earlier garbage is collected before.
    """
    gc.unfreeze()
    gc.collect()
    with (
        tempfile.TemporaryDirectory() as folder,
        open_screenshot_window(Path(folder), "light", size) as window,
    ):
        freeze_objects()
        # Preload modules as the program does. Otherwise a frame would load T-SQL, which takes 0.2
        # s.
        preload = ModulePreloader(window)
        preload.start_preloading()
        while preload.is_busy:
            QApplication.processEvents()
        yield window


def measure_frames(window: OpenWindow, speed: float, until_s: float | None = None) -> dict[str, Any]:
    """Return median, 95th percentile and maximum of the frame times in ms, by wall time and by processor
    time.

    The measurement covers FRAMES frames at *speed*, or with *until_s* all frames until this time.
    """
    session = window.session
    session.set_speed(speed)
    times_ms: list[float] = []
    busy: list[float] = []
    while len(times_ms) < FRAME_COUNT if until_s is None else get_run_time_s(window) < until_s:
        start_s, worked = perf_counter(), process_time()
        session.on_frame(FRAME_MS)
        QApplication.processEvents()
        times_ms.append((perf_counter() - start_s) * 1000.0)
        busy.append((process_time() - worked) * 1000.0)
    return compute_spread(times_ms) | compute_processor_share(busy)


def measure_seeks(window: OpenWindow) -> dict[str, Any]:
    """Measure the time from a jump to a past state until it is on screen, over SEEKS jumps."""
    session, chance = window.session, random.Random(1)
    end = to_ticks(get_run_time_s(window))
    session.pause()
    times_ms, busy = [], []
    for _ in range(SEEK_COUNT):
        tick = chance.randrange(end)
        start_s, worked = perf_counter(), process_time()
        session.show_time(tick)
        QApplication.processEvents()
        times_ms.append((perf_counter() - start_s) * 1000.0)
        busy.append((process_time() - worked) * 1000.0)
    session.show_latest()
    return compute_spread(times_ms) | compute_processor_share(busy)


def measure_steps(databases: int) -> None:
    """Print the time from a step back until its state is on screen, by wall time and by processor time."""
    for size in SEEK_SIZES:
        with open_bench_window(size) as window:
            window.play.begin_run(soak.build_scenario(databases), "lab")
            history = window.session.history
            assert history is not None
            play_random_actions(history, random.Random(DAY_SEED), HOUR_S)
            print(f"{len(history.drill.events)} events, {len(history.drill.journal)} acts", flush=True)
            for panel in SEEK_PANELS:
                window.desk.focus_view(panel)
                window.session.show_time(0)
                QApplication.processEvents()
                row = {"size": f"{size[0]}x{size[1]}", "panel": panel, **measure_seeks(window)}
                print(
                    "  ".join(f"{k} {v:.0f}" if isinstance(v, float) else f"{k} {v}" for k, v in row.items())
                )


def play_random_actions(history: History, chance: random.Random, until_s: float) -> None:
    """Advance the run with random inputs, without updating the window."""
    while history.drill.world.t_s < until_s:
        history.apply_line(soak.choose_input(chance, history.drill))
        history.advance_to(history.drill.tick + to_ticks(chance.uniform(*SEEK_GAP_S)))


def compute_spread(durations_ms: list[float]) -> dict[str, Any]:
    durations_ms.sort()
    return {
        "median_ms": durations_ms[len(durations_ms) // 2],
        "p95_ms": durations_ms[int(len(durations_ms) * 0.95)],
        "worst_ms": durations_ms[-1],
    }


def compute_processor_share(busy: list[float]) -> dict[str, Any]:
    return {f"cpu_{name}": figure for name, figure in compute_spread(busy).items()}


def get_run_time_s(window: OpenWindow) -> float:
    drill = window.session.live_drill
    assert drill is not None
    return drill.world.t_s


def measure_resident_mb() -> float:
    """Return the current memory of the process in MB on Linux, and its peak on other systems."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return pages * resource.getpagesize() / 1e6


def measure_hour(window: OpenWindow) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (case, measurements): frames at 1x, frames at 100x for a simulated hour, frames at 1x after it,
    and jumps.
    """
    measure_frames(window, 1.0)  # The first frames include the layout.
    yield "1x", measure_frames(window, 1.0)
    yield "100x for an hour", measure_frames(window, 100.0, HOUR_S)
    yield "1x after the hour", measure_frames(window, 1.0)
    yield "seek in the hour", measure_seeks(window)


def measure_groups() -> None:
    """Print frame times of availability groups with three replicas: healthy, with the primary's node down,
    and recovered.
    """
    for groups, databases in AG_SIZES:
        with open_bench_window(WINDOW_SIZE) as window:
            window.show_brief(build_many_groups(groups, databases))
            window.brief.start_wanted.emit("lab")
            measure_frames(window, 1.0)
            for line in ("", "power-off NODE_1", "power-on NODE_1"):
                if line:
                    window.session.apply_input(line)
                for speed in (1.0, 100.0):
                    row = {"groups": groups, "databases": databases, "after": line or "begin", "speed": speed}
                    row |= measure_frames(window, speed)
                    print(
                        "  ".join(
                            f"{k} {v:.4g}" if isinstance(v, float) else f"{k} {v}" for k, v in row.items()
                        )
                    )


def measure_stage(databases: int) -> None:
    """Print frame times of a staged failover with *databases* databases, live and in its replay."""
    with open_bench_window(WINDOW_SIZE) as window:
        window.store.set(settings.FAILOVER_STAGING, settings.ALWAYS)
        window.show_brief(build_lab_of(databases))
        window.brief.start_wanted.emit("lab")
        measure_frames(window, 1.0)
        window.session.apply_input("power-off SERVER_A")
        moment = window.failover_moment
        times_ms_by_state: dict[str, list[float]] = {}
        busy: dict[str, list[float]] = {}
        for _ in range(STAGE_FRAMES):
            moment.stage.canvas.update()  # This happens in each frame.
            start_s, worked, state = perf_counter(), process_time(), moment.state
            window.session.on_frame(FRAME_MS)
            QApplication.processEvents()
            times_ms_by_state.setdefault(state, []).append((perf_counter() - start_s) * 1000.0)
            busy.setdefault(state, []).append((process_time() - worked) * 1000.0)
            if state == "over":
                moment.stage.button_pressed.emit("replay")
        for state in times_ms_by_state:
            row = {"state": state or "desk", "frames": len(times_ms_by_state[state])}
            row |= compute_spread(times_ms_by_state[state]) | compute_processor_share(busy[state])
            print("  ".join(f"{k} {v:.4g}" if isinstance(v, float) else f"{k} {v}" for k, v in row.items()))


def measure_day(hours: float) -> None:
    """Print the memory of the process every LOOKED_AT_H simulated hours, and finally the share of the run and
    its snapshots.

    Counting the share itself takes memory that Python does not return.
    """
    chance, next_act_s = random.Random(DAY_SEED), 60.0
    with open_bench_window(WINDOW_SIZE) as window:
        window.play.begin_run(soak.build_scenario(DAY_DATABASES), "lab")
        history = window.session.history
        assert history is not None
        for minute in range(round(hours * 60) + 1):
            if minute % (60 * MEASUREMENT_INTERVAL_H) == 0 or minute == round(hours * 60):
                print(f"{minute / 60:g} h  {measure_resident_mb():.0f} MB", flush=True)
            if history.drill.world.t_s >= next_act_s:
                window.session.apply_input(soak.choose_input(chance, history.drill))
                next_act_s = history.drill.world.t_s + chance.uniform(*soak.GAP_RANGE_S)
            window.session.events_occurred.emit(history.advance_to(history.drill.tick + to_ticks(60.0)))
            window.session.world_changed.emit(history.drill.world)
            QApplication.processEvents()
        print(soak.measure_memory(history))


def measure_starts_s(*codes: str) -> list[list[float]]:
    """Return the times printed by each of *codes*: the fastest of five alternating starts with one profile.

    Python keeps bytecode between starts, as in an installed program.
    """
    runs: list[list[list[float]]] = [[] for _ in codes]
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, PROFILE_FOLDER_VARIABLE: folder, "PYTHONPYCACHEPREFIX": folder}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        for _ in range(5):
            for code, output in zip(codes, runs, strict=True):
                process = subprocess.run(
                    [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
                )
                output.append([float(moment) for moment in process.stdout.split()])
    return [[min(moments) for moments in zip(*run, strict=True)] for run in runs]


def main() -> None:
    if not os.environ.keys() & {"DISPLAY", "WAYLAND_DISPLAY"}:
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    app = QApplication.instance() or QApplication(sys.argv[:1])
    assert app is not None
    # The offscreen screen is smaller than the requested windows.
    patch.object(window_module, "FIT_CHECK_DELAYS_MS", ()).start()
    if sys.argv[1:2] == ["--day"]:
        measure_day(float(sys.argv[2]) if sys.argv[2:] else 24.0)
        return
    if sys.argv[1:2] == ["--groups"]:
        measure_groups()
        return
    if sys.argv[1:2] == ["--stage"]:
        measure_stage(int(sys.argv[2]) if sys.argv[2:] else SEEK_DATABASES)
        return
    if sys.argv[1:2] == ["--seek"]:
        measure_steps(int(sys.argv[2]) if sys.argv[2:] else SEEK_DATABASES)
        return
    rows: list[dict[str, Any]] = []
    for databases in DATABASE_COUNTS:
        with open_bench_window(WINDOW_SIZE) as window:
            window.show_brief(build_lab_of(databases))
            window.brief.start_wanted.emit("lab")
            for phase_name, figures in measure_hour(window):
                row = {
                    "databases": databases,
                    "what": phase_name,
                    **figures,
                    "resident_mb": measure_resident_mb(),
                }
                rows.append(row)
                print(
                    "  ".join(f"{k} {v:.4g}" if isinstance(v, float) else f"{k} {v}" for k, v in row.items())
                )
    (bare_s,), (page, all_there) = measure_starts_s(BARE_START_SCRIPT, PROGRAM_START_SCRIPT)
    memory_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"start page {page:.2f} s, {page / bare_s:.2f} times a bare window ({bare_s:.2f} s); everything there "
        f"{all_there:.2f} s, {all_there / bare_s:.2f} times; peak memory {memory_mb:.0f} MB"
    )
    if len(sys.argv) > 1:
        result = {
            "frames": rows,
            "start_page_s": page,
            "all_there_s": all_there,
            "bare_start_s": bare_s,
            "peak_memory_mb": memory_mb,
        }
        Path(sys.argv[1]).write_text(json.dumps(result, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
