"""Files that a class hands in: archives, logs of seats, files of runs. Each is replayed before it is trusted."""

import io
import json
import lzma
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import asdict, replace

from app.classroom import seat_log
from app.classroom.log_entries import ENTRIES_MAX, LogEntry
from app.classroom.messages.replies import LogVerdict
from app.classroom.models import ClassPart
from app.classroom.record import ClassRecord
from app.classroom.seat_log import PARTS_MAX, InvalidSeatLogError, SeatAssignment
from app.classroom.seat_scenario import build_assignment, parse_scenario
from app.classroom.verdict import LogReplay, judge_log
from app.export.csv_tables import format_csv_table
from app.files import run_files
from app.files.file_content import UnreadableFileError, read_bytes
from app.files.guarded_player import FILE_BUDGET, UnplayableError, convert_errors
from app.words import formatting
from app.words.language import tr
from app.words.localization import localize
from engine.drill.authoring.problems import ScenarioError
from engine.drill.authoring.scenario import compute_sha256, escape_invisible
from engine.drill.judging.report_types import ReportRow
from engine.drill.running.modes import DrillMode
from engine.drill.time import replay_verification
from engine.inputs import InputError
from engine.json_text import parse_json

CLASS_FILE: Final = "class.json"
DASHBOARD_FILE: Final = "board.json"
ANSWERS_FILE: Final = "answers.csv"
QUESTION_COLUMNS: Final = (
    "name",
    "prediction",
    "asked_t_s",
    "answered_t_s",
    "choice",
    "sure_percent",
    "correct",
)
"""Columns of the table of questions and answers in a class archive. The report of a run has the same names.

A cell is empty if its value is missing or must stay hidden.
"""
SEATS_FOLDER: Final = "seats/"
PART_FOLDER_PREFIX: Final = "part-"
"""Name prefix of the archive folders for class parts. Each part after the first has its own folder."""
ARCHIVE_BYTES_MAX: Final = 500_000_000
"""Maximum size of an archive in bytes, compressed and expanded."""
ARCHIVE_MEMBERS_MAX: Final = 10_000
MEMBER_BYTES_MAX: Final = 50_000_000
"""Maximum size of an archive member in bytes: twice the longest log of a seat with every character escaped."""
CHUNK_BYTES: Final = 1 << 16
"""Number of bytes of an archive member that are expanded at a time."""
ARCHIVE_ERRORS: Final = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    OSError,  # raised for damaged bzip2 data
    EOFError,
    KeyError,
    ValueError,
    TypeError,
    RecursionError,
    NotImplementedError,
    RuntimeError,  # raised for an encrypted member
    struct.error,
    MemoryError,
)
"""Errors that zipfile and json raise for a damaged or hostile archive."""


class LogCheck(Struct, frozen=True):
    """Result of the replay of one seat's log."""

    file: str
    seat: int | None
    name: str
    verdict: LogVerdict | None
    """Verdict on the replayed log; None if the log could not be played."""
    problem: str
    """Description of the difference between the file and its replay; empty if there is none."""
    group: str = ""
    """Group of the seat, if the exported class contains it."""
    part: str = ""
    """Number of the part, in an export of a class with several parts (app/classroom/lesson_plan.py)."""


# --- writing ------------------------------------------------------------------------------------------------


def build_class_archive(record: ClassRecord, person: int | None = None) -> bytes:
    """Return a ZIP archive of a class without its keys: settings, every log, and the resulting dashboard.

    Each part after the first has its own folder. Parts that were not started are omitted. *person*:
    number of a seat; the archive then contains only the data of that seat and the messages to it.
    Raises InvalidSeatLogError.
    """
    the_class = record.read_class()
    if the_class is None:
        raise InvalidSeatLogError(tr("this database contains no class"))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as zip_file:
        for part in record.read_parts()[: the_class.id]:
            _write_part(zip_file, build_part_folder(part.id), part, record.select_part(part.id), person)
    return buffer.getvalue()


def build_part_folder(number: int) -> str:
    """Return the folder of a part in an archive."""
    return f"{PART_FOLDER_PREFIX}{number}/" if number > 1 else ""


