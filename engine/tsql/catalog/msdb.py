"""Tables of msdb: rows of the mirroring monitor, suspect pages, backup history."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from engine.messages import SqlError
from engine.mirroring import monitor
from engine.protocol import backup, groups
from engine.protocol.lineage import lsn
from engine.tsql.batches.context import Context
from engine.tsql.catalog.view import Record, view

# --- the mirroring monitor -------------------------------------------------------------------------------


def _monitor_rows(context: Context) -> Iterable[Record]:
    """Yield rows of the monitor table, which exists from its first update on [DOC: sp_dbmmonitorupdate]."""
    if not any(monitor.rows_of(context.world, copy.key) for copy in context.copies()):
        raise SqlError(208, "msdb.dbo.dbm_monitor_data")
    for copy in context.copies():
        for row in monitor.rows_of(context.world, copy.key):
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
                "time": context.datetime_value(row.tick),
                "end_of_log_lsn": lsn(row.end_of_log_kb),
                "failover_lsn": lsn(row.failover_lsn_kb),
                "local_time": context.datetime_value(row.tick),
            }


view("msdb.dbo.dbm_monitor_data", _monitor_rows)

_THRESHOLDS: Final = {1: "time_behind", 2: "send_queue", 3: "redo_queue", 4: "average_delay"}
"""Columns of the thresholds by the number of their alert."""


def _monitor_alerts(context: Context) -> Iterable[Record]:
    for copy in context.copies():
        mine = [alert for alert in context.server.alerts if alert.database == copy.database]
        if not mine:
            continue
        record: Record = {"database_id": copy.database_id, "retention_period": round(monitor.RETENTION_H)}
        for alert in mine:
            if alert.alert_id in _THRESHOLDS:
                record[_THRESHOLDS[alert.alert_id]] = round(alert.threshold)
                record[f"enable_{_THRESHOLDS[alert.alert_id]}"] = int(alert.enabled)
            else:
                record["retention_period"] = round(alert.threshold)
        yield record


view("msdb.dbo.dbm_monitor_alerts", _monitor_alerts)

# --- pages, backups --------------------------------------------------------------------------------------


def _suspect_pages(context: Context) -> Iterable[Record]:
    """Yield damaged pages: event type 2 (bad checksum); repaired by the partner 5 on a principal, 4 on a mirror.

    Documented [DOC: suspect_pages, automatic page repair].
    """
    for copy in context.copies():
        done = 4 if groups.policy(copy).is_follower(copy) else 5
        repaired = {repair.page: repair.tick for repair in copy.page_repairs if repair.status == 5}
        for page in sorted({*copy.bad_pages, *repaired}):
            yield {
                "database_id": copy.database_id,
                "file_id": 1,
                "page_id": page,
                "event_type": done if page in repaired else 2,
                "error_count": 1,
                "last_update_date": context.datetime_value(repaired.get(page)),
            }


view("msdb.dbo.suspect_pages", _suspect_pages)

_KINDS: Final = {backup.DATABASE: "D", backup.DIFFERENTIAL: "I", backup.LOG: "L"}


def _list_server_backups(context: Context) -> list[tuple[str, int, backup.BackupSet]]:
    """Return every existing backup that this server has taken, with path and position; oldest first."""
    here = context.session.server
    found: dict[int, tuple[str, int, backup.BackupSet]] = {}
    for (server, path), file in context.world.files.items():
        for place, one in enumerate(file.sets if isinstance(file, backup.BackupFile) else (), start=1):
            if one.server == here and (one.id not in found or server == here):  # copied files are not backups
                found[one.id] = path, place, one
    return [found[number] for number in sorted(found)]


def _backup_sets(context: Context) -> Iterable[Record]:
    for _, place, one in _list_server_backups(context):
        yield {
            "backup_set_id": one.id,
            "media_set_id": one.id,
            "position": place,
            "first_lsn": lsn(one.first_kb),
            "last_lsn": lsn(one.last_kb),
            "checkpoint_lsn": lsn(one.first_kb),
            "database_backup_lsn": lsn(one.first_kb),
            "backup_start_date": context.datetime_value(one.started_tick),
            "backup_finish_date": context.datetime_value(one.tick),
            "type": _KINDS[one.kind],
            "database_name": one.database,
            "server_name": one.server,
            "backup_size": int(one.backup_kb * 1024),
            "compressed_backup_size": int(one.size_kb * 1024),
            "has_backup_checksums": int(one.details.checksum),
            "recovery_model": one.recovery_model.name,
            "is_readonly": int(one.read_only),
            "is_single_user": int(one.details.single_user),
            "has_bulk_logged_data": int(one.bulk_logged),
            "has_incomplete_metadata": int(one.incomplete),
            "is_force_offline": int(one.tail),
            "flags": one.flags,
            "name": one.details.name,
            "description": one.details.description,
            "expiration_date": context.datetime_value(one.details.expires_tick)
            if one.details.expires_tick is not None
            else None,
            "user_name": one.details.login,
            "is_copy_only": int(one.copy_only),
        }


def _media(context: Context) -> Iterable[Record]:
    for path, _, one in _list_server_backups(context):
        yield {"media_set_id": one.id, "physical_device_name": path, "device_type": 2}


view("msdb.dbo.backupset", _backup_sets)
view("msdb.dbo.backupmediafamily", _media)


def _restores(context: Context) -> Iterable[Record]:
    for number, one in enumerate(context.server.restores, start=1):
        yield {
            "restore_history_id": number,
            "restore_date": context.datetime_value(one.tick),
            "destination_database_name": one.database,
            "backup_set_id": one.backup_id,
            "restore_type": one.kind,
            "replace": int(one.replace),
            "recovery": int(one.recovery),
            "stop_at": context.datetime_value(one.stop_tick) if one.stop_tick is not None else None,
        }


view("msdb.dbo.restorehistory", _restores)
