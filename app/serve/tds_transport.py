"""Transport of TDS packets over one connection. TLS is below or inside the packets [MS-TDS 3.2.5.1].

The client chooses the kind of TLS.
"""

from __future__ import annotations

import asyncio
import ctypes
import socket
import ssl
import struct
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Final, cast

from msgspec import Struct

from app.files import tls_certificate
from app.serve.login import MalformedPacketError, PacketKind, build_packet, build_packets
from engine.overrides import override

READ_BYTES: Final = 65_536
STRICT_PROTOCOL: Final = "tds/8.0"
"""Protocol name (ALPN) in the TLS handshake of a TDS 8.0 client."""
TLS_FIRST_BYTE: Final = 0x16
"""First byte of a connection that starts with TLS. Other connections start with the type of a packet."""


class TlsContexts(Struct, frozen=True):
    """TLS contexts of the instances, with their certificate. All instances of a run share one certificate."""

    certificate: str
    """Certificate in PEM, for clients that verify it."""
    prelogin_context: ssl.SSLContext
    """Context for TLS inside PRELOGIN packets.

    Its maximum is TLS 1.2, the newest that drivers support there (measured).
    """
    strict_context: ssl.SSLContext
    """Context for TDS 8.0, in which the connection starts with TLS."""


def create_tls_contexts(address: str) -> TlsContexts:
    """Create a certificate and TLS contexts for clients that connect to *address*."""
    certificate, key = tls_certificate.create_certificate("Mirrordrill simulated SQL Server", [address])
    context = tls_certificate.create_server_context(certificate, key, ssl.TLSVersion.TLSv1_2)
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    strict = tls_certificate.create_server_context(certificate, key, ssl.TLSVersion.TLSv1_2)
    strict.set_alpn_protocols([STRICT_PROTOCOL])
    return TlsContexts(certificate, context, strict)


class TdsTransport:
    """Transport of one connection: it sends packets and receives bytes, with or without TLS."""

    def __init__(self, pipe: SocketStream) -> None:
        self._pipe = pipe
        self._tls: ssl.SSLObject | None = None
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()

    async def read(self) -> bytes:
        """Return the received bytes; empty at the end of the connection. Raises MalformedPacketError."""
        if self._tls is None:
            return await self._pipe.read()
        while True:
            try:
                return self._tls.read(READ_BYTES)
            except ssl.SSLWantReadError:
                data = await self._pipe.read()
                if not data:
                    return b""
                self._incoming.write(data)
            except ssl.SSLError as problem:
                raise MalformedPacketError(f"TLS: {problem.reason}") from None

    async def send(self, body: bytes, size: int, spid: int) -> None:
        """Send a response in packets of at most *size* bytes. With TLS, each packet is one record."""
        data = build_packets(body, size, spid)
        if self._tls is not None:
            for index in range(0, len(data), size):
                self._tls.write(data[index : index + size])
            data = self._outgoing.read()
        await self._pipe.write(data)

    async def begin_tls(self, context: ssl.SSLContext, in_prelogin: bool, initial_bytes: bytes = b"") -> None:
        """Perform the TLS handshake, inside PRELOGIN packets if *in_prelogin* is True.

        *initial_bytes*: bytes that have already arrived. Raises MalformedPacketError.
        """
        tls = context.wrap_bio(self._incoming, self._outgoing, server_side=True)
        waiting = bytearray(initial_bytes)
        while True:
            self._incoming.write(_unpack_prelogin_packets(waiting) if in_prelogin else bytes(waiting))
            if not in_prelogin:
                waiting.clear()
            try:
                tls.do_handshake()
                is_over = True
            except ssl.SSLWantReadError:
                is_over = False
            except ssl.SSLError as problem:
                raise MalformedPacketError(f"TLS: {problem.reason}") from None
            output = self._outgoing.read()
            if output:
                await self._pipe.write(build_packet(PacketKind.PRELOGIN, output) if in_prelogin else output)
            if is_over:
                break
            data = await self._pipe.read()
            if not data:
                raise MalformedPacketError("the connection ended during the TLS handshake")
            waiting += data
        # bytes after the last packet of the handshake already belong to TLS
        self._incoming.write(bytes(waiting))
        self._tls = tls

    def end_tls(self) -> None:
        """End TLS after the login, if only the login is encrypted."""
        self._tls = None

    @property
    def is_encrypted(self) -> bool:
        """Return whether the connection is encrypted."""
        return self._tls is not None

    def end_input(self) -> None:
        """End the received stream, so that `read` returns."""
        self._pipe.end_input()

    def close(self) -> None:
        """Close the connection."""
        self._pipe.close()

    def drop_packets(self, enabled: bool) -> None:
        """Start or stop dropping packets, as if the cable between client and server were unplugged."""
        self._pipe.drop_packets(enabled)

    def reset(self) -> None:
        """Reset the TCP connection. The operating system of the client then reports that it is lost."""
        self._pipe.reset()


