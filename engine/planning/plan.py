"""Plan: the planner's input, which consists of a workload, a site, a link and a safety level."""

from __future__ import annotations

from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from engine.flow import MirroringSetup, SafetyMode, ServerHardware, Workload, build_mirroring_setup
from engine.flow.sites import NEC, WORKLOAD1
from engine.localization import build_message
from engine.planning.steady_state import compute_steady_states

NETWORK_RTT_RANGES_MS: Final = (("LAN", 0.0, 2.0), ("MAN", 2.0, 20.0), ("WAN", 20.0, 200.0))
"""Kinds of network with their usual range of round trips, in ms. Documented [WP table 7]."""

UNLIMITED_VOLUME_KB: Final = 1e15
"""Size of a log volume that never becomes full. The planner computes the time until a volume is full from
rates.
"""


class MirroringPlan(Struct, frozen=True):
    """Plan for one mirrored database. Users can change every field."""

    workload: Workload = WORKLOAD1
    site: ServerHardware = NEC
    scale: float = 1.0  # factor for the number of connections
    safety: SafetyMode = SafetyMode.FULL
    rtt_ms: float = 0.2
    bandwidth_mbps: float = 1000.0
    loss: float = 0.0  # share of packets that are lost
    compression_ratio: float = 1.0  # wire bytes per log byte; 1 means no compression; requires version 2008
    version: int = 2005
    encryption: bool = True
    log_volume_gb: float = 40.0  # size of the log volume on the principal

    def with_changes(self, **changes: float) -> MirroringPlan:
        """Return a copy of the plan with these fields changed."""
        return replace(self, **changes)


def classify_network(rtt_ms: float) -> str:
    """Return the kind of network that usually has this round trip: LAN, MAN or WAN [WP table 7]."""
    return next(
        (name for name, _, longest in NETWORK_RTT_RANGES_MS if rtt_ms < longest), NETWORK_RTT_RANGES_MS[-1][0]
    )


def build_plan_setup(plan: MirroringPlan, safety: SafetyMode | None = None) -> MirroringSetup:
    """Return the plan as a synchronized pair of servers. *safety*: safety level instead of the plan's own."""
    return build_mirroring_setup(
        plan.site,
        plan.workload,
        plan.safety if safety is None else safety,
        scale=plan.scale,
        rtt_ms=plan.rtt_ms,
        loss=plan.loss,
        bandwidth_mbps=plan.bandwidth_mbps,
        compression_ratio=plan.compression_ratio,
        encryption=plan.encryption,
        version=plan.version,
        log_size_kb=UNLIMITED_VOLUME_KB,
        log_max_kb=UNLIMITED_VOLUME_KB,
    )


# --- workload from figures that System Monitor shows --------------------------------------------------------

TRANSACTION_CPU_MS: Final = WORKLOAD1.cpu_ms
"""Processor time of a transaction on one core, in ms. Assumed: that of Workload1."""

PAGE_CHANGES_PER_LOG_KB: Final = WORKLOAD1.page_touches / WORKLOAD1.log_kb_per_transaction
"""Page changes per KB of log, which determine the redo rate. Assumed: those of Workload1, which has small
rows.
"""

RESPONSE_TOLERANCE_S: Final = 1e-4
RESPONSE_FIT_STEPS_MAX: Final = 6


def build_custom_workload(
    connections: float,
    think_s: float,
    log_kb_per_transaction: float,
    transactions_per_s: float,
    site: ServerHardware = NEC,
) -> Workload:
    """Build a workload that has *transactions_per_s* on *site* without mirroring.

    Little's law gives the duration of a transaction. The part that CPU and log disk do not explain counts as
    reads, locks and the network of the clients. Raises ValueError if a figure is not positive, or if the
    connections cannot reach the rate.
    """
    if min(connections, log_kb_per_transaction, transactions_per_s) <= 0.0 or think_s < 0.0:
        raise ValueError(
            build_message(
                "connections, log and transactions must be above 0; the think time must be 0 or more"
            )
        )
    response_s = connections / transactions_per_s - think_s
    base_workload = Workload(
        name="own figures",
        connections=connections,
        think_s=think_s,
        cpu_ms=TRANSACTION_CPU_MS,
        other_delay_ms=0.0,
        log_kb_per_transaction=log_kb_per_transaction,
        page_touches=PAGE_CHANGES_PER_LOG_KB * log_kb_per_transaction,
        hot_pages=WORKLOAD1.hot_pages,
        compression_ratio=WORKLOAD1.compression_ratio,
    )
    fastest = compute_steady_states((_build_unmirrored_setup(base_workload, site),))[0].transactions_per_s
    if response_s <= 0.0 or transactions_per_s > fastest * 1.001:
        raise ValueError(
            build_message(
                "{n:g} connections with {think_s:g} s think time reach at most {most:.3g} transactions/s in "
                "this plan, not {wanted:g}",
                n=connections,
                think_s=think_s,
                most=fastest,
                wanted=transactions_per_s,
            )
        )
    return _fit_response_time(base_workload, site, response_s)


def _fit_response_time(base_workload: Workload, site: ServerHardware, response_s: float) -> Workload:
    """Add a delay to *base_workload*, so that its response time is *response_s*."""
    workload, other_s = base_workload, response_s
    for _ in range(RESPONSE_FIT_STEPS_MAX):
        workload = replace(base_workload, other_delay_ms=1000.0 * other_s)
        error_s = response_s - compute_steady_states((_build_unmirrored_setup(workload, site),))[0].response_s
        if abs(error_s) < RESPONSE_TOLERANCE_S:
            break
        other_s = max(0.0, other_s + error_s)
    return workload


def _build_unmirrored_setup(workload: Workload, site: ServerHardware) -> MirroringSetup:
    return build_mirroring_setup(
        site, workload, SafetyMode.NONE, log_size_kb=UNLIMITED_VOLUME_KB, log_max_kb=UNLIMITED_VOLUME_KB
    )
