"""Tests of the link planner: fields form a plan, curves are sweeps of this plan, sentences are its findings."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtWidgets import QApplication, QLabel

from app.views.planner import LinkPlanner
from app.views.planner.controls import (
    CUSTOM_VALUES_LABEL,
    SAFETY_CHOICES,
    LogSlider,
    NumberBox,
    PlannerControls,
)
from app.widgets import theme
from app.words import language
from engine.drill.judging.sweep import FAULT_VERBS
from engine.flow import SafetyMode
from engine.planning import NETWORK_RTT_RANGES_MS, SWEPT_RTTS_MS, PlanGoals, list_findings, sweep_rtt
from tests import painted


def choose_safety_off(controls: PlannerControls) -> None:
    controls.safety.button([mode for _, mode in SAFETY_CHOICES].index(SafetyMode.OFF)).click()


@pytest.fixture
def planner(qtbot: Any) -> LinkPlanner:
    planner = LinkPlanner()
    qtbot.addWidget(planner)
    planner.resize(1240, 680)
    planner.show()
    run_timers(planner)
    return planner


def run_timers(planner: LinkPlanner) -> None:
    """Fire the timers that wait for a pause in the user's input."""
    planner.draw_curves()
    planner.write_findings()


def list_heights(planner: LinkPlanner, counter: str, axis: str, mode: SafetyMode) -> Any:
    return planner.curves.cells[counter, axis].curves[mode].getData()[1]


def test_the_planner_opens_with_the_papers_local_network(planner: LinkPlanner) -> None:
    assert planner.plan is not None
    curve = sweep_rtt(planner.plan, SWEPT_RTTS_MS)
    assert planner.plan.workload.name == "Workload1"
    assert list_heights(planner, "transactions_per_s", "rtt_ms", SafetyMode.FULL) == pytest.approx(
        curve.read_column("transactions_per_s")
    )
    assert planner.findings.text.startswith("Safety level: Both safety levels meet the goals")
    assert "Figure 8" in planner.notes[0].text()
    assert "measured, Tables 2a, 2b" in planner.notes[0].text()


@pytest.mark.slow
def test_dragging_a_slider_updates_mark_curves_and_then_findings(planner: LinkPlanner) -> None:
    before = planner.findings.text
    planner.controls.rtt.slider.setValue(planner.controls.rtt.compute_position(100.0))
    assert planner.curves_timer.isActive()
    assert planner.findings_timer.isActive()
    planner.draw_curves()
    assert not planner.curves_timer.isActive()
    cell = planner.curves.cells["transactions_per_s", "rtt_ms"]
    assert 10.0 ** cell.plan_line.value() == pytest.approx(100.0, rel=0.02)
    assert cell.dots[SafetyMode.FULL].getData()[1][0] < 215.0
    assert max(list_heights(planner, "transactions_per_s", "bandwidth_mbps", SafetyMode.FULL)) < 215.0
    assert planner.findings.text == before
    planner.write_findings()
    assert planner.findings.text.startswith("Safety level: Neither level meets the goals")


def test_curves_follow_during_a_drag(planner: LinkPlanner) -> None:
    planner.controls.rtt.set_value(10.0)
    remaining_ms = planner.curves_timer.remainingTime()
    planner.controls.rtt.set_value(11.0)
    assert planner.curves_timer.remainingTime() <= remaining_ms


@pytest.mark.slow
def test_findings_match_the_shown_plan_even_with_pending_curves(planner: LinkPlanner) -> None:
    planner.controls.bandwidth.set_value(1.0)
    planner.write_findings()
    assert planner.plan is not None
    assert planner.plan.bandwidth_mbps == 1.0
    assert planner.findings.text.startswith(f"Safety level: {list_findings(planner.plan)[0].text}")


@pytest.mark.slow
def test_the_mark_can_be_dragged_in_the_plot(planner: LinkPlanner) -> None:
    planner.curves.cells["response_s", "bandwidth_mbps"].dragged.emit(12.3456)
    planner.curves.cells["response_s", "rtt_ms"].dragged.emit(33.333)
    run_timers(planner)
    assert planner.plan is not None
    assert (planner.plan.bandwidth_mbps, planner.plan.rtt_ms) == (12.3, 33.3)


