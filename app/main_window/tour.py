"""Tour of the desk: offered once at the first drill, and available in the Help menu."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app import settings
from app.main_window.desk_page import DeskPage
from app.main_window.navigation import Navigation
from app.main_window.run_controller import RunController
from app.main_window.session import HostSession
from app.settings import WindowSettings
from app.views.act_line import ActLine
from app.views.tour import Stop, Tour
from app.widgets.notice import NoticeBar
from app.words.language import mark, tr

OFFER: Final = mark("New here? A short tour explains the desk. The clock pauses meanwhile.")

OFFER_S: Final = 20.0
"""Seconds for which the tour is offered. Assumed."""


def stops(page: DeskPage, act_line: ActLine) -> list[Stop]:
    """What there is to know, in the order in which a drill needs it."""
    desk, docks = page.desk.widgets(), page.desk.docks

    def find_open_dock() -> str | None:
        """Of the panels that stand together one that is open."""
        return next((name for name in ("monitor", "timing", "error_log") if not docks[name].isHidden()), None)

    def show_view(name: str | None) -> None:
        if name is not None:
            docks[name].raise_()

    return [
        Stop(tr("Time"), tr(
            "Simulated time runs only when you start it, and waits while you look round. Run and pause, step,"
            " or run to the next event; the slider sets the speed from 0.1× to 1000×."
            " Every panel works while the clock is paused."),
            lambda: page.transport),
        Stop(tr("The brief"), tr(
            "The situation, your task and its deadlines. Goals are ticked off as you reach them;"
            " hints are here, too."), lambda: desk["brief"], lambda: show_view("brief")),
        Stop(tr("Topology"), tr(
            "Servers, applications and the links between them. Right-click an item, or press Enter on it,"
            " for its actions; drag cards to arrange them; S toggles the spotlight, N adds a note."),
            lambda: page.topology),
        Stop(tr("SQL windows"), tr(
            "Each tab is a connection to one server, as in Management Studio: F5 executes,"
            " Ctrl+F5 parses, Ctrl+R hides the results. A server reports only what it knows itself."),
            lambda: desk["console"], lambda: show_view("console")),
        Stop(tr("Charts"), tr(
            "Queues, rates and states over time. Click to set the time cursor of every view;"
            " drag to zoom every view to that span; Esc shows the whole time again."),
            lambda: desk["charts"], lambda: show_view("charts")),
        Stop(tr("Monitor and logs"), tr(
            "Database Mirroring Monitor, the logs, failover times and events are tabs here. The View menu has all"
            " panels, and layouts for learners, instructors, authors and presenters."),
            lambda: desk.get(find_open_dock() or ""), lambda: show_view(find_open_dock())),
        Stop(tr("Commands"), tr(
            "Every action can be typed here as a command, such as power-off SERVER_A."
            " Ctrl+Shift+P finds any menu command, Shift+F1 lists all shortcuts, F1 explains the active panel."),
            lambda: act_line),
    ]  # fmt: skip


class GuidedTour(QObject):
    """Offers the tour at the very first drill and starts it on request. The clock pauses while the tour is open."""

    def __init__(
        self,
        stops: list[Stop],
        navigation: Navigation,
        session: HostSession,
        play: RunController,
        notice: NoticeBar,
        store: WindowSettings,
        window: QWidget,
    ) -> None:
        super().__init__(window)
        self._navigation, self._session, self._notice = navigation, session, notice
        self._store, self._window = store, window
        self._tour = Tour(stops, window)
        self._was_running = False
        """The clock ran when the tour started, so it resumes at the end."""
        self._tour.ended.connect(self._resume)
        play.began.connect(lambda _: self._offer())

    def start(self) -> None:
        """Start at the first stop, or continue; only the desk has a tour."""
        if not self._navigation.on_desk:
            self._notice.show_info(tr("Open a drill first: the tour shows its desk."))
            return
        self._withdraw()
        if self._session.running:
            self._was_running = True
            self._session.pause()
        self._tour.start()

    def show_page(self) -> None:
        """React to a change of the page."""
        if not self._navigation.on_desk:
            self._was_running = False  # the run is not on screen any more
            self._tour.stop()
            self._withdraw()

    def _offer(self) -> None:
        if not self._store.get(settings.TOUR_SEEN) and self._window.isVisible():
            self._store.set(settings.TOUR_SEEN, True)
            self._notice.offer(tr(OFFER), tr("Show the tour"), self.start, for_s=OFFER_S)

    def _withdraw(self) -> None:
        if self._notice.text == tr(OFFER):
            self._notice.clear()

    def _resume(self) -> None:
        if self._was_running and self._navigation.on_desk:
            self._session.play()
        self._was_running = False
