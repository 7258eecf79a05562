"""A seat's connection to its host, in a separate thread: reconnects after each break, and sends missing entries.

Without a network it creates the welcome itself, and the log is handed in as a file.
"""

from __future__ import annotations

import asyncio
import json
import random
import threading
import time
from collections.abc import Sequence
from queue import SimpleQueue
from typing import Final

from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed, WebSocketException

from app.classroom import discovery
from app.classroom.acts import LogEntry
from app.classroom.client_messages import REFUSED, Join, Ready, Reflect, Resume, SeatStatus
from app.classroom.code import NEEDS_ADDRESS, Invitation, address_of
from app.classroom.dialing import WrongHostError, dial
from app.classroom.seat_log import SeatAssignment, SeatLog, build_welcome, drawn_seat
from app.classroom.server_messages import ToSeat
from app.words.language import mark, tr
from engine.drill.judging.report import program_version
from engine.json_text import parse_json
from engine.overrides import override

AGAIN_S: Final = (0.2, 3.0)
"""Wall time between two tries to dial, at first and at last."""
AT_S: Final = 2.0
"""Wall time between two reports of the run's position."""
ANSWER_S: Final = 4.0
"""Wall time in which a host must acknowledge a message; this detects a silently cut connection. Assumed."""
ACTS_AT_ONCE: Final = 100
LETTERS_AT_ONCE: Final = 100_000
"""Maximum characters of actions per message; a single longer action is sent alone."""
OTHER_VERSION: Final = mark(
    "this seat and the host have incompatible versions: install the same version on both"
)


