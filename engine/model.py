"""The world as plain data: frozen parts in dictionaries, so that fork, hash and compare cost next to nothing.

Nothing here decides anything. A part is changed by putting a new one in its place (`World.update_copy` and its
like); whoever holds the old one keeps it unchanged.
"""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import IntEnum, StrEnum
from typing import Any, Final

from engine.chance import Chance
from engine.commits import Commit
from engine.constants import PARTNER_TIMEOUT_S, TICKS_PER_S
from engine.events import Event
from engine.flow import Flow, Operation
from engine.written import Written

Tick = int
"""Simulated time in steps of 10 ms since the start."""

Key = tuple[str, str]
"""(server, database): names one copy of a database."""


def ticks(seconds: float) -> Tick:
    """The nearest whole number of ticks."""
    return round(seconds * TICKS_PER_S)


class Role(IntEnum):
    """mirroring_role of sys.database_mirroring."""

    PRINCIPAL = 1
    MIRROR = 2


class MirrorState(IntEnum):
    """mirroring_state of sys.database_mirroring (2005 to 2014)."""

    SUSPENDED = 0
    DISCONNECTED = 1
    SYNCHRONIZING = 2
    PENDING_FAILOVER = 3
    SYNCHRONIZED = 4


class Safety(IntEnum):
    """mirroring_safety_level."""

    UNKNOWN = 0
    OFF = 1
    FULL = 2


class WitnessState(IntEnum):
    """mirroring_witness_state: each partner's own view of its link to the witness."""

    UNKNOWN = 0
    CONNECTED = 1
    DISCONNECTED = 2


class DbState(IntEnum):
    """state of sys.databases."""

    ONLINE = 0
    RESTORING = 1
    RECOVERING = 2
    RECOVERY_PENDING = 3
    SUSPECT = 4
    EMERGENCY = 5
    OFFLINE = 6


class RecoveryModel(IntEnum):
    """recovery_model of sys.databases."""

    FULL = 1
    BULK_LOGGED = 2
    SIMPLE = 3


class Service(StrEnum):
    """What the SQL Server service of an instance does."""

    RUNNING = "running"
    STARTING = "starting"
    STOPPING = "stopping"
    STOPPED = "stopped"


