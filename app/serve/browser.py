r"""SQL Server Browser: gives clients of `127.0.0.1\SERVER_A` the port of an instance [MC-SQLR 2.2]."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Callable, Mapping
from typing import Final

from engine.overrides import override

PORT: Final = 1434
"""UDP port that clients query. They use no other port. Documented."""
TO_ALL, TO_ONE, NAMED = 0x02, 0x03, 0x04
"""CLNT_BCAST_EX, CLNT_UCAST_EX: all instances; CLNT_UCAST_INST: the instance named in the request."""
ANSWER: Final = 0x05
NAME_MAX: Final = 32
"""Maximum bytes of an instance's name in a request."""

Known = Mapping[str, tuple[int, str]]
"""Port and product version (9.00.5000.00) of each running instance, by name."""


def encode_answer(request: bytes, instances: Known) -> bytes:
    """Encode the response to a *request*; empty if the request is invalid or names an unknown instance."""
    kind, name = request[:1], request[1:].partition(b"\0")[0].decode("ascii", "replace")
    if kind == bytes([NAMED]) and 0 < len(name) <= NAME_MAX:
        instances = {one: told for one, told in instances.items() if one.lower() == name.lower()}
    elif request not in (bytes([TO_ALL]), bytes([TO_ONE])):
        return b""
    told = "".join(
        f"ServerName;LOCALHOST;InstanceName;{one};IsClustered;No;Version;{version};tcp;{port};;"
        for one, (port, version) in instances.items()
    ).encode()
    return bytes([ANSWER]) + struct.pack("<H", len(told)) + told if told else b""


class Browser(asyncio.DatagramProtocol):
    """UDP service that answers on a port of this computer while it is open."""

    def __init__(self, known: Callable[[], Known]) -> None:
        self._instances = known
        self._transport: asyncio.DatagramTransport | None = None

    @property
    def answers(self) -> bool:
        """Return whether the browser answers on its port."""
        return self._transport is not None

    async def open(self, host: str, port: int = PORT) -> int:
        """Answer from now on; returns the port. Raises OSError."""
        loop = asyncio.get_running_loop()
        self._transport, _ = await loop.create_datagram_endpoint(lambda: self, local_addr=(host, port))
        return int(self._transport.get_extra_info("sockname")[1])

    @override
    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        said = encode_answer(data, self._instances())
        if said and self._transport is not None:
            self._transport.sendto(said, addr)

    def close(self) -> None:
        """Close the port."""
        if self._transport is not None:
            self._transport.close()
