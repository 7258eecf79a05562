"""Tests of the summary of a foreign scenario: it lists the contents, and executes nothing."""

from __future__ import annotations

import hashlib

import pytest

from engine.drill.authoring.problems import ScenarioError
from engine.drill.authoring.scenario import escape_invisible, load_scenario, summarize_contents
from tests.engine.drill.texts import COURSE_TEXT, WORLD_TEXT
from tests.shipped_scenarios import SCENARIO_NAMES, load_shipped_scenario


def test_the_summary_lists_the_contents_of_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    text = WORLD_TEXT + COURSE_TEXT + "\n[[before]]\ndo = 'sql SERVER_A SELECT 1'\n"
    scenario = load_scenario(text, "foreign.toml")
    monkeypatch.setattr("engine.simulator.apply_input", lambda *_: pytest.fail("something was done"))
    summary = summarize_contents(scenario)
    assert (summary.name, summary.title, summary.author) == ("foreign", "Small", None)
    assert summary.sources == ("Nobody's, None",)
    assert summary.images == 0
    assert not summary.links
    assert dict(summary.texts)["brief"] == len(scenario.brief)
    assert summary.sha256 == hashlib.sha256(text.encode()).hexdigest()
    assert summary.verbs == (("power-off", 1), ("sql", 1))
    assert dict(summary.counts)["servers"] == 3
    assert "questions" not in dict(summary.counts)
    assert summary.length_s == 300


def test_every_shipped_scenario_has_a_summary() -> None:
    for name in SCENARIO_NAMES:
        scenario = load_shipped_scenario(name)
        assert sum(count for _, count in summarize_contents(scenario).verbs) == len(scenario.timeline) + len(
            scenario.before
        )


def test_author_links_and_pictures_are_named_and_invisible_text_is_revealed() -> None:
    brief = "will lose ![x](http://example.com/x.png) and www.example.org or \\\\\\\\host\\\\share"
    text = 'author = "Ada"\n' + WORLD_TEXT.replace("will lose", brief)
    summary = summarize_contents(load_scenario(text, "foreign.toml"))
    assert summary.author == "Ada"
    assert summary.images == 1
    assert {link.rstrip("/") for link in summary.links} >= {"http://example.com/x.png", "www.example.org"}
    assert escape_invisible("a\u202eb\x00\nc\u2066") == "a⟨U+202E⟩b⟨U+0000⟩\nc⟨U+2066⟩"


@pytest.mark.parametrize("author", ['"' + "x" * 201 + '"', '"a\\u202eb"', "7", '""'])
def test_an_author_is_short_plain_text(author: str) -> None:
    with pytest.raises(ScenarioError, match="author"):
        load_scenario(f"author = {author}\n{WORLD_TEXT}", "foreign.toml")
