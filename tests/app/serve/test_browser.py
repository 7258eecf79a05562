"""Tests of SQL Server Browser, which returns the port of an instance."""

from __future__ import annotations

import asyncio

import pytest

from app.serve.sql_ports import SqlBrowser, encode_browser_response

INSTANCES = {"SERVER_A": (14331, "9.00.5000.00"), "SERVER_B": (14332, "9.00.5000.00")}
SERVER_A_RECORD = (
    b"ServerName;LOCALHOST;InstanceName;SERVER_A;IsClustered;No;Version;9.00.5000.00;tcp;14331;;"
)


def test_an_instance_is_found_by_its_name_in_any_case() -> None:
    assert (
        encode_browser_response(b"\x04server_a\0", INSTANCES)
        == b"\x05" + bytes([len(SERVER_A_RECORD), 0]) + SERVER_A_RECORD
    )


def test_a_request_for_all_instances_lists_all() -> None:
    assert encode_browser_response(b"\x03", INSTANCES).count(b"InstanceName") == 2
    assert encode_browser_response(b"\x02", INSTANCES) == encode_browser_response(b"\x03", INSTANCES)


@pytest.mark.parametrize(
    "request_", [b"", b"\x04", b"\x04NOBODY\0", b"\x0f\x01SERVER_A", b"\x03more", b"GET /"]
)
def test_unknown_requests_get_no_response(request_: bytes) -> None:
    assert encode_browser_response(request_, INSTANCES) == b""


def test_the_browser_service_responds_on_its_port() -> None:
    async def request_instances() -> bytes:
        browser, answer = SqlBrowser(lambda: INSTANCES), asyncio.get_running_loop().create_future()

        class RequestProtocol(asyncio.DatagramProtocol):
            def datagram_received(self, data: bytes, addr: object) -> None:
                answer.set_result(data)

        port = await browser.open("127.0.0.1", 0)
        asking, _ = await asyncio.get_running_loop().create_datagram_endpoint(
            RequestProtocol, remote_addr=("127.0.0.1", port)
        )
        asking.sendto(b"\x04SERVER_A\0")
        async with asyncio.timeout(10):
            reply: bytes = await answer
        asking.close()
        browser.close()
        return reply

    assert SERVER_A_RECORD in asyncio.run(request_instances())
