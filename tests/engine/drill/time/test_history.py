"""History of a run: any time is restored exactly, and branches start from there."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies

from engine.drill.judging.replay_timeline import list_markers
from engine.drill.running.drill import Drill, DrillMode, replay
from engine.drill.running.solution import play_solution
from engine.drill.time import history as module
from engine.drill.time.history import History
from engine.inputs import InputError
from tests.engine.drill.running.test_drill import LINES
from tests.engine.drill.texts import FREE_PLAY_TEXT, build_drill, change_small_text

TIMED_LINES = strategies.lists(strategies.tuples(strategies.integers(0, 6000), LINES), max_size=6)


def play_timed_lines(timed_lines: list[tuple[int, str]], end_tick: int = 8000) -> History:
    history = History(build_drill(text=FREE_PLAY_TEXT))
    for tick, line in sorted(timed_lines):
        history.advance_to(tick)
        try:
            history.apply_line(line)
        except InputError:
            assert line.startswith("hint")
    history.advance_to(end_tick)
    return history


def replay_to_tick(history: History, tick: int, exclude_tick: bool) -> Drill:
    """Replay the run from its start to *tick*, without the inputs at *tick* if *exclude_tick*."""
    lines = [i.line for i in history.drill.journal if i.tick < tick or (i.tick == tick and not exclude_tick)]
    return replay(history.drill.scenario, history.drill.seed, history.drill.mode, lines, tick)


@settings(max_examples=30, deadline=None)
@given(deeds=TIMED_LINES, tick=strategies.integers(-10, 9000), exclude_tick=strategies.booleans())
def test_a_restored_time_equals_the_original(
    deeds: list[tuple[int, str]], tick: int, exclude_tick: bool
) -> None:
    history = play_timed_lines(deeds)
    end = history.drill.compute_state_hash()
    for sought in (tick, *(time_s for time_s, _ in deeds)):
        sought_drill = history.seek(sought, exclude_tick)
        wanted = replay_to_tick(history, min(max(0, sought), 8000), exclude_tick)
        assert sought_drill.build_report() == wanted.build_report()
    assert history.drill.compute_state_hash() == end


@settings(max_examples=30, deadline=None)
@given(deeds=TIMED_LINES)
def test_stepping_through_events_gives_the_same_run(deeds: list[tuple[int, str]]) -> None:
    whole_run, stops = play_timed_lines(deeds), play_timed_lines(deeds, end_tick=0)
    while stops.drill.tick < whole_run.drill.tick:
        new = stops.advance_to(whole_run.drill.tick, to_event=True)
        assert {event.tick for event in new} <= {stops.drill.tick}
        assert new or stops.drill.tick == whole_run.drill.tick
    assert stops.drill.build_report() == whole_run.drill.build_report()


def test_a_distant_time_is_restored_in_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SNAPSHOTS_MAX", 2)
    history = play_timed_lines([(3000, "power-off SERVER_A")], end_tick=100_000)
    tick = max(range(10_000, 100_000, 10_000), key=lambda tick: len(list(history.seek_in_slices(tick))))
    shares = list(history.seek_in_slices(tick))
    assert len(shares) > 5
    assert shares == sorted(shares)
    assert history.seek(tick).build_report() == replay_to_tick(history, tick, False).build_report()


def test_a_restored_drill_runs_independently() -> None:
    history = play_timed_lines([(3000, "power-off SERVER_A")])
    sought_drill = history.seek(2000)
    sought_drill.apply_line("stop-service SERVER_W")
    sought_drill.advance_to(8000)
    assert sought_drill.compute_state_hash() != history.drill.compute_state_hash()
    assert history.drill.compute_state_hash() == replay_to_tick(history, 8000, False).compute_state_hash()


def test_any_time_can_be_restored_after_snapshots_are_thinned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SNAPSHOTS_MAX", 8)
    history = play_timed_lines(
        [(time_s, f"note {time_s}") for time_s in range(0, 30_000, 700)], end_tick=40_000
    )
    assert len(history._snapshots) <= 8
    for tick in (0, 1, 699, 700, 20_000, 40_000):
        assert history.seek(tick).build_report() == replay_to_tick(history, tick, False).build_report()


def test_the_history_of_a_loaded_drill_is_complete() -> None:
    before = play_timed_lines([(1000, "power-off SERVER_A"), (3000, "power-on SERVER_A")], end_tick=5000)
    history = History(before.drill)
    history.advance_to(9000)
    for tick in (500, 2000, 4000, 7000):
        assert history.seek(tick).build_report() == replay_to_tick(history, tick, False).build_report()


def test_an_exam_can_be_viewed_only_after_its_end() -> None:
    history = History(build_drill(mode=DrillMode.EXAM))
    history.advance_to(4000)
    for method in (history.seek, history.fork):
        with pytest.raises(InputError, match="exam"):
            method(2000)
    history.apply_line("finish")
    assert history.seek(2000).tick == 2000
    retry = history.fork(2000)
    assert retry.drill.mode is DrillMode.PRACTICE
    assert retry.drill.journal[-1].line == "20 rewind 40"
    retry.apply_line("hint 1")


def test_a_fork_knows_its_past_and_records_its_origin() -> None:
    history = History(build_drill())
    history.advance_to(4000)
    history.apply_line("hint 2")
    history.advance_to(9000)
    fork = history.fork(3000)
    assert [item.line for item in fork.drill.journal] == ["30 rewind 90 hint:protected:2"]
    fork.advance_to(5000)
    fork.apply_line("power-on SERVER_A")
    fork.advance_to(12_000)
    lines = [item.line for item in fork.drill.journal]
    assert (
        fork.drill.build_report()
        == replay(change_small_text(), 3, DrillMode.PRACTICE, lines, 12_000).build_report()
    )
    for tick in (2000, 3000, 5500):
        assert fork.seek(tick).build_report() == replay_to_tick(fork, tick, False).build_report()


def test_every_kind_of_event_has_a_timeline_marker() -> None:
    drill_run = build_drill()
    play_solution(drill_run)
    second_drill = build_drill()
    second_drill.advance_to(100)
    for line in ("sql SERVER_B ALTER DATABASE Sales SET PARTNER FAILOVER", "hint 1", "note here", "rewind 2"):
        second_drill.apply_line(line)
    second_drill.apply_line("sql SERVER_A SELECT 1 AS one")
    second_drill.end_now()
    kinds = {mark.kind for mark in (*list_markers(drill_run.events), *list_markers(second_drill.events))}
    assert kinds >= {"fault", "repair", "detection", "transition", "command", "refusal", "hint", "goal"}
    assert kinds >= {"note", "rewind", "end"}
    (failed,) = [mark for mark in list_markers(drill_run.events) if mark.kind == "fault"]
    assert (failed.tick, failed.text) == (2000, "SERVER_A ▸ Power off")