def _unpack_prelogin_packets(waiting: bytearray) -> bytes:
    """Remove the complete PRELOGIN packets from *waiting*, and return their content. Raises MalformedPacketError."""
    output = bytearray()
    while len(waiting) >= 8 and waiting[0] == PacketKind.PRELOGIN:
        (length,) = struct.unpack_from(">H", waiting, 2)
        if length < 8:
            raise MalformedPacketError(f"invalid packet length of {length} bytes")
        if len(waiting) < length:
            break
        output += waiting[8:length]
        del waiting[:length]
    if waiting and waiting[0] not in (PacketKind.PRELOGIN, 0x17):  # 0x17 is TLS application data
        raise MalformedPacketError(f"unexpected packet of type {waiting[0]:#04x} during the TLS handshake")
    return bytes(output)


UNREAD_BYTES_MAX: Final = 262_144
"""Maximum number of unread bytes before the client must wait. Assumed: four full TCP windows."""

SO_ATTACH_FILTER: Final = 26
SO_DETACH_FILTER: Final = 27
"""Socket options that attach and detach a filter [Linux, include/uapi/asm-generic/socket.h]."""
DROP_FILTER: Final = struct.pack("@HBBI", 0x06, 0, 0, 0)
"""Socket filter with one instruction: BPF_RET | BPF_K, 0 bytes [Linux, include/uapi/linux/filter.h]."""


class SocketStream(asyncio.Protocol):
    """Byte stream of one socket. Only one task at a time may read from it."""

    def __init__(self, on_connected: Callable[[SocketStream], object]) -> None:
        """Create a pipe. *on_connected* is called when the connection is established."""
        self._accepted = on_connected
        self._transport: asyncio.Transport | None = None
        self._received = bytearray()
        self._is_closed = False
        """True if no more data will arrive."""
        self._reading: asyncio.Future[None] | None = None
        self._write_resumed: asyncio.Future[None] | None = None
        """Future that completes when the client accepts more data; None while the client accepts data."""

    # --- as asyncio calls it

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._accepted(self)

    @override
    def data_received(self, data: bytes) -> None:
        self._received += data
        if len(self._received) > UNREAD_BYTES_MAX:
            self.transport.pause_reading()
        self._wake()

    @override
    def eof_received(self) -> bool:
        self.end_input()
        return True  # True keeps the connection open: the client may still wait for the result

    @override
    def connection_lost(self, problem: Exception | None) -> None:
        self.end_input()
        self.resume_writing()

    @override
    def pause_writing(self) -> None:
        self._write_resumed = asyncio.get_running_loop().create_future()

    @override
    def resume_writing(self) -> None:
        room, self._write_resumed = self._write_resumed, None
        if room is not None and not room.done():
            room.set_result(None)

    # --- as a connection uses it

    @property
    def transport(self) -> asyncio.Transport:
        """Return the asyncio transport of the connection."""
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
        if len(data) > UNREAD_BYTES_MAX and not self.transport.is_closing():
            self.transport.resume_reading()
        return data

    async def write(self, data: bytes) -> None:
        """Write bytes. Raises ConnectionResetError if the client has disconnected."""
        if self.transport.is_closing():
            raise ConnectionResetError
        self.transport.write(data)
        if self._write_resumed is not None:
            await self._write_resumed

    def end_input(self) -> None:
        """End the received stream, so that the reader stops waiting."""
        self._is_closed = True
        self._wake()

    def close(self) -> None:
        """Close the connection."""
        self.transport.close()

    def drop_packets(self, enabled: bool) -> None:
        """Start or stop dropping incoming packets of this connection, which are then not acknowledged.

        This works on Linux only, with a socket filter that passes no byte (man 7 socket, SO_ATTACH_FILTER).
        The client then sends its packets again and gives up, as on a real network.
        """
        wire = self.transport.get_extra_info("socket")
        if sys.platform != "linux" or wire is None or self.transport.is_closing():
            return
        with suppress(OSError):  # the client has just disconnected
            if enabled:
                program = ctypes.create_string_buffer(DROP_FILTER)
                address = ctypes.addressof(program)
                wire.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, struct.pack("@HP", 1, address))
            else:
                wire.setsockopt(socket.SOL_SOCKET, SO_DETACH_FILTER, 0)

    def reset(self) -> None:
        """Reset the TCP connection. The operating system of the client then reports that it is lost."""
        wire = self.transport.get_extra_info("socket")
        if wire is not None and not self.transport.is_closing():
            wire.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.transport.abort()

    def _wake(self) -> None:
        if self._reading is not None and not self._reading.done():
            self._reading.set_result(None)
