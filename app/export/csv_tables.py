"""Run as CSV tables: events, readings, score. Without Qt.

Column names and numbers are those of the report, so that programs can read them. Sentences are in the
interface language.
"""

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Final

from app.export.source import ExportSource
from app.words.localization import localize
from engine.constants import TICKS_PER_S
from engine.drill.judging.report_types import ReportRow
from engine.drill.par.regret_analysis import RunSegment

EVENT_COLUMNS: Final = ("t_s", "kind", "server", "database", "text")
SCORE_COLUMNS: Final = ("name", "points", "max", "why", "better", "at_s")
RUN_COLUMNS: Final = (
    "player", "played_at", "scenario", "title", "seed", "mode", "ended_at_s", "points", "state_hash",
)  # fmt: skip
VALUE_COLUMNS: Final = ("from_s", "to_s", "act", "reachable_before", "reachable_after", "label")
"""Columns of the table with the best reachable score before and after each action or wait."""
FORMULA_PREFIXES: Final = ("=", "+", "-", "@", "\t", "\r")
"""First characters of texts that a spreadsheet reads as a formula."""


def build_csv_tables(source: ExportSource) -> dict[str, str]:
    """Return the tables: file name -> CSV text."""
    report = source.report
    table_rows = {
        "run.csv": format_csv_table(RUN_COLUMNS, [_build_run_row(source)]),
        "events.csv": format_csv_table(
            EVENT_COLUMNS, ([_read_event_cell(event, c) for c in EVENT_COLUMNS] for event in report["events"])
        ),
        "readings.csv": _format_readings(report["readings"]),
        "score.csv": format_csv_table(
            SCORE_COLUMNS,
            (
                [_flatten_list(_read_score_cell(item, c)) for c in SCORE_COLUMNS]
                for item in report["score"]["items"]
            ),
        ),
    }
    if source.regret_analysis is not None:
        table_rows["worth.csv"] = format_csv_table(
            VALUE_COLUMNS, map(build_segment_row, source.regret_analysis.moves)
        )
    return table_rows


def _build_run_row(source: ExportSource) -> list[object]:
    """Return a row with the player and the result of the run.

    The table of a class contains one such row per seat.
    """
    report = source.report
    names = ("scenario", "title", "seed", "mode", "ended_at_s")
    cells = [report.get(name, "") for name in names]
    points = report["score"]["total"] if report["score"]["scored"] else ""
    return [source.player, source.played_at, *cells, points, report["state_hash"]]


def build_segment_row(segment: RunSegment) -> list[object]:
    """Return the cells of an action or a wait, in the order of VALUE_COLUMNS."""
    times = (segment.tick / TICKS_PER_S, segment.until / TICKS_PER_S)
    return [
        *times,
        segment.line or "waiting",
        round(segment.before, 1),
        round(segment.after, 1),
        segment.label,
    ]


def _read_event_cell(event: ReportRow, column: str) -> object:
    return localize(event["text"]) if column == "text" else event.get(column)


def _read_score_cell(item: ReportRow, column: str) -> object:
    return localize(item[column]) if column in ("name", "why", "better") else item[column]


def _format_readings(readings: ReportRow) -> str:
    """Return the readings as CSV, one row for each second and database."""
    databases = readings.get("databases") or {readings["database"]: readings}
    counters = [name for name, values in next(iter(databases.values())).items() if isinstance(values, list)]
    counters = [name for name in counters if name != "t_s"]
    rows = (
        [t_s, database, *(arrays[counter][index] for counter in counters)]
        for database, arrays in databases.items()
        for index, t_s in enumerate(readings["t_s"])
    )
    return format_csv_table(("t_s", "database", *counters), rows)


def format_csv_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table as CSV. Texts that a spreadsheet would read as a formula are escaped."""
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(columns)
    writer.writerows([_escape_formula(value) for value in row] for row in rows)
    return buffer.getvalue()


def _escape_formula(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA_PREFIXES) else value


def _flatten_list(value: object) -> object:
    return " ".join(f"{part:g}" for part in value) if isinstance(value, list) else value
