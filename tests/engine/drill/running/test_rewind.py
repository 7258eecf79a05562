"""Rewinds: they are recorded, keep opened hints and given answers, and are not available in an exam."""

from __future__ import annotations

import pytest

from engine.drill.running import rewind
from engine.drill.running.drill import Drill, DrillMode, replay
from engine.inputs import InputError
from tests.engine.drill.running.test_questions import QUESTION_CHANGES, build_drill_with_question
from tests.engine.drill.texts import advance_drill, build_drill, change_small_text, open_next_hint


def rewind_drill(current_drill: Drill, to_s: float) -> Drill:
    """Return a drill at *to_s* that keeps the hints and answers of *current_drill*."""
    early_lines = [item.line for item in current_drill.journal if item.tick < to_s * 100]
    rewound = replay(
        current_drill.scenario, current_drill.seed, current_drill.mode, early_lines, round(to_s * 100)
    )
    rewound.apply_line(rewind.format_rewind_line(current_drill, rewound))
    return rewound


def test_opened_hints_stay_opened_and_charged() -> None:
    drill_run = advance_drill(build_drill(), 40)
    open_next_hint(drill_run, 2)
    advance_drill(drill_run, 100)
    rewound = rewind_drill(drill_run, 30)
    assert rewound.journal[-1].line == "30 rewind 100 hint:protected:2"
    assert [(o.goal, o.layer, o.cost) for o in rewound.hints] == [("protected", 2, 2.0)]
    assert [e.text for e in rewound.events if e.kind == "hint"] == ["It is off."]
    rewound.apply_line("power-on SERVER_A")
    advance_drill(rewound, 300)
    assert rewound.compute_score().total == 96.0, "a hint and a way back"
    (item,) = [item for item in rewound.compute_score().items if item.name == "Rewinds"]
    assert "from 1:40.0 to 0:30.0" in item.reason
    assert item.points == -2.0
    assert rewound.build_report()["rewinds"] == [{"from_s": 100.0, "to_s": 30.0}]


def test_given_answers_stay_and_missed_ones_stay_missed() -> None:
    drill_run = advance_drill(build_drill_with_question(), 24)
    drill_run.apply_line("answer cause 1")
    advance_drill(drill_run, 60)
    rewound = rewind_drill(drill_run, 10)
    assert rewound.journal[-1].line == "10 rewind 60 answer:cause:1 missed:next"
    advance_drill(rewound, 55)
    assert [question.name for question in rewound.list_open_questions()] == ["role"]
    with pytest.raises(InputError, match="already"):
        rewound.apply_line("answer cause 2")
    rewound_twice = rewind_drill(advance_drill(rewound, 60), 5)
    assert rewound_twice.journal[-1].line == "5 rewind 60 answer:cause:1 missed:next", "known for ever"


def test_a_run_with_a_rewind_replays() -> None:
    drill_run = advance_drill(build_drill_with_question(), 24)
    drill_run.apply_line("answer cause 1")
    rewound = advance_drill(rewind_drill(drill_run, 10), 70)
    lines = [item.line for item in rewound.journal]
    replayed = replay(change_small_text(*QUESTION_CHANGES), rewound.seed, rewound.mode, lines, 7000)
    assert replayed.build_report() == rewound.build_report()


def test_the_state_hash_ignores_rewinds() -> None:
    drill_run = advance_drill(build_drill(), 40)
    rewound = advance_drill(rewind_drill(drill_run, 30), 40)
    assert rewound.compute_state_hash() == drill_run.compute_state_hash()


def test_an_exam_cannot_be_rewound() -> None:
    drill_run = advance_drill(build_drill(mode=DrillMode.EXAM), 30)
    with pytest.raises(InputError, match="cannot be rewound"):
        drill_run.apply_line("rewind 40")


@pytest.mark.parametrize(
    "argument", ["hint:nothing:1", "hint:served:4", "hint:served", "answer:cause:1", "secret"]
)
def test_the_target_of_a_rewind_is_validated(argument: str) -> None:
    drill_run = advance_drill(build_drill(), 30)
    with pytest.raises(InputError, match="known"):
        drill_run.apply_line(f"rewind 40 {argument}")
    assert not drill_run.journal


# --- modes --------------------------------------------------------------------------------------------------


def test_leaving_before_the_last_event_is_not_finishing() -> None:
    later_fault = '[[timeline]]\nat = "200s"\ndo = "power-off SERVER_W"\n\n[[goal]]'
    drill_run = advance_drill(
        build_drill(('\n[[goal]]\nname = "served"', f'\n{later_fault}\nname = "served"')), 40
    )
    drill_run.apply_line("power-on SERVER_A")
    advance_drill(drill_run, 150)
    assert all(state.is_reached for state in drill_run.goals.values())
    drill_run.end_now()
    assert not drill_run.compute_score().finished
    assert drill_run.compute_score().total == 40.0
