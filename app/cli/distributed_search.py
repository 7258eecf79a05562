"""Search for the best reachable score (par), distributed over several processes."""

import sys
import time
import uuid
from collections import deque
from collections.abc import Iterable, Iterator, Sequence, Set
from concurrent.futures import Future, wait
from contextlib import contextmanager
from typing import Any, Final

from msgspec import Struct, field

from app.cli.terminal_progress import ignore_interrupts
from engine.drill.authoring.schema import Scenario
from engine.drill.par.search import DecisionTester
from engine.drill.par.trials import (
    DecisionPoint,
    NeighborPart,
    PlanPlayer,
    SearchLimits,
    Trial,
    preload_drill,
    run_trials,
)

JOB_DURATION_S: Final = 0.2
"""Intended duration of a job. Jobs that are unfinished at the end of the search are lost. Assumed."""

TRIAL_DURATION_S: Final = 0.01
"""Assumed duration of a trial before the first trial was measured, in seconds."""

JOBS_PER_DECISION_MAX: Final = 64
"""Maximum number of jobs for evaluating one decision of the search.

With many databases, evaluating a decision takes half a minute.
"""

SMOOTHING_WEIGHT: Final = 0.2
"""Weight of the latest job of this process in the moving average of the duration of a decision. Assumed."""

QUEUED_JOBS_MAX: Final = 2
"""Number of jobs queued for a helper process, so that it never waits."""

RESULT_WAIT_MAX_S: Final = 0.05
"""Maximum wait for results in seconds, after which the time limit is checked. Assumed."""

SENT_CHECK_INTERVAL_S: Final = 0.001
"""Seconds between two checks for unsent jobs. loky fails if it shuts down before a job was sent."""

SENT_ROUND_COUNT: Final = 3
"""Number of latest search rounds whose states are sent with each job to a Dask cluster. Assumed.

A state that was not sent is evaluated again, and the duplicate trial is then dropped.
"""


@contextmanager
def distribute_search(scenario: Scenario, seed: int, workers: int | None) -> Iterator[DecisionTester]:
    """Distribute the search over *workers* processes, including this one.

    If *workers* is None, distribute the search over a Dask cluster, which must already be connected.
    Helper processes start before the search, and receive jobs as soon as they are ready.
    """
    if workers is None:
        from distributed import default_client

        yield DistributedSearch(
            scenario, seed, [SearchHelper(default_client().get_executor(pure=False), is_cluster=True)]
        ).run_round
        return
    from joblib.externals.loky import ProcessPoolExecutor

    helpers = [SearchHelper(ProcessPoolExecutor(1)) for _ in range(workers - 1)]
    crew = DistributedSearch(scenario, seed, helpers)
    try:
        yield crew.run_round
    finally:
        crew.stop()


class TrialJob(Struct, eq=False):
    """Job for one process: evaluate some of the trials of one decision."""

    decision: DecisionPoint
    part: NeighborPart
    trials: list[Trial] = field(default_factory=list)
    is_collected: bool = False
    """True after the result was collected."""


class DecisionRound(Struct):
    """Decisions of one search round, in order. A decision is split into jobs when a process becomes free."""

    rules: SearchLimits
    known_hashes: Set[bytes]
    """Hashes of the states that were already evaluated."""
    decisions: deque[DecisionPoint]
    jobs: list[Sequence[TrialJob]] = field(default_factory=list)
    """Jobs of each decision that has been split."""
    waiting_jobs: deque[TrialJob] = field(default_factory=deque)
    """Jobs that no process has started, of decisions that have been split."""

    def take_next_job(self, parts: int) -> TrialJob | None:
        """Return the next job, or None if all jobs are assigned.

        If necessary, split the next decision into *parts* jobs.
        """
        if not self.waiting_jobs and self.decisions:
            decision = self.decisions.popleft()
            self.jobs.append([TrialJob(decision, (part, parts)) for part in range(parts)])
            self.waiting_jobs.extend(self.jobs[-1])
        return self.waiting_jobs.popleft() if self.waiting_jobs else None


class SearchHelper(Struct):
    """Helper of the search: one other process, or a whole Dask cluster."""

    executor: Any
    is_cluster: bool = False
    """True for a Dask cluster, which distributes its jobs itself."""
    starting: Future[None] | None = None
    pending: list[tuple[TrialJob, Future[list[Trial]]]] = field(default_factory=list)
    known_counts: dict[SearchLimits, int] = field(default_factory=dict)
    """Search limits -> number of states, found with these limits, that the helper has already received."""

    @property
    def has_capacity(self) -> bool:
        """Return whether the helper can accept a job."""
        is_ready = self.starting is None or self.starting.done()
        return is_ready and len(self.pending) < (sys.maxsize if self.is_cluster else QUEUED_JOBS_MAX)

    @property
    def has_unsent_job(self) -> bool:
        """Return whether at least one job of the helper has not been sent yet."""
        futures: list[Future[list[Trial]] | Future[None]] = [future for _, future in self.pending]
        if self.starting is not None:
            futures.append(self.starting)
        return not all(future.running() or future.done() for future in futures)


