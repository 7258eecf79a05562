"""Messages of a class host to a seat and to the instructor's console."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NotRequired, TypedDict

from msgspec import Struct

from app.classroom.log_entries import LogEntry
from app.classroom.messages.codec import MessageReader, WireMessage
from engine.drill.judging.report_types import Report


class LogVerdict(TypedDict):
    """Result of a seat's run up to the last entry of its log."""

    acts: int
    """Number of entries in the log."""
    t_s: float
    """Simulated time that the run has reached."""
    done: int
    """Number of the entries that are the seat's own inputs."""
    sent_back: int
    """Number of times that the instructor has rewound the seat."""
    last_act_t_s: float | None
    last_act: str
    instructor_act_t_s: NotRequired[float | None]
    instructor_act: NotRequired[str]
    """Last input of the instructor in this run. Hosts before 1.1 do not send it."""
    stuck_since_s: float | None
    """Time of the last action or reached goal if it is more than STUCK_AFTER_S ago; otherwise None."""
    goals: dict[str, float | None]
    """Name of each goal -> time at which the goal was reached; None if it was not reached."""
    instructor_inputs: NotRequired[int]
    """Number of the instructor's inputs in this run, except inputs that end the run."""
    instructor_goals: NotRequired[list[str]]
    """Goals that the run reached only with inputs of the instructor. In an exam they do not count."""
    progress: float | None
    """Weight of the reached goals as a percentage of the weight of all goals. None if there are no goals."""
    score: float | None
    """Score so far, which is final after the end of the run. None if the run is not scored."""
    downtime_s: float
    ended_by: str | None
    """Cause of the end of the run. None if the run has not ended."""
    state_hash: str
    parted_t_s: float | None
    """First time at which the replay differs from the log. None if it does not differ."""
    parted: str
    """Description of the difference at *parted_t_s*; empty if there is none."""


class SeatReportSection(TypedDict):
    """Section that a seat adds to the report of its run."""

    seat: int
    name: str
    verdict: LogVerdict | None


_ClassSection = TypedDict("_ClassSection", {"class": SeatReportSection})


class SeatReport(Report, _ClassSection):
    """Report of a run as `run --json` prints it, with the verdict of the host."""


# --- messages to a seat -------------------------------------------------------------------------------------


class SeatWelcome(WireMessage, frozen=True, tag="welcome"):
    """Assignment of a seat, with the last log entry and the run time that the host has stored for it."""

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
    """True if the person is asked for a reflection before the points are shown."""
    name: str = ""
    """Name of the seat. It differs from the entered name if that name was in use.

    Hosts before 1.1 do not send it.
    """
    version: str = ""
    """Program version of the host."""
    hand: str | None = None
    """Question of the seat, so that a restarted seat knows it; None if its hand is not raised."""
    events: Sequence[InstructionMessage] = ()
    """Unanswered instructions with a time up to *tick*, where the run of the seat begins.

    The seat applies each instruction at its own time.
    """


class AcknowledgedActions(WireMessage, frozen=True, tag="acknowledged"):
    """Acknowledgment of all entries up to *number*, which are on the disk of the host."""

    number: int


class ClassClock(Struct, frozen=True):
    """Current state of the class clock. No seat may pass its time."""

    tick: int
    """Tick of the class clock at the time at which the message is sent."""
    speed: float
    """Simulated seconds per second; 0 if the clock is stopped."""


class PaceState(WireMessage, frozen=True, tag="state"):
    """State of the class for a seat (running, frozen or over), with the limits of the seat."""

    state: str
    until: int | None
    """Tick at which the seat stops until the instructor releases it; None if there is no such limit."""
    clock: ClassClock | None
    """Class clock; None means each seat has its own pace."""
    break_s: float | None
    """Remaining seconds of a break of the whole class; None if there is no break."""
    hosts: list[str]
    """HOST:PORT of each host if the class has several hosts. A seat may connect to any of them."""


class InstructionMessage(WireMessage, frozen=True, tag="instruction"):
    """Instruction to the seat: a text to read, an input line that the seat applies, or a rewind."""

    number: int
    what: str
    """Kind of instruction."""
    tick: int | None
    """Tick of the instruction, or target of a rewind; None for an instruction that applies on arrival."""
    text: str


class InstructorPresence(WireMessage, frozen=True, tag="attention"):
    """Message that tells a seat whether the instructor observes or controls it.

    It is sent again after each reconnection.
    """

    looked_at: bool
    held: bool
    """True if the instructor has taken over the seat."""


class HandLowered(WireMessage, frozen=True, tag="lowered"):
    """Message that the instructor has answered the question of the seat. The seat lowers its hand."""


class ShownRun(Struct, frozen=True):
    """Run of a seat that is shown to all seats."""

    seat: int
    name: str
    acts: Sequence[LogEntry]


class RunShown(WireMessage, frozen=True, tag="shown"):
    """Runs of one or two seats, shown to all seats at a shared time. Without a run, the replay ends."""

    name: str | None
    acts: Sequence[LogEntry]
    seat: int = 0
    other: ShownRun | None = None
    """Second run, shown next to the first run."""
    tick: int | None = None
    """Shared time; None for the end of each run."""


