"""Snapshots without history, and the hashes that identify a replay."""

from __future__ import annotations

import numpy as np
import pytest

from engine.drill.running.drill import Drill, replay
from engine.drill.running.state import HASH_EVERY
from engine.drill.time import snapshots as kept_module
from engine.drill.time.snapshots import LOGS, OF_THE_WORLD, take_snapshot
from engine.flow.samples import BLOCK
from engine.protocol import errorlog
from tests.engine.drill.texts import drill, run
from tests.events import read_field


def test_a_snapshot_does_not_contain_the_past() -> None:
    taken = run(drill(), 40)
    kept = take_snapshot(taken)
    assert all(getattr(taken, name) for name in ("events", "hashes", "logs", "standings"))
    assert not any(getattr(kept.drill, name) for name in LOGS)
    assert kept.drill.samples.count == 0


def test_a_snapshot_can_be_restored_repeatedly() -> None:
    taken = run(drill(), 40)
    kept, digest, past = take_snapshot(taken), taken.state_hash(), len(taken.events)
    taken.do("power-on SERVER_A")
    run(taken, 140)
    first, second = kept.restore(taken), kept.restore(taken)
    run(first, 60)
    assert second.state_hash() == digest
    assert second.events == taken.events[:past]
    assert (kept.tick, kept.inputs, len(second.journal)) == (4000, 0, 0)
    second.do("power-on SERVER_A")
    run(second, 140)
    assert second.report() == taken.report()


def test_hashes_are_taken_at_start_each_minute_and_after_each_input() -> None:
    taken = run(drill(), 61)
    for line in ("note one", "note two", "power-on SERVER_A"):
        taken.do(line)
    places = [(each.tick, each.inputs) for each in taken.hashes]
    assert places == [(0, 0), (HASH_EVERY, 0), (6100, 1), (6100, 2), (6100, 3)]
    one, two, three = (each.digest for each in taken.hashes[2:])
    assert one == two != three, "a remark changes nothing"


def test_a_replay_produces_the_same_hashes() -> None:
    taken = run(drill(), 45)
    taken.do("power-on SERVER_A")
    run(taken, 130)
    again: Drill = replay(
        taken.scenario, taken.seed, taken.mode, [item.line for item in taken.journal], 13_000
    )
    assert len(taken.hashes) >= 3
    assert again.hashes == taken.hashes


def test_unchanged_parts_are_shared_by_all_snapshots() -> None:
    taken = run(drill(), 5)
    first = take_snapshot(taken)
    run(taken, 6)
    second = take_snapshot(taken, first)
    assert second.parts[OF_THE_WORLD.index("computers")] is first.parts[OF_THE_WORLD.index("computers")]
    assert second.parts[OF_THE_WORLD.index("copies")] is first.parts[OF_THE_WORLD.index("copies")]
    digest = taken.state_hash()
    assert second.restore(taken).state_hash() == digest
    taken.do("power-off SERVER_B")
    third = take_snapshot(taken, second)
    assert third.parts[OF_THE_WORLD.index("computers")] is not second.parts[OF_THE_WORLD.index("computers")]
    assert second.restore(taken).state_hash() == digest, "a kept world never changes"


def test_samples_of_a_snapshot_equal_those_of_the_run() -> None:
    taken = run(drill(), 2 * BLOCK + 40)
    kept = take_snapshot(taken)
    run(taken, 4 * BLOCK)
    back = kept.restore(taken)
    assert back.samples.count_common_entries(taken.samples) == 2 * BLOCK, "what is packed is held once"
    assert back.samples.ticks.tolist() == taken.samples.ticks[: 2 * BLOCK + 40].tolist()
    whole = taken.samples.streams.values.copy()
    run(back, 4 * BLOCK)
    assert np.array_equal(back.samples.streams.values, whole)
    assert np.array_equal(taken.samples.streams.values, whole)


def test_errorlog_lines_are_restored_from_the_events(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (errorlog, kept_module):
        monkeypatch.setattr(module, "LINES_KEPT", 5)
    taken = drill()
    taken.world.errorlog = {"SERVER_A": tuple((0, 0, 10, 0, f"before {n}") for n in range(4))}
    taken.errorlog_before = taken.world.errorlog.copy()
    run(taken, 31)
    lengths = set()
    for until in (40, 45, 60):
        run(taken, until)
        taken.do("stop-service SERVER_B" if until == 45 else "plug-cable SERVER_A")
        assert take_snapshot(taken).restore(taken).world.errorlog == taken.world.errorlog
        lengths.add(sum(map(len, taken.world.errorlog.values())))
    assert len(lengths) > 1, "lines were written"


def test_conditions_find_a_batch_by_its_text_and_errors() -> None:
    taken = run(drill(), 5)
    taken.do("sql SERVER_A SELECT * FROM sys.databases PRINT 'x' SELECT * FROM nowhere")
    run(taken, 8)
    (batch,) = taken._batches
    assert batch.errors == [208]
    assert read_field(next(taken.events.select("sql_done")), "results")
