"""FOR XML PATH, RAW and, for one table, AUTO: the rows of a query as one XML text.

Rules from [DOC: FOR XML, PATH mode] and the pages for RAW and AUTO.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from sqlglot import exp

from engine.messages import SqlError

COLUMN: Final = "XML_F52E2B61-18A1-11d1-B105-00805F49916B"
"""Name of the only column of an outermost FOR XML query."""

MARK: Final = "xml"
"""Metadata key of a node whose value is XML already (TYPE) and is not escaped again."""

SHOWN: Final = "shown"
"""Metadata key of a table: the name of its elements in AUTO."""

UNSIMULATED: Final = {
    "XML": "EXPLICIT, and AUTO or UNION of several tables",
    "JSON": "of a UNION, of unknown columns, and AUTO with an expression between the columns of several tables",
}
"""Forms of the FOR clauses that are not simulated."""

_CONTENT: Final = frozenset({"", "*", "text()", "node()", "data()"})
"""Column names for content without an element."""


@dataclass(frozen=True, slots=True)
class _Item:
    """Column of the query: its position in the element of its row, and its value as XML."""

    path: tuple[str, ...]
    content: exp.Expr

    def strip_path_step(self) -> _Item:
        return _Item(self.path[1:], self.content)


def rewrite_for_xml(select: exp.Select, clause: exp.Expr, unnamed: str) -> exp.Select | None:
    """Return the SELECT that gives the XML of *select* as one value, or None for a mode that is not simulated.

    *unnamed* is the alias that stands for no name at all.
    """
    options = dict(_option(option.this) for option in clause.expressions)
    mode = next(iter(options), "")
    if mode not in ("PATH", "RAW", "AUTO") or set(options) - {
        mode,
        "ROOT",
        "TYPE",
        "ELEMENTS",
        "ELEMENTS XSINIL",
    }:
        return None
    if any(projection.is_star for projection in select.expressions):
        return None
    names = [_name_of(projection, unnamed) for projection in select.expressions]
    values = [_value_of(projection) for projection in select.expressions]
    tag = options[mode] if options[mode] is not None else "row"
    if mode == "AUTO":
        if select.args.get("from_") is None:
            raise SqlError(6800)
        if select.args.get("joins") or not isinstance(select.args["from_"].this, exp.Table):
            return None
        source = select.args["from_"].this
        tag = str(source.meta.get(SHOWN) or source.alias_or_name)
    attributes = mode != "PATH" and not any(word.startswith("ELEMENTS") for word in options)
    if attributes and "" in names:
        raise SqlError(6809)
    _check_attributes(names)
    nil = "ELEMENTS XSINIL" in options
    items = []
    for place, (name, value) in enumerate(zip(names, values, strict=True)):
        column = exp.column(f"x{place}")
        content = _call("xml_join", column) if _is_xml(value) else _call("xml_escape", column)
        items.append(_Item(_path(f"@{name}" if attributes else name, mode == "PATH"), content))
    order_by_values(select, names, values)
    select.set(
        "expressions", [exp.alias_(value, f"x{place}", quoted=True) for place, value in enumerate(values)]
    )
    space = exp.Literal.string(_XSI) if nil else exp.Null()
    own = _attributes(items)
    if nil and "ROOT" not in options:
        own = _call("xml_join", space.copy(), own)
    joined: exp.Expr = exp.Anonymous(
        this="group_concat",
        expressions=[
            _call("xml_row", exp.Literal.string(encode_name(tag or "")), own, _content(items, nil)),
            exp.Literal.string(" " if names == ["data()"] else ""),
        ],
    )
    if "ROOT" in options:
        root = exp.Literal.string(options["ROOT"] or "root")
        joined = _call("xml_row", root, space, joined)
    rows = exp.Subquery(this=select.copy(), alias=exp.TableAlias(this=exp.to_identifier("s")))
    outer = exp.Select(expressions=[exp.alias_(joined, COLUMN, quoted=True)], from_=exp.From(this=rows))
    outer.meta[MARK] = "TYPE" in options
    return outer


def _option(option: exp.Expr) -> tuple[str, str | None]:
    value = option.args.get("expression")
    return option.name.upper(), value.name if isinstance(value, exp.Expr) else None


def _call(name: str, *arguments: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=f"t_{name}", expressions=list(arguments))


def _name_of(projection: exp.Expr, unnamed: str) -> str:
    if isinstance(projection, exp.EQ):  # 'name' = value
        return str(projection.this.find(exp.Literal).name)
    name = projection.alias if isinstance(projection, exp.Alias) else ""
    if isinstance(projection, exp.Column):
        name = projection.name
    return "" if name == unnamed else name


def _value_of(projection: exp.Expr) -> exp.Expr:
    value = projection.expression if isinstance(projection, exp.EQ) else projection.unalias()
    assert isinstance(value, exp.Expr)
    return value


def _is_xml(value: exp.Expr) -> bool:
    """Return whether the value is a subquery with TYPE, or was converted to xml."""
    inner = value.this if isinstance(value, exp.Subquery) else value
    if isinstance(inner, exp.Anonymous) and inner.name == "t_convert":
        return bool(inner.expressions[0].name == "xml")
    return bool(isinstance(inner, exp.Expr) and inner.meta.get(MARK))


_XSI: Final = ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'

_MARKS: Final = re.compile(r"(comment|processing-instruction)\((.*)\)")
"""Column names for a comment or a processing instruction."""


def _check_attributes(names: list[str]) -> None:
    """Raise 6852 for an attribute behind an element on the same level."""
    elements: set[tuple[str, ...]] = set()
    for name in names:
        *above, last = name.split("/")
        if last.startswith("@") and tuple(above) in elements:
            raise SqlError(6852, name)
        for depth in range(len(above) + 1):
            if depth < len(above) or not last.startswith("@"):
                elements.add(tuple(above[:depth]))


def encode_name(name: str) -> str:
    """Return a name in XML form: _x0020_ for a blank."""
    shown = re.sub(r"[^\w.:\-]", lambda match: f"_x{ord(match[0]):04X}_", name)
    return re.sub(r"^[\d.\-]", lambda match: f"_x{ord(match[0]):04X}_", shown)


def _path(name: str, divided: bool = True) -> tuple[str, ...]:
    parts = tuple(name.split("/")) if divided else (name,)
    return parts[:-1] if divided and parts[-1].lower() in _CONTENT else parts


def order_by_values(select: exp.Select, names: list[str], values: list[exp.Expr]) -> None:
    """ORDER BY a column's alias: by its value, as the alias is gone."""
    known = {name.lower(): value for name, value in zip(names, values, strict=True) if name}
    order = select.args.get("order")
    for ordered in order.expressions if order is not None else ():
        column = ordered.this.this if isinstance(ordered.this, exp.Collate) else ordered.this
        if isinstance(column, exp.Column) and not column.table and column.name.lower() in known:
            ordered.set("this", known[column.name.lower()].copy())


