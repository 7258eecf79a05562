"""Lineage of a log: its branches, and the log position up to which two copies have the same log.

A backup can be restored, and a mirror can follow, only up to the position at which the two logs diverge.
"""

import math

from engine.model import World

Lineage = tuple[tuple[int, float], ...]
"""Pairs (branch number, log position in KB at which the branch begins), oldest branch first."""


def find_common_kb(a: Lineage, b: Lineage) -> float:
    """Return the log position up to which two logs are equal; infinite if one continues the other."""
    if a == b:
        return math.inf
    shared = 0
    while shared < min(len(a), len(b)) and a[shared] == b[shared]:
        shared += 1
    starts = [path[shared][1] for path in (a, b) if len(path) > shared]
    return min(starts) if shared else 0.0


def build_branch_lineage(world: World, path: Lineage, at_kb: float) -> Lineage:
    """Return the lineage of a log that branches off *path* at log position *at_kb*."""
    stretches = tuple(stretch for stretch in path if stretch[1] < at_kb) or path[:1]
    return (*stretches, (world.next_id(), at_kb))


def format_lsn(kb: float) -> int:
    """Return the log sequence number of the block at a log position, as numeric(25,0) with its parts padded.

    A virtual log file has 1 GB, a block 512 bytes.
    """
    whole_kb = int(kb)
    return (20 + whole_kb // 1_048_576) * 10**15 + (whole_kb % 1_048_576) * 2 * 10**5 + 1


def format_record_lsn(kb: float) -> int:
    """Return the log sequence number of the last record before a log position.

    It is in the preceding block, in the second slot.
    """
    return format_lsn(int(kb) - 1) + 1
