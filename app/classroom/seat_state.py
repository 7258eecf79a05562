"""State of a seat in the memory of its host, and the tile that the instructor sees."""

import asyncio
from collections.abc import Collection, Mapping
from typing import Final

from msgspec import Struct, field
from starlette.websockets import WebSocket

from app.classroom.message_exchange import RequestRefusedError
from app.classroom.messages.replies import LogVerdict, SeatTile
from app.classroom.messages.requests import SeatTarget
from app.classroom.models import ClassInstruction, Seat
from app.classroom.pace import ClassPace, PauseDetector, SeatSpeed
from app.words.language import tr
from engine.constants import TICKS_PER_S

REPORTED_SCORE_STEP: Final = 2.0
"""Minimum change of the reachable points that the value curve shows as a separate step.

Smaller changes are invisible on the class dashboard. Assumed.
"""


class SeatState(Struct):
    """State of a seat in the host's memory. The record also contains its log and its settings."""

    number: int
    name: str
    token_hash: str
    acknowledged: int
    last_tick: int
    """Tick of the last entry."""
    character_count: int
    """Number of characters of all input lines."""
    tick: int
    """Last known position of the run."""
    group: str = ""
    stopped: bool = False
    """True if the instructor has frozen this seat individually."""
    until: int | None = None
    """Tick at which the seat stops; None if the limit of the class applies."""
    progress: SeatSpeed = field(default_factory=SeatSpeed)
    frozen: bool = False
    over: bool = False
    """True if the run is over. The seat then sends no more entries."""
    hand: str | None = None
    """Question of the seat; None if the hand is not raised."""
    consent: bool = False
    held: bool = False
    """True if the seat has confirmed the instructor's takeover."""
    version: str = ""
    """Program version of the seat; empty for an older seat that does not send it."""
    recording: bool = False
    """True if the seat has reported that its log is written."""
    taken: bool = False
    """True if the instructor has requested control of the seat."""
    socket: WebSocket | None = None
    silent: bool = False
    """True if nothing arrives over the open connection."""
    pause_detector: PauseDetector = field(default_factory=PauseDetector)
    host: str = ""
    """Name of the host to which the seat is or was last connected; empty if unknown."""
    visit: int = 0
    """Number of the seat's connection. A later connection has a larger number."""
    is_at_other_host: bool = False
    """True if the seat is connected to another host."""
    verdict: LogVerdict | None = None
    """Latest verdict on the seat's log; None before the first verdict."""
    value_curve: list[tuple[float, float]] = field(default_factory=list)
    """Value curve: times of the run in seconds with the score that was still reachable then.

    The curve starts when this host starts. It is empty if the run is not scored.
    """
    answered: set[int] = field(default_factory=set)
    """Numbers of the instructions that the seat's log answers."""
    sent_instructions: set[int] = field(default_factory=set)
    """Numbers of the instructions that were sent over the current connection."""
    write_lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def connected(self) -> bool:
        """Return whether the seat is connected to any host."""
        return (self.socket is not None and not self.silent) or self.is_at_other_host

    def record_reachable_points(self, t_s: float, points: float) -> None:
        """Record in the value curve that *points* are reachable at *t_s*.

        Points that are reachable at *t_s* were also reachable before, so lower earlier values are raised.
        Values after *t_s* are removed, because the seat was rewound. Of a series of nearly constant
        values, only the first and the last are kept. A loss at the last recorded time becomes a vertical
        step of the curve.
        """
        earlier_values = [
            (value_s, max(before, points)) for value_s, before in self.value_curve if value_s <= t_s
        ]
        if len(earlier_values) > 1 and earlier_values[-2][1] - points < REPORTED_SCORE_STEP:
            earlier_values.pop()
        self.value_curve = [*earlier_values, (t_s, round(points, 1))]


def build_seat_state(seat: Seat, acknowledged: int | None = None) -> SeatState:
    """Build the state of a seat from its record.

    *acknowledged*: number of entries known to this host; None for all.
    """
    known_number = seat.acknowledged if acknowledged is None else acknowledged
    last_tick = (
        seat.tick if known_number else 0
    )  # without entries, seat.tick may be the class time at which a late seat started
    return SeatState(
        seat.id, seat.name, seat.token_hash, known_number, last_tick, 0, seat.tick, consent=seat.consent,
        group=seat.group_name, stopped=seat.stopped, until=seat.until, taken=seat.taken, version=seat.version,
    )  # fmt: skip


def build_tile(
    seat: SeatState, pace: ClassPace, instructions: Collection[ClassInstruction], hands: list[int]
) -> SeatTile:
    """Build the tile of a seat from its verdict and its current status.

    *instructions*: instructions to this seat. *hands*: seats with raised hands, in the order in which they
    were raised.
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
        paused=seat.pause_detector.is_paused,
        verdict=seat.verdict,
        reachable=seat.value_curve[-1][1] if seat.value_curve else None,
        worth=seat.value_curve,
    )


def select_seats(target: SeatTarget, seats: Mapping[int, SeatState]) -> list[SeatState]:
    """Return the seats to which a request of the instructor applies.

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
