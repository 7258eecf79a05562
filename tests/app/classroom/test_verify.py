"""Tests that submitted results are accepted only after a replay."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import multiprocessing
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from app import cli
from app.classroom import class_files
from app.classroom.class_files import LogCheck, check_class_file
from app.classroom.lesson_plan import LessonPlan
from app.classroom.log_entries import LogEntry
from app.classroom.messages.replies import LogVerdict
from app.classroom.models import ClassInstruction, Seat
from app.classroom.record import ClassRecord, RecordUnavailableError
from app.classroom.replay_verifier import ReplayVerifier
from app.classroom.seat_log import InvalidSeatLogError, SeatAssignment, SeatLog
from app.classroom.seat_state import SeatState
from app.classroom.service import ClassMismatchError, find_or_create_class
from app.classroom.verdict import LogReplay, judge_log
from app.files import par_certificates, scenario_files
from engine.drill.authoring.scenario import Scenario
from engine.drill.par.regret import search_value
from engine.drill.par.search_drill import SearchDrill
from engine.drill.running.drill import Drill
from engine.drill.running.solution import play_reference
from engine.generators import run_to_completion
from tests.class_process import build_class
from tests.forked import replace_get_context
from tests.shipped_scenarios import load_shipped_scenario

SCENARIO_NAME = "planned-failover"


@pytest.fixture(scope="module")
def scenario() -> Scenario:
    return scenario_files.find_scenario_file(SCENARIO_NAME).load()


@pytest.fixture(scope="module")
def log(scenario: Scenario) -> list[LogEntry]:
    """Return the reference solution as the log of a seat."""
    drill = play_reference(scenario)
    second_drill = Drill(scenario, drill.seed, drill.mode)
    acts: list[LogEntry] = []
    for item in drill.journal:
        second_drill.advance_to(item.tick)
        second_drill.apply_line(item.line_without_time)
        acts.append(
            LogEntry(len(acts) + 1, item.tick, item.line_without_time, second_drill.compute_state_hash(), 0)
        )
    second_drill.advance_to(drill.tick)
    return [*acts, LogEntry(len(acts) + 1, second_drill.tick, "", second_drill.compute_state_hash(), 0)]


@pytest.fixture
def record(tmp_path: Path, scenario: Scenario, log: list[LogEntry]) -> ClassRecord:
    """Return the record of a class of two seats: the first played the solution, the second did nothing."""
    record_kept = ClassRecord(str(tmp_path / "class.sqlite"))
    record_kept.store_new_class(
        build_class(scenario, LessonPlan(scenario=SCENARIO_NAME, mode="practice"), "")
    )
    ann, bob = Seat(name="Ann", token_hash="a"), Seat(name="Bob", token_hash="b")
    record_kept.store_seats_and_entries([ann, bob], {})
    record_kept.store_seats_and_entries([], {ann.id: log, bob.id: [LogEntry(1, 500, "", "", 0)]})
    return record_kept


def export_changed_archive(
    record: ClassRecord, tmp_path: Path, change: Callable[[dict[str, str]], None] | None = None
) -> Path:
    """Export the class with changed archive members, and return the path."""
    raw = class_files.build_class_archive(record)
    record.close()
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        texts = {name: archive.read(name).decode() for name in archive.namelist()}
    if change is not None:
        change(texts)
    file = tmp_path / "class.zip"
    with zipfile.ZipFile(file, "w") as archive:
        for name, text in texts.items():
            archive.writestr(name, text)
    return file


def check_logs(file: Path) -> dict[str, LogCheck]:
    return {check.name: check for check in check_class_file(file)}


def test_the_exported_class_matches_its_logs(record: ClassRecord, tmp_path: Path) -> None:
    checks = check_logs(export_changed_archive(record, tmp_path))
    assert {name: check.problem for name, check in checks.items()} == {"Ann": "", "Bob": ""}
    ann, bob = checks["Ann"].verdict, checks["Bob"].verdict
    assert ann is not None
    assert bob is not None
    assert ann["ended_by"] == "goals"
    assert (ann["score"], bob["t_s"], bob["last_act"]) == (100.0, 5.0, "")


def test_the_export_contains_no_secrets(record: ClassRecord, tmp_path: Path) -> None:
    the_class = record.read_class()
    assert the_class is not None
    texts: dict[str, str] = {}
    export_changed_archive(record, tmp_path, texts.update)
    all_text = "".join(texts.values())
    for secret in (the_class.secret, the_class.key, the_class.code):
        assert secret not in all_text


def change_score(texts: dict[str, str]) -> None:
    board = json.loads(texts["board.json"])
    board[1]["verdict"]["score"] = 100.0
    texts["board.json"] = json.dumps(board)


def change_action(texts: dict[str, str]) -> None:
    text = texts["seats/0001.jsonl"]
    assert "SET PARTNER FAILOVER" in text
    texts["seats/0001.jsonl"] = text.replace("SET PARTNER FAILOVER", "SET PARTNER SUSPEND", 1)


def remove_log(texts: dict[str, str]) -> None:
    del texts["seats/0002.jsonl"]


@pytest.mark.parametrize(
    ("change", "person", "reason"),
    [
        (change_score, "Bob", "score is 100.0 on the dashboard, but"),
        (change_action, "Ann", "do not reproduce the recorded state"),
        (remove_log, "Bob", "the log is missing"),
    ],
)
def test_deviations_from_the_logs_are_listed(
    record: ClassRecord, tmp_path: Path, change: Callable[[dict[str, str]], None], person: str, reason: str
) -> None:
    checks = check_logs(export_changed_archive(record, tmp_path, change))
    assert reason in checks[person].problem
    assert [check.name for check in checks.values() if check.problem] == [person]


def test_another_scenario_is_refused(record: ClassRecord, tmp_path: Path) -> None:
    def simplify_scenario(texts: dict[str, str]) -> None:
        shared = json.loads(texts["class.json"])
        shared["text"] = shared["text"].replace("length", "# length")
        texts["class.json"] = json.dumps(shared)

    file = export_changed_archive(record, tmp_path, simplify_scenario)
    with pytest.raises(InvalidSeatLogError, match="differs from the one that was played"):
        list(check_class_file(file))


def test_the_first_deviation_of_a_seat_is_named(scenario: Scenario, log: list[LogEntry]) -> None:
    forged = [log[0], *(LogEntry(*act[:3], "0" * 32, act.instruction) for act in log[1:])]
    verdict_found = judge_log(scenario, scenario.seed, "practice", forged)
    assert verdict_found["parted_t_s"] == log[1].tick / 100
    assert verdict_found["score"] == judge_log(scenario, scenario.seed, "practice", log)["score"], (
        "the score is the host's own"
    )


def test_a_log_replayed_in_portions_gives_the_same_result(scenario: Scenario, log: list[LogEntry]) -> None:
    run = LogReplay(scenario, scenario.seed, "practice")
    for act in log:
        run.play([act])
        run.build_verdict()
    assert run.build_verdict() == judge_log(scenario, scenario.seed, "practice", log)


def test_a_log_with_decreasing_times_is_refused(scenario: Scenario, log: list[LogEntry]) -> None:
    rewound_log = [log[0], LogEntry(2, log[0].tick, "rewind 0", "", 0)]
    assert "be set back" in judge_log(scenario, scenario.seed, "practice", rewound_log)["parted"]


def test_logs_imported_from_files_give_the_same_board_as_the_record(
    record: ClassRecord, scenario: Scenario, log: list[LogEntry], tmp_path: Path
) -> None:
    own_log = SeatLog(tmp_path / "seats", "Ann")
    own_log.write_assignment(
        SeatAssignment(1, "Ann", SCENARIO_NAME, scenario.text, scenario.seed, "practice")
    )
    for act in log:
        own_log.append_entry(act.tick, act.line, act.digest)
    own_log.close()
    (by_file,) = check_class_file(own_log.file)
    assert by_file.verdict == check_logs(export_changed_archive(record, tmp_path))["Ann"].verdict


def run_file(tmp_path: Path, change: Callable[[Any], None] = lambda report: None) -> Path:
    report = play_reference(scenario_files.find_scenario_file(SCENARIO_NAME).load()).build_report()
    change(report)
    file = tmp_path / "run.json"
    file.write_text(json.dumps(report))
    return file


def test_the_verify_command_checks_run_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["class", "verify", str(run_file(tmp_path))], lambda _: 0) == 0
    assert "matches its inputs" in capsys.readouterr().out

    def forge_score(report: dict[str, Any]) -> None:
        report["score"]["total"] = 101

    assert cli.main(["class", "verify", str(run_file(tmp_path, forge_score))], lambda _: 0) == 1
    assert "score.total differs: recorded 101" in capsys.readouterr().out
    assert cli.main(["class", "verify", str(tmp_path)], lambda _: 0) == 2


def test_a_database_holds_one_class_that_can_be_continued(record: ClassRecord, scenario: Scenario) -> None:
    stored_class = record.read_class()
    assert stored_class is not None
    for wanted in ([], [build_class(scenario, LessonPlan(scenario=SCENARIO_NAME, mode="practice"), "")]):
        class_found = find_or_create_class(record, wanted, None)
        assert class_found is not None
        assert class_found.code == stored_class.code
    with pytest.raises(ClassMismatchError, match="another database"):
        find_or_create_class(
            record, [build_class(scenario, LessonPlan(scenario=SCENARIO_NAME, mode="exam"), "")], None
        )
    record.close()


def test_preparations_are_stored_with_the_class(tmp_path: Path, scenario: Scenario) -> None:
    plan = LessonPlan.model_validate(
        {"scenario": SCENARIO_NAME, "mode": "exam", "inject": [{"at": "1min", "do": "power-off SERVER_A"}]}
    )
    record_kept = ClassRecord(str(tmp_path / "class.sqlite"))
    find_or_create_class(record_kept, [build_class(scenario, plan, "")], plan)
    (prepared,) = record_kept.read_instructions()
    assert isinstance(prepared, ClassInstruction)
    assert (prepared.tick, prepared.kind, prepared.text) == (6000, "inject", "power-off SERVER_A")
    record_kept.close()


@pytest.mark.parametrize("url", ["nowhere://x", "/no/folder/class.sqlite", "sqlite:///"])
def test_an_unusable_database_is_reported(url: str) -> None:
    with pytest.raises(RecordUnavailableError):
        ClassRecord(url, create=False)


def test_answers_and_confidence_are_exported_as_a_table(tmp_path: Path) -> None:
    asked_scenario = load_shipped_scenario("automatic-failover")
    drill = Drill(asked_scenario)
    while not drill.list_open_questions():
        drill.advance_to(drill.tick + 100)
    question = drill.list_open_questions()[0].name
    drill.apply_line(f"answer {question} 1 sure_percent=70")
    record_kept = ClassRecord(str(tmp_path / "class.sqlite"))
    record_kept.store_new_class(
        build_class(asked_scenario, LessonPlan(scenario=asked_scenario.name, mode="practice"), "")
    )
    ann = Seat(name="Ann", token_hash="a")
    record_kept.store_seats_and_entries([ann], {})
    record_kept.store_seats_and_entries(
        [],
        {
            ann.id: [
                LogEntry(1, drill.tick, drill.journal[-1].line_without_time, drill.compute_state_hash(), 0)
            ]
        },
    )
    with zipfile.ZipFile(io.BytesIO(class_files.build_class_archive(record_kept))) as archive:
        rows = list(csv.DictReader(io.StringIO(archive.read("answers.csv").decode())))
    record_kept.close()
    (row,) = [row for row in rows if row["name"] == question]
    assert (row["person"], row["choice"], row["sure_percent"], row["correct"]) == ("Ann", "1", "70.0", "")


@pytest.mark.parametrize("name", ["witness-lost", "ag-planned-move", "false-failovers", "team-cable"])
@pytest.mark.parametrize("mode", ["practice", "exam", "lab"])
def test_the_host_result_equals_that_of_the_full_drill(name: str, mode: str) -> None:
    scenario = load_shipped_scenario(name)
    drill = play_reference(scenario)
    lines = sorted((item.tick, item.line_without_time) for item in drill.journal if item.verb != "hint")
    marks = [(tick, "") for tick in range(700, drill.tick, 700)]
    acts = [LogEntry(n, tick, line, "", 0) for n, (tick, line) in enumerate(sorted(lines + marks), 1)]
    whole_replay, quick = (LogReplay(scenario, scenario.seed, mode, is_entire) for is_entire in (True, False))
    for act in acts:
        whole_replay.play([act])
        quick.play([act])
        assert quick.build_verdict() == whole_replay.build_verdict(), act


@pytest.mark.parametrize("portions", [((0, 3), (1, 5)), ((2, 4), (0, 5)), ((0, 2), (3, 5)), ((0, 5), (0, 5))])
def test_repeated_entries_and_gaps_are_judged_once(
    portions: tuple[tuple[int, int], ...],
    scenario: Scenario,
    log: list[LogEntry],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Such portions occur if the record is read while another host writes to it."""
    monkeypatch.setattr(multiprocessing, "get_context", replace_get_context)

    async def judge_portions() -> tuple[LogVerdict, tuple[float, float]]:
        verdict_future: asyncio.Future[LogVerdict] = asyncio.get_running_loop().create_future()
        weighed: asyncio.Future[tuple[float, float]] = asyncio.get_running_loop().create_future()

        async def read_log(number: int) -> list[LogEntry]:
            return log[: portions[-1][1]]

        async def store_verdict(number: int, verdict: LogVerdict) -> None:
            if not verdict_future.done():
                verdict_future.set_result(verdict)

        def store_reachable_points(number: int, t_s: float, points: float) -> None:
            if not weighed.done():
                weighed.set_result((t_s, points))

        judge = ReplayVerifier(
            build_class(scenario, LessonPlan(scenario=SCENARIO_NAME, mode="practice"), ""),
            read_log,
            store_verdict,
            store_reachable_points,
        )
        for first, last in portions:
            judge.queue_entries(0, log[first:last])
        running = asyncio.create_task(judge.replay_new_entries(0))
        try:
            return await asyncio.wait_for(verdict_future, 60), await asyncio.wait_for(weighed, 60)
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
            judge.close()
            while any("ExecutorManager" in type(thread).__name__ for thread in threading.enumerate()):
                await asyncio.sleep(0.01)  # The host does not wait for its workers.

    assert len(log) >= portions[-1][1]
    acts, run = log[: portions[-1][1]], LogReplay(scenario, scenario.seed, "practice")
    run.play(acts)
    known_plans = par_certificates.load_certified_plans(run.drill)[:1]
    assert asyncio.run(judge_portions()) == (
        judge_log(scenario, scenario.seed, "practice", acts),
        (run.drill.world.t_s, run_to_completion(search_value(cast("SearchDrill", run.drill), known_plans))),
    )


def test_the_reachable_score_never_rises_and_is_sampled_sparsely() -> None:
    seat = SeatState(1, "Ann", "", 0, 0, 0, 0)
    for t_s in range(10, 60, 10):
        seat.record_reachable_points(t_s, 90.0)
    assert seat.value_curve == [(10, 90.0), (50, 90.0)]
    for t_s, points in ((60, 70.0), (70, 69.8), (80, 95.0)):
        seat.record_reachable_points(t_s, points)
    assert seat.value_curve == [(10, 95.0), (50, 95.0), (60, 95.0), (80, 95.0)], (
        "a way that was found late was there before"
    )
    seat.record_reachable_points(90, 20.0)
    seat.record_reachable_points(55, 80.0)
    assert seat.value_curve == [(10, 95.0), (50, 95.0), (55, 80.0)], "it was sent back"
    for points in (30.0, 30.0, 30.0):  # These actions occur during a pause.
        seat.record_reachable_points(55, points)
    assert seat.value_curve == [(10, 95.0), (50, 95.0), (55, 80.0), (55, 30.0), (55, 30.0)]
