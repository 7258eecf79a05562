"""sys.databases and related views: databases, their files, logs and settings."""

from collections.abc import Iterable
from importlib import resources
from typing import Final, NamedTuple

from engine.constants import COMPATIBILITY_LEVELS, DATABASE_FILE_VERSIONS
from engine.identifiers import make_group_database_id, make_replica_id, make_unique_id
from engine.messages import SqlError
from engine.model import DatabaseCopy, DbState, FileOptions, RecoveryModel, Snapshot, World
from engine.protocol import group_policies, log_space, options, streams, volumes
from engine.protocol.lineage import format_lsn
from engine.tsql.batches import access
from engine.tsql.batches.context import SYSTEM_DATABASES, StatementContext
from engine.tsql.catalog.security import get_owner_sid
from engine.tsql.catalog.shapes import find_literal_columns
from engine.tsql.catalog.view import (
    UNSIMULATED_COLUMNS_KEY,
    ColumnFunctions,
    ComputedRecord,
    Record,
    register_view,
)
from engine.tsql.scalars.values import STORED_DATE_MARK, Scalar

COLLATION: Final = "SQL_Latin1_General_CP1_CI_AS"
"""Collation of every database."""
DURABILITY_DESCRIPTIONS: Final = ("DISABLED", "ALLOWED", "FORCED")
"""Descriptions of delayed_durability by number."""
LOG_REUSE_WAITS: Final = {
    "NOTHING": 0,
    "CHECKPOINT": 1,
    "LOG_BACKUP": 2,
    "ACTIVE_BACKUP_OR_RESTORE": 3,
    "ACTIVE_TRANSACTION": 4,
    "DATABASE_MIRRORING": 5,
    "AVAILABILITY_REPLICA": 9,
}
"""log_reuse_wait_desc -> log_reuse_wait. Documented [DOC: sys.databases]."""


def find_log_reuse_wait(context: StatementContext, copy: DatabaseCopy) -> str:
    """Return the reason that prevents log reuse in this copy.

    Return NOTHING for a copy that does not write its own log.
    """
    return log_space.find_reuse_wait(context.world, copy.source)


def get_displayed_state(copy: DatabaseCopy) -> DbState:
    """Return the state of a copy in sys.databases.

    A copy whose recovery or role is not settled is RECOVERING. A copy without its disk is SUSPECT. A copy in
    standby is ONLINE.
    """
    if copy.disk_failed and copy.db_state is DbState.ONLINE:
        return DbState.SUSPECT
    if copy.recovering and copy.db_state is DbState.ONLINE:
        return DbState.RECOVERING
    if copy.standby and copy.db_state is DbState.RESTORING and not copy.restoring:
        return DbState.ONLINE
    return copy.db_state


def _get_target_recovery_s(level: int) -> int:
    """Return the target recovery time: 60 s for a database created by SQL Server 2016 or later, else 0.

    The compatibility level *level* indicates the version. Documented [DOC: sys.databases].
    """
    return 60 if level >= COMPATIBILITY_LEVELS[2016] else 0


def _find_create_date(context: StatementContext, name: str) -> str:
    """Return the creation date of a database.

    tempdb is created at every start of the service. The dates of master and model are those of public
    listings.
    """
    if name == "tempdb":
        return context.get_datetime_value(context.server.started_tick)
    if name in ("master", "model"):
        return STORED_DATE_MARK + "2003-04-08 09:13:36.390"
    return context.get_datetime_value(-86_400_00 * 200)


def _find_recovery_model(context: StatementContext, name: str) -> RecoveryModel:
    return options.get_model_recovery(context.server) if name == "model" else RecoveryModel.SIMPLE


_SNAPSHOT_ISOLATED_DATABASES: Final = frozenset({"master", "msdb"})
"""System databases with ALLOW_SNAPSHOT_ISOLATION ON [DOC: master database; msdb database]."""

