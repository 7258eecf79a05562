"""The trials of a search for par, spread over processes."""

from __future__ import annotations

import signal
import threading
import uuid
import warnings
from collections import deque
from collections.abc import Iterable, Iterator, Sequence, Set
from contextlib import suppress
from functools import lru_cache
from typing import Any, Final

from engine.drill.authoring.scenario import load_scenario
from engine.drill.authoring.schema import Scenario
from engine.drill.par.search import Spread
from engine.drill.par.trials import Decision, Rules, Trial, Trials

BATCH: Final = 4
"""Decisions that a process takes at once: of one plan after another in its run. Assumed."""

ROUNDS_TOLD: Final = 3
"""Rounds of which a process is told what states they have reached. Assumed: each process gets work in one of three;
what it has missed it tries once more, and the search drops it."""


def over_processes(scenario: Scenario, seed: int, workers: int | None) -> Spread:
    """A spread over *workers* processes, None: as joblib is set up (a cluster). They remember the states that they were
    told of, so that each state is played to its end by one of them. While they start this process tries."""
    from joblib import Parallel, delayed

    search = uuid.uuid4().hex
    options: dict[str, Any] = {} if workers is None else {"backend": "loky", "initializer": _go_on_at_ctrl_c}
    started = threading.Event()
    start = threading.Thread(target=_start, args=(workers, options, scenario, seed, started), daemon=True)
    here: list[Trials] = []
    told: dict[Rules, tuple[set[bytes], deque[frozenset[bytes]]]] = {}

    def spread(decisions: Sequence[Decision], rules: Rules, known: Set[bytes]) -> Iterator[Iterable[Trial]]:
        left = deque(decisions)
        if not here:  # the first round
            here.append(Trials(scenario, seed))
            start.start()
        while left and not started.is_set():
            yield here[0].at(left.popleft(), rules, known)
        if not left:
            return
        before, rounds = told.setdefault(rules, (set(), deque(maxlen=ROUNDS_TOLD)))
        rounds.append(frozenset(known - before))
        before |= known
        news = frozenset().union(*rounds)
        jobs = [
            delayed(trials_at)(search, scenario.name, scenario.text, seed, rules, decision, news)
            for decision in left
        ]
        with warnings.catch_warnings():  # a search that has had its time needs no more of them
            warnings.filterwarnings("ignore", message=".*tasks which were still being processed.*")
            warnings.filterwarnings("ignore", message=".*have been successfully executed.*")
            yield from Parallel(n_jobs=workers, return_as="generator", batch_size=BATCH, **options)(jobs)

    return spread


def _start(
    workers: int | None, options: dict[str, Any], scenario: Scenario, seed: int, started: threading.Event
) -> None:
    """Set *started* once each process has the program and the scenario; those of a cluster have it."""
    from joblib import Parallel, delayed

    job = delayed(_ready)(scenario.name, scenario.text, seed)
    with suppress(RuntimeError):  # the search was over before they were there
        Parallel(n_jobs=workers, **options)([job] * (workers or 0))
    started.set()


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
    decision: Decision,
    news: frozenset[bytes],
) -> list[Trial]:
    """In a process of its own, here or on another computer."""
    known = _known(search, rules)
    known |= news
    return list(_trials(name, text, seed).at(decision, rules, known))


@lru_cache(maxsize=1)
def _trials(name: str, text: str, seed: int) -> Trials:
    return Trials(load_scenario(text, f"{name}.toml"), seed)


@lru_cache(maxsize=2)  # the fair search and the clairvoyant one
def _known(search: str, rules: Rules) -> set[bytes]:
    return set()
