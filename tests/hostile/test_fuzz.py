"""Any text is answered or refused in words; so are those that once were not (corpus/)."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.inputs import OPTION_BOUNDS, VERBS
from tests.hostile.targets import TARGETS

CORPUS = sorted((Path(__file__).parent / "corpus").glob("*.txt"))

TOML_WORDS = """
[[server]] [[link]] [[goal]] [settings] name text when at do = "SERVER_A" "x" 1 -1 1e308 nan inf true [ ] { } , .
\'\'\' # \u0000 1979-05-27 0x1F size_mb count loss rtt_ms ends kind [[rubric]] points
"""
CONDITION_WORDS = """
Sales SERVER_A APP is on serves not and or ( ) SYNCHRONIZED witness of safety ran tried error 1 1.5
downtime_s < == "x" [Sales] , 'y'
"""
_TOML = st.sampled_from(TOML_WORDS.split())
_CONDITION = st.sampled_from(CONDITION_WORDS.split())
_WORDS = st.sampled_from(
    ["SERVER_A", "SERVER_B", "Sales", "APP", "log", "x", "-1", "nan", "1e400", "5022", "E", "\u202e"]
)
_OPTIONS = st.tuples(st.sampled_from(sorted(OPTION_BOUNDS)), st.floats()).map(
    lambda pair: f"{pair[0]}={pair[1]}"
)
_LINE = st.tuples(
    st.sampled_from(["0", "+1", "1e5", "nan", "-1", ""]),
    st.sampled_from(sorted(VERBS)),
    st.lists(st.one_of(_WORDS, _OPTIONS), max_size=4).map(" ".join),
).map(" ".join)
_ANY = st.text(max_size=60)


def _soup(words: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(_ANY, st.lists(words, max_size=25).map(" ".join))


@settings(max_examples=150, deadline=None)
@given(_soup(_TOML))
def test_scenario(text: str) -> None:
    TARGETS["scenario"](text)


@settings(max_examples=150, deadline=None)
@given(_soup(_CONDITION))
def test_condition(text: str) -> None:
    TARGETS["condition"](text)


@settings(max_examples=200, deadline=None)
@given(st.one_of(_ANY, st.lists(_LINE, max_size=6).map("\n".join)))
def test_lines(text: str) -> None:
    TARGETS["lines"](text)


@pytest.mark.parametrize("file", CORPUS, ids=lambda file: file.stem)
def test_what_was_once_a_fault(file: Path) -> None:
    TARGETS[file.stem.partition("-")[0]](file.read_text(encoding="utf-8"))
