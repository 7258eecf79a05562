"""Tests of the class report as a ZIP file, and of the deletion of personal data from the record."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import socket
import sqlite3
import xml.etree.ElementTree as ElementTree
import zipfile
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import pytest

from app import cli
from app.classroom.debrief import ClassSeatLog, review_seat
from app.classroom.lesson_plan import LessonPlan, parse_plan
from app.classroom.log_entries import LogEntry
from app.classroom.models import ClassInstruction, Seat
from app.classroom.record import ClassRecord
from app.classroom.report import list_losses
from app.classroom.verdict import judge_log
from app.learning.reflection import Reflection
from app.words import language
from engine.drill.judging.report import get_program_version
from engine.drill.par.regret_analysis import RegretAnalysis, RunSegment
from engine.drill.running.drill import Drill
from engine.drill.running.modes import DrillMode
from engine.drill.running.solution import play_reference
from tests.class_process import build_class
from tests.shipped_scenarios import load_shipped_scenario

SCENARIO_NAME = "planned-failover"
PEOPLE = ("Annelore Q.", "Béla R.", "Cemile S.")


@pytest.fixture
def database(class_database: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(class_database, tmp_path))


@pytest.fixture(scope="module")
def class_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the database of a class of three seats.

    The first seat played the solution, the second forced service, and the third did nothing and is
    unfinished.
    """
    scenario = load_shipped_scenario(SCENARIO_NAME)
    file = tmp_path_factory.mktemp("class") / "class.sqlite"
    record = ClassRecord(str(file))
    plan = f'scenario = "{SCENARIO_NAME}"\nmode = "practice"\n[[group]]\nname = "blue"\npeople = {list(PEOPLE[:2])}\n'
    record.store_new_class(build_class(scenario, LessonPlan(scenario=SCENARIO_NAME, mode="practice"), plan))
    reference = play_reference(scenario)
    solved = [(100, "note between us"), *((item.tick, item.line_without_time) for item in reference.journal)]
    solved.append((reference.tick, ""))
    forced = [(3000, "sql SERVER_A ALTER DATABASE Northwind SET PARTNER OFF"), (3500, "finish")]
    for name, lines in zip(PEOPLE, (solved, forced, [(2000, "")]), strict=True):
        seat = Seat(name=name, token_hash=f"token of {name}", group_name="blue")
        record.store_seats_and_entries([seat], {})
        drill = Drill(scenario)
        acts: list[LogEntry] = []
        for tick, line in lines:
            drill.advance_to(tick)
            if line:
                drill.apply_line(line)
            acts.append(LogEntry(len(acts) + 1, drill.tick, line, drill.compute_state_hash(), 0))
        record.store_seats_and_entries([], {seat.id: acts})
        record.store_instructions(
            [ClassInstruction(seat_id=seat.id, tick=None, kind="message", text=f"well done {name}")]
        )
    record.close()
    return file


def export_report(database: Path, *arguments: str) -> dict[str, bytes]:
    file = database.with_name("report.zip")
    assert (
        cli.main(
            [
                "class",
                "report",
                "--database",
                str(database),
                "--out",
                str(file),
                "--seconds",
                "0",
                *arguments,
            ],
            lambda _: 0,
        )
        == 0
    )
    with zipfile.ZipFile(file) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def erase_class(database: Path, *arguments: str) -> int:
    return cli.main(["class", "erase", "--database", str(database), *arguments], lambda _: 0)


def test_the_report_contains_no_names_unless_requested(database: Path) -> None:
    files = export_report(database)
    all_bytes = b"".join(files.values())
    assert not any(name.encode() in all_bytes for name in PEOPLE)
    assert "Seat 1" in files["class.html"].decode()
    assert "Compared with the best" not in files["class.html"].decode(), "there was no time for it"
    named = export_report(database, "--names")
    assert PEOPLE[1] in named["class.html"].decode()
    assert PEOPLE[1] in named["people/0002.html"].decode()


