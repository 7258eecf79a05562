"""Locks of whole lines, verbs and links from either end, and inputs that cannot be locked."""

from __future__ import annotations

import pytest

from engine.drill.authoring.problems import ScenarioError
from engine.drill.running import modes
from engine.inputs import InputError
from engine.verbs.input_lines import parse_input_line
from tests.engine.drill.texts import advance_drill, build_drill, change_small_text
from tests.engine.worlds import build_lab


@pytest.mark.parametrize(
    ("lock", "line", "is_covered"),
    [
        ("power-on server_a", "power-on SERVER_A", True),
        ("power-on SERVER_A", "power-on SERVER_B", False),
        ("workload", "workload Sales none scale=0.5", True),
        ("workload Sales", "workload Sales none", True),
        ("workload Sales Workload1", "workload Sales none", False),
        ("degrade SERVER_A SERVER_B", "degrade SERVER_B SERVER_A rtt_ms=1", True),
        ("degrade SERVER_A SERVER_B", "degrade SERVER_A SERVER_W rtt_ms=1", False),
        ("degrade", "degrade SERVER_A SERVER_W rtt_ms=1", True),
        ("mend SERVER_A SERVER_B", "cut SERVER_A SERVER_B", False),
        ("copy-file SERVER_A SERVER_B", "copy-file SERVER_A SERVER_B D:\\x.bak", True),
        ("sql SERVER_A", "sql SERVER_A SELECT 1", True),
    ],
)
def test_a_lock_refuses_matching_inputs(lock: str, line: str, is_covered: bool) -> None:
    assert modes.is_input_blocked(modes.parse_lock(lock, build_lab()), parse_input_line(line)) is is_covered


@pytest.mark.parametrize("lock", ["swich-on SERVER_A", "power-on SERVER_Z", "cut SERVER_A", "finish now"])
def test_invalid_locks_are_reported(lock: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        change_small_text(("[[client]]", f'[[locked]]\ndo = "{lock}"\nwhy = "no"\n\n[[client]]'))
    (problem,) = caught.value.problems
    assert problem.where.startswith("locked")


def test_the_reason_of_a_lock_is_shown() -> None:
    drill_run = advance_drill(
        build_drill(("[[client]]", '[[locked]]\ndo = "workload"\nwhy = "they have to work"\n\n[[client]]')), 5
    )
    with pytest.raises(InputError, match="they have to work"):
        drill_run.apply_line("workload Sales none")
