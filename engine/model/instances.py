"""Instances of SQL Server: service, endpoint, logins, jobs, and the content of their system databases."""

from msgspec import Struct, field

from engine.model.states import EndpointState, Service
from engine.model.times import Tick


class Endpoint(Struct, frozen=True, kw_only=True, gc=False):
    """Database mirroring endpoint of an instance."""

    name: str = "Mirroring"
    port: int = 5022
    ip: str = "ALL"
    state: EndpointState = EndpointState.STARTED
    role: str = "ALL"
    """PARTNER, WITNESS or ALL."""
    encryption: str = "REQUIRED"
    """DISABLED, SUPPORTED or REQUIRED."""
    algorithms: tuple[str, ...] = ("RC4",)
    """Encryption algorithms in the order of preference."""
    authentication: str = "WINDOWS NEGOTIATE"
    certificate: str | None = None
    owner: str = "sa"
    granted: tuple[str, ...] = ()
    """Logins with CONNECT permission."""


class Login(Struct, frozen=True, kw_only=True, gc=False):
    """Login of an instance: a SQL login, a Windows login, or a login mapped to a certificate."""

    name: str
    sid: int
    """Security identifier. It maps the login to the database users with the same SID, on any server."""
    kind: str = "SQL"
    """SQL, WINDOWS or CERTIFICATE."""
    password: str | None = None
    disabled: bool = False
    default_database: str = "master"
    default_language: str = ""
    """Default language as in sys.server_principals; empty means the server's default."""
    check_policy: bool = True
    check_expiration: bool = False


class User(Struct, frozen=True, kw_only=True, gc=False):
    """Database user.

    Users of master (certificate owners) belong to the server; all others are replicated with the log.
    """

    name: str
    database: str
    sid: int


class Certificate(Struct, frozen=True, kw_only=True, gc=False):
    """Certificate of an instance, either created there or imported."""

    name: str
    thumbprint: int
    subject: str
    valid_from_tick: Tick
    expires_tick: Tick
    owner: str = "dbo"
    has_private_key: bool = True


class Job(Struct, frozen=True, kw_only=True, gc=False):
    """Job of SQL Server Agent."""

    name: str
    enabled: bool = True
    database: str | None = None
    action: str = ""
    """Task that the simulation runs for this job: "log backup", "monitor", or empty."""
    every_s: float = 0.0
    """Interval of a "monitor" job, in seconds. A log backup job uses the interval of the copy."""


class Alert(Struct, frozen=True, kw_only=True, gc=False):
    """Warning threshold of the Database Mirroring Monitor on one server for one database."""

    database: str
    alert_id: int
    """Number of the threshold.

    1: oldest unsent transaction (min); 2: unsent log (KB); 3: unrestored log (KB); 4: commit overhead (ms);
    5: retention (h).
    """
    threshold: float
    enabled: bool = True


class Snapshot(Struct, frozen=True, kw_only=True, gc=False):
    """Database snapshot on a server."""

    name: str
    database_id: int
    source: str
    """Database from which the snapshot was created."""
    source_id: int
    tick: Tick
    """Time at which the snapshot was created."""
    family: int = 1
    lineage: tuple[tuple[int, float], ...] = ((0, 0.0),)
    end_of_log_kb: float = 0.0
    """Log position of the source at the time of the snapshot. The snapshot contains all commits up to this
    position.
    """
    drive: str = "D"
    files: tuple[tuple[str, str], ...] = ()
    """(logical name, path) of each sparse file."""


class RestoreHistoryRow(Struct, frozen=True, kw_only=True, gc=False):
    """Row of msdb.dbo.restorehistory."""

    database: str
    backup_id: int
    kind: str
    """D: database, I: differential, L: log."""
    tick: Tick
    replace: bool = False
    recovery: bool = True
    stop_tick: Tick | None = None
    """Time of the option STOPAT; None without this option."""


