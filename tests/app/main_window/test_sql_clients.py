"""Tests of SQL clients that connect to the run of a window, without a window and in one thread."""

from __future__ import annotations

from collections.abc import Coroutine, Iterator
from typing import Any

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.host import NullRecorder
from app.main_window.host_session import HostSession
from app.main_window.shared_parts import SharedParts
from app.main_window.sql_clients import SqlClientPorts
from app.serve.service import CONNECTION_STRING_TEMPLATES
from app.widgets.notice import NoticeBar
from engine.drill.running.drill import Drill
from tests.app.serve.client import Client, connect
from tests.shipped_scenarios import load_shipped_scenario


class StubDesk:
    """Stub of the desk with only the parts that the ports use."""

    def __init__(self, owner: QWidget) -> None:
        self.session = HostSession(owner, clock=lambda: 0.0, use_timer=False)
        self.notice = NoticeBar(owner)
        previous: Any = None  # The test needs no other part of a window.
        window: Any = owner
        self.ports = SqlClientPorts(
            SharedParts(window, self.session, previous, previous, previous, self.notice, previous, previous)
        )

    def run_until_done(self, coroutine: Coroutine[Any, Any, Any], turns: int = 50) -> Any:
        """Run the event loop with the ports until *coroutine* is done; return its result."""
        task = self.ports._loop.create_task(coroutine)
        for _ in range(turns):
            if task.done():
                return task.result()
            self.session.on_frame(10.0)
            self.ports.process_requests()
        task.cancel()
        raise TimeoutError


@pytest.fixture
def desk(qtbot: QtBot) -> Iterator[StubDesk]:
    owner = QWidget()
    qtbot.addWidget(owner)
    desk = StubDesk(owner)
    desk.session.open_run(Drill(load_shipped_scenario("ag-lab"), 1), NullRecorder())
    desk.session.play()
    yield desk
    desk.ports.stop()


def test_a_client_is_listed_with_its_batches_and_keeps_real_time(desk: StubDesk) -> None:
    desk.session.set_speed(5.0)
    desk.ports.show_ports()
    listener, window = desk.ports.listener, desk.ports.dialog
    assert listener is not None
    assert window is not None

    client: Client = desk.run_until_done(connect(listener.ports["AGL1"], listener.password, "Sales"))
    answer = desk.run_until_done(client.send_batch("SELECT @@SERVERNAME"))
    assert "NODE_1".encode("utf-16-le") in answer
    desk.run_until_done(client.send_batch("SELECT * FROM nothing"))
    for _ in range(30):
        desk.ports.process_requests()
    (row,) = window.connected.table.rows
    assert (row.name, row.login, row.program, row.database) == ("NODE_1#tds1", "sa", "test", "Sales")
    inputs_shown = [(row.text, row.failed) for row in window.inputs.table.rows]
    assert inputs_shown[1:3] == [("SELECT @@SERVERNAME", False), ("SELECT * FROM nothing", False)]
    assert inputs_shown[3] == ("Invalid object name 'nothing'.", True)

    assert desk.session.speed == 1.0
    desk.session.set_speed(10.0)
    assert desk.session.speed == 1.0
    assert "real time" in desk.notice.text
    desk.session.run_to_event()
    assert not desk.session.is_busy

    desk.session.pause()
    with pytest.raises(TimeoutError):
        desk.run_until_done(client.send_batch("SELECT 1"), turns=5)
    desk.ports.update_page()
    assert "Paused" in window.state.text()
    desk.session.play()
    client.close()
    desk.ports.close()
    assert "NODE_1#tds1" not in listener.world.sessions
    assert desk.ports.dialog is None


def test_each_tool_has_a_connection_string_for_each_server(desk: StubDesk) -> None:
    desk.ports.show_ports()
    listener, window = desk.ports.listener, desk.ports.dialog
    assert listener is not None
    assert window is not None
    assert len(CONNECTION_STRING_TEMPLATES) >= 10
    for server in range(window.server.count()):
        window.server.setCurrentIndex(server)
        name = window.server.currentData()
        for tool in range(window.tool.count()):
            window.tool.setCurrentIndex(tool)
            text = window.text.toPlainText()
            assert "{" not in text.replace("{ODBC", "")
            assert str(listener.ports[name]) in text
            assert listener.password in text
    window.copy.click()


def test_a_new_run_closes_the_ports(desk: StubDesk) -> None:
    desk.ports.show_ports()
    desk.session.open_run(Drill(load_shipped_scenario("lab"), 1), NullRecorder())
    assert desk.ports.listener is None


def test_without_a_run_no_port_is_open(desk: StubDesk) -> None:
    desk.session.close()
    desk.ports.show_ports()
    assert desk.ports.listener is None
    assert "Start a drill" in desk.notice.text
