"""Tests of the class dashboard: the display of a seat, and the messages to the host."""

from __future__ import annotations

from typing import Any

import pytest
import segno
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from app.classroom.class_check import ClassCheckResult
from app.classroom.console import parse_request
from app.classroom.messages.replies import ClassMark, DashboardUpdate, SeatTile
from app.classroom.verdict import judge_log
from app.views.classroom import InstructorStation, JumpTarget, ReplayPage
from app.views.classroom.lobby import ProjectorView
from app.views.help import HELP_PAGE_ORDER
from app.widgets import theme
from app.words import language
from engine.drill.judging.report import get_program_version
from engine.drill.running.drill import Drill
from engine.drill.running.modes import DrillMode
from engine.drill.time.history import History
from tests import painted
from tests.assertions import require
from tests.shipped_scenarios import load_shipped_scenario

LAB = load_shipped_scenario("lab")
STATE, SCORE = 2, 3
"""Columns of the roster."""


def build_tile(number: int, name: str, **fields: Any) -> SeatTile:
    result: Any = {**judge_log(LAB, LAB.seed, "lab", []), **fields.pop("verdict", {})}
    defaults: Any = {
        "group": "",
        "stopped": False,
        "until_s": None,
        "ends_in_s": None,
        "connected": True,
        "frozen": False,
        "over": False,
        "at_s": 83.0,
        "acknowledged": 0,
        "unanswered": [],
        "hand": None,
        "hand_place": None,
        "consent": False,
        "held": False,
        "version": get_program_version(),
        "recording": True,
        "reachable": None,
        "worth": [],
    }
    return SeatTile(**{"seat": number, "name": name, **defaults, "verdict": result, **fields})


def build_board(
    *tiles: SeatTile, state: str = "running", not_frozen: tuple[str, ...] = ()
) -> DashboardUpdate:
    return DashboardUpdate(
        state=state, part="", part_number=1, parts=1, not_frozen=list(not_frozen), tiles=list(tiles),
        ends_in_s=None, break_s=None, clock_s=None,
    )  # fmt: skip


@pytest.fixture
def board(qtbot: QtBot) -> InstructorStation:
    board = InstructorStation()
    qtbot.addWidget(board)
    board.show_code("ABCDE-FGHJK-MNPQR-STVWX@10.0.0.5:7443")
    return board


def test_the_board_fits_a_small_screen_at_any_text_size(qtbot: QtBot, qapp: QApplication) -> None:
    before = qapp.font()
    language.use_language(language.PSEUDO_LANGUAGE)
    try:
        qapp.setFont(theme.resize_font(before, 2.0))
        board = InstructorStation()
        qtbot.addWidget(board)
        board.show_code("ABCDE-FGHJK-MNPQR-STVWX@192.168.100.105:7443")
        assert board.minimumSizeHint().width() < 1366
    finally:
        qapp.setFont(before)
        language.use_language(language.ENGLISH)


def test_the_roster_shows_scores_and_goals_without_scrolling(qtbot: QtBot, qapp: QApplication) -> None:
    before = qapp.font()
    language.use_language("de")
    try:
        qapp.setFont(theme.resize_font(before, 1.5))
        board = InstructorStation()
        qtbot.addWidget(board)
        board.resize(1366, 740)
        board.show()
        board.show_dashboard(build_board(build_tile(1, "Ann", reachable=100.0)))
        assert board.tiles.horizontalScrollBar().maximum() == 0
        text = list_cells(board, 0)[SCORE].replace("0 ", "100 ", 1)
        assert board.tiles.columnWidth(SCORE) > board.tiles.fontMetrics().horizontalAdvance(text)
    finally:
        qapp.setFont(before)
        language.use_language(language.ENGLISH)


def test_the_headings_on_the_projector_are_as_large_as_the_rows(qtbot: QtBot, qapp: QApplication) -> None:
    """A style sheet resets a font that is set before the widget gets its parent."""
    qapp.setStyleSheet("QHeaderView { background: white; }")
    try:
        projector = ProjectorView()
        qtbot.addWidget(projector)
        projector.show()
        assert projector.tiles.horizontalHeader().font().pointSizeF() == projector.tiles.font().pointSizeF()
    finally:
        qapp.setStyleSheet("")


