"""Brief: a page before the drill, a panel during it."""

from app.views.briefing.page import BriefPage
from app.views.briefing.panel import Briefing, describe_goal_state

__all__ = ["BriefPage", "Briefing", "describe_goal_state"]
