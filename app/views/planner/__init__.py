"""Link planner: the effect of a workload, a safety level and a link on mirroring."""

from app.views.planner.planner import LinkPlanner

__all__ = ["LinkPlanner"]
