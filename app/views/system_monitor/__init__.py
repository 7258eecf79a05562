"""System Monitor: counters of each server from its own side, as Windows and SQL Server name them."""

from app.views.system_monitor.monitor import SystemMonitor

__all__ = ["SystemMonitor"]
