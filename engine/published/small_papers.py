"""Figures of four short papers: many databases in one instance, log compression, bandwidth, delayed durability."""

from functools import cache
from itertools import pairwise
from typing import Final

from msgspec import Struct

from engine import arithmetic
from engine.flow import (
    Flow,
    MirroringSetup,
    Operation,
    SafetyMode,
    Workload,
    add_mirroring_setup,
    compute_worker_threads,
    run_flow,
)
from engine.flow import kernel as k
from engine.flow.places import count_mirroring_threads
from engine.flow.setup import compute_wire_ratio
from engine.flow.sites import DELAYED, IDLE, INSERTS, LOG_ROWS, SHAREPOINT, STOCK_EXCHANGE, THREE_PAR, UNISYS
from engine.published.figure_rows import FigureRow, build_published_number_row, build_statement_row
from engine.published.measurements import (
    KB_PER_MB,
    MeanValues,
    build_unlimited_setup,
    measure_means,
    measure_queue_growth,
    measure_setup,
    run_seconds,
    run_to_steady_state,
)

MBPS: Final = (1000.0, 100.0, 50.0, 20.0, 10.0)
QUEUE_KB: Final = 2 * 1024.0 * 1024.0


def build_compression_rows() -> list[FigureRow]:
    """Return the rows about log compression."""
    return [*_build_synchronous_rows(), *_build_asynchronous_rows(), *_build_compression_rule_rows()]


def _build_compression_setup(mode: SafetyMode, mbps: float, ratio: float) -> MirroringSetup:
    return build_unlimited_setup(
        STOCK_EXCHANGE, mode, UNISYS, version=2008, bandwidth_mbps=mbps, compression_ratio=ratio
    )


def _measure_pair(mode: SafetyMode, mbps: float) -> tuple[MeanValues, MeanValues]:
    """Return the mean values of the same session without and with log compression."""
    raw = measure_setup(_build_compression_setup(mode, mbps, 1.0), 60.0)
    return raw, measure_setup(_build_compression_setup(mode, mbps, STOCK_EXCHANGE.compression_ratio), 60.0)


def _build_synchronous_rows() -> list[FigureRow]:
    rows_found, gains, cpu, mirror_cpu = [], [], [], []
    for mbps in MBPS:
        raw, packed = _measure_pair(SafetyMode.FULL, mbps)
        gains.append(100 * (packed.transactions_per_s / raw.transactions_per_s - 1))
        cpu.append(packed.cpu_percent / raw.cpu_percent)
        mirror_cpu.append(packed.mirror_cpu_percent / raw.mirror_cpu_percent)
        rows_found.append(
            build_statement_row(
                f"COMP.sync.{mbps:g}",
                packed.transactions_per_s > raw.transactions_per_s,
                f"{raw.transactions_per_s:.0f} to {packed.transactions_per_s:.0f} per s",
            )
        )
    text = " / ".join(f"{gain:+.0f}" for gain in gains)
    factors = [*cpu, *mirror_cpu]
    return [
        *rows_found,
        build_statement_row(
            "COMP.gain",
            all(larger_gain >= smaller_gain - 0.5 for smaller_gain, larger_gain in pairwise(gains)),
            f"{text}% at 1000 / 100 / 50 / 20 / 10 Mbps",
        ),
        build_statement_row(
            "COMP.cpu.up",
            min(factors) > 1.02,
            f"principal {_format_factors(cpu)}, mirror {_format_factors(mirror_cpu)}",
        ),
        build_statement_row("COMP.cpu.twice", 1.6 <= max(factors) <= 2.2, f"x{max(factors):.2f}"),
    ]


def _format_factors(values: list[float]) -> str:
    return " / ".join(f"x{value:.2f}" for value in values)


