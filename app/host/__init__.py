"""Host of a run. It paces the run by the wall clock, and records each input before it shows the effect. Without Qt.

The window, a program without a window, SQL clients and a class seat all use one `Host`. They may send
requests from any thread.
"""

from app.host.host import Host
from app.host.inbox import HostSignal, Inbox, Request, RequestResult
from app.host.recorder import NoRecorder, Recorder, RecordingError

__all__ = [
    "Host", "HostSignal", "Inbox", "NoRecorder", "Recorder", "RecordingError", "Request", "RequestResult",
]  # fmt: skip
