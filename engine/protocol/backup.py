"""BACKUP DATABASE and BACKUP LOG: content of the file, duration, and effect on the log.

Each function takes the server of the statement and raises SqlError with SQL Server's error number. See facts
1.5.
"""

from functools import reduce
from operator import or_
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from engine import arithmetic, datetime_formats
from engine.constants import BACKUP_S_MIN, COMPATIBILITY_LEVELS, ENTERPRISE_EDITIONS, PAGE_KB
from engine.messages import Message, SqlError, fill_message
from engine.model import DatabaseCopy, DbFile, DbState, Instance, Key, RecoveryModel, Tick, World, to_ticks
from engine.protocol import (
    clock,
    disks,
    errorlog,
    files,
    group_policies,
    log_space,
    statements,
    streams,
    volumes,
)
from engine.protocol.lineage import Lineage

DATABASE_BACKUP_KIND, DIFFERENTIAL_BACKUP_KIND, LOG_BACKUP_KIND = "DATABASE", "DIFFERENTIAL", "LOG"
SYSTEM_DATABASES: Final = ("master", "msdb", "model", "tempdb")

COMPRESSED_BACKUP_SHARE: Final = 0.3
"""Compressed size of a data backup (2008 and later), as a share of the full size. Assumed."""

NO_BACKUP_LINES_TRACE_FLAG: Final = 3226
"""Trace flag that suppresses the ERRORLOG lines of successful backups. Documented [DOC: trace flags]."""


class BackupDetails(Struct, frozen=True):
    """Details of a backup set: options of the BACKUP statement that are stored with it."""

    name: str | None = None
    description: str | None = None
    expires_tick: Tick | None = None
    """Time until which BACKUP … WITH INIT does not overwrite the file, unless SKIP is given."""
    checksum: bool = False
    compressed: bool = False
    stats: int = 0
    """Interval between two progress messages, in percent (option STATS); 0 means no messages."""
    skip: bool = False
    login: str = "sa"
    single_user: bool = False
    """True if the database was in single-user mode."""


DEFAULT_DETAILS: Final = BackupDetails()
"""Details of a backup without options."""


class BackupSet(Struct, frozen=True, kw_only=True):
    """Backup in a file."""

    id: int
    kind: str
    """DATABASE, DIFFERENTIAL or LOG."""
    database: str
    server: str
    version: int
    family: int
    fork: int
    lineage: Lineage
    first_kb: float
    """Log position at which the log in the backup begins."""
    last_kb: float
    """Log position at the end of the backup. A database restored from the backup is at this position."""
    size_kb: float
    started_tick: Tick
    tick: Tick
    """Time at which the backup finished."""
    from_tick: Tick = 0
    """Tick of the oldest log record in a log backup."""
    base_kb: float | None = None
    """Log position at which the preceding full backup begins; None if there is none."""
    base: int = 0
    """Number of the full backup that a differential backup needs; for a full backup, its own number."""
    copy_only: bool = False
    tail: bool = False
    """True for a tail-log backup WITH NORECOVERY, after which no more log was written."""
    encryption_key: int = 0
    """Thumbprint of the certificate that protects the database encryption key; 0 without such a key."""
    encrypted: bool = False
    image: DatabaseCopy | None = None
    """State of the copy at the time of a full or differential backup: sizes, drives, workload."""
    extra_files: tuple[DbFile, ...] = ()
    details: BackupDetails = BackupDetails()
    recovery_model: RecoveryModel = RecoveryModel.FULL
    read_only: bool = False
    bulk_logged: bool = False
    """True if the log contains bulk-logged changes."""
    incomplete: bool = False
    """True for a tail-log backup of a database whose data cannot be read."""

    @property
    def flags(self) -> int:
        """Return the value of the column `flags` in backupset. Bit 512 is always set.

        Documented [DOC: backupset].
        """
        bits = {
            1: self.bulk_logged, 4: self.read_only, 8: self.details.single_user, 16: self.details.checksum,
            64: self.tail, 128: self.incomplete, 256: self.tail, 512: True,
        }  # fmt: skip
        return reduce(or_, (bit for bit, is_set in bits.items() if is_set))

    @property
    def backup_kb(self) -> float:
        """Return the size of the backup before compression."""
        return self.size_kb / COMPRESSED_BACKUP_SHARE if self.details.compressed else self.size_kb


