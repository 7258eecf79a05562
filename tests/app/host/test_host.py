"""Tests of the host of a run: ticks within a time budget, recorded inputs, searches, and replays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from app.files import scenario_files
from app.host import NullRecorder, RecordingError, RunHost
from app.host.host import FRAME_BUDGET_S
from app.host.inbox import build_sentence
from app.host.playback import ELAPSED_MS_MAX, STATE_EVENT_KINDS
from app.host.recorder import HASH_INTERVAL_MS, HEARTBEAT_INTERVAL_MS
from app.words import language
from engine.drill.authoring.scenario import load_scenario
from engine.drill.authoring.schema import Scenario
from engine.drill.running.drill import Drill, DrillMode, replay
from engine.drill.time.history import History
from engine.inputs import Input
from tests.shipped_scenarios import load_shipped_scenario


@pytest.fixture(scope="module")
def lab() -> Scenario:
    return load_shipped_scenario("lab")


class ListRecorder:
    """Recorder that stores everything in lists and fails on request."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.heartbeats: list[int] = []
        self.checkpoints: list[tuple[int, str]] = []
        self.reports: list[Mapping[str, Any]] = []
        self.broken = False

    def record_input(self, tick: int, line: str) -> None:
        self.raise_if_broken()
        self.lines.append(line)

    def record_position(self, tick: int) -> None:
        self.raise_if_broken()
        self.heartbeats.append(tick)

    def record_hash(self, tick: int, state_hash: str) -> None:
        self.raise_if_broken()
        self.checkpoints.append((tick, state_hash))

    def finish(self, report: Mapping[str, Any]) -> None:
        self.raise_if_broken()
        self.reports.append(report)

    def raise_if_broken(self) -> None:
        if self.broken:
            raise RecordingError("The disk is full.")


class RecordedHost:
    """Host with the lab, a recorder, and a list of all emitted signals."""

    def __init__(
        self, lab: Scenario, clock: Callable[[], float] = lambda: 0.0, mode: DrillMode = DrillMode.LAB
    ) -> None:
        self.record = ListRecorder()
        self.session = RunHost(clock=clock)
        self.said: list[tuple[str, Any]] = []
        for name in ("drill_changed", "world_changed", "events_occurred", "input_refused", "speed_changed",
                     "running_changed", "lag_reported", "progress_changed", "run_finished", "past_time_shown",
                     "run_loaded"):  # fmt: skip
            signal = getattr(self.session, name)
            signal.connect(lambda value=None, name=name: self.said.append((name, value)))
        self.session.open_run(Drill(lab, mode=mode), self.record)

    @property
    def drill(self) -> Drill:
        assert self.session.drill is not None
        return self.session.drill

    def list_values(self, name: str) -> list[Any]:
        return [value for kind, value in self.said if kind == name]

    def run_frames(self, count: int, elapsed_ms: float = 16.0) -> None:
        for _ in range(count):
            self.session.on_frame(elapsed_ms)

    def finish_search(self) -> None:
        """Run frames until the search or replay is over."""
        for _ in range(10_000):
            if not self.session.is_busy:
                return
            self.session.on_frame(16.0)
        raise AssertionError("the search does not end")


@pytest.fixture
def desk(lab: Scenario) -> Iterator[RecordedHost]:
    desk = RecordedHost(lab)
    yield desk
    desk.session.close()


def build_ticking_clock(step_s: float) -> Callable[[], float]:
    """Return a clock that advances *step_s* at each reading."""
    real_time = [0.0]

    def read_clock() -> float:
        real_time[0] += step_s
        return real_time[0]

    return read_clock


# --- time -------------------------------------------------------------------------------------------------------


def test_wall_time_and_speed_determine_ticks(desk: RecordedHost) -> None:
    desk.session.play()
    desk.run_frames(10, 100.0)
    assert desk.drill.tick == 100
    desk.session.set_speed(10.0)
    desk.run_frames(1, 100.0)
    assert desk.drill.tick == 200
    desk.session.set_speed(0.1)
    desk.run_frames(25, 16.0)  # 40 ms of simulated time in fractions of a tick
    assert desk.drill.tick == 204


