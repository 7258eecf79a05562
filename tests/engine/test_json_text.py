"""Parser of untrusted JSON: it returns a value or raises ValueError."""

from __future__ import annotations

import pytest

from engine.drill.running.drill import Drill
from engine.inputs import InputError
from engine.json_text import parse_json
from tests.shipped_scenarios import load_shipped_scenario

DEEP = "[" * 100_000


@pytest.mark.parametrize("text", [DEEP, DEEP.encode(), '{"a":' * 100_000, "[", b"\xff", ""])
def test_text_that_does_not_parse_is_a_value_error(text: str | bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_json(text)


def test_a_text_parses_to_its_value() -> None:
    assert parse_json('{"a": [1, null, "ä"]}') == {"a": [1, None, "ä"]}


@pytest.mark.parametrize("line", ["batch SERVER_A#x {}", "connect SERVER_A#y {}"])
def test_deeply_nested_argument_is_refused(line: str) -> None:
    drill = Drill(load_shipped_scenario("lab"), 1)
    drill.apply_line('connect SERVER_A#x {"login": "sa", "password": "right"}')
    drill.advance_to(200)
    before = drill.compute_state_hash()
    with pytest.raises(InputError, match="nested too deeply"):
        drill.apply_line(line.format(DEEP))
    assert drill.compute_state_hash() == before
