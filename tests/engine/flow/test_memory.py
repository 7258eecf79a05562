"""Cache of runs: forks reuse the ticks that another fork has computed, with equal results."""

from __future__ import annotations

import pytest

from engine.flow import Flow, FlowStopCondition, SafetyMode, advance
from tests.engine.flow.pairs import W1, build_flow, build_pair, change_inputs


def _build_flow() -> Flow:
    return build_flow(W1, SafetyMode.OFF, jitter_ms=2.0, loss=0.001)


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the list of tick counts requested from the compiled step."""
    requests: list[int] = []
    ran = advance._run_uncached

    def count_ticks(flow: Flow, ticks: int, samples: object) -> object:
        requests.append(ticks)
        return ran(flow, ticks, None)

    monkeypatch.setattr(advance, "_run_uncached", count_ticks)
    return requests


def test_a_fork_reuses_cached_steps_in_any_slices(steps: list[int]) -> None:
    plain_flow, lean = _build_flow(), _build_flow()
    lean.enable_run_cache()
    twin = lean.fork()
    for flow in (plain_flow, lean):
        advance.run_flow(flow, 300)
    del steps[:]
    advance.run_flow(twin, 120)
    advance.run_flow(twin, 180)
    assert steps == [120], "the second slice ends where the fork has been"
    assert plain_flow.compute_digest() == lean.compute_digest() == twin.compute_digest()


def test_a_change_separates_forks(steps: list[int]) -> None:
    plain_flow, lean = _build_flow(), _build_flow()
    lean.enable_run_cache()
    twin, third = lean.fork(), lean.fork()
    advance.run_flow(lean, 300)
    for flow in (plain_flow, twin, third):
        flow.add_log_kb(0, 64.0)
    advance.run_flow(plain_flow, 300)
    del steps[:]
    advance.run_flow(twin, 300)
    advance.run_flow(third, 300)
    assert steps == [300], "the same deed is the same state"
    assert (
        plain_flow.compute_digest()
        == twin.compute_digest()
        == third.compute_digest()
        != lean.compute_digest()
    )


def test_a_cached_run_stops_at_the_same_tick() -> None:
    lean = build_flow(W1, SafetyMode.OFF)
    lean.enable_run_cache()
    change_inputs(lean, build_pair(W1, SafetyMode.OFF, sending=False))
    advance.run_flow(lean, 500)
    change_inputs(lean, build_pair(W1, SafetyMode.OFF))
    lean.watch_stream(0, FlowStopCondition.SEND_DONE)
    twin = lean.fork()
    first = advance.run_flow(lean, 2_000)
    assert 0 < first[0] < 2_000
    assert advance.run_flow(twin, 1_500) == first
    assert twin.compute_digest() == lean.compute_digest()
