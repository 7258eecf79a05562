"""Tests of the window around the drills: pages, menus, keys, themes, layouts, and stored settings."""

from __future__ import annotations

from pathlib import Path
from typing import Final, cast

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QApplication, QLabel, QMenu, QWidget
from pytestqt.qtbot import QtBot

from app import settings
from app.main_window import palette_commands
from app.settings import WindowSettings
from app.storage import Profile
from app.views.help import HELP_PAGE_ORDER, read_help_page
from app.views.time_controls import SPEED_STEPS, compute_slider_position, compute_speed, find_next_speed
from app.widgets import keys, theme
from app.widgets.docks import (
    INSTRUCTOR_PROFILE,
    LEARNER_PROFILE,
    OUTER_DOCK_SPECS,
    PRESENTER_PROFILE,
    IncrementalView,
)
from app.widgets.scroll_container import PageStack
from app.widgets.tables import TableView
from engine.model import World
from tests.app.main_window.conftest import WindowUser, show_window
from tests.children import find_child, get_scene
from tests.open_window import OpenWindow
from tests.screenshots import build_lab_of

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")
Key, Mod = Qt.Key, Qt.KeyboardModifier


def play_lab(hands: WindowUser, seconds: float = 1.0) -> World:
    hands.window.select_drill("lab")
    hands.window.brief.start_wanted.emit("lab")
    hands.run_frames(seconds)
    return hands.drill.world


# --- menus and keys ---------------------------------------------------------------------------------------------


def test_every_action_of_the_window_is_in_a_menu(window: OpenWindow) -> None:
    in_menus = {action for menu in window.menuBar().findChildren(QMenu) for action in menu.actions()}
    missing = {name for name, action in window.actions_by_name.items() if action not in in_menus}
    assert missing == {"fault.revert_all", "view.theme"}  # `fault.revert_all` is added when its menu opens.


def test_keys_do_not_clash_and_reach_their_actions(window: OpenWindow) -> None:
    assert keys.list_key_conflicts(window.appearance.current_keys) == []
    action = window.actions_by_name["time.step"]
    assert action.shortcuts() == [QKeySequence("F10")]
    assert "F10" in action.toolTip()


def test_changed_keys_persist(
    qtbot: QtBot, window: OpenWindow, profile: Profile, store: WindowSettings
) -> None:
    window.appearance.set_keys(keys.VS_CODE_SCHEME, {"time.step": ("Ctrl+Alt+S",)})
    assert window.actions_by_name["time.step"].shortcuts() == [QKeySequence("Ctrl+Alt+S")]
    assert window.actions_by_name["view.full_screen"].shortcuts()[0] == QKeySequence("F11")
    window.close()
    second_window = show_window(qtbot, profile, store)
    assert second_window.actions_by_name["time.step"].shortcuts() == [QKeySequence("Ctrl+Alt+S")]


def test_actions_without_meaning_outside_a_drill_are_disabled(hands: WindowUser) -> None:
    window = hands.window
    step = window.actions_by_name["time.step"]
    assert not step.isEnabled()
    play_lab(hands)
    assert step.isEnabled()
    window.show_home()
    assert not step.isEnabled()
    assert window.actions_by_name["help.sheet"].isEnabled()


def test_time_is_controlled_by_keys(hands: WindowUser) -> None:
    window = hands.window
    play_lab(hands)
    hands.press_key(Key.Key_Pause)
    tick = hands.drill.tick
    hands.press_key(Key.Key_F10)
    hands.press_key(Key.Key_F10)
    assert hands.drill.tick == tick + 2
    hands.press_key(Key.Key_Period, Mod.AltModifier)
    assert window.session.speed == 2.0
    hands.press_key(Key.Key_Comma, Mod.AltModifier)
    hands.press_key(Key.Key_Comma, Mod.AltModifier)
    assert window.session.speed == 0.5
    hands.press_key(Key.Key_Minus, Mod.AltModifier)
    assert window.session.speed == 1.0


