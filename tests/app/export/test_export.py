"""Tests of exported debriefs: complete, self-contained, escaped, with all findings of the review."""

from __future__ import annotations

import csv
import io
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from msgspec.structs import replace
from pytestqt.qtbot import QtBot

from app.export import curve_svg, debrief_sections, timeline_svg
from app.export.csv_tables import build_csv_tables
from app.export.page import build_debrief_html
from app.export.runbook import build_reference_runbook, build_runbook
from app.export.source import ExportSource, as_json, build_export_source
from app.files import scenario_files
from app.view_models.value_curve import (
    SEGMENT_STYLES,
    find_marked_segments,
    format_segment,
    list_refused_batches,
)
from engine.drill.par.regret import analyze_regret
from engine.drill.par.regret_analysis import LastChance, RegretAnalysis, RunSegment
from engine.drill.running.drill import Drill
from engine.drill.running.solution import play_idle, play_reference
from engine.generators import run_to_completion
from engine.inputs import Input
from tests.assertions import require
from tests.engine.drill.running.test_questions import build_drill_with_question
from tests.engine.drill.texts import FREE_PLAY_TEXT, advance_drill, build_drill
from tests.shipped_scenarios import load_shipped_scenario

HOSTILE_TEXT = '</code><script>alert("x")</script> & */ GO\n    -- =1+1'


@pytest.fixture(scope="module")
def source() -> ExportSource:
    """Return a drill with a refused command, a hint, a note with special characters, and a late repair."""
    drill = Drill(load_shipped_scenario("automatic-failover"))
    for at_s, line in (
        (30, "sql SERVER_B ALTER DATABASE Sales SET PARTNER FAILOVER"),
        (70, "sql SERVER_B#2 SELECT name\n    FROM sys.databases\n    WHERE 1 = 1"),
        (110, "hint 1"),
        (120, f"note {HOSTILE_TEXT}"),
        (300, "power-on SERVER_A"),
    ):
        advance_drill(drill, at_s)
        drill.apply_line(line)
    drill.advance_to(drill.end_tick or 0)
    return replace(build_export_source(drill), regret_analysis=run_to_completion(analyze_regret(drill)))


class HtmlChecker(HTMLParser):
    """HTML parser that collects unbalanced tags and references to external resources."""

    VOID_ELEMENTS = ("meta", "br", "path", "rect", "circle")

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.wrong: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID_ELEMENTS or (
            tag in ("rect", "circle") and not (self.get_starttag_text() or "").endswith("/>")
        ):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


def check_html(text: str) -> HtmlChecker:
    checker = HtmlChecker()
    checker.feed(text)
    return checker


# --- page ---------------------------------------------------------------------------------------------------


def test_the_page_is_self_contained(source: ExportSource) -> None:
    text = build_debrief_html(source)
    problems = check_html(text)
    assert (problems.wrong, problems.open) == ([], [])
    assert not {"script", "link", "img", "iframe", "object"} & {tag for tag, _ in problems.tags}
    assert all((attrs.get("href") or "#").startswith("#") for _, attrs in problems.tags)
    assert not re.search(r"url\((?!#)|@import|https?://(?!www\.w3\.org/2000/svg)", text)
    assert "default-src 'none'" in text
    assert build_debrief_html(source) == text


def test_the_page_is_readable_by_a_screen_reader(source: ExportSource) -> None:
    problems = check_html(build_debrief_html(source))
    tags = dict(problems.tags)
    assert tags["html"]["lang"] == "en"
    assert sum(tag == "h1" for tag, _ in problems.tags) == 1
    assert all(attrs.get("scope") == "col" for tag, attrs in problems.tags if tag == "th")
    assert sum(tag == "caption" for tag, _ in problems.tags) == sum(
        tag == "table" for tag, _ in problems.tags
    )
    assert tags["svg"]["role"] == "img"
    anchors = {attrs["href"] for tag, attrs in problems.tags if tag == "a"}
    assert anchors <= {f"#{attrs['id']}" for _, attrs in problems.tags if "id" in attrs}


