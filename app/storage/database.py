"""Opening of the profile's SQLite file: locking, validation, and migration to the newest schema."""

import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Final

from msgspec import Struct

from app.files.folders import make_file_private
from app.storage import storage_errors
from app.storage.storage_errors import (
    StorageError,
    StorageProblemKind,
    build_missing_error,
    build_storage_error,
    refuse_special_files,
)
from app.storage.tables import LONG_TABLES, NULLABLE_COLUMNS, RUNNING, TABLES
from app.words.language import tr

NETWORK_SYSTEMS: Final = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "ncpfs", "afs", "ceph", "lustre", "fuse.sshfs", "fuse.glusterfs", "davfs"}
)  # fmt: skip
"""Network file systems. 9p is not included, because virtual machines use it to access their own disks."""
MOUNTS_FILE: Final = Path("/proc/self/mountinfo")
"""File in which Linux lists the mounted file systems."""
DRIVE_REMOTE: Final = 4
"""Return value of GetDriveTypeW for a network drive: "The drive is a remote (network) drive"."""


def find_network_system(folder: Path) -> str | None:
    """Return the kind of network drive that contains, or will contain, *folder*.

    The result is None for a local disk or if unknown.
    """
    path = folder.absolute()
    if sys.platform == "win32":
        return _get_windows_drive(path)
    try:
        mounts = MOUNTS_FILE.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    kind = _find_mount_kind(path.resolve(), mounts)
    return kind if kind in NETWORK_SYSTEMS else None


def _find_mount_kind(folder: Path, mounts: str) -> str | None:
    """Return the file system of the innermost mount point that contains *folder*.

    If several file systems are mounted at this point, the last one counts, because it covers the others.
    """
    best, kind = -1, None
    for line in mounts.splitlines():
        before, _, options = line.partition(" - ")
        fields = before.split()
        if len(fields) < 5 or not options:
            continue
        point = Path(fields[4].replace("\\040", " "))
        if folder.is_relative_to(point) and len(point.parts) >= best:
            best, kind = len(point.parts), options.split()[0]
    return kind


def _get_windows_drive(folder: Path) -> str | None:
    if folder.drive.startswith("\\\\"):
        return "share"
    if sys.platform != "win32":
        return None
    import ctypes

    drive_type = ctypes.windll.kernel32.GetDriveTypeW(folder.anchor)
    return "network drive" if drive_type == DRIVE_REMOTE else None


_INVALID_DATE_CONDITION: Final = (
    "(strftime('%s', {0}) IS NULL"
    " OR strftime('%Y-%m-%d %H:%M:%S', substr({0}, 1, 19), '+0 days') IS NOT substr({0}, 1, 19))"
)
"""SQL condition that is true for an invalid date. SQLite turns 31 February plus 0 days into 3 March, which
differs from the stored text.

The fraction of the second is excluded, because SQLite rounds 59.9996 s up to the next minute.
"""
_WRONG_INTEGER_CONDITION: Final = "typeof({0}) <> 'integer'"
"""SQL condition that is true for a value that is not an integer."""
_WRONG_TYPE_CONDITIONS: Final = {
    int: _WRONG_INTEGER_CONDITION,
    bool: _WRONG_INTEGER_CONDITION,
    float: "typeof({0}) NOT IN ('real', 'integer')",
    str: "typeof({0}) <> 'text'",
    datetime: _INVALID_DATE_CONDITION,
}
"""Type of a column -> SQL condition that is true for a value of another type."""
_UNFINISHED_RUN_CONDITION: Final = f"run_id IN (SELECT id FROM run WHERE status = '{RUNNING}')"
"""SQL condition that selects the rows of unfinished runs.

In long tables, the start of the program checks only these rows. Other rows are checked only on request.
"""


def list_foreign_objects(connection: sqlite3.Connection) -> list[str]:
    """Return the names of triggers, views and virtual tables. A valid profile has none."""
    cursor = connection.execute(
        "SELECT type || ' ' || name FROM sqlite_master "
        "WHERE type IN ('trigger', 'view') OR sql LIKE 'CREATE VIRTUAL%' ORDER BY 1"
    )
    return [str(row[0]) for row in cursor]


def find_schema_differences(connection: sqlite3.Connection) -> Iterator[str]:
    """Yield each difference of a profile's tables, columns and value types from the newest schema."""
    missing = [
        name for name, columns in TABLES.items() if not columns.keys() <= _list_columns(connection, name)
    ]
    if missing:
        yield f"its table {missing[0]} is missing or another"
        return
    for table, columns in TABLES.items():
        fault_condition = " OR ".join(_build_type_check(table, name, kind) for name, kind in columns.items())
        rows = (
            f"({fault_condition}) AND {_UNFINISHED_RUN_CONDITION}"
            if table in LONG_TABLES
            else fault_condition
        )
        if connection.execute(f"SELECT 1 FROM {table} WHERE {rows} LIMIT 1").fetchone():
            yield f"a row of its table {table} holds what cannot be"


def _list_columns(connection: sqlite3.Connection, table: str) -> set[str]:
    return {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}


