"""Start page of the main window."""

from app.views.scenario_picker.page import StartPageView

__all__ = ["StartPageView"]
