"""Tests of the progress page, and of scores over time in the history."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from app.learning.next_drills import DrillCandidate, recommend_drills
from app.learning.skill_estimates import PracticedRun, estimate_skills
from app.views.history import FinishedRunRow, RunHistoryPage, ScoreChart
from app.views.progress import BAR_COLUMN, CalibrationCurve, ProgressPage, format_due, format_elapsed
from app.widgets.tables import TableView
from engine.drill.judging.report import compute_calibration
from engine.drill.judging.skills import load_skills
from engine.drill.running.modes import DrillMode
from tests.children import find_child

NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)
DRILL_CANDIDATES = (DrillCandidate("one", ("quorum",), 0, 5), DrillCandidate("two", ("resume",), 1, 9))


def build_days(count: float) -> timedelta:
    return timedelta(days=count)


def test_skills_have_bars_and_recommended_drills(qtbot: QtBot) -> None:
    runs = [PracticedRun("one", DrillMode.EXAM, 100.0, 0, NOW - build_days(10), 300.0)]
    page = ProgressPage()
    qtbot.addWidget(page)
    skill_list = estimate_skills(runs, {"one": ("quorum",), "two": ("resume",)}, NOW)
    page.show_progress(
        skill_list, recommend_drills(runs, DRILL_CANDIDATES, NOW), {"one": "First", "two": "Second"}, NOW
    )
    page.resize(1000, 700)
    page.show()
    rows = [row.estimate.skill.key for row in find_child(page, TableView).table.rows]
    quorum = rows.index("quorum")
    cells = [find_child(page, TableView).table.index(quorum, column).data() for column in range(5)]
    assert cells == ["Quorum", "53", "1 run", "10 days ago", "now"]
    spoken = (
        find_child(page, TableView).table.index(quorum, BAR_COLUMN).data(Qt.ItemDataRole.AccessibleTextRole)
    )
    assert spoken == "53 of 100"
    assert (
        f"1 of {len(load_skills())} skills practiced, 1 skill is due"
        in find_child(page, QLabel, "summary").text()
    )
    page.take_focus()
    with qtbot.waitSignal(page.start_wanted) as began:
        QTest.keyClick(page.focusWidget(), Qt.Key.Key_Space)
    assert began.args == ["one"], "what is due comes before what is new"
    page.grab()


def test_confidence_in_all_answers_is_drawn_and_described(qtbot: QtBot) -> None:
    page = ProgressPage()
    qtbot.addWidget(page)
    page.show_progress([], [], {}, NOW)
    assert page.findChildren(CalibrationCurve) == []
    answers = [
        {"sure_percent": sure, "correct": right, "right": [1]}
        for sure, right in ((50, True), (50, False), (90, True))
    ]
    page.show_progress([], [], {}, NOW, compute_calibration(answers))
    (curve,) = page.findChildren(CalibrationCurve)
    assert curve.accessibleName() == "Share of correct answers by stated confidence: 50%: 50%, 90%: 100%"
    assert any("Brier score 0.17 for 3 answers" in label.text() for label in page.findChildren(QLabel))
    page.resize(1000, 700)
    page.show()
    page.grab()


def test_a_proved_skill_has_a_tick(qtbot: QtBot) -> None:
    runs = [
        PracticedRun(name, DrillMode.PRACTICE, 90.0, 0, NOW - build_days(ago), 300.0)
        for name, ago in (("one", 9), ("two", 2))
    ]
    page = ProgressPage()
    qtbot.addWidget(page)
    page.show_progress(
        estimate_skills(runs, {"one": ("quorum",), "two": ("quorum", "resume")}, NOW), [], {}, NOW
    )
    places = {
        row.estimate.skill.key: place for place, row in enumerate(find_child(page, TableView).table.rows)
    }
    cells = {key: find_child(page, TableView).table.index(places[key], 2) for key in ("quorum", "resume")}
    assert [cells[key].data() for key in ("quorum", "resume")] == ["2 runs ✓", "1 run"]
    assert "Not mastered yet" in cells["resume"].data(Qt.ItemDataRole.ToolTipRole)


def test_times_are_described_in_words() -> None:
    assert format_elapsed(NOW, NOW) == format_elapsed(NOW - timedelta(hours=1), NOW) == "today"
    assert (
        format_elapsed(NOW - build_days(1), NOW),
        format_elapsed(NOW - build_days(40), NOW),
        format_elapsed(None, NOW),
    ) == (
        "1 day ago",
        "40 days ago",
        "–",
    )
    assert (format_due(NOW, NOW), format_due(NOW + build_days(3), NOW), format_due(None, NOW)) == (
        "now",
        "in 3 days",
        "–",
    )


def test_the_history_draws_the_selected_drill(qtbot: QtBot) -> None:
    page = RunHistoryPage()
    qtbot.addWidget(page)
    scores = [("a", 90.0, True), ("b", 50.0, False), ("a", 40.0, False), ("lab", None, False)]
    page.show_runs(
        [
            FinishedRunRow(9 - n, NOW - build_days(n), name, "exam", score, 1.0, 0, name, retried)
            for n, (name, score, retried) in enumerate(scores)
        ]
    )
    page.show()
    chart, title = find_child(page, ScoreChart), find_child(page, QLabel, "chart-title")
    assert chart.accessibleDescription() == "40, 90"
    assert "hollow: rewound" in title.text()
    find_child(page, TableView).selectRow(1)
    assert chart.accessibleDescription() == "50"
    assert "hollow" not in title.text()
    page.grab()
    find_child(page, TableView).selectRow(3)
    assert chart.isHidden()
