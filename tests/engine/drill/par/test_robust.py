"""Robustness of plans: lucky plans are distinguished from plans that work with every seed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pytest

from app.files.par_certificates import SEED_DIFFERENCE_MAX, list_certificate_warnings
from engine.constants import TICKS_PER_S
from engine.drill.authoring.schema import Scenario
from engine.drill.par.certificate import OTHER_SEED_COUNT, CertificateBuilder
from engine.drill.par.certificate_types import ParCertificate
from engine.drill.par.multi_seed import build_reactions, play_reactions, select_archived_plans
from engine.drill.par.observability import find_premature_inputs, is_observable
from engine.drill.par.search import ParSearch
from engine.drill.par.search_drill import SearchDrill
from engine.drill.par.trials import PlayedPlan
from engine.inputs import Input
from engine.model import Tick, to_ticks
from engine.verbs.input_lines import parse_script
from tests.assertions import require
from tests.engine.drill import texts
from tests.par_runs import run_search

SOLUTION = texts.COURSE_TEXT[texts.COURSE_TEXT.index("[[solution]]") : texts.COURSE_TEXT.index("[[rubric]]")]
FORCE_SERVICE = "sql SERVER_B ALTER DATABASE Sales SET PARTNER FORCE_SERVICE_ALLOW_DATA_LOSS"

RANDOM_RETURN_CHANGES = (
    ('\nwitness = "SERVER_W"', ""),
    ('at = "20s"\ndo = "power-off SERVER_A"', '''at = "20s"
do = "stop-service SERVER_A"

[[timeline]]
between = ["25s", "250s"]
do = "start-service SERVER_A"'''),
    ('when = "Sales serves on SERVER_B"\n\n', 'when = "Sales serves"\n\n'),
    ('when = "Sales is SYNCHRONIZED and Sales on SERVER_A is MIRROR"', 'when = "Sales serves"'),
    (SOLUTION, ""),
    ('target = "10s"\nlimit = "60s"', 'target = "10s"\nlimit = "150s"'),
    ("points = 40", "points = 10"), ('name = "Downtime"\npoints = 30', 'name = "Downtime"\npoints = 60'),
    ("price = 20", "price = 30"), ('ran "SET PARTNER OFF"', 'ran "FORCE_SERVICE_ALLOW_DATA_LOSS"'),
)  # fmt: skip
"""Text replacements: the service of the principal stops and returns after a random time.

Forcing service at the mirror costs points.
"""


def build_certificate(search: ParSearch, node_limit: int) -> ParCertificate:
    work = CertificateBuilder(search.scenario, search.seed)
    work.fair = run_search(search, node_limit)
    work.end_search()
    for _ in work.clairvoyant.run_steps(narrower_search=search):
        if work.clairvoyant.has_played_initial_plans:
            break
    return work.build_certificate()


def test_a_plan_found_by_luck_scores_less_over_several_seeds() -> None:
    certificate = build_certificate(
        ParSearch(texts.change_small_text(*RANDOM_RETURN_CHANGES), 23, offered_lines=(FORCE_SERVICE,)), 12
    )
    robust = require(certificate["robust"])
    assert certificate["par"]["plan"] == [], "it comes back soon with this seed"
    assert [line.partition(" ")[2] for line in robust["plan"]] == [FORCE_SERVICE]
    assert robust["seeds"] == OTHER_SEED_COUNT
    assert robust["least"] == robust["mean"] == robust["most"] < certificate["par"]["score"]
    assert certificate["luck"]["least"] < robust["least"]


def test_actions_of_a_plan_follow_their_symptom_with_every_seed() -> None:
    drill = texts.change_small_text(('at = "20s"\ndo', 'between = ["10s", "150s"]\ndo'))
    certificate = build_certificate(ParSearch(drill, 1, offered_lines=()), 2)
    assert require(certificate["robust"])["plan"] == certificate["par"]["plan"]
    assert require(certificate["robust"])["least"] > certificate["par"]["score"] - 1.0


def test_check_reports_a_best_plan_found_by_luck() -> None:
    certificate = build_certificate(
        ParSearch(texts.change_small_text(*RANDOM_RETURN_CHANGES), 23, offered_lines=()), 2
    )
    assert require(certificate["robust"])["least"] < certificate["par"]["score"] - SEED_DIFFERENCE_MAX
    assert any(
        "with another seed" in problem.text
        for problem in list_certificate_warnings(certificate, "small.toml")
    )
    require(certificate["robust"])["least"] = certificate["par"]["score"]
    assert not any(
        "with another seed" in problem.text
        for problem in list_certificate_warnings(certificate, "small.toml")
    )


RANDOM_FAULT_CHANGE = ('at = "20s"\ndo', 'between = ["20s", "60s"]\ndo')
"""Text replacement: the power of the principal fails at a random time."""

GOAL = '[[goal]]\nname = "served"'

LOCK_CHANGE = (
    GOAL,
    f"""[[locked]]
