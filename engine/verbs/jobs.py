"""Verbs for SQL Server Agent jobs, logins and linked servers."""

from typing import Final

from engine.events import ChoreData
from engine.inputs import Input, InputError, but_there_are
from engine.localization import mark, say
from engine.messages import SqlError
from engine.model import Login, World
from engine.protocol import jobs, network
from engine.verbs.verb import (
    SERVER,
    Args,
    Doing,
    VerbParameter,
    check_server,
    need_running,
    other_servers,
    verb,
)

# --- the agent and its jobs -------------------------------------------------------------------------------


def _agent(running: bool) -> Doing:
    def do(world: World, item: Input) -> None:
        if world.instances[item.args[0]].edition == "Express":
            raise InputError(say("Express edition has no SQL Server Agent"))
        world.update_instance(item.args[0], agent_running=running)

    return do


def _set_jobs(enabled: bool) -> Doing:
    """Build `enable-jobs S [JOB]` or `disable-jobs S [JOB]`, for one job or for all jobs of the server."""

    def do(world: World, item: Input) -> None:
        server = item.args[0]
        need_running(world, server)
        known_names = [job.name for job in world.instances[server].jobs]
        try:
            names = [jobs.find(world, server, item.args[1].strip()).name] if item.args[1:] else known_names
        except SqlError:
            problem = say("{server} has no job {name}", server=server, name=item.args[1])
            raise InputError(but_there_are(problem, known_names)) from None
        for name in names:
            jobs.update(world, server, name, enabled=enabled)
        template = mark("jobs enabled ({n}): {names}") if enabled else mark("jobs disabled ({n}): {names}")
        world.emit(ChoreData(jobs=names), say(template, n=len(names), names=", ".join(names)), server=server)

    return do


def _copy_jobs(world: World, item: Input) -> None:
    """Copy the jobs that server B lacks, as disabled jobs."""
    a, b = item.args
    need_running(world, a, b)
    names = jobs.copy_all(world, a, b)
    world.emit(
        ChoreData(jobs=names),
        say("jobs copied from {server}, disabled: {n}", n=len(names), server=a),
        server=b,
    )


def _new_jobs(world: World, args: Args) -> bool:
    a, b = ({job.name for job in world.instances[name].jobs} for name in args)
    return bool(a - b)


# --- logins -----------------------------------------------------------------------------------------------


def _transfer_logins(world: World, item: Input) -> None:
    """Transfer the logins that server B lacks, with SID and password, as sp_help_revlogin does."""
    a, b = item.args
    need_running(world, a, b)
    new_logins: list[Login] = []
    other_sid: list[str] = []
    for login in world.instances[a].logins:
        known_login = world.instances[b].find_login(login.name)
        if known_login is None and login.kind != "CERTIFICATE":
            new_logins.append(login)
        elif known_login is not None and known_login.sid != login.sid:
            other_sid.append(login.name)
    world.update_instance(b, logins=(*world.instances[b].logins, *new_logins))
    text = say("logins transferred from {server}: {n}", n=len(new_logins), server=a)
    if other_sid:
        names = ", ".join(other_sid)
        text = say("{what}; not changed because the SID differs: {names}", what=text, names=names)
    world.emit(ChoreData(logins=[login.name for login in new_logins]), text, server=b)
    network.reassess(world)


def _new_logins(world: World, args: Args) -> bool:
    names = {login.name for login in world.instances[args[0]].logins if login.kind != "CERTIFICATE"}
    return bool(names - {login.name for login in world.instances[args[1]].logins})


# --- linked servers ---------------------------------------------------------------------------------------


def _create_linked_server(world: World, item: Input) -> None:
    server, name = item.args
    need_running(world, server)
    try:
        jobs.add_linked_server(world, server, name)
    except SqlError:
        raise InputError(
            say("{server} already has a linked server {name}", server=server, name=name)
        ) from None
    world.emit(ChoreData(), say("linked server {name} created", name=name), server=server)


def _copy_linked_servers(world: World, item: Input) -> None:
    a, b = item.args
    need_running(world, a, b)
    servers = world.instances[b].linked_servers
    new_servers = [name for name in world.instances[a].linked_servers if name not in servers]
    world.update_instance(b, linked_servers=(*servers, *new_servers))
    world.emit(
        ChoreData(linked_servers=new_servers),
        say("linked servers copied from {server}: {n}", n=len(new_servers), server=a),
        server=b,
    )


def _new_linked_servers(world: World, args: Args) -> bool:
    a, b = (set(world.instances[name].linked_servers) for name in args)
    return bool(a - b)


JOB: Final = VerbParameter(mark("job"), "rest", optional=True)

VERBS: Final = (
    verb(
        "stop-agent",
        _agent(running=False),
        effect=lambda world, fault: say("no job is running on {server}", server=fault.args[0]),
        sensible=check_server(lambda server: server.agent_running and server.running),
    ),
    verb("start-agent", _agent(running=True), sensible=check_server(lambda server: not server.agent_running)),
    verb("transfer-logins", _transfer_logins, sensible=_new_logins),
    verb("copy-jobs", _copy_jobs, sensible=_new_jobs),
    verb(
        "enable-jobs",
        _set_jobs(enabled=True),
        parameters=(SERVER, JOB),
        sensible=check_server(lambda server: any(not job.enabled for job in server.jobs)),
    ),
    verb(
        "disable-jobs",
        _set_jobs(enabled=False),
        parameters=(SERVER, JOB),
        sensible=check_server(lambda server: any(job.enabled for job in server.jobs)),
    ),
    verb(
        "create-linked-server",
        _create_linked_server,
        parameters=(SERVER, VerbParameter(mark("name"), values=other_servers)),
        sensible=check_server(lambda server: server.running),
    ),
    verb("copy-linked-servers", _copy_linked_servers, sensible=_new_linked_servers),
)
