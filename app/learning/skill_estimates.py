"""Estimate of each skill: the results of the runs, and the probability that the learner still has the skill.

The schedule is that of FSRS-6 with its default parameters (package fsrs), with one card for each skill. A
drill is not a card: docs/learning.md describes the measurements behind this decision, and their gaps.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from fsrs import Card, Rating, Scheduler
from msgspec import Struct

from engine.drill.judging.skills import Skill, load_skills
from engine.drill.running.modes import DrillMode

INTERVAL_DAYS_MAX: Final = 180
"""Longest interval between two reviews of a skill. Assumed: after half a year, every skill needs practice."""

SPACING_DAYS_MIN: Final = 1.0
"""Minimum days between two runs that count as spaced practice. Ten runs in one evening count as one. FSRS
also counts whole days.
"""

WEIGHT_BY_MODE: Final[dict[DrillMode, float]] = {
    DrillMode.EXAM: 0.6,
    DrillMode.PRACTICE: 0.4,
    DrillMode.GUIDED: 0.2,
}
"""Weight of one run in the skill level, by mode. Assumed: less help is stronger evidence. Free play is not
evidence.
"""

HINT_PENALTY: Final = 0.1
"""Share of the quality of a run that is lost per opened hint layer. Assumed."""

HINTS_PENALTY_MAX: Final = 0.5
"""Maximum share of the quality of a run that can be lost through hints. Assumed."""

RATING_LIMITS: Final = ((0.6, Rating.Again), (0.8, Rating.Hard))
"""(quality, FSRS rating): a run below the quality gets the rating. Assumed: 60 of 100 points pass a drill."""

EASY_QUALITY_MIN: Final = 0.95
"""Minimum quality with which an exam gets the FSRS rating Easy.

Assumed: about the result of the reference solution.
"""

PROOF_SPACING_DAYS: Final = 2.0
"""Minimum days between the first and the last unaided pass that together prove a skill. Assumed: one night is
too short.
"""

EVIDENCE_S_MIN: Final = 30.0
"""Minimum simulated seconds of a run that counts as evidence.

Assumed: before the first fault, the player has nothing to decide.
"""

SCHEDULER: Final = Scheduler(
    learning_steps=(), relearning_steps=(), maximum_interval=INTERVAL_DAYS_MAX, enable_fuzzing=False
)
"""FSRS scheduler without learning steps of minutes, which suit flashcards only. Without fuzzing, equal runs
result in equal dates.
"""


class PracticedRun(Struct, frozen=True):
    """Finished run as evidence of skills. Runs that were rewound or only watched must be omitted."""

    scenario: str
    mode: DrillMode
    score: float
    """Score of the run, 0 to 100."""
    hints: int
    """Number of opened hint layers."""
    ended_at: datetime
    """Time of the end of the run."""
    played_s: float
    """Duration in simulated seconds."""

    @property
    def is_evidence(self) -> bool:
        """Return whether the run lasted long enough to be evidence."""
        return self.played_s >= EVIDENCE_S_MIN

    @property
    def quality(self) -> float:
        """Quality from 0 to 1: the score, reduced by hints."""
        hints_price = min(HINTS_PENALTY_MAX, HINT_PENALTY * self.hints)
        return min(1.0, max(0.0, self.score / 100.0)) * (1.0 - hints_price)

    @property
    def rating(self) -> Rating:
        """Rating of the run for FSRS. A guided run is at most Hard, because the learner had help."""
        for limit, rating in RATING_LIMITS:
            if self.quality < limit:
                return rating
        if self.mode is DrillMode.GUIDED:
            return Rating.Hard
        return (
            Rating.Easy if self.mode is DrillMode.EXAM and self.quality >= EASY_QUALITY_MIN else Rating.Good
        )

    @property
    def is_unaided_pass(self) -> bool:
        """Return whether the run passed without hints, in a mode other than guided."""
        return self.mode is not DrillMode.GUIDED and not self.hints and self.rating is not Rating.Again


class SkillEstimate(Struct, frozen=True):
    """Estimate of one skill at a given time, from the learner's runs."""

    skill: Skill
    mastery: float
    """Mastery from 0 to 100: skill level shown in the runs, times probability of still having the skill."""
    runs: int
    """Number of runs that are evidence for the skill."""
    successes: int
    """Number of successful spaced runs since the last failed run."""
    proved: bool
    """True if two unaided passes prove the skill.

    They must be at least PROOF_SPACING_DAYS apart, and one of them must be in a drill that was new to the
    learner.
    """
    last_practice_time: datetime | None
    """End of the last run that is evidence for the skill; None if there is none."""
    due_time: datetime | None
    """Due time of the next review; None if the skill was never practiced."""

    def is_review_due(self, current_time: datetime) -> bool:
        """Return whether the skill is due for review."""
        return self.due_time is not None and self.due_time <= current_time


