"""Parallel connection attempts to the addresses of a class. The first host with the right certificate is used."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

from app.classroom import certificate
from app.classroom.join_code import Invitation
from app.classroom.messages.codec import CLIENT_MESSAGE_BYTES_MAX, SEAT_PING_INTERVAL_S
from app.words.language import tr

DIAL_STAGGER_INTERVAL_S: Final = 0.25
"""Wall time after which the attempt to connect to the next address starts [RFC 8305, 5]."""


class WrongHostError(Exception):
    """Error for a server whose certificate does not match the join code."""


def build_connection(address: str) -> connect:
    """Build a connection to HOST:PORT. The caller must compare the certificate afterwards."""
    return connect(
        f"wss://{address}/",
        ssl=certificate.create_seat_context(),
        proxy=None,  # not needed, because the class is on the local network
        compression=None,
        max_size=CLIENT_MESSAGE_BYTES_MAX,
        ping_interval=SEAT_PING_INTERVAL_S,
        ping_timeout=SEAT_PING_INTERVAL_S,
        open_timeout=10.0,
        close_timeout=1.0,
    )


async def dial(addresses: Sequence[str], invitation: Invitation) -> ClientConnection:
    """Connect to the host of the class.

    Raises:
        WrongHostError: every address answered, but none with the certificate of the host.
        OSError: *addresses* is empty, or no host was found and at least one address did not answer.
    """

    async def connect_to(number: int, address: str) -> ClientConnection:
        await asyncio.sleep(number * DIAL_STAGGER_INTERVAL_S)
        socket = await build_connection(address)
        if certificate.has_expected_certificate(socket.transport.get_extra_info("ssl_object"), invitation):
            return socket
        await socket.close()
        raise WrongHostError(address)

    attempts = [asyncio.create_task(connect_to(*numbered)) for numbered in enumerate(addresses)]
    connection: ClientConnection | None = None
    failures = 0
    try:
        for attempt in asyncio.as_completed(attempts):
            try:
                connection = await attempt
                return connection
            except WrongHostError:
                failures += 1
            except (OSError, TimeoutError, WebSocketException):
                pass
    finally:
        for attempt_task in attempts:
            attempt_task.cancel()
        for outcome in await asyncio.gather(*attempts, return_exceptions=True):
            if isinstance(outcome, ClientConnection) and outcome is not connection:
                with suppress(OSError, WebSocketException):
                    await outcome.close()
    if addresses and failures == len(addresses):
        hosts = ", ".join(address.rpartition(":")[0] for address in addresses)
        raise WrongHostError(
            tr(
                "This code does not match the class at {address}. Compare it with the instructor's screen; "
                "a letter may be wrong"
            ).format(address=hosts)
        )
    raise ConnectionError(", ".join(addresses))
