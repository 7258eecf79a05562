"""Tests of the run in a window: timer frames, requests from other threads, and events as Qt signals."""

from __future__ import annotations

import threading

import pytest
from pytestqt.qtbot import QtBot

from app.host import InputRequest, NullRecorder
from app.main_window.host_session import HostSession
from engine.drill.authoring.schema import Scenario
from engine.drill.running.drill import Drill
from tests.shipped_scenarios import load_shipped_scenario


@pytest.fixture(scope="module")
def lab() -> Scenario:
    return load_shipped_scenario("lab")


def test_frames_run_only_while_work_is_pending(qtbot: QtBot, lab: Scenario) -> None:
    session = HostSession()
    session.open_run(Drill(lab), NullRecorder())
    with qtbot.waitSignal(session.world_changed):
        session.play()
    session.pause()
    assert session.drill is not None
    with qtbot.assertNotEmitted(session.world_changed, wait=60):
        pass
    session.close()


def test_a_request_of_another_thread_is_handled_during_a_pause(qtbot: QtBot, lab: Scenario) -> None:
    session = HostSession()
    session.open_run(Drill(lab), NullRecorder())
    posted: list[InputRequest] = []
    asking = threading.Thread(target=lambda: posted.append(session.host.inbox.post("power-off SERVER_A")))
    with qtbot.waitSignal(session.events_occurred):
        asking.start()
    asking.join()
    item = posted[0].result_future.result(timeout=0).journal_input
    assert item is not None
    assert item.line_without_time == "power-off SERVER_A"
    assert session.drill is not None
    assert not session.drill.world.computers["SERVER_A"].powered
    assert not session.is_running
    session.close()
