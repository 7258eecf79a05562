"""Tests of a seat in the window: the class records its run, and the seat follows instructions."""

from __future__ import annotations

import asyncio
import json
import socket
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtGui import QCloseEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

from app import settings
from app.classroom import class_files, console
from app.classroom.join_code import parse_invitation
from app.classroom.log_entries import LogEntry
from app.classroom.messages.replies import PaceState, RunShown, ShownRun, VerdictMessage
from app.classroom.models import OVER, RUNNING
from app.classroom.record import ClassRecord
from app.classroom.seat_log import SeatLog, read_handout
from app.classroom.seat_phase import SeatEvent, SeatPhase, get_next_phase
from app.classroom.verdict import build_failed_verdict, judge_log
from app.learning.reflection import Reflection
from app.main_window import class_offers
from app.main_window.assembly import WindowAssembler
from app.main_window.class_controller import ClassController
from app.main_window.window_seat import MESSAGE_CHECK_INTERVAL_MS, WindowSeat
from app.settings import WindowSettings
from app.storage import Profile
from app.views.classroom import StartClassDialog
from app.views.debrief.reflection import ReflectionForm
from app.views.topology import TopologyView
from tests.app.main_window.conftest import WindowUser
from tests.assertions import require
from tests.class_process import HostProcess, RawClient, join, run_host
from tests.forked import run_program
from tests.hostile import window_kills
from tests.open_window import OpenWindow
from tests.scripted_host import run_scripted_host

WAIT_MS_MAX = 30_000
PROCESS_MS_MAX = 120_000
"""Time limit for the work of a separate process. Under load, its start alone takes half a minute."""


@pytest.fixture(autouse=True)
def _no_class_left(request: pytest.FixtureRequest) -> Iterator[None]:
    """End the processes and windows of a class, even after a failure, because they would disturb later tests."""
    window = request.getfixturevalue("window") if "window" in request.fixturenames else None
    yield
    for classes in () if window is None else window.findChildren(ClassController):
        classes.stop()


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostProcess]:
    with run_host(
        tmp_path_factory.mktemp("class") / "class.sqlite", "planned-failover", "--mode", "exam"
    ) as host:
        yield host


@pytest.fixture
def fresh_host(tmp_path: Path) -> Iterator[HostProcess]:
    """Yield the host of a class that no other test uses."""
    with run_host(tmp_path / "class.sqlite", "planned-failover", "--mode", "exam") as host:
        yield host


def get_classes(window: OpenWindow) -> ClassController:
    """Return the class controller of the window."""
    assembly = window.findChild(WindowAssembler)
    assert assembly is not None
    for action in window.menus["&Class"].actions():
        if action.text() == "&Join a class…":
            action.trigger()
    classes = window.findChild(ClassController)
    assert classes is not None
    return classes


def open_class_record(host: HostProcess) -> ClassRecord:
    return ClassRecord(str(host.database), create=False)


def join_class(hands: WindowUser, qtbot: QtBot, code: str, name: str = "Ann") -> ClassController:
    """Join the class and wait until its run is on the desk."""
    classes = get_classes(hands.window)
    classes.join_class(code, name)
    qtbot.waitUntil(lambda: hands.window.session.live_drill is not None, timeout=WAIT_MS_MAX)
    return classes


def build_pace(state: str, until: int | None = None) -> PaceState:
    return PaceState(state=state, until=until, clock=None, break_s=None, hosts=[])


def test_a_seat_freezes_stops_at_a_limit_and_shows_messages(hands: WindowUser, qtbot: QtBot) -> None:
    window, session = hands.window, hands.window.session
    with run_scripted_host("planned-failover", "exam") as host:
        classes = join_class(hands, qtbot, host.code)
        assert session.is_running
        assert "in the class" in window.run_facts.text()
        assert window.scenario is not None
        assert not window.scenario.solution, "an exam gives no solution to a seat"
        hands.run_frames(5.0)
        window.apply_line("sql SERVER_A SELECT 1")
        host.send_message(build_pace("frozen"))
        qtbot.waitUntil(lambda: "frozen" in window.run_facts.text(), timeout=WAIT_MS_MAX)
        tick = hands.drill.tick
        session.play()
        session.on_frame(100.0)
        assert hands.drill.tick == tick, "a frozen seat does not go on"
        message = {"kind": "instruction", "number": 99, "what": "message", "tick": None, "text": "well done"}
        host.send_message(message)
        qtbot.waitUntil(lambda: "Instructor: well done" in window.notice.text, timeout=WAIT_MS_MAX)
        host.send_message(build_pace("running", until=tick))
        qtbot.waitUntil(lambda: "stopped your run at this time" in window.notice.text, timeout=WAIT_MS_MAX)
        assert not session.is_running, "the run has come to its limit"
        host.send_message(build_pace("running"))
        qtbot.waitUntil(lambda: session.is_running, timeout=WAIT_MS_MAX)
        classes.stop()


