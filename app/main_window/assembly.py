"""Everything behind the start page, made in steps of a few milliseconds so that the page goes on answering.

What has a file of its own beside this one is a part: its `attach(window)` adds pages, entries and connections.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any, Final

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication

from app import settings
from app.main_window import (
    actions,
    announcements,
    branches,
    bundles,
    commands,
    debrief_page,
    desk_keys,
    desk_page,
    diagnostics,
    dialogs,
    files,
    full_screen,
    help,
    menus,
    moments,
    presenter_mode,
    progress,
    quarantine,
    query_drafts,
    recent,
    replay,
    replay_progress,
    run_as_scenario,
    runs,
    scenario_editor,
    scripts,
    settings_writer,
    teaching_tools,
    tools,
    tour,
    until,
)
from app.main_window.appearance import Appearance
from app.main_window.irrevocable import Irrevocable
from app.main_window.library import Library
from app.main_window.play import Play
from app.main_window.session import Session
from app.main_window.window import MainWindow
from app.settings import WindowSettings
from app.storage import Profile
from app.views.act_line import ActLine
from app.views.briefing import BriefPage
from app.views.debrief import Debrief
from app.views.history import HistoryPage
from app.views.transport import next_speed
from app.widgets import docks, keys, theme
from engine.model import ticks

PARTS: Final = (
    replay_progress,
    files,
    scripts,
    quarantine,
    tools,
    progress,
    moments,
    teaching_tools,
    recent,
    presenter_mode,
    full_screen,
    until,
    replay,
    branches,
    debrief_page,
    runs,
    run_as_scenario,
    bundles,
    tour,
    help,
    diagnostics,
    scenario_editor,
    announcements,
    settings_writer,
    desk_keys,
)


def furnished(
    profile: Profile | None,
    store: WindowSettings,
    by_itself: bool = True,
    clock: Callable[[], float] = time.perf_counter,
) -> MainWindow:
    """A window in which everything is there. *by_itself* and *clock*: as the session has them."""
    window = MainWindow(store)
    for _ in steps(window, profile, by_itself, clock):
        pass
    return window


def steps(
    window: MainWindow,
    profile: Profile | None,
    by_itself: bool = True,
    clock: Callable[[], float] = time.perf_counter,
) -> Iterator[None]:
    """Bring in what is missing; between two steps the window may do other things."""
    window.profile = profile
    window.session = Session(window, clock, by_itself)
    window.play = Play(window.session, profile, window)
    window.irrevocable = Irrevocable(
        window, window.session, lambda: window.play.watching, lambda: window.play.run_id is not None
    )
    window.library = Library(profile)
    doing = {name: window.irrevocable.guarded(name, do) for name, do in _doing(window).items()}
    window.actions_by_name = actions.build(window, doing)
    window.act_line = ActLine()
    window.statusBar().insertWidget(0, window.act_line)
    window.act_line.hide()
    yield
    window.brief, window.debrief, window.history = BriefPage(), Debrief(), HistoryPage()
    for page in (window.brief, window.debrief, window.history):
        window.pages.addWidget(page)
    yield
    yield from desk_page.make(window)
    window.appearance = Appearance(window.store, window.desk, _bindable(window), window)
    window.appearance.bind_keys()
    menus.fill_bar(window)
    window.drafts = query_drafts.Drafts(window.console, profile, window.play, window)
    _connect(window)
    desk_page.connect(window)
    yield
    for part in PARTS:
        part.attach(window)
        yield
    _show_theme(window)
    window.appearance.restore_layout()
    yield
    window.topology.set_reduced_motion(window.store.get(settings.REDUCED_MOTION))
    window.drafts.restore()
    yield
    window.show_home()
    window.be_ready()


def _doing(window: MainWindow) -> dict[str, Any]:
    """Name of each action of the window -> what it does."""
    session = window.session
    doing: dict[str, Any] = {
        "drill.open": window.show_home,
        "drill.restart": window.restart,
        "drill.hint": lambda: window.desk.go_to("brief"),
        "drill.note": lambda: dialogs.ask_note(window, window.do),
        "drill.act": lambda: window.act_line.setFocus(),
        "drill.finish": lambda: session.do("finish"),
        "drill.quit": window.close,
        "time.play": session.toggle,
        "time.step": session.step,
        "time.next_event": session.run_to_event,
        "time.next_state": session.run_to_state,
        "time.run_to": lambda: _ask_for_moment(window),
        "time.faster": lambda: session.set_speed(next_speed(session.speed, up=True)),
        "time.slower": lambda: session.set_speed(next_speed(session.speed, up=False)),
        "time.normal": lambda: session.set_speed(1.0),
        "fault.revert_all": lambda: session.do("revert-all"),
        "view.full_screen": lambda: window.full_screen.toggle(),
        "view.larger": lambda: window.appearance.step_font(1),
        "view.smaller": lambda: window.appearance.step_font(-1),
        "view.usual_size": lambda: window.appearance.set_font_scale(1.0),
        "view.theme": lambda: window.appearance.next_theme(),
        "view.zoom": lambda: window.desk.zoom(window.desk.panel_with_keys() or "console"),
        "view.reset_layout": lambda: _reset_layout(window),
        "help.sheet": lambda: dialogs.show_sheet(window, window.appearance),
        "help.keys": lambda: dialogs.edit_keys(window, window.appearance),
        "help.palette": lambda: commands.open_palette(window),
    }
    for name in docks.NAMES:
        doing[f"view.{name}"] = lambda name=name: window.desk.go_to(name)
    return doing


def _bindable(window: MainWindow) -> dict[str, QAction]:
    """Every action that has a row in the table of keys."""
    views = {f"query.{name}": action for name, action in window.console.tools.items()}
    views |= window.explorer.tools | window.ledger.tools
    return window.actions_by_name | {name: views[name] for name in views if name in keys.BY_NAME}


def _connect(window: MainWindow) -> None:
    """What pages ask for."""
    window.drafts.said.connect(window.notice.warn)
    window.appearance.changed.connect(lambda: _show_theme(window))
    window.appearance.motion_changed.connect(window.topology.set_reduced_motion)
    window.play.said.connect(window.notice.warn)
    window.picker.resumed.connect(window.resume)
    window.picker.given_up.connect(
        lambda run_id: window.irrevocable.ask("give_up", lambda: window.give_up(run_id))
    )
    window.picker.history_wanted.connect(window.show_history)
    window.brief.started.connect(window.start)
    window.brief.left.connect(window.show_home)
    window.history.left.connect(window.show_home)


def _show_theme(window: MainWindow) -> None:
    actions.show_icons(window.actions_by_name, theme.tokens(QApplication.palette()))
    actions.show_keys(window.actions_by_name.values())
    desk_page.show_running(window, window.session.running)


def _reset_layout(window: MainWindow) -> None:
    window.appearance.reset_layout()
    window.topology.rearrange()


def _ask_for_moment(window: MainWindow) -> None:
    drill = window.session.drill
    if drill is not None:
        dialogs.ask_moment(window, drill.world.t_s, lambda t_s: window.session.run_to(ticks(t_s)))
