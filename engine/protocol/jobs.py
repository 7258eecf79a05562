"""SQL Server Agent jobs with their schedules, and linked servers.

Jobs belong to one server and do not fail over.

The white paper describes the practice [WP, preparing the mirror]: jobs are copied to the mirror's server and
disabled there. The DBA enables them after a failover.
"""

from typing import Final

from msgspec.structs import replace

from engine.messages import Message, SqlError
from engine.model import DbState, Handlers, Job, Key, RecoveryModel, Service, World
from engine.protocol import backup

LOG_BACKUP: Final = "log backup"
MONITOR: Final = "monitor"


def build_standard_jobs(database: str) -> tuple[Job, ...]:
    """Return the usual jobs of a database: one that the simulation runs, and two that are only listed."""
    return (
        Job(name=f"{database} log backup", database=database, action=LOG_BACKUP),
        Job(name=f"{database} index maintenance", database=database),
        Job(name=f"{database} nightly load", database=database),
    )


def is_agent_running(world: World, server: str) -> bool:
    """Return whether SQL Server Agent runs. It stops when its instance stops or hangs."""
    state = world.instances[server]
    return state.agent_running and state.service is Service.RUNNING and not state.hung


def is_job_running_for(world: World, server: str, database: str, action: str) -> bool:
    """Return whether SQL Server Agent on *server* runs a job that performs *action* for *database*.

    If no server has such a job, return whether the Agent on *server* runs.
    """
    having = [
        (name, job)
        for name, state in world.instances.items()
        for job in state.jobs
        if job.action == action and job.database == database
    ]
    if not having:
        return is_agent_running(world, server)
    return is_agent_running(world, server) and any(name == server and job.enabled for name, job in having)


# --- log backups -----------------------------------------------------------------------------------


def start_log_backup_timer(world: World, key: Key) -> None:
    """Start the timer of the scheduled log backups of a new copy."""
    world.cancel_calls("log.backup", *key)
    copy = world.copies[key]
    if copy.log_backup_every_s > 0.0:
        world.call_after(copy.log_backup_every_s, "log.backup", *key)


def run_log_backup_job(world: World, server: str, database: str) -> None:
    """Run the log backup job of a copy (timer handler). It frees log for reuse."""
    key = (server, database)
    copy = world.copies.get(key)
    if copy is None or copy.log_backup_every_s <= 0.0:
        return
    world.call_after(copy.log_backup_every_s, "log.backup", server, database)
    writes = copy.source is not None
    is_usable = copy.db_state is DbState.ONLINE and not copy.recovering
    logged = copy.full_backup and copy.recovery_model is not RecoveryModel.SIMPLE
    if writes and is_usable and logged and is_job_running_for(world, server, database, LOG_BACKUP):
        backup.back_up_log_by_job(world, key, backup.build_job_path(world, key))


# --- jobs and linked servers -----------------------------------------------------------------------


def find_job(world: World, server: str, name: str) -> Job:
    """Return the job named *name*. Raise 14262 if it does not exist."""
    for job in world.instances[server].jobs:
        if job.name.lower() == name.lower():
            return job
    raise SqlError(14262, "@job_name", name)


def add_job(world: World, server: str, job: Job) -> list[Message]:
    """Add a job (sp_add_job). Raise 14261 if the name exists."""
    if any(known_job.name.lower() == job.name.lower() for known_job in world.instances[server].jobs):
        raise SqlError(14261, "@name", job.name)
    world.update_instance(server, jobs=(*world.instances[server].jobs, job))
    return []


def update_job(world: World, server: str, name: str, *, enabled: bool) -> list[Message]:
    """Enable or disable a job (sp_update_job)."""
    found_job = find_job(world, server, name)
    jobs = tuple(
        replace(job, enabled=enabled) if job is found_job else job for job in world.instances[server].jobs
    )
    world.update_instance(server, jobs=jobs)
    return []


def delete_job(world: World, server: str, name: str) -> list[Message]:
    """Delete a job (sp_delete_job)."""
    found_job = find_job(world, server, name)
    world.update_instance(
        server, jobs=tuple(job for job in world.instances[server].jobs if job is not found_job)
    )
    return []


def copy_missing_jobs(world: World, source: str, target: str) -> list[str]:
    """Copy the jobs that *target* lacks, disable the copies, and return their names."""
    known_jobs = {job.name.lower() for job in world.instances[target].jobs}
    new_jobs = [
        replace(job, enabled=False)
        for job in world.instances[source].jobs
        if job.name.lower() not in known_jobs
    ]
    world.update_instance(target, jobs=(*world.instances[target].jobs, *new_jobs))
    return [job.name for job in new_jobs]


def add_linked_server(world: World, server: str, name: str) -> list[Message]:
    """Add a linked server (sp_addlinkedserver). Raise 15028 if it exists."""
    linked = world.instances[server].linked_servers
    if name.lower() in (linked_name.lower() for linked_name in linked):
        raise SqlError(15028, name)
    world.update_instance(server, linked_servers=(*linked, name))
    return []


def drop_linked_server(world: World, server: str, name: str) -> list[Message]:
    """Drop a linked server (sp_dropserver). Raise 15015 if it does not exist."""
    linked = world.instances[server].linked_servers
    remaining = tuple(linked_name for linked_name in linked if linked_name.lower() != name.lower())
    if remaining == linked:
        raise SqlError(15015, name)
    world.update_instance(server, linked_servers=remaining)
    return []


HANDLERS: Final[Handlers] = {"log.backup": run_log_backup_job}
