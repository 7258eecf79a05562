"""Conditions under which clients can use a copy: its instance, its files and its role."""

from engine.model import DatabaseCopy, DbState, Key, World
from engine.protocol import group_policies


def is_serving(world: World, key: Key) -> bool:
    """Return whether clients that reach this copy can read and write."""
    return is_copy_serving(world, world.copies[key])


def is_copy_serving(world: World, copy: DatabaseCopy) -> bool:
    """Return whether clients that reach *copy* can read and write, like `is_serving`."""
    return (
        _admits_clients(world, copy)
        and not copy.log_full
        and not copy.read_only
        and copy.data_failed_tick is None
    )


def is_accessible(world: World, key: Key) -> bool:
    """Return whether this copy accepts clients. If its log is full, clients can only read."""
    return _admits_clients(world, world.copies[key])


def _admits_clients(world: World, copy: DatabaseCopy) -> bool:
    return (
        copy.db_state is DbState.ONLINE
        and not copy.recovering
        and world.instances[copy.server].answering
        and group_policies.get_policy(copy).can_write(copy)
    )


def can_read(world: World, key: Key) -> bool:
    """Return whether this copy accepts clients with read intent."""
    copy = world.copies[key]
    return (
        world.instances[key[0]].answering
        and copy.db_state is DbState.ONLINE
        and not copy.recovering
        and group_policies.get_policy(copy).can_read(copy, True)
    )


def find_serving_key(world: World, database: str) -> Key | None:
    """Return the key of the first copy of *database* in which clients can read and write, or None."""
    keys = ((copy.server, database) for copy in world.list_copies_of(database))
    return next((key for key in keys if is_serving(world, key)), None)
