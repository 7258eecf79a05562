"""Blunders among the offered actions: no known continuation repairs them."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from engine.drill.authoring.schema import Scenario
from engine.drill.par.search import BlunderTest, ParSearch
from engine.generators import run_to_completion
from engine.inputs import Input
from tests.engine.drill import texts
from tests.engine.drill.par.diagnosis import format_diagnosis
from tests.par_runs import run_search

SET = "sql SERVER_B ALTER DATABASE Sales SET "


@pytest.fixture(scope="module")
def small() -> Scenario:
    return texts.change_small_text(('length = "5min"', 'length = "3min"'))


def measure_blunders(scenario: Scenario, *lines: str, known_plan: Sequence[Input] = ()) -> BlunderTest:
    search = run_search(ParSearch(scenario, scenario.seed, offered_lines=lines), 3, [known_plan])
    assert search.best is not None
    assert search.best.score == 100.0
    blunders = search.build_blunder_test()
    run_to_completion(blunders.run_steps())
    return blunders


@pytest.mark.parametrize(
    ("line", "is_blunder"),
    [
        (SET + "PARTNER OFF", True),  # the action itself costs points
        (SET + "PARTNER SUSPEND", False),  # RESUME repairs it in time, although the unchanged plan does not
    ],
)
def test_a_repairable_mistake_is_no_blunder(small: Scenario, line: str, is_blunder: bool) -> None:
    fields = measure_blunders(small, line).certificate_fields
    assert fields == {"blunder_share": 1.0 if is_blunder else 0.0, "acts_tried": 1, "choices": 1}


def test_a_query_or_note_is_no_choice(small: Scenario) -> None:
    fields = measure_blunders(small, "sql SERVER_B SELECT 1", "note so far").certificate_fields
    assert fields == {"blunder_share": None, "acts_tried": 0, "choices": 1}


ASKED = (
    format_diagnosis('at = "25s"')
    + """do = "26 note looked"
why = "So."

[[solution]]
when"""
)
ANSWER = """why = "So."

[[solution]]
do = "50 answer who 2"
why = "So.\""""


def test_blunders_do_not_depend_on_the_search() -> None:
    """A plan that answers at once never has an open question. The reference plan has an open question."""
    asking_scenario = texts.change_small_text(
        ("\n[[solution]]\nwhen", ASKED),
        ('name = "Downtime"\npoints = 30', 'name = "Downtime"\npoints = 10'),
        ('why = "It joins as the mirror by itself."', ANSWER),
    )
    lines = ("answer who 1", "answer who 2", SET + "PARTNER OFF")
    early_plan = (Input(2_600, "answer", ("who", "2")), Input(4_000, "power-on", ("SERVER_A",)))
    blunders = measure_blunders(asking_scenario, *lines, known_plan=early_plan)
    assert len(blunders.plan.actions) == 3, "the reference, with a note"
    assert blunders.certificate_fields == measure_blunders(asking_scenario, *lines).certificate_fields
    # Before power-on: a wrong answer, OFF, and the right answer. Before the answer: OFF once more.
    assert blunders.certificate_fields == {"blunder_share": 0.75, "acts_tried": 4, "choices": 2}


def test_without_a_reference_the_best_plan_is_followed(small: Scenario) -> None:
    known_plan = (Input(3_000, "power-on", ("SERVER_A",)),)
    search = run_search(ParSearch(small.model_copy(update={"solution": ()}), small.seed), 3, [known_plan])
    assert search.build_blunder_test().plan == search.best
