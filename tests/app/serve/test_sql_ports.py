"""Tests of ports that behave as their instances and listeners, with a run in the same event loop."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import pytest

from app.files import scenario_files
from app.host import NullRecorder, RunHost
from app.serve.service import list_addresses
from app.serve.sql_ports import PortState, SqlPorts, get_port_state
from app.serve.tds_types import DATABASE, LANGUAGE, encode_environment, encode_routing
from engine.drill.running.drill import Drill
from tests.app.serve.client import Client, connect
from tests.events import read_field


class ServedRun:
    """Run with its ports and connected clients."""

    def __init__(self, name: str) -> None:
        self.host = RunHost(clock=lambda: 0.0)
        self.host.open_run(Drill(scenario_files.find_scenario_file(name).load(), 1), NullRecorder())
        self.host.inbox.wake = self.host.process_inbox
        self.host.play()
        self.listener = SqlPorts(self.host)
        self.clients: list[Client] = []

    async def connect(self, name: str, database: str = "Sales", read_only: bool = False) -> Client:
        port, password = self.listener.ports[name], self.listener.password
        self.clients.append(await connect(port, password, database, read_only))
        return self.clients[-1]

    async def advance_run(self, seconds: float) -> None:
        """Advance simulated time, and update the ports."""
        assert self.host.live_drill is not None
        end_s = self.host.live_drill.world.t_s + seconds
        while self.host.live_drill.world.t_s < end_s:
            self.host.on_frame(250.0)
            await self.listener.update_ports()
            await asyncio.sleep(0)

    async def close(self) -> None:
        for client in self.clients:
            client.close()
        await self.listener.close()


@asynccontextmanager
async def serve_site(name: str) -> AsyncIterator[ServedRun]:
    site = ServedRun(name)
    await site.listener.open_ports(0)
    yield site
    await site.close()


def run_check(test: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(test, 30))


def encode_text(text: str) -> bytes:
    return text.encode("utf-16-le")


def test_the_port_of_a_listener_follows_its_group() -> None:
    async def check_site() -> None:
        async with serve_site("ag-lab") as site:
            addresses_read: Any = list_addresses(site.listener)
            assert set(addresses_read["listeners"]) == {"AGL1"}
            assert set(addresses_read["servers"]) == {"NODE_1", "NODE_2", "NODE_3"}
            reads = await site.connect("AGL1", read_only=True)
            assert encode_routing("127.0.0.1", site.listener.ports["NODE_3"]) in reads.welcome
            with pytest.raises(ConnectionError):
                # Read-only routing redirects the client to another server.
                await reads.send_batch("SELECT 1")
            client = await site.connect("AGL1")
            assert encode_text("NODE_1") in await client.send_batch("SELECT @@SERVERNAME")
            aside = await site.connect("AGL1", database="")
            assert site.host.apply_input("move-role AG1 NODE_2")
            await site.advance_run(20)
            # the listener's address has left the server, so every connection ends
            for old in (client, aside):
                with pytest.raises(ConnectionError):
                    await old.send_batch("SELECT 1")
            client = await site.connect("AGL1")
            assert encode_text("NODE_2") in await client.send_batch("SELECT @@SERVERNAME")
            assert site.host.live_drill is not None
            routed_events = [
                e
                for e in site.host.live_drill.events
                if e.kind == "session" and read_field(e, "what") == "routed"
            ]
            assert [read_field(event, "to") for event in routed_events] == ["NODE_3"]

    run_check(check_site())


def test_a_listener_without_a_node_is_silent_until_it_has_one() -> None:
    async def check_site() -> None:
        async with serve_site("ag-lab") as site:
            assert site.host.apply_input("power-off NODE_1")
            await site.advance_run(2)
            assert get_port_state(site.listener.world, "AGL1") is PortState.UNREACHABLE
            waiting = asyncio.ensure_future(site.connect("AGL1"))
            await site.advance_run(2)
            assert not waiting.done()
            await site.advance_run(30)
            assert encode_text("NODE_2") in await (await waiting).send_batch("SELECT @@SERVERNAME")

    run_check(check_site())


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux drops what a full queue does not take")
def test_a_computer_without_power_neither_accepts_nor_refuses_connections() -> None:
    async def check_site() -> None:
        async with serve_site("lab") as site:
            assert site.host.apply_input("power-off SERVER_A")
            await site.listener.update_ports()
            port = site.listener.ports["SERVER_A"]
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(asyncio.open_connection("127.0.0.1", port), 0.2)
            assert site.host.apply_input("power-on SERVER_A")
            await site.advance_run(80)
            assert encode_text("SERVER_A") in await (await site.connect("SERVER_A", "")).send_batch(
                "SELECT @@SERVERNAME"
            )

    run_check(check_site())


def test_a_failover_cluster_instance_keeps_its_port() -> None:
    async def check_site() -> None:
        async with serve_site("fci-lab") as site:
            client = await site.connect("SQLFCI1")
            name = "SELECT SERVERPROPERTY('ComputerNamePhysicalNetBIOS')"
            assert encode_text("NODE_1") in await client.send_batch(name)
            assert site.host.apply_input("move-role SQLFCI1 NODE_2")
            await site.advance_run(40)
            with pytest.raises(ConnectionError):
                await client.send_batch(name)
            client = await site.connect("SQLFCI1")
            assert encode_text("NODE_2") in await client.send_batch(name)

    run_check(check_site())


def test_changes_of_language_and_database_are_sent_as_environment_changes() -> None:
    async def check_site() -> None:
        async with serve_site("lab") as site:
            client = await site.connect("SERVER_A")
            token = encode_environment(LANGUAGE, "Deutsch", "us_english")
            assert token in await client.send_batch("SET LANGUAGE German")
            answer = await client.send_batch("USE master")
            assert token not in answer
            assert encode_environment(DATABASE, "master", "Sales") in answer

    run_check(check_site())


def test_a_paused_run_is_silent_and_responds_after_it_continues() -> None:
    async def check_site() -> None:
        async with serve_site("lab") as site:
            client = await site.connect("SERVER_A")
            site.host.pause()
            await site.listener.update_ports()
            waiting = asyncio.ensure_future(client.send_batch("SELECT 1"))
            coming = asyncio.ensure_future(site.connect("SERVER_B", database=""))
            await asyncio.sleep(0.05)
            assert not waiting.done()
            assert not coming.done()
            assert site.host.live_drill is not None
            assert site.host.live_drill.journal[-1].verb == "connect"  # a paused run executes nothing
            site.host.play()
            await site.listener.update_ports()
            assert await waiting
            assert (await coming).welcome

    run_check(check_site())
