"""Link planner: the combined result of a workload, a safety level and a link."""

from app.views.planner.planner import Planner

__all__ = ["Planner"]