def _build_type_check(table: str, name: str, kind: type) -> str:
    fault_condition = _WRONG_TYPE_CONDITIONS[kind].format(f'"{name}"')
    return (
        f'({fault_condition} AND "{name}" IS NOT NULL)'
        if (table, name) in NULLABLE_COLUMNS
        else f"({fault_condition})"
    )


PROFILE_FILE_NAME: Final = "profile.sqlite"
"""Name of the profile's file in its folder."""
APPLICATION_ID: Final = 0x4D524452
"""'MRDR' in the file's header, which distinguishes a profile from other SQLite databases."""
BUSY_TIMEOUT_MS: Final = 1_000
"""Time limit for acquiring the lock, for an instance of the program that is just ending.

An instance that keeps running never releases its lock.
"""
SIDE_FILE_SUFFIXES: Final = ("-wal", "-journal", "-shm")
"""Suffixes of the files that SQLite creates next to a database."""
BACKUPS_MAX: Final = 3
"""Number of backups that are kept."""
MIGRATIONS_FOLDER = Path(__file__).with_name("migrations")
"""Folder with the migration scripts of the profile."""


class ProfileDatabase(Struct, frozen=True):
    """Database of a profile that has been opened."""

    file: Path
    connection: sqlite3.Connection
    identity: tuple[int, int] | None
    """(device, inode) of the opened file; None if the file was missing."""

    @contextmanager
    def run_transaction(self) -> Iterator[sqlite3.Connection]:
        """Run a transaction. Errors of the file or disk become StorageErrors."""
        # writes to a moved or replaced file would succeed, but nobody would find the data again
        if _read_identity(self.file) != self.identity:
            raise build_missing_error(self.file)
        with _translate_errors(self.file):
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                yield self.connection
                self.connection.execute("COMMIT")
            except BaseException:
                if self.connection.in_transaction:
                    self.connection.execute("ROLLBACK")
                raise


def open_database(folder: Path) -> ProfileDatabase:
    """Open or create the profile in *folder*.

    Raises StorageError if the folder, the file or its version prevents that.
    """
    file = folder / PROFILE_FILE_NAME
    system = find_network_system(folder)
    if system is not None:
        sentence = tr(
            "The profile folder {folder} is on a network drive ({system}), where two programs "
            "could damage it. Choose a folder on a local disk."
        ).format(folder=folder, system=system)
        raise StorageError(StorageProblemKind.NETWORK_DRIVE, sentence)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        sentence = tr("Cannot create the profile folder {folder}: {why}.").format(
            folder=folder, why=error.strerror
        )
        raise StorageError(StorageProblemKind.CANNOT_OPEN, sentence) from error
    refuse_special_files(file, *(file.with_name(file.name + end) for end in SIDE_FILE_SUFFIXES))
    if not file.exists():
        storage_errors.remove_journal_mark(folder)
    with _translate_errors(file):
        connection = _connect_exclusively(file)
        try:
            _migrate_schema(connection, file)
            _raise_for_fault(next(find_schema_differences(connection), None), file)
        except BaseException:
            connection.close()
            raise
    connection.row_factory = sqlite3.Row
    return ProfileDatabase(file, connection, _read_identity(file))


def list_backup_files(file: Path) -> list[Path]:
    """Return the paths of the backups of *file*, newest first. They may not exist yet."""
    return [file.with_name(f"{file.stem}-backup-{age}{file.suffix}") for age in range(1, BACKUPS_MAX + 1)]


def write_backup(connection: sqlite3.Connection, file: Path) -> Path:
    """Copy the open database to the newest backup. Older backups are renumbered, and the oldest is deleted.

    Backups have numbers instead of dates, because a changed clock could make the wrong backup the oldest.
    """
    unfinished = file.with_name(f"{file.stem}-backup-unfinished{file.suffix}")
    unfinished.unlink(missing_ok=True)
    make_file_private(unfinished)
    with closing(sqlite3.connect(unfinished)) as target:
        connection.backup(target)
    newest, *older = list_backup_files(file)
    for younger, elder in reversed(list(zip([newest, *older], older, strict=False))):
        if younger.exists():
            younger.replace(elder)
    return unfinished.replace(newest)


@contextmanager
def _translate_errors(file: Path) -> Iterator[None]:
    """Convert SQLite's errors inside the `with` block to StorageErrors.

    Errors in the program's SQL pass unchanged.
    """
    try:
        yield
    except sqlite3.Error as error:
        problem = build_storage_error(error, file)
        if problem is None:
            raise
        raise problem from error
    except UnicodeDecodeError:  # SQLite's error message quotes a damaged name, which is not valid UTF-8
        _raise_for_fault("malformed database schema", file)


