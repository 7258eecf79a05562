"""Commits that T-SQL windows write into the log of a database. Their positions decide which of them a copy has.

A copy has the commits along its lineage up to the end of its log. This module does not undo, send or restore
commits: all of that follows from the positions of the flow model.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from engine.commits import Commit
from engine.model import DatabaseCopy, Key, User, World
from engine.protocol import streams
from engine.protocol.lineage import Lineage

SLACK_KB: Final = 0.001
"""One byte: tolerance for positions of the flow model."""

COMMIT_KB: Final = 0.5
"""Log of a commit: one sector, the smallest write. Known."""

WRITTEN_MAX: Final = 60_000_000
"""Largest number of characters that all commits of a database may write, old rows included. Assumed."""


def find_last_commit(world: World, family: int, path: Lineage, kb: float) -> Commit | None:
    """Return the last commit along *path* whose log ends at or before *kb*."""
    for stretch, begins_kb in reversed(path):
        commit = world.commits.get((family, stretch))
        while commit is not None and commit.kb > kb + SLACK_KB:
            commit = commit.previous
        if commit is not None:
            return commit
        kb = min(kb, begins_kb)
    return None


def newest(world: World, copy: DatabaseCopy) -> Commit | None:
    """Return the last commit in the log of the copy, hardened or not."""
    end_kb = streams.end_of_log_kb(world, copy) if copy.source is None else math.inf
    return find_last_commit(world, copy.family, copy.lineage, end_kb)


def iterate_commits(world: World, copy: DatabaseCopy, after_kb: float, upto_kb: float) -> Iterator[Commit]:
    """Yield the commits in the log of the copy that end in (*after_kb*, *upto_kb*], newest first."""
    commit = find_last_commit(world, copy.family, copy.lineage, upto_kb)
    while commit is not None and commit.kb > after_kb + SLACK_KB:
        yield commit
        commit = commit.previous


def append(world: World, key: Key, edits: tuple[tuple[str, object], ...], log_kb: float) -> float:
    """Commit a transaction. Return the position up to which log must harden before the client receives the answer.

    There is always room: the log reserves space for open transactions.
    """
    copy = world.copies[key]
    assert copy.source is not None, f"{key} is open and writes no log"
    world.flow.add_log_kb(copy.source, COMMIT_KB)
    at = world.flow.positions(copy.source).generated_kb
    before = newest(world, copy)
    world.commits[copy.family, copy.lineage[-1][0]] = Commit(
        before, at, log_kb + COMMIT_KB, world.tick, edits
    )
    return at


def can_acknowledge(world: World, key: Key, kb: float) -> bool:
    """Return whether a commit that ends at *kb* may be answered.

    It is hardened here and, if the session waits for it, on the mirror.
    """
    copy = world.copies.get(key)
    if copy is None or copy.delayed_durability == DELAYED:
        return True
    if copy.source is None:
        return not copy.group_kind  # another copy has taken over: the role change will end the connection
    return streams.committed_kb(world, copy) + SLACK_KB >= kb


DELAYED: Final = 2
"""Value for DELAYED_DURABILITY = FORCED."""


# --- users ---------------------------------------------------------------------------------------------------


def users_of(world: World, server: str, database: str) -> tuple[User, ...]:
    """Return the users of a database, a snapshot or master, as this server has them."""
    for copy in world.copies.values():
        if copy.server == server and copy.database.lower() == database.lower():
            return _users(newest(world, copy), copy.database)
    for one in world.instances[server].snapshots:
        if one.name.lower() == database.lower():
            return _users(find_last_commit(world, one.family, one.lineage, one.end_of_log_kb), one.name)
    return tuple(u for u in world.instances[server].users if u.database.lower() == database.lower())


def _users(last_commit: Commit | None, database: str) -> tuple[User, ...]:
    found = last_commit.users.values() if last_commit is not None else ()
    return tuple(replace(user, database=database) for user in found if isinstance(user, User))
