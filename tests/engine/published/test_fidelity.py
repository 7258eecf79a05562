"""Comparison with the white papers: it succeeds row by row, and reports deviations."""

from __future__ import annotations

import json
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

from engine.cluster import quorum
from engine.published import cluster_rules, whitepaper_failover
from engine.published.fidelity import (
    KNOWN_FAILURES,
    SECTIONS,
    build_fidelity_rows,
    format_comparison,
    summarize_rows,
)
from engine.published.figure_rows import (
    FigureClass,
    FigureRow,
    annotate_row,
    build_number_row,
    build_statement_row,
)
from engine.published.whitepaper_failover import PUBLISHED_FAILOVER_TIMES_S, SEED_COUNT

FAILED_ROWS_MAX = 8
FEW_RUNS = 40
"""Number of runs of each failure in the normal suite; `make test-slow` uses SEEDS."""
ERROR_MAX = {True: 15.0, False: 10.0}
"""Maximum error in percent; the key is True for few runs, and False for all runs."""


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(FEW_RUNS, id="few runs"),
        pytest.param(SEED_COUNT, id="all runs", marks=pytest.mark.slow),
    ],
)
def rows(request: pytest.FixtureRequest) -> Iterator[list[FigureRow]]:
    """Return all rows. The rows of table 6 come from the parameter's number of runs of each failure."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(whitepaper_failover, "SEED_COUNT", request.param)
        whitepaper_failover.simulate_failovers.cache_clear()
        yield build_fidelity_rows()
        whitepaper_failover.simulate_failovers.cache_clear()


def list_failed_rows(rows: list[FigureRow]) -> set[str]:
    """Return the IDs of failed rows. With few runs, the medians of table 6 may deviate more."""
    has_few_seeds = whitepaper_failover.SEED_COUNT == FEW_RUNS
    near_ids = {
        row.id
        for row in rows
        if row.id.startswith("T6.") and abs(row.error_percent or 0.0) <= ERROR_MAX[has_few_seeds]
    }
    return {row.id for row in rows if row.verdict == "fail"} - (near_ids if has_few_seeds else set())


def test_all_sections_exist_with_enough_rows(rows: list[FigureRow]) -> None:
    assert len(rows) >= 290
    assert {row.section for row in rows} == set(SECTIONS)
    assert len({row.id for row in rows}) == len(rows)


def test_every_failure_has_a_listed_reason(rows: list[FigureRow]) -> None:
    assert list_failed_rows(rows) == set(KNOWN_FAILURES)
    assert len(KNOWN_FAILURES) <= FAILED_ROWS_MAX
    assert all(row.reason for row in rows if row.id in list_failed_rows(rows))
    assert not any(row.reason for row in rows if row.verdict == "pass")


def test_table_6_is_within_the_spread_of_the_runs_and_slower_under_load(rows: list[FigureRow]) -> None:
    cells = {row.id: row for row in rows if row.id.startswith("T6.") and row.band is not None}
    assert len(cells) == 12
    for cause in PUBLISHED_FAILOVER_TIMES_S:
        idle, loaded = cells[f"T6.{cause}.idle"], cells[f"T6.{cause}.loaded"]
        for row in (idle, loaded):
            assert row.band is not None
            assert isinstance(row.published, float)
            assert row.band[0] <= row.published <= row.band[1]
            assert abs(row.error_percent or 0.0) <= ERROR_MAX[whitepaper_failover.SEED_COUNT == FEW_RUNS]
            assert row.note, "what is calibrated is said"
        assert isinstance(idle.ours, float)
        assert isinstance(loaded.ours, float)
        assert idle.ours < loaded.ours


def test_rows_are_plain_json_with_the_promised_keys(rows: list[FigureRow]) -> None:
    documents: list[dict[str, Any]] = json.loads(json.dumps([row.as_json() for row in rows], allow_nan=False))
    for row in documents:
        assert {"id", "source", "what", "published", "ours", "class", "verdict"} <= set(row)
        assert row["class"] in set(FigureClass)
        assert row["verdict"] in ("pass", "fail")
        assert ("error_percent" in row) == (row["class"] != "statement")


def test_every_cell_of_the_load_tables_is_compared(rows: list[FigureRow]) -> None:
    ids = {row.id for row in rows}
    for table, measures in (("2a", 5), ("3a", 5), ("2b", 3), ("3b", 3)):
        cells = [id for id in ids if id.startswith(f"T{table}.")]
        assert len(cells) == measures * (3 if table.endswith("a") else 2)
    assert sum(id.startswith("MANY.") for id in ids) == 5 * 7 + 1


def test_the_text_shows_rows_reasons_and_the_count(rows: list[FigureRow]) -> None:
    text = format_comparison(rows)
    counts = summarize_rows(rows)
    assert f"{counts['rows']} rows: {counts['pass']} pass" in text
    assert text.count("\nFAIL ") == counts["fail"]
    assert counts["fail"] - counts["unexplained"] == len(KNOWN_FAILURES)
    assert "four fifths of 1,500" in " ".join(text.split())
    assert all(section in text for section in SECTIONS)


@pytest.mark.parametrize(
    ("kind", "cpu", "ours", "verdict"),
    [
        (FigureClass.CALIBRATED, False, 102.9, "pass"),
        (FigureClass.CALIBRATED, False, 103.1, "fail"),
        (FigureClass.PREDICTED, False, 90.1, "pass"),
        (FigureClass.PREDICTED, False, 89.9, "fail"),
        (FigureClass.PREDICTED, True, 114.9, "pass"),
        (FigureClass.SHARED, True, 115.1, "fail"),
        (FigureClass.CALIBRATED, True, 104.0, "fail"),
    ],
)
def test_tolerances_decide_the_verdict(kind: FigureClass, cpu: bool, ours: float, verdict: str) -> None:
    assert build_number_row("x", "", "", "", 100.0, ours, kind, cpu=cpu).verdict == verdict


def test_a_value_outside_the_tolerance_fails() -> None:
    assert (
        build_number_row("x", "", "", "", 100.0, 101.0, FigureClass.INPUT, band=(100.5, 103.0)).verdict
        == "fail"
    )
    assert (
        build_number_row("x", "", "", "", 100.0, 101.0, FigureClass.INPUT, band=(99.0, 103.0)).verdict
        == "pass"
    )


def test_a_listed_reason_of_a_passing_row_is_reported() -> None:
    assert (
        annotate_row(build_statement_row("T5.trace", True, ""), "s", {"T5.trace": "because"}).reason is None
    )
    assert annotate_row(build_statement_row("T5.trace", False, ""), "s", {}).reason is None
    assert (
        annotate_row(build_statement_row("T5.trace", False, ""), "s", {"T5.trace": "because"}).reason
        == "because"
    )


def _clear_caches(module: ModuleType) -> None:
    for part in vars(module).values():
        if hasattr(part, "cache_clear"):
            part.cache_clear()


def test_cluster_rules_are_simulated_not_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows must fail if the engine has another threshold and another majority rule."""
    monkeypatch.setattr(quorum, "THRESHOLDS_SINCE_2016", (8, 20))
    monkeypatch.setattr(
        quorum, "has_majority", lambda config, members, with_witness: len(members) * 2 >= len(config.weights)
    )
    _clear_caches(cluster_rules)
    failed = {row.id for row in cluster_rules.build_rows() if row.verdict == "fail"}
    _clear_caches(cluster_rules)
    assert {"CLU.heartbeat.2016.same", "CLU.heartbeat.2022.same", "CLU.half", "CLU.4.both"} <= failed
    assert "CLU.heartbeat.2012R2.same" not in failed
