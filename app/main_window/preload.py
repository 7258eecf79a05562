"""Brings in beside the idle window what the first drill and the first query would otherwise wait for."""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Callable
from importlib import import_module
from typing import Final

from PySide6.QtCore import QObject, QProcess, QTimer

LATER: Final = (
    "engine.tsql.clients.upkeep",
    "numba",
    "engine.tsql.query.translate",
    "engine.tsql.language.parse",
)
"""Modules that load at first use, the first wanted first. Measured: 80 to 130 ms each, which was one frame."""

CODE: Final = "from engine.flow import warm_up; warm_up()"
LOOK_MS: Final = 50
"""How often is looked whether a thread is done. Every look interrupts it."""


class Preload(QObject):
    """Loads in threads, which touch nothing of Qt. The flow model is compiled by a process of its own, so that
    nobody waits at the first start after an installation; once it is in numba's cache it is loaded from there."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.compiler = QProcess(self)
        self.compiler.setStandardOutputFile(QProcess.nullDevice())
        self.compiler.setStandardErrorFile(QProcess.nullDevice())
        self.compiler.finished.connect(self._on_compiled)
        self._threads: list[threading.Thread] = []
        self._given_up = False
        self._looking = QTimer(self)
        self._looking.setInterval(LOOK_MS)
        self._looking.timeout.connect(self._on_look)

    def begin(self) -> None:
        """Go to work; call it when the window has nothing else to do."""
        self.compiler.start(sys.executable, ["-c", CODE])
        self._beside(self._load)

    def end(self) -> None:
        """With the window. What has not been compiled the next start compiles; a module that loads is waited for."""
        self._given_up = True
        self._looking.stop()
        if self.compiler.state() is not QProcess.ProcessState.NotRunning:
            self.compiler.kill()
            self.compiler.waitForFinished(1000)
        for thread in self._threads:
            thread.join()

    @property
    def busy(self) -> bool:
        return self._looking.isActive()

    def _beside(self, work: Callable[[], None]) -> None:
        thread = threading.Thread(target=work, daemon=True)
        self._threads.append(thread)
        thread.start()
        self._looking.start()

    def _load(self) -> None:
        for name in LATER:
            if not self._given_up:
                import_module(name)

    def _on_compiled(self, code: int, status: QProcess.ExitStatus) -> None:
        """If it failed, the first drill tries itself, and says why not."""
        if status is QProcess.ExitStatus.NormalExit and code == 0 and not self._given_up:
            self._beside(_warm_up)

    def _on_look(self) -> None:
        compiling = self.compiler.state() is not QProcess.ProcessState.NotRunning
        if compiling or any(thread.is_alive() for thread in self._threads):
            return
        self._looking.stop()
        settle()


def _warm_up() -> None:
    from engine.flow import warm_up  # not before the start page is on screen

    warm_up()


def settle() -> None:
    """What is there now stays to the end: the garbage collector begins here, and never looks through it.

    It would, in the middle of some frame, for 100 ms each time; and while everything loads, again and again.
    """
    gc.freeze()
    gc.enable()
