"""What a secondary learns from the log beside pages and commits: the files of its database; and what stops its redo.

A file that cannot be created suspends the copy, and RESUME meets the same log record again. [DOC: add-file failures in
a group]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from engine.availability import movement, replicas
from engine.constants import REPLAY_LOOK_S
from engine.mirroring.redo import files_of, trouble_with_files
from engine.model import Key, SuspendReason, SyncState, World
from engine.protocol import errorlog


def note_change(world: World, key: Key) -> None:
    """The files of the database that *key* owns have changed; those that receive its log will learn of it."""
    lead = world.copies[key]
    for stream in world.flow.streams_of(lead.source) if lead.source is not None else ():
        receiver = world.streams[stream]
        if receiver is not None and files_of(world.copies[receiver]) != files_of(lead):
            upto_kb = world.flow.positions(world.flow.source_of(stream)).generated_kb
            world.after(0.0, "availability.replay", *receiver, upto_kb)


def replay(world: World, server: str, database: str, upto_kb: float) -> None:
    """Timer: the secondary gives itself the files that its primary has, once it has redone the log *upto_kb*."""
    copy = world.copies.get((server, database))
    if copy is None or copy.stream is None or copy.availability.suspended is not None:
        return  # RESUME looks again
    lead = world.copies[world.sources[world.flow.source_of(copy.stream)]]
    if world.flow.stream_positions(copy.stream).redone_kb + 1e-6 < upto_kb:
        world.after(REPLAY_LOOK_S, "availability.replay", server, database, upto_kb)
        return
    trouble = trouble_with_files(world, copy, lead)
    if trouble is not None:
        _suspend(world, (server, database), (lead.server, database), *trouble)
    elif files_of(copy) != files_of(lead):
        world.update_copy((server, database), **files_of(lead))


def _suspend(world: World, key: Key, primary: Key, number: int, *args: object) -> None:
    """Redo has met error *number*: data movement to this copy is suspended. 35264, source SUSPEND_FROM_REDO."""
    reason = SuspendReason.REDO
    errorlog.write(world, key[0], number, *args)
    errorlog.write(world, key[0], 35264, key[1], "system", int(reason), f"SUSPEND_FROM_{reason.name}")
    world.update_availability(key, suspended=reason)
    movement.lose(world, primary, key[0])
    replicas.set_state(world, key, SyncState.NOT_SYNCHRONIZING)
    guid = world.copies[key].availability.guid
    if guid is not None:
        world.touch(guid)


HANDLERS: Final[dict[str, Callable[..., None]]] = {"availability.replay": replay}
