"""Which copies clients can use: what the instance, the files and the role of a copy allow."""

from __future__ import annotations

from engine.model import DatabaseCopy, DbState, Key, World
from engine.protocol import groups


def serves(world: World, key: Key) -> bool:
    """Clients that reach this copy can work in it."""
    return copy_serves(world, world.copies[key])


def copy_serves(world: World, copy: DatabaseCopy) -> bool:
    """`serves` of a copy that is at hand."""
    return _lets_in(world, copy) and not copy.log_full and copy.data_failed_tick is None


def opens(world: World, key: Key) -> bool:
    """Clients that reach this copy are let in; while its log is full they can read and nothing else."""
    return _lets_in(world, world.copies[key])


def _lets_in(world: World, copy: DatabaseCopy) -> bool:
    return (
        copy.db_state is DbState.ONLINE
        and not copy.recovering
        and world.instances[copy.server].answering
        and groups.policy(copy).writes(copy)
    )


def reads(world: World, key: Key, connected: bool = False) -> bool:
    """Clients with read intent that reach this copy are let in, or may stay if they are *connected* already."""
    copy = world.copies[key]
    return (
        world.instances[key[0]].answering
        and copy.db_state is DbState.ONLINE
        and not copy.recovering
        and groups.policy(copy).reads(copy, True, connected)
    )


def first(world: World, database: str) -> Key | None:
    """The first copy of *database* that serves."""
    keys = ((copy.server, database) for copy in world.copies_of(database))
    return next((key for key in keys if serves(world, key)), None)
