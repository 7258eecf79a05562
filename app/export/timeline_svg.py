"""SVG drawing of a run's timeline: lanes of service, protection and state, with markers above the lanes."""

import html
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from app.words import formatting
from app.words.formatting import format_run_tick
from app.words.language import mark, tr
from app.words.localization import localize
from engine.constants import TICKS_PER_S
from engine.drill.judging.replay_timeline import (
    DOWN,
    PROTECTED,
    SERVING,
    UNPROTECTED,
    DatabaseLanes,
    Marker,
    StateSpan,
)
from engine.model import Tick

DRAWING_WIDTH: Final = 720
"""Width of the drawing."""
LANE_NAME_WIDTH: Final = 118
"""Width of the lane names at the left."""
RIGHT_MARGIN: Final = 22
"""Width of the margin at the right."""
LANE_HEIGHT: Final = 15
"""Height of a lane."""
LANE_GAP: Final = 5
"""Distance between two lanes."""
MARKER_AREA_HEIGHT: Final = 30
"""Height of the markers at the top."""
DATABASES_MAX: Final = 4
"""Maximum number of databases in the drawing.

If there are more, those with the largest sum of downtime and unprotected time are drawn.
"""

_STATE_FILLS: Final = {
    SERVING: "#bfe3c8",
    DOWN: "url(#down)",
    PROTECTED: "#c9dcf5",
    UNPROTECTED: "url(#exposed)",
    "SYNCHRONIZED": "#c9dcf5",
    "SYNCHRONIZING": "url(#exposed)",
    "SUSPENDED": "url(#down)",
    "DISCONNECTED": "url(#down)",
    "PENDING_FAILOVER": "url(#exposed)",
}
"""State of a time span -> fill. States that are problems are hatched, so that color is not needed."""
_DEFAULT_FILL: Final = "#e6eaef"
"""Fill of a time span in any other state."""

MARKER_STYLES: Final = {
    "fault": (mark("fault"), "#b3202a", "M-5,-4 L5,-4 L0,5 Z"),
    "repair": (mark("repair"), "#17692f", "M-5,4 L5,4 L0,-5 Z"),
    "detection": (mark("detected"), "#855000", "M0,-5 L5,0 L0,5 L-5,0 Z"),
    "transition": (mark("change"), "", ""),
    "command": ("T-SQL", "#1b56a6", "M-4,-4 L4,-4 L4,4 L-4,4 Z"),
    "refusal": (mark("T-SQL, refused"), "#b3202a", "M-4,-4 L4,4 M4,-4 L-4,4"),
    "hint": (mark("hint"), "#855000", "M-3,-5 L3,-5 L3,5 L-3,5 Z"),
    "question": (mark("question"), "#7c4dbd", "M-5,0 L0,-5 L5,0 L3,5 L-3,5 Z"),
    "goal": (mark("goal"), "#17692f", "M-3,5 L-3,-5 L5,-2 L-3,1"),
    "rewind": (mark("rewound"), "#566270", "M4,-5 L-4,0 L4,5 Z"),
    "note": (mark("note"), "", ""),
    "end": (mark("end"), "", ""),
}
"""Kind of marker -> label, color and shape. Markers without a shape are not drawn.

Transitions have no shape, because the lanes already show them.
"""

_PATTERN_DEFINITIONS: Final = (
    '<defs><pattern id="down" width="6" height="6" patternUnits="userSpaceOnUse">'
    '<rect width="6" height="6" fill="#fce2e2"/>'
    '<path d="M0,6 L6,0" stroke="#b3202a" stroke-width="1.4"/></pattern>'
    '<pattern id="exposed" width="5" height="5" patternUnits="userSpaceOnUse">'
    '<rect width="5" height="5" fill="#fcedcc"/><circle cx="2.5" cy="2.5" r="1.1" fill="#855000"/></pattern></defs>'
)


def draw_timeline(lanes: Mapping[str, DatabaseLanes], marks: Iterable[Marker], end_tick: Tick) -> str:
    """Draw the timeline as a stand-alone SVG, with a text alternative for screen readers."""
    shown_lanes = select_lanes(lanes)
    rows: list[tuple[str, Sequence[StateSpan]]] = []
    for lane in shown_lanes:
        name_prefix = f"{lane.database}: " if len(shown_lanes) > 1 else ""
        guard = tr("protection") if _has_copies(lane) else tr("standby node")
        rows += [(name_prefix + tr("service"), lane.service), (name_prefix + guard, lane.protection)]
        rows += [(name_prefix + tr("state"), lane.state)] if _has_copies(lane) else []
    height = MARKER_AREA_HEIGHT + len(rows) * (LANE_HEIGHT + LANE_GAP) + 22
    parts = [_PATTERN_DEFINITIONS]
    for number, (name, spans) in enumerate(rows):
        parts.append(
            _draw_lane(name, spans, MARKER_AREA_HEIGHT + number * (LANE_HEIGHT + LANE_GAP), end_tick)
        )
    parts.append(draw_axis(MARKER_AREA_HEIGHT + len(rows) * (LANE_HEIGHT + LANE_GAP), end_tick))
    parts += [_draw_marker(moment, end_tick, height) for moment in marks if MARKER_STYLES[moment.kind][2]]
    title = html.escape(tr("Timeline of the run"))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {DRAWING_WIDTH} {height}" '
        f'width="{DRAWING_WIDTH}" height="{height}" role="img" '
        f'aria-labelledby="course-title course-words" font-family="sans-serif" font-size="10">'
        f'<title id="course-title">{title}</title>'
        f'<desc id="course-words">{html.escape(describe_lanes(shown_lanes))}</desc>'
        f"{''.join(parts)}</svg>"
    )


