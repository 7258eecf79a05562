"""Planner: advice on a link, a safety level and a workload, computed with the flow model."""

from engine.planning.advice import PlanFinding, Severity, list_findings
from engine.planning.assess import NO_GOALS, Assessment, PlanGoals, PlanResource, assess_plan
from engine.planning.figures import (
    MEASURED_POINTS,
    PAPER_STATEMENTS,
    MeasuredPoint,
    PaperStatement,
    find_points,
    find_statements,
)
from engine.planning.plan import NETWORKS, MirroringPlan, build_custom_workload, classify_network
from engine.planning.steady import COLUMNS, SteadyState
from engine.planning.sweep import BANDWIDTH_MBPS, RTT_MS, Sweep, sweep_bandwidth, sweep_rtt, sweep_values

__all__ = [
    "BANDWIDTH_MBPS",
    "COLUMNS",
    "MEASURED_POINTS",
    "NETWORKS",
    "NO_GOALS",
    "PAPER_STATEMENTS",
    "RTT_MS",
    "Assessment",
    "MeasuredPoint",
    "MirroringPlan",
    "PaperStatement",
    "PlanFinding",
    "PlanGoals",
    "PlanResource",
    "Severity",
    "SteadyState",
    "Sweep",
    "assess_plan",
    "build_custom_workload",
    "classify_network",
    "find_points",
    "find_statements",
    "list_findings",
    "sweep_bandwidth",
    "sweep_rtt",
    "sweep_values",
]  # fmt: skip
