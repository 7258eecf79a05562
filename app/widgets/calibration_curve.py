"""Calibration curve: share of correct answers over stated confidence. On the diagonal both are equal."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.widgets import theme
from app.words.language import tr
from engine.drill.judging.shapes import Calibration
from engine.overrides import override

HEIGHT_PX: Final = 170
DOT_PX: Final = (3.5, 9.0)
"""Radius of a dot for one answer, and for all answers."""


class CalibrationCurve(QWidget):
    """Square plot as high as the widget, with dots connected in order of confidence."""

    def __init__(self, calibration: Calibration, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._calibration = calibration
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        said = (
            f"{point['sure_percent']:g} %: {point['right_percent']:.0f} %" for point in calibration["curve"]
        )
        self.setAccessibleName(
            tr("Share of correct answers by stated confidence: {points}").format(points=", ".join(said))
        )

    @override
    def sizeHint(self) -> QSize:
        return QSize(HEIGHT_PX + 40, HEIGHT_PX)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colors, metrics = theme.tokens(self.palette()), self.fontMetrics()
        left, foot = metrics.horizontalAdvance("100 %") + 8, metrics.height() + 6
        side = self.height() - foot - metrics.height() // 2 - DOT_PX[1]
        box = QRectF(left, self.height() - foot - side, side, side)

        def map_to_point(sure: float, correct: float) -> QPointF:
            return QPointF(box.left() + side * sure / 100.0, box.bottom() - side * correct / 100.0)

        painter.setPen(QPen(colors.muted, 1.0))
        painter.drawLine(box.bottomLeft(), box.bottomRight())
        painter.drawLine(box.bottomLeft(), box.topLeft())
        painter.setPen(QPen(colors.muted, 1.0, Qt.PenStyle.DashLine))
        painter.drawLine(map_to_point(0.0, 0.0), map_to_point(100.0, 100.0))
        painter.setPen(colors.muted)
        for percent in (0, 50, 100):
            words, point = f"{percent} %", map_to_point(percent, percent)
            y = QRectF(0, point.y() - metrics.height() / 2, left - 6, metrics.height())
            painter.drawText(y, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, words)
            x = QRectF(point.x() - left, box.bottom() + 4, 2 * left, metrics.height())
            painter.drawText(x, Qt.AlignmentFlag.AlignHCenter, words)
        curve = [
            map_to_point(point["sure_percent"], point["right_percent"])
            for point in self._calibration["curve"]
        ]
        painter.setPen(QPen(colors.accent, 1.5))
        painter.drawPolyline(curve)
        painter.setBrush(colors.accent)
        for answers, place in zip(self._calibration["curve"], curve, strict=True):
            share = answers["answers"] / self._calibration["answers"]
            radius = DOT_PX[0] + (DOT_PX[1] - DOT_PX[0]) * share
            painter.drawEllipse(place, radius, radius)
        painter.end()
