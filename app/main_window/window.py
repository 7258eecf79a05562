"""The window: its frame, the start page, and the way from page to page.

It comes on screen with the start page alone; everything else is brought in behind it, see `furnishing`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QEvent, Signal, SignalInstance
from PySide6.QtGui import QAction, QCloseEvent
from PySide6.QtWidgets import QApplication, QLabel, QMainWindow, QMenu, QVBoxLayout, QWidget

from app import settings
from app.files import folders, summary
from app.main_window import cards
from app.main_window.on_screen import OnScreen, title_bar_px
from app.settings import WindowSettings
from app.views.scenario_picker import Card, ScenarioPicker
from app.widgets import docks
from app.widgets.busy import busy
from app.widgets.notice import Notice
from app.widgets.room import Pages, scrolling
from app.words.language import mark, tr

if TYPE_CHECKING:
    from app.main_window.announcements import Teller
    from app.main_window.appearance import Appearance
    from app.main_window.branches import BranchViews
    from app.main_window.bundles import Bundling
    from app.main_window.debrief_page import Debriefing
    from app.main_window.desk import Desk
    from app.main_window.diagnostics import Doctor
    from app.main_window.files import Files
    from app.main_window.full_screen import FullScreen
    from app.main_window.irrevocable import Irrevocable
    from app.main_window.library import Library
    from app.main_window.moments import Moments
    from app.main_window.play import Play
    from app.main_window.presenter_mode import Presenting
    from app.main_window.progress import ProgressPages
    from app.main_window.quarantine import Gate
    from app.main_window.query_drafts import Drafts
    from app.main_window.replay import Replay
    from app.main_window.replay_progress import Loading
    from app.main_window.runs import Runs
    from app.main_window.scenario_editor import Editing
    from app.main_window.scripts import Scripts
    from app.main_window.session import Session
    from app.main_window.tools import Tools
    from app.storage import Profile
    from app.views.act_line import ActLine
    from app.views.briefing import Briefing, BriefPage
    from app.views.charts import Charts
    from app.views.console import Console
    from app.views.debrief import Debrief
    from app.views.fault_ledger import FaultLedger
    from app.views.help import Help
    from app.views.history import HistoryPage
    from app.views.object_explorer import ObjectExplorer
    from app.views.palette import Palette
    from app.views.timeline import Timeline
    from app.views.timing import Timing
    from app.views.topology import Topology
    from app.views.topology_table import TopologyTable
    from app.views.tour import Tour
    from app.views.transport import Transport
    from engine.drill.authoring.scenario import Scenario

TITLE: Final = "Mirrordrill"
MENUS: Final = (
    mark("&Drill"), mark("&Time"), mark("&Faults"), mark("&Query"), mark("&View"), mark("&Tools"), mark("&Help"),
)  # fmt: skip
ONLY_ON_DESK: Final = {
    "drill.restart",
    "drill.hint",
    "drill.note",
    "drill.act",
    "drill.finish",
    "view.say",
    "view.zoom",
} | {f"view.{name}" for name in docks.NAMES}
"""Actions that mean nothing without a drill on screen, beside those of time and faults."""
SIZE_MAX: Final = (1600, 960)
"""Width and height in pixels of a window that nobody has sized yet, where the screen has room for it."""


class MainWindow(QMainWindow):
    """One learner's window. Without a profile nothing is kept, and the window says so."""

    profile: Profile | None
    session: Session
    play: Play
    irrevocable: Irrevocable
    library: Library
    appearance: Appearance
    drafts: Drafts
    brief: BriefPage
    debrief: Debrief
    history: HistoryPage
    desk_page: QWidget
    desk: Desk
    topology: Topology
    console: Console
    briefing: Briefing
    transport: Transport
    timeline: Timeline
    charts: Charts
    timing: Timing
    explorer: ObjectExplorer
    ledger: FaultLedger
    table: TopologyTable
    act_line: ActLine
    palette_of_commands: Palette
    files: Files
    scripts: Scripts
    tools: Tools
    moments: Moments
    progress: ProgressPages
    tour: Tour
    teller: Teller
    editing: Editing
    presenting: Presenting
    full_screen: FullScreen
    replay: Replay
    branches: BranchViews
    debriefing: Debriefing
    runs: Runs
    loading: Loading
    quarantine: Gate
    bundling: Bundling
    diagnostics: Doctor
    help: Help | None

    needed = Signal()
    """Somebody wants what is not there yet."""
    ready = Signal()
    """Everything is there."""
    file_opened = Signal(str)
    """The path of a scenario that somebody has opened."""
    closing = Signal()
    """The window goes; what works in the background stops."""

    def __init__(self, store: WindowSettings) -> None:
        """The start page with what is known of it; all that is declared above comes with `furnishing`."""
        super().__init__()
        self.store = store
        self.is_ready = False
        self._then: list[Callable[[], None]] = []
        self.scenario: Scenario | None = None
        self._seed = 0
        self.actions_by_name: dict[str, QAction] = {}
        self.menus: dict[str, QMenu] = {title: self.menuBar().addMenu(tr(title)) for title in MENUS}
        for menu in self.menus.values():
            menu.aboutToShow.connect(self.needed)
        self.picker, self.pages = ScenarioPicker(), Pages()
        self.pages.addWidget(self.picker)
        middle = QWidget()
        self.notice = Notice(middle)
        column = QVBoxLayout(middle)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(scrolling(self.pages))
        self.setCentralWidget(middle)
        self.run_facts = QLabel()
        self.run_facts.setContentsMargins(0, 0, 6, 0)  # in full screen no size grip keeps it from the edge
        self.statusBar().addPermanentWidget(self.run_facts)
        self.setWindowTitle(TITLE)
        self._size()
        self.picker.chosen.connect(self.choose)
        for wanted in (self.picker.history_wanted, self.picker.progress_wanted, self.picker.file_wanted):
            wanted.connect(partial(self._once_more, wanted))
        known = sorted(summary.kept(folders.default_folder()).values(), key=summary.place)
        self.picker.show_cards([Card.of(each) for each in known], [])
        if not known:
            self.picker.show_reading()
        self.picker.take_focus()

    def _size(self) -> None:
        geometry = self.store.get(settings.GEOMETRY)
        if geometry.isEmpty() or not self.restoreGeometry(geometry):
            screen = self.screen().availableGeometry()
            height = screen.height() - title_bar_px(self)
            self.resize(min(SIZE_MAX[0], screen.width()), min(SIZE_MAX[1], height))
        OnScreen(self)

    def _once_more(self, wanted: SignalInstance) -> None:
        """Nobody has heard it yet."""
        if not self.is_ready:
            self.when_ready(wanted.emit)

    def when_ready(self, do: Callable[[], None]) -> None:
        """Do it now, or as soon as everything is there."""
        if self.is_ready:
            do()
        else:
            self._then.append(do)
            self.statusBar().showMessage(tr("One moment: the program is still loading."))

    def be_ready(self) -> None:
        """Everything is there: what was asked for meanwhile is done."""
        self.is_ready = True
        self.statusBar().clearMessage()
        self.ready.emit()
        then, self._then = self._then, []
        for do in then:
            do()

    def do(self, line: str) -> None:
        """What a view asks for, after a question where it cannot be undone."""
        self.irrevocable.do(line, self.do_typed)

    def do_typed(self, line: str) -> None:
        """A whole line that somebody has typed; a notice about something else is out of date by then."""
        self.notice.clear()
        self.session.do(line)

    # --- from page to page ----------------------------------------------------------------------------------

    @busy()
    def show_home(self) -> None:
        """The drills to choose from. A run that is left here can be taken up again."""
        self.leave_run()
        self.library.read()
        self.picker.show_cards(self.library.cards(), self.library.problems)
        self.picker.show_interrupted(self.library.interrupted())
        self.go_to(self.picker, "")
        self.picker.take_focus()

    def go_back(self) -> None:
        """From a page that was opened beside a run back to it; without one to the drills."""
        live = self.session.live
        if live is not None and not live.finished:
            self.go_to(self.desk_page, live.scenario.title)
            self.topology.setFocus()
        else:
            self.show_home()

    def choose(self, name: str) -> None:
        """The brief of the scenario *name*."""
        self.when_ready(partial(self._choose, name))

    def ask_to_choose(self, name: str) -> None:
        """The same in the middle of a run, perhaps: that asks first."""
        self.when_ready(lambda: self.irrevocable.maybe_ask("leave", partial(self._choose, name)))

    @busy()
    def _choose(self, name: str) -> None:
        scenario = self.library.scenario(name)
        if scenario is not None:
            self.show_brief(scenario)
        else:
            self.notice.warn(tr("{name} can no longer be opened.").format(name=name))

    def show_brief(self, scenario: Scenario) -> None:
        self.leave_run()
        self.library.scenarios[scenario.name] = scenario
        self.scenario, self._seed = self.play.prepared(scenario)
        self.brief.show_scenario(self.scenario)
        self.go_to(self.brief, scenario.title)

    @busy()
    def start(self, mode: str) -> None:
        """Begin the drill whose brief is on screen."""
        if self.scenario is not None:
            self.play.begin(self.scenario, mode, self._seed)
            self.session.play()

    @busy()
    def restart(self) -> None:
        """The same once more, with the same seed."""
        drill = self.session.live
        if drill is not None and not self.play.watching:
            self.play.begin(drill.scenario, drill.mode.value, drill.seed)

    @busy()
    def resume(self, run_id: int) -> None:
        """Go on with an interrupted run."""
        for run in self.play.unfinished():
            if run.run_id == run_id:
                self.play.resume(run)

    def give_up(self, run_id: int) -> None:
        """End an interrupted run without a result."""
        self.play.give_up(run_id)
        self.picker.show_interrupted(self.library.interrupted())

    def open_file(self, name: str) -> None:
        """What is in the file *name*, or what is wrong with it."""
        self.when_ready(lambda: self.files.open(name))

    @busy()
    def show_history(self) -> None:
        self.history.show_runs(self.library.runs())
        self.go_to(self.history, tr("History"))

    def go_to(self, page: QWidget, title: str) -> None:
        """Show one of the pages; what belongs to the desk is off elsewhere, and no menu of the page before stays."""
        menu = QApplication.activePopupWidget()
        if isinstance(menu, QMenu):
            menu.hide()
        self.pages.setCurrentWidget(page)
        on_desk = page is self.desk_page
        self.run_facts.setVisible(on_desk)
        self.act_line.setVisible(on_desk)
        for name, action in self.actions_by_name.items():
            group = name.partition(".")[0]
            if group in ("time", "fault") or name in ONLY_ON_DESK:
                action.setEnabled(on_desk)
        self.setWindowTitle(f"{title} – {TITLE}" if title else TITLE)

    # --- what is kept ---------------------------------------------------------------------------------------

    def leave_run(self) -> None:
        """Let go of what runs; unless it is finished it can be taken up again."""
        self.keep_desk()
        self.play.leave()

    def keep_desk(self) -> None:
        """Pause, and keep where the cards stand."""
        if self.session.drill is not None:
            self.session.pause()
            cards.keep(self.store, self.topology, self.session.drill.scenario.name)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.ThemeChange and self.is_ready:
            self.appearance.follow_system()

    def closeEvent(self, event: QCloseEvent) -> None:
        asked_from_outside = event.spontaneous() and not _session_ends()
        if self.is_ready and asked_from_outside and self.irrevocable.at_stake:
            event.ignore()
            self.irrevocable.maybe_ask("quit", self.close)
            return
        if self.is_ready:
            self.drafts.close()
            self.keep_desk()
            self.appearance.keep_layout()
            self.play.leave()
        self.closing.emit()
        self.store.set(settings.GEOMETRY, self.saveGeometry())
        self.store.sync()
        super().closeEvent(event)


def _session_ends() -> bool:
    """The desktop is being shut down, which nobody wants to be asked about by every program."""
    app = QApplication.instance()
    return isinstance(app, QApplication) and app.isSavingSession()