_SYSTEM_COLUMNS: Final[ColumnFunctions[str]] = {
    "name": lambda context, name: name,
    "database_id": lambda context, name: SYSTEM_DATABASES[name],
    "create_date": _find_create_date,
    "compatibility_level": lambda context, name: COMPATIBILITY_LEVELS[context.version],
    "collation_name": lambda context, name: COLLATION,
    "recovery_model": lambda context, name: int(_find_recovery_model(context, name)),
    "recovery_model_desc": lambda context, name: _find_recovery_model(context, name).name,
    "is_trustworthy_on": lambda context, name: int(name == "msdb"),
    "is_broker_enabled": lambda context, name: int(name in ("msdb", "tempdb")),
    "service_broker_guid": lambda context, name: make_unique_id("broker", context.session.server, name),
    "snapshot_isolation_state": lambda context, name: int(name in _SNAPSHOT_ISOLATED_DATABASES),
    "snapshot_isolation_state_desc": lambda context, name: (
        "ON" if name in _SNAPSHOT_ISOLATED_DATABASES else "OFF"
    ),
    "target_recovery_time_in_seconds": lambda context, name: (
        _get_target_recovery_s(COMPATIBILITY_LEVELS[context.version]) * (name == "model")
    ),
    "is_mixed_page_allocation_on": lambda context, name: int(name in ("master", "msdb", "model")),
    "physical_database_name": lambda context, name: name,
    "is_db_chaining_on": lambda context, name: int(name in ("master", "msdb", "tempdb")),
}
"""Column of sys.databases -> function that computes it for a system database."""


def _find_user_access(context: StatementContext, copy: DatabaseCopy) -> str:
    return access.get_access_mode(context.world, copy.server, copy.database)


def _format_replica_id(context: StatementContext, copy: DatabaseCopy) -> str | None:
    guid = copy.availability.guid
    return None if guid is None else make_replica_id(guid, copy.server)


def _format_group_database_id(context: StatementContext, copy: DatabaseCopy) -> str | None:
    if copy.availability.guid is None:
        return None
    return make_group_database_id(copy.availability.database_guid)


_COPY_COLUMNS: Final[ColumnFunctions[DatabaseCopy]] = {
    "name": lambda context, copy: copy.database,
    "database_id": lambda context, copy: copy.database_id,
    "create_date": lambda context, copy: _find_create_date(context, copy.database),
    "collation_name": lambda context, copy: (
        COLLATION if get_displayed_state(copy) is DbState.ONLINE else None
    ),
    "owner_sid": get_owner_sid,
    "user_access": lambda context, copy: access.ACCESS_MODE_NAMES.index(_find_user_access(context, copy)),
    "user_access_desc": _find_user_access,
    "compatibility_level": lambda context, copy: options.get_compatibility_level(context.world, copy),
    "replica_id": _format_replica_id,
    "group_database_id": _format_group_database_id,
    "target_recovery_time_in_seconds": lambda context, copy: _get_target_recovery_s(
        options.get_compatibility_level(context.world, copy)
    ),
    "is_trustworthy_on": lambda context, copy: int(copy.trustworthy),
    "is_encrypted": lambda context, copy: int(copy.encrypted),
    "is_query_store_on": lambda context, copy: int(has_query_store(context, copy)),
    "is_in_standby": lambda context, copy: int(copy.standby),
    "is_read_only": lambda context, copy: int(copy.standby or copy.read_only),
    "state": lambda context, copy: int(get_displayed_state(copy)),
    "state_desc": lambda context, copy: get_displayed_state(copy).name,
    "recovery_model": lambda context, copy: int(copy.recovery_model),
    "recovery_model_desc": lambda context, copy: copy.recovery_model.name,
    "service_broker_guid": lambda context, copy: make_unique_id("family", copy.family),
    "log_reuse_wait": lambda context, copy: LOG_REUSE_WAITS[find_log_reuse_wait(context, copy)],
    "log_reuse_wait_desc": find_log_reuse_wait,
    "delayed_durability": lambda context, copy: copy.delayed_durability,
    "delayed_durability_desc": lambda context, copy: DURABILITY_DESCRIPTIONS[copy.delayed_durability],
    "physical_database_name": lambda context, copy: copy.database,
}
"""Column of sys.databases -> function that computes it for a database copy."""

_SNAPSHOT_COLUMNS: Final[ColumnFunctions[Snapshot]] = {
    "name": lambda context, snapshot: snapshot.name,
    "database_id": lambda context, snapshot: snapshot.database_id,
    "source_database_id": lambda context, snapshot: snapshot.source_id,
    "create_date": lambda context, snapshot: context.get_datetime_value(snapshot.tick),
    "compatibility_level": lambda context, snapshot: COMPATIBILITY_LEVELS[context.version],
    "collation_name": lambda context, snapshot: COLLATION,
    "service_broker_guid": lambda context, snapshot: make_unique_id(
        "broker", context.session.server, snapshot.name
    ),
    "physical_database_name": lambda context, snapshot: snapshot.name,
}
"""Column of sys.databases -> function that computes it for a database snapshot."""


