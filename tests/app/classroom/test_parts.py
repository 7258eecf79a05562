"""Tests of a class with several parts on one host (test, lesson, second test) and the same seats in each
part.
"""

from __future__ import annotations

import csv
import json
import sqlite3
import zipfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from pydantic import ValidationError

from app import cli
from app.classroom import record as records
from app.classroom.lesson_plan import parse_plan
from app.classroom.log_entries import LogEntry
from app.classroom.models import MARK, Base, ClassInstruction, Seat
from app.classroom.record import ClassRecord, RecordUnavailableError
from app.classroom.service import ClassMismatchError, create_parts, find_or_create_class
from tests.class_process import HostProcess, RawClient, join, run_host
from tests.forked import run_program
from tests.shipped_scenarios import load_shipped_scenario

SCENARIO_NAME = "planned-failover"
PLAN = f"""
scenario = "{SCENARIO_NAME}"
mode = "practice"
[[part]]
kind = "pre"
mode = "exam"
[[part]]
kind = "lesson"
[[part]]
kind = "post"
mode = "exam"
seed = 77
[[message]]
at = "10s"
text = "look"
part = "lesson"
"""


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostProcess]:
    folder = tmp_path_factory.mktemp("parts")
    (folder / "plan.toml").write_text(PLAN)
    with run_host(folder / "class.sqlite", "--plan", folder / "plan.toml") as host_made:
        yield host_made


def run_console_lines(host: HostProcess, *lines: str) -> list[dict[str, Any]]:
    """Return the host's replies to *lines* of the console."""
    process = run_program("class", "console", "--database", host.database, lines="\n".join(lines))
    assert process.returncode == 0, process.stderr
    replies = [json.loads(line) for line in process.stdout.splitlines()]
    return [reply for reply in replies if reply["kind"] != "board"]


def test_a_seat_keeps_its_number_and_starts_each_part_fresh(host: HostProcess, tmp_path: Path) -> None:
    def join_part(name: str, **fields: Any) -> dict[str, Any]:
        with RawClient(host.invited) as seat:
            welcome = seat.request_reply({**join(host.invited, name, f"{name:x<32}"), **fields}, "welcome")
            seat.send_message({"kind": "acts", "acts": [[1, 100, "finish", "", 0]]})
            seat.receive_message("acknowledged")
            return welcome

    first = [join_part(name) for name in ("Ann", "Ben")]
    assert [row["part"] for row in first] == [1, 1]
    assert "still running" in run_console_lines(host, "next")[0]["text"], "nobody is cut off in the middle"
    with RawClient(host.invited) as ann:
        ann.request_reply(join(host.invited, "Ann", f"{'Ann':x<32}"), "welcome")
        assert [reply["kind"] for reply in run_console_lines(host, "finish", "next")] == ["done", "done"]
        assert "next part" in ann.read_refusal({"kind": "at", "tick": 1, "frozen": False})
    lesson = join_part("Ann")
    assert (lesson["seat"], lesson["part"], lesson["acknowledged"]) == (first[0]["seat"], 2, 0)
    host.kill()
    host.start()
    with RawClient(host.invited) as ann:
        ann.send_message(join(host.invited, "Ann", f"{'Ann':x<32}"))
        assert ann.receive_message("welcome")["part"] == 2, "a host that begins again is where it was"
        assert ann.receive_message("instruction")["text"] == "look"
    run_console_lines(host, "finish", "next")
    post = join_part("Ben")
    assert (post["part"], post["seed"]) == (3, 77)
    assert post["seed"] != first[0]["seed"] != load_shipped_scenario(SCENARIO_NAME).seed, (
        "the pre-test was drawn"
    )
    assert "the last part" in run_console_lines(host, "next")[0]["text"]

    csv_file, file = tmp_path / "analysis.csv", tmp_path / "class.zip"
    assert cli.main(["class", "export", f"--database={host.database}", f"--out={file}"], lambda _: 0) == 0
    assert cli.main(["class", "verify", str(file)], lambda _: 0) == 0
    record = ClassRecord(str(host.database), create=False)
    assert [len(record.select_part(part).read_entries(1)) for part in (1, 2, 3)] == [1, 1, 0]
    instructions = record.select_part(2).read_instructions()
    assert [instruction.text for instruction in instructions if instruction.kind == "message"] == ["look"]
    record.erase_people([1])
    assert [len(record.select_part(part).read_entries(1)) for part in (1, 2, 3)] == [0, 0, 0], "in every part"
    record.close()
    assert cli.main(["class", "compare", f"--out={csv_file}"], lambda _: 0) == 2


