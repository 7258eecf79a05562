"""Distribution of failover times on a link, from many simulated runs per cause."""

from collections.abc import Mapping, Sequence
from typing import Final

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, QTimer
from PySide6.QtGui import QCloseEvent, QFontMetricsF, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QDialog, QGridLayout, QLabel, QProgressBar, QSizePolicy, QWidget

from app.views.planner.controls import NumberBox
from app.widgets import theme
from app.widgets.layouts import build_row, build_widget_column
from app.widgets.scene_symbols import draw_grid_lines
from app.words import formatting
from app.words.language import mark, tr
from engine.drill.judging.sweep import (
    FAULT_VERBS,
    RunOutcome,
    build_failover_scenario,
    compute_confidence_interval,
    compute_percentile,
    simulate_failovers,
)
from engine.drill.time.cooperative_tasks import CooperativeTask
from engine.overrides import override
from engine.planning import MirroringPlan

RUNS_PER_CAUSE: Final = 100
"""Number of runs per cause. Assumed: shares computed from them are accurate to 10 percentage points."""

CAUSE_NAMES: Final = {
    "power-off": mark("power lost"),
    "stop-service": mark("service stopped"),
    "hang": mark("server hangs"),
    "pull-cable": mark("network cable pulled"),
}
"""Cause (an event on the principal) -> label."""

CAUSE_LINE_STYLES: Final = {
    "power-off": Qt.PenStyle.SolidLine,
    "stop-service": Qt.PenStyle.DashLine,
    "hang": Qt.PenStyle.DashDotLine,
    "pull-cable": Qt.PenStyle.DotLine,
}
"""Cause -> line style, which distinguishes overlapping curves."""

LIMIT_DEFAULT_S: Final = 10.0
"""Initial time limit: the default partner timeout."""

TIME_AXIS_MAX_S: Final = 60.0
"""Maximum time on the axis. Longer times appear only as numbers."""


