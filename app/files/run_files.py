"""Files of runs, written by `run --json` and the debrief, which can be replayed and compared. Without Qt."""

import json
import re
from pathlib import Path
from typing import Final, cast

from app.export.source import ExportSource, as_json
from app.files import journal_file, scenario_files
from app.files.file_content import UnreadableFileError, decode_text, read_bytes
from app.files.guarded_player import FILE_BUDGET, GuardedPlayer, RunBudget, convert_errors
from app.files.scenario_files import ScenarioNotFoundError
from app.words.language import tr
from engine.drill.authoring.scenario import escape_invisible, load_scenario
from engine.drill.judging.report_types import Report
from engine.drill.running.drill import Drill
from engine.drill.running.modes import DrillMode
from engine.inputs import InputError
from engine.json_text import parse_json
from engine.localization import join_messages
from engine.model import to_ticks
from engine.verbs.input_lines import parse_script

RUN_FILE_BYTES_MAX: Final = 200_000_000
"""Maximum size of a file in bytes. A run of two hours with two hundred databases has about a quarter of it."""

_REQUIRED_FIELDS: Final[dict[str, type | tuple[type, ...]]] = {
    "scenario": str, "seed": int, "mode": str, "inputs": list, "ended_at_s": (int, float), "events": list,
    "hashes": list, "availability": dict, "score": dict, "failovers": list,
}  # fmt: skip
"""Fields that a report must have for replay and display -> their types."""

CONTAINERS_MAX: Final = 2_000_000
"""Maximum number of lists and tables in a file, counted before parsing: each takes 60 to 230 bytes. Assumed."""
VALUES_MAX: Final = 20_000_000
"""Maximum number of values in a file, counted before parsing.

Assumed: twice the number in a run of two hours with two hundred databases.
"""
INPUTS_MAX: Final = 100_000
"""Maximum number of input lines of a run. Assumed: one per second for a day."""
_SCENARIO_NAME_PATTERN: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,59}")
"""Pattern of a scenario's name. It matches no path."""

TIME_S_MAX: Final = 1e6
"""Maximum time of a run in seconds, as in `run --until`."""


class RunFileError(Exception):
    """Error for a file that is not a run or cannot be read. The text is a sentence for the user."""


def read_run(file: Path) -> tuple[Report, str]:
    """Read the report in *file*, and the text of its scenario. Raises RunFileError."""
    try:
        return parse_run(read_bytes(file, RUN_FILE_BYTES_MAX), str(file))
    except UnreadableFileError as error:
        raise RunFileError(f"{error}.") from error


def parse_run(raw: bytes, file: str) -> tuple[Report, str]:
    """Parse the report in *raw*, and find the text of its scenario. *file*: its name for messages.

    Raises RunFileError.
    """
    if len(raw) > RUN_FILE_BYTES_MAX:
        raise RunFileError(
            tr("{file} exceeds the size limit for a run ({most} MB).").format(
                file=file, most=RUN_FILE_BYTES_MAX // 1_000_000
            )
        )
    if raw.count(b"{") + raw.count(b"[") > CONTAINERS_MAX or raw.count(b",") > VALUES_MAX:
        raise RunFileError(tr("{file} contains more values than a run may have.").format(file=file))
    try:
        is_complete = not raw.startswith(journal_file.JOURNAL_FIRST_BYTES)
        content = parse_json(decode_text(raw, file)) if is_complete else journal_file.read_journal(raw)
    except UnreadableFileError as error:
        raise RunFileError(f"{error}.") from error
    except (KeyError, TypeError, IndexError, OverflowError) as error:
        raise RunFileError(
            tr("{file} is not an interrupted run: {error}.").format(
                file=file, error=escape_invisible(str(error))
            )
        ) from error
    except ValueError as error:
        raise RunFileError(tr("{file} is not JSON: {error}.").format(file=file, error=error)) from error
    report = content.get("report", content) if isinstance(content, dict) else None
    if is_complete and isinstance(report, dict):
        report.pop("cut_off", None)  # only journals are cut off; all parts of a complete report are compared
    problem = _find_problem(report, raw)
    if problem or not isinstance(report, dict):
        raise RunFileError(
            tr("{file} is not a Mirrordrill run: {problem}.").format(file=file, problem=problem)
        )
    checked = cast(Report, report)
    return checked, _find_scenario_text(file, checked)