def _build_asynchronous_rows() -> list[FigureRow]:
    raw_growth, packed_growth, changes, cpu, mirror_cpu = [], [], [], [], []
    for mbps in MBPS:
        raw, packed = _measure_pair(SafetyMode.OFF, mbps)
        changes.append(abs(packed.transactions_per_s / raw.transactions_per_s - 1))
        cpu.append(packed.cpu_percent / raw.cpu_percent)
        mirror_cpu.append(packed.mirror_cpu_percent / raw.mirror_cpu_percent)
        raw_growth.append(measure_queue_growth(_build_compression_setup(SafetyMode.OFF, mbps, 1.0))[1])
        packed_growth.append(
            measure_queue_growth(
                _build_compression_setup(SafetyMode.OFF, mbps, STOCK_EXCHANGE.compression_ratio)
            )[1]
        )
    smaller = all(b <= a + 1.0 for a, b in zip(raw_growth, packed_growth, strict=True))
    drain = [_measure_drain_s(ratio) for ratio in (1.0, STOCK_EXCHANGE.compression_ratio)]
    return [
        build_statement_row(
            "COMP.async.queue",
            smaller and packed_growth[2] < 0.1 * raw_growth[2],
            " / ".join(f"{a:.0f} to {b:.0f}" for a, b in zip(raw_growth, packed_growth, strict=True))
            + " KB/s",
        ),
        build_statement_row(
            "COMP.async.tps", max(changes) < 0.01, f"at most {100 * max(changes):.2f}% apart"
        ),
        build_statement_row(
            "COMP.async.cpu",
            min(cpu) > 1.0 and max(cpu) < 1.25 and min(mirror_cpu) > 1.0 and max(mirror_cpu) < 1.5,
            f"principal {_format_factors(cpu)}, mirror {_format_factors(mirror_cpu)}",
        ),
        build_statement_row(
            "COMP.async.drain", drain[1] < 0.4 * drain[0], f"{drain[0]:.0f} to {drain[1]:.0f} s"
        ),
    ]


def _measure_drain_s(ratio: float) -> float:
    """Return the seconds in which an idle principal sends 2 GB of unsent log.

    *ratio*: size of the compressed log as a share of the original size.
    """
    rate = measure_setup(_build_compression_setup(SafetyMode.OFF, 10.0, ratio), 60.0).sent_kb_per_s
    return QUEUE_KB / rate


def _build_compression_rule_rows() -> list[FigureRow]:
    sent_ratio, used = compute_wire_ratio(0.88, 2008), compute_wire_ratio(0.87, 2008)
    off_ratio = compute_wire_ratio(0.27, 2005)
    raw, tried = (
        measure_setup(_build_compression_setup(SafetyMode.FULL, 1000.0, ratio), 60.0) for ratio in (1.0, 0.95)
    )
    return [
        build_statement_row(
            "COMP.rule",
            sent_ratio == 1.0 and used == 0.87,
            f"12% saved: {sent_ratio:g}, 13% saved: {used:g} wire bytes per byte",
        ),
        build_statement_row(
            "COMP.rule.cpu",
            tried.cpu_percent > raw.cpu_percent + 0.5
            and abs(tried.mirror_cpu_percent / raw.mirror_cpu_percent - 1) < 0.01,
            f"principal {raw.cpu_percent:.1f} to {tried.cpu_percent:.1f}%, "
            f"mirror {raw.mirror_cpu_percent:.1f} to {tried.mirror_cpu_percent:.1f}%",
        ),
        build_statement_row("COMP.2005", off_ratio == 1.0, f"2005 sends {off_ratio:g} wire bytes per byte"),
    ]


DOCUMENT_MB: Final = 49.0
"""Size of the document in the paper's upload test, in MB. Documented."""

LOG_BYTES_PER_DOCUMENT_BYTE: Final = 1.8
"""Log bytes per byte of the document, for its upload and deletion together. Assumed."""

COMMITS_PER_UPLOAD: Final = 25.0
"""Number of commits per upload and deletion. Fitted to 345 MB/min with mirroring."""

WEB_TIER_MB_PER_MIN: Final = 384.5
"""Throughput of one web server. Fitted to 380 MB/min without mirroring, including commits."""

UPLOAD_OPERATION: Final = Operation(
    "upload and delete",
    log_kb=1e12,
    rate_kb_per_s=WEB_TIER_MB_PER_MIN / 60.0 * KB_PER_MB * LOG_BYTES_PER_DOCUMENT_BYTE,
    batch_kb=DOCUMENT_MB * KB_PER_MB * LOG_BYTES_PER_DOCUMENT_BYTE / COMMITS_PER_UPLOAD,
)

UPLOAD_MEASUREMENT_S: Final = 600.0
WORKLOAD: Final[Workload] = IDLE


@cache
def measure_uploads(mode: SafetyMode, mbps: float = 1000.0) -> tuple[float, float]:
    """Return the uploaded MB/min, and the used share of the link, at a safety mode."""
    flow = Flow.create_empty()
    add_mirroring_setup(
        flow,
        build_unlimited_setup(WORKLOAD, mode, SHAREPOINT, bandwidth_mbps=mbps, operation=UPLOAD_OPERATION),
    )
    run_seconds(flow, 60.0)
    mean_values = measure_means(flow, UPLOAD_MEASUREMENT_S)
    used = mean_values.sent_kb_per_s / float(flow.links[0, k.LINK_KB]) if mode else 0.0
    return mean_values.log_kb_per_s / LOG_BYTES_PER_DOCUMENT_BYTE / KB_PER_MB * 60.0, used


