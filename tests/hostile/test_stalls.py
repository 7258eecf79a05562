"""Tests of small files and batches that used to block the window and `check` for up to an hour.

Each now takes seconds. A slow machine needs a tenth of the limit. Quadratic or cubic time exceeds it fifty
times.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest

from engine import simulator, tsql
from engine.drill.authoring.problems import ScenarioError
from engine.drill.authoring.scenario import load_scenario, summarize_contents
from engine.drill.running.drill import Drill
from tests.cases import sample_cases
from tests.engine.drill.texts import SMALL_TEXT, change_text
from tests.engine.worlds import build_lab

CPU_S_MAX = 8.0
"""Processor time limit."""

BATCHES: dict[str, Callable[[], str]] = {
    "a type with blanks": lambda: f"DECLARE @x foo{' ' * 4000}(-1)",
    "a comment in comments": lambda: "/*x" * 15_000,
    "a format of zeros": lambda: f"RAISERROR('%{'0' * 32_000}', 10, 1)",
    "digits that are no number": lambda: f"SELECT ISNUMERIC('{'1' * 32_000}x')",
    "digits to be cast": lambda: f"SELECT CAST('{'1' * 32_000}x' AS float)",
    "LIKE of much": lambda: (
        "SELECT 1 WHERE REPLICATE(CAST('a' AS varchar(max)), 100000) LIKE "
        "'%' + REPLICATE(CAST('a' AS varchar(max)), 50000) + 'b%'"
    ),
    "PATINDEX of much": lambda: (
        "SELECT PATINDEX('%' + REPLICATE('a', 3900) + 'b%', REPLICATE(CAST('a' AS varchar(max)), 100000))"
    ),
    "REPLACE of much": lambda: (
        "SELECT LEN(REPLACE(REPLICATE(CAST('a' AS varchar(max)), 100000), "
        "REPLICATE(CAST('a' AS varchar(max)), 50000) + 'b', 'c'))"
    ),
    "a cursor of FOR UPDATE": lambda: (
        f"DECLARE c CURSOR FOR SELECT * FROM t WHERE ({'1 FOR UPDATE' + ' ' * 32_000})"
    ),
    "a fan of CTEs": lambda: (
        "WITH c0 AS (SELECT 1 AS n)"
        + "".join(f", c{i} AS (SELECT a.n FROM c{i - 1} a, c{i - 1} b)" for i in range(1, 24))
        + " SELECT COUNT(*) FROM c23"
    ),
}


@contextmanager
def limit_time() -> Iterator[None]:
    start_s = time.process_time()
    yield
    assert time.process_time() - start_s < CPU_S_MAX


@pytest.mark.parametrize("name", sample_cases(2, list(BATCHES)))
def test_a_batch_ends_or_is_refused(name: str) -> None:
    world = build_lab(workload="none")
    tsql.submit_text(world, "SERVER_A", "SELECT 1")
    simulator.advance_world(world, 100)  # Load everything that the program loads at first use.
    with limit_time():
        tsql.submit_text(world, "SERVER_A", BATCHES[name]())
        simulator.advance_world(world, 300)


@pytest.mark.parametrize(
    "suffix",
    ["\n# " + "a." * 60_000, "\n# http://" + "a." * 60_000, "\n# " + "www.a/" * 20_000],
    ids=["dots", "an address", "addresses"],
)
def test_the_contents_of_a_file_are_known_before_acceptance(suffix: str) -> None:
    with limit_time(), suppress(ScenarioError):
        summarize_contents(load_scenario(SMALL_TEXT + suffix, "small"))


@pytest.mark.parametrize("key", ['length = "5min"', 'at = "20s"'])
def test_a_duration_of_many_blanks_is_refused_quickly(key: str) -> None:
    text = change_text((key, f'{key.partition(" ")[0]} = "1{" " * 100_000}x"'), text=SMALL_TEXT)
    with limit_time(), pytest.raises(ScenarioError):
        load_scenario(text, "small")


def test_conditions_on_past_batches_are_evaluated_incrementally() -> None:
    scenario = load_scenario(SMALL_TEXT, "small")
    assert "ran " in SMALL_TEXT
    drill = Drill(scenario)
    drill.advance_to(100)
    for number in range(10):
        drill.apply_line("sql SERVER_B " + f"/*{number}" + "/*x*/x" * 3_000 + "*/ SELECT 1")
    with limit_time():
        drill.advance_to(1500)


def test_conditions_on_huge_comments_read_them_once() -> None:
    drill = Drill(load_scenario(SMALL_TEXT, "small"))
    drill.advance_to(100)
    for number in range(5):
        drill.apply_line("sql SERVER_B " + f"SELECT {number} " + "/*x" * 15_000)
    with limit_time():
        drill.advance_to(300)
