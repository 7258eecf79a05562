"""Processes in which the host replays seats' runs, so that it stays responsive."""

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

if TYPE_CHECKING:  # a worker imports the simulation only after it has been started
    from app.classroom.log_entries import LogEntry
    from app.classroom.messages.replies import LogVerdict
    from app.classroom.verdict import LogReplay

NICE: Final = 5
"""Priority of a worker, which yields to the host: the class dashboard must respond during the judging."""

STUCK_S: Final = 60.0
"""Processor time after which a step of a run counts as endless. A step takes some milliseconds. Assumed."""
LOOK_S: Final = 1.0
"""Interval at which a worker checks for a stuck run."""

TURN_S: Final = 1.0
"""Processor time after which a run yields to the other seats of its worker. Assumed."""
EVALUATION_S: Final = 10.0
"""Processor time after which the evaluation of a run is abandoned: an endless batch has no end to wait for. Assumed."""

_busy = False
"""In a worker: True while a run is being played."""
_runs: dict[int, QueuedReplay] = {}
"""In a worker: replays of its seats so far; some 100 kB each."""
_unevaluable: set[int] = set()
"""In a worker: seats whose evaluation was abandoned."""
_unplayed: LogReplay | None = None
"""In a worker: replay at the start of a run. Other replays are forks of it."""


class QueuedReplay:
    """Replay of one seat in a worker, with the entries that it received and has not played."""

    def __init__(self, replay: LogReplay) -> None:
        self.replay = replay
        self.received = 0
        """Number of entries received."""
        self._entries: deque[LogEntry] = deque()
        self._slices: Iterator[None] = iter(())

    def receive(self, entries: Sequence[LogEntry]) -> None:
        """Queue *entries*, the next entries of the log."""
        self.received += len(entries)
        if not self._entries:
            self._slices = itertools.chain(self._slices, self.replay.play_in_slices(self._take_entries()))
        self._entries.extend(entries)

    def play_turn(self) -> bool:
        """Play for at most one turn; return True if all entries are played."""
        end_s = time.thread_time() + TURN_S
        return all(time.thread_time() <= end_s for _ in self._slices)

    def _take_entries(self) -> Iterator[LogEntry]:
        while self._entries:
            yield self._entries.popleft()


def _initialize_worker(text: str, name: str, seed: int, mode: str) -> None:
    global _unplayed
    for ignored in ("SIGINT", "SIGTERM"):  # the host ends its workers
        signal.signal(getattr(signal, ignored), signal.SIG_IGN)
    with open(os.devnull, "w") as nowhere:  # keep the pipe of the host's output from staying open in a worker
        os.dup2(nowhere.fileno(), 1)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch_host() -> None:
        parent.join()
        os._exit(0)  # end the worker when its host was killed

    threading.Thread(target=watch_host, daemon=True).start()
    threading.Thread(target=_end_if_stuck, daemon=True).start()
    with suppress(AttributeError):  # not available on Windows
        os.nice(NICE)
    from app.classroom.scenario import parse_scenario
    from app.classroom.verdict import LogReplay

    _unplayed = LogReplay(parse_scenario(text, name), seed, mode)


def _replay_seats(
    logs: Mapping[int, Sequence[LogEntry]], unfinished: Collection[int]
) -> dict[int, LogVerdict | None]:
    """Replay new actions and *unfinished* seats for a turn each, in a worker; return the verdicts."""
    global _busy
    _show_progress()
    _busy = True
    try:
        for seat, entries in logs.items():
            _receive_entries(seat, entries)
        runs = {seat: _runs[seat] for seat in (*logs, *unfinished) if seat in _runs}
        return {seat: run.replay.build_verdict() if run.play_turn() else None for seat, run in runs.items()}
    finally:
        _busy = False


def _receive_entries(seat: int, entries: Sequence[LogEntry]) -> None:
    """Give a seat's run its new entries. Forget the run if earlier entries are missing."""
    assert _unplayed is not None, "a worker begins with it"
    if not entries or entries[0].number == 1:
        _runs[seat] = QueuedReplay(_unplayed.fork())
    run = _runs.get(seat)
    if run is None:
        return
    expected = range(run.received + 1, run.received + 1 + len(entries))
    if [entry.number for entry in entries] == list(expected):
        run.receive(entries)
    else:
        del _runs[seat]


def _compute_reachable_points(seat: int) -> tuple[float, float] | None:
    """Return a seat's position in seconds and its reachable points, computed in a worker; None if unknown."""
    from app.files import certificates
    from engine.drill.par.regret import search_value
    from engine.drill.par.search_drill import SearchDrill

    global _busy
    run = _runs.get(seat)
    drill = run.replay.drill if run else None
    if not isinstance(drill, SearchDrill) or not drill.scenario.scored or seat in _unevaluable:
        return None
    plans = certificates.load_plans(drill)[:1]  # a class has many runs to judge, so one plan must do
    _show_progress()
    _busy = True
    begun_s = time.thread_time()
    search = search_value(drill, plans)
    try:
        while time.thread_time() - begun_s < EVALUATION_S:
            next(search)
        _unevaluable.add(seat)
        return None
    except StopIteration as end:
        return drill.world.t_s, end.value
    except Exception:  # an error in one seat: the class dashboard shows nothing for it
        logging.getLogger(__name__).exception("seat %d cannot be weighed", seat)
        return None
    finally:
        _busy = False


def _show_progress() -> None:
    from app.files.guarded_player import progress

    progress.at_s = time.process_time()


def _end_if_stuck() -> None:
    """End a worker that is stuck in one step of a run, so that the host notices."""
    from app.files.guarded_player import progress

    while True:
        time.sleep(LOOK_S)
        if _busy and time.process_time() - progress.at_s > STUCK_S:
            os._exit(1)


class Workers:
    """Worker processes; each one always has the same seats and continues their runs."""

    def __init__(self, text: str, name: str, seed: int, mode: str) -> None:
        self.count = max(1, (os.cpu_count() or 2) - 1)
        self._assignment = (text, name, seed, mode)
        self._pools: dict[int, ProcessPoolExecutor] = {}

    def get_worker(self, seat: int) -> int:
        """Return the number of the worker that has the *seat*."""
        return seat % self.count

    async def replay(
        self, worker: int, logs: Mapping[int, Sequence[LogEntry]], unfinished: Collection[int] = ()
    ) -> dict[int, LogVerdict | None] | None:
        """Replay further entries of a worker's seats for a turn each and return the verdicts.

        A seat whose run needs another turn has no verdict; pass it in *unfinished* of the next call. Seats for
        which the worker needs the complete log are missing. Return None if the worker has ended.
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
        """Return the position of a seat's run in its worker, and whether the worker has ended.

        The position is in seconds, with the points that are still reachable; it is None if that is unknown.
        """
        pool = self._pools.get(worker)
        if pool is None:
            return None, False
        try:
            return await asyncio.get_running_loop().run_in_executor(
                pool, _compute_reachable_points, seat
            ), False
        except BrokenProcessPool:  # noticed again with the next actions
            return None, True

    def close(self) -> None:
        """Stop the workers at once.

        Nothing is lost, because the record contains the data of the workers. Without this call the
        interpreter would wait for their current work at its end. Python 3.14 has `kill_workers` for this.
        """
        for pool in self._pools.values():
            workers = list((pool._processes or {}).values())
            pool.shutdown(wait=False, cancel_futures=True)
            for worker in workers:
                worker.kill()