def build_bandwidth_rows() -> list[FigureRow]:
    """Return the rows about bandwidth."""
    unmirrored_s, _ = measure_uploads(SafetyMode.NONE)
    fast_uploads, _ = measure_uploads(SafetyMode.FULL, 1000.0)
    medium, used = measure_uploads(SafetyMode.FULL, 100.0)
    slow, _ = measure_uploads(SafetyMode.FULL, 10.0)
    upload_min = DOCUMENT_MB / slow
    return [
        build_published_number_row("BW.none", unmirrored_s),
        build_published_number_row("BW.1000", fast_uploads),
        build_published_number_row("BW.100", medium),
        build_statement_row("BW.100.link", used > 0.85, f"{100 * used:.0f}%"),
        build_statement_row("BW.10", slow < 0.25 * fast_uploads, f"{slow:.0f} MB/min"),
        build_statement_row("BW.10.upload", upload_min > 5.0, f"{upload_min:.1f} minutes"),
    ]


ROWS: Final = 250_000.0
FAILOVER_AFTER_S: Final = 30.0
HIGH_LATENCY_RTT_MS: Final = 100.0
"""Round trip of a high-latency network, in ms. Assumed: the blog about delayed durability names none."""


class DurabilityMeasurement(Struct, frozen=True):
    """Throughput and latency with or without delayed durability."""

    rows_in_30_s: float
    delay_ms_per_s: float  # counter Transaction Delay: sum over all transactions
    unsent_kb: float  # mean of the log that is generated but not yet sent
    all_rows_s: float


@cache
def measure_durability(mode: SafetyMode, delayed: bool, rtt_ms: float = 0.2) -> DurabilityMeasurement:
    """Measure a workload at a safety mode, with or without delayed durability."""
    setup = build_unlimited_setup(
        LOG_ROWS, mode, DELAYED, version=2014, delayed_durability=delayed, rtt_ms=rtt_ms
    )
    flow = run_to_steady_state(setup)
    mean_values = measure_means(flow, FAILOVER_AFTER_S)
    unsent = 0.0
    for _ in range(200):
        run_flow(flow, 1)
        unsent += (flow.read_source_positions(0).generated_kb - flow.read_stream_positions(0).sent_kb) / 200
    rate = mean_values.transactions_per_s
    delay = flow.read_source(0).commit_delay_ms * rate
    return DurabilityMeasurement(rate * FAILOVER_AFTER_S, delay, unsent, ROWS / rate)


def build_durability_rows() -> list[FigureRow]:
    """Return the rows about delayed durability."""
    full_durable, full_delayed = (
        measure_durability(SafetyMode.FULL, False),
        measure_durability(SafetyMode.FULL, True),
    )
    off_durable, off_delayed = (
        measure_durability(SafetyMode.OFF, False),
        measure_durability(SafetyMode.OFF, True),
    )
    far_full_ms, far_delayed = (
        measure_durability(SafetyMode.FULL, False, HIGH_LATENCY_RTT_MS),
        measure_durability(SafetyMode.FULL, True, HIGH_LATENCY_RTT_MS),
    )
    near_gain = full_durable.all_rows_s / full_delayed.all_rows_s
    far_gain = far_full_ms.all_rows_s / far_delayed.all_rows_s
    times = full_delayed.delay_ms_per_s / full_durable.delay_ms_per_s
    difference_s = off_durable.all_rows_s - off_delayed.all_rows_s
    # every_s is the time between two log flushes with delayed durability.
    setup = build_unlimited_setup(LOG_ROWS, SafetyMode.FULL, DELAYED, version=2014, delayed_durability=True)
    every_s = DELAYED.log_block_kb / measure_setup(setup, FAILOVER_AFTER_S).log_kb_per_s
    return [
        build_published_number_row("DD.full", full_durable.rows_in_30_s),
        build_published_number_row("DD.delayed", full_delayed.rows_in_30_s),
        build_published_number_row("DD.delay", times),
        build_statement_row(
            "DD.queue",
            full_delayed.unsent_kb > full_durable.unsent_kb,
            f"{full_durable.unsent_kb:.1f} to {full_delayed.unsent_kb:.1f} KB unsent",
        ),
        build_statement_row(
            "DD.off",
            abs(difference_s) <= 10.0,
            f"{off_durable.all_rows_s:.1f} against {off_delayed.all_rows_s:.1f} s",
        ),
        build_statement_row(
            "DD.latency",
            far_gain < 1.1 < near_gain,
            f"x{near_gain:.2f} on the LAN, x{far_gain:.2f} at {HIGH_LATENCY_RTT_MS:g} ms",
        ),
        build_statement_row("DD.batches", 15.0 <= every_s <= 25.0, f"a block each {every_s:.3f} s"),
    ]


