"""Tests of System Monitor on simulated runs: values of each server, equal to those of T-SQL, by real keys and
clicks.
"""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import Qt

from app.views.system_monitor import SystemMonitor
from app.views.system_monitor.history import (
    DATABASES,
    MIRRORING,
    PERF_COUNTERS,
    PROCESSOR,
    UNSIMULATED_COUNTERS,
    CounterChoice,
    SampleHistory,
    list_counter_names,
)
from app.views.system_monitor.lines import CounterPlot
from app.views.system_monitor.monitor import AddCountersDialog, choose_fitting_power, list_default_choices
from engine.drill.authoring.scenario import load_scenario
from engine.drill.running.drill import Drill
from engine.events import Event
from tests.assertions import require
from tests.children import find_child
from tests.events import read_field

Key = Qt.Key
SEND_QUEUE_A = CounterChoice("SERVER_A", MIRRORING, "Log Send Queue KB", "Sales")
REDO_QUEUE_B = CounterChoice("SERVER_B", MIRRORING, "Redo Queue KB", "Sales")
TPS_A, TPS_B = (
    CounterChoice(server, DATABASES, "Transactions/sec", "Sales") for server in ("SERVER_A", "SERVER_B")
)


def build_lab() -> Drill:
    return Drill(load_scenario((files("scenarios") / "lab.toml").read_text(encoding="utf-8"), "lab"))


@pytest.fixture
def drill() -> Drill:
    drill = build_lab()
    drill.advance_to(3000)
    return drill


@pytest.fixture
def monitor(qtbot: Any, drill: Drill) -> SystemMonitor:
    monitor = SystemMonitor()
    qtbot.addWidget(monitor)
    monitor.resize(600, 500)
    monitor.show_drill(drill)
    with qtbot.waitActive(monitor):
        monitor.show()
        monitor.activateWindow()
    monitor.table.setFocus()
    return monitor


def measure_at_end(drill: Drill, choice: CounterChoice) -> float:
    history = SampleHistory(drill)
    return float(history.compute_values(choice, history.count - 1, history.count)[0])


def list_cells(monitor: SystemMonitor, column: str) -> list[str]:
    place = [c.title for c in monitor.model.columns].index(column)
    return [monitor.model.index(row, place).data() for row in range(monitor.model.rowCount())]


# --- values -------------------------------------------------------------------------------------------------


def read_counters_by_sql(
    drill: Drill, server: str, database: str
) -> dict[tuple[str, str], tuple[float, int]]:
    """Return (object, counter) -> (value, type), as a query on the server shows the counters."""
    drill.apply_line(
        f"sql {server} SELECT object_name, counter_name, cntr_value, cntr_type FROM "
        f"sys.dm_os_performance_counters WHERE instance_name = '{database}'"
    )
    event: Event = next(event for event in reversed(drill.events) if event.kind == "sql_done")
    rows = read_field(event, "results")[0]["rows"]
    return {(row[0].strip().partition(":")[2], row[1].strip()): (float(row[2]), int(row[3])) for row in rows}


@pytest.mark.parametrize("server", ["SERVER_A", "SERVER_B"])
def test_values_match_a_query_on_the_server(drill: Drill, server: str) -> None:
    drill.apply_line("cut SERVER_A SERVER_B")
    drill.advance_to(6000)
    drill.apply_line("mend SERVER_A SERVER_B")  # The interruption creates queues, which change now.
    drill.advance_to(6600)
    before = read_counters_by_sql(drill, server, "Sales")
    start = drill.samples.count
    drill.advance_to(7000)
    counters_after = read_counters_by_sql(drill, server, "Sales")
    compared = 0
    for perf in PERF_COUNTERS:
        if (perf.group, perf.name) not in counters_after:
            continue
        value, kind = counters_after[perf.group, perf.name]
        choice = CounterChoice(server, perf.group, perf.name, "Sales")
        history = SampleHistory(drill)
        if kind == 65792:  # The counter type is a plain integer.
            shown_value = float(history.compute_values(choice, history.count - 1, history.count)[0])
        else:
            value = (value - before[perf.group, perf.name][0]) / 4.0
            shown_value = float(history.compute_values(choice, start, history.count).mean())
        assert shown_value == pytest.approx(value, rel=0.25, abs=2.0), perf.name
        compared += 1
    assert compared == len(list_counter_names(MIRRORING, 2005)) + len(list_counter_names(DATABASES, 2005))


