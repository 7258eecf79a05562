"""The start: a window at once, and behind it the rest, while the start page already answers."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QApplication

from app.main_window.window import MainWindow
from app.widgets.docks import DOCKS

if TYPE_CHECKING:
    from app.storage import Profile

BESIDE: Final = (
    "app.storage", "app.host", "app.view_models.picture", "app.files.support", "app.files.bundle_store",
    "app.export.source", "app.export.page", "pygments.lexers.sql",
)  # fmt: skip
"""Modules of database and engine that nothing of Qt is in: a thread imports them."""
ALL: Final = "app.main_window.assembly"
"""Imports all the others."""
WITH_FIRST_USE: Final = (
    "app.main_window.classes",
    "app.main_window.sql_clients",
    "app.main_window.teams",
    "app.main_window.window_seat",
)
"""Parts of which most starts need nothing: sockets and certificates take a twelfth of the start."""
LOOK_MS: Final = 15
"""Interval of the checks whether the thread is done. Each check interrupts the thread."""


class StartCancelledError(Exception):
    """The user canceled the start."""


class Start(QObject):
    """Start of the window in steps, between which it processes events.

    Qt classes are created only in the window's thread. Created in another thread while the window handles
    events, they crashed one start of sixteen (PySide 6.11.3).
    """

    def __init__(self, window: MainWindow, profile: Callable[[], Profile | None]) -> None:
        """Create the start; *profile* is called once the database can be opened, and may raise StartCancelledError."""
        super().__init__(window)
        self._window, self._profile = window, profile
        self._importing: threading.Thread | None = None
        self._steps = self._all_steps()
        self._is_running = False
        self._hurried = False
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._on_timeout)
        window.needed.connect(self.finish_now)
        window.closing.connect(self._timer.stop)

    def begin(self) -> None:
        """Go to work as soon as the start page has been painted."""
        self._timer.start(0)

    def end(self) -> None:
        """End the program, perhaps before all parts exist."""
        self._timer.stop()
        if self._importing is not None:
            self._importing.join()

    def finish_now(self) -> None:
        """Load all missing parts now."""
        self._hurried = True
        while self._run_next_step():
            pass

    def _on_timeout(self) -> None:
        # Between two steps the window processes events.
        if not self._run_next_step():
            self._timer.stop()
        elif self._timer.isActive():
            working = self._importing is not None and self._importing.is_alive()
            self._timer.setInterval(LOOK_MS if working else 0)

    def _run_next_step(self) -> bool:
        """Run the next step of the start.

        Return False if there is none, or if one is running and waits for a dialog.
        """
        if self._is_running:
            return False
        self._is_running = True
        try:
            return next(self._steps, self) is not self
        except StartCancelledError:
            self._window.close()
            QApplication.exit(1)
            return False
        finally:
            self._is_running = False

    def _all_steps(self) -> Iterator[None]:
        yield from self._import_in_thread(BESIDE)
        for name in windows_modules():
            import_module(name)
            yield
        from app.main_window import assembly

        profile = self._profile()
        yield
        yield from assembly.steps(self._window, profile)

    def _import_in_thread(self, names: Sequence[str]) -> Iterator[None]:
        """Import modules in a thread; the window's own import raises their errors again."""
        self._importing = threading.Thread(target=_import, args=(names,), daemon=True)
        self._importing.start()
        while self._importing.is_alive() and not self._hurried:
            yield
        self._importing.join()


def _import(names: Sequence[str]) -> None:
    for name in names:
        import_module(name)


def windows_modules() -> Iterator[str]:
    """Yield the modules of panels and parts in small groups.

    Plot modules are excluded: pyqtgraph takes 120 ms and is imported with the first plot.
    """
    yield from (dock.view.partition(":")[0] for dock in DOCKS)
    parts = [found.name for found in iter_modules([str(Path(__file__).parent)], "app.main_window.")]
    yield from (name for name in parts if name not in (ALL, *WITH_FIRST_USE))
    yield ALL
