"""Time controls: clock, buttons to play and step, and speed on a logarithmic slider."""

import math
import re
from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QSignalBlocker, QSize, Qt, Signal, Slot
from PySide6.QtGui import QAction, QFocusEvent, QFontMetrics, QKeyEvent
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QProgressBar, QSlider, QToolButton, QWidget

from app.view_models.topology_builder import HasWorld
from app.widgets import theme
from app.widgets.layouts import EmptySpace, build_row, build_widget_column
from app.words import formatting
from app.words.language import tr
from engine.model import World
from engine.overrides import override

SPEED_STEPS: Final = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0)
"""Speeds of the keys and of the slider's ticks. The slider also allows speeds between them."""
_SLIDER_STEPS: Final = 100
"""Number of slider positions per factor of ten."""


SLIDER_WIDTH_LINES: Final = (4, 11)
"""Minimum and preferred width of the slider in line heights."""


FIELD_PADDING_PX: Final = 9
"""Width of border and padding of the speed field, as in the style sheet."""


def compute_slider_position(speed: float) -> int:
    """Return the slider position for *speed*. Position 0 means 1×."""
    return round(math.log10(speed) * _SLIDER_STEPS)


def compute_speed(slider: int) -> float:
    """Return the speed at the slider position *slider*.

    Close to an entry of SPEED_STEPS, return exactly this speed.
    """
    speed = 10.0 ** (slider / _SLIDER_STEPS)
    nearest_speed = min(SPEED_STEPS, key=lambda step: abs(math.log10(step / speed)))
    return (
        nearest_speed if abs(compute_slider_position(nearest_speed) - slider) <= 3 else float(f"{speed:.2g}")
    )


def format_speed_text(speed: float) -> str:
    """Format a speed, for example 10×."""
    return f"{formatting.format_significant(speed, 2)}×"


def parse_speed(text: str) -> float | None:
    """Parse a typed speed, such as 2, 0.5, 0,5 or 1,000x, and limit it to the available range.

    Return None if *text* is not a number.
    """
    digits = re.sub(r"[\s×xX*]", "", text)
    digits_match = re.fullmatch(r"(\d{1,3}(?:[.,]\d{3})+|\d*)(?:[.,](\d+))?", digits)
    if digits_match is None or not digits.strip(".,"):
        return None
    whole_digits = re.sub(r"[.,]", "", digits_match[1]) or "0"
    return min(SPEED_STEPS[-1], max(SPEED_STEPS[0], float(f"{whole_digits}.{digits_match[2] or 0}")))


def find_next_speed(speed: float, faster: bool) -> float:
    """Return the next faster or slower speed of SPEED_STEPS."""
    if faster:
        return next((step for step in SPEED_STEPS if step > speed * 1.001), SPEED_STEPS[-1])
    return next((step for step in reversed(SPEED_STEPS) if step < speed * 0.999), SPEED_STEPS[0])


class SpeedField(QLineEdit):
    """Input field for the speed. Enter applies the text, and Up and Down select the next speed."""

    speed_chosen = Signal(float)

    def __init__(self) -> None:
        super().__init__()
        self._speed = 1.0
        self.setProperty("small", "true")
        self.setAccessibleName(tr("Speed"))
        self.setToolTip(tr("Speed, 0.1× to 1000×: type it, or use Up and Down"))
        self.returnPressed.connect(self._apply_text)
        self.show_speed(1.0)

    def show_speed(self, speed: float) -> None:
        """Show *speed*."""
        self._speed = speed
        self.setText(format_speed_text(speed))

    def _apply_text(self) -> None:
        """Apply the typed speed, or restore the previous text if it is not a speed."""
        speed = parse_speed(self.text())
        self.show_speed(self._speed if speed is None else speed)
        if speed is not None:
            self.speed_chosen.emit(speed)
        self.selectAll()

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self.speed_chosen.emit(find_next_speed(self._speed, faster=event.key() == Qt.Key.Key_Up))
        else:
            super().keyPressEvent(event)

    @override
    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.show_speed(self._speed)

    def fit_width(self) -> None:
        """Set the width for the longest speed."""
        width = self.fontMetrics().horizontalAdvance(format_speed_text(SPEED_STEPS[-1]) + "0")
        self.setFixedWidth(width + 2 * FIELD_PADDING_PX)


def _format_lag_text(reached_speed: float) -> str:
    return tr("speed reached: {speed_text}").format(speed_text=format_speed_text(reached_speed))


