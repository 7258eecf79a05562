"""Columns of system views: their documented number in each version, and their metadata."""

from __future__ import annotations

import pytest

from engine.constants import COMPATIBILITY_LEVELS, DATABASE_FILE_VERSIONS, VERSIONS
from engine.messages import fill_message
from engine.tsql.catalog.shapes import VIEW_SCHEMAS, list_view_columns
from tests.engine.tsql.console import submit_batch
from tests.engine.worlds import P, build_lab

COUNTS = {
    "sys.databases": (53, 56, 68, 73, 77, 78, 86, 89),
    "sys.dm_exec_requests": (50, 53, 53, 55, 58, 59, 61, 63),
    "sys.dm_os_sys_info": (18, 19, 27, 27, 34, 35, 37, 37),
    "sys.dm_os_memory_clerks": (14, 14, 13, 13, 13, 13, 13, 13),
    "sys.dm_hadr_database_replica_states": (0, 0, 33, 35, 36, 36, 38, 39),
    "sys.dm_os_sys_memory": (0, 10, 10, 10, 10, 10, 10, 10),
    "sys.stats": (6, 8, 9, 10, 10, 10, 13, 14),
    "sys.server_permissions": (10, 10, 10, 10, 10, 10, 10, 10),
    "sys.dm_db_index_physical_stats()": (20, 21, 21, 21, 21, 21, 21, 21),
}
"""View -> number of its columns by version; 0 if the version has no such view.

Sources: the documentation and, since 2016, public results of SELECT *.
"""


@pytest.mark.parametrize("name", COUNTS)
def test_a_version_has_the_documented_columns(name: str) -> None:
    shape = VIEW_SCHEMAS[name]
    counts = [len(list_view_columns(shape, v)) if shape.since <= v else 0 for v in VERSIONS]
    assert counts == list(COUNTS[name])


def test_no_shape_names_a_column_twice() -> None:
    for name, shape in VIEW_SCHEMAS.items():
        for version in VERSIONS:
            columns = [column.name.lower() for column in list_view_columns(shape, version)]
            assert len(columns) == len(set(columns)), name


def test_an_unsimulated_column_is_reported_once() -> None:
    world = build_lab()
    texts = submit_batch(world, P, "SELECT cpu_time FROM sys.dm_exec_sessions").texts
    text = "SELECT scheduler_id FROM sys.dm_exec_requests"
    notice = "Not simulated: column scheduler_id of sys.dm_exec_requests; NULL here"
    assert [line for line in submit_batch(world, P, f"{text} {text}").texts if "Not simulated" in line] == [
        notice
    ]
    assert not any("session_id" in line for line in texts)


def test_a_view_without_rows_is_reported() -> None:
    answer = submit_batch(build_lab(), P, "SELECT plan_handle FROM sys.dm_exec_query_stats")
    assert answer.texts[0] == "Not simulated: the rows of sys.dm_exec_query_stats; it is empty here"


def test_padding_of_a_counter_is_ignored_in_a_join() -> None:
    text = """SELECT COUNT(*) FROM sys.databases d JOIN sys.dm_os_performance_counters p ON p.instance_name = d.name
        WHERE p.counter_name = 'Percent Log Used'"""
    assert submit_batch(build_lab(), P, text).value == 5


@pytest.mark.parametrize("version", VERSIONS)
def test_each_version_reports_its_number(version: int) -> None:
    world = build_lab()
    world.update_instance(P, version=version)
    text = """SELECT @@VERSION, SERVERPROPERTY('ProductVersion'), DATABASEPROPERTYEX('Sales', 'Version'),
        compatibility_level FROM sys.databases WHERE name = 'Sales'"""
    ((name, number, internal, level),) = submit_batch(world, P, text).grids[0]
    assert f"SQL Server {version}" in name
    assert str(number) in name
    assert (DATABASE_FILE_VERSIONS[version], COMPATIBILITY_LEVELS[version]) == (internal, level)
    assert int(str(number).partition(".")[0]) == level // 10


def test_cumulative_updates_add_columns_of_later_versions() -> None:
    world = build_lab()
    update = "SELECT SERVERPROPERTY('ProductUpdateLevel'), SERVERPROPERTY('ProductLevel')"
    recovery = "SELECT target_recovery_time_in_seconds FROM sys.databases WHERE name = 'Sales'"
    host = "SELECT host_distribution FROM sys.dm_os_host_info"
    for version, level, seconds, windows in (
        (2014, [None, "SP3"], 0, None),
        (2019, ["CU27", "RTM"], 60, "2016"),
    ):
        world.update_instance(P, version=version)
        assert submit_batch(world, P, update).grids == [[level]]
        assert submit_batch(world, P, recovery).value == seconds
        answer = submit_batch(world, P, host)
        assert answer.numbers == ([208] if windows is None else [])
        assert windows is None or answer.value == f"Windows Server {windows}"


def test_messages_spell_always_on_in_two_words_since_2016() -> None:
    assert [fill_message(41074, "AG1", version=version)[1].partition(":")[0] for version in (2014, 2016)] == [
        "AlwaysOn",
        "Always On",
    ]
