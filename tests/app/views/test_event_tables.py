"""Tests of error log, trace and event list: the rows of each event, and the filter."""

from __future__ import annotations

from typing import Any, get_args

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu

from app.views.error_log import ErrorLogView
from app.views.events_list import EventsList
from app.views.trace import StateTrace
from app.widgets import theme
from engine.drill.running.drill import Drill, DrillMode
from engine.events import EVENT_KIND_INFOS, Event, EventKind
from tests.children import find_child
from tests.engine.worlds import build_lab, play_script
from tests.events import build_event, read_field
from tests.shipped_scenarios import load_shipped_scenario


def build_log_event(
    tick: int, server: str, text: str, number: int = 0, severity: int = 10, state: int = 1
) -> Event:
    data = (("number", number), ("severity", severity), ("state", state))
    return build_event(tick, "errorlog", server, None, text, **dict(data))


def build_state_event(tick: int, server: str, old_state: int, new_state: int) -> Event:
    text = f"DBM: {old_state} -> DBM: {new_state}"
    return build_event(tick, "trace", server, "Sales", text, state=new_state, integer_data=old_state)


def read_cells(view: Any) -> list[list[str]]:
    model = view.model
    return [
        [model.index(row, column).data() for column in range(model.columnCount())]
        for row in range(model.rowCount())
    ]


def build_view(qtbot: Any, kind: type, run: Any) -> Any:
    view = kind()
    qtbot.addWidget(view)
    view.resize(44 * view.fontMetrics().height(), 300)
    view.show()
    view.show_drill(run)
    return view


LINES = [
    build_log_event(4125, "SERVER_A", "Database mirroring connection error 4.", 1474, 16),
    build_log_event(4130, "SERVER_A", "Database mirroring is inactive for database 'Sales'.", 1442),
    build_log_event(4200, "SERVER_B", "Recovery is complete."),
    build_log_event(4300, "SERVER_A", "SQL Server is terminating.", 17148),
]


def test_an_error_has_two_log_lines(qtbot: Any, run: Any) -> None:
    run.events = LINES
    log = build_view(qtbot, ErrorLogView, run)
    assert read_cells(log) == [
        ["2005-10-22 12:00:41.25", "spid15s", "Error: 1474, Severity: 16, State: 1."],
        ["2005-10-22 12:00:41.25", "spid15s", "Database mirroring connection error 4."],
        ["2005-10-22 12:00:41.30", "spid15s", "Database mirroring is inactive for database 'Sales'."],
        ["2005-10-22 12:00:43.00", "Server", "SQL Server is terminating."],
    ]
    tones = [log.model.index(row, 2).data(Qt.ItemDataRole.ForegroundRole) for row in range(3)]
    assert tones == [theme.get_theme_tokens(log.palette()).bad] * 2 + [None]


def test_each_server_has_its_own_log(qtbot: Any, run: Any) -> None:
    log = build_view(qtbot, ErrorLogView, run)
    log.add_events(LINES)
    assert len(read_cells(log)) == 4
    log.servers.setCurrentIndex(1)
    assert [row[2] for row in read_cells(log)] == ["Recovery is complete."]
    log.show_server("SERVER_W")
    assert read_cells(log) == []
    log.add_events(
        [build_log_event(5000, "SERVER_W", "hello"), build_log_event(5000, "SERVER_A", "not here")]
    )
    assert [row[2] for row in read_cells(log)] == ["hello"]


def test_the_filter_requires_every_word(qtbot: Any, run: Any) -> None:
    log = build_view(qtbot, ErrorLogView, run)
    log.add_events(LINES)
    qtbot.keyClicks(log.filter, "mirroring SALES")
    assert [row[2] for row in read_cells(log)] == ["Database mirroring is inactive for database 'Sales'."]
    assert log.match_count.text() == "1 found"
    log.add_events([build_log_event(6000, "SERVER_A", "Database mirroring is active with 'Sales'.")])
    assert len(read_cells(log)) == 2
    log.filter.clear()
    assert len(read_cells(log)) == 5


def test_lines_are_copied_unchanged(qtbot: Any, run: Any) -> None:
    log = build_view(qtbot, ErrorLogView, run)
    log.add_events(LINES[1:2])
    log.table.selectAll()
    log.table.copy_selection()
    text = QGuiApplication.clipboard().text()
    assert text == "2005-10-22 12:00:41.30\tspid15s\tDatabase mirroring is inactive for database 'Sales'."


