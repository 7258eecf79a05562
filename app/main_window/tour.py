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


STANDS: Final = mark("The clock still stands: start it when you are ready.")


def stops(window: MainWindow) -> list[Stop]:
    """What there is to know, in the order in which a drill needs it."""
    desk, docks = window.desk.views, window.desk.docks

    def first_open() -> str | None:
        """Of the panels that stand together one that is open."""
        return next((name for name in ("monitor", "timing", "error_log") if not docks[name].isHidden()), None)

    def bring(name: str | None) -> None:
        if name is not None:
            docks[name].raise_()

    return [
        Stop(tr("Time"), tr(
            "Simulated time runs only when you let it, and waits while you look round for the first time. Run and"
            " pause, step, or run to the next event; the slider sets the speed from a tenth to a thousand times."
            " While time stands still everything can be used."),
            lambda: window.transport),
        Stop(tr("The brief"), tr(
            "What has happened, what is wanted, and by when. Goals are ticked off as you reach them; hints are here,"
            " too."), lambda: desk["brief"], lambda: bring("brief")),
        Stop(tr("The picture"), tr(
            "Servers, applications and the lines between them. Right-click a thing, or press Enter on it, for what can"
            " be done to it; drag cards where you like; S puts one into the spotlight, N sticks a note."),
            lambda: window.topology),
        Stop(tr("SQL windows"), tr(
            "Each tab is a connection to one server, as in Management Studio: F5 executes, Ctrl+F5 parses, Ctrl+R"
            " hides the results. A server answers only with what it knows itself."), lambda: desk["console"],
            lambda: bring("console")),
        Stop(tr("Charts"), tr(
            "Queues, rates and states over time. Click to put the cursor of every view at a moment; drag to have every"
            " view show only that span; Esc shows all again."), lambda: desk["charts"], lambda: bring("charts")),
        Stop(tr("Monitor and logs"), tr(
            "Database Mirroring Monitor, the logs, failover times and events are tabs here. The View menu has all"
            " panels, and layouts for learners, instructors, authors and presenters."),
            lambda: desk.get(first_open() or ""), lambda: bring(first_open())),
        Stop(tr("Everything is a line"), tr(
            "Every act can be typed here, such as power-off SERVER_A. Ctrl+Shift+P finds any command, Shift+F1 lists"
            " all keys, F1 explains the panel you are in."), lambda: window.act_line),
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
            window.notice.tell(tr("The tour shows the desk: open a drill first."))
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