do = "power-on SERVER_A"
until = "30s"
why = "There is no fuse."

{GOAL}""",
)

QUESTION_CHANGES = (
    (GOAL, f'''[[question]]
name = "why"
text = "Why?"
when = "Sales serves on SERVER_B"
premise = "time_s() < 50"
choices = ["No.", "Yes."]
right = [2]
why = "So."

{GOAL}'''),
    ("points = 40", "points = 30"),
    ('[[rubric]]\nkind = "downtime"', '''[[rubric]]
kind = "diagnosis"
name = "Why"
points = 10
better = "Yes."

[[rubric]]
kind = "downtime"'''),
)  # fmt: skip
"""Additional question that is asked only in the first fifty seconds."""


def play_as_reactions(scenario: Scenario, script: str, seed: int) -> SearchDrill:
    """Play *script*, a plan for the scenario's own seed, as reactions to symptoms in a run with *seed*."""
    items, _ = parse_script(script)
    run = SearchDrill(scenario, seed)
    play_reactions(run, build_reactions(scenario, scenario.seed, items))
    return run


def find_failure_s(scenario: Scenario, seed: int) -> float:
    """Return the time of the first event of the timeline."""
    run = SearchDrill(scenario, seed)
    run.advance_to(to_ticks(100.0))
    return run.story_ticks[0] / TICKS_PER_S


def find_seeds(scenario: Scenario, min_s: float, max_s: float) -> Iterator[int]:
    """Yield seeds with which the power fails between *min_s* and *max_s*."""
    return (seed for seed in count() if min_s <= find_failure_s(scenario, seed) <= max_s)


@pytest.mark.parametrize(
    "changes", [(), (RANDOM_FAULT_CHANGE,), (LOCK_CHANGE,), (RANDOM_FAULT_CHANGE, *QUESTION_CHANGES)], ids=str
)
def test_with_its_own_seed_a_plan_is_played_unchanged(changes: tuple[tuple[str, str], ...]) -> None:
    search = run_search(ParSearch(texts.change_small_text(*changes), 3), 8)
    for plan in search.plans:
        run = SearchDrill(search.scenario, 3)
        assert play_reactions(run, build_reactions(search.scenario, 3, plan.actions)) == plan.score
        assert [item.line for item in run.journal] == plan.lines


def test_an_action_waits_for_the_events_before_it_in_the_plan() -> None:
    """The delay between the failure and the failover differs for each seed."""
    drill = texts.change_small_text(RANDOM_FAULT_CHANGE)
    own_search = SearchDrill(drill)
    own_search.advance_to(to_ticks(100.0))
    failover_s = max(event.tick for event in own_search.events if event.kind == "failover") / TICKS_PER_S
    delays = set()
    for seed in range(4, 10):
        run = play_as_reactions(drill, f"{failover_s + 0.5} power-on SERVER_A", seed)
        (act,) = run.journal
        assert act.tick - to_ticks(0.5) == max(e.tick for e in run.events if e.kind == "failover")
        delays.add(act.tick - run.story_ticks[-1])
    assert len(delays) > 1


