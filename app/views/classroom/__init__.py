"""Windows of a class: start a class, join a class, the instructor station and replays."""

from app.views.classroom.board import ClassBoard
from app.views.classroom.dialogs import JoinClass, StartClass
from app.views.classroom.led_replay import JumpTarget, ReplayPage, SeatReplay

__all__ = ["ClassBoard", "JoinClass", "JumpTarget", "ReplayPage", "SeatReplay", "StartClass"]
