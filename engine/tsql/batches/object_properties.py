"""Functions OBJECTPROPERTY and OBJECTPROPERTYEX. object_properties.tsv lists the properties."""

from collections.abc import Callable, Iterable
from functools import cache
from typing import Final, NamedTuple

from engine import arithmetic
from engine.tables import read_table
from engine.tsql import catalog
from engine.tsql.batches.context import StatementContext
from engine.tsql.query.plans import UnsimulatedFeatureError
from engine.tsql.scalars.values import Scalar, to_text

_UNSIMULATED_PROPERTIES: Final = frozenset(
    {
        "execisansinullson", "execisquotedidenton", "isansinullson", "isdeterministic", "isindexable",
        "isprecise", "isquotedidenton", "issystemverified", "systemdataaccess", "userdataaccess",
    }
)  # fmt: skip
"""Documented properties that are not simulated for some types of objects. [DOC: OBJECTPROPERTYEX]"""


class _Property(NamedTuple):
    """Entry of a property in object_properties.tsv, which explains the columns."""

    since: int
    types: tuple[str, ...]
    value: str


@cache
def _read_properties() -> dict[str, list[_Property]]:
    """Return the entries of each property in object_properties.tsv, by lowercase name."""
    properties: dict[str, list[_Property]] = {}
    for row in read_table("engine.tsql.batches", "object_properties.tsv"):
        entry = _Property(int(row["since"]), tuple(row["types"].split()), row["value"])
        for name in row["properties"].split():
            properties.setdefault(name.lower(), []).append(entry)
    return properties


def evaluate_objectproperty(context: StatementContext, number: Scalar, property_name: Scalar) -> Scalar:
    """Evaluate OBJECTPROPERTY.

    Return NULL for an unknown object or property, or a property that this type of object does not have.
    """
    views = ("sys.objects", "sys.system_objects")
    rows = (row for view in views for row in catalog.list_view_rows(context, view))
    row = next((row for row in rows if row["object_id"] == number), None)
    if row is None:
        return None
    key, kind = to_text(property_name).strip().lower(), to_text(row["type"]).strip()
    for entry in _read_properties().get(key, ()):
        if context.version >= entry.since and (entry.types == ("*",) or kind in entry.types):
            return (
                _COMPUTED_PROPERTIES[key](context, row)
                if not entry.value
                else _evaluate_property(context, row, entry.value)
            )
    if key in _UNSIMULATED_PROPERTIES:
        raise UnsimulatedFeatureError(f"the property {to_text(property_name)} of OBJECTPROPERTY")
    return None


def evaluate_objectpropertyex(context: StatementContext, number: Scalar, property_name: Scalar) -> Scalar:
    """Evaluate OBJECTPROPERTYEX, which has more properties than OBJECTPROPERTY [DOC: OBJECTPROPERTYEX]."""
    key = to_text(property_name).strip().lower()
    if key == "basetype":
        rows = (row for row in catalog.list_view_rows(context, "sys.objects") if row["object_id"] == number)
        return next((to_text(row["type"]).strip() for row in rows), None)
    if key == "cardinality" and context.version >= 2012:
        parts = [
            row for row in catalog.list_view_rows(context, "sys.partitions") if row["object_id"] == number
        ]
        heap = [int(str(row["rows"])) for row in parts if row["index_id"] in (0, 1)]
        return arithmetic.add_in_order(heap) if heap else None
    return evaluate_objectproperty(context, number, property_name)


def _evaluate_property(context: StatementContext, row: catalog.Record, value: str) -> Scalar:
    """Return the property value of the object *row*.

    *value*: expression in object_properties.tsv that describes the property.
    """
    number = row["object_id"]
    if value == "NULL":
        return None
    if value.isdigit():
        return int(value)
    if value.startswith("="):
        return int(to_text(row["type"]).strip() in value[1:].split())
    views, _, column = value.partition("!")
    if column:
        rows = (r for view in views.split() for r in catalog.list_view_rows(context, view))
        return next((r[column] for r in rows if r["object_id"] == number), None)
    view, _, column = value.rpartition(".")
    return int(any(r[column] == number for r in catalog.list_view_rows(context, view)))


