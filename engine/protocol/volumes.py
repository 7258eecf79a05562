"""Drives and the files on them: existence, free space, and the growth limit of a log file."""

import re
from typing import Final, TypedDict

from msgspec.structs import replace

from engine import arithmetic
from engine.constants import LOG_GROWTH_SHARE
from engine.messages import SqlError
from engine.model import Computer, DatabaseCopy, DbFile, FileOptions, World

STANDARD_DRIVES: Final = "CDL"
"""Drives of every server (system, data, log), unlimited unless a Volume limits them. Assumed."""

UNSIZED_DRIVE_KB: Final = 2.0 * 2**30
"""Displayed size of a drive without a size in the scenario. Such a drive never fills. Assumed."""

BACKUP_FOLDER: Final = "D:\\Backup"
"""Folder to which backup jobs write. Assumed."""


class FileChanges(TypedDict, total=False):
    """Fields of `FileOptions` that a statement sets."""

    name: str
    growth_kb: float | None
    growth_percent: int | None
    max_kb: float | None


def has_drive(computer: Computer, letter: str) -> bool:
    """Return whether the server has that drive and it has not failed."""
    if letter.upper() in computer.failed_drives:
        return False
    return letter.upper() in STANDARD_DRIVES or get_size_kb(computer, letter) is not None


def get_size_kb(computer: Computer, letter: str) -> float | None:
    """Return the size of the drive; None if it does not exist or has no limit."""
    return next((v.size_kb for v in computer.volumes if v.letter.upper() == letter.upper()), None)


def compute_free_kb(world: World, server: str, letter: str) -> float:
    """Return the free space on the drive; infinite without a limit, 0 if it does not exist or has failed."""
    computer = world.get_computer_of(server)
    total_kb = get_size_kb(computer, letter)
    if not has_drive(computer, letter):
        return 0.0
    if total_kb is None:
        return float("inf")
    return max(0.0, total_kb - compute_used_kb(world, server, letter))


def list_free_kb(world: World, server: str) -> list[tuple[str, float]]:
    """Return (letter, free space in KB) of each drive that has not failed.

    A drive without a limit counts as UNSIZED_DRIVE_KB large.
    """
    computer = world.get_computer_of(server)
    letters = {*STANDARD_DRIVES, *(volume.letter.upper() for volume in computer.volumes)}
    return [
        (
            letter,
            max(
                0.0,
                (get_size_kb(computer, letter) or UNSIZED_DRIVE_KB) - compute_used_kb(world, server, letter),
            ),
        )
        for letter in sorted(letters)
        if has_drive(computer, letter)
    ]


def compute_used_kb(world: World, server: str, letter: str) -> float:
    """Return the total size of database files and other files on the drive, in KB."""
    letter = letter.upper()
    databases = arithmetic.add_in_order(
        file.size_kb
        for (server_name, _), copy in world.copies.items()
        if server_name == server
        for file in list_copy_files(copy)
        if file.drive.upper() == letter
    )
    other_kb = arithmetic.add_in_order(
        float(file.size_kb)
        for (server_name, path), file in world.files.items()
        if server_name == server and path[:1].upper() == letter
    )
    return databases + other_kb


def list_copy_files(copy: DatabaseCopy) -> tuple[DbFile, ...]:
    """Return all files of a copy: first data file, first log file, then the others."""
    files = (
        DbFile(name=copy.database, drive=copy.data_drive, size_kb=copy.size_kb),
        DbFile(name=f"{copy.database}_log", drive=copy.log_drive, size_kb=copy.log_size_kb, log=True),
        *copy.extra_files,
    )
    names = {option.file: option.name for option in copy.file_options if option.name}
    if not names:
        return files
    return tuple(
        replace(file, name=names[file.name], created_as=file.name) if file.name in names else file
        for file in files
    )


def get_file_path(copy: DatabaseCopy, file: DbFile) -> str:
    """Return the path of the file as sys.master_files shows it."""
    file_path = next((moved_path for moved_path in copy.file_paths if moved_path.file == file.key), None)
    if file_path is not None:
        return file_path.path
    ending = "ldf" if file.log else "mdf" if file.key == copy.database else "ndf"
    return f"{file.drive}:\\{'Log' if file.log else 'Data'}\\{file.key}.{ending}"


ABSOLUTE_PATH_PATTERN: Final = re.compile(r"[A-Za-z]:\\[^\\]")
"""Pattern of an absolute path on a drive."""


