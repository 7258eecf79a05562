"""What holds in every world at any moment, whatever was done to it before."""

from __future__ import annotations

from engine.model import World
from engine.protocol import quorum

ROUNDING_KB = 1e-6
"""Sums of floating-point numbers differ by this at most."""


def check(world: World, *, witness_kept: bool, nothing_risky: bool) -> int:
    """Assert the invariants of all databases; returns how many single statements were checked.

    *witness_kept*: every session still has its witness; *nothing_risky*: nobody forced service, removed mirroring or
    turned safety off.
    """
    checked = 0
    if witness_kept and nothing_risky:
        serving: dict[str, list[str]] = {}
        for key in world.copies:
            if quorum.serves(world, key):
                serving.setdefault(key[1], []).append(key[0])
        for database, servers in serving.items():
            assert len(servers) <= 1, f"two copies of {database} serve: {servers}"
        checked += len(world.availability)
    if nothing_risky:
        for account in world.availability.values():
            assert account.lost_transactions == 0, f"an acknowledged commit of {account.database} is lost"
        checked += len(world.availability)
    for row in world.rows:
        checked += _check_log(world, row)
    for copy in world.copies.values():
        assert (copy.guid is None) == (copy.role is None) == (copy.mirror_state is None)
    return checked + len(world.copies)


def _check_log(world: World, row: int) -> int:
    """Log is conserved: what the mirror lacks is in the send queue or on its way; no queue is below 0."""
    owner, mirror = world.rows[row]
    at = world.flow.positions(row)
    assert at.generated_kb >= at.flushed_kb - ROUNDING_KB
    assert at.flushed_kb >= 0.0
    assert world.copies[owner].row == row
    if mirror is None:
        return 3
    assert world.copies[mirror].row == row
    assert at.sent_kb >= at.received_kb - ROUNDING_KB
    assert at.received_kb >= at.hardened_kb - ROUNDING_KB, "more is on the mirror's disk than has arrived"
    assert at.hardened_kb >= at.redone_kb - ROUNDING_KB, "the redo queue is below zero"
    reading = world.flow.reading(row)
    assert reading.send_queue_kb >= -ROUNDING_KB
    assert reading.redo_queue_kb >= -ROUNDING_KB
    if quorum.sees_partner(world, world.copies[owner]):
        queue = at.generated_kb - at.hardened_kb
        assert queue >= -ROUNDING_KB, "the mirror has log that nobody has generated"
    return 10
