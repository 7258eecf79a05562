"""Client applications, availability of databases, and faults."""

from msgspec import Struct

from engine.model.times import Tick


class Query(Struct, frozen=True, kw_only=True, gc=False):
    """Long query of an application. It holds Sch-S (schema stability) locks on the tables that it reads."""

    server: str
    database: str
    since_tick: Tick
    end_tick: Tick


class Client(Struct, frozen=True, kw_only=True, gc=False):
    """Client application: its connection string and the state of its connections."""

    name: str
    databases: tuple[str, ...]
    data_source: str
    failover_partner: str | None = None
    read_only: bool = False
    """True for ApplicationIntent=ReadOnly."""
    multi_subnet: bool = False
    """True for MultiSubnetFailover=True."""
    login_timeout_s: float = 15.0
    """Connect Timeout of the connection string."""
    driver: str = ""
    """Name of the application's driver (engine/protocol/drivers.py).

    Empty means the documented algorithm for mirroring.
    """
    command_timeout_s: float | None = None
    """Command timeout. 0 means no timeout, None means the default of the driver."""
    reconnects: bool = True
    """True if the application retries after a lost connection or a failed login."""
    kept_addresses: tuple[tuple[str, ...], Tick] = ((), 0)
    """(addresses of the listener in the name cache of the application's computer, tick until which they are
    valid).
    """
    login: str = ""
    """Login of the application; empty means a login that every server knows and accepts."""
    connected_to: str | None = None
    """Server to which the application is connected; None if it is not connected."""
    known_partner: str | None = None
    """Partner name that the server reported at the last login."""
    attempt: int = 0
    login_since: Tick = 0
    """Time at which the current login began."""
    epoch: int = 0
    no_partner_at: str | None = None
    """Server at which the driver last aborted a login, because it had no partner or an unsupported one.

    The error is reported only once for the same server.
    """
    failed_logins: int = 0
    cut_connections: int = 0
    connected_tick: Tick = 0
    """Time at which the current connections began."""
    killed: tuple[tuple[int, Tick], ...] = ()
    """(session ID, time) of each connection that KILL has ended since the application connected.

    The application has opened a new connection for each.
    """
    lost_since: Tick | None = None
    query: Query | None = None
    """Long query that runs in one of the application's connections."""


class NameRecord(Struct, frozen=True, kw_only=True, gc=False):
    """DNS record of a listener."""

    addresses: tuple[str, ...]
    online: str
    """Address that is online, or that was online last."""
    ttl_s: int
    """HostRecordTTL: time for which clients cache the record, in seconds."""


class Program(Struct, frozen=True, kw_only=True, gc=False):
    """External program that logs in to the servers: statistics of its connections.

    Conditions in scenarios can test them.
    """

    logins: int = 0
    """Number of accepted logins."""
    refused: int = 0
    """Number of refused logins."""
    lost: int = 0
    """Number of broken connections."""
    answers: int = 0
    """Number of batches that ended without an error."""
    errors: int = 0
    """Number of batches that ended with an error."""
    answered_tick: Tick | None = None
    """Time of the latest batch without an error."""
    longest_ticks: int = 0
    """Longest time between two batches without an error, in ticks."""
    server: str = ""
    """Server that executed the latest batch without an error."""
    moves: int = 0
    """Number of changes of *server*."""


class Fault(Struct, frozen=True, kw_only=True, gc=False):
    """Entry of the fault ledger: a fault, its times and the evidence of its effect.

    The times say when the fault was requested, active, effective and reverted.
    """

    id: int
    verb: str
    args: tuple[str, ...]
    asked_tick: Tick
    active_tick: Tick
    effective_tick: Tick | None = None
    reverted_tick: Tick | None = None
    effect: str = ""
    """Evidence that the fault is effective; empty while there is none."""
    before: tuple[tuple[str, object], ...] = ()
    """Values that a revert restores."""


class Availability(Struct, frozen=True, kw_only=True, gc=False):
    """Downtime, unprotected time and lost transactions of one database. Times are in ticks.

    The protocol updates the values at every change.
    """

    database: str
    since_tick: Tick = 0
    serving: bool = True
    servers: tuple[str, ...] = ()
    """Servers that served the database at the last update. Two servers mean that a second copy was opened."""
    exposed: bool = False
    down_ticks: int = 0
    exposed_ticks: int = 0
    lost_transactions: int = 0
    lost_kb: float = 0.0
