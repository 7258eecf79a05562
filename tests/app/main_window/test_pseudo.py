"""Tests of the window in the pseudo-locale: a text without accents is not translatable, a clipped text lacks
space.
"""

from __future__ import annotations

import html
import itertools
import re
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QGroupBox,
    QHeaderView,
    QLabel,
    QLineEdit,
    QListWidget,
    QScrollArea,
    QTabBar,
    QToolButton,
    QWidget,
)
from pytestqt.qtbot import QtBot

from app.export import page as exported
from app.export.csv_tables import build_csv_tables
from app.export.runbook import build_runbook
from app.export.source import build_export_source
from app.files import scenario_files
from app.settings import WindowSettings
from app.storage import Profile
from app.views.editor.form_schema import list_fields, list_sections
from app.views.system_monitor.history import PERF_COUNTERS
from app.widgets import theme
from app.widgets.docks import OUTER_DOCK_SPECS
from app.widgets.tables import TableView
from app.words import language
from app.words.language import tr
from engine.drill.running.drill import Drill
from engine.drill.running.solution import play_reference
from engine.localization import LocalizableMessage
from engine.published.fidelity import SECTIONS
from engine.verbs import VERBS
from tests.app.main_window.conftest import WindowUser, show_window
from tests.open_window import OpenWindow
from tests.shipped_scenarios import load_shipped_scenario

SEPARATOR_PATTERN = re.compile(r"[\n:;,()·•○✓✗–/+|“”.?=]|\s{2,}|->|→")
DATA_PATTERN = re.compile(
    r"[^A-Za-z]*"  # numbers and symbols
    r"|[^a-z]+('s)?"  # words of catalog views, names of servers
    r"|Msg \d+|(\d+ (min|h) )?\d+ (s|min)|[\d.×x ]*(min|ms|[kKMG]?B(/s)?|Mbps|Mbit/s|h|s)"
    r"|(Ctrl|Alt|Shift|F\d+|Esc|Del|Ins|Pause|Home|End|Left|Right|Up|Down|Backspace|Return|Space|[A-Z0-9])"
    # columns of Profiler
    r"|Mirrordrill|SSMS|VS Code|SQL Server \d+|T-SQL|ERRORLOG|[A-Za-z]*(Time|Data|Name)|State"
    r"|Fig|Table \d|Tables|\w+\\\w+|[\w]*_[\w]*|master|svg|\*|png|csv|toml|json|html"
)
QT_NAME_PREFIXES = ("qt_", "ScrollLeft", "ScrollRight")
"""Prefixes of names of widgets that Qt creates itself, with Qt's own texts."""


@pytest.fixture
def window(qtbot: QtBot, qapp: QApplication, profile: Profile, store: WindowSettings) -> Iterator[OpenWindow]:
    theme.apply_theme_choice(qapp, theme.LIGHT_THEME)
    language.use_language(language.PSEUDO_LANGUAGE)
    yield show_window(qtbot, profile, store)
    language.use_language(language.ENGLISH)


TABLES_WITH_TEXTS = ("Events", "Fault ledger", "Topology")
"""Tables with texts of the program. Cells of other tables contain figures or texts of SQL Server."""

UNFINISHED_SCENARIO = """
title = "Half"
minuts = 5
level = "nobody"
[[server]]
name = "SERVER_A"
[[database]]
name = "Sales"
server = "SERVER_X"
[[timeline]]
at = "20s"
do = "powr-off SERVER_A"
"""


TYPED_TEXTS = {"minuts", "nobody", "new-scenario", "database[0]", "timeline[0]"}
"""Texts typed by this test."""


def open_pages(hands: WindowUser) -> Iterator[tuple[str, QWidget]]:
    """Open each page of the window, and yield its name and widget."""
    window = hands.window
    yield "start", window
    window.select_drill("automatic-failover")
    yield "brief", window
    window.brief.start_wanted.emit("practice")
    hands.run_frames(70.0)
    window.session.apply_input("hint 1")
    query = window.console.open_query("SERVER_B")
    assert query is not None
    query.editor.setPlainText("SELECT name FROM sys.databases")
    window.console.tools["run"].trigger()
    hands.run_frames(1.0)
    for place in OUTER_DOCK_SPECS:
        window.desk.focus_view(place.name)
        hands.run_frames(1.0)
        yield place.name, window
    window.session.apply_input("finish")
    yield "debrief", window
    window.show_history()
    yield "history", window
    window.progress.show_progress()
    yield "progress", window
    window.tools.show_planner()
    yield "planner", window
    window.tools.show_fidelity()
    yield "fidelity", window
    window.editing.show_editor()
    window.editing.page.text.setPlainText(UNFINISHED_SCENARIO)
    window.editing.page.parse_if_changed()
    yield "editor", window


