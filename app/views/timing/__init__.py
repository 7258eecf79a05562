"""Failover times beside the published ones."""

from app.views.timing.timing import Timing

__all__ = ["Timing"]
