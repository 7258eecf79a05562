"""The flow model is compiled by a process beside the window, so that nobody waits for it at the first start."""

from __future__ import annotations

import sys

from PySide6.QtCore import QProcess

CODE = "from engine.flow import warm_up; warm_up()"


def compile_ahead() -> QProcess:
    """Start compiling into numba's cache on disk; where that is up to date the process ends within a second."""
    process = QProcess()
    process.setStandardOutputFile(QProcess.nullDevice())
    process.setStandardErrorFile(QProcess.nullDevice())
    process.start(sys.executable, ["-c", CODE])
    return process


def leave(process: QProcess) -> None:
    """End the process with the window; what it has not finished the next start does."""
    if process.state() is not QProcess.ProcessState.NotRunning:
        process.kill()
        process.waitForFinished(1000)
