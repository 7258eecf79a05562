"""What a server answers when Object Explorer asks it: its own knowledge as labels, or why there is none. No Qt."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from app import formatting
from engine.constants import TICKS_PER_S
from engine.messages import text_of
from engine.model import Copy, DbState, EndpointState, MirrorState, Role, Server, World
from engine.tsql.client import reachable
from engine.tsql.context import SYSTEM_DATABASES
from engine.tsql.environment import PRODUCT


@dataclass(frozen=True, slots=True)
class Item:
    """One object in a folder."""

    kind: str
    """database, system database, login, certificate, endpoint, linked server, job, log."""
    name: str
    label: str
    tone: str = "text"
    """Token of the theme for its sign; the label says the same in words."""
    tip: str = ""


Answer = Callable[[World, Server], Iterable[Item]]


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder, which asks for its items when it is opened first."""

    name: str
    title: str
    items: Answer | None = None
    folders: tuple[Folder, ...] = ()


# --- is there an answer -------------------------------------------------------------------------------------

TIMEOUT, REFUSED, NOT_FOUND = -2, 2, 53
"""Error numbers that Management Studio shows when it gets no connection; their texts stand with the others."""


def no_answer(world: World, name: str) -> int | None:
    """The number of the error that asking *name* meets; TIMEOUT only after the login timeout. None: it answers."""
    server = world.servers[name]
    if reachable(world, name):
        return TIMEOUT if server.hung else None
    return REFUSED if server.powered and server.nic_up else NOT_FOUND


def words_of(number: int, name: str) -> str:
    """The client's message of that number."""
    return text_of(number, name)[1]


# --- labels -------------------------------------------------------------------------------------------------


def server_label(server: Server) -> str:
    """`SERVER_A (SQL Server 9.0.5000 - CORP\\dba)`, as Management Studio writes it."""
    numbers = [int(part) for part in PRODUCT[server.version][0].split(".")[:3]]
    version = ".".join(str(number) for number in numbers)
    return f"{server.name} (SQL Server {version} - {server.domain}\\dba)"


_STATE: Final = {
    DbState.ONLINE: ("", "ok"),
    DbState.RESTORING: ("Restoring...", "idle"),
    DbState.RECOVERING: ("In Recovery", "warn"),
    DbState.RECOVERY_PENDING: ("Recovery Pending", "bad"),
    DbState.SUSPECT: ("Suspect", "bad"),
    DbState.EMERGENCY: ("Emergency", "bad"),
    DbState.OFFLINE: ("Offline", "idle"),
}
"""Words of Management Studio, and the token of the sign."""

_MIRROR_STATE: Final = {
    MirrorState.SYNCHRONIZED: ("Synchronized", "ok"),
    MirrorState.SYNCHRONIZING: ("Synchronizing", "info"),
    MirrorState.SUSPENDED: ("Suspended", "warn"),
    MirrorState.DISCONNECTED: ("Disconnected", "bad"),
    MirrorState.PENDING_FAILOVER: ("Pending Failover", "warn"),
}
_ROLE: Final = {Role.PRINCIPAL: "Principal", Role.MIRROR: "Mirror"}


def database_item(copy: Copy) -> Item:
    """`Sales (Mirror, Synchronized / Restoring...)`: role and session, then what sys.databases says. Facts 3.4."""
    state, tone = _STATE[DbState.RECOVERING if copy.recovering else copy.db_state]
    session = ""
    if copy.role is not None and copy.mirror_state is not None:
        words, tone = _MIRROR_STATE[copy.mirror_state]
        session = f"{_ROLE[copy.role]}, {words}"
    brackets = " / ".join(part for part in (session, state) if part)
    label = f"{copy.database} ({brackets})" if brackets else copy.database
    return Item("database", copy.database, label, tone, label)


# --- folders ------------------------------------------------------------------------------------------------


def _databases(world: World, server: Server) -> Iterable[Item]:
    mine = [copy for (name, _), copy in world.copies.items() if name == server.name]
    return [database_item(copy) for copy in sorted(mine, key=lambda copy: copy.database.lower())]


def _system_databases(world: World, server: Server) -> Iterable[Item]:
    return [Item("system database", name, name, "ok") for name in SYSTEM_DATABASES]


def _logins(world: World, server: Server) -> Iterable[Item]:
    yield Item("login", "sa", "sa")
    for login in sorted(server.logins, key=lambda login: login.name.lower()):
        if login.name.lower() != "sa":
            label = f"{login.name} (disabled)" if login.disabled else login.name
            yield Item(
                "login", login.name, label, "idle" if login.disabled else "text", f"{login.kind} login"
            )


def _certificates(world: World, server: Server) -> Iterable[Item]:
    for certificate in server.certificates:
        late = certificate.expires_tick <= world.tick
        until = formatting.server_time(world.settings.start_time, certificate.expires_tick, 0)
        key = "with" if certificate.has_private_key else "without"
        tip = f"{certificate.subject}; {'expired' if late else 'valid until'} {until}; {key} private key"
        yield Item("certificate", certificate.name, certificate.name, "bad" if late else "text", tip)


_ENDPOINT_TONE: Final = {
    EndpointState.STARTED: "ok",
    EndpointState.STOPPED: "bad",
    EndpointState.DISABLED: "idle",
}


def _endpoints(world: World, server: Server) -> Iterable[Item]:
    end = server.endpoint
    if end is not None:
        state = end.state.name.capitalize()
        tip = f"Database mirroring, TCP {end.port}, role {end.role}, {state.lower()}"
        yield Item("endpoint", end.name, f"{end.name} ({state})", _ENDPOINT_TONE[end.state], tip)


def _linked_servers(world: World, server: Server) -> Iterable[Item]:
    return [Item("linked server", name, name) for name in sorted(server.linked_servers)]


def _logs(world: World, server: Server) -> Iterable[Item]:
    began = formatting.server_time(world.settings.start_time, max(0, server.started_tick), 0)
    yield Item("log", "Current", f"Current - {began}")


def _jobs(world: World, server: Server) -> Iterable[Item]:
    for job in sorted(server.jobs, key=lambda job: job.name.lower()):
        label = job.name if job.enabled else f"{job.name} (disabled)"
        yield Item("job", job.name, label, "text" if job.enabled else "idle", label)


FOLDERS: Final = (
    Folder("databases", "Databases", _databases, (Folder("system", "System Databases", _system_databases),)),
    Folder("security", "Security", None, (
        Folder("logins", "Logins", _logins),
        Folder("certificates", "Certificates", _certificates),
    )),
    Folder("objects", "Server Objects", None, (
        Folder("endpoints", "Endpoints", _endpoints),
        Folder("linked", "Linked Servers", _linked_servers),
    )),
    Folder("management", "Management", None, (Folder("logs", "SQL Server Logs", _logs),)),
    Folder("agent", "SQL Server Agent", None, (Folder("jobs", "Jobs", _jobs),)),
)  # fmt: skip
"""The tree under a server, in the order of Management Studio."""


def folder_title(folder: Folder, server: Server) -> str:
    """The agent's folder tells whether it runs."""
    return (
        f"{folder.title} (stopped)" if folder.name == "agent" and not server.agent_running else folder.title
    )


def ago(tick: int, now: int) -> str:
    """`0:41, 2 min 05 s ago`."""
    at = formatting.run_time(tick / TICKS_PER_S)
    age_s = max(0, now - tick) / TICKS_PER_S
    age = formatting.seconds(age_s, 0).replace(" ", "\u00a0")  # in one piece
    return f"{at}, just now" if age_s < 1.0 else f"{at}, {age} ago"
