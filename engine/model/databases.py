"""Copies of databases: their files and log, and each server's knowledge of their group."""

from typing import Final

from msgspec import Struct, field

from engine.constants import PARTNER_TIMEOUT_S
from engine.flow import Operation
from engine.model.availability import NO_AVAILABILITY, AvailabilityMembership
from engine.model.states import DbState, MirrorState, RecoveryModel, Role, Safety, WitnessState
from engine.model.times import Key, Tick


class DbFile(Struct, frozen=True, kw_only=True, gc=False):
    """File of a database, usually an additional file after the first data file and the first log file."""

    name: str
    drive: str
    size_kb: float
    log: bool = False
    added_kb: float = 0.0
    """Position of the log record that creates the file. A mirror creates the file when it redoes this record."""
    created_as: str = ""
    """Logical name at creation; empty if the file has not been renamed since."""
    emptied: bool = False
    """True after DBCC SHRINKFILE … EMPTYFILE: the file contains no data and receives no new data."""

    @property
    def key(self) -> str:
        """Return the key of the file in `FileOptions` and `FilePath` of a copy."""
        return self.created_as or self.name


class FileOptions(Struct, frozen=True, kw_only=True, gc=False):
    """Options of a file, set by MODIFY FILE or ADD FILE. They are part of the log.

    None means that the option is unchanged.
    """

    file: str
    name: str = ""
    """NEWNAME; empty if the file was not renamed."""
    growth_kb: float | None = None
    growth_percent: int | None = None
    """FILEGROWTH in percent; 0 means no growth."""
    max_kb: float | None = None
    """MAXSIZE. For the first log file, `DatabaseCopy.log_max_kb` is used instead."""


class FilePath(Struct, frozen=True, kw_only=True, gc=False):
    """Path of a file in this server's master database, and the paths at which the file really exists."""

    file: str
    path: str
    """FILENAME: path at which the database opens the file when it starts."""
    found: tuple[str, ...] = ()
    """Paths at which the file exists."""
    missing: bool = False
    """True if the database could not be opened because the file does not exist at its path."""


class PageRepair(Struct, frozen=True, kw_only=True, gc=False):
    """Row of sys.dm_db_mirroring_auto_page_repair."""

    page: int
    file: int = 1
    error_type: int = 2
    """-1: I/O error 823; 1: error 824 of another kind; 2: bad checksum; 3: torn page."""
    status: int = 2
    """2: queued; 3: requested from the partner; 4: received; 5: repaired; 6: not repairable."""
    tick: Tick = 0


class Membership(Struct, frozen=True, kw_only=True, gc=False):
    """Knowledge of one server about the mirroring session of one database. *guid* is None without a session."""

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
    """ID of the last Database Mirroring State Change event (0 to 13)."""
    armed: bool = False
    """Mirror: True if it may fail over automatically, because it was SYNCHRONIZED and connected to the
    witness when it lost the principal.
    """
    redo_failed: bool = False
    """Mirror: True if an error stopped redo. RESUME fails until its cause is repaired."""
    closing_kb: float | None = None
    """Principal in FULL whose mirror has almost caught up: log position at which the session becomes
    SYNCHRONIZED.

    Commits already wait for the mirror. None if this does not apply.
    """


NO_MEMBERSHIP: Final = Membership()


