"""How a session has its run recorded, without knowing where: the port that storage is plugged into. No Qt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol


class NotRecorded(Exception):
    """The record could not be written; `str()` is one sentence for people."""


class Recorder(Protocol):
    """Writes down one run. Every call may raise NotRecorded; when it returns, what was said is safe."""

    def line(self, tick: int, line: str) -> None:
        """An input line, with its time, was done at *tick*."""

    def heartbeat(self, tick: int) -> None:
        """The run has come as far as *tick*."""

    def checkpoint(self, tick: int, state_hash: str) -> None:
        """The world had this hash at *tick*."""

    def finish(self, report: Mapping[str, Any]) -> None:
        """The run is over, with this report (as of `run --json`)."""


class NoRecorder:
    """For a run of which nothing is kept."""

    def line(self, tick: int, line: str) -> None:
        pass

    def heartbeat(self, tick: int) -> None:
        pass

    def checkpoint(self, tick: int, state_hash: str) -> None:
        pass

    def finish(self, report: Mapping[str, Any]) -> None:
        pass
