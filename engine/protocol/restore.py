"""RESTORE DATABASE and RESTORE LOG: checks of the backup, placement of the files, and resulting state.

Each function takes the server of the statement and raises SqlError with SQL Server's error number.
"""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from engine import arithmetic
from engine.commits import Commit
from engine.constants import BACKUP_S_MIN, RESTORE_RECOVERY_S
from engine.messages import Message, SqlError
from engine.model import (
    Availability,
    DatabaseCopy,
    DbFile,
    DbState,
    FileOptions,
    FilePath,
    Key,
    RecoveryModel,
    RestoreHistoryRow,
    Tick,
    World,
    to_ticks,
)
from engine.protocol import (
    backup,
    commits,
    errorlog,
    files,
    jobs,
    lineage,
    options,
    snapshots,
    statements,
    streams,
    volumes,
)
from engine.protocol.backup import (
    DATABASE_BACKUP_KIND,
    DIFFERENTIAL_BACKUP_KIND,
    LOG_BACKUP_KIND,
    BackupFile,
    BackupSet,
)

STATEMENT_TITLES = {
    DATABASE_BACKUP_KIND: "RESTORE DATABASE",
    DIFFERENTIAL_BACKUP_KIND: "RESTORE DATABASE",
    LOG_BACKUP_KIND: "RESTORE LOG",
}


class RestoreState(Struct, frozen=True):
    """State that the options of a RESTORE request: RECOVERY, NORECOVERY or STANDBY, STOPAT and others."""

    recovery: bool = True
    standby: bool = False
    stop_tick: Tick | None = None
    replaced: bool = False
    """True for WITH REPLACE."""
    stats: int = 0
    """Interval between two progress messages, in percent (option STATS); 0 means no messages."""
    position: int = 1
    """Position of the backup in its file."""
    checksum: bool = False

    @property
    def finish_s(self) -> float:
        """Return the time that the recovery at the end of the restore takes, in seconds."""
        return RESTORE_RECOVERY_S if self.recovery or self.standby else 0.0


def list_backup_sets(
    world: World, server: str, path: str, title: str = "RESTORE HEADERONLY"
) -> tuple[BackupSet, ...]:
    """Return the backups in a file, as RESTORE HEADERONLY lists them.

    Raise 3201 if the file does not exist, 3241 if it is not a backup.
    """
    try:
        host, local = files.locate_path(world, server, path)
    except SqlError as problem:
        problem.title = title
        raise
    if local == files.NULL_DEVICE:
        raise SqlError(3254, path, also=(3013,), title=title)
    file = files.find_file(world, host, local)
    if file is None:
        # [DOC: MSSQLSERVER_3201]
        raise SqlError(3201, path, files.NO_FILE, state=2, also=(3013,), title=title)
    if not isinstance(file, BackupFile):
        raise SqlError(3241, path, also=(3013,), title=title)
    return file.sets


def list_backup_files(backup_set: BackupSet) -> tuple[DbFile, ...]:
    """Return the database files in a full or differential backup, as RESTORE FILELISTONLY lists them."""
    return volumes.list_copy_files(backup_set.image) if backup_set.image is not None else ()


def _find_backup_set(
    world: World, server: str, path: str, number: int, title: str, checksum: bool = False
) -> BackupSet:
    """Return backup *number* of a file.

    Raise 4038 if it does not exist, 3187 if it lacks the required checksums.
    """
    sets = list_backup_sets(world, server, path, title)
    if not 1 <= number <= len(sets):
        raise SqlError(4038, number, path, also=(3013,), title=title)
    if checksum and not sets[number - 1].details.checksum:
        raise SqlError(3187, also=(3013,), title=title)
    return sets[number - 1]


def _require_no_snapshots(world: World, server: str, database: str, title: str) -> None:
    """Raise 5094 if the database has snapshots, which must be dropped first."""
    if snapshots.list_snapshots(world, server, database):
        raise SqlError(5094, also=(3013,), title=title)


def _find_existing_copy(world: World, server: str, database: str) -> DatabaseCopy | None:
    lower_name = database.lower()
    return next(
        (c for (s, name), c in world.copies.items() if s == server and name.lower() == lower_name), None
    )


# --- RESTORE DATABASE ------------------------------------------------------------------------------