def test_every_field_reaches_the_plan_or_the_goals(planner: LinkPlanner) -> None:
    controls = planner.controls
    controls.workload.setCurrentIndex(1)
    choose_safety_off(controls)
    controls.scale.set_value(0.5)
    controls.packet_loss.setValue(0.1)
    controls.version.setCurrentIndex(controls.version.findData(2012))
    controls.compression.setChecked(True)
    controls.ratio.setValue(40.0)
    controls.encryption.setChecked(False)
    controls.log_volume.setValue(80.0)
    plan = controls.build_plan()
    assert (plan.workload.name, plan.safety, plan.scale) == ("Workload2", SafetyMode.OFF, 0.5)
    assert (plan.loss, plan.version, plan.compression_ratio) == (0.001, 2012, 0.4)
    assert (plan.encryption, plan.log_volume_gb) == (False, 80.0)
    controls.rpo.setValue(5.0)
    controls.response.setValue(0.5)
    controls.cost.setValue(20.0)
    controls.pause.setValue(30.0)
    assert controls.get_goals() == PlanGoals(
        rpo_s=5.0, response_limit_s=0.5, throughput_loss_max=0.2, suspended_s=1800.0
    )


@pytest.mark.slow
def test_a_workload_selects_its_measured_servers(planner: LinkPlanner) -> None:
    controls = planner.controls
    controls.workload.setCurrentText("Stock exchange, 2008")
    plan = controls.build_plan()
    assert (plan.workload.name, plan.version, plan.site.cores) == ("StockExchange", 2008, 16)
    controls.workload.setCurrentText(CUSTOM_VALUES_LABEL)
    assert controls.build_plan().site is plan.site


def test_goals_change_the_verdict(planner: LinkPlanner) -> None:
    planner.controls.workload.setCurrentIndex(1)
    planner.write_findings()
    assert planner.findings.text.startswith("Safety level: Use OFF")
    planner.controls.cost.setValue(50.0)
    planner.write_findings()
    assert planner.findings.text.startswith("Safety level: Both safety levels meet the goals")


def test_versions_before_2008_do_not_compress(planner: LinkPlanner) -> None:
    controls = planner.controls
    controls.version.setCurrentIndex(controls.version.findData(2008))
    controls.compression.setChecked(True)
    assert controls.build_plan().compression_ratio == 0.5
    controls.version.setCurrentIndex(controls.version.findData(2005))
    assert not controls.compression.isEnabled()
    assert controls.build_plan().compression_ratio == 1.0


@pytest.mark.slow
def test_impossible_custom_figures_are_reported(planner: LinkPlanner) -> None:
    controls = planner.controls
    assert not controls.custom_fields["connections"].isVisible()
    controls.workload.setCurrentText(CUSTOM_VALUES_LABEL)
    run_timers(planner)
    assert controls.custom_fields["connections"].isVisible()
    assert planner.plan is not None
    assert planner.plan.workload.connections == 100
    assert planner.notes[0].text() == ""
    controls.custom_fields["transactions_per_s"].setValue(5000.0)
    run_timers(planner)
    assert "reach at most" in controls.problem.text()
    assert controls.problem.isVisible()
    assert planner.findings.text == ""
    assert planner.list_table_rows() == []
    controls.custom_fields["transactions_per_s"].setValue(50.0)
    run_timers(planner)
    assert not controls.problem.isVisible()
    assert planner.findings.text


def test_the_selected_level_stands_out(planner: LinkPlanner) -> None:
    def list_line_widths() -> list[float]:
        cell = planner.curves.cells["transactions_per_s", "rtt_ms"]
        return [cell.curves[mode].opts["pen"].widthF() for mode in (SafetyMode.FULL, SafetyMode.OFF)]

    full_width, short_width = list_line_widths()
    choose_safety_off(planner.controls)
    planner.draw_curves()
    assert list_line_widths() == [short_width, full_width]
    assert full_width > short_width
    assert "Figure 11" in planner.notes[0].text()


