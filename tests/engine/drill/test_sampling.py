"""Samples of long runs: their interval grows to limit their number, and a rewind finds the same samples."""

from __future__ import annotations

from itertools import pairwise

import pytest

from engine.drill.running import drill as module
from engine.drill.running.drill import Drill
from engine.drill.time.history import History
from tests.engine.drill.texts import change_small_text


@pytest.fixture(autouse=True)
def few_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SAMPLES_MAX", 30)


def test_samples_are_thinned_and_keep_their_context() -> None:
    drill = Drill(change_small_text(), mode="lab")
    drill.advance_to(100_000)
    ticks = drill.samples.ticks.tolist()
    assert ticks[:30] == list(range(100, 3_100, 100))
    assert {b - a for a, b in pairwise(ticks[30:45])} == {1_000}
    assert drill.samples.count == len(drill.logs) == len(drill.standings) < 80
    assert drill.build_report()["readings"]["t_s"] == [tick / 100 for tick in ticks]


def test_many_databases_count_as_many_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SAMPLED_ROWS_MAX", 10)
    drill = Drill(change_small_text(), mode="lab")
    drill.advance_to(3_000)
    assert drill.samples.count < 15


def test_a_run_restored_before_the_sampling_change_repeats_its_samples() -> None:
    history = History(Drill(change_small_text(), mode="lab"))
    history.advance_to(20_000)
    past_drill = history.seek(1_600)
    past_drill.advance_to(20_000)
    assert past_drill.samples.ticks.tolist() == history.drill.samples.ticks.tolist()
    assert past_drill.compute_state_hash() == history.drill.compute_state_hash()