class BackupFile(Struct, frozen=True):
    """Backup device on disk with its backups, oldest first."""

    sets: tuple[BackupSet, ...]
    overwritten: tuple[tuple[int, BackupSet], ...] = ()
    """(position, backup) of the backups that INIT or FORMAT removed. msdb still lists them."""

    @property
    def size_kb(self) -> float:
        """Return the size of all backups in the file."""
        return arithmetic.add_in_order(backup_set.size_kb for backup_set in self.sets)


# --- BACKUP DATABASE -------------------------------------------------------------------------------


def back_up_database(
    world: World,
    server: str,
    database: str,
    path: str,
    *,
    differential: bool = False,
    copy_only: bool = False,
    init: bool = False,
    details: BackupDetails = DEFAULT_DETAILS,
) -> statements.Outcome:
    """Back up a database to the disk file *path*.

    With *init* (INIT or FORMAT), the backup replaces the backups in the file; otherwise it is appended.

    The log remains active from the start of the backup until its end. Raise 911, 927, 942, 954, 955, 3023,
    3035, 3059, 3201, 3202 or 3241, each followed by 3013.
    """
    title = "BACKUP DATABASE"
    if details.compressed:
        _require_compression(world.instances[server])
    if database.lower() == "tempdb":
        raise SqlError(3147, also=(3013,), title=title)
    if database.lower() in SYSTEM_DATABASES:
        return [Message(0, 0, 0, 0, f"Not simulated: a backup of {database} is accepted and writes no file.")]
    copy = _find_backup_source(world, server, database, title, as_secondary=copy_only and not differential)
    if copy.data_failed_tick is not None:
        path = volumes.get_file_path(copy, volumes.list_copy_files(copy)[0])
        raise SqlError(3203, path, files.DEVICE_NOT_READY, also=(3013,), title=title)
    if copy.backup_from_kb is not None:
        raise SqlError(3023, also=(3013,), title=title)
    if differential and not copy.full_backup_id:
        raise SqlError(3035, copy.database, also=(3013,), title=title)
    end_kb = streams.get_end_of_log_kb(world, copy)
    size_kb = copy.size_kb
    if differential:
        size_kb = min(size_kb, max(0.0, end_kb - copy.last_log_backup_kb) + copy.size_kb * 0.01)
    size_kb *= COMPRESSED_BACKUP_SHARE if details.compressed else 1.0
    room = _find_backup_location(world, server, path, size_kb, title)
    _check_expiration(world, room, details, init, title)
    world.update_copy(copy.key, backup_from_kb=end_kb)
    duration_s = max(BACKUP_S_MIN, files.compute_file_copy_s(world, server, room[0], size_kb))
    kind = DIFFERENTIAL_BACKUP_KIND if differential else DATABASE_BACKUP_KIND
    args = (copy.database, kind, *room, end_kb, size_kb, world.tick, copy_only, init, details)
    return statements.PendingStatement(world.tick + to_ticks(duration_s), "backup.data", args)


def _complete_data_backup(
    world: World,
    server: str,
    database: str,
    kind: str,
    host: str,
    path: str,
    from_kb: float,
    size_kb: float,
    started_tick: Tick,
    copy_only: bool,
    init: bool,
    details: BackupDetails = DEFAULT_DETAILS,
) -> statements.Outcome:
    key = (server, database)
    copy = world.copies.get(key)
    if copy is None or copy.backup_from_kb != from_kb or world.find_source_of(copy) is None:
        media_error = SqlError(3049, also=(3013,), title="BACKUP DATABASE")
        log_backup_failure(world, server, database, media_error)
        raise media_error
    number = world.next_id()
    base = number if kind == DATABASE_BACKUP_KIND else copy.full_backup_id
    end = streams.get_end_of_log_kb(world, copy)
    backup_set = _build_backup_set(
        world, copy, kind, number, from_kb, end, size_kb + (end - from_kb), started_tick
    )
    level = copy.compatibility_level or COMPATIBILITY_LEVELS[world.instances[key[0]].version]
    backup_set = replace(
        backup_set,
        base=base,
        copy_only=copy_only,
        details=details,
        image=replace(copy, source=None, backup_from_kb=None, compatibility_level=level),
    )
    position = _store_and_log_backup(world, (host, path), backup_set, init)
    world.update_copy(key, backup_from_kb=None)
    if kind == DATABASE_BACKUP_KIND and not copy_only:
        world.update_copy(key, full_backup_id=number, full_backup_kb=from_kb)
    if not copy_only and not copy.full_backup and copy.recovery_model is not RecoveryModel.SIMPLE:
        log_space.start_log_chain(world, key, from_kb, started_tick)
    group_policies.get_policy(world.copies[key]).on_catalog_changed(world, key)
    title = "BACKUP DATABASE" if kind == DATABASE_BACKUP_KIND else "BACKUP DATABASE WITH DIFFERENTIAL"
    return _build_backup_report(world, backup_set, title, position)


