"""Columns of all documented views, system tables and table functions, by version.

The text files in this folder define them. A line with # is a comment. An entry begins at the margin: `name
since: column type, column type since, column type since-until`. The name is in lowercase. A column has a
version only if it differs from that of the view. A name with `()` is a table-valued function. Columns that no
version of the product shows (asked_handle …) represent the arguments of a function
(engine/tsql/query/apply_rewriting.py).

Documented [DOC: system catalog views; dynamic management views; compatibility views; system tables;
information schema views]: column, type, `Applies to`. The documentation begins with 2008; differences of 2005
are from memory.
"""

import ast
import re
from functools import cache, lru_cache
from importlib import resources
from typing import Final

from msgspec import Struct

from engine.constants import VERSIONS
from engine.tables import read_table
from engine.tsql.scalars.values import Scalar


class ViewColumn(Struct, frozen=True):
    """Column of a catalog view: its name, its type, and the versions that have the column."""

    name: str
    type: str
    since: int = 2005
    """First version of SQL Server with the column."""
    until: int = 9999
    """Last version that has the column."""


class ViewSchema(Struct, frozen=True):
    """Schema of a view: its name, its first version and its columns."""

    name: str
    since: int
    """First version of SQL Server with the view."""
    text: str
    """Columns as in the text file."""


@lru_cache(maxsize=2048)
def list_view_columns(shape: ViewSchema, version: int) -> tuple[ViewColumn, ...]:
    """Return the columns of the view in *version*, in the order of SELECT *."""
    return tuple(column for column in _list_columns(shape) if column.since <= version <= column.until)


@lru_cache(maxsize=1024)
def _list_columns(shape: ViewSchema) -> tuple[ViewColumn, ...]:
    columns = []
    for part in shape.text.split(", "):
        name, kind, *versions = part.split()
        first_version, _, last_version = versions[0].partition("-") if versions else (shape.since, "", "")
        columns.append(ViewColumn(name, kind, int(first_version), int(last_version or 9999)))
    return tuple(columns)


def _read_view_schemas() -> dict[str, ViewSchema]:
    shapes_by_view = {}
    for file in sorted(resources.files(__name__).iterdir(), key=lambda file: file.name):
        if file.name.endswith(".txt"):
            for entry in re.split(r"\n(?=\S)", file.read_text(encoding="utf-8").strip())[
                1:
            ]:  # skip the heading of the file
                head, _, columns = entry.partition(":")
                name, first_version = head.split()
                shapes_by_view[name] = ViewSchema(name, int(first_version), " ".join(columns.split()))
    return shapes_by_view


VIEW_SCHEMAS: Final = _read_view_schemas()
"""Full lowercase name of a view -> its schema."""

TABLE_FUNCTIONS: Final = frozenset(name[4:-2] for name in VIEW_SCHEMAS if name.endswith("()"))
"""Names of the table-valued functions in schema sys, without the schema."""


# --- columns with the same value in every simulated row, and the reasons (constants.tsv) --------------------

# A column that is neither in constants.tsv nor in a view's rows is not simulated. A query that reads such a
# column reports this. Documented [DOC: each view].


@cache
def _read_constant_columns() -> dict[str, dict[str, Scalar]]:
    """Return view -> column -> value that is the same in all rows, from constants.tsv."""
    entries: dict[str, dict[str, Scalar]] = {}
    for _, views, pairs in list_constant_entries():
        for view in views.split():
            entries.setdefault(view, {}).update(pairs)
    return entries


@cache
def list_constant_entries() -> tuple[tuple[str, str, dict[str, Scalar]], ...]:
    """Return (reason, views, values by column) for each entry of constants.tsv."""
    rows = read_table("engine.tsql.catalog.shapes", "constants.tsv")
    return tuple((row["reason"], row["views"], _parse_pairs(row["columns"])) for row in rows)


def _parse_pairs(columns: str) -> dict[str, Scalar]:
    """Parse columns with their values: `column value, column value`."""
    pairs = (pair_text.partition(" ") for pair_text in columns.split(", "))
    return {name: _parse_value(value) for name, _, value in pairs}


def _parse_value(text: str) -> Scalar:
    if text == "NULL":
        return None
    if text.startswith("0x"):
        return bytes.fromhex(text[2:])
    return int(text) if text.lstrip("-").isdigit() else text.strip("'")


@cache
def find_constant_columns(view: str) -> dict[str, Scalar]:
    """Return column -> value for the columns of *view* that have the same value in all rows."""
    columns = {
        column.name for version in VERSIONS for column in list_view_columns(VIEW_SCHEMAS[view], version)
    }
    all_entries = {**_read_constant_columns()["*"], **_read_constant_columns().get(view, {})}
    return {name: value for name, value in all_entries.items() if name in columns}


@cache
def find_literal_columns(function: str) -> dict[str, Scalar]:
    """Return column -> value for the columns that the Python function *function* fills with literals.

    Source: shapes/literals.tsv.
    """
    rows = read_table("engine.tsql.catalog.shapes", "literals.tsv")
    columns = next(row["columns"] for row in rows if row["function"] == function)
    pairs = (pair_text.partition(" ") for pair_text in columns.split(", "))
    return {name: ast.literal_eval(value) for name, _, value in pairs}
