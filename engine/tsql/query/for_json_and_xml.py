"""FOR JSON and FOR XML: the rows of a query as one text.

Rules from [DOC: FOR JSON; how FOR JSON converts data types; how FOR JSON escapes characters]. The order of
paths (13601) and the nesting levels of AUTO are derived from public output.
"""

from __future__ import annotations

import json
import re
from itertools import groupby
from typing import Final

from msgspec import Struct
from sqlglot import exp

from engine.messages import SqlError
from engine.tsql.query.conversions import INSERTED_CALL_KEY, Binder, find_replacement, make_literal
from engine.tsql.query.plans import Column, Columns, SelectScope
from engine.tsql.query.query_columns import resolve_column
from engine.tsql.query.syntax_normalization import JSON_RETURNING_FUNCTIONS, is_json
from engine.tsql.scalars.json_values import JsonTemplate
from engine.tsql.scalars.types import UNLIMITED_LENGTH, SqlType, make_nvarchar

JSON_COLUMN: Final = "JSON_F52E2B61-18A1-11d1-B105-00805F49916B"
"""Name of the result column of an outermost FOR JSON query."""

COLUMN_TYPE_KEY: Final = "json_kind"
"""Metadata key of a result column. The value is (type, source table, whether the column already is JSON)."""

_STYLES: Final = {
    **dict.fromkeys(("datetime", "smalldatetime", "datetime2"), 126),
    "datetimeoffset": 126,
    **dict.fromkeys(("float", "real", "money", "smallmoney"), 2),
}
"""Type -> style of CONVERT that FOR JSON uses."""

_UNCONVERTED_TYPES: Final = frozenset({"bit", "xml", "sql_variant", "null"})


def expand_stars(select: exp.Select, space: SelectScope) -> None:
    """Replace `*` by the columns of the sources. Keep `*` if the columns of a source are unknown."""
    projections: list[exp.Expr] = []
    for projection in select.expressions:
        table = projection.args.get("table") if isinstance(projection, exp.Column) else None
        chosen_sources = [s for s in space.sources if table is None or s.name.lower() == table.name.lower()]
        if not projection.is_star or any(source.columns is None for source in chosen_sources):
            projections.append(projection)
            continue
        projections += [
            exp.column(
                exp.to_identifier(name, quoted=True), table=exp.to_identifier(source.name, quoted=True)
            )
            for source in chosen_sources
            for name, *_ in source.columns or ()
        ]
    select.set("expressions", projections)


def store_column_types(select: exp.Select, columns: Columns | None, space: SelectScope) -> Columns:
    """Store the type and source of each result column as metadata. Return the only column of the JSON result."""
    for projection, (_, kind, _) in zip(list(select.expressions), columns or (), strict=False):
        value = projection.expression if isinstance(projection, exp.EQ) else projection.unalias()
        source = ""
        if isinstance(value, exp.Column) and not value.is_star:
            qualifiers = [part.name for part in value.parts[:-1]]
            try:
                source_found = resolve_column(space, qualifiers, value.name).source
            except SqlError:
                source_found = None  # binding.py reports the error
            source = source_found.name if source_found is not None and source_found in space.sources else ""
        projection.meta[COLUMN_TYPE_KEY] = (kind, source, _is_fragment(value))
    return (Column(JSON_COLUMN, make_nvarchar(UNLIMITED_LENGTH)),)


def _is_fragment(value: exp.Expr) -> bool:
    """Return whether the value is JSON: a JSON function, or a FOR JSON query that returns an array or object."""
    if isinstance(value, exp.Subquery):
        clause = value.this.args.get("for_")
        return is_json(clause) and "WITHOUT_ARRAY_WRAPPER" not in _read_options(clause)
    return isinstance(value, exp.Anonymous) and str(value.this).lower().endswith(JSON_RETURNING_FUNCTIONS)


def _read_options(clause: exp.Expr) -> dict[str, str | None]:
    """Return the options of FOR JSON by name. The value of ROOT is the name of the root element."""
    options_by_name: dict[str, str | None] = {}
    for option in clause.expressions:
        value = option.this.args.get("expression")
        options_by_name[option.this.name.upper()] = value.name if isinstance(value, exp.Expr) else None
    return options_by_name


