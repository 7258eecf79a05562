"""Tests of themes, presenter mode, layouts and recent files in the window."""

from __future__ import annotations

import itertools
import shutil
import time
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import pytest
import shiboken6
from pyqtgraph import GraphicsLayoutWidget
from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QLabel,
    QLineEdit,
    QMenu,
    QScrollArea,
    QStyle,
    QTabBar,
    QToolButton,
    QWidget,
)

from app import settings
from app.main_window.appearance import enlarge_text_on_wide_screen
from app.settings import WindowSettings
from app.views.shortcut_sheet import ShortcutSheet
from app.views.time_controls import SpeedField
from app.widgets import scroll_container, theme
from app.widgets.docks import AUTHOR_PROFILE, LAYOUT_PROFILES, LEARNER_PROFILE, PRESENTER_PROFILE
from app.widgets.scroll_container import ScrollContainer
from tests import painted
from tests.app.main_window.conftest import WindowUser, show_window
from tests.children import find_child, get_scene
from tests.open_window import OpenWindow
from tests.painted import compute_contrast

CTRL_ALT = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier


@pytest.fixture
def lab(hands: WindowUser, window: OpenWindow) -> OpenWindow:
    window.select_drill("lab")
    window.brief.start_wanted.emit("lab")
    window.session.pause()
    return window


@pytest.mark.usefixtures("style_sheet")
def test_high_contrast_reaches_widgets_scene_and_plots(
    qtbot: Any, qapp: QApplication, lab: OpenWindow
) -> None:
    qtbot.keyClick(lab.topology, Qt.Key.Key_C, CTRL_ALT)
    colors = theme.build_high_contrast_theme()
    for widget in (lab, lab.topology, lab.charts, lab.console):
        assert theme.get_theme_tokens(widget.palette()) is colors
    assert lab.topology.backgroundBrush().color() == colors.surface
    assert get_scene(lab.topology).nodes["SERVER_A"].style.colors is colors
    assert find_child(lab.charts, GraphicsLayoutWidget).backgroundBrush().color() == colors.surface
    qtbot.keyClick(lab.topology, Qt.Key.Key_C, CTRL_ALT)
    assert theme.get_theme_tokens(lab.palette()) is not colors
    theme.apply_theme_choice(qapp, theme.LIGHT_THEME)


@pytest.mark.slow
@pytest.mark.usefixtures("style_sheet")
@pytest.mark.parametrize("choice", [theme.SYSTEM_THEME, theme.LIGHT_THEME])
def test_only_the_system_theme_follows_system_colors(
    qapp: QApplication, lab: OpenWindow, monkeypatch: pytest.MonkeyPatch, choice: str
) -> None:
    lab.appearance.set_theme(choice)
    assert theme.get_theme_tokens(lab.topology.palette()) is theme.build_light_theme()
    # The test desktop never becomes dark, so the test patches its color scheme. The event is Qt's own.
    monkeypatch.setattr(theme, "build_light_theme", theme.build_dark_theme)
    QApplication.sendEvent(lab.windowHandle(), QEvent(QEvent.Type.ThemeChange))
    monkeypatch.undo()
    colors = theme.build_dark_theme() if choice == theme.SYSTEM_THEME else theme.build_light_theme()
    for widget in (lab, lab.topology, lab.charts, lab.console):
        assert theme.get_theme_tokens(widget.palette()) is colors
    assert lab.topology.backgroundBrush().color() == colors.surface
    assert find_child(lab.charts, GraphicsLayoutWidget).backgroundBrush().color() == colors.surface
    theme.apply_theme_choice(qapp, theme.LIGHT_THEME)


def test_high_contrast_has_a_ratio_of_seven() -> None:
    colors = theme.build_high_contrast_theme()
    for ground in (colors.window, colors.surface, colors.raised):
        for text in ("text", "muted", "ok", "warn", "bad", "info", "idle"):
            assert compute_contrast(getattr(colors, text), ground) >= 7.0, text


