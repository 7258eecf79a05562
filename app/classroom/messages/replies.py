"""Messages of the host of a class to a seat, and to the instructor's dashboard."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NotRequired, TypedDict

from msgspec import Struct

from app.classroom.log_entries import LogEntry
from app.classroom.messages.codec import MessageReader, WireMessage
from engine.drill.judging.shapes import Report


class LogVerdict(TypedDict):
    """Result of a seat's run up to the end of its log."""

    acts: int
    """Number of entries in the log."""
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
    """Time of the last action or reached goal, if it is longer ago than STUCK_S; None otherwise."""
    goals: dict[str, float | None]
    """Name of each goal -> seconds until it was reached; None if it was not."""
    instructor_inputs: NotRequired[int]
    """Inputs of the instructor in this run, without those that end it."""
    instructor_goals: NotRequired[list[str]]
    """Goals that the run reached by inputs of the instructor. In an exam they do not count."""
    progress: float | None
    """Sum of the weights of the reached goals, in percent of all weights."""
    score: float | None
    """Score so far, final when the run is over; None if nothing is scored."""
    downtime_s: float
    ended_by: str | None
    """Author or reason of the end; None if the run has not ended."""
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


# --- messages to a seat -------------------------------------------------------------------------------------


class SeatWelcome(WireMessage, frozen=True, tag="welcome"):
    """Assignment of the seat, and the positions of its log and its run."""

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
    reflect: bool
    """The person is asked for a self-assessment before the points are shown."""
    name: str = ""
    """Name of the seat; different from the entered one if that was in use. Absent from hosts before 1.1."""
    version: str = ""
    """Version of the host."""
    hand: str | None = None
    """Question of the seat's raised hand. A restarted seat receives its own question by it."""
    events: Sequence[InstructionMessage] = ()
    """Unanswered instructions with a time up to *tick*. A seat that begins at *tick* applies each at its own time."""


class AcknowledgedActions(WireMessage, frozen=True, tag="acknowledged"):
    """Number of the seat's actions that are on disk."""

    number: int


class ClassClock(Struct, frozen=True):
    """Class clock, which no seat may pass."""

    tick: int
    """Tick of the class clock when the message is sent."""
    speed: float
    """Simulated seconds per second; 0 means the clock is stopped."""


class PaceState(WireMessage, frozen=True, tag="state"):
    """Current permission of the seat: continue, wait, or end."""

    state: str
    until: int | None
    """Tick at which the seat stops until the instructor releases it."""
    clock: ClassClock | None
    """Class clock; None means each seat has its own pace."""
    break_s: float | None
    """Remaining seconds of a break of the whole class; None means no break."""
    hosts: list[str]
    """HOST:PORT of each host if the class has several; a seat may connect to any."""


class InstructionMessage(WireMessage, frozen=True, tag="instruction"):
    """A text to read, or an input line that happens at the seat."""

    number: int
    what: str
    """Kind of instruction."""
    tick: int | None
    """Tick of the instruction; None means on arrival."""
    text: str


class InstructorPresence(WireMessage, frozen=True, tag="attention"):
    """Current attention of the instructor to this seat.

    It is sent again after every interruption of the connection.
    """

    looked_at: bool
    held: bool
    """True if the instructor has taken over the seat."""


class HandLowered(WireMessage, frozen=True, tag="lowered"):
    """The question is answered; the seat lowers its hand."""


class ShownRun(Struct, frozen=True):
    """Run of a seat that all seats see."""

    seat: int
    name: str
    acts: Sequence[LogEntry]


class RunShown(WireMessage, frozen=True, tag="shown"):
    """Runs of one or two seats at a shared time; without seats each seat shows its own run again."""

    name: str | None
    acts: Sequence[LogEntry]
    seat: int = 0
    other: ShownRun | None = None
    """Second run, shown next to the first one."""
    tick: int | None = None
    """Shared time; None means the end of each run."""


class ShownPosition(WireMessage, frozen=True, tag="shown_at"):
    """Another time of the runs that are shown."""

    tick: int


class VerdictMessage(WireMessage, frozen=True, tag="result"):
    """Verdict on the whole log."""

    verdict: LogVerdict


class SeatRefusal(WireMessage, frozen=True, tag="refused"):
    """Reason why a seat is refused."""

    text: str


ToSeat = (
    SeatWelcome
    | AcknowledgedActions
    | PaceState
    | InstructionMessage
    | InstructorPresence
    | HandLowered
    | RunShown
    | ShownPosition
    | VerdictMessage
    | SeatRefusal
)
TO_SEAT: Final[MessageReader[ToSeat]] = MessageReader(ToSeat)