def rewrite_for_json(select: exp.Select, clause: exp.Expr, unnamed: str) -> exp.Select | None:
    """Return the SELECT that returns the JSON of *select* as one value; None if the form is not simulated.

    *unnamed*: alias of columns without a name.
    """
    options = _read_options(clause)
    auto, nulls, is_unwrapped = (
        word in options for word in ("AUTO", "INCLUDE_NULL_VALUES", "WITHOUT_ARRAY_WRAPPER")
    )
    if set(options) - {"AUTO", "PATH", "ROOT", "INCLUDE_NULL_VALUES", "WITHOUT_ARRAY_WRAPPER"}:
        return None
    if auto and select.args.get("from_") is None:
        raise SqlError(13600)
    if is_unwrapped and "ROOT" in options:
        raise SqlError(13620)
    projections = list(select.expressions)
    if any(projection.is_star or COLUMN_TYPE_KEY not in projection.meta for projection in projections):
        return None
    names = [_get_name(projection, unnamed) for projection in projections]
    if "" in names:
        raise SqlError(13605)
    values = [p.expression if isinstance(p, exp.EQ) else p.unalias() for p in projections]
    column_kinds = [(p.meta[COLUMN_TYPE_KEY][0], p.meta[COLUMN_TYPE_KEY][2]) for p in projections]
    literals = [
        _build_literal(exp.column(f"x{index}"), *literal_kind)
        for index, literal_kind in enumerate(column_kinds)
    ]
    levels = _list_nesting_levels(projections, names) if auto else [("", list(enumerate(names)))]
    if levels is None:
        return None
    resolve_order_aliases(select, names, values)
    columns = [exp.alias_(value, f"x{place}", quoted=True) for place, value in enumerate(values)]
    select.set("expressions", columns)
    objects = [_build_object(members, literals, nulls, nested=not auto) for _, members in levels]
    titles = _list_array_names(select, [name for name, _ in levels])
    joined_objects = exp.Anonymous(
        this="group_concat", expressions=[_build_call("json_levels", *objects), make_literal(",")]
    )
    root = make_literal(options["ROOT"] or "root") if "ROOT" in options else exp.Null()
    rows_call = _build_call(
        "json_rows",
        joined_objects,
        make_literal(json.dumps(titles)),
        root,
        exp.Literal.number(int(is_unwrapped)),
    )
    rows = exp.Subquery(this=select.copy(), alias=exp.TableAlias(this=exp.to_identifier("s")))
    has_rows = exp.GT(this=exp.Count(this=exp.Star()), expression=exp.Literal.number(0))
    return exp.Select(
        expressions=[exp.alias_(rows_call, JSON_COLUMN, quoted=True)],
        from_=exp.From(this=rows),
        having=exp.Having(this=has_rows),
    )


def _build_call(name: str, *arguments: exp.Expr, prefix: str = "t_") -> exp.Expr:
    return exp.Anonymous(this=f"{prefix}{name}", expressions=list(arguments))


def _get_name(projection: exp.Expr, unnamed: str) -> str:
    if isinstance(projection, exp.EQ):  # the form 'name' = value
        literal = projection.this.find(exp.Literal)
        return str(literal.name) if literal is not None else str(projection.this.name)
    name = projection.alias if isinstance(projection, exp.Alias) else ""
    if isinstance(projection, exp.Column):
        name = projection.name
    return "" if name == unnamed else str(name)


def infer_constructor(binder: Binder, node: exp.Expr) -> SqlType:
    """Convert the values of JSON_OBJECT or JSON_ARRAY to JSON, and return the type.

    [DOC: JSON_OBJECT; JSON_ARRAY] The first argument of the call is the option for NULL. The other arguments
    of JSON_OBJECT are names and values in turn. Those of JSON_ARRAY are only values.
    """
    step = 2 if str(node.this).lower() == "json_object_text" else 1
    for index, value in enumerate(list(node.expressions[1:])):
        kind, json_kind = binder.bind(value), find_replacement(node.expressions[index + 1])
        if index % step == step - 1:
            literal = _build_literal(json_kind.copy(), kind, _is_fragment(json_kind), prefix="")
            literal.meta[INSERTED_CALL_KEY] = True
            json_kind.replace(literal)
    return make_nvarchar(UNLIMITED_LENGTH)


