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
from engine.published.rows import FigureClass, FigureRow, build_number_row, statement

MANY: Final = "Mirroring a Large Number of Databases in a Single SQL Server Instance (2010)"

PUBLISHED: Final = {
    # databases: requests/s; % CPU of principal and mirror; principal threads: all, mirroring; mirror
    # threads: all, mirroring
    20: (2680, 15.0, 13.9, 212, 41, 187, 101),
    40: (5244, 27.3, 24.4, 342, 81, 296, 201),
    60: (7814, 42.1, 32.5, 603, 121, 391, 301),
    80: (10251, 55.1, 38.6, 612, 161, 492, 401),
    100: (12102, 63.5, 42.9, 612, 201, 592, 501),
}

OTHER_THREADS: Final = 36
"""Threads of an instance other than workers. Read off: 612 in all with all 576 workers in use."""

MIRROR_OTHER_THREADS: Final = 90
"""Threads of the mirror other than those of mirroring. Fitted: the mean of five columns."""

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
    C, S, P, I = FigureClass.CALIBRATED, FigureClass.SHARED, FigureClass.PREDICTED, FigureClass.INPUT  # noqa: E741
    found = []
    for databases, published in PUBLISHED.items():
        ours = measure(databases)
        fitted = C if databases in (20, 100) else P
        cells = (
            ("tps", "requests", "1/s", fitted, ours.requests_per_s),
            ("cpu", "% CPU (principal)", "%", S, ours.cpu_percent),
            ("mirror-cpu", "% CPU (mirror)", "%", S, ours.mirror_cpu_percent),
            ("threads", "all threads (principal)", "", S, ours.threads),
            ("dbm-threads", "mirroring threads (principal)", "", I, ours.mirroring_threads),
            ("mirror-threads", "all threads (mirror)", "", S, ours.mirror_threads),
            ("mirror-dbm-threads", "mirroring threads (mirror)", "", I, ours.mirror_mirroring_threads),
        )
        for value, (name, what, unit, kind, our) in zip(published, cells, strict=True):
            id = f"MANY.{databases}.{name}"
            text = f"{databases} databases: {what}"
            found.append(build_number_row(id, MANY, text, unit, value, our, kind, cpu="cpu" in name))
    each = [measure(databases).requests_per_s / databases for databases in PUBLISHED]
    found.append(
        statement(
            "MANY.linear",
            min(each) > 0.88 * max(each),
            " / ".join(f"{rate:.0f}" for rate in each) + " requests/s for each database",
        )
    )
    return found
