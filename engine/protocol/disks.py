"""Failed volumes: messages of a server that cannot reach log or data, and effects on its sessions.

The loss of the log is a hard error that the server reports immediately. The loss of the data is "unlikely to
be detected, unless the database is restarted". The session continues, and only an access to a page raises 823
[DOC: possible failures]. The ERRORLOG lines and their order are from [DOC: MSSQLSERVER_9001; database level
health detection].
"""

from typing import Final

from msgspec.structs import replace

from engine.constants import CHECKPOINT_INTERVAL_S
from engine.events import ClientData, ServiceData
from engine.inputs import InputError
from engine.localization import build_message
from engine.messages import SqlError, fill_message
from engine.model import DatabaseCopy, DbFile, DbState, Handlers, Key, Tick, World
from engine.protocol import errorlog, files, group_policies, network, recovery, volumes

SYSTEM_DRIVE: Final = "C"
"""Drive of Windows, SQL Server and the system databases. Assumed."""

# --- failures ----------------------------------------------------------------------------------------


def fail_disk(world: World, server: str, database: str) -> None:
    """Fail the volume of one database, including its log (`fail-disk S DB`).

    The server's other databases keep their volumes.
    """
    _require_copy(world, server, database)
    _emit_announcement(world, server, build_message("the volume of {database} has failed", database=database))
    _fail_log(world, (server, database))
    network.schedule_detections(world)


def fail_volume(world: World, server: str, drive: str) -> None:
    """Fail a drive with all files on it (`fail-volume S LETTER`)."""
    letter = _read_drive_letter(world, server, drive)
    if letter == SYSTEM_DRIVE:
        raise InputError(
            build_message(
                "drive {drive}: cannot fail, because {server} needs it to run. To stop the server, use "
                "power-off.",
                server=server,
                drive=letter,
            )
        )
    if not volumes.has_drive(world.get_computer_of(server), letter):
        raise InputError(build_message("{server} has no drive {drive}:", server=server, drive=letter))
    computer = world.get_computer_of(server)
    world.update_computer(computer.name, failed_drives=(*computer.failed_drives, letter))
    _emit_announcement(world, server, build_message("drive {drive}: has failed", drive=letter))
    for key, copy in sorted(world.copies.items()):
        db_files = [file for file in volumes.list_copy_files(copy) if file.drive.upper() == letter]
        if key[0] == server and any(file.log for file in db_files):
            _fail_log(world, key)
        elif key[0] == server and db_files:
            _fail_data(world, key)
    network.schedule_detections(world)


def _fail_log(world: World, key: Key) -> None:
    """Close a copy that has lost its log, and end its session with a hard error.

    A restart of the copy fails, too.
    """
    copy = world.copies[key]
    if copy.disk_failed:
        return
    server, database = key
    is_open = copy.db_state is DbState.ONLINE
    policy = group_policies.get_policy(copy)
    if is_open or not policy.can_write(copy):
        message = build_message(
            "the volume of {database} on {server} failed", database=database, server=server
        )
        policy.cancel_failover(world, key, message)
        errorlog.write_message(world, server, 17053, "SQLServerLogMgr::LogWriter", files.DEVICE_NOT_READY)
        _emit_note(world, server, "Write error during log flush.")
        errorlog.write_message(world, server, 9001, database, state=4)
    recovery.record_recovery_log(world, key, crashed=True)
    copy = world.update_copy(key, disk_failed=True)
    if is_open:
        errorlog.write_message(world, server, 3422, database, 9001, "XdesRMFull::CommitInternal")
        errorlog.write_message(world, server, 17137, database)
        _report_lost_files(world, copy)
    if copy.group is not None or is_open:
        _close_copy(world, key)
    policy.on_log_lost(world, key)


def _fail_data(world: World, key: Key) -> None:
    """Handle the loss of a copy's data. An open copy stays open, but fails at each page that it reads.

    The redo of a mirror stops.
    """
    copy = world.copies[key]
    world.update_copy(key, data_failed_tick=world.tick)
    if copy.disk_failed or not world.instances[key[0]].running:
        return
    if group_policies.get_policy(copy).on_data_lost(world, key):
        return
    if copy.db_state is DbState.ONLINE:
        error = files.build_io_error_arguments(copy, "read")
        errorlog.write_message(world, key[0], 823, *error, state=2)
        text = fill_message(823, *error)[1]
        for client in world.clients.values():
            if client.connected_to == key[0] and key[1] in client.databases:
                message = build_message("{client}: {message}", client=client.name, message=text)
                world.emit(
                    ClientData(client=client.name, what="data volume lost", number=823),
                    message,
                    server=key[0],
                )
        world.call_after(CHECKPOINT_INTERVAL_S, "disk.checkpoint", *key, world.tick)


