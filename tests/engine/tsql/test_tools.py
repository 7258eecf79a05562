"""Catalog queries of tools and well-known scripts, shortened. None is refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.files import scenario_files
from engine.drill.running.drill import Drill
from engine.model import World
from tests.engine.tsql.console import Answer, submit_batch
from tests.engine.worlds import P, build_lab
from tests.events import read_field

FOLDER = Path(__file__).parent


def read_cases(file: str) -> Iterator[object]:
    """Yield the T-SQL batches of a file, each with the comment that names it."""
    for part in (FOLDER / file).read_text(encoding="utf-8").split("-- ")[1:]:
        name, _, text = part.partition("\n")
        yield pytest.param(text, id=name)


def assert_rows_without_errors(answer: Answer) -> None:
    assert answer.grids
    assert not [
        message["text"] for message in read_field(answer.event, "messages") if message["severity"] > 10
    ]


@pytest.mark.parametrize("text", list(read_cases("tools.sql")))
def test_tool_queries_work_on_a_principal_with_a_thousand_sessions(text: str) -> None:
    world = build_lab()
    world.update_instance(P, version=2014)
    assert_rows_without_errors(submit_batch(world, P, text, wait_s=8))


def test_a_mapper_can_send_the_maximum_number_of_parameters() -> None:
    names = [f"@P{number}" for number in range(2_100)]
    declared = ", ".join(f"{name} int" for name in names)
    value_texts = ", ".join(f"{name} = {number}" for number, name in enumerate(names))
    text = f"EXEC sp_executesql N'SELECT 7 WHERE 2099 IN ({', '.join(names)})', N'{declared}', {value_texts}"
    assert submit_batch(build_lab(workload="none"), P, text, wait_s=8).grids == [[[7]]]


@pytest.fixture(scope="module")
def cluster() -> World:
    world = Drill(scenario_files.find_scenario_file("ag-lab").load(), 1).world
    for node in world.instances:
        world.update_instance(node, version=2016)
    return world


@pytest.mark.parametrize("text", list(read_cases("tools_groups.sql")))
def test_tool_queries_work_on_a_primary(cluster: World, text: str) -> None:
    assert_rows_without_errors(submit_batch(cluster, "NODE_1", text, wait_s=2))


def test_listening_ports_include_the_listener_on_its_node(cluster: World) -> None:
    text = "SELECT ip_address, port, type_desc FROM sys.dm_tcp_listener_states ORDER BY listener_id"
    listener_rows = [["0.0.0.0", 1433, "TSQL"], ["0.0.0.0", 5022, "DATABASE_MIRRORING"]]
    grid = submit_batch(cluster, "NODE_1", text).grids[0]
    assert (grid[:2], [row[1:] for row in grid[2:]]) == (listener_rows, [[1433, "TSQL"]])
    assert submit_batch(cluster, "NODE_2", text).grids == [listener_rows]


def test_a_list_of_a_thousand_rows_works_and_an_equal_union_is_too_complex() -> None:
    """Monitoring scripts list wait types in VALUES. A union of the same length exceeds the recursion limit of
    Python.
    """
    world = build_lab(workload="none")
    world.update_instance(P, version=2008)
    rows = ", ".join(f"('W{number}', 'x')" for number in range(1_000))
    assert submit_batch(
        world, P, f"SELECT COUNT(*) FROM (VALUES {rows}) v (a, b) WHERE a = 'w7'", wait_s=3
    ).grids == [[[1]]]
    batch = "CREATE TABLE #w (a varchar(9), b bit DEFAULT 1) INSERT INTO #w (a, b) VALUES {} SELECT COUNT(*) FROM #w"
    rows = ", ".join(f"('W{number}', {number % 2})" for number in range(1_000))
    assert submit_batch(world, P, batch.format(rows), wait_s=3).grids == [[[1_000]]]
    assert submit_batch(
        world, P, batch.format(rows + ", ('x', 0)").replace("#w", "#v"), wait_s=3
    ).numbers == [10738]
    union = " UNION ALL ".join(["SELECT 1"] * 1_000)
    assert submit_batch(world, P, f"SELECT * FROM ({union}) u (a)", wait_s=3).numbers == [8623]


def test_a_tally_table_grows_with_the_length_of_a_text() -> None:
    """A cross join of a thousand by a thousand rows would exceed the work limit of a statement."""
    text = """DECLARE @list varchar(99) SET @list = '[a][b]'; WITH a AS (SELECT number FROM (VALUES {ones}) v (number)),
        numbers AS (SELECT TOP (LEN(@list)) ROW_NUMBER() OVER (ORDER BY (SELECT NULL)) AS n FROM a CROSS JOIN a AS b
            ORDER BY n)
        SELECT SUBSTRING(@list, n + 1, 1) FROM numbers WHERE SUBSTRING(@list, n, 1) = '['"""
    ones = ", ".join(["(1)"] * 1_000)
    world = build_lab(workload="none")
    world.update_instance(P, version=2014)
    assert submit_batch(world, P, text.format(ones=ones), wait_s=3).grids == [[["a"], ["b"]]]


def test_a_procedure_can_contain_a_hundred_thousand_characters() -> None:
    world = build_lab(workload="none")
    text = "x" * 110_000
    submit_batch(
        world,
        P,
        f"CREATE PROCEDURE p AS DECLARE @sql varchar(max) SET @sql = '{text}' SELECT LEN(@sql)",
        wait_s=3,
    )
    assert submit_batch(world, P, "EXEC p", wait_s=3).grids == [[[110_000]]]


def test_virtual_log_files_match_dbcc_and_database_options_are_defaults() -> None:
    world = build_lab(workload="none")
    world.update_instance(P, version=2019)
    counted = """SELECT d.name, l.files FROM sys.databases AS d
        CROSS APPLY (SELECT COUNT(*) AS files FROM sys.dm_db_log_info(d.database_id) GROUP BY file_id) AS l"""
    listed = submit_batch(world, P, "USE Sales DBCC LOGINFO").grids[0]
    assert submit_batch(world, P, counted).grids == [[["Sales", len(listed)]]]
    options = "SELECT actual_state_desc, max_storage_size_mb, query_capture_mode FROM sys.database_query_store_options"
    assert submit_batch(world, P, options).grids == [[["OFF", 1000, 2]]]
    query = (
        "SELECT value FROM sys.database_scoped_configurations WHERE name LIKE 'ELEVATE_%' OR name = 'MAXDOP'"
    )
    assert submit_batch(world, P, query).grids == [[[0], ["OFF"], ["OFF"]]]
    index = """CREATE TABLE t (a int CONSTRAINT pk PRIMARY KEY)
        SELECT INDEXPROPERTY(OBJECT_ID('t'), 'pk', 'IsClustered'), STATS_DATE(OBJECT_ID('t'), 1)"""
    assert submit_batch(world, P, index, wait_s=2).grids == [[[1, None]]]


def test_nested_replace_calls_work_at_script_depth() -> None:
    """A backup script removes fifty tokens from a name in this way."""
    nested_call = "N'ab'"
    for number in range(60):
        nested_call = f"REPLACE({nested_call}, '{chr(97 + number % 26)}', N'{chr(98 + number % 26)}')"
    assert submit_batch(build_lab(workload="none"), P, f"SELECT {nested_call}", wait_s=3).grids == [[["{{"]]]


def test_a_constant_is_propagated_through_a_join() -> None:
    """A tool that opens a table joins all columns with all objects and selects one object."""
    world = build_lab(workload="none")
    world.update_instance(P, version=2014)
    text = """USE Sales CREATE TABLE t (a int NOT NULL, b varchar(5))
        SELECT c.name, o.name FROM sys.all_columns c JOIN sys.all_objects o ON o.object_id = c.object_id
            LEFT JOIN sys.default_constraints d ON d.parent_object_id = o.object_id
            LEFT JOIN sys.computed_columns p ON p.object_id = o.object_id
        WHERE o.object_id = OBJECT_ID('dbo.t') ORDER BY c.column_id"""
    assert submit_batch(world, P, text, wait_s=3).grids == [[["a", "t"], ["b", "t"]]]
