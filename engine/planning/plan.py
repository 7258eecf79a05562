"""Question to the planner: a workload, a site, a link and a safety level."""

from __future__ import annotations

from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from engine.flow import Pair, SafetyMode, Site, Workload, pair
from engine.flow.sites import NEC, WORKLOAD1

NETWORKS: Final = (("LAN", 0.0, 2.0), ("MAN", 2.0, 20.0), ("WAN", 20.0, 200.0))
"""Kinds of network and their usual range of round trips in ms. Documented [WP table 7]."""

ENDLESS_KB: Final = 1e15
"""Size of a log volume that never fills; the planner derives the time until a volume is full from rates."""


class MirroringPlan(Struct, frozen=True):
    """Plan of one mirrored database. Each figure can be changed."""

    workload: Workload = WORKLOAD1
    site: Site = NEC
    scale: float = 1.0  # multiplies connections
    safety: SafetyMode = SafetyMode.FULL
    rtt_ms: float = 0.2
    bandwidth_mbps: float = 1000.0
    loss: float = 0.0  # share of packets
    compression_ratio: float = 1.0  # wire bytes per log byte; 1 = none. From version 2008 on
    version: int = 2005
    encryption: bool = True
    log_volume_gb: float = 40.0  # space for the principal's log

    def with_changes(self, **changes: float) -> MirroringPlan:
        """Return the same plan with other figures."""
        return replace(self, **changes)


def network_of(rtt_ms: float) -> str:
    """Return LAN, MAN or WAN: the kind of network that usually has this round trip [WP table 7]."""
    return next((name for name, _, longest in NETWORKS if rtt_ms < longest), NETWORKS[-1][0])


def pair_of(plan: MirroringPlan, safety: SafetyMode | None = None) -> Pair:
    """Return the plan as a synchronized pair of servers, optionally at another safety level."""
    return pair(
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
        log_size_kb=ENDLESS_KB,
        log_max_kb=ENDLESS_KB,
    )
