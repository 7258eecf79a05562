"""From page to page: the start page, the desk and what was opened beside it, the history."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from app.main_window.desk_page import DeskPage
from app.main_window.library import Library
from app.main_window.run_controller import RunController
from app.main_window.session import HostSession
from app.main_window.start_page import StartPage
from app.main_window.topology_layout import TopologyLayout
from app.views.history import RunHistoryPage
from app.widgets.busy_cursor import show_busy_cursor
from app.widgets.input_guard import guard
from app.widgets.scroll_container import Pages
from app.words.language import tr


class Navigation(QObject):
    """Navigation between pages. Leaving the desk keeps a run that can be continued."""

    desk_wanted = Signal()
    """The desk is the next page."""

    def __init__(
        self,
        pages: Pages,
        start_page: StartPage,
        history: RunHistoryPage,
        desk_page: DeskPage,
        cards: TopologyLayout,
        session: HostSession,
        play: RunController,
        library: Library,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._pages, self._start_page, self._history = pages, start_page, history
        self._desk_page, self._cards = desk_page, cards
        self._session, self._play, self._library = session, play, library

    @property
    def on_desk(self) -> bool:
        """A drill is on screen."""
        return self.shows(self._desk_page)

    def shows(self, page: QWidget) -> bool:
        """Return whether *page* is shown."""
        return self._pages.currentWidget() is page

    @show_busy_cursor()
    def show_home(self) -> None:
        """Show the drill list; the run that is left can be resumed."""
        self.leave_run()
        self._start_page.fill()
        self._pages.show_page(self._start_page.picker, "")
        self._start_page.picker.take_focus()

    def show_desk(self) -> None:
        """Show the drill in the session."""
        live = self._session.live
        if live is not None:
            self.open_desk(live.scenario.title)

    def open_desk(self, title: str) -> None:
        """Open the desk for a drill called *title*; the topology has the keyboard."""
        self.desk_wanted.emit()
        self._pages.show_page(self._desk_page, title)
        self._desk_page.topology.setFocus()

    def guard_desk(self) -> None:
        """Ignore clicks on the new desk that were meant for the previous page, because the start takes a moment."""
        guard().appeared(self._desk_page)

    def return_from_page(self) -> None:
        """Go back from a page to the run, or to the drills if there is no run."""
        live = self._session.live
        if live is not None and not live.finished:
            self.show_desk()
        else:
            self.show_home()

    @show_busy_cursor()
    def show_history(self) -> None:
        """Show the page of finished runs."""
        self._history.show_runs(self._library.runs())
        self._pages.show_page(self._history, tr("History"))

    def show_page(self, page: QWidget, title: str) -> None:
        """Show any other page."""
        self._pages.show_page(page, title)

    def leave_run(self) -> None:
        """Release the current run; unless it is finished, it can be continued."""
        self.pause_run()
        self._play.leave()

    def pause_run(self) -> None:
        """Pause the run and store the card positions before another page is shown."""
        if self._session.drill is not None:
            self._session.pause()
            self._cards.keep(self._session.drill)
