"""Tests of the timeline strip: positions of times, colors of lanes, hidden parts."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtWidgets import QApplication, QToolTip
from pytestqt.qtbot import QtBot

from app.view_models.run_timeline import MERGED_LINES_MAX, RunTimeline
from app.widgets import theme
from app.widgets.timeline_strip import LANE_NAMES, MARKER_STYLES, TimelineStrip, choose_time_step, draw_shape
from engine.drill.judging.report import WritingClients
from tests import painted

SEVERE_ERROR = {"severity": 16}
EVENTS: list[dict[str, Any]] = [
    {"t_s": 30.0, "kind": "fault", "text": "power-off SERVER_A", "verb": "power-off", "args": ["SERVER_A"]},
    {"t_s": 30.0, "kind": "availability", "text": "down", "database": "Sales", "serving": False},
    {"t_s": 60.0, "kind": "state", "text": "", "server": "SERVER_B", "database": "Sales", "new": "DISCONNECTED"},
    {"t_s": 60.0, "kind": "availability", "text": "up", "server": "SERVER_B", "database": "Sales", "serving": True},
    {"t_s": 70.0, "kind": "sql_done", "text": "ok", "server": "SERVER_B", "batch": "SELECT 1", "messages": []},
    {"t_s": 80.0, "kind": "sql_done", "text": "", "server": "SERVER_B", "batch": "ALTER", "messages": [SEVERE_ERROR]},
    {"t_s": 90.0, "kind": "fault", "text": "power-on SERVER_A", "verb": "power-on", "args": ["SERVER_A"]},
    {"t_s": 95.0, "kind": "goal", "text": "goal met", "news": "met"},
]  # fmt: skip


@pytest.fixture
def course() -> RunTimeline:
    timeline = RunTimeline(["Sales"], ["Sales"])
    timeline.add_events(EVENTS)
    return timeline


@pytest.fixture
def strip(qtbot: QtBot, qapp: QApplication, course: RunTimeline) -> TimelineStrip:
    theme.apply_theme_choice(qapp, theme.LIGHT_THEME)
    strip = TimelineStrip()
    qtbot.addWidget(strip)
    strip.resize(800, 60)
    strip.show_timeline(course, 100.0, is_live=False)
    strip.show()
    return strip


def find_lanes(strip: TimelineStrip, now_s: float = 100.0) -> tuple[float, float]:
    """Return top and height of the lanes. The line at the current time extends 3 pixels beyond them at both
    ends.
    """
    image, color = strip.grab().toImage(), theme.get_theme_tokens(strip.palette()).text
    columns = range(round(strip.compute_x(now_s)) - 2, min(image.width(), round(strip.compute_x(now_s)) + 3))
    rows = max(
        ([y for y in range(image.height()) if is_near(image.pixelColor(x, y), color)] for x in columns),
        key=len,
    )
    return rows[0] + 3.0, rows[-1] - rows[0] - 6.0


def is_near(color: QColor, other: QColor) -> bool:
    parts = (color.red() - other.red(), color.green() - other.green(), color.blue() - other.blue())
    return sum(map(abs, parts)) < 150


def has_color(strip: TimelineStrip, t_s: float, lower: bool, color: Any) -> bool:
    """Return whether the lane has *color* at *t_s*. Several pixels are checked, because patterns leave gaps."""
    image = strip.grab().toImage()
    top, height = find_lanes(strip)
    y = top + height * (0.75 if lower else 0.22)
    x = strip.compute_x(t_s)
    return any(
        image.pixelColor(round(x + dx), round(y + dy)) == color
        for dx in range(-5, 6)
        for dy in (-2, -1, 0, 1, 2)
    )


def test_lanes_show_service_and_protection(strip: TimelineStrip) -> None:
    colors = theme.build_light_theme()
    assert has_color(strip, 15.0, False, colors.ok)
    assert has_color(strip, 15.0, True, colors.info)
    assert has_color(strip, 45.0, False, colors.bad)
    assert not has_color(strip, 45.0, False, colors.ok)
    assert has_color(strip, 85.0, False, colors.ok)
    assert has_color(strip, 85.0, True, colors.warn)
    assert not has_color(strip, 85.0, True, colors.info)


def test_a_marker_is_hit_within_its_neighborhood(qtbot: QtBot, strip: TimelineStrip) -> None:
    marker = strip.find_marker_near(strip.compute_x(70.0) + 5)
    assert marker is not None
    assert (marker.kind, marker.text) == ("sql", "SERVER_B: SELECT 1")
    with qtbot.waitSignal(strip.time_clicked, timeout=100) as blocker:
        qtbot.mouseClick(strip, Qt.MouseButton.LeftButton, pos=QPoint(round(strip.compute_x(70.0)) + 5, 30))
    assert blocker.args == [70.0]
    with qtbot.waitSignal(strip.time_clicked, timeout=100) as blocker:
        qtbot.mouseClick(strip, Qt.MouseButton.LeftButton, pos=QPoint(round(strip.compute_x(50.0)), 30))
    assert blocker.args[0] == pytest.approx(50.0, abs=0.2)


def test_with_hidden_truth_only_own_actions_are_shown(strip: TimelineStrip, course: RunTimeline) -> None:
    kinds = [marker.kind for marker in strip.markers]
    assert [kind for kind in kinds if kind != "transition"] == ["fault", "sql", "error", "repair", "reached"]
    assert "transition" in kinds
    strip.show_timeline(course, 100.0, is_live=False, shows_truth=False)
    assert [marker.kind for marker in strip.markers] == ["sql", "error", "repair"]
    assert not has_color(strip, 45.0, False, theme.build_light_theme().bad)
    assert not has_color(strip, 15.0, False, theme.build_light_theme().ok)


def test_a_live_strip_grows_with_the_run(strip: TimelineStrip, course: RunTimeline) -> None:
    strip.show_timeline(course, 10.0)
    assert strip.span_s == 120.0
    strip.show_current_time(500.0)
    assert strip.span_s == 600.0
    strip.show_timeline(course, 10.0, length_s=90.0)
    assert strip.span_s == 90.0


def test_every_kind_of_marker_has_shape_and_text(strip: TimelineStrip) -> None:
    for tone, shape in {entry[:2] for entry in MARKER_STYLES.values()}:
        assert hasattr(theme.build_light_theme(), tone)
        image = QImage(20, 20, QImage.Format.Format_ARGB32)
        image.fill(0)
        painter = QPainter(image)
        painter.setBrush(Qt.GlobalColor.black)
        draw_shape(painter, shape, QPointF(10, 10), 7.0)
        painter.end()
        assert image.pixelColor(9, 9).alpha() > 0, shape


@pytest.mark.parametrize(
    ("span_s", "marks", "step"), [(120.0, 8, 15.0), (120.0, 3, 60.0), (7200.0, 8, 900.0)]
)
def test_axis_labels_are_round_times(span_s: float, marks: int, step: float) -> None:
    assert choose_time_step(span_s, marks) == step


def test_a_day_of_transitions_is_drawn_as_some_thousand_marks() -> None:
    """Transitions within one pixel share a mark. Those of the first hour have individual descriptions."""
    timeline = RunTimeline(["A", "B"], [])
    timeline.add_events(
        {"t_s": t_s + n / 4, "kind": "state", "text": "changes", "server": "S", "database": name}
        for t_s in range(0, 86_400, 4)
        for n, name in enumerate("AB")
    )
    times_s = [marker.t_s for marker in timeline.markers]
    assert len([t_s for t_s in times_s if t_s < 3600]) == 1_800
    assert len(times_s) < 12_000
    assert times_s == sorted(times_s)
    assert timeline.markers[-2].text.count("\n") == MERGED_LINES_MAX


@pytest.mark.qt_log_ignore(
    "This plugin does not support"
)  # The offscreen plugin logs this warning for tooltips.
def test_keys_step_through_markers_with_descriptions(qtbot: QtBot, strip: TimelineStrip) -> None:
    last = len(strip.markers) - 1
    keys = (Qt.Key.Key_Left, Qt.Key.Key_Left, Qt.Key.Key_Home, Qt.Key.Key_Right, Qt.Key.Key_End)
    for key, index in zip(keys, (last, last - 1, 0, 1, last), strict=True):
        qtbot.keyClick(strip, key)
        assert strip.markers[index].text.partition(" ")[0] in strip.accessibleDescription()
        assert QToolTip.text()
        with qtbot.waitSignal(strip.time_clicked) as marker_blocker:
            qtbot.keyClick(strip, Qt.Key.Key_Return)
        assert marker_blocker.args == [strip.markers[index].t_s]
    with qtbot.waitSignal(strip.time_clicked) as blocker:
        qtbot.keyClick(strip, Qt.Key.Key_Return)
    assert blocker.args == [strip.markers[-1].t_s]
    QToolTip.hideText()


def test_database_and_clients_have_their_own_lanes(qtbot: QtBot, qapp: QApplication) -> None:
    course = RunTimeline(["Sales"], ["Sales"], clients={"Sales": WritingClients(("APP",), "SERVER_A")})
    course.add_events(
        [
            {"t_s": 30.0, "kind": "client", "text": "", "client": "APP", "what": "cut", "server": "SERVER_A"},
            {"t_s": 60.0, "kind": "client", "text": "", "client": "APP", "what": "connected", "server": "SERVER_A"},
        ]
    )  # fmt: skip
    strip = TimelineStrip(is_on_page=True)
    qtbot.addWidget(strip)
    strip.resize(800, 140)
    strip.show_timeline(course, 100.0, is_live=False)
    strip.show()
    names = [text.content for text in painted.list_texts(strip)]
    assert [lane for lane in LANE_NAMES if lane in names] == list(LANE_NAMES)
    image, (top, height) = strip.grab().toImage(), find_lanes(strip)
    ok = theme.get_theme_tokens(qapp.palette()).ok
    places = [top + height * share for share in (0.16, 0.5)]
    working = [image.pixelColor(round(strip.compute_x(45.0)), round(y)) == ok for y in places]
    assert working == [True, False], "the database is online while its clients are not connected"


def test_the_timeline_reserves_room_for_the_times_before_a_lane_is_added(
    qtbot: QtBot, qapp: QApplication
) -> None:
    """The layout requests the height before a run with clients adds a lane."""
    strip = TimelineStrip()
    qtbot.addWidget(strip)
    height = strip.sizeHint().height()
    course = RunTimeline(["Sales"], ["Sales"], clients={"Sales": WritingClients(("APP",), "SERVER_A")})
    strip.show_timeline(course, 100.0, is_live=False)
    assert strip.sizeHint().height() == height
    strip.resize(800, height)
    strip.show()
    assert sum(find_lanes(strip)) + 0.9 * strip.fontMetrics().height() <= height