def _attributes(items: list[_Item]) -> exp.Expr:
    found = [item for item in items if len(item.path) == 1 and item.path[0].startswith("@")]
    parts = [_call("xml_attribute", exp.Literal.string(encode_name(i.path[0][1:])), i.content) for i in found]
    return _call("xml_join", *parts) if parts else exp.Null()


def _content(items: list[_Item], nil: bool) -> exp.Expr:
    """Return columns that follow one another with the same first name share one element."""
    parts: list[exp.Expr] = []
    inner = [item for item in items if not (item.path and item.path[0].startswith("@"))]
    for name, group in groupby(inner, key=lambda item: item.path[0] if item.path else ""):
        together = [item.strip_path_step() if name else item for item in group]
        mark = _MARKS.fullmatch(name)
        if mark is not None:
            kind, of = exp.Literal.string(mark[1]), exp.Literal.string(mark[2])
            parts += [_call("xml_mark", kind, of, item.content) for item in together]
        elif name:
            tag = exp.Literal.string(encode_name(name))
            make = "xml_nil" if nil and not any(item.path for item in together) else "xml_element"
            parts.append(_call(make, tag, _attributes(together), _content(together, nil)))
        else:
            parts += [item.content for item in together]
    return _call("xml_join", *parts) if parts else exp.Null()