def test_nothing_moves_during_a_pause(desk: RecordedHost) -> None:
    desk.run_frames(10, 100.0)
    assert desk.drill.tick == 0
    desk.session.toggle_clock()
    desk.run_frames(1, 100.0)
    desk.session.toggle_clock()
    desk.run_frames(10, 100.0)
    assert desk.drill.tick == 10
    assert desk.list_values("running_changed") == [True, False]


def test_step_advances_one_tick(desk: RecordedHost) -> None:
    desk.session.play()
    desk.session.advance_one_tick()
    assert (desk.drill.tick, desk.session.is_running) == (1, False)


@pytest.mark.parametrize(
    ("requested_speed", "expected_speed"), [(0.01, 0.1), (1e6, 1000.0), (0.1, 0.1), (1000.0, 1000.0)]
)
def test_speed_is_limited(desk: RecordedHost, requested_speed: float, expected_speed: float) -> None:
    desk.session.set_speed(requested_speed)
    assert desk.session.speed == expected_speed


def test_a_laptop_that_wakes_up_does_not_skip_ahead(desk: RecordedHost) -> None:
    desk.session.play()
    desk.run_frames(1, 3_600_000.0)
    assert desk.drill.tick == ELAPSED_MS_MAX / 10.0


def test_a_frame_drops_excess_time_and_reports_it(lab: Scenario) -> None:
    # Two readings of the clock use up the budget.
    desk = RecordedHost(lab, clock=build_ticking_clock(FRAME_BUDGET_S * 0.6))
    desk.session.set_speed(1000.0)
    desk.session.play()
    desk.run_frames(1, 100.0)
    assert 0 < desk.drill.tick < 10_000
    slow = desk.list_values("lag_reported")
    assert slow == [desk.drill.tick / 100 / 0.1]
    first = desk.drill.tick
    desk.session.set_speed(1.0)
    desk.run_frames(1, 100.0)
    assert desk.drill.tick == first + 10  # The host does not catch up on dropped ticks.
    assert desk.list_values("lag_reported")[-1] == 0.0
    desk.session.close()


def test_frame_lengths_do_not_change_the_run(desk: RecordedHost, lab: Scenario) -> None:
    desk.session.play()
    desk.session.set_speed(3.7)
    desk.run_frames(40, 17.0)
    desk.session.apply_input("power-off SERVER_A")
    desk.run_frames(100, 23.0)
    desk.session.set_speed(50.0)
    desk.run_frames(100, 5.0)
    replayed = replay(lab, lab.seed, DrillMode.LAB, desk.record.lines, desk.drill.tick)
    assert replayed.compute_state_hash() == desk.drill.compute_state_hash()
    assert [event.text for event in replayed.events] == [event.text for event in desk.drill.events]


# --- inputs -----------------------------------------------------------------------------------------------------


def test_an_input_is_recorded_before_its_events_are_shown(desk: RecordedHost) -> None:
    line_lists: list[list[str]] = []
    desk.session.events_occurred.connect(lambda _: line_lists.append(list(desk.record.lines)))
    desk.session.play()
    desk.run_frames(1, 100.0)
    assert desk.session.apply_input("power-off server_a")
    assert desk.record.lines == ["0.1 power-off SERVER_A"]
    assert line_lists[-1] == desk.record.lines
    assert any(event.kind == "service" for events in desk.list_values("events_occurred") for event in events)


def test_a_refused_line_returns_a_message_and_changes_nothing(desk: RecordedHost) -> None:
    before = desk.drill.compute_state_hash()
    assert not desk.session.apply_input("power-off SERVER_Q")
    (sentence,) = desk.list_values("input_refused")
    assert "SERVER_Q" in sentence
    assert sentence[0].isupper()
    assert sentence.endswith((".", "?"))
    assert (desk.record.lines, desk.drill.compute_state_hash()) == ([], before)


