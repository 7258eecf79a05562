"""The start: a window at once, and behind it the rest, while the start page already answers."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QApplication

from app.main_window.window import MainWindow

if TYPE_CHECKING:
    from app.storage import Profile

REST: Final = "app.main_window.assembly"
"""The module whose import brings in engine, database, plots and every view: some tenths of a second, up to seconds
from a cold disk."""
LOOK_MS: Final = 15
"""How often is looked whether the import is over. Every look interrupts it."""


class GivenUp(Exception):
    """Somebody would rather not go on."""


class Start(QObject):
    """Imports in a thread, then makes everything step by step in the window's own."""

    def __init__(self, window: MainWindow, profile: Callable[[], Profile | None]) -> None:
        """*profile* is called once, when the database can be opened; it may raise GivenUp."""
        super().__init__(window)
        self._window, self._profile = window, profile
        self._importing = threading.Thread(target=importlib.import_module, args=(REST,), daemon=True)
        self._steps = self._all_steps()
        self._within = False
        self._timer = QTimer(self)
        self._timer.setInterval(LOOK_MS)
        self._timer.timeout.connect(self._on_timeout)
        window.needed.connect(self.hurry)
        window.closing.connect(self._timer.stop)

    def begin(self) -> None:
        """Go to work as soon as the start page has been painted."""
        self._importing.start()
        self._timer.start()

    def end(self) -> None:
        """The program ends, perhaps before everything was there."""
        self._timer.stop()
        if self._importing.is_alive():
            self._importing.join()

    def hurry(self) -> None:
        """Bring in at once what is still missing."""
        while self._next():
            pass

    def _on_timeout(self) -> None:
        if self._importing.is_alive():
            return
        self._timer.setInterval(0)  # between two steps the window does what people ask of it
        if not self._next():
            self._timer.stop()

    def _next(self) -> bool:
        """Make one step; False: there is none, or one is just being made and waits for an answer."""
        if self._within:
            return False
        self._within = True
        try:
            return next(self._steps, self) is not self
        except GivenUp:
            self._window.close()
            QApplication.exit(1)
            return False
        finally:
            self._within = False

    def _all_steps(self) -> Iterator[None]:
        from app.main_window import assembly  # waits for the thread, and raises what it raised

        yield
        profile = self._profile()
        yield
        yield from assembly.steps(self._window, profile)
