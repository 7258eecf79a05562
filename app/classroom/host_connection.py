"""Connection of a seat to its host, in its own thread.

It reconnects after every failure and sends missing entries. Without a network, the connection itself creates
the welcome message of the host, and the person hands in the log as a file.
"""

import asyncio
import random
import threading
import time
from abc import abstractmethod
from collections.abc import Sequence
from queue import SimpleQueue
from typing import Final, Generic, TypeVar

from msgspec.structs import replace
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed, WebSocketException

from app.classroom import discovery
from app.classroom.dialing import WrongHostError, dial
from app.classroom.join_code import ADDRESS_MISSING_TEXT, Invitation, format_address
from app.classroom.log_entries import LogEntry
from app.classroom.messages.codec import REFUSED_CLOSE_CODE, ProtocolError, WireMessage, encode
from app.classroom.messages.replies import (
    SEAT_MESSAGE_READER,
    AcknowledgedActions,
    PaceState,
    SeatMessage,
    SeatRefusal,
    SeatWelcome,
)
from app.classroom.messages.requests import AppendEntries, Join, Ready, Resume, SeatStatus, SubmitReflection
from app.classroom.seat_log import SeatAssignment, SeatLog, build_welcome, draw_seat_number
from app.words.language import mark, tr
from engine.drill.judging.report import get_program_version
from engine.overrides import override

RECONNECT_INTERVALS_S: Final = (0.2, 3.0)
"""Minimum and maximum wall time between two connection attempts. The time doubles after each failure."""
POSITION_INTERVAL_S: Final = 2.0
"""Maximum wall time between two reports of the run's position."""
ACKNOWLEDGE_TIMEOUT_S: Final = 4.0
"""Wall time without an acknowledgment after which the connection to a host counts as cut. Assumed."""
ACTIONS_PER_MESSAGE_MAX: Final = 100
MESSAGE_LINES_LENGTH_MAX: Final = 100_000
"""Maximum total length of the input lines in one message, in characters.

A longer input line is sent in a message of its own.
"""
VERSION_MISMATCH_TEXT: Final = mark(
    "this seat and the host have incompatible versions: install the same version on both"
)

IncomingMessage = TypeVar("IncomingMessage", bound=WireMessage)