def test_a_locked_action_is_retried_until_it_is_allowed() -> None:
    drill = texts.change_small_text(RANDOM_FAULT_CHANGE, LOCK_CHANGE)
    late_variant, early_variant = next(find_seeds(drill, 50.0, 60.0)), next(find_seeds(drill, 20.0, 21.0))
    plan = f"{find_failure_s(drill, late_variant) + 8.0} power-on SERVER_A"
    run = play_as_reactions(drill.model_copy(update={"seed": late_variant}), plan, early_variant)
    assert [item.line for item in run.journal] == ["30 power-on SERVER_A"]


def test_an_action_behind_a_lock_keeps_its_planned_delay() -> None:
    drill = texts.change_small_text(RANDOM_FAULT_CHANGE, LOCK_CHANGE)
    early_seeds = [seed for seed, _ in zip(find_seeds(drill, 20.0, 24.0), range(4), strict=False)]
    for other_seed in early_seeds[1:]:
        run = play_as_reactions(
            drill.model_copy(update={"seed": early_seeds[0]}), "33 power-on SERVER_A", other_seed
        )
        assert [item.line for item in run.journal] == ["33 power-on SERVER_A"]


def test_an_unasked_question_delays_nothing() -> None:
    drill = texts.change_small_text(RANDOM_FAULT_CHANGE, *QUESTION_CHANGES)
    early_variant, late_variant = next(find_seeds(drill, 20.0, 25.0)), next(find_seeds(drill, 55.0, 60.0))
    drill, plan = drill.model_copy(update={"seed": early_variant}), "48 answer why 2\n70 power-on SERVER_A"
    assert [item.verb for item in play_as_reactions(drill, plan, early_variant).journal] == [
        "answer",
        "power-on",
    ]
    assert [item.verb for item in play_as_reactions(drill, plan, late_variant).journal] == ["power-on"]


def test_an_action_refused_in_the_plan_does_not_wait() -> None:
    plan = "5 sql SERVER_B ALTER DATABASE Sales SET PARTNER FAILOVER"
    assert [item.line for item in play_as_reactions(texts.change_small_text(), plan, 9).journal] == [plan]


def test_no_reaction_precedes_its_symptom() -> None:
    drill = texts.change_small_text(RANDOM_FAULT_CHANGE)
    own_search = SearchDrill(drill)
    own_search.advance_to(to_ticks(100.0))
    for seed in range(4, 10):
        run = play_as_reactions(
            drill, f"{find_first_symptom(own_search) / TICKS_PER_S} power-on SERVER_A", seed
        )
        assert [item.tick for item in run.journal] == [find_first_symptom(run)]
        assert not find_premature_inputs(
            run.scenario,
            run.story_ticks,
            run.events,
            play_as_reactions(drill, "62 power-on SERVER_A", seed).journal,
        )


def find_first_symptom(run: SearchDrill) -> Tick:
    return min(
        event.tick for event in run.events if event.tick > run.story_ticks[-1] and is_observable(event)
    )


def test_the_middle_plan_of_each_kind_is_tried_too() -> None:
    def build_plan(second: int, server: str, score: float) -> PlayedPlan:
        return PlayedPlan(
            (Input(to_ticks(second), "power-on", (server,)),), score, True, True, timeline_counts=(1,)
        )

    plans = [build_plan(second, "A", 100.0) for second in (9, 5, 7, 8, 6)]
    other_plan = build_plan(5, "B", 40.0)
    archive = select_archived_plans([*plans, other_plan, build_plan(1, "A", 50.0)])
    assert [(plan_kept.actions[0].tick, plan_kept.score) for plan_kept in archive] == [
        (to_ticks(5), 100.0), (to_ticks(5), 40.0), (to_ticks(7), 100.0),
    ]  # fmt: skip
