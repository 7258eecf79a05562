"""Review of a run: failovers, reasons, losses, mistakes with retry times, and the reference solution."""

from __future__ import annotations

import json

import pytest

from app.files import scenario_files
from engine.drill.judging import counterfactual, difference
from engine.drill.judging.review import Review, is_same_action, review_run
from engine.drill.running.drill import Drill, DrillMode
from engine.drill.running.solution import play_idle, play_reference, play_solution
from engine.drill.time.history import History
from engine.verbs.input_lines import parse_input_line
from tests.assertions import require
from tests.engine.drill.running.test_questions import build_drill_with_question
from tests.engine.drill.running.test_rewind import rewind_drill
from tests.engine.drill.texts import (
    FREE_PLAY_TEXT,
    advance_drill,
    build_drill,
    change_small_text,
    open_next_hint,
)
from tests.shipped_scenarios import load_shipped_scenario


def play_and_review(name: str, *steps: tuple[float, str]) -> tuple[Drill, Review]:
    drill_run = Drill(scenario_files.find_scenario_file(name).load())
    for at_s, line in steps:
        advance_drill(drill_run, at_s)
        drill_run.apply_line(line)
    drill_run.advance_to(drill_run.end_tick or 0)
    return drill_run, review_run(drill_run)


def test_a_flawless_run_has_no_mistakes() -> None:
    run_review = review_run(play_reference(change_small_text()))
    assert (run_review.total, run_review.mistakes) == (100.0, ())
    assert run_review.planned == ("SERVER_B serves", "SERVER_A is the mirror again")
    assert run_review.ended == "all goals met"
    assert {marker.kind for marker in run_review.happened} >= {
        "fault",
        "detection",
        "transition",
        "repair",
        "goal",
    }
    assert run_review.reference is not None
    assert [step.done_tick for step in run_review.reference.steps] == [
        step.tick for step in run_review.reference.steps
    ]
    assert run_review.reference.besides == ()
    assert run_review.reference.parted is None
    assert all(row.delta == 0.0 for row in run_review.reference.outcomes)


def test_a_failover_is_compared_with_the_published_row() -> None:
    (failover,) = review_run(play_reference(change_small_text())).failovers
    assert (failover.kind, failover.from_server, failover.to_server) == ("automatic", "SERVER_A", "SERVER_B")
    assert [phase.name for phase in failover.phases] == [
        "detection",
        "redo",
        "quorum",
        "role change",
        "undo",
    ]
    assert failover.published_s == 2.6
    assert failover.took_s == pytest.approx(2.6, rel=0.25)
    assert "Table 6" in failover.published_ref
    assert failover.unlike == ""


def test_an_incomparable_failover_is_not_compared() -> None:
    (failover,) = review_run(play_reference(change_small_text(("timeout", "timeout"), text=OTHER))).failovers
    assert failover.published_s is None
    assert "1,000 connections" in failover.unlike


OTHER = (
    change_small_text().text.replace('workload = "Workload1"', 'workload = "Workload1"\nscale = 0.5')
    + "# timeout\n"
)


def test_an_outage_that_ended_on_its_own_is_described() -> None:
    (outage,) = review_run(play_reference(change_small_text())).outages
    assert (outage.server, outage.failed_over, outage.against) == ("SERVER_A", True, ())
    assert outage.verdict == "SERVER_B took over automatically."


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("why-no-failover-safety-off", "safety is FULL"),
        ("why-no-failover-witness", "mirror and witness are connected"),
        (
            "why-no-failover-not-synchronized",
            "the session was SYNCHRONIZED when the mirror lost the principal",
        ),
        ("no-witness", "a witness is configured"),
    ],
)
def test_the_reason_for_no_failover_is_given(name: str, expected: str) -> None:
    run_review = review_run(play_idle(scenario_files.find_scenario_file(name).load()))
    outage = run_review.outages[0]
    assert not outage.failed_over
    assert expected in [guard.name for guard, _ in outage.against]
    assert f"{expected} (n" in outage.verdict
    assert "see sys.database_mirroring" in outage.verdict


