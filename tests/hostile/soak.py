"""Hours of random faults over many databases in the real window: `python -m tests.hostile.soak HOURS
DATABASES SEED`.

`--headless` at the end omits the window. The script prints memory and frame times per simulated hour: by wall
time, and the maximum by processor time, which other programs do not lengthen. It raises AssertionError at the
first broken invariant.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter, process_time
from typing import Final

from engine.constants import TICKS_PER_S
from engine.drill.authoring.scenario import Scenario, load_scenario
from engine.drill.running.drill import Drill
from engine.drill.time.history import History
from engine.model import World
from engine.protocol import serving
from tests.numbers import is_finite
from tests.room import measure_memory_bytes

SERVERS: Final = ("SERVER_A", "SERVER_B", "SERVER_W")
LINKS: Final = (("SERVER_A", "SERVER_B"), ("SERVER_A", "SERVER_W"), ("SERVER_B", "SERVER_W"))
GAP_RANGE_S: Final = (20.0, 240.0)
"""Minimum and maximum simulated time between two inputs."""
FRAME_MS: Final = 250.0
SPEED: Final = 1000.0

SCENARIO_TEXT: Final = """
title = "Soak"
summary = "Many databases, hours of trouble."
level = "expert"
minutes = 60
brief = "Nobody reads this."

[[server]]
name = "SERVER_A"

[[server]]
name = "SERVER_B"

[[server]]
name = "SERVER_W"

[[database]]
name = "Branch001"
count = {count}
workload = "Workload2"
scale = 0.02
size_mb = 1000.0
log_size_mb = 200.0
log_max_mb = 4000.0

[[session]]
database = "Branch001"
principal = "SERVER_A"
mirror = "SERVER_B"
witness = "SERVER_W"

[[client]]
name = "APP"
databases = ["Branch001"]
data_source = "SERVER_A"
failover_partner = "SERVER_B"

