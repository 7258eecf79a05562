"""Planner that helps to choose a safety level for a link. Curves and findings follow the sliders."""

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from PySide6.QtCore import QBuffer, QEvent, QIODevice, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QGuiApplication, QHideEvent, QShowEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QMenu,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QSplitter,
    QToolButton,
    QWidget,
)

from app.files import atomic_write
from app.views.planner.controls import PlannerControls
from app.views.planner.curves import (
    PLOTTED_COUNTERS,
    SAFETY_MODE_ORDER,
    SWEEP_AXES,
    PlanCurves,
    Sweeps,
    is_measured_link,
)
from app.views.planner.failover_times import FailoverTimesDialog
from app.widgets import theme
from app.widgets.bars import attach_menu
from app.widgets.flow_layout import FlowLayout
from app.widgets.key_button import build_back_button
from app.widgets.layouts import build_widget_column
from app.widgets.save_file import ask_for_file
from app.widgets.scroll_container import SIZE_UNLIMITED
from app.words import formatting
from app.words.language import tr
from app.words.localization import localize
from engine.drill.judging.sweep import FAULT_VERBS, build_failover_scenario
from engine.flow import SafetyMode
from engine.overrides import override
from engine.planning import (
    STEADY_STATE_FIGURES,
    SWEPT_BANDWIDTHS_MBPS,
    SWEPT_RTTS_MS,
    FindingSeverity,
    MeasuredPoint,
    MirroringPlan,
    PlanFinding,
    PlanGoals,
    Sweep,
    find_measured_points,
    find_paper_statements,
    list_findings,
    sweep_values,
)

PLAN_COLUMNS: Final = (
    "scale", "rtt_ms", "bandwidth_mbps", "loss", "compression_ratio", "version", "encryption",
)  # fmt: skip


def build_sweep_table(plan: MirroringPlan, sweeps: Iterable[Mapping[SafetyMode, Sweep]]) -> list[list[str]]:
    """Return a table with headings, and a row for each computed point of each sweep."""
    table = [["workload", "safety", "varied", *PLAN_COLUMNS, *STEADY_STATE_FIGURES]]
    for curve in (curve_point for by_mode in sweeps for curve_point in by_mode.values()):
        for x, point in zip(curve.x, curve.points, strict=True):
            changed_plan = plan.with_changes(**{curve.axis: x})
            link = [f"{getattr(changed_plan, name):.6g}" for name in PLAN_COLUMNS]
            figures = [f"{getattr(point, name):.6g}" for name in STEADY_STATE_FIGURES]
            table.append([plan.workload.name, curve.safety.name, curve.axis, *link, *figures])
    return table


def format_csv(table: list[list[str]]) -> str:
    """Convert *table* to CSV."""
    output = io.StringIO()
    csv.writer(output, lineterminator="\n").writerows(table)
    return output.getvalue()


SEVERITY_SYMBOLS: Final = {
    FindingSeverity.OK: "✓",
    FindingSeverity.WARN: "!",
    FindingSeverity.BAD: "✕",
    FindingSeverity.INFO: "·",
}
"""Severity -> symbol, which makes findings distinguishable without color."""


