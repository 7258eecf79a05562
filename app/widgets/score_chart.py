"""Scores of one drill over time as a small chart of the learner's improvement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.widgets import theme
from app.widgets.level_lines import draw_levels
from app.words import formatting
from app.words.language import tr
from engine.overrides import override

LINES: Final = (0.0, 50.0, 100.0)
"""Points with a horizontal line."""
HEIGHT_UNITS: Final = 7.0
"""Height in line heights."""
DOT: Final = 0.26
"""Radius of a dot in line heights."""


@dataclass(frozen=True, slots=True)
class Scored:
    """Run of the drill."""

    at: datetime
    score: float
    """Score from 0 to 100."""
    retried: bool
    """True if the run was rewound: drawn hollow, because it is not comparable."""


class ScoreChart(QWidget):
    """Dot for each run, oldest to the left, evenly spaced; hollow after rewinding."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._runs: tuple[Scored, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(tr("Score over time"))

    def show_runs(self, oldest_first: Sequence[Scored]) -> None:
        """Show the scores of runs."""
        self._runs = tuple(oldest_first)
        self.setAccessibleDescription(", ".join(formatting.plain_number(run.score) for run in self._runs))
        self.update()

    @override
    def sizeHint(self) -> QSize:
        return QSize(320, round(self.fontMetrics().height() * HEIGHT_UNITS))

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        colors = theme.tokens(self.palette())
        small = theme.sized(self.font(), 0.85)
        metrics = QFontMetricsF(small)
        line = metrics.height()
        left = metrics.horizontalAdvance("100") + 10.0
        plot = QRectF(self.rect()).adjusted(left, line * 0.7, -line, -line * 1.5)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(small)
        draw_levels(
            painter, plot, [(points / 100.0, formatting.plain_number(points)) for points in LINES], colors
        )
        dots = self._dots(plot)
        painter.setPen(QPen(colors.accent, 2.0))
        painter.drawPolyline(QPolygonF(dots))
        for run, dot in zip(self._runs, dots, strict=True):
            painter.setBrush(colors.surface if run.retried else colors.accent)
            painter.drawEllipse(dot, line * DOT, line * DOT)
        self._write_dates(painter, plot, line)
        painter.end()

    def _dots(self, plot: QRectF) -> list[QPointF]:
        inner = plot.adjusted(plot.height() * 0.12, 0.0, -plot.height() * 0.12, 0.0)
        steps = max(1, len(self._runs) - 1)
        return [
            QPointF(
                inner.left() + inner.width() * place / steps, plot.bottom() - plot.height() * run.score / 100
            )
            for place, run in enumerate(self._runs)
        ]

    def _write_dates(self, painter: QPainter, plot: QRectF, line: float) -> None:
        if not self._runs:
            return
        painter.setPen(theme.tokens(self.palette()).muted)
        box = QRectF(plot.left(), plot.bottom() + line * 0.4, plot.width(), line)
        first, last = (f"{run.at.astimezone():%Y-%m-%d}" for run in (self._runs[0], self._runs[-1]))
        painter.drawText(box, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, first)
        if last != first:
            painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, last)
