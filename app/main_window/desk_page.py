"""The page on which a drill is played: its views made, and connected with the session."""

from __future__ import annotations

from collections.abc import Iterator
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QToolButton, QVBoxLayout, QWidget

from app.main_window import actions, cards
from app.main_window.desk import Desk
from app.main_window.irrevocable import UNDO_S
from app.views.briefing import Briefing
from app.views.charts import Charts
from app.views.console import Console
from app.views.error_log import ErrorLog
from app.views.fault_ledger import FaultLedger
from app.views.monitor import Monitor
from app.views.object_explorer import ObjectExplorer
from app.views.timeline import Timeline
from app.views.timing import Timing
from app.views.topology import Topology
from app.views.topology.view import MOVING_SPEED_MAX
from app.views.topology_table import TopologyTable
from app.views.transport import Transport
from app.widgets import theme
from app.widgets.docks import DOCKS, LEARNER, MIDDLE
from app.words import formatting
from app.words.language import tr

if TYPE_CHECKING:
    from app.main_window.window import MainWindow
    from app.views.console.query import QueryWindow
    from engine.drill.running.drill import Drill
    from engine.events import Event

IN_TRANSPORT: Final = ("time.play", "time.step", "time.next_event", "time.next_state")


def make(window: MainWindow) -> Iterator[None]:
    """The page, then the views, one in a step, each in its place."""
    window.transport = Transport([window.actions_by_name[name] for name in IN_TRANSPORT])
    window.timeline = Timeline()
    window.desk = desk = Desk()
    window.desk_page = QWidget()
    column = QVBoxLayout(window.desk_page)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(0)
    window.pages.addWidget(window.desk_page)
    column.addWidget(_bar(window))
    column.addWidget(desk)
    yield
    for dock in sorted(DOCKS, key=lambda dock: dock.area is not MIDDLE):
        desk.put(dock, resolve_name(dock.view)())
        yield
    desk.arrange(LEARNER)
    window.topology = desk.part(Topology)
    window.briefing, window.console = desk.part(Briefing), desk.part(Console)
    window.charts, window.timing = desk.part(Charts), desk.part(Timing)
    window.explorer, window.ledger = desk.part(ObjectExplorer), desk.part(FaultLedger)
    window.table = desk.part(TopologyTable)
    window.table.share(window.topology.acts)


def _bar(window: MainWindow) -> QFrame:
    """Time, and the end of the drill."""
    finish = QToolButton()
    window.actions_by_name["drill.finish"].setIconText(tr("End drill"))
    finish.setDefaultAction(window.actions_by_name["drill.finish"])
    finish.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
    bar = QFrame()
    bar.setProperty("bar", "true")
    row = QHBoxLayout(bar)
    row.setContentsMargins(0, 0, 8, 0)
    row.addWidget(window.transport)
    row.addWidget(window.timeline, 1)
    row.addWidget(finish)
    return bar


def connect(window: MainWindow) -> None:
    """What the session tells goes to the views, what they ask for to the session, and from view to view."""
    session, desk, topology = window.session, window.desk, window.topology
    session.drill_changed.connect(lambda drill: _show_moment(window, drill))
    for view in (desk, window.transport, window.act_line):
        session.world_changed.connect(view.show_world)
    session.happened.connect(desk.add_events)
    window.act_line.requested.connect(window.do_typed)
    for asking in desk.views.values():
        asking.requested.connect(window.do)
    session.happened.connect(lambda events: _show_questions(window, events))
    session.refused.connect(window.notice.warn)
    session.refused.connect(window.console.show_refusal)
    session.speed_changed.connect(window.transport.show_speed)
    session.speed_changed.connect(topology.set_speed)
    session.lagging.connect(window.transport.show_lag)
    session.progress.connect(window.transport.show_progress)
    session.running_changed.connect(lambda running: show_running(window, running))
    for changed in (session.running_changed, session.speed_changed):
        changed.connect(lambda _: desk.show_pace(session.running, session.speed > MOVING_SPEED_MAX))
    window.transport.speed_chosen.connect(session.set_speed)
    session.running_changed.connect(window.console.tabs.show_running)
    window.console.said.connect(window.notice.tell)
    window.console.zoom_wanted.connect(lambda: desk.zoom("console"))
    window.console.tabs.text_closed.connect(lambda name: _offer_text_back(window, name))
    window.console.busy_closed.connect(lambda query: _ask_to_close(window, query))
    window.play.began.connect(lambda drill: _show_begun(window, drill))
    window.play.recorded.connect(lambda drill: _show_recorded(window, drill))
    topology.opened.connect(lambda server: window.console.new_query(server))
    window.explorer.query_wanted.connect(lambda server, text: _open_query(window, server, text))
    window.explorer.log_wanted.connect(lambda server: _open_log(window, server))
    window.explorer.monitor_wanted.connect(lambda _, database: _open_monitor(window, database))
    topology.chosen.connect(window.table.choose)
    window.table.chosen.connect(topology.choose)


def _show_moment(window: MainWindow, drill: Drill) -> None:
    """The run as it stands, or a past moment of it."""
    if window.session.looking_back:
        window.desk.show_moment(drill)
    else:
        window.desk.show_drill(drill)
    window.transport.show_drill(drill)
    window.act_line.show_drill(drill)


def _show_begun(window: MainWindow, drill: Drill) -> None:
    window.scenario = drill.scenario
    window.drafts.begin(drill)
    window.notice.clear()
    cards.put(window.store, window.topology, drill.scenario.name)
    _show_facts(window, drill)
    window.go_to(window.desk_page, drill.scenario.title)
    window.topology.setFocus()


def _show_facts(window: MainWindow, drill: Drill) -> None:
    kept = tr("not recorded") if window.play.run_id is None else tr("recorded")
    what = tr("reference solution") if window.play.watching else formatting.mode(drill.mode.value)
    window.run_facts.setText("  ·  ".join((what, tr("seed {number}").format(number=drill.seed), kept)))


def _show_recorded(window: MainWindow, drill: Drill) -> None:
    _show_facts(window, drill)
    window.notice.tell(tr("This run is recorded from now on, including its beginning."))


def show_running(window: MainWindow, running: bool) -> None:
    """Whether the button runs or pauses."""
    action = window.actions_by_name["time.play"]
    action.setText(tr("Pause") if running else tr("Run"))
    colours = theme.tokens(window.palette())
    action.setIcon(theme.icon("pause" if running else "play", colours, colours.on_accent))
    actions.show_keys([action])


def _show_questions(window: MainWindow, events: list[Event]) -> None:
    """A question that makes time stand still is brought to the front."""
    if any(event.kind == "question" and event.get("pause") for event in events):
        window.desk.docks["brief"].show()
        window.desk.docks["brief"].raise_()


def _offer_text_back(window: MainWindow, name: str) -> None:
    said = tr("{window} is closed. “New query” lists its text, too.").format(window=name)
    window.notice.offer(said, tr("Undo"), lambda: window.console.tabs.reopen(0), UNDO_S)


def _ask_to_close(window: MainWindow, query: QueryWindow) -> None:
    tabs = window.console.tabs
    window.irrevocable.ask("close_busy", lambda: tabs.close_window(query), window=query.window_id)


def _open_query(window: MainWindow, server: str, text: str) -> None:
    window.console.new_query(server, text)
    window.desk.go_to("console")


def _open_log(window: MainWindow, server: str) -> None:
    window.desk.part(ErrorLog).show_server(server)
    window.desk.go_to("error_log")


def _open_monitor(window: MainWindow, database: str) -> None:
    window.desk.part(Monitor).show_database(database)
    window.desk.go_to("monitor")
