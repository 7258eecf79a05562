"""Messages among host, seats and instructor: one JSON object for each message, validated on receipt."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from app.classroom.acts import LINE_MAX, TICK_MAX

BYTES_MAX: Final = 400_000
"""Maximum bytes of a message to the host: the longest action with every character escaped.

A longer one ends the connection.
"""
WELCOME_BYTES_MAX: Final = 8_000_000
"""Maximum bytes of a message to a seat or console, which can contain a scenario or a board."""
NAME_MAX: Final = 60
"""Characters of a person's name."""
HAND_MAX: Final = 200
"""Maximum characters of the question of a raised hand."""
REFLECTION_MAX: Final = 4_000
"""Characters of each answer of a self-debrief."""
PINGS_S: Final = 10.0
"""Interval of pings. A seat that is silent for twice this time counts as lost, such as a sleeping laptop."""
REFUSED: Final = 4000
"""WebSocket close code of a seat that was refused for good; the reason is a sentence. 4000 and on are private use."""
LATER: Final = 4001
"""Close code for a seat that may try again."""

Tick = Annotated[int, Field(ge=0, le=TICK_MAX)]
Group = Annotated[str, Field(pattern=r"^[^\s@]{1,30}$")]
SeatNumber = Annotated[int, Field(ge=-(2**62), lt=2**62)]
"""Number of a seat; negative if no host assigned it. A database holds 64 bits."""
Key = Annotated[str, Field(min_length=16, max_length=100)]


class WireMessage(BaseModel):
    """Base of all messages; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Join(WireMessage):
    """First message of a seat, repeated until it knows its number: an equal token means the same seat."""

    kind: Literal["join"] = "join"
    secret: Annotated[str, Field(max_length=20)]
    name: Annotated[str, Field(min_length=1, max_length=NAME_MAX)]
    token: Key
    """Random token of the seat; the host stores only its SHA-256."""
    consent: bool = False


class Resume(WireMessage):
    """A seat's first message after a break."""

    kind: Literal["resume"] = "resume"
    seat: SeatNumber
    token: Key


class AppendEntries(WireMessage):
    """Add entries to the seat's log."""

    kind: Literal["acts"] = "acts"
    acts: Annotated[list[object], Field(max_length=500)]
    """Entries in the form of app/classroom/acts.py."""


class SeatStatus(WireMessage):
    """Status of a seat; sent at least every few seconds."""

    kind: Literal["at"] = "at"
    tick: Tick
    frozen: bool
    over: bool = False
    """The run is over, and the seat waits for its result."""
    hand: Annotated[str, Field(max_length=HAND_MAX)] | None = None
    """Question of the seat whose hand is raised, possibly empty; None: the hand is not raised."""
    consent: bool = False
    """The instructor may observe the seat."""
    held: bool = False
    """True if the instructor has taken over the seat, so it accepts no own inputs."""


class Reflect(WireMessage):
    """Person's reflection on the run before its points are shown. The last message counts."""

    kind: Literal["reflect"] = "reflect"
    happened: Annotated[str, Field(max_length=REFLECTION_MAX)]
    otherwise: Annotated[str, Field(max_length=REFLECTION_MAX)]
    expected_score: Annotated[float, Field(ge=0, le=100)] | None


class Ready(WireMessage):
    """Readiness of a seat, sent only to a host whose welcome has a version: older hosts refuse it."""

    kind: Literal["ready"] = "ready"
    version: Annotated[str, Field(pattern=r"^[ -~]{0,40}$")]
    recording: bool
    """The log of the seat is written."""


class JoinProbe(WireMessage):
    """First message of a test seat: it receives a welcome, and the record does not change."""

    kind: Literal["probe"] = "probe"
    secret: Annotated[str, Field(min_length=1, max_length=40)]


class Steer(WireMessage):
    """A console's first message."""

    kind: Literal["steer"] = "steer"
    key: Key


class SeatTarget(WireMessage):
    """Target of a message: a seat, a group, or all seats if neither is given."""

    seat: SeatNumber | None = None
    group: Group | None = None


class Freeze(SeatTarget):
    """Freeze or release seats."""

    kind: Literal["freeze"] = "freeze"
    tick: Tick | None = None
    """Tick at which each seat stops; None: at once."""


class Go(SeatTarget):
    """Go on, also beyond a limit that is reached."""

    kind: Literal["go"] = "go"


class Extend(SeatTarget):
    """Move the limit of some seats by this time."""

    kind: Literal["extend"] = "extend"
    ticks: Tick