class DistributedSearch:
    """Search for the best reachable score (par), distributed over this process and its helper processes.

    The next free process takes the next job. Results are yielded in the order of the jobs, so that they do
    not depend on the number of processes.
    """

    def __init__(self, scenario: Scenario, seed: int, helpers: Sequence[SearchHelper]) -> None:
        self._drill = (scenario.name, scenario.text, seed)
        self._search = uuid.uuid4().hex
        self._helpers = helpers
        self._trials = PlanPlayer(scenario, seed)
        """Trials of this process.

        It starts before the helpers, so that they find the compiled code of its first run.
        """
        self._decision_s = 0.0
        """Smoothed duration of all trials of a decision, in seconds."""
        self._found_states: dict[SearchLimits, list[bytes]] = {}
        """States that the search has received, in order, by limits of the search."""
        self._rounds: deque[tuple[SearchLimits, int]] = deque(maxlen=SENT_ROUND_COUNT)
        """Limits of each of the last rounds, and the number of known states at its start."""
        with ignore_interrupts():
            for helper in helpers:
                if not helper.is_cluster:
                    helper.starting = helper.executor.submit(preload_drill, self._drill)

    def run_round(
        self, decisions: Sequence[DecisionPoint], rules: SearchLimits, known_states: Set[bytes]
    ) -> Iterator[Iterable[Trial | None]]:
        """Yield the trials of each decision of one search round, in the order of *decisions*.

        *rules*: limits of the search. *known_states*: states that were already evaluated.
        """
        found_states = self._found_states.setdefault(rules, [])
        self._rounds.append((rules, len(found_states)))
        current_round = DecisionRound(rules, known_states, deque(decisions))
        jobs = self._run_jobs(current_round)
        for index in range(len(decisions)):
            yield self._iterate_in_order(current_round, index, jobs, found_states)

    def stop(self) -> None:
        """Stop the helper processes, whatever their state."""
        for helper in self._helpers:
            while helper.has_unsent_job:
                time.sleep(SENT_CHECK_INTERVAL_S)
            helper.executor.shutdown(kill_workers=True)

    # --- private helpers ----------------------------------------------------------------------------------------

    def _iterate_in_order(
        self, current_round: DecisionRound, index: int, job_runner: Iterator[None], found_states: list[bytes]
    ) -> Iterator[Trial | None]:
        """Yield the trials of decision *index* in order.

        Yield None while no result is ready, so that the caller can check the time limit. *found_states*
        receives the new states.
        """
        while len(current_round.jobs) <= index:
            next(job_runner)
            yield None
        for job in current_round.jobs[index]:
            number = 0
            while number < len(job.trials) or not job.is_collected:
                if number < len(job.trials):
                    trial = job.trials[number]
                    if trial.state not in current_round.known_hashes:
                        found_states.append(trial.state)
                    yield trial
                    number += 1
                else:
                    next(job_runner)
                    yield None

    def _run_jobs(self, current_round: DecisionRound) -> Iterator[None]:
        """Run jobs in this process and assign jobs to helpers. Yield after each trial of this process."""
        if not self._decision_s:
            self._decision_s = TRIAL_DURATION_S * self._trials.count_neighbors(
                current_round.decisions[0], current_round.rules
            )
        sent_states: set[bytes] = set()
        union = _StateUnion(current_round.known_hashes, sent_states)
        while True:
            self._assign_jobs(current_round)
            job = current_round.take_next_job(self._job_count)
            if job is not None:
                start_s = time.perf_counter()
                for trial in self._trials.try_neighbors(job.decision, current_round.rules, union, job.part):
                    if trial is not None:
                        job.trials.append(trial)
                        sent_states.add(trial.state)
                    self._assign_jobs(current_round)
                    yield
                seconds, job.is_collected = time.perf_counter() - start_s, True
                self._decision_s += SMOOTHING_WEIGHT * (seconds * job.part[-1] - self._decision_s)
            else:
                futures = [future for helper in self._helpers for _, future in helper.pending]
                wait(futures, timeout=RESULT_WAIT_MAX_S, return_when="FIRST_COMPLETED")
                yield

    @property
    def _job_count(self) -> int:
        return max(1, min(JOBS_PER_DECISION_MAX, round(self._decision_s / JOB_DURATION_S)))

    def _assign_jobs(self, current_round: DecisionRound) -> None:
        """Collect the results of the helpers, and send them new jobs."""
        for helper in self._helpers:
            for job, future in [entry for entry in helper.pending if entry[1].done()]:
                job.trials, job.is_collected = future.result(), True
                helper.pending.remove((job, future))
            while (
                helper.has_capacity and (next_job := current_round.take_next_job(self._job_count)) is not None
            ):
                call = (
                    self._search,
                    self._drill,
                    current_round.rules,
                    self._select_states(helper, current_round.rules),
                )
                trials_future = helper.executor.submit(
                    run_trials, *call, next_job.decision, next_job.part, not helper.is_cluster
                )
                helper.pending.append((next_job, trials_future))

    def _select_states(self, helper: SearchHelper, rules: SearchLimits) -> list[bytes]:
        """Return the states found with the limits *rules* that *helper* may not know yet."""
        states = self._found_states[rules]
        if helper.is_cluster:
            return states[min(first for round_rules, first in self._rounds if round_rules == rules) :]
        known_count = helper.known_counts.get(rules, 0)
        helper.known_counts[rules] = len(states)
        return states[known_count:]


class _StateUnion(Struct, frozen=True):
    """Union of two sets of states. The sets are not copied."""

    first_set: Set[bytes]
    second_set: Set[bytes]

    def __contains__(self, state: object) -> bool:
        return state in self.first_set or state in self.second_set