class HostConnection(threading.Thread, Generic[IncomingMessage]):
    """Connection to a host, in its own thread. It reconnects after every failure.

    Received messages are queued in `incoming`. `SeatConnection` and `TeamConnection` implement
    `_exchange_messages`, which sends requests and processes messages.
    """

    def __init__(self, invitation: Invitation | None) -> None:
        """Create the connection. Without an *invitation*, it never dials."""
        super().__init__(daemon=True)
        self.incoming: SimpleQueue[IncomingMessage] = SimpleQueue()
        self.refusal = ""
        """Reason why the host refused this client; empty if it did not."""
        self._invitation = invitation
        self._is_welcome = False
        """True if the host has welcomed the client over the current connection."""
        self._loop = asyncio.new_event_loop()
        self._wake_event = asyncio.Event()
        self._has_ended = False

    @property
    def is_welcomed(self) -> bool:
        """Return whether the host has welcomed the client over the current connection."""
        return self._is_welcome

    def wake(self) -> None:
        """Wake the sending task. Any thread may call this method."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._wake_event.set)

    def disconnect(self) -> None:
        """Disconnect from the host."""
        self._has_ended = True
        self.wake()
        self.join(5.0)

    @override
    def run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._stay_connected())

    async def _stay_connected(self) -> None:
        wait_s, invitation = RECONNECT_INTERVALS_S[0], self._invitation
        while invitation is not None and not (self._has_ended or self.refusal):
            self._is_welcome = False
            try:
                async with await dial(await self._find_addresses(invitation), invitation) as socket:
                    await self._exchange_messages(socket, invitation)
            except ConnectionClosed as end:
                if end.rcvd is not None and end.rcvd.code == REFUSED_CLOSE_CODE:
                    self._stop_with_refusal(end.rcvd.reason)
            except WrongHostError as problem:
                self._on_wrong_host(str(problem))
            except (OSError, TimeoutError, WebSocketException):
                pass
            # the host has another version, whose messages have unknown fields or values
            except (ProtocolError, LookupError, TypeError, ValueError):
                self._stop_with_refusal(tr(VERSION_MISMATCH_TEXT))
            wait_s = RECONNECT_INTERVALS_S[0] if self._is_welcome else wait_s
            self._on_disconnected()
            self._is_welcome = False
            if not (self._has_ended or self.refusal):
                # a random wait spreads the reconnections of all seats over time
                await asyncio.sleep(wait_s * random.uniform(0.5, 1.5))
                wait_s = min(2.0 * wait_s, RECONNECT_INTERVALS_S[1])
        await self._stop_tasks()

    def _stop_with_refusal(self, reason: str) -> None:
        self.refusal = reason
        self.incoming.put(self._build_refusal(reason))

    @abstractmethod
    def _build_refusal(self, reason: str) -> IncomingMessage:
        """Return the message that informs the owner of this connection about a refusal."""

    @abstractmethod
    async def _exchange_messages(self, socket: ClientConnection, invitation: Invitation) -> None:
        """Exchange messages until the connection ends."""

    async def _find_addresses(self, invitation: Invitation) -> Sequence[str]:
        """Return the addresses in the join code. If there are none, stop the connection with a refusal."""
        if not invitation.addresses:
            self._stop_with_refusal(tr(ADDRESS_MISSING_TEXT))
        return invitation.addresses

    def _on_wrong_host(self, reason: str) -> None:
        self._stop_with_refusal(reason)

    def _on_disconnected(self) -> None:
        """Prepare the next connection attempt, after the connection has closed."""

    async def _stop_tasks(self) -> None:
        """Stop additional tasks of a subclass."""


class SeatConnection(HostConnection[SeatMessage]):
    """Connection of a seat to its host. It sends the entries of the seat's log and the status of the seat."""

    def __init__(self, origin: Invitation | SeatAssignment, seat_log: SeatLog, consent: bool = False) -> None:
        super().__init__(None if isinstance(origin, SeatAssignment) else origin)
        self.acknowledged = 0
        """Number of the last entry that is on the host's disk."""
        self.connected = False
        """True if a host has welcomed the seat and the connection is open."""
        self._was_welcomed = False
        self._waiting_since: float | None = None
        """Time at which the oldest unacknowledged message was sent; None if everything is acknowledged."""
        self._pinged_at: float | None = None
        """Time of the ping that the host has not answered yet; None if there is none."""
        self.host_version = ""
        """Program version of the host; empty for an older host that does not send it."""
        self.tick, self.frozen, self.over = 0, False, False
        """Status of the seat. A call of `wake` sends a changed status immediately."""
        self.hand: str | None = None
        """Question of the person; None if the hand is not raised."""
        self.reflection: SubmitReflection | None = None
        """Reflection of the person on the run; None before it is written."""
        self.consent, self.held = consent, False
        """Two flags: the instructor may observe the seat; the instructor has taken over the seat."""
        self._addresses = [] if isinstance(origin, SeatAssignment) else origin.addresses
        self._found_addresses: list[str] = []
        """Addresses that the search of the network has found."""
        self._search: asyncio.Task[list[str]] | None = None
        self._tries = 0
        """Number of connection attempts since the last welcome."""
        self.dialed_addresses: list[str] = []
        """Addresses that are being dialed; empty while the network is searched."""
        self._seat_log = seat_log
        if isinstance(origin, SeatAssignment):
            seat = seat_log.assignment.seat if seat_log.assignment is not None else draw_seat_number()
            self.incoming.put(build_welcome(origin, seat))

    @property
    def has_host(self) -> bool:
        """Return whether the seat belongs to a host; False for a seat without a network."""
        return self._invitation is not None

    @property
    def is_answering(self) -> bool:
        """Return whether a host is connected and answers in time."""
        latest_time = time.monotonic() - ACKNOWLEDGE_TIMEOUT_S
        return self.connected and all(
            start_time is None or start_time > latest_time
            for start_time in (self._waiting_since, self._pinged_at)
        )

    @override
    def _on_wrong_host(self, reason: str) -> None:
        if not self._found_addresses:
            self._stop_with_refusal(reason)

    @override
    def _on_disconnected(self) -> None:
        self._tries = 0 if self._is_welcome else self._tries + 1

    @override
    async def _stop_tasks(self) -> None:
        if self._search is not None:
            self._search.cancel()
            await asyncio.gather(self._search, return_exceptions=True)

    @override
    async def _find_addresses(self, invitation: Invitation) -> list[str]:
        """Return the addresses in the code and the addresses found on the network.

        The network is searched if the code has no address or no address has responded, because addresses may
        change.
        """
        if self._search is not None and self._search.done():
            self._found_addresses, self._search = self._search.result(), None
        if self._search is None and (self._tries or not self._addresses) and discovery.is_installed():
            self._search = asyncio.create_task(discovery.find_addresses(invitation.fingerprint))
        if not self._addresses:
            if self._search is None:
                self._stop_with_refusal(tr(ADDRESS_MISSING_TEXT))
                return []
            self.dialed_addresses = []
            self._found_addresses = await self._search
            self._search = None
        self.dialed_addresses = list(dict.fromkeys([*self._addresses, *self._found_addresses]))
        return self.dialed_addresses

    def _remember_address(self, socket: ClientConnection) -> None:
        """Remember the address at which the host answered.

        The seat then need not search the network again, even if its join code has no address.
        """
        host, port, *_ = socket.remote_address
        address = format_address(host, port)
        if address in self._found_addresses and address not in self._addresses:
            self._addresses.append(address)

    @override
    def _build_refusal(self, reason: str) -> SeatMessage:
        return SeatRefusal(reason)

    def _build_first_message(self, invitation: Invitation) -> Join | Resume:
        seat_log = self._seat_log
        if seat_log.assignment is not None:
            return Resume(seat=seat_log.assignment.seat, token=seat_log.token)
        return Join(secret=invitation.secret, name=seat_log.name, token=seat_log.token, consent=self.consent)

    @override
    async def _exchange_messages(self, socket: ClientConnection, invitation: Invitation) -> None:
        self._remember_address(socket)
        await socket.send(encode(self._build_first_message(invitation)))
        tasks = [asyncio.create_task(self._ping(socket))]
        try:
            async for raw in socket:
                message, log = SEAT_MESSAGE_READER.read_known(raw), self._seat_log
                match message:
                    case None:
                        continue
                    case SeatWelcome() if log.assignment is not None and message.part != log.assignment.part:
                        self.incoming.put(message)  # the seat creates a new link for the other part
                        self._has_ended = True
                    case SeatWelcome() if message.acknowledged > len(log.entries):
                        self._stop_with_refusal(
                            tr(
                                "the host has received more inputs from this seat than the log on this "
                                "computer contains"
                            )
                        )
                        return
                    case SeatWelcome():
                        if not self._was_welcomed:
                            self.hand = self.hand or message.hand
                        self._is_welcome = self.connected = self._was_welcomed = True
                        self.acknowledged = message.acknowledged
                        self.host_version = message.version
                        self.incoming.put(message)
                        tasks.append(asyncio.create_task(self._send(socket)))
                    case AcknowledgedActions():
                        self.acknowledged = message.number
                        is_all = message.number >= len(log.entries)
                        self._waiting_since = None if is_all else time.monotonic()
                    case _:
                        if isinstance(message, PaceState):
                            self._addresses += [host for host in message.hosts if host not in self._addresses]
                        self.incoming.put(message)
                if self._has_ended:
                    return
        finally:
            self.connected, self._waiting_since, self._pinged_at = False, None, None
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _ping(self, socket: ClientConnection) -> None:
        """Ping the host at intervals, so that the seat detects a cut connection while it sends nothing."""
        while True:
            await asyncio.sleep(ACKNOWLEDGE_TIMEOUT_S)
            self._pinged_at = time.monotonic()
            await (await socket.ping())
            self._pinged_at = None

    def _build_status(self) -> SeatStatus:
        return SeatStatus(
            tick=self.tick,
            frozen=self.frozen,
            over=self.over,
            hand=self.hand,
            consent=self.consent,
            held=self.held,
        )

    async def _send(self, socket: ClientConnection) -> None:
        """Send the entries that the host lacks, and the status of the seat."""
        reflection: SubmitReflection | None = None
        if self.host_version:
            ready = Ready(version=get_program_version()[:40], recording=True)
            await socket.send(encode(ready))
        sent_count, status, reported_at = self.acknowledged, SeatStatus(tick=0, frozen=False), 0.0
        while not self._has_ended:
            self._wake_event.clear()
            acts = take_message_chunk(self._seat_log.list_entries_after(sent_count))
            if acts:
                self._waiting_since = self._waiting_since or time.monotonic()
                await socket.send(encode(AppendEntries(list(acts))))
                sent_count = acts[-1].number
            if self.reflection is not None and self.reflection is not reflection:
                reflection = self.reflection
                await socket.send(encode(reflection))
            now_s, seat_status = time.monotonic(), self._build_status()
            news = replace(seat_status, tick=status.tick) != status
            if (
                news
                or not reported_at
                or (seat_status != status and now_s - reported_at >= POSITION_INTERVAL_S)
            ):
                await socket.send(encode(seat_status))
                status, reported_at = seat_status, now_s
            if not acts:
                try:
                    async with asyncio.timeout(POSITION_INTERVAL_S):
                        await self._wake_event.wait()
                except TimeoutError:
                    pass
        await socket.close()


def take_message_chunk(entries: Sequence[LogEntry]) -> list[LogEntry]:
    """Return as many of the first *entries* as fit into one message, but at least one."""
    log_entries: list[LogEntry] = []
    letters = 0
    for act in entries[:ACTIONS_PER_MESSAGE_MAX]:
        letters += len(act.line)
        if log_entries and letters > MESSAGE_LINES_LENGTH_MAX:
            break
        log_entries.append(act)
    return log_entries