def _find_problem(report: object, raw: bytes) -> str:
    """Return the reason why the JSON value is not a valid report, or an empty text."""
    if not isinstance(report, dict):
        return tr("the file is not a JSON object")
    for name, kind in _REQUIRED_FIELDS.items():
        if not isinstance(report.get(name), kind) or isinstance(report[name], bool):
            return tr("{name} is missing or has the wrong type").format(name=name)
    if report["mode"] not in set(DrillMode):
        return tr("unknown mode {mode!r}").format(mode=report["mode"])
    if not 0 <= report["seed"] < 2**63 or not 0 <= report["ended_at_s"] <= TIME_S_MAX:
        return tr("the seed or the end time is out of range")
    if not _SCENARIO_NAME_PATTERN.fullmatch(report["scenario"]):
        return tr("invalid scenario name")
    if len(report["inputs"]) > INPUTS_MAX:
        return tr("the run has more than {most} inputs").format(most=INPUTS_MAX)
    if not all(isinstance(line, str) for line in report["inputs"]):
        return tr("the inputs of the run are not lines of text")
    if _HALF_SURROGATE_PATTERN.search(raw) and not _is_encodable(report):
        return tr("the file contains an invalid Unicode character (half a surrogate pair)")
    if not all(_is_hash_entry(entry) for entry in report["hashes"]) or not all(
        map(_is_event_entry, report["events"])
    ):
        return tr("the file contains invalid hashes or events")
    return ""


_HALF_SURROGATE_PATTERN: Final = re.compile(rb"\\u[dD][89a-fA-F]")
"""JSON escape of half of a surrogate pair. It is invalid without the other half."""


def _is_encodable(report: object) -> bool:
    """Return whether all texts of the report can be encoded as UTF-8."""
    try:
        json.dumps(report, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _is_hash_entry(entry: object) -> bool:
    """Return whether *entry* is a valid entry of the report's hashes: time, number of inputs, and hash."""
    return (
        isinstance(entry, dict)
        and _is_number_up_to(entry.get("t_s"), TIME_S_MAX)
        and type(entry.get("inputs")) is int
        and 0 <= entry["inputs"] <= INPUTS_MAX
        and isinstance(entry.get("hash"), str)
    )


def _is_event_entry(entry: object) -> bool:
    """Return whether *entry* is an event with a valid time, kind and text."""
    return (
        isinstance(entry, dict)
        and _is_number_up_to(entry.get("t_s"), TIME_S_MAX)
        and isinstance(entry.get("kind"), str)
        and isinstance(entry.get("text"), str)
    )


def _is_number_up_to(value: object, maximum: float) -> bool:
    """Return whether *value* is a number from 0 to *maximum*. Booleans and NaN are excluded."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= maximum


def replay_run(report: Report, text: str, budget: RunBudget = FILE_BUDGET) -> Drill:
    """Replay the run of *report* within *budget*. *text*: text of its scenario.

    Raises ScenarioError, InputError for invalid lines, and UnplayableError.
    """
    with convert_errors():
        scenario = load_scenario(text, f"{report['scenario']}.toml")
        inputs, problems = parse_script("\n".join(report["inputs"]))
        if problems:
            raise InputError(join_messages("; ", problems))
        player = GuardedPlayer(Drill(scenario, report["seed"], report["mode"]), budget)
        player.play(inputs, to_ticks(report["ended_at_s"]))
        return player.drill


def _find_scenario_text(file: str, report: Report) -> str:
    """Return the scenario text in the report. For an older file, find the scenario by its name."""
    text = report.get("scenario_text")
    if isinstance(text, str):
        return text
    try:
        return scenario_files.find_scenario_file(report["scenario"]).text
    except ScenarioNotFoundError as problem:
        raise RunFileError(
            tr("{file} does not contain its scenario, and this computer does not have it: {problem}.").format(
                file=file, problem=problem
            )
        ) from problem


def format_run(source: ExportSource) -> str:
    """Format the report and the review of a finished run as JSON that `read_run` accepts."""
    return json.dumps(as_json(source), allow_nan=False, ensure_ascii=False, indent=1) + "\n"
