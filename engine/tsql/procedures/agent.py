"""Procedures of SQL Server Agent in msdb: jobs, alerts, operators; and linked servers."""

from __future__ import annotations

from typing import Final

from engine.messages import SqlError
from engine.model import Job
from engine.protocol import jobs
from engine.tsql.catalog.view import unique_id
from engine.tsql.plans import Unsimulated
from engine.tsql.procedures.call import Call, Procedures, procedure
from engine.tsql.values import guid_text


def _name_of(call: Call) -> str:
    """The job that @job_name or @job_id names. 14262 if there is none."""
    if call.get("@job_name") is not None:
        return jobs.find(call.world, call.server, call.text("@job_name")).name
    given = call.get("@job_id")
    wanted = guid_text(given) if isinstance(given, bytes) else call.text("@job_id").upper()
    for job in call.world.servers[call.server].jobs:
        if unique_id("job", call.server, job.name) == wanted:
            return job.name
    raise SqlError(14262, call.text("@job_id"))


def _update_job(call: Call) -> None:
    name = _name_of(call)
    if call.get("@enabled") is None:
        _accepted(call)
        return
    call.say(jobs.update(call.world, call.server, name, enabled=bool(call.number("@enabled"))))


def _add_job(call: Call) -> None:
    enabled = call.get("@enabled") is None or bool(call.number("@enabled"))
    name = call.text("@job_name")
    call.say(jobs.add(call.world, call.server, Job(name=name, enabled=enabled)))
    call.outputs["@job_id"] = unique_id("job", call.server, name)


def _delete_job(call: Call) -> None:
    call.say(jobs.delete(call.world, call.server, _name_of(call)))


def _help_job(call: Call) -> None:
    only = _name_of(call) if call.get("@job_name") is not None or call.get("@job_id") is not None else None
    rows = [
        (unique_id("job", call.server, job.name), call.server, job.name, int(job.enabled), job.database)
        for job in call.world.servers[call.server].jobs
        if only in (None, job.name)
    ]
    call.show(("job_id", "originating_server", "name", "enabled", "database_name"), rows)


def _start_job(call: Call) -> None:
    name = _name_of(call)
    if not jobs.agent_runs(call.world, call.server):
        raise SqlError(22022)
    raise Unsimulated(f"the run of job '{name}' at this moment")


def _accepted(call: Call) -> None:
    """A part of a job, alert or operator that changes nothing here."""
    call.machine.not_simulated(f"{call.name} is taken and has no effect")


def _add_linked_server(call: Call) -> None:
    call.say(jobs.add_linked_server(call.world, call.server, call.text("@server")))


def _drop_server(call: Call) -> None:
    call.say(jobs.drop_linked_server(call.world, call.server, call.text("@server")))


def _linked_servers(call: Call) -> None:
    names = (call.server, *call.world.servers[call.server].linked_servers)
    rows = [(name, "SQLNCLI", "SQL Server", name) for name in names]
    call.show(("SRV_NAME", "SRV_PROVIDERNAME", "SRV_PRODUCT", "SRV_DATASOURCE"), rows)


_JOB_PARTS: Final = """
@job_id? @job_name? @step_id? @step_name? @subsystem? @command? @database_name? @on_success_action?
@on_fail_action? @retry_attempts? @retry_interval? @cmdexec_success_code? @on_success_step_id?
@on_fail_step_id? @os_run_priority? @flags? @server_name? @name? @enabled? @freq_type? @freq_interval?
@freq_subday_type? @freq_subday_interval? @freq_relative_interval? @freq_recurrence_factor?
@active_start_date? @active_end_date? @active_start_time? @active_end_time? @schedule_name?
@schedule_uid? @schedule_id? @start_step_id? @output_file_name? @database_user_name?
@additional_parameters?
"""
_ALERT: Final = """
@name? @message_id? @severity? @enabled? @delay_between_responses? @include_event_description_in?
@notification_message? @event_description_keyword? @database_name? @job_id? @job_name? @category_name?
@performance_condition? @wmi_namespace? @wmi_query? @raise_snmp_trap? @alert_name? @operator_name?
@notification_method? @email_address? @pager_address? @weekday_pager_start_time? @weekday_pager_end_time?
@saturday_pager_start_time? @saturday_pager_end_time? @sunday_pager_start_time? @sunday_pager_end_time?
@pager_days? @netsend_address? @class? @type?
"""

PROCEDURES: Final[Procedures] = {
    "sp_update_job": procedure(
        _update_job,
        """@job_id? @job_name? @new_name? @enabled? @description? @start_step_id? @category_name? @owner_login_name?
        @notify_level_eventlog? @notify_level_email? @notify_email_operator_name? @delete_level?""",
    ),
    "sp_add_job": procedure(
        _add_job,
        """@job_name @enabled? @description? @start_step_id? @category_name? @category_id? @owner_login_name?
        @notify_level_eventlog? @notify_level_email? @notify_level_netsend? @notify_level_page?
        @notify_email_operator_name? @delete_level? @job_id?""",
    ),
    "sp_delete_job": procedure(
        _delete_job, "@job_id? @job_name? @originating_server? @delete_history? @delete_unused_schedule?"
    ),
    "sp_help_job": procedure(_help_job, "@job_id? @job_name? @job_aspect? @enabled?"),
    "sp_start_job": procedure(
        _start_job, "@job_name? @job_id? @error_flag? @server_name? @step_name? @output_flag?"
    ),
    "sp_stop_job": procedure(_start_job, "@job_name? @job_id?"),
    "sp_add_jobstep": procedure(_accepted, _JOB_PARTS),
    "sp_add_jobschedule": procedure(_accepted, _JOB_PARTS),
    "sp_add_schedule": procedure(_accepted, _JOB_PARTS),
    "sp_attach_schedule": procedure(_accepted, _JOB_PARTS),
    "sp_add_jobserver": procedure(_accepted, _JOB_PARTS),
    "sp_update_jobstep": procedure(_accepted, _JOB_PARTS),
    "sp_add_category": procedure(_accepted, _ALERT),
    "sp_add_alert": procedure(_accepted, _ALERT),
    "sp_update_alert": procedure(_accepted, _ALERT),
    "sp_delete_alert": procedure(_accepted, _ALERT),
    "sp_add_notification": procedure(_accepted, _ALERT),
    "sp_add_operator": procedure(_accepted, _ALERT),
    "sp_addlinkedserver": procedure(
        _add_linked_server, "@server @srvproduct? @provider? @datasrc? @location? @provstr? @catalog?"
    ),
    "sp_dropserver": procedure(_drop_server, "@server @droplogins?"),
    "sp_linkedservers": procedure(_linked_servers),
    "sp_helpserver": procedure(_linked_servers, "@server? @optname? @show_topology?"),
    "sp_serveroption": procedure(_accepted, "@server @optname @optvalue"),
    "sp_addlinkedsrvlogin": procedure(
        _accepted, "@rmtsrvname @useself? @locallogin? @rmtuser? @rmtpassword?"
    ),
}
