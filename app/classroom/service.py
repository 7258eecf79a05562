"""Service that hosts a class on a port of this computer, either a new class or the class in a database."""

from __future__ import annotations

import asyncio
import logging
import secrets
import signal
import socket
import threading
import time
from asyncio import constants, sslproto
from collections.abc import Callable, Container, Generator, Sequence
from contextlib import contextmanager, suppress
from typing import Final, TextIO

import uvicorn
from sqlalchemy.exc import IntegrityError, SQLAlchemyError
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.exceptions import InvalidState
from websockets.http11 import Request

from app.classroom import certificate, discovery
from app.classroom.addresses import list_reachable_addresses
from app.classroom.bus import RECONNECT_INTERVAL_S, BusUnavailableError, MessageBus
from app.classroom.class_port import ClassPort
from app.classroom.host import ClassHost
from app.classroom.join_code import (
    SECRET_LENGTH,
    Invitation,
    compute_fingerprint,
    create_secret,
    format_address,
    get_local_dial_address,
)
from app.classroom.lesson_plan import LessonPlan
from app.classroom.messages.codec import HOST_MESSAGE_BYTES_MAX, HOST_PING_INTERVAL_S, SEAT_PING_INTERVAL_S
from app.classroom.models import FROZEN, RUNNING, ClassPart
from app.classroom.record import ClassRecord
from app.files import tls_certificate
from app.files.generated_drills import draw_seed
from app.words.language import tr
from engine.drill.authoring.problems import ScenarioError
from engine.drill.authoring.scenario import Scenario, compute_sha256, select_variant
from engine.model import to_ticks

logger = logging.getLogger(__name__)

DEFAULT_LISTEN_ADDRESS: Final = "0.0.0.0:7443"
"""Default address: all addresses of this computer. The port resembles 443, which requires an administrator.

Assumed.
"""
SHUTDOWN_GRACE_S: Final = 3
"""Time in seconds that connections have to close when the host stops."""
LISTEN_BACKLOG: Final = 2_048
TLS_HANDSHAKE_TIMEOUT_S: Final = 15.0
"""Time limit for the TLS handshake. A slower connection is closed.

The default of asyncio is 60 s. Assumed.
"""
TLS_BUFFER_BYTES: Final = 16_384
"""Size of the asyncio buffer for each TLS connection.

The default of 256 kB would need 256 MB for a class of a thousand seats. A TLS record has at most 16 kB [RFC
8446, 5.1].
"""


SEED_DRAWS_MAX: Final = 20
"""Maximum number of seeds that are tried. If no seed has a usable variant, the drill's own seed is used."""

PROBE_TIMEOUT_S: Final = 1.0
"""Wall time within which a running host must answer."""


class ListenAddressError(Exception):
    """Error for an address on which the host cannot listen. The text gives the reason."""


class ClassMismatchError(Exception):
    """Error for a database that contains another class than the requested class."""


def create_parts(plan: LessonPlan, text: str, load: Callable[[str], Scenario]) -> list[ClassPart]:
    """Create the parts of a new class, with one join code and certificate.

    *text*: text of the plan. *load*: function that loads a scenario by name or path.
    """
    certificate_text, key = certificate.create_certificate()
    code, secret = (
        create_secret() + compute_fingerprint(certificate.convert_to_der(certificate_text)),
        secrets.token_urlsafe(32),
    )
    class_parts: list[ClassPart] = []
    for number, stage in enumerate(plan.list_parts(), 1):
        scenario = load(str(stage.scenario))
        seed = stage.seed
        if seed is None:
            seed = (
                _draw_seed(scenario) if stage.is_test else scenario.seed if plan.seed is None else plan.seed
            )
        class_parts.append(
            ClassPart(
                id=number,
                part=stage.kind if plan.stages else "",
                current=number == 1,
                code=code,
                secret=secret,
                certificate=certificate_text,
                key=key,
                address="",
                scenario_name=scenario.name,
                scenario_text=scenario.text,
                scenario_hash=compute_sha256(scenario.text),
                mode=stage.mode,
                seed=seed,
                plan=text,
                state=FROZEN if plan.frozen else RUNNING,
                until=None if plan.until is None else to_ticks(plan.until),
                clock_speed=plan.clock,
                clock_tick=0,
                clock_at=time.time(),
            )
        )
    return class_parts


