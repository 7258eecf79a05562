"""SQL Server Agent: its jobs and when they run, and linked servers. Jobs belong to one server and do not fail over.

Documented in kind [WP, preparing the mirror]: jobs are copied to the mirror's server, disabled, and the DBA has to
enable them after a failover.
"""

from __future__ import annotations

import heapq
from typing import Final

from msgspec.structs import replace

from engine.messages import Message, SqlError
from engine.model import DbState, Handlers, Job, Key, RecoveryModel, Service, World
from engine.protocol import backup

LOG_BACKUP: Final = "log backup"
MONITOR: Final = "monitor"


def standard_jobs(database: str) -> tuple[Job, ...]:
    """Return the standard jobs for a database: one that acts in the simulation, two that are only listed."""
    return (
        Job(name=f"{database} log backup", database=database, action=LOG_BACKUP),
        Job(name=f"{database} index maintenance", database=database),
        Job(name=f"{database} nightly load", database=database),
    )


def agent_runs(world: World, server: str) -> bool:
    """Return whether SQL Server Agent of the server runs; it stops with its instance."""
    state = world.instances[server]
    return state.agent_running and state.service is Service.RUNNING and not state.hung


def runs(world: World, server: str, database: str, action: str) -> bool:
    """Return whether the agent of *server* does *action* for *database*; assumed if no server has such a job."""
    having = [
        (name, job)
        for name, state in world.instances.items()
        for job in state.jobs
        if job.action == action and job.database == database
    ]
    if not having:
        return agent_runs(world, server)
    return agent_runs(world, server) and any(name == server and job.enabled for name, job in having)


# --- log backups -----------------------------------------------------------------------------------


def arm_log_backup(world: World, key: Key) -> None:
    """Set the timer of the log backups of a copy that is new here."""
    disarm_log_backup(world, key)
    copy = world.copies[key]
    if copy.log_backup_every_s > 0.0:
        world.call_after(copy.log_backup_every_s, "log.backup", *key)


def disarm_log_backup(world: World, key: Key) -> None:
    """Take back the timer of the log backups of a copy."""
    world.timers = [timer for timer in world.timers if (timer[2], timer[3]) != ("log.backup", key)]
    heapq.heapify(world.timers)


def back_up_log(world: World, server: str, database: str) -> None:
    """Handle a timer: the log backup job of a copy; log that the mirror also has can be reused afterwards."""
    key = (server, database)
    copy = world.copies.get(key)
    if copy is None or copy.log_backup_every_s <= 0.0:
        return
    world.call_after(copy.log_backup_every_s, "log.backup", server, database)
    writes = copy.source is not None
    open_here = copy.db_state is DbState.ONLINE and not copy.recovering
    logged = copy.full_backup and copy.recovery_model is not RecoveryModel.SIMPLE
    if writes and open_here and logged and runs(world, server, database, LOG_BACKUP):
        backup.by_job(world, key, backup.job_path(world, key))


# --- jobs and linked servers -----------------------------------------------------------------------


def find(world: World, server: str, name: str) -> Job:
    """Return the job of that name; 14262 if there is none."""
    for job in world.instances[server].jobs:
        if job.name.lower() == name.lower():
            return job
    raise SqlError(14262, "@job_name", name)


def add(world: World, server: str, job: Job) -> list[Message]:
    """Execute sp_add_job; 14261 if the name is taken."""
    if any(known.name.lower() == job.name.lower() for known in world.instances[server].jobs):
        raise SqlError(14261, "@name", job.name)
    world.update_instance(server, jobs=(*world.instances[server].jobs, job))
    return []


def update(world: World, server: str, name: str, *, enabled: bool) -> list[Message]:
    """Execute sp_update_job @enabled."""
    found = find(world, server, name)
    jobs = tuple(
        replace(job, enabled=enabled) if job is found else job for job in world.instances[server].jobs
    )
    world.update_instance(server, jobs=jobs)
    return []


def delete(world: World, server: str, name: str) -> list[Message]:
    """Execute sp_delete_job."""
    found = find(world, server, name)
    world.update_instance(server, jobs=tuple(job for job in world.instances[server].jobs if job is not found))
    return []


def copy_all(world: World, source: str, target: str) -> list[str]:
    """Copy the jobs that *target* lacks, disabled; returns their names."""
    known = {job.name.lower() for job in world.instances[target].jobs}
    new = [
        replace(job, enabled=False) for job in world.instances[source].jobs if job.name.lower() not in known
    ]
    world.update_instance(target, jobs=(*world.instances[target].jobs, *new))
    return [job.name for job in new]


def add_linked_server(world: World, server: str, name: str) -> list[Message]:
    """Execute sp_addlinkedserver; 15028 if the server exists already."""
    linked = world.instances[server].linked_servers
    if name.lower() in (known.lower() for known in linked):
        raise SqlError(15028, name)
    world.update_instance(server, linked_servers=(*linked, name))
    return []


def drop_linked_server(world: World, server: str, name: str) -> list[Message]:
    """Execute sp_dropserver; 15015 if there is none."""
    linked = world.instances[server].linked_servers
    kept = tuple(known for known in linked if known.lower() != name.lower())
    if kept == linked:
        raise SqlError(15015, name)
    world.update_instance(server, linked_servers=kept)
    return []


HANDLERS: Final[Handlers] = {"log.backup": back_up_log}
