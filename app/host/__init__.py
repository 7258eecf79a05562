"""A run and its guests: paced against the wall clock, asked from any thread, recorded before it is shown. No Qt.

The window, a program without one, a SQL client and a seat of a class are all guests of one `Host`.
"""

from app.host.host import Host
from app.host.inbox import Inbox, Request, RequestResult
from app.host.recorder import NoRecorder, Recorder, RecordingError
from app.host.signals import HostSignal

__all__ = [
    "Host",
    "HostSignal",
    "Inbox",
    "NoRecorder",
    "Recorder",
    "RecordingError",
    "Request",
    "RequestResult",
]
