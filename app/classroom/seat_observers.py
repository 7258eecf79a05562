"""Consoles that observe seats with their consent. A console receives the run so far, and then each new entry."""

from collections.abc import Awaitable, Callable, Container, Mapping, Sequence
from contextlib import suppress

from starlette.websockets import WebSocket, WebSocketDisconnect

from app.classroom import log_entries
from app.classroom.log_entries import LogEntry
from app.classroom.message_exchange import send_message
from app.classroom.messages.replies import ObservationEnded, ObservedRun, ObservedRunUpdate
from app.classroom.models import ClassPart
from app.classroom.seat_state import SeatState
from app.words.language import tr


class SeatObservers:
    """Consoles that observe seats, and the entries that they have not received yet."""

    def __init__(
        self,
        the_class: ClassPart,
        seats: Mapping[int, SeatState],
        read_log: Callable[[int], Awaitable[list[LogEntry]]],
        on_observers_changed: Callable[[SeatState], Awaitable[None]],
    ) -> None:
        """Create an empty list of observers.

        *read_log* reads all entries of a seat. *on_observers_changed* is called with a seat whose
        observers have changed.
        """
        self._class, self._seats, self._log_of, self._changed = (
            the_class,
            seats,
            read_log,
            on_observers_changed,
        )
        self._observations: dict[WebSocket, tuple[int, list[LogEntry]]] = {}
        """Console -> the seat that it observes, and the entries that were not sent to it yet."""

    def list_observed_seats(self) -> set[int]:
        """Return the numbers of the observed seats."""
        return {seat for seat, _ in self._observations.values()}

    def _list_observers(self, number: int) -> list[WebSocket]:
        return [console for console, (seat, _) in self._observations.items() if seat == number]

    def queue_entries(self, number: int, entries: Sequence[LogEntry]) -> None:
        """Queue new entries of a seat for the consoles that observe it."""
        for console in self._list_observers(number):
            self._observations[console][1].extend(entries)

    async def start_observation(self, console: WebSocket, seat: SeatState) -> None:
        """Start to observe *seat* at *console*. The seat is informed before its run is sent."""
        await self.end_observations(console)
        async with seat.write_lock:  # no entry may be lost between this log and the live updates
            log = log_entries.list_effective_entries(await self._log_of(seat.number))
            self._observations[console] = (seat.number, [])
        await self._changed(seat)
        await send_message(
            console,
            ObservedRun(
                seat=seat.number,
                name=seat.name,
                scenario=self._class.scenario_name,
                text=self._class.scenario_text,
                seed=self._class.seed,
                mode=self._class.mode,
                tick=seat.tick,
                acts=log,
            ),
        )

    async def end_observations(self, console: WebSocket) -> None:
        """End the observation by *console*, if any."""
        before, _ = self._observations.pop(console, (None, []))
        if before is not None:
            await self._changed(self._seats[before])

    async def restart_observation(self, seat: SeatState) -> None:
        """Send the run to all observers again, after the seat was rewound."""
        for console in self._list_observers(seat.number):
            await self.start_observation(console, seat)

    async def end_disallowed_observations(self, seat: SeatState) -> None:
        """End all observations of a seat that no longer permits them."""
        for console in self._list_observers(seat.number):
            await self.end_observations(console)
            text = tr("{name} (seat {n}) does not allow watching").format(name=seat.name, n=seat.number)
            with suppress(WebSocketDisconnect, RuntimeError):
                await send_message(console, ObservationEnded(seat.number, text))

    async def send_updates(self, changed_seats: Container[int]) -> None:
        """Send new entries of observed seats. *changed_seats*: seats whose status has changed since the last call."""
        for console, (number, follows) in list(self._observations.items()):
            new, follows[:] = list(follows), []
            if new or number in changed_seats:
                tick = self._seats[number].tick
                with suppress(WebSocketDisconnect, RuntimeError):
                    await send_message(console, ObservedRunUpdate(number, tick, new))
