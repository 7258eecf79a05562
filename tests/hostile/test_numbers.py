"""Tests of extreme numbers in every position of a batch: each gets an answer, and no value is infinite."""

from __future__ import annotations

import math
from typing import Final

import pytest

from engine import simulator, tsql
from tests.engine.worlds import build_lab
from tests.events import read_field

EXTREME_VALUES: Final = (
    "1e308*10",
    "-1e308*10",
    "1e308*1e308-1e308*1e308",
    "CAST('1e400' AS float)",
    "CAST('inf' AS float)",
    "CAST('nan' AS decimal(38,2))",
    "CAST(1e28 AS decimal(38,10))",
    "CAST(1e29 AS decimal(38,38))",
    "CAST(1 AS decimal(38,300))",
    f"CAST(1 AS varchar({'9' * 5_000}))",
    f"CAST('{'9' * 5_000}' AS float)",
    "CAST('-' AS int)",
    "CAST('1e' AS float)",
    "CAST(N'\u0661' AS int)",
    "LOG(1e308*1e308)",
    "SQRT(1e308*10)",
    "DEGREES(1e308)",
    "SQUARE(1e308)",
    "POWER(1e308,1e308)",
    "MAX(1e308*10)",
    "STR(1e308,1e308,1e308)",
    "ROUND(1e308,1e308)",
    "TYPE_NAME(1e308)",
    "SPACE(1e308)",
    "DATEADD(day,1e308,0)",
    "CHAR(-1e308)",
)
BATCH_TEMPLATES: Final = (
    "SELECT {0}",
    "DECLARE @a sql_variant SET @a={0} SELECT @a PRINT @a",
    "DECLARE @a decimal(38,10) SET @a={0} SELECT @a",
    "IF {0} > 0 PRINT 1",
    "SELECT {0} a INTO #t SELECT a, a+a, a*1e300*a FROM #t ORDER BY a",
    "RAISERROR('%s %d',10,1,{0},{0})",
    "EXEC sp_configure 'x', {0}",
)


@pytest.mark.parametrize("value", EXTREME_VALUES, ids=[value[:30] for value in EXTREME_VALUES])
def test_infinite_numbers_are_refused(value: str) -> None:
    for place in BATCH_TEMPLATES:
        world = build_lab(workload="none")
        tsql.submit_text(world, "SERVER_A", place.format(value))
        (done_event,) = [event for event in simulator.advance_world(world, 100) if event.kind == "sql_done"]
        assert read_field(done_event, "messages"), place
        cells = [cell for grid in read_field(done_event, "results") for row in grid["rows"] for cell in row]
        assert all(math.isfinite(cell) for cell in cells if isinstance(cell, float)), (place, cells)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("CAST(1e27 AS decimal(38,10))", f"1{'0' * 27}.{'0' * 10}"),
        ("CAST('-' AS int)", 0),
        ("CAST('1e5' AS float)", 100_000.0),
        ("CAST('.5' AS float)", 0.5),
    ],
)
def test_valid_numbers_are_accepted(value: str, expected: object) -> None:
    world = build_lab(workload="none")
    tsql.submit_text(world, "SERVER_A", f"SELECT {value}")
    (done_event,) = [event for event in simulator.advance_world(world, 100) if event.kind == "sql_done"]
    assert read_field(done_event, "results")[0]["rows"] == [[expected]]
