"""Scenario editor: one text, shown as text, as a form and as a timeline, checked during typing."""

from app.views.editor.editor import ScenarioEditor

__all__ = ["ScenarioEditor"]
