"""Failover times next to the published ones."""

from app.views.timing.timing import Timing

__all__ = ["Timing"]
