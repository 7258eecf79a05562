"""Tests of untrusted inputs from any source: a problem affects only its seat or file."""

from __future__ import annotations

import asyncio
import io
import json
import os
import threading
import zipfile
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from app import cli
from app.classroom import class_files, debrief, seat_log, workers
from app.classroom.class_files import LogCheck, check_class_file
from app.classroom.lesson_plan import LessonPlan
from app.classroom.log_entries import TICK_MAX, LogEntry
from app.classroom.messages.replies import LogVerdict
from app.classroom.models import Seat
from app.classroom.names import is_valid_name
from app.classroom.record import ClassRecord
from app.classroom.replay_verifier import ReplayVerifier
from app.classroom.seat_log import InvalidSeatLogError
from app.classroom.verdict import LogReplay, judge_log
from app.classroom.workers import WorkerPool
from app.exit_codes import INVALID_USE, NEGATIVE_ANSWER, SUCCESS
from app.files import run_files, scenario_files
from app.files.guarded_player import RunBudget
from app.files.run_files import RunFileError
from engine.drill.authoring.scenario import Scenario
from engine.drill.running.drill import Drill
from engine.inputs import Input
from tests.class_process import build_class
from tests.shipped_scenarios import load_shipped_scenario

SCENARIO_NAME: Final = "lab"
UNPLAYABLE_LINES: Final = (
    " ",
    "\t",
    "\n",
    "\u2003",
    "\u2028",
    "rewind 0",
    "add-node SQLFCI1 SQLFCI1",
    "connect SERVER_A " + "[" * 30_000,
    "batch SERVER_A#tds1 " + "[" * 30_000,
    "answer x " + "9" * 5_000,
    "sql SERVER_A " + "(" * 20_000,
    "power-off " + "x" * 60_000,
    "sent-back",
    "@",
    "@dba",
    "",
)
"""Lines of a seat that are invalid, or that crash a defective engine."""