def _get_owner(context: StatementContext, row: catalog.Record) -> Scalar:
    schemas = catalog.list_view_rows(context, "sys.schemas")
    return next((r["principal_id"] for r in schemas if r["schema_id"] == row["schema_id"]), None)


def _build_row_property(view: str, matches: Callable[[catalog.Record], object]) -> Callable[..., Scalar]:
    """Build a function that evaluates a property of an object from its rows in *view*.

    The function returns 1 if *matches* is true for one of the rows, otherwise 0.
    """

    def compute(context: StatementContext, row: catalog.Record) -> Scalar:
        return int(any(matches(r) for r in _list_own_rows(context, view, row)))

    return compute


def _list_own_rows(context: StatementContext, view: str, row: catalog.Record) -> Iterable[catalog.Record]:
    return (r for r in catalog.list_view_rows(context, view) if r["object_id"] == row["object_id"])


def _find_key_type(context: StatementContext, row: catalog.Record) -> Scalar:
    """Return the index type of a key constraint; NULL for other constraints."""
    for key in _list_own_rows(context, "sys.key_constraints", row):
        for index in catalog.list_view_rows(context, "sys.indexes"):
            if (index["object_id"], index["index_id"]) == (key["parent_object_id"], key["unique_index_id"]):
                return index["type"]
    return None


def _evaluate_is_column_constraint(context: StatementContext, row: catalog.Record) -> Scalar:
    """Return 1 for a CHECK, DEFAULT or FOREIGN KEY constraint on a single column, else 0."""
    kind = to_text(row["type"]).strip()
    if kind == "F":
        columns = [
            column
            for column in catalog.list_view_rows(context, "sys.foreign_key_columns")
            if column["constraint_object_id"] == row["object_id"]
        ]
        return int(len(columns) == 1)
    if kind == "C":
        return int(any(r["parent_column_id"] for r in _list_own_rows(context, "sys.check_constraints", row)))
    return int(kind == "D")


_COMPUTED_PROPERTIES: Final[dict[str, Callable[[StatementContext, catalog.Record], Scalar]]] = {
    "ismsshipped": lambda context, row: row.get("is_ms_shipped", 0),
    "ownerid": _get_owner,
    "schemaid": lambda context, row: row["schema_id"],
    "tablehasprimarykey": _build_row_property("sys.indexes", lambda row: row["is_primary_key"]),
    "tablehasuniquecnst": _build_row_property("sys.indexes", lambda row: row["is_unique_constraint"]),
    "tablehasclustindex": _build_row_property("sys.indexes", lambda row: row["type"] == 1),
    "tablehasnonclustindex": _build_row_property("sys.indexes", lambda row: row["type"] == 2),
    "tablehasindex": _build_row_property("sys.indexes", lambda row: row["type"]),
    "isindexed": _build_row_property("sys.indexes", lambda row: row["type"]),
    "tablehasidentity": _build_row_property("sys.columns", lambda row: row["is_identity"]),
    "tablehastextimage": _build_row_property(
        "sys.columns", lambda row: row["system_type_id"] in (34, 35, 99)
    ),
    "tablehastimestamp": _build_row_property("sys.columns", lambda row: row["system_type_id"] == 189),
    "tablehasrowguidcol": _build_row_property("sys.columns", lambda row: row["is_rowguidcol"]),
    "cnstisclustkey": lambda context, row: int(_find_key_type(context, row) == 1),
    "cnstisnonclustkey": lambda context, row: int(_find_key_type(context, row) == 2),
    "cnstiscolumn": _evaluate_is_column_constraint,
}
"""Property that object_properties.tsv cannot describe -> function that computes it."""
