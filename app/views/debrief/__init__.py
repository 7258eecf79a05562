"""Debrief: the page after a run."""

from app.views.debrief.failovers import list_phases
from app.views.debrief.page import DebriefView

__all__ = ["DebriefView", "list_phases"]
