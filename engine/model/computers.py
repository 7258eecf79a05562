"""Machines and the network between them; nothing of SQL Server."""

from __future__ import annotations

from msgspec import Struct


class Volume(Struct, frozen=True, kw_only=True, gc=False):
    """A drive of a server."""

    letter: str
    size_kb: float


class Computer(Struct, frozen=True, kw_only=True, gc=False):
    """A machine with its network, firewall and local volumes; it knows nothing of SQL Server."""

    name: str
    cores: int = 8
    site: str = "nec"
    """Name of the hardware in flow/sites.py."""
    domain: str = "CORP"
    powered: bool = True
    shutting_down: bool = False
    """The operating system is on its way down."""
    nic_up: bool = True
    """False while all network cables are pulled."""
    blocked_ports: tuple[int, ...] = ()
    """Ports that the firewall closes to incoming connections."""
    used_ports: tuple[int, ...] = (1433,)
    """Ports on which something else listens already."""
    volumes: tuple[Volume, ...] = ()
    """Drives whose size counts. C, D and L exist without this, as large as need be; others only if listed."""
    failed_drives: tuple[str, ...] = ()
    """Letters of drives that are lost until they are mended."""
    log_disk_factor: float = 1.0
    data_disk_factor: float = 1.0
    cpu_factor: float = 1.0
    """Slow-down factors of injected faults; 1 is healthy."""


class Link(Struct, frozen=True, kw_only=True, gc=False):
    """The network from one server (or client) to another, one direction."""

    up: bool = True
    """False: carrier lost, both ends are told by their network stack."""
    passing: bool = True
    """False: packets vanish in silence."""
    rtt_ms: float = 0.2
    jitter_ms: float = 0.0
    loss: float = 0.0
    bandwidth_mbps: float = 1000.0