def restore_database(
    world: World,
    server: str,
    database: str,
    path: str,
    *,
    recovery: bool = True,
    ending: RestoreState | None = None,
    replace_existing: bool = False,
    moves: Mapping[str, str] | None = None,
    file: int = 1,
    login: str = "sa",
) -> statements.Outcome:
    """Restore a database from the disk file *path*.

    *recovery* False means NORECOVERY, *moves* maps logical name -> path, *file* is the number of the backup.
    *ending* replaces *recovery* if other options are needed. Raise 3118, 3135, 3136, 3154, 3159, 3169, 3201,
    3241, 3257, 4038, 5133 or 33111, each followed by 3013.
    """
    title = "RESTORE DATABASE"
    old_copy = _find_existing_copy(world, server, database)
    _require_no_snapshots(world, server, database, title)
    ending = replace(ending or RestoreState(recovery), position=file, replaced=replace_existing)
    backup_set = _find_backup_set(world, server, path, file, title, ending.checksum)
    if backup_set.kind == LOG_BACKUP_KIND or backup_set.image is None:
        raise SqlError(3135, path, "BACKUP LOG", also=(3013,), title=title)
    if backup_set.version > world.instances[server].version:
        raise SqlError(3169, backup_set.version, world.instances[server].version, also=(3013,), title=title)
    options.require_certificate(world.instances[server], backup_set.encryption_key, title)
    if ending.stop_tick is not None and ending.stop_tick < backup_set.tick:
        raise SqlError(4338, also=(3013,), title=title)
    if backup_set.kind == DIFFERENTIAL_BACKUP_KIND:
        return _restore_differential(world, server, database, old_copy, path, backup_set, ending)
    if old_copy is not None and not replace_existing:
        _check_existing_copy(world, old_copy, backup_set, title)
    new_files = _place_files(
        world,
        server,
        old_copy.database if old_copy is not None else database,
        old_copy,
        backup_set,
        moves or {},
        title,
    )
    number = world.next_id()
    new_files = options.apply_restored_properties(
        new_files, backup_set.image, login if old_copy is None else old_copy.owner
    )
    store_copy(world, replace(new_files, restoring=number))
    duration_s = max(BACKUP_S_MIN, _compute_read_s(world, server, path, backup_set)) + ending.finish_s
    args = (new_files.database, number, backup_set, world.tick, ending)
    return statements.PendingStatement(world.tick + to_ticks(duration_s), "restore.done", args)


def _check_existing_copy(
    world: World, existing_copy: DatabaseCopy, backup_set: BackupSet, title: str
) -> None:
    """Raise the errors of a restore without REPLACE over an existing copy.

    3154: the backup is of another database. 3159: the tail of the log has not been backed up.
    """
    if existing_copy.family != backup_set.family:
        raise SqlError(3154, existing_copy.database, also=(3013,), title=title)
    # An online database always has an unsaved tail. Only BACKUP LOG WITH NORECOVERY saves the whole tail.
    if (
        existing_copy.db_state is DbState.ONLINE
        and existing_copy.full_backup
        and existing_copy.recovery_model is not RecoveryModel.SIMPLE
    ):
        raise SqlError(3159, existing_copy.database, also=(3013,), title=title)


def _check_target_files(
    world: World, server: str, database: str, targets: Mapping[str, str], title: str
) -> None:
    """Raise 1834 and 3156 for each target file that another database uses. *targets*: logical name -> path."""
    used = {
        volumes.get_file_path(other_copy, item).lower(): name
        for (server_name, name), other_copy in world.copies.items()
        if server_name == server and name.lower() != database.lower()
        for item in volumes.list_copy_files(other_copy)
    }
    problems: list[SqlError] = []
    for name, path in targets.items():
        if path.lower() in used:
            first_error = SqlError(1834, path, used[path.lower()], also=(3119, 3013), title=title)
            problems += [first_error, SqlError(3156, name, path)]
    if problems:
        problems[0].problems = tuple(problems)
        raise problems[0]


