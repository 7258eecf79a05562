"""Space in the log: reuse, growth, a full log, and actions that free space.

The flow model stops when the log file is full at its current size. This module then grows the file or stops
the database.
"""

from typing import Final

from msgspec.structs import replace

from engine.events import ClientData, LogData
from engine.localization import build_message, mark
from engine.messages import Message, SqlError, fill_message
from engine.model import DatabaseCopy, DbFile, FileOptions, FilePath, Key, Tick, World
from engine.protocol import errorlog, group_policies, statements, streams, volumes
from engine.protocol.files import DISK_FULL, NO_PATH

LOG_SPACE_TOLERANCE_KB: Final = 1.0
"""Tolerance for differences of log space, in KB."""

VIRTUAL_LOG_FILE_COUNT: Final = 16
"""Number of virtual log files of a log of 1 GB or more. Known (up to SQL Server 2014)."""

RESUME_USED_SHARE_MAX: Final = 0.98
"""Maximum used share of the log file at which a stopped database continues. Assumed."""


def compute_used_kb(world: World, copy: DatabaseCopy) -> float:
    """Return the amount of log that cannot be reused now, in KB; 0 for a copy that does not write."""
    if copy.source is None:
        return 0.0
    return world.flow.read_source_positions(copy.source).generated_kb - streams.find_log_reuse_kb(
        world, copy, copy.source
    )


def find_reuse_wait(world: World, source: int | None) -> str:
    """Return log_reuse_wait_desc of the copy that writes *source*: the reason that prevents reuse of its log.

    Log is reused by whole virtual log files. If two reasons prevent reuse of the same file, a disconnected or
    suspended session takes precedence. Derived.
    """
    if source is None:
        return "NOTHING"
    copy = world.copies[world.sources[source]]
    holds = streams.list_log_holds(world, copy, source)
    reason, position_kb = min(holds, key=lambda hold: hold[1])
    mirrored = dict(holds).get("DATABASE_MIRRORING")
    if (
        group_policies.get_policy(copy).has_stopped_log(copy)
        and mirrored is not None
        and mirrored - position_kb <= copy.log_size_kb / VIRTUAL_LOG_FILE_COUNT
    ):
        return "DATABASE_MIRRORING"
    return reason


# --- growth and its end ----------------------------------------------------------------------------


def on_log_file_full(world: World, source: int) -> None:
    """Grow a full log file by one step, or stop the database if it cannot grow [WP] (flow handler)."""
    key = world.sources[source]
    copy = world.copies[key]
    if copy.log_full:
        return
    if compute_used_kb(world, copy) < volumes.compute_log_capacity_kb(copy) - LOG_SPACE_TOLERANCE_KB:
        world.dirty.add(source)  # the flow model does not yet know that log was freed
        return
    size_kb = volumes.compute_next_log_size_kb(world, copy)
    if size_kb > copy.log_size_kb + LOG_SPACE_TOLERANCE_KB:
        _resize_log(world, key, size_kb)
        return
    world.log_was_full = True
    world.update_copy(key, log_full=True)
    reason = find_reuse_wait(world, source)
    errorlog.write_message(world, key[0], 9002, key[1], reason)
    text = fill_message(9002, key[1], reason, version=world.instances[key[0]].version)[1]
    world.emit(LogData(what="full", reuse_wait=reason), text, server=key[0], database=key[1])
    for client in world.clients.values():
        if client.connected_to == key[0] and key[1] in client.databases:
            message = build_message("{client}: {message}", client=client.name, message=text)
            world.emit(ClientData(client=client.name, what="log full", number=9002), message, server=key[0])


class LogTakenOverError(Exception):
    """Error of a write after another copy of the database has become the writer.

    This server does not know about the new writer yet, so the statement waits.
    """


def _require_writer(copy: DatabaseCopy) -> None:
    if copy.source is None:
        raise LogTakenOverError(copy.key)