def _connect_exclusively(file: Path) -> sqlite3.Connection:
    ended_badly = file.with_name(
        file.name + "-wal"
    ).exists()  # SQLite removes this file when the last connection closes
    connection = sqlite3.connect(file, timeout=BUSY_TIMEOUT_MS / 1000, isolation_level=None)
    # Invalid UTF-8, for example after a flipped bit, is read as a replacement character. Then the journal's
    # checksum fails and names the damaged run.
    connection.text_factory = lambda raw: raw.decode("utf-8", errors="replace")
    try:
        # With an exclusive lock, a second instance is refused and cannot mix two drills. WAL then works
        # without shared memory, which network drives lack. This statement must be the first, because a
        # foreign file must not be changed.
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        _refuse_foreign_file(connection, file)
        make_file_private(file)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("BEGIN IMMEDIATE")  # takes the lock now, not at the first write
        connection.execute("COMMIT")
        connection.execute("PRAGMA synchronous = FULL")  # acknowledged data must survive a power failure
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA cell_size_check = ON")
        if ended_badly:
            _raise_for_fault(next(iter(check_integrity(connection, "quick_check")), None), file)
    except BaseException:
        connection.close()
        raise
    return connection


def _refuse_foreign_file(connection: sqlite3.Connection, file: Path) -> None:
    (application_id,) = connection.execute("PRAGMA application_id").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if (
        application_id != APPLICATION_ID and tables
    ):  # accept a file without tables: it is new, or its creation was interrupted
        sentence = tr(
            "The file {file} belongs to another program. Move it to another folder and restart."
        ).format(file=file)
        raise StorageError(StorageProblemKind.NOT_A_PROFILE, sentence)
    foreign_objects = list_foreign_objects(connection)
    if foreign_objects:  # triggers and views in a foreign file would run
        sentence = tr(
            "The file {file} contains unknown tables ({part}). Move it to another folder and restart."
        ).format(file=file, part=ascii(foreign_objects[0][:80]))
        raise StorageError(StorageProblemKind.NOT_A_PROFILE, sentence)


def _raise_for_fault(fault: str | None, file: Path) -> None:
    """Raise StorageError for a damaged profile with *fault* as the reason; do nothing if *fault* is None."""
    if fault is not None:
        backups = [backup for backup in list_backup_files(file) if backup.exists()]
        remedy = (
            tr("replace the profile with the backup {backup}").format(backup=backups[0])
            if backups
            else tr("move the profile to another folder and restart")
        )
        sentence = tr("The profile {file} is damaged ({detail}): {remedy}.").format(
            file=file, detail=fault, remedy=remedy
        )
        raise StorageError(StorageProblemKind.DAMAGED, sentence)


def check_integrity(connection: sqlite3.Connection, pragma: str = "integrity_check") -> list[str]:
    """Return the errors that SQLite finds with the fast `quick_check` or the thorough `integrity_check`."""
    try:
        results = [row[0] for row in connection.execute(f"PRAGMA {pragma}")]
    except sqlite3.DatabaseError as error:  # damage that even the integrity check cannot read
        if error.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            raise
        return [str(error)]
    return [] if results == ["ok"] else results


def _read_identity(file: Path) -> tuple[int, int] | None:
    """Return the device and inode of a file, which change if another file takes its name.

    The result is None if the file is missing.
    """
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def parse_revision(migration: Path) -> str:
    """Return the schema version to which a migration script leads."""
    return migration.stem.partition("_")[0]


def _read_revision(connection: sqlite3.Connection) -> str | None:
    """Return the schema version of the file; None before the first table exists.

    The version table is called alembic_version, because earlier versions of the program used Alembic.
    """
    tables = connection.execute("SELECT name FROM sqlite_master WHERE name = 'alembic_version'").fetchall()
    row = connection.execute("SELECT version_num FROM alembic_version").fetchone() if tables else None
    return row[0] if row is not None else None


def _migrate_schema(connection: sqlite3.Connection, file: Path) -> None:
    migrations, revision = sorted(MIGRATIONS_FOLDER.glob("[0-9]*.sql")), _read_revision(connection)
    revisions = [parse_revision(migration) for migration in migrations]
    newest = revisions[-1]
    if revision == newest:
        return
    if revision is not None and revision not in revisions:
        sentence = tr(
            "The profile {file} has version {revision}; this Mirrordrill supports versions up to "
            "{newest}. Install a newer Mirrordrill, or export the data with `mirrordrill doctor "
            "--export FILE`."
        ).format(file=file, revision=revision, newest=newest)
        raise StorageError(StorageProblemKind.NEWER, sentence)
    if revision is not None:
        try:
            write_backup(connection, file)
        except OSError as error:
            sentence = tr("Cannot back up the profile {file} before its upgrade: {why}.")
            raise StorageError(
                StorageProblemKind.CANNOT_OPEN, sentence.format(file=file, why=error.strerror)
            ) from error
    for migration in migrations:
        if revision is None or parse_revision(migration) > revision:
            _run_migration(connection, migration)


def _run_migration(connection: sqlite3.Connection, migration: Path) -> None:
    """Run a migration script and store its version, in one transaction."""
    script = migration.read_text(encoding="utf-8")
    try:
        connection.executescript(
            f"BEGIN IMMEDIATE;\n{script}\nDELETE FROM alembic_version;\n"
            f"INSERT INTO alembic_version VALUES ('{parse_revision(migration)}');\nCOMMIT;"
        )
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