def test_report_lists_the_marks_of_the_instructor_without_names(database: Path) -> None:
    record = ClassRecord(str(database), create=False)
    record.store_instructions(
        [
            ClassInstruction(kind="mark", tick=9000, text="all are stuck"),
            ClassInstruction(kind="mark", seat_id=2, tick=3000, text=f"{PEOPLE[1]} asks why"),
        ]
    )
    assert not any(instruction.kind == "mark" for instruction in record.read_instructions())
    record.close()
    files = export_report(database)
    page = files["class.html"].decode()
    assert page.index("0:30") < page.index("all are stuck"), "in the order of time"
    assert list(csv.DictReader(io.StringIO(files["marks.csv"].decode()))) == [
        {"t_s": "30.0", "seat": "2", "text": "seat_2 asks why"},
        {"t_s": "90.0", "seat": "", "text": "all are stuck"},
    ]


@pytest.mark.usefixtures("qapp")  # for the PDF
def test_the_report_summarizes_the_results_of_the_seats(database: Path) -> None:
    files = export_report(database, "--pdf")
    board = list(csv.DictReader(io.StringIO(files["board.csv"].decode())))
    assert board[0]["score"] == "100.0"
    assert [row["ended_by"] for row in board] == ["goals", "asked", ""]
    page = files["class.html"].decode()
    assert "Where seats made different choices" in page
    assert "1 run has no recorded end" in page, "the third has not ended"
    assert "recorded until 0:20" in page
    assert re.search(r"Class of 20\d\d-\d\d-\d\d \d\d:\d\d\. Report of ", page)
    assert f"Mirrordrill {get_program_version()}." in page
    assert "filter: invert" in page, "pictures follow the dark theme"
    assert "SET PARTNER OFF" in page
    assert "back all " in page
    assert 'href="people/0003.html"' in page
    partings = list(csv.DictReader(io.StringIO(files["partings.csv"].decode())))
    assert "waited" in {row["choice"] for row in partings}
    assert float(partings[0]["cost"]) > 0
    assert len(list(csv.DictReader(io.StringIO(files["mistakes.csv"].decode())))) > 0
    assert files["class.pdf"].startswith(b"%PDF")
    assert files["people/0001.pdf"].startswith(b"%PDF")


def test_the_report_shows_the_reachable_score_and_its_losses_for_each_seat(database: Path) -> None:
    files = export_report(database, "--seconds", "60")
    page = files["class.html"].decode()
    rows = re.findall(
        r"<tr>(?:(?!</tr>).)*<svg.*?</tr>", page[page.index("Compared with the best") :], re.DOTALL
    )
    assert len(rows) == 3
    solved, forced, idle = rows
    assert "100.0%</td><td>none</td><td>met" in solved
    assert "until 0:20" in idle
    assert (
        "0:30.0  ALTER DATABASE Northwind SET PARTNER OFF on SERVER_A, refused by the server: minor loss, −3"
        "<br>0:35.0  End drill: " in forced
    )
    assert "<td>0:35.0  End drill</td>" in forced
    assert "<td>none</td><td>still running</td>" in idle, "the end of the class is no act of who sits there"
    board = list(csv.DictReader(io.StringIO(files["board.csv"].decode())))
    assert [row["no_return_s"] for row in board] == ["", "35.0", ""]
    assert float(board[1]["accuracy"]) < 50.0
    moves = list(csv.DictReader(io.StringIO(files["worth.csv"].decode())))
    assert {row["seat"] for row in moves} == {"1", "2", "3"}
    assert "point of no return at 0:35.0</text>" in files["people/0002.html"].decode()


