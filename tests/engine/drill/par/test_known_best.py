"""Drills with a known good plan: the search finds the plan, even if it needs several actions."""

from __future__ import annotations

import pytest

from engine.drill.par.regret import analyze_regret
from engine.drill.par.search import ParSearch
from engine.drill.running.drill import replay
from engine.drill.running.solution import find_default_end
from engine.generators import run_to_completion
from tests import par_drills
from tests.par_runs import run_search

KNOWN_DRILLS = par_drills.build_known_drills()


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[] if name == "primary-lost" else [pytest.mark.slow]) for name in KNOWN_DRILLS],
)
def test_the_search_finds_the_known_best_plan_or_a_better_one(name: str) -> None:
    best, scenario = KNOWN_DRILLS[name]
    offered = tuple(line.partition(" ")[2] for line in best)
    search = run_search(ParSearch(scenario, scenario.seed, offered_lines=offered, actions_max=len(best)), 100)
    assert search.best is not None
    assert search.reference is not None
    drill = replay(scenario, scenario.seed, "practice", best)
    drill.advance_to(find_default_end(drill))
    assert search.best.score >= drill.compute_score().total > search.reference.score + 3.0


@pytest.mark.parametrize(
    ("name", "lines", "after_s", "minimum"),
    [
        ("link-before-principal", ["90 sql A1 ALTER DATABASE Sales SET PARTNER OFF"], 90.0, 50.0),
        ("link-before-principal", ["45 pull-cable W1", "160 mend A1 B1"], 160.0, 13.0),
        (
            "nobody-to-fail-over-to",
            ["60 start-cluster N2", "100 move-role SQLFCI1 N2", "115 pull-cable SQLFCI1"],
            115.0,
            97.0,
        ),
    ],
    ids=[
        "a session removed across a cut link",
        "service that has to be forced",
        "cables of an instance that moves",
    ],
)
def test_an_action_after_several_others_keeps_its_value(
    name: str, lines: list[str], after_s: float, minimum: float
) -> None:
    """No known plan has these actions in sequence: actions on link, session, witness and power, or a cable
    and forced service.
    """
    scenario = KNOWN_DRILLS[name][1]
    drill = replay(scenario, scenario.seed, "practice", lines)
    drill.advance_to(find_default_end(drill))
    account = run_to_completion(analyze_regret(drill, search_low_values=False))
    (move,) = [move for move in account.moves if move.line and move.tick == round(after_s * 100)]
    assert move.after >= minimum
