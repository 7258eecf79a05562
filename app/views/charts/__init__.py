"""Charts of counters over simulated time."""

from app.views.charts.charts import ChartView

__all__ = ["ChartView"]
