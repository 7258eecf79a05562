"""Evidence by mode and hints, fading, SM-2's intervals, and what to take next."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from engine.drill.judging.skills import (
    WEIGHTS,
    Course,
    Practised,
    SkillStanding,
    by_key,
    due_list,
    skills,
    standings,
    title_of,
)
from engine.drill.running.modes import Mode
from tests.shipped import DRILLS, NAMES, shipped

START = datetime(2026, 1, 1, 12, tzinfo=UTC)
TRAINED = {"one": ("quorum",), "both": ("quorum", "resume"), "other": ("log-space",)}


def day(days: float) -> datetime:
    return START + timedelta(days=days)


def ran(
    at: float,
    score: float = 100.0,
    mode: Mode = Mode.EXAM,
    hints: int = 0,
    name: str = "one",
    played_s: float = 300.0,
) -> Practised:
    return Practised(name, mode, score, hints, day(at), played_s)


def quorum(*runs: Practised, now: float) -> SkillStanding:
    return next(s for s in standings(runs, TRAINED, day(now)) if s.skill.key == "quorum")


def test_some_dozens_of_skills_with_texts() -> None:
    assert 18 <= len(skills()) <= 36
    assert all(skill.title and skill.text.endswith(".") for skill in skills())
    assert len(by_key()) == len(skills()) == len({skill.title for skill in skills()})
    assert title_of("quorum") == "Quorum"
    assert title_of("my-own") == "my own"


def test_every_skill_is_trained_by_a_shipped_drill_and_no_other_is_named() -> None:
    scenarios = [shipped(name) for name in NAMES]
    assert {key for scenario in scenarios for key in scenario.skills} == set(by_key())
    assert all(shipped(name).skills for name in DRILLS)


@pytest.mark.parametrize(("played_s", "runs"), [(0.5, 0), (29.99, 0), (30.0, 1)])
@pytest.mark.parametrize("score", [8.8, 100.0])
def test_a_run_that_ended_before_anything_was_to_be_done_proves_nothing(
    played_s: float, runs: int, score: float
) -> None:
    found = quorum(ran(0, score, played_s=played_s), now=1)
    assert found.runs == runs
    assert (found.mastery > 0.0, found.due is not None) == (bool(runs), bool(runs))


def test_nothing_practised() -> None:
    found = quorum(now=0)
    assert (found.mastery, found.runs, found.last, found.due) == (0.0, 0, None, None)
    assert not found.is_due(day(1000))


def test_an_exam_says_more_than_practice_and_practice_more_than_a_guided_run() -> None:
    levels = [quorum(ran(0, mode=mode), now=0).mastery for mode in (Mode.EXAM, Mode.PRACTICE, Mode.GUIDED)]
    assert levels == [100 * WEIGHTS[mode] for mode in (Mode.EXAM, Mode.PRACTICE, Mode.GUIDED)]
    assert quorum(ran(0, mode=Mode.LAB), now=0).runs == 0


def test_hints_and_points_count() -> None:
    assert quorum(ran(0, 50), now=0).mastery == 30.0
    assert quorum(ran(0, hints=2), now=0).mastery == 48.0
    assert quorum(ran(0, hints=9), now=0).mastery == quorum(ran(0, hints=5), now=0).mastery == 30.0


def test_a_skill_fades_to_nine_tenths_until_it_is_due() -> None:
    assert quorum(ran(0), now=1).mastery == pytest.approx(54.0)
    assert quorum(ran(0), now=30).mastery < 5.0
    found = quorum(ran(0), now=0)
    assert found.due == day(1)
    assert not found.is_due(day(0.99))
    assert found.is_due(day(1))


def test_spaced_successes_lengthen_the_interval_as_in_sm2() -> None:
    spaced = quorum(ran(0), ran(1), now=1)
    assert (spaced.successes, spaced.due) == (2, day(1 + 6))
    third = quorum(ran(0), ran(1), ran(7), now=7)
    assert third.due is not None
    assert (third.due - day(7)) / timedelta(days=1) == pytest.approx(6 * 2.8)  # EF 2.5 and three times +0.1
    assert quorum(*(ran(d * 400) for d in range(9)), now=3200).due == day(3200 + 180)


def test_ten_runs_in_an_evening_are_no_spacing() -> None:
    crammed = quorum(*(ran(minute / 1440) for minute in range(10)), now=0.01)
    assert crammed.successes == 1
    assert crammed.mastery > 95.0
    assert crammed.due is not None
    assert crammed.due < day(1.1)


def test_a_lapse_begins_again() -> None:
    lapsed = quorum(ran(0), ran(1), ran(7, 40), now=7)
    assert (lapsed.successes, lapsed.due) == (0, day(8))
    assert lapsed.mastery < quorum(ran(0), ran(1), now=7).mastery
    again = quorum(ran(0), ran(1), ran(7, 40), ran(8), ran(9), ran(15), now=15)
    never = quorum(ran(0), ran(1), ran(7), now=7)
    assert again.due is not None
    assert never.due is not None
    assert again.due - day(15) < never.due - day(7), "it stays harder than one that was never forgotten"


def test_order_of_the_rows_and_a_changed_clock_do_not_matter() -> None:
    runs = [ran(0), ran(1, 40), ran(3)]
    assert standings(runs, TRAINED, day(4)) == standings(runs[::-1], TRAINED, day(4))
    ahead = quorum(ran(900), now=1)
    assert ahead.mastery == 60.0
    assert ahead.due == day(2)


# --- what next ----------------------------------------------------------------------------------------------

COURSES = (
    Course("one", ("quorum",), 0, 5),
    Course("both", ("quorum", "resume"), 1, 10),
    Course("other", ("log-space",), 0, 6),
    Course("hard", ("log-space", "setup", "queues"), 3, 20),
)


def test_a_newcomer_is_shown_the_easiest_new_ones() -> None:
    found = due_list([], COURSES, START)
    assert [each.scenario for each in found] == ["one", "other", "both"]
    assert all(each.since is None for each in found)
    assert [skill.key for skill in found[2].skills] == ["resume"], "quorum is covered by the first"


def test_few_drills_cover_what_is_due_and_the_one_taken_longest_ago_comes_first() -> None:
    runs = [ran(0, name="both"), ran(0.2, name="one")]
    found = [each for each in due_list(runs, COURSES, day(3)) if each.since is not None]
    assert [each.scenario for each in found] == ["both"]
    assert {skill.key for skill in found[0].skills} == {"quorum", "resume"}
    assert found[0].since == day(1)
    only_one = due_list([ran(0, name="one")], (*COURSES[:1], Course("twin", ("quorum",), 0, 5)), day(3))
    assert only_one[0].scenario == "twin", "never taken goes before taken"


def test_nothing_is_due_right_after_a_success() -> None:
    assert [each for each in due_list([ran(0)], COURSES, day(0.5)) if each.since is not None] == []
