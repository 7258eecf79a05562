"""Class host that sends a seat exactly the messages that a test chooses."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from websockets.asyncio.server import ServerConnection, serve

from app.classroom import certificate
from app.classroom.join_code import Invitation, compute_fingerprint, create_secret
from app.classroom.messages.codec import WireMessage, encode
from app.classroom.messages.replies import AcknowledgedActions, SeatMessage
from app.classroom.seat_log import SeatAssignment, build_welcome
from app.classroom.seat_scenario import build_seat_scenario_text
from app.files import tls_certificate
from engine.drill.running.modes import DrillMode
from tests.shipped_scenarios import load_shipped_scenario

START_S_MAX: Final = 30.0


class ScriptedHost(threading.Thread):
    """Host of one seat. It welcomes the seat and acknowledges its actions; a test sends all other messages."""

    def __init__(self, scenario: str, mode: str, reflect: bool = False) -> None:
        super().__init__(daemon=True)
        loaded = load_shipped_scenario(scenario)
        text = build_seat_scenario_text(loaded, DrillMode(mode))
        self._assignment = SeatAssignment(1, "", scenario, text, loaded.seed, mode)
        self._reflect = reflect
        self._pem = certificate.create_certificate()
        self._loop = asyncio.new_event_loop()
        self._ready, self._end = threading.Event(), asyncio.Event()
        self._socket: ServerConnection | None = None
        self.acts = 0
        """Number of actions that the seat has sent."""
        self.status: dict[str, Any] = {}
        """Last status that the seat has sent."""

    @property
    def code(self) -> str:
        """Join code with the address."""
        shown_fingerprint = compute_fingerprint(certificate.convert_to_der(self._pem[0]))
        return str(Invitation(create_secret(), shown_fingerprint, "127.0.0.1", self._port))

    def send_message(self, message: SeatMessage | dict[str, Any]) -> None:
        """Send *message* to the seat."""
        assert self._socket is not None, "no seat has joined"
        text = encode(message) if isinstance(message, WireMessage) else json.dumps(message)
        asyncio.run_coroutine_threadsafe(self._socket.send(text), self._loop).result(START_S_MAX)

    def run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve())

    async def _serve(self) -> None:
        async with serve(
            self._answer, "127.0.0.1", 0, ssl=tls_certificate.create_server_context(*self._pem)
        ) as server:
            self._port = next(iter(server.sockets)).getsockname()[1]
            self._ready.set()
            await self._end.wait()

    async def _answer(self, socket: ServerConnection) -> None:
        async for raw in socket:
            message = json.loads(raw)
            match message["kind"]:
                case "join" | "resume":
                    self._socket = socket
                    welcome = build_welcome(self._assignment, 1, self.acts, reflect=self._reflect)
                    await socket.send(encode(welcome))
                case "acts":
                    self.acts = message["acts"][-1][0]
                    await socket.send(encode(AcknowledgedActions(self.acts)))
                case "at":
                    self.status = message

    def wait_until_ready(self) -> None:
        assert self._ready.wait(START_S_MAX)

    def stop_host(self) -> None:
        self._loop.call_soon_threadsafe(self._end.set)
        self.join(START_S_MAX)


@contextmanager
def run_scripted_host(scenario: str, mode: str, reflect: bool = False) -> Iterator[ScriptedHost]:
    host = ScriptedHost(scenario, mode, reflect)
    host.start()
    host.wait_until_ready()
    try:
        yield host
    finally:
        host.stop_host()
