"""Calls that sqlglot would turn into nodes of its own; they are read under another name (syntax_normalization.py)."""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from engine.tsql.query import syntax_normalization


def name_plain_calls(tree: exp.Expr) -> None:
    """Give calls their own names back (syntax_normalization.py)."""
    for node in list(tree.find_all(exp.Anonymous)):
        name = str(node.this)
        if name.startswith(syntax_normalization.PLAIN):
            node.set("this", name.removeprefix(syntax_normalization.PLAIN))
        elif name.lower() == "json_modify" and len(node.expressions) == 3:
            made = node.expressions[2]
            if isinstance(made, exp.Anonymous) and str(made.this).lower().endswith(_FRAGMENTS):
                node.set("this", "json_modify_raw")


_FRAGMENTS: Final = ("json_query", "json_modify", "json_modify_raw")
"""Functions whose results are JSON: JSON_MODIFY puts no quotes around them. [DOC: JSON_MODIFY]"""
