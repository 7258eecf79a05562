"""Test that interrupts a seat in a window at random times: every accepted input is in the host's record.

Run `python -m tests.hostile.window_kills 50 [--of window|host|link]` manually. Short versions are tests in
tests/app/main_window/test_class.py. `window` kills the window, `host` kills the host, `link` cuts the cable.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Final

from app.classroom.host_connection import ACKNOWLEDGE_TIMEOUT_S
from app.classroom.record import ClassRecord
from tests.class_process import ROOT, HostProcess, run_host
from tests.relay import Relay

SCENARIO: Final = "planned-failover"
LIFE_RANGE_S: Final = (0.0, 3.0)
"""Minimum and maximum wall time from the first output of a window to its kill, and between two kills of its
host.
"""
CUT_RANGE_S: Final = (0.2, 12.0)
"""Minimum and maximum wall time for which a cable is cut, sometimes longer than a seat takes to detect it."""
FALSE_STATE_S_MAX: Final = 4.0
"""Wall time after which a wrong state in the window counts as a failure, on a loaded machine."""
START_S_MAX: Final = 120.0
TYPING_INTERVAL_MS: Final = 60
SEAT_NAME: Final = "Kim"
IN_CLASS_STATUS: Final = "in the class"
STATUS_PREFIX: Final = "status "


def run_kills(folder: Path, kills: int, seed: int, victim: str = "window") -> str:
    """Interrupt the seat *kills* times, compare the records, and return the counts as text. Raise
    AssertionError if they differ.
    """
    chance, typed = random.Random(seed), list[str]()
    statuses = ""
    with run_host(folder / "class.sqlite", SCENARIO, "--mode", "practice") as host:
        if victim == "window":
            for turn in range(kills):
                window = SeatWindow(host.code, folder, turn)
                time.sleep(chance.uniform(*LIFE_RANGE_S))
                typed += window.kill()
            typed += SeatWindow(host.code, folder, kills).end()
        else:
            interrupt = _kill_hosts if victim == "host" else _cut_links
            with Relay(host.invited.port) as relay:
                code = f"{host.code.partition('@')[0]}@127.0.0.1:{relay.port}"
                window = SeatWindow(code if victim == "link" else host.code, folder, 0)
                window.wait_for_status(expected_live=True)
                statuses = interrupt(chance, kills, host, relay, window)
                window.wait_for_status(expected_live=True)
                typed += window.end()
        record = ClassRecord(str(host.database), create=False)
        (seat,) = record.read_seats()
        recorded = [act.line for act in record.read_entries(seat.id) if act.line]
        record.close()
    # A kill can occur between the log entry and the window's output, so the record can have more lines, but
    # never fewer.
    missing = [line for line in typed if line not in recorded]
    assert not missing, f"not in the record: {missing}"
    assert len(recorded) == len(set(recorded)), "an input is recorded twice"
    assert typed, "nothing was typed"
    counts = f"{len(typed)} inputs typed, {len(recorded)} recorded, 0 missing"
    return f"{kills} interruptions ({victim}), {counts}{statuses}"


def _count_acknowledged(database: Path | str) -> int:
    record = ClassRecord(str(database), create=False)
    count = sum(seat.acknowledged for seat in record.read_seats())
    record.close()
    return count


def _kill_hosts(
    chance: random.Random, kills: int, host: HostProcess, relay: Relay, window: SeatWindow
) -> str:
    """Kill and restart the host. While the host is down, the window must not show for long that it is
    connected.
    """
    for _ in range(kills):
        time.sleep(chance.uniform(*LIFE_RANGE_S))
        acknowledged = _count_acknowledged(host.database)
        host.kill()
        away_s = chance.uniform(*LIFE_RANGE_S)
        window.wait_for_status(expected_live=False)
        time.sleep(away_s)
        assert not window.is_live, f"{IN_CLASS_STATUS}, without a host"
        host.start()
        assert _count_acknowledged(host.database) >= acknowledged, "an acknowledged input is lost"
        window.wait_for_status(expected_live=True)
    return f", 0 of {2 * kills} states false"


def _cut_links(chance: random.Random, kills: int, host: HostProcess, relay: Relay, window: SeatWindow) -> str:
    """Cut the cable: connections are reset, or carry no more bytes."""
    long_ones = 0
    for _ in range(kills):
        time.sleep(chance.uniform(*LIFE_RANGE_S))
        away_s, closes = chance.uniform(*CUT_RANGE_S), chance.random() < 0.5
        relay.stop_bytes(closes)
        time.sleep(away_s)
        if away_s > ACKNOWLEDGE_TIMEOUT_S + FALSE_STATE_S_MAX:
            long_ones += 1
            assert not window.is_live, f"{IN_CLASS_STATUS}, {away_s:.1f} s after the cut"
        relay.resume_bytes()
        window.wait_for_status(expected_live=True)
    return f", 0 of {kills + long_ones} states false"


class SeatWindow:
    """Seat in a window process that types continuously and prints the accepted inputs."""

    def __init__(self, code: str, folder: Path, turn: int) -> None:
        self._stop = folder / f"stop-{turn}"
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.hostile.window_kills", "--seat", code, str(turn), str(self._stop)],
            cwd=ROOT,
            env={**os.environ, "MIRRORDRILL_PROFILE": str(folder), "QT_QPA_PLATFORM": "offscreen"},
            text=True,
            stdout=subprocess.PIPE,
        )
        assert self._process.stdout is not None
        self._said: list[str] = []
        first = self._process.stdout.readline()
        assert first == "joined\n", first
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._said.append(line.rstrip("\n"))

    @property
    def is_live(self) -> bool:
        """Return whether the window last reported that the seat is in the class."""
        lines = [line for line in self._said if line.startswith(STATUS_PREFIX)]
        return bool(lines) and IN_CLASS_STATUS in lines[-1]

    def wait_for_status(self, expected_live: bool) -> None:
        """Wait until the window reports that the seat is in the class, or with *expected_live* False that it is not."""
        deadline = time.monotonic() + (
            START_S_MAX if expected_live else ACKNOWLEDGE_TIMEOUT_S + FALSE_STATE_S_MAX
        )
        while self.is_live is not expected_live:
            assert time.monotonic() < deadline, self._said[-3:]
            assert self._process.poll() is None, self._said[-3:]
            time.sleep(0.02)

    def kill(self) -> list[str]:
        """Kill the window, and return its accepted inputs."""
        self._process.kill()
        return self._list_inputs()

    def end(self) -> list[str]:
        """Close the window after all inputs are delivered, and return its accepted inputs."""
        self._stop.touch()
        inputs = self._list_inputs()
        assert self._process.returncode == 0, self._said[-3:]
        return inputs

    def _list_inputs(self) -> list[str]:
        self._process.wait(START_S_MAX)
        self._reader.join(START_S_MAX)
        assert self._process.stdout is not None
        self._process.stdout.close()
        return [line for line in self._said if line.startswith("note ")]


def _run_seat_window(code: str, turn: int, stop: Path) -> None:
    """Open a window, join the class, and type inputs while the window shows that the seat is recorded."""
    from PySide6.QtCore import QSettings, QTimer
    from PySide6.QtWidgets import QApplication

    from app.classroom import discovery
    from app.classroom.seat_phase import RECORDING_PHASES
    from app.main_window.class_controller import ClassController
    from app.settings import WindowSettings
    from tests.open_window import build_window

    application = QApplication([])
    folder = os.environ["MIRRORDRILL_PROFILE"]
    settings = QSettings(f"{folder}/window.ini", QSettings.Format.IniFormat)
    window = build_window(None, WindowSettings(settings))
    window.session.host.immediate_task_s = 0.0  # The replay takes many frames, like that of a long run.
    (join,) = [action for action in window.menus["&Class"].actions() if action.text() == "&Join a class…"]
    join.trigger()  # This creates the class controller.
    classes = window.findChild(ClassController)
    assert classes is not None
    classes.join_class(code, SEAT_NAME)
    print("joined", flush=True)
    # Otherwise the seat would find its host without the cut cable.
    vars(discovery)["is_installed"] = lambda: False
    count, status, parent = 0, "", os.getppid()

    def apply_next_input() -> None:
        nonlocal count, status
        if os.getppid() != parent:  # The test has ended.
            application.exit(1)
            return
        seat = classes.seat
        facts_text = window.run_facts.text()
        if facts_text != status:
            status = facts_text
            print(f"{STATUS_PREFIX}{status}", flush=True)
        if seat is None or seat.phase not in RECORDING_PHASES:
            return
        assert IN_CLASS_STATUS in facts_text or "recording" in facts_text
        if stop.exists() and count >= 3:
            if seat._gui_seat.link.connected and seat._gui_seat.is_delivered:
                classes.stop()
                application.exit(0)
            return
        line = f"note {turn}-{count}"
        if window.session.apply_input(line):
            count += 1
            print(line, flush=True)

    timer = QTimer()
    timer.timeout.connect(apply_next_input)
    timer.start(TYPING_INTERVAL_MS)
    sys.exit(application.exec())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kills", type=int, nargs="?", default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--of", choices=("window", "host", "link"), default="window")
    parser.add_argument("--seat", nargs=3)
    words = parser.parse_args()
    if words.seat:
        code, turn, stop = words.seat
        _run_seat_window(code, int(turn), Path(stop))
    with tempfile.TemporaryDirectory() as folder:
        print(run_kills(Path(folder), words.kills, words.seed, words.of))


if __name__ == "__main__":
    main()
