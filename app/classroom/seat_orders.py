"""Current orders of the instructor to one seat, from the messages of its host. Window, terminal and team use them."""

import time
from collections.abc import Iterable, Sequence
from typing import Final

from app.classroom.log_entries import LogEntry, list_answered_instructions
from app.classroom.messages.replies import (
    ClassClock,
    InstructionMessage,
    InstructorPresence,
    PaceState,
    SeatMessage,
    SeatWelcome,
)
from app.classroom.models import FROZEN, OVER, REWIND
from app.words.language import tr
from engine.constants import TICKS_PER_S
from engine.model import Tick

OBSERVATION_TEXTS: Final = {
    True: lambda: tr("The instructor is watching your seat."),
    False: lambda: tr("The instructor is no longer watching your seat."),
}
TAKEOVER_TEXTS: Final = {
    True: lambda: tr("The instructor has taken control of your seat."),
    False: lambda: tr("You control your seat again."),
}


def format_rewind(tick: Tick, reason: str) -> str:
    """Format the message that a seat shows after it was rewound to *tick*."""
    minutes, seconds = divmod(tick // TICKS_PER_S, 60)
    notice = tr("The instructor sent you back to {t}.").format(t=f"{minutes}:{seconds:02}")
    return f"{notice} {reason}".strip()


class SeatOrders:
    """Current orders to a seat: freeze, limit, class clock, end, and pending instructions."""

    def __init__(self, log: Sequence[LogEntry]) -> None:
        """Create the orders of a seat. *log* contains answers to earlier instructions."""
        self.is_frozen = self.is_over = False
        self.is_watched = self.is_held = False
        self._until: Tick | None = None
        self._clock: ClassClock | None = None
        self._since_s = 0.0
        self._pending: dict[int, InstructionMessage] = {}
        self.read_answers(log)

    def read_answers(self, log: Sequence[LogEntry]) -> None:
        """Read from *log* which instructions are answered. A rewind may have removed answers."""
        self.answered = list_answered_instructions(log)

    def apply_message(self, message: SeatMessage) -> None:
        """Update the orders by a message of the host. Messages without orders change nothing."""
        match message:
            case SeatWelcome():
                self._set_state(message.state)
            case PaceState():
                self._until, self._clock, self._since_s = message.until, message.clock, time.monotonic()
                self._set_state(message.state)
            case InstructorPresence():
                self.is_watched, self.is_held = message.looked_at, message.held
            case InstructionMessage() if message.number not in self.answered:
                self._pending.setdefault(message.number, message)

    def _set_state(self, state: str) -> None:
        self.is_frozen = state == FROZEN
        self.is_over = self.is_over or state == OVER

    def is_at_limit(self, tick: Tick) -> bool:
        """Return whether the seat is at its limit and must wait for the instructor."""
        return self._until is not None and tick >= self._until

    def get_latest_tick(self) -> Tick | None:
        """Return the tick that the seat may not pass now: its limit or the class clock.

        Return None without a limit.
        """
        limits = [] if self._until is None else [self._until]
        if self._clock is not None:
            gone_s = time.monotonic() - self._since_s
            limits.append(self._clock.tick + int(gone_s * self._clock.speed * TICKS_PER_S))
        return min(limits, default=None)

    def list_due_ticks(self, tick: Tick) -> list[Tick]:
        """Return the times of pending instructions that are later than *tick*."""
        return [due_tick for message in self._pending.values() if (due_tick := message.tick or 0) > tick]

    def take_rewind(self) -> InstructionMessage | None:
        """Remove and return the first pending rewind, or return None."""
        return self._remove_first(message for message in self._pending.values() if message.what == REWIND)

    def take_due_instruction(self, tick: Tick) -> InstructionMessage | None:
        """Remove and return the first inject or message that is due at *tick*, or return None."""
        pending = self._pending.values()
        return self._remove_first(
            message for message in pending if message.what != REWIND and (message.tick or 0) <= tick
        )

    def _remove_first(self, messages: Iterable[InstructionMessage]) -> InstructionMessage | None:
        first_message = min(messages, key=lambda order: (order.tick or 0, order.number), default=None)
        if first_message is not None:
            del self._pending[first_message.number]
            self.answered.add(first_message.number)
        return first_message
