"""SQL Server Agent procedures for operators, alerts, notifications, categories and mail.

The procedures only store rows. clients/agent.py processes the rows.
"""

from collections.abc import Callable, Mapping
from typing import Final

from engine.messages import SqlError
from engine.protocol import jobs
from engine.tsql.batches import stored_messages, stored_rows, stored_tables
from engine.tsql.batches.stored_tables import RowT, StoredTable
from engine.tsql.catalog.configurations import get_option_value
from engine.tsql.procedures.call import ProcedureCall, Procedures
from engine.tsql.procedures.jobs import require_job_name
from engine.tsql.query.plans import UnsimulatedFeatureError
from engine.tsql.scalars.values import Scalar, to_text


def find_named_row(call: ProcedureCall, table: StoredTable[RowT], parameter: str) -> RowT:
    """Return the row whose name is the value of *parameter*. Raises 14262 for an unknown name."""
    named_row = table.find_row(call.world, call.server, "name", call.get_text(parameter))
    if named_row is None:
        raise SqlError(14262, parameter, call.get_text(parameter))
    return named_row


def check_new_name(call: ProcedureCall, table: StoredTable[RowT]) -> str:
    """Return the name of an object to create. Raises 14261 if the name is already in use."""
    name = call.get_text("@name")
    if table.find_row(call.world, call.server, "name", name) is not None:
        raise SqlError(14261, "@name", name)
    return name


def set_given_columns(
    call: ProcedureCall, table: StoredTable[RowT], row: RowT, columns: dict[str, str]
) -> None:
    """Set those columns of *row* for which the call contains a parameter. *columns*: parameter -> column."""
    changes = {
        column: call.get_argument(name)
        for name, column in columns.items()
        if call.get_argument(name) is not None
    }
    table.change_rows(
        call.world,
        call.server,
        lambda row_in_table: row_in_table["id"] == row["id"],
        table.build_row(changes),
    )


# --- operators -------------------------------------------------------------------------------------------

_OPERATOR_COLUMNS: Final = {
    "@new_name": "name",
    "@enabled": "enabled",
    "@email_address": "email_address",
    "@pager_address": "pager_address",
    "@pager_days": "pager_days",
    "@netsend_address": "netsend_address",
    "@weekday_pager_start_time": "weekday_pager_start_time",
    "@weekday_pager_end_time": "weekday_pager_end_time",
    "@saturday_pager_start_time": "saturday_pager_start_time",
    "@saturday_pager_end_time": "saturday_pager_end_time",
    "@sunday_pager_start_time": "sunday_pager_start_time",
    "@sunday_pager_end_time": "sunday_pager_end_time",
}
# default times of day (hhmmss) between which the pager is used (documentation of sp_add_operator)
_PAGER_START: Final = 90000
_PAGER_END: Final = 180000
_PAGER_TIMES: Final = {
    column: _PAGER_START if "start" in column else _PAGER_END
    for column in _OPERATOR_COLUMNS.values()
    if column.endswith(("pager_start_time", "pager_end_time"))
}


def _add_operator(call: ProcedureCall) -> None:
    name = check_new_name(call, stored_tables.OPERATORS)
    stored_tables.OPERATORS.add_row(
        call.world,
        call.server,
        stored_tables.OPERATORS.build_row({"name": name, "enabled": 1, "pager_days": 0, **_PAGER_TIMES}),
    )
    set_given_columns(
        call,
        stored_tables.OPERATORS,
        find_named_row(call, stored_tables.OPERATORS, "@name"),
        _OPERATOR_COLUMNS,
    )


def _update_operator(call: ProcedureCall) -> None:
    set_given_columns(
        call,
        stored_tables.OPERATORS,
        find_named_row(call, stored_tables.OPERATORS, "@name"),
        _OPERATOR_COLUMNS,
    )


def _delete_operator(call: ProcedureCall) -> None:
    row = find_named_row(call, stored_tables.OPERATORS, "@name")
    stored_tables.OPERATORS.remove_rows(
        call.world, call.server, lambda row_in_table: row_in_table["id"] == row["id"]
    )
    stored_tables.NOTIFICATIONS.remove_rows(
        call.world,
        call.server,
        lambda row_in_table: row_in_table["operator_id"] == row["id"],
    )


# --- alerts ----------------------------------------------------------------------------------------------

