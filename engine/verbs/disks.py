"""Verbs for disks, processors, volumes, log files and database pages."""

from collections.abc import Callable, Iterable
from typing import Final

from engine.inputs import Input, InputError
from engine.localization import build_message, mark
from engine.mirroring import pages
from engine.model import Fault, World
from engine.protocol import disks, log_space, network, serving, volumes
from engine.verbs.verb import (
    COMPUTER,
    SERVER,
    Args,
    SavedValues,
    VerbParameter,
    build_verb,
    describe_pending_effect,
)

# --- slower hardware --------------------------------------------------------------------------------------


def _read_factor(input_: Input, default: float) -> float:
    factor = input_.get_option("factor", default)
    if factor < 1.0:
        raise InputError(build_message("factor must be 1 (normal speed) or above"))
    return factor


def _slow_disk(world: World, input_: Input) -> SavedValues:
    factor, computer = _read_factor(input_, 10.0), world.get_computer(input_.args[0])
    if input_.args[1] == "log":
        world.update_computer(computer.name, log_disk_factor=factor)
        return (("log_disk_factor", computer.log_disk_factor),)
    world.update_computer(computer.name, data_disk_factor=factor)
    return (("data_disk_factor", computer.data_disk_factor),)


def _slow_cpu(world: World, input_: Input) -> SavedValues:
    factor, computer = _read_factor(input_, 4.0), world.get_computer(input_.args[0])
    world.update_computer(computer.name, cpu_factor=factor)
    network.schedule_detections(world)  # slow processors also delay pings
    return (("cpu_factor", computer.cpu_factor),)


FULL_SPEED_VARIANT: Final = {
    "log": mark("Restore log disk speed"),
    "data": mark("Restore data disk speed"),
}

# --- the log ----------------------------------------------------------------------------------------------


def _describe_full_log(world: World, fault: Fault) -> str:
    servers = [copy.server for copy in world.list_copies_of(fault.args[0]) if copy.log_full]
    return (
        build_message("the log of {database} is full on {server}", database=fault.args[0], server=servers[0])
        if servers
        else ""
    )


def _has_log_space(world: World, args: Args) -> bool:
    return any(copy.source is not None and not copy.log_full for copy in world.list_copies_of(args[0]))


def _open_transaction(world: World, input_: Input) -> None:
    (database,) = input_.args
    key = serving.find_serving_key(world, database)
    if key is None:
        raise InputError(build_message("{database} is not available", database=database))
    if world.copies[key].active_from_kb is not None:
        raise InputError(build_message("{database} already has an open transaction", database=database))
    log_space.leave_transaction_open(world, *key)


def _end_transaction(world: World, input_: Input) -> None:
    for copy in world.list_copies_of(input_.args[0]):
        log_space.end_open_transaction(world, copy.server, copy.database)


def _describe_waits(world: World, fault: Fault) -> str:
    copies = [copy for copy in world.list_copies_of(fault.args[0]) if copy.active_from_kb is not None]
    waits = any(log_space.find_reuse_wait(world, copy.source) == "ACTIVE_TRANSACTION" for copy in copies)
    return (
        build_message("the open transaction prevents log truncation in {database}", database=fault.args[0])
        if waits
        else ""
    )


def _has_open_transaction(world: World, args: Args) -> bool:
    """Return whether a transaction is open in a copy of the database."""
    return any(copy.active_from_kb is not None for copy in world.list_copies_of(args[0]))


# --- volumes and drives -----------------------------------------------------------------------------------


def _describe_io_errors(world: World, fault: Fault) -> str:
    hit = [
        copy.database
        for (server, _), copy in sorted(world.copies.items())
        if server == fault.args[0] and (copy.disk_failed or copy.data_failed_tick is not None)
    ]
    return (
        build_message("{database} on {server} has I/O errors", database=hit[0], server=fault.args[0])
        if hit
        else ""
    )


def _build_drive_noop_check(reason: str, drive_is_lost: bool) -> Callable[[World, Input], str]:
    """Build a no-op check for a drive that is already lost or, if *drive_is_lost* is False, already present."""

    def find_noop_reason(world: World, input_: Input) -> str:
        letter = input_.args[1].strip(":\\").upper()
        return (
            reason if (letter in world.get_computer_of(input_.args[0]).failed_drives) is drive_is_lost else ""
        )

    return find_noop_reason


