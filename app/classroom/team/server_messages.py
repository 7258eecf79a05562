"""Messages to the members of a team from the computer that holds their world, as JSON.

Texts of the engine travel with template and arguments (`engine.localization.as_json`), so each member reads its
own language.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NotRequired, TypedDict

from app.classroom.acts import LogEntry
from app.classroom.server_messages import LogVerdict
from engine.drill.team.view import RoleObservation


class TeamRole(TypedDict):
    """Role of the team, and its member."""

    key: str
    name: str
    taken_by: str | None
    """Name of the member; None: the scenario plays it."""
    connected: bool
    """True if the member of the role is connected; otherwise the role can be taken over."""


class Roles(TypedDict):
    """Roles of the team, and their members."""

    kind: Literal["roles"]
    title: str
    roles: list[TeamRole]


class MemberWelcome(TypedDict):
    """Assignment of the member, and the known data of the drill."""

    kind: Literal["welcome"]
    role: str
    role_name: str
    role_text: str
    does: list[str]
    title: str
    brief: str
    roles: list[TeamRole]
    done: int
    """Number of applied lines of the role."""
    scenario: NotRequired[str]
    text: NotRequired[str]
    seed: NotRequired[int]
    mode: NotRequired[str]
    """Assignment of the team, for the desk of the member. Absent from hosts before 1.1."""


class RoleView(TypedDict):
    """One moment of the world as the member's role sees it."""

    kind: Literal["view"]
    frozen: bool
    done: int
    view: RoleObservation
    tick: NotRequired[int]
    acts: NotRequired[Sequence[LogEntry]]
    """Entries of the team's log since the last view, up to *tick*. Absent from hosts before 1.1."""
    waits_for: NotRequired[list[str]]
    """Vacant roles for which the world waits; empty: it has started."""


class InputDone(TypedDict):
    """Success of a member's input."""

    kind: Literal["done"]
    number: int


class InputFailed(TypedDict):
    """Refusal of a member's input, with the reason."""

    kind: Literal["not_done"]
    number: int
    text: str


class InstructorMessage(TypedDict):
    """Message of the instructor."""

    kind: Literal["message"]
    text: str


class TeamDrillEnded(TypedDict):
    """The drill has ended; None: there is no result."""

    kind: Literal["over"]
    verdict: LogVerdict | None


class TeamRefusal(TypedDict):
    """The connection makes no sense; only within a member's own program."""

    kind: Literal["refused"]
    text: str


ToMember = (
    Roles
    | MemberWelcome
    | RoleView
    | InputDone
    | InputFailed
    | InstructorMessage
    | TeamDrillEnded
    | TeamRefusal
)