def _draw_seed(scenario: Scenario) -> int:
    """Draw a random seed that gives a valid variant of the drill, so that nobody can rehearse a test."""
    for _ in range(SEED_DRAWS_MAX):
        seed = draw_seed()
        with suppress(ScenarioError):  # not every combination of variants is valid
            select_variant(scenario, seed)
            return seed
    return scenario.seed


def find_or_create_class(
    record: ClassRecord, new_parts: Sequence[ClassPart], plan: LessonPlan | None
) -> ClassPart | None:
    """Return the current part of the class in *record*.

    If the record is empty, create the class from *new_parts*. If *new_parts* is empty as well, return None.
    Raises ClassMismatchError if the record contains another class.
    """
    parts = record.read_parts()
    if not parts:
        if not new_parts:
            return None
        with suppress(IntegrityError):  # another host has just created the class
            record.store_new_class(
                *new_parts, instructions=plan.list_instructions() if plan is not None else ()
            )
        parts = record.read_parts()
    drawn_part = (
        {number for number, stage in enumerate(plan.list_parts(), 1) if stage.has_drawn_seed}
        if plan is not None
        else set()
    )
    if new_parts and [_build_part_key(class_part, drawn_part) for class_part in new_parts] != [
        _build_part_key(class_part, drawn_part) for class_part in parts
    ]:
        raise ClassMismatchError(
            tr(
                "the database contains a class on {scenario} ({mode}). Name another database for a new class."
            ).format(scenario=parts[0].scenario_name, mode=parts[0].mode)
        )
    return record.read_class()


def _build_part_key(part: ClassPart, drawn_parts: Container[int]) -> tuple[str, str, str, int | None]:
    """Build a key that is equal for equal parts of a class: kind, scenario hash, mode and seed.

    *drawn_parts*: parts whose seed was drawn. Their seed in the key is None.
    """
    return part.part, part.scenario_hash, part.mode, None if part.id in drawn_parts else part.seed


def serve_class(
    record: ClassRecord,
    the_class: ClassPart,
    listen: str | None,
    show_line: Callable[[str], object],
    nats: str | None = None,
    owner_pipe: TextIO | None = None,
) -> None:
    """Host the class until SIGTERM, SIGINT or the end of *owner_pipe*, which the owning window keeps open.

    *nats*: URL through which the hosts of a class with several hosts communicate. *show_line* receives one
    line with the invitation. Raises ListenAddressError, BusUnavailableError.
    """
    if nats is None and has_live_host(the_class):
        raise ListenAddressError(
            tr("the class is already running at {address}").format(address=the_class.address)
        )
    listening = open_listening_socket(listen, "" if nats else the_class.address)
    address, port = listening.getsockname()[:2]
    hosts = list_reachable_addresses(address)
    own_address = format_address(hosts[0] if nats and hosts else address, port)
    record.change_addresses(
        lambda before: [*(address for address in before if nats and address != own_address), own_address]
    )
    class_part = record.read_class()
    assert class_part is not None, "it was taken up"
    invited = Invitation(
        class_part.code[:SECRET_LENGTH], class_part.code[SECRET_LENGTH:], hosts[0] if hosts else "", port,
        (*(format_address(host, port) for host in hosts[1:]),
         *(address for address in class_part.addresses if address != own_address)),
    )  # fmt: skip
    asyncio.run(
        _run_server(
            CurrentHost(record, nats, invited.fingerprint),
            class_part,
            listening,
            invited,
            show_line,
            owner_pipe,
        )
    )
    if nats:
        record.change_addresses(lambda before: [address for address in before if address != own_address])


