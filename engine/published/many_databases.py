"""Mirroring many databases in one instance (SQL Server 2008): threads, throughput, CPU for 20 to 100 databases."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

from engine import arithmetic
from engine.flow import Flow, SafetyMode, add_pair, worker_threads
from engine.flow import kernel as k
from engine.flow.places import mirroring_threads
from engine.flow.sites import INSERTS, THREE_PAR
from engine.published.measure import run_s, setup_of
from engine.published.rows import FigureRow, number, statement

MANY: Final = "Mirroring a Large Number of Databases in a Single SQL Server Instance (2010)"

DATABASES: Final = (20, 40, 60, 80, 100)

OTHER_THREADS: Final = 36
"""Threads of an instance other than workers. Read off: 612 in all with all 576 workers in use."""

MIRROR_OTHER_THREADS: Final = 90
"""Threads of the mirror that do not belong to mirroring. Fitted: mean of five columns."""

PEAK_BUSY: Final = 1.95
"""Largest number of busy workers relative to the mean; workers stay once created.

Fitted: principal's threads at 20 to 60.
"""

SETTLE_S: Final = 20.0
MEASURED_S: Final = 30.0


@dataclass(frozen=True)
class ManyDatabasesMeasurement:
    """Means of many mirrored databases on one pair of servers."""

    requests_per_s: float
    cpu_percent: float
    mirror_cpu_percent: float
    threads: float
    mirroring_threads: int
    mirror_threads: int
    mirror_mirroring_threads: int


@cache
def measure(databases: int) -> ManyDatabasesMeasurement:
    """Measure all databases on one pair of servers, each with its twenty connections."""
    flow = Flow.empty()
    setup = setup_of(INSERTS, SafetyMode.FULL, THREE_PAR, version=2008)
    for _ in range(databases):
        add_pair(flow, setup)
    run_s(flow, SETTLE_S)
    before = [flow.totals(row).transactions for row in range(databases)]
    core_s, mirror_core_s = flow.totals(0).core_s, flow.stream_totals(0).core_s
    run_s(flow, MEASURED_S)
    done = arithmetic.total(flow.totals(source).transactions - was for source, was in enumerate(before))
    threads = mirroring_threads(flow.source_setups, flow.stream_setups)
    busy = arithmetic.total(flow.sources[:, [k.IN_OTHER, k.ON_CPU, k.BLOCKED, k.WAITING]].ravel().tolist())
    per_percent = 100.0 / MEASURED_S / THREE_PAR.cores
    return ManyDatabasesMeasurement(
        requests_per_s=done / MEASURED_S,
        cpu_percent=(flow.totals(0).core_s - core_s) * per_percent,
        mirror_cpu_percent=(flow.stream_totals(0).core_s - mirror_core_s) * per_percent,
        threads=OTHER_THREADS + min(worker_threads(THREE_PAR.cores), threads[0] + PEAK_BUSY * busy),
        mirroring_threads=threads[0],
        mirror_threads=MIRROR_OTHER_THREADS + threads[1],
        mirror_mirroring_threads=threads[1],
    )


def rows() -> list[FigureRow]:
    """Return the rows of this section."""
    found = []
    for databases in DATABASES:
        ours = measure(databases)
        cells = {
            "tps": ours.requests_per_s,
            "cpu": ours.cpu_percent,
            "mirror-cpu": ours.mirror_cpu_percent,
            "threads": ours.threads,
            "dbm-threads": ours.mirroring_threads,
            "mirror-threads": ours.mirror_threads,
            "mirror-dbm-threads": ours.mirror_mirroring_threads,
        }
        found += [number(f"MANY.{databases}.{name}", value) for name, value in cells.items()]
    each = [measure(databases).requests_per_s / databases for databases in DATABASES]
    found.append(
        statement(
            "MANY.linear",
            min(each) > 0.88 * max(each),
            " / ".join(f"{rate:.0f}" for rate in each) + " requests/s for each database",
        )
    )
    return found