def list_texts(window: QWidget) -> Iterator[tuple[str, str]]:
    """Yield (place, text) for every readable or spoken text, except table cells and documents."""
    for widget in [window, *window.findChildren(QWidget)]:
        if not widget.isVisible() or widget.objectName().startswith(QT_NAME_PREFIXES):
            continue
        kind = type(widget).__name__
        yield f"{kind} tool tip", widget.toolTip()
        yield f"{kind} accessible name", widget.accessibleName()
        match widget:
            case QLabel() | QAbstractButton():
                yield kind, widget.text()
            case QGroupBox():
                yield kind, widget.title()
            case QLineEdit():
                yield f"{kind} placeholder", widget.placeholderText()
            case QTabBar():
                yield from ((f"{kind} tab", widget.tabText(index)) for index in range(widget.count()))
            case QListWidget():
                yield from ((f"{kind} row", widget.item(row).text()) for row in range(widget.count()))
            case TableView() if widget.accessibleName() in map(tr, TABLES_WITH_TEXTS):
                model = widget.model()
                for row, column in itertools.product(range(model.rowCount()), range(model.columnCount())):
                    yield f"{kind} cell", str(model.index(row, column).data() or "")
            case QHeaderView() if widget.orientation() is Qt.Orientation.Horizontal:
                model = widget.model()
                for section in range(model.columnCount()):
                    yield f"{kind} header", str(model.headerData(section, Qt.Orientation.Horizontal) or "")
    for action in window.findChildren(QAction):
        # The program never shows the menus of pyqtgraph.
        if not type(action.parent()).__module__.startswith("pyqtgraph"):
            yield "action", action.text()


def remove_pseudo_text(text: str) -> str:
    """Return the part of *text* that is not in the pseudo-locale's brackets."""
    kept_text, depth, offset = "", 0, 0
    text = re.sub(r"<[^<>]*>|&\w+;", " ", text).replace("&", "")
    while offset < len(text):
        if text.startswith("[!!!", offset):
            depth, offset = depth + 1, offset + 4
        elif depth and text.startswith("!!!]", offset):
            depth, offset = depth - 1, offset + 4
        else:
            kept_text += "" if depth else text[offset]
            offset += 1
    return kept_text


def split_phrases(text: str) -> Iterable[str]:
    return (part.strip(" ▾…&") for part in SEPARATOR_PATTERN.split(text))


@pytest.fixture(scope="module")
def data() -> set[str]:
    """Return product names and the texts of authors, split in the same way as the compared texts."""
    texts = [
        text for file in scenario_files.list_all_files()[0] for text in list_strings(file.load().model_dump())
    ]
    texts += [
        field.key for section in list_sections() for model in section.models for field in list_fields(model)
    ]
    texts += [*VERBS, *SECTIONS, *(f"{perf.group}:{perf.name}" for perf in PERF_COUNTERS)]
    return {phrase for text in texts for phrase in split_phrases(text)}