def _write_part(
    archive_file: zipfile.ZipFile, folder: str, part: ClassPart, record: ClassRecord, person: int | None
) -> None:
    """Write one part of a class into *folder* of the archive: settings, logs and dashboard rows.

    *person*: number of the only seat to write; None for all seats.
    """
    seats = [seat for seat in record.read_seats() if person in (None, seat.id)]
    if not seats and person is not None:
        raise InvalidSeatLogError(tr("seat {number} does not exist").format(number=person))
    groups, reflections = {seat.group_name for seat in seats}, record.read_reflections()
    scenario = parse_scenario(part.scenario_text, part.scenario_name)
    shared = {
        "scenario": part.scenario_name,
        "text": part.scenario_text,
        "hash": part.scenario_hash,
        "seed": part.seed,
        "mode": part.mode,
        "part": part.id,
        "kind": part.part,
        "plan": part.plan if person is None else "",  # the plan names other people too
        "state": part.state,
        "instructions": [
            {
                "number": class_instruction.number,
                "seat": class_instruction.seat_id,
                "tick": class_instruction.tick,
                "kind": class_instruction.kind,
                "text": class_instruction.text,
            }
            for class_instruction in (*record.read_instructions(), *record.read_marks())
            if person is None
            or (
                class_instruction.seat_id in (None, person)
                and class_instruction.group_name in (None, *groups)
            )
        ],
    }
    board = []
    questions: list[list[object]] = []
    archive_file.writestr(folder + CLASS_FILE, json.dumps(shared, ensure_ascii=False, indent=1))
    for seat in seats:
        acts = record.read_entries(seat.id)
        run = LogReplay(scenario, part.seed, part.mode, for_debrief=True)
        run.play(acts)
        seat_verdict = run.build_verdict()
        questions += [
            [seat.id, seat.name, *(row.get(name) for name in QUESTION_COLUMNS)]
            for row in _read_questions(run)
        ]
        board.append({"seat": seat.id, "name": seat.name, "verdict": seat_verdict})
        fields: dict[str, object] = {
            "seat": seat.id,
            "name": seat.name,
            "group": seat.group_name,
            "consent": seat.consent,
        }
        if (reflection := reflections.get(seat.id)) is not None:
            fields["reflection"] = asdict(reflection)
        lines = [json.dumps(fields, ensure_ascii=False), *map(json.dumps, acts)]
        archive_file.writestr(f"{folder}{SEATS_FOLDER}{seat.id:04}.jsonl", "\n".join(lines) + "\n")
    archive_file.writestr(folder + DASHBOARD_FILE, json.dumps(board, ensure_ascii=False, indent=1))
    archive_file.writestr(
        folder + ANSWERS_FILE, format_csv_table(("seat", "person", *QUESTION_COLUMNS), questions)
    )


def _read_questions(run: LogReplay) -> list[ReportRow]:
    """Return the questions of a run; empty if no report can be built."""
    with suppress(InputError, UnplayableError), convert_errors():
        return run.drill.build_report()["questions"]
    return []


def build_handout(record: ClassRecord) -> bytes:
    """Build the file that lets seats start without a network. Raises InvalidSeatLogError."""
    the_class = record.read_class()
    if the_class is None:
        raise InvalidSeatLogError(tr("this database contains no class"))
    return seat_log.format_handout(
        build_assignment(the_class, parse_scenario(the_class.scenario_text, the_class.scenario_name))
    )


# --- checking -----------------------------------------------------------------------------------------------


def check_class_file(file: Path) -> Iterator[LogCheck]:
    """Replay every run in *file* and yield the results.

    Raises InvalidSeatLogError for an unreadable file, and RunFileError for a file without runs.
    """
    try:
        raw = read_bytes(file, ARCHIVE_BYTES_MAX)
    except UnreadableFileError as problem:
        raise InvalidSeatLogError(str(problem)) from problem
    if raw[:4] == b"PK\x03\x04":
        yield from _read_archive(raw, str(file))
    elif raw.startswith(b'{"seat"'):
        assignment, acts = seat_log.parse_log(raw, str(file))
        log_check = _replay_log(str(file), assignment, acts)
        # the scenario text of an exam contains no answers, so this replay cannot score them
        if assignment.mode == DrillMode.EXAM and log_check.verdict is not None:
            log_check.verdict["score"] = None
        yield log_check
    else:
        yield _check_run_file(raw, str(file))


