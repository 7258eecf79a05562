"""Scenarios by their file: asked for, read, and let in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app import scenario_files
from app.main_window import dialogs
from app.scenario_files import NoScenario
from app.sentences import said
from engine.drill.contents import visible
from engine.drill.problems import ScenarioProblems

if TYPE_CHECKING:
    from app.main_window.window import MainWindow


class Files:
    """`window.files`."""

    def __init__(self, window: MainWindow) -> None:
        self._window = window

    def ask(self) -> None:
        """Have somebody choose a file, and open it."""
        name = dialogs.ask_file(self._window)
        if name:
            self.open(name)

    def open(self, name: str) -> None:
        """The brief of the scenario in the file *name*, or what is wrong with it."""
        window = self._window
        try:
            scenario = scenario_files.find(name).load()
        except (NoScenario, ScenarioProblems) as problem:
            window.notice.warn(visible(said(str(problem))))
            return

        def show() -> None:
            window.show_brief(scenario)
            window.file_opened.emit(name)

        window.quarantine.admit(scenario, name, show)


def attach(window: MainWindow) -> None:
    """The start page's button."""
    window.files = Files(window)
    window.picker.file_wanted.connect(window.files.ask)
