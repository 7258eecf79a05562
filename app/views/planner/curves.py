"""Curves of the planner: a row per counter, with round trip on the left and bandwidth on the right."""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
import pyqtgraph as pg
from msgspec import Struct
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont
from PySide6.QtWidgets import QWidget

from app.views.planner.controls import SHOWN_NETWORKS
from app.widgets import theme
from app.widgets.axes import LogAxis, ValueAxis, compute_positions, compute_value_range
from app.widgets.layouts import build_widget_column
from app.widgets.theme import ThemeTokens
from app.words.formatting import COUNTERS, KB_PER_S, PERCENT, Counter
from app.words.language import mark, tr
from engine.flow import SafetyMode
from engine.planning import MirroringPlan, SteadyState, Sweep, find_measured_points, find_paper_statements

Array = npt.NDArray[np.float64]

PLOTTED_COUNTERS: Final = {
    counter.name: counter
    for counter in (
        COUNTERS["transactions_per_s"],
        COUNTERS["response_s"],
        COUNTERS["commit_delay_ms"],
        Counter(
            "send_queue_growth_kb_per_s",
            mark("Send queue growth"),
            KB_PER_S,
            64.0,
            mark("log written but not sent"),
        ),
        Counter(
            "link_use_percent",
            mark("Link use"),
            PERCENT,
            100.0,
            mark("share of the bandwidth, headers included"),
        ),
        COUNTERS["principal_cpu_percent"],
        COUNTERS["mirror_cpu_percent"],
    )
}
"""Name of a counter in a sweep -> counter, for the counters that can be plotted."""

LOG_SCALE_COUNTERS: Final = ("response_s", "commit_delay_ms")
"""Counters with a logarithmic axis, because they differ between links by orders of magnitude."""

MIRROR_COUNTERS: Final = ("send_queue_growth_kb_per_s", "link_use_percent", "mirror_cpu_percent")
"""Counters that exist only with a mirror."""

SAFETY_MODE_ORDER: Final = (SafetyMode.NONE, SafetyMode.OFF, SafetyMode.FULL)
"""Safety modes in drawing order."""

MODE_NAMES: Final = {SafetyMode.NONE: mark("no mirror"), SafetyMode.OFF: "OFF", SafetyMode.FULL: "FULL"}

BAND_ALPHA: Final = 110
SELECTED_CURVE_WIDTH, OTHER_CURVE_WIDTH = 2.6, 1.4
NOTE_LABEL_STEP_SHARE: Final = 0.16
"""Vertical distance between labels of adjacent notes, as a share of the plot's height."""

SWEEP_EDGE_MARGIN: Final = 0.02
"""Margin at both ends of a sweep, as a share of its length. Dots at the ends are then completely visible."""


def get_mode_color(mode: SafetyMode, colors: ThemeTokens) -> QColor:
    """Return the color of a safety mode, which is the same everywhere in the planner.

    The mode without a mirror is gray.
    """
    return {SafetyMode.FULL: colors.series[0], SafetyMode.OFF: colors.series[1]}.get(mode, colors.idle)


class PaperAxisValue(Struct, frozen=True):
    """Axis value that a white paper mentions, with the number of the figure there."""

    value: float
    figure_number: str