@pytest.mark.slow
def test_measured_points_are_shown_only_for_measured_plans(planner: LinkPlanner) -> None:
    cell = planner.curves.cells["transactions_per_s", "rtt_ms"]
    assert cell.published[SafetyMode.FULL].getData()[1] == pytest.approx([238.0])
    planner.controls.rtt.set_value(50.0)  # Moving along the axis keeps its curves.
    planner.draw_curves()
    assert len(cell.published[SafetyMode.FULL].getData()[1]) == 1
    assert (
        len(
            planner.curves.cells["transactions_per_s", "bandwidth_mbps"]
            .published[SafetyMode.FULL]
            .getData()[1]
        )
        == 0
    )
    planner.controls.scale.set_value(2.0)
    planner.draw_curves()
    assert len(cell.published[SafetyMode.FULL].getData()[1]) == 0


@pytest.mark.slow
def test_rows_can_be_selected_but_not_none(planner: LinkPlanner) -> None:
    actions = {action.data(): action for action in planner.counter_menu.actions()}
    actions["link_use_percent"].trigger()
    assert planner.curves.counters[-1] == "link_use_percent"
    assert np.isfinite(list_heights(planner, "link_use_percent", "rtt_ms", SafetyMode.FULL)).all()
    for name in (*planner.curves.counters,):
        actions[name].trigger()
    assert len(planner.curves.counters) == 1
    assert [action.data() for action in planner.counter_menu.actions() if action.isChecked()] == list(
        planner.curves.counters
    )


def test_plots_in_a_row_share_a_scale(planner: LinkPlanner) -> None:
    for counter in planner.curves.counters:
        left, right = (
            planner.curves.cells[counter, axis].plot.viewRange()[1] for axis in ("rtt_ms", "bandwidth_mbps")
        )
        assert left == right


def test_a_hidden_planner_computes_nothing(planner: LinkPlanner) -> None:
    plan = planner.plan
    planner.controls.rtt.set_value(40.0)
    planner.hide()
    assert not planner.curves_timer.isActive()
    assert not planner.findings_timer.isActive()
    planner.controls.rtt.set_value(50.0)
    assert not planner.curves_timer.isActive()
    assert planner.plan is plan
    planner.show()
    assert planner.curves_timer.isActive()
    assert planner.findings_timer.isActive()


def test_the_table_contains_every_point_with_its_plan(planner: LinkPlanner, tmp_path: Path) -> None:
    file = tmp_path / "plan.csv"
    planner.save_csv(str(file))
    with file.open(encoding="utf-8", newline="") as text:
        rows = list(csv.DictReader(text))
    assert len(rows) == 3 * (41 + 41)
    full_rows = [row for row in rows if row["safety"] == "FULL" and row["varied"] == "rtt_ms"]
    assert [float(row["rtt_ms"]) for row in full_rows] == pytest.approx(SWEPT_RTTS_MS, rel=1e-5)
    assert {row["bandwidth_mbps"] for row in full_rows} == {"1000"}
    assert float(full_rows[0]["transactions_per_s"]) == pytest.approx(239, abs=1)
    planner.copy_table()
    lines = QGuiApplication.clipboard().text().splitlines()
    assert len(lines) == 1 + len(rows)
    assert lines[0].split("\t")[:3] == ["workload", "safety", "varied"]


def test_the_picture_is_saved_and_a_failure_reported(planner: LinkPlanner, tmp_path: Path) -> None:
    planner.save_picture(str(tmp_path / "plan.png"))
    assert QImage(str(tmp_path / "plan.png")).width() > 600
    assert planner.status_text == "Saved plan.png"
    planner.save_csv(str(tmp_path / "nowhere" / "plan.csv"))
    assert planner.status_text.startswith("Not saved: No such file")
    planner.save_picture(str(tmp_path / "nowhere" / "plan.png"))
    assert planner.status_text.startswith("Not saved")


def test_colors_follow_the_theme(planner: LinkPlanner) -> None:
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    pen = planner.curves.cells["transactions_per_s", "rtt_ms"].curves[SafetyMode.FULL].opts
    try:
        theme.apply_theme_choice(app, theme.DARK_THEME)
        assert pen["pen"].color() == theme.build_dark_theme().series[0]
        theme.apply_theme_choice(app, theme.LIGHT_THEME)
        assert pen["pen"].color() == theme.build_light_theme().series[0]
    finally:
        theme.apply_theme_choice(app, theme.LIGHT_THEME)


# --- the slider ---------------------------------------------------------------------------------------------


@pytest.fixture
def slider(qtbot: Any) -> LogSlider:
    slider = LogSlider("Round trip", 0.1, 300.0, "ms", (("MAN", 2.0, 20.0),))
    qtbot.addWidget(slider)
    slider.resize(300, 80)
    slider.show()
    return slider


