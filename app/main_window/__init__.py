"""Main window of the program, and the function that opens it."""

from __future__ import annotations

import gc
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel, QMessageBox

from app import pyside_import_hook  # noqa: F401  # before all others
from app.main_window.appearance import apply_stored_theme, enlarge_text_on_wide_screen
from app.main_window.slot_errors import SlotErrorHook
from app.main_window.start import ModulePreloader, StartCanceledError, StartSequence, set_language_at_start
from app.main_window.window import WINDOW_TITLE, MainWindow
from app.settings import WindowSettings
from app.widgets.accessible_interfaces import register_scroll_area_interface
from app.widgets.number_locale import reset_c_locale
from app.words.language import tr

if TYPE_CHECKING:
    from app.storage import Profile
    from engine.drill.authoring.scenario import Scenario

__all__ = ["MainWindow", "open_window"]


def open_window(scenario: Scenario | None) -> int:
    """Show the window until it is closed, and return the exit code. Open *scenario* if one is given."""
    app = QApplication.instance() or QApplication(sys.argv[:1])
    reset_c_locale()
    assert isinstance(app, QApplication)
    app.setApplicationName("mirrordrill")
    app.setApplicationDisplayName(WINDOW_TITLE)
    store = WindowSettings()
    set_language_at_start(app, store)
    enlarge_text_on_wide_screen(store, app.primaryScreen().availableGeometry().width())
    apply_stored_theme(store)
    register_scroll_area_interface()
    window = MainWindow(store)
    profiles: list[Profile] = []
    before = sys.excepthook
    sys.excepthook = SlotErrorHook(window, before, is_recorded=lambda: bool(profiles))
    with ExitStack() as at_the_end:
        at_the_end.callback(setattr, sys, "excepthook", before)
        gc.disable()  # disabled until all parts are loaded, see `freeze_objects` in start.py
        at_the_end.callback(gc.enable)
        start = StartSequence(window, lambda: _open_profile(at_the_end, profiles))
        at_the_end.callback(start.stop_loading)
        preload = ModulePreloader(window)
        at_the_end.callback(preload.stop_preloading)
        window.parts_loaded.connect(preload.start_preloading)
        preload.preloading_finished.connect(lambda: _show_fallback(window))
        window.show()
        if scenario is not None:
            app.setOverrideCursor(Qt.CursorShape.WaitCursor)
            for signal in (window.parts_loaded, window.closing):
                signal.connect(app.restoreOverrideCursor)
            window.call_when_ready(lambda: window.scenario_given.emit(scenario))
        start.start_loading()
        return app.exec()


def _show_fallback(window: MainWindow) -> None:
    """Report in the status bar if the flow model runs as slow plain Python although this was not requested."""
    from engine.flow import compiled  # imported after the start page is on screen

    if reason := compiled.load_kernel().reason:
        text = tr(
            "The flow model runs as plain Python. Results are the same, but the simulation is slow: {reason}"
        )
        window.statusBar().addPermanentWidget(QLabel(text.format(reason=reason)))


def _open_profile(at_the_end: ExitStack, profiles: list[Profile]) -> Profile | None:
    """Open the learner's profile and add it to *profiles*.

    *at_the_end*: exit stack that closes the profile later. Return None to play without a profile.
    Raises StartCanceledError if the user declines to play without a profile.
    """
    from app.storage import StorageError, open_profile  # late import, because it loads the database layer

    try:
        profile = open_profile()
    except StorageError as problem:
        if _confirm_unrecorded_play(str(problem)):
            return None
        raise StartCanceledError from problem
    at_the_end.callback(profile.close)
    profiles.append(profile)
    return profile


def _confirm_unrecorded_play(problem: str) -> bool:
    """Ask whether to play although nothing can be stored, and return the answer."""
    box = QMessageBox(QMessageBox.Icon.Warning, WINDOW_TITLE, problem)
    box.setInformativeText(tr("You can play, but runs, results and unsent queries will not be saved."))
    play = box.addButton(tr("Play without recording"), QMessageBox.ButtonRole.AcceptRole)
    box.addButton(tr("Quit"), QMessageBox.ButtonRole.RejectRole)
    box.exec()
    return box.clickedButton() is play
