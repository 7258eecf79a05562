"""Database-level settings: database scoped configurations and Query Store.

Nobody can change them: all are defaults.

Documented [DOC: ALTER DATABASE SCOPED CONFIGURATION; ALTER DATABASE SET options]; the numbers are those in
public output.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from engine.tsql.batches.context import Context
from engine.tsql.catalog.view import Record, view

_CONFIGURATIONS: Final = """
1 MAXDOP 0 2016
2 LEGACY_CARDINALITY_ESTIMATION 0 2016
3 PARAMETER_SNIFFING 1 2016
4 QUERY_OPTIMIZER_HOTFIXES 0 2016
6 IDENTITY_CACHE 1 2017
7 INTERLEAVED_EXECUTION_TVF 1 2019
8 BATCH_MODE_MEMORY_GRANT_FEEDBACK 1 2019
9 BATCH_MODE_ADAPTIVE_JOINS 1 2019
10 TSQL_SCALAR_UDF_INLINING 1 2019
11 ELEVATE_ONLINE OFF 2019
12 ELEVATE_RESUMABLE OFF 2019
13 OPTIMIZE_FOR_AD_HOC_WORKLOADS 0 2019
14 XTP_PROCEDURE_EXECUTION_STATISTICS 0 2019
15 XTP_QUERY_EXECUTION_STATISTICS 0 2019
16 ROW_MODE_MEMORY_GRANT_FEEDBACK 1 2019
17 ISOLATE_SECURITY_POLICY_CARDINALITY 0 2019
18 BATCH_MODE_ON_ROWSTORE 1 2019
19 DEFERRED_COMPILATION_TV 1 2019
20 ACCELERATED_PLAN_FORCING 1 2019
21 GLOBAL_TEMPORARY_TABLE_AUTO_DROP 1 2019
22 LIGHTWEIGHT_QUERY_PROFILING 1 2019
23 VERBOSE_TRUNCATION_WARNINGS 1 2019
24 LAST_QUERY_PLAN_STATS 0 2019
"""
"""Number, name, default and first version. Those of 2022 are not here."""


def _configurations(context: Context) -> Iterable[Record]:
    for line in _CONFIGURATIONS.split("\n")[1:-1]:
        number, name, value, since = line.split()
        if int(since) <= context.version:
            yield {
                "configuration_id": int(number),
                "name": name,
                "value": int(value) if value.isdigit() else value,
                "value_for_secondary": None,
                "is_value_default": 1,
            }


view("sys.database_scoped_configurations", _configurations)


_OF_CUSTOM: Final = (
    "capture_policy_execution_count",
    "capture_policy_total_compile_cpu_time_ms",
    "capture_policy_total_execution_cpu_time_ms",
    "capture_policy_stale_threshold_hours",
)
"""Columns that are NULL unless the capture mode is CUSTOM."""


def _query_store(context: Context) -> Iterable[Record]:
    """Yield Off, as sys.databases says; master and tempdb cannot have a query store."""
    if context.session.database.lower() in ("master", "tempdb"):
        return
    modern = context.version >= 2019
    yield {
        "desired_state": 0,
        "desired_state_desc": "OFF",
        "actual_state": 0,
        "actual_state_desc": "OFF",
        "readonly_reason": 0,
        "current_storage_size_mb": 0,
        "flush_interval_seconds": 900,
        "interval_length_minutes": 60,
        "max_storage_size_mb": 1000 if modern else 100,
        "stale_query_threshold_days": 30,
        "max_plans_per_query": 200,
        "query_capture_mode": 2 if modern else 1,
        "query_capture_mode_desc": "AUTO" if modern else "ALL",
        **dict.fromkeys(_OF_CUSTOM),
        "size_based_cleanup_mode": 1,
        "size_based_cleanup_mode_desc": "AUTO",
        "wait_stats_capture_mode": 1,
        "wait_stats_capture_mode_desc": "ON",
        "actual_state_additional_info": "",
    }


view("sys.database_query_store_options", _query_store)
