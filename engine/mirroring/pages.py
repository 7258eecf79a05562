"""Damaged pages: detection, automatic repair from another copy (2008 and later), and repair by other means.

Documented [DOC: automatic page repair]: the copy that reads a damaged page requests it from its partner or
another replica. On a mirror or secondary, data movement is suspended in the meantime and resumes
automatically. File headers and boot pages cannot be repaired.
"""

from typing import Final

from engine.constants import PAGE_READ_INTERVAL_S, PAGE_REPAIR_S, TICKS_PER_S
from engine.messages import Message, fill_message
from engine.model import DatabaseCopy, DbState, Handlers, Key, MirrorState, PageRepair, World, to_ticks
from engine.protocol import disks, errorlog, files, group_policies, statements, volumes

UNREPAIRABLE_PAGES: Final = (0, 1, 2, 3, 9)
"""Pages that cannot be repaired: file header, first PFS, GAM and SGAM page, boot page. Documented.

Later allocation pages of a file can be repaired like other pages.
"""

DAMAGED_OBJECT_ID: Final = 2_073_058_421
"""Object ID in the output of CHECKDB. Assumed: the simulation does not know the table to which a page
belongs.
"""

REPAIR_ROWS_MAX: Final = 100
"""Maximum number of rows in sys.dm_db_mirroring_auto_page_repair per database. Documented."""


def damage_page(world: World, server: str, database: str, page: int) -> None:
    """Damage a page of one copy (`corrupt-page`), so that the page has a wrong checksum.

    A query or redo reads the page soon afterward.
    """
    key = (server, database)
    copy = world.copies[key]
    if page in copy.bad_pages:
        return
    world.update_copy(key, bad_pages=(*copy.bad_pages, page))
    world.call_after(PAGE_REPAIR_S / 2, "page.read", server, database, page)


def read_damaged_page(world: World, server: str, database: str, page: int) -> None:
    """Read the damaged page, by a query or by redo, and start its repair if possible (timer handler)."""
    key = (server, database)
    copy = world.copies.get(key)
    if copy is None or page not in copy.bad_pages or not world.instances[server].answering:
        return
    policy = group_policies.get_policy(copy)
    redoes = policy.is_follower(copy) and copy.stream is not None
    # If data movement is suspended or a failover is pending, postpone the read. Redo reads the page after the
    # resume.
    is_suspended = copy.availability.suspended is not None
    states = [member_copy.mirroring.state for member_copy in world.list_copies_of(database)]
    if is_suspended or MirrorState.PENDING_FAILOVER in states:
        world.call_after(PAGE_READ_INTERVAL_S, "page.read", server, database, page)
        return
    if copy.db_state is not DbState.ONLINE and not redoes:
        return
    if not _can_repair(world, copy, page):
        _leave_damaged(world, key, page, tried=bool(policy.find_page_sources(world, copy)))
        return
    errorlog.write_message(world, server, 824, *_build_read_error_arguments(copy, page))
    _record_repair(world, key, page, status=3)
    errorlog.write_message(world, server, 1432, f"(1:{page})", database)
    if redoes:
        policy.wait_for_page(world, key)
    world.call_after(PAGE_REPAIR_S, "page.repaired", server, database, page)


def _can_repair(world: World, copy: DatabaseCopy, page: int) -> bool:
    """Return whether the page can be repaired and is intact in another copy that may supply it."""
    sources = group_policies.get_policy(copy).find_page_sources(world, copy)
    return _is_intact(world, copy.database, page, sources) and page not in UNREPAIRABLE_PAGES


def _is_intact(world: World, database: str, page: int, servers: list[str]) -> bool:
    return any(page not in world.copies[server, database].bad_pages for server in servers)


def _leave_damaged(world: World, key: Key, page: int, *, tried: bool) -> None:
    copy = world.copies[key]
    policy = group_policies.get_policy(copy)
    if tried:
        _record_repair(world, key, page, status=6)
        errorlog.write_message(world, key[0], 1481, f"(1:{page})", key[1])
    if policy.is_follower(copy) and copy.stream is not None and not copy.mirroring.redo_failed:
        policy.fail_redo(world, key, 824, *_build_read_error_arguments(copy, page))
    else:
        errorlog.write_message(world, key[0], 824, *_build_read_error_arguments(copy, page))
    if (
        world.copies[key].db_state is DbState.ONLINE
    ):  # at the next read, another copy may be able to repair the page
        world.call_after(PAGE_READ_INTERVAL_S, "page.read", *key, page)


def on_page_received(world: World, server: str, database: str, page: int) -> None:
    """Repair the page with the page from another copy, if that page is intact (timer handler)."""
    key = (server, database)
    copy = world.copies.get(key)
    if copy is None or page not in copy.bad_pages:
        return
    if not _is_intact(
        world, database, page, group_policies.get_policy(copy).find_page_sources(world, copy, waiting=True)
    ):
        _leave_damaged(world, key, page, tried=True)
        return
    world.update_copy(
        key, bad_pages=tuple(other_bad_page for other_bad_page in copy.bad_pages if other_bad_page != page)
    )
    _record_repair(world, key, page, status=5)
    errorlog.write_message(world, server, 1461, f"(1:{page})", database)
    if group_policies.get_policy(copy).is_follower(copy):
        group_policies.get_policy(copy).resume_after_page(world, key)


def _record_repair(world: World, key: Key, page: int, *, status: int) -> None:
    repairs = [row for row in world.copies[key].page_repairs if row.page != page]
    row = PageRepair(page=page, status=status, tick=world.tick)
    world.update_copy(key, page_repairs=tuple([*repairs, row][-REPAIR_ROWS_MAX:]))


