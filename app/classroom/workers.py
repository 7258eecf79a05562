"""Worker processes in which the host replays the runs of seats, so that the host stays responsive."""

from __future__ import annotations

import asyncio
import itertools
import logging
import multiprocessing
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:  # imported later, so that a worker loads the simulation after its start
    from app.classroom.log_entries import LogEntry
    from app.classroom.messages.replies import LogVerdict
    from app.classroom.verdict import LogReplay

WORKER_NICENESS: Final = 5
"""Nice value of a worker. The host has priority, so that the class dashboard responds during replays."""

STEP_TIMEOUT_S: Final = 60.0
"""Maximum processor time of a single step of a run. A longer step counts as endless.

A step takes some milliseconds. Assumed.
"""
STUCK_CHECK_INTERVAL_S: Final = 1.0
"""Wall time between two checks of a worker for a stuck run."""

TIME_SLICE_S: Final = 1.0
"""Processor time after which a run yields to other seats of its worker. Assumed."""
EVALUATION_TIMEOUT_S: Final = 10.0
"""Processor time after which a worker stops computing the reachable points of a run.

An endless batch can be the reason. Assumed.
"""

_is_playing = False
"""True in a worker while it plays a run."""
_replays: dict[int, QueuedReplay] = {}
"""Seat -> its replay so far, in a worker. A replay needs about 100 kB."""
_unevaluable_seats: set[int] = set()
"""Seats of a worker for which computing the reachable points took too long."""
_initial_replay: LogReplay | None = None
"""Replay at the start of the run, in a worker. All other replays are forked from it."""


class QueuedReplay:
    """Replay of one seat in a worker, with the received entries that are not played yet."""

    def __init__(self, replay: LogReplay) -> None:
        self.replay = replay
        self.received_count = 0
        """Number of entries that were received."""
        self._entries: deque[LogEntry] = deque()
        self._slices: Iterator[None] = iter(())

    def receive(self, entries: Sequence[LogEntry]) -> None:
        """Queue *entries*, the next entries of the log."""
        self.received_count += len(entries)
        if not self._entries:
            self._slices = itertools.chain(self._slices, self.replay.play_in_slices(self._take_entries()))
        self._entries.extend(entries)

    def play_slice(self) -> bool:
        """Play for at most TIME_SLICE_S of processor time. Return True if all entries are played."""
        end_s = time.thread_time() + TIME_SLICE_S
        return all(time.thread_time() <= end_s for _ in self._slices)

    def _take_entries(self) -> Iterator[LogEntry]:
        while self._entries:
            yield self._entries.popleft()


def _initialize_worker(text: str, name: str, seed: int, mode: str) -> None:
    global _initial_replay
    for ignored in ("SIGINT", "SIGTERM"):  # ignored, because the host stops its workers itself
        signal.signal(getattr(signal, ignored), signal.SIG_IGN)
    with open(os.devnull, "w") as nowhere:  # a worker must not keep the pipe of the host's output open
        os.dup2(nowhere.fileno(), 1)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch_host() -> None:
        parent.join()
        os._exit(0)  # the host has ended or was killed

    threading.Thread(target=watch_host, daemon=True).start()
    threading.Thread(target=_end_if_stuck, daemon=True).start()
    with suppress(AttributeError):  # not available on Windows
        os.nice(WORKER_NICENESS)
    from app.classroom.seat_scenario import parse_scenario
    from app.classroom.verdict import LogReplay

    _initial_replay = LogReplay(parse_scenario(text, name), seed, mode)


def _replay_seats(
    logs: Mapping[int, Sequence[LogEntry]], unfinished: Collection[int]
) -> dict[int, LogVerdict | None]:
    """Replay the seats of *logs* and the *unfinished* seats, for one time slice each.

    Runs in a worker. *logs*: seat -> new entries. *unfinished*: seats that need another time slice.
    Return the verdicts by seat. A verdict is None if the run needs another time slice.
    """
    global _is_playing
    _record_progress()
    _is_playing = True
    try:
        for seat, entries in logs.items():
            _receive_entries(seat, entries)
        runs = {seat: _replays[seat] for seat in (*logs, *unfinished) if seat in _replays}
        return {seat: run.replay.build_verdict() if run.play_slice() else None for seat, run in runs.items()}
    finally:
        _is_playing = False


