"""JSON functions of T-SQL: ISJSON, JSON_VALUE, JSON_QUERY, JSON_MODIFY, and the rows of OPENJSON.

JSON_QUERY returns a part of the original text, so its formatting is unchanged. [DOC: JSON functions]
"""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Callable
from fractions import Fraction
from itertools import groupby
from typing import Final

from msgspec import Struct

from engine.messages import SqlError
from engine.tsql.query.plans import UnsimulatedFeatureError
from engine.tsql.scalars import types
from engine.tsql.scalars.values import Scalar, to_text

JSON_VALUE_CHARACTERS_MAX: Final = 4000
"""Maximum length of a JSON_VALUE result, in characters. Documented [DOC: JSON_VALUE]."""
JSON_DEPTH_MAX: Final = 128
"""Maximum nesting depth of JSON. Documented [DOC: ISJSON]."""

_BLANK: Final = re.compile(r"[ \t\r\n]*")
_NUMBER: Final = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_STRING: Final = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
_PATH_STEP: Final = re.compile(r'\.(?:"((?:[^"\\]|\\.)*)"|([A-Za-z_][A-Za-z0-9_]*))|\[(\d+)\]')


class JsonNode(Struct, frozen=True):
    """Value in a JSON text: its kind, its position in the text, and its members or elements."""

    kind: str
    """Kind of the value: object, array, string, number, true, false or null."""
    start: int
    end: int
    items: tuple[tuple[str, JsonNode], ...] = ()
    """Members of an object as (key, node), or elements of an array as (index, node); empty for scalars."""


class _MalformedError(Exception):
    """Error for invalid JSON. Its argument is the position of the first invalid character."""


def _skip_blanks(text: str, offset: int) -> int:
    match = _BLANK.match(text, offset)
    return match.end() if match is not None else offset


def _parse_node(text: str, offset: int, depth: int) -> JsonNode:
    offset = _skip_blanks(text, offset)
    sign = text[offset : offset + 1]
    if depth > JSON_DEPTH_MAX:
        raise _MalformedError(offset)
    if sign and sign in "{[":
        return _parse_container(text, offset, depth)
    if sign == '"':
        match = _STRING.match(text, offset)
        if match is None:
            raise _MalformedError(offset)
        return JsonNode("string", offset, match.end())
    for word in ("true", "false", "null"):
        if text.startswith(word, offset):
            return JsonNode(word, offset, offset + len(word))
    match = _NUMBER.match(text, offset)
    if match is None:
        raise _MalformedError(offset)
    return JsonNode("number", offset, match.end())


def _parse_container(text: str, start: int, depth: int) -> JsonNode:
    is_object = text[start] == "{"
    closing = "}" if is_object else "]"
    items: list[tuple[str, JsonNode]] = []
    position = _skip_blanks(text, start + 1)
    if text[position : position + 1] == closing:
        return JsonNode("object" if is_object else "array", start, position + 1)
    while True:
        position = _skip_blanks(text, position)
        key = str(len(items))
        if is_object:
            match = _STRING.match(text, position)
            if match is None:
                raise _MalformedError(position)
            key, position = json.loads(match[0]), _skip_blanks(text, match.end())
            if text[position : position + 1] != ":":
                raise _MalformedError(position)
            position += 1
        item = _parse_node(text, position, depth + 1)
        items.append((key, item))
        position = _skip_blanks(text, item.end)
        sign = text[position : position + 1]
        position += 1
        if sign == closing:
            return JsonNode("object" if is_object else "array", start, position, tuple(items))
        if sign != ",":
            raise _MalformedError(position - 1)


def parse_json_text(text: str, is_scalar_allowed: bool = False) -> JsonNode:
    """Parse a JSON object or array; with *is_scalar_allowed*, also a scalar. Raises 13609."""
    try:
        node = _parse_node(text, _skip_blanks(text, 0) if is_scalar_allowed else 0, 1)
        end = _skip_blanks(text, node.end)
        if not is_scalar_allowed and node.kind not in ("object", "array"):
            raise _MalformedError(node.start)
        if end != len(text):
            raise _MalformedError(end)
    except _MalformedError as problem:
        position = int(str(problem.args[0]))
        raise SqlError(13609, text[position : position + 1] or ".", position) from None
    return node


