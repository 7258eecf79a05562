"""A drill gives equal results in any slices and from its journal, and its forks are independent."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies

from engine.drill.running.drill import Drill, DrillEndReason, DrillMode, play_inputs, replay
from engine.drill.running.solution import play_idle, play_reference
from engine.inputs import InputError
from engine.verbs.input_lines import parse_input_line, parse_script
from tests.engine.drill.texts import (
    FREE_PLAY_TEXT,
    SMALL_TEXT,
    advance_drill,
    build_drill,
    change_small_text,
    open_next_hint,
)
from tests.events import read_field

LINES = strategies.sampled_from(
    (
        "power-on SERVER_A",
        "power-off SERVER_B",
        "pull-cable SERVER_B",
        "plug-cable SERVER_B",
        "stop-service SERVER_W",
        "start-service SERVER_W",
        "sql SERVER_A ALTER DATABASE Sales SET PARTNER FAILOVER",
        "sql SERVER_B ALTER DATABASE Sales SET PARTNER SUSPEND",
        "sql SERVER_B ALTER DATABASE Sales SET PARTNER RESUME",
        "sql SERVER_A ALTER DATABASE Sales SET PARTNER OFF",
        "sql SERVER_A#2 USE master\n\n  WAITFOR DELAY '00:00:07'\r\n\tSELECT name FROM sys.databases  ",
        "workload Sales Workload1 scale=0.5",
        "hint 1",
        "note nothing to see",
    )
)
TIMED_LINES = strategies.lists(strategies.tuples(strategies.integers(0, 6000), LINES), max_size=8)
INTERRUPTION_TICKS = strategies.lists(strategies.integers(1, 7000), max_size=8)


def play_actions(
    timed_lines: list[tuple[int, str]], interruption_ticks: list[int], text: str = SMALL_TEXT
) -> Drill:
    """Play a drill to tick 7000: apply *timed_lines* at their ticks, and interrupt the run at *interruption_ticks*."""
    drill_run = build_drill(text=text)
    stops = sorted(
        [*((tick, line) for tick, line in timed_lines), *((tick, "") for tick in interruption_ticks)],
        key=lambda s: s[0],
    )
    for tick, line in stops:
        drill_run.advance_to(tick)
        if line and not drill_run.finished:
            try:
                drill_run.apply_line(line)
            except InputError:
                assert line.startswith("hint"), line
    drill_run.advance_to(7000)
    return drill_run


@settings(max_examples=40, deadline=None)
@given(timed_lines=TIMED_LINES, interruption_ticks=INTERRUPTION_TICKS)
def test_slices_and_journal_give_the_same_run(
    timed_lines: list[tuple[int, str]], interruption_ticks: list[int]
) -> None:
    story = SMALL_TEXT.replace('at = "20s"', 'when = "time_s() >= 17"\nafter = "0.7s"')
    whole_run, sliced = (
        play_actions(timed_lines, [], story),
        play_actions(timed_lines, interruption_ticks, story),
    )
    replayed = replay(
        whole_run.scenario, whole_run.seed, whole_run.mode, [item.line for item in whole_run.journal], 7000
    )
    for other_run in (sliced, replayed):
        assert other_run.compute_state_hash() == whole_run.compute_state_hash()
        assert other_run.events == whole_run.events
        assert other_run.build_report() == whole_run.build_report()


@given(text=strategies.text(alphabet="aB \t\n\r#'=;+1\x0b\x0c\x85\u2028", max_size=16))
def test_any_text_is_read_back_from_the_journal(text: str) -> None:
    try:
        item = parse_input_line(f"sql SERVER_A {text}", 4125)
    except InputError:
        assert not text.strip()
        return
    assert parse_script(item.line) == ([item], [])


def test_another_seed_gives_another_run() -> None:
    assert (
        play_reference(change_small_text(), seed=4).compute_state_hash()
        != play_reference(change_small_text(), seed=5).compute_state_hash()
    )


def test_a_fork_runs_independently() -> None:
    drill_run = advance_drill(build_drill(), 30)
    fork = drill_run.fork()
    fork.apply_line("power-on SERVER_A")
    advance_drill(fork, 60)
    assert drill_run.tick == 3000
    assert not drill_run.journal
    assert drill_run.samples.count == 30
    advance_drill(drill_run, 60)
    assert drill_run.compute_state_hash() == advance_drill(build_drill(), 60).compute_state_hash()
    assert fork.compute_state_hash() != drill_run.compute_state_hash()
    assert len(fork.events) != len(drill_run.events)


def test_names_are_spelled_as_in_the_world() -> None:
    drill_run = advance_drill(build_drill(), 1)
    assert drill_run.apply_line("stop-service server_w").line_without_time == "stop-service SERVER_W"
    assert drill_run.journal[0].line == "1 stop-service SERVER_W"


@pytest.mark.parametrize("line", ["dance SERVER_A", "power-off SERVER_Z", "workload Sales Nothing", "hint 4"])
def test_a_refused_input_changes_nothing(line: str) -> None:
    drill_run = advance_drill(build_drill(), 1)
    before, events = drill_run.compute_state_hash(), len(drill_run.events)
    with pytest.raises(InputError):
        drill_run.apply_line(line)
    assert not drill_run.journal
    assert (drill_run.compute_state_hash(), len(drill_run.events)) == (before, events)


# --- end of a drill -----------------------------------------------------------------------------------------


def test_a_drill_ends_when_all_goals_are_reached() -> None:
    drill_run = play_reference(change_small_text())
    assert drill_run.ended_by is DrillEndReason.GOALS
    tick_before = drill_run.tick
    advance_drill(drill_run, 300)
    assert drill_run.tick == tick_before
    with pytest.raises(InputError, match="ended"):
        drill_run.apply_line("note more")


def test_a_drill_ends_at_its_time_limit() -> None:
    drill_run = play_idle(change_small_text())
    assert (drill_run.ended_by, drill_run.tick) == (DrillEndReason.TIME, 30_000)


def test_a_drill_ends_on_request_and_in_its_replay() -> None:
    drill_run = advance_drill(build_drill(), 3.5)
    drill_run.end_now()
    assert (drill_run.ended_by, drill_run.tick) == (DrillEndReason.ASKED, 350)
    replayed = replay(
        drill_run.scenario, drill_run.seed, drill_run.mode, [item.line for item in drill_run.journal], 9000
    )
    assert (replayed.ended_by, replayed.tick) == (DrillEndReason.ASKED, 350)


def test_a_drill_does_not_end_before_its_last_event() -> None:
    drill_run = build_drill(
        ("Sales serves on SERVER_B", "Sales serves"),
        ('when = "Sales is SYNC', 'when = "Sales serves or Sales is SYNC'),
    )
    advance_drill(drill_run, 19)
    assert all(state.is_reached for state in drill_run.goals.values())
    assert not drill_run.finished


def test_a_forbidden_state_ends_the_drill() -> None:
    forbidden = (
        '[[forbidden]]\nname = "f"\ntext = "down"\nwhen = "not Sales serves"\nends = true\nbetter = "no"\n'
    )
    drill_run = advance_drill(build_drill(("[[solution]]", forbidden + "[[solution]]")), 100)
    assert drill_run.ended_by is DrillEndReason.FORBIDDEN
    assert drill_run.tick == 2100


def test_free_play_has_no_end_and_no_score() -> None:
    drill_run = advance_drill(build_drill(text=FREE_PLAY_TEXT), 700)
    assert drill_run.mode is DrillMode.LAB
    assert not drill_run.finished
    assert not drill_run.compute_score().scored


def test_a_drill_can_be_played_as_free_play() -> None:
    lock = '[[locked]]\ndo = "power-on SERVER_A"\nwhy = "no spare part"\n'
    drill_run = advance_drill(build_drill(("[[solution]]", lock + "[[solution]]"), mode=DrillMode.LAB), 40)
    drill_run.apply_line("power-on SERVER_A")
    advance_drill(drill_run, 400)
    assert drill_run.tick == 40_000
    assert not drill_run.finished
    assert not drill_run.compute_score().scored
    drill_run.end_now()
    assert drill_run.finished


# --- timeline -----------------------------------------------------------------------------------------------


def find_fault_tick(drill: Drill) -> int:
    advance_drill(drill, 200)
    return next(e.tick for e in drill.events if e.kind == "fault")


def test_the_seed_picks_the_time_within_a_window() -> None:
    scenario = change_small_text(('at = "20s"', "between = [20, 60]"))
    moments = {find_fault_tick(Drill(scenario, seed)) for seed in range(6)}
    assert len(moments) > 3
    assert all(2000 <= moment < 6000 for moment in moments)
    assert find_fault_tick(Drill(scenario, 2)) == find_fault_tick(Drill(scenario, 2))


def test_an_inject_can_wait_for_a_condition() -> None:
    assert find_fault_tick(build_drill(('at = "20s"', 'when = "time_s() >= 30"\nafter = "2.5s"'))) == 3250


def test_a_locked_input_is_refused_until_its_time() -> None:
    lock = '[[locked]]\ndo = "power-on SERVER_A"\nuntil = "50s"\nwhy = "no spare part"\n'
    drill_run = advance_drill(build_drill(("[[solution]]", lock + "[[solution]]")), 40)
    with pytest.raises(InputError, match="no spare part"):
        drill_run.apply_line("power-on server_a")
    drill_run.apply_line("note the lock is for SERVER_A alone")
    advance_drill(drill_run, 50)
    drill_run.apply_line("power-on SERVER_A")


def test_revert_all_is_refused_in_scored_drills() -> None:
    with pytest.raises(InputError, match="not available in scored drills"):
        advance_drill(build_drill(), 40).apply_line("revert-all")
    advance_drill(build_drill(mode=DrillMode.LAB), 40).apply_line("revert-all")
    allowed = ("seed = 3", "seed = 3\nallow_revert_all = true")
    advance_drill(build_drill(allowed), 40).apply_line("revert-all")


def test_a_lock_overrides_the_allowed_inputs() -> None:
    lock = '[[locked]]\ndo = "power-on SERVER_A"\nwhy = "no spare part"\n'
    drill_run = advance_drill(
        build_drill(
            ("seed = 3", "seed = 3\nallow_revert_all = true"), ("[[solution]]", lock + "[[solution]]")
        ),
        40,
    )
    with pytest.raises(InputError, match="no spare part"):
        drill_run.apply_line("revert-all")


def test_an_exam_has_no_hints() -> None:
    drill_run = advance_drill(build_drill(mode=DrillMode.EXAM), 40)
    assert drill_run.find_next_hint() is None
    with pytest.raises(InputError, match="exam"):
        drill_run.apply_line("hint 1")


def test_a_hint_is_an_event_with_text_and_cost() -> None:
    drill_run = advance_drill(build_drill(), 40)
    open_next_hint(drill_run, 2)
    (event,) = [e for e in drill_run.events if e.kind == "hint"]
    assert (event.text, read_field(event, "layer"), read_field(event, "cost")) == ("It is off.", 2, 2.0)


def test_refused_inputs_are_returned() -> None:
    refused: list[str] = []
    inputs, _ = parse_script("1 workload Sales Nothing\n2 note fine\n")
    drill_run = build_drill()
    play_inputs(drill_run, inputs, lambda item, problem: refused.append(str(problem)))
    assert len(refused) == 1
    assert len(drill_run.journal) == 1


def test_long_operations_count_on_completion() -> None:
    drill_run = advance_drill(build_drill(text=FREE_PLAY_TEXT), 20)
    drill_run.apply_line("bulk-load Sales rows=1000000 batch_rows=10000")
    advance_drill(drill_run, 30)
    assert drill_run.is_condition_met("operations_kb(Sales) == 0"), "the load is under way"
    twin = advance_drill(drill_run.fork(), 80)
    assert twin.is_condition_met("operations_kb(Sales) == 200000")
    assert drill_run.is_condition_met("operations_kb(Sales) == 0")


def test_each_sample_stores_log_owner_and_server_states() -> None:
    drill_run = build_drill()
    drill_run.advance_to(500)
    drill_run.apply_line("pull-cable SERVER_B")
    drill_run.advance_to(900)
    assert len(drill_run.standings) == len(drill_run.logs) == drill_run.samples.count
    nic_states = [standing.computers["SERVER_B"].nic_up for standing in drill_run.standings]
    # the state at a whole second precedes the inputs at that second
    assert nic_states == [True] * 5 + [False] * 4
    assert drill_run.standings[0].sources == drill_run.world.sources
    assert drill_run.standings[0].streams == drill_run.world.streams
    twin = drill_run.fork()
    twin.advance_to(1200)
    assert len(drill_run.standings) == 9
