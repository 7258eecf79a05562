"""Continuations: equal waits are played once, and pruning never discards a better continuation."""

from __future__ import annotations

import random
from contextlib import suppress

import pytest

from engine.drill.authoring.scenario import Scenario
from engine.drill.judging.automatic_players import list_candidate_lines
from engine.drill.par import continuations
from engine.drill.par.search_drill import SearchDrill
from engine.drill.running.drill import Drill
from engine.drill.running.solution import find_default_end, play_reference
from engine.drill.time.cooperative_tasks import CooperativeTask
from engine.generators import run_to_completion
from engine.inputs import Input, InputError
from engine.model import to_ticks
from tests.engine.drill import texts


@pytest.fixture(scope="module")
def small() -> Scenario:
    return texts.change_small_text()


def start_run_at(scenario: Scenario, t_s: float) -> SearchDrill:
    run = SearchDrill(scenario)
    run.advance_to(to_ticks(t_s))
    return run


def test_lost_points_stay_lost(small: Scenario) -> None:
    lines, last = list_candidate_lines(small), []
    for player in range(3):
        run, chance, scores = SearchDrill(small), random.Random(player), list[float]()
        while not run.finished:
            scores.append(run.compute_upper_bound())
            with suppress(InputError):
                run.apply_line(chance.choice(lines))
            run.advance_to(run.tick + to_ticks(25.0))
        assert scores == sorted(scores, reverse=True)
        assert run.compute_total() <= scores[-1]
        last.append(scores[-1])
    assert min(last) < 70.0 < 100.0 == scores[0]


def test_a_continuation_with_a_later_wait_is_played_once(
    small: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    baseline, ends = continuations.BaselineRun(start_run_at(small, 1.0)), list[int]()
    late_continuation = next(
        play for play in continuations.list_continuations(start_run_at(small, 1.0), ()) if play.delay
    )
    finish = continuations.finish_rollout

    def count_rollout(
        run: SearchDrill, done_count: int = 0, score_floor: float = -1.0
    ) -> CooperativeTask[continuations.Rollout | continuations.PrunedRollout]:
        ends.append(1)
        return finish(run, done_count, score_floor)

    monkeypatch.setattr(continuations, "finish_rollout", count_rollout)
    early_value, late_value = (
        run_to_completion(baseline.evaluate_continuation(start_run_at(small, t_s), late_continuation))
        for t_s in (1.0, 15.0)
    )
    assert isinstance(early_value, continuations.Rollout)
    assert early_value == late_value
    assert early_value.has_reached_goals
    assert len(ends) == 1


def test_a_continuation_is_cut_where_its_bound_is_too_low(small: Scenario) -> None:
    run = start_run_at(small, 1.0)
    run.apply_line("power-off SERVER_B")
    baseline = continuations.BaselineRun(run)
    cut = run_to_completion(
        baseline.evaluate_continuation(run, continuations.build_idle_continuation(), score_floor=90.0)
    )
    assert isinstance(cut, continuations.PrunedRollout)
    assert cut.upper_bound < 90.0
    whole_value = run_to_completion(
        baseline.evaluate_continuation(run, continuations.build_idle_continuation(), score_floor=1.0)
    )
    assert isinstance(whole_value, continuations.Rollout), "it is asked for more closely now"
    assert whole_value.score <= cut.upper_bound


def test_actions_after_a_noop_keep_their_time() -> None:
    look = '[[solution]]\ndo = "50 sql SERVER_B SELECT 1"\nwhy = "See."\n\n[[solution]]\ndo = "+5 power-on SERVER_A"\n'
    scenario = texts.change_small_text(
        ('[[solution]]\nwhen = "Sales serves on SERVER_B"\ndo = "+5 power-on SERVER_A"\n', look)
    )
    run = SearchDrill(scenario)
    best_rollout = run_to_completion(
        continuations.find_best_rollout(
            continuations.BaselineRun(run), run, continuations.list_continuations(run, ())
        )
    )
    assert best_rollout.score == play_reference(scenario).compute_score().total > 90.0
    assert [(item.verb, item.tick) for item in best_rollout.actions] == [
        ("sql", to_ticks(50.0)),
        ("power-on", to_ticks(55.0)),
    ]


def test_a_noop_of_a_plan_is_omitted(small: Scenario) -> None:
    plan = [
        Input(to_ticks(40.0), "plug-cable", ("SERVER_A",)),
        Input(to_ticks(50.0), "power-on", ("SERVER_A",)),
    ]
    run = start_run_at(small, 45.0)
    rollout = run_to_completion(
        continuations.BaselineRun(run).evaluate_continuation(run, continuations.build_plan_continuation(plan))
    )
    assert isinstance(rollout, continuations.Rollout)
    assert [(item.verb, item.tick) for item in rollout.actions] == [("power-on", to_ticks(55.0))]
    second_drill = Drill(small)
    second_drill.advance_to(to_ticks(55.0))
    second_drill.apply_line("power-on SERVER_A")
    second_drill.advance_to(find_default_end(second_drill))
    assert rollout.score == second_drill.compute_score().total


def test_recovering_a_restoring_copy_is_a_candidate(small: Scenario) -> None:
    run = start_run_at(small, 5.0)
    assert continuations.list_recovery_statements(run.world) == []
    run.apply_line("sql SERVER_A ALTER DATABASE Sales SET PARTNER OFF")
    run.advance_to(to_ticks(8.0))
    assert continuations.list_recovery_statements(run.world) == [
        "sql SERVER_B RESTORE DATABASE [Sales] WITH RECOVERY"
    ]


def test_every_repairable_fault_is_a_candidate(small: Scenario) -> None:
    run = start_run_at(small, 25.0)
    run.apply_line("pull-cable SERVER_W")
    run.advance_to(to_ticks(40.0))
    assert [item.line_without_time for item in continuations.list_repair_inputs(run)] == [
        "plug-cable SERVER_W",
        "power-on SERVER_A",
    ]
    assert {item.tick for item in continuations.list_repair_inputs(run)} == {run.tick}