[fidelity]
modelled = "All of it."
simplified = "None of it."
absent = "A reader."
"""

TYPED_LINES: Final = (
    "SELECT DB_NAME(database_id), mirroring_state_desc, mirroring_role_desc FROM sys.database_mirroring",
    "SELECT * FROM sys.dm_os_performance_counters WHERE object_name LIKE '%Mirroring%'",
    "SELECT * FROM sys.database_mirroring_witnesses",
    "EXEC msdb.sys.sp_dbmmonitorresults '{database}', 0, 0",
    "DECLARE @i int SET @i = 0 WHILE @i < 2000 SET @i = @i + 1 PRINT @i",
    "SELECT a.name, b.name FROM sys.databases a, sys.databases b",
    "ALTER DATABASE {database} SET PARTNER FAILOVER",
    "ALTER DATABASE {database} SET PARTNER SUSPEND",
    "ALTER DATABASE {database} SET PARTNER RESUME",
    "ALTER DATABASE {database} SET PARTNER TIMEOUT 20",
    "BACKUP LOG {database} TO DISK = 'x.trn'",
    "this is no T-SQL",
)
"""Typed inputs. None of them forces service or removes the witness, because then two servers could serve."""


@dataclass
class SoakFigures:
    """Measurements since the last printed line, and totals."""

    frames_ms: list[float] = field(default_factory=list)
    all_ms: list[float] = field(default_factory=list)
    worst_own_ms: float = 0.0
    """Longest frame, in processor time of this process."""
    action_count: int = 0
    refused_count: int = 0


def build_scenario(databases: int) -> Scenario:
    return load_scenario(SCENARIO_TEXT.format(count=databases), "soak.toml")


def choose_input(chance: random.Random, drill: Drill) -> str:
    """Return a random fault, repair or command as an input line, or sometimes a repair of all faults."""
    server, (a, b) = chance.choice(SERVERS), chance.choice(LINKS)
    database = chance.choice(drill.world.list_databases())
    kinds: tuple[tuple[float, Callable[[], str]], ...] = (
        (3, lambda: "revert-all"),
        (3, lambda: f"{chance.choice(('power-off', 'stop-service', 'pull-cable', 'hang'))} {server}"),
        (3, lambda: f"{chance.choice(('power-on', 'start-service', 'plug-cable', 'unhang'))} {server}"),
        (2, lambda: f"{chance.choice(('cut', 'black-hole', 'mend', 'cut-one-way'))} {a} {b}"),
        (1, lambda: f"degrade {a} {b} rtt_ms={chance.choice((1, 50, 300))} loss={chance.choice((0, 0.02))}"),
        (1, lambda: f"slow-disk {server} {chance.choice(('log', 'data'))} factor={chance.choice((2, 20))}"),
        (1, lambda: f"workload {database} Workload2 scale={chance.choice((0.01, 0.05))}"),
        (8, lambda: f"sql {server} {chance.choice(TYPED_LINES).format(database=database)}"),
        (1, lambda: f"cancel {server}"),
    )
    return chance.choices([make for _, make in kinds], [weight for weight, _ in kinds])[0]()


def check_invariants(world: World) -> None:
    """Assert that at most one copy of each database serves, and that no log is lost or invented."""
    for database in world.list_databases():
        leaders = [key for key in world.copies if key[1] == database and serving.is_serving(world, key)]
        assert len(leaders) <= 1, f"{world.t_s:g} s: {leaders} serve at once"
    for source, owner in world.sources.items():
        log = world.flow.read_source_positions(source)
        slack = 1e-6 + 1e-9 * log.generated_kb
        assert log.generated_kb >= log.flushed_kb - slack >= -slack, f"{world.t_s:g} s: log of {owner}"
        for stream in world.flow.list_source_streams(source):
            positions, receiver = world.flow.read_stream_positions(stream), world.streams[stream]
            if receiver is not None:
                assert (
                    positions.sent_kb >= positions.received_kb - slack >= positions.hardened_kb - 2 * slack
                ), f"{owner} at {world.t_s:g} s"
                assert positions.hardened_kb >= positions.redone_kb - slack, (
                    f"redo of {receiver} at {world.t_s:g} s"
                )
    assert is_finite(world.flow), f"{world.t_s:g} s: a number that is none"


def measure_resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() / 1e6


def measure_memory(history: History) -> str:
    """Return the memory of a run and of its snapshots as text."""
    object_ids: set[int] = set()
    run, history_room = (
        measure_memory_bytes([history.drill], object_ids),
        measure_memory_bytes([history], object_ids),
    )
    return f"run {run / 1e6:.1f} MB, kept moments {history_room / 1e6:.1f} MB, {len(history.drill.events)} events"


def format_figures(figures: SoakFigures, drill: Drill) -> str:
    frames_ms = sorted(figures.frames_ms) or [0.0]
    middle, high = frames_ms[len(frames_ms) // 2], frames_ms[int(len(frames_ms) * 0.95)]
    figures.all_ms += frames_ms
    figures.frames_ms = []
    return (
        f"{drill.world.t_s / 3600:6.1f} h  {measure_resident_mb():6.0f} MB  "
        f"frames {len(frames_ms):6d}: p50 {middle:6.1f} p95 {high:6.1f} worst {frames_ms[-1]:7.1f} ms (own so far "
        f"{figures.worst_own_ms:.1f})  acts {figures.action_count} ({figures.refused_count} refused)  "
        f"events {len(drill.events)}  samples {drill.samples.count}  inputs {len(drill.journal)}"
    )


@contextmanager
def open_window_of(
    databases: int,
) -> Iterator[tuple[Callable[[], Drill], Callable[[str], bool], Callable[[], None]]]:
    """Yield three functions of the real window on its own profile: return the drill, apply a line, run a
    frame.
    """
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from PySide6.QtWidgets import QApplication

    from tests.screenshots import open_screenshot_window

    app = QApplication.instance() or QApplication(sys.argv[:1])
    with (
        tempfile.TemporaryDirectory() as folder,
        open_screenshot_window(Path(folder), "light", (1366, 768)) as window,
    ):
        window.play.begin_run(build_scenario(databases), "lab")
        window.session.set_speed(SPEED)
        window.session.play()

        def run_frame() -> None:
            window.session.on_frame(FRAME_MS)
            app.processEvents()

        def drill() -> Drill:
            assert window.session.live_drill is not None
            return window.session.live_drill

        yield drill, window.session.apply_input, run_frame


@contextmanager
def open_headless(
    databases: int,
) -> Iterator[tuple[Callable[[], Drill], Callable[[str], bool], Callable[[], None]]]:
    """Yield the functions of `open_window_of` for the drill without a window, in steps of ten seconds."""
    from engine.inputs import InputError

    history = History(Drill(build_scenario(databases)))

    def apply_line(line: str) -> bool:
        try:
            history.apply_line(line)
        except InputError:
            return False
        return True

    def advance_history() -> None:
        history.advance_to(history.drill.tick + 10 * TICKS_PER_S)

    yield lambda: history.drill, apply_line, advance_history


def run_soak(hours: float, databases: int, seed: int, in_window: bool) -> SoakFigures:
    chance, figures = random.Random(seed), SoakFigures()
    with (open_window_of if in_window else open_headless)(databases) as (drill, do, frame):
        end, next_act, next_line = hours * 3600.0, 60.0, 0.0
        while (now_s := drill().world.t_s) < end:
            if now_s >= next_line:
                print(format_figures(figures, drill()), flush=True)
                next_line += max(0.25, hours / 24) * 3600.0
            if now_s >= next_act:
                figures.action_count += 1
                figures.refused_count += not do(choose_input(chance, drill()))
                next_act = drill().world.t_s + chance.uniform(*GAP_RANGE_S)
            wall_start_s, cpu_start_s = perf_counter(), process_time()
            frame()
            figures.frames_ms.append((perf_counter() - wall_start_s) * 1000.0)
            figures.worst_own_ms = max(figures.worst_own_ms, (process_time() - cpu_start_s) * 1000.0)
            check_invariants(drill().world)
            assert drill().world.t_s > now_s, f"time stands still at {now_s:g} s"
        print(format_figures(figures, drill()), flush=True)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("hours", type=float)
    parser.add_argument("databases", type=int)
    parser.add_argument("seed", type=int)
    parser.add_argument("--headless", action="store_true")
    options = parser.parse_args()
    start_s = perf_counter()
    figures = run_soak(options.hours, options.databases, options.seed, not options.headless)
    times_ms = sorted(figures.all_ms)
    print(
        f"{options.hours:g} h, {options.databases} databases, seed {options.seed}: {perf_counter() - start_s:.0f} s, "
        f"{len(times_ms)} frames, p50 {times_ms[len(times_ms) // 2]:.1f}, "
        f"p95 {times_ms[int(len(times_ms) * 0.95)]:.1f}, worst {times_ms[-1]:.1f} ms "
        f"(own {figures.worst_own_ms:.1f}), peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB; "
        "all promises kept"
    )


if __name__ == "__main__":
    main()
