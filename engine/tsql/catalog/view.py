"""Definition of a catalog view: its shape, and the function for its rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Final

from engine.tsql.batches.context import Context
from engine.tsql.catalog.shapes import SHAPES, ColumnShape, Shape
from engine.tsql.scalars.values import Scalar

Record = dict[str, Scalar]
"""Row; a column that no record of a view contains is not simulated, and NULL."""

Rows = Callable[[Context], Iterable[Record]]


@dataclass(frozen=True, slots=True)
class CatalogView:
    """View or system table."""

    shape: Shape
    rows: Rows | None = None
    """Function for its rows; None: they are not simulated, and a query reports this."""

    @property
    def name(self) -> str:
        """Return the full name in lowercase."""
        return self.shape.name

    @property
    def first_version(self) -> int:
        """Return the first version that has the view."""
        return self.shape.since

    def columns_in(self, version: int) -> tuple[ColumnShape, ...]:
        """Return the columns that *version* has, in the order of SELECT *."""
        return self.shape.columns_in(version)


VIEWS: Final[dict[str, CatalogView]] = {name: CatalogView(shape) for name, shape in SHAPES.items()}
"""Views by full name in lowercase: sys.databases, msdb.dbo.sysjobs."""


SYSTEM_PROCEDURES: Final[dict[str, str]] = {}
"""Procedures of the product (filled by procedures/), with the database of those that only one has."""


def view(name: str, rows: Rows) -> CatalogView:
    """Give a view its rows."""
    made = CatalogView(SHAPES[name], rows)
    VIEWS[name] = made
    return made


@cache
def of_version(version: int) -> tuple[CatalogView, ...]:
    """Return the views and table functions of schema sys, by name."""
    return tuple(
        found
        for name, found in sorted(VIEWS.items())
        if name.startswith("sys.") and found.first_version <= version
    )


def no_rows(context: Context) -> Iterable[Record]:
    """Return no rows for a view about things that do not exist here."""
    return ()