def test_the_page_shows_the_reachable_score(source: ExportSource) -> None:
    """The chart has an axis, a legend, and a number for each input and wait. A table explains the numbers."""
    refused = list_refused_batches(source.report)
    assert refused, "a command of this run is refused"
    svg_text = curve_svg.draw_value_curve(require(source.regret_analysis), {}, refused)
    assert re.search(r"<text [^>]*>75</text>", svg_text), "points to the left"
    assert re.search(r"<text [^>]*>5:00</text>", svg_text), "times below"
    assert ">blunder: 15 points lost or more</text>" in svg_text
    assert "point of no return" not in svg_text, "all goals were reached"
    moves = find_marked_segments(require(source.regret_analysis))
    numbers = re.findall(r'font-weight="bold">(\d+)</text>', svg_text)
    verbs = ["sql", "sql", "hint", "note", "power-on"]
    assert [move.line.partition(" ")[0] for move in moves if move.line] == verbs
    assert {str(n) for n, move in enumerate(moves, 1) if move.regret >= 0.5} <= set(numbers)
    assert svg_text.count("<circle") == len(verbs)
    page_text = build_debrief_html(source)
    assert svg_text in page_text
    assert page_text.index("Compared with the best possible run") < page_text.index("Score by rule")
    for number, move in enumerate(moves, 1):
        move_text = debrief_sections.escape_text(format_segment(move, {}, None, refused))
        row = f"<tr><td>{number}</td><td>{move_text}</td><td>"
        assert row + SEGMENT_STYLES[move.label][0] in page_text
    assert "Compared with the best possible run" not in build_debrief_html(
        replace(source, regret_analysis=None)
    )


def test_a_last_chance_is_drawn_and_described(source: ExportSource) -> None:
    chance = LastChance(1000, (Input(5000, "power-on", ("SERVER_A",)),), 0, "", (("It serves", 6000),))
    moves = (
        RunSegment(0, 1000, "", 100.0, 100.0, "best"),
        RunSegment(1000, 9000, "", 100.0, 60.0, "blunder"),
    )
    account = RegretAnalysis(moves, 50.0, chance)
    assert "point of no return at 0:10.0</text>" in curve_svg.draw_value_curve(account, {})
    sections = dict(debrief_sections.build_annex(replace(source, regret_analysis=account), "THE CURVE"))
    comparison = sections["Compared with the best possible run"]
    assert "Last chance: SERVER_A ▸ Power on." in comparison
    assert "they no longer meet “It serves” by 1:00." in comparison
    assert "THE CURVE" in comparison


def test_texts_from_outside_are_escaped(source: ExportSource) -> None:
    text = build_debrief_html(source)
    assert "<script>" not in text
    assert "&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;" in text


def test_the_page_contains_the_results_of_the_review(source: ExportSource) -> None:
    text = build_debrief_html(source)
    assert source.review.mistakes
    for mistake in source.review.mistakes:
        assert debrief_sections.escape_text(mistake.what) in text
        assert debrief_sections.escape_text(mistake.better) in text
    for words in (
        "SERVER_B took over automatically.",
        "published 2.6 s",
        "Msg 1470",
        "safety is FULL",
        "never",
    ):
        assert words in text or words == "never"
    titles = [title for title, _ in debrief_sections.build_annex(source, "")]
    assert [title for title in titles if title != "Questions"] == [
        "Compared with the best possible run",
        "Score by rule",
        "Mistakes, and where to retry",
        "Failovers by phase",
        "Preconditions of an automatic failover",
        "Reference solution, step by step",
        "Commands",
        "Timeline of events",
        "Fidelity",
    ]


def test_questions_are_listed(source: ExportSource) -> None:
    asked_drill = advance_drill(build_drill_with_question(), 21)
    asked_drill.apply_line("answer next 2")
    advance_drill(asked_drill, 300)
    text = build_debrief_html(build_export_source(asked_drill))
    assert "Sales waits for SERVER_A." in text
    assert "The mirror was in step and sees the witness." in text


def test_the_exported_page_of_free_play_shows_no_points() -> None:
    free_drill = advance_drill(build_drill(text=FREE_PLAY_TEXT), 20)
    free_drill.apply_line("power-off SERVER_A")
    advance_drill(free_drill, 60)
    free_drill.end_now()
    text = build_debrief_html(build_export_source(free_drill))
    assert "Free play, no points" in text
    assert check_html(text).open == []


def test_of_many_databases_a_limited_number_is_drawn() -> None:
    source = build_export_source(play_idle(load_shipped_scenario("split-application")))
    assert (
        len(timeline_svg.select_lanes(source.review.lanes))
        == len(source.review.lanes)
        <= timeline_svg.DATABASES_MAX
    )
    lanes = {f"{name}{n}": lane for n in range(5) for name, lane in source.review.lanes.items()}
    assert len(timeline_svg.select_lanes(lanes)) == timeline_svg.DATABASES_MAX