@pytest.fixture(scope="module")
def scenario() -> Scenario:
    return scenario_files.find_scenario_file(SCENARIO_NAME).load()


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the engine with a version that changes the state and then fails on a certain input."""
    applied = Drill.apply_line

    def fail_after_change(self: Drill, line: str) -> Input:
        if line.startswith("power-off SERVER_W"):
            applied(self, "power-off SERVER_B")
            raise KeyError("SERVER_W")
        return applied(self, line)

    monkeypatch.setattr(Drill, "apply_line", fail_after_change)


@pytest.mark.parametrize("line", UNPLAYABLE_LINES)
def test_an_unplayable_line_is_reported_for_its_seat(scenario: Scenario, line: str) -> None:
    acts = [
        LogEntry(1, 100, line, "", 0),
        LogEntry(2, 300, "power-off SERVER_B", "", 0),
        LogEntry(3, 400, "", "", 0),
    ]
    result = judge_log(scenario, 1, "lab", acts)
    assert (result["acts"], result["t_s"]) == (3, 4.0)
    assert bool(result["parted"]) == bool(line) or line.startswith("sql "), "T-SQL answers with an error"
    assert result["last_act"] == "power-off SERVER_B", "what came after it was played"
    run = debrief.ClassSeatLog(1, "Ann", "", SCENARIO_NAME, scenario.text, 1, "lab", tuple(acts))
    assert debrief.review_seat(run, pdf=False, curve_s=0.0, language_code="en").verdict["acts"] == 3


@pytest.mark.usefixtures("broken")
def test_an_engine_error_restores_the_state_before_the_input(scenario: Scenario) -> None:
    run = LogReplay(scenario, 1, "lab")
    run.play([LogEntry(1, 100, "power-off SERVER_W", "", 0), LogEntry(2, 200, "", "", 0)])
    assert run.drill.world.computers["SERVER_B"].powered
    assert "KeyError" in run.build_verdict()["parted"]
    run.play(LogEntry(number, 200 + number, "power-off SERVER_W", "", 0) for number in range(3, 9))
    result = run.build_verdict()
    assert (result["acts"], result["parted_t_s"]) == (8, 1.0)
    assert run.drill.tick < 208, "after some errors the run is not played further"


def test_a_run_that_takes_too_much_work_is_stopped(scenario: Scenario) -> None:
    acts = [LogEntry(1, 100, "sql SERVER_A WHILE 1=1 PRINT 1", "", 0), LogEntry(2, 2_000_000, "", "", 0)]
    result = judge_log(scenario, 1, "lab", acts, RunBudget(3_000_000, 0.3, 0.0, 0.3))
    assert "processor time" in result["parted"]
    assert result["t_s"] < 1000
    limited_verdict = judge_log(scenario, 1, "lab", acts, RunBudget(1_000, 60.0, 0.0, 60.0))
    assert "simulated time" in limited_verdict["parted"]
    small = judge_log(scenario, 1, "lab", acts, RunBudget(3_000_000, 60.0, 0.0, 60.0, events_max=0))
    assert "memory" in small["parted"]


# --- verifier of a class


def judge_logs(
    logs: dict[int, list[LogEntry]], crashing_seat: int | None = None, verdict_count: int | None = None
) -> dict[int, LogVerdict]:
    """Return the verdicts of a verifier with one worker, or only the first *verdict_count* verdicts.

    *crashing_seat*: the seat whose run terminates the worker.
    """

    async def judge_all() -> dict[int, LogVerdict]:
        verdicts: dict[int, LogVerdict] = {}
        all_judged = asyncio.Event()

        async def read_log(number: int) -> list[LogEntry]:
            return logs[number]

        async def store_verdict(number: int, verdict: LogVerdict) -> None:
            verdicts[number] = verdict
            if len(verdicts) == (verdict_count or len(logs)):
                all_judged.set()
            if verdict["parted"]:
                raise ValueError("a finding that nobody takes")

        scenario = load_shipped_scenario(SCENARIO_NAME)
        the_class = build_class(scenario, LessonPlan(scenario=SCENARIO_NAME, mode="lab"), "")
        judge = ReplayVerifier(the_class, read_log, store_verdict, lambda *_: None)
        for number, acts in logs.items():
            judge.queue_entries(number, acts)
        task = asyncio.create_task(judge.replay_new_entries(0))
        try:
            await asyncio.wait_for(all_judged.wait(), 120)
            return verdicts
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            judge.close()
            while any("ExecutorManager" in type(thread).__name__ for thread in threading.enumerate()):
                await asyncio.sleep(0.01)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "cpu_count", lambda: 2)  # Use one worker.
        if crashing_seat is not None:
            original_replay = WorkerPool.replay

            async def continue_replay(
                pool: WorkerPool,
                number: int,
                logs_of_seat: Mapping[int, Sequence[LogEntry]],
                unfinished: Collection[int] = (),
            ) -> dict[int, LogVerdict | None] | None:
                return (
                    None
                    if crashing_seat in logs_of_seat
                    else await original_replay(pool, number, logs_of_seat, unfinished)
                )

            patch.setattr(WorkerPool, "replay", continue_replay)
        return asyncio.run(judge_all())


def test_one_seat_never_ends_the_judging_of_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    entries = [LogEntry(1, 500, "power-off SERVER_B", "", 0)]
    verdicts = judge_logs({1: [LogEntry(1, 100, " ", "", 0)], 2: entries, 3: []})
    assert verdicts[1]["parted"]
    assert (verdicts[2]["parted"], verdicts[2]["acts"], verdicts[3]["acts"]) == ("", 1, 0)


def test_an_endless_batch_delays_no_other_seat() -> None:
    """The endless batch runs for eight simulated hours, in turns. The other run is queued behind it and is
    judged first.
    """
    endless = [LogEntry(1, 100, "sql SERVER_A WHILE 1=1 PRINT 1", "", 0), LogEntry(2, TICK_MAX, "", "", 0)]
    verdicts = judge_logs({1: endless, 2: [LogEntry(1, 500, "power-off SERVER_B", "", 0)]}, verdict_count=1)
    assert (list(verdicts), verdicts[2]["acts"]) == ([2], 1)


def test_a_long_run_is_judged_in_turns_like_a_short_one(
    scenario: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "TIME_SLICE_S", 0.0)
    first = [LogEntry(1, 500, "power-off SERVER_B", "", 0), LogEntry(2, 60_000, "", "", 0)]
    second = [LogEntry(3, 60_500, "power-on SERVER_B", "", 0), LogEntry(4, 90_000, "", "", 0)]
    run = workers.QueuedReplay(LogReplay(scenario, 1, "lab"))
    run.receive(first)
    turns = 0
    while not run.play_slice():
        turns += 1
        if turns == 3:
            run.receive(second)
    assert turns > 5
    assert run.replay.build_verdict() == judge_log(scenario, 1, "lab", [*first, *second])


def test_a_seat_that_ends_its_worker_is_abandoned_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    entries = [LogEntry(1, 500, "power-off SERVER_B", "", 0)]
    verdicts = judge_logs({1: entries, 2: entries, 3: entries}, crashing_seat=2)
    assert verdicts[2]["parted"] == "the simulation did not come to an end"
    assert (verdicts[1]["parted"], verdicts[3]["parted"]) == ("", "")


# --- a submitted class, and its export


def build_class_of(tmp_path: Path, scenario: Scenario, logs: Iterable[list[LogEntry]]) -> ClassRecord:
    record = ClassRecord(str(tmp_path / "class.sqlite"))
    record.store_new_class(build_class(scenario, LessonPlan(scenario=SCENARIO_NAME, mode="lab"), ""))
    for number, log in enumerate(logs, 1):
        seat = Seat(name=f"Seat {number}", token_hash=str(number))
        record.store_seats_and_entries([seat], {})
        record.store_seats_and_entries([], {seat.id: log})
    return record


def test_export_and_report_of_a_class_survive_one_seat(
    tmp_path: Path, scenario: Scenario, capsys: pytest.CaptureFixture[str]
) -> None:
    entries = [LogEntry(1, 500, "power-off SERVER_B", "", 0)]
    build_class_of(tmp_path, scenario, [[LogEntry(1, 100, "\n", "", 0)], entries]).close()
    database, archive_file = tmp_path / "class.sqlite", tmp_path / "class.zip"
    for subcommand in ("report", "export"):
        code = cli.main(
            ["class", subcommand, "--database", str(database), "--out", str(archive_file)], lambda _: 9
        )
        assert code == SUCCESS, capsys.readouterr().err
    assert [bool(check.problem) for check in check_class_file(archive_file)] == [True, False]


def build_good_archive(tmp_path: Path, scenario: Scenario) -> dict[str, bytes]:
    record = build_class_of(tmp_path, scenario, [[LogEntry(1, 500, "power-off SERVER_B", "", 0)]] * 2)
    with zipfile.ZipFile(io.BytesIO(class_files.build_class_archive(record))) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    record.close()
    return members


def write_archive(tmp_path: Path, members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    archive_file = tmp_path / "class.zip"
    with zipfile.ZipFile(archive_file, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return archive_file


LOG_HEAD: Final = b'{"seat": 2, "name": "Bob"}\n'
BAD_LOG_MEMBERS: Final = (
    b"\n" * 30_000,
    b"",
    b"\xff" * 100,
    b'{"seat": 2, "name": "\\ud800"}\n[1, 5, "", "", 0]\n',
    LOG_HEAD + b"[" * 30_000 + b"\n",
    LOG_HEAD + b'[1, 5, " ", "", 0]\n',
    LOG_HEAD + b'[1, 5, "note \\ud800", "", 0]\n',
    LOG_HEAD + b'[1, 1e400, "", "", 0]\n',
    LOG_HEAD + b'[1, Infinity, "", "", 0]\n',
    LOG_HEAD + b'[1, 1000000000, "", "", 0]\n',
    b'{"seat": ' + b"9" * 5_000 + b', "name": "Bob"}\n',
    b'{"seat": [[]], "name": {}}\n',
)


@pytest.mark.parametrize("member", BAD_LOG_MEMBERS, ids=lambda member: repr(member[:60]))
def test_a_bad_log_of_an_archive_is_reported_for_that_log(
    tmp_path: Path, scenario: Scenario, member: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    members = build_good_archive(tmp_path, scenario) | {"seats/0002.jsonl": member}
    file = write_archive(tmp_path, members)
    assert cli.main(["class", "verify", str(file)], lambda _: 9) == NEGATIVE_ANSWER
    output = capsys.readouterr()
    assert "Seat 1: matches its inputs" in output.out
    assert output.err == ""
    output.out.encode()


def test_a_member_is_expanded_within_limits(
    tmp_path: Path, scenario: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The member has 450 million lines in 440 KB. The reader counts them during expansion and never stores
    all of them.
    """
    monkeypatch.setattr(class_files, "MEMBER_BYTES_MAX", 1_000_000)
    members = build_good_archive(tmp_path, scenario)
    for bomb in (b"\n" * 3_000_000, b"x" * 3_000_000):
        checks = list(check_class_file(write_archive(tmp_path, members | {"seats/0002.jsonl": bomb})))
        assert next(check.problem for check in checks if check.file.endswith("0002.jsonl")).endswith(
            "is too large"
        )
    for shared in ("class.json", "board.json"):
        with pytest.raises(InvalidSeatLogError, match="too large"):
            list(check_class_file(write_archive(tmp_path, members | {shared: b" " * 3_000_000})))
    with pytest.raises(InvalidSeatLogError, match="more than 20000 inputs"):
        seat_log.parse_log(b"\n" * 30_000, "log")


