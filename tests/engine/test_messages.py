"""The table of messages: wording by version, and that whoever raises a number gives what its text needs."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import engine
from engine.messages import LATER, TEXTS, text_of

SOURCES = sorted(Path(engine.__file__).parent.rglob("*.py"))
FIRST_ARGUMENT = {"SqlError": 0, "SyntaxProblem": 1, "write": 2, "text_of": 0, "say_number": 0}
"""Calls that take a message number, and at which place; its arguments follow."""


def places(text: str) -> int:
    """How many arguments a text needs."""
    return max((int(number) + 1 for number in re.findall(r"\{(\d)\}", text)), default=0)


def uses() -> list[tuple[str, int, int]]:
    """(place in the source, number, arguments) of every call with a number in it."""
    found = []
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            at = FIRST_ARGUMENT.get(name)
            if at is None or len(node.args) <= at or any(isinstance(a, ast.Starred) for a in node.args):
                continue
            number = node.args[at]
            if isinstance(number, ast.Constant) and isinstance(number.value, int):
                found.append((f"{path.name}:{node.lineno}", number.value, len(node.args) - at - 1))
    return found


def test_there_are_uses_to_look_at() -> None:
    assert len(uses()) > 150


def test_every_number_that_is_raised_is_in_the_table() -> None:
    assert [use for use in uses() if use[1] not in TEXTS] == []


def test_every_raise_gives_what_the_text_needs() -> None:
    needed = {
        number: max(places(TEXTS[number][1]), places(LATER.get((number, True), (0, ""))[1]))
        for number in TEXTS
    }
    short = [use for use in uses() if use[2] < needed[use[1]] and use[1] not in FILLED_LATER]
    assert short == []


FILLED_LATER = {0, 3013, 10054, 64, 53, 2}
"""Numbers whose text another place fills in."""


@pytest.mark.parametrize("number", [955, 9002, 1408, 1468, 1480, 3104])
def test_wording_changed_in_2012(number: int) -> None:
    arguments = ("Sales", "PRINCIPAL", "MIRROR", "Failover")
    old, new = text_of(number, *arguments, version=2008)[1], text_of(number, *arguments, version=2012)[1]
    assert old != new
    assert text_of(number, *arguments, version=2005)[1] == old


def test_severities_that_the_fact_sheet_confirms() -> None:
    severities = {
        1416: 16,
        954: 14,
        955: 14,
        1440: 10,
        9002: 17,
        1453: 17,
        4060: 11,
        18456: 14,
        6006: 10,
        5060: 10,
    }
    assert {number: TEXTS[number][0] for number in severities} == severities


def test_unknown_number_is_our_mistake() -> None:
    with pytest.raises(KeyError):
        text_of(999_999)
