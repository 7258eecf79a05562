"""Messages between the hosts of one class over NATS JetStream.

The database that the hosts share is authoritative. These messages only report which of its data has changed.
They also report the status of seats that are connected to another host.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from app.classroom.messages.codec import MessageReader, ProtocolError, WireMessage, encode
from app.classroom.messages.requests import SeatStatus, ShowRuns
from app.words.language import tr

if TYPE_CHECKING:
    from nats.aio.client import Client
    from nats.js import JetStreamContext

logger = logging.getLogger(__name__)

KEEPALIVE_INTERVAL_S: Final = 1.0
"""Wall time between two keepalive messages of an idle host."""
HOST_TIMEOUT_S: Final = 5.0
"""Wall time without a message after which a host counts as lost, and its seats as disconnected."""
RECONNECT_INTERVAL_S: Final = 1.0
"""Wall time between two attempts to reach the NATS server."""
RESPONSE_TIMEOUT_S: Final = 5
"""Response timeout of the NATS server, in seconds."""
CONNECT_TIMEOUT_S: Final = 20.0
"""Maximum wall time that a starting host waits for the NATS server, which may be restarting."""
RETENTION_S: Final = 3600.0
"""Time for which JetStream keeps messages. A host that was disconnected for longer rereads the record."""


class BusUnavailableError(Exception):
    """Error for a NATS server that cannot be used. The text gives the reason."""


class SeatStatusNotice(SeatStatus, frozen=True, kw_only=True):
    """Status of a seat, sent by the host to which the seat is connected or was connected last."""

    number: int
    acknowledged: int
    connected: bool
    visit: int
    """Number of the seat's connection. If two hosts report a seat, the highest number is valid."""


class HostMessage(WireMessage, frozen=True, kw_only=True):
    """Base of the messages between hosts. It names the host that sent the message."""

    host: str = ""
    """Host that sends the message."""


class SeatChanges(HostMessage, frozen=True, tag="seats"):
    """Message with the changed seats of a host. Without seats, it only shows that the host is alive."""

    seats: tuple[SeatStatusNotice, ...] = ()
    looks: tuple[int, ...] = ()
    """Seats that consoles of the sending host observe."""


class ClassChanged(HostMessage, frozen=True, tag="changed"):
    """Message that the class, its seats or its instructions have changed in the record."""


class StateRequest(HostMessage, frozen=True, tag="hello"):
    """Request of a new or returning host for the state of all seats."""


class HandLoweredNotice(HostMessage, frozen=True, tag="lowered"):
    """Message that the hand of a seat was lowered."""

    seat: int


class SharedReplayNotice(HostMessage, frozen=True, tag="shown"):
    """Message about the shared replay: all seats are shown one or two runs, or the replay has ended."""

    show: ShowRuns


BusMessage = SeatChanges | ClassChanged | StateRequest | HandLoweredNotice | SharedReplayNotice
"""Any message that a host sends over the bus."""
_MESSAGE_READER: Final[MessageReader[BusMessage]] = MessageReader(BusMessage)


