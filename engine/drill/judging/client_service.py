"""Service in the view of clients: a database can be online before any client has found it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from engine.drill.authoring.schema import Scenario
from engine.drill.judging.shapes import Row

DISCONNECTED: Final = frozenset({"cut", "stopped", "gave up", "timeout", "partner refused", "login failed"})
"""Changes after which a client has no connection."""


@dataclass(frozen=True, slots=True)
class DatabaseClients:
    """Clients that write to one database, and the initial server."""

    names: tuple[str, ...]
    server: str | None


def clients_at_start(scenario: Scenario) -> dict[str, DatabaseClients]:
    """Return the clients of each database that has any; clients with read intent do not count."""
    servers = {session.database: session.principal for session in scenario.sessions}
    servers |= {database: group.primary for group in scenario.groups for database in group.databases}
    found = {}
    for database in scenario.databases:
        for name in database.names:
            users = [one.name for one in scenario.clients if name in one.databases and not one.read_only]
            if users:
                server = servers.get(name, servers.get(database.name)) or database.server
                found[name] = DatabaseClients(tuple(users), server)
    return found


class ClientService:
    """Follower of a run's events in report form, which knows the databases whose clients work."""

    def __init__(self, clients: Mapping[str, DatabaseClients]) -> None:
        self._clients = clients
        self._serving = {
            database: {users.server} if users.server else set() for database, users in clients.items()
        }
        """Servers with an open copy of each database: two if a copy was recovered in addition to its principal."""
        self._connected: dict[str, str | None] = {
            name: users.server or "" for users in clients.values() for name in users.names
        }
        """Server of each client; empty: the database's initial server; None: no connection."""

    def follow(self, event: Row) -> None:
        """Apply one event."""
        if event["kind"] == "availability" and event.get("database") in self._serving:
            if event.get("serving") is not None:
                self._serving[str(event["database"])] = set(event.get("servers") or ())
        elif event["kind"] == "client" and event.get("client") in self._connected:
            if event.get("what") == "connected":
                self._connected[str(event["client"])] = event.get("server")
            elif event.get("what") in DISCONNECTED:
                self._connected[str(event["client"])] = None

    def is_working(self, database: str) -> bool:
        """Return True if every client of *database* is connected to a server that serves it, if one does."""
        users, servers = self._clients.get(database), self._serving.get(database)
        if users is None:
            return True
        places = [self._connected[name] for name in users.names]
        return all(place is not None and (not place or not servers or place in servers) for place in places)


def client_downtime_s(
    events: Iterable[Row], clients: Mapping[str, DatabaseClients], until_s: float
) -> dict[str, float]:
    """Return the client downtime of each database in seconds: database down, or client without connection."""
    service = ClientService(clients)
    online = dict.fromkeys(clients, True)
    total = dict.fromkeys(clients, 0.0)
    outage_start: dict[str, float | None] = dict.fromkeys(clients)
    for event in events:
        if event["kind"] not in ("availability", "client"):
            continue
        service.follow(event)
        if event.get("database") in online and event.get("serving") is not None:
            online[str(event["database"])] = bool(event["serving"])
        for database in clients:
            working, t_s, began = (
                online[database] and service.is_working(database),
                float(event["t_s"]),
                outage_start[database],
            )
            if working and began is not None:
                total[database] += t_s - began
            outage_start[database] = None if working else t_s if began is None else began
    for database, began in outage_start.items():
        total[database] += 0.0 if began is None else until_s - began
    return {database: round(seconds, 2) for database, seconds in total.items()}
