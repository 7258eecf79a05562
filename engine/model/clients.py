"""Applications, the account of their databases, and what was done to the world."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from engine.model.times import Tick


class Query(Struct, frozen=True, kw_only=True, gc=False):
    """A query of an application that runs long and keeps Sch-S locks on what it reads."""

    server: str
    database: str
    since_tick: Tick
    end_tick: Tick


class Client(Struct, frozen=True, kw_only=True, gc=False):
    """A client application: where it connects and how it is doing."""

    name: str
    databases: tuple[str, ...]
    data_source: str
    failover_partner: str | None = None
    read_only: bool = False
    """ApplicationIntent=ReadOnly."""
    multi_subnet: bool = False
    """MultiSubnetFailover=True."""
    login_timeout_s: float = 15.0
    """Connect Timeout."""
    driver: str = ""
    """Its driver (engine/protocol/drivers.py); empty: one that does as the documentation of mirroring says."""
    command_timeout_s: float | None = None
    """Of its commands; 0: none. None: as its driver has it."""
    reconnects: bool = True
    """It logs in anew when it has lost its connections, or a login has failed."""
    kept_addresses: tuple[tuple[str, ...], Tick] = ((), 0)
    """Addresses of its listener that its computer keeps, and until when."""
    login: str = ""
    """Login of the application; empty: one that every server knows and lets in."""
    connected_to: str | None = None
    """Server that holds the open connections; None while it looks for one."""
    known_partner: str | None = None
    """Partner name that the server told at the last login."""
    attempt: int = 0
    login_since: Tick = 0
    """Time at which the current login began."""
    epoch: int = 0
    no_partner_at: str | None = None
    """Server that let it in by the partner's name and reported no partner; already told."""
    failed_logins: int = 0
    cut_connections: int = 0
    connected_tick: Tick = 0
    """Time at which its current connections were opened."""
    killed: tuple[tuple[int, Tick], ...] = ()
    """(session id, when) of its connections that KILL has ended since then; for each it has opened another."""
    lost_since: Tick | None = None
    query: Query | None = None
    """The long query that runs in its connection now."""


class NameRecord(Struct, frozen=True, kw_only=True, gc=False):
    """Record of a listener at the name server."""

    addresses: tuple[str, ...]
    online: str
    """The address that is online, or was last."""
    ttl_s: int
    """HostRecordTTL: so long clients keep the answer."""


class Program(Struct, frozen=True, kw_only=True, gc=False):
    """Results of the connections of a program outside of the simulation that a scenario asks about."""

    logins: int = 0
    """Let in."""
    refused: int = 0
    """Logins that were turned away."""
    lost: int = 0
    """Connections that were broken under it."""
    answers: int = 0
    """Batches that ended without an error."""
    errors: int = 0
    """Batches that ended with one."""
    answered_tick: Tick | None = None
    """Time at which the latest batch ended without an error."""
    longest_ticks: int = 0
    """The longest time between two answers."""
    server: str = ""
    """By which the latest batch was answered without an error."""
    moves: int = 0
    """Number of times that this server differed from the one before."""


class Fault(Struct, frozen=True, kw_only=True, gc=False):
    """One row of the fault ledger: four times and the effect that proves the fault took hold."""

    id: int
    verb: str
    args: tuple[str, ...]
    asked_tick: Tick
    active_tick: Tick
    effective_tick: Tick | None = None
    reverted_tick: Tick | None = None
    effect: str = ""
    """Text of the evidence for the fault; empty while there is none."""
    before: tuple[tuple[str, Any], ...] = ()
    """Values that reverting restores."""


class Availability(Struct, frozen=True, kw_only=True, gc=False):
    """Account of one database, kept in ticks by the protocol whenever something changes."""

    database: str
    since_tick: Tick = 0
    serving: bool = True
    exposed: bool = False
    down_ticks: int = 0
    exposed_ticks: int = 0
    lost_transactions: int = 0
    lost_kb: float = 0.0
