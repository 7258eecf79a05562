"""Requests of seats and of the instructor to a class host."""

from typing import Annotated, Final, Literal

from msgspec import Meta

from app.classroom.log_entries import LINE_LENGTH_MAX
from app.classroom.messages.codec import (
    QUESTION_LENGTH_MAX,
    REFLECTION_LENGTH_MAX,
    GroupName,
    MessageReader,
    PersonName,
    SeatNumber,
    Tick,
    TokenText,
    WireMessage,
)


class HostRequest(WireMessage, frozen=True, forbid_unknown_fields=True):
    """Base of all requests to a host. Unknown fields are refused."""


class Join(HostRequest, frozen=True, tag="join"):
    """First message of a seat that has no number yet. A repeated message with the same token means the same seat."""

    secret: Annotated[str, Meta(max_length=20)]
    name: PersonName
    token: TokenText
    """Random token of the seat. The host stores only its SHA-256 hash."""
    consent: bool = False


class Resume(HostRequest, frozen=True, tag="resume"):
    """First message of a seat that rejoins the class."""

    seat: SeatNumber
    token: TokenText


class AppendEntries(HostRequest, frozen=True, tag="acts"):
    """Request to append entries to the seat's log."""

    acts: Annotated[list[object], Meta(max_length=500)]
    """Entries in the form of app/classroom/log_entries.py."""


class SeatStatus(HostRequest, frozen=True, tag="at"):
    """Status of a seat, sent at every change and at intervals."""

    tick: Tick
    frozen: bool
    over: bool = False
    """True if the run is over and the seat waits for its verdict."""
    hand: Annotated[str, Meta(max_length=QUESTION_LENGTH_MAX)] | None = None
    """Question of the seat, possibly empty; None if the hand is not raised."""
    consent: bool = False
    """True if the instructor may observe the seat."""
    held: bool = False
    """True if the instructor has taken over the seat. The seat then accepts no inputs of its person."""


class SubmitReflection(HostRequest, frozen=True, tag="reflect"):
    """Reflection of the person before the points are shown. The last message counts."""

    happened: Annotated[str, Meta(max_length=REFLECTION_LENGTH_MAX)]
    otherwise: Annotated[str, Meta(max_length=REFLECTION_LENGTH_MAX)]
    """Answer to the question of what the person would do differently."""
    expected_score: Annotated[float, Meta(ge=0, le=100)] | None


class Ready(HostRequest, frozen=True, tag="ready"):
    """Report of a seat that it is ready.

    Only hosts that sent their version in the welcome message accept this report.
    """

    version: Annotated[str, Meta(pattern=r"^[ -~]{0,40}$")]
    recording: bool
    """True if the log of the seat is written."""


class JoinProbe(HostRequest, frozen=True, tag="probe"):
    """First message of a test seat. The seat receives a welcome, but is not recorded."""

    secret: Annotated[str, Meta(min_length=1, max_length=40)]


class OpenConsole(HostRequest, frozen=True, tag="steer"):
    """First message of a console."""

    key: TokenText


class SeatTarget(HostRequest, frozen=True, kw_only=True):
    """Base of the requests to one seat, to a group, or to all seats if neither is given."""

    seat: SeatNumber | None = None
    group: GroupName | None = None


class FreezeSeats(SeatTarget, frozen=True, kw_only=True, tag="freeze"):
    """Request to freeze seats, now or at a time."""

    tick: Tick | None = None
    """Tick at which each seat stops; None to freeze immediately."""


class ContinueClass(SeatTarget, frozen=True, kw_only=True, tag="go"):
    """Request to let frozen seats continue. Limits that they have reached no longer apply."""


class ExtendLimit(SeatTarget, frozen=True, kw_only=True, tag="extend"):
    """Request to extend the time limit of seats by *ticks*."""

    ticks: Tick


