"""Commits that T-SQL windows write into the log of a database.

The lineage of a copy's log decides which commits the copy has. This module does not undo, send or restore
commits: all of that follows from the log positions of the flow model.
"""

import math
from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from engine import arithmetic
from engine.commits import Commit
from engine.events import AvailabilityData
from engine.localization import LocalizableMessage, build_message
from engine.model import DatabaseCopy, Key, User, World
from engine.protocol import lineage, streams
from engine.protocol.lineage import Lineage

POSITION_TOLERANCE_KB: Final = 0.001
"""Tolerance for log positions of the flow model, in KB: one byte."""

COMMIT_LOG_KB: Final = 0.5
"""Amount of log that a commit itself writes, in KB: one sector, the smallest write. Known."""

COMMITTED_CHARACTERS_MAX: Final = 60_000_000
"""Maximum number of characters that all commits of a database may write, including replaced rows. Assumed."""


def find_last_commit(world: World, family: int, path: Lineage, kb: float) -> Commit | None:
    """Return the last commit in the log with lineage *path* that ends at or before log position *kb*.

    *family* is the number that all copies of the database share.
    """
    for stretch, begins_kb in reversed(path):
        commit = world.commits.get((family, stretch))
        while commit is not None and commit.kb > kb + POSITION_TOLERANCE_KB:
            commit = commit.previous
        if commit is not None:
            return commit
        kb = min(kb, begins_kb)
    return None


def find_newest_commit(world: World, copy: DatabaseCopy) -> Commit | None:
    """Return the last commit in the log of the copy, hardened or not."""
    end_kb = streams.get_end_of_log_kb(world, copy) if copy.source is None else math.inf
    return find_last_commit(world, copy.family, copy.lineage, end_kb)


def iterate_commits(world: World, copy: DatabaseCopy, after_kb: float, upto_kb: float) -> Iterator[Commit]:
    """Yield the commits in the log of the copy that end in (*after_kb*, *upto_kb*], newest first."""
    commit = find_last_commit(world, copy.family, copy.lineage, upto_kb)
    while commit is not None and commit.kb > after_kb + POSITION_TOLERANCE_KB:
        yield commit
        commit = commit.previous


def append_commit(world: World, key: Key, edits: tuple[tuple[str, object], ...], log_kb: float) -> float:
    """Commit a transaction and return the log position at its end.

    The client gets its confirmation when the log is hardened up to that position. Space is always available,
    because the log reserves it for open transactions.
    """
    copy = world.copies[key]
    assert copy.source is not None, f"{key} is open and writes no log"
    world.flow.add_log_kb(copy.source, COMMIT_LOG_KB)
    generated_kb = world.flow.read_source_positions(copy.source).generated_kb
    before = find_newest_commit(world, copy)
    world.commits[copy.family, copy.lineage[-1][0]] = Commit(
        before, generated_kb, log_kb + COMMIT_LOG_KB, world.tick, edits
    )
    return generated_kb


def can_acknowledge(world: World, key: Key, kb: float) -> bool:
    """Return whether a commit that ends at log position *kb* may be acknowledged to the client.

    It must be hardened in this copy and in the copies for which commits wait.
    """
    copy = world.copies.get(key)
    if copy is None or copy.delayed_durability == DELAYED_DURABILITY_FORCED:
        return True
    if copy.source is None:
        # This copy no longer writes log. In a mirroring session or AG, another copy took over, and the role
        # change ends the connection.
        return not copy.group_kind
    return streams.get_committed_kb(world, copy) + POSITION_TOLERANCE_KB >= kb


DELAYED_DURABILITY_FORCED: Final = 2
"""Value of `delayed_durability` for DELAYED_DURABILITY = FORCED."""


# --- users ---------------------------------------------------------------------------------------------------


def list_database_users(world: World, server: str, database: str) -> tuple[User, ...]:
    """Return the users of a database, a snapshot or master, as this server knows them."""
    for copy in world.copies.values():
        if copy.server == server and copy.database.lower() == database.lower():
            return _list_commit_users(find_newest_commit(world, copy), copy.database)
    for snapshot in world.instances[server].snapshots:
        if snapshot.name.lower() == database.lower():
            return _list_commit_users(
                find_last_commit(world, snapshot.family, snapshot.lineage, snapshot.end_of_log_kb),
                snapshot.name,
            )
    return tuple(u for u in world.instances[server].users if u.database.lower() == database.lower())


def _list_commit_users(last_commit: Commit | None, database: str) -> tuple[User, ...]:
    """Return the users of a database in the state after *last_commit*."""
    user_positions = last_commit.users.values() if last_commit is not None else ()
    return tuple(replace(user, database=database) for user in user_positions if isinstance(user, User))


# --- lost commits: acknowledged, and counted when the last copy that has them discards them ---------------

THIS_COPY: Final = build_message("this copy")


def record_lost_commits(
    world: World, database: str, server: str, count: int, lost_kb: float, location: LocalizableMessage
) -> None:
    """Add *count* lost commits with *lost_kb* of log to the downtime and loss record of the database.

    *location* describes the copy that lacks these commits.
    """
    account = world.availability.get(database)
    if account is None:
        return
    world.availability[database] = replace(
        account, lost_transactions=account.lost_transactions + count, lost_kb=account.lost_kb + lost_kb
    )
    text = build_message(
        "{n} committed transactions ({size_kb:.0f} KB of log) are missing in {where}",
        n=count,
        size_kb=lost_kb,
        where=location,
    )
    world.emit(
        AvailabilityData(lost_transactions=count, lost_kb=lost_kb), text, server=server, database=database
    )


def count_transactions(world: World, copy: DatabaseCopy, after_kb: float, upto_kb: float) -> int:
    """Count the transactions of the workload and of T-SQL windows that end between two log positions."""
    windows = list(iterate_commits(world, copy, after_kb, upto_kb))
    lost_kb = upto_kb - after_kb - arithmetic.add_in_order(commit.log_kb for commit in windows)
    per_transaction = streams.get_workload(copy).log_kb_per_transaction
    return len(windows) + (round(lost_kb / per_transaction) if lost_kb > 0.0 and per_transaction else 0)


def find_other_copies(world: World, copy: DatabaseCopy) -> list[DatabaseCopy]:
    """Return the copies of the same database on other servers."""
    return [
        c for c in world.list_copies_of(copy.database) if c.server != copy.server and c.family == copy.family
    ]


def discard_copy(world: World, copy: DatabaseCopy, remaining_copies: list[DatabaseCopy]) -> None:
    """Discard a copy with its log.

    Commits that are in no remaining copy count as lost, unless they have already been written off.

    Without *remaining_copies*, the whole database is given up and no commit counts as lost.
    """
    if not remaining_copies:
        return
    remaining_kb = max(
        min(
            lineage.find_common_kb(copy.lineage, other_copy.lineage),
            streams.get_end_of_log_kb(world, other_copy),
        )
        for other_copy in remaining_copies
    )
    known_kb, committed_kb = max(remaining_kb, copy.written_off_kb), streams.get_committed_kb(world, copy)
    number = count_transactions(world, copy, known_kb, committed_kb)
    if number:
        message = build_message("all remaining copies (only {server} had them)", server=copy.server)
        record_lost_commits(world, copy.database, copy.server, number, committed_kb - known_kb, message)
