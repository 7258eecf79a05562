"""Kills the host and the seats of a class at random moments; at the end nothing that was acknowledged is missing.

`python -m tests.hostile.class_kills 500` by hand; a short version is a test (tests/app/classroom/test_class.py).
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from app.classroom.record import Record
from app.classroom.scenario import loaded
from app.classroom.verdict import verdict
from tests.class_process import ROOT, HostProcess, command

SCENARIO: Final = "automatic-failover"
SPEED: Final = 20.0
"""Simulated seconds a second: a run of 170 s lasts long enough to be killed, and not for ever."""
PAUSE_S: Final = (0.5, 3.0)
"""Wall time between two kills."""
END_S: Final = 300.0


def seat(code: str, name: str, profile: Path, speed: float = SPEED) -> subprocess.Popen[str]:
    words = command("join", code, "--name", name, "--player", "reference", "--speed", speed)
    words += ["--json", str(profile / f"{name}.json")]
    environment = {**os.environ, "MIRRORDRILL_PROFILE": str(profile)}
    return subprocess.Popen(
        words, cwd=ROOT, env=environment, text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )


def run(folder: Path, kills: int, seats: int, seed: int) -> str:
    """Hold a class, kill *kills* times, let everybody finish, compare. Raises AssertionError; the counts in words."""
    chance = random.Random(seed)
    database = folder / "class.sqlite"
    host = HostProcess(database, SCENARIO)
    code = host.code
    profile = folder / "seats"
    profile.mkdir()
    round_, killed_host, killed_seats = 0, 0, 0
    running: dict[str, subprocess.Popen[str]] = {}
    names: list[str] = []
    while killed_host + killed_seats < kills:
        if all(one.poll() is not None for one in running.values()):  # another lesson
            for name, one in running.items():
                _finish(one, code, name, profile)
            running = {f"seat-{round_}-{n}": seat(code, f"seat-{round_}-{n}", profile) for n in range(seats)}
            names += running
            round_ += 1
        time.sleep(chance.uniform(*PAUSE_S))
        acknowledged = _acknowledged(database)
        if chance.random() < 0.4:
            host.kill()
            killed_host += 1
            host.start()
            assert host.code == code, "a restarted host has the same code and address"
        else:
            name = chance.choice(sorted(running))
            if running[name].poll() is None:
                running[name].kill()
                running[name].communicate()
                killed_seats += 1
                running[name] = seat(code, name, profile)
        now = _acknowledged(database)
        assert all(now[name] >= number for name, number in acknowledged.items()), (
            "an acknowledged act is lost"
        )
    for name, one in running.items():
        _finish(one, code, name, profile)
    assert host.end() == 0
    _compare(database, profile, names, seed)
    return f"{killed_host} hosts and {killed_seats} seats killed, {len(names)} seats equal (seed {seed})"


def _finish(one: subprocess.Popen[str], code: str, name: str, profile: Path) -> None:
    """Wait for a seat; one that a slow machine has kept from its host dials in once more, as a person would."""
    for _ in range(3):
        _, errors = one.communicate(timeout=END_S)
        if one.returncode == 0:
            return
        assert "did not reach" in errors or "nobody answers" in errors, (name, errors)
        one = seat(code, name, profile)
    raise AssertionError((name, errors))


def _acknowledged(database: Path) -> dict[str, int]:
    record = Record(str(database), new=False)
    found = {one.name: one.acknowledged for one in record.seats()}
    record.close()
    return found


def _compare(database: Path, profile: Path, names: list[str], seed: int) -> None:
    """The host's last word, the seat's own log and the record's log come to the same, in every seat."""
    record = Record(str(database), new=False)
    the_class = record.the_class()
    assert the_class is not None
    scenario = loaded(the_class.scenario_text, the_class.scenario_name)
    there = {one.name: one for one in record.seats()}
    assert sorted(there) == sorted(names), "no seat twice"
    for name, one in there.items():
        acts = record.acts(one.id)
        assert [act.number for act in acts] == list(range(1, len(acts) + 1)), (seed, name)
        again = verdict(scenario, the_class.seed, the_class.mode, acts)
        report = json.loads((profile / f"{name}.json").read_text())
        assert report["class"]["verdict"] == again, (seed, name, report["class"]["verdict"], again)
        assert report["state_hash"] == again["state_hash"], (seed, name)
        assert again["parted_t_s"] is None, (seed, name, again["parted"])
        assert report["inputs"], (seed, name)
        (kept,) = profile.glob(f"classes/*/{name.replace('-', '-2d-')}.seat")
        assert [json.loads(line) for line in kept.read_text().splitlines()[1:]] == [list(a) for a in acts]
    record.close()


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    first = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(2**32)
    with tempfile.TemporaryDirectory() as made:
        print(run(Path(made), kills=count, seats=3, seed=first))
