"""Row of the fidelity comparison: a published figure or statement, our value, and the verdict."""

from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from typing import Final

from engine.tables import read_table


class FigureClass(StrEnum):
    """Relation of a published figure to our model."""

    CALIBRATED = "calibrated"  # the figure determined a constant of our model
    SHARED = "shared"  # several figures together determined a smaller number of constants
    PREDICTED = "predicted"  # the figure determined no constant; our model predicts it
    STATEMENT = "statement"  # the source makes a statement without a number
    INPUT = "input"  # the figure is an input of the model


TOLERANCE_PERCENT: Final = {
    FigureClass.CALIBRATED: 3.0,
    FigureClass.SHARED: 10.0,
    FigureClass.PREDICTED: 10.0,
    FigureClass.INPUT: 3.0,
}
"""Class -> allowed deviation of our figure from the published one, in percent."""

CPU_TOLERANCE_PERCENT: Final = 15.0
"""Allowed deviation of CPU figures of the classes PREDICTED and SHARED, in percent."""


@dataclass(frozen=True)
class FigureRow:
    """Row of the fidelity comparison.

    *published* and *ours* are numbers in *unit*, or text. *band*: 5th and 95th percentile of many runs.
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
    reason: str | None = None  # reason of a failure, from the list of exceptions

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
    """Return the row that compares the figure *published* with our result *ours*.

    The row passes if the deviation is within the tolerance of the figure's class *kind*. *cpu* True:
    the tolerance of the classes PREDICTED and SHARED is CPU_TOLERANCE_PERCENT. With *band*, the
    published figure must also be within *band*.
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
    """Return the published figures and statements in figures.tsv, by row identifier."""
    return {row["id"]: row for row in read_table("engine.published", "figures.tsv")}


def build_published_number_row(id: str, ours: float, band: tuple[float, float] | None = None) -> FigureRow:
    """Return the row of a figure in figures.tsv, with our value *ours*."""
    figure = _read_figures()[id]
    kind, text, note = FigureClass(figure["class"]), figure["published"], figure["note"] or None
    published = float(text) if "." in text else int(text)
    texts = (id, figure["source"], figure["what"], figure["unit"])
    return build_number_row(*texts, published, ours, kind, cpu=bool(figure["cpu"]), band=band, note=note)


def build_statement_row(id: str, holds: bool, ours: str) -> FigureRow:
    """Return the row of a statement in figures.tsv. *holds*: the statement is true in our runs.

    *ours*: our result, as text with figures.
    """
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
    """Return the row with its section and, if it fails, the reason that *exceptions* gives for it."""
    return replace(row, section=section, reason=exceptions.get(row.id) if row.verdict == "fail" else None)
