"""Procedures that create, change, start and stop SQL Server Agent jobs, their steps and schedules."""

from typing import Final

from engine.identifiers import make_unique_id
from engine.messages import SqlError
from engine.model import Job
from engine.protocol import jobs
from engine.tsql import catalog
from engine.tsql.batches import stored_rows, stored_tables
from engine.tsql.batches.stored_tables import StepRow
from engine.tsql.procedures.call import ProcedureCall, Procedures
from engine.tsql.query.plans import UnsimulatedFeatureError
from engine.tsql.scalars.types import format_guid
from engine.tsql.scalars.values import Scalar, to_text


def require_job_name(call: ProcedureCall) -> str:
    """Return the name of the job in @job_name or @job_id. Raises 14262 for an unknown job."""
    if call.get_argument("@job_name") is not None:
        return jobs.find_job(call.world, call.server, call.get_text("@job_name")).name
    job_id = call.get_argument("@job_id")
    wanted_id = format_guid(job_id) if isinstance(job_id, bytes) else call.get_text("@job_id").upper()
    for job in call.world.instances[call.server].jobs:
        if make_unique_id("job", call.server, job.name) == wanted_id:
            return job.name
    raise SqlError(14262, "@job_id", call.get_text("@job_id"))


def _add_job(call: ProcedureCall) -> None:
    _refuse_unsimulated_parameters(call)
    _check_owner_and_category(call)
    enabled = call.get_argument("@enabled") is None or bool(call.get_number("@enabled"))
    name = call.get_text("@job_name")
    call.append_messages(jobs.add_job(call.world, call.server, Job(name=name, enabled=enabled)))
    stored_tables.JOBS.add_row(
        call.world,
        call.server,
        {
            "job": name,
            "description": call.get_argument("@description") or "No description available.",
            "start_step_id": call.get_number("@start_step_id", 1),
            "notify_level_eventlog": call.get_number("@notify_level_eventlog", 2),
            "notify_level_email": call.get_number("@notify_level_email"),
            "notify_email_operator_id": _find_operator_id(call),
            "owner": call.get_text("@owner_login_name") or call.machine.session.login,
            "category_id": _find_category_id(call),
            "version_number": 1,
            "targeted": 0,
            "date_created": call.machine.context.get_datetime_value(),
            "date_modified": call.machine.context.get_datetime_value(),
        },
    )
    call.outputs["@job_id"] = make_unique_id("job", call.server, name)


def _find_category_id(call: ProcedureCall) -> int:
    """Return the ID of the job category; 0 without a category. Raises 14262 for an unknown category.

    If the call contains both name and ID, the name decides [DOC: sp_add_job].
    """
    column, parameter = "name", "@category_name"
    if call.get_argument(parameter) is None:
        column, parameter = "category_id", "@category_id"
    wanted = call.get_text(parameter)
    if not wanted:
        return 0
    for row in catalog.list_view_rows(call.machine.context, "msdb.dbo.syscategories"):
        if to_text(row[column]).casefold() == wanted.casefold():
            return int(str(row["category_id"]))
    raise SqlError(14262, parameter, wanted)


def _find_operator_id(call: ProcedureCall) -> int:
    """Return the id of the operator that receives mail; 0 without an operator.

    Raises 14262 for an unknown operator.
    """
    parameter = "@notify_email_operator_name"
    name = call.get_text(parameter)
    if not name:
        return 0
    row = stored_tables.OPERATORS.find_row(call.world, call.server, "name", name)
    if row is None:
        raise SqlError(14262, parameter, name)
    return int(str(row["id"]))


def _refuse_unsimulated_parameters(call: ProcedureCall) -> None:
    """Raise UnsimulatedFeatureError for net send, pager and automatic deletion of the job."""
    for parameter in ("@notify_level_netsend", "@notify_level_page", "@delete_level"):
        if call.get_number(parameter):
            raise UnsimulatedFeatureError(f"{call.name} {parameter} = {call.get_number(parameter)}")


