"""The window: places pages and views, and connects them with the session and its runs. Nothing else."""

from __future__ import annotations

from typing import Any, Final

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QAction, QCloseEvent
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QHBoxLayout,
    QLabel,
    QMainWindow,
    QMenu,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app import formatting, keys, scenario_files, settings, theme
from app.language import tr
from app.main_window import (
    actions,
    branches,
    by_doing,
    debriefing,
    diagnostics,
    dialogs,
    editing,
    keeping,
    menus,
    moments,
    presenting,
    progress,
    quarantine,
    recent,
    replay,
    teaching,
    tools,
    tour,
    until,
)
from app.main_window.appearance import Appearance
from app.main_window.desk import Desk
from app.main_window.library import Library
from app.main_window.play import Play
from app.notice import Notice
from app.scenario_files import NoScenario
from app.session import Session
from app.settings import WindowSettings
from app.storage import Profile, RunId
from app.views.act_line import ActLine
from app.views.briefing import Briefing, BriefPage
from app.views.charts import Charts
from app.views.console import Console
from app.views.debrief import Debrief
from app.views.error_log import ErrorLog
from app.views.events_list import EventsList
from app.views.fault_ledger import FaultLedger
from app.views.help import PAGE_OF, Help
from app.views.history import HistoryPage
from app.views.monitor import Monitor
from app.views.object_explorer import ObjectExplorer
from app.views.palette import Palette
from app.views.scenario_picker import ScenarioPicker
from app.views.system_monitor import SystemMonitor
from app.views.timeline import Timeline
from app.views.timing import Timing
from app.views.topology import Topology
from app.views.topology_table import TopologyTable
from app.views.tour import Tour
from app.views.trace import Trace
from app.views.transport import Transport, next_speed
from engine.drill.contents import visible
from engine.drill.drill import Drill
from engine.drill.problems import ScenarioProblems
from engine.drill.scenario import Scenario, varied
from engine.events import Event
from engine.model import ticks

TITLE: Final = "Mirrordrill"
ON_DESK: Final = (
    "brief", "topology", "console", "charts", "timing", "error_log", "trace", "monitor", "events",
    "ledger", "explorer", "table", "system",
)  # fmt: skip
"""Views of the desk that can be gone to."""
IN_TRANSPORT: Final = ("time.play", "time.step", "time.next_event", "time.next_state")


ONLY_ON_DESK: Final = {"drill.restart", "drill.hint", "drill.note", "drill.act", "drill.finish"} | {
    f"view.{name}" for name in ON_DESK
}
"""Actions that mean nothing without a drill on screen, beside those of time and faults."""


PARTS: Final = (
    quarantine,
    tools,
    progress,
    moments,
    teaching,
    recent,
    presenting,
    until,
    replay,
    branches,
    debriefing,
    by_doing,
    tour,
    diagnostics,
    editing,
)
"""What has a file of its own beside this one: each module's `attach(window)` adds its pages, entries and
connections when everything else stands."""


