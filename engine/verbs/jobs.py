"""Verbs for SQL Server Agent jobs, logins and linked servers."""

from typing import Final

from engine.cluster import instances
from engine.events import ChoreData
from engine.inputs import Input, InputError, append_existing_names
from engine.localization import build_message, mark
from engine.messages import SqlError
from engine.model import Login, World
from engine.protocol import jobs, network
from engine.verbs.verb import (
    SERVER,
    Args,
    VerbFunction,
    VerbParameter,
    build_server_check,
    build_verb,
    list_other_servers,
    require_running_servers,
)

# --- the agent and its jobs -------------------------------------------------------------------------------


def _build_agent_action(running: bool) -> VerbFunction:
    def execute_verb(world: World, input_: Input) -> None:
        if world.instances[input_.args[0]].edition == "Express":
            raise InputError(build_message("Express edition has no SQL Server Agent"))
        if running:
            world.update_instance(input_.args[0], agent_running=True)
        else:
            instances.fail_agent(world, input_.args[0])

    return execute_verb


def _build_job_action(enabled: bool) -> VerbFunction:
    """Build the function of `enable-jobs S [JOB]` or `disable-jobs S [JOB]`.

    Without JOB, it affects all jobs.
    """

    def execute_verb(world: World, input_: Input) -> None:
        server = input_.args[0]
        require_running_servers(world, server)
        known_names = [job.name for job in world.instances[server].jobs]
        try:
            names = (
                [jobs.find_job(world, server, input_.args[1].strip()).name]
                if input_.args[1:]
                else known_names
            )
        except SqlError:
            problem = build_message("{server} has no job {name}", server=server, name=input_.args[1])
            raise InputError(append_existing_names(problem, known_names)) from None
        for name in names:
            jobs.update_job(world, server, name, enabled=enabled)
        template = mark("jobs enabled ({n}): {names}") if enabled else mark("jobs disabled ({n}): {names}")
        world.emit(
            ChoreData(jobs=names),
            build_message(template, n=len(names), names=", ".join(names)),
            server=server,
        )

    return execute_verb


def _copy_jobs(world: World, input_: Input) -> None:
    """Copy the jobs that the second server lacks. The copies are disabled."""
    a, b = input_.args
    require_running_servers(world, a, b)
    names = jobs.copy_missing_jobs(world, a, b)
    world.emit(
        ChoreData(jobs=names),
        build_message("jobs copied from {server}, disabled: {n}", n=len(names), server=a),
        server=b,
    )


def _has_missing_jobs(world: World, args: Args) -> bool:
    a, b = ({job.name for job in world.instances[name].jobs} for name in args)
    return bool(a - b)


# --- logins -----------------------------------------------------------------------------------------------


def _transfer_logins(world: World, input_: Input) -> None:
    """Transfer the logins that the second server lacks, with SID and password, as sp_help_revlogin does."""
    a, b = input_.args
    require_running_servers(world, a, b)
    new_logins: list[Login] = []
    other_sid: list[str] = []
    for login in world.instances[a].logins:
        known_login = world.instances[b].find_login(login.name)
        if known_login is None and login.kind != "CERTIFICATE":
            new_logins.append(login)
        elif known_login is not None and known_login.sid != login.sid:
            other_sid.append(login.name)
    world.update_instance(b, logins=(*world.instances[b].logins, *new_logins))
    text = build_message("logins transferred from {server}: {n}", n=len(new_logins), server=a)
    if other_sid:
        names = ", ".join(other_sid)
        text = build_message("{what}; not changed, because the SID differs: {names}", what=text, names=names)
    world.emit(ChoreData(logins=[login.name for login in new_logins]), text, server=b)
    network.schedule_detections(world)


def _has_missing_logins(world: World, args: Args) -> bool:
    names = {login.name for login in world.instances[args[0]].logins if login.kind != "CERTIFICATE"}
    return bool(names - {login.name for login in world.instances[args[1]].logins})


# --- linked servers ---------------------------------------------------------------------------------------


def _create_linked_server(world: World, input_: Input) -> None:
    server, name = input_.args
    require_running_servers(world, server)
    try:
        jobs.add_linked_server(world, server, name)
    except SqlError:
        raise InputError(
            build_message("{server} already has a linked server {name}", server=server, name=name)
        ) from None
    world.emit(ChoreData(), build_message("linked server {name} created", name=name), server=server)


def _copy_linked_servers(world: World, input_: Input) -> None:
    a, b = input_.args
    require_running_servers(world, a, b)
    servers = world.instances[b].linked_servers
    new_servers = [name for name in world.instances[a].linked_servers if name not in servers]
    world.update_instance(b, linked_servers=(*servers, *new_servers))
    world.emit(
        ChoreData(linked_servers=new_servers),
        build_message("linked servers copied from {server}: {n}", n=len(new_servers), server=a),
        server=b,
    )


def _has_missing_linked_servers(world: World, args: Args) -> bool:
    a, b = (set(world.instances[name].linked_servers) for name in args)
    return bool(a - b)


JOB: Final = VerbParameter(mark("job"), "rest", optional=True)

VERBS: Final = (
    build_verb(
        "stop-agent",
        _build_agent_action(running=False),
        effect=lambda world, fault: build_message("no job is running on {server}", server=fault.args[0]),
        sensible=build_server_check(lambda server: server.agent_running and server.running),
    ),
    build_verb(
        "start-agent",
        _build_agent_action(running=True),
        sensible=build_server_check(lambda server: not server.agent_running),
    ),
    build_verb("transfer-logins", _transfer_logins, sensible=_has_missing_logins),
    build_verb("copy-jobs", _copy_jobs, sensible=_has_missing_jobs),
    build_verb(
        "enable-jobs",
        _build_job_action(enabled=True),
        parameters=(SERVER, JOB),
        sensible=build_server_check(lambda server: any(not job.enabled for job in server.jobs)),
    ),
    build_verb(
        "disable-jobs",
        _build_job_action(enabled=False),
        parameters=(SERVER, JOB),
        sensible=build_server_check(lambda server: any(job.enabled for job in server.jobs)),
    ),
    build_verb(
        "create-linked-server",
        _create_linked_server,
        parameters=(SERVER, VerbParameter(mark("name"), values=list_other_servers)),
        sensible=build_server_check(lambda server: server.running),
    ),
    build_verb("copy-linked-servers", _copy_linked_servers, sensible=_has_missing_linked_servers),
)
