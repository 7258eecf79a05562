"""Messages between the members of a team and the computer that runs their simulation.

Texts of the engine are sent as template and arguments (`engine.localization.as_json`), so that each member
reads them in the language of its computer.
"""

from collections.abc import Sequence
from typing import Annotated, Final

from msgspec import Meta, Struct

from app.classroom.log_entries import LINE_LENGTH_MAX, LogEntry
from app.classroom.messages.codec import (
    QUESTION_LENGTH_MAX,
    MessageReader,
    PersonName,
    TokenText,
    WireMessage,
)
from app.classroom.messages.replies import LogVerdict
from app.classroom.messages.requests import HostRequest
from engine.drill.team.role_view import RoleObservation

END_LINE: Final = "end"
"""Line on the standard input of the team's process that ends the run."""

# --- from a member ------------------------------------------------------------------------------------------


class ClaimRole(HostRequest, frozen=True, tag="take"):
    """First message of a member: the requested role. Without a role, the member only requests the list of roles."""

    secret: Annotated[str, Meta(max_length=20)]
    name: PersonName
    token: TokenText
    """Random token of the member. An equal token means the same member. Only its SHA-256 hash is stored."""
    role: Annotated[str, Meta(max_length=60)] = ""
    instead: bool = False
    """True to take over the role of a disconnected member, for example from another computer."""


class SubmitInput(HostRequest, frozen=True, tag="do"):
    """Request to apply an input line in the member's own role. The line itself names no role."""

    number: Annotated[int, Meta(ge=1)]
    """Number of the input among the inputs of the role, from 1.

    The number prevents an input from being applied twice.
    """
    line: Annotated[str, Meta(min_length=1, max_length=LINE_LENGTH_MAX)]


class AskInstructor(HostRequest, frozen=True, tag="ask"):
    """Question to the instructor. None withdraws the question."""

    question: Annotated[str, Meta(max_length=QUESTION_LENGTH_MAX)] | None


class StartTeam(HostRequest, frozen=True, tag="start"):
    """Request to start the simulation of the team although some roles are vacant."""


TeamRequest = ClaimRole | SubmitInput | AskInstructor | StartTeam
"""Any request of a member to the team's computer."""
TEAM_REQUEST_READER: Final[MessageReader[TeamRequest]] = MessageReader(TeamRequest)


# --- to a member --------------------------------------------------------------------------------------------


class TeamRole(Struct, frozen=True):
    """Role of the team, with its member."""

    key: str
    name: str
    taken_by: str | None
    """Name of the member; None if the role is vacant and the program plays it."""
    connected: bool
    """True if the member of the role is connected. Otherwise another person can take over the role."""


class TeamRoles(WireMessage, frozen=True, tag="roles"):
    """List of the team's roles, with their members."""

    title: str
    roles: list[TeamRole]


class MemberWelcome(WireMessage, frozen=True, tag="welcome"):
    """Role of the member, with the drill and the assignment of the team."""

    role: str
    role_name: str
    role_text: str
    does: list[str]
    """Rights of the role: first words of the input lines that it may use."""
    title: str
    brief: str
    roles: list[TeamRole]
    done: int
    """Number of applied inputs of the role."""
    scenario: str = ""
    text: str = ""
    seed: int = 0
    mode: str = ""
    """Mode of the drill.

    `scenario`, `text`, `seed` and `mode` are the assignment of the team. Hosts before 1.1 do not send them.
    """


class RoleView(WireMessage, frozen=True, tag="view"):
    """Current state of the simulation as the role of the member sees it."""

    frozen: bool
    done: int
    """Number of applied inputs of the role."""
    view: RoleObservation
    tick: int = 0
    acts: Sequence[LogEntry] = ()
    """Entries of the team's log since the last view, up to *tick*. Hosts before 1.1 do not send them."""
    waits_for: Sequence[str] = ()
    """Vacant roles for which the simulation waits; empty after it has started."""


class InputDone(WireMessage, frozen=True, tag="done"):
    """Message that an input of the member was applied."""

    number: int


class InputFailed(WireMessage, frozen=True, tag="not_done"):
    """Message that an input of the member was refused.

    *text*: reason in the form of `engine.localization.as_json`.
    """

    number: int
    text: object


class InstructorMessage(WireMessage, frozen=True, tag="message"):
    """Message of the instructor to the team."""

    text: str


class TeamGoal(Struct, frozen=True):
    """Goal of the drill, with the time at which it was reached."""

    text: str
    met_t_s: float | None


class TeamPoints(Struct, frozen=True):
    """Points of one rubric item. Reason and advice have the form of `engine.localization.as_json`."""

    name: str
    points: float
    max: float
    why: object
    better: object
    """Advice for the next run; empty if no points were lost or there is no advice."""


class TeamResult(Struct, frozen=True):
    """Goals and points of a team, sent to its members."""

    goals: list[TeamGoal]
    points: list[TeamPoints]
    """Points by rubric item; empty in an exam."""


class TeamDrillEnded(WireMessage, frozen=True, tag="over"):
    """Message that the drill of the team has ended.

    *verdict*: None if no verdict arrived, or if the run had not started or was stopped by the instructor.
    """

    verdict: LogVerdict | None
    result: TeamResult | None = None
    """Goals and points; None without a verdict. Hosts before 1.1 do not send it."""


class TeamRefusal(WireMessage, frozen=True, tag="refused"):
    """Message that the connection to the team has failed permanently.

    The member's own program creates this message. It is never sent.
    """

    text: str


MemberMessage = (
    TeamRoles
    | MemberWelcome
    | RoleView
    | InputDone
    | InputFailed
    | InstructorMessage
    | TeamDrillEnded
    | TeamRefusal
)
"""Any message of the team's computer to a member."""
MEMBER_MESSAGE_READER: Final[MessageReader[MemberMessage]] = MessageReader(MemberMessage)
