"""Requests of seats and of the instructor to the host of a class."""

from typing import Annotated, Final, Literal

from msgspec import Meta

from app.classroom.log_entries import LINE_MAX
from app.classroom.messages.codec import (
    HAND_MAX,
    REFLECTION_MAX,
    Group,
    Key,
    MessageReader,
    Name,
    SeatNumber,
    Tick,
    WireMessage,
)


class HostRequest(WireMessage, frozen=True, forbid_unknown_fields=True):
    """Base of all requests to a host; unknown fields are refused."""


class Join(HostRequest, frozen=True, tag="join"):
    """First message of a seat, repeated until it knows its number: an equal token means the same seat."""

    secret: Annotated[str, Meta(max_length=20)]
    name: Name
    token: Key
    """Random token of the seat; the host stores only its SHA-256."""
    consent: bool = False


class Resume(HostRequest, frozen=True, tag="resume"):
    """First message of a seat that rejoins the class."""

    seat: SeatNumber
    token: Key


class AppendEntries(HostRequest, frozen=True, tag="acts"):
    """Add entries to the seat's log."""

    acts: Annotated[list[object], Meta(max_length=500)]
    """Entries in the form of app/classroom/log_entries.py."""


class SeatStatus(HostRequest, frozen=True, tag="at"):
    """Status of a seat; sent at least every few seconds."""

    tick: Tick
    frozen: bool
    over: bool = False
    """The run is over, and the seat waits for its result."""
    hand: Annotated[str, Meta(max_length=HAND_MAX)] | None = None
    """Question of the seat whose hand is raised, possibly empty; None means the hand is not raised."""
    consent: bool = False
    """The instructor may observe the seat."""
    held: bool = False
    """True if the instructor has taken over the seat, so it accepts no own inputs."""


class SubmitReflection(HostRequest, frozen=True, tag="reflect"):
    """Person's reflection on the run before its points are shown. The last message counts."""

    happened: Annotated[str, Meta(max_length=REFLECTION_MAX)]
    otherwise: Annotated[str, Meta(max_length=REFLECTION_MAX)]
    """Answer to the question what the person would do otherwise."""
    expected_score: Annotated[float, Meta(ge=0, le=100)] | None


class Ready(HostRequest, frozen=True, tag="ready"):
    """Readiness of a seat, sent only to a host whose welcome has a version: older hosts refuse it."""

    version: Annotated[str, Meta(pattern=r"^[ -~]{0,40}$")]
    recording: bool
    """The log of the seat is written."""


class JoinProbe(HostRequest, frozen=True, tag="probe"):
    """First message of a test seat: it receives a welcome, and the record does not change."""

    secret: Annotated[str, Meta(min_length=1, max_length=40)]


class OpenConsole(HostRequest, frozen=True, tag="steer"):
    """A console's first message."""

    key: Key


class SeatTarget(HostRequest, frozen=True, kw_only=True):
    """Target of a message: a seat, a group, or all seats if neither is given."""

    seat: SeatNumber | None = None
    group: Group | None = None


class FreezeSeats(SeatTarget, frozen=True, kw_only=True, tag="freeze"):
    """Freeze or release seats."""

    tick: Tick | None = None
    """Tick at which each seat stops; None means at once."""


class ContinueClass(SeatTarget, frozen=True, kw_only=True, tag="go"):
    """Continue, even beyond a limit that was reached."""


class ExtendLimit(SeatTarget, frozen=True, kw_only=True, tag="extend"):
    """Move the limit of some seats by this time."""

    ticks: Tick


class RewindSeats(SeatTarget, frozen=True, kw_only=True, tag="back"):
    """Rewind seats to an earlier moment; their later actions stay in their logs."""

    tick: Tick
    text: Annotated[str, Meta(max_length=HAND_MAX)] = ""
    """Reason for the rewind, which the seat shows."""


class AssignGroup(HostRequest, frozen=True, tag="group"):
    """Assign a seat to a group; an empty name removes it from its group."""

    seat: SeatNumber
    name: Annotated[str, Meta(pattern=r"^[^\s@]{0,30}$")]


