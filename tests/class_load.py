"""Load test of a large class: `python -m tests.class_load --seats 1000 --seconds 60 [--real 30] [--joins
10000]`.

Simulated seats send their position every two seconds and play the reference solution in real time, each with
another start time. A console receives the class dashboard and freezes the class three times. In addition,
real seats (`class join`) can play, and intruders can try wrong codes, tokens for seats of others, and
garbage. The result is one JSON object.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import statistics
import subprocess
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from app.classroom import certificate, console
from app.classroom.join_code import Invitation
from app.classroom.record import ClassRecord
from app.files import scenario_files
from engine.drill.running.drill import Drill
from engine.drill.running.solution import play_reference
from tests.class_process import ROOT, HostProcess, build_command, run_host

SCENARIO: Final = "planned-failover"
MARK_INTERVAL_S: Final = 10
JOIN_S_MAX: Final = 15.0
"""Wall time within which all seats must have joined."""
INTRUDERS: Final = 20
"""Number of intruders that connect at the same time."""
SEAT_START_INTERVAL_S: Final = 2.0
"""Wall time between the starts of two real seats.

In a real class, the computers of the seats start Python in parallel. Here all seats share two cores.
"""


def play_reference_log() -> list[tuple[int, str, str]]:
    """Return (tick, line, hash) entries of the reference solution, with an entry every MARK_S."""
    scenario = scenario_files.find_scenario_file(SCENARIO).load()
    drill = play_reference(scenario)
    replayed, entries = Drill(scenario, drill.seed, drill.mode), []
    todo = [(item.tick, item.line_without_time) for item in drill.journal]
    todo += [(tick, "") for tick in range(MARK_INTERVAL_S * 100, drill.tick, MARK_INTERVAL_S * 100)]
    for tick, line in sorted(todo):
        replayed.advance_to(tick)
        if line:
            replayed.apply_line(line)
        entries.append((tick, line, replayed.compute_state_hash()))
    return entries


class ClassLoad:
    """Simulated seats, instructor and intruders of a class, and the measured delays in seconds."""

    def __init__(self, seats: int, seconds: float) -> None:
        self.seats, self.seconds = seats, seconds
        self.log = play_reference_log()
        self.sent: dict[tuple[int, int], float] = {}
        """Send times by seat and number of the action."""
        self.board_s: list[float] = []
        self.judged_s: list[float] = []
        self.acknowledged_s: list[float] = []
        self.frozen_s: list[float] = []
        self.froze_at = 0.0
        self.board_frozen_s: list[float] = []
        self.late_s: list[float] = []
        """Delays of this program itself; measured times of the host include them."""
        self.dropped = 0
        """Number of connections closed by the host or the network."""
        self.over = asyncio.Event()
        self.refusals: Counter[str] = Counter()
        """Count of each reason for which intruders were refused."""

    async def run_seat(self, invited: Invitation, seat_number: int) -> None:
        await asyncio.sleep(random.uniform(0, 10))
        start = time.monotonic() - random.uniform(0, 60)
        while not self.over.is_set():
            try:
                async with self.open_connection(invited) as socket:
                    await self.play_seat(socket, invited.secret, seat_number, start)
            except (ConnectionClosed, TimeoutError, OSError):  # reconnect, as a real seat does
                self.dropped += 1
                await asyncio.sleep(1.0)

    async def play_seat(self, socket: ClientConnection, secret: str, seat_number: int, start: float) -> None:
        """Play a seat until the class is over. *start* is the wall-clock start of its drill."""
        join = {
            "kind": "join",
            "secret": secret,
            "name": f"seat {seat_number}",
            "token": f"{seat_number:032}",
        }
        await socket.send(json.dumps(join))
        welcome = json.loads(await socket.recv())
        state = {"frozen": False}
        hearing = asyncio.create_task(self.receive_messages(socket, welcome["seat"], state))
        number = welcome["acknowledged"]
        while not self.over.is_set():
            tick = int((time.monotonic() - start) * 100)
            acts = []
            for tick_reached, line, digest in self.log[number : number + 20]:
                if tick_reached <= tick:
                    number += 1
                    acts.append([number, tick_reached, line, digest, 0])
            if acts:
                self.sent[welcome["seat"], number] = time.monotonic()
                await socket.send(json.dumps({"kind": "acts", "acts": acts}))
            await socket.send(json.dumps({"kind": "at", "tick": tick, "frozen": state["frozen"]}))
            await asyncio.sleep(2.0)
        hearing.cancel()

    async def receive_messages(self, socket: ClientConnection, number: int, state: dict[str, Any]) -> None:
        async for raw in socket:
            message = json.loads(raw)
            if message["kind"] == "state":
                state["frozen"] = message["state"] == "frozen"
                if state["frozen"]:
                    self.frozen_s.append(time.monotonic() - self.froze_at)
                    await socket.send(json.dumps({"kind": "at", "tick": 0, "frozen": True}))
            elif message["kind"] == "acknowledged":
                send_s = self.sent.get((number, message["number"]))
                if send_s is not None:
                    self.acknowledged_s.append(time.monotonic() - send_s)

    def open_connection(self, invited: Invitation) -> connect:
        uri = f"wss://{invited.host}:{invited.port}/"
        return connect(
            uri,
            ssl=certificate.create_seat_context(),
            proxy=None,
            compression=None,
            open_timeout=60,
            max_size=10**8,
        )

    async def run_instructor(self, database: Path) -> None:
        record = ClassRecord(str(database), create=False)
        the_class = record.read_class()
        record.close()
        assert the_class is not None
        seen_numbers: dict[int, int] = {}
        verdicts: dict[int, int] = {}
        async with console.connect_to_host(the_class) as socket:
            freezing = asyncio.create_task(self.freeze_class_repeatedly(socket))
            async for raw in socket:
                message, receive_s = json.loads(raw), time.monotonic()
                if message["kind"] != "board":
                    continue
                if message["state"] == "frozen" and not message["not_frozen"] and self.froze_at:
                    self.board_frozen_s.append(receive_s - self.froze_at)
                for tile in message["tiles"]:
                    self.record_delays(
                        seen_numbers, tile["seat"], tile["acknowledged"], receive_s, self.board_s
                    )
                    if tile["verdict"] is not None:
                        self.record_delays(
                            verdicts, tile["seat"], tile["verdict"]["acts"], receive_s, self.judged_s
                        )
                if self.over.is_set():
                    freezing.cancel()
                    return

    def record_delays(
        self, counts: dict[int, int], seat: int, number: int, time_s: float, delays_s: list[float]
    ) -> None:
        for act in range(counts.get(seat, 0) + 1, number + 1):
            if (seat, act) in self.sent:
                delays_s.append(time_s - self.sent[seat, act])
        counts[seat] = max(counts.get(seat, 0), number)

    async def freeze_class_repeatedly(self, socket: ClientConnection) -> None:
        await asyncio.sleep(self.seconds / 2)
        for _ in range(3):
            self.froze_at = time.monotonic()
            await socket.send('{"kind": "freeze"}')
            await asyncio.sleep(3)
            await socket.send('{"kind": "go"}')
            await asyncio.sleep(1)

    async def run_intruders(self, invited: Invitation, joins: int) -> None:
        """Make *joins* invalid attempts from the address of the seats, STRANGERS at a time, after the seats
        have joined.
        """
        await asyncio.sleep(JOIN_S_MAX)
        tries = iter(range(joins))

        async def try_again_and_again() -> None:
            for number in tries:
                message = (
                    json.dumps({"kind": "join", "secret": "AAAAAA", "name": "x", "token": f"{number:x>32}"}),
                    json.dumps({"kind": "resume", "seat": 1 + number % 30, "token": f"{number:x>32}"}),
                    os.urandom(200),
                )[number % 3]
                try:
                    async with self.open_connection(invited) as socket:
                        await socket.send(message)
                        while True:
                            reply = json.loads(await socket.recv())
                            assert reply["kind"] != "welcome", "a stranger got in"
                except ConnectionClosed as end:
                    reason = end.rcvd.reason if end.rcvd is not None else "no reason"
                    self.refusals[re.sub(r" at line .*|(?<=seat )\d+", "", reason)] += 1
                except (TimeoutError, OSError) as problem:
                    self.refusals[type(problem).__name__] += 1

        await asyncio.gather(*(try_again_and_again() for _ in range(INTRUDERS)))

    async def measure_own_delays(self) -> None:
        while True:
            due_s = time.monotonic() + 0.1
            await asyncio.sleep(0.1)
            self.late_s.append(time.monotonic() - due_s)

    async def run(self, invited: Invitation, database: Path, joins: int) -> None:
        looking = asyncio.create_task(self.measure_own_delays())
        instructing = asyncio.create_task(self.run_instructor(database))
        seats = [asyncio.create_task(self.run_seat(invited, place)) for place in range(self.seats)]
        trying = asyncio.create_task(self.run_intruders(invited, joins))
        await asyncio.sleep(self.seconds + 10)
        await trying
        self.over.set()
        outcomes = await asyncio.gather(*seats, return_exceptions=True)
        failed = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
        assert not failed, (len(failed), failed[:3])
        instructing.cancel()
        looking.cancel()
        await asyncio.gather(instructing, looking, return_exceptions=True)


def get_processor_s(pid: int) -> float:
    """Return the processor time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def list_children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def measure_memory_mb(pid: int) -> float:
    """Return the proportional set size of a process and its children."""
    kb = sum(
        int(line.split()[1])
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        if line.startswith("Pss:")
    )
    return kb / 1024 + sum(map(measure_memory_mb, list_children(pid)))


