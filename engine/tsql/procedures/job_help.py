"""sp_help_job and sp_help_jobhistory: the jobs of SQL Server Agent, their current state and their history."""

import operator
from typing import Final

from engine.messages import SqlError
from engine.tsql import catalog
from engine.tsql.batches import stored_rows, stored_tables
from engine.tsql.catalog.view import Record
from engine.tsql.procedures.call import ProcedureCall, Procedures
from engine.tsql.procedures.jobs import require_job_name
from engine.tsql.query.plans import UnsimulatedFeatureError
from engine.tsql.scalars.values import Scalar, to_text

EXECUTING, BETWEEN_RETRIES, IDLE = 1, 3, 4
"""Values of current_execution_status. Documented [DOC: sp_help_job]."""

_COLUMN_LIST: Final = """
job_id originating_server name enabled description start_step_id category owner notify_level_eventlog
notify_level_email notify_level_netsend notify_level_page notify_email_operator notify_netsend_operator
notify_page_operator delete_level date_created date_modified version_number last_run_date last_run_time
last_run_outcome next_run_date next_run_time next_run_schedule_id current_execution_status current_execution_step
current_retry_attempt has_step has_schedule has_target type
"""
_JOB_COLUMNS: Final = tuple(_COLUMN_LIST.split())
"""Column names of sp_help_job. Documented [DOC: sp_help_job]."""


def _build_row(call: ProcedureCall, job: Record, servers: dict[Scalar, Record]) -> Record:
    world, server, name = call.world, call.server, to_text(job["name"])
    context = call.machine.context
    job_row = stored_tables.JOBS.find_row(world, server, "job", name) or {}
    last_server = servers.get(job["job_id"])
    activity = stored_rows.find_activity(world, server, name) or {}
    running = stored_rows.is_job_running(world, server, name)
    steps = stored_rows.list_steps(world, server, name)
    step = next((candidate for candidate in steps if candidate["step_id"] == activity.get("step_id")), None)
    categories = {
        row["category_id"]: row["name"] for row in catalog.list_view_rows(context, "msdb.dbo.syscategories")
    }
    operator = stored_tables.OPERATORS.find_row(world, server, "id", job["notify_email_operator_id"])
    schedules = [row for row in stored_tables.JOB_SCHEDULES.list_rows(world, server) if row["job"] == name]
    attempt = int(str(activity.get("attempt") or 0)) if running else 0
    waits = attempt > 0 and not any(window.endswith(f":{name}") for window in world.batches)
    return {
        **job,
        "category": categories.get(job["category_id"]),
        "owner": job_row.get("owner") or "sa",
        "notify_level_netsend": 0,
        "notify_level_page": 0,
        "notify_email_operator": operator["name"] if operator is not None else "(unknown)",
        "notify_netsend_operator": "(unknown)",
        "notify_page_operator": "(unknown)",
        "delete_level": 0,
        "last_run_date": last_server["last_run_date"] if last_server is not None else 0,
        "last_run_time": last_server["last_run_time"] if last_server is not None else 0,
        "last_run_outcome": last_server["last_run_outcome"] if last_server is not None else 5,
        "next_run_date": 0,
        "next_run_time": 0,
        "next_run_schedule_id": 0,
        "current_execution_status": IDLE if not running else BETWEEN_RETRIES if waits else EXECUTING,
        "current_execution_step": f"{to_text(step['step_id'])} ({to_text(step['step_name'])})"
        if running and step
        else "0 (unknown)",
        "current_retry_attempt": attempt,
        "has_step": len(steps),
        "has_schedule": len(schedules),
        "has_target": int(last_server is not None),
        "type": int(last_server is not None),
    }


def _is_job_matching(call: ProcedureCall, row: Record) -> bool:
    """Return whether the job matches the filter parameters of the call [DOC: sp_help_job]."""
    owner, category = call.get_text("@owner_login_name"), call.get_text("@category_name")
    if owner and to_text(row["owner"]).casefold() != owner.casefold():
        return False
    if category and to_text(row["category"]).casefold() != category.casefold():
        return False
    if call.get_argument("@enabled") is not None and row["enabled"] != call.get_number("@enabled"):
        return False
    status = call.get_argument("@execution_status")
    if status is None:
        return True
    current_execution_status = row["current_execution_status"]
    return (
        current_execution_status != IDLE
        if call.get_number("@execution_status") == 0
        else current_execution_status == call.get_number("@execution_status")
    )


_ASPECTS: Final = ("", "JOB")


