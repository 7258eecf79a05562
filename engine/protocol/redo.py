"""What a mirror redoes beside pages: users, files and the place of the last log backup; and what stops its redo.

The principal's catalog reaches the mirror through the log: it is taken over once the mirror has redone the log up
to the change. A file that cannot be created stops redo and suspends the session [WP, preparing the mirror].
"""

from __future__ import annotations

from typing import Final

from engine.constants import REPLAY_LOOK_S
from engine.model import Copy, DbFile, Key, MirrorState, World
from engine.protocol import errorlog, quorum, roles, sync, volumes
from engine.protocol.roles import Cause


def note_change(world: World, key: Key) -> None:
    """The catalog of the database that *key* owns has changed; its mirror will learn of it."""
    copy = world.copies[key]
    if copy.row is None:
        return
    mirror = world.rows[copy.row][1]
    if mirror is not None and mirror != key:
        world.after(0.0, "redo.replay", *mirror, world.flow.positions(copy.row).generated_kb)


def replay(world: World, server: str, database: str, upto_kb: float) -> None:
    """Timer: the mirror takes over what the log up to *upto_kb* says, once it has redone that far."""
    copy = world.copies.get((server, database))
    if copy is None or copy.row is None or world.rows[copy.row][1] != (server, database):
        return  # no mirror any more; the next connection starts anew
    lead = world.copies[world.rows[copy.row][0]]
    if MirrorState.SUSPENDED in (copy.mirror_state, lead.mirror_state) or copy.redo_failed:
        return
    if lead.mirror_state is MirrorState.PENDING_FAILOVER or not _redone(world, copy.row, upto_kb):
        world.after(REPLAY_LOOK_S, "redo.replay", server, database, upto_kb)
        return
    _take_over_catalog(world, lead, copy)
    lacking = missing_drives(world, server, lead.extra_files)
    if lacking:
        fail(world, (server, database), 5123, lacking[0].drive, lacking[0].name)
    else:
        world.update_copy((server, database), extra_files=lead.extra_files)


def _redone(world: World, row: int, upto_kb: float) -> bool:
    return world.flow.positions(row).redone_kb + 1e-6 >= upto_kb


def finish(world: World, mirror: Key) -> None:
    """The mirror is about to lead: it has redone all the log it has, and knows what stands in it."""
    copy = world.copies[mirror]
    assert copy.row is not None
    lead = world.copies[world.rows[copy.row][0]]
    end = world.flow.positions(copy.row).hardened_kb
    _take_over_catalog(world, lead, copy)
    mine = tuple(file for file in lead.extra_files if file in copy.extra_files or file.added_kb <= end)
    world.update_copy(mirror, extra_files=mine)


def _take_over_catalog(world: World, lead: Copy, copy: Copy) -> None:
    theirs = tuple(user for user in world.servers[lead.server].users if user.database == lead.database)
    mine = world.servers[copy.server].users
    kept = tuple(user for user in mine if user.database != copy.database)
    if (*kept, *theirs) != mine:
        world.update_server(copy.server, users=(*kept, *theirs))


def missing_drives(world: World, server: str, files: tuple[DbFile, ...]) -> list[DbFile]:
    """The files whose drive the server does not have."""
    return [file for file in files if not volumes.has_drive(world.servers[server], file.drive)]


def fail(world: World, mirror: Key, number: int, *args: object) -> None:
    """Redo on the mirror meets error *number*: both partners suspend the session. 1453, 1454 [facts 1.8]."""
    copy = world.copies[mirror]
    assert copy.row is not None, f"{mirror} redoes nothing"
    principal = world.rows[copy.row][0]
    world.update_copy(mirror, redo_failed=True, armed=False)
    errorlog.write(world, mirror[0], number, *args)
    errorlog.write(world, mirror[0], 1454, mirror[1], number)
    told = [mirror]
    if quorum.sees_partner(world, copy):
        errorlog.write(world, principal[0], 1453, mirror[1], mirror[0], number)
        told = [principal, mirror]
    for key in told:
        if world.copies[key].mirror_state is not MirrorState.SUSPENDED:
            roles.move(world, key, Cause.SUSPEND)
            errorlog.trace(world, key, 9)
            errorlog.write(world, key[0], 1442, key[1])
    sync.tell_witness(world, principal)


def mended(world: World, mirror: Key) -> bool:
    """Whether what stopped redo is gone: every drive is there and every page is whole. RESUME asks this."""
    copy = world.copies[mirror]
    lead = world.copies.get((copy.partner or "", copy.database))
    if lead is None or copy.bad_pages or missing_drives(world, copy.server, lead.extra_files):
        return False
    world.update_copy(mirror, redo_failed=False)
    return True


HANDLERS: Final = {"redo.replay": replay}
