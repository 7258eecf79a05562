"""Computers and the network between them, without SQL Server."""

from __future__ import annotations

from msgspec import Struct


class Volume(Struct, frozen=True, kw_only=True, gc=False):
    """Drive of a server."""

    letter: str
    size_kb: float


class Computer(Struct, frozen=True, kw_only=True, gc=False):
    """Computer with its network, firewall and local volumes, without SQL Server."""

    name: str
    cores: int = 8
    site: str = "nec"
    """Name of the hardware in flow/sites.py."""
    domain: str = "CORP"
    powered: bool = True
    shutting_down: bool = False
    """True while the operating system shuts down."""
    nic_up: bool = True
    """False while all network cables are pulled."""
    blocked_ports: tuple[int, ...] = ()
    """Ports that the firewall closes to incoming connections."""
    used_ports: tuple[int, ...] = (1433,)
    """Ports that other programs already use."""
    volumes: tuple[Volume, ...] = ()
    """Drives with a size limit. C, D and L exist without an entry and have no limit; others must be listed."""
    failed_drives: tuple[str, ...] = ()
    """Letters of drives that are lost until somebody repairs them."""
    log_disk_factor: float = 1.0
    data_disk_factor: float = 1.0
    cpu_factor: float = 1.0
    """Slowdown factors of injected faults; 1 is healthy."""


class Link(Struct, frozen=True, kw_only=True, gc=False):
    """Network from one server (or client) to another, in one direction."""

    up: bool = True
    """False: carrier lost; the network stacks at both ends report it."""
    passing: bool = True
    """False: packets are dropped without a report."""
    rtt_ms: float = 0.2
    jitter_ms: float = 0.0
    loss: float = 0.0
    bandwidth_mbps: float = 1000.0
