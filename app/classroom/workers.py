"""Processes in which the host plays seats' runs again, so that it goes on answering meanwhile."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import threading
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

from app.classroom.acts import Act
from app.classroom.scenario import loaded
from app.classroom.verdict import Rerun, Verdict

_runs: dict[int, Rerun] = {}
"""In a worker: each of its seats' runs as far as it was played; 50 kB of memory each."""
_of: tuple[str, str, int, str] = ("", "", 0, "")
"""In a worker: text and name of the scenario, seed and mode."""


def _begin(text: str, name: str, seed: int, mode: str) -> None:
    global _of
    _of = (text, name, seed, mode)
    for ignored in ("SIGINT", "SIGTERM"):  # the host ends its workers itself
        signal.signal(getattr(signal, ignored), signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def follow() -> None:
        parent.join()
        os._exit(0)  # a host that was killed leaves nobody behind

    threading.Thread(target=follow, daemon=True).start()


def _go_on(seat: int, acts: Sequence[Act]) -> Verdict | None:
    """In a worker: the seat's run with *acts* after those it has had; None: it has not had those before them."""
    run = _runs.get(seat) if not acts or acts[0].number > 1 else None
    if run is None:
        if acts and acts[0].number > 1:
            return None
        text, name, seed, mode = _of
        run = _runs[seat] = Rerun(loaded(text, name), seed, mode)
    if acts and acts[0].number != run.acts + 1:
        return None
    run.play(acts)
    return run.verdict()


class Workers:
    """Some processes, each of which always has the same seats: it goes on where it was."""

    def __init__(self, text: str, name: str, seed: int, mode: str, count: int = 0) -> None:
        self._of = (text, name, seed, mode)
        self._pools: dict[int, ProcessPoolExecutor] = {}
        self._count = count or max(1, (os.cpu_count() or 2) - 1)

    async def go_on(self, seat: int, acts: Sequence[Act]) -> Verdict | None:
        """The verdict on *seat* with *acts* more; None if the worker needs its whole log for it."""
        place = seat % self._count
        pool = self._pools.get(place)
        if pool is None:
            pool = self._pools[place] = ProcessPoolExecutor(
                1, multiprocessing.get_context("spawn"), _begin, self._of
            )
        try:
            return await asyncio.get_running_loop().run_in_executor(pool, _go_on, seat, acts)
        except BrokenProcessPool:  # somebody has killed it
            if self._pools.get(place) is pool:
                del self._pools[place]
            return None

    def close(self) -> None:
        for pool in self._pools.values():
            pool.shutdown(wait=False, cancel_futures=True)
