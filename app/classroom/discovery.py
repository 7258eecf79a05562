"""Discovery of a class on the network (mDNS, RFC 6762) by the fingerprint in its code. Needs the package zeroconf.

A seat still checks the certificate of the host that answers, so a wrong answer cannot mislead it. The
fingerprint is no secret.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import socket
from importlib.util import find_spec
from typing import Final

from app.classroom.code import address_of

SERVICE: Final = "_mirrordrill._tcp.local."
ANSWER_S: Final = 3.0
"""Wall time in which a host on the same network answers. Assumed: three queries of RFC 6762, 5.2."""
EVERYWHERE: Final = ("0.0.0.0", "::", "")

logger = logging.getLogger(__name__)


def is_installed() -> bool:
    return find_spec("zeroconf") is not None


async def announce(fingerprint: str, listening: str, address: str, port: int) -> None:
    """Answer to who asks for the class, until cancelled.

    *listening*: the address on which the host takes connections; *address*: by which others reach it.
    """
    if not is_installed():
        return
    from zeroconf import Error, InterfaceChoice, ServiceInfo
    from zeroconf.asyncio import AsyncZeroconf

    try:
        packed = socket.inet_pton(socket.AF_INET6 if ":" in address else socket.AF_INET, address)
        told = ServiceInfo(SERVICE, f"{fingerprint}.{SERVICE}", port=port, addresses=[packed])
        ways = InterfaceChoice.All if listening in EVERYWHERE else [listening]
        async with AsyncZeroconf(interfaces=ways) as network:
            await network.async_register_service(told, allow_name_change=True)  # several hosts of one class
            try:
                await asyncio.Event().wait()
            finally:
                await network.async_unregister_service(told)
    except (OSError, Error) as problem:  # the code with its address does without
        logger.info("the class is not announced: %s", problem)


async def find(fingerprint: str) -> str | None:
    """HOST:PORT of the class; None: no host has answered."""
    from zeroconf import Error, IPVersion
    from zeroconf.asyncio import AsyncZeroconf

    try:
        async with AsyncZeroconf() as network:
            name = f"{fingerprint}.{SERVICE}"
            told = await network.async_get_service_info(SERVICE, name, int(ANSWER_S * 1000))
    except (OSError, Error):
        return None
    if told is None or told.port is None:
        return None
    hosts = told.parsed_addresses(IPVersion.All)
    return address_of(hosts[0], told.port) if hosts else None


async def answers_itself() -> bool:
    """Return whether this computer can find its own announcement. A firewall may block it."""
    name = secrets.token_hex(6)
    announcing = asyncio.create_task(announce(name, "", "127.0.0.1", 1))
    found = await find(name)
    announcing.cancel()
    await asyncio.gather(announcing, return_exceptions=True)
    return found is not None