class JsonPath(Struct, frozen=True):
    """JSON path. Steps are keys (str) or indexes (int). *strict*: a missing step is an error.

    *appends*: the path begins with `append`.
    """

    strict: bool
    steps: tuple[str | int, ...]
    appends: bool = False


def parse_json_path(text: str, may_append: bool = False) -> JsonPath:
    """Parse a JSON path. *may_append*: the path may begin with `append`. Raises 13607."""
    rest_text, position, appends, strict = text, 0, False, False
    if may_append and rest_text[:7].lower() == "append ":
        appends, position = True, 7
    for mode in ("lax ", "strict "):
        if rest_text[position:].lower().startswith(mode):
            strict, position = mode == "strict ", position + len(mode)
            break
    position += len(rest_text[position:]) - len(rest_text[position:].lstrip(" "))
    if rest_text[position : position + 1] != "$":
        raise SqlError(13607, rest_text[position : position + 1] or ".", position)
    position += 1
    steps: list[str | int] = []
    while position < len(rest_text):
        match = _PATH_STEP.match(rest_text, position)
        if match is None:
            raise SqlError(13607, rest_text[position], position)
        if match[3] is not None:
            steps.append(int(match[3]))
        else:
            steps.append(re.sub(r"\\(.)", r"\1", match[1]) if match[1] is not None else match[2])
        position = match.end()
    return JsonPath(strict, tuple(steps), appends)


def find_child(node: JsonNode, step: str | int) -> JsonNode | None:
    """Return the member or element of *node* for one path step; None if it does not exist."""
    if isinstance(step, int):
        return node.items[step][1] if node.kind == "array" and step < len(node.items) else None
    if node.kind != "object":
        return None
    return next((item for key, item in node.items if key == step), None)


def find_node(node: JsonNode, path: JsonPath) -> JsonNode | None:
    """Return the node at *path* below *node*; None if it does not exist.

    For a strict path, raise 13608 instead of returning None.
    """
    json_node: JsonNode | None = node
    for step in path.steps:
        json_node = find_child(json_node, step) if json_node is not None else None
    if json_node is None and path.strict:
        raise SqlError(13608)
    return json_node


def get_scalar_text(text: str, node: JsonNode) -> str | None:
    """Return the text of a scalar node; None for null."""
    if node.kind == "null":
        return None
    written_text = text[node.start : node.end]
    return str(json.loads(written_text)) if node.kind == "string" else written_text


_ISJSON_NODE_KINDS: Final = {
    "OBJECT": ("object",),
    "ARRAY": ("array",),
    "SCALAR": ("number", "string"),
    "VALUE": ("object", "array", "number", "string", "true", "false", "null"),
}
"""Constraint of ISJSON -> node kinds that satisfy it. Documented [DOC: ISJSON]."""


def evaluate_isjson(value: Scalar, constraint: Scalar = None) -> Scalar:
    """Evaluate ISJSON. Without a constraint, objects and arrays are valid."""
    if value is None:
        return None
    try:
        node = parse_json_text(to_text(value), constraint is not None)
    except SqlError:
        return 0
    return int(constraint is None or node.kind in _ISJSON_NODE_KINDS[to_text(constraint)])


def evaluate_json_path_exists(value: Scalar, path: Scalar) -> Scalar:
    """Evaluate JSON_PATH_EXISTS, which never raises an error [DOC: JSON_PATH_EXISTS]."""
    if value is None or path is None:
        return None
    try:
        return int(find_node(parse_json_text(to_text(value)), parse_json_path(to_text(path))) is not None)
    except SqlError:
        return 0


def evaluate_json_value(value: Scalar, path: Scalar) -> Scalar:
    """Evaluate JSON_VALUE: the scalar at a path, as text."""
    if value is None or path is None:
        return None
    text, json_path = to_text(value), parse_json_path(to_text(path))
    node = find_node(parse_json_text(text), json_path)
    if node is None:
        return None
    if node.kind in ("object", "array"):
        if json_path.strict:
            raise SqlError(13623)
        return None
    value_text = get_scalar_text(text, node)
    if value_text is not None and len(value_text) > JSON_VALUE_CHARACTERS_MAX:
        if json_path.strict:
            raise SqlError(13625)
        return None
    return value_text