class StartBreak(HostRequest, frozen=True, tag="break"):
    """Freeze all seats; the class continues automatically."""

    minutes: Annotated[float, Meta(gt=0, le=600)]


class ChangeClock(HostRequest, frozen=True, tag="clock"):
    """Speed of the class clock in simulated seconds per second; None means each seat has its own pace."""

    speed: Annotated[float, Meta(gt=0, le=1000)] | None = None


class FinishClass(HostRequest, frozen=True, tag="finish"):
    """The class is over: seats end their runs."""


class StartNextPart(HostRequest, frozen=True, tag="next"):
    """Start the next part of the class: every seat gets a new run."""


class Instruct(SeatTarget, frozen=True, kw_only=True, tag="instruct"):
    """A message or an inject for one seat, a group or all, now or at a time."""

    what: Literal["message", "inject"]
    tick: Tick | None = None
    text: Annotated[str, Meta(min_length=1, max_length=LINE_MAX)]


class Lower(HostRequest, frozen=True, tag="lower"):
    """Lower the hand of a seat, because its question was answered."""

    seat: SeatNumber


class ObserveSeat(HostRequest, frozen=True, tag="look"):
    """Observe a seat live; None ends the observation."""

    seat: SeatNumber | None = None


class TakeOverSeat(HostRequest, frozen=True, tag="take"):
    """Take over a seat: inputs there are then injects of the instructor."""

    seat: SeatNumber


class ReturnControl(HostRequest, frozen=True, tag="give"):
    """Return control of a seat to its person."""

    seat: SeatNumber


class ShowRuns(HostRequest, frozen=True, tag="show"):
    """Show the runs of one or two seats to all.

    Without seats each seat shows its own run again. A second request with the same seats and another tick
    moves the shared position.
    """

    seat: SeatNumber | None = None
    other: SeatNumber | None = None
    """Second seat, for a comparison."""
    tick: Tick | None = None
    """Time to show; None means the current time of the seats."""


class SetMark(SeatTarget, frozen=True, kw_only=True, tag="mark"):
    """Mark a time of a seat, or of the class, with a text."""

    tick: Tick | None = None
    """Time of the mark; None means the current time."""
    text: Annotated[str, Meta(min_length=1, max_length=HAND_MAX)]


class HandIn(HostRequest, frozen=True, tag="hand_in"):
    """Actions from a log that was handed in as a file; the host may already have some of them."""

    seat: SeatNumber
    """Number of the seat; negative if no host assigned it."""
    name: Name
    digest: Annotated[str, Meta(min_length=64, max_length=64)]
    """Digest of the assignment (app/classroom/seat_log.py)."""
    acts: Annotated[list[object], Meta(max_length=500)]


OfSeat = Lower | ObserveSeat | TakeOverSeat | ReturnControl | ShowRuns
OfPace = (
    FreezeSeats
    | ContinueClass
    | FinishClass
    | StartNextPart
    | ExtendLimit
    | RewindSeats
    | AssignGroup
    | StartBreak
    | ChangeClock
)
Request = (
    Join
    | Resume
    | JoinProbe
    | AppendEntries
    | SeatStatus
    | SubmitReflection
    | Ready
    | OpenConsole
    | Instruct
    | HandIn
    | SetMark
    | OfSeat
    | OfPace
)
REQUESTS: Final[MessageReader[Request]] = MessageReader(Request)

PERMITTED_REQUESTS: Final[dict[str, tuple[type[WireMessage], ...]]] = {
    "seat": (AppendEntries, SeatStatus, SubmitReflection, Ready),
    "instructor": (
        FreezeSeats,
        ContinueClass,
        FinishClass,
        StartNextPart,
        ExtendLimit,
        RewindSeats,
        AssignGroup,
        StartBreak,
        ChangeClock,
        Instruct,
        HandIn,
        Lower,
        ObserveSeat,
        TakeOverSeat,
        ReturnControl,
        ShowRuns,
        SetMark,
    ),
}
"""Requests that each role may send."""