_ALERT_COLUMNS: Final = {
    "@new_name": "name",
    "@message_id": "message_id",
    "@severity": "severity",
    "@enabled": "enabled",
    "@delay_between_responses": "delay_between_responses",
    "@notification_message": "notification_message",
    "@include_event_description_in": "include_event_description",
    "@database_name": "database_name",
    "@event_description_keyword": "event_description_keyword",
    "@performance_condition": "performance_condition",
    "@wmi_namespace": "wmi_namespace",
    "@wmi_query": "wmi_query",
}


def _add_alert(call: ProcedureCall) -> None:
    name = check_new_name(call, stored_tables.ALERTS)
    job = require_job_name(call) if _has_job_argument(call) else None
    _check_alert_condition(call)
    stored_rows.begin_alert_checks(call.world, call.server)
    stored_tables.ALERTS.add_row(
        call.world,
        call.server,
        {
            "name": name,
            "job": job,
            "enabled": 1,
            "occurrence_count": 0,
        },
    )
    row = find_named_row(call, stored_tables.ALERTS, "@name")
    set_given_columns(call, stored_tables.ALERTS, row, _ALERT_COLUMNS)
    if call.get_argument("@performance_condition") is not None:
        call.machine.report_unsimulated("alerts on performance counters never occur here")
    elif (
        call.get_argument("@wmi_query") is not None
        and "DATABASE_MIRRORING_STATE_CHANGE" not in call.get_text("@wmi_query").upper()
    ):
        call.machine.report_unsimulated("of WMI events only DATABASE_MIRRORING_STATE_CHANGE occurs here")


def _check_alert_condition(call: ProcedureCall) -> None:
    """Check the condition of an alert: severity, message, performance counter or WMI query.

    Raises 14266 for a severity above 25, and 14262 for an unknown message. Raises 14500 for a severity with
    a message, and for a missing condition.
    """
    if not 0 <= call.get_number("@severity") <= 25:
        raise SqlError(14266, "@severity", "0..25")
    number = call.get_number("@message_id")
    if number and stored_messages.find_message(call.world, call.server, number) is None:
        raise SqlError(14262, "@message_id", number)
    if number and call.get_number("@severity"):
        raise SqlError(14500)
    if not (
        number
        or call.get_number("@severity")
        or call.get_argument("@performance_condition")
        or call.get_argument("@wmi_query")
    ):
        raise SqlError(14500)


def _has_job_argument(call: ProcedureCall) -> bool:
    """Return whether the call names a job. An empty name or an id of zeros means no job."""
    job_id = call.get_argument("@job_id")
    text = call.get_text("@job_name") if job_id is None else to_text(job_id)
    return bool(text.strip("0-x"))


def _update_alert(call: ProcedureCall) -> None:
    row = find_named_row(call, stored_tables.ALERTS, "@name")
    set_given_columns(call, stored_tables.ALERTS, row, _ALERT_COLUMNS)
    if call.get_argument("@job_id") is not None or call.get_argument("@job_name") is not None:
        job = require_job_name(call) if _has_job_argument(call) else None
        stored_tables.ALERTS.change_rows(
            call.world,
            call.server,
            lambda row_in_table: row_in_table["id"] == row["id"],
            {"job": job},
        )
    if call.get_argument("@occurrence_count") is not None:
        stored_tables.ALERTS.change_rows(
            call.world,
            call.server,
            lambda row_in_table: row_in_table["id"] == row["id"],
            {"occurrence_count": call.get_number("@occurrence_count")},
        )


def _delete_alert(call: ProcedureCall) -> None:
    row = find_named_row(call, stored_tables.ALERTS, "@name")
    stored_tables.ALERTS.remove_rows(
        call.world, call.server, lambda row_in_table: row_in_table["id"] == row["id"]
    )
    stored_tables.NOTIFICATIONS.remove_rows(
        call.world,
        call.server,
        lambda row_in_table: row_in_table["alert_id"] == row["id"],
    )


def _add_notification(call: ProcedureCall) -> None:
    alert = find_named_row(call, stored_tables.ALERTS, "@alert_name")
    operator = find_named_row(call, stored_tables.OPERATORS, "@operator_name")
    stored_tables.NOTIFICATIONS.add_row(
        call.world,
        call.server,
        {
            "alert_id": alert["id"],
            "operator_id": operator["id"],
            "notification_method": call.get_number("@notification_method", 1),
        },
    )


