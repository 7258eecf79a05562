"""The trials of a search for par, spread over processes."""

from __future__ import annotations

import signal
import sys
import time
import uuid
from collections import deque
from collections.abc import Iterable, Iterator, Sequence, Set
from concurrent.futures import Future, wait
from contextlib import contextmanager
from functools import lru_cache
from itertools import islice
from typing import Any, Final

from engine.drill.authoring.scenario import load_scenario
from engine.drill.authoring.schema import Scenario
from engine.drill.par.search import Spread
from engine.drill.par.trials import Decision, Part, Rules, Trial, Trials

Done = tuple[list[Trial], float]
"""Trials, and the seconds that they took."""

JOB_S: Final = 0.3
"""About how long a process is given work at once: what it has not finished when the time is over is lost. Assumed."""

PARTS: Final = 4
PARTS_MAX: Final = 16
"""Into how many parts, to begin with and at most, what can be tried at a decision is split: with many databases it
takes half a minute. Assumed."""

AHEAD: Final = 2
"""Jobs for each process that run or wait: no more than loky hands out at once, so that none is left when it is shut
down."""

LOOK_S: Final = 0.05
"""Seconds for which nothing may come before the clock is looked at. Assumed."""

ROUNDS_TOLD: Final = 3
"""Rounds of which a process is told what states they have reached. Assumed: each process gets work in one of three;
what it has missed it tries once more, and the search drops it."""


@contextmanager
def over_processes(scenario: Scenario, seed: int, workers: int | None) -> Iterator[Spread]:
    """A spread over *workers* processes, None: over the Dask cluster that is open. They remember the states that they
    were told of, so that each state is played to its end by one of them. While they start this process tries."""
    search = uuid.uuid4().hex
    here: list[Trials] = []
    starting: list[Future[None]] = []
    told: dict[Rules, tuple[set[bytes], deque[frozenset[bytes]]]] = {}
    parts = PARTS
    executor = _executor(workers)

    def spread(
        decisions: Sequence[Decision], rules: Rules, known: Set[bytes]
    ) -> Iterator[Iterable[Trial | None]]:
        nonlocal parts
        left = deque(decisions)
        if not here:  # the first round
            here.append(Trials(scenario, seed))
            job = (scenario.name, scenario.text, seed)
            starting.extend(executor.submit(_ready, *job) for _ in range(workers or 0))
        while left and not all(each.done() for each in starting):
            yield here[0].at(left.popleft(), rules, known)
        before, rounds = told.setdefault(rules, (set(), deque(maxlen=ROUNDS_TOLD)))
        rounds.append(frozenset(known - before))
        before |= known
        news = frozenset().union(*rounds)
        of = (search, scenario.name, scenario.text, seed, rules, news)
        calls = ((*of, decision, (part, parts)) for decision in left for part in range(parts))
        jobs, took_s = _in_order(executor, calls, len(starting)), list[float]()
        for _ in left:
            yield _as_they_come(islice(jobs, parts), took_s)
        if took_s:
            whole_s = sum(took_s) / len(left)
            parts = max(1, min(PARTS_MAX, round(whole_s / JOB_S)))

    try:
        yield spread
    finally:
        if workers is not None:
            executor.shutdown(kill_workers=True)


def _executor(workers: int | None) -> Any:
    if workers is None:
        from distributed import default_client

        return default_client().get_executor(pure=False)
    from joblib.externals.loky import ProcessPoolExecutor

    return ProcessPoolExecutor(workers, initializer=_go_on_at_ctrl_c)


def _in_order(executor: Any, calls: Iterable[tuple[Any, ...]], workers: int) -> Iterator[Future[Done]]:
    """Jobs in the order of their *calls*, so many ahead that nobody waits; all of them for a cluster."""
    ahead = AHEAD * workers or sys.maxsize
    asked: deque[Future[Done]] = deque()
    for call in calls:
        asked.append(executor.submit(trials_at, *call))
        if len(asked) > ahead:
            yield asked.popleft()
    yield from asked


def _as_they_come(jobs: Iterable[Future[Done]], took_s: list[float]) -> Iterator[Trial | None]:
    """The trials of *jobs*, in their order, and None whenever nothing came for a moment."""
    for job in jobs:
        while not wait([job], timeout=LOOK_S).done:
            yield None
        trials, seconds = job.result()
        took_s.append(seconds)
        yield from trials


def _ready(name: str, text: str, seed: int) -> None:
    """In a process of its own."""
    _trials(name, text, seed)


def _go_on_at_ctrl_c() -> None:
    """It reaches every process of a terminal; the one that searches decides."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def trials_at(
    search: str,
    name: str,
    text: str,
    seed: int,
    rules: Rules,
    news: frozenset[bytes],
    decision: Decision,
    part: Part,
) -> Done:
    """In a process of its own, here or on another computer."""
    known = _known(search, rules)
    known |= news
    begun = time.perf_counter()
    found = _trials(name, text, seed).at(decision, rules, known, part)
    return [trial for trial in found if trial is not None], time.perf_counter() - begun


@lru_cache(maxsize=1)
def _trials(name: str, text: str, seed: int) -> Trials:
    return Trials(load_scenario(text, f"{name}.toml"), seed)


@lru_cache(maxsize=2)  # the fair search and the clairvoyant one
def _known(search: str, rules: Rules) -> set[bytes]:
    return set()