class _SkillState(Struct, frozen=True):
    """State of a skill directly after a run."""

    level: float = 0.0
    """Skill level shown in the runs, from 0 to 1."""
    card: Card | None = None
    """FSRS card, the memory state of the skill; None before the first run."""
    successes: int = 0
    """Number of successful spaced runs since the last failed run."""
    last_practice: datetime | None = None
    """End of the last spaced or failed run."""

    def estimate_recall(self, current_time: datetime) -> float:
        """Return the probability that the learner still has the skill at *current_time*."""
        if self.card is None:
            return 0.0
        return SCHEDULER.get_card_retrievability(self.card, _convert_to_utc(current_time))


def _count_days(start: datetime, end: datetime) -> float:
    return max(0.0, (end - start) / timedelta(days=1))


def _convert_to_utc(time: datetime) -> datetime:
    """Return *time* in UTC, the only time zone that FSRS accepts. A time without a zone is taken as UTC."""
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)


def _apply_run(skill_state: _SkillState, run: PracticedRun) -> _SkillState:
    """Return the state of the skill after *run*, from its state before."""
    faded = skill_state.level * skill_state.estimate_recall(run.ended_at)
    level = faded + (run.quality - faded) * WEIGHT_BY_MODE[run.mode]
    failed = run.rating is Rating.Again
    spaced = (
        skill_state.last_practice is None
        or _count_days(skill_state.last_practice, run.ended_at) >= SPACING_DAYS_MIN
    )
    if not (failed or spaced):
        return _SkillState(level, skill_state.card, skill_state.successes, skill_state.last_practice)
    utc = _convert_to_utc(run.ended_at)
    card, _ = SCHEDULER.review_card(skill_state.card or Card(card_id=0, due=utc), run.rating, utc)
    return _SkillState(level, card, 0 if failed else skill_state.successes + 1, run.ended_at)


def estimate_skills(
    runs: Iterable[PracticedRun], skills_by_scenario: Mapping[str, Sequence[str]], current_time: datetime
) -> list[SkillEstimate]:
    """Return an estimate of every skill at *current_time*.

    *skills_by_scenario*: scenario -> keys of the skills that it trains. All times must be in one time zone. A
    run
    that ended after *current_time*, because a clock was changed, counts as a run at *current_time*.
    """
    by_skill: dict[str, list[PracticedRun]] = {skill.key: [] for skill in load_skills()}
    for run in sorted(runs, key=lambda run: run.ended_at):
        for key in dict.fromkeys(skills_by_scenario.get(run.scenario, ())):
            if run.mode in WEIGHT_BY_MODE and run.is_evidence and key in by_skill:
                by_skill[key].append(run)
    return [_estimate_skill(skill, by_skill[skill.key], current_time) for skill in load_skills()]


def _estimate_skill(skill: Skill, runs: Sequence[PracticedRun], current_time: datetime) -> SkillEstimate:
    memory = _SkillState()
    for run in runs:
        memory = _apply_run(memory, run)
    due_time = None
    if memory.card is not None and memory.last_practice is not None:
        due_time = min(memory.last_practice, current_time) + (
            memory.card.due - _convert_to_utc(memory.last_practice)
        )
    mastery = round(100.0 * memory.level * memory.estimate_recall(current_time), 1)
    last_time = runs[-1].ended_at if runs else None
    return SkillEstimate(skill, mastery, len(runs), memory.successes, _is_proved(runs), last_time, due_time)


def _is_proved(runs: Sequence[PracticedRun]) -> bool:
    """Return whether the runs, in order of time, prove the skill.

    The first drill of a skill cannot show that the learner can transfer the skill. A later unaided pass in a
    different drill is required.
    """
    passes = [run for run in runs if run.is_unaided_pass]
    is_spaced = bool(passes) and _count_days(passes[0].ended_at, passes[-1].ended_at) >= PROOF_SPACING_DAYS
    played_scenarios: set[str] = set()
    transferred = False
    for run in runs:
        transferred = transferred or (
            bool(played_scenarios) and run.scenario not in played_scenarios and run.is_unaided_pass
        )
        played_scenarios.add(run.scenario)
    return is_spaced and transferred
