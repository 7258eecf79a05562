"""Plans of the certificates: played again they come to what was certified, and a fair one acts on what was seen."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import resources

import pytest

from app.files import certificates, scenario_files
from app.files.proof import Certificate
from engine.drill.authoring.facts import in_story
from engine.drill.authoring.scenario import Scenario, varied
from engine.drill.authoring.schema.story import Inject
from engine.drill.judging.counterfactual import looks
from engine.drill.par.lean import Lean
from engine.drill.par.sight import MONITOR_S
from engine.drill.team.rights import EVERY_ROLE
from engine.inputs import Input
from engine.model import Tick, ticks
from engine.verbs import VERBS
from engine.verbs.lines import parse_script
from tests import par_proofs

NAMES = sorted(file.name.removesuffix(".json") for file in (resources.files("assets") / "par").iterdir())
FEW = ("automatic-failover", "isolated-principal", "random-trouble-medium", "wrong-port")

WINDOWS = frozenset(
    "errorlog detected failover state role witness trace client alert question cluster powershell".split()
)
"""Kinds of events that the DBA's own windows show: the log, the Database Mirroring Monitor, Object Explorer, Profiler,
alerts, the clients, Failover Cluster Manager and the prompt."""

SAID = ("load", "chore", "repair")
"""Groups of acts that are announced where they come at a fixed time."""


def every_drill() -> list[object]:
    return [name if name in FEW else pytest.param(name, marks=pytest.mark.slow) for name in NAMES]


def proved(name: str) -> tuple[Scenario, Certificate]:
    scenario = scenario_files.find(name).load()
    found = certificates.kept(scenario)
    if found is None:
        pytest.skip("the drill was changed since")
    return scenario, found


@pytest.mark.parametrize("name", every_drill())
def test_plans_play_to_their_totals(name: str) -> None:
    _, found = proved(name)
    again = par_proofs.came_to(name)
    assert again is not None
    assert {plan: points for plan, (points, _) in again.items()} == {
        plan: found[plan]["score"] for plan in par_proofs.PLANS
    }


@pytest.mark.slow  # a change of behaviour changes hashes: `make hashes`
@pytest.mark.parametrize("name", NAMES)
def test_plans_play_to_their_hashes(name: str) -> None:
    _, found = proved(name)
    again = par_proofs.came_to(name)
    assert again is not None
    assert {plan: state for plan, (_, state) in again.items()} == {
        plan: found["hashes"][plan] for plan in par_proofs.PLANS
    }


class Story(Lean):
    """A run that notes when each part of its timeline comes, and in which some of them do not."""

    def __init__(self, scenario: Scenario, seed: int, without: frozenset[int] = frozenset()) -> None:
        self.came: dict[int, Tick] = {}
        self._without = without
        super().__init__(scenario, seed)

    def _queue(self, number: int, inject: Inject, tick: Tick) -> None:
        self.came[number] = tick
        if number not in self._without:
            super()._queue(number, inject, tick)


@pytest.mark.parametrize("name", every_drill())
def test_no_act_of_a_fair_plan_precedes_what_could_be_seen(name: str) -> None:
    """Up to each act, what the seat saw differs from what it would have seen without the last thing that was hidden.

    What changes nothing of it can be read in the Database Mirroring Monitor after MONITOR_S.
    """
    scenario, found = proved(name)
    scenario = varied(scenario, found["seed"])
    hidden = frozenset(number for number, inject in enumerate(scenario.timeline) if is_hidden(inject))
    if scenario.early or not hidden:
        pytest.skip("what is to be done is told at the start")
    plan, _ = parse_script("\n".join(found["par"]["plan"]))
    run = played(scenario, found["seed"], plan)
    for item in plan:
        if item.verb in EVERY_ROLE or looks(item):
            continue
        past = {number: run.came[number] for number in hidden if run.came.get(number, item.tick) < item.tick}
        assert past, f"{item.line}: nothing has happened"
        last = max(past.values())
        if item.tick >= last + ticks(MONITOR_S):
            continue
        without = frozenset(number for number, tick in past.items() if tick == last)
        other = played(scenario, found["seed"], plan, without)
        assert list(shown(run, item.tick)) != list(shown(other, item.tick)), f"{item.line}: nothing was seen"


def is_hidden(inject: Inject) -> bool:
    if inject.at is None:
        return True
    word = next(each for each in inject.do.split() if not each.startswith("@"))
    verb = VERBS.get(word)
    return verb is None or (verb.group not in SAID and verb.name not in EVERY_ROLE)


def played(scenario: Scenario, seed: int, plan: list[Input], without: frozenset[int] = frozenset()) -> Story:
    run = Story(scenario, seed, without)
    for item in plan:
        run.advance_to(item.tick)
        try:
            run.do(item.words)
        except ValueError:
            break  # it makes no sense where nothing has happened
    return run


def shown(run: Lean, tick: Tick) -> Iterator[tuple[object, ...]]:
    for event in run.events:
        own = event.kind == "sql_done" and not in_story(str(event.get("window", "")))
        if event.tick < tick and (own or event.kind in WINDOWS):
            yield event.tick, event.kind, event.server, event.database, event.text