def evaluate_json_query(value: Scalar, path: Scalar = "$") -> Scalar:
    """Evaluate JSON_QUERY: the object or array at a path, as text."""
    if value is None or path is None:
        return None
    text, json_path = to_text(value), parse_json_path(to_text(path))
    node = find_node(parse_json_text(text), json_path)
    if node is None or node.kind not in ("object", "array"):
        if node is not None and json_path.strict:
            raise SqlError(13624)
        return None
    return text[node.start : node.end]


def format_as_json(value: Scalar, is_fragment: bool) -> str:
    """Return a value as JSON: numbers and fragments unchanged, other texts in quotes."""
    if value is None:
        return "null"
    if isinstance(value, int | float):
        return to_text(value)
    text = to_text(value)
    return text if is_fragment else _quote_text(text)


def _make_modifier(is_fragment: bool) -> Callable[[Scalar, Scalar, Scalar], Scalar]:
    def modify(value: Scalar, path: Scalar, new_value: Scalar) -> Scalar:
        if value is None or path is None:
            return None
        text, json_path = to_text(value), parse_json_path(to_text(path), may_append=True)
        return _set_value(
            text, parse_json_text(text), json_path, new_value, format_as_json(new_value, is_fragment)
        )

    return modify


def _set_value(text: str, root: JsonNode, path: JsonPath, new_value: Scalar, json_text: str) -> str:
    """Return *text* after JSON_MODIFY at *path*.

    The value is set, inserted or appended. If *new_value* is NULL, the old value is removed.
    *json_text*: the new value as JSON.
    """
    node = find_node(root, JsonPath(False, path.steps))
    if path.appends:
        if node is None or node.kind != "array":
            if path.strict or node is not None:
                raise SqlError(13608)
            return _insert_member(text, root, path, f"[{json_text}]")
        comma = "," if node.items else ""
        return f"{text[: node.end - 1]}{comma}{json_text}{text[node.end - 1 :]}"
    if node is None:
        if path.strict:
            raise SqlError(13608)
        return text if new_value is None else _insert_member(text, root, path, json_text)
    if new_value is None and not path.strict and isinstance(path.steps[-1] if path.steps else 0, str):
        return _remove_member(text, root, path)
    return text[: node.start] + json_text + text[node.end :]


def _insert_member(text: str, root: JsonNode, path: JsonPath, json_text: str) -> str:
    """Return *text* with a new member at *path*. *json_text*: the value of the member.

    The last step of *path* is the name of the member; the other steps lead to the object. Without
    such an object, return *text* unchanged.
    """
    holder = find_node(root, JsonPath(False, path.steps[:-1])) if path.steps else None
    key = path.steps[-1] if path.steps else 0
    if holder is None or holder.kind != "object" or isinstance(key, int):
        return text
    comma = "," if holder.items else ""
    return f"{text[: holder.end - 1]}{comma}{json.dumps(key, ensure_ascii=False)}:{json_text}{text[holder.end - 1 :]}"


def _remove_member(text: str, root: JsonNode, path: JsonPath) -> str:
    holder = find_node(root, JsonPath(False, path.steps[:-1]))
    assert holder is not None, "the value is in it"
    keys = [key for key, _ in holder.items]
    index = keys.index(str(path.steps[-1]))
    ends = [item.end for _, item in holder.items]
    start = ends[index - 1] if index else holder.start + 1
    end = ends[index]
    if not index and len(keys) > 1:
        end = text.index(",", ends[0]) + 1
    return text[:start] + text[end:]


_OPENJSON_TYPES: Final = {"null": 0, "string": 1, "number": 2, "true": 3, "false": 3, "array": 4, "object": 5}
"""Node kind -> column `type` of OPENJSON. Documented [DOC: OPENJSON]."""


def _find_container(value: Scalar, path: Scalar) -> tuple[str, JsonNode | None]:
    """Return (JSON text, object or array at *path*); the second item is None if it does not exist.

    Raises SqlError 13611 if a strict path leads to a scalar.
    """
    if value is None or path is None:
        return "", None
    text, json_path = to_text(value), parse_json_path(to_text(path))
    node = find_node(parse_json_text(text), json_path)
    if node is None or node.kind in ("object", "array"):
        return text, node
    if json_path.strict:
        raise SqlError(13611)
    return text, None


