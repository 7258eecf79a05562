"""Procedures of the Database Mirroring Monitor in msdb. Sources: facts 1.7 and 2.9 in docs/facts.md."""

from typing import Final

from engine.messages import SqlError
from engine.mirroring import monitor
from engine.model import Alert
from engine.tsql.procedures.call import ProcedureCall, Procedures
from engine.tsql.scalars.values import to_number


def _require_msdb(call: ProcedureCall) -> None:
    if call.database.lower() != "msdb":
        raise SqlError(32045, call.name)


def _show_results(call: ProcedureCall) -> None:
    _require_msdb(call)
    rows = monitor.list_monitor_results(
        call.world,
        call.server,
        call.get_text("@database_name"),
        call.get_number("@mode"),
        bool(call.get_number("@update_table")),
    )
    to_datetime = call.machine.context.get_datetime_value
    columns = (
        "database_name", "role", "mirroring_state", "witness_status", "log_generation_rate", "unsent_log",
        "send_rate", "unrestored_log", "recovery_rate", "transaction_delay", "transactions_per_sec",
        "average_delay", "time_recorded", "time_behind", "local_time",
    )  # fmt: skip
    copy = call.machine.context.find_copy(call.get_text("@database_name"))
    name = copy.database if copy is not None else call.get_text("@database_name")
    call.show_rows(
        columns,
        [
            (
                name,
                int(row.role),
                int(row.state),
                int(row.witness_state),
                round(row.log_rate_kb_per_s),
                round(row.unsent_kb),
                round(row.send_rate_kb_per_s),
                round(row.unrestored_kb),
                round(row.restore_rate_kb_per_s),
                round(row.transaction_delay_ms),
                round(row.transactions_per_s),
                round(row.average_delay_ms),
                to_datetime(row.tick),
                to_datetime(row.time_behind_tick),
                to_datetime(row.tick),
            )
            for row in rows
        ],
    )


def _update_monitor(call: ProcedureCall) -> None:
    _require_msdb(call)
    name = call.get_argument("@database_name")
    call.append_messages(
        monitor.update_monitor(
            call.world, call.server, None if name is None else call.get_text("@database_name")
        )
    )


def _add_monitoring(call: ProcedureCall) -> None:
    _require_msdb(call)
    call.append_messages(
        monitor.add_monitoring(call.world, call.server, call.get_number("@update_period", 1))
    )


def _change_monitoring(call: ProcedureCall) -> None:
    _require_msdb(call)
    number, value = call.get_number("@parameter_id"), call.get_number("@value")
    call.append_messages(monitor.change_monitoring(call.world, call.server, number, value))


def _show_monitoring(call: ProcedureCall) -> None:
    _require_msdb(call)
    call.show_rows(("update_period",), [(monitor.get_update_period(call.world, call.server),)])


def _drop_monitoring(call: ProcedureCall) -> None:
    _require_msdb(call)
    call.append_messages(monitor.drop_monitoring(call.world, call.server))


def _change_alert(call: ProcedureCall) -> None:
    _require_msdb(call)
    threshold = float(to_number(call.get_argument("@threshold") or 0, "float"))
    enabled = call.get_argument("@enabled")
    call.append_messages(
        monitor.change_alert(
            call.world,
            call.server,
            call.get_text("@database_name"),
            call.get_number("@alert_id"),
            threshold,
            True if enabled is None else bool(call.get_number("@enabled")),
        )
    )


def _show_alerts(call: ProcedureCall) -> None:
    _require_msdb(call)
    number = None if call.get_argument("@alert_id") is None else call.get_number("@alert_id")
    alerts = monitor.list_alerts(call.world, call.server, call.get_text("@database_name"), number)
    # Without an alert ID, the result has no row for the retention period.
    numbers = monitor.ALERT_MESSAGES if number is None else (number,)
    rows = [
        _build_alert_row(next((alert for alert in alerts if alert.alert_id == alert_id), None), alert_id)
        for alert_id in numbers
    ]
    call.show_rows(("alert_id", "threshold", "enabled"), rows)


def _build_alert_row(alert: Alert | None, number: int) -> tuple[int, int | None, int]:
    """Return (alert ID, threshold or None if not set, 1 if enabled else 0) [DOC: sp_dbmmonitorhelpalert]."""
    if alert is not None:
        return number, round(alert.threshold), int(alert.enabled)
    is_retention = number == monitor.RETENTION_ALERT
    return number, round(monitor.RETENTION_H) if is_retention else None, int(is_retention)


def _drop_alert(call: ProcedureCall) -> None:
    _require_msdb(call)
    number = None if call.get_argument("@alert_id") is None else call.get_number("@alert_id")
    call.append_messages(monitor.drop_alert(call.world, call.server, call.get_text("@database_name"), number))


PROCEDURES: Final[Procedures] = {
    "sp_dbmmonitorresults": _show_results,
    "sp_dbmmonitorupdate": _update_monitor,
    "sp_dbmmonitoraddmonitoring": _add_monitoring,
    "sp_dbmmonitorchangemonitoring": _change_monitoring,
    "sp_dbmmonitorhelpmonitoring": _show_monitoring,
    "sp_dbmmonitordropmonitoring": _drop_monitoring,
    "sp_dbmmonitorchangealert": _change_alert,
    "sp_dbmmonitorhelpalert": _show_alerts,
    "sp_dbmmonitordropalert": _drop_alert,
}