class HostLink(threading.Thread):
    """Connection of a seat to its host, in its own thread.

    It sends the actions of the seat's log and queues the host's messages in `incoming`.
    """

    def __init__(self, where: Invitation | SeatAssignment, kept: SeatLog, consent: bool = False) -> None:
        super().__init__(daemon=True)
        self.incoming: SimpleQueue[ToSeat] = SimpleQueue()
        self.acknowledged = 0
        """Number of actions that the host has on disk."""
        self.connected = False
        """A host has welcomed the seat, and the connection is open."""
        self._was_welcomed = False
        self._waiting_since: float | None = None
        """Time since which a host owes an acknowledgment."""
        self._pinged_at: float | None = None
        """Time of a ping that the host has not answered yet."""
        self.refused = ""
        """Reason for which the host refused this seat."""
        self.host_version = ""
        """Version of the host; empty: an older host that does not send it."""
        self.tick, self.frozen, self.over = 0, False, False
        """Status of the seat. `wake` sends it immediately."""
        self.hand: str | None = None
        """Question of the seat whose hand is raised; None: the hand is not raised."""
        self.reflection: Reflect | None = None
        """The person's reflection on the run; None until it is known."""
        self.consent, self.held = consent, False
        """Two flags: the instructor may observe the seat; the instructor has taken over the seat."""
        self._invitation = None if isinstance(where, SeatAssignment) else where
        self._addresses = [] if isinstance(where, SeatAssignment) else where.addresses
        self._found_addresses: list[str] = []
        """Addresses that the network has reported."""
        self._search: asyncio.Task[list[str]] | None = None
        self._tries = 0
        """Attempts since the last welcome."""
        self.trying: list[str] = []
        """Addresses that are being dialed; none while the network is asked for them."""
        self._seat_log = kept
        if isinstance(where, SeatAssignment):
            seat = kept.given.seat if kept.given is not None else drawn_seat()
            self.incoming.put(build_welcome(where, seat))
        self._loop = asyncio.new_event_loop()
        self._news = asyncio.Event()
        self._has_ended = False

    @property
    def has_host(self) -> bool:
        """Return whether an address of the host is known."""
        return self._invitation is not None

    @property
    def is_answering(self) -> bool:
        """Return whether a host is connected and acknowledges what it receives."""
        late = time.monotonic() - ANSWER_S
        return self.connected and all(
            since is None or since > late for since in (self._waiting_since, self._pinged_at)
        )

    def wake(self) -> None:
        """Wake the sender; safe from any thread."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._news.set)

    def end(self) -> None:
        """Hang up."""
        self._has_ended = True
        self.wake()
        self.join(5.0)

    @override
    def run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            try:
                runner.run(self._keep())
            # not a message of this protocol version
            except (ValueError, LookupError, TypeError, AttributeError):
                self._refuse(tr(OTHER_VERSION))

    async def _keep(self) -> None:
        wait_s, invitation = AGAIN_S[0], self._invitation
        while invitation is not None and not (self._has_ended or self.refused):
            self._welcome_came = False
            try:
                async with await dial(await self._find_addresses(invitation), invitation) as socket:
                    self._keep_address(socket)
                    await self._talk(socket, self._hello(invitation))
            except ConnectionClosed as end:
                if end.rcvd is not None and end.rcvd.code == REFUSED:
                    self._refuse(end.rcvd.reason)
            except WrongHostError as problem:
                if not self._found_addresses:
                    self._refuse(str(problem))
            except (OSError, TimeoutError, WebSocketException):
                pass
            wait_s = AGAIN_S[0] if self._welcome_came else wait_s
            self._tries = 0 if self._welcome_came else self._tries + 1
            if not self._has_ended:
                # spreads the reconnects of a class over time
                await asyncio.sleep(wait_s * random.uniform(0.5, 1.5))
                wait_s = min(2.0 * wait_s, AGAIN_S[1])
        if self._search is not None:
            self._search.cancel()
            await asyncio.gather(self._search, return_exceptions=True)

    async def _find_addresses(self, invitation: Invitation) -> list[str]:
        """Return the addresses in the code, and those found on the network.

        The network is queried if the code has no address or none has responded, as addresses may change.
        """
        if self._search is not None and self._search.done():
            self._found_addresses, self._search = self._search.result(), None
        if self._search is None and (self._tries or not self._addresses) and discovery.is_installed():
            self._search = asyncio.create_task(discovery.find(invitation.fingerprint))
        if not self._addresses:
            if self._search is None:
                self._refuse(tr(NEEDS_ADDRESS))
                return []
            self.trying = []
            self._found_addresses = await self._search
            self._search = None
        self.trying = list(dict.fromkeys([*self._addresses, *self._found_addresses]))
        return self.trying

    def _keep_address(self, socket: ClientConnection) -> None:
        """Remember where the host answered: a seat that had its code alone needs no network search afterwards."""
        host, port, *_ = socket.remote_address
        address = address_of(host, port)
        if address in self._found_addresses and address not in self._addresses:
            self._addresses.append(address)

    def _refuse(self, reason: str) -> None:
        self.refused = reason
        self.incoming.put({"kind": "refused", "text": reason})

    def _hello(self, invitation: Invitation) -> Join | Resume:
        kept = self._seat_log
        if kept.given is not None:
            return Resume(seat=kept.given.seat, token=kept.token)
        return Join(secret=invitation.secret, name=kept.name, token=kept.token, consent=self.consent)

    async def _talk(self, socket: ClientConnection, hello: Join | Resume) -> None:
        await socket.send(hello.model_dump_json())
        tasks = [asyncio.create_task(self._ping(socket))]
        try:
            async for raw in socket:
                said: ToSeat = parse_json(raw)
                given = self._seat_log.given
                if said["kind"] == "welcome" and given is not None and said["part"] != given.part:
                    self.incoming.put(said)  # a returning seat starts with a new link
                    self._has_ended = True
                    return
                if said["kind"] == "welcome" and said["acknowledged"] > len(self._seat_log.acts):
                    self._refuse(tr("the host has more inputs of this seat than the log on this computer"))
                    return
                if said["kind"] == "welcome":
                    if not self._was_welcomed:
                        self.hand = self.hand or said.get("hand")
                    self._welcome_came = self.connected = self._was_welcomed = True
                    self.acknowledged = said["acknowledged"]
                    self.host_version = said.get("version", "")
                    self.incoming.put(said)
                    tasks.append(asyncio.create_task(self._send(socket)))
                elif said["kind"] == "acknowledged":
                    self.acknowledged = said["number"]
                    is_all = said["number"] >= len(self._seat_log.acts)
                    self._waiting_since = None if is_all else time.monotonic()
                else:
                    if said["kind"] == "state":
                        self._addresses += [one for one in said["hosts"] if one not in self._addresses]
                    self.incoming.put(said)
                if self._has_ended:
                    return
        finally:
            self.connected, self._waiting_since, self._pinged_at = False, None, None
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _ping(self, socket: ClientConnection) -> None:
        """Ping the host, so that the seat notices a cut connection while it sends nothing."""
        while True:
            await asyncio.sleep(ANSWER_S)
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
        thought: Reflect | None = None
        if self.host_version:
            ready = Ready(version=program_version()[:40], recording=True)
            await socket.send(ready.model_dump_json())
        sent, told, told_at = self.acknowledged, SeatStatus(tick=0, frozen=False), 0.0
        while not self._has_ended:
            self._news.clear()
            acts = take_message_chunk(self._seat_log.entries_after(sent))
            if acts:
                self._waiting_since = self._waiting_since or time.monotonic()
                await socket.send(json.dumps({"kind": "acts", "acts": acts}))
                sent = acts[-1].number
            if self.reflection is not None and self.reflection is not thought:
                thought = self.reflection
                await socket.send(thought.model_dump_json())
            now, is_now = time.monotonic(), self._build_status()
            news = is_now.model_copy(update={"tick": told.tick}) != told
            if news or not told_at or (is_now != told and now - told_at >= AT_S):
                await socket.send(is_now.model_dump_json())
                told, told_at = is_now, now
            if not acts:
                try:
                    async with asyncio.timeout(AT_S):
                        await self._news.wait()
                except TimeoutError:
                    pass
        await socket.close()


def take_message_chunk(acts: Sequence[LogEntry]) -> list[LogEntry]:
    """Take as many actions from *acts* as fit into one message, but at least one."""
    found: list[LogEntry] = []
    letters = 0
    for act in acts[:ACTS_AT_ONCE]:
        letters += len(act.line)
        if found and letters > LETTERS_AT_ONCE:
            break
        found.append(act)
    return found
