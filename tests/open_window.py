"""Complete real window for tests, with access to its parts by class."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from PySide6.QtGui import QAction

from app.main_window import MainWindow
from app.settings import WindowSettings
from app.widgets.docks import DOCKS

if TYPE_CHECKING:
    from app.storage import Profile
    from engine.drill.authoring.scenario import Scenario


class OpenWindow(MainWindow):
    """Window whose attributes, such as `session`, return its only child of a class."""

    def __getattr__(self, name: str) -> Any:
        parts = _get_parts()
        if name not in parts:
            raise AttributeError(name)
        part = self.findChild(parts[name])
        if part is None and any(dock.view.endswith(f":{parts[name].__name__}") for dock in DOCKS):
            return self.desk.get_view_of(parts[name])
        return part

    @property
    def actions_by_name(self) -> dict[str, QAction]:
        return {action.objectName(): action for action in self.actions()}

    # --- actions of a user ----------------------------------------------------------------------------------

    def select_drill(self, name: str) -> None:
        """Select the drill *name* on the start page."""
        self.picker.chosen.emit(name)

    def start_drill(self, mode: str) -> None:
        """Start the drill from its brief in *mode*."""
        self.brief.started.emit(mode)

    def resume_run(self, run_id: int) -> None:
        self.picker.resume_wanted.emit(run_id)

    def open_file(self, name: str) -> None:
        self.files.open(name)

    def apply_line(self, line: str) -> None:
        """Apply an input line as if a view had sent it."""
        self.connection.apply_input(line)

    def show_home(self) -> None:
        self.navigation.show_home()

    def show_history(self) -> None:
        self.navigation.show_history()

    def leave_run(self) -> None:
        self.navigation.leave_run()

    def show_brief(self, scenario: Scenario) -> None:
        self.choice.show(scenario)

    @property
    def scenario(self) -> Scenario | None:
        """Return the scenario of the run on screen, or None without a run."""
        chosen_scenario: Scenario | None = self.choice.scenario
        return chosen_scenario


def build_window(
    profile: Profile | None,
    store: WindowSettings,
    use_timer: bool = True,
    clock: Callable[[], float] = time.perf_counter,
) -> OpenWindow:
    """Build a window with all its parts. The session uses *use_timer* and *clock*."""
    from app.main_window.assembly import assemble_window

    window = OpenWindow(store)
    for _ in assemble_window(window, profile, use_timer, clock):
        pass
    return window


@cache
def _get_parts() -> dict[str, type[Any]]:
    from app.main_window.announcements import Announcer
    from app.main_window.appearance import Appearance
    from app.main_window.bundles import BundleDialogs
    from app.main_window.commands import PaletteCommands
    from app.main_window.confirmations import ConfirmationDialogs
    from app.main_window.debrief_page import DebriefPage
    from app.main_window.desk import Desk
    from app.main_window.desk_page import DeskConnection, DeskPage, RunFacts
    from app.main_window.diagnostics import InstallationCheckDialog
    from app.main_window.drill_choice import DrillChoice
    from app.main_window.failover_moment import StageController
    from app.main_window.files import FileOpener, ScriptFiles
    from app.main_window.first_run import Introduction
    from app.main_window.learning import LessonController
    from app.main_window.navigation import Navigation
    from app.main_window.presenter_mode import FullScreenMode, PresenterMode
    from app.main_window.quarantine import QuarantineGate
    from app.main_window.replay import LoadingBar, ReplayControls, TimeSelection
    from app.main_window.run_controller import RunController
    from app.main_window.runs import BranchViews, FinishedRunController
    from app.main_window.scenario_editor import EditorLauncher
    from app.main_window.session import HostSession
    from app.main_window.tools import ProgressPages, ToolPages
    from app.views.briefing import Briefing, BriefPage
    from app.views.charts import Charts
    from app.views.console import Console
    from app.views.debrief import Debrief
    from app.views.help import HelpDialog
    from app.views.history import RunHistoryPage
    from app.views.input_line import CommandLine
    from app.views.object_explorer import ObjectExplorer
    from app.views.palette import Palette
    from app.views.timeline import Timeline
    from app.views.timing import TimingPanel
    from app.views.topology import TopologyView
    from app.views.topology_table import TopologyTable
    from app.views.transport import TimeControls

    return {
        "input_line": CommandLine,
        "appearance": Appearance,
        "branches": BranchViews,
        "brief": BriefPage,
        "briefing": Briefing,
        "bundling": BundleDialogs,
        "charts": Charts,
        "choice": DrillChoice,
        "commands": PaletteCommands,
        "connection": DeskConnection,
        "console": Console,
        "debrief": Debrief,
        "debriefing": DebriefPage,
        "desk": Desk,
        "desk_page": DeskPage,
        "diagnostics": InstallationCheckDialog,
        "editing": EditorLauncher,
        "explorer": ObjectExplorer,
        "failover_moment": StageController,
        "files": FileOpener,
        "first_run": Introduction,
        "full_screen": FullScreenMode,
        "help": HelpDialog,
        "history": RunHistoryPage,
        "confirmations": ConfirmationDialogs,
        "learning": LessonController,
        "loading": LoadingBar,
        "moments": TimeSelection,
        "navigation": Navigation,
        "palette_of_commands": Palette,
        "play": RunController,
        "presenting": PresenterMode,
        "progress": ProgressPages,
        "quarantine": QuarantineGate,
        "replay": ReplayControls,
        "run_facts": RunFacts,
        "runs": FinishedRunController,
        "scripts": ScriptFiles,
        "session": HostSession,
        "table": TopologyTable,
        "teller": Announcer,
        "timeline": Timeline,
        "timing": TimingPanel,
        "tools": ToolPages,
        "topology": TopologyView,
        "transport": TimeControls,
    }