def test_presenter_mode_is_toggled(
    qtbot: Any, qapp: QApplication, lab: OpenWindow, store: WindowSettings
) -> None:
    qtbot.keyClick(lab.topology, Qt.Key.Key_P, CTRL_ALT)
    assert lab.appearance.layout == PRESENTER_PROFILE
    assert lab.isFullScreen()
    assert store.get(settings.FONT_SCALE) == 1.5
    assert lab.desk.docks["console"].isHidden()
    assert lab.desk.narrow
    assert lab.topology.width() == lab.desk.width(), "a small screen shows only the picture"
    qtbot.keyClick(lab.topology, Qt.Key.Key_P, CTRL_ALT)
    assert lab.appearance.layout == LEARNER_PROFILE
    assert not lab.isFullScreen()
    assert store.get(settings.FONT_SCALE) == 1.0
    assert not lab.desk.docks["console"].isHidden()


@pytest.mark.parametrize(
    ("width_px", "stored_scale", "scale"),
    [(1366, None, 1.0), (1920, None, 1.2), (1920, 1.0, 1.0), (1920, 1.5, 1.5)],
)
def test_text_is_larger_at_the_first_start_on_a_wide_screen(
    store: WindowSettings, width_px: int, stored_scale: float | None, scale: float
) -> None:
    if stored_scale is not None:
        store.set(settings.FONT_SCALE, stored_scale)
    enlarge_text_on_wide_screen(store, width_px)
    assert store.get(settings.FONT_SCALE) == scale


def test_a_program_killed_in_presenter_mode_restores_its_layout(
    qtbot: Any, profile: Any, store: WindowSettings
) -> None:
    store.set(settings.STATE_BEFORE_PRESENTING, "author 1.2")
    store.set(settings.LAYOUT_PROFILE, PRESENTER_PROFILE)
    store.set(settings.FONT_SCALE, 1.5)
    window = show_window(qtbot, profile, store)
    assert (window.appearance.layout, store.get(settings.FONT_SCALE)) == (AUTHOR_PROFILE, 1.2)
    assert not window.presenting.is_active


def test_each_profile_keeps_its_own_layout(lab: OpenWindow) -> None:
    assert LAYOUT_PROFILES == ("learner", "instructor", "author", "presenter")
    lab.appearance.set_layout(AUTHOR_PROFILE)
    assert not lab.desk.docks["ledger"].isHidden()
    assert lab.desk.docks["charts"].isHidden()
    lab.desk.docks["ledger"].close()
    lab.appearance.set_layout(LEARNER_PROFILE)
    assert not lab.desk.docks["charts"].isHidden()
    lab.appearance.set_layout(AUTHOR_PROFILE)
    assert lab.desk.docks["ledger"].isHidden()
    lab.appearance.reset_layout()
    assert not lab.desk.docks["ledger"].isHidden()


def test_object_explorer_gets_more_room_than_the_brief(qtbot: Any, lab: OpenWindow) -> None:
    lab.desk.focus_view("explorer")
    QApplication.processEvents()
    brief, explorer = lab.desk.docks["brief"].height(), lab.desk.docks["explorer"].height()
    assert explorer / (brief + explorer) == pytest.approx(0.55, abs=0.04)


@pytest.mark.usefixtures("style_sheet")
def test_large_text_widens_the_brief(qapp: QApplication, lab: OpenWindow) -> None:
    lab.resize(1920, 1080)
    before = lab.desk.docks["brief"].width()
    lab.appearance.set_font_scale(2.0)
    QApplication.processEvents()
    line = lab.briefing.fontMetrics().height()
    assert lab.desk.docks["brief"].width() >= min(12 * line, 0.28 * lab.width())
    assert lab.desk.docks["brief"].width() > before
    assert find_child(lab.transport, SpeedField).font().pointSizeF() == pytest.approx(
        2.0 * theme.BASE_FONT_POINTS * 1.05
    )
    title = next(label for label in lab.history.findChildren(QLabel) if label.text() == "History")
    assert title.font().pointSizeF() == pytest.approx(2.0 * theme.BASE_FONT_POINTS * 1.8)


# --- recent files -------------------------------------------------------------------------------------------