class EndpointState(IntEnum):
    STARTED = 0
    STOPPED = 1
    DISABLED = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Login:
    name: str
    sid: int
    """Same number on two servers: the same login; users are matched by it."""
    kind: str = "SQL"
    """SQL, WINDOWS or CERTIFICATE."""
    password: str | None = None
    disabled: bool = False
    default_database: str = "master"


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """A database user: one of master (certificate owners) stands with its server, any other in the log (commits)."""

    name: str
    database: str
    sid: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    name: str
    thumbprint: int
    subject: str
    valid_from_tick: Tick
    expires_tick: Tick
    owner: str = "dbo"
    has_private_key: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A job of SQL Server Agent."""

    name: str
    enabled: bool = True
    database: str | None = None
    action: str = ""
    """What the simulation has it do: "log backup", "monitor", or nothing."""
    every_s: float = 0.0
    """Interval of a "monitor" job; log backups go by the copy's own interval."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """A warning threshold of the Database Mirroring Monitor, kept on one server for one database."""

    database: str
    alert_id: int
    """1 oldest unsent transaction (min), 2 unsent log (KB), 3 unrestored log (KB), 4 commit overhead (ms),
    5 retention (h)."""
    threshold: float
    enabled: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class DbFile:
    """A file of a database beside its first data file and its first log file."""

    name: str
    drive: str
    size_kb: float
    log: bool = False
    added_kb: float = 0.0
    """Log position of the record that creates it; a mirror meets it there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRepair:
    """A row of sys.dm_db_mirroring_auto_page_repair."""

    page: int
    file: int = 1
    error_type: int = 2
    """-1 I/O error 823, 1 other error 824, 2 bad checksum, 3 torn page."""
    status: int = 2
    """2 queued, 3 asked the partner, 4 answer received, 5 repaired, 6 not repairable."""
    tick: Tick = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Volume:
    """A drive of a server."""

    letter: str
    size_kb: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A database snapshot on a server."""

    name: str
    database_id: int
    source: str
    """The database whose picture it is."""
    source_id: int
    tick: Tick
    """When it was taken."""
    family: int = 1
    lineage: tuple[tuple[int, float], ...] = ((0, 0.0),)
    end_of_log_kb: float = 0.0
    """Family, lineage and position of the source then: what is committed up to there is in the picture."""
    drive: str = "D"
    files: tuple[tuple[str, str], ...] = ()
    """(logical name, path) of each of its sparse files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """A row of msdb.dbo.restorehistory."""

    database: str
    backup_id: int
    kind: str
    """D database, I differential, L log."""
    tick: Tick
    replace: bool = False
    recovery: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Computer:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """An instance of SQL Server, which runs on a computer: what a DBA calls a server."""

    name: str
    computer: str
    """The computer on which it runs; a default instance has its computer's name."""
    host: int
    """Dense index of the instance in the flow model."""
    version: int = 2005
    edition: str = "Enterprise"
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
    installs: int = 0
    """Versions and service packs installed since the start."""

    @property
    def running(self) -> bool:
        """The instance executes (it may still be hung)."""
        return self.service is Service.RUNNING

    @property
    def answering(self) -> bool:
        """A client that reaches it gets an answer."""
        return self.running and not self.hung


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """The network from one server (or client) to another, one direction."""

    up: bool = True
    """False: carrier lost, both ends are told by their network stack."""
    passing: bool = True
    """False: packets vanish in silence."""
    rtt_ms: float = 0.2
    jitter_ms: float = 0.0
    loss: float = 0.0
    bandwidth_mbps: float = 1000.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Membership:
    """What one server knows of the mirroring session of one database; guid None: it knows of none."""

    guid: int | None = None
    role: Role | None = None
    state: MirrorState | None = None
    safety: Safety = Safety.FULL
    safety_sequence: int = 1
    role_sequence: int = 1
    partner: str | None = None
    partner_address: str | None = None
    witness: str | None = None
    witness_address: str | None = None
    witness_state: WitnessState = WitnessState.UNKNOWN
    timeout_s: int = PARTNER_TIMEOUT_S
    failover_lsn_kb: float = 0.0
    trace: int = 0
    """Last Database Mirroring State Change id (0 to 13)."""
    armed: bool = False
    """Mirror: it was SYNCHRONIZED and saw the witness when the principal was lost; may fail over by itself."""
    redo_failed: bool = False
    """Mirror: redo stopped on an error; RESUME is refused until mended."""
    closing_kb: float | None = None
    """Principal under FULL that is nearly in step: commits wait again, and once the mirror has hardened up to here
    it is SYNCHRONIZED."""


