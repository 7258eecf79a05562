"""Minimal client of TDS 7.4 for tests without a driver."""

from __future__ import annotations

import asyncio
import struct

from app.serve.login import END_OF_MESSAGE, PACKET_HEADER, PacketKind, build_packet

TRANSACTION_HEADER = struct.pack("<IIHQI", 22, 18, 2, 0, 1)
READ_ONLY = 0x20
"""Flag fReadOnlyIntent in the type flags of LOGIN7."""


def build_login_body(user: str, password: str, database: str = "", read_only: bool = False) -> bytes:
    """Return the body of a LOGIN7 message."""
    hidden = bytes(((byte << 4 | byte >> 4) & 0xFF) ^ 0xA5 for byte in password.encode("utf-16-le"))
    texts = [text.encode("utf-16-le") for text in ("host", user, "", "test", "", "", "raw", "", database)]
    texts[2] = hidden
    heads, data = b"", b""
    for raw in texts:
        heads += struct.pack("<HH", 94 + len(data), len(raw) // 2)
        data += raw
    end = struct.pack("<HH", 94 + len(data), 0)
    flags = bytes([0, 0, READ_ONLY if read_only else 0, 0])
    fixed = struct.pack("<IIIII", 0x74000004, 4096, 7, 1, 0) + flags + struct.pack("<iI", 0, 0x409)
    body = fixed + heads + bytes(6) + 3 * end + bytes(4) + data
    return struct.pack("<I", len(body) + 4) + body


class Client:
    """Connection to the server. The attribute `welcome` is the response to the login, even if the login
    fails.
    """

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer
        self.welcome = b""

    async def send_batch(self, text: str) -> bytes:
        """Send a batch, and return the tokens of the response. Raise ConnectionError if the connection ends."""
        return await self.send_packet(
            build_packet(PacketKind.BATCH, TRANSACTION_HEADER + text.encode("utf-16-le"))
        )

    async def send_packet(self, raw: bytes) -> bytes:
        self.writer.write(raw)
        return await self.read_response()

    async def read_response(self) -> bytes:
        body = b""
        while True:
            try:
                head = await self.reader.readexactly(PACKET_HEADER.size)
            except asyncio.IncompleteReadError:
                raise ConnectionResetError from None
            _, status, length, *_ = PACKET_HEADER.unpack(head)
            body += await self.reader.readexactly(length - PACKET_HEADER.size)
            if status & END_OF_MESSAGE:
                return body

    def close(self) -> None:
        self.writer.close()


async def connect(port: int, password: str, database: str = "", read_only: bool = False) -> Client:
    client = Client(*await asyncio.open_connection("127.0.0.1", port))
    client.welcome = await client.send_packet(
        build_packet(PacketKind.LOGIN, build_login_body("sa", password, database, read_only))
    )
    return client
