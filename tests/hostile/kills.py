"""Test that kills the program at random points of scripted drills, resumes the run, and compares the final
states.

Run `python -m tests.hostile.kills 1000` manually; a short version is a test. Session and profile are real.
Only the frame timer is replaced by calls. Each start of the program is a fork of one prepared process, so
that a thousand kills take minutes.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import select
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from PySide6.QtCore import QCoreApplication

from app.files import scenario_files
from app.main_window.host_session import HostSession
from app.main_window.run_controller import RunController
from app.storage import open_profile
from engine.constants import TICKS_PER_S
from engine.drill.running.drill import Drill

Script = tuple[tuple[int, str], ...]
"""(seconds, line) pairs. The last line ends the drill."""

SCRIPTS: Final[dict[str, Script]] = {
    "power": (
        (5, "sql SERVER_B SELECT mirroring_role_desc FROM sys.database_mirroring"),
        (30, "power-off SERVER_A"),
        (55, "note SERVER_B should serve by now – größer als 3 s"),
        (70, "power-on SERVER_A"),
        (170, "sql SERVER_B ALTER DATABASE Sales SET PARTNER FAILOVER"),
        (200, "finish"),
    ),
    "cables": (
        (3, "cut SERVER_A SERVER_B"),
        (20, "degrade SERVER_A SERVER_W rtt_ms=80 loss=0.01"),
        (21, "pull-cable SERVER_W"),
        (45, "mend SERVER_A SERVER_B"),
        (46, "plug-cable SERVER_W"),
        (90, "revert-all"),
        (120, "finish"),
    ),
    "T-SQL": (
        *(
            (second, f"sql SERVER_A USE master\n    PRINT 'it''s {second}'\n\n    GO")
            for second in range(1, 40)
        ),
        (41, "sql SERVER_A ALTER DATABASE Sales SET PARTNER SUSPEND"),
        (60, "sql SERVER_A ALTER DATABASE Sales SET PARTNER RESUME"),
        (61, "sql SERVER_A WHILE 1=1 PRINT 'x'"),
        (66, "cancel SERVER_A"),
        (90, "finish"),
    ),
}
KILLS_PER_PROGRESS_LINE: Final = 50
"""Number of kills between two progress lines."""
FRAME_MS: Final = 600.0
"""Wall time of a frame. It exceeds the heartbeat interval, so that each frame writes a heartbeat that a kill
can hit.
"""


@dataclass(frozen=True, slots=True)
class RunResult:
    """Result of a run."""

    state_hash: str
    events: str
    journal: str


def run_without_kill(script: Script) -> RunResult:
    """Play the script without profile, session or kill."""
    drill = Drill(scenario_files.find_scenario_file("lab").load())
    for second, line in script:
        drill.advance_to(second * TICKS_PER_S)
        drill.apply_line(line)
    return _build_end(json.loads(json.dumps(drill.build_report())))


def _build_end(report: dict[str, object]) -> RunResult:
    return RunResult(str(report["state_hash"]), json.dumps(report["events"]), json.dumps(report["inputs"]))


def run_life(folder: Path, script: Script, descriptor: int) -> None:
    """Run the program once: resume or start the run, and play *script* to its end.

    Write one byte to *descriptor* for each accepted line.
    """
    app = QCoreApplication.instance() or QCoreApplication([])
    session = HostSession(use_timer=False)
    refusals: list[str] = []
    session.input_refused.connect(refusals.append)
    with open_profile(folder) as profile:
        play = RunController(session, profile)
        play.message_ready.connect(refusals.append)
        left = play.list_unfinished_runs()
        if left:
            play.resume_run(left[0])
            while session.is_busy:
                session.on_frame(FRAME_MS)
        else:
            play.begin_run(scenario_files.find_scenario_file("lab").load(), "lab")
        assert session.drill is not None, refusals
        for second, line in script[len(session.drill.journal) :]:
            session.run_to(second * TICKS_PER_S)
            while session.is_busy:
                session.on_frame(FRAME_MS)
            session.apply_input(line)
            os.write(descriptor, b".")
        assert not refusals, refusals
    app.processEvents()


def kill_at(folder: Path, script: Script, after_s: float) -> tuple[bool, int]:
    """Run the program once and kill it after *after_s*. Return whether it was still running, and the number
    of accepted lines.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        run_life(folder, script, writing)
        os._exit(0)
    os.close(writing)
    accepted, deadline = 0, time.perf_counter() + after_s
    while (left := deadline - time.perf_counter()) > 0:
        if select.select([reading], [], [], left)[0]:
            chunk = os.read(reading, 4096)
            if not chunk:
                break
            accepted += len(chunk)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    while chunk := os.read(reading, 4096):
        accepted += len(chunk)
    os.close(reading)
    assert os.WIFSIGNALED(status) or status == 0, f"the life ended by itself with status {status}"
    return os.WIFSIGNALED(status), accepted


