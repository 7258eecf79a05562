"""FOR JSON PATH and AUTO: the rows of a query as one JSON text.

Rules from [DOC: FOR JSON; how FOR JSON converts data types; how FOR JSON escapes characters]. The order of paths
(13601) and the levels of AUTO are as public outputs show them.
"""

from __future__ import annotations

import json
from typing import Any, Final

from sqlglot import exp

from engine.messages import SqlError
from engine.tsql.query.conversions import text
from engine.tsql.query.forxml import SHOWN, order_by_values
from engine.tsql.query.names import Columns, Space, resolve
from engine.tsql.scalars.types import MAX, SqlType, nvarchar

COLUMN: Final = "JSON_F52E2B61-18A1-11d1-B105-00805F49916B"
"""Name of the only column of an outermost FOR JSON query."""

KIND: Final = "json_kind"
"""Metadata key of a result column: its type, its source, and whether it is JSON already."""

_STYLES: Final = {
    **dict.fromkeys(("datetime", "smalldatetime", "datetime2"), 126),
    "datetimeoffset": 126,
    **dict.fromkeys(("float", "real", "money", "smallmoney"), 2),
}
"""Type -> style of CONVERT in which FOR JSON writes it."""

_AS_HELD: Final = frozenset({"bit", "xml", "sql_variant", "null"})
_FRAGMENTS: Final = ("json_query", "json_modify", "json_modify_raw")
"""Functions whose results are JSON and not escaped again. Documented [DOC: JSON_QUERY]."""


def is_json(clause: exp.Expr | None) -> bool:
    """Return whether a FOR clause is FOR JSON."""
    return clause is not None and clause.args.get("kind") == "JSON"


def expand_stars(select: exp.Select, space: Space) -> None:
    """Replace `*` by the columns of the sources, if they are known."""
    projections: list[exp.Expr] = []
    for projection in select.expressions:
        table = projection.args.get("table") if isinstance(projection, exp.Column) else None
        chosen = [s for s in space.sources if table is None or s.name.lower() == table.name.lower()]
        if not projection.is_star or any(source.columns is None for source in chosen):
            projections.append(projection)
            continue
        projections += [
            exp.column(
                exp.to_identifier(name, quoted=True), table=exp.to_identifier(source.name, quoted=True)
            )
            for source in chosen
            for name, _ in source.columns or ()
        ]
    select.set("expressions", projections)


def note_kinds(select: exp.Select, columns: Columns | None, space: Space) -> Columns:
    """Note type and source at each result column; return the one column of the result."""
    for projection, (_, kind) in zip(list(select.expressions), columns or (), strict=False):
        value = projection.expression if isinstance(projection, exp.EQ) else projection.unalias()
        source = ""
        if isinstance(value, exp.Column) and not value.is_star:
            qualifiers = [part.name for part in value.parts[:-1]]
            try:
                found = resolve(space, qualifiers, value.name).source
            except SqlError:
                found = None  # bind.py reports it
            source = found.name if found is not None and found in space.sources else ""
        projection.meta[KIND] = (kind, source, _is_fragment(value))
    return ((COLUMN, nvarchar(MAX)),)


def _is_fragment(value: exp.Expr) -> bool:
    """Return whether the value is JSON: a function of JSON, or a FOR JSON query that gives an array or an object."""
    if isinstance(value, exp.Subquery):
        clause = value.this.args.get("for_")
        return is_json(clause) and "WITHOUT_ARRAY_WRAPPER" not in _options(clause)
    return isinstance(value, exp.Anonymous) and str(value.this).lower().endswith(_FRAGMENTS)


def _options(clause: exp.Expr) -> dict[str, str | None]:
    """Return the options of FOR JSON, with the name that ROOT gives."""
    found: dict[str, str | None] = {}
    for option in clause.expressions:
        value = option.this.args.get("expression")
        found[option.this.name.upper()] = value.name if isinstance(value, exp.Expr) else None
    return found


