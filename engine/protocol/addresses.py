"""Network addresses of mirroring endpoints (`TCP://host:port`): their server, and whether it listens."""

from __future__ import annotations

import re
from typing import Final

from engine.messages import SqlError
from engine.model import World
from engine.protocol import errorlog, security

ADDRESS: Final = re.compile(r"tcp://(?P<host>[^:/\s]+|\[[0-9a-f:]+\]):(?P<port>\d{1,5})/?$", re.IGNORECASE)
NUMERIC: Final = re.compile(r"\d{1,3}(\.\d{1,3}){3}$")

NOBODY_LISTENS: Final = (
    "Connection attempt failed with error: '10061(No connection could be made because the target machine actively "
    "refused it.)'."
)
NO_SUCH_HOST: Final = "DNS lookup failed with error: '11001(No such host is known.)'."
"""Texts of error 2 of message 1474. The first was seen in logs, the second is from memory."""


def _match(address: str) -> re.Match[str]:
    match = ADDRESS.match(address.strip())
    if match is None:
        raise SqlError(1449)
    return match


def host_of(world: World, address: str) -> str | None:
    """Return the server that *address* names by short name, full name or number. Raise 1449 for an invalid address."""
    name = _match(address)["host"].lower()
    for server, instance in world.instances.items():
        if (
            name == server.lower()
            or name == security.own_ip(instance)
            or name.startswith(f"{server.lower()}.")
        ):
            return server
    return None


def leads_to(world: World, address: str | None, server: str) -> bool:
    """Return whether a call to *address* reaches the mirroring endpoint of *server*.

    *address* is None if none was set. A call by IP address reaches only an endpoint that listens on exactly that
    address (LISTENER_IP) [DOC: server network address].
    """
    if address is None:
        return True
    match = ADDRESS.match(address.strip())
    end = world.instances[server].endpoint
    if match is None or end is None or host_of(world, address) != server or int(match["port"]) != end.port:
        return False
    return NUMERIC.match(match["host"]) is None or match["host"] == end.ip


def log_dead_address(world: World, caller: str, address: str, *, explicit: bool = False) -> None:
    """Log 1474 at a caller whose address leads nowhere, once until its endpoint changes."""
    server = world.instances[caller]
    if (address, NOBODY_LISTENS) in server.refused and not explicit:
        return
    world.update_instance(caller, refused=(*server.refused, (address, NOBODY_LISTENS)))
    reason = NO_SUCH_HOST if host_of(world, address) is None else NOBODY_LISTENS
    errorlog.write(world, caller, 1474, 2, reason, address)
