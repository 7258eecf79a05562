"""Tests of the window of a team role: visible data, permitted inputs, and the lines that it sends."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtGui import QCloseEvent, QFontMetrics, QKeySequence
from PySide6.QtWidgets import QMenu, QTableView
from pytestqt.qtbot import QtBot

from app.classroom.log_entries import REWIND_LINE, LogEntry
from app.classroom.messages.team import (
    MemberWelcome,
    RoleView,
    TeamDrillEnded,
    TeamGoal,
    TeamPoints,
    TeamResult,
    TeamRole,
)
from app.classroom.verdict import judge_log
from app.main_window.assembly import WindowAssembler
from app.main_window.team_desk import TeamDesk
from app.view_models.action_offers import ActionTarget
from app.view_models.role_topology import limit_to_role
from app.view_models.topology_builder import build_topology_contents
from app.widgets import theme
from engine.drill.authoring.problems import ScenarioError
from engine.drill.running.drill import Drill
from engine.drill.team.rights import find_role
from engine.drill.team.role_view import build_observation
from tests.app.main_window.conftest import WindowUser
from tests.assertions import require
from tests.children import find_child
from tests.shipped_scenarios import load_shipped_scenario

CABLE_DRILL = load_shipped_scenario("team-cable")
ORDER = "plug in the cable of PAY1"
PROCESS_MS = 60_000


class StubTeam:
    """World of a team that builds the messages for the desks of its members."""

    def __init__(self) -> None:
        self.drill = Drill(CABLE_DRILL)
        self.log: list[LogEntry] = []

    def build_welcome(self, key: str) -> MemberWelcome:
        role = find_role(CABLE_DRILL.team, key)
        seats = [TeamRole(require(role.key), role.name, None, connected=False) for role in CABLE_DRILL.team]
        return MemberWelcome(
            key, role.name, role.text, list(role.does), CABLE_DRILL.title, CABLE_DRILL.brief, seats, 0,
            CABLE_DRILL.name, CABLE_DRILL.text, self.drill.seed, self.drill.mode,
        )  # fmt: skip

    def apply_line(self, line: str) -> None:
        self.drill.apply_line(line)
        self.log.append(LogEntry(len(self.log) + 1, self.drill.tick, line, "", 0))

    def show_on_desk(self, desk: TeamDesk, sent_count: int = 0, **fields: Any) -> int:
        """Show the current state on *desk*, with the log entries after the first *sent_count*. Return the number of
        all entries.
        """
        team_view = build_observation(self.drill, desk.replica.role)
        desk.show_view(RoleView(False, 0, team_view, self.drill.tick, self.log[sent_count:], **fields))
        return len(self.log)


def open_desk(qtbot: QtBot, team: StubTeam, key: str) -> tuple[TeamDesk, list[str]]:
    desk, messages = TeamDesk(team.build_welcome(key)), list[str]()
    qtbot.addWidget(desk)
    desk.line_sent.connect(messages.append)
    return desk, messages


def find_server(desk: TeamDesk, name: str) -> Any:
    picture = require(desk.topology.contents)
    return next(face for face in picture.servers if face.name == name)


def test_each_button_of_a_role_has_its_own_key(qtbot: QtBot) -> None:
    desk, _ = open_desk(qtbot, StubTeam(), "room")
    panel = desk.panel
    texts = [button.text() for button in (panel.send, panel.read_back, panel.confirm, panel.hand)]
    keys = [QKeySequence.mnemonic(text).toString() for text in texts]
    assert sorted(keys) == sorted(set(keys))


def test_a_role_reads_back_and_confirms(qtbot: QtBot) -> None:
    team = StubTeam()
    team.drill.advance_to(7_000)
    team.apply_line(f"@dba call room {ORDER}")
    room, room_said = open_desk(qtbot, team, "room")
    dba, dba_said = open_desk(qtbot, team, "dba")
    for desk in (room, dba):
        team.show_on_desk(desk)
    panel = room.panel
    assert (panel.read_back.isEnabled(), dba.panel.read_back.isEnabled()) == (True, False)
    qtbot.mouseClick(panel.read_back, Qt.MouseButton.LeftButton)
    assert panel.line.text() == "read-back dba "  # the member must type the words of the order
    panel.line.insert(ORDER)
    qtbot.keyClick(panel.line, Qt.Key.Key_Return)
    team.apply_line(f"@room {room_said[-1]}")
    input_shown = team.show_on_desk(dba, 1)
    qtbot.mouseClick(dba.panel.confirm, Qt.MouseButton.LeftButton)
    team.apply_line(f"@dba {dba_said[-1]}")
    assert (room_said, dba_said) == ([f"read-back dba {ORDER}"], ["confirm room"])
    assert team.drill.calls[-1].confirmed_tick == team.drill.tick
    team.show_on_desk(dba, input_shown)
    assert not dba.panel.confirm.isEnabled()
    assert dba.replica.drill.compute_state_hash() == team.drill.compute_state_hash()


def test_picture_shows_what_the_role_sees(qtbot: QtBot) -> None:
    """The technician sees lamps and plugs, the DBA sees databases, and the manager sees only goals."""
    team = StubTeam()
    team.drill.advance_to(7_000)
    team.apply_line("@dba note look")
    room, dba, manager = (open_desk(qtbot, team, key)[0] for key in ("room", "dba", "manager"))
    for desk in (room, dba, manager):
        team.show_on_desk(desk)
    assert (find_server(room, "PAY1").status.label, find_server(room, "PAY1").copies) == ("power on", ())
    assert find_server(room, "PAY1").faults == ("network cables unplugged",)
    assert find_server(dba, "PAY1").status.label == "does not respond"
    assert find_server(dba, "PAY1").faults == ()
    (copy,) = find_server(dba, "PAY2").copies
    assert copy.role.label == "PRINCIPAL"
    assert find_server(manager, "PAY2").status.label == "not visible"
    assert not manager.console.isVisibleTo(manager)
    assert "Manager may not run T-SQL" in manager.no_sql.text()
    assert "✓" not in room.duties.toPlainText(), "the technician does not see goals"
    assert "The tills work on PAY2" in dba.duties.toPlainText()
    rows = find_child(dba.events, QTableView).model()
    events = [
        str(rows.index(row, 0).data()) + str(rows.index(row, rows.columnCount() - 1).data())
        for row in range(rows.rowCount())
    ]
    assert events
    assert not any("cable" in text for text in events)


@pytest.mark.parametrize(
    ("key", "line", "is_allowed"),
    [
        ("room", "pull-cable PAY2", True),
        ("room", "stop-service PAY2", False),
        ("dba", "pull-cable PAY2", False),
    ],
)
def test_menu_disables_what_the_role_may_not_do(qtbot: QtBot, key: str, line: str, is_allowed: bool) -> None:
    team = StubTeam()
    desk, _ = open_desk(qtbot, team, key)
    team.show_on_desk(desk)
    menu = QMenu()
    qtbot.addWidget(menu)
    desk.topology.fill_menu(menu, ActionTarget("server", ("PAY2",)))
    actions = [*menu.actions(), *(action for sub in menu.findChildren(QMenu) for action in sub.actions())]
    (action,) = [action for action in actions if action.property("line") == line]
    assert action.isEnabled() is is_allowed
    assert ("may not do this" in action.toolTip()) is not is_allowed


def test_query_of_the_role_shows_its_result_and_that_of_others_stays_hidden(qtbot: QtBot) -> None:
    team = StubTeam()
    (dba, dba_messages), (room, _) = open_desk(qtbot, team, "dba"), open_desk(qtbot, team, "room")
    for desk in (dba, room):
        team.show_on_desk(desk)
    window = require(dba.console.open_query("PAY2"))
    window.editor.replace_all("SELECT 1 AS one")
    dba.console.run_front_text()
    team.apply_line(f"@dba {dba_messages[-1]}")
    team.drill.advance_to(team.drill.tick + 500)
    for desk in (dba, room):
        team.show_on_desk(desk)
    assert not window.is_busy
    dba.console.run_front_text()
    assert window.is_busy
    dba.show_reply("the class is frozen", is_refusal=True)
    assert not window.is_busy
    assert dba.panel.answer.text() == "the class is frozen"


def test_an_order_and_its_state_are_readable_at_1366_pixels(qtbot: QtBot) -> None:
    team = StubTeam()
    team.drill.advance_to(7_000)
    team.apply_line(f"@dba call room {ORDER}")
    desk, _ = open_desk(qtbot, team, "dba")
    team.show_on_desk(desk)
    desk.resize(1366, 700)
    with qtbot.waitExposed(desk):
        desk.show()
    calls = desk.panel.calls
    column = next(column for column in calls.table.columns if column.detail and "Order" in column.title)
    assert require(column.detail)(calls.table.rows[-1]) == "waiting for read-back"
    width = QFontMetrics(theme.resize_font(calls.font(), 1.0, bold=True)).horizontalAdvance(ORDER)
    assert calls.columnWidth(calls.table.columns.index(column)) >= width
    header = calls.horizontalHeader()
    assert sum(header.sectionSize(index) for index in range(header.count())) <= calls.viewport().width()


def test_desk_follows_a_rewind(qtbot: QtBot) -> None:
    team = StubTeam()
    desk, _ = open_desk(qtbot, team, "dba")
    team.drill.advance_to(7_000)
    team.apply_line("@dba sql PAY2 SELECT 1")
    input_shown = team.show_on_desk(desk)
    team.drill = Drill(CABLE_DRILL)
    team.drill.advance_to(2_000)
    team.log.append(LogEntry(len(team.log) + 1, 2_000, REWIND_LINE, "", 1))
    team.show_on_desk(desk, input_shown)
    assert desk.replica.drill.tick == 2_000
    assert desk.replica.drill.compute_state_hash() == team.drill.compute_state_hash()


def test_lobby_names_vacant_roles_until_somebody_starts(qtbot: QtBot) -> None:
    team = StubTeam()
    desk, _ = open_desk(qtbot, team, "dba")
    started: list[bool] = []
    desk.panel.start_wanted.connect(lambda: started.append(True))
    team.show_on_desk(desk, waits_for=["Manager"])
    panel = desk.panel
    assert "Manager" in panel.waiting.text()
    assert not panel.start.isHidden()
    panel.start.click()
    assert started == [True]
    team.show_on_desk(desk, waits_for=[])
    assert panel.start.isHidden()
    assert "`" not in desk.duties.toPlainText(), "the brief is formatted"
    panel.line_beginning.setCurrentIndex(1)
    panel.line_beginning.activated.emit(1)
    assert (panel.line.text(), panel.line_beginning.currentIndex()) == (
        f"{panel.line_beginning.itemText(1)} ",
        0,
    )
    with qtbot.waitExposed(desk):
        desk.show()
    desk.activateWindow()
    with qtbot.waitSignal(desk.help_wanted):
        qtbot.keyClick(desk.panel.line, Qt.Key.Key_F1)


def test_desk_says_while_its_team_does_not_answer(qtbot: QtBot) -> None:
    team = StubTeam()
    desk, _ = open_desk(qtbot, team, "dba")
    team.show_on_desk(desk)
    desk.show_connection(is_connected=False)
    assert desk.state.text().startswith("Not connected to the team.")
    desk.show_connection(is_connected=True)
    assert (desk.state.text(), desk.is_over) == ("", False)


@pytest.mark.parametrize("has_result", [True, False])
def test_desk_shows_the_result_of_an_ended_team_and_sends_nothing_more(
    qtbot: QtBot, has_result: bool
) -> None:
    team = StubTeam()
    desk, messages = open_desk(qtbot, team, "dba")
    team.show_on_desk(desk, waits_for=["Manager"])
    verdict_found = judge_log(CABLE_DRILL, CABLE_DRILL.seed, "practice", [LogEntry(1, 100, "finish", "", 0)])
    result = TeamResult(
        [TeamGoal("The tills work on PAY2", 12.0), TeamGoal("PAY1 is the mirror", None)],
        [TeamPoints("Orders", 5.0, 20.0, "1 of 2 orders were confirmed.", "Read back each order.")],
    )
    desk.show_end(TeamDrillEnded(verdict_found, result) if has_result else TeamDrillEnded(None))
    panel = desk.panel
    total = "0 of 100 points. 0 of 2 goals met." if has_result else "There is no result."
    assert panel.result.text() == f"The team has ended. {total}"
    assert desk.state.text() == "The team has ended."
    model = panel.points.model()
    cells = [str(model.index(0, column).data()) for column in range(4)]
    rule = ["Orders", "5 / 20", "1 of 2 orders were confirmed.", "Read back each order."]
    assert (panel.points.isHidden(), cells == rule) == (not has_result, has_result)
    assert ("✓ The tills work on PAY2" in desk.duties.toPlainText()) is has_result
    parts = (panel.line_beginning, panel.line, panel.send, panel.read_back, panel.confirm, panel.hand)
    assert not any(part.isEnabled() for part in parts)
    assert panel.waiting.isHidden()
    assert panel.start.isHidden()
    require(desk.console.open_query("PAY2")).editor.replace_all("SELECT 1")
    desk.console.run_front_text()
    assert not require(desk.console.front_window).is_busy
    desk.topology.requested.emit("pull-cable PAY2")
    assert messages == []
    desk.show_connection(is_connected=False)
    assert desk.is_over
    assert desk.topology.shared_actions.find_refusal("pull-cable PAY2") == "The team has ended."


def test_no_role_view_shows_the_whole_world() -> None:
    """A role without visible data gets a picture with names only."""
    drill = Drill(CABLE_DRILL)
    picture = limit_to_role(
        build_topology_contents(drill.world), drill.world, find_role(CABLE_DRILL.team, "manager")
    )
    texts = picture.spoken
    for word in ("PRINCIPAL", "SYNCHRONIZED", "running", "ok", "transactions"):
        assert word not in texts


def test_a_host_that_does_not_send_the_world_is_refused() -> None:
    """Hosts before version 1.1 send neither the scenario nor its text."""
    welcome = replace(StubTeam().build_welcome("dba"), scenario="", text="", seed=0, mode="")
    with pytest.raises(ScenarioError):
        TeamDesk(welcome, None)


def test_window_that_hosts_a_team_ends_it_for_all(hands: WindowUser, qtbot: QtBot) -> None:
    """Closing the window asks for confirmation first. *End the team* shows the result on the desk of each
    role.
    """
    window = hands.window
    teams = require(window.findChild(WindowAssembler))._get_teams()
    teams.start_team("team-cable", "")
    qtbot.waitUntil(lambda: teams._code is not None, timeout=PROCESS_MS)
    code = require(teams._code)
    teams.take_role(code.join_code, "Ann", "dba")
    qtbot.waitUntil(lambda: teams.seat is not None and bool(teams.seat.time.text()), timeout=PROCESS_MS)
    desk = require(teams.seat)
    desk.panel.start_wanted.emit()
    qtbot.waitUntil(lambda: desk.replica.drill.tick > 0, timeout=PROCESS_MS)
    window.close_wanted.emit(closed := QCloseEvent())
    box = require(window.confirmations.box)
    assert not closed.isAccepted()
    assert "team" in box.text()
    box.reject()
    assert teams.is_hosting
    assert window.isVisible()
    code.end.click()
    hands.confirm_action()
    qtbot.waitUntil(lambda: not teams.is_hosting, timeout=PROCESS_MS)
    assert desk.panel.result.text().startswith("The team has ended. ")
    assert desk.panel.points.table.rowCount() > 0
    assert window.notice.text == "The team has ended. Its inputs are saved."
    desk.close()
