"""The link planner: what a workload, a safety level and a link give together."""

from app.views.planner.planner import Planner

__all__ = ["Planner"]
