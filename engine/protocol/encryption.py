"""Encryption of a whole database (TDE): its key, and the certificate that every server needs to open it [DOC: TDE].

The encryption scan takes no simulated time.
"""

from __future__ import annotations

from typing import Final

from engine.constants import ENTERPRISE
from engine.messages import Message, SqlError
from engine.model import Instance, World
from engine.protocol import security, statements

STANDARD_HAS_IT: Final = 2019
"""First version in which Standard edition encrypts as well [DOC: editions and supported features of 2019]."""


def create_key(world: World, server: str, database: str, certificate: str) -> list[Message]:
    """Create the encryption key of a database, protected by a server certificate. Raise 15151, 33103 or 33117."""
    copy = statements.copy_on(world, server, database)
    here = world.instances[server]
    if here.edition not in ENTERPRISE and here.version < STANDARD_HAS_IT:
        raise SqlError(33117)
    if copy.group_kind:
        raise SqlError(0, "Not simulated: an encryption key for a database that is mirrored or in a group")
    if copy.encryption_key:
        raise SqlError(33103)
    found = security.certificate_of(here, certificate)
    if found is None:
        raise SqlError(15151, "find", "certificate", certificate)
    world.update_copy(copy.key, encryption_key=found.thumbprint)
    return []


def set_encryption(world: World, key: tuple[str, str], value: str) -> None:
    """Turn the encryption of a database on or off. Raise 33106, 33107 or 33108."""
    copy, on = world.copies[key], value == "ON"
    if copy.group_kind:
        raise SqlError(0, "Not simulated: SET ENCRYPTION of a database that is mirrored or in a group")
    if not copy.encryption_key:
        raise SqlError(33106, also=(5069,))
    if copy.encrypted is on:
        raise SqlError(33107 if on else 33108, also=(5069,))
    world.update_copy(key, encrypted=on)


def thumbprint(number: int) -> bytes:
    """Return the thumbprint as sys.certificates shows it."""
    return (number & (2**160 - 1)).to_bytes(20, "big")


def need_key(instance: Instance, number: int, title: str) -> None:
    """Raise 33111 if the private key of the certificate *number* is missing; 0: the backup needs none.

    A backup of a database with an encryption key needs the certificate even while encryption is off.
    """
    missing = missing_certificate(instance, number)
    if missing is not None:
        raise SqlError(*missing, also=(3013,), title=title, state=3)


def missing_certificate(instance: Instance, number: int) -> tuple[int, str, str] | None:
    """Return 33111 with its arguments if the server lacks the certificate *number*, 0 for none, or its private key."""
    if not number or any(one.thumbprint == number and one.has_private_key for one in instance.certificates):
        return None
    return 33111, "certificate", f"0x{thumbprint(number).hex().upper()}"


def protects(world: World, server: str, number: int) -> bool:
    """Return whether the certificate protects the key of a database on *server*."""
    return any(copy.encryption_key == number for copy in world.copies.values() if copy.server == server)
