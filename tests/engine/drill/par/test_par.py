"""Par: results of the search, validity of its plans in the full drill, and fair plans."""

from __future__ import annotations

from contextlib import suppress

import pytest

from engine.constants import TICKS_PER_S
from engine.drill.authoring.scenario import Scenario
from engine.drill.judging.automatic_players import list_candidate_lines
from engine.drill.par.candidate_actions import list_candidates
from engine.drill.par.certificate import CertificateBuilder, read_fair_plans
from engine.drill.par.certificate_types import ParCertificate, PlanScore, WaitingCostFields
from engine.drill.par.cost_of_waiting import WaitingCost
from engine.drill.par.observability import find_premature_inputs, lacks_evidence
from engine.drill.par.search import ParSearch
from engine.drill.par.search_drill import SearchDrill, compute_transposition_key
from engine.drill.running.drill import Drill, play_inputs, replay
from engine.drill.running.solution import find_default_end
from engine.events import ClusterData, Event, FaultData
from engine.generators import run_to_completion
from engine.inputs import Input, InputError
from engine.model import to_ticks
from tests.assertions import require
from tests.engine.drill import texts
from tests.par_runs import run_search
from tests.shipped_scenarios import load_shipped_scenario

NODE_LIMIT = 12


@pytest.fixture(autouse=True)
def _short_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the searches that start late in a run."""
    monkeypatch.setattr("engine.drill.par.cost_of_waiting.LATE_PLANS_MIN", 25)


@pytest.fixture(scope="module")
def small() -> Scenario:
    return texts.change_small_text()


@pytest.fixture(scope="module")
def fair_search(small: Scenario) -> ParSearch:
    return run_search(ParSearch(small, small.seed), NODE_LIMIT)


def test_a_search_drill_has_the_score_of_the_full_drill(small: Scenario) -> None:
    lines = [line for line in list_candidate_lines(small) if not line.startswith(("revert", "hint"))]
    whole_drill, lean = Drill(small), SearchDrill(small)
    for number, line in enumerate(lines[::3]):
        for drill in (whole_drill, lean):
            drill.advance_to(to_ticks(5.0 + 7 * number))
            with suppress(InputError):
                drill.apply_line(line)
            assert drill.compute_total() == drill.compute_score().total
    for drill in (whole_drill, lean):
        drill.advance_to(find_default_end(drill))
        assert drill.compute_total() == drill.compute_score().total
    assert whole_drill.journal == lean.journal
    assert len(whole_drill.journal) > 5
    assert whole_drill.compute_score() == lean.compute_score()
    assert whole_drill.compute_state_hash() == lean.compute_state_hash()


def test_equal_states_are_merged_and_others_are_not(small: Scenario) -> None:
    drill = SearchDrill(small)
    drill.advance_to(to_ticks(30.0))
    twin = drill.fork()
    assert compute_transposition_key(drill) == compute_transposition_key(twin)
    twin.apply_line("power-on SERVER_A")
    assert compute_transposition_key(drill) != compute_transposition_key(twin)


def test_par_is_at_least_the_reference_and_replays(small: Scenario) -> None:
    work = CertificateBuilder(small, small.seed)
    for _ in work.run_steps():
        if max(work.fair.node_count % NODE_LIMIT, work.clairvoyant.node_count) >= NODE_LIMIT - 1:
            work.end_search()
    certificate = work.build_certificate()
    assert certificate["reference"]["fair"]
    assert (
        certificate["clairvoyant"]["score"]
        >= certificate["par"]["score"]
        >= require(certificate["reference"]["score"])
        > 0
    )
    drill = replay(small, small.seed, "practice", certificate["par"]["plan"])
    drill.advance_to(find_default_end(drill, drill.tick))
    assert drill.compute_score().total == certificate["par"]["score"]
    assert 0.0 < require(certificate["safest"])["least"] <= certificate["par"]["score"]
    assert drill.compute_state_hash() == certificate["hashes"]["par"]


def test_a_certificate_lists_traps_and_the_plan_that_tolerates_delay(small: Scenario) -> None:
    off_input = Input(to_ticks(40.0), "sql", ("SERVER_B", "ALTER DATABASE Sales SET PARTNER OFF"))
    late_input = Input(to_ticks(205.0), "power-on", ("SERVER_A",))
    work = CertificateBuilder(small, small.seed)
    work.fair = run_search(ParSearch(small, small.seed, offered_lines=()), 4, [[off_input], [late_input]])
    work.clairvoyant = run_search(ParSearch(small, small.seed, fair=False), 2)
    certificate = work.build_certificate()
    plans = {plan.actions: plan for plan in work.fair.plans}
    assert plans[(late_input,)].score == certificate["par"]["score"], "still in time, but no second to spare"
    assert (
        work._score_delayed(plans[(late_input,)], to_ticks(30.0))
        < require(certificate["safest"])["least"]
        == certificate["par"]["score"]
    )
    assert require(certificate["safest"])["plan"] == certificate["par"]["plan"]
    (trap,) = certificate["traps"]
    assert (trap["text"], trap["best"]) == ("The session was removed.", plans[(off_input,)].score)


def test_no_fair_plan_acts_before_the_first_symptom(small: Scenario, fair_search: ParSearch) -> None:
    assert any(plan.actions for plan in fair_search.plans)
    for plan in fair_search.plans:
        drill = Drill(small)
        play_inputs(drill, plan.actions)
        drill.advance_to(find_default_end(drill))
        first = next(e.tick for e in drill.events if e.kind in ("errorlog", "detected", "client"))
        assert all(item.tick > first or item.verb == "answer" for item in plan.actions)


def test_an_action_between_fault_and_symptom_is_premature(small: Scenario) -> None:
    drill = Drill(small)
    drill.advance_to(to_ticks(20.0))
    item = drill.apply_line("sql SERVER_B ALTER DATABASE Sales SET PARTNER OFF")
    drill.advance_to(to_ticks(40.0))
    assert find_premature_inputs(small, drill.story_ticks, drill.events, drill.journal) == [item]
    assert lacks_evidence(small, [], [], to_ticks(5.0)), "before anything has happened"
    assert not lacks_evidence(small, drill.story_ticks, drill.events, to_ticks(40.0))


LOAD_TEXT = '[[timeline]]\nat = "10s"\ndo = "bulk-load Sales rows=2000 batch_rows=100"\n'
FAULT_TEXT = '[[timeline]]\nat = "20s"\ndo = "power-off SERVER_A"\n'


@pytest.mark.parametrize(
    ("timeline", "begin", "is_blind"),
    [
        (FAULT_TEXT, "", [True, True, True]),
        (LOAD_TEXT, "", [False, False, False]),
        (LOAD_TEXT.replace('at = "10s"', 'between = ["9s", "11s"]'), "", [True, True, True]),
        (LOAD_TEXT + FAULT_TEXT, "", [True, True, True]),
        (LOAD_TEXT + FAULT_TEXT, 'early = "the brief asks for it"\n', [False, False, True]),
        (
            LOAD_TEXT + FAULT_TEXT.replace("20s", "10s"),
            'early = "the brief asks for it"\n',
            [False, True, True],
        ),
    ],
)
def test_facts_of_the_brief_are_known_and_a_fault_is_hidden(
    timeline: str, begin: str, is_blind: list[bool]
) -> None:
    scenario = texts.change_small_text((FAULT_TEXT, timeline), ("seed = 3\n", begin + "seed = 3\n"))
    drill = Drill(scenario)
    drill.advance_to(to_ticks(25.0))
    moments = (to_ticks(5.0), to_ticks(10.5), to_ticks(20.5))
    assert [lacks_evidence(scenario, drill.story_ticks, (), moment) for moment in moments] == is_blind


@pytest.mark.parametrize(
    ("order", "is_blind"),
    [(("fault", "cluster"), False), (("cluster", "fault"), True), (("cluster",), True), (("fault",), True)],
    ids=[
        "symptom in the tick of its fault",
        "earlier event in that tick",
        "batch of the story",
        "no symptom",
    ],
)
def test_what_follows_a_fault_in_its_tick_is_a_symptom(
    small: Scenario, order: tuple[str, ...], is_blind: bool
) -> None:
    data = {"fault": FaultData(verb="power-off", args=["SERVER_A"]), "cluster": ClusterData(what="left")}
    events = [Event(to_ticks(20.0), data[kind], kind) for kind in order]
    assert lacks_evidence(small, [to_ticks(20.0)], events, to_ticks(21.0)) is is_blind


def _build_waiting_cost(search: ParSearch) -> WaitingCost:
    best = search.best
    idle = next(plan for plan in search.plans if not plan.actions)
    assert best is not None
    return WaitingCost(search.scenario, search.seed, [best.actions], best.score, idle.score, best.actions)


def test_the_value_of_waiting_never_rises_and_ends_at_total_loss(fair_search: ParSearch) -> None:
    assert fair_search.best is not None
    work = _build_waiting_cost(fair_search)
    run_to_completion(work.run_steps())
    fields = work.build_certificate_fields()
    best, lost_s = fields["curve"]["best"], require(fields["point_of_no_return_s"])
    assert best == sorted(best, reverse=True)
    assert best[0] == fair_search.best.score
    assert best[-1] == work.idle
    assert lost_s > 20.0, "after the failure it can still be mended"
    for late_s, reaches in ((0.0, True), (2.0, False)):
        run = Drill(fair_search.scenario, fair_search.seed)
        run.advance_to(to_ticks(lost_s + late_s))
        run.apply_line("power-on SERVER_A")
        run.advance_to(find_default_end(run, run.tick))
        assert run.compute_score().finished == reaches


def test_the_last_chance_plan_begins_at_the_point_of_no_return(fair_search: ParSearch) -> None:
    work = _build_waiting_cost(fair_search)
    all_fields: list[WaitingCostFields] = []
    for _ in work.run_steps():  # the search may end after any step
        if not all_fields or all_fields[-1] != work.build_certificate_fields():
            all_fields.append(work.build_certificate_fields())
    assert len(all_fields) > 3
    assert fair_search.best is not None
    assert all_fields[0]["point_of_no_return_s"] == fair_search.best.actions[0].tick / TICKS_PER_S
    lost_s = [require(certificate_fields["point_of_no_return_s"]) for certificate_fields in all_fields]
    assert lost_s == sorted(lost_s)
    for fields in all_fields[:: len(all_fields) - 1]:
        run = replay(fair_search.scenario, fair_search.seed, "practice", require(fields["last_chance"]))
        run.advance_to(find_default_end(run, run.tick))
        assert run.compute_score().finished
        assert run.journal[0].tick == to_ticks(require(fields["point_of_no_return_s"]))


def test_after_the_known_last_chance_another_is_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    """First SERVER_A needs only its service. After it loses power, it needs power-on, which no known plan
    contains.
    """
    stop = '[[timeline]]\nat = "20s"\ndo = "stop-service SERVER_A"\n'
    unplug = '\n[[timeline]]\nwhen = "time_s() > 60 and SERVER_A is STOPPED"\ndo = "power-off SERVER_A"\n'
    scenario = texts.change_small_text((FAULT_TEXT, stop + unplug), ("+5 power-on", "+5 start-service"))
    start = Input(to_ticks(30.0), "start-service", ("SERVER_A",))
    search = run_search(ParSearch(scenario, scenario.seed), 2, [[start]])
    assert search.best is not None
    assert search.best.has_reached_goals
    monkeypatch.setattr("engine.drill.par.cost_of_waiting.LATE_PLANS_MIN", 80)
    work = _build_waiting_cost(search)
    run_to_completion(work.run_steps())
    fields = work.build_certificate_fields()
    no_return_s = require(fields["point_of_no_return_s"])
    assert no_return_s > 100.0
    assert any("power-on SERVER_A" in line for line in require(fields["last_chance"]))
    values_by_time = dict(zip(fields["curve"]["t_s"], fields["curve"]["best"], strict=True))
    reachable = [points for t_s, points in values_by_time.items() if t_s <= no_return_s]
    assert min(reachable) >= 70.0, "it is worth as much until then"


def run_search_without_time(
    scenario: Scenario, previous: ParCertificate | None
) -> tuple[CertificateBuilder, ParCertificate]:
    """Run a search whose time is over at once; return its builder and certificate."""
    work = CertificateBuilder(scenario, scenario.seed, before=previous)
    work.end_search()
    for _ in work.run_steps():
        work.end_search()
    return work, work.build_certificate(lambda _: True)


def test_a_search_continued_from_a_certificate_proves_as_much() -> None:
    """This holds even if the last chance passes just after a hidden event, which makes the plan unfair."""
    hidden = '[[timeline]]\nat = "204.5s"\ndo = "slow-cpu SERVER_W factor=2"\n\n[[goal]]\nname = "served"'
    small = texts.change_small_text(('[[goal]]\nname = "served"', hidden))
    late_input = Input(to_ticks(205.0), "power-on", ("SERVER_A",))
    _, new = run_search_without_time(small, None)
    known_certificate: ParCertificate = {
        "par": {"plan": ["40 power-on SERVER_A"], "score": new["par"]["score"]},
        "shortest": ["40 power-on SERVER_A"],
        "last_chance": [late_input.line],
        "clairvoyant": {"plan": ["15 power-off SERVER_W"], "score": new["clairvoyant"]["score"]},
        "safest": {"plan": ["41 power-on SERVER_A"], "least": 80.0},
        "robust": {"plan": ["42 power-on SERVER_A"], "seeds": 4, "mean": 90.0, "least": 80.0, "most": 100.0},
        "nodes": 5_000, "complete": True, "optimal": True, "acts_tried": 400, "blunder_share": 0.25, "choices": 1,
        "traps": [{"name": new["traps"][0]["name"], "text": "", "best": 80.0}],
    }  # fmt: skip
    work, renewed = run_search_without_time(small, {**new, **known_certificate})
    assert require(new["point_of_no_return_s"]) < 205.0 == renewed["point_of_no_return_s"]
    assert renewed["par"]["score"] == new["par"]["score"]
    assert any(
        plan.actions[0].line_without_time == "power-off SERVER_W"
        for plan in work.clairvoyant.plans
        if plan.actions
    )
    kept_keys = (
        "last_chance",
        "safest",
        "robust",
        "nodes",
        "complete",
        "optimal",
        "acts_tried",
        "blunder_share",
    )
    assert {name: renewed.get(name) for name in kept_keys} == {
        name: known_certificate.get(name) for name in kept_keys
    }
    assert renewed["traps"][0]["best"] == 80.0
    assert new["traps"][0]["best"] is None


def test_proofs_with_other_bounds_do_not_count(small: Scenario) -> None:
    _, new = run_search_without_time(small, None)
    lower: PlanScore = {"score": new["par"]["score"] - 1.0, "plan": []}
    better: ParCertificate = {**new, "par": lower, "complete": True, "nodes": 5_000}
    _, renewed = run_search_without_time(small, better)
    assert not renewed["complete"]
    assert renewed["nodes"] < 5_000
    other_moments: ParCertificate = {**new, "acts_tried": 400, "choices": new["choices"] + 1}
    assert run_search_without_time(small, other_moments)[1]["acts_tried"] == new["acts_tried"]


def test_a_search_from_a_later_start_plans_only_later_actions(small: Scenario) -> None:
    run = SearchDrill(small)
    run.advance_to(to_ticks(30.0))
    run.apply_line("note so far")
    search = run_search(ParSearch(small, small.seed, start=run, offered_lines=("power-on SERVER_A",)), 6)
    assert search.best is not None
    (act,) = search.best.actions
    assert (act.line_without_time, act.tick) == ("power-on SERVER_A", run.tick)
    assert (
        search.best.score
        > run_search(ParSearch(small, small.seed, start=run, offered_lines=()), 1).plans[0].score
    )


def test_statements_about_a_group_are_candidates() -> None:
    drill = SearchDrill(load_shipped_scenario("ag-planned-move"))
    lines = list_candidates(drill, ())
    moves = {line.split()[1] for line in lines if line.endswith("FAILOVER")}
    primary = {server for server, _ in drill.world.replicas} - moves
    assert len(primary) == 1
    assert drill.is_condition_met(f"{drill.world.list_databases()[0]} on {primary.pop()} is PRIMARY")
    assert any("SET HADR SUSPEND" in line for line in lines)
    assert any(line.startswith("move-role ") for line in lines)


def test_a_removed_vote_can_be_restored() -> None:
    drill = SearchDrill(load_shipped_scenario("wsfc-site-votes"))
    assert not any(line.startswith("set-weight") for line in list_candidates(drill, ()))
    drill.apply_line("ps LION (Get-ClusterNode LION).NodeWeight = 0")
    drill.advance_to(to_ticks(5.0))
    assert "set-weight LION 1" in list_candidates(drill, ())


def test_a_certificate_without_safest_plans_has_initial_plans() -> None:
    line = "20 power-on SERVER_A"
    ((item,), (second_item,)) = read_fair_plans({"par": {"plan": [line]}, "shortest": [line]})
    assert item.line == second_item.line == line