# --- BACKUP LOG ------------------------------------------------------------------------------------


def back_up_log(
    world: World,
    server: str,
    database: str,
    path: str,
    *,
    norecovery: bool = False,
    no_truncate: bool = False,
    copy_only: bool = False,
    init: bool = False,
    details: BackupDetails = DEFAULT_DETAILS,
) -> statements.Outcome:
    """Back up the log since the last log backup to the disk file *path*.

    Raise 4208 for SIMPLE, 4214 without a full backup, 1468 for the tail of a mirrored database. *norecovery* takes
    the tail of the log and leaves the database in the restoring state. *no_truncate* also reads the log of a
    database whose data cannot be opened, if the log file is intact.
    """
    title = "BACKUP LOG"
    if database.lower() == "tempdb":
        raise SqlError(3147, also=(3013,), title=title)
    if database.lower() == "master":
        raise SqlError(4212, also=(3013,), title=title)
    if database.lower() in SYSTEM_DATABASES:
        raise SqlError(4208, title, also=(3013,), title=title)
    as_secondary = not copy_only and not norecovery
    copy = _find_backup_source(world, server, database, title, damaged=no_truncate, as_secondary=as_secondary)
    lead = world.copies[_find_writer_key(world, copy)]
    if lead.recovery_model is RecoveryModel.SIMPLE:
        raise SqlError(4208, title, also=(3013,), title=title)
    if not lead.full_backup:
        raise SqlError(4214, also=(3013,), title=title)
    if norecovery and copy.group_kind:
        raise SqlError(1468, copy.database, also=(3013,), title=title)
    end = streams.get_end_of_log_kb(world, copy)
    if details.compressed:
        _require_compression(world.instances[server])
    size_kb = max(0.0, end - lead.last_log_backup_kb) * (
        COMPRESSED_BACKUP_SHARE if details.compressed else 1.0
    )
    room = _find_backup_location(world, server, path, size_kb, title)
    _check_expiration(world, room, details, init, title)
    if norecovery and copy.source is not None:
        streams.remove_source(world, copy.source)
        world.update_copy(copy.key, db_state=DbState.RESTORING)
    duration_s = max(BACKUP_S_MIN, files.compute_file_copy_s(world, server, room[0], size_kb))
    args = (
        copy.database,
        *room,
        lead.last_log_backup_kb,
        end,
        world.tick,
        norecovery,
        copy_only,
        init,
        details,
    )
    return statements.PendingStatement(world.tick + to_ticks(duration_s), "backup.log", args)


def _complete_log_backup(
    world: World,
    server: str,
    database: str,
    host: str,
    path: str,
    first_kb: float,
    last_kb: float,
    started_tick: Tick,
    tail: bool,
    copy_only: bool,
    init: bool,
    details: BackupDetails = DEFAULT_DETAILS,
) -> statements.Outcome:
    key = (server, database)
    copy = world.copies.get(key)
    media_error = SqlError(3049, database, also=(3013,), title="BACKUP LOG")
    refused = media_error if copy is None else _find_role_refusal(world, copy, "BACKUP LOG")
    if copy is None or refused is not None:
        log_backup_failure(world, server, database, refused or media_error)
        raise refused or media_error
    number = world.next_id()
    size_kb = (last_kb - first_kb) * (COMPRESSED_BACKUP_SHARE if details.compressed else 1.0)
    backup_set = _build_backup_set(
        world, copy, LOG_BACKUP_KIND, number, first_kb, last_kb, size_kb, started_tick
    )
    backup_set = replace(
        backup_set, copy_only=copy_only, tail=tail, from_tick=copy.last_log_backup_tick, details=details
    )
    position = _store_and_log_backup(world, (host, path), backup_set, init)
    if not copy_only:
        for chain_key in {key: None, _find_writer_key(world, copy): None}:  # all replicas share one log chain
            _record_log_backup(world, chain_key, last_kb)
            world.update_copy(chain_key, last_log_backup_tick=started_tick, bulk_changes=False)
    return _build_backup_report(world, backup_set, "BACKUP LOG", position)


