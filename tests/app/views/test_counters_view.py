"""Counters to read: chosen by menu and keys, summed up over a time."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import Qt

from app.views.counters import Counters
from engine import flow
from engine.model import Availability


def sample(run: Any, seconds: int, **values: float) -> None:
    room = run.samples.room_for(seconds, 1)
    room[:seconds] = 0.0
    for name, value in values.items():
        room[:seconds, 0, flow.COUNTERS.index(name)] = value
    before = run.samples.count
    run.samples.took(100 * before, 100 * (before + seconds))
    run.rows += [{"Sales": 0}] * seconds


def cells(view: Counters) -> list[list[str]]:
    model = view.model
    return [[model.index(row, column).data() for column in range(5)] for row in range(model.rowCount())]


@pytest.fixture
def view(qtbot: Any, run: Any) -> Counters:
    run.world.availability["Sales"] = Availability(database="Sales")
    made = Counters()
    qtbot.addWidget(made)
    with qtbot.waitActive(made):
        made.show()
        made.activateWindow()
    sample(run, 60, send_queue_kb=100.0, transactions_per_s=200.0)
    sample(run, 60, send_queue_kb=300.0, transactions_per_s=240.0)
    made.show_drill(run)
    return made


def test_last_average_minimum_and_maximum(view: Counters, run: Any) -> None:
    assert cells(view)[0] == ["Send queue", "300 KB", "200 KB", "100 KB", "300 KB"]
    assert cells(view)[2] == ["Transactions", "240/s", "220/s", "200/s", "240/s"]
    view.times.setCurrentText("Last minute")
    assert cells(view)[0][2] == "297 KB"
    sample(run, 10, send_queue_kb=1024.0)
    view.show_world(run.world)
    assert cells(view)[0][1] == "1 MB"


def test_a_counter_is_added_by_the_menu_and_removed_by_key(qtbot: Any, view: Counters) -> None:
    chosen: list[list[str]] = []
    view.counters_chosen.connect(chosen.append)
    next(action for action in view._menu.actions() if action.data() == "log_used_kb").trigger()
    assert cells(view)[-1][0] == "Log used"
    view.table.setFocus()
    view.table.selectRow(0)
    qtbot.keyClick(view.table, Qt.Key.Key_Delete)
    assert [row[0] for row in cells(view)] == ["Redo queue", "Transactions", "Commit delay", "Log used"]
    assert chosen[-1] == ["redo_queue_kb", "transactions_per_s", "commit_delay_ms", "log_used_kb"]


def test_the_last_counter_stays(qtbot: Any, view: Counters) -> None:
    view.choose_counters(["send_queue_kb"])
    view.table.selectRow(0)
    view.tools["remove"].trigger()
    assert len(cells(view)) == 1


def test_highlight_by_key_and_back(qtbot: Any, view: Counters) -> None:
    told: list[str] = []
    view.highlighted.connect(told.append)
    view.table.setFocus()
    view.table.selectRow(1)
    for _ in range(2):
        qtbot.keyClick(view.table, Qt.Key.Key_H, Qt.KeyboardModifier.ControlModifier)
    assert told == ["redo_queue_kb", ""]


def test_the_charts_and_the_list_can_follow_each_other(qtbot: Any, view: Counters, run: Any) -> None:
    from app.views.charts import Charts

    charts = Charts()
    qtbot.addWidget(charts)
    charts.counters_chosen.connect(view.choose_counters)
    view.counters_chosen.connect(charts.choose_counters)
    view.highlighted.connect(charts.highlight)
    charts.choose_counters(["redo_kb_per_s", "send_queue_kb"])
    assert [row[0] for row in cells(view)] == ["Redo rate", "Send queue"]
    view.table.selectRow(0)
    view.tools["highlight"].trigger()
    assert charts.panels[0].curve.opts["pen"].widthF() > charts.panels[1].curve.opts["pen"].widthF()
    view.tools["remove"].trigger()
    assert [panel.counter.name for panel in charts.panels] == ["send_queue_kb"]