def _increase_job_version(call: ProcedureCall, job: str) -> None:
    """Increase the version number of the job, as each change of a job does [DOC: sysjobs]."""
    row = stored_tables.JOBS.find_row(call.world, call.server, "job", job)
    if row is not None:
        stored_tables.JOBS.change_rows(
            call.world,
            call.server,
            lambda row_in_table: row_in_table["job"] == job,
            {
                "version_number": int(str(row.get("version_number", 1))) + 1,
                "date_modified": call.machine.context.get_datetime_value(),
            },
        )


def _check_owner_and_category(call: ProcedureCall) -> None:
    """Raise 14234 for an unknown owner or category, as sp_verify_job does."""
    for parameter, view, source in (
        ("@owner_login_name", "sys.server_principals", "sp_helplogins [excluding Windows NT groups]"),
        ("@category_name", "msdb.dbo.syscategories", "sp_help_category"),
    ):
        value = call.get_text(parameter)
        known_names = {
            to_text(row["name"]).lower() for row in catalog.list_view_rows(call.machine.context, view)
        }
        if value and value.lower() not in known_names and not value.startswith("$("):
            raise SqlError(14234, parameter, source)


def _update_job(call: ProcedureCall) -> None:
    name = require_job_name(call)
    _refuse_unsimulated_parameters(call)
    _check_owner_and_category(call)
    if call.get_argument("@enabled") is not None:
        call.append_messages(
            jobs.update_job(call.world, call.server, name, enabled=bool(call.get_number("@enabled")))
        )
    columns = {
        "@description": "description",
        "@start_step_id": "start_step_id",
        "@notify_level_email": "notify_level_email",
        "@notify_level_eventlog": "notify_level_eventlog",
    }
    values = {column: call.get_argument(parameter) for parameter, column in columns.items()}
    changes = {column: value for column, value in values.items() if value is not None}
    if call.get_text("@owner_login_name"):
        changes["owner"] = call.get_text("@owner_login_name")
    if call.get_text("@category_name"):
        changes["category_id"] = _find_category_id(call)
    if call.get_argument("@notify_email_operator_name") is not None:
        changes["notify_email_operator_id"] = _find_operator_id(call)
    stored_tables.JOBS.change_rows(
        call.world, call.server, lambda row: row["job"] == name, stored_tables.JOBS.build_row(changes)
    )
    _increase_job_version(call, name)
    if call.get_argument("@new_name") is not None:
        call.machine.report_unsimulated("a new name for a job")


def _delete_job(call: ProcedureCall) -> None:
    name = require_job_name(call)
    call.append_messages(jobs.delete_job(call.world, call.server, name))
    stored_tables.JOBS.remove_rows(call.world, call.server, lambda row: row["job"] == name)
    stored_tables.STEPS.remove_rows(call.world, call.server, lambda row: row["job"] == name)
    stored_tables.JOB_SCHEDULES.remove_rows(call.world, call.server, lambda row: row["job"] == name)
    stored_tables.HISTORY.remove_rows(call.world, call.server, lambda row: row["job"] == name)
    stored_tables.ACTIVITY.remove_rows(call.world, call.server, lambda row: row["job"] == name)


def _start_job(call: ProcedureCall) -> None:
    name = require_job_name(call)
    if not _is_assigned_to_server(call, name):
        raise SqlError(14256, name, make_unique_id("job", call.server, name))
    invoker = f"User {call.machine.session.login}"
    stored_rows.start_job(call.world, call.server, name, invoker, step_name=call.get_text("@step_name"))
    call.machine.append_message(f"Job '{name}' started successfully.")


def _stop_job(call: ProcedureCall) -> None:
    name = require_job_name(call)
    stored_rows.stop_job(call.world, call.server, name, f"User {call.machine.session.login}")
    call.machine.append_message(f"Job '{name}' stopped successfully.")


# --- steps -----------------------------------------------------------------------------------------------

_STEP_COLUMNS: Final = {
    parameter: parameter.lstrip("@")
    for parameter in (
        "@step_name", "@subsystem", "@command", "@database_name", "@on_success_action", "@on_success_step_id",
        "@on_fail_action", "@on_fail_step_id", "@retry_attempts", "@retry_interval", "@output_file_name", "@flags",
    )
}  # fmt: skip
_STEP_DEFAULTS: Final[dict[str, Scalar]] = {
    "subsystem": "TSQL",
    "command": "",
    "database_name": "master",
    "on_success_action": 1,
    "on_success_step_id": 0,
    "on_fail_action": 2,
    "on_fail_step_id": 0,
    "retry_attempts": 0,
    "retry_interval": 0,
    "flags": 0,
}
"""Default values of a job step's columns. Documented [DOC: sp_add_jobstep]."""


