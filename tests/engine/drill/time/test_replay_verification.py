"""Verification of recorded runs: a replay reaches the same states, or the first difference is reported."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from engine.constants import TICKS_PER_S
from engine.drill.authoring.scenario import load_scenario
from engine.drill.running.drill import Drill
from engine.drill.running.solution import play_solution
from engine.drill.running.state import StateHash
from engine.drill.time.replay_verification import ReplayDivergence, find_divergence, verify_report
from engine.inputs import InputError
from tests.engine.drill.texts import build_drill, change_small_text


@pytest.fixture(scope="module")
def solved_drill() -> Drill:
    drilled = build_drill()
    play_solution(drilled)
    return drilled


def verify_hashes(
    drill: Drill, *changes: tuple[str, str], hashes: list[StateHash] | None = None
) -> ReplayDivergence | None:
    report = drill.build_report()
    if hashes:
        report["hashes"] = [
            {"t_s": h.tick / TICKS_PER_S, "inputs": h.inputs, "hash": h.digest} for h in hashes
        ]
    return verify_report(change_small_text(*changes), report)


def test_an_equal_run_is_verified(solved_drill: Drill) -> None:
    assert verify_hashes(solved_drill) is None
    assert verify_report(change_small_text(), json.loads(json.dumps(solved_drill.build_report()))) is None


def test_a_changed_scenario_diverges_where_the_change_takes_effect(solved_drill: Drill) -> None:
    difference = verify_hashes(solved_drill, ('at = "20s"', 'at = "20.5s"'))
    assert difference is not None
    assert difference.last_equal_hash == solved_drill.hashes[0]
    assert difference.recorded_hash == solved_drill.hashes[1]
    assert difference.lines == (solved_drill.journal[0].line,)
    assert str(difference).startswith("the states are identical until 0:00.00; the first difference is at ")
    assert "power-on SERVER_A" in str(difference)


def test_a_report_names_the_first_different_event(solved_drill: Drill) -> None:
    result = verify_report(
        change_small_text(('at = "20s"', 'at = "20.5s"')), json.loads(json.dumps(solved_drill.build_report()))
    )
    assert (
        "recorded: fault at 0:20.00 (power-off SERVER_A); replayed: fault at 0:20.50 (power-off SERVER_A)"
        in str(result)
    )


def test_a_run_with_a_program_is_verified_and_a_changed_answer_named() -> None:
    """The report stores only the row count of each answer to a program."""
    login_fields = '{"login": "sa", "password": "right", "program": "desk"}'
    served = build_drill()
    for line in (f"connect SERVER_A#tds1 {login_fields}", 'batch SERVER_A#tds1 "SELECT 1"'):
        served.apply_line(line)
    served.advance_to(100)
    report = json.loads(json.dumps(served.build_report()))
    assert find_divergence(served, report) is None
    (done_event,) = (event for event in report["events"] if event["kind"] == "sql_done")
    done_event["results"][0]["rows"] = 2
    text_found = str(find_divergence(served, report))
    assert text_found.startswith("the states match, but the events differ. First differing")


def test_one_wrong_hash_is_found(solved_drill: Drill) -> None:
    for place in range(len(solved_drill.hashes)):
        hashes = solved_drill.hashes.copy()
        hashes[place] = replace(hashes[place], digest="0" * 32)
        difference = verify_hashes(solved_drill, hashes=hashes)
        assert difference is not None
        assert difference.recorded_hash == hashes[place]
        assert difference.last_equal_hash == (hashes[place - 1] if place else None)


def test_a_longer_record_is_another_run(solved_drill: Drill) -> None:
    difference = verify_hashes(solved_drill, hashes=[*solved_drill.hashes, StateHash(90_000, 1, "0" * 32)])
    assert difference is not None
    assert "the replay ends earlier than the record" in str(difference)


@pytest.mark.parametrize(("key", "value"), [("state_hash", "0" * 32), ("ended_at_s", 1.0)])
def test_a_different_end_is_found(solved_drill: Drill, key: str, value: object) -> None:
    """All intermediate hashes are correct; only the recorded result is changed."""
    report = json.loads(json.dumps(solved_drill.build_report()))
    assert verify_report(solved_drill.scenario, report) is None
    result = verify_report(solved_drill.scenario, report | {key: value})
    assert result is not None
    assert result.recorded_hash != result.replayed_hash


@pytest.mark.parametrize("name", ["mode", "scenario"])
def test_a_report_replayed_as_another_kind_is_found(solved_drill: Drill, name: str) -> None:
    """A replay takes mode and scenario from the file, so only their digest reveals a change."""
    report = json.loads(json.dumps(solved_drill.build_report())) | {name: "exam"}
    scenario = load_scenario(solved_drill.scenario.text, f"{report['scenario']}.toml")
    assert "origin differs: recorded " in str(verify_report(scenario, report))


def test_invalid_lines_are_refused(solved_drill: Drill) -> None:
    report = solved_drill.build_report()
    report["inputs"] = ["1 dance"]
    with pytest.raises(InputError, match="dance"):
        verify_report(change_small_text(), report)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("score", {"total": 99.5}, "score.total differs: recorded 99.5"),
        ("score", None, "score differs: recorded None"),
        ("mode", "exam", "mode differs: recorded exam"),
        ("scenario", "another", "scenario differs: recorded another"),
        ("title", "Another", "title differs: recorded Another"),
        ("ended_by", "asked", "ended_by differs: recorded asked"),
        ("availability", {"downtime_s": 0.0}, "availability.downtime_s differs: recorded 0.0"),
        ("goals", [], "goals differs: recorded []"),
    ],
)
def test_a_false_claim_of_a_report_is_found(
    solved_drill: Drill, name: str, value: object, message: str
) -> None:
    report = json.loads(json.dumps(solved_drill.build_report()))
    report[name] = report[name] | value if isinstance(value, dict) else value
    difference = find_divergence(solved_drill, report)
    assert difference is not None
    assert message in str(difference)
