"""Messages of a host, as JSON: to a seat, and to the instructor's dashboard.

client_messages.py has the messages to a host.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NotRequired, TypedDict

from app.classroom.acts import LogEntry
from engine.drill.judging.shapes import Report


class LogVerdict(TypedDict):
    """Result of a seat's run up to the end of its log."""

    acts: int
    """Entries of the log."""
    t_s: float
    """Position of the run."""
    done: int
    """Number of the seat's own actions among them."""
    sent_back: int
    """Number of times that the instructor has sent the seat back."""
    last_act_t_s: float | None
    last_act: str
    instructor_act_t_s: NotRequired[float | None]
    instructor_act: NotRequired[str]
    """Last input of the instructor; absent from hosts before 1.1."""
    stuck_since_s: float | None
    """Time since which nothing was done or reached, if longer than STUCK_S; None otherwise."""
    goals: dict[str, float | None]
    """Name -> when it was reached."""
    instructor_inputs: int
    """Inputs of the instructor in this run, without those that end it."""
    instructor_goals: list[str]
    """Goals that the run reached by inputs of the instructor. In an exam they do not count."""
    progress: float | None
    """Percent of the goals' weights that are reached."""
    score: float | None
    """Score so far, final when the run is over; None if nothing is scored."""
    downtime_s: float
    ended_by: str | None
    state_hash: str
    parted_t_s: float | None
    """First moment at which the seat's run differs from its log."""
    parted: str
    """Difference at that time."""


class SeatReportSection(TypedDict):
    """Section that a seat adds to the report of its run."""

    seat: int
    name: str
    verdict: LogVerdict | None


_Of = TypedDict("_Of", {"class": SeatReportSection})


class SeatReport(Report, _Of):
    """Report of a run as `run --json` prints it, with the score that the host has computed."""


# --- to a seat ----------------------------------------------------------------------------------------------


class SeatWelcome(TypedDict):
    """Assignment of the seat, and the positions of its log and its run."""

    kind: Literal["welcome"]
    seat: int
    acknowledged: int
    scenario: str
    text: str
    seed: int
    mode: str
    state: str
    tick: int
    part: int
    """Number of the part of the class, from 1."""
    name: NotRequired[str]
    """Name of the seat; different from the entered one if that was in use. Absent from hosts before 1.1."""
    version: NotRequired[str]
    """Version of the host."""
    hand: NotRequired[str | None]
    """Question of the seat's raised hand, which a seat that was killed has forgotten."""
    events: NotRequired[list[InstructionMessage]]
    """Unanswered instructions with a time up to *tick*. A seat that begins at *tick* applies each at its own time."""
    reflect: bool
    """The person is asked for a self-assessment before the points are shown."""


class Acknowledged(TypedDict):
    """Number of the seat's actions that are on disk."""

    kind: Literal["acknowledged"]
    number: int


class ClassClock(TypedDict):
    """Class clock, which no seat may pass."""

    tick: int
    """Tick of the class clock when the message is sent."""
    speed: float
    """Simulated seconds per second; 0: the clock is stopped."""


class PaceState(TypedDict):
    """Current permission of the seat: continue, wait, or end."""

    kind: Literal["state"]
    state: str
    until: int | None
    """Tick at which the seat stops until the instructor releases it."""
    clock: ClassClock | None
    """None: its own pace."""
    break_s: float | None
    """Remaining seconds of a break of the whole class; None: no break."""
    hosts: list[str]
    """HOST:PORT of each host if the class has several; a seat may connect to any."""


class InstructionMessage(TypedDict):
    """A text to read, or an input line that happens at the seat."""

    kind: Literal["instruction"]
    number: int
    what: str
    tick: int | None
    """Tick of the instruction; None: on arrival."""
    text: str


class Attention(TypedDict):
    """Current attention of the instructor to this seat.

    It is sent again after every interruption of the connection.
    """

    kind: Literal["attention"]
    looked_at: bool
    held: bool
    """True if the instructor has taken over the seat."""


class HandLowered(TypedDict):
    """The question is answered; the seat lowers its hand."""

    kind: Literal["lowered"]


class ShownRun(TypedDict):
    """Run of a seat that all seats see."""

    seat: int
    name: str
    acts: Sequence[LogEntry]


class RunShown(TypedDict):
    """Runs of one or two seats at a shared time; without seats each seat shows its own run again."""

    kind: Literal["shown"]
    name: str | None
    acts: Sequence[LogEntry]
    seat: NotRequired[int]
    other: NotRequired[ShownRun | None]
    """Run at its side."""
    tick: NotRequired[int]


