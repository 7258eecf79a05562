"""Simulation of SQL Server Agent. Alerts respond to messages and mirroring events. Jobs run their steps.

An alert or sp_start_job starts a job. Each job step runs in its own window. Schedules are stored but not
executed.
"""

import re
from functools import partial
from typing import Final

from engine import datetime_formats
from engine.constants import TICKS_PER_S
from engine.events import NoteData
from engine.localization import build_message, mark
from engine.messages import SqlError
from engine.mirroring import roles
from engine.model import Handlers, Service, World
from engine.protocol import jobs
from engine.tsql.batches import statement_execution, stored_rows, stored_tables
from engine.tsql.batches.context import StatementContext
from engine.tsql.batches.data import AGENT_WINDOW_MARKER, SqlSession, Submission
from engine.tsql.batches.machine import ExecutionMachine
from engine.tsql.batches.runner import SubmissionRunner
from engine.tsql.batches.stored_tables import AlertRow, StepRow
from engine.tsql.batches.work import WorkMeter
from engine.tsql.clients import client
from engine.tsql.language.lexer import SqlSyntaxError
from engine.tsql.query.planner import plan_statement
from engine.tsql.query.plans import UnsimulatedFeatureError
from engine.tsql.scalars.values import Scalar, to_text

QUIT_SUCCESS, QUIT_FAILURE, GO_TO_NEXT_STEP, GO_TO_STEP = 1, 2, 3, 4
"""Values of on_success_action and on_fail_action of a job step. Documented [DOC: sp_add_jobstep]."""

SUCCEEDED, FAILED, RETRIED, CANCELED = 1, 0, 2, 3
"""Values of run_status in sysjobhistory. Documented [DOC: sysjobhistory]."""

SHUTDOWN_REQUESTER: Final = "Shutdown Sequence 0"
"""Requester in the job history when the Agent stops a job. Known from public scripts that search for it."""


# --- jobs ------------------------------------------------------------------------------------------------


def run_job_step(
    world: World, server: str, job: str, number: str, tokens: tuple[tuple[str, str], ...]
) -> None:
    """Start step *number* of a job with the values of the Agent's tokens (timer handler)."""
    step = stored_rows.find_step(world, server, job, number)
    if step is None or not stored_rows.is_job_running(world, server, job):
        return
    name = f"{server}{AGENT_WINDOW_MARKER}{number}:{job}"
    stored_rows.update_activity(world, server, job, {"step_id": step["step_id"], "step_tick": world.tick})
    if to_text(step.get("subsystem")).upper() != "TSQL":
        text = f"Not simulated: steps of the subsystem {to_text(step.get('subsystem'))}"
        _record_history(world, server, job, step, SUCCEEDED, text, world.tick)
        world.call_at(world.tick + TICKS_PER_S, "tsql.step_skipped", server, job, number)
        return
    database = to_text(step.get("database_name")) or "master"
    text = _replace_tokens(to_text(step.get("command")), dict(tokens), job)
    client.submit_text(world, name, f"USE [{database}]\nGO\n{text}")


def _replace_tokens(command: str, tokens: dict[str, str], job: str) -> str:
    """Replace the Agent's tokens in a job step's command.

    Examples of tokens: `$(ESCAPE_SQUOTE(WMI(DatabaseName)))`, `$(A-MSG)`. [DOC: job step tokens].
    """
    token_values = {**tokens, "JOBNAME": job}

    def get_token_value(match: re.Match[str]) -> str:
        token_value = token_values.get((match["event"] or match["name"]).upper())
        if token_value is None:
            return match.group()
        return token_value.replace("'", "''") if (match["escape"] or "").upper() == "SQUOTE" else token_value

    return _TOKEN_PATTERN.sub(get_token_value, command)


_TOKEN_PATTERN: Final = re.compile(
    r"\$\((?:ESCAPE_(?P<escape>\w+)\()?(?:WMI\((?P<event>\w+)\)|(?P<name>[\w-]+))(?(escape)\))\)"
)


