"""Host of a run. It paces the run by the wall clock, and records each input before it shows the effect.

Without Qt.

The window, a program without a window, SQL clients and a class seat all use one `RunHost`. They may send
requests from any thread.
"""

from app.host.host import RunHost
from app.host.inbox import HostSignal, Inbox, InputRequest, InputResult
from app.host.recorder import NullRecorder, RecordingError, RunRecorder

__all__ = [
    "HostSignal",
    "Inbox",
    "InputRequest",
    "InputResult",
    "NullRecorder",
    "RecordingError",
    "RunHost",
    "RunRecorder",
]  # fmt: skip