def select_lanes(lanes: Mapping[str, DatabaseLanes]) -> list[DatabaseLanes]:
    """Return the lanes of the databases that are drawn, in their original order."""

    def count_bad_ticks(lane: DatabaseLanes) -> Tick:
        spans = (*lane.service, *lane.protection)
        return sum(span.ticks for span in spans if span.what in (DOWN, UNPROTECTED))

    worst = sorted(lanes, key=lambda name: count_bad_ticks(lanes[name]), reverse=True)[:DATABASES_MAX]
    return [lane for name, lane in lanes.items() if name in worst]


def describe_lanes(lanes: Iterable[DatabaseLanes]) -> str:
    """Describe the drawing in sentences, for its text alternative."""
    sentences = []
    for lane in lanes:
        unprotected_text = tr("{database} was unprotected: {times}.")
        if not _has_copies(lane):
            unprotected_text = tr("{database} had no standby node: {times}.")
        for text, spans in (
            (tr("{database} was down: {times}."), lane.service),
            (unprotected_text, lane.protection),
        ):
            bad = [span for span in spans if span.what in (DOWN, UNPROTECTED) and span.ticks > 0]
            times = ", ".join(_format_span(span) for span in bad)
            sentences.append(text.format(database=lane.database, times=times or tr("never")))
    return " ".join(sentences)


def _has_copies(lane: DatabaseLanes) -> bool:
    """Return whether the database of *lane* ever had a mirror or a secondary."""
    return any(span.what != "NONE" for span in lane.state)


def _format_span(span: StateSpan) -> str:
    return tr("{start} to {end}").format(
        start=format_run_tick(span.from_tick), end=format_run_tick(span.to_tick)
    )


def compute_x(tick: Tick, end_tick: Tick) -> float:
    """Return the x coordinate of a tick in the drawing."""
    return LANE_NAME_WIDTH + tick / max(1, end_tick) * (DRAWING_WIDTH - LANE_NAME_WIDTH - RIGHT_MARGIN)


def _draw_lane(name: str, spans: Iterable[StateSpan], top: float, end_tick: Tick) -> str:
    boxes = []
    for span in spans:
        left, right = compute_x(span.from_tick, end_tick), compute_x(span.to_tick, end_tick)
        words = html.escape(f"{localize(span.what)}, {_format_span(span)}")
        boxes.append(
            f'<rect x="{left:.1f}" y="{top}" width="{max(1.0, right - left):.1f}" height="{LANE_HEIGHT}" '
            f'fill="{_STATE_FILLS.get(span.what, _DEFAULT_FILL)}"><title>{words}</title></rect>'
        )
    position = f'x="{LANE_NAME_WIDTH - 6}" y="{top + LANE_HEIGHT - 4}"'
    label = f'<text {position} text-anchor="end" fill="#18212c">{html.escape(name)}</text>'
    return label + "".join(boxes)


def draw_axis(top: float, end_tick: Tick) -> str:
    """Draw the time axis below a drawing. *top*: y coordinate of the lower edge of the drawing."""
    step = _choose_time_step(end_tick)
    parts = []
    for tick in range(0, end_tick + 1, step):
        x = compute_x(tick, end_tick)
        parts.append(f'<path d="M{x:.1f},{top - LANE_GAP} v5" stroke="#525e6d"/>')
        label = formatting.format_run_time(tick / TICKS_PER_S)
        parts.append(f'<text x="{x:.1f}" y="{top + 12}" text-anchor="middle" fill="#525e6d">{label}</text>')
    return "".join(parts)


def _choose_time_step(end_tick: Tick) -> Tick:
    for seconds in (5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600):
        if end_tick / (seconds * TICKS_PER_S) <= 12:
            return seconds * TICKS_PER_S
    return 7200 * TICKS_PER_S


def _draw_marker(marker: Marker, end_tick: Tick, height: int) -> str:
    label, color, shape = MARKER_STYLES[marker.kind]
    x = compute_x(marker.tick, end_tick)
    words = html.escape(f"{format_run_tick(marker.tick)} {tr(label)}: {localize(marker.text)}")
    return (
        f'<g transform="translate({x:.1f},14)" stroke="{color}" fill="{color}"><title>{words}</title>'
        f'<path d="{shape}"/><path d="M0,8 V{height - 38}" stroke-width="0.6" stroke-dasharray="2,3"/></g>'
    )
