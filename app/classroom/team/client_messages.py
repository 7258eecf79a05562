"""Messages of team members to the computer that holds their world: one JSON object for each message."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field, TypeAdapter, ValidationError

from app.classroom.acts import LINE_MAX
from app.classroom.client_messages import HAND_MAX, NAME_MAX, Key, ProtocolError, WireMessage


class ClaimRole(WireMessage):
    """First message of a member: the wanted role. Without a role it only requests the list of roles."""

    kind: Literal["take"] = "take"
    secret: Annotated[str, Field(max_length=20)]
    name: Annotated[str, Field(min_length=1, max_length=NAME_MAX)]
    token: Key
    """Token created by the member; an equal token means the same member. Only its SHA-256 is stored."""
    role: Annotated[str, Field(max_length=60)] = ""
    instead: bool = False
    """Take the role over from a disconnected member, for example from another computer."""


class SubmitInput(WireMessage):
    """An input line, without its role."""

    kind: Literal["do"] = "do"
    number: Annotated[int, Field(ge=1)]
    """Number of the role's applied lines plus one, so that no line is applied twice."""
    line: Annotated[str, Field(min_length=1, max_length=LINE_MAX)]


class Ask(WireMessage):
    """Question to the instructor; None withdraws it."""

    kind: Literal["ask"] = "ask"
    question: Annotated[str, Field(max_length=HAND_MAX)] | None


class StartTeam(WireMessage):
    """The world starts, although some roles are vacant."""

    kind: Literal["start"] = "start"


TeamRequest = ClaimRole | SubmitInput | Ask | StartTeam
_SAID: Final[TypeAdapter[TeamRequest]] = TypeAdapter(Annotated[TeamRequest, Field(discriminator="kind")])


def read(raw: str | bytes) -> TeamRequest:
    """Parse a message. Raises ProtocolError."""
    try:
        return _SAID.validate_json(raw)
    except ValidationError as problem:
        raise ProtocolError(problem.errors(include_url=False, include_input=False)[0]["msg"]) from None
