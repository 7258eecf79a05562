"""Tests of skill estimates: weight of a run by mode and hints, forgetting, FSRS intervals, and recommended
skills.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from app.learning.next_drills import DrillCandidate, recommend_drills
from app.learning.skill_estimates import (
    INTERVAL_DAYS_MAX,
    WEIGHT_BY_MODE,
    PracticedRun,
    SkillEstimate,
    estimate_skills,
)
from engine.drill.judging.skills import get_skill_title, load_skills, load_skills_by_key
from engine.drill.running.modes import DrillMode
from tests.shipped_scenarios import DRILL_NAMES, SCENARIO_NAMES, load_shipped_scenario

START = datetime(2026, 1, 1, 12, tzinfo=UTC)
TRAINED_SKILLS = {"one": ("quorum",), "both": ("quorum", "resume"), "other": ("log-space",)}


def add_days_to_start(days: float) -> datetime:
    return START + timedelta(days=days)


def build_run(
    at_day: float,
    score: float = 100.0,
    mode: DrillMode = DrillMode.EXAM,
    hints: int = 0,
    name: str = "one",
    played_s: float = 300.0,
) -> PracticedRun:
    return PracticedRun(name, mode, score, hints, add_days_to_start(at_day), played_s)


def get_quorum_standing(*runs: PracticedRun, today: float) -> SkillEstimate:
    return next(
        s for s in estimate_skills(runs, TRAINED_SKILLS, add_days_to_start(today)) if s.skill.key == "quorum"
    )


def test_the_skill_list_has_dozens_of_skills_with_texts() -> None:
    assert 18 <= len(load_skills()) <= 36
    assert all(skill.title and skill.text.endswith(".") for skill in load_skills())
    assert len(load_skills_by_key()) == len(load_skills()) == len({skill.title for skill in load_skills()})
    assert get_skill_title("quorum") == "Quorum"
    assert get_skill_title("my-own") == "my own"


def test_shipped_drills_train_exactly_the_listed_skills() -> None:
    scenarios = [load_shipped_scenario(name) for name in SCENARIO_NAMES]
    assert {key for scenario in scenarios for key in scenario.skills} == set(load_skills_by_key())
    assert all(load_shipped_scenario(name).skills for name in DRILL_NAMES)


@pytest.mark.parametrize(("played_s", "runs"), [(0.5, 0), (29.99, 0), (30.0, 1)])
@pytest.mark.parametrize("score", [8.8, 100.0])
def test_a_run_that_ended_before_any_task_proves_nothing(played_s: float, runs: int, score: float) -> None:
    skill = get_quorum_standing(build_run(0, score, played_s=played_s), today=1)
    assert skill.runs == runs
    assert (skill.mastery > 0.0, skill.due_time is not None) == (bool(runs), bool(runs))


def test_nothing_is_due_without_practice() -> None:
    skill = get_quorum_standing(today=0)
    assert (skill.mastery, skill.runs, skill.last_practice_time, skill.due_time) == (0.0, 0, None, None)
    assert not skill.is_review_due(add_days_to_start(1000))


def test_exams_weigh_more_than_practice_and_practice_more_than_guided_runs() -> None:
    levels = [
        get_quorum_standing(build_run(0, mode=mode), today=0).mastery
        for mode in (DrillMode.EXAM, DrillMode.PRACTICE, DrillMode.GUIDED)
    ]
    assert levels == [
        100 * WEIGHT_BY_MODE[mode] for mode in (DrillMode.EXAM, DrillMode.PRACTICE, DrillMode.GUIDED)
    ]
    assert get_quorum_standing(build_run(0, mode=DrillMode.LAB), today=0).runs == 0


def test_hints_and_points_affect_the_grade() -> None:
    assert get_quorum_standing(build_run(0, 50), today=0).mastery == 30.0
    assert get_quorum_standing(build_run(0, hints=2), today=0).mastery == 48.0
    assert (
        get_quorum_standing(build_run(0, hints=9), today=0).mastery
        == get_quorum_standing(build_run(0, hints=5), today=0).mastery
        == 30.0
    )


def test_recall_falls_to_nine_tenths_at_the_due_date() -> None:
    fresh_skill = get_quorum_standing(build_run(0), today=0)
    assert fresh_skill.due_time is not None
    days = (fresh_skill.due_time - START) / timedelta(days=1)
    assert get_quorum_standing(build_run(0), today=days).mastery == pytest.approx(
        0.9 * fresh_skill.mastery, abs=1.0
    )
    assert get_quorum_standing(build_run(0), today=400).mastery < 0.6 * fresh_skill.mastery
    assert not fresh_skill.is_review_due(add_days_to_start(days - 0.01))
    assert fresh_skill.is_review_due(add_days_to_start(days))


@pytest.mark.parametrize(
    ("score", "hints", "mode", "days"),
    [
        (100, 0, DrillMode.EXAM, 8),
        (90, 0, DrillMode.EXAM, 2),
        (100, 0, DrillMode.PRACTICE, 2),
        (70, 0, DrillMode.PRACTICE, 1),
        (100, 0, DrillMode.GUIDED, 1),
        (40, 0, DrillMode.EXAM, 1),
    ],
)
def test_the_first_interval_follows_fsrs(score: float, hints: int, mode: DrillMode, days: int) -> None:
    """The first four default parameters are the initial stabilities, in days, after the grades again, hard,
    good and easy.
    """
    assert get_quorum_standing(build_run(0, score, mode, hints), today=0).due_time == add_days_to_start(days)


def list_intervals(*runs: PracticedRun) -> float:
    skill = get_quorum_standing(*runs, today=(runs[-1].ended_at - START) / timedelta(days=1))
    assert skill.due_time is not None
    assert skill.last_practice_time is not None
    return (skill.due_time - skill.last_practice_time) / timedelta(days=1)


def test_spaced_successes_lengthen_the_interval_up_to_half_a_year() -> None:
    runs = [build_run(0, mode=DrillMode.PRACTICE)]
    for _ in range(12):
        due_time = get_quorum_standing(*runs, today=5000).due_time
        assert due_time is not None
        runs.append(build_run((due_time - START) / timedelta(days=1), mode=DrillMode.PRACTICE))
    lengths = [list_intervals(*runs[: n + 1]) for n in range(len(runs))]
    assert lengths == sorted(lengths)
    assert lengths[3] > 10 * lengths[0]
    assert lengths[-1] == INTERVAL_DAYS_MAX
    assert get_quorum_standing(*runs, today=5000).successes == len(runs)


def test_ten_runs_in_one_evening_do_not_count_as_spacing() -> None:
    crammed = get_quorum_standing(*(build_run(minute / 1440) for minute in range(10)), today=0.01)
    assert crammed.successes == 1
    assert crammed.mastery > 95.0
    assert crammed.due_time == add_days_to_start(8)


def test_a_lapse_restarts_the_interval() -> None:
    lapsed = get_quorum_standing(build_run(0), build_run(8), build_run(30, 40), today=30)
    assert lapsed.successes == 0
    assert lapsed.mastery < get_quorum_standing(build_run(0), build_run(8), today=30).mastery
    single_intervals, repeated_intervals = (
        list_intervals(build_run(0), build_run(8), build_run(30)),
        list_intervals(build_run(0), build_run(8), build_run(30, 40)),
    )
    assert repeated_intervals < 0.2 * single_intervals
    assert list_intervals(build_run(0), build_run(8), build_run(30, 40), build_run(33)) < single_intervals, (
        "it stays harder than one that was never forgotten"
    )


@pytest.mark.parametrize(
    ("runs", "proved"),
    [
        ([], False),
        ([build_run(0), build_run(3)], False),  # the same drill twice proves no transfer
        ([build_run(0), build_run(1, name="both")], False),  # The second run follows too soon.
        ([build_run(0), build_run(3, name="both")], True),
        (
            [build_run(0, hints=1), build_run(3, name="both")],
            False,
        ),  # Only one of the runs was without hints.
        ([build_run(0), build_run(3, mode=DrillMode.GUIDED, name="both")], False),
        (
            [build_run(0), build_run(3, 40, name="both"), build_run(9, name="both")],
            False,
        ),  # the drill was no longer new
        ([build_run(0), build_run(1, name="both"), build_run(9)], True),
    ],
)
def test_a_skill_is_proved_by_two_spaced_unaided_passes_one_in_a_new_drill(
    runs: list[PracticedRun], proved: bool
) -> None:
    assert get_quorum_standing(*runs, today=20).proved is proved


def test_time_zones_do_not_matter() -> None:
    naive = [PracticedRun("one", DrillMode.EXAM, 90.0, 0, datetime(2026, 1, n, 12), 300.0) for n in (1, 4)]
    (skill,) = [
        s for s in estimate_skills(naive, TRAINED_SKILLS, datetime(2026, 1, 5, 12)) if s.skill.key == "quorum"
    ]
    aware = get_quorum_standing(build_run(0, 90), build_run(3, 90), today=4)
    assert (skill.mastery, skill.due_time) == (
        aware.mastery,
        aware.due_time and aware.due_time.replace(tzinfo=None),
    )


def test_row_order_and_clock_changes_do_not_matter() -> None:
    runs = [build_run(0), build_run(1, 40), build_run(3)]
    assert estimate_skills(runs, TRAINED_SKILLS, add_days_to_start(4)) == estimate_skills(
        runs[::-1], TRAINED_SKILLS, add_days_to_start(4)
    )
    future_skill = get_quorum_standing(build_run(900), today=1)
    assert future_skill.mastery == 60.0
    assert future_skill.due_time == add_days_to_start(1 + 8)


# --- recommended drills -------------------------------------------------------------------------------------

DRILL_CANDIDATES = (
    DrillCandidate("one", ("quorum",), 0, 5),
    DrillCandidate("both", ("quorum", "resume"), 1, 10),
    DrillCandidate("other", ("log-space",), 0, 6),
    DrillCandidate("hard", ("log-space", "setup", "queues"), 3, 20),
)


def test_a_newcomer_gets_the_easiest_new_drills() -> None:
    recommended = recommend_drills([], DRILL_CANDIDATES, START)
    assert [recommendation.scenario for recommendation in recommended] == ["one", "other", "both"]
    assert all(recommendation.due_time is None for recommendation in recommended)
    assert [skill.key for skill in recommended[2].skills] == ["resume"], "quorum is covered by the first"


def test_few_drills_cover_due_skills_and_the_oldest_comes_first() -> None:
    runs = [build_run(0, name="both"), build_run(0.2, name="one")]
    due_drills = [
        recommendation
        for recommendation in recommend_drills(runs, DRILL_CANDIDATES, add_days_to_start(9))
        if recommendation.due_time is not None
    ]
    assert [recommendation.scenario for recommendation in due_drills] == ["both"]
    assert {skill.key for skill in due_drills[0].skills} == {"quorum", "resume"}
    assert due_drills[0].due_time == add_days_to_start(8)
    fallback = recommend_drills(
        [build_run(0, name="one")],
        (*DRILL_CANDIDATES[:1], DrillCandidate("twin", ("quorum",), 0, 5)),
        add_days_to_start(9),
    )
    assert fallback[0].scenario == "twin", "never taken goes before taken"


def test_nothing_is_due_right_after_a_success() -> None:
    assert [
        recommendation
        for recommendation in recommend_drills([build_run(0)], DRILL_CANDIDATES, add_days_to_start(0.5))
        if recommendation.due_time is not None
    ] == []
