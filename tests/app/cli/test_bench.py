"""Tests that the benchmark figures are complete and that each names its reference. Their values are not
tested.
"""

from __future__ import annotations

import json
import sys
from itertools import islice
from typing import Any

import pytest

from app.cli import bench


@pytest.fixture
def _little_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "DATABASE_COUNTS", (1, 10, 20, 30))
    monkeypatch.setattr(bench, "GROUP_AND_DATABASE_COUNTS", ((1, 1), (5, 2)))
    monkeypatch.setattr(bench, "PYTHON_DATABASE_COUNTS", (1,))
    monkeypatch.setattr(bench, "COPIED_DATABASE_COUNTS", (1,))
    monkeypatch.setattr(bench, "ROW_STEPS", 3000)
    monkeypatch.setattr(bench, "PYTHON_ROW_STEPS", 100)
    monkeypatch.setattr(bench, "SIMPY_DATABASE_SECONDS", 2.0)
    monkeypatch.setattr(bench, "REPLAY_SPAN_S", 10.0)


@pytest.mark.slow
@pytest.mark.usefixtures("_little_work")
def test_every_figure_is_a_ratio_to_a_named_reference() -> None:
    figures = list(bench.measure_figures())
    names = [figure.name for figure in figures]
    assert max(map(len, names)) <= bench.NAME_LENGTH_MAX
    assert len(set(names)) == len(names)
    for figure in figures:
        record: dict[str, Any] = figure.as_json()
        assert set(record) == {"name", "value", "unit", "against", "ratio"}
        assert record["against"]
        assert record["ratio"] > 0
        assert record["value"] > 0
        json.dumps(record, allow_nan=False)
    text = " ".join(names)
    for part in (
        "engine, 1 databases",
        "engine, 10 databases in 5 groups",
        "plain Python",
        "SimPy",
        "cost of a database",
        "fork",
        "hash",
        "snapshot",
        "first step of a process",
    ):
        assert part in text


@pytest.mark.usefixtures("_little_work")
def test_a_missing_simpy_package_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tests.simpy_models", None)
    of_simpy = (figure for figure in bench.measure_figures() if figure.name.startswith("SimPy"))
    figures = list(islice(of_simpy, len(bench.DATABASE_COUNTS)))
    assert len(figures) == len(bench.DATABASE_COUNTS)
    assert all(figure.value == bench.SIMPY_MISSING_TEXT and figure.ratio is None for figure in figures)


def test_the_simpy_model_is_found_and_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "SIMPY_DATABASE_SECONDS", 0.1)
    monkeypatch.setattr(bench, "SIMPY_WARM_UP_DATABASE_SECONDS", 0.1)
    assert bench._measure_simpy_rate(1) > 0
