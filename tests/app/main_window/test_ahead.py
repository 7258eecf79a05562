"""The process that compiles beside the window works, and ends with it."""

from __future__ import annotations

from PySide6.QtCore import QProcess
from PySide6.QtWidgets import QApplication

from app.main_window.ahead import compile_ahead, leave


def test_compiles_without_a_fault(qapp: QApplication) -> None:
    process = compile_ahead()
    assert process.waitForFinished(120_000)
    assert process.exitCode() == 0


def test_does_not_outlive_the_window(qapp: QApplication) -> None:
    process = compile_ahead()
    leave(process)
    assert process.state() is QProcess.ProcessState.NotRunning
