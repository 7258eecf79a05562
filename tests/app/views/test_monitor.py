"""Tests of Database Mirroring Monitor: it shows recorded rows and their age."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QStyle, QStyleOptionComboBox, QWidget

from app.views.monitor import MirroringMonitor
from app.views.monitor.monitor import ThresholdsDialog
from app.views.monitor.status import build_history_columns
from app.widgets import theme
from app.words import language
from engine import simulator
from engine.verbs.input_lines import parse_input_line
from tests.app.views.fakes import FakeRun
from tests.children import find_child
from tests.engine.worlds import build_lab, play_script


@pytest.fixture
def monitor(qtbot: Any) -> MirroringMonitor:
    """Return a monitor on the lab that applies lines immediately."""
    world = build_lab()
    monitor = MirroringMonitor()
    qtbot.addWidget(monitor)
    monitor.lines = []  # type: ignore[attr-defined]

    def do(line: str) -> None:
        monitor.lines.append(line)  # type: ignore[attr-defined]
        simulator.apply_input(world, parse_input_line(line, world.tick))
        monitor.add_events(simulator.advance_world(world, world.tick))
        monitor.show_world(world)

    monitor.requested.connect(do)
    monitor.resize(640, 340)
    with qtbot.waitActive(monitor):
        monitor.show()
        monitor.activateWindow()
    monitor.world = world  # type: ignore[attr-defined]
    monitor.show_drill(FakeRun(world))  # type: ignore[arg-type]
    return monitor


def continue_run(monitor: Any, script: str, until_s: float) -> None:
    monitor.add_events(play_script(monitor.world, script, until_s))
    monitor.show_world(monitor.world)


def list_partner_cells(monitor: Any) -> list[list[str]]:
    model = monitor.status.partners
    return [[model.index(row, column).data() for column in range(4)] for row in range(model.rowCount())]


def test_without_recorded_rows_the_monitor_waits(monitor: Any) -> None:
    assert list_partner_cells(monitor) == [
        ["SERVER_A", "Unknown", "Waiting for data…", "Unknown"],
        ["SERVER_B", "Unknown", "Waiting for data…", "Unknown"],
    ]
    assert "Refresh (F5)" in monitor.banner.text()
    assert set(dict(monitor.status.principal.shown_lines).values()) == {"Unknown"}


def test_f5_updates_both_partners(qtbot: Any, monitor: Any) -> None:
    continue_run(monitor, "", 10.0)
    qtbot.keyClick(monitor.tabs, Qt.Key.Key_F5)
    assert monitor.lines == [
        "sql SERVER_A#monitor EXEC msdb.dbo.sp_dbmmonitorupdate N'Sales'",
        "sql SERVER_B#monitor EXEC msdb.dbo.sp_dbmmonitorupdate N'Sales'",
    ]
    assert list_partner_cells(monitor) == [
        ["SERVER_A", "Principal", "Synchronized", "Connected"],
        ["SERVER_B", "Mirror", "Synchronized", "Connected"],
    ]
    assert monitor.databases.currentText() == "Sales (Synchronized, SERVER_A -> SERVER_B)"
    assert (
        dict(monitor.status.session.shown_lines)["Operating mode"]
        == "High safety with automatic failover (synchronous)"
    )
    assert dict(monitor.status.session.shown_lines)["Witness address"] == "TCP://SERVER_W:5022"
    assert dict(monitor.status.principal.shown_lines)["Unsent log"] == "0 KB"


def test_the_queue_and_its_send_time_are_shown(monitor: Any) -> None:
    continue_run(monitor, "5 sql SERVER_A ALTER DATABASE Sales SET PARTNER SUSPEND", 65.0)
    monitor.request_monitor_rows()
    row = monitor.world.monitor["SERVER_A", "Sales"][-1]
    shown_lines = dict(monitor.status.principal.shown_lines)
    assert shown_lines["Unsent log"] == f"{row.unsent_kb:,.0f} KB"
    assert row.unsent_kb > 30_000
    assert shown_lines["Time to send log (estimated)"] == "Unknown"
    assert shown_lines["Oldest unsent transaction"] == "00:01:00"
    assert list_partner_cells(monitor)[0][2] == "Suspended"


def test_old_rows_stay_and_show_their_age(monitor: Any) -> None:
    """After the loss of the mirror, the last row shows the earlier healthy state until the next refresh."""
    continue_run(monitor, "", 10.0)
    monitor.request_monitor_rows()
    continue_run(monitor, "15 power-off SERVER_B", 200.0)
    assert list_partner_cells(monitor) == [
        ["SERVER_A", "Principal", "Synchronized", "Connected"],
        ["SERVER_B", "Unknown", "Not connected to SERVER_B", "Unknown"],
    ]
    assert "Outdated" in monitor.banner.text()
    assert "3:10 ago" in monitor.banner.text()
    assert set(dict(monitor.status.mirror.shown_lines).values()) == {"Unknown"}
    monitor.lines.clear()
    monitor.request_monitor_rows()
    assert [line.split()[1] for line in monitor.lines] == ["SERVER_A#monitor"]
    assert list_partner_cells(monitor)[0][2] == "Disconnected"
    assert "Outdated" not in monitor.banner.text()


FAILOVER = "12 sql SERVER_A ALTER DATABASE Sales SET PARTNER FAILOVER"


def test_after_a_failover_the_new_principal_is_listed_first_and_the_choice_stays(monitor: Any) -> None:
    continue_run(monitor, "", 10.0)
    monitor.request_monitor_rows()
    monitor.tabs.setCurrentWidget(monitor.history)
    monitor.history.servers.setCurrentText("SERVER_B")
    continue_run(monitor, FAILOVER, 120.0)
    monitor.request_monitor_rows()
    assert monitor.history.servers.currentText() == "SERVER_B"
    monitor.tabs.setCurrentWidget(monitor.status)
    assert [row[:2] for row in list_partner_cells(monitor)] == [
        ["SERVER_B", "Principal"],
        ["SERVER_A", "Mirror"],
    ]


def test_with_two_principals_the_older_row_shows_its_age(monitor: Any) -> None:
    """After the failover only one partner refreshes, so the other partner's row is from before the failover."""
    continue_run(monitor, "", 10.0)
    monitor.request_monitor_rows()
    continue_run(monitor, f"{FAILOVER}\n190 sql SERVER_B EXEC msdb.dbo.sp_dbmmonitorupdate N'Sales'", 200.0)
    assert [row[:2] for row in list_partner_cells(monitor)] == [
        ["SERVER_B", "Principal"],
        ["SERVER_A", "Principal"],
    ]
    assert "12:00:10 (3:10 ago)" in monitor.banner.text()
    assert "Outdated" in monitor.banner.text()
    assert [box.title() for box in monitor.status.logs] == ["Principal log (12:03:10)", "Mirror log"]


