"""Start page of the main window."""

from app.views.scenario_picker.page import ScenarioPicker

__all__ = ["ScenarioPicker"]