def test_the_selected_row_is_shown_in_full_below(qtbot: Any, run: Any) -> None:
    run.events = [build_log_event(100, "SERVER_A", "word " * 80)]
    log = build_view(qtbot, ErrorLogView, run)
    assert not log.detail.isVisible()
    place = log.table.visualRect(log.model.index(0, 1)).center()
    qtbot.mouseClick(log.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert log.detail.isVisible()
    assert log.detail.text() == "word " * 80
    log.show_server("SERVER_B")
    assert not log.detail.isVisible()


def test_the_trace_has_profilers_columns(qtbot: Any, run: Any) -> None:
    run.events = [build_state_event(1796, "SERVER_B", 3, 5), build_state_event(1857, "SERVER_B", 5, 8)]
    view = build_view(qtbot, StateTrace, run)
    assert [column.title for column in view.model.columns] == [
        "StartTime", "TextData", "State", "IntegerData", "ServerName", "DatabaseName",
    ]  # fmt: skip
    assert read_cells(view)[0] == [
        "2005-10-22 12:00:17.960",
        "DBM: 3 -> DBM: 5",
        "5",
        "3",
        "SERVER_B",
        "Sales",
    ]
    view.add_events([build_state_event(2000, "SERVER_A", 0, 11)])
    assert len(read_cells(view)) == 3
    view.show_server("SERVER_A")
    assert [row[2] for row in read_cells(view)] == ["11"]


def test_the_event_list_omits_events_with_their_own_views(qtbot: Any, run: Any) -> None:
    view = build_view(qtbot, EventsList, run)
    view.add_events(
        [
            *LINES,
            build_state_event(1, "SERVER_A", 1, 6),
            build_event(4125, "fault", "SERVER_A", None, "power-off SERVER_A"),
        ]
    )
    assert read_cells(view) == [["0:41.25", "Fault", "SERVER_A", "", "power-off SERVER_A"]]
    next(a for a in find_child(view, QMenu, "kinds").actions() if a.data() == "trace").trigger()
    assert len(read_cells(view)) == 2
    next(a for a in find_child(view, QMenu, "kinds").actions() if a.data() == "fault").trigger()
    assert [row[1] for row in read_cells(view)] == ["State trace"]


def test_a_batch_is_shown_by_its_first_line_and_first_error(qtbot: Any, run: Any) -> None:
    message = {
        "number": 1431,
        "severity": 16,
        "state": 1,
        "line": 1,
        "text": "Neither the partner nor the witness.",
    }
    data = (("batch", "USE master\nALTER DATABASE Sales SET WITNESS OFF"), ("messages", [message]))
    view = build_view(qtbot, EventsList, run)
    view.add_events([build_event(100, "sql_done", "SERVER_A", None, "", **dict(data))])
    assert read_cells(view)[0][4] == "USE master …  →  Msg 1431: Neither the partner nor the witness."


def test_every_event_kind_of_the_engine_can_be_listed(qtbot: Any, run: Any) -> None:
    run.world = build_lab()
    script = "1 sql SERVER_A SELECT 1\n2 power-off SERVER_A\n3 sql SERVER_B USE Sales\n9 power-on SERVER_A"
    run.events = play_script(run.world, script, 90.0)
    view = build_view(qtbot, EventsList, run)
    for action in find_child(view, QMenu, "kinds").actions():
        action.setChecked(True)
    assert view.model.rowCount() == len(run.events) > 40
    errors = sum(event.kind == "errorlog" and read_field(event, "severity") > 10 for event in run.events)
    log = build_view(qtbot, ErrorLogView, run)
    assert log.model.total == errors + sum(event.kind == "errorlog" for event in run.events)
    states = build_view(qtbot, StateTrace, run)
    assert states.model.total == sum(event.kind == "trace" for event in run.events)


def test_a_narrow_dock_shows_short_columns_of_the_same_rows(qtbot: Any, run: Any) -> None:
    run.events = LINES
    log = build_view(qtbot, ErrorLogView, run)
    log.resize(26 * log.fontMetrics().height(), 300)
    assert read_cells(log)[0] == ["12:00:41.25", "spid15s", "Error: 1474, Severity: 16, State: 1."]
    log.table.selectRow(0)
    assert log.detail.text() == "Error: 1474, Severity: 16, State: 1."
    log.resize(50 * log.fontMetrics().height(), 300)
    assert read_cells(log)[0][0] == "2005-10-22 12:00:41.25"
    assert log.server == "SERVER_A"
    assert log.model.total == 5


def test_a_double_click_on_a_row_selects_its_time(qtbot: Any, run: Any) -> None:
    run.events = [build_event(4125, "fault", "SERVER_A", None, "power-off SERVER_A")]
    view = build_view(qtbot, EventsList, run)
    place = view.table.visualRect(view.model.index(0, 4)).center()
    qtbot.mouseClick(view.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    with qtbot.waitSignal(view.time_selected) as blocker:
        qtbot.mouseDClick(view.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert blocker.args == [41.25]


def test_a_new_drill_has_its_own_servers_and_rows(qtbot: Any, run: Any, world: Any) -> None:
    run.events = list(LINES)
    log = build_view(qtbot, ErrorLogView, run)
    del world.instances["SERVER_A"], world.instances["SERVER_W"]
    run.events = LINES[2:3]
    log.show_drill(run)
    assert [log.servers.tabText(index) for index in range(log.servers.count())] == ["SERVER_B"]
    assert [row[2] for row in read_cells(log)] == ["Recovery is complete."]


def test_every_emitted_event_kind_has_a_record() -> None:
    assert set(EVENT_KIND_INFOS) == set(get_args(EventKind))


def test_the_panel_offers_every_kind_including_cluster_events(qtbot: Any) -> None:
    drill = Drill(load_shipped_scenario("ag-lab"), mode=DrillMode.LAB)
    drill.advance_to(500)
    drill.apply_line("power-off NODE_3")
    drill.apply_line("ps NODE_1 Get-ClusterNode")
    drill.advance_to(2000)
    view = build_view(qtbot, EventsList, drill)
    qtbot.waitUntil(lambda: "Removed" in str(read_cells(view)) or "removed" in str(read_cells(view)))
    assert {"Failover cluster", "Replica role", "PowerShell"} <= {row[1] for row in read_cells(view)}
    assert {action.data() for action in find_child(view, QMenu, "kinds").actions()} == set(EVENT_KIND_INFOS)


def test_an_empty_log_shows_the_reason(qtbot: Any, run: Any) -> None:
    log = build_view(qtbot, ErrorLogView, run)
    assert log.table.accessibleDescription() == ("No ERRORLOG entries on SERVER_A since the drill started.")
    log.add_events(LINES)
    assert log.table.accessibleDescription() == ""
    qtbot.keyClicks(log.filter, "nonsense")
    assert log.table.accessibleDescription().startswith("No matching rows.")
    log.filter.clear()
    log.show_time_range((0.0, 1.0))
    assert log.table.accessibleDescription().startswith("No rows in the selected time span")


def test_in_a_narrow_dock_the_filter_leaves_room_for_the_tabs(qtbot: Any, run: Any) -> None:
    view = build_view(qtbot, StateTrace, run)
    view.resize(900, 300)
    assert view.filter.y() < view.servers.geometry().bottom()
    view.resize(260, 300)
    qtbot.waitUntil(lambda: view.filter.y() >= view.servers.geometry().bottom())
    assert view.servers.width() >= 250


def test_copied_rows_have_every_column_in_a_narrow_dock(qtbot: Any, run: Any) -> None:
    view = build_view(qtbot, StateTrace, run)
    view.add_events([build_state_event(1796, "SERVER_B", 3, 5), build_state_event(1857, "SERVER_B", 5, 8)])
    view.resize(260, 300)
    qtbot.keyClicks(view.filter, "5 8")
    columns, rows = view.list_shown_rows()
    assert columns[1] == "TextData"
    assert rows == [["2005-10-22 12:00:18.570", "DBM: 5 -> DBM: 8", "8", "5", "SERVER_B", "Sales"]]


def test_the_log_begins_with_the_start_of_the_server(qtbot: Any) -> None:
    drill = Drill(load_shipped_scenario("lab"))
    log = build_view(qtbot, ErrorLogView, drill)
    before = len(read_cells(log))
    assert read_cells(log)[0][2].startswith("Microsoft SQL Server 2005")
    drill.apply_line("hang SERVER_B")
    drill.advance_to(3_000)
    log.add_events(drill.events)
    grown = [row[2] for row in read_cells(log)]
    assert len(grown) > before
    assert grown[-1].startswith("Database mirroring is inactive")
    log.show_drill(drill)
    assert [row[2] for row in read_cells(log)] == grown
