"""Other hosts of a class: their availability, the seats that their consoles observe, and messages to them."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterable, Mapping

from app.classroom.bus import (
    HOST_TIMEOUT_S,
    KEEPALIVE_INTERVAL_S,
    BusMessage,
    MessageBus,
    SeatChanges,
    SeatStatusNotice,
)
from app.classroom.seat_state import SeatState


class PeerHosts:
    """Other hosts of the class. Without a *bus*, there are none, and messages are dropped."""

    def __init__(
        self,
        bus: MessageBus | None,
        seats: Mapping[int, SeatState],
        list_observed_seats: Callable[[], set[int]],
        start_task: Callable[[Coroutine[None, None, None]], None],
    ) -> None:
        """Create the peer hosts.

        *list_observed_seats*: returns the seats that consoles of this host observe. *start_task*: starts a
        background task.
        """
        self._bus, self._seats, self._observed_seats_by_host, self._start_task = (
            bus,
            seats,
            list_observed_seats,
            start_task,
        )
        self.own_name = bus.own_name if bus is not None else "own"
        """Name of this host among the hosts of the class."""
        self._last_message_s: dict[str, float] = {}
        """Host -> time of its last message."""
        self._observed_by_peers: dict[str, set[int]] = {}
        """Host -> seats that its consoles observe."""

    def send(self, *messages: BusMessage) -> None:
        """Send messages to the peer hosts without waiting for delivery."""
        if self._bus is not None:
            self._start_task(self._bus.send(*messages))

    def send_status(self, seats: Iterable[SeatState] = ()) -> None:
        """Send the status of those *seats* that belong to this host, and the list of observed seats."""
        if self._bus is not None:
            self.send(self.build_seat_changes(seats))

    def build_seat_changes(self, seats: Iterable[SeatState] = ()) -> SeatChanges:
        """Build the message with the status of those *seats* that belong to this host."""
        return SeatChanges(
            seats=tuple(
                SeatStatusNotice(
                    number=seat.number, acknowledged=seat.acknowledged, visit=seat.visit,
                    connected=seat.socket is not None and not seat.silent, tick=seat.tick,
                    frozen=seat.frozen, over=seat.over, hand=seat.hand, consent=seat.consent, held=seat.held,
                )
                for seat in seats
                if seat.host == self.own_name
            ),
            looks=tuple(sorted(self._observed_seats_by_host())),
        )  # fmt: skip

    def is_observed(self, number: int) -> bool:
        """Return whether a console of another host observes the seat."""
        return any(number in seats for seats in self._observed_by_peers.values())

    def process_message(self, message: BusMessage) -> set[int]:
        """Process a message of another host.

        Return the numbers of the seats that consoles of the other host have started or stopped observing.
        """
        self._last_message_s[message.host] = time.monotonic()
        if not isinstance(message, SeatChanges):
            return set()
        before, now_observed = self._observed_by_peers.get(message.host, set()), set(message.looks)
        self._observed_by_peers[message.host] = now_observed
        return now_observed ^ before

    async def monitor_hosts(self, on_seat_lost: Callable[[SeatState], object]) -> None:
        """Announce this host repeatedly, and detect hosts that have been silent for too long.

        *on_seat_lost* is called for each seat of such a host.
        """
        while True:
            self.send_status()
            await asyncio.sleep(KEEPALIVE_INTERVAL_S)
            now_s = time.monotonic()
            for host in [
                host
                for host, last_message_s in self._last_message_s.items()
                if now_s - last_message_s > HOST_TIMEOUT_S
            ]:
                del self._last_message_s[host]
                self._observed_by_peers.pop(host, None)
            for seat in self._seats.values():
                if seat.is_at_other_host and seat.host not in self._last_message_s:
                    seat.is_at_other_host = False
                    on_seat_lost(seat)
