"""Tests of the selection of a time or range for all panels of the desk, by mouse and keys."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyqtgraph import GraphicsLayoutWidget
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QFileDialog, QMessageBox, QToolButton

from app.widgets import theme
from app.widgets.timeline_strip import TimelineStrip
from app.words import formatting
from tests import painted
from tests.app.main_window.conftest import WindowUser
from tests.cases import sample_cases
from tests.children import find_child
from tests.open_window import OpenWindow


@pytest.fixture
def desk(hands: WindowUser, window: OpenWindow) -> WindowUser:
    """Play two minutes of the lab with a failover."""
    window.select_drill("lab")
    window.brief.start_wanted.emit("lab")
    window.session.set_speed(20.0)
    hands.run_frames(30.0)
    window.session.apply_input("power-off SERVER_A")
    hands.run_frames(60.0)
    window.session.pause()
    for name in ("events", "error_log", "timing", "monitor"):
        window.desk.focus_view(name)
    return hands


def has_cursor(strip: TimelineStrip, t_s: float) -> bool:
    """Return whether a dashed line in the accent color is painted at *t_s*, from the lanes to the space above
    them.
    """
    image, accent = strip.grab().toImage(), theme.get_theme_tokens(strip.palette()).accent
    columns = range(round(strip.compute_x(t_s)) - 2, round(strip.compute_x(t_s)) + 3)

    def is_near(x: int, y: int) -> bool:
        color = image.pixelColor(x, y)
        return (
            abs(color.red() - accent.red())
            + abs(color.green() - accent.green())
            + abs(color.blue() - accent.blue())
            < 120
        )

    return any(
        sum(is_near(x, y) for y in range(image.height())) > strip.fontMetrics().height() / 2 for x in columns
    )


def list_times(window: OpenWindow, name: str) -> list[float]:
    return [row.t_s for row in window.desk.get_view(name).model.rows]


def drag_over_charts(qtbot: Any, window: OpenWindow, from_s: float, to_s: float) -> None:
    """Drag over the charts from *from_s* to *to_s*."""
    charts = window.charts
    box = charts.panels[0].plot.vb.sceneBoundingRect()
    low, high = charts.panels[0].plot.vb.viewRange()[0]
    places = []
    for t_s in (from_s, to_s):
        x = box.left() + (t_s - low) / (high - low) * box.width()
        places.append(find_child(charts, GraphicsLayoutWidget).mapFromScene(x, box.center().y()))
    viewport = find_child(charts, GraphicsLayoutWidget).viewport()
    qtbot.mousePress(viewport, Qt.MouseButton.LeftButton, pos=places[0])
    qtbot.mouseMove(viewport, QPoint(places[1].x() - 6, places[1].y()))
    qtbot.mouseMove(viewport, places[1])
    qtbot.mouseRelease(viewport, Qt.MouseButton.LeftButton, pos=places[1])


def test_a_row_of_the_log_moves_every_cursor(qtbot: Any, window: OpenWindow, desk: WindowUser) -> None:
    window.desk.focus_view("error_log")
    log = window.desk.get_view("error_log")
    log.show_server("SERVER_B")
    row = next(place for place, line in enumerate(log.model.rows) if line.t_s > 30.0)
    t_s = log.model.rows[row].t_s
    place = log.table.visualRect(log.model.index(row, 2)).center()
    qtbot.mouseClick(log.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert window.moments.time_s == t_s
    assert window.charts.scale.cursor_text == formatting.format_run_time(t_s, 1)
    assert has_cursor(window.timeline, t_s)
    events = window.desk.get_view("events")
    selected_row = events.model.rows[events.table.currentIndex().row()]
    assert selected_row.t_s <= t_s + 0.005
    next_rows = events.model.rows[events.table.currentIndex().row() + 1 :][:1]
    assert all(row.t_s > t_s for row in next_rows)
    assert window.timing.selected_row is not None


def test_a_range_dragged_over_the_charts_filters_every_view(
    qtbot: Any, window: OpenWindow, desk: WindowUser
) -> None:
    all_times = list_times(window, "events")
    drag_over_charts(qtbot, window, 20.0, 33.0)
    assert window.moments.span == (pytest.approx(20.0, abs=1.0), pytest.approx(33.0, abs=1.0))
    low, high = window.charts.panels[0].plot.vb.viewRange()[0]
    assert (low, high) == pytest.approx(window.moments.span)
    for name in ("events", "error_log"):
        assert all(low <= t_s <= high for t_s in list_times(window, name))
    assert 0 < len(list_times(window, "events")) < len(all_times)
    assert window.timing.model.rowCount() == 1
    window.moments.select_time_range((0.0, 20.0))
    assert window.timing.model.rowCount() == 0
    close_button = next(b for b in window.charts.findChildren(QToolButton) if "✕" in b.text())
    desk.click_widget(close_button)
    assert window.moments.span is None
    assert list_times(window, "events") == all_times
    assert window.timing.model.rowCount() == 1


def test_a_range_can_be_selected_by_keyboard(qtbot: Any, window: OpenWindow, desk: WindowUser) -> None:
    charts = window.charts
    charts.setFocus()
    for _ in range(5):
        qtbot.keyClick(charts, Qt.Key.Key_Left, Qt.KeyboardModifier.ShiftModifier)
    qtbot.keyClick(charts, Qt.Key.Key_Return)
    assert window.moments.span is not None
    assert window.moments.span[1] - window.moments.span[0] == pytest.approx(5.0)
    qtbot.keyClick(charts, Qt.Key.Key_Escape)
    assert window.moments.span is None
    assert window.moments.time_s is not None
    window.actions_by_name["time.all"].trigger()
    assert window.moments.time_s is None
    assert window.charts.scale.cursor_text == ""


def test_another_drill_starts_without_a_selection(window: OpenWindow, desk: WindowUser) -> None:
    window.moments.move_cursor(12.0)
    window.moments.select_time_range((1.0, 5.0))
    window.actions_by_name["drill.restart"].trigger()
    desk.confirm_action()
    assert (window.moments.time_s, window.moments.span) == (None, None)
    assert window.charts.panels[0].plot.vb.viewRange()[0] != [1.0, 5.0]


@pytest.mark.parametrize(
    ("ending", "first_bytes"), sample_cases(2, [("png", b"\x89PNG"), ("svg", b"<?xml"), ("csv", b"t_s,Send")])
)
def test_charts_are_saved(
    ending: str, first_bytes: bytes, tmp_path: Path, monkeypatch: Any, window: OpenWindow, desk: WindowUser
) -> None:
    file = tmp_path / f"charts.{ending}"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(file), ""))
    window.actions_by_name["view.save_charts"].trigger()
    assert file.read_bytes().startswith(first_bytes)
    if ending == "csv":
        lines = file.read_text().splitlines()
        assert len(lines[0].split(",")) == 1 + len(window.charts.panels)
        assert [float(line.split(",")[0]) for line in lines[1:4]] == [1.0, 2.0, 3.0]


def test_a_name_with_added_suffix_replaces_no_file_without_a_question(
    monkeypatch: Any, tmp_path: Path, window: OpenWindow, desk: WindowUser
) -> None:
    (tmp_path / "charts.svg").write_text("mine")
    chosen = str(tmp_path / "charts"), "Drawing (*.svg)"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: chosen)
    yes, no = QMessageBox.StandardButton.Yes, QMessageBox.StandardButton.No
    for answer in (no, yes):
        monkeypatch.setattr(QMessageBox, "question", lambda *_, answer=answer: answer)
        window.actions_by_name["view.save_charts"].trigger()
        assert ((tmp_path / "charts.svg").read_text() == "mine") is (answer == no)


@pytest.mark.slow
def test_an_unwritable_file_is_reported(
    monkeypatch: Any, tmp_path: Path, window: OpenWindow, desk: WindowUser
) -> None:
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / "no" / "c.csv"), ""))
    window.actions_by_name["view.save_charts"].trigger()
    assert "was not saved" in window.notice.text


@pytest.mark.slow
def test_states_are_drawn_as_lanes_and_spoken(window: OpenWindow, desk: WindowUser) -> None:
    state_words = [text.content for text in painted.list_texts(window.charts.states)]
    assert "SYNCHRONIZED" in state_words
    assert [part.split()[0] for part in window.charts.states.summary.split(", ")] == ["SERVER_A", "SERVER_B"]
    assert "SERVER_B DISCONNECTED" in window.charts.summary