# --- messages to the instructor -----------------------------------------------------------------------------


class SeatTile(Struct, frozen=True):
    """A seat as the instructor sees it."""

    seat: int
    name: str
    connected: bool
    group: str
    """Group of the seat; empty means none."""
    frozen: bool
    stopped: bool
    """True if the seat should be frozen: alone, with the class, or at its limit."""
    over: bool
    """True if the seat's run has ended."""
    until_s: float | None
    """Time at which the seat stops; None means no limit."""
    ends_in_s: float | None
    """Wall time until the seat's drill ends at the current pace; None means unknown, or the drill is over."""
    at_s: float
    acknowledged: int
    unanswered: list[int]
    """Instructions that are due and not answered."""
    hand: str | None
    """Question of the seat; None means the hand is not raised."""
    hand_place: int | None
    """Position in the queue of raised hands, from 1."""
    consent: bool
    """True if the instructor may observe the seat."""
    held: bool
    """True if the instructor controls the seat and the seat has acknowledged this."""
    verdict: LogVerdict | None
    reachable: float | None
    """Points that the seat could still reach, as last computed; None means not computed yet, or nothing is scored."""
    worth: Sequence[tuple[float, float]]
    """Points of a curve: seconds of the run, and the score that was still reachable then.

    The values never rise.
    """
    version: str = ""
    """Version of the seat; empty means an older seat that does not send it."""
    recording: bool = False
    """The seat has reported that its log is written."""
    paused: bool = False
    """The run does not advance although nobody holds it back; absent from hosts before 1.1."""


class ClassMark(Struct, frozen=True):
    """Time that the instructor has marked."""

    seat: int | None
    """Number of the seat to which the mark belongs; None if it belongs to the whole class."""
    t_s: float
    text: str


class DashboardUpdate(WireMessage, frozen=True, tag="board"):
    """State of the class, and the tiles of some or all of its seats."""

    state: str
    part: str
    """Kind of the current part (app/classroom/plan.py); empty means the class has only one part."""
    part_number: int
    parts: int
    not_frozen: list[str]
    """Names of seats that still run although they should be frozen."""
    ends_in_s: float | None
    """Wall time until the last connected seat ends, including breaks."""
    break_s: float | None
    """Remaining time of the break."""
    clock_s: float | None
    """The class clock; None means each seat has its own pace."""
    tiles: list[SeatTile]
    marks: Sequence[ClassMark] = ()
    """Marks in their order; absent from hosts before 1.1."""


class ObservedRun(WireMessage, frozen=True, tag="seen"):
    """An observed seat: its scenario and its actions so far."""

    seat: int
    name: str
    scenario: str
    text: str
    seed: int
    mode: str
    tick: int
    acts: Sequence[LogEntry]


class ObservedRunUpdate(WireMessage, frozen=True, tag="seen_more"):
    """New entries of the observed seat, and its position."""

    seat: int
    tick: int
    acts: Sequence[LogEntry]


class ObservationEnded(WireMessage, frozen=True, tag="unseen"):
    """The seat no longer allows observation."""

    seat: int
    text: str


class ReplayMoments(WireMessage, frozen=True, tag="partings"):
    """Moments at which seats made different choices, most costly first, from the console's own replay."""

    moments: list[ReplayMoment]


class ReplayMoment(Struct, frozen=True):
    """Moment at which seats made different choices."""

    t_s: float
    cost: float
    """Points by which all other choices together scored below the best one."""
    choices: list[ReplayChoice]
    """Choices, best first."""


class ReplayChoice(Struct, frozen=True):
    """Next action of some seats."""

    words: str | dict[str, object]
    """Description as `engine.localization.as_json` has it; empty means they waited."""
    seats: list[int]
    mean: float


class RequestDone(WireMessage, frozen=True, tag="done"):
    """Success of an instructor's request."""

    of: str
    """Name of the request."""


class RequestFailed(WireMessage, frozen=True, tag="refused"):
    """Failure of an instructor's request, with the reason."""

    of: str
    """Name of the request."""
    text: str


ToInstructor = (
    DashboardUpdate
    | ObservedRun
    | ObservedRunUpdate
    | ObservationEnded
    | ReplayMoments
    | RequestDone
    | RequestFailed
)
TO_INSTRUCTOR: Final[MessageReader[ToInstructor]] = MessageReader(ToInstructor)
