"""Endpoints, encryption, authentication and permissions: may two instances talk, and if not, why."""

from __future__ import annotations

from typing import Final

from engine.model import Endpoint, EndpointState, World

ENCRYPTION_FITS: Final = {
    ("DISABLED", "DISABLED"): True,
    ("DISABLED", "SUPPORTED"): True,
    ("DISABLED", "REQUIRED"): False,
    ("SUPPORTED", "SUPPORTED"): True,
    ("SUPPORTED", "REQUIRED"): True,
    ("REQUIRED", "REQUIRED"): True,
}
"""Either order. Documented [WP, DOC: CREATE ENDPOINT]."""


def open_for(world: World, a: str, b: str) -> bool:
    """Both instances have a started endpoint whose port no firewall closes (one open port is enough)."""
    ends = world.servers[a].endpoint, world.servers[b].endpoint
    if any(end is None or end.state is not EndpointState.STARTED for end in ends):
        return False
    return reachable_port(world, a) or reachable_port(world, b)


def reachable_port(world: World, server: str) -> bool:
    """The endpoint of *server* can be connected to from outside."""
    end = world.servers[server].endpoint
    return end is not None and end.port not in world.servers[server].blocked_ports


def encryption_fits(a: Endpoint, b: Endpoint) -> bool:
    """The two encryption settings allow a connection."""
    if not ENCRYPTION_FITS.get(
        (a.encryption, b.encryption), ENCRYPTION_FITS.get((b.encryption, a.encryption))
    ):
        return False
    clear = "DISABLED" in (a.encryption, b.encryption)
    return clear or bool(set(a.algorithms) & set(b.algorithms))


def encrypted(world: World, a: str, b: str) -> bool:
    """A connection between the two is encrypted."""
    ends = world.servers[a].endpoint, world.servers[b].endpoint
    return all(end is not None and end.encryption != "DISABLED" for end in ends)


def handshake(world: World, caller: str, acceptor: str) -> str | None:
    """None if a mirroring connection comes about, else the reason as the acceptor's ERRORLOG gives it."""
    if not open_for(world, caller, acceptor):
        return "The endpoint is not reachable."
    mine, theirs = world.servers[caller].endpoint, world.servers[acceptor].endpoint
    assert mine is not None and theirs is not None
    if not encryption_fits(mine, theirs):
        return "There is no compatible encryption algorithm. State 22."
    return None
