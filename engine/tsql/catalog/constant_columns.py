"""Columns with the same value in every simulated row, with the reason for each (shapes/constants.tsv).

A column outside this file and outside a view's rows is not simulated, and a query that reads it reports this.
Documented [DOC: each view].
"""

from __future__ import annotations

import ast
from functools import cache

from engine.constants import VERSIONS
from engine.tables import read_table
from engine.tsql.catalog.shapes import SHAPES
from engine.tsql.scalars.values import Scalar


@cache
def _entries() -> dict[str, dict[str, Scalar]]:
    found: dict[str, dict[str, Scalar]] = {}
    for _, views, pairs in reasons():
        for view in views.split():
            found.setdefault(view, {}).update(pairs)
    return found


@cache
def reasons() -> tuple[tuple[str, str, dict[str, Scalar]], ...]:
    """Return (reason, views, values by column) of each entry."""
    rows = read_table("engine.tsql.catalog.shapes", "constants.tsv")
    return tuple((row["reason"], row["views"], _pairs(row["columns"])) for row in rows)


def _pairs(columns: str) -> dict[str, Scalar]:
    pairs = (pair.partition(" ") for pair in columns.split(", "))
    return {name: _value(value) for name, _, value in pairs}


def _value(text: str) -> Scalar:
    if text == "NULL":
        return None
    if text.startswith("0x"):
        return bytes.fromhex(text[2:])
    return int(text) if text.lstrip("-").isdigit() else text.strip("'")


@cache
def find_constant_columns(view: str) -> dict[str, Scalar]:
    """Return the columns of a view that are equal in all rows, restricted to the view's columns."""
    columns = {column.name for version in VERSIONS for column in SHAPES[view].columns_in(version)}
    both = {**_entries()["*"], **_entries().get(view, {})}
    return {name: value for name, value in both.items() if name in columns}


@cache
def literals(function: str) -> dict[str, Scalar]:
    """Return the columns with a literal in all rows of a function of this package (shapes/literals.tsv)."""
    rows = read_table("engine.tsql.catalog.shapes", "literals.tsv")
    columns = next(row["columns"] for row in rows if row["function"] == function)
    pairs = (pair.partition(" ") for pair in columns.split(", "))
    return {name: ast.literal_eval(value) for name, _, value in pairs}