def test_states_and_databases_have_a_symbol(monitor: Any) -> None:
    def list_symbols() -> list[int]:
        model = monitor.status.partners
        icons = [model.index(0, column).data(Qt.ItemDataRole.DecorationRole) for column in (2, 3)]
        return [icon.cacheKey() for icon in (*icons, monitor.databases.itemIcon(0))]

    def get_icon_key(name: str, tone: str) -> int:
        colors = theme.get_theme_tokens(monitor.palette())
        return theme.load_icon(name, colors, getattr(colors, tone)).cacheKey()

    continue_run(monitor, "", 10.0)
    monitor.request_monitor_rows()
    assert list_symbols() == [
        get_icon_key("database", "ok"),
        get_icon_key("check", "ok"),
        get_icon_key("database", "ok"),
    ]
    continue_run(monitor, "15 power-off SERVER_W\n15 power-off SERVER_B", 60.0)
    monitor.request_monitor_rows()
    assert list_symbols() == [get_icon_key("close", "bad")] * 3
    assert monitor.status.partners.index(0, 0).data(Qt.ItemDataRole.DecorationRole) is None


def test_in_a_narrow_dock_titles_are_short_and_texts_complete(monitor: Any) -> None:
    continue_run(monitor, "", 10.0)
    monitor.request_monitor_rows()
    model, unit = monitor.status.partners, monitor.fontMetrics().height()
    monitor.resize(60 * unit, 340)
    QApplication.processEvents()
    assert model.columns[0].heading == "Server instance"
    monitor.resize(30 * unit, 340)
    QApplication.processEvents()
    assert [column.heading for column in model.columns] == ["Server", "Role", "State", "Witness"]
    assert list_partner_cells(monitor)[0] == ["SERVER_A", "Principal", "Synchronized", "Connected"]


def test_pages_are_as_narrow_as_their_widest_control(monitor: Any) -> None:
    for page in (monitor.warnings, monitor.history):
        parts = page.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly)
        widest = max(part.minimumSizeHint().width() for part in parts)
        assert page.minimumSizeHint().width() <= widest + monitor.fontMetrics().height()


def test_threshold_texts_are_not_truncated(qtbot: Any, monitor: Any) -> None:
    dialog = ThresholdsDialog(monitor.world, "Sales", ["SERVER_A", "SERVER_B"])
    qtbot.addWidget(dialog)
    dialog.show()
    words = [label for label in dialog.findChildren(QLabel) if label.wordWrap()]
    assert len(words) == 4
    assert all(label.height() >= label.heightForWidth(label.width()) for label in words)


def test_in_german_ten_thousand_does_not_read_as_ten(qtbot: Any, monitor: Any) -> None:
    language.use_language(language.GERMAN)
    try:
        dialog = ThresholdsDialog(monitor.world, "Sales", ["SERVER_A"])
    finally:
        language.use_language(language.ENGLISH)
    qtbot.addWidget(dialog)
    enabled, value = dialog.fields["SERVER_A", 2]
    assert value.text() == "10.000 KB"
    enabled.setChecked(True)
    assert dialog.list_batches()[0][1].endswith(" 2, 10000, 1")