class RewindSeats(SeatTarget):
    """Rewind seats to an earlier moment; their later actions stay in their logs."""

    kind: Literal["back"] = "back"
    tick: Tick
    text: Annotated[str, Field(max_length=HAND_MAX)] = ""
    """Why, for the seat to read."""


class AssignGroup(WireMessage):
    """Assign a seat to a group; an empty name removes it from its group."""

    kind: Literal["group"] = "group"
    seat: SeatNumber
    name: Annotated[str, Field(pattern=r"^[^\s@]{0,30}$")]


class Break(WireMessage):
    """Freeze all seats; the class continues automatically."""

    kind: Literal["break"] = "break"
    minutes: Annotated[float, Field(gt=0, le=600)]


class Clock(WireMessage):
    """Speed of the class clock in simulated seconds per second; None: each seat has its own pace."""

    kind: Literal["clock"] = "clock"
    speed: Annotated[float, Field(gt=0, le=1000)] | None = None


class Finish(WireMessage):
    """The class is over: seats end their runs."""

    kind: Literal["finish"] = "finish"


class StartNextPart(WireMessage):
    """Start the next part of the class: every seat gets a new run."""

    kind: Literal["next"] = "next"


class Instruct(SeatTarget):
    """A message or an inject for one seat, a group or all, now or at a time."""

    kind: Literal["instruct"] = "instruct"
    what: Literal["message", "inject"]
    tick: Tick | None = None
    text: Annotated[str, Field(min_length=1, max_length=LINE_MAX)]


class Lower(WireMessage):
    """Lower the hand of a seat, because its question was answered."""

    kind: Literal["lower"] = "lower"
    seat: SeatNumber


class ObserveSeat(WireMessage):
    """Observe a seat live; None ends the observation."""

    kind: Literal["look"] = "look"
    seat: SeatNumber | None = None


class TakeOverSeat(WireMessage):
    """Take over a seat: inputs there are then injects of the instructor."""

    kind: Literal["take"] = "take"
    seat: SeatNumber


class Give(WireMessage):
    """Return control of a seat to its person."""

    kind: Literal["give"] = "give"
    seat: SeatNumber


class Show(WireMessage):
    """Show the runs of one or two seats to all; without seats each seat shows its own run again.

    The same seats with another tick move the shared position.
    """

    kind: Literal["show"] = "show"
    seat: SeatNumber | None = None
    other: SeatNumber | None = None
    tick: Tick | None = None
    """None: the present time of the seats."""


class SetMark(SeatTarget):
    """Mark a time of a seat, or of the class, with a text."""

    kind: Literal["mark"] = "mark"
    tick: Tick | None = None
    """None: the present time."""
    text: Annotated[str, Field(min_length=1, max_length=HAND_MAX)]


class HandIn(WireMessage):
    """Actions from a log that was handed in as a file; the host may already have some of them."""

    kind: Literal["hand_in"] = "hand_in"
    seat: SeatNumber
    """Number of the seat; negative if no host assigned it."""
    name: Annotated[str, Field(min_length=1, max_length=NAME_MAX)]
    digest: Annotated[str, Field(min_length=64, max_length=64)]
    """Digest of the assignment (app/classroom/seat_log.py)."""
    acts: Annotated[list[object], Field(max_length=500)]


OfSeat = Lower | ObserveSeat | TakeOverSeat | Give | Show
OfPace = Freeze | Go | Finish | StartNextPart | Extend | RewindSeats | AssignGroup | Break | Clock
Request = (
    Join
    | Resume
    | JoinProbe
    | AppendEntries
    | SeatStatus
    | Reflect
    | Ready
    | Steer
    | Instruct
    | HandIn
    | SetMark
    | OfSeat
    | OfPace
)
_REQUEST: Final[TypeAdapter[Request]] = TypeAdapter(Annotated[Request, Field(discriminator="kind")])

MAY: Final[dict[str, tuple[type[WireMessage], ...]]] = {
    "seat": (AppendEntries, SeatStatus, Reflect, Ready),
    "instructor": (
        Freeze,
        Go,
        Finish,
        StartNextPart,
        Extend,
        RewindSeats,
        AssignGroup,
        Break,
        Clock,
        Instruct,
        HandIn,
        Lower,
        ObserveSeat,
        TakeOverSeat,
        Give,
        Show,
        SetMark,
    ),
}
"""Requests that each role may send."""


class ProtocolError(Exception):
    """Invalid message; the text gives the reason."""


def read(raw: str | bytes) -> Request:
    """Parse a request. Raises ProtocolError."""
    try:
        return _REQUEST.validate_json(raw)
    except ValidationError as problem:
        first = problem.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise ProtocolError(f"{where}: {first['msg']}" if where else first["msg"]) from None
