"""The Database Mirroring State Change trace."""

from __future__ import annotations

from typing import Final

from engine.model import DatabaseCopy, Key, World

STATES: Final = (
    "Null Notification", "Synchronized Principal with Witness", "Synchronized Principal without Witness",
    "Synchronized Mirror with Witness", "Synchronized Mirror without Witness",
    "Connection with Principal Lost", "Connection with Mirror Lost", "Manual Failover",
    "Automatic Failover", "Mirroring Suspended", "No Quorum", "Synchronizing Mirror",
    "Principal Running Exposed", "Synchronizing Principal",
)  # fmt: skip
"""Texts of the state change event by id. Documented [DOC: Database Mirroring State Change event class]."""


def get_state_id(copy: DatabaseCopy) -> int:
    """Return the id of the latest state change of the copy."""
    return copy.mirroring.trace


def note(world: World, key: Key, new_state_id: int) -> None:
    """Put the copy into trace state *new* and emit the event if that is a change."""
    old = world.copies[key].mirroring.trace
    if old == new_state_id:
        return
    world.update_mirroring(key, trace=new_state_id)
    text = f"DBM: {STATES[old]} -> DBM: {STATES[new_state_id]}"
    world.emit("trace", text, server=key[0], database=key[1], state=new_state_id, integer_data=old)