def _build_literal(value: exp.Expr, kind: SqlType | None, fragment: bool, prefix: str = "t_") -> exp.Expr:
    """Return the call that converts a value to JSON.

    Numbers have no quotes, bits become true or false, and binary values become base64. *fragment*:
    True if the value already is JSON. *prefix*: text before the name of the called function.
    """
    if kind is None or fragment:
        return _build_call(
            "json_literal", value, make_literal(""), exp.Literal.number(int(fragment)), prefix=prefix
        )
    if not (kind.is_text or kind.is_integer or kind.is_binary or kind.name in _UNCONVERTED_TYPES):
        style = exp.Literal.number(_STYLES[kind.name]) if kind.name in _STYLES else exp.Null()
        value = _build_call(
            "convert", make_literal("varchar(60)"), value, style, make_literal(kind), prefix=prefix
        )
    # in all public output, money is a number, although the documentation says string
    kind_name = "bit" if kind.name == "bit" else "number" if kind.is_number else kind.name
    return _build_call("json_literal", value, make_literal(kind_name), exp.Literal.number(0), prefix=prefix)


def _build_object(
    members: list[tuple[int, str]], literals: list[exp.Expr], nulls: bool, nested: bool
) -> exp.Expr:
    """Return the call that builds the JSON object of a row.

    *nulls*: include NULL values. *nested*: a dot in a column name creates a nested object (PATH).
    """
    template: JsonTemplate = []
    used_paths: set[tuple[str, ...]] = set()
    before: tuple[str, ...] = ()
    for number, (_, name) in enumerate(members):
        path = tuple(name.split(".")) if nested else (name,)
        if nested and "" in path:
            raise SqlError(13603, name)
        for depth in range(1, len(path) + 1):
            is_open = depth < len(path) and before[:depth] == path[:depth] and len(before) > depth
            if nested and path[:depth] in used_paths and not is_open:
                raise SqlError(13601, name)
            used_paths.add(path[:depth])
        current_level = template
        for step in path[:-1]:
            if not current_level or current_level[-1][0] != step:
                current_level.append((step, []))
            inner = current_level[-1][1]
            assert isinstance(inner, list)
            current_level = inner
        current_level.append((path[-1], number))
        before = path
    member_literals = [literals[index].copy() for index, _ in members]
    return _build_call(
        "json_object_of", make_literal(json.dumps(template)), exp.Literal.number(int(nulls)), *member_literals
    )


def _list_nesting_levels(
    projections: list[exp.Expr], names: list[str]
) -> list[tuple[str, list[tuple[int, str]]]] | None:
    """Return (table, [(column index, column name)]) for each nesting level of AUTO.

    The tables are in the order in which the columns use them.

    Rows are grouped by column values. Therefore, return None if any level except the last contains an
    expression.
    """
    levels: dict[str, list[tuple[int, str]]] = {}
    own_names: list[str] = []
    deepest = ""
    for index, (projection, name) in enumerate(zip(projections, names, strict=True)):
        source = str(projection.meta[COLUMN_TYPE_KEY][1])
        deepest = source if source and source not in levels else deepest
        if not source:
            own_names.append(deepest)
        levels.setdefault(source or deepest, []).append((index, name))
    if "" in levels and len(levels) > 1:
        first = levels.pop("")
        top = next(iter(levels))
        levels[top] = first + levels[top]
        own_names = [level or top for level in own_names]
    if len(levels) > 1 and set(own_names) - {list(levels)[-1]}:
        return None
    return list(levels.items())


def _list_array_names(select: exp.Select, sources: list[str]) -> list[str]:
    """Return the names of the nested arrays in AUTO: the alias of each table, or its name in the query."""
    title_map = {
        str(table.alias_or_name).lower(): str(table.meta[ELEMENT_NAME_KEY])
        for table in select.find_all(exp.Table)
        if ELEMENT_NAME_KEY in table.meta
    }
    return [title_map.get(source.lower(), source) for source in sources]


# --- FOR XML PATH, RAW and, for one table, AUTO -------------------------------------------------------------
# The rules are from [DOC: FOR XML, PATH mode] and from the pages of RAW and AUTO.

XML_COLUMN: Final = "XML_F52E2B61-18A1-11d1-B105-00805F49916B"
"""Name of the result column of an outermost FOR XML query."""

XML_VALUE_KEY: Final = "xml"
"""Metadata key of a node whose value already is XML (TYPE) and must not be escaped again."""

