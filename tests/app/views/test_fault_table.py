"""Tests of the view of the engine's fault ledger, with real keys and clicks."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import Qt

from app.views.fault_table import FaultTable
from app.widgets.bars import ButtonBar
from engine.drill.running.modes import PERMISSIONS_BY_MODE, DrillMode
from engine.verbs import VERBS
from engine.verbs.input_lines import find_reverse_input, parse_input_line
from tests.app.views.fakes import FakeRun
from tests.assertions import require
from tests.engine.worlds import apply_lines, build_lab


class RecordingLedger(FaultTable):
    """Fault ledger view that records its requests."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self.requested.connect(self.lines.append)


@pytest.fixture
def drill() -> FakeRun:
    return FakeRun(build_lab())


@pytest.fixture
def ledger(qtbot: Any, drill: FakeRun) -> RecordingLedger:
    ledger = RecordingLedger()
    qtbot.addWidget(ledger)
    ledger.resize(900, 200)
    ledger.show_drill(drill)
    with qtbot.waitActive(ledger):
        ledger.show()
        ledger.activateWindow()
    return ledger


def apply_and_show(ledger: RecordingLedger, drill: FakeRun, *lines: str, run_s: float = 0.01) -> None:
    for line in lines:
        drill.journal.append(parse_input_line(line, drill.world.tick))
    ledger.add_events(apply_lines(drill.world, *lines, wait_s=run_s))
    ledger.show_world(drill.world)


def list_texts(ledger: RecordingLedger) -> list[list[str]]:
    model = ledger.model
    return [
        [str(model.index(row, column).data()) for column in range(model.columnCount())]
        for row in range(model.rowCount())
    ]


def click_row(qtbot: Any, ledger: RecordingLedger, row: int) -> None:
    place = ledger.table.visualRect(ledger.model.index(row, 0)).center()
    qtbot.mouseClick(ledger.table.viewport(), Qt.MouseButton.LeftButton, pos=place)


def test_a_fault_shows_four_times_and_its_effect(ledger: RecordingLedger, drill: FakeRun) -> None:
    apply_and_show(ledger, drill, "black-hole SERVER_A SERVER_B")
    (row,) = list_texts(ledger)
    assert row[:4] == ["○ not detected", "black-hole SERVER_A SERVER_B", "0:00.00", "–"]
    assert row[4:] == ["–", "0:00.00", "not detected yet"]
    apply_and_show(ledger, drill, run_s=15.0)
    (row,) = list_texts(ledger)
    assert row[0] == "● active"
    assert row[3].startswith("0:1")  # the partner timeout of 10 s counts from the last answer
    tip = ledger.model.index(0, 3).data(Qt.ItemDataRole.ToolTipRole)
    assert tip.endswith(" s after the fault began")
    assert "has lost" in row[6]
    apply_and_show(ledger, drill, "mend SERVER_A SERVER_B")
    (row,) = list_texts(ledger)
    assert row[0] == "✓ undone"
    assert row[4] == "0:15.01"
    assert ledger.detail.text() == "Active faults: 0 of 1."


def test_fault_and_three_times_fit_a_dock_of_a_small_screen(ledger: RecordingLedger, drill: FakeRun) -> None:
    apply_and_show(ledger, drill, "power-off SERVER_A")
    ledger.resize(476, 240)  # This is the size of the panel at 1366x768.
    header = ledger.table.horizontalHeader()
    undone, fault = 4, 1
    right = header.sectionViewportPosition(undone) + header.sectionSize(undone)
    assert right <= ledger.table.viewport().width()
    narrow = header.sectionSize(fault)
    assert narrow >= ledger.table.sizeHintForColumn(fault)
    ledger.resize(800, 240)
    assert header.sectionSize(fault) > 1.2 * narrow  # The column of the fault text gets the remaining width.


def test_the_selected_fault_is_shown_in_full_below(
    qtbot: Any, ledger: RecordingLedger, drill: FakeRun
) -> None:
    apply_and_show(ledger, drill, "reset-link SERVER_A SERVER_B")
    click_row(qtbot, ledger, 0)
    assert ledger.detail.text().startswith("reset-link SERVER_A SERVER_B: reset the open connections")
    assert "Requested at 0:00.00, not detected yet. The fault ends automatically." in ledger.detail.text()
    apply_and_show(ledger, drill, run_s=5.0)
    assert "detected at 0:00.05 (0.05 s after the fault began)" in ledger.detail.text()


def test_one_fault_is_reverted_by_key(qtbot: Any, ledger: RecordingLedger, drill: FakeRun) -> None:
    apply_and_show(ledger, drill, "cut SERVER_A SERVER_W", "pull-cable SERVER_B")
    qtbot.keyClick(ledger.table, Qt.Key.Key_Delete)
    assert ledger.lines == []  # no row is selected
    click_row(qtbot, ledger, 0)
    qtbot.keyClick(ledger.table, Qt.Key.Key_Delete)
    assert ledger.lines == ["mend SERVER_A SERVER_W"]
    apply_and_show(ledger, drill, *ledger.lines)
    assert [row[0] for row in list_texts(ledger)] == ["✓ undone", "○ not detected"]
    assert not ledger.tools["ledger.revert"].isEnabled()


def test_all_faults_are_reverted_by_button(ledger: RecordingLedger, drill: FakeRun) -> None:
    assert not ledger.revert_all.isEnabled()
    apply_and_show(ledger, drill, "cut SERVER_A SERVER_W", "pull-cable SERVER_B")
    ledger.revert_all.trigger()
    assert ledger.lines == ["revert-all"]
    # The window's action owns the key; two actions with the same key would be ambiguous.
    assert ledger.revert_all.shortcuts() == []
    apply_and_show(ledger, drill, *ledger.lines)
    assert {row[0] for row in list_texts(ledger)} == {"✓ undone"}