def record_part(record: ClassRecord, number: int, score: bool) -> None:
    """Store a minimal run of seat *number* in the current part: only its end, with *score*."""
    from engine.drill.running.drill import Drill
    from engine.drill.running.solution import play_reference

    part = record.read_class()
    assert part is not None
    drill = Drill(load_shipped_scenario(SCENARIO_NAME), part.seed, part.mode)
    todo = (
        [
            (item.tick, item.line_without_time)
            for item in play_reference(load_shipped_scenario(SCENARIO_NAME), part.seed).journal
        ]
        if score
        else []
    )
    acts: list[LogEntry] = []
    for tick, line in [*todo, (50_000, "")]:
        drill.advance_to(tick)
        if line:
            drill.apply_line(line)
        acts.append(LogEntry(len(acts) + 1, drill.tick, line, drill.compute_state_hash(), 0))
    record.store_seats_and_entries([], {number: acts})


def test_learning_gain_is_computed_from_one_export(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = ClassRecord(str(tmp_path / "class.sqlite"))
    record.store_new_class(*create_parts(parse_plan(PLAN), PLAN, load_shipped_scenario))
    record.store_seats_and_entries([Seat(name=name, token_hash=name) for name in ("Ann", "Ben")], {})
    for know in ((), (1,), (1, 2)):
        for number in (1, 2):
            if number == 1 or know != (1,):  # Ben missed the lesson.
                record_part(record, number, number in know)
        record.start_next_part()
    record.close()
    words = ["--database", str(tmp_path / "class.sqlite"), "--out", str(tmp_path / "class.zip")]
    assert cli.main(["class", "export", *words], lambda _: 0) == 0
    assert cli.main(["class", "verify", words[-1]], lambda _: 0) == 0, capsys.readouterr().out
    rows = tmp_path / "people.csv"
    words = ["class", "compare", words[-1], f"--out={tmp_path / 'analysis.csv'}", f"--people={rows}"]
    assert cli.main(words, lambda _: 0) == 0
    table = list(csv.DictReader(rows.read_text().splitlines()))
    assert [(row["person"], row["post"], row["retention"]) for row in table] == [
        ("1", "100.0", ""),
        ("2", "100.0", ""),
    ]
    assert all(float(row["gain"]) > 0 for row in table)
    report_file = tmp_path / "report.zip"
    words = ["class", "report", "--database", str(tmp_path / "class.sqlite"), "--out", str(report_file)]
    assert cli.main(words, lambda _: 0) == 0
    with zipfile.ZipFile(report_file) as archive:
        people_rows = list(csv.DictReader(archive.read("people.csv").decode().splitlines()))
        people_at_the_lesson = list(csv.DictReader(archive.read("2-lesson/board.csv").decode().splitlines()))
    assert [(row["person"], row["gain"]) for row in people_rows] == [
        (f"Seat {row['person']}", row["gain"]) for row in table
    ]
    assert [row["seat"] for row in people_at_the_lesson] == ["1"], "who was not there is not in it"


def test_a_host_of_another_part_writes_nothing(tmp_path: Path) -> None:
    record = ClassRecord(str(tmp_path / "class.sqlite"))
    record.store_new_class(*create_parts(parse_plan(PLAN), PLAN, load_shipped_scenario))
    seat = Seat(name="Ann", token_hash="x")
    record.store_seats_and_entries([seat], {})
    old = record.select_part(1)
    assert record.start_next_part()
    assert old.start_next_part(), "who is late changes nothing"
    the_class = record.read_class()
    assert the_class is not None
    assert the_class.id == 2
    with pytest.raises(RecordUnavailableError, match="no longer the current part"):
        old.store_seats_and_entries([], {seat.id: [LogEntry(1, 1, "", "", 0)]})
    record.close()


def test_a_class_is_identified_by_its_plan(tmp_path: Path) -> None:
    plan, record = parse_plan(PLAN), ClassRecord(str(tmp_path / "class.sqlite"))
    assert find_or_create_class(record, create_parts(plan, PLAN, load_shipped_scenario), plan) is not None
    assert find_or_create_class(record, create_parts(plan, PLAN, load_shipped_scenario), plan) is not None, (
        "drawn seeds are drawn once"
    )
    other_plan = parse_plan(PLAN.replace("77", "78"))
    with pytest.raises(ClassMismatchError):
        find_or_create_class(record, create_parts(other_plan, PLAN, load_shipped_scenario), other_plan)
    record.close()


MIGRATION_SCRIPTS = [
    file for file in sorted(records.MIGRATIONS_FOLDER.glob("*.sql")) if "postgresql" not in file.stem
]
RECORD_VERSIONS = sorted({file.stem[:4] for file in MIGRATION_SCRIPTS})


@pytest.mark.parametrize("version", RECORD_VERSIONS)
def test_a_class_of_an_earlier_version_has_one_part(version: str, tmp_path: Path) -> None:
    file = tmp_path / "class.sqlite"
    with closing(sqlite3.connect(file)) as writer:
        for script in MIGRATION_SCRIPTS:
            if script.stem[:4] <= version:
                writer.executescript(script.read_text(encoding="utf-8"))
        writer.execute("INSERT INTO alembic_version VALUES (?)", (version,))
        writer.execute(
            "INSERT INTO class (id, code, secret, certificate, key, address, scenario_name, scenario_text, "
            "scenario_hash, mode, seed, plan, state) "
            "VALUES (1, '', '', '', '', '', 'x', '', '', 'exam', 1, '', 'over')"
        )
        writer.execute(
            "INSERT INTO seat (id, token_hash, name, consent, acknowledged, tick) VALUES (1, '', 'A', 0, 1, 5)"
        )
        writer.execute(
            "INSERT INTO act (seat_id, number, tick, line, digest, instruction) VALUES (1, 1, 5, 'note x', '', 0)"
            if version < "0003"
            else "INSERT INTO act VALUES (1, 1, 1, 5, 'note x', '', 0)"
        )
        writer.execute("INSERT INTO instruction (seat_id, tick, kind, text) VALUES (1, 7, 'message', 'look')")
        writer.commit()
    with closing(ClassRecord(str(file), create=False)) as record:
        assert record.read_entries(1) == [LogEntry(1, 5, "note x", "", 0)]
        assert [
            (instruction.number, instruction.tick, instruction.text)
            for instruction in record.read_instructions()
        ] == [(1, 7, "look")]
        (mark,) = record.store_instructions([ClassInstruction(kind=MARK, text="here")])
        assert mark.number == 2
        assert not record.start_next_part()


def test_the_newest_version_has_the_tables_that_the_program_reads(tmp_path: Path) -> None:
    ClassRecord(str(tmp_path / "class.sqlite")).close()
    assert find_schema_differences(f"sqlite:///{tmp_path / 'class.sqlite'}") == []


def find_schema_differences(url: str) -> list[str]:
    """Return the columns and keys of a class record that differ from `app.classroom.models`."""
    engine = sa.create_engine(url)
    stored = sa.MetaData()
    stored.reflect(engine)
    engine.dispose()

    def describe_columns(tables: sa.MetaData) -> set[str]:
        return {
            f"{table.name}.{column.name} {column.type.python_type.__name__} {column.nullable} "
            f"{column.primary_key} {sorted(key.target_fullname for key in column.foreign_keys)}"
            for table in tables.sorted_tables
            if table.name != "alembic_version"
            for column in table.columns
        }

    return sorted(describe_columns(stored) ^ describe_columns(Base.metadata))


def test_a_class_is_held_once(host: HostProcess, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["class", "host", "--database", str(host.database), "--listen", "127.0.0.1:0"]
    assert cli.main(words, lambda _: 0) == 2
    assert "already running" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "x" * 10_000])
