"""HTML of the comparison with published figures: rows as a table, panels of a figure as SVG."""

from collections.abc import Iterator, Sequence
from html import escape
from typing import Final

import numpy as np
from PySide6.QtGui import QColor

from app.widgets.axes import (
    compute_positions,
    compute_value_range,
    find_decades,
    find_value_ticks,
    format_tick,
)
from app.widgets.theme import ThemeTokens
from app.words import formatting
from app.words.formatting import KB, KB_PER_S, PER_S, PERCENT, SECONDS, Unit
from app.words.language import mark, tr
from engine.planning.figures import Figure, FigureLine, FigurePanel
from engine.published.figure_rows import FigureClass, FigureRow

FAILOVER_STEP_PREFIX: Final = "failovers: "
"""Prefix of the names of steps that compute failovers. The cause from Table 6 of the white paper follows."""

PASS_VERDICT: Final = "pass"
VERDICT_LABELS: Final = {PASS_VERDICT: mark("pass"), "fail": mark("fail")}
CLASS_LABELS: Final = {
    FigureClass.CALIBRATED: mark("calibrated"),
    FigureClass.SHARED: mark("shared"),
    FigureClass.PREDICTED: mark("predicted"),
    FigureClass.STATEMENT: mark("statement"),
    FigureClass.INPUT: mark("input"),
}
TABLE_COLUMNS: Final = (
    ("", 3), (mark("Row"), 18), (mark("Item"), 21), (mark("Published"), 11), (mark("Mirrordrill"), 12),
    (mark("Error"), 11), (mark("Class"), 12), (mark("Source"), 12),
)  # fmt: skip
"""Heading and width in percent of each column."""


def get_step_name(step: str) -> str:
    """Return the name of a step in the interface language."""
    if step == f"{FAILOVER_STEP_PREFIX}manual":
        return tr("manual failovers")
    if step.startswith(FAILOVER_STEP_PREFIX):
        return tr("failovers after {cause}").format(cause=step.removeprefix(FAILOVER_STEP_PREFIX))
    return tr(step)


# --- rows ---------------------------------------------------------------------------------------------------


def list_cells(row: FigureRow) -> tuple[str, ...]:
    """Return the cells of a row, followed by the text below the row."""
    band = ""
    if row.band is not None:
        band = tr("5th to 95th percentile of the runs: {low} to {high} {unit}").format(
            low=formatting.format_plain_number(row.band[0]),
            high=formatting.format_plain_number(row.band[1]),
            unit=row.unit,
        )
    return (
        "✓" if row.verdict == PASS_VERDICT else "✕", row.id, row.what, _format_value(row, row.published),
        _format_value(row, row.ours), _format_error(row), tr(CLASS_LABELS[row.kind]), row.source,
        " ".join(filter(None, (band, row.note, row.reason))),
    )  # fmt: skip


def _format_value(row: FigureRow, figure: float | str) -> str:
    """Format *figure*, a value of *row*, with the unit of the row. A text is returned unchanged."""
    return (
        figure
        if isinstance(figure, str)
        else f"{formatting.format_significant(figure, 4)} {row.unit}".rstrip()
    )


def _format_error(row: FigureRow) -> str:
    """Format the error in percent with its sign. A value that rounds to zero has no sign."""
    if row.error_percent is None:
        return ""
    share = row.error_percent / 100.0
    return (
        formatting.format_percent(share, shows_plus=True)
        if abs(row.error_percent) >= 0.05
        else formatting.format_percent(0.0)
    )