class CurrentHost:
    """Host of the current part. When the class changes to another part, a new host replaces it."""

    def __init__(self, record: ClassRecord, nats: str | None, fingerprint: str) -> None:
        self._record, self._nats, self._fingerprint = record, nats, fingerprint
        self._host: ClassHost | None = None
        self._is_ready = asyncio.Event()
        self._following: asyncio.Task[None] | None = None
        self.app = Starlette(routes=[WebSocketRoute("/", self._serve_connection)])

    async def start(self) -> None:
        """Start the host of the current part. Raises BusUnavailableError."""
        the_class = self._record.read_class()
        assert the_class is not None, "it was taken up"
        bus = None
        if self._nats is not None:
            bus = MessageBus(self._nats, f"{self._fingerprint}-{the_class.id}")
            await bus.connect()
        self._host = ClassHost(
            self._record.select_part(the_class.id), the_class, bus, self._follow_part_change
        )
        self._host.start()
        self._is_ready.set()

    async def stop(self) -> None:
        """Stop the host of the current part."""
        if self._following is not None:
            await asyncio.gather(self._following, return_exceptions=True)
        if self._host is not None:
            await self._host.stop()

    async def _serve_connection(self, socket: WebSocket) -> None:
        await self._is_ready.wait()  # seats may reconnect while a host is being replaced
        assert self._host is not None
        await self._host.serve_connection(socket)

    def _follow_part_change(self) -> None:
        """Replace the host after the class has changed to another part."""
        if self._is_ready.is_set():
            self._is_ready.clear()
            self._following = asyncio.get_running_loop().create_task(self._start_next_host())

    async def _start_next_host(self) -> None:
        assert self._host is not None
        await self._host.disconnect_all()
        await self._host.stop()
        while True:
            try:
                await self.start()
                return
            except (BusUnavailableError, SQLAlchemyError) as problem:
                logger.error("class host: %s", problem)
                await asyncio.sleep(RECONNECT_INTERVAL_S)


async def _run_server(
    current_host: CurrentHost,
    the_class: ClassPart,
    listening: socket.socket,
    invitation: Invitation,
    show_line: Callable[[str], object],
    owner_pipe: TextIO | None,
) -> None:
    port = ClassPort.from_socket(listening)
    server = build_server(current_host.app, the_class.certificate, the_class.key, port)
    loop = asyncio.get_running_loop()
    for name in ("SIGTERM", "SIGINT"):
        signal.signal(getattr(signal, name), lambda *_: loop.call_soon_threadsafe(server.stop))
    if owner_pipe is not None:
        threading.Thread(target=_stop_on_pipe_end, args=(owner_pipe, loop, server), daemon=True).start()
    await current_host.start()
    show_line(str(invitation))  # the port is already open, so new connections wait for the event loop
    listens_at = port.getsockname()[0]
    announced = asyncio.create_task(
        discovery.announce_class(
            invitation.fingerprint, listens_at, list_reachable_addresses(listens_at), invitation.port
        )
    )
    try:
        await server.serve(sockets=[port])
    finally:
        announced.cancel()
        await asyncio.gather(announced, return_exceptions=True)
        await current_host.stop()


def _stop_on_pipe_end(owner_pipe: TextIO, loop: asyncio.AbstractEventLoop, server: _StoppableServer) -> None:
    """Stop the server when *owner_pipe* ends, which means that the owning window has ended or crashed."""
    for _ in owner_pipe:
        pass
    with suppress(RuntimeError):  # the event loop has already ended
        loop.call_soon_threadsafe(server.stop)