def test_an_invalid_name_is_refused_at_once(
    name: str, host: HostProcess, profile_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["class", "join", host.code, "--name", name, "--player", "reference"], lambda _: 0) == 2
    assert "a name must have 1 to 60 printable characters" in capsys.readouterr().err


def test_a_database_of_a_newer_version_or_another_program_is_refused_with_a_message(tmp_path: Path) -> None:
    file = tmp_path / "class.sqlite"
    ClassRecord(str(file)).close()
    with closing(sqlite3.connect(file)) as writer:
        writer.execute("UPDATE alembic_version SET version_num = '0099'")
        writer.commit()
    with pytest.raises(RecordUnavailableError, match="newer version"):
        ClassRecord(str(file))
    with pytest.raises(RecordUnavailableError, match="not in mysql"):
        ClassRecord("mysql://here/class")


PLAN_WITHOUT_SCENARIO = """
[[part]]
kind = "lesson"
mode = "practice"
scenario = "lab"

[[part]]
kind = "post"
mode = "exam"
scenario = "ag-lab"
"""


def test_a_plan_with_parts_needs_no_scenario_at_the_top_level() -> None:
    assert [part.scenario for part in parse_plan(PLAN_WITHOUT_SCENARIO).list_parts()] == ["lab", "ag-lab"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        'scenario = "lab"',
        PLAN_WITHOUT_SCENARIO.replace('scenario = "ag-lab"', ""),
        PLAN_WITHOUT_SCENARIO.replace('mode = "exam"', ""),
    ],
)
def test_a_part_without_scenario_or_mode_is_refused(text: str) -> None:
    with pytest.raises(ValidationError, match="Field required"):
        parse_plan(text)
