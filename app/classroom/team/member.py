"""Member of a team, with or without a window. No Qt.

A member has a role in a simulation that another computer runs.
"""

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from queue import Empty
from typing import Final, TextIO

from msgspec.structs import replace
from websockets.asyncio.client import ClientConnection

from app.classroom.host_connection import HostConnection
from app.classroom.join import JoinFailedError
from app.classroom.join_code import Invitation
from app.classroom.messages.codec import NAME_LENGTH_MAX, encode
from app.classroom.messages.replies import LogVerdict
from app.classroom.messages.team import (
    MEMBER_MESSAGE_READER,
    AskInstructor,
    ClaimRole,
    InputDone,
    InputFailed,
    InstructorMessage,
    MemberMessage,
    MemberWelcome,
    RoleView,
    StartTeam,
    SubmitInput,
    TeamDrillEnded,
    TeamPoints,
    TeamRefusal,
    TeamRoles,
)
from app.classroom.names import is_valid_name
from app.classroom.seat_log import get_seat_folder, load_token, shorten_file_stem
from app.words import formatting, localization
from app.words.language import tr
from engine.constants import TICKS_PER_S
from engine.drill.team.role_view import RoleViewRow
from engine.inputs import Input
from engine.localization import restore_from_json
from engine.overrides import override

GOAL_SYMBOLS: Final[dict[bool | None, str]] = {True: "✓", False: "○", None: "○"}
"""Symbol of a goal: key True if the goal is met, False if it is not, None if this is unknown."""
FIRST_ANSWER_TIMEOUT_S: Final = 30.0
"""Wall time within which the host of the team must send its first answer."""


class TeamConnection(HostConnection[MemberMessage]):
    """Connection of a member to its team. It sends input lines in order, and each line is applied once."""

    def __init__(self, invitation: Invitation, name: str, role: str, replaces_member: bool = False) -> None:
        """Create a member. Without a *role*, the member only requests the list of roles.

        *replaces_member*: True to take over the role from a disconnected member.
        """
        super().__init__(invitation)
        self.role = role
        self._person, self._replaces_member = name, replaces_member
        folder = get_seat_folder(invitation)
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._token = load_token(folder / f"{shorten_file_stem(f'member-{name.encode().hex()}')}.token")
        self._lines: deque[str] = deque()
        """Lines that the team has not applied yet, oldest first."""
        self._sent_count = 0
        """Number with which the oldest line was sent; 0 if it was not sent."""
        self._done_count = 0
        self._question: AskInstructor | StartTeam | None = None

    def send_input(self, line: str) -> None:
        """Send an input line to the computer that runs the simulation of the team."""
        self._lines.append(line)
        self.wake()

    def raise_hand(self, question: str | None) -> None:
        """Raise the hand of the team with *question*. None lowers the hand."""
        self._question = AskInstructor(question)
        self.wake()

    def start_team(self) -> None:
        """Request the start of the simulation although some roles are vacant."""
        self._question = StartTeam()
        self.wake()

    @override
    async def _find_addresses(self, invitation: Invitation) -> Sequence[str]:
        if self.role and not is_valid_name(self._person):
            self._stop_with_refusal(
                tr("a name must have 1 to {n} printable characters").format(n=NAME_LENGTH_MAX)
            )
            return ()
        return await super()._find_addresses(invitation)

    @override
    def _build_refusal(self, reason: str) -> MemberMessage:
        return TeamRefusal(reason)

    @override
    async def _exchange_messages(self, socket: ClientConnection, invitation: Invitation) -> None:
        role = ClaimRole(invitation.secret, self._person, self._token, self.role, self._replaces_member)
        await socket.send(encode(role))
        sending: asyncio.Task[None] | None = None
        try:
            async for raw in socket:
                message = MEMBER_MESSAGE_READER.read_known(raw)
                match message:
                    case None:
                        continue
                    case MemberWelcome():
                        self._is_welcome = True
                        # take over only once: if another member takes over later, reconnecting must not undo
                        # it
                        self._replaces_member = False
                        if self._sent_count and message.done >= self._sent_count:
                            self._lines.popleft()  # the input was applied, but the response was lost
                        self._sent_count, self._done_count = 0, message.done
                        sending = asyncio.create_task(self._send(socket))
                    case InputDone() | InputFailed():
                        self._complete_request(message.number, isinstance(message, InputDone))
                    case RoleView() if not self._sent_count:
                        self._done_count = message.done
                    case TeamRoles() | TeamDrillEnded():
                        self._has_ended = True
                self.incoming.put(_localize(message))
                if self._has_ended:
                    return
        finally:
            if sending is not None:
                sending.cancel()
                await asyncio.gather(sending, return_exceptions=True)

    def _complete_request(self, number: int, is_accepted: bool) -> None:
        if number == self._sent_count:
            self._lines.popleft()
            self._sent_count = 0
            self._done_count = number if is_accepted else self._done_count
            self._wake_event.set()

    async def _send(self, socket: ClientConnection) -> None:
        while not self._has_ended:
            self._wake_event.clear()
            if self._lines and not self._sent_count:
                self._sent_count = self._done_count + 1
                await socket.send(encode(SubmitInput(self._sent_count, self._lines[0])))
            if self._question is not None:
                question, self._question = self._question, None
                await socket.send(encode(question))
            await self._wake_event.wait()
        await socket.close()