def list_cells(board: InstructorStation, row: int) -> list[str]:
    table = board.tiles.table
    return [table.index(row, column).data() for column in range(table.columnCount())]


def list_details(board: InstructorStation, row: int) -> list[str]:
    """Return the second lines of those cells that have two lines."""
    table = board.tiles.table
    return [column.detail(table.rows[row]) for column in table.columns if column.detail is not None]


def test_a_seat_is_one_row_at_all_times(board: InstructorStation) -> None:
    board.show_dashboard(build_board(build_tile(2, "Bob"), build_tile(1, "Ann")))
    actions = {
        "last_act_t_s": 65.5,
        "last_act": "power-on SERVER_A",
        "score": 87.4,
        "goals": {"a": 3.0, "b": None},
    }
    board.show_dashboard(build_board(build_tile(1, "Ann", verdict=actions)))
    assert list_cells(board, 0) == ["1", "Ann", "Active", "87", "1/2", "SERVER_A ▸ Power on"]
    assert list_details(board, 0) == ["1:23", "", "at 1:06"]
    assert list_cells(board, 1)[:2] == ["2", "Bob"]
    assert board.tiles.table.rowCount() == 2
    actions |= {"instructor_act_t_s": 70.0, "instructor_act": "power-off SERVER_B"}
    board.show_dashboard(build_board(build_tile(1, "Ann", verdict=actions)))
    assert list_cells(board, 0)[5] == "SERVER_B ▸ Power off"
    assert list_details(board, 0)[2] == "entered by you at 1:10"


def test_list_stays_where_it_was_scrolled_while_seats_change(board: InstructorStation, qtbot: QtBot) -> None:
    seats = [build_tile(number, f"Person {number}") for number in range(1, 61)]
    board.show_dashboard(build_board(*seats))
    board.show()
    qtbot.waitExposed(board)
    board.tiles.selectRow(0)
    bar = board.tiles.verticalScrollBar()
    bar.setValue(bar.maximum())
    assert bar.value() > 0
    board.show_dashboard(build_board(*(build_tile(seat.seat, seat.name, at_s=200.0) for seat in seats)))
    qtbot.wait(10)
    assert (bar.value(), board.selected_seat) == (bar.maximum(), 1)


@pytest.mark.parametrize("code", [language.ENGLISH, "de"])
def test_each_button_of_the_station_has_its_own_key(qtbot: QtBot, code: str) -> None:
    language.use_language(code)
    try:
        board = InstructorStation()
        qtbot.addWidget(board)
        board.set_replay_page(page := ReplayPage(StubPicture))
        pages = [require(board.pages.widget(0)), page]
        for hidden, active in ((pages[1], False), (pages[0], False), (pages[0], True)):
            page.share.setChecked(active)
            page.play.setChecked(active)
            buttons = [
                button for button in board.findChildren(QPushButton) if not hidden.isAncestorOf(button)
            ]
            keys = [key for button in buttons if (key := QKeySequence.mnemonic(button.text()).toString())]
            assert len(keys) > 10
            assert sorted(keys) == sorted(set(keys))
    finally:
        language.use_language(language.ENGLISH)


def test_prepared_events_name_their_recipient(board: InstructorStation) -> None:
    assert board.events_recipient.text().endswith("immediately to all.")
    board.show_dashboard(build_board(build_tile(7, "Ann")))
    board.tiles.selectRow(0)
    board.recipient.setCurrentIndex(1)
    assert board.events_recipient.text().endswith("immediately to Seat 7, Ann.")