def kill_repeatedly(
    folder: Path, name: str, chance: random.Random, life_s: float, lives: int
) -> tuple[int, str]:
    """Kill a run up to *lives* times, then let it end. Return the number of effective kills, and the outcome
    as text.
    """
    script, accepted, killed = SCRIPTS[name], 0, 0
    phase = ""
    for _ in range(lives):
        is_running, output = kill_at(folder, script, chance.uniform(0.0, life_s))
        accepted += output
        killed += is_running
        with open_profile(folder) as profile:
            faults, left, result_count = (
                profile.find_data_faults(),
                profile.list_unfinished_runs(),
                len(profile.list_results()),
            )
        if faults or any(run.problem for run in left):
            return killed, f"damaged: {faults}"
        stored = len(left[0].lines) if left else len(script) if result_count else 0
        # For each kill, at most one line can be stored without an acknowledgment.
        if not accepted <= stored <= accepted + killed:
            return killed, f"{accepted} lines were accepted and {stored} are stored"
        accepted = stored if result_count else accepted
        phase = "after it ends" if result_count else "in the middle" if left else "before its first act"
        if result_count:
            break
    if not result_count:
        _finish_run(folder, script)
    with open_profile(folder) as profile:
        (result,) = profile.list_results()
        if _build_end(json.loads(profile.read_report(result.run_id))) != EXPECTED_RESULTS[name]:
            return killed, f"another end than without a kill (killed {phase})"
    return killed, f"equal, killed {phase}" if killed else "equal, ended before the kill"


def _finish_run(folder: Path, script: Script) -> None:
    child = os.fork()
    if child == 0:
        run_life(folder, script, os.pipe()[1])
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert status == 0, f"the resumed run ended with status {status}"


EXPECTED_RESULTS: Final[dict[str, RunResult]] = {}
"""Name of a script -> cached result without a kill."""


def run_kills(kills: int, seed: int, folder: Path, lives: int = 3) -> Iterator[tuple[int, Counter[str]]]:
    """Kill running processes *kills* times, over all scripts in turn. Yield the number of kills and the
    counts after each run.
    """
    chance, counts, kill_count = random.Random(seed), Counter[str](), 0
    life_s: dict[str, float] = {}
    for name, script in SCRIPTS.items():
        EXPECTED_RESULTS[name] = run_without_kill(script)
        life_s[name] = _measure_run(folder / f"whole-{name}", script)
    for number in itertools.count():
        if kill_count >= kills:
            return
        name = list(SCRIPTS)[number % len(SCRIPTS)]
        profile = folder / str(number)
        hits, outcome = kill_repeatedly(profile, name, chance, life_s[name], chance.randint(1, lives))
        counts[f"{name}: {outcome}"] += 1
        kill_count += hits
        shutil.rmtree(profile, ignore_errors=True)
        yield kill_count, counts


def _measure_run(folder: Path, script: Script) -> float:
    began = time.perf_counter()
    _finish_run(folder, script)
    return time.perf_counter() - began


def main() -> None:
    kills = int(sys.argv[1])
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    counts, shown_count, began = Counter[str](), 0, time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        for kill_count, counts in run_kills(kills, seed, Path(folder)):
            if kill_count - shown_count >= KILLS_PER_PROGRESS_LINE:  # A canceled series also prints a result.
                shown_count = kill_count
                equal = sum(count for kind, count in counts.items() if ": equal, " in kind)
                after_s = time.perf_counter() - began
                summary = (
                    f"{kill_count} kills after {after_s:.0f} s, {counts.total()} runs, {equal} of them equal"
                )
                print(summary, file=sys.stderr, flush=True)
    for outcome, count in sorted(counts.items()):
        print(f"{count:5d} runs  {outcome}")
    print(f"{kills} kills, seed {seed}, {time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
