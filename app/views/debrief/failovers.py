"""Failovers in the debrief: phases drawn to scale, and the published time for the same conditions."""

from collections.abc import Mapping, Sequence
from typing import Final

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QWidget

from app.views.debrief.debrief_widgets import build_label
from app.widgets import theme
from app.widgets.layouts import build_widget_column
from app.words import formatting
from app.words.language import mark, tr
from app.words.localization import localize
from engine.availability.estimates import GroupFailoverEstimate
from engine.drill.judging.report_types import ReportRow

DETECTION_PHASE: Final = mark("detection")
PREPARATION_PHASE: Final = mark("wait for the command")
"""Name of the phase before the command of a requested failover."""

PHASES: Final = (
    ("failed", "detected", DETECTION_PHASE, None),
    ("detected", "redo_done", mark("redo"), 1),
    ("redo_done", "decided", mark("quorum"), 2),
    ("decided", "online", mark("role change"), 0),
    ("online", "undo_done", mark("undo"), 3),
)
"""Phases of a failover as in the timing panel: first step, last step, name, color index (None means idle).

Undo runs while clients already work again.
"""

INSTANCE_PHASES: Final = (PHASES[0], ("detected", "online", mark("start and recovery on the new node"), 0))
"""Phases of a failover of a failover cluster instance. The recovery includes redo."""


class FailoverPanel(QWidget):
    """Panel of a failover: its phases, its time, and the published time or the reason why there is none."""

    def __init__(
        self,
        failover: ReportRow,
        incomparable_reason: str = "",
        estimate: GroupFailoverEstimate | None = None,
    ) -> None:
        super().__init__()
        layout = build_widget_column(parent=self, margins=0, spacing=4)
        head = tr("{database}: {kind} failover {from_server} → {to_server}, cause: {cause}")
        layout.addWidget(
            build_label(
                head.format(**{**failover, "kind": formatting.get_failover_kind_name(failover["kind"])}),
                1.0,
                bold=True,
            )
        )
        layout.addWidget(_PhaseBar(failover))
        layout.addWidget(build_label(format_comparison(failover, incomparable_reason)))
        if estimate is not None:
            layout.addWidget(build_label(format_recovery_time(estimate, failover)))
            layout.addWidget(build_label(format_data_loss(estimate, failover)))


def format_recovery_time(estimate: GroupFailoverEstimate, failover: ReportRow) -> str:
    """Format the measured time of *failover*, and the time Tfailover of the published formula.

    *estimate*: result of the formula for the state just before the failover.
    """
    took_s = failover["online_t_s"] - failover["failed_t_s"]
    redo = formatting.NO_VALUE if estimate.redo_s is None else formatting.format_seconds(estimate.redo_s, 1)
    total = (
        formatting.NO_VALUE
        if estimate.failover_s is None
        else formatting.format_seconds(estimate.failover_s, 1)
    )
    detection = formatting.format_seconds(estimate.detection_s, 1)
    return tr(
        "RTO by the formula: detection {detection}{by} + overhead {overhead} + redo {redo} (redo "
        "queue {queue} ÷ {rate}) = {total}. Measured: {took}."
    ).format(
        detection=detection,
        by=f" ({estimate.detected_by})" if estimate.detected_by else "",
        overhead=formatting.format_seconds(estimate.overhead_s, 1),
        redo=redo,
        queue=formatting.format_kb(estimate.redo_queue_kb),
        rate=formatting.format_kb_per_s(estimate.redo_rate_kb_per_s),
        total=total,
        took=formatting.format_seconds(took_s, 1),
    )


def format_data_loss(estimate: GroupFailoverEstimate, failover: ReportRow) -> str:
    """Format the measured data loss of *failover*, and the value Tdata_loss of the published formula.

    *estimate*: result of the formula.
    """
    loss = (
        formatting.NO_VALUE
        if estimate.data_loss_s is None
        else formatting.format_seconds(estimate.data_loss_s, 1)
    )
    return tr(
        "RPO by the formula: log send queue {queue} ÷ log generation {rate} = {loss}. "
        "Lost: {count} committed transactions, {size} of log."
    ).format(
        queue=formatting.format_kb(estimate.send_queue_kb),
        rate=formatting.format_kb_per_s(estimate.log_rate_kb_per_s),
        loss=loss,
        count=formatting.format_number(failover.get("lost_transactions") or 0),
        size=formatting.format_kb(failover.get("lost_kb") or 0.0),
    )


def build_attempt_label(row: ReportRow) -> QWidget:
    """Build a label for a failover that was started but not completed, with the reason."""
    text = tr("{at}  {database}: {kind} failover {from_server} → {to_server}. {why}.")
    reason = localize(row["why"])
    time = formatting.format_run_time(row["detected_t_s"])
    shown_rows = {
        **row,
        "at": time,
        "kind": formatting.get_failover_kind_name(row["kind"]),
        "why": reason[:1].upper() + reason[1:],
    }
    return build_label(text.format(**shown_rows))


def describe_missing_parts(parts: Sequence[Mapping[str, str]]) -> str:
    """Describe the parts of the report that an internal error has removed."""
    text = tr("These parts of the report are missing because of an internal error: {parts}.")
    return text.format(parts=", ".join(f"{row['part']} ({row['error']})" for row in parts))


