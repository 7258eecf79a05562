"""What SQL Server Agent has written down: the steps of its jobs, the order to start one, what its alerts have seen."""

from __future__ import annotations

from engine.messages import SqlError
from engine.mirroring import trace
from engine.model import World
from engine.protocol import jobs
from engine.tsql.batches import ledger
from engine.tsql.batches.data import AGENT_MARK
from engine.tsql.batches.ledger import Record
from engine.tsql.query.plans import Unsimulated
from engine.tsql.scalars.values import Scalar, to_text


def steps_of(world: World, server: str, job: str) -> list[Record]:
    """The steps of a job in their order; one that has been copied from another server has that one's."""
    for where in (server, *sorted(world.instances)):
        found = [row for row in ledger.rows(world, where, "sysjobsteps") if _is(row["job"], job)]
        if found:
            break
    return sorted(found, key=lambda row: int(str(row["step_id"])))


def step(world: World, server: str, job: str, number: str) -> Record | None:
    """The step of a job with that number."""
    return next((row for row in steps_of(world, server, job) if to_text(row["step_id"]) == number), None)


def _is(a: Scalar, b: Scalar) -> bool:
    return to_text(a).casefold() == to_text(b).casefold()


def start(world: World, server: str, job: str, tokens: dict[str, str] | None = None) -> None:
    """Begin a job at its first step. 22022 while the agent does not run, Unsimulated for a job without steps."""
    if not jobs.agent_runs(world, server):
        raise SqlError(22022)
    steps = steps_of(world, server, job)
    if not steps:
        raise Unsimulated(f"the run of job '{job}' at this moment")
    if any(name.startswith(f"{server}{AGENT_MARK}") and name.endswith(f":{job}") for name in world.batches):
        return  # SQL Server Agent refuses a request for a job that runs already
    given = tuple(sorted((tokens or {}).items()))
    world.after(0.0, "tsql.step", server, job, to_text(steps[0]["step_id"]), given)


# --- what alerts have seen -----------------------------------------------------------------------------------


def begin_watching(world: World, server: str) -> None:
    """The first alert of a server counts from now on."""
    if ledger.is_empty(world, server, "seen"):
        ledger.add(world, server, "seen", **marks(world, server))


def marks(world: World, server: str) -> dict[str, Scalar]:
    """Up to where this server's ERRORLOG and mirroring states have been looked at, when all of them have been."""
    found: dict[str, Scalar] = {f"trace {name}": str(state) for name, state in traces(world, server).items()}
    count = sum(1 for line in world.errorlog.get(server, ()) if line[0] == world.tick)
    return found | {"tick": world.tick, "count": count}


def traces(world: World, server: str) -> dict[str, int]:
    """The mirroring state of each database of the server, as its last state change event gave it."""
    copies = sorted(world.copies.items())
    return {database: trace.last(copy) for (where, database), copy in copies if where == server}