def list_all_databases(context: StatementContext) -> Iterable[Record]:
    """Yield the rows of sys.databases: system databases, the server's copies, and its database snapshots."""
    defaults = find_literal_columns("databases._database")
    for name in SYSTEM_DATABASES:
        yield ComputedRecord(context, name, _SYSTEM_COLUMNS, defaults)
    for copy in context.list_copies():
        yield ComputedRecord(
            context, copy, _COPY_COLUMNS, {**defaults, **find_literal_columns("databases._copy")}
        )
    for snapshot in context.server.snapshots:
        yield ComputedRecord(
            context, snapshot, _SNAPSHOT_COLUMNS, {**defaults, **find_literal_columns("databases._snapshot")}
        )


register_view("sys.databases", list_all_databases)


# --- views of SQL Server 2000 ------------------------------------------------------------------------------

_SYSDATABASES_STATUS: Final = {
    DbState.RESTORING: 32,
    DbState.RECOVERING: 128,
    DbState.RECOVERY_PENDING: 128,
    DbState.SUSPECT: 256,
    DbState.EMERGENCY: 32768,
    DbState.OFFLINE: 512,
}
"""Bits of `status` in sysdatabases."""


def _list_sysdatabases(context: StatementContext) -> Iterable[Record]:
    for row in list_all_databases(context):
        state = DbState(int(str(row["state"])))
        yield {
            "name": row["name"],
            "dbid": row["database_id"],
            "sid": row["owner_sid"],
            **find_literal_columns("databases._list_sysdatabases"),
            "status": 65536 + _SYSDATABASES_STATUS.get(state, 0) + (8 if row["recovery_model"] == 3 else 0),
            "crdate": row["create_date"],
            "reserved": context.get_datetime_value(-36_525 * 86_400_00),
            "cmptlevel": row["compatibility_level"],
            "filename": "D:\\Data\\" + str(row["name"]) + ".mdf",
            "version": DATABASE_FILE_VERSIONS[context.version],
        }


register_view("sys.sysdatabases", _list_sysdatabases)


# --- files -----------------------------------------------------------------------------------------------


def _build_file_row(
    name: str, path: str, file_id: int, is_log: bool, size_kb: float, max_kb: float
) -> Record:
    return {
        "file_id": file_id,
        "file_guid": make_unique_id("file", path),
        "type": int(is_log),
        "type_desc": "LOG" if is_log else "ROWS",
        "data_space_id": 0 if is_log else 1,
        "name": name,
        "physical_name": path,
        **find_literal_columns("databases._build_file_row"),
        "size": int(size_kb / 8),
        "max_size": int(max_kb / 8) if is_log else -1,
        "growth": 10 if is_log else 1280,
        "is_percent_growth": int(is_log),
    }


def _build_growth_columns(options: FileOptions) -> dict[str, Scalar]:
    """Return the columns for FILEGROWTH and MAXSIZE that the file specifies."""
    growth_columns: dict[str, Scalar] = {}
    if options.growth_kb is not None:
        growth_columns |= {"growth": int(options.growth_kb / 8), "is_percent_growth": 0}
    elif options.growth_percent is not None:
        growth_columns |= {"growth": options.growth_percent, "is_percent_growth": 1}
    if options.max_kb is not None:
        growth_columns["max_size"] = -1 if options.max_kb == float("inf") else int(options.max_kb / 8)
    return growth_columns


def list_copy_file_rows(context: StatementContext, copy: DatabaseCopy) -> list[Record]:
    """Return the files of a copy: data file, log file, and added files.

    The files of a database in the RESTORING state also have that state [DOC: File States].
    """
    restoring: Record = {}
    if get_displayed_state(copy) is DbState.RESTORING:
        restoring = {
            "state": int(DbState.RESTORING),
            "state_desc": DbState.RESTORING.name,
            "redo_start_lsn": format_lsn(get_end_of_log_kb(context, copy)),
            "redo_start_fork_guid": make_unique_id("fork", copy.family, copy.fork),
            UNSIMULATED_COLUMNS_KEY: "redo_target_lsn redo_target_fork_guid",
        }
    return [
        {
            **_build_file_row(
                file.name, volumes.get_file_path(copy, file), index, file.log, file.size_kb, copy.log_max_kb
            ),
            **restoring,
            "database_id": copy.database_id,
            **_build_growth_columns(volumes.get_file_options(copy, file)),
        }
        for index, file in enumerate(volumes.list_copy_files(copy), start=1)
    ]


