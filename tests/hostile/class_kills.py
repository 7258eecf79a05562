"""Test that kills the host and the seats of a class at random times: no acknowledged action is lost.

Run `python -m tests.hostile.class_kills 500 [--two-hosts]` manually. Short versions are tests in
tests/app/classroom.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from app.classroom.record import ClassRecord
from app.classroom.seat_scenario import parse_scenario
from app.classroom.verdict import judge_log
from tests.class_process import ROOT, HostProcess, build_command
from tests.servers import Nats, Postgres, find_free_port

SCENARIO: Final = "automatic-failover"
SPEED: Final = 20.0
"""Simulated seconds per second. A run of 170 s then takes long enough to be killed."""
PAUSE_RANGE_S: Final = (0.5, 3.0)
"""Minimum and maximum wall time between two kills."""
SEAT_END_S_MAX: Final = 300.0


def start_seat(code: str, name: str, profile: Path, speed: float = SPEED) -> subprocess.Popen[str]:
    words = build_command("join", code, "--name", name, "--player", "reference", "--speed", speed)
    words += ["--json", str(profile / f"{name}.json")]
    environment = {**os.environ, "MIRRORDRILL_PROFILE": str(profile)}
    return subprocess.Popen(
        words, cwd=ROOT, env=environment, text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )


def run_kills(
    folder: Path, kills: int, seats: int, seed: int, servers: tuple[Postgres, Nats] | None = None
) -> str:
    """Hold a class, kill processes *kills* times, let every seat finish, and return the counts as text.

    With *servers*, the class has two hosts, and the servers are killed as well. Raise AssertionError if
    records differ.
    """
    chance = random.Random(seed)
    profile = folder / "seats"
    profile.mkdir()
    hosts, database = _start_hosts(folder, servers)
    class_code = hosts[0].invited.secret, hosts[0].invited.fingerprint
    other_servers = list(servers or ())
    killed: Counter[str] = Counter()
    running: dict[str, subprocess.Popen[str]] = {}
    names: list[str] = []
    while killed.total() < kills:
        if all(process.poll() is not None for process in running.values()):  # start another lesson
            for name, process in running.items():
                _finish_seat(process, hosts[0].code, name, profile)
            lesson = len(names) // seats
            running = {
                name: start_seat(chance.choice(hosts).code, name, profile)
                for name in (f"seat-{lesson}-{n}" for n in range(seats))
            }
            names += running
        time.sleep(chance.uniform(*PAUSE_RANGE_S))
        acknowledged = _read_acknowledged(database)
        victim = chance.choices(("host", "seat", "server"), (4, 6, 2 if other_servers else 0))[0]
        if victim == "host":
            host = chance.choice(hosts)
            host.kill()
            host.start()
            assert (host.invited.secret, host.invited.fingerprint) == class_code
        elif victim == "server":
            server = chance.choice(other_servers)
            server.kill()
            time.sleep(chance.uniform(*PAUSE_RANGE_S))
            server.start()
        else:
            name = chance.choice(sorted(running))
            if running[name].poll() is not None:
                continue
            running[name].kill()
            running[name].communicate()
            running[name] = start_seat(chance.choice(hosts).code, name, profile)
        killed[victim] += 1
        acknowledged_now = _read_acknowledged(database)
        lost_acts = [name for name, number in acknowledged.items() if acknowledged_now[name] < number]
        assert not lost_acts, f"acknowledged acts are lost: {lost_acts}"
    for name, process in running.items():
        _finish_seat(process, hosts[0].code, name, profile)
    assert [host.end() for host in hosts] == [0] * len(hosts)
    _compare_records(database, profile, names, seed)
    counts = ", ".join(f"{killed[kind]} {kind}s" for kind in killed)
    return f"killed: {counts}; {len(names)} seats equal (seed {seed})"


def _start_hosts(folder: Path, servers: tuple[Postgres, Nats] | None) -> tuple[list[HostProcess], str]:
    """Start one host with a file, or two hosts with *servers*. Return the hosts and the database URL."""
    if servers is None:
        database = str(folder / "class.sqlite")
        return [HostProcess(database, SCENARIO)], database
    postgres, nats = servers
    database = postgres.database("kills")
    words = (SCENARIO, "--nats", nats.url)
    return [HostProcess(database, *words, listen=f"127.0.0.1:{find_free_port()}") for _ in range(2)], database


def _finish_seat(process: subprocess.Popen[str], code: str, name: str, profile: Path) -> None:
    """Wait for a seat. If it lost its slow host, join again once, as a person would."""
    for _ in range(3):
        _, errors = process.communicate(timeout=SEAT_END_S_MAX)
        if process.returncode == 0 and "does not say yet" not in errors:
            return
        assert (
            "does not say yet" in errors
            or "did not reach" in errors
            or "no answer from this address" in errors
        ), (name, errors)
        process = start_seat(code, name, profile)
    raise AssertionError((name, errors))


def _read_acknowledged(database: str) -> dict[str, int]:
    record = ClassRecord(database, create=False)
    counts = {seat.name: seat.acknowledged for seat in record.read_seats()}
    record.close()
    return counts


def _compare_records(database: str, profile: Path, names: list[str], seed: int) -> None:
    """Assert for every seat that the host's last message, the seat's own log and the record's log agree."""
    record = ClassRecord(database, create=False)
    the_class = record.read_class()
    assert the_class is not None
    scenario = parse_scenario(the_class.scenario_text, the_class.scenario_name)
    seats_by_name = {seat.name: seat for seat in record.read_seats()}
    assert sorted(seats_by_name) == sorted(names), "no seat twice"
    for name, entry in seats_by_name.items():
        acts = record.read_entries(entry.id)
        assert [act.number for act in acts] == list(range(1, len(acts) + 1)), (seed, name)
        replayed = judge_log(scenario, the_class.seed, the_class.mode, acts)
        report = json.loads((profile / f"{name}.json").read_text())
        assert report["class"]["verdict"] == replayed, (seed, name, report["class"]["verdict"], replayed)
        assert report["state_hash"] == replayed["state_hash"], (seed, name)
        assert replayed["parted_t_s"] is None, (seed, name, replayed["parted"])
        assert report["inputs"], (seed, name)
        (seat_file,) = profile.glob(f"classes/*/{name.replace('-', '-2d-')}.seat")
        assert [json.loads(line) for line in seat_file.read_text().splitlines()[1:]] == [
            list(a) for a in acts
        ]
    record.close()


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("kills", nargs="?", type=int, default=500)
    arguments.add_argument("seed", nargs="?", type=int, default=random.randrange(2**32))
    arguments.add_argument(
        "--two-hosts", action="store_true", help="on PostgreSQL and NATS, which are killed too"
    )
    options_given = arguments.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        servers = (
            (stack.enter_context(Postgres()), stack.enter_context(Nats()))
            if options_given.two_hosts
            else None
        )
        print(run_kills(folder, options_given.kills, 3, options_given.seed, servers))


if __name__ == "__main__":
    main()
