"""Tests that the plans of certificates replay to their certified totals, and that fair plans use only visible
facts.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from importlib import resources

import pytest

from app.files import par_certificates, scenario_files
from engine.drill.authoring.condition_context import is_timeline_window
from engine.drill.authoring.scenario import Scenario, select_variant
from engine.drill.authoring.schema.tasks import Inject
from engine.drill.judging.counterfactual import is_inspection
from engine.drill.par.certificate_types import ParCertificate
from engine.drill.par.observability import MONITOR_INTERVAL_S
from engine.drill.par.search_drill import SearchDrill
from engine.drill.team.rights import COMMON_VERBS
from engine.inputs import Input, InputError
from engine.model import Tick, to_ticks
from engine.verbs import VERBS
from engine.verbs.input_lines import parse_script
from tests import par_proofs
from tests.events import read_field

DRILL_NAMES = sorted(
    file.name.removesuffix(".json") for file in (resources.files("assets") / "par").iterdir()
)
QUICK_SAMPLE = ("automatic-failover", "isolated-principal", "random-trouble-medium", "wrong-port")

VISIBLE_EVENT_KINDS = (
    "errorlog", "detected", "failover", "state", "role", "witness", "trace", "client", "alert", "question", "cluster",
    "powershell",
)  # fmt: skip
"""Kinds of events that the tools of a DBA show.

The tools are error log, monitor, Object Explorer, Profiler, alerts, clients, Failover Cluster Manager,
prompt.
"""

ANNOUNCED_GROUPS = ("load", "chore", "repair")
"""Verb groups of timeline entries that the scenario announces if their time is fixed."""


def list_drills() -> list[object]:
    return [
        name if name in QUICK_SAMPLE else pytest.param(name, marks=pytest.mark.slow) for name in DRILL_NAMES
    ]


def load_certified_drill(name: str) -> tuple[Scenario, ParCertificate]:
    scenario = scenario_files.find_scenario_file(name).load()
    certificate = par_certificates.load_certificate(scenario)
    if certificate is None:
        pytest.skip("the drill was changed since")
    return scenario, certificate


@pytest.mark.parametrize("name", list_drills())
def test_plans_play_to_their_totals(name: str) -> None:
    _, certificate = load_certified_drill(name)
    replayed = par_proofs.replay_plans(name)
    assert replayed is not None
    assert {plan: points for plan, (points, _) in replayed.items()} == {
        plan: certificate[plan]["score"] for plan in par_proofs.PLAN_KINDS
    }


@pytest.mark.slow  # A change of behavior changes the hashes; `make hashes` renews them.
@pytest.mark.parametrize("name", DRILL_NAMES)
def test_plans_play_to_their_hashes(name: str) -> None:
    _, certificate = load_certified_drill(name)
    replayed = par_proofs.replay_plans(name)
    assert replayed is not None
    assert {plan: state for plan, (_, state) in replayed.items()} == {
        plan: certificate["hashes"][plan] for plan in par_proofs.PLAN_KINDS
    }


class TimelineRecordingDrill(SearchDrill):
    """Run that records the ticks of its timeline entries. It can omit some entries."""

    def __init__(self, scenario: Scenario, seed: int, omitted_numbers: frozenset[int] = frozenset()) -> None:
        self.came: dict[int, Tick] = {}
        self._without = omitted_numbers
        super().__init__(scenario, seed)

    def _queue_inject(self, number: int, inject: Inject, tick: Tick) -> None:
        self.came[number] = tick
        if number not in self._without:
            super()._queue_inject(number, inject, tick)


@pytest.mark.parametrize("name", list_drills())
def test_no_action_of_a_fair_plan_precedes_its_symptom(name: str) -> None:
    scenario, certificate = load_certified_drill(name)
    scenario = select_variant(scenario, certificate["seed"])
    hidden = frozenset(number for number, inject in enumerate(scenario.timeline) if is_hidden(inject))
    if scenario.early or not hidden:
        pytest.skip("what is to be done is told at the start")
    plan, _ = parse_script("\n".join(certificate["par"]["plan"]))
    run = play_plan(scenario, certificate["seed"], plan)
    for item in plan:
        if not (item.verb in COMMON_VERBS or is_inspection(item)):
            early_answers = {n: tick for n in hidden if (tick := run.came.get(n, item.tick)) < item.tick}
            assert has_symptom_before(run, plan, item, early_answers), item.line


def has_symptom_before(
    run: TimelineRecordingDrill, plan: list[Input], action: Input, past_events: dict[int, Tick]
) -> bool:
    """Return whether the seat saw an effect of the last hidden event of *past_events* before *action*.

    *past_events* maps the number of a timeline entry to its tick. If the action is also possible without the
    last event, an effect of an earlier hidden event counts. MONITOR_INTERVAL_S after an event its effect counts as
    visible, because the Database Mirroring Monitor shows changes without events.
    """
    omitted_numbers: frozenset[int] = frozenset()
    while left := {number: tick for number, tick in past_events.items() if number not in omitted_numbers}:
        last = max(left.values())
        if action.tick >= last + to_ticks(MONITOR_INTERVAL_S):
            return True
        omitted_numbers |= {number for number, tick in left.items() if tick == last}
        other_run = play_plan(run.scenario, run.seed, plan, omitted_numbers)
        if list(list_visible_events(run, action.tick)) != list(list_visible_events(other_run, action.tick)):
            return True
        if action not in other_run.journal:
            return False
    return False


def is_hidden(inject: Inject) -> bool:
    if inject.at is None:
        return True
    word = next(token for token in inject.do.split() if not token.startswith("@"))
    verb = VERBS.get(word)
    return verb is None or (verb.group not in ANNOUNCED_GROUPS and verb.name not in COMMON_VERBS)


def play_plan(
    scenario: Scenario, seed: int, plan: list[Input], omitted_numbers: frozenset[int] = frozenset()
) -> TimelineRecordingDrill:
    """Play *plan* without the timeline entries in *omitted_numbers*, up to the first action that is refused."""
    run = TimelineRecordingDrill(scenario, seed, omitted_numbers)
    with suppress(InputError):
        for item in plan:
            run.advance_to(item.tick)
            run.apply_line(item.line_without_time)
    return run


def list_visible_events(run: SearchDrill, tick: Tick) -> Iterator[tuple[object, ...]]:
    for event in run.events:
        is_players = event.kind == "sql_done" and not is_timeline_window(str(read_field(event, "window")))
        if event.tick < tick and (is_players or event.kind in VISIBLE_EVENT_KINDS):
            yield event.tick, event.kind, event.server, event.database, event.text