class FailoverTimesDialog(QDialog):
    """Dialog with the failover times of one plan.

    The runs are simulated in slices, without blocking the window.
    """

    def __init__(self, plan: MirroringPlan, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Failover times"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.downtimes: dict[str, list[float]] = {}
        """Cause -> seconds without service of each run, in order."""
        self.limit = NumberBox()
        self.limit.setDecimals(1)
        self.limit.setRange(0.5, TIME_AXIS_MAX_S)
        self.limit.setSuffix(" s")
        self.limit.setValue(LIMIT_DEFAULT_S)
        self.limit.setAccessibleName(tr("Maximum downtime"))
        self.limit.valueChanged.connect(self._show_times)
        self.chart = RecoveryChart()
        self._bar = QProgressBar(textVisible=False)
        self._rows = QGridLayout()
        self._lay_out(plan)
        self._remaining_runs = [
            (cause, cause_scenario)
            for cause in FAULT_VERBS
            if (cause_scenario := build_failover_scenario(plan, cause)) is not None
        ]
        self._work: CooperativeTask[list[RunOutcome]] | None = None
        self.timer = QTimer(self, interval=0)
        self.timer.timeout.connect(self._on_timer)
        self.timer.start()
        self._show_times()

    @override
    def closeEvent(self, event: QCloseEvent) -> None:
        self.timer.stop()
        super().closeEvent(event)

    def _on_timer(self) -> None:
        """Simulate the next slice of the runs."""
        if not self._remaining_runs:
            self.timer.stop()
            self._bar.hide()
            return
        cause, scenario = self._remaining_runs[0]
        if self._work is None:
            self._work = simulate_failovers(scenario, RUNS_PER_CAUSE)
        try:
            share = next(self._work)
        except StopIteration as end:
            self._remaining_runs.pop(0)
            self._work = None
            self.downtimes[cause] = sorted(run_outcome.downtime_s for run_outcome in end.value)
            self._show_times()
        else:
            self._bar.setValue(round(100 * (len(self.downtimes) + share) / len(FAULT_VERBS)))

    def _show_times(self) -> None:
        limit_s = self.limit.value()
        self.chart.show_times(self.downtimes, limit_s)
        while (item := self._rows.takeAt(0)) is not None:
            if (old := item.widget()) is not None:
                old.deleteLater()
        limit_text = tr("database online within {seconds}").format(
            seconds=f"{formatting.format_plain_number(limit_s)} s"
        )
        sure = tr("confidence interval (95%)")
        head = (tr("Failure at the principal"), limit_text, sure, tr("Median"), tr("95th percentile"))
        rows = [head, *(_format_row(cause, self.downtimes.get(cause, ()), limit_s) for cause in FAULT_VERBS)]
        for number, cause in enumerate(FAULT_VERBS):
            self._rows.addWidget(LineStyleSample(number, cause), number + 1, 0)
        for number, row in enumerate(rows):
            for column, text in enumerate(row, start=1):
                label = QLabel(text)
                label.setProperty("muted", "true" if number == 0 else "false")
                if column > 1:
                    label.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
                self._rows.addWidget(label, number, column)

    def _lay_out(self, plan: MirroringPlan) -> None:
        question_row = build_row(
            QLabel(tr("How often is the database online within this time?")),
            self.limit,
            QLabel(tr("(counted from the failure)")),
            0,
        )
        text = tr(
            "{runs} runs for each cause on the planned link ({rtt} ms, {bandwidth} Mbps), with "
            "safety FULL and a witness at the mirror site. Times run from the failure until the "
            "database is online on the other server."
        ).format(
            runs=RUNS_PER_CAUSE,
            rtt=formatting.format_significant(plan.rtt_ms),
            bandwidth=formatting.format_significant(plan.bandwidth_mbps),
        )
        words = QLabel(text, wordWrap=True)
        words.setProperty("muted", "true")
        self._rows.setHorizontalSpacing(18)
        self._rows.setColumnStretch(1, 1)
        build_widget_column(
            question_row, words, (self.chart, 1), self._bar, self._rows, parent=self, spacing=10
        )


def _format_row(cause: str, times: Sequence[float], limit_s: float) -> tuple[str, ...]:
    if not times:
        return tr(CAUSE_NAMES[cause]), *[formatting.NO_VALUE] * 4
    hits = len([time_s for time_s in times if time_s <= limit_s])
    low, high = compute_confidence_interval(hits, len(times))
    return (
        tr(CAUSE_NAMES[cause]),
        tr("{hits} of {runs}").format(hits=hits, runs=len(times)),
        f"{100 * low:.0f}–{100 * high:.0f}{formatting.format_percent_sign()}",
        formatting.format_seconds(compute_percentile(times, 50)),
        formatting.format_seconds(compute_percentile(times, 95)),
    )


class RecoveryChart(QWidget):
    """Chart with a curve per cause: the share of runs whose service was back by each time."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._times: Mapping[str, Sequence[float]] = {}
        self._limit_s = LIMIT_DEFAULT_S
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName(tr("Share of runs in which the database is online by this time"))

    @override
    def sizeHint(self) -> QSize:
        unit = self.fontMetrics().height()
        return QSize(46 * unit, 18 * unit)

    @override
    def minimumSizeHint(self) -> QSize:
        return self.sizeHint() / 2

    def show_times(self, times: Mapping[str, Sequence[float]], limit_s: float) -> None:
        """Show the distribution of *times* (cause -> sorted seconds), and the limit."""
        self._times, self._limit_s = times, limit_s
        text = tr("{cause}: {hits} of {runs}")
        self.setAccessibleDescription(
            "; ".join(
                text.format(
                    cause=tr(CAUSE_NAMES[cause]),
                    hits=len([t for t in cause_times if t <= limit_s]),
                    runs=len(cause_times),
                )
                for cause, cause_times in times.items()
            )
        )
        self.update()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(theme.resize_font(self.font(), 0.85))
        metrics = QFontMetricsF(painter.font())
        line = metrics.height()
        left_px = metrics.horizontalAdvance(f"100{formatting.format_percent_sign()}") + 8
        box = QRectF(left_px, line * 2.6, self.width() - left_px - 1.5 * line, self.height() - line * 5.4)
        slowest = max((cause_times[-1] for cause_times in self._times.values()), default=0.0)
        end_s = min(TIME_AXIS_MAX_S, 5.0 * (int(max(slowest, self._limit_s) / 5.0) + 1))

        def map_to_point(seconds: float, share: float) -> QPointF:
            return QPointF(
                box.left() + box.width() * min(1.0, seconds / end_s), box.bottom() - box.height() * share
            )

        self._paint_axes(painter, box, line, end_s)
        colors = theme.get_theme_tokens(self.palette())
        for number, (cause, times) in enumerate(self._times.items()):
            painter.setPen(QPen(colors.series[number], 2.0, CAUSE_LINE_STYLES[cause]))
            points, share = [map_to_point(0.0, 0.0)], 0.0
            for rank, seconds in enumerate(times, start=1):
                if seconds > end_s:
                    break
                points += [map_to_point(seconds, share), map_to_point(seconds, share := rank / len(times))]
            painter.drawPolyline(QPolygonF([*points, map_to_point(end_s, share)]))
        painter.setPen(QPen(colors.text, 1.2, Qt.PenStyle.DashLine))
        painter.drawLine(map_to_point(self._limit_s, 0.0), map_to_point(self._limit_s, 1.0))
        rect_above = QRectF(
            map_to_point(self._limit_s, 1.0).x() - 4 * line, box.top() - 1.2 * line, 8 * line, line
        )
        painter.drawText(
            rect_above, Qt.AlignmentFlag.AlignHCenter, f"{formatting.format_plain_number(self._limit_s)} s"
        )
        painter.end()

    def _paint_axes(self, painter: QPainter, box: QRectF, line: float, end_s: float) -> None:
        colors = theme.get_theme_tokens(self.palette())
        draw_grid_lines(
            painter,
            box,
            [
                (percent / 100.0, f"{percent}{formatting.format_percent_sign()}")
                for percent in (0, 25, 50, 75, 100)
            ],
            colors,
        )
        words = QRectF(0.0, 0.0, self.width(), line)
        painter.drawText(words, Qt.AlignmentFlag.AlignLeft, tr("runs online"))
        words = QRectF(box.left(), box.bottom() + 1.4 * line, box.width(), line)
        painter.drawText(words, Qt.AlignmentFlag.AlignHCenter, tr("time since the failure"))
        step_s = 5.0 if end_s <= 30.0 else 10.0
        for number in range(int(end_s / step_s) + 1):
            x = box.left() + box.width() * number * step_s / end_s
            label_rect = QRectF(x - 4 * line, box.bottom() + line * 0.3, 8 * line, line)
            painter.drawText(
                label_rect, Qt.AlignmentFlag.AlignHCenter, formatting.format_seconds(number * step_s, 0)
            )


class LineStyleSample(QWidget):
    """Legend sample with the line style of a cause."""

    def __init__(self, number: int, cause: str) -> None:
        super().__init__()
        self._number, self._stroke = number, CAUSE_LINE_STYLES[cause]
        self.setFixedWidth(3 * self.fontMetrics().height())

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(theme.get_theme_tokens(self.palette()).series[self._number], 2.0, self._stroke))
        middle = QPointF(0.0, self.height() / 2)
        painter.drawLine(middle, middle + QPointF(self.width(), 0.0))
        painter.end()