def test_markup_in_names_and_questions_is_shown_as_text(board: InstructorStation) -> None:
    asks = build_tile(1, "<h1>Ann</h1>", hand="<img src='x'>", hand_place=1)
    board.show_dashboard(build_board(asks))
    board.tiles.selectRow(0)
    assert {label.textFormat() for label in board.findChildren(QLabel)} == {Qt.TextFormat.PlainText}
    projector = board.show_projector()
    assert {label.textFormat() for label in projector.findChildren(QLabel)} == {Qt.TextFormat.PlainText}
    projector.close()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"connected": False}, ["Not connected", "recorded up to 1:23"]),
        ({"frozen": True}, ["Frozen", ""]),
        ({"frozen": True, "at_s": 0.0}, ["Ready", ""]),
        (
            {"frozen": True, "at_s": 0.0, "version": ""},
            ["Older version", "Install the same version as on this computer."],
        ),
        (
            {"version": "1.0.1", "verdict": {"parted_t_s": 5.0, "parted": "another state"}},
            ["Active", "Version 1.0.1: states of the run not verified"],
        ),
        ({"frozen": True, "at_s": 0.0, "recording": False}, ["Not recording yet", ""]),
        ({"hand": "Why?", "hand_place": 1}, ["Raised hand", "1. “Why?”"]),
        ({"over": True, "connected": False}, ["Finished", ""]),
        ({"verdict": {"stuck_since_s": 60.0, "goals": {"a": None}}}, ["Idle since 1:00", ""]),
        (
            {"worth": [(9.0, 100.0), (70.0, 84.0)], "verdict": {"last_act": "power-off SERVER_B"}},
            ["Lost 16 points at 1:10", "SERVER_B ▸ Power off"],
        ),
        ({"worth": [(9.0, 100.0), (70.0, 86.0)]}, ["Active", ""]),
        ({"paused": True}, ["Paused by participant", ""]),
        ({"paused": True, "frozen": True}, ["Frozen", ""]),
        ({"worth": [(9.0, 100.0), (70.0, 50.0)], "at_s": 251.0}, ["Active", ""]),
        (
            {"verdict": {"parted_t_s": 125.0, "parted": "another state"}, "over": True},
            ["Replay differs at 2:05", "another state"],
        ),
    ],
)
def test_problems_that_need_attention_are_shown(
    board: InstructorStation, fields: dict[str, Any], message: list[str]
) -> None:
    board.show_dashboard(build_board(build_tile(1, "Ann", **fields)))
    assert [list_cells(board, 0)[STATE], list_details(board, 0)[1]] == message


def test_seats_are_sorted_and_the_line_applies_to_the_selected_seat(
    board: InstructorStation, qtbot: QtBot
) -> None:
    lines: list[str] = []
    board.line_entered.connect(lambda line, recipient: lines.append(line))
    asks = build_tile(3, "Cem", hand="Which server?", hand_place=1)
    idle = build_tile(2, "Ann", verdict={"stuck_since_s": 9.0})
    mistaken = build_tile(4, "Dan", worth=[(0.0, 100.0), (9.0, 20.0)])
    board.show_dashboard(build_board(build_tile(1, "Bob"), idle, asks, mistaken))
    assert [list_cells(board, row)[1] for row in range(4)] == ["Cem", "Dan", "Ann", "Bob"]
    board.tiles.selectRow(2)
    assert list_details(board, 0)[1] == "1. “Which server?”"
    qtbot.mouseClick(board.of_seat["take"], Qt.MouseButton.LeftButton)
    board.sort_order.setCurrentText("by name")
    qtbot.mouseClick(board.of_seat["look"], Qt.MouseButton.LeftButton)
    assert lines == ["take 2", "look 2"], "the seat stays selected wherever its row goes"
    assert [getattr(parse_request(line), "seat", None) for line in lines] == [2, 2]
    board.hide_names.setChecked(True)
    board.show_dashboard(build_board(asks, state="frozen", not_frozen=("Cem",)))
    assert "Cem" not in board.state.text() + "".join(list_cells(board, row)[1] for row in range(4))
    board.tiles.selectRow(2)
    assert board.recipient.itemText(1) == "to Seat 3"
    assert board.question.text() == "Seat 3 asks: “Which server?”"


def test_the_reason_of_a_refusal_stays_until_the_next_request(board: InstructorStation) -> None:
    board.show_reply("you cannot show another seat during an exam")
    board.show_dashboard(build_board(build_tile(1, "Ann")))
    assert board.answer.text().startswith("you cannot show")
    board.freeze_button.click()
    assert not board.answer.text().strip()


def test_seats_that_are_not_frozen_are_named(board: InstructorStation) -> None:
    board.show_dashboard(
        build_board(build_tile(1, "Ann"), build_tile(2, "Bob"), state="frozen", not_frozen=("Bob",))
    )
    assert board.state.text() == "2 seats, 2 connected. Seats not frozen yet: Bob."
    assert (board.freeze_button.isEnabled(), board.resume_button.isEnabled()) == (False, True)


