"""Tests of malformed packets over a real socket: each is refused, and other connections are not affected."""

from __future__ import annotations

import asyncio
import random
import struct
from collections.abc import Iterator
from contextlib import suppress

from app.serve.login import PacketKind
from tests.app.serve.client import TRANSACTION_HEADER, build_login_body, connect
from tests.app.serve.test_sql_ports import encode_text, run_check, serve_site

PRELOGIN = bytes.fromhex("0000150006 0100 1b0001 02001c000c 0300280004 ff") + bytes(30)
ODD_NUMBERS = (-1, 0, 65_535, 2**31 - 1, -(2**31))
ODD_BYTES = (0, 1, 0x7F, 0x80, 0xFF)


def build_raw_packet(kind: int, body: bytes, status: int = 1, length: int | None = None) -> bytes:
    size = 8 + len(body) if length is None else length
    return struct.pack(">BBHHBB", kind & 0xFF, status, size & 0xFFFF, 0, 0, 0) + body


def encode_text_parameter(text: str) -> bytes:
    raw = text.encode("utf-16-le")
    return b"\0\0\xe7" + struct.pack("<H", 8000) + b"\x09\x04\xd0\x00\x34" + struct.pack("<H", len(raw)) + raw


def build_messages(password: str) -> list[tuple[int, bytes]]:
    """Return one valid message of each kind."""
    name = "sp_executesql".encode("utf-16-le")
    call = struct.pack("<H", len(name) // 2) + name + bytes(2) + encode_text_parameter("SELECT 1")
    return [
        (PacketKind.BATCH, TRANSACTION_HEADER + "SELECT 1".encode("utf-16-le")),
        (PacketKind.RPC, TRANSACTION_HEADER + call),
        (PacketKind.RPC, TRANSACTION_HEADER + b"\xff\xff\x0a\0\0\0" + encode_text_parameter("SELECT 1")),
        (PacketKind.LOGIN, build_login_body("sa", password)),
        (PacketKind.PRELOGIN, PRELOGIN),
        (PacketKind.ATTENTION, b""),
        (14, TRANSACTION_HEADER + struct.pack("<H", 5) + bytes(2)),
        (7, b"bulk"),
        (17, bytes(40)),
    ]


def damage_message(chance: random.Random, kind: int, body: bytes) -> bytes:
    """Return a damaged message: changed, truncated or added bytes, another type, or a wrong length."""
    data, length, status = bytearray(body), None, 1
    match chance.randrange(6):
        case 0:
            for _ in range(chance.randint(1, 6)):
                if data:
                    data[chance.randrange(len(data))] = chance.choice((*ODD_BYTES, chance.randrange(256)))
        case 1:
            del data[chance.randrange(len(data) + 1) :]
        case 2:
            data += chance.randbytes(chance.randint(1, 300))
        case 3 if len(data) > 4:
            offset = chance.randrange(len(data) - 4)
            data[offset : offset + 4] = struct.pack("<i", chance.choice(ODD_NUMBERS))
        case 4:
            kind, status = chance.randrange(256), chance.choice((0, 1, 8, 9, 0xFF))
        case _:
            length = chance.choice((0, 1, 7, 8, 9, 65_535))
    return build_raw_packet(kind, bytes(data), status, length)


def draw_attacks(password: str, count: int) -> Iterator[tuple[bool, bytes]]:
    """Yield *count* pairs: whether the client logs in first, and the bytes that it sends."""
    chance = random.Random(1)
    for _ in range(count):
        parts = [
            damage_message(chance, *chance.choice(build_messages(password)))
            for _ in range(chance.randint(1, 3))
        ]
        yield chance.random() < 0.5, b"".join(parts)
    long = "x" * 9_000
    yield False, build_raw_packet(PacketKind.LOGIN, build_login_body(long, long, long))
    yield (
        False,
        build_raw_packet(
            PacketKind.LOGIN, struct.pack("<I", 2**31 - 1) + build_login_body("sa", password)[4:]
        ),
    )
    yield False, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
    yield False, bytes(3)
    yield True, build_raw_packet(PacketKind.ATTENTION, b"") * 2_000


async def drop_connection(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with suppress(ConnectionError):
        await writer.wait_closed()


def test_malformed_packets_end_only_their_own_connection() -> None:
    problems: list[object] = []

    async def check_site() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: problems.append(context))
        async with serve_site("lab") as site:
            port, password = site.listener.ports["SERVER_A"], site.listener.password
            other_client = await site.connect("SERVER_A")
            for logs_in, data in draw_attacks(password, 60):
                if logs_in:
                    client = await connect(port, password)
                    reader, writer = client.reader, client.writer
                else:
                    reader, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(data)
                with suppress(TimeoutError, ConnectionError):
                    await asyncio.wait_for(reader.read(4_096), 0.002)
                await drop_connection(writer)
            assert encode_text("SERVER_A") in await other_client.send_batch("SELECT @@SERVERNAME")
            late_client = await site.connect("SERVER_A")
            assert encode_text("SERVER_A") in await late_client.send_batch("SELECT @@SERVERNAME")
            await asyncio.sleep(0.05)
            assert len(site.listener.sessions) <= 3

    run_check(check_site())
    assert not problems


def test_a_login_sent_byte_by_byte_delays_no_other_client() -> None:
    async def check_site() -> None:
        async with serve_site("lab") as site:
            port, password = site.listener.ports["SERVER_A"], site.listener.password
            slow = [await asyncio.open_connection("127.0.0.1", port) for _ in range(20)]
            whole_packet = build_raw_packet(PacketKind.LOGIN, build_login_body("sa", password))
            for index in range(30):
                for _, writer in slow:
                    writer.write(whole_packet[index : index + 1])
                await asyncio.sleep(0)
            client = await site.connect("SERVER_A")
            assert encode_text("SERVER_A") in await client.send_batch("SELECT @@SERVERNAME")
            for _, writer in slow:
                await drop_connection(writer)

    run_check(check_site())