def test_an_unrecorded_input_is_undone(desk: RecordedHost) -> None:
    desk.session.play()
    desk.run_frames(10, 100.0)
    desk.session.apply_input("note first")
    before = desk.drill.compute_state_hash()
    desk.record.broken = True
    assert not desk.session.apply_input("power-off SERVER_A")
    assert desk.list_values("input_refused") == ["The disk is full."]
    assert desk.drill.world.computers["SERVER_A"].powered
    assert desk.drill.compute_state_hash() == before
    assert [item.line for item in desk.drill.journal] == ["1 note first"]
    assert desk.list_values("drill_changed")[-1] is desk.drill
    assert not desk.session.is_running
    desk.record.broken = False
    # The same input succeeds when the disk has free space.
    assert desk.session.apply_input("power-off SERVER_A")


def test_heartbeats_and_checkpoints_follow_wall_time(desk: RecordedHost) -> None:
    desk.session.play()
    desk.run_frames(round(HASH_INTERVAL_MS / 100.0) + 1, 100.0)
    assert len(desk.record.heartbeats) == pytest.approx(HASH_INTERVAL_MS / HEARTBEAT_INTERVAL_MS, abs=2)
    (tick, state_hash) = desk.record.checkpoints[0]
    replayed = replay(desk.drill.scenario, desk.drill.seed, DrillMode.LAB, [], tick)
    assert replayed.compute_state_hash() == state_hash


def test_a_pause_is_recorded_at_its_tick(desk: RecordedHost) -> None:
    desk.session.play()
    desk.run_frames(3, 70.0)
    desk.session.pause()
    assert desk.record.heartbeats == [desk.drill.tick]


def test_a_full_disk_pauses_the_run(desk: RecordedHost) -> None:
    desk.record.broken = True
    desk.session.play()
    desk.run_frames(10, 100.0)
    assert not desk.session.is_running
    assert desk.list_values("input_refused") == ["The disk is full."]


def test_the_end_is_recorded_and_reported_once(desk: RecordedHost) -> None:
    desk.session.play()
    desk.run_frames(1, 100.0)
    desk.session.apply_input("finish")
    (report,) = desk.list_values("run_finished")
    assert desk.record.reports == [report]
    assert report["ended_by"] == "asked"
    assert not desk.session.is_running
    desk.session.play()
    assert not desk.session.is_running
    assert not desk.session.apply_input("power-off SERVER_A")


# --- searches ---------------------------------------------------------------------------------------------------


def test_a_search_stops_exactly_at_the_next_state_change(desk: RecordedHost, lab: Scenario) -> None:
    reference = Drill(lab, mode=DrillMode.LAB)
    reference.apply_line("power-off SERVER_A")
    count_before = len(reference.events)
    while not any(event.kind in STATE_EVENT_KINDS for event in reference.events[count_before:]):
        reference.advance_to(reference.tick + 1)
    desk.session.apply_input("power-off SERVER_A")
    desk.session.run_to_state()
    desk.finish_search()
    assert desk.drill.tick == reference.tick
    assert desk.drill.compute_state_hash() == reference.compute_state_hash()
    assert desk.list_values("progress_changed")[-1] == -1.0


def test_a_search_stops_after_an_hour_without_a_change(desk: RecordedHost) -> None:
    desk.session.run_to_state()
    desk.finish_search()
    assert desk.drill.tick == 3600 * 100
    assert "hour" in desk.list_values("input_refused")[0]


def test_a_search_spans_frames_and_can_be_canceled(lab: Scenario) -> None:
    desk = RecordedHost(lab, clock=build_ticking_clock(FRAME_BUDGET_S * 0.6))
    desk.session.run_to(100_000)
    desk.run_frames(5)
    shares = [share for share in desk.list_values("progress_changed") if share > 0.0]
    assert shares == sorted(set(shares))
    desk.session.toggle_clock()
    reached = desk.drill.tick
    desk.run_frames(5)
    assert (desk.drill.tick, desk.session.is_busy) == (reached, False)
    assert 0 < reached < 100_000
    desk.session.close()


