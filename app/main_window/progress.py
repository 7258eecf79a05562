"""The page that shows how a learner stands, made when it is first opened."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.main_window.drill_choice import DrillChoice
from app.main_window.library import Library
from app.main_window.navigation import Navigation
from app.widgets.busy_cursor import show_busy_cursor
from app.words.language import tr

if TYPE_CHECKING:
    from app.views.progress import ProgressPage


class ProgressPages(QObject):
    """Skills and what is due. A drill that runs waits, and its desk comes back."""

    def __init__(
        self, navigation: Navigation, choice: DrillChoice, library: Library, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._navigation, self._choice, self._library = navigation, choice, library
        self.page: ProgressPage | None = None

    @show_busy_cursor()
    def show(self) -> None:
        """Show the page of skills."""
        navigation = self._navigation
        navigation.pause_run()
        if self.page is None:
            from app.views.progress import ProgressPage

            self.page = ProgressPage()
            self.page.left.connect(navigation.return_from_page)
            self.page.history_wanted.connect(navigation.show_history)
            self.page.started.connect(self._choice.ask_to_choose)
        self._library.read()
        found = self._library.progress()
        titles = {name: summary.title for name, summary in self._library.summaries.items()}
        self.page.show_progress(found.skills, found.next, titles, found.at, self._library.calibration())
        navigation.show_page(self.page, tr("Progress"))
        self.page.take_focus()
