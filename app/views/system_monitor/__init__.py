"""System Monitor: performance counters that each server reports, with their names in Windows and SQL Server."""

from app.views.system_monitor.monitor import SystemMonitor

__all__ = ["SystemMonitor"]
