"""Applications, availability accounts of databases, and the fault ledger."""

from msgspec import Struct

from engine.model.times import Tick


class Query(Struct, frozen=True, kw_only=True, gc=False):
    """Long query of an application, which keeps Sch-S locks on the tables that it reads."""

    server: str
    database: str
    since_tick: Tick
    end_tick: Tick


class Client(Struct, frozen=True, kw_only=True, gc=False):
    """Client application: its connection and its state."""

    name: str
    databases: tuple[str, ...]
    data_source: str
    failover_partner: str | None = None
    read_only: bool = False
    """True for ApplicationIntent=ReadOnly."""
    multi_subnet: bool = False
    """True for MultiSubnetFailover=True."""
    login_timeout_s: float = 15.0
    """Connect Timeout."""
    driver: str = ""
    """Driver (engine/protocol/drivers.py); empty means the algorithm in the documentation of mirroring."""
    command_timeout_s: float | None = None
    """Command timeout; 0 means none. None means the default of the driver."""
    reconnects: bool = True
    """True if the application logs in again after a lost connection or a failed login."""
    kept_addresses: tuple[tuple[str, ...], Tick] = ((), 0)
    """Listener addresses in the name cache of the application's computer, and the tick until which they are valid."""
    login: str = ""
    """Login of the application; empty means a login that every server knows and accepts."""
    connected_to: str | None = None
    """Server of the open connections; None while the application searches for one."""
    known_partner: str | None = None
    """Partner name that the server reported at the last login."""
    attempt: int = 0
    login_since: Tick = 0
    """Time at which the current login began."""
    epoch: int = 0
    no_partner_at: str | None = None
    """Server at which the driver asked for its partner and learned that it has none; set after this was logged."""
    failed_logins: int = 0
    cut_connections: int = 0
    connected_tick: Tick = 0
    """Time at which the current connections began."""
    killed: tuple[tuple[int, Tick], ...] = ()
    """(session id, time) of connections that KILL has ended since then. The application opened a new one for each."""
    lost_since: Tick | None = None
    query: Query | None = None
    """Long query that runs in one of the application's connections."""


class NameRecord(Struct, frozen=True, kw_only=True, gc=False):
    """Record of a listener in DNS."""

    addresses: tuple[str, ...]
    online: str
    """Address that is online, or was online last."""
    ttl_s: int
    """HostRecordTTL: time for which clients cache the answer, in seconds."""


class Program(Struct, frozen=True, kw_only=True, gc=False):
    """Results of the connections of an external program. Scenario conditions read them."""

    logins: int = 0
    """Accepted logins."""
    refused: int = 0
    """Refused logins."""
    lost: int = 0
    """Connections that broke."""
    answers: int = 0
    """Batches that ended without an error."""
    errors: int = 0
    """Batches that ended with an error."""
    answered_tick: Tick | None = None
    """Time of the latest batch without an error."""
    longest_ticks: int = 0
    """Longest time between two answers, in ticks."""
    server: str = ""
    """Server that answered the latest batch without an error."""
    moves: int = 0
    """Number of changes of that server."""


class Fault(Struct, frozen=True, kw_only=True, gc=False):
    """Row of the fault ledger: four times of the fault, and the evidence of its effect."""

    id: int
    verb: str
    args: tuple[str, ...]
    asked_tick: Tick
    active_tick: Tick
    effective_tick: Tick | None = None
    reverted_tick: Tick | None = None
    effect: str = ""
    """Evidence of the fault; empty while there is none."""
    before: tuple[tuple[str, object], ...] = ()
    """Values that a revert restores."""


class Availability(Struct, frozen=True, kw_only=True, gc=False):
    """Account of one database, in ticks. The protocol updates it at every change."""

    database: str
    since_tick: Tick = 0
    serving: bool = True
    servers: tuple[str, ...] = ()
    """Servers that have served since the outage began; two if a second copy was recovered."""
    exposed: bool = False
    down_ticks: int = 0
    exposed_ticks: int = 0
    lost_transactions: int = 0
    lost_kb: float = 0.0