def test_the_fault_menu_offers_every_object(hands: WindowUser) -> None:
    play_lab(hands)
    menu = next(m for m in hands.window.menuBar().findChildren(QMenu) if m.title() == "&Faults")
    menu.aboutToShow.emit()
    submenus = {
        action.text(): cast(QMenu, action.menu()) for action in menu.actions() if action.menu() is not None
    }
    assert {"SERVER_A", "SERVER_A – SERVER_B", "APP", "APP – SERVER_B", "Sales"} <= set(submenus)
    submenu = submenus["SERVER_W"]
    submenu.aboutToShow.emit()
    next(action for action in submenu.actions() if action.text() == "Power off").trigger()
    assert not hands.drill.world.computers["SERVER_W"].powered
    window_action = hands.window.actions_by_name["fault.revert_all"]
    assert window_action in menu.actions()
    window_action.trigger()
    assert hands.drill.world.computers["SERVER_W"].powered


def test_the_palette_finds_actions_and_commands(hands: WindowUser) -> None:
    play_lab(hands)
    hands.press_key(Key.Key_P, Mod.ControlModifier, Mod.ShiftModifier)
    palette = hands.window.palette_of_commands
    assert palette.isVisible()
    hands.qtbot.keyClicks(palette.field, "server_b hang sql")
    hands.press_key(Key.Key_Return, target=palette.field)
    assert hands.drill.world.instances["SERVER_B"].hung


@pytest.mark.parametrize("speed", SPEED_STEPS)
def test_the_speed_slider_shows_the_speed(speed: float) -> None:
    assert compute_speed(compute_slider_position(speed)) == speed


def test_speed_steps_stop_at_their_bounds() -> None:
    assert find_next_speed(1.0, faster=True) == 2.0
    assert find_next_speed(3.0, faster=False) == 2.0
    assert find_next_speed(1000.0, faster=True) == 1000.0
    assert find_next_speed(0.1, faster=False) == 0.1


# --- appearance -------------------------------------------------------------------------------------------------


