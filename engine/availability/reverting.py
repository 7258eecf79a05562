"""Reverting of a secondary: undo of log that the primary does not have, with pages copied from the primary.

A revert that is interrupted begins again when the copy connects. [DOC: reverting state]
"""

from typing import Final

from engine.availability import replicas
from engine.constants import BACKUP_KB_PER_S, TICKS_PER_S
from engine.model import DatabaseCopy, DbState, SyncState, World
from engine.protocol import commits, errorlog, streams

REVERT_KB_PER_S: Final = BACKUP_KB_PER_S / 4
"""Rate at which a secondary reverts diverged log by copying pages from the primary. Assumed: random reads."""

ROLLBACK_MIN_KB: Final = 25_000.0
"""Smallest rollback that is shown as a revert, in KB. Reverts of small transactions are hardly noticed. [DOC:
reverting state]
"""


def compute_revert_kb(follower: DatabaseCopy, diverged_kb: float) -> float:
    """Return the amount of log that the copy must revert, in KB.

    *diverged_kb*: amount of its log that is in no other log. A former primary that kept running has
    rolled back its open transactions. Its log is therefore ahead of the new primary's log. [DOC:
    reverting state]
    """
    rolled_back_kb = follower.open_log_kb if follower.open_log_kb >= ROLLBACK_MIN_KB else 0.0
    return diverged_kb + rolled_back_kb + follower.availability.revert_kb


def begin_revert(
    world: World, lead: DatabaseCopy, follower: DatabaseCopy, common_kb: float, revert_kb: float
) -> None:
    """Start the revert of the last *revert_kb* of log. Both logs are equal up to *common_kb*."""
    key = follower.key
    commits.discard_copy(world, follower, [lead])
    streams.stop_log(world, follower)
    world.update_copy(
        key, end_of_log_kb=common_kb, redone_kb=min(follower.redone_kb, common_kb), open_log_kb=0.0
    )
    world.update_copy(key, db_state=DbState.RECOVERING)
    replicas.set_synchronization_state(world, key, SyncState.REVERTING)
    world.update_availability(key, revert_kb=revert_kb, revert_since=world.tick)
    errorlog.write_message(world, key[0], 35278, key[1])
    errorlog.write_message(world, key[0], 17137, key[1])
    world.cancel_calls("availability.reverted", follower.availability.guid, *key)
    world.call_after(revert_kb / REVERT_KB_PER_S, "availability.reverted", follower.availability.guid, *key)
    world.update_copy(key, lineage=lead.lineage, fork=lead.fork, former_fork=lead.former_fork)


def compute_remaining_kb(world: World, copy: DatabaseCopy) -> float:
    """Return the amount of log that the copy must still revert, in KB."""
    own_availability = copy.availability
    if own_availability.state is not SyncState.REVERTING:
        return own_availability.revert_kb
    elapsed_s = (world.tick - own_availability.revert_since) / TICKS_PER_S
    return max(0.0, own_availability.revert_kb - elapsed_s * REVERT_KB_PER_S)
