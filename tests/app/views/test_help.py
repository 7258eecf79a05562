"""Tests of help pages: one page for each panel, also in German, with the terms of the window."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

import pytest
from PySide6.QtWidgets import QListWidget

from app.views.help import HELP_PAGE_BY_VIEW, HELP_PAGE_ORDER, HelpDialog, get_page_title, read_help_page
from app.widgets.docks import DOCK_SPECS
from app.widgets.markdown_view import MarkdownView
from app.words import language
from app.words.language import tr
from engine.drill.authoring.scenario import load_scenario
from engine.drill.running.drill import Drill
from engine.verbs.input_lines import parse_input_line
from tests.children import find_child


@pytest.fixture
def german() -> Iterator[None]:
    language.use_language(language.GERMAN)
    yield
    language.use_language(language.ENGLISH)


def _list_structure(text: str) -> list[str]:
    """Return the headings, list items and links of *text*, which a translation must keep."""
    return re.findall(r"^(#+|- |\d\.)", text, re.MULTILINE) + re.findall(r"\(\w+\.md\)", text)


@pytest.mark.parametrize("page", HELP_PAGE_ORDER)
def test_every_help_page_exists_in_german(page: str, german: None) -> None:
    translated = read_help_page(page)
    language.use_language(language.ENGLISH)
    original = read_help_page(page)
    assert translated != original
    assert _list_structure(translated) == _list_structure(original)
    assert all(len(line) <= 120 for line in translated.splitlines())


@pytest.mark.parametrize("page", HELP_PAGE_ORDER)
def test_a_translated_page_uses_the_terms_of_the_window(page: str, german: None) -> None:
    language.use_language(language.ENGLISH)
    named = re.findall(r"(?<!\*)\*([A-Z][^*]+)\*(?!\*)", read_help_page(page).replace("\n", " "))
    language.use_language(language.GERMAN)
    translated = re.sub(r"\s+", " ", read_help_page(page))
    for words in named:
        for part in re.sub(r"\s+", " ", words).split(" > "):
            if tr(part) != part:
                assert tr(part).replace("&", "") in translated, part


def test_every_panel_has_a_help_page() -> None:
    assert {dock.name for dock in DOCK_SPECS} <= set(HELP_PAGE_BY_VIEW)
    for panel, words in {"explorer": "Object Explorer", "ledger": "fault ledger", "system": "System Monitor",
                         "table": "table", "trace": "State changes", "events": "Events"}.items():  # fmt: skip
        assert words in read_help_page(HELP_PAGE_BY_VIEW[panel])


def test_the_german_table_of_states_has_the_rows_of_the_engine(german: None) -> None:
    """The English table comes from the engine; each cause must have the same German word in every row."""
    rows = _list_rows(read_help_page("mirroring_states"))
    language.use_language(language.ENGLISH)
    original = _list_rows(read_help_page("mirroring_states"))
    assert len(original) > 10
    assert [(old, new) for old, _, new in rows] == [(old, new) for old, _, new in original]
    words: dict[str, set[str]] = {}
    for (_, ours, _), (_, theirs, _) in zip(original, rows, strict=True):
        for cause, translated in zip(ours.split(", "), theirs.split(", "), strict=True):
            words.setdefault(cause, set()).add(translated)
    assert [cause for cause, translated in words.items() if len(translated) > 1 or cause in translated] == []


def test_the_table_of_states_fits_the_screen_and_the_contents_are_complete(qtbot: Any, german: None) -> None:
    help_view = HelpDialog()
    qtbot.addWidget(help_view)
    help_view.show_page("mirroring_states")
    help_view.show()
    assert "|" not in find_child(help_view, MarkdownView).toPlainText()
    assert "DISCONNECTED" in find_child(help_view, MarkdownView).toPlainText()
    assert find_child(help_view, QListWidget).horizontalScrollBar().maximum() == 0


def _list_rows(page: str) -> list[tuple[str, str, str]]:
    return re.findall(r"^\| ([A-Z_]+) \| (.+) \| ([A-Z_]+) \|$", page, re.MULTILINE)


def test_the_help_window_is_german_in_german(qtbot: Any, german: None) -> None:
    help_view = HelpDialog()
    qtbot.addWidget(help_view)
    assert (
        find_child(help_view, QListWidget).item(HELP_PAGE_ORDER.index("console")).text()
        == get_page_title("console")
        == "SQL-Fenster"
    )
    help_view.show_page("monitor")
    assert "Datenbankspiegelungs-Monitor" in find_child(help_view, MarkdownView).toPlainText()


def test_examples_of_the_editor_page_are_valid() -> None:
    """The inputs and conditions on the help page must be valid in the default scenario of the editor."""
    page = read_help_page("editor")
    scenario = load_scenario((files("assets") / "new_scenario.toml").read_text("utf-8"), "new.toml")
    drill = Drill(scenario)
    conditions = re.findall(r"^    (.+)$", page, re.MULTILINE)
    assert len(conditions) > 4
    for condition in conditions:
        drill.is_condition_met(condition)
    (acts,) = re.findall(r"An \*\*action\*\*.*?:(.*?)\n\n", page, re.DOTALL)
    for act in re.findall(r"`([^`]+)`", acts):
        assert parse_input_line(" ".join(act.split())), act