def write_log(world: World, key: Key, kb: float) -> float:
    """Write *kb* of log for a statement of a T-SQL window. Return the position at which this log begins.

    Raise SqlError 9002 if the log is full and cannot grow. Raise LogTakenOverError if another copy has
    become the writer.
    """
    copy = world.copies[key]
    _require_writer(copy)
    assert copy.source is not None
    room_kb = volumes.compute_log_capacity_kb(copy) - compute_used_kb(world, copy)
    grows = volumes.compute_next_log_size_kb(world, copy) > copy.log_size_kb + LOG_SPACE_TOLERANCE_KB
    if copy.log_full or (room_kb < kb and not grows):
        raise SqlError(9002, copy.database, find_reuse_wait(world, copy.source))
    begin_kb = world.flow.read_source_positions(copy.source).generated_kb
    world.flow.add_log_kb(copy.source, kb)
    return begin_kb


def _resize_log(world: World, key: Key, size_kb: float) -> None:
    old_log_size_kb = world.copies[key].log_size_kb
    world.update_copy(key, log_size_kb=size_kb)
    word = "grows" if size_kb > old_log_size_kb else "shrinks"
    template = (
        mark("the log file of {database} grows from {size_mb:.0f} to {to_mb:.0f} MB")
        if size_kb > old_log_size_kb
        else mark("the log file of {database} shrinks from {size_mb:.0f} to {to_mb:.0f} MB")
    )
    text = build_message(template, database=key[1], size_mb=old_log_size_kb / 1024, to_mb=size_kb / 1024)
    world.emit(LogData(what=word, log_size_kb=size_kb), text, server=key[0], database=key[1])
    group_policies.get_policy(world.copies[key]).on_catalog_changed(world, key)


def resume_stopped_databases(world: World) -> None:
    """Resume each database that stopped because of a full log and whose log has free space again."""
    if not world.log_was_full:
        return
    for key, copy in list(world.copies.items()):
        if not copy.log_full or copy.source is None:
            continue
        freed = compute_used_kb(world, copy) < RESUME_USED_SHARE_MAX * volumes.compute_log_capacity_kb(copy)
        if freed or volumes.compute_next_log_size_kb(world, copy) > copy.log_size_kb + LOG_SPACE_TOLERANCE_KB:
            world.update_copy(key, log_full=False)
            text = build_message("the log of {database} has free space again", database=key[1])
            world.emit(LogData(what="room"), text, server=key[0], database=key[1])


def fill_log(world: World, database: str) -> None:
    """Fill the log of the open copy until its file cannot grow any more (`fill-log`)."""
    for key, copy in sorted(world.copies.items()):
        if copy.database == database and copy.source is not None:
            world.update_copy(key, log_size_kb=volumes.compute_log_limit_kb(world, copy))
            copy = world.copies[key]
            left_kb = volumes.compute_log_capacity_kb(copy) - compute_used_kb(world, copy)
            _add_old_log(world, copy.source or 0, max(0.0, left_kb))


def _add_old_log(world: World, source: int, kb: float) -> None:
    """Add log that counts as written earlier: it is already hardened here and at all connected receivers."""
    flow = world.flow
    at_source = flow.read_source_positions(source)
    flow.set_positions(
        source,
        generated_kb=at_source.generated_kb + kb,
        flushed_kb=at_source.flushed_kb + kb,
        committed_kb=at_source.committed_kb + kb,
    )
    flow.begin_checkpoint(source)
    for stream in flow.list_source_streams(source):
        setup = flow.get_stream_setup(stream)
        if setup.connected and setup.carrying and setup.sending:
            positions = flow.read_stream_positions(stream)._asdict()
            flow.set_stream_positions(stream, **{name: value + kb for name, value in positions.items()})


# --- actions that free or hold log -----------------------------------------------------------------


def on_log_backed_up(world: World, key: Key, upto_kb: float) -> None:
    """Free the log up to *upto_kb* after a log backup, as far as no other reason prevents its reuse."""
    copy = world.copies[key]
    assert copy.source is not None, f"{key} does not write log"
    world.update_copy(key, last_log_backup_kb=upto_kb, full_backup=True, log_backed_up=True)
    copy = world.copies[key]
    world.update_copy(
        key, log_start_kb=max(copy.log_start_kb, streams.find_log_reuse_kb(world, copy, copy.source or 0))
    )
    group_policies.get_policy(world.copies[key]).on_catalog_changed(world, key)
    resume_stopped_databases(world)


