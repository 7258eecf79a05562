"""Verification of a class's runs: worker processes replay the log entries and return verdicts."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Final

from app.classroom.log_entries import LogEntry
from app.classroom.messages.replies import LogVerdict
from app.classroom.models import ClassPart
from app.classroom.verdict import build_failed_verdict
from app.classroom.workers import WorkerPool
from engine.constants import TICKS_PER_S

logger = logging.getLogger(__name__)

NO_VERDICT_REASON: Final = "the simulation did not come to an end"

SEATS_PER_BATCH: Final = 50
"""Maximum number of seats whose entries are sent to a worker in one batch."""

CRASHES_MAX: Final = 2
"""Number of worker crashes during the replay of one seat after which its run is abandoned."""

IDLE_TIME_FACTOR: Final = 4.0
"""Idle time of a worker after an evaluation of a seat, as a multiple of the computing time.

An evaluation computes the reachable points. Other processes also need the processor. Assumed.
"""


class ReplayVerifier:
    """Verifier that replays the runs of a class in worker processes."""

    def __init__(
        self,
        the_class: ClassPart,
        read_log: Callable[[int], Awaitable[Sequence[LogEntry]]],
        on_verdict: Callable[[int, LogVerdict], Awaitable[None]],
        on_evaluation: Callable[[int, float, float], None],
    ) -> None:
        """Create a verifier for *the_class*. *read_log* reads all entries of a seat.

        *on_verdict* receives the number of a seat and its verdict. *on_evaluation* receives the number of a
        seat, a time of its run in seconds, and the points that are reachable from there.
        """
        self._workers = WorkerPool(
            the_class.scenario_text, the_class.scenario_name, the_class.seed, the_class.mode
        )
        self._read_log, self._on_verdict, self._on_evaluation = read_log, on_verdict, on_evaluation
        self._unsent_entries: list[dict[int, list[LogEntry]]] = [{} for _ in range(self._workers.count)]
        """Entries that were not sent to each worker yet, by seat. The list has one dictionary per worker."""
        self._unfinished: list[dict[int, None]] = [{} for _ in self._unsent_entries]
        """Seats whose runs need another turn, the longest waiting first, for each worker."""
        self._to_do = [asyncio.Event() for _ in self._unsent_entries]
        self._unevaluated: list[dict[int, None]] = [{} for _ in self._unsent_entries]
        """Seats whose verdict is newer than their value, oldest first, for each worker."""
        self._crashes: dict[int, int] = {}
        """Seat -> number of worker crashes while the worker replayed only this seat."""
        self._is_alone = [False for _ in self._unsent_entries]
        """True for each worker that replays its seats one at a time, because one of them has crashed it."""
        self._unevaluable: set[int] = set()
        """Seats whose evaluation crashed a worker."""

    @property
    def worker_indexes(self) -> range:
        """Return the indexes of the workers."""
        return range(self._workers.count)

    def close(self) -> None:
        """Stop all workers."""
        self._workers.close()

    def queue_entries(self, number: int, entries: Sequence[LogEntry]) -> None:
        """Queue log entries of a seat for verification.

        Some entries may be queued already, if the record was read while another host wrote to it. Entries
        of a run that has crashed its worker CRASHES_MAX times are ignored.
        """
        if self._crashes.get(number, 0) >= CRASHES_MAX:
            return
        worker = self._workers.get_worker(number)
        acts = {act.number: act for act in (*self._unsent_entries[worker].get(number, ()), *entries)}
        self._unsent_entries[worker][number] = [acts[act] for act in sorted(acts)]
        self._to_do[worker].set()

    async def replay_new_entries(self, worker: int) -> None:
        """Let *worker* replay new entries of its seats forever, in batches of seats."""
        unjudged, unfinished, to_do = (
            self._unsent_entries[worker],
            self._unfinished[worker],
            self._to_do[worker],
        )
        await self._workers.replay(worker, {})  # start the worker process now, not at the first entry
        while True:
            await self._evaluate_seats(worker, to_do)
            count = 1 if self._is_alone[worker] else SEATS_PER_BATCH
            numbers = list(dict.fromkeys((*unjudged, *unfinished)))[:count]
            turns = [number for number in numbers if number in unfinished]
            for number in turns:
                del unfinished[number]
            batch = {number: unjudged.pop(number) for number in numbers if number in unjudged}
            replay = await self._workers.replay(worker, batch, turns)
            for number in numbers:
                entries = batch.get(number, [])
                verdict = None
                if replay is None:
                    if (
                        number in turns or not entries or entries[0].number == 1
                    ):  # the worker had the complete log, so this run may have crashed it
                        verdict = await self._count_crash(number, entries, len(numbers) == 1)
                        self._is_alone[worker] = True
                elif number in replay:
                    verdict = replay[number]
                    if verdict is None:
                        unfinished[number] = None
                        continue
                if verdict is not None:
                    await self._report_verdict(number, verdict, worker)
                else:  # a new worker needs the whole log, and then the entries that arrived meanwhile
                    log = await self._read_log(number)
                    new_actions = [act for act in unjudged.pop(number, []) if act.number > len(log)]
                    self.queue_entries(number, [*log, *new_actions])
            if not unjudged and not unfinished:
                to_do.clear()

    async def _count_crash(
        self, number: int, entries: Sequence[LogEntry], was_alone: bool
    ) -> LogVerdict | None:
        """Record that a worker crashed during the replay of a seat.

        The crash counts only if the worker replayed no other seat (*was_alone*). After CRASHES_MAX
        counted crashes, return the verdict that the run cannot be verified; otherwise, return None.
        """
        self._crashes[number] = self._crashes.get(number, 0) + was_alone
        if self._crashes[number] < CRASHES_MAX:
            return None
        last = (LogEntry(0, 0, "", "", 0), *(entries or await self._read_log(number)))[-1]
        return build_failed_verdict(last.number, last.tick / TICKS_PER_S, NO_VERDICT_REASON)

    async def _report_verdict(self, number: int, verdict: LogVerdict, worker: int) -> None:
        if verdict["state_hash"] and number not in self._unevaluable:
            self._unevaluated[worker][number] = None
        try:
            await self._on_verdict(number, verdict)
        except Exception:  # an error in the callback must not affect the other seats
            logger.exception("seat %d", number)

    async def _evaluate_seats(self, worker: int, has_new_entries: asyncio.Event) -> None:
        """Compute the reachable points of one seat after another, while no new entries are waiting."""
        loop, unweighed = asyncio.get_running_loop(), self._unevaluated[worker]
        while unweighed and not has_new_entries.is_set():
            number, start_s = next(iter(unweighed)), loop.time()
            del unweighed[number]
            value, has_ended = await self._workers.compute_reachable_points(worker, number)
            if has_ended:
                self._unevaluable.add(number)
            if value is not None:
                self._on_evaluation(number, *value)
            with suppress(TimeoutError):
                await asyncio.wait_for(has_new_entries.wait(), IDLE_TIME_FACTOR * (loop.time() - start_s))
        await has_new_entries.wait()