def _delete_notification(call: ProcedureCall) -> None:
    alert = find_named_row(call, stored_tables.ALERTS, "@alert_name")
    operator = find_named_row(call, stored_tables.OPERATORS, "@operator_name")
    stored_tables.NOTIFICATIONS.remove_rows(
        call.world,
        call.server,
        lambda row: (row["alert_id"], row["operator_id"]) == (alert["id"], operator["id"]),
    )


# --- categories ------------------------------------------------------------------------------------------

_CATEGORY_CLASSES: Final = {"JOB": 1, "ALERT": 2, "OPERATOR": 3}
_CATEGORY_TYPES: Final = {"LOCAL": 1, "MULTI-SERVER": 2, "NONE": 3}


def _add_category(call: ProcedureCall) -> None:
    stored_tables.CATEGORIES.add_row(
        call.world,
        call.server,
        {
            "name": check_new_name(call, stored_tables.CATEGORIES),
            "category_class": _CATEGORY_CLASSES.get(call.get_text("@class").upper(), 1),
            "category_type": _CATEGORY_TYPES.get(call.get_text("@type").upper(), 1),
        },
    )


def _delete_category(call: ProcedureCall) -> None:
    row = find_named_row(call, stored_tables.CATEGORIES, "@name")
    stored_tables.CATEGORIES.remove_rows(
        call.world,
        call.server,
        lambda row_in_table: row_in_table["id"] == row["id"],
    )


def _notify_operator(call: ProcedureCall) -> None:
    if not jobs.is_agent_running(call.world, call.server):
        raise SqlError(22022, stored_rows.AGENT_STOPPED_TEXT)
    call.machine.report_unsimulated("mail and pagers: nothing leaves the instance")


# --- Database Mail ------------------------------------------------------------------------------------------
# Profiles and accounts are stored. Mails remain in the queue and are never sent.

MAIL_COMPONENT: Final = "Database Mail XPs"


def _add_named_row(
    call: ProcedureCall, table: StoredTable[RowT], parameter: str, values: Mapping[str, Scalar]
) -> None:
    name = call.get_text(parameter)
    if table.find_row(call.world, call.server, "name", name) is not None:
        rule = f"{table.name.upper()}_NameMustBeUnique"
        raise SqlError(2627, "UNIQUE KEY", rule, f"dbo.{table.name}", f"({name})")
    number = table.add_row(call.world, call.server, table.build_row({"name": name, **values}))
    call.outputs["@profile_id" if table.name == "sysmail_profile" else "@account_id"] = number


def _add_profile(call: ProcedureCall) -> None:
    _add_named_row(
        call, stored_tables.MAIL_PROFILES, "@profile_name", {"description": call.get_argument("@description")}
    )


def _add_account(call: ProcedureCall) -> None:
    _add_named_row(
        call,
        stored_tables.MAIL_ACCOUNTS,
        "@account_name",
        {
            "email_address": call.get_argument("@email_address"),
            "display_name": call.get_argument("@display_name"),
            "replyto_address": call.get_argument("@replyto_address"),
            "description": call.get_argument("@description"),
            "servername": call.get_argument("@mailserver_name"),
        },
    )


def _find_number(call: ProcedureCall, table: StoredTable[RowT], kind: str) -> int:
    """Return the id of a profile or account from its name or id parameter.

    *kind*: profile or account. Raises 14607 or 14606 if there is none.
    """
    column, value = ("id", call.get_argument(f"@{kind}_id"))
    if value is None:
        column, value = "name", call.get_text(f"@{kind}_name")
    matching_row = table.find_row(call.world, call.server, column, value)
    if matching_row is None:
        raise SqlError(14607 if kind == "profile" else 14606)
    return int(str(matching_row["id"]))


def _join_profile(call: ProcedureCall) -> None:
    profile = _find_number(call, stored_tables.MAIL_PROFILES, "profile")
    account = _find_number(call, stored_tables.MAIL_ACCOUNTS, "account")
    stored_tables.MAIL_PROFILE_ACCOUNTS.add_row(
        call.world,
        call.server,
        {
            "profile_id": int(str(profile)),
            "account_id": int(str(account)),
            "sequence_number": call.get_number("@sequence_number", 1),
        },
    )


