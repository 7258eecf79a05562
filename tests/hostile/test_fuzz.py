"""Tests with random texts and earlier findings (corpus/): each is answered, or refused with a message."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies

from app.files import bundle
from engine.verbs import VERBS
from tests.engine.drill.texts import WORLD_TEXT
from tests.hostile.targets import BYTES_TARGETS, TARGETS

CORPUS = sorted((Path(__file__).parent / "corpus").glob("*.txt"))
BYTES_CORPUS = sorted((Path(__file__).parent / "corpus").glob("*.bin"))
GOOD_BUNDLE = bundle.build_bundle(
    "A course", {"small": WORLD_TEXT}, {"a": b'{"scenario": "lab"}'}, "Ada", "CC0-1.0"
)

TOML_WORDS = """
[[server]] [[link]] [[goal]] [settings] name text when at do = "SERVER_A" "x" 1 -1 1e308 nan inf true [ ] { } , .
\'\'\' # \u0000 1979-05-27 0x1F size_mb count loss rtt_ms ends kind [[rubric]] points
"""
CONDITION_WORDS = """
Sales SERVER_A APP is on serves not and or ( ) SYNCHRONIZED witness of safety ran tried error 1 1.5
downtime_s < == "x" [Sales] , 'y'
"""
_TOML = strategies.sampled_from(TOML_WORDS.split())
_CONDITION = strategies.sampled_from(CONDITION_WORDS.split())
_WORDS = strategies.sampled_from(
    ["SERVER_A", "SERVER_B", "Sales", "APP", "log", "x", "-1", "nan", "1e400", "5022", "E", "\u202e"]
)
_OPTIONS = strategies.tuples(
    strategies.sampled_from(sorted({name for verb in VERBS.values() for name in verb.options})),
    strategies.floats(),
).map(lambda pair: f"{pair[0]}={pair[1]}")
_LINE_STRATEGY = strategies.tuples(
    strategies.sampled_from(["0", "+1", "1e5", "nan", "-1", ""]),
    strategies.sampled_from(sorted(VERBS)),
    strategies.lists(strategies.one_of(_WORDS, _OPTIONS), max_size=4).map(" ".join),
).map(" ".join)
_ANY_TEXT = strategies.text(max_size=60)


def _join_words(word_strategy: strategies.SearchStrategy[str]) -> strategies.SearchStrategy[str]:
    return strategies.one_of(_ANY_TEXT, strategies.lists(word_strategy, max_size=25).map(" ".join))


@settings(max_examples=150, deadline=None)
@given(_join_words(_TOML))
def test_a_random_scenario_is_read_or_refused(text: str) -> None:
    TARGETS["scenario"](text)


@settings(max_examples=150, deadline=None)
@given(_join_words(_CONDITION))
def test_a_random_condition_is_read_or_refused(text: str) -> None:
    TARGETS["condition"](text)


@settings(max_examples=200, deadline=None)
@given(strategies.one_of(_ANY_TEXT, strategies.lists(_LINE_STRATEGY, max_size=6).map("\n".join)))
def test_random_lines_are_read_or_refused(text: str) -> None:
    TARGETS["lines"](text)


@settings(max_examples=200, deadline=None)
@given(
    strategies.lists(
        strategies.tuples(strategies.integers(0, len(GOOD_BUNDLE) - 1), strategies.integers(0, 255)),
        max_size=6,
    ),
    strategies.tuples(
        strategies.integers(0, len(GOOD_BUNDLE)), strategies.binary(max_size=40), strategies.booleans()
    ),
)
def test_a_bundle_with_changed_bytes_is_read_or_refused(
    changed_bytes: list[tuple[int, int]], put: tuple[int, bytes, bool]
) -> None:
    raw = bytearray(GOOD_BUNDLE)
    for place, value in changed_bytes:
        raw[place] = value
    place, inserted, cut = put
    raw[place:] = inserted if cut else inserted + raw[place:]
    BYTES_TARGETS["archive"](bytes(raw))


_NAMES = strategies.sampled_from(
    [
        "bundle.toml",
        "scenarios/a.toml",
        "scenarios/b.toml",
        "runs/a.json",
        "scenarios/A.toml",
        "../a.toml",
        "x/",
    ]
)
_CONTENTS = strategies.one_of(
    strategies.just(""),
    _join_words(_TOML),
    strategies.just("#\ntitle = 'x'"),
    strategies.just(WORLD_TEXT),
    strategies.just("format = 1\ntitle = 'x'\n"),
)


@settings(max_examples=200, deadline=None)
@given(strategies.lists(strategies.tuples(_NAMES, _CONTENTS), max_size=6))
def test_a_bundle_of_random_members_is_read_or_refused(members: list[tuple[str, str]]) -> None:
    texts = [part.replace("\0", "") for member in members for part in member]
    BYTES_TARGETS["members"]("\0".join(texts).encode("utf-8", "replace"))


_JSON = strategies.recursive(
    strategies.one_of(
        strategies.none(),
        strategies.booleans(),
        strategies.integers(),
        strategies.floats(),
        strategies.text(max_size=8),
    ),
    lambda inner: strategies.one_of(
        strategies.lists(inner, max_size=4),
        strategies.dictionaries(strategies.text(max_size=8), inner, max_size=4),
    ),
    max_leaves=8,
)
_RUN_KEYS = ("scenario", "seed", "mode", "inputs", "ended_at_s", "events", "hashes", "availability", "score",
             "failovers", "scenario_text", "report")  # fmt: skip
_VALID_RUN: dict[str, object] = {
    "scenario": "lab", "seed": 1, "mode": "lab", "inputs": [], "ended_at_s": 1.0, "events": [], "hashes": [],
    "availability": {}, "score": {}, "failovers": [], "scenario_text": "",
}  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(
    strategies.one_of(
        _JSON,
        strategies.dictionaries(strategies.sampled_from(_RUN_KEYS), _JSON, max_size=2).map(
            lambda d: _VALID_RUN | d
        ),
    )
)
def test_a_random_run_file_is_read_or_refused(value: object) -> None:
    BYTES_TARGETS["run_file"](json.dumps(value).encode())


@pytest.mark.parametrize("file", BYTES_CORPUS, ids=lambda file: file.stem)
def test_random_stored_bytes_are_ignored(file: Path) -> None:
    BYTES_TARGETS[file.stem.partition("-")[0]](file.read_bytes())


@pytest.mark.parametrize("file", CORPUS, ids=lambda file: file.stem)
def test_former_failures_stay_fixed(file: Path) -> None:
    TARGETS[file.stem.partition("-")[0]](file.read_text(encoding="utf-8"))
