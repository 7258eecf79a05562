"""Curves of the planner: a row per counter, round trip on the left, bandwidth on the right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.views.planner.cell import COUNTERS, LOGARITHMIC, MODES, NAMES, ON_THE_LINK, AxisNote, Cell, color_of
from app.views.planner.controls import NETWORKS_SHOWN
from app.widgets import theme
from app.widgets.axes import value_range
from app.words.language import mark, tr
from engine.flow import SafetyMode
from engine.overrides import override
from engine.planning import MirroringPlan, Steady, Sweep, points_about, statements_about

Sweeps = Mapping[SafetyMode, Sweep]

AXES: Final = (("rtt_ms", mark("Round trip, ms")), ("bandwidth_mbps", mark("Bandwidth, Mbps")))
AT_FIRST: Final = ("transactions_per_s", "response_s", "send_queue_growth_kb_per_s")
ROW_LINES_MIN: Final = 6.0
"""Minimum height of a row, in lines of text."""
ROW_GAP_LINES: Final = 0.3
"""Gap between plots and titles, for half of the label at the end of an axis."""
AXIS_SAMPLE: Final = "500 MB/s"

PAPER_LAN: Final = MirroringPlan()
"""Link of the papers' tables; their values appear only on plans with this link."""


class PlanCurves(QWidget):
    """Plots with one scale per row."""

    moved = Signal(str, float)
    """Signal: axis, and the value to which the user dragged the plan."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.counters: tuple[str, ...] = ()
        self.cells: dict[tuple[str, str], Cell] = {}
        self._titles: dict[str, pg.LabelItem] = {}
        self._shown_plan: tuple[MirroringPlan, Mapping[str, Sweeps], Mapping[SafetyMode, Steady]] | None = (
            None
        )
        self._view = pg.GraphicsLayoutWidget()
        self._view.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._grid = self._view.ci.layout
        self._grid.setContentsMargins(0, 0, 8, 0)
        self._grid.setHorizontalSpacing(10)
        self._grid.setVerticalSpacing(0)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._view)
        self.setAccessibleName(tr("Curves"))
        self.choose(AT_FIRST)

    def choose(self, counters: Sequence[str]) -> None:
        """Plot these counters, in a column."""
        self._view.ci.clear()
        for cell in self.cells.values():
            cell.deleteLater()
        self.counters, self.cells, self._titles = tuple(counters), {}, {}
        for number, name in enumerate(counters):
            title = pg.LabelItem(justify="left")
            self._view.ci.addItem(title, 2 * number, 0, 1, len(AXES))
            self._titles[name] = title
            for column, (axis, label) in enumerate(AXES):
                cell = Cell(COUNTERS[name], NETWORKS_SHOWN if axis == "rtt_ms" else (), self)
                cell.dragged.connect(lambda value, axis=axis: self.moved.emit(axis, value))
                cell.plot.showAxis("left", column == 0)
                last = number == len(counters) - 1
                cell.plot.getAxis("bottom").setStyle(showValues=last)
                if last:
                    cell.plot.setLabel("bottom", tr(label))
                if number == 0:
                    cell.name_bands()
                self._view.ci.addItem(cell.plot, 2 * number + 1, column)
                self.cells[name, axis] = cell
            self._grid.setRowStretchFactor(2 * number + 1, 1)
        for column in range(len(AXES)):
            self._grid.setColumnStretchFactor(column, 1)
        self._recolor()
        if self._shown_plan is not None:
            self.show_plan(*self._shown_plan)

    def show_plan(
        self, plan: MirroringPlan, sweeps: Mapping[str, Sweeps], plan_figures: Mapping[SafetyMode, Steady]
    ) -> None:
        """Show the plan: *sweeps* by axis; *here* are the figures of the plan itself at each level."""
        self._shown_plan = plan, sweeps, plan_figures
        for name in self.counters:
            modes = [mode for mode in MODES if mode is not SafetyMode.NONE or name not in ON_THE_LINK]
            values = [
                sweep.column(name) for found in sweeps.values() for m, sweep in found.items() if m in modes
            ]
            counter = COUNTERS[name]
            bottom, top = value_range(
                np.concatenate(values), counter.unit, name in LOGARITHMIC, counter.least_top
            )
            own = {mode: float(getattr(found, name)) for mode, found in plan_figures.items()}
            for axis, _ in AXES:
                cell = self.cells[name, axis]
                cell.draw(sweeps[axis], bottom, top)
                cell.put_plan(getattr(plan, axis), own, plan.safety)
                cell.put_published(getattr(PAPER_LAN, axis), _published(plan, axis, name))
        for axis, _ in AXES:
            notes = [
                AxisNote(each.at, each.figure.replace("Figure", "Fig."))
                for each in statements_about(plan.workload, plan.safety, axis)
            ]
            for number, name in enumerate(self.counters):
                self.cells[name, axis].put_notes(notes, tagged=number == 0)
        self._write_titles()

    def _write_titles(self) -> None:
        if self._shown_plan is None:
            return
        plan, _, here = self._shown_plan
        colors = theme.tokens(self.palette())
        for name, title in self._titles.items():
            counter = COUNTERS[name]
            parts = [f'<b style="color:{colors.text.name()}">{tr(counter.title)}</b>']
            for mode in reversed(MODES):
                if mode is SafetyMode.NONE and name in ON_THE_LINK:
                    continue
                value = counter.unit.text(float(getattr(here[mode], name)))
                words = f"{tr(NAMES[mode])} {value}"
                words = f"<b>{words}</b>" if mode is plan.safety else words
                dot = f'<span style="color:{color_of(mode, colors).name()}">●</span>'
                parts.append(f'{dot} <span style="color:{colors.text.name()}">{words}</span>')
            title.setText("&nbsp;&nbsp;&nbsp;".join(parts), size=f"{self.font().pointSizeF():g}pt")

    @override
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange):
            self._recolor()

    def _recolor(self) -> None:
        colors = theme.tokens(self.palette())
        self._view.setBackground(colors.surface)
        width = self.fontMetrics().horizontalAdvance(AXIS_SAMPLE) + 12
        font = theme.sized(self.font(), 0.85)
        line = self.fontMetrics().height()
        self._grid.setVerticalSpacing(ROW_GAP_LINES * line)
        self._view.setMinimumHeight(round(line * (ROW_LINES_MIN * len(self.counters) + 3)))
        for cell in self.cells.values():
            cell.recolor(colors, font)
            cell.plot.getAxis("left").setWidth(width)
            bottom = cell.plot.getAxis("bottom")
            bottom.label.setFont(font)
            bottom.setLabel(color=colors.muted.name(), text=bottom.labelText)
        self._write_titles()


def is_measured(plan: MirroringPlan, axis: str) -> bool:
    """Return whether the plan's link, except *axis*, equals the link on which the papers' tables were measured."""
    measured = PAPER_LAN.with_changes(**{axis: getattr(plan, axis)})
    return all(getattr(plan, name) == getattr(measured, name) for name in _LINK)


def _published(plan: MirroringPlan, axis: str, counter: str) -> dict[SafetyMode, list[float]]:
    """Return measured values that the curves should pass through."""
    if not is_measured(plan, axis):
        return {}
    return {mode: [each.value for each in points_about(plan.workload, mode, counter)] for mode in MODES}


_LINK: Final = ("site", "scale", "rtt_ms", "bandwidth_mbps", "loss", "compression_ratio", "version")
