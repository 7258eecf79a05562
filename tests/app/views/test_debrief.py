"""Tests of the debrief, which is created from a report alone."""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Mapping, Sequence
from functools import partial
from types import MappingProxyType

import pytest
import shiboken6
from msgspec.structs import replace
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QTabWidget, QToolTip, QWidget
from pytestqt.qtbot import QtBot

from app.view_models.debrief.model import DebriefModel
from app.view_models.value_curve import list_falling_parts, merge_waits
from app.views.debrief import DebriefView, list_phases, mistakes
from app.views.debrief.page import EXPORT, OUTAGES, POINTS, TIMELINE
from app.views.debrief.regret_widgets import ValueCurve, ValueCurveLegend, build_regret_widgets
from app.widgets.timeline_strip import TimelineStrip
from app.words import formatting
from engine.drill.judging.counterfactual import QUERY_S, ActionImpact
from engine.drill.judging.difference import OutcomeRow
from engine.drill.judging.report_types import Report, ScoreJson
from engine.drill.par.regret_analysis import (
    WAITING,
    BoundGap,
    LastChance,
    RegretAnalysis,
    RunSegment,
    SegmentWithBest,
)
from engine.drill.running.drill import Drill
from engine.drill.running.solution import play_solution
from engine.inputs import Input
from tests import painted
from tests.assertions import require
from tests.shipped_scenarios import load_shipped_scenario


@pytest.fixture(scope="module")
def report() -> Report:
    """Return a report after a round trip through JSON, as when the profile stores it."""
    drill = Drill(load_shipped_scenario("forced-service"))
    play_solution(drill)
    report: Report = json.loads(json.dumps(drill.build_report()))
    return report


@pytest.fixture
def page(qtbot: QtBot, report: Report) -> DebriefView:
    debrief = DebriefView()
    qtbot.addWidget(debrief)
    debrief.resize(1200, 900)
    debrief.show_run(DebriefModel(report, load_shipped_scenario("forced-service")))
    debrief.show()
    return debrief


def open_tab(page: DebriefView, tab: int) -> None:
    page.findChildren(QTabWidget)[0].setCurrentIndex(tab)


def read_label_texts(page: DebriefView, *tabs: int) -> str:
    for tab in tabs:
        open_tab(page, tab)
    return "\n".join(label.text() for label in require(page.widget()).findChildren(QLabel))


def find_button(page: DebriefView, text: str) -> QPushButton | None:
    buttons = require(page.widget()).findChildren(QPushButton)
    return next((b for b in buttons if b.text() == text and b.isVisible()), None)


def test_every_score_line_has_its_reason(page: DebriefView, report: Report) -> None:
    labels = read_label_texts(page, POINTS)
    assert report["title"] in labels
    for item in report["score"]["items"]:
        assert item["name"] in labels
        assert item["why"] in labels
        assert not item["better"] or f"Better: {item['better']}" in labels


def test_losses_and_the_forced_failover_are_listed(page: DebriefView, report: Report) -> None:
    labels = read_label_texts(page, TIMELINE, OUTAGES)
    (failover,) = [row for row in report["failovers"] if row["kind"] == "forced"]
    assert failover["lost_transactions"] > 0
    assert (
        f"{formatting.format_number(failover['lost_transactions'])} committed transactions were lost"
        in labels
    )
    assert "forced failover SERVER_A → SERVER_B" in labels
    assert "No comparable figure is published" in labels


def test_phases_add_up_to_the_failover(report: Report) -> None:
    for failover in report["failovers"]:
        seconds = dict(list_phases(failover))
        delay_s = sum(
            seconds[name] for name in seconds if name not in ("detection", "wait for the command", "undo")
        )
        assert delay_s == pytest.approx(failover["failover_s"])


