"""Name resolution: the name server, client caches, and logins through a listener with several addresses.

[DOC: availability group listeners]

The name of a listener resolves to all its addresses or only to its online address. RegisterAllProvidersIP =
1, the default of SQL Server, selects all addresses. A client caches the answer for the time to live of the
record. A driver tries several addresses at once (MultiSubnetFailover=True) or one after the other.
"""

import math
from typing import Final

from msgspec.structs import replace

from engine.model import Client, NameRecord, Tick, World, to_ticks

TCP_CONNECT_TIMEOUT_S: Final = 21.0
"""Duration of a connection attempt to an unused address: three tries of 3, 6 and 12 s. Known Windows
behavior.
"""

NO_ADDRESSES: Final[tuple[tuple[str, ...], Tick]] = ((), 0)
"""`Client.kept_addresses` of a computer with an empty name cache."""


def register_name(world: World, listener: str, addresses: tuple[str, ...], online: str, ttl_s: int) -> None:
    """Register a network name with its *addresses* at the name server.

    The name is online at the address *online*.
    """
    world.records[listener] = NameRecord(addresses=addresses, online=online, ttl_s=ttl_s)


def resolve_name(world: World, client: Client, name: str) -> Client:
    """Return the client after its computer has resolved *name*, from its cache or by the name server."""
    record = world.records.get(name)
    if record is None or (client.kept_addresses[0] and world.tick < client.kept_addresses[1]):
        return client
    return replace(client, kept_addresses=(record.addresses, world.tick + to_ticks(record.ttl_s)))


def compute_dead_address_delay_s(world: World, client: Client, name: str) -> float:
    """Return the time that a login of *client* spends on unused addresses before it tries the online address.

    Infinite if it never tries that address. The name server returns the addresses in random order.
    """
    record = world.records.get(name)
    if record is None:
        return 0.0
    addresses = client.kept_addresses[0] or record.addresses
    is_present = world.listeners.get(name) is not None and record.online in addresses
    if client.multi_subnet:
        return 0.0 if record.online in addresses else math.inf
    if not is_present:
        return math.inf if len(record.addresses) > 1 or record.online not in addresses else 0.0
    return (
        int(world.chance.draw_uniform(0, len(addresses))) * TCP_CONNECT_TIMEOUT_S
        if len(addresses) > 1
        else 0.0
    )


def knows_online_address(world: World, client: Client, name: str) -> bool:
    """Return whether the addresses that *client* knows for *name* include its online address."""
    record = world.records.get(name)
    return record is None or record.online in (client.kept_addresses[0] or record.addresses)


def flush_name_cache(world: World, client: str) -> None:
    """Clear the name cache on the computer of an application (ipconfig /flushdns)."""
    world.clients[client] = replace(world.clients[client], kept_addresses=NO_ADDRESSES)
