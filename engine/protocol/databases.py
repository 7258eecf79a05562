"""CREATE DATABASE, DROP DATABASE, snapshots, detach and attach."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from engine import arithmetic
from engine.constants import ENTERPRISE_EDITIONS
from engine.messages import Message, SqlError
from engine.model import Availability, DatabaseCopy, DbFile, DbState, FilePath, Key, Snapshot, World
from engine.protocol import (
    commits,
    errorlog,
    files,
    group_policies,
    log_space,
    options,
    snapshots,
    statements,
    streams,
    volumes,
)
from engine.protocol.files import DISK_FULL, NO_PATH

NEW_DATA_FILE_KB: Final = 3.0 * 1024
NEW_LOG_FILE_KB: Final = 1.0 * 1024
"""Log file size of a database created without sizes, as in model. NEW_DATA_FILE_KB: data file size.

Known (up to SQL Server 2014).
"""

NEW_DATABASE_LOG_POSITION_KB: Final = 64.0
"""Log position of a new database. Assumed; only differences of positions matter."""


SNAPSHOTS_ALL_EDITIONS_SINCE: Final = 2016
"""First version that has database snapshots in every edition, from its Service Pack 1 on.

The simulated builds are later than this service pack [DOC: features supported by the editions].
"""


class NewDatabaseFile(Struct, frozen=True, kw_only=True):
    """File that a CREATE DATABASE statement names."""

    name: str
    path: str
    log: bool = False
    size_kb: float | None = None
    max_kb: float | None = None
    growth: volumes.FileChanges = {}


LOG_SHARE: Final = 0.25
UNNAMED_LOG_FILE_MIN_KB: Final = 512.0
"""Minimum size of the log file if CREATE DATABASE names none. Documented [DOC: CREATE DATABASE].

