"""Tests of the phases of a failover from the events of real runs: ticks, figures and labels."""

from __future__ import annotations

from functools import cache

import pytest

from app.view_models.failover_moment import failover_view
from app.view_models.failover_moment.failover_view import build_failover_view
from app.view_models.failover_moment.missing_failover import explain_failover, find_expected_failover
from app.view_models.failover_moment.phases import PHASES
from app.view_models.failover_moment.replay import FailoverReplay
from app.view_models.failover_moment.stage_facts import capture_facts, shorten_names
from app.view_models.failover_moment.view import build_stage_view
from engine.drill.running.drill import Drill
from engine.drill.time.history import History
from tests.events import read_field
from tests.shipped_scenarios import load_shipped_scenario

RUNS = {
    "mirroring": ("automatic-failover", 0, "", 9_000),
    "ag": ("ag-automatic-failover", 0, "", 9_000),
    "fci": ("fci-lab", 3_000, "power-off NODE_1", 8_000),
}


@cache
def play_failover(technology: str) -> History:
    name, start_s, line, end_s = RUNS[technology]
    history = History(Drill(load_shipped_scenario(name)))
    if line:
        history.advance_to(start_s)
        history.apply_line(line)
    history.advance_to(end_s)
    return history


@pytest.mark.parametrize("technology", RUNS)
def test_phases_run_from_the_failure_to_the_clients(technology: str) -> None:
    drill = play_failover(technology).drill
    moment = build_failover_view(drill, 0)
    (row,) = drill.build_report()["failovers"]
    assert moment.technology == technology == row["technology"]
    assert [phase.kind for phase in moment.phases] == list(PHASES[technology])
    assert moment.phases[0].start_tick == round(100 * row["failed_t_s"])
    for phase, next_phase in zip(moment.phases, moment.phases[1:], strict=False):
        assert phase.end_tick == next_phase.start_tick
    by_name = {phase.kind.end_milestone: phase.end_tick for phase in moment.phases}
    assert by_name["detected"] == round(100 * row["detected_t_s"])
    assert by_name["online"] == round(100 * row["online_t_s"])
    connected_ticks = [
        e.tick for e in drill.events if e.kind == "client" and read_field(e, "what") == "connected"
    ]
    assert (
        moment.end_tick
        == by_name["clients"]
        == next(t for t in connected_ticks if t >= round(100 * row["online_t_s"]))
    )
    assert moment.longest_phase is not None


def test_the_figures_match_the_report() -> None:
    history = play_failover("mirroring")
    replay = FailoverReplay(history, 0)
    (row,) = history.drill.build_report()["failovers"]
    view = replay.build_phase_view(replay.begun_phase_count - 1)
    assert view.has_ended
    assert view.failover_time_text == f"{row['failover_s']:.2f}"
    assert view.duration_gauge is not None
    assert view.duration_gauge[1] == row["published_s"]
    assert view.heading == "Clients are back after 4.35 s"
    assert [(line.name, line.text) for line in view.rows] == [
        ("Database online", "yes, after 3.56 s"),
        ("Clients working", "yes, after 4.35 s"),
        ("Longest phase", "Role change, 2.07 s"),
    ]


@pytest.mark.parametrize(
    ("technology", "votes"), [("mirroring", "2 of 3"), ("ag", "2 of 3"), ("fci", "4 of 5")]
)
def test_votes_are_those_at_the_failure(technology: str, votes: str) -> None:
    """The cluster later gives the vote of the lost node to the witness. The stage must show the votes before
    this change.
    """
    replay = FailoverReplay(play_failover(technology), 0)
    for number in range(replay.begun_phase_count):
        assert replay.build_phase_view(number).votes_text == f"{votes} votes: quorum"


@pytest.mark.parametrize(
    ("names", "labels"),
    [
        ("SERVER_A SERVER_B SERVER_W", "A B W"),
        ("RACE1 RACE2 RACEW", "R1 R2 RW"),
        ("LION TIGER LYNX FSW", "Li T Ly F"),
        ("NODE_1 NODE_2 FSW", "1 2 F"),
    ],
)
def test_each_vote_has_its_own_short_label(names: str, labels: str) -> None:
    assert shorten_names(names.split()) == labels.split()


def test_a_replay_shows_every_phase_and_holds_short_ones() -> None:
    replay = FailoverReplay(play_failover("mirroring"), 0)
    phases_shown = [replay.find_phase(0.05 * step) for step in range(int(replay.length_s / 0.05))]
    assert sorted(set(phases_shown)) == list(range(6))
    assert phases_shown == sorted(phases_shown)
    assert phases_shown.count(1) * 0.05 == pytest.approx(failover_view.SHORT_PHASE_WALL_MS / 1000, abs=0.1)
    assert failover_view.find_replay_tick(replay.failover_view, 1e9)[1] == replay.failover_view.end_tick


