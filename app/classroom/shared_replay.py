"""Runs that the instructor shows to all seats: one run, or two runs side by side, at a shared time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from app.classroom.log_entries import LogEntry, list_effective_entries
from app.classroom.messages.replies import RunShown, ShownPosition, ShownRun
from engine.model import Tick

if TYPE_CHECKING:
    from app.classroom.seat_state import SeatState


class SharedReplay:
    """Replay that the instructor shows to all seats. A seat that reconnects receives it again."""

    def __init__(self, read_log: Callable[[int], Awaitable[list[LogEntry]]]) -> None:
        """Create a replay that shows nothing. *read_log* reads all entries of a seat."""
        self._read_log = read_log
        self._seats: tuple[int, ...] = ()
        self.message = RunShown(name=None, acts=[])
        """Message that a seat receives when it connects."""

    async def show_runs(self, seats: Sequence[SeatState], tick: Tick | None) -> RunShown | ShownPosition:
        """Show the runs of *seats* at *tick*. Without seats, end the replay. Return the message to all seats."""
        numbers = tuple(seat.number for seat in seats)
        if numbers and numbers == self._seats and tick is not None:
            self.message = replace(self.message, tick=tick)
            return ShownPosition(tick)
        runs = [
            ShownRun(
                seat=seat.number,
                name=seat.name,
                acts=list_effective_entries(await self._read_log(seat.number)),
            )
            for seat in seats
        ]
        self._seats = numbers
        self.message = RunShown(name=None, acts=[])
        if runs:
            position = max(seat.tick for seat in seats) if tick is None else tick
            first_shown_run, other_shown_run = runs[0], (*runs[1:], None)[0]
            self.message = RunShown(
                first_shown_run.name, first_shown_run.acts, first_shown_run.seat, other_shown_run, position
            )
        return self.message


def list_shown_runs(message: RunShown) -> list[tuple[int, str, Sequence[LogEntry]]]:
    """Return seat number, name and entries of each run in *message*. The number is 0 if an older host omits it."""
    if message.name is None:
        return []
    runs = [(message.seat, message.name, message.acts)]
    if (other_shown_run := message.other) is not None:
        runs.append((other_shown_run.seat, other_shown_run.name, other_shown_run.acts))
    return runs