Above this minimum, the size is a quarter of the data files' size.
"""


def create_database(
    world: World, server: str, name: str, login: str = "sa", new_files: Sequence[NewDatabaseFile] = ()
) -> list[Message]:
    """Create an empty database without a backup.

    Its recovery model is that of the system database "model". *login* becomes its owner. Raise 1801 if
    the name exists; 1803, 1828, 5133 or 5149 for a file that cannot be created.
    """
    _require_free_name(world, server, name)
    _check_new_files(world, server, new_files)
    key = (server, name)
    world.copies[key] = DatabaseCopy(
        server=server,
        database=name,
        database_id=snapshots.find_next_database_id(world, server),
        family=-world.next_id(),  # a number that no other database family has
        recovery_model=options.get_model_recovery(world.instances[server]),
        full_backup=False,
        log_backed_up=False,
        log_backup_every_s=0.0,
        size_kb=NEW_DATA_FILE_KB,
        log_size_kb=NEW_LOG_FILE_KB,
        log_max_kb=log_space.LOG_FILE_MAX_KB,
        owner=login,
    )
    streams.add_source(world, key, NEW_DATABASE_LOG_POSITION_KB)
    world.availability.setdefault(name, Availability(database=name, since_tick=world.tick))
    _place_new_files(world, key, new_files)
    errorlog.write_message(world, server, 17137, name)
    return []


def _check_new_files(world: World, server: str, new_files: Sequence[NewDatabaseFile]) -> None:
    """Raise 1828, 5133, 5149, 5170, 1803, or an error of `check_new_file`, for files that cannot be created."""
    needed_kb: dict[str, float] = {}
    for index, file in enumerate(new_files):
        drive = volumes.get_drive_letter(file.path)
        if not volumes.ABSOLUTE_PATH_PATTERN.match(file.path):
            raise SqlError(5105, file.path, also=(1802,))
        if any(other_new_file.name.lower() == file.name.lower() for other_new_file in new_files[:index]):
            raise SqlError(1828, file.name)
        if volumes.find_file_at(world, server, file.path) is not None:
            raise SqlError(5170, file.path, also=(1802,))
        if not volumes.has_drive(world.get_computer_of(server), drive):
            raise SqlError(5133, file.path, NO_PATH, also=(1802,))
        if drive.upper() in world.instances[server].drives_apart:
            raise SqlError(5184, file.path)
        needed_kb[drive] = needed_kb.get(drive, 0.0) + (file.size_kb or NEW_LOG_FILE_KB)
        if volumes.compute_free_kb(world, server, drive) < needed_kb[drive]:
            raise SqlError(5149, DISK_FULL, file.path, also=(1802,))
    for file in new_files:
        default_kb = NEW_LOG_FILE_KB if file.log else NEW_DATA_FILE_KB
        size_kb = default_kb if file.size_kb is None else file.size_kb
        volumes.check_new_file(
            file.name, size_kb, file.max_kb, file.growth.get("growth_kb"), following_errors=(1802,)
        )
    data = [file for file in new_files if not file.log]
    if data and (data[0].size_kb or NEW_DATA_FILE_KB) < NEW_DATA_FILE_KB:
        raise SqlError(1803, round(NEW_DATA_FILE_KB / 1024))


def _place_new_files(world: World, key: Key, new_files: Sequence[NewDatabaseFile]) -> None:
    """Set the properties of the first data file and the first log file, and add all other files."""
    data = [file for file in new_files if not file.log]
    logs = [file for file in new_files if file.log]
    copy = world.copies[key]
    sizes = [
        file.size_kb or (NEW_LOG_FILE_KB if index else NEW_DATA_FILE_KB) for index, file in enumerate(data)
    ]
    if data and not logs:
        world.update_copy(
            key, log_size_kb=max(UNNAMED_LOG_FILE_MIN_KB, arithmetic.add_in_order(sizes) * LOG_SHARE)
        )
    for file, first_db_file in (
        (data[:1], volumes.list_copy_files(copy)[0]),
        (logs[:1], volumes.list_copy_files(copy)[1]),
    ):
        for new in file:
            _add_new_file(world, key, first_db_file, new)
    for new in (*data[1:], *logs[1:]):
        options: volumes.FileChanges = {**new.growth}
        if new.max_kb is not None:
            options["max_kb"] = new.max_kb
        size = new.size_kb or NEW_LOG_FILE_KB
        log_space.add_file(world, *key, new.name, new.path, size, log=new.log, options=options)


def _add_new_file(world: World, key: Key, file: DbFile, changed: NewDatabaseFile) -> None:
    copy = world.copies[key]
    options: volumes.FileChanges = {**changed.growth}
    if changed.name != file.name:
        options["name"] = changed.name
    changes: dict[str, object] = {}
    if changed.max_kb is not None and file.log:
        changes["log_max_kb"] = min(changed.max_kb, log_space.LOG_FILE_MAX_KB)
    elif changed.max_kb is not None:
        options["max_kb"] = changed.max_kb
    if changed.size_kb is not None:
        changes["log_size_kb" if file.log else "size_kb"] = changed.size_kb
    changes["log_drive" if file.log else "data_drive"] = volumes.get_drive_letter(changed.path)
    if options:
        changes["file_options"] = (
            *copy.file_options,
            replace(volumes.get_file_options(copy, file), **options),
        )
    changes["file_paths"] = (
        *copy.file_paths,
        FilePath(file=file.key, path=changed.path, found=(changed.path,)),
    )
    world.update_copy(key, **changes)


def _require_free_name(world: World, server: str, name: str) -> None:
    own_databases = [
        copy.database.lower() for (server_name, _), copy in world.copies.items() if server_name == server
    ]
    is_used = name.lower() in ("master", "msdb", "model", "tempdb", *own_databases)
    if is_used or world.instances[server].find_snapshot(name) is not None:
        raise SqlError(1801, name)


def drop_database(world: World, server: str, name: str) -> list[Message]:
    """Drop a database or a snapshot. Raise 3709 if the database has snapshots.

    `engine.tsql` has already raised 3701 for a missing database, 3702 if an application uses the
    database, and 3708 for a system database. It has also raised 3743 for a mirrored database and 3752
    for a database in an availability group.
    """
    picture = world.instances[server].find_snapshot(name)
    if picture is not None:
        return snapshots.drop_snapshot(world, server, picture)
    _remove_copy(world, statements.require_copy(world, server, name), "drop")
    return []


def _remove_copy(world: World, copy: DatabaseCopy, verb: str) -> None:
    key = copy.key
    pictures = snapshots.list_snapshots(world, *key)
    if pictures:
        raise SqlError(3709, verb, pictures[0].name)
    if verb == "drop":
        commits.discard_copy(world, copy, commits.find_other_copies(world, copy))
    streams.stop_log(world, copy)
    world.cancel_calls("log.backup", *key)
    del world.copies[key]
    world.mark_all_logs_changed()


# --- snapshots -------------------------------------------------------------------------------------


def create_snapshot(
    world: World, server: str, name: str, source: str, files: tuple[tuple[str, str], ...]
) -> list[Message]:
    """Create a snapshot of *source*; *files* contains (logical name, path) of each data file.

    Raise 1801 for a name in use, 1844 for the edition, 911 for an unknown source, 5093 for a snapshot of a
    snapshot, 1816 for a system database, 5127 if a data file is missing, 5014 for a file that the source does
    not have, 5133 for an unknown drive, and 1822 for a source that is not open or a mirror that is not
    SYNCHRONIZED. Errors of the source (955, 952 …) take precedence.
    """
    state = world.instances[server]
    _require_free_name(world, server, name)
    if state.edition not in ENTERPRISE_EDITIONS and state.version < SNAPSHOTS_ALL_EDITIONS_SINCE:
        raise SqlError(1844, "Database Snapshot", f"{state.edition} Edition (64-bit)")
    if world.instances[server].find_snapshot(source) is not None:
        raise SqlError(5093)
    if source.lower() in statements.SYSTEM_DATABASES:
        raise SqlError(1816, source)
    try:
        copy = statements.require_copy(world, server, source)
    except SqlError:
        raise SqlError(911, source) from None
    _require_readable(world, copy)
    _require_data_files(world, copy, files)
    drive = volumes.get_drive_letter(files[0][1]) if files else copy.data_drive
    snapshot = Snapshot(
        name=name,
        database_id=snapshots.find_next_database_id(world, server),
        source=copy.database,
        source_id=copy.database_id,
        tick=world.tick,
        family=copy.family,
        lineage=copy.lineage,
        end_of_log_kb=streams.get_redone_kb(world, copy),
        drive=drive,
        files=files,
    )
    world.update_instance(server, snapshots=(*state.snapshots, snapshot))
    return []


def _require_readable(world: World, copy: DatabaseCopy) -> None:
    """Raise an error unless the source of a snapshot is open or is a SYNCHRONIZED mirror."""
    gives = group_policies.get_policy(copy).allows_snapshot(copy)
    if gives:
        return
    if gives is False or copy.db_state in (DbState.RESTORING, DbState.OFFLINE):
        raise SqlError(1822)
    statements.check_database_access(world, copy.server, copy.database)


def _require_data_files(world: World, copy: DatabaseCopy, files: tuple[tuple[str, str], ...]) -> None:
    """Raise an error unless *files* contains exactly the data files of the source, on drives that exist."""
    paths_by_name = {name.lower(): path for name, path in files}
    data = {file.name.lower(): file.name for file in volumes.list_copy_files(copy) if not file.log}
    for name, text in data.items():
        if name not in paths_by_name:
            raise SqlError(5127, text)
    for name, path in paths_by_name.items():
        if name not in data:
            raise SqlError(5014, "file", name, copy.database)
        if not volumes.has_drive(world.get_computer_of(copy.server), volumes.get_drive_letter(path)):
            raise SqlError(5133, path, NO_PATH)


# --- detach and attach -----------------------------------------------------------------------------


class DetachedFile(Struct, frozen=True):
    """First data file of a detached database. *image* describes the other files, too."""

    image: DatabaseCopy

    @property
    def size_kb(self) -> float:
        """Return the size of the file."""
        return self.image.size_kb


def detach_database(world: World, server: str, name: str) -> list[Message]:
    """Detach a database (sp_detach_db). Its files remain on disk. Raise 3709 if it has snapshots.

    `engine.tsql` has already raised 7940 for a system database, 15010 for a missing database, and 3703
    for a database in use. It has also raised 3743 for a mirrored database, 3752 for a database in an
    availability group, and 3707 for an unrecovered database.
    """
    copy = statements.require_copy(world, server, name)
    assert copy.source is not None, f"{copy.key} is open and writes no log"
    end = world.flow.read_source_positions(copy.source).generated_kb  # a closing database hardens all its log
    image = replace(copy, source=None, end_of_log_kb=end, redone_kb=end, committed_kb=end, window_transactions=(),
                    active_from_kb=None, operation=None)  # fmt: skip
    path = volumes.get_file_path(copy, volumes.list_copy_files(copy)[0])
    _remove_copy(world, copy, "detach")
    world.files[server, path] = DetachedFile(image)
    return []


def attach_database(world: World, server: str, name: str, path: str, login: str = "sa") -> list[Message]:
    """Attach the files of a database (FOR ATTACH). The database opens and keeps its log chain.

    *login* becomes its owner. Raise 1801, 1829 or 5120.
    """
    _require_free_name(world, server, name)
    if not path:
        raise SqlError(1829)
    host, local = files.locate_path(world, server, path)
    local = files.find_path_spelling(world, host, local)
    file = world.files.get((host, local))
    if not isinstance(file, DetachedFile) or host != server:
        raise SqlError(5120, path, 2, files.NO_FILE)
    key = (server, name)
    drive = volumes.get_drive_letter(local)
    world.copies[key] = replace(
        file.image,
        server=server,
        database=name,
        database_id=snapshots.find_next_database_id(world, server),
        db_state=DbState.ONLINE,
        data_drive=drive,
        log_backup_every_s=0.0,
        recovering=False,
        trustworthy=False,
        owner=login,
    )
    del world.files[host, local]
    streams.add_source(world, key, file.image.end_of_log_kb)
    world.availability.setdefault(name, Availability(database=name, since_tick=world.tick))
    world.mark_all_logs_changed()
    errorlog.write_message(world, server, 17137, name)
    return []
