"""Tables of msdb: Agent jobs, the rows of the mirroring monitor, suspect pages, backup history."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from engine.tsql.catalog.view import Record, none, unique_id, view
from engine.tsql.context import Context


def _jobs(context: Context) -> Iterable[Record]:
    for job in context.server.jobs:
        yield {
            "job_id": unique_id("job", context.session.server, job.name),
            "originating_server_id": 0,
            "name": job.name,
            "enabled": int(job.enabled),
            "description": "No description available.",
            "start_step_id": 1,
            "category_id": 0,
            "owner_sid": b"\x01",
            "date_created": context.now(-86_400_00 * 100),
            "date_modified": context.now(-86_400_00 * 100),
            "version_number": 3,
        }


_JOBS: Final = """job_id uniqueidentifier, originating_server_id int, name sysname, enabled tinyint,
    description nvarchar, start_step_id int, category_id int, owner_sid varbinary, notify_level_eventlog int,
    notify_level_email int, delete_level int, date_created datetime, date_modified datetime, version_number int"""
view("msdb.dbo.sysjobs", _JOBS, _jobs)
view("msdb.dbo.sysjobs_view", _JOBS, _jobs)


def _steps(context: Context) -> Iterable[Record]:
    for job in context.server.jobs:
        yield {
            "job_id": unique_id("job", context.session.server, job.name),
            "step_id": 1,
            "step_name": job.name,
            "subsystem": "TSQL",
            "command": "",
            "database_name": job.database or "master",
        }


view(
    "msdb.dbo.sysjobsteps",
    """job_id uniqueidentifier, step_id int, step_name sysname, subsystem nvarchar, command nvarchar,
    database_name sysname, last_run_outcome int, last_run_date int, last_run_time int""",
    _steps,
)
view(
    "msdb.dbo.dbm_monitor_data",
    """database_id smallint, role bit, status tinyint, witness_status tinyint, log_flush_rate bigint,
    send_queue_size bigint, send_rate bigint, redo_queue_size bigint, redo_rate bigint, transaction_delay bigint,
    transactions_per_sec bigint, time datetime, end_of_log_lsn numeric, failover_lsn numeric, local_time datetime""",
    none,
)
view(
    "msdb.dbo.dbm_monitor_alerts",
    """database_id smallint, retention_period int, time_behind int, enable_time_behind bit, send_queue int,
    enable_send_queue bit, redo_queue int, enable_redo_queue bit, average_delay int, enable_average_delay bit""",
    none,
)
view(
    "msdb.dbo.suspect_pages",
    "database_id int, file_id int, page_id bigint, event_type int, error_count int, last_update_date datetime",
    none,
)
view(
    "msdb.dbo.backupset",
    """backup_set_id int, media_set_id int, name nvarchar, user_name nvarchar, first_lsn numeric, last_lsn numeric,
    checkpoint_lsn numeric, database_backup_lsn numeric, backup_start_date datetime, backup_finish_date datetime,
    type char(1), database_name nvarchar, server_name nvarchar, recovery_model nvarchar, backup_size numeric,
    is_copy_only bit, compressed_backup_size numeric 2008""",
    none,
)
view(
    "msdb.dbo.backupmediafamily", "media_set_id int, physical_device_name nvarchar, device_type tinyint", none
)
view(
    "msdb.dbo.restorehistory",
    """restore_history_id int, restore_date datetime, destination_database_name sysname, user_name sysname,
    backup_set_id int, restore_type char(1), replace bit, recovery bit""",
    none,
)
view("msdb.dbo.sysalerts", """id int, name sysname, event_source nvarchar, message_id int, severity int,
    enabled tinyint, database_name sysname, job_id uniqueidentifier""", none)  # fmt: skip
view("msdb.dbo.sysoperators", "id int, name sysname, enabled tinyint, email_address nvarchar", none)
view("msdb.dbo.sysjobhistory", """instance_id int, job_id uniqueidentifier, step_id int, step_name sysname,
    message nvarchar, run_status int, run_date int, run_time int, run_duration int""", none)  # fmt: skip
view("msdb.dbo.sysjobactivity", """session_id int, job_id uniqueidentifier, start_execution_date datetime,
    stop_execution_date datetime""", none)  # fmt: skip
view(
    "msdb.dbo.sysjobschedules",
    "schedule_id int, job_id uniqueidentifier, next_run_date int, next_run_time int",
    none,
)
view("msdb.dbo.sysschedules", "schedule_id int, name sysname, enabled int, freq_type int", none)


def _categories(context: Context) -> Iterable[Record]:
    yield {"category_id": 0, "category_class": 1, "category_type": 1, "name": "[Uncategorized (Local)]"}
    yield {"category_id": 3, "category_class": 1, "category_type": 1, "name": "Database Maintenance"}


view(
    "msdb.dbo.syscategories",
    "category_id int, category_class int, category_type tinyint, name sysname",
    _categories,
)