ELEMENT_NAME_KEY: Final = "shown"
"""Metadata key of a table. The value is the name of the table's XML elements or JSON arrays in AUTO."""

UNSIMULATED_FORMS: Final = {
    "XML": "EXPLICIT, and AUTO or UNION of several tables",
    "JSON": "of a UNION, of unknown columns, and AUTO with an expression between the columns of several tables",
}
"""Clause -> forms that are not simulated."""

_CONTENT_NAMES: Final = frozenset({"", "*", "text()", "node()", "data()"})
"""Names of columns whose value becomes text of the row's element instead of an element of its own."""


class _XmlColumn(Struct, frozen=True):
    """Result column: its path in the row's element, and its value as XML."""

    path: tuple[str, ...]
    content: exp.Expr

    def strip_path_step(self) -> _XmlColumn:
        return _XmlColumn(self.path[1:], self.content)


def rewrite_for_xml(select: exp.Select, clause: exp.Expr, unnamed: str) -> exp.Select | None:
    """Return the SELECT that returns the XML of *select* as one value; None if the mode is not simulated.

    *unnamed*: alias of columns without a name.
    """
    options = dict(_read_option(option.this) for option in clause.expressions)
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
    names = [_get_xml_name(projection, unnamed) for projection in select.expressions]
    values = [_get_value(projection) for projection in select.expressions]
    tag = options[mode] if options[mode] is not None else "row"
    if mode == "AUTO":
        if select.args.get("from_") is None:
            raise SqlError(6800)
        if select.args.get("joins") or not isinstance(select.args["from_"].this, exp.Table):
            return None
        source = select.args["from_"].this
        tag = str(source.meta.get(ELEMENT_NAME_KEY) or source.alias_or_name)
    attributes = mode != "PATH" and not any(word.startswith("ELEMENTS") for word in options)
    if attributes and "" in names:
        raise SqlError(6809)
    _check_attributes(names)
    nil = "ELEMENTS XSINIL" in options
    items = []
    for index, (name, value) in enumerate(zip(names, values, strict=True)):
        column = exp.column(f"x{index}")
        content = (
            _build_xml_call("xml_join", column) if _is_xml(value) else _build_xml_call("xml_escape", column)
        )
        items.append(_XmlColumn(_split_path(f"@{name}" if attributes else name, mode == "PATH"), content))
    resolve_order_aliases(select, names, values)
    select.set(
        "expressions", [exp.alias_(value, f"x{place}", quoted=True) for place, value in enumerate(values)]
    )
    space = exp.Literal.string(_XSI) if nil else exp.Null()
    own_attributes = _build_attributes(items)
    if nil and "ROOT" not in options:
        own_attributes = _build_xml_call("xml_join", space.copy(), own_attributes)
    joined_rows: exp.Expr = exp.Anonymous(
        this="group_concat",
        expressions=[
            _build_xml_call(
                "xml_row",
                exp.Literal.string(encode_name(tag or "")),
                own_attributes,
                _build_content(items, nil),
            ),
            exp.Literal.string(" " if names == ["data()"] else ""),
        ],
    )
    if "ROOT" in options:
        root = exp.Literal.string(options["ROOT"] or "root")
        joined_rows = _build_xml_call("xml_row", root, space, joined_rows)
    rows = exp.Subquery(this=select.copy(), alias=exp.TableAlias(this=exp.to_identifier("s")))
    outer = exp.Select(
        expressions=[exp.alias_(joined_rows, XML_COLUMN, quoted=True)], from_=exp.From(this=rows)
    )
    outer.meta[XML_VALUE_KEY] = "TYPE" in options
    return outer


def _read_option(option: exp.Expr) -> tuple[str, str | None]:
    """Return (name in capitals, value or None) of an option of FOR XML."""
    value = option.args.get("expression")
    return option.name.upper(), value.name if isinstance(value, exp.Expr) else None


def _build_xml_call(name: str, *arguments: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=f"t_{name}", expressions=list(arguments))


def _get_xml_name(projection: exp.Expr, unnamed: str) -> str:
    if isinstance(projection, exp.EQ):  # the form 'name' = value
        return str(projection.this.find(exp.Literal).name)
    name = projection.alias if isinstance(projection, exp.Alias) else ""
    if isinstance(projection, exp.Column):
        name = projection.name
    return "" if name == unnamed else name