def build_table_html(rows: Sequence[FigureRow], colors: ThemeTokens) -> str:
    """Build an HTML table of *rows* under section headings. A note or reason follows below its row."""
    lines, section = [], None
    for row in rows:
        if row.section != section:
            section = row.section
            titles = "".join(
                f"<th width='{share}%' align='left'>{tr(title) if title else ''}</th>"
                for title, share in TABLE_COLUMNS
            )
            lines.append(f"<tr><td colspan='8'><h3>{escape(tr(section))}</h3></td></tr><tr>{titles}</tr>")
        *cells, last_cell = map(escape, list_cells(row))
        cells[0] = _color_text(cells[0], colors.ok if row.verdict == PASS_VERDICT else colors.bad)
        cells[5] = cells[5] if row.verdict == PASS_VERDICT else _color_text(cells[5], colors.bad)
        cells[7] = f"<span title='{cells[7]}'>{escape(_shorten_source(row.source))}</span>"
        lines.append(f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>")
        if last_cell:
            lines.append(f"<tr><td></td><td colspan='7'>{_color_text(last_cell, colors.muted)}</td></tr>")
    return f"<table width='98%' cellspacing='0' cellpadding='3'>{''.join(lines)}</table>"


def _shorten_source(source: str) -> str:
    """Return only the table or figure of a source, or the whole source if it is a complete paper."""
    last = source.rsplit(", ", 1)[-1]
    return source if ")" in last else last


def _color_text(text: str, color: QColor) -> str:
    return f"<span style='color:{color.name()}'>{text}</span>"


# --- figures ------------------------------------------------------------------------------------------------

UNIT_TEXTS: Final = {
    unit.name: unit
    for unit in (
        KB, KB_PER_S, PER_S, PERCENT, SECONDS,
        Unit("min", lambda value: f"{formatting.format_significant(value)} min"),
        Unit("h", lambda value: f"{formatting.format_significant(value)} h"),
    )
}  # fmt: skip
SERIES_COLORS: Final = {
    "safety FULL": 0, "safety OFF": 1, "compressed": 0, "not compressed": 1,
    "send queue": 1, "redo queue": 2, "Mirrordrill": 0, "Mirrordrill, no load": 3, "Mirrordrill, normal load": 0,
    "calibrated": 3, "shared": 0, "predicted": 1,
}  # fmt: skip
"""Name of a line -> color index, so that a quantity has the same color in every figure. Others are gray."""

DASHED_LINES: Final = ("+10%", "-10%", "no mirroring", "input")
"""Names of dashed lines."""
BAR_WIDTH: Final = 0.2
"""Width of a bar, where 1 is the distance between two categories."""
EDGE_MARGIN_SHARE: Final = 0.03
"""Margin at each end of the axis, as a share of its length."""
LEFT_LETTERS, BOTTOM_LINES = 7.0, 1.6
"""Space for the labels of the axes, in heights of the font."""


def build_legend_html(figure: Figure, panel: FigurePanel, colors: ThemeTokens) -> str:
    """Build the title of a panel with the symbol and name of each line."""
    parts = [f"<b>{tr(panel.title)}</b>"]
    for line in panel.lines:
        sign = "✕" if line.is_measured else "■" if _is_bar(figure, line) else "●" if line.has_points else "▬"
        parts.append(f"{_color_text(sign, _get_color(line, colors))} {tr(line.name)}")
    return "&nbsp;&nbsp;&nbsp;".join(dict.fromkeys(parts))


def _is_bar(figure: Figure, line: FigureLine) -> bool:
    return bool(figure.categories) and not line.spread and not line.is_measured


def _get_color(line: FigureLine, colors: ThemeTokens) -> QColor:
    number = SERIES_COLORS.get(line.name)
    return colors.text if line.is_measured else colors.idle if number is None else colors.series[number]


class FigurePanelDrawing:
    """Drawing of one panel as SVG, in pixels."""

    def __init__(
        self, figure: Figure, panel: FigurePanel, colors: ThemeTokens, size: tuple[int, int], font_px: int
    ) -> None:
        self._figure, self._panel, self._colors, self._font_px = figure, panel, colors, font_px
        self.width, self.height = size
        self._left, self._right = LEFT_LETTERS * font_px, self.width - font_px
        self._top, self._bottom = 0.5 * font_px, self.height - BOTTOM_LINES * font_px
        all_y = [np.array((*line.y, *(end for ends in line.spread for end in ends))) for line in panel.lines]
        self._unit = UNIT_TEXTS[panel.unit]
        self._low, self._high = compute_value_range(np.concatenate(all_y), self._unit, panel.logarithmic)
        x = compute_positions(
            np.concatenate([np.array(line.x) for line in panel.lines]), figure.logarithmic_x
        )
        first, last = (-0.5, len(figure.categories) - 0.5) if figure.categories else (x.min(), x.max())
        margin = EDGE_MARGIN_SHARE * (last - first)
        self._first, self._last = float(first - margin), float(last + margin)

    def draw(self) -> str:
        """Build the SVG."""
        parts = [*self._draw_axes()]
        bars = [line for line in self._panel.lines if _is_bar(self._figure, line)]
        for number, line in enumerate(bars):
            parts += self._draw_bars(line, number - (len(bars) - 1) / 2.0)
        for line in sorted(self._panel.lines, key=lambda line: line.is_measured):
            if line not in bars:
                parts += self._draw_points(line) if line.has_points else [self._draw_curve(line)]
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" '
            f'font-size="{self._font_px}">{"".join(parts)}</svg>'
        )

    def _compute_x(self, position: float) -> float:
        return self._left + (position - self._first) / (self._last - self._first) * (self._right - self._left)

    def _compute_y(self, position: float) -> float:
        return self._bottom - (position - self._low) / (self._high - self._low) * (self._bottom - self._top)

    def _compute_points(self, line: FigureLine) -> list[tuple[float, float]]:
        xs = compute_positions(np.array(line.x), self._figure.logarithmic_x)
        ys = compute_positions(np.array(line.y), self._panel.logarithmic)
        return [(self._compute_x(float(x)), self._compute_y(float(y))) for x, y in zip(xs, ys, strict=True)]

    def _draw_axes(self) -> Iterator[str]:
        border, ink = self._colors.border.name(), self._colors.muted.name()
        logarithmic, axis_x = self._panel.logarithmic, 0.35 * self._font_px
        for value in find_value_ticks(self._low, self._high, self._bottom - self._top, logarithmic):
            y = self._compute_y(value)
            yield f'<path d="M{self._left},{y:.1f} H{self._right}" stroke="{border}"/>'
            label = escape(format_tick(value, self._unit, logarithmic))
            yield f'<text x="{self._left - 6}" y="{y + axis_x:.1f}" text-anchor="end" fill="{ink}">{label}</text>'
        for position, label in self._list_x_labels():
            x, base = self._compute_x(position), self._bottom + 1.2 * self._font_px
            yield f'<text x="{x:.1f}" y="{base:.1f}" text-anchor="middle" fill="{ink}">{escape(label)}</text>'

    def _list_x_labels(self) -> list[tuple[float, str]]:
        if self._figure.categories:
            return [(float(index), tr(name)) for index, name in enumerate(self._figure.categories)]
        if self._figure.logarithmic_x:
            decades = find_decades(self._first, self._last)
            return [(decade, formatting.format_significant(10.0**decade)) for decade in decades]
        step = 10.0 ** np.floor(np.log10(self._last - self._first))
        step = next(
            step * part for part in (0.1, 0.2, 0.5, 1.0) if (self._last - self._first) / (step * part) <= 12
        )
        marks = np.arange(np.ceil(self._first / step), np.floor(self._last / step) + 1) * step
        return [(float(value), formatting.format_significant(float(value))) for value in marks]

    def _draw_curve(self, line: FigureLine) -> str:
        dashed = line.name in DASHED_LINES
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in self._compute_points(line) if np.isfinite(y))
        style = f'stroke-width="{1.3 if dashed else 2.2}"' + (' stroke-dasharray="5,4"' if dashed else "")
        color = _get_color(line, self._colors).name()
        return f'<polyline points="{points}" fill="none" stroke="{color}" {style}/>'

    def _draw_bars(self, line: FigureLine, offset: float) -> Iterator[str]:
        width = self._compute_x(0.9 * BAR_WIDTH) - self._compute_x(0.0)
        for x, y in zip(line.x, line.y, strict=True):
            left_px, top = self._compute_x(x + offset * BAR_WIDTH) - width / 2.0, self._compute_y(y)
            color, height = _get_color(line, self._colors).name(), self._compute_y(0.0) - top
            yield f'<rect x="{left_px:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{color}"/>'

    def _draw_points(self, line: FigureLine) -> Iterator[str]:
        color = _get_color(line, self._colors).name()
        for (low, high), (x, _) in zip(line.spread, self._compute_points(line), strict=False):
            bottom, top = self._compute_y(low), self._compute_y(high)
            ends = f"M{x - 6:.1f},{bottom:.1f} h12 M{x - 6:.1f},{top:.1f} h12"
            yield f'<path d="M{x:.1f},{bottom:.1f} V{top:.1f} {ends}" stroke="{color}" stroke-width="1.6"/>'
        for x, y in self._compute_points(line):
            if line.is_measured:
                cross = f"M{x - 5:.1f},{y - 5:.1f} l10,10 M{x - 5:.1f},{y + 5:.1f} l10,-10"
                yield f'<path d="{cross}" stroke="{color}" stroke-width="2.6"/>'
            else:
                yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{color}"/>'
