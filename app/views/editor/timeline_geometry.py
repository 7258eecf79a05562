"""Positions in a timeline, and the result of a drag. Pure functions of pixels and seconds, without Qt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from app.views.editor.timeline_entries import Spot

WHOLE, START, END = "whole", "start", "end"
"""Parts of an entry that the user can drag."""

FINE_PX_PER_S: Final = 2.0
"""Minimum scale for drags in seconds; below it they use five seconds, so that a pixel skips no reachable time."""
COARSE_S: Final = 5.0
GRIP_PX: Final = 6.0
"""Half the width in which a marker or the end of a window can be grabbed."""
ROWS_MAX: Final = 12
"""Maximum number of rows. Entries without room overlap others in the last row."""


@dataclass(frozen=True, slots=True)
class Scale:
    """Time scale: *left* is 0 s, *width* pixels to the right is *length_s*."""

    left: float
    width: float
    length_s: float

    def x_of(self, t_s: float) -> float:
        """Return the pixel of a time."""
        return self.left + t_s / self.length_s * self.width

    def time_at(self, x: float) -> float:
        """Return seconds, within the drill."""
        return min(self.length_s, max(0.0, (x - self.left) / self.width * self.length_s))

    @property
    def step_s(self) -> float:
        """To what a drag snaps."""
        return 1.0 if self.width / self.length_s >= FINE_PX_PER_S else COARSE_S


@dataclass(frozen=True, slots=True)
class FaultLayout:
    """Fault in its lane from *start* to *end* (equal for a moment), with its label at *label*."""

    row: int
    start: float
    end: float
    label: float
    label_width: float

    @property
    def from_x(self) -> float:
        """Return the left edge in pixels."""
        return min(self.start, self.label) - GRIP_PX

    @property
    def to_x(self) -> float:
        """Return the right edge in pixels."""
        return max(self.end, self.label + self.label_width) + GRIP_PX


def layout_faults(spots: Sequence[Spot], widths: Sequence[float], scale: Scale) -> list[FaultLayout]:
    """Return each fault with its label (*widths* in pixels) in the first row that has room for both."""
    ends: list[float] = []
    """Position from which each row is free."""
    found = []
    order = sorted(range(len(spots)), key=lambda n: spots[n])
    for number in order:
        (start, end), width = (scale.x_of(t_s) for t_s in spots[number]), widths[number]
        label = _label_x(start, end, width, scale)
        left = min(start, label) - GRIP_PX
        row = next((n for n, free in enumerate(ends) if free <= left), min(len(ends), ROWS_MAX - 1))
        ends += [0.0] * (row + 1 - len(ends))
        placed = FaultLayout(row, start, end, label, width)
        ends[row] = max(ends[row], placed.to_x)
        found.append((number, placed))
    return [placed for _, placed in sorted(found, key=lambda pair: pair[0])]


def _label_x(start: float, end: float, width: float, scale: Scale) -> float:
    """Return the left side of a label, within a wide window, or right or left at the end of the axis."""
    if end - start >= width + 4 * GRIP_PX:
        return start + (end - start - width) / 2.0
    right = end + 1.7 * GRIP_PX
    if right + width <= scale.left + scale.width + GRIP_PX:
        return right
    return max(scale.left, start - 1.7 * GRIP_PX - width)


def flow(widths: Sequence[float], room: float, gap: float) -> list[tuple[int, float]]:
    """Return row and left side of items that are set like words."""
    found, row, x = [], 0, 0.0
    for width in widths:
        if x and x + width > room:
            row, x = row + 1, 0.0
        found.append((row, x))
        x += width + gap
    return found


def spread_out(xs: Sequence[float], pitch: float, left_x: float, right_x: float) -> list[float]:
    """Move *xs*, in their order, at least *pitch* apart, within *left* to *right* if possible."""
    pitch = min(pitch, (right_x - left_x) / max(1, len(xs) - 1))
    found: list[float] = []
    for x in xs:
        found.append(max(left_x, x, found[-1] + pitch if found else x))
    most = right_x
    for number in reversed(range(len(found))):
        found[number] = min(found[number], most)
        most = found[number] - pitch
    return found


def find_grip(layout: FaultLayout, x: float) -> str | None:
    """Return the part of an entry at *x*: an end of a window, or the whole entry.

    Its label counts as the whole entry.
    """
    if layout.end > layout.start:
        inner = min(GRIP_PX, (layout.end - layout.start) / 3.0)
        if -GRIP_PX <= x - layout.start <= inner:
            return START
        if -inner <= x - layout.end <= GRIP_PX:
            return END
    return WHOLE if layout.from_x <= x <= layout.to_x else None


def dragged(spot: Spot, part: str, by_s: float, step_s: float, length_s: float) -> Spot:
    """Return *spot* after a drag of *part* by *by_s* seconds, snapped to *step_s*, within 0 to *length_s*."""
    start, end = spot
    if part == START:
        return (min(end, _snap_time(start + by_s, step_s, length_s)), end)
    if part == END:
        return (start, max(start, _snap_time(end + by_s, step_s, length_s)))
    lasts = end - start
    begins = _snap_time(start + by_s, step_s, max(0.0, length_s - lasts))
    return (begins, begins + lasts)


def _snap_time(t_s: float, step_s: float, most_s: float) -> float:
    return min(most_s, max(0.0, round(t_s / step_s) * step_s))


def nudge_spot(spot: Spot, part: str, by_s: float, length_s: float) -> Spot:
    """Return *spot* moved by keys, without snapping."""
    start, end = spot
    if part == END:
        return (start, min(length_s, max(start, round(end + by_s, 2))))
    by_s = min(length_s - end, max(-start, by_s))
    return (round(start + by_s, 2), round(end + by_s, 2))