def _record_log_backup(world: World, key: Key, upto_kb: float) -> None:
    copy = world.copies[key]
    if copy.source is not None:
        log_space.on_log_backed_up(world, key, max(upto_kb, copy.last_log_backup_kb))
    else:
        upto_kb = max(upto_kb, copy.last_log_backup_kb)
        world.update_copy(key, last_log_backup_kb=upto_kb, log_backed_up=True)


def back_up_log_by_job(world: World, key: Key, path: str) -> None:
    """Run the log backup of a SQL Server Agent job, which takes no simulated time.

    It writes no ERRORLOG line, as under trace flag 3226, which many sites set.
    """
    if not volumes.has_drive(world.get_computer_of(key[0]), volumes.get_drive_letter(path)):
        error = SqlError(3201, path, files.NO_PATH, also=(3013,), title="BACKUP LOG")
        log_backup_failure(world, *key, error)
        return
    copy = world.copies[key]
    first, last = copy.last_log_backup_kb, streams.get_end_of_log_kb(world, copy)
    backup_set = _build_backup_set(
        world, copy, LOG_BACKUP_KIND, world.next_id(), first, last, last - first, world.tick
    )
    backup_set = replace(backup_set, from_tick=copy.last_log_backup_tick)
    _store_backup(world, (key[0], path), backup_set, init=False)
    _record_log_backup(world, key, last)
    world.update_copy(key, last_log_backup_tick=world.tick, bulk_changes=False)


DEVICE_ERRORS: Final = {3201: (18204, "BackupDiskFile::CreateMedia", "create"),
                        3202: (18210, "BackupMedium::ReportIoError", "write")}  # fmt: skip
"""Error number -> ERRORLOG message for a device that cannot be opened or written. Seen in public logs."""


def log_backup_failure(world: World, server: str, database: str, problem: SqlError) -> None:
    """Log 3041 after a backup that failed with the error *problem*.

    If the backup device failed, the message of DEVICE_ERRORS precedes 3041. Documented [DOC: Database Engine
    events and errors, 4214].
    """
    if problem.number in DEVICE_ERRORS:
        number, message_place, act = DEVICE_ERRORS[problem.number]
        path, system = problem.parameters
        errorlog.write_message(
            world, server, number, message_place, *((path, act) if number == 18204 else (act, path)), system
        )
    errorlog.write_message(world, server, 3041, f"{problem.title} {database}")


# --- common ----------------------------------------------------------------------------------------


def _require_compression(server: Instance) -> None:
    """Raise an error if the server cannot compress backups.

    The error is 155 before 2008. It is 1844 in an edition below Enterprise (2008) or below Standard (later).
    [DOC: backup compression]
    """
    if server.version < 2008:
        raise SqlError(155, "COMPRESSION", "BACKUP")
    if server.edition not in (*ENTERPRISE_EDITIONS, *(("Standard",) if server.version > 2008 else ())):
        raise SqlError(1844, "BACKUP DATABASE WITH COMPRESSION", f"{server.edition} Edition (64-bit)")


