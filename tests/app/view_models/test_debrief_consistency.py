"""Tests that every statement on the first debrief screen agrees with score, events and world, by a second
computation.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest

from app.files import par_certificates
from app.view_models.debrief.model import SummaryModel, summarize_run
from app.view_models.debrief.verdict import VerdictModel, judge_run
from app.view_models.run_timeline import find_protection
from app.words import formatting
from engine.constants import TICKS_PER_S
from engine.drill.authoring.scenario import Scenario, load_scenario
from engine.drill.judging.automatic_players import build_random_player, play_worst
from engine.drill.judging.replay_timeline import DOWN, UNPROTECTED, StateSpan, list_markers
from engine.drill.judging.review import Review, review_run
from engine.drill.par.lessons import (
    EQUAL_SCORE_TOLERANCE,
    attribute_loss_to_command,
    convert_reference_steps,
    find_lessons,
    is_action,
    use_reference_times,
)
from engine.drill.par.regret import analyze_regret
from engine.drill.par.regret_analysis import WAITING, RegretAnalysis, RunSegment
from engine.drill.par.search_drill import SearchDrill
from engine.drill.running.drill import Drill
from engine.drill.running.solution import find_default_end, play_idle, play_reference
from engine.drill.time.cooperative_tasks import play_in_slices
from engine.generators import run_to_completion
from engine.model import World
from engine.protocol import availability
from tests.cases import sample_cases
from tests.engine.availability.worlds import SCENARIOS
from tests.events import read_field

SCENARIO_NAMES = sorted(file.stem for file in SCENARIOS.glob("*.toml"))
PLAYERS = {
    "reference": play_reference,
    "idle": play_idle,
    "random": lambda scenario: build_random_player(1)(scenario, scenario.seed),
    "worst": lambda scenario: play_worst(scenario, scenario.seed),
}
RUNS = [(name, player) for name in SCENARIO_NAMES for player in PLAYERS if player != "worst"]
ANALYZED_RUNS = [run for run in RUNS if run[0] != "hundred-databases"]


@cache
def load_scenario_of(name: str) -> Scenario:
    return load_scenario((SCENARIOS / f"{name}.toml").read_text(encoding="utf-8"), f"{name}.toml")


def play_drill(name: str, player: str) -> Drill:
    return PLAYERS[player](load_scenario_of(name))


# --- second computation of each figure --------------------------------------------------------------------


def replay_intervals(drill: Drill) -> Iterator[tuple[int, World, int]]:
    """Replay *drill*. For each interval without events, yield its first tick, the world, and its last tick."""
    second_drill = Drill(drill.scenario, drill.seed, drill.mode)
    inputs = list(drill.journal)
    grid = range(0, drill.tick, TICKS_PER_S)
    ticks = sorted(
        {*grid, drill.tick, *(event.tick for event in drill.events), *(item.tick for item in inputs)}
    )
    for tick, end in zip(ticks, [*ticks[1:], drill.tick], strict=True):
        second_drill.advance_to(tick)
        while inputs and inputs[0].tick <= tick and not second_drill.finished:
            second_drill.apply_line(inputs.pop(0).line_without_time)
        yield tick, second_drill.world, end


def sum_seconds(drill: Drill) -> dict[str, float]:
    """Return downtime, client downtime and exposure in seconds, summed over all databases from the states of
    the world.
    """
    writers = {
        name: [
            client.name
            for client in drill.scenario.clients
            if name in client.databases and not client.read_only
        ]
        for database in drill.scenario.databases
        for name in database.names
    }
    down = clients = exposed = 0
    before = dict.fromkeys(drill.world.availability, (0, True, False))
    for start, world, end in replay_intervals(drill):
        for name, current in world.availability.items():
            start_tick, served, was_exposed = before[name]
            changed = max(start_tick, min(start, current.since_tick))
            down += (changed - start_tick) * (not served) + (start - changed) * (not current.serving)
            exposed += (changed - start_tick) * was_exposed + (start - changed) * current.exposed
            before[name] = (start, current.serving, current.exposed)
            if writers.get(name):
                serving = [copy.server for copy in availability.list_serving_copies(world, name)]
                joined = all(world.clients[client].connected_to in serving for client in writers[name])
                clients += 0 if current.serving and joined else end - start
    return {
        "downtime_s": down / TICKS_PER_S,
        "clients_s": clients / TICKS_PER_S,
        "exposed_s": exposed / TICKS_PER_S,
    }


def find_figure(summary: SummaryModel, key: str) -> str | None:
    return next((row.value for row in summary.figures if row.key == key), None)


@pytest.mark.parametrize(("name", "player"), sample_cases(23, RUNS))
def test_the_figures_match_the_world(name: str, player: str) -> None:
    drill = play_drill(name, player)
    report, scenario = drill.build_report(), drill.scenario
    summary = summarize_run(report, scenario)
    seconds = sum_seconds(drill)

    score = drill.compute_score()
    assert summary.score == (score.total if score.scored else None)
    if score.scored:
        met_all = all(drill.goals[goal.name].is_reached for goal in scenario.goals)
        assert summary.grade is not None
        assert (summary.grade.color_name == "bad") == (
            not met_all or score.total < 60.0 or not score.finished
        )
        assert summary.passed_well <= met_all, "no run that misses a goal has passed well"

    serving = all(availability.serving for availability in drill.world.availability.values())
    suffix = "" if serving else "over "
    assert find_figure(summary, "downtime_s") == suffix + formatting.format_seconds(seconds["downtime_s"])
    shown_figure = find_figure(summary, "clients_s")
    if shown_figure is not None:
        assert report["clients"]["downtime_s"] == pytest.approx(
            seconds["clients_s"], abs=0.05 + 0.001 * seconds["clients_s"]
        )
        for database, row in report["clients"]["databases"].items():
            assert row["downtime_s"] >= report["availability"]["databases"][database]["downtime_s"] - 0.01
        assert shown_figure.removeprefix("over ") == formatting.format_seconds(
            report["clients"]["downtime_s"]
        )

    lost_total = sum(
        read_field(event, "lost_transactions") or 0 for event in drill.events if event.kind == "availability"
    )
    assert find_figure(summary, "lost_transactions") == formatting.format_number(lost_total)
    if (exposed := find_figure(summary, "exposed_s")) is not None:
        assert exposed == formatting.format_seconds(seconds["exposed_s"], 1)

    reached_goals = [event for event in drill.goals.values() if event.is_reached]
    if scenario.goals:
        assert find_figure(summary, "goals") == f"{len(reached_goals)} of {len(scenario.goals)}"


# --- lanes, report and event log ------------------------------------------------------------------------------


def sum_spans(spans: tuple[StateSpan, ...], state: str) -> float:
    return sum(span.ticks for span in spans if span.what == state) / TICKS_PER_S


def sum_downtime_events(drill: Drill, database: str, was_serving: bool) -> float:
    """Return the downtime of *database* in seconds, computed only from the availability events."""
    expected_changes = [
        (event.tick, read_field(event, "serving"))
        for event in drill.events
        if event.kind == "availability" and event.database == database
    ]
    changes = [
        (0, was_serving),
        *((tick, serving) for tick, serving in expected_changes if serving is not None),
    ]
    ends = [*(tick for tick, _ in changes[1:]), drill.tick]
    down = sum(end - tick for (tick, serving), end in zip(changes, ends, strict=True) if not serving)
    return down / TICKS_PER_S


@pytest.mark.parametrize(
    ("name", "player"), sample_cases(41, [*RUNS, *((name, "worst") for name in SCENARIO_NAMES)])
)
def test_lanes_report_and_event_log_agree(name: str, player: str) -> None:
    """The cases are mirroring sessions, availability groups with asynchronous replicas, and failover cluster
    instances.
    """
    drill = play_drill(name, player)
    report = drill.build_report()
    for database, lanes in review_run(drill).lanes.items():
        row = report["availability"]["databases"][database]
        assert sum_spans(lanes.service, DOWN) == pytest.approx(row["downtime_s"], abs=0.011)
        assert sum_spans(lanes.protection, UNPROTECTED) == pytest.approx(row["exposed_s"], abs=0.011)
        was_serving = lanes.service[0].what != DOWN
        assert sum_downtime_events(drill, database, was_serving) == pytest.approx(
            row["downtime_s"], abs=0.011
        )
    steps = sorted(
        (event.database, event.tick / TICKS_PER_S)
        for event in drill.events
        if event.kind == "failover" and read_field(event, "step") == "online"
    )
    assert steps == sorted((item["database"], item["online_t_s"]) for item in report["failovers"])
    for failover in report["failovers"]:
        times = [failover.get(key) for key in ("failed_t_s", "detected_t_s", "decided_t_s", "online_t_s")]
        known_times = [time for time in times if time is not None]
        assert known_times == sorted(known_times)
    failed_batches = [
        row for row in report["sql"] if any(message["severity"] > 10 for message in row["messages"])
    ]
    refusals = [marker for marker in list_markers(drill.events) if marker.kind == "refusal"]
    assert len(refusals) == len(failed_batches), "a refused batch has its marker on the timeline"


MIRRORING_WORDS = ("mirror", "principal", "witness", "safety", "table 6")


@pytest.mark.parametrize("name", sample_cases(3, SCENARIO_NAMES))
def test_a_drill_shows_only_terms_of_its_technology(name: str) -> None:
    """A drill with only failover cluster instances or availability groups has no synchronized mirror."""
    scenario = load_scenario_of(name)
    drill = Drill(scenario)
    words = " ".join(row.label.lower() for row in summarize_run(drill.build_report(), scenario).figures)
    if not scenario.sessions and (scenario.instances or scenario.groups):
        assert not [word for word in MIRRORING_WORDS if word in words]
    if find_protection(scenario) == "fci":
        assert "unprotected" not in words
        assert "standby node" in words


# --- the mistake --------------------------------------------------------------------------------------------


def analyze_run(drill: Drill) -> tuple[Review, RegretAnalysis, tuple[RunSegment, ...]]:
    findings = review_run(drill)
    account = run_to_completion(analyze_regret(drill, par_certificates.load_certified_plans(drill)))
    lessons = tuple(
        run_to_completion(
            attribute_loss_to_command(SearchDrill(drill.scenario, drill.seed), lesson, account, drill.journal)
        )
        for lesson in find_lessons(account)
    )
    if findings.reference is not None:
        reference = convert_reference_steps([(step.tick, step.line) for step in findings.reference.steps])
        lessons = tuple(
            run_to_completion(use_reference_times(SearchDrill(drill.scenario, drill.seed), lesson, reference))
            for lesson in lessons
        )
    return findings, account, lessons


def replay_better_plan(drill: Drill, lesson: RunSegment) -> Drill:
    """Replay the run up to the mistake, then apply the better continuation."""
    run = Drill(drill.scenario, drill.seed)
    run_to_completion(
        play_in_slices(run, lesson.plan, find_default_end(run, max(item.tick for item in lesson.plan)))
    )
    return run


@pytest.mark.parametrize(
    ("name", "player"),
    [
        *sample_cases(37, (run for run in ANALYZED_RUNS if run[1] != "random")),
        *(
            pytest.param(*run, marks=pytest.mark.slow) for run in ANALYZED_RUNS if run[1] == "random"
        ),  # Each case takes up to 29 s.
    ],
)
def test_the_verdict_matches_the_run(name: str, player: str) -> None:
    drill = play_drill(name, player)
    report = drill.build_report()
    findings, account, lessons = analyze_run(drill)
    verdict = judge_run(report, findings, account, lessons)
    assert verdict is not None
    check_outages(drill, findings)
    if not drill.compute_score().scored:
        assert verdict.lesson is None
        assert verdict.retry_point is None
        return
    if verdict.lesson is None:
        assert not lessons
        best = max(before for _, before in account.curve)
        assert (verdict.card_heading == "No mistakes") == (
            max(best, drill.compute_score().total) - drill.compute_score().total < EQUAL_SCORE_TOLERANCE
        )
        return
    check_lesson(drill, verdict, account)


def check_lesson(drill: Drill, verdict: VerdictModel, account: RegretAnalysis) -> None:
    lesson, retry = verdict.lesson, verdict.retry_point
    assert lesson is not None
    assert retry is not None
    assert lesson.regret == max(lesson.regret for lesson in verdict.lessons)
    assert drill.compute_score().total <= lesson.after + EQUAL_SCORE_TOLERANCE, (
        "points that are out of reach were not scored"
    )
    if lesson.line == WAITING:
        inner_inputs = [item for item in drill.journal if lesson.tick < item.tick < lesson.until]
        assert not [item for item in inner_inputs if is_action(item.line_without_time)], (
            "no actions in between"
        )
        assert retry.begin_tick <= lesson.tick + 1
    else:
        assert any(
            (item.tick, item.line_without_time) == (lesson.tick, lesson.line) for item in drill.journal
        )
        assert retry.begin_tick < lesson.tick or lesson.tick == 0, "the retry comes before the mistake"
    if lesson.plan:
        assert (
            replay_better_plan(drill, lesson).compute_score().total >= lesson.before - EQUAL_SCORE_TOLERANCE
        ), "the steps are worth what is claimed"
    if "out of reach" in verdict.sentence:
        assert account.last_chance is not None
        assert account.last_chance.missed_goals[0][0] in verdict.sentence
        missed = {goal.text for goal in drill.scenario.goals if not drill.goals[goal.name].is_reached}
        assert missed, "a run that met all goals lost none"


def check_outages(drill: Drill, review: Review) -> None:
    """Assert that the sentences about failovers match the failovers of the world exactly."""
    for outage in review.outages:
        completed_failovers = [
            failover
            for failover in drill.world.failovers
            if failover.database == outage.database and failover.online_tick is not None
            and failover.failed_tick <= outage.span.to_tick and failover.online_tick >= outage.span.from_tick
        ]  # fmt: skip
        assert bool(completed_failovers) == (outage.summary != "No failover."), outage.summary


def test_the_exposure_of_the_lanes_matches_the_account() -> None:
    drill = play_drill("automatic-failover", "idle")
    spans = [
        span
        for lane in review_run(drill).lanes.values()
        for span in lane.protection
        if span.what == UNPROTECTED
    ]
    assert (
        sum(span.ticks for span in spans) / TICKS_PER_S == drill.build_report()["availability"]["exposed_s"]
    )