class DatabaseCopy(Struct, frozen=True, kw_only=True, gc=False):
    """Copy of a database on one server: its files and log, and the server's knowledge of its group."""

    server: str
    database: str
    database_id: int = 5
    db_state: DbState = DbState.ONLINE
    recovery_model: RecoveryModel = RecoveryModel.FULL
    family: int = 1
    """Number that all copies of the same origin share (Service Broker ID)."""
    fork: int = 0
    """Recovery fork. A new number is assigned whenever a copy branches off (forced service, RESTORE WITH
    RECOVERY).
    """
    former_fork: int | None = None
    """Recovery fork before the last forced failover of an availability group. A group tracks two forks."""
    lineage: tuple[tuple[int, float], ...] = ((0, 0.0),)
    """Branches of the log: (branch number, log position in KB at which it begins). Two logs are equal up to
    the first difference of their lineages.

    A new branch begins when another copy opens for writing.
    """
    source: int | None = None
    """Number of the flow model's source that this copy writes; None if it writes no log."""
    stream: int | None = None
    """Number of the flow model's stream that this copy receives; None if it receives no log."""
    end_of_log_kb: float = 0.0
    """End of the hardened log; valid only without *source* and *stream*, because the flow model then does not
    compute it.
    """
    redone_kb: float = 0.0
    committed_kb: float = 0.0
    """End of the last acknowledged commit; valid only without *source*."""
    open_log_kb: float = 0.0
    """Amount of log of the transactions that were open when the copy last stopped serving.

    A new principal undoes this log.
    """
    recovery_log_kb: float = 0.0
    """Amount of log that the next start of the instance must redo.

    It is not 0 after a crash, or if a transaction was open.
    """
    log_start_kb: float = 0.0
    """Log position at which the log in the file begins, after log backups, truncation or a restore."""
    last_log_backup_kb: float = 0.0
    full_backup: bool = True
    """True if a full backup has started the log chain."""
    log_backed_up: bool = True
    """True if this log chain contains a log backup."""
    full_backup_kb: float = 0.0
    """Log position at which the last full backup begins; 0 for a backup before the run."""
    full_backup_id: int = 0
    """Full backup on which differential backups are based."""
    backup_from_kb: float | None = None
    """Log position from which a running data backup needs the log; None if no backup runs."""
    active_from_kb: float | None = None
    """Log position at which the oldest open transaction began; None without one. T-SQL windows are listed
    separately.
    """
    window_transactions: tuple[tuple[int, float, Tick], ...] = ()
    """(session ID, log position at its beginning, time) of each open transaction of T-SQL windows."""
    restoring: int = 0
    """Number of a running or broken RESTORE, during which the copy cannot be used; 0 if there is none."""
    standby: bool = False
    """True after RESTORE WITH STANDBY: the copy is restoring, but readable until the next restore."""
    read_only: bool = False
    """True after ALTER DATABASE … SET READ_ONLY."""
    bulk_changes: bool = False
    """True if the log since the last log backup contains minimally logged changes."""
    last_log_backup_tick: Tick = 0
    """Time of the last log backup."""
    written_off_kb: float = 0.0
    """Log position up to which commits that exist in no other copy already count as lost."""
    was_mirror: bool = False
    """True if the copy was a mirror when its session ended and has not been restored from a backup since."""
    workload: str = "none"
    scale: float = 1.0
    operation: Operation | None = None
    """Long operation (bulk load, index rebuild) that runs in addition to the workload."""
    compatibility_level: int | None = None
    """Compatibility level; None means the default of the server's version."""
    options_kb: float = 0.0
    """Log position of the last change of the compatibility level or of delayed durability."""
    trustworthy: bool = False
    owner: str = "sa"
    """Owner in this server's master database. Each copy has its own."""
    encryption_key: int = 0
    """Thumbprint of the certificate that protects the database encryption key; 0 without such a key."""
    encrypted: bool = False
    size_kb: float = 40.0 * 1024 * 1024
    log_size_kb: float = 4.0 * 1024 * 1024
    log_max_kb: float = 40.0 * 1024 * 1024
    data_drive: str = "D"
    log_drive: str = "L"
    extra_files: tuple[DbFile, ...] = ()
    file_options: tuple[FileOptions, ...] = ()
    file_paths: tuple[FilePath, ...] = ()
    bad_pages: tuple[int, ...] = ()
    """Damaged pages of this copy."""
    page_repairs: tuple[PageRepair, ...] = ()
    compression_ratio: float = 0.27
    """Sent bytes per log byte if the stream is compressed; a property of the data."""
    delayed_durability: int = 0
    """0 DISABLED, 1 ALLOWED, 2 FORCED."""
    mirroring: Membership = field(default=NO_MEMBERSHIP)
    availability: AvailabilityMembership = field(default=NO_AVAILABILITY)
    log_full: bool = False
    """True if the log is full: every change fails with 9002 and the workload stops."""
    disk_failed: bool = False
    """True if the log, or another file that is needed to open the database, is lost. It is False again after
    the repair.
    """
    data_failed_tick: Tick | None = None
    """Time at which the data volume failed; None if it works.

    The copy keeps its state until it must be opened again.
    """
    recovering: bool = False
    """True after an instance start until the database is recovered and knows its role."""
    log_backup_every_s: float = 900.0
    """Interval of the log backup job on this server; 0 means no job."""

    def __repr__(self) -> str:
        """Return the text for the state hash. It omits rarely used fields that have their default values."""
        text = Struct.__repr__(self).replace(", read_only=False", "", 1)
        for name in ("recovery_log_kb", "full_backup_kb", "options_kb"):
            text = text.replace(f", {name}=0.0", "", 1)
        return text

    @property
    def key(self) -> Key:
        """Return (server, database), which identifies the copy."""
        return self.server, self.database

    @property
    def group(self) -> int | None:
        """Return the number of the copy's group, as its server knows it, or None."""
        return self.availability.guid if self.mirroring.guid is None else self.mirroring.guid

    @property
    def group_kind(self) -> str:
        """Return the kind of the copy's group, as its server knows it; "" if it is in no group."""
        if self.mirroring.guid is not None:
            return "mirroring"
        return "" if self.availability.guid is None else "availability"


