"""Queries and changes of the rows that msdb procedures and sp_configure store (stored_tables.py).

The catalog shows these rows as tables (engine/tsql/catalog). Other code must not change them.
"""

from typing import Final

from engine.messages import SqlError
from engine.mirroring import roles
from engine.model import World
from engine.protocol import jobs
from engine.tsql.batches.stored_tables import (
    ACTIVITY,
    ALERT_POSITIONS,
    JOBS,
    STEPS,
    ActivityRow,
    StepRow,
)
from engine.tsql.query.plans import UnsimulatedFeatureError
from engine.tsql.scalars.values import Scalar, to_text

# --- steps and runs of SQL Server Agent jobs -------------------------------------------------------------


def list_steps(world: World, server: str, job: str) -> list[StepRow]:
    """Return the steps of a job in order.

    If *server* stores no steps of the job, return those of the first other server that does.
    """
    for server_name in (server, *sorted(world.instances)):
        found_rows = [row for row in STEPS.list_rows(world, server_name) if _is_same_text(row["job"], job)]
        if found_rows:
            break
    return sorted(found_rows, key=lambda row: int(str(row["step_id"])))


def find_step(world: World, server: str, job: str, number: str) -> StepRow | None:
    """Return step *number* of a job; None if the job has no such step."""
    return next((row for row in list_steps(world, server, job) if to_text(row["step_id"]) == number), None)


def _is_same_text(a: Scalar, b: Scalar) -> bool:
    return to_text(a).casefold() == to_text(b).casefold()


AGENT_STOPPED_TEXT: Final = "SQLServerAgent is not currently running so it cannot be notified of this action."
_REQUEST_REFUSED_TEXT: Final = (
    "SQLServerAgent Error: Request to {} job {} (from {}) refused because the job is {}."
)
SOURCE_ALERT, SOURCE_USER = 2, 4
"""Values of run_requested_source in sysjobactivity for an alert and a user. Known from msdb's procedures."""


def find_activity(world: World, server: str, job: str) -> ActivityRow | None:
    """Return the latest run of a job; None before the first run."""
    return ACTIVITY.find_row(world, server, "job", job)


def is_job_running(world: World, server: str, job: str) -> bool:
    """Return whether the job is running. A restart of the instance ends a running job."""
    row = find_activity(world, server, job)
    start_tick = -1 if row is None else int(str(row["start_tick"]))
    return row is not None and row["stop_tick"] is None and start_tick >= world.instances[server].started_tick


def start_job(
    world: World,
    server: str,
    job: str,
    requester: str,
    tokens: dict[str, str] | None = None,
    step_name: str = "",
) -> None:
    """Start a job at its start step, or at the step *step_name*.

    *requester* is `User sa` or `Alert 1 (name)`. Raises 22022 if the Agent is stopped or the job is already
    running, 14262 for an unknown step, UnsimulatedFeatureError for a job without steps. [DOC: sp_start_job]
    """
    if not jobs.is_agent_running(world, server):
        raise SqlError(22022, AGENT_STOPPED_TEXT)
    if is_job_running(world, server, job):
        starter = to_text((find_activity(world, server, job) or {}).get("by"))
        is_running_already = f"already running from a request by {starter}"
        raise SqlError(22022, _REQUEST_REFUSED_TEXT.format("run", job, requester, is_running_already))
    steps = list_steps(world, server, job)
    if not steps:
        raise UnsimulatedFeatureError(f"a run of job '{job}' at this time")
    job_row = JOBS.find_row(world, server, "job", job) or {}
    first = to_text(job_row.get("start_step_id") or steps[0]["step_id"])
    if step_name:
        named_step = next((row for row in steps if _is_same_text(row["step_name"], step_name)), None)
        if named_step is None:
            raise SqlError(14262, "@step_name", step_name)
        first = to_text(named_step["step_id"])
    token_values = tuple(sorted((tokens or {}).items()))
    ACTIVITY.remove_rows(world, server, lambda row: _is_same_text(row["job"], job))
    ACTIVITY.add_row(
        world,
        server,
        {
            "job": job,
            "by": requester,
            "source": SOURCE_ALERT if requester.startswith("Alert") else SOURCE_USER,
            "start_tick": world.tick,
            "stop_tick": None,
            "attempt": 0,
            "step_id": None,
            "step_tick": None,
            "history_id": None,
            "stopped_by": None,
        },
    )
    world.call_after(0.0, "tsql.step", server, job, first, token_values)


def update_activity(world: World, server: str, job: str, values: ActivityRow) -> None:
    """Set the columns *values* in the row of the latest run of a job."""
    ACTIVITY.change_rows(world, server, lambda row: _is_same_text(row["job"], job), values)


def stop_job(world: World, server: str, job: str, requester: str) -> None:
    """Cancel the run of a job.

    Raises 22022 if the Agent is stopped or the job is not running. [DOC: sp_stop_job]
    """
    if not jobs.is_agent_running(world, server):
        raise SqlError(22022, AGENT_STOPPED_TEXT)
    if not is_job_running(world, server, job):
        raise SqlError(22022, _REQUEST_REFUSED_TEXT.format("stop", job, requester, "not currently running"))
    update_activity(world, server, job, {"stopped_by": requester})
    world.call_after(0.0, "tsql.job_stop", server, job)


# --- events that the Agent has checked for alerts --------------------------------------------------------


def begin_alert_checks(world: World, server: str) -> None:
    """Store the current positions, from which the server's events are checked for alerts.

    Call this when the server gets its first alert.
    """
    if ALERT_POSITIONS.is_empty(world, server):
        ALERT_POSITIONS.add_row(world, server, get_alert_positions(world, server))


def get_alert_positions(world: World, server: str) -> dict[str, Scalar]:
    """Return the current positions of the alert checks.

    `tick` is the current tick, and `count` is the number of ERRORLOG lines of this tick. For each
    database NAME, `trace NAME` is its mirroring state.
    """
    positions_by_mark: dict[str, Scalar] = {
        f"trace {name}": str(state) for name, state in get_mirroring_states(world, server).items()
    }
    count = sum(1 for line in world.errorlog.get(server, ()) if line[0] == world.tick)
    return positions_by_mark | {"tick": world.tick, "count": count}


def get_mirroring_states(world: World, server: str) -> dict[str, int]:
    """Return database -> number of its current mirroring state, for the databases on the server."""
    copies = sorted(world.copies.items())
    return {
        database: roles.get_state_id(copy)
        for (copy_server, database), copy in copies
        if copy_server == server
    }
