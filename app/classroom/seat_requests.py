"""Requests of the instructor about a single seat: observe it, take control, lower its hand, show its run to all."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress

from starlette.websockets import WebSocket, WebSocketDisconnect

from app.classroom.bus import ClassChanged, HandLoweredNotice, SharedReplayNotice
from app.classroom.log_entries import LogEntry
from app.classroom.message_exchange import RequestRefusedError, send_message, send_text
from app.classroom.messages import requests
from app.classroom.messages.codec import encode
from app.classroom.messages.replies import HandLowered, InstructorPresence
from app.classroom.models import ClassPart
from app.classroom.peer_hosts import PeerHosts
from app.classroom.seat_observers import SeatObservers
from app.classroom.seat_state import SeatState
from app.classroom.shared_replay import SharedReplay
from app.words.language import tr
from engine.drill.running.modes import DrillMode


class SeatRequestHandler:
    """Handler of requests that consoles make about single seats."""

    def __init__(
        self,
        the_class: ClassPart,
        seats: Mapping[int, SeatState],
        read_log: Callable[[int], Awaitable[list[LogEntry]]],
        store_takeover: Callable[[SeatState, bool], Awaitable[None]],
        send_to_all: Callable[[Callable[[SeatState], Awaitable[None]]], Awaitable[None]],
    ) -> None:
        """Create the handler.

        *store_takeover* records whether the instructor controls a seat. *send_to_all* calls a function for
        each connected seat.
        """
        self._class, self._seats = the_class, seats
        self._store_takeover, self._send_to_all = store_takeover, send_to_all
        self.observers = SeatObservers(the_class, seats, read_log, self._on_observers_changed)
        self.replay = SharedReplay(read_log)
        self.peers: PeerHosts | None = None
        """Peer hosts. The owner sets them before the first request."""

    async def execute_request(self, console: WebSocket, request: requests.SeatRequest) -> None:
        """Execute a request about a seat. Raises RequestRefusedError."""
        assert self.peers is not None
        seat = self._find_seat(request.seat)
        if isinstance(request, requests.ObserveSeat):
            self._check_consent(seat)
            await (
                self.observers.end_observations(console)
                if seat is None
                else self.observers.start_observation(console, seat)
            )
        elif isinstance(request, requests.ShowRuns):
            await self.show_runs(request)
            self.peers.send(SharedReplayNotice(show=request))
        elif seat is not None and isinstance(request, requests.LowerHand):
            if not seat.connected:
                raise RequestRefusedError(tr("{name} is not connected").format(name=seat.name))
            await self.lower_hand(seat)
            self.peers.send(HandLoweredNotice(seat=seat.number))
        elif seat is not None:
            await self._store_takeover(seat, isinstance(request, requests.TakeOverSeat))
            await self.notify_seat(seat)
            self.peers.send(ClassChanged())

    def _find_seat(self, number: int | None) -> SeatState | None:
        if number is not None and number not in self._seats:
            raise RequestRefusedError(tr("seat {number} does not exist").format(number=number))
        return None if number is None else self._seats[number]

    def _check_consent(self, seat: SeatState | None) -> None:
        if seat is not None and not seat.consent:
            reason = tr("{name} (seat {n}) does not allow watching")
            raise RequestRefusedError(reason.format(name=seat.name, n=seat.number))

    async def lower_hand(self, seat: SeatState) -> None:
        """Lower the hand of a seat, and inform the seat."""
        if seat.socket is not None:
            with suppress(WebSocketDisconnect, RuntimeError):
                await send_message(seat.socket, HandLowered())

    async def notify_seat(self, seat: SeatState) -> None:
        """Inform the seat whether the instructor observes and controls it."""
        assert self.peers is not None
        looked_at = seat.number in self.observers.list_observed_seats() or self.peers.is_observed(seat.number)
        if seat.socket is not None:
            # a disconnected seat is informed when it reconnects
            with suppress(WebSocketDisconnect, RuntimeError):
                await send_message(seat.socket, InstructorPresence(looked_at, seat.taken))

    async def _on_observers_changed(self, seat: SeatState) -> None:
        """Inform the seat and the peer hosts that a console has started or stopped observing the seat."""
        assert self.peers is not None
        self.peers.send_status()
        await self.notify_seat(seat)

    async def show_runs(self, request: requests.ShowRuns) -> None:
        """Show one or two runs to all seats, or end the replay. Raises RequestRefusedError."""
        seats_shown = [seat for number in (request.seat, request.other) if (seat := self._find_seat(number))]
        for seat_shown in seats_shown:
            self._check_consent(seat_shown)
        if seats_shown and DrillMode(self._class.mode) is DrillMode.EXAM:
            raise RequestRefusedError(tr("you cannot show another seat during an exam"))
        text = encode(await self.replay.show_runs(seats_shown, request.tick))

        async def send_to_viewer(viewer: SeatState) -> None:
            if viewer.socket is not None:
                await send_text(viewer.socket, text)

        await self._send_to_all(send_to_viewer)
