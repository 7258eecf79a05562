"""Assessment of a plan: figures at each safety level, limiting resource, possible data loss, and durations."""

from collections.abc import Callable
from enum import StrEnum
from functools import lru_cache
from typing import Final

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from engine.flow import Flow, MirroringSetup, SafetyMode, add_mirroring_setup, warm_start
from engine.flow.failover_times import FailoverCause, draw_failover_times
from engine.planning.plan import MirroringPlan, build_plan_setup
from engine.planning.steady_state import SteadyState, compute_steady_states
from engine.planning.sweep import SWEPT_BANDWIDTHS_MBPS, SWEPT_RTTS_MS, find_last_acceptable
from engine.random_streams import RandomStream

BOTTLENECK_GAIN_MIN: Final = 0.02
"""Throughput gain, as a share, from which a resource counts as limiting: the gain if it is doubled.

Assumed.
"""

SIMULATED_FAILOVER_COUNT: Final = 40
"""Number of simulated failovers. Their start times are spread over the minute between two checkpoints."""

KB_PER_GB: Final = 1024.0 * 1024.0


class PlanResource(StrEnum):
    """Resource that can limit a plan."""

    CLIENTS = "clients"  # no resource limits the rate; the clients request no more
    ROUND_TRIP = "round trip"
    BANDWIDTH = "bandwidth"
    LOSS = "packet loss"
    LOG_DISK = "log disk"
    ACKNOWLEDGEMENT = "acknowledgement"
    CPU = "CPU"


class PlanGoals(Struct, frozen=True):
    """Goals that the plan must meet. None means that there is no such goal."""

    rpo_kb: float | None = None  # maximum loss of committed log
    rpo_s: float | None = None  # maximum loss of committed log, as the time in which it is written
    response_limit_s: float | None = None
    throughput_loss_max: float = 0.05  # as a share of the throughput without mirroring; assumed
    suspended_s: float = 600.0  # duration of the suspension for which the backlog is computed; assumed


NO_GOALS: Final = PlanGoals()


class Bottleneck(Struct, frozen=True):
    """Resource whose doubling increases the throughput most, and this gain as a share."""

    resource: PlanResource
    gain: float


class SuspensionBacklog(Struct, frozen=True):
    """Log that accumulates during a suspension, and the times until the mirror has received and redone it."""

    kb: float
    send_s: float  # time from RESUME; infinite if the workload writes faster than the session sends
    redo_s: float  # time from RESUME until the mirror has redone the backlog


class FailoverEstimate(Struct, frozen=True):
    """Time from the failure until the database is open again, as percentiles."""

    cause: FailoverCause
    low_s: float  # 5% percentile
    median_s: float
    high_s: float  # 95% percentile


class SafetyLimits(Struct, frozen=True):
    """Worst round trip and bandwidth at which each safety level meets the goals.

    None means that the level misses the goals at any value.
    """

    full_rtt_ms: float | None
    full_mbps: float | None
    off_rtt_ms: float | None
    off_mbps: float | None


class PlanAssessment(Struct, frozen=True):
    """Figures of a plan, which the module `advice` describes in sentences."""

    plan: MirroringPlan
    goals: PlanGoals
    unmirrored_figures: SteadyState
    full_figures: SteadyState
    off_figures: SteadyState
    bottleneck: Bottleneck  # resource that limits the plan at its own safety level
    limits: SafetyLimits
    backlog: SuspensionBacklog
    volume_full_s: float  # from SUSPEND until the log volume is full
    failovers: tuple[FailoverEstimate, ...]

    @property
    def chosen_figures(self) -> SteadyState:
        """Return the figures at the safety level of the plan."""
        return {
            SafetyMode.NONE: self.unmirrored_figures,
            SafetyMode.FULL: self.full_figures,
            SafetyMode.OFF: self.off_figures,
        }[self.plan.safety]

    @property
    def is_full_suitable(self) -> bool:
        """Return whether FULL meets the plan's goals."""
        return build_full_check(self.goals, self.unmirrored_figures)(self.full_figures)

    @property
    def is_off_suitable(self) -> bool:
        """Return whether OFF meets the plan's goals."""
        return can_off_keep_up(self.off_figures) and self.is_loss_acceptable(self.off_figures.unhardened_kb)

    def is_loss_acceptable(self, kb: float) -> bool:
        """Return whether the goals allow the loss of *kb* of committed log."""
        in_size = self.goals.rpo_kb is None or kb <= self.goals.rpo_kb
        return in_size and (self.goals.rpo_s is None or self.convert_log_to_seconds(kb) <= self.goals.rpo_s)

    def convert_log_to_seconds(self, kb: float) -> float:
        """Return the time in which the workload writes *kb* of log."""
        return kb / self.off_figures.log_kb_per_s if self.off_figures.log_kb_per_s > 0.0 else 0.0

    @property
    def rpo_reached_s(self) -> float | None:
        """Return the time until a growing send queue exceeds the RPO; None without an RPO or growth."""
        growth = self.off_figures.send_queue_growth_kb_per_s
        bounds = [] if self.goals.rpo_kb is None else [self.goals.rpo_kb]
        bounds += [] if self.goals.rpo_s is None else [self.goals.rpo_s * self.off_figures.log_kb_per_s]
        return min(bounds) / growth if bounds and growth > 0.0 else None