DATABASES: Final = (20, 40, 60, 80, 100)

NON_WORKER_THREADS: Final = 36
"""Threads of an instance that are not workers. The paper has 612 threads when all 576 workers are in use."""

MIRROR_NON_MIRRORING_THREADS: Final = 90
"""Threads of the mirror that do not belong to mirroring. Fitted to the mean of five columns."""

PEAK_BUSY_RATIO: Final = 1.95
"""Ratio of the maximum to the mean number of busy workers.

Idle workers remain, so the maximum determines the number of threads. Fitted to the principal's threads at 20
to 60 databases.
"""

WARM_UP_S: Final = 20.0
MEASUREMENT_S: Final = 30.0


class ManyDatabasesMeasurement(Struct, frozen=True):
    """Mean values of many mirrored databases on one pair of servers."""

    requests_per_s: float
    cpu_percent: float
    mirror_cpu_percent: float
    threads: float
    mirroring_threads: int
    mirror_threads: int
    mirror_mirroring_threads: int


@cache
def measure_databases(databases: int) -> ManyDatabasesMeasurement:
    """Measure a pair of servers with *databases* mirrored databases. Each database has twenty connections."""
    flow = Flow.create_empty()
    setup = build_unlimited_setup(INSERTS, SafetyMode.FULL, THREE_PAR, version=2008)
    for _ in range(databases):
        add_mirroring_setup(flow, setup)
    run_seconds(flow, WARM_UP_S)
    before = [flow.read_source_totals(row).transactions for row in range(databases)]
    core_s, mirror_core_s = flow.read_source_totals(0).core_s, flow.read_stream_totals(0).core_s
    run_seconds(flow, MEASUREMENT_S)
    done_count = arithmetic.add_in_order(
        flow.read_source_totals(source).transactions - earlier_count
        for source, earlier_count in enumerate(before)
    )
    threads = count_mirroring_threads(flow.source_setups, flow.stream_setups)
    busy = arithmetic.add_in_order(
        flow.sources[:, [k.IN_OTHER, k.ON_CPU, k.BLOCKED, k.WAITING]].ravel().tolist()
    )
    per_percent = 100.0 / MEASUREMENT_S / THREE_PAR.cores
    return ManyDatabasesMeasurement(
        requests_per_s=done_count / MEASUREMENT_S,
        cpu_percent=(flow.read_source_totals(0).core_s - core_s) * per_percent,
        mirror_cpu_percent=(flow.read_stream_totals(0).core_s - mirror_core_s) * per_percent,
        threads=NON_WORKER_THREADS
        + min(compute_worker_threads(THREE_PAR.cores), threads[0] + PEAK_BUSY_RATIO * busy),
        mirroring_threads=threads[0],
        mirror_threads=MIRROR_NON_MIRRORING_THREADS + threads[1],
        mirror_mirroring_threads=threads[1],
    )


def build_many_databases_rows() -> list[FigureRow]:
    """Return the rows about many databases in one instance."""
    rows_found = []
    for databases in DATABASES:
        ours = measure_databases(databases)
        cells = {
            "tps": ours.requests_per_s,
            "cpu": ours.cpu_percent,
            "mirror-cpu": ours.mirror_cpu_percent,
            "threads": ours.threads,
            "dbm-threads": ours.mirroring_threads,
            "mirror-threads": ours.mirror_threads,
            "mirror-dbm-threads": ours.mirror_mirroring_threads,
        }
        rows_found += [
            build_published_number_row(f"MANY.{databases}.{name}", value) for name, value in cells.items()
        ]
    rates = [measure_databases(databases).requests_per_s / databases for databases in DATABASES]
    rows_found.append(
        build_statement_row(
            "MANY.linear",
            min(rates) > 0.88 * max(rates),
            " / ".join(f"{rate:.0f}" for rate in rates) + " requests/s for each database",
        )
    )
    return rows_found
