"""Tests of the fidelity page: background computation of rows, filters, counts, charts, and an orderly end."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from PySide6.QtCore import QThread
from PySide6.QtSvg import QSvgRenderer

from app.views.fidelity import FidelityView
from app.views.fidelity.fidelity import (
    FidelityStep,
    FidelityWorker,
    StepResult,
    build_figures,
    list_fidelity_steps,
)
from app.views.fidelity.report import UNIT_TEXTS, FigurePanelDrawing, get_step_name
from app.widgets import theme
from app.words import language
from engine.planning.figures import FIGURE_BUILDERS, Figure, FigureLine, FigurePanel
from engine.published.fidelity import SECTIONS
from engine.published.figure_rows import FigureClass, FigureRow
from engine.tables import read_table

FIRST, SECOND = list(SECTIONS)[:2]


def build_row(id: str, section: str = FIRST, **changes: Any) -> FigureRow:
    fields: dict[str, Any] = {
        "id": id, "section": section, "source": "A paper (2006), table 2a", "what": "transactions / sec",
        "published": 241.0, "ours": 240.9, "unit": "1/s", "kind": FigureClass.CALIBRATED, "verdict": "pass",
        "error_percent": -0.04,
    }  # fmt: skip
    return FigureRow(**(fields | changes))


GOOD_ROW = build_row("T2a.tps.NONE")
BAD_ROW = build_row(
    "T3a.writes.OFF",
    kind=FigureClass.PREDICTED,
    verdict="fail",
    error_percent=27.7,
    reason="Bursts, one fewer",
)
TEXT_ROW = build_row("F8.below20", SECOND, published="minimal change", ours="0.5 % <fewer>", unit="",
            kind=FigureClass.STATEMENT, error_percent=None)  # fmt: skip
CURVE = Figure(
    "Figure 8: round trip",
    "A paper",
    "Little.",
    "ms",
    (FigurePanel("Time", "s", (FigureLine("Mirrordrill", (1, 10), (2, 3)),)),),
)


def build_steps(*results: StepResult) -> Callable[[], tuple[FidelityStep, ...]]:
    def build_step(number: int, result: StepResult) -> FidelityStep:
        return FidelityStep(f"step {number}", lambda: result)

    return lambda: tuple(build_step(number, result) for number, result in enumerate(results))


@pytest.fixture
def open_page(qtbot: Any) -> Iterator[Callable[..., FidelityView]]:
    pages = []

    def build_page(*results: StepResult) -> FidelityView:
        page = FidelityView(todo=build_steps(*results))
        qtbot.addWidget(page)
        pages.append(page)
        page.resize(1100, 600)
        with qtbot.waitSignal(page.worker.finished):
            page.show()
        return page

    yield build_page
    for page in pages:
        page.close()
        assert not page.worker.isRunning()


@pytest.fixture
def page(open_page: Callable[..., FidelityView]) -> FidelityView:
    # The page computes the second section first, because it is fast.
    return open_page(
        StepResult(rows=(TEXT_ROW,)),
        StepResult(figures=(("Figure 8", CURVE),)),
        StepResult(rows=(GOOD_ROW, BAD_ROW)),
    )


def list_row_ids(page: FidelityView) -> list[str]:
    return [row.id for row in page.filter_rows()]


def read_page(page: FidelityView) -> str:
    page.show_selected_part()
    return page.page.toPlainText()


def test_rows_follow_the_section_order_with_counts(page: FidelityView) -> None:
    assert list_row_ids(page) == [GOOD_ROW.id, BAD_ROW.id, TEXT_ROW.id]
    assert "3 rows: 2 pass, 1 fail" in page.summary.text()
    assert "failures with a known reason: 1" in page.summary.text()
    texts = [page.parts.item(place).text() for place in range(4)]
    assert [text.split("\n")[1] for text in texts] == [
        "2 of 3 pass, 1 fail", "1 of 2 pass, 1 fail", "1 of 1 pass", "…",
    ]  # fmt: skip
    assert not page.progress.isVisible()


def test_the_page_shows_cells_reason_and_section_of_each_row(page: FidelityView) -> None:
    text = read_page(page)
    assert (
        text.index(FIRST)
        < text.index(GOOD_ROW.id)
        < text.index(BAD_ROW.id)
        < text.index(SECOND)
        < text.index(TEXT_ROW.id)
    )
    for part in ("transactions / sec", "241 1/s", "240.9 1/s", "0.0%", "calibrated", "table 2a", "✕", "+27.7%",
                 "predicted", "Bursts, one fewer", "minimal change", "0.5 % <fewer>"):  # fmt: skip
        assert part in text
    assert page.page.document().find("table 2a").charFormat().toolTip() == "A paper (2006), table 2a"


def test_filters_narrow_and_combine(page: FidelityView) -> None:
    page.parts.setCurrentRow(1)
    assert list_row_ids(page) == [GOOD_ROW.id, BAD_ROW.id]
    page.verdict.setCurrentText("Fail")
    assert list_row_ids(page) == [BAD_ROW.id]
    page.show_selected_part()
    assert page.shown.text() == "1 of 3 rows"
    page.verdict.setCurrentIndex(0)
    page.kind.setCurrentText("Calibrated")
    assert list_row_ids(page) == [GOOD_ROW.id]
    page.parts.setCurrentRow(2)
    assert list_row_ids(page) == []
    page.kind.setCurrentIndex(0)
    page.parts.setCurrentRow(0)
    page.search.setText("bursts FEWER")
    assert list_row_ids(page) == [BAD_ROW.id]
    page.search.setText("")
    assert len(list_row_ids(page)) == 3


def test_rows_that_arrive_later_are_filtered(open_page: Callable[..., FidelityView]) -> None:
    page = open_page(StepResult(rows=(GOOD_ROW,)))
    page.verdict.setCurrentText("Fail")
    assert list_row_ids(page) == []
    page.worker.result_ready.emit(StepResult(rows=(BAD_ROW, build_row("T2a.cpu"))))
    assert list_row_ids(page) == [BAD_ROW.id]


def test_a_section_with_an_unexplained_failure_stands_out_more(
    open_page: Callable[..., FidelityView],
) -> None:
    page = open_page(StepResult(rows=(BAD_ROW, TEXT_ROW)))
    colors = theme.get_theme_tokens(page.palette())
    assert page.parts.item(1).foreground().color() == colors.warn
    page.worker.result_ready.emit(
        StepResult(rows=(build_row("T3a.new", verdict="fail", error_percent=50.0),))
    )
    assert page.parts.item(1).foreground().color() == colors.bad
    assert page.parts.item(2).foreground().color() == colors.text


def test_figures_follow_the_papers_order_and_are_drawn(page: FidelityView) -> None:
    assert page.figure_names == ["All errors", "Figure 8"]
    page.parts.setCurrentRow(page.parts.count() - 1)
    page.worker.result_ready.emit(StepResult())
    assert "Figure 8: round trip" in read_page(page), "the selected figure stays selected"
    assert "Mirrordrill" in page.page.toPlainText()
    assert page.page.toHtml().count("<img") == 1


def test_stopping_keeps_the_rest_for_later(qtbot: Any) -> None:
    calls: list[int] = []

    def run_first_step() -> StepResult:
        calls.append(1)
        QThread.currentThread().requestInterruption()
        return StepResult(rows=(GOOD_ROW,))

    def record_second() -> StepResult:
        calls.append(2)
        return StepResult(rows=(TEXT_ROW,))

    page: FidelityView = FidelityView(
        todo=lambda: (FidelityStep("first", run_first_step), FidelityStep("second", record_second))
    )
    qtbot.addWidget(page)
    with qtbot.waitSignal(page.worker.finished):
        page.show()
    assert calls == [1]
    assert not page.worker.is_complete
    assert "Stopped" in page.summary.text()
    page.hide()
    with qtbot.waitSignal(page.worker.finished):
        page.show()
    assert calls == [1, 2]
    assert page.worker.is_complete
    assert list_row_ids(page) == [GOOD_ROW.id, TEXT_ROW.id]


def test_closing_waits_for_the_current_step(qtbot: Any) -> None:
    results: list[bool] = []

    def run_until_interrupted() -> StepResult:
        while not QThread.currentThread().isInterruptionRequested():
            QThread.yieldCurrentThread()
        results.append(True)
        return StepResult()

    page = FidelityView(
        todo=lambda: (FidelityStep("long", run_until_interrupted), FidelityStep("never", pytest.fail))
    )
    qtbot.addWidget(page)
    with qtbot.waitSignal(page.worker.step_started):
        page.show()
    page.close()
    assert results == [True]
    assert not page.worker.isRunning()


def test_steps_cover_all_sections_and_figures_failovers_last() -> None:
    names = [step.name for step in list_fidelity_steps()]
    assert set(SECTIONS) | set(FIGURE_BUILDERS) <= set(names)
    assert len(names) == len(SECTIONS) + len(FIGURE_BUILDERS) + 12
    assert "failover" in names[-1]


def test_a_real_section_includes_its_reasons() -> None:
    (step,) = [step for step in list_fidelity_steps() if step.name == "Bandwidth"]
    rows = step.compute().rows
    assert {row.section for row in rows} == {"Bandwidth"}
    assert all(row.reason for row in rows if row.verdict == "fail")
    work = FidelityWorker((step,))
    work.run()
    assert work.is_complete


def test_every_unit_of_a_figure_is_known_and_each_panel_is_drawn() -> None:
    cheap = [name for name in FIGURE_BUILDERS if name not in ("Figure 1", "Figure 4")]
    figures = [FIGURE_BUILDERS[name]() for name in cheap]
    assert {panel.unit for figure in figures for panel in figure.panels} | {"min", "h"} <= set(UNIT_TEXTS)
    for figure in figures:
        for panel in figure.panels:
            svg = FigurePanelDrawing(figure, panel, theme.build_light_theme(), (600, 400), 14).draw()
            assert QSvgRenderer(svg.encode()).isValid()
            assert not re.search(r"\bnan\b|\binf\b", svg)
            curves = sum(not line.has_points for line in panel.lines)
            assert svg.count("<polyline") == curves


def test_figures_are_drawn_for_the_papers_of_the_given_rows() -> None:
    failovers = [
        build_row(f"T6.{cause}.{load}", unit="s", published=3.0, ours=3.1, band=(2.5, 3.5))
        for cause in ("manual", "power-off")
        for load in ("idle", "loaded")
    ]
    many_rows = [
        build_row(f"MANY.{n}.{name}", published=n, ours=1.5 * n)
        for n in (20, 100)
        for name in ("tps", "cpu", "mirror-cpu")
    ]
    figures = build_figures([GOOD_ROW, BAD_ROW, TEXT_ROW, *failovers, *many_rows])
    errors = {line.name: line for line in figures["All errors"].panels[0].lines}
    assert errors["predicted"].y == (27.7,)
    assert errors["predicted"].x == (2.0,)
    table = figures["Table 6"]
    assert table.categories == ("manual", "power-off")
    assert [line.spread for line in table.panels[0].lines if not line.is_measured] == [((2.5, 3.5),) * 2] * 2
    ours, published = figures["Many databases"].panels[0].lines
    assert (ours.x, ours.y, published.y) == ((20.0, 100.0), (30.0, 150.0), (20.0, 100.0))
    assert build_figures([TEXT_ROW]) == {}


def test_the_report_follows_a_theme_change(page: FidelityView, qapp: Any) -> None:
    for choice, scale in (
        (theme.DARK_THEME, 1.0),
        (theme.HIGH_CONTRAST_THEME, 1.5),
        (theme.LIGHT_THEME, 1.0),
    ):
        colors = theme.apply_theme_choice(qapp, choice, scale)
        page.parts.setCurrentRow(0)
        page.show_selected_part()
        assert colors.bad.name() in page.page.toHtml()


def test_the_texts_of_the_comparison_are_translated() -> None:
    """The table of translations contains the section titles and the texts of the figures that are drawn
    first.
    """
    shown_texts = set(SECTIONS)
    for name in ("Figure 6", "Figure 8", "Figure 11", "Compression, OFF"):
        figure = FIGURE_BUILDERS[name]()
        shown_texts |= {figure.conclusion, *figure.categories} | ({figure.x_title} - {""})
        for panel in figure.panels:
            shown_texts |= {panel.title, *(line.name for line in panel.lines if not line.is_measured)}
    assert shown_texts <= {row["text"] for row in read_table("app.views.fidelity", "display_names.tsv")}


def test_the_current_step_is_named_in_german() -> None:
    language.use_language(language.GERMAN)
    try:
        named = [get_step_name(step.name) for step in list_fidelity_steps()]
    finally:
        language.use_language(language.ENGLISH)
    assert "manuelle Failover" in named
    assert "Failover nach power-off" in named
    assert not any("failovers" in name or name in SECTIONS for name in named)