def _get_value(projection: exp.Expr) -> exp.Expr:
    value = projection.expression if isinstance(projection, exp.EQ) else projection.unalias()
    assert isinstance(value, exp.Expr)
    return value


def _is_xml(value: exp.Expr) -> bool:
    """Return whether the value is XML: a subquery with TYPE, or a conversion to xml."""
    inner = value.this if isinstance(value, exp.Subquery) else value
    if isinstance(inner, exp.Anonymous) and inner.name == "t_convert":
        return bool(inner.expressions[0].name == "xml")
    return bool(isinstance(inner, exp.Expr) and inner.meta.get(XML_VALUE_KEY))


_XSI: Final = ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'

_MARKUP_NAME: Final = re.compile(r"(comment|processing-instruction)\((.*)\)")
"""Pattern of column names that create a comment or a processing instruction."""


def _check_attributes(names: list[str]) -> None:
    """Raise 6852 if an attribute follows an element on the same level."""
    elements: set[tuple[str, ...]] = set()
    for name in names:
        *parent_names, last = name.split("/")
        if last.startswith("@") and tuple(parent_names) in elements:
            raise SqlError(6852, name)
        for depth in range(len(parent_names) + 1):
            if depth < len(parent_names) or not last.startswith("@"):
                elements.add(tuple(parent_names[:depth]))


def encode_name(name: str) -> str:
    """Encode a name for XML, with _x0020_ for a space."""
    encoded_name = re.sub(r"[^\w.:\-]", lambda match: f"_x{ord(match[0]):04X}_", name)
    return re.sub(r"^[\d.\-]", lambda match: f"_x{ord(match[0]):04X}_", encoded_name)


def _split_path(name: str, divided: bool = True) -> tuple[str, ...]:
    """Split a column name at its slashes and return the parts. Omit a last part in _CONTENT_NAMES.

    *divided*: False if the name is not a path.
    """
    parts = tuple(name.split("/")) if divided else (name,)
    return parts[:-1] if divided and parts[-1].lower() in _CONTENT_NAMES else parts


def resolve_order_aliases(select: exp.Select, names: list[str], values: list[exp.Expr]) -> None:
    """Replace column aliases in ORDER BY by their expressions, because the rewritten query has no aliases."""
    values_by_name = {name.lower(): value for name, value in zip(names, values, strict=True) if name}
    order = select.args.get("order")
    for ordered in order.expressions if order is not None else ():
        column = ordered.this.this if isinstance(ordered.this, exp.Collate) else ordered.this
        if isinstance(column, exp.Column) and not column.table and column.name.lower() in values_by_name:
            ordered.set("this", values_by_name[column.name.lower()].copy())


def _build_attributes(items: list[_XmlColumn]) -> exp.Expr:
    attribute_items = [item for item in items if len(item.path) == 1 and item.path[0].startswith("@")]
    parts = [
        _build_xml_call("xml_attribute", exp.Literal.string(encode_name(i.path[0][1:])), i.content)
        for i in attribute_items
    ]
    return _build_xml_call("xml_join", *parts) if parts else exp.Null()


def _build_content(items: list[_XmlColumn], nil: bool) -> exp.Expr:
    """Return the XML content of consecutive columns.

    Columns whose paths begin with the same name share an element. *nil*: write NULL as an element (XSINIL).
    """
    parts: list[exp.Expr] = []
    inner = [item for item in items if not (item.path and item.path[0].startswith("@"))]
    for name, group in groupby(inner, key=lambda item: item.path[0] if item.path else ""):
        joined_items = [item.strip_path_step() if name else item for item in group]
        mark = _MARKUP_NAME.fullmatch(name)
        if mark is not None:
            kind, mark_text = exp.Literal.string(mark[1]), exp.Literal.string(mark[2])
            parts += [_build_xml_call("xml_mark", kind, mark_text, item.content) for item in joined_items]
        elif name:
            tag = exp.Literal.string(encode_name(name))
            make = "xml_nil" if nil and not any(item.path for item in joined_items) else "xml_element"
            parts.append(
                _build_xml_call(make, tag, _build_attributes(joined_items), _build_content(joined_items, nil))
            )
        else:
            parts += [item.content for item in joined_items]
    return _build_xml_call("xml_join", *parts) if parts else exp.Null()