def list_recent_actions(window: OpenWindow) -> list[QAction]:
    menu = next(m for m in window.menus["&Drill"].findChildren(QMenu) + window.findChildren(QMenu)
                if m.title() == "Recent &files")  # fmt: skip
    menu.aboutToShow.emit()
    return [action for action in menu.actions() if not action.isSeparator()]


def test_recent_files_are_listed(tmp_path: Path, window: OpenWindow) -> None:
    source = files("scenarios") / "lab.toml"
    for name in ("first.toml", "second.toml"):
        shutil.copy(str(source), tmp_path / name)
        window.open_file(str(tmp_path / name))
    assert [action.text().split("  ")[1] for action in list_recent_actions(window)[:2]] == [
        "second.toml",
        "first.toml",
    ]
    window.show_home()
    list_recent_actions(window)[1].trigger()
    assert window.pages.currentWidget() is window.brief
    (tmp_path / "second.toml").unlink()
    removed_action = next(action for action in list_recent_actions(window) if "second" in action.text())
    assert not removed_action.isEnabled()
    list_recent_actions(window)[-1].trigger()
    assert [action.text() for action in list_recent_actions(window)] == ["Clear this list"]


def test_a_file_that_is_not_a_scenario_is_reported_and_not_remembered(
    tmp_path: Path, window: OpenWindow
) -> None:
    file = tmp_path / "broken.toml"
    file.write_text("title = ")
    window.open_file(str(file))
    assert window.notice.text
    assert len(list_recent_actions(window)) == 1


@pytest.mark.slow
@pytest.mark.usefixtures("style_sheet")
def test_the_key_sheet_follows_changes_and_is_deleted_when_closed(qtbot: Any, lab: OpenWindow) -> None:
    lab.actions_by_name["help.sheet"].trigger()
    sheet = next(w for w in QApplication.topLevelWidgets() if isinstance(w, ShortcutSheet) and w.isVisible())
    lab.appearance.set_theme(theme.DARK_THEME)
    sheet.reject()
    qtbot.waitUntil(lambda: not shiboken6.isValid(sheet))
    lab.appearance.set_theme(theme.LIGHT_THEME)


def test_a_maximized_window_resizes_each_panel_and_restores_it(lab: OpenWindow) -> None:
    docks = {name: lab.desk.docks[name] for name in ("brief", "console", "charts")}
    QApplication.processEvents()
    before = {name: (dock.width(), dock.height()) for name, dock in docks.items()}
    old = lab.desk.size()
    lab.resize(1920, 1080)
    QApplication.processEvents()
    wide, high = lab.desk.width() / old.width(), lab.desk.height() / old.height()
    assert docks["charts"].width() == pytest.approx(wide * before["charts"][0], rel=0.05)
    assert docks["brief"].width() == pytest.approx(wide * before["brief"][0], rel=0.05)
    assert docks["console"].height() == pytest.approx(high * before["console"][1], rel=0.05)
    lab.resize(1366, 768)
    QApplication.processEvents()
    assert docks["charts"].width() == pytest.approx(before["charts"][0], abs=4)
    assert docks["console"].height() == pytest.approx(before["console"][1], abs=4)


@pytest.mark.slow
@pytest.mark.usefixtures("style_sheet")
def test_with_the_largest_text_the_window_fits_a_small_screen(
    qapp: QApplication, lab: OpenWindow, hands: WindowUser
) -> None:
    lab.appearance.set_font_scale(2.0)
    qapp.processEvents()
    lab.resize(1366, 768)
    qapp.processEvents()
    assert (lab.width(), lab.height()) == (1366, 768)
    buttons = [
        *lab.desk_page.findChildren(QToolButton, options=Qt.FindChildOption.FindDirectChildrenOnly),
        *lab.transport.findChildren(QToolButton),
        *lab.topology.findChildren(QToolButton),
    ]
    assert len(buttons) > 8
    for button in (*buttons, lab.input_line):
        corner = button.mapTo(lab, button.rect().bottomRight())
        assert not button.isVisible() or lab.rect().contains(corner), button
    hands.click_widget(next(b for b in lab.findChildren(QToolButton) if b.text() == "End drill"))
    hands.confirm_action()
    assert lab.session.drill is not None
    assert lab.session.drill.finished


