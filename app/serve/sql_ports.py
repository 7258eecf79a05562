r"""Ports of the instances and availability group listeners on this computer.

The state of each port is one of `PortState`. The SQL Server Browser sends clients of `127.0.0.1\SERVER_A` the
port of this instance [MC-SQLR 2.2].
"""

import asyncio
import secrets
import socket
import struct
import sys
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from typing import Final

from app.files.folders import raise_file_limit
from app.host import InputResult, RunHost
from app.serve.session import TdsSession
from app.serve.tds_transport import SocketStream, create_tls_contexts
from engine.constants import PRODUCT_VERSIONS
from engine.events import Event, SessionData, select_data
from engine.model import Role, World
from engine.overrides import override
from engine.tsql.query import planner

BROWSER_PORT: Final = 1434
"""UDP port of the SQL Server Browser. Clients use no other port. Documented."""
BROADCAST_REQUEST, UNICAST_REQUEST, NAMED_INSTANCE_REQUEST = 0x02, 0x03, 0x04
"""CLNT_BCAST_EX, CLNT_UCAST_EX: all instances; CLNT_UCAST_INST: the instance named in the request."""
BROWSER_RESPONSE_TYPE: Final = 0x05
INSTANCE_NAME_BYTES_MAX: Final = 32
"""Maximum length of an instance name in a request, in bytes."""

InstancePorts = Mapping[str, tuple[int, str]]
"""Name of a running instance -> its port and product version (9.00.5000.00)."""


def encode_browser_response(request: bytes, instances: InstancePorts) -> bytes:
    """Encode the response to a browser request.

    Return no bytes if the request is invalid or names an unknown instance.
    """
    kind, name = request[:1], request[1:].partition(b"\0")[0].decode("ascii", "replace")
    if kind == bytes([NAMED_INSTANCE_REQUEST]) and 0 < len(name) <= INSTANCE_NAME_BYTES_MAX:
        instances = {
            instance: entry for instance, entry in instances.items() if instance.lower() == name.lower()
        }
    elif request not in (bytes([BROADCAST_REQUEST]), bytes([UNICAST_REQUEST])):
        return b""
    answer = "".join(
        f"ServerName;LOCALHOST;InstanceName;{instance};IsClustered;No;Version;{version};tcp;{port};;"
        for instance, (port, version) in instances.items()
    ).encode()
    return bytes([BROWSER_RESPONSE_TYPE]) + struct.pack("<H", len(answer)) + answer if answer else b""


class SqlBrowser(asyncio.DatagramProtocol):
    """SQL Server Browser: a UDP service on this computer. It answers while its port is open."""

    def __init__(self, list_instances: Callable[[], InstancePorts]) -> None:
        self._instances = list_instances
        self._transport: asyncio.DatagramTransport | None = None

    @property
    def is_open(self) -> bool:
        """Return whether the port of the browser is open."""
        return self._transport is not None

    async def open(self, host: str, port: int = BROWSER_PORT) -> int:
        """Open the port, and return its number. Raises OSError."""
        loop = asyncio.get_running_loop()
        self._transport, _ = await loop.create_datagram_endpoint(lambda: self, local_addr=(host, port))
        return int(self._transport.get_extra_info("sockname")[1])

    @override
    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        answer = encode_browser_response(data, self._instances())
        if answer and self._transport is not None:
            self._transport.sendto(answer, addr)

    def close(self) -> None:
        """Close the port."""
        if self._transport is not None:
            self._transport.close()


LISTEN_HOST: Final = "127.0.0.1"
LOGGED_IN_CONNECTIONS_MAX: Final = 1_000
"""Maximum number of logged-in connections to all instances together. Each connection needs a file descriptor.

Assumed: twice the few hundred that a class needs. A real instance accepts 32,767 [Server configuration: user
connections].
"""
PENDING_LOGINS_MAX: Final = 500
"""Maximum number of connections before login. Assumed.

A further connection replaces the oldest one, so that silent clients cannot lock others out.
"""
RESERVED_FILES: Final = 200
"""File descriptors reserved for purposes other than connections. Assumed."""


class PortState(Enum):
    """State of the port of an instance or listener."""

    ANSWERS = "answers"
    REFUSES = "refuses"
    SILENT = "silent"
    """State in which the operating system accepts connections, but the instance sends no data."""
    UNREACHABLE = "dark"
    """State in which packets are dropped, so that no connection is established.

    If the operating system cannot drop packets, the port behaves as in the state SILENT.
    """


SILENT_STATES: Final = (PortState.SILENT, PortState.UNREACHABLE)


class PortUnavailableError(Exception):
    """Error for a port that cannot be opened. The text names the port."""


