"""Navigation between the pages: start page, desk with its tools, and history."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app import settings
from app.main_window.desk_page import DeskPage
from app.main_window.presenter_mode import CardPositionStore
from app.main_window.shared_parts import SharedParts, WindowPart
from app.views.history import RunHistoryPage
from app.views.scenario_picker import StartPageView
from app.widgets.busy_cursor import show_busy_cursor
from app.widgets.input_guard import get_input_guard
from app.widgets.scroll_container import PageStack
from app.words.language import tr


class StartPageController(WindowPart):
    """Controller of the start page, which shows the data of `ScenarioLibrary`."""

    def __init__(self, shared: SharedParts, view: StartPageView) -> None:
        super().__init__(shared)
        self.view = view

    def reload_contents(self) -> None:
        """Reload the drills and runs, and show them."""
        self._library.read_scenarios()
        cards = self._library.build_cards()
        self.view.show_cards(cards, self._library.problems)
        newcomer = self._library.is_new_user() and not self._store.get(settings.INTRODUCTION_SEEN)
        self.view.show_recommendation(self._library.find_recommended_drill(cards), newcomer)
        self.view.show_interrupted(self._library.list_interrupted_runs())

    @show_busy_cursor()
    def resume_run(self, run_id: int) -> None:
        """Continue an interrupted run."""
        for run in self._play.list_unfinished_runs():
            if run.run_id == run_id:
                self._play.resume_run(run)

    def ask_to_give_up(self, run_id: int) -> None:
        """Ask whether to give up an interrupted run. If the user agrees, end it without a result."""
        self._confirmations.confirm("give_up", lambda: self._give_up_run(run_id))

    def _give_up_run(self, run_id: int) -> None:
        self._play.give_up_run(run_id)
        self.view.show_interrupted(self._library.list_interrupted_runs())


class PageNavigation(WindowPart):
    """Navigation between the pages. A run can be resumed after the user has left the desk."""

    desk_wanted = Signal()
    """Signal: the desk is about to be shown."""

    def __init__(
        self,
        shared: SharedParts,
        pages: PageStack,
        start_page: StartPageController,
        history: RunHistoryPage,
        desk_page: DeskPage,
        cards: CardPositionStore,
    ) -> None:
        super().__init__(shared)
        self._pages, self._start_page, self._history = pages, start_page, history
        self._desk_page, self._cards = desk_page, cards

    @property
    def is_desk_shown(self) -> bool:
        """True if the desk is shown with a drill."""
        return self.is_page_shown(self._desk_page)

    def is_page_shown(self, page: QWidget) -> bool:
        """Return whether *page* is shown."""
        return self._pages.currentWidget() is page

    @show_busy_cursor()
    def show_home(self) -> None:
        """Show the start page. The current run can be resumed from it."""
        self.leave_run()
        self._start_page.reload_contents()
        self._pages.show_page(self._start_page.view, "")
        self._start_page.view.take_focus()

    def show_desk(self) -> None:
        """Show the desk with the drill of the session."""
        live = self._session.live_drill
        if live is not None:
            self.open_desk(live.scenario.title)

    def open_desk(self, title: str) -> None:
        """Open the desk with *title* as the window title, and focus the topology."""
        self.desk_wanted.emit()
        self._pages.show_page(self._desk_page, title)
        self._desk_page.topology.setFocus()

    def ignore_clicks_after_switch(self) -> None:
        """Ignore clicks for a short time, because they may have been intended for the previous page."""
        get_input_guard().record_appearance(self._desk_page)

    def return_from_page(self) -> None:
        """Return from a page to the run, or to the start page if there is no run."""
        live = self._session.live_drill
        if live is not None and not live.finished:
            self.show_desk()
        else:
            self.show_home()

    @show_busy_cursor()
    def show_history(self) -> None:
        """Show the page of finished runs."""
        self._history.show_runs(self._library.list_finished_runs())
        self._pages.show_page(self._history, tr("History"))

    def show_page(self, page: QWidget, title: str) -> None:
        """Show a page that is neither the start page nor the desk."""
        self._pages.show_page(page, title)

    def leave_run(self) -> None:
        """Close the current run. An unfinished run can be resumed later."""
        self.pause_run()
        self._play.leave_run()

    def pause_run(self) -> None:
        """Pause the run and store the card positions before another page is shown."""
        if self._session.drill is not None:
            self._session.pause()
            self._cards.save_positions(self._session.drill)
