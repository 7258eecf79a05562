"""Pictures of every main view for review, README and help: `make screenshots`, `python -m tests.screenshots FOLDER`."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import cast
from unittest.mock import patch

from PySide6.QtCore import QElapsedTimer, QSettings
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMainWindow, QTabWidget, QTreeView, QWidget

from app import settings
from app.classroom.log_entries import LogEntry
from app.classroom.messages.replies import DashboardUpdate
from app.classroom.models import RUNNING, ClassPart
from app.classroom.pace import ClassPace
from app.classroom.seat_state import SeatState, build_tile
from app.classroom.verdict import LogReplay
from app.files import par_certificates
from app.main_window import window as window_module
from app.main_window.appearance import apply_stored_theme
from app.main_window.presenter_mode import PRESENTER_TEXT_SCALE
from app.settings import WindowSettings
from app.storage import open_profile
from app.view_models.action_offers import ActionTarget
from app.views.classroom import InstructorStation
from app.views.debrief.page import OUTAGES, POINTS, TIMELINE
from app.widgets import theme
from app.widgets.docks import AUTHOR_PROFILE, INSTRUCTOR_PROFILE, LEARNER_PROFILE, PRESENTER_PROFILE
from app.words import language
from app.words.language import tr
from engine.constants import TICKS_PER_S
from engine.drill.authoring.scenario import Scenario, load_scenario, select_variant
from engine.drill.par.regret import search_value
from engine.drill.par.search_drill import SearchDrill
from engine.drill.running.modes import DrillMode
from engine.generators import run_to_completion
from tests.open_window import OpenWindow, build_window
from tests.shipped_scenarios import load_shipped_scenario

WINDOW_SIZES = ((1366, 768), (1920, 1080))
LARGE_FONT_SCALE = 2.0
STILL_FRAMES = 200
"""Number of frames without progress of simulated time after which a run counts as stopped."""
BACKGROUND_WORK_MS_MAX = 20_000
"""Maximum wait for the background task of a page."""

CLASS_ACTIONS = {
    "Annemarie Example": (30, "sql SERVER_A ALTER DATABASE Sales SET PARTNER FAILOVER"),
    "Bob": (150, "power-off SERVER_A"),
    "Cem": (45, "sql SERVER_A ALTER DATABASE Sales SET PARTNER OFF"),
    "Dana": (95, "sql SERVER_A ALTER DATABASE Sales SET PARTNER SUSPEND"),
    "Eva": (20, "sql SERVER_A SELECT mirroring_state_desc FROM sys.database_mirroring"),
    "Finn": (60, "power-off SERVER_B"),
}
"""Seat of the class dashboard -> its action in "planned-failover"."""
RAISED_HANDS = [3]
CLASS_S = 190
"""Simulated seconds that the class has played."""

QUERY = """\
SELECT DB_NAME(database_id) AS name, mirroring_role_desc, mirroring_state_desc,
       mirroring_witness_state_desc
FROM sys.database_mirroring
WHERE mirroring_guid IS NOT NULL
"""


def build_lab_of(databases: int) -> Scenario:
    """Return the shipped lab with *databases* equal databases instead of one. They share the load."""
    text = (files("scenarios") / "lab.toml").read_text(encoding="utf-8")
    if databases > 1:
        text = text.replace(
            'name = "Sales"\nworkload = "Workload1"',
            f'name = "Sales001"\ncount = {databases}\nworkload = "Workload1"\nscale = {1 / databases}',
        )
        text = text.replace('"Sales"', '"Sales001"')
    return load_scenario(text, "lab")


@contextmanager
def open_screenshot_window(
    folder: Path, choice: str, size: tuple[int, int], font_scale: float = 1.0
) -> Iterator[OpenWindow]:
    """Yield a window with its own profile in the given appearance. Time passes only in frames, without
    slicing.
    """
    store = WindowSettings(QSettings(str(folder / "window.ini"), QSettings.Format.IniFormat))
    store.set(settings.THEME, choice)
    store.set(settings.FONT_SCALE, font_scale)
    store.set(settings.INTRODUCTION_SEEN, True)
    store.set(settings.FAILOVER_STAGING, settings.NEVER)
    apply_stored_theme(store)
    with open_profile(folder / "profile") as profile:
        window = build_window(profile, store, use_timer=False)
        window.session.host.immediate_task_s = float("inf")
        window.resize(*size)
        window.show()
        yield window
        window.close()
        window.deleteLater()


def finish_analysis(window: OpenWindow) -> None:
    """Wait for the end of the debrief's analysis."""
    waited = QElapsedTimer()
    waited.start()
    while window.debriefing._analysis.is_running and waited.elapsed() < BACKGROUND_WORK_MS_MAX:
        QApplication.processEvents()