def _show_jobs(call: ProcedureCall) -> None:
    is_single = call.get_argument("@job_name") is not None or call.get_argument("@job_id") is not None
    single_job = require_job_name(call) if is_single else None
    if call.get_text("@job_aspect").upper() not in _ASPECTS:
        raise UnsimulatedFeatureError(f"sp_help_job @job_aspect = '{call.get_text('@job_aspect')}'")
    context = call.machine.context
    servers = {row["job_id"]: row for row in catalog.list_view_rows(context, "msdb.dbo.sysjobservers")}
    found_rows = [
        _build_row(call, job, servers)
        for job in catalog.list_view_rows(context, "msdb.dbo.sysjobs")
        if single_job in (None, job["name"])
    ]
    rows = [row for row in found_rows if _is_job_matching(call, row)]
    call.show_rows(_JOB_COLUMNS, [tuple(row.get(column) for column in _JOB_COLUMNS) for row in rows])
    if call.machine.insert_exec_target or not rows:
        return
    if is_single and not call.get_text("@job_aspect"):
        call.machine.report_partly_simulated(
            "the result sets of sp_help_job for steps, schedules and targets; see sp_help_jobstep"
        )


# --- sp_help_jobhistory [DOC: sp_help_jobhistory] ---------------------------------------------------------

_SUMMARY_COLUMNS: Final = """
job_id job_name run_status run_date run_time run_duration operator_emailed operator_netsent operator_paged
retries_attempted server
"""
_FULL_COLUMNS: Final = """
instance_id job_id job_name step_id step_name sql_message_id sql_severity message run_status run_date run_time
run_duration operator_emailed operator_netsent operator_paged retries_attempted server
"""
_SEM_COLUMNS: Final = """
step_id step_name message run_status run_date run_time run_duration operator_emailed operator_netsent operator_paged
"""
_MODE_COLUMNS: Final = {"SUMMARY": _SUMMARY_COLUMNS, "FULL": _FULL_COLUMNS, "SEM": _SEM_COLUMNS}
"""Value of @mode -> columns of the result set.

The mode SEM, which an older tool used, is known from the text of the procedure.
"""

_HISTORY_FILTERS: Final = {
    "@step_id": ("step_id", operator.eq),
    "@sql_message_id": ("sql_message_id", operator.eq),
    "@sql_severity": ("sql_severity", operator.eq),
    "@run_status": ("run_status", operator.eq),
    "@start_run_date": ("run_date", operator.ge),
    "@start_run_time": ("run_time", operator.ge),
    "@end_run_date": ("run_date", operator.le),
    "@end_run_time": ("run_time", operator.le),
    "@minimum_run_duration": ("run_duration", operator.ge),
    "@minimum_retries": ("retries_attempted", operator.ge),
}
"""Filter parameter -> (column, function that compares the column with the parameter)."""


def _show_history(call: ProcedureCall) -> None:
    """Show the history of jobs, newest first.

    Raises 14262 for an unknown job, 14266 for an invalid filter or mode.
    """
    is_single = call.get_argument("@job_name") is not None or call.get_argument("@job_id") is not None
    single_job = require_job_name(call) if is_single else None
    if not 0 <= call.get_number("@run_status") <= 5:
        raise SqlError(14266, "@run_status", "0..5")
    mode = (call.get_text("@mode") or "SUMMARY").strip().upper()
    if mode not in _MODE_COLUMNS:
        raise SqlError(14266, "@mode", "SUMMARY, FULL, SEM")
    context = call.machine.context
    names = {row["job_id"]: row["name"] for row in catalog.list_view_rows(context, "msdb.dbo.sysjobs")}
    rows = [
        {**row, "job_name": names[row["job_id"]]}
        for row in catalog.list_view_rows(context, "msdb.dbo.sysjobhistory")
        if row["job_id"] in names
        and single_job in (None, names[row["job_id"]])
        and _matches_filters(call, row)
    ]
    if call.get_number("@oldest_first") != 1:
        rows.reverse()
    columns = _MODE_COLUMNS[mode].split()
    call.show_rows(columns, [tuple(row.get(column) for column in columns) for row in rows])


def _matches_filters(call: ProcedureCall, row: Record) -> bool:
    server = call.get_text("@server").strip()
    if server and server.casefold() != to_text(row["server"]).casefold():
        return False
    return all(
        call.get_argument(parameter) is None or compare(int(str(row[column])), call.get_number(parameter))
        for parameter, (column, compare) in _HISTORY_FILTERS.items()
    )


PROCEDURES: Final[Procedures] = {
    "sp_help_job": _show_jobs,
    "sp_help_jobhistory": _show_history,
}
