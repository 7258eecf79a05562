"""Runs that the instructor shows to all seats: one, or two side by side, at a shared time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from app.classroom.acts import LogEntry, effective
from app.classroom.messages.replies import RunShown, ShownPosition, ShownRun
from engine.model import Tick

if TYPE_CHECKING:
    from app.classroom.seat_state import SeatState


class LedReplay:
    """Shared replay of a class; a seat that reconnects receives it again."""

    def __init__(self, read_log: Callable[[int], Awaitable[list[LogEntry]]]) -> None:
        """Create a replay that shows nothing; *read_log* reads all entries of a seat."""
        self._read_log = read_log
        self._seats: tuple[int, ...] = ()
        self.message = RunShown(name=None, acts=[])
        """Message that a seat receives when it connects."""

    async def lead(self, seats: Sequence[SeatState], tick: Tick | None) -> RunShown | ShownPosition:
        """Show the runs of *seats* at *tick*, or nothing without seats. Return the message for all seats."""
        numbers = tuple(line.number for line in seats)
        if numbers and numbers == self._seats and tick is not None:
            self.message = replace(self.message, tick=tick)
            return ShownPosition(tick)
        runs = [
            ShownRun(seat=one.number, name=one.name, acts=effective(await self._read_log(one.number)))
            for one in seats
        ]
        self._seats = numbers
        self.message = RunShown(name=None, acts=[])
        if runs:
            position = max(line.tick for line in seats) if tick is None else tick
            first, other = runs[0], (*runs[1:], None)[0]
            self.message = RunShown(first.name, first.acts, first.seat, other, position)
        return self.message


def list_shown_runs(message: RunShown) -> list[tuple[int, str, Sequence[LogEntry]]]:
    """List seat, name and entries of each run of *message*. An older host omits the seat: it is 0."""
    if message.name is None:
        return []
    runs = [(message.seat, message.name, message.acts)]
    if (other := message.other) is not None:
        runs.append((other.seat, other.name, other.acts))
    return runs