def start_process(*arguments: object) -> subprocess.Popen[str]:
    """Start a separate process, so that its memory and children are those of a real class."""
    assert arguments[0] == "class"
    return subprocess.Popen(build_command(*arguments[1:]), cwd=ROOT, stdout=subprocess.PIPE, text=True)


@contextmanager
def start_seats(host: HostProcess, count: int, folder: Path) -> Iterator[list[subprocess.Popen[bytes]]]:
    environment = {**os.environ, "MIRRORDRILL_PROFILE": str(folder)}
    running: list[subprocess.Popen[bytes]] = []

    def start_all() -> None:
        for n in range(count):
            words = ("join", host.code, "--name", f"real {n}", "--player", "reference", "--speed", "10")
            running.append(
                subprocess.Popen(build_command(*words), cwd=ROOT, env=environment, stdout=subprocess.DEVNULL)
            )
            time.sleep(SEAT_START_INTERVAL_S)

    starting = threading.Thread(target=start_all)
    starting.start()
    yield running
    starting.join()
    for process in running:
        process.wait(timeout=600)


def count_seats(database: Path) -> int:
    record = ClassRecord(str(database), create=False)
    count = len(record.read_seats())
    record.close()
    return count


def compute_percentiles(values: list[float]) -> dict[str, float | int]:
    if len(values) < 2:
        return {"count": len(values)}
    cut = statistics.quantiles(values, n=100)
    return {
        "count": len(values),
        "p50": round(cut[49], 3),
        "p95": round(cut[94], 3),
        "p99": round(cut[98], 3),
        "longest": round(max(values), 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seats", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--real", type=int, default=0)
    parser.add_argument("--joins", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder_name:
        folder = Path(folder_name)
        with run_host(folder / "class.sqlite", SCENARIO, began=start_process) as host:
            load = ClassLoad(options.seats, options.seconds)
            with start_seats(host, options.real, folder / "profile") as real:
                asyncio.run(load.run(host.invited, folder / "class.sqlite", options.joins))
                mb = measure_memory_mb(host.pid)
                used_s = {
                    "seats": get_processor_s(os.getpid()),
                    "host": get_processor_s(host.pid),
                    "workers": sum(map(get_processor_s, list_children(host.pid))),
                }
                began = time.monotonic()
            waited_s = time.monotonic() - began
        print(
            json.dumps(
                {
                    "seats": options.seats,
                    "real": len(real),
                    "real_failed": sum(process.returncode != 0 for process in real),
                    "dropped": load.dropped,
                    "refused": load.refusals,
                    "seats_in_record": count_seats(folder / "class.sqlite"),
                    "acknowledged_s": compute_percentiles(load.acknowledged_s),
                    "board_s": compute_percentiles(load.board_s),
                    "judged_s": compute_percentiles(load.judged_s),
                    "freeze_s": compute_percentiles(load.frozen_s),
                    "board_frozen_s": load.board_frozen_s[:9],
                    "late_s": compute_percentiles(load.late_s),
                    "processor_s": used_s,
                    "host_mb": round(mb),
                    "waited_for_real_s": round(waited_s, 1),
                },
                indent=1,
            )
        )


if __name__ == "__main__":
    main()