def test_xapi_and_scorm_systems_accept_the_export(database: Path) -> None:
    files = export_report(database)
    statements: list[dict[str, Any]] = json.loads(files["xapi.json"])
    assert [statement["verb"]["display"]["en"] for statement in statements] == [
        "completed",
        "completed",
        "attempted",
    ]
    assert statements[0]["result"]["score"] == {"scaled": 1.0, "raw": 100.0, "min": 0, "max": 100}
    assert len({statement["id"] for statement in statements}) == 3
    assert statements == json.loads(export_report(database)["xapi.json"]), (
        "a statement that is sent twice is one"
    )
    with zipfile.ZipFile(io.BytesIO(files["cmi5.zip"])) as package:
        structure = ElementTree.fromstring(package.read("cmi5.xml"))
        space = "{https://w3id.org/xapi/profiles/cmi5/v1/CourseStructure.xsd}"
        url = structure.findtext(f"{space}au/{space}url")
        assert url in package.namelist()
        page = package.read(url).decode()
        assert 'src="cmi5.js"' in page
        assert "people/" not in page, "the package has no pages of people"
        assert b"auth-token" in package.read("cmi5.js")


def test_an_erased_person_appears_nowhere_in_the_file(
    database: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert b"between us" in database.read_bytes()
    assert erase_class(database, "1", "3", "--yes") == 0
    left = b"".join(file.read_bytes() for file in database.parent.glob("class.sqlite*"))
    for name in (PEOPLE[0], PEOPLE[2]):
        assert name.encode() not in left
    assert b"between us" not in left, "nor what was done"
    assert PEOPLE[1].encode() in left
    files = export_report(database, "--names")
    assert [row["name"] for row in csv.DictReader(io.StringIO(files["board.csv"].decode()))] == [PEOPLE[1]]
    assert erase_class(database, "--all", "--yes") == 0
    assert PEOPLE[1].encode() not in database.read_bytes()
    assert cli.main(["class", "report", "--database", str(database), "--out", "x.zip"], lambda _: 0) == 2
    assert "no seats" in capsys.readouterr().err


def test_erasing_asks_first_and_is_refused_while_the_class_runs(
    database: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("no\n"))
    assert erase_class(database, "1") == 1
    assert "nothing was erased" in capsys.readouterr().out
    assert PEOPLE[0].encode() in database.read_bytes()
    assert erase_class(database) == 2
    assert erase_class(database, "99", "--yes") == 2
    assert "no seat 99" in capsys.readouterr().err
    with socket.create_server(("127.0.0.1", 0)) as host:
        record = ClassRecord(str(database), create=False)
        record.change_addresses(lambda _: [f"127.0.0.1:{host.getsockname()[1]}"])
        record.close()
        assert erase_class(database, "1", "--yes") == 2
    assert "the class is open: close it first" in capsys.readouterr().err


def test_an_erased_person_is_not_named_to_others(database: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = PEOPLE[0]
    plan = (
        f'scenario = "{SCENARIO_NAME}"  # {name} knows it\nmode = "practice"\n[[group]]\nname = "blue"\n'
        f'people = {list(PEOPLE)}\n[[message]]\nat = "1min"\ntext = "{name}: begin"\n'
    )
    record = ClassRecord(str(database), create=False)
    record.change_part_columns(plan=plan)
    record.store_instructions([ClassInstruction(kind="message", text=f"{name.upper()} has found it")])
    record.close()
    with closing(sqlite3.connect(database)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM seat").fetchall()
        assert erase_class(database, "1", "--yes") == 2
        assert "still in the file" in capsys.readouterr().err
    assert erase_class(database, "1", "--yes") == 0, "what was left is removed by the next one"
    left = b"".join(file.read_bytes() for file in database.parent.glob("class.sqlite*"))
    assert name.encode().lower() not in left.lower()
    record = ClassRecord(str(database), create=False)
    assert record.read_instructions()[-1].text == "seat 1 has found it"
    the_class = record.read_class()
    assert the_class is not None
    stored_plan = parse_plan(the_class.plan)
    assert (stored_plan.groups[0].people, stored_plan.messages[0].text) == (PEOPLE[1:], "seat 1: begin")
    record.close()


def test_confidence_is_shown_next_to_correctness(tmp_path: Path) -> None:
    asked_scenario = load_shipped_scenario("automatic-failover")
    record = ClassRecord(str(tmp_path / "class.sqlite"))
    record.store_new_class(
        build_class(asked_scenario, LessonPlan(scenario=asked_scenario.name, mode="exam"), "")
    )
    for name, choice in (("Ann", 1), ("Ben", 2)):
        seat = Seat(name=name, token_hash=name)
        record.store_seats_and_entries([seat], {})
        drill, acts = Drill(asked_scenario, mode="exam"), list[LogEntry]()
        while not drill.list_open_questions():
            drill.advance_to(drill.tick + 100)
        (question, *_) = drill.list_open_questions()
        for line in (f"answer {question.name} {choice} sure_percent=80", "finish"):
            drill.apply_line(line)
            acts.append(LogEntry(len(acts) + 1, drill.tick, line, drill.compute_state_hash(), 0))
        record.store_seats_and_entries([], {seat.id: acts})
    record.close()
    page = export_report(tmp_path / "class.sqlite")["class.html"].decode()
    assert "Brier score 0.34 for 2 answers" in page, "(0.04 + 0.64) / 2"
    assert "<td>80%</td>" in page or "80%" in page
    assert ">Lost transactions</text>" in page, "what was lost is drawn"


def test_a_person_gets_all_of_their_own_data_and_nothing_of_others(database: Path) -> None:
    file = database.with_name("mine.zip")
    words = ["class", "export", "--database", str(database), "--out", str(file), "--seat"]
    assert cli.main([*words, "2"], lambda _: 0) == 0
    with zipfile.ZipFile(file) as archive:
        whole_text = b"".join(archive.read(name) for name in archive.namelist()).decode()
        assert [name for name in archive.namelist() if name.startswith("seats/")] == ["seats/0002.jsonl"]
    assert f"well done {PEOPLE[1]}" in whole_text
    assert not [name for name in (PEOPLE[0], PEOPLE[2]) if name in whole_text]
    assert cli.main(["class", "verify", str(file)], lambda _: 0) == 0
    assert cli.main([*words, "9"], lambda _: 0) == 2


def test_self_assessments_are_shown_next_to_the_points(database: Path) -> None:
    record = ClassRecord(str(database), create=False)
    record.store_reflection(1, Reflection("nothing yet", "", None))
    record.store_reflection(1, Reflection("Béla pulled the cable", "=1+1", 70.0))
    record.close()
    files = export_report(database)
    page = files["class.html"].decode()
    assert "Self-assessment before the score" in page
    assert "seat_2 pulled the cable" in page
    (row,) = csv.DictReader(io.StringIO(files["reflections.csv"].decode()))
    assert (row["expected_score"], row["score"], row["otherwise"]) == ("70.0", "100.0", "'=1+1")
    assert "Béla pulled the cable" in export_report(database, "--names")["class.html"].decode()
    file = database.with_name("class.zip")
    assert cli.main(["class", "export", "--database", str(database), "--out", str(file)], lambda _: 0) == 0
    assert cli.main(["class", "verify", str(file)], lambda _: 0) == 0
    with zipfile.ZipFile(file) as archive:
        assert (
            json.loads(archive.read("seats/0001.jsonl").split(b"\n")[0])["reflection"]["expected_score"] == 70
        )
    assert erase_class(database, "1", "--yes") == 0
    assert b"pulled the cable" not in b"".join(
        file.read_bytes() for file in database.parent.glob("class.sqlite*")
    )


def test_typed_names_are_masked_in_a_report_without_names(database: Path) -> None:
    record = ClassRecord(str(database), create=False)
    record.change_seat_columns([1, 2], group_name="Falcons")
    seat = Seat(name="Grant Müller", token_hash="token of Grant", group_name="Falcons")
    record.store_seats_and_entries([seat], {})
    typed = (
        "sql SERVER_A -- béla r. of the falcons asked for it\nPRINT 'Müller_1'; GRANT CONNECT TO [Annelore]",
        "note Grant and FALCONS know that Northwind is mine",
        "finish",
    )
    drill, acts = Drill(load_shipped_scenario(SCENARIO_NAME)), list[LogEntry]()
    for number, line in enumerate(typed, 1):
        drill.advance_to(number * 100)
        drill.apply_line(line)
        acts.append(LogEntry(number, drill.tick, line, drill.compute_state_hash(), 0))
    record.store_seats_and_entries([], {seat.id: acts})
    record.close()
    files = export_report(database)
    all_text = b"".join(files.values()).decode(errors="replace").casefold()
    assert not [name for name in ("falcons", "béla", "müller", "annelore") if name in all_text]
    page = files["people/0004.html"].decode()
    assert "seat_4 and group_1 know that Northwind is mine" in page
    assert "seat_2 of the group_1 asked for it" in page
    assert "GRANT CONNECT TO" in page, "a word of SQL stays one"
    assert "Northwind" in page, "so does what the drill names itself"
    board = list(csv.DictReader(io.StringIO(files["board.csv"].decode())))
    assert [row["group"] for row in board] == ["1", "1", "2", "1"]
    assert board[3]["parted_t_s"] == "", "it is judged by what was typed"
    assert "FALCONS" in export_report(database, "--names")["people/0004.html"].decode()


def test_an_unreadable_line_does_not_prevent_the_report(database: Path) -> None:
    record = ClassRecord(str(database), create=False)
    seat = Seat(name="Dora", token_hash="token of Dora")
    record.store_seats_and_entries([seat], {})
    record.store_seats_and_entries([], {seat.id: [LogEntry(1, 100, "no-such-verb", "", 0)]})
    record.close()
    board = csv.DictReader(io.StringIO(export_report(database)["board.csv"].decode()))
    assert [row["parted_t_s"] for row in board] == ["", "", "", "1.0"]


def test_versions_of_seats_are_in_the_report(database: Path) -> None:
    record = ClassRecord(str(database), create=False)
    record.change_seat_columns([2], version="0.0.1 <b>")
    record.close()
    files = export_report(database)
    assert "Seats with version 0.0.1 &lt;b&gt;: 2." in files["class.html"].decode()
    board = csv.DictReader(io.StringIO(files["board.csv"].decode()))
    assert [row["version"] for row in board] == ["", "0.0.1 <b>", ""]


def test_the_class_page_is_translated_to_german(database: Path) -> None:
    files = export_report(database, "--language", "de")
    assert language.get_current_language() == language.ENGLISH, "only the report does"
    page = files["class.html"].decode()
    assert '<html lang="de">' in files["people/0001.html"].decode()
    assert "Nicht erreicht: " in page
    assert "SET PARTNER OFF auf SERVER_A" in page
    assert "Not met: " not in page


@pytest.mark.parametrize(
    ("mode", "by_instructor", "score"),
    [("practice", True, 100.0), ("exam", True, 17.5), ("exam", False, 100.0)],
)
def test_inputs_of_the_instructor_are_attributed_to_the_instructor(
    tmp_path: Path, mode: str, by_instructor: bool, score: float
) -> None:
    """The instructor plays the solution at the seat of a participant who has made no input."""
    scenario = load_shipped_scenario(SCENARIO_NAME)
    file = tmp_path / "class.sqlite"
    record = ClassRecord(str(file))
    plan = LessonPlan(scenario=SCENARIO_NAME, mode=cast("Any", mode))
    record.store_new_class(build_class(scenario, plan, f'scenario = "{SCENARIO_NAME}"\nmode = "{mode}"\n'))
    record.store_seats_and_entries([Seat(name="Ann", token_hash="a")], {})
    reference = play_reference(scenario)
    drill = Drill(scenario, scenario.seed, DrillMode(mode))
    acts: list[LogEntry] = []
    for item in reference.journal:
        drill.advance_to(item.tick)
        drill.apply_line(item.line_without_time)
        (instruction,) = record.store_instructions(
            [ClassInstruction(seat_id=1, kind="inject", text=item.line_without_time)]
        )
        number = instruction.number if by_instructor else 0
        acts.append(
            LogEntry(len(acts) + 1, drill.tick, item.line_without_time, drill.compute_state_hash(), number)
        )
    drill.advance_to(reference.tick)
    acts.append(LogEntry(len(acts) + 1, drill.tick, "", drill.compute_state_hash(), 0))
    record.store_seats_and_entries([], {1: acts})
    record.close()
    files = export_report(file)
    (board,) = csv.DictReader(io.StringIO(files["board.csv"].decode()))
    assert float(board["score"]) == score
    assert int(board["instructor_inputs"]) == (len(reference.journal) if by_instructor else 0)
    assert bool(board["instructor_goals"]) is by_instructor
    deeds = list(csv.DictReader(io.StringIO(files["deeds.csv"].decode())))
    assert {row["by"] for row in deeds} == {"instructor" if by_instructor else "seat"}
    pages = files["class.html"].decode(), files["people/0001.html"].decode()
    assert ("met by the instructor" in pages[0]) is by_instructor
    assert ("What the instructor did in this run" in pages[1]) is by_instructor
    assert ("do not count" in pages[1]) is (by_instructor and mode == "exam")


def test_fault_injected_by_the_instructor_costs_no_goal() -> None:
    scenario = load_shipped_scenario(SCENARIO_NAME)
    reference = play_reference(scenario)
    drill = Drill(scenario)
    acts: list[LogEntry] = []
    inputs = [(item.tick, item.line_without_time, 0) for item in reference.journal]
    for tick, line, number in sorted([*inputs, (50, "stop-agent SERVER_A", 7)]):
        drill.advance_to(tick)
        drill.apply_line(line)
        acts.append(LogEntry(len(acts) + 1, tick, line, drill.compute_state_hash(), number))
    verdict_found = judge_log(scenario, scenario.seed, "practice", acts)
    assert verdict_found["instructor_inputs"] == 1
    assert verdict_found["instructor_goals"] == []
    assert any(met_s is not None for met_s in verdict_found["goals"].values())


@pytest.mark.parametrize("instruction", [0, 7])
def test_end_of_the_class_is_no_mistake_of_the_seat(instruction: int) -> None:
    scenario = load_shipped_scenario("automatic-failover")
    drill = Drill(scenario, scenario.seed, "practice")
    drill.advance_to(12_000)
    drill.apply_line("finish")
    end = LogEntry(1, 12_000, "finish", drill.compute_state_hash(), instruction)
    log = ClassSeatLog(1, "Ann", "", scenario.name, scenario.text, scenario.seed, "practice", (end,))
    seat = review_seat(log, pdf=False, curve_s=600.0, language_code="en")
    assert seat.verdict["ended_by"] == ("instructor" if instruction else "asked")
    assert ("ended by the instructor, after 2:00.0" in seat.debrief_html) is bool(instruction)
    assert seat.regret_analysis is not None
    assert any(move.line == "finish" for move in seat.regret_analysis.moves) is not bool(instruction)
    assert ("You ended the drill" in seat.debrief_html) is not bool(instruction)


def test_refused_command_is_named_as_refused() -> None:
    """A forced failover while the partners are connected is refused. The report must not count it as right."""
    scenario = load_shipped_scenario("automatic-failover")
    drill, acts = Drill(scenario, scenario.seed, "practice"), list[LogEntry]()
    force = "sql SERVER_B ALTER DATABASE Sales SET PARTNER FORCE_SERVICE_ALLOW_DATA_LOSS"
    for tick, line in ((500, "sql SERVER_B SELECT 1"), (1_000, force)):
        drill.advance_to(tick)
        drill.apply_line(line)
        acts.append(LogEntry(len(acts) + 1, tick, line, drill.compute_state_hash(), 0))
    log = ClassSeatLog(1, "Ann", "", scenario.name, scenario.text, scenario.seed, "practice", tuple(acts))
    seat = review_seat(log, pdf=False, curve_s=0.0, language_code="en")
    ((tick, line),) = seat.refused_batches
    assert (tick, "FORCE_SERVICE" in line) == (1_000, True)
    move = RunSegment(tick, tick, line, 40.0, 37.0, "good")
    (text,) = list_losses(seat, RegretAnalysis((move,), 100.0, None))
    assert "refused by the server: minor loss" in text
