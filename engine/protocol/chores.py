"""What administrators do outside SQL, and faults of the surroundings: files, logins, jobs, firewalls, drives, upgrades.

Chores that take time end in a timer. What cannot be done as written raises InputProblem and changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from engine.constants import PATCH_S, UPGRADE_S
from engine.inputs import Input, InputProblem
from engine.messages import SqlError
from engine.model import Fault, Login, Server, Service, Volume, World
from engine.protocol import files, jobs, logspace, network, options, pages, quorum, security, service, volumes

KB_PER_GB: Final = 1024.0 * 1024.0


def _tell(world: World, server: str, text: str, **data: Any) -> None:
    world.emit("chore", text, server=server, **data)


def _need_running(world: World, *names: str) -> None:
    for name in names:
        if not world.servers[name].answering:
            raise InputProblem(f"SQL Server on {name} does not answer")


# --- files -----------------------------------------------------------------------------------------


def copy_file(world: World, item: Input) -> None:
    """`copy-file A B PATH`: the file is on B under the same path when the copy is done."""
    a, b, path = item.args
    path = files.spelled(world, a, path.strip())
    found = world.files.get((a, path))
    if found is None:
        there = sorted(name for where, name in world.files if where == a)
        raise InputProblem(f"{a} has no file {path}; there are {', '.join(there[:8]) or 'none'}")
    for name in (a, b):
        if not world.servers[name].powered:
            raise InputProblem(f"{name} is off")
    if not network.passing(world, a, b):
        raise InputProblem(f"{b} cannot be reached from {a}")
    drive = volumes.drive_of(path)
    if not volumes.has_drive(world.servers[b], drive):
        raise InputProblem(f"{b} has no drive {drive}:")
    if volumes.free_kb(world, b, drive) < found.size_kb:
        raise InputProblem(f"drive {drive}: of {b} has no room for {found.size_kb / 1024:.0f} MB")
    seconds = files.transfer_s(world, a, b, found.size_kb)
    _tell(
        world, b, f"copying {path} from {a}: {found.size_kb / 1024:.1f} MB, about {seconds:.0f} s", path=path
    )
    number = world.next_id()
    world.transfers[number] = (a, b, found.size_kb / max(seconds, 0.01))
    world.all_dirty()
    world.after(seconds, "chore.copied", a, b, path, found, number)


def copied(world: World, a: str, b: str, path: str, found: Any, number: int) -> None:
    """Timer: the copy of a file ends; it has failed if a server or the link between them is gone."""
    world.transfers.pop(number, None)
    world.all_dirty()
    if not (world.servers[a].powered and world.servers[b].powered and network.passing(world, a, b)):
        _tell(world, b, f"copying {path} from {a} to {b} has failed", path=path, failed=True)
        return
    world.files[b, path] = found
    _tell(world, b, f"{path} is on {b}", path=path)


def delete_file(world: World, item: Input) -> None:
    """`delete-file S PATH`."""
    server, path = item.args
    path = files.spelled(world, server, path.strip())
    if world.files.pop((server, path), None) is None:
        raise InputProblem(f"{server} has no file {path}")
    _tell(world, server, f"{path} deleted", path=path)
    logspace.check_room(world)


# --- logins, jobs, linked servers ------------------------------------------------------------------


def transfer_logins(world: World, item: Input) -> None:
    """`transfer-logins A B`: logins that B lacks, with SID and password, as sp_help_revlogin scripts them."""
    a, b = item.args
    _need_running(world, a, b)
    new: list[Login] = []
    other_sid: list[str] = []
    for login in world.servers[a].logins:
        known = security.login_of(world.servers[b], login.name)
        if known is None and login.kind != "CERTIFICATE":
            new.append(login)
        elif known is not None and known.sid != login.sid:
            other_sid.append(login.name)
    world.update_server(b, logins=(*world.servers[b].logins, *new))
    text = f"{len(new)} login(s) transferred from {a}"
    if other_sid:
        text += f"; there with another SID, left as they are: {', '.join(other_sid)}"
    _tell(world, b, text, logins=[login.name for login in new])
    network.reassess(world)


def copy_jobs(world: World, item: Input) -> None:
    """`copy-jobs A B`: jobs that B lacks, disabled."""
    a, b = item.args
    _need_running(world, a, b)
    names = jobs.copy_all(world, a, b)
    _tell(world, b, f"{len(names)} job(s) copied from {a}, disabled", jobs=names)


def set_jobs(world: World, item: Input) -> None:
    """`enable-jobs S [JOB]`, `disable-jobs S [JOB]`: one job, or all of the server."""
    server = item.args[0]
    _need_running(world, server)
    enabled = item.verb == "enable-jobs"
    try:
        names = (
            [jobs.find(world, server, item.args[1].strip()).name]
            if item.args[1:]
            else _job_names(world, server)
        )
    except SqlError:
        there = ", ".join(_job_names(world, server)) or "none"
        raise InputProblem(f"{server} has no job {item.args[1]}; there are {there}") from None
    for name in names:
        jobs.update(world, server, name, enabled=enabled)
    word = "enabled" if enabled else "disabled"
    _tell(world, server, f"{len(names)} job(s) {word}: {', '.join(names)}", jobs=names)


def _job_names(world: World, server: str) -> list[str]:
    return [job.name for job in world.servers[server].jobs]


def create_linked_server(world: World, item: Input) -> None:
    """`create-linked-server S NAME`."""
    server, name = item.args
    _need_running(world, server)
    try:
        jobs.add_linked_server(world, server, name)
    except SqlError:
        raise InputProblem(f"{server} has a linked server {name} already") from None
    _tell(world, server, f"linked server {name} created")


def copy_linked_servers(world: World, item: Input) -> None:
    """`copy-linked-servers A B`."""
    a, b = item.args
    _need_running(world, a, b)
    known = world.servers[b].linked_servers
    new = [name for name in world.servers[a].linked_servers if name not in known]
    world.update_server(b, linked_servers=(*known, *new))
    _tell(world, b, f"{len(new)} linked server(s) copied from {a}", linked_servers=new)


# --- drives, service account -----------------------------------------------------------------------


def set_drive(world: World, item: Input) -> None:
    """`add-drive S LETTER size_gb=…` and `grow-volume S LETTER size_gb=…` (its new size)."""
    server, letter = item.args[0], item.args[1].strip(":\\").upper()
    state = world.servers[server]
    size_kb = item.option("size_gb", 100.0) * KB_PER_GB
    if len(letter) != 1 or not "A" <= letter <= "Z":
        raise InputProblem(f"a drive is one letter from A to Z, not {item.args[1]}")
    if letter in state.failed_drives:
        raise InputProblem(f"drive {letter}: of {server} is lost (mend-volume brings it back)")
    there = volumes.has_drive(state, letter)
    if item.verb == "add-drive" and there:
        raise InputProblem(f"{server} has a drive {letter}: already")
    if item.verb == "grow-volume" and volumes.size_kb(state, letter) is None:
        lacks = "is already as large as allowed" if there else "does not exist"
        raise InputProblem(f"drive {letter}: of {server} {lacks}")
    if size_kb < (volumes.size_kb(state, letter) or 1.0):
        raise InputProblem(f"drive {letter}: of {server} cannot become smaller")
    kept = tuple(volume for volume in state.volumes if volume.letter.upper() != letter)
    world.update_server(server, volumes=(*kept, Volume(letter=letter, size_kb=size_kb)))
    _tell(world, server, f"drive {letter}: has {size_kb / KB_PER_GB:g} GB", drive=letter)
    logspace.check_room(world)


def set_service_account(world: World, item: Input) -> None:
    """`set-service-account S ACCOUNT`: as Configuration Manager does it, with a restart of the service."""
    server, account = item.args[0], item.args[1].strip()
    world.update_server(server, service_account=account)
    _tell(world, server, f"SQL Server runs as {account}; the service restarts")
    if world.servers[server].service is Service.RUNNING:
        _stop_service(world, server, "restart")


def _stop_service(world: World, server: str, then: str) -> None:
    """Stop the service, with a line in the ledger from which a failover learns its cause."""
    world.faults.append(
        Fault(
            id=world.next_id(),
            verb="restart-service",
            args=(server,),
            asked_tick=world.tick,
            active_tick=world.tick,
        )
    )
    service.stop(world, server, "restart-service", then, ((17148, ()),))


# --- upgrade ---------------------------------------------------------------------------------------


def upgrade(world: World, item: Input) -> None:
    """`upgrade S VERSION [EDITION]`: the service is down meanwhile. The present version is a service pack."""
    server = item.args[0]
    state = world.servers[server]
    version = int(item.args[1])
    edition = item.args[2] if item.args[2:] else state.edition
    if version < state.version:
        raise InputProblem(f"{server} has version {state.version}; it cannot go back to {version}")
    if not state.powered or state.service in (Service.STARTING, Service.STOPPING):
        raise InputProblem(f"{server} cannot be upgraded now")
    same = (version, edition) == (state.version, state.edition)
    seconds = PATCH_S if same else UPGRADE_S
    what = "installing a service pack" if same else f"upgrading to SQL Server {version} {edition}"
    _tell(world, server, f"{what}, about {seconds / 60:.0f} min")
    if state.service is Service.RUNNING:
        _stop_service(world, server, "")
    world.after(seconds, "chore.upgraded", server, version, edition)


def upgraded(world: World, server: str, version: int, edition: str) -> None:
    """Timer: the new version is installed and started, unless somebody has interfered."""
    state = world.servers[server]
    if not state.powered or state.service is not Service.STOPPED:
        _tell(
            world,
            server,
            "the upgrade has failed: the server was switched off or the service started",
            failed=True,
        )
        return
    options.keep_levels(world, server, version)
    world.update_server(server, version=version, edition=edition, installs=state.installs + 1)
    _tell(world, server, f"SQL Server {version} {edition} is installed")
    service.start(world, server)


# --- faults of the surroundings and their reverse --------------------------------------------------

Before = tuple[tuple[str, Any], ...]


def _port(item: Input) -> int:
    digits = item.args[1]
    if not digits.isdecimal() or len(digits) > 5 or not 1 <= int(digits) <= 65_535:
        raise InputProblem(f"a port is a number from 1 to 65535, not {item.args[1]}")
    return int(item.args[1])


def _firewall(world: World, item: Input) -> Before:
    server, port = item.args[0], _port(item)
    before = world.servers[server].blocked_ports
    closed = item.verb == "close-firewall"
    if closed == (port in before):
        raise InputProblem(f"the firewall of {server} {'blocks' if closed else 'allows'} port {port} already")
    after = (*before, port) if closed else tuple(p for p in before if p != port)
    world.update_server(server, blocked_ports=after, refused=())
    network.reassess(world)
    return ()


def _tcp(world: World, item: Input) -> Before:
    world.update_server(item.args[0], tcp_enabled=item.verb == "enable-tcp")
    return ()


def _agent(world: World, item: Input) -> Before:
    if world.servers[item.args[0]].edition == "Express":
        raise InputProblem("Express edition has no SQL Server Agent")
    world.update_server(item.args[0], agent_running=item.verb == "start-agent")
    return ()


def _certificate_name(server: Server, item: Input) -> str:
    shown = security.endpoint_certificate(server)
    found = security.certificate_of(server, item.args[1]) if item.args[1:] else shown
    if found is None:
        there = ", ".join(c.name for c in server.certificates) or "none"
        raise InputProblem(f"{server.name} has no such certificate; there are {there}")
    return found.name


def _set_expiry(world: World, thumbprint: int, tick: int) -> None:
    """A certificate and all copies of it have the same dates."""
    for name, server in world.servers.items():
        if any(c.thumbprint == thumbprint for c in server.certificates):
            dated = tuple(
                replace(c, expires_tick=tick) if c.thumbprint == thumbprint else c
                for c in server.certificates
            )
            world.update_server(name, certificates=dated, refused=())
    network.reassess(world)


def _expire(world: World, item: Input) -> Before:
    server = world.servers[item.args[0]]
    found = security.certificate_of(server, _certificate_name(server, item))
    assert found is not None
    _set_expiry(world, found.thumbprint, world.tick)
    return (("thumbprint", found.thumbprint), ("expires_tick", found.expires_tick))


def _renew(world: World, item: Input) -> Before:
    server = world.servers[item.args[0]]
    name = _certificate_name(server, item)
    found = security.certificate_of(server, name)
    assert found is not None
    for index, fault in enumerate(world.faults):
        before = dict(fault.before)
        active = fault.verb == "expire-certificate" and fault.reverted_tick is None
        if active and before["thumbprint"] == found.thumbprint:
            _set_expiry(world, found.thumbprint, before["expires_tick"])
            world.faults[index] = replace(fault, reverted_tick=world.tick)
            return ()
    raise InputProblem(
        f"the expiry date of {name} on {server.name} was not changed here; create a new certificate"
    )


def _corrupt(world: World, item: Input) -> Before:
    server, database = item.args
    if (server, database) not in world.copies:
        raise InputProblem(f"{server} has no copy of {database}")
    page = round(item.option("page", 1000.0))
    pages.damage(world, server, database, page)
    return (("page", page),)


def _mend_pages(world: World, item: Input) -> Before:
    if tuple(item.args) not in world.copies:
        raise InputProblem(f"{item.args[0]} has no copy of {item.args[1]}")
    pages.mend(world, item.args[0], item.args[1])
    return ()


def _transaction(world: World, item: Input) -> Before:
    (database,) = item.args
    keys = [(copy.server, database) for copy in world.copies_of(database)]
    if item.verb == "end-transaction":
        for where, _ in keys:
            logspace.release_transaction(world, where, database)
        return ()
    server = next((key[0] for key in keys if quorum.serves(world, key)), None)
    if server is None:
        raise InputProblem(f"{database} is down")
    if world.copies[server, database].active_from_kb is not None:
        raise InputProblem(f"a transaction is open in {database} already")
    logspace.hold_transaction(world, server, database)
    return ()


DO: Final[dict[str, Callable[[World, Input], Before]]] = {
    "close-firewall": _firewall,
    "open-firewall": _firewall,
    "disable-tcp": _tcp,
    "enable-tcp": _tcp,
    "stop-agent": _agent,
    "start-agent": _agent,
    "expire-certificate": _expire,
    "renew-certificate": _renew,
    "corrupt-page": _corrupt,
    "mend-page": _mend_pages,
    "open-transaction": _transaction,
    "end-transaction": _transaction,
}
"""Faults and repairs that go through the ledger (faults.DO takes these in)."""

REVERSES: Final = {
    "open-firewall": ("close-firewall",),
    "enable-tcp": ("disable-tcp",),
    "start-agent": ("stop-agent",),
    "renew-certificate": ("expire-certificate",),
    "mend-page": ("corrupt-page",),
    "end-transaction": ("open-transaction",),
}
"""Which active faults a verb takes back."""


def effect_of(world: World, fault: Fault) -> str:
    """What proves that a fault of this file has taken hold; empty if nothing does yet."""
    if fault.verb == "open-transaction":
        held = [copy for copy in world.copies_of(fault.args[0]) if copy.active_from_kb is not None]
        waits = any(logspace.reuse_wait(world, copy.source) == "ACTIVE_TRANSACTION" for copy in held)
        return f"log of {fault.args[0]} waits for the transaction" if waits else ""
    server = world.servers[fault.args[0]]
    if fault.verb == "close-firewall":
        return f"nothing reaches port {fault.args[1]} of {server.name}"
    if fault.verb == "disable-tcp" and not server.tcp_listening:
        return f"{server.name} does not listen on TCP/IP"
    if fault.verb == "stop-agent":
        return f"no job runs on {server.name}"
    if fault.verb == "expire-certificate":
        refused = any("expired" in reason for s in world.servers.values() for _, reason in s.refused)
        return "a connection was refused" if refused else ""
    if fault.verb == "corrupt-page":
        copy = world.copies[server.name, fault.args[1]]
        page = dict(fault.before)["page"]
        met = copy.redo_failed or page not in copy.bad_pages or any(r.page == page for r in copy.page_repairs)
        return "the page was read" if met else ""
    return ""


CHORES: Final[dict[str, Callable[[World, Input], None]]] = {
    "copy-file": copy_file,
    "delete-file": delete_file,
    "transfer-logins": transfer_logins,
    "copy-jobs": copy_jobs,
    "enable-jobs": set_jobs,
    "disable-jobs": set_jobs,
    "create-linked-server": create_linked_server,
    "copy-linked-servers": copy_linked_servers,
    "add-drive": set_drive,
    "grow-volume": set_drive,
    "set-service-account": set_service_account,
    "upgrade": upgrade,
}
"""Chores, by verb."""

HANDLERS: Final[dict[str, Callable[..., None]]] = {"chore.copied": copied, "chore.upgraded": upgraded}