def test_automatic_refresh_can_be_enabled(qtbot: Any, monitor: Any) -> None:
    continue_run(monitor, "", 10.0)
    monitor.automatic_refresh.setChecked(True)
    monitor.show_world(monitor.world)
    qtbot.waitUntil(lambda: len(monitor.lines) == 2)
    continue_run(monitor, "", 30.0)
    QCoreApplication.processEvents()
    assert len(monitor.lines) == 2
    continue_run(monitor, "", 41.0)
    qtbot.waitUntil(lambda: len(monitor.lines) == 4)


def test_thresholds_are_set_on_the_changed_partner(monitor: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monitor.tabs.setCurrentWidget(monitor.warnings)

    def fill_dialog(dialog: ThresholdsDialog) -> int:
        enabled, value = dialog.fields["SERVER_A", 2]
        enabled.setChecked(True)
        value.setValue(5000)
        return dialog.DialogCode.Accepted

    monkeypatch.setattr(ThresholdsDialog, "exec", fill_dialog)
    find_child(monitor.warnings, QPushButton).click()
    assert monitor.lines == [
        "sql SERVER_A#monitor EXEC msdb.dbo.sp_dbmmonitorchangealert N'Sales', 2, 5000, 1"
    ]
    model = monitor.warnings.model
    assert [model.index(0, column).data() for column in range(3)] == [
        "Unsent log exceeds the threshold",
        "5,000 KB",
        "Not enabled",
    ]
    continue_run(monitor, "5 sql SERVER_A ALTER DATABASE Sales SET PARTNER SUSPEND", 65.0)
    monitor.request_monitor_rows()
    assert model.index(0, 3).data() == "1:05 SERVER_A"


def test_history_lists_the_rows_of_one_partner(monitor: Any) -> None:
    monitor.tabs.setCurrentWidget(monitor.history)
    assert "no records" in monitor.history.note.text()
    for seconds in (10.0, 70.0):
        continue_run(monitor, "", seconds)
        monitor.request_monitor_rows()
    model = monitor.history.model
    times = [model.index(row, 0).data() for row in range(model.rowCount())]
    assert times == ["2005-10-22 12:01:10", "2005-10-22 12:00:10"]
    assert model.index(0, 1).data() == "Principal"
    monitor.history.servers.setCurrentText("SERVER_B")
    assert model.index(0, 1).data() == "Mirror"


def test_history_has_the_columns_of_the_dialog(monitor: Any) -> None:
    continue_run(monitor, "", 10.0)
    monitor.request_monitor_rows()
    continue_run(monitor, "15 sql SERVER_A ALTER DATABASE Sales SET PARTNER SUSPEND", 75.0)
    monitor.request_monitor_rows()
    monitor.tabs.setCurrentWidget(monitor.history)
    titles, row = zip(
        *((c.heading, c.text(monitor.history.model.rows[0])) for c in build_history_columns()), strict=True
    )
    assert titles[:5] == (
        "Time recorded",
        "Role",
        "Mirroring state",
        "Witness connection",
        "Unsent log (KB)",
    )
    assert titles[5:] == (
        "Time to send",
        "Send rate (KB/s)",
        "New transaction rate (KB/s)",
        "Oldest unsent transaction",
        "Unrestored log (KB)",
        "Time to restore",
        "Restore rate (KB/s)",
        "Mirror commit overhead (ms)",
        "Transactions/s",
    )
    assert row[1:4] == ("Principal", "Suspended", "Connected")
    assert (row[5], row[6], row[10]) == ("Unknown", "0", "00:00:00")
    assert row[8].startswith("00:01:0")


def test_without_a_session_the_monitor_is_empty(monitor: Any) -> None:
    continue_run(monitor, "5 sql SERVER_A ALTER DATABASE Sales SET PARTNER OFF", 10.0)
    assert monitor.databases.count() == 0
    assert monitor.banner.text() == "No mirrored database."
    assert list_partner_cells(monitor) == []
    monitor.request_monitor_rows()
    assert monitor.lines == []


def test_a_database_title_is_readable_in_a_small_dock(monitor: Any) -> None:
    monitor.resize(480, 240)  # This is the size of the panel at 1366x768.
    QApplication.processEvents()
    option = QStyleOptionComboBox()
    monitor.databases.initStyleOption(option)
    style = monitor.databases.style()
    room = style.subControlRect(
        QStyle.ComplexControl.CC_ComboBox, option, QStyle.SubControl.SC_ComboBoxEditField, monitor.databases
    )
    title = "Sales (Synchronized, SERVER_A -> SERVER_B)"
    assert monitor.databases.fontMetrics().horizontalAdvance(title) <= room.width()
