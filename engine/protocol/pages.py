"""Damaged pages: what notices them, automatic repair from the partner (2008 and later), and what is left without it.

Documented [DOC: automatic page repair]: the copy that meets a damaged page asks its partner for a good one; on the
mirror the session is suspended meanwhile and goes on by itself. File headers and boot pages cannot be repaired.
"""

from __future__ import annotations

from typing import Any, Final

from engine.constants import PAGE_READ_AGAIN_S, PAGE_REPAIR_S
from engine.messages import Message, text_of
from engine.model import Copy, DbState, Key, MirrorState, PageRepair, Role, Snapshot, World
from engine.protocol import commands, errorlog, quorum, redo, roles, sync

NOT_REPAIRABLE: Final = (0, 1, 2, 3, 9)
"""The file header, the first PFS, GAM and SGAM page, and the boot page of a database. Documented; the allocation pages
further on in a file are not told apart from others."""

REPAIRS_KEPT: Final = 100
"""Rows of sys.dm_db_mirroring_auto_page_repair for each database. Documented."""


def damage(world: World, server: str, database: str, page: int) -> None:
    """`corrupt-page`: a page of one copy is no longer what its checksum says, and is read soon after."""
    key = (server, database)
    copy = world.copies[key]
    if page in copy.bad_pages:
        return
    world.update_copy(key, bad_pages=(*copy.bad_pages, page))
    world.after(PAGE_REPAIR_S / 2, "page.read", server, database, page)


def read(world: World, server: str, database: str, page: int) -> None:
    """Timer: the damaged page is met: by a query on a principal, by redo on a mirror."""
    key = (server, database)
    copy = world.copies.get(key)
    if copy is None or page not in copy.bad_pages or not world.servers[server].answering:
        return
    meets = copy.db_state is DbState.ONLINE or (copy.role is Role.MIRROR and copy.row is not None)
    if not meets:
        return
    if not _can_repair(world, copy, page):
        _leave_damaged(world, key, page, tried=_tries(world, copy))
        return
    errorlog.write(world, server, 824, page, database)
    _note(world, key, page, status=3)
    errorlog.write(world, server, 1432, database, f"(1:{page})")
    if copy.role is Role.MIRROR:
        _suspend(world, key)
    world.after(PAGE_REPAIR_S, "page.repaired", server, database, page)


def _tries(world: World, copy: Copy) -> bool:
    """Both partners are of 2008 or later and connected; a principal tries only while SYNCHRONIZED [DOC: automatic page
    repair], a mirror whenever redo meets the page.
    """
    partner = world.copies.get((copy.partner or "", copy.database))
    if copy.guid is None or partner is None or not quorum.sees_partner(world, copy):
        return False
    states = [MirrorState.SYNCHRONIZED]
    states += [MirrorState.SYNCHRONIZING] if copy.role is Role.MIRROR else []
    new_enough = all(world.servers[name].version >= 2008 for name in (copy.server, partner.server))
    return new_enough and copy.mirror_state in states


def _can_repair(world: World, copy: Copy, page: int) -> bool:
    """The repair is tried, can be made to such a page, and the partner's page is a good one."""
    if not _tries(world, copy):
        return False
    partner = world.copies[copy.partner or "", copy.database]
    return page not in (*NOT_REPAIRABLE, *partner.bad_pages)


def _leave_damaged(world: World, key: Key, page: int, *, tried: bool) -> None:
    copy = world.copies[key]
    if tried:
        _note(world, key, page, status=6)
        errorlog.write(world, key[0], 1481, key[1], f"(1:{page})")
    if copy.role is Role.MIRROR and copy.row is not None and not copy.redo_failed:
        redo.fail(world, key, 824, page, key[1])
    else:
        errorlog.write(world, key[0], 824, page, key[1])
    if copy.db_state is DbState.ONLINE:  # the next read may find a partner that can help
        world.after(PAGE_READ_AGAIN_S, "page.read", *key, page)


def _suspend(world: World, mirror: Key) -> None:
    """Redo waits for the page."""
    copy = world.copies[mirror]
    for key in (mirror, (copy.partner or "", copy.database)):
        roles.move(world, key, roles.Cause.SUSPEND)
        errorlog.trace(world, key, 9)
        errorlog.write(world, key[0], 1442, key[1])


def repaired(world: World, server: str, database: str, page: int) -> None:
    """Timer: the partner's answer is there; if it still can be used the page is whole again."""
    key = (server, database)
    copy = world.copies.get(key)
    if copy is None or page not in copy.bad_pages:
        return
    partner = (copy.partner or "", copy.database)
    if copy.guid is None or not quorum.sees_partner(world, copy) or page in world.copies[partner].bad_pages:
        _leave_damaged(world, key, page, tried=True)
        return
    world.update_copy(key, bad_pages=tuple(other for other in copy.bad_pages if other != page))
    _note(world, key, page, status=5)
    errorlog.write(world, server, 1461, database, f"(1:{page})")
    if copy.role is Role.MIRROR and copy.mirror_state is MirrorState.SUSPENDED and not copy.redo_failed:
        sync.begin_synchronizing(world, partner, key)
        sync.tell_witness(world, partner)


def _note(world: World, key: Key, page: int, *, status: int) -> None:
    kept = [row for row in world.copies[key].page_repairs if row.page != page]
    row = PageRepair(page=page, status=status, tick=world.tick)
    world.update_copy(key, page_repairs=tuple([*kept, row][-REPAIRS_KEPT:]))


def mend(world: World, server: str, database: str) -> None:
    """`mend-page`: the damaged pages of a copy are restored from a backup that somebody else has found."""
    copy = world.copies[server, database]
    if copy.bad_pages:
        world.update_copy((server, database), bad_pages=())


def check(world: World, server: str, database: str) -> list[Message]:
    """DBCC CHECKDB: what is damaged, and the closing line. 954 on a mirror."""
    commands.use_database(world, server, database)
    copy = commands.copy_on(world, server, database)
    return _found(copy, copy.database)


def check_snapshot(world: World, server: str, picture: Snapshot) -> list[Message]:
    """DBCC CHECKDB of a snapshot, the way to check a mirror: it meets the pages of its source."""
    commands.use_database(world, server, picture.name)
    return _found(world.copies[server, picture.source], picture.name)


def _found(copy: Copy, name: str) -> list[Message]:
    lines = [_error(8939, page, name) for page in copy.bad_pages]
    count = len(copy.bad_pages)
    closing = text_of(8989, count, name)[1]
    return [*lines, Message(8989, 10, 1, 0, closing), Message(2528, 0, 1, 0, text_of(2528)[1])]


def _error(number: int, *args: Any) -> Message:
    severity, text = text_of(number, *args)
    return Message(number, severity, 1, 0, text)


HANDLERS: Final = {"page.read": read, "page.repaired": repaired}