def on_step_skipped(world: World, server: str, job: str, number: str) -> None:
    """Continue the job after a step of a subsystem that is not simulated (timer handler).

    Such a step takes one second. If it took no time, a cycle of such steps would stop the clock.
    """
    step = stored_rows.find_step(world, server, job, number)
    if step is not None and stored_rows.is_job_running(world, server, job):
        _run_next_step(world, server, job, step, SUCCEEDED)


def on_step_done(
    world: World, name: str, error: str, started_tick: int, message_text: str = "", error_number: int = 0
) -> None:
    """Record the result of a job step whose batch has ended, and continue the job (timer handler).

    *error*: text of the batch's first error, or empty. *message_text*: messages for the history. *error_number*:
    number of the batch's last error.
    """
    server, _, marker_rest = name.partition(AGENT_WINDOW_MARKER)
    number, _, job = marker_rest.partition(":")
    if name not in world.batches:  # another job may already have restarted this step
        world.sessions.pop(name, None)
    step = stored_rows.find_step(world, server, job, number)
    activity = stored_rows.find_activity(world, server, job)
    if step is None or activity is None or not stored_rows.is_job_running(world, server, job):
        return
    user = f"Executed as user: {world.instances[server].service_account}. "
    if world.instances[server].service is not Service.RUNNING:
        if world.instances[server].service is not Service.STOPPING or world.instances[server].clustered:
            return  # the stopped Agent records no end [DOC: auto-restart of SQL Server Agent]
        activity, message_text = {**activity, "stopped_by": SHUTDOWN_REQUESTER}, ""
        stored_rows.update_activity(world, server, job, {"stopped_by": SHUTDOWN_REQUESTER})
    if activity["stopped_by"] is not None:
        reason = "as the result of a stop job request"
        text = f"{user}{message_text}{'  ' if message_text else ''}The step was cancelled (stopped) {reason}."
        _record_history(world, server, job, step, CANCELED, text, started_tick)
        _finish_job(world, server, job, step, CANCELED)
        return
    status = FAILED if error else SUCCEEDED
    text = f"{user}{message_text}{'  ' if message_text else ''}The step {'failed' if error else 'succeeded'}."
    attempt, tries = int(str(activity["attempt"])), int(str(step.get("retry_attempts") or 0))
    if status == FAILED and attempt < tries:
        _record_history(world, server, job, step, RETRIED, text, started_tick, error_number, attempt)
        stored_rows.update_activity(world, server, job, {"attempt": attempt + 1})
        wait_s = 60.0 * int(str(step.get("retry_interval") or 0))
        world.call_after(wait_s, "tsql.step", server, job, number, ())
        return
    _record_history(world, server, job, step, status, text, started_tick, error_number, attempt)
    stored_rows.update_activity(world, server, job, {"attempt": 0})
    _run_next_step(world, server, job, step, status)


def stop_job(world: World, server: str, job: str) -> None:
    """Cancel the running step of a job, or end the job if it is between two steps (timer handler).

    sp_stop_job and the stop of the Agent set this timer.
    """
    for name in list(world.batches):
        if name.startswith(f"{server}{AGENT_WINDOW_MARKER}") and name.endswith(f":{job}"):
            client.cancel_batches(world, name)
            return
    activity = stored_rows.find_activity(world, server, job)
    if activity is not None and stored_rows.is_job_running(world, server, job):
        _finish_job(
            world,
            server,
            job,
            stored_rows.find_step(world, server, job, to_text(activity["step_id"])),
            CANCELED,
        )


def _stop_running_jobs(world: World, server: str) -> None:
    """Cancel the jobs that are still running although the Agent has stopped."""
    for row in stored_tables.ACTIVITY.list_rows(world, server):
        job = to_text(row["job"])
        if row["stopped_by"] is None and stored_rows.is_job_running(world, server, job):
            stored_rows.update_activity(world, server, job, {"stopped_by": SHUTDOWN_REQUESTER})
            world.call_after(0.0, "tsql.job_stop", server, job)


