"""Differences of SQLite and SQL Server from engine/tsql/query/differences.tsv; the product answers as SQL
Server.

A row: a statement valid in both, the answer of SQLite (`error` for any), the documented answer of SQL Server
(`Msg n` for an error), the responsible module of engine/tsql, and the page of the documentation.
"""

from __future__ import annotations

import csv
import sqlite3
from contextlib import closing
from importlib import resources
from importlib.util import find_spec

import pytest

from tests.engine.tsql.console import submit_batch
from tests.engine.tsql.test_answers import format_answer
from tests.engine.worlds import P, build_lab
from tests.recordings import format_row

TEXT = resources.files("engine.tsql.query").joinpath("differences.tsv").read_text(encoding="utf-8")
ROWS = list(csv.DictReader(TEXT.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))


VERSIONS_DIFFER = "-"
"""Mark of rows whose SQLite answer differs between SQLite versions."""


def run_in_sqlite(statement: str) -> str:
    try:
        with closing(sqlite3.connect(":memory:")) as database:
            rows = database.execute(statement).fetchall()
    except sqlite3.Error:
        return "error"
    return " / ".join(format_row(row) for row in rows)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row["statement"]))
def test_sqlite_and_sql_server_differ_as_listed(row: dict[str, str]) -> None:
    world = build_lab(workload="none")
    world.update_instance(P, version=2014)
    assert row["sqlite"] in (run_in_sqlite(row["statement"]), VERSIONS_DIFFER)
    assert (
        format_answer(submit_batch(world, P, row["statement"], wait_s=1), row["sql_server"])
        == row["sql_server"]
    )
    assert find_spec(f"engine.tsql.{row['done_by']}") is not None
