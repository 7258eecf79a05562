"""Addresses at which other computers reach this computer: one or more per network interface, never loopback."""

import ipaddress
import re
import socket
from contextlib import suppress
from importlib.util import find_spec
from typing import Final, NamedTuple

WILDCARD_ADDRESSES: Final = ("0.0.0.0", "::", "")
"""Listening addresses that mean all addresses of this computer."""
JOIN_CODE_ADDRESSES_MAX: Final = 4
"""Maximum number of addresses in a join code. Assumed: cable, Wi-Fi, and one or two tunnels."""
_VIRTUAL_INTERFACE_PATTERN: Final = re.compile(
    r"docker|br-|veth|virbr|vmnet|vboxnet|vethernet|virtual|tun|tap|wg|utun|ppp|vpn", re.I
)


class InterfaceAddress(NamedTuple):
    """Address of a network interface of this computer."""

    interface: str
    address: str


def list_addresses() -> list[InterfaceAddress]:
    """Return the IPv4 addresses of this computer's interfaces, the most likely reachable ones first."""
    interfaces = _read_interfaces()
    preferred = _find_default_address()

    def compute_rank(interface: InterfaceAddress) -> tuple[bool, bool, bool]:
        link_local = ipaddress.ip_address(interface.address).is_link_local
        return (
            bool(_VIRTUAL_INTERFACE_PATTERN.search(interface.interface)),
            link_local,
            interface.address != preferred,
        )

    usable = {interface.address: interface for interface in interfaces if _is_usable(interface.address)}
    return sorted(usable.values(), key=compute_rank)


def list_reachable_addresses(address: str) -> list[str]:
    """Return the addresses at which other computers reach a program that listens at *address*."""
    if address not in WILDCARD_ADDRESSES:
        return [address]
    return [address.address for address in list_addresses()][:JOIN_CODE_ADDRESSES_MAX]


def _is_usable(address: str) -> bool:
    ip_address = ipaddress.ip_address(address)
    return ip_address.version == 4 and not (
        ip_address.is_loopback or ip_address.is_unspecified or ip_address.is_multicast
    )


def _read_interfaces() -> list[InterfaceAddress]:
    if find_spec("ifaddr") is not None:  # zeroconf installs this package
        import ifaddr

        return [
            InterfaceAddress(adapter.nice_name, ip.ip)
            for adapter in ifaddr.get_adapters()
            for ip in adapter.ips
            if isinstance(ip.ip, str)
        ]
    names = [_find_default_address()]
    with suppress(OSError):
        names += socket.gethostbyname_ex(socket.gethostname())[2]
    return [InterfaceAddress("", name) for name in names if name]


def _find_default_address() -> str:
    """Return the address of the interface with the default route; empty if there is no default route."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing: the system only selects the interface [RFC 5737]
            return str(probe.getsockname()[0])
        except OSError:
            return ""


def select_port(address: str, preferred: int) -> int:
    """Return *preferred*, or 0 (any free port) if another program already listens on *preferred*."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        socket.create_server((address, preferred), family=family).close()
    except OSError:
        return 0
    return preferred