class PlotCell(QObject):
    """Plot in the grid: one counter over one axis."""

    dragged = Signal(float)
    """Signal: axis value to which the user dragged the line of the plan."""

    def __init__(self, counter: Counter, bands: Sequence[tuple[str, float, float]], parent: QObject) -> None:
        super().__init__(parent)
        self.counter = counter
        self.logarithmic = counter.name in LOG_SCALE_COUNTERS
        left_axis = ValueAxis(counter.unit, self.logarithmic)
        self.plot = pg.PlotItem(
            axisItems={"left": left_axis, "bottom": LogAxis(orientation="bottom")}, enableMenu=False
        )
        self.plot.setMouseEnabled(x=False, y=False)
        self.plot.hideButtons()
        self.plot.vb.setDefaultPadding(0.0)
        self._bands = [(name, self._add_band(low, high), high) for name, low, high in bands]
        self._names: list[pg.TextItem] = []
        self._notes: list[tuple[pg.InfiniteLine, pg.TextItem]] = []
        self._colors: ThemeTokens | None = None
        self._font = QFont()
        self._chosen_safety = SafetyMode.FULL
        self._range = 0.0, 1.0
        self.curves = {mode: self._add_curve(mode) for mode in SAFETY_MODE_ORDER}
        self.dots = {mode: self._add_dots(mode, "o") for mode in SAFETY_MODE_ORDER}
        self.published = {mode: self._add_dots(mode, "x") for mode in SAFETY_MODE_ORDER}
        self.plan_line = pg.InfiniteLine(angle=90, movable=True)
        self.plan_line.setZValue(5)
        self.plan_line.sigDragged.connect(self._on_dragged)
        self.plot.addItem(self.plan_line, ignoreBounds=True)

    def _on_dragged(self, line: pg.InfiniteLine) -> None:
        self.dragged.emit(10.0 ** float(line.value()))

    def _add_band(self, low: float, high: float) -> pg.LinearRegionItem:
        region = pg.LinearRegionItem((np.log10(low), np.log10(high)), movable=False, pen=pg.mkPen(None))
        region.setZValue(-20)
        self.plot.addItem(region, ignoreBounds=True)
        return region

    def _add_curve(self, mode: SafetyMode) -> pg.PlotCurveItem:
        curve = pg.PlotCurveItem(antialias=True, connect="finite")
        curve.setZValue(1 + int(mode))
        self.plot.addItem(curve, ignoreBounds=True)
        return curve

    def _add_dots(self, mode: SafetyMode, symbol: str) -> pg.ScatterPlotItem:
        dots = pg.ScatterPlotItem(symbol=symbol, size=12 if symbol == "x" else 7, antialias=True)
        dots.setZValue(6 + int(mode))
        self.plot.addItem(dots, ignoreBounds=True)
        return dots

    # --- display --------------------------------------------------------------------------------------------

    def draw(self, sweeps: Mapping[SafetyMode, Sweep], bottom: float, top: float) -> None:
        """Draw the curves of *sweeps*.

        *bottom* and *top* are the ends of the value axis (logarithms on a log axis).
        """
        for mode, curve in self.curves.items():
            sweep = sweeps.get(mode)
            if sweep is None or (mode is SafetyMode.NONE and self.counter.name in MIRROR_COUNTERS):
                curve.setData([], [])
                continue
            curve.setData(np.log10(sweep.x), self._compute_heights(sweep.read_column(self.counter.name)))
        x = np.log10(next(iter(sweeps.values())).x)
        self.plot.setXRange(float(x[0]), float(x[-1]), padding=SWEEP_EDGE_MARGIN)
        self.plot.setYRange(bottom, top, padding=0)
        for index, name in enumerate(self._names):
            name.setPos(float(np.log10(self._bands[index][2])), top)
        self._range = bottom, top

    def show_plan(
        self, axis_value: float, values: Mapping[SafetyMode, float], selected_mode: SafetyMode
    ) -> None:
        """Show the plan as a vertical line at *axis_value*, with a dot on each curve.

        *values*: safety level -> value of the plan. The curve of *selected_mode* is emphasized.
        """
        self._chosen_safety = selected_mode
        self.plan_line.setValue(float(np.log10(axis_value)))
        for mode, dots in self.dots.items():
            is_shown = mode in values and not (
                mode is SafetyMode.NONE and self.counter.name in MIRROR_COUNTERS
            )
            height = self._compute_heights(np.array([values[mode]])) if is_shown else np.zeros(0)
            dots.setData(np.full(len(height), np.log10(axis_value)), height)
        self._update_pens()

    def show_published(self, axis_value: float, values: Mapping[SafetyMode, Sequence[float]]) -> None:
        """Show published values at *axis_value*."""
        for mode, dots in self.published.items():
            heights = self._compute_heights(np.array(values.get(mode, ()), dtype=float))
            dots.setData(np.full(len(heights), np.log10(axis_value)), heights)

    def show_notes(self, notes: Sequence[PaperAxisValue], has_labels: bool) -> None:
        """Draw dotted lines at axis values that the white papers mention.

        If *has_labels*, add the numbers of the figures that mention them.
        """
        for line, tag in self._notes:
            self.plot.removeItem(line)
            self.plot.removeItem(tag)
        self._notes = []
        bottom, top = self._range
        for number, note in enumerate(notes):
            line = pg.InfiniteLine(float(np.log10(note.value)), angle=90)
            tag = pg.TextItem(note.figure_number if has_labels else "", anchor=(0.0, 1.0))
            tag.setPos(float(np.log10(note.value)), bottom + NOTE_LABEL_STEP_SHARE * number * (top - bottom))
            self.plot.addItem(line, ignoreBounds=True)
            self.plot.addItem(tag, ignoreBounds=True)
            self._notes.append((line, tag))
        if self._colors is not None:
            self.recolor(self._colors, self._font)

    def draw_network_names(self) -> None:
        """Write the names of the networks along the upper edge."""
        for name, _, _ in self._bands:
            item = pg.TextItem(name, anchor=(1.0, 0.0))
            self.plot.addItem(item, ignoreBounds=True)
            self._names.append(item)

    def _compute_heights(self, values: Array) -> Array:
        return compute_positions(values, self.logarithmic)

    # --- appearance -----------------------------------------------------------------------------------------

    def recolor(self, colors: ThemeTokens, font: QFont) -> None:
        """Use the colors of another theme."""
        self._colors, self._font = colors, font
        for name in ("left", "bottom"):
            axis = self.plot.getAxis(name)
            axis.setPen(pg.mkPen(colors.border))
            axis.setTextPen(colors.muted)
            axis.setTickFont(font)
        for number, (_, region, _) in enumerate(self._bands):
            ground = colors.info_soft if number % 2 else colors.idle_soft
            region.setBrush(theme.add_alpha(ground, BAND_ALPHA))
        for item in self._names:
            item.setColor(colors.muted)
            item.setFont(font)
        for line, tag in self._notes:
            line.setPen(pg.mkPen(colors.muted, style=Qt.PenStyle.DotLine))
            tag.setColor(colors.muted)
            tag.setFont(font)
        self.plan_line.setPen(pg.mkPen(colors.text, width=1))
        self.plan_line.setHoverPen(pg.mkPen(colors.accent, width=3))
        self._update_pens()

    def _update_pens(self) -> None:
        if self._colors is None:
            return
        for mode in SAFETY_MODE_ORDER:
            color = get_mode_color(mode, self._colors)
            style = Qt.PenStyle.DashLine if mode is SafetyMode.NONE else Qt.PenStyle.SolidLine
            width = SELECTED_CURVE_WIDTH if mode is self._chosen_safety else OTHER_CURVE_WIDTH
            self.curves[mode].setPen(pg.mkPen(color, width=width, style=style))
            self.dots[mode].setBrush(color)
            self.dots[mode].setPen(pg.mkPen(self._colors.surface, width=1))
            self.published[mode].setBrush(color)
            self.published[mode].setPen(pg.mkPen(self._colors.surface, width=1))


