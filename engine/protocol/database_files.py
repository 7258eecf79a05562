"""ALTER DATABASE … MODIFY FILE: path, name, size and growth of a database file.

[DOC: move user databases; ALTER DATABASE file options]
"""

from msgspec.structs import replace

from engine.messages import Message, SqlError
from engine.model import DatabaseCopy, DbFile, DbState, FilePath, Key, World
from engine.protocol import files, group_policies, log_space, statements, volumes


def modify_file(
    world: World,
    server: str,
    database: str,
    name: str,
    *,
    path: str | None = None,
    new_name: str | None = None,
    size_kb: float | None = None,
    max_kb: float | None = None,
    growth: volumes.FileChanges | None = None,
) -> list[Message]:
    """Change a file: FILENAME, NEWNAME, SIZE, MAXSIZE (infinite for UNLIMITED), FILEGROWTH.

    FILENAME changes only this server's master database, so it also works for an offline database, a mirror or
    a secondary. Raise 5041 for an unknown file, 5039 if SIZE is not larger than the current size, 5040 if
    SIZE is larger than MAXSIZE, 5169 for a growth beyond MAXSIZE, 5149 without disk space, and 1828 or 12106
    for a name or path in use.
    """
    copy = statements.require_copy(world, server, database)
    key = copy.key
    file = next((f for f in volumes.list_copy_files(copy) if f.name.lower() == name.lower()), None)
    if file is None:
        raise SqlError(5041, name)
    _check_file_change(world, copy, file, new_name, size_kb)
    options = volumes.get_file_options(copy, file)
    limit_kb = options.max_kb if max_kb is None else max_kb
    growth_kb = growth["growth_kb"] if growth else options.growth_kb
    if limit_kb is not None and limit_kb < (size_kb or file.size_kb):
        raise SqlError(5040)
    if limit_kb is not None and growth_kb is not None and growth_kb > limit_kb:
        raise SqlError(5169, name)
    used = volumes.find_file_at(world, server, path) if path is not None else None
    if path is not None and used is not None and used != (copy, file):
        raise SqlError(12106, path)
    if size_kb is not None:
        _set_size(world, key, file, size_kb)
    if max_kb is not None and file.key == f"{copy.database}_log":
        world.update_copy(key, log_max_kb=min(max_kb, log_space.LOG_FILE_MAX_KB))
        max_kb = None
    changes: volumes.FileChanges = {**(growth or {})}
    if new_name:
        changes["name"] = new_name
    if max_kb is not None:
        changes["max_kb"] = max_kb
    if changes:
        old_options = volumes.get_file_options(copy, file)
        other_options = tuple(option for option in copy.file_options if option.file != file.key)
        world.update_copy(key, file_options=(*other_options, replace(old_options, **changes)))
    if path is not None:
        _set_path(world, key, file, path)
    if path is None or changes or size_kb is not None:
        group_policies.get_policy(world.copies[key]).on_catalog_changed(world, key)
    log_space.resume_stopped_databases(world)
    messages = [statements.build_information(5018, file.name)] if path is not None else []
    return [
        *messages,
        *([statements.build_information(5021, "file", new_name)] if new_name is not None else []),
    ]


def _check_file_change(
    world: World, copy: DatabaseCopy, file: DbFile, new_name: str | None, size_kb: float | None
) -> None:
    if size_kb is not None and size_kb <= file.size_kb:
        raise SqlError(5039)
    if size_kb is not None and size_kb - file.size_kb > volumes.compute_free_kb(
        world, copy.server, file.drive
    ):
        raise SqlError(5149, files.DISK_FULL, volumes.get_file_path(copy, file))
    used_names = {db_file.name.lower() for db_file in volumes.list_copy_files(copy) if db_file is not file}
    if new_name is not None and new_name.lower() in used_names:
        raise SqlError(1828, new_name)


def _set_size(world: World, key: Key, file: DbFile, size_kb: float) -> None:
    copy = world.copies[key]
    if file.key in {extra_file.name for extra_file in copy.extra_files}:
        extra = tuple(replace(f, size_kb=size_kb) if f.name == file.key else f for f in copy.extra_files)
        world.update_copy(key, extra_files=extra)
    elif file.log:
        world.update_copy(key, log_size_kb=size_kb)
    else:
        world.update_copy(key, size_kb=size_kb)


def _set_path(world: World, key: Key, file: DbFile, path: str) -> None:
    copy = world.copies[key]
    known_file_path = next((file_path for file_path in copy.file_paths if file_path.file == file.key), None)
    missing = known_file_path is not None and known_file_path.missing
    new_file_path = FilePath(
        file=file.key, path=path, found=volumes.list_locations(copy, file), missing=missing
    )
    other_file_paths = tuple(file_path for file_path in copy.file_paths if file_path.file != file.key)
    world.update_copy(key, file_paths=(*other_file_paths, new_file_path))


# --- moving files on one server ----------------------------------------------------------------------------


def has_open_files(world: World, copy: DatabaseCopy) -> bool:
    """Return whether SQL Server has opened the files of the copy."""
    closed_states = (DbState.OFFLINE, DbState.RECOVERY_PENDING)
    return world.instances[copy.server].running and copy.db_state not in closed_states


def record_file_copy(world: World, key: Key, file: str, path: str) -> None:
    """Record that a file of a closed database has also been copied to *path*."""
    copy = world.copies.get(key)
    db_file = (
        next((file_path for file_path in volumes.list_copy_files(copy) if file_path.key == file), None)
        if copy is not None
        else None
    )
    if copy is None or db_file is None or has_open_files(world, copy):
        return
    locations = volumes.list_locations(copy, db_file)
    new_file_path = FilePath(
        file=file, path=volumes.get_file_path(copy, db_file), found=tuple(dict.fromkeys((*locations, path)))
    )
    known_file_path = next(
        (file_path for file_path in copy.file_paths if file_path.file == file), new_file_path
    )
    other_file_paths = tuple(file_path for file_path in copy.file_paths if file_path.file != file)
    world.update_copy(
        key, file_paths=(*other_file_paths, replace(known_file_path, found=new_file_path.found))
    )