def get_outcome(file: Path) -> list[LogCheck] | str:
    try:
        return list(check_class_file(file))
    except (InvalidSeatLogError, RunFileError) as problem:
        return str(problem)


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_a_damaged_archive_is_refused_with_a_message(tmp_path: Path, scenario: Scenario, method: int) -> None:
    members = build_good_archive(tmp_path, scenario)
    raw = write_archive(tmp_path, members, method).read_bytes()
    file = tmp_path / "damaged.zip"
    for place in range(30, len(raw), max(1, len(raw) // 25)):
        file.write_bytes(raw[:place] + bytes([raw[place] ^ 0x55]) + raw[place + 1 :])
        get_outcome(file)
    flag = raw.find(b"PK\x01\x02") + 8
    file.write_bytes(raw[:6] + b"\x01" + raw[7:flag] + b"\x01" + raw[flag + 1 :])
    assert "encrypted" in str(get_outcome(file))


@pytest.mark.parametrize(
    "change",
    [{"seed": 2**70}, {"seed": None}, {"mode": []}, {"text": 5}, {"part": 1e308}, {"scenario": "../x"}],
)
def test_hostile_class_data_is_reported(tmp_path: Path, scenario: Scenario, change: dict[str, Any]) -> None:
    members = build_good_archive(tmp_path, scenario)
    shared = json.loads(members["class.json"]) | change
    result = get_outcome(write_archive(tmp_path, members | {"class.json": json.dumps(shared).encode()}))
    assert isinstance(result, str) or all(check.problem for check in result)


# --- truncated runs

RUN_START: Final = {"scenario": SCENARIO_NAME, "seed": 1, "mode": "lab"}
BAD_ENTRIES: Final = (
    '{"tick": 1000000000, "line": "", "hashes": []}',
    '{"tick": Infinity, "line": "", "hashes": []}',
    '{"tick": NaN, "line": "", "hashes": []}',
    '{"tick": true, "line": "", "hashes": []}',
    '{"tick": -5, "line": "", "hashes": []}',
    '{"tick": 5, "line": 5, "hashes": []}',
    '{"tick": 5, "line": "", "hashes": 5}',
    '{"tick": 5, "line": "", "hashes": [[1, 2]]}',
    '{"tick": 5, "line": "", "hashes": [["x", 2, "y"]]}',
    '{"tick": 5, "line": "5 note \\ud800", "hashes": []}',
    "[" * 30_000,
    "5",
    "{}",
)


def build_truncated_log(text: str, *entries: str) -> bytes:
    begin_line = json.dumps({"begun": {**RUN_START, "scenario_text": text}})
    return "\n".join([begin_line, *entries, ""]).encode()


@pytest.mark.parametrize("entry", BAD_ENTRIES, ids=lambda entry: entry[:50])
def test_a_truncated_run_is_refused_with_a_message(
    tmp_path: Path, scenario: Scenario, entry: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "run.json"
    file.write_bytes(build_truncated_log(scenario.text, entry))
    assert cli.main(["replay", str(file)], lambda _: 9) == INVALID_USE
    assert cli.main(["class", "verify", str(file)], lambda _: 9) == INVALID_USE
    assert capsys.readouterr().err.count("\n") == 2


def test_no_run_is_played_before_it_is_accepted(scenario: Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = json.dumps({"tick": 6_000, "line": "5 sql SERVER_A WHILE 1=1 PRINT 1", "hashes": []})

    def fail_if_called(*_: object) -> None:
        raise AssertionError("it was played")

    monkeypatch.setattr(Drill, "__init__", fail_if_called)
    report, text = run_files.parse_run(build_truncated_log(scenario.text, entry), "run.json")
    assert (report["ended_at_s"], report["inputs"]) == (60.0, ["5 sql SERVER_A WHILE 1=1 PRINT 1"])
    assert text == scenario.text


def test_a_report_cannot_claim_that_it_was_truncated(scenario: Scenario) -> None:
    drill = Drill(scenario, 1, "lab")
    drill.advance_to(100)
    report = json.loads(json.dumps(drill.build_report())) | {"cut_off": True, "scenario_text": scenario.text}
    assert "cut_off" not in run_files.parse_run(json.dumps(report).encode(), "run.json")[0]


def test_a_replay_has_a_budget(
    tmp_path: Path, scenario: Scenario, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    small_budget = RunBudget(100_000_000, 0.2, 0.0, 0.2)
    monkeypatch.setattr(run_files.replay_run, "__defaults__", (small_budget,))
    file = tmp_path / "run.json"
    line = json.dumps({"tick": 2_000_000, "line": "5 sql SERVER_A WHILE 1=1 PRINT 1", "hashes": []})
    file.write_bytes(build_truncated_log(scenario.text, line))
    assert cli.main(["replay", str(file)], lambda _: 9) == INVALID_USE
    assert "processor time" in capsys.readouterr().err
    (check,) = check_class_file(file)
    assert "processor time" in check.problem


# --- names


@pytest.mark.parametrize(
    "name", ["\u3164", "\u2800", "Ann\ufe0f", "\ufe0f", "\u115f", "A\u200bn", " ", "", "x" * 61]
)
def test_a_name_with_invisible_characters_is_refused(name: str) -> None:
    assert not is_valid_name(name)


@pytest.mark.parametrize("name", ["Ann", "Zoë O'Neil", "Jose\u0301", "李明", "नेहा"])
def test_names_of_all_languages_are_accepted(name: str) -> None:
    assert is_valid_name(name)
