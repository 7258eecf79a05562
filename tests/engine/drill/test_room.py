"""Memory of long runs: bytes of all reachable objects, compared at two times that are hours apart."""

from __future__ import annotations

from itertools import cycle, pairwise

import pytest

from engine.drill.running import drill
from engine.drill.running.drill import Drill
from engine.drill.time import history as module
from engine.drill.time.history import History
from engine.model import to_ticks
from engine.protocol import jobs
from tests.hostile import soak
from tests.room import measure_memory_bytes

SNAPSHOTS_MAX = 30
SAMPLES_MAX = 300
ACTION_INTERVAL_S = 40.0
BACKUP_INTERVAL_S = 10.0
BYTES_PER_RECORD_MAX = 500
"""Allowed bytes per event and file: an event takes 28 bytes in columns, a file with texts 1.2 KB."""
ACTION_LINES = ("stop-service SERVER_A", "start-service SERVER_A", "cut SERVER_A SERVER_B", "revert-all")


def play_until(history: History, until_s: float) -> History:
    """Play one action every 40 s, including failovers, until *until_s*."""
    for act in cycle(ACTION_LINES):
        if history.drill.world.t_s >= until_s:
            return history
        history.apply_line(act)
        history.advance_to(history.drill.tick + to_ticks(ACTION_INTERVAL_S))
    raise AssertionError("a cycle has no end")


def measure_bytes(history: History) -> tuple[int, int]:
    """Return the bytes of the run, and the additional bytes of its snapshots."""
    ids_seen: set[int] = set()
    return measure_memory_bytes([history.drill], ids_seen), measure_memory_bytes([history], ids_seen)


@pytest.fixture
def history(monkeypatch: pytest.MonkeyPatch) -> History:
    """Return a run that soon reaches the limits of a long run, with many files, lines and failovers."""
    monkeypatch.setattr(module, "SNAPSHOTS_MAX", SNAPSHOTS_MAX)
    monkeypatch.setattr(drill, "SAMPLES_MAX", SAMPLES_MAX)
    history = History(Drill(soak.build_scenario(1)))
    world = history.drill.world
    for key in world.copies:
        world.update_copy(key, log_backup_every_s=BACKUP_INTERVAL_S)
        jobs.start_log_backup_timer(world, key)
    return history


@pytest.mark.slow
def test_memory_does_not_grow_with_the_hours_of_a_run(history: History) -> None:
    """The number and size of snapshots stay constant; only the record of events grows."""
    run, kept_bytes = measure_bytes(play_until(history, 1_800.0))
    news = len(history.drill.events) + len(history.drill.world.files)
    later_run, later_bytes = measure_bytes(play_until(history, 5_400.0))
    news = len(history.drill.events) + len(history.drill.world.files) - news
    assert len(history.drill.world.failovers) > 20
    assert len(history.drill.world.files) > 500
    assert later_bytes < 1.2 * kept_bytes
    assert later_run - run < BYTES_PER_RECORD_MAX * news


@pytest.mark.slow
@pytest.mark.parametrize("recent", [20, 1_000_000])
def test_snapshots_are_as_dense_as_their_age_requires(
    history: History, monkeypatch: pytest.MonkeyPatch, recent: int
) -> None:
    """Snapshots are evenly spaced in a short run. In a long run the spacing grows with their age, up to a
    limit.
    """
    monkeypatch.setattr(module, "RECENT_INTERVALS", recent)
    play_until(history, 3_600.0)
    costs = [module._compute_snapshot_cost(moment) for moment in history._snapshots]
    last_cost, count = costs[-1], len(costs)
    assert SNAPSHOTS_MAX / 2 <= count <= SNAPSHOTS_MAX
    gaps = [second_cost - before for before, second_cost in pairwise(costs)]
    for gap, next_cost in zip(gaps, costs[1:], strict=True):
        assert gap < 3.0 * module.compute_snapshot_spacing(last_cost - next_cost, last_cost, count)
    newer, older = sum(gaps[-5:]), sum(gaps[:5])
    assert older > 3 * newer if recent == 20 else older < 2 * newer