@pytest.mark.parametrize("technology", RUNS)
def test_a_failure_predicts_the_failover(technology: str) -> None:
    history = play_failover(technology)
    failover = history.drill.world.failovers[0]
    expected_failover = find_expected_failover(history.seek(failover.failed_tick), failover.database)
    assert expected_failover is not None
    expected, kind = expected_failover
    assert kind == technology
    assert (expected.from_server, expected.to_server) == (failover.from_server, failover.to_server)
    assert expected.failed_tick == failover.failed_tick


def test_a_clustered_instance_shows_no_redo_and_no_published_value() -> None:
    view = FailoverReplay(play_failover("fci"), 0).build_phase_view(3)
    assert view.redo_gauge is None
    assert view.duration_gauge is None
    assert [(name, state) for name, state, _ in view.resources] == [
        ("Cluster Disk 1", "done"), ("SQL IP Address 1", "done"), ("SQL Network Name", "done"),
        ("SQL Server", "waiting"), ("SQL Server Agent", "waiting"),
    ]  # fmt: skip


def test_resources_of_one_phase_show_its_duration_once() -> None:
    """The Agent depends on SQL Server and cannot come online at the same time."""
    replay = FailoverReplay(play_failover("fci"), 0)
    before_start_s = sum(map(failover_view.compute_replay_s, replay.failover_view.phases[:4]))
    starting = [state for _, state, _ in replay.build_view_at(before_start_s + 0.5).resources]
    assert starting == ["done", "done", "done", "running", "waiting"]
    last = replay.build_phase_view(replay.begun_phase_count - 1).resources
    assert [time_taken for _, _, time_taken in last] == ["10.00 s", "", "3.50 s", "4.00 s", ""]


def test_a_node_with_another_instance_is_no_mere_voter() -> None:
    cards = FailoverReplay(play_failover("fci"), 0).build_phase_view(3).facts.cards.values()
    notes = {card.name: card.note for card in cards}
    assert notes["NODE_3"] == "owns SQLFCI2"
    assert notes["NODE_4"] == "votes only"


def test_without_witness_and_full_safety_no_failover_is_predicted() -> None:
    history = History(Drill(load_shipped_scenario("forced-service")))
    history.advance_to(10_000)
    assert find_expected_failover(history.drill, "Sales") is None
    view = explain_failover(history)
    assert view is not None
    assert view.unmet_count == 2
    assert [row.name for row in view.rows if not row.is_met] == ["A witness is configured", "Safety is FULL"]


def test_without_a_session_the_other_server_is_missing() -> None:
    history = History(Drill(load_shipped_scenario("automatic-failover")))
    history.apply_line("sql SERVER_A ALTER DATABASE Sales SET PARTNER OFF")
    history.advance_to(1_000)
    view = explain_failover(history)
    assert view is not None
    assert [(row.name, row.is_met) for row in view.rows] == [("Another server or node can take over", False)]
    assert view.unmet_count == 1


def test_a_healthy_session_could_fail_over() -> None:
    history = History(Drill(load_shipped_scenario("automatic-failover")))
    history.advance_to(1_000)
    view = explain_failover(history)
    assert view is not None
    assert (view.heading, view.unmet_count) == ("Automatic failover is possible", 0)


def test_the_requirements_of_a_clustered_instance_name_the_candidate() -> None:
    history = play_failover("fci")
    view = explain_failover(history)
    assert view is not None
    assert view.unmet_count == 1
    assert view.sentence.startswith("Sales is online.")
    assert view.sentence.endswith(" Candidate: NODE_1.")


def test_the_time_before_a_requested_failover_is_no_detection() -> None:
    drill = Drill(load_shipped_scenario("forced-service"), seed=1)
    drill.advance_to(20_000)
    server, database = next(key for key in drill.world.copies if "B" in key[0])
    drill.apply_line(f"sql {server} ALTER DATABASE {database} SET PARTNER FORCE_SERVICE_ALLOW_DATA_LOSS")
    drill.advance_to(23_000)
    moment = build_failover_view(drill, len(drill.world.failovers) - 1)
    assert moment.failover.kind == "forced"
    assert moment.phases[0].kind.name == "Wait for the command"
    assert moment.longest_phase is None or moment.longest_phase.kind.name != "Wait for the command"
    facts = capture_facts(drill.world, moment.failover, moment.technology)
    view = build_stage_view(moment, facts, moment.failover.detected_tick, 0.0, 0)
    assert view.heading == "Forced failover: SERVER_B takes over without SERVER_A"
    assert "SERVER_A has not sent is lost" in view.sentence


def test_no_log_flows_to_a_stopped_instance() -> None:
    drill = Drill(load_shipped_scenario("lab"), seed=1)
    drill.advance_to(3_000)
    drill.apply_line("stop-service SERVER_A")
    drill.advance_to(6_000)
    moment = build_failover_view(drill, len(drill.world.failovers) - 1)
    facts = capture_facts(drill.world, moment.failover, moment.technology)
    assert {wire.ends: wire.is_interrupted for wire in facts.wires}["from", "to"]