def test_only_the_witness_is_named_if_it_is_the_only_cause() -> None:
    run_review = review_run(play_idle(load_shipped_scenario("why-no-failover-witness")))
    assert [guard.name for guard, _ in run_review.outages[0].against] == ["mirror and witness are connected"]


def test_lost_transactions_are_reported() -> None:
    run_review = review_run(play_reference(load_shipped_scenario("forced-service")))
    (loss,) = run_review.lost
    assert (loss.database, loss.server) == ("Sales", "SERVER_B")
    assert loss.transactions > 1000
    (failover,) = run_review.failovers
    assert failover.phases[0].name == "wait for the command"


# --- mistakes -----------------------------------------------------------------------------------------------


def test_each_mistake_has_a_cause_and_a_retry_time() -> None:
    drill_run, run_review = play_and_review(
        "automatic-failover",
        (30, "sql SERVER_B ALTER DATABASE Sales SET PARTNER FAILOVER"),
        (100, "sql SERVER_B ALTER DATABASE Sales SET PARTNER OFF"),
    )
    refused, removed = sorted((m for m in run_review.mistakes if m.rule == "Conduct"), key=lambda m: m.tick)
    assert (refused.tick, refused.size, refused.points) == (3000, "inaccuracy", 3.0)
    assert refused.cause == "ALTER DATABASE Sales SET PARTNER FAILOVER on SERVER_B"
    assert refused.better == "run this command on the principal."
    assert (removed.cause_tick, removed.size) == (10_000, "mistake")
    assert removed.cause.endswith("SET PARTNER OFF on SERVER_B")
    history = History(drill_run)
    before = history.fork(removed.retry_tick, before_inputs=True).drill
    assert before.journal[-1].line.startswith(f"{removed.retry_tick / 100:g} rewind 900")
    assert before.is_condition_met('not ran "SET PARTNER OFF"'), "tried again before the mistake"


def test_a_retry_of_lost_time_starts_before_its_cause() -> None:
    _, run_review = play_and_review("automatic-failover")
    (exposed,) = [m for m in run_review.mistakes if m.rule == "Time unprotected"]
    lanes = run_review.lanes["Sales"]
    began = next(span for span in lanes.protection if span.what == "unprotected").from_tick
    assert exposed.cause == "SERVER_A ▸ Power off"
    cause_tick = require(exposed.cause_tick)
    assert cause_tick < began
    assert exposed.retry_tick == counterfactual.find_retry_tick(cause_tick, None, ()) < cause_tick - 500
    (goal,) = [m for m in run_review.mistakes if m.rule == "End state"]
    assert goal.cause == "Missing action: SERVER_A ▸ Power on"
    step = next(s for s in require(run_review.reference).steps if "power-on" in s.line)
    assert goal.cause_tick == step.tick
    assert (
        goal.retry_tick
        == counterfactual.find_retry_tick(step.tick, parse_input_line(step.line), ())
        < step.tick - 1000
    )


def test_mistakes_add_up_to_the_missing_points() -> None:
    for steps in (
        (),
        ((100, "sql SERVER_B ALTER DATABASE Sales SET PARTNER OFF"),),
        ((300, "power-on SERVER_A"),),
    ):
        drill_run, run_review = play_and_review("automatic-failover", *steps)
        score = drill_run.compute_score()
        missing = sum(item.max - item.points for item in score.items if item.name in ("End state", "Conduct"))
        total = sum(m.points for m in run_review.mistakes if m.rule in ("End state", "Conduct"))
        if score.finished:
            assert total == pytest.approx(missing)
        assert all(m.better and m.what for m in run_review.mistakes)
        assert all(0 <= m.retry_tick <= m.tick <= drill_run.tick for m in run_review.mistakes)


