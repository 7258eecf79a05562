"""Figures computed from the rows: errors of all numbers, Table 6, many databases."""

import re
from collections.abc import Iterable, Sequence

from app.words import formatting
from app.words.language import mark, tr
from engine.planning.figures import Figure, FigureLine, FigurePanel
from engine.published.rows import FigureClass, FigureRow

ERRORS, TABLE_6, MANY = mark("All errors"), mark("Table 6"), mark("Many databases")
"""Names of the figures that are computed from the rows."""

KINDS = (FigureClass.CALIBRATED, FigureClass.SHARED, FigureClass.PREDICTED, FigureClass.INPUT)


def figures_of(rows: Sequence[FigureRow]) -> dict[str, Figure]:
    """Return the figures that can be drawn from *rows*."""
    made = {ERRORS: _errors(rows), TABLE_6: _table_6(rows), MANY: _build_many_databases(rows)}
    return {name: figure for name, figure in made.items() if figure is not None}


def _errors(rows: Sequence[FigureRow]) -> Figure | None:
    numbers = [row for row in rows if row.error_percent is not None]
    if not numbers:
        return None
    lines = []
    for kind in KINDS:
        own = [(index, row) for index, row in enumerate(numbers, start=1) if row.kind is kind]
        if own:
            lines.append(
                FigureLine(
                    str(kind),
                    tuple(float(place) for place, _ in own),
                    tuple(float(row.error_percent or 0.0) for _, row in own),
                    points=True,
                    labels=tuple(
                        f"{row.id}: {formatting.percent((row.error_percent or 0.0) / 100.0, sign=True)}, {row.what}"
                        for _, row in own
                    ),
                )
            )
    ends = (0.0, float(len(numbers)) + 1.0)
    lines += [FigureLine(f"{side:+g}%", ends, (side, side)) for side in (10.0, -10.0)]
    return Figure(
        tr("All figures: error of Mirrordrill"),
        tr("All papers"),
        tr("Limits: 3% for calibrated values, 10% for predicted values, 15% for CPU."),
        tr("Figures by section"),
        (FigurePanel(tr("Error"), "%", tuple(lines)),),
        logarithmic_x=False,
    )


def _table_6(rows: Iterable[FigureRow]) -> Figure | None:
    figure_rows = [row for row in rows if row.id.startswith("T6.") and row.band is not None]
    if not figure_rows:
        return None
    causes = list(dict.fromkeys(row.id.split(".")[1] for row in figure_rows))
    lines = []
    for load, shift in (("idle", -0.12), ("loaded", 0.12)):
        own_rows = [row for row in figure_rows if row.id.endswith(load)]
        x = tuple(causes.index(row.id.split(".")[1]) + shift for row in own_rows)
        lines.append(
            FigureLine(
                "Mirrordrill, no load" if load == "idle" else "Mirrordrill, normal load",
                x,
                tuple(float(row.ours) for row in own_rows),
                points=True,
                spread=tuple(row.band for row in own_rows if row.band is not None),
                labels=tuple(row.what for row in own_rows),
            )
        )
        lines.append(
            FigureLine(
                "published", x, tuple(float(row.published) for row in own_rows), points=True, measured=True
            )
        )
    return Figure(
        tr("Table 6: failover time by cause"),
        "Database Mirroring Best Practices and Performance Considerations",
        tr("Load lengthens every failover. The bars show the 5th to 95th percentile of 200 runs."),
        "",
        (FigurePanel(tr("Failover time"), "s", tuple(lines)),),
        logarithmic_x=False,
        categories=tuple(causes),
    )


MANY_PANELS = (
    ("tps", mark("Requests"), "/s"),
    ("cpu", mark("Principal CPU"), "%"),
    ("mirror-cpu", mark("Mirror CPU"), "%"),
)


def _build_many_databases(rows: Iterable[FigureRow]) -> Figure | None:
    cells = {match.groups(): row for row in rows if (match := re.fullmatch(r"MANY\.(\d+)\.(.+)", row.id))}
    numbers = sorted({int(databases) for databases, _ in cells})
    if not numbers:
        return None
    x = tuple(float(number) for number in numbers)
    panels = []
    for name, title, unit in MANY_PANELS:
        own_rows = [cells[str(number), name] for number in numbers]
        ours = FigureLine("Mirrordrill", x, tuple(float(row.ours) for row in own_rows))
        published = tuple(float(row.published) for row in own_rows)
        panels.append(
            FigurePanel(
                title, unit, (ours, FigureLine("published", x, published, points=True, measured=True))
            )
        )
    return Figure(
        tr("Many databases: throughput and CPU"),
        "Mirroring a Large Number of Databases in a Single SQL Server Instance",
        tr("Throughput and CPU scale almost linearly."),
        tr("Mirrored databases"),
        tuple(panels),
        logarithmic_x=False,
    )
