"""What a host says, as JSON: to a seat, and to the instructor's board. What is said to a host stands in wire.py."""

from __future__ import annotations

from typing import Literal, TypedDict

from engine.drill.judging.shapes import Report


class Verdict(TypedDict):
    """A seat's run as far as its log goes."""

    acts: int
    """Entries of the log."""
    t_s: float
    """How far the run has come."""
    done: int
    """The seat's own acts among them."""
    last_act_t_s: float | None
    last_act: str
    stuck_since_s: float | None
    """Since when nothing was done and nothing reached, if that is longer than STUCK_S."""
    goals: dict[str, float | None]
    """Name -> when it was reached."""
    progress: float | None
    """Percent of the goals' weights that are reached."""
    score: float | None
    """So far; final when the run is over. None where nothing is scored."""
    downtime_s: float
    ended_by: str | None
    state_hash: str
    parted_t_s: float | None
    """The first moment at which the seat's run is not what follows from its log."""
    parted: str
    """What was different there."""


class Attended(TypedDict):
    """What a seat adds to the report of its run."""

    seat: int
    name: str
    verdict: Verdict | None


_Of = TypedDict("_Of", {"class": Attended})


class SeatReport(Report, _Of):
    """As of `run --json`, with the score that the host has computed."""


# --- to a seat ----------------------------------------------------------------------------------------------


class Welcome(TypedDict):
    """What the seat plays, and how far its log and its run have come."""

    kind: Literal["welcome"]
    seat: int
    acknowledged: int
    scenario: str
    text: str
    seed: int
    mode: str
    state: str
    tick: int


class Acknowledged(TypedDict):
    """So many acts of the seat are on disk."""

    kind: Literal["acknowledged"]
    number: int


class State(TypedDict):
    """The class is frozen, runs or is over."""

    kind: Literal["state"]
    state: str


class Instruction(TypedDict):
    """A text to read, or an input line that happens at the seat."""

    kind: Literal["instruction"]
    number: int
    what: str
    tick: int | None
    """None: as soon as it comes."""
    text: str


class Result(TypedDict):
    """What the whole log has come to."""

    kind: Literal["result"]
    verdict: Verdict


class Refused(TypedDict):
    kind: Literal["refused"]
    text: str


ToSeat = Welcome | Acknowledged | State | Instruction | Result | Refused


# --- to the instructor --------------------------------------------------------------------------------------


class Tile(TypedDict):
    """A seat as the instructor sees it."""

    seat: int
    name: str
    connected: bool
    frozen: bool
    over: bool
    at_s: float
    acknowledged: int
    unanswered: list[int]
    """Instructions that are due."""
    verdict: Verdict | None


class Board(TypedDict):
    """The class, and the tiles of some or all of its seats."""

    kind: Literal["board"]
    state: str
    not_frozen: list[str]
    """Names of those who go on although the class is frozen."""
    tiles: list[Tile]


class Done(TypedDict):
    kind: Literal["done"]
    of: str


class NotDone(TypedDict):
    kind: Literal["refused"]
    of: str
    text: str


ToInstructor = Board | Done | NotDone