NO_MEMBERSHIP: Final = Membership()


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseCopy:
    """The files and the log of one database on one server, and what that server knows of its mirroring session."""

    server: str
    database: str
    database_id: int = 5
    db_state: DbState = DbState.ONLINE
    recovery_model: RecoveryModel = RecoveryModel.FULL
    family: int = 1
    """Databases with the same number descend from one another (Service Broker id)."""
    fork: int = 0
    """Recovery fork: +1 whenever a copy goes its own way (forced service, RESTORE WITH RECOVERY)."""
    lineage: tuple[tuple[int, float], ...] = ((0, 0.0),)
    """Path of the log: (number of a stretch, position in KB where it began). Two logs are one up to the first
    difference; a stretch begins whenever a copy opens for writing that did not write before."""
    source: int | None = None
    """The log in the flow model that this copy writes; None: it writes none."""
    stream: int | None = None
    """The stream in the flow model that brings it log; None: none does."""
    end_of_log_kb: float = 0.0
    """Hardened end of the log while it stands still in the flow model."""
    redone_kb: float = 0.0
    committed_kb: float = 0.0
    """End of the last commit told to a client, while the copy writes no log."""
    open_log_kb: float = 0.0
    """Log of transactions that were under way when the copy last ceased to serve; a new principal undoes it."""
    log_start_kb: float = 0.0
    """Oldest log that a log backup or truncation has left in the file, or that restored backups have put there."""
    last_log_backup_kb: float = 0.0
    full_backup: bool = True
    """A full backup has started the log chain."""
    log_backed_up: bool = True
    """A log backup has been taken in this log chain."""
    full_backup_id: int = 0
    """The full backup on which differential backups stand."""
    backup_from_kb: float | None = None
    """A data backup is under way and needs the log from here on."""
    active_from_kb: float | None = None
    """Beginning of the oldest transaction that somebody holds open."""
    window_transactions: tuple[tuple[int, float, Tick], ...] = ()
    """(session id, where its log begins, when) of transactions that T-SQL windows hold open here."""
    restoring: int = 0
    """Number of the RESTORE that is under way or was broken off: the copy is of no use yet; 0 none."""
    standby: bool = False
    """Restored WITH STANDBY: restoring, yet readable until the next restore."""
    bulk_changes: bool = False
    """Minimally logged changes were made since the last log backup."""
    last_log_backup_tick: Tick = 0
    """When the last log backup ended the log that it holds."""
    written_off_kb: float = 0.0
    """Commits up to here that no other copy has are already counted as lost."""
    was_mirror: bool = False
    """It came out of a mirroring session as the mirror and has not been restored from a backup since."""
    workload: str = "none"
    scale: float = 1.0
    operation: Operation | None = None
    """A long operation (bulk load, index rebuild) that runs beside the workload."""
    compatibility_level: int | None = None
    """None: that of the server's version, as a new database gets it."""
    trustworthy: bool = False
    owner: str = "sa"
    """Both as this server has them in its master: a mirror has its own."""
    size_kb: float = 40.0 * 1024 * 1024
    log_size_kb: float = 4.0 * 1024 * 1024
    log_max_kb: float = 40.0 * 1024 * 1024
    data_drive: str = "D"
    log_drive: str = "L"
    extra_files: tuple[DbFile, ...] = ()
    bad_pages: tuple[int, ...] = ()
    """Damaged pages of this copy."""
    page_repairs: tuple[PageRepair, ...] = ()
    compression_ratio: float = 0.27
    """Wire bytes per log byte if the stream is compressed; a property of the data."""
    delayed_durability: int = 0
    """0 DISABLED, 1 ALLOWED, 2 FORCED."""
    mirroring: Membership = field(default=NO_MEMBERSHIP)
    log_full: bool = False
    """No room is left for log: every change fails with 9002 and the database stands still."""
    disk_failed: bool = False
    """Its log, or whatever it needs to be opened, is lost: it stays closed until the volume is back."""
    data_failed_tick: Tick | None = None
    """When its data volume was lost; None: it is there. The copy stays as it is until it has to be opened anew."""
    recovering: bool = False
    """The instance has just started and the database is not yet recovered or does not yet know its role."""
    log_backup_every_s: float = 900.0
    """Interval of the log backup job on this server; 0: none."""

    @property
    def group(self) -> int | None:
        """The number of the group to which it belongs, as its server knows; None for none."""
        return self.mirroring.guid

    @property
    def group_kind(self) -> str:
        """The kind of the group to which it belongs, as its server knows; "" for none."""
        return "" if self.mirroring.guid is None else "mirroring"


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Copies that belong together: the partners of a mirroring session, the replicas of an availability group."""

    kind: str
    """Names its policy (engine/protocol/groups.py)."""
    databases: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WitnessRecord:
    """What a witness knows of one session (sys.database_mirroring_witnesses)."""

    server: str
    guid: int
    database: str
    principal: str
    mirror: str
    safety: Safety = Safety.FULL
    safety_sequence: int = 1
    role_sequence: int = 1
    suspended: bool = False
    exposed: bool = False
    """The principal has told the witness that it runs on without the mirror: no failover may follow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contact:
    """What one instance believes of its connection to another for one session."""

    connected: bool = True
    pending: str = ""
    """What is on its way: "hard" or "silent" (a loss not yet noticed), "reconnect", or nothing."""
    since_tick: Tick = 0
    """When *connected* last changed."""
    epoch: int = 0
    """Grows with each change; a timer of an older epoch is void."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """A client application: where it connects and how it is doing."""

    name: str
    databases: tuple[str, ...]
    data_source: str
    failover_partner: str | None = None
    login: str = ""
    """Login of the application; empty: one that every server knows and lets in."""
    connected_to: str | None = None
    """Server that holds the open connections; None while it looks for one."""
    known_partner: str | None = None
    """Partner name that the server told at the last login."""
    attempt: int = 0
    login_since: Tick = 0
    """When the login that is under way began."""
    epoch: int = 0
    no_partner_at: str | None = None
    """Server that let it in by the partner's name and reported no partner; already told."""
    failed_logins: int = 0
    cut_connections: int = 0
    connected_tick: Tick = 0
    """When the connections that it holds were opened."""
    killed: tuple[tuple[int, Tick], ...] = ()
    """(session id, when) of its connections that KILL has ended since then; for each it has opened another."""
    lost_since: Tick | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Failover:
    """A failover under way or done, with the tick of each of its steps."""

    guid: int
    database: str
    kind: str
    """automatic, manual or forced."""
    cause: str
    from_server: str
    to_server: str
    under_load: bool
    failed_tick: Tick
    detected_tick: Tick
    redo_done_tick: Tick | None = None
    agreed_tick: Tick | None = None
    """Witness (or, manually, the principal) has agreed."""
    decided_tick: Tick | None = None
    online_tick: Tick | None = None
    undo_done_tick: Tick | None = None
    why: str = ""
    """Why it came to nothing; empty while it has not."""
    decision_s: float = 0.0
    close_s: float = 0.0
    """Manual: the principal cuts its clients and writes its dirty pages."""
    promote_s: float = 0.0
    """From the decision to the role taken: page flush, analysis, role change."""
    undo_s: float = 0.0
    lost_transactions: int = 0
    lost_kb: float = 0.0

    @property
    def cancelled(self) -> bool:
        return bool(self.why)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One row of the fault ledger: four times and the effect that proves the fault took hold."""

    id: int
    verb: str
    args: tuple[str, ...]
    asked_tick: Tick
    active_tick: Tick
    effective_tick: Tick | None = None
    reverted_tick: Tick | None = None
    effect: str = ""
    """What proved it, in words; empty while nothing has."""
    before: tuple[tuple[str, Any], ...] = ()
    """What reverting restores."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Availability:
    """Account of one database, kept in ticks by the protocol whenever something changes."""

    database: str
    since_tick: Tick = 0
    serving: bool = True
    exposed: bool = False
    down_ticks: int = 0
    exposed_ticks: int = 0
    lost_transactions: int = 0
    lost_kb: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Derived choices that the documents leave open; a scenario may set them."""

    auto_failover_after_witness_cut: bool = True
    """Fail over if only the principal-witness link was cut before (facts 4.6)."""
    resume_on_mirror: bool = True
    """SET PARTNER RESUME is taken by either partner (the pages disagree)."""
    witness_off_on_mirror: bool = True
    boot_s: float = 60.0
    restart_service_s: float = 4.0
    start_time: str = "2005-10-22T12:00:00"
    """Wall-clock time that the simulated servers show at tick 0."""


Timer = tuple[Tick, int, str, tuple[Any, ...]]
"""(due, order, handler name, arguments of plain data)."""

LogLine = tuple[Tick, int, int, int, str]
"""A line of an ERRORLOG: (tick, number, severity, state, text)."""


@dataclass(slots=True)
class World:
    """Everything that decides the future. Copies of it share their frozen parts."""

    seed: int
    chance: Chance
    flow: Flow
    settings: Settings = field(default_factory=Settings)
    tick: Tick = 0
    computers: dict[str, Computer] = field(default_factory=dict)
    instances: dict[str, Instance] = field(default_factory=dict)
    links: dict[tuple[str, str], Link] = field(default_factory=dict)
    copies: dict[Key, DatabaseCopy] = field(default_factory=dict)
    witnesses: dict[tuple[str, int], WitnessRecord] = field(default_factory=dict)
    contacts: dict[tuple[int, str, str], Contact] = field(default_factory=dict)
    clients: dict[str, Client] = field(default_factory=dict)
    groups: dict[int, Group] = field(default_factory=dict)
    """Mirroring sessions and availability groups by number; kept when they are gone."""
    failovers: list[Failover] = field(default_factory=list)
    latest_failover: dict[int, int] = field(default_factory=dict)
    """Session -> place of its latest failover in *failovers*."""
    faults: list[Fault] = field(default_factory=list)
    availability: dict[str, Availability] = field(default_factory=dict)
    files: dict[tuple[str, str], Any] = field(default_factory=dict)
    """(server, path): a backup or certificate file."""
    sessions: dict[str, Any] = field(default_factory=dict)
    """Open SQL connections of the T-SQL windows, by window name."""
    batches: dict[str, Any] = field(default_factory=dict)
    """Running batches, by window name."""
    sql_work: int = 0
    """Work of all T-SQL so far and booked, of which each tick takes a share (engine/tsql/batches/work.py)."""
    transfers: dict[int, tuple[str, str, float]] = field(default_factory=dict)
    """Files on their way: number -> (from, to, KB/s)."""
    monitor: dict[Key, Any] = field(default_factory=dict)
    """Rows that the Database Mirroring Monitor has recorded."""
    objects: dict[tuple[str, str, str], Any] = field(default_factory=dict)
    """(server, system database, name): tables, procedures and views that scripts have made there."""
    commits: dict[tuple[int, int], Commit] = field(default_factory=dict)
    """(family, stretch of log) -> the latest commit of a T-SQL window in it: what user databases hold."""
    errorlog: dict[str, tuple[LogLine, ...]] = field(default_factory=dict)
    """Server -> latest lines of its ERRORLOG; xp_readerrorlog reads them. Each is told as an event too."""
    sources: dict[int, Key] = field(default_factory=dict)
    """Source of the flow model -> the copy that writes this log."""
    streams: dict[int, Key | None] = field(default_factory=dict)
    """Stream of the flow model -> the copy that receives; None while no copy does."""
    timers: list[Timer] = field(default_factory=list)
    counter: int = 0
    """Source of ids and of the order among timers of one tick."""
    dirty: set[int] = field(default_factory=set)
    """Sources whose circumstances, or whose streams', may have changed since the flow model last ran."""
    changed: set[str] = field(default_factory=set)
    """Databases of which something has changed since the last settling."""
    outbox: list[Event] = field(default_factory=list)
    """Events not yet handed out; no part of the state."""
    written: Written = field(default_factory=Written, repr=False, compare=False)
    """What the parts were when they were last hashed; forks share it."""

    # --- change -----------------------------------------------------------------------------------------

    def next_id(self) -> int:
        self.counter += 1
        return self.counter

    def at(self, tick: Tick, handler: str, *args: Any) -> None:
        """Have *handler* called at *tick* (not before the next tick if that is past)."""
        heapq.heappush(self.timers, (max(tick, self.tick), self.next_id(), handler, args))

    def after(self, seconds: float, handler: str, *args: Any) -> None:
        self.at(self.tick + ticks(seconds), handler, *args)

    def update_copy(self, key: Key, **changes: Any) -> DatabaseCopy:
        old = self.copies[key]
        new = self.copies[key] = replace(old, **changes)
        self.changed.add(new.database)
        for copy in (old, new):
            self.touch_log(copy)
        return new

    def update_mirroring(self, key: Key, **changes: Any) -> DatabaseCopy:
        """Change what the server of the copy knows of its mirroring session."""
        return self.update_copy(key, mirroring=replace(self.copies[key].mirroring, **changes))

    def touch_log(self, copy: DatabaseCopy) -> None:
        """The circumstances of the log that *copy* writes or receives may have changed."""
        source = self.source_of(copy)
        if source is not None:
            self.dirty.add(source)

    def source_of(self, copy: DatabaseCopy) -> int | None:
        """The source of the log that *copy* writes or receives; None if it stands still."""
        if copy.source is None and copy.stream in self.streams:
            return self.flow.source_of(copy.stream)
        return copy.source

    def update_instance(self, name: str, **changes: Any) -> Instance:
        new = self.instances[name] = replace(self.instances[name], **changes)
        self.all_dirty()
        return new

    def update_computer(self, name: str, **changes: Any) -> Computer:
        new = self.computers[name] = replace(self.computers[name], **changes)
        self.all_dirty()
        return new

    def touch(self, guid: int) -> None:
        """The circumstances of the log of session *guid* may have changed."""
        self.changed.update(self.groups[guid].databases)
        for copy in self.session_copies(guid):
            self.touch_log(copy)

    def all_dirty(self) -> None:
        self.dirty.update(self.sources)
        self.changed.update(self.availability)

    def emit(
        self, kind: str, text: str, *, server: str | None = None, database: str | None = None, **data: Any
    ) -> None:
        self.outbox.append(Event(self.tick, kind, server, database, text, tuple(data.items())))

    # --- look -------------------------------------------------------------------------------------------

    @property
    def t_s(self) -> float:
        return self.tick / TICKS_PER_S

    def computer_of(self, instance: str) -> Computer:
        """The computer on which *instance* runs."""
        return self.computers[self.instances[instance].computer]

    def copies_of(self, database: str) -> list[DatabaseCopy]:
        keys = ((server, database) for server in self.instances)
        return [self.copies[key] for key in keys if key in self.copies]

    def new_session(self, database: str) -> int:
        """The number of a new mirroring session of *database*."""
        guid = self.next_id()
        self.groups[guid] = Group(kind="mirroring", databases=(database,))
        return guid

    def copy_in_session(self, guid: int | None, server: str | None) -> DatabaseCopy | None:
        """The copy on *server* that belongs to session *guid*, as that server believes."""
        if guid is None or guid not in self.groups:
            return None
        (database,) = self.groups[guid].databases
        copy = self.copies.get((server or "", database))
        return copy if copy is not None and copy.mirroring.guid == guid else None

    def session_copies(self, guid: int) -> list[DatabaseCopy]:
        """The copies whose servers believe that they belong to session *guid*."""
        (database,) = self.groups[guid].databases
        return [copy for copy in self.copies_of(database) if copy.mirroring.guid == guid]

    def failover_under_way(self, guid: int | None) -> Failover | None:
        """The failover of session *guid* that has begun and has neither ended nor come to nothing."""
        place = self.latest_failover.get(guid or 0)
        if place is None:
            return None
        failover = self.failovers[place]
        return None if failover.cancelled or failover.online_tick is not None else failover

    def databases(self) -> list[str]:
        return sorted({database for _, database in self.copies})

    # --- fork, hash -------------------------------------------------------------------------------------

    def fork(self) -> World:
        """An independent world with the same past and, given the same inputs, the same future."""
        return World(
            seed=self.seed,
            chance=self.chance.fork(),
            flow=self.flow.fork(),
            settings=self.settings,
            tick=self.tick,
            computers=self.computers.copy(),
            instances=self.instances.copy(),
            links=self.links.copy(),
            copies=self.copies.copy(),
            witnesses=self.witnesses.copy(),
            contacts=self.contacts.copy(),
            clients=self.clients.copy(),
            groups=self.groups.copy(),
            failovers=self.failovers.copy(),
            latest_failover=self.latest_failover.copy(),
            faults=self.faults.copy(),
            availability=self.availability.copy(),
            files=self.files.copy(),
            sessions=self.sessions.copy(),
            batches=self.batches.copy(),
            sql_work=self.sql_work,
            transfers=self.transfers.copy(),
            monitor=self.monitor.copy(),
            objects=self.objects.copy(),
            commits=self.commits.copy(),
            errorlog=self.errorlog.copy(),
            sources=self.sources.copy(),
            streams=self.streams.copy(),
            timers=self.timers.copy(),
            counter=self.counter,
            dirty=self.dirty.copy(),
            changed=self.changed.copy(),
            written=self.written,
        )

    def state_hash(self) -> str:
        """32 hexadecimal digits of everything that decides the future."""
        digest = hashlib.blake2b(digest_size=16)
        for piece in self._pieces():
            digest.update(piece)
        digest.update(self.flow.digest())
        return digest.hexdigest()

    def _pieces(self) -> Iterator[bytes]:
        """The text of a tuple of all parts, piece by piece."""
        head = (self.seed, self.chance.state, self.tick, self.counter, self.settings, sorted(self.timers))
        yield f"({head!r}, {self.sql_work!r}, ".encode()
        for name in HASHED:
            part = getattr(self, name)
            yield from self.written.items(name, part) if name in LASTING else (_sorted(part),)
            yield b", "
        yield from self.written.values("failovers", self.failovers)
        yield f", {self.faults!r})".encode()


def _sorted(part: dict[Any, Any]) -> bytes:
    return repr(sorted(part.items())).encode()


HASHED: Final = (
    "computers", "instances", "links", "copies", "witnesses", "contacts", "clients", "availability", "files",
    "sessions", "batches", "transfers", "monitor", "objects", "commits", "errorlog", "sources", "streams",
)  # fmt: skip
"""Dictionaries of a world that decide its future."""

LASTING: Final = frozenset({"copies", "contacts", "files"})
"""Those with many frozen parts of which few change from one hash to the next."""