class MessageBus:
    """Message bus that connects one host with the other hosts of its class, over NATS JetStream."""

    def __init__(self, url: str, the_class: str) -> None:
        """Create the bus.

        *the_class*: fingerprint of the class, which separates the classes that share a NATS server.
        """
        self.own_name = secrets.token_hex(4)
        """Name by which the other hosts know this host."""
        self._url = url
        self._name = f"mirrordrill-{the_class}"
        self._client: Client | None = None
        self._unsent: list[BusMessage] = []
        """Messages that could not be sent to the server. They are sent before any other message."""
        self._sending = asyncio.Lock()
        self._next_sequence: int | None = None
        """Sequence number of the next message in the stream that this host has not received."""

    async def connect(self) -> None:
        """Connect to the NATS server. Raises BusUnavailableError."""
        try:
            import nats
        except ImportError as problem:
            raise BusUnavailableError(
                tr(
                    "a class with several hosts needs more packages. Install them: pip install "
                    "mirrordrill[hosts]"
                )
            ) from problem

        async def handle_error(error: Exception) -> None:
            logger.info("NATS: %s", error)

        try:
            # connect_timeout limits only one attempt, and the number of attempts is unlimited
            async with asyncio.timeout(CONNECT_TIMEOUT_S):
                self._client = await nats.connect(
                    self._url, connect_timeout=RESPONSE_TIMEOUT_S, max_reconnect_attempts=-1,
                    reconnect_time_wait=RECONNECT_INTERVAL_S, error_cb=handle_error, allow_reconnect=True,
                )  # fmt: skip
                await self._open(self._client.jetstream())
        except TimeoutError:
            raise BusUnavailableError(
                tr("the NATS server cannot be used: {why}").format(why=tr("no answer"))
            ) from None
        except Exception as problem:  # nats-py raises its own errors, socket errors and URL errors
            raise BusUnavailableError(
                tr("the NATS server cannot be used: {why}").format(why=str(problem) or type(problem).__name__)
            ) from problem

    async def close(self) -> None:
        """Close the connection to the NATS server."""
        if self._client is not None:
            with suppress(Exception):  # the server may have stopped already
                await asyncio.wait_for(self._client.close(), RECONNECT_INTERVAL_S)

    async def _open(self, stream: JetStreamContext) -> None:
        """Open the stream, or create it if it does not exist.

        A new host begins with the next message. A returning host continues after the last message that it has
        read.
        """
        from nats.js.api import StreamConfig

        info = await stream.add_stream(
            StreamConfig(name=self._name, subjects=[self._name], max_age=RETENTION_S)
        )
        last_seq = info.state.last_seq
        self._next_sequence = (
            last_seq + 1 if self._next_sequence is None else min(self._next_sequence, last_seq + 1)
        )

    async def send(self, *messages: BusMessage) -> None:
        """Send messages in order. If sending fails, the next call sends the unsent messages first.

        Unsent seat states are dropped instead, because they are rebuilt.
        """
        assert self._client is not None, "dialed"
        self._unsent += [replace(message, host=self.own_name) for message in messages]
        async with self._sending:
            stream = self._client.jetstream(timeout=RESPONSE_TIMEOUT_S)
            while self._unsent:
                try:
                    await stream.publish(self._name, encode(self._unsent[0]).encode())
                except Exception as problem:  # any error of nats-py, a socket or a URL can occur
                    logger.info("NATS: %s", problem)
                    self._unsent = [
                        message for message in self._unsent if not isinstance(message, SeatChanges)
                    ]
                    return
                del self._unsent[0]

    async def listen(
        self, on_message: Callable[[BusMessage], Awaitable[None]], on_gap: Callable[[], Awaitable[None]]
    ) -> None:
        """Receive the messages of other hosts forever. Call *on_gap* whenever some messages may have been missed."""
        from nats.errors import TimeoutError as NatsTimeoutError
        from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy

        assert self._client is not None
        stream = self._client.jetstream(timeout=RESPONSE_TIMEOUT_S)
        while True:
            try:
                await self._open(stream)
                consumer_config = ConsumerConfig(
                    deliver_policy=DeliverPolicy.BY_START_SEQUENCE, opt_start_seq=self._next_sequence,
                    ack_policy=AckPolicy.NONE, inactive_threshold=60.0,
                )  # fmt: skip
                subscription = await stream.pull_subscribe(
                    self._name, stream=self._name, config=consumer_config
                )
                await on_gap()
                while True:
                    try:
                        messages = await subscription.fetch(1, timeout=KEEPALIVE_INTERVAL_S)
                    except NatsTimeoutError:
                        if self._client.is_connected:
                            messages = []
                        else:
                            raise
                    for message in messages:
                        self._next_sequence = message.metadata.sequence.stream + 1
                        try:
                            news = _MESSAGE_READER.read(message.data)
                        except ProtocolError as problem:
                            logger.warning("NATS: %s", problem)
                            continue
                        if news.host != self.own_name:
                            await on_message(news)
            except asyncio.CancelledError:
                raise
            # any error of nats-py, a socket or a URL can occur; the class continues without the bus
            except Exception as problem:
                logger.info("NATS: %s", problem)
                await asyncio.sleep(RECONNECT_INTERVAL_S)
