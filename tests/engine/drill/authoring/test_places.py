"""Positions of keys, list elements and values in any TOML form."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given, strategies

from engine.drill.authoring.problems import TextPosition, find_nearest_position, find_positions

TEXT = '''# a comment = not a key
title = "x # no comment" # a comment
a.b = 'q'
list = [1, # one
  "two", {k = 1, "z z" = [3]} ]
many = """
fake = 1
\\""" [no.table]
"""
[table]
k = 1
[[g]]
w = 1
[[g.h]]
x = 1
[[g.h]]
x = 2
[[g]]
w = 2
[g.sub]
v = 3
'''


@pytest.mark.parametrize(
    ("path", "position"),
    [
        (("title",), TextPosition(2, 1, 2, 10)),
        (("a", "b"), TextPosition(3, 1, 3, 8)),
        (("list", 0), TextPosition(4, 9, 4, 9)),
        (("list", 1), TextPosition(5, 3, 5, 4)),
        (("list", 2, "k"), TextPosition(5, 11, 5, 15)),
        (("list", 2, "z z", 0), TextPosition(5, 27, 5, 27)),
        (("many",), TextPosition(6, 1, 6, 11)),
        (("table", "k"), TextPosition(11, 1, 11, 5)),
        (("g", 0, "h", 1, "x"), TextPosition(17, 1, 17, 5)),
        (("g", 1), TextPosition(18, 1, 18, 1)),
        (("g", 1, "sub", "v"), TextPosition(21, 1, 21, 5)),
    ],
)
def test_positions_are_found(path: tuple[str | int, ...], position: TextPosition) -> None:
    assert find_positions(TEXT)[path] == position


def test_a_key_inside_a_text_is_ignored() -> None:
    assert not any("fake" in path or "no" in path for path in find_positions(TEXT))


def test_the_nearest_position_is_the_table_without_the_key() -> None:
    assert find_nearest_position(find_positions(TEXT), ("g", 1, "missing", 4)) == TextPosition(18, 1, 18, 1)
    assert find_nearest_position({}, ("g",)) == TextPosition(1, 1, 1, 1)


KEYS = strategies.text(alphabet="abz_-.\" '#=[]é", min_size=1, max_size=5)
VALUES = strategies.recursive(
    strategies.integers() | strategies.booleans() | strategies.text(alphabet="ab\"'\\#=[]{},\n", max_size=8),
    lambda inner: strategies.lists(inner, max_size=3) | strategies.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)


def format_toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        escaped = "".join(f"\\u{ord(sign):04x}" if sign in '"\\\n' else sign for sign in value)
        return f'"{escaped}"'
    if isinstance(value, list):
        return "[ " + ", # a ] comment\n ".join(map(format_toml, value)) + " ]"
    if isinstance(value, dict):
        return (
            "{ "
            + ", ".join(f"{format_toml(key)} = {format_toml(part)}" for key, part in value.items())
            + " }"
        )
    return str(value)


def list_paths(value: Any, path: tuple[str | int, ...] = ()) -> set[tuple[str | int, ...]]:
    paths = {path} if path else set()
    if isinstance(value, (dict, list)):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            paths |= list_paths(part, (*path, key))
    return paths


@given(data=strategies.dictionaries(KEYS, VALUES, max_size=4))
def test_every_path_of_any_document_has_a_position(data: dict[str, Any]) -> None:
    text = "".join(f"{format_toml(key)} = {format_toml(value)}\n" for key, value in data.items())
    try:
        read = tomllib.loads(text)
    except tomllib.TOMLDecodeError:  # a comment inside an inline table, which TOML forbids
        return
    assert set(find_positions(text)) == list_paths(read)
