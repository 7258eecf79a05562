"""Acknowledged commits that are lost, counted when the only copy that has them discards them."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from engine import arithmetic
from engine.localization import LocalizableMessage, say
from engine.model import DatabaseCopy, World
from engine.protocol import commits, lineage, streams

THIS_COPY: Final = say("this copy")


def record_loss(
    world: World, database: str, server: str, count: int, lost_kb: float, location: LocalizableMessage
) -> None:
    """Add lost commits to the account of the database; *location* names in words the copy that lacks them."""
    account = world.availability.get(database)
    if account is None:
        return
    world.availability[database] = replace(
        account, lost_transactions=account.lost_transactions + count, lost_kb=account.lost_kb + lost_kb
    )
    text = say(
        "{n} committed transactions ({size_kb:.0f} KB of log) are missing in {where}",
        n=count,
        size_kb=lost_kb,
        where=location,
    )
    world.emit(
        "availability", text, server=server, database=database, lost_transactions=count, lost_kb=lost_kb
    )


def count(world: World, copy: DatabaseCopy, after_kb: float, upto_kb: float) -> int:
    """Count the transactions that end in this part of the copy's log: those of the workload and of T-SQL windows."""
    windows = list(commits.iterate_commits(world, copy, after_kb, upto_kb))
    lost_kb = upto_kb - after_kb - arithmetic.total(commit.log_kb for commit in windows)
    per_transaction = streams.workload_of(copy).log_kb_per_transaction
    return len(windows) + (round(lost_kb / per_transaction) if lost_kb > 0.0 and per_transaction else 0)


def find_other_copies(world: World, copy: DatabaseCopy) -> list[DatabaseCopy]:
    """Return the copies of the same database on other servers."""
    return [c for c in world.copies_of(copy.database) if c.server != copy.server and c.family == copy.family]


def discard_copy(world: World, copy: DatabaseCopy, remaining_copies: list[DatabaseCopy]) -> None:
    """Discard the copy's own log. Its own commits are lost, unless they were written off before.

    *remaining_copies* stay. Without any, the database itself is given up and nothing is counted.
    """
    if not remaining_copies:
        return
    elsewhere = max(
        min(lineage.common_kb(copy.lineage, other.lineage), streams.end_of_log_kb(world, other))
        for other in remaining_copies
    )
    known, told = max(elsewhere, copy.written_off_kb), streams.committed_kb(world, copy)
    number = count(world, copy, known, told)
    if number:
        where = say("all remaining copies: only {server} had them", server=copy.server)
        record_loss(world, copy.database, copy.server, number, told - known, where)