def _run_next_step(world: World, server: str, job: str, step: StepRow, status: int) -> None:
    """Run the next step of a job, or end the job.

    The on_success_action or on_fail_action of *step* decides, depending on *status*.
    """
    action = int(str(step.get("on_success_action" if status else "on_fail_action") or (1 if status else 2)))
    steps = stored_rows.list_steps(world, server, job)
    next_step = None
    if action == GO_TO_NEXT_STEP:
        next_step = next((row for row in steps if int(str(row["step_id"])) > int(str(step["step_id"]))), None)
    elif action == GO_TO_STEP:
        next_step_id = step.get("on_success_step_id" if status else "on_fail_step_id")
        next_step = next((row for row in steps if row["step_id"] == next_step_id), None)
    if next_step is not None and jobs.is_agent_running(world, server):
        run_job_step(world, server, job, to_text(next_step["step_id"]), ())
        return
    is_success = action == QUIT_SUCCESS or (action == GO_TO_NEXT_STEP and status == SUCCEEDED)
    _finish_job(world, server, job, step, SUCCEEDED if is_success else FAILED)


_OUTCOME_TEXTS: Final = {SUCCEEDED: "The job succeeded.", FAILED: "The job failed."}


def _finish_job(world: World, server: str, job: str, step: StepRow | None, status: int) -> None:
    """Record the outcome of a job. *step*: the step that ran last; None without a step."""
    activity = stored_rows.find_activity(world, server, job) or {}
    outcome = _OUTCOME_TEXTS.get(
        status, f"The job was stopped prior to completion by {to_text(activity.get('stopped_by'))}."
    )
    last = (
        f"  The last step to run was step {to_text(step['step_id'])} ({to_text(step['step_name'])})."
        if step is not None
        else ""
    )
    text = f"{outcome}  The Job was invoked by {to_text(activity.get('by'))}.{last}"
    start_tick = int(str(activity.get("start_tick", world.tick)))
    number = _record_history(world, server, job, None, status, text, start_tick)
    stored_rows.update_activity(world, server, job, {"stop_tick": world.tick, "history_id": number})
    template = mark("job '{name}' succeeded") if status == SUCCEEDED else mark("job '{name}' failed")
    world.emit(NoteData(), build_message(template, name=job), server=server)


def _record_history(
    world: World,
    server: str,
    job: str,
    step: StepRow | None,
    status: int,
    text: str,
    started_tick: int,
    error: int = 0,
    retries: int = 0,
) -> int:
    """Write a row of sysjobhistory for work from *started_tick* until now. Return the row's number.

    *step*: step that ran; None for the row with the outcome of the whole job.
    """
    date, time = format_agent_time(world, server, started_tick)
    seconds = (world.tick - started_tick) // TICKS_PER_S
    return stored_tables.HISTORY.add_row(
        world,
        server,
        {
            "job": job,
            "step_id": 0 if step is None else step["step_id"],
            "step_name": "(Job outcome)" if step is None else step["step_name"],
            "message": text[:1024],
            "sql_message_id": error,
            "sql_severity": 16 if error else 0,
            "retries_attempted": retries,
            "run_status": status,
            "run_date": date,
            "run_time": time,
            "run_duration": seconds // 3600 * 10000 + seconds % 3600 // 60 * 100 + seconds % 60,
        },
    )


def format_agent_time(world: World, server: str, tick: int | None = None) -> tuple[int, int]:
    """Return the server's date and time at *tick* (default: now) as the Agent's numbers: 20051022, 120000."""
    moment = _build_context(world, server).get_time(tick)
    return int(datetime_formats.format_datetime(moment, "%Y%m%d")), int(
        datetime_formats.format_datetime(moment, "%H%M%S")
    )


def _build_context(world: World, server: str) -> StatementContext:
    """Return a context of the Agent's service account on *server*."""
    return StatementContext(
        world, SqlSession(server=server, spid=0, login=world.instances[server].service_account)
    )


