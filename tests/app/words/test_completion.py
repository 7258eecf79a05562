"""Tests of the completion of a typed input line."""

from __future__ import annotations

import pytest

from app.views.command_line import get_verb_help, list_line_completions
from engine.verbs import VERBS
from tests.engine.worlds import build_lab


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("power-o", ["power-off", "power-on"]),
        ("power-off s", ["power-off SERVER_A", "power-off SERVER_B", "power-off SERVER_W"]),
        ("power-off server_b", []),  # The line is already complete.
        ("cut APP SERVER_B", []),
        ("cut APP A", ["cut APP SERVER_A"]),
        ("slow-disk SERVER_A ", ["slow-disk SERVER_A data", "slow-disk SERVER_A log"]),
        ("slow-disk SERVER_A log f", ["slow-disk SERVER_A log factor="]),
        ("degrade SERVER_A SERVER_B loss=0.1 rt", ["degrade SERVER_A SERVER_B loss=0.1 rtt_ms="]),
        ("fill-log ", ["fill-log Sales"]),
        ("stop-app ", ["stop-app APP"]),
        ("nonsense ", []),
    ],
)
def test_lines_with_a_prefix_are_completed(text: str, expected: list[str]) -> None:
    assert list_line_completions(build_lab(), text)[: len(expected) + 3] == expected


def test_prefix_matches_precede_inner_matches() -> None:
    names = list_line_completions(build_lab(), "app")
    assert set(names) >= {"stop-app", "start-app", "point-app"}
    assert list_line_completions(build_lab(), "st")[0].startswith("st")


def test_the_hint_shows_the_usage_of_a_verb() -> None:
    assert get_verb_help("power-off SER") == "power-off SERVER: power off a server"
    assert get_verb_help("powr") == ""
    assert all(verb.help in get_verb_help(verb.name) for verb in VERBS.values())
