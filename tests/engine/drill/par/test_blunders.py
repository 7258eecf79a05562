"""Which of the acts on offer are blunders: those that no known way mends."""

from __future__ import annotations

import pytest

from engine.drill.authoring.schema import Scenario
from engine.drill.par.blunders import Blunders, choices
from engine.drill.par.search import Search
from engine.inputs import Input
from engine.stepwise import at_once
from tests.engine.drill import texts

SET = "sql SERVER_B ALTER DATABASE Sales SET "


@pytest.fixture(scope="module")
def small() -> Scenario:
    return texts.small(('length = "5min"', 'length = "3min"'))


def measured(scenario: Scenario, *lines: str) -> Blunders:
    search = Search(scenario, scenario.seed, offered=lines).run(2)
    assert search.best is not None
    assert search.best.score == 100.0
    blunders = search.blunders()
    at_once(blunders.steps())
    return blunders


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        (SET + "PARTNER OFF", True),  # it has a price
        (SET + "PARTNER SUSPEND", False),  # RESUME mends it in time, though the plan as it was does not
    ],
)
def test_what_can_be_mended_is_no_blunder(small: Scenario, line: str, wrong: bool) -> None:
    found = measured(small, line)
    assert found.tried > 0
    assert (found.share or 0.0) > 0.0 if wrong else found.share == 0.0


def test_a_look_or_a_note_is_no_choice(small: Scenario) -> None:
    found = measured(small, "sql SERVER_B SELECT 1", "note so far")
    assert (found.tried, found.share) == (0, None)


def test_a_plan_is_as_long_as_the_acts_in_it(small: Scenario) -> None:
    search = Search(small, small.seed).run(
        3, [(Input(100, "note", ("x",)), Input(3_000, "power-on", ("SERVER_A",)))]
    )
    assert [choices(plan) for plan in search.plans if len(plan.acts) == 2] == [1]