def _place_files(
    world: World,
    server: str,
    database: str,
    existing_copy: DatabaseCopy | None,
    backup_set: BackupSet,
    moves: Mapping[str, str],
    title: str,
) -> DatabaseCopy:
    """Return the future copy, with its files on drives that exist and have space. Raise 5133 or 3257.

    Files keep their logical names and, without MOVE, their paths. [DOC: RESTORE arguments]
    """
    image = backup_set.image
    assert image is not None
    moved_paths = {name.lower(): path for name, path in moves.items()}
    image_files = volumes.list_copy_files(image)
    for name in moves:
        if name.lower() not in [item.name.lower() for item in image_files]:
            raise SqlError(3234, name, database, also=(3013,), title=title)
    targets = {
        item.name: moved_paths.get(item.name.lower(), volumes.get_file_path(image, item))
        for item in image_files
    }
    _check_target_files(world, server, database, targets, title)
    for path in targets.values():
        if not volumes.has_drive(world.get_computer_of(server), volumes.get_drive_letter(path)):
            raise SqlError(5133, path, files.NO_PATH, also=(3013,), title=title)
    db_files = [replace(item, drive=volumes.get_drive_letter(targets[item.name])) for item in image_files]
    _check_space(world, server, existing_copy, db_files, title)
    data, log, *extra = db_files
    copy = DatabaseCopy(
        server=server,
        database=database,
        database_id=existing_copy.database_id
        if existing_copy is not None
        else snapshots.find_next_database_id(world, server),
        db_state=DbState.RESTORING,
        recovery_model=image.recovery_model,
        family=image.family,
        fork=backup_set.fork,
        lineage=backup_set.lineage,
        end_of_log_kb=backup_set.last_kb,
        redone_kb=backup_set.last_kb,
        log_start_kb=backup_set.first_kb,
        last_log_backup_kb=backup_set.last_kb,
        full_backup_kb=backup_set.first_kb if backup_set.base == backup_set.id else backup_set.base_kb or 0.0,
        full_backup_id=backup_set.base,
        workload=image.workload,
        scale=image.scale,
        size_kb=image.size_kb,
        log_size_kb=image.log_size_kb,
        log_max_kb=image.log_max_kb,
        data_drive=data.drive,
        log_drive=log.drive,
        extra_files=tuple(replace(item, name=item.key, created_as="") for item in extra),
        compression_ratio=image.compression_ratio,
        delayed_durability=image.delayed_durability,
        log_backup_every_s=image.log_backup_every_s,
    )
    file_options, file_paths = [], []
    for image_file, file in zip(image_files, volumes.list_copy_files(copy), strict=True):
        path = targets[image_file.name]
        name = "" if image_file.name == file.key else image_file.name
        options = replace(volumes.get_file_options(image, image_file), file=file.key, name=name)
        if options != FileOptions(file=file.key):
            file_options.append(options)
        if path != volumes.get_file_path(copy, file):
            file_paths.append(FilePath(file=file.key, path=path, found=(path,)))
    return replace(copy, file_options=tuple(file_options), file_paths=tuple(file_paths))


def _check_space(
    world: World, server: str, existing_copy: DatabaseCopy | None, new_files: list[DbFile], title: str
) -> None:
    for drive in sorted({item.drive for item in new_files}):
        needed_kb = arithmetic.add_in_order(item.size_kb for item in new_files if item.drive == drive)
        freed = (
            arithmetic.add_in_order(
                item.size_kb for item in volumes.list_copy_files(existing_copy) if item.drive == drive
            )
            if existing_copy
            else 0.0
        )
        size_kb = volumes.get_size_kb(world.get_computer_of(server), drive)
        room = (
            float("inf")
            if size_kb is None
            else size_kb - volumes.compute_used_kb(world, server, drive) + freed
        )
        if needed_kb > room:
            lacking = f"{(needed_kb - room) * 1024:.0f}"
            raise SqlError(3257, drive, lacking, f"{room * 1024:.0f}", also=(3013,), title=title)


def store_copy(world: World, new_copy: DatabaseCopy) -> None:
    """Store the copy of a new or restored database; it replaces an existing copy."""
    key = new_copy.key
    old_copy = world.copies.get(key)
    if old_copy is not None:
        commits.discard_copy(world, old_copy, commits.find_other_copies(world, old_copy))
    if old_copy is not None:
        streams.stop_log(world, old_copy)
    world.copies[key] = new_copy
    world.availability.setdefault(
        new_copy.database, Availability(database=new_copy.database, since_tick=world.tick, serving=False)
    )
    if old_copy is None:
        jobs.start_log_backup_timer(world, key)


def _restore_differential(
    world: World,
    server: str,
    database: str,
    existing_copy: DatabaseCopy | None,
    path: str,
    backup_set: BackupSet,
    ending: RestoreState,
) -> statements.Outcome:
    copy = _check_restoring(world, server, database, existing_copy, "RESTORE DATABASE")
    if copy.full_backup_id != backup_set.base or copy.family != backup_set.family:
        raise SqlError(3136, also=(3013,), title="RESTORE DATABASE")
    return _roll_forward(world, copy, path, backup_set, ending)