def _add_step(call: ProcedureCall) -> None:
    name = require_job_name(call)
    number = call.get_number("@step_id", len(stored_rows.list_steps(call.world, call.server, name)) + 1)
    options = {column: call.get_argument(parameter) for parameter, column in _STEP_COLUMNS.items()}
    values = {**_STEP_DEFAULTS, **{column: value for column, value in options.items() if value is not None}}
    _store_step(call, name, number, values)


SUBSYSTEMS: Final = frozenset(
    {
        "ACTIVESCRIPTING", "ANALYSISCOMMAND", "ANALYSISQUERY", "CMDEXEC", "DISTRIBUTION", "LOGREADER", "MERGE",
        "POWERSHELL", "QUEUEREADER", "SNAPSHOT", "SSIS", "TSQL",
    }
)  # fmt: skip
"""Subsystems of job steps. Documented [DOC: sp_add_jobstep]."""


def _store_step(call: ProcedureCall, job: str, number: int, values: dict[str, Scalar]) -> None:
    values["subsystem"] = to_text(values["subsystem"]).strip()
    if to_text(values["subsystem"]).upper() not in SUBSYSTEMS:
        raise SqlError(14234, "@subsystem", "sp_enum_sqlagent_subsystems")
    # 14261: another step has the name; 14266: the action is not 1 to 4
    name = to_text(values.get("step_name", "")).lower()
    for other_step in stored_rows.list_steps(call.world, call.server, job):
        if other_step["step_id"] != number and to_text(other_step["step_name"]).lower() == name:
            raise SqlError(14261, "@step_name", to_text(values["step_name"]))
    for column in ("on_success_action", "on_fail_action"):
        if values[column] not in (1, 2, 3, 4):
            raise SqlError(14266, f"@{column}", "1, 2, 3, 4")
    stored_tables.STEPS.add_row(
        call.world,
        call.server,
        stored_tables.STEPS.build_row({"job": job, "step_id": number, **values}),
    )
    _increase_job_version(call, job)
    if to_text(values["subsystem"]).upper() != "TSQL":
        call.machine.report_unsimulated(
            f"steps of the subsystem {to_text(values['subsystem'])} are kept and do nothing"
        )


def _require_step(call: ProcedureCall, name: str) -> StepRow:
    number = call.get_number("@step_id")
    for step in stored_rows.list_steps(call.world, call.server, name):
        if step["step_id"] == number:
            return step
    raise SqlError(14262, "@step_id", number)


def _update_step(call: ProcedureCall) -> None:
    step = _require_step(call, require_job_name(call))
    values = {column: call.get_argument(parameter) for parameter, column in _STEP_COLUMNS.items()}
    changes = {column: value for column, value in values.items() if value is not None}
    stored_tables.STEPS.change_rows(
        call.world, call.server, lambda row: row["id"] == step["id"], stored_tables.STEPS.build_row(changes)
    )
    _increase_job_version(call, to_text(step["job"]))


def _delete_step(call: ProcedureCall) -> None:
    name = require_job_name(call)
    steps = stored_rows.list_steps(call.world, call.server, name)
    if call.get_number("@step_id"):
        steps = [_require_step(call, name)]
    removed_ids = {step["id"] for step in steps}
    stored_tables.STEPS.remove_rows(call.world, call.server, lambda row: row["id"] in removed_ids)
    _increase_job_version(call, name)


# --- schedules -------------------------------------------------------------------------------------------

_SCHEDULE_COLUMNS: Final = {
    parameter: parameter.lstrip("@")
    for parameter in (
        "@enabled", "@freq_type", "@freq_interval", "@freq_subday_type", "@freq_subday_interval",
        "@freq_relative_interval", "@freq_recurrence_factor", "@active_start_date", "@active_end_date",
        "@active_start_time", "@active_end_time",
    )
}  # fmt: skip


