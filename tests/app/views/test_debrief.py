"""The debrief, drawn from a report alone."""

from __future__ import annotations

import json

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QLabel, QPushButton, QToolTip
from pytestqt.qtbot import QtBot

from app.views.debrief import Debrief, mistakes, phases_of
from app.views.debrief.par import beside_the_best
from app.views.debrief.worth import Legend, Worth, together
from app.widgets.strip import Strip
from app.words import formatting
from engine.drill.judging.counterfactual import Deed
from engine.drill.judging.difference import OutcomeRow
from engine.drill.judging.shapes import Report
from engine.drill.par.regret import WAITING, Account, Move
from engine.drill.running.drill import Drill
from engine.drill.running.solution import play_solution
from engine.inputs import Input
from tests.shipped import shipped
from tests.there import there


@pytest.fixture(scope="module")
def report() -> Report:
    """As it comes out of the profile: through JSON."""
    drill = Drill(shipped("forced-service"))
    play_solution(drill)
    found: Report = json.loads(json.dumps(drill.report()))
    return found


@pytest.fixture
def page(qtbot: QtBot, report: Report) -> Debrief:
    made = Debrief()
    qtbot.addWidget(made)
    made.resize(1200, 900)
    made.show_report(report, can_retry=True, has_solution=True)
    made.show()
    return made


def texts(page: Debrief) -> str:
    return "\n".join(label.text() for label in there(page.widget()).findChildren(QLabel))


def button(page: Debrief, text: str) -> QPushButton | None:
    found = there(page.widget()).findChildren(QPushButton)
    return next((b for b in found if b.text() == text and b.isVisible()), None)


def test_every_point_has_its_reason(page: Debrief, report: Report) -> None:
    said = texts(page)
    assert report["title"] in said
    for item in report["score"]["items"]:
        assert item["name"] in said
        assert item["why"] in said
        assert not item["better"] or f"Better: {item['better']}" in said


def test_losses_and_the_forced_failover_are_told(page: Debrief, report: Report) -> None:
    said = texts(page)
    (failover,) = [row for row in report["failovers"] if row["kind"] == "forced"]
    assert failover["lost_transactions"] > 0
    assert f"{formatting.number(failover['lost_transactions'])} committed transactions were lost" in said
    assert "forced failover SERVER_A → SERVER_B" in said
    assert "No comparable figure was published" in said
    assert "FORCE_SERVICE_ALLOW_DATA_LOSS" in said


def test_phases_add_up_to_the_failover(report: Report) -> None:
    for failover in report["failovers"]:
        seconds = dict(phases_of(failover))
        between = sum(
            seconds[name] for name in seconds if name not in ("detection", "until the command", "undo")
        )
        assert between == pytest.approx(failover["failover_s"])


