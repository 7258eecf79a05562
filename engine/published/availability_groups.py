"""Figures of availability groups: failover times, and I/O compared with mirroring.

The I/O figures are from the SQLCAT guide, for SQL Server 2012.
"""

from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import Final, TypedDict

from msgspec import Struct

from engine import arithmetic, simulator
from engine.constants import PAGE_KB, TICKS_PER_S
from engine.events import Event, ReplicaData, select_data
from engine.flow import SafetyMode, Samples, run_flow
from engine.flow.sites import SSD, USERS
from engine.model import ReplicaWord, World
from engine.published.clusters import DATABASE, NETWORK_MBPS, NODES, build_group_world
from engine.published.figure_rows import FigureRow, build_published_number_row, build_statement_row
from engine.published.measurements import (
    KB_PER_MB,
    build_unlimited_setup,
    measure_means,
    play_script,
    run_seconds,
    run_to_steady_state,
)

WARM_UP_S: Final = 250.0
MEASUREMENT_S: Final = 300.0


class GroupMeasurement(Struct, frozen=True):
    """Mean and extreme values of one run with an availability group or a mirroring session."""

    requests_per_s: float
    writes_mb_per_s: float  # data disk writes of the secondary or mirror
    writes_most_mb_per_s: float
    writes_least_mb_per_s: float
    bursts: int  # bursts of data writes on the secondary or mirror
    primary_writes_mb_per_s: float
    primary_most_mb_per_s: float


THREE_REPLICAS: Final = ("sync", "sync", "sync")


@cache
def measure_group() -> GroupMeasurement:
    """Measure an availability group under load in a run without faults."""
    world = build_group_world(workload=USERS.name, windows="2012", version=2012)
    simulator.advance_world(world, round(WARM_UP_S * TICKS_PER_S))
    flow = world.flow
    source, stream = world.copies[NODES[0], DATABASE].source, world.copies[NODES[1], DATABASE].stream
    assert source is not None
    assert stream is not None
    before, stream_before = flow.read_source_totals(source), flow.read_stream_totals(stream)
    local_values, remote_values = [], []
    for _ in range(round(MEASUREMENT_S)):
        simulator.advance_world(world, world.tick + TICKS_PER_S)
        local_values.append(flow.read_source(source).principal_data_writes_kb_per_s / KB_PER_MB)
        remote_values.append(flow.read_stream(stream).mirror_data_writes_kb_per_s / KB_PER_MB)
    later_totals, stream_after = flow.read_source_totals(source), flow.read_stream_totals(stream)
    pages_to_mb_per_s = PAGE_KB / KB_PER_MB / MEASUREMENT_S
    return GroupMeasurement(
        requests_per_s=(later_totals.transactions - before.transactions) / MEASUREMENT_S,
        writes_mb_per_s=(stream_after.pages_written - stream_before.pages_written) * pages_to_mb_per_s,
        primary_writes_mb_per_s=(later_totals.pages_written - before.pages_written) * pages_to_mb_per_s,
        **_find_extreme_values(local_values, remote_values),
    )


class ExtremeValues(TypedDict):
    """Extreme rates of data writes in a run, and the number of bursts on the secondary."""

    writes_most_mb_per_s: float
    writes_least_mb_per_s: float
    primary_most_mb_per_s: float
    bursts: int


def _find_extreme_values(primary_rates: Sequence[float], secondary_rates: Sequence[float]) -> ExtremeValues:
    """Return the extreme rates of data writes, and the number of bursts on the secondary.

    Both series are in MB/s, with one value per second.
    """
    high = [rate > 0.5 * max(secondary_rates) for rate in secondary_rates]
    return {
        "writes_most_mb_per_s": max(secondary_rates),
        "writes_least_mb_per_s": min(secondary_rates),
        "primary_most_mb_per_s": max(primary_rates),
        "bursts": len([is_now_high for before, is_now_high in pairwise(high) if is_now_high and not before]),
    }


@cache
def measure_mirroring() -> GroupMeasurement:
    """Measure a mirroring session with the same workload, for comparison."""
    flow = run_to_steady_state(
        build_unlimited_setup(USERS, SafetyMode.FULL, SSD, version=2012, bandwidth_mbps=NETWORK_MBPS)
    )
    run_seconds(flow, WARM_UP_S)
    forked_flow = flow.fork()
    mean_values = measure_means(flow, MEASUREMENT_S)
    samples = Samples(every=TICKS_PER_S)
    run_flow(forked_flow, round(MEASUREMENT_S * TICKS_PER_S), samples)
    principal_mb = samples.read_column(0, "principal_data_writes_kb_per_s") / KB_PER_MB
    mirror_mb = samples.read_column(0, "mirror_data_writes_kb_per_s") / KB_PER_MB
    return GroupMeasurement(
        requests_per_s=mean_values.transactions_per_s,
        writes_mb_per_s=mean_values.mirror_writes_kb_per_s / KB_PER_MB,
        primary_writes_mb_per_s=mean_values.writes_kb_per_s / KB_PER_MB,
        **_find_extreme_values(principal_mb.tolist(), mirror_mb.tolist()),
    )


