"""View that imitates Database Mirroring Monitor."""

from app.views.monitor.monitor import Monitor

__all__ = ["Monitor"]
