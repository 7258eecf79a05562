"""Columns of catalog rows that have the same literal in every row that a function creates."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

CATALOG = Path(__file__).parents[3] / "engine" / "tsql" / "catalog"


def find_literal_columns() -> dict[tuple[str, str], set[str]]:
    """Return (module, function) -> texts `column value`, one for each key with one literal value in all its
    dictionaries.
    """
    columns_by_function: dict[tuple[str, str], set[str]] = {}
    for path in sorted(CATALOG.glob("*.py")):
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(function, ast.FunctionDef):
                columns = {f"{name} {value}" for name, value in _list_literals(function)}
                if columns:
                    columns_by_function[path.stem, function.name] = columns
    return columns_by_function


def _list_literals(function: ast.FunctionDef) -> list[tuple[str, str]]:
    values: dict[str, set[str]] = defaultdict(set)
    for node in ast.walk(function):
        for key, value in zip(node.keys, node.values, strict=True) if isinstance(node, ast.Dict) else ():
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                literal = isinstance(value, ast.Constant) or (
                    isinstance(value, ast.UnaryOp) and isinstance(value.operand, ast.Constant)
                )
                values[key.value].add(ast.unparse(value) if literal else "")
    return [
        (name, value)
        for name, column_values in values.items()
        for value in column_values
        if len(column_values) == 1 and value
    ]
