"""Stage view: a failover in phases on one canvas, with servers, votes and stopwatch."""

from app.views.failover_stage.stage import FailoverStage

__all__ = ["FailoverStage"]
