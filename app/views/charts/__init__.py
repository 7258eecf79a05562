"""Charts of counters over simulated time."""

from app.views.charts.charts import Charts

__all__ = ["Charts"]