COMPARISON_SEEDS: Final = range(1, 7)
"""Seeds of the runs whose mean is compared with the published value."""


def _apply_lines(lines: Sequence[str], seed: int, until_s: float) -> tuple[World, list[Event]]:
    """Apply the input *lines* at 5 s to a group with three replicas and a small idle database.

    Return the world at *until_s* and the events until then.
    """
    world = build_group_world(THREE_REPLICAS, windows="2012", version=2012, seed=seed)
    return world, play_script(world, "".join(f"5 {line}\n" for line in lines), until_s)


def _find_state_s(events: list[Event], state_word: ReplicaWord, server: str | None = None) -> float:
    """Return the seconds until a replica enters the state *state_word*.

    The time begins with the input lines, which `_apply_lines` applies at 5 s. *server*: only this
    replica; None for any.
    """
    found_events = (event for event, change in select_data(events, ReplicaData) if change.new == state_word)
    return next(event.tick for event in found_events if server in (None, event.server)) / TICKS_PER_S - 5.0


@cache
def measure_planned_failover_s() -> float:
    """Return the mean duration of a planned failover.

    It begins with RESOLVING_NORMAL at the old primary and ends with PRIMARY_NORMAL at the new one.
    """
    times = []
    for seed in COMPARISON_SEEDS:
        _, events = _apply_lines((f"sql {NODES[1]} ALTER AVAILABILITY GROUP AG FAILOVER",), seed, 25.0)
        begin = _find_state_s(events, ReplicaWord.RESOLVING_NORMAL, NODES[0])
        times.append(_find_state_s(events, ReplicaWord.PRIMARY_NORMAL) - begin)
    return arithmetic.add_in_order(times) / len(times)


@cache
def measure_commit_pause_s() -> float:
    """Return the time without commits after a synchronous secondary stops responding, in seconds.

    The primary is under load.
    """
    world = build_group_world(THREE_REPLICAS, USERS.name, windows="2012", version=2012)
    simulator.advance_world(world, round(5.0 * TICKS_PER_S))
    source = world.copies[NODES[0], DATABASE].source
    assert source is not None
    play_script(world, f"5 black-hole {NODES[0]} {NODES[1]}\n", 5.5)
    transactions = world.flow.read_source_positions(source).transactions
    while (
        world.flow.read_source_positions(source).transactions <= transactions + 1.0
        and world.tick < 60 * TICKS_PER_S
    ):
        simulator.advance_world(world, world.tick + TICKS_PER_S // 10)
    return world.tick / TICKS_PER_S - 5.0


@cache
def measure_isolated_primary_s() -> float:
    """Return the time for which a primary that has lost its network remains primary, in seconds."""
    _, events = _apply_lines([f"black-hole {NODES[0]} {other_node}" for other_node in NODES[1:3]], 1, 60.0)
    return _find_state_s(events, ReplicaWord.RESOLVING_NORMAL, NODES[0])


def build_rows() -> list[FigureRow]:
    """Return the rows about availability groups."""
    group, mirroring = measure_group(), measure_mirroring()
    minutes = MEASUREMENT_S / 60.0
    return [
        build_published_number_row("AG.writes", group.writes_mb_per_s),
        build_published_number_row("AG.burst", group.writes_most_mb_per_s),
        build_published_number_row("AG.mirror.writes", mirroring.writes_mb_per_s),
        build_statement_row("AG.minute", group.bursts == minutes, f"{group.bursts} in {minutes:.0f} minutes"),
        build_statement_row(
            "AG.continuous",
            mirroring.writes_least_mb_per_s > 0.9 * mirroring.writes_most_mb_per_s,
            f"{mirroring.writes_least_mb_per_s:.0f} to {mirroring.writes_most_mb_per_s:.0f} MB/s",
        ),
        build_statement_row(
            "AG.primary",
            abs(group.primary_writes_mb_per_s / mirroring.primary_writes_mb_per_s - 1) < 0.1
            and abs(group.primary_most_mb_per_s / mirroring.primary_most_mb_per_s - 1) < 0.1,
            f"mean {group.primary_writes_mb_per_s:.0f} and {mirroring.primary_writes_mb_per_s:.0f}, most "
            f"{group.primary_most_mb_per_s:.0f} and "
            f"{mirroring.primary_most_mb_per_s:.0f} MB/s",
        ),
        build_published_number_row("AG.requests", group.requests_per_s),
        build_published_number_row("AG.mirror.requests", mirroring.requests_per_s),
        build_published_number_row("AG.planned", measure_planned_failover_s()),
        build_published_number_row("AG.session", measure_commit_pause_s()),
        build_statement_row(
            "AG.lease", measure_isolated_primary_s() <= 10.0, f"after {measure_isolated_primary_s():.1f} s"
        ),
    ]
