"""A run and its guests: paced against the wall clock, asked from any thread, recorded before it is shown. No Qt.

The window, a program without one, a SQL client and a seat of a class are all guests of one `Host`.
"""

from app.host.host import Host
from app.host.inbox import Answer, Inbox, Request
from app.host.notice import Notice
from app.host.recorder import NoRecorder, NotRecorded, Recorder

__all__ = ["Answer", "Host", "Inbox", "NoRecorder", "NotRecorded", "Notice", "Recorder", "Request"]
