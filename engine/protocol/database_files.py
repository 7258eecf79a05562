"""ALTER DATABASE … MODIFY FILE: path, name, size and growth of a database file.

[DOC: move user databases; ALTER DATABASE file options]
"""

from msgspec.structs import replace

from engine.messages import Message, SqlError
from engine.model import DatabaseCopy, DbFile, DbState, FilePath, Key, World
from engine.protocol import groups, logspace, statements, volumes


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
    a secondary. Raise 5041 for an unknown file, 5039 if SIZE is not larger, 5149 without disk space, 1828 for
    a name in use.
    """
    copy = statements.copy_on(world, server, database)
    key = copy.key
    file = next((f for f in volumes.files_of(copy) if f.name.lower() == name.lower()), None)
    if file is None:
        raise SqlError(5041, name)
    _check(world, copy, file, new_name, size_kb)
    if size_kb is not None:
        _set_size(world, key, file, size_kb)
    if max_kb is not None and file.key == f"{copy.database}_log":
        world.update_copy(key, log_max_kb=min(max_kb, logspace.LOG_FILE_MAX_KB))
        max_kb = None
    changes: volumes.FileChanges = {**(growth or {})}
    if new_name:
        changes["name"] = new_name
    if max_kb is not None:
        changes["max_kb"] = max_kb
    if changes:
        old = volumes.options_of(copy, file)
        others = tuple(one for one in copy.file_options if one.file != file.key)
        world.update_copy(key, file_options=(*others, replace(old, **changes)))
    if path is not None:
        _set_path(world, key, file, path)
    if path is None or changes or size_kb is not None:
        groups.policy(world.copies[key]).catalog_changed(world, key)
    logspace.check_room(world)
    said = [statements.inform(5018, file.name)] if path is not None else []
    return [*said, *([statements.inform(5021, "file", new_name)] if new_name is not None else [])]


def _check(
    world: World, copy: DatabaseCopy, file: DbFile, new_name: str | None, size_kb: float | None
) -> None:
    if size_kb is not None and size_kb <= file.size_kb:
        raise SqlError(5039)
    if size_kb is not None and size_kb - file.size_kb > volumes.free_kb(world, copy.server, file.drive):
        raise SqlError(5149, "MODIFY FILE", volumes.path_of(copy, file))
    taken = {one.name.lower() for one in volumes.files_of(copy) if one is not file}
    if new_name is not None and new_name.lower() in taken:
        raise SqlError(1828, new_name)


def _set_size(world: World, key: Key, file: DbFile, size_kb: float) -> None:
    copy = world.copies[key]
    if file.key in {one.name for one in copy.extra_files}:
        extra = tuple(replace(f, size_kb=size_kb) if f.name == file.key else f for f in copy.extra_files)
        world.update_copy(key, extra_files=extra)
    else:
        world.update_copy(key, **{"log_size_kb" if file.log else "size_kb": size_kb})


def _set_path(world: World, key: Key, file: DbFile, path: str) -> None:
    copy = world.copies[key]
    known = next((one for one in copy.file_paths if one.file == file.key), None)
    missing = known is not None and known.missing
    new = FilePath(file=file.key, path=path, found=volumes.locations_of(copy, file), missing=missing)
    others = tuple(one for one in copy.file_paths if one.file != file.key)
    world.update_copy(key, file_paths=(*others, new))


# --- moving files on one server ----------------------------------------------------------------------------


def file_at(world: World, server: str, path: str) -> tuple[DatabaseCopy, DbFile] | None:
    """Return the database file at *path* on *server*, with its copy."""
    for (where, _), copy in sorted(world.copies.items()):
        for file in volumes.files_of(copy) if where == server else ():
            if path.lower() in (one.lower() for one in volumes.locations_of(copy, file)):
                return copy, file
    return None


def has_open_files(world: World, copy: DatabaseCopy) -> bool:
    """Return whether SQL Server holds the files of the copy open."""
    closed = (DbState.OFFLINE, DbState.RECOVERY_PENDING)
    return world.instances[copy.server].running and copy.db_state not in closed


def place_file(world: World, key: Key, file: str, path: str) -> None:
    """Record that a file of a closed database also exists at *path*."""
    copy = world.copies.get(key)
    found = (
        next((one for one in volumes.files_of(copy) if one.key == file), None) if copy is not None else None
    )
    if copy is None or found is None or has_open_files(world, copy):
        return
    at = volumes.locations_of(copy, found)
    new = FilePath(file=file, path=volumes.path_of(copy, found), found=tuple(dict.fromkeys((*at, path))))
    known = next((one for one in copy.file_paths if one.file == file), new)
    others = tuple(one for one in copy.file_paths if one.file != file)
    world.update_copy(key, file_paths=(*others, replace(known, found=new.found)))