def pass_time(window: OpenWindow, seconds: float) -> None:
    """Run for *seconds*, or until the run ends or waits for an answer."""
    drill, still_frames = window.session.drill, 0
    assert drill is not None
    end = drill.tick + round(seconds * 100)
    while drill.tick < end and not drill.finished and still_frames < STILL_FRAMES:
        before = drill.tick
        if not (window.session.is_running or window.session.is_busy):
            window.session.play()
        window.session.on_frame(50.0)
        still_frames = still_frames + 1 if drill.tick == before else 0


def run_sql(window: OpenWindow, server: str, text: str) -> None:
    query = window.console.front_window
    if query is None or query.server != server:
        query = window.console.open_query(server)
    assert query is not None
    query.editor.setPlainText(text)
    window.console.tools["run"].trigger()
    pass_time(window, 0.5)


def walk_scenes(window: OpenWindow) -> Iterator[str]:
    """Open the scenes of the program one after the other, and yield the name of each."""
    yield "start"
    yield from _walk_first_steps(window)
    window.select_drill("automatic-failover")
    yield "brief"
    window.brief.start_wanted.emit("practice")
    pass_time(window, 20.0)
    yield "desk-healthy"
    window.session.set_speed(5.0)
    while window.session.drill and window.session.drill.world.computers["SERVER_A"].powered:
        pass_time(window, 0.25)
    pass_time(window, 0.3)
    yield "desk-at-the-failure"
    pass_time(window, 20.0)
    window.session.apply_input("hint 1")
    run_sql(window, "SERVER_B", QUERY)
    window.topology.select_target(ActionTarget("server", ("SERVER_A",)))
    yield "desk-after-failover"
    yield from _walk_overlays(window)
    window.desk.focus_view("error_log")
    window.session.apply_input("power-on SERVER_A")
    pass_time(window, 30.0)
    yield "desk-logs"
    for panel in ("explorer", "trace", "table", "system", "ledger"):
        window.desk.focus_view(panel)
        if panel == "explorer":
            window.explorer.findChildren(QTreeView)[0].expandToDepth(2)
        pass_time(window, 1.0)
        yield f"desk-{panel}"
    window.appearance.reset_layout()
    for profile in (INSTRUCTOR_PROFILE, AUTHOR_PROFILE, PRESENTER_PROFILE):
        window.appearance.set_layout(profile)
        yield f"desk-{profile}"
    scale = window.store.get(settings.FONT_SCALE)
    window.appearance.set_font_scale(
        max(scale, PRESENTER_TEXT_SCALE)
    )  # Leave full screen, which has its own size.
    yield "presenting"
    window.appearance.set_font_scale(scale)
    window.appearance.set_layout(LEARNER_PROFILE)
    window.replay.show_time(24.0)
    yield "look-back"
    window.session.show_latest()
    yield from _show_failover_phases(window)
    window.replay.show_time(24.0)
    window.replay.branch_from_shown_time()
    window.session.apply_input("power-on SERVER_A")
    pass_time(window, 30.0)
    window.branches.show_branches()
    yield "branches"
    window.branches._leave()
    pass_time(window, 200.0)
    if window.session.drill is not None and not window.session.drill.finished:
        window.session.apply_input("finish")
    finish_analysis(window)
    yield "debrief"
    for tab, name in ((TIMELINE, "timeline"), (POINTS, "points"), (OUTAGES, "story")):
        window.debrief.findChildren(QTabWidget)[0].setCurrentIndex(tab)
        yield f"debrief-{name}"
    window.debrief.learn_wanted.emit()
    yield "learn"
    window.learning.bar.buttons["answer"].click()
    yield "learn-answer"
    window.learning.bar.buttons["back"].click()
    window.show_history()
    yield "history"
    window.progress.show_progress()
    yield "progress"
    yield from _walk_tools(window)
    yield from _walk_board(window)
    yield from _show_missing_failover(window)
    show_foreign_drill(window)
    yield "quarantine"
    window.show_brief(build_lab_of(200))
    window.brief.start_wanted.emit("lab")
    pass_time(window, 20.0)
    window.topology.select_object("Sales042")
    pass_time(window, 1.0)
    yield "desk-200-databases"


