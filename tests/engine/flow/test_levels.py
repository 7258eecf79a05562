"""Levels of the flow model: a run stops at the whole second in which a level is crossed.

Watching a level has no other effect.
"""

from __future__ import annotations

from typing import Final

import pytest
from msgspec.structs import replace

from engine.constants import TICKS_PER_S
from engine.drill.authoring.conditions import OPERATORS
from engine.flow import Flow, SafetyMode, Threshold, run_flow
from engine.flow import kernel as k
from tests.engine.flow.pairs import W1, build_flow

SECONDS: Final = 40

EARLY_TICKS: Final = 30
"""Number of ticks that is not a whole number of seconds."""


def build_thin_link_flow(has_cache: bool) -> Flow:
    """Return a flow whose link to the mirror is too slow, so that the send queue grows each second."""
    flow = build_flow(W1, SafetyMode.OFF, bandwidth_mbps=3.0, log_max_kb=400_000.0)
    if has_cache:
        flow.enable_run_cache()
    run_flow(flow, EARLY_TICKS)
    return flow


def get_level_value(flow: Flow, level: Threshold) -> float:
    counters = flow.read_stream(0) if hasattr(flow.read_stream(0), level.counter) else flow.read_source(0)
    number = float(getattr(counters, level.counter))
    return 100.0 * number / level.whole if level.whole else number


def is_level_met(flow: Flow, level: Threshold) -> bool:
    return bool(OPERATORS[level.sign](get_level_value(flow, level), level.level))


@pytest.mark.parametrize("sign", OPERATORS)
@pytest.mark.parametrize(
    ("counter", "threshold"),
    [("send_queue_kb", 0.0), ("log_used_kb", 50_000.0), ("transactions_per_s", 0.0), ("response_s", 0.0)],
)
def test_the_flow_stops_where_a_check_each_second_would_change(
    counter: str, threshold: float, sign: str
) -> None:
    looked, level = build_thin_link_flow(False), Threshold(0, counter, threshold, sign, 0.0, False)
    values = []
    for _ in range(SECONDS):
        run_flow(looked, TICKS_PER_S - int(looked.clock[k.TICKS]) % TICKS_PER_S)
        values.append(get_level_value(looked, level))
    for limit in (values[5], (values[20] + values[21]) / 2.0, values[-1] + 1.0):
        flow = build_thin_link_flow(True)
        level = replace(level, level=limit)
        level = replace(level, held=is_level_met(flow, level))
        answers = [OPERATORS[sign](value, limit) for value in values]
        flow.watch_thresholds([level])
        change_s = next((second for second, answer in enumerate(answers, 1) if answer != level.held), None)
        for fork in (flow.fork(), flow.fork()):  # the second fork uses the cache that the first one filled
            ran, sources, streams = run_flow(fork, SECONDS * TICKS_PER_S - EARLY_TICKS)
            assert (sources, streams) == ([], [])
            assert fork.passed == (change_s is not None)
            assert (ran + EARLY_TICKS) / TICKS_PER_S == (change_s or SECONDS)


def test_an_unwatched_level_stops_nothing() -> None:
    flow = build_thin_link_flow(True)
    queue_kb = flow.read_stream(0).send_queue_kb
    flow.watch_thresholds([Threshold(0, "send_queue_kb", 0.0, ">", queue_kb + 1.0, False)])
    fork = flow.fork()
    run_flow(flow, 5 * TICKS_PER_S)
    assert flow.passed
    fork.watch_thresholds([])
    assert run_flow(fork, 5 * TICKS_PER_S)[0] == 5 * TICKS_PER_S
    assert not fork.passed


def test_watching_does_not_change_the_flow() -> None:
    watched, plain_run = build_thin_link_flow(True), build_thin_link_flow(False)
    watched.watch_thresholds([Threshold(0, "send_queue_kb", 0.0, ">", 1e9, False)])
    assert run_flow(watched, 1000)[0] == run_flow(plain_run, 1000)[0] == 1000
    assert watched.compute_digest() == plain_run.compute_digest()
    assert watched.get_state_key() == plain_run.get_state_key()