def rewrite_for_json(select: exp.Select, clause: exp.Expr, unnamed: str) -> exp.Select | None:
    """Return the SELECT that gives the JSON of *select* as one value, or None for a form that is not simulated.

    *unnamed* is the alias that stands for no name at all.
    """
    options = _options(clause)
    auto, nulls, bare = (word in options for word in ("AUTO", "INCLUDE_NULL_VALUES", "WITHOUT_ARRAY_WRAPPER"))
    if set(options) - {"AUTO", "PATH", "ROOT", "INCLUDE_NULL_VALUES", "WITHOUT_ARRAY_WRAPPER"}:
        return None
    if auto and select.args.get("from_") is None:
        raise SqlError(13600)
    if bare and "ROOT" in options:
        raise SqlError(13620)
    projections = list(select.expressions)
    if any(projection.is_star or KIND not in projection.meta for projection in projections):
        return None
    names = [_name_of(projection, unnamed) for projection in projections]
    if "" in names:
        raise SqlError(13605)
    values = [p.expression if isinstance(p, exp.EQ) else p.unalias() for p in projections]
    literals = [_literal(place, *p.meta[KIND]) for place, p in enumerate(projections)]
    levels = _levels(projections, names) if auto else [("", list(enumerate(names)))]
    if levels is None:
        return None
    order_by_values(select, names, values)
    columns = [exp.alias_(value, f"x{place}", quoted=True) for place, value in enumerate(values)]
    select.set("expressions", columns)
    objects = [_object(members, literals, nulls, nested=not auto) for _, members in levels]
    titles = _titles(select, [name for name, _ in levels])
    joined = exp.Anonymous(this="group_concat", expressions=[_call("json_levels", *objects), text(",")])
    root = text(options["ROOT"] or "root") if "ROOT" in options else exp.Null()
    shown = _call("json_rows", joined, text(json.dumps(titles)), root, exp.Literal.number(int(bare)))
    rows = exp.Subquery(this=select.copy(), alias=exp.TableAlias(this=exp.to_identifier("s")))
    some = exp.GT(this=exp.Count(this=exp.Star()), expression=exp.Literal.number(0))
    return exp.Select(
        expressions=[exp.alias_(shown, COLUMN, quoted=True)],
        from_=exp.From(this=rows),
        having=exp.Having(this=some),
    )


def _call(name: str, *arguments: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=f"t_{name}", expressions=list(arguments))


def _name_of(projection: exp.Expr, unnamed: str) -> str:
    if isinstance(projection, exp.EQ):  # 'name' = value
        literal = projection.this.find(exp.Literal)
        return str(literal.name) if literal is not None else str(projection.this.name)
    name = projection.alias if isinstance(projection, exp.Alias) else ""
    if isinstance(projection, exp.Column):
        name = projection.name
    return "" if name == unnamed else str(name)


def _literal(number: int, kind: SqlType | None, source: str, fragment: bool) -> exp.Expr:
    """Return the call that writes a column as JSON: numbers bare, bits as words, binary values in base64."""
    value: exp.Expr = exp.column(f"x{number}")
    if kind is None or fragment:
        return _call("json_literal", value, text(""), exp.Literal.number(int(fragment)))
    if not (kind.is_text or kind.is_integer or kind.is_binary or kind.name in _AS_HELD):
        style = exp.Literal.number(_STYLES[kind.name]) if kind.name in _STYLES else exp.Null()
        value = _call("convert", text("varchar(60)"), value, style, text(kind))
    # money is a number in every public output, although the table of types on the documentation page says
    # string.
    written = "bit" if kind.name == "bit" else "number" if kind.is_number else kind.name
    return _call("json_literal", value, text(written), exp.Literal.number(0))


def _object(members: list[tuple[int, str]], literals: list[exp.Expr], nulls: bool, nested: bool) -> exp.Expr:
    """Return the call that makes the object of a row; *nested*: a dot in a name opens an object (PATH)."""
    template: list[Any] = []
    seen: set[tuple[str, ...]] = set()
    before: tuple[str, ...] = ()
    for number, (_, name) in enumerate(members):
        path = tuple(name.split(".")) if nested else (name,)
        if nested and "" in path:
            raise SqlError(13603, name)
        for depth in range(1, len(path) + 1):
            is_open = depth < len(path) and before[:depth] == path[:depth] and len(before) > depth
            if nested and path[:depth] in seen and not is_open:
                raise SqlError(13601, name)
            seen.add(path[:depth])
        held = template
        for step in path[:-1]:
            if not held or held[-1][0] != step:
                held.append([step, []])
            held = held[-1][1]
        held.append([path[-1], number])
        before = path
    written = [literals[place].copy() for place, _ in members]
    return _call("json_object_of", text(json.dumps(template)), exp.Literal.number(int(nulls)), *written)


def _levels(projections: list[exp.Expr], names: list[str]) -> list[tuple[str, list[tuple[int, str]]]] | None:
    """Return the levels of AUTO: one per table, in the order in which the columns name them.

    None for an expression above the last level, which would not take part in the comparison of rows.
    """
    levels: dict[str, list[tuple[int, str]]] = {}
    own: list[str] = []
    deepest = ""
    for place, (projection, name) in enumerate(zip(projections, names, strict=True)):
        source = str(projection.meta[KIND][1])
        deepest = source if source and source not in levels else deepest
        if not source:
            own.append(deepest)
        levels.setdefault(source or deepest, []).append((place, name))
    if "" in levels and len(levels) > 1:
        first = levels.pop("")
        top = next(iter(levels))
        levels[top] = first + levels[top]
        own = [level or top for level in own]
    if len(levels) > 1 and set(own) - {list(levels)[-1]}:
        return None
    return list(levels.items())


def _titles(select: exp.Select, sources: list[str]) -> list[str]:
    """Return the names of the arrays of AUTO: the alias of a table, or its name as the query has it."""
    shown = {
        str(table.alias_or_name).lower(): str(table.meta[SHOWN])
        for table in select.find_all(exp.Table)
        if SHOWN in table.meta
    }
    return [shown.get(source.lower(), source) for source in sources]