def test_slider_and_field_agree(qtbot: Any, slider: LogSlider) -> None:
    values: list[float] = []
    slider.value_changed.connect(values.append)
    slider.field.setValue(20.0)
    assert slider.slider.value() == slider.compute_position(20.0)
    assert slider.value == 20.0  # The value is not rounded to a step of the slider.
    qtbot.keyClick(slider.slider, Qt.Key.Key_Right)
    assert slider.value == pytest.approx(20.0 * 10 ** (1 / 60), rel=0.01)
    assert values == [20.0, slider.value]
    slider.set_value(1e9)
    assert slider.value == 300.0


def test_bands_are_under_their_part_of_the_slider(slider: LogSlider) -> None:
    pixel_of = slider.strip.compute_pixel
    assert pixel_of(0.1) < pixel_of(2.0) < pixel_of(20.0) < pixel_of(300.0)
    assert pixel_of(20.0) - pixel_of(2.0) == pytest.approx(
        (pixel_of(300.0) - pixel_of(0.1)) / np.log10(3000.0), abs=2.0
    )
    ground = theme.get_theme_tokens(slider.palette())
    picture = painted.render_picture(slider.strip)
    inner_color = picture.pixelColor(pixel_of(2.0) + 4, slider.strip.height() - 4)
    outside = picture.pixelColor(pixel_of(0.1) + 4, slider.strip.height() - 4)
    assert inner_color == ground.idle_soft
    assert outside != ground.idle_soft


def test_the_networks_of_table_7_are_marked(planner: LinkPlanner) -> None:
    names = [name for name, _, _ in NETWORK_RTT_RANGES_MS]
    assert all(name in planner.controls.rtt.strip.toolTip() for name in names)


@pytest.mark.parametrize("name", [language.ENGLISH, language.GERMAN, language.PSEUDO_LANGUAGE])
def test_numbers_are_parsed_as_displayed(qtbot: Any, name: str) -> None:
    """In German, 1.000 Mbps means a thousand, not one."""
    language.use_language(name)
    try:
        box = NumberBox()
    finally:
        language.use_language(language.ENGLISH)
    qtbot.addWidget(box)
    box.setRange(0.0, 20_000.0)
    box.setDecimals(3)
    box.setSuffix(" Mbps")
    for value in (1_000.0, 0.25, 1_234.5, 12_000.0):
        language.use_language(name)
        try:
            box.setValue(value)
            box_text = box.text()
            box.setValue(1.0)
            box.lineEdit().setText(box_text)
            box.interpretText()
        finally:
            language.use_language(language.ENGLISH)
        assert box.value() == value, box_text


def test_fields_and_controls_grow_with_the_text(planner: LinkPlanner) -> None:
    planner.resize(2000, 900)
    field = planner.controls.bandwidth.field
    before = field.width(), planner.controls.width()
    font = planner.font()
    font.setPointSizeF(2.0 * font.pointSizeF())
    # Set the font on the widget itself, because widgets with a style sheet inherit no fonts.
    for widget in (planner, field):
        widget.setFont(font)
    assert field.width() > 1.5 * before[0]
    assert planner.controls.width() > 1.5 * before[1]


def test_the_share_of_quick_failovers_is_shown(
    planner: LinkPlanner, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.views.planner.failover_times.RUNS_PER_CAUSE", 2)
    times = planner.show_failover_times()
    assert times is not None
    qtbot.addWidget(times)
    qtbot.waitUntil(lambda: not times.timer.isActive())
    assert list(times.downtimes) == list(FAULT_VERBS)
    times.limit.setValue(5.0)

    def count_full_shares() -> int:
        # Delete the labels of earlier rows.
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
        return sum(label.text() == "2 of 2" for label in times.findChildren(QLabel))

    assert count_full_shares() == 2, "a service shuts down first, and who hangs is noticed after ten s"
    times.limit.setValue(20.0)
    assert count_full_shares() == 4
    assert "server hangs: 2 of 2" in times.chart.accessibleDescription()


def test_only_automatic_failovers_are_timed(planner: LinkPlanner) -> None:
    choose_safety_off(planner.controls)
    run_timers(planner)
    assert planner.show_failover_times() is None
    assert "needs safety FULL" in planner.status_text
