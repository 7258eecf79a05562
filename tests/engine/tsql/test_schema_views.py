"""Views used by schema tools and setup scripts, and lines of the error log."""

from __future__ import annotations

import pytest

from engine.drill.authoring.scenario import load_scenario
from engine.drill.running.world_builder import build_world
from tests.engine.availability.worlds import SCENARIOS
from tests.engine.tsql.console import submit_batch
from tests.engine.worlds import P, build_lab

TABLES = """CREATE TABLE p (id int CONSTRAINT pk PRIMARY KEY, code varchar(9) CONSTRAINT uq UNIQUE)
CREATE TABLE c (id int CONSTRAINT fk REFERENCES p (id), n int, CONSTRAINT ck CHECK (n > 0))"""


def test_each_constraint_has_its_columns() -> None:
    world = build_lab(workload="none")
    submit_batch(world, P, TABLES)
    text = """SELECT CONSTRAINT_NAME, TABLE_NAME, COLUMN_NAME FROM INFORMATION_SCHEMA.CONSTRAINT_COLUMN_USAGE
        ORDER BY CONSTRAINT_NAME"""
    answer = submit_batch(world, P, text)
    assert answer.grids[0] == [["ck", "c", "n"], ["fk", "c", "id"], ["pk", "p", "id"], ["uq", "p", "code"]]
    assert not any("Not simulated" in line for line in answer.texts)


def test_dates_and_numbers_have_their_precision() -> None:
    world = build_lab(workload="none")
    world.update_instance(P, version=2014)
    submit_batch(
        world,
        P,
        "CREATE TABLE d (a datetime2, b datetime2(3), c datetime, d time, e date, f smalldatetime, g int, h float)",
    )
    text = """SELECT DATETIME_PRECISION, NUMERIC_PRECISION_RADIX FROM INFORMATION_SCHEMA.COLUMNS
        WHERE TABLE_NAME = 'd' ORDER BY ORDINAL_POSITION"""
    assert submit_batch(world, P, text).grids[0] == [
        [7, None], [3, None], [3, None], [7, None], [0, None], [0, None], [None, 10], [None, 2],
    ]  # fmt: skip
    digits = "SELECT precision, scale FROM sys.columns WHERE object_id = OBJECT_ID('d') ORDER BY column_id"
    assert submit_batch(world, P, digits).grids[0] == [
        [27, 7],
        [23, 3],
        [23, 3],
        [16, 7],
        [10, 0],
        [16, 0],
        [10, 0],
        [53, 0],
    ]


@pytest.mark.parametrize("view", ["sys.tables", "sys.objects", ".sysobjects", "INFORMATION_SCHEMA.TABLES"])
def test_tables_of_msdb_are_objects(view: str) -> None:
    column = "TABLE_NAME" if "TABLES" in view else "name"
    text = f"SELECT COUNT(*) FROM msdb.{view} WHERE {column} IN ('sysjobs', 'backupset', 'suspect_pages')"
    assert submit_batch(build_lab(), P, text).value == 3


def test_system_objects_are_distinguished_from_user_objects() -> None:
    world = build_lab(workload="none")
    submit_batch(world, P, "USE msdb; CREATE TABLE mine (a int)")
    table_query = "SELECT name FROM msdb.sys.tables WHERE is_ms_shipped = 0"
    assert submit_batch(world, P, table_query, wait_s=2).grids == [[["mine"]]]
    id_query = "SELECT COUNT(*) FROM msdb.sys.tables WHERE object_id <> OBJECT_ID('msdb.dbo.' + name)"
    assert submit_batch(world, P, id_query, wait_s=5).value == 0
    column = """SELECT COUNT(*) FROM msdb.sys.columns WHERE object_id = OBJECT_ID('msdb.dbo.backupset')
        AND name = 'is_copy_only'"""
    assert submit_batch(world, P, column, wait_s=5).value == 1
    view = "SELECT type FROM msdb.sys.objects WHERE name = 'sysjobs_view'"
    assert submit_batch(world, P, view, wait_s=5).value.strip() == "V"


def test_a_consistency_check_is_logged() -> None:
    world = build_lab(workload="none")
    submit_batch(world, P, "DBCC CHECKDB ('Sales')", wait_s=3600)
    answer = submit_batch(world, P, "DBCC CHECKDB ('master') WITH NO_INFOMSGS; DBCC CHECKDB ('msdb')")
    assert "CHECKDB found 0 allocation errors and 0 consistency errors in database 'msdb'." in answer.texts
    (rows,) = submit_batch(world, P, "EXEC sp_readerrorlog 0, 1, 'DBCC CHECKDB'").grids
    texts = [row[2].strip() for row in rows]
    assert [text.partition(" Elapsed")[0] for text in texts] == [
        r"DBCC CHECKDB (Sales) executed by CORP\dba found 0 errors and repaired 0 errors.",
        r"DBCC CHECKDB (master) WITH no_infomsgs executed by CORP\dba found 0 errors and repaired 0 errors.",
        r"DBCC CHECKDB (msdb) executed by CORP\dba found 0 errors and repaired 0 errors.",
    ]
    assert texts[0].endswith("Elapsed time: 0 hours 6 minutes 49 seconds.")


def test_the_errorlog_of_a_cluster_instance_names_its_node() -> None:
    text = (SCENARIOS / "fci-lab.toml").read_text(encoding="utf-8")
    world = build_world(load_scenario(text, "fci-lab"), 1)
    line = "The NETBIOS name of the local node that is running the server is 'NODE_1'."
    grid = submit_batch(world, "SQLFCI1", "EXEC sp_readerrorlog 0, 1, 'NETBIOS'").grids[0]
    assert [row[2].partition(" This is")[0] for row in grid] == [line]


def test_the_agent_log_is_reported_as_not_simulated() -> None:
    assert any(
        "Not simulated" in line for line in submit_batch(build_lab(), P, "EXEC sp_readerrorlog 0, 2").texts
    )