def get_port_state(world: World, name: str) -> PortState:
    """Return the state of the port of an instance or listener. An offline listener is UNREACHABLE."""
    server = world.listeners.get(name, name)
    if server is None:
        return PortState.UNREACHABLE
    instance = world.instances[server]
    computer = world.computers[instance.computer]
    if not (computer.powered and computer.nic_up):
        return PortState.UNREACHABLE
    if not (instance.running and instance.tcp_listening):
        return PortState.REFUSES
    return PortState.SILENT if instance.hung else PortState.ANSWERS


class BlackholePort:
    """Port that neither accepts nor refuses connections. Its queue is full, so that Linux drops further packets."""

    def __init__(self, port: int) -> None:
        """Open the port. Raises OSError."""
        self._sockets = [socket.socket() for _ in range(3)]
        listening, *filling = self._sockets
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((LISTEN_HOST, port))
        listening.listen(0)
        for item in filling:  # fill the queue: a backlog of 0 still accepts one connection
            item.setblocking(False)
            item.connect_ex((LISTEN_HOST, port))

    def close(self) -> None:
        """Close the port."""
        for port_socket in self._sockets:
            port_socket.close()


class SqlPorts:
    """Ports of all instances and listeners of a run, with their connections."""

    def __init__(self, host: RunHost) -> None:
        self.password = secrets.token_hex(12)
        self.tls = create_tls_contexts(LISTEN_HOST)
        self.ports: dict[str, int] = {}
        self.browser = SqlBrowser(self._list_known_instances)
        self._host = host
        self._last_number = 0
        self._open_servers: dict[str, asyncio.Server] = {}
        self._blackhole_ports: dict[str, BlackholePort] = {}
        self._base = 0
        self._users_max = LOGGED_IN_CONNECTIONS_MAX
        self._states: dict[str, tuple[PortState, str | None]] = {}
        """State of each port, and the instance that answers on it."""
        self._changed = asyncio.Condition()
        self._sessions: dict[str, TdsSession] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        host.events_occurred.connect(self._end_lost_sessions)

    # --- ports

    async def open_ports(self, base: int) -> None:
        """Open consecutive ports from *base* for all instances and listeners. 0 selects any free ports.

        Raises PortUnavailableError.
        """
        planner.load_planner()
        files = raise_file_limit(LOGGED_IN_CONNECTIONS_MAX + PENDING_LOGINS_MAX + RESERVED_FILES)
        self._users_max = max(1, min(LOGGED_IN_CONNECTIONS_MAX, files - PENDING_LOGINS_MAX - RESERVED_FILES))
        self._base = base
        await self.update_ports()

    def _list_known_instances(self) -> InstancePorts:
        """Return instance -> port and product version, for each instance that the browser lists.

        An instance is listed if its port is open and its computer has power and a connected network.
        """
        return {
            server: (self.ports[server], PRODUCT_VERSIONS[self.world.instances[server].version][0])
            for server in self._open_servers
            if server in self.world.instances
            if get_port_state(self.world, server) is not PortState.UNREACHABLE
        }

    async def _open_port(self, name: str) -> None:
        def accept() -> SocketStream:
            return SocketStream(lambda pipe: self._accept_client(name, pipe))

        port = self.ports.get(name, self._base + len(self.ports) if self._base else 0)
        try:
            server = await asyncio.get_running_loop().create_server(
                accept, LISTEN_HOST, port, backlog=PENDING_LOGINS_MAX
            )
        except OSError as problem:
            raise PortUnavailableError(
                f"port {port} on {LISTEN_HOST} cannot be opened: {problem.strerror}"
            ) from problem
        self.ports[name] = server.sockets[0].getsockname()[1]
        self._open_servers[name] = server

    async def update_ports(self) -> None:
        """Update the state of every port. A listener has the state of the instance on its current node."""
        world = self.world
        self._drop_packets()
        for name in (*world.instances, *world.listeners):
            current_state = self._get_port_state(name), world.listeners.get(name, name)
            if current_state == self._states.get(name):
                continue
            self._states[name] = current_state
            if name not in self.ports:
                await self._open_port(name)
            dark = current_state[0] is PortState.UNREACHABLE and sys.platform == "linux"
            if name in self._blackhole_ports and not dark:
                self._blackhole_ports.pop(name).close()
            if (dark or current_state[0] is PortState.REFUSES) and name in self._open_servers:
                self._open_servers.pop(name).close()
            if dark and name not in self._blackhole_ports:
                self._blackhole_ports[name] = BlackholePort(self.ports[name])
            elif current_state[0] is PortState.REFUSES:
                self._reset_sessions(
                    session for session in self.sessions if name in (session.server, session.name)
                )
            elif not dark and name not in self._open_servers:
                await self._open_port(name)
            self._reset_sessions(
                session for session in self.sessions if session.name == name and self._has_moved(session)
            )
            async with self._changed:
                self._changed.notify_all()

    def _drop_packets(self) -> None:
        """Drop packets of computers without power or network, also in open connections."""
        for session in self.sessions:
            session.drop_packets(
                get_port_state(self.world, session.server or session.name) is PortState.UNREACHABLE
            )

    def _has_moved(self, session: TdsSession) -> bool:
        """Return whether the listener of the connection has moved to another instance."""
        owner = session.server and self.world.listeners.get(session.name, session.server)
        return owner != session.server and self._get_port_state(session.server) is PortState.ANSWERS

    def _get_port_state(self, name: str) -> PortState:
        """Return the state of the port *name*; SILENT for every port while the run is paused."""
        return get_port_state(self.world, name) if self._host.is_running else PortState.SILENT

    @staticmethod
    def _reset_sessions(sessions: Iterable[TdsSession]) -> None:
        for session in sessions:
            session.reset()

    @property
    def sessions(self) -> list[TdsSession]:
        """Return the open connections."""
        return list(self._sessions.values())

    async def close(self) -> None:
        """Close all ports and connections."""
        self.browser.close()
        for server in self._open_servers.values():
            server.close()
        for hole in self._blackhole_ports.values():
            hole.close()
        self._reset_sessions(self.sessions)
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def disconnect_from_run(self) -> None:
        """Stop receiving events of the run."""
        self._host.events_occurred.disconnect(self._end_lost_sessions)

    # --- connections

    def _accept_client(self, name: str, pipe: SocketStream) -> None:
        waiting = [tds_session for tds_session in self.sessions if not tds_session.logged_in]
        if len(waiting) >= PENDING_LOGINS_MAX:
            waiting[0].reset()
            del self._sessions[waiting[0].number]
        self._last_number += 1
        number = f"tds{self._last_number}"
        session = self._sessions[number] = TdsSession(self, name, number, pipe)
        session.users_max = self._get_reached_user_limit
        task = asyncio.ensure_future(session.serve_client())
        self._tasks.add(task)

        def remove_session(task: asyncio.Task[None]) -> None:
            self._tasks.discard(task)
            self._sessions.pop(number, None)

        task.add_done_callback(remove_session)

    def _end_lost_sessions(self, events: list[Event]) -> None:
        for _, change in select_data(events, SessionData):
            session = self._sessions.get(change.window.partition("#")[2])
            if session is not None and change.what in ("lost", "ended by the server"):
                session.end(change.what)

    # --- requirements of a connection

    @property
    def world(self) -> World:
        """Return the current world of the run."""
        assert self._host.live_drill is not None
        return self._host.live_drill.world

    def _get_reached_user_limit(self) -> int | None:
        """Return the maximum number of logged-in connections if it is reached, otherwise None."""
        users = sum(session.logged_in for session in self._sessions.values())
        return self._users_max if users >= self._users_max else None

    def send_input(self, line: str) -> asyncio.Future[InputResult]:
        """Send *line* to the run. If the input completes immediately, the future is already complete."""
        answer = self._host.inbox.post(line).result_future
        if not answer.done():
            return asyncio.wrap_future(answer)
        future: asyncio.Future[InputResult] = asyncio.get_running_loop().create_future()
        future.set_result(answer.result())
        return future

    async def wait_until_answering(self, name: str) -> str:
        """Wait until the port *name* answers or refuses connections, and return the name of its instance."""
        if self._get_port_state(name) in SILENT_STATES:
            async with self._changed:
                await self._changed.wait_for(lambda: self._get_port_state(name) not in SILENT_STATES)
        return self.world.listeners.get(name, name) or name

    def get_address(self, server: str) -> tuple[str, int]:
        """Return host and port of an instance."""
        return LISTEN_HOST, self.ports[server]

    def get_partner_address(self, server: str, database: str) -> str:
        r"""Return the address at which a driver on this computer reaches the mirror [MS-TDS 2.2.7.9].

        The address is the name of the instance (`127.0.0.1\SERVER_B`) if the browser is open, else
        `127.0.0.1,14332`. It is empty if there is no mirror.
        """
        copy = self.world.copies.get((server, database))
        if (
            copy is None
            or copy.mirroring.role is not Role.PRINCIPAL
            or copy.mirroring.partner not in self.ports
        ):
            return ""
        name = copy.mirroring.partner
        return f"{LISTEN_HOST}\\{name}" if self.browser.is_open else f"{LISTEN_HOST},{self.ports[name]}"
