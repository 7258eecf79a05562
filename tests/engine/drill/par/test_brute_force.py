"""Five drills small enough for exhaustive trials: the search finds the same optimum."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set

import pytest

from engine.drill.par.search import ParSearch
from engine.drill.par.search_drill import SearchDrill
from engine.drill.par.trials import DecisionPoint, PlanPlayer, SearchLimits, Trial
from engine.drill.running.solution import find_default_end
from engine.inputs import InputError
from engine.model import Tick
from tests.engine.drill import texts
from tests.engine.drill.par.diagnosis import format_diagnosis

WITNESS = '\nwitness = "SERVER_W"'
POWER_ON = "power-on SERVER_A"
SET_PARTNER_OFF = "sql SERVER_B ALTER DATABASE Sales SET PARTNER OFF"
FORCE_SERVICE = "sql SERVER_B ALTER DATABASE Sales SET PARTNER FORCE_SERVICE_ALLOW_DATA_LOSS"
FAIL_OVER = "sql SERVER_A ALTER DATABASE Sales SET PARTNER FAILOVER"
SUSPEND = "sql SERVER_A ALTER DATABASE Sales SET PARTNER SUSPEND"
RESUME = "sql SERVER_A ALTER DATABASE Sales SET PARTNER RESUME"
PLUG_CABLE = "plug-cable SERVER_A"

FAULT = 'do = "power-off SERVER_A"'
GOAL = 'when = "Sales is SYNCHRONIZED and Sales on SERVER_A is MIRROR"'
STEP = 'when = "Sales serves on SERVER_B"\ndo = "+5 power-on SERVER_A"'

QUESTION = format_diagnosis('at = "0.5s"', 'within = "60s"') + "when"

ANSWER = """why = "So."

[[solution]]
do = "50 answer who 2"
why = "So.\""""

DRILLS = {
    "power": (2, (), (POWER_ON, SET_PARTNER_OFF)),
    "no witness": (
        2,
        ((WITNESS, ""), (FAULT, 'do = "stop-service SERVER_A"'), (GOAL, 'when = "Sales serves on SERVER_B"'),
         (STEP, f'do = "2 {FORCE_SERVICE}"')),
        ("start-service SERVER_A", FORCE_SERVICE),
    ),
    "cable": (
        2,
        ((FAULT, 'do = "pull-cable SERVER_A"'), (STEP, STEP.replace("power-on", "plug-cable"))),
        (PLUG_CABLE, SET_PARTNER_OFF),
    ),
    "suspended": (
        2,
        ((FAULT, f'do = "{SUSPEND}"'), (GOAL, 'when = "Sales is SYNCHRONIZED"'), (STEP, f'do = "4 {RESUME}"'),
         ('when = "Sales serves on SERVER_B"', 'when = "Sales serves"')),
        (RESUME, FAIL_OVER),
    ),
    "question": (
        2,
        (("\n[[solution]]\nwhen", QUESTION), ('name = "Downtime"\npoints = 30', 'name = "Downtime"\npoints = 10'),
         ('why = "It joins as the mirror by itself."', ANSWER)),
        (POWER_ON, "answer who 2"),
    ),
}  # fmt: skip
"""(number of decision points, changes to the small scenario, allowed lines). A plan has at most two actions."""


QUICK_DRILLS = ("cable", "question")


@pytest.mark.parametrize(
    "name", [name if name in QUICK_DRILLS else pytest.param(name, marks=pytest.mark.slow) for name in DRILLS]
)
def test_the_search_equals_exhaustive_trials(name: str) -> None:
    points, changes, lines = DRILLS[name]
    scenario = texts.change_small_text(
        ('at = "20s"', 'at = "0.5s"'), ('length = "5min"', 'length = "2min"'), *changes
    )
    search = ParSearch(
        scenario, scenario.seed, fair=False, actions_max=2, decision_points_max=points, offered_lines=lines
    )
    for _ in search.run_steps():
        pass
    assert search.complete
    assert search.best is not None
    assert search.reference is not None
    moments = sorted({point for plan in search.plans for point in plan.decision_ticks})
    scores = _list_scores(SearchDrill(scenario), moments, lines, 2)
    assert len(scores) > 10
    assert search.best.score >= max(scores)
    assert search.best.score == max(*scores, search.reference.score)
    assert min(scores) < max(scores) - 15.0, "it matters what is done"


def test_trials_in_other_processes_give_the_same_search() -> None:
    """Other processes know different states, so they report every trial, including trials of known states."""
    points, changes, lines = DRILLS["cable"]
    scenario = texts.change_small_text(
        ('at = "20s"', 'at = "0.5s"'), ('length = "5min"', 'length = "2min"'), *changes
    )

    def run_trials_in_copy(
        decisions: Sequence[DecisionPoint], rules: SearchLimits, known_hashes: Set[bytes]
    ) -> Iterator[Iterable[Trial | None]]:
        trials = PlanPlayer(scenario, scenario.seed)
        yield from [list(trials.try_neighbors(decision, rules)) for decision in decisions]

    local_search, spread = (
        ParSearch(
            scenario,
            scenario.seed,
            fair=False,
            actions_max=2,
            decision_points_max=points,
            offered_lines=lines,
            decision_tester=runner,
        )
        for runner in (None, run_trials_in_copy)
    )
    for search in (local_search, spread):
        for _ in search.run_steps():
            pass
    assert local_search.complete
    assert local_search.plans == spread.plans
    assert (local_search.best, local_search.node_count) == (spread.best, spread.node_count)


def _list_scores(
    run: SearchDrill, moments: Sequence[Tick], lines: Sequence[str], actions_left: int
) -> list[float]:
    """Return the totals of all plans with at most *actions_left* further actions."""
    end = run.fork()
    end.advance_to(find_default_end(end, end.tick))
    scores = [end.compute_score().total]
    for moment in moments if actions_left else ():
        if moment < run.tick:
            continue
        run = run.fork()
        run.advance_to(moment)
        for line in lines:
            twin = run.fork()
            try:
                twin.apply_line(line)
            except InputError:
                continue
            scores += _list_scores(twin, moments, lines, actions_left - 1)
    return scores
