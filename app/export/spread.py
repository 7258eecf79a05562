"""Distribution of a measure over the runs of a sweep: for each value, the share of runs up to it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape
from typing import Final

from engine.drill.judging.sweep import RunOutcome

RIGHT: Final = 520
"""Right end of the plot. The names are next to it."""
HEIGHT: Final = 420
LEFT: Final = 56
TOP: Final = 24
BOTTOM: Final = 48
NAME: Final = 40
"""Distance from the plot to a name, in pixels."""
LETTER: Final = 8
"""Maximum width of a letter of a name, in pixels. Assumed: fonts differ."""
ROW: Final = 18
"""Height of a name."""

COLORS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")
"""Colors that color-blind people can distinguish (Okabe and Ito); further lines repeat them, dashed."""

TICKS: Final = 6
"""Maximum number of ticks on the lower axis."""


def picture(outcomes: Sequence[RunOutcome], measure: str, limit: float | None = None) -> str:
    """Return an SVG: a line for each scenario and player, and one across where *limit* is."""
    lines: dict[str, list[float]] = {}
    for each in outcomes:
        value = getattr(each, measure)
        lines.setdefault(f"{each.scenario}, {each.player}", []).extend([] if value is None else [value])
    known = [value for values in lines.values() for value in values] + ([] if limit is None else [limit])
    most = max(known, default=1.0) or 1.0
    parts = [*_axes(measure, most), *_limit(limit, most)]
    for number, (name, values) in enumerate(lines.items()):
        parts += _line(number, name, sorted(values), most)
    width = RIGHT + NAME + LETTER * max((len(_named(*line)) for line in lines.items()), default=0)
    height = max(HEIGHT, TOP + ROW * len(lines))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
        f'font-size="13"><rect width="{width}" height="{height}" fill="white"/>{"".join(parts)}</svg>\n'
    )


def _named(name: str, values: Sequence[float]) -> str:
    return f"{name} ({len(values)})"


def _x(value: float, maximum: float) -> str:
    return f"{LEFT + (RIGHT - LEFT) * value / maximum:.1f}"


def _y(share: float) -> str:
    return f"{HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * share:.1f}"


def _axes(measure: str, maximum: float) -> Iterator[str]:
    for percent in range(0, 101, 25):
        y = _y(percent / 100)
        yield f'<path d="M{LEFT} {y}H{RIGHT}" stroke="#ddd"/>'
        yield f'<text x="{LEFT - 6}" y="{y}" dy="4" text-anchor="end">{percent} %</text>'
    step = _step(maximum)
    for mark in range(int(maximum / step) + 1):
        at, below = mark * step, HEIGHT - BOTTOM + 18
        yield f'<text x="{_x(at, maximum)}" y="{below}" text-anchor="middle">{at:g}</text>'
    name = f"{measure}: share of runs up to each value"
    yield f'<text x="{LEFT}" y="{HEIGHT - 8}">{escape(name)}</text>'


def _step(maximum: float) -> float:
    """Return 1, 2 or 5 times a power of ten, for at most TICKS marks."""
    power = 10.0 ** math.floor(math.log10(maximum / TICKS))
    return next(factor * power for factor in (1.0, 2.0, 5.0, 10.0) if maximum / (factor * power) <= TICKS)


def _limit(limit: float | None, maximum: float) -> Iterator[str]:
    if limit is not None:
        x = _x(limit, maximum)
        yield f'<path d="M{x} {TOP}V{HEIGHT - BOTTOM}" stroke="#555" stroke-dasharray="2 3"/>'
        yield f'<text x="{x}" y="{TOP - 8}" text-anchor="middle">{limit:g}</text>'


def _line(number: int, name: str, values: Sequence[float], maximum: float) -> Iterator[str]:
    color = COLORS[number % len(COLORS)]
    dash = ' stroke-dasharray="6 3"' if number >= len(COLORS) else ""
    path = f"M{_x(0.0, maximum)} {_y(0.0)}"
    for place, value in enumerate(values, 1):
        path += f"H{_x(value, maximum)}V{_y(place / len(values))}"
    if values:
        yield f'<path d="{path}H{RIGHT}" fill="none" stroke="{color}" stroke-width="2"{dash}/>'
    y, x = TOP + ROW * number, RIGHT + NAME - 24
    yield f'<path d="M{x} {y}h18" stroke="{color}" stroke-width="2"{dash}/>'
    yield f'<text x="{RIGHT + NAME}" y="{y}" dy="4">{escape(_named(name, values))}</text>'
