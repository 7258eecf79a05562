"""Views about the computer of the instance: Windows, memory, services, file groups."""

from collections.abc import Iterable
from typing import Final

from engine.cluster import config
from engine.protocol import jobs
from engine.tsql.batches.context import StatementContext
from engine.tsql.catalog.activity import (
    COMPUTER_MEMORY_KB,
    PAGE_KB,
    WINDOWS_MEMORY_KB,
    compute_target_memory_kb,
    compute_total_memory_kb,
    compute_uptime_s,
    count_worker_threads,
    get_instance_core_s,
    measure_all_loads,
)
from engine.tsql.catalog.configurations import get_option_value
from engine.tsql.catalog.shapes import find_literal_columns
from engine.tsql.catalog.view import Record, register_view

_WINDOWS_BUILDS: Final = {
    "2008 R2": (6, 1, 7601), "2012": (6, 2, 9200), "2012 R2": (6, 3, 9600), "2016": (10, 0, 14393),
    "2019": (10, 0, 17763), "2022": (10, 0, 20348),
}  # fmt: skip
"""Name of Windows Server -> version and build. Known."""


def get_windows_version(context: StatementContext) -> tuple[str, tuple[int, int, int]]:
    """Return (name, (major version, minor version, build)) of Windows Server.

    The version is that of the cluster, because nodes with a newer Windows keep the functional level of
    the cluster. If SQL Server does not support this Windows version, return the oldest version that it
    supports.
    """
    oldest = "2016" if context.version >= 2019 else "2012" if context.version >= 2016 else "2008 R2"
    node = config.find_server_node(context.world, context.session.server)
    of_cluster = context.world.clusters[node.cluster].windows if node is not None else oldest
    year = max(oldest, of_cluster, key=list(_WINDOWS_BUILDS).index)
    return year, _WINDOWS_BUILDS[year]


def _list_windows_info(context: StatementContext) -> Iterable[Record]:
    year, (major, minor, _) = get_windows_version(context)
    yield {
        "windows_release": f"{major}.{minor}",
        "windows_service_pack_level": "Service Pack 1" if year == "2008 R2" else "",
        "windows_sku": 10,
        "os_language_version": 1033,
    }


register_view("sys.dm_os_windows_info", _list_windows_info)


def _list_host_info(context: StatementContext) -> Iterable[Record]:
    year, (major, minor, _) = get_windows_version(context)
    yield {
        **find_literal_columns("host._list_host_info"),
        "host_distribution": f"Windows Server {year}",
        "host_release": f"{major}.{minor}",
    }


register_view("sys.dm_os_host_info", _list_host_info)


def _compute_memory_kb(context: StatementContext) -> tuple[int, int]:
    """Return (target memory, total memory) of the instance in KB."""
    target_kb = compute_target_memory_kb(context, get_option_value(context, "max server memory (MB)"))
    return target_kb, compute_total_memory_kb(context, target_kb)


FREE_MEMORY_MIN_KB: Final = 1024 * 1024
"""Minimum memory that remains free if max server memory is unlimited. Assumed."""


def _list_memory(context: StatementContext) -> Iterable[Record]:
    """Yield the row of sys.dm_os_sys_memory.

    The free memory is the memory that neither Windows nor the instance uses. The page file is as large
    as the memory. Derived.
    """
    _, held_kb = _compute_memory_kb(context)
    free_kb = max(COMPUTER_MEMORY_KB - WINDOWS_MEMORY_KB - held_kb, FREE_MEMORY_MIN_KB)
    yield {
        "total_physical_memory_kb": COMPUTER_MEMORY_KB,
        "available_physical_memory_kb": free_kb,
        "total_page_file_kb": 2 * COMPUTER_MEMORY_KB,
        "available_page_file_kb": COMPUTER_MEMORY_KB + free_kb,
        "system_cache_kb": free_kb // 2,
        "kernel_paged_pool_kb": WINDOWS_MEMORY_KB // 16,
        "kernel_nonpaged_pool_kb": WINDOWS_MEMORY_KB // 32,
        **find_literal_columns("host._list_memory"),
    }


register_view("sys.dm_os_sys_memory", _list_memory)


def _list_process_memory(context: StatementContext) -> Iterable[Record]:
    _, held_kb = _compute_memory_kb(context)
    yield {
        "physical_memory_in_use_kb": held_kb,
        **find_literal_columns("host._list_process_memory"),
        "total_virtual_address_space_kb": 2**33,
        "virtual_address_space_reserved_kb": 2 * held_kb,
        "virtual_address_space_committed_kb": held_kb,
        "virtual_address_space_available_kb": 2**33 - 2 * held_kb,
        "available_commit_limit_kb": 2 * COMPUTER_MEMORY_KB - held_kb,
    }


register_view("sys.dm_os_process_memory", _list_process_memory)


CPU_TICKS_PER_MS: Final = 2_500_000
"""Counter ticks per millisecond of a processor with 2.5 GHz. Assumed."""


def _list_system_info(context: StatementContext) -> Iterable[Record]:
    target_kb, held_kb = _compute_memory_kb(context)
    server = context.server
    ticks_ms = 10 * context.world.tick + 10**9
    cpu_ms = int(1000.0 * get_instance_core_s(work for _, work in measure_all_loads(context)))
    yield {
        "cpu_ticks": ticks_ms * CPU_TICKS_PER_MS,
        "cpu_ticks_in_ms": CPU_TICKS_PER_MS,
        "cpu_count": context.computer.cores,
        "hyperthread_ratio": context.computer.cores,
        "physical_memory_in_bytes": COMPUTER_MEMORY_KB * 1024,
        "physical_memory_kb": COMPUTER_MEMORY_KB,
        "virtual_memory_in_bytes": 2**43,
        "virtual_memory_kb": 2**33,
        "bpool_committed": held_kb // PAGE_KB,
        "bpool_commit_target": target_kb // PAGE_KB,
        "bpool_visible": held_kb // PAGE_KB,
        "committed_kb": held_kb,
        "committed_target_kb": target_kb,
        "visible_target_kb": target_kb,
        "stack_size_in_bytes": 2 * 2**20,
        **find_literal_columns("host._list_system_info"),
        "max_workers_count": count_worker_threads(context),
        "scheduler_count": context.computer.cores,
        "scheduler_total_count": context.computer.cores + 12,
        "deadlock_monitor_serial_number": int(compute_uptime_s(context) // 5),
        "sqlserver_start_time_ms_ticks": 10 * server.started_tick + 10**9,
        "sqlserver_start_time": context.get_datetime_value(server.started_tick),
        "ms_ticks": ticks_ms,
        "process_kernel_time_ms": cpu_ms // 10,
        "process_user_time_ms": cpu_ms - cpu_ms // 10,
        "cores_per_socket": context.computer.cores,
    }


register_view("sys.dm_os_sys_info", _list_system_info)


def _list_services(context: StatementContext) -> Iterable[Record]:
    agent = jobs.is_agent_running(context.world, context.server.name)
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
            "last_startup_time": context.get_datetime_value(context.server.started_tick) if running else None,
            "service_account": context.server.service_account,
            "filename": f"C:\\Program Files\\Microsoft SQL Server\\MSSQL\\Binn\\{path}",
            "is_clustered": "Y" if context.server.clustered else "N",
            "cluster_nodename": context.server.computer if context.server.clustered else None,
        }


register_view("sys.dm_server_services", _list_services)


def _list_filegroups(context: StatementContext) -> Iterable[Record]:
    yield {
        **find_literal_columns("host._list_filegroups"),
    }


register_view("sys.filegroups", _list_filegroups)
