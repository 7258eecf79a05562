"""Tests of exceptions in slots: the program prints, logs and shows them, and continues."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QMessageBox

from app.main_window.slot_errors import LOG_BYTES_MAX, SlotErrorHook
from tests.app.main_window.conftest import WindowUser

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")


@pytest.fixture
def printed_lines() -> list[str]:
    return []


@pytest.fixture
def errors(hands: WindowUser, tmp_path: Path, printed_lines: list[str]) -> Iterator[SlotErrorHook]:
    hook = SlotErrorHook(
        hands.window, lambda *fault: printed_lines.append(repr(fault[1])), tmp_path / "errors.log"
    )
    yield hook
    for box in hands.window.findChildren(QMessageBox):
        box.reject()


def raise_in(hook: SlotErrorHook, text: str = "boom") -> None:
    try:
        raise KeyError(text)
    except KeyError:
        hook(*sys.exc_info())


def list_message_boxes(hands: WindowUser) -> list[QMessageBox]:
    return [box for box in hands.window.findChildren(QMessageBox) if box.isVisible()]


def test_the_program_continues_and_names_the_error_log(
    hands: WindowUser, errors: SlotErrorHook, printed_lines: list[str], tmp_path: Path
) -> None:
    window = hands.window
    window.select_drill("lab")
    window.brief.start_wanted.emit("lab")
    window.session.apply_input("power-off SERVER_W")
    window.session.play()
    raise_in(errors)
    assert printed_lines == ["KeyError('boom')"]
    assert not window.session.is_running
    (box,) = list_message_boxes(hands)
    assert "KeyError('boom')" in box.text()
    log = (tmp_path / "errors.log").read_text("utf-8")
    assert "KeyError: 'boom'" in log
    assert log.rstrip().endswith("power-off SERVER_W")
    box.accept()
    window.session.play()
    hands.run_frames(1.0)
    window.session.apply_input("power-on SERVER_W")
    assert hands.drill.journal[-1].verb == "power-on"


def test_a_repeated_error_is_logged_each_time_and_shown_once(
    hands: WindowUser, errors: SlotErrorHook, tmp_path: Path
) -> None:
    for number in range(5):
        raise_in(errors, str(number))
    assert len(list_message_boxes(hands)) == 1
    list_message_boxes(hands)[0].accept()
    raise_in(errors, "again")
    assert list_message_boxes(hands) == []
    assert (tmp_path / "errors.log").read_text("utf-8").count("Traceback") == 6


def test_the_error_log_stays_small(hands: WindowUser, errors: SlotErrorHook, tmp_path: Path) -> None:
    (tmp_path / "errors.log").write_text("x" * LOG_BYTES_MAX, encoding="utf-8")
    raise_in(errors)
    assert (tmp_path / "errors.log").stat().st_size < LOG_BYTES_MAX


def test_an_exception_in_a_slot_does_not_end_the_program(
    hands: WindowUser, errors: SlotErrorHook, monkeypatch: pytest.MonkeyPatch, qtbot: object
) -> None:
    monkeypatch.setattr(sys, "excepthook", errors)
    hands.window.select_drill("ag-lab")
    hands.window.brief.start_wanted.emit("lab")
    window_count = len(hands.window.console.list_windows())
    hands.window.topology.server_opened.emit("FSW")
    assert len(hands.window.console.list_windows()) == window_count
