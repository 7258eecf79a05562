"""Actions that the seat undoes later: unnecessary faults cost points, and faults of the solution do not."""

from __future__ import annotations

import pytest

from engine.drill.running.drill import Drill
from tests.engine.drill.texts import build_drill

SUSPEND = "sql SERVER_A ALTER DATABASE Sales SET PARTNER SUSPEND"
RESUME = "sql SERVER_A ALTER DATABASE Sales SET PARTNER RESUME"


def play_lines(*lines: tuple[float, str], changes: tuple[tuple[str, str], ...] = ()) -> Drill:
    """Apply each (second, line), then the action of the reference solution, and play to the end."""
    drill_run = build_drill(*changes)
    for at_s, line in sorted([*lines, (80.0, "power-on SERVER_A")]):
        drill_run.advance_to(round(at_s * 100))
        drill_run.apply_line(line)
    drill_run.advance_to(drill_run.end_tick or 0)
    return drill_run


def sum_unnecessary_points(drill: Drill) -> float:
    return sum(item.points for item in drill.compute_score().items if item.name == "Unnecessary faults")


def test_the_reference_costs_nothing() -> None:
    assert sum_unnecessary_points(play_lines()) == 0.0


@pytest.mark.parametrize(
    ("fault", "repair"),
    [("pull-cable SERVER_W", "plug-cable SERVER_W"), ("cut SERVER_B SERVER_W", "mend SERVER_W SERVER_B")],
)
def test_undone_actions_cost_points(fault: str, repair: str) -> None:
    drill_run = play_lines((2, fault), (3, repair))
    assert sum_unnecessary_points(drill_run) == -2.0
    (item,) = [item for item in drill_run.compute_score().items if item.name == "Unnecessary faults"]
    assert item.at_s == (2.0,)
    assert fault in item.reason
    assert item.losses[0].better


def test_a_restart_of_the_service_is_no_unnecessary_fault() -> None:
    assert sum_unnecessary_points(play_lines((2, "restart-service SERVER_W"))) == 0.0


def test_a_command_and_its_opposite_cost_points() -> None:
    assert sum_unnecessary_points(play_lines((2, SUSPEND), (5, RESUME))) == -2.0
    assert sum_unnecessary_points(play_lines((2, RESUME))) == 0.0, "it was refused or did nothing"


@pytest.mark.parametrize(
    "later_lines", [[(41.0, "plug-cable SERVER_W")], [(110.0, "plug-cable SERVER_W")], []]
)
def test_waiting_before_undoing_saves_nothing(later_lines: list[tuple[float, str]]) -> None:
    assert sum_unnecessary_points(play_lines((40.0, "pull-cable SERVER_W"), *later_lines)) == -2.0


def test_a_command_counts_as_undone_at_any_later_time() -> None:
    changes = (('hold = "3s"', 'hold = "3s"\nafter = "4min"'),)
    late_inputs = [(130.0, SUSPEND.replace("_A", "_B")), (220.0, RESUME.replace("_A", "_B"))]
    assert sum_unnecessary_points(play_lines(*late_inputs, changes=changes)) == -2.0
    assert sum_unnecessary_points(play_lines(*late_inputs[:1], changes=changes)) == 0.0


def test_undone_actions_cost_at_most_ten_points() -> None:
    lines = [(2.0 + n, f"{verb} SERVER_W") for n in range(0, 16, 2) for verb in ("pull-cable",)]
    all_inputs = [
        input_line
        for time_s, line in lines
        for input_line in ((time_s, line), (time_s + 0.5, line.replace("pull", "plug")))
    ]
    assert sum_unnecessary_points(play_lines(*all_inputs)) == -10.0


def test_actions_of_the_reference_are_needed() -> None:
    step = '[[solution]]\ndo = "2 pull-cable SERVER_W"\nwhy = "Part of the way."\n\n[[solution]]\nwhen'
    changes = (("[[solution]]\nwhen", step),)
    assert (
        sum_unnecessary_points(
            play_lines((2, "pull-cable SERVER_W"), (3, "plug-cable SERVER_W"), changes=changes)
        )
        == 0.0
    )


def test_powering_off_a_hung_server_is_a_repair() -> None:
    changes = (('do = "power-off SERVER_A"', 'do = "hang SERVER_A"'),)
    drill_run = build_drill(*changes)
    drill_run.advance_to(2500)
    drill_run.apply_line("power-off SERVER_A")
    drill_run.advance_to(2600)
    drill_run.apply_line("power-on SERVER_A")
    drill_run.advance_to(drill_run.end_tick or 0)
    assert sum_unnecessary_points(drill_run) == 0.0


def test_keeping_a_lost_server_away_has_a_reason() -> None:
    changes = (('do = "power-off SERVER_A"', 'do = "pull-cable SERVER_A"'),)
    drill_run = build_drill(*changes)
    for at_s, line in (
        (50.0, "stop-service SERVER_A"),
        (60.0, "plug-cable SERVER_A"),
        (70.0, "start-service SERVER_A"),
    ):
        drill_run.advance_to(round(at_s * 100))
        drill_run.apply_line(line)
    drill_run.advance_to(drill_run.end_tick or 0)
    assert drill_run.compute_score().finished
    assert sum_unnecessary_points(drill_run) == 0.0


def test_actions_of_the_reference_may_be_done_differently() -> None:
    step = '[[solution]]\ndo = "2 restart-service SERVER_W"\nwhy = "Part of the way."\n\n[[solution]]\nwhen'
    changes = (("[[solution]]\nwhen", step),)
    witness_stop = ((40.0, "stop-service SERVER_W"), (41.0, "start-service SERVER_W"))
    assert sum_unnecessary_points(play_lines(*witness_stop, changes=changes)) == 0.0
    assert sum_unnecessary_points(play_lines(*witness_stop)) == -2.0