def truncate_log(world: World, server: str, database: str) -> list[Message]:
    """Discard log and break the log chain (BACKUP LOG … WITH TRUNCATE_ONLY or NO_LOG, 2005).

    Raise 3048 for a mirrored database.
    """
    statements.check_database_access(world, server, database)
    copy = statements.require_copy(world, server, database)
    if copy.group_kind:
        raise SqlError(3048, copy.database, also=(3013,))
    break_log_chain(world, copy)
    resume_stopped_databases(world)
    return []


def leave_transaction_open(world: World, server: str, database: str) -> None:
    """Leave a transaction open. It prevents truncation of its own log records and of all later ones."""
    copy = statements.require_copy(world, server, database)
    if copy.source is not None and copy.active_from_kb is None:
        generated_kb = world.flow.read_source_positions(copy.source).generated_kb
        world.update_copy((server, copy.database), active_from_kb=generated_kb)


def end_open_transaction(world: World, server: str, database: str) -> None:
    """End the open transaction of `leave_transaction_open`."""
    copy = statements.require_copy(world, server, database)
    if copy.active_from_kb is not None:
        world.update_copy((server, copy.database), active_from_kb=None)


def record_window_transactions(
    world: World, server: str, database: str, session_ids: tuple[int, ...]
) -> None:
    """Record *session_ids*, the sessions of T-SQL windows that have an open transaction in the database."""
    key = (server, database)
    copy = world.copies.get(key)
    if copy is None or copy.source is None:
        return
    known_entries = {entry[0]: entry for entry in copy.window_transactions}
    generated_kb = world.flow.read_source_positions(copy.source).generated_kb
    new_entries = tuple(
        known_entries.get(spid, (spid, generated_kb, world.tick)) for spid in sorted(session_ids)
    )
    if new_entries != copy.window_transactions:
        world.windows_held_log = True
        world.update_copy(key, window_transactions=new_entries)


SHRUNK_LOG_MIN_KB: Final = 1024.0
"""Minimum log size after DBCC SHRINKFILE, in KB. Assumed."""


def shrink_log(world: World, server: str, database: str, target_kb: float) -> list[Message]:
    """Shrink the log (DBCC SHRINKFILE) to *target_kb*, but not below its used part."""
    statements.check_database_access(world, server, database)
    copy = statements.require_copy(world, server, database)
    size_kb = min(copy.log_size_kb, max(target_kb, compute_used_kb(world, copy), SHRUNK_LOG_MIN_KB))
    if size_kb < copy.log_size_kb - LOG_SPACE_TOLERANCE_KB:
        _resize_log(world, (server, copy.database), size_kb)
    return []


def empty_file(world: World, server: str, database: str, name: str) -> None:
    """Move the data of an added file to the other files (DBCC SHRINKFILE … EMPTYFILE).

    Raise 2555 for the first data file or log file.
    """
    copy = statements.require_copy(world, server, database)
    _require_writer(copy)
    if name.lower() not in {f.name.lower() for f in copy.extra_files}:
        raise SqlError(2555, name)
    extra = tuple(replace(f, emptied=True) if f.name.lower() == name.lower() else f for f in copy.extra_files)
    world.update_copy((server, copy.database), extra_files=extra)
    group_policies.get_policy(world.copies[(server, copy.database)]).on_catalog_changed(
        world, (server, copy.database)
    )


# --- files -----------------------------------------------------------------------------------------