def run_checkpoint(world: World, server: str, database: str, failed_tick: Tick) -> None:
    """Run the next automatic checkpoint of a database whose data volume has failed (timer handler).

    *failed_tick*: tick at which the volume failed. Do nothing if this failure no longer exists.
    """
    copy = world.copies.get((server, database))
    if copy is None or copy.data_failed_tick != failed_tick or copy.db_state is not DbState.ONLINE:
        return
    errorlog.write_message(world, server, 823, *files.build_io_error_arguments(copy, "write"), state=3)
    errorlog.write_message(world, server, 5901, database)
    world.call_after(CHECKPOINT_INTERVAL_S, "disk.checkpoint", server, database, failed_tick)


def require_data_reachable(copy: DatabaseCopy, operation: str = "read", *, state: int = 2) -> None:
    """Raise 823 if the copy's data volume is lost.

    *operation*: "read" or "write". *state*: state number of the error. Derived: every query is assumed
    to need a page that is not in memory.
    """
    if copy.data_failed_tick is not None:
        raise SqlError(823, *files.build_io_error_arguments(copy, operation), state=state)


# --- a database that cannot be opened ------------------------------------------------------------------


def list_lost_files(world: World, copy: DatabaseCopy) -> list[DbFile]:
    """Return the files of a copy that SQL Server cannot open, for example because their drive is lost."""
    drives = world.get_computer_of(copy.server).failed_drives
    db_files = [file for file in volumes.list_copy_files(copy) if file.drive.upper() in drives]
    if copy.db_state is not DbState.ONLINE:  # a closed database cannot open files that are not at their path
        db_files += [file for file in volumes.list_misplaced_files(copy) if file not in db_files]
    if not db_files and copy.disk_failed:
        return [file for file in volumes.list_copy_files(copy) if file.log][:1]
    return db_files


def find_missing_file_error(world: World, copy: DatabaseCopy, path: str) -> str:
    """Return the Windows error for a missing file: file not found or path not found."""
    is_present = volumes.has_drive(world.get_computer_of(copy.server), volumes.get_drive_letter(path))
    misplaced = path in (volumes.get_file_path(copy, file) for file in volumes.list_misplaced_files(copy))
    return files.NO_FILE if is_present and misplaced else files.NO_PATH


def verify_files(world: World, key: Key) -> bool:
    """Return whether a starting database finds its files. If not, leave it closed and log the reason."""
    copy = world.copies[key]
    misplaced = volumes.list_misplaced_files(copy)
    if any(file_path.missing for file_path in copy.file_paths) and not misplaced:
        file_paths = tuple(replace(file_path, missing=False) for file_path in copy.file_paths)
        copy = world.update_copy(key, file_paths=file_paths, disk_failed=_is_own_volume_lost(world, key))
    if not misplaced and not list_lost_files(world, copy):
        if copy.file_paths:
            world.copies[key] = volumes.apply_file_paths(copy)
            world.update_copy(key)
        return True
    keys = {file.key for file in misplaced}
    paths = tuple(replace(file_path, missing=file_path.file in keys) for file_path in copy.file_paths)
    copy = world.update_copy(key, disk_failed=True, file_paths=paths, db_state=DbState.RECOVERY_PENDING)
    _report_lost_files(world, copy)
    _close_copy(world, key)
    return False


def _close_copy(world: World, key: Key) -> None:
    world.update_copy(key, db_state=DbState.RECOVERY_PENDING, recovering=False)


def _report_lost_files(world: World, copy: DatabaseCopy) -> None:
    db_files = volumes.list_copy_files(copy)
    for file in list_lost_files(world, copy):
        path = volumes.get_file_path(copy, file)
        if file.log:
            errorlog.write_message(
                world,
                copy.server,
                17207,
                "FileMgr::StartLogFiles",
                find_missing_file_error(world, copy, path),
                path,
            )
        else:
            number, system = db_files.index(file) + 1, find_missing_file_error(world, copy, path)
            errorlog.write_message(world, copy.server, 17204, "FCB::Open failed", path, number, system)
            errorlog.write_message(world, copy.server, 5120, path, 3, system, state=101)


