"""Page after a run."""

from app.views.debrief.failovers import phases_of
from app.views.debrief.page import Debrief

__all__ = ["Debrief", "phases_of"]
