"""Tables of msdb: mirroring monitor, suspect pages, backup history, SQL Server Agent and Database Mail."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final, cast

from engine.identifiers import make_unique_id
from engine.messages import SqlError
from engine.mirroring import monitor
from engine.protocol import backup, group_policies
from engine.protocol.lineage import format_lsn
from engine.tsql.batches import stored_rows, stored_tables
from engine.tsql.batches.context import StatementContext
from engine.tsql.catalog.shapes import find_literal_columns
from engine.tsql.catalog.view import CATALOG_VIEWS, Record, register_view
from engine.tsql.scalars.values import Scalar, to_text

# --- the mirroring monitor -------------------------------------------------------------------------------


def _list_monitor_rows(context: StatementContext) -> Iterable[Record]:
    """Yield the rows of the monitor table, which exists after the first update [DOC: sp_dbmmonitorupdate]."""
    if not any(monitor.get_rows(context.world, copy.key) for copy in context.list_copies()):
        raise SqlError(208, "msdb.dbo.dbm_monitor_data")
    for copy in context.list_copies():
        for row in monitor.get_rows(context.world, copy.key):
            yield {
                "database_id": copy.database_id,
                "role": int(row.role) - 1,
                "status": int(row.state),
                "witness_status": int(row.witness_state),
                "log_flush_rate": round(row.log_rate_kb_per_s),
                "send_queue_size": round(row.unsent_kb),
                "send_rate": round(row.send_rate_kb_per_s),
                "redo_queue_size": round(row.unrestored_kb),
                "redo_rate": round(row.restore_rate_kb_per_s),
                "transaction_delay": round(row.transaction_delay_ms),
                "transactions_per_sec": round(row.transactions_per_s),
                "time": context.get_datetime_value(row.tick),
                "end_of_log_lsn": format_lsn(row.end_of_log_kb),
                "failover_lsn": format_lsn(row.failover_lsn_kb),
                "local_time": context.get_datetime_value(row.tick),
            }


register_view("msdb.dbo.dbm_monitor_data", _list_monitor_rows)

_THRESHOLD_COLUMNS: Final = {1: "time_behind", 2: "send_queue", 3: "redo_queue", 4: "average_delay"}
"""Number of an alert -> threshold of the mirroring monitor."""


def _list_monitor_alerts(context: StatementContext) -> Iterable[Record]:
    for copy in context.list_copies():
        own_alerts = [alert for alert in context.server.alerts if alert.database == copy.database]
        if not own_alerts:
            continue
        record: dict[str, Scalar] = {
            "database_id": copy.database_id,
            "retention_period": round(monitor.RETENTION_H),
        }
        for alert in own_alerts:
            if alert.alert_id in _THRESHOLD_COLUMNS:
                record[_THRESHOLD_COLUMNS[alert.alert_id]] = round(alert.threshold)
                record[f"enable_{_THRESHOLD_COLUMNS[alert.alert_id]}"] = int(alert.enabled)
            else:
                record["retention_period"] = round(alert.threshold)
        yield record


register_view("msdb.dbo.dbm_monitor_alerts", _list_monitor_alerts)

# --- pages, backups --------------------------------------------------------------------------------------


def _list_suspect_pages(context: StatementContext) -> Iterable[Record]:
    """Yield the damaged pages.

    event_type is 2 for a bad checksum. After a repair by the partner, it is 5 on a principal and 4 on a
    mirror.
    Documented [DOC: suspect_pages, automatic page repair].
    """
    for copy in context.list_copies():
        event_type = 4 if group_policies.get_policy(copy).is_follower(copy) else 5
        repaired = {repair.page: repair.tick for repair in copy.page_repairs if repair.status == 5}
        for page in sorted({*copy.bad_pages, *repaired}):
            yield {
                "database_id": copy.database_id,
                "file_id": 1,
                "page_id": page,
                "event_type": event_type if page in repaired else 2,
                "error_count": 1,
                "last_update_date": context.get_datetime_value(repaired.get(page)),
            }


register_view("msdb.dbo.suspect_pages", _list_suspect_pages)

_BACKUP_TYPES: Final = {
    backup.DATABASE_BACKUP_KIND: "D",
    backup.DIFFERENTIAL_BACKUP_KIND: "I",
    backup.LOG_BACKUP_KIND: "L",
}
"""Kind of a backup -> `type` of backupset."""


def _list_server_backups(context: StatementContext) -> list[tuple[str, int, backup.BackupSet]]:
    """Return (path, position in the file, backup set) for each backup that this server has taken or restored.

    The oldest backup is first.
    """
    own_server = context.session.server
    restored_ids = {restore.backup_id for restore in context.server.restores}
    backups_by_id: dict[int, tuple[str, int, backup.BackupSet]] = {}
    for (server, path), file in context.world.files.items():
        if not isinstance(file, backup.BackupFile):
            continue
        for index, backup_set in (*file.overwritten, *enumerate(file.sets, start=1)):
            is_known = backup_set.server == own_server or backup_set.id in restored_ids
            if is_known and (
                backup_set.id not in backups_by_id or server == own_server
            ):  # a copy of a backup file is not another backup
                backups_by_id[backup_set.id] = path, index, backup_set
    return [backups_by_id[number] for number in sorted(backups_by_id)]


def _list_backup_sets(context: StatementContext) -> Iterable[Record]:
    for _, position, backup_set in _list_server_backups(context):
        yield {
            "backup_set_id": backup_set.id,
            "media_set_id": backup_set.id,
            "position": position,
            "first_lsn": format_lsn(backup_set.first_kb),
            "last_lsn": format_lsn(backup_set.last_kb),
            "checkpoint_lsn": format_lsn(backup_set.first_kb),
            "database_backup_lsn": format_lsn(backup_set.base_kb) if backup_set.base_kb is not None else 0,
            "differential_base_lsn": format_lsn(backup_set.base_kb or 0.0)
            if backup_set.kind == backup.DIFFERENTIAL_BACKUP_KIND
            else None,
            "backup_start_date": context.get_datetime_value(backup_set.started_tick),
            "backup_finish_date": context.get_datetime_value(backup_set.tick),
            "type": _BACKUP_TYPES[backup_set.kind],
            "database_name": backup_set.database,
            "server_name": backup_set.server,
            "backup_size": int(backup_set.backup_kb * 1024),
            "compressed_backup_size": int(backup_set.size_kb * 1024),
            "has_backup_checksums": int(backup_set.details.checksum),
            "recovery_model": backup_set.recovery_model.name,
            "is_readonly": int(backup_set.read_only),
            "is_single_user": int(backup_set.details.single_user),
            "has_bulk_logged_data": int(backup_set.bulk_logged),
            "has_incomplete_metadata": int(backup_set.incomplete),
            "is_force_offline": int(backup_set.tail),
            "flags": backup_set.flags,
            "name": backup_set.details.name,
            "description": backup_set.details.description,
            "expiration_date": context.get_datetime_value(backup_set.details.expires_tick)
            if backup_set.details.expires_tick is not None
            else None,
            "user_name": backup_set.details.login,
            "is_copy_only": int(backup_set.copy_only),
        }


def _list_media(context: StatementContext) -> Iterable[Record]:
    for path, _, backup_set in _list_server_backups(context):
        yield {"media_set_id": backup_set.id, "physical_device_name": path, "device_type": 2}


register_view("msdb.dbo.backupset", _list_backup_sets)
register_view("msdb.dbo.backupmediafamily", _list_media)


def _list_restores(context: StatementContext) -> Iterable[Record]:
    for number, restore in enumerate(context.server.restores, start=1):
        yield {
            "restore_history_id": number,
            "restore_date": context.get_datetime_value(restore.tick),
            "destination_database_name": restore.database,
            "backup_set_id": restore.backup_id,
            "restore_type": restore.kind,
            "replace": int(restore.replace),
            "recovery": int(restore.recovery),
            "stop_at": context.get_datetime_value(restore.stop_tick)
            if restore.stop_tick is not None
            else None,
        }


register_view("msdb.dbo.restorehistory", _list_restores)


# --- tables of msdb about SQL Server Agent and Database Mail, from the rows that procedures store (ledger.py)


def _make_job_id(context: StatementContext, job: Scalar) -> Scalar:
    return make_unique_id("job", context.session.server, to_text(job)) if job else None


# --- jobs ------------------------------------------------------------------------------------------------


def _list_jobs(context: StatementContext) -> Iterable[Record]:
    for job in context.server.jobs:
        stored_row = stored_tables.JOBS.find_row(context.world, context.session.server, "job", job.name) or {}
        long_ago = context.get_datetime_value(-86_400_00 * 100)
        yield {
            "job_id": _make_job_id(context, job.name),
            "originating_server": context.session.server,
            "originating_server_id": 0,
            "name": job.name,
            "enabled": int(job.enabled),
            "description": stored_row.get("description", "No description available."),
            "start_step_id": stored_row.get("start_step_id", 1),
            "category_id": stored_row.get("category_id") or 0,
            "owner_sid": find_sid(context, to_text(stored_row.get("owner") or "sa")),
            "date_created": stored_row.get("date_created", long_ago),
            "date_modified": stored_row.get("date_modified", long_ago),
            "notify_level_eventlog": stored_row.get("notify_level_eventlog", 0),
            "notify_level_email": stored_row.get("notify_level_email", 0),
            "notify_email_operator_id": stored_row.get("notify_email_operator_id") or 0,
            "version_number": stored_row.get("version_number", 1),
        }


register_view("msdb.dbo.sysjobs", _list_jobs)
register_view("msdb.dbo.sysjobs_view", _list_jobs)


def find_sid(context: StatementContext, login: str) -> Scalar:
    """Return the SID of a login; None for an unknown login."""
    rows = CATALOG_VIEWS["sys.server_principals"].rows
    assert rows is not None, "logins are simulated"
    sids = (row["sid"] for row in rows(context) if to_text(row["name"]).casefold() == login.casefold())
    return next(sids, None)


def _find_latest_history(
    context: StatementContext, job: Scalar, step_id: Scalar
) -> stored_tables.HistoryRow | None:
    """Return the latest history row of a job step, or of the job (step 0); None if there is none."""
    rows = stored_tables.HISTORY.list_rows(context.world, context.session.server)
    return next((row for row in reversed(rows) if (row["job"], row["step_id"]) == (job, step_id)), None)


def _build_last_run_columns(
    context: StatementContext, job: Scalar, step_id: Scalar, default_outcome: int
) -> Record:
    """Return the columns about the last run of a job or step.

    *default_outcome*: outcome before the first run.
    """
    row = _find_latest_history(context, job, step_id) or {}
    return {
        "last_run_outcome": row.get("run_status", default_outcome),
        "last_run_duration": row.get("run_duration", 0),
        "last_run_date": row.get("run_date", 0),
        "last_run_time": row.get("run_time", 0),
    }


def _list_steps(context: StatementContext) -> Iterable[Record]:
    """Yield the job steps as defined. A predefined job has one step, whose command is unknown."""
    rows = stored_tables.STEPS.list_rows(context.world, context.session.server)
    having = {to_text(row["job"]).casefold() for row in rows}
    for row in rows:
        record = {name: cast(Scalar, value) for name, value in row.items() if name not in ("id", "job")}
        last = _find_latest_history(context, row["job"], row["step_id"]) or {}
        yield {
            **record,
            **_build_last_run_columns(context, row["job"], row["step_id"], 0),
            "last_run_retries": last.get("retries_attempted", 0),
            "job_id": _make_job_id(context, row["job"]),
        }
    for job in context.server.jobs:
        is_scripted = (
            stored_tables.JOBS.find_row(context.world, context.session.server, "job", job.name) is not None
        )
        if not is_scripted and job.name.casefold() not in having:
            yield {
                "job_id": _make_job_id(context, job.name),
                **find_literal_columns("msdb._list_steps"),
                "step_name": job.name,
                "database_name": job.database or "master",
            }


register_view("msdb.dbo.sysjobsteps", _list_steps)

# --- stored rows that are shown unchanged ----------------------------------------------------------

_ColumnNames = Mapping[str, str]
"""Column of the stored row -> column of the system table."""


def _build_stored_row_lister(
    table: stored_tables.StoredTable[stored_tables.RowT],
    renamed: _ColumnNames,
    extra_columns: Callable[[StatementContext, stored_tables.RowT], Record] | None = None,
) -> Callable[[StatementContext], Iterable[Record]]:
    """Build a function that yields the rows of the stored table *table* as rows of a system table.

    *renamed*: names of the columns in the system table. *extra_columns*: function for columns that are not
    stored.
    """

    def rows(context: StatementContext) -> Iterable[Record]:
        for row in table.list_rows(context.world, context.session.server):
            record = {renamed[name]: cast(Scalar, value) for name, value in row.items() if name in renamed}
            yield {**record, **(extra_columns(context, row) if extra_columns is not None else {})}

    return rows


def _map_columns(names: str, **renamed: str) -> _ColumnNames:
    """Return the columns *names* with unchanged names, and *renamed* columns."""
    return {**{name: name for name in names.split()}, **renamed}


def _add_job_columns(
    context: StatementContext,
    row: stored_tables.AlertRow | stored_tables.HistoryRow | stored_tables.JobScheduleRow,
) -> Record:
    return {"job_id": _make_job_id(context, row.get("job"))}


def _build_history_row(context: StatementContext, row: stored_tables.HistoryRow) -> Record:
    return {**_add_job_columns(context, row), "server": context.session.server}


def _build_alert_row(context: StatementContext, row: stored_tables.AlertRow) -> Record:
    notified = stored_tables.NOTIFICATIONS.find_row(
        context.world, context.session.server, "alert_id", row["id"]
    )
    wmi = row.get("wmi_query")
    return {
        **_add_job_columns(context, row),
        **find_literal_columns("msdb._build_alert_row"),
        "message_id": row.get("message_id") or 0,
        "severity": row.get("severity") or 0,
        "delay_between_responses": row.get("delay_between_responses") or 0,
        "has_notification": int(notified is not None),
        "performance_condition": wmi or row.get("performance_condition"),
        "database_name": row.get("wmi_namespace") or row.get("database_name"),
        "last_occurrence_date": row.get("last_occurrence_date") or 0,
        "last_occurrence_time": row.get("last_occurrence_time") or 0,
        "last_response_date": row.get("last_response_date") or 0,
        "last_response_time": row.get("last_response_time") or 0,
    }


register_view(
    "msdb.dbo.sysalerts",
    _build_stored_row_lister(
        stored_tables.ALERTS,
        _map_columns(
            """id name enabled notification_message include_event_description event_description_keyword
            occurrence_count"""
        ),
        _build_alert_row,
    ),
)
register_view(
    "msdb.dbo.sysoperators",
    _build_stored_row_lister(
        stored_tables.OPERATORS,
        _map_columns(
            """id name enabled email_address pager_address pager_days netsend_address weekday_pager_start_time
            weekday_pager_end_time saturday_pager_start_time saturday_pager_end_time sunday_pager_start_time
            sunday_pager_end_time"""
        ),
    ),
)
register_view(
    "msdb.dbo.sysnotifications",
    _build_stored_row_lister(
        stored_tables.NOTIFICATIONS, _map_columns("alert_id operator_id notification_method")
    ),
)
register_view(
    "msdb.dbo.sysjobhistory",
    _build_stored_row_lister(
        stored_tables.HISTORY,
        _map_columns(
            """step_id step_name message run_status run_date run_time run_duration sql_message_id sql_severity
            retries_attempted""",
            id="instance_id",
        ),
        _build_history_row,
    ),
)
_SCHEDULE_COLUMNS: Final = """enabled freq_type freq_interval freq_subday_type freq_subday_interval
freq_relative_interval freq_recurrence_factor active_start_date active_end_date active_start_time active_end_time"""
register_view(
    "msdb.dbo.sysschedules",
    _build_stored_row_lister(
        stored_tables.SCHEDULES,
        _map_columns(_SCHEDULE_COLUMNS, id="schedule_id", name="name"),
        lambda context, row: {"schedule_uid": make_unique_id("schedule", context.session.server, row["id"])},
    ),
)
register_view(
    "msdb.dbo.sysjobschedules",
    _build_stored_row_lister(stored_tables.JOB_SCHEDULES, _map_columns("schedule_id"), _add_job_columns),
)


def _list_activity(context: StatementContext) -> Iterable[Record]:
    """Yield the latest run of each job, with NULL for a job that has never run. [DOC: sysjobactivity]."""
    world, server = context.world, context.session.server
    for job in context.server.jobs:
        row = stored_rows.find_activity(world, server, job.name) or {}
        times = {name: row.get(name) for name in ("start_tick", "stop_tick", "step_tick")}
        shown_columns = {
            name: context.get_datetime_value(int(str(tick))) if tick is not None else None
            for name, tick in times.items()
        }
        yield {
            "session_id": 1,
            "job_id": _make_job_id(context, job.name),
            "run_requested_date": shown_columns["start_tick"],
            "run_requested_source": to_text(row["source"]) if row else None,
            "start_execution_date": shown_columns["start_tick"],
            "last_executed_step_id": row.get("step_id"),
            "last_executed_step_date": shown_columns["step_tick"],
            "stop_execution_date": shown_columns["stop_tick"],
            "job_history_id": row.get("history_id"),
        }


def _list_job_servers(context: StatementContext) -> Iterable[Record]:
    for job in context.server.jobs:
        job_row = stored_tables.JOBS.find_row(context.world, context.session.server, "job", job.name) or {}
        if job_row.get("targeted", 1):
            last = _find_latest_history(context, job.name, 0) or {}
            yield {
                "job_id": _make_job_id(context, job.name),
                "server_id": 0,
                **_build_last_run_columns(context, job.name, 0, 5),
                "last_outcome_message": last.get("message"),
            }


register_view("msdb.dbo.sysjobactivity", _list_activity)
register_view("msdb.dbo.sysjobservers", _list_job_servers)


def _list_categories(context: StatementContext) -> Iterable[Record]:
    yield {"category_id": 0, "category_class": 1, "category_type": 1, "name": "[Uncategorized (Local)]"}
    yield {"category_id": 3, "category_class": 1, "category_type": 1, "name": "Database Maintenance"}
    for row in stored_tables.CATEGORIES.list_rows(context.world, context.session.server):
        yield {
            "category_id": 100 + int(str(row["id"])),
            "category_class": row["category_class"],
            "category_type": row["category_type"],
            "name": row["name"],
        }


register_view("msdb.dbo.syscategories", _list_categories)

# --- Database Mail ---------------------------------------------------------------------------------------

register_view(
    "msdb.dbo.sysmail_profile",
    _build_stored_row_lister(stored_tables.MAIL_PROFILES, _map_columns("name description", id="profile_id")),
)
register_view(
    "msdb.dbo.sysmail_account",
    _build_stored_row_lister(
        stored_tables.MAIL_ACCOUNTS,
        _map_columns("name description email_address display_name replyto_address", id="account_id"),
    ),
)
register_view(
    "msdb.dbo.sysmail_profileaccount",
    _build_stored_row_lister(
        stored_tables.MAIL_PROFILE_ACCOUNTS, _map_columns("profile_id account_id sequence_number")
    ),
)
register_view(
    "msdb.dbo.sysmail_principalprofile",
    _build_stored_row_lister(stored_tables.MAIL_PRINCIPALS, _map_columns("profile_id is_default")),
)
_list_mails: Final = _build_stored_row_lister(
    stored_tables.MAILS,
    _map_columns(
        "profile_id recipients copy_recipients subject body send_request_date sent_status", id="mailitem_id"
    ),
)
for _name in ("sysmail_allitems", "sysmail_unsentitems", "sysmail_mailitems"):
    register_view(f"msdb.dbo.{_name}", _list_mails)