def _show_failover_phases(window: OpenWindow) -> Iterator[str]:
    """Show the phases of the last failover; yield the name of each."""
    moment = window.failover_moment
    moment.show_failover()
    for number, name in ((0, "detection"), (2, "quorum"), (5, "clients-back")):
        moment.stage.phase_wanted.emit(number)
        yield f"moment-{name}"
    moment.leave_stage()
    window.session.pause()


def _show_missing_failover(window: OpenWindow) -> Iterator[str]:
    """Show the requirements of an automatic failover that did not happen."""
    window.select_drill("forced-service")
    window.brief.start_wanted.emit("practice")
    pass_time(window, 100.0)
    window.failover_moment.explain_missing_failover()
    window.failover_moment._reveal_to(99)
    yield "moment-why-not"
    window.failover_moment.leave_stage()
    window.leave_run()  # Otherwise a question about the run would cover the next pages.


def _walk_tools(window: OpenWindow) -> Iterator[str]:
    """Show planner, editor and fidelity figures, and yield the name of each. Planner and figures compute in
    the background.
    """
    window.tools.show_planner()
    planner = window.tools.planner
    assert planner is not None
    wait_until(lambda: not (planner.curves_timer.isActive() or planner.findings_timer.isActive()))
    yield "planner"
    window.editing.show_editor()
    window.editing.page.parse_if_changed()
    yield "editor"
    window.tools.show_fidelity()
    fidelity = window.tools.fidelity
    assert fidelity is not None
    wait_until(lambda: fidelity.worker.isFinished())
    yield "fidelity"


def _walk_board(window: OpenWindow) -> Iterator[str]:
    board = InstructorStation()
    scenario = load_shipped_scenario("planned-failover")
    board.show_class(
        scenario.title, scenario.facilitator or "", ["power-off SERVER_A", "power-on SERVER_A"],
        goal_texts={goal.name: goal.text for goal in select_variant(scenario, scenario.seed).goals},
    )  # fmt: skip
    board.resize(board.size().expandedTo(window.size()).boundedTo(window.size()))
    board.show_code("ABCDE-FGHJK-MNPQR-STVWX@192.168.1.5:7443")
    board.show_dashboard(build_class_board())
    board.tiles.selectRow(1)
    board.show()
    yield "class-board\n"
    board.close()


@cache
def build_class_board() -> DashboardUpdate:
    """Return a class dashboard with a verdict for each run, as the host would send it."""
    scenario = load_shipped_scenario("planned-failover")
    pace = ClassPace(ClassPart(seed=scenario.seed, mode=DrillMode.PRACTICE.value, state=RUNNING), scenario)
    tiles = [
        build_tile(_build_seat(scenario, number, name), pace, (), RAISED_HANDS)
        for number, name in enumerate(CLASS_ACTIONS, start=1)
    ]
    return DashboardUpdate(
        state="running", part="", part_number=1, parts=1, not_frozen=[], tiles=tiles, ends_in_s=1_200.0,
        break_s=None, clock_s=None,
    )  # fmt: skip


def _build_seat(scenario: Scenario, number: int, name: str) -> SeatState:
    run = LogReplay(scenario, scenario.seed, DrillMode.PRACTICE.value)
    seat = SeatState(number, name, "", 0, 0, 0, CLASS_S * TICKS_PER_S, group="Red" if number % 2 else "Blue")
    acts = sorted([CLASS_ACTIONS[name], *((at_s, "") for at_s in range(10, CLASS_S + 1, 10))])
    for place, (at_s, line) in enumerate(acts, start=1):
        run.play([LogEntry(place, at_s * TICKS_PER_S, line, "", 0)])
        seat.record_reachable_points(
            at_s,
            run_to_completion(
                search_value(
                    cast(SearchDrill, run.drill), par_certificates.load_certified_plans(run.drill)[:1]
                )
            ),
        )
    seat.verdict, seat.is_at_other_host = run.build_verdict(), name != "Finn"
    seat.hand = "Was that the right server?" if number in RAISED_HANDS else None
    return seat


def show_foreign_drill(window: OpenWindow) -> None:
    """Open a drill that the user has not accepted yet."""
    text = (files("scenarios") / "lab.toml").read_text(encoding="utf-8").replace("seed = ", "seed = 1")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "from_a_colleague.toml"
        file.write_text(text, encoding="utf-8")
        window.open_file(str(file))


