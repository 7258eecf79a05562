"""SimPy model of the same system, as a reference for the speed and the means of the flow model.

The model plays Workload1 with safety FULL event by event: every client, every log block, every message.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any

from msgspec import Struct

from engine import arithmetic
from engine.flow import ServerHardware, Workload
from engine.flow.derive import KB_PER_S_PER_MBPS
from engine.flow.sites import NEC, WORKLOAD1
from engine.random_streams import RandomStream

Process = Generator[Any, Any, None]
"""SimPy process that yields the events for which it waits. SimPy has no type for it."""


class StreamLink(Struct, frozen=True):
    """Link that carries a log stream."""

    rtt_ms: float = 0.2
    bandwidth_mbps: float = 1000.0
    is_synchronous: bool = True
    """True if a commit waits until the log is hardened at the other end."""


@dataclass(frozen=True)
class DatabaseMeans:
    """Mean values of a database over an interval."""

    transactions_per_s: float
    response_s: float
    hardened_kb_per_s: tuple[float, ...]
    """Rate of hardened log for each stream."""


class SimPyMissingError(ImportError):
    """Error raised if SimPy, a development dependency, is not installed."""


def build_simpy_model(
    databases: int,
    seed: int = 1,
    site: ServerHardware = NEC,
    workload: Workload = WORKLOAD1,
    links: tuple[StreamLink, ...] = (StreamLink(),),
) -> Callable[[float], DatabaseMeans]:
    """Return a function that advances the model by a number of seconds and returns the means per database in
    this interval.

    Each database has its own servers, and one log stream over each of *links*. Raise SimPyMissingError
    without the development dependency.
    """
    try:
        import simpy
    except ImportError as error:
        raise SimPyMissingError(
            "SimPy is not installed; it comes with the development dependencies"
        ) from error
    env = simpy.Environment()
    model = [
        _Database(simpy, env, RandomStream.from_seed(seed + n), site, workload, links)
        for n in range(databases)
    ]

    def run_model(seconds: float) -> DatabaseMeans:
        before = [(database.done, database.inside_s, *database.hardened_kb) for database in model]
        env.run(until=env.now + seconds)
        values_after = [(database.done, database.inside_s, *database.hardened_kb) for database in model]
        done_count, inside_s, *hardened_kb = (
            arithmetic.add_in_order(later_value) - arithmetic.add_in_order(earlier_value)
            for earlier_value, later_value in zip(
                zip(*before, strict=True), zip(*values_after, strict=True), strict=True
            )
        )
        database_seconds = seconds * databases
        return DatabaseMeans(
            done_count / database_seconds,
            inside_s / max(done_count, 1),
            tuple(kb / database_seconds for kb in hardened_kb),
        )

    return run_model


class _Database:
    """One database: its clients, its group commit, and the sending, hardening and acknowledgment of each
    stream.
    """

    def __init__(
        self,
        simpy: Any,
        env: Any,
        chance: RandomStream,
        site: ServerHardware,
        workload: Workload,
        links: tuple[StreamLink, ...],
    ) -> None:
        self.env, self.chance, self.site, self.workload = env, chance, site, workload
        self.cores = simpy.Resource(env, capacity=site.cores)
        self.links = links
        self.queues = [simpy.Store(env) for _ in links]
        self.done = 0
        self.inside_s = 0.0
        self.hardened_kb = [0.0 for _ in links]
        self.waiting: list[Any] = []
        self.woken = env.event()
        for _ in range(round(workload.connections)):
            env.process(self._run_client())
        env.process(self._run_log_writer())
        for place in range(len(links)):
            env.process(self._run_receiver(place))

    def _draw_exponential(self, mean: float) -> float:
        return -mean * math.log(1.0 - self.chance.draw_uniform())

    def _run_client(self) -> Process:
        load = self.workload
        while True:
            yield self.env.timeout(self._draw_exponential(load.think_s))
            began = self.env.now
            yield self.env.timeout(self._draw_exponential(load.other_delay_ms / 1000.0))
            with self.cores.request() as core:
                yield core
                yield self.env.timeout(load.cpu_ms / 1000.0)
            committed = self.env.event()
            self.waiting.append(committed)
            if not self.woken.triggered:
                self.woken.succeed()
            yield committed
            self.done += 1
            self.inside_s += self.env.now - began

    def _run_log_writer(self) -> Process:
        """Write all waiting log block by block. A synchronous stream gets a block at the start of its write,
        others at its end.
        """
        site, kb = self.site, self.workload.log_kb_per_transaction
        max_transactions = max(1, int(site.log_block_kb / kb))
        while True:
            if not self.waiting:
                self.woken = self.env.event()
                yield self.woken
            block, self.waiting = self.waiting[:max_transactions], self.waiting[max_transactions:]
            answers = [self.env.event() for _ in self.links]
            self._queue_block(len(block) * kb, answers, is_synchronous=True)
            yield self.env.timeout((site.log_write_ms + site.mirror_copy_ms) / 1000.0)
            self._queue_block(len(block) * kb, answers, is_synchronous=False)
            awaited_answers = [
                answer for answer, link in zip(answers, self.links, strict=True) if link.is_synchronous
            ]
            self.env.process(self._answer_block(block, awaited_answers))

    def _queue_block(self, kb: float, answers: list[Any], is_synchronous: bool) -> None:
        for link, queue, answer in zip(self.links, self.queues, answers, strict=True):
            if link.is_synchronous is is_synchronous:
                queue.put((kb, answer))

    def _run_receiver(self, link_index: int) -> Process:
        """Receive messages in order, write one at a time, then send the acknowledgment."""
        link, site = self.links[link_index], self.site
        per_kb_s = 1.0 / (link.bandwidth_mbps * KB_PER_S_PER_MBPS)
        per_kb_s += site.window_handling_ms / 1000.0 / site.send_window_kb
        while True:
            kb, answer = yield self.queues[link_index].get()
            yield self.env.timeout(kb * per_kb_s)
            yield self.env.timeout(site.log_write_ms / 1000.0)
            self.hardened_kb[link_index] += kb
            self.env.process(self._send_acknowledgment(link, answer))

    def _send_acknowledgment(self, link: StreamLink, answer: Any) -> Process:
        yield self.env.timeout((link.rtt_ms + self.site.ack_latency_ms) / 1000.0)
        answer.succeed()

    def _answer_block(self, block: list[Any], awaited_events: list[Any]) -> Process:
        yield self.env.all_of(awaited_events)
        for committed in block:
            committed.succeed()
