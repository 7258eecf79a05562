"""Hidden facts in an exam: two worlds with the same observations give the same answers."""

from __future__ import annotations

import json

import pytest

from engine.drill.running import rewind
from engine.drill.running.drill import Drill, DrillMode
from engine.inputs import InputError
from tests.engine.drill.texts import advance_drill, build_drill

HIDDEN_FAULT_CHANGE = (
    '[[goal]]\nname = "served"',
    '[[timeline]]\nat = "5s"\ndo = "close-firewall SERVER_W 5022"\n\n[[goal]]\nname = "served"',
)
"""Text replacement: a firewall closes while its connections stay open. No server has detected this yet."""


def play_both_drills(mode: DrillMode = DrillMode.EXAM) -> tuple[Drill, Drill]:
    return advance_drill(build_drill(mode=mode), 10), advance_drill(
        build_drill(HIDDEN_FAULT_CHANGE, mode=mode), 10
    )


def apply_and_list_answers(drill: Drill, line: str) -> str:
    """Apply *line* and return all text that the seat sees as its result."""
    event_count = len(drill.events)
    try:
        line_done = drill.apply_line(line).line_without_time
    except InputError as problem:
        return str(problem)
    return json.dumps([line_done, *[event.as_json() for event in drill.events[event_count:]]])


@pytest.mark.parametrize(
    "line",
    ["open-firewall SERVER_W 5022", "mend SERVER_A SERVER_B", "power-on SERVER_A", "plug-cable SERVER_W", "revert-all",
     "start-service SERVER_B", "hint 1", "rewind 5", "answer nothing 1"],
)  # fmt: skip
def test_a_repair_does_not_reveal_the_fault(line: str) -> None:
    healthy, broken = play_both_drills()
    assert apply_and_list_answers(healthy, line) == apply_and_list_answers(broken, line)


def test_practice_mode_reveals_the_fault() -> None:
    healthy, broken = play_both_drills(DrillMode.PRACTICE)
    assert apply_and_list_answers(healthy, "open-firewall SERVER_W 5022") != apply_and_list_answers(
        broken, "open-firewall SERVER_W 5022"
    )


def test_the_truth_is_hidden_until_the_exam_ends() -> None:
    drill_run = build_drill(mode=DrillMode.EXAM)
    with pytest.raises(InputError, match="information only from the servers"):
        rewind.require_visible_truth(drill_run)
    drill_run.end_now()
    rewind.require_visible_truth(drill_run)
    rewind.require_visible_truth(build_drill(mode=DrillMode.PRACTICE))


def test_hidden_faults_of_an_exam_still_take_effect() -> None:
    _, broken = play_both_drills()
    broken.apply_line("open-firewall SERVER_W 5022")
    assert not any(fault.reverted_tick is None for fault in broken.world.faults)