def check_new_file(
    name: str,
    size_kb: float,
    max_kb: float | None,
    growth_kb: float | None,
    following_errors: tuple[int, ...],
) -> None:
    """Check the properties of a new file. Raise 5174, 5103 or 5169, followed by the messages *following_errors*."""
    if size_kb < NEW_FILE_MIN_KB:
        raise SqlError(5174, also=following_errors)
    if max_kb is not None and max_kb < size_kb:
        raise SqlError(5103, name, also=following_errors)
    if max_kb is not None and growth_kb is not None and growth_kb > max_kb:
        raise SqlError(5169, name, also=following_errors)


NEW_FILE_MIN_KB: Final = 512.0
"""Minimum size of a new file. Documented [DOC: ALTER DATABASE file options]."""


def find_file_at(world: World, server: str, path: str) -> tuple[DatabaseCopy, DbFile] | None:
    """Return the database file at *path* on *server*, with its copy."""
    for (server_name, _), copy in sorted(world.copies.items()):
        for file in list_copy_files(copy) if server_name == server else ():
            if path.lower() in (location.lower() for location in list_locations(copy, file)):
                return copy, file
    return None


def list_locations(copy: DatabaseCopy, file: DbFile) -> tuple[str, ...]:
    """Return all paths at which the file exists."""
    known_file_path = next((file_path for file_path in copy.file_paths if file_path.file == file.key), None)
    return known_file_path.found if known_file_path is not None else (get_file_path(copy, file),)


def list_misplaced_files(copy: DatabaseCopy) -> list[DbFile]:
    """Return the files that do not exist at the path at which the database opens them."""
    if not copy.file_paths:
        return []
    file_paths = ((file, get_file_path(copy, file).lower()) for file in list_copy_files(copy))
    return [
        file
        for file, path in file_paths
        if path not in (location.lower() for location in list_locations(copy, file))
    ]


def apply_file_paths(copy: DatabaseCopy) -> DatabaseCopy:
    """Return the copy after it has opened its files at their paths.

    Each file then belongs to the drive of its path.
    """
    if not copy.file_paths:
        return copy
    paths = {file_path.file: file_path.path for file_path in copy.file_paths}
    data, log, *extra = (
        replace(file, drive=get_drive_letter(paths[file.key])) if file.key in paths else file
        for file in list_copy_files(replace(copy, file_options=()))
    )
    return replace(
        copy,
        data_drive=data.drive,
        log_drive=log.drive,
        extra_files=tuple(extra),
        file_paths=tuple(
            replace(file_path, found=(file_path.path,), missing=False) for file_path in copy.file_paths
        ),
    )


def get_file_options(copy: DatabaseCopy, file: DbFile) -> FileOptions:
    """Return the options of a file; default options if none were given."""
    return next(
        (option for option in copy.file_options if option.file == file.key), FileOptions(file=file.key)
    )


def compute_log_capacity_kb(copy: DatabaseCopy) -> float:
    """Return the capacity of the log files of the copy at their current size, in KB."""
    if not copy.extra_files:
        return copy.log_size_kb
    return copy.log_size_kb + arithmetic.add_in_order(file.size_kb for file in copy.extra_files if file.log)


def compute_log_limit_kb(world: World, copy: DatabaseCopy) -> float:
    """Return the size to which the first log file can grow, in KB.

    The maximum size of the file and the free space on its drive limit it.
    """
    room_kb = compute_free_kb(world, copy.server, copy.log_drive)
    return max(copy.log_size_kb, min(copy.log_max_kb, copy.log_size_kb + room_kb))


def compute_next_log_size_kb(world: World, copy: DatabaseCopy) -> float:
    """Return the size of the first log file after its next growth; its current size if it cannot grow."""
    step_kb = copy.log_size_kb * LOG_GROWTH_SHARE
    if copy.file_options:
        options = get_file_options(copy, list_copy_files(copy)[1])
        if options.growth_kb is not None:
            step_kb = options.growth_kb
        elif options.growth_percent is not None:
            step_kb = copy.log_size_kb * options.growth_percent / 100.0
    return min(compute_log_limit_kb(world, copy), copy.log_size_kb + step_kb)


def get_drive_letter(path: str) -> str:
    """Return the drive letter of a path; "" for a path without a drive (a network share or a URL)."""
    return path[0].upper() if path[1:2] == ":" else ""
