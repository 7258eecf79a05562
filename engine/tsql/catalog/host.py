"""The computer under the instance, as its dynamic views show it: Windows, memory, services, files of a database."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from engine.protocol import jobs
from engine.tsql.catalog.view import Record, view
from engine.tsql.context import Context

MEMORY_KB: Final = 64 * 2**20
"""Memory of every computer, as sys.dm_os_sys_info shows it. Assumed."""


def _windows(context: Context) -> Iterable[Record]:
    yield {
        "windows_release": "6.1",
        "windows_service_pack_level": "Service Pack 1",
        "windows_sku": 10,
        "os_language_version": 1033,
    }


view("sys.dm_os_windows_info", _windows)


def _memory(context: Context) -> Iterable[Record]:
    """Only what is a setting of the computer; what is free at a moment is not simulated and stays NULL."""
    yield {
        "total_physical_memory_kb": MEMORY_KB,
        "system_high_memory_signal_state": 1,
        "system_low_memory_signal_state": 0,
        "system_memory_state_desc": "Available physical memory is high",
    }


view("sys.dm_os_sys_memory", _memory)


def _services(context: Context) -> Iterable[Record]:
    agent = jobs.agent_runs(context.world, context.server.name)
    for name, running, path in (
        ("SQL Server (MSSQLSERVER)", True, "sqlservr.exe"),
        ("SQL Server Agent (MSSQLSERVER)", agent, "SQLAGENT.EXE"),
    ):
        yield {
            "servicename": name,
            "startup_type": 2,
            "startup_type_desc": "Automatic",
            "status": 4 if running else 1,
            "status_desc": "Running" if running else "Stopped",
            "process_id": 1200 + context.server.host if path.startswith("sqls") else None,
            "last_startup_time": context.now(context.server.started_tick) if running else None,
            "service_account": context.server.service_account,
            "filename": f"C:\\Program Files\\Microsoft SQL Server\\MSSQL\\Binn\\{path}",
            "is_clustered": "N",
            "cluster_nodename": None,
        }


view("sys.dm_server_services", _services)


def _filegroups(context: Context) -> Iterable[Record]:
    yield {
        "name": "PRIMARY",
        "data_space_id": 1,
        "type": "FG",
        "type_desc": "ROWS_FILEGROUP",
        "is_default": 1,
        "is_system": 0,
        "is_read_only": 0,
    }


view("sys.filegroups", _filegroups)