# --- replays ----------------------------------------------------------------------------------------------------

JOURNAL = (
    Input(300, "power-off", ("SERVER_A",)),
    Input(900, "sql", ("SERVER_B", "SELECT mirroring_state_desc\nFROM sys.database_mirroring")),
)


def replay_journal(lab: Scenario, tick: int) -> Drill:
    return replay(lab, lab.seed, DrillMode.LAB, [item.line for item in JOURNAL], tick)


def test_a_journal_is_replayed_to_its_tick(desk: RecordedHost, lab: Scenario) -> None:
    marks = [(tick, replay_journal(lab, tick).compute_state_hash()) for tick in (1000, 2500)]
    desk.session.load_run(lab, lab.seed, DrillMode.LAB, JOURNAL, 3000, marks)
    desk.finish_search()
    (history,) = desk.list_values("run_loaded")
    assert history.drill.tick == 3000
    assert history.drill.compute_state_hash() == replay_journal(lab, 3000).compute_state_hash()
    assert history.seek(1500).compute_state_hash() == replay_journal(lab, 1500).compute_state_hash()


def test_a_deviating_state_is_refused(desk: RecordedHost, lab: Scenario) -> None:
    desk.session.load_run(lab, lab.seed, DrillMode.LAB, JOURNAL, 3000, [(1000, "0" * 32)])
    desk.finish_search()
    assert desk.list_values("run_loaded") == []
    assert "at 0:10.00" in desk.list_values("input_refused")[0]


# --- past states ------------------------------------------------------------------------------------------


def play_with_fault(desk: RecordedHost) -> str:
    """Play 20 s with a cable unplugged at 5 s; return the state hash at the end."""
    session = desk.session
    session.run_to(500)
    desk.finish_search()
    session.apply_input("cut SERVER_A SERVER_W")
    session.run_to(2000)
    desk.finish_search()
    return desk.drill.compute_state_hash()