def is_damage_detected(copy: DatabaseCopy, page: int) -> bool:
    """Return whether a reader has noticed the damage of the page; True for an intact page.

    Damage has been noticed if redo failed or the page has a repair row.
    """
    repaired_or_tried = any(repair.page == page for repair in copy.page_repairs)
    return copy.mirroring.redo_failed or page not in copy.bad_pages or repaired_or_tried


def repair_pages(world: World, server: str, database: str) -> None:
    """Execute `mend-page`: restore the damaged pages of a copy from a backup, as another DBA would."""
    copy = world.copies[server, database]
    if copy.bad_pages:
        world.update_copy((server, database), bad_pages=())


def start_checkdb(
    world: World, server: str, database: str, quiet: bool = False, login: str = ""
) -> statements.PendingStatement:
    """Execute DBCC CHECKDB of a database or a snapshot.

    Raise 954 on a mirror, 823 if the data volume has failed. A mirror can be checked through a snapshot. The
    check reads every page once, so it takes as long as a backup of the same data. Derived. *quiet*: with
    NO_INFOMSGS.
    """
    statements.check_database_access(world, server, database)
    copy = _find_checked_copy(world, server, database)
    disks.require_data_reachable(copy)
    ends = world.tick + to_ticks(files.compute_disk_transfer_s(world, server, copy.size_kb))
    return statements.PendingStatement(ends, "page.checked", (database, quiet, login, world.tick))


def _find_checked_copy(world: World, server: str, database: str) -> DatabaseCopy:
    """Return the copy whose pages a check reads. A snapshot shares the pages of its source."""
    picture = world.instances[server].find_snapshot(database)
    return (
        world.copies[server, picture.source] if picture else statements.require_copy(world, server, database)
    )


def _complete_check(
    world: World, server: str, database: str, quiet: bool, login: str = "", started_tick: int = 0
) -> list[Message]:
    """Return the errors and the closing lines of a check.

    With NO_INFOMSGS (*quiet*) the result of a check without errors is empty.
    """
    copy = _find_checked_copy(world, server, database)
    picture = world.instances[server].find_snapshot(database)
    name = picture.name if picture else copy.database
    messages = _format_checkdb_errors(copy, name)
    errors = sum(1 for line in messages if line.number in (8928, 8939))
    log_check(world, server, name, quiet, login, errors, started_tick)
    if quiet:
        return messages if any(line.is_error for line in messages) else []
    return [*messages, _build_error(2528)]


def log_check(
    world: World, server: str, name: str, quiet: bool, login: str, errors: int, started_tick: int
) -> None:
    """Write the result of DBCC CHECKDB into the ERRORLOG.

    [DOC: DBCC CHECKDB]
    """
    seconds = (world.tick - started_tick) // TICKS_PER_S
    options = " WITH no_infomsgs" if quiet else ""
    elapsed = (seconds // 3600, seconds % 3600 // 60, seconds % 60)
    errorlog.write_message(
        world, server, 8957, "", "CHECKDB", name, "", "", options, login, errors, 0, *elapsed, ""
    )


def build_clean_check_messages(name: str) -> list[Message]:
    """Return the closing lines of a check without errors."""
    return [_build_error(8989, "CHECKDB", 0, 0, name), _build_error(2528)]


def _build_read_error_arguments(copy: DatabaseCopy, page: int) -> tuple[object, ...]:
    """Return the arguments of error 824 for a page with a wrong checksum.

    Both checksums are computed from the page's number.
    """
    expected, actual = (
        (page * 2_654_435_761 + 0x9E3779B9) & 0xFFFFFFFF,
        (page * 40_503 + 0x5BD1E995) & 0xFFFFFFFF,
    )
    reason = f"incorrect checksum (expected: 0x{expected:08x}; actual: 0x{actual:08x})"
    file = volumes.get_file_path(copy, volumes.list_copy_files(copy)[0])
    return reason, "read", f"(1:{page})", copy.database_id, page * files.PAGE_BYTES, file


def _format_checkdb_errors(copy: DatabaseCopy, name: str) -> list[Message]:
    """Return errors 8928 and 8939 for each damaged page, then the totals."""
    lines = [
        _build_error(number, *args) for page in copy.bad_pages for number, args in _list_page_errors(page)
    ]
    level = [_build_error(8958, "repair_allow_data_loss", "CHECKDB", name, "", "")] if lines else []
    error = _build_error(8989, "CHECKDB", 0, len(lines), name)
    return [*lines, error, *level]


def _list_page_errors(page: int) -> list[tuple[int, tuple[object, ...]]]:
    """Return (number, arguments) of both errors of an unreadable page.

    In the simulation, all damaged pages belong to one object.
    """
    object_location = (
        DAMAGED_OBJECT_ID,
        1,
        72_057_594_038_321_152,
        72_057_594_043_564_032,
        "In-row data",
        f"(1:{page})",
    )
    return [
        (8928, object_location),
        (8939, (*object_location, "IS_OFF (BUF_IOERR, pBUF->bstat)", 12_716_041, -4)),
    ]


def _build_error(number: int, *args: object) -> Message:
    severity, text = fill_message(number, *args)
    return Message(number, severity, 1, 0, text)


HANDLERS: Final[Handlers] = {"page.read": read_damaged_page, "page.repaired": on_page_received}

statements.COMPLETION_HANDLERS["page.checked"] = _complete_check
