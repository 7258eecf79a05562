"""Functions about columns, indexes and the identity of a table [DOC: metadata functions].

These are COL_LENGTH, COLUMNPROPERTY, INDEXPROPERTY …
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from engine.messages import SqlError
from engine.tsql import catalog
from engine.tsql.batches.context import Context
from engine.tsql.query.plans import UnsimulatedFeatureError
from engine.tsql.scalars.types import FIXED_LENGTHS, type_of
from engine.tsql.scalars.values import Scalar, to_text


def _columns(context: Context, number: Scalar) -> list[catalog.Record]:
    """Return the columns of an object by its id, also those of a system view."""
    made = [row for row in catalog.rows_of(context, "sys.columns") if row["object_id"] == number]
    if made:
        return made
    named = (row for row in catalog.rows_of(context, "sys.system_views") if row["object_id"] == number)
    return [
        {"name": column.name, "column_id": place, "max_length": _length(column.type)}
        for row in named
        for place, column in enumerate(_columns_of_view(context, to_text(row["name"])), start=1)
    ]


def _columns_of_view(context: Context, name: str) -> Iterable[catalog.ColumnShape]:
    try:
        return catalog.find(context, ("sys", name)).columns_in(context.version)
    except SqlError:
        return ()


def _length(type_text: str) -> int | None:
    try:
        kind = type_of(type_text, 1)
    except SqlError:
        return None
    if kind.length and kind.name in ("nchar", "nvarchar") and kind.length > 0:
        return kind.length * 2
    return kind.length or FIXED_LENGTHS.get(kind.name)


def _column(context: Context, number: Scalar, name: Scalar) -> catalog.Record:
    wanted = to_text(name).lower()
    return next((row for row in _columns(context, number) if to_text(row["name"]).lower() == wanted), {})


def _col_length(context: Context, table: Scalar, column: Scalar) -> Scalar:
    if table is None or column is None:
        return None
    return _column(context, catalog.object_id(context, to_text(table)), column).get("max_length")


def _col_name(context: Context, number: Scalar, column_id: Scalar) -> Scalar:
    return next((row["name"] for row in _columns(context, number) if row["column_id"] == column_id), None)


_PROPERTIES: Final = {
    "allowsnull": "is_nullable",
    "isidentity": "is_identity",
    "iscomputed": "is_computed",
    "columnid": "column_id",
    "precision": "precision",
    "scale": "scale",
}
"""Property of COLUMNPROPERTY -> equivalent column of sys.columns."""


def _characters(row: catalog.Record) -> Scalar:
    """Return characters or bytes that a column may hold, -1 for max; NULL of what is neither."""
    length, kind = row.get("max_length"), row.get("system_type_id")
    if kind in _TWO_BYTES and isinstance(length, int) and length > 0:
        return length // 2
    return length if kind in _TWO_BYTES | _ONE_BYTE else None


_TWO_BYTES, _ONE_BYTE = frozenset({231, 239}), frozenset({165, 167, 173, 175})
"""system_type_id of nvarchar and nchar; of varbinary, varchar, binary and char. Documented [DOC: sys.types]."""


_CONSTANT: Final = {
    "isrowguidcol": 0,
    "isidnotforrepl": 0,
    "isfulltextindexed": 0,
    "fulltexttypecolumn": 0,
    "statisticalsemantics": 0,
    "issparse": 0,
    "iscolumnset": 0,
    "ishidden": 0,
    "generatedalwaystype": 0,
    "usesansitrim": 1,
}
"""Properties of COLUMNPROPERTY that are the same for every simulated column."""


def _column_property(context: Context, number: Scalar, name: Scalar, wanted: Scalar) -> Scalar:
    row, asked = _column(context, number, name), to_text(wanted).lower()
    if row and asked == "charmaxlen":
        return _characters(row)
    if row and asked in _CONSTANT:
        return _CONSTANT[asked]
    if row and asked not in _PROPERTIES:
        raise UnsimulatedFeatureError(f"the property {to_text(wanted)} of COLUMNPROPERTY")
    return row.get(_PROPERTIES[asked]) if row else None


_INDEX_PROPERTIES: Final[dict[str, str | int]] = {
    "indexid": "index_id",
    "isunique": "is_unique",
    "isclustered": "type",
    "isautostatistics": 0,
    "isdisabled": 0,
    "isfulltextkey": 0,
    "ishypothetical": 0,
    "ispadindex": 0,
    "ispagelockdisallowed": 0,
    "isrowlockdisallowed": 0,
    "isstatistics": 0,
    "iscolumnstore": 0,
    "isoptimizedforsequentialkey": 0,
    "indexfillfactor": 0,
}
"""Property of INDEXPROPERTY -> column of sys.indexes, or the value that every simulated index has."""


def _index_property(context: Context, number: Scalar, name: Scalar, wanted: Scalar) -> Scalar:
    for row in catalog.rows_of(context, "sys.indexes"):
        if row["object_id"] == number and to_text(row["name"] or "").lower() == to_text(name).lower():
            found = _INDEX_PROPERTIES.get(to_text(wanted).lower())
            if found == "type":
                return int(row["type"] == 1)
            return row[found] if isinstance(found, str) else found
    return None


def _statistics_date(context: Context, number: Scalar, _statistics: Scalar) -> Scalar:
    """Return NULL, as for statistics that have not been built: nothing builds any here."""
    return None


def _identity(*fields: str) -> Callable[[Context, Scalar], Scalar]:
    """Return the first of *fields* of sys.identity_columns that is known of a table."""

    def function(context: Context, table: Scalar) -> Scalar:
        number = None if table is None else catalog.object_id(context, to_text(table))
        rows = catalog.rows_of(context, "sys.identity_columns")
        found = next((row for row in rows if row["object_id"] == number), {})
        return next((found[field] for field in fields if found.get(field) is not None), None)

    return function


FUNCTIONS: Final[dict[str, Callable[..., Scalar]]] = {
    "col_length": _col_length,
    "col_name": _col_name,
    "columnproperty": _column_property,
    "indexproperty": _index_property,
    "stats_date": _statistics_date,
    "ident_current": _identity("last_value", "seed_value"),
    "ident_seed": _identity("seed_value"),
    "ident_incr": _identity("increment_value"),
}
