"""Tests of the data of the debrief: lanes of each technology, grades, and sentences about actions."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from app.view_models.debrief.model import (
    DebriefModel,
    build_hint,
    build_judgment_card,
    build_question_card,
    build_solution_card,
    find_grade,
)
from app.view_models.debrief.verdict import (
    build_lesson_verdict,
    describe_action,
    describe_step,
    find_retry_point,
)
from app.view_models.run_timeline import ASYNCHRONOUS, find_protection
from engine.drill.judging.counterfactual import QUERY_S
from engine.drill.par.lessons import AnswerJudgment
from engine.drill.par.regret_analysis import WAITING, RunSegment
from engine.drill.running.drill import Drill
from engine.verbs.input_lines import parse_input_line
from tests.shipped_scenarios import load_shipped_scenario


def test_safety_off_has_its_own_lane_and_a_cluster_instance_none() -> None:
    drill = Drill(load_shipped_scenario("forced-service"))
    drill.advance_to(6000)
    course = DebriefModel(drill.build_report(), drill.scenario).build_timeline()
    assert [span.state for span in course.list_protection_spans(60.0)] == [ASYNCHRONOUS]
    instance = Drill(load_shipped_scenario("fci-tempdb-path"))
    assert not DebriefModel(instance.build_report(), instance.scenario).build_timeline().has_protection


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("automatic-failover", "mirroring"),
        ("ag-automatic-failover", "ag"),
        ("fci-lab", "fci"),
        ("mirror-to-group", "mixed"),
        ("fci-primary-replica", "ag"),
    ],
)
def test_the_protection_of_a_drill_is_described(name: str, expected: str) -> None:
    assert find_protection(load_shipped_scenario(name)) == expected


@pytest.mark.parametrize(
    ("total", "finished", "expected"),
    [
        (100.0, True, "Excellent"), (80.0, True, "Good"), (60.0, True, "Passed"),
        (59.9, True, "Not passed"), (99.0, False, "Not passed"),
    ],
)  # fmt: skip
def test_a_grade_requires_all_goals(total: float, finished: bool, expected: str) -> None:
    assert find_grade(total, finished).text == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("sql S#1 ALTER DATABASE [X] SET PARTNER OFF;", "You removed the mirroring session on S (SET PARTNER OFF)."),
        ("sql S ALTER DATABASE X SET WITNESS OFF", "You removed the witness (SET WITNESS OFF)."),
        ("sql S PRINT 'SET PARTNER OFF'", "You ran: PRINT 'SET PARTNER OFF' on S."),
        ("sql S SET PARTNER OFF RESTORE DATABASE X WITH RECOVERY",
         "You recovered the copy on S (RESTORE … WITH RECOVERY)."),
        ("finish", "You ended the drill."),
        ("power-off SERVER_A", "You chose: SERVER_A ▸ Power off."),
        ("ps N Stop-ClusterGroup AG1", "You ran: Stop-ClusterGroup AG1 on N."),
    ],
)  # fmt: skip
def test_an_action_is_described_in_the_past_tense(line: str, expected: str) -> None:
    assert describe_action(line, {}) == expected


def test_a_step_shows_the_server_and_abbreviates_the_columns() -> None:
    step = describe_step(
        parse_input_line("sql S#2 SELECT a_column, another_column FROM sys.databases", 6500), {}
    )
    assert (step.time_text, step.text) == ("1:05", "On S: SELECT … FROM sys.databases")


LATE_INPUT = parse_input_line("power-on SERVER_A", 9000)
ACTION_SEGMENT = RunSegment(8000, 8000, "power-off SERVER_B", 90.0, 20.0, "blunder", (LATE_INPUT,))
WAIT_SEGMENT = RunSegment(8000, 12000, WAITING, 90.0, 20.0, "blunder", (LATE_INPUT,))


def test_a_retry_starts_early_enough_and_announces_the_event() -> None:
    acted, idle = find_retry_point(ACTION_SEGMENT, {}), find_retry_point(WAIT_SEGMENT, {})
    assert 80.0 - acted.begin_s >= QUERY_S
    assert "1:20.0" in acted.notice
    assert "Power off" in acted.notice
    assert idle.begin_tick <= WAIT_SEGMENT.tick + 1
    assert idle.notice == "You did not act from 1:20 to 2:00."


def test_an_early_end_is_called_the_mistake() -> None:
    ended = build_lesson_verdict(replace(ACTION_SEGMENT, line="finish", plan=()), None, {}, ())
    assert ended.steps_heading == "Better: do not end the drill yet."
    assert (
        build_lesson_verdict(replace(ACTION_SEGMENT, plan=()), None, {}, ()).steps_heading
        == "Better: do nothing more."
    )


def test_a_lesson_asks_first_and_reveals_afterwards() -> None:
    question = build_question_card(ACTION_SEGMENT, 1, 2, {})
    assert "Power on" not in " ".join((question.heading, *question.lines))
    assert question.steps == ()
    assert "wait" in question.buttons
    assert "wait" not in build_question_card(WAIT_SEGMENT, 1, 2, {}).buttons, "waiting was the mistake"
    assert "SERVER_A" in build_hint(ACTION_SEGMENT, {})
    for judgment in (AnswerJudgment(20.0, False), AnswerJudgment(90.0, True)):
        card = build_judgment_card(ACTION_SEGMENT, judgment, True, None, {})
        assert card.color_name == "warn"
        assert card.steps == ()
    judged = build_judgment_card(ACTION_SEGMENT, AnswerJudgment(89.0, False), True, None, {})
    assert judged.color_name == "ok"
    assert [step.text for step in judged.steps] == ["SERVER_A ▸ Power on"]
    assert judged.highlighted_button == "next"
    assert build_solution_card(ACTION_SEGMENT, False, None, {}).highlighted_button == "back"
