"""The staged failover: one canvas with servers, votes, stopwatch and phases."""

from app.views.failover_stage.stage import FailoverStage

__all__ = ["FailoverStage"]
