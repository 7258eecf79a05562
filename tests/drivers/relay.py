"""Relay between a client and a port of `mirrordrill serve`, which detects the encryption of the connection."""

from __future__ import annotations

import asyncio
import struct
import threading
from contextlib import suppress
from typing import Final

from app.serve.login import PACKET_HEADER, EncryptionOption, PacketKind, read_prelogin
from app.serve.tds_transport import TLS_FIRST_BYTE

HOST: Final = "127.0.0.1"
ENCRYPTION_NAMES: Final = {
    EncryptionOption.NONE: "none",
    EncryptionOption.LOGIN: "login",
    EncryptionOption.ON: "all",
}
"""Encryption in the server's PRELOGIN response -> name. A connection that begins with TLS is `strict`."""


class Relay:
    """Relay on a free port that runs until the target refuses connections.

    The attribute `way` is the encryption of the latest connection.
    """

    def __init__(self, port: int) -> None:
        """Start a relay to *port*."""
        self.port, self.way, self._to = 0, "", port
        ready = threading.Event()
        threading.Thread(target=lambda: asyncio.run(self._serve(ready)), daemon=True).start()
        ready.wait(10)

    async def _serve(self, ready: threading.Event) -> None:
        self._server = await asyncio.start_server(self._connect, HOST, 0)
        self.port = self._server.sockets[0].getsockname()[1]
        ready.set()
        await asyncio.Event().wait()

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            server_reader, server_writer = await asyncio.open_connection(HOST, self._to)
        except OSError:
            self._server.close()
        else:
            with suppress(OSError):
                await asyncio.gather(
                    self._pump(reader, server_writer, asks=True),
                    self._pump(server_reader, writer, asks=False),
                )
        writer.transport.abort()

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, asks: bool) -> None:
        first = True
        try:
            while data := await reader.read(65_536):
                if first:
                    self._detect_encryption(data, asks)
                first = False
                writer.write(data)
                await writer.drain()
        finally:
            writer.close()

    def _detect_encryption(self, data: bytes, asks: bool) -> None:
        """Determine the encryption from the first bytes that the client or the server sends."""
        if asks and data[0] == TLS_FIRST_BYTE:
            self.way = "strict"
        elif asks:
            # A connection of TDS 8.0 begins with TLS, without a PRELOGIN.
            self.way = "none" if data[0] == PacketKind.LOGIN else ""
        elif not self.way:
            with suppress(ValueError, struct.error):
                self.way = ENCRYPTION_NAMES.get(
                    EncryptionOption(read_prelogin(data[PACKET_HEADER.size :])[0]), ""
                )
