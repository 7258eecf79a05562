"""Tests of charts: correct counters and times, stable axes, marks, and the cursor."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pyqtgraph import GraphicsLayoutWidget
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QAction, QImage
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QApplication, QButtonGroup, QComboBox, QMenu, QScrollArea, QWidget

from app.view_models.series import choose_time_step_s
from app.views.charts import ChartView
from app.views.charts.lane import StateHistory
from app.views.charts.panel import ChartValueAxis, compute_axis_top
from app.views.charts.toolbar import ChartToolbar
from app.widgets.axes import TimeAxis
from app.words.formatting import COPY_COUNTERS, COUNTERS, DEFAULT_COUNTERS, DEFAULT_COUNTERS_WITHOUT_COPY
from engine.drill.running.drill import Drill
from engine.drill.running.modes import PERMISSIONS_BY_MODE, DrillMode
from engine.events import Event
from engine.flow.kernel import SOURCE_COUNTERS, STREAM_COUNTERS
from engine.model import Availability
from tests.children import find_child
from tests.events import build_event
from tests.shipped_scenarios import load_shipped_scenario


def append_samples(run: Any, seconds: int, log: int = 0, **values: Any) -> None:
    """Append *seconds* samples, one per second; *values* maps counters to numbers or arrays."""
    rooms = run.samples.reserve_entries(seconds, log + 1, log + 1)
    for room, names in zip(rooms, (SOURCE_COUNTERS, STREAM_COUNTERS), strict=True):
        room[:seconds] = 0.0
        for name in set(values).intersection(names):
            room[:seconds, log, names.index(name)] = values[name]
    before = run.samples.count
    run.samples.record_entries(100 * before, 100 * (before + seconds))
    run.logs += [{"Sales": (log, log)}] * seconds
    run.world.tick = 100 * run.samples.count


@pytest.fixture
def charts(qtbot: Any, run: Any) -> ChartView:
    run.world.availability["Sales"] = Availability(database="Sales")
    charts = ChartView()
    qtbot.addWidget(charts)
    charts.resize(600, 400)
    charts.show()
    append_samples(run, 60, send_queue_kb=np.arange(1.0, 61.0), transactions_per_s=241.0)
    charts.show_drill(run)
    return charts


def get_curve(charts: ChartView, name: str) -> tuple[Any, Any]:
    panel = next(panel for panel in charts.panels if panel.counter.name == name)
    x, y = panel.curve.getData()
    return x, y


def find_pixel(charts: ChartView, t_s: float) -> float:
    """Return the x coordinate of *t_s* in the lanes, computed from the plot."""
    view, plot = find_child(charts, GraphicsLayoutWidget), charts.panels[0].plot.vb
    place = view.mapFromScene(plot.mapViewToScene(QPointF(t_s, 0.0)))
    return float(view.mapTo(charts, place).x() - charts.lane.x())


def find_painted_columns(lane: QWidget) -> tuple[int, int]:
    """Return the first and the last painted pixel column at the upper edge of *lane*, above all letters.

    A painted pixel has another color than the last column.
    """
    image = lane.grab().toImage()
    ground = image.pixelColor(image.width() - 1, 1)
    columns = [x for x in range(image.width()) if image.pixelColor(x, 2) != ground]
    return columns[0], columns[-1]


def build_fault_event(t_s: float, text: str = "power-off SERVER_A", verb: str = "power-off") -> Event:
    return build_event(round(100 * t_s), "fault", "SERVER_A", None, text, verb=verb)


def test_the_four_main_counters_are_shown_and_grow(charts: ChartView, run: Any) -> None:
    assert [panel.counter.title for panel in charts.panels] == [
        "Send queue", "Redo queue", "Transactions", "Commit delay",
    ]  # fmt: skip
    x, y = get_curve(charts, "send_queue_kb")
    assert x.tolist() == list(range(1, 61))
    assert y.tolist() == list(range(1, 61))
    append_samples(run, 5, send_queue_kb=7.0)
    charts.show_world(run.world)
    assert get_curve(charts, "send_queue_kb")[0][-1] == 65.0


@pytest.mark.parametrize("padding_px", [0, 5])
def test_the_database_choice_gets_its_own_row_without_room(
    charts: ChartView, run: Any, padding_px: int
) -> None:
    charts.setStyleSheet(f"QToolButton {{ padding: {padding_px}px }}")
    run.world.availability["Orders"] = Availability(database="Orders")
    charts.show_drill(run)
    tools = find_child(charts, ChartToolbar)
    tops = []
    for lines in (40, 20, 40):  # A width of 20 line heights has no room for both widgets side by side.
        charts.resize(lines * charts.fontMetrics().height(), 400)
        QApplication.processEvents()
        tops.append(tools.geometry().top() >= find_child(charts, QComboBox).geometry().bottom())
    assert tops == [False, True, False]


def test_nothing_is_drawn_without_a_change(charts: ChartView, run: Any, monkeypatch: Any) -> None:
    draws: list[float] = []
    charts.show_world(run.world)
    monkeypatch.setattr(charts, "_draw_lanes", draws.append)
    for _ in range(50):
        charts.show_world(run.world)
    assert draws == []
    append_samples(run, 1)
    charts.show_world(run.world)
    assert len(draws) == 1


def test_plots_take_turns_in_frames_and_none_is_skipped(charts: ChartView, run: Any) -> None:
    def list_curve_ends_s() -> list[float]:
        return [float(panel.curve.getData()[0][-1]) for panel in charts.panels]

    append_samples(run, 5, send_queue_kb=7.0)
    parts = charts.show_parts(run.world)
    next(parts)
    assert list_curve_ends_s() == [65.0, 65.0, 60.0, 60.0]
    charts.show_world(run.world)  # Draw all parts, as during a pause.
    assert list_curve_ends_s() == [65.0] * 4
    assert [len(list(charts.show_parts(run.world))) for _ in range(2)] == [0, 0]
    append_samples(run, 5, send_queue_kb=7.0)
    assert len(list(charts.show_parts(run.world))) == 3


def test_the_last_two_minutes_scroll_with_time(qtbot: Any, charts: ChartView, run: Any) -> None:
    append_samples(run, 540, send_queue_kb=5.0)
    charts.show_world(run.world)
    low, high = charts.panels[0].plot.vb.viewRange()[0]
    assert high - low == pytest.approx(120.0)
    assert 600.0 <= high < 602.0
    charts.grab()  # painting applies the new span
    for panel in charts.panels:  # Qt does not draw a curve if its bounds are outside the view.
        assert panel.curve.boundingRect().left() == pytest.approx(low)
    for button, length in (("10 min", 600.0), ("1 h", 3600.0)):
        next(b for b in find_child(charts, QButtonGroup).buttons() if b.text() == button).click()
        low, high = charts.panels[0].plot.vb.viewRange()[0]
        assert high - low == pytest.approx(length)
    next(b for b in find_child(charts, QButtonGroup).buttons() if b.text() == "All").click()
    assert charts.panels[0].plot.vb.viewRange()[0][0] == 0.0
    assert charts.panels[0].plot.vb.viewRange()[0][1] >= 600.0


def test_all_plots_share_the_time_axis(charts: ChartView, run: Any) -> None:
    charts.show_last_seconds(None)
    ranges = {tuple(panel.plot.vb.viewRange()[0]) for panel in charts.panels}
    assert len(ranges) == 1
    widths = {round(panel.plot.vb.sceneBoundingRect().left()) for panel in charts.panels}
    assert len(widths) == 1


def test_a_spike_of_one_second_is_visible_in_an_hour(charts: ChartView, run: Any) -> None:
    queue = np.full(3500, 3.0)
    queue[1234] = 9000.0
    append_samples(run, 3500, send_queue_kb=queue)
    charts.show_last_seconds(3600.0)
    x, y = get_curve(charts, "send_queue_kb")
    assert y.max() == 9000.0
    assert len(x) < 1500


def test_the_cursor_value_is_shown_and_spoken(qtbot: Any, charts: ChartView, run: Any) -> None:
    times: list[float] = []
    charts.time_selected.connect(times.append)
    charts.show_time(30.0)
    assert times == []
    assert charts.panels[0].reading == "30 KB"
    assert "0:30" in charts.scale.cursor_text
    viewport = find_child(charts, GraphicsLayoutWidget).viewport()
    box = charts.panels[1].plot.vb.sceneBoundingRect()
    middle = find_child(charts, GraphicsLayoutWidget).mapFromScene(box.center())
    qtbot.mouseClick(viewport, Qt.MouseButton.LeftButton, pos=middle)
    assert times == [pytest.approx(60.0, abs=1.0)]
    qtbot.keyClick(charts, Qt.Key.Key_Left)
    assert times[-1] == pytest.approx(times[0] - 1.0)
    qtbot.keyClick(charts, Qt.Key.Key_Escape)
    assert charts.scale.cursor_text == ""
    assert charts.panels[0].reading == "60 KB"


def test_hovering_shows_values_without_selecting(qtbot: Any, charts: ChartView) -> None:
    times: list[float] = []
    charts.time_selected.connect(times.append)
    box = charts.panels[0].plot.vb.sceneBoundingRect()
    quarter = find_child(charts, GraphicsLayoutWidget).mapFromScene(box.topLeft()) + QPoint(
        round(box.width() / 4) + 1, 10
    )
    qtbot.mouseMove(find_child(charts, GraphicsLayoutWidget).viewport(), quarter)
    assert charts.panels[0].reading == "30 KB"
    assert times == []


def test_marks_belong_to_the_shown_database(charts: ChartView, run: Any) -> None:
    message: tuple[tuple[str, object], ...] = (("messages", []), ("batch", "SELECT 1"))
    charts.add_events(
        [build_event(1000, "sql_done", "SERVER_A", "Orders", "", **dict(message)), build_fault_event(20.0)]
    )
    charts.show_world(run.world)
    assert [mark.t_s for mark in charts.lane.find_markers_near(find_pixel(charts, 20.0))] == [20.0]
    assert charts.lane.find_markers_near(find_pixel(charts, 10.0)) == []


def test_a_click_on_a_mark_selects_its_time(qtbot: Any, charts: ChartView, run: Any) -> None:
    times: list[float] = []
    charts.time_selected.connect(times.append)
    charts.add_events([build_fault_event(41.25)])
    charts.show_world(run.world)
    place = QPoint(round(find_pixel(charts, 41.25)) + 2, charts.lane.height() - 8)
    qtbot.mouseClick(charts.lane, Qt.MouseButton.LeftButton, pos=place)
    assert times == [41.25]
    assert [mark.text for mark in charts.lane.find_markers_near(place.x())] == ["SERVER_A ▸ Power off"]


def test_downtime_is_shaded_and_spoken(charts: ChartView, run: Any) -> None:
    down = build_event(4000, "availability", None, "Sales", "", serving=False)
    online_event = build_event(4300, "availability", "SERVER_A", "Sales", "", serving=True)
    run.events += [down, online_event]
    charts.add_events([down, online_event])
    append_samples(run, 1)
    charts.show_world(run.world)
    assert [(s, e) for s, e, _ in charts.panels[0].background.shaded_spans] == [(40.0, 43.0)]
    assert "down 3 s" in charts.lane.summary


def test_another_time_shows_only_events_until_then(charts: ChartView, run: Any) -> None:
    charts.add_events([build_fault_event(41.25)])
    run.samples = run.samples.copy_beginning(30)
    del run.logs[30:]
    run.world.tick = 3000
    charts.show_drill(run)
    assert get_curve(charts, "send_queue_kb")[0][-1] == 30.0
    assert charts.lane.find_markers_near(find_pixel(charts, 41.25)) == []


def test_other_counters_can_be_selected(charts: ChartView, run: Any) -> None:
    append_samples(run, 1, log_used_kb=3000.0)
    action = next(a for a in find_child(charts, QMenu, "counters").actions() if a.data() == "log_used_kb")
    action.trigger()
    assert "log_used_kb" in [panel.counter.name for panel in charts.panels]
    assert get_curve(charts, "log_used_kb")[1][-1] == 3000.0
    assert not any(panel.plot.getAxis("bottom").isVisible() for panel in charts.panels)


def test_the_time_axis_stays_visible_while_scrolling(charts: ChartView) -> None:
    charts.show_counters(list(COUNTERS)[:12])
    assert find_child(charts, QScrollArea).verticalScrollBar().maximum() > 0
    bottom = charts.scale.mapTo(charts, QPoint(0, charts.scale.height()))
    assert bottom.y() <= charts.height()
    assert charts.scale.list_label_times_s() == [0.0, 30.0, 60.0, 90.0, 120.0]
    charts.show_time_range((40.0, 50.0))
    assert charts.scale.list_label_times_s()[0] == 40.0
    assert charts.scale.list_label_times_s()[-1] == 50.0


def test_lanes_appear_at_once_during_a_pause(
    charts: ChartView,
) -> None:
    charts.show_counters(list(COUNTERS)[:12])
    charts.show_time_range((20.0, 80.0))
    for _ in range(3):
        charts.grab()
        QApplication.processEvents()
    low, high = charts.panels[0].plot.vb.viewRange()[0]
    left, right = (find_pixel(charts, t_s) for t_s in (low, high))
    assert left > charts.fontMetrics().horizontalAdvance("availability")
    for lane in (charts.lane, charts.states):
        x0, x1 = find_painted_columns(lane)
        assert x0 == pytest.approx(left, abs=2.0)
        assert x1 == pytest.approx(find_pixel(charts, 60.0), abs=2.0)
        assert x1 <= right


def test_a_picture_names_its_database_and_both_formats_agree(charts: ChartView, tmp_path: Path) -> None:
    for ending in ("png", "svg"):
        charts.export_charts(str(tmp_path / f"charts.{ending}"))
    whole_image = QImage(str(tmp_path / "charts.png"))
    drawing = QSvgRenderer(str(tmp_path / "charts.svg"))
    text = (tmp_path / "charts.svg").read_text(encoding="utf-8")
    assert ">Sales   0:00.0 – 2:00.0<" in text
    assert ">availability<" in text
    assert whole_image.width() / whole_image.height() == pytest.approx(
        drawing.viewBoxF().width() / drawing.viewBoxF().height(), rel=0.01
    )
    # Use the screen resolution, for which the axes are drawn. Otherwise texts would shrink.
    width_mm = float(re.findall(r'width="([\d.]+)mm"', text)[0])
    assert width_mm == pytest.approx(drawing.viewBoxF().width() * 25.4 / charts.logicalDpiX(), rel=0.01)


def test_many_databases_can_be_distinguished(qtbot: Any, charts: ChartView, run: Any) -> None:
    run.world.availability["Orders"] = Availability(database="Orders")
    for entry in run.logs:
        entry["Orders"] = None
    charts.show_drill(run)
    assert find_child(charts, QComboBox).isVisible()
    name = charts.fontMetrics().horizontalAdvance(find_child(charts, QComboBox).itemText(0))
    assert find_child(charts, QComboBox).width() > name + 22, "the arrow beside the longest name"
    find_child(charts, QComboBox).setCurrentText("Orders")
    assert np.isnan(get_curve(charts, "send_queue_kb")[1]).all()
    assert charts.panels[0].reading == "–"


# --- axes ---------------------------------------------------------------------------------------------------

QUEUE_COUNTER = COUNTERS["send_queue_kb"]


@pytest.mark.parametrize(
    ("highest_value", "previous_maximum", "expected_maximum"),
    [
        (0.0, 0.0, 100.0),
        (120.0, 0.0, 200.0),
        (900.0, 0.0, 1000.0),
        (1500.0, 0.0, 2048.0),
        (90.0, 200.0, 200.0),
        (70.0, 200.0, 100.0),
        (210.0, 200.0, 500.0),
    ],
)
def test_the_axis_maximum_is_round_and_stable(
    highest_value: float, previous_maximum: float, expected_maximum: float
) -> None:
    assert compute_axis_top(highest_value, QUEUE_COUNTER, previous_maximum) == pytest.approx(expected_maximum)


def test_time_labels_are_round_and_fit(qtbot: Any) -> None:
    assert [choose_time_step_s(120.0, pixels) for pixels in (300, 600, 1200)] == [30, 15, 10]
    assert TimeAxis(orientation="bottom").tickStrings([0.0, 90.0, -5.0], 1.0, 30.0) == ["0:00", "1:30", ""]


def test_values_have_their_unit(qtbot: Any) -> None:
    axis = ChartValueAxis(QUEUE_COUNTER.unit)
    axis.top = 2048.0
    ((_, ticks),) = axis.tickValues(0.0, 2500.0, 100.0)
    assert axis.tickStrings(ticks, 1.0, 1.0) == ["1 MB", "2 MB"]


def test_a_low_panel_has_room_for_its_name(charts: ChartView) -> None:
    for panel in charts.panels:
        height, end = panel.plot.vb.height(), panel.plot.vb.viewRange()[1][1]
        top = max(
            value for _, values in panel.plot.getAxis("left").tickValues(0.0, end, height) for value in values
        )
        assert (1.0 - top / end) * height >= charts.fontMetrics().height()


def test_the_picture_has_a_text_alternative(charts: ChartView) -> None:
    charts.setFocus()
    charts.show_time(30.0)
    assert charts.summary.startswith(
        "Send queue 30 KB; Redo queue 0 KB; Transactions 241/s; Commit delay 0 ms"
    )
    assert "protected 1:00" in charts.summary
    assert "Send queue" in charts.accessibleDescription()


# --- forecasts, states --------------------------------------------------------------------------------------


def test_the_end_of_redo_is_predicted_at_the_current_rate(charts: ChartView, run: Any) -> None:
    append_samples(run, 20, redo_queue_kb=np.arange(40_000.0, 20_000.0, -1_000.0))
    charts.show_world(run.world)
    assert "Redo queue: all redone in about 21 s" in charts.forecast.text()
    assert charts.forecast.isVisible()
    assert "done in about 21 s" in charts.summary
    panel = next(panel for panel in charts.panels if panel.counter.name == "redo_queue_kb")
    assert "21 s" in panel.forecast
    append_samples(run, 20, redo_queue_kb=0.0)
    charts.show_world(run.world)
    assert not charts.forecast.isVisible()


def test_a_full_log_is_predicted(charts: ChartView, run: Any) -> None:
    room_kb = 40.0 * 1024 * 1024
    append_samples(run, 20, log_used_kb=room_kb - 120_000.0 + 1_000.0 * np.arange(20.0))
    charts.show_world(run.world)
    assert "Log used: log full in about 1:41" in charts.forecast.text()


def test_states_of_each_copy_are_lanes_with_gaps(charts: ChartView, run: Any) -> None:
    disconnected_event = build_event(
        4000, "state", "SERVER_B", "Sales", "SYNCHRONIZED -> DISCONNECTED", new="DISCONNECTED"
    )
    safety = build_event(4100, "state", "SERVER_B", "Sales", "safety OFF", why="safety", new="OFF")
    states = StateHistory("Sales")
    states.start(run.states_before, run.world, [disconnected_event, safety])
    lanes = states.list_lanes(60.0)
    assert [(s.from_s, s.to_s, s.state) for s in lanes["SERVER_B"]] == [
        (0.0, 40.0, "SYNCHRONIZED"), (40.0, 60.0, "DISCONNECTED"),
    ]  # fmt: skip
    assert [s.state for s in lanes["SERVER_A"]] == ["SYNCHRONIZED"]

    class StubServer:
        def __init__(self, running: bool) -> None:
            self.running = running

    class StubStanding:
        def __init__(self, running: bool) -> None:
            self.instances = {"SERVER_A": StubServer(running)}

    standing: Any = StubStanding(True)
    down: Any = StubStanding(False)
    states.add_sampled_states([standing] * 30 + [down] * 10 + [standing] * 20, np.arange(1.0, 61.0))
    lanes = states.list_lanes(60.0)
    assert [(s.from_s, s.to_s, s.state) for s in lanes["SERVER_A"]] == [
        (0.0, 31.0, "SYNCHRONIZED"), (31.0, 41.0, "no instance"), (41.0, 60.0, "SYNCHRONIZED"),
    ]  # fmt: skip


def test_an_exam_shows_no_states_and_only_own_marks(charts: ChartView, run: Any) -> None:
    run.permissions = PERMISSIONS_BY_MODE[DrillMode.EXAM]
    run.events = [build_fault_event(20.0), build_event(2500, "note", None, None, "look")]
    charts.show_drill(run)
    assert not charts.states.isVisible()
    assert [mark.text for mark in charts.lane.find_markers_near(find_pixel(charts, 25.0))] == ["look"]
    assert charts.lane.find_markers_near(find_pixel(charts, 20.0)) == []
    assert "SERVER_B" not in charts.summary


def test_a_long_run_states_its_resolution(charts: ChartView, run: Any) -> None:
    assert "Long run" not in charts.forecast.text()
    run.samples.every = 6000
    append_samples(run, 61, send_queue_kb=0.0)
    charts.show_drill(run)
    assert "from here on, the charts show one value every 1 min" in charts.forecast.text()
    assert charts.forecast.isVisible()


def test_an_instance_without_a_second_copy_has_no_charts_of_queues(charts: ChartView, run: Any) -> None:
    drill = Drill(load_shipped_scenario("fci-lab"), 1, DrillMode.LAB)
    charts.show_drill(drill)
    assert [panel.counter.name for panel in charts.panels] == list(DEFAULT_COUNTERS_WITHOUT_COPY)
    choices = [action for action in charts.findChildren(QAction) if action.data() in COPY_COUNTERS]
    assert [action.isVisible() for action in choices] == [False] * len(COPY_COUNTERS)
    charts.show_drill(run)
    assert [action.isVisible() for action in choices] == [True] * len(COPY_COUNTERS)
    assert [panel.counter.name for panel in charts.panels] == list(DEFAULT_COUNTERS)
