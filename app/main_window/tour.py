"""The tour of the desk: offered once at the first drill, and whenever it is asked for."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QWidget

from app import settings
from app.main_window.desk_page import DeskPage
from app.main_window.navigation import Navigation
from app.main_window.play import Play
from app.main_window.session import Session
from app.settings import WindowSettings
from app.views.act_line import ActLine
from app.views.tour import Stop, Tour
from app.widgets.notice import Notice
from app.words.language import mark, tr

STANDS: Final = mark("The clock is paused: start it when you are ready.")


def stops(page: DeskPage, act_line: ActLine) -> list[Stop]:
    """What there is to know, in the order in which a drill needs it."""
    desk, docks = page.desk.widgets(), page.desk.docks

    def first_open() -> str | None:
        """Of the panels that stand together one that is open."""
        return next((name for name in ("monitor", "timing", "error_log") if not docks[name].isHidden()), None)

    def bring(name: str | None) -> None:
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
            " hints are here, too."), lambda: desk["brief"], lambda: bring("brief")),
        Stop(tr("Topology"), tr(
            "Servers, applications and the links between them. Right-click an item, or press Enter on it,"
            " for its actions; drag cards to arrange them; S toggles the spotlight, N adds a note."),
            lambda: page.topology),
        Stop(tr("SQL windows"), tr(
            "Each tab is a connection to one server, as in Management Studio: F5 executes,"
            " Ctrl+F5 parses, Ctrl+R hides the results. A server reports only what it knows itself."),
            lambda: desk["console"], lambda: bring("console")),
        Stop(tr("Charts"), tr(
            "Queues, rates and states over time. Click to set the time cursor of every view;"
            " drag to zoom every view to that span; Esc shows the whole time again."),
            lambda: desk["charts"], lambda: bring("charts")),
        Stop(tr("Monitor and logs"), tr(
            "Database Mirroring Monitor, the logs, failover times and events are tabs here. The View menu has all"
            " panels, and layouts for learners, instructors, authors and presenters."),
            lambda: desk.get(first_open() or ""), lambda: bring(first_open())),
        Stop(tr("Commands"), tr(
            "Every action can be typed here as a command, such as power-off SERVER_A."
            " Ctrl+Shift+P finds any menu command, Shift+F1 lists all shortcuts, F1 explains the active panel."),
            lambda: act_line),
    ]  # fmt: skip


class GuidedTour(QObject):
    """At the very first drill the tour opens by itself: it does not take the keyboard, and time waits until it is let
    run."""

    def __init__(
        self,
        stops: list[Stop],
        action: QAction,
        navigation: Navigation,
        session: Session,
        play: Play,
        notice: Notice,
        store: WindowSettings,
        window: QWidget,
    ) -> None:
        """*action*: starts the tour, too; its key is told."""
        super().__init__(window)
        self._navigation, self._session, self._notice = navigation, session, notice
        self._store, self._window = store, window

        def key() -> str:
            return action.shortcut().toString(action.shortcut().SequenceFormat.NativeText)

        self._tour = Tour(stops, window, key)
        self._waits = False
        """Time is to wait for a newcomer who looks round."""
        self._paused = False
        """It does."""
        # Queued: all others have heard first that time runs.
        session.running_changed.connect(self._hold, Qt.ConnectionType.QueuedConnection)
        self._tour.ended.connect(self._note_end)
        play.began.connect(lambda _: self._offer())

    def start(self, by_itself: bool = False) -> None:
        """From the first stop on; only on the desk, which is its matter."""
        if not self._navigation.on_desk:
            self._notice.tell(tr("Open a drill first: the tour shows its desk."))
            return
        self._tour.start(take_focus=not by_itself)

    def show_page(self) -> None:
        """Another page is on screen."""
        if not self._navigation.on_desk:
            self._tour.stop()
            self._withdraw()

    def _offer(self) -> None:
        if not self._store.get(settings.TOUR_SEEN) and self._window.isVisible():
            self._waits = True
            self.start(by_itself=True)

    def _hold(self, running: bool) -> None:
        if running and self._waits:
            self._session.pause()
            self._waits, self._paused = False, True
        elif running:
            self._paused = False  # the newcomer would rather not wait
            self._withdraw()

    def _withdraw(self) -> None:
        """Nothing offers to start a clock that runs, or one of a run that is not on screen."""
        if self._notice.text == tr(STANDS):
            self._notice.clear()

    def _note_end(self) -> None:
        self._store.set(settings.TOUR_SEEN, True)
        if self._paused and self._navigation.on_desk and not self._session.running:
            self._notice.offer(tr(STANDS), tr("Start the clock"), self._session.play)
        self._waits = self._paused = False
