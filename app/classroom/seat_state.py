"""State of a seat in the memory of its host, and the instructor's view of it."""

import asyncio
from collections.abc import Collection, Mapping
from typing import Final

from msgspec import Struct, field
from starlette.websockets import WebSocket

from app.classroom.conversation import RequestRefusedError
from app.classroom.messages.replies import LogVerdict, SeatTile
from app.classroom.messages.requests import SeatTarget
from app.classroom.models import ClassInstruction, Seat
from app.classroom.pace import ClassPace, PauseDetector, SeatSpeed
from app.words.language import tr
from engine.constants import TICKS_PER_S

REPORTED_SCORE_STEP: Final = 2.0
"""Minimum change of the reachable score that is reported, in points. Smaller ones are invisible on the class dashboard.

Assumed.
"""


class SeatState(Struct):
    """State of a seat in the host's memory. Everything except the connection is in the record, too."""

    number: int
    name: str
    token_hash: str
    acknowledged: int
    last_tick: int
    """Tick of the last action."""
    letters: int
    """Number of characters of all actions."""
    tick: int
    """Last known position of the run."""
    group: str = ""
    stopped: bool = False
    """True if the instructor has frozen this seat alone."""
    until: int | None = None
    """Tick at which the seat stops; None means the limit of the class."""
    progress: SeatSpeed = field(default_factory=SeatSpeed)
    frozen: bool = False
    over: bool = False
    """True if the run is over and the seat has no more entries."""
    hand: str | None = None
    """Question of the raised hand; None means not raised."""
    consent: bool = False
    held: bool = False
    """True if the seat has acknowledged the instructor's takeover."""
    version: str = ""
    """Version of the seat; empty means an older seat that does not send it."""
    recording: bool = False
    """True if the seat has reported that its log is written."""
    taken: bool = False
    """True if the instructor wants to take over the seat."""
    socket: WebSocket | None = None
    silent: bool = False
    """True if nothing arrives over the open connection."""
    standstill: PauseDetector = field(default_factory=PauseDetector)
    host: str = ""
    """Host to which the seat is or was last connected, as far as known here; empty means none."""
    visit: int = 0
    """Number of the seat's connection. A later connection has a larger number."""
    away: bool = False
    """True if the seat is connected to another host."""
    verdict: LogVerdict | None = None
    """Verdict on the seat's log."""
    worth: list[tuple[float, float]] = field(default_factory=list)
    """Points of a curve: seconds of the run, and the score that was still reachable then.

    The curve begins with the start of this host. It is empty if nothing is scored.
    """
    answered: set[int] = field(default_factory=set)
    """Instructions that its log reports as applied or read."""
    sent_instructions: set[int] = field(default_factory=set)
    """Instructions that were sent over the current connection."""
    taking: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def connected(self) -> bool:
        """Return whether the seat is connected."""
        return (self.socket is not None and not self.silent) or self.away

    def record_reachable_points(self, t_s: float, points: float) -> None:
        """Record the *points* that are reachable at *t_s*.

        Points that are reachable later were also reachable before. Values after *t_s* are removed, because
        the seat was rewound. Of nearly constant values only both ends are kept. A loss by an action at the
        last recorded time is a steep step.
        """
        earlier_values = [(value_s, max(before, points)) for value_s, before in self.worth if value_s <= t_s]
        if len(earlier_values) > 1 and earlier_values[-2][1] - points < REPORTED_SCORE_STEP:
            earlier_values.pop()
        self.worth = [*earlier_values, (t_s, round(points, 1))]


def build_seat_state(seat: Seat, acknowledged: int | None = None) -> SeatState:
    """Return the state of a seat. *acknowledged*: number of actions known here; None means all."""
    known_number = seat.acknowledged if acknowledged is None else acknowledged
    last_tick = seat.tick if known_number else 0  # a late seat may begin at the time of the class
    return SeatState(
        seat.id, seat.name, seat.token_hash, known_number, last_tick, 0, seat.tick, consent=seat.consent,
        group=seat.group_name, stopped=seat.stopped, until=seat.until, taken=seat.taken, version=seat.version,
    )  # fmt: skip


def build_tile(
    seat: SeatState, pace: ClassPace, instructions: Collection[ClassInstruction], hands: list[int]
) -> SeatTile:
    """Build the tile of a seat: the verdict on its log and its current status.

    *instructions* are those to this seat. *hands* are the seats with raised hands, in their order.
    """
    numbers = [
        instruction.number
        for instruction in instructions
        if (instruction.tick is None or instruction.tick <= seat.tick)
        and instruction.number not in seat.answered
    ]
    return SeatTile(
        seat=seat.number,
        name=seat.name,
        connected=seat.connected,
        group=seat.group,
        frozen=seat.frozen,
        stopped=pace.should_freeze(seat),
        until_s=pace.get_limit_s(seat),
        ends_in_s=pace.estimate_remaining_s(seat),
        over=seat.over,
        at_s=seat.tick / TICKS_PER_S,
        acknowledged=seat.acknowledged,
        unanswered=numbers,
        hand=seat.hand,
        hand_place=hands.index(seat.number) + 1 if seat.number in hands else None,
        consent=seat.consent,
        held=seat.held,
        version=seat.version,
        recording=seat.recording,
        paused=seat.standstill.is_paused,
        verdict=seat.verdict,
        reachable=seat.worth[-1][1] if seat.worth else None,
        worth=seat.worth,
    )


def select_seats(target: SeatTarget, seats: Mapping[int, SeatState]) -> list[SeatState]:
    """Return the seats to which an instructor's request applies.

    Raises RequestRefusedError if there are none.
    """
    if target.seat is not None:
        if target.seat not in seats:
            raise RequestRefusedError(tr("seat {number} does not exist").format(number=target.seat))
        return [seats[target.seat]]
    states = [seat for seat in seats.values() if target.group in (None, seat.group)]
    if target.group is not None and not states:
        raise RequestRefusedError(tr("group {name} does not exist").format(name=target.group))
    return states