def list_open_json(value: Scalar, path: Scalar = "$") -> Scalar:
    """Return the rows (key, value, type) of OPENJSON without WITH, as a JSON list (apply_rewriting.py)."""
    text, node = _find_container(value, path)
    if node is None:
        return "[]"
    rows: list[tuple[int | str, str | None, int]] = []
    for key, item in node.items:
        item_text = (
            text[item.start : item.end] if item.kind in ("array", "object") else get_scalar_text(text, item)
        )
        rows.append((key, item_text, _OPENJSON_TYPES[item.kind]))
    return json.dumps(rows)


def list_open_json_rows(value: Scalar, path: Scalar = "$") -> Scalar:
    """Return the rows of OPENJSON with WITH, as a JSON list.

    Each element of an array is a row; an object is one row.
    """
    text, node = _find_container(value, path)
    if node is None:
        return "[]"
    items = [item for _, item in node.items] if node.kind == "array" else [node]
    return json.dumps([[text[item.start : item.end]] for item in items])


def _get_field(value: Scalar, path: Scalar) -> Scalar:
    """Return a column of OPENJSON with WITH: the scalar at *path* in a row, as text."""
    if value is None:
        return None
    text, json_path = to_text(value), parse_json_path(to_text(path))
    node = find_node(_parse_node(text, 0, 1), json_path)
    if node is None or node.kind in ("object", "array"):
        if node is not None and json_path.strict:
            raise SqlError(13623)
        return None
    return get_scalar_text(text, node)


def _get_fragment(value: Scalar, path: Scalar) -> Scalar:
    """Return a column of OPENJSON with AS JSON: the object or array at *path* in a row."""
    if value is None:
        return None
    text, json_path = to_text(value), parse_json_path(to_text(path))
    node = find_node(_parse_node(text, 0, 1), json_path)
    if node is None or node.kind not in ("object", "array"):
        if node is not None and json_path.strict:
            raise SqlError(13624)
        return None
    return text[node.start : node.end]


def evaluate_string_split(value: Scalar, separator: Scalar, ordinal: Scalar = 0) -> Scalar:
    """Return the rows of STRING_SPLIT as a JSON list. Raises 214 unless the separator is one character."""
    if separator is None or len(to_text(separator)) != 1:
        raise SqlError(214, "separator", "nchar(1)/nvarchar(1)")
    if value is None:
        return "[]"
    return json.dumps(
        [[part, index] for index, part in enumerate(to_text(value).split(to_text(separator)), 1)]
    )


SERIES_ROWS_MAX: Final = 100_000
"""Maximum number of rows of GENERATE_SERIES. Assumed."""


def generate_series(start: Scalar, stop: Scalar, step: Scalar = None) -> Scalar:
    """Return the rows of GENERATE_SERIES as a JSON list [DOC: GENERATE_SERIES]."""
    first, last = _convert_to_fraction(start), _convert_to_fraction(stop)
    if first is None or last is None:
        return "[]"
    step_value = _convert_to_fraction(step) if step is not None else Fraction(1 if first <= last else -1)
    if not step_value:
        raise SqlError(4199, 0, 3, "generate_series")
    count = max(0, math.floor((last - first) / step_value) + 1)
    if count > SERIES_ROWS_MAX:
        raise UnsimulatedFeatureError(f"more than {SERIES_ROWS_MAX} rows of GENERATE_SERIES")
    values = [first + index * step_value for index in range(count)]
    return json.dumps([[int(value) if value.denominator == 1 else float(value)] for value in values])


def _convert_to_fraction(value: Scalar) -> Fraction | None:
    return None if value is None else Fraction(str(value))


def evaluate_string_escape(value: Scalar, kind: Scalar) -> Scalar:
    """Evaluate STRING_ESCAPE. The only escape type is json [DOC: STRING_ESCAPE]."""
    if value is None or kind is None:
        return None
    if to_text(kind).lower() != "json":
        raise UnsimulatedFeatureError("STRING_ESCAPE of another type than json")
    return _quote_text(to_text(value))[1:-1]


# --- FOR JSON (forjson.py inserts calls of these functions)
# --------------------------------------------------


def _quote_text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("/", "\\/")


def _write_literal(value: Scalar, kind: Scalar, is_fragment: Scalar) -> Scalar:
    """Return a value as a JSON literal.

    *kind* is "bit", "number", another type, or empty for an unknown type.
    """
    if value is None:
        return None
    if kind == "bit":
        return "true" if value else "false"
    if isinstance(value, bytes):
        return _quote_text(base64.b64encode(value).decode())
    text = to_text(value)
    is_bare_literal = (
        is_fragment or kind == "number" or isinstance(value, int | float) or types.is_encoded_decimal(value)
    )
    return text if is_bare_literal else _quote_text(text)