def test_a_theme_is_applied_at_once_and_stored(window: OpenWindow, store: WindowSettings) -> None:
    for choice, colors in (
        (theme.DARK_THEME, theme.build_dark_theme()),
        (theme.LIGHT_THEME, theme.build_light_theme()),
    ):
        window.appearance.set_theme(choice)
        QApplication.processEvents()
        assert theme.get_theme_tokens(window.topology.palette()) is colors
        image = window.grab().toImage()
        assert image.pixelColor(4, image.height() // 2) == colors.window
        assert store.get(settings.THEME) == choice


@pytest.mark.slow
def test_text_can_be_enlarged(hands: WindowUser, store: WindowSettings) -> None:
    window = hands.window
    before = window.picker.font().pointSizeF()
    hands.press_key(Key.Key_Plus, Mod.ControlModifier)
    QApplication.processEvents()
    assert window.picker.font().pointSizeF() == pytest.approx(before * 1.1)
    store.set(settings.FONT_SCALE, settings.FONT_SCALES[-2])
    window.appearance.step_font_scale(1)
    assert store.get(settings.FONT_SCALE) == settings.FONT_SCALES[-1]
    with hands.qtbot.assertNotEmitted(window.appearance.changed):
        window.appearance.step_font_scale(1)
    assert store.get(settings.FONT_SCALE) == settings.FONT_SCALES[-1]
    hands.press_key(Key.Key_0, Mod.ControlModifier)
    QApplication.processEvents()
    assert window.picker.font().pointSizeF() == pytest.approx(before)


@pytest.mark.slow
def test_reduced_motion_is_stored(
    qtbot: QtBot, window: OpenWindow, profile: Profile, store: WindowSettings
) -> None:
    next(action for action in window.findChildren(QAction) if action.text() == "Reduce &motion").trigger()
    window.close()
    second_window = show_window(qtbot, profile, store)
    assert next(
        action for action in second_window.findChildren(QAction) if action.text() == "Reduce &motion"
    ).isChecked()


# --- layout -----------------------------------------------------------------------------------------------------


CLUSTER_DOCKS: Final = {"dashboard", "cluster"}


def open_docks(window: OpenWindow) -> set[str]:
    """Return the names of the open docks, without the docks for clusters, which the lab hides."""
    return {name for name, dock in window.desk.docks.items() if not dock.isHidden()} - CLUSTER_DOCKS


def test_each_layout_opens_its_panels(hands: WindowUser) -> None:
    window = hands.window
    play_lab(hands)
    for profile in (LEARNER_PROFILE, INSTRUCTOR_PROFILE, PRESENTER_PROFILE):
        window.appearance.set_layout(profile)
        wanted = {p.name for p in OUTER_DOCK_SPECS if profile in p.profiles and p.name in window.desk.docks}
        assert open_docks(window) == wanted - CLUSTER_DOCKS


@pytest.mark.slow
def test_a_layout_is_stored_per_profile_and_can_be_reset(
    qtbot: QtBot, hands: WindowUser, profile: Profile, store: WindowSettings
) -> None:
    window = hands.window
    play_lab(hands)
    default_docks = open_docks(window)
    window.desk.docks["charts"].close()
    window.appearance.set_layout(PRESENTER_PROFILE)
    assert "charts" in open_docks(window)
    window.close()
    second_window = show_window(qtbot, profile, store)
    assert second_window.appearance.layout == PRESENTER_PROFILE
    second_window.appearance.set_layout(LEARNER_PROFILE)
    assert open_docks(second_window) == default_docks - {"charts"}
    second_window.actions_by_name["view.reset_layout"].trigger()
    assert open_docks(second_window) == default_docks


def test_a_layout_of_another_version_is_not_restored(window: OpenWindow) -> None:
    state = window.desk.saveState(999)
    window.desk.docks["charts"].close()
    window.desk.restore_layout(state, LEARNER_PROFILE)
    assert "charts" in open_docks(window)


def test_a_closed_panel_reopens_up_to_date_by_its_key(hands: WindowUser) -> None:
    window = hands.window
    play_lab(hands)
    window.desk.docks["brief"].close()
    hands.run_frames(3.0)
    hands.press_key(Key.Key_F4)
    assert window.briefing.isVisible()
    assert window.briefing.hasFocus()


@pytest.mark.slow
def test_moved_cards_keep_their_positions(
    qtbot: QtBot, hands: WindowUser, profile: Profile, store: WindowSettings
) -> None:
    window = hands.window
    play_lab(hands)
    window.topology.place_cards({"SERVER_W": (40.0, -200.0)})
    window.close()
    second_window = show_window(qtbot, profile, store)
    play_lab(WindowUser(qtbot, second_window))
    assert second_window.topology.list_moved_positions() == {"SERVER_W": (40.0, -200.0)}


# --- pages ------------------------------------------------------------------------------------------------------


def test_history_lists_runs_and_opens_their_debriefs(hands: WindowUser, profile: Profile) -> None:
    window = hands.window
    for name in ("lab", "automatic-failover"):
        window.select_drill(name)
        window.brief.start_wanted.emit("lab" if name == "lab" else "exam")
        hands.run_frames(1.0)
        window.session.apply_input("finish")
    window.show_history()
    rows = find_child(window.history, TableView).table.rows
    assert [row.title for row in rows] == ["Mirroring: principal loses power", "Database mirroring lab"]
    assert rows[0].mode == "exam"
    hands.press_key(Key.Key_Return, target=find_child(window.history, TableView))
    assert window.pages.currentWidget() is window.debrief
    assert window.windowTitle().startswith("Mirroring: principal loses power")


def test_unsent_queries_survive_a_restart(
    qtbot: QtBot, hands: WindowUser, profile: Profile, store: WindowSettings
) -> None:
    window = hands.window
    play_lab(hands)
    query = window.console.front_window
    assert query is not None
    query.editor.setFocus()
    hands.qtbot.keyClicks(query.editor, "SELECT unsaved")
    qtbot.waitUntil(lambda: "SELECT unsaved" in map(profile.drafts.load, profile.drafts.list_keys()))
    window.close()
    second_window = show_window(qtbot, profile, store)
    (run,) = profile.list_unfinished_runs()
    second_window.resume_run(run.run_id)
    WindowUser(qtbot, second_window).finish_search()
    assert "SELECT unsaved" in second_window.console.list_drafts().values()


def test_the_start_page_can_be_searched(hands: WindowUser) -> None:
    picker = hands.window.picker
    hands.qtbot.keyClicks(picker.search, "witness intermediate")
    titles = [picker.grid.item(row).text() for row in range(picker.grid.count())]
    assert "Mirroring: no witness, principal fails" in titles
    assert "Database mirroring lab" not in titles
    assert not find_child(picker, QLabel, "empty").isVisible()
    hands.qtbot.keyClicks(picker.search, " zzz")
    assert find_child(picker, QLabel, "empty").text().startswith("No drill contains all search words")
    assert picker.grid.count() > 0
    hands.qtbot.keyClicks(picker.search, " yyy xxx")
    assert picker.grid.count() == 0
    assert find_child(picker, QLabel, "empty").text().startswith("No matching drills")
    assert find_child(picker, QLabel, "empty").isVisible()


def test_an_unreadable_scenario_is_named(hands: WindowUser, profile_folder: Path) -> None:
    folder = profile_folder / "scenarios"
    folder.mkdir(parents=True)
    (folder / "broken.toml").write_text("title = 3\n", encoding="utf-8")
    hands.window.show_home()
    assert "broken.toml" in find_child(hands.window.picker, QLabel, "problem").text()
    assert find_child(hands.window.picker, QLabel, "problem").isVisible()


def test_help_opens_at_the_focused_panel(hands: WindowUser) -> None:
    window = hands.window
    play_lab(hands)
    window.desk.focus_view("console")
    hands.press_key(Key.Key_F1)
    assert window.help is not None
    assert window.help.page == "console"
    window.help.close()
    window.topology.setFocus()
    hands.press_key(Key.Key_F1)
    assert window.help.page == "topology"
    window.help.close()


@pytest.mark.parametrize("page", HELP_PAGE_ORDER)
def test_links_in_help_have_targets(page: str) -> None:
    text = read_help_page(page)
    assert text.startswith("# ")
    for part in text.split("](")[1:]:
        assert part.partition(")")[0].removesuffix(".md") in HELP_PAGE_ORDER


def test_without_a_profile_the_window_warns_and_plays(qtbot: QtBot, store: WindowSettings) -> None:
    window = show_window(qtbot, None, store)
    hands = WindowUser(qtbot, window)
    play_lab(hands)
    assert "not recorded" in window.run_facts.text()
    window.session.apply_input("finish")
    assert window.pages.currentWidget() is window.debrief


def test_fault_menu_objects_match_the_world(hands: WindowUser) -> None:
    world = play_lab(hands)
    kinds = dict(palette_commands.list_action_targets(world))
    assert [target.title for target in kinds["Servers"]] == ["SERVER_A", "SERVER_B", "SERVER_W"]
    assert len(kinds["Links"]) == 6


def test_an_exam_hides_truth_views_and_restores_them_afterwards(
    hands: WindowUser, store: WindowSettings
) -> None:
    window = hands.window
    play_lab(hands)
    default_docks = open_docks(window)
    window.select_drill("automatic-failover")
    window.brief.start_wanted.emit("exam")
    hands.run_frames(2.0)
    assert default_docks - open_docks(window) == {"timing", "events"} & default_docks
    window.desk.focus_view("events")
    assert "events" not in open_docks(window)
    window.timeline.time_clicked.emit(1.0)
    assert not window.session.is_showing_past
    assert "cannot be rewound" in window.notice.text
    window.appearance.store_layout()
    play_lab(hands)
    assert open_docks(window) == default_docks
    window.timeline.time_clicked.emit(0.5)
    assert window.session.is_showing_past


@pytest.mark.slow
def test_the_fidelity_page_opens_from_the_tools_and_stops_with_the_window(hands: WindowUser) -> None:
    hands.window.tools.show_fidelity()
    assert hands.window.pages.currentWidget() is hands.window.tools.fidelity
    assert hands.window.windowTitle().startswith("Fidelity")


def test_a_menu_closes_with_its_page(hands: WindowUser) -> None:
    play_lab(hands)
    menu = QMenu(hands.window)
    menu.addAction("Do it")
    menu.popup(hands.window.pos())
    assert menu.isVisible()
    hands.window.show_history()  # the debrief opens at the end of a run while a menu is open
    assert not menu.isVisible()


def test_views_of_a_large_world_are_updated_in_turn_at_high_speed(
    hands: WindowUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = hands.window
    window.show_brief(build_lab_of(20))
    window.brief.start_wanted.emit("lab")
    visible_names = {name for name, view in window.desk.views.items() if view.isVisible()}
    views_shown: list[str] = []
    for name, view in window.desk.views.items():
        monkeypatch.setattr(view, "show_world", lambda _, name=name: views_shown.append(name))
        if isinstance(view, IncrementalView):
            monkeypatch.setattr(view, "show_parts", lambda _, name=name: iter([views_shown.append(name)]))
    window.session.on_frame(16.0)
    assert set(views_shown) == visible_names, "at the usual speed all of them are up to date"
    views_shown.clear()
    window.session.set_speed(100.0)
    for frame in range(len(visible_names)):
        window.session.on_frame(16.0)
        assert len(views_shown) == frame + 1
    assert set(views_shown) == visible_names
    views_shown.clear()
    window.session.pause()
    assert set(views_shown) == visible_names, "what stands still is shown as it stands"


@pytest.mark.slow
@pytest.mark.parametrize("page", ["start", "brief", "desk", "progress", "editor"])
def test_a_slow_page_shows_that_it_is_working(
    hands: WindowUser, monkeypatch: pytest.MonkeyPatch, page: str
) -> None:
    window = hands.window
    openers = {
        "start": window.show_home,
        "brief": lambda: window.select_drill("lab"),
        "desk": lambda: window.start_drill("lab"),
        "progress": window.progress.show_progress,
        "editor": window.editing.show_editor,
    }
    window.select_drill("lab")
    signs: list[Qt.CursorShape | None] = []

    def show_page(page: QWidget, title: str) -> None:
        sign = QApplication.overrideCursor()
        signs.append(sign.shape() if sign is not None else None)
        PageStack.show_page(window.pages, page, title)

    monkeypatch.setattr(window.pages, "show_page", show_page)
    openers[page]()
    assert signs == [Qt.CursorShape.WaitCursor]
    assert QApplication.overrideCursor() is None


@pytest.mark.parametrize(
    "stored",
    [
        '{"lab": 5, "x": {"SERVER_A": [1, 2]}}',
        '{"lab": {"SERVER_A": [1e999, 0], "B": ["1", 2], "C": [1], "D": [true, 1], "E": [1e9, 0]}}',
        "[1]",
        '{"lab": {"SERVER_A": [NaN, 0]}}',
    ],
)
def test_invalid_positions_and_notes_are_ignored(
    stored: str, qtbot: QtBot, profile: Profile, store: WindowSettings
) -> None:
    """Such stored values used to prevent the start of the drill."""
    store.set(settings.CARD_POSITIONS, stored)
    store.set(settings.TOPOLOGY_NOTES, stored.replace("{", '[["x",', 1))
    window = show_window(qtbot, profile, store)
    window.select_drill("lab")
    window.brief.start_wanted.emit("lab")
    assert window.session.live_drill is not None
    assert window.topology.list_notes() == []
    assert len(get_scene(window.topology).nodes) > 3
