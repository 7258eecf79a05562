"""Comparison of spaced-repetition schedules: `python -m tests.learning` prints tables for docs/learning.md.

Three kinds of memory models simulate learners; none of them is FSRS's model. Each learner repeats a drill
when SM-2, FSRS or chance schedules it. Before each run, every schedule predicts its success. Log loss and
calibration error compare predictions with results.
"""

from __future__ import annotations

import argparse
import math
import random
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, Protocol

from fsrs import Card, Rating

from app.learning.skill_estimates import SCHEDULER

START: Final = datetime(2026, 1, 1, tzinfo=UTC)
RUNS_PER_LEARNER: Final = 12
"""Number of runs of each learner."""


class Schedule(Protocol):
    """Spaced-repetition schedule: predicts the success of a run, records its result, and plans the next run."""

    def predict_success(self, day: float) -> float: ...
    def record_run(self, day: float, success: bool) -> None: ...
    @property
    def next_days(self) -> float: ...


class Sm2:
    """SM-2 by P. A. Wozniak, with exponential decay to 0.9 at the end of the interval; used by earlier versions."""

    def __init__(self) -> None:
        self.next_days, self._ease, self._count, self._day = 1.0, 2.5, 0, 0.0

    def predict_success(self, day: float) -> float:
        return float(0.9 ** ((day - self._day) / self.next_days))

    def record_run(self, day: float, success: bool) -> None:
        grade = 4.5 if success else 2.0
        self._ease = max(1.3, self._ease + 0.1 - (5 - grade) * (0.08 + (5 - grade) * 0.02))
        if not success:
            self.next_days, self._count = 1.0, 0
        else:
            self.next_days = {0: 1.0, 1: 6.0}.get(self._count, min(180.0, self.next_days * self._ease))
            self._count += 1
        self._day = day


class Fsrs:
    """FSRS with its default parameters."""

    def __init__(self) -> None:
        self._card = Card(card_id=0, due=START)
        self.next_days = 1.0

    def predict_success(self, day: float) -> float:
        return SCHEDULER.get_card_retrievability(self._card, START + timedelta(days=day))

    def record_run(self, day: float, success: bool) -> None:
        review_time = START + timedelta(days=day)
        self._card, _ = SCHEDULER.review_card(
            self._card, Rating.Good if success else Rating.Again, review_time
        )
        self.next_days = (self._card.due - review_time) / timedelta(days=1)


class ConstantSchedule:
    """Baseline schedule that always predicts the success rate of all learners so far."""

    well, runs = 0, 0
    next_days = 7.0

    def predict_success(self, day: float) -> float:
        return (ConstantSchedule.well + 1) / (ConstantSchedule.runs + 2)

    def record_run(self, day: float, success: bool) -> None:
        ConstantSchedule.well, ConstantSchedule.runs = (
            ConstantSchedule.well + success,
            ConstantSchedule.runs + 1,
        )


Memory = Callable[[float, int, int, float], float]
"""(days since the last run, successful runs, failed runs, ability of the learner) -> probability of success."""

MEMORIES: Final[dict[str, Memory]] = {
    "exponential, doubled by each success": lambda days, well, failed, able: math.exp(
        -days / (4.0 * able * 2.0 ** min(well, 8))
    ),
    "power law": lambda days, well, failed, able: (1.0 + days / (2.0 * able)) ** (-0.5 / (1.0 + well)),
    "half-life regression": lambda days, well, failed, able: (
        2.0 ** (-days / (3.0 * able * 2.0 ** (0.9 * math.sqrt(well) - 0.4 * math.sqrt(failed))))
    ),
}
SCHEDULES: Final[dict[str, Callable[[], Schedule]]] = {
    "SM-2": Sm2,
    "FSRS": Fsrs,
    "a constant": ConstantSchedule,
}


def simulate_learner(
    memory: Memory, schedule_name: str, chance: random.Random
) -> list[tuple[dict[str, float], bool, float]]:
    """Simulate one learner. For each run after the first, return the prediction of each schedule, the result,
    and the time.
    """
    able = math.exp(chance.gauss(0.0, 0.7))
    schedules = {name: make() for name, make in SCHEDULES.items()}
    day, reviews_passed, failed, forecasts = 0.0, 1, 0, []
    for schedule in schedules.values():
        schedule.record_run(0.0, True)
    for _ in range(RUNS_PER_LEARNER):
        days = (
            chance.choice((1, 2, 4, 7, 14, 30, 60))
            if schedule_name == "chance"
            else schedules[schedule_name].next_days
        )
        days = max(1.0, round(days))
        day += days
        recall = {name: schedule.predict_success(day) for name, schedule in schedules.items()}
        is_remembered = chance.random() < memory(days, reviews_passed, failed, able)
        forecasts.append((recall, is_remembered, day))
        reviews_passed, failed = reviews_passed + is_remembered, failed + (not is_remembered)
        for schedule in schedules.values():
            schedule.record_run(day, is_remembered)
    return forecasts


def compute_log_loss(forecasts: Sequence[tuple[float, bool]]) -> float:
    losses = [-math.log(min(0.999, max(0.001, p if is_right else 1.0 - p))) for p, is_right in forecasts]
    return sum(losses) / len(losses)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--learners", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print(
        "| Memory | Repetition scheduled by | Predicted by | Log loss | Predicted - actual | Success | Days covered |"
    )
    print("|---|---|---|---|---|---|---|")
    for kind, memory in MEMORIES.items():
        for by in ("chance", "SM-2", "FSRS"):
            chance = random.Random(options.seed)
            ConstantSchedule.well = ConstantSchedule.runs = 0
            runs = [simulate_learner(memory, by, chance) for _ in range(options.learners)]
            all_runs = [review for learner in runs for review in learner]
            share = sum(is_right for _, is_right, _ in all_runs) / len(all_runs)
            covered = sum(learner[-1][2] for learner in runs) / len(runs)
            for name in SCHEDULES:
                pairs = [(forecast[name], is_right) for forecast, is_right, _ in all_runs]
                bias = sum(p for p, _ in pairs) / len(pairs) - share
                loss = compute_log_loss(pairs)
                print(f"| {kind} | {by} | {name} | {loss:.3f} | {bias:+.2f} | {share:.2f} | {covered:.0f} |")


if __name__ == "__main__":
    main()
