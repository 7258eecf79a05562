"""Trials of a search for par, distributed over processes."""

import sys
import time
import uuid
from collections import deque
from collections.abc import Iterable, Iterator, Sequence, Set
from concurrent.futures import Future, wait
from contextlib import contextmanager
from typing import Any, Final

from msgspec import Struct, field

from app.cli.waits import ignore_interrupts
from engine.drill.authoring.schema import Scenario
from engine.drill.par.search import Spread
from engine.drill.par.trials import Decision, Part, SearchLimits, Trial, Trials, run_trials, warm_up

JOB_S: Final = 0.2
"""Approximate duration of a job: unfinished jobs are lost at the end. Assumed."""

TRIAL_S: Final = 0.01
"""Approximate duration of a trial until some were measured. Assumed."""

PARTS_MAX: Final = 64
"""Maximum number of jobs per decision; with many databases a decision takes half a minute."""

WEIGHT: Final = 0.2
"""Weight of the latest job of this process in the estimate for a decision. Assumed."""

AHEAD: Final = 2
"""Jobs queued for another process, so that it never waits."""

LOOK_S: Final = 0.05
"""Seconds without results until the clock is checked. Assumed."""

MOMENT_S: Final = 0.001
"""Seconds between checks whether a job was handed over: loky fails if it shuts down earlier."""

ROUNDS_SENT: Final = 3
"""Number of recent rounds whose states each cluster job receives.

Assumed: missed states are tried again and dropped.
"""


@contextmanager
def distribute_search(scenario: Scenario, seed: int, workers: int | None) -> Iterator[Spread]:
    """Distribute the search over *workers* processes including this one, or over the open Dask cluster (None).

    The other processes start before the search, and get work when they are ready.
    """
    if workers is None:
        from distributed import default_client

        yield SearchProcesses(
            scenario, seed, [HelperProcess(default_client().get_executor(pure=False), cluster=True)]
        ).run_round
        return
    from joblib.externals.loky import ProcessPoolExecutor

    helpers = [HelperProcess(ProcessPoolExecutor(1)) for _ in range(workers - 1)]
    crew = SearchProcesses(scenario, seed, helpers)
    try:
        yield crew.run_round
    finally:
        crew.stop()


class TrialJob(Struct, eq=False):
    """Part of a decision, for the next free process."""

    decision: Decision
    part: Part
    trials: list[Trial] = field(default_factory=list)
    is_collected: bool = False
    """True after the result was collected."""


class DecisionRound(Struct):
    """Decisions in order, and the jobs into which they are split as processes become free."""

    rules: SearchLimits
    known_hashes: Set[bytes]
    """Hashes of states that were already evaluated."""
    decisions: deque[Decision]
    jobs: list[Sequence[TrialJob]] = field(default_factory=list)
    """Jobs of each decision that has been split."""
    waiting_jobs: deque[TrialJob] = field(default_factory=deque)
    """Jobs of a split decision that no process has begun."""

    def take_next_job(self, parts: int) -> TrialJob | None:
        """Return the next job; None if all are assigned. The next decision is split into *parts*."""
        if not self.waiting_jobs and self.decisions:
            decision = self.decisions.popleft()
            self.jobs.append([TrialJob(decision, (part, parts)) for part in range(parts)])
            self.waiting_jobs.extend(self.jobs[-1])
        return self.waiting_jobs.popleft() if self.waiting_jobs else None


class HelperProcess(Struct):
    """Another process, or a cluster of processes."""

    executor: Any
    cluster: bool = False
    """True for a Dask cluster, which distributes its jobs itself."""
    starting: Future[None] | None = None
    pending: list[tuple[TrialJob, Future[list[Trial]]]] = field(default_factory=list)
    known_counts: dict[SearchLimits, int] = field(default_factory=dict)
    """Number of the search's known states that the helper has received."""

    @property
    def has_capacity(self) -> bool:
        """Return whether the helper can take a job."""
        is_ready = self.starting is None or self.starting.done()
        return is_ready and len(self.pending) < (sys.maxsize if self.cluster else AHEAD)

    @property
    def has_unsent_job(self) -> bool:
        """Return whether the process has not received one of its jobs yet."""
        futures: list[Future[list[Trial]] | Future[None]] = [future for _, future in self.pending]
        if self.starting is not None:
            futures.append(self.starting)
        return not all(future.running() or future.done() for future in futures)


