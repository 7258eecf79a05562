"""The page after a run."""

from app.views.debrief.failovers import phases_of
from app.views.debrief.page import Debrief, format_ending

__all__ = ["Debrief", "format_ending", "phases_of"]