def test_content_without_room_in_a_panel_can_be_scrolled(qapp: QApplication, lab: OpenWindow) -> None:
    lab.resize(800, 500)
    qapp.processEvents()
    area = lab.desk.docks["charts"].widget()
    assert isinstance(area, QScrollArea)
    lab.charts.setMinimumWidth(2 * area.width())
    qapp.processEvents()
    assert area.width() < lab.charts.width()
    assert area.horizontalScrollBar().maximum() > 0


@pytest.mark.qt_log_ignore("This plugin does not support")
@pytest.mark.usefixtures("style_sheet")
@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_no_window_shrinks_to_an_empty_frame(
    qapp: QApplication, lab: OpenWindow, monkeypatch: pytest.MonkeyPatch, scale: float
) -> None:
    """No minimum size exceeds a screen of 1024 × 600 pixels either."""
    small, bar = QSize(1024, 600), lab.style().pixelMetric(QStyle.PixelMetric.PM_TitleBarHeight, None, lab)
    monkeypatch.setattr(
        scroll_container, "compute_available_size", lambda _: QSize(small.width(), small.height() - bar)
    )
    lab.appearance.set_font_scale(scale)
    qapp.sendEvent(lab, QEvent(QEvent.Type.FontChange))  # The window has been created on the real screen.
    lab.resize(10, 10)
    line = lab.fontMetrics().height()
    minimum_size = QSize(48 * line, 28 * line).boundedTo(QSize(1000, 540))
    assert lab.size() == minimum_size
    assert minimum_size.width() >= 700, "menus and pages have room"
    for action in lab.menuBar().actions():
        assert lab.menuBar().rect().contains(lab.menuBar().actionGeometry(action))
    dock = lab.desk.docks["error_log"]
    dock.setFloating(True)
    dock.resize(10, 10)
    assert dock.width() >= min(1000, 20 * line)
    assert dock.height() >= min(540, 10 * line)
    dock.setFloating(False)
    assert dock.minimumWidth() < 10 * line, "beside others it is as small as the person likes"


@pytest.mark.slow
@pytest.mark.usefixtures("style_sheet")
def test_with_large_text_on_a_small_screen_no_page_scrolls_sideways(
    qapp: QApplication, lab: OpenWindow
) -> None:
    """Timeline, curves and buttons move below the widgets that are next to them on a wide screen."""

    def measure_horizontal_scroll(size: tuple[int, int], scale: float) -> int:
        lab.appearance.set_font_scale(scale)
        lab.resize(*size)
        for _ in range(4):
            qapp.processEvents()
        return max(
            area.horizontalScrollBar().maximum()
            for area in lab.findChildren(ScrollContainer)
            if area.isVisible() and area.width() == lab.width()
        )

    assert measure_horizontal_scroll((1024, 768), 2.0) == 0
    assert lab.timeline.y() > lab.transport.y(), "the time line has a row of its own"
    assert measure_horizontal_scroll((1366, 768), 1.0) == 0
    assert lab.timeline.x() > lab.transport.x(), "it stands beside the clock"
    lab.tools.show_planner()
    planner = lab.tools.planner
    assert measure_horizontal_scroll((1024, 768), 2.0) == 0
    assert planner.curves.mapTo(planner, QPoint()).x() < planner.controls.width()
    assert measure_horizontal_scroll((1366, 768), 1.0) == 0
    assert planner.curves.mapTo(planner, QPoint()).x() > planner.controls.width()


def test_a_screen_reader_hears_clock_and_speed(lab: OpenWindow) -> None:
    lab.session.set_speed(10.0)
    lab.session.advance_one_tick()
    spoken_names = [label.accessibleName() for label in lab.transport.findChildren(QLabel)]
    assert "Simulated time 0:00" in spoken_names
    fields = {field.accessibleName(): field.text() for field in lab.transport.findChildren(QLineEdit)}
    assert fields["Speed"] == "10×"


