"""Discovery of a class on the network (mDNS, RFC 6762) by the fingerprint in its join code.

Needs the package zeroconf. A seat still checks the certificate of the host that answers, so a wrong answer
cannot mislead it. The fingerprint is public.
"""

import asyncio
import logging
import secrets
import socket
import time
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Final

from app.classroom.addresses import WILDCARD_ADDRESSES
from app.classroom.join_code import format_address

MDNS_SERVICE_TYPE: Final = "_mirrordrill._tcp.local."
SEARCH_TIMEOUT_S: Final = 3.0
"""Maximum wall time of a search. Assumed: enough for three queries [RFC 6762, 5.2]."""
QUERY_TIMEOUT_MS: Final = 700
"""Time limit of one query. Assumed."""

logger = logging.getLogger(__name__)


def is_installed() -> bool:
    """Return whether the package zeroconf is installed."""
    return find_spec("zeroconf") is not None


async def announce_class(fingerprint: str, listen_address: str, addresses: Sequence[str], port: int) -> None:
    """Answer mDNS queries for the class until canceled.

    Args:
        fingerprint: public part of the join code.
        listen_address: address on which the host accepts connections.
        addresses: addresses at which other computers reach the host. If empty, only this computer reaches it.
        port: TCP port of the host.
    """
    if not is_installed():
        return
    from zeroconf import Error, InterfaceChoice, ServiceInfo
    from zeroconf.asyncio import AsyncZeroconf

    try:
        packed = [
            socket.inet_pton(socket.AF_INET6 if ":" in address else socket.AF_INET, address)
            for address in addresses or ["127.0.0.1"]
        ]
        service = ServiceInfo(
            MDNS_SERVICE_TYPE, f"{fingerprint}.{MDNS_SERVICE_TYPE}", port=port, addresses=packed
        )
        interfaces = InterfaceChoice.All if listen_address in WILDCARD_ADDRESSES else [listen_address]
        async with AsyncZeroconf(interfaces=interfaces) as network:
            # Several hosts of one class announce the same name, so zeroconf may have to change it.
            await network.async_register_service(service, allow_name_change=True)
            try:
                await asyncio.Event().wait()
            finally:
                await network.async_unregister_service(service)
    except (
        OSError,
        Error,
    ) as problem:  # not fatal, because join codes with an address work without discovery
        logger.info("the class is not announced: %s", problem)


async def find_addresses(fingerprint: str) -> list[str]:
    """Return the addresses of the class as HOST:PORT as soon as any is known; empty if no host answers.

    The addresses are read from the cache after each query. The reply object is not used, because it
    omits addresses that arrived before the host name. The service browser of zeroconf also finds a
    service that was renamed.
    """
    from zeroconf import Error, IPVersion
    from zeroconf.asyncio import AsyncServiceBrowser, AsyncServiceInfo, AsyncZeroconf

    names = {f"{fingerprint}.{MDNS_SERVICE_TYPE}"}

    def add_name(name: str, **_: object) -> None:
        if name.startswith(fingerprint):
            names.add(name)

    async def resolve(network: AsyncZeroconf, name: str) -> list[str]:
        service_info = AsyncServiceInfo(MDNS_SERVICE_TYPE, name)
        if not service_info.load_from_cache(network.zeroconf):
            await service_info.async_request(network.zeroconf, QUERY_TIMEOUT_MS)
        service = AsyncServiceInfo(MDNS_SERVICE_TYPE, name)
        service.load_from_cache(network.zeroconf)
        hosts = service.parsed_addresses(IPVersion.V4Only) or service.parsed_addresses()
        return [format_address(host, service.port) for host in hosts if service.port is not None]

    deadline_s = time.monotonic() + SEARCH_TIMEOUT_S
    try:
        async with AsyncZeroconf() as network:
            browser = AsyncServiceBrowser(network.zeroconf, MDNS_SERVICE_TYPE, handlers=[add_name])
            try:
                while True:
                    services = [
                        address
                        for addresses in await asyncio.gather(
                            *(resolve(network, name) for name in sorted(names))
                        )
                        for address in addresses
                    ]
                    if services or time.monotonic() >= deadline_s:
                        return list(dict.fromkeys(services))
                    await asyncio.sleep(QUERY_TIMEOUT_MS / 10_000)
            finally:
                await browser.async_cancel()
    except (OSError, Error):
        return []


async def can_find_own_service() -> bool:
    """Return whether this computer finds a service that it announces itself. A firewall may prevent this."""
    name = secrets.token_hex(6)
    announcing = asyncio.create_task(announce_class(name, "", ["127.0.0.1"], 1))
    answers = await find_addresses(name)
    announcing.cancel()
    await asyncio.gather(announcing, return_exceptions=True)
    return bool(answers)