def list_phases(failover: ReportRow) -> list[tuple[str, float]]:
    """Return name and seconds of each phase with known start and end."""
    phases = []
    for start, end, name, _ in INSTANCE_PHASES if failover.get("technology") == "fci" else PHASES:
        from_s, to_s = failover.get(f"{start}_t_s"), failover.get(f"{end}_t_s")
        if from_s is not None and to_s is not None and to_s >= from_s:
            ordered = start == "failed" and failover.get("kind") != "automatic"
            phases.append((PREPARATION_PHASE if ordered else name, to_s - from_s))
    return phases


def format_comparison(failover: ReportRow, incomparable_reason: str = "") -> str:
    """Format the time of a failover and compare it with the published time.

    *incomparable_reason*: reason why the times are not comparable.
    """
    failover_s = failover.get("failover_s")
    if failover_s is None:
        return tr("The failover was not completed.")
    transactions = failover.get("lost_transactions") or 0
    losses = (
        tr("{count} committed transactions were lost.").format(count=formatting.format_number(transactions))
        if transactions
        else ""
    )
    text = tr("From detection to the role change: {time}.")
    if failover.get("technology") == "fci":
        text = tr("From detection to online: {time}.")
    text = text.format(time=formatting.format_seconds(failover_s))
    published = failover.get("published_s")
    if published is None:
        comparison = tr("No comparable figure is published.")
        if incomparable_reason:
            comparison = tr("Not compared with published times: {reason}.").format(
                reason=localize(incomparable_reason)
            )
        return f"{text} {comparison} {losses}".rstrip()
    share = formatting.format_percent(failover_s / published - 1.0, 0, shows_plus=True)
    published_text = tr("Published: {time} ({reference}), {share}.").format(
        time=formatting.format_seconds(published, 1), reference=failover["published_ref"], share=share
    )
    return f"{text} {published_text} {losses}".rstrip()


class _PhaseBar(QWidget):
    """Bar with the phases drawn to scale. Below it are the time of this run and the published time."""

    def __init__(self, failover: ReportRow) -> None:
        super().__init__()
        self._phases = list_phases(failover)
        self._failover_s, self._published = failover.get("failover_s"), failover.get("published_s")
        self.setAccessibleName(
            ", ".join(f"{tr(name)} {formatting.format_seconds(seconds)}" for name, seconds in self._phases)
        )

    def sizeHint(self) -> QSize:
        return QSize(300, round(self.fontMetrics().height() * (3.1 + 1.6 * len(self._list_time_labels()))))

    def _list_time_labels(self) -> list[tuple[str, float]]:
        """Return (text, seconds) for the times below the bar, counted from the detection of the failure."""
        if self._failover_s is None:
            return []
        rows = [
            (
                tr("this run: {time}").format(time=formatting.format_seconds(self._failover_s)),
                self._failover_s,
            )
        ]
        if self._published is not None:
            text = tr("published {time}").format(time=formatting.format_seconds(self._published, 1))
            rows.append((text, self._published))
        return rows

    def paintEvent(self, event: QPaintEvent) -> None:
        colors = theme.get_theme_tokens(self.palette())
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        line = self.fontMetrics().height()
        spans = self._list_time_labels()
        first = self._phases[0][1] if self._phases and spans else 0.0
        total = max(
            sum(seconds for _, seconds in self._phases),
            *(first + duration_s for _, duration_s in spans),
            1e-9,
        )
        small, bold = theme.resize_font(self.font(), 0.88), theme.resize_font(self.font(), 0.92, bold=True)
        metrics = QFontMetricsF(small)
        x, text_left, tall = 0.0, 0.0, line * 1.5
        color_names = {
            name: colors.idle if series is None else colors.series[series]
            for _, _, name, series in (*PHASES, *INSTANCE_PHASES)
        }
        color_names[PREPARATION_PHASE] = colors.idle
        for name, seconds in self._phases:
            text, width = f"{tr(name)} {formatting.format_seconds(seconds)}", self.width() * seconds / total
            box = QRectF(x, 0, max(1.5, width - 1.5), tall)
            painter.fillRect(box, color_names[name])
            x += width
            if QFontMetricsF(bold).horizontalAdvance(text) + 12 <= box.width():
                painter.setFont(bold)
                painter.setPen(colors.on_accent if colors.dark else colors.surface)
                painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)
                continue
            swatch = QRectF(text_left, line * 1.95, line * 0.55, line * 0.55)
            painter.fillRect(swatch, color_names[name])
            painter.setFont(small)
            painter.setPen(colors.text)
            row = QRectF(swatch.right() + 5, line * 1.65, 400, line * 1.2)
            painter.drawText(row, Qt.AlignmentFlag.AlignVCenter, text)
            text_left = swatch.right() + 5 + metrics.horizontalAdvance(text) + line * 0.9
        for number, (text, duration_s) in enumerate(spans):
            top, pitch = line * (3.0 + 1.6 * number), self.width() / total
            box = QRectF(first * pitch, top, duration_s * pitch, line * 0.35)
            painter.setPen(QPen(colors.muted if number else colors.text, 1.6))
            painter.drawPolyline(
                QPolygonF([box.topLeft(), box.bottomLeft(), box.bottomRight(), box.topRight()])
            )
            painter.setFont(small if number else bold)
            rect_below = QRectF(0, box.bottom(), self.width(), line * 1.2)
            rect_below.moveLeft(box.center().x() - rect_below.width() / 2)
            painter.drawText(rect_below, Qt.AlignmentFlag.AlignCenter, text)
