"""Where the members of a team dial in: over TLS, with a code of the team's own. No Qt."""

from __future__ import annotations

import asyncio
import hmac
import json
import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from app.classroom import certificate
from app.classroom.code import Invitation, fingerprint, new_secret
from app.classroom.gate import Gate
from app.classroom.join import Attended
from app.classroom.service import listening_at, reachable, server_of
from app.classroom.team import wire
from app.classroom.team.shapes import ToMember
from app.classroom.team.wire import Ask, Do, Take
from app.classroom.team.world import NotDone, TeamWorld, Viewer
from app.classroom.wire import LATER, REFUSED, Garbage
from app.files import whole_file
from app.words.language import tr
from engine.inputs import InputProblem
from engine.words import as_json

FIRST_WORD_S: Final = 10.0
"""A connection that has said nothing by then is closed."""
BEGIN_S: Final = 0.05
"""Wall time between two looks whether the world is there."""
UNSENT_MAX: Final = 200
"""Messages that wait for a member who does not read; one more and the connection ends."""
LAST_WORD_S: Final = 1.0
"""Wall time for the last messages of a drill that is over."""


class Door:
    """Lets members in, does what they ask for in the name of their role, and sends them what it sees."""

    def __init__(self, world: TeamWorld, secret: str) -> None:
        self._world, self._secret = world, secret
        self._gate = Gate(time.monotonic)
        self.app = Starlette(routes=[WebSocketRoute("/", self._meet)])

    async def _meet(self, connection: WebSocket) -> None:
        await connection.accept()
        why: tuple[int, str] | None = None
        try:
            async with asyncio.timeout(FIRST_WORD_S):
                first = await _hear(connection)
            await self._attend(connection, first)
        except (NotDone, Garbage, InputProblem) as problem:
            why = REFUSED, str(problem)
        except (TimeoutError, OSError) as problem:
            why = LATER, str(problem)
        except WebSocketDisconnect:
            pass
        if why is not None:
            with suppress(WebSocketDisconnect, RuntimeError):
                await connection.close(why[0], why[1].encode()[:123].decode(errors="ignore"))

    async def _attend(self, connection: WebSocket, first: Take | Do | Ask) -> None:
        address = connection.client.host if connection.client else ""
        if not isinstance(first, Take):
            raise NotDone(tr("say first who you are"))
        if not self._gate.open_to(address):
            raise TimeoutError(tr("too many tries from your address: wait a moment"))
        if not hmac.compare_digest(first.secret.encode(), self._secret.encode()):
            self._gate.wrong(address)
            raise NotDone(tr("this is not the code of the team"))
        scenario = self._world.scenario
        if scenario is None:
            raise TimeoutError(tr("the world is not there yet"))
        if not first.role:
            told: ToMember = {"kind": "roles", "title": scenario.title, "roles": self._world.roles()}
            await connection.send_text(json.dumps(told, ensure_ascii=False))
            return
        self._world.welcome(first.role)  # the role is there
        if not first.name.isprintable() or not first.name.strip():
            raise NotDone(tr("a name needs printable characters"))
        self._world.take(first.role, first.name.strip(), first.token, first.instead)
        await self._seated(connection, first, self._world.welcome(first.role))

    async def _seated(self, connection: WebSocket, member: Take, welcome: ToMember) -> None:
        loop = asyncio.get_running_loop()
        unsent: asyncio.Queue[ToMember] = asyncio.Queue()

        def tell(said: ToMember) -> None:
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(unsent.put_nowait, said)

        async def send() -> None:
            while unsent.qsize() <= UNSENT_MAX:
                await connection.send_text(json.dumps(await unsent.get(), ensure_ascii=False))
            await connection.close(LATER, "")

        unsent.put_nowait(welcome)
        viewer = Viewer(member.role, tell)
        sending = asyncio.create_task(send())
        self._world.viewers.add(viewer)
        try:
            while True:
                said = await _hear(connection)
                if isinstance(said, Do):
                    tell(await self._done(member.role, said))
                elif isinstance(said, Ask):
                    self._world.ask(member.name, said.question)
                else:
                    raise NotDone(tr("you have a role already"))
        finally:
            self._world.viewers.discard(viewer)
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)

    async def _done(self, role: str, said: Do) -> ToMember:
        try:
            await asyncio.wrap_future(self._world.do(role, said.number, said.line))
        except NotDone as why:
            return {"kind": "not_done", "number": said.number, "text": as_json(str(why))}
        return {"kind": "done", "number": said.number}


async def _hear(connection: WebSocket) -> Take | Do | Ask:
    message = await connection.receive()
    if message["type"] != "websocket.receive":
        raise WebSocketDisconnect(message.get("code", 1006))
    return wire.read(message.get("text") or message.get("bytes") or b"")


def hold(
    folder: Path,
    world: TeamWorld,
    play: Callable[[], Attended],
    listen: str | None,
    show: Callable[[str], object],
) -> Attended:
    """Let members in until the drill is over, or SIGTERM or SIGINT ends the program. *play* runs the world; *show* gets
    the code, which is the same after a restart. Raises NoPort, and what *play* raises."""
    kept = _kept(folder / "team.json")
    listening = listening_at(listen or ("0.0.0.0:0" if not kept["address"] else None), kept["address"])
    address, port = listening.getsockname()[:2]
    _keep(folder / "team.json", {**kept, "address": f"{address}:{port}"})
    named = fingerprint(certificate.in_der(kept["certificate"]))
    invited = Invitation(kept["secret"], named, reachable(address), port)
    return asyncio.run(_held(world, play, kept, listening, lambda: show(str(invited))))


async def _held(
    world: TeamWorld,
    play: Callable[[], Attended],
    kept: dict[str, str],
    listening: socket.socket,
    ready: Callable[[], object],
) -> Attended:
    loop = asyncio.get_running_loop()
    server = server_of(Door(world, kept["secret"]).app, kept["certificate"], kept["key"])
    ended: asyncio.Future[Attended] = loop.create_future()

    def run() -> None:
        try:
            found = play()
        except BaseException as problem:
            loop.call_soon_threadsafe(_settle, ended, None, problem)
        else:
            loop.call_soon_threadsafe(_settle, ended, found, None)

    for name in ("SIGTERM", "SIGINT"):
        signal.signal(getattr(signal, name), lambda *_: os._exit(0))  # what was done is on disk
    threading.Thread(target=run, daemon=True, name="world of a team").start()
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    while world.scenario is None and not ended.done():  # the host of the class has to answer first
        await asyncio.sleep(BEGIN_S)
    ready()
    try:
        found = await ended
        world.tell({"kind": "over", "verdict": found.report["class"]["verdict"]})
        await asyncio.sleep(LAST_WORD_S)
        return found
    finally:
        server.stop()
        await serving


def _settle(ended: asyncio.Future[Attended], found: Attended | None, problem: BaseException | None) -> None:
    if problem is not None:
        ended.set_exception(problem)
    elif found is not None:
        ended.set_result(found)


def _kept(file: Path) -> dict[str, str]:
    """Secret, certificate, key and address of the team: made once."""
    if file.exists():
        found: dict[str, str] = json.loads(file.read_text("utf-8"))
        return found
    shown, key = certificate.new()
    made = {"secret": new_secret(), "certificate": shown, "key": key, "address": ""}
    _keep(file, made)
    return made


def _keep(file: Path, what: dict[str, str]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    whole_file.write(file, json.dumps(what))
    file.chmod(0o600)
