"""Generated values of type uniqueidentifier: an object has the same value in every run and on every server."""

import hashlib
from functools import lru_cache


@lru_cache(maxsize=1024)
def make_unique_id(*parts: object) -> str:
    """Return a value of type uniqueidentifier that depends only on *parts*."""
    digits = hashlib.blake2b(repr(parts).encode(), digest_size=16).hexdigest().upper()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def make_group_id(guid: int) -> str:
    """Return the id of an availability group. *guid*: its number in `World.groups`."""
    return make_unique_id("availability group", guid)


def make_replica_id(guid: int, server: str) -> str:
    """Return the id of an availability replica. *guid*: number of its group."""
    return make_unique_id("replica", guid, server)


def make_seeding_id(guid: int, server: str, number: int) -> str:
    """Return the id of a seeding attempt at one of the two replicas.

    *guid*: number of the availability group. *server*: server of the replica. *number*: number of the
    attempt.
    """
    return make_unique_id("seeding", guid, server, number)


def make_group_database_id(number: int) -> str:
    """Return the id of a database in its availability group, which is the same on all replicas.

    *number*: AvailabilityMembership.database_guid.
    """
    return make_unique_id("group database", number)
