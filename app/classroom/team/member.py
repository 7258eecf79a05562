"""A member of a team, with or without a window: has a role in the world that another computer holds. No Qt."""

from __future__ import annotations

import asyncio
import random
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from queue import Empty, SimpleQueue
from typing import Final, TextIO

from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed, WebSocketException

from app.classroom.client_messages import REFUSED
from app.classroom.code import NEEDS_ADDRESS, Invitation
from app.classroom.dialing import WrongHostError, dial
from app.classroom.join import JoinFailedError
from app.classroom.link import AGAIN_S, OTHER_VERSION
from app.classroom.seat_log import folder_of, token_of
from app.classroom.server_messages import LogVerdict
from app.classroom.team.client_messages import Ask, ClaimRole, StartTeam, SubmitInput
from app.classroom.team.server_messages import TeamRole, ToMember
from app.words import localization
from app.words.language import tr
from engine.constants import TICKS_PER_S
from engine.drill.team.view import Row
from engine.inputs import Input
from engine.json_text import parse_json
from engine.localization import from_json
from engine.overrides import override

ANSWER_S: Final = 30.0
"""Wall time in which the host of the team must give its first answer."""


class TeamMember(threading.Thread):
    """Member's connection, which reconnects after every break.

    Each line is applied once, in the order of sending.
    """

    def __init__(self, invitation: Invitation, name: str, role: str, instead: bool = False) -> None:
        """Create a member; without a *role* it only requests the list of roles.

        *instead*: replace a disconnected member.
        """
        super().__init__(daemon=True)
        self.incoming: SimpleQueue[ToMember] = SimpleQueue()
        self.role = role
        self._invitation, self._person, self._instead = invitation, name, instead
        folder = folder_of(invitation)
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._token = token_of(folder / f"member-{name.encode().hex()}.token")
        self._lines: deque[str] = deque()
        """Lines that are not applied yet; the first one may be sent already."""
        self._sent_count = 0
        """Number under which the first line was sent; 0: not sent."""
        self._done_count = 0
        self._question: Ask | StartTeam | None = None
        self._loop = asyncio.new_event_loop()
        self._news = asyncio.Event()
        self._has_ended = False

    def do(self, line: str) -> None:
        """Send an input line to the team's world."""
        self._lines.append(line)
        self._wake()

    def ask(self, question: str | None) -> None:
        """Raise a hand for the team; None lowers it."""
        self._question = Ask(question=question)
        self._wake()

    def start_team(self) -> None:
        """Start the world, although some roles are vacant."""
        self._question = StartTeam()
        self._wake()

    def end(self) -> None:
        """Leave the team."""
        self._has_ended = True
        self._wake()
        self.join(5.0)

    def _wake(self) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._news.set)

    @override
    def run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            try:
                runner.run(self._keep())
            # not a message of this protocol version
            except (ValueError, LookupError, TypeError, AttributeError):
                self._refuse(tr(OTHER_VERSION))

    async def _keep(self) -> None:
        wait_s = AGAIN_S[0]
        while not self._has_ended:
            try:
                if not self._invitation.addresses:  # no discovery for teams
                    self._refuse(tr(NEEDS_ADDRESS))
                    return
                async with await dial(self._invitation.addresses, self._invitation) as socket:
                    await self._talk(socket)
                    wait_s = AGAIN_S[0]
            except ConnectionClosed as end:
                if end.rcvd is not None and end.rcvd.code == REFUSED:
                    self._refuse(end.rcvd.reason)
                    return
            except WrongHostError as problem:
                self._refuse(str(problem))
                return
            except (OSError, TimeoutError, WebSocketException):
                pass
            if not self._has_ended:
                await asyncio.sleep(wait_s * random.uniform(0.5, 1.5))
                wait_s = min(2.0 * wait_s, AGAIN_S[1])

    def _refuse(self, reason: str) -> None:
        self._has_ended = True
        self.incoming.put({"kind": "refused", "text": reason})

    async def _talk(self, socket: ClientConnection) -> None:
        invited = self._invitation
        first = ClaimRole(
            secret=invited.secret, name=self._person, token=self._token, role=self.role, instead=self._instead
        )
        await socket.send(first.model_dump_json())
        sending: asyncio.Task[None] | None = None
        try:
            async for raw in socket:
                said = _read(raw)
                if said["kind"] == "welcome":
                    self._instead = False  # the member that takes over the role gets it
                    if (
                        self._sent_count and said["done"] >= self._sent_count
                    ):  # the input was applied, but the response got lost
                        self._lines.popleft()
                    self._sent_count, self._done_count = 0, said["done"]
                    sending = asyncio.create_task(self._send(socket))
                elif said["kind"] == "done" or said["kind"] == "not_done":
                    self._answered(said["number"], said["kind"] == "done")
                elif said["kind"] == "view" and not self._sent_count:
                    self._done_count = said["done"]
                self.incoming.put(said)
                if said["kind"] in ("roles", "over"):
                    self._has_ended = True
                if self._has_ended:
                    return
        finally:
            if sending is not None:
                sending.cancel()
                await asyncio.gather(sending, return_exceptions=True)

    def _answered(self, number: int, is_accepted: bool) -> None:
        if number == self._sent_count:
            self._lines.popleft()
            self._sent_count = 0
            self._done_count = number if is_accepted else self._done_count
            self._news.set()

    async def _send(self, socket: ClientConnection) -> None:
        while not self._has_ended:
            self._news.clear()
            if self._lines and not self._sent_count:
                self._sent_count = self._done_count + 1
                await socket.send(SubmitInput(number=self._sent_count, line=self._lines[0]).model_dump_json())
            if self._question is not None:
                question, self._question = self._question, None
                await socket.send(question.model_dump_json())
            await self._news.wait()
        await socket.close()


