"""SVG drawing of the value curve: the best score still reachable at each time of a run. Without Qt.

It has the same time axis as the timeline drawing.
"""

import html
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Final

from app.export.timeline_svg import DRAWING_WIDTH, LANE_NAME_WIDTH, RIGHT_MARGIN, compute_x, draw_axis
from app.view_models import value_curve
from app.view_models.value_curve import GRID_LINE_POINTS, SEGMENT_STYLES, SHOWN_LOSS_MIN
from app.words.language import tr
from engine.drill.par.regret_analysis import WAITING, RegretAnalysis, RunSegment
from engine.model import Tick

PLOT_TOP: Final = 26
PLOT_HEIGHT: Final = 120
"""Height of the plot in pixels."""
DOT_RADIUS: Final = 3.5
"""Radius of the dot of an action."""
NUMBER_DISTANCE_MIN: Final = 11.0
"""Minimum distance between the numbers of two actions in pixels.

If space is short, actions without loss have no number.
"""
LEGEND_ROW_HEIGHT: Final = 14
"""Height of a row of the legend."""
LEGEND_SAMPLE_WIDTH: Final = 20
"""Width of a color sample in the legend."""
LETTER_WIDTH_MAX: Final = 5.6
"""Maximum width of a letter in pixels at a font size of ten. Assumed, because fonts differ."""

THUMBNAIL_WIDTH: Final = 180
THUMBNAIL_HEIGHT: Final = 48

LABEL_COLOR: Final = "#525e6d"
CURVE_COLOR: Final = "#1b56a6"
COLOR_BY_NAME: Final = {
    "": CURVE_COLOR,
    "info": CURVE_COLOR,
    "ok": "#17692f",
    "warn": "#855000",
    "bad": "#b3202a",
}
"""Color name of a part of the curve -> color in SVG."""


def draw_value_curve(
    regret_analysis: RegretAnalysis,
    choices: Mapping[str, Sequence[str]],
    refused: Container[tuple[Tick, str]] = (),
) -> str:
    """Return the value curve as a stand-alone SVG.

    *choices*: question -> its choices. *refused*: (tick, line) of each command that a server refused.
    """
    end = value_curve.get_end_tick(regret_analysis)
    bottom = PLOT_TOP + PLOT_HEIGHT
    rows = list(_draw_legend(bottom + 38))
    height = bottom + 38 + LEGEND_ROW_HEIGHT * len(rows)
    parts = [
        *_draw_levels(),
        draw_axis(bottom + 5, end),
        *_draw_curve(regret_analysis, end),
        *_draw_point_of_no_return(regret_analysis, end),
    ]
    parts += [*_draw_actions(regret_analysis, end, choices, refused), *rows]
    title, words = (
        html.escape(tr("Best score still possible")),
        html.escape(value_curve.describe_curve(regret_analysis)),
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {DRAWING_WIDTH} {height}" '
        f'width="{DRAWING_WIDTH}" height="{height}" role="img" '
        f'aria-labelledby="curve-title curve-words" font-family="sans-serif" font-size="10">'
        f'<title id="curve-title">{title}</title><desc id="curve-words">{words}</desc>{"".join(parts)}</svg>'
    )


def draw_thumbnail(regret_analysis: RegretAnalysis, end_tick: Tick) -> str:
    """Draw a small curve with the point of no return, for pages with many runs.

    *end_tick*: end of the time axis.
    """

    def format_point(point: tuple[Tick, float]) -> str:
        x, y = point[0] / end_tick, 1.0 - point[1] / 100.0
        return f"{1.0 + (THUMBNAIL_WIDTH - 2.0) * x:.1f},{3.0 + (THUMBNAIL_HEIGHT - 6.0) * y:.1f}"

    def draw_line(points: Iterable[tuple[Tick, float]], color_name: str, width: float) -> str:
        path = " ".join(map(format_point, points))
        return f'<polyline points="{path}" fill="none" stroke="{COLOR_BY_NAME[color_name]}" stroke-width="{width:g}"/>'

    parts = [
        f'<rect width="{THUMBNAIL_WIDTH}" height="{THUMBNAIL_HEIGHT}" fill="#f4f6f9"/>',
        draw_line(regret_analysis.curve, "", 1.4),
    ]
    parts += [
        draw_line(points, tone, 2.4) for tone, points in value_curve.list_falling_parts(regret_analysis)
    ]
    for move in value_curve.find_marked_segments(regret_analysis):
        if move.line != WAITING:
            x, y = format_point((move.until, move.after)).split(",")
            parts.append(
                f'<circle cx="{x}" cy="{y}" r="2.4" fill="{COLOR_BY_NAME[SEGMENT_STYLES[move.label][1]]}"/>'
            )
    if regret_analysis.point_of_no_return is not None:
        x, _ = format_point((regret_analysis.point_of_no_return, 0.0)).split(",")
        parts.append(
            f'<path d="M{x},0 V{THUMBNAIL_HEIGHT}" stroke="{COLOR_BY_NAME["bad"]}" stroke-dasharray="3,2"/>'
        )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {THUMBNAIL_WIDTH} {THUMBNAIL_HEIGHT}" '
        f'width="{THUMBNAIL_WIDTH}" height="{THUMBNAIL_HEIGHT}" role="img" '
        f'aria-label="{html.escape(value_curve.describe_curve(regret_analysis))}">{"".join(parts)}</svg>'
    )


# --- private helpers ----------------------------------------------------------------------------------------


def _compute_y(points: float) -> float:
    return PLOT_TOP + PLOT_HEIGHT * (1.0 - points / 100.0)