def test_seat_follows_a_led_replay_and_continues_where_it_was(hands: WindowUser, qtbot: QtBot) -> None:
    session = hands.window.session
    with run_scripted_host("planned-failover", "practice") as host:
        classes = join_class(hands, qtbot, host.code, "Lee")
        seat = require(classes.seat)
        hands.run_frames(5.0)
        tick, history = hands.drill.tick, session.history
        acts = [LogEntry(1, 100, "power-off SERVER_A", "", 0), LogEntry(2, 2000, "", "", 0)]
        second_run = ShownRun(2, "Bob", [LogEntry(1, 2500, "", "", 0)])
        host.send_message(RunShown("Ann", acts, 1, second_run, 1500))
        qtbot.waitUntil(lambda: seat.replay is not None, timeout=WAIT_MS_MAX)
        replay = require(seat.replay)
        assert replay.isVisible()
        assert [pane.title.text() for pane in replay.pair.panes] == ["Seat 1, Ann", "Seat 2, Bob"]
        assert "SERVER_A" in replay.pair.panes[0].commands.toPlainText()
        assert "0:15" in replay.time.text()
        host.send_message({"kind": "shown_at", "tick": 50})
        qtbot.waitUntil(lambda: not replay.pair.panes[0].commands.toPlainText(), timeout=WAIT_MS_MAX)
        replay.close()
        assert (replay.isVisible(), seat.replay) == (True, replay), "the instructor ends it"
        assert session.history is history, "the desk shows the own run"
        session.play()
        session.on_frame(100.0)
        assert (hands.drill.tick, session.is_running) == (tick, False), "the own run waits"
        qtbot.waitUntil(lambda: bool(host.status["frozen"]), timeout=WAIT_MS_MAX)
        host.send_message({"kind": "shown", "name": None, "acts": []})
        qtbot.waitUntil(lambda: seat.replay is None, timeout=WAIT_MS_MAX)
        assert session.is_running
        qtbot.waitUntil(lambda: not host.status["frozen"], timeout=WAIT_MS_MAX)
        session.pause()
        # This message is from an older host.
        host.send_message({"kind": "shown", "name": "Ann", "acts": acts})
        qtbot.waitUntil(lambda: seat.replay is not None, timeout=WAIT_MS_MAX)
        host.send_message({"kind": "shown", "name": None, "acts": []})
        qtbot.waitUntil(lambda: seat.replay is None, timeout=WAIT_MS_MAX)
        assert not session.is_running, "whoever has paused finds it paused"
        classes.stop()


def test_a_late_seat_in_a_window_gets_prepared_events_at_their_original_times(
    hands: WindowUser, qtbot: QtBot, tmp_path: Path
) -> None:
    window = hands.window
    plan = tmp_path / "plan.toml"
    plan.write_text(
        'scenario = "planned-failover"\nmode = "practice"\nlate = "class"\n'
        '[[inject]]\nat = "8s"\ndo = "power-off SERVER_W"\n[[message]]\nat = "5s"\ntext = "the boss calls"\n'
    )
    with run_host(tmp_path / "class.sqlite", "--plan", plan) as host:
        with RawClient(host.invited) as early_stranger:
            early_stranger.request_reply(join(host.invited), "welcome")
            early_stranger.request_reply({"kind": "acts", "acts": [[1, 2000, "", "", 0]]}, "acknowledged")
        classes = get_classes(window)
        classes.join_class(host.code, "Una")
        qtbot.waitUntil(lambda: window.session.live_drill is not None, timeout=WAIT_MS_MAX)
        hands.finish_search()
        hands.run_frames(1.0)
        assert "the boss calls" in window.notice.text
        assert [(item.tick, item.line_without_time) for item in hands.drill.journal] == [
            (800, "power-off SERVER_W")
        ]
        qtbot.waitUntil(partial(is_recorded, host, "Una", "power-off SERVER_W"), timeout=WAIT_MS_MAX)
        classes.stop()
        record = open_class_record(host)
        log = record.read_entries(2)
        record.close()
    assert [act[1:3] for act in log[:2]] == [(500, ""), (800, "power-off SERVER_W")]
    assert judge_log(hands.drill.scenario, hands.drill.seed, "practice", log)["parted_t_s"] is None


def is_recorded(host: HostProcess, name: str, line: str) -> bool:
    """Return whether the record of the class holds *line* of the seat *name*."""
    record = open_class_record(host)
    lines = [
        act.line for seat in record.read_seats() if seat.name == name for act in record.read_entries(seat.id)
    ]
    record.close()
    return line in lines


