"""Time labels below the plots, and forecasts of counters.

The labels stay visible while the plots scroll.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.view_models import series
from app.view_models.series import choose_time_step_s
from app.widgets import theme
from app.words import formatting
from app.words.formatting import COUNTERS
from app.words.language import mark, tr
from app.words.localization import localize
from engine.constants import TICKS_PER_S
from engine.localization import format_duration
from engine.model import DbState
from engine.overrides import override
from engine.protocol import volumes

if TYPE_CHECKING:
    from app.view_models.series import CounterHistory
    from engine.model import World

TICK_LENGTH_PX = 4
CURSOR_MARGIN_PX = 4.0
"""Margin around the cursor's time label."""


class TimeScale(QWidget):
    """Time axis below the plots: round times since the start of the run, aligned with the grid of the plots."""

    def __init__(self, compute_pixel: Callable[[float], float], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._pixel_of = compute_pixel
        self._range = (0.0, 1.0)
        self._cursor_s: float | None = None
        self.setFont(theme.resize_font(self.font(), 0.85))

    def show_range(self, span: tuple[float, float]) -> None:
        """Set the times at both ends, in seconds since the start."""
        self._range = span
        self.update()

    def show_cursor(self, at_s: float | None) -> None:
        """Show the time *at_s* at the cursor. None hides the label."""
        if at_s != self._cursor_s:
            self._cursor_s = at_s
            self.update()

    @property
    def cursor_text(self) -> str:
        """Text of the cursor's time label."""
        is_shown = self._cursor_s is not None and self._range[0] <= self._cursor_s <= self._range[1]
        return (
            formatting.format_run_time(self._cursor_s, 1) if is_shown and self._cursor_s is not None else ""
        )

    def list_label_times_s(self) -> list[float]:
        """Return the times that have a label."""
        from_s, to_s = self._range
        step_s = choose_time_step_s(to_s - from_s, self._pixel_of(to_s) - self._pixel_of(from_s))
        first = math.ceil(from_s / step_s)
        return [step_s * number for number in range(first, math.floor(to_s / step_s) + 1)]

    @override
    def sizeHint(self) -> QSize:
        return QSize(200, self.fontMetrics().height() + TICK_LENGTH_PX + 2)

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(80, self.sizeHint().height())

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        colors = theme.get_theme_tokens(self.palette())
        left, right = (self._pixel_of(t_s) for t_s in self._range)
        painter.setPen(colors.border)
        painter.drawLine(round(left), 0, round(right), 0)
        cursor = QRectF()
        if self._cursor_s is not None and self.cursor_text:
            cursor = self._compute_label_rect(
                self._pixel_of(self._cursor_s), self.cursor_text, CURSOR_MARGIN_PX
            )
        for t_s in self.list_label_times_s():
            x = self._pixel_of(t_s)
            painter.setPen(colors.border)
            painter.drawLine(round(x), 0, round(x), TICK_LENGTH_PX)
            text = formatting.format_run_time(t_s)
            box = self._compute_label_rect(x, text)
            if not box.intersects(cursor):  # the cursor's label replaces labels that it would cover
                painter.setPen(colors.muted)
                painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)
        painter.fillRect(cursor, colors.text)
        painter.setPen(colors.surface)
        painter.drawText(cursor, Qt.AlignmentFlag.AlignCenter, self.cursor_text)
        painter.end()

    def _compute_label_rect(self, x: float, text: str, margin_px: float = 0.0) -> QRectF:
        """Return the rectangle of *text*, centered below *x*.

        If necessary, it is moved inside the edges of the axis. *margin_px*: margin to the left and right of
        the text.
        """
        width = self.fontMetrics().horizontalAdvance(text) + 2.0 * margin_px
        box = QRectF(x - width / 2.0, TICK_LENGTH_PX, width, self.height() - TICK_LENGTH_PX)
        box.moveLeft(max(0.0, min(box.left(), self.width() - width)))
        return box


FORECAST_QUEUE_MIN_KB: Final = 1024.0
"""Minimum queue for which the chart shows a forecast. Shorter queues are empty too soon. Assumed value."""
LOG_FULL_WARNING_MAX_S: Final = 3600.0
"""Longest forecast time until a full log for which the chart shows a warning. Assumed value."""
QUEUE_FORECAST_TEXTS: Final = {
    "send_queue_kb": mark("all sent in about {time}"),
    "redo_queue_kb": mark("all redone in about {time}"),
}
"""Queue counter -> text of its forecast."""
LOG_USED_COUNTER: Final = "log_used_kb"


def format_forecasts(history: CounterHistory, world: World, database: str) -> dict[str, str]:
    """Return counter -> text of its forecast. Counters without a forecast are omitted."""
    end_s = history.end_s
    predictions: dict[str, str] = {}
    for name, words in QUEUE_FORECAST_TEXTS.items():
        t_s, queue_kb = history.get_samples(name, end_s - series.SLOPE_RANGE_S, end_s)
        left_s = series.estimate_s_until_empty(t_s, queue_kb)
        if left_s and queue_kb[-1] >= FORECAST_QUEUE_MIN_KB:
            predictions[name] = tr(words).format(time=formatting.format_seconds(left_s, 0))
    t_s, used_kb = history.get_samples(LOG_USED_COUNTER, end_s - series.SLOPE_RANGE_S, end_s)
    left_s = series.estimate_s_until_full(t_s, used_kb, _compute_free_log_kb(world, database))
    if left_s is not None and left_s < LOG_FULL_WARNING_MAX_S:
        predictions[LOG_USED_COUNTER] = tr("log full in about {time}").format(
            time=formatting.format_seconds(left_s, 0)
        )
    return predictions


def list_forecast_sentences(forecasts: Mapping[str, str], sample_ticks: int) -> list[str]:
    """Return a sentence for each forecast, with the counter's title.

    For a long run, add a sentence about the sample interval. *sample_ticks*: sample interval in ticks.
    """
    sentences = [f"{tr(COUNTERS[name].title)}: {words}" for name, words in forecasts.items()]
    if sample_ticks > TICKS_PER_S:
        words = tr("Long run: from here on, the charts show one value every {time}.")
        sentences.append(words.format(time=localize(format_duration(sample_ticks / TICKS_PER_S))))
    return sentences


def _compute_free_log_kb(world: World, database: str) -> float:
    """Return the amount of log in KB that can still be written before the log of *database* is full.

    The amount is that of the online copy, or of the first copy if none is online.
    """
    copies = sorted(world.list_copies_of(database), key=lambda copy: copy.db_state is not DbState.ONLINE)
    if not copies:
        return math.inf
    growth_room_kb = volumes.compute_log_capacity_kb(copies[0]) - copies[0].log_size_kb
    return volumes.compute_log_limit_kb(world, copies[0]) + growth_room_kb
