"""One row of the comparison: a published figure or statement beside ours, and whether they agree."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final


class Class(StrEnum):
    """What a published figure was to our model."""

    CALIBRATED = "calibrated"  # this number fixed a constant
    SHARED = "shared"  # several numbers fixed fewer constants together
    PREDICTED = "predicted"  # not used to fix anything
    STATEMENT = "statement"  # words, not a number
    INPUT = "input"  # taken over as it is


TOLERANCE_PERCENT: Final = {
    Class.CALIBRATED: 3.0,
    Class.SHARED: 10.0,
    Class.PREDICTED: 10.0,
    Class.INPUT: 3.0,
}
"""How far ours may be off."""

CPU_TOLERANCE_PERCENT: Final = 15.0
"""For CPU figures that are predicted or fixed shared constants."""


@dataclass(frozen=True)
class FigureRow:
    """*published* and *ours* are numbers in *unit*, or words; *band* is (5 %, 95 %) of many runs."""

    id: str
    section: str
    source: str  # paper, table or figure, cell
    what: str
    published: float | str
    ours: float | str
    unit: str
    kind: Class
    verdict: str  # pass or fail
    error_percent: float | None = None
    band: tuple[float, float] | None = None
    note: str | None = None
    reason: str | None = None  # why a row that fails does so

    def as_json(self) -> dict[str, object]:
        """The row as `fidelity --json` writes it; what is not there is left out."""
        shown = {name: value for name, value in vars(self).items() if value is not None and name != "kind"}
        return {**shown, "class": str(self.kind)}


def number(
    id: str,
    source: str,
    what: str,
    unit: str,
    published: float,
    ours: float,
    kind: Class,
    *,
    cpu: bool = False,
    band: tuple[float, float] | None = None,
    note: str | None = None,
) -> FigureRow:
    """A figure; it passes within the tolerance of its class and, with many runs, inside their band."""
    error = 100.0 * (ours / published - 1.0) if published else 0.0
    tolerance = TOLERANCE_PERCENT[kind]
    if cpu and kind in (Class.SHARED, Class.PREDICTED):
        tolerance = CPU_TOLERANCE_PERCENT
    good = abs(error) <= tolerance and (band is None or band[0] <= published <= band[1])
    return FigureRow(
        id=id,
        section="",
        source=source,
        what=what,
        published=published,
        ours=round(ours, 4),
        unit=unit,
        kind=kind,
        verdict="pass" if good else "fail",
        error_percent=round(error, 2),
        band=None if band is None else (round(band[0], 3), round(band[1], 3)),
        note=note,
    )


def statement(id: str, source: str, what: str, published: str, holds: bool, ours: str) -> FigureRow:
    """Words of a paper, and what ours did in figures."""
    verdict = "pass" if holds else "fail"
    return FigureRow(id, "", source, what, published, ours, "", Class.STATEMENT, verdict)


def explain(row: FigureRow, section: str, exceptions: dict[str, str]) -> FigureRow:
    """The row in its section, with the listed reason if it fails."""
    return replace(row, section=section, reason=exceptions.get(row.id) if row.verdict == "fail" else None)
