"""Windows of a class: start one, join one, and the instructor's board."""

from app.views.classroom.board import ClassBoard
from app.views.classroom.dialogs import JoinClass, StartClass

__all__ = ["ClassBoard", "JoinClass", "StartClass"]
