"""Verbs for files on servers, and for the drives that hold them."""

import re
from collections.abc import Iterable
from typing import Final

from engine.cluster import setup
from engine.events import ChoreData
from engine.inputs import Input, InputError, append_existing_names
from engine.localization import build_message, format_duration, mark
from engine.model import Volume, World
from engine.model.world import StoredFile
from engine.protocol import database_files, files, log_space, network, volumes
from engine.verbs.verb import SERVER, SERVERS, Args, VerbFunction, VerbParameter, build_verb

_TWO_PATHS_PATTERN: Final = re.compile(r"([A-Za-z]:\\.*?)\s+([A-Za-z]:\\.*)")
"""Pattern of the old and the new path of a file."""
KB_PER_GB: Final = 1024.0 * 1024.0

# --- files ------------------------------------------------------------------------------------------------


def _copy_file(world: World, input_: Input) -> None:
    """Copy a file from server A to the same path on server B."""
    a, b, path = input_.args
    if a == b:
        _move_file(world, a, path.strip())
        return
    path = files.find_path_spelling(world, a, path.strip())
    file = world.files.get((a, path))
    if file is None:
        paths = sorted(name for file_server, name in world.files if file_server == a)
        raise InputError(
            append_existing_names(
                build_message("{server} has no file {path}", server=a, path=path), paths[:8]
            )
        )
    for name in (a, b):
        if not world.get_computer_of(name).powered:
            raise InputError(build_message("{server} is off", server=name))
    if not network.can_exchange_packets(world, a, b):
        raise InputError(build_message("{other} cannot reach {server}", server=b, other=a))
    drive = volumes.get_drive_letter(path)
    if not volumes.has_drive(world.get_computer_of(b), drive):
        raise InputError(build_message("{server} has no drive {drive}:", server=b, drive=drive))
    if volumes.compute_free_kb(world, b, drive) < file.size_kb:
        raise InputError(
            build_message(
                "drive {drive}: of {server} does not have {size_mb:.0f} MB of free space",
                drive=drive,
                server=b,
                size_mb=file.size_kb / 1024,
            )
        )
    seconds = files.compute_file_copy_s(world, a, b, file.size_kb)
    world.emit(
        ChoreData(path=path),
        build_message(
            "copying {path} from {server}: {size_mb:.1f} MB, about {time}",
            path=path,
            server=a,
            size_mb=file.size_kb / 1024,
            time=format_duration(seconds, ".0f"),
        ),
        server=b,
    )
    number = world.next_id()
    world.transfers[number] = (a, b, file.size_kb / max(seconds, 0.01))
    world.mark_all_logs_changed()
    world.call_after(seconds, "chore.copied", a, b, path, file, number)


def _move_file(world: World, server: str, paths: str) -> None:
    """Move a file on one server. *paths*: the old and the new path. A database file must not be open."""
    path_match = _TWO_PATHS_PATTERN.fullmatch(paths)
    if path_match is None:
        raise InputError(
            build_message("a copy on the same server needs two paths: the old path and the new path")
        )
    path, target = files.find_path_spelling(world, server, path_match[1]), path_match[2]
    backup, database_file = world.files.get((server, path)), volumes.find_file_at(world, server, path)
    if backup is None and database_file is None:
        existing_paths = sorted(name for file_server, name in world.files if file_server == server)
        raise InputError(
            append_existing_names(
                build_message("{server} has no file {path}", server=server, path=path), existing_paths[:8]
            )
        )
    if not world.get_computer_of(server).powered:
        raise InputError(build_message("{server} is off", server=server))
    if (
        backup is None
        and database_file is not None
        and database_files.has_open_files(world, database_file[0])
    ):
        raise InputError(build_message("{path} is in use by SQL Server", path=path))
    drive = volumes.get_drive_letter(target)
    if not volumes.has_drive(world.get_computer_of(server), drive):
        raise InputError(build_message("{server} has no drive {drive}:", server=server, drive=drive))
    found_file = backup or (database_file[1] if database_file is not None else None)
    assert found_file is not None
    size_kb = found_file.size_kb
    if volumes.compute_free_kb(world, server, drive) < size_kb:
        raise InputError(
            build_message(
                "drive {drive}: of {server} does not have {size_mb:.0f} MB of free space",
                drive=drive,
                server=server,
                size_mb=size_kb / 1024,
            )
        )
    seconds = files.compute_file_copy_s(world, server, server, size_kb)
    if backup is not None:
        world.call_after(seconds, "chore.moved", server, "", "", target, backup)
    elif database_file is not None:
        copy, file = database_file
        world.call_after(seconds, "chore.moved", server, copy.database, file.key, target, None)


def _on_file_moved(
    world: World, server: str, database: str, file: str, path: str, content: StoredFile | None
) -> None:
    """Timer handler: complete the move of a file on its server."""
    if not world.get_computer_of(server).powered:
        return
    if database:
        database_files.record_file_copy(world, (server, database), file, path)
    elif content is not None:
        world.files[server, path] = content
    world.emit(
        ChoreData(path=path),
        build_message("the file {path} is now on {server}", path=path, server=server),
        server=server,
    )


