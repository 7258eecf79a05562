"""Flow step of 10 ms: half the step changes no figure by 1%, and plain Python gives the same bits."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest
from msgspec.structs import replace

from engine.flow import Flow, SafetyMode, Workload, add_mirroring_setup, run_flow, warm_start
from tests.engine.flow.pairs import (
    W1,
    W2,
    build_pair,
    change_inputs,
    compute_means,
    get_positions,
    read_counters,
)

CASES = [
    (W1, SafetyMode.NONE, {}),
    (W1, SafetyMode.FULL, {}),
    (W1, SafetyMode.FULL, {"rtt_ms": 100.0}),
    (W1, SafetyMode.FULL, {"bandwidth_mbps": 5.0}),
    (W1, SafetyMode.OFF, {"rtt_ms": 100.0}),
    (W2, SafetyMode.OFF, {}),
    (W2, SafetyMode.FULL, {}),
    (W2, SafetyMode.FULL, {"rtt_ms": 20.0, "version": 2008, "compression_ratio": 0.27}),
    (W2, SafetyMode.FULL, {"jitter_ms": 2.0}),
]


@pytest.mark.parametrize(("workload", "mode", "changes"), CASES)
def test_halving_the_step_changes_nothing(
    workload: Workload, mode: SafetyMode, changes: dict[str, Any]
) -> None:
    figures = []
    for steps_per_tick in (1, 2):
        flow = Flow.create_empty(steps_per_tick)
        add_mirroring_setup(flow, build_pair(workload, mode, **changes))
        warm_start(flow, 0, 0.0)
        figures.append(compute_means(flow, 120))
    coarse, fine = figures
    for name in coarse.__struct_fields__:
        assert getattr(coarse, name) == pytest.approx(getattr(fine, name), rel=0.01, abs=1e-6), name


def test_a_disturbance_decays_equally_at_half_the_step() -> None:
    queues = []
    for steps_per_tick in (1, 2):
        flow = Flow.create_empty(steps_per_tick)
        add_mirroring_setup(flow, build_pair(W2, SafetyMode.OFF))
        warm_start(flow, 0, 0.0)
        change_inputs(flow, build_pair(W2, SafetyMode.OFF, sending=False))
        run_flow(flow, 3000)
        change_inputs(flow, build_pair(W2, SafetyMode.OFF))
        queue = [read_counters(flow).send_queue_kb]
        for _ in range(5):
            run_flow(flow, 500)
            queue.append(read_counters(flow).send_queue_kb)
        queues.append(queue)
    assert queues[0] == pytest.approx(queues[1], rel=0.001)
    assert queues[0][0] == pytest.approx(30 * 11_978, rel=0.01)


def test_a_fast_workload_gets_a_shorter_step_at_any_time() -> None:
    quick = replace(W2, name="quick", cpu_ms=0.1, other_delay_ms=4.0, log_kb_per_transaction=0.5)
    flow = Flow.create_empty()
    add_mirroring_setup(flow, build_pair(W1, rtt_ms=60.0))
    run_flow(flow, 500)
    twin = flow.fork()
    row = add_mirroring_setup(flow, build_pair(quick, SafetyMode.NONE, version=2014, delayed_durability=True))
    assert flow.steps_per_tick == 4
    assert compute_means(flow, 20, row).transactions_per_s == pytest.approx(20 / 0.0041, rel=0.01)
    run_flow(twin, 2000)
    assert get_positions(flow).hardened_kb == pytest.approx(get_positions(twin).hardened_kb, rel=1e-4)


PLAIN_PYTHON_SCRIPT = """
from engine.flow import Flow, add_mirroring_setup, run_flow
from tests.engine.flow.pairs import WORKLOAD2, build_pair
flow = Flow.create_empty()
add_mirroring_setup(flow, build_pair(rtt_ms=30.0, jitter_ms=3.0, loss=0.001))
add_mirroring_setup(flow, build_pair(WORKLOAD2))
run_flow(flow, 150)
print(flow.compute_digest().hex())
"""


def test_compiled_and_plain_python_agree_bit_for_bit() -> None:
    answers = [
        subprocess.run(
            [sys.executable, "-c", PLAIN_PYTHON_SCRIPT],
            env={**os.environ, "MIRRORDRILL_KERNEL": choice},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for choice in ("c", "python")
    ]
    assert answers[0] == answers[1]
