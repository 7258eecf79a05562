"""The page that shows how a learner stands, made when it is first opened."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.widgets.busy import busy
from app.words.language import tr

if TYPE_CHECKING:
    from app.main_window.window import MainWindow
    from app.views.progress import ProgressPage


class ProgressPages:
    """Skills and what is due. A drill that runs waits, and its desk comes back."""

    def __init__(self, window: MainWindow) -> None:
        self._window = window
        self.page: ProgressPage | None = None

    @busy()
    def show(self) -> None:
        window = self._window
        window.keep_desk()
        if self.page is None:
            from app.views.progress import ProgressPage

            self.page = ProgressPage()
            self.page.left.connect(window.go_back)
            self.page.history_wanted.connect(window.show_history)
            self.page.started.connect(window.ask_to_choose)
            window.pages.addWidget(self.page)
        window.library.read()
        found = window.library.progress()
        titles = {name: summary.title for name, summary in window.library.summaries.items()}
        self.page.show_progress(found.skills, found.next, titles, found.at)
        window.go_to(self.page, tr("Progress"))
        self.page.take_focus()


def attach(window: MainWindow) -> None:
    """The page's entry in the menu and its button on the start page; it is `window.progress`."""
    window.progress = ProgressPages(window)
    window.menus["&Tools"].addAction(tr("&Progress"), window.progress.show)
    window.picker.progress_wanted.connect(window.progress.show)
