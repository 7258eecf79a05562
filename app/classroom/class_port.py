"""Listening socket of a class. Connections that have not joined yet cannot block it. No Qt."""

from __future__ import annotations

import socket
from collections import Counter
from contextlib import suppress
from typing import Final

from app.files.folders import raise_file_limit
from engine.overrides import override

JOINING_MAX: Final = 2_000
"""Maximum number of connections that have not sent a first message yet.

At the limit, the next connection replaces the oldest one of the address with the most connections. Assumed:
all seats of the largest class connect at the same time.
"""
RESERVED_FILES: Final = 2_200
"""Number of file descriptors reserved for seats, consoles and the program itself."""


class _AcceptedConnection(socket.socket):
    """Accepted connection. After it is closed, it no longer counts as joining."""

    port: ClassPort | None = None

    def close(self) -> None:
        if self.port is not None:
            self.port.remove_joining(self.fileno())
        super().close()


class ClassPort(socket.socket):
    """Listening socket that limits the number of connections that are joining."""

    joining: dict[int, tuple[_AcceptedConnection, str]]
    """Connections without a first message, oldest first: file descriptor -> connection and its address."""
    joining_max = JOINING_MAX

    @classmethod
    def from_socket(cls, listening: socket.socket) -> ClassPort:
        """Return a class port that takes over the file descriptor of *listening*. *listening* is detached."""
        port = cls(listening.family, listening.type, listening.proto, listening.detach())
        port.joining = {}
        port.joining_max = max(
            100, min(JOINING_MAX, raise_file_limit(JOINING_MAX + RESERVED_FILES) - RESERVED_FILES)
        )
        return port

    @override
    def accept(self) -> tuple[socket.socket, object]:
        plain_socket, address = super().accept()
        connection = _AcceptedConnection(
            plain_socket.family, plain_socket.type, plain_socket.proto, plain_socket.detach()
        )
        connection.port = self
        if len(self.joining) >= self.joining_max:
            self._close_oldest_connection()
        self.joining[connection.fileno()] = (connection, str(address[0]))
        return connection, address

    def remove_joining(self, number: int) -> None:
        """Stop counting the connection with file descriptor *number* as joining.

        Either a seat or console owns it now, or it is closed.
        """
        self.joining.pop(number, None)

    def _close_oldest_connection(self) -> None:
        (busiest_address, _), *_ = Counter(address for _, address in self.joining.values()).most_common(1)
        number, (oldest, _) = next(entry for entry in self.joining.items() if entry[1][1] == busiest_address)
        del self.joining[number]
        with suppress(OSError):  # the other end has just disconnected
            oldest.shutdown(socket.SHUT_RDWR)