def build_full_check(goals: PlanGoals, unmirrored: SteadyState) -> Callable[[SteadyState], bool]:
    """Build a function that tests whether figures at safety FULL meet the goals.

    *unmirrored*: figures without mirroring, to which the throughput is compared.
    """
    tps_min = unmirrored.transactions_per_s * (1.0 - goals.throughput_loss_max)
    longest = goals.response_limit_s

    def meets_goals(figures: SteadyState) -> bool:
        return figures.transactions_per_s >= tps_min and (longest is None or figures.response_s <= longest)

    return meets_goals


def can_off_keep_up(figures: SteadyState) -> bool:
    """Return whether the session sends log as fast as the workload writes it.

    This is the only condition that safety OFF must meet.
    """
    return figures.send_queue_growth_kb_per_s <= 0.0


@lru_cache(maxsize=64)
def assess_plan(plan: MirroringPlan, goals: PlanGoals = NO_GOALS) -> PlanAssessment:
    """Run the model for *plan* at every safety level, and with each resource doubled.

    Raises ValueError for an impossible link.
    """
    modes = (SafetyMode.NONE, SafetyMode.FULL, SafetyMode.OFF)
    unmirrored, full_state, off_state = compute_steady_states(
        tuple(build_plan_setup(plan, mode) for mode in modes)
    )
    return PlanAssessment(
        plan=plan,
        goals=goals,
        unmirrored_figures=unmirrored,
        full_figures=full_state,
        off_figures=off_state,
        bottleneck=_find_bottleneck(plan),
        limits=_find_limits(plan, goals, unmirrored),
        backlog=_estimate_backlog(plan, unmirrored, goals.suspended_s),
        volume_full_s=_compute_duration(plan.log_volume_gb * KB_PER_GB, unmirrored.log_kb_per_s),
        failovers=_estimate_failovers(plan),
    )


def _compute_duration(amount: float, rate: float) -> float:
    return amount / rate if rate > 0.0 else float("inf")


# --- limiting resource --------------------------------------------------------------------------------------


def _double_each_resource(setup: MirroringSetup) -> dict[PlanResource, MirroringSetup]:
    """Return *setup* once per resource, with this resource improved.

    An improved resource has twice the capacity, or half the delay or loss.
    """
    site, stream = setup.source.site, setup.stream
    improved_setups = {
        PlanResource.LOG_DISK: setup.with_changes(site=replace(site, log_write_ms=site.log_write_ms / 2.0)),
        PlanResource.ACKNOWLEDGEMENT: setup.with_changes(
            site=replace(site, ack_latency_ms=site.ack_latency_ms / 2.0)
        ),
        PlanResource.CPU: setup.with_changes(site=replace(site, cores=site.cores * 2)),
    }
    if stream is None:
        return improved_setups
    return {
        PlanResource.ROUND_TRIP: setup.with_changes(rtt_ms=stream.rtt_ms / 2.0),
        PlanResource.BANDWIDTH: setup.with_changes(bandwidth_mbps=stream.bandwidth_mbps * 2.0),
        PlanResource.LOSS: setup.with_changes(loss=stream.loss / 2.0),
    } | improved_setups


def _find_bottleneck(plan: MirroringPlan) -> Bottleneck:
    setup = build_plan_setup(plan)
    other_setup = _double_each_resource(setup)
    current_state, *states = compute_steady_states((setup, *other_setup.values()))
    # If the send queue grows, compare send rates. Otherwise, compare transaction rates.
    grows = plan.safety is SafetyMode.OFF and not can_off_keep_up(current_state)
    column = "sent_kb_per_s" if grows else "transactions_per_s"
    base = getattr(current_state, column)
    gains = {
        resource: getattr(steady_state, column) / base - 1.0 if base > 0.0 else 0.0
        for resource, steady_state in zip(other_setup, states, strict=True)
    }
    best = max(gains, key=lambda resource: gains[resource])
    return (
        Bottleneck(best, gains[best])
        if gains[best] >= BOTTLENECK_GAIN_MIN
        else Bottleneck(PlanResource.CLIENTS, 0.0)
    )


