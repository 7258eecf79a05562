"""Windows of a class: start a class, join a class, the instructor station and replays."""

from app.views.classroom.dialogs import JoinClassDialog, StartClassDialog
from app.views.classroom.instructor_station import InstructorStation
from app.views.classroom.shared_replay import JumpTarget, ReplayPage, SeatReplay

__all__ = [
    "InstructorStation",
    "JoinClassDialog",
    "JumpTarget",
    "ReplayPage",
    "SeatReplay",
    "StartClassDialog",
]
