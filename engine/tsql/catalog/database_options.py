"""Database-level settings: database scoped configurations and Query Store.

Nobody can change them: all are defaults.

Documented [DOC: ALTER DATABASE SCOPED CONFIGURATION; ALTER DATABASE SET options]; the numbers are those in
public output.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import resources
from typing import Final

from engine.tsql.batches.context import Context
from engine.tsql.catalog.view import Record, view

_CONFIGURATIONS: Final = (
    resources.files("engine.tsql.catalog").joinpath("scoped.txt").read_text(encoding="utf-8")
)
"""Number, name, default and first version, without those of 2022."""


def _configurations(context: Context) -> Iterable[Record]:
    for line in _CONFIGURATIONS.splitlines():
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