def _grant_profile(call: ProcedureCall) -> None:
    profile = _find_number(call, stored_tables.MAIL_PROFILES, "profile")
    stored_tables.MAIL_PRINCIPALS.add_row(
        call.world,
        call.server,
        {"profile_id": int(str(profile)), "is_default": call.get_number("@is_default")},
    )


def _build_delete_procedure(table: StoredTable[RowT], kind: str) -> Callable[[ProcedureCall], None]:
    def run(call: ProcedureCall) -> None:
        number = _find_number(call, table, kind)
        table.remove_rows(call.world, call.server, lambda row: row["id"] == number)
        stored_tables.MAIL_PROFILE_ACCOUNTS.remove_rows(
            call.world, call.server, lambda row: row.get(f"{kind}_id") == number
        )
        stored_tables.MAIL_PRINCIPALS.remove_rows(
            call.world, call.server, lambda row: row.get(f"{kind}_id") == number
        )

    return run


def _queue_mail(call: ProcedureCall) -> None:
    """Execute sp_send_dbmail: queue a mail, which is never sent.

    Raises 15281 if Database Mail is off, 14607 without a profile, 14624 without recipients.
    """
    # Database Mail is off by default
    if not get_option_value(call.machine.context, MAIL_COMPONENT):
        raise SqlError(15281, "procedure", f"dbo.{call.name}", MAIL_COMPONENT, MAIL_COMPONENT, MAIL_COMPONENT)
    profiles = stored_tables.MAIL_PROFILES.list_rows(call.world, call.server)
    if call.get_argument("@profile_name") is not None:
        number = _find_number(call, stored_tables.MAIL_PROFILES, "profile")
    else:
        default = stored_tables.MAIL_PRINCIPALS.find_row(call.world, call.server, "is_default", 1)
        if default is None or not profiles:
            raise SqlError(14636)
        number = int(str(default["profile_id"]))
    if not any(call.get_text(name) for name in ("@recipients", "@copy_recipients", "@blind_copy_recipients")):
        raise SqlError(14624, "@recipients, @copy_recipients, @blind_copy_recipients")
    mail = stored_tables.MAILS.add_row(
        call.world,
        call.server,
        {
            "profile_id": number,
            "recipients": call.get_text("@recipients"),
            "copy_recipients": call.get_text("@copy_recipients"),
            "subject": call.get_text("@subject") or "SQL Server Message",
            "body": call.get_text("@body"),
            "sent_status": "unsent",
            "send_request_date": call.machine.context.get_datetime_value(),
        },
    )
    call.outputs["@mailitem_id"] = mail
    call.machine.append_message(f"Mail (Id: {mail}) queued.")
    call.machine.report_unsimulated("delivery of mail; it stays in msdb.dbo.sysmail_allitems")


def _reject_call(call: ProcedureCall) -> None:
    raise UnsimulatedFeatureError(call.name)


def _start_mail(call: ProcedureCall) -> None:
    """Execute sysmail_start_sp: do nothing, because the mail queue is always active."""


PROCEDURES: Final[Procedures] = {
    "sp_add_operator": _add_operator,
    "sp_update_operator": _update_operator,
    "sp_delete_operator": _delete_operator,
    "sp_add_alert": _add_alert,
    "sp_update_alert": _update_alert,
    "sp_delete_alert": _delete_alert,
    "sp_add_notification": _add_notification,
    "sp_update_notification": _add_notification,
    "sp_delete_notification": _delete_notification,
    "sp_add_category": _add_category,
    "sp_delete_category": _delete_category,
    "sp_notify_operator": _notify_operator,
    "sysmail_add_profile_sp": _add_profile,
    "sysmail_add_account_sp": _add_account,
    "sysmail_add_profileaccount_sp": _join_profile,
    "sysmail_add_principalprofile_sp": _grant_profile,
    "sysmail_delete_profile_sp": _build_delete_procedure(stored_tables.MAIL_PROFILES, "profile"),
    "sysmail_delete_account_sp": _build_delete_procedure(stored_tables.MAIL_ACCOUNTS, "account"),
    "sysmail_configure_sp": _reject_call,
    "sysmail_start_sp": _start_mail,
    "sysmail_stop_sp": _reject_call,
    "sp_send_dbmail": _queue_mail,
}
