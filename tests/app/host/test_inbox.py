"""Tests of requests from other threads: the host handles each in the next frame and answers it once."""

from __future__ import annotations

import subprocess
import sys
import threading
from functools import partial
from pathlib import Path

import pytest

from app.host import InputRequest, NullRecorder, RecordingError, RunHost
from engine.drill.authoring.schema import Scenario
from engine.drill.running.drill import Drill
from engine.drill.time.history import History
from engine.events import SqlDoneData
from tests.shipped_scenarios import load_shipped_scenario


@pytest.fixture(scope="module")
def lab() -> Scenario:
    return load_shipped_scenario("lab")


@pytest.fixture
def host(lab: Scenario) -> RunHost:
    host = RunHost(clock=lambda: 0.0)
    host.open_run(Drill(lab), NullRecorder())
    return host


def run_frames(host: RunHost, request: InputRequest, max_frames: int = 500) -> None:
    for _ in range(max_frames):
        if request.result_future.done():
            return
        host.on_frame(16.0)
    raise AssertionError(f"no answer to {request.line}")


def test_a_batch_returns_its_results(host: RunHost) -> None:
    request = host.inbox.post("sql SERVER_A SELECT 1 AS one")
    host.on_frame(0.0)
    sql_done = request.result_future.result(timeout=0).end_data
    assert isinstance(sql_done, SqlDoneData)
    (result,) = sql_done.results
    assert (result["columns"], result["rows"]) == (["one"], [[1]])


def test_an_internal_error_reaches_the_caller_and_is_raised(
    host: RunHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    def raise_internal_error(history: History, line: str) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(History, "apply_line", raise_internal_error)
    request = host.inbox.post("sql SERVER_A SELECT 1")
    with pytest.raises(ZeroDivisionError):
        host.on_frame(0.0)
    assert isinstance(request.result_future.exception(timeout=0), ZeroDivisionError)


def test_a_waiting_batch_is_answered_when_it_ends(host: RunHost) -> None:
    request = host.inbox.post("sql SERVER_A WAITFOR DELAY '00:00:01'")
    host.play()
    host.on_frame(16.0)
    assert not request.result_future.done()
    run_frames(host, request)
    assert host.drill is not None
    assert host.drill.world.t_s == pytest.approx(1.0, abs=0.5)


def test_batches_of_one_window_are_answered_in_order(host: RunHost) -> None:
    first = host.inbox.post("sql SERVER_A WAITFOR DELAY '00:00:01' SELECT 'first'")
    second = host.inbox.post("sql SERVER_A SELECT 'second'")
    other_request = host.inbox.post("sql SERVER_A#2 SELECT 'other'")
    host.play()
    host.on_frame(16.0)
    assert other_request.result_future.done()
    run_frames(host, second)
    rows = [request.result_future.result(timeout=0).end_data for request in (first, second, other_request)]
    assert [isinstance(row, SqlDoneData) and row.results[-1]["rows"] for row in rows] == [
        [["first"]],
        [["second"]],
        [["other"]],
    ]


def test_an_impossible_request_is_refused_with_a_message(host: RunHost) -> None:
    request = host.inbox.post("power-off SERVER_Z")
    host.on_frame(0.0)
    assert "SERVER_Z" in request.result_future.result(timeout=0).refusal


def test_an_unrecorded_input_is_refused_and_undone(host: RunHost, monkeypatch: pytest.MonkeyPatch) -> None:
    class FullDiskRecorder(NullRecorder):
        def record_input(self, tick: int, line: str) -> None:
            raise RecordingError("The disk is full.")

    assert host.drill is not None
    host.open_run(Drill(host.drill.scenario), FullDiskRecorder())
    request = host.inbox.post("power-off SERVER_A")
    host.on_frame(0.0)
    assert request.result_future.result(timeout=0).refusal == "The disk is full."
    assert host.drill.world.computers["SERVER_A"].powered


def test_requests_to_a_closed_run_are_refused(host: RunHost) -> None:
    pending_request = host.inbox.post("sql SERVER_A WAITFOR DELAY '00:01:00'")
    host.on_frame(0.0)
    unseen = host.inbox.post("power-off SERVER_A")
    host.close()
    assert pending_request.result_future.result(timeout=0).refusal
    assert unseen.result_future.result(timeout=0).refusal


def test_requests_from_many_threads_are_answered(host: RunHost) -> None:
    requests: list[InputRequest] = []
    threads = [
        threading.Thread(
            target=lambda n=n: requests.extend(
                host.inbox.post(f"sql SERVER_A#{n} SELECT {n}") for _ in range(20)
            )
        )
        for n in range(1, 9)
    ]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        host.on_frame(0.0)
    host.on_frame(0.0)
    assert len({request.number for request in requests}) == 160
    for request in requests:
        sql_done = request.result_future.result(timeout=0).end_data
        assert isinstance(sql_done, SqlDoneData)
        assert [sql_done.results[0]["rows"][0][0]] == [int(request.line.split()[-1])]


def test_all_viewers_see_the_same_events(host: RunHost) -> None:
    texts_by_thread: list[list[str]] = [[], []]
    for kinds in texts_by_thread:
        host.events_occurred.connect(
            partial(lambda kinds, events: kinds.extend(event.kind for event in events), kinds)
        )
    host.apply_input("power-off SERVER_A")
    host.run_to(1_000)
    while host.is_busy:
        host.on_frame(16.0)
    assert texts_by_thread[0] == texts_by_thread[1]
    assert "failover" in texts_by_thread[0] or "state" in texts_by_thread[0]


def test_the_host_imports_no_qt() -> None:
    process = subprocess.run(
        [sys.executable, "-c", "import sys, app.host; print([n for n in sys.modules if 'PySide6' in n])"],
        capture_output=True, text=True, cwd=Path(__file__).parents[3], check=True,
    )  # fmt: skip
    assert process.stdout == "[]\n"


def test_work_beyond_a_frame_wakes_the_host_again(lab: Scenario) -> None:
    real_time = [0.0]

    def read_clock() -> float:
        real_time[0] += 0.004
        return real_time[0]

    host, woken = RunHost(read_clock), []
    host.open_run(Drill(lab), NullRecorder())
    requests = [host.inbox.post("sql SERVER_A SELECT 1") for _ in range(8)]
    host.inbox.wake = lambda: woken.append(True)
    host.process_inbox()
    assert [request.result_future.done() for request in requests] == [True] * 3 + [False] * 5
    assert woken == [True]
    host.process_inbox()
    host.process_inbox()
    assert requests[-1].result_future.done()
    assert len(woken) == 2