# --- tables, data, runbook ----------------------------------------------------------------------------------


def test_exported_tables_can_be_read_back(source: ExportSource) -> None:
    tables = {
        name: list(csv.DictReader(io.StringIO(text))) for name, text in build_csv_tables(source).items()
    }
    assert len(tables["events.csv"]) == len(source.report["events"])
    assert [row["name"] for row in tables["score.csv"]] == [
        i["name"] for i in source.report["score"]["items"]
    ]
    value_rows = tables["worth.csv"]
    assert [row["act"] for row in value_rows if row["act"] != "waiting"][-1] == "power-on SERVER_A"
    assert float(value_rows[-1]["reachable_after"]) == source.report["score"]["total"]
    readings = tables["readings.csv"]
    assert len(readings) == len(source.report["readings"]["t_s"])
    assert float(readings[10]["send_queue_kb"]) == source.report["readings"]["send_queue_kb"][10]


def test_no_exported_text_is_a_spreadsheet_formula() -> None:
    played_drill = advance_drill(build_drill(), 5)
    played_drill.apply_line("note =HYPERLINK(1)")
    (row,) = [
        r
        for r in csv.DictReader(
            io.StringIO(build_csv_tables(build_export_source(played_drill))["events.csv"])
        )
        if r["kind"] == "note"
    ]
    assert row["text"] == "'=HYPERLINK(1)"


def test_the_json_export_is_complete(source: ExportSource) -> None:
    data = json.loads(json.dumps(as_json(source)))
    assert data["report"]["scenario"] == "automatic-failover"
    assert len(data["review"]["mistakes"]) == len(source.review.mistakes)


def test_a_runbook_runs_accepted_statements_and_comments_out_the_rest(source: ExportSource) -> None:
    lines = build_runbook(source).splitlines()
    code = [line for line in lines if line and not line.startswith("--")]
    assert code == [":CONNECT SERVER_B", "SELECT name", "FROM sys.databases", "WHERE 1 = 1", "GO"]
    text = "\n".join(lines)
    assert "--   ALTER DATABASE Sales SET PARTNER FAILOVER" in text
    assert "Refused on" in text
    assert ": Msg 1470" in text
    assert "--    Manual step: SERVER_A ▸ Power on" in text
    assert "hint" not in text


def test_the_reference_runbook_contains_its_reasons(source: ExportSource) -> None:
    text = build_reference_runbook(source)
    assert "finds that SERVER_B is the principal" in text
    code = [line for line in text.splitlines() if line and not line.startswith("--")]
    assert code[0] == ":CONNECT SERVER_B"
    assert code[-1] == "GO"
    assert len(code) == 3


def test_comment_lines_stay_short(source: ExportSource) -> None:
    for text in (build_runbook(source), build_reference_runbook(source)):
        assert all(len(line) <= 110 for line in text.splitlines() if line.startswith("--"))


# --- print --------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("qtbot")
@pytest.mark.parametrize("name", ["automatic-failover", "split-brain"])
def test_the_pdf_has_one_page_and_an_annex(name: str, tmp_path: Path) -> None:
    from PySide6.QtGui import QPageSize, QPdfWriter

    from app.export import pdf

    idle_drill = play_idle(scenario_files.find_scenario_file(name).load())
    file = tmp_path / "debrief.pdf"
    pages = pdf.write_debrief_pdf(build_export_source(idle_drill), file)
    data = file.read_bytes()
    assert data.startswith(b"%PDF-")
    assert len(re.findall(rb"/Type\s*/Page\b", data)) == pages > 2
    writer = QPdfWriter(str(tmp_path / "other.pdf"))
    writer.setResolution(pdf.DOTS_PER_INCH)
    writer.setPageSize(QPageSize(QPageSize.PageSizeId.A4))
    assert pdf._lay_out_first_page(build_export_source(idle_drill), writer).pageCount() == 1


def test_an_unwritable_file_is_reported(qtbot: QtBot, tmp_path: Path) -> None:
    from app.export import pdf

    (tmp_path / "file").write_text("")
    with pytest.raises(pdf.PdfWriteError, match="cannot be written"):
        pdf.write_debrief_pdf(
            build_export_source(play_reference(build_drill().scenario)), tmp_path / "file" / "debrief.pdf"
        )
