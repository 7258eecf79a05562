"""Causes of mistakes: a cost is attributed to the statement that caused it, and the advice fits the facts."""

from __future__ import annotations

import pytest

from engine.drill.judging.mistakes import Mistake
from engine.drill.judging.review import review_run
from engine.drill.running.drill import Drill
from tests.shipped_scenarios import load_shipped_scenario


def play_in_one_instant(*lines: str) -> tuple[Drill, tuple[Mistake, ...]]:
    """Play `automatic-failover` with *lines* at one tick, long after the failure. Return the drill and its
    mistakes.
    """
    drill = Drill(load_shipped_scenario("automatic-failover"))
    drill.advance_to(10_000)
    for line in lines:
        drill.apply_line(line)
    drill.advance_to(drill.end_tick or 60_000)
    return drill, tuple(m for m in review_run(drill).mistakes if m.rule == "Conduct")


SET_PARTNER_OFF = "sql SERVER_B ALTER DATABASE Sales SET PARTNER OFF"
CREATE_TABLE = "sql SERVER_B CREATE TABLE Sales.dbo.T (a int)"


@pytest.mark.parametrize("lines", [(SET_PARTNER_OFF, CREATE_TABLE), (CREATE_TABLE, SET_PARTNER_OFF)])
def test_the_causing_statement_is_quoted(lines: tuple[str, ...]) -> None:
    _, (removed,) = play_in_one_instant(*lines)
    assert "SET PARTNER OFF" in removed.cause


def test_an_omitted_action_is_retried_before_the_harm() -> None:
    drill = Drill(load_shipped_scenario("automatic-failover"))
    drill.advance_to(10_000)
    drill.apply_line(SET_PARTNER_OFF)
    drill.advance_to(drill.end_tick or 60_000)
    mistakes = review_run(drill).mistakes
    assert [m for m in mistakes if m.is_omission]
    assert all(m.retry_tick < 10_000 for m in mistakes)


def test_advice_considers_a_lost_principal() -> None:
    drill = Drill(load_shipped_scenario("forced-service"), 1)
    drill.advance_to(10_500)
    name = drill.scenario.databases[0].name
    drill.apply_line(f"sql SERVER_B ALTER DATABASE {name} SET PARTNER FAILOVER")
    drill.advance_to(drill.end_tick or 60_000)
    refused = [m for m in review_run(drill).mistakes if "FAILOVER" in m.cause and m.rule == "Conduct"]
    assert "the principal, which is lost" in refused[0].better
