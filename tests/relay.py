"""Simulated network cable between a seat and its host, which forwards bytes until it is cut."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from types import TracebackType

CHUNK_BYTES = 65_536


class Relay:
    """Port on this computer that forwards to *port*. A cut stops all bytes, and can also reset all
    connections.
    """

    def __init__(self, port: int) -> None:
        self._target = ("127.0.0.1", port)
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listening.getsockname()[1])
        self._is_whole = threading.Event()
        self._is_whole.set()
        self._open: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def stop_bytes(self, closes_connections: bool) -> None:
        """Stop all bytes. With *closes_connections*, also reset the connections."""
        self._is_whole.clear()
        if closes_connections:
            self._close_all()

    def resume_bytes(self) -> None:
        """Forward bytes again. Stopped bytes arrive late."""
        self._is_whole.set()

    def _close_all(self) -> None:
        while self._open:
            connection = self._open.pop()
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()

    def _accept(self) -> None:
        while True:
            try:
                client_socket, _ = self._listening.accept()
            except OSError:
                return
            threading.Thread(target=self._connect, args=(client_socket,), daemon=True).start()

    def _connect(self, seat_socket: socket.socket) -> None:
        self._is_whole.wait()
        try:
            target_socket = socket.create_connection(self._target)
        except OSError:
            seat_socket.close()
            return
        self._open += (seat_socket, target_socket)
        threading.Thread(target=self._forward, args=(seat_socket, target_socket), daemon=True).start()
        self._forward(target_socket, seat_socket)

    def _forward(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(CHUNK_BYTES):
                self._is_whole.wait()
                target.sendall(data)
        for stream in (source, target):
            with suppress(OSError):
                stream.shutdown(socket.SHUT_RDWR)
                stream.close()

    def __enter__(self) -> Relay:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listening.close()
        self._close_all()
        self._is_whole.set()
