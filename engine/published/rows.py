"""Row of the comparison: a published figure or statement with our value, and whether they agree."""

from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from typing import Final

from engine.tables import read_table


class FigureClass(StrEnum):
    """Relation of a published figure to our model."""

    CALIBRATED = "calibrated"  # this number determined a constant
    SHARED = "shared"  # several numbers determined fewer constants together
    PREDICTED = "predicted"  # not used to determine anything
    STATEMENT = "statement"  # a statement, not a number
    INPUT = "input"  # used directly as an input


TOLERANCE_PERCENT: Final = {
    FigureClass.CALIBRATED: 3.0,
    FigureClass.SHARED: 10.0,
    FigureClass.PREDICTED: 10.0,
    FigureClass.INPUT: 3.0,
}
"""Allowed deviation of our figures from the published ones, in percent, by class."""

CPU_TOLERANCE_PERCENT: Final = 15.0
"""Allowed deviation of CPU figures that were predicted or that determined shared constants."""


@dataclass(frozen=True)
class FigureRow:
    """Row of the comparison.

    *published* and *ours* are numbers in *unit*, or text; *band* is (5%, 95%) of many runs.
    """

    id: str
    section: str
    source: str  # paper; table or figure; cell
    what: str
    """Name of the figure."""
    published: float | str
    ours: float | str
    unit: str
    kind: FigureClass
    verdict: str  # pass or fail
    error_percent: float | None = None
    band: tuple[float, float] | None = None
    note: str | None = None
    reason: str | None = None  # reason why a failing row fails

    def as_json(self) -> dict[str, object]:
        """Return the row for `fidelity --json`, without empty fields."""
        values = {name: value for name, value in vars(self).items() if value is not None and name != "kind"}
        return {**values, "class": str(self.kind)}


def build_number_row(
    id: str,
    source: str,
    quantity: str,
    unit: str,
    published: float,
    ours: float,
    kind: FigureClass,
    *,
    cpu: bool = False,
    band: tuple[float, float] | None = None,
    note: str | None = None,
) -> FigureRow:
    """Return the row of a figure.

    It passes within the tolerance of its class and, with many runs, inside their band.
    """
    error = 100.0 * (ours / published - 1.0) if published else 0.0
    tolerance = TOLERANCE_PERCENT[kind]
    if cpu and kind in (FigureClass.SHARED, FigureClass.PREDICTED):
        tolerance = CPU_TOLERANCE_PERCENT
    is_within_limits = abs(error) <= tolerance and (band is None or band[0] <= published <= band[1])
    return FigureRow(
        id=id,
        section="",
        source=source,
        what=quantity,
        published=published,
        ours=round(ours, 4),
        unit=unit,
        kind=kind,
        verdict="pass" if is_within_limits else "fail",
        error_percent=round(error, 2),
        band=None if band is None else (round(band[0], 3), round(band[1], 3)),
        note=note,
    )


@cache
def _read_figures() -> dict[str, dict[str, str]]:
    """Read the published figures and statements from figures.tsv, by row identifier."""
    return {row["id"]: row for row in read_table("engine.published", "figures.tsv")}


def build_published_number_row(id: str, ours: float, band: tuple[float, float] | None = None) -> FigureRow:
    """Return the row of a figure in figures.tsv with our value."""
    figure = _read_figures()[id]
    kind, text, note = FigureClass(figure["class"]), figure["published"], figure["note"] or None
    published = float(text) if "." in text else int(text)
    texts = (id, figure["source"], figure["what"], figure["unit"])
    return build_number_row(*texts, published, ours, kind, cpu=bool(figure["cpu"]), band=band, note=note)


def build_statement_row(id: str, holds: bool, ours: str) -> FigureRow:
    """Return the row of a statement in figures.tsv. *ours*: our result, as figures in a text."""
    figure = _read_figures()[id]
    verdict = "pass" if holds else "fail"
    return FigureRow(
        id,
        "",
        figure["source"],
        figure["what"],
        figure["published"],
        ours,
        "",
        FigureClass.STATEMENT,
        verdict,
    )


def annotate_row(row: FigureRow, section: str, exceptions: dict[str, str]) -> FigureRow:
    """Return the row with its section, and with the listed reason if it fails."""
    return replace(row, section=section, reason=exceptions.get(row.id) if row.verdict == "fail" else None)
