"""Tests of transport problems and limits: lost packets, and limits that are reported as SQL Server reports
them.
"""

from __future__ import annotations

import asyncio
import ctypes
import socket
import struct
import sys
import time

import pytest

from app.cli.command_helpers import UsageError
from app.cli.serve import set_version
from app.files import scenario_files
from app.serve import sql_ports
from app.serve.login import (
    END_OF_MESSAGE,
    LOGIN_BYTES_MAX,
    MESSAGE_BYTES_MAX,
    PACKET_HEADER,
    PACKET_SIZE_MAX,
    MalformedPacketError,
    MessageAssembler,
    PacketKind,
    build_packet,
)
from app.serve.tds_transport import DROP_FILTER, SO_ATTACH_FILTER
from engine.drill.running.drill import Drill
from tests.app.serve.client import TRANSACTION_HEADER, build_login_body, connect
from tests.app.serve.test_sql_ports import ServedRun, encode_text, run_check, serve_site

TCP_USER_TIMEOUT = 18
needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux filters packets of a socket")


def can_filter_packets() -> bool:
    """Return whether this user may attach a filter to a socket. Hardened kernels reserve this for root."""
    if sys.platform != "linux":
        return False
    program = ctypes.create_string_buffer(DROP_FILTER)
    with socket.socket() as probe:
        try:
            filters = struct.pack("@HP", 1, ctypes.addressof(program))
            probe.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, filters)
        except PermissionError:
            return False
    return True


needs_filter = pytest.mark.skipif(not can_filter_packets(), reason="this user may not filter packets")


def encode_error(number: int) -> bytes:
    return struct.pack("<i", number)


def build_big_batch(size: int) -> bytes:
    """Return a batch of about *size* bytes, as packets."""
    body = TRANSACTION_HEADER + "SELECT 1 --".encode("utf-16-le") + b"x\0" * (size // 2)
    step = PACKET_SIZE_MAX - PACKET_HEADER.size
    packet_bytes = bytearray()
    for offset in range(0, len(body), step):
        part = body[offset : offset + step]
        packet_bytes += PACKET_HEADER.pack(
            PacketKind.BATCH,
            END_OF_MESSAGE if offset + step >= len(body) else 0,
            PACKET_HEADER.size + len(part),
            0,
            0,
            0,
        )
        packet_bytes += part
    return bytes(packet_bytes)


async def open_socket(site: ServedRun, name: str) -> socket.socket:
    """Return the socket of a connection after its login."""
    loop = asyncio.get_running_loop()
    sock = socket.socket()
    sock.setblocking(False)
    await loop.sock_connect(sock, ("127.0.0.1", site.listener.ports[name]))
    await loop.sock_sendall(
        sock, build_packet(PacketKind.LOGIN, build_login_body("sa", site.listener.password))
    )
    assert await loop.sock_recv(sock, 65_536)
    return sock


async def receive_bytes(client: socket.socket) -> bytes:
    return await asyncio.wait_for(asyncio.get_running_loop().sock_recv(client, 65_536), 10)


@needs_filter
@pytest.mark.parametrize("fault", ["power-off SERVER_A", "pull-cable SERVER_A"])
def test_a_connection_to_a_dead_computer_is_ended_only_by_the_client(fault: str) -> None:
    async def check_site() -> None:
        async with serve_site("lab") as site:
            alive, probed, sending = [
                await open_socket(site, name) for name in ("SERVER_B", "SERVER_A", "SERVER_A")
            ]
            for client in (alive, probed):
                client.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
                for option in (socket.TCP_KEEPIDLE, socket.TCP_KEEPINTVL, socket.TCP_KEEPCNT):
                    client.setsockopt(socket.IPPROTO_TCP, option, 1)
            sending.setsockopt(socket.IPPROTO_TCP, TCP_USER_TIMEOUT, 1_000)
            assert site.host.apply_input(fault)
            await site.listener.update_ports()
            start_s = time.monotonic()
            await asyncio.get_running_loop().sock_sendall(sending, build_packet(PacketKind.BATCH, b""))
            for client in (probed, sending):
                with pytest.raises(TimeoutError) as error:
                    await receive_bytes(client)
                assert error.value.errno is not None, "the system of the client has ended it"
            assert time.monotonic() - start_s < 8
            with pytest.raises(TimeoutError) as second_error:
                await asyncio.wait_for(asyncio.get_running_loop().sock_recv(alive, 1), 0.1)
            assert second_error.value.errno is None, "the other server answers"
            for client in (alive, probed, sending):
                client.close()

    run_check(check_site())


@needs_linux
@pytest.mark.parametrize("verbs", [("power-off", "power-on"), ("pull-cable", "plug-cable")])
def test_after_the_computer_returns_an_old_connection_is_reset(verbs: tuple[str, str]) -> None:
    async def check_site() -> None:
        async with serve_site("lab") as site:
            old = await open_socket(site, "SERVER_A")
            assert site.host.apply_input(f"{verbs[0]} SERVER_A")
            await site.listener.update_ports()
            await asyncio.get_running_loop().sock_sendall(old, build_packet(PacketKind.BATCH, b""))
            assert site.host.apply_input(f"{verbs[1]} SERVER_A")
            await site.advance_run(80)
            with pytest.raises(ConnectionResetError):
                await receive_bytes(old)
            old.close()

    run_check(check_site())


def test_a_connection_over_the_limit_is_refused_with_a_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sql_ports, "LOGGED_IN_CONNECTIONS_MAX", 3)

    async def check_site() -> None:
        async with serve_site("lab") as site:
            for _ in range(3):
                assert encode_error(17809) not in (await site.connect("SERVER_A")).welcome
            late_client = await site.connect("SERVER_B", "")
            assert encode_error(17809) in late_client.welcome
            assert encode_text("the maximum number of '3' user connections") in late_client.welcome
            with pytest.raises(ConnectionError):
                await late_client.send_batch("SELECT 1")
            site.clients[0].close()
            await asyncio.sleep(0.05)
            assert encode_error(17809) not in (await site.connect("SERVER_A")).welcome

    run_check(check_site())