def test_a_moment_can_be_chosen_on_the_strip_and_in_the_score(qtbot: QtBot, page: Debrief) -> None:
    assert page.moment() is None
    strip = there(page.widget()).findChildren(Strip)[0]
    place = QPoint(round(strip.x_of(30.0)), strip.height() // 2)
    qtbot.mouseClick(strip, Qt.MouseButton.LeftButton, pos=place)
    assert page.moment() == pytest.approx(30.0, abs=1.5)
    again = next(
        b for b in there(page.widget()).findChildren(QPushButton) if b.text().startswith("Retry from 0:")
    )
    with qtbot.waitSignal(page.retry_wanted, timeout=100) as wanted:
        qtbot.mouseClick(again, Qt.MouseButton.LeftButton)
    assert wanted.args == [page.moment()]


def test_what_cannot_be_done_is_not_offered(qtbot: QtBot, page: Debrief, report: Report) -> None:
    assert button(page, "Retry from the start") is not None
    page.show_report(report, can_retry=False, has_solution=False)
    assert button(page, "Retry from the start") is None
    assert button(page, "Watch the reference solution") is None
    assert button(page, "All drills") is not None


@pytest.mark.qt_log_ignore("This plugin does not support")  # the offscreen plugin, for tool tips
def test_the_strip_walks_from_marker_to_marker_by_keys(qtbot: QtBot, page: Debrief) -> None:
    strip = there(page.widget()).findChildren(Strip)[0]
    times = [marker.t_s for marker in strip._course.markers]
    qtbot.keyClick(strip, Qt.Key.Key_Left)
    qtbot.keyClick(strip, Qt.Key.Key_Left)
    page.verticalScrollBar().setValue(page.verticalScrollBar().maximum())
    with qtbot.waitSignal(strip.moment_chosen, timeout=100) as chosen:
        qtbot.keyClick(strip, Qt.Key.Key_Return)
    assert chosen.args == [times[-2]]
    assert strip.accessibleDescription()
    again = there(page.widget()).focusWidget()
    assert isinstance(again, QPushButton)
    with qtbot.waitSignal(page.retry_wanted, timeout=100) as wanted:
        qtbot.keyClick(again, Qt.Key.Key_Space)
    assert wanted.args == chosen.args, "one more key tries again from there"
    assert not again.visibleRegion().isEmpty(), "it has come into sight"


@pytest.mark.parametrize(
    ("points", "said"),
    [(12.0, "Without this: downtime 4.00 s instead of 30.00 s."), (0.0, ""), (-5.0, "")],
)
def test_what_a_run_comes_to_without_a_deed_is_told_where_that_is_better(points: float, said: str) -> None:
    outcomes = (OutcomeRow("downtime_s", 30.0, 4.0), OutcomeRow("lost_transactions", 0.0, 0.0))
    deed = Deed(0, 100, "SET WITNESS OFF on SERVER_A", outcomes, points, ())
    assert mistakes.without(deed) == said


def test_the_run_beside_the_best_possible(qtbot: QtBot, page: Debrief, report: Report) -> None:
    """What the curve says, the costliest acts and waits first in time, and the ways to the best."""
    act = Input(1000, "power-off", ("SERVER_B",))
    late = Input(5000, "power-on", ("SERVER_A",))
    said_so = Input(4000, "answer", ("whose-word", "2"))
    batch = Input(4500, "sql", ("SERVER_B", "SELECT\n  1"))
    moves = (
        Move(0, 1000, WAITING, 100.0, 100.0, "best"),
        Move(1000, 1000, act.words, 100.0, 80.0, "blunder", (said_so, batch, late)),
        Move(1000, 2000, WAITING, 80.0, 78.0, "good", (act, late), 1),
        Move(2000, 3000, WAITING, 78.0, 75.5, "good", (act, late), 1),
        Move(3000, 9000, WAITING, 75.5, 75.5, "best"),
    )
    assert [(move.until, move.lost) for move in together(moves)][-2:] == [(3000, 4.5), (9000, 0.0)]
    watched: list[Move] = []
    chosen: list[float] = []
    asked = {"whose-word": ["Mine.", "The witness's."]}
    parts = beside_the_best(
        Account(moves, 60.0, 1000),
        75.5,
        False,
        True,
        True,
        chosen.append,
        chosen.append,
        watched.append,
        asked,
    )
    for part in parts:
        qtbot.addWidget(part)
    (worth,) = [part for part in parts if isinstance(part, Worth)]
    assert worth.accessibleDescription().count("points") == 4
    said = "\n".join(
        label.text()
        for part in parts
        for label in [part, *part.findChildren(QLabel)]
        if isinstance(label, QLabel)
    )
    assert "100 points could be reached at the start, 75.5 were." in said
    assert "The costliest: 0:10.0 power-off SERVER_B (20 points)." in said
    assert "until 0:10.0, the point of no return. Accuracy 60 %." in said
    assert said.count("the last chance to reach all goals") == 1
    assert "0:40.0  answer “The witness's.”\n  0:45.0  SELECT 1 on SERVER_B" in said
    assert said.index("power-off SERVER_B") < said.index("0:10.0 to 0:30.0  waiting")
    look = [b for part in parts for b in part.findChildren(QPushButton) if b.text().startswith("Watch")]
    qtbot.mouseClick(look[1], Qt.MouseButton.LeftButton)
    assert [item.words for item in watched[0].best] == ["power-on SERVER_A"]


def test_a_point_of_the_curve_is_told_and_chosen(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    """By pointer and by keys: what could be reached there, what it cost, and the moment for a retry."""
    act = Input(1000, "power-off", ("SERVER_B",))
    moves = (
        Move(0, 1000, WAITING, 100.0, 100.0, "best"),
        Move(1000, 1000, act.words, 100.0, 80.0, "blunder", (act,)),
        Move(1000, 3000, WAITING, 80.0, 60.0, "blunder", (act,), 1),
    )
    worth = Worth(Account(moves, 60.0, 1000), {})
    qtbot.addWidget(worth)
    worth.resize(worth.sizeHint())
    worth.show()
    middle = worth.point(2000, 0.0).toPoint()
    assert worth.tip(2000, moves[2]).splitlines() == [
        "0:20.0: 70 points could still be reached", "0:10.0 to 0:30.0  waiting", "blunder: 20 points lost",
    ]  # fmt: skip
    with qtbot.waitSignal(worth.moment_chosen) as chosen:
        qtbot.mouseClick(worth, Qt.MouseButton.LeftButton, pos=middle)
    assert chosen.args is not None
    assert chosen.args[0] == pytest.approx(20.0, abs=0.1)
    with qtbot.waitSignal(worth.moment_chosen) as chosen:
        qtbot.mouseClick(worth, Qt.MouseButton.LeftButton, pos=worth.point(1000, 0.0).toPoint())
    assert chosen.args == [10.0], "near an act it is meant"
    shown: list[str] = []
    monkeypatch.setattr(QToolTip, "showText", lambda _, text, *rest: shown.append(text))
    worth.setFocus()
    qtbot.keyClick(worth, Qt.Key.Key_Return)
    qtbot.keyClick(worth, Qt.Key.Key_Right)
    with qtbot.waitSignal(worth.moment_chosen) as chosen:
        qtbot.keyClick(worth, Qt.Key.Key_Return)
    assert chosen.args == [10.0]
    assert [text.splitlines()[1] for text in shown] == ["0:10.0  power-off SERVER_B"]


@pytest.mark.parametrize(
    ("has_solution", "said"),
    [(True, "Nothing was lost: no known way is better."), (False, "No better way is known")],
)
def test_only_with_a_solution_nothing_was_lost(qtbot: QtBot, has_solution: bool, said: str) -> None:
    found = Account((Move(0, 1000, WAITING, 10.0, 10.0, "best"),), 100.0, None)
    parts = beside_the_best(found, 10.0, False, has_solution, True, print, print, print, {})
    for part in parts:
        qtbot.addWidget(part)
    summary = parts[0]
    assert isinstance(summary, QLabel)
    assert said in summary.text()
    assert ("Accuracy" in summary.text()) == has_solution


def test_the_point_of_no_return_stands_on_the_time_line(page: Debrief, report: Report) -> None:
    def kinds() -> list[str]:
        return [marker.kind for marker in there(page.findChild(Strip)).markers]

    assert "no-return" not in kinds()
    assert "The cross is" not in texts(page)
    page.show_report(report, True, True, account=Account((), 60.0, 3000))
    assert kinds().count("no-return") == 1
    assert "The cross is the point of no return." in texts(page)


def test_the_legend_has_as_many_lines_as_it_needs(qtbot: QtBot) -> None:
    legend = Legend()
    qtbot.addWidget(legend)
    assert legend.heightForWidth(300) > legend.heightForWidth(2000)
