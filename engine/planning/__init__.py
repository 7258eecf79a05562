"""Planner: the advice of the papers for a link, a safety level and a workload, by the flow model."""

from engine.planning.advice import PlanFinding, Tone, advice
from engine.planning.assess import NO_GOALS, Assessment, Goals, PlanResource, assess
from engine.planning.figures import (
    POINTS,
    STATEMENTS,
    MeasuredPoint,
    PaperStatement,
    points_about,
    statements_about,
)
from engine.planning.plan import NETWORKS, MirroringPlan, build_custom_workload, network_of
from engine.planning.steady import COLUMNS, SteadyState
from engine.planning.sweep import BANDWIDTH_MBPS, RTT_MS, Sweep, sweep, sweep_bandwidth, sweep_rtt

__all__ = [
    "BANDWIDTH_MBPS", "COLUMNS", "NETWORKS", "NO_GOALS", "POINTS", "RTT_MS", "STATEMENTS", "Assessment",
    "Goals", "MeasuredPoint", "MirroringPlan", "PaperStatement", "PlanFinding", "PlanResource", "SteadyState",
    "Sweep", "Tone", "advice", "assess", "build_custom_workload", "network_of", "points_about",
    "statements_about", "sweep", "sweep_bandwidth", "sweep_rtt",
]  # fmt: skip
