"""Tables of msdb about SQL Server Agent and Database Mail, from what procedures have written down (ledger.py)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from engine.identifiers import unique_id
from engine.tsql.batches import ledger
from engine.tsql.batches.context import Context
from engine.tsql.catalog.view import Record, view
from engine.tsql.scalars.values import Scalar, to_text


def _job_id(context: Context, job: Scalar) -> Scalar:
    return unique_id("job", context.session.server, to_text(job)) if job else None


# --- jobs ------------------------------------------------------------------------------------------------


def _jobs(context: Context) -> Iterable[Record]:
    for job in context.server.jobs:
        kept = ledger.find(context.world, context.session.server, "sysjobs", "job", job.name) or {}
        long_ago = context.now(-86_400_00 * 100)
        yield {
            "job_id": _job_id(context, job.name),
            "originating_server": context.session.server,
            "originating_server_id": 0,
            "name": job.name,
            "enabled": int(job.enabled),
            "description": kept.get("description", "No description available."),
            "start_step_id": kept.get("start_step_id", 1),
            "category_id": 0,
            "owner_sid": b"\x01",
            "date_created": kept.get("date_created", long_ago),
            "date_modified": kept.get("date_modified", long_ago),
            "notify_level_eventlog": kept.get("notify_level_eventlog", 0),
            "notify_level_email": kept.get("notify_level_email", 0),
            "notify_level_netsend": 0,
            "notify_level_page": 0,
            "notify_email_operator_id": 0,
            "notify_netsend_operator_id": 0,
            "notify_page_operator_id": 0,
            "delete_level": 0,
            "version_number": 3,
        }


view("msdb.dbo.sysjobs", _jobs)
view("msdb.dbo.sysjobs_view", _jobs)


def _steps(context: Context) -> Iterable[Record]:
    """Steps as they were given; a job that came with the server has one whose command is not known."""
    given = ledger.rows(context.world, context.session.server, "sysjobsteps")
    having = {to_text(row["job"]).casefold() for row in given}
    for row in given:
        record = {name: value for name, value in row.items() if name not in ("id", "job")}
        yield {**record, "job_id": _job_id(context, row["job"])}
    for job in context.server.jobs:
        made = ledger.find(context.world, context.session.server, "sysjobs", "job", job.name) is not None
        if not made and job.name.casefold() not in having:
            yield {
                "job_id": _job_id(context, job.name),
                "step_id": 1,
                "step_name": job.name,
                "subsystem": "TSQL",
                "command": "",
                "database_name": job.database or "master",
            }


view("msdb.dbo.sysjobsteps", _steps)

# --- what is shown as it was written down ----------------------------------------------------------------

_Renamed = Mapping[str, str]


def _book(
    table: str, renamed: _Renamed, more: Callable[[Context, Record], Record] | None = None
) -> Callable[[Context], Iterable[Record]]:
    """The rows of a ledger: its columns under the names of the table, those without one left out."""

    def rows(context: Context) -> Iterable[Record]:
        for row in ledger.rows(context.world, context.session.server, table):
            record = {renamed[name]: value for name, value in row.items() if name in renamed}
            yield {**record, **(more(context, row) if more is not None else {})}

    return rows


def _same(names: str, **renamed: str) -> _Renamed:
    return {**{name: name for name in names.split()}, **renamed}


def _with_job(context: Context, row: Record) -> Record:
    return {"job_id": _job_id(context, row.get("job"))}


def _history(context: Context, row: Record) -> Record:
    return {**_with_job(context, row), "server": context.session.server, "retries_attempted": 0}


def _alert(context: Context, row: Record) -> Record:
    notified = ledger.find(context.world, context.session.server, "sysnotifications", "alert_id", row["id"])
    wmi = row.get("wmi_query")
    return {
        **_with_job(context, row),
        "event_source": "MSSQLSERVER",
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
        "category_id": 0,
        "flags": 0,
    }


view(
    "msdb.dbo.sysalerts",
    _book(
        "sysalerts",
        _same(
            """id name enabled notification_message include_event_description event_description_keyword
            occurrence_count"""
        ),
        _alert,
    ),
)
view(
    "msdb.dbo.sysoperators",
    _book("sysoperators", _same("id name enabled email_address pager_address pager_days netsend_address")),
)
view(
    "msdb.dbo.sysnotifications", _book("sysnotifications", _same("alert_id operator_id notification_method"))
)
view(
    "msdb.dbo.sysjobhistory",
    _book(
        "sysjobhistory",
        _same("step_id step_name message run_status run_date run_time run_duration", id="instance_id"),
        _history,
    ),
)
_SCHEDULE: Final = """enabled freq_type freq_interval freq_subday_type freq_subday_interval freq_relative_interval
freq_recurrence_factor active_start_date active_end_date active_start_time active_end_time"""
view(
    "msdb.dbo.sysschedules",
    _book(
        "sysschedules",
        _same(_SCHEDULE, id="schedule_id", name="name"),
        lambda context, row: {"schedule_uid": unique_id("schedule", context.session.server, row["id"])},
    ),
)
view("msdb.dbo.sysjobschedules", _book("sysjobschedules", _same("schedule_id"), _with_job))


def _activity(context: Context) -> Iterable[Record]:
    """Jobs that have run here or are running: when they began and ended last."""
    last: dict[str, Record] = {}
    for row in ledger.rows(context.world, context.session.server, "sysjobhistory"):
        last[to_text(row["job"])] = row
    for job in context.server.jobs:
        row = last.get(job.name, {})
        running = next(
            (
                run
                for name, run in context.world.batches.items()
                if name.startswith(context.session.server) and name.endswith(f":{job.name}")
            ),
            None,
        )
        yield {
            "session_id": 1,
            "job_id": _job_id(context, job.name),
            "start_execution_date": context.now(running.started_tick) if running is not None else None,
            "last_executed_step_id": row.get("step_id"),
        }


view("msdb.dbo.sysjobactivity", _activity)
view(
    "msdb.dbo.sysjobservers",
    lambda context: (
        {"job_id": _job_id(context, job.name), "server_id": 0, "last_run_outcome": 5}
        for job in context.server.jobs
    ),
)


def _categories(context: Context) -> Iterable[Record]:
    yield {"category_id": 0, "category_class": 1, "category_type": 1, "name": "[Uncategorized (Local)]"}
    yield {"category_id": 3, "category_class": 1, "category_type": 1, "name": "Database Maintenance"}
    for row in ledger.rows(context.world, context.session.server, "syscategories"):
        yield {
            "category_id": 100 + int(str(row["id"])),
            "category_class": row["category_class"],
            "category_type": row["category_type"],
            "name": row["name"],
        }


view("msdb.dbo.syscategories", _categories)

# --- Database Mail ---------------------------------------------------------------------------------------

view("msdb.dbo.sysmail_profile", _book("sysmail_profile", _same("name description", id="profile_id")))
view(
    "msdb.dbo.sysmail_account",
    _book(
        "sysmail_account",
        _same("name description email_address display_name replyto_address", id="account_id"),
    ),
)
view(
    "msdb.dbo.sysmail_profileaccount",
    _book("sysmail_profileaccount", _same("profile_id account_id sequence_number")),
)
view("msdb.dbo.sysmail_principalprofile", _book("sysmail_principalprofile", _same("profile_id is_default")))
_MAILS: Final = _book(
    "sysmail_mailitems",
    _same(
        "profile_id recipients copy_recipients subject body send_request_date sent_status", id="mailitem_id"
    ),
)
for _name in ("sysmail_allitems", "sysmail_unsentitems", "sysmail_mailitems"):
    view(f"msdb.dbo.{_name}", _MAILS)
