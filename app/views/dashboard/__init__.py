"""Always On dashboard."""

from app.views.dashboard.dashboard import Dashboard

__all__ = ["Dashboard"]