# --- alerts ----------------------------------------------------------------------------------------------


def run_alerts(world: World) -> None:
    """Run the alerts for events since the last call, and stop the jobs of a stopped Agent.

    This function is called after each change of the world.
    """
    if not world.objects:  # without stored objects, sysalerts has no rows
        return
    for server, instance in world.instances.items():
        if not instance.agent_running and instance.service is Service.RUNNING and not instance.hung:
            _stop_running_jobs(world, server)
        if stored_tables.ALERTS.is_empty(world, server):
            continue
        _process_new_events(world, server)


def _process_new_events(world: World, server: str) -> None:
    """Run the alerts of *server* for its new ERRORLOG lines and new mirroring states.

    Each line and each state is processed only once.
    """
    seen_row = stored_tables.ALERT_POSITIONS.find_row(world, server, "id", 1)
    if seen_row is None:
        stored_rows.begin_alert_checks(world, server)
        return
    lines = world.errorlog.get(server, ())
    tick = int(str(seen_row.get("tick", world.tick)))
    handled = int(str(seen_row.get("count", 0)))
    new_lines = [line for line in lines[-50:] if line[0] > tick]
    if tick == world.tick:
        new_lines = [line for line in lines if line[0] == world.tick][handled:]
    states = stored_rows.get_mirroring_states(world, server)
    changed_states = [
        (database, state)
        for database, state in states.items()
        if to_text(seen_row.get(f"trace {database}")) != str(state)
    ]
    if not new_lines and not changed_states:
        return
    stored_tables.ALERT_POSITIONS.change_rows(
        world, server, lambda row: True, stored_rows.get_alert_positions(world, server)
    )
    for database, state in changed_states:
        _run_state_alerts(world, server, database, state)
    answers = 0
    for number, line in enumerate(new_lines):
        if answers >= ALERT_RESPONSES_MAX:
            left_state = build_message(
                "SQL Server Agent cannot keep up: {n} messages were not checked for alerts",
                n=len(new_lines) - number,
            )
            world.emit(NoteData(), left_state, server=server)
            break
        answers += _run_message_alerts(world, server, line[1], line[2], line[4])


ALERT_RESPONSES_MAX: Final = 50
"""Maximum number of alerts that respond to the new events of a server in one check. Assumed.

The product also falls behind and skips messages.
"""


def _list_enabled_alerts(world: World, server: str) -> list[AlertRow]:
    """Return the alerts that can respond; none while the Agent is stopped."""
    if not jobs.is_agent_running(world, server):
        return []
    return [row for row in stored_tables.ALERTS.list_rows(world, server) if row.get("enabled")]


def _run_message_alerts(world: World, server: str, number: int, severity: int, text: str) -> int:
    """Fire the alerts that match a message. Return the number of alerts."""
    answers = 0
    for alert in _list_enabled_alerts(world, server):
        message_number = int(str(alert.get("message_id") or 0))
        level = int(str(alert.get("severity") or 0))
        keyword = to_text(alert.get("event_description_keyword")).casefold()
        if keyword and keyword not in text.casefold():
            continue
        if (message_number and message_number == number) or (level and level == severity):
            tokens = {"A-ERR": str(number), "A-SEV": str(severity), "A-MSG": text, "A-SVR": server}
            _fire_alert(world, server, alert, tokens)
            answers += 1
    return answers


def _run_state_alerts(world: World, server: str, database: str, state: int) -> None:
    """Fire the WMI alerts that match a new mirroring state of a database."""
    properties = {
        "DATABASENAME": database,
        "STATE": str(state),
        "TEXTDATA": f"DBM: {roles.STATE_CHANGE_TEXTS[state]}",
        "COMPUTERNAME": server,
        "SERVERNAME": server,
        "SQLINSTANCE": "MSSQLSERVER",
        "DATABASEID": to_text(_build_context(world, server).find_database_id(database)),
        "STARTTIME": datetime_formats.format_datetime(
            _build_context(world, server).get_time(), "%Y%m%d%H%M%S"
        ),
    }
    for alert in _list_enabled_alerts(world, server):
        if _matches_wmi_query(world, server, to_text(alert.get("wmi_query")), properties):
            _fire_alert(world, server, alert, {**properties, "A-SVR": server, "A-DBN": database})