class ShownPosition(TypedDict):
    """Another time of the runs that are shown."""

    kind: Literal["shown_at"]
    tick: int


class VerdictMessage(TypedDict):
    """Verdict on the whole log."""

    kind: Literal["result"]
    verdict: LogVerdict


class SeatRefusal(TypedDict):
    """Reason why a seat is refused."""

    kind: Literal["refused"]
    text: str


ToSeat = (
    SeatWelcome
    | Acknowledged
    | PaceState
    | InstructionMessage
    | Attention
    | HandLowered
    | RunShown
    | ShownPosition
    | VerdictMessage
    | SeatRefusal
)


# --- to the instructor --------------------------------------------------------------------------------------


class Tile(TypedDict):
    """A seat as the instructor sees it."""

    seat: int
    name: str
    connected: bool
    group: str
    """Empty: none."""
    frozen: bool
    stopped: bool
    """True if the seat should be frozen: alone, with the class, or at its limit."""
    over: bool
    until_s: float | None
    """Time at which it stops."""
    ends_in_s: float | None
    """Wall time until its drill ends at the present pace; None: unknown, or it is over."""
    at_s: float
    acknowledged: int
    unanswered: list[int]
    """Instructions that are due."""
    hand: str | None
    """Question of the seat; None: the hand is not raised."""
    hand_place: int | None
    """Position in the queue of raised hands, from 1."""
    consent: bool
    """The seat may be looked at."""
    held: bool
    """The instructor has it, and the seat has acknowledged that."""
    version: NotRequired[str]
    """Version of the seat; empty: an older seat that does not send it."""
    recording: NotRequired[bool]
    """The seat has reported that its log is written."""
    verdict: LogVerdict | None
    reachable: float | None
    """Points that it could still reach when that was last reckoned; None: not yet, or nothing is scored."""
    worth: Sequence[tuple[float, float]]
    """Seconds of its run, and the points that it could still reach from there; they never rise."""


class ClassMark(TypedDict):
    """Time that the instructor has marked."""

    seat: int | None
    """None: a time of the class."""
    t_s: float
    text: str


class DashboardUpdate(TypedDict):
    """State of the class, and the tiles of some or all of its seats."""

    kind: Literal["board"]
    state: str
    part: str
    """Kind of the current part (app/classroom/plan.py); empty: the class has only one part."""
    part_number: int
    parts: int
    not_frozen: list[str]
    """Names of seats that still run although they should be frozen."""
    ends_in_s: float | None
    """Wall time until the last seat that is connected ends, breaks counted."""
    break_s: float | None
    """Remaining time of the break."""
    clock_s: float | None
    """The class clock; None: each seat has its own pace."""
    tiles: list[Tile]
    marks: NotRequired[list[ClassMark]]
    """Marks in their order; absent from hosts before 1.1."""


class ObservedRun(TypedDict):
    """An observed seat: its scenario and its actions so far."""

    kind: Literal["seen"]
    seat: int
    name: str
    scenario: str
    text: str
    seed: int
    mode: str
    tick: int
    acts: Sequence[LogEntry]


class ObservedRunUpdate(TypedDict):
    """New entries of the observed seat, and its position."""

    kind: Literal["seen_more"]
    seat: int
    tick: int
    acts: Sequence[LogEntry]


class Unseen(TypedDict):
    """The seat allows it no more."""

    kind: Literal["unseen"]
    seat: int
    text: str


class ReplayMoments(TypedDict):
    """Moments at which seats made different choices, most costly first, from the console's own replay."""

    kind: Literal["partings"]
    moments: list[ReplayMoment]


class ReplayMoment(TypedDict):
    """Moment at which seats made different choices."""

    t_s: float
    cost: float
    """Points by which all other choices together scored below the best one."""
    choices: list[ReplayChoice]
    """Choices, best first."""


class ReplayChoice(TypedDict):
    """Next action of some seats."""

    words: str | dict[str, object]
    """Description as `engine.localization.as_json` has it; empty: they waited."""
    seats: list[int]
    mean: float


class RequestDone(TypedDict):
    """Success of an instructor's request."""

    kind: Literal["done"]
    of: str


class RequestFailed(TypedDict):
    """Failure of an instructor's request, with the reason."""

    kind: Literal["refused"]
    of: str
    text: str


ToInstructor = (
    DashboardUpdate | ObservedRun | ObservedRunUpdate | Unseen | ReplayMoments | RequestDone | RequestFailed
)