@pytest.mark.slow
@pytest.mark.usefixtures("style_sheet")
def test_choosing_a_language_says_when_it_changes(lab: OpenWindow) -> None:
    lab.appearance.set_language("de")
    assert "next start" in lab.notice.text


def test_a_theme_is_chosen_on_any_page(qapp: QApplication, lab: OpenWindow) -> None:
    """The program crashed if a plot was rebuilt while Qt was applying a style."""
    choices, widgets_seen = itertools.cycle((theme.DARK_THEME, theme.LIGHT_THEME)), list[QWidget]()
    for go in (
        lambda: None,  # while the desk is shown
        lab.show_home,
        lab.show_history,
        lab.progress.show_progress,
        lab.tools.show_planner,
        lab.tools.show_fidelity,
        lab.editing.show_editor,
    ):
        go()
        shown_page = lab.pages.currentWidget()
        assert shown_page is not None
        widgets_seen.append(shown_page)
        lab.appearance.set_theme(next(choices))
        qapp.processEvents()
        assert shown_page.palette().window().color() == theme.get_theme_tokens(qapp.palette()).window
    assert len(set(widgets_seen)) == len(widgets_seen)
    theme.apply_theme_choice(qapp, theme.LIGHT_THEME)


@pytest.mark.slow
@pytest.mark.usefixtures("style_sheet")
def test_enlarged_text_grows_everywhere(qapp: QApplication, lab: OpenWindow) -> None:
    """The test checks the painted size, because panel titles and SQL windows used to keep their first text
    size.
    """
    lab.console.open_query("SERVER_A", "SELECT name FROM sys.databases")
    lab.desk.focus_view("console")
    qapp.processEvents()

    def measure_font_sizes() -> dict[str, float]:
        wanted = {"SELECT", "Charts", "Brief", "2 min"}
        return {text.content: text.size_px for text in painted.list_texts(lab) if text.content in wanted}

    before = measure_font_sizes()
    assert len(before) == 4
    lab.appearance.set_font_scale(2.0)
    qapp.processEvents()
    for words, size_px in measure_font_sizes().items():
        assert size_px == pytest.approx(2.0 * before[words], rel=0.1), words
    lab.appearance.set_font_scale(1.0)
    qapp.processEvents()
    assert measure_font_sizes() == before


@pytest.mark.usefixtures("style_sheet")
def test_tab_bars_follow_each_change_of_the_text_size(qapp: QApplication, lab: OpenWindow) -> None:
    for scale in (2.0, 1.0, 1.5, 1.0):
        lab.appearance.set_font_scale(scale)
        qapp.processEvents()
        bars = lab.findChildren(QTabBar)
        assert len(bars) > 3
        expected = pytest.approx(scale * theme.BASE_FONT_POINTS, rel=0.01)
        assert [bar.font().pointSizeF() for bar in bars] == [expected] * len(bars)


@pytest.mark.slow
def test_a_narrow_desk_has_two_columns_and_restores_the_others(qapp: QApplication, lab: OpenWindow) -> None:
    def process_events() -> None:
        for _ in range(3):
            qapp.processEvents()

    docks = lab.desk.docks
    docks["charts"].close()
    docks["explorer"].show()
    process_events()
    wide = {name: not dock.isHidden() for name, dock in docks.items()}
    lab.appearance.set_font_scale(2.0)
    process_events()
    assert lab.desk.narrow
    visible_docks = {dock for dock in docks.values() if not dock.isHidden()}
    assert docks["charts"] in visible_docks
    assert {docks["brief"], *lab.desk.tabifiedDockWidgets(docks["brief"])} >= visible_docks
    assert docks["brief"].x() > 0  # A dock behind another tab has a negative x coordinate.
    assert 0.45 * lab.width() < lab.topology.width() < 0.6 * lab.width()
    lab.desk.focus_view("console")
    process_events()
    assert docks["console"].height() > 0.6 * lab.desk.height()
    docks["timing"].close()
    lab.appearance.set_font_scale(1.0)
    process_events()
    assert not lab.desk.narrow
    assert {name: not dock.isHidden() for name, dock in docks.items()} == wide
    assert not lab.desk.tabifiedDockWidgets(docks["brief"])
    lab.appearance.set_font_scale(2.0)
    process_events()
    assert docks["timing"].isHidden()
    lab.appearance.reset_layout()
    assert not docks["timing"].isHidden()


