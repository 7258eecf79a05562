"""Ways to go on: those that leave the same wait are played once, and none is cut that could be worth more."""

from __future__ import annotations

import random
from contextlib import suppress

import pytest

from engine.drill.authoring.scenario import Scenario
from engine.drill.judging.agents import acts
from engine.drill.par import ways
from engine.drill.par.lean import Lean
from engine.drill.running.drill import Drill
from engine.drill.running.solution import default_end, played
from engine.drill.time.slices import Slices
from engine.inputs import Input, InputProblem
from engine.model import ticks
from engine.stepwise import at_once
from tests.engine.drill import texts


@pytest.fixture(scope="module")
def small() -> Scenario:
    return texts.small()


def at(scenario: Scenario, t_s: float) -> Lean:
    run = Lean(scenario)
    run.advance_to(ticks(t_s))
    return run


def test_what_is_lost_stays_lost(small: Scenario) -> None:
    lines, last = acts(small), []
    for player in range(3):
        run, chance, most = Lean(small), random.Random(player), list[float]()
        while not run.finished:
            most.append(run.ceiling())
            with suppress(InputProblem):
                run.do(chance.choice(lines))
            run.advance_to(run.tick + ticks(25.0))
        assert most == sorted(most, reverse=True)
        assert run.total() <= most[-1]
        last.append(most[-1])
    assert min(last) < 70.0 < 100.0 == most[0]


def test_a_way_that_leaves_a_wait_later_is_played_once(
    small: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    still, ends = ways.Still(at(small, 1.0)), list[int]()
    late = next(play for play in ways.plays(at(small, 1.0), ()) if play.delay)
    ended = ways.ended

    def counted(run: Lean, done: int = 0, less: float = -1.0) -> Slices[ways.Way | ways.Cut]:
        ends.append(1)
        return ended(run, done, less)

    monkeypatch.setattr(ways, "ended", counted)
    from_here, from_there = (at_once(still.way(at(small, t_s), late)) for t_s in (1.0, 15.0))
    assert isinstance(from_here, ways.Way)
    assert from_here == from_there
    assert from_here.reached
    assert len(ends) == 1


def test_a_way_is_cut_where_it_is_worth_too_little(small: Scenario) -> None:
    run = at(small, 1.0)
    run.do("power-off SERVER_B")
    still = ways.Still(run)
    cut = at_once(still.way(run, ways.nothing(), less=90.0))
    assert isinstance(cut, ways.Cut)
    assert cut.most < 90.0
    whole = at_once(still.way(run, ways.nothing(), less=1.0))
    assert isinstance(whole, ways.Way), "it is asked for more closely now"
    assert whole.score <= cut.most


def test_what_follows_an_act_in_vain_keeps_its_time() -> None:
    look = '[[solution]]\ndo = "50 sql SERVER_B SELECT 1"\nwhy = "See."\n\n[[solution]]\ndo = "+5 power-on SERVER_A"\n'
    scenario = texts.small(
        ('[[solution]]\nwhen = "Sales serves on SERVER_B"\ndo = "+5 power-on SERVER_A"\n', look)
    )
    run = Lean(scenario)
    found = at_once(ways.best(ways.Still(run), run, ways.plays(run, ())))
    assert found.score == played(scenario).score().total > 90.0
    assert [(item.verb, item.tick) for item in found.acts] == [
        ("sql", ticks(50.0)),
        ("power-on", ticks(55.0)),
    ]


def test_an_act_in_vain_of_a_plan_is_left_out(small: Scenario) -> None:
    plan = [Input(ticks(40.0), "plug-cable", ("SERVER_A",)), Input(ticks(50.0), "power-on", ("SERVER_A",))]
    run = at(small, 45.0)
    way = at_once(ways.Still(run).way(run, ways.of_plan(plan)))
    assert isinstance(way, ways.Way)
    assert [(item.verb, item.tick) for item in way.acts] == [("power-on", ticks(55.0))]
    again = Drill(small)
    again.advance_to(ticks(55.0))
    again.do("power-on SERVER_A")
    again.advance_to(default_end(again))
    assert way.score == again.score().total


def test_service_from_a_copy_that_waits_for_backups_is_a_way(small: Scenario) -> None:
    run = at(small, 5.0)
    assert ways.recoveries(run.world) == []
    run.do("sql SERVER_A ALTER DATABASE Sales SET PARTNER OFF")
    run.advance_to(ticks(8.0))
    assert ways.recoveries(run.world) == ["sql SERVER_B RESTORE DATABASE [Sales] WITH RECOVERY"]


def test_all_that_can_be_mended_is_a_beginning(small: Scenario) -> None:
    run = at(small, 25.0)
    run.do("pull-cable SERVER_W")
    run.advance_to(ticks(40.0))
    assert [item.words for item in ways.mending(run)] == ["plug-cable SERVER_W", "power-on SERVER_A"]
    assert {item.tick for item in ways.mending(run)} == {run.tick}
