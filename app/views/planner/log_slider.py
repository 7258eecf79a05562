"""Logarithmic slider with named ranges below it and a field for the exact value."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final

from PySide6.QtCore import QEvent, QRect, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QDoubleSpinBox,
    QGridLayout,
    QLabel,
    QSizePolicy,
    QSlider,
    QStyle,
    QStyleOptionSlider,
    QWidget,
)

from app.widgets import theme
from app.widgets.number_locale import number_locale
from app.words import formatting
from app.words.language import tr
from engine.overrides import override

STEPS_PER_DECADE: Final = 60
DIGITS: Final = 3
"""Significant digits of the slider's value: nobody measures a link more exactly."""

FIELD_SAMPLE: Final = "10,000 Mbps"
"""Sample for the width of all fields next to the sliders."""
FIELD_MARGIN_PX: Final = 18

Band = tuple[str, float, float]
"""Name, from, to."""
Mark = tuple[str, float]
"""Name and position."""


class LogSlider(QWidget):
    """Positive number between two bounds."""

    changed = Signal(float)

    def __init__(
        self,
        title: str,
        low: float,
        high: float,
        unit: str,
        bands: Sequence[Band] = (),
        marks: Sequence[Mark] = (),
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._low, self._high = low, high
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setRange(0, round(math.log10(high / low) * STEPS_PER_DECADE))
        self.slider.setPageStep(STEPS_PER_DECADE // 3)
        self.slider.setAccessibleName(title)
        self.field = FigureBox()
        self.field.setDecimals(4)
        self.field.setRange(low, high)
        self.field.setSuffix(f" {unit}")
        self.field.setStepType(QDoubleSpinBox.StepType.AdaptiveDecimalStepType)
        self.field.setKeyboardTracking(False)
        self.field.setAccessibleName(title)
        self.field.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.strip = SliderLabels(self.slider, self.position_of, bands, marks)
        label = QLabel(title)
        label.setBuddy(self.field)
        layout = QGridLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setVerticalSpacing(1)
        layout.addWidget(label, 0, 0)
        layout.addWidget(self.field, 0, 1, Qt.AlignmentFlag.AlignRight)
        layout.addWidget(self.slider, 1, 0, 1, 2)
        layout.addWidget(self.strip, 2, 0, 1, 2)
        self.strip.setVisible(bool(bands or marks))
        self.slider.valueChanged.connect(self._on_slider_moved)
        self.field.valueChanged.connect(self._typed)

    @property
    def value(self) -> float:
        """Return the value."""
        return self.field.value()

    def set_value(self, value: float) -> None:
        """Set both to *value*, within the bounds; emit `changed` if it is new."""
        self.field.setValue(min(max(value, self._low), self._high))

    def position_of(self, value: float) -> int:
        """Return the slider position for *value*."""
        return round(math.log10(max(value, self._low) / self._low) * STEPS_PER_DECADE)

    def _on_slider_moved(self, position: int) -> None:
        if position != self.position_of(self.field.value()):
            value = self._low * 10.0 ** (position / STEPS_PER_DECADE)
            self.field.setValue(min(float(f"{value:.{DIGITS}g}"), self._high))

    def _typed(self, value: float) -> None:
        self.slider.setValue(self.position_of(value))
        self.changed.emit(value)


class FigureBox(QDoubleSpinBox):
    """Number without trailing zeros, in the format of the interface language."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setLocale(number_locale())
        self._show_font()

    @override
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._show_font()

    def _show_font(self) -> None:
        self.setFixedWidth(self.fontMetrics().horizontalAdvance(FIELD_SAMPLE) + FIELD_MARGIN_PX)

    @override
    def textFromValue(self, value: float) -> str:
        return formatting.significant(value, 6)


class SliderLabels(QWidget):
    """Names below their ranges or positions on the slider."""

    def __init__(
        self,
        slider: QSlider,
        position_of: Callable[[float], int],
        bands: Sequence[Band],
        marks: Sequence[Mark],
    ) -> None:
        super().__init__()
        self._slider, self._position_of = slider, position_of
        self._bands, self._marks = tuple(bands), tuple(marks)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setToolTip(
            "; ".join(
                tr("{name}: {low} to {high}").format(
                    name=name, low=formatting.plain_number(low), high=formatting.plain_number(high)
                )
                for name, low, high in bands
            )
        )

    @override
    def sizeHint(self) -> QSize:
        return QSize(100, self.fontMetrics().height() + 2)

    def pixel_of(self, value: float) -> int:
        """Return the pixel of the center of the slider's handle for *value*."""
        option = QStyleOptionSlider()
        self._slider.initStyleOption(option)
        handle = self._slider.style().pixelMetric(QStyle.PixelMetric.PM_SliderLength, option, self._slider)
        span = self._slider.width() - handle
        position = self._position_of(value)
        return handle // 2 + QStyle.sliderPositionFromValue(0, self._slider.maximum(), position, span)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        colors = theme.tokens(self.palette())
        painter = QPainter(self)
        painter.setFont(theme.sized(self.font(), 0.85))
        painter.setPen(colors.muted)
        for number, (name, low, high) in enumerate(self._bands):
            left, right = self.pixel_of(low), self.pixel_of(high)
            box = QRect(left + 1, 0, right - left - 1, self.height() - 2)
            painter.fillRect(box, colors.info_soft if number % 2 else colors.idle_soft)
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, name)
        for name, at in self._marks:
            width = painter.fontMetrics().horizontalAdvance(name)
            left = min(max(0, self.pixel_of(at) - width // 2), self.width() - width)
            painter.drawText(left, painter.fontMetrics().ascent(), name)
        painter.end()