def _store_schedule(call: ProcedureCall, parameter: str) -> int:
    """Store a schedule and return its ID.

    The schedule has no effect, because this simulation starts no jobs at scheduled times.
    """
    options = {column: call.get_argument(name) for name, column in _SCHEDULE_COLUMNS.items()}
    values = {"enabled": 1, **{column: value for column, value in options.items() if value is not None}}
    name = call.get_text(parameter)
    number = stored_tables.SCHEDULES.add_row(
        call.world, call.server, stored_tables.SCHEDULES.build_row({"name": name, **values})
    )
    call.machine.report_unsimulated(
        f"schedule '{name}' is kept; jobs run here when an alert or sp_start_job starts them"
    )
    call.outputs["@schedule_id"] = number
    call.outputs["@schedule_uid"] = make_unique_id("schedule", call.server, number)
    return number


def _add_schedule(call: ProcedureCall) -> None:
    _store_schedule(call, "@schedule_name")


def _add_job_schedule(call: ProcedureCall) -> None:
    job = require_job_name(call)
    number = _store_schedule(call, "@name")
    stored_tables.JOB_SCHEDULES.add_row(call.world, call.server, {"job": job, "schedule_id": number})


def _attach_schedule(call: ProcedureCall) -> None:
    job = require_job_name(call)
    number: Scalar = call.get_argument("@schedule_id")
    if number is None:
        schedule_row = stored_tables.SCHEDULES.find_row(
            call.world, call.server, "name", call.get_text("@schedule_name")
        )
        if schedule_row is None:
            raise SqlError(14262, "@schedule_name", call.get_text("@schedule_name"))
        number = schedule_row["id"]
    stored_tables.JOB_SCHEDULES.add_row(call.world, call.server, {"job": job, "schedule_id": number})


def _delete_schedule(call: ProcedureCall) -> None:
    column, value = ("id", call.get_argument("@schedule_id"))
    if value is None:
        column, value = "name", call.get_text("@schedule_name") or call.get_text("@name")
    schedule_row = stored_tables.SCHEDULES.find_row(call.world, call.server, column, value)
    if schedule_row is None:
        raise SqlError(14262, f"@schedule_{column}", to_text(value))
    stored_tables.SCHEDULES.remove_rows(call.world, call.server, lambda row: row["id"] == schedule_row["id"])
    stored_tables.JOB_SCHEDULES.remove_rows(
        call.world,
        call.server,
        lambda row: row["schedule_id"] == schedule_row["id"],
    )


def _add_server(call: ProcedureCall) -> None:
    """Execute sp_add_jobserver: assign the job to this server. Raises 14269 if it is already assigned."""
    name = require_job_name(call)
    if _is_assigned_to_server(call, name):
        raise SqlError(14269, name, call.server)
    stored_tables.JOBS.change_rows(call.world, call.server, lambda row: row["job"] == name, {"targeted": 1})


def _remove_server(call: ProcedureCall) -> None:
    name = require_job_name(call)
    stored_tables.JOBS.change_rows(call.world, call.server, lambda row: row["job"] == name, {"targeted": 0})


def _is_assigned_to_server(call: ProcedureCall, job: str) -> bool:
    """Return whether the job is assigned to a server.

    A job of the scenario always is. A job that a script creates needs sp_add_jobserver.
    """
    row = stored_tables.JOBS.find_row(call.world, call.server, "job", job)
    return row is None or bool(row.get("targeted", 1))


PROCEDURES: Final[Procedures] = {
    "sp_add_job": _add_job,
    "sp_update_job": _update_job,
    "sp_delete_job": _delete_job,
    "sp_start_job": _start_job,
    "sp_stop_job": _stop_job,
    "sp_add_jobstep": _add_step,
    "sp_update_jobstep": _update_step,
    "sp_delete_jobstep": _delete_step,
    "sp_add_schedule": _add_schedule,
    "sp_add_jobschedule": _add_job_schedule,
    "sp_attach_schedule": _attach_schedule,
    "sp_delete_schedule": _delete_schedule,
    "sp_delete_jobschedule": _delete_schedule,
    "sp_add_jobserver": _add_server,
    "sp_delete_jobserver": _remove_server,
}
