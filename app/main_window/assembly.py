"""Construction of all parts of the window except the start page, in short steps so that the page stays responsive.

Only this module connects the parts of the window to each other.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication, QMenu

from app import settings
from app.main_window import actions, class_offers, confirmations, dialogs
from app.main_window.actions import DeskKeyHandler, WindowActions
from app.main_window.announcements import Announcer
from app.main_window.appearance import AppearanceSettings
from app.main_window.bundles import BundleController
from app.main_window.confirmations import ConfirmationDialogs
from app.main_window.debrief_controller import DebriefController
from app.main_window.desk import Desk
from app.main_window.desk_page import DeskConnection, DeskPage, RunFactsLabel, ViewConnection
from app.main_window.diagnostics import InstallationCheckController
from app.main_window.drill_selection import DrillSelectionController
from app.main_window.files import FileController, FileDropHandler, FileOpener, RecentFilesMenu
from app.main_window.finished_runs import BranchController, FinishedRunController
from app.main_window.first_run import IntroductionController
from app.main_window.host_session import HostSession
from app.main_window.lesson_controller import LessonController
from app.main_window.library import ScenarioLibrary
from app.main_window.navigation import PageNavigation, StartPageController
from app.main_window.palette_commands import FaultMenu, PaletteController
from app.main_window.presenter_mode import CardPositionStore, FullScreenMode, PresenterMode, TopologyNoteStore
from app.main_window.quarantine import QuarantineGate
from app.main_window.query_drafts import QueryDraftStore
from app.main_window.replay import LoadingBar, ReplayController, TimeSelection, save_charts
from app.main_window.run_controller import RunController
from app.main_window.scenario_editor import RunToScenarioConverter, ScenarioEditorController, ScenarioSaver
from app.main_window.shared_parts import SharedParts
from app.main_window.stage_controller import StageController
from app.main_window.tools import HelpController, ProgressPageController, ToolPageController
from app.main_window.window import MainWindow
from app.main_window.window_closing import CloseGuard, SettingsWriter
from app.storage import Profile
from app.view_models.start_page import FIRST_DRILL
from app.views.briefing import BriefingPanel, BriefPage
from app.views.command_line import CommandLine
from app.views.console import QueryConsole
from app.views.debrief import DebriefView
from app.views.history import RunHistoryPage
from app.views.time_controls import find_next_speed
from app.widgets import docks, keys, theme
from app.widgets.busy_cursor import show_busy_cursor
from app.words.fuzzy import SEARCH_WORDS_PROPERTY
from app.words.language import mark, tr
from engine.drill.authoring.scenario import Scenario
from engine.drill.running.drill import Drill
from engine.model import to_ticks

if TYPE_CHECKING:
    from app.main_window.class_controller import ClassController
    from app.main_window.sql_clients import SqlClientPorts
    from app.main_window.teams import TeamController
    from app.views.charts import ChartView
    from app.views.fault_table import FaultTable
    from app.views.object_explorer import ObjectExplorer


def assemble_window(
    window: MainWindow,
    profile: Profile | None,
    use_timer: bool = True,
    clock: Callable[[], float] = time.perf_counter,
) -> Iterator[None]:
    """Build the missing parts of the window. Between two steps, the window may process events.

    *clock*: wall time in seconds. *use_timer*: False if the caller calls `on_frame` instead of a
    timer.
    """
    return WindowAssembler(window, profile, use_timer, clock).build_parts()


class WindowAssembler(QObject):
    """Builder that creates and connects the parts of the window. No part refers to it.

    Without a *profile*, nothing is stored.
    """

    def __init__(
        self, window: MainWindow, profile: Profile | None, use_timer: bool, clock: Callable[[], float]
    ) -> None:
        super().__init__(window)
        self._window, self._store = window, window.store
        self._pages, self._start_page_view, self._notice = window.pages, window.picker, window.notice
        self._session = HostSession(window, clock, use_timer)
        self._play = play = RunController(self._session, profile, window)
        self._confirmations = ConfirmationDialogs(
            window,
            self._session,
            lambda: play.is_watching or play.is_introducing or play.is_practicing,
            self._describe_leave_consequence,
        )
        self._library = ScenarioLibrary(profile)
        self._shared = SharedParts(
            window,
            self._session,
            play,
            self._library,
            self._confirmations,
            self._notice,
            self._store,
            profile,
        )
        self._actions = WindowActions(window)
        self._classes: ClassController | None = None
        self._ports: SqlClientPorts | None = None
        self._teams: TeamController | None = None

    def build_parts(self) -> Iterator[None]:
        """Build all parts of the window, in the order in which they depend on each other.

        Yield after each part.
        """
        yield
        self._brief, self._debrief, self._history = BriefPage(), DebriefView(), RunHistoryPage()
        for page in (self._brief, self._debrief, self._history):
            self._pages.addWidget(page)
        yield
        yield from self._make_desk()
        yield
        self._connect_navigation()
        yield
        self._make_pages()
        yield
        self._make_desk_tools()
        yield
        self._make_files()
        yield
        self._make_auxiliary_parts()
        yield
        self._fill_menus()
        yield
        self._connect_desk()
        self._connect_pages()
        self._appearance.changed.connect(self._show_theme)
        self._appearance.message_ready.connect(self._notice.show_info)
        self._show_theme()
        self._appearance.restore_layout()
        yield
        self._drafts.restore_windows()
        yield
        self._connect_window()
        self._navigation.show_home()
        class_offers.offer_class_return(
            self._store,
            self._notice,
            lambda database: self._get_classes().reopen_class(database),
            self._return_to_class,
        )
        self._window.run_waiting_requests()

    # --- parts ------------------------------------------------------------------------------------------------

    def _make_desk(self) -> Iterator[None]:
        """Create the page of the desk, and then one view per step."""
        self._desk = desk = Desk()
        self._desk_page = DeskPage(desk, self._actions.by_name)
        self._pages.addWidget(self._desk_page)
        yield
        for name in ("topology", "console"):
            desk.get_view(name)
            yield
        self._topology, self._console = self._desk_page.topology, desk.get_view_by_class(QueryConsole)
        queries = {f"query.{name}": action for name, action in self._console.tools.items()}
        bindable = self._actions.by_name | {
            name: queries[name] for name in queries if name in keys.COMMANDS_BY_NAME
        }
        self._appearance = AppearanceSettings(self._store, desk, bindable, self._window)
        self._appearance.bind_keys()
        desk.connect_when_created(self._bind_tools, "explorer", "ledger")
        self._input_line, self._run_facts = CommandLine(), RunFactsLabel(self._play)
        self._window.statusBar().insertWidget(0, self._input_line, 1)
        self._window.statusBar().addPermanentWidget(self._run_facts)
        self._window.statusBar().addWidget(LoadingBar(self._session))
        for line in (self._input_line, self._run_facts):
            line.hide()

    def _bind_tools(self, view: ObjectExplorer | FaultTable) -> None:
        self._appearance.bind_actions(view.tools)

    def _connect_navigation(self) -> None:
        """Create and connect the navigation between pages, and the parts that store data when the page changes."""
        self._drafts = QueryDraftStore(self._shared, self._console)
        self._cards = CardPositionStore(self._shared, self._topology)
        self._start_page = StartPageController(self._shared, self._start_page_view)
        self._navigation = PageNavigation(
            self._shared, self._pages, self._start_page, self._history, self._desk_page, self._cards
        )
        self._choice = DrillSelectionController(self._shared, self._brief, self._navigation)
        self._play.message_ready.connect(self._notice.show_warning)
        self._drafts.message_ready.connect(self._notice.show_warning)
        self._play.run_started.connect(self._begin_run)
        self._play.recording_recovered.connect(
            lambda _: self._notice.show_info(tr("This run is recorded now, from its beginning."))
        )

    def _begin_run(self, drill: Drill) -> None:
        """Show a run that has just been started."""
        self._drafts.open_run_windows(drill)
        self._notice.hide_notice()
        self._desk.get_view_by_class(BriefingPanel).unscored = self._play.is_practicing
        self._cards.restore_positions(drill)
        title = tr("Watch a failover") if self._play.is_introducing else drill.scenario.title
        self._navigation.open_desk(title)

    def _make_pages(self) -> None:
        """Create the pages that open during or after a run."""
        window, navigation = self._window, self._navigation
        self._gate = QuarantineGate(self._shared, navigation, self._start_page_view)
        self._branches = BranchController(self._shared, navigation)
        self._debrief_controller = DebriefController(self._shared, self._debrief, navigation, self._gate)
        FinishedRunController(self._shared, self._history, navigation)
        self._tools = ToolPageController(navigation, window)
        self._progress = ProgressPageController(self._shared, navigation, self._choice)

    def _make_desk_tools(self) -> None:
        window, session = self._window, self._session
        page, desk = self._desk_page, self._desk
        self._connection = DeskConnection(self._shared, page, self._input_line)
        ViewConnection(self._shared, self._desk)
        self._scripts = FileController(self._shared, self._console)
        desk.connect_when_created(self._scripts.add_table, "error_log", "trace", "events")
        self._time_selection = TimeSelection(self._shared)
        self._time_selection.connect_view(page.timeline)
        desk.connect_when_created(self._time_selection.connect_view)
        self._notes = TopologyNoteStore(self._shared, self._topology, self._pages)
        self._presenter_mode = PresenterMode(self._shared, self._appearance, self._topology)
        self._full_screen = FullScreenMode(desk, window)
        self._replay = ReplayController(self._shared, page)
        self._stage_controller = moment = StageController(self._shared, page)
        moment.presenting_wanted.connect(self._presenter_mode.toggle)
        self._appearance.changed.connect(moment.show_appearance)
        self._appearance.motion_changed.connect(lambda _: moment.show_appearance())
        LessonController(self._shared, page, self._debrief_controller)
        FaultMenu(window.menus["&Faults"], session, self._topology, self._actions.by_name["fault.revert_all"])
        DeskKeyHandler(
            window,
            page,
            lambda: self._navigation.is_desk_shown,
            {"desk.pause": session.toggle_clock, "desk.run": self._console.run_front_text},
        )

    def _make_files(self) -> None:
        self._scenario_saver = ScenarioSaver(self._shared, self._gate)
        self._run_as_scenario = RunToScenarioConverter(self._shared, self._scenario_saver)
        self._files = FileOpener(
            self._shared, self._scripts, self._debrief_controller, self._choice, self._gate
        )
        self._bundle_controller = BundleController(
            self._shared, self._choice, self._navigation, self._start_page_view
        )
        self._editing = ScenarioEditorController(
            self._shared, self._navigation, self._choice, self._scenario_saver, self._gate, self._appearance
        )
        self._recent = RecentFilesMenu(self._store, self._window)
        for signal in (self._files.opened, self._editing.file_opened):
            signal.connect(self._recent.add_file)
        for file_signal in (self._recent.file_wanted, self._bundle_controller.run_wanted):
            file_signal.connect(self._files.open_file)

    def _make_auxiliary_parts(self) -> None:
        """Create introduction, help, announcements, palette, and diagnostics."""
        window, page = self._window, self._desk_page
        self._first_run = IntroductionController(self._shared, page, self._navigation, self._stage_controller)
        panels = {**self._desk.docks, "topology": page.topology, "timeline": page.timeline}
        panels["transport"] = page.transport
        self._help = HelpController(panels, self._pages, window)
        self._doctor = InstallationCheckController(self._shared)
        self._announcer = Announcer(self._shared)
        self._settings_writer = SettingsWriter(self._shared)
        self._commands = PaletteController(
            self._shared, self._actions, window.menus, self._desk, self._choice
        )
        self._closing = CloseGuard(
            self._shared, self._drafts, self._navigation, self._appearance,
            self._find_close_question,
        )  # fmt: skip

    # --- connections ------------------------------------------------------------------------------------------

    def _fill_menus(self) -> None:
        entries: dict[str, tuple[str, Callable[[], object]]] = {
            actions.PLANNER: (mark("&Link planner"), self._tools.show_planner),
            actions.FIDELITY: (mark("&Fidelity to published figures"), self._tools.show_fidelity),
            actions.JOIN_CLASS: (mark("&Join a class…"), lambda: self._get_classes().ask_to_join()),
            actions.RETURN_CLASS: (mark("Ret&urn to your class"), self._return_to_class),
            actions.HOST_TEAM: (mark("Start a &team…"), lambda: self._get_teams().ask_to_host_team()),
            actions.TAKE_ROLE: (
                mark("Take a r&ole in a team…"),
                lambda: self._get_teams().ask_for_role(),
            ),
            actions.CLIENTS: (
                mark("Let &SQL clients connect…"),
                lambda: self._get_client_ports().show_ports(),
            ),
            actions.RAISE_HAND: (
                mark("&Raise or lower my hand…"),
                lambda: self._get_classes().ask_to_raise_hand(),
            ),
            actions.ALLOW_OBSERVATION: (
                mark("&Allow or forbid watching my screen"),
                lambda: self._get_classes().toggle_observation_consent(),
            ),
            actions.PROGRESS: (mark("&Progress"), self._progress.show_progress),
        }
        other_menus: dict[str, Callable[[QMenu], object]] = {
            actions.START_CLASS: self._add_start_class_entry,
            actions.RECENT_FILES: lambda menu: menu.addMenu(self._recent.menu),
            actions.LAYOUT: self._appearance.fill_layout_menu,
            actions.APPEARANCE: self._appearance.fill_menu,
            **{
                name: partial(_add_menu_entry, text=text, callback=do) for name, (text, do) in entries.items()
            },
        }
        queries = {f"query.{name}": action for name, action in self._console.tools.items()}
        actions.fill_menu_bar(self._window.menus, self._actions.by_name | queries, other_menus)
        acts = (
            self._map_run_actions()
            | self._map_time_actions()
            | self._map_view_actions()
            | self._map_help_actions()
        )
        self._actions.connect_functions(
            {name: self._confirmations.add_confirmation(name, do) for name, do in acts.items()}
        )

    def _map_run_actions(self) -> dict[str, Callable[[], object]]:
        """Return the functions that open, edit and control drills: name of an action -> function."""
        return {
            "drill.open": self._navigation.show_home,
            "drill.open_file": self._files.choose_file,
            "drill.open_run": self._files.ask_for_run,
            "drill.restart": self._choice.restart_drill,
            "drill.branches": self._branches.show_branches,
            "drill.save_scenario": self._run_as_scenario.save_scenario,
            "drill.editor": self._editing.show_editor,
            "drill.edit_copy": self._editing.copy_drill,
            "drill.bundles": self._bundle_controller.show_imported_bundles,
            "drill.accepted": self._gate.show_accepted,
            "drill.export_bundle": self._bundle_controller.show_export_dialog,
            "drill.hint": lambda: self._desk.focus_view("brief"),
            "drill.note": lambda: dialogs.ask_note(self._window, self._connection.apply_input),
            "drill.act": self._input_line.setFocus,
            "drill.finish": lambda: self._session.apply_input("finish"),
            "drill.quit": self._window.close,
            "fault.revert_all": show_busy_cursor()(lambda: self._session.apply_input("revert-all")),
        }

    def _map_time_actions(self) -> dict[str, Callable[[], object]]:
        """Return the functions that control the clock and the timeline: name of an action -> function."""
        session, replay = self._session, self._replay
        return {
            "time.play": session.toggle_clock,
            "time.step": session.advance_one_tick,
            "time.next_event": session.run_to_event,
            "time.next_state": session.run_to_state,
            "time.run_to": self._ask_for_time,
            "time.until": lambda: dialogs.ask_condition(session, self._window),
            "time.next_alarm": session.run_to_alarm,
            "time.faster": lambda: session.set_speed(find_next_speed(session.speed, faster=True)),
            "time.slower": lambda: session.set_speed(find_next_speed(session.speed, faster=False)),
            "time.normal": lambda: session.set_speed(1.0),
            "time.back": lambda: replay.go_to_mark(forward=False),
            "time.forward": lambda: replay.go_to_mark(forward=True),
            "time.now": session.show_latest,
            "time.go_on": replay.branch_from_shown_time,
            "time.moment": self._stage_controller.show_failover,
            "time.why_not": self._stage_controller.explain_missing_failover,
            "time.all": self._time_selection.clear,
        }

    def _map_view_actions(self) -> dict[str, Callable[[], object]]:
        """Return the actions of the views: name of an action -> function."""
        desk, topology, appearance = self._desk, self._topology, self._appearance
        return {
            **{f"view.{name}": partial(desk.focus_view, name) for name in docks.DOCK_NAMES},
            "view.full_screen": self._full_screen.toggle,
            "view.larger": lambda: appearance.step_font_scale(1),
            "view.smaller": lambda: appearance.step_font_scale(-1),
            "view.usual_size": lambda: appearance.set_font_scale(1.0),
            "view.theme": appearance.select_next_theme,
            "view.contrast": appearance.toggle_contrast,
            "view.present": self._presenter_mode.toggle,
            "view.zoom": lambda: desk.zoom_panel(desk.get_focused_panel() or "console"),
            "view.save_charts": self._save_charts,
            "view.reset_layout": self._reset_layout,
            "teach.note": topology.add_note,
            "teach.spotlight": topology.toggle_spotlight,
            "teach.bright": lambda: topology.highlight_only(()),
            "teach.find": topology.open_find_box,
        }

    def _map_help_actions(self) -> dict[str, Callable[[], object]]:
        """Return the functions of the Help menu: name of an action -> function."""
        return {
            "help.here": self._help.show_help,
            "help.palette": self._commands.open,
            "help.first_run": self._first_run.ask_to_start,
            "help.sheet": lambda: dialogs.show_shortcut_sheet(self._window, self._appearance),
            "help.keys": lambda: dialogs.edit_shortcuts(self._window, self._appearance),
            "help.check": self._doctor.start_check,
            "help.bundle": self._doctor.save_bundle,
            "view.say": self._announcer.announce_state,
        }

    def _connect_desk(self) -> None:
        self._desk.connect_when_created(self._connect_charts, "charts")
        self._appearance.motion_changed.connect(self._topology.set_reduced_motion)
        self._topology.set_reduced_motion(self._store.get(settings.REDUCED_MOTION))
        self._replay.debrief_requested.connect(self._debrief_controller.return_to_debrief)
        self._branches.debrief_requested.connect(self._debrief_controller.return_to_debrief)

    def _connect_charts(self, charts: ChartView) -> None:
        charts.export_wanted.connect(self._save_charts)

    def _connect_pages(self) -> None:
        self._brief.leave_wanted.connect(self._navigation.show_home)
        self._brief.copy_wanted.connect(self._editing.copy_drill)
        self._debrief.branches_wanted.connect(self._branches.show_branches)
        self._history.leave_wanted.connect(self._navigation.show_home)
        self._history.open_wanted.connect(self._debrief_controller.show_stored)
        self._debrief_controller.drill_wanted.connect(self._choice.show_named_brief)
        self._pages.currentChanged.connect(lambda _: self._debrief_controller.stage_controller.cancel())
        self._pages.currentChanged.connect(lambda _: self._first_run.handle_page_change())
        self._pages.currentChanged.connect(lambda _: self._stage_controller.close_stage())
        self._pages.currentChanged.connect(lambda _: self._debrief_controller.handle_page_change())
        self._pages.currentChanged.connect(lambda _: self._replay.hide_announced_position())
        self._pages.page_shown.connect(lambda *_: self._show_page())
        self._navigation.desk_wanted.connect(self._show_command_line)
        self._session.progress_changed.connect(lambda _: self._window.show_status_bar())

    def _connect_window(self) -> None:
        """Connect the requests of the window and its start page. This must be the last step."""
        window, picker = self._window, self._start_page_view
        picker.drill_chosen.connect(self._choice.show_named_brief)
        picker.generated_drill_wanted.connect(self._choice.generate_drill)
        picker.introduction_wanted.connect(self._first_run.start)
        self._first_run.finished.connect(partial(self._choice.show_named_brief, FIRST_DRILL))
        picker.resume_wanted.connect(self._start_page.resume_run)
        picker.give_up_wanted.connect(self._start_page.ask_to_give_up)
        picker.history_wanted.connect(self._navigation.show_history)
        picker.progress_wanted.connect(self._progress.show_progress)
        picker.file_wanted.connect(self._files.choose_file)
        picker.edit_wanted.connect(self._editing.edit_scenario)
        FileDropHandler(window).dropped.connect(self._files.open_file)
        window.scenario_given.connect(self._admit_scenario)
        window.theme_changed.connect(self._appearance.apply_system_colors)
        window.exception_raised.connect(self._session.stop)
        window.last_inputs = self._session.list_last_inputs
        window.parts_loaded.connect(self._settings_writer.write_at_start)
        window.close_wanted.connect(self._closing.handle_close_event)
        for stop in (
            self._notes.save_notes,
            self._presenter_mode.stop,
            self._tools.stop,
            self._doctor.stop,
            self._editing.stop,
            self._settings_writer.stop_writing,
            self._stop_classes,
        ):
            window.closing.connect(stop)

    def _admit_scenario(self, scenario: Scenario) -> None:
        self._gate.admit_scenario(
            scenario, f"{scenario.name}.toml", lambda: self._choice.show_brief(scenario)
        )

    def _show_page(self) -> None:
        """Enable the actions of the desk if the desk is shown, otherwise disable them."""
        on_desk = self._navigation.is_desk_shown
        self._show_command_line(on_desk)
        self._actions.enable_desk_actions(on_desk)
        for title in ("&Query", "&Faults", "&Time"):
            self._window.menus[title].menuAction().setEnabled(on_desk)

    def _show_command_line(self, visible: bool = True) -> None:
        """Show or hide the command line and the run facts.

        They appear before the desk, so that the panels of the desk keep their sizes.
        """
        self._run_facts.setVisible(visible)
        self._input_line.setVisible(visible)
        self._window.show_status_bar()

    def _show_theme(self) -> None:
        self._actions.show_theme(theme.get_theme_tokens(QApplication.palette()))
        self._desk_page.show_running(self._session.is_running)

    def _reset_layout(self) -> None:
        self._appearance.reset_layout()
        self._topology.reset_positions()

    def _save_charts(self) -> None:
        save_charts(cast("ChartView", self._desk.get_view("charts")), self._notice, self._window)

    def _get_classes(self) -> ClassController:
        """Return the class controller, created on first use because few starts need it."""
        if self._classes is None:
            from app.main_window.class_controller import ClassController

            self._classes = ClassController(
                self._session,
                self._play,
                self._library,
                self._confirmations,
                self._notice,
                self._store,
                self._window,
            )
            self._classes.seat_state_shown.connect(self._run_facts.show_seat)
            self._classes.help_wanted.connect(lambda: self._help.open_page("classes"))
        return self._classes

    def _get_teams(self) -> TeamController:
        """Return the team controller, created on first use because few starts need it."""
        if self._teams is None:
            from app.main_window.teams import TeamController

            self._teams = TeamController(
                self._library, self._confirmations, self._notice, self._store, self._window
            )
            self._teams.help_wanted.connect(lambda: self._help.open_page("classes"))
            self._window.closing.connect(self._teams.stop)
        return self._teams

    def _find_close_question(self) -> str:
        """Return the key of the question to ask before the window closes.

        The key is empty if the window hosts neither a class nor a team.
        """
        if self._classes is not None and self._classes.is_hosting:
            return "quit_class"
        return "quit_team" if self._teams is not None and self._teams.is_hosting else ""

    def _add_start_class_entry(self, menu: QMenu) -> None:
        """Add the menu entry that starts a class, or opens the instructor station of the running class."""
        text = mark("&Start a class…")
        action = _add_menu_entry(menu, text, self._start_class)

        def rename_entry() -> None:
            holds = self._classes is not None and self._classes.is_hosting
            action.setText(tr("Instructor &station") if holds else tr(text))

        menu.aboutToShow.connect(rename_entry)

    def _start_class(self) -> None:
        card = self._start_page_view.get_current_card()
        self._get_classes().ask_to_start(card.name if card is not None else "")

    def _return_to_class(self) -> None:
        self._get_classes().return_to_class()

    def _stop_classes(self) -> None:
        if self._classes is not None:
            self._classes.stop()

    def _get_client_ports(self) -> SqlClientPorts:
        """Return the ports for SQL clients, created on first use because few starts need them."""
        if self._ports is None:
            from app.main_window.sql_clients import SqlClientPorts

            self._ports = SqlClientPorts(self._shared)
            self._window.closing.connect(self._ports.stop)
        return self._ports

    def _describe_leave_consequence(self) -> str:
        """Return the text that describes the consequence of leaving the run now."""
        if self._play.is_in_class:
            return confirmations.CLASS_PROGRESS_SAVED_TEXT
        return (
            confirmations.PROGRESS_NOT_SAVED_TEXT
            if self._play.run_id is None
            else confirmations.PROGRESS_SAVED_TEXT
        )

    def _ask_for_time(self) -> None:
        drill = self._session.drill
        if drill is not None:
            dialogs.ask_time(self._window, drill.world.t_s, lambda t_s: self._session.run_to(to_ticks(t_s)))


def _add_menu_entry(menu: QMenu, text: str, callback: Callable[[], object]) -> QAction:
    """Add a menu entry that is not one of the named actions and has no shortcut.

    The command palette also finds the entry by its English text.
    """
    action = menu.addAction(tr(text), callback)
    action.setProperty(SEARCH_WORDS_PROPERTY, text.replace("&", ""))
    return action