def _read(raw: str | bytes) -> ToMember:
    """Parse a message and localize its texts in the language of this computer."""
    told: ToMember = parse_json(raw)
    if told["kind"] == "view":
        for row in told["view"]["news"]:
            row["text"] = localization.localize(from_json(row["text"]))
    elif told["kind"] == "not_done":
        told["text"] = localization.localize(from_json(told["text"]))
    return told


def roles(invitation: Invitation, name: str) -> list[TeamRole]:
    """Return the roles of the team with their members. Raises JoinFailedError."""
    member = TeamMember(invitation, name, "")
    member.start()
    try:
        said = member.incoming.get(timeout=ANSWER_S)
    except Empty:
        raise JoinFailedError(tr("no answer from this address")) from None
    finally:
        member.end()
    if said["kind"] != "roles":
        raise JoinFailedError(
            said["text"] if said["kind"] == "refused" else tr("no answer from this address")
        )
    return said["roles"]


def play_role(
    member: TeamMember, lines: Sequence[Input] | TextIO, show: Callable[[str], object]
) -> tuple[list[Row], LogVerdict | None]:
    """Send *lines*, each at its time or when typed, until the drill is over; *show* gets the events.

    Return all events and the result of the run. Raises JoinFailedError.
    """
    script = deque(lines) if isinstance(lines, Sequence) else deque()
    if not isinstance(lines, Sequence):
        threading.Thread(target=_typed, args=(member, lines), daemon=True).start()
    noticed: list[Row] = []
    for said in _receive_messages(member):
        match said["kind"]:
            case "welcome":
                show(f"{said['role_name']}: {said['role_text']}")
            case "view":
                while script and script[0].tick <= said["view"]["t_s"] * TICKS_PER_S and not said["frozen"]:
                    member.do(script.popleft().line_without_time)
                noticed += said["view"]["news"]
                for row in said["view"]["news"]:
                    show(f"{row['t_s']:g} {row['text']}")
            case "not_done":
                show(said["text"])
            case "message":
                show(tr("Instructor: {text}").format(text=said["text"]))
            case "over":
                return noticed, said["verdict"]
    return noticed, None


def _receive_messages(member: TeamMember) -> Iterator[ToMember]:
    """Yield incoming messages while the member is connected. Raises JoinFailedError."""
    first = time.monotonic() + ANSWER_S
    begun = False
    while True:
        try:
            said = member.incoming.get(timeout=0.2)
        except Empty:
            if not begun and time.monotonic() > first:
                raise JoinFailedError(tr("no answer from this address")) from None
            continue
        if said["kind"] == "refused":
            raise JoinFailedError(said["text"])
        begun = True
        yield said


def _typed(member: TeamMember, lines: TextIO) -> None:
    for line in lines:
        word, _, question = line.strip().partition(" ")
        if word.lower() == "hand":
            member.ask(None if question.lower() == "down" else question)
        elif word:
            member.do(line.strip())