def _on_file_copied(world: World, a: str, b: str, path: str, content: StoredFile, number: int) -> None:
    """Timer handler: complete the copy of a file from server *a* to server *b*.

    The copy fails if a server or the link between the servers is lost. *number*: ID of the transfer.
    """
    world.transfers.pop(number, None)
    world.mark_all_logs_changed()
    if not (
        world.get_computer_of(a).powered
        and world.get_computer_of(b).powered
        and network.can_exchange_packets(world, a, b)
    ):
        world.emit(
            ChoreData(path=path, failed=True),
            build_message("copying {path} from {server} to {other} failed", path=path, server=a, other=b),
            server=b,
        )
        return
    world.files[b, path] = content
    world.emit(
        ChoreData(path=path),
        build_message("the file {path} is now on {server}", path=path, server=b),
        server=b,
    )


def _delete_file(world: World, input_: Input) -> None:
    server, path = input_.args
    path = files.find_path_spelling(world, server, path.strip())
    if world.files.pop((server, path), None) is None:
        raise InputError(build_message("{server} has no file {path}", server=server, path=path))
    world.emit(ChoreData(path=path), build_message("{path} deleted", path=path), server=server)
    log_space.resume_stopped_databases(world)


def _list_paths(world: World, server: str, truth: bool) -> Iterable[str]:
    return sorted(path for file_server, path in world.files if file_server == server)


# --- drives -----------------------------------------------------------------------------------------------


def _build_drive_action(adds_drive: bool) -> VerbFunction:
    """Build the function of `add-drive` or `grow-volume`, which create or enlarge a drive.

    The input's option *size_gb* is the new size of the drive.
    """

    def execute_verb(world: World, input_: Input) -> None:
        server, letter = input_.args[0], input_.args[1].strip(":\\").upper()
        computer = world.get_computer_of(server)
        size_kb = input_.get_option("size_gb", 100.0) * KB_PER_GB
        if len(letter) != 1 or not "A" <= letter <= "Z":
            raise InputError(
                build_message("a drive must be a letter from A to Z, not {name}", name=input_.args[1])
            )
        if letter in computer.failed_drives:
            raise InputError(
                build_message(
                    "drive {drive}: of {server} has failed; replace it with mend-volume",
                    drive=letter,
                    server=server,
                )
            )
        is_present = volumes.has_drive(computer, letter)
        if adds_drive and is_present:
            raise InputError(
                build_message("{server} already has a drive {drive}:", server=server, drive=letter)
            )
        if not adds_drive and volumes.get_size_kb(computer, letter) is None:
            raise InputError(
                build_message(
                    "drive {drive}: of {server} already has the maximum size", drive=letter, server=server
                )
                if is_present
                else build_message("drive {drive}: of {server} does not exist", drive=letter, server=server)
            )
        if size_kb < (volumes.get_size_kb(computer, letter) or 1.0):
            raise InputError(
                build_message(
                    "drive {drive}: of {server} cannot be made smaller", drive=letter, server=server
                )
            )
        holders = setup.add_shared_disk(world, server, letter) if adds_drive else ()
        for name in holders or (computer.name,):
            kept_volumes = tuple(
                volume for volume in world.computers[name].volumes if volume.letter.upper() != letter
            )
            world.update_computer(name, volumes=(*kept_volumes, Volume(letter=letter, size_kb=size_kb)))
        text = build_message("drive {drive}: has {size_gb:g} GB", drive=letter, size_gb=size_kb / KB_PER_GB)
        world.emit(ChoreData(drive=letter), text, server=server)
        log_space.resume_stopped_databases(world)

    return execute_verb


def _list_all_drives(world: World, server: str, truth: bool) -> Iterable[str]:
    """Return the letters of the drives on all servers."""
    return sorted({volume.letter for computer in world.computers.values() for volume in computer.volumes})


def _list_drives(world: World, server: str, truth: bool) -> Iterable[str]:
    return (volume.letter for volume in world.get_computer_of(server).volumes)


def _suggest_double_size(world: World, args: Args) -> Iterable[tuple[str, str]]:
    server, letter = args
    size_kb = next(
        volume.size_kb for volume in world.get_computer_of(server).volumes if volume.letter == letter
    )
    yield "", f"size_gb={2.0 * size_kb / KB_PER_GB:g}"


PATH: Final = VerbParameter(mark("path"), "rest", values=_list_paths)

VERBS: Final = (
    build_verb(
        "copy-file",
        _copy_file,
        parameters=(*SERVERS, PATH),
        sensible=lambda world, args: args[0] != args[1] and (args[1], args[2]) not in world.files,
        timers={"chore.copied": _on_file_copied, "chore.moved": _on_file_moved},
    ),
    build_verb("delete-file", _delete_file, parameters=(SERVER, PATH)),
    build_verb(
        "add-drive",
        _build_drive_action(adds_drive=True),
        parameters=(SERVER, VerbParameter(mark("drive"), values=_list_all_drives)),
    ),
    build_verb(
        "grow-volume",
        _build_drive_action(adds_drive=False),
        parameters=(SERVER, VerbParameter("drive", values=_list_drives)),
        variants=_suggest_double_size,
    ),
)
