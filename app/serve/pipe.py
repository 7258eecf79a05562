"""Bytes of one connection in both directions, twice as fast as asyncio's streams."""

from __future__ import annotations

import asyncio
import ctypes
import socket
import struct
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Final, cast

from engine.overrides import override

HELD_MAX: Final = 262_144
"""Maximum unread bytes before the client's system must wait. Assumed: four full windows of TCP."""

SO_ATTACH_FILTER: Final = 26
SO_DETACH_FILTER: Final = 27
"""Options of a socket [Linux, include/uapi/asm-generic/socket.h]."""
PASS_NOTHING: Final = struct.pack("@HBBI", 0x06, 0, 0, 0)
"""Filter program of one instruction: BPF_RET | BPF_K, 0 bytes [Linux, include/uapi/linux/filter.h]."""


class Pipe(asyncio.Protocol):
    """Connection that one task at a time reads."""

    def __init__(self, accepted: Callable[[Pipe], object]) -> None:
        """Create a pipe; *accepted* is called when the connection exists."""
        self._accepted = accepted
        self._transport: asyncio.Transport | None = None
        self._received = bytearray()
        self._is_closed = False
        """True if no more data will arrive."""
        self._reading: asyncio.Future[None] | None = None
        self._room: asyncio.Future[None] | None = None
        """Set while the client accepts less than is sent."""

    # --- as asyncio calls it

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._accepted(self)

    @override
    def data_received(self, data: bytes) -> None:
        self._received += data
        if len(self._received) > HELD_MAX:
            self.transport.pause_reading()
        self._wake()

    @override
    def eof_received(self) -> bool:
        self.end()
        return True  # a client that has half-closed may still wait for the result

    @override
    def connection_lost(self, problem: Exception | None) -> None:
        self.end()
        self.resume_writing()

    @override
    def pause_writing(self) -> None:
        self._room = asyncio.get_running_loop().create_future()

    @override
    def resume_writing(self) -> None:
        room, self._room = self._room, None
        if room is not None and not room.done():
            room.set_result(None)

    # --- as a connection uses it

    @property
    def transport(self) -> asyncio.Transport:
        """Return the connection's transport."""
        assert self._transport is not None
        return self._transport

    async def read(self) -> bytes:
        """Return the received bytes; empty at the end of the connection."""
        while not self._received:
            if self._is_closed:
                return b""
            self._reading = asyncio.get_running_loop().create_future()
            try:
                await self._reading
            finally:
                self._reading = None
        data = bytes(self._received)
        self._received.clear()
        if len(data) > HELD_MAX and not self.transport.is_closing():
            self.transport.resume_reading()
        return data

    async def write(self, data: bytes) -> None:
        """Write bytes. Raises ConnectionResetError if the client is gone."""
        if self.transport.is_closing():
            raise ConnectionResetError
        self.transport.write(data)
        if self._room is not None:
            await self._room

    def end(self) -> None:
        """End the stream, so that the reader stops waiting."""
        self._is_closed = True
        self._wake()

    def close(self) -> None:
        """Close the connection."""
        self.transport.close()

    def drop_packets(self, dropped: bool) -> None:
        """Have the system drop what comes over this connection before it acknowledges it, or no longer.

        Only on Linux: a filter of the socket that passes no byte of a packet (man 7 socket, SO_ATTACH_FILTER). The
        client then sends again, and gives up as it does on a real network.
        """
        wire = self.transport.get_extra_info("socket")
        if sys.platform != "linux" or wire is None or self.transport.is_closing():
            return
        with suppress(OSError):  # the client has just disconnected
            if dropped:
                program = ctypes.create_string_buffer(PASS_NOTHING)
                address = ctypes.addressof(program)
                wire.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, struct.pack("@HP", 1, address))
            else:
                wire.setsockopt(socket.SOL_SOCKET, SO_DETACH_FILTER, 0)

    def reset(self) -> None:
        """Break the connection so that the client is told by its own system."""
        wire = self.transport.get_extra_info("socket")
        if wire is not None and not self.transport.is_closing():
            wire.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.transport.abort()

    def _wake(self) -> None:
        if self._reading is not None and not self._reading.done():
            self._reading.set_result(None)