def add_file(
    world: World,
    server: str,
    database: str,
    name: str,
    path: str,
    size_kb: float = 1024.0,
    *,
    log: bool = False,
    options: volumes.FileChanges | None = None,
) -> list[Message]:
    """Add a data or log file (ALTER DATABASE … ADD FILE).

    The mirror creates the file when it redoes this log record.
    """
    copy = statements.require_copy(world, server, database)
    _require_writer(copy)
    drive = volumes.get_drive_letter(path)
    if any(file.name.lower() == name.lower() for file in volumes.list_copy_files(copy)):
        raise SqlError(1828, name)
    if not volumes.ABSOLUTE_PATH_PATTERN.match(path):
        raise SqlError(5105, path, also=(5009,))
    options = options or {}
    volumes.check_new_file(
        name, size_kb, options.get("max_kb"), options.get("growth_kb"), following_errors=(5009,)
    )
    if volumes.find_file_at(world, server, path) is not None:
        raise SqlError(5170, path, also=(5009,))
    if not volumes.has_drive(world.get_computer_of(server), drive):
        raise SqlError(5123, NO_PATH, path)
    if drive.upper() in world.instances[server].drives_apart:
        raise SqlError(5184, path)
    if volumes.compute_free_kb(world, server, drive) < size_kb:
        raise SqlError(5149, DISK_FULL, path)
    position_kb = streams.get_end_of_log_kb(world, copy)
    file = DbFile(name=name, drive=drive, size_kb=size_kb, log=log, added_kb=position_kb)
    file_options = replace(FileOptions(file=name), **options)
    more_options = () if file_options == FileOptions(file=name) else (file_options,)
    file_path = FilePath(file=name, path=path, found=(path,))
    world.update_copy(
        (server, copy.database),
        extra_files=(*copy.extra_files, file),
        file_options=(*copy.file_options, *more_options),
        file_paths=copy.file_paths
        if path == volumes.get_file_path(copy, file)
        else (*copy.file_paths, file_path),
    )
    text = build_message(
        "file {name} added to {database} on drive {drive}", name=name, database=copy.database, drive=drive
    )
    world.emit(LogData(what="file added"), text, server=server, database=copy.database)
    group_policies.get_policy(world.copies[(server, copy.database)]).on_catalog_changed(
        world, (server, copy.database)
    )
    resume_stopped_databases(world)
    return []


def remove_file(world: World, server: str, database: str, name: str) -> list[Message]:
    """Remove a file that was added and is empty.

    Log files count as empty, and so do data files after EMPTYFILE or without changes since their creation.
    Raise 5009, 5020 or 5042.
    """
    copy = statements.require_copy(world, server, database)
    _require_writer(copy)
    file = next((f for f in volumes.list_copy_files(copy) if f.name.lower() == name.lower()), None)
    if file is None:
        raise SqlError(5009)
    if file.key not in {f.name for f in copy.extra_files}:
        raise SqlError(5020)
    is_empty = file.log or file.emptied or streams.get_redone_kb(world, copy) <= file.added_kb
    if not is_empty:
        raise SqlError(5042, "file", name)
    world.update_copy(
        (server, copy.database),
        extra_files=tuple(f for f in copy.extra_files if f.name != file.key),
        file_options=tuple(option for option in copy.file_options if option.file != file.key),
        file_paths=tuple(file_path for file_path in copy.file_paths if file_path.file != file.key),
    )
    group_policies.get_policy(world.copies[(server, copy.database)]).on_catalog_changed(
        world, (server, copy.database)
    )
    return [statements.build_information(5044, "file", name)]


LOG_FILE_MAX_KB: Final = 2.0 * 1024**3
"""Maximum size of a log file: 2 TB. Documented [DOC: maximum capacity]."""


# --- chain of log backups of a database -------------------------------------------------------------------
# A full backup starts the chain. Some operations break it [DOC: Transaction Log Backups; Prepare a Mirror
# Database].


def start_log_chain(world: World, key: Key, from_kb: float, tick: Tick) -> None:
    """Start the log chain at the position and tick at which a full or differential backup began."""
    world.update_copy(
        key, full_backup=True, log_backed_up=False, last_log_backup_kb=from_kb, last_log_backup_tick=tick
    )


def break_log_chain(world: World, copy: DatabaseCopy) -> None:
    """Discard the log (SIMPLE, TRUNCATE_ONLY), which breaks the log chain.

    Log backups fail with 4214 until the next data backup.
    """
    now_kb = streams.get_end_of_log_kb(world, copy)
    world.update_copy(
        copy.key,
        full_backup=False,
        log_backed_up=False,
        log_start_kb=now_kb,
        last_log_backup_kb=now_kb,
    )
