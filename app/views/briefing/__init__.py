"""Views of a drill's brief: a page before the drill and a panel during the drill."""

from app.views.briefing.page import BriefPage
from app.views.briefing.panel import BriefingPanel, describe_goal_state

__all__ = ["BriefPage", "BriefingPanel", "describe_goal_state"]