def test_the_board_sends_what_the_console_understands(board: InstructorStation, qtbot: QtBot) -> None:
    lines: list[str] = []
    board.line_entered.connect(lambda line, recipient: lines.append(line))
    board.show_dashboard(build_board(build_tile(7, "Ann")))
    qtbot.mouseClick(board.freeze_button, Qt.MouseButton.LeftButton)
    qtbot.mouseClick(board.finish, Qt.MouseButton.LeftButton)
    board.text.setText("look at the mirror")
    qtbot.keyClick(board.text, Qt.Key.Key_Return)
    board.instruction.setCurrentIndex(1)
    board.recipient.setCurrentIndex(1)
    board.text.setText("power-off SERVER_A")
    qtbot.mouseClick(board.send, Qt.MouseButton.LeftButton)
    assert "Select a seat" in board.answer.text()
    board.tiles.selectRow(0)
    qtbot.mouseClick(board.send, Qt.MouseButton.LeftButton)
    assert lines == [
        "freeze", "finish", "message all look at the mirror", "inject 7 power-off SERVER_A",
    ]  # fmt: skip
    assert [getattr(parse_request(line), "seat", None) for line in lines] == [None, None, None, 7]
    assert board.text.text() == ""


def test_all_messages_are_understood_and_groups_can_be_addressed(
    board: InstructorStation, qtbot: QtBot
) -> None:
    lines: list[str] = []
    board.line_entered.connect(lambda line, recipient: lines.append(line))
    board.show_dashboard(
        replace(
            build_board(build_tile(7, "Ann", group="Blue", stopped=True), state="frozen"),
            break_s=60.0,
            ends_in_s=600.0,
        )
    )
    assert board.state.text().count("break until") == 1
    assert board.resume_button.isEnabled(), "one that is stopped on its own can go on"
    board.recipient.setCurrentIndex(board.recipient.findData("@Blue"))
    board.tiles.selectRow(0)
    texts = {
        "Assign the selected seat to group": "Red",
        "Break": "5",
        "Class clock": "own",
        "Restart": "",
    }
    for place in range(board.instruction.count()):
        board.instruction.setCurrentIndex(place)
        board.text.setText(texts.get(board.instruction.currentData(), "2:30"))
        qtbot.mouseClick(board.send, Qt.MouseButton.LeftButton)
    assert len(lines) == board.instruction.count()
    recipients = [
        (getattr(parse_request(line), "seat", None), getattr(parse_request(line), "group", None))
        for line in lines
    ]
    assert recipients[:8] == [(None, "Blue")] * 8
    assert [parse_request(line).kind for line in lines[2:]] == [
        "freeze", "go", "freeze", "extend", "back", "back", "group", "mark", "break", "clock",
    ]  # fmt: skip


def test_the_code_is_shown_in_large_text_and_as_a_qr_code(board: InstructorStation, qtbot: QtBot) -> None:
    code = "ABCDE-FGHJK-MNPQR-STVWX@192.168.1.5:7443"
    board.show_code(code)
    sheet = board.show_projector()
    qtbot.addWidget(sheet)
    assert sheet.code.text() + sheet.address.text() == code
    qr = sheet.qr
    qr.setMaximumHeight(320)
    qr.resize(300, 320)
    rows, picture = qr.rows, painted.render_picture(qr)
    pixels = 300 // len(rows)
    left, top = (300 - pixels * len(rows)) // 2, (320 - pixels * len(rows)) // 2
    modules = tuple(
        tuple(int(picture.pixelColor(left + x * pixels + 2, top + y * pixels + 2).lightness() < 128)
              for x in range(len(rows)))
        for y in range(len(rows))
    )  # fmt: skip
    assert (
        modules
        == rows
        == tuple(tuple(row) for row in segno.make(code, micro=False, error="m").matrix_iter(border=4))
    )
    board.close()
    assert not sheet.isVisible()


