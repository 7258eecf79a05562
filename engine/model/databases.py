"""Copies of databases: files and log, and what their server knows of the group."""

from __future__ import annotations

from typing import Final

from msgspec import Struct, field

from engine.constants import PARTNER_TIMEOUT_S
from engine.flow import Operation
from engine.model.availability import NO_AVAILABILITY, AvailabilityMembership
from engine.model.states import DbState, MirrorState, RecoveryModel, Role, Safety, WitnessState
from engine.model.times import Key, Tick


class DbFile(Struct, frozen=True, kw_only=True, gc=False):
    """A file of a database beside its first data file and its first log file."""

    name: str
    drive: str
    size_kb: float
    log: bool = False
    added_kb: float = 0.0
    """Log position of the record that creates it; a mirror meets it there."""
    created_as: str = ""
    """Logical name under which it was created, if it has another one now."""

    @property
    def key(self) -> str:
        """Name under which `FileOptions` and `FilePath` of a copy list the file."""
        return self.created_as or self.name


class FileOptions(Struct, frozen=True, kw_only=True, gc=False):
    """Options that MODIFY FILE or ADD FILE has given a file; they are in the log. None: as at the beginning."""

    file: str
    name: str = ""
    """NEWNAME; empty: the name is unchanged."""
    growth_kb: float | None = None
    growth_percent: int | None = None
    """FILEGROWTH: one of the two, 0 for none."""
    max_kb: float | None = None
    """MAXSIZE of a file other than the first log file."""


class FilePath(Struct, frozen=True, kw_only=True, gc=False):
    """Path of a file as the master database of this server has it, and where the file lies."""

    file: str
    path: str
    """FILENAME, used whenever the database starts."""
    found: tuple[str, ...] = ()
    """Paths at which the file lies."""
    missing: bool = False
    """The database could not be opened because the file is not at its path."""


class PageRepair(Struct, frozen=True, kw_only=True, gc=False):
    """A row of sys.dm_db_mirroring_auto_page_repair."""

    page: int
    file: int = 1
    error_type: int = 2
    """-1 I/O error 823, 1 other error 824, 2 bad checksum, 3 torn page."""
    status: int = 2
    """2 queued, 3 asked the partner, 4 answer received, 5 repaired, 6 not repairable."""
    tick: Tick = 0


class Membership(Struct, frozen=True, kw_only=True, gc=False):
    """Knowledge of one server about the mirroring session of one database; guid None: it knows of none."""

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


class DatabaseCopy(Struct, frozen=True, kw_only=True, gc=False):
    """The files and the log of one database on one server, and what that server knows of its group."""

    server: str
    database: str
    database_id: int = 5
    db_state: DbState = DbState.ONLINE
    recovery_model: RecoveryModel = RecoveryModel.FULL
    family: int = 1
    """Databases with the same number descend from one another (Service Broker id)."""
    fork: int = 0
    """Recovery fork: +1 whenever a copy goes its own way (forced service, RESTORE WITH RECOVERY)."""
    former_fork: int | None = None
    """Recovery fork before the last forced failover of an availability group: a group tracks two of them."""
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
    """Beginning of the oldest transaction that is held open."""
    window_transactions: tuple[tuple[int, float, Tick], ...] = ()
    """(session id, where its log begins, when) of transactions that T-SQL windows hold open here."""
    restoring: int = 0
    """Number of the RESTORE that is under way or was broken off: the copy is of no use yet; 0 none."""
    standby: bool = False
    """Restored WITH STANDBY: restoring, yet readable until the next restore."""
    read_only: bool = False
    """ALTER DATABASE … SET READ_ONLY."""
    bulk_changes: bool = False
    """Minimally logged changes were made since the last log backup."""
    last_log_backup_tick: Tick = 0
    """Time of the last log backup, at which the log that it holds ends."""
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
    encryption_key: int = 0
    """Thumbprint of the certificate that protects its encryption key; 0: it has none."""
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
    """Wire bytes per log byte if the stream is compressed; a property of the data."""
    delayed_durability: int = 0
    """0 DISABLED, 1 ALLOWED, 2 FORCED."""
    mirroring: Membership = field(default=NO_MEMBERSHIP)
    availability: AvailabilityMembership = field(default=NO_AVAILABILITY)
    log_full: bool = False
    """No room is left for log: every change fails with 9002 and the database stands still."""
    disk_failed: bool = False
    """Its log, or whatever it needs to be opened, is lost: it stays closed until the volume is back."""
    data_failed_tick: Tick | None = None
    """Time at which its data volume was lost; None: the volume is there. The copy keeps its state until the
    database must be opened again.
    """
    recovering: bool = False
    """The instance has just started and the database is not yet recovered or does not yet know its role."""
    log_backup_every_s: float = 900.0
    """Interval of the log backup job on this server; 0: none."""

    def __repr__(self) -> str:
        """Leave out the rare option that is off: the hash of a state reads this."""
        return Struct.__repr__(self).replace(", read_only=False", "", 1)

    @property
    def key(self) -> Key:
        return self.server, self.database

    @property
    def group(self) -> int | None:
        """The number of the group to which it belongs, as its server knows; None for none."""
        return self.availability.guid if self.mirroring.guid is None else self.mirroring.guid

    @property
    def group_kind(self) -> str:
        """The kind of the group to which it belongs, as its server knows; "" for none."""
        if self.mirroring.guid is not None:
            return "mirroring"
        return "" if self.availability.guid is None else "availability"
