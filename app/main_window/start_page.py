"""The start page: drills with their results, and interrupted runs that are taken up again or given up."""

from __future__ import annotations

from PySide6.QtCore import QObject

from app import settings
from app.main_window.confirmations import Confirmations
from app.main_window.library import Library
from app.main_window.run_controller import RunController
from app.settings import WindowSettings
from app.views.scenario_picker import ScenarioPicker
from app.widgets.busy_cursor import show_busy_cursor


class StartPage(QObject):
    """Start page, filled with the data of the library."""

    def __init__(
        self,
        picker: ScenarioPicker,
        library: Library,
        play: RunController,
        irrevocable: Confirmations,
        store: WindowSettings,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._store = store
        self.picker, self._library, self._play, self._irrevocable = picker, library, play, irrevocable

    def fill(self) -> None:
        """Read the drills again, and show them."""
        self._library.read()
        cards = self._library.cards()
        self.picker.show_cards(cards, self._library.problems)
        newcomer = self._library.is_new_user() and not self._store.get(settings.INTRODUCTION_SEEN)
        self.picker.show_recommendation(self._library.recommended(cards), newcomer)
        self.picker.show_interrupted(self._library.interrupted())

    @show_busy_cursor()
    def resume(self, run_id: int) -> None:
        """Go on with an interrupted run."""
        for run in self._play.unfinished():
            if run.run_id == run_id:
                self._play.resume(run)

    def ask_to_give_up(self, run_id: int) -> None:
        """End an interrupted run without a result, after a question."""
        self._irrevocable.confirm("give_up", lambda: self._give_up(run_id))

    def _give_up(self, run_id: int) -> None:
        self._play.give_up(run_id)
        self.picker.show_interrupted(self._library.interrupted())