def wait_until(is_ready: Callable[[], bool]) -> None:
    """Process events until *is_ready* returns True, or until a time limit."""
    for _ in range(BACKGROUND_WORK_MS_MAX // 50):
        if is_ready():
            return
        QTest.qWait(50)


def _walk_first_steps(window: OpenWindow) -> Iterator[str]:
    """Show the start page for a new user and with a filter, then two scenes of the first run. Yield the name
    of each.
    """
    picker = window.picker
    picker.show_recommendation(picker.top.recommendation, is_new_user=True)
    yield "start-new-user"
    picker.paths.buttons["ag"].click()
    picker.search.setText("commits")
    yield "start-search"
    picker.search.clear()
    picker.paths.buttons["ag"].click()
    window.actions_by_name["help.first_run"].trigger()
    mark = window.first_run.coach_mark
    for title in (tr("Who voted?"), tr("Your turn: power on {server}").format(server="SERVER_A")):
        while not (mark.isVisible() and mark.title.text() == title):
            if mark.isVisible():
                mark.next.click()
            QApplication.processEvents()
            window.session.on_frame(50.0)
        yield "first-run-vote" if title == tr("Who voted?") else "first-run-your-turn"
    window.show_home()


def _walk_overlays(window: OpenWindow) -> Iterator[str]:
    """Show the temporary overlays of the desk (notes and spotlight, palette, keys), and yield the name of
    each.
    """
    window.topology.select_target(ActionTarget("server", ("SERVER_B",)))
    window.topology.toggle_spotlight()
    window.topology.show_notes([("Who decides that SERVER_B may serve?", 60.0, -190.0)])
    window.moments.move_cursor(31.0)
    yield "desk-spotlight"
    window.topology.show_notes([])
    window.topology.highlight_only(())
    window.moments.select_time_range((20.0, 45.0))
    yield "desk-span"
    window.moments.clear()
    window.actions_by_name["help.palette"].trigger()
    window.palette_of_commands.field.setText("power")
    yield "palette"
    window.palette_of_commands.hide_and_restore_focus()
    window.actions_by_name["help.sheet"].trigger()
    QApplication.processEvents()
    yield "keys\n"
    for dialog in _list_dialogs():
        dialog.close()


def take_screenshots(
    folder: Path,
    choice: str,
    size: tuple[int, int],
    font_scale: float = 1.0,
    language_code: str = language.ENGLISH,
) -> None:
    language.use_language(language_code)
    with (
        tempfile.TemporaryDirectory() as temporary,
        open_screenshot_window(Path(temporary), choice, size, font_scale) as window,
    ):
        for name in walk_scenes(window):
            for _ in range(3):
                QApplication.processEvents()
            text = "" if font_scale == 1.0 else f"-text-{font_scale:.0%}"
            text += "" if language_code == language.ENGLISH else f"-{language_code}"
            # The name of a dialog contains a line break.
            shown_widget = _list_dialogs()[0] if name.endswith("\n") else window
            file = f"{name.strip()}-{choice.replace(' ', '-')}-{size[0]}x{size[1]}{text}.png"
            shown_widget.grab().save(str(folder / file))
    language.use_language(language.ENGLISH)


def _list_dialogs() -> list[QWidget]:
    """Return the open windows except the main window."""
    return [w for w in QApplication.topLevelWidgets() if w.isVisible() and not isinstance(w, QMainWindow)]


def main() -> int:
    parser = argparse.ArgumentParser(description="Take pictures of every view.")
    parser.add_argument("folder", nargs="?", type=Path, default=Path("screenshots"))
    folder: Path = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    os.environ["MIRRORDRILL_PROFILE"] = tempfile.mkdtemp()
    app = QApplication(sys.argv[:1])
    app.setApplicationName("mirrordrill")
    # The offscreen screen is smaller than the requested windows.
    patch.object(window_module, "FIT_CHECK_DELAYS_MS", ()).start()
    for choice in (theme.LIGHT_THEME, theme.DARK_THEME):
        for size in WINDOW_SIZES:
            take_screenshots(folder, choice, size)
    take_screenshots(folder, theme.HIGH_CONTRAST_THEME, WINDOW_SIZES[0])
    for size in WINDOW_SIZES:
        take_screenshots(folder, theme.LIGHT_THEME, size, LARGE_FONT_SCALE)
        take_screenshots(folder, theme.LIGHT_THEME, size, language_code=language.GERMAN)
    print(f"{len(list(folder.glob('*.png')))} pictures in {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