def test_silent_connections_block_no_other_client(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sql_ports, "PENDING_LOGINS_MAX", 20)

    async def check_site() -> None:
        async with serve_site("lab") as site:
            silent = [
                await asyncio.open_connection("127.0.0.1", site.listener.ports["SERVER_A"]) for _ in range(60)
            ]
            assert encode_text("SERVER_A") in await (await site.connect("SERVER_A")).send_batch(
                "SELECT @@SERVERNAME"
            )
            assert len(site.listener.sessions) <= 21
            for _, writer in silent:
                writer.close()

    run_check(check_site())


def test_a_batch_that_is_too_large_returns_an_error() -> None:
    async def check_site() -> None:
        async with serve_site("lab") as site:
            client = await site.connect("SERVER_A")
            assert encode_error(701) in await client.send_packet(build_big_batch(MESSAGE_BYTES_MAX + 100_000))
            assert encode_text("SERVER_A") in await client.send_batch("SELECT @@SERVERNAME"), (
                "the connection goes on"
            )

    run_check(check_site())


def test_data_before_the_login_is_limited() -> None:
    whole_body = build_big_batch(LOGIN_BYTES_MAX + 100_000)
    with pytest.raises(MalformedPacketError):
        MessageAssembler().add_bytes(whole_body)


def test_attention_packets_of_one_client_delay_no_other_client() -> None:
    async def check_site() -> None:
        async with serve_site("lab") as site:
            reader, writer = await asyncio.open_connection("127.0.0.1", site.listener.ports["SERVER_A"])
            writer.write(build_packet(PacketKind.LOGIN, build_login_body("sa", site.listener.password)))
            await reader.read(65_536)
            other_client = await connect(site.listener.ports["SERVER_A"], site.listener.password)
            writer.write(build_packet(PacketKind.ATTENTION, b"") * 20_000)
            await asyncio.sleep(0)
            answered = 0

            async def read() -> None:
                nonlocal answered
                while data := await reader.read(65_536):
                    answered += len(data)

            reading = asyncio.create_task(read())
            assert encode_text("SERVER_A") in await other_client.send_batch("SELECT @@SERVERNAME")
            assert answered < 20_000 * 10, "it has waited for all of them"
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)
            writer.close()
            other_client.close()

    run_check(check_site())


def test_instances_can_have_different_versions() -> None:
    for name in ("lab", "ag-lab", "fci-lab"):
        world = Drill(set_version(scenario_files.find_scenario_file(name).load(), 2022)).world
        assert {instance.version for instance in world.instances.values()} == {2022}
    with pytest.raises(UsageError, match="1999"):
        set_version(scenario_files.find_scenario_file("lab").load(), 1999)