def test_every_counter_of_the_product_is_available_or_listed_as_absent(drill: Drill) -> None:
    drill.apply_line("upgrade SERVER_W 2014")
    drill.advance_to(drill.tick + 200_00)
    counter_names = {
        name
        for group, name in read_counters_by_sql(drill, "SERVER_A", "Sales")
        if group == "Database Mirroring"
    }
    assert counter_names <= set(list_counter_names(MIRRORING, 2014)) | set(UNSIMULATED_COUNTERS)
    assert set(list_counter_names(MIRRORING, 2005)) <= counter_names
    assert "Log Compressed Bytes Sent/sec" in list_counter_names(MIRRORING, 2008)
    assert "Log Compressed Bytes Sent/sec" not in list_counter_names(MIRRORING, 2005)


def test_each_partner_has_its_own_counters_after_a_role_change(drill: Drill) -> None:
    assert measure_at_end(drill, TPS_A) > 100.0
    assert measure_at_end(drill, TPS_B) == 0.0
    drill.apply_line("sql SERVER_A ALTER DATABASE Sales SET PARTNER FAILOVER")
    drill.advance_to(drill.tick + 6000)
    assert measure_at_end(drill, TPS_B) > 100.0
    assert measure_at_end(drill, TPS_A) == 0.0
    history = SampleHistory(drill)
    before = history.compute_values(TPS_A, 0, 25)
    assert (before > 100.0).all()  # Earlier values stay in the chart.


@pytest.mark.parametrize(
    ("fault", "repair"),
    [("pull-cable SERVER_B", "plug-cable SERVER_B"), ("hang SERVER_B", "unhang SERVER_B")],
)
def test_an_unreachable_server_leaves_a_gap(drill: Drill, fault: str, repair: str) -> None:
    start = drill.samples.count
    drill.apply_line(fault)
    drill.advance_to(drill.tick + 1000)
    drill.apply_line(repair)
    drill.advance_to(drill.tick + 1000)
    history = SampleHistory(drill)
    values = history.compute_values(REDO_QUEUE_B, start, history.count)
    assert np.isnan(values[:10]).all()
    assert not np.isnan(values[10:]).any()
    cpu = history.compute_values(
        CounterChoice("SERVER_B", PROCESSOR, "% Processor Time"), start, history.count
    )
    assert np.isnan(cpu[:10]).all()


def test_statistics_ignore_gaps(drill: Drill) -> None:
    drill.apply_line("pull-cable SERVER_B")
    drill.advance_to(drill.tick + 1000)
    history = SampleHistory(drill)
    summary = history.summarize(TPS_B, 0.0)
    assert summary.latest is None
    assert summary.mean == 0.0
    assert history.summarize(TPS_B, history.end_s - 2.0).mean is None


@pytest.mark.parametrize(
    ("highest", "power"),
    [
        (241.0, -1),
        (100.0, 0),
        (99.0, 0),
        (0.5, 2),
        (87_059.0, -3),
        (0.0, 0),
        (None, 0),
        (1e-30, 6),
        (1e30, -9),
    ],
)
def test_scales_fit_the_values(highest: float | None, power: int) -> None:
    assert choose_fitting_power(highest) == power


# --- panel --------------------------------------------------------------------------------------------------


def test_the_view_starts_with_both_sides_of_the_first_session(monitor: SystemMonitor, drill: Drill) -> None:
    assert monitor.choices == list_default_choices(drill.world)
    assert {choice.server for choice in monitor.choices} == {"SERVER_A", "SERVER_B"}


def test_statistics_and_lines_follow_the_run(monitor: SystemMonitor, drill: Drill) -> None:
    place = monitor.choices.index(SEND_QUEUE_A)
    drill.apply_line("cut SERVER_A SERVER_B")
    drill.advance_to(drill.tick + 6000)
    monitor.show_world(drill.world)
    assert int(list_cells(monitor, "Last")[place].replace(",", "")) > 10_000
    assert list_cells(monitor, "Scale")[place] == "0.001"
    _, y = require(find_child(monitor, CounterPlot)).curves[SEND_QUEUE_A].getData()
    assert 10.0 < y.max() <= 100.0


