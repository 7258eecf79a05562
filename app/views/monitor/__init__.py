"""View that imitates Database Mirroring Monitor."""

from app.views.monitor.monitor import MirroringMonitor

__all__ = ["MirroringMonitor"]
