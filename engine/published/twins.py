"""Two twins of the flow model to measure it against: the same source as plain Python, and a SimPy model.

The SimPy model plays Workload1 with safety FULL event by event: every client, every log block, every message.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from types import FunctionType
from typing import Any

from engine import arithmetic
from engine.chance import Chance
from engine.flow import Site, Workload, kernel
from engine.flow.derive import KB_PER_S_OF_MBPS
from engine.flow.sites import NEC, WORKLOAD1


def plain_advance() -> Callable[..., int]:
    """`kernel.advance` with all that it calls as plain Python functions, made from the same code."""
    names: dict[str, Any] = dict(vars(kernel))
    for function, _ in kernel.PARTS:
        names[function.__name__] = FunctionType(function.__code__, names, function.__name__)
    plain: Callable[..., int] = names["advance"]
    return plain


class SimPyMissing(ImportError):
    """SimPy is a development dependency and is not installed."""


def simpy_model(
    databases: int,
    seed: int = 1,
    site: Site = NEC,
    workload: Workload = WORKLOAD1,
    rtt_ms: float = 0.2,
) -> Callable[[float], float]:
    """A function that plays so many seconds more and returns transactions per second and database in them.

    Each database has servers of its own. Raises SimPyMissing without the development dependency.
    """
    try:
        import simpy
    except ImportError as error:
        raise SimPyMissing("SimPy is not installed; it comes with the development dependencies") from error
    env = simpy.Environment()
    made = [
        _Database(simpy, env, Chance.from_seed(seed + n), site, workload, rtt_ms) for n in range(databases)
    ]

    def play(seconds: float) -> float:
        before = arithmetic.total(database.done for database in made)
        env.run(until=env.now + seconds)
        return (arithmetic.total(database.done for database in made) - before) / seconds / databases

    return play


class _Database:
    """One database: clients, group commit, sending, hardening, acknowledgement."""

    def __init__(
        self, simpy: Any, env: Any, chance: Chance, site: Site, workload: Workload, rtt_ms: float
    ) -> None:
        self.env, self.chance, self.site, self.workload = env, chance, site, workload
        self.cores = simpy.Resource(env, capacity=site.cores)
        self.blocks = simpy.Store(env)
        self.done = 0
        self.waiting: list[Any] = []
        self.woken = env.event()
        self.one_way_s = rtt_ms / 2000.0
        self.per_kb_s = 1.0 / (site.lan_mbps * KB_PER_S_OF_MBPS)
        self.per_kb_s += site.window_handling_ms / 1000.0 / site.send_window_kb
        for _ in range(round(workload.connections)):
            env.process(self._client())
        env.process(self._log_writer())
        env.process(self._mirror())

    def _exponential(self, mean: float) -> float:
        return -mean * arithmetic.log(1.0 - self.chance.uniform())

    def _client(self) -> Generator[Any, Any, None]:
        load = self.workload
        while True:
            yield self.env.timeout(self._exponential(load.think_s))
            yield self.env.timeout(self._exponential(load.other_delay_ms / 1000.0))
            with self.cores.request() as core:
                yield core
                yield self.env.timeout(load.cpu_ms / 1000.0)
            committed = self.env.event()
            self.waiting.append(committed)
            if not self.woken.triggered:
                self.woken.succeed()
            yield committed
            self.done += 1

    def _log_writer(self) -> Generator[Any, Any, None]:
        """Writes all that waits, a block at a time, and hands each block to the link when it starts."""
        site, kb = self.site, self.workload.log_kb_per_transaction
        most = max(1, int(site.log_block_kb / kb))
        while True:
            if not self.waiting:
                self.woken = self.env.event()
                yield self.woken
            block, self.waiting = self.waiting[:most], self.waiting[most:]
            written = self.env.event()
            self.blocks.put((block, len(block) * kb, written))
            yield self.env.timeout((site.log_write_ms + site.mirror_copy_ms) / 1000.0)
            written.succeed()

    def _mirror(self) -> Generator[Any, Any, None]:
        """Messages arrive in order, one write at a time, then the acknowledgement travels back."""
        while True:
            block, kb, written = yield self.blocks.get()
            yield self.env.timeout(kb * self.per_kb_s)
            yield self.env.timeout(self.site.log_write_ms / 1000.0)
            self.env.process(self._acknowledge(block, written))

    def _acknowledge(self, block: list[Any], written: Any) -> Generator[Any, Any, None]:
        yield self.env.timeout(2.0 * self.one_way_s + self.site.ack_latency_ms / 1000.0)
        yield written
        for committed in block:
            committed.succeed()
