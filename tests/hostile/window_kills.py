"""Kills the window of a seat at random moments of a class; every input that it took is in the record of the host.

`python -m tests.hostile.window_kills 50` by hand; short versions are tests (tests/app/main_window/test_class.py).
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from app.classroom.record import ClassRecord
from tests.class_process import ROOT, hosted

SCENARIO: Final = "planned-failover"
LIFE_S: Final = (0.0, 3.0)
"""Wall time from the first word of a window to its kill."""
START_S: Final = 120.0
TYPE_MS: Final = 60
NAME: Final = "Kim"


def run(folder: Path, kills: int, seed: int) -> str:
    """Kill the window *kills* times, compare, and return the counts in words. Raises AssertionError."""
    chance, typed = random.Random(seed), list[str]()
    with hosted(folder / "class.sqlite", SCENARIO, "--mode", "practice") as host:
        for turn in range(kills):
            typed += _play(host.code, folder, turn, chance.uniform(*LIFE_S))
        typed += _play(host.code, folder, kills, None)
        record = ClassRecord(str(host.database), new=False)
        (seat,) = record.seats()
        recorded = [act.line for act in record.acts(seat.id) if act.line]
        record.close()
    # The kill may come between the log and the word of the window: the record may have more, and never less.
    missing = [line for line in typed if line not in recorded]
    assert not missing, f"not in the record: {missing}"
    assert len(recorded) == len(set(recorded)), "an input is recorded twice"
    assert typed, "nothing was typed"
    return f"{kills} kills, {len(typed)} inputs typed, {len(recorded)} recorded, 0 missing"


def _play(code: str, folder: Path, turn: int, life_s: float | None) -> list[str]:
    """Return the inputs that the window took until it was killed, or ended with everything delivered."""
    command = [sys.executable, "-m", "tests.hostile.window_kills", "--seat", code, str(turn)]
    environment = {**os.environ, "MIRRORDRILL_PROFILE": str(folder), "QT_QPA_PLATFORM": "offscreen"}
    window = subprocess.Popen(
        [*command, "--end"] if life_s is None else command,
        cwd=ROOT, env=environment, text=True, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert window.stdout is not None
    first = window.stdout.readline()
    assert first == "joined\n", first
    if life_s is not None:
        time.sleep(life_s)
        window.kill()
    said = window.communicate(timeout=START_S)[0].splitlines()
    assert life_s is not None or window.returncode == 0, said[-3:]
    return [line for line in said if line.startswith("note ")]


def _be_a_window(code: str, turn: int, ends: bool) -> None:
    """Join, and type as long as the window says that the seat is recorded."""
    from PySide6.QtCore import QSettings, QTimer
    from PySide6.QtWidgets import QApplication

    from app.main_window.assembly import Assembly
    from app.main_window.classes import Classes
    from app.settings import WindowSettings
    from tests.open_window import furnished

    application = QApplication([])
    folder = os.environ["MIRRORDRILL_PROFILE"]
    settings = QSettings(f"{folder}/window.ini", QSettings.Format.IniFormat)
    window = furnished(None, WindowSettings(settings))
    window.session.host.at_once_s = 0.0  # a replay takes many frames, as a long one does
    assembly = window.findChild(Assembly)
    assert assembly is not None
    classes: Classes = assembly._classes_of_window()
    classes.join(code, NAME)
    print("joined", flush=True)
    count = 0

    def act() -> None:
        nonlocal count
        seat = classes.seat
        if seat is None or not seat._attendance.is_recording:
            return
        assert "in the class" in window.run_facts.text() or "recording" in window.run_facts.text()
        if ends and count >= 3:
            if seat._attendance.link.acknowledged == len(seat._attendance._seat_log.acts):
                classes.stop()
                application.exit(0)
            return
        line = f"note {turn}-{count}"
        if window.session.do(line):
            count += 1
            print(line, flush=True)

    timer = QTimer()
    timer.timeout.connect(act)
    timer.start(TYPE_MS)
    sys.exit(application.exec())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kills", type=int, nargs="?", default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seat", nargs=2)
    parser.add_argument("--end", action="store_true")
    words = parser.parse_args()
    if words.seat:
        _be_a_window(words.seat[0], int(words.seat[1]), words.end)
    with tempfile.TemporaryDirectory() as folder:
        print(run(Path(folder), words.kills, words.seed))


if __name__ == "__main__":
    main()