class PlannerFindings(QScrollArea):
    """List of the planner's findings."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setAccessibleName(tr("Findings"))
        self._shown_findings: list[PlanFinding] = []
        self.verdict = QLabel(wordWrap=True)
        self.verdict.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._rows = QGridLayout()
        self._rows.setHorizontalSpacing(8)
        self._rows.setVerticalSpacing(3)
        self._rows.setColumnStretch(2, 1)
        content = QWidget()
        build_widget_column(self.verdict, self._rows, 1, parent=content, margins=(0, 0, 8, 0), spacing=6)
        self.setWidget(content)

    def show_findings(self, findings: Sequence[PlanFinding]) -> None:
        """Show *findings*. The first one is the verdict. An empty list clears the view."""
        self._shown_findings = list(findings)
        self._write()

    @property
    def text(self) -> str:
        """All findings as text, for screen readers and tests."""
        return "\n".join(
            f"{localize(finding.topic)}: {localize(finding.text)}" for finding in self._shown_findings
        )

    def _write(self) -> None:
        while (item := self._rows.takeAt(0)) is not None:
            old = item.widget()
            if old is not None:
                old.deleteLater()
        colors = theme.get_theme_tokens(self.palette())
        self.verdict.setVisible(bool(self._shown_findings))
        if not self._shown_findings:
            return
        first, *other_findings = self._shown_findings
        color_name, ground = colors.get_color(first.severity), colors.get_color(f"{first.severity}_soft")
        self.verdict.setText(f"{SEVERITY_SYMBOLS[first.severity]}  {localize(first.text)}")
        self.verdict.setStyleSheet(
            f"color: {color_name.name()}; background: {ground.name()}; border-radius: 6px; padding: 6px 10px; "
            "font-weight: 600"
        )
        for number, finding in enumerate(other_findings):
            sign, topic, text = (
                QLabel(SEVERITY_SYMBOLS[finding.severity]),
                QLabel(localize(finding.topic)),
                QLabel(localize(finding.text)),
            )
            sign.setStyleSheet(f"color: {colors.get_color(finding.severity).name()}; font-weight: 600")
            topic.setProperty("muted", "true")
            text.setWordWrap(True)
            text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            text.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.MinimumExpanding)
            for column, label in enumerate((sign, topic, text)):
                self._rows.addWidget(label, number, column, Qt.AlignmentFlag.AlignTop)
        self.setAccessibleDescription(self.text)

    @override
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange) and self._shown_findings:
            self._write()


CURVES_INTERVAL_MS: Final = 30
"""Minimum interval between updates of the curves during a drag."""

FINDINGS_DELAY_MS: Final = 180
"""Delay after the last change before the findings are updated."""

CONTROLS_WIDTH_LETTERS: Final = 44
"""Width of the controls in letters. The longest machine name fits."""
WIDE_PAGE_RATIO_MIN: Final = 2.2
"""Minimum page width, as a multiple of the width of the controls, at which curves are next to the controls."""
CONTROLS_HEIGHT_MIN_LINES: Final = 12
"""Minimum height in lines of the controls when they are above the curves."""
INITIAL_SPLITTER_HEIGHTS: Final = (400, 230)
"""Initial heights of curves and findings."""

SWEEP_VALUES: Final = {"rtt_ms": SWEPT_RTTS_MS, "bandwidth_mbps": SWEPT_BANDWIDTHS_MBPS}
LOSSY_LINK_POINT_STEP: Final = 2
"""On a link with packet loss, only every nth point is computed, because computing takes longer there."""


class LinkPlanner(QWidget):
    """Link planner with controls, curves and findings."""

    closed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Link planner"))
        self.setAccessibleName(tr("Link planner"))
        self.controls = PlannerControls()
        self.curves = PlanCurves()
        self.findings = PlannerFindings()
        self.plan: MirroringPlan | None = None
        """Plan on screen; None before the first one, and while the figures are invalid."""
        self.goals = PlanGoals()
        self.sweeps: dict[str, Sweeps] = {}
        self.notes = [QLabel() for _ in SWEEP_AXES]
        self._status = QLabel()
        self._status.setProperty("muted", "true")
        self._status.hide()
        self._stale = True
        self.curves_timer = self._create_timer(CURVES_INTERVAL_MS, self.draw_curves)
        self.findings_timer = self._create_timer(FINDINGS_DELAY_MS, self.write_findings)
        self._lay_out()
        self.controls.changed.connect(self._on_change)
        self.curves.plan_dragged.connect(self._on_moved)
        theme.call_after_events(self, theme.SIZE_EVENTS, self._fit_layout)

    @override
    def sizeHint(self) -> QSize:
        return QSize(1240, 690)

    # --- display --------------------------------------------------------------------------------------------

    @property
    def status_text(self) -> str:
        """Message about the last copy or save command."""
        return self._status.text()

    # --- delayed updates ------------------------------------------------------------------------------------

    def draw_curves(self) -> None:
        """Draw the curves of the current plan."""
        self.curves_timer.stop()
        try:
            plan = self.controls.build_plan()
        except ValueError as error:
            self.plan = None
            self.controls.show_problem(f"{localize(str(error))}.")
            self.curves.setEnabled(False)
            return
        self.controls.show_problem("")
        self.curves.setEnabled(True)
        self.plan = plan
        self.sweeps = {axis: _compute_sweeps(plan, axis) for axis, _ in SWEEP_AXES}
        current_points = {
            mode: sweep_values(plan, "rtt_ms", (plan.rtt_ms,), mode).points[0] for mode in SAFETY_MODE_ORDER
        }
        self.curves.show_plan(plan, self.sweeps, current_points)
        self._write_notes(plan)

    def write_findings(self) -> None:
        """Write the findings for the current plan and goals."""
        self.findings_timer.stop()
        if self.curves_timer.isActive():
            self.draw_curves()
        self.goals = self.controls.get_goals()
        self.findings.show_findings(list_findings(self.plan, self.goals) if self.plan is not None else [])

    def _on_change(self) -> None:
        if not self.isVisible():
            self._stale = True
            return
        if (
            not self.curves_timer.isActive()
        ):  # do not restart a running timer, so that the curves also change during a drag
            self.curves_timer.start()
        self.findings_timer.start()

    def _on_moved(self, axis: str, value: float) -> None:
        slider = {"rtt_ms": self.controls.rtt, "bandwidth_mbps": self.controls.bandwidth}[axis]
        slider.set_value(float(f"{value:.3g}"))

    def _create_timer(self, ms: int, callback: Callable[[], None]) -> QTimer:
        timer = QTimer(self, singleShot=True, interval=ms)
        timer.timeout.connect(callback)
        return timer

    @override
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._stale:
            self._stale = False
            self.curves_timer.start()
            self.findings_timer.start()

    @override
    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._stale = self._stale or self.curves_timer.isActive() or self.findings_timer.isActive()
        self.curves_timer.stop()
        self.findings_timer.stop()

    @override
    def closeEvent(self, event: QCloseEvent) -> None:
        super().closeEvent(event)
        self.closed.emit()

    def show_failover_times(self) -> FailoverTimesDialog | None:
        """Show the failover times of the current plan in a separate window, and return the window."""
        if self.plan is None or build_failover_scenario(self.plan, FAULT_VERBS[0]) is None:
            self._show_status(
                tr("Automatic failover needs safety FULL, and only a published workload can be simulated.")
            )
            return None
        times_dialog = FailoverTimesDialog(self.plan, self)
        times_dialog.show()
        return times_dialog

    # --- copy and save --------------------------------------------------------------------------------------

    def list_table_rows(self) -> list[list[str]]:
        """Return headings and all points of the displayed curves."""
        return build_sweep_table(self.plan, self.sweeps.values()) if self.plan is not None else []

    def copy_table(self) -> None:
        """Copy the points of the displayed curves to the clipboard as a table."""
        QGuiApplication.clipboard().setText(formatting.format_tab_separated(self.list_table_rows()))
        self._show_status(tr("Copied: one row per point of each curve."))

    def save_csv(self, file: str) -> None:
        """Save the points of the displayed curves as CSV."""
        self._save(file, lambda path: atomic_write.write_atomically(path, format_csv(self.list_table_rows())))

    def save_picture(self, file: str) -> None:
        """Save curves and findings as an image."""

        def write(path: Path) -> None:
            target = QBuffer()
            target.open(QIODevice.OpenModeFlag.WriteOnly)
            self._page.grab().save(target, "PNG")
            atomic_write.write_atomically(path, bytes(target.data().data()))

        self._save(file, write)

    def _save(self, file: str, write_file: Callable[[Path], object]) -> None:
        if not file:
            return
        try:
            write_file(Path(file))
        except OSError as error:
            self._show_status(tr("Not saved: {value}").format(value=error.strerror or error))
        else:
            self._show_status(tr("Saved {name}").format(name=Path(file).name))

    def _ask_for_file(self, title: str, name: str, kind: str) -> str:
        return str(ask_for_file(self, title, name, kind) or "")

    def _show_status(self, text: str) -> None:
        self._status.setText(text)
        self._status.setVisible(bool(text))

    # --- appearance -----------------------------------------------------------------------------------------

    def _lay_out(self) -> None:
        self._left_column = left_column = QWidget()
        build_widget_column((self.controls, 1), parent=left_column, margins=(12, 10, 0, 10))
        self._page = QWidget()
        sheet = build_widget_column(
            self._build_bar(), self._status, parent=self._page, margins=(8, 8, 12, 8), spacing=6
        )
        split = QSplitter(Qt.Orientation.Vertical)
        upper = QWidget()
        plots = build_widget_column((self.curves, 1), parent=upper, margins=0, spacing=2)
        self._notes_layout = notes = QHBoxLayout()
        notes.setSpacing(16)
        for note in self.notes:
            note.setProperty("muted", "true")
            note.setWordWrap(True)
            notes.addWidget(note, 1)
        plots.addLayout(notes)
        split.addWidget(upper)
        split.addWidget(self.findings)
        split.setStretchFactor(0, 1)
        split.setSizes(INITIAL_SPLITTER_HEIGHTS)
        split.setChildrenCollapsible(False)
        sheet.addWidget(split, 1)
        self._layout = layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(left_column)
        layout.addWidget(self._page, 1)
        self._fit_layout()

    def _fit_layout(self) -> None:
        """Arrange controls and curves side by side, or in a column if the page is too narrow."""
        left_px = self.fontMetrics().horizontalAdvance("0") * CONTROLS_WIDTH_LETTERS
        narrow = self.width() < WIDE_PAGE_RATIO_MIN * left_px
        direction = QBoxLayout.Direction.TopToBottom if narrow else QBoxLayout.Direction.LeftToRight
        for layout in (self._layout, self._notes_layout):
            layout.setDirection(direction)
        self._left_column.setMinimumWidth(0 if narrow else left_px)
        self._left_column.setMaximumWidth(SIZE_UNLIMITED if narrow else left_px)
        self._left_column.setMinimumHeight(
            CONTROLS_HEIGHT_MIN_LINES * self.fontMetrics().height() if narrow else 0
        )

    def _build_bar(self) -> FlowLayout:
        bar = FlowLayout(8)
        self.counter_menu = QMenu(self)
        for name, counter in PLOTTED_COUNTERS.items():
            action = self.counter_menu.addAction(tr(counter.title))
            action.setToolTip(tr(counter.help))
            action.setCheckable(True)
            action.setChecked(name in self.curves.counters)
            action.setData(name)
            action.triggered.connect(self._choose_counters)
        self.counter_menu.setToolTipsVisible(True)
        bar.addWidget(build_back_button(tr("Back"), self, self.closed))
        choose = QToolButton()
        choose.setText(tr("Counters ▾"))
        attach_menu(self.counter_menu, choose)
        bar.addWidget(choose)
        self.times = QPushButton(tr("Failover times…"))
        self.times.clicked.connect(self.show_failover_times)
        bar.addWidget(self.times)
        for text, do in (
            (tr("Copy table"), self.copy_table),
            (
                tr("Save table…"),
                lambda: self.save_csv(
                    self._ask_for_file(tr("Save the table"), "plan.csv", tr("Values (*.csv)"))
                ),
            ),
            (
                tr("Save picture…"),
                lambda: self.save_picture(
                    self._ask_for_file(tr("Save the picture"), "plan.png", tr("Picture (*.png)"))
                ),
            ),
        ):
            button = QPushButton(text)
            button.clicked.connect(do)
            bar.addWidget(button)
        return bar

    def _choose_counters(self) -> None:
        chosen_counters = [action.data() for action in self.counter_menu.actions() if action.isChecked()]
        if chosen_counters:
            self.curves.plot_counters(chosen_counters)
        else:  # at least one counter must stay checked
            for action in self.counter_menu.actions():
                action.setChecked(action.data() in self.curves.counters)

    def _write_notes(self, plan: MirroringPlan) -> None:
        for note, (axis, _) in zip(self.notes, SWEEP_AXES, strict=True):
            statements = find_paper_statements(plan.workload, plan.safety, axis)
            parts = [f"{statement.figure}: {localize(statement.text)}" for statement in statements]
            if is_measured_link(plan, axis):
                parts += sorted(
                    {tr("✕ measured, {source}").format(source=point.source) for point in _list_points(plan)}
                )
            note.setText("; ".join(parts))

    @override
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "_left_column"):
            self._fit_layout()
        if event.type() == QEvent.Type.PaletteChange and self.plan is not None and self.isVisible():
            self.findings.show_findings(list_findings(self.plan, self.goals))


def _list_points(plan: MirroringPlan) -> list[MeasuredPoint]:
    return find_measured_points(plan.workload, plan.safety, "transactions_per_s")


def _compute_sweeps(plan: MirroringPlan, axis: str) -> Sweeps:
    values = SWEEP_VALUES[axis] if plan.loss == 0.0 else SWEEP_VALUES[axis][::LOSSY_LINK_POINT_STEP]
    return {mode: sweep_values(plan, axis, values, mode) for mode in SAFETY_MODE_ORDER}