class RewindSeats(SeatTarget, frozen=True, kw_only=True, tag="back"):
    """Request to rewind seats to an earlier time. Their later actions remain in their logs."""

    tick: Tick
    text: Annotated[str, Meta(max_length=QUESTION_LENGTH_MAX)] = ""
    """Reason for the rewind, shown at the seat."""


class AssignGroup(HostRequest, frozen=True, tag="group"):
    """Request to assign a seat to a group. An empty name removes the seat from its group."""

    seat: SeatNumber
    name: Annotated[str, Meta(pattern=r"^[^\s@]{0,30}$")]


class StartBreak(HostRequest, frozen=True, tag="break"):
    """Request to freeze all seats for some minutes. The class then continues automatically."""

    minutes: Annotated[float, Meta(gt=0, le=600)]


class ChangeClock(HostRequest, frozen=True, tag="clock"):
    """Request to change the class clock."""

    speed: Annotated[float, Meta(gt=0, le=1000)] | None = None
    """Simulated seconds per second; None stops using the clock, so that each seat has its own pace."""


class FinishClass(HostRequest, frozen=True, tag="finish"):
    """Request to end the class. All seats end their runs."""


class StartNextPart(HostRequest, frozen=True, tag="next"):
    """Request to start the next part of the class. Every seat gets a new run."""


class Instruct(SeatTarget, frozen=True, kw_only=True, tag="instruct"):
    """Request to send a message or an inject to a seat, a group or all seats, now or at a time."""

    what: Literal["message", "inject"]
    tick: Tick | None = None
    text: Annotated[str, Meta(min_length=1, max_length=LINE_LENGTH_MAX)]


class LowerHand(HostRequest, frozen=True, tag="lower"):
    """Request to lower the hand of a seat whose question was answered."""

    seat: SeatNumber


class ObserveSeat(HostRequest, frozen=True, tag="look"):
    """Request to observe a seat live. None ends the observation."""

    seat: SeatNumber | None = None


class TakeOverSeat(HostRequest, frozen=True, tag="take"):
    """Request to take over a seat. The instructor's inputs are then sent to it as injects."""

    seat: SeatNumber


class ReturnControl(HostRequest, frozen=True, tag="give"):
    """Request to return control of a seat to its person."""

    seat: SeatNumber


class ShowRuns(HostRequest, frozen=True, tag="show"):
    """Request to show the runs of one or two seats to all seats.

    Without seats, the replay ends. A second request with the same seats and another tick changes the shared
    time.
    """

    seat: SeatNumber | None = None
    other: SeatNumber | None = None
    """Second seat, for a comparison."""
    tick: Tick | None = None
    """Time to show; None for the latest time that one of the seats has reached."""


class SetMark(SeatTarget, frozen=True, kw_only=True, tag="mark"):
    """Request to mark a time of a seat or of the class with a text."""

    tick: Tick | None = None
    """Time of the mark; None for the current time."""
    text: Annotated[str, Meta(min_length=1, max_length=QUESTION_LENGTH_MAX)]


class HandIn(HostRequest, frozen=True, tag="hand_in"):
    """Request to store actions from a log that was handed in as a file. The host may already have some of them."""

    seat: SeatNumber
    """Number of the seat; negative if no host assigned it."""
    name: PersonName
    digest: Annotated[str, Meta(min_length=64, max_length=64)]
    """Digest of the assignment (app/classroom/seat_log.py)."""
    acts: Annotated[list[object], Meta(max_length=500)]


SeatRequest = LowerHand | ObserveSeat | TakeOverSeat | ReturnControl | ShowRuns
"""Requests about a single seat."""
PaceRequest = (
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
"""Requests that control a class: freeze, limit, clock, break, rewind, group, next part and end."""
ClassRequest = (
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
    | SeatRequest
    | PaceRequest
)
"""Any request to a class host."""
REQUEST_READER: Final[MessageReader[ClassRequest]] = MessageReader(ClassRequest)

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
        LowerHand,
        ObserveSeat,
        TakeOverSeat,
        ReturnControl,
        ShowRuns,
        SetMark,
    ),
}
"""Role of the sender -> requests that it may send."""