def _find_backup_source(
    world: World, server: str, database: str, title: str, *, damaged: bool = False, as_secondary: bool
) -> DatabaseCopy:
    """Return the copy to back up. Raise an error if its role or state does not allow the backup.

    *damaged* True allows a copy whose disk has failed, if its log files are intact. *as_secondary* True
    allows a secondary replica [DOC: active secondaries].
    """
    if world.instances[server].find_snapshot(database) is not None:
        raise SqlError(3002, also=(3013,), title=title)
    copy = next(
        (c for k, c in world.copies.items() if k[0] == server and k[1].lower() == database.lower()), None
    )
    refused = _find_role_refusal(world, copy, title, as_secondary) if copy is not None else None
    if refused is not None:
        raise refused
    if copy is not None and group_policies.get_policy(copy).can_back_up_closed(copy):
        return copy
    if copy is not None and copy.standby:
        raise SqlError(3036, copy.database, also=(3013,), title=title)
    if copy is not None and copy.disk_failed:
        if not damaged or any(file.log for file in disks.list_lost_files(world, copy)):
            raise SqlError(945, copy.database, also=(3013,), title=title)
        return copy
    try:
        statements.check_database_access(world, server, database)
    except SqlError as problem:
        raise SqlError(problem.number, *problem.parameters, also=(3013,), title=title) from None
    assert copy is not None
    return copy


def _find_writer_key(world: World, copy: DatabaseCopy) -> Key:
    """Return the key of the copy that writes the log of *copy*."""
    source = world.find_source_of(copy)
    return world.sources[source] if source is not None else copy.key


def _find_role_refusal(
    world: World, copy: DatabaseCopy, title: str, as_secondary: bool = True
) -> SqlError | None:
    number = group_policies.get_policy(copy).find_backup_refusal(world, copy, as_secondary)
    return SqlError(number, copy.database, also=(3013,), title=title) if number else None


def _find_backup_location(
    world: World, server: str, path: str, size_kb: float, title: str
) -> tuple[str, str]:
    """Return the location of the backup file: (server, local path).

    If the file exists, the path has the spelling of the existing file. Raise 3201, 3202 or 3241.
    """
    try:
        host, local = files.locate_path(world, server, path)
    except SqlError as problem:
        problem.title = title
        raise
    if local == files.NULL_DEVICE:
        return host, local
    local = files.find_path_spelling(world, host, local)
    file = files.find_file(world, host, local)
    if file is not None and not isinstance(file, BackupFile):
        raise SqlError(3241, path, also=(3013,), title=title)
    if volumes.compute_free_kb(world, host, volumes.get_drive_letter(local)) < size_kb:
        raise SqlError(3202, path, files.DISK_FULL, also=(3013,), title=title)
    return host, local


def _build_backup_set(
    world: World,
    copy: DatabaseCopy,
    kind: str,
    number: int,
    first_kb: float,
    last_kb: float,
    size_kb: float,
    started: Tick,
) -> BackupSet:
    return BackupSet(
        id=number,
        kind=kind,
        database=copy.database,
        server=copy.server,
        version=world.instances[copy.server].version,
        family=copy.family,
        fork=copy.fork,
        lineage=copy.lineage,
        first_kb=first_kb,
        last_kb=last_kb,
        base_kb=copy.full_backup_kb if copy.full_backup else None,
        size_kb=size_kb,
        started_tick=started,
        tick=world.tick,
        extra_files=copy.extra_files,
        encryption_key=copy.encryption_key,
        encrypted=copy.encrypted,
        recovery_model=copy.recovery_model,
        read_only=copy.read_only,
        bulk_logged=kind == LOG_BACKUP_KIND and copy.bulk_changes,
        incomplete=kind == LOG_BACKUP_KIND and copy.disk_failed,
    )


def _check_expiration(
    world: World, location: tuple[str, str], details: BackupDetails, init: bool, title: str
) -> None:
    """Raise 4030 if INIT would overwrite a backup that has not expired."""
    old_file = world.files.get(location)
    for backup_set in old_file.sets if isinstance(old_file, BackupFile) and init and not details.skip else ():
        expires = backup_set.details.expires_tick
        if expires is not None and expires > world.tick:
            time = clock.get_time_at(world, expires)
            expiration = datetime_formats.format_datetime(time, "%b %d %Y %I:%M:%S:000%p")
            raise SqlError(4030, location[1], expiration, also=(3013,), title=title)


def _store_backup(world: World, location: tuple[str, str], backup_set: BackupSet, init: bool) -> int:
    """Store the backup in its file and return its position in the file."""
    old_file, is_null = world.files.get(location), location[1] == files.NULL_DEVICE
    before = old_file.sets if isinstance(old_file, BackupFile) and (is_null or not init) else ()
    overwritten = old_file.overwritten if isinstance(old_file, BackupFile) else ()
    if isinstance(old_file, BackupFile) and not before:
        overwritten = (*overwritten, *enumerate((replace(s, image=None) for s in old_file.sets), start=1))
    # backups to the null device are stored, because msdb lists them
    world.files[location] = BackupFile((*before, backup_set), overwritten)
    return 1 if is_null else len(before) + 1


