"""RESTORE DATABASE and RESTORE LOG from a backup: which backup fits, where its files go, how far the copy then is.

Each function takes the server on which the statement runs and raises SqlError with the server's number.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from engine import arithmetic
from engine.commits import Commit
from engine.constants import BACKUP_LEAST_S, RECOVER_RESTORED_S
from engine.messages import Message, SqlError
from engine.model import (
    Availability,
    DatabaseCopy,
    DbFile,
    DbState,
    Key,
    RecoveryModel,
    Restored,
    Tick,
    World,
    ticks,
)
from engine.protocol import (
    backup,
    commits,
    encryption,
    errorlog,
    files,
    jobs,
    lineage,
    losses,
    options,
    snapshots,
    statements,
    streams,
    volumes,
)
from engine.protocol.backup import DATABASE, DIFFERENTIAL, LOG, BackupFile, BackupSet

TITLES = {DATABASE: "RESTORE DATABASE", DIFFERENTIAL: "RESTORE DATABASE", LOG: "RESTORE LOG"}


class Ending(Struct, frozen=True):
    """How a RESTORE leaves the database: WITH RECOVERY, NORECOVERY or STANDBY, and STOPAT."""

    recovery: bool = True
    standby: bool = False
    stop_tick: Tick | None = None

    @property
    def finish_s(self) -> float:
        return RECOVER_RESTORED_S if self.recovery or self.standby else 0.0


def sets_in(world: World, server: str, path: str, title: str = "RESTORE HEADERONLY") -> tuple[BackupSet, ...]:
    """The backups in a file, as RESTORE HEADERONLY lists them. 3201 no such file, 3241 not a backup."""
    try:
        host, local = files.locate(world, server, path)
    except SqlError as problem:
        problem.title = title
        raise
    found = files.find(world, host, local)
    if found is None:
        raise SqlError(3201, path, files.NO_FILE, also=(3013,), title=title)
    if not isinstance(found, BackupFile):
        raise SqlError(3241, path, also=(3013,), title=title)
    return found.sets


def files_in(chosen: BackupSet) -> tuple[DbFile, ...]:
    """The database files in a full or differential backup, as RESTORE FILELISTONLY lists them."""
    return volumes.files_of(chosen.image) if chosen.image is not None else ()


def _chosen(world: World, server: str, path: str, number: int, title: str) -> BackupSet:
    sets = sets_in(world, server, path, title)
    if not 1 <= number <= len(sets):
        raise SqlError(4038, number, path, also=(3013,), title=title)
    return sets[number - 1]


def _without_snapshots(world: World, server: str, database: str, title: str) -> None:
    """5094 for a database that has snapshots: they must be dropped first."""
    if snapshots.of_database(world, server, database):
        raise SqlError(5094, also=(3013,), title=title)


def _existing(world: World, server: str, database: str) -> DatabaseCopy | None:
    wanted = database.lower()
    return next((c for (s, name), c in world.copies.items() if s == server and name.lower() == wanted), None)


# --- RESTORE DATABASE ------------------------------------------------------------------------------


def restore_database(
    world: World,
    server: str,
    database: str,
    path: str,
    *,
    recovery: bool = True,
    ending: Ending | None = None,
    replace_existing: bool = False,
    moves: Mapping[str, str] | None = None,
    file: int = 1,
    login: str = "sa",
) -> statements.Outcome:
    """RESTORE DATABASE … FROM DISK = path; *recovery* False is NORECOVERY, *moves* logical name -> path, FILE = *file*.

    *ending* says more than *recovery* does.

    3118, 3135, 3136, 3154, 3159, 3169, 3201, 3241, 3257, 4038, 5133, 33111, each followed by 3013.
    """
    title = "RESTORE DATABASE"
    old = _existing(world, server, database)
    _without_snapshots(world, server, database, title)
    chosen = _chosen(world, server, path, file, title)
    if chosen.kind == LOG or chosen.image is None:
        raise SqlError(3135, path, "BACKUP LOG", also=(3013,), title=title)
    if chosen.version > world.instances[server].version:
        raise SqlError(3169, chosen.version, world.instances[server].version, also=(3013,), title=title)
    encryption.need_key(world.instances[server], chosen.encryption_key, title)
    ending = ending or Ending(recovery)
    if ending.stop_tick is not None and ending.stop_tick < chosen.tick:
        raise SqlError(4335, also=(3013,), title=title)
    if chosen.kind == DIFFERENTIAL:
        return _differential(world, server, database, old, path, chosen, ending)
    if old is not None and not replace_existing:
        _spare_existing(world, old, chosen, title)
    new = _placed(
        world, server, old.database if old is not None else database, old, chosen, moves or {}, title
    )
    number = world.next_id()
    new = options.as_restored(new, chosen.image, login if old is None else old.owner)
    put(world, replace(new, restoring=number))
    duration_s = max(BACKUP_LEAST_S, _read_s(world, server, path, chosen)) + ending.finish_s
    args = (new.database, number, chosen, world.tick, ending)
    return statements.Pending(world.tick + ticks(duration_s), "restore.done", args)


def _spare_existing(world: World, old: DatabaseCopy, chosen: BackupSet, title: str) -> None:
    """Without REPLACE an existing database is overwritten only by its own backup and when its log is saved."""
    if old.family != chosen.family:
        raise SqlError(3154, old.database, also=(3013,), title=title)
    # Only BACKUP LOG WITH NORECOVERY leaves no tail: whatever else is done, a checkpoint writes log.
    if old.db_state is DbState.ONLINE and old.full_backup and old.recovery_model is not RecoveryModel.SIMPLE:
        raise SqlError(3159, old.database, also=(3013,), title=title)


def _spare_files(
    world: World, server: str, database: str, image: DatabaseCopy, moved: Mapping[str, str], title: str
) -> None:
    """A file goes where it was unless MOVE says otherwise; 1834 and 3156 for each that another database has there."""
    used = {
        volumes.path_of(other, item).lower(): name
        for (where, name), other in world.copies.items()
        if where == server and name.lower() != database.lower()
        for item in volumes.files_of(other)
    }
    problems: list[SqlError] = []
    for item in volumes.files_of(image):
        path = volumes.path_of(image, item)
        if item.name.lower() not in moved and path.lower() in used:
            first = SqlError(1834, path, used[path.lower()], also=(3119, 3013), title=title)
            problems += [first, SqlError(3156, item.name, path)]
    if problems:
        problems[0].problems = tuple(problems)
        raise problems[0]


def _placed(
    world: World,
    server: str,
    database: str,
    old: DatabaseCopy | None,
    chosen: BackupSet,
    moves: Mapping[str, str],
    title: str,
) -> DatabaseCopy:
    """The copy that will be there, its files on drives that exist and have room. 5133, 3257."""
    image = chosen.image
    assert image is not None
    places = {name.lower(): volumes.drive_of(path) for name, path in moves.items()}
    known = [item.name.lower() for item in volumes.files_of(image)]
    for name in moves:
        if name.lower() not in known:
            raise SqlError(3234, name, database, also=(3013,), title=title)
    _spare_files(world, server, database, image, places, title)
    placed: list[DbFile] = []
    for item in volumes.files_of(image):
        drive = places.get(item.name.lower(), item.drive)
        if not volumes.has_drive(world.computer_of(server), drive):
            path = volumes.path_of(image, replace(item, drive=drive))
            raise SqlError(5133, path, files.NO_PATH, also=(3013,), title=title)
        placed.append(replace(item, drive=drive))
    _need_space(world, server, old, placed, title)
    data, log, *extra = placed
    return DatabaseCopy(
        server=server,
        database=database,
        database_id=old.database_id if old is not None else snapshots.next_database_id(world, server),
        db_state=DbState.RESTORING,
        recovery_model=image.recovery_model,
        family=image.family,
        fork=chosen.fork,
        lineage=chosen.lineage,
        end_of_log_kb=chosen.last_kb,
        redone_kb=chosen.last_kb,
        log_start_kb=chosen.first_kb,
        last_log_backup_kb=chosen.last_kb,
        full_backup_id=chosen.base,
        workload=image.workload,
        scale=image.scale,
        size_kb=image.size_kb,
        log_size_kb=image.log_size_kb,
        log_max_kb=image.log_max_kb,
        data_drive=data.drive,
        log_drive=log.drive,
        extra_files=tuple(extra),
        compression_ratio=image.compression_ratio,
        delayed_durability=image.delayed_durability,
        log_backup_every_s=image.log_backup_every_s,
    )


def _need_space(
    world: World, server: str, old: DatabaseCopy | None, placed: list[DbFile], title: str
) -> None:
    for drive in sorted({item.drive for item in placed}):
        needed = arithmetic.total(item.size_kb for item in placed if item.drive == drive)
        freed = (
            arithmetic.total(item.size_kb for item in volumes.files_of(old) if item.drive == drive)
            if old
            else 0.0
        )
        whole = volumes.size_kb(world.computer_of(server), drive)
        room = float("inf") if whole is None else whole - volumes.used_kb(world, server, drive) + freed
        if needed > room:
            lacking = f"{(needed - room) * 1024:.0f}"
            raise SqlError(3257, drive, lacking, f"{room * 1024:.0f}", also=(3013,), title=title)


def put(world: World, new: DatabaseCopy) -> None:
    """A new database, or one in the place of another."""
    key = new.key
    old = world.copies.get(key)
    if old is not None:
        losses.give_up(world, old, losses.others(world, old))
    if old is not None:
        streams.still(world, old)
    world.copies[key] = new
    world.availability.setdefault(
        new.database, Availability(database=new.database, since_tick=world.tick, serving=False)
    )
    if old is None:
        jobs.arm_log_backup(world, key)


def _differential(
    world: World,
    server: str,
    database: str,
    old: DatabaseCopy | None,
    path: str,
    chosen: BackupSet,
    ending: Ending,
) -> statements.Outcome:
    copy = _ready(world, server, database, old, "RESTORE DATABASE")
    if copy.full_backup_id != chosen.base or copy.family != chosen.family:
        raise SqlError(3136, also=(3013,), title="RESTORE DATABASE")
    return _roll_forward(world, copy, path, chosen, ending)


# --- RESTORE LOG -----------------------------------------------------------------------------------


def restore_log(
    world: World,
    server: str,
    database: str,
    path: str,
    *,
    recovery: bool = True,
    ending: Ending | None = None,
    file: int = 1,
) -> statements.Outcome:
    """RESTORE LOG … FROM DISK = path: the log must follow on what the copy has.

    3117, 3118, 3135, 3154, 3201, 4305 (a gap before it), 4326 (nothing new in it), 4330 (of another recovery
    path), 4335 (STOPAT is before what has been restored), each followed by 3013. *ending* says more than *recovery*.
    """
    ending = ending or Ending(recovery)
    title = "RESTORE LOG"
    old = _existing(world, server, database)
    chosen = _chosen(world, server, path, file, title)
    copy = _ready(world, server, database, old, title)
    if chosen.kind != LOG:
        raise SqlError(3135, path, "BACKUP DATABASE", also=(3013,), title=title)
    if chosen.family != copy.family:
        raise SqlError(3154, copy.database, also=(3013,), title=title)
    encryption.need_key(world.instances[server], chosen.encryption_key, title)
    end = copy.end_of_log_kb
    if lineage.common_kb(chosen.lineage, copy.lineage) < end:
        raise SqlError(4330, also=(3013,), title=title)
    if chosen.first_kb > end:
        raise SqlError(4305, lineage.lsn(chosen.first_kb), lineage.lsn(end), also=(3013,), title=title)
    if chosen.last_kb < end:
        raise SqlError(4326, lineage.lsn(chosen.last_kb), lineage.lsn(end), also=(3013,), title=title)
    lacking = [f for f in chosen.extra_files if not volumes.has_drive(world.computer_of(server), f.drive)]
    if any(file not in copy.extra_files for file in lacking):
        raise SqlError(5133, volumes.path_of(copy, lacking[0]), files.NO_PATH, also=(3013,), title=title)
    stop = ending.stop_tick
    if stop is not None and (stop < chosen.from_tick or _stop_kb(world, chosen, stop) < end):
        raise SqlError(4335, also=(3013,), title=title)
    return _roll_forward(world, copy, path, chosen, ending)


def _stop_kb(world: World, chosen: BackupSet, stop_tick: Tick) -> float:
    """Where the log of a backup stood at a time: written evenly, and with every commit of a window at its own time."""
    whole = max(1, chosen.started_tick - chosen.from_tick)
    share = min(1.0, (stop_tick - chosen.from_tick) / whole)
    even_kb = chosen.first_kb + (chosen.last_kb - chosen.first_kb) * share
    commit = commits.upto(world, chosen.family, chosen.lineage, chosen.last_kb)
    later: Commit | None = None
    while commit is not None and commit.tick > stop_tick:
        later, commit = commit, commit.previous
    if later is not None:
        even_kb = min(even_kb, later.kb - commits.COMMIT_KB)
    return max(even_kb, commit.kb) if commit is not None and commit.kb > chosen.first_kb else even_kb


def _ready(world: World, server: str, database: str, old: DatabaseCopy | None, title: str) -> DatabaseCopy:
    """The copy that log is restored to: it exists, is RESTORING, and no RESTORE is under way."""
    if old is None:
        raise SqlError(3118, database, also=(3013,), title=title)
    if old.db_state is not DbState.RESTORING or old.restoring:
        raise SqlError(3117, also=(3013,), title=title)
    return old


def _roll_forward(
    world: World, copy: DatabaseCopy, path: str, chosen: BackupSet, ending: Ending
) -> statements.Outcome:
    number = world.next_id()
    world.update_copy(copy.key, restoring=number)
    duration_s = max(BACKUP_LEAST_S, _read_s(world, copy.server, path, chosen)) + ending.finish_s
    args = (copy.database, number, chosen, world.tick, ending)
    return statements.Pending(world.tick + ticks(duration_s), "restore.done", args)


# --- the end ---------------------------------------------------------------------------------------


def _read_s(world: World, server: str, path: str, chosen: BackupSet) -> float:
    host, _ = files.locate(world, server, path)
    size_kb = chosen.image.size_kb if chosen.image is not None and chosen.kind == DATABASE else chosen.size_kb
    return files.transfer_s(world, host, server, size_kb)


def _done(
    world: World, server: str, database: str, number: int, chosen: BackupSet, since: int, ending: Ending
) -> statements.Outcome:
    key = (server, database)
    copy = world.copies.get(key)
    title = TITLES[chosen.kind]
    if copy is None or copy.restoring != number:
        raise SqlError(3101, also=(3013,), title=title)
    last_kb, reached = chosen.last_kb, True
    if ending.stop_tick is not None:
        reached = chosen.kind == LOG and ending.stop_tick <= chosen.started_tick
        last_kb = _stop_kb(world, chosen, ending.stop_tick) if reached else last_kb
    end = max(copy.end_of_log_kb, last_kb)
    world.update_copy(
        key,
        restoring=0,
        end_of_log_kb=end,
        redone_kb=end,
        last_log_backup_kb=end,
        last_log_backup_tick=chosen.started_tick
        if chosen.image is None
        else chosen.image.last_log_backup_tick,
        log_start_kb=chosen.first_kb if chosen.kind != LOG else min(copy.log_start_kb, chosen.first_kb),
        lineage=chosen.lineage,
        fork=chosen.fork,
        standby=ending.standby,
        encryption_key=chosen.encryption_key,
        encrypted=chosen.encrypted,
        extra_files=copy.extra_files if chosen.kind == DATABASE else _with_drives(copy, chosen),
    )
    _keep_history(world, key, chosen, ending.recovery and reached)
    word = "Log was" if chosen.kind == LOG else "Database was"
    errorlog.write_text(
        world,
        server,
        f"{word} restored. Database: {database}, end of log reached. "
        "This is an informational message only. No user action is required.",
    )
    said = _report(world, chosen, database, title, since)
    if not reached:
        return [*said[:-1], Message(0, 0, 0, 0, NOT_REACHED), said[-1]]
    if ending.recovery:
        statements.open_restored(world, key)
    return said


NOT_REACHED: Final = (
    "This backup set contains records that were logged before the designated point in time. "
    "The database is being left in the restoring state so that more roll forward can be performed."
)


KINDS: Final = {DATABASE: "D", DIFFERENTIAL: "I", LOG: "L"}
"""restore_type of msdb.dbo.restorehistory. Documented."""


def _keep_history(world: World, key: Key, chosen: BackupSet, recovery: bool) -> None:
    done = Restored(
        database=key[1], backup_id=chosen.id, kind=KINDS[chosen.kind], tick=world.tick, recovery=recovery
    )
    world.update_instance(key[0], restores=(*world.instances[key[0]].restores, done))


def _with_drives(copy: DatabaseCopy, chosen: BackupSet) -> tuple[DbFile, ...]:
    """Files that the log creates, beside those that are where the full restore has put them."""
    mine = {file.name: file for file in copy.extra_files}
    return tuple(mine.get(file.name, file) for file in chosen.extra_files)


def _report(world: World, chosen: BackupSet, database: str, title: str, since: int) -> list[Message]:
    name = f"{database}_log" if chosen.kind == LOG else database
    return backup.processed(world, title, database, {name: chosen.size_kb}, since)


statements.COMPLETIONS["restore.done"] = _done