def _list_drives_with_files(world: World, server: str, truth: bool) -> Iterable[str]:
    """Return the drives that contain database files of the server."""
    copies = [copy for (copy_server, _), copy in world.copies.items() if copy_server == server]
    return sorted({file.drive.upper() for copy in copies for file in volumes.list_copy_files(copy)})


DRIVE: Final = VerbParameter(mark("drive"), values=_list_drives_with_files)

# --- pages ------------------------------------------------------------------------------------------------


def _corrupt_page(world: World, input_: Input) -> SavedValues:
    server, database = input_.args
    if (server, database) not in world.copies:
        raise InputError(
            build_message("{server} has no copy of {database}", server=server, database=database)
        )
    page = round(input_.get_option("page", 1000.0))
    pages.damage_page(world, server, database, page)
    return (("page", page),)


def _repair_pages(world: World, input_: Input) -> None:
    server, database = input_.args
    if (server, database) not in world.copies:
        raise InputError(
            build_message("{server} has no copy of {database}", server=server, database=database)
        )
    pages.repair_pages(world, server, database)


def _describe_page_read(world: World, fault: Fault) -> str:
    copy = world.copies.get((fault.args[0], fault.args[1]))  # the copy may be dropped already
    page = dict(fault.before)["page"]
    assert isinstance(page, int)
    return (
        build_message("the damaged page was read")
        if copy is not None and pages.is_damage_detected(copy, page)
        else ""
    )


VERBS: Final = (
    build_verb(
        "slow-disk",
        _slow_disk,
        parameters=(COMPUTER, VerbParameter(mark("disk"), choices=("log", "data"))),
        effect=describe_pending_effect,
        sensible=lambda world, args: getattr(world.get_computer(args[0]), f"{args[1]}_disk_factor") == 1.0,
        back_label=lambda args: FULL_SPEED_VARIANT[args[1]],
    ),
    build_verb(
        "slow-cpu",
        _slow_cpu,
        effect=describe_pending_effect,
        sensible=lambda world, args: world.get_computer(args[0]).cpu_factor == 1.0,
        back_label=lambda args: mark("Restore processor speed"),
    ),
    build_verb(
        "fill-log",
        lambda world, item: log_space.fill_log(world, item.args[0]),
        effect=_describe_full_log,
        sensible=_has_log_space,
    ),
    build_verb(
        "open-transaction",
        _open_transaction,
        effect=_describe_waits,
        sensible=lambda world, args: (
            serving.find_serving_key(world, args[0]) is not None and not _has_open_transaction(world, args)
        ),
    ),
    build_verb("end-transaction", _end_transaction, sensible=_has_open_transaction),
    build_verb(
        "fail-disk",
        lambda world, item: disks.fail_disk(world, *item.args),
        effect=_describe_io_errors,
        sensible=lambda world, args: not world.copies[args[0], args[1]].disk_failed,
    ),
    build_verb(
        "mend-disk",
        lambda world, item: disks.repair_disk(world, *item.args),
        sensible=lambda world, args: world.copies[args[0], args[1]].disk_failed,
    ),
    build_verb(
        "fail-volume",
        lambda world, item: disks.fail_volume(world, *item.args),
        parameters=(SERVER, DRIVE),
        effect=_describe_io_errors,
        pointless=_build_drive_noop_check(build_message("the drive has already failed"), True),
    ),
    build_verb(
        "mend-volume",
        lambda world, item: disks.repair_volume(world, *item.args),
        parameters=(SERVER, DRIVE),
        pointless=_build_drive_noop_check(build_message("the drive is available"), False),
    ),
    build_verb(
        "corrupt-page",
        _corrupt_page,
        effect=_describe_page_read,
        sensible=lambda world, args: not world.copies[args[0], args[1]].bad_pages,
    ),
    build_verb(
        "mend-page",
        _repair_pages,
        sensible=lambda world, args: bool(world.copies[args[0], args[1]].bad_pages),
    ),
)
