"""CROSS APPLY, OUTER APPLY, PIVOT and table-valued functions, which SQLite lacks and scripts use."""

from __future__ import annotations

import pytest

from engine.model import World
from tests.engine.tsql.console import submit_batch
from tests.engine.worlds import P, build_lab

DATABASES_CLAUSE = "sys.databases d CROSS APPLY {} WHERE d.database_id > 4"


def query_rows(query: str) -> list[list[object]]:
    return submit_batch(build_2016_world(), P, query).grids[0]


def build_2016_world() -> World:
    world = build_lab(workload="none")
    world.update_instance(P, version=2014)
    return world


def test_the_text_of_a_running_statement_is_found_by_its_handle() -> None:
    query = "SELECT t.text FROM sys.dm_exec_requests r CROSS APPLY sys.dm_exec_sql_text(r.sql_handle) t"
    assert query_rows(query) == [[query]]


def test_outer_apply_keeps_rows_without_a_match() -> None:
    query = """SELECT d.name, f.name FROM sys.databases d {} APPLY (SELECT m.name FROM sys.master_files m
        WHERE m.database_id = d.database_id AND m.name = 'Sales_log') f WHERE d.database_id > 3 ORDER BY d.name"""
    assert query_rows(query.format("OUTER")) == [["msdb", None], ["Sales", "Sales_log"]]
    assert query_rows(query.format("CROSS")) == [["Sales", "Sales_log"]]


def test_top_1_returns_the_first_row_of_each() -> None:
    inner = "(SELECT TOP 1 m.name FROM sys.master_files m WHERE m.database_id = d.database_id ORDER BY file_id DESC) f"
    assert query_rows(f"SELECT f.name FROM {DATABASES_CLAUSE.format(inner)}") == [["Sales_log"]]
    empty_inner = inner.replace("ORDER BY", "AND 1 = 0 ORDER BY")
    assert query_rows(f"SELECT f.name FROM {DATABASES_CLAUSE.format(empty_inner)}") == []


def test_values_can_use_columns_of_the_outer_row() -> None:
    inner = "(VALUES (d.name, 1), ('x', 2)) v (k, n)"
    assert query_rows(f"SELECT v.k, v.n FROM {DATABASES_CLAUSE.format(inner)}") == [["Sales", 1], ["x", 2]]


def test_a_computed_column_can_use_another() -> None:
    inner = "(SELECT d.database_id * 2 AS a) x CROSS APPLY (SELECT x.a + 1 AS b) y"
    assert query_rows(f"SELECT x.a, y.b FROM {DATABASES_CLAUSE.format(inner)}") == [[10, 11]]


def test_sums_are_computed_for_each_row() -> None:
    inner = "(SELECT COUNT(*) AS n FROM sys.master_files m WHERE m.database_id = d.database_id) f"
    assert query_rows(f"SELECT f.n FROM {DATABASES_CLAUSE.format(inner)}") == [[2]]


def test_a_function_takes_its_arguments_or_null_for_all() -> None:
    query = "SELECT database_id, file_id FROM sys.dm_io_virtual_file_stats({}) s"
    everything = [[database, file] for database in range(1, 6) for file in (1, 2)]
    assert query_rows(query.format("NULL, NULL")) == everything
    assert query_rows(query.format("DB_ID('Sales'), 2")) == [[5, 2]]
    # with DB_ID NULL, the function returns all databases, as in SQL Server
    assert query_rows(query.format("DB_ID('nowhere'), 2")) == [row for row in everything if row[1] == 2]


def test_pivot_and_unpivot_work() -> None:
    pivot = """SELECT * FROM (SELECT database_id, state_desc, 1 AS n FROM sys.databases) s
        PIVOT (COUNT(n) FOR state_desc IN ([ONLINE], [OFFLINE])) p WHERE database_id = 5"""
    assert query_rows(pivot) == [[5, 1, 0]]
    assert query_rows("SELECT k, v FROM (SELECT 1 AS a, 2 AS b) s UNPIVOT (v FOR k IN (a, b)) u") == [
        ["a", 1],
        ["b", 2],
    ]


def test_unsimulated_forms_are_refused() -> None:
    answer = submit_batch(
        build_2016_world(),
        P,
        f"SELECT x.name FROM {DATABASES_CLAUSE.format('(SELECT * FROM sys.objects) x')}",
    )
    assert answer.texts[0].startswith("Not simulated: CROSS APPLY and OUTER APPLY")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ('/event/data[@name="state"]/value', ["2"]),
        ("//value", ["1", "2"]),
        ("(/event/data)[2]/value/text()/..", None),
        ('declare namespace p="urn:p"; /p:event/p:data[2]/*', ["2"]),
        ("/event/data[value > 1]/value", ["2"]),
    ],
)
def test_xml_is_read_with_simple_paths(path: str, expected: list[str] | None) -> None:
    text = f"""DECLARE @x xml
        SET @x = '<event><data name="a"><value>1</value></data><data name="state"><value>2</value></data></event>'
        SELECT n.c.value('.', 'varchar(9)') FROM @x.nodes('{path}') AS n(c)"""
    answer = submit_batch(build_2016_world(), P, text)
    assert answer.grids == ([] if expected is None else [[[value] for value in expected]])
    assert expected is not None or answer.texts == [f"Not simulated: the XQuery {path}"]


def test_views_of_unused_features_are_empty() -> None:
    assert query_rows("SELECT * FROM sys.dm_os_cluster_nodes") == []
    old = build_2016_world()
    old.update_instance(P, version=2008)
    assert submit_batch(old, P, "SELECT * FROM sys.dm_hadr_database_replica_states").numbers == [208]


def test_objects_of_a_mirrored_database_exist_after_its_failover() -> None:
    world = build_2016_world()
    submit_batch(world, P, "USE Sales CREATE TABLE Kept (n int) INSERT Kept SELECT 7", wait_s=2)
    submit_batch(world, P, "USE master ALTER DATABASE Sales SET PARTNER FAILOVER", wait_s=60)
    assert submit_batch(world, "SERVER_B", "SELECT n FROM Sales.dbo.Kept").value == 7
