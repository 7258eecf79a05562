"""Tests of painted text on the desk and the start page: contrast of 4.5:1 in each theme, and no clipping."""

from __future__ import annotations

import itertools

import pytest
from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QMenu

from app.views.scenario_picker import StartPageView
from app.widgets import theme
from tests import painted
from tests.app.main_window.conftest import WindowUser
from tests.cases import sample_cases
from tests.open_window import OpenWindow


def process_events() -> None:
    for _ in range(4):
        QApplication.processEvents()
    for _ in range(10):
        QApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest.value)


pytestmark = pytest.mark.usefixtures("style_sheet")


@pytest.fixture
def stage(hands: WindowUser, window: OpenWindow) -> OpenWindow:
    window.select_drill("automatic-failover")
    window.brief.start_wanted.emit("practice")
    hands.run_frames(70.0)
    query = window.console.open_query("SERVER_B")
    assert query is not None
    query.editor.setPlainText("SELECT name, state_desc FROM sys.databases -- all of them")
    window.console.tools["run"].trigger()
    hands.run_frames(1.0)
    return window


@pytest.mark.slow
def test_every_painted_text_is_readable(stage: OpenWindow) -> None:
    faint, seen_count = [], 0
    for choice in (theme.LIGHT_THEME, theme.DARK_THEME, theme.HIGH_CONTRAST_THEME):
        stage.appearance.set_theme(choice)
        for panel in ("timing", "events"):
            stage.desk.focus_view(panel)
            process_events()
            picture = stage.grab().toImage()
            for text in painted.list_texts(stage):
                seen_count += painted.measure_contrast(text, picture, stage) is not None
                ratio = painted.find_faint_contrast(text, picture, stage)
                if ratio is not None:
                    faint.append(f"{choice}: {text.content!r} {ratio:.1f}:1 in {text.location}")
    stage.appearance.set_theme(theme.LIGHT_THEME)
    assert seen_count > 500
    assert not faint


@pytest.mark.slow
def test_a_faint_text_is_detected(stage: OpenWindow) -> None:
    """The check reports a widget that paints unreadable text."""
    stage.notice.show_info("Nobody can read this")
    for label in stage.notice.findChildren(QLabel):
        label.setStyleSheet("color: #c8ccd2")
    process_events()
    picture = stage.grab().toImage()
    ratios = {t.content: painted.find_faint_contrast(t, picture, stage) for t in painted.list_texts(stage)}
    nobody_ratios = [ratio for words, ratio in ratios.items() if "Nobody" in words]
    assert nobody_ratios
    assert nobody_ratios[0] is not None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scale", "size"),
    sample_cases(4, itertools.product((2.0, 0.8), ((1024, 768), (1366, 768), (1920, 1080)))),
)
def test_start_page_and_brief_have_room_for_their_texts(
    window: OpenWindow, size: tuple[int, int], scale: float
) -> None:
    window.appearance.set_font_scale(scale)
    window.resize(*size)
    process_events()
    titles = [t for t in painted.list_texts(window) if isinstance(t.widget.parentWidget(), StartPageView)]
    # The placeholder of a field may be elided.
    titles = [t for t in titles if not isinstance(t.widget, QLineEdit)]
    faults = [
        f"{t.content!r} {painted.describe_clipping(t, window)}"
        for t in titles
        if painted.describe_clipping(t, window)
    ]
    window.select_drill("automatic-failover")
    process_events()
    texts_painted = [text for text in painted.list_texts(window) if not isinstance(text.widget, QLineEdit)]
    assert {"Back to the drills", "Start the clock"} <= {text.content for text in texts_painted}
    faults += [
        f"{t.content!r} {painted.describe_clipping(t, window)}"
        for t in texts_painted
        if painted.describe_clipping(t, window)
    ]
    faults += [
        f"{t.content!r} must be"
        for t in texts_painted
        if t.box.right() > window.width() and "Qt" not in type(t.widget).__name__
    ]
    assert not faults


def test_menus_fit_a_small_screen_with_larger_text(stage: OpenWindow) -> None:
    """Menus fit below the title bar and the menu bar. The language does not matter, since it changes only the width."""
    stage.appearance.set_font_scale(1.5)
    process_events()
    for menu in stage.menuBar().findChildren(QMenu):
        menu.aboutToShow.emit()
    heights = {menu.title(): menu.sizeHint().height() for menu in stage.menuBar().findChildren(QMenu)}
    assert "&Query" in heights
    assert not {title: height for title, height in heights.items() if height > 768 - 30 - 40}


def test_viewing_the_past_takes_only_its_strip_from_the_desk(stage: OpenWindow) -> None:
    """The strip contains wrapped text, which could make the page require more height than the window has."""
    stage.resize(1366, 768)
    stage.appearance.set_font_scale(1.5)
    process_events()
    before = stage.desk.height()
    stage.replay.show_time(24.0)
    process_events()
    assert stage.desk_page.height() <= stage.height()
    assert 0.5 * before < stage.desk.height() < before