class Instance(Struct, frozen=True, kw_only=True, gc=False):
    """Instance of SQL Server on a computer. DBAs call it a server."""

    name: str
    computer: str
    """Computer on which the instance runs. A default instance has the name of its computer."""
    host: int
    """Index of the instance in the flow model's arrays."""
    version: int = 2005
    edition: str = "Enterprise"
    drives_apart: tuple[str, ...] = ()
    """Shared disks on which the SQL Server resource does not depend. Database files cannot be created there."""
    clustered: bool = False
    """True for a failover cluster instance. The cluster starts its service on the node that owns its role."""
    installed: tuple[str, ...] = ()
    """Failover cluster instance: nodes on which it is installed."""
    no_tempdb_path: tuple[str, ...] = ()
    """Failover cluster instance: nodes without the tempdb folder."""
    failure_condition_level: int = 3
    health_check_timeout_ms: int = 60_000
    """Failover cluster instance: time without a response after which the cluster considers the instance
    failed.

    Documented default [DOC: ALTER SERVER CONFIGURATION].
    """
    level: int = 0
    """Failover cluster instance: number of service packs whose upgrade scripts have run in its system
    databases.
    """
    service: Service = Service.RUNNING
    hung: bool = False
    """True while the service runs but does not respond."""
    start_wanted: bool = False
    """True if a start was requested while the service was stopping."""
    started_tick: Tick = 0
    crashed_tick: Tick = -1
    """Time at which the process last ended without a checkpoint; -1 if never."""
    service_account: str = "CORP\\sqlservice"
    endpoint: Endpoint | None = field(default_factory=Endpoint)
    tcp_enabled: bool = True
    """True if TCP/IP is enabled in the configuration. This takes effect at the next start of the service."""
    tcp_listening: bool = True
    """True if TCP/IP was enabled at the last start of the service."""
    refused: tuple[tuple[str, str], ...] = ()
    """(caller, reason) of refused mirroring connections that the ERRORLOG already contains."""
    max_worker_threads: int = 0
    short_of_threads: bool = False
    """True if availability groups lack worker threads."""
    trace_flags: tuple[int, ...] = ()
    master_key: bool = False
    logins: tuple[Login, ...] = ()
    users: tuple[User, ...] = ()
    certificates: tuple[Certificate, ...] = ()
    jobs: tuple[Job, ...] = ()
    linked_servers: tuple[str, ...] = ()
    alerts: tuple[Alert, ...] = ()
    snapshots: tuple[Snapshot, ...] = ()
    """Database snapshots, oldest first."""
    restores: tuple[RestoreHistoryRow, ...] = ()
    """Completed restores of this server, oldest first."""
    agent_running: bool = True
    system_lacks: tuple[str, ...] = ()
    r"""Permissions that the cluster needs for a group and that were removed from NT AUTHORITY\SYSTEM."""
    sessions_stopped: tuple[str, ...] = ()
    """Built-in Extended Events sessions that are stopped."""
    sessions_started: tuple[str, ...] = ()
    """Extended Events sessions that a person started although they do not start automatically."""
    sessions_manual: tuple[str, ...] = ()
    """Extended Events sessions with STARTUP_STATE = OFF, which do not start with the service."""
    installs: int = 0
    """Number of versions and service packs that were installed since the start of the run."""

    @property
    def running(self) -> bool:
        """Return whether the instance runs. It may still hang."""
        return self.service is Service.RUNNING

    def find_login(self, name: str) -> Login | None:
        """Return the login named *name*, or None. Case does not matter."""
        return next((login for login in self.logins if login.name.lower() == name.lower()), None)

    def find_snapshot(self, name: str) -> Snapshot | None:
        """Return the database snapshot named *name*, or None. Case does not matter."""
        return next((snapshot for snapshot in self.snapshots if snapshot.name.lower() == name.lower()), None)

    @property
    def answering(self) -> bool:
        """Return whether the instance runs and does not hang, so that it responds to clients that reach it."""
        return self.service is Service.RUNNING and not self.hung


# --- computers and the network between them, without SQL Server -------------------------------------------


class Volume(Struct, frozen=True, kw_only=True, gc=False):
    """Drive of a computer with a size limit."""

    letter: str
    size_kb: float


class Computer(Struct, frozen=True, kw_only=True, gc=False):
    """Computer with its network, firewall and local volumes, without SQL Server."""

    name: str
    cores: int = 8
    site: str = "nec"
    """Name of its hardware in flow/sites.toml."""
    domain: str = "CORP"
    powered: bool = True
    shutting_down: bool = False
    """True while the operating system shuts down."""
    nic_up: bool = True
    """False while all network cables are unplugged."""
    blocked_ports: tuple[int, ...] = ()
    """Ports on which the firewall blocks incoming connections."""
    used_ports: tuple[int, ...] = (1433,)
    """Ports that other programs already use."""
    volumes: tuple[Volume, ...] = ()
    """Drives with a size limit. C, D and L exist without an entry and have no limit; any other drive needs an
    entry.
    """
    failed_drives: tuple[str, ...] = ()
    """Letters of failed drives."""
    log_disk_factor: float = 1.0
    data_disk_factor: float = 1.0
    cpu_factor: float = 1.0
    """Slowdown factor of the processors; faults increase it, and 1 means no slowdown."""


class Link(Struct, frozen=True, kw_only=True, gc=False):
    """Network connection from one server or client to another, in one direction."""

    up: bool = True
    """False if the carrier is lost, which the network stacks at both ends report."""
    passing: bool = True
    """False if packets are dropped without any report."""
    rtt_ms: float = 0.2
    jitter_ms: float = 0.0
    loss: float = 0.0
    bandwidth_mbps: float = 1000.0
