"""Start of the program. The window appears immediately, and its parts load while the start page already responds."""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QLibraryInfo, QLocale, QObject, QTimer, QTranslator, Signal
from PySide6.QtWidgets import QApplication

from app import settings
from app.main_window.window import MainWindow
from app.settings import WindowSettings
from app.words import language

if TYPE_CHECKING:
    from app.storage import Profile

THREAD_MODULES: Final = (
    "app.storage", "app.host", "app.view_models.topology_builder", "app.files.support_bundle", "app.files.bundle_store",
    "app.export.source", "app.export.page", "pygments.lexers.sql",
)  # fmt: skip
"""Database and engine modules that do not use Qt. A thread imports them."""
ASSEMBLY_MODULE: Final = "app.main_window.assembly"
"""Module that imports all parts of the window."""
DEFERRED_MODULES: Final = (
    "app.main_window.class_controller",
    "app.main_window.sql_clients",
    "app.main_window.team_desk",
    "app.main_window.teams",
    "app.main_window.window_seat",
)
"""Modules that most starts do not need.

Their sockets and certificates would take a twelfth of the start time.
"""
THREAD_CHECK_INTERVAL_MS: Final = 15
"""Interval between two checks whether the thread has finished. Each check interrupts the thread."""


class StartCanceledError(Exception):
    """Signal that the user has canceled the start."""


class StartSequence(QObject):
    """Sequence of steps that loads the window. Between two steps, the window processes events.

    Qt classes are created only in the window's thread. When another thread created them while the window
    processed events, one of sixteen starts crashed (PySide 6.11.3).
    """

    def __init__(self, window: MainWindow, profile: Callable[[], Profile | None]) -> None:
        """Create the sequence.

        *profile* opens the profile after its modules are imported. It may raise StartCanceledError.
        """
        super().__init__(window)
        self._window, self._profile = window, profile
        self._import_thread: threading.Thread | None = None
        self._steps = self._run_all_steps()
        self._is_running = False
        self._must_finish_now = False
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._on_timeout)
        window.parts_needed.connect(self.finish_now)
        window.closing.connect(self._timer.stop)

    def start_loading(self) -> None:
        """Start loading after the start page has been painted."""
        self._timer.start(0)

    def stop_loading(self) -> None:
        """Stop loading, because the program ends."""
        self._timer.stop()
        if self._import_thread is not None:
            self._import_thread.join()

    def finish_now(self) -> None:
        """Load all missing parts now."""
        self._must_finish_now = True
        while self._run_next_step():
            pass

    def _on_timeout(self) -> None:
        # the window processes events between two steps
        if not self._run_next_step():
            self._timer.stop()
        elif self._timer.isActive():
            working = self._import_thread is not None and self._import_thread.is_alive()
            self._timer.setInterval(THREAD_CHECK_INTERVAL_MS if working else 0)

    def _run_next_step(self) -> bool:
        """Run the next step.

        Return False if there are no more steps, or if a step is still running because it waits for a dialog.
        """
        if self._is_running:
            return False
        self._is_running = True
        try:
            return next(self._steps, self) is not self
        except StartCanceledError:
            self._window.close()
            QApplication.exit(1)
            return False
        finally:
            self._is_running = False

    def _run_all_steps(self) -> Iterator[None]:
        yield from self._import_in_thread(THREAD_MODULES)
        for name in iterate_window_modules():
            import_module(name)
            yield
        from app.main_window import assembly

        profile = self._profile()
        yield
        yield from assembly.assemble_window(self._window, profile)

    def _import_in_thread(self, names: Sequence[str]) -> Iterator[None]:
        """Import modules in a thread. An import error is raised again when the window's thread imports the module."""
        self._import_thread = threading.Thread(target=_import_modules, args=(names,), daemon=True)
        self._import_thread.start()
        while self._import_thread.is_alive() and not self._must_finish_now:
            yield
        self._import_thread.join()


def _import_modules(names: Sequence[str]) -> None:
    for name in names:
        import_module(name)


def iterate_window_modules() -> Iterator[str]:
    """Yield the names of the modules of the window's parts.

    Modules with plots are excluded, because pyqtgraph takes 120 ms. They are imported with the first plot.
    """
    parts = [module.name for module in iter_modules([str(Path(__file__).parent)], "app.main_window.")]
    yield from (name for name in parts if name not in (ASSEMBLY_MODULE, *DEFERRED_MODULES))
    yield ASSEMBLY_MODULE


BACKGROUND_MODULES: Final = (
    "engine.tsql.clients.upkeep",
    "engine.flow.compiled.loader",
    "engine.tsql.query.translate",
    "engine.tsql.language.parse",
    "sqlglot.optimizer.canonicalize",
)
"""Modules that load in the background, most needed first. Each takes 80 to 130 ms (measured), a visible pause."""

PRELOAD_CHECK_INTERVAL_MS: Final = 50
"""Interval between two checks whether a background thread has finished. Each check interrupts the thread."""


class ModulePreloader(QObject):
    """Preloader that imports modules in a thread. The modules do not use Qt."""

    preloading_finished = Signal()
    """Signal: all modules are loaded."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._threads: list[threading.Thread] = []
        self._is_canceled = False
        self._check_timer = QTimer(self, interval=PRELOAD_CHECK_INTERVAL_MS)
        self._check_timer.timeout.connect(self._check_threads)

    def start_preloading(self) -> None:
        """Start preloading. The window should be idle."""
        thread = threading.Thread(target=self._load, daemon=True)
        self._threads.append(thread)
        thread.start()
        self._check_timer.start()

    def stop_preloading(self) -> None:
        """Stop preloading after the current module, because the window closes."""
        self._is_canceled = True
        self._check_timer.stop()
        for thread in self._threads:
            thread.join()

    @property
    def is_busy(self) -> bool:
        """Return whether modules are still being imported."""
        return self._check_timer.isActive()

    def _load(self) -> None:
        for name in BACKGROUND_MODULES:
            if not self._is_canceled:
                import_module(name)
        if not self._is_canceled:
            from engine.flow import load_compiled_step  # imported after the start page is on screen

            load_compiled_step()

    def _check_threads(self) -> None:
        if any(thread.is_alive() for thread in self._threads):
            return
        self._check_timer.stop()
        freeze_objects()
        self.preloading_finished.emit()


def freeze_objects() -> None:
    """Exclude all current objects from garbage collection, and enable the garbage collector.

    A scan of these objects would take 100 ms in the middle of a frame, and would be repeated while modules
    load.
    """
    gc.freeze()
    gc.enable()


def set_language_at_start(app: QApplication, store: WindowSettings) -> None:
    """Set the language of this start.

    The environment takes precedence over the setting, and the setting over the system.
    """
    requested_language = os.environ.get(language.LANGUAGE_VARIABLE, "")
    language.use_language(
        language.choose_language(requested_language, store.get(settings.LANGUAGE), QLocale.system().name())
    )
    if language.get_current_language() not in (language.ENGLISH, language.PSEUDO_LANGUAGE):
        words = QTranslator(app)
        folder = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
        if words.load(f"qtbase_{language.get_current_language()}", folder):
            app.installTranslator(words)
