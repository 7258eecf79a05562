"""The ports of the instances and of listeners of groups, on this computer alone: open, closed or silent, as each is."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Iterable
from enum import Enum
from typing import Final

from app.host import Answer, Host
from app.serve.browser import Browser, Known
from app.serve.session import Session
from app.serve.wire import tls
from engine.constants import PRODUCT
from engine.events import Event
from engine.model import Role, World

HOST: Final = "127.0.0.1"
CONNECTIONS_MAX: Final = 250
"""Connections to all instances together. Assumed: a pool of a hundred, twice and some."""


class State(Enum):
    """What an instance's port does."""

    ANSWERS = "answers"
    REFUSES = "refuses"
    SILENT = "silent"
    """Connections are taken by the system, and nothing is ever said: as near as it gets to packets that vanish."""


class NoPort(Exception):
    """A port cannot be had; the text says which."""


def state(world: World, name: str) -> State:
    """As clients meet the instance now, or the listener: its address is nowhere while it is offline."""
    server = world.listeners.get(name, name)
    if server is None:
        return State.SILENT
    there = world.instances[server]
    computer = world.computers[there.computer]
    if not (computer.powered and computer.nic_up):
        return State.SILENT
    if not (there.running and there.tcp_listening):
        return State.REFUSES
    return State.SILENT if there.hung else State.ANSWERS


class Listener:
    """All ports of a run, and who is connected to them."""

    def __init__(self, host: Host) -> None:
        self.password = secrets.token_urlsafe(12)
        self.tls = tls(HOST)
        self.ports: dict[str, int] = {}
        self.browser = Browser(self._running)
        self._host = host
        self._last = 0
        self._open: dict[str, asyncio.Server] = {}
        self._base = 0
        self._states: dict[str, tuple[State, str | None]] = {}
        """What each port does, and the instance that answers there."""
        self._changed = asyncio.Condition()
        self._sessions: dict[str, Session] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        host.happened.connect(self._hear)

    # --- ports

    async def open(self, base: int) -> None:
        """Open a port for each instance and listener: *base* and those after it; 0: any free. Raises NoPort."""
        self._base = base
        await self.follow()

    def _running(self) -> Known:
        """What a browser knows: instances whose service runs on a computer that is there."""
        return {
            server: (self.ports[server], PRODUCT[self.world.instances[server].version][0])
            for server in self._open
            if server in self.world.instances
            if state(self.world, server) is not State.SILENT or self.world.instances[server].hung
        }

    async def _listen(self, name: str) -> None:
        async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await self._accept(name, reader, writer)

        port = self.ports.get(name, self._base + len(self.ports) if self._base else 0)
        try:
            opened = await asyncio.start_server(accept, HOST, port, backlog=CONNECTIONS_MAX)
        except OSError as problem:
            raise NoPort(f"port {port} on {HOST} cannot be opened: {problem.strerror}") from problem
        self.ports[name] = opened.sockets[0].getsockname()[1]
        self._open[name] = opened

    async def follow(self) -> None:
        """Have every port do as its instance does now, and that of a listener as the instance at which it is."""
        world = self.world
        for name in (*world.instances, *world.listeners):
            now = self._state(name), world.listeners.get(name, name)
            if now == self._states.get(name):
                continue
            self._states[name] = now
            if name not in self.ports:
                await self._listen(name)
            if now[0] is State.REFUSES and name in self._open:
                self._open.pop(name).close()
                self._break(one for one in self.sessions if name in (one.server, one.name))
            elif now[0] is not State.REFUSES and name not in self._open:
                await self._listen(name)
            self._break(one for one in self.sessions if one.name == name and self._moved_from(one))
            async with self._changed:
                self._changed.notify_all()

    def _moved_from(self, session: Session) -> bool:
        """The listener by which the client has come has left the instance, which is there to say so."""
        there = session.server and self.world.listeners.get(session.name, session.server)
        return there != session.server and self._state(session.server) is State.ANSWERS

    def _state(self, name: str) -> State:
        """A run that is paused says nothing to anybody."""
        return state(self.world, name) if self._host.running else State.SILENT

    @staticmethod
    def _break(sessions: Iterable[Session]) -> None:
        for session in sessions:
            session.reset()

    @property
    def sessions(self) -> list[Session]:
        """The connections that there are now."""
        return list(self._sessions.values())

    async def close(self) -> None:
        """Close all ports, and end all connections."""
        self.browser.close()
        for opened in self._open.values():
            opened.close()
        self._break(self.sessions)
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def forget(self) -> None:
        """Hear no more of the run."""
        self._host.happened.disconnect(self._hear)

    # --- connections

    async def _accept(self, name: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._sessions) >= CONNECTIONS_MAX:
            writer.transport.abort()
            return
        self._last += 1
        number = f"tds{self._last}"
        session = self._sessions[number] = Session(self, name, number, reader, writer)
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            await session.run()
        except asyncio.CancelledError:
            pass  # the run is over; asyncio's streams would print a connection's end as an error
        finally:
            self._tasks.discard(task)
            self._sessions.pop(number, None)

    def _hear(self, events: list[Event]) -> None:
        for event in events:
            if event.kind != "session":
                continue
            session = self._sessions.get(str(event.get("window")).partition("#")[2])
            if session is not None and event.get("what") in ("lost", "ended by the server"):
                session.end(event.get("what"))

    # --- what a connection needs

    @property
    def world(self) -> World:
        assert self._host.live is not None
        return self._host.live.world

    def ask(self, line: str) -> asyncio.Future[Answer]:
        """Have *line* done by the run; what is over at once is there at once."""
        answer = self._host.inbox.post(line).answer
        if not answer.done():
            return asyncio.wrap_future(answer)
        done: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        done.set_result(answer.result())
        return done

    async def answering(self, name: str) -> str:
        if self._state(name) is State.SILENT:
            async with self._changed:
                await self._changed.wait_for(lambda: self._state(name) is not State.SILENT)
        return self.world.listeners.get(name, name) or name

    def address(self, server: str) -> tuple[str, int]:
        return HOST, self.ports[server]

    def partner(self, server: str, database: str) -> str:
        """`127.0.0.1,14332`, as a driver on this computer reaches the mirror; empty where there is none to tell
        [MS-TDS 2.2.7.9]."""
        copy = self.world.copies.get((server, database))
        if (
            copy is None
            or copy.mirroring.role is not Role.PRINCIPAL
            or copy.mirroring.partner not in self.ports
        ):
            return ""
        return f"{HOST},{self.ports[copy.mirroring.partner]}"