class MainWindow(QMainWindow):
    """One learner's window. Without a profile nothing is kept, and the window says so."""

    tools: tools.Tools
    moments: moments.Moments
    progress: progress.ProgressPages
    tour: Tour
    teaching: teaching.Teaching
    editing: editing.Editing
    presenting: presenting.Presenting
    replay: replay.Replay
    branches: branches.BranchViews
    debriefing: debriefing.Debriefing
    quarantine: quarantine.Gate
    diagnostics: diagnostics.Doctor
    file_opened = Signal(str)
    """The path of a scenario that somebody has opened."""
    closing = Signal()
    """The window goes; what works in the background stops."""

    def __init__(self, profile: Profile | None, store: WindowSettings, by_itself: bool = True) -> None:
        """*by_itself*: simulated time goes on with wall time; else somebody calls the session's `on_frame`."""
        super().__init__()
        self.store = store
        self.profile = profile
        self.scenario: Scenario | None = None
        self._seed = 0
        self.help: Help | None = None
        self.session = Session(self, by_itself=by_itself)
        self.play = Play(self.session, profile, self)
        self.library = Library(profile)
        self._make_pages()
        self.actions_by_name = actions.build(self, self._doing())
        self._make_desk()
        self.appearance = Appearance(store, self.desk, self._bindable(), self)
        self.appearance.bind_keys()
        self._make_menus()
        self._drafts = keeping.Drafts(self.console, profile, self)
        self._connect()
        for part in PARTS:
            part.attach(self)
        self._show_theme()
        self._restore()
        self.show_home()

    # --- pages and views ------------------------------------------------------------------------------------

    def _make_pages(self) -> None:
        self.picker, self.brief = ScenarioPicker(), BriefPage()
        self.debrief, self.history = Debrief(), HistoryPage()
        self.notice = Notice()
        self.pages = QStackedWidget()
        middle = QWidget()
        column = QVBoxLayout(middle)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.notice)
        column.addWidget(self.pages)
        self.setCentralWidget(middle)
        self._state, self.act_line = QLabel(), ActLine()
        self.statusBar().addWidget(self.act_line)
        self.statusBar().addPermanentWidget(self._state)

    def _make_desk(self) -> None:
        self.topology, self.console, self.briefing = Topology(), Console(), Briefing()
        self.transport = Transport([self.actions_by_name[name] for name in IN_TRANSPORT])
        self.timeline, self.charts, self.timing = Timeline(), Charts(), Timing()
        self.explorer, self.ledger = ObjectExplorer(), FaultLedger()
        self.table = TopologyTable(self.topology.acts)
        self.desk = Desk(
            self.topology,
            {
                "brief": self.briefing,
                "console": self.console,
                "charts": self.charts,
                "timing": self.timing,
                "error_log": ErrorLog(),
                "trace": Trace(),
                "monitor": Monitor(),
                "events": EventsList(),
                "ledger": self.ledger,
                "explorer": self.explorer,
                "table": self.table,
                "system": SystemMonitor(),
            },
        )
        finish = QToolButton()
        self.actions_by_name["drill.finish"].setIconText(tr("End drill"))
        finish.setDefaultAction(self.actions_by_name["drill.finish"])
        finish.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        bar = QFrame()
        bar.setProperty("bar", "true")
        row = QHBoxLayout(bar)
        row.setContentsMargins(0, 0, 8, 0)
        row.addWidget(self.transport)
        row.addWidget(self.timeline, 1)
        row.addWidget(finish)
        self.desk_page = QWidget()
        column = QVBoxLayout(self.desk_page)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(bar)
        column.addWidget(self.desk)
        for page in (self.picker, self.brief, self.desk_page, self.debrief, self.history):
            self.pages.addWidget(page)

    def _doing(self) -> dict[str, Any]:
        """Name of each action of the window -> what it does."""
        session = self.session
        doing: dict[str, Any] = {
            "drill.open": self.show_home,
            "drill.restart": self._restart,
            "drill.hint": lambda: self.desk.go_to("brief"),
            "drill.note": lambda: dialogs.ask_note(self, self.do),
            "drill.act": self.act_line.setFocus,
            "drill.finish": lambda: session.do("finish"),
            "drill.quit": self.close,
            "time.play": session.toggle,
            "time.step": session.step,
            "time.next_event": session.run_to_event,
            "time.next_state": session.run_to_state,
            "time.run_to": self._ask_for_moment,
            "time.faster": lambda: session.set_speed(next_speed(session.speed, up=True)),
            "time.slower": lambda: session.set_speed(next_speed(session.speed, up=False)),
            "time.normal": lambda: session.set_speed(1.0),
            "fault.revert_all": lambda: session.do("revert-all"),
            "view.full_screen": self._toggle_full_screen,
            "view.larger": lambda: self.appearance.step_font(1),
            "view.smaller": lambda: self.appearance.step_font(-1),
            "view.usual_size": lambda: self.appearance.set_font_scale(1.0),
            "view.theme": lambda: self.appearance.next_theme(),
            "view.reset_layout": self._reset_layout,
            "help.here": self._show_help,
            "help.sheet": lambda: dialogs.show_sheet(self, self.appearance),
            "help.keys": lambda: dialogs.edit_keys(self, self.appearance),
            "help.palette": self._open_palette,
        }
        for name in ON_DESK:
            doing[f"view.{name}"] = lambda name=name: self.desk.go_to(name)
        return doing

    def _bindable(self) -> dict[str, QAction]:
        """Every action that has a row in the table of keys."""
        tools = {f"query.{name}": action for name, action in self.console.tools.items()}
        tools |= self.explorer.tools | self.ledger.tools
        return self.actions_by_name | {name: tools[name] for name in tools if name in keys.BY_NAME}

    def _make_menus(self) -> None:
        bar = self.menus = menus.build_bar(self, self.actions_by_name)
        faults = bar["&Faults"]
        faults.aboutToShow.connect(lambda: self._fill_faults(faults))
        bar["&Query"].addActions(list(self.console.tools.values()))
        menus.fill(bar["&View"], menus.VIEWS, self.actions_by_name)
        bar["&View"].addSeparator()
        self.appearance.fill_menu(bar["&View"])
        menus.fill(bar["&View"], menus.LOOKS, self.actions_by_name)
        menus.fill(bar["&Help"], menus.HELP, self.actions_by_name)
        self.palette_of_commands = Palette(self)

    # --- connections ----------------------------------------------------------------------------------------

    def _connect(self) -> None:
        session, desk = self.session, self.desk
        session.drill_changed.connect(self._show_moment)
        for view in (desk, self.transport, self.act_line):
            session.world_changed.connect(view.show_world)
        session.happened.connect(desk.add_events)
        self.act_line.requested.connect(self.do)
        for asking in desk.views.values():
            asking.requested.connect(self.do)  # type: ignore[attr-defined]  # every view has it
        session.happened.connect(self._show_questions)
        session.refused.connect(self.notice.warn)
        session.refused.connect(self.console.show_refusal)
        session.speed_changed.connect(self.transport.show_speed)
        session.speed_changed.connect(self.topology.set_speed)
        session.lagging.connect(self.transport.show_lag)
        session.progress.connect(self.transport.show_progress)
        session.running_changed.connect(self._show_running)
        self.transport.speed_chosen.connect(session.set_speed)
        self.topology.opened.connect(lambda server: self.console.new_query(server))
        self.explorer.query_wanted.connect(self._open_query)
        self.explorer.log_wanted.connect(lambda server: self._open("error_log", "show_server", server))
        self.explorer.monitor_wanted.connect(
            lambda _, database: self._open("monitor", "show_database", database)
        )
        self.topology.chosen.connect(self.table.choose)
        self.table.chosen.connect(self.topology.choose)
        self._drafts.said.connect(self.notice.warn)
        self.appearance.changed.connect(self._show_theme)
        self.appearance.motion_changed.connect(self.topology.set_reduced_motion)
        self.play.began.connect(self._show_begun)
        self.play.said.connect(self.notice.warn)
        self.picker.chosen.connect(self.choose)
        self.picker.resumed.connect(self.resume)
        self.picker.given_up.connect(self._give_up)
        self.picker.history_wanted.connect(self.show_history)
        self.picker.file_wanted.connect(self._ask_for_file)
        self.brief.started.connect(self._start)
        self.brief.left.connect(self.show_home)
        self.history.left.connect(self.show_home)

    def _open_query(self, server: str, text: str) -> None:
        self.console.new_query(server, text)
        self.desk.go_to("console")

    def _open(self, name: str, method: str, what: str) -> None:
        getattr(self.desk.views[name], method)(what)
        self.desk.go_to(name)

    def do(self, line: str) -> None:
        """What a view asks for; a notice about something else is out of date by then."""
        self.notice.clear()
        self.session.do(line)

    # --- from page to page ----------------------------------------------------------------------------------

    def show_home(self) -> None:
        """The drills to choose from. A run that is left here can be taken up again."""
        self.leave_run()
        self.library.read()
        self.picker.show_cards(self.library.cards(), self.library.problems)
        self.picker.show_interrupted(self.library.interrupted())
        self.go_to(self.picker, "")
        self.picker.take_focus()

    def choose(self, name: str) -> None:
        """The brief of the scenario *name*."""
        scenario = self.library.scenario(name)
        if scenario is not None:
            self.show_brief(scenario)
        else:
            self.notice.warn(tr("{name} cannot be opened any more.").format(name=name))

    def show_brief(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.library.scenarios[scenario.name] = scenario
        self._seed = self.play.seed_for(scenario)
        self.scenario = varied(scenario, self._seed)
        self.brief.show_scenario(self.scenario)
        self.go_to(self.brief, scenario.title)

    def _start(self, mode: str) -> None:
        if self.scenario is not None:
            self.play.begin(self.scenario, mode, self._seed)
            self.session.play()

    def _restart(self) -> None:
        """The same once more, with the same seed."""
        drill = self.session.live
        if drill is not None and not self.play.watching:
            self.play.begin(drill.scenario, drill.mode.value, drill.seed)

    def resume(self, run_id: int) -> None:
        """Go on with an interrupted run."""
        for run in self.play.unfinished():
            if run.run_id == run_id:
                self.play.resume(run)

    def _give_up(self, run_id: int) -> None:
        self.play.give_up(RunId(run_id))
        self.picker.show_interrupted(self.library.interrupted())

    def _show_moment(self, drill: Drill) -> None:
        """The run as it stands, or a past moment of it."""
        if self.session.looking_back:
            self.desk.show_moment(drill)
        else:
            self.desk.show_drill(drill)
        self.transport.show_drill(drill)
        self.act_line.show_drill(drill)

    def _show_begun(self, drill: Drill) -> None:
        self.scenario = drill.scenario
        self.notice.clear()
        keeping.put_cards(self.store, self.topology, drill.scenario.name)
        unkept = self.profile is None or self.play.watching
        kept = tr("not recorded") if unkept else tr("recorded")
        what = tr("reference solution") if self.play.watching else formatting.mode(drill.mode.value)
        self._state.setText("  ·  ".join((what, tr("seed {number}").format(number=drill.seed), kept)))
        self.go_to(self.desk_page, drill.scenario.title)
        self.topology.setFocus()

    def show_history(self) -> None:
        self.history.show_runs(self.library.runs())
        self.go_to(self.history, tr("History"))

    def go_to(self, page: QWidget, title: str) -> None:
        """Show one of the pages; what belongs to the desk is off elsewhere."""
        self.pages.setCurrentWidget(page)
        on_desk = page is self.desk_page
        self._state.setVisible(on_desk)
        self.act_line.setVisible(on_desk)
        for name, action in self.actions_by_name.items():
            group = name.partition(".")[0]
            if group in ("time", "fault") or name in ONLY_ON_DESK:
                action.setEnabled(on_desk)
        self.setWindowTitle(f"{title} – {TITLE}" if title else TITLE)

    # --- on the desk ----------------------------------------------------------------------------------------

    def _show_running(self, running: bool) -> None:
        action = self.actions_by_name["time.play"]
        action.setText(tr("Pause") if running else tr("Run"))
        colours = theme.tokens(self.palette())
        action.setIcon(theme.icon("pause" if running else "play", colours, colours.on_accent))
        actions.show_keys([action])

    def _show_questions(self, events: list[Event]) -> None:
        """A question that makes time stand still is brought to the front."""
        if any(event.kind == "question" and event.get("pause") for event in events):
            self.desk.docks["brief"].show()
            self.desk.docks["brief"].raise_()

    def _fill_faults(self, menu: QMenu) -> None:
        drill = self.session.drill
        revert = self.actions_by_name["fault.revert_all"]
        menus.fill_faults(menu, drill.world if drill else None, self.topology.fill_menu, [revert])

    def _ask_for_moment(self) -> None:
        drill = self.session.drill
        if drill is not None:
            dialogs.ask_moment(self, drill.world.t_s, lambda t_s: self.session.run_to(ticks(t_s)))

    def _ask_for_file(self) -> None:
        name = dialogs.ask_file(self)
        if name:
            self.open_file(name)

    def open_file(self, name: str) -> None:
        """The brief of the scenario in the file *name*, or what is wrong with it."""
        try:
            scenario = scenario_files.find(name).load()
        except (NoScenario, ScenarioProblems) as problem:
            self.notice.warn(visible(str(problem)))
            return

        def show() -> None:
            self.show_brief(scenario)
            self.file_opened.emit(name)

        self.quarantine.admit(scenario, name, show)

    def _show_help(self) -> None:
        """The page about the panel that has the keyboard."""
        if self.help is None:
            self.help = Help(self)
        focus = QApplication.focusWidget()
        around = {**self.desk.views, "timeline": self.timeline, "transport": self.transport}
        name = next((n for n, view in around.items() if focus is not None and view.isAncestorOf(focus)), "")
        name = name or next((n for n, view in around.items() if view is focus), "")
        self.help.show_page(PAGE_OF.get(name, "start"))
        self.help.show()
        self.help.raise_()

    def _open_palette(self) -> None:
        drill = self.session.drill
        groups: list[tuple[str, list[QAction]]] = [("", list(self.actions_by_name.values()))]
        groups.append((tr("Query"), list(self.console.tools.values())))
        if drill is not None:
            for _, targets in menus.things(drill.world):
                groups += [(target.title, self.topology.actions_for(target)) for target in targets]
        self.palette_of_commands.offer(groups)
        self.palette_of_commands.open()

    # --- look and layout ------------------------------------------------------------------------------------

    def _show_theme(self) -> None:
        colours = theme.tokens(QApplication.palette())
        actions.show_icons(self.actions_by_name, colours)
        actions.show_keys(self.actions_by_name.values())
        self._show_running(self.session.running)

    def _reset_layout(self) -> None:
        self.appearance.reset_layout()
        self.topology.rearrange()

    def _toggle_full_screen(self) -> None:
        self.setWindowState(self.windowState() ^ Qt.WindowState.WindowFullScreen)

    # --- what is kept ---------------------------------------------------------------------------------------

    def _restore(self) -> None:
        store = self.store
        if store.get(settings.GEOMETRY).isEmpty() or not self.restoreGeometry(store.get(settings.GEOMETRY)):
            screen = self.screen().availableGeometry()
            self.resize(min(1600, screen.width()), min(960, screen.height()))
        self.appearance.restore_layout()
        self.topology.set_reduced_motion(store.get(settings.REDUCED_MOTION))
        self._drafts.restore()

    def leave_run(self) -> None:
        """Let go of what runs; unless it is finished it can be taken up again."""
        self.keep_desk()
        self.play.leave()

    def keep_desk(self) -> None:
        """Pause, and keep where the cards stand."""
        if self.session.drill is None:
            return
        self.session.pause()
        keeping.keep_cards(self.store, self.topology, self.session.drill.scenario.name)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.ThemeChange:
            self.appearance.follow_system()

    def closeEvent(self, event: QCloseEvent) -> None:
        self._drafts.close()
        self.keep_desk()
        self.appearance.keep_layout()
        self.play.leave()
        self.closing.emit()
        self.store.set(settings.GEOMETRY, self.saveGeometry())
        self.store.sync()
        super().closeEvent(event)
