"""The papers' advice as a tool: what a link, a safety level and a workload give together, by the flow model."""

from engine.planning.advice import Finding, Tone, advice
from engine.planning.assess import NO_GOALS, Assessment, Goals, Resource, assess
from engine.planning.own import own_workload
from engine.planning.plan import NETWORKS, Plan, network_of
from engine.planning.statements import POINTS, STATEMENTS, Point, Statement, points_about, statements_about
from engine.planning.steady import COLUMNS, Steady
from engine.planning.sweep import BANDWIDTH_MBPS, RTT_MS, Sweep, sweep, sweep_bandwidth, sweep_rtt

__all__ = [
    "BANDWIDTH_MBPS",
    "COLUMNS",
    "NETWORKS",
    "NO_GOALS",
    "POINTS",
    "RTT_MS",
    "STATEMENTS",
    "Assessment",
    "Finding",
    "Goals",
    "Plan",
    "Point",
    "Resource",
    "Statement",
    "Steady",
    "Sweep",
    "Tone",
    "advice",
    "assess",
    "network_of",
    "own_workload",
    "points_about",
    "statements_about",
    "sweep",
    "sweep_bandwidth",
    "sweep_rtt",
]
