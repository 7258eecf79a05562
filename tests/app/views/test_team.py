"""The window of a role: what it shows of a view, and which lines it says."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from app.views.team import TakeRole, TeamCode, TeamSeat
from engine.drill.running.drill import Drill
from engine.drill.running.solution import play_reference
from engine.drill.team.rights import find_role
from engine.drill.team.view import view
from tests.shipped_scenarios import load_shipped_scenario

CABLE = load_shipped_scenario("team-cable")
ORDER = "plug in the cable of PAY1"


def welcome(key: str) -> Any:
    role = find_role(CABLE.team, key)
    seats = [{"key": one.key, "name": one.name, "taken_by": None} for one in CABLE.team]
    return {"kind": "welcome", "role": key, "role_name": role.name, "role_text": role.text, "does": list(role.does),
            "title": CABLE.title, "brief": CABLE.brief, "roles": seats, "done": 0}  # fmt: skip


def build_view_message(drill: Drill, key: str) -> Any:
    return {"kind": "view", "frozen": False, "done": 0, "view": view(drill, find_role(CABLE.team, key))}


def rows(seat: TeamSeat) -> list[list[str]]:
    table = seat.seen.table
    return [[str(table.index(row, column).data()) for column in range(3)] for row in range(table.rowCount())]


def test_a_role_reads_back_and_confirms(qtbot: QtBot) -> None:
    drill = Drill(CABLE)
    drill.advance_to(7_000)
    drill.do(f"@dba call room {ORDER}")
    room, dba = TeamSeat(welcome("room")), TeamSeat(welcome("dba"))
    said: list[str] = []
    for seat, key in ((room, "room"), (dba, "dba")):
        qtbot.addWidget(seat)
        seat.said.connect(said.append)
        seat.show_view(build_view_message(drill, key))
    assert rows(room)[0] == ["Computer", "PAY1", "on, no link: cable or network adapter"]
    assert ["Server", "PAY1", "not responding"] in rows(dba)
    assert ["Database", "Payments @ PAY2", "PRINCIPAL, DISCONNECTED"] in rows(dba)
    assert (room.read_back.isEnabled(), dba.read_back.isEnabled(), dba.confirm.isEnabled()) == (
        True,
        False,
        False,
    )
    assert "DBA to Computer room: plug in" in room.news.toPlainText()

    qtbot.mouseClick(room.read_back, Qt.MouseButton.LeftButton)
    assert room.line.text() == "read-back dba "  # the words are for the member to find
    room.line.insert(ORDER)
    qtbot.keyClick(room.line, Qt.Key.Key_Return)
    drill.do(f"@room {said[-1]}")
    dba.show_view(build_view_message(drill, "dba"))
    qtbot.mouseClick(dba.confirm, Qt.MouseButton.LeftButton)
    drill.do(f"@dba {said[-1]}")
    assert said == [f"read-back dba {ORDER}", "confirm room"]
    assert drill.calls[-1].confirmed_tick == drill.tick
    dba.show_view(build_view_message(drill, "dba"))
    assert not dba.confirm.isEnabled()


def test_every_part_of_a_view_is_shown(qtbot: QtBot) -> None:
    drill = play_reference(CABLE)
    seat = TeamSeat(welcome("dba"))
    qtbot.addWidget(seat)
    seat.show_view(build_view_message(drill, "dba"))
    assert {row[0] for row in rows(seat)} == {"Database", "Client", "Queues", "Goal"}
    assert "PRINCIPAL" in seat.news.toPlainText()  # of the SELECT, as a table
    assert "(5 rows affected)" in seat.news.toPlainText()


def test_dialog_of_a_role_has_one_button_that_takes_it(qtbot: QtBot) -> None:
    dialog = TakeRole("Ann", code="CODE")
    qtbot.addWidget(dialog)
    taken: list[tuple[object, ...]] = []
    dialog.wanted.connect(lambda *words: taken.append(words))
    texts = sorted(one.text() for one in dialog.findChildren(QPushButton))
    assert texts == ["&Show roles", "&Take role", "Cancel"]
    assert not dialog.take.isEnabled()
    dialog.show_roles([{"key": "dba", "name": "DBA", "taken_by": None, "connected": False}])
    assert sorted(one.text() for one in dialog.findChildren(QPushButton)) == texts
    dialog.take.click()
    assert taken == [("CODE", "Ann", "dba", False)]


def test_lobby_names_vacant_roles_until_somebody_starts(qtbot: QtBot) -> None:
    seat = TeamSeat(welcome("dba"))
    qtbot.addWidget(seat)
    started: list[bool] = []
    seat.start_wanted.connect(lambda: started.append(True))
    drill = Drill(CABLE)
    seat.show_view(build_view_message(drill, "dba") | {"waits_for": ["Manager"]})
    assert "Manager" in seat.waiting.text()
    assert not seat.start.isHidden()
    seat.start.click()
    assert started == [True]
    seat.show_view(build_view_message(drill, "dba") | {"waits_for": []})
    assert seat.start.isHidden()
    assert "`" not in seat.brief.toPlainText(), "the brief is formatted"
    seat.begin.setCurrentIndex(1)
    seat.begin.activated.emit(1)
    assert (seat.line.text(), seat.begin.currentIndex()) == (f"{seat.begin.itemText(1)} ", 0)


def test_code_of_a_team_is_large_and_ends_it(qtbot: QtBot) -> None:
    code = TeamCode("ABCDE-FGHJK-MNPQR-STVWX@10.0.0.5:40123")
    qtbot.addWidget(code)
    assert code.code.text() == "ABCDE-FGHJK-MNPQR-STVWX"
    with qtbot.waitSignal(code.end_wanted):
        code.end.click()
