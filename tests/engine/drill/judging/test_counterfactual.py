"""Effects of single actions, measured by a run without the action, and the start times of retries."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import pytest

from engine.drill.judging import counterfactual
from engine.drill.judging.counterfactual import (
    COUNTERFACTUAL_ACTIONS_MAX,
    ActionImpact,
    is_inspection,
    measure_action_impacts,
)
from engine.drill.judging.review import Review, review_run
from engine.drill.running.drill import Drill
from engine.drill.time.history import History
from engine.generators import run_to_completion
from engine.verbs.input_lines import parse_input_line
from tests.engine.drill.test_course import FORCE_SERVICE, play_with_witness_removed
from tests.engine.drill.texts import advance_drill, build_drill, change_small_text

PARTNER_OFF = "sql SERVER_A ALTER DATABASE Sales SET PARTNER OFF"


def evaluate_actions(drill: Drill, indices: Sequence[int] | None = None) -> tuple[ActionImpact, ...]:
    return run_to_completion(measure_action_impacts(drill, indices))


@cache
def play_sabotage() -> tuple[Drill, Review]:
    sabotaged = play_with_witness_removed()
    return sabotaged, review_run(sabotaged)


def index_outcomes(impact: ActionImpact) -> dict[str, tuple[float, float]]:
    return {row.name: (row.left, row.right) for row in impact.outcomes}


def test_the_most_costly_blunder_comes_first() -> None:
    sabotaged, run_review = play_sabotage()
    first = run_review.mistakes[0]
    assert first.cause_impact is not None
    assert first.cause_impact.what == "ALTER DATABASE Sales SET WITNESS OFF on SERVER_A"
    assert first.cause_impact.points > 30.0
    first_figure, second_figure = index_outcomes(first.cause_impact)["downtime_s"]
    assert second_figure < 10.0 < first_figure, "the mirror takes over by itself, and nobody forces anything"
    assert (
        index_outcomes(first.cause_impact)["score"][1]
        == sabotaged.compute_score().total + first.cause_impact.points
    )


def test_an_outage_names_the_cause_of_the_disabled_failover() -> None:
    """After SET WITNESS OFF, the usual advice to leave the failover to the witness would be wrong."""
    sabotaged = Drill(play_sabotage()[0].scenario)
    advance_drill(sabotaged, 2).apply_line("sql SERVER_A ALTER DATABASE Sales SET WITNESS OFF")
    advance_drill(sabotaged, 900)
    (outage,) = [m for m in review_run(sabotaged).mistakes if m.rule == "Downtime"]
    assert outage.cause.startswith("ALTER DATABASE Sales SET WITNESS OFF on SERVER_A")
    assert outage.better.startswith("keep the witness, safety FULL")
    assert outage.retry_tick == 0


def test_the_counterfactual_score_equals_that_of_the_played_run() -> None:
    """The comparison run omits the action and all inputs that resulted only from the action."""
    (deed,) = evaluate_actions(play_sabotage()[0], [0])
    second_run = Drill(play_sabotage()[0].scenario)
    for at_s, line in ((100.0, "power-on SERVER_A"), (100.0, "answer whose-word 2")):
        advance_drill(second_run, at_s).apply_line(line)
    advance_drill(second_run, 900)
    assert index_outcomes(deed)["downtime_s"][1] == second_run.build_report()["availability"]["downtime_s"]
    assert index_outcomes(deed)["score"][1] == second_run.compute_score().total


def test_the_original_run_is_unchanged() -> None:
    sabotaged, _ = play_sabotage()
    before = (sabotaged.compute_state_hash(), len(sabotaged.journal), sabotaged.compute_score())
    assert evaluate_actions(sabotaged) == evaluate_actions(sabotaged)
    assert (sabotaged.compute_state_hash(), len(sabotaged.journal), sabotaged.compute_score()) == before


def test_a_retry_starts_before_its_cause() -> None:
    sabotaged, run_review = play_sabotage()
    rules_by_action = {
        m.cause_impact.what: m
        for m in run_review.mistakes
        if m.cause_impact is not None and m.rule == "Conduct"
    }
    forced = rules_by_action["ALTER DATABASE Sales SET PARTNER FORCE_SERVICE_ALLOW_DATA_LOSS on SERVER_B"]
    assert forced.tick > 8070 + 300, "it was seen when the role was taken, seconds later"
    place = next(n for n, item in enumerate(sabotaged.journal) if "FORCE" in item.line)
    assert (
        forced.retry_tick
        == counterfactual.find_retry_tick(8070, sabotaged.journal[place], sabotaged.journal[:place])
        < 8070 - 2000
    )
    retried = History(sabotaged).fork(forced.retry_tick, before_inputs=True).drill
    assert not any("FORCE" in item.line for item in retried.journal)
    assert not retried.is_condition_met("Sales on SERVER_B is PRINCIPAL")


def test_lost_transactions_are_attributed_to_their_statement() -> None:
    points_change = ('name = "Downtime"\npoints = 30\n', 'name = "Downtime"\npoints = 20\n')
    rule = (
        '\n[[rubric]]\nkind = "conduct"',
        '\n[[rubric]]\nkind = "lost_transactions"\nname = "Lost"\npoints = 10\nlimit = 1\nbetter = "Wait."\n'
        '\n[[rubric]]\nkind = "conduct"',
    )
    safety_change = ('witness = "SERVER_W"\n', 'safety = "OFF"\n')
    drill_run = advance_drill(build_drill(points_change, rule, safety_change), 10)
    drill_run.apply_line("sql SERVER_A ALTER DATABASE Sales SET PARTNER SUSPEND")
    advance_drill(drill_run, 50).apply_line(FORCE_SERVICE)
    advance_drill(drill_run, 300)
    (loss,) = [m for m in review_run(drill_run).mistakes if m.rule == "Lost"]
    assert (loss.cause_tick, "FORCE_SERVICE" in loss.cause) == (5000, True)
    assert loss.retry_tick == counterfactual.find_retry_tick(5000, drill_run.journal[-1], ()) < 3000
    assert loss.cause_impact is not None
    assert index_outcomes(loss.cause_impact)["lost_transactions"][1] == 0


def test_an_action_without_a_rule_is_listed_as_costly() -> None:
    unpriced = (
        "when = 'ran \"SET PARTNER OFF\"'\nprice = 20",
        "when = 'ran \"SET PARTNER OFF\" on SERVER_W'\nprice = 20",
    )
    drill_run = advance_drill(build_drill(unpriced), 5)
    drill_run.apply_line("stop-service SERVER_B")
    advance_drill(drill_run, 300)
    (first, *_) = review_run(drill_run).mistakes
    assert first.cause_impact is not None
    assert first.cause_impact.what == "SERVER_B ▸ Stop SQL Server"
    assert (first.cause_tick, first.retry_tick) == (500, 0)


def test_consequences_are_removed_with_their_cause() -> None:
    """Without the command that removed the session, the commands that set the session up again have no
    effect.
    """
    drill_run = advance_drill(build_drill(), 5)
    drill_run.apply_line("pull-cable SERVER_W")
    advance_drill(drill_run, 10).apply_line("plug-cable SERVER_W")
    advance_drill(drill_run, 40).apply_line("power-on SERVER_A")
    advance_drill(drill_run, 300)
    (deed,) = evaluate_actions(drill_run, [0])
    assert deed.points == 2.0, "the needless fault is gone, and mending it as well"


def test_the_analysis_is_limited_and_can_be_canceled() -> None:
    drill_run = build_drill()
    for n in range(2 * COUNTERFACTUAL_ACTIONS_MAX):
        advance_drill(drill_run, 2 + n / 2).apply_line(f"workload Sales Workload1 scale={1 + n / 100}")
    advance_drill(drill_run, 300)
    shares = []
    slices = measure_action_impacts(drill_run)
    for share in slices:
        shares.append(share)
        if len(shares) > 5:
            break
    slices.close()
    assert all(0.0 <= share <= 1.0 for share in shares)
    assert len(evaluate_actions(drill_run)) <= COUNTERFACTUAL_ACTIONS_MAX


@pytest.mark.parametrize("line", ["note nothing", "sql SERVER_A SELECT 1"])
def test_actions_without_effect_are_not_tried(line: str) -> None:
    drill_run = advance_drill(build_drill(), 5)
    drill_run.apply_line(line)
    assert evaluate_actions(advance_drill(drill_run, 300)) == ()
    assert change_small_text().solution


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("sql A SELECT name FROM sys.databases", True),
        ("sql A -- who leads?\\nSELECT 1", True),
        ("sql A EXEC xp_readerrorlog", True),
        ("sql A exec sp_readerrorlog 0, 1, N'1480; 1479'", True),
        ("sql A USE msdb; EXEC sp_dbmmonitorhelpalert Meters; EXEC sp_dbmmonitorresults Meters, 0", True),
        ("sql A SELECT 1; ALTER DATABASE [Sales] SET PARTNER OFF", False),
        ("sql A SELECT * INTO t FROM u", False),
        ("sql A SELECT 'ALTER DATABASE' FROM sys.databases; SELECT 2", True),
        ("sql A EXECUTE master.dbo.xp_readerrorlog", True),
        ("sql A EXEC sp_readerrorlog; EXEC sp_cycle_errorlog", False),
        ("sql A EXEC sp_dropserver 'X'", False),
        ("sql A EXEC xp_readerrorlog; ALTER DATABASE [Sales] SET PARTNER OFF", False),
        ("sql A EXEC xp_readerrorlog ALTER DATABASE [Sales] SET PARTNER OFF", False),
        ("sql A EXEC msdb.dbo.sp_start_job N'EXEC xp_readerrorlog'", False),
        ("ps A Get-ClusterNode", True),
        ("ps A Move-ClusterGroup x", False),
        ("power-off A", False),
    ],
)
def test_read_only_statements_change_nothing(line: str, expected: bool) -> None:
    assert is_inspection(parse_input_line(line.replace("\\n", "\n"), 0)) is expected
