"""Processes of a class for tests: a host, seats, and a client that sends arbitrary messages."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from app.classroom import certificate
from app.classroom.join_code import Invitation, parse_invitation
from app.classroom.lesson_plan import LessonPlan
from app.classroom.models import ClassPart
from app.classroom.service import create_parts
from engine.drill.authoring.schema import Scenario
from tests.forked import Program

ROOT = Path(__file__).parents[1]
HOST_START_S_MAX = 120.0
"""Time limit for the start of a host. A new installation compiles the flow model first, sometimes several at
a time.
"""
WAIT_S_MAX = 60.0
CLOSE_WAIT_S = 0.2
"""Time limit for the host's answer to a close. A client that has not read its messages never receives the
answer.
"""
T = TypeVar("T")


def build_command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "app", "class", *map(str, arguments)]


def build_class(scenario: Scenario, plan: LessonPlan, text: str) -> ClassPart:
    """Return a class of one part without seats. *text*: the plan as the instructor entered it."""
    return create_parts(plan, text, lambda _: scenario)[0]


class HostProcess:
    """Process of `mirrordrill class host` on *database*, a file or a URL. It can be killed and restarted."""

    def __init__(
        self,
        database: Path | str,
        *arguments: object,
        listen: str = "127.0.0.1:0",
        start_program: Callable[..., Program | subprocess.Popen[str]] = Program,
    ) -> None:
        self.database = database
        self._words = ("class", "host", *arguments, "--listen", listen, "--database", database)
        self._began = start_program
        self.invited = self.start()

    def start(self) -> Invitation:
        self._running = self._began(*self._words)
        assert self._running.stdout is not None
        self.code = self._running.stdout.readline().strip()
        return parse_invitation(self.code)

    @property
    def pid(self) -> int:
        return self._running.pid

    def kill(self) -> None:
        self._running.kill()
        self._running.wait(WAIT_S_MAX)

    def end(self) -> int:
        """Send SIGTERM and return the exit code."""
        self._running.terminate()
        return self._running.wait(WAIT_S_MAX)


@contextmanager
def run_host(database: Path | str, *arguments: object, **options: Any) -> Iterator[HostProcess]:
    host = HostProcess(database, *arguments, **options)
    try:
        yield host
    finally:
        try:
            assert host.end() == 0, "the host did not end in good order"
        except subprocess.TimeoutExpired:
            host.kill()
            raise


class RawClient:
    """Client that can send any bytes to the host. It answers pings, as seats do.

    One thread reads and writes, because CPython 3.11 loses data of a TLS connection that two threads use.
    """

    def __init__(self, invited: Invitation) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        try:
            self._socket = self._run(_connect(invited))
        except BaseException:
            self._stop()
            raise

    def _run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()

    def _stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(WAIT_S_MAX)
        self._loop.close()

    def send_message(self, message: object) -> None:
        self._run(self._socket.send(message if isinstance(message, str | bytes) else json.dumps(message)))

    def send_fragments(self, pieces: list[str]) -> None:
        """Send one message in several frames."""
        self._run(self._socket.send(iter(pieces)))

    def receive_message(self, kind: str = "") -> dict[str, Any]:
        """Return the next message from the host, or with *kind* the next message of this kind."""
        while True:
            message: dict[str, Any] = json.loads(self._run(self._receive()))
            if message["kind"] == kind or not kind:
                return message

    def request_reply(self, message: object, kind: str = "") -> dict[str, Any]:
        self.send_message(message)
        return self.receive_message(kind)

    def read_refusal(self, message: object) -> str:
        """Send *message*, and return the reason with which the host closes the connection."""
        with suppress(ConnectionClosed):
            self.send_message(message)
            while True:
                self._run(self._receive())
        return self._socket.close_reason or ""

    async def _receive(self) -> str | bytes:
        async with asyncio.timeout(WAIT_S_MAX):
            return await self._socket.recv()

    def __enter__(self) -> RawClient:
        return self

    def __exit__(self, *_: object) -> None:
        self._run(self._socket.close())
        self._stop()


async def _connect(invited: Invitation) -> ClientConnection:
    return await connect(
        f"wss://{invited.host}:{invited.port}/",
        ssl=certificate.create_seat_context(),
        proxy=None,
        compression=None,
        open_timeout=HOST_START_S_MAX,
        close_timeout=CLOSE_WAIT_S,
    )


def join(invited: Invitation, name: str = "Ann", token: str = "t" * 32) -> dict[str, Any]:
    return {"kind": "join", "secret": invited.secret, "name": name, "token": token}
