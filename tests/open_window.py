"""Complete real window for tests, with access to its parts by class."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from PySide6.QtGui import QAction

from app.main_window import MainWindow
from app.settings import WindowSettings
from app.widgets.docks import DOCK_SPECS

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
        if part is None and any(
            dock.view_class_path.endswith(f":{parts[name].__name__}") for dock in DOCK_SPECS
        ):
            return self.desk.get_view_by_class(parts[name])
        return part

    @property
    def actions_by_name(self) -> dict[str, QAction]:
        return {action.objectName(): action for action in self.actions()}

    # --- actions of a user ----------------------------------------------------------------------------------

    def select_drill(self, name: str) -> None:
        """Select the drill *name* on the start page."""
        self.picker.drill_chosen.emit(name)

    def start_drill(self, mode: str) -> None:
        """Start the drill from its brief in *mode*."""
        self.brief.start_wanted.emit(mode)

    def resume_run(self, run_id: int) -> None:
        self.picker.resume_wanted.emit(run_id)

    def open_file(self, name: str) -> None:
        self.files.open_file(name)

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
        self.choice.show_brief(scenario)

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
    size: tuple[int, int] | None = None,
) -> OpenWindow:
    """Build a window with all its parts. The session uses *use_timer* and *clock*.

    A window that has its *size* already when its desk is arranged is not arranged again.
    """
    from app.main_window.assembly import assemble_window

    window = OpenWindow(store)
    if size is not None:
        window.resize(*size)
    for _ in assemble_window(window, profile, use_timer, clock):
        pass
    return window


@cache
def _get_parts() -> dict[str, type[Any]]:
    from app.main_window.announcements import Announcer
    from app.main_window.appearance import AppearanceSettings
    from app.main_window.bundles import BundleController
    from app.main_window.confirmations import ConfirmationDialogs
    from app.main_window.debrief_controller import DebriefController
    from app.main_window.desk import Desk
    from app.main_window.desk_page import DeskConnection, DeskPage, RunFactsLabel
    from app.main_window.diagnostics import InstallationCheckController
    from app.main_window.drill_selection import DrillSelectionController
    from app.main_window.files import FileController, FileOpener
    from app.main_window.finished_runs import BranchController, FinishedRunController
    from app.main_window.first_run import IntroductionController
    from app.main_window.host_session import HostSession
    from app.main_window.lesson_controller import LessonController
    from app.main_window.navigation import PageNavigation
    from app.main_window.palette_commands import PaletteController
    from app.main_window.presenter_mode import FullScreenMode, PresenterMode
    from app.main_window.quarantine import QuarantineGate
    from app.main_window.replay import LoadingBar, ReplayController, TimeSelection
    from app.main_window.run_controller import RunController
    from app.main_window.scenario_editor import ScenarioEditorController
    from app.main_window.stage_controller import StageController
    from app.main_window.tools import ProgressPageController, ToolPageController
    from app.views.briefing import BriefingPanel, BriefPage
    from app.views.charts import ChartView
    from app.views.command_line import CommandLine
    from app.views.command_palette import CommandPalette
    from app.views.console import QueryConsole
    from app.views.debrief import DebriefView
    from app.views.help import HelpDialog
    from app.views.history import RunHistoryPage
    from app.views.object_explorer import ObjectExplorer
    from app.views.time_controls import TimeControls
    from app.views.timeline import Timeline
    from app.views.timing import TimingPanel
    from app.views.topology import TopologyView
    from app.views.topology_table import TopologyTable

    return {
        "input_line": CommandLine,
        "appearance": AppearanceSettings,
        "branches": BranchController,
        "brief": BriefPage,
        "briefing": BriefingPanel,
        "bundling": BundleController,
        "charts": ChartView,
        "choice": DrillSelectionController,
        "commands": PaletteController,
        "connection": DeskConnection,
        "console": QueryConsole,
        "debrief": DebriefView,
        "debriefing": DebriefController,
        "desk": Desk,
        "desk_page": DeskPage,
        "diagnostics": InstallationCheckController,
        "editing": ScenarioEditorController,
        "explorer": ObjectExplorer,
        "failover_moment": StageController,
        "files": FileOpener,
        "first_run": IntroductionController,
        "full_screen": FullScreenMode,
        "help": HelpDialog,
        "history": RunHistoryPage,
        "confirmations": ConfirmationDialogs,
        "learning": LessonController,
        "loading": LoadingBar,
        "moments": TimeSelection,
        "navigation": PageNavigation,
        "palette_of_commands": CommandPalette,
        "play": RunController,
        "presenting": PresenterMode,
        "progress": ProgressPageController,
        "quarantine": QuarantineGate,
        "replay": ReplayController,
        "run_facts": RunFactsLabel,
        "runs": FinishedRunController,
        "scripts": FileController,
        "session": HostSession,
        "table": TopologyTable,
        "teller": Announcer,
        "timeline": Timeline,
        "timing": TimingPanel,
        "tools": ToolPageController,
        "topology": TopologyView,
        "transport": TimeControls,
    }