# --- limits of each safety level ----------------------------------------------------------------------------


def _find_limits(plan: MirroringPlan, goals: PlanGoals, unmirrored: SteadyState) -> SafetyLimits:
    meets_goals = build_full_check(goals, unmirrored)
    # every second value, because `find_last_acceptable` searches between them
    longer_rtts_ms, narrower_bandwidths_mbps = SWEPT_RTTS_MS[::2], SWEPT_BANDWIDTHS_MBPS[::-2]
    return SafetyLimits(
        full_rtt_ms=find_last_acceptable(plan, "rtt_ms", longer_rtts_ms, SafetyMode.FULL, meets_goals),
        full_mbps=find_last_acceptable(
            plan, "bandwidth_mbps", narrower_bandwidths_mbps, SafetyMode.FULL, meets_goals
        ),
        off_rtt_ms=find_last_acceptable(plan, "rtt_ms", longer_rtts_ms, SafetyMode.OFF, can_off_keep_up),
        off_mbps=find_last_acceptable(
            plan, "bandwidth_mbps", narrower_bandwidths_mbps, SafetyMode.OFF, can_off_keep_up
        ),
    )


# --- durations ----------------------------------------------------------------------------------------------


def _estimate_backlog(plan: MirroringPlan, unmirrored: SteadyState, suspended_s: float) -> SuspensionBacklog:
    """Return the backlog after *suspended_s* seconds of suspended mirroring.

    Clients do not wait until the mirror has caught up, so the plan's safety level has no influence.
    *unmirrored*:
    figures without mirroring.
    """
    kb = unmirrored.log_kb_per_s * suspended_s
    setups = (build_plan_setup(plan, SafetyMode.OFF),)
    sending, redoing = compute_steady_states(setups, "send")[0], compute_steady_states(setups, "redo")[0]
    send_s = _compute_duration(kb, -sending.send_queue_growth_kb_per_s)
    return SuspensionBacklog(
        kb, send_s, max(send_s, _compute_duration(kb, -redoing.redo_queue_growth_kb_per_s))
    )


FAILOVER_CAUSES_BY_SAFETY: Final = {
    SafetyMode.NONE: (),
    SafetyMode.FULL: (FailoverCause.POWER_OFF, FailoverCause.TIMEOUT, FailoverCause.MANUAL),
    SafetyMode.OFF: (FailoverCause.FORCED,),
}
"""Safety level -> causes of the failovers that the level allows. A witness is present where it is useful.

Documented [WP table 4].
"""


def _estimate_failovers(plan: MirroringPlan) -> tuple[FailoverEstimate, ...]:
    """Return the estimated duration of a failover for each cause that the plan allows; empty without a mirror."""
    setup = build_plan_setup(plan)
    if setup.mode is SafetyMode.NONE:
        return ()
    redo_kb_per_s = compute_steady_states((build_plan_setup(plan, SafetyMode.OFF),), "redo")[0].redo_kb_per_s
    flow = Flow.create_empty()
    source = add_mirroring_setup(flow, setup)
    stream = flow.list_source_streams(source)[0]
    durations: dict[FailoverCause, list[float]] = {
        cause: [] for cause in FAILOVER_CAUSES_BY_SAFETY[setup.mode]
    }
    for number in range(SIMULATED_FAILOVER_COUNT):
        warm_start(flow, source, number / SIMULATED_FAILOVER_COUNT)
        redo_s = _compute_duration(flow.read_stream(stream).redo_queue_kb, redo_kb_per_s)
        for cause, seconds in durations.items():
            times = draw_failover_times(flow, stream, cause, RandomStream.from_seed(number))
            seconds.append(times.detection_s + times.failover_s + redo_s)
    return tuple(
        FailoverEstimate(cause, *_compute_percentiles(seconds)) for cause, seconds in durations.items()
    )


def _compute_percentiles(seconds: list[float]) -> tuple[float, float, float]:
    """Return the 5th, 50th and 95th percentile."""
    low, median, high = np.percentile(seconds, (5, 50, 95)).tolist()
    return low, median, high
