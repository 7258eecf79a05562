"""Instances of SQL Server: service, endpoint, logins, jobs, what stands in their system databases."""

from __future__ import annotations

from msgspec import Struct, field

from engine.model.states import EndpointState, Service
from engine.model.times import Tick


class Endpoint(Struct, frozen=True, kw_only=True, gc=False):
    """The one database mirroring endpoint of an instance."""

    name: str = "Mirroring"
    port: int = 5022
    ip: str = "ALL"
    state: EndpointState = EndpointState.STARTED
    role: str = "ALL"
    """PARTNER, WITNESS or ALL."""
    encryption: str = "REQUIRED"
    """DISABLED, SUPPORTED or REQUIRED."""
    algorithms: tuple[str, ...] = ("RC4",)
    """In order of preference."""
    authentication: str = "WINDOWS NEGOTIATE"
    certificate: str | None = None
    owner: str = "sa"
    granted: tuple[str, ...] = ()
    """Logins with CONNECT permission."""


class Login(Struct, frozen=True, kw_only=True, gc=False):
    name: str
    sid: int
    """Same number on two servers: the same login; users are matched by it."""
    kind: str = "SQL"
    """SQL, WINDOWS or CERTIFICATE."""
    password: str | None = None
    disabled: bool = False
    default_database: str = "master"


class User(Struct, frozen=True, kw_only=True, gc=False):
    """A database user: one of master (certificate owners) stands with its server, any other in the log (commits)."""

    name: str
    database: str
    sid: int


class Certificate(Struct, frozen=True, kw_only=True, gc=False):
    name: str
    thumbprint: int
    subject: str
    valid_from_tick: Tick
    expires_tick: Tick
    owner: str = "dbo"
    has_private_key: bool = True


class Job(Struct, frozen=True, kw_only=True, gc=False):
    """A job of SQL Server Agent."""

    name: str
    enabled: bool = True
    database: str | None = None
    action: str = ""
    """Task that the simulation runs for this job: "log backup", "monitor", or empty."""
    every_s: float = 0.0
    """Interval of a "monitor" job; log backups go by the copy's own interval."""


class Alert(Struct, frozen=True, kw_only=True, gc=False):
    """A warning threshold of the Database Mirroring Monitor, kept on one server for one database."""

    database: str
    alert_id: int
    """1 oldest unsent transaction (min), 2 unsent log (KB), 3 unrestored log (KB), 4 commit overhead (ms),
    5 retention (h)."""
    threshold: float
    enabled: bool = True


class Snapshot(Struct, frozen=True, kw_only=True, gc=False):
    """A database snapshot on a server."""

    name: str
    database_id: int
    source: str
    """The database whose picture it is."""
    source_id: int
    tick: Tick
    """Time at which the snapshot was created."""
    family: int = 1
    lineage: tuple[tuple[int, float], ...] = ((0, 0.0),)
    end_of_log_kb: float = 0.0
    """Family, lineage and position of the source then: what is committed up to there is in the picture."""
    drive: str = "D"
    files: tuple[tuple[str, str], ...] = ()
    """(logical name, path) of each of its sparse files."""


class Restored(Struct, frozen=True, kw_only=True, gc=False):
    """A row of msdb.dbo.restorehistory."""

    database: str
    backup_id: int
    kind: str
    """D database, I differential, L log."""
    tick: Tick
    replace: bool = False
    recovery: bool = True


class Instance(Struct, frozen=True, kw_only=True, gc=False):
    """An instance of SQL Server, which runs on a computer: what a DBA calls a server."""

    name: str
    computer: str
    """The computer on which it runs; a default instance has its computer's name."""
    host: int
    """Dense index of the instance in the flow model."""
    version: int = 2005
    edition: str = "Enterprise"
    drives_apart: tuple[str, ...] = ()
    """Drives of shared disks on which its SQL Server resource does not depend: no file may lie there."""
    clustered: bool = False
    """A failover cluster instance: the cluster starts its service, on the node that owns its role."""
    installed: tuple[str, ...] = ()
    """Failover cluster instance: nodes on which Setup has installed it."""
    no_tempdb_path: tuple[str, ...] = ()
    """Failover cluster instance: nodes on which the folder of tempdb is missing."""
    failure_condition_level: int = 3
    health_check_timeout_ms: int = 60_000
    """Failover cluster instance: when the cluster takes it for failed. The defaults are documented [DOC: ALTER SERVER
    CONFIGURATION]."""
    level: int = 0
    """Failover cluster instance: service packs whose upgrade scripts have run in its system databases."""
    service: Service = Service.RUNNING
    hung: bool = False
    """The service runs and nothing answers."""
    start_wanted: bool = False
    """A start was asked for while the service was still stopping."""
    started_tick: Tick = 0
    service_account: str = "CORP\\sqlservice"
    endpoint: Endpoint | None = field(default_factory=Endpoint)
    tcp_enabled: bool = True
    """TCP/IP is enabled in the configuration; it counts from the next start of the service."""
    tcp_listening: bool = True
    """TCP/IP was enabled when the service last started."""
    refused: tuple[tuple[str, str], ...] = ()
    """(caller, reason) of refused mirroring connections that the ERRORLOG has already."""
    max_worker_threads: int = 0
    short_of_threads: bool = False
    """Availability groups have not got the worker threads that they need."""
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
    restores: tuple[Restored, ...] = ()
    """Restores that were completed here, oldest first."""
    agent_running: bool = True
    system_lacks: tuple[str, ...] = ()
    """Permissions that NT AUTHORITY\\SYSTEM has not, of those that the cluster needs for a group."""
    sessions_stopped: tuple[str, ...] = ()
    """Event sessions that do not run, of those that the instance brings along."""
    sessions_started: tuple[str, ...] = ()
    """Sessions of extended events that were started here and do not start by themselves."""
    sessions_manual: tuple[str, ...] = ()
    """Those with STARTUP_STATE = OFF: they do not start with the service."""
    installs: int = 0
    """Versions and service packs installed since the start."""

    @property
    def running(self) -> bool:
        """The instance executes (it may still be hung)."""
        return self.service is Service.RUNNING

    @property
    def answering(self) -> bool:
        """A client that reaches it gets an answer."""
        return self.service is Service.RUNNING and not self.hung