def _draw_levels() -> Iterator[str]:
    for points in GRID_LINE_POINTS:
        y = _compute_y(points)
        yield f'<path d="M{LANE_NAME_WIDTH},{y:.1f} H{DRAWING_WIDTH - RIGHT_MARGIN}" stroke="#cbd3dc"/>'
        position = f'x="{LANE_NAME_WIDTH - 6}" y="{y + 3.5:.1f}"'
        yield f'<text {position} text-anchor="end" fill="{LABEL_COLOR}">{points}</text>'
    words = html.escape(tr("points"))
    position = f'x="{LANE_NAME_WIDTH - 30}" y="{_compute_y(50) + 3.5:.1f}"'
    yield f'<text {position} text-anchor="end" fill="{LABEL_COLOR}">{words}</text>'


def _draw_line(points: Iterable[tuple[Tick, float]], end_tick: Tick, color: str, width: float) -> str:
    path = " ".join(f"{compute_x(tick, end_tick):.1f},{_compute_y(value):.1f}" for tick, value in points)
    return f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="{width:g}"/>'


def _draw_curve(regret_analysis: RegretAnalysis, end_tick: Tick) -> Iterator[str]:
    yield _draw_line(regret_analysis.curve, end_tick, CURVE_COLOR, 1.6)
    for color_name, points in value_curve.list_falling_parts(regret_analysis):
        yield _draw_line(points, end_tick, COLOR_BY_NAME[color_name], 3.0)


def _draw_point_of_no_return(regret_analysis: RegretAnalysis, end_tick: Tick) -> Iterator[str]:
    if regret_analysis.point_of_no_return is None:
        return
    x, red = compute_x(regret_analysis.point_of_no_return, end_tick), COLOR_BY_NAME["bad"]
    words = html.escape(value_curve.format_point_of_no_return_time(regret_analysis.point_of_no_return))
    room = len(words) * LETTER_WIDTH_MAX / 2
    middle = min(max(LANE_NAME_WIDTH + room, x), DRAWING_WIDTH - RIGHT_MARGIN - room)
    yield f'<path d="M{x:.1f},{PLOT_TOP - 4} V{PLOT_TOP + PLOT_HEIGHT}" stroke="{red}" stroke-dasharray="4,3"/>'
    yield f'<text x="{middle:.1f}" y="{PLOT_TOP - 17}" text-anchor="middle" fill="{red}">{words}</text>'


def _draw_actions(
    regret_analysis: RegretAnalysis,
    end_tick: Tick,
    choices: Mapping[str, Sequence[str]],
    refused: Container[tuple[Tick, str]],
) -> Iterator[str]:
    """Yield a dot for each action, and numbers that refer to rows of the table below the drawing."""
    stops = list(enumerate(value_curve.find_marked_segments(regret_analysis), 1))
    used_xs: list[float] = []
    shown_numbers: set[int] = set()
    for number, move in sorted(stops, key=lambda segment: -segment[1].regret):
        x = compute_x(_compute_middle(move), end_tick)
        if move.regret >= SHOWN_LOSS_MIN or all(abs(x - used_x) >= NUMBER_DISTANCE_MIN for used_x in used_xs):
            used_xs.append(x)
            shown_numbers.add(number)
    for number, move in stops:
        x, y = (
            compute_x(_compute_middle(move), end_tick),
            _compute_y((move.before + move.after) / 2 if move.line == WAITING else move.after),
        )
        color = COLOR_BY_NAME[SEGMENT_STYLES[move.label][1]]
        description = value_curve.format_segment(move, choices, regret_analysis.last_chance, refused)
        words = html.escape(f"{description}: {value_curve.format_segment_loss(move)}")
        dot = (
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{DOT_RADIUS}" stroke="#ffffff"/>'
            if move.line != WAITING
            else ""
        )
        text = ""
        if number in shown_numbers:
            anchor, label_x, base = "middle", x, y - 7
            if (
                move.line != WAITING and move.regret >= SHOWN_LOSS_MIN
            ):  # the curve falls visibly here, so the number is beside the dot
                room = x + 7 + NUMBER_DISTANCE_MIN < DRAWING_WIDTH
                anchor, label_x, base = ("start", x + 7, y + 4) if room else ("end", x - 7, y + 4)
            text = f'<text x="{label_x:.1f}" y="{base:.1f}" text-anchor="{anchor}" font-weight="bold">{number}</text>'
        yield f'<g fill="{color}"><title>{words}</title>{dot}{text}</g>'


def _compute_middle(segment: RunSegment) -> Tick:
    return (segment.tick + segment.until) // 2


def _draw_legend(top: float) -> Iterator[str]:
    """Yield the legend, one SVG text per row, in as many rows as needed."""
    row, x, y = "", float(LANE_NAME_WIDTH), top
    for color_name, words in value_curve.list_legend_entries():
        room = LEGEND_SAMPLE_WIDTH + 6 + len(words) * LETTER_WIDTH_MAX + 16
        if row and x + room > DRAWING_WIDTH:
            yield row
            row, x, y = "", float(LANE_NAME_WIDTH), y + LEGEND_ROW_HEIGHT
        row += (
            f'<path d="M{x:.1f},{y - 3.5} h{LEGEND_SAMPLE_WIDTH}" stroke="{COLOR_BY_NAME[color_name]}" '
            f'stroke-width="{3 if color_name else 1.6}"/>'
            f'<text x="{x + LEGEND_SAMPLE_WIDTH + 6:.1f}" y="{y}" fill="{LABEL_COLOR}">{html.escape(words)}</text>'
        )
        x += room
    yield row
