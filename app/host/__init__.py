"""Run and its guests: paced by the wall clock, called from any thread, recorded before it is shown. Without Qt.

The window, a program without one, a SQL client and a class seat are all guests of one `Host`.
"""

from app.host.host import Host
from app.host.inbox import HostSignal, Inbox, Request, RequestResult
from app.host.recorder import NoRecorder, Recorder, RecordingError

__all__ = [
    "Host", "HostSignal", "Inbox", "NoRecorder", "Recorder", "RecordingError", "Request", "RequestResult",
]  # fmt: skip
