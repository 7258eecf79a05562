"""Snapshots without event history, and the state hashes that verify a replay."""

from __future__ import annotations

import numpy as np
import pytest

from engine.drill.running.drill import Drill, replay
from engine.drill.running.state import HASH_INTERVAL_TICKS
from engine.drill.time import snapshots
from engine.drill.time.snapshots import BLOCK_WORLD_PARTS, LOG_ATTRIBUTES, take_snapshot
from engine.flow.samples import ENTRIES_PER_BLOCK
from engine.protocol import errorlog
from tests.engine.drill.texts import advance_drill, build_drill
from tests.events import read_field


def test_a_snapshot_does_not_contain_past_events() -> None:
    drill_run = advance_drill(build_drill(), 40)
    snapshot = take_snapshot(drill_run)
    assert all(getattr(drill_run, name) for name in ("events", "hashes", "logs", "standings"))
    assert not any(getattr(snapshot.drill, name) for name in LOG_ATTRIBUTES)
    assert snapshot.drill.samples.count == 0


def test_a_snapshot_can_be_restored_repeatedly() -> None:
    drill_run = advance_drill(build_drill(), 40)
    snapshot, digest, event_count = (
        take_snapshot(drill_run),
        drill_run.compute_state_hash(),
        len(drill_run.events),
    )
    drill_run.apply_line("power-on SERVER_A")
    advance_drill(drill_run, 140)
    first, second = snapshot.restore(drill_run), snapshot.restore(drill_run)
    advance_drill(first, 60)
    assert second.compute_state_hash() == digest
    assert second.events == drill_run.events[:event_count]
    assert (snapshot.tick, snapshot.input_count, len(second.journal)) == (4000, 0, 0)
    second.apply_line("power-on SERVER_A")
    advance_drill(second, 140)
    assert second.build_report() == drill_run.build_report()


def test_hashes_are_taken_at_start_each_minute_and_after_each_input() -> None:
    drill_run = advance_drill(build_drill(), 61)
    for line in ("note one", "note two", "power-on SERVER_A"):
        drill_run.apply_line(line)
    places = [(state_hash.tick, state_hash.inputs) for state_hash in drill_run.hashes]
    assert places == [(0, 0), (HASH_INTERVAL_TICKS, 0), (6100, 1), (6100, 2), (6100, 3)]
    first_digest, two, three = (state_hash.digest for state_hash in drill_run.hashes[2:])
    assert first_digest == two != three, "a remark changes nothing"


def test_a_replay_produces_the_same_hashes() -> None:
    drill_run = advance_drill(build_drill(), 45)
    drill_run.apply_line("power-on SERVER_A")
    advance_drill(drill_run, 130)
    replayed: Drill = replay(
        drill_run.scenario, drill_run.seed, drill_run.mode, [item.line for item in drill_run.journal], 13_000
    )
    assert len(drill_run.hashes) >= 3
    assert replayed.hashes == drill_run.hashes


def test_unchanged_parts_are_shared_by_all_snapshots() -> None:
    drill_run = advance_drill(build_drill(), 5)
    first = take_snapshot(drill_run)
    advance_drill(drill_run, 6)
    second = take_snapshot(drill_run, first)
    assert (
        second.parts[BLOCK_WORLD_PARTS.index("computers")]
        is first.parts[BLOCK_WORLD_PARTS.index("computers")]
    )
    assert second.parts[BLOCK_WORLD_PARTS.index("copies")] is first.parts[BLOCK_WORLD_PARTS.index("copies")]
    digest = drill_run.compute_state_hash()
    assert second.restore(drill_run).compute_state_hash() == digest
    drill_run.apply_line("power-off SERVER_B")
    third = take_snapshot(drill_run, second)
    assert (
        third.parts[BLOCK_WORLD_PARTS.index("computers")]
        is not second.parts[BLOCK_WORLD_PARTS.index("computers")]
    )
    assert second.restore(drill_run).compute_state_hash() == digest, "a kept world never changes"


def test_samples_of_a_snapshot_equal_those_of_the_run() -> None:
    drill_run = advance_drill(build_drill(), 2 * ENTRIES_PER_BLOCK + 40)
    snapshot = take_snapshot(drill_run)
    advance_drill(drill_run, 4 * ENTRIES_PER_BLOCK)
    restored = snapshot.restore(drill_run)
    assert restored.samples.count_common_entries(drill_run.samples) == 2 * ENTRIES_PER_BLOCK, (
        "what is packed is held once"
    )
    assert restored.samples.ticks.tolist() == drill_run.samples.ticks[: 2 * ENTRIES_PER_BLOCK + 40].tolist()
    all_values = drill_run.samples.streams.values.copy()
    advance_drill(restored, 4 * ENTRIES_PER_BLOCK)
    assert np.array_equal(restored.samples.streams.values, all_values)
    assert np.array_equal(drill_run.samples.streams.values, all_values)


def test_errorlog_lines_are_restored_from_the_events(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (errorlog, snapshots):
        monkeypatch.setattr(module, "ERROR_LOG_LINES_MAX", 5)
    drill_run = build_drill()
    drill_run.world.errorlog = {"SERVER_A": tuple((0, 0, 10, 0, f"before {n}") for n in range(4))}
    drill_run.errorlog_before = drill_run.world.errorlog.copy()
    advance_drill(drill_run, 31)
    lengths = set()
    for end_s in (40, 45, 60):
        advance_drill(drill_run, end_s)
        drill_run.apply_line("stop-service SERVER_B" if end_s == 45 else "plug-cable SERVER_A")
        assert take_snapshot(drill_run).restore(drill_run).world.errorlog == drill_run.world.errorlog
        lengths.add(sum(map(len, drill_run.world.errorlog.values())))
    assert len(lengths) > 1, "lines were written"


def test_conditions_find_a_batch_by_its_text_and_errors() -> None:
    drill_run = advance_drill(build_drill(), 5)
    drill_run.apply_line("sql SERVER_A SELECT * FROM sys.databases PRINT 'x' SELECT * FROM nowhere")
    advance_drill(drill_run, 8)
    (batch,) = drill_run._batches
    assert batch.errors == [208]
    assert read_field(next(drill_run.events.select("sql_done")), "results")