@pytest.mark.slow
def test_a_narrow_layout_is_restored_at_the_next_start(
    qtbot: Any, qapp: QApplication, lab: OpenWindow, profile: Any, store: WindowSettings
) -> None:
    lab.appearance.set_font_scale(2.0)
    qapp.processEvents()
    lab.desk.docks["timing"].close()
    lab.close()
    second_window = show_window(qtbot, profile, store)
    second_window.select_drill("lab")
    second_window.brief.start_wanted.emit("lab")
    qapp.processEvents()
    assert second_window.desk.narrow
    assert second_window.desk.docks["timing"].isHidden()
    assert not second_window.desk.docks["events"].isHidden()
    second_window.appearance.set_font_scale(1.0)
    qapp.processEvents()
    assert not second_window.desk.docks["timing"].isHidden()


@pytest.mark.slow
@pytest.mark.usefixtures("style_sheet")
def test_presenting_keeps_the_size_of_every_panel(qapp: QApplication, lab: OpenWindow) -> None:
    """The program resizes the window after it restores the layout. This used to scale the panels each time."""

    def measure_panel_sizes() -> dict[str, tuple[int, int]]:
        for _ in range(5):
            qapp.processEvents()
        return {name: (dock.width(), dock.height()) for name, dock in lab.desk.docks.items() if dock.x() >= 0}

    before = measure_panel_sizes()
    for _ in range(2):
        lab.presenting.toggle()
        assert measure_panel_sizes() != before
        lab.presenting.toggle()
        assert measure_panel_sizes() == before


@pytest.mark.qt_log_ignore("does not support raise", extend=True)
def test_a_floating_panel_comes_back_on_reset(qapp: QApplication, lab: OpenWindow) -> None:
    lab.desk.docks["charts"].setFloating(True)
    # The position is that of a screen that is no longer connected.
    lab.desk.docks["charts"].move(9_000, 9_000)
    lab.appearance.set_layout(AUTHOR_PROFILE)
    lab.appearance.set_layout(LEARNER_PROFILE)
    qapp.processEvents()
    lab.appearance.reset_layout()
    qapp.processEvents()
    assert not lab.desk.docks["charts"].isFloating()
    assert lab.desk.docks["charts"].isVisible()


def test_no_tab_bar_appears_without_a_panel(qtbot: Any, hands: WindowUser) -> None:
    """Qt sometimes leaves an empty tab bar after it restores a layout. The test adds such a tab bar."""
    window = hands.window
    window.select_drill("lab")
    window.brief.start_wanted.emit("lab")
    left = QTabBar(window.desk)
    left.addTab("Timing")
    left.setGeometry(600, 350, 300, 27)
    left.show()
    window.desk.focus_view("table")
    window.resize(1300, 760)
    qtbot.waitUntil(lambda: not window.desk.rect().intersects(left.geometry()))
    tab_bars = [
        bar for bar in window.desk.findChildren(QTabBar) if bar.parent() is window.desk and bar.count() > 1
    ]
    panels = {dock.geometry().topLeft() for dock in window.desk.docks.values() if dock.isVisible()}
    assert any(bar.geometry().bottomLeft() + QPoint(0, 1) in panels for bar in tab_bars)


