"""The summary of a foreign scenario says what is in it, and does nothing of it."""

from __future__ import annotations

import hashlib

import pytest

from app import scenario_files
from engine.drill.contents import contents
from engine.drill.scenario import load_scenario
from tests.engine.drill.texts import COURSE, WORLD


def test_it_says_what_is_in_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    text = WORLD + COURSE + "\n[[before]]\ndo = 'sql SERVER_A SELECT 1'\n"
    scenario = load_scenario(text, "foreign.toml")
    monkeypatch.setattr("engine.simulator.perform", lambda *_: pytest.fail("something was done"))
    found = contents(scenario)
    assert (found.name, found.title, found.authors) == ("foreign", "Small", ("Nobody's, None",))
    assert found.sha256 == hashlib.sha256(text.encode()).hexdigest()
    assert found.verbs == (("power-off", 1), ("sql", 1))
    assert dict(found.counts)["servers"] == 3
    assert "questions" not in dict(found.counts)
    assert found.length_s == 300


def test_every_shipped_scenario_has_a_summary() -> None:
    for file in scenario_files.all_files()[0]:
        scenario = file.load()
        assert sum(count for _, count in contents(scenario).verbs) == len(scenario.timeline) + len(
            scenario.before
        )