def _receive_entries(seat: int, entries: Sequence[LogEntry]) -> None:
    """Queue new entries for the replay of a seat. Discard the replay if entries are missing before them."""
    assert _initial_replay is not None, "a worker begins with it"
    if not entries or entries[0].number == 1:
        _replays[seat] = QueuedReplay(_initial_replay.fork())
    run = _replays.get(seat)
    if run is None:
        return
    expected = range(run.received_count + 1, run.received_count + 1 + len(entries))
    if [entry.number for entry in entries] == list(expected):
        run.receive(entries)
    else:
        del _replays[seat]


def _compute_reachable_points(seat: int) -> tuple[float, float] | None:
    """Return the position of a seat's run in seconds and the points that are reachable there, or None if unknown.

    Runs in a worker.
    """
    from app.files import par_certificates
    from engine.drill.par.regret import search_value
    from engine.drill.par.search_drill import SearchDrill

    global _is_playing
    run = _replays.get(seat)
    drill = run.replay.drill if run else None
    if not isinstance(drill, SearchDrill) or not drill.scenario.scored or seat in _unevaluable_seats:
        return None
    plans = par_certificates.load_certified_plans(drill)[
        :1
    ]  # only one plan, because a class has many runs to evaluate
    _record_progress()
    _is_playing = True
    begun_s = time.thread_time()
    search = search_value(drill, plans)
    try:
        while time.thread_time() - begun_s < EVALUATION_TIMEOUT_S:
            next(search)
        _unevaluable_seats.add(seat)
        return None
    except StopIteration as end:
        return drill.world.t_s, end.value
    except Exception:  # after an error, the class dashboard shows no value for this seat
        logging.getLogger(__name__).exception("seat %d cannot be weighed", seat)
        return None
    finally:
        _is_playing = False


def _record_progress() -> None:
    from app.files.guarded_player import HEARTBEAT

    HEARTBEAT.last_beat_s = time.process_time()


def _end_if_stuck() -> None:
    """End this worker process if one step of a run takes too long, so that the host notices."""
    from app.files.guarded_player import HEARTBEAT

    while True:
        time.sleep(STUCK_CHECK_INTERVAL_S)
        if _is_playing and time.process_time() - HEARTBEAT.last_beat_s > STEP_TIMEOUT_S:
            os._exit(1)


class WorkerPool:
    """Worker processes. Each seat always belongs to the same worker, which continues its run."""

    def __init__(self, text: str, name: str, seed: int, mode: str) -> None:
        self.count = max(1, (os.cpu_count() or 2) - 1)
        self._assignment = (text, name, seed, mode)
        self._pools: dict[int, ProcessPoolExecutor] = {}

    def get_worker(self, seat: int) -> int:
        """Return the index of the worker to which *seat* belongs."""
        return seat % self.count

    async def replay(
        self, worker: int, logs: Mapping[int, Sequence[LogEntry]], unfinished: Collection[int] = ()
    ) -> dict[int, LogVerdict | None] | None:
        """Replay new entries of a worker's seats, one time slice each. Return the verdicts by seat.

        A verdict is None if the run needs another time slice. Pass that seat in *unfinished* of the next
        call. A seat is missing if the worker needs its complete log. The result is None if the worker process
        has ended.
        """
        pool = self._pools.get(worker)
        if pool is None:
            pool = self._pools[worker] = ProcessPoolExecutor(
                1, multiprocessing.get_context("spawn"), _initialize_worker, self._assignment
            )
        try:
            return await asyncio.get_running_loop().run_in_executor(pool, _replay_seats, logs, unfinished)
        except BrokenProcessPool:  # the worker was killed
            del self._pools[worker]
            return None

    async def compute_reachable_points(
        self, worker: int, seat: int
    ) -> tuple[tuple[float, float] | None, bool]:
        """Return the reachable points of a seat's run, and whether the worker process has ended.

        First item: time of the run in seconds and the points that are reachable then, or None if unknown.
        """
        pool = self._pools.get(worker)
        if pool is None:
            return None, False
        try:
            return await asyncio.get_running_loop().run_in_executor(
                pool, _compute_reachable_points, seat
            ), False
        except BrokenProcessPool:  # the next call of `replay` replaces the worker
            return None, True

    def close(self) -> None:
        """Kill the worker processes immediately.

        No data is lost, because the record contains all entries. Without this call, the interpreter would
        wait at its exit until the workers finish their current work. Python 3.14 has `kill_workers` for
        this purpose.
        """
        for pool in self._pools.values():
            workers = list((pool._processes or {}).values())
            pool.shutdown(wait=False, cancel_futures=True)
            for worker in workers:
                worker.kill()