WQL_MAX: Final = 512
"""Maximum number of characters in an alert's WMI query. Documented: @wmi_query is nvarchar(512)."""

_WQL_PATTERN: Final = re.compile(
    r"^\s*SELECT\s+.*?\s+FROM\s+DATABASE_MIRRORING_STATE_CHANGE\b(?:\s+WHERE\s+(?P<where>.*))?$",
    re.IGNORECASE | re.DOTALL,
)
"""Pattern of a WMI query for DATABASE_MIRRORING_STATE_CHANGE, the only simulated WMI event."""


def _matches_wmi_query(world: World, server: str, query: str, properties: dict[str, str]) -> bool:
    """Return whether the query of a WMI alert selects the event with *properties*.

    The WHERE condition is evaluated as T-SQL.
    """
    match = _WQL_PATTERN.match(query) if len(query) <= WQL_MAX else None
    if match is None:
        return False
    if match["where"] is None:
        return True
    columns = ", ".join(
        f"{value} AS [{name}]" if name in ("STATE", "DATABASEID") else f"'{value}' AS [{name}]"
        for name, value in properties.items()
        if value
    )
    session = SqlSession(server=server, spid=0, login=world.instances[server].service_account)
    machine = SubmissionRunner(
        world,
        Submission(id=0, text="", steps=()),
        session,
        statement_execution.execute_statement,
        WorkMeter(),
    )
    scratch = machine.get_scratch_database()
    try:
        plan = plan_statement(f"SELECT 1 FROM (SELECT {columns}) AS event WHERE {match['where']}")
        return bool(scratch.run_query(plan, partial(_reject_variable, machine))[1])
    except (SqlError, SqlSyntaxError, UnsimulatedFeatureError):
        return False
    finally:
        scratch.close()


def _reject_variable(machine: ExecutionMachine, name: str) -> Scalar:
    """Raise 137 for a variable in a WMI query, which can have no variables."""
    raise SqlError(137, name)


def _fire_alert(world: World, server: str, alert: AlertRow, tokens: dict[str, str]) -> None:
    """Count an occurrence of the alert and start its job.

    Do nothing if the last response is more recent than the delay between responses.
    """
    delay = int(str(alert.get("delay_between_responses") or 0)) * TICKS_PER_S
    last_answered_tick = alert.get("answered_tick")
    if delay and last_answered_tick is not None and world.tick - int(str(last_answered_tick)) < delay:
        return
    date, time = format_agent_time(world, server)
    stored_tables.ALERTS.change_rows(
        world,
        server,
        lambda row: row["id"] == alert["id"],
        {
            "answered_tick": world.tick,
            "last_occurrence_date": date,
            "last_occurrence_time": time,
            "last_response_date": date,
            "last_response_time": time,
            "occurrence_count": int(str(alert.get("occurrence_count") or 0)) + 1,
        },
    )
    text = build_message("SQL Server Agent alert '{name}'", name=to_text(alert["name"]))
    world.emit(NoteData(), text, server=server)
    job = to_text(alert.get("job"))
    if job:
        try:
            invoker = f"Alert {to_text(alert['id'])} ({to_text(alert['name'])})"
            stored_rows.start_job(world, server, job, invoker, tokens)
        except SqlError:
            return  # a running job is not started again
        except UnsimulatedFeatureError as problem:
            _record_history(world, server, job, None, FAILED, str(problem), world.tick)


HANDLERS: Final[Handlers] = {
    "tsql.step": run_job_step,
    "tsql.job_stop": stop_job,
    "tsql.step_done": on_step_done,
    "tsql.step_skipped": on_step_skipped,
}
"""Timer names of SQL Server Agent -> handler."""