class ShownPosition(WireMessage, frozen=True, tag="shown_at"):
    """New time at which all seats show the runs of the shared replay."""

    tick: int


class VerdictMessage(WireMessage, frozen=True, tag="result"):
    """Verdict of the host on the whole log of the seat."""

    verdict: LogVerdict


class SeatRefusal(WireMessage, frozen=True, tag="refused"):
    """Message that a seat is refused, with the reason."""

    text: str


SeatMessage = (
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
"""Any message of a host to a seat."""
SEAT_MESSAGE_READER: Final[MessageReader[SeatMessage]] = MessageReader(SeatMessage)


# --- messages to the instructor -----------------------------------------------------------------------------


class SeatTile(Struct, frozen=True):
    """State of a seat on the class dashboard."""

    seat: int
    name: str
    connected: bool
    group: str
    """Group of the seat; empty if it has no group."""
    frozen: bool
    stopped: bool
    """True if the seat should be frozen: individually, with the whole class, or at its limit."""
    over: bool
    """True if the seat's run has ended."""
    until_s: float | None
    """Time at which the seat stops; None if it has no limit."""
    ends_in_s: float | None
    """Wall time until the seat's drill ends at the current pace. None if it is unknown or the drill is over."""
    at_s: float
    acknowledged: int
    unanswered: list[int]
    """Numbers of the instructions that are due and not answered."""
    hand: str | None
    """Question of the seat; None if the hand is not raised."""
    hand_place: int | None
    """Position in the queue of raised hands, from 1."""
    consent: bool
    """True if the instructor may observe the seat."""
    held: bool
    """True if the instructor controls the seat and the seat has confirmed this."""
    verdict: LogVerdict | None
    reachable: float | None
    """Last computed value of the run: points that the seat can still reach.

    None if the value is not computed, or if the run is not scored.
    """
    worth: Sequence[tuple[float, float]]
    """Value curve: times of the run in seconds with the score that was still reachable then.

    The scores never rise.
    """
    version: str = ""
    """Program version of the seat; empty for an older seat that does not send it."""
    recording: bool = False
    """True if the seat has reported that its log is written."""
    paused: bool = False
    """True if the participant has paused the run: it does not advance, although the class does not stop it.

    Hosts before 1.1 do not send it.
    """


class ClassMark(Struct, frozen=True):
    """Time that the instructor has marked."""

    seat: int | None
    """Number of the seat to which the mark belongs; None for a mark of the whole class."""
    t_s: float
    text: str


class DashboardUpdate(WireMessage, frozen=True, tag="board"):
    """State of the class, with the tiles of some or all seats."""

    state: str
    part: str
    """Kind of the current part (app/classroom/lesson_plan.py); empty if the class has only one part."""
    part_number: int
    parts: int
    not_frozen: list[str]
    """Names of seats that still run although they should be frozen."""
    ends_in_s: float | None
    """Wall time until the last connected seat ends, including the current break; None if unknown."""
    break_s: float | None
    """Remaining seconds of the break; None if there is no break."""
    clock_s: float | None
    """Time of the class clock; None if each seat has its own pace."""
    tiles: list[SeatTile]
    marks: Sequence[ClassMark] = ()
    """Marks in the order in which they were set. Hosts before 1.1 do not send them."""


class ObservedRun(WireMessage, frozen=True, tag="seen"):
    """Scenario of an observed seat, and its actions so far."""

    seat: int
    name: str
    scenario: str
    text: str
    seed: int
    mode: str
    tick: int
    acts: Sequence[LogEntry]


class ObservedRunUpdate(WireMessage, frozen=True, tag="seen_more"):
    """New entries and position of the observed seat."""

    seat: int
    tick: int
    acts: Sequence[LogEntry]


class ObservationEnded(WireMessage, frozen=True, tag="unseen"):
    """Message that the seat no longer permits observation."""

    seat: int
    text: str


class DivergenceTimes(WireMessage, frozen=True, tag="partings"):
    """Times at which seats made different choices, most costly first. The console computes them from the record."""

    moments: list[DivergenceTime]


class DivergenceTime(Struct, frozen=True):
    """Time at which seats made different choices."""

    t_s: float
    cost: float
    """Points that all seats with another choice lost in total, compared with the mean of the best choice."""
    choices: list[SeatChoice]
    """Choices, best first."""


class SeatChoice(Struct, frozen=True):
    """Next action that some seats chose."""

    words: str | dict[str, object]
    """Description in the form of `engine.localization.as_json`; empty if the seats waited."""
    seats: list[int]
    mean: float


class RequestDone(WireMessage, frozen=True, tag="done"):
    """Message that a request of the instructor has succeeded."""

    of: str
    """Name of the request."""


class RequestFailed(WireMessage, frozen=True, tag="refused"):
    """Message that a request of the instructor has failed, with the reason."""

    of: str
    """Name of the request."""
    text: str


ConsoleMessage = (
    DashboardUpdate
    | ObservedRun
    | ObservedRunUpdate
    | ObservationEnded
    | DivergenceTimes
    | RequestDone
    | RequestFailed
)
"""Any message of a host to the instructor's console."""
INSTRUCTOR_MESSAGE_READER: Final[MessageReader[ConsoleMessage]] = MessageReader(ConsoleMessage)
