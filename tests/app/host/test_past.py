"""Tests that playback from a past state continues exactly as the recorded run."""

from __future__ import annotations

from app.host.playback import Playback
from engine.drill.time.history import History
from tests.engine.drill.texts import FREE_PLAY_TEXT, build_drill


def test_stepping_through_events_shows_each_event_and_input_once() -> None:
    run = History(build_drill(text=FREE_PLAY_TEXT))
    for tick, line in ((700, "cut SERVER_A SERVER_B"), (700, "cut SERVER_A SERVER_W"), (3000, "revert-all")):
        run.advance_to(tick)
        run.apply_line(line)
    run.advance_to(6000)
    first = run.seek(0)
    playback = Playback(run, first, stays_at_end=False, at_each_input=False)
    events = list(first.events)
    while not playback.has_finished:
        new = playback.advance_to(6000, to_event=True)
        assert {event.tick for event in new} <= {playback.drill.tick}
        events += new
    assert events == list(run.drill.events)
    assert playback.drill.compute_state_hash() == run.drill.compute_state_hash()
