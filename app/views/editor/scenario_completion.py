"""Completion of a scenario's text by position: names of tables, keys, values, input lines. Without Qt."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from app.views.editor.form_names import GO_ON, names_in
from app.views.editor.form_words import OFFERED
from engine.drill.authoring.schema import schema
from engine.drill.authoring.schema.scenario_file import JsonSchema

_TABLE: Final = re.compile(r"^[ \t]*+\[\[?[ \t]*+([\w.\-]++)[ \t]*+\]\]?", re.MULTILINE)
_KEY: Final = re.compile(r"^\s*([\w\-]+)\s*=\s*")
_STRING: Final = re.compile(r"""(["'])((?:(?!\1).)*)\Z""")
"""Pattern of an unfinished string."""
_OFFERED: Final = {key.rpartition(".")[2]: of for key, of in OFFERED.items()}
"""Key -> kind of valid names, as in the form."""


def find_completions(text: str, position: int) -> list[str]:
    """Return valid words at *position*: a table after `[`, keys at the start of a line, else values of the key."""
    before = text[:position]
    line = before.rpartition("\n")[2]
    if line.lstrip().startswith("["):
        return sorted(_tables())
    place = _properties(_table_before(before))
    key = _KEY.match(line)
    rest = before[: len(before) - len(line)] + text[position:].partition("\n")[2]

    def named(kind: str) -> list[str]:
        return names_in(rest, kind)

    if key is None:
        there = set(_keys_before(before))
        return [name for name in place if name not in there] + ([] if line.strip() else sorted(_tables()))
    of = _OFFERED.get(key[1], "")
    value = line[key.end() :]
    if of in GO_ON:
        string = _STRING.match(value)
        return GO_ON[of](string[2], named) if string is not None else []
    return _values(place.get(key[1], {})) or named(of)


def _table_before(prefix: str) -> list[str]:
    """Return path of the table in which the text *before* ends."""
    found = _TABLE.findall(prefix)
    return found[-1].split(".") if found else []


def _keys_before(prefix: str) -> list[str]:
    """Return keys that the table has already."""
    last = max((match.end() for match in _TABLE.finditer(prefix)), default=0)
    return [key[1] for line in prefix[last:].splitlines() if (key := _KEY.match(line))]


def _tables() -> list[str]:
    """Return everything that is written as a table or an array of tables."""
    return [name for name, place in _properties([]).items() if _inner(place).get("properties")]


def _properties(path: list[str]) -> dict[str, JsonSchema]:
    """Return key: its JSON Schema, in the table at *path*; nothing for a table that there is not."""
    place: JsonSchema = _schema()
    for step in path:
        place = _inner(place.get("properties", {}).get(step, {}))
    properties: dict[str, JsonSchema] = place.get("properties", {})
    return properties


def _inner(schema_node: JsonSchema) -> JsonSchema:
    """Return the inner schema of an array, an optional or a reference. For several alternatives, merge their keys."""
    if "$ref" in schema_node:
        return _inner(_schema()["$defs"][schema_node["$ref"].rpartition("/")[2]])
    if "items" in schema_node:
        return _inner(schema_node["items"])
    options = [_inner(option) for option in schema_node.get("anyOf") or schema_node.get("oneOf") or ()]
    tables = [option for option in options if option.get("properties")]
    if tables:
        return {"properties": {name: it for option in tables for name, it in option["properties"].items()}}
    return schema_node


def _values(schema_node: JsonSchema) -> list[str]:
    """Return values that the schema lists."""
    found: list[str] = []
    for option in (schema_node, *schema_node.get("anyOf", ())):
        inner = _inner(option)
        found += [str(value) for value in inner.get("enum", ())]
        found += [str(inner["const"])] if "const" in inner else []
        found += ["true", "false"] if inner.get("type") == "boolean" else []
    return list(dict.fromkeys(found))


@cache
def _schema() -> JsonSchema:
    return schema()
