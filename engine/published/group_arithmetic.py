"""Estimates of recovery time and data loss of availability groups, computed as the documentation does."""

from __future__ import annotations

from functools import cache
from typing import Final

from engine.constants import TICKS_PER_S
from engine.flow.sites import USERS, WORKLOAD1
from engine.published.clusters import DATABASE, GROUP, NODES, group_world
from engine.published.measure import play
from engine.published.rows import FigureClass, FigureRow, build_number_row, statement

AUTO: Final = ("auto", "auto", "async")
FIVE: Final = 5.0
"""Time of the first action of each run, in seconds."""
RTO: Final = "[DOC: performance of groups], estimating failover time"
OVERHEAD_MAX_S: Final = 7.0
"""Longest failover without detection and redo: the page says "short and constant". Derived.

7 s includes the offline phase of the planned failover in the lab's trace.
"""


@cache
def _redo_run() -> tuple[float, float]:
    """Return (redo queue divided by redo rate as the view shows them, redo time of the next failover), in seconds."""
    world = group_world(AUTO, USERS.name, windows="2012 R2", version=2014, witness=True)
    play(world, "5 slow-cpu NODE_2 factor=8\n", 90.0)
    stream = world.copies[NODES[1], DATABASE].stream
    assert stream is not None
    reading = world.flow.stream_reading(stream)
    estimate_s = reading.redo_queue_kb / reading.redo_kb_per_s
    play(world, "90 stop-service NODE_1\n", 91.0)
    while not any(one.redo_done_tick for one in world.failovers) and world.tick < 3000 * TICKS_PER_S:
        play(world, "", world.tick / TICKS_PER_S + 5.0)
    failover = world.failovers[-1]
    return estimate_s, ((failover.redo_done_tick or 0) - failover.detected_tick) / TICKS_PER_S


@cache
def _loss_run() -> tuple[float, float, int]:
    """Return three figures of a loss.

    (log send queue divided by log generation rate, seconds of lost commits, commits lost in a synchronous failover).
    """
    world = group_world(("auto", "async"), WORKLOAD1.name, witness=True)
    play(world, "5 degrade NODE_1 NODE_2 bandwidth_mbps=1\n", 300.0)
    source, stream = world.copies[NODES[0], DATABASE].source, world.copies[NODES[1], DATABASE].stream
    assert source is not None and stream is not None
    before = world.flow.positions(source)
    play(world, "", 310.0)
    after = world.flow.positions(source)
    rate = (after.generated_kb - before.generated_kb) / 10.0
    commits_per_s = (after.transactions - before.transactions) / 10.0
    queue_kb = world.flow.stream_reading(stream).send_queue_kb
    force = f"ALTER AVAILABILITY GROUP {GROUP} FORCE_FAILOVER_ALLOW_DATA_LOSS"
    play(world, f"310 power-off NODE_1\n325 sql NODE_2 {force}\n", 350.0)
    lost = world.availability[DATABASE].lost_transactions
    calm = group_world(AUTO, WORKLOAD1.name, witness=True)
    play(calm, "30 power-off NODE_1\n", 70.0)
    return queue_kb / rate, lost / commits_per_s, calm.availability[DATABASE].lost_transactions


@cache
def _outage_s(fault: str) -> tuple[float, float]:
    """Return the times from a failure of the primary to its detection and until the database is open again."""
    world = group_world(AUTO, windows="2016", witness=True)
    play(world, f"5 {fault} NODE_1\n", 90.0)
    found = [one for one in world.failovers if one.online_tick]
    if not found:
        return 10**9, 10**9
    last = found[-1]
    return last.detected_tick / TICKS_PER_S - FIVE, (last.online_tick or 0) / TICKS_PER_S - FIVE


def rows() -> list[FigureRow]:
    """Return the rows of these estimates."""
    estimate_s, redo_s = _redo_run()
    points_s, lost_s, synchronous = _loss_run()
    bands = (
        ("stop-service", 0.0, 2.0),
        ("hang", 0.0, 20.0),
        ("power-off", 10.0, 12.0),
        ("pull-cable", 10.0, 12.0),
    )
    found = [
        build_number_row(
            "GRP.rto",
            RTO,
            "time of redo at a failover = redo queue / redo rate",
            "s",
            round(estimate_s, 1),
            redo_s,
            FigureClass.PREDICTED,
        ),
        build_number_row(
            "GRP.rpo",
            "[DOC: performance of groups], estimating potential data loss",
            "commits lost by a forced failover = log send queue / log generation rate",
            "s",
            round(points_s, 1),
            lost_s,
            FigureClass.PREDICTED,
        ),
        statement("GRP.rpo.ready", synchronous == 0, f"{synchronous} commits lost"),
    ]
    for fault, least_s, most_s in bands:
        detected_s, open_s = _outage_s(fault)
        holds = least_s <= detected_s <= most_s and open_s - detected_s <= OVERHEAD_MAX_S
        ours = f"detected after {detected_s:.1f} s, open {open_s - detected_s:.1f} s later"
        found.append(statement(f"GRP.outage.{fault}", holds, ours))
    return found
