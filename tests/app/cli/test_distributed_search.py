"""Tests that several search processes find the same as one process, for any distribution and order of jobs."""

from __future__ import annotations

import signal
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import pytest

from app.cli.distributed_search import DistributedSearch, SearchHelper
from engine.drill.authoring.schema import Scenario
from engine.drill.par.search import ParSearch
from engine.drill.par.trials import ALL_NEIGHBORS, DecisionPoint, PlanPlayer, SearchLimits, run_trials
from tests.engine.drill import texts

SEARCH_LIMITS: dict[str, Any] = {"actions_max": 2, "decision_points_max": 3}


class DelayedFuture(Future[Any]):
    """Future that is done after a given number of `done` calls. Its job runs in this process."""

    def __init__(self, checks_until_done: int, job: Callable[[], object]) -> None:
        super().__init__()
        self._late, self._work = checks_until_done, job

    def done(self) -> bool:
        self._late -= 1
        if self._late <= 0 and not super().done():
            self.set_result(self._work())
        return super().done()


class LateExecutor:
    """Executor that finishes most jobs after later submitted ones, and some jobs at once."""

    def __init__(self) -> None:
        self.news: list[int] = []

    def submit(self, job: Callable[..., object], *args: Any) -> Future[Any]:
        if len(args) > 3:
            self.news.append(len(args[3]))
            # Without this, all processes would share the states of one process.
            args = (f"{args[0]} {id(self)}", *args[1:])
        return DelayedFuture(len(self.news) % 7 * 3, lambda: job(*args))


@pytest.fixture(scope="module")
def small() -> Scenario:
    return texts.change_small_text(('length = "5min"', 'length = "2min"'))


@pytest.fixture(scope="module")
def local_search(small: Scenario) -> ParSearch:
    return complete_search(ParSearch(small, small.seed, **SEARCH_LIMITS))


def complete_search(search: ParSearch) -> ParSearch:
    for _ in search.run_steps():
        pass
    assert search.complete
    return search


@pytest.mark.parametrize(("helpers", "cluster"), [(1, False), (2, False), (1, True)], ids=str)
def test_results_do_not_depend_on_the_distribution_of_work(
    helpers: int, cluster: bool, small: Scenario, local_search: ParSearch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.cli.distributed_search.TRIAL_DURATION_S", 0.1)
    monkeypatch.setattr("app.cli.distributed_search.RESULT_WAIT_MAX_S", 0.0)
    executors = [LateExecutor() for _ in range(helpers)]
    crew = DistributedSearch(
        small, small.seed, [SearchHelper(executor, is_cluster=cluster) for executor in executors]
    )
    search_result = complete_search(
        ParSearch(small, small.seed, decision_tester=crew.run_round, **SEARCH_LIMITS)
    )
    assert search_result.plans == local_search.plans
    assert (search_result.best, search_result.node_count) == (local_search.best, local_search.node_count)
    assert all(len(executor.news) > 5 for executor in executors), "each had its share"
    if not cluster:
        news_counts = [sum(executor.news) for executor in executors]
        assert all(0 < states <= len(search_result._known_hashes) for states in news_counts), (
            "of each state once at most"
        )


def test_ctrl_c_reaches_only_the_searching_process(small: Scenario) -> None:
    """Helper processes ignore SIGINT from their start, because they inherit this setting."""
    handlers = []

    class Executor:
        def submit(self, *_: object) -> Future[None]:
            handlers.append(signal.getsignal(signal.SIGINT))
            return Future()

    before = signal.getsignal(signal.SIGINT)
    DistributedSearch(small, small.seed, [SearchHelper(Executor())])
    assert handlers == [signal.SIG_IGN]
    assert signal.getsignal(signal.SIGINT) is before


def test_portions_of_a_decision_cover_it_completely(small: Scenario) -> None:
    trials, rules = PlanPlayer(small, small.seed), SearchLimits(actions_max=2)
    decision = DecisionPoint((), 3000)
    neighbors = list(trials.try_neighbors(decision, rules))
    assert len([trial for trial in neighbors if trial is not None]) > 7
    assert len(neighbors) == trials.count_neighbors(decision, rules)
    for parts in (2, 7, 64):
        assert [
            trial
            for part in range(parts)
            for trial in trials.try_neighbors(decision, rules, (), (part, parts))
        ] == neighbors


def test_only_a_search_in_one_process_skips_known_states(small: Scenario) -> None:
    drill, rules, decision = (
        (small.name, small.text, small.seed),
        SearchLimits(actions_max=2),
        DecisionPoint((), 3000),
    )
    first, second, third, fourth = (
        run_trials(search, drill, rules, [], decision, ALL_NEIGHBORS, search == "alone")
        for search in ("one of many", "one of many", "alone", "alone")
    )
    assert len(first) == len(second) == len(third) > 7
    assert not fourth
    known_states = [trial.state for trial in first]
    assert not run_trials("told", drill, rules, known_states, decision, ALL_NEIGHBORS, False)
