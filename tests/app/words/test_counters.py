"""Tests that every counter of the engine has a readable title and description."""

from __future__ import annotations

import pytest

from app.words.formatting import COUNTERS, DEFAULT_COUNTERS
from engine import flow


def test_every_counter_of_the_engine_has_a_text() -> None:
    assert set(COUNTERS) == set(flow.COUNTERS)
    assert set(DEFAULT_COUNTERS) <= set(COUNTERS)


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("send_queue_kb", 2048.0, "2 MB"),
        ("transactions_per_s", 241.3, "241/s"),
        ("commit_delay_ms", 2.24, "2.2 ms"),
        ("response_s", 0.192, "192 ms"),
        ("response_s", None, "–"),
        ("principal_cpu_percent", 41.27, "41.3%"),
        ("redo_kb_per_s", None, "–"),
        ("in_flight_transactions", 51.0, "51"),
    ],
)
def test_values_are_formatted_with_their_units(name: str, value: float | None, text: str) -> None:
    assert COUNTERS[name].unit.text(value) == text
