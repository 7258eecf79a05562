"""Tests of the timing panel: phases that add up, the matching row of Table 6, and a text if no row matches."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QFont, QFontMetrics
from PySide6.QtWidgets import QApplication, QLabel

from app.view_models.failover_moment.phases import PHASES as PHASES_OF
from app.views.timing import NO_FAILOVER_TEXT, TimingPanel
from app.widgets.tables import TableView
from app.words.language import tr
from engine.model import Failover
from engine.published.whitepaper_failover import PUBLISHED_FAILOVER_TIMES_S
from tests.children import find_child
from tests.engine.worlds import P, build_lab, play_script

STEPS = ("detected", "redo_done", "decided", "online", "undo_done")
PHASES = PHASES_OF["mirroring"][:-1]


def build_failover(
    kind: str, cause: str, failed_tick: int, *ticks: int, load: bool = True, reason: str = ""
) -> Failover:
    """Return a failover after a failure at *failed_tick*. *ticks* are the durations between consecutive
    steps.
    """
    steps, tick = {}, failed_tick
    for name, duration in zip(STEPS, ticks, strict=False):
        tick += duration
        steps[f"{name}_tick"] = tick
    return Failover(
        guid=1, database="Sales", kind=kind, cause=cause, from_server="SERVER_A", to_server="SERVER_B",
        under_load=load, failed_tick=failed_tick, why=reason, **steps,
    )  # fmt: skip


@pytest.fixture
def timing(qtbot: Any) -> TimingPanel:
    timing = TimingPanel()
    qtbot.addWidget(timing)
    timing.resize(640, 320)
    timing.show()
    return timing


def list_cells(model: Any) -> list[list[str]]:
    return [[model.index(r, c).data() for c in range(model.columnCount())] for r in range(model.rowCount())]


def test_a_time_of_two_digits_fits_its_bold_column(timing: TimingPanel) -> None:
    """The panel used to show "19.…" seconds for the failover of an instance."""
    bold = QFont(timing.table.font())
    bold.setBold(True)
    assert timing.table.columnWidth(2) > QFontMetrics(bold).horizontalAdvance("59.99 s")


def test_a_failover_is_shown_in_phases_next_to_its_published_row(timing: TimingPanel, run: Any) -> None:
    run.world.failovers = [build_failover("automatic", "power-off", 4100, 82, 4, 101, 160, 40)]
    run.published = {0: (2.6, "Table 6")}
    timing.show_drill(run)
    assert list_cells(timing.model)[0][0] == "0:41  Sales: automatic, power-off"
    assert list_cells(timing.model)[0][2] == "2.65 s"
    assert list_cells(timing.steps) == [
        ["Detection", "0.82 s", "0.82 s"],
        ["Redo", "0.86 s", "0.04 s"],
        ["Quorum vote", "1.87 s", "1.01 s"],
        ["Role change", "3.47 s", "1.60 s"],
        ["Undo", "3.87 s", "0.40 s"],
    ]
    assert timing.steps.index(0, 0).data(Qt.ItemDataRole.ToolTipRole) == "at 0:41.82"
    assert list_cells(timing.comparison) == [
        ["Published", "2.2 s", "2.6 s"],
        ["This run", "–", "2.65 s"],
        ["Difference", "–", "+1.9%"],
    ]
    assert "Power OFF principal server" in timing.verdict.text()
    for kind in PHASES:
        assert kind.name.replace(" ", "&nbsp;") in find_child(timing.phases, QLabel).text()


def test_tables_are_stacked_without_room(timing: TimingPanel, run: Any) -> None:
    run.world.failovers = [build_failover("automatic", "power-off", 4100, 82, 4, 101, 160, 40)]
    timing.show_drill(run)
    steps, published = (
        next(view for view in timing.findChildren(TableView) if view.accessibleName() == name)
        for name in ("Steps of the failover", "Published times")
    )
    lefts = []
    for lines in (40, 20):
        timing.resize(lines * timing.fontMetrics().height(), 320)
        QApplication.processEvents()
        lefts.append(published.mapTo(timing, QPoint()).x() - steps.mapTo(timing, QPoint()).x())
    assert lefts[0] > 0
    assert lefts[1] == 0


def test_without_load_the_other_column_is_compared(timing: TimingPanel, run: Any) -> None:
    run.world.failovers = [build_failover("manual", "manual", 0, 0, 10, 1500, 500, 0, load=False)]
    run.published = {0: (20.5, "Table 6")}
    timing.show_drill(run)
    assert list_cells(timing.comparison) == [
        ["Published", "20.5 s", "32.2 s"],
        ["This run", "20.10 s", "–"],
        ["Difference", "-2.0%", "–"],
    ]


def test_incomparable_conditions_are_refused_with_a_reason(timing: TimingPanel, run: Any) -> None:
    run.world.failovers = [build_failover("automatic", "power-off", 4100, 82, 4, 101, 160, 40)]
    run.unlike = {0: "the paper measured with Workload1, not Workload2"}
    timing.show_drill(run)
    assert timing.verdict.text() == "Not compared: the paper measured with Workload1, not Workload2."
    assert [row[1:] for row in list_cells(timing.comparison)[1:]] == [["–", "–"], ["–", "–"]]


def test_a_cause_missing_in_the_table_is_labeled(timing: TimingPanel, run: Any) -> None:
    run.world.failovers = [build_failover("forced", "cut", 4100, 82, 4, 101, 160, 40)]
    run.unlike = {0: "the published table has no row for this cause (cut)"}
    timing.show_drill(run)
    assert list_cells(timing.comparison) == []
    assert "no row for this cause" in timing.verdict.text()


def test_a_phase_in_progress_grows(timing: TimingPanel, run: Any) -> None:
    run.world.failovers = [build_failover("automatic", "power-off", 1000, 82)]
    run.world.tick = 1100
    timing.show_drill(run)
    assert timing.selected_row is not None
    assert list(timing.selected_row.begun_phases) == [(PHASES[0], 82, True), (PHASES[1], 18, False)]
    run.world.tick = 1150
    timing.show_world(run.world)
    assert list(timing.selected_row.begun_phases)[-1] == (PHASES[1], 68, False)
    assert list_cells(timing.model)[0][2] == "–"


def test_a_new_failover_is_listed_first_and_selected(timing: TimingPanel, run: Any) -> None:
    timing.show_drill(run)
    assert not timing.table.isVisibleTo(timing)  # Without failovers, a sentence replaces the empty tables.
    assert any(
        label.text() == tr(NO_FAILOVER_TEXT)
        for label in timing.findChildren(QLabel)
        if label.isVisibleTo(timing)
    )
    first = build_failover("automatic", "power-off", 1000, 82, 4, 101, 160, 40)
    run.world.failovers = [first]
    timing.show_world(run.world)
    run.world.failovers = [
        first,
        build_failover("manual", "manual", 9000, 0, 10, 1500, reason="mirroring was removed"),
    ]
    timing.show_world(run.world)
    assert [row[0] for row in list_cells(timing.model)] == [
        "1:30  Sales: manual",
        "0:10  Sales: automatic, power-off",
    ]
    assert timing.selected_row is not None
    assert timing.selected_row.failover.kind == "manual"
    assert timing.verdict.text() == "Not compared: the attempt failed (mirroring was removed)."


def test_arrow_keys_step_through_the_list(qtbot: Any, timing: TimingPanel, run: Any) -> None:
    run.world.failovers = [
        build_failover("automatic", "power-off", start_tick, 82, 4, 101, 160, 40)
        for start_tick in (1000, 9000)
    ]
    timing.show_drill(run)
    timing.table.setFocus()
    qtbot.keyClick(timing.table, Qt.Key.Key_Down)
    assert timing.steps.index(0, 0).data(Qt.ItemDataRole.ToolTipRole) == "at 0:10.82"


def test_another_time_hides_later_failovers(timing: TimingPanel, run: Any) -> None:
    run.world.failovers = [build_failover("automatic", "power-off", 1000, 82, 4, 101, 160, 40)]
    timing.show_drill(run)
    run.world.failovers = []
    timing.show_drill(run)
    assert list_cells(timing.model) == []
    assert list_cells(timing.steps) == []


@pytest.mark.parametrize("cause", ["power-off", "pull-cable"])
def test_every_failover_of_the_engine_can_be_shown(timing: TimingPanel, run: Any, cause: str) -> None:
    """The steps of an engine failover are in order, and the total time matches the kind of failover in the
    whitepaper.
    """
    world = build_lab()
    play_script(world, f"5 {cause} {P}", 30.0)
    run.world = world
    run.published = {0: (PUBLISHED_FAILOVER_TIMES_S[cause][2], "Table 6")}
    timing.show_drill(run)
    assert timing.selected_row is not None
    assert [ticks >= 0 for _, ticks, _ in timing.selected_row.begun_phases] == [True] * len(PHASES)
    took_s = (
        sum(
            ticks
            for kind, ticks, _ in timing.selected_row.begun_phases
            if kind.name not in ("Detection", "Undo")
        )
        / 100
    )
    assert timing.selected_row.failover_s == pytest.approx(took_s)
    assert abs(timing.selected_row.difference or 1.0) < 0.5