def test_the_reachable_score_is_shown_next_to_the_score(qtbot: QtBot, board: InstructorStation) -> None:
    """The curve is flat without a loss, falls after a loss, and is missing before the score is known."""
    flat, falling = [(30.0, 100.0), (60.0, 100.0)], [(30.0, 100.0), (60.0, 0.0)]
    board.sort_order.setCurrentText("by seat")
    board.show_dashboard(
        build_board(
            build_tile(1, "Ann", verdict={"score": 40.4}, reachable=100.0, worth=flat),
            build_tile(2, "Bob", reachable=0.4, worth=falling),
            build_tile(3, "Cem"),
        )
    )
    assert [list_cells(board, row)[SCORE] for row in range(3)] == [
        "40 points, 100 possible",
        "0 points, 0 possible",
        "",
    ]
    tip = board.tiles.table.columns[SCORE].tip
    assert tip is not None
    assert tip(board.tiles.table.rows[1]).splitlines()[1:] == ["0:30  100", "1:00  0"]
    board.side.hide()
    board.resize(1200, 500)
    board.show()
    line = theme.get_theme_tokens(board.palette()).series[0]
    image = painted.render_picture(board.tiles.viewport())

    def measure_curve_ends(row: int) -> tuple[int, int] | None:
        """Return the heights of the curve at the left and right end of its cell."""
        box = board.tiles.visualRect(board.tiles.table.index(row, SCORE))
        pixels = [
            (x, y)
            for x in range(box.left(), box.right())
            for y in range(box.top(), box.bottom())
            if image.pixelColor(x, y) == line
        ]
        return (min(pixels)[1] - box.top(), max(pixels)[1] - box.top()) if pixels else None

    top, still_top = measure_curve_ends(0) or (0, 0)
    high, low = measure_curve_ends(1) or (0, 0)
    assert abs(top - still_top) <= 1
    assert abs(high - top) <= 1
    assert low > high + 5
    assert measure_curve_ends(2) is None


def test_rows_do_not_move_under_the_pointer(
    board: InstructorStation, monkeypatch: pytest.MonkeyPatch
) -> None:
    board.show_dashboard(build_board(build_tile(1, "Ann"), build_tile(2, "Bob")))
    monkeypatch.setattr(board.tiles, "is_pointed_at", lambda: True)
    board.show_dashboard(
        build_board(
            build_tile(2, "Bob", hand="Why?", hand_place=1), build_tile(3, "Cem", hand="?", hand_place=2)
        )
    )
    assert [list_cells(board, row)[1] for row in range(3)] == ["Ann", "Bob", "Cem"]
    monkeypatch.setattr(board.tiles, "is_pointed_at", lambda: False)
    board.show_dashboard(build_board())
    assert [list_cells(board, row)[1] for row in range(3)] == ["Bob", "Cem", "Ann"]
    assert board.help_count.text() == "2 seats need help"


def test_recipients_are_seats_with_numbers(board: InstructorStation, qtbot: QtBot) -> None:
    lines: list[tuple[str, str]] = []
    board.line_entered.connect(lambda line, recipient: lines.append((line, recipient)))
    board.show_class("Cable", "Ask first.", ["power-off SERVER_A"])
    board.show_dashboard(build_board(build_tile(1, "Ann"), build_tile(7, "Ann 2")))
    board.tiles.selectRow(1)
    assert board.recipient.itemText(1) == "to Seat 7, Ann 2"
    board.recipient.setCurrentIndex(1)
    (event,) = board.events.findChildren(QPushButton)
    event.click()
    assert lines == [("inject 7 power-off SERVER_A", "Seat 7, Ann 2")]
    assert "Seat 7, Ann 2: inject 7 power-off SERVER_A" in board.sent.toPlainText()


def test_suggested_answer_is_inserted_and_not_sent(board: InstructorStation) -> None:
    lines: list[str] = []
    board.line_entered.connect(lambda line, recipient: lines.append(line))
    board.show_class(
        "Cable", "", [], lambda question, results: [f"{question} {list(results)}", "Look & see. " * 20]
    )
    verdict = {"goals": {"a": 3.0, "b": None}}
    board.show_dashboard(
        build_board(build_tile(1, "Ann"), build_tile(2, "Bob", hand="Why?", hand_place=1, verdict=verdict))
    )
    board.tiles.selectRow(1)
    assert board.suggested.isHidden()
    board.tiles.selectRow(0)
    assert not board.suggested.isHidden()
    board.suggested.answers.aboutToShow.emit()
    first, second = board.suggested.answers.actions()
    assert second.text().startswith("Look && see.")
    assert len(second.text()) < 100
    first.trigger()
    assert (board.text.text(), lines) == ("Why? ['a']", [])
    board.send.click()
    assert lines == ["message 2 Why? ['a']"]