class SearchProcesses:
    """This process and its helpers.

    The next free process does the next job. Results are reported in the order of the jobs, so that they do not
    depend on the number of processes.
    """

    def __init__(self, scenario: Scenario, seed: int, helpers: Sequence[HelperProcess]) -> None:
        self._drill = (scenario.name, scenario.text, seed)
        self._search = uuid.uuid4().hex
        self._helpers = helpers
        self._trials = Trials(scenario, seed)
        """Trials of this process. Helpers start after it, so that they find the compiled code of the first run."""
        self._decision_s = 0.0
        """Approximate duration of the trials of a decision."""
        self._found_states: dict[SearchLimits, list[bytes]] = {}
        """States that the search has received, in order."""
        self._rounds: deque[tuple[SearchLimits, int]] = deque(maxlen=ROUNDS_SENT)
        """Number of known states at the start of each of the last rounds."""
        with ignore_interrupts():
            for helper in helpers:
                if not helper.cluster:
                    helper.starting = helper.executor.submit(warm_up, self._drill)

    def run_round(
        self, decisions: Sequence[Decision], rules: SearchLimits, known_states: Set[bytes]
    ) -> Iterator[Iterable[Trial | None]]:
        """Yield the trials of each decision of one round, in the order of *decisions*."""
        found_states = self._found_states.setdefault(rules, [])
        self._rounds.append((rules, len(found_states)))
        current_round = DecisionRound(rules, known_states, deque(decisions))
        jobs = self._run_jobs(current_round)
        for index in range(len(decisions)):
            yield self._iterate_in_order(current_round, index, jobs, found_states)

    def stop(self) -> None:
        """End the helper processes in any state."""
        for helper in self._helpers:
            while helper.has_unsent_job:
                time.sleep(MOMENT_S)
            helper.executor.shutdown(kill_workers=True)

    # --- private helpers ----------------------------------------------------------------------------------------

    def _iterate_in_order(
        self, current_round: DecisionRound, index: int, job_runner: Iterator[None], found_states: list[bytes]
    ) -> Iterator[Trial | None]:
        """Yield the trials of a decision in order; None when there is only time to check the clock."""
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
        """Run all jobs, in any process, with a pause after each trial of this process."""
        if not self._decision_s:
            self._decision_s = TRIAL_S * self._trials.count_neighbors(
                current_round.decisions[0], current_round.rules
            )
        sent_states: set[bytes] = set()
        union = _StateUnion(current_round.known_hashes, sent_states)
        while True:
            self._assign_jobs(current_round)
            job = current_round.take_next_job(self._parts)
            if job is not None:
                start_s = time.perf_counter()
                for trial in self._trials.try_neighbors(job.decision, current_round.rules, union, job.part):
                    if trial is not None:
                        job.trials.append(trial)
                        sent_states.add(trial.state)
                    self._assign_jobs(current_round)
                    yield
                seconds, job.is_collected = time.perf_counter() - start_s, True
                self._decision_s += WEIGHT * (seconds * job.part[-1] - self._decision_s)
            else:
                futures = [future for helper in self._helpers for _, future in helper.pending]
                wait(futures, timeout=LOOK_S, return_when="FIRST_COMPLETED")
                yield

    @property
    def _parts(self) -> int:
        return max(1, min(PARTS_MAX, round(self._decision_s / JOB_S)))

    def _assign_jobs(self, current_round: DecisionRound) -> None:
        """Collect the results of the helpers and give them new jobs."""
        for helper in self._helpers:
            for job, future in [entry for entry in helper.pending if entry[1].done()]:
                job.trials, job.is_collected = future.result(), True
                helper.pending.remove((job, future))
            while helper.has_capacity and (next_job := current_round.take_next_job(self._parts)) is not None:
                call = (
                    self._search,
                    self._drill,
                    current_round.rules,
                    self._select_states(helper, current_round.rules),
                )
                trials_future = helper.executor.submit(
                    run_trials, *call, next_job.decision, next_job.part, not helper.cluster
                )
                helper.pending.append((next_job, trials_future))

    def _select_states(self, helper: HelperProcess, rules: SearchLimits) -> list[bytes]:
        """Return states of which *helper* may not know."""
        states = self._found_states[rules]
        if helper.cluster:
            return states[min(first for round_rules, first in self._rounds if round_rules == rules) :]
        known_count = helper.known_counts.get(rules, 0)
        helper.known_counts[rules] = len(states)
        return states[known_count:]


class _StateUnion(Struct, frozen=True):
    """Union of two sets of states."""

    first_set: Set[bytes]
    second_set: Set[bytes]

    def __contains__(self, state: object) -> bool:
        return state in self.first_set or state in self.second_set