def test_a_wrong_answer_is_a_mistake() -> None:
    drill_run = advance_drill(build_drill_with_question(), 21)
    drill_run.apply_line("answer next 2")
    advance_drill(drill_run, 60)
    drill_run.apply_line("answer cause 2")
    drill_run.apply_line("answer role 2")
    drill_run.apply_line("power-on SERVER_A")
    advance_drill(drill_run, 300)
    (mistake,) = review_run(drill_run).mistakes
    assert (mistake.rule, mistake.points, mistake.tick) == ("Prediction", 10.0, 2100)
    assert "The mirror was in step" in mistake.what


# --- comparison with the reference solution -----------------------------------------------------------------


def test_differences_from_the_reference_are_listed() -> None:
    drill_run = advance_drill(build_drill(), 100)
    drill_run.apply_line("sql SERVER_B select 1 as looked")
    drill_run.apply_line("power-on SERVER_A")
    advance_drill(drill_run, 300)
    reference = review_run(drill_run).reference
    assert reference is not None
    assert [(step.line, step.done_tick) for step in reference.steps] == [("power-on SERVER_A", 10_000)]
    assert [item.line_without_time for item in reference.besides] == ["sql SERVER_B select 1 as looked"]
    assert reference.parted is not None
    assert reference.parted.right is not None
    assert reference.parted.right.text == "power-on SERVER_A"
    outcome = {row.name: row.delta for row in reference.outcomes}
    assert outcome["exposed_s"] < -60.0, "the reference was faster"


@pytest.mark.parametrize(("query", "is_done"), [("SELECT 1", True), ("SELECT a FROM nowhere", False)])
def test_a_query_that_fails_is_no_step_of_the_reference(query: str, is_done: bool) -> None:
    solution = (
        '[[solution]]\ndo = "10 sql SERVER_B SELECT name FROM sys.databases"\nwhy = "look"\n\n[[solution]]'
    )
    drill_run = build_drill(("[[solution]]", solution))
    drill_run.apply_line(f"sql SERVER_B {query}")
    advance_drill(drill_run, 20)
    reference = review_run(drill_run).reference
    assert reference is not None
    (step,) = (step for step in reference.steps if step.why == "look")
    assert (step.done_tick is not None, bool(reference.besides)) == (is_done, not is_done)


def test_the_log_of_a_recovery_contains_no_lost_transactions() -> None:
    drill_run = advance_drill(Drill(load_shipped_scenario("ag-seeding-stuck")), 5)
    drill_run.apply_line("sql SOUTH1 DROP DATABASE Archive")
    advance_drill(drill_run, 8)
    assert ("SOUTH1", "Archive") not in drill_run.world.copies
    assert drill_run.world.availability["Archive"].lost_transactions == 0


def test_an_outage_with_a_possible_failover_has_no_unmet_preconditions() -> None:
    drill_run = Drill(load_shipped_scenario("redo-queue"))
    for at_s, line in (
        (40, "power-off TOWNW"), (60, "power-on TOWNW"), (90, "stop-service TOWN1"), (130, "start-service TOWN1"),
    ):  # fmt: skip
        advance_drill(drill_run, at_s)
        drill_run.apply_line(line)
    advance_drill(drill_run, 150)
    (outage,) = review_run(drill_run).outages
    assert outage.against == ()
    assert str(outage.verdict).endswith("the original server recovered before a failover completed.")


@pytest.mark.parametrize(
    ("first_line", "second_line", "expected"),
    [
        ("power-on A", "power-on A", True),
        ("power-on A", "power-on B", False),
        ("power-on A", "power-off A", False),
        ("sql A SELECT 1", "sql A#2 select * from sys.databases", True),
        ("sql A SELECT 1", "sql B SELECT 1", False),
        ("sql A ALTER DATABASE [Sales] SET PARTNER OFF;", "sql A alter database Sales set partner off", True),
        (
            "sql A ALTER DATABASE Sales SET PARTNER OFF",
            "sql A ALTER DATABASE Sales SET PARTNER RESUME",
            False,
        ),
    ],
)
def test_equal_actions_are_recognized(first_line: str, second_line: str, expected: bool) -> None:
    assert is_same_action(parse_input_line(first_line), parse_input_line(second_line)) is expected