def test_counters_are_added_in_the_dialog(qtbot: Any, monitor: SystemMonitor) -> None:
    qtbot.keyClick(monitor.table, Key.Key_Insert)
    dialog = require(monitor.findChild(AddCountersDialog))
    dialog.computer.setFocus()
    qtbot.keyClick(dialog.computer, Key.Key_Down)
    assert dialog.computer.currentText() == "SERVER_B"
    dialog.counters.setFocus()
    qtbot.keyClicks(dialog.counters, "Redo B")
    assert dialog.help.text() == "log redone"
    qtbot.mouseClick(dialog.add, Qt.MouseButton.LeftButton)
    counter_choice = CounterChoice("SERVER_B", MIRRORING, "Redo Bytes/sec", "Sales")
    assert monitor.choices[-1] == counter_choice
    before = len(monitor.choices)
    qtbot.mouseClick(dialog.add, Qt.MouseButton.LeftButton)
    assert len(monitor.choices) == before  # the counter is listed already
    dialog.close()


def test_unsimulated_counters_are_listed_but_cannot_be_selected(qtbot: Any, monitor: SystemMonitor) -> None:
    monitor.open_add_dialog()
    dialog = require(monitor.findChild(AddCountersDialog))
    (absent,) = dialog.counters.findItems("Pages Sent/sec (not simulated)", Qt.MatchFlag.MatchExactly)
    assert not absent.flags() & Qt.ItemFlag.ItemIsSelectable
    newer = dialog.counters.findItems("Log Harden Time (ms) (not simulated)", Qt.MatchFlag.MatchExactly)
    assert not newer  # The counter exists since 2008, and this server has version 2005.
    dialog.computer.setCurrentText("SERVER_W")
    assert not dialog.add.isEnabled()  # the server has no database
    dialog.close()


def test_counters_are_removed_highlighted_and_scaled_by_key(qtbot: Any, monitor: SystemMonitor) -> None:
    monitor.table.selectRow(1)
    choice = monitor.choices[1]
    qtbot.keyClick(monitor.table, Key.Key_H, Qt.KeyboardModifier.ControlModifier)
    widths = {
        c: curve.opts["pen"].widthF() for c, curve in require(find_child(monitor, CounterPlot)).curves.items()
    }
    assert [c for c, width in widths.items() if width > 2.0] == [choice]
    scale = list_cells(monitor, "Scale")[0]
    monitor.table.selectRow(0)
    qtbot.keyClick(monitor.table, Key.Key_Up, Qt.KeyboardModifier.ControlModifier)
    assert float(list_cells(monitor, "Scale")[0]) == pytest.approx(10.0 * float(scale))
    qtbot.keyClick(monitor.table, Key.Key_Delete)
    assert choice in monitor.choices
    assert len(monitor.choices) == 5
    assert monitor.table.currentIndex().row() == 0


def test_another_time_shows_only_its_past(monitor: SystemMonitor, drill: Drill) -> None:
    earlier_drill = drill.fork()
    drill.apply_line("cut SERVER_A SERVER_B")
    drill.advance_to(drill.tick + 6000)
    monitor.show_world(drill.world)
    monitor.show_drill(earlier_drill)
    x, _ = require(find_child(monitor, CounterPlot)).curves[SEND_QUEUE_A].getData()
    assert x.max() <= 30.0
    assert list_cells(monitor, "Maximum")[monitor.choices.index(SEND_QUEUE_A)] == "0"


def test_colors_and_spoken_names_are_listed(monitor: SystemMonitor) -> None:
    index = monitor.model.index(0, 0)
    assert index.data(Qt.ItemDataRole.DecorationRole) == monitor.model.colors.get_server_color(0)
    spoken = index.data(Qt.ItemDataRole.AccessibleTextRole)
    assert spoken == "\\\\SERVER_A\\SQLServer:Databases(Sales)\\Transactions/sec"