SYSTEM_FILES: Final = {
    "master": ("master", "master", "mastlog"),
    "tempdb": ("tempdev", "tempdb", "templog"),
    "model": ("modeldev", "model", "modellog"),
    "msdb": ("MSDBData", "MSDBData", "MSDBLog"),
}
"""System database -> (logical name and file name of its data file, logical name of its log file).

Documented [DOC: master database; model database; msdb database; tempdb database].
"""


def list_system_files(context: StatementContext, name: str) -> list[Record]:
    """Return the data file and the log file of a system database."""
    number = SYSTEM_DATABASES[name]
    data, data_file, log = SYSTEM_FILES[name]
    files = (
        _build_file_row(data, f"C:\\Data\\{data_file}.mdf", 1, False, 8192.0, -8.0),
        _build_file_row(log, f"C:\\Data\\{log}.ldf", 2, True, 2048.0, 2_147_483_648.0),
    )
    return [{**file, "database_id": number} for file in files]


def _list_sparse_files(context: StatementContext, snapshot: Snapshot) -> list[Record]:
    source = context.find_copy(snapshot.source)
    size_kb = source.size_kb if source is not None else 0.0
    return [
        {
            **_build_file_row(name, path, index, False, size_kb, 0.0),
            "database_id": snapshot.database_id,
            "is_read_only": 1,
            "is_sparse": 1,
        }
        for index, (name, path) in enumerate(snapshot.files, start=1)
    ]


def list_file_rows(context: StatementContext) -> Iterable[Record]:
    """Yield the files of all databases on the instance."""
    for name in SYSTEM_DATABASES:
        yield from list_system_files(context, name)
    for copy in context.list_copies():
        yield from list_copy_file_rows(context, copy)
    for picture in context.server.snapshots:
        yield from _list_sparse_files(context, picture)


def _list_database_files(context: StatementContext) -> Iterable[Record]:
    name = context.session.database
    picture = context.find_snapshot(name)
    if picture is not None:
        return _list_sparse_files(context, picture)
    copy = context.find_copy(name)
    return list_copy_file_rows(context, copy) if copy is not None else list_system_files(context, name)


register_view("sys.master_files", list_file_rows)
register_view("sys.database_files", _list_database_files)


def _list_sysaltfiles(context: StatementContext) -> Iterable[Record]:
    for row in list_file_rows(context):
        yield {
            "fileid": row["file_id"],
            "groupid": row["data_space_id"],
            "size": row["size"],
            "maxsize": row["max_size"],
            "growth": row["growth"],
            "status": 2,
            "dbid": row["database_id"],
            "name": row["name"],
            "filename": row["physical_name"],
        }


register_view("sys.sysaltfiles", _list_sysaltfiles)


# --- recovery, log space ---------------------------------------------------------------------------------


def _list_recovery_status(context: StatementContext) -> Iterable[Record]:
    for copy in context.list_copies():
        yield {
            "database_id": copy.database_id,
            "database_guid": make_unique_id("database", copy.server, copy.database),
            "family_guid": make_unique_id("family", copy.family),
            "last_log_backup_lsn": format_lsn(copy.last_log_backup_kb) if copy.full_backup else None,
            "recovery_fork_guid": make_unique_id("fork", copy.family, copy.fork),
            "first_recovery_fork_guid": make_unique_id("fork", copy.family, 0),
            "fork_point_lsn": None,
        }


register_view("sys.database_recovery_status", _list_recovery_status)


def list_log_space(context: StatementContext) -> Iterable[tuple[str, float, float]]:
    """Yield (database, log size in MB, used percentage) for each open database, as in DBCC SQLPERF(LOGSPACE)."""
    for name in SYSTEM_DATABASES:
        yield name, 1.99, 35.0
    for copy in context.list_copies():
        try:
            context.open_database(copy.database)
        except SqlError:
            continue
        if copy.source is not None:
            reading = context.world.flow.read_source(copy.source)
            yield (
                copy.database,
                reading.log_size_kb / 1024.0,
                100.0 * reading.log_used_kb / reading.log_size_kb,
            )


def _list_log_space_usage(context: StatementContext) -> Iterable[Record]:
    """Yield the log space usage of the current database."""
    for name, size_mb, used in list_log_space(context):
        if name.lower() == context.session.database.lower():
            size = int(size_mb * 1024.0**2)
            yield {
                "database_id": context.find_database_id(name),
                "total_log_size_in_bytes": size,
                "used_log_space_in_bytes": int(size * used / 100.0),
                "used_log_space_in_percent": used,
            }


register_view("sys.dm_db_log_space_usage", _list_log_space_usage)


VLF_BYTES: Final = 2**30
"""Size of a virtual log file in bytes. `format_lsn` computes file numbers with the same size."""


