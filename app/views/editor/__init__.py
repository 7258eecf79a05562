"""The scenario editor: one text, seen as text, as a form and as a timeline, checked while it is written."""

from app.views.editor.editor import ScenarioEditor

__all__ = ["ScenarioEditor"]
