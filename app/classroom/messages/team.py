"""Messages between the members of a team and the computer that holds their world.

Texts of the engine travel with template and arguments (`engine.localization.as_json`), so each member reads its
own language.
"""

from collections.abc import Sequence
from typing import Annotated, Final

from msgspec import Meta, Struct

from app.classroom.log_entries import LINE_MAX, LogEntry
from app.classroom.messages.codec import HAND_MAX, Key, MessageReader, Name, WireMessage
from app.classroom.messages.replies import LogVerdict
from app.classroom.messages.requests import HostRequest
from engine.drill.team.view import RoleObservation

END_LINE: Final = "end"
"""Line on the standard input of the team's process that ends the team."""

# --- from a member ------------------------------------------------------------------------------------------


class ClaimRole(HostRequest, frozen=True, tag="take"):
    """First message of a member: the wanted role. Without a role it only requests the list of roles."""

    secret: Annotated[str, Meta(max_length=20)]
    name: Name
    token: Key
    """Token created by the member; an equal token means the same member. Only its SHA-256 is stored."""
    role: Annotated[str, Meta(max_length=60)] = ""
    instead: bool = False
    """Take the role over from a disconnected member, for example from another computer."""


class SubmitInput(HostRequest, frozen=True, tag="do"):
    """An input line, without its role."""

    number: Annotated[int, Meta(ge=1)]
    """Number of the role's applied lines plus one, so that no line is applied twice."""
    line: Annotated[str, Meta(min_length=1, max_length=LINE_MAX)]


class AskInstructor(HostRequest, frozen=True, tag="ask"):
    """Question to the instructor; None withdraws it."""

    question: Annotated[str, Meta(max_length=HAND_MAX)] | None


class StartTeam(HostRequest, frozen=True, tag="start"):
    """The world starts, although some roles are vacant."""


TeamRequest = ClaimRole | SubmitInput | AskInstructor | StartTeam
TEAM_REQUESTS: Final[MessageReader[TeamRequest]] = MessageReader(TeamRequest)


# --- to a member --------------------------------------------------------------------------------------------


class TeamRole(Struct, frozen=True):
    """Role of the team, and its member."""

    key: str
    name: str
    taken_by: str | None
    """Name of the member; None means the scenario plays the role."""
    connected: bool
    """True if the member of the role is connected; otherwise the role can be taken over."""


class TeamRoles(WireMessage, frozen=True, tag="roles"):
    """Roles of the team, and their members."""

    title: str
    roles: list[TeamRole]


class MemberWelcome(WireMessage, frozen=True, tag="welcome"):
    """Assignment of the member, and the known data of the drill."""

    role: str
    role_name: str
    role_text: str
    does: list[str]
    """Rights of the role."""
    title: str
    brief: str
    roles: list[TeamRole]
    done: int
    """Number of applied lines of the role."""
    scenario: str = ""
    text: str = ""
    seed: int = 0
    mode: str = ""
    """Assignment of the team, for the desk of the member. Absent from hosts before 1.1."""


class RoleView(WireMessage, frozen=True, tag="view"):
    """One moment of the world as the member's role sees it."""

    frozen: bool
    done: int
    """Number of inputs of this role that the team's world has answered."""
    view: RoleObservation
    tick: int = 0
    acts: Sequence[LogEntry] = ()
    """Entries of the team's log since the last view, up to *tick*. Absent from hosts before 1.1."""
    waits_for: Sequence[str] = ()
    """Vacant roles for which the world waits; empty means it has started."""


class InputDone(WireMessage, frozen=True, tag="done"):
    """Success of a member's input."""

    number: int


class InputFailed(WireMessage, frozen=True, tag="not_done"):
    """Refusal of a member's input, with the reason as `engine.localization.as_json` has it."""

    number: int
    text: object


class InstructorMessage(WireMessage, frozen=True, tag="message"):
    """Message of the instructor."""

    text: str


class TeamGoal(Struct, frozen=True):
    """Goal of the drill, and the time at which it was met."""

    text: str
    met_t_s: float | None


class TeamPoints(Struct, frozen=True):
    """Points of one rule, with the reason and the advice as `engine.localization.as_json` has them."""

    name: str
    points: float
    max: float
    why: object
    better: object
    """Advice for the next run; empty if there is none or nothing was lost."""


class TeamResult(Struct, frozen=True):
    """Goals and points of a team for its members."""

    goals: list[TeamGoal]
    points: list[TeamPoints]
    """Points by rule; empty in an exam."""


class TeamDrillEnded(WireMessage, frozen=True, tag="over"):
    """The drill has ended; None means there is no verdict."""

    verdict: LogVerdict | None
    result: TeamResult | None = None
    """Goals and points. Hosts before 1.1 do not send them; None means there is no verdict."""


class TeamRefusal(WireMessage, frozen=True, tag="refused"):
    """The connection to the team has failed for good.

    The member's own program creates this message; it is never sent.
    """

    text: str


ToMember = (
    TeamRoles
    | MemberWelcome
    | RoleView
    | InputDone
    | InputFailed
    | InstructorMessage
    | TeamDrillEnded
    | TeamRefusal
)
TO_MEMBER: Final[MessageReader[ToMember]] = MessageReader(ToMember)
