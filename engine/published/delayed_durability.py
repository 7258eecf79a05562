"""Delayed durability and mirroring (2014): 50 threads insert into a log table, failover after 30 s."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

from engine.flow import SafetyMode, run
from engine.flow.sites import DELAYED, LOG_ROWS
from engine.published.measure import means, measured, setup_of, steady
from engine.published.rows import FigureRow, number, statement

ROWS: Final = 250_000.0
FAILOVER_AFTER_S: Final = 30.0
FAR_RTT_MS: Final = 100.0
"""Round trip of a high-latency network. Assumed; the blog names none."""


@dataclass(frozen=True)
class DurabilityMeasurement:
    """Throughput and latency with or without delayed durability."""

    rows_in_30_s: float
    delay_ms_per_s: float  # counter Transaction Delay: sum over all transactions
    unsent_kb: float  # generated and not yet sent, mean
    all_rows_s: float


@cache
def measure(mode: SafetyMode, delayed: bool, rtt_ms: float = 0.2) -> DurabilityMeasurement:
    """Measure a workload at a safety mode, with or without delayed durability."""
    setup = setup_of(LOG_ROWS, mode, DELAYED, version=2014, delayed_durability=delayed, rtt_ms=rtt_ms)
    flow = steady(setup)
    got = means(flow, FAILOVER_AFTER_S)
    unsent = 0.0
    for _ in range(200):
        run(flow, 1)
        unsent += (flow.positions(0).generated_kb - flow.stream_positions(0).sent_kb) / 200
    rate = got.transactions_per_s
    delay = flow.reading(0).commit_delay_ms * rate
    return DurabilityMeasurement(rate * FAILOVER_AFTER_S, delay, unsent, ROWS / rate)


def rows() -> list[FigureRow]:
    """Return the rows of this section."""
    full, delayed = measure(SafetyMode.FULL, False), measure(SafetyMode.FULL, True)
    off_full, off_delayed = measure(SafetyMode.OFF, False), measure(SafetyMode.OFF, True)
    far_full, far_delayed = (
        measure(SafetyMode.FULL, False, FAR_RTT_MS),
        measure(SafetyMode.FULL, True, FAR_RTT_MS),
    )
    near_gain = full.all_rows_s / delayed.all_rows_s
    far_gain = far_full.all_rows_s / far_delayed.all_rows_s
    times = delayed.delay_ms_per_s / full.delay_ms_per_s
    difference_s = off_full.all_rows_s - off_delayed.all_rows_s
    # the time between two releases of log with delayed durability
    setup = setup_of(LOG_ROWS, SafetyMode.FULL, DELAYED, version=2014, delayed_durability=True)
    every_s = DELAYED.log_block_kb / measured(setup, FAILOVER_AFTER_S).log_kb_per_s
    return [
        number("DD.full", full.rows_in_30_s),
        number("DD.delayed", delayed.rows_in_30_s),
        number("DD.delay", times),
        statement(
            "DD.queue",
            delayed.unsent_kb > full.unsent_kb,
            f"{full.unsent_kb:.1f} to {delayed.unsent_kb:.1f} KB unsent",
        ),
        statement(
            "DD.off",
            abs(difference_s) <= 10.0,
            f"{off_full.all_rows_s:.1f} against {off_delayed.all_rows_s:.1f} s",
        ),
        statement(
            "DD.latency",
            far_gain < 1.1 < near_gain,
            f"x{near_gain:.2f} on the LAN, x{far_gain:.2f} at {FAR_RTT_MS:g} ms",
        ),
        statement("DD.batches", 15.0 <= every_s <= 25.0, f"a block each {every_s:.3f} s"),
    ]