def _read_archive(raw: bytes, file: str) -> Iterator[LogCheck]:
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            members = {member.filename: member for member in archive.infolist()}
            if (
                len(members) > ARCHIVE_MEMBERS_MAX
                or sum(member.file_size for member in members.values()) > ARCHIVE_BYTES_MAX
            ):
                raise InvalidSeatLogError(tr("{file} is too large").format(file=file))
            parts = [
                folder
                for number in range(1, PARTS_MAX + 1)
                if (folder := build_part_folder(number)) + CLASS_FILE in members
            ]
            if "" not in parts:
                raise ValueError(tr("{file} is missing").format(file=CLASS_FILE))
            logs_by_folder = [(folder, *_read_part_data(archive, members, folder)) for folder in parts]
            for folder, shared, claims in logs_by_folder:
                yield from _read_part(archive, members, file, folder, shared, claims)
    except InvalidSeatLogError:
        raise
    except ARCHIVE_ERRORS as error:
        raise InvalidSeatLogError(
            tr("{file} is not a class archive: {why}").format(file=file, why=_escape_problem(error))
        ) from error


def _read_part_data(
    archive: zipfile.ZipFile, members: Mapping[str, zipfile.ZipInfo], folder: str
) -> tuple[object, dict[object, dict[str, object]]]:
    """Return the data that all seats of a part share, and the dashboard row of each seat by number."""
    board: object = []
    if folder + DASHBOARD_FILE in members:
        board = _parse_rewritable_json(_read_member(archive, members[folder + DASHBOARD_FILE]))
    if not isinstance(board, list) or not all(isinstance(row, dict) for row in board):
        raise ValueError(DASHBOARD_FILE)
    return _parse_rewritable_json(_read_member(archive, members[folder + CLASS_FILE])), {
        row["seat"]: row for row in board
    }


def _read_part(
    archive: zipfile.ZipFile,
    members: Mapping[str, zipfile.ZipInfo],
    file: str,
    folder: str,
    assignment_data: object,
    claims: dict[object, dict[str, object]],
) -> Iterator[LogCheck]:
    if not isinstance(assignment_data, dict) or assignment_data.get("hash") != compute_sha256(
        str(assignment_data.get("text"))
    ):
        raise InvalidSeatLogError(
            tr("{file}: its scenario differs from the one that was played").format(file=file)
        )
    kind = str(assignment_data.get("kind") or "")
    for name in sorted(name for name in members if name.startswith(folder + SEATS_FOLDER)):
        location = f"{file}/{escape_invisible(name)}"
        try:
            head, _, log = _read_member(archive, members[name], ENTRIES_MAX + 1).partition(b"\n")
            fields = _parse_object(head)
            header = json.dumps(
                {**assignment_data, "seat": fields.get("seat"), "name": fields.get("name")}
            ).encode()
            assignment, acts = seat_log.parse_log(header + b"\n" + log, location)
        except (InvalidSeatLogError, *ARCHIVE_ERRORS) as problem:
            yield LogCheck(location, None, "", None, _escape_problem(problem), part=kind)
            continue
        group = str(fields.get("group") or "")
        log_check = replace(_replay_log(location, assignment, acts), group=group, part=kind)
        claim = claims.pop(assignment.seat, None)
        yield log_check if log_check.problem else _compare_with_dashboard(log_check, claim)
    for seat, claim in claims.items():
        missing = tr("the log is missing, but the dashboard lists this seat")
        number = seat if isinstance(seat, int) else None
        yield LogCheck(file, number, escape_invisible(str(claim.get("name"))), None, missing, part=kind)


def _read_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, lines_max: int | None = None) -> bytes:
    """Return the content of *member*, expanded in portions.

    Raises ValueError if it is larger than MEMBER_BYTES_MAX or has more than *lines_max* lines.
    """
    data, lines = bytearray(), 0
    with archive.open(member) as member_file:
        while portion := member_file.read(CHUNK_BYTES):
            data += portion
            lines += portion.count(b"\n")
            if len(data) > MEMBER_BYTES_MAX or (lines_max is not None and lines > lines_max):
                raise ValueError(tr("{file} is too large").format(file=escape_invisible(member.filename)))
    return bytes(data)