def test_start_stays_visible_on_a_small_screen(board: InstructorStation, qtbot: QtBot) -> None:
    board.resize(1330, 600)
    board.lobby.show_findings([ClassCheckResult("A long finding of the room. " * 5, None)] * 4)
    board.show()
    qtbot.waitExposed(board)
    assert not board.lobby.start.visibleRegion().isEmpty()
    assert not board.lobby.check.visibleRegion().isEmpty()


def test_station_opens_its_help_page(board: InstructorStation, qtbot: QtBot) -> None:
    board.show()
    board.activateWindow()
    qtbot.waitUntil(board.isActiveWindow)
    with qtbot.waitSignal(board.help_wanted):
        qtbot.keyClick(board, Qt.Key.Key_F1)
    assert "classes" in HELP_PAGE_ORDER


def test_lobby_counts_ready_seats_and_starts_after_a_countdown(
    board: InstructorStation, qtbot: QtBot
) -> None:
    lines: list[str] = []
    board.line_entered.connect(lambda line, recipient: lines.append(line))
    waits = {"frozen": True, "at_s": 0.0}
    board.show_dashboard(
        build_board(build_tile(1, "Ann", **waits), build_tile(2, "Bob", version="", **waits), state="frozen")
    )
    assert board.lobby.arrivals.text() == "2 seats have joined, 1 seat is ready"
    assert board.resume_button.isHidden()
    assert "Waiting for the start" in board.state.text()
    projector = board.show_projector()
    qtbot.addWidget(projector)
    assert "Ann, Bob" in projector.state.text()
    board.lobby.start.click()
    assert "3" in board.lobby.start.text()
    qtbot.waitUntil(lambda: lines == ["go"])
    board.show_dashboard(build_board(build_tile(1, "Ann"), build_tile(2, "Bob")))
    assert not board.resume_button.isHidden()
    assert "Ann" not in projector.state.text(), "the room sees numbers while the class runs"


def test_actions_without_effect_after_the_end_are_disabled(board: InstructorStation) -> None:
    board.show_class("Cable", "", ["power-off HEAD1"])
    actions = (
        board.freeze_button, board.resume_button, board.finish, board.lobby.start, board.of_seat["take"],
        board.of_seat["give"], board.events, board.send, board.text, board.recipient,
    )  # fmt: skip
    held_tile = build_tile(1, "Ann", held=True, hand="Why?", hand_place=1)
    board.show_dashboard(build_board(held_tile))
    board.tiles.selectRow(0)
    board.show_watched_seat(1, 83.0, [])
    assert board.watched_label.text().startswith("You control")
    assert not board.suggested.isHidden()
    assert all(part.isEnabled() for part in (*actions[4:], board.finish))
    board.show_dashboard(build_board(replace(held_tile, over=True), state="over"))
    board.show_watched_seat(1, 83.0, [])
    for index in range(board.instruction.count()):
        board.instruction.setCurrentIndex(index)
        has_effect = board.instruction.currentData() == "Mark this time"
        assert [part.isEnabled() for part in actions] == [False] * 7 + [has_effect] * 3
    assert board.suggested.isHidden()
    assert board.watched_label.text().startswith("Watching")
    lines: list[str] = []
    board.line_entered.connect(lambda line, recipient: lines.append(line))
    board.send_to_watched_seat("power-off SERVER_A")
    assert (lines, board.answer.text()) == ([], "The run of this seat has ended.")


def test_next_part_returns_to_the_lobby(board: InstructorStation) -> None:
    view = QWidget()
    board.set_live_view(view)
    parts = replace(build_board(build_tile(1, "Ann")), part="pre", parts=2)
    projector = board.show_projector()
    board.show_dashboard(parts)
    board.show_watched_seat(1, 83.0, [])
    assert (board.side.currentIndex(), board.finish.text()) == (1, "&End this part")
    assert projector.title.text().endswith("Part 1 of 2: Pre-test.")
    waiting = replace(
        build_board(build_tile(1, "Ann", at_s=0.0), state="frozen"), part="post", part_number=2, parts=2
    )
    board.show_dashboard(waiting)
    assert (board.side.currentIndex(), board.finish.text()) == (0, "&End class")
    assert board.lobby.start.isEnabled()
    assert view.isHidden(), "the picture of the earlier part is gone"
    projector.close()


