"""Recommendation of the next drills: few drills that cover all due skills, then drills for new skills."""

from collections.abc import Sequence
from datetime import datetime
from itertools import groupby
from typing import Final

from msgspec import Struct

from app.learning.skill_estimates import PracticedRun, estimate_skills
from engine.drill.judging.skills import Skill, load_skills_by_key

NEW_DRILLS_MAX: Final = 3
"""Maximum number of suggested drills for new skills, after the drills for due skills. Assumed: enough for a
choice.
"""


class DrillCandidate(Struct, frozen=True):
    """Scenario with the data that a recommendation needs."""

    name: str
    skills: tuple[str, ...]
    difficulty: int
    """Difficulty from 0, beginner, to 3, expert."""
    minutes: int


class DrillRecommendation(Struct, frozen=True):
    """Recommended scenario and the skills for which it is recommended."""

    scenario: str
    skills: tuple[Skill, ...]
    """Due skills, the longest due first; or unpracticed skills, in the order of the scenario's list."""
    due_time: datetime | None
    """Time at which the first of the skills became due; None if the skills were never practiced."""


def recommend_drills(
    runs: Sequence[PracticedRun], candidates: Sequence[DrillCandidate], current_time: datetime
) -> list[DrillRecommendation]:
    """Recommend as few scenarios as possible that cover all due skills, the most urgent first.

    Among scenarios that cover the same number of due skills, the order is: never played, played
    longest ago, easier. The list ends with up to NEW_DRILLS_MAX drills for unpracticed skills, the
    easiest first.
    """
    trained = {course.name: course.skills for course in candidates}
    skill_estimates = estimate_skills(runs, trained, current_time)
    due_skills = {s.skill.key: s for s in skill_estimates if s.is_review_due(current_time)}
    new_skills = {s.skill.key for s in skill_estimates if s.last_practice_time is None}
    evidence = [run for run in runs if run.is_evidence]
    last_times = {run.scenario: run.ended_at for run in sorted(evidence, key=lambda run: run.ended_at)}
    never_time = datetime.min.replace(tzinfo=current_time.tzinfo)
    recommendations: list[DrillRecommendation] = []
    while due_skills:
        serves = {
            course: [k for k in dict.fromkeys(course.skills) if k in due_skills] for course in candidates
        }
        useful = [course for course, keys in serves.items() if keys]
        if not useful:
            break  # no scenario trains the remaining skills
        best = min(
            useful,
            key=lambda c: (
                -len(serves[c]),
                last_times.get(c.name, never_time),
                c.difficulty,
                c.minutes,
                c.name,
            ),
        )
        served = sorted(
            (due_skills.pop(key) for key in serves[best]), key=lambda s: s.due_time or current_time
        )
        recommendations.append(
            DrillRecommendation(best.name, tuple(s.skill for s in served), served[0].due_time)
        )
    recommendations.sort(key=lambda recommendation: recommendation.due_time or current_time)
    return recommendations + _select_new_drills(
        candidates,
        new_skills,
        {recommendation.scenario for recommendation in recommendations} | set(last_times),
    )


def _select_new_drills(
    candidates: Sequence[DrillCandidate], untried_skills: set[str], excluded_names: set[str]
) -> list[DrillRecommendation]:
    """Return the easiest scenarios for untried skills; no two of them are chosen for the same skill."""
    recommendations: list[DrillRecommendation] = []
    remaining_skills = set(untried_skills)
    easiest_first = sorted(candidates, key=lambda c: c.difficulty)
    for _, group in groupby(easiest_first, key=lambda c: c.difficulty):
        level = [course for course in group if course.name not in excluded_names]
        while len(recommendations) < NEW_DRILLS_MAX and any(
            remaining_skills & set(course.skills) for course in level
        ):
            best = min(level, key=lambda c: (-len(remaining_skills & set(c.skills)), c.minutes, c.name))
            keys = [key for key in dict.fromkeys(best.skills) if key in remaining_skills]
            remaining_skills -= set(keys)
            level.remove(best)
            recommendations.append(
                DrillRecommendation(best.name, tuple(load_skills_by_key()[key] for key in keys), None)
            )
    return recommendations
