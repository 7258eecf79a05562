"""Scenario editor: one text, shown as text, form and timeline, and checked during typing."""

from app.views.editor.editor import ScenarioEditor

__all__ = ["ScenarioEditor"]