def test_drill_of_the_next_part_replaces_that_of_the_earlier_one(board: InstructorStation) -> None:
    projector = board.show_projector()
    board.show_class("Cable", "Ask first.", ["power-off HEAD1", "power-on HEAD1"])
    board.show_class("Planned failover", "", ["power-off SOUTH1"])
    board.show_dashboard(build_board(build_tile(1, "Ann")))
    shown_events = [
        button.text() for button in board.events.findChildren(QPushButton) if not button.isHidden()
    ]
    assert shown_events == ["SOUTH1 ▸ Power off"]
    assert board.notes.toPlainText() == "No notes from the author."
    assert projector.title.text() == "Planned failover"
    projector.close()


def test_break_before_the_start_is_shown_with_its_end(board: InstructorStation) -> None:
    projector = board.show_projector()
    waiting = build_board(build_tile(1, "Ann", at_s=0.0, acknowledged=0), state="frozen")
    board.show_dashboard(replace(waiting, break_s=300.0))
    assert ", break until " in board.state.text()
    assert ", break until " in projector.state.text()
    board.show_dashboard(waiting)
    assert board.state.text().endswith("Waiting for the start.")
    assert "break" not in projector.state.text()
    projector.close()


def test_picture_of_a_seat_is_interactive_only_under_control(board: InstructorStation) -> None:
    lines: list[str] = []
    board.line_entered.connect(lambda line, recipient: lines.append(line))
    board.show_dashboard(build_board(build_tile(7, "Ann", consent=True)))
    board.show_watched_seat(7, 113.0)
    assert board.watched_label.text() == "Watching Seat 7, Ann, live at 1:53. Read-only."
    board.send_to_watched_seat("power-on SERVER_A")
    assert lines == []
    assert "Take control" in board.answer.text()
    board.show_dashboard(build_board(build_tile(7, "Ann", held=True)))
    board.show_watched_seat(7, 113.0)
    board.send_to_watched_seat("power-on SERVER_A")
    assert lines == ["inject 7 power-on SERVER_A"]


class StubPicture(QWidget):
    """Stub of the topology that records the requested times."""

    def __init__(self) -> None:
        super().__init__()
        self.ticks: list[int] = []

    def show_drill(self, drill: Drill) -> None:
        self.ticks.append(drill.tick)


def build_history(*lines: tuple[int, str], end_tick: int = 3000) -> History:
    history = History(Drill(LAB, LAB.seed, DrillMode.PRACTICE))
    for tick, line in lines:
        history.advance_to(tick)
        history.apply_line(line)
    history.advance_to(end_tick)
    return history