# --- RESTORE LOG -----------------------------------------------------------------------------------


def restore_log(
    world: World,
    server: str,
    database: str,
    path: str,
    *,
    recovery: bool = True,
    ending: RestoreState | None = None,
    file: int = 1,
) -> statements.Outcome:
    """Restore log from the disk file *path*. The backup must continue the log of the copy.

    *recovery* False means NORECOVERY, *file* is the number of the backup. *ending* replaces *recovery*
    if other options are needed.

    Raise 3117, 3118, 3135, 3154 or 3201, each followed by 3013. The following errors are followed by
    3013, too. 4305: log before the backup is missing. 4326: the backup contains no later log. 4330: the
    backup is from another recovery path. 4335: STOPAT is earlier than the restored log.
    """
    ending = replace(ending or RestoreState(recovery), position=file)
    title = "RESTORE LOG"
    old_copy = _find_existing_copy(world, server, database)
    backup_set = _find_backup_set(world, server, path, file, title, ending.checksum)
    copy = _check_restoring(world, server, database, old_copy, title)
    if backup_set.kind != LOG_BACKUP_KIND:
        raise SqlError(3135, path, "BACKUP DATABASE", also=(3013,), title=title)
    if backup_set.family != copy.family:
        raise SqlError(3154, copy.database, also=(3013,), title=title)
    options.require_certificate(world.instances[server], backup_set.encryption_key, title)
    end = copy.end_of_log_kb
    if lineage.find_common_kb(backup_set.lineage, copy.lineage) < end:
        raise SqlError(4330, also=(3013,), title=title)
    if backup_set.first_kb > end:
        raise SqlError(
            4305, lineage.format_lsn(backup_set.first_kb), lineage.format_lsn(end), also=(3013,), title=title
        )
    if backup_set.last_kb < end:
        raise SqlError(
            4326, lineage.format_lsn(backup_set.last_kb), lineage.format_lsn(end), also=(3013,), title=title
        )
    lacking = [
        f for f in backup_set.extra_files if not volumes.has_drive(world.get_computer_of(server), f.drive)
    ]
    if any(file not in copy.extra_files for file in lacking):
        raise SqlError(
            5133, volumes.get_file_path(copy, lacking[0]), files.NO_PATH, also=(3013,), title=title
        )
    stop = ending.stop_tick
    if stop is not None and (stop < backup_set.from_tick or _find_stop_kb(world, backup_set, stop) < end):
        raise SqlError(4335, also=(3013,), title=title)
    return _roll_forward(world, copy, path, backup_set, ending)


def _find_stop_kb(world: World, backup_set: BackupSet, stop_tick: Tick) -> float:
    """Return the log position in a backup that corresponds to *stop_tick*, in KB.

    Each commit of a T-SQL window has its own time. Between two of them, the log is assumed to grow evenly.
    """
    covered_ticks = max(1, backup_set.started_tick - backup_set.from_tick)
    share = min(1.0, (stop_tick - backup_set.from_tick) / covered_ticks)
    even_kb = backup_set.first_kb + (backup_set.last_kb - backup_set.first_kb) * share
    commit = commits.find_last_commit(world, backup_set.family, backup_set.lineage, backup_set.last_kb)
    later_commit: Commit | None = None
    while commit is not None and commit.tick > stop_tick:
        later_commit, commit = commit, commit.previous
    if later_commit is not None:
        even_kb = min(even_kb, later_commit.kb - commits.COMMIT_LOG_KB)
    return max(even_kb, commit.kb) if commit is not None and commit.kb > backup_set.first_kb else even_kb


def _check_restoring(
    world: World, server: str, database: str, existing_copy: DatabaseCopy | None, title: str
) -> DatabaseCopy:
    """Return the copy to which log is restored.

    Raise 3118 if it does not exist, 3117 if it is busy or not RESTORING.
    """
    if existing_copy is None:
        raise SqlError(3118, database, also=(3013,), title=title)
    if existing_copy.db_state is not DbState.RESTORING or existing_copy.restoring:
        raise SqlError(3117, also=(3013,), title=title)
    return existing_copy