# --- groups of copies, witnesses, connections, failovers --------------------------------------------------


class Group(Struct, frozen=True, kw_only=True, gc=False):
    """Group of copies: the partners of a mirroring session, or the replicas of an availability group."""

    kind: str
    """"mirroring" or "availability". It selects the policy in engine/protocol/group_policies.py."""
    databases: tuple[str, ...]


class WitnessRecord(Struct, frozen=True, kw_only=True, gc=False):
    """Knowledge of a witness about one session (sys.database_mirroring_witnesses)."""

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
    """True if the principal runs without the mirror, or the mirror has taken over. The witness then agrees to
    no failover.
    """


class Contact(Struct, frozen=True, kw_only=True, gc=False):
    """Knowledge of one instance about its connection to another, for one session or availability group."""

    connected: bool = True
    pending: str = ""
    """Change that will be detected later: a loss ("hard", "closed" or "silent"), "reconnect", or empty."""
    since_tick: Tick = 0
    """Time of the last change of *connected*."""
    epoch: int = 0
    """Counter of changes. A timer with an older value is ignored."""
    lost_by: str = ""
    """Signal by which the last loss was detected: "hard", "closed" or "silent". Empty if the connection was
    never lost.
    """
    lost_tick: Tick = 0


class Failover(Struct, frozen=True, kw_only=True, gc=False):
    """Running or finished failover, with the time of each step."""

    guid: int
    database: str
    kind: str
    """automatic, manual, forced, or role-move (a person moved the cluster role)."""
    cause: str
    from_server: str
    to_server: str
    under_load: bool
    failed_tick: Tick
    detected_tick: Tick
    redo_done_tick: Tick | None = None
    agreed_tick: Tick | None = None
    """Time at which the witness agreed; in a manual failover, time at which the principal had closed the
    database.
    """
    decided_tick: Tick | None = None
    online_tick: Tick | None = None
    undo_done_tick: Tick | None = None
    why: str = ""
    """Reason why the failover was canceled; empty otherwise."""
    decision_s: float = 0.0
    close_s: float = 0.0
    """Manual failover: time in which the principal disconnects its clients and writes its dirty pages, in
    seconds.
    """
    promote_s: float = 0.0
    """Time from the decision to the new role, in seconds: page flush, analysis, role change."""
    undo_s: float = 0.0
    lost_transactions: int = 0
    lost_kb: float = 0.0

    @property
    def canceled(self) -> bool:
        """Return whether the failover ended without a new principal."""
        return bool(self.why)