def list_strings(value: Any) -> Iterator[str]:
    """Yield every string in nested plain data."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for part in value:
            yield from list_strings(part)
    elif isinstance(value, str):
        yield value


def find_untranslated_texts(text: str) -> Iterator[str]:
    """Yield the untranslated parts of *text*: the whole text, or a quotation in a sentence."""
    if not isinstance(text, LocalizableMessage):
        yield text
        return
    for _, value in text.args:
        if isinstance(value, str):
            yield from find_untranslated_texts(value)


def list_run_texts(drill: Drill | None) -> set[str]:
    """Return the texts of servers, trainee and author in this run."""
    if drill is None:
        return set()
    texts = [text for event in drill.events for text in find_untranslated_texts(event.text)]
    for item in (
        *drill.journal,
        *(play_reference(drill.scenario, drill.seed).journal if drill.scenario.solution else ()),
    ):
        texts += [" ".join(item.line_without_time.split()), *item.args]
    texts += [reference for _, reference in drill.published.values()]
    texts += list_strings(drill.scenario.model_dump())
    return {phrase for text in texts for phrase in split_phrases(text)}


@pytest.mark.slow
@pytest.mark.usefixtures("style_sheet")
def test_every_text_of_the_window_is_translatable_and_fits(hands: WindowUser, data: set[str]) -> None:
    """The pseudo-locale is longer than German, which is a third longer than English."""
    plain_texts: set[str] = set()
    short: set[str] = set()
    for page, window in open_pages(hands):
        known_texts = data | list_run_texts(hands.window.session.drill) | TYPED_TEXTS
        for location, text in list_texts(window):
            for phrase in split_phrases(remove_pseudo_text(text)):
                if not DATA_PATTERN.fullmatch(phrase) and phrase not in known_texts:
                    plain_texts.add(f"{page}, {location}: {phrase!r} in {text[:80]!r}")
        for _ in range(4):
            QApplication.processEvents()
        for _ in range(10):  # Nested layouts need one pass each.
            QApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest.value)
        for widget in window.findChildren(QWidget):
            if isinstance(widget, (QAbstractButton, QLabel)) and widget.isVisible() and widget.text():
                short |= {f"{page}: {widget.text()!r} {reason}" for reason in find_clipping(widget)}
    assert not plain_texts, "\n".join(sorted(plain_texts))
    assert not short, "\n".join(sorted(short))


def test_every_text_of_the_exports_is_translatable(data: set[str]) -> None:
    """The exports are a page, tables and a runbook of a run with an automatic failover and a wrong command."""
    drill = Drill(load_shipped_scenario("automatic-failover"))
    for line in ("sql SERVER_B ALTER DATABASE Sales SET PARTNER FAILOVER", "note the office calls", "hint 1"):
        drill.advance_to(drill.tick + 9_000)
        drill.apply_line(line)
    drill.apply_line("finish")
    known_texts = data | list_run_texts(drill)
    language.use_language(language.PSEUDO_LANGUAGE)
    try:
        source = build_export_source(drill)
        page_text = re.sub(r"<style>.*?</style>", "", exported.build_debrief_html(source), flags=re.DOTALL)
        texts = [html.unescape(text) for text in re.findall(r">([^<]+)<", page_text)]
        texts += [
            row.rsplit(",", 1)[-1]
            for row in build_csv_tables(source)["events.csv"].splitlines()
            if ",note," in row
        ]
        texts += build_runbook(source).replace("\n--    ", " ").replace("-- ", "").splitlines()
    finally:
        language.use_language(language.ENGLISH)
    plain_texts = {
        f"{phrase!r} in {text[:80]!r}"
        for text in texts
        for phrase in split_phrases(remove_pseudo_text(text))
        if not DATA_PATTERN.fullmatch(phrase) and phrase not in known_texts
    }
    assert not plain_texts, "\n".join(sorted(plain_texts))


def _can_scroll(widget: QWidget) -> bool:
    parent: QWidget | None = widget
    while parent is not None and not isinstance(parent, QScrollArea):
        parent = parent.parentWidget()
    return parent is not None


def find_clipping(widget: QAbstractButton | QLabel) -> Iterator[str]:
    if "[!!!" not in widget.text() or widget.text() in widget.toolTip():
        return  # This data may be elided, because the tooltip shows the full text.
    if isinstance(widget, QLabel) and widget.wordWrap() and _can_scroll(widget):
        return
    if isinstance(widget, QLabel) and widget.wordWrap():
        if widget.heightForWidth(widget.width()) > widget.height() + 1:
            yield f"needs {widget.heightForWidth(widget.width())} px of height, has {widget.height()}"
        return
    if isinstance(widget, QToolButton) and widget.toolButtonStyle() is Qt.ToolButtonStyle.ToolButtonIconOnly:
        return
    if widget.sizeHint().width() > widget.width() + 1:
        yield f"needs {widget.sizeHint().width()} px of width, has {widget.width()}"
