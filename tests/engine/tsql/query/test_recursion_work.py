"""Cost of a recursive query: it depends on the actual depth of the recursion."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest

from engine.drill.authoring.scenario import load_scenario
from engine.drill.running.drill import Drill

SCENARIOS = Path(__file__).parents[4] / "scenarios"

BLOCKING_TREE_QUERIES = (
    """WITH b AS (SELECT spid, blocked, 0 AS lvl FROM sys.sysprocesses WHERE blocked = 0 AND spid IN
        (SELECT blocked FROM sys.sysprocesses WHERE blocked <> 0)
    UNION ALL SELECT p.spid, p.blocked, b.lvl + 1 FROM sys.sysprocesses p JOIN b ON p.blocked = b.spid)
    SELECT * FROM b""",
    """WITH b (spid, blocked, lvl) AS (SELECT spid, blocked, CAST(spid AS varchar(1000)) FROM sys.sysprocesses r
        WHERE (blocked = 0 OR blocked = spid) AND EXISTS
        (SELECT * FROM sys.sysprocesses r2 WHERE r2.blocked = r.spid AND r2.blocked <> r2.spid)
    UNION ALL SELECT r.spid, r.blocked, CAST(b.lvl + CAST(r.spid AS varchar(100)) AS varchar(1000))
        FROM sys.sysprocesses r INNER JOIN b ON r.blocked = b.spid WHERE r.blocked > 0 AND r.blocked <> r.spid)
    SELECT spid, lvl FROM b ORDER BY lvl""",
    """WITH b AS (SELECT spid, 0 AS lvl FROM sys.sysprocesses WHERE blocked = 0
    UNION ALL SELECT p.spid, b.lvl + 1 FROM sys.sysprocesses p JOIN b ON p.blocked = b.spid)
    SELECT * FROM b WHERE lvl > 0""",
)


@cache
def _build_lab() -> Drill:
    drill = Drill(load_scenario((SCENARIOS / "lab.toml").read_text(encoding="utf-8"), "lab"), 1)
    drill.advance_to(3_000)
    return drill


def _run_query(query: str) -> dict[str, Any]:
    drill = _build_lab().fork()
    drill.apply_line(f"sql SERVER_A {query}")
    drill.advance_to(drill.world.tick + 300)
    record: dict[str, Any] = dict(drill.build_report()["sql"][-1])
    return record


@pytest.mark.parametrize("query", BLOCKING_TREE_QUERIES)
def test_a_blocking_tree_of_a_thousand_unblocked_clients_is_empty(query: str) -> None:
    assert [message["text"] for message in _run_query(query)["messages"]] == ["(0 rows affected)"]


@pytest.mark.parametrize("select_list", ["*", "COUNT(*)", "MAX(i)"])
def test_an_endless_recursion_is_charged_row_by_row(select_list: str) -> None:
    """The work limit of a single SQLite call is much higher, and its work is not charged to the turn."""
    members = "SELECT 1 AS i UNION ALL SELECT i + 1 FROM n"
    query = f"WITH n AS ({members}) SELECT {select_list} FROM n OPTION (MAXRECURSION 0)"
    run = _run_query(query)
    assert [message["number"] for message in run["messages"]] == [8624]
    assert run["elapsed_ticks"] > 50


def test_a_recursive_part_is_charged_for_each_row() -> None:
    few_ms, many_ms = (
        _run_query(f"WITH n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < {rows}) SELECT MAX(i) FROM n "
             "OPTION (MAXRECURSION 0)")["elapsed_ticks"]
        for rows in (10, 10_000)
    )  # fmt: skip
    assert few_ms == 0 < many_ms


def test_an_estimate_alone_refuses_no_query() -> None:
    pairs = _run_query("SELECT COUNT(*) FROM sys.sysprocesses a CROSS JOIN sys.sysprocesses b")
    assert pairs["messages"][0]["text"] == "(1 row affected)"
    triples = (
        "SELECT COUNT(*) FROM sys.sysprocesses a CROSS JOIN sys.sysprocesses b CROSS JOIN sys.sysprocesses c"
    )
    assert [message["number"] for message in _run_query(triples)["messages"]] == [8624]
