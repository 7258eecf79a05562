"""Costs of real SQL clients: `python -m tests.wire_bench`, run manually on Linux.

The script measures batches per second over some connections with their response times, processor time of
`serve` per batch, and the cost of idle connections. The clients send raw bytes from a separate process.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from app.serve.login import PacketKind, build_packet
from tests.app.serve.client import TRANSACTION_HEADER, Client, connect

ROOT = Path(__file__).parents[1]
CLOCK_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


class ServeProcess:
    """Process of `mirrordrill serve` with its ports and record."""

    def __init__(self, scenario: str, record: Path) -> None:
        command = [
            sys.executable,
            "-m",
            "app",
            "serve",
            scenario,
            "--port-base",
            "0",
            "--record",
            str(record),
        ]
        self._running = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._running.stdout is not None
        first = json.loads(self._running.stdout.readline())["servers"]
        self.there: dict[str, Any] = next(iter(first.values()))
        self._drain = subprocess.Popen(["cat"], stdin=self._running.stdout, stdout=subprocess.DEVNULL)

    @property
    def processor_s(self) -> float:
        """Processor time that the process has used so far, in seconds."""
        fields = Path(f"/proc/{self._running.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / CLOCK_TICKS_PER_S

    async def connect_client(self) -> Client:
        return await connect(self.there["port"], self.there["password"])

    def stop_process(self) -> None:
        self._running.communicate()
        self._drain.wait()


async def send_repeatedly(client: Client, text: str, deadline_s: float, wait_times_s: list[float]) -> None:
    """Send *text* repeatedly until *deadline_s*, each time after the response. Append the response times to
    *wait_times_s*.
    """
    batch = build_packet(PacketKind.BATCH, TRANSACTION_HEADER + text.encode("utf-16-le"))
    while (start_s := time.perf_counter()) < deadline_s:
        await client.send_packet(batch)
        wait_times_s.append(time.perf_counter() - start_s)


async def measure_busy(serve: ServeProcess, connections: int, text: str, seconds: float) -> str:
    clients = [await serve.connect_client() for _ in range(connections)]
    waits: list[float] = []
    warm = time.perf_counter() + 1.0
    await asyncio.gather(*(send_repeatedly(client, text, warm, []) for client in clients))
    before, start_s = serve.processor_s, time.perf_counter()
    await asyncio.gather(*(send_repeatedly(client, text, start_s + seconds, waits) for client in clients))
    duration_s, spent = time.perf_counter() - start_s, serve.processor_s - before
    for client in clients:
        client.close()
    waits.sort()
    p50, p99 = (1000 * waits[int(len(waits) * share)] for share in (0.5, 0.99))
    return (
        f"{len(waits) / duration_s:.0f}/s, p50 {p50:.1f} ms, p99 {p99:.1f} ms, longest {1000 * waits[-1]:.0f} ms, "
        f"{1000 * spent / len(waits):.3f} ms of processor time a batch ({100 * spent / duration_s:.0f} % of a core)"
    )


async def measure_idle(serve: ServeProcess, connections: int, seconds: float) -> str:
    """Return the additional processor time of idle connections as text."""
    await asyncio.sleep(2)
    before = serve.processor_s
    await asyncio.sleep(seconds)
    idle_cpu_s = serve.processor_s - before
    clients = [await serve.connect_client() for _ in range(connections)]
    await asyncio.sleep(2)
    before = serve.processor_s
    await asyncio.sleep(seconds)
    spent = serve.processor_s - before
    for client in clients:
        client.close()
    used, idle = (100 * cpu_s / seconds for cpu_s in (spent - idle_cpu_s, idle_cpu_s))
    return f"{used:.1f} % of a core beside {idle:.1f} % of the run alone"


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m tests.wire_bench")
    options.add_argument("--scenario", default="lab")
    options.add_argument("--connections", type=int, default=8)
    options.add_argument("--idle", type=int, default=200, metavar="N")
    options.add_argument("--seconds", type=float, default=10.0)
    options.add_argument("--text", default="SELECT 1")
    args = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        serve = ServeProcess(args.scenario, Path(folder) / "run.json")
        try:
            print(f"load {os.getloadavg()[0]:.1f}")
            if args.idle:
                print(
                    f"{args.idle} idle:",
                    asyncio.run(measure_idle(serve, args.idle, args.seconds)),
                    flush=True,
                )
            print(
                f"{args.connections} busy:",
                asyncio.run(measure_busy(serve, args.connections, args.text, args.seconds)),
            )
        finally:
            serve.stop_process()


if __name__ == "__main__":
    main()
