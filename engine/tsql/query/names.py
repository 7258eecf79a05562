"""Names that a query may use: columns of tables, types of variables, and the query's own columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from engine.messages import SqlError
from engine.tsql.scalars.settings import DEFAULTS, SessionSettings
from engine.tsql.scalars.types import SqlType

Column = tuple[str, SqlType | None]
"""Name and type; None for an unknown type."""
Columns = tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class BindingContext:
    """Context in which the text of a query is read. Equal contexts give the same plan."""

    tables: tuple[tuple[str, Columns | None], ...] = ()
    """Columns by the key of their TableRef."""
    variables: tuple[tuple[str, SqlType | None], ...] = ()
    settings: SessionSettings = DEFAULTS


NOTHING: Final = BindingContext()


@dataclass(slots=True)
class QuerySource:
    """Table of a FROM clause."""

    name: str
    """Qualifier of the columns: the alias of the source, or the last part of its name."""
    columns: Columns | None
    """Columns; None if unknown."""
    aliased: bool = True
    parts: tuple[str, ...] = ()

    def find(self, name: str) -> list[SqlType | None]:
        """Return the types of all columns with that name."""
        wanted = name.lower()
        return [kind for known, kind in self.columns or () if known.lower() == wanted]

    @property
    def display_name(self) -> str:
        """The name as message 8120 has it."""
        return self.name if self.aliased else ".".join(self.parts)


@dataclass(slots=True)
class Space:
    """Sources of one SELECT, and the outer query."""

    outer: Space | None = None
    sources: list[QuerySource] = field(default_factory=list)
    ctes: dict[str, Columns | None] = field(default_factory=dict)

    def cte(self, name: str) -> Columns | bool | None:
        """Return the columns of a common table expression; False for an unknown name."""
        space: Space | None = self
        while space is not None:
            if name.lower() in space.ctes:
                return space.ctes[name.lower()]
            space = space.outer
        return False


@dataclass(frozen=True, slots=True)
class ColumnBinding:
    """Source that a column belongs to."""

    kind: SqlType | None
    source: QuerySource | None
    space: Space | None


WRITTEN: Final = "written"
"""Metadata key of a call: the name of the function as it is written."""

HIDDEN: Final = "asked_handle"
"""Column for an argument of a table-valued function; no query may name it, and no result has it."""

ROW_NUMBER: Final = "row number"
"""Metadata key of an inserted column with SQLite's row number."""

UNKNOWN: Final = ColumnBinding(None, None, None)


def resolve(space: Space | None, qualifiers: Sequence[str], name: str) -> ColumnBinding:
    """Return the column *name* with the parts before it. Raises 207, 209 or 4104."""
    if name.lower() in ("$action", "$rowguid", "$identity"):
        return UNKNOWN
    if name.lower() == HIDDEN:
        raise SqlError(207, name)
    while space is not None:
        found = (
            _find_qualified_column(space, qualifiers, name)
            if qualifiers
            else _find_unqualified_column(space, name)
        )
        if found is not None:
            return found
        space = space.outer
    if qualifiers:
        raise SqlError(4104, ".".join((*qualifiers, name)))
    raise SqlError(207, name)


def _find_qualified_column(space: Space, qualifiers: Sequence[str], name: str) -> ColumnBinding | None:
    wanted = [part.lower() for part in qualifiers]
    for source in space.sources:
        parts = [part.lower() for part in source.parts]
        same = (
            source.name.lower() == wanted[0]
            if len(wanted) == 1
            else not source.aliased and _ends_with(parts, wanted)
        )
        if not same:
            continue
        if source.columns is None:
            return ColumnBinding(None, source, space)
        kinds = source.find(name)
        if not kinds:
            raise SqlError(207, name)
        return ColumnBinding(kinds[0], source, space)
    return None


def _ends_with(parts: list[str], wanted: list[str]) -> bool:
    """Return whether the names match: sys.databases is also master.sys.databases, and `..` omits a part."""
    return parts[-len(wanted) :] == wanted or wanted[-len(parts) :] == parts or wanted[-1] == parts[-1] == ""


def _find_unqualified_column(space: Space, name: str) -> ColumnBinding | None:
    found = [
        ColumnBinding(kind, source, space)
        for source in space.sources
        if source.columns is not None
        for kind in source.find(name)
    ]
    if len(found) > 1:
        raise SqlError(209, name)
    if found:
        return found[0]
    if any(source.columns is None for source in space.sources):
        return UNKNOWN
    return None
