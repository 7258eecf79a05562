"""Tests that the preview of a brief shows the texts of an author as written."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QTextDocument

from app.files import scenario_files
from app.views.editor.preview import EXAM_READER, build_appendix
from engine.drill.authoring.scenario import load_scenario

QUESTION = """
[[question]]
name = "how-many"
text = "How many threads?"
at = "5s"
choices = ["Hardly any.", "100, one for each database.", "201.", "501.", "- *none* of <b>these</b>"]
right = [3]
why = "Two for each database and one."
"""


@pytest.mark.qt_log_ignore("QFont::setPixelSize")  # This warning comes from a heading without a window.
def test_choices_that_look_like_markup_are_shown_as_text() -> None:
    scenario = load_scenario(scenario_files.find_scenario_file("lab").text + QUESTION, "lab.toml")
    document = QTextDocument()
    document.setMarkdown(build_appendix(scenario, EXAM_READER))
    lines = [line.strip() for line in document.toPlainText().splitlines()]
    for choice in ("201.", "501.", "100, one for each database.", "- *none* of <b>these</b>"):
        assert choice in lines
