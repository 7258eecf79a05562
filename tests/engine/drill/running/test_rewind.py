"""Rewinds are recorded, keep what was learned, and are not available in an exam."""

from __future__ import annotations

import pytest

from engine.drill.running import rewind
from engine.drill.running.drill import Drill, DrillMode, replay
from engine.inputs import InputError
from tests.engine.drill.running.test_questions import CHANGES, asking
from tests.engine.drill.texts import drill, run, small


def rewind_drill(live: Drill, to_s: float) -> Drill:
    """Return a drill at *to_s* with the knowledge of *live*."""
    early = [item.line for item in live.journal if item.tick < to_s * 100]
    back = replay(live.scenario, live.seed, live.mode, early, round(to_s * 100))
    back.do(rewind.format_rewind_line(live, back))
    return back


def test_opened_hints_stay_opened_and_charged() -> None:
    taken = run(drill(), 40)
    taken.hint(2)
    run(taken, 100)
    back = rewind_drill(taken, 30)
    assert back.journal[-1].line == "30 rewind 100 hint:protected:2"
    assert [(o.goal, o.layer, o.cost) for o in back.hints] == [("protected", 2, 2.0)]
    assert [e.text for e in back.events if e.kind == "hint"] == ["It is off."]
    back.do("power-on SERVER_A")
    run(back, 300)
    assert back.score().total == 96.0, "a hint and a way back"
    (item,) = [item for item in back.score().items if item.name == "Rewinds"]
    assert "from 1:40.0 to 0:30.0" in item.why
    assert item.points == -2.0
    assert back.report()["rewinds"] == [{"from_s": 100.0, "to_s": 30.0}]


def test_given_answers_stay_and_missed_ones_stay_missed() -> None:
    taken = run(asking(), 24)
    taken.do("answer cause 1")
    run(taken, 60)
    back = rewind_drill(taken, 10)
    assert back.journal[-1].line == "10 rewind 60 answer:cause:1 missed:next"
    run(back, 55)
    assert [asked.name for asked in back.open_questions()] == ["role"]
    with pytest.raises(InputError, match="already"):
        back.do("answer cause 2")
    again = rewind_drill(run(back, 60), 5)
    assert again.journal[-1].line == "5 rewind 60 answer:cause:1 missed:next", "known for ever"


def test_a_run_with_a_rewind_replays() -> None:
    taken = run(asking(), 24)
    taken.do("answer cause 1")
    back = run(rewind_drill(taken, 10), 70)
    lines = [item.line for item in back.journal]
    again = replay(small(*CHANGES), back.seed, back.mode, lines, 7000)
    assert again.report() == back.report()


def test_the_state_hash_ignores_rewinds() -> None:
    taken = run(drill(), 40)
    back = run(rewind_drill(taken, 30), 40)
    assert back.state_hash() == taken.state_hash()


def test_an_exam_cannot_be_rewound() -> None:
    taken = run(drill(mode=DrillMode.EXAM), 30)
    with pytest.raises(InputError, match="cannot be rewound"):
        taken.do("rewind 40")


@pytest.mark.parametrize(
    "argument", ["hint:nothing:1", "hint:served:4", "hint:served", "answer:cause:1", "secret"]
)
def test_the_target_of_a_rewind_is_validated(argument: str) -> None:
    taken = run(drill(), 30)
    with pytest.raises(InputError, match="known"):
        taken.do(f"rewind 40 {argument}")
    assert not taken.journal


# --- modes --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mode", "shows_progress"), [(DrillMode.GUIDED, True), (DrillMode.EXAM, False), (DrillMode.LAB, False)]
)
def test_progress_is_reported_if_the_mode_allows_it(mode: DrillMode, shows_progress: bool) -> None:
    taken = drill(mode=mode)
    assert (taken.progress() is not None) is shows_progress


def test_progress_follows_weight_and_hold_time() -> None:
    taken = drill(mode=DrillMode.GUIDED)
    assert taken.progress() == pytest.approx(75.0 * 0.0)
    run(taken, 40)
    assert taken.progress() == 25.0
    taken.do("power-on SERVER_A")
    seen = []
    while not taken.finished:
        run(taken, taken.tick / 100 + 1)
        seen.append(taken.progress())
    assert seen[-3:] == [pytest.approx(50.0), pytest.approx(75.0), 100.0]


def test_leaving_before_the_last_event_is_not_finishing() -> None:
    later = '[[timeline]]\nat = "200s"\ndo = "power-off SERVER_W"\n\n[[goal]]'
    taken = run(drill(('\n[[goal]]\nname = "served"', f'\n{later}\nname = "served"')), 40)
    taken.do("power-on SERVER_A")
    run(taken, 150)
    assert all(state.is_reached for state in taken.goals.values())
    taken.finish()
    assert not taken.score().finished
    assert taken.score().total == 40.0