def test_full_screen_and_back_keeps_the_layout(qapp: QApplication, lab: OpenWindow) -> None:
    """Sizes are equal to the pixel unless the user moved panels in full screen."""

    def get_dock_geometries() -> dict[str, QRect]:
        return {name: dock.geometry() for name, dock in lab.desk.docks.items() if dock.isVisible()}

    lab.resize(1366, 768)
    qapp.processEvents()
    lab.desk.resizeDocks([lab.desk.docks["charts"]], [417], Qt.Orientation.Horizontal)
    lab.desk.resizeDocks([lab.desk.docks["console"]], [233], Qt.Orientation.Vertical)
    qapp.processEvents()
    before = get_dock_geometries()
    toggle = lab.actions_by_name["view.full_screen"].trigger
    toggle()
    qapp.processEvents()
    assert get_dock_geometries() != before
    toggle()
    qapp.processEvents()
    assert get_dock_geometries() == before
    toggle()
    qapp.processEvents()
    lab.full_screen.store_sizes()
    lab.desk.resizeDocks([lab.desk.docks["charts"]], [250], Qt.Orientation.Horizontal)
    qapp.processEvents()
    toggle()
    qapp.processEvents()
    assert get_dock_geometries() != before


def _measure_lightness(button: QAbstractButton) -> list[int]:
    """Return the lightness of each opaque pixel of the button's icon."""
    image = button.icon().pixmap(32, 32).toImage()
    pixels = (image.pixelColor(x, y) for x in range(image.width()) for y in range(image.height()))
    return [color.lightness() for color in pixels if color.alpha() > 200]


@pytest.mark.slow
@pytest.mark.usefixtures("style_sheet")
@pytest.mark.parametrize(
    "choices", [(theme.LIGHT_THEME, theme.DARK_THEME), (theme.HIGH_CONTRAST_THEME, theme.LIGHT_THEME)]
)
def test_every_icon_stays_visible_after_a_theme_change(
    qapp: QApplication, lab: OpenWindow, choices: tuple[str, str]
) -> None:
    for choice in choices:
        lab.appearance.set_theme(choice)
        QApplication.processEvents()
    ground = qapp.palette().window().color().lightness()
    hidden = [
        button.accessibleName() or button.toolTip() or button.text()
        for button in lab.desk_page.findChildren(QAbstractButton)
        if button.isVisible()
        and button.property("primary") is None
        and (lightness_values := _measure_lightness(button))
        and max(abs(lightness - ground) for lightness in lightness_values) < 60
    ]
    assert hidden == []


CONSOLE_PX: Final = 222
"""Measured height of the SQL windows on a screen of 768 lines with a title bar."""


@pytest.mark.usefixtures("style_sheet")
def test_results_fit_below_a_query_on_a_small_screen(qtbot: Any, lab: OpenWindow) -> None:
    window = lab.console.front_window
    assert window is not None
    window.editor.setPlainText("SELECT 1")
    qtbot.keyClick(window.editor, Qt.Key.Key_F5)
    qtbot.waitUntil(lambda: window.results.isVisible())
    assert lab.console.minimumSizeHint().height() <= CONSOLE_PX


@pytest.mark.slow
@pytest.mark.usefixtures("style_sheet")
def test_changing_the_theme_is_cheaper_than_replacing_the_sheet(qapp: QApplication, lab: OpenWindow) -> None:
    """The measured time includes icons and plots. A replaced style sheet makes Qt polish every widget several
    times.
    """

    def measure_cpu_s(change: Callable[[], object]) -> float:
        before = time.process_time()
        change()
        return time.process_time() - before

    lab.appearance.set_theme(theme.DARK_THEME)
    override_s = measure_cpu_s(lambda: qapp.setStyleSheet(theme.build_style_sheet(theme.build_light_theme())))
    ours = measure_cpu_s(lambda: lab.appearance.set_theme(theme.LIGHT_THEME))
    assert ours < override_s


@pytest.mark.slow
@pytest.mark.usefixtures("style_sheet")
def test_new_tabs_get_the_current_text_size(lab: OpenWindow) -> None:
    """Text size and layout change at the same time, as when presenter mode starts."""
    lab.resize(1366, 768)
    QApplication.processEvents()
    lab.appearance.set_layout(PRESENTER_PROFILE)
    lab.appearance.set_font_scale(1.5)
    QApplication.processEvents()
    bars = lab.desk.findChildren(QTabBar, options=Qt.FindChildOption.FindDirectChildrenOnly)
    assert {bar.font().pointSizeF() for bar in bars if bar.count() > 1} == {lab.font().pointSizeF()}
