"""The window: places pages and views, and connects them with the session and its runs. Nothing else."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from PySide6.QtCore import QEvent, Qt, QTimer
from PySide6.QtGui import QAction, QActionGroup, QCloseEvent
from PySide6.QtWidgets import (
    QApplication,
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QInputDialog,
    QLabel,
    QMainWindow,
    QMenu,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app import formatting, keys, scenario_files, settings, theme
from app.main_window import actions, menus
from app.main_window.desk import PROFILES, Desk
from app.main_window.library import Library
from app.main_window.play import Play
from app.notice import Notice
from app.scenario_files import NoScenario
from app.session import Session
from app.settings import WindowSettings
from app.storage import Profile, RunId, StorageProblem
from app.views.briefing import Briefing, BriefPage
from app.views.charts import Charts
from app.views.console import Console
from app.views.debrief import Debrief
from app.views.error_log import ErrorLog
from app.views.events_list import EventsList
from app.views.history import HistoryPage
from app.views.palette import Palette
from app.views.scenario_picker import ScenarioPicker
from app.views.shortcut_sheet import ShortcutSheet
from app.views.timeline import Timeline
from app.views.topology import Topology
from app.views.trace import Trace
from app.views.transport import Transport, next_speed
from engine.constants import TICKS_PER_S
from engine.drill.drill import Drill
from engine.drill.problems import ScenarioProblems
from engine.drill.scenario import Scenario

TITLE: Final = "Mirrordrill"
DRAFTS_MS: Final = 400
"""Pause in typing after which unsent queries are written down."""
IN_TRANSPORT: Final = ("time.play", "time.step", "time.next_event", "time.next_state")


class MainWindow(QMainWindow):
    """One learner's window. Without a profile nothing is kept, and the window says so."""

    def __init__(self, profile: Profile | None, store: WindowSettings) -> None:
        super().__init__()
        self._store = store
        self._profile = profile
        self._report: Mapping[str, Any] | None = None
        self._scenario: Scenario | None = None
        self.session = Session(self)
        self.play = Play(self.session, profile, self)
        self.library = Library(profile)
        self._make_pages()
        self.actions_by_name = actions.build(self, self._doing())
        keys.bind(self.actions_by_name, keys.keys_of(keys.SSMS))
        self._make_desk()
        self._make_menus()
        self._drafts_due = QTimer(self, interval=DRAFTS_MS, singleShot=True)
        self._drafts_due.timeout.connect(self._save_drafts)
        self._connect()
        self._show_theme()
        self._restore()
        self.show_home()

    # --- pages and views ------------------------------------------------------------------------------------

    def _make_pages(self) -> None:
        self.picker, self.brief, self.debrief, self.history = (
            ScenarioPicker(),
            BriefPage(),
            Debrief(),
            HistoryPage(),
        )
        self.notice = Notice()
        self.pages = QStackedWidget()
        middle = QWidget()
        column = QVBoxLayout(middle)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.notice)
        column.addWidget(self.pages)
        self.setCentralWidget(middle)
        self._state, self._place = QLabel(), QLabel()
        self.statusBar().addPermanentWidget(self._state)

    def _make_desk(self) -> None:
        self.topology, self.console, self.briefing = Topology(), Console(), Briefing()
        self.transport = Transport([self.actions_by_name[name] for name in IN_TRANSPORT])
        self.timeline = Timeline()
        self.desk = Desk(
            self.topology,
            {
                "brief": self.briefing,
                "console": self.console,
                "charts": Charts(),
                "error_log": ErrorLog(),
                "trace": Trace(),
                "events": EventsList(),
            },
        )
        finish = QToolButton()
        self.actions_by_name["drill.finish"].setIconText("End drill")
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
            "drill.note": self._ask_for_note,
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
            "view.larger": lambda: self._step_font(1),
            "view.smaller": lambda: self._step_font(-1),
            "view.usual_size": lambda: self.set_font_scale(1.0),
            "view.theme": self._next_theme,
            "view.reset_layout": self._reset_layout,
            "help.sheet": self._show_sheet,
            "help.palette": self._open_palette,
        }
        for name in ("brief", "topology", "console", "charts", "error_log", "trace", "events"):
            doing[f"view.{name}"] = lambda name=name: self.desk.go_to(name)
        return doing

    def _make_menus(self) -> None:
        bar = menus.build_bar(self, self.actions_by_name)
        faults = bar["&Faults"]
        faults.aboutToShow.connect(lambda: self._fill_faults(faults))
        bar["&Query"].addActions(list(self.console.tools.values()))
        menus.fill(bar["&View"], menus.VIEWS, self.actions_by_name)
        bar["&View"].addSeparator()
        self._layouts = self._choices(bar["&View"].addMenu("&Layout"), PROFILES, self.set_layout)
        self._themes = self._choices(bar["&View"].addMenu("T&heme"), theme.CHOICES, self.set_theme)
        menus.fill(bar["&View"], menus.LOOKS, self.actions_by_name)
        self._motion = QAction("Reduce &motion", self, checkable=True)
        self._motion.toggled.connect(self._set_reduced_motion)
        bar["&View"].addAction(self._motion)
        menus.fill(bar["&Help"], menus.HELP, self.actions_by_name)
        self.palette_of_commands = Palette(self)

    def _choices(self, menu: QMenu, names: tuple[str, ...], choose: Any) -> QActionGroup:
        group = QActionGroup(self)
        for name in names:
            action = QAction(name.capitalize(), self, checkable=True)
            action.setData(name)
            action.triggered.connect(lambda _=False, name=name: choose(name))
            group.addAction(action)
            menu.addAction(action)
        return group

    # --- connections ----------------------------------------------------------------------------------------

    def _connect(self) -> None:
        session, desk = self.session, self.desk
        for view in (desk, self.transport, self.timeline):
            session.drill_changed.connect(view.show_drill)
            session.world_changed.connect(view.show_world)
        session.happened.connect(desk.add_events)
        session.happened.connect(self.timeline.add_events)
        for asking in desk.views.values():
            asking.requested.connect(self.do)  # type: ignore[attr-defined]  # every view has it
        session.refused.connect(self.notice.warn)
        session.told.connect(self.notice.tell)
        session.speed_changed.connect(self.transport.show_speed)
        session.speed_changed.connect(self.topology.set_speed)
        session.lagging.connect(self.transport.show_lag)
        session.progress.connect(self.transport.show_progress)
        session.running_changed.connect(self._show_running)
        session.finished.connect(self._show_finished)
        self.transport.speed_chosen.connect(session.set_speed)
        self.timeline.moment_chosen.connect(self._offer_retry)
        self.topology.opened.connect(lambda server: self.console.new_query(server))
        self.console.drafts_changed.connect(self._drafts_due.start)
        self.play.began.connect(self._show_begun)
        self.play.said.connect(self.notice.warn)
        self.picker.chosen.connect(self.choose)
        self.picker.resumed.connect(self.resume)
        self.picker.given_up.connect(self._give_up)
        self.picker.history_wanted.connect(self.show_history)
        self.picker.file_wanted.connect(self._ask_for_file)
        self.brief.started.connect(self._start)
        self.brief.left.connect(self.show_home)
        self.debrief.retry_wanted.connect(self._retry)
        self.debrief.solution_wanted.connect(self._watch)
        self.debrief.left.connect(self.show_home)
        self.debrief.history_wanted.connect(self.show_history)
        self.history.opened.connect(self._show_old)
        self.history.left.connect(self.show_home)

    def do(self, line: str) -> None:
        """What a view asks for; a notice about something else is out of date by then."""
        self.notice.clear()
        self.session.do(line)

    # --- from page to page ----------------------------------------------------------------------------------

    def show_home(self) -> None:
        """The drills to choose from. A run that is left here can be taken up again."""
        self._leave_desk()
        self.play.leave()
        self.library.read()
        self.picker.show_cards(self.library.cards(), self.library.problems)
        self.picker.show_interrupted(self.library.interrupted())
        self._go_to(self.picker, "")
        self.picker.take_focus()

    def choose(self, name: str) -> None:
        """The brief of the scenario *name*."""
        scenario = self.library.scenario(name)
        if scenario is not None:
            self.show_brief(scenario)

    def show_brief(self, scenario: Scenario) -> None:
        self._scenario = scenario
        self.library.scenarios[scenario.name] = scenario
        self.brief.show_scenario(scenario)
        self._go_to(self.brief, scenario.title)

    def _start(self, mode: str) -> None:
        if self._scenario is not None:
            self.play.begin(self._scenario, mode)
            self.session.play()

    def _restart(self) -> None:
        if self.session.drill is not None:
            self._scenario = self.session.drill.scenario
            self.play.begin(self._scenario, self.session.drill.mode.value)

    def resume(self, run_id: int) -> None:
        """Go on with an interrupted run."""
        for run in self.play.unfinished():
            if run.run_id == run_id:
                self.play.resume(run)

    def _give_up(self, run_id: int) -> None:
        self.play.give_up(RunId(run_id))
        self.picker.show_interrupted(self.library.interrupted())

    def _show_begun(self, drill: Drill) -> None:
        self._scenario = drill.scenario
        self.notice.clear()
        self._put_topology(drill.scenario.name)
        kept = "not recorded" if self._profile is None or self.play.watching else "recorded"
        what = "reference solution" if self.play.watching else drill.mode.value
        self._state.setText(f"{what}  ·  seed {drill.seed}  ·  {kept}")
        self._go_to(self.desk_page, drill.scenario.title)
        self.topology.setFocus()

    def _show_finished(self, report: Mapping[str, Any]) -> None:
        self._leave_desk()
        self._show_report(report)

    def _show_old(self, run_id: int) -> None:
        if self._profile is not None:
            report = json.loads(self._profile.report(RunId(run_id)))
            self._scenario = self.library.scenario(report["scenario"])
            self._show_report(report)

    def _show_report(self, report: Mapping[str, Any]) -> None:
        self._report = report
        has_solution = self._scenario is not None and bool(self._scenario.solution)
        self.debrief.show_report(report, self._scenario is not None, has_solution)
        self._go_to(self.debrief, str(report.get("title") or report["scenario"]))
        self.debrief.setFocus()

    def show_history(self) -> None:
        self.history.show_runs(self.library.runs())
        self._go_to(self.history, "History")

    def _retry(self, t_s: float) -> None:
        if self._scenario is not None and self._report is not None:
            self.play.retry(self._scenario, self._report, t_s)

    def _watch(self) -> None:
        if self._scenario is not None:
            self.play.watch(self._scenario)
            self.session.play()

    def _go_to(self, page: QWidget, title: str) -> None:
        self.pages.setCurrentWidget(page)
        on_desk = page is self.desk_page
        self._state.setVisible(on_desk)
        for name, action in self.actions_by_name.items():
            group = name.partition(".")[0]
            if group in ("time", "fault") or name in _ONLY_ON_DESK:
                action.setEnabled(on_desk)
        self.setWindowTitle(f"{title} – {TITLE}" if title else TITLE)

    # --- on the desk ----------------------------------------------------------------------------------------

    def _show_running(self, running: bool) -> None:
        action = self.actions_by_name["time.play"]
        action.setText("Pause" if running else "Run")
        colours = theme.tokens(self.palette())
        action.setIcon(theme.icon("pause" if running else "play", colours, colours.on_accent))
        actions.show_keys([action])

    def _fill_faults(self, menu: QMenu) -> None:
        drill = self.session.drill
        revert = self.actions_by_name["fault.revert_all"]
        menus.fill_faults(menu, drill.world if drill else None, self.topology.fill_menu, [revert])

    def _offer_retry(self, t_s: float) -> None:
        drill = self.session.drill
        if drill is None:
            return
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        again = menu.addAction(f"Try again from {formatting.run_time(t_s, 1)}")
        again.triggered.connect(lambda: self.play.retry(drill.scenario, drill.report(), t_s))
        menu.popup(self.timeline.mapToGlobal(self.timeline.rect().bottomLeft()))

    def _ask_for_note(self) -> None:
        text, said = QInputDialog.getText(self, "Note", "Write into the run:")
        if said and text.strip():
            self.do(f"note {text.strip()}")

    def _ask_for_moment(self) -> None:
        drill = self.session.drill
        if drill is None:
            return
        now_s = drill.world.t_s
        to_s, said = QInputDialog.getDouble(
            self, "Run to", "Seconds since the start:", now_s + 60.0, now_s, now_s + 86_400.0, 2
        )
        if said:
            self.session.run_to(round(to_s * TICKS_PER_S))

    def _ask_for_file(self) -> None:
        name, _ = QFileDialog.getOpenFileName(self, "Open a scenario", "", "Scenarios (*.toml)")
        if not name:
            return
        try:
            self.show_brief(scenario_files.find(name).load())
        except (NoScenario, ScenarioProblems) as problem:
            self.notice.warn(str(problem))

    def _show_sheet(self) -> None:
        sheet = ShortcutSheet(self)
        sheet.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        sheet.show_keys(keys.SSMS, keys.keys_of(keys.SSMS))
        sheet.open()

    def _open_palette(self) -> None:
        drill = self.session.drill
        groups: list[tuple[str, list[QAction]]] = [("", list(self.actions_by_name.values()))]
        groups.append(("Query", list(self.console.tools.values())))
        if drill is not None:
            for _, targets in menus.things(drill.world):
                groups += [(target.title, self.topology.actions_for(target)) for target in targets]
        self.palette_of_commands.offer(groups)
        self.palette_of_commands.open()

    # --- look and layout ------------------------------------------------------------------------------------

    def set_theme(self, choice: str) -> None:
        self._store.set(settings.THEME, choice)
        self._apply_theme()

    def _next_theme(self) -> None:
        choices = theme.CHOICES
        self.set_theme(choices[(choices.index(self._store.get(settings.THEME)) + 1) % len(choices)])

    def set_font_scale(self, scale: float) -> None:
        self._store.set(settings.FONT_SCALE, scale)
        self._apply_theme()

    def _step_font(self, step: int) -> None:
        scales = settings.FONT_SCALES
        now = self._store.get(settings.FONT_SCALE)
        near = min(range(len(scales)), key=lambda index: abs(scales[index] - now))
        self.set_font_scale(scales[max(0, min(len(scales) - 1, near + step))])

    def _apply_theme(self) -> None:
        apply_theme(self._store)
        self._show_theme()

    def _show_theme(self) -> None:
        colours = theme.tokens(QApplication.palette())
        actions.show_icons(self.actions_by_name, colours)
        actions.show_keys(self.actions_by_name.values())
        self._show_running(self.session.running)
        _check(self._themes, self._store.get(settings.THEME))

    def _set_reduced_motion(self, reduced: bool) -> None:
        self._store.set(settings.REDUCED_MOTION, reduced)
        self.topology.set_reduced_motion(reduced)

    def set_layout(self, profile: str) -> None:
        """Change to another layout profile; the one that is left is kept."""
        self._keep_layout()
        self._store.set(settings.LAYOUT_PROFILE, profile)
        self.desk.restore(self._store.get(settings.layout_key(profile)), profile)
        _check(self._layouts, profile)

    def _reset_layout(self) -> None:
        profile = self._store.get(settings.LAYOUT_PROFILE)
        self._store.remove(settings.layout_key(profile))
        self.desk.arrange(profile)
        self.topology.rearrange()

    def _toggle_full_screen(self) -> None:
        self.setWindowState(self.windowState() ^ Qt.WindowState.WindowFullScreen)

    # --- what is kept ---------------------------------------------------------------------------------------

    def _restore(self) -> None:
        store = self._store
        if store.get(settings.GEOMETRY).isEmpty() or not self.restoreGeometry(store.get(settings.GEOMETRY)):
            screen = self.screen().availableGeometry()
            self.resize(min(1600, screen.width()), min(960, screen.height()))
        profile = store.get(settings.LAYOUT_PROFILE)
        profile = profile if profile in PROFILES else PROFILES[0]
        self.desk.restore(store.get(settings.layout_key(profile)), profile)
        _check(self._layouts, profile)
        self._motion.setChecked(store.get(settings.REDUCED_MOTION))
        if self._profile is not None:
            drafts = self._profile.drafts
            self.console.restore_drafts({key: drafts.load(key) or "" for key in list(drafts.keys())})

    def _keep_layout(self) -> None:
        if self.desk.was_seen:
            self._store.set(settings.layout_key(self._store.get(settings.LAYOUT_PROFILE)), self.desk.state())

    def _put_topology(self, scenario: str) -> None:
        places = json.loads(self._store.get(settings.PLACES)).get(scenario, {})
        self.topology.put({name: (float(x), float(y)) for name, (x, y) in places.items()})

    def _leave_desk(self) -> None:
        if self.session.drill is None:
            return
        self.session.pause()
        places = json.loads(self._store.get(settings.PLACES))
        places[self.session.drill.scenario.name] = self.topology.places()
        self._store.set(settings.PLACES, json.dumps(places))

    def _save_drafts(self) -> None:
        """Unsent queries are kept while they are typed; a full disk is told and takes nothing away."""
        self._drafts_due.stop()
        if self._profile is None:
            return
        drafts, texts = self._profile.drafts, self.console.drafts()
        try:
            for key in set(drafts.keys()) - set(texts):
                drafts.delete(key)
            for key, text in texts.items():
                if drafts.load(key) != text:
                    drafts.save(key, text)
        except StorageProblem as problem:
            self.notice.warn(str(problem))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.ThemeChange and self._store.get(settings.THEME) == theme.SYSTEM:
            self._apply_theme()

    def closeEvent(self, event: QCloseEvent) -> None:
        self._save_drafts()
        self._leave_desk()
        self._keep_layout()
        self.play.leave()
        self._store.set(settings.GEOMETRY, self.saveGeometry())
        self._store.sync()
        super().closeEvent(event)


_ONLY_ON_DESK: Final = {"drill.restart", "drill.hint", "drill.note", "drill.finish"} | {
    f"view.{name}" for name in ("brief", "topology", "console", "charts", "error_log", "trace", "events")
}
"""Actions that mean nothing without a drill on screen."""


def _check(group: QActionGroup, name: str) -> None:
    for action in group.actions():
        action.setChecked(action.data() == name)


def apply_theme(store: WindowSettings) -> None:
    """Theme and text size as they are kept."""
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    theme.apply(app, store.get(settings.THEME), store.get(settings.FONT_SCALE))