FAULTS = (
    "power-off SERVER_A", "shutdown-server SERVER_A", "stop-service SERVER_B", "hang SERVER_A", "pull-cable SERVER_W",
    "cut SERVER_A SERVER_B", "black-hole APP SERVER_A", "cut-one-way SERVER_B SERVER_A",
    "degrade SERVER_A SERVER_B rtt_ms=50 loss=0.01", "slow-disk SERVER_B log factor=8", "slow-cpu SERVER_A factor=3",
    "fail-volume SERVER_A D", "fail-disk SERVER_B Sales",
    "reset-link SERVER_A SERVER_B", "fill-log Sales", "close-firewall SERVER_B 5022",
    "disable-tcp SERVER_B", "stop-agent SERVER_B", "corrupt-page SERVER_B Sales",
    "open-transaction Sales", "flap-link SERVER_A SERVER_B period_s=4",
)  # fmt: skip


def test_no_fault_is_omitted() -> None:
    of_clusters = ("node", "role", "resource", "cluster")  # the lab has no cluster
    fault_verbs = {
        v.name
        for v in VERBS.values()
        if v.group == "fault" and v.kinds[:1] not in [(k,) for k in of_clusters]
    }
    # the lab has no certificate
    assert fault_verbs - {line.split()[0] for line in FAULTS} == {"expire-certificate"}


@pytest.mark.parametrize("line", FAULTS)
def test_the_button_reverts_exactly_the_selected_fault(
    qtbot: Any, ledger: RecordingLedger, drill: FakeRun, line: str
) -> None:
    apply_and_show(ledger, drill, line, run_s=12.0)
    click_row(qtbot, ledger, 0)
    passes_by_itself = find_reverse_input(drill.world.faults[0]) is None
    assert ledger.tools["ledger.revert"].isEnabled() is not passes_by_itself
    assert passes_by_itself is (line.split()[0] in ("reset-link", "fill-log"))
    if not passes_by_itself:
        ledger.tools["ledger.revert"].trigger()
        apply_and_show(ledger, drill, *ledger.lines)
        assert [fault.reverted_tick is not None for fault in drill.world.faults] == [True]
        assert list_texts(ledger)[0][0] == "✓ undone"


def test_selection_survives_new_faults(qtbot: Any, ledger: RecordingLedger, drill: FakeRun) -> None:
    apply_and_show(ledger, drill, "cut SERVER_A SERVER_W", "pull-cable SERVER_B")
    click_row(qtbot, ledger, 1)
    apply_and_show(ledger, drill, "hang SERVER_W", run_s=5.0)
    assert [index.row() for index in ledger.table.selectionModel().selectedRows()] == [1]


def test_only_active_faults_can_be_shown(qtbot: Any, ledger: RecordingLedger, drill: FakeRun) -> None:
    apply_and_show(ledger, drill, "cut SERVER_A SERVER_W", "pull-cable SERVER_B", "plug-cable SERVER_B")
    bar = require(ledger.findChild(ButtonBar))
    qtbot.keyClick(bar.widgetForAction(ledger.only_active), Qt.Key.Key_Space)
    assert [row[1] for row in list_texts(ledger)] == ["cut SERVER_A SERVER_W"]
    assert ledger.detail.text() == "Active faults: 1 of 2."


def test_faults_of_the_scenario_stay_hidden(ledger: RecordingLedger, drill: FakeRun) -> None:
    drill.permissions = PERMISSIONS_BY_MODE[DrillMode.EXAM]
    apply_lines(drill.world, "pull-cable SERVER_B", wait_s=5.0)  # This line is not an input of the user.
    apply_and_show(ledger, drill, "degrade SERVER_A SERVER_B rtt_ms=50")
    assert [row[1] for row in list_texts(ledger)] == ["degrade SERVER_A SERVER_B rtt_ms=50"]
    assert ledger.detail.text() == "Active faults: 1 of 1."
    drill.permissions = PERMISSIONS_BY_MODE[DrillMode.GUIDED]
    ledger.show_drill(drill)
    assert len(list_texts(ledger)) == 2


def test_a_shutdown_by_statement_is_listed(ledger: RecordingLedger, drill: FakeRun) -> None:
    drill.permissions = PERMISSIONS_BY_MODE[DrillMode.EXAM]
    apply_and_show(ledger, drill, "sql SERVER_A SHUTDOWN WITH NOWAIT", run_s=5.0)
    assert list_texts(ledger)[0][1].split() == ["shutdown-nowait", "SERVER_A"]


def test_another_time_shows_its_own_faults(ledger: RecordingLedger, drill: FakeRun) -> None:
    before = drill.world.fork()
    apply_and_show(ledger, drill, "hang SERVER_W")
    ledger.show_drill(FakeRun(before))
    assert list_texts(ledger) == []


def test_reverting_one_slow_disk_keeps_the_other(ledger: RecordingLedger, drill: FakeRun) -> None:
    apply_and_show(ledger, drill, "slow-disk SERVER_B log factor=8", "slow-disk SERVER_B data factor=5")
    apply_and_show(ledger, drill, "slow-disk SERVER_B log factor=1")
    assert [(row[1], row[0]) for row in list_texts(ledger)] == [
        ("slow-disk SERVER_B log factor=8", "✓ undone"),
        ("slow-disk SERVER_B data factor=5", "● active"),
    ]