def test_a_distant_time_is_restored_over_several_frames_and_can_be_canceled(
    lab: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.drill.time.history.SNAPSHOTS_MAX", 2)
    history = History(Drill(lab, mode=DrillMode.LAB))
    history.advance_to(100_000)
    desk = RecordedHost(lab, clock=build_ticking_clock(0.04))  # Every slice takes this time.
    desk.session.open_run(history, NullRecorder())
    assert desk.session.show_time(60_000)
    assert desk.session.is_loading
    assert not desk.session.is_showing_past
    before = desk.list_values("progress_changed")[-1]
    desk.session.on_frame(16.0)
    assert desk.session.show_time(60_000), "asked for once more it goes on"
    assert desk.list_values("progress_changed")[-1] > before
    assert desk.session.show_time(30_000)
    desk.finish_search()
    assert (desk.session.is_showing_past, desk.drill.tick) == (True, 30_000)
    assert desk.list_values("progress_changed")[-1] < 0.0
    assert desk.session.show_time(90_000)
    desk.session.cancel_task()
    assert desk.drill.tick == 30_000, "what was on screen stays"
    desk.session.load_run(lab, lab.seed, DrillMode.LAB, [], 50_000)
    assert not desk.session.show_time(10_000), "a run that is loaded does not give way"
    desk.session.close()


def test_a_past_state_is_read_only(desk: RecordedHost, lab: Scenario) -> None:
    end = play_with_fault(desk)
    lines = list(desk.record.lines)
    assert desk.session.show_time(300)
    assert desk.session.is_showing_past
    assert desk.list_values("past_time_shown") == [True]
    assert desk.drill.tick == 300
    assert (
        desk.drill.compute_state_hash() == replay(lab, lab.seed, DrillMode.LAB, [], 300).compute_state_hash()
    )
    assert not desk.session.apply_input("power-off SERVER_A")
    assert "0:03" in desk.list_values("input_refused")[-1]
    desk.session.show_latest()
    assert not desk.session.is_showing_past
    assert desk.list_values("past_time_shown") == [True, False]
    assert desk.drill.compute_state_hash() == end
    assert desk.record.lines == lines


def test_the_past_can_be_replayed_to_the_present(desk: RecordedHost) -> None:
    end = play_with_fault(desk)
    count_before = len(desk.list_values("events_occurred"))
    desk.session.show_time(300)
    desk.session.set_speed(10.0)
    desk.session.play()
    desk.run_frames(1, 100.0)
    assert desk.drill.tick == 400
    desk.run_frames(3, 100.0)
    events_after = [
        event for events in desk.list_values("events_occurred")[count_before:] for event in events
    ]
    assert "fault" in {event.kind for event in events_after}
    desk.run_frames(30, 100.0)
    assert not desk.session.is_showing_past
    assert not desk.session.is_running
    assert (desk.drill.tick, desk.drill.compute_state_hash()) == (2000, end)
    assert len(desk.record.lines) == 1


def test_before_and_after_an_input_are_two_positions(desk: RecordedHost) -> None:
    play_with_fault(desk)
    desk.session.show_time(500, before_inputs=True)
    assert len(desk.drill.journal) == 0
    desk.session.show_time(500)
    assert len(desk.drill.journal) == 1


def test_an_exam_cannot_show_past_states(lab: Scenario) -> None:
    desk = RecordedHost(lab, mode=DrillMode.EXAM)
    desk.session.run_to(500)
    desk.finish_search()
    assert not desk.session.show_time(300)
    assert desk.list_values("input_refused") == ["An exam cannot be rewound."]
    assert desk.drill.tick == 500
    desk.session.close()


def test_a_finished_run_is_watched_input_by_input(desk: RecordedHost, lab: Scenario) -> None:
    history = History(replay(lab, lab.seed, DrillMode.LAB, [item.line for item in JOURNAL], 3000))
    history.drill.end_now()
    desk.session.watch_run(history, at_each_input=True)
    assert (desk.drill.tick, desk.drill.journal) == (0, [])
    desk.session.set_speed(100.0)
    for item in JOURNAL:
        desk.session.play()
        desk.run_frames(100)
        assert not desk.session.is_running
        assert (desk.drill.tick, desk.drill.journal[-1].verb) == (item.tick, item.verb)
    for _ in range(2):
        desk.session.play()
        desk.run_frames(100)
    assert desk.session.is_showing_past  # The past state stays on screen.
    assert desk.drill.compute_state_hash() == history.drill.compute_state_hash()
    assert desk.record.reports == []


@pytest.mark.parametrize("line", ["power-off " + "X" * 600, "power-off " + "X" * 200])
def test_a_long_refusal_keeps_its_translation(line: str) -> None:
    desk = RecordedHost(load_shipped_scenario("lab"))
    language.use_language(language.GERMAN)
    desk.session.apply_input(line)
    language.use_language(language.ENGLISH)
    (refused,) = desk.list_values("input_refused")
    assert refused.startswith("Es gibt keinen Server")
    assert len(refused) < 600
    desk.session.close()


def test_a_refusal_begins_with_the_typed_verb() -> None:
    assert build_sentence("power-off takes 1 argument(s)") == "power-off takes 1 argument(s)."
    assert build_sentence("there is no server 'X'") == "There is no server 'X'."


def test_the_next_event_after_a_lost_node_is_the_clusters_reaction() -> None:
    desk = RecordedHost(load_shipped_scenario("ag-lab"))
    desk.session.apply_input("power-off NODE_3")
    for _ in range(10):
        desk.session.run_to_event()
        desk.finish_search()
        if any("removed" in event.text for event in desk.drill.events if event.kind == "cluster"):
            break
    assert desk.drill.tick < 2000
    desk.session.close()


# --- questions --------------------------------------------------------------------------------------------------

QUESTION_SCENARIO = """
[[question]]
name = "who"
text = "Who serves Sales now?"
at = "5s"
pause = true
choices = ["SERVER_A", "SERVER_B"]
right = [1]
why = "Nothing has happened."
"""


@pytest.fixture
def asking() -> Iterator[RecordedHost]:
    scenario = load_scenario(scenario_files.find_scenario_file("lab").text + QUESTION_SCENARIO, "lab.toml")
    desk = RecordedHost(scenario, mode=DrillMode.GUIDED)  # free play asks no questions
    yield desk
    desk.session.close()


def test_time_stops_at_a_question_until_it_is_answered(asking: RecordedHost) -> None:
    asking.session.set_speed(30.0)
    asking.session.play()
    asking.run_frames(10, 100.0)
    assert (asking.drill.tick, asking.session.is_running) == (500, False)
    asking.session.play()
    asking.session.advance_one_tick()
    asking.session.run_to_event()
    assert asking.drill.tick == 500
    assert len(asking.list_values("input_refused")) == 3
    asking.session.apply_input("answer who 1")
    assert asking.session.is_running  # The clock ran when the question was asked.
    asking.run_frames(1, 100.0)
    assert asking.drill.tick == 800


def test_answering_a_question_does_not_start_a_paused_run(asking: RecordedHost) -> None:
    asking.session.run_to(600)
    asking.finish_search()
    assert asking.drill.tick == 500
    asking.session.pause()
    asking.session.apply_input("answer who 2")
    assert not asking.session.is_running


# --- exams --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def scored_scenario() -> Scenario:
    return load_shipped_scenario("automatic-failover")


@pytest.mark.parametrize("condition", ["SERVER_A is OFF", "SERVER_A is RUNNING", "time_s() > 1", "nonsense"])
def test_an_exam_evaluates_no_conditions(scored_scenario: Scenario, condition: str) -> None:
    desk = RecordedHost(scored_scenario, mode=DrillMode.EXAM)
    desk.session.run_until(condition)
    assert desk.list_values("input_refused") == [
        "During an exam you get information only from the servers: query them, or let time pass."
    ]
    assert not desk.session.is_busy


@pytest.mark.parametrize("method_name", ["run_to_event", "run_to_state", "run_to_alarm"])
def test_an_exam_does_not_stop_at_hidden_events(scored_scenario: Scenario, method_name: str) -> None:
    desk = RecordedHost(scored_scenario, mode=DrillMode.EXAM)
    getattr(desk.session, method_name)()
    assert not desk.session.is_busy
    assert "information only from the servers" in desk.list_values("input_refused")[0]
    practice = RecordedHost(scored_scenario, mode=DrillMode.PRACTICE)
    getattr(practice.session, method_name)()
    assert practice.session.is_busy


def test_an_exam_can_run_to_a_time(scored_scenario: Scenario) -> None:
    desk = RecordedHost(scored_scenario, mode=DrillMode.EXAM)
    desk.session.run_to(1000)
    while desk.session.is_busy:
        desk.session.on_frame(16.0)
    assert desk.drill.tick == 1000


@pytest.mark.parametrize("is_fast", [True, False])
def test_a_kill_rewinds_an_exam_by_at_most_a_second(scored_scenario: Scenario, is_fast: bool) -> None:
    desk = RecordedHost(scored_scenario, mode=DrillMode.EXAM)
    if is_fast:
        desk.session.set_speed(1000.0)
        desk.session.play()
        desk.session.on_frame(16.0)
    else:
        desk.session.run_to(3000)
        desk.session.on_frame(16.0)
    beats = sorted([0, *desk.record.heartbeats, *(tick for tick, _ in desk.record.checkpoints)])
    assert desk.drill.tick > 500
    assert max(b - a for a, b in zip(beats, [*beats[1:], desk.drill.tick], strict=True)) <= 100