class _SliderArea(QWidget):
    """Area of the slider or the progress bar. It shrinks if space is short."""

    def __init__(self, *bars: QWidget) -> None:
        super().__init__()
        build_widget_column(*bars, parent=self, margins=0)

    def sizeHint(self) -> QSize:
        return QSize(SLIDER_WIDTH_LINES[1] * self.fontMetrics().height(), super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        return QSize(SLIDER_WIDTH_LINES[0] * self.fontMetrics().height(), super().minimumSizeHint().height())


def _set_fixed_text(label: QLabel, text: str) -> None:
    """Set the text of a label without changing its size, which would lay out the whole window."""
    if label.fontMetrics().horizontalAdvance(text) > label.width():
        _fix_size(label, text)
    label.setText(text)


def _fix_size(label: QLabel, text: str) -> None:
    metrics = QFontMetrics(label.font())
    label.setFixedSize(metrics.horizontalAdvance(text), metrics.height())


class TimeControls(QWidget):
    """Panel with simulated time and speed. Its buttons are actions of the window."""

    speed_chosen = Signal(float)

    def __init__(self, actions: Sequence[QAction], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._clock = QLabel("0:00.00")
        self._server_time = QLabel()
        self._server_time.setProperty("muted", "true")
        self._server_time.setToolTip(tr("Time on the clocks of the simulated servers"))
        self._buttons = [self._build_button(action) for action in actions]
        self._buttons[0].setProperty("primary", "true")
        self._speed = SpeedField()
        self._speed.speed_chosen.connect(self.speed_chosen)
        self._slider = QSlider(Qt.Orientation.Horizontal)
        self._slider.setRange(
            compute_slider_position(SPEED_STEPS[0]), compute_slider_position(SPEED_STEPS[-1])
        )
        self._slider.setTickInterval(_SLIDER_STEPS)
        self._slider.setTickPosition(QSlider.TickPosition.TicksBelow)
        self._slider.setSingleStep(10)
        self._slider.setPageStep(_SLIDER_STEPS // 2)
        self._slider.setAccessibleName(tr("Speed, 0.1× to 1000×"))
        self._slider.setToolTip(tr("Speed: simulated seconds per second"))
        self._slider.valueChanged.connect(lambda place: self.speed_chosen.emit(compute_speed(place)))
        self._note = QLabel()
        self._note.setObjectName("lag")
        self._note.setProperty("muted", "true")
        self._progress = QProgressBar()
        self._progress.setRange(0, 1000)
        self._progress.setTextVisible(False)
        self._progress.setAccessibleName(tr("Progress of the search or replay"))
        self._lay_out()
        self.show_speed(1.0)
        self.show_progress(-1.0)
        self._show_font()
        theme.call_after_events(self, theme.FONT_EVENTS, self._show_font)

    def _build_button(self, action: QAction) -> QToolButton:
        button = QToolButton()
        button.setDefaultAction(action)
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonIconOnly)
        return button

    def _lay_out(self) -> None:
        clock = build_widget_column(self._clock, self._server_time, spacing=0)
        layout = build_row(self._speed, 0, self._note)
        speed = build_widget_column(layout, _SliderArea(self._slider, self._progress), spacing=2)
        build_row(
            clock,
            EmptySpace(10),
            *self._buttons,
            EmptySpace(10),
            speed,
            parent=self,
            margins=(10, 4, 6, 4),
            spacing=2,
        )

    # --- display --------------------------------------------------------------------------------------------

    @Slot(object)
    def show_drill(self, drill: HasWorld) -> None:
        """Show another run, or another time of the same run."""
        self.show_world(drill.world)

    @Slot(object)
    def show_world(self, world: World) -> None:
        """Show the current state of the world."""
        _set_fixed_text(self._clock, formatting.format_run_time(world.t_s, 2))
        self._clock.setAccessibleName(
            " ".join((tr("Simulated time"), formatting.format_run_time(world.t_s, 0)))
        )
        _set_fixed_text(
            self._server_time, formatting.format_server_time(world.settings.start_time, world.tick, 0)
        )

    @Slot(float)
    def show_speed(self, speed: float) -> None:
        """Show *speed* on the slider and in the field."""
        with QSignalBlocker(self._slider):
            self._slider.setValue(compute_slider_position(speed))
        self._speed.show_speed(speed)
        self._slider.setAccessibleDescription(format_speed_text(speed))

    @Slot(float)
    def show_lag(self, reached_speed: float) -> None:
        """Show that the simulation reaches only the speed *reached_speed*. 0 removes the message."""
        self._note.setText(_format_lag_text(reached_speed) if reached_speed else "")

    @Slot(float)
    def show_progress(self, share: float) -> None:
        """Show the progress of a search or a replay, from 0 to 1. A negative *share* hides it."""
        self._progress.setVisible(share >= 0.0)
        self._slider.setVisible(share < 0.0)
        self._progress.setValue(round(share * 1000))

    # --- theme ----------------------------------------------------------------------------------------------

    def _show_font(self) -> None:
        clock = theme.resize_font(theme.build_fixed_font(1.0), 1.7, bold=True)
        self._clock.setFont(clock)
        _fix_size(self._clock, "0:00:00.00")
        font = QApplication.font()
        self._speed.setFont(theme.resize_font(font, 1.05, bold=True))
        self._speed.fit_width()
        small = theme.resize_font(font, 0.85)
        self._server_time.setFont(small)
        _fix_size(self._server_time, self._server_time.text())
        small = theme.resize_font(font, 0.75)
        # the note of the lag has a fixed width, because it appears and disappears every few frames
        self._note.setFont(small)
        self._note.setFixedWidth(QFontMetrics(small).horizontalAdvance(_format_lag_text(SPEED_STEPS[-1])))
        line = QFontMetrics(font).height()
        for button in self._buttons:
            icon_px = round(line * 1.35)
            button.setIconSize(QSize(icon_px, icon_px))
            button.setFixedSize(QSize(round(line * 2.6), round(line * 2.3)))