def _localize(message: MemberMessage) -> MemberMessage:
    """Return the message with its texts in the language of this computer."""
    match message:
        case RoleView():
            for row in message.view["news"]:
                row["text"] = localization.localize(restore_from_json(row["text"]))
        case InputFailed():
            return replace(message, text=localization.localize(restore_from_json(message.text)))
        case TeamDrillEnded(result=result) if result is not None:
            return replace(message, result=replace(result, points=list(map(_localize_points, result.points))))
    return message


def _localize_points(points: TeamPoints) -> TeamPoints:
    return replace(
        points,
        name=localization.localize(points.name),
        why=localization.localize(restore_from_json(points.why)),
        better=localization.localize(restore_from_json(points.better)),
    )


def format_end_report(message: TeamDrillEnded) -> Iterator[str]:
    """Yield the lines that report the end and the result to a member without a window.

    The first line is `END`. The details follow.
    """
    verdict, result = message.verdict, message.result
    yield "END" if verdict is None else f"END {verdict['t_s']:g} {format_team_score(message)}"
    for goal in result.goals if result is not None else ():
        yield f"{GOAL_SYMBOLS[goal.met_t_s is not None]} {goal.text}"
    for rule in result.points if result is not None else ():
        points, maximum = map(formatting.format_plain_number, (rule.points, rule.max))
        yield f"{points}/{maximum} {rule.name}: {rule.why}"


def format_team_score(message: TeamDrillEnded) -> str:
    """Format the points and the number of met goals of a finished team; empty without a verdict."""
    verdict = message.verdict
    if verdict is None:
        return ""
    goals = verdict["goals"].values()
    goals_text = tr("{met} of {all} goals met.").format(
        met=sum(at_s is not None for at_s in goals), all=len(goals)
    )
    if verdict["score"] is None:
        return goals_text
    score = tr("{points} of 100 points.").format(points=formatting.format_plain_number(verdict["score"]))
    return f"{score} {goals_text}"


def play_role(
    member: TeamConnection, lines: Sequence[Input] | TextIO, show_line: Callable[[str], object]
) -> tuple[list[RoleViewRow], LogVerdict | None]:
    """Send each of *lines* at its time, or when it is typed, until the drill is over.

    *show_line* receives the events.

    Return all events, and the verdict on the run. Raises JoinFailedError.
    """
    script = deque(lines) if isinstance(lines, Sequence) else deque()
    if not isinstance(lines, Sequence):
        threading.Thread(target=_read_typed_lines, args=(member, lines), daemon=True).start()
    noticed: list[RoleViewRow] = []
    for message in _receive_messages(member):
        match message:
            case MemberWelcome():
                show_line(f"{message.role_name}: {message.role_text}")
            case RoleView():
                while script and script[0].tick <= message.view["t_s"] * TICKS_PER_S and not message.frozen:
                    member.send_input(script.popleft().line_without_time)
                noticed += message.view["news"]
                for row in message.view["news"]:
                    show_line(f"{row['t_s']:g} {row['text']}")
            case InputFailed():
                show_line(str(message.text))
            case InstructorMessage():
                show_line(tr("Instructor: {text}").format(text=message.text))
            case TeamDrillEnded():
                for line in format_end_report(message):
                    show_line(line)
                return noticed, message.verdict
    return noticed, None


def _receive_messages(member: TeamConnection) -> Iterator[MemberMessage]:
    """Yield incoming messages while the member is connected. Raises JoinFailedError."""
    first = time.monotonic() + FIRST_ANSWER_TIMEOUT_S
    has_begun = False
    while True:
        try:
            message = member.incoming.get(timeout=0.2)
        except Empty:
            if not has_begun and time.monotonic() > first:
                raise JoinFailedError(tr("no answer from this address")) from None
            continue
        if isinstance(message, TeamRefusal):
            raise JoinFailedError(message.text)
        has_begun = True
        yield message


def _read_typed_lines(member: TeamConnection, lines: TextIO) -> None:
    for line in lines:
        word, _, question = line.strip().partition(" ")
        if word.lower() == "hand":
            member.raise_hand(None if question.lower() == "down" else question)
        elif word:
            member.send_input(line.strip())
