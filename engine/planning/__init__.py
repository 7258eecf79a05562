"""Planner: advice on a link, a safety level and a workload, computed with the flow model."""

from engine.planning.advice import FindingSeverity, PlanFinding, list_findings
from engine.planning.assessment import NO_GOALS, PlanAssessment, PlanGoals, PlanResource, assess_plan
from engine.planning.figures import (
    MEASURED_POINTS,
    PAPER_STATEMENTS,
    MeasuredPoint,
    PaperStatement,
    find_measured_points,
    find_paper_statements,
)
from engine.planning.plan import NETWORK_RTT_RANGES_MS, MirroringPlan, build_custom_workload, classify_network
from engine.planning.steady_state import STEADY_STATE_FIGURES, SteadyState
from engine.planning.sweep import (
    SWEPT_BANDWIDTHS_MBPS,
    SWEPT_RTTS_MS,
    Sweep,
    sweep_bandwidth,
    sweep_rtt,
    sweep_values,
)

__all__ = [
    "MEASURED_POINTS",
    "NETWORK_RTT_RANGES_MS",
    "NO_GOALS",
    "PAPER_STATEMENTS",
    "STEADY_STATE_FIGURES",
    "SWEPT_BANDWIDTHS_MBPS",
    "SWEPT_RTTS_MS",
    "FindingSeverity",
    "MeasuredPoint",
    "MirroringPlan",
    "PaperStatement",
    "PlanAssessment",
    "PlanFinding",
    "PlanGoals",
    "PlanResource",
    "SteadyState",
    "Sweep",
    "assess_plan",
    "build_custom_workload",
    "classify_network",
    "find_measured_points",
    "find_paper_statements",
    "list_findings",
    "sweep_bandwidth",
    "sweep_rtt",
    "sweep_values",
]  # fmt: skip