# --- repairs --------------------------------------------------------------------------------------------


def repair_disk(world: World, server: str, database: str) -> None:
    """Repair the volume of a database (`mend-disk S DB`). Recover the copy if its drives work."""
    if not _require_copy(world, server, database).disk_failed:
        return
    _emit_announcement(
        world, server, build_message("the volume of {database} is available again", database=database)
    )
    _restore_drive(world, (server, database))
    network.schedule_detections(world)


def repair_volume(world: World, server: str, drive: str) -> None:
    """Repair a drive with its files (`mend-volume S LETTER`). Recover the copies that need only this drive."""
    letter = _read_drive_letter(world, server, drive)
    computer = world.get_computer_of(server)
    remaining_drives = tuple(other_drive for other_drive in computer.failed_drives if other_drive != letter)
    world.update_computer(computer.name, failed_drives=remaining_drives)
    _emit_announcement(world, server, build_message("drive {drive}: is available again", drive=letter))
    for key, copy in sorted(world.copies.items()):
        if key[0] == server and letter in _list_drives(copy) and not _is_own_volume_lost(world, key):
            _restore_drive(world, key)
    network.schedule_detections(world)


def list_lost_drives(world: World, server: str) -> set[str]:
    """Return the failed drives that contain databases of the instance."""
    used = set().union(*(_list_drives(copy) for copy in world.copies.values() if copy.server == server))
    return used.intersection(world.get_computer_of(server).failed_drives)


def move_shared_drives(world: World, server: str, target: str) -> None:
    """Move the record of failed shared drives to *target*, the node on which a clustered instance starts."""
    source, computer = world.get_computer_of(server), world.computers[target]
    drives = list_lost_drives(world, server)
    if source.name != target and drives:
        remaining_drives = tuple(letter for letter in source.failed_drives if letter not in drives)
        world.update_computer(source.name, failed_drives=remaining_drives)
        world.update_computer(target, failed_drives=(*computer.failed_drives, *sorted(drives)))


def _list_drives(copy: DatabaseCopy) -> set[str]:
    return {file.drive.upper() for file in volumes.list_copy_files(copy)}


def _is_own_volume_lost(world: World, key: Key) -> bool:
    return any(
        fault.verb == "fail-disk" and fault.args == key and fault.reverted_tick is None
        for fault in world.faults
    )


def _restore_drive(world: World, key: Key) -> None:
    if not _list_drives(world.copies[key]).isdisjoint(world.get_computer_of(key[0]).failed_drives):
        return
    world.update_copy(key, disk_failed=False, data_failed_tick=None)
    recover_copy(world, key)


def recover_copy(world: World, key: Key) -> None:
    """Start the recovery of a database whose files are available again, as at a start of the instance."""
    copy, server = world.copies[key], world.instances[key[0]]
    if copy.db_state is DbState.RECOVERY_PENDING and server.running:
        errorlog.write_message(world, key[0], 17137, key[1])
        world.update_copy(key, db_state=DbState.RECOVERING, recovering=True)
        recovery.begin_recovery(world, key)


# --- helpers --------------------------------------------------------------------------------------------


def _require_copy(world: World, server: str, database: str) -> DatabaseCopy:
    """Return the copy of *database* on *server*; raise InputError if there is none."""
    copy = world.copies.get((server, database))
    if copy is None:
        raise InputError(
            build_message("{server} has no database {database}", database=database, server=server)
        )
    return copy


def _read_drive_letter(world: World, server: str, drive: str) -> str:
    letter = drive.strip(":\\").upper()
    if len(letter) != 1 or not "A" <= letter <= "Z":
        raise InputError(build_message("a drive must be a letter from A to Z, not {name}", name=drive))
    return letter


def _emit_announcement(world: World, server: str, text: str) -> None:
    world.emit(ServiceData(), text, server=server)


def _emit_note(world: World, server: str, text: str) -> None:
    if world.instances[server].running:
        errorlog.write_text(world, server, text)


HANDLERS: Final[Handlers] = {"disk.checkpoint": run_checkpoint}