class VirtualLogFile(NamedTuple):
    """Virtual log file, as DBCC LOGINFO shows it."""

    offset: int
    size: int
    number: int
    """Sequence number; 0 if the file was never used."""
    status: int
    """2 if the file contains active log, else 0."""
    parity: int


def list_virtual_log_files(world: World, source: int) -> Iterable[VirtualLogFile]:
    """Yield the virtual log files of a writable log in file order. They are derived from the log in use."""
    reading = world.flow.read_source(source)
    end_kb = world.flow.read_source_positions(source).flushed_kb
    count = max(1, round(reading.log_size_kb * 1024 / VLF_BYTES))
    size = int(reading.log_size_kb * 1024) // count
    last = int(end_kb * 1024) // VLF_BYTES
    first = max(last - count + 1, int(max(0.0, end_kb - reading.log_used_kb) * 1024) // VLF_BYTES)
    for index in range(count):
        number = last - (last - index) % count  # SQL Server reuses the *count* virtual log files in turn
        used = number >= 0
        status = 2 if used and number >= first else 0
        parity = (128 if number // count % 2 else 64) if used else 0
        yield VirtualLogFile(8192 + index * size, size, 20 + number if used else 0, status, parity)


def get_end_of_log_kb(context: StatementContext, copy: DatabaseCopy) -> float:
    """Return the position in KB up to which this copy has hardened its log."""
    return streams.get_end_of_log_kb(context.world, copy)


# --- database-level settings ------------------------------------------------------------------------------
# Database scoped configurations and Query Store options cannot be changed in the simulation, so that all
# values are defaults. Documented [DOC: ALTER DATABASE SCOPED CONFIGURATION; ALTER DATABASE SET options].
# The numbers are those in public output.

_SCOPED_CONFIGURATION_LINES: Final = (
    resources.files("engine.tsql.catalog").joinpath("scoped.txt").read_text(encoding="utf-8")
)
"""One configuration per line: number, name, default and first version. Those of SQL Server 2022 are omitted."""


def _list_configurations(context: StatementContext) -> Iterable[Record]:
    for line in _SCOPED_CONFIGURATION_LINES.splitlines():
        number, name, value, first_version = line.split()
        if int(first_version) <= context.version:
            yield {
                "configuration_id": int(number),
                "name": name,
                "value": int(value) if value.isdigit() else value,
                "value_for_secondary": None,
                "is_value_default": 1,
            }


register_view("sys.database_scoped_configurations", _list_configurations)


_CUSTOM_CAPTURE_COLUMNS: Final = (
    "capture_policy_execution_count",
    "capture_policy_total_compile_cpu_time_ms",
    "capture_policy_total_execution_cpu_time_ms",
    "capture_policy_stale_threshold_hours",
)
"""Query Store columns that are NULL unless the capture mode is CUSTOM."""


_QUERY_STORE_STATES: Final = ("OFF", "READ_ONLY", "READ_WRITE")
"""Descriptions of the Query Store state by number."""


def has_query_store(context: StatementContext, copy: DatabaseCopy) -> bool:
    """Return whether the Query Store is on, as in databases created by SQL Server 2022.

    [DOC: Query Store]. The compatibility level indicates a database from an earlier version. Assumed.
    """
    return context.version >= 2022 and options.get_compatibility_level(context.world, copy) >= 160


def _list_query_stores(context: StatementContext) -> Iterable[Record]:
    """Yield the Query Store options of the current database. master and tempdb have no Query Store."""
    if context.session.database.lower() in ("master", "tempdb"):
        return
    modern = context.version >= 2019
    copy = context.find_copy(context.session.database)
    desired, reason = 0, 0
    if copy is not None and has_query_store(context, copy):
        desired, reason = 2, 8 if group_policies.get_policy(copy).is_follower(copy) else int(copy.read_only)
    actual = 1 if reason else desired
    yield {
        **find_literal_columns("databases._list_query_stores"),
        "desired_state": desired,
        "desired_state_desc": _QUERY_STORE_STATES[desired],
        "actual_state": actual,
        "actual_state_desc": _QUERY_STORE_STATES[actual],
        "readonly_reason": reason,
        "max_storage_size_mb": 1000 if modern else 100,
        "query_capture_mode": 2 if modern else 1,
        "query_capture_mode_desc": "AUTO" if modern else "ALL",
        **dict.fromkeys(_CUSTOM_CAPTURE_COLUMNS),
    }


register_view("sys.database_query_store_options", _list_query_stores)