def test_a_time_is_selected_on_the_strip_and_in_the_score(qtbot: QtBot, page: DebriefView) -> None:
    open_tab(page, TIMELINE)
    strip = require(page.widget()).findChildren(TimelineStrip)[0]
    place = QPoint(round(strip.compute_x(30.0)), strip.height() // 2)
    qtbot.mouseClick(strip, Qt.MouseButton.LeftButton, pos=place)
    retry_button = next(
        b for b in require(page.widget()).findChildren(QPushButton) if b.text().startswith("Retry from 0:")
    )
    with qtbot.waitSignal(page.retry_wanted, timeout=100) as wanted:
        qtbot.mouseClick(retry_button, Qt.MouseButton.LeftButton)
    moment_s, notice = wanted.args
    assert moment_s == pytest.approx(30.0, abs=1.5), "where nothing happened it is that very moment"
    assert notice == ""


def test_impossible_actions_are_not_offered(qtbot: QtBot, page: DebriefView, report: Report) -> None:
    assert find_button(page, "Retry from the start") is not None
    assert find_button(page, "Next: Other") is None
    page.show_run(DebriefModel(report, next_title="Other"))
    assert find_button(page, "Retry from the start") is None
    assert find_button(page, "Next: Other") is not None
    assert find_button(page, "Back to the start page") is not None
    open_tab(page, EXPORT)
    assert not require(find_button(page, "Web page (HTML)…")).isEnabled()


MISTAKE = RunSegment(
    8000, 8000, "sql SERVER_B SELECT 1", 100.0, 20.0, "blunder", (Input(9000, "power-on", ("SERVER_A",)),)
)


@pytest.mark.parametrize(
    ("total", "primary"), [(100.0, "Next: Other"), (40.0, "Retry before this mistake, from")]
)
def test_enter_follows_the_suggestion_of_the_result(
    qtbot: QtBot, report: Report, total: float, primary: str
) -> None:
    """The primary button opens the next drill after a good run, and a retry before the mistake after a bad
    run.
    """
    page = DebriefView()
    qtbot.addWidget(page)
    score: ScoreJson = {**report["score"], "total": total}
    model = DebriefModel(
        {**report, "score": score}, load_shipped_scenario("forced-service"), next_title="Other"
    )
    page.show_run(replace(model, is_analyzing=True))
    page.show()
    page.take_focus()
    assert "Looking for the biggest mistake…" in read_label_texts(page)
    page.update_run(replace(model, regret_analysis=RegretAnalysis((MISTAKE,), 50.0, None)))
    first = [b for b in page.findChildren(QPushButton) if b.property("primary") == "true" and b.isVisible()]
    assert [b.text().startswith(primary) for b in first] == [True]
    wanted = page.next_wanted if total == 100.0 else page.retry_wanted
    with qtbot.waitSignal(wanted, timeout=100):
        qtbot.keyClick(page, Qt.Key.Key_Return)


def test_single_keys_switch_tabs(qtbot: QtBot, page: DebriefView, report: Report) -> None:
    """The keyboard alone can operate the whole page."""
    model = DebriefModel(
        report,
        load_shipped_scenario("forced-service"),
        None,
        RegretAnalysis((MISTAKE,), 50.0, None),
        next_title="Other",
    )
    page.show_run(model)
    for key, signal in (
        (Qt.Key.Key_N, page.next_wanted), (Qt.Key.Key_L, page.learn_wanted), (Qt.Key.Key_R, page.retry_wanted),
        (Qt.Key.Key_V, page.new_seed_wanted), (Qt.Key.Key_Escape, page.leave_wanted),
    ):  # fmt: skip
        with qtbot.waitSignal(signal, timeout=100):
            qtbot.keyClick(page, key)
    tabs = page.findChildren(QTabWidget)[0]
    before = tabs.currentIndex()
    qtbot.keyClick(tabs, Qt.Key.Key_Tab, Qt.KeyboardModifier.ControlModifier)
    assert tabs.currentIndex() == before + 1


def test_a_finished_analysis_does_not_switch_the_tab(qtbot: QtBot, page: DebriefView, report: Report) -> None:
    """The open tab and the keyboard focus stay the same."""
    model = DebriefModel(report, load_shipped_scenario("forced-service"), is_analyzing=True)
    page.show_run(model)
    open_tab(page, POINTS)
    back_button = require(find_button(page, "Back to the start page"))
    back_button.setFocus()
    page.update_run(
        replace(model, regret_analysis=RegretAnalysis((MISTAKE,), 50.0, None), is_analyzing=False)
    )
    assert page.findChildren(QTabWidget)[0].currentIndex() == POINTS
    assert back_button.hasFocus()


@pytest.mark.qt_log_ignore(
    "This plugin does not support"
)  # The offscreen plugin logs this warning for tooltips.
def test_keys_step_through_the_markers_of_the_strip(qtbot: QtBot, page: DebriefView) -> None:
    open_tab(page, TIMELINE)
    strip = require(page.widget()).findChildren(TimelineStrip)[0]
    times = [marker.t_s for marker in strip.markers]
    qtbot.keyClick(strip, Qt.Key.Key_Left)
    qtbot.keyClick(strip, Qt.Key.Key_Left)
    with qtbot.waitSignal(strip.time_clicked, timeout=100) as blocker:
        qtbot.keyClick(strip, Qt.Key.Key_Return)
    assert blocker.args == [times[-2]]
    assert strip.accessibleDescription()
    focused_widget = require(page.widget()).focusWidget()
    assert isinstance(focused_widget, QPushButton)
    with qtbot.waitSignal(page.retry_wanted, timeout=100) as wanted:
        qtbot.keyClick(focused_widget, Qt.Key.Key_Space)
    at_s, begin_s = times[-2], require(wanted.args)[0]
    assert begin_s < at_s - 5.0, "one more key tries again, with time for a look before what happened there"
    assert focused_widget.text().startswith(
        f"Retry from {formatting.format_run_time(begin_s, 1)}, {at_s - begin_s:.0f} s before "
    )
    assert not focused_widget.visibleRegion().isEmpty(), "it has come into sight"


@pytest.mark.parametrize(
    ("points", "text"),
    [(12.0, "Without this mistake: downtime 4.00 s instead of 30.00 s."), (0.0, ""), (-5.0, "")],
)
def test_the_score_without_an_action_is_shown_where_better(points: float, text: str) -> None:
    outcomes = (OutcomeRow("downtime_s", 30.0, 4.0), OutcomeRow("lost_transactions", 0.0, 0.0))
    deed = ActionImpact(0, 100, "SET WITNESS OFF on SERVER_A", outcomes, points, ())
    assert mistakes.format_counterfactual(deed) == text


ACTION = Input(1000, "power-off", ("SERVER_B",))
LATE_INPUT = Input(5000, "power-on", ("SERVER_A",))
LAST_CHANCE = LastChance(
    1000, (LATE_INPUT,), 0, ACTION.line_without_time, (("SERVER_B serves", 6000), ("All is well", None))
)
"""Last chance that ends with the input ACT."""


def read_labels(parts: Sequence[QWidget]) -> str:
    labels = [label for part in parts for label in [part, *part.findChildren(QLabel)]]
    return "\n".join(label.text() for label in labels if isinstance(label, QLabel))


def show_parts(
    qtbot: QtBot,
    account: RegretAnalysis,
    retries: list[tuple[float, str]] | None = None,
    watch_plan: Callable[[SegmentWithBest], None] = print,
    choices: Mapping[str, Sequence[str]] = MappingProxyType({}),
    has_solution: bool = True,
    can_retry: bool = True,
    search_on: Callable[[], None] | None = None,
    refused_actions: Container[tuple[int, str]] = (),
) -> list[QWidget]:
    """Show the regret analysis *account*, and return its widgets. Each requested retry is appended to
    *retries*.
    """
    into = [] if retries is None else retries
    parts = build_regret_widgets(
        account, (), has_solution, can_retry, lambda *args: into.append(args), print, watch_plan, choices,
        continue_search=search_on, refused=refused_actions,
    )  # fmt: skip
    for part in parts:
        qtbot.addWidget(part)
    return parts


def test_the_run_is_compared_with_the_best_possible(qtbot: QtBot) -> None:
    """The page shows the curve, the costliest actions and waits in order of time, and the best continuations."""
    answer = Input(4000, "answer", ("whose-word", "2"))
    batch = Input(4500, "sql", ("SERVER_B", "SELECT\n  1"))
    moves = (
        RunSegment(0, 1000, WAITING, 100.0, 100.0, "best"),
        RunSegment(1000, 1000, ACTION.line_without_time, 100.0, 80.0, "blunder", (answer, batch, LATE_INPUT)),
        RunSegment(1000, 2000, WAITING, 80.0, 78.0, "good", (ACTION, LATE_INPUT), 1),
        RunSegment(2000, 3000, WAITING, 78.0, 75.5, "good", (ACTION, LATE_INPUT), 1),
        RunSegment(3000, 9000, WAITING, 75.5, 75.5, "best"),
    )
    assert [(move.until, move.regret) for move in merge_waits(moves)][-2:] == [(3000, 4.5), (9000, 0.0)]
    assert list(list_falling_parts(RegretAnalysis(moves, 60.0, None))) == [
        ("bad", [(1000, 100.0), (1000, 80.0)]),
        ("ok", [(1000, 80.0), (2000, 78.0), (2000, 78.0), (3000, 75.5)]),
    ], "an act falls in its own color, and a wait after it in another one"
    watched: list[SegmentWithBest] = []
    tried: list[tuple[float, str]] = []
    choices = {"whose-word": ["Mine.", "The witness's."]}
    refused = {(1000, ACTION.line_without_time)}
    parts = show_parts(
        qtbot,
        RegretAnalysis(moves, 60.0, LAST_CHANCE),
        tried,
        watched.append,
        choices,
        refused_actions=refused,
    )
    (curve,) = [part for part in parts if isinstance(part, ValueCurve)]
    assert "0:10.0  SERVER_B ▸ Power off, refused by the server" in curve.format_tip(1000, moves[1])
    assert curve.accessibleDescription().count("points") == 4
    labels = read_labels(parts)
    assert "0:40.0\nanswer “The witness's”\n0:45.0\nSELECT 1 on SERVER_B" in labels
    assert labels.index("0:10.0  SERVER_B ▸ Power off, refused by the server") < labels.index(
        "0:10.0 to 0:30.0  waiting"
    )
    pressed = [b for part in parts for b in part.findChildren(QPushButton)]
    look = [b for b in pressed if b.text().startswith("Watch")]
    qtbot.mouseClick(look[2], Qt.MouseButton.LeftButton)
    assert [item.line_without_time for item in watched[0].plan[1:]] == ["power-on SERVER_A"]
    qtbot.mouseClick(pressed[pressed.index(look[2]) + 1], Qt.MouseButton.LeftButton)
    assert tried == [(10.01, "You have 40 s until 0:50.0: best continuation: SERVER_A ▸ Power on.")]


@pytest.mark.parametrize("equal_texts", [True, False])
def test_the_last_chance_is_shown_watched_and_retried(qtbot: QtBot, equal_texts: bool) -> None:
    """The last chance has its own text if its plan differs from the plan after the mistake."""
    moves = (
        RunSegment(
            1000,
            1000,
            ACTION.line_without_time,
            100.0,
            80.0,
            "blunder",
            (LATE_INPUT,) if equal_texts else (ACTION, LATE_INPUT),
        ),
    )
    watched: list[SegmentWithBest] = []
    tried: list[tuple[float, str]] = []
    parts = show_parts(qtbot, RegretAnalysis(moves, 60.0, LAST_CHANCE), tried, watched.append)
    labels = read_labels(parts)
    assert ("Point of no return: last chance to meet all goals." in labels) is equal_texts
    note = "0:10.0  point of no return: SERVER_B ▸ Power off\nUp to this time, these steps would have met all goals"
    assert (note in labels) is not equal_texts
    assert "0:50.0\nSERVER_A ▸ Power on" in labels
    assert "After this action, these steps no longer meet “SERVER_B serves” by 1:00, “All is well”." in labels
    pressed = [b for part in parts for b in part.findChildren(QPushButton)]
    look = next(
        b for b in pressed if b.text() == f"Watch the {'best continuation' if equal_texts else 'last chance'}"
    )
    qtbot.mouseClick(look, Qt.MouseButton.LeftButton)
    assert watched == [moves[0] if equal_texts else LAST_CHANCE]
    qtbot.mouseClick(pressed[pressed.index(look) + 1], Qt.MouseButton.LeftButton)
    begin_s, steps = tried[0]
    assert begin_s == 0.0, "a start later than that would be too late to type"
    assert steps == "You have 10 s until 0:10.0: your next action was SERVER_B ▸ Power off."


def test_a_last_chance_lost_by_time_names_its_action_and_end(qtbot: QtBot) -> None:
    chance = LastChance(5000, (ACTION, LATE_INPUT), 1, WAITING, (("SERVER_B serves", 6000),))
    tried: list[tuple[float, str]] = []
    for can_retry in (True, False):
        parts = show_parts(qtbot, RegretAnalysis((), 60.0, chance), tried, can_retry=can_retry)
        if can_retry:
            _, retry = [b for part in parts for b in part.findChildren(QPushButton)]
            qtbot.mouseClick(retry, Qt.MouseButton.LeftButton)
    ((begin_s, steps),) = tried
    assert begin_s < 50.0 - QUERY_S
    assert steps.endswith(" until 0:50.0: last chance to meet all goals: SERVER_A ▸ Power on.")
    labels = read_labels(parts)
    assert "If these steps begin one second later, they no longer meet “SERVER_B serves” by 1:00." in labels
    assert not [b for part in parts for b in part.findChildren(QPushButton)], "nothing can be tried again"


def test_a_missed_last_chance_is_described(qtbot: QtBot) -> None:
    """The page labels the wait as the missed last chance, because "waiting" would not explain the loss."""
    wait = RunSegment(5000, 5100, WAITING, 80.0, 20.0, "blunder", (ACTION, LATE_INPUT), 1)
    chance = LastChance(5000, (ACTION, LATE_INPUT), 1, WAITING, (("SERVER_B serves", 6000),))
    parts = show_parts(qtbot, RegretAnalysis((wait,), 60.0, chance))
    labels = read_labels(parts)
    assert "0:50.0  last chance missed" in labels
    assert "waiting\n" not in labels
    (curve,) = [part for part in parts if isinstance(part, ValueCurve)]
    assert "0:50.0  last chance missed" in curve.format_tip(5050, wait)


@pytest.mark.parametrize(
    ("doubt", "text", "offered"),
    [
        (None, "Proven: at no time was a higher score possible than the line shows.", False),
        (
            BoundGap(5000, 80.0, 95.5),
            "At 0:50.0 the best known score is 80 points; up to 95.5 may be possible.",
            True,
        ),
    ],
)
def test_the_debrief_states_whether_more_was_possible(
    qtbot: QtBot, doubt: BoundGap | None, text: str, offered: bool
) -> None:
    wait = RunSegment(5000, 5100, WAITING, 80.0, 20.0, "blunder", (ACTION,), 1)
    requests: list[bool] = []
    account = RegretAnalysis((wait,), 60.0, None, doubt)
    for working in (False, True):
        request_more = partial(requests.append, True)
        parts = show_parts(qtbot, account, search_on=None if working else request_more)
        assert text in read_labels(parts)
        buttons = [b for part in parts for b in part.findChildren(QPushButton) if b.text() == "Search longer"]
        assert bool(buttons) is (offered and not working)
        for button in buttons:
            button.click()
    assert requests == [True] * offered


def test_a_point_of_the_curve_is_described_and_selected(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By pointer and by keys, the curve shows the reachable score, the loss and the time of a retry."""
    act = Input(1000, "power-off", ("SERVER_B",))
    moves = (
        RunSegment(0, 1000, WAITING, 100.0, 100.0, "best"),
        RunSegment(1000, 1000, act.line_without_time, 100.0, 80.0, "blunder", (act,)),
        RunSegment(1000, 3000, WAITING, 80.0, 60.0, "blunder", (act,), 1),
    )
    curve = ValueCurve(RegretAnalysis(moves, 60.0, LAST_CHANCE), {})
    qtbot.addWidget(curve)
    curve.resize(curve.sizeHint())
    curve.show()
    middle = curve.compute_point(2000, 0.0).toPoint()
    assert curve.format_tip(2000, moves[2]).splitlines() == [
        "0:20.0: 70 points still possible", "0:10.0 to 0:30.0  waiting", "blunder: 20 points lost",
    ]  # fmt: skip
    with qtbot.waitSignal(curve.time_clicked) as blocker:
        qtbot.mouseClick(curve, Qt.MouseButton.LeftButton, pos=middle)
    assert blocker.args is not None
    assert blocker.args[0] == pytest.approx(20.0, abs=0.1)
    with qtbot.waitSignal(curve.time_clicked) as blocker:
        qtbot.mouseClick(curve, Qt.MouseButton.LeftButton, pos=curve.compute_point(1000, 0.0).toPoint())
    assert blocker.args == [10.0], "near an act it is meant"
    tooltips: list[str] = []
    monkeypatch.setattr(QToolTip, "showText", lambda _, text, *args: tooltips.append(text))
    curve.setFocus()
    qtbot.keyClick(curve, Qt.Key.Key_Return)
    qtbot.keyClick(curve, Qt.Key.Key_Right)
    with qtbot.waitSignal(curve.time_clicked) as blocker:
        qtbot.keyClick(curve, Qt.Key.Key_Return)
    assert blocker.args == [10.0]
    assert [text.splitlines()[1] for text in tooltips] == ["0:10.0  SERVER_B ▸ Power off"]
    assert curve.format_tip(1000, moves[1]).splitlines()[-1] == "point of no return at 0:10.0"


def test_no_loss_of_the_curve_covers_the_point_of_no_return(qtbot: QtBot) -> None:
    """A small first loss is near the top of the curve, where the label of the point of no return is."""
    act = Input(1000, "power-off", ("SERVER_B",))
    moves = (
        RunSegment(0, 1000, WAITING, 100.0, 100.0, "best"),
        RunSegment(1000, 1000, act.line_without_time, 100.0, 94.0, "inaccuracy", (act,)),
        RunSegment(1000, 3000, WAITING, 94.0, 94.0, "best", (act,)),
    )
    curve = ValueCurve(RegretAnalysis(moves, 60.0, LAST_CHANCE), {})
    qtbot.addWidget(curve)
    curve.resize(curve.sizeHint())
    curve.show()
    boxes = {text.content: text.box for text in painted.list_texts(curve)}
    assert not boxes["−6"].intersects(boxes["point of no return at 0:10.0"])


def test_without_a_solution_the_curve_states_its_limits(qtbot: QtBot) -> None:
    account = RegretAnalysis((RunSegment(0, 1000, WAITING, 10.0, 10.0, "best"),), 100.0, None)
    assert "No better continuation is known" in read_labels(show_parts(qtbot, account, has_solution=False))
    assert "No better continuation is known" not in read_labels(show_parts(qtbot, account))


def test_the_point_of_no_return_is_on_the_timeline(page: DebriefView, report: Report) -> None:
    def list_mark_kinds() -> list[str]:
        open_tab(page, TIMELINE)
        return [marker.kind for marker in require(page.findChild(TimelineStrip)).markers]

    assert "no-return" not in list_mark_kinds()
    page.show_run(
        DebriefModel(
            report, load_shipped_scenario("forced-service"), None, RegretAnalysis((), 60.0, LAST_CHANCE)
        )
    )
    assert list_mark_kinds().count("no-return") == 1
    (mark,) = [
        marker for marker in require(page.findChild(TimelineStrip)).markers if marker.kind == "no-return"
    ]
    assert (mark.t_s, mark.text) == (10.0, "last chance to meet all goals: SERVER_A ▸ Power on")


def test_the_legend_wraps_to_as_many_lines_as_needed(qtbot: QtBot) -> None:
    legend = ValueCurveLegend()
    qtbot.addWidget(legend)
    assert legend.heightForWidth(300) > legend.heightForWidth(2000)


def test_a_font_change_deletes_no_widget_at_once(qtbot: QtBot, report: Report) -> None:
    """Qt crashed on deleted widgets when the user enlarged the text before the first run."""
    page = DebriefView()
    qtbot.addWidget(page)
    for model in (None, DebriefModel(report, load_shipped_scenario("forced-service"))):
        if model is not None:
            page.show_run(model)
        before = page.findChildren(QPushButton)
        assert before
        font = page.font()
        font.setPointSizeF(font.pointSizeF() * 1.5)
        page.setFont(font)
        assert all(shiboken6.isValid(button) for button in before)


@pytest.mark.parametrize("width", [1366, 1000, 700])
def test_a_long_title_of_the_next_drill_fits_the_page(qtbot: QtBot, report: Report, width: int) -> None:
    """With little space, the page first hides the hint about keys, then stacks the buttons."""
    page = DebriefView()
    qtbot.addWidget(page)
    page.resize(width, 700)
    account = RegretAnalysis((MISTAKE,), 50.0, None)
    title = "Re-establish a removed mirroring session after a site was lost"
    page.show_run(
        DebriefModel(report, load_shipped_scenario("forced-service"), None, account, next_title=title)
    )
    page.show()
    QApplication.processEvents()
    assert require(page.widget()).width() <= page.viewport().width()
    first = require(find_button(page, f"Next: {title}"))
    assert first.mapTo(page, first.rect().bottomRight()).x() <= page.viewport().width()