def test_free_play_is_reviewed_without_points() -> None:
    drill_run = advance_drill(build_drill(text=FREE_PLAY_TEXT), 20)
    drill_run.apply_line("power-off SERVER_A")
    advance_drill(drill_run, 60)
    drill_run.end_now()
    run_review = review_run(drill_run)
    assert (run_review.total, run_review.mistakes, run_review.reference) == (None, (), None)
    assert run_review.outages[0].failed_over


def test_the_review_is_plain_data() -> None:
    drill_run = build_drill(mode=DrillMode.GUIDED)
    play_solution(drill_run)
    document = json.loads(json.dumps(review_run(drill_run).as_json()))
    assert document["lanes"]["Sales"]["service"][0]["what"] == "in service"


def test_a_goal_does_not_require_a_query() -> None:
    """The run applies all inputs of the reference solution except its queries, and applies them too late."""
    look = 'do = "25 sql SERVER_B EXEC xp_readerrorlog"\nwhy = "It says who leads."\n\n'
    scenario = change_small_text(("[[solution]]\n", f"[[solution]]\n{look}[[solution]]\n"))
    drill_run = Drill(scenario, scenario.seed)
    drill_run.advance_to(9_000)
    drill_run.apply_line("power-on SERVER_A")
    drill_run.end_now()
    causes = [mistake.cause for mistake in review_run(drill_run).mistakes if mistake.rule == "End state"]
    assert causes
    assert not any("xp_readerrorlog" in cause for cause in causes)


def test_a_manually_started_instance_is_no_automatic_failover() -> None:
    """The role had moved but stayed offline until a person brought it online."""
    run_review = review_run(play_reference(load_shipped_scenario("fci-tempdb-path")))
    assert [outage.summary for outage in run_review.outages] == [
        "NODE_2 took over after a command brought the role online."
    ]
    (failover,) = run_review.failovers
    assert [phase.name for phase in failover.phases] == ["detection", "start and recovery on the new node"]
    assert failover.unlike == "the published table covers database mirroring only"


def test_an_unasked_question_is_no_mistake() -> None:
    drill = Drill(load_shipped_scenario("forced-service"))
    drill.advance_to(8720)
    drill.apply_line("sql SERVER_B ALTER DATABASE Sales SET PARTNER OFF")
    drill.advance_to(12000)
    drill.apply_line("finish")
    run_review = review_run(drill)
    assert any(mistake.rule == "Conduct" for mistake in run_review.mistakes)
    assert not [mistake for mistake in run_review.mistakes if mistake.rule == "Diagnosis"]


def test_a_rewind_is_no_difference_between_runs() -> None:
    """The rewound run repeats its note and its hints, and otherwise equals the other run."""
    plain_run = advance_drill(build_drill(), 60)
    drill_run = advance_drill(build_drill(), 40)
    open_next_hint(drill_run, 2)
    rewound = advance_drill(rewind_drill(advance_drill(drill_run, 50), 30), 60)
    assert difference.find_first_difference(plain_run, rewound) is None
    rewound.apply_line("power-on SERVER_A")
    parted = difference.find_first_difference(advance_drill(plain_run, 70), advance_drill(rewound, 70))
    assert parted is not None
    assert parted.tick == 6000
    assert parted.right is not None
    assert parted.right.text == "power-on SERVER_A"
    assert (
        difference.find_first_difference(advance_drill(build_drill(), 100), advance_drill(build_drill(), 50))
        is None
    ), "equal while both last"
