"""What host, seats and instructor say to one another: one JSON object a message, checked as it comes in."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from app.classroom.acts import LINE_MAX, TICK_MAX

BYTES_MAX: Final = 400_000
"""Of a message to the host: an act of the longest line, each sign of it escaped. More ends the connection."""
WELCOME_BYTES_MAX: Final = 8_000_000
"""Of a message to a seat or a console, which hold a scenario or a board."""
NAME_MAX: Final = 60
"""Characters of a person's name."""
PINGS_S: Final = 10.0
"""A seat that is silent for twice as long counts as gone: a laptop that sleeps says no goodbye."""
REFUSED: Final = 4000
"""WebSocket close code of somebody who was refused for good; the reason is a sentence. 4000 and on are private use."""
LATER: Final = 4001
"""The same of somebody who may try again."""

Tick = Annotated[int, Field(ge=0, le=TICK_MAX)]
Key = Annotated[str, Field(min_length=16, max_length=100)]


class Said(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Join(Said):
    """A seat's first message ever, and again until it knows its number: the same token is the same seat."""

    kind: Literal["join"] = "join"
    secret: Annotated[str, Field(max_length=20)]
    name: Annotated[str, Field(min_length=1, max_length=NAME_MAX)]
    token: Key
    """The seat has made it; the host keeps its SHA-256 alone."""
    consent: bool = False


class Resume(Said):
    """A seat's first message after a break."""

    kind: Literal["resume"] = "resume"
    seat: int
    token: Key


class Acts(Said):
    kind: Literal["acts"] = "acts"
    acts: Annotated[list[object], Field(max_length=500)]
    """As in app/classroom/acts.py."""


class At(Said):
    """How a seat is; at least every few seconds."""

    kind: Literal["at"] = "at"
    tick: Tick
    frozen: bool
    over: bool = False
    """The seat has nothing more to do; it waits for what its log comes to."""


class Steer(Said):
    """A console's first message."""

    kind: Literal["steer"] = "steer"
    key: Key


class Freeze(Said):
    kind: Literal["freeze"] = "freeze"


class Go(Said):
    kind: Literal["go"] = "go"


class Finish(Said):
    """The class is over: seats end their runs."""

    kind: Literal["finish"] = "finish"


class Instruct(Said):
    """A message or an inject for one seat or all, now or at a time."""

    kind: Literal["instruct"] = "instruct"
    what: Literal["message", "inject"]
    seat: int | None = None
    tick: Tick | None = None
    text: Annotated[str, Field(min_length=1, max_length=LINE_MAX)]


Request = Join | Resume | Acts | At | Steer | Freeze | Go | Finish | Instruct
_REQUEST: Final[TypeAdapter[Request]] = TypeAdapter(Annotated[Request, Field(discriminator="kind")])

MAY: Final[dict[str, tuple[type[Said], ...]]] = {
    "seat": (Acts, At),
    "instructor": (Freeze, Go, Finish, Instruct),
}
"""What each role may ask for."""


class Garbage(Exception):
    """A message that nobody here sends; the text says what is wrong with it."""


def read(raw: str | bytes) -> Request:
    """Raises Garbage."""
    try:
        return _REQUEST.validate_json(raw)
    except ValidationError as problem:
        first = problem.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise Garbage(f"{where}: {first['msg']}" if where else first["msg"]) from None