Sweeps = Mapping[SafetyMode, Sweep]

SWEEP_AXES: Final = (("rtt_ms", mark("Round trip, ms")), ("bandwidth_mbps", mark("Bandwidth, Mbps")))
DEFAULT_COUNTERS: Final = ("transactions_per_s", "response_s", "send_queue_growth_kb_per_s")
ROW_LINES_MIN: Final = 6.0
"""Minimum height of a row of plots, in lines of text."""
ROW_GAP_LINES: Final = 0.3
"""Gap between plots and titles in lines of text. It leaves space for half of the label at the axis end."""
AXIS_LABEL_SAMPLE: Final = "500 MB/s"

PAPER_PLAN: Final = MirroringPlan()
"""Plan with the link on which the tables of Microsoft's white papers were measured.

Published values are shown only for this link.
"""


class PlanCurves(QWidget):
    """Grid of plots. Both plots of a row have the same value axis."""

    plan_dragged = Signal(str, float)
    """Signal: name of the axis, and the value to which the user dragged the plan."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.counters: tuple[str, ...] = ()
        self.cells: dict[tuple[str, str], PlotCell] = {}
        self._titles: dict[str, pg.LabelItem] = {}
        self._shown_plan: (
            tuple[MirroringPlan, Mapping[str, Sweeps], Mapping[SafetyMode, SteadyState]] | None
        ) = None
        self._view = pg.GraphicsLayoutWidget()
        self._view.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._grid = self._view.ci.layout
        self._grid.setContentsMargins(0, 0, 8, 0)
        self._grid.setHorizontalSpacing(10)
        self._grid.setVerticalSpacing(0)
        build_widget_column(self._view, parent=self, margins=0)
        self.setAccessibleName(tr("Curves"))
        self.plot_counters(DEFAULT_COUNTERS)
        theme.call_after_events(self, theme.APPEARANCE_EVENTS, self._recolor)

    def plot_counters(self, counters: Sequence[str]) -> None:
        """Plot *counters*, one row for each."""
        self._view.ci.clear()
        for cell in self.cells.values():
            cell.deleteLater()
        self.counters, self.cells, self._titles = tuple(counters), {}, {}
        for number, name in enumerate(counters):
            title = pg.LabelItem(justify="left")
            self._view.ci.addItem(title, 2 * number, 0, 1, len(SWEEP_AXES))
            self._titles[name] = title
            for column, (axis, label) in enumerate(SWEEP_AXES):
                cell = PlotCell(PLOTTED_COUNTERS[name], SHOWN_NETWORKS if axis == "rtt_ms" else (), self)
                cell.dragged.connect(lambda value, axis=axis: self.plan_dragged.emit(axis, value))
                cell.plot.showAxis("left", column == 0)
                last = number == len(counters) - 1
                cell.plot.getAxis("bottom").setStyle(showValues=last)
                if last:
                    cell.plot.setLabel("bottom", tr(label))
                if number == 0:
                    cell.draw_network_names()
                self._view.ci.addItem(cell.plot, 2 * number + 1, column)
                self.cells[name, axis] = cell
            self._grid.setRowStretchFactor(2 * number + 1, 1)
        for column in range(len(SWEEP_AXES)):
            self._grid.setColumnStretchFactor(column, 1)
        self._recolor()
        if self._shown_plan is not None:
            self.show_plan(*self._shown_plan)

    def show_plan(
        self,
        plan: MirroringPlan,
        sweeps: Mapping[str, Sweeps],
        plan_figures: Mapping[SafetyMode, SteadyState],
    ) -> None:
        """Show *plan*.

        *sweeps*: axis -> safety level -> sweep. *plan_figures*: figures of the plan at each safety level.
        """
        self._shown_plan = plan, sweeps, plan_figures
        for name in self.counters:
            modes = [
                mode
                for mode in SAFETY_MODE_ORDER
                if mode is not SafetyMode.NONE or name not in MIRROR_COUNTERS
            ]
            values = [
                sweep.read_column(name)
                for mode_sweeps in sweeps.values()
                for m, sweep in mode_sweeps.items()
                if m in modes
            ]
            counter = PLOTTED_COUNTERS[name]
            bottom, top = compute_value_range(
                np.concatenate(values), counter.unit, name in LOG_SCALE_COUNTERS, counter.least_top
            )
            own_values = {mode: float(getattr(figure, name)) for mode, figure in plan_figures.items()}
            for axis, _ in SWEEP_AXES:
                cell = self.cells[name, axis]
                cell.draw(sweeps[axis], bottom, top)
                cell.show_plan(getattr(plan, axis), own_values, plan.safety)
                cell.show_published(getattr(PAPER_PLAN, axis), _list_measured_values(plan, axis, name))
        for axis, _ in SWEEP_AXES:
            notes = [
                PaperAxisValue(statement.axis_value, statement.figure.replace("Figure", "Fig."))
                for statement in find_paper_statements(plan.workload, plan.safety, axis)
            ]
            for number, name in enumerate(self.counters):
                self.cells[name, axis].show_notes(notes, has_labels=number == 0)
        self._write_titles()

    def _write_titles(self) -> None:
        if self._shown_plan is None:
            return
        plan, _, current_points = self._shown_plan
        colors = theme.get_theme_tokens(self.palette())
        for name, title in self._titles.items():
            counter = PLOTTED_COUNTERS[name]
            parts = [f'<b style="color:{colors.text.name()}">{tr(counter.title)}</b>']
            for mode in reversed(SAFETY_MODE_ORDER):
                if mode is SafetyMode.NONE and name in MIRROR_COUNTERS:
                    continue
                value = counter.unit.text(float(getattr(current_points[mode], name)))
                words = f"{tr(MODE_NAMES[mode])} {value}"
                words = f"<b>{words}</b>" if mode is plan.safety else words
                dot = f'<span style="color:{get_mode_color(mode, colors).name()}">●</span>'
                parts.append(f'{dot} <span style="color:{colors.text.name()}">{words}</span>')
            title.setText("&nbsp;&nbsp;&nbsp;".join(parts), size=f"{self.font().pointSizeF():g}pt")

    def _recolor(self) -> None:
        colors = theme.get_theme_tokens(self.palette())
        self._view.setBackground(colors.surface)
        width = self.fontMetrics().horizontalAdvance(AXIS_LABEL_SAMPLE) + 12
        font = theme.resize_font(self.font(), 0.85)
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


def is_measured_link(plan: MirroringPlan, axis: str) -> bool:
    """Return True if the plan's link equals the link of `PAPER_PLAN` in everything except *axis*."""
    measured = PAPER_PLAN.with_changes(**{axis: getattr(plan, axis)})
    return all(getattr(plan, name) == getattr(measured, name) for name in _LINK_FIELDS)


def _list_measured_values(plan: MirroringPlan, axis: str, counter: str) -> dict[SafetyMode, list[float]]:
    """Return safety level -> measured values of *counter*, through which the curves should pass.

    The result is empty unless the plan has the measured link (see `is_measured_link`).
    """
    if not is_measured_link(plan, axis):
        return {}
    return {
        mode: [point.value for point in find_measured_points(plan.workload, mode, counter)]
        for mode in SAFETY_MODE_ORDER
    }


_LINK_FIELDS: Final = ("site", "scale", "rtt_ms", "bandwidth_mbps", "loss", "compression_ratio", "version")
