"""Chain of log backups of a database: what starts it and what breaks it.

[DOC: Transaction Log Backups; Prepare a Mirror Database]
"""

from __future__ import annotations

from engine.model import DatabaseCopy, Key, Tick, World
from engine.protocol import streams


def begin(world: World, key: Key, from_kb: float, tick: Tick) -> None:
    """Start the chain: a full or differential backup began at *from_kb* and *tick*, so log backups can follow."""
    world.update_copy(
        key, full_backup=True, log_backed_up=False, last_log_backup_kb=from_kb, last_log_backup_tick=tick
    )


def end(world: World, copy: DatabaseCopy) -> None:
    """Discard the log (SIMPLE, TRUNCATE_ONLY), which breaks the chain: 4214 until the next data backup."""
    now_kb = streams.end_of_log_kb(world, copy)
    world.update_copy(
        copy.key,
        full_backup=False,
        log_backed_up=False,
        log_start_kb=now_kb,
        last_log_backup_kb=now_kb,
    )
