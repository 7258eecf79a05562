"""The tour of the desk: offered once at the first drill, and whenever somebody asks for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt

from app import settings
from app.main_window import actions
from app.views.tour import Stop, Tour
from app.words.language import mark, tr

if TYPE_CHECKING:
    from app.main_window.window import MainWindow


STANDS: Final = mark("The clock is paused: start it when you are ready.")


def stops(window: MainWindow) -> list[Stop]:
    """What there is to know, in the order in which a drill needs it."""
    desk, docks = window.desk.widgets(), window.desk.docks

    def first_open() -> str | None:
        """Of the panels that stand together one that is open."""
        return next((name for name in ("monitor", "timing", "error_log") if not docks[name].isHidden()), None)

    def bring(name: str | None) -> None:
        if name is not None:
            docks[name].raise_()

    return [
        Stop(tr("Time"), tr(
            "Simulated time runs only when you start it, and is paused during this tour. Run and pause, step,"
            " or run to the next event; the slider sets the speed from 0.1× to 1000×."
            " Every panel works while the clock is paused."),
            lambda: window.transport),
        Stop(tr("The brief"), tr(
            "The situation, your task and its deadlines. Goals are ticked off as you reach them;"
            " hints are here, too."), lambda: desk["brief"], lambda: bring("brief")),
        Stop(tr("Topology"), tr(
            "Servers, applications and the links between them. Right-click an item, or press Enter on it,"
            " for its actions; drag cards to arrange them; S toggles the spotlight, N adds a note."),
            lambda: window.topology),
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
            lambda: window.act_line),
    ]  # fmt: skip


def attach(window: MainWindow) -> None:
    """An entry in the Help menu; at the very first drill the tour opens by itself: it does not take the keyboard, and
    time waits until somebody lets it run."""

    def key() -> str:
        shortcut = window.actions_by_name["help.tour"].shortcut()
        return shortcut.toString(shortcut.SequenceFormat.NativeText)

    tour = window.tour = Tour(stops(window), window, key)

    held = {"offered": False, "paused": False}
    """Whether time is to wait for somebody who looks round for the first time, and whether it does."""

    def seen() -> None:
        window.store.set(settings.TOUR_SEEN, True)
        on_desk = window.pages.currentWidget() is window.desk_page
        if held["paused"] and on_desk and not window.session.running:
            window.notice.offer(tr(STANDS), tr("Start the clock"), window.session.play)
        held.update(offered=False, paused=False)

    def hold(running: bool) -> None:
        if running and held["offered"]:
            window.session.pause()
            held.update(offered=False, paused=True)
        elif running:
            held["paused"] = False  # somebody would rather not wait
            if window.notice.text == tr(STANDS):
                window.notice.clear()

    def start(by_itself: bool = False) -> None:
        if window.pages.currentWidget() is not window.desk_page:
            window.notice.tell(tr("Open a drill first: the tour shows its desk."))
            return
        tour.start(take_focus=not by_itself)

    def offer() -> None:
        if not window.store.get(settings.TOUR_SEEN) and window.isVisible():
            held["offered"] = True
            start(by_itself=True)

    # Queued: everybody has heard first that time runs.
    window.session.running_changed.connect(hold, Qt.ConnectionType.QueuedConnection)
    tour.ended.connect(seen)
    window.play.began.connect(offer)
    window.pages.currentChanged.connect(lambda _: _hide_off_the_desk(window, tour))
    added = actions.add(window, {"help.tour": start})
    window.menus["&Help"].addActions(list(added.values()))


def _hide_off_the_desk(window: MainWindow, tour: Tour) -> None:
    if window.pages.currentWidget() is not window.desk_page:
        tour.stop()
