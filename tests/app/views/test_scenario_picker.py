"""Rows of the start page: words have the lines that they need, in whatever width."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetricsF
from PySide6.QtWidgets import QApplication, QListWidget

from app.files import scenario_files, summaries
from app.view_models.drill_cards import Card
from app.views.scenario_picker import ScenarioPicker, wrap_lines
from app.widgets.interrupted_runs import Interrupted, InterruptedRuns


def test_words_are_broken_into_lines_that_fit(qapp: QApplication) -> None:
    metrics = QFontMetricsF(qapp.font())
    text = "Two endpoints have each other's role and nobody has seen it"
    width = metrics.horizontalAdvance(text) * 0.6
    lines = wrap_lines(text, metrics, width, 2)
    assert " ".join(lines) == text
    assert len(lines) == 2
    (short,) = wrap_lines(text, metrics, width, 1)
    assert short.endswith("…")
    assert text.startswith(short[:-1])
    assert wrap_lines("", metrics, width, 2) == [""]
    assert all(metrics.horizontalAdvance(line) <= width for line in (*lines, short))


def test_rows_grow_when_the_page_becomes_narrow(qtbot: Any) -> None:
    picker = ScenarioPicker()
    qtbot.addWidget(picker)
    found, _ = summaries.read(scenario_files.all_files()[0], None)
    picker.show_cards([Card.from_summary(summary) for summary in found])
    picker.resize(1900, 900)
    picker.show()
    rows = picker.findChildren(QListWidget)[0]

    def high() -> int:
        QApplication.processEvents()
        boxes = [rows.visualItemRect(rows.item(row)) for row in range(rows.count())]
        assert all(above.bottom() < below.top() for above, below in itertools.pairwise(boxes))
        assert rows.count() > 10
        return boxes[-1].bottom()

    wide = high()
    picker.resize(800, 900)
    assert high() > 1.1 * wide
    picker.resize(1900, 900)
    assert high() == wide
    assert rows.horizontalScrollBarPolicy() is Qt.ScrollBarPolicy.ScrollBarAlwaysOff


def test_interrupted_runs_but_the_newest_are_behind_a_button(qtbot: Any) -> None:
    shown = InterruptedRuns()
    qtbot.addWidget(shown)
    runs = [Interrupted(number, "lab", f"Run {number}", 4.0, "today", None) for number in range(3)]
    for given, visible in ((runs, 1), ([], 0), (runs[:1], 1), (runs, 1)):
        shown.show_runs(given)
        QApplication.processEvents()
        assert shown.isVisible() == bool(given)
        assert sum(row.isVisible() for row in shown._rows) == visible
        assert shown.more.isVisible() == (len(given) > 1)
    shown.more.click()
    assert all(row.isVisible() for row in shown._rows)


def test_a_drill_that_comes_before_the_first_row_does_not_hide_where_to_begin(qtbot: Any) -> None:
    """What stood selected before the rest was read was chosen by nobody, wherever it stands then."""
    found, _ = summaries.read(scenario_files.all_files()[0], None)
    lab = next(summary for summary in found if summary.name == "lab")
    picker = ScenarioPicker()
    qtbot.addWidget(picker)
    picker.show_cards([Card.from_summary(lab)])
    above = Card.from_summary(replace(lab, name="a-lab", title="A lab"), known=True)
    begin = next(summary for summary in found if summary.name == "automatic-failover")
    picker.show_cards(
        [above, Card.from_summary(lab, known=True), Card.from_summary(begin, known=True, first=True)]
    )
    current = picker.current()
    assert current is not None
    assert current.name == "automatic-failover"
    picker.show_interrupted([Interrupted(7, "a-lab", "A lab", 4.0, "today", None)])
    assert picker.current() == above, "who was interrupted goes on there"
    picker.choose_card("lab")
    picker.show_interrupted([Interrupted(3, "a-lab", "A lab", 4.0, "today", None)])
    current = picker.current()
    assert current is not None
    assert current.name == "lab", "a run that was there before moves nothing"