def has_live_host(the_class: ClassPart) -> bool:
    """Return whether a host of the class accepts connections. Another program that uses its port does not count."""
    own_der = certificate.convert_to_der(the_class.certificate)
    for address in the_class.addresses:
        host, _, port = address.rpartition(":")
        target = (get_local_dial_address(host).strip("[]"), int(port))
        try:
            with (
                socket.create_connection(target, PROBE_TIMEOUT_S) as dialed,
                certificate.create_seat_context().wrap_socket(dialed) as talking,
            ):
                if talking.getpeercert(binary_form=True) == own_der:
                    return True
        except TimeoutError:
            return True  # a process listens but does not answer in time: assume a busy host
        except OSError:
            continue
    return False


def build_server(
    app: Starlette, certificate_pem: str, key: str, port: ClassPort | None = None
) -> _StoppableServer:
    """Build a server for *app* over TLS. *certificate_pem* and *key* are in PEM format.

    *port*: listening socket of the class. The server informs it when a connection has joined.
    """
    context = tls_certificate.create_server_context(certificate_pem, key)
    sslproto.SSLProtocol.max_size = TLS_BUFFER_BYTES
    vars(constants)["SSL_HANDSHAKE_TIMEOUT"] = (
        TLS_HANDSHAKE_TIMEOUT_S  # uvicorn has no setting for this value
    )
    return _StoppableServer(
        uvicorn.Config(
            app,
            ssl_context_factory=lambda config, default: context,
            http="h11",
            ws=_Connection if port is None else type("_Joined", (_Connection,), {"port": port}),
            ws_max_size=HOST_MESSAGE_BYTES_MAX,
            ws_ping_interval=HOST_PING_INTERVAL_S,
            ws_ping_timeout=SEAT_PING_INTERVAL_S,
            ws_per_message_deflate=False,  # compression needs 50 kB of memory for each connection
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,  # trust only the socket's address, not proxy headers from the client
            timeout_graceful_shutdown=SHUTDOWN_GRACE_S,
            backlog=LISTEN_BACKLOG,
        )
    )


class _Connection(WebSocketsSansIOProtocol):
    """Connection that can be shut down while it is already closing.

    In this case, the base class of uvicorn 0.54 raises an error.
    """

    port: ClassPort | None = None
    heard_s = 0.0
    """Monotonic time of the last data from the other end."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        wire = transport.get_extra_info("socket")
        if self.port is not None and wire is not None:
            self.port.remove_joining(wire.fileno())
        super().connection_made(transport)

    def data_received(self, data: bytes) -> None:
        self.heard_s = time.monotonic()
        super().data_received(data)

    def handle_connect(self, event: Request) -> None:
        super().handle_connect(event)
        if not self.close_sent:
            self.scope["state"]["connection"] = self

    def shutdown(self) -> None:
        with suppress(InvalidState):
            super().shutdown()


class _StoppableServer(uvicorn.Server):
    """Server that stops on request and does not raise the received signal again."""

    def stop(self) -> None:
        self.should_exit = True

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield


def open_listening_socket(listen: str | None, previous_address: str) -> socket.socket:
    """Return a socket that listens on *listen*. Without *listen*, use the *previous_address* of the class.

    Raises ListenAddressError.
    """
    host, _, port = (listen or previous_address or DEFAULT_LISTEN_ADDRESS).rpartition(":")
    if (
        port == "0" and previous_address.rpartition(":")[0] == host
    ):  # use the port that the seats know, or any free port
        try:
            return _bind_socket(host, int(previous_address.rpartition(":")[2]))
        except OSError:
            pass
    try:
        return _bind_socket(host.strip("[]"), int(port))
    except (OSError, ValueError, OverflowError) as problem:
        reason = problem.strerror if isinstance(problem, OSError) else tr("expected ADDRESS:PORT")
        raise ListenAddressError(
            tr("cannot listen on {address}: {why}").format(address=f"{host}:{port}", why=reason)
        ) from problem


def _bind_socket(host: str, port: int) -> socket.socket:
    return socket.create_server(
        (host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET, backlog=LISTEN_BACKLOG
    )
