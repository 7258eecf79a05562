"""Verbs for SQL Server Agent jobs, logins and linked servers."""

from __future__ import annotations

from typing import Final

from engine.inputs import Input, InputError, but_there_are
from engine.localization import mark, say
from engine.messages import SqlError
from engine.model import Login, World
from engine.protocol import jobs, network, security
from engine.verbs.verb import (
    SERVER,
    SERVERS,
    Args,
    Doing,
    Verb,
    VerbParameter,
    emit_maintenance_event,
    need_running,
    of_server,
    other_servers,
)

SECTION: Final = mark("Logins and jobs")

# --- the agent and its jobs -------------------------------------------------------------------------------


def _agent(running: bool) -> Doing:
    def do(world: World, item: Input) -> None:
        if world.instances[item.args[0]].edition == "Express":
            raise InputError(say("Express edition has no SQL Server Agent"))
        world.update_instance(item.args[0], agent_running=running)

    return do


def _set_jobs(enabled: bool) -> Doing:
    """Execute `enable-jobs S [JOB]`, `disable-jobs S [JOB]`: one job, or all of the server."""

    def do(world: World, item: Input) -> None:
        server = item.args[0]
        need_running(world, server)
        there = [job.name for job in world.instances[server].jobs]
        try:
            names = [jobs.find(world, server, item.args[1].strip()).name] if item.args[1:] else there
        except SqlError:
            problem = say("{server} has no job {name}", server=server, name=item.args[1])
            raise InputError(but_there_are(problem, there)) from None
        for name in names:
            jobs.update(world, server, name, enabled=enabled)
        template = mark("jobs enabled ({n}): {names}") if enabled else mark("jobs disabled ({n}): {names}")
        emit_maintenance_event(world, server, say(template, n=len(names), names=", ".join(names)), jobs=names)

    return do


def _copy_jobs(world: World, item: Input) -> None:
    """Copy the jobs that B lacks, disabled."""
    a, b = item.args
    need_running(world, a, b)
    names = jobs.copy_all(world, a, b)
    emit_maintenance_event(
        world, b, say("jobs copied from {server}, disabled: {n}", n=len(names), server=a), jobs=names
    )


def _new_jobs(world: World, args: Args) -> bool:
    a, b = ({job.name for job in world.instances[name].jobs} for name in args)
    return bool(a - b)


# --- logins -----------------------------------------------------------------------------------------------


def _transfer_logins(world: World, item: Input) -> None:
    """Transfer the logins that B lacks, with SID and password, as sp_help_revlogin scripts them."""
    a, b = item.args
    need_running(world, a, b)
    new: list[Login] = []
    other_sid: list[str] = []
    for login in world.instances[a].logins:
        known = security.login_of(world.instances[b], login.name)
        if known is None and login.kind != "CERTIFICATE":
            new.append(login)
        elif known is not None and known.sid != login.sid:
            other_sid.append(login.name)
    world.update_instance(b, logins=(*world.instances[b].logins, *new))
    text = say("logins transferred from {server}: {n}", n=len(new), server=a)
    if other_sid:
        names = ", ".join(other_sid)
        text = say("{what}; not changed because the SID differs: {names}", what=text, names=names)
    emit_maintenance_event(world, b, text, logins=[login.name for login in new])
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
    emit_maintenance_event(world, server, say("linked server {name} created", name=name))


def _copy_linked_servers(world: World, item: Input) -> None:
    a, b = item.args
    need_running(world, a, b)
    known = world.instances[b].linked_servers
    new = [name for name in world.instances[a].linked_servers if name not in known]
    world.update_instance(b, linked_servers=(*known, *new))
    emit_maintenance_event(
        world, b, say("linked servers copied from {server}: {n}", n=len(new), server=a), linked_servers=new
    )


def _new_linked_servers(world: World, args: Args) -> bool:
    a, b = (set(world.instances[name].linked_servers) for name in args)
    return bool(a - b)


JOB: Final = VerbParameter(mark("job"), "rest", optional=True)

VERBS: Final = (
    Verb(
        name="stop-agent",
        parameters=(SERVER,),
        help=mark("stop SQL Server Agent; no jobs run"),
        group="fault",
        do=_agent(running=False),
        reverse="start-agent",
        effect=lambda world, fault: say("no job is running on {server}", server=fault.args[0]),
        label=mark("Stop SQL Server Agent"),
        icon="stop",
        section=SECTION,
        sensible=of_server(lambda server: server.agent_running and server.running),
    ),
    Verb(
        name="start-agent",
        parameters=(SERVER,),
        help=mark("start SQL Server Agent"),
        group="repair",
        do=_agent(running=True),
        label=mark("Start SQL Server Agent"),
        icon="play",
        sensible=of_server(lambda server: not server.agent_running),
    ),
    Verb(
        name="transfer-logins",
        told=mark("Transfer logins from {from} to {to}"),
        parameters=SERVERS,
        help=mark("copy logins with their SIDs and passwords"),
        group="chore",
        do=_transfer_logins,
        label=mark("Transfer logins to {1}"),
        icon="app",
        section=SECTION,
        sensible=_new_logins,
    ),
    Verb(
        name="copy-jobs",
        told=mark("Copy jobs from {from} to {to}, disabled"),
        parameters=SERVERS,
        help=mark("copy jobs, disabled"),
        group="chore",
        do=_copy_jobs,
        label=mark("Copy jobs to {1}, disabled"),
        icon="app",
        section=SECTION,
        sensible=_new_jobs,
    ),
    Verb(
        name="enable-jobs",
        told=mark("Enable the job {job} on {server}"),
        parameters=(SERVER, JOB),
        help=mark("enable one job, or all"),
        group="chore",
        do=_set_jobs(enabled=True),
        reverse="disable-jobs",
        label=mark("Enable all jobs"),
        icon="play",
        section=SECTION,
        sensible=of_server(lambda server: any(not job.enabled for job in server.jobs)),
    ),
    Verb(
        name="disable-jobs",
        told=mark("Disable the job {job} on {server}"),
        parameters=(SERVER, JOB),
        help=mark("disable one job, or all"),
        group="chore",
        do=_set_jobs(enabled=False),
        reverse="enable-jobs",
        label=mark("Disable all jobs"),
        icon="pause",
        section=SECTION,
        sensible=of_server(lambda server: any(job.enabled for job in server.jobs)),
    ),
    Verb(
        name="create-linked-server",
        told=mark("Create the linked server {name} on {server}"),
        parameters=(SERVER, VerbParameter(mark("name"), values=other_servers)),
        help=mark("create a linked server"),
        group="chore",
        do=_create_linked_server,
        label=mark("Create the linked server {1}"),
        icon="app",
        section=SECTION,
        sensible=of_server(lambda server: server.running),
    ),
    Verb(
        name="copy-linked-servers",
        told=mark("Copy linked servers from {from} to {to}"),
        parameters=SERVERS,
        help=mark("copy the definitions of linked servers"),
        group="chore",
        do=_copy_linked_servers,
        label=mark("Copy linked servers to {1}"),
        icon="app",
        section=SECTION,
        sensible=_new_linked_servers,
    ),
)