def test_a_seat_that_rejoins_is_recorded(
    hands: WindowUser, qtbot: QtBot, host: HostProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The window replays the run over many frames, while the seat receives messages."""
    window = hands.window
    classes = get_classes(window)
    monkeypatch.setattr(window.session.host, "immediate_task_s", 0.0)
    for turn in range(3):
        classes.join_class(host.code, "Kim")
        qtbot.waitUntil(
            lambda: window.session.is_loading or window.session.live_drill is not None, timeout=WAIT_MS_MAX
        )
        qtbot.wait(3 * MESSAGE_CHECK_INTERVAL_MS)
        hands.finish_search()
        qtbot.wait(2 * MESSAGE_CHECK_INTERVAL_MS)
        assert "in the class" in window.run_facts.text()
        hands.run_frames(20.0)
        window.apply_line(f"note turn {turn}")
        qtbot.waitUntil(partial(is_recorded, host, "Kim", f"note turn {turn}"), timeout=WAIT_MS_MAX)
        classes.stop()
        window.navigation.show_home()
        window.session.close()
    record = open_class_record(host)
    (kim,) = [seat.id for seat in record.read_seats() if seat.name == "Kim"]
    notes = [act.line for act in record.read_entries(kim) if act.line]
    record.close()
    assert notes == [f"note turn {turn}" for turn in range(3)]


def test_a_seat_never_plays_unrecorded(hands: WindowUser, qtbot: QtBot) -> None:
    window = hands.window
    with run_scripted_host("planned-failover", "exam") as host:
        classes = join_class(hands, qtbot, host.code, "Lou")
        hands.run_frames(1.0)
        host.send_message({"kind": "refused", "text": "the seat is gone"})
        qtbot.waitUntil(lambda: "the seat is gone" in window.notice.text, timeout=WAIT_MS_MAX)
        tick = hands.drill.tick
        window.session.apply_input("note nobody hears this")
        assert "no longer recorded" in window.notice.text
        window.session.play()
        for _ in range(40):
            window.session.on_frame(1000.0)
        assert not window.session.is_running
        assert hands.drill.tick < tick + 3000
        classes.stop()


def test_a_seat_that_opens_another_run_leaves_the_class(
    hands: WindowUser, qtbot: QtBot, host: HostProcess
) -> None:
    window = hands.window
    classes = join_class(hands, qtbot, host.code, "Lou")
    window.navigation.show_home()
    window.session.close()
    qtbot.waitUntil(lambda: "You are no longer in the class" in window.notice.text, timeout=WAIT_MS_MAX)
    classes.stop()


def test_the_status_bar_shows_the_state_of_the_seat(hands: WindowUser, qtbot: QtBot) -> None:
    facts = hands.window.run_facts
    with run_scripted_host("planned-failover", "exam") as host:
        classes = join_class(hands, qtbot, host.code, "Eva")
        assert facts.text() == "exam  ·  in the class", "a seed could be rehearsed beside the exam"
        seat = require(classes.seat)
        seat.raise_hand("Why?")
        host.send_message({"kind": "attention", "looked_at": True, "held": True})
        expected = (
            "in the class  ·  hand raised  ·  watched by the instructor  ·  controlled by the instructor"
        )
        qtbot.waitUntil(lambda: facts.text().endswith(expected), timeout=WAIT_MS_MAX)
        host.send_message({"kind": "attention", "looked_at": False, "held": False})
        seat.raise_hand(None)
        qtbot.waitUntil(lambda: facts.text() == "exam  ·  in the class", timeout=WAIT_MS_MAX)
        classes.stop()


def test_a_seat_in_an_exam_can_be_observed(
    hands: WindowUser, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    classes = get_classes(hands.window)
    monkeypatch.setattr("app.main_window.class_controller.PREFERRED_PORT", "0")
    classes.start_class("planned-failover", "exam", "127.0.0.1", False)
    board = require(classes.station)
    qtbot.waitUntil(lambda: "@127.0.0.1:" in board.code.text(), timeout=WAIT_MS_MAX)
    invited = parse_invitation(board.code.text())
    with RawClient(invited) as seat:
        seat.request_reply({**join(invited), "consent": True}, "welcome")
        seat.send_message({"kind": "at", "tick": 3000, "frozen": False, "consent": True})
        seat.request_reply({"kind": "acts", "acts": [[1, 3000, "note here", "", 0]]}, "acknowledged")
        qtbot.waitUntil(lambda: board.tiles.table.rowCount() == 1, timeout=WAIT_MS_MAX)
        board.tiles.selectRow(0)
        look = board.of_seat["look"]
        qtbot.waitUntil(look.isEnabled, timeout=WAIT_MS_MAX)
        look.click()
        qtbot.waitUntil(lambda: "live at 0:30" in board.watched_label.text(), timeout=WAIT_MS_MAX)
        assert "note here" in board.watched_lines.toPlainText()
        pictures = [view.contents for view in board.findChildren(TopologyView)]
        assert any(picture is not None and picture.spoken for picture in pictures)
        seat.request_reply({"kind": "acts", "acts": [[2, 4000, "note there", "", 0]]}, "acknowledged")
        qtbot.waitUntil(lambda: "live at 0:40" in board.watched_label.text(), timeout=WAIT_MS_MAX)
        assert "note there" in board.watched_lines.toPlainText()
    classes.stop()


def test_the_window_continues_with_the_next_part(hands: WindowUser, qtbot: QtBot, tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(
        'scenario = "planned-failover"\nmode = "practice"\n[[part]]\nkind = "lesson"\n'
        '[[part]]\nkind = "post"\nmode = "exam"\nseed = 5\n'
    )
    window = hands.window
    classes = get_classes(window)
    with run_host(tmp_path / "class.sqlite", "--plan", tmp_path / "plan.toml") as host:
        classes.join_class(host.code, "Ann", True)
        qtbot.waitUntil(lambda: window.session.live_drill is not None, timeout=WAIT_MS_MAX)
        steered = run_program("class", "console", "--database", host.database, lines="finish\nnext\n")
        assert steered.returncode == 0, steered.stderr
        qtbot.waitUntil(
            lambda: window.session.live_drill is not None and window.session.live_drill.seed == 5,
            timeout=WAIT_MS_MAX,
        )
        assert hands.drill.mode == "exam"
        record = open_class_record(host)
        (ann,) = record.read_seats()
        assert ann.consent
        record.close()
        classes.stop()


@contextmanager
def finish_run_in_class(
    hands: WindowUser, qtbot: QtBot, folder: Path, mode: str
) -> Iterator[tuple[WindowSeat, ClassRecord]]:
    """Yield the seat of a finished run and the record of a class that asks for reflections."""
    (folder / "plan.toml").write_text(f'scenario = "planned-failover"\nmode = "{mode}"\nreflect = true\n')
    classes = get_classes(hands.window)
    with run_host(folder / "class.sqlite", "--plan", folder / "plan.toml") as host:
        classes.join_class(host.code, "Ann")
        qtbot.waitUntil(lambda: hands.window.session.live_drill is not None, timeout=WAIT_MS_MAX)
        hands.run_frames(3.0)
        hands.window.session.apply_input("finish")
        record = open_class_record(host)
        assert classes.seat is not None
        yield classes.seat, record
        record.close()
        classes.stop()


def test_points_of_an_exam_are_shown_after_the_self_assessment(
    hands: WindowUser, qtbot: QtBot, tmp_path: Path
) -> None:
    window = hands.window
    with finish_run_in_class(hands, qtbot, tmp_path, "exam") as (seat, record):
        qtbot.waitUntil(lambda: seat.form is not None, timeout=WAIT_MS_MAX)
        (form,) = require(seat.form).findChildren(ReflectionForm)
        form.happened.setPlainText("I gave up")
        form.expected.setText("15")
        press_show_points(form)
        qtbot.waitUntil(lambda: "The host verified your run" in window.notice.text, timeout=WAIT_MS_MAX)
        qtbot.waitUntil(
            lambda: record.read_reflections() == {1: Reflection("I gave up", "", 15.0)}, timeout=WAIT_MS_MAX
        )


def press_show_points(form: ReflectionForm) -> None:
    (show,) = [button for button in form.findChildren(QPushButton) if button.text() == "Show the points"]
    show.click()


def test_points_wait_for_the_self_assessment(
    hands: WindowUser, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    window, shown_texts = hands.window, list[str]()
    with run_scripted_host("planned-failover", "exam", reflect=True) as host:
        classes = join_class(hands, qtbot, host.code)
        hands.run_frames(1.0)
        window.session.apply_input("finish")
        seat = require(classes.seat)
        qtbot.waitUntil(lambda: seat.form is not None, timeout=WAIT_MS_MAX)
        monkeypatch.setattr(window.notice, "show_info", shown_texts.append)
        host.send_message(VerdictMessage({**build_failed_verdict(0, 0.0, ""), "score": 40.0}))
        host.send_message({"kind": "attention", "looked_at": True, "held": False})
        qtbot.waitUntil(lambda: "watched" in window.run_facts.text(), timeout=WAIT_MS_MAX)
        assert shown_texts
        assert not any("of 100 points" in text for text in shown_texts)
        (form,) = require(seat.form).findChildren(ReflectionForm)
        press_show_points(form)
        assert "40 of 100 points" in shown_texts[-1]
        classes.stop()


def test_a_practice_class_also_asks_for_the_self_assessment(
    hands: WindowUser, qtbot: QtBot, tmp_path: Path
) -> None:
    window = hands.window
    with finish_run_in_class(hands, qtbot, tmp_path, "practice") as (seat, record):
        qtbot.waitUntil(lambda: bool(window.debrief.findChildren(ReflectionForm)), timeout=WAIT_MS_MAX)
        assert seat.form is None, "the debrief asks"
        (form,) = window.debrief.findChildren(ReflectionForm)
        form.otherwise.setPlainText("look first")
        press_show_points(form)
        expected = {1: Reflection("", "look first", None)}
        qtbot.waitUntil(lambda: record.read_reflections() == expected, timeout=WAIT_MS_MAX)


def test_a_finished_seat_is_in_the_record(
    hands: WindowUser, qtbot: QtBot, host: HostProcess, profile: Profile
) -> None:
    window, runs = hands.window, len(profile.list_results())
    classes = get_classes(window)
    classes.join_class(host.code, "Bea")
    qtbot.waitUntil(lambda: window.session.live_drill is not None, timeout=WAIT_MS_MAX)
    hands.run_frames(3.0)
    window.session.apply_input("note all is well")
    window.session.apply_input("finish")
    qtbot.waitUntil(lambda: "The host verified your run" in window.notice.text, timeout=WAIT_MS_MAX)
    assert window.pages.currentWidget() is not window.debrief, "the seat has no rubric to show a score by"
    record = open_class_record(host)
    (seat,) = [seat for seat in record.read_seats() if seat.name == "Bea"]
    lines = [act.line for act in record.read_entries(seat.id) if act.line]
    record.close()
    assert lines == ["note all is well", "finish"]
    assert len(profile.list_results()) == runs, "an exam shows no debrief, also not from the history"
    classes.stop()


def test_a_hosted_class_runs_next_to_the_desk_and_asks_before_closing(
    hands: WindowUser, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    window = hands.window
    classes = get_classes(window)
    monkeypatch.setattr("app.main_window.class_controller.PREFERRED_PORT", "0")
    classes.start_class("planned-failover", "practice", "127.0.0.1", False)
    board = classes.station
    assert board is not None
    qtbot.waitUntil(lambda: "@127.0.0.1:" in board.code.text(), timeout=PROCESS_MS_MAX)
    qtbot.waitUntil(lambda: board.freeze_button.isEnabled(), timeout=PROCESS_MS_MAX)
    board.lobby.check.click()
    qtbot.waitUntil(lambda: "✓ A test seat joined" in board.lobby.findings.text(), timeout=PROCESS_MS_MAX)
    with RawClient(parse_invitation(board.code.text())) as seat:
        seat.request_reply(join(parse_invitation(board.code.text()), "Cem"), "welcome")
        qtbot.waitUntil(lambda: board.tiles.table.rowCount() == 1, timeout=PROCESS_MS_MAX)
        qtbot.waitUntil(lambda: "1 connected" in board.state.text(), timeout=PROCESS_MS_MAX)
        board.freeze_button.click()
        qtbot.waitUntil(lambda: "Seats not frozen yet: Cem." in board.state.text(), timeout=PROCESS_MS_MAX)
    report, seat_file = tmp_path / "report.zip", tmp_path / "class.seat"
    board.report_wanted.emit(str(report), True)
    qtbot.waitUntil(lambda: "The report is saved in" in board.answer.text(), timeout=PROCESS_MS_MAX)
    with zipfile.ZipFile(report) as saved:
        assert "Cem" in saved.read("class.html").decode()
    board.join_sheet_wanted.emit(str(sheet := tmp_path / "seats.html"))
    assert board.code.text().partition("@")[0] in sheet.read_text("utf-8")
    board.seat_file_wanted.emit(str(seat_file))
    assert read_handout(seat_file).scenario == "planned-failover"
    window.close_wanted.emit(closed := QCloseEvent())
    assert not closed.isAccepted()
    box = require(window.confirmations.box)
    assert "class" in box.text()
    next(button for button in box.buttons() if button.text() == "Keep the class running").click()
    assert not window.isVisible()
    assert classes.is_hosting
    board.reject()
    assert window.isVisible(), "some window of a class stays on the screen"
    board.end.click()
    assert window.confirmations.box is not None
    hands.confirm_action()
    assert classes.station is None
    assert "The class is saved in" in window.notice.text


def test_an_earlier_class_can_be_continued_and_its_next_part_shows_its_drill(
    hands: WindowUser, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "plan.toml").write_text(
        'scenario = "planned-failover"\nmode = "practice"\n[[part]]\nkind = "lesson"\n'
        '[[part]]\nkind = "post"\nscenario = "cable-pulled"\n'
    )
    with run_host(tmp_path / "class.sqlite", "--plan", tmp_path / "plan.toml") as host:
        code = host.code.partition("@")[0]
    monkeypatch.setattr("app.main_window.class_controller.PREFERRED_PORT", "0")
    monkeypatch.setattr(
        "app.views.classroom.dialogs.QFileDialog.getOpenFileName",
        lambda *_: (str(tmp_path / "class.sqlite"), ""),
    )
    classes = get_classes(hands.window)
    dialog = classes.ask_to_start()
    assert dialog is not None
    dialog.continue_button.click()
    board = classes.station
    assert board is not None
    qtbot.waitUntil(lambda: board.code.text().startswith(code), timeout=PROCESS_MS_MAX)
    assert board.title.text() == "Class: Planned manual failover"
    qtbot.waitUntil(board.freeze_button.isEnabled, timeout=PROCESS_MS_MAX)
    board.finish.click()
    hands.confirm_action()
    qtbot.waitUntil(board.next_part.isEnabled, timeout=PROCESS_MS_MAX)
    board.next_part.click()
    qtbot.waitUntil(lambda: "Part 2 of 2" in board.state.text(), timeout=PROCESS_MS_MAX)
    assert board.title.text() == "Class: Principal loses its network"
    classes.stop()


def test_class_uses_another_port_if_its_own_is_taken(
    hands: WindowUser, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the class has a code, its start and check are disabled. A failed start shows its reason."""
    classes = get_classes(hands.window)
    with socket.create_server(("127.0.0.1", 0)) as busy_server:
        port = busy_server.getsockname()[1]
        monkeypatch.setattr("app.main_window.class_controller.PREFERRED_PORT", str(port))
        classes.start_class("planned-failover", "practice", "127.0.0.1", False)
        board = require(classes.station)
        waits = (board.lobby.start, board.lobby.check, board.freeze_button, board.finish)
        assert not any(button.isEnabled() for button in waits)
        qtbot.waitUntil(lambda: "@127.0.0.1:" in board.code.text(), timeout=PROCESS_MS_MAX)
        assert not board.code.text().endswith(f":{port}")
        assert board.lobby.start.isEnabled()
    classes.stop()
    monkeypatch.setattr("app.main_window.class_controller.PREFERRED_PORT", "0")
    classes.start_class("no-such-drill", "practice", "127.0.0.1", False)
    board = require(classes.station)
    qtbot.waitUntil(lambda: "did not start" in board.title.text(), timeout=PROCESS_MS_MAX)
    assert "no-such-drill" in board.state.text()
    classes.stop()


def test_the_class_plays_the_selected_drill(hands: WindowUser) -> None:
    window = hands.window
    window.picker.select_drill("split-brain")
    for action in window.menus["&Class"].actions():
        if action.text() == "&Start a class…":
            action.trigger()
    (dialog,) = [dialog for dialog in window.findChildren(StartClassDialog) if dialog.isVisible()]
    assert dialog.drill.currentData() == "split-brain"
    dialog.select_drill("none of this name")
    assert dialog.drill.currentIndex() == 0
    dialog.reject()


def test_an_invalid_code_is_reported(hands: WindowUser) -> None:
    classes = get_classes(hands.window)
    classes.ask_to_join().reject()
    classes.join_class("nonsense", "Ann")
    assert "is not a join code" in hands.window.notice.text


def test_without_a_network_a_run_starts_from_a_file_and_names_its_log(
    hands: WindowUser, qtbot: QtBot, host: HostProcess, tmp_path: Path
) -> None:
    seat_file = tmp_path / "class.seat"
    record = open_class_record(host)
    seat_file.write_bytes(class_files.build_handout(record))
    record.close()
    window = hands.window
    classes = get_classes(window)
    classes.join_class(str(seat_file), "Dan")
    qtbot.waitUntil(lambda: window.session.live_drill is not None, timeout=WAIT_MS_MAX)
    hands.run_frames(3.0)
    window.session.apply_input("note far away")
    window.session.apply_input("finish")
    qtbot.waitUntil(lambda: "Hand in your log" in window.notice.text, timeout=WAIT_MS_MAX)
    log = Path(window.notice.text.partition(": ")[2].strip())
    assert "note far away" in log.read_text()
    classes.stop()
    classes.join_class(str(tmp_path / "none.seat"), "Dan")
    assert "does not exist" in window.notice.text


@pytest.mark.parametrize(
    ("victim", "kills"),
    [("window", 1), ("host", 1), ("link", 1), *(
        pytest.param(victim, 20, marks=pytest.mark.slow) for victim in ("window", "host", "link")
    )],
)  # fmt: skip
def test_interrupted_seat_leaves_every_input_in_the_record(tmp_path: Path, victim: str, kills: int) -> None:
    window_kills.run_kills(tmp_path, kills, seed=kills, victim=victim)


@pytest.mark.parametrize(
    ("events", "phase"),
    [
        (("replay",), "replaying"),
        (("connect",), "joining"),
        (("replay", "connect"), "replaying"),
        (("replay", "replayed"), "offline"),
        (("replay", "replayed", "connect"), "live"),
        (("replay", "replayed", "connect", "replay"), "replaying"),
        (("replay", "replayed", "connect", "disconnect"), "offline"),
        (("end", "replay", "replayed", "connect"), "ended"),
    ],
)
def test_seat_is_in_the_class_only_with_log_and_connection(events: tuple[str, ...], phase: str) -> None:
    phase_reached = SeatPhase.JOINING
    for event in events:
        phase_reached = get_next_phase(phase_reached, SeatEvent(event))
    assert phase_reached == phase


def test_window_reports_a_lost_host(hands: WindowUser, qtbot: QtBot, tmp_path: Path) -> None:
    window = hands.window
    classes = get_classes(window)
    with run_host(tmp_path / "class.sqlite", "planned-failover") as host:
        classes.join_class(host.code, "Ida")
        qtbot.waitUntil(lambda: window.run_facts.text().endswith("in the class"), timeout=WAIT_MS_MAX)
        host.kill()
        qtbot.waitUntil(lambda: "not connected, recording" in window.run_facts.text(), timeout=WAIT_MS_MAX)
        window.apply_line("note alone")
        host.start()
        qtbot.waitUntil(lambda: window.run_facts.text().endswith("in the class"), timeout=WAIT_MS_MAX)
        classes.stop()


def test_unwritable_log_ends_the_seat(
    hands: WindowUser, qtbot: QtBot, host: HostProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = hands.window
    classes = get_classes(window)
    classes.join_class(host.code, "Max")
    qtbot.waitUntil(lambda: window.run_facts.text().endswith("in the class"), timeout=WAIT_MS_MAX)

    def fill_disk(log: SeatLog, line: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(SeatLog, "_write", fill_disk)
    window.apply_line("note lost")
    assert "No space left" in window.notice.text
    qtbot.waitUntil(lambda: "no longer in a class" in window.run_facts.text(), timeout=WAIT_MS_MAX)
    window.session.play()
    assert not window.session.is_running
    classes.stop()


def test_seat_is_greeted_while_the_class_waits_for_its_start(
    hands: WindowUser, qtbot: QtBot, tmp_path: Path
) -> None:
    window = hands.window
    classes = get_classes(window)
    plan = tmp_path / "plan.toml"
    plan.write_text('scenario = "planned-failover"\nmode = "practice"\nfrozen = true\n')
    with run_host(tmp_path / "class.sqlite", "--plan", plan) as host, RawClient(host.invited) as stranger:
        stranger.request_reply(join(host.invited, "Hal"), "welcome")
        classes.join_class(host.code, "Hal")
        qtbot.waitUntil(lambda: window.session.live_drill is not None, timeout=WAIT_MS_MAX)
        qtbot.waitUntil(lambda: "waiting for the start" in window.run_facts.text(), timeout=WAIT_MS_MAX)
        qtbot.wait(500)  # the state of the class arrives as well
        for words in (
            "seat 2, Hal 2",
            "Another participant has the same name",
            "The instructor starts the clock",
        ):
            assert words in window.notice.text
        window.session.play()
        assert not window.session.is_running
        assert window.notice.text == "The instructor starts the clock for everyone."
        classes.stop()


def test_end_for_all_opens_the_debrief_of_each_seat(
    hands: WindowUser, qtbot: QtBot, tmp_path: Path, profile: Profile
) -> None:
    window, runs = hands.window, len(profile.list_results())
    classes = get_classes(window)
    with run_host(tmp_path / "class.sqlite", "planned-failover", "--mode", "practice") as host:
        classes.join_class(host.code, "Hal")
        qtbot.waitUntil(lambda: window.session.live_drill is not None, timeout=WAIT_MS_MAX)
        hands.run_frames(3.0)
        drill = hands.drill
        assert run_program("class", "console", "--database", host.database, lines="finish\n").returncode == 0
        qtbot.waitUntil(lambda: drill.finished, timeout=WAIT_MS_MAX)
        qtbot.waitUntil(lambda: "the class has ended" in window.run_facts.text(), timeout=WAIT_MS_MAX)
        assert window.pages.currentWidget() is window.debrief

        def read_debrief() -> str:
            return " ".join(label.text() for label in window.debrief.findChildren(QLabel))

        qtbot.waitUntil(lambda: "Analysis finished" in read_debrief(), timeout=WAIT_MS_MAX)
        assert "ended by the instructor" in read_debrief()
        assert "You ended the drill" not in read_debrief()
        newest = profile.list_results()[0]
        assert (len(profile.list_results()), newest.scenario_name) == (runs + 1, "planned-failover")
        assert profile.find_contradictions(newest.run_id) == [], "the history shows the run"
        record = open_class_record(host)
        (end,) = [act for act in record.read_entries(1) if act.line]
        assert end.line == "finish"
        assert end.instruction, "the instructor has ended the run"
        record.close()
        classes.stop()


def test_join_dialog_stays_open_until_the_seat_is_in_the_class(
    hands: WindowUser, qtbot: QtBot, host: HostProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    classes = get_classes(hands.window)
    dialog = classes.ask_to_join()
    dialog.code.clear()
    dialog.join.click()
    assert "Type the code" in dialog.state.text()
    dialog.code.setText("nonsense")
    dialog.join.click()
    assert "is not a join code" in dialog.state.text()
    assert dialog.code.isEnabled()
    code, _, _ = host.code.partition("@")
    dialog.code.setText(f"{code}@240.0.0.1")
    dialog.join.click()
    qtbot.waitUntil(lambda: "Connecting to 240.0.0.1:7443" in dialog.state.text(), timeout=WAIT_MS_MAX)
    monkeypatch.setattr("app.main_window.window_seat.SLOW_JOIN_AFTER_S", 0.1)
    qtbot.waitUntil(lambda: "No answer yet" in dialog.state.text(), timeout=WAIT_MS_MAX)
    dialog.reject()
    assert classes.seat is None, "canceled"
    second_join = classes.ask_to_join()
    assert second_join.code.text() == f"{code}@240.0.0.1"
    second_join.code.setText(host.code)
    second_join.name.setText("Uma")
    second_join.join.click()
    qtbot.waitUntil(lambda: not second_join.isVisible(), timeout=WAIT_MS_MAX)
    qtbot.waitUntil(lambda: hands.window.session.live_drill is not None, timeout=WAIT_MS_MAX)
    classes.stop()


def test_interrupted_class_is_offered_at_the_next_start(
    hands: WindowUser, qtbot: QtBot, tmp_path: Path, store: WindowSettings
) -> None:
    window, choices = hands.window, list[object]()

    def read_notice() -> str:
        window.notice.hide_notice()
        class_offers.offer_class_return(store, window.notice, choices.append, lambda: choices.append("seat"))
        return window.notice.offer_button.text() if window.notice.offer_button is not None else ""

    assert read_notice() == ""
    seat = class_offers.StoredSeat("CODE", "Ann", open=True)
    class_offers.store_seat(store, seat)
    assert read_notice() == "Return to your class"
    require(window.notice.offer_button).click()
    database = tmp_path / "held.sqlite"
    parts = '[[part]]\nkind = "lesson"\n[[part]]\nkind = "post"\n'
    (tmp_path / "plan.toml").write_text(f'scenario = "planned-failover"\nmode = "practice"\n{parts}')
    with (
        run_host(database, "--plan", tmp_path / "plan.toml") as host,
        RawClient(host.invited) as ann,
    ):
        ann.request_reply(join(host.invited, "Ann"), "welcome")
    store.set(settings.HOSTED_CLASS_DATABASE, str(database))
    record = ClassRecord(str(database), create=False)
    record.change_part_columns(state=OVER)
    assert read_notice() == "Continue your class", "the next part has not begun"
    record.start_next_part()
    record.change_part_columns(state=OVER)
    assert read_notice() == "Return to your class", "the last part has ended"
    record.change_part_columns(state=RUNNING)
    record.close()
    assert read_notice() == "Continue your class"
    assert "at 0:00" in window.notice.text
    assert "1 seat" in window.notice.text
    require(window.notice.offer_button).click()
    assert choices == ["seat", database]
    assert class_offers.load_seat(store) == seat


def test_hand_is_still_raised_after_a_rejoin_and_f1_opens_the_help(
    hands: WindowUser, qtbot: QtBot, fresh_host: HostProcess
) -> None:
    window = hands.window
    classes = get_classes(window)
    for hand in (None, "Which server?"):
        join_class(hands, qtbot, fresh_host.code, "Uma")
        seat = require(classes.seat)
        assert seat.hand == hand
        if hand is None:
            seat.raise_hand("Which server?")
            qtbot.waitUntil(lambda: _is_hand_raised(fresh_host, "Uma"), timeout=WAIT_MS_MAX)
        classes.stop()
        window.navigation.show_home()
        window.session.close()
    dialog = classes.ask_to_join()
    shortcut = dialog.findChild(QShortcut)
    assert shortcut is not None
    assert shortcut.key() == QKeySequence("F1")
    dialog.reject()


def _is_hand_raised(host: HostProcess, name: str) -> bool:
    """Return whether the host's welcome says that the hand of the seat is raised."""
    record = open_class_record(host)
    the_class = record.read_class()
    record.close()
    assert the_class is not None

    async def request_hand_state() -> bool:
        async with console.connect_to_host(the_class) as socket:
            tiles = json.loads(await socket.recv())["tiles"]
            return any(tile["name"] == name and tile["hand"] is not None for tile in tiles)

    return asyncio.run(request_hand_state())
