"""Connections of client applications, computed from the state of each application.

The world stores no object per connection. Each connection has a number within its application. The world
stores only the numbers of the connections that KILL has ended. For each of them, the application has opened
a new connection.
"""

from collections.abc import Iterator
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from engine.events import ClientData
from engine.localization import build_message
from engine.model import Client, DatabaseCopy, Tick, World

FIRST_APPLICATION_SPID: Final = 200
"""Lowest session ID of applications. T-SQL windows use lower IDs. Assumed."""

SPID_MAX: Final = 32_767
"""Highest session ID. Documented [DOC: user connections option]."""


AGENT_SPID: Final = 150
AGENT_PROGRAMS: Final = (
    "SQLAgent - Generic Refresher", "SQLAgent - Email Logger", "SQLAgent - Alert Engine",
)  # fmt: skip
"""Program names of the connections that a running SQL Server Agent has to msdb.

Seen in public output; the session IDs of these connections are assumed.
"""


def list_agent_sessions(world: World, server: str) -> list[tuple[int, str]]:
    """Return (session ID, program name) of the connections of SQL Server Agent."""
    return list(enumerate(AGENT_PROGRAMS, AGENT_SPID)) if world.instances[server].agent_running else []


class ApplicationConnection(Struct, frozen=True):
    """Connection of an application to its server."""

    spid: int
    client: Client
    database: str
    login: str
    host: str
    since_tick: Tick
    working: bool
    """True if the connection has an open transaction. Otherwise it is idle."""
    commit_wait_ms: float | None = None
    """Time for which the connection's commit waits for another copy; None if no commit waits."""


def get_application_login(world: World, client: Client, server: str) -> str:
    """Return the login of an application: its SQL login, or the Windows account of its service."""
    return client.login or f"{world.get_computer_of(server).domain}\\svc-{client.name.lower()}"


def _list_copies(world: World, client: Client, server: str) -> list[DatabaseCopy]:
    copies = [world.copies.get((server, database)) for database in client.databases]
    return [copy for copy in copies if copy is not None and copy.source is not None]


def _count_copy_connections(world: World, copy: DatabaseCopy) -> int:
    assert copy.source is not None
    setup = world.flow.get_source_setup(copy.source)
    return round(setup.workload.connections * setup.scale)


def count_connections(world: World, server: str) -> int:
    """Return the number of connections of applications to a server."""
    own_clients = [client for client in world.clients.values() if client.connected_to == server]
    copies = (copy for client in own_clients for copy in _list_copies(world, client, server))
    return sum(int(_count_copy_connections(world, copy)) for copy in copies)


def list_connections(world: World, server: str) -> Iterator[ApplicationConnection]:
    """Yield all connections of applications to a server, ordered by session ID."""
    spid = FIRST_APPLICATION_SPID
    for name in sorted(world.clients):
        client = world.clients[name]
        if client.connected_to != server:
            continue
        login, ended_count, kills = (
            get_application_login(world, client, server),
            dict(client.killed),
            iter(client.killed),
        )
        for copy in _list_copies(world, client, server):
            assert copy.source is not None
            connection_count = _count_copy_connections(world, copy)
            reading = world.flow.read_source(copy.source)
            working, waiting = (
                round(reading.in_flight_transactions),
                round(world.flow.count_waiting_commits(copy.source)),
            )
            spids = range(spid, min(spid + connection_count, SPID_MAX + 1))
            alive = [spid_number for spid_number in spids if spid_number not in ended_count]
            for position in alive:
                yield ApplicationConnection(
                    position,
                    client,
                    copy.database,
                    login,
                    client.name,
                    client.connected_tick,
                    working > 0,
                    reading.commit_delay_ms if 0 < working <= waiting else None,
                )
                working -= 1
            spid += connection_count
        if client.read_only and not _list_copies(world, client, server):
            yield ApplicationConnection(
                spid,
                client,
                client.databases[0],
                login,
                client.name,
                client.connected_tick,
                client.query is not None,
            )
            spid += 1
        for _, tick in kills:  # connections that the application opened to replace killed connections
            if spid not in ended_count and spid <= SPID_MAX:
                database = client.databases[0]
                yield ApplicationConnection(spid, client, database, login, client.name, tick, False)
            spid += 1


def kill_connection(world: World, server: str, spid: int) -> bool:
    """End the connection *spid* of an application, which then opens a new one.

    Return False if it does not exist.
    """
    found_connection = next(
        (connection for connection in list_connections(world, server) if connection.spid == spid), None
    )
    if found_connection is None:
        return False
    client = world.clients[found_connection.client.name]
    world.clients[client.name] = replace(
        client,
        killed=(*client.killed, (spid, world.tick)),
        query=None,
        cut_connections=client.cut_connections + 1,
    )
    text = build_message(
        "{client}: session {spid} on {server} was ended by KILL",
        client=client.name,
        spid=spid,
        server=server,
    )
    world.emit(ClientData(client=client.name, what="killed", spid=spid), text, server=server)
    return True
