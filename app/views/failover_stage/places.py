"""Places and routes on the stage, one table per technology."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from PySide6.QtCore import QPointF, QRectF

from app.view_models.failover_moment.phases import CLIENT, DISK, FROM, LISTENER, QUEUE, TO, VOTES, WITNESS
from engine.drill.running.comparison import GROUP, INSTANCE, MIRRORING

WIDTH: Final = 1366.0
"""Width of the canvas in its own units; its height follows the window."""
LEAST_HEIGHT: Final = 560.0
BODY_TOP: Final = 88.0
BODY_BOTTOM: Final = 108.0
BODY: Final = 420.0
"""Space above and below the picture, and the height for which the places are written."""
PANEL: Final = (980.0, 362.0)
"""Left edge and width of the panel with the stopwatch."""

Box = tuple[float, float, float, float]

PLACES: Final[Mapping[str, Mapping[str, Box]]] = {
    MIRRORING: {
        WITNESS: (352, 6, 252, 84),
        FROM: (24, 124, 300, 168),
        TO: (620, 124, 336, 168),
        CLIENT: (340, 332, 276, 84),
        VOTES: (340, 122, 264, 100),
        QUEUE: (340, 100, 264, 136),
    },
    GROUP: {
        "cluster": (24, 2, 936, 284),
        WITNESS: (44, 24, 280, 68),
        VOTES: (352, 24, 592, 68),
        FROM: (44, 118, 280, 156),
        TO: (352, 118, 296, 156),
        "other1": (676, 118, 268, 156),
        LISTENER: (382, 298, 236, 34),
        "former": (84, 298, 200, 34),
        CLIENT: (352, 346, 296, 74),
        QUEUE: (676, 296, 268, 124),
    },
    INSTANCE: {
        "cluster": (24, 2, 936, 332),
        VOTES: (44, 26, 548, 72),
        FROM: (44, 112, 250, 88),
        "other1": (44, 252, 264, 70),
        "other2": (328, 252, 264, 70),
        DISK: (352, 138, 180, 92),
        "owner": (334, 106, 216, 26),
        TO: (622, 26, 322, 298),
        CLIENT: (622, 346, 322, 74),
    },
}
"""Technology -> place -> (left, top, width, height) in a body of BODY units."""

ROUTES: Final[Mapping[tuple[str, str, str], tuple[str, str]]] = {
    (MIRRORING, FROM, WITNESS): ("top", "left"),
    (MIRRORING, WITNESS, TO): ("right", "top"),
    (MIRRORING, FROM, TO): ("low right", "low left"),
    (MIRRORING, CLIENT, FROM): ("left", "bottom"),
    (MIRRORING, CLIENT, TO): ("right", "bottom"),
    (GROUP, FROM, TO): ("right", "left"),
    (GROUP, TO, "other1"): ("right", "left"),
    (GROUP, FROM, WITNESS): ("top", "bottom"),
    (INSTANCE, FROM, DISK): ("right", "left"),
    (INSTANCE, DISK, TO): ("right", "left"),
    (INSTANCE, CLIENT, TO): ("top", "bottom"),
}
"""(technology, place, place) -> the sides at which the wire begins and ends."""


def find_panel(height: float) -> QRectF:
    """Return the area of the panel with the stopwatch on a canvas of *height* units."""
    return QRectF(PANEL[0], BODY_TOP, PANEL[1], height - BODY_TOP - BODY_BOTTOM)


def list_chips(count: int, height: float) -> list[QRectF]:
    """Return the boxes of *count* phases in the ribbon."""
    width = (WIDTH - 48 - 8 * (count - 1)) / count
    return [QRectF(24 + place * (width + 8), height - 98, width, 50) for place in range(count)]


def find_box(technology: str, name: str, height: float) -> QRectF | None:
    """Return the rectangle of a part on a canvas of *height* units; None if there is none."""
    box = PLACES[technology].get(name)
    if box is None:
        return None
    stretch = (height - BODY_TOP - BODY_BOTTOM) / BODY
    left, top, width, tall = box
    kept = min(stretch, 1.0 + (stretch - 1.0) * 0.6)  # cards grow less than the space between them
    middle = BODY_TOP + (top + tall / 2) * stretch
    return QRectF(left, middle - tall * kept / 2, width, tall * kept)


def route(technology: str, a: str, b: str, height: float) -> list[QPointF]:
    """Return the corners of a wire; empty if it is not drawn."""
    sides = ROUTES.get((technology, a, b))
    one, other = find_box(technology, a, height), find_box(technology, b, height)
    if sides is None or one is None or other is None:
        return []
    start, end = _find_side(one, sides[0]), _find_side(other, sides[1])
    if {sides[0], sides[1]} == {"right", "left"} or sides[0].startswith("low"):
        if abs(start.y() - end.y()) > 1.0:
            overlap = max(one.top(), other.top()) + 12, min(one.bottom(), other.bottom()) - 12
            y = sum(overlap) / 2
            start, end = QPointF(start.x(), y), QPointF(end.x(), y)
        return [start, end]
    if sides[0] in ("top", "bottom") and sides[1] in ("top", "bottom"):
        return [start, QPointF(start.x(), end.y())]
    corner = QPointF(start.x(), end.y()) if sides[0] in ("top", "bottom") else QPointF(end.x(), start.y())
    return [start, corner, end]


def _find_side(box: QRectF, anchor: str) -> QPointF:
    x = {"left": box.left(), "right": box.right()}.get(anchor.rpartition(" ")[2], box.center().x())
    y = {"top": box.top(), "bottom": box.bottom()}.get(anchor, box.center().y())
    if anchor.startswith("low"):
        y = box.top() + box.height() * 0.8
    return QPointF(x, y)
