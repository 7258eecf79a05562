"""Signals of a host to its guests, emitted in the host's thread in the order of the events. Without Qt."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

Said = TypeVar("Said")


class HostSignal(Generic[Said]):
    """Signal of one kind; a listener receives everything emitted after its connection."""

    def __init__(self) -> None:
        self._guests: list[Callable[[Said], object]] = []

    def connect(self, guest: Callable[[Said], object]) -> None:
        """Connect a listener."""
        self._guests.append(guest)

    def disconnect(self, guest: Callable[[Said], object]) -> None:
        """Disconnect a listener. Raises ValueError for one that was not connected."""
        self._guests.remove(guest)

    def emit(self, message: Said) -> None:
        """Tell every guest; one that leaves meanwhile is told once more at most."""
        for guest in tuple(self._guests):
            guest(message)