def _store_and_log_backup(world: World, location: tuple[str, str], backup_set: BackupSet, init: bool) -> int:
    """Store the backup in its file, write an ERRORLOG line, and return its position in the file."""
    number = _store_backup(world, location, backup_set, init)
    if NO_BACKUP_LINES_TRACE_FLAG in world.instances[backup_set.server].trace_flags:
        return number
    word = "Log was" if backup_set.kind == LOG_BACKUP_KIND else "Database"
    errorlog.write_text(
        world,
        backup_set.server,
        f"{word} backed up. Database: {backup_set.database}, pages dumped: {round(backup_set.size_kb / PAGE_KB)}, "
        f"device information: (FILE={number}, TYPE=DISK: {{'{location[1]}'}}). "
        "This is an informational message only. No user action is required.",
    )
    return number


def _build_backup_report(world: World, backup_set: BackupSet, title: str, position: int) -> list[Message]:
    return build_completion_messages(
        world,
        title,
        backup_set,
        backup_set.database,
        backup_set.started_tick,
        position,
        backup_set.details.stats,
    )


LOG_PAGES_MIN: Final = 1
"""Minimum number of log pages in the backup of an idle database. Seen in public output: 1 to 3."""


def _list_file_pages(backup_set: BackupSet) -> list[tuple[str, int]]:
    """Return (logical name, pages) of each file of a backup: data, then log."""
    log_kb = backup_set.last_kb - backup_set.first_kb
    if backup_set.kind == LOG_BACKUP_KIND or backup_set.image is None:
        return [(f"{backup_set.database}_log", round(log_kb / PAGE_KB))]
    data, log = volumes.list_copy_files(backup_set.image)[:2]
    data_kb = max(0.0, backup_set.backup_kb - log_kb)
    return [(data.name, round(data_kb / PAGE_KB)), (log.name, max(LOG_PAGES_MIN, round(log_kb / PAGE_KB)))]


def build_completion_messages(
    world: World,
    title: str,
    backup_set: BackupSet,
    database: str,
    started_tick: Tick,
    position: int,
    stats: int,
) -> list[Message]:
    """Return the messages of a completed BACKUP or RESTORE: progress, pages of each file, closing line.

    In a backup, the line for 100 percent follows the data files. Seen in public outputs.
    """
    seconds = max(0.01, (world.tick - started_tick) / 100.0)
    files_pages = _list_file_pages(backup_set)
    pages = sum(int(count) for _, count in files_pages)
    progress = [*range(stats, 100, stats), 100] if stats else []
    lines = [Message(3211, 0, 1, 0, fill_message(3211, percent)[1]) for percent in progress]
    last_line = lines.pop() if lines and title.startswith("BACKUP") else None
    for index, (name, count) in enumerate(files_pages, start=1):
        if last_line is not None and index == len(files_pages):
            lines.append(last_line)
        lines.append(Message(4035, 0, 1, 0, fill_message(4035, count, database, name, position)[1]))
    rate = pages * PAGE_KB / 1024.0 / seconds
    duration, speed = divmod(round(seconds * 1000.0), 1000), divmod(round(rate * 1000.0), 1000)
    closing = fill_message(3014, title, pages, *duration, *speed)[1]
    return [*lines, Message(3014, 0, 1, 0, closing)]


def build_job_path(world: World, key: Key) -> str:
    """Return the path for a log backup that a job takes now."""
    moment = clock.get_time_at(world, world.tick)
    return f"{volumes.BACKUP_FOLDER}\\{key[1]}_{moment:%Y%m%d_%H%M%S}.trn"


def _abandon_data_backup(world: World, server: str, database: str, *_: object) -> None:
    if (server, database) in world.copies:
        world.update_copy((server, database), backup_from_kb=None)


statements.COMPLETION_HANDLERS["backup.data"] = _complete_data_backup
statements.COMPLETION_HANDLERS["backup.log"] = _complete_log_backup
statements.ABANDON_HANDLERS["backup.data"] = _abandon_data_backup
