"""Answers of a server to Object Explorer: labels of its objects, or an error. Independent of Qt."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Final

from msgspec import Struct

from app.view_models import dashboard
from app.view_models.dashboard import SEVERITY_COLORS, STATE_LABELS, get_worst_severity
from app.words import formatting
from app.words.language import mark, tr
from engine import tsql
from engine.availability import replicas
from engine.constants import PRODUCT_VERSIONS, TICKS_PER_S
from engine.messages import fill_message
from engine.model import DatabaseCopy, DbState, EndpointState, Instance, MirrorState, Role, SyncState, World


class ExplorerItem(Struct, frozen=True):
    """Object in a folder of the tree."""

    kind: str
    """Kind: database, system database, login, certificate, endpoint, linked server, job, log, availability
    group, availability replica, availability database or listener.
    """
    name: str
    label: str
    color_name: str = "text"
    """Theme color of the icon. The label contains the same information."""
    tip: str = ""
    folders: tuple[ExplorerFolder, ...] = ()


ListFolderItems = Callable[[World, Instance], Iterable[ExplorerItem]]


class ExplorerFolder(Struct, frozen=True):
    """Folder that requests its items when it is first opened."""

    name: str
    title: str
    list_items: ListFolderItems | None = None
    folders: tuple[ExplorerFolder, ...] = ()
    is_available: Callable[[World, Instance], bool] = lambda world, server: True
    """Predicate that returns True if the server has this folder."""


# --- connection errors --------------------------------------------------------------------------------------

TIMEOUT_ERROR, REFUSED_ERROR, NOT_FOUND_ERROR = -2, 2, 53
"""Error numbers of failed connections in Management Studio."""


def find_connection_error(world: World, name: str) -> int | None:
    """Return the error number for a connection to *name*, or None if the server responds.

    TIMEOUT_ERROR means that the instance hangs. A client gets this error only after the login timeout.
    """
    server = world.instances[name]
    if tsql.is_reachable(world, name):
        return TIMEOUT_ERROR if server.hung else None
    return (
        REFUSED_ERROR
        if world.computers[server.computer].powered and world.computers[server.computer].nic_up
        else NOT_FOUND_ERROR
    )


def format_client_message(number: int, name: str) -> str:
    """Return the text of the client message *number*."""
    return fill_message(number, name)[1]


# --- labels -------------------------------------------------------------------------------------------------


def format_server_label(world: World, server: Instance) -> str:
    r"""Return the label of a server as in Management Studio: `SERVER_A (SQL Server 9.0.5000 - CORP\dba)`."""
    numbers = [int(part) for part in PRODUCT_VERSIONS[server.version][0].split(".")[:3]]
    version = ".".join(str(number) for number in numbers)
    return f"{server.name} (SQL Server {version} - {world.computers[server.computer].domain}\\dba)"


_STATE_STYLES: Final = {
    DbState.ONLINE: ("", "ok"),
    DbState.RESTORING: (mark("Restoring..."), "idle"),
    DbState.RECOVERING: (mark("In Recovery"), "warn"),
    DbState.RECOVERY_PENDING: (mark("Recovery Pending"), "bad"),
    DbState.SUSPECT: (mark("Suspect"), "bad"),
    DbState.EMERGENCY: (mark("Emergency"), "bad"),
    DbState.OFFLINE: (mark("Offline"), "idle"),
}
"""Database state -> text of Management Studio, and theme color of the icon."""

_MIRRORING_STATE_TEXTS: Final = {
    MirrorState.SYNCHRONIZED: (mark("Synchronized"), "ok"),
    MirrorState.SYNCHRONIZING: (mark("Synchronizing"), "info"),
    MirrorState.SUSPENDED: (mark("Suspended"), "warn"),
    MirrorState.DISCONNECTED: (mark("Disconnected"), "bad"),
    MirrorState.PENDING_FAILOVER: (mark("Pending Failover"), "warn"),
}
_ROLE_TEXTS: Final = {Role.PRINCIPAL: mark("Principal"), Role.MIRROR: mark("Mirror")}


def build_database_item(copy: DatabaseCopy) -> ExplorerItem:
    """Return an item with a label such as `Sales (Mirror, Synchronized / Restoring...)`.

    The label contains role and session state, then the state in sys.databases. See docs/facts.md, section
    3.4.
    """
    state_words, color_name = _STATE_STYLES[DbState.RECOVERING if copy.recovering else copy.db_state]
    state, session = tr(state_words), ""
    if copy.mirroring.role is not None and copy.mirroring.state is not None:
        words, color_name = _MIRRORING_STATE_TEXTS[copy.mirroring.state]
        session = f"{tr(_ROLE_TEXTS[copy.mirroring.role])}, {tr(words)}"
    elif copy.availability.guid is not None and copy.db_state is DbState.ONLINE:
        sync_state = copy.availability.state
        session = tr(STATE_LABELS[sync_state])
        moving = sync_state in (SyncState.SYNCHRONIZED, SyncState.SYNCHRONIZING)
        color_name = "ok" if sync_state is SyncState.SYNCHRONIZED else "info" if moving else "bad"
    brackets = " / ".join(part for part in (session, state) if part)
    label = f"{copy.database} ({brackets})" if brackets else copy.database
    return ExplorerItem("database", copy.database, label, color_name, label)


# --- folders ------------------------------------------------------------------------------------------------


def _list_databases(world: World, server: Instance) -> Iterable[ExplorerItem]:
    own_copies = [copy for (name, _), copy in world.copies.items() if name == server.name]
    return [build_database_item(copy) for copy in sorted(own_copies, key=lambda copy: copy.database.lower())]


def _list_system_databases(world: World, server: Instance) -> Iterable[ExplorerItem]:
    return [ExplorerItem("system database", name, name, "ok") for name in tsql.SYSTEM_DATABASES]


def _list_logins(world: World, server: Instance) -> Iterable[ExplorerItem]:
    yield ExplorerItem("login", "sa", "sa")
    for login in sorted(server.logins, key=lambda login: login.name.lower()):
        if login.name.lower() != "sa":
            label = tr("{name} (disabled)").format(name=login.name) if login.disabled else login.name
            yield ExplorerItem(
                "login",
                login.name,
                label,
                "idle" if login.disabled else "text",
                tr("{kind} login").format(kind=login.kind),
            )


def _list_certificates(world: World, server: Instance) -> Iterable[ExplorerItem]:
    for certificate in server.certificates:
        is_expired = certificate.expires_tick <= world.tick
        server_time = formatting.format_server_time(world.settings.start_time, certificate.expires_tick, 0)
        valid = tr("expired {date}") if is_expired else tr("valid until {date}")
        key = tr("with private key") if certificate.has_private_key else tr("without private key")
        tip = f"{certificate.subject}; {valid.format(date=server_time)}; {key}"
        yield ExplorerItem(
            "certificate", certificate.name, certificate.name, "bad" if is_expired else "text", tip
        )


_ENDPOINT_COLOR_NAMES: Final = {
    EndpointState.STARTED: "ok",
    EndpointState.STOPPED: "bad",
    EndpointState.DISABLED: "idle",
}


_ENDPOINT_STATE_TEXTS: Final = {
    EndpointState.STARTED: mark("Started"),
    EndpointState.STOPPED: mark("Stopped"),
    EndpointState.DISABLED: mark("Disabled"),
}


def _list_endpoints(world: World, server: Instance) -> Iterable[ExplorerItem]:
    end = server.endpoint
    if end is not None:
        state = tr(_ENDPOINT_STATE_TEXTS[end.state])
        tip = tr("Database mirroring, TCP {port}, role {role}, {state}")
        tip = tip.format(port=end.port, role=end.role, state=end.state.name)
        yield ExplorerItem(
            "endpoint", end.name, f"{end.name} ({state})", _ENDPOINT_COLOR_NAMES[end.state], tip
        )


def _list_linked_servers(world: World, server: Instance) -> Iterable[ExplorerItem]:
    return [ExplorerItem("linked server", name, name) for name in sorted(server.linked_servers)]


def _list_logs(world: World, server: Instance) -> Iterable[ExplorerItem]:
    began = formatting.format_server_time(world.settings.start_time, max(0, server.started_tick), 0)
    yield ExplorerItem("log", tr("Current"), tr("Current - {began}").format(began=began))


def _list_jobs(world: World, server: Instance) -> Iterable[ExplorerItem]:
    for job in sorted(server.jobs, key=lambda job: job.name.lower()):
        label = job.name if job.enabled else tr("{name} (disabled)").format(name=job.name)
        yield ExplorerItem("job", job.name, label, "text" if job.enabled else "idle", label)


# --- availability groups


def _list_groups(world: World, server: Instance) -> Iterable[ExplorerItem]:
    """Yield an item for each availability group, such as `AG1 (Primary)`, with its folders."""
    for state in replicas.list_replica_states(world, server.name):
        group = replicas.find_group_config(world, server.name, state.guid)
        if group is None:
            continue
        folders = tuple(
            ExplorerFolder(name, title, partial(answer, group.name))
            for name, title, answer in (
                ("replicas", mark("Availability Replicas"), _list_replicas),
                ("databases", mark("Availability Databases"), _list_group_databases),
                ("listeners", mark("Availability Group Listeners"), _list_listeners),
            )
        )
        role = state.role.name.capitalize()
        board = _build_dashboard(group.name, world, server)
        color_name = SEVERITY_COLORS[board.health] if board is not None else "bad"
        label = f"{group.name} ({tr(role)})"
        yield ExplorerItem("availability group", group.name, label, color_name, label, folders)


def _build_dashboard(group: str, world: World, server: Instance) -> dashboard.GroupDashboard | None:
    group_details = dashboard.find_groups(world, server.name).get(group)
    return dashboard.build_dashboard(world, *group_details) if group_details is not None else None


def _list_replicas(group: str, world: World, server: Instance) -> Iterable[ExplorerItem]:
    board = _build_dashboard(group, world, server)
    for row in board.replicas if board is not None else ():
        color_name = SEVERITY_COLORS[get_worst_severity(row.issues)]
        yield ExplorerItem(
            "availability replica", row.name, f"{row.name} ({tr(row.role)})", color_name, row.state
        )


def _list_group_databases(group: str, world: World, server: Instance) -> Iterable[ExplorerItem]:
    board = _build_dashboard(group, world, server)
    for row in board.databases if board is not None else ():
        if row.replica == server.name:
            yield ExplorerItem(
                "availability database",
                row.name,
                row.name,
                SEVERITY_COLORS[get_worst_severity(row.issues)],
                row.state,
            )


def _list_listeners(group: str, world: World, server: Instance) -> Iterable[ExplorerItem]:
    known_group = replicas.find_group(world, server.name, group)
    if known_group is not None and known_group.listener is not None:
        online = world.listeners.get(known_group.listener.name) is not None
        tip = tr("port {port}").format(port=known_group.listener.port)
        yield ExplorerItem(
            "listener", known_group.listener.name, known_group.listener.name, "ok" if online else "bad", tip
        )


FOLDERS: Final = (
    ExplorerFolder("databases", mark("Databases"), _list_databases, (
        ExplorerFolder("system", mark("System Databases"), _list_system_databases),
    )),
    ExplorerFolder("security", mark("Security"), None, (
        ExplorerFolder("logins", mark("Logins"), _list_logins),
        ExplorerFolder("certificates", mark("Certificates"), _list_certificates),
    )),
    ExplorerFolder("objects", mark("Server Objects"), None, (
        ExplorerFolder("endpoints", mark("Endpoints"), _list_endpoints),
        ExplorerFolder("linked", mark("Linked Servers"), _list_linked_servers),
    )),
    ExplorerFolder("always on", mark("Always On High Availability"), None, (
        ExplorerFolder("groups", mark("Availability Groups"), _list_groups),
    ), lambda world, server: replicas.is_always_on_enabled(world, server.name)),
    ExplorerFolder("management", mark("Management"), None, (
        ExplorerFolder("logs", mark("SQL Server Logs"), _list_logs),
    )),
    ExplorerFolder("agent", mark("SQL Server Agent"), None, (ExplorerFolder("jobs", mark("Jobs"), _list_jobs),)),
)  # fmt: skip
"""Folders under a server, in the order of Management Studio."""


def format_folder_title(folder: ExplorerFolder, server: Instance) -> str:
    """Return the title of a folder. If SQL Server Agent is stopped, the title of its folder says so."""
    title = tr(folder.title)
    is_agent_stopped = folder.name == "agent" and not server.agent_running
    return tr("{name} (stopped)").format(name=title) if is_agent_stopped else title


def format_age(tick: int, now_tick: int) -> str:
    """Format a time and its age, for example `0:41, 2:05 ago`."""
    time = formatting.format_run_time(tick / TICKS_PER_S)
    age_s = max(0, now_tick - tick) / TICKS_PER_S
    age = formatting.format_seconds(age_s, 0).replace(
        " ", "\u00a0"
    )  # non-breaking spaces keep the age on one line
    return (
        tr("{at}, just now").format(at=time)
        if age_s < 1.0
        else tr("{at}, {age} ago").format(at=time, age=age)
    )
