"""Class dashboard of an open class: what consoles show, and which parts have changed since the last update. No Qt."""

from collections.abc import Mapping, Sequence

from starlette.websockets import WebSocket

from app.classroom.instructions import InstructionIndex
from app.classroom.message_exchange import broadcast, is_silent, send_text
from app.classroom.messages.codec import encode
from app.classroom.messages.replies import ClassMark, DashboardUpdate
from app.classroom.models import ClassInstruction, ClassPart
from app.classroom.pace import ClassPace
from app.classroom.seat_state import SeatState, build_tile
from engine.constants import TICKS_PER_S


class ClassDashboard:
    """Class dashboard: state of the class, a tile for each seat, and the queue of raised hands."""

    def __init__(
        self,
        the_class: ClassPart,
        parts: int,
        seats: Mapping[int, SeatState],
        instructions: InstructionIndex,
        pace: ClassPace,
    ) -> None:
        """Create the class dashboard. *parts*: number of parts of the class.

        Each update reads the current state of the other arguments.
        """
        self._class, self._parts, self._seats = the_class, parts, seats
        self._instructions, self._pace = instructions, pace
        self.consoles: set[WebSocket] = set()
        self.marks: list[ClassInstruction] = []
        """Marks of the instructor."""
        self._hands: list[int] = []
        """Seats with raised hands, in the order in which they were raised."""
        self.changed_seats: set[int] = set()
        """Seats whose tiles changed since the class dashboard was last sent."""
        self._has_changed = True
        """True if the state of the class has changed since the class dashboard was last sent."""

    def mark_changed(self) -> None:
        """Record that the class has changed."""
        self._has_changed = True

    def update_hand_queue(self, seat: SeatState) -> None:
        """Add a seat to the queue after it raised its hand, or remove it after it lowered its hand.

        The positions of all other seats may change.
        """
        raised = seat.hand is not None
        if raised != (seat.number in self._hands):
            self._hands.append(seat.number) if raised else self._hands.remove(seat.number)
            self.changed_seats.update(self._hands)

    def record_activity_changes(self) -> None:
        """Update which connections are silent, and which runs are paused by their participants."""
        for seat in self._seats.values():
            silent = seat.socket is not None and is_silent(seat.socket)
            if silent != seat.silent:
                seat.silent = silent
                self.changed_seats.add(seat.number)
            may_run = seat.connected and not (seat.over or seat.frozen or self._pace.should_freeze(seat))
            if seat.pause_detector.record_position(seat.tick, may_run):
                self.changed_seats.add(seat.number)

    def build_dashboard(self, numbers: Sequence[int] | None = None) -> DashboardUpdate:
        """Return the state of the class with tiles of seats. *numbers*: seats to include; None for all."""
        shown_seats = self._seats.values() if numbers is None else [self._seats[number] for number in numbers]
        seats = [seat for seat in self._seats.values() if seat.connected and not seat.over]
        return DashboardUpdate(
            state=self._class.state,
            part=self._class.part,
            part_number=self._class.id,
            parts=self._parts,
            not_frozen=[seat.name for seat in seats if not seat.frozen and self._pace.should_freeze(seat)],
            ends_in_s=self._pace.estimate_class_remaining_s(seats),
            break_s=self._pace.get_break_s(),
            clock_s=self._pace.get_clock_s(),
            tiles=[
                build_tile(seat, self._pace, self._instructions.select_for_seat(seat), self._hands)
                for seat in shown_seats
            ],
            marks=[ClassMark(mark.seat_id, (mark.tick or 0) / TICKS_PER_S, mark.text) for mark in self.marks],
        )

    def take_changed_seats(self) -> list[int] | None:
        """Return the seats whose tiles changed since the last call, or None if nothing has changed."""
        if not (self.changed_seats or self._has_changed):
            return None
        changed_seats, self.changed_seats, self._has_changed = sorted(self.changed_seats), set(), False
        return changed_seats

    async def send_to_consoles(self, numbers: Sequence[int]) -> None:
        """Send the state of the class and the tiles of the seats *numbers* to every console."""
        if self.consoles:
            text = encode(self.build_dashboard(numbers))
            await broadcast(send_text(console, text) for console in self.consoles)