def _parse_rewritable_json(raw: bytes) -> object:
    """Parse JSON, and check that its value can be written as JSON again. Raises ValueError."""
    document = parse_json(raw)
    json.dumps(document, ensure_ascii=False).encode()
    return document


def _escape_problem(problem: BaseException) -> str:
    return escape_invisible(str(problem) or type(problem).__name__)


def _parse_object(raw: bytes) -> dict[str, object]:
    try:
        document = parse_json(raw)
    except ValueError:
        document = None
    return document if isinstance(document, dict) else {}


def _compare_with_dashboard(result: LogCheck, dashboard_row: dict[str, object] | None) -> LogCheck:
    """Compare *result* with *dashboard_row*, the row of the seat in the dashboard of the same archive.

    Return *result* unchanged if both agree. Otherwise, return a copy whose problem describes the
    first difference. *dashboard_row* is None if the row is missing.
    """
    claimed_verdict = dashboard_row.get("verdict") if dashboard_row is not None else None
    if not isinstance(claimed_verdict, dict) or result.verdict is None:
        return replace(result, problem=tr("the dashboard does not list this seat"))
    differences = [
        (name, value) for name, value in result.verdict.items() if claimed_verdict.get(name) != value
    ]
    if not differences:
        return result
    name, value = differences[0]
    problem = tr("{what} is {said} on the dashboard, but {found} according to the log").format(
        what=name, said=claimed_verdict.get(name), found=value
    )
    return replace(result, problem=problem)


def _replay_log(file: str, assignment: SeatAssignment, entries: list[LogEntry]) -> LogCheck:
    name = escape_invisible(assignment.name)
    try:
        with convert_errors():
            log_verdict = judge_log(
                parse_scenario(assignment.text, assignment.scenario),
                assignment.seed,
                assignment.mode,
                entries,
                FILE_BUDGET,
            )
    except (ScenarioError, InputError, UnplayableError) as problems:
        return LogCheck(file, assignment.seat, name, None, localize(str(problems)))
    return LogCheck(file, assignment.seat, name, log_verdict, _format_divergence(log_verdict))


def _format_divergence(verdict_row: LogVerdict) -> str:
    if verdict_row["parted_t_s"] is None:
        return ""
    return tr("the inputs of this log do not reproduce the recorded state after {moment}: {why}").format(
        moment=formatting.format_run_time(verdict_row["parted_t_s"], 2), why=verdict_row["parted"]
    )


def _check_run_file(raw: bytes, file: str) -> LogCheck:
    """Replay the run in the file content *raw* and compare its report. *file*: name of the file.

    The file comes from `run --json`, the debrief or `class join`. Raises RunFileError.
    """
    report, text = run_files.parse_run(raw, file)
    class_report: ReportRow = report
    info = class_report.get("class")
    seat, name = _read_seat_identity(info if isinstance(info, dict) else {}, report["scenario"])
    try:
        with convert_errors():
            drill = run_files.replay_run(report, text)
            claimed = report.copy()
            if not claimed["score"].get("scored"):  # a run without a score has no score to compare
                claimed.pop("score")
            divergence = replay_verification.find_divergence(drill, claimed)
    except (InputError, ScenarioError, UnplayableError) as problem:
        return LogCheck(file, seat, name, None, localize(str(problem)))
    acts = [
        LogEntry(number, item.tick, item.line_without_time, "", 0)
        for number, item in enumerate(drill.journal, 1)
    ]
    end = LogEntry(len(acts) + 1, drill.tick, "", "", 0)
    log_verdict = judge_log(drill.scenario, drill.seed, drill.mode, [*acts, end], FILE_BUDGET)
    return LogCheck(file, seat, name, log_verdict, "" if divergence is None else localize(str(divergence)))


def _read_seat_identity(fields: Mapping[str, object], scenario: str) -> tuple[int | None, str]:
    """Return the number of the seat, None if unknown, and its name from *fields* of a handed-in file.

    Without a name, return *scenario* as the name.
    """
    seat, name = fields.get("seat"), fields.get("name")
    return seat if type(seat) is int else None, escape_invisible(str(name or scenario))
