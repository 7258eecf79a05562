"""Verbs for files on servers, and for the drives that hold them."""

import re
from collections.abc import Iterable
from typing import Final

from engine.cluster import setup
from engine.events import ChoreData
from engine.inputs import Input, InputError, but_there_are
from engine.localization import format_duration, mark, say
from engine.model import Volume, World
from engine.model.world import StoredFile
from engine.protocol import database_files, files, logspace, network, volumes
from engine.verbs.verb import SERVER, SERVERS, Args, Doing, VerbParameter, verb

_TWO_PATHS: Final = re.compile(r"([A-Za-z]:\\.*?)\s+([A-Za-z]:\\.*)")
"""Pattern of two paths: the old and the new path of a file."""
KB_PER_GB: Final = 1024.0 * 1024.0

# --- files ------------------------------------------------------------------------------------------------


def _copy(world: World, item: Input) -> None:
    """Copy a file from server A to the same path on server B."""
    a, b, path = item.args
    if a == b:
        _move(world, a, path.strip())
        return
    path = files.find_path_spelling(world, a, path.strip())
    file = world.files.get((a, path))
    if file is None:
        paths = sorted(name for file_server, name in world.files if file_server == a)
        raise InputError(but_there_are(say("{server} has no file {path}", server=a, path=path), paths[:8]))
    for name in (a, b):
        if not world.computer_of(name).powered:
            raise InputError(say("{server} is off", server=name))
    if not network.is_passing(world, a, b):
        raise InputError(say("{other} cannot reach {server}", server=b, other=a))
    drive = volumes.drive_of(path)
    if not volumes.has_drive(world.computer_of(b), drive):
        raise InputError(say("{server} has no drive {drive}:", server=b, drive=drive))
    if volumes.free_kb(world, b, drive) < file.size_kb:
        raise InputError(
            say(
                "drive {drive}: of {server} does not have {size_mb:.0f} MB of free space",
                drive=drive,
                server=b,
                size_mb=file.size_kb / 1024,
            )
        )
    seconds = files.transfer_s(world, a, b, file.size_kb)
    world.emit(
        ChoreData(path=path),
        say(
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
    world.all_dirty()
    world.call_after(seconds, "chore.copied", a, b, path, file, number)


def _move(world: World, server: str, paths: str) -> None:
    """Copy a file on one server: *paths* are the old and the new path. A database file must not be open."""
    path_match = _TWO_PATHS.fullmatch(paths)
    if path_match is None:
        raise InputError(say("two paths are needed on the same server: the old path and the new path"))
    path, target = files.find_path_spelling(world, server, path_match[1]), path_match[2]
    backup, database_file = world.files.get((server, path)), volumes.file_at(world, server, path)
    if backup is None and database_file is None:
        existing_paths = sorted(name for file_server, name in world.files if file_server == server)
        raise InputError(
            but_there_are(say("{server} has no file {path}", server=server, path=path), existing_paths[:8])
        )
    if not world.computer_of(server).powered:
        raise InputError(say("{server} is off", server=server))
    if (
        backup is None
        and database_file is not None
        and database_files.has_open_files(world, database_file[0])
    ):
        raise InputError(say("{path} is in use by SQL Server", path=path))
    drive = volumes.drive_of(target)
    if not volumes.has_drive(world.computer_of(server), drive):
        raise InputError(say("{server} has no drive {drive}:", server=server, drive=drive))
    found_file = backup or (database_file[1] if database_file is not None else None)
    assert found_file is not None
    size_kb = found_file.size_kb
    if volumes.free_kb(world, server, drive) < size_kb:
        raise InputError(
            say(
                "drive {drive}: of {server} does not have {size_mb:.0f} MB of free space",
                drive=drive,
                server=server,
                size_mb=size_kb / 1024,
            )
        )
    seconds = files.transfer_s(world, server, server, size_kb)
    if backup is not None:
        world.call_after(seconds, "chore.moved", server, "", "", target, backup)
    elif database_file is not None:
        copy, file = database_file
        world.call_after(seconds, "chore.moved", server, copy.database, file.key, target, None)


def _moved(
    world: World, server: str, database: str, file: str, path: str, content: StoredFile | None
) -> None:
    """Finish moving a file on its own server (timer)."""
    if not world.computer_of(server).powered:
        return
    if database:
        database_files.place_file(world, (server, database), file, path)
    elif content is not None:
        world.files[server, path] = content
    world.emit(ChoreData(path=path), say("{path} is on {server}", path=path, server=server), server=server)


def _copied(world: World, a: str, b: str, path: str, content: StoredFile, number: int) -> None:
    """Finish copying a file to another server (timer). It fails if a server or the link between them is lost."""
    world.transfers.pop(number, None)
    world.all_dirty()
    if not (
        world.computer_of(a).powered and world.computer_of(b).powered and network.is_passing(world, a, b)
    ):
        world.emit(
            ChoreData(path=path, failed=True),
            say("copying {path} from {server} to {other} failed", path=path, server=a, other=b),
            server=b,
        )
        return
    world.files[b, path] = content
    world.emit(ChoreData(path=path), say("{path} is on {server}", path=path, server=b), server=b)


def _delete(world: World, item: Input) -> None:
    server, path = item.args
    path = files.find_path_spelling(world, server, path.strip())
    if world.files.pop((server, path), None) is None:
        raise InputError(say("{server} has no file {path}", server=server, path=path))
    world.emit(ChoreData(path=path), say("{path} deleted", path=path), server=server)
    logspace.check_room(world)


def _paths(world: World, server: str, truth: bool) -> Iterable[str]:
    return sorted(path for file_server, path in world.files if file_server == server)


# --- drives -----------------------------------------------------------------------------------------------


def _set_drive(adds_drive: bool) -> Doing:
    """Build `add-drive S LETTER size_gb=…` or `grow-volume S LETTER size_gb=…`, which takes the new size."""

    def do(world: World, item: Input) -> None:
        server, letter = item.args[0], item.args[1].strip(":\\").upper()
        computer = world.computer_of(server)
        size_kb = item.option("size_gb", 100.0) * KB_PER_GB
        if len(letter) != 1 or not "A" <= letter <= "Z":
            raise InputError(say("a drive must be a letter from A to Z, not {name}", name=item.args[1]))
        if letter in computer.failed_drives:
            raise InputError(
                say(
                    "drive {drive}: of {server} has failed; replace it with mend-volume",
                    drive=letter,
                    server=server,
                )
            )
        is_present = volumes.has_drive(computer, letter)
        if adds_drive and is_present:
            raise InputError(say("{server} already has a drive {drive}:", server=server, drive=letter))
        if not adds_drive and volumes.size_kb(computer, letter) is None:
            raise InputError(
                say("drive {drive}: of {server} already has the maximum size", drive=letter, server=server)
                if is_present
                else say("drive {drive}: of {server} does not exist", drive=letter, server=server)
            )
        if size_kb < (volumes.size_kb(computer, letter) or 1.0):
            raise InputError(
                say("drive {drive}: of {server} cannot be made smaller", drive=letter, server=server)
            )
        holders = setup.share_disk(world, server, letter) if adds_drive else ()
        for name in holders or (computer.name,):
            kept_volumes = tuple(
                volume for volume in world.computers[name].volumes if volume.letter.upper() != letter
            )
            world.update_computer(name, volumes=(*kept_volumes, Volume(letter=letter, size_kb=size_kb)))
        text = say("drive {drive}: has {size_gb:g} GB", drive=letter, size_gb=size_kb / KB_PER_GB)
        world.emit(ChoreData(drive=letter), text, server=server)
        logspace.check_room(world)

    return do


def _all_drives(world: World, server: str, truth: bool) -> Iterable[str]:
    """Return the drive letters that exist on any server."""
    return sorted({volume.letter for computer in world.computers.values() for volume in computer.volumes})


def _drives(world: World, server: str, truth: bool) -> Iterable[str]:
    return (volume.letter for volume in world.computer_of(server).volumes)


def _suggest_double_size(world: World, args: Args) -> Iterable[tuple[str, str]]:
    server, letter = args
    size_kb = next(volume.size_kb for volume in world.computer_of(server).volumes if volume.letter == letter)
    yield "", f"size_gb={2.0 * size_kb / KB_PER_GB:g}"


PATH: Final = VerbParameter(mark("path"), "rest", values=_paths)
SIZE: Final = {"size_gb": (0.0, 1e6)}

VERBS: Final = (
    verb(
        "copy-file",
        _copy,
        parameters=(*SERVERS, PATH),
        sensible=lambda world, args: args[0] != args[1] and (args[1], args[2]) not in world.files,
        timers={"chore.copied": _copied, "chore.moved": _moved},
    ),
    verb("delete-file", _delete, parameters=(SERVER, PATH)),
    verb(
        "add-drive",
        _set_drive(adds_drive=True),
        parameters=(SERVER, VerbParameter(mark("drive"), values=_all_drives)),
    ),
    verb(
        "grow-volume",
        _set_drive(adds_drive=False),
        parameters=(SERVER, VerbParameter("drive", values=_drives)),
        variants=_suggest_double_size,
    ),
)