def test_led_replay_shows_two_runs_at_one_time_and_sends_it_to_the_seats(
    board: InstructorStation, qtbot: QtBot
) -> None:
    lines: list[str] = []
    requested_seats: list[list[int]] = []
    board.line_entered.connect(lambda line, _: lines.append(line))
    page = ReplayPage(StubPicture)
    page.runs_wanted.connect(requested_seats.append)
    board.set_replay_page(page)
    marks = [ClassMark(2, 12.0, "why?"), ClassMark(None, 3.0, "start")]
    tiles = [build_tile(1, "Ann", consent=True), build_tile(2, "Bob", consent=True), build_tile(3, "Cyd")]
    board.show_dashboard(replace(build_board(*tiles), marks=marks))
    assert [page.seats[0].itemData(row) for row in range(page.seats[0].count())] == [1, 2], (
        "Cyd allows nothing"
    )
    board.tiles.selectRow(board.tiles.seats.index(2))
    board.open_replay.click()
    assert board.pages.currentWidget() is page
    assert requested_seats[-1] == [2]
    page.show_divergences([JumpTarget(10.0, "one, or other", ((3, 1), (2,)))])
    assert requested_seats[-1] == [1, 2], "the first seats of each choice that allow it"
    page.show_runs([("Seat 1", build_history((1000, "power-off SERVER_A"))), ("Seat 2", build_history())])
    assert page.shown_s == 10.0
    left, right = page.pair.panes
    assert "SERVER_A" in left.commands.toPlainText()
    assert right.commands.toPlainText() == ""
    page.share.setChecked(True)
    assert lines[-1] == "show 1 and 2 at 10"
    page.jump_to(JumpTarget(10.7, "", ((1,), (2,))))
    page.show_runs([("Seat 1", build_history((1000, "power-off SERVER_A"))), ("Seat 2", build_history())])
    assert (page.shown_s, lines[-1]) == (10.7, "show 1 and 2 at 10.7"), "not the whole second of the slider"
    page.slider.setValue(20)
    qtbot.waitUntil(lambda: lines[-1] == "show 1 and 2 at 20")
    parse_request(lines[-1])
    page.jump_list.setCurrentIndex(1)
    page.jump_list.activated.emit(1)
    assert requested_seats[-1] == [2], "a mark of a seat shows that seat"
    page.show_runs([("Seat 2", build_history())])
    assert (page.shown_s, right.isHidden()) == (12.0, True)
    assert [marker.text for marker in left.strip.markers] == ["start", "why?"]
    assert lines[-1] == "show 2 at 12"
    page.share.setChecked(False)
    assert lines[-1] == "show none"
    assert len([line for line in board.sent.toPlainText().splitlines() if "show" in line]) == 3


def test_replay_plays_to_the_end_of_the_longer_run(qtbot: QtBot) -> None:
    page = ReplayPage(StubPicture)
    qtbot.addWidget(page)
    page.show_seats([(1, "Ann"), (2, "Bob")])
    page.jump_to(JumpTarget(0.0, "", ((1,), (2,))))
    page.show_runs([("Seat 1", build_history(end_tick=300)), ("Seat 2", build_history(end_tick=500))])
    page.speed.setCurrentIndex(3)
    page.play.click()
    qtbot.waitUntil(lambda: not page.play.isChecked())
    assert page.shown_s == 5.0


def test_keys_of_the_roster_watch_a_seat_write_to_it_and_pause_the_class(
    board: InstructorStation, qtbot: QtBot
) -> None:
    lines: list[str] = []
    board.line_entered.connect(lambda line, recipient: lines.append(line))
    with qtbot.waitActive(board):
        board.show()
        board.activateWindow()
    board.show_dashboard(build_board(build_tile(1, "Ann"), build_tile(2, "Bob")))
    board.tiles.setFocus()
    board.tiles.selectRow(1)
    qtbot.keyClick(board.tiles, Qt.Key.Key_Return)
    qtbot.keyClick(board.tiles, Qt.Key.Key_P)
    board.show_dashboard(build_board(state="frozen"))
    qtbot.keyClick(board.tiles, Qt.Key.Key_P)
    assert lines == ["look 2", "freeze", "go"]
    qtbot.keyClick(board.tiles, Qt.Key.Key_M)
    assert (board.text.hasFocus(), board.recipient.currentText()) == (True, "to Seat 2, Bob")


def test_actions_of_a_finished_seat_are_disabled_while_the_class_continues(board: InstructorStation) -> None:
    board.show_dashboard(
        build_board(build_tile(1, "Night", held=True, hand="Why?", hand_place=1), build_tile(2, "Bob"))
    )
    board.tiles.selectRow(0)
    assert board.of_seat["give"].isEnabled()
    assert not board.suggested.isHidden()
    end_fields = {"ended_by": "asked"}
    board.show_dashboard(
        build_board(build_tile(1, "Night", held=True, hand="Why?", hand_place=1, verdict=end_fields))
    )
    board.show_watched_seat(1, 83.0, [])
    assert not board.of_seat["give"].isEnabled()
    assert board.suggested.isHidden()
    assert board.watched_label.text().startswith("Watching")
    board.send_to_watched_seat("power-off SERVER_A")
    assert board.answer.text() == "The run of this seat has ended."
    board.tiles.selectRow(0)
    assert board.selected_seat == 2, "the finished seat is the last one"
    assert board.of_seat["take"].isEnabled()