def _write_object(template: Scalar, include_nulls: Scalar, *literals: Scalar) -> Scalar:
    """Return the members of a row's object, without braces. *template* is a JsonTemplate as JSON."""
    return _write_members(json.loads(to_text(template)), bool(include_nulls), literals)


JsonTemplate = list[tuple[str, "int | JsonTemplate"]]
"""Members of a JSON object as (name, index of the value) or, for a nested object, (name, its members)."""


def _write_members(template: JsonTemplate, include_nulls: bool, literals: tuple[Scalar, ...]) -> str:
    nested = []
    for name, member_template in template:
        if isinstance(member_template, int):
            value = (
                "null" if literals[member_template] is None and include_nulls else literals[member_template]
            )
        else:
            members = _write_members(member_template, include_nulls, literals)
            value = f"{{{members}}}" if members else None
        if value is not None:
            nested.append(f"{_quote_text(name)}:{to_text(value)}")
    return ",".join(nested)


def _evaluate_json_object(nulls: Scalar, *pairs: Scalar) -> Scalar:
    """Evaluate JSON_OBJECT. *pairs*: names and JSON values alternately [DOC: JSON_OBJECT]."""
    if None in pairs[::2]:
        raise UnsimulatedFeatureError("JSON_OBJECT with a name that is NULL")
    name_pairs = zip(pairs[::2], pairs[1::2], strict=True)
    members = [
        f"{_quote_text(to_text(name))}:{_format_or_null(value)}"
        for name, value in name_pairs
        if nulls or value is not None
    ]
    return f"{{{','.join(members)}}}"


def _evaluate_json_array(nulls: Scalar, *values: Scalar) -> Scalar:
    """Evaluate JSON_ARRAY. *values* are already JSON [DOC: JSON_ARRAY]."""
    return f"[{','.join(_format_or_null(value) for value in values if nulls or value is not None)}]"


def _format_or_null(value: Scalar) -> str:
    return "null" if value is None else to_text(value)


def _write_levels(*objects: Scalar) -> Scalar:
    """Return the members of a row by nesting level, as a JSON list for `_write_rows`."""
    return json.dumps([to_text(members) for members in objects], ensure_ascii=False)


def _write_rows(rows: Scalar, names: Scalar, root: Scalar, without_wrapper: Scalar) -> Scalar:
    """Return the result text of FOR JSON.

    At each nesting level, consecutive rows with equal members become one object.
    """
    if rows is None:
        return None
    nested_rows = _nest_rows(json.loads(f"[{to_text(rows)}]"), json.loads(to_text(names))[1:])
    if without_wrapper:
        return nested_rows
    return f"[{nested_rows}]" if root is None else f"{{{_quote_text(to_text(root))}:[{nested_rows}]}}"


def _nest_rows(rows: list[list[str]], names: list[str]) -> str:
    if not names:
        return ",".join(f"{{{row[0]}}}" for row in rows)
    nested = []
    for members, group in groupby(rows, key=lambda row: row[0]):
        inner = f"{_quote_text(names[0])}:[{_nest_rows([row[1:] for row in group], names[1:])}]"
        nested.append(f"{{{members},{inner}}}" if members else f"{{{inner}}}")
    return ",".join(nested)


FUNCTIONS: Final[dict[str, Callable[..., Scalar]]] = {
    "isjson": evaluate_isjson,
    "json_path_exists": evaluate_json_path_exists,
    "json_value": evaluate_json_value,
    "json_query": evaluate_json_query,
    "json_modify": _make_modifier(is_fragment=False),
    "json_modify_raw": _make_modifier(is_fragment=True),
    "open_json": list_open_json,
    "open_json_rows": list_open_json_rows,
    "json_field": _get_field,
    "json_fragment": _get_fragment,
    "split_string": evaluate_string_split,
    "number_series": generate_series,
    "string_escape": evaluate_string_escape,
    "json_literal": _write_literal,
    "json_object_of": _write_object,
    "json_levels": _write_levels,
    "json_object_text": _evaluate_json_object,
    "json_array_text": _evaluate_json_array,
    "json_rows": _write_rows,
}
