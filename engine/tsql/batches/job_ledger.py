"""Records of SQL Server Agent: steps of its jobs, start requests, and events seen by its alerts."""

from __future__ import annotations

from typing import Final

from engine.messages import SqlError
from engine.mirroring import trace
from engine.model import World
from engine.protocol import jobs
from engine.tsql.batches import ledger
from engine.tsql.batches.ledger import Record
from engine.tsql.query.plans import UnsimulatedFeatureError
from engine.tsql.scalars.values import Scalar, to_text


def steps_of(world: World, server: str, job: str) -> list[Record]:
    """Return the steps of a job in their order; one that has been copied from another server has that one's."""
    for where in (server, *sorted(world.instances)):
        found = [row for row in ledger.rows(world, where, "sysjobsteps") if _is_same_text(row["job"], job)]
        if found:
            break
    return sorted(found, key=lambda row: int(str(row["step_id"])))


def step(world: World, server: str, job: str, number: str) -> Record | None:
    """Return the step of a job with that number."""
    return next((row for row in steps_of(world, server, job) if to_text(row["step_id"]) == number), None)


def _is_same_text(a: Scalar, b: Scalar) -> bool:
    return to_text(a).casefold() == to_text(b).casefold()


NOT_RUNNING: Final = "SQLServerAgent is not currently running so it cannot be notified of this action."
_REFUSED: Final = "SQLServerAgent Error: Request to {} job {} (from {}) refused because the job is {}."
SOURCE_ALERT, SOURCE_USER = 2, 4
"""run_requested_source of sysjobactivity. Known from msdb's own procedures."""


def activity_of(world: World, server: str, job: str) -> Record | None:
    """Return the latest run of a job: who asked for it, when it began, and when it ended; None before the first one."""
    return ledger.find(world, server, "activity", "job", job)


def is_running(world: World, server: str, job: str) -> bool:
    """Return True if a run of the job is under way; a restart of the instance ends it."""
    row = activity_of(world, server, job)
    begun = -1 if row is None else int(str(row["start_tick"]))
    return row is not None and row["stop_tick"] is None and begun >= world.instances[server].started_tick


def start(
    world: World,
    server: str,
    job: str,
    requester: str,
    tokens: dict[str, str] | None = None,
    step_name: str = "",
) -> None:
    """Begin a job at its start step or *step_name*; *by* names who asks: `User sa`, `Alert 1 (name)`.

    Raises 22022 while the agent does not run or the job runs already, 14262 for an unknown step, Unsimulated for a job
    without steps. [DOC: sp_start_job]
    """
    if not jobs.agent_runs(world, server):
        raise SqlError(22022, NOT_RUNNING)
    if is_running(world, server, job):
        already = (
            f"already running from a request by {to_text((activity_of(world, server, job) or {}).get('by'))}"
        )
        raise SqlError(22022, _REFUSED.format("run", job, requester, already))
    steps = steps_of(world, server, job)
    if not steps:
        raise UnsimulatedFeatureError(f"the run of job '{job}' at this moment")
    made = ledger.find(world, server, "sysjobs", "job", job) or {}
    first = to_text(made.get("start_step_id") or steps[0]["step_id"])
    if step_name:
        named = next((row for row in steps if _is_same_text(row["step_name"], step_name)), None)
        if named is None:
            raise SqlError(14262, "@step_name", step_name)
        first = to_text(named["step_id"])
    given = tuple(sorted((tokens or {}).items()))
    ledger.remove(world, server, "activity", lambda row: _is_same_text(row["job"], job))
    ledger.add(
        world, server, "activity",
        job=job, by=requester, source=SOURCE_ALERT if requester.startswith("Alert") else SOURCE_USER,
        start_tick=world.tick, stop_tick=None, attempt=0, step_id=None, step_tick=None,
        history_id=None, stopped_by=None,
    )  # fmt: skip
    world.call_after(0.0, "tsql.step", server, job, first, given)


def note_activity(world: World, server: str, job: str, **values: Scalar) -> None:
    """Set columns of the latest run of a job."""
    ledger.change(world, server, "activity", lambda row: _is_same_text(row["job"], job), **values)


def stop(world: World, server: str, job: str, requester: str) -> None:
    """Cancel the run of a job.

    Raises 22022 while the agent or the job does not run. [DOC: sp_stop_job]
    """
    if not jobs.agent_runs(world, server):
        raise SqlError(22022, NOT_RUNNING)
    if not is_running(world, server, job):
        raise SqlError(22022, _REFUSED.format("stop", job, requester, "not currently running"))
    note_activity(world, server, job, stopped_by=requester)
    world.call_after(0.0, "tsql.job_stop", server, job)


# --- what alerts have seen -----------------------------------------------------------------------------------


def begin_watching(world: World, server: str) -> None:
    """Watch for alerts from the first alert of a server on."""
    if ledger.is_empty(world, server, "seen"):
        ledger.add(world, server, "seen", **marks(world, server))


def marks(world: World, server: str) -> dict[str, Scalar]:
    """Return the positions in this server's ERRORLOG and mirroring states after a complete evaluation."""
    found: dict[str, Scalar] = {f"trace {name}": str(state) for name, state in traces(world, server).items()}
    count = sum(1 for line in world.errorlog.get(server, ()) if line[0] == world.tick)
    return found | {"tick": world.tick, "count": count}


def traces(world: World, server: str) -> dict[str, int]:
    """Return the mirroring state of each database of the server, as its last state change event gave it."""
    copies = sorted(world.copies.items())
    return {database: trace.get_state_id(copy) for (where, database), copy in copies if where == server}