def _roll_forward(
    world: World, copy: DatabaseCopy, path: str, backup_set: BackupSet, ending: RestoreState
) -> statements.Outcome:
    number = world.next_id()
    world.update_copy(copy.key, restoring=number)
    duration_s = max(BACKUP_S_MIN, _compute_read_s(world, copy.server, path, backup_set)) + ending.finish_s
    args = (copy.database, number, backup_set, world.tick, ending)
    return statements.PendingStatement(world.tick + to_ticks(duration_s), "restore.done", args)


# --- the end ---------------------------------------------------------------------------------------


def _compute_read_s(world: World, server: str, path: str, backup_set: BackupSet) -> float:
    host, _ = files.locate_path(world, server, path)
    size_kb = (
        backup_set.image.size_kb
        if backup_set.image is not None and backup_set.kind == DATABASE_BACKUP_KIND
        else backup_set.size_kb
    )
    return files.compute_file_copy_s(world, host, server, size_kb)


def _complete_restore(
    world: World,
    server: str,
    database: str,
    number: int,
    backup_set: BackupSet,
    started_tick: int,
    ending: RestoreState,
) -> statements.Outcome:
    key = (server, database)
    copy = world.copies.get(key)
    title = STATEMENT_TITLES[backup_set.kind]
    if copy is None or copy.restoring != number:
        raise SqlError(3101, also=(3013,), title=title)
    last_kb, reached = backup_set.last_kb, True
    if ending.stop_tick is not None:
        reached = backup_set.kind == LOG_BACKUP_KIND and ending.stop_tick <= backup_set.started_tick
        last_kb = _find_stop_kb(world, backup_set, ending.stop_tick) if reached else last_kb
    end = max(copy.end_of_log_kb, last_kb)
    world.update_copy(
        key,
        restoring=0,
        end_of_log_kb=end,
        redone_kb=end,
        last_log_backup_kb=end,
        last_log_backup_tick=backup_set.started_tick
        if backup_set.image is None
        else backup_set.image.last_log_backup_tick,
        log_start_kb=backup_set.first_kb
        if backup_set.kind != LOG_BACKUP_KIND
        else min(copy.log_start_kb, backup_set.first_kb),
        lineage=backup_set.lineage,
        fork=backup_set.fork,
        standby=ending.standby,
        encryption_key=backup_set.encryption_key,
        encrypted=backup_set.encrypted,
        extra_files=copy.extra_files
        if backup_set.kind == DATABASE_BACKUP_KIND
        else _merge_file_entries(copy, backup_set),
    )
    _record_history(world, key, backup_set, ending, ending.recovery and reached)
    word = "Log was" if backup_set.kind == LOG_BACKUP_KIND else "Database was"
    errorlog.write_text(
        world,
        server,
        f"{word} restored. Database: {database}, end of log reached. "
        "This is an informational message only. No user action is required.",
    )
    messages = backup.build_completion_messages(
        world, title, backup_set, database, started_tick, ending.position, ending.stats
    )
    if not reached:
        return [*messages[:-1], Message(0, 0, 0, 0, STOPAT_NOT_REACHED), messages[-1]]
    if ending.recovery:
        statements.open_restored(world, key)
    return messages


STOPAT_NOT_REACHED: Final = (
    "This backup set contains records that were logged before the designated point in time. "
    "The database is being left in the restoring state so that more roll forward can be performed."
)


RESTORE_TYPES: Final = {DATABASE_BACKUP_KIND: "D", DIFFERENTIAL_BACKUP_KIND: "I", LOG_BACKUP_KIND: "L"}
"""Kind of backup -> restore_type in msdb.dbo.restorehistory. Documented."""


def _record_history(
    world: World, key: Key, backup_set: BackupSet, ending: RestoreState, recovery: bool
) -> None:
    restore_history_row = RestoreHistoryRow(
        database=key[1],
        backup_id=backup_set.id,
        kind=RESTORE_TYPES[backup_set.kind],
        tick=world.tick,
        replace=ending.replaced,
        recovery=recovery,
        stop_tick=ending.stop_tick,
    )
    world.update_instance(key[0], restores=(*world.instances[key[0]].restores, restore_history_row))


def _merge_file_entries(copy: DatabaseCopy, backup_set: BackupSet) -> tuple[DbFile, ...]:
    """Return the additional files after a log restore: the copy's own entries, and new files from the backup."""
    own_files = {file.name: file for file in copy.extra_files}
    return tuple(own_files.get(file.name, file) for file in backup_set.extra_files)


statements.COMPLETION_HANDLERS["restore.done"] = _complete_restore
