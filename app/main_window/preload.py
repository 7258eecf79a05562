"""Imports, while the window is idle, the modules that the first drill and the first query would have to wait for."""

from __future__ import annotations

import gc
import threading
from importlib import import_module
from typing import Final

from PySide6.QtCore import QObject, QTimer, Signal

LATER: Final = (
    "engine.tsql.clients.upkeep",
    "engine.flow.compiled.loader",
    "engine.tsql.query.translate",
    "engine.tsql.language.parse",
)
"""Modules that load at first use, the first wanted first. Measured: 80 to 130 ms each, which was one frame."""

LOOK_MS: Final = 50
"""Interval of the checks whether a thread is done. Each check interrupts the thread."""


class Preload(QObject):
    """Loads in a thread, which touches nothing of Qt."""

    done = Signal()
    """Everything is there."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._threads: list[threading.Thread] = []
        self._is_canceled = False
        self._looking = QTimer(self, interval=LOOK_MS)
        self._looking.timeout.connect(self._on_look)

    def begin(self) -> None:
        """Start preloading; call this when the window is idle."""
        thread = threading.Thread(target=self._load, daemon=True)
        self._threads.append(thread)
        thread.start()
        self._looking.start()

    def end(self) -> None:
        """Stop with the window. A module that loads is waited for."""
        self._is_canceled = True
        self._looking.stop()
        for thread in self._threads:
            thread.join()

    @property
    def busy(self) -> bool:
        """Return whether modules are still being imported."""
        return self._looking.isActive()

    def _load(self) -> None:
        for name in LATER:
            if not self._is_canceled:
                import_module(name)
        if not self._is_canceled:
            from engine.flow import warm_up  # only after the start page is on screen

            warm_up()

    def _on_look(self) -> None:
        if any(thread.is_alive() for thread in self._threads):
            return
        self._looking.stop()
        settle()
        self.done.emit()


def settle() -> None:
    """Freeze all present objects and enable the garbage collector, so that it never scans them.

    A scan takes 100 ms in the middle of a frame, and repeats while modules load.
    """
    gc.freeze()
    gc.enable()
