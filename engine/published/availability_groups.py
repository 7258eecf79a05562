"""I/O of availability groups against mirroring (SQL Server 2012) in the SQLCAT guide."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

from engine.constants import TICKS_PER_S
from engine.flow import Mode, Samples, run
from engine.flow.sites import SSD, USERS
from engine.published.measure import KB_PER_MB, means, run_s, setup_of, steady
from engine.published.rows import Class, Row, number, statement

AG: Final = (
    "SQLCAT guide, Comparing I/O characteristics in AlwaysOn Availability Groups and Database Mirroring"
)
MBPS: Final = 10_000.0
"""Network of the test. Assumed: the paper names none; it was no limit."""

SETTLE_S: Final = 250.0
MEASURED_S: Final = 300.0


@dataclass(frozen=True)
class Measured:
    requests_per_s: float
    writes_mb_per_s: float  # data disk of the secondary or mirror
    writes_most_mb_per_s: float
    writes_least_mb_per_s: float
    bursts: int  # of the secondary or mirror
    primary_writes_mb_per_s: float
    primary_most_mb_per_s: float


@cache
def measure(availability_group: bool) -> Measured:
    setup = setup_of(USERS, Mode.FULL, SSD, version=2012, bandwidth_mbps=MBPS, log_pool=availability_group)
    flow = steady(setup)
    run_s(flow, SETTLE_S)
    twin = flow.fork()
    got = means(flow, MEASURED_S)
    samples = Samples(every=TICKS_PER_S)
    run(twin, round(MEASURED_S * TICKS_PER_S), samples)
    there = samples.column(0, "mirror_data_writes_kb_per_s") / KB_PER_MB
    here = samples.column(0, "principal_data_writes_kb_per_s") / KB_PER_MB
    high = there > 0.5 * there.max()
    return Measured(
        requests_per_s=got.transactions_per_s,
        writes_mb_per_s=got.mirror_writes_kb_per_s / KB_PER_MB,
        writes_most_mb_per_s=float(there.max()),
        writes_least_mb_per_s=float(there.min()),
        bursts=len((high[1:] & ~high[:-1]).nonzero()[0]),
        primary_writes_mb_per_s=got.writes_kb_per_s / KB_PER_MB,
        primary_most_mb_per_s=float(here.max()),
    )


def rows() -> list[Row]:
    group, mirroring = measure(True), measure(False)
    C = Class.CALIBRATED
    minutes = MEASURED_S / 60.0
    return [
        number(
            "AG.writes",
            f"{AG}, figure 1",
            "availability group, secondary: data writes, mean",
            "MB/s",
            63.0,
            group.writes_mb_per_s,
            C,
        ),
        number(
            "AG.burst",
            f"{AG}, figure 1",
            "availability group, secondary: data writes at checkpoints",
            "MB/s",
            500.0,
            group.writes_most_mb_per_s,
            C,
        ),
        number(
            "AG.mirror.writes",
            f"{AG}, figure 1",
            "mirroring, mirror: data writes, mean",
            "MB/s",
            205.0,
            mirroring.writes_mb_per_s,
            C,
        ),
        statement(
            "AG.minute",
            f"{AG}, figure 1",
            "availability group, secondary: bursts",
            "every minute",
            group.bursts == minutes,
            f"{group.bursts} in {minutes:.0f} minutes",
        ),
        statement(
            "AG.continuous",
            f"{AG}, figure 1",
            "mirroring, mirror: data writes",
            "continuously",
            mirroring.writes_least_mb_per_s > 0.9 * mirroring.writes_most_mb_per_s,
            f"{mirroring.writes_least_mb_per_s:.0f} to {mirroring.writes_most_mb_per_s:.0f} MB/s",
        ),
        statement(
            "AG.primary",
            f"{AG}, figure 1",
            "checkpoints of primary and principal",
            "a very similar pattern in both technologies",
            abs(group.primary_writes_mb_per_s / mirroring.primary_writes_mb_per_s - 1) < 0.1
            and abs(group.primary_most_mb_per_s / mirroring.primary_most_mb_per_s - 1) < 0.1,
            f"mean {group.primary_writes_mb_per_s:.0f} and {mirroring.primary_writes_mb_per_s:.0f}, most "
            f"{group.primary_most_mb_per_s:.0f} and "
            f"{mirroring.primary_most_mb_per_s:.0f} MB/s",
        ),
        number(
            "AG.requests",
            f"{AG}, figure 3",
            "availability group: batch requests",
            "1/s",
            5000.0,
            group.requests_per_s,
            C,
        ),
        number(
            "AG.mirror.requests",
            f"{AG}, figure 3",
            "mirroring: batch requests",
            "1/s",
            4000.0,
            mirroring.requests_per_s,
            C,
        ),
    ]
